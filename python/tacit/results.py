"""What a run found: numbers, frames, figures, the report."""

from __future__ import annotations

import html
import math
import os
import tempfile
from typing import TYPE_CHECKING, Any

from . import _tacit
from .account import Guarantee

if TYPE_CHECKING:  # only where asked for
    import pandas  # type: ignore[import]


class Results:
    """The results of a run. In a notebook this object shows the report.

    >>> import tacit
    >>> result = tacit.run({"world": {"kind": "riverswim", "states": 4, "horizon": 8}, "episodes": 100,
    ...                     "runs": 3, "agents": [{"kind": "ucbvi"}, {"kind": "uniform"}]})
    >>> result
    Results('experiment', 1 world, 2 agents, 3 runs of 100 episodes, complete)
    >>> result.curves("ucbvi").shape
    (3, 100)
    """

    def __init__(self, raw: _tacit.Results, directory: str | None = None) -> None:
        self._raw = raw
        self.directory = directory
        self.facts: dict[str, Any] = raw.facts

    def __repr__(self) -> str:
        f = self.facts
        state = "complete" if f["complete"] else "stopped before the end"

        def count(n: int, word: str) -> str:
            return f"{n} {word}" if n == 1 else f"{n} {word}s"

        return (
            f"Results({f['title']!r}, {count(len(f['worlds']), 'world')}, {count(len(f['agents']), 'agent')}, "
            f"{count(f['runs'], 'run')} of {f['episodes']} episodes, {state})"
        )

    # --- Numbers --------------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        return bool(self.facts["complete"])

    @property
    def worlds(self) -> list[str]:
        """Labels."""
        return [world["label"] for world in self.facts["worlds"]]

    @property
    def agents(self) -> list[str]:
        """Labels."""
        return [agent["label"] for agent in self.facts["agents"]]

    @property
    def episodes(self) -> Any:
        """The episodes at which curves have their points."""
        return self._raw.episodes

    def summary(self) -> list[dict[str, Any]]:
        """A row for each agent in each world where it plays: mean regret with its standard error, and more."""
        rows = []
        for w, world in enumerate(self.facts["worlds"]):
            for a, agent in enumerate(self.facts["agents"]):
                found = self._raw.summary(w, a)
                if found is not None:
                    g = agent["guarantee"]
                    rows.append({"world": world["label"], "agent": agent["label"], "model": g["model"],
                                 "epsilon": g["epsilon"] if g["model"] != "none" else math.inf,
                                 "delta": g["delta"] if g["model"] != "none" else math.nan, **found})
        return rows

    def curves(self, agent: str, world: str | None = None) -> Any:
        """Regret so far, [runs, points], of the runs that are finished; points are at `episodes`."""
        w, a = self._find(agent, world)
        jobs = [self._raw.job(w, a, run) for run in range(self.facts["runs"])]
        rows = [job["curve"] for job in jobs if job is not None and job["done"]]
        try:
            import numpy
        except ImportError:
            return rows
        return numpy.array(rows).reshape(len(rows), len(self.episodes))

    def guarantee(self, agent: str, world: str | None = None) -> Guarantee | None:
        """What the agent's noise really gives, by the accountant; None where nothing is promised."""
        w, a = self._find(agent, world)
        found = self._raw.account(w, a)
        return None if found is None else Guarantee.of(found)

    def releases(self, agent: str, world: str | None = None) -> list[dict[str, Any]]:
        """The agent's release plan, line by line; empty where nothing is promised."""
        w, a = self._find(agent, world)
        return self._raw.plan(w, a)

    def _find(self, agent: str, world: str | None) -> tuple[int, int]:
        if agent not in self.agents:
            raise KeyError(f"no agent has the label {agent!r}; there are {', '.join(map(repr, self.agents))}")
        if world is None and len(self.worlds) > 1:
            raise ValueError(f"there are several worlds; name one of {', '.join(map(repr, self.worlds))}")
        if world is not None and world not in self.worlds:
            raise KeyError(f"no world has the label {world!r}; there are {', '.join(map(repr, self.worlds))}")
        return 0 if world is None else self.worlds.index(world), self.agents.index(agent)

    # --- Frames and figures ----------------------------------------------------------------------

    def frame(self, what: str = "summary") -> pandas.DataFrame:
        """A pandas DataFrame: "summary", one row for each agent in each world; or "curves", one row for each point.

        The columns of curves are world, agent, run, episode, regret.
        """
        import pandas

        if what == "summary":
            return pandas.DataFrame(self.summary())
        if what != "curves":
            raise ValueError(f"frame({what!r}): expected 'summary' or 'curves'")
        parts = []
        episodes = list(self.episodes)
        for w, world in enumerate(self.worlds):
            for a, agent in enumerate(self.agents):
                for run in range(self.facts["runs"]):
                    job = self._raw.job(w, a, run)
                    if job is not None and len(job["curve"]) > 0:
                        curve = list(job["curve"])
                        parts.append(pandas.DataFrame({"world": world, "agent": agent, "run": run,
                                                       "episode": episodes[: len(curve)], "regret": curve}))
        columns = ["world", "agent", "run", "episode", "regret"]
        return pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame(columns=columns)

    def plot(self, world: str | None = None, ax: Any = None, agents: list[str] | None = None) -> Any:
        """Regret over episodes, the mean of the runs with its 95 % confidence interval; the matplotlib axes.

        With several worlds and none named, a figure with axes for each.
        """
        import matplotlib.pyplot as pyplot  # type: ignore[import]

        if world is None and ax is None and len(self.worlds) > 1:
            figure, many = pyplot.subplots(1, len(self.worlds), figsize=(5 * len(self.worlds), 4), squeeze=False)
            for one, axes in zip(self.worlds, many[0]):
                self.plot(one, axes, agents)
            figure.tight_layout()
            return many[0]
        if ax is None:
            _, ax = pyplot.subplots()
        place = 0 if world is None else self.worlds.index(world)
        for agent in self.agents if agents is None else agents:
            if self._raw.job(place, self.agents.index(agent), 0) is not None:
                self._draw(ax, agent, self.worlds[place])
        ax.set_xlabel("users")
        ax.set_ylabel("regret")
        ax.set_title(self.worlds[place] if len(self.worlds) > 1 else self.facts["title"])
        ax.legend()
        return ax

    def _draw(self, ax: Any, agent: str, world: str) -> None:
        curves = [list(row) for row in self.curves(agent, world)]
        if not curves:
            return
        n, x = len(curves), list(self.episodes)
        mean = [math.fsum(points) / n for points in zip(*curves)]
        (line,) = ax.plot(x, mean, label=agent)
        if n > 1:
            s = self._raw.summary(self.worlds.index(world), self.agents.index(agent)) or {}
            limit = s["regret_half"] / s["regret_error"] if s["regret_error"] > 0 else 0  # Student's t
            half = [
                limit * math.sqrt(math.fsum((p - m) ** 2 for p in points) / (n - 1) / n)
                for points, m in zip(zip(*curves), mean)
            ]
            ax.fill_between(x, [m - e for m, e in zip(mean, half)], [m + e for m, e in zip(mean, half)],
                            alpha=0.2, color=line.get_color(), linewidth=0)

    # --- The report -------------------------------------------------------------------------------

    def report(self, path: str | os.PathLike[str], *, still: bool = False) -> None:
        """Writes the page that `tacit run` writes; still=True has drawings only, no scripts."""
        self._raw.write_report(os.fspath(path), None, still)

    def html(self, *, still: bool = False) -> str:
        """The report as a text."""
        with tempfile.TemporaryDirectory() as box:
            path = os.path.join(box, "report.html")
            self.report(path, still=still)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def _repr_html_(self) -> str:
        # A frame of its own: the page's style and scripts stay away from the notebook's.
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 80vh; border: 0" title="tacit report"></iframe>'
