"""Who is decided for and not learned from: returning users, users after the last one, users of a store that must not learn; and
what was told in an episode that is over."""

import pathlib

from harness import PLAIN, ok, refused, until

ANN = {"learner": "arms", "state": 0, "user": "ann"}


def is_learned(answer):
    return answer.get("learned") is not False


def hear(s, decision, **told):
    answer = ok(s.observe(decision, **told))
    return answer["status"], is_learned(answer)


def test_a_returning_user_gets_an_action_and_teaches_nothing(serve):
    s = serve()
    first = s.decide(**ANN)
    assert is_learned(first) and hear(s, first, reward=1) == ("finished", True)
    for _ in range(3):
        again = s.decide(**ANN)
        assert again["action"] < 4 and not is_learned(again)
        for _ in range(2):
            assert hear(s, again, reward=0) == ("taken_part", False)
        s.kill_and_start()
    assert s.told(again, reward=1) == "taken_part"  # nothing was kept to contradict
    assert s.told(first, reward=1) == "finished"
    assert s.ledger("arms")["accepted"] == 1
    s.end()
    assert [s.sql(f"SELECT count(*) FROM {table}") for table in ("open", "person", "seen")] == [0, 1, 1]


def test_the_log_is_cut_though_people_are_looked_up(serve):
    """Neither the last lookup nor lookups that go on keep data in the log."""
    s = serve()
    log = pathlib.Path(s.store + "-wal")

    def is_empty():
        return not log.exists() or log.stat().st_size == 0
    for users, user in enumerate(("ann", "bob"), 1):
        who = {**ANN, "user": user}
        assert s.told(s.decide(**who), reward=1) == "finished"
        s.wait_users("arms", users)
        for _ in range(8):  # on connections of all threads
            assert not is_learned(s.decide(**who))
        assert until(lambda: is_empty() or (user == "bob" and s.post("/v1/decide", who).status != 200))
        assert is_empty()


def test_of_two_open_episodes_the_first_that_is_told_counts(serve):
    s = serve()
    one, other = s.decide(**ANN), s.decide(**ANN)  # both could be learned when they were asked for
    assert is_learned(other)
    assert s.told(other, reward=1) == "finished"
    assert hear(s, one, reward=1) == ("taken_part", False)
    s.kill_and_start()
    assert s.told(one, reward=0) == "taken_part"
    assert s.told(other, reward=1) == "finished"
    assert s.ledger("arms")["accepted"] == 1


def test_a_returning_user_walks_to_the_end(serve):
    """Several steps: how far a returning user is has to be known, for who asks without a step; nothing else is."""
    s = serve()
    opened = [s.open_episode("walk", user="bob") for _ in range(3)]
    assert all(is_learned(answer) for _, answer in opened)
    late, his, third = (path for path, _ in opened)
    decision = s.decide(path=his, state=1)
    assert is_learned(decision) and s.told(decision, reward=0.5, next_state=2) == "open"
    for h in range(3):  # begun after that
        decision = s.decide(path=late, state=3)
        assert decision["step"] == h and not is_learned(decision)
        assert s.told(decision, reward=0.25, next_state=3) == "taken_part"
    assert s.told(s.decide(path=third, state=4), reward=0.5, next_state=4) == "taken_part"
    for h, word in ((1, "open"), (2, "finished")):
        decision = s.decide(path=his, state=2)
        assert decision["step"] == h and is_learned(decision)
        assert s.told(decision, reward=0.5, next_state=2) == word
    assert not is_learned(s.open_episode("walk", user="bob")[1])
    assert s.ledger("walk")["accepted"] == 1
    assert s.figures()["tacit_episodes_open"] == 1  # the third
    s.end()
    assert [s.sql(f"SELECT count(*) FROM {table}") for table in ("open", "person")] == [1, 1]


def test_an_episode_that_was_only_counted_is_never_learned(serve):
    """An episode of which a step was told while its user took part elsewhere has a gap for good, also when the other one expires."""
    s = serve()
    (one, _), (other, _) = (s.open_episode("walk", user="eve") for _ in range(2))
    assert s.told(s.decide(path=one, state=1), reward=0.5, next_state=2) == "open"
    s.end()
    s.sql("UPDATE open SET opened=opened-60")
    s.restart()
    assert s.told(s.decide(path=other, state=3), reward=0.25, next_state=3) == "taken_part"
    s.end()
    # as if the first one had expired
    s.sql("DELETE FROM person")
    s.sql("DELETE FROM open WHERE opened=(SELECT min(opened) FROM open)")
    s.restart()
    for h in 1, 2:
        decision = s.decide(path=other, state=3)
        assert decision["step"] == h and s.told(decision, reward=0.25, next_state=3) == "taken_part"
    assert s.ledger("walk")["accepted"] == 0


def test_after_the_last_user_answers_say_so(serve):
    s = serve()
    for i in range(6):
        decision = s.decide("few", 0)
        assert is_learned(decision) == (i < 4)
        assert hear(s, decision, reward=0.5) == (("finished", True) if i < 4 else ("full", False))


def test_contradictions_are_noticed_after_the_end(serve):
    s = serve()
    arm = s.decide("arms", 0)
    assert s.told(arm, reward=0.5) == "finished"
    path, _ = s.open_episode("walk")
    steps = []
    for h in range(3):
        steps.append(s.decide(path=path, state=h))
        told = {"reward": (h + 1) / 10, "next_state": h + 1}
        assert s.told(steps[h], **told) == ("finished" if h == 2 else "open")
    other = s.decide(path=path, state=4, step=1)  # from elsewhere
    for _ in range(2):
        assert s.told(arm, reward=0.5) == "finished"
        refused(s.observe(arm, reward=0.25), 409, "contradiction", "reward")
        for h in range(3):  # any part of what was told is a repetition
            assert s.told(steps[h], reward=(h + 1) / 10) == "finished"
            assert s.told(steps[h], next_state=h + 1) == "finished"
            refused(s.observe(steps[h], reward=0.9), 409, "contradiction", "reward")
            refused(s.observe(steps[h], next_state=0), 409, "contradiction", "next_state")
        refused(s.observe(other, reward=0.2), 409, "contradiction", "decision")
        s.wait_users("walk", 1)  # when it is learned as before
        s.kill_and_start()


def test_what_was_told_is_forgotten_when_it_expires(serve):
    """What was told is known for as long as somebody could tell it again, and then no more."""
    told = "SELECT count(*) FROM seen WHERE content IS NOT NULL"
    s = serve()
    decision = s.decide("arms", 0)
    assert s.told(decision, reward=0.5) == "finished"
    s.wait_users("arms", 1)
    s.end()
    assert s.sql(told) == 1
    s.restart("expire: 1\n" + PLAIN)
    assert until(lambda: s.observe(decision, reward=0.5).status == 410)
    refused(s.observe(decision, reward=0.5), 410, "expired")
    assert until(lambda: s.sql(told) == 0)
    assert s.sql("SELECT count(*) FROM seen") == 1  # the name stays
