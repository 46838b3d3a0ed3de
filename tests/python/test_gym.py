"""Gymnasium both ways. Where gymnasium is installed its own checker runs; here environments with its signatures."""

import math
import warnings

import numpy
import pytest

import tacit
from tacit import gym

RIVER = dict(states=5, horizon=8)


# --- A world as an environment ------------------------------------------------------------------------


def test_env_has_the_signatures_and_semantics():
    env = gym.Env(tacit.World("riverswim", **RIVER))
    assert env.observation_space.n == 5 and env.action_space.n == 2 and env.unwrapped is env
    state, info = env.reset(seed=4)
    assert state in env.observation_space and info["step"] == 0
    for step in range(8):
        state, reward, terminated, truncated, info = env.step(1)
        assert state in env.observation_space and 0 <= reward <= 1 and info["step"] == step + 1
        assert not terminated and truncated == (step == 7)  # the horizon is a limit on time
    with pytest.raises(tacit.ExhaustedError):
        env.step(1)
    with pytest.raises(tacit.OutOfBoundError, match="action 2"):
        env.reset()
        env.step(2)
    with env as same:
        assert same is env
    assert env.render() is None and env.metadata["render_modes"] == []


def episode(env, seed=None):
    found = [env.reset(seed=seed)[0]]
    ended = False
    while not ended:
        state, reward, terminated, truncated, _ = env.step(len(found) % 2)
        found += [state, reward]
        ended = terminated or truncated
    return found


def test_reset_with_a_seed_begins_anew():
    env, other = (gym.Env(tacit.World("random-tabular", states=7, actions=2, horizon=10)) for _ in range(2))
    first = [episode(env, 11), episode(env), episode(env)]
    assert [episode(other, 11), episode(other), episode(other)] == first
    assert [episode(env, 11), episode(env)] == first[:2]
    assert episode(env, 12) != first[0] and first[0] != first[1]


def test_a_bandit_is_terminated_after_its_step():
    env = gym.Env(tacit.World("linear-bandit", d=3, actions=4, contexts=0))
    x, info = env.reset(seed=1)
    assert x.shape == env.observation_space.shape == (4, 3) and x in env.observation_space
    assert len(info["means"]) == 4
    after, reward, terminated, truncated, info = env.step(2)
    assert terminated and not truncated and after in env.observation_space and 0 <= reward <= 1
    with pytest.raises(tacit.ExhaustedError):
        env.step(2)


def test_a_state_that_means_the_end_terminates(tmp_path):
    table = tmp_path / "moves.csv"
    table.write_text("state,action,next_state,probability,reward\n0,0,0,1,0\n0,1,1,1,0\n1,0,0,1,0\n1,1,terminal,1,1\n")
    world = tacit.World("table", transitions=str(table), horizon=4, chance=1)
    assert [world.is_terminal(s) for s in range(3)] == [False, False, True]
    env = gym.Env(world)
    env.reset(seed=1)
    assert env.step(1)[2:4] == (False, False)
    state, reward, terminated, truncated, _ = env.step(1)
    assert (state, reward, terminated, truncated) == (2, 1.0, True, False)
    with pytest.raises(tacit.ExhaustedError, match="reset"):
        env.step(1)
    agent = tacit.Agent("ucbvi", world, episodes=100, seed=1)
    history = gym.learn(env, agent, seed=2)
    assert agent.users == 100 and min(history.lengths) == 2 and history.returns[-1] == 1
    debts = tmp_path / "debts.csv"
    debts.write_text("state,action,next_state,probability,reward\n0,0,0,1,-1\n0,1,terminal,1,1\n")
    for original in (False, True):  # the end pays 0, which is not the least here
        env = gym.Env(tacit.World("table", transitions=str(debts), horizon=4, chance=1, reward_low=-1, reward_high=1),
                      original_rewards=original)
        env.reset(seed=1)
        assert env.step(1)[1:4] == (1.0, original, False)


def test_original_rewards():
    plain, own = (gym.Env(tacit.World("deep-sea", size=4), original_rewards=o) for o in (False, True))
    facts = plain.world.facts
    a, b = episode(plain, 3)[2::2], episode(own, 3)[2::2]
    assert facts["reward_low"] < 0
    assert b == pytest.approx([facts["reward_low"] + (facts["reward_high"] - facts["reward_low"]) * r for r in a])


