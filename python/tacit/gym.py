"""Gymnasium, both ways, without depending on it.

    space(env)          what an agent knows of the environment's users
    learn(env, agent)   users of a Gymnasium environment, one episode each, are served and learned from
    Env(world)          a tacit world as a Gymnasium environment

Where gymnasium is installed, Env is a gymnasium.Env and its spaces are gymnasium's. Elsewhere they have the same
methods.
"""

from __future__ import annotations

import dataclasses
import math
import random
import warnings
from typing import Any, Callable

from . import _tacit
from .agents import Agent, Space, features
from .worlds import World

try:
    import gymnasium  # type: ignore[import]
except ImportError:
    gymnasium = None

__all__ = ["Box", "Discrete", "Env", "History", "learn", "space"]


# --- Spaces -----------------------------------------------------------------------------------------


class Discrete:
    """The whole numbers from start to start + n - 1."""

    def __init__(self, n: int, seed: int | None = None, start: int = 0) -> None:
        self.n, self.start = n, start
        self.shape: tuple[int, ...] = ()
        self._random = random.Random(seed)

    def seed(self, seed: int | None = None) -> list[int]:
        self._random.seed(seed)
        return [] if seed is None else [seed]

    def sample(self, mask: Any = None) -> int:
        allowed = range(self.n) if mask is None else [i for i in range(self.n) if mask[i]]
        return self.start + self._random.choice(allowed) if len(allowed) else self.start

    def contains(self, x: Any) -> bool:
        return hasattr(x, "__index__") and self.start <= x.__index__() < self.start + self.n

    __contains__ = contains

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Discrete) and (self.n, self.start) == (other.n, other.start)

    def __repr__(self) -> str:
        return f"Discrete({self.n})" if self.start == 0 else f"Discrete({self.n}, start={self.start})"


class Box:
    """Arrays of a shape whose numbers lie in low .. high."""

    def __init__(self, low: float, high: float, shape: tuple[int, ...], seed: int | None = None) -> None:
        self.low, self.high, self.shape = low, high, shape
        self._random = random.Random(seed)

    def seed(self, seed: int | None = None) -> list[int]:
        self._random.seed(seed)
        return [] if seed is None else [seed]

    def sample(self) -> Any:
        def draw(shape: tuple[int, ...]) -> Any:
            if not shape:
                return self._random.uniform(self.low, self.high)
            return [draw(shape[1:]) for _ in range(shape[0])]

        return as_array(draw(self.shape))

    def contains(self, x: Any) -> bool:
        numbers = flat_numbers(x)
        return len(numbers) == math.prod(self.shape) and all(self.low <= v <= self.high for v in numbers)

    __contains__ = contains

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self.low, self.high, self.shape) == (other.low, other.high, other.shape)

    def __repr__(self) -> str:
        return f"Box({self.low}, {self.high}, {self.shape})"


def as_array(values: Any) -> Any:
    try:
        import numpy
    except ImportError:
        return values
    return numpy.array(values, dtype=numpy.float64)


