"""kill -9 again and again, under load: what was acknowledged is there, once, and the learner is where it would be without.

Two services begin with the same store, so with the same noise. In both, the same users come one after the other to two learners, of
which one has a state that is written now and then only; one service is killed at any moment, started again, and asked again for what
it had not acknowledged. In the end both have the same billboards, ledgers and counts. Meanwhile a crowd loads another learner: every
user of it that was acknowledged is counted, and nobody twice; and the operator's record of its decisions has each of them, once.

Others come back again and again, sooner and more often than the learner was declared for. After each kill the store itself, copied
while nobody has it open, says what was promised: nobody has more visits than that, or nearer ones, than in the store after the kill
before."""

import concurrent.futures
import http.client
import itertools
import json
import os
import random
import shutil
import sqlite3
import threading
import time

from harness import JOINT, ok, until, wait_for

KILLS = int(os.environ.get("TACIT_KILLS", 20))  # the slow test has a thousand
CROWD, FEWEST = 3, KILLS // 4
STEADY = "quiet", "large"


def file_of(port):
    """At an address of this process's own, where no other program takes the port while the service is dead, and no socket that
    connects to it can get it as its own."""
    pid = os.getpid()
    return f"""
listen: 127.{64 + (pid >> 16 & 63)}.{pid >> 8 & 255}.{pid & 255}:{port}
store: service.db
learners:
  - {{name: quiet, space: {{states: 3, actions: 2, horizon: 1}}, users: 100000, agent: {JOINT}, monitor: {{epsilon: 1}}}}
  - {{name: large, space: {{states: 90, actions: 2, horizon: 1}}, users: 100000, agent: {JOINT}, monitor: {{epsilon: 1}}}}
  - {{name: busy, space: {{states: 2, actions: 2, horizon: 2}}, users: 100000,
     agent: {{kind: private-ucb-po, privacy: {{model: joint, epsilon: 1, delta: 0}}}}, log_decisions: yes}}
  - {{name: regulars, space: {{states: 2, actions: 2, horizon: 1}}, users: 100000,
     agent: {{kind: dp-ucbvi, privacy: {{model: joint, epsilon: 1, visits: 4, apart: 6}}}}}}
"""


def try_to_ask(s, *arguments, **more):
    """The answer; None: the service was killed before it was there."""
    try:
        return s.ask(*arguments, **more)
    except (OSError, http.client.HTTPException):
        return None


def ask(s, *arguments, **more):
    """Asks until there is an answer, however often the service dies."""
    return wait_for(lambda: try_to_ask(s, *arguments, **more))


# --- Users


def come(s, learner, i):
    """User i of a steady learner, and the learner has learned from them. The episode has the same name wherever this key of the
    service is, since noise depends on it."""
    key = {"Idempotency-Key": f"user-of-the-{learner}-{i:06d}"}
    decision = ok(ask(s, "POST", "/v1/decide", {"learner": learner, "state": i % 3}, headers=key))
    reward = (i * 37 + decision["action"] * 50) % 100 / 100
    ok(ask(s, "POST", "/v1/observe", {"decision": decision["decision"], "reward": reward}))

    def users():
        return ok(ask(s, "GET", f"/v1/ledger?learner={learner}"))["users"]
    wait_for(lambda: users() > i)
    assert users() == i + 1  # never twice


class Load:
    """Everybody else, until it is over."""

    def __init__(self, s):
        self.server, self.over, self.lock = s, threading.Event(), threading.Lock()
        self.acknowledged = self.unsure = self.learned = self.steady = 0

    def come_one_by_one(self):
        for self.steady in itertools.count():
            if self.over.is_set() and self.steady >= FEWEST:
                return
            for learner in STEADY:
                come(self.server, learner, self.steady)

    def crowd(self):
        """Users of the busy learner."""
        while not self.over.is_set():
            opened = try_to_ask(self.server, "POST", "/v1/episodes", {"learner": "busy"})
            if opened is None or opened.status != 201:
                time.sleep(0.005)
                continue
            for h in range(2):
                decision = try_to_ask(self.server, "POST", f"/v1/episodes/{opened['episode']}/decide", {"state": h, "step": h})
                if decision is None or decision.status != 200:
                    break
                told = try_to_ask(self.server, "POST", "/v1/observe",
                                  {"decision": decision["decision"], "reward": 0.5, "next_state": 1 - h})
                done = told is not None and told.status == 200
                with self.lock:
                    self.acknowledged += h == 1 and done
                    self.unsure += h == 1 and not done
                if not done:
                    break

    def visit(self, state, user, reward):
        """A visit that is asked for again until it has its word; and asked once more, it has the same."""
        decision = ok(ask(self.server, "POST", "/v1/decide", {"learner": "regulars", "state": state, "user": user}))
        told = {"decision": decision["decision"], "reward": reward}
        first, again = (ok(ask(self.server, "POST", "/v1/observe", told)) for _ in range(2))
        assert first["status"] == again["status"]
        learned = first["status"] == "finished"
        assert again["learned"] is learned and (learned or first["status"] in ("too_soon", "visits_used"))
        self.learned += learned
        return learned

    def come_back(self):
        """Three people at a time, each of whom comes until the visits are used and once more; then three others."""
        for i in itertools.count():
            if self.over.is_set():
                return
            if not self.visit(0, f"regular-{i // 40 * 3 + i % 3}", 0.5):
                assert self.visit(1, f"passing-{i}", 0)  # who passes by, so that the others come nearer to their next visit


