"""The promise to one person over the life of a store: what /v1/guarantee says first, which changes of the file are refused because
people have come, and what learners that are no longer served still cost."""

import math
import statistics

import pytest

from harness import HEAD, ok

USERS = 3


def learner(name, privacy="model: joint, epsilon: 1, delta: 1e-4"):
    return (f"  - {{name: {name}, space: {{states: 1, actions: 2, horizon: 1}}, users: 200, "
            f"agent: {{kind: dp-ucbvi, privacy: {{{privacy}}}}}}}\n")


ONE, TWO, EXACT = learner("arms"), learner("legs"), learner("exact", "model: none")


def file_of(head, learners):
    return HEAD.replace("learners:\n", head + "learners:\n") + learners


def bring(s, name):
    for _ in range(USERS):
        assert s.told(s.decide(name, 0), reward=1) == "finished"
    s.wait_users(name, USERS)


def is_refused(s, head, learners, why):
    if s.process is not None:
        s.end()
    s.rewrite(file_of(head, learners))
    assert why in s.does_not_start()


def epsilon_of_person(s, name):
    """What /v1/guarantee says first."""
    answer = ok(s.get(f"/v1/guarantee?learner={name}"))
    assert answer.text.startswith('{"person":{"guarantee":')
    return answer["person"]["guarantee"]["epsilon"]


# One learner at (1, 1e-4) and two at delta 2e-4, with Gaussian noise: delta(epsilon) = F(m/2 - e/m) - exp(e) F(-m/2 - e/m) for noise of
# mu m, and n of them have mu m sqrt(n).
def delta_of(mu, epsilon):
    cdf = statistics.NormalDist().cdf
    return cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)


def solve(increasing, wanted, low, high):
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < wanted else (low, middle)
    return (low + high) / 2


def expected(n, delta):
    mu = solve(lambda m: delta_of(m, 1), 1e-4, 1e-3, 10)
    return solve(lambda epsilon: -delta_of(mu * n**0.5, epsilon), -delta, 0, 20)


def test_the_guarantee_begins_with_one_person(serve):
    s = serve(file_of("", ONE + TWO))
    for name in "arms", "legs":
        assert epsilon_of_person(s, name) == pytest.approx(expected(2, 2e-4), abs=1e-9)
        person = s.get(f"/v1/guarantee?learner={name}")["person"]
        assert person["guarantee"]["delta"] == 0.0002 and "composed" in person
        assert (person["people"], person["learners"], person["exact"], person["past"]) == ("shared", 2, 0, 0)
        assert person["sentences"][0].startswith("for one person: epsilon 1.3")
    s.restart(file_of("", ONE + EXACT))
    person = s.get("/v1/guarantee?learner=arms")["person"]
    assert person["guarantee"] is None and "epsilon" in person["composed"]
    assert person["sentences"][0] == ("for one person: no guarantee, because 1 of 2 learners works on exact data "
                                      "(model none)")


def test_a_promise_can_change_until_somebody_comes(serve):
    """While nobody has come, nothing was promised to anybody."""
    s = serve(file_of("budget: {epsilon: 2, delta: 1e-4}\n", ONE + TWO))
    for head in "people: separate\nbudget: {epsilon: 9, delta: 1e-3}\n", "", "budget: {epsilon: 2, delta: 1e-4}\n":
        s.restart(file_of(head, ONE + TWO))


def test_a_budget_does_not_grow_once_somebody_has_come(serve):
    s = serve(file_of("budget: {epsilon: 2, delta: 1e-4}\n", ONE))
    bring(s, "arms")
    is_refused(s, "budget: {epsilon: 2.5, delta: 1e-4}\n", ONE, "service.yaml:3: the budget is larger, but people who have "
               "come were promised budget: {epsilon: 2, delta: ")
    is_refused(s, "budget: {epsilon: 1.5, delta: 2e-4}\n", ONE, "the budget is larger")
    is_refused(s, "", ONE, "there is no budget, but people who have come were promised budget: {epsilon: 2, ")
    is_refused(s, "budget: {epsilon: 2, delta: 1e-4}\npeople: separate\n", ONE, "service.yaml:4: people is separate, but ")
    s.restart(file_of("budget: {epsilon: 1.8, delta: 1e-4}\n", ONE))  # less is a better promise, and then the promise
    is_refused(s, "budget: {epsilon: 2, delta: 1e-4}\n", ONE, "promised budget: {epsilon: 1.8")
    s.restart(file_of("budget: {epsilon: 1.8, delta: 1e-4}\n", ONE + TWO))


def test_people_who_were_separate_may_be_shared_and_not_the_other_way(serve):
    s = serve(file_of("people: separate\n", ONE + TWO))
    bring(s, "arms")
    assert 1 - 1e-9 <= epsilon_of_person(s, "arms") <= 1
    assert s.get("/v1/guarantee?learner=arms")["person"]["people"] == "separate"
    s.restart(file_of("", ONE + TWO))
    assert epsilon_of_person(s, "arms") > 1.3
    is_refused(s, "people: separate\n", ONE + TWO, "people is separate, but people who have come were promised a sum")


def test_learners_that_are_no_longer_served_are_paid_for(serve):
    """A learner that was renamed has had its users, and they may come again."""
    s = serve(file_of("", ONE + EXACT))
    bring(s, "arms")
    s.restart(file_of("", TWO))
    assert epsilon_of_person(s, "legs") == pytest.approx(expected(2, 2e-4), abs=1e-9)
    answer = s.get("/v1/guarantee?learner=legs")
    person = answer["person"]
    assert (person["learners"], person["exact"], person["past"]) == (2, 0, 1)  # nobody came to the exact one
    assert "Among the learners is 1 that this service had before" in answer
    assert "one person in everything now pays epsilon 1.3" in s.run("store events service.yaml")
    # it fits alone, and not with the one of before
    is_refused(s, "budget: {epsilon: 1.2, delta: 2e-4}\n", TWO,
               "but with 1 learner that this store has had before one person pays epsilon 1.3")
    s.restart(file_of("budget: {epsilon: 1.5, delta: 2e-4}\n", TWO))
    s.restart(file_of("budget: {epsilon: 1.5, delta: 2e-4}\n", ONE))  # back again: counted once
    assert epsilon_of_person(s, "arms") < 1
    s.check()


def test_a_promise_that_was_changed_in_the_store_is_noticed(serve):
    """What the store keeps is covered by its proof."""
    s = serve(file_of("budget: {epsilon: 2, delta: 1e-4}\n", ONE))
    bring(s, "arms")
    s.end()
    s.check()
    s.sql("DELETE FROM meta WHERE name='promise'")
    s.run("store check service.yaml", 1)
