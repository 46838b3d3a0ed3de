"""Worlds and agents written in Python: in experiments, with exact values, and through the ledger only."""

import numpy
import pytest

import tacit


class Queue(tacit.OwnWorld, name="py-queue"):
    """a counter with a queue: hurry, at a price, or let people wait"""

    room = tacit.Parameter(5, 1, 1000, "people who can wait")
    arrivals = tacit.Parameter(0.5, 0, 1, "probability of one in a step")
    length = tacit.Parameter(12, 1, 1000, "steps in an episode")
    actions = 2

    @property
    def states(self):
        return self.room + 1

    @property
    def horizon(self):
        return self.length

    def outcomes(self, step, waiting, action):
        served, cost = (0.8, 0.3) if action == 1 else (0.4, 0.0)
        reward = 1 - waiting / (2 * self.room) - cost
        for leaves, p in ((1, served), (0, 1 - served)):
            for comes, q in ((1, self.arrivals), (0, 1 - self.arrivals)):
                following = waiting - (leaves and waiting > 0)
                yield min(following + comes, self.room) if comes else following, p * q, reward


class Myopic(tacit.OwnAgent, name="py-myopic", models=("none", "joint", "local")):
    """takes what pays best at once, by private counts"""

    explore = tacit.Parameter(0.1, 0, 1, "probability of any action")

    def sums(self):
        pairs, steps = self.space.states * self.space.actions, self.space.horizon
        return {"visits": tacit.Bound(pairs, l1=steps, l2=steps, nonnegative=True),
                "rewards": tacit.Bound(pairs, l1=steps, l2=steps, nonnegative=True)}

    @staticmethod
    def contribute(agent, states, actions, rewards):
        pairs = agent.space.states * agent.space.actions
        at = states[:-1].astype(int) * agent.space.actions + actions
        return {"visits": numpy.bincount(at, minlength=pairs),
                "rewards": numpy.bincount(at, weights=rewards, minlength=pairs)}

    def plan(self, sums):
        S, A, H = self.space.states, self.space.actions, self.space.horizon
        pays = (sums["rewards"] / numpy.maximum(sums["visits"], 1)).reshape(S, A)
        policy = numpy.full((S, A), self.explore / A)
        policy[numpy.arange(S), pays.argmax(axis=1)] += 1 - self.explore
        return numpy.broadcast_to(policy, (H, S, A))


EXPERIMENT = {
    "world": {"kind": "random-tabular", "states": 5, "actions": 3, "horizon": 10, "seed": 7},
    "episodes": 400,
    "runs": 2,
    "agents": [
        {"label": "myopic", "kind": "py-myopic", "privacy": tacit.none()},
        {"label": "private", "kind": "py-myopic", "privacy": tacit.joint(5, 1e-4)},
        {"label": "pure", "kind": "py-myopic", "explore": 0.2, "privacy": tacit.joint(5, 0)},
        {"label": "local", "kind": "py-myopic", "privacy": tacit.local(5)},
        {"kind": "uniform"},
    ],
}


def test_a_world_has_exact_values():
    world = tacit.World("py-queue", room=3, length=4, chance=1)
    assert (world.states, world.actions, world.horizon) == (4, 2, 4)
    policy, _ = world.solve()

    # by hand: backward induction over the same outcomes
    queue = Queue(room=3, length=4, arrivals=0.5)
    value = numpy.zeros(4)
    for _ in range(4):
        q = [[sum(p * (r + value[n]) for n, p, r in queue.outcomes(0, s, a)) for a in range(2)] for s in range(4)]
        value = numpy.max(q, axis=1)
    assert world.optimal_value == pytest.approx(value[0], rel=1e-12)
    assert world.evaluate(policy) == pytest.approx(value[0], rel=1e-12)


