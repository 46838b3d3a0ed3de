"""Few files that may be open, and more connections than that: the service says so at its start, keeps what it needs for itself, and
who finds no room is told at once."""

import contextlib
import re
import resource
import time

import pytest

from harness import JOINT, ok, refused, wait_for

FEW, HELD = 64, 200
YAML = f"""
listen: 127.0.0.1:0
store: service.db
threads: 2
limits: {{per_address: 0, timeout: 60}}
learners: [{{name: arms, space: {{states: 1, actions: 2, horizon: 1}}, users: 2000, agent: {JOINT}}}]
"""


@pytest.fixture
def limited(serve):
    """Makes a service that may open so many files, and is not started yet."""
    def make(soft, hard, yaml=YAML):
        s = serve(yaml, start=False)
        s.limits = {resource.RLIMIT_NOFILE: (soft, hard)}
        return s
    return make


@contextlib.contextmanager
def held(s):
    """Half a request on each of many connections, which keeps them."""
    with contextlib.ExitStack() as links:
        for _ in range(HELD):
            links.enter_context(s.connect()).sendall(b"GET /he")
        yield


def test_who_finds_no_room_is_told_at_once(limited):
    s = limited(FEW, FEW)
    assert s.start()
    assert "limits.connections is 1000, but the service may open 64 files" in s.read("err")
    with held(s):
        # one that waits hears after a second, and the next ones at once
        wait_for(lambda: s.get("/healthz").status == 503)
        before = time.monotonic()
        for _ in range(5):
            assert refused(s.get("/healthz"), 503, "busy").headers["Retry-After"] == "1"
        assert time.monotonic() - before < 10  # of 60 s that the others may take
    wait_for(lambda: s.get("/healthz").status == 200)
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    assert s.figures()['tacit_http_requests_total{method="any",route="unmatched",status="5xx"}'] > 0


def test_health_has_places_of_its_own(limited):
    s = limited(FEW, FEW, "admin: 127.0.0.1:0\n" + YAML)
    assert s.start()
    with held(s):
        s.port = int(re.search(r"metrics on http://127.0.0.1:(\d+)", s.read("err"))[1])
        ok(s.get("/readyz"))


def test_the_soft_limit_is_raised(limited):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < 1200:
        pytest.skip("the hard limit is too low")
    s = limited(FEW, most)
    assert s.start()
    assert "limits.connections" not in s.read("err")


def test_too_few_files_are_refused(limited):
    why = limited(30, 30).does_not_start(3)
    assert "raise the limit (ulimit -n, or LimitNOFILE of systemd) to" in why
