"""Who may ask, how often and how slowly, and what nobody learns from answers, logs and files."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import time

import pytest

from harness import PLAIN, TACIT, ok, refused, until, wait_for

ARM = {"learner": "arms", "state": 0}


@pytest.fixture(scope="module")
def openapi():
    return json.loads(subprocess.run([TACIT, "serve", "--openapi"], capture_output=True, check=True).stdout)


def limited(limit):
    """The plain service with one more limit."""
    return PLAIN.replace("header: 8192", f"header: 8192, {limit}")


def head_of(s, size):
    return f"POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {s.token}\r\nContent-Length: {size}\r\n\r\n".encode()


# --- Connections


@contextlib.contextmanager
def slow(s):
    """Connections on which half a request has come, in its head or in its body."""
    with contextlib.ExitStack() as links:
        text = head_of(s, 30) + b'{"learner":'
        slow_ones = [links.enter_context(s.connect()) for _ in range(20)]
        for i, link in enumerate(slow_ones):
            link.sendall(text[:10] if i % 2 else text)
        yield slow_ones


def ask_and_hang_up(s, path, body, key=""):
    """The answer to a request, after which the client says no more."""
    text = json.dumps(body)
    with s.connect() as link:
        link.sendall(head_of(s, len(text)).replace(b"/v1/decide", path.encode()).replace(b"Host: x", b"Host: x" + key.encode())
                     + text.encode())
        link.shutdown(socket.SHUT_WR)
        heard = b""
        while more := link.recv(65536):
            heard += more
    assert heard.startswith(b"HTTP/1.1 200 "), heard
    return heard.decode()


def test_slow_and_half_closed_clients_do_not_block_others(serve):
    s = serve(limited("timeout: 5"))
    with slow(s):
        for _ in range(50):
            s.decide("arms", 0)
        ask_and_hang_up(s, "/v1/decide", ARM)  # half closed: the request is whole, and the answer comes
        ok(s.get("/healthz"))


def test_slow_clients_are_sent_away(serve):
    s = serve(limited("timeout: 1"))
    with slow(s) as links:
        for link in links:
            with contextlib.suppress(ConnectionError):
                while link.recv(65536):
                    pass

    def answers():
        try:
            return s.get("/healthz").status == 200
        except OSError:  # it may be sent away itself
            return False
    wait_for(answers)


def test_who_hangs_up_on_one_side_hears_what_was_written(serve):
    s = serve("threads: 1\n" + PLAIN)
    for i in range(10):
        decision = s.decide("arms", 0)["decision"]
        with s.connect():  # older, and idle: the thread has more than one to look after
            assert '"finished"' in ask_and_hang_up(s, "/v1/observe", {"decision": decision, "reward": 1})
            ask_and_hang_up(s, "/v1/decide", ARM, f"\r\nIdempotency-Key: 0123456789abcde{i}")
    assert s.ledger("arms")["accepted"] == 10


def count_sockets(s):
    """The sockets that the server has open."""
    try:
        files = list(pathlib.Path(f"/proc/{s.process.pid}/fd").iterdir())
    except PermissionError:
        pytest.skip("the process cannot be dumped, so only root may look")
    n = 0
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            n += os.readlink(file).startswith("socket:")
    return n


def test_wherever_a_connection_is_broken_off_its_place_comes_back(serve):
    s = serve(limited("timeout: 5"))
    assert until(lambda: count_sockets(s) == 1)  # the one that listens
    held = []
    for way in "silent", "half closed", "closed", "reset":
        # an observation, which waits for the disk, and after it a question, the last two points of which are whole
        told = json.dumps({"decision": s.decide("arms", 0)["decision"], "reward": 1}).encode()
        first = head_of(s, len(told)).replace(b"/v1/decide", b"/v1/observe") + told
        text = first + head_of(s, 0).replace(b"POST /v1/decide", b"GET /healthz").replace(b"Content-Length: 0\r\n", b"")
        start = text.index(b"\r\n\r\n")
        for point in (0, 5, 30, start, start + 4, start + 9, len(first), len(first) + 5, len(text) - 1, len(text)):
            link = s.connect()
            link.sendall(text[:point])
            if way == "half closed":
                link.shutdown(socket.SHUT_WR)
            if way == "reset":
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if way in ("closed", "reset"):
                link.close()
            else:
                held.append(link)
    # the clients hold on to what they have not closed; the server does not
    assert until(lambda: count_sockets(s) == 1)
    ok(s.get("/healthz"))
    for link in held:
        link.close()


# --- Tokens


def test_tokens_open_what_their_scopes_say(serve):
    s = serve()
    decider, observer, reader = (s.make_token(scope, scope) for scope in ("decide", "observe", "read"))
    # the service does not know them yet
    refused(s.post("/v1/decide", ARM, token=decider), 401, "token")
    s.send(signal.SIGHUP)
    wait_for(lambda: s.get("/v1/learners", token=reader).status == 200)
    ok(s.post("/v1/decide", ARM, token=decider))
    # schemes have no case
    ok(s.post("/v1/decide", ARM, token="", headers={"Authorization": f"bearer {decider}"}))
    refused(s.post("/v1/decide", ARM, token=observer), 403, "scope")
    refused(s.post("/v1/observe", {}, token=decider), 403, "scope")
    refused(s.post("/v1/observe", {}, token=observer), 422, "missing", "decision")
    refused(s.get("/metrics", token=decider), 403, "scope")
    ok(s.get("/metrics", token=reader))
    refused(s.get("/v1/ledger", token=""), 401, "token")
    refused(s.post("/v1/decide", ARM, token="tacit_wrong"), 401, "token")
    for path in "/healthz", "/":
        ok(s.get(path, token=""))
    s.run("token revoke service.yaml --name decide")
    s.send(signal.SIGHUP)
    wait_for(lambda: s.post("/v1/decide", ARM, token=decider).status != 200)
    refused(s.post("/v1/decide", ARM, token=decider), 401, "token")
    listed = s.run("token list service.yaml")
    assert "revoked" in listed and decider not in listed


def test_tokens_are_renewed_for_ever(serve):
    s = serve()
    first = s.make_token("web", "decide")
    again = "token create service.yaml --name web --scopes decide"
    s.run(again, 2)  # it is taken
    s.run("token revoke service.yaml --name web")
    second = s.make_token("web", "decide")
    assert first != second
    s.run(again, 2)
    s.end()
    # years later
    s.sql("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 253) INSERT INTO token(name, hash, scopes, "
          "created, revoked) SELECT 'old' || i || '.', randomblob(32), 1, i, 1 FROM n")
    other = s.make_token("new", "decide")
    listed = s.run("token list service.yaml")
    assert "old0. " not in listed  # the oldest that was revoked, and it alone
    assert "old1. " in listed and "old253. " in listed
    assert s.start()
    ok(s.get("/v1/learners"))  # the very first one
    assert [s.post("/v1/decide", ARM, token=token).status for token in (first, second, other)] == [401, 200, 200]
    s.end()
    # all of them valid: none is forgotten
    s.sql("UPDATE token SET revoked = 0")
    done = s.tool("token create service.yaml --name more --scopes read")
    assert done.returncode != 0 and "at most 256 valid tokens" in done.stderr
    s.run("token revoke service.yaml --name old7.")
    s.make_token("more", "read")


# The routes that a scope opens, beside those that are open. All others are closed: every route with every scope is asked.
OPENS = {
    "decide": {"POST /v1/episodes", "POST /v1/episodes/x/decide", "POST /v1/decide"},
    "observe": {"POST /v1/episodes/x/observe", "POST /v1/observe"},
    "report": {"POST /v1/reports"},
    "read": {"GET /v1/learners", "GET /v1/ledger", "GET /v1/guarantee", "GET /v1/history", "GET /metrics"},
}
OPEN = {"GET /v1/billboard", "GET /healthz", "GET /readyz", "GET /", "GET /live.css", "GET /live.js", "GET /demo", "GET /demo/x"}


def test_every_route_asks_for_its_scope(serve, openapi):
    s = serve(start=False)
    tokens = {scope: s.make_token(scope, scope) for scope in OPENS}
    assert s.start()
    routes = OPEN.union(*OPENS.values())
    for route in routes:
        method, path = route.split()
        body = {} if method == "POST" else None

        def status(token, method=method, path=path, body=body):
            return s.ask(method, path, body, token).status
        assert (status("") == 401) == (route not in OPEN), route
        assert status(s.token) not in (401, 403), route
        for scope, token in tokens.items():
            assert status(token) != 401 and (status(token) != 403) == (route in OPEN or route in OPENS[scope]), (route, scope)
    # none was forgotten: in the document {episode} and {file} stand for x
    documented = {f"{method.upper()} {path}" for path, methods in openapi["paths"].items() for method in methods}
    assert len(routes) == len(documented), documented
    assert s.ledger("arms")["accepted"] == 0


def test_what_is_answered_is_written_down(serve, openapi):
    """Every key of an answer is named in the reference, at its route."""
    s = serve()
    assert s.told(s.decide("few", 0), reward=1) == "finished"
    s.wait_users("few", 1)

    def keys_of(shape):
        """The keys of a shape, with those of the shapes of which it is made."""
        while "$ref" in shape:
            shape = openapi["components"]["schemas"][shape["$ref"].rsplit("/", 1)[1]]
        return set(shape.get("properties", ())).union(*(keys_of(part) for kind in ("allOf", "oneOf", "anyOf")
                                                        for part in shape.get(kind, ())))
    for path in "/v1/billboard", "/v1/learners", "/v1/ledger", "/v1/guarantee", "/v1/history", "/healthz":
        named = keys_of(openapi["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"])
        for learner in "few", "ours":
            assert set(ok(s.get(f"{path}?learner={learner}")).json) <= named, path


# --- What nobody learns


def test_the_page_runs_nothing_inline(plain):
    """The page has no script and no style but those that the service sends, and the browser is told so."""
    answer = ok(plain.get("/", token=""))
    everything = answer.text + str(answer.headers)
    assert "script-src 'self'" in everything and "style-src 'self'" in everything
    assert not [word for word in ("unsafe", "<style", "<script>") if word in everything]


def test_a_token_that_asks_too_often_is_told_to_wait(serve):
    """However fast or slow the two sides are: in t seconds a token gets at most one second's worth and what came in since."""
    rate = 2
    s = serve(limited(f"rate: {rate}"))
    statuses = []
    start = time.monotonic()
    while statuses.count(429) < 10 and len(statuses) < 2000:
        answer = s.get("/v1/learners")
        statuses.append(answer.status)
        assert answer.status == 200 or (answer.status == 429 and answer.headers["Retry-After"])
    assert statuses.count(429) == 10
    assert 1 <= statuses.count(200) <= rate + rate * (time.monotonic() - start)
    wait_for(lambda: s.get("/v1/learners").status == 200)


