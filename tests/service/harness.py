"""A real `tacit serve` in a directory of its own, requests to it, and a PostgreSQL for those that run on one.

The build is in TACIT_BUILD. Nothing here waits for a time: a server is ready when it prints its address, and
`until` looks again and again for what must come, which takes long only if it never comes.
"""

import ctypes
import fcntl
import glob
import http.client
import json
import os
import pathlib
import pwd
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TACIT_BUILD", SOURCE / "build"))
TACIT = str(BUILD / "tacit")
DEVICE = str(BUILD / "examples" / "device")
FAULT_IO = str(BUILD / "tests" / "service" / "fault_io.so")
ON_POSTGRES = os.environ.get("TACIT_TEST_STORE") == "postgresql"
MAY_PRELOAD = "TACIT_SANITIZED" not in os.environ  # the run-time of a sanitizer must be the first library
PATIENCE = 120  # seconds; only a server that hangs is waited for that long
DAY = 86400

JOINT = "{kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"
LOCAL = "{kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0}}"
HEAD = "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
PLAIN = f"""listen: 127.0.0.1:0
store: service.db
limits: {{body: 4096, header: 8192}}
learners:
  - {{name: arms, space: {{states: 3, actions: 4, horizon: 1}}, users: 100000, agent: {JOINT}}}
  - {{name: walk, space: {{states: 5, actions: 2, horizon: 3}}, users: 100, agent: {JOINT}}}
  - {{name: few, space: {{states: 1, actions: 2, horizon: 1}}, users: 4, agent: {JOINT}, monitor: {{epsilon: 1}}}}
  - {{name: ours, space: {{states: 3, actions: 2, horizon: 2, stationary: yes}}, users: 50, agent: {LOCAL}}}
"""


def of_the_test(number, limits=None):
    """What a child runs to get this signal when the test ends, however that happens, and to have these limits."""
    prctl = ctypes.CDLL(None).prctl

    def prepare():
        prctl(1, number)  # PR_SET_PDEATHSIG
        for limit, soft_and_hard in (limits or {}).items():
            resource.setrlimit(limit, soft_and_hard)
    return prepare


def until(condition):
    """What the condition returns as soon as it is true, or at last."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def wait_for(condition):
    found = until(condition)
    assert found, "this never came"
    return found


class Scratch:
    """A directory that others recognize as in use by a lock, which falls with this program."""

    def __init__(self, prefix):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
        self.lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self):
        shutil.rmtree(self.path)
        os.close(self.lock)


class Answer:
    """A response: its status, its headers, and its body as text, as JSON, or as fields of an object."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.body)

    def __getitem__(self, key):
        return self.json[key]

    def get(self, key, default=None):
        return self.json.get(key, default)

    def __contains__(self, text):
        return text in self.text

    def __repr__(self):
        return f"{self.status} {self.text}"


def ok(answer, status=200):
    assert answer.status == status, answer
    return answer


def refused(answer, status, code, field=None):
    """The answer is this error, about this field (None: about none)."""
    assert answer.status == status, answer
    error = answer["error"]
    assert (error["code"], error.get("field")) == (code, field), answer
    return answer


def error_of(element):
    """Status and code of an element of a batch that was refused."""
    return element["status"], element["body"]["error"]["code"]


