"""Requests that can be read in two ways are refused, and the connection is closed after the answer; so nobody in front of the
service can be made to read another request than the service does."""

import pytest

from harness import ok, refused

POST = b"POST /v1/decide HTTP/1.1\r\nHost: x\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
BILLBOARD = b"GET /v1/billboard?learner=arms"
ONE = b"2\r\n{}\r\n0\r\n\r\n"


@pytest.mark.parametrize("request_, code", [
    (POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "header"),
    (POST + b"Content-Length: 2\r\ncontent-length: 30\r\n\r\n{}", "header"),
    (POST + b"Transfer-Encoding: gzip\r\n\r\n{}", "encoding"),
    (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + ONE, "encoding"),
    (POST + b"Transfer-Encoding: identity\r\n\r\n{}", "encoding"),
    (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + ONE, "header"),
    (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n" + ONE, "header"),
    (POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + ONE, "length"),
    (POST + b"Transfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "length"),
    (POST + b"Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{}", "header"),
    (b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "header"),
    (b"GET /healthz HTTP/1.1\r\n\r\n", "host"),
    (b"GET /v1/learners HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", "header"),
    (POST + b"Tacit-User: a\r\nTacit-User: b\r\nContent-Length: 2\r\n\r\n{}", "header"),
    (b"GET /healthz\x01 HTTP/1.1\r\nHost: x\r\n\r\n", "path"),
    (BILLBOARD + b"%01x HTTP/1.1\r\nHost: x\r\n\r\n", "path"),
    (BILLBOARD + b"%00x HTTP/1.1\r\nHost: x\r\n\r\n", "path"),
    (BILLBOARD + b"&learner=walk HTTP/1.1\r\nHost: x\r\n\r\n", "path"),
    (BILLBOARD + b"&learner=arms HTTP/1.1\r\nHost: x\r\n\r\n", "path"),
    (b"GET /healthz?step=1&step=2 HTTP/1.1\r\nHost: x\r\n\r\n", "path"),
])
def test_what_can_be_read_in_two_ways_is_refused(plain, request_, code):
    assert refused(plain.ask_bytes(request_), 400, code).headers["connection"] == "close"


# A part of a head: what is before the first NUL, for libmicrohttpd, or a line.
@pytest.mark.parametrize("head", [
    GET + b"X: a\0b\r\n\r\n",
    GET + b"X: a\0\r\n\r\n",
    GET + b"X: \0\r\nY: b\r\n\r\n",
    GET + b"X: a\0\r\nY: b\r\n\r\n",
    GET + b"X: a\0 \r\nY: b\r\n\r\n",
    GET + b"\0X: a\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n\0X: a\r\nHost: x\r\n\r\n",
    GET + b"X: a\nY: b\r\n\r\n",
    GET + b"X: a\n\r\n",
    GET + b"X: a\r\n\n",
    b"GET /healthz HTTP/1.1\nHost: x\r\n\r\n",
    GET + b"X: a\rb\r\n\r\n",
    GET + b"X: a\x01\r\n\r\n",
    GET + b"X: a\x7f\r\n\r\n",
    GET + b"X: a\r\n folded\r\n\r\n",
    GET + b"X: a\r\n\tY: folded\r\n\r\n",
])
def test_control_characters_in_a_head_are_refused(plain, head):
    assert ok(plain.ask_bytes(head), 400).headers["connection"] == "close"


def test_tabs_and_spaces_around_a_value_and_other_bytes_are_not_refused(plain):
    ok(plain.ask_bytes(GET + b"X:\ta \tb\t\r\nY:\r\nZ: \xc3\xa9\r\nConnection: close\r\n\r\n"))


@pytest.mark.parametrize("after, status", [(b"", 401), (b"\0", 400)])
def test_a_token_is_the_whole_value(plain, after, status):
    """A token with something behind it, or behind a NUL, is not the token."""
    head = b"GET /v1/ledger?learner=arms HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "
    ok(plain.ask_bytes(head + plain.token.encode() + after + b"xyz\r\n\r\n"), status)


def test_nothing_behind_a_refused_request_is_answered(plain):
    """Two requests in one go, the first of which hides the second from somebody who counts otherwise."""
    answer = ok(plain.ask_bytes(POST + b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}" + GET + b"\r\n"), 400)
    assert "HTTP/1.1" not in answer and '"version"' not in answer


def test_the_query_and_the_body_say_the_same(plain):
    """A learner or a step in the query and another one in the body."""
    ok(plain.post("/v1/decide?learner=arms", {"learner": "arms", "state": 0}))
    refused(plain.post("/v1/decide?learner=few", {"learner": "arms", "state": 0}), 422, "out_of_range", "learner")
    path, _ = plain.open_episode("walk")
    ok(plain.post(path + "?step=1", {"state": 0}))
    ok(plain.post(path + "?step=1", {"state": 0, "step": 1}))
    refused(plain.post(path + "?step=1", {"state": 0, "step": 2}), 422, "out_of_range", "step")


@pytest.mark.parametrize("path", ["/%68ealthz", "/%76%31/ledger", "/healthz%00", "/%00healthz", "/healthz%00/more",
                                  "/healthz%2500", "/healthz%0d%0a", "/v1%2fhealthz"])
def test_a_path_has_one_spelling(plain, path):
    """With an escape it is another path."""
    refused(plain.get(path), 404, "no_route")


def test_what_is_only_unusual_is_answered(plain):
    ok(plain.get("/v1/billboard?learner=%61rms"))
    ok(plain.ask_bytes(POST + b"Authorization: Bearer " + plain.token.encode() + b"\r\nTransfer-Encoding: Chunked\r\n"
                       b"Connection: close\r\n\r\n1c\r\n{\"learner\":\"arms\",\"state\":0}\r\n0\r\n\r\n"))
