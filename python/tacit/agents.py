"""Agents: learners that serve users one after the other."""

from __future__ import annotations

import json
import os
import random
import tempfile
import textwrap
from typing import Any, Iterator

from . import _tacit
from .account import Guarantee
from .files import read_whole, write_whole
from .privacy import Privacy, none
from .sums import simulated
from .text import to_yaml
from .worlds import World


class Space:
    """What an agent knows of its users without a world: the keys of `space` in docs/reference/service.md.

    >>> Space(states=6, actions=2, horizon=20)
    Space(states=6, actions=2, horizon=20)
    >>> Space(features=5, actions=3)                      # a bandit whose users bring 5 features for each action
    Space(features=5, actions=3)

    Where a key takes a file, an array will do: features [states, actions, size] or, with shared=False, [states, size];
    rewards [states, actions] or [horizon, states, actions]; mixture [states, actions, parts, states]; weights [states].
    All of it counts as public: do not fit it on the people whose data are to be protected.
    """

    def __init__(self, **keys: Any) -> None:
        self.keys = keys

    def __repr__(self) -> str:
        return f"Space({', '.join(f'{k}={v!r}' for k, v in self.keys.items())})"

    def to_yaml_value(self) -> dict[str, Any]:
        return self.keys

    def on_disk(self, directory: str) -> Space:
        """The same space with its arrays as files in a directory."""
        keys = dict(self.keys)
        for name, heads in TABLES.items():
            value = keys.get(name)
            if value is None or isinstance(value, (str, os.PathLike)) or not hasattr(value, "__len__"):
                continue
            rows = list(cells(value))
            columns = heads.get(len(rows[0][0]) if rows else 0)
            if columns is None:
                raise ValueError(f"{name} must have {' or '.join(map(str, heads))} dimensions")
            path = os.path.join(directory, f"{name}.csv")
            with open(path, "w", encoding="ascii") as file:
                file.write(columns + "\n")
                for index, number in rows:
                    file.write(",".join(map(str, index)) + f",{number!r}\n")
            keys[name] = path
        return Space(**keys)


# What a learner must beat: they learn nothing. "constant" is the best single action of a World.
BASELINES = ("uniform", "constant")

# Files of a space: the columns by the number of dimensions.
TABLES = {
    "features": {3: "state,action,feature,value", 2: "state,feature,value"},
    "rewards": {2: "state,action,reward", 3: "step,state,action,reward"},
    "mixture": {4: "state,action,part,next_state,probability"},
    "weights": {1: "state,probability"},
}


