"""Agents and worlds from Python: the loop, its state, its ledger, its refusals."""

import numpy
import pytest

import tacit

RIVER = dict(states=6, horizon=20)


def river_agent(episodes=300, seed=7, kind="dp-ucbvi", privacy=None, **more):
    world = tacit.World("riverswim", **RIVER, chance=1)
    privacy = privacy or tacit.joint(epsilon=1, delta=2e-6)
    return world, tacit.Agent(kind, world, episodes=episodes, privacy=privacy, seed=seed, **more)


def play(world, agent, users):
    for _ in range(users):
        agent.learn(*world.play(agent.plan()))


def test_a_seed_gives_the_same_learner_and_no_seed_another():
    def value(seed):
        world, agent = river_agent(seed=seed, privacy=tacit.joint(0.2, 1e-4))
        play(world, agent, 60)
        return agent.plan().tobytes(), agent.save()

    assert value(3)[0] == value(3)[0]
    assert value(3)[1] != value(4)[1]
    assert value(None)[1] != value(None)[1]


def test_repr_says_what_is_simulated():
    assert "SIMULATED by seed=7: not private" in repr(river_agent()[1])
    real = river_agent(seed=None)[1]
    assert "SIMULATED" not in repr(real) and not real.simulated
    assert "joint epsilon 1 delta 2e-06, 0 of 300 users" in repr(real)


def test_plan_is_an_array_that_stays_as_it_is():
    world, agent = river_agent()
    policy = agent.plan()
    assert policy.shape == (20, 6) and policy.dtype == numpy.uint32
    with pytest.raises(ValueError):
        policy[0, 0] = 1
    assert all(agent.act(h, s) == policy[h, s] for h in range(20) for s in range(6))
    assert agent.choose(0, 0) == (policy[0, 0], 1.0)


def test_a_learner_learns():
    world = tacit.World("random-tabular", states=5, actions=3, horizon=10, seed=7, chance=1)
    agent = tacit.Agent("ucbvi", world, episodes=2000)
    first = world.evaluate(agent.plan())
    play(world, agent, 2000)
    best = world.optimal_value
    assert world.evaluate(agent.plan()) > best - 0.1 > first


def test_after_the_last_user_nobody_is_learned_from():
    world, agent = river_agent(episodes=3)
    play(world, agent, 3)
    with pytest.raises(tacit.ExhaustedError):
        agent.learn(*world.play(agent.plan()))
    assert agent.users == 3


def test_a_space_serves_without_a_world():
    space = tacit.Space(states=6, actions=2, horizon=20, stationary=True)
    world = tacit.World("riverswim", **RIVER, chance=1)
    beside = tacit.Agent("ucbvi", world, episodes=50, seed=3)
    alone = tacit.Agent("ucbvi", space, episodes=50, seed=3)
    for user in range(50):
        policy = alone.plan()
        assert (policy == beside.plan()).all()
        episode = world.play(policy, user)
        alone.learn(*episode)
        beside.learn(*episode)


def test_save_and_load_continue(tmp_path):
    world, agent = river_agent()
    play(world, agent, 40)
    path = tmp_path / "agent.bin"
    agent.save(path)
    assert path.stat().st_mode & 0o077 == 0
    _, other = river_agent(seed=8)
    other.load(path)
    assert other.users == 40
    policy, _ = world.solve()
    for i in range(5):
        episode = world.play(policy, 1000 + i)
        agent.learn(*episode)
        other.learn(*episode)
        assert (agent.plan() == other.plan()).all()
    assert other.act(3, 2) == agent.act(3, 2)
    with pytest.raises(tacit.CorruptError):
        river_agent()[1].load(b"nonsense")
    with pytest.raises(tacit.Error):
        river_agent()[1].load(path.read_bytes()[:-9] + b"x" * 9)
    with pytest.raises(tacit.WrongPlanError):
        river_agent(episodes=301)[1].load(path)


def test_ledger_says_what_has_passed():
    world, agent = river_agent()
    before = agent.ledger()
    assert before.spent.epsilon == 0 and before.simulated
    play(world, agent, 30)
    agent.plan()
    ledger = agent.ledger()
    assert 0 < ledger.spent.epsilon <= 1 + 1e-9
    assert all(0 < line["passed"] <= line["steps"] for line in ledger.releases)
    assert "SIMULATED" in repr(ledger)
    assert tacit.Agent("ucbvi", world, episodes=5).ledger() is None


