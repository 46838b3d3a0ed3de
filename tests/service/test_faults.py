"""Stores, disks and clocks in trouble, and an end under load: what was acknowledged is kept, and what cannot be kept is not
acknowledged."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import sqlite3
import stat
import threading

import pytest

from harness import FAULT_IO, JOINT, MAY_PRELOAD, PLAIN, ok, refused, until, wait_for


def test_a_second_server_on_the_store_refuses(serve):
    s = serve()
    done = s.tool("serve service.yaml", timeout=60)
    assert done.returncode == 3 and "another server is running" in done.stderr


def test_a_store_of_another_key_or_with_damage_is_refused(serve):
    s = serve()
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    s.end()
    s.check()
    key, kept = s.directory / "service.db.key", s.directory / "kept"
    key.rename(kept)
    s.does_not_start()  # a store without its key
    key.write_bytes(bytes(32))
    key.chmod(0o600)
    s.does_not_start()  # with another
    kept.rename(key)
    key.chmod(0o644)
    s.does_not_start()  # with one that others may read
    key.chmod(0o600)
    # damaged pages, of a kind that there is not
    with open(s.store, "r+b") as store:
        store.seek(4096)
        store.write(b"\245" * 32768)
    s.run("store check service.yaml", 1)
    assert not s.start() and s.code in (2, 3)
    s.write("service.db", "nonsense\n")  # not a database
    assert not s.start() and s.code in (2, 3)


def test_a_damaged_schema_is_not_quoted(serve):
    s = serve()
    s.end()
    with sqlite3.connect(s.store) as store:
        store.execute("PRAGMA writable_schema=ON")
        store.execute("UPDATE sqlite_master SET name=X'53454352455401a5ff1b5b324a', sql=X'53454352455401a5ff1b5b324a' "
                      "WHERE name='token'")
    store.close()
    assert not s.start() and s.code in (2, 3)
    said = (s.directory / "err").read_bytes()
    assert b"damaged" in said
    for tool in "store check", "store export", "token list":
        done = s.tool(f"{tool} service.yaml")
        assert done.returncode != 0
        said += done.stderr.encode()
    assert b"SECRET" not in said and not [byte for byte in said if not 32 <= byte < 127 and byte != 10]


def test_changed_settings_need_another_name(serve):
    s = serve()
    s.end()
    s.rewrite(PLAIN.replace(JOINT, JOINT.replace("epsilon: 1", "epsilon: 9"), 1))
    assert "give the changed learner another name" in s.does_not_start()


@pytest.mark.skipif(not MAY_PRELOAD, reason="a sanitizer's run-time must be the first library")
def test_a_full_disk_acknowledges_nothing_and_recovers(serve):
    s = serve(start=False)
    full = s.directory / "full"  # the store's disk is full while this file exists
    s.environment.update(LD_PRELOAD=FAULT_IO, TACIT_FAULT_FULL_FLAG=str(full), TACIT_FAULT_PATH="/service.db")
    assert s.start()
    decision = s.decide("arms", 0)
    full.touch()
    refused(s.observe(decision, reward=1), 503, "store")
    assert ok(s.get("/healthz"))["status"] == "failing"
    assert ok(s.get("/readyz"), 503)["reasons"] == ["failing"]
    s.decide("arms", 0)  # it goes on deciding
    full.unlink()
    assert "cannot write" in s.read("err")
    assert s.told(decision, reward=1) == "finished"
    ok(s.get("/readyz"))
    assert "the store can be written again" in s.read("err")
    s.wait_users("arms", 1)
    assert s.ledger("arms")["accepted"] == 1


def test_a_read_only_store_is_refused(serve):
    s = serve()
    s.end()
    if os.geteuid() == 0:  # nothing is read-only for root
        s.user = 65534
        for path in s.directory, *s.directory.iterdir():
            os.chown(path, s.user, -1)
    os.chmod(s.store, 0o400)
    s.directory.chmod(0o500)
    try:
        s.does_not_start(3)
    except PermissionError:
        pytest.skip("the program lies in a directory that only root may enter")
    finally:
        s.directory.chmod(0o700)


def test_a_copy_decides_but_does_not_learn(serve):
    s = serve()
    for i in range(5):
        assert s.told(s.decide("arms", i % 3), reward=1) == "finished"
    s.wait_users("arms", 5)
    s.run("store backup service.yaml copy.db")
    assert stat.S_IMODE((s.directory / "copy.db").stat().st_mode) == 0o600
    s.run("store backup service.yaml copy.db", 2)
    s.run("store export service.yaml")
    s.end()
    shutil.move(s.directory / "copy.db", s.store)
    s.restart()
    decision = s.decide("arms", 0)
    assert decision["learned"] is False
    assert refused(s.observe(decision, reward=1), 503, "copy").headers["Retry-After"]
    refused(s.post("/v1/reports", {"learner": "ours", "report": ""}), 503, "copy")
    ledger = s.ledger("arms")
    assert ledger["users"] == 5 and "the store is a copy" in ledger


# --- Ends


class Client(threading.Thread):
    """Users of `arms` until the service ends. Some keep their connection, on which the next request may begin at any moment of the
    end."""

    def __init__(self, s, keeps):
        super().__init__()
        self.server, self.keeps, self.acknowledged = s, keeps, 0

    def ask(self, link, path, body):
        link.request("POST", path, json.dumps(body), {"Authorization": f"Bearer {self.server.token}"})
        response = link.getresponse()
        heard = response.read()
        if response.status != 200:
            raise ConnectionError
        return json.loads(heard)

    def run(self):
        link = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            while True:
                decision = self.ask(link, "/v1/decide", {"learner": "arms", "state": 0})["decision"]
                self.ask(link, "/v1/observe", {"decision": decision, "reward": 0.5})
                self.acknowledged += 1
                if not self.keeps:
                    link.close()
        except (OSError, http.client.HTTPException):
            link.close()


def test_sigterm_under_load_loses_nothing(serve):
    s = serve()
    crowd, rounds, acknowledged = 8, 5, 0
    for _ in range(rounds):
        clients = [Client(s, i % 2 == 0) for i in range(crowd)]
        for client in clients:
            client.start()
        until(lambda: sum(client.acknowledged for client in clients) >= 5 * crowd)
        s.end()  # exit status 0
        for client in clients:
            client.join()
        acknowledged += sum(client.acknowledged for client in clients)
        s.restart()
    assert acknowledged >= 5 * crowd * rounds
    s.wait_users("arms", acknowledged)
    # an answer may have been lost on its way
    assert acknowledged <= s.ledger("arms")["accepted"] <= acknowledged + rounds * crowd


def test_a_service_that_drains_is_not_ready_and_serves_on(serve):
    """Who asks /readyz hears that it ends before it does, and everything is answered until then."""
    s = serve("drain: 600\n" + PLAIN)
    s.send(signal.SIGTERM)
    wait_for(lambda: s.get("/readyz").status == 503)
    assert s.get("/readyz")["reasons"] == ["stopping"]
    for _ in range(3):
        assert s.told(s.decide("arms", 0), reward=1) == "finished"
    assert s.process.poll() is None
    s.end()  # the second signal ends the wait


def test_an_answer_during_the_end_closes_its_connection(serve):
    """While somebody slow is waited for, the others are answered, and told that this was the last answer on their connection."""
    s = serve()
    with contextlib.ExitStack() as open_:
        slow = open_.enter_context(s.connect())
        slow.sendall(f"POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {s.token}\r\nContent-Length: 30\r\n\r\n{{"
                     .encode())
        links = [open_.enter_context(contextlib.closing(http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)))
                 for _ in range(100)]

        def ask(link):
            link.request("GET", "/healthz")
            response = link.getresponse()
            response.read()
            assert response.status == 200
            return response.headers["Connection"]
        assert [ask(link) for link in links] == [None] * len(links)
        s.send(signal.SIGTERM)
        wait_for(lambda: "stopping" in s.read("err"))
        # the log may say so a moment before the listener knows it: one after the other, until one is told
        assert until(lambda: ask(links.pop()) == "close")
    s.end()
