"""The decision service, from both sides: programs that ask it (Service) and users' own devices (Client).

Only the standard library is used. docs/reference/http.md has the interface.
"""

from __future__ import annotations

import base64
import dataclasses
import http.client
import json
import math
import os
import random
import secrets
import ssl
import struct
import threading
import time
import urllib.parse
from typing import Any, Callable, Mapping, Sequence

from . import _tacit

# What passes: 429 and 503 name a wait, the others are those of a proxy whose service is away.
RETRIED = frozenset({429, 502, 503, 504})
LASTING = frozenset({"quota", "copy", "behind", "unsound", "fenced"})  # waiting does not help
LONGEST_WAIT = 30.0  # seconds, a stated choice


class ServiceError(_tacit.Error):
    """The service refused. `http_status`, `code` and `field` are those of docs/reference/http.md."""

    def __init__(self, message: str, http_status: int, code: str, field: str | None = None) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.code = code
        self.field = field


# --- Devices ----------------------------------------------------------------------------------------


class Client(_tacit.Client):
    """A user's own device under local privacy: reads a billboard, acts by it, and makes the one report that leaves it.

    billboard        the answer to GET /v1/billboard, as a text or bytes (Service.billboard)
    epsilon, delta   the weakest guarantee that the device's owner accepts; a billboard that asks for more is refused.
                     Without them the client only acts, and refuses to report
    state, save      for people who come back: what `save` was given last, and a function that keeps the next state
                     where a crash does not reach it, before a report is handed out

    Noise is drawn here, from the operating system. One client makes one report.
    """

    def __new__(
        cls,
        billboard: str | bytes,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        state: bytes | None = None,
        save: Callable[[bytes], object] | None = None,
        memory: int = 0,
    ) -> Client:
        text = billboard if isinstance(billboard, bytes) else billboard.encode()
        if (epsilon is None) != (delta is None):
            raise TypeError("give both epsilon and delta, or neither: then the client only acts")
        if epsilon is None or delta is None:
            self = super().__new__(cls, text, math.inf, 1.0, memory=memory, state=state, save=refuse_state)
            self._agreed = False
            return self
        self = super().__new__(cls, text, epsilon, delta, memory=memory, state=state, save=save)
        self._agreed = True
        return self

    _agreed: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # all is done when the object is made

    def __repr__(self) -> str:
        f = self.facts
        g = f["guarantee"]
        return f"Client({f['learner']!r}, local epsilon {g['epsilon']:g} delta {g['delta']:g}, version {f['version']})"

    def report(self, states: Any, actions: Any, rewards: Any) -> Report:
        """The report on this episode, private already. A second one is refused: it would spend the guarantee twice."""
        if not self._agreed:
            raise TypeError("a report costs privacy: say what its owner accepts, tacit.Client(…, epsilon=…, delta=…)")
        return Report(*self._report(states, actions, rewards))

    def report_again(self) -> Report:
        """The last report once more: what to send if its answer was lost."""
        return Report(*self._report_again())


def refuse_state(state: bytes) -> None:
    raise TypeError("a client without terms makes no report")


