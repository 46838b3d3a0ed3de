"""The service as systemd runs it: its key is a credential, and it tells how far it is."""

import os
import signal
import socket

import pytest

from harness import HEAD, JOINT, Server, ok

YAML = HEAD + f"  - {{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 1000, agent: {JOINT}}}\n"


@pytest.fixture
def server():
    s = Server(YAML)
    yield s
    s.close()


# --- The credential


def test_the_credential_opens_the_store_and_no_other_key_is_made(server, monkeypatch):
    s = server
    key = s.directory / "service.db.key"

    def credential(name, first, mode):
        """A directory with the key in it, as systemd makes them: nobody may write."""
        path = s.directory / name
        path.mkdir()
        (path / "tacit-key").write_bytes(bytes([first]) + bytes(31))
        (path / "tacit-key").chmod(mode)
        path.chmod(0o500)
        return str(path)
    mine, other = credential("credentials", 1, 0o400), credential("others", 2, 0o400)
    listed = credential("listed", 1, 0o440)  # by an access list, which looks like this
    readable = credential("open", 1, 0o444)  # everybody may read it
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", mine)  # for `tacit token`, too
    s.token = s.make_token()
    s.restart()
    assert not key.exists()
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    s.kill()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", listed)
    s.restart()
    assert s.ledger("arms")["accepted"] == 1
    s.end()
    for wrong in other, readable, "/nowhere":  # and no key is made for a store that has one
        monkeypatch.setenv("CREDENTIALS_DIRECTORY", wrong)
        s.does_not_start()
    assert not key.exists()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", mine)
    s.restart()
    assert s.ledger("arms")["accepted"] == 1
    for path in s.directory.glob("*/"):
        if path.is_dir():
            path.chmod(0o700)


# --- What the manager hears


@pytest.mark.parametrize("abstract", [False, True])
def test_the_manager_hears_when_it_serves_reloads_and_stops(server, abstract):
    name = f"@tacit-test-notify-{os.getpid()}" if abstract else str(server.directory / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name.replace("@", "\0", 1))
        manager.settimeout(20)
        server.environment["NOTIFY_SOCKET"] = name

        def hears(text):
            assert manager.recv(256).decode().startswith(text)
        server.restart()
        hears("READY=1\nSTATUS=serving on http://127.0.0.1:")
        server.send(signal.SIGHUP)
        hears("RELOADING=1\nMONOTONIC_USEC=")
        hears("READY=1\nSTATUS=serving on http://127.0.0.1:")
        server.end()
        hears("STOPPING=1")


def test_signals_are_heard_at_any_moment(server):
    """Whatever the service is doing just then: a signal is neither lost nor deadly."""
    for i in range(12):
        server.restart()
        for _ in range(i):
            server.send(signal.SIGHUP)
        assert server.stop(signal.SIGINT if i % 2 else signal.SIGTERM) == 0


@pytest.mark.parametrize("name", ["/nowhere/at/all", "", "relative", "@"])
def test_a_manager_that_is_not_there_does_no_harm(server, name):
    server.environment["NOTIFY_SOCKET"] = name
    server.restart()
    ok(server.get("/healthz"))
