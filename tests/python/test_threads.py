"""Threads take turns, forks draw noise of their own, and nothing leaks."""

import gc
import os
import resource
import threading

import numpy
import pytest

import tacit


def river(seed=1, episodes=4000):
    world = tacit.World("riverswim", chance=1)
    return world, tacit.Agent("dp-ucbvi", world, episodes=episodes, privacy=tacit.joint(1), seed=seed)


def test_threads_share_an_agent():
    world, agent = river()
    policy, _ = world.solve()
    episodes = [world.play(policy, i) for i in range(50)]
    failures = []

    def work():
        try:
            for episode in episodes:
                agent.plan()
                agent.learn(*episode)
                agent.act(0, 0)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and agent.users == 8 * 50


def test_threads_share_a_sum():
    s = tacit.Sum(users=100_000, dimension=3, l2=2, privacy=tacit.none())
    rows = numpy.ones((500, 3))
    threads = [threading.Thread(target=lambda: [s.add(rows) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert s.step == 20_000 and s.release().tolist() == [20_000] * 3


def test_an_object_that_is_at_work_is_not_entered_again():
    held = []

    class Loop(tacit.OwnAgent, name="py-loop"):
        """calls itself"""

        def sums(self):
            return {"n": tacit.Bound(1, l2=1)}

        @staticmethod
        def contribute(agent, states, actions, rewards):
            return {"n": [1.0]}

        def plan(self, sums):
            if held:
                held[0].plan()
            return numpy.zeros((self.space.horizon, self.space.states), dtype=int)

    world = tacit.World("riverswim", chance=1)
    agent = tacit.Agent("py-loop", world, episodes=5)
    agent.learn(*world.play(agent.plan()))
    held.append(agent)
    with pytest.raises(tacit.Error, match="at work already"):
        agent.plan()
    held.clear()
    agent.plan()


def child(work):
    """What work() returns, in a child of fork()."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, work().encode())
            os._exit(0)
        except BaseException as error:  # noqa: B902
            os.write(write, repr(error).encode())
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    assert os.waitpid(pid, 0)[1] == 0, said
    return said


def test_a_fork_draws_noise_of_its_own():
    def numbers():
        s.add([0.5])
        return repr(s.release().tolist())

    s = tacit.Sum(users=10, dimension=1, l2=1, privacy=tacit.joint(0.1, 1e-6))
    s.add([0.25])
    assert child(numbers) != numbers()
    # what is simulated is the same in both: it is no secret
    s = tacit.Sum(users=10, dimension=1, l2=1, privacy=tacit.joint(0.1, 1e-6), seed=1)
    s.add([0.25])
    assert child(numbers) == numbers()


def test_a_fork_can_learn_and_run():
    world, agent = river()

    def work():
        for _ in range(20):
            agent.learn(*world.play(agent.plan()))
        result = tacit.run({"world": {"kind": "linear-bandit"}, "episodes": 200,
                            "agents": [{"kind": "lin-ucb", "privacy": tacit.joint(1)}]})
        return f"{agent.users} {result.complete}"

    assert child(work) == work() == "20 True"


def test_a_fork_while_another_thread_is_inside_is_refused_not_waited_for():
    entered, leave = threading.Event(), threading.Event()

    class Slow(tacit.OwnAgent, name="py-slow"):
        """waits in its plan"""

        def sums(self):
            return {"n": tacit.Bound(1, l2=1)}

        @staticmethod
        def contribute(agent, states, actions, rewards):
            return {"n": [1.0]}

        def plan(self, sums):
            entered.set()
            leave.wait()
            return numpy.zeros((self.space.horizon, self.space.states), dtype=int)

    agent = tacit.Agent("py-slow", tacit.World("riverswim"), episodes=5)
    thread = threading.Thread(target=agent.plan)
    thread.start()
    entered.wait()

    def work():
        try:
            agent.plan()
        except tacit.UnsupportedError as error:
            return str(error)
        return "entered"

    said = child(work)
    leave.set()
    thread.join()
    assert "forked while another thread used this object" in said
    agent.act(0, 0)  # and here it goes on


def one_round():
    world, agent = river(episodes=50)
    for _ in range(5):
        agent.learn(*world.play(agent.plan()))
    agent.ledger(), agent.explain(), repr(agent)
    state = agent.save()
    river(episodes=50)[1].load(state)
    bandit = tacit.Agent("lin-ucb", tacit.Space(features=3, actions=2), episodes=20, privacy=tacit.joint(1), seed=1)
    bandit.plan()
    x = numpy.zeros((4, 2, 3))
    bandit.learn_many(x, bandit.act_many(0, x), numpy.zeros(4))
    s = tacit.Sum(users=5, dimension=2, l2=1, privacy=tacit.joint(1), seed=1)
    s.add([[0, 1], [1, 0]])
    s.release()
    for wrong in (lambda: s.add([3, 4]), lambda: agent.learn([0], [0], [0]), lambda: tacit.World("nowhere"),
                  lambda: tacit.Agent("ucbvi", world, episodes=0), lambda: s.add("x"),
                  lambda: bandit.learn_many(x, [0], [0.0])):
        with pytest.raises((tacit.Error, TypeError)):
            wrong()
    result = tacit.run({"world": {"kind": "riverswim", "states": 4, "horizon": 4}, "episodes": 20,
                        "agents": [{"kind": "ucbvi"}]}, threads=1)
    result.summary(), result.curves("ucbvi"), result.html(still=True)
    tacit.account.guarantee(tacit.account.gaussian(1, 3), delta=1e-6)


def test_nothing_leaks():
    """Memory after many rounds is what it was: a leak of 1 kB in a round would show as 300 kB."""
    rounds = 300
    for _ in range(60):
        one_round()
    gc.collect()
    objects, memory = len(gc.get_objects()), resident()
    for _ in range(rounds):
        one_round()
    gc.collect()
    assert len(gc.get_objects()) - objects < 50
    assert resident() - memory < 1024 * rounds, f"{resident() - memory} bytes more"


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
