"""How fast the package is, beside the same loops in C, in the same run. JSON lines.

    cmake --build build --target many_bench tacit_python_package
    python3 python/bench.py build

`python3 python/bench.py build --moment` does all of it with a thousandth of the users, as a test does (tests/bench); the figures
mean nothing then.

Times are processor time, because the machine may be shared; each figure is the median of several turns, C and Python one
after the other in each.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time

import numpy

MOMENT = "--moment" in sys.argv
BUILD = next((word for word in sys.argv[1:] if word != "--moment"), "build")
sys.path[0] = os.path.join(BUILD, "python")  # not this directory, whose package is not compiled

import tacit  # noqa: E402
import tacit.gym  # noqa: E402

TURNS = 1 if MOMENT else 5
BATCHES = 1 if MOMENT else 40  # of 1,000 users
USERS = 20 if MOMENT else 20_000
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)


def in_c(build: str, *arguments: str) -> dict[str, float]:
    """What the loop in C measured."""
    program = os.path.join(build, "bench", "many_bench")
    lines = subprocess.run([program, *arguments, *["--moment"] * MOMENT], capture_output=True, text=True, check=True).stdout.splitlines()
    return json.loads(lines[-1])  # type: ignore[no-any-return]


def say(what: str, python: list[float], c: list[float], **more: object) -> None:
    ours, theirs = statistics.median(python), statistics.median(c)
    ratios = statistics.median(p / q for p, q in zip(python, c))
    print(json.dumps({"what": what, "python_seconds": ours, "c_seconds": theirs, "ratio": round(ratios, 4), **more}),
          flush=True)


# --- Many users in one call ---------------------------------------------------------------------------


def many() -> tuple[float, float]:
    draw = numpy.random.default_rng(1)
    features = draw.uniform(-1, 1, (1000, 10, 20)) / 4.5
    rewards, chances = draw.random(1000), numpy.zeros(1000)
    agent = tacit.Agent("lin-ucb", tacit.Space(features=20, actions=10), episodes=40_000, privacy=tacit.joint(1), seed=1)
    acting = learning = 0.0
    for _ in range(BATCHES):
        agent.plan()
        start = time.process_time()
        actions = agent.act_many(0, features, chances)
        middle = time.process_time()
        agent.learn_many(features, actions, rewards)
        acting += middle - start
        learning += time.process_time() - middle
    return acting / (1000 * BATCHES), learning / (1000 * BATCHES)


# --- Users one after the other ------------------------------------------------------------------------


def table() -> float:
    world = tacit.World("riverswim", states=6, horizon=20, chance=1)
    agent = tacit.Agent("dp-ucbvi", world, episodes=USERS, privacy=tacit.joint(1), seed=1)
    start = time.process_time()
    for _ in range(USERS):
        agent.learn(*world.play(agent.plan()))
    return (time.process_time() - start) / USERS


class River:
    """RiverSwim in plain Python, with Gymnasium's signatures."""

    def __init__(self) -> None:
        self.observation_space = tacit.gym.Discrete(6)
        self.action_space = tacit.gym.Discrete(2)
        self.state = 1

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[int, dict[str, object]]:
        self.steps = 0
        self.state = 1
        return 1, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, object]]:
        state, reward = self.state, 0.0
        if action == 0:
            reward = 0.005 if state == 0 else 0.0
            state = max(state - 1, 0)
        else:
            self.steps += 1
            chance = (self.steps * 7919 + state * 104729) % 1000
            if chance < 350 and state < 5:
                state += 1
            elif chance > 950 and state > 0:
                state -= 1
            reward = 1.0 if state == 5 else 0.0
        self.state = state
        return state, reward, False, False, {}


def environment() -> float:
    space = tacit.Space(states=6, actions=2, horizon=20, stationary=True)
    agent = tacit.Agent("dp-ucbvi", space, episodes=USERS, privacy=tacit.joint(1), seed=1)
    start = time.process_time()
    tacit.gym.learn(River(), agent)
    return (time.process_time() - start) / USERS


# --- Experiments --------------------------------------------------------------------------------------

EXPERIMENT = os.path.join(SOURCE, "examples", "riverswim.yaml")
EPISODES = 30 if MOMENT else 3000


def experiment(episodes: int) -> float:
    start = time.process_time()
    tacit.run(EXPERIMENT, episodes=episodes, threads=1)
    return time.process_time() - start


def main(build: str) -> None:
    with open("/proc/cpuinfo") as file:
        cpu = next((line.split(": ")[1].strip() for line in file if line.startswith("model name")), "unknown")
    print(json.dumps({"bench": "python", "python": sys.version.split()[0], "numpy": numpy.__version__, "cpu": cpu}))

    ours, theirs = [], []
    for _ in range(TURNS):
        theirs.append(in_c(build, "many"))
        ours.append(many())
    say("act_many, lin-ucb d = 20, 10 actions, one user", [a for a, _ in ours], [c["act_seconds"] for c in theirs])
    say("learn_many, lin-ucb d = 20, one user", [b for _, b in ours], [c["learn_seconds"] for c in theirs])

    c = []
    python = []
    for _ in range(TURNS):
        c.append(in_c(build, "table")["seconds"])
        python.append(table())
    say("plan, play, learn: RiverSwim, dp-ucbvi, one user of 20 steps", python, c,
        episodes_per_second=round(1 / statistics.median(python)))

    seconds = [environment() for _ in range(TURNS)]
    print(json.dumps({"what": "an environment in plain Python: one user of 20 steps, dp-ucbvi",
                      "python_seconds": statistics.median(seconds),
                      "episodes_per_second": round(1 / statistics.median(seconds))}), flush=True)

    c, python = [], []
    for _ in range(TURNS):
        c.append(in_c(build, "run", EXPERIMENT, str(EPISODES))["seconds"])
        python.append(experiment(EPISODES))
    say(f"tacit.run, examples/riverswim.yaml with {EPISODES} episodes, one thread", python, c)


if __name__ == "__main__":
    main(BUILD)