def test_planted_values_are_found_nowhere(serve):
    s = serve()
    person, reward, field = "zanzibar-person-4711", 0.123456789, "zanzibar-field"
    path, _ = s.open_episode("walk", user=person)
    assert s.told(s.decide(path=path, state=2), reward=reward, next_state=1) == "open"
    decision = s.decide("arms", 2, user=person)
    assert s.told(decision, reward=reward) == "finished"
    answers = [s.post("/v1/decide", {field: 1}), s.post("/v1/decide", f'{{"user":"{person}'), s.post(f"/v1/{field}", {}),
               s.observe(decision, reward=0.123456789123)]
    s.wait_users("arms", 1)
    everything = "".join(answer.text for answer in [*answers, ok(s.get("/metrics"))])
    assert str(s.directory) not in everything
    for planted in person, str(reward), field:
        assert planted not in everything
    raw = struct.pack("d", reward)  # as the machine writes it
    for file in s.directory.iterdir():  # store, write-ahead log, err
        text = file.read_bytes()
        for planted in person.encode(), str(reward).encode(), field.encode(), raw:
            assert planted not in text, file
    assert stat.S_IMODE(os.stat(s.store).st_mode) & 0o077 == 0
    # nor stays it, sealed, in the log of a service that has nothing to do
    log = pathlib.Path(s.store + "-wal")
    assert until(lambda: not log.exists() or log.stat().st_size == 0)
