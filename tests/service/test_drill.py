"""The drill of docs/how-to/serve.md, for real: serve, back up, go on, lose the disk, restore, adopt, learn again. The same with a key
that is changed. And a log that is cut, or damaged, at every page: whoever was acknowledged is there, or it is noticed."""

import os
import shutil
import stat

import pytest

from harness import JOINT, Server, ok

YAML = f"""
listen: 127.0.0.1:0
store: disk/service.db
mark: other/service.mark
key: own/key
learners: [{{name: arms, space: {{states: 1, actions: 2, horizon: 1}}, users: 2000, agent: {JOINT}}}]
"""


@pytest.fixture
def drill():
    """A service whose store, mark and key are in directories of their own."""
    s = Server(YAML)
    for name in "disk", "other", "own":
        (s.directory / name).mkdir()
    key = s.directory / "own" / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    s.token = s.make_token()
    assert s.start()
    yield s
    s.close()


def bring(s, n):
    for _ in range(n):
        assert s.told(s.decide("arms", 0), reward=1) == "finished"


def store_is(s, status):
    """"ok", or why it must not be learned from."""
    assert ok(s.get("/healthz"))["status"] == status


def replace(s, directory, by):
    """The directory is lost, and a copy of another is in its place."""
    shutil.rmtree(s.directory / directory)
    shutil.copytree(s.directory / by, s.directory / directory)


def test_a_lost_disk_is_replaced_by_a_backup(drill):
    s, store = drill, drill.directory / "disk" / "service.db"
    bring(s, 20)
    s.wait_users("arms", 20)
    s.run("store backup service.yaml backup.db")
    bring(s, 10)  # they will be missing
    s.kill()
    shutil.rmtree(store.parent)
    store.parent.mkdir()
    shutil.copy(s.directory / "backup.db", store)
    store.chmod(0o600)
    assert s.start()  # meanwhile it decides
    store_is(s, "copy")
    s.run("store check service.yaml", 1)
    s.end()
    s.run("store adopt service.yaml", 2)
    s.run("store adopt service.yaml --original-is-gone")
    s.check()
    assert s.start()
    store_is(s, "ok")
    bring(s, 5)
    s.wait_users("arms", 25)
    guarantee = ok(s.get("/v1/guarantee?learner=arms"))
    assert guarantee["lives"] == 2 and '"users":20,"lives":2}' in guarantee
    # for good: also in a backup of it, and one more when that is adopted
    s.run("store backup service.yaml second.db")
    s.end()
    for file in store.parent.glob("service.db*"):
        file.unlink()
    shutil.copy(s.directory / "second.db", store)
    s.run("store adopt service.yaml --original-is-gone")
    assert s.start()
    assert s.ledger("arms")["lives"] == 3


def test_the_whole_directory_moves_without_a_price(drill):
    s = drill
    bring(s, 5)
    s.end()
    for name in "disk", "other", "own":
        shutil.copytree(s.directory / name, s.directory / "there" / name)
        shutil.rmtree(s.directory / name)
        (s.directory / "there" / name).rename(s.directory / name)
    assert s.start()
    store_is(s, "ok")
    bring(s, 5)
    s.wait_users("arms", 10)
    assert s.ledger("arms")["lives"] == 1


def overwrite(path, at, text):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(text)


# One slot torn: the other one counts. Both, or none: nobody can tell.
@pytest.mark.parametrize("damage, status", [
    (lambda mark: overwrite(mark, 30, b"XXXX"), "ok"),
    (lambda mark: overwrite(mark, 542, b"XXXX"), "ok"),
    (lambda mark: mark.write_bytes(bytes(20)), "behind"),
    (os.unlink, "behind"),
])
def test_a_mark_that_is_damaged_in_one_place_still_counts(drill, damage, status):
    bring(drill, 3)
    drill.end()
    damage(drill.directory / "other" / "service.mark")
    assert drill.start()
    store_is(drill, status)


# --- Keys


def test_a_key_is_changed(drill):
    s, own = drill, drill.directory / "own"
    bring(s, 3)
    ticket = s.decide("arms", 0, user="ann")
    s.run("store rekey service.yaml --yes", 3)  # not while it runs
    s.end()
    old = (own / "key").read_bytes()
    s.run("store rekey service.yaml --yes")
    assert (own / "key").read_bytes() != old and not (own / "key.new").exists()
    assert (own / "key.old").read_bytes() == old
    assert [stat.S_IMODE((own / name).stat().st_mode) for name in ("key", "key.old")] == [0o600, 0o600]
    s.check()
    assert s.start()
    assert s.told(ticket, reward=1) == "finished"  # an old ticket is good
    s.wait_users("arms", 4)
    s.end()
    # cut short before the new key took the place of the old one: a start finds it and puts it there
    (own / "key").rename(own / "key.new")
    (own / "key").write_bytes(old)
    (own / "key").chmod(0o600)
    s.check()
    assert s.start()
    assert (own / "key").read_bytes() != old and not (own / "key.new").exists()
    s.end()
    # elsewhere, and again, as after an interruption
    for _ in range(2):
        s.run("store rekey service.yaml --new-key fresh --yes")
    s.does_not_start()
    (s.directory / "fresh").rename(own / "key")
    assert s.start()
    store_is(s, "ok")
    s.wait_users("arms", 4)


# --- The log

USERS, HEADER, FRAME = 12, 32, 24 + 4096


def test_a_log_that_is_cut_or_flipped_at_any_page_is_noticed(drill):
    """The service on what is left: everybody is there, or it says that it went back, or it does not start."""
    s, log = drill, drill.directory / "disk" / "service.db-wal"
    bring(s, USERS)
    s.kill()
    for name in "disk", "other":
        shutil.copytree(s.directory / name, s.directory / f"kept-{name}")
    pages = (log.stat().st_size - HEADER) // FRAME
    assert pages > 0
    for place in [(page, flip) for page in range(pages + 1) for flip in (False, True)]:
        page, flip = place
        if flip and page == pages:
            continue
        for name in "disk", "other":
            replace(s, name, f"kept-{name}")
        (log.parent / "service.db-shm").unlink(missing_ok=True)
        if flip:
            overwrite(log, HEADER + page * FRAME + 1000, b"\377\001")
        else:
            os.truncate(log, HEADER + page * FRAME)
        if not s.start():
            assert s.code == 2
            continue
        status = ok(s.get("/healthz"))["status"]
        assert status == "behind" or (status == "ok" and s.ledger("arms")["accepted"] == USERS), (place, status)
        s.kill()
