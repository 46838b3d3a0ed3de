"""Stores that are gone, were emptied, or have lost a table: nobody is served from them, and none is made in their place, since a
new one would let everybody take part once more."""

import shutil
import sqlite3

import pytest

from harness import JOINT, PLAIN

NAMED = f"""
listen: 127.0.0.1:0
store: service.db
key: own
learners: [{{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 100, agent: {JOINT}}}]
"""
ANN = {"learner": "arms", "state": 0, "user": "ann"}
NOTHING = "service.db", "service.db-wal", "service.db-shm"


def remove(s, *names):
    for name in names:
        (s.directory / name).unlink(missing_ok=True)


def serve_somebody(s, anew=False):
    """One user takes part, in a store that is there or in a new one; then it is stopped, and its store copied."""
    if anew:
        s.token = s.make_token()
    s.restart()
    assert s.told(s.decide(**ANN), reward=1) == "finished"
    s.wait_users("arms", 1)
    s.end()
    shutil.copy(s.store, s.directory / "kept")


def is_refused(s, why):
    """Neither a start nor a new token works, and this is the reason."""
    assert why in s.does_not_start()
    done = s.tool("token create service.yaml --name other --scopes read")
    assert done.returncode != 0 and done.stdout == ""


def put_back(s):
    remove(s, *NOTHING)
    shutil.copy(s.directory / "kept", s.store)


def knows_ann(s):
    s.restart()
    assert s.decide(**ANN)["learned"] is False
    s.end()


@pytest.mark.parametrize("own", [False, True])
def test_a_store_that_is_gone_or_empty_is_not_begun_anew(serve, own):
    s = serve(PLAIN, start=False)
    if own:  # the key is there before the store, as it should
        remove(s, *(path.name for path in s.directory.glob("service.db*")))
        s.rewrite(NAMED)
        s.write("own", 32 * "\0")
        (s.directory / "own").chmod(0o600)
    serve_somebody(s, anew=own)
    s.write("service.db", "")
    is_refused(s, "the store is empty")
    assert s.read("service.db") == ""
    remove(s, "service.db")
    is_refused(s, "the store is gone")
    assert not (s.directory / "service.db").exists()
    put_back(s)
    knows_ann(s)
    # whoever does begin anew says so
    remove(s, *(path.name for path in s.directory.glob("service.db*")))
    s.restart()


def test_a_first_start_that_was_killed_is_begun_again(serve):
    """Wherever the very first start was killed: the key is there, the lock, an empty file, one without tables."""
    s = serve(start=False)
    for left in "key", "lock", "empty", "header":
        if left == "key":
            remove(s, *(path.name for path in s.directory.glob("service.db*")))
            s.write("service.db.key", "0123456789abcdef0123456789abcdef")
            (s.directory / "service.db.key").chmod(0o600)
        else:
            remove(s, *NOTHING)
            s.write("service.db.lock", "")
        if left == "empty":
            s.write("service.db", "")
        if left == "header":
            sqlite3.connect(s.store).execute("PRAGMA journal_mode=WAL").connection.close()
            assert s.read("service.db") != ""
        serve_somebody(s, anew=True)
        assert s.read("service.db.lock") != ""


@pytest.mark.parametrize("thing", [
    "TABLE meta", "TABLE learner", "TABLE open", "INDEX open_by_age", "TABLE input", "TABLE seen", "TABLE answer",
    "TABLE decision", "TABLE person", "TABLE ledger", "TABLE history", "INDEX answer_by_age", "TABLE token"])
def test_a_store_without_one_of_its_tables_is_refused(shared, thing):
    shared.sql(f"DROP {thing}")
    is_refused(shared, f"damaged: {thing.split()[1]} is missing")
    put_back(shared)


RAISE_WALL = "CREATE TRIGGER t AFTER INSERT ON seen BEGIN UPDATE learner SET users_limit=1000000; END"


@pytest.mark.parametrize("statements", [
    [RAISE_WALL], ["CREATE VIEW v AS SELECT 1"], ["CREATE TABLE more(a)"], ["CREATE INDEX i ON seen(content)"],
    # a name that tables of SQLite have
    ["CREATE TRIGGER t AFTER INSERT ON seen BEGIN DELETE FROM seen; END", "PRAGMA writable_schema=ON",
     "UPDATE sqlite_master SET name='sqlite_t', sql=replace(sql, 'TRIGGER t', 'TRIGGER sqlite_t') WHERE name='t'"],
])
def test_a_store_with_something_more_is_refused(shared, statements):
    """A trigger would act inside the service's own transactions, whose end proves whatever it has done: it could raise the wall."""
    with sqlite3.connect(shared.store) as store:
        for statement in statements:
            store.execute(statement)
    store.close()
    is_refused(shared, "something that tacit did not create")
    put_back(shared)


@pytest.fixture(scope="module")
def shared(serve_all):
    """One that tests break, and put back."""
    s = serve_all(start=False)
    serve_somebody(s)
    yield s
    knows_ann(s)


def test_a_trigger_that_comes_while_it_serves_does_nothing(serve):
    s = serve()
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    s.sql(RAISE_WALL)
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    s.wait_users("arms", 2)
    s.end()
    s.sql("DROP TRIGGER t")
    s.restart()
    assert s.ledger("arms")["limit"] == 100000
