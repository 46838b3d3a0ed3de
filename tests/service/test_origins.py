"""Pages of declared origins may ask for the billboard and send reports; no other page, and nothing else."""

import json
import subprocess

import pytest

from harness import PLAIN, TACIT, ok

SHOP = "https://shop.example"
BILLBOARD = "/v1/billboard?learner=ours"


@pytest.fixture(scope="module")
def shops(serve_all):
    return serve_all(f"origins: [{SHOP}, 'http://127.0.0.1:8000']\n" + PLAIN)


def ask(s, method, path, origin, body=None, **more):
    """As a page of this origin, which has no token."""
    return s.ask(method, path, body, "", {"Origin": origin, **{k.replace("_", "-"): v for k, v in more.items()}})


def is_closed(answer):
    return not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("origin", [SHOP, "http://127.0.0.1:8000"])
def test_pages_of_a_declared_origin_read_the_billboard(shops, origin):
    answer = ok(ask(shops, "GET", BILLBOARD, origin))
    assert answer.headers["Access-Control-Allow-Origin"] == origin and answer.headers["Vary"] == "Origin"


def test_pages_of_a_declared_origin_may_report(shops):
    answer = ok(ask(shops, "OPTIONS", "/v1/reports", SHOP, Access_Control_Request_Method="POST",
                    Access_Control_Request_Headers="authorization,idempotency-key"), 204)
    assert answer.headers["Access-Control-Allow-Origin"] == SHOP
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    assert "Access-Control-Allow-Credentials" not in answer.headers  # cookies mean nothing here
    assert answer.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type, Idempotency-Key"
    answer = ok(ask(shops, "OPTIONS", BILLBOARD, SHOP, Access_Control_Request_Method="DELETE"), 204)
    assert answer.headers["Access-Control-Allow-Methods"] == "GET"
    # a refusal can be read as well, or the page could not say what is wrong
    assert ok(ask(shops, "POST", "/v1/reports", SHOP, {}), 401).headers["Access-Control-Allow-Origin"] == SHOP


@pytest.mark.parametrize("origin", ["https://shop.example.org", "http://shop.example", "https://shop.exampl",
                                    "https://SHOP.example", "https://shop.example:444", "null", "https://shop.example/",
                                    ""])
def test_no_other_page_may(shops, origin):
    answer = ok(ask(shops, "GET", BILLBOARD, origin))
    assert is_closed(answer) and answer.headers["Vary"] == "Origin"
    assert is_closed(ok(ask(shops, "OPTIONS", "/v1/reports", origin), 405))


def routes():
    """All routes but the two open ones, each with its method and with OPTIONS; and what is nearly one of the two."""
    made = subprocess.run([TACIT, "serve", "--openapi"], capture_output=True, text=True, check=True)
    paths = json.loads(made.stdout)["paths"]
    assert {"/v1/billboard", "/v1/reports", "/v1/decide"} <= set(paths)
    for path, methods in paths.items():
        if path not in ("/v1/billboard", "/v1/reports"):
            yield from ((method.upper(), path) for method in methods)
            yield "OPTIONS", path
    yield from (("POST", "/v1/billboard"), ("DELETE", "/v1/billboard"), ("GET", "/v1/reports"), ("PUT", "/v1/reports"),
                ("DELETE", "/v1/reports"), ("OPTIONS", "/v1/reports/"), ("OPTIONS", "*"), ("OPTIONS", "/v1/billboards"))


@pytest.mark.parametrize("method, path", routes())
def test_no_other_route_is_for_a_page(shops, method, path):
    """Not even for one of a declared origin that has a token for everything."""
    answer = shops.ask(method, path, headers={"Origin": SHOP, "Access-Control-Request-Method": method})
    assert answer.status >= 200 and answer.status != 204 and is_closed(answer)


def test_two_origins_are_two_answers(shops):
    head = f"GET {BILLBOARD} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nOrigin: {SHOP}\r\nOrigin: null\r\n\r\n"
    ok(shops.ask_bytes(head.encode()), 400)


def test_without_origins_nothing_is_said_of_them(plain):
    answer = ok(ask(plain, "GET", BILLBOARD, SHOP))
    assert is_closed(answer) and "Vary" not in answer.headers
    ok(ask(plain, "OPTIONS", "/v1/reports", SHOP), 405)