def cells(value: Any, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], float]]:
    """All numbers of an array or of nested lists, with their places."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        yield at, float(value)
        return
    for i, inner in enumerate(value):
        yield from cells(inner, (*at, i))


class Agent(_tacit.Agent):
    """A learner: a curator, which sees users' data, and a planner, which sees releases only.

    kind       one of `tacit.agents()`; "auto" if you have no reason to choose another. The baselines "uniform" and,
               for a World, "constant" (its best single action) learn nothing and are what a learner must beat
    space      a World, or a Space
    episodes   the users who will come; one more is refused
    privacy    joint(…), local(…); none() is the default for kinds that cannot be private and must be said for others
    outside    users outside the declared domain: "refuse" them, or "clip" their data and count them
    seed       None: noise from the operating system. A number: simulated, reproducible, and NOT PRIVATE
    more       the kind's own parameters

    >>> import tacit
    >>> world = tacit.World("riverswim", states=6, horizon=20, chance=1)
    >>> agent = tacit.Agent("dp-ucbvi", world, episodes=1000, privacy=tacit.joint(epsilon=1, delta=2e-6), seed=7)
    >>> for user in range(100):
    ...     policy = agent.plan()
    ...     agent.learn(*world.play(policy))
    >>> agent.users, policy.shape
    (100, (20, 6))
    >>> agent
    Agent('dp-ucbvi', joint epsilon 1 delta 2e-06, 100 of 1000 users, SIMULATED by seed=7: not private)
    """

    _seed: int | None
    _chances: random.Random
    _generator: Any = None

    def __new__(
        cls,
        kind: str,
        space: World | Space,
        *,
        episodes: int,
        privacy: Privacy | None = None,
        outside: str = "refuse",
        seed: int | None = None,
        **parameters: Any,
    ) -> Agent:
        check_delta(privacy, episodes)
        entry: dict[str, Any] = {"kind": kind}
        if privacy is None and can_be_private(kind):
            raise TypeError(
                f"{kind} can be private: give privacy=tacit.joint(…), tacit.local(…) or, if you mean it, tacit.none()"
            )
        if kind in ("optimal", "no-data"):
            raise ValueError(f"{kind} is a baseline of experiments, which tacit.run plays; world.solve() is the best policy")
        if kind in BASELINES:
            if privacy is not None and privacy.model != "none":
                raise ValueError(f"{kind} learns nothing from anybody, so it has no privacy to promise: leave it out")
        else:
            entry["privacy"] = privacy if privacy is not None else none()
        if outside != "refuse":
            entry["outside"] = outside
        document: dict[str, Any] = {"agent": {**entry, **parameters}, "episodes": episodes}
        chances = random.SystemRandom() if seed is None else random.Random(seed)
        if isinstance(space, World):
            text = to_yaml(document)
            self = super().__new__(cls, text, world=space, seed=seed, random=chances.random)
        elif isinstance(space, Space):
            with tempfile.TemporaryDirectory() as directory:
                text = to_yaml({**document, "space": space.on_disk(directory)})
                self = super().__new__(cls, text, seed=seed, random=chances.random)
        else:
            raise TypeError("space must be a tacit.World or a tacit.Space")
        self._seed = seed
        self._chances = chances
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # all is done when the object is made

    def __repr__(self) -> str:
        facts = self.facts
        g = facts["guarantee"]
        promise = "no privacy"
        if g["model"] != "none":
            promise = f"{g['model']} epsilon {g['epsilon']:g} delta {g['delta']:g}"
        return f"Agent({facts['kind']!r}, {promise}, {self.users} of {facts['episodes']} users{simulated(self._seed)})"

    @property
    def kind(self) -> str:
        """Never an alias: what `auto` stands for."""
        return self.facts["kind"]

    @property
    def simulated(self) -> bool:
        """Whether noise comes from a seed, which protects no one."""
        return self._seed is not None

    def act_many(self, step: int, states: Any, chances: Any = None) -> Any:
        """The actions of n users who stand at the same step: in states [n], or with features [n, …].

        chances [n] in [0, 1) decide where the policy is random; without them numbers are drawn.
        """
        if chances is None and self._is_random:
            chances = self._draw(len(states))
        return self._act_many(step, states, chances)

    def _draw(self, n: int) -> Any:
        """n numbers in [0, 1) for choices of users; by numpy where it is, which is faster."""
        try:
            import numpy
        except ImportError:
            return [self._chances.random() for _ in range(n)]
        if self._generator is None:
            self._generator = numpy.random.default_rng(self._seed)
        return self._generator.random(n)

    def explain(self) -> Explanation:
        """What the agent promises, through which releases, and what the accountant makes of it."""
        return Explanation(self._explain(), self.kind)

    def ledger(self) -> Ledger | None:
        """What has passed the door so far, and what it costs one person; None without privacy."""
        found = self._ledger()
        return None if found is None else Ledger(found)

    def save(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The complete state, raw data and noise keys included: keep it as safe as the data itself.

        With a path it is also written there, whole or not at all.
        """
        head = json.dumps({"tacit": 1, "users": self.users}).encode() + b"\n"
        state = head + self._save()
        if path is not None:
            write_whole(path, state)
        return state

    def load(self, state: bytes | str | os.PathLike[str]) -> None:
        """Continues where a saved agent of the same request stopped. This one must be fresh."""
        data = state if isinstance(state, bytes) else read_whole(state)
        head, found, rest = data.partition(b"\n")
        try:
            users = json.loads(head)["users"] if found else None
        except (ValueError, KeyError, TypeError):
            users = None
        if not isinstance(users, int) or users < 0:
            raise _tacit.CorruptError("the saved state does not begin as Agent.save writes it")
        self._load(rest, users)


