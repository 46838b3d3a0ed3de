"""People who come back to a service: every visit gets an action, and those that count are at most `visits` of a person, at least
`apart` users from each other. The rule is the store's, so a crash changes no answer."""

import itertools

from harness import HEAD, JOINT, SOURCE, ok, refused, until


def returning(visits, apart):
    return f"{{kind: dp-ucbvi, privacy: {{model: joint, epsilon: 1, visits: {visits}, apart: {apart}}}}}"


def file_of(arms):
    return HEAD + f"""
  - {{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 40, agent: {arms}, monitor: {{epsilon: 1}}}}
  - {{name: walk, space: {{states: 5, actions: 2, horizon: 2}}, users: 30, agent: {returning(2, 2)}}}
  - {{name: few, space: {{states: 1, actions: 2, horizon: 1}}, users: 4, agent: {returning(2, 1)}}}
  - {{name: ours, space: {{states: 3, actions: 2, horizon: 2, stationary: yes}}, users: 50,
     agent: {{kind: dp-ucbvi, privacy: {{model: local, epsilon: 1, delta: 0, visits: 2, apart: 2}}}}}}
"""


RETURNING = file_of(returning(3, 4))
_strangers = (f"other-{i}" for i in itertools.count())


def reason_of(answer):
    """Why nothing is learned; None: it is."""
    assert (answer.get("learned") is False) == (answer.get("reason") is not None), answer
    return answer.get("reason")


def hear(s, decision, **told):
    """The word of an observation, which is also the reason if nothing is learned."""
    answer = ok(s.observe(decision, **told))
    assert reason_of(answer) == (None if answer["status"] in ("finished", "open") else answer["status"])
    assert answer["status"] != "finished" or answer["learned"] is True
    return answer["status"]


def visit(s, learner, user):
    """A whole visit."""
    return hear(s, s.decide(learner, 0, user=user), reward=0.5)


def strangers(s, learner, n):
    """So many others, each for the first time."""
    for _ in range(n):
        assert visit(s, learner, next(_strangers)) == "finished"


def test_visits_count_until_they_are_used_and_only_if_far_enough_apart(serve):
    s = serve(RETURNING)
    assert visit(s, "arms", "ann") == "finished"  # place 1
    early = s.decide("arms", 0, user="ann")
    assert reason_of(early) is None  # it may be far enough when it is told
    strangers(s, "arms", 2)
    assert hear(s, early, reward=1) == "too_soon"  # would be place 4, 3 from 1
    strangers(s, "arms", 1)
    for _ in range(2):  # what it was told stays its answer
        assert hear(s, early, reward=0) == "too_soon"
        s.kill_and_start()
    assert visit(s, "arms", "ann") == "finished"  # place 5
    assert visit(s, "arms", "ann") == "too_soon"
    s.kill_and_start()
    assert visit(s, "arms", "ann") == "too_soon"
    late = s.decide("arms", 0, user="ann")
    strangers(s, "arms", 3)
    assert visit(s, "arms", "ann") == "finished"  # place 9, the last
    strangers(s, "arms", 8)
    s.kill_and_start()
    assert hear(s, late, reward=1) == "visits_used"  # was asked for before
    late = s.decide("arms", 0, user="ann")
    assert reason_of(late) == "visits_used" and late["action"] < 4
    for _ in range(2):
        assert hear(s, late, reward=1) == "visits_used"
    assert s.ledger("arms")["accepted"] == 17
    s.check()
    s.end()
    assert s.sql("SELECT max(visits) FROM person") == 3
    assert s.sql("SELECT last_place FROM person WHERE visits=3") == 9
    assert s.sql("SELECT sum(visits) FROM person") == 17
    assert s.sql("SELECT count(*) FROM open") == 0


