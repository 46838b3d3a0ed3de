"""Devices that have libtacit_client alone (examples/device.c) against a real server: billboards of every family with a local model,
one episode each, and reports that the server takes."""

import concurrent.futures
import subprocess

import pytest

from harness import DEVICE, HEAD, ok

PURE, APPROXIMATE = "epsilon: 1, delta: 0", "epsilon: 1, delta: 0.000001"
TABLE, SMALL = "states: 4, actions: 3, horizon: 5", "states: 3, actions: 2, horizon: 3"
FAMILIES = {
    "counts": (TABLE + ", stationary: yes", "dp-ucbvi", PURE),
    "gauss": (TABLE, "dp-ucbvi", APPROXIMATE),
    "one-step": (TABLE, "dp-ucbvi, report: step", PURE),
    "answers": (TABLE + ", stationary: yes", "posterior-tabular", PURE),
    "true-answers": ("states: 2, actions: 2, horizon: 5, stationary: yes", "posterior-tabular", "epsilon: 1.9, delta: 0"),
    "random": ("states: 3, actions: 2, horizon: 4", "private-ucb-po", PURE),
    "obi": ("states: 3, actions: 2, horizon: 4, stationary: yes", "ldp-obi", PURE),
    "mixture": (SMALL, "linopt-vi", APPROXIMATE),
    "policy": (SMALL, "linopt-po", APPROXIMATE),
    "vtr": (SMALL + ", rewards: rewards.csv", "ucrl-vtr", PURE),
    "vtr-plus": (SMALL + ", rewards: rewards.csv", "ucrl-vtr-plus", APPROXIMATE),
    "kernel": ("states: 4, actions: 3, horizon: 1, features: points.csv, kernel: se(0.4)", "capri", APPROXIMATE),
    "shared": ("features: 20, actions: 3, bound: 2", "lin-ucb", APPROXIMATE),
    "disjoint": ("features: 3, actions: 3, shared: no", "lin-ucb", APPROXIMATE),
}
OTHERS = {
    "weak": ("states: 3, actions: 2, horizon: 1", "dp-ucbvi", "epsilon: 50"),
    "back": ("states: 4, actions: 3, horizon: 2", "dp-ucbvi", "epsilon: 1, delta: 0, visits: 2"),
}
YAML = "limits: {body: 65536}\n" + HEAD + "".join(
    f"  - {{name: {name}, space: {{{space}}}, users: 100, agent: {{kind: {kind}, privacy: {{model: local, {privacy}}}}}}}\n"
    for name, (space, kind, privacy) in {**FAMILIES, **OTHERS}.items()
) + ("  - {name: joint, space: {states: 3, actions: 2, horizon: 1}, users: 100,\n"
     "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n")


@pytest.fixture(scope="module")
def server(serve_all):
    """The server with all learners, and the tables that they name."""
    rewards = "step,state,action,reward\n" + "".join(
        f"{h},{i // 2},{i % 2},{0.1 * (i + h):g}\n" for h in range(3) for i in range(6))
    points = "state,action,feature,value\n" + "".join(
        f"{i // 3},{i % 3},0,{i // 3 * 0.2:g}\n{i // 3},{i % 3},1,{i % 3 * 0.3:g}\n" for i in range(12))
    return serve_all(YAML, {"rewards.csv": rewards, "points.csv": points})


def send(server, report, key):
    answer = server.post("/v1/reports", report, key)
    assert answer.status in (200, 202), answer
    return answer.status


@pytest.mark.parametrize("learner", FAMILIES)
def test_devices_of_every_family_report_and_are_counted_once(server, learner):
    for users in range(1, 5):
        report, key = server.live(learner)
        assert report is not None, key
        assert send(server, report, key) == send(server, report, key)  # the answer was lost; the same again
        server.wait_users(learner, users)  # so that the next billboard is another
    ledger = server.ledger(learner)
    assert (ledger["accepted"], ledger["refused"]) == (4, 0)


@pytest.mark.parametrize("learner, said", [("joint", "UNSUPPORTED"), ("weak", "BAD_EPSILON")])
def test_a_device_reports_on_its_owners_terms_only(server, learner, said):
    report, complaint = server.live(learner)
    assert report is None and said in complaint


def test_a_device_whose_person_comes_back_stops_after_the_last_report(server):
    """The state counts the reports of a person; without one there are none, since nobody could count them."""
    assert "must keep how often it has" in server.live("back")[1]
    for users in 1, 2:
        report, key = server.live("back", "ann")
        for _ in range(2):  # the answer was lost; the same again
            ok(server.post("/v1/reports", report, key), 202)
        server.wait_users("back", users)
    for _ in range(2):
        report, complaint = server.live("back", "ann")
        assert report is None and "EXHAUSTED: this person has made all 2 reports" in complaint
    server.write("torn", "half a sta")
    assert "the device's state is damaged" in server.live("back", "torn")[1]
    assert server.ledger("back")["accepted"] == 2


def test_processes_with_one_state_make_no_more_reports_than_one(server):
    """Several processes with one person's state, as of an app that was started twice: whoever comes second reads what the first has
    written. Each round is a person with two reports."""
    server.write("billboard.json", ok(server.get("/v1/billboard?learner=back", token="")).text)

    def live(state, i):
        return subprocess.run([DEVICE, "billboard.json", f"key.{i}", state], cwd=server.directory, timeout=60, check=False,
                              capture_output=True).returncode == 0
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for person in range(20):
            assert sum(pool.map(lambda i, state=f"state.{person}": live(state, i), range(6))) == 2
