"""Requests that come again, with the same key: the same answer, also after kill -9, and nothing twice. A front end of a database
keeps what it decided in memory only: after a crash it decides anew, in the same episode, so that nothing counts twice there either."""

import concurrent.futures
import re

import pytest

from harness import HEAD, JOINT, LOCAL, ON_POSTGRES, ok, refused, wait_for

KEYED = HEAD + f"""
  - {{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 100000, agent: {{kind: ucbvi, privacy: {{model: none}}}}}}
  - {{name: walk, space: {{states: 5, actions: 2, horizon: 3}}, users: 100, agent: {JOINT}}}
  - {{name: lin, space: {{features: 2, actions: 2}}, users: 100, agent: {{kind: lin-ucb, privacy: {{model: none}}}}}}
  - {{name: ours, space: {{states: 3, actions: 2, horizon: 2, stationary: yes}}, users: 50, agent: {LOCAL}}}
"""
K1, K2, K3 = "key-0123456789-a", "key-0123456789-b", "key-0123456789-c"


def reused(s, path, key, body):
    refused(s.post(path, body, key), 422, "key_reused", "Idempotency-Key")


def kept(s, path, body, key, first, status=200):
    """What a request is answered with after a crash: as before; a front end of a database has forgotten that."""
    s.kill_and_start()
    again = ok(s.post(path, body, key), status)
    assert ON_POSTGRES or again.text == first.text
    return again


def await_another_second(s, episode):
    """Until what is opened now expires later than this episode."""
    wait_for(lambda: s.open_episode("walk")[1]["expires"] > episode["expires"])


# --- Opening


def test_an_episode_is_opened_once(serve):
    s = serve(KEYED)
    ann, bob = ({"learner": "walk", "user": user} for user in ("ann", "bob"))

    def open_by(key, who=ann):
        return ok(s.post("/v1/episodes", who, key), 201)
    first = open_by(K1)
    assert open_by(K1).text == first.text
    await_another_second(s, first)
    assert open_by(K1).text == first.text  # not by the clock
    first = kept(s, "/v1/episodes", ann, K1, first, 201)
    reused(s, "/v1/episodes", K1, bob)
    assert open_by(K2).text != first.text and open_by(None).text != first.text
    # she takes part in it; the same request is still answered the same, another is not
    path = f"/v1/episodes/{first['episode']}/decide"
    for _ in range(3):
        s.told(s.decide(path=path, state=2), reward=0.5, next_state=2)
    s.wait_users("walk", 1)
    assert open_by(K1).text == first.text
    reused(s, "/v1/episodes", K2, bob)
    later = open_by(K3)  # what is decided for her now is not learned, and that is kept, too
    assert later["learned"] is False and open_by(None)["learned"] is False
    assert kept(s, "/v1/episodes", ann, K3, later, 201)["learned"] is False
    again = open_by(K1)
    assert ON_POSTGRES or again.text == first.text
    assert again.get("learned") is not False  # it is the episode in which she took part
    assert s.ledger("walk")["accepted"] == 1


@pytest.mark.parametrize("key, status", [("short", 422), (129 * "x", 422), (128 * "x", 201)])
def test_keys_that_are_none_are_refused(plain, key, status):
    answer = ok(plain.post("/v1/episodes", {"learner": "walk", "user": "bob"}, key), status)
    assert status == 201 or answer["error"]["code"] == "out_of_range"


# --- Deciding


def test_a_decision_is_made_once(serve):
    s = serve(KEYED)
    carl = {"learner": "arms", "state": 1, "user": "carl"}
    first = ok(s.post("/v1/decide", carl, K1))
    # others come until the billboard says something else
    for users in range(1, 201):
        other = s.decide("arms", 1)
        if other["action"] != first["action"]:
            break
        s.told(other, reward=0)
        s.wait_users("arms", users)
    assert other["action"] != first["action"] and other["version"] > first["version"]
    assert ok(s.post("/v1/decide", carl, K1)).text == first.text
    first = kept(s, "/v1/decide", carl, K1, first)
    reused(s, "/v1/decide", K1, {**carl, "state": 2})
    before = s.ledger("arms")["accepted"]
    for key in K1, K1, K2:  # a key does no harm here
        ok(s.post("/v1/observe", {"decision": first["decision"], "reward": 1}, key))
    assert s.ledger("arms")["accepted"] == before + 1
    assert ok(s.post("/v1/decide", carl, K1)).text == first.text
    assert ok(s.post("/v1/decide", carl, K2))["learned"] is False  # with another key he comes a second time


