"""Requests that are wrong: not JSON, of other types, out of bounds, too large, or not HTTP. Each is refused with a reason, and
changes nothing."""

import signal

import pytest

from harness import ok, refused, wait_for

DECIDE, OBSERVE = "/v1/decide", "/v1/observe"


@pytest.mark.parametrize("path, body, status, code, field", [
    (DECIDE, '{"learner":"arms"}', 422, "missing", "state"),
    (DECIDE, '{"learner":"arms","state":3}', 422, "out_of_range", "state"),
    (DECIDE, '{"learner":"arms","state":-1}', 422, "out_of_range", "state"),
    (DECIDE, '{"learner":"arms","state":0.5}', 422, "out_of_range", "state"),
    (DECIDE, '{"learner":"arms","state":"0"}', 422, "out_of_range", "state"),
    (DECIDE, '{"learner":"arms","state":[0]}', 422, "out_of_range", "state"),
    (DECIDE, '{"learner":"arms","state":1e300}', 422, "out_of_range", "state"),
    (DECIDE, '{"learner":"arms","context":[1,2]}', 422, "out_of_range", "context"),
    (DECIDE, '{"learner":"arms","state":0,"user":7}', 422, "out_of_range", "user"),
    (DECIDE, '{"learner":"arms","state":0,"user":""}', 422, "out_of_range", "user"),
    (DECIDE, '{"learner":"arms","state":0,"what":1}', 422, "unknown_field", None),
    (DECIDE, '{"learner":"walk","state":0}', 409, "episodes", "learner"),
    (DECIDE, '{"learner":"nobody","state":0}', 404, "no_learner", "learner"),
    (DECIDE, '{"state":0}', 404, "no_learner", "learner"),
    (OBSERVE, '{}', 422, "missing", "decision"),
    (OBSERVE, '{"decision":"abc","reward":1}', 422, "out_of_range", "decision"),
    (OBSERVE, '{"decision":5,"reward":1}', 422, "out_of_range", "decision"),
    ("/v1/episodes/xyz/decide", '{"state":0}', 404, "no_episode", None),
    (DECIDE, '', 404, "no_learner", "learner"),
    (DECIDE, '1', 400, "not_an_object", None),
    (DECIDE, '{"learner":"arms","state":0', 400, "not_json", None),
    (DECIDE, '{"state":0,"state":1}', 400, "not_json", None),
    (DECIDE, '{"state":NaN}', 400, "not_json", None),
    (DECIDE, b'{"user":"\xff"}', 400, "not_json", None),
    (DECIDE, '[[[[[[[[[[[[1]]]]]]]]]]]]', 400, "not_json", None),
    (DECIDE, ' ' * 99999, 413, "too_large", None),
    ("/v1/nowhere", '{}', 404, "no_route", None),
    ("/v1/billboard", '{}', 405, "method", None),
])
def test_what_is_wrong_is_refused_with_its_field(plain, path, body, status, code, field):
    refused(plain.post(path, body), status, code, field)


@pytest.mark.parametrize("method, path, allowed", [("GET", DECIDE, "POST"), ("POST", "/metrics", "GET, HEAD")])
def test_another_method_is_told_which_there_are(plain, method, path, allowed):
    assert refused(plain.ask(method, path), 405, "method").headers["Allow"] == allowed


@pytest.mark.parametrize("told, code, field", [
    ({}, "missing", "reward"),
    ({"reward": 1.5}, "out_of_range", "reward"),
    ({"reward": -0.1}, "out_of_range", "reward"),
    ({"reward": "1"}, "out_of_range", "reward"),
    ({"reward": 1, "next_state": 9}, "out_of_range", "next_state"),
])
def test_an_observation_that_is_wrong_is_refused(plain, told, code, field):
    refused(plain.observe(plain.decide("arms", 0), **told), 422, code, field)
    assert plain.ledger("walk")["accepted"] == plain.ledger("few")["accepted"] == 0


