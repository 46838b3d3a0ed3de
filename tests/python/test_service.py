"""The decision service from Python: real ones, and one that fails on purpose."""

import http.server
import json
import os
import ssl
import subprocess
import threading
import time

import numpy
import pytest

import tacit
from tacit import service as service_module

COMMAND = os.path.join(os.environ["TACIT_BUILD"], "tacit")
FILE = """
listen: 127.0.0.1:0
store: service.db
learners:
  - {name: walk, space: {states: 6, actions: 2, horizon: 3, stationary: yes}, users: 1000,
     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}
  - {name: banner, space: {features: 5, actions: 3, bound: 1}, users: 5000,
     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}
  - {name: doses, space: {context: 'age 17..90, country {DE | FR}', actions: [low, medium, high]}, users: 1000,
     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}
  - {name: phone, space: {states: 6, actions: 2, horizon: 4, stationary: yes}, users: 1000,
     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0}}}
  - {name: again, space: {states: 6, actions: 2, horizon: 4, stationary: yes}, users: 1000,
     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, visits: 2}}}
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    box = tmp_path_factory.mktemp("service")
    (box / "service.yaml").write_text(FILE)
    made = subprocess.run([COMMAND, "token", "create", "service.yaml", "--name", "all", "--scopes", "admin"],
                          cwd=box, capture_output=True, text=True, check=True)
    out = box / "out"
    with open(out, "w") as to:
        server = subprocess.Popen([COMMAND, "serve", "service.yaml"], cwd=box, stdout=to, stderr=subprocess.PIPE)
    while "serving on" not in out.read_text():
        assert server.poll() is None, server.stderr.read()
        time.sleep(0.02)
    url = out.read_text().split("serving on ")[1].split()[0]
    yield url, made.stdout.strip()
    server.terminate()
    assert server.wait() == 0


@pytest.fixture
def service(running):
    with tacit.Service(*running) as found:
        yield found


def test_an_episode_of_several_steps(service):
    episode = service.episode(user="ada", learner="walk")
    assert episode.horizon == 3
    state = 0
    for step in range(3):
        decision = episode.decide(state)
        assert decision["action"] in (0, 1) and decision["step"] == step
        state = min(state + decision["action"], 5)
        found = episode.observe(decision, 0.5, next_state=state)
    assert found["status"] == "finished" and found["learned"]
    short = service.episode(user="carl", learner="walk")
    found = short.observe(short.decide(0), 0.5, next_state=5, done=True)
    assert found["status"] == "finished" and found["learned"]
    assert {row["name"] for row in service.learners()} == {"walk", "banner", "doses", "phone", "again"}
    assert service.guarantee("walk")["guarantee"]["epsilon"] == 1
    assert service.ledger("walk") and service.history("walk")


def test_decisions_one_by_one_and_in_batches(service):
    x = numpy.full((3, 5), 0.1)
    one = service.decide(x, user="bo", learner="banner")
    assert service.observe(one["decision"], 1.0)["status"] == "finished"
    assert service.observe(one, 1.0)["status"] == "finished"  # twice is once
    banner = tacit.Service(service.url, service._token, learner="banner")
    many = banner.decide_many([x] * 1500, users=[f"u{i}" for i in range(1500)])
    assert len(many) == 1500 and len({d["decision"] for d in many}) == 1500
    done = banner.observe_many([{"decision": d, "reward": 0.5} for d in many])
    assert [d["status"] for d in done] == ["finished"] * 1500
    with pytest.raises(tacit.ServiceError, match="element 1") as found:
        banner.decide_many([x, numpy.full((3, 5), 9.0)])
    assert found.value.http_status == 422 and found.value.code == "out_of_range"
    named = service.decide({"age": 41, "country": "DE"}, learner="doses")
    assert named["action"] in ("low", "medium", "high")


def test_the_same_key_gives_the_same_answer(service):
    key = service_module.new_key()
    first = service.decide([0.1] * 15, learner="banner", key=key)
    assert service.decide([0.1] * 15, learner="banner", key=key) == first
    with pytest.raises(tacit.ServiceError) as found:
        service.decide([0.2] * 15, learner="banner", key=key)
    assert found.value.code == "key_reused"


def test_refusals_are_exceptions(running, service):
    with pytest.raises(tacit.ServiceError) as found:
        service.decide(0, learner="nobody")
    assert (found.value.http_status, found.value.code) == (404, "no_learner")
    assert isinstance(found.value, tacit.Error)
    with pytest.raises(tacit.ServiceError) as found:
        tacit.Service(running[0], "wrong").learners()
    assert found.value.http_status == 401
    assert running[1] not in repr(service)
    with pytest.raises(ValueError, match="no URL"):
        tacit.Service("localhost:8470")


def test_a_device_reports_once(service):
    board = service.billboard("phone")
    client = tacit.Client(board, epsilon=2, delta=0)
    assert "local epsilon 1 delta 0" in repr(client)
    states, actions = [0], []
    for step in range(4):
        actions.append(client.act(step, states[-1]))
        states.append(min(states[-1] + actions[-1], 5))
    report = client.report(states, actions, [0.0, 0.5, 1.0, 7.0])
    assert client.was_cut  # a reward of 7
    assert service.report(report)["status"] == "taken"
    assert client.report_again() == report
    assert service.report(report)["status"] == "taken"  # the same once more: one report
    assert report.size > 16
    with pytest.raises(tacit.ExhaustedError):
        client.report(states, actions, [0.0] * 4)
    with pytest.raises(tacit.BadEpsilonError):
        tacit.Client(board, epsilon=0.5, delta=0)
    acts = tacit.Client(board)
    assert acts.act(0, 0) in (0, 1)
    with pytest.raises(TypeError, match="a report costs privacy"):
        acts.report(states, actions, [0.0] * 4)
    assert tacit.Client(service.billboard("again")).act(0, 0) in (0, 1)
    with pytest.raises(tacit.UnsupportedError):
        tacit.Client(service.billboard("walk"), epsilon=2, delta=1e-5)
    with pytest.raises(tacit.Error):
        tacit.Client("{}", epsilon=2, delta=0)


def test_a_person_who_comes_back_has_a_state(service):
    kept = []
    board = service.billboard("again")

    def visit():
        client = tacit.Client(board, epsilon=1, delta=1e-3, state=kept[-1] if kept else None, save=kept.append)
        return client.report([0] * 5, [client.act(h, 0) for h in range(4)], [0.0] * 4)

    assert visit() != visit() and len(kept) == 2
    with pytest.raises(tacit.ExhaustedError):
        visit()
    with pytest.raises(tacit.BadArgumentError):
        tacit.Client(board, epsilon=1, delta=1e-3)

    def fail(state):
        raise OSError("disk full")

    client = tacit.Client(board, epsilon=1, delta=1e-3, save=fail)
    with pytest.raises(tacit.Error) as found:
        client.report([0] * 5, [0] * 4, [0.0] * 4)
    assert isinstance(found.value.__cause__, OSError)


# --- A service that fails -------------------------------------------------------------------------------


class Failing(http.server.BaseHTTPRequestHandler):
    """Answers by a script: a status, "lost" (takes the request and hangs up), or 200."""

    script: list = []
    keys: list = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Failing.keys.append(self.headers.get("Idempotency-Key"))
        step = Failing.script.pop(0)
        if step == "lost":
            self.close_connection = True
            return
        status, code = step if isinstance(step, tuple) else (step, "store")
        body = json.dumps({"action": 1} if status == 200 else {"error": {"code": code, "message": "no"}}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *unused):
        pass


@pytest.fixture
def failing():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield tacit.Service(f"http://127.0.0.1:{server.server_address[1]}", "token", retries=3)
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_passes_is_tried_again_with_the_same_key(failing):
    Failing.script, Failing.keys = ["lost", 503, (429, "rate"), 200], []
    assert failing.decide(0) == {"action": 1}
    assert len(Failing.keys) == 4 and len(set(Failing.keys)) == 1 and len(Failing.keys[0]) == 32


def test_what_lasts_is_not_tried_again(failing):
    for step in ((503, "fenced"), (429, "quota"), (409, "local"), (422, "missing")):
        Failing.script, Failing.keys = [step], []
        with pytest.raises(tacit.ServiceError) as found:
            failing.decide(0)
        assert found.value.code == step[1] and len(Failing.keys) == 1
    Failing.script, Failing.keys = [503] * 4, []
    with pytest.raises(tacit.ServiceError):
        failing.decide(0)
    assert len(Failing.keys) == 4  # retries=3


def test_a_service_that_is_away(failing):
    away = tacit.Service("http://127.0.0.1:9", retries=1)
    assert not away.healthy()
    with pytest.raises(OSError):
        away.learners()


def test_https_trusts_what_it_is_told_to(tmp_path):
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key", "-out", "cert"],
        cwd=tmp_path, capture_output=True, check=False,
    )
    if made.returncode != 0:
        pytest.skip("openssl is not there")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"https://localhost:{server.server_address[1]}"
    Failing.script, Failing.keys = [200], []
    try:
        assert tacit.Service(url, cafile=tmp_path / "cert").decide(0) == {"action": 1}
        with pytest.raises(ssl.SSLError):
            tacit.Service(url, retries=0).decide(0)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_waits_grow_and_end():
    assert service_module.wait_seconds(0, "7") == 7
    assert service_module.wait_seconds(0, "86400") == service_module.LONGEST_WAIT
    assert all(0.05 * 2**n <= service_module.wait_seconds(n, None) <= 0.1 * 2**n for n in range(5))
    assert service_module.wait_seconds(60, None) <= service_module.LONGEST_WAIT

