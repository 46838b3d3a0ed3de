"""One store, two lives: an older file put back, a log lost or damaged, a copy that runs beside the original, a backup whose mark was
removed, two servers on one store. None of them learns: it is refused, or noticed and only decided from. Where the operator adopts it,
in one life users bring 1, in the other 0, or 1 as well. With noise that depended on the step alone, the difference of the two
published sums was the number of users since the lives parted, to the last digit. Here no difference is a whole number: the noise of
the lives is independent. (A sum is published as a mean in doubles, so whole numbers would show within 1e-9; that a fresh draw of
noise passes within 1e-6 of one, 40 times in 6 ways, has a probability below 1e-3.)"""

import os
import shutil
import sqlite3

import pytest

from harness import HEAD, JOINT, ok, refused, wait_for

BEFORE, AFTER = 8, 12
MOST = BEFORE + AFTER
YAML = HEAD + (f"  - {{name: arms, space: {{states: 1, actions: 2, horizon: 1}}, users: 200, agent: {JOINT}, "
               "monitor: {epsilon: 1}}\n")


def bring(s, n, reward):
    for _ in range(n):
        assert s.told(s.decide("arms", 0), reward=reward) == "finished"


def sums_of(s):
    """What a life has published: the sum after each user."""
    return {point["users"]: point["users"] * point["reward"] for point in s.get("/v1/history?learner=arms")["points"]}


def users_of(s):
    return ok(s.get("/v1/learners"))["learners"][0]["users"]


def live_first(s):
    """The common part of both lives; then the first life, of ones. Its store as it was between the two is in `kept`."""
    bring(s, BEFORE, 1)
    s.wait_users("arms", BEFORE)
    s.end()
    shutil.copy(s.store, s.directory / "kept")
    s.restart()
    bring(s, AFTER, 1)
    s.wait_users("arms", MOST)
    return sums_of(s)


def live_second(s, reward):
    bring(s, AFTER, reward)
    s.wait_users("arms", MOST)
    return sums_of(s)


def are_apart(a, b):
    compared = 0
    for n in range(1, MOST + 1):
        if n <= BEFORE:
            assert a[n] == b[n]  # one history, published once
        elif n in a and n in b:
            difference = a[n] - b[n]
            assert abs(difference - round(difference)) > 1e-6, n
            compared += 1
    assert compared == AFTER


def lose(s, *names):
    for name in names:
        (s.directory / name).unlink(missing_ok=True)


def change(path, statement):
    with sqlite3.connect(path, timeout=5) as store:
        store.execute(statement)
    store.close()


# --- Status


def store_is(s, status):
    """"ok", and it learns; or why it does not."""
    fine = status == "ok"
    assert ok(s.get("/healthz"))["status"] == status
    assert [learner["learning"] for learner in ok(s.get("/v1/learners"))["learners"]] == [fine]
    assert s.figures()["tacit_store_fine"] == fine


def is_closed(s, status):
    """It decides, takes nobody, says why, and `store check` fails; users stay as they are."""
    users = users_of(s)
    store_is(s, status)
    refused(s.observe(s.decide("arms", 0), reward=1), 503, status)
    ok(s.get("/readyz"), 503)
    learner = ok(s.get("/v1/learners"))["learners"][0]
    assert learner["users"] == users and learner["accepted"] <= users
    s.run("store check service.yaml", 1)
    assert "no longer learn" in s.read("err")


def adopt(s, lives):
    """Stops it, adopts the store, and starts it again."""
    if s.process is not None:
        s.run("store adopt service.yaml --original-is-gone", 3)  # not while it runs
        s.end()
    assert "arms: 8 users learned from; (" in s.run("store adopt service.yaml", 2)  # not without the word
    assert "adopted" in s.run("store adopt service.yaml --original-is-gone")
    s.run("store adopt service.yaml --original-is-gone", 2)  # not twice
    s.check()
    s.restart()
    store_is(s, "ok")
    guarantee = ok(s.get("/v1/guarantee?learner=arms"))
    assert guarantee["lives"] == lives and f'"users":8,"lives":{lives}}}' in guarantee
    together, in_all = guarantee["together"]["epsilon"], guarantee["in_all_lives"]["epsilon"]
    assert together < in_all <= lives * together * (1 + 1e-9)
    assert s.ledger("arms")["lives"] == lives


# Equal releases would say that somebody brought the same as somebody else in the same place.
@pytest.mark.parametrize("reward", [0, 1])
def test_an_older_file_is_put_back(serve, reward):
    s = serve(YAML)
    first = live_first(s)

    def put_back():
        s.end()
        lose(s, "service.db-wal", "service.db-shm")
        shutil.copy(s.directory / "kept", s.store)
        s.restart()
        is_closed(s, "behind")
    put_back()
    adopt(s, 2)
    are_apart(first, live_second(s, reward))
    # the file from before the adoption is not taken for the store any more, nor is its mark
    put_back()
    # adopted, too, it is a third line: it knows nothing of the second, but the mark does
    adopt(s, 3)


def lose_log(s):
    lose(s, "service.db-wal", "service.db-shm")


def flip_log(s):
    lose(s, "service.db-shm")
    with open(s.directory / "service.db-wal", "r+b") as log:
        log.seek(60)
        log.write(b"X")