def test_explain_holds_and_says_why():
    _, agent = river_agent()
    found = agent.explain()
    assert found.holds and found.real.epsilon <= 1 + 1e-9
    text = repr(found)
    assert "joint differential privacy, epsilon 1, delta 2e-06" in text and "because" in text
    printed = river_agent(privacy=tacit.joint(1, noise="published"))[1].explain()
    assert printed.facts["calibration"] == "published noise" and printed.facts["claim"]["delta"] == 0
    plays = {line["name"]: line for line in printed.facts["plays"]}
    assert plays["noise of visits"]["printed"] == plays["noise of visits"]["played"] > 0
    assert plays["clip of Q"]["printed"] == "H" and plays["E"]["printed"] is None
    assert "plays       clip of Q: printed H, played H - h + 1" in repr(printed)
    figure = river_agent(privacy=tacit.joint(1, 0, calibration="figure"))[1].explain()
    assert not figure.holds
    assert "nothing" in repr(tacit.Agent("ucbvi", tacit.World("riverswim"), episodes=5).explain())


def test_privacy_must_be_said():
    world = tacit.World("riverswim")
    with pytest.raises(TypeError, match="can be private: give privacy="):
        tacit.Agent("dp-ucbvi", world, episodes=10)
    assert "no privacy" in repr(tacit.Agent("dp-ucbvi", world, episodes=10, privacy=tacit.none()))
    with pytest.raises(tacit.UnsupportedError):
        tacit.Agent("ucbvi", world, episodes=10, privacy=tacit.joint(1))
    with pytest.raises(tacit.Error, match="delta"):
        tacit.Agent("dp-ucbvi", world, episodes=10, privacy=tacit.joint(1, 0.5))


def test_a_promise_is_checked_where_it_is_written():
    for wrong in (lambda: tacit.joint(-1), lambda: tacit.local(1, 2), lambda: tacit.joint(1, visits=0)):
        with pytest.raises(ValueError, match="expected a "):
            wrong()
    with pytest.raises(TypeError, match="epsilon is 'x', expected a number"):
        tacit.joint("x")
    world = tacit.World("riverswim", **RIVER)
    with pytest.raises(ValueError, match="above 1/episodes = 0.01.*delta_above_one_over_users=True"):
        tacit.Agent("auto", world, episodes=100, privacy=tacit.joint(1, 0.5))
    assert tacit.Agent("auto", world, episodes=100, privacy=tacit.joint(1, 0.5, delta_above_one_over_users=True))
    with pytest.raises(tacit.Error) as caught:
        tacit.Agent("dp-ucbvi", world, episodes=100, privacy=tacit.joint(1), bonus_scal=1)
    assert str(caught.value).startswith("agent dp-ucbvi has no key 'bonus_scal'")


def test_baselines_serve_like_learners():
    world = tacit.World("riverswim", **RIVER, chance=1)
    uniform = tacit.Agent("uniform", world, episodes=20)
    constant = tacit.Agent("constant", world, episodes=20, privacy=tacit.none())
    assert (uniform.plan() == 0.5).all() and uniform.plan().shape == (20, 6, 2)
    values = [world.evaluate(numpy.full((20, 6), action, dtype=numpy.uint32)) for action in range(2)]
    assert (constant.plan() == int(numpy.argmax(values))).all()
    play(world, uniform, 20)
    assert uniform.users == 20 and uniform.ledger() is None and "nothing to protect" in str(uniform.explain())
    with pytest.raises(tacit.ExhaustedError):
        play(world, uniform, 1)
    with pytest.raises(ValueError, match="no privacy to promise"):
        tacit.Agent("uniform", world, episodes=20, privacy=tacit.joint(1))
    for kind in ("optimal", "no-data"):
        with pytest.raises(ValueError, match="world.solve"):
            tacit.Agent(kind, world, episodes=20)
    bandit = tacit.World("linear-bandit", d=3, actions=4, contexts=0, chance=2)
    best = tacit.Agent("constant", bandit, episodes=50, seed=1)
    best.plan()
    assert len({best.act(0, bandit.begin()) for _ in range(5)}) == 1
    offers = tacit.Agent("uniform", tacit.Space(features=5, actions=3), episodes=100, seed=4)
    offers.plan()
    drawn = offers.act_many(0, numpy.full((90, 3, 5), 0.1))
    assert set(drawn) == {0, 1, 2}
    with pytest.raises(tacit.UnsupportedError, match="give a world, or use uniform"):
        tacit.Agent("constant", tacit.Space(features=5, actions=3), episodes=100)


