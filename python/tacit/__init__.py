"""Differentially private learning by doing.

People come one after the other. Each acts by a policy that everybody may read, something happens to them, and the
policy is improved by it, in such a way that nobody can tell from all that is published what happened to one person.

A world, a learner, and their users:

>>> import tacit
>>> world = tacit.World("riverswim", states=6, horizon=20)
>>> agent = tacit.Agent("dp-ucbvi", world, episodes=1000, privacy=tacit.joint(epsilon=1, delta=2e-6))
>>> for user in range(10):
...     policy = agent.plan()                    # array [horizon, states]; agent.act(step, state) for one
...     agent.learn(*world.play(policy))         # or your own environment
>>> agent.explain().holds                        # what is promised, and why
True
>>> agent.ledger().releases[0]["passed"] >= 1    # what has passed the door so far
True

The noise comes from the operating system. seed= makes it simulated, which is reproducible and not private, and says
so in repr.

An experiment compares learners, with exact regret:

>>> result = tacit.run({
...     "world": {"kind": "riverswim"}, "episodes": 500, "runs": 2,
...     "agents": [{"kind": "auto", "privacy": tacit.joint(1)}, {"kind": "uniform"}],
... })
>>> [round(row["epsilon"], 6) for row in result.summary()]
[1.0, inf]

result.frame() is a pandas DataFrame, result.plot() a figure, and in a notebook `result` shows the report.

    account     the accountant: tacit.account.scale(epsilon=1, delta=1e-6, l2=1), tacit.account.guarantee(…)
    Sum         private running sums
    gym         Gymnasium, both ways: tacit.gym.learn(env, agent), tacit.gym.Env(world)
    OwnWorld, OwnAgent   classes of your own, which run in tacit.run
    Client, Service      devices under local privacy, and the decision service
    worlds(), agents()   the kinds of worlds and agents

Threads may share objects: calls on one object wait for each other. Arrays are used where they lie, so do not change
one while a call reads it. After os.fork() parent and child draw different noise, and a person in both pays twice.

docs/how-to/python.md is a tour of ten minutes.
"""

from __future__ import annotations

from . import _tacit, account, gym
from ._tacit import (
    BadArgumentError, BadCountError, BadDeltaError, BadEpsilonError, BadPlanError, BadScaleError, BadSensitivityError,
    BadSyntaxError, CorruptError, Error, ExhaustedError, ExistsError, FencedError, LateError, NoMemoryError, NoRoomError,
    NotFiniteError, NothingToReleaseError, OutOfBoundError, ReleasedTwiceError,
    OperatingSystemError, TooLargeError, UndeclaredError, UnreachableTargetError, UnsupportedError,
    WrongPlanError, WrongVersionError,
)
from .agents import Agent, Explanation, Ledger, Space, agents, features
from .lab import Interrupted, open_results, run
from .own import Bound, OwnAgent, OwnSpace, OwnWorld, Parameter
from .privacy import Privacy, joint, local, none
from .results import Results
from .service import Client, Service, ServiceError
from .sums import Sum
from .worlds import World, worlds

__version__ = _tacit.version

__all__ = [
    "Agent", "BadArgumentError", "BadCountError", "BadDeltaError", "BadEpsilonError", "BadPlanError", "BadScaleError",
    "BadSensitivityError", "BadSyntaxError", "Bound", "Client", "CorruptError", "Error", "ExhaustedError", "ExistsError", "Explanation",
    "FencedError", "Interrupted", "LateError", "Ledger", "NoMemoryError", "NoRoomError", "NotFiniteError",
    "NothingToReleaseError", "OperatingSystemError", "OutOfBoundError", "OwnAgent", "OwnSpace", "OwnWorld", "Parameter", "Privacy",
    "ReleasedTwiceError", "Results", "Service", "ServiceError", "Space", "Sum", "TooLargeError", "UndeclaredError",
    "UnreachableTargetError", "UnsupportedError", "World", "WrongPlanError", "WrongVersionError", "account", "agents",
    "features", "gym", "joint", "local", "none", "open_results", "run", "worlds",
]
