"""Prometheus itself reads the figures: its checker promtool, or the parser of its Python client, whichever is installed, or both."""

import shutil
import subprocess

import pytest

from harness import ok

# Families without a help or a type, and samples of none, have the type "unknown" there.
PARSE = """
import sys
from prometheus_client.parser import text_fd_to_metric_families
all = list(text_fd_to_metric_families(sys.stdin))
assert len(all) > 15, len(all)
for f in all:
    assert f.documentation and f.type in ("counter", "gauge", "histogram"), f
    places = [(s.name, tuple(sorted(s.labels.items()))) for s in f.samples]
    assert len(places) == len(set(places)), f
"""
CHECKERS = {"promtool": ["promtool", "check", "metrics"],
            "client": ["/usr/bin/python3", "-c", PARSE],  # Debian's packages belong to Debian's Python,
            "client of another Python": ["python3", "-c", PARSE]}  # which is not always the first in the path


def is_there(command):
    if shutil.which(command[0]) is None:
        return False
    ask = ["promtool", "--version"] if command[0] == "promtool" else [*command[:2], "import prometheus_client.parser"]
    return subprocess.run(ask, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module", autouse=True)
def some_checker():
    if not any(map(is_there, CHECKERS.values())):
        pytest.exit("SKIPPED: neither promtool nor Python's prometheus_client is installed (Debian: prometheus, "
                    "python3-prometheus-client)", returncode=77)


@pytest.mark.parametrize("checker", CHECKERS)
def test_prometheus_finds_nothing_wrong(serve, checker):
    command = CHECKERS[checker]
    if not is_there(command):
        pytest.skip("not installed")
    s = serve()
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    ok(s.get("/v1/nothing"), 404)
    figures = ok(s.get("/metrics")).text

    def check(text):
        return subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert check(figures).returncode == 0, check(figures)
    # and a line that is none is noticed
    assert check(figures + "tacit_nothing{x=1 2\n").returncode != 0