def test_a_refused_observation_counts_nobody(serve):
    s = serve()
    decision = s.decide("arms", 0)["decision"]
    for told in {}, {"reward": 1.5}, {"reward": 1, "next_state": 9}:
        assert s.observe(decision, **told).status == 422
    forged = decision[:20] + ("B" if decision[20] == "A" else "A") + decision[21:]
    refused(s.observe(forged, reward=1), 422, "out_of_range", "decision")
    assert s.ledger("arms")["accepted"] == 0


@pytest.mark.parametrize("path, body, words", [
    (DECIDE, '{"learner":"nobody","state":0}', "there is no such learner; there are: arms, walk, few, ours"),
    (DECIDE, '{"state":0}', "must name one; there are: arms, walk, few, ours"),
    (DECIDE, '', "the body is empty, and there are several learners"),
    (DECIDE + "?learner=arms", '', "state is missing: the body is empty"),
    (OBSERVE, '', "decision is missing: the body is empty"),
    (OBSERVE, '[{}]', '"decision is missing"'),
    (DECIDE, '{"learner":7,"state":0}', "learner must be a string of 1 to 64 bytes, not a number"),
    (DECIDE, '{"learner":"arms","state":"0"}', "state must be a whole number from 0 to 2, not text"),
    (DECIDE, '{"learner":"arms","what":7}', "an unknown field; the fields are: "),
    (DECIDE, '{"learner":"arms","context":[1]}', "send state"),
    (DECIDE, '{"learner":"arms","state":7}', "from 0 to 2"),
    (DECIDE, '{"learner":"arms","what":7}', "learner, user, state, context"),
    (DECIDE, '{"learner":"walk","state":0}', "POST /v1/episodes"),
    (DECIDE, '[[]]', "an element of a batch must be a JSON object"),
    ("/v1/episodes/xyz/decide", '{"state":0}', "POST /v1/episodes returned"),
    (OBSERVE, '{"decision":"abc","reward":1}', "must be an id that decide returned"),
    ("/v1/billboard", '{}', "GET, HEAD"),
    ("/v1/nowhere", '{}', "tacit serve --reference"),
])
def test_errors_say_what_would_be_right(plain, path, body, words):
    assert words in plain.post(path, body)


def test_errors_of_an_observation_say_what_would_be_right(plain):
    decision = plain.decide("arms", 0)
    assert "next_state" not in refused(plain.observe(decision), 422, "missing", "reward")  # of one step, which leads nowhere
    ok(plain.observe(decision, reward=1))
    assert "the first one counts" in refused(plain.observe(decision, reward=0), 409, "contradiction", "reward")
    assert "Authorization: Bearer" in ok(plain.post(DECIDE, {}, token=""), 401)


def test_only_readers_are_told_the_learners(plain):
    """The names of learners are for those who may read them."""
    decides = plain.make_token("decides", "decide")
    bound = plain.make_token("bound", "read,decide", "--learner few")
    plain.send(signal.SIGHUP)

    def ask(token):
        return plain.post(DECIDE, {"learner": "nobody", "state": 0}, token=token)
    wait_for(lambda: ask(decides).status == 404 and ask(bound).status == 404)
    assert "GET /v1/learners lists them" in ask(decides) and "arms" not in ask(decides)
    assert 'there are: few"' in ask(bound)
    assert "arms" not in ok(plain.get("/v1/billboard?learner=no", token=""), 404)


def test_large_and_strange_requests_do_no_harm(plain):
    head = f"POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {plain.token}\r\n".encode()
    # chunks that never end
    chunks = b"Transfer-Encoding: chunked\r\n\r\n" + (b"400\r\n" + b" " * 1024 + b"\r\n") * 50
    assert plain.ask_bytes(head + chunks).status in (0, 413)
    # headers that do not fit
    assert plain.ask_bytes(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 60000 + b"\r\n\r\n").status != 200
    # no Host: an answer, and one
    answer = plain.ask_bytes(head.replace(b"Host: x\r\n", b"") + b"Content-Length: 2\r\nConnection: close\r\n\r\n{}")
    assert "HTTP/1.1 400" not in refused(answer, 400, "host")
    # two lengths
    refused(plain.ask_bytes(head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"),
            400, "length")
    # not HTTP at all
    assert plain.ask_bytes(b"a" * 50000).status != 200
    ok(plain.get("/healthz"))