def test_features_of_a_decision_are_under_its_key(serve):
    s = serve(KEYED)
    x = {"learner": "lin", "context": [0.5, 0, 0, 0.5]}
    ok(s.post("/v1/decide", {"learner": "arms", "state": 1}, K1))
    first = ok(s.post("/v1/decide", x, K1))  # of another learner: another key
    kept(s, "/v1/decide", x, K1, first)
    reused(s, "/v1/decide", K1, {**x, "context": [0.5, 0, 0, 0.25]})


def test_a_step_of_an_episode_is_decided_once(serve):
    s = serve(KEYED)
    path, _ = s.open_episode("walk")
    for h, key in enumerate((K1, K2, K3)):
        first = ok(s.post(path, {"state": 2}, key))
        assert first["step"] == h
        s.told(first, reward=0.5, next_state=2)
        if h == 1:
            s.kill_and_start()
        again = ok(s.post(path, {"state": 2}, key))
        if h == 1 and ON_POSTGRES:
            assert again["step"] == h + 1  # what was observed is known: it is another step's decision now
        else:
            assert again.text == first.text
        reused(s, path, key, {"state": 2, "step": 0})
    ok(s.post(path, {"state": 2}), 409)  # it is over


def test_those_who_come_at_once_get_one_answer(serve):
    s = serve(KEYED)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(s.post, "/v1/decide", {"learner": "arms", "state": 0}, "the-same-for-everybody")
                 for _ in range(8)]
    assert len({ok(answer.result()).text for answer in asked}) == 1


# --- Reports


def test_a_report_is_taken_once_and_another_under_its_key_is_refused(serve):
    s = serve(KEYED)
    (one, _), (two, _) = s.live("ours"), s.live("ours")
    ok(s.post("/v1/reports", one, K1), 202)
    for life in range(2):
        if life > 0:
            s.kill_and_start()
        ok(s.post("/v1/reports", one, K1), 202)
        reused(s, "/v1/reports", K1, two)
    assert s.ledger("ours")["accepted"] == 1
    ok(s.post("/v1/reports", two, K2), 202)
    assert s.ledger("ours")["accepted"] == 2


# --- What is kept


def keeps(s, wanted):
    """A front end of a database keeps nothing there."""
    return int(re.search(r" people, (\d+)", s.check())[1]) == (0 if ON_POSTGRES else wanted)


def test_answers_end_with_their_episodes_and_the_oldest_are_forgotten_first(serve):
    s = serve("limits: {keys: 3}\n" + KEYED)
    ann = {"learner": "walk", "user": "ann"}
    first = ok(s.post("/v1/episodes", ann, K1), 201)
    await_another_second(s, first)  # so that the first is the oldest
    for i in range(5):
        ok(s.post("/v1/decide", {"learner": "arms", "state": 0}, f"key-0123456789-{i}"))
        assert keeps(s, min(i + 2, 3))
    # forgotten: opened again, later, but it is the same episode, so that she takes part once
    second = ok(s.post("/v1/episodes", ann, K1), 201)
    assert second.text != first.text
    for answer in first, second:
        path = f"/v1/episodes/{answer['episode']}/decide"
        s.told(s.decide(path=path, state=2, step=0), reward=0.5, next_state=2)
    assert s.figures()["tacit_episodes_open"] == 1


def test_answers_expire(serve):
    s = serve(KEYED)  # for a week; then for a second
    ann = {"learner": "walk", "user": "ann"}
    first = ok(s.post("/v1/episodes", ann, K1), 201)
    ok(s.post("/v1/decide", {"learner": "arms", "state": 0}, K1))
    assert keeps(s, 2)
    s.kill()
    s.restart("expire: 1\n" + KEYED)
    wait_for(lambda: keeps(s, 0))
    wait_for(lambda: ok(s.post("/v1/episodes", ann, K1), 201).text != first.text)
