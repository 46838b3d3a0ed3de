"""What a token is limited to: users a day, a time, a learner, and keys of its own. And a report that counts once, whoever sends it
under whatever name."""

import signal

import pytest

from harness import DAY, ON_POSTGRES, ok, refused, wait_for

KEY = "0123456789abcdef"


@pytest.fixture
def at_noon(serve):
    """Makes a server and a token by the name web. It is noon by the service's clock: no day ends in the midst of a test."""
    def make(scopes, options=""):
        s = serve(start=False)
        token = s.make_token("web", scopes, options)
        noon = "c0d8ff6600000000"  # 20000 * 86400 + 43200, low byte first
        s.sql("INSERT INTO meta VALUES('clock', " + (rf"'\x{noon}')" if ON_POSTGRES else f"X'{noon}')"))
        assert s.start()
        return s, token
    return make


def bring_user(s, token):
    """A user of `arms`: the decision, and what the observation was answered with."""
    decision = ok(s.post("/v1/decide", {"learner": "arms", "state": 0}, token=token))["decision"]
    return decision, s.observe(decision, token, reward=1)


def send_report(s, token, number, report):
    return s.ask("POST", "/v1/reports", report, token, {"Idempotency-Key": f"{KEY}-{number}"})


def over_quota(answer):
    assert 1 <= int(refused(answer, 429, "quota").headers["Retry-After"]) <= DAY


# --- Quotas


def test_a_token_brings_its_users_of_a_day_and_no_more(at_noon):
    s, token = at_noon("decide,observe,report", "--users-per-day 3")
    first, answer = bring_user(s, token)
    ok(answer)
    (report, _), (other, _) = s.live("ours"), s.live("ours")
    ok(send_report(s, token, 1, report), 202)
    s.kill_and_start()  # what was counted is on disk
    ok(bring_user(s, token)[1])
    over, answer = bring_user(s, token)
    over_quota(answer)
    over_quota(send_report(s, token, 2, other))
    # who counted is told so again
    ok(s.observe(first, token, reward=1))
    for number in 1, 3:
        ok(send_report(s, token, number, report), 202)
    # nothing of the others was kept: another token may bring them
    assert s.ledger("arms")["accepted"] == 2 and s.ledger("ours")["accepted"] == 1
    ok(s.observe(over, reward=1))
    assert s.ledger("arms")["accepted"] == 3


def test_a_returning_user_needs_no_quota(at_noon):
    """Two decisions of one user, made before either was told of: the second is told that the user has taken part, whatever is left
    of the quota, since it takes nobody."""
    s, token = at_noon("decide,observe", "--users-per-day 1")
    decisions = [s.decide("arms", 0, user="ann") for _ in range(2)]
    assert [s.told(decision, token=token, reward=1) for decision in decisions] == ["finished", "taken_part"]
    over_quota(bring_user(s, token)[1])
    assert s.ledger("arms")["accepted"] == 1


def reload(s, token):
    s.send(signal.SIGHUP)
    wait_for(lambda: s.get("/v1/learners", token=token).status == 200)


def test_a_new_token_of_the_same_name_begins_with_nothing(at_noon):
    s, token = at_noon("decide,observe,read", "--users-per-day 1")
    ok(bring_user(s, token)[1])
    over_quota(bring_user(s, token)[1])
    s.run("token revoke service.yaml --name web")
    token = s.make_token("web", "decide,observe,read", "--users-per-day 1")
    reload(s, token)
    ok(bring_user(s, token)[1])
    over_quota(bring_user(s, token)[1])


def test_a_clock_that_jumps_opens_no_new_day(at_noon, walled):
    s, token = at_noon("decide,observe", "--users-per-day 1")
    s.end()
    wall = walled(s)
    assert s.start()
    ok(bring_user(s, token)[1])
    for days in range(-2, 3):
        wall.move(days * DAY)
        over_quota(bring_user(s, token)[1])
    s.restart()
    over_quota(bring_user(s, token)[1])


# --- An end, and a learner


def test_a_token_ends_at_its_time(serve, walled):
    s = serve(start=False)
    token = s.make_token("web", "read", "--expires 2d")
    wall = walled(s)
    assert s.start()
    ok(s.get("/v1/learners", token=token))
    wall.move(3 * DAY)
    answer = refused(s.get("/v1/learners", token=token), 401, "expired_token")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    ok(s.get("/v1/learners"))


def test_a_token_is_for_its_learner_alone(serve):
    s = serve(start=False)
    token = s.make_token("web", "decide,observe,report,read", "--learner arms")
    assert s.start()
    ok(bring_user(s, token)[1])
    # it need not say whom it means
    ok(s.post("/v1/decide", {"state": 0}, token=token))
    assert ok(s.get("/v1/ledger", token=token))["learner"] == "arms"
    path, _ = s.open_episode("walk")  # tickets of others are no way around it
    for method, at, body in (("POST", "/v1/episodes", {"learner": "walk"}),
                             ("POST", "/v1/decide", {"learner": "few", "state": 0}),
                             ("POST", "/v1/reports", {"learner": "ours", "report": "AAAA"}),
                             ("GET", "/v1/ledger?learner=walk", None),
                             ("GET", "/v1/guarantee?learner=walk", None),
                             ("GET", "/v1/history?learner=walk", None),
                             ("POST", path, {"state": 0}),
                             ("POST", "/v1/observe", {"decision": s.decide(path=path, state=0)["decision"], "reward": 1})):
        refused(s.ask(method, at, body, token), 403, "learner", "learner")
    refused(s.get("/v1/ledger?learner=none", token=token), 404, "no_learner", "learner")
    for listing in "/v1/learners", "/metrics":
        answer = ok(s.get(listing, token=token))
        assert "arms" in answer and "walk" not in answer


# --- Keys and bytes


def test_keys_belong_to_a_token(serve):
    s = serve(start=False)
    one, two = (s.make_token(name, "decide,read") for name in ("one", "two"))
    assert s.start()

    def open_by(token):
        return ok(s.post("/v1/episodes", {"learner": "walk"}, KEY, token=token), 201)["episode"]
    episodes = [open_by(one), open_by(two)]
    s.run("token revoke service.yaml --name two")
    again = s.make_token("two", "decide,read")  # under its name, and perhaps its number
    reload(s, again)
    episodes.append(open_by(again))
    assert len(set(episodes)) == 3 and open_by(one) == episodes[0]


def test_a_report_counts_once_under_any_key(serve):
    times = 20
    s = serve(start=False)
    other = s.make_token("other", "report")
    assert s.start()
    (one, _), (two, _) = s.live("ours"), s.live("ours")
    for i in range(times):
        assert ok(send_report(s, other if i % 2 else s.token, i, one), 202)["status"] == "taken"  # as the first was told
    ok(send_report(s, s.token, times, "{ " + one[1:]), 202)  # the same bytes, written otherwise
    assert s.ledger("ours")["accepted"] == 1
    refused(send_report(s, s.token, 0, two), 422, "key_reused", "Idempotency-Key")
    s.kill_and_start()
    ok(send_report(s, s.token, times + 1, one), 202)
    assert s.ledger("ours")["accepted"] == 1
    ok(send_report(s, s.token, times + 2, two), 202)
    assert s.ledger("ours")["accepted"] == 2
