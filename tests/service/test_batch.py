"""Many at once: arrays of decisions and observations, each element with a status of its own."""

from harness import HEAD, JOINT, ON_POSTGRES, error_of, ok, refused

KEY = "key-0123456789-a"
ARMS = f"  - {{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 100000, agent: {JOINT}}}\n"


def test_numbers_are_no_decisions(plain):
    """Such an array is read without a node for each number."""
    answer = ok(plain.post("/v1/decide", [1, 2.5, -3]))
    assert [error_of(element) for element in answer.json] == 3 * [(400, "not_an_object")]


def test_decisions_and_observations_come_in_arrays(serve):
    s = serve()
    elements = ok(s.post("/v1/decide", [{"learner": "arms", "state": 0}, {"learner": "arms", "state": 9},
                                        {"learner": "few", "state": 0}, 17, {"learner": "walk", "state": 1},
                                        {"learner": "arms", "state": 1, "user": "ann"}, {"learner": "none"},
                                        {"what": 1}])).json
    good = [elements.pop(i) for i in (5, 2, 0)][::-1]
    assert [element["status"] for element in good] == [200, 200, 200]
    assert [error_of(element) for element in elements] == [(422, "out_of_range"), (400, "not_an_object"), (409, "episodes"),
                                                           (404, "no_learner"), (422, "unknown_field")]
    a, b, c = (element["body"]["decision"] for element in good)
    told = [{"decision": decision, "reward": reward} for decision, reward in
            ((a, 1), ("x", 1), (b, 0.5), (c, 0), (a, 0.25))]
    for _ in range(2):
        elements = ok(s.post("/v1/observe", told)).json
        for i in 0, 2, 3:
            assert elements[i]["status"] == 200 and elements[i]["body"]["status"] == "finished"
        assert error_of(elements[1]) == (422, "out_of_range")
        assert error_of(elements[4]) == (409, "contradiction")  # in the order of the array
    assert s.ledger("arms")["accepted"] == 2 and s.ledger("few")["accepted"] == 1


def test_a_batch_of_the_largest_size_is_taken_and_none_beyond(serve):
    s = serve(HEAD + ARMS)
    assert len(ok(s.post("/v1/decide", [{"state": i % 3} for i in range(1000)])).json) == 1000
    refused(s.post("/v1/decide", [{"state": i % 3} for i in range(1001)]), 413, "too_large")
    assert ok(s.post("/v1/decide", [])).json == []
    # many observations are one transaction, or few
    many = 100
    decided = ok(s.post("/v1/decide", many * [{"state": 0}])).json
    told = ok(s.post("/v1/observe", [{"decision": x["body"]["decision"], "reward": 0.5} for x in decided])).json
    assert [element["body"]["status"] for element in told] == many * ["finished"]
    s.wait_users("arms", many)
    assert s.ledger("arms")["accepted"] == many
    assert s.figures()["tacit_store_commits_total"] < many


def test_a_batch_with_a_key_is_answered_the_same_again(serve):
    s = serve()
    body = [{"learner": "arms", "state": state} for state in (0, 0, 7)]
    first = ok(s.post("/v1/decide", body, KEY))
    a, b, wrong = first.json
    assert a["body"]["decision"] != b["body"]["decision"]  # equal elements are two users
    assert error_of(wrong) == (422, "out_of_range")
    assert ok(s.post("/v1/decide", body, KEY)).text == first.text
    if not ON_POSTGRES:  # there a front end knows what it decided until it ends
        s.kill_and_start()
        assert ok(s.post("/v1/decide", body, KEY)).text == first.text
        s.kill_and_start()
    body = [{"learner": "arms", "state": state} for state in (0, 1)]
    same, other = ok(s.post("/v1/decide", body, KEY)).json
    assert same["status"] == 200  # the same at the same place
    assert error_of(other) == (422, "key_reused")


def test_a_batch_counts_for_as_many_as_it_has(serve):
    """What a token may ask in a second is counted by elements."""
    s = serve("limits: {rate: 10}\n" + HEAD + ARMS)
    ok(s.post("/v1/decide", 1000 * [{"state": 0}]))  # enough for 99 seconds, however slow this machine is
    wait = refused(s.post("/v1/decide", {"state": 0}), 429, "rate").headers["Retry-After"]
    assert 2 <= int(wait) <= 100  # until the batch is paid for, and not a second
