"""The service from the outside: the real program, spoken to over HTTP, and what it does for those who ask as they should."""

from harness import HEAD, JOINT, PLAIN, ok, refused, until


def test_episodes_are_opened_decided_observed_and_learned(serve):
    s = serve()
    path, _ = s.open_episode("walk")
    first = s.decide(path=path, state=2)
    assert (first["step"], first["probability"]) == (0, 1) and first["action"] < 2 and first["version"] >= 1
    told = {"decision": first["decision"], "next_state": 3}  # the reward comes later
    ok(s.post(path.replace("decide", "observe"), told))
    second = s.decide(path=path, state=3)
    assert second["step"] == 1 and s.told(second, reward=0.5, next_state=4) == "open"
    third = s.decide(path=path, state=4)
    assert third["step"] == 2 and s.told(third, reward=1, next_state=0) == "open"
    refused(s.post(path, {"state": 4}), 409, "finished")
    assert s.ledger("walk")["accepted"] == 0
    assert s.told(first, reward=0.25) == "finished"  # days later
    s.wait_users("walk", 1)
    assert s.ledger("walk")["releases"][0]["passed"] == 1
    assert s.told(first, reward=0.25) == "finished"  # said again, it changes nothing
    assert s.ledger("walk")["accepted"] == 1
    refused(s.post(path, {"state": 4}), 409, "finished")


def test_contradictions_are_refused_and_repetitions_are_not(serve):
    s = serve()
    path, _ = s.open_episode("walk")
    first = s.decide(path=path, state=2, step=0)
    for _ in range(2):
        assert s.told(first, reward=0.5, next_state=3) == "open"
    refused(s.observe(first, reward=0.75), 409, "contradiction", "reward")
    refused(s.observe(first, next_state=1), 409, "contradiction", "next_state")
    elsewhere = s.decide(path=path, state=1, step=0)
    refused(s.observe(elsewhere, reward=0.5), 409, "contradiction", "decision")
    not_there = s.decide(path=path, state=1, step=1)  # the first step led to 3
    refused(s.observe(not_there, reward=0.5), 409, "contradiction", "decision")
    second = s.decide(path=path, state=3, step=1)
    assert s.told(second, reward=0.5) == "open"
    other, _ = s.open_episode("walk")  # a decision belongs to its episode
    told = {"decision": second["decision"], "reward": 0.5}
    refused(s.post(other.replace("decide", "observe"), told), 422, "out_of_range", "decision")


def test_a_user_takes_part_once(serve):
    s = serve()
    ann = {"state": 0, "user": "ann@example.org"}
    first, second = s.decide("arms", **ann), s.decide("arms", **ann)
    assert s.told(first, reward=1) == "finished"
    again = ok(s.observe(second, reward=1))
    assert again["status"] == "taken_part" and again["learned"] is False
    assert s.decide("arms", **ann)["learned"] is False
    # in another learner she is somebody else, and so is everybody else in this one
    assert s.decide("few", **ann).get("learned") is not False
    assert s.decide("arms", 0, user="bob@example.org").get("learned") is not False
    assert s.ledger("arms")["accepted"] == 1


def test_after_the_last_user_it_decides_and_learns_no_more(serve):
    s = serve()
    for _ in range(4):
        assert s.told(s.decide("few", 0), reward=0.5) == "finished"
    s.wait_users("few", 4)
    version = s.ledger("few")["version"]
    for _ in range(3):
        decision = s.decide("few", 0)
        assert decision["version"] == version and s.told(decision, reward=0.5) == "full"
    for _ in range(2):  # who was not learned from has not taken part, and is decided for again
        assert s.told(s.decide("few", 0, user="late"), reward=0.5) == "full"
    ledger = s.ledger("few")
    assert (ledger["accepted"], ledger["left"], ledger["learning"]) == (4, 0, False)
    assert "the budget is spent" in ledger
    figures = s.figures()
    assert figures['tacit_users_left{learner="few"}'] == 0
    assert figures['tacit_learning{learner="few"}'] == 0 and figures['tacit_learning{learner="arms"}'] == 1


def test_after_the_last_user_nothing_raw_is_held(serve):
    """What somebody told who will not be learned from is not kept: it cannot even be contradicted. How far they are is known."""
    s = serve(HEAD + f"  - {{name: one, space: {{states: 3, actions: 2, horizon: 2}}, users: 1, agent: {JOINT}}}\n")
    path, _ = s.open_episode(user="late")
    late = s.decide(path=path, state=1)
    assert s.told(late, reward=0.5, next_state=2) == "open"
    refused(s.observe(late, reward=0.75), 409, "contradiction", "reward")
    other, _ = s.open_episode("one")  # is the first and the last
    for word in "open", "finished":
        assert s.told(s.decide(path=other, state=0), reward=1, next_state=0) == word
    assert s.told(late, reward=0.75) == "open"
    later = s.decide(path=path, state=2)
    assert later["step"] == 1 and s.told(later, reward=0.5, next_state=2) == "full"
    assert s.ledger("one")["accepted"] == 1
    s.open_episode(user="late")  # may come again


