"""The figures of /metrics: each has a help and a type, and is in docs/reference/metrics.md with the same ones, so that a name that
somebody's alarm depends on cannot change unnoticed. Whether Prometheus can read them is in test_prometheus.c; how the times of a
route are counted, in tests/unit/test_service_figures.c."""

import re

from harness import SOURCE, ok

SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}


def families_of(text):
    """Name, type and help of every family, in the text of the service: HELP, TYPE, then samples of that family."""
    found, name = [], None
    for line in text.splitlines():
        if head := re.fullmatch(r"# HELP (\S+) (.*)", line):
            name, help_ = head.groups()
        elif head := re.fullmatch(r"# TYPE (\S+) (\S+)", line):
            assert head[1] == name
            assert (head[2] == "counter") == name.endswith("_total")
            found.append((name, head[2], help_))
        else:
            sample = re.match(r"[^{ ]+", line)[0]
            assert sample in [name + suffix for suffix in SUFFIXES.get(found[-1][1], ("",))], f"of no family: {line}"
    return found


def test_every_figure_has_help_and_type_and_is_documented(serve):
    s = serve()
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    said = families_of(ok(s.get("/metrics")).text)
    document = (SOURCE / "docs/reference/metrics.md").read_text()
    written = re.findall(r"^\| `([a-z_]+)` \| ([a-z]+) \| [^|]+ \| ([^|]+) \|", document, re.MULTILINE)
    assert len(said) > 15
    assert sorted(said) == sorted(written)


def test_requests_for_nothing_are_counted(serve):
    s = serve()
    ok(s.get("/v1/nothing"), 404)
    ok(s.post("/metrics", {}), 405)
    assert s.figures()['tacit_http_requests_total{method="any",route="unmatched",status="4xx"}'] == 2