class Server:
    """The files of a service; `start` runs it. The last token made for `all` speaks in its requests."""

    def __init__(self, yaml, files=None, environment=None):
        self.scratch = Scratch("tacit-service-")
        self.directory = self.scratch.path
        self.process, self.host, self.port, self.url, self.token = None, "127.0.0.1", 0, "", ""
        self.environment, self.limits, self.user = dict(environment or {}), {}, None
        self.database = self.directory.name.rsplit("-", 1)[1]
        self.store = str(self.directory / "service.db")
        for name, text in {"err": "", **(files or {})}.items():
            self.write(name, text)
        if ON_POSTGRES:
            self.store = Cluster.shared.uri(self.database)
            Cluster.shared.sql("postgres", f'CREATE DATABASE "{self.database}" OWNER tacit')
            self.write("init.yaml", f"store: '{self.store}'\nlearners: [{{name: a, space: {{states: 1, actions: 2, "
                       f"horizon: 1}}, users: 1, agent: {JOINT}}}]\n")
            self.run("store init init.yaml")
        self.rewrite(yaml)

    # --- Files and tools

    def rewrite(self, yaml):
        self.write("service.yaml", yaml.replace("store: service.db", f"store: '{self.store}'") if ON_POSTGRES else yaml)

    def write(self, name, text):
        (self.directory / name).write_text(text)

    def read(self, name):
        return (self.directory / name).read_text(errors="replace")

    def tool(self, arguments, **more):
        """`tacit ARGUMENTS` in the directory."""
        words = arguments.split() if isinstance(arguments, str) else arguments
        return subprocess.run([TACIT, *words], cwd=self.directory, capture_output=True, text=True, check=False, **more)

    def run(self, arguments, status=0):
        done = self.tool(arguments)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def check(self):
        return self.run("store check service.yaml")

    def make_token(self, name="all", scopes="admin", options=""):
        """Known after the next start or SIGHUP."""
        made = self.run(f"token create service.yaml --name {name} --scopes {scopes} {options}").strip()
        assert len(made) > 40
        return made

    def sql(self, statement):
        """Asks or changes the store behind the service's back: the first value of the first row, or None."""
        if ON_POSTGRES:
            found = Cluster.shared.sql(self.database, f"SET search_path=tacit; {statement}")
            return int(found) if found.lstrip("-").isdigit() else None
        with sqlite3.connect(self.store) as store:
            row = store.execute(statement).fetchone()
        store.close()
        return row[0] if row else None

    # --- Life

    def start(self):
        """Starts it; whether it serves. It is started again if a busy machine's database did not answer in time."""
        end = time.monotonic() + PATIENCE
        while not self._start_once() and "cannot reach the database" in " ".join(self.said[-1:]) and time.monotonic() < end:
            time.sleep(0.1)
        return self.process is not None

    def _start_once(self):
        with open(self.directory / "err", "ab") as err:
            self.process = subprocess.Popen([TACIT, "serve", "service.yaml"], cwd=self.directory, stderr=err,
                                            stdout=subprocess.PIPE, env={**os.environ, **self.environment}, user=self.user,
                                            preexec_fn=of_the_test(signal.SIGKILL, self.limits))
        line = self.process.stdout.readline().decode()
        if "http" in line:
            self.url = line[line.index("http"):].strip()
            self.port = int(self.url.rsplit(":", 1)[1])
            self.host = self.url.split("://")[1].rsplit(":", 1)[0].replace("0.0.0.0", "127.0.0.1")
        else:
            self.code = self._wait()
        return "http" in line

    def _wait(self):
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.process = None
        return code

    @property
    def said(self):
        return self.read("err").splitlines()

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        """Sends a signal and waits for the end: the exit status, or minus the signal that ended it."""
        self.send(number)
        return self._wait()

    def end(self):
        assert self.stop() == 0, self.read("err")

    def restart(self, yaml=None):
        if self.process is not None:
            self.end()
        if yaml is not None:
            self.rewrite(yaml)
        assert self.start(), self.read("err")

    def kill(self):
        assert self.stop(signal.SIGKILL) == -signal.SIGKILL

    def kill_and_start(self):
        self.kill()
        assert self.start(), self.read("err")

    def does_not_start(self, code=2):
        """What it said of why; without the lines of earlier starts."""
        before = len(self.said)
        assert not self.start()
        assert self.code == code, self.said
        return "\n".join(self.said[before:])

    def close(self):
        try:
            if self.process is not None:
                self.end()
        finally:
            if self.process is not None:
                self.stop(signal.SIGKILL)
            self.scratch.remove()

    # --- Requests

    def ask(self, method, path, body=None, token=None, headers=None):
        """A request on a connection of its own. `body` is text, bytes, or what JSON is made of; `token` may be ""."""
        token = self.token if token is None else token
        head = {"Authorization": f"Bearer {token}"} if token else {}
        head.update(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        link = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            link.request(method, path, body, {"Connection": "close", **head})
            response = link.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            link.close()

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body=None, key=None, **more):
        if key is not None:
            more["headers"] = {"Idempotency-Key": key}
        return self.ask("POST", path, body, **more)

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=60)

    def ask_bytes(self, *pieces):
        """What comes back for these bytes until the other side closes; the headers' names are in small letters."""
        with self.connect() as link:
            heard = b""
            try:
                for piece in pieces:
                    link.sendall(piece)
                while more := link.recv(65536):
                    heard += more
            except (BrokenPipeError, ConnectionResetError):
                pass  # the other side has had enough
        head, _, body = heard.partition(b"\r\n\r\n")
        lines = head.decode(errors="replace").split("\r\n")
        status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/1.1 ") else 0
        return Answer(status, dict((k.lower(), v.strip()) for k, _, v in (line.partition(":") for line in lines[1:])),
                      body)

    def decide(self, learner=None, state=None, path="/v1/decide", **more):
        body = {"learner": learner, "state": state, **more}
        return ok(self.post(path, {k: v for k, v in body.items() if v is not None}))

    def observe(self, decision, token=None, **told):
        if isinstance(decision, Answer):
            decision = decision["decision"]
        return self.post("/v1/observe", {"decision": decision, **told}, token=token)

    def told(self, decision, **what):
        """The word that an observation is answered with."""
        return ok(self.observe(decision, **what))["status"]

    def open_episode(self, learner=None, **more):
        """The path at which its decisions are asked for, and the answer."""
        body = {"learner": learner, **more} if learner else more
        answer = ok(self.post("/v1/episodes", body), 201)
        return f"/v1/episodes/{answer['episode']}/decide", answer

    def ledger(self, learner):
        return ok(self.get(f"/v1/ledger?learner={learner}"))

    def wait_users(self, learner, users):
        """Until it has learned from so many, or refused them."""
        def learned():
            ledger = self.ledger(learner)
            return ledger["users"] + ledger["refused"] >= users
        assert until(learned), self.ledger(learner)

    def figures(self):
        """/metrics: each sample's value under its name with its labels."""
        lines = ok(self.get("/metrics")).text.splitlines()
        return {name: float(value) for name, value in (x.rsplit(" ", 1) for x in lines if not x.startswith("#"))}

    def simulate(self, learner, arguments, **more):
        """tacit simulate-users: what it printed."""
        self.write("token", self.token + "\n")
        words = arguments.split() if isinstance(arguments, str) else arguments
        return self.tool(["simulate-users", self.url, "--token-file", "token", "--learner", learner, "--json", *words],
                         **more)

    def live(self, learner, state=None):
        """A device (examples/device.c) lives by the billboard: its report and the report's key, or what it complains of."""
        board = ok(self.get(f"/v1/billboard?learner={learner}", token="")).text
        done = subprocess.run([DEVICE, "-", "key", *([state] if state else [])], cwd=self.directory, input=board, text=True,
                              capture_output=True, timeout=60, check=False)
        if done.returncode != 0:
            assert done.stdout == ""
            return None, done.stderr
        return done.stdout, self.read("key").strip()