@dataclasses.dataclass(frozen=True)
class Report:
    """What a device sends: POST `body` to /v1/reports with the header Idempotency-Key: `key`."""

    body: str
    key: str

    @property
    def size(self) -> int:
        """Bytes of the report itself."""
        text = json.loads(self.body)["report"]
        return len(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


# --- Programs ---------------------------------------------------------------------------------------


class Service:
    """A decision service at a URL.

    url, token   where it is, and what `tacit token create` printed
    learner      the one that is meant where a call names none; optional if the service has one
    timeout      seconds for each attempt
    retries      attempts after the first, for what passes: lost connections, 429, 502, 503, 504
    cafile       the certificate to trust, for https

    Every request that changes something carries an idempotency key, so an answer that was lost is asked for again, and
    nothing counts twice. Threads may share a Service; each has a connection of its own.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        learner: str | None = None,
        timeout: float = 10.0,
        retries: int = 5,
        cafile: str | os.PathLike[str] | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no URL of a service, expected http://HOST:PORT or https://HOST:PORT")
        self.url = url.rstrip("/")
        self.learner = learner
        self.timeout = timeout
        self.retries = retries
        self._token = token
        self._parts = parts
        self._context = ssl.create_default_context(cafile=cafile) if parts.scheme == "https" else None
        self._local = threading.local()

    def __repr__(self) -> str:  # never the token
        return f"Service({self.url!r})"

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
        self._local.connection = None

    # --- Deciding and observing ------------------------------------------------------------------

    def episode(self, user: str | None = None, learner: str | None = None, *, key: str | None = None) -> Episode:
        """Opens an episode for a user."""
        found = self._post("/v1/episodes", self._names(user, learner), key=key or new_key())
        return Episode(self, found)

    def decide(
        self, situation: Any = None, user: str | None = None, learner: str | None = None, *, key: str | None = None
    ) -> dict[str, Any]:
        """An action for a user of a learner with one step: {"action", "probability", "decision", …}.

        situation is a state (a number), or a context: an array of numbers, or a dict of named columns.
        """
        body = {**self._names(user, learner), **situation_fields(situation)}
        return self._post("/v1/decide", body, key=key or new_key())

    def decide_many(
        self, situations: Sequence[Any], users: Sequence[str] | None = None, learner: str | None = None, *,
        key: str | None = None,
    ) -> list[dict[str, Any]]:
        """One decision for each situation, up to 1000 in one request."""
        names: list[str | None] = [None] * len(situations) if users is None else list(users)
        if len(names) != len(situations):
            raise ValueError(f"{len(names)} users for {len(situations)} situations")
        bodies = [{**self._names(u, learner), **situation_fields(s)} for s, u in zip(situations, names)]
        return self._batch("/v1/decide", bodies, key or new_key())

    def observe(
        self, decision: str | Mapping[str, Any], reward: float | None = None, *, next_state: int | None = None,
        next_context: Any = None, done: bool = False,
    ) -> dict[str, Any]:
        """The outcome of a decision; the decision's id is the key, so it counts once however often it is sent.

        done: the episode ended with this step, in next_state or next_context.
        """
        return self._post("/v1/observe", observation(decision, reward, next_state, next_context, done))

    def observe_many(self, observations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Many outcomes, 1000 in one request: dicts with decision, reward, next_state, next_context, done."""
        bodies = [
            observation(o["decision"], o.get("reward"), o.get("next_state"), o.get("next_context"), o.get("done", False))
            for o in observations
        ]
        return self._batch("/v1/observe", bodies, None)

    # --- Devices ---------------------------------------------------------------------------------

    def billboard(self, learner: str | None = None) -> str:
        """The public policy, as a text: what Client takes."""
        return self._request("GET", "/v1/billboard" + self._query(learner), None, None).decode()

    def report(self, report: Report, user: str | None = None) -> dict[str, Any]:
        """Sends a device's report; the same one as often as needed, for it counts once."""
        body = json.loads(report.body)
        if user is not None:
            body["user"] = user
        return self._post("/v1/reports", body, key=report.key)

    # --- What is known ---------------------------------------------------------------------------

    def learners(self) -> list[dict[str, Any]]:
        """All learners and their progress."""
        found: list[dict[str, Any]] = self._get("/v1/learners")["learners"]
        return found

    def ledger(self, learner: str | None = None) -> dict[str, Any]:
        """What was released, what it cost, and what is left."""
        return self._get("/v1/ledger" + self._query(learner))

    def guarantee(self, learner: str | None = None) -> dict[str, Any]:
        """The promise and the reasons for it."""
        return self._get("/v1/guarantee" + self._query(learner))

    def history(self, learner: str | None = None) -> dict[str, Any]:
        """Curves: version and released mean reward over users."""
        return self._get("/v1/history" + self._query(learner))

    def healthy(self) -> bool:
        """Whether the service answers."""
        try:
            self._request("GET", "/healthz", None, None)
        except (ServiceError, OSError, http.client.HTTPException):
            return False
        return True

    # --- Requests --------------------------------------------------------------------------------

    def _names(self, user: str | None, learner: str | None) -> dict[str, Any]:
        names = {"user": user, "learner": learner if learner is not None else self.learner}
        return {k: v for k, v in names.items() if v is not None}

    def _query(self, learner: str | None) -> str:
        name = learner if learner is not None else self.learner
        return "" if name is None else "?" + urllib.parse.urlencode({"learner": name})

    def _get(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._request("GET", path, None, None))
        return found

    def _post(self, path: str, body: Any, key: str | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self._post_any(path, body, key)
        return found

    def _post_any(self, path: str, body: Any, key: str | None) -> Any:
        return json.loads(self._request("POST", path, json.dumps(body, allow_nan=False).encode(), key))

    def _batch(self, path: str, bodies: list[dict[str, Any]], key: str | None) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for at in range(0, len(bodies), 1000):
            part_key = None if key is None else f"{key}-{at // 1000}"
            for answer in self._post_any(path, bodies[at : at + 1000], part_key):
                if answer["status"] >= 300:
                    problem = answer["body"]["error"]
                    raise ServiceError(f"element {len(out)}: {problem['message']}", answer["status"], problem["code"],
                                       problem.get("field"))
                out.append(answer["body"])
        return out

    def _request(self, method: str, path: str, body: bytes | None, key: str | None) -> bytes:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        # Without a key the answer to a lost request could be another one; GET and observations may be repeated.
        attempt = 0
        while True:
            try:
                status, data, after = self._send(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self.close()
                if attempt >= self.retries:
                    raise
                after = None
            else:
                if status < 300:
                    return data
                error = problem_of(status, data)
                if status not in RETRIED or error.code in LASTING or attempt >= self.retries:
                    raise error
            time.sleep(wait_seconds(attempt, after))
            attempt += 1

    def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, str | None]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            host, port = self._parts.hostname, self._parts.port
            assert host is not None
            if self._context is not None:
                connection = http.client.HTTPSConnection(host, port, timeout=self.timeout, context=self._context)
            else:
                connection = http.client.HTTPConnection(host, port, timeout=self.timeout)
            self._local.connection = connection
        connection.request(method, self._parts.path.rstrip("/") + path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Retry-After")


class Episode:
    """An open episode of a user: decide, then observe, step by step."""

    def __init__(self, service: Service, found: dict[str, Any]) -> None:
        self.service = service
        self.id: str = found["episode"]
        self.horizon: int = found["horizon"]
        self.facts = found

    def decide(self, situation: Any, step: int | None = None, *, key: str | None = None) -> dict[str, Any]:
        body = situation_fields(situation)
        if step is not None:
            body["step"] = step
        return self.service._post(f"/v1/episodes/{urllib.parse.quote(self.id)}/decide", body, key=key or new_key())

    def observe(
        self, decision: str | Mapping[str, Any], reward: float | None = None, *, next_state: int | None = None,
        next_context: Any = None, done: bool = False,
    ) -> dict[str, Any]:
        return self.service.observe(decision, reward, next_state=next_state, next_context=next_context, done=done)


def new_key() -> str:
    return secrets.token_hex(16)


def wait_seconds(attempt: int, after: str | None) -> float:
    """What the service asks for, or twice as long each time, with a little chance so that callers spread."""
    if after is not None and after.isdigit():
        return min(float(after), LONGEST_WAIT)
    return min(0.1 * 2.0**attempt, LONGEST_WAIT) * (0.5 + random.random() / 2)


def problem_of(status: int, data: bytes) -> ServiceError:
    try:
        problem = json.loads(data)["error"]
        return ServiceError(problem["message"], status, problem["code"], problem.get("field"))
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"the service answered {status}", status, "http")


def situation_fields(situation: Any) -> dict[str, Any]:
    """{"state": …} for a number, {"context": …} for an array of numbers or a dict of named columns."""
    if situation is None:
        return {}
    if isinstance(situation, Mapping):
        return {"context": dict(situation)}
    if hasattr(situation, "__len__"):
        return {"context": flat(situation)}
    if hasattr(situation, "__index__"):
        return {"state": situation.__index__()}
    return {"state": float(situation)}


def flat(values: Any) -> list[float]:
    """All numbers of an array or of nested lists, in order."""
    if hasattr(values, "tobytes") and getattr(values, "dtype", None) == "float64":
        data = values.tobytes()
        return list(struct.unpack(f"={len(data) // 8}d", data))
    out: list[float] = []
    for value in values:
        if hasattr(value, "__iter__"):
            out.extend(flat(value))
        else:
            out.append(float(value))
    return out


def observation(
    decision: str | Mapping[str, Any], reward: float | None, next_state: int | None, next_context: Any, done: bool
) -> dict[str, Any]:
    body: dict[str, Any] = {"decision": decision if isinstance(decision, str) else decision["decision"]}
    if reward is not None:
        body["reward"] = float(reward)
    if next_state is not None:
        body["next_state"] = int(next_state)
    if next_context is not None:
        body["next_context"] = dict(next_context) if isinstance(next_context, Mapping) else flat(next_context)
    if done:
        body["done"] = True
    return body