def test_a_world_may_depend_on_the_step_and_begin_anywhere():
    class Clock(tacit.OwnWorld, name="py-clock"):
        """action 1 pays at odd steps, from -1 to 3, and people begin in two states"""

        states, actions, horizon, stationary = 2, 2, 4, False
        reward_low, reward_high = -1.0, 3.0
        initial = {0: 0.25, 1: 0.75}

        def outcomes(self, step, state, action):
            pays = 3.0 if action == step % 2 else -1.0
            return [(state, 1.0, pays)]

    world = tacit.World("py-clock", chance=1)
    policy, _ = world.solve()
    assert policy[:, 0].tolist() == [0, 1, 0, 1]
    assert world.original_value(world.optimal_value) == pytest.approx(12)
    begins = [world.begin(user) for user in range(1000)]
    assert abs(sum(begins) / 1000 - 0.75) < 0.07  # 5 standard errors


def test_a_world_runs_in_experiments():
    result = tacit.run({"worlds": [{"kind": "py-queue", "room": [3, 6]}], "episodes": 1500, "runs": 2,
                        "agents": [{"kind": "ucbvi"}, {"kind": "uniform"}]})
    rows = {(r["world"], r["agent"]): r["regret_mean"] for r in result.summary()}
    assert len(rows) == 4
    for world in result.worlds:
        assert rows[world, "ucbvi"] < rows[world, "uniform"]


def test_an_agent_runs_in_experiments_and_its_promise_holds():
    result = tacit.run(EXPERIMENT)
    again = tacit.run(EXPERIMENT, threads=1)
    for agent in result.agents:
        assert (result.curves(agent) == again.curves(agent)).all()
    regret = {r["agent"]: r["regret_mean"] for r in result.summary()}
    assert regret["myopic"] < regret["uniform"]
    for label, epsilon in (("private", 5), ("pure", 5), ("local", 5)):
        assert 0.99 * epsilon < result.guarantee(label).epsilon <= epsilon * (1 + 1e-9)
        assert [line["name"] for line in result.releases(label)] == ["visits", "rewards"]


def test_the_plan_sees_releases_only():
    seen = []

    class Spy(Myopic, name="py-spy", models=("none", "joint")):
        """keeps what plan gets"""

        def plan(self, sums):
            seen.append({name: value.copy() for name, value in sums.items()})
            return super().plan(sums)

    world = tacit.World("random-tabular", states=5, actions=3, horizon=10, seed=7, chance=1)
    agent = tacit.Agent("py-spy", world, episodes=50, privacy=tacit.joint(1, 1e-4), seed=3)
    exact = numpy.zeros(15)
    for _ in range(20):
        states, actions, rewards = world.play(agent.plan())
        exact += numpy.bincount(states[:-1].astype(int) * 3 + actions, minlength=15)
        agent.learn(states, actions, rewards)
    agent.plan()
    assert len(seen) == 21 and not seen[0]["visits"].any()
    scale = agent.ledger().releases[0]["scale"]
    error = seen[-1]["visits"] - exact
    assert scale > 1 and (error != 0).all() and abs(error).max() < 20 * scale
    assert agent.ledger().releases[0]["passed"] == 20
    plain = tacit.Agent("py-spy", world, episodes=50, privacy=tacit.none())
    states, actions, rewards = world.play(plain.plan())
    plain.learn(states, actions, rewards)
    plain.plan()
    assert (seen[-1]["visits"] == numpy.bincount(states[:-1].astype(int) * 3 + actions, minlength=15)).all()


def test_contribute_cannot_remember():
    with pytest.raises(TypeError, match="contribute must be a staticmethod"):

        class Keeps(tacit.OwnAgent, name="py-keeps"):
            """remembers people"""

            def contribute(self, states, actions, rewards):
                return {}

    class Writes(Myopic, name="py-writes"):
        """tries to remember people"""

        @staticmethod
        def contribute(agent, states, actions, rewards):
            agent.people = states

    world = tacit.World("riverswim", chance=1)
    agent = tacit.Agent("py-writes", world, episodes=5)
    with pytest.raises(tacit.Error, match="nothing to remember users by") as found:
        agent.learn(*world.play(agent.plan()))
    assert isinstance(found.value.__cause__, AttributeError)