# --- What was promised to people who come back, by the store

# Each query counts what contradicts the promise; the last: nobody is lost, comes back changed, or came nearer to their last visit than
# declared.
WRONG = (
    "SELECT count(*) FROM person WHERE visits > 4 OR last_place < 1 + (visits - 1) * 6",
    "SELECT count(visits) - count(DISTINCT last_place) FROM person WHERE visits IS NOT NULL",
    "SELECT coalesce(sum(visits), 0) != (SELECT accepted FROM learner WHERE name='regulars') FROM person",
    "SELECT count(*) FROM old.person AS o LEFT JOIN main.person AS n ON n.learner=o.learner AND n.hash=o.hash WHERE n.hash IS NULL "
    "OR n.visits < o.visits OR (n.visits = o.visits AND n.last_place != o.last_place) OR n.last_place < o.last_place + "
    "(n.visits - o.visits) * 6",
)


def keeps_the_promise(s, learned):
    """The store of a service that is dead."""
    now, old = s.directory / "now", s.directory / "old"
    for end in "", "-wal":
        if os.path.exists(s.store + end):
            shutil.copy(s.store + end, f"{now}{end}")
    if not old.exists():
        sqlite3.connect(now).execute("VACUUM INTO ?", (str(old),)).connection.close()
    store = sqlite3.connect(now)
    store.execute("ATTACH ? AS old", (str(old),))
    for statement in WRONG:
        assert store.execute(statement).fetchone()[0] == 0, f"the store contradicts the promise: {statement}"
    assert store.execute("SELECT accepted FROM learner WHERE name='regulars'").fetchone()[0] >= learned
    store.execute("DETACH old")
    old.unlink()
    store.execute("VACUUM INTO ?", (str(old),))
    store.close()
    for end in "", "-wal", "-shm":
        (s.directory / f"now{end}").unlink(missing_ok=True)


def test_killed_often_it_ends_where_it_would_have_ended(serve):
    calm, hunted = serve(file_of(8471)), serve(file_of(8472), start=False)  # the start makes the learners, with their noise
    calm.end()
    for end in "", ".key", ".mark":
        shutil.copy2(calm.store + end, hunted.store + end)
    hunted.token = calm.token
    calm.restart()
    hunted.restart()
    load, chance = Load(hunted), random.Random(42)
    with concurrent.futures.ThreadPoolExecutor(CROWD + 2) as pool:
        others = [pool.submit(work) for work in [load.come_one_by_one, load.come_back] + CROWD * [load.crowd]]
        try:
            for _ in range(KILLS):
                time.sleep(0.005 + chance.random() * 0.12)  # at any moment
                learned = load.learned
                hunted.kill()
                keeps_the_promise(hunted, learned)
                assert hunted.start(), hunted.read("err")
                for other in others:
                    if other.done():
                        other.result()
            until(lambda: load.acknowledged > 0)  # most of them between two kills, unless the machine is slow
        finally:
            load.over.set()
        for other in others:
            other.result()
    assert load.steady >= FEWEST and load.acknowledged > 0
    for i in range(load.steady):
        for learner in STEADY:
            come(calm, learner, i)
    for learner in STEADY:
        for route in "ledger", "billboard":
            path = f"/v1/{route}?learner={learner}"
            assert ok(hunted.get(path)).text == ok(calm.get(path)).text
    accepted = hunted.ledger("busy")["accepted"]
    assert load.acknowledged <= accepted <= load.acknowledged + load.unsure
    # both steps of each user, whole, with the probabilities that they were decided with
    record = [json.loads(line) for line in hunted.run("store export service.yaml --decisions").splitlines()]
    assert [row["step"] for row in record] == accepted * [0, 1] == [row["state"] for row in record]
    assert [row["user"] for row in record[::2]] == [row["user"] for row in record[1::2]]
    for row in record:
        assert row["learner"] == "busy" and 1e-6 <= row["probability"] <= 1 and row["reward"] == 0.5 and row["version"] >= 1
    assert hunted.ledger("regulars")["accepted"] == load.learned  # all, once
    hunted.check()
    hunted.end()
    keeps_the_promise(hunted, load.learned)