def test_errors_name_what_is_wrong():
    with pytest.raises(tacit.Error, match="did you mean 'riverswim'"):
        tacit.World("riverswin")
    with pytest.raises(tacit.Error, match="states"):
        tacit.World("riverswim", states=1)
    world, agent = river_agent()
    states, actions, rewards = world.play(agent.plan())
    with pytest.raises(tacit.Error, match="states has 20 numbers, expected 21"):
        agent.learn(states[:-1], actions, rewards)
    with pytest.raises(tacit.Error):
        agent.learn(states, actions, rewards + 2)
    with pytest.raises(tacit.Error):
        agent.learn(states + 6, actions, rewards)
    with pytest.raises(TypeError, match="rewards"):
        agent.learn(states, actions, "many")
    assert agent.users == 0
    _, clip = river_agent(outside="clip")
    clip.learn(states, actions, rewards + 2)
    assert clip.was_cut and clip.users == 1


def bandit(episodes=400, **more):
    space = tacit.Space(features=4, actions=3)
    return tacit.Agent("lin-ucb", space, episodes=episodes, privacy=tacit.joint(5, 1e-4), seed=1, **more)


def test_many_users_are_as_good_as_one_after_the_other():
    draw = numpy.random.default_rng(5)
    x = draw.normal(size=(100, 3, 4))
    x /= numpy.linalg.norm(x, axis=2, keepdims=True)
    one, many = bandit(), bandit()
    one.plan()
    many.plan()
    actions = many.act_many(0, x, numpy.zeros(100))
    assert actions.tolist() == [one.act(0, row, 0.0) for row in x]
    rewards = draw.random(100)
    assert many.learn_many(x, actions, rewards) == 100 == many.users
    for row, action, reward in zip(x, actions, rewards):
        one.learn(row, int(action), float(reward))
    one.plan()
    many.plan()
    again = draw.permutation(x)
    chances = draw.random(100)
    expected = [one.act(0, row, chance) for row, chance in zip(again, chances)]
    assert many.act_many(0, again, chances).tolist() == expected
    with pytest.raises(tacit.Error, match="expected 12 for each user"):
        many.act_many(0, x[:, :2])


def test_of_many_users_those_before_the_refused_one_count():
    x = numpy.full((10, 3, 4), 0.1)
    agent = bandit()
    agent.plan()
    rewards = numpy.zeros(10)
    rewards[6] = 2
    with pytest.raises(tacit.Error):
        agent.learn_many(x, [0] * 10, rewards)
    assert agent.users == 6
    s = tacit.Sum(users=20, dimension=1, l2=1, privacy=tacit.none())
    with pytest.raises(tacit.OutOfBoundError):
        s.add([[1], [1], [2], [1]])
    assert s.step == 2 and s.release().tolist() == [2]


def test_tabular_users_in_one_call():
    world, one = river_agent()
    _, many = river_agent()
    policy, _ = world.solve()
    episodes = [world.play(policy, i) for i in range(20)]
    for episode in episodes:
        one.learn(*episode)
    assert many.learn_many(*(numpy.stack(part) for part in zip(*episodes))) == 20
    policy = one.plan()
    assert (policy == many.plan()).all()
    assert many.act_many(2, [0, 1, 2, 3, 4, 5]).tolist() == policy[2].tolist()


def test_a_bandit_world_step_by_step():
    world = tacit.World("linear-bandit", d=5, actions=4, chance=3)
    agent = tacit.Agent("lin-ucb", world, episodes=2000, privacy=tacit.none(), seed=2)
    regret = []
    for _ in range(2000):
        agent.plan()
        context = world.begin()
        action = agent.act(0, context)
        regret.append(max(world.means) - world.means[action])
        _, reward = world.step(action)
        agent.learn(context, action, reward)
    assert numpy.mean(regret[-200:]) < 0.3 * numpy.mean(regret[:200])
    with pytest.raises(tacit.ExhaustedError, match="begin"):
        world.step(0)
    with pytest.raises(tacit.UnsupportedError, match="bandit world"):
        world.solve()


def test_local_reports_travel():
    world = tacit.World("riverswim", **RIVER, chance=1)
    make = lambda seed: tacit.Agent("dp-ucbvi", world, episodes=100, privacy=tacit.local(1), seed=seed)
    server, device = make(1), make(2)
    episode = world.play(server.plan())
    report = device.report(*episode)
    assert isinstance(report, bytes) and device.users == 0
    server.check_report(report)
    server.absorb(report)
    assert server.users == 1
    with pytest.raises(tacit.Error):
        server.absorb(report[:-1])
    assert server.users == 1


