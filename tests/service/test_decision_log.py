"""The operator's record of decisions: what is in it, who is in it, and that turning it on and off loses nobody. What a damaged record
is taken for is in tests/unit/test_decision_log.c."""

import json

import pytest

from harness import HEAD, JOINT, LOCAL, ok


def file_of(logged):
    """Learners of all shapes, with a record or without."""
    more = ", log_decisions: yes" if logged else ""
    return HEAD + f"""
  - {{name: arms, space: {{states: 3, actions: [left, right], horizon: 1}}, users: 3, agent: {JOINT}{more}}}
  - {{name: walk, space: {{states: 5, actions: 2, horizon: 3}}, users: 100, agent: {JOINT}{more}}}
  - {{name: lin, space: {{features: 2, actions: 2}}, users: 100, agent: {{kind: lin-ucb, privacy: {{model: none}}}}{more}}}
  - {{name: dose, space: {{context: 'age 20..40', actions: 2}}, users: 100,
     agent: {{kind: lin-ucb, privacy: {{model: joint, epsilon: 1}}}}{more}}}
  - {{name: steps, space: {{features: 2, actions: 2, horizon: 2}}, users: 100,
     agent: {{kind: lsvi-ucb, privacy: {{model: none}}}}{more}}}
"""


def record(s):
    return [json.loads(line) for line in s.run("store export service.yaml --decisions").splitlines()]


def near(row):
    """The features of a row, which are rounded on a grid."""
    return pytest.approx(row, abs=1e-8)


def walk(s, user, between=None):
    """A whole episode of `walk`, told step by step; the rewards come after all decisions."""
    path, _ = s.open_episode("walk", user=user)
    decisions = []
    for h in range(3):
        decisions.append(s.decide(path=path, state=h + 1))
        assert s.told(decisions[h], next_state=h + 2) == "open"
    if between is not None:
        s.restart(between)
    for h in 2, 1, 0:
        assert s.told(decisions[h], reward=(h + 1) / 10) == ("open" if h else "finished")


def test_every_learned_user_is_recorded_once(serve):
    s = serve(file_of(True))
    decision = s.decide("arms", 2)
    assert record(s) == []  # nothing has come of it
    for _ in range(2):  # told twice
        assert s.told(decision, reward=0.5) == "finished"
    rows = record(s)
    assert rows == [{"learner": "arms", "user": 1, "step": 0, "state": 2, "action": decision["action"],
                     "probability": decision["probability"], "version": decision["version"], "reward": 0.5}]
    assert rows[0]["action"] in ("left", "right")
    walk(s, "ada")
    rows = record(s)
    assert [(row["user"], row["step"], row["state"], row["reward"]) for row in rows[1:]] == [
        (2, 0, 1, 0.1), (2, 1, 2, 0.2), (2, 2, 3, 0.3)]
    assert all(row["learner"] == "walk" and None not in row.values() for row in rows[1:])
    # all actions' features, in full, though the learner needs those of one
    assert s.told(s.decide("lin", context=[0.1, 0.2, 0.3, 0.4]), reward=1) == "finished"
    assert s.told(s.decide("dose", context={"age": 40}), reward=1) == "finished"
    rows = record(s)
    assert len(rows) == 6 and [row["learner"] for row in rows[4:]] == ["lin", "dose"]
    assert rows[4]["context"] == near([0.1, 0.2, 0.3, 0.4]) and rows[5]["context"] == near([0.5**0.5, 0.5**0.5])
    assert [row["reward"] for row in rows[4:]] == [1, 1]
    for name in "lin", "dose", "walk":
        s.wait_users(name, 1)
    # nobody else: after the last user, and who comes back
    for i in range(4):
        ok(s.observe(s.decide("arms", 0, user=f"u{i % 3}"), reward=1))
    assert len(record(s)) == 8  # users: 3, of whom one came before
    assert not [path for path in s.directory.iterdir() if b'"probability"' in path.read_bytes()]
    s.check()


def test_several_steps_have_all_features(serve):
    s = serve(file_of(True))
    path, _ = s.open_episode("steps")
    decision = s.decide(path=path, context=[0.5, 0, 0, 0.5])
    assert s.told(decision, reward=0, next_context=[0.25, 0, 0, 0.25]) == "open"
    decision = s.decide(path=path, context=[0.25, 0, 0, 0.25])
    assert s.told(decision, reward=1, next_context=[0, 0, 0, 0]) == "finished"
    assert [(row["step"], row["context"], row["reward"]) for row in record(s)] == [
        (0, [0.5, 0, 0, 0.5], 0), (1, [0.25, 0, 0, 0.25], 1)]


def test_a_record_may_begin_and_end(serve):
    """Decided without a record and told with one, and the other way round: nobody is lost, and what is not known is null."""
    s = serve(file_of(False))
    x = [0.5, 0, 0, 0.5]
    early = s.decide("lin", context=x), s.decide("dose", context={"age": 20})
    walk(s, "ada", file_of(True))  # the record begins within this episode
    for decision in early:
        assert s.told(decision, reward=1) == "finished"
    rows = record(s)
    assert len(rows) == 5 and [row["learner"] for row in rows[3:]] == ["lin", "dose"]
    assert None in rows[3]["context"] and rows[3]["reward"] == 1
    assert rows[4]["context"] == near([0.5**0.5, -(0.5**0.5)])
    late = s.decide("lin", context=x)
    s.restart(file_of(False))
    assert s.told(late, reward=1) == "finished"
    walk(s, "bob")
    for name in "lin", "walk":
        s.wait_users(name, 2)
    assert len(record(s)) == 5


def test_the_record_is_told_of(serve):
    s = serve(file_of(True))
    guarantee = ok(s.get("/v1/guarantee?learner=arms"))
    assert '"log_decisions":true' in guarantee and "which this guarantee does not cover." in guarantee
    assert "only until they are learned" not in guarantee
    assert "guarantee below does not cover this record" in s.run("explain service.yaml")
    assert '"log_decisions": true' in s.run("explain service.yaml --json")
    s.restart(file_of(False))
    guarantee = ok(s.get("/v1/guarantee?learner=arms"))
    assert "log_decisions" not in guarantee and "only until they are learned" in guarantee


def test_local_learners_have_no_record(serve):
    """What devices do is not the service's to record."""
    s = serve(file_of(False))
    s.end()
    s.rewrite(HEAD + f"  - {{name: a, users: 9, space: {{states: 2, actions: 2, horizon: 1}}, agent: {LOCAL}, "
              "log_decisions: yes}\n")
    assert ("service.yaml:4: log_decisions is for models joint and none; the service sees neither the decisions of a local "
            "learner nor their outcomes") in s.does_not_start()