def test_what_is_told_twice_is_one_visit(serve):
    s = serve(RETURNING)
    decision = s.decide("arms", 0, user="ann")
    for _ in range(3):
        assert hear(s, decision, reward=0.5) == "finished"
        s.kill_and_start()
    # an idempotency key: the same episode
    bob = {"learner": "arms", "state": 0, "user": "bob"}
    one, again = (ok(s.post("/v1/decide", bob, "bob-comes-and-asks"))["decision"] for _ in range(2))
    assert one == again
    for _ in range(2):
        assert hear(s, one, reward=0.5) == "finished"
    # two visits of one person in one batch
    both = [{"decision": s.decide("arms", 0, user="carl")["decision"], "reward": 1} for _ in range(2)]
    first, second = (element["body"] for element in ok(s.post("/v1/observe", both)).json)
    assert (first["status"], first["learned"]) == ("finished", True)
    assert (second["status"], second["learned"], second["reason"]) == ("too_soon", False, "too_soon")
    assert s.ledger("arms")["accepted"] == 3
    s.check()


def step(s, path, state):
    return hear(s, s.decide(path=path, state=state), reward=0.5, next_state=1)


def test_of_two_open_episodes_the_first_to_finish_counts(serve):
    """Places are those of episodes that are finished; until then nobody has come."""
    s = serve(RETURNING)
    paths = []
    for i in range(5):
        path, opened = s.open_episode("walk", user="ann" if i < 4 else "bob")
        assert reason_of(opened) is None
        assert i == 3 or step(s, path, 0) == "open"
        paths.append(path)
    s.kill_and_start()
    assert step(s, paths[1], 1) == "finished"
    assert step(s, paths[0], 1) == "too_soon"  # although it was opened first
    for path in paths[:2]:  # learned from or not, an episode has an end
        refused(s.post(path, {"state": 1}), 409, "finished")
    assert step(s, paths[4], 1) == "finished"
    assert step(s, paths[2], 1) == "finished"  # opened too soon, finished in time: place 3
    s.kill_and_start()
    assert step(s, paths[3], 0) == "visits_used"  # not one step of it is kept
    assert s.sql("SELECT count(*) FROM person") == 2
    assert step(s, paths[3], 1) == "visits_used"
    refused(s.post(paths[3], {"state": 1}), 409, "finished")
    assert reason_of(s.open_episode("walk", user="ann")[1]) == "visits_used"
    assert s.ledger("walk")["accepted"] == 3
    assert s.figures()["tacit_episodes_open"] == 0
    s.check()


def test_after_the_last_user_nobody_counts(serve):
    s = serve(RETURNING)
    came = [visit(s, "few", user) for user in ("ann", "ann", "ann", "bob", "carl")]
    assert came == ["finished", "finished", "visits_used", "finished", "finished"]
    for _ in range(2):
        assert [visit(s, "few", user) for user in ("ann", "bob", "dora")] == 3 * ["full"]
        s.kill_and_start()
    assert s.ledger("few")["accepted"] == 4
    assert s.sql("SELECT count(*) FROM person") == 3


def test_everybody_must_have_an_id(serve):
    s = serve(RETURNING)
    answer = refused(s.post("/v1/decide", {"learner": "arms", "state": 0}), 422, "missing", "user")
    assert "counts the visits of each person" in answer
    refused(s.post("/v1/episodes", {"learner": "walk"}), 422, "missing", "user")


def test_what_is_promised_is_said(serve):
    s = serve(RETURNING)
    assert [visit(s, "arms", "ann") for _ in range(2)] == ["finished", "too_soon"]
    assert [visit(s, "few", "bob") for _ in range(3)] == ["finished", "finished", "visits_used"]
    guarantee = ok(s.get("/v1/guarantee?learner=arms"))
    assert '"visits":3,"apart":4' in guarantee
    assert "at most 3 visits of a person, any two of them at least 4 users apart" in guarantee
    assert '"visits":3,"apart":4' in guarantee.text.partition('"monitor":{')[2]  # the learner's lines and the monitor's
    assert '"visits":2,"apart":1' in s.ledger("few")
    figures = s.figures()
    for name, value in (('visits_limit{learner="arms"}', 3), ('visits_apart{learner="arms"}', 4),
                        ('people{learner="arms"}', 1), ('people{learner="few"}', 1),
                        ('visits_too_soon_total{learner="arms"}', 1), ('visits_used_total{learner="few"}', 1),
                        ('users_accepted_total{learner="few"}', 2)):
        assert figures["tacit_" + name] == value, name
    s.kill_and_start()
    assert s.figures()['tacit_people{learner="arms"}'] == 1


