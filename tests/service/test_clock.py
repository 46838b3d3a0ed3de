"""Clocks that jump, while the service runs and before it starts: nothing is deleted by them. What is deleted is old by the time that
the service has run. Its own clock is in tests/unit/test_service_clock.c."""

import time

import pytest

from harness import DAY, HEAD, JOINT, ok, wait_for

# Episodes live for a month at most, by jumps of which nobody is to notice; long enough for a slow machine, too.
MONTH, PAST = 30 * DAY, -50 * 365 * DAY
YAML = "expire: 86400\n" + HEAD + f"  - {{name: walk, space: {{states: 5, actions: 2, horizon: 3}}, users: 100, agent: {JOINT}}}\n"


@pytest.fixture
def begun(serve, walled):
    """A service, its clock, and how an episode that has begun is finished. It has one step of three, and a decision that was made
    under a key."""
    s = serve(YAML, start=False)
    wall = walled(s)
    assert s.start()
    path, _ = s.open_episode()

    def decide_under_key():
        return ok(s.post(path, {"state": 1, "step": 1}, "0123456789abcdef"))
    first = s.decide(path=path, state=0, step=0)
    assert s.told(first, reward=0.5, next_state=1) == "open"
    second = decide_under_key()

    def finish():
        """Nothing of it was lost: the key still has its answer, and two more steps finish it."""
        figures = s.figures()
        assert (figures["tacit_episodes_expired_total"], figures["tacit_episodes_open"]) == (0, 1)
        assert decide_under_key()["decision"] == second["decision"]
        assert s.told(second, reward=0.5, next_state=2) == "open"
        assert s.told(s.decide(path=path, state=2, step=2), reward=0.5, next_state=3) == "finished"
    return s, wall, finish


def await_sweep(s):
    """Until the store was looked through once more, whoever else writes."""
    jobs = s.figures()["tacit_store_jobs_total"]
    wait_for(lambda: s.figures()["tacit_store_jobs_total"] > jobs)


@pytest.mark.parametrize("jump", [MONTH, PAST])
def test_a_clock_that_jumps_deletes_nothing(begun, jump):
    s, wall, finish = begun
    wall.move(jump)
    await_sweep(s)
    finish()


def test_a_start_with_a_wrong_clock_deletes_nothing(begun):
    s, wall, finish = begun
    for end, jump in ((s.end, MONTH), (s.kill, PAST), (s.end, 0)):
        end()
        wall.move(jump)
        s.restart()
        await_sweep(s)
    finish()


def test_what_expires_is_told_in_time_on_the_wall(serve, walled):
    s = serve(YAML, start=False)
    wall = walled(s)
    wall.move(0)
    assert s.start()
    for jump in 0, MONTH:
        wall.move(jump)
        before = int(time.time()) + jump
        expires = s.open_episode()[1]["expires"] - DAY
        # two clocks that are rounded down, and an estimate that is not moved for less than two seconds
        assert before - 3 <= expires <= time.time() + jump + 3
