"""Episodes that end before the horizon, told by `"done": true`: they finish at once, in any order of calls, after a crash as before;
what contradicts the end is refused; and rewards in a range that the space declares. What an episode keeps of its end is in
tests/unit/test_episode_ends.c, and reports of devices of any length are in test_short_reports.c."""

import json

from harness import HEAD, JOINT, ok, refused

WALKS = HEAD + f"""
  - {{name: walk, space: {{states: 5, actions: 2, horizon: 4}}, users: 100, log_decisions: yes,
     monitor: {{epsilon: 1}}, agent: {JOINT}}}
  - {{name: cost, space: {{states: 5, actions: 2, horizon: 4, reward_low: -2, reward_high: 0}},
     users: 100, agent: {{kind: ucbvi, privacy: {{model: none}}}}}}
  - {{name: gain, space: {{states: 5, actions: 2, horizon: 4, reward_low: 1, reward_high: 2}},
     users: 100, agent: {{kind: ucbvi, privacy: {{model: none}}}}}}
  - {{name: steps, space: {{features: 2, actions: 2, horizon: 3}}, users: 100,
     agent: {{kind: lsvi-ucb, privacy: {{model: none}}}}}}
"""


def test_an_episode_is_finished_when_it_is_done(serve):
    s = serve(WALKS)
    path, _ = s.open_episode("walk")
    first = s.decide(path=path, state=0)
    assert s.told(first, reward=1, next_state=2) == "open"
    second = s.decide(path=path, state=2)
    assert s.told(second, done=True) == "open"  # where, and the reward, are missing
    assert s.told(second, next_state=4) == "open"
    s.kill_and_start()
    refused(s.post(path, {"state": 4}), 409, "finished")
    assert s.told(second, reward=0.5) == "finished"
    assert s.told(second, reward=0.5, next_state=4, done=True) == "finished"
    refused(s.observe(second, next_state=3), 409, "contradiction", "next_state")
    refused(s.observe(first, reward=1, done=True), 409, "contradiction", "done")
    s.wait_users("walk", 1)
    s.kill_and_start()
    assert s.told(second, done=True) == "finished"
    s.wait_users("walk", 1)


def test_what_contradicts_an_end_is_refused(serve):
    s = serve(WALKS)
    path, _ = s.open_episode("walk")
    first, second, third = (s.decide(path=path, state=h, step=h) for h in range(3))
    # where step 1 leads: nothing but the end speaks against this step
    assert s.told(second, reward=1, next_state=2) == "open"
    refused(s.observe(first, done=True), 409, "contradiction", "done")
    assert s.told(second, done=True) == "open"
    refused(s.observe(third, reward=1), 409, "contradiction", "decision")
    assert s.told(first, reward=0) == "finished"
    refused(s.observe(third, reward=1), 409, "contradiction", "decision")
    for wrong in 1, "yes":
        refused(s.observe(second, done=wrong), 422, "out_of_range", "done")


def test_the_record_ends_where_the_episode_did(serve):
    """The record has the steps that were."""
    s = serve(WALKS)
    path, _ = s.open_episode("walk")
    assert s.told(s.decide(path=path, state=3), reward=1, next_state=4, done=True) == "finished"
    record = s.run("store export service.yaml --decisions").splitlines()
    assert [json.loads(line)["step"] for line in record] == [0]


def test_rewards_lie_in_the_range_of_the_space(serve):
    s = serve(WALKS)
    path, _ = s.open_episode("cost")
    decision = s.decide(path=path, state=3)
    assert "a number from -2 to 0" in refused(s.observe(decision, reward=0.5), 422, "out_of_range", "reward")
    assert s.told(decision, reward=-1.5, next_state=4, done=True) == "finished"
    s.wait_users("cost", 1)
    board = ok(s.get("/v1/billboard?learner=cost"))
    assert '"reward_low":-2' in board and '"reward_high":0' in board
    path, _ = s.open_episode("gain")
    decision = s.decide(path=path, state=3)
    refused(s.observe(decision, reward=1, done=True), 422, "out_of_range", "done")
    assert s.told(decision, reward=1, next_state=4) == "open"


def test_users_who_bring_features_end_in_features(serve):
    s = serve(WALKS)
    path, _ = s.open_episode("steps")
    decision = s.decide(path=path, context=[0.5, 0.5, 0, 0.5])
    assert s.told(decision, reward=1, next_context=[0, 0, 0, 0], done=True) == "finished"
    s.wait_users("steps", 1)