class Ledger:
    """What has passed the door.

    spent     what that costs one person at most, at the agent's delta
    releases  the plan, line by line, with `passed` steps of `steps`
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self.simulated: bool = found["simulated"]
        self.delta: float = found["delta"]
        self.spent = Guarantee.of(found["spent"])
        self.releases: list[dict[str, Any]] = found["releases"]

    def __repr__(self) -> str:
        lines = [f"Ledger: epsilon {self.spent.epsilon:.6g} spent at delta {self.delta:g}"]
        if self.simulated:
            lines[0] += ", SIMULATED: not private"
        for line in self.releases:
            lines.append(f"  {line['name']}: {line['passed']} of {line['steps']} steps, noise {line['scale']:.5g}")
        return "\n".join(lines)


class Explanation:
    """What an agent promises; print it. The same facts are in the dict `facts`."""

    def __init__(self, facts: dict[str, Any], kind: str) -> None:
        self.facts = facts
        self.kind = kind

    @property
    def holds(self) -> bool:
        """Whether the accountant confirms the claim."""
        return bool(self.facts["verdict"] == "holds")

    @property
    def real(self) -> Guarantee | None:
        """What the noise really gives, at the delta of the claim."""
        return None if self.facts["real"] is None else Guarantee.of(self.facts["real"])

    def __repr__(self) -> str:
        f = self.facts
        claim, lines = f["claim"], [self.kind]

        def say(name: str, text: str) -> None:
            if text:
                lines.extend(
                    textwrap.wrap(text, 100, initial_indent=f"  {name:<12}", subsequent_indent=" " * 14) or [""]
                )

        if f["real"] is None:
            say("claims", f"nothing: {f['words']}")
        else:
            say("claims", f"{claim['model']} differential privacy, epsilon {claim['epsilon']:g}, "
                          f"delta {claim['delta']:.4g}; calibration {f['calibration']}")
            say("against", f["against"])
            say("neighbors", f["neighbors"])
            for release in f["releases"]:
                say("release", f"{release['name']}: {release['words']}")
                say("  because", release["reason"])
            real = Guarantee.of(f["real"])
            say("accountant", f"epsilon {real.epsilon:.6g} at delta {claim['delta']:.4g} (method: {real.method})")
            say("", f["composition"])
            say("so", f["words"])
            say("printed", f["paper"])
            say("report", f["report"])
        for play in f["plays"]:
            printed = "nothing" if play["printed"] is None else play["printed"]
            note = f" ({play['note']})" if play["note"] else ""
            say("plays", f"{play['name']}: printed {printed}, played {play['played']}{note}")
        say("outside", f["outside"])
        say("note", f["remark"])
        return "\n".join(lines)


def check_delta(privacy: Privacy | None, episodes: Any) -> None:
    """The library refuses such a delta as well; this names the keyword."""
    if privacy is None or privacy.delta is None or not hasattr(episodes, "__index__") or episodes < 1:
        return
    if privacy.delta > 1 / episodes and not privacy.delta_above_one_over_users:
        raise _tacit.BadDeltaError(
            f"delta is {privacy.delta:g}, above 1/episodes = {1 / episodes:g}: such a guarantee would allow publishing "
            "some people's data. Lower it, or pass delta_above_one_over_users=True beside it if that is intended"
        )


def can_be_private(kind: str) -> bool:
    for known in _tacit.agent_kinds():
        if known["name"] == kind:
            return any(model != "none" for model in known["models"])
    return False


def agents() -> list[dict[str, Any]]:
    """All kinds of agents: name, help, source, models, parameters.

    >>> [kind["models"] for kind in agents() if kind["name"] == "ucbvi"]
    [['none']]
    """
    return _tacit.agent_kinds()


def features(x: Any, low: Any, high: Any, actions: int = 0) -> Any:
    """Observations that are plain vectors, as learners with features take them.

    x [n, size] with coordinates in low [size] .. high [size], which are public. With actions, every action gets a
    block of its own: [n, actions, actions * (size + 1)]; without, [n, size + 1], for spaces with shared: no.

    >>> features([[0.5]], [0], [1], actions=2).shape
    (1, 2, 4)
    """
    return _tacit.features(x, low, high, actions)