def test_spaces_without_gymnasium():
    d = gym.Discrete(3, seed=1, start=5)
    assert {d.sample() for _ in range(50)} == {5, 6, 7} and 7 in d and 8 not in d and "x" not in d
    assert d.sample(mask=[0, 1, 0]) == 6 and d.seed(3) == [3] and d == gym.Discrete(3, start=5)
    b = gym.Box(-1.0, 1.0, (2, 3), seed=1)
    assert b.sample().shape == (2, 3) and b.sample() in b and numpy.full((2, 3), 2.0) not in b
    assert b == gym.Box(-1.0, 1.0, (2, 3)) and "Box" in repr(b)


def test_gymnasiums_own_checker():
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    checker.check_env(gym.Env(tacit.World("riverswim", **RIVER)), skip_render_check=True)


# --- An environment for an agent ----------------------------------------------------------------------


class Corridor:
    """Gymnasium's signatures: states from 1, two actions, five steps; pays for each step at the right end."""

    def __init__(self):
        self.observation_space = gym.Discrete(4, start=1)
        self.action_space = gym.Discrete(2, start=10)
        self.draw = None

    def reset(self, *, seed=None, options=None):
        if seed is not None or self.draw is None:
            self.draw = numpy.random.default_rng(seed)
        self.at, self.steps = 1, 0
        return self.at, {}

    def step(self, action):
        assert action in self.action_space
        slip = self.draw.random() < 0.1
        self.at = min(max(self.at + (1 if (action == 11) != slip else -1), 1), 4)
        self.steps += 1
        return self.at, float(self.at == 4), False, self.steps == 5, {}


def test_a_learner_learns_from_users_of_an_environment():
    space = tacit.Space(states=4, actions=2, horizon=5, stationary=True)
    agent = tacit.Agent("ucbvi", space, episodes=400, seed=1)
    history = gym.learn(Corridor(), agent, seed=5)
    assert history.episodes == agent.users == 400 and set(history.lengths) == {5}
    assert numpy.mean(history.returns[-100:]) > 1.8  # random actions get 0.3
    again = tacit.Agent("ucbvi", space, episodes=400, seed=1)
    assert gym.learn(Corridor(), again, seed=5).returns == history.returns
    with pytest.raises(tacit.ExhaustedError):
        gym.learn(Corridor(), agent, episodes=1)


