"""Clients that never fall silent and never come to an end: a byte now and then. None keeps its place for longer than the limits say,
wherever in a request it is. A slow machine only makes them end sooner, by the limit for silence."""

import itertools
import socket

from harness import JOINT, until, wait_for

CROWDED = f"""
listen: 127.0.0.1:0
store: service.db
threads: 1
limits: {{timeout: 1, connections: 10, per_address: 0, body: 16000}}
learners: [{{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 100, agent: {JOINT}}}]
"""
DROP_EVERY = 10  # times 10 ms: two minutes of drops do not fill a head
GET = "GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n"

# Where in a request it becomes slow, after a request that was answered or not, and what it goes on with.
WAYS = [
    (False, "", "\n"),  # empty lines before a request are skipped
    (False, "GET /health", "z"),
    (False, GET + "X-Drops: ", "z"),
    (True, "", "\n"),
    (True, "GET /health", "z"),
    (True, GET + "X-Drops: ", "z"),
    (False, POST + "Content-Length: 16000\r\n\r\n{", " "),
    (True, POST + "Content-Length: 16000\r\n\r\n{", " "),
    (False, POST + "Transfer-Encoding: chunked\r\n\r\n3e80\r\n{", " "),
    (False, POST + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX-Drops: ", "z"),
]


class Dripping:
    """A client that is slow in one of these ways."""

    def __init__(self, s, kept, text, byte):
        self.byte = byte.encode()
        self.link = wait_for(lambda: self._ask_first(s)) if kept else s.connect()
        self.link.setblocking(False)
        try:
            self.link.send(text.replace("TOKEN", s.token).encode())
        except ConnectionError:
            pass

    @staticmethod
    def _ask_first(s):
        link = s.connect()
        link.sendall(GET.encode() + b"\r\n")
        if link.recv(4096).startswith(b"HTTP/1.1 200 "):
            return link
        link.close()
        return None

    def is_there(self):
        try:
            while self.link.recv(4096):  # what it was answered before
                pass
        except BlockingIOError:
            return True
        except ConnectionError:
            pass
        return False

    def drip(self):
        try:
            self.link.send(self.byte)
        except (BlockingIOError, ConnectionError):
            pass


def turn_of(clients):
    """Looks at all of them; every tenth time each that is still there sends a byte. How many those are."""
    turns = itertools.count(1)

    def turn():
        there = [client for client in clients if client.is_there()]
        if next(turns) % DROP_EVERY == 0:
            for client in there:
                client.drip()
        return len(there)
    return turn


def test_who_sends_drops_is_sent_away_wherever_in_a_request(serve):
    s = serve(CROWDED)
    clients = [Dripping(s, *way) for way in WAYS]
    turn = turn_of(clients)
    until(lambda: turn() == 0)
    assert [way for client, way in zip(clients, WAYS) if client.is_there()] == []
    for client in clients:
        client.link.close()


def test_drops_on_all_connections_keep_nobody_out(serve):
    """All places are taken by such clients. Somebody else may be told that there is no room, and is served all the same, while they
    go on."""
    s = serve(CROWDED)
    clients = [Dripping(s, *WAYS[i % 3]) for i in range(len(WAYS))]
    turn = turn_of(clients)

    def ask_beside():
        with s.connect() as link:
            link.sendall(GET.encode() + b"Connection: close\r\n\r\n")
            link.setblocking(False)

            def hear():
                turn()
                try:
                    return link.recv(13, socket.MSG_PEEK).decode()
                except BlockingIOError:
                    return None
            return wait_for(hear).split()[1]
    for _ in range(10000):
        status = ask_beside()
        if status != "503":
            break
    assert status == "200"
    for client in clients:
        client.link.close()