def test_worlds_are_exact_and_numbered():
    world = tacit.World("riverswim", **RIVER, chance=5)
    policy, values = world.solve()
    assert values.shape == (21, 6) and values[-1].tolist() == [0] * 6
    assert world.evaluate(policy) == pytest.approx(world.optimal_value, rel=1e-12)
    mixed = numpy.full((20, 6, 2), 0.5)
    assert world.evaluate(mixed) < world.evaluate(policy)
    # the mean of what is played is what is computed: 2000 users, false alarm below 1e-6 (5 standard errors)
    returns = [world.play(policy)[2].sum() for _ in range(2000)]
    error = numpy.std(returns) / numpy.sqrt(2000)
    assert abs(numpy.mean(returns) - world.evaluate(policy)) < 5 * error
    first = world.play(policy, 17)
    assert all((a == b).all() for a, b in zip(first, world.play(policy, 17)))
    world.reseed(6)
    assert any((a != b).any() for a, b in zip(first, world.play(policy, 17)))
    with pytest.raises(tacit.Error, match=r"expected actions \[20, 6\]"):
        world.evaluate([1, 2, 3])


def test_lists_of_kinds():
    assert {"auto", "dp-ucbvi", "uniform"} <= {kind["name"] for kind in tacit.agents()}
    river = next(kind for kind in tacit.worlds() if kind["name"] == "riverswim")
    assert river["parameters"][0]["name"] == "states" and river["parameters"][0]["default"] == "6"


def test_an_episode_that_ended_is_one_that_stays():
    """Early ends are seen as the same episode that goes on in its last state without reward."""
    def make():
        return tacit.Agent("ucbvi", tacit.Space(states=4, actions=2, horizon=5), episodes=50, seed=3)

    short, many = make(), make()
    for agent in (short, many):
        agent.plan()
    for _ in range(10):
        short.learn([0, 1, 3], [1, 1], [0.0, 1.0])
    states = numpy.array([[0, 1, 3, 9, 9, 9]] * 10)
    actions = numpy.array([[1, 1, 7, 7, 7]] * 10)
    rewards = numpy.array([[0.0, 1.0, 5, 5, 5]] * 10)
    assert many.learn_many(states, actions, rewards, [2] * 10) == 10
    assert short.save() == many.save()
    with pytest.raises(tacit.Error, match="at least one step"):
        short.learn([0], [], [])
    with pytest.raises(tacit.Error):
        short.learn([0] * 8, [0] * 7, [0.0] * 7)


def test_ctrl_c_in_a_class_is_ctrl_c():
    class Pressed(tacit.OwnAgent, name="py-pressed"):
        """is interrupted"""

        def sums(self):
            return {"n": tacit.Bound(1, l2=1)}

        @staticmethod
        def contribute(agent, states, actions, rewards):
            return {"n": [1.0]}

        def plan(self, sums):
            raise KeyboardInterrupt

    agent = tacit.Agent("py-pressed", tacit.World("riverswim"), episodes=5)
    with pytest.raises(KeyboardInterrupt):
        agent.plan()


def test_what_is_known_may_be_an_array():
    draw = numpy.random.default_rng(2)
    points = draw.random((3, 4, 2)) / 2
    space = tacit.Space(states=3, actions=4, horizon=1, features=points, kernel="se(0.3)", weights=[0.5, 0.25, 0.25])
    agent = tacit.Agent("posterior-kernel", space, episodes=50, privacy=tacit.joint(1), seed=1)
    agent.plan()
    agent.learn(2, agent.act(0, 2), 0.5)
    other = tacit.Agent("posterior-kernel", space, episodes=50, privacy=tacit.joint(1), seed=2)
    other.load(agent.save())  # the same arrays are the same learner
    assert other.users == 1
    table = draw.random((4, 2))
    kernels = numpy.full((4, 2, 2, 4), 0.25)
    mixed = tacit.Agent("posterior-mixture", tacit.Space(states=4, actions=2, horizon=3, stationary=True, rewards=table,
                                                         mixture=kernels), episodes=50, privacy=tacit.none(), seed=1)
    assert mixed.plan().shape[:2] == (3, 4)
    with pytest.raises(ValueError, match="features must have 3 or 2 dimensions"):
        tacit.Agent("posterior-kernel", tacit.Space(states=3, actions=4, horizon=1, features=[1.0]), episodes=5,
                    privacy=tacit.none())