def test_the_space_of_an_environment_is_stationary():
    env = gym.Env(tacit.World("riverswim", states=6, horizon=12))
    space = gym.space(env, horizon=12, reward_low=-1)
    assert space.keys == dict(states=6, actions=2, horizon=12, stationary=True, reward_low=-1)
    with pytest.raises(tacit.BadArgumentError, match="horizon="):
        gym.space(env)
    with pytest.raises(tacit.UnsupportedError, match="states must be Discrete"):
        gym.space(gym.Env(tacit.World("linear-bandit", d=3, actions=4, contexts=0)), horizon=1)
    agent = tacit.Agent("ucbvi", tacit.Space(states=6, actions=2, horizon=12), episodes=5, seed=1)
    with pytest.warns(UserWarning, match="each of its 12 steps by itself"):
        gym.learn(env, agent, seed=1, episodes=1)
    agent = tacit.Agent("ucbvi", gym.space(env, horizon=12), episodes=5, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gym.learn(env, agent, seed=1, episodes=1)


def test_a_private_learner_and_a_tacit_world():
    world = tacit.World("riverswim", **RIVER, chance=1)
    agent = tacit.Agent("auto", world, episodes=50, privacy=tacit.joint(1), seed=1)
    seen = []
    history = gym.learn(gym.Env(world), agent, episodes=20, seed=3, callback=lambda user, h: seen.append(user))
    assert history.episodes == agent.users == 20 and seen == list(range(20))
    assert agent.ledger().spent.epsilon <= 1 + 1e-9


class Cards:
    """One step: two numbers in declared bounds are seen; action 1 pays if the first is large, action 0 if it is not."""

    def __init__(self, low=0.0, high=10.0):
        self.observation_space = gym.Box(low, high, (2,))
        self.action_space = gym.Discrete(2)

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.draw = numpy.random.default_rng(seed)
        self.x = self.draw.uniform(0, 10, 2)
        return self.x, {}

    def step(self, action):
        return self.x, float((self.x[0] > 5) == (action == 1)), True, False, {}


@pytest.mark.parametrize("space", [dict(features=6, actions=2), dict(features=3, actions=2, shared=False)])
def test_boxes_for_lin_ucb(space):
    agent = tacit.Agent("lin-ucb", tacit.Space(**space), episodes=600, privacy=tacit.none(), seed=1)
    history = gym.learn(Cards(), agent, seed=2)
    assert numpy.mean(history.returns[-100:]) > 0.85  # random actions get 0.5


class Walks(Cards):
    """Three steps of the same."""

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return super().reset(seed=seed)

    def step(self, action):
        _, reward, _, _, _ = super().step(action)
        self.x = self.draw.uniform(0, 10, 2)
        self.steps += 1
        return self.x, reward, False, self.steps == 3, {}


def test_boxes_for_lsvi_ucb():
    space = tacit.Space(features=6, actions=2, horizon=3)
    agent = tacit.Agent("lsvi-ucb", space, episodes=300, privacy=tacit.none(), seed=1)
    history = gym.learn(Walks(), agent, seed=2)
    assert agent.users == 300 and numpy.mean(history.returns[-60:]) > 1.5


def test_bounds_must_be_declared():
    agent = tacit.Agent("lin-ucb", tacit.Space(features=6, actions=2), episodes=20, privacy=tacit.none(), seed=1)
    env = Cards(-math.inf, math.inf)
    with pytest.raises(tacit.BadArgumentError, match="low is not finite: declare the bounds"):
        gym.learn(env, agent, seed=1)
    assert gym.learn(env, agent, seed=1, low=0, high=[10, 10], episodes=5).episodes == 5
    with pytest.raises(tacit.BadArgumentError, match="low has 3 numbers, expected 2"):
        gym.learn(env, agent, seed=1, low=[0, 0, 0], high=10)
    other = tacit.Agent("lin-ucb", tacit.Space(features=7, actions=2), episodes=20, privacy=tacit.none(), seed=1)
    with pytest.raises(tacit.BadArgumentError, match="features=6, or features=3 with shared=False"):
        gym.learn(Cards(), other, seed=1)


def test_spaces_that_do_not_fit_are_refused():
    agent = tacit.Agent("ucbvi", tacit.Space(states=4, actions=3, horizon=5, stationary=True), episodes=5, seed=1)
    with pytest.raises(tacit.BadArgumentError, match="the environment has 2 actions, the agent 3"):
        gym.learn(Corridor(), agent)
    agent = tacit.Agent("ucbvi", tacit.Space(states=5, actions=2, horizon=5, stationary=True), episodes=5, seed=1)
    with pytest.raises(tacit.BadArgumentError, match="the environment has 4 states, the agent 5"):
        gym.learn(Corridor(), agent)
    with pytest.raises(tacit.UnsupportedError, match="agents with features take a Box"):
        gym.learn(Cards(), agent, seed=1)


class Lake(Corridor):
    """The right end is left by nobody: the episode terminates there. Rewards in -1 .. 9."""

    def step(self, action):
        at, reward, _, _, info = super().step(action)
        return at, 9.0 if reward else -1.0, at == 4, False, info


def test_episodes_end_early_and_rewards_have_a_range():
    space = tacit.Space(states=4, actions=2, horizon=12, stationary=True, reward_low=-1, reward_high=9)
    agent = tacit.Agent("ucbvi", space, episodes=400, seed=1)
    assert (agent.facts["reward_low"], agent.facts["reward_high"]) == (-1, 9)
    history = gym.learn(Lake(), agent, seed=5)
    assert agent.users == 400 and min(history.lengths) == 3 and max(history.lengths) <= 12
    assert numpy.mean(history.lengths[-100:]) < 5 and numpy.mean(history.returns[-100:]) > 5
    with pytest.raises(tacit.Error):
        agent = tacit.Agent("ucbvi", space, episodes=5, seed=1)
        agent.plan()
        agent.learn([0, 1, 2], [1, 1], [0.0, 9.5])


def test_an_environment_must_not_truncate_before_the_horizon():
    agent = tacit.Agent("ucbvi", tacit.Space(states=4, actions=2, horizon=9, stationary=True), episodes=5, seed=1)
    with pytest.raises(tacit.UnsupportedError, match="truncated an episode after 5 steps, before the agent's horizon of 9"):
        gym.learn(Corridor(), agent, seed=1)
    assert agent.users == 0
