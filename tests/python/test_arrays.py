"""Numbers in and out: used where they lie, converted, or refused by name; and all of it without numpy."""

import array
import os
import subprocess
import sys
import textwrap
import tracemalloc

import numpy
import pytest

import tacit


def make_sum(**more):
    return tacit.Sum(users=10**6, dimension=4, l2=10, privacy=tacit.none(), **more)


def total(x):
    s = make_sum()
    s.add(x)
    return s.release().tolist()


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"])
def test_every_number_type_is_taken(kind):
    assert total(numpy.array([1, 0, 1, 1], dtype=kind)) == [1, 0, 1, 1]


def test_negative_numbers_and_lists_and_views():
    assert total(numpy.array([-3, 0, 2, 1], dtype="i2")) == [-3, 0, 2, 1]
    assert total([1, 2.5, -1, 0]) == [1, 2.5, -1, 0]
    assert total((1, 2, 3, 4)) == [1, 2, 3, 4]
    assert total(array.array("d", [1, 2, 3, 4])) == [1, 2, 3, 4]
    assert total(memoryview(array.array("f", [1, 2, 3, 4]))) == [1, 2, 3, 4]
    assert total(numpy.arange(8.0)[::2]) == [0, 2, 4, 6]  # with gaps
    assert total([numpy.ones(4), [1, 2, 3, 4]]) == [2, 3, 4, 5]
    assert total(numpy.array([[1, 2, 3, 4], [1, 1, 1, 1]], order="F", dtype=float)) == [2, 3, 4, 5]
    assert total([numpy.float64(1), numpy.int32(2), True, 0]) == [1, 2, 1, 0]


def test_what_is_no_number_is_refused_by_name():
    for wrong in ("1234", ["a", 1, 2, 3], numpy.array(["a"] * 4), 5, None, numpy.ones(4, dtype=complex)):
        with pytest.raises(TypeError):
            total(wrong)
    with pytest.raises(TypeError, match="x must have numbers, not items of format '>d'"):
        total(numpy.ones(4, dtype=">f8"))
    with pytest.raises(tacit.BadArgumentError, match="x has 3 numbers, expected 4 for each user"):
        total([1, 2, 3])
    with pytest.raises(tacit.NotFiniteError):
        total([1, 2, 3, float("nan")])
    deep = [1.0]
    for _ in range(20):
        deep = [deep]
    with pytest.raises(TypeError, match="array or a list"):
        total(deep)


def test_states_are_whole_numbers_in_range():
    world = tacit.World("riverswim", horizon=3, chance=1)
    agent = tacit.Agent("ucbvi", world, episodes=10, seed=1)
    agent.plan()
    agent.learn(numpy.array([0, 1, 2, 3], dtype="i8"), [0, 1, 1], [0, 0, 0])
    for states in ([0, 1, 2, -1], numpy.array([0, 1, 2, -1]), [0, 1, 2, 2**32], numpy.array([0, 1, 2, 2**40])):
        with pytest.raises(tacit.OutOfBoundError, match="states has a number outside 0 .. 4294967295"):
            agent.learn(states, [0, 1, 1], [0, 0, 0])
    with pytest.raises(TypeError, match="states must have whole numbers"):
        agent.learn(numpy.array([0.0, 1, 2, 3]), [0, 1, 1], [0, 0, 0])
    with pytest.raises(TypeError):
        agent.learn([0.5, 1, 2, 3], [0, 1, 1], [0, 0, 0])
    assert agent.users == 1


def test_large_arrays_are_not_copied():
    x = numpy.zeros((100_000, 4))
    s = make_sum()
    s.add(x[:1])
    tracemalloc.start()
    s.add(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < x.nbytes // 10


def test_arrays_that_come_out_are_the_callers_own():
    world = tacit.World("riverswim", chance=1)
    states, actions, rewards = world.play(world.solve()[0])
    assert states.dtype == numpy.uint32 and rewards.dtype == numpy.float64
    before = states.copy()
    world.play(world.solve()[0])
    assert (states == before).all()
    states[0] = 5  # writable


WITHOUT = """
import sys
sys.modules["numpy"] = None
import array, tacit
world = tacit.World("riverswim", states=4, horizon=5, chance=1)
agent = tacit.Agent("dp-ucbvi", world, episodes=100, privacy=tacit.joint(1), seed=1)
for _ in range(20):
    policy = agent.plan()
    assert isinstance(policy, memoryview) and policy.shape == (5, 4) and policy.readonly
    states, actions, rewards = world.play(policy)
    agent.learn(states, actions, rewards)
    agent.act(0, 0)
agent.learn([0, 1, 2, 3, 3, 3], array.array("I", [0, 1, 0, 1, 1]), [0.0] * 5)
print(agent.act_many(0, [0, 1, 2, 3]).tolist() == policy.tolist()[0], agent.users)
bandit = tacit.Agent("lin-ucb", tacit.Space(features=2, actions=2), episodes=10, privacy=tacit.none(), seed=1)
bandit.plan()
bandit.learn([[0.1, 0.2], [0.3, 0.4]], 1, 0.5)
print(len(bandit.act_many(0, [[[0.1, 0.2], [0.3, 0.4]]])))
result = tacit.run({"world": {"kind": "riverswim", "states": 4, "horizon": 5}, "episodes": 50, "runs": 2,
                    "agents": [{"kind": "ucbvi"}]})
print(len(result.curves("ucbvi")), len(result.episodes))
s = tacit.Sum(users=5, dimension=2, l2=1, privacy=tacit.joint(1), seed=1)
s.add([1, 0])
print(len(s.release()))
env = tacit.gym.Env(world)
tacit.gym.learn(env, tacit.Agent("ucbvi", world, episodes=5, seed=1))
"""


def test_all_of_it_works_without_numpy():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(WITHOUT)], capture_output=True, text=True,
                          env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True 21", "1", "2 50", "2"]