class Wall:
    """The clock on the wall of a server that is started from now on, to be moved while it runs."""

    def __init__(self, server):
        self.path = server.directory / "clock"
        server.environment.update(LD_PRELOAD=FAULT_IO, TACIT_FAULT_CLOCK=str(self.path))

    def move(self, seconds):
        """In one step, as the clock itself is set."""
        fresh = self.path.with_suffix(".new")
        fresh.write_text(f"{seconds}\n")
        fresh.rename(self.path)


class Cluster:
    """A PostgreSQL in a directory of its own, on a socket there."""

    shared = None  # the one of all tests, if they are to run on PostgreSQL

    @staticmethod
    def programs():
        """The directory of PostgreSQL's programs (Debian has one for each version), and who may run them; None: not here."""
        paths = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or filter(None, [shutil.which("initdb")])
        try:
            owner = pwd.getpwnam("postgres") if os.getuid() == 0 else None  # PostgreSQL does not run as root
        except KeyError:
            return None, None
        return next(((os.path.dirname(path), owner) for path in paths), (None, None))

    def __init__(self):
        self.bin, owner = self.programs()
        self.scratch = Scratch("tacit-cluster-")
        self.directory = self.scratch.path
        self.directory.chmod(0o755)
        self.owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
        if owner:
            os.chown(self.directory, owner.pw_uid, owner.pw_gid)
        self.data = self.directory / "data"
        subprocess.run([f"{self.bin}/initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8",
                        "--locale=C"], check=True, cwd=self.directory, stdout=subprocess.DEVNULL, **self.owner)
        with open(self.data / "postgresql.auto.conf", "a") as settings:
            settings.write(f"listen_addresses = ''\nunix_socket_directories = '{self.directory}'\nport = 5400\n"
                           "max_connections = 200\nshared_buffers = 32MB\n")
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([f"{self.bin}/postgres", "-D", self.data], cwd=self.directory, stdout=log,
                                            stderr=log, preexec_fn=of_the_test(signal.SIGQUIT), **self.owner)
        ready = [f"{self.bin}/pg_isready", "-q", "-h", self.directory, "-p", "5400"]
        wait_for(lambda: subprocess.run(ready, check=False).returncode == 0)
        self.sql("postgres", "CREATE ROLE tacit LOGIN; ALTER ROLE tacit SET log_error_verbosity = terse")

    def uri(self, database):
        return f"postgresql://tacit@/{database}?host={self.directory}&port=5400"

    def sql(self, database, statement):
        """Runs it as the administrator; what it prints."""
        done = subprocess.run([f"{self.bin}/psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-p", "5400",
                               "-U", "postgres", "-c", statement, database], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def close(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        self.scratch.remove()