def test_vectors_beyond_their_bound_are_scaled_down():
    class Loud(Myopic, name="py-loud", models=("none", "joint")):
        """claims more than it declared"""

        @staticmethod
        def contribute(agent, states, actions, rewards):
            pairs = agent.space.states * agent.space.actions
            return {"visits": [1000.0] * pairs, "rewards": [0.0] * pairs}

        def plan(self, sums):
            Loud.seen = float(numpy.linalg.norm(sums["visits"]))
            return super().plan(sums)

    world = tacit.World("riverswim", states=4, horizon=6, chance=1)
    agent = tacit.Agent("py-loud", world, episodes=5, privacy=tacit.none())
    agent.learn(*world.play(agent.plan()))
    agent.plan()
    assert Loud.seen <= 6 * (1 + 1e-3)


def test_failures_in_python_reach_the_caller():
    class Breaks(Myopic, name="py-breaks"):
        """fails after some users"""

        def plan(self, sums):
            if sums["visits"].sum() > 50:
                raise ZeroDivisionError("planned too well")
            return super().plan(sums)

    with pytest.raises(tacit.Error, match="plan: ZeroDivisionError: planned too well") as found:
        tacit.run({**EXPERIMENT, "agents": [{"kind": "py-breaks"}]})
    assert isinstance(found.value.__cause__, ZeroDivisionError)

    class Wrong(tacit.OwnWorld, name="py-wrong"):
        """probabilities that do not add up"""

        states, actions, horizon = 2, 1, 2

        def outcomes(self, step, state, action):
            return [(0, 0.5, 0.0)]

    with pytest.raises(tacit.Error, match="py-wrong|sum|probab"):
        tacit.World("py-wrong")

    class Silent(Myopic, name="py-silent"):
        """forgets a sum"""

        @staticmethod
        def contribute(agent, states, actions, rewards):
            return {"visits": [0.0] * 15}

    world = tacit.World("random-tabular", states=5, actions=3, seed=7, chance=1)
    agent = tacit.Agent("py-silent", world, episodes=5)
    with pytest.raises(tacit.Error, match="contribute returned no 'rewards'"):
        agent.learn(*world.play(agent.plan()))


def test_a_class_can_be_defined_again_but_not_differently():
    def define(value, **more):
        class Again(tacit.OwnWorld, name="py-again", **more):
            """pays a constant"""

            states, actions, horizon = 1, 1, 1
            bonus = tacit.Parameter(0.0, 0, 1, "more")

            def outcomes(self, step, state, action):
                return [(0, 1.0, value)]

        return Again

    define(0.25)
    assert tacit.World("py-again").optimal_value == 0.25
    define(0.75)
    assert tacit.World("py-again").optimal_value == 0.75
    with pytest.raises(tacit.ExistsError, match="registered already"):

        class Other(tacit.OwnWorld, name="py-again"):
            """has another parameter"""

            malus = tacit.Parameter(0.0, 0, 1, "less")

    with pytest.raises(tacit.ExistsError):

        class Taken(tacit.OwnWorld, name="riverswim"):
            """a name that is taken"""


def test_classes_are_not_registered_while_an_experiment_runs():
    def define(now):
        class Late(tacit.OwnWorld, name="py-late"):
            """comes too late"""

    with pytest.raises(tacit.UnsupportedError, match="an experiment is running"):
        tacit.run(EXPERIMENT, progress=define)


def test_releases_may_be_rare():
    class Rare(Myopic, name="py-rare", models=("joint",)):
        """releases after every tenth user"""

        release_every = 10
        plans = 0

        def plan(self, sums):
            Rare.plans += 1
            return super().plan(sums)

    world = tacit.World("random-tabular", states=5, actions=3, seed=7, chance=1)
    agent = tacit.Agent("py-rare", world, episodes=100, privacy=tacit.joint(1, 1e-4), seed=1)
    for _ in range(35):
        agent.learn(*world.play(agent.plan()))
    agent.plan()
    assert Rare.plans == 1 + 3
