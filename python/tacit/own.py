"""Worlds and agents of your own, as classes.

A class with a name is registered when it is defined, and runs in experiments like the built-in kinds:

>>> import tacit
>>> class Coin(tacit.OwnWorld, name="doc-coin"):
...     '''two actions, one of which pays more'''
...     bias = tacit.Parameter(0.7, 0, 1, "chance that action 1 pays")
...     states, actions, horizon = 1, 2, 3
...     def outcomes(self, step, state, action):
...         pays = self.bias if action == 1 else 0.5
...         return [(0, pays, 1.0), (0, 1 - pays, 0.0)]
>>> round(tacit.World("doc-coin", bias=0.9).optimal_value, 6)
2.7
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from array import array
from typing import Any, ClassVar, Iterable, Mapping

from . import _tacit


class Parameter:
    """A parameter of a world or an agent: Parameter(default, low, high, help).

    The default's type is the parameter's: int, float, bool or str. Parameter(int, low, high, help) must be given.
    """

    def __init__(self, default: Any, low: float = -math.inf, high: float = math.inf, help: str = "") -> None:
        self.type = default if isinstance(default, type) else type(default)
        self.default = None if isinstance(default, type) else default
        self.low, self.high, self.help = low, high, help
        self.name = ""
        if self.type not in NAMES:
            raise TypeError(f"a parameter is an int, a float, a bool or a str, not {default!r}")

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance.__dict__.get(self.name, self.default)

    def row(self) -> tuple[str, str, str | None, float, float, str]:
        text: str | None = None
        if self.default is not None:
            text = ("yes" if self.default else "no") if self.type is bool else str(self.default)
        low = max(self.low, -1e15 if self.type is int else -1e300)
        high = min(self.high, 1e15 if self.type is int else 1e300)
        return (self.name, NAMES[self.type], text, low, high, self.help or self.name)


NAMES = {int: "integer", float: "real", bool: "flag", str: "text"}

# The class of each name. A class that is defined again, as in notebooks, replaces the first.
_classes: dict[str, tuple[str, Any, Any]] = {}


def parameters_of(cls: type) -> list[Parameter]:
    found: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        found.update({k: v for k, v in vars(base).items() if isinstance(v, Parameter)})
    return list(found.values())


def first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or cls.__name__).splitlines()[0]


def is_known(what: str, name: str, signature: Any, cls: type) -> bool:
    """Whether the name is registered already, by a class that may be replaced by this one."""
    before = _classes.get(name)
    if before is None:
        return False
    if before[:2] != (what, signature):
        raise _tacit.ExistsError(
            f"{name!r} is registered already, with other parameters or models; choose another name, or start Python anew"
        )
    _classes[name] = (what, signature, cls)
    return True


# --- Worlds -----------------------------------------------------------------------------------------


class OwnWorld:
    """A finite world of your own: class Queue(tacit.OwnWorld, name="queue").

    The class has `states`, `actions`, `horizon` (numbers, or properties that follow from parameters), Parameters, and
    outcomes(step, state, action), a list of (next state, probability, reward). Rewards lie in reward_low ..
    reward_high. `initial` is a dict {state: probability}; without it everybody begins in state 0. With stationary =
    False outcomes may depend on the step.

    All outcomes are listed once, when a world is created; then it plays at the library's speed, and values and regret
    are exact.
    """

    states: int = 0
    actions: int = 0
    horizon: int = 0
    stationary: bool = True
    reward_low: float = 0.0
    reward_high: float = 1.0
    initial: Mapping[int, float] | None = None

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def outcomes(self, step: int, state: int, action: int) -> Iterable[tuple[int, float, float]]:
        raise NotImplementedError("a world needs outcomes(self, step, state, action)")

    def __init_subclass__(cls, name: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if name is None:
            return
        rows = [p.row() for p in parameters_of(cls)]
        if not is_known("world", name, rows, cls):
            source = f"{cls.__module__}.{cls.__qualname__}"
            _tacit.register_world(name, first_line(cls), source, rows, functools.partial(_table, name))
            _classes[name] = ("world", rows, cls)


def _table(name: str, values: dict[str, Any]) -> tuple[Any, ...]:
    world = _classes[name][2](**values)
    counts, states, chances, rewards = array("I"), array("I"), array("d"), array("d")
    for step in range(1 if world.stationary else world.horizon):
        for state in range(world.states):
            for action in range(world.actions):
                n = 0
                for following, chance, reward in world.outcomes(step, state, action):
                    states.append(following)
                    chances.append(chance)
                    rewards.append(reward)
                    n += 1
                counts.append(n)
    begin = {} if world.initial is None else world.initial
    return (world.states, world.actions, world.horizon, world.stationary, float(world.reward_low),
            float(world.reward_high), counts, states, chances, rewards, array("I", list(begin.keys())),
            array("d", list(begin.values())))


# --- Agents -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Bound:
    """A private sum that an agent needs, and how large one user's vector can be.

    At least one of l1 and l2; longer vectors are scaled down. nonnegative: no coordinate is below 0. nonzeros: the
    most coordinates that are not 0.
    """

    dimension: int
    l2: float = 0.0
    l1: float = 0.0
    nonnegative: bool = False
    nonzeros: int = 0


@dataclasses.dataclass(frozen=True)
class OwnSpace:
    """What an agent of your own is told: the space, the users who will come, and the guarantee."""

    states: int
    actions: int
    horizon: int
    stationary: bool
    episodes: int
    guarantee: dict[str, Any]
    rewards: Any


class OwnAgent:
    """An agent of your own: class Myopic(tacit.OwnAgent, name="myopic", models=("none", "joint")).

    sums(self)                    {name: Bound}: the sums that it needs
    contribute(agent, states, actions, rewards)
                                  a staticmethod: what one user adds, {name: vector}. `agent` has the space and the
                                  parameters, and nothing that remembers
    plan(self, sums)              the policy that follows from the released sums {name: array}: actions
                                  [horizon, states], or probabilities [horizon, states, actions]
    release_every                 users between two releases, 1 unless given

    The package keeps the sums, adds the noise and charges the ledger. plan() sees releases only, so the promise is
    the accountant's, whatever the class does with them. It is yours that contribute() tells nobody else what it saw,
    and that it never fails, whatever a user's data are.
    Before the first release all sums are 0. With model none the sums are exact.
    """

    release_every: int = 1
    space: OwnSpace
    models: ClassVar[tuple[str, ...]] = ("none",)

    def __init__(self, space: OwnSpace, **values: Any) -> None:
        self.space = space
        self.__dict__.update(values)
        self.begin()

    def begin(self) -> None:
        """Called once, when space and parameters are known."""

    def sums(self) -> Mapping[str, Bound]:
        raise NotImplementedError("an agent needs sums(self)")

    def plan(self, sums: dict[str, Any]) -> Any:
        raise NotImplementedError("an agent needs plan(self, sums)")

    def __init_subclass__(cls, name: str | None = None, models: Iterable[str] = ("none",), **more: Any) -> None:
        super().__init_subclass__(**more)
        if name is None:
            return
        wrong = set(models) - {"none", "joint", "local"}
        if wrong:
            raise ValueError(f"models has {wrong.pop()!r}, expected none, joint or local")
        if not isinstance(inspect.getattr_static(cls, "contribute", None), staticmethod):
            raise TypeError(
                f"{cls.__name__}.contribute must be a staticmethod(agent, states, actions, rewards): "
                "what a user adds must not depend on other users"
            )
        cls.models = tuple(models)
        rows = [p.row() for p in parameters_of(cls)]
        if not is_known("agent", name, (rows, list(models)), cls):
            source = f"{cls.__module__}.{cls.__qualname__}"
            _tacit.register_agent(name, first_line(cls), source, list(models), rows,
                                  functools.partial(_pair, name))
            _classes[name] = ("agent", (rows, list(models)), cls)


class _Settings:
    """The space and the parameters, for contribute(): cannot be written to."""

    def __init__(self, space: OwnSpace, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)
        self.__dict__["space"] = space

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("contribute() has nothing to remember users by")


def _pair(name: str, space: dict[str, Any], values: dict[str, Any]) -> tuple[Any, ...]:
    cls = _classes[name][2]
    if space["states"] == 0:
        raise _tacit.UnsupportedError(f"{name}: agents of your own need numbered states")
    told = OwnSpace(**space)
    planner = cls(told, **values)
    settings, contribute = _Settings(told, values), cls.contribute
    sums = [(key, b.dimension, b.l1, b.l2, b.nonnegative, b.nonzeros) for key, b in planner.sums().items()]
    return (planner, lambda s, a, r: contribute(settings, s, a, r), sums, planner.release_every)