def test_visits_and_distance_of_a_store_do_not_change(serve):
    """What was promised stays: another k or b is another learner."""
    s = serve(RETURNING)
    assert visit(s, "arms", "ann") == "finished"
    s.end()
    for changed, said in ((returning(4, 4), "visits is 4 and apart 4"), (returning(3, 5), "visits is 3 and apart 5"),
                          (JOINT, "visits is 1 and apart 1")):
        s.rewrite(file_of(changed))
        why = s.does_not_start()
        assert f"service.yaml:5: {said}, but the store has a learner" in why
        assert ("with visits 3 and apart 4; its promise to its users stays in force: give the changed learner another name"
                in why)
    s.restart(RETURNING)
    assert visit(s, "arms", "ann") == "too_soon"


def test_verdicts_are_forgotten_when_they_expire(serve):
    """A verdict is kept for as long as it could be asked for, and then no more."""
    s = serve(RETURNING)
    assert [visit(s, "arms", "ann") for _ in range(2)] == ["finished", "too_soon"]
    assert s.sql("SELECT count(*) FROM verdict") == 1
    s.restart("expire: 1\n" + RETURNING)
    assert until(lambda: s.sql("SELECT count(*) FROM verdict") == 0)
    assert s.sql("SELECT visits FROM person") == 1  # that stays


# --- Devices


def of_user(report, user):
    return report.replace("{", f'{{"user":"{user}",', 1)


def sent(s, report, key):
    return ok(s.post("/v1/reports", report, key), 202)["status"]


def test_reports_are_counted_on_the_device_and_by_the_service(serve):
    """The device counts, whatever the service does; the service counts those whose person it knows."""
    s = serve(RETURNING)

    def live(device, user="ann"):
        report, key = s.live("ours", device)
        return report and (of_user(report, user) if user else report), key
    first = live("mine")
    for _ in range(2):
        assert sent(s, *first) == "taken"  # the same again is the same
        s.kill_and_start()
    early = live("second")  # another device of hers
    assert sent(s, *early) == "too_soon"
    assert sent(s, *live("third", None)) == "taken"  # somebody who gives no id
    s.kill_and_start()
    assert sent(s, *early) == "too_soon"  # what it was told
    assert sent(s, *live("mine")) == "taken"
    report, complaint = live("mine")
    assert report is None and "EXHAUSTED: this person has made all 2 reports" in complaint
    late = live("second")  # but the service knows her
    for _ in range(2):
        assert sent(s, *late) == "visits_used"
    ledger = s.ledger("ours")
    assert ledger["accepted"] == 3 and "in all reports of their own device together" in ledger
    figures = s.figures()
    assert figures['tacit_people{learner="ours"}'] == 1
    assert figures['tacit_visits_used_total{learner="ours"}'] == 1  # told twice
    s.check()


def test_the_example_serves_people_who_come_back(serve):
    """examples/service/returning.yaml, at a port and a store of its own."""
    text = (SOURCE / "examples/service/returning.yaml").read_text()
    s = serve(text.replace(":8471", ":0").replace("returning.db", "service.db"))
    assert [visit(s, "dose", f"patient {i}") for i in (1, 2)] == ["finished", "finished"]
    s.kill_and_start()
    assert visit(s, "dose", "patient 1") == "too_soon"
    for _ in range(5):
        report, key = s.live("diary", "diary")
        assert sent(s, of_user(report, "patient 1"), key) == "taken"
    assert "EXHAUSTED: this person has made all 5 reports" in s.live("diary", "diary")[1]
    assert '"visits": 5' in s.run("explain service.yaml --agent dose --json")
    s.check()
