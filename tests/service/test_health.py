"""Alive, ready, and what is told about it: to probes, on a listener of its own, in figures, in the log and in the audit log."""

import contextlib
import copy
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess

import pytest

from harness import FAULT_IO, HEAD, JOINT, MAY_PRELOAD, PLAIN, TACIT, ok, refused, until, wait_for

ARMS = f"  - {{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 100, agent: {JOINT}}}\n"


def is_ready(s, *reasons):
    """Ready, or not ready for these reasons."""
    answer = ok(s.get("/readyz", token=""), 503 if reasons else 200)
    assert (answer["ready"], answer["reasons"]) == (not reasons, list(reasons)) and "store" in answer["line"]


def is_alive(s, status="ok"):
    assert ok(s.get("/healthz", token=""))["status"] == status


@pytest.mark.skipif(not MAY_PRELOAD, reason="a sanitizer's run-time must be the first library")
def test_readiness_comes_back_by_itself(serve):
    s = serve(start=False)
    full = s.directory / "full"  # the store's disk is full while this file exists
    s.environment.update(LD_PRELOAD=FAULT_IO, TACIT_FAULT_FULL_FLAG=str(full), TACIT_FAULT_PATH="/service.db")
    assert s.start()
    is_ready(s)
    is_alive(s)
    assert s.figures()["tacit_ready"] == 1
    decision = s.decide("arms", 0)
    full.touch()
    refused(s.observe(decision, reward=1), 503, "store")
    is_ready(s, "failing")
    is_alive(s, "failing")  # alive: to start it again would mend no disk
    assert s.figures()["tacit_ready"] == 0
    full.unlink()
    assert until(lambda: s.get("/readyz").status == 200)  # and nobody writes
    is_ready(s)
    is_alive(s)
    assert s.figures()["tacit_ready"] == 1


def test_a_copy_is_alive_and_not_ready(serve):
    s = serve()
    s.run("store backup service.yaml copy.db")
    s.check()
    s.restart("key: service.db.key\n" + PLAIN.replace("store: service.db", "store: copy.db"))
    is_ready(s, "copy")
    is_alive(s, "copy")
    # observations are refused, alone and as a batch: a client that looks at the status alone must not take them for kept
    decision = s.decide("arms", 0)["decision"]
    refused(s.observe(decision, reward=1), 503, "copy")
    both = [{"decision": decision, "reward": 1}, {"decision": "x", "reward": 1}]
    assert refused(s.post("/v1/observe", both), 503, "copy").headers["Retry-After"]


# --- The admin listener


@contextlib.contextmanager
def held(s, address="127.0.0.1"):
    """Two thousand silent connections from an address of this machine, or as many as there may be; how many those are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    links = []
    try:
        while len(links) < 2000:
            link = socket.socket()
            links.append(link)
            link.setblocking(False)
            link.bind((address, 0))
            link.connect_ex(("127.0.0.1", s.port))  # it need not be taken at once
    except OSError:
        links.pop().close()
    try:
        yield len(links)
    finally:
        for link in links:
            link.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_health_is_told_although_every_place_is_taken(serve):
    s = serve("admin: 127.0.0.1:0\nlimits: {connections: 200, per_address: 0, timeout: 3600}\n" + HEAD + ARMS)
    admin = copy.copy(s)  # the same, with another port
    admin.port = int(re.search(r"health and metrics on http://[^:]*:(\d+)", s.read("err"))[1])
    with held(s) as n:
        assert n > 300
        # with an hour's patience the public address answers nobody; this one has places of its own
        for route in "/healthz", "/readyz", "/metrics", "/", *(f"/v1/{x}" for x in ("learners", "ledger", "guarantee", "history")):
            ok(admin.get(route))
        # nothing is decided or learned there, and figures still need a token
        refused(admin.post("/v1/decide", {"state": 0}), 404, "no_route")
        # the page shows what its policy does
        ok(admin.get("/v1/billboard"))
        ok(admin.get("/metrics", token=""), 401)

    def answers():
        try:
            return s.get("/healthz").status == 200
        except OSError:
            return False
    wait_for(answers)


def test_one_address_does_not_keep_the_others_out(serve):
    s = serve("limits: {connections: 400, timeout: 3600}\n" + HEAD + ARMS)
    with held(s, "127.0.0.2") as n:
        if n < 500:
            pytest.skip("this machine has no such address")
        for _ in range(20):
            ok(s.get("/healthz"))
        ok(s.post("/v1/decide", {"state": 0}))


# --- Figures


def test_figures_say_who_waits_and_how_old_the_last_commit_is(serve):
    s = serve()
    assert s.told(s.decide("arms", 0), reward=1) == "finished"
    s.wait_users("arms", 1)
    figures = s.figures()
    assert figures['tacit_users_waiting{learner="arms"}'] == 0 and figures["tacit_commit_age_seconds"] >= 0
    assert "\n# TYPE tacit_commit_age_seconds gauge\n" in s.get("/metrics")
    # an idle service writes its clock, so the age says something
    commits = figures["tacit_store_commits_total"]
    wait_for(lambda: s.figures()["tacit_store_commits_total"] > commits)


# --- What is written down


def test_the_log_is_json_where_the_file_says_so(serve):
    s = serve("log: json\n" + PLAIN)
    s.send(signal.SIGHUP)
    wait_for(lambda: '"event":"reload"' in s.read("err"))
    s.end()
    lines = [json.loads(line) for line in s.said]
    assert all({"time", "level", "event", "message"} <= set(line) for line in lines)
    assert {"start", "stop", "reload"} <= {line["event"] for line in lines}


def test_the_audit_log_has_tokens_starts_and_stops(serve):
    s = serve()
    s.make_token("web", "decide,observe", "--learner arms --users-per-day 5 --expires 7d")
    s.run("token revoke service.yaml --name web")
    s.run("token revoke service.yaml --name web", 2)
    s.end()
    said = s.run("store events service.yaml")
    at = 0
    for wanted in ("token 'all' created: admin (by user", "service started: tacit ",
                   "created: decide,observe, learner arms, 5 users a day, ", "token 'web' revoked (by user",
                   "service stopped (by user"):
        at = said.index(wanted, at)  # in this order
    assert said.count("revoked") == 1  # what was refused is none
    assert "time" in json.loads(s.run("store events --json service.yaml"))["events"][0]


# --- Small guards


def test_the_process_leaves_no_core_and_ignores_what_means_nothing(serve):
    s = serve()
    s.send(signal.SIGUSR1)
    s.send(signal.SIGUSR2)
    ok(s.get("/healthz"))
    proc = pathlib.Path(f"/proc/{s.process.pid}")
    assert re.search(r"^Max core file size +0 +0 ", (proc / "limits").read_text(), re.MULTILINE)
    # files of a process that cannot be dumped are root's
    assert os.stat(proc / "environ").st_uid == 0


@pytest.mark.skipif(not MAY_PRELOAD, reason="a sanitizer takes terabytes of address space")
def test_a_thread_that_is_not_to_be_had_says_what_it_needs(serve):
    """From too little for the program itself to enough: on the way some thread is the one that is missing."""
    s = serve(start=False)
    for mib in range(40, 4000, 10):
        limit = mib * 1024 * 1024
        served = subprocess.Popen([TACIT, "serve", "service.yaml"], cwd=s.directory, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                                  preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        serves = served.stdout.readline() != ""
        if serves:
            served.terminate()
        said = served.communicate(timeout=60)[1]
        told = re.search(rf"a thread needs \d+ MiB of address space, of which \d+ MiB are taken and {mib} MiB allowed", said)
        if serves or told:
            break
    assert told
