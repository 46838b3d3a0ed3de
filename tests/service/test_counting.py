"""Who is accepted counts, and only the sender is told that something was cut."""

import pytest

from harness import HEAD, JOINT, ok, refused

CLIPPED = "{kind: dp-ucbvi, outside: clip, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 1}"


def file_of(arms=CLIPPED):
    return HEAD + f"""
  - {{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 50, agent: {arms}}}
  - {{name: strict, space: {{states: 3, actions: 4, horizon: 1}}, users: 50, agent: {JOINT}}}
  - {{name: walk, space: {{states: 5, actions: 2, horizon: 2}}, users: 50, agent: {CLIPPED}}}
  - {{name: lines, space: {{features: 2, actions: 2, bound: 2}}, users: 50, agent: {{kind: lin-ucb, outside: clip,
     privacy: {{model: joint, epsilon: 1}}}}}}
  - {{name: shares, space: {{features: 2, actions: 2, horizon: 2, simplex: yes}}, users: 50, agent: {{kind: lsvi-ucb,
     outside: clip, privacy: {{model: joint, epsilon: 1}}}}}}
"""


def cut(answer):
    return answer.get("outside") is True


def play_once(s, learner, where, where_cut, reward, reward_cut):
    """One user of one step; what is told to decide and to observe, and whether each was cut. Numbers are text: they go beyond what
    JSON of Python writes."""
    decision = ok(s.post("/v1/decide", f'{{"learner":"{learner}",{where}}}'))
    assert cut(decision) == where_cut
    for _ in range(2):  # told twice, it is the same
        answer = ok(s.post("/v1/observe", f'{{"decision":"{decision["decision"]}","reward":{reward}}}'))
        assert answer["status"] == "finished" and cut(answer) == reward_cut


def test_who_is_outside_is_cut_counts_and_is_told(serve):
    s = serve(file_of())
    for where, where_cut, reward, reward_cut in (('"state":2', False, "1", False), ('"state":3', True, "0.5", False),
                                                 ('"state":1e300', True, "1.01", True), ('"state":-1', True, "-7", True),
                                                 ('"state":1.5', True, "1e308", True), ('"state":0', False, "-1e-300", True)):
        play_once(s, "arms", where, where_cut, reward, reward_cut)
    for where, where_cut in (("[1,1,0,0]", False), ("[0,2,2,0]", False), ("[2,2,0,0]", True), ("[0,0,1e308,-1e308]", True)):
        play_once(s, "lines", f'"context":{where}', where_cut, "0.5", False)
    s.wait_users("arms", 6)
    s.wait_users("lines", 4)
    ledger = s.ledger("arms")
    assert (ledger["accepted"], ledger["refused"]) == (6, 0)
    # the reward that was released counts what was cut: it is a mean of numbers in [0, 1]
    assert -100 < ledger["reward"] < 100
    # what is no number is nobody's data
    for wrong in {"learner": "arms", "state": "3"}, {"learner": "strict", "state": 3}:
        refused(s.post("/v1/decide", wrong), 422, "out_of_range", "state")


@pytest.mark.parametrize("learner, places", [
    ("walk", ({"state": 9}, {"state": -4}, {"state": 77})),
    ("shares", ({"context": [3, 1, -1, -1]}, {"context": [1, 0, 0.5, 0.6]}, {"context": [0, 0, 1e300, 0]})),
])
def test_episodes_of_several_steps_are_cut_at_every_step(serve, learner, places):
    s = serve(file_of())
    path, _ = s.open_episode(learner)
    for here, there, word in ((places[0], places[1], "open"), (places[1], places[2], "finished")):
        decision = s.decide(path=path, **here)
        answer = ok(s.observe(decision, reward=-1, **{"next_" + key: value for key, value in there.items()}))
        assert cut(decision) and cut(answer) and answer["status"] == word
    s.wait_users(learner, 1)
    assert s.ledger(learner)["refused"] == 0


def test_the_setting_may_be_changed_later(serve):
    """It says how users are taken, and nothing about what is promised: a learner goes on with the other word."""
    s = serve(file_of())
    play_once(s, "arms", '"state":5', True, "1", False)
    s.wait_users("arms", 1)
    s.restart(file_of(CLIPPED.replace("outside: clip, ", "")))
    refused(s.post("/v1/decide", {"learner": "arms", "state": 5}), 422, "out_of_range", "state")
    play_once(s, "arms", '"state":2', False, "1", False)
    s.wait_users("arms", 2)


# --- Late

EARLY, USERS = 24, 160
POINTS = "state,action,feature,value\n0,0,0,0\n0,1,0,0.5\n0,2,0,1\n1,0,0,0.2\n1,1,0,0.6\n1,2,0,0.9\n"
CAPRI = HEAD + """  - {name: epochs, users: 160, space: {states: 2, actions: 3, horizon: 1, features: points.csv, kernel: se(0.1)},
     agent: {kind: capri, privacy: {model: joint, epsilon: 200, delta: 0.001}}, monitor: {epsilon: 50}}
"""


def test_whose_action_is_gone_counts_all_the_same(serve):
    """capri drops the actions that pay nothing; many have decided before that, and tell afterwards, some while epochs still learn,
    some in the last one."""
    s = serve(CAPRI, {"points.csv": POINTS})
    early = [s.decide("epochs", i % 2) for i in range(EARLY)]

    def tell(people):
        """They tell, the last first; returns how many of their actions are gone."""
        chances = ok(s.get("/v1/billboard?learner=epochs"))["mixed"][0]
        for i in reversed(people):
            assert s.told(early[i], reward=1) == "finished"
        return sum(chances[i % 2][early[i]["action"]] == 0 for i in people)
    users = 0
    for k in range(USERS - EARLY):
        decision = s.decide("epochs", k % 2)
        assert s.told(decision, reward=1 if decision["action"] == 0 else 0) == "finished"
        users += 1
        s.wait_users("epochs", users)
        if k == 50:  # two epochs, of 13 and 26 users, are over, and the last one is far
            assert tell(range(EARLY // 2)) > 0  # 12 people all chose the one that pays: once in 3^12
            users += EARLY // 2
            s.wait_users("epochs", users)
    tell(range(EARLY // 2, EARLY))
    s.wait_users("epochs", USERS)
    ledger = s.ledger("epochs")
    assert (ledger["accepted"], ledger["refused"]) == (USERS, 0)
    assert ok(s.get("/v1/learners"))["learners"][0]["refused"] == 0
    assert s.figures()['tacit_users_refused_total{learner="epochs"}'] == 0
