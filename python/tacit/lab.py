"""Experiments."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Mapping, TextIO

from . import _tacit
from .results import Results
from .text import to_yaml

Progress = Callable[[dict[str, Any]], object]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run. `results` has the jobs that were finished."""

    def __init__(self, message: str, results: Results) -> None:
        super().__init__(message)
        self.results = results


def run(
    experiment: str | os.PathLike[str] | Mapping[str, Any],
    *,
    directory: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    episodes: int | None = None,
    runs: int | None = None,
    threads: int = 0,
    progress: bool | Progress = False,
    max_jobs: int = 10_000,
) -> Results:
    """Plays every agent of an experiment in every world, for every run. Regret is exact: policies are evaluated.

    experiment  the path of an experiment file, or the same as a dict
    directory   where results.db receives the results as they come; without it they live in memory
    resume      play only the jobs that are missing from directory
    force       delete the results that are there first
    episodes, runs  override those of the experiment
    threads     0: one for each processor; results do not depend on it
    progress    True: a line on stderr; or a function that gets a dict about ten times a second
    max_jobs    more jobs than this are refused

    Ctrl-C stops the run: the finished jobs stay in directory, and the same call with resume=True goes on to the same
    results, to the last bit. The noise comes from the experiment's seed, so a run is a simulation.

    >>> import tacit
    >>> result = tacit.run({
    ...     "world": {"kind": "riverswim", "states": 4, "horizon": 8}, "episodes": 200, "runs": 2,
    ...     "agents": [{"kind": "ucbvi"}, {"kind": "uniform"}],
    ... })
    >>> [row["agent"] for row in result.summary()]
    ['ucbvi', 'uniform']
    """
    if resume and force:
        raise ValueError("resume keeps results and force discards them; choose one")
    if (resume or force) and directory is None:
        raise ValueError("resume and force need the directory with the results")
    text, name, path = None, "experiment", None
    if isinstance(experiment, Mapping):
        text = to_yaml(dict(experiment))
    else:
        path = os.fspath(experiment)
    made = False
    if directory is not None:
        directory = os.fspath(directory)
        made = not os.path.isdir(directory)
        os.makedirs(directory, exist_ok=True)
    mode = "resume" if resume else "replace" if force else "new"
    show = Bar(sys.stderr) if progress is True else progress if callable(progress) else None
    try:
        raw, stopped = _tacit.run(
            text, name, path, directory, mode, threads, episodes or 0, runs or 0, max_jobs, show
        )
    except BaseException as error:
        if made and directory is not None and not os.listdir(directory):
            os.rmdir(directory)
        raise with_advice(error) if isinstance(error, _tacit.Error) else error
    finally:
        if isinstance(show, Bar):
            show.close()
    results = Results(raw, directory)
    if stopped is None:
        return results
    if not isinstance(stopped, KeyboardInterrupt):
        raise stopped
    done = sum(row["runs"] for row in results.summary())
    where = "" if directory is None else f" and kept in {directory}/results.db; run(…, resume=True) plays the others"
    raise Interrupted(f"stopped; {done} of {results.facts['n_jobs']} jobs are finished{where}", results) from stopped


def with_advice(error: Any) -> Exception:
    """The library's sentence, and what can be done about it here."""
    advice = ""
    if error.status == "EXISTS":
        advice = "; resume=True plays the missing jobs, force=True discards these results"
    elif error.status in ("WRONG_PLAN", "WRONG_VERSION"):
        advice = "; force=True discards them"
    elif error.hint == "raise_jobs":
        advice = "; raise max_jobs to play them all the same"
    elif error.hint == "resume":
        advice = "; the results so far are safe, and resume=True plays the missing jobs"
    if advice:
        error.args = (str(error) + advice,) + error.args[1:]
    return error  # type: ignore[no-any-return]


def open_results(directory: str | os.PathLike[str]) -> Results:
    """What run(…, directory=…) or `tacit run -o` left there, finished or not."""
    directory = os.fspath(directory)
    return Results(_tacit.open_results(directory), directory)


class Bar:
    """Progress on one line: a share, the jobs, and the time that is left."""

    def __init__(self, to: TextIO) -> None:
        self.to = to
        self.shown = 0.0
        self.written = False

    def __call__(self, now: dict[str, Any]) -> None:
        if time.monotonic() - self.shown < 0.2:
            return
        self.shown = time.monotonic()
        self.written = True
        share = now["episodes"] / now["n_episodes"] if now["n_episodes"] else 1.0
        full = int(30 * share)
        left = now["seconds_left"]
        wait = "" if left != left else f", {left:.0f} s left"
        line = f"[{'#' * full}{'.' * (30 - full)}] {100 * share:3.0f} %, {now['jobs']} of {now['n_jobs']} jobs{wait}"
        self.to.write("\r" + line.ljust(78))
        self.to.flush()

    def close(self) -> None:
        if self.written:
            self.to.write("\r" + " " * 78 + "\r")
            self.to.flush()