@pytest.mark.parametrize("damage", [lose_log, flip_log])
def test_the_log_is_lost_or_damaged(serve, damage):
    """The log holds what came since the last start, unless the service had two seconds of rest: then this way of losing users does
    not exist, and it is tried again."""
    for _ in range(5):
        s = serve(YAML)
        first = live_first(s)
        s.kill()
        damage(s)
        s.restart()
        if users_of(s) < MOST:
            break
        store_is(s, "ok")
    assert users_of(s) < MOST
    is_closed(s, "behind")
    adopt(s, 2)
    are_apart(first, live_second(s, 0))


@pytest.fixture
def beside(serve):
    """Makes a second server in a directory of its own, with the key and the token of the first one; it has no store yet."""
    def make(first):
        second = serve(YAML, start=False)
        lose(second, *(path.name for path in second.directory.glob("service.db*")))
        shutil.copy(first.store + ".key", second.directory)
        second.token = first.token
        return second
    return make


def test_a_copy_runs_beside_the_original(serve, beside):
    s = serve(YAML)
    first = live_first(s)
    copy = beside(s)
    shutil.copy(s.directory / "kept", copy.store)
    copy.restart()
    is_closed(copy, "behind")  # its mark was left behind
    adopt(copy, 2)
    are_apart(first, live_second(copy, 0))


def test_a_backup_loses_its_mark(serve, beside):
    s = serve(YAML)
    bring(s, BEFORE, 1)
    s.wait_users("arms", BEFORE)
    s.run("store backup service.yaml backup.db")
    change(s.directory / "backup.db", "DELETE FROM meta WHERE name='copy'")
    copy = beside(s)
    shutil.copy(s.directory / "backup.db", copy.store)
    assert "facts about the store were changed" in copy.does_not_start()


# --- Two servers


def link_directory(s, other):
    os.symlink(s.directory, other.directory / "linked")
    other.rewrite(YAML.replace("store: service.db", "store: linked/service.db"))


def link_hard(s, other):
    os.link(s.store, other.store)


@pytest.mark.parametrize("way", [lambda s, other: os.symlink(s.store, other.store), link_hard, link_directory])
def test_a_second_name_of_the_store_is_refused(serve, beside, way):
    s = serve(YAML)
    bring(s, BEFORE, 1)
    other = beside(s)
    way(s, other)
    assert "another server is running on this store" in other.does_not_start(3)
    if way is link_hard:  # a hard link has a log of its own, from which the first one would learn nothing
        done = other.tool("token create service.yaml --name b --scopes read")
        assert done.returncode != 0 and done.stdout == ""
    bring(s, 1, 1)  # the first one goes on
    s.wait_users("arms", BEFORE + 1)
    store_is(s, "ok")


def replace_file(s):
    shutil.copy(s.store, s.directory / "other")
    (s.directory / "other").rename(s.store)


def own_otherwise(s):
    change(s.store, "UPDATE meta SET value=randomblob(16) WHERE name='owner'")


@pytest.mark.parametrize("way", [own_otherwise, replace_file, lambda s: os.unlink(s.store)])
def test_who_is_not_the_owner_any_more_stops(serve, way):
    """A lock that does not work, as on some networks: somebody else has written another owner, or another file is there."""
    s = serve(YAML)
    bring(s, BEFORE, 1)
    s.wait_users("arms", BEFORE)
    s.make_token("b", "read")  # who changes tokens does not take it over
    bring(s, 1, 1)
    s.wait_users("arms", BEFORE + 1)
    decision = s.decide("arms", 0)
    way(s)
    try:
        answer = s.observe(decision, reward=1)
        assert answer.status == 503, answer
        if way is own_otherwise:
            refused(answer, 503, "fenced")
    except OSError:  # without anything to write it looks at its file every two seconds: it may be gone
        assert way is not own_otherwise
    wait_for(lambda: s.process.poll() is not None)
    assert s.stop() == 3


# --- Two at once


def names_of(s, learns=True):
    """What /readyz and /metrics say of the line, which is the same; whether it is continued here."""
    line = ok(s.get("/readyz"), 200 if learns else 503)["line"]
    store, start = line["store"], line["start"]
    assert len(store) == len(start) == 16
    assert s.figures()[f'tacit_store_line{{store="{store}",start="{start}"}}'] == learns
    return store, start


def are_same_store(*names):
    assert len({store for store, _ in names}) == 1 and len({start for _, start in names}) == len(names)


def test_two_services_on_copies_of_one_directory_show_it(serve):
    """Nothing inside a directory that was copied whole tells which is the original; but whoever sees both can."""
    first, second = serve(YAML), serve(YAML)
    before = names_of(first)
    first.end()
    assert names_of(second)[0] != before[0]  # each store has its own
    second.end()
    for path in first.directory.glob("service.db*"):
        shutil.copy2(path, second.directory)
    second.token = first.token
    first.restart()
    second.restart()
    one, two = names_of(first), names_of(second)
    are_same_store(before, one, two)
    # a new key and an adoption leave the name of the store as it is; a copy continues nothing
    first.run("store backup service.yaml kept")
    first.end()
    second.end()
    second.run("store rekey service.yaml --yes")
    shutil.copy(first.directory / "kept", first.store)
    first.restart()
    second.restart()
    rekeyed = names_of(second)
    are_same_store(names_of(first, False), rekeyed, two)
    first.end()
    first.run("store adopt service.yaml --original-is-gone")
    first.restart()
    are_same_store(names_of(first), rekeyed)