def flat_numbers(values: Any) -> list[float]:
    """All numbers of a number, an array or nested lists, in order."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, (list, tuple)):
        return [float(values)]
    out: list[float] = []
    for value in values:
        out.extend(flat_numbers(value))
    return out


def discrete(n: int) -> Any:
    return Discrete(n) if gymnasium is None else gymnasium.spaces.Discrete(n)


def box(low: float, high: float, shape: tuple[int, ...]) -> Any:
    if gymnasium is None:
        return Box(low, high, shape)
    import numpy

    return gymnasium.spaces.Box(low, high, shape, dtype=numpy.float64)


# --- A world as an environment ----------------------------------------------------------------------


class Env(gymnasium.Env if gymnasium is not None else object):  # type: ignore[misc]
    """A tacit world as a Gymnasium environment. One episode is one user.

    Observations are states (Discrete) or, where contexts are not numbered, features (Box). Rewards are in [0, 1], as
    agents take them; original_rewards=True gives the world's own units. A state that means the end terminates an episode,
    and so does a bandit's one step; the end of the horizon truncates it. Learners take the end for a place without reward,
    so where the smallest reward is below 0 a state terminates with original_rewards=True only. info has "step", from 0, and in bandits "means", the expected
    reward of every action.

    >>> import tacit
    >>> env = tacit.gym.Env(tacit.World("riverswim", states=6, horizon=20))
    >>> state, info = env.reset(seed=3)
    >>> state, reward, terminated, truncated, info = env.step(env.action_space.sample())
    >>> terminated, truncated, info["step"]
    (False, False, 1)
    """

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode = None
    spec = None

    def __init__(self, world: World, *, original_rewards: bool = False) -> None:
        facts = world.facts
        self.world = world
        self.original_rewards = original_rewards
        self.action_space = discrete(facts["actions"])
        if facts["states"] > 0:
            self.observation_space = discrete(facts["states"])
        else:
            shape = (facts["dimension"],) if facts["disjoint"] else (facts["actions"], facts["dimension"])
            self.observation_space = box(-facts["bound"], facts["bound"], shape)
        self._low, self._high = facts["reward_low"], facts["reward_high"]
        self._horizon = facts["horizon"]
        self._bandit = facts["family"] == "bandit"
        self._step = self._horizon
        self._ends = original_rewards or self._low == 0
        self._seen: Any = None
        self._open = False

    @property
    def unwrapped(self) -> Any:
        return self

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new user comes. With a seed, users begin anew, with chance from that seed."""
        if gymnasium is not None:
            super().reset(seed=seed)
        if seed is not None:
            self.world.reseed(seed)
        self._step = 0
        self._open = True
        self._seen = self.world.begin()
        return self._seen, self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """observation, reward, terminated, truncated, info"""
        if not self._open:
            raise _tacit.ExhaustedError("the episode has ended: call reset() first")
        info_means = self._info()
        state, reward = self.world.step(int(action))
        self._step += 1
        if not self._bandit:
            self._seen = state
        if self.original_rewards:
            reward = self._low + (self._high - self._low) * reward
        ended = self._bandit or (self._ends and self.world.is_terminal(state))
        truncated = not ended and self._step >= self._horizon
        info = {**info_means, "step": self._step}
        self._open = not ended
        return self._seen, reward, ended, truncated, info

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"step": self._step}
        if self._bandit and self.world.means is not None:
            info["means"] = self.world.means
        return info

    def render(self) -> None:
        return None

    def close(self) -> None:
        pass

    def __enter__(self) -> Env:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Env({self.world!r})"


# --- An environment for an agent --------------------------------------------------------------------


@dataclasses.dataclass
class History:
    """What the users of learn() got: they are simulated, so this may be shown; with real users it may not."""

    returns: list[float] = dataclasses.field(default_factory=list)
    lengths: list[int] = dataclasses.field(default_factory=list)

    @property
    def episodes(self) -> int:
        return len(self.returns)


def space(env: Any, horizon: int | None = None, **more: Any) -> Space:
    """The space of an environment with Discrete observations and actions, for an agent that learns from it.

    It is stationary: the rules of an environment do not depend on the step, so one table serves all steps and needs
    far fewer users. stationary=False says otherwise. horizon: by default the environment's own limit. More: the other
    keys of a Space, for example reward_low and reward_high.

    >>> import tacit
    >>> space(Env(tacit.World("riverswim", states=6, horizon=12)), 12)
    Space(states=6, actions=2, horizon=12, stationary=True)
    """
    sizes = {}
    for name, found in (("states", env.observation_space), ("actions", env.action_space)):
        if not hasattr(found, "n"):
            raise _tacit.UnsupportedError(f"{name} must be Discrete, not {found}; write the Space by hand")
        sizes[name] = int(found.n)
    if horizon is None:
        horizon = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    if horizon is None:
        raise _tacit.BadArgumentError("the environment has no limit of steps: give horizon=…")
    return Space(**sizes, horizon=int(horizon), **{"stationary": True, **more})


def warn_of_steps(facts: _tacit.AgentFacts) -> None:
    """An agent whose space is not stationary learns one table for each step, which few mean."""
    if facts["states"] > 0 and facts["horizon"] > 1 and not facts["stationary"]:
        warnings.warn(
            f"the agent's space is not stationary, so it learns each of its {facts['horizon']} steps by itself; if the "
            "rules of the environment do not depend on the step, use tacit.gym.space(env), or Space(…, stationary=True)",
            stacklevel=3,
        )