def test_episodes_that_never_finish_expire_without_harm(serve):
    s = serve()  # where she has a week
    path, _ = s.open_episode("walk", user="eve")
    decision = s.decide(path=path, state=0)
    assert s.told(decision, reward=0.5, next_state=1) == "open"
    assert s.open_episode("walk", user="eve")[1]["learned"] is False  # she is taking part
    assert s.figures()["tacit_episodes_open"] == 1
    s.restart("expire: 1\n" + PLAIN)
    until(lambda: s.figures()["tacit_episodes_expired_total"] == 1)
    figures = s.figures()
    assert (figures["tacit_episodes_expired_total"], figures["tacit_episodes_open"]) == (1, 0)
    refused(s.observe(decision, reward=0.5), 410, "expired")
    refused(s.post(path, {"state": 1}), 410, "expired")
    assert "learned" not in s.open_episode("walk", user="eve")[1]  # nothing came of it: she may come
    assert s.ledger("walk")["accepted"] == 0
    assert " 0 episodes open" in s.check()


def test_a_billboard_is_sent_again_only_if_it_changed(plain):
    """What a link can fetch is not taken for anything else, and kept only where it says so; so are errors."""
    def fetch(matches, learner="ours"):
        return plain.get(f"/v1/billboard?learner={learner}", token="", headers=matches and {"If-None-Match": matches})

    etag = ok(fetch(None)).headers["ETag"]  # public
    for match, status in ((etag, 304), ("W/" + etag, 304), ('"other", ' + etag, 304), (etag + ' , "other"', 304),
                          ("*", 304), ('"other"', 200), ('"' + etag, 200), (etag + '"other', 200),
                          (",," + etag + ",", 304)):
        answer = ok(fetch(match), status)
        assert answer.headers["ETag"] == etag and answer.headers["Cache-Control"] == "public, max-age=5", match
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for answer in ok(plain.get("/v1/learners")), ok(plain.post("/v1/decide", {}, token=""), 401):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
    # the same version of another learner is something else
    assert ok(fetch(None, "arms")).headers["ETag"] != etag


def test_local_reports_are_counted_once(serve):
    s = serve()
    report = {"learner": "ours", "report": "AAAA"}
    key = "0123456789abcdef"
    refused(s.post("/v1/reports", report), 422, "missing", "Idempotency-Key")
    refused(s.post("/v1/reports", report, key), 422, "out_of_range", "report")
    refused(s.post("/v1/reports", {**report, "report": "not base64!"}, key), 422, "out_of_range", "report")
    refused(s.post("/v1/reports", {**report, "learner": "arms"}, key), 409, "not_local", "learner")
    refused(s.post("/v1/episodes", {"learner": "ours"}), 409, "local", "learner")
    # real reports, by the client's library
    done = s.simulate("ours", "--world riverswim --set states=3 --set horizon=2 --users 40")
    assert done.returncode == 0 and '"users":40' in done.stdout and '"failures":0' in done.stdout, done
    s.wait_users("ours", 40)
    ledger = s.ledger("ours")
    assert ledger["refused"] == 0
    # a release of every device, 50 of which were declared
    assert (ledger["releases"][0]["declared"], ledger["releases"][0]["passed"]) == (50, 40)


FAMILIES = HEAD + """
  - {name: mixed, space: {states: 4, actions: 2, horizon: 3}, users: 100,
     agent: {kind: linopt-vi, privacy: {model: local, epsilon: 1}}}
  - {name: linear, space: {states: 4, actions: 2, horizon: 3}, users: 100,
     agent: {kind: lsvi-ucb, privacy: {model: joint, epsilon: 1}}}
  - {name: bandit, space: {features: 3, actions: 2, bound: 2}, users: 100,
     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}
  - {name: own, space: {features: 2, actions: 3, shared: no}, users: 100, agent: {kind: lin-ucb, privacy: {model: none}}}
"""


def test_agents_of_all_families_are_served(serve):
    s = serve(FAMILIES)
    for name in "mixed", "linear":
        done = s.simulate(name, "--set states=4 --set horizon=3 --users 30")
        assert done.returncode == 0, done
        s.wait_users(name, 30)
        assert s.ledger(name)["refused"] == 0
    here = {"learner": "bandit", "context": [1, 0, 0, 0, 1.5, 0.5]}
    for _ in range(10):
        decision = s.decide(**here)
        assert decision["action"] < 2 and s.told(decision, reward=1) == "finished"
        decision = s.decide("own", context=[0.6, -0.8])
        assert decision["action"] < 3 and s.told(decision, reward=0) == "finished"
    for name in "bandit", "own":
        s.wait_users(name, 10)
    for wrong in {"context": [1, 0, 0, 0, 1.5]}, {"context": [1, 0, 0, 0, 2, 0.5]}, {"state": 0}:  # the second: longer than 2
        refused(s.post("/v1/decide", {"learner": "bandit", **wrong}), 422, "out_of_range", *wrong)
    # killed and started again, all of them are where they were
    names = "mixed", "linear", "bandit", "own"
    versions = [s.ledger(name)["version"] for name in names]
    s.kill_and_start()
    assert [s.ledger(name)["version"] for name in names] == versions
    assert s.decide(**here)["version"] == versions[2]