def learn(
    env: Any,
    agent: Agent,
    episodes: int | None = None,
    *,
    seed: int | None = None,
    low: Any = None,
    high: Any = None,
    callback: Callable[[int, History], object] | None = None,
) -> History:
    """Serves and learns from the users of a Gymnasium environment, one episode each.

    Spaces must be Discrete, or the observations a Box for agents with features (lin-ucb, lsvi-ucb): then low and high
    are the declared bounds of each coordinate, public, and by default the Box's own.

    An episode ends after the agent's horizon, or when the environment terminates it: the state that it is left in must
    be one that means the end. A truncated episode has no such state, so an environment must not truncate before the
    agent's horizon. Rewards lie in the range of the agent's space (reward_low, reward_high; [0, 1] unless declared).
    Users whose data do not fit are refused or clipped, as the agent's `outside` says. episodes: by default all that the
    agent has left. callback(user, history) is called after each.
    """
    facts = agent.facts
    warn_of_steps(facts)
    first_action = action_start(env, facts)
    read = reader(env, facts, low, high)
    left = facts["episodes"] - agent.users
    history = History()
    rows: Any = None
    shown: Any = None
    horizon = facts["horizon"]
    for user in range(left if episodes is None else episodes):
        plan = agent.plan()
        if plan is not shown:
            shown = plan
            rows = plan.tolist() if plan is not None and len(plan.shape) == 2 else None
        observation, _ = env.reset(seed=seed if user == 0 else None)
        seen: list[Any] = [read(observation)]
        actions: list[int] = []
        rewards: list[float] = []
        terminated = False
        while not terminated and len(actions) < horizon:
            step = len(actions)
            action = rows[step][seen[step]] if rows is not None else agent.act(step, seen[step])
            observation, reward, terminated, truncated, _ = env.step(action + first_action)
            seen.append(read(observation))
            actions.append(action)
            rewards.append(reward)
            if truncated and not terminated and len(actions) < horizon:
                raise _tacit.UnsupportedError(
                    f"the environment truncated an episode after {len(actions)} steps, before the agent's horizon of "
                    f"{horizon}; give the agent's space the environment's limit as its horizon"
                )
        if facts["per_situation"] > 0 and horizon == 1:
            del seen[1:]
        agent.learn(seen, actions, rewards)
        history.returns.append(math.fsum(rewards))
        history.lengths.append(len(actions))
        if callback is not None:
            callback(user, history)
    return history


def action_start(env: Any, facts: _tacit.AgentFacts) -> int:
    space = env.action_space
    if not hasattr(space, "n"):
        raise _tacit.UnsupportedError(f"actions must be Discrete, not {space}")
    if int(space.n) != facts["actions"]:
        raise _tacit.BadArgumentError(f"the environment has {space.n} actions, the agent {facts['actions']}")
    return int(getattr(space, "start", 0))


def reader(env: Any, facts: _tacit.AgentFacts, low: Any, high: Any) -> Callable[[Any], Any]:
    """From an observation to a state, or to features."""
    space = env.observation_space
    if facts["per_situation"] == 0:
        if not hasattr(space, "n"):
            raise _tacit.UnsupportedError(
                f"{facts['kind']} counts states, so observations must be Discrete, not {space}; "
                "agents with features take a Box"
            )
        if int(space.n) != facts["states"]:
            raise _tacit.BadArgumentError(f"the environment has {space.n} states, the agent {facts['states']}")
        start = int(getattr(space, "start", 0))
        if start == 0:
            return int
        return lambda observation: int(observation) - start
    size = math.prod(space.shape)
    if size == facts["per_situation"] and low is None and high is None:
        return flat_numbers  # the environment's observations are features already
    lows = bounds_of(space.low if low is None else low, size, "low")
    highs = bounds_of(space.high if high is None else high, size, "high")
    n = facts["actions"]
    blocks = 0 if facts["per_situation"] == size + 1 else n
    if blocks and facts["per_situation"] != n * n * (size + 1):
        raise _tacit.BadArgumentError(
            f"observations have {size} numbers, so the agent's space needs features={n * (size + 1)}, or "
            f"features={size + 1} with shared=False"
        )
    return lambda observation: features([flat_numbers(observation)], lows, highs, blocks)[0]


def bounds_of(values: Any, size: int, name: str) -> list[float]:
    numbers = flat_numbers(values)
    if len(numbers) == 1:
        numbers = numbers * size
    if len(numbers) != size:
        raise _tacit.BadArgumentError(f"{name} has {len(numbers)} numbers, expected {size}")
    if not all(map(math.isfinite, numbers)):
        raise _tacit.BadArgumentError(
            f"{name} is not finite: declare the bounds of every coordinate, learn(env, agent, low=…, high=…)"
        )
    return numbers
