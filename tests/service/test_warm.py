"""A log that warms a learner up: its users come by the door by which all others come, each once, whatever happens in between; what is
refused, and what is learned. Which kinds take logs is in tests/unit/test_takes_logs.c."""

import json
import time

import pytest

from harness import HEAD, JOINT, LOCAL, SOURCE, Server, ok, wait_for

LIN = "{kind: lin-ucb, privacy: {model: joint, epsilon: 1}}"
CLIP = "{kind: lin-ucb, outside: clip, privacy: {model: joint, epsilon: 1}}"
FREE = "{kind: lin-ucb, bonus_scale: 0, privacy: {model: none}}"
CONTEXT = "space: {context: 'age 18..78, country {DE | FR}', actions: [low, high]}"
ARMS = "space: {states: 3, actions: 4, horizon: 1}"


def file_of(learner, name="arms"):
    return HEAD + f"  - {{name: {name}, {learner}}}\n"


@pytest.fixture
def prepare(serve):
    """Makes a service with a log, which is not started yet."""
    return lambda learner, log: serve(file_of(learner), {"log.csv": log}, start=False)


def start_and_warm(s):
    s.restart()
    wait_for(lambda: s.get("/readyz").status == 200)


def log_of(n, ids=0):
    """A log of n rows with numbered states; row i is a person of i % ids, or (0) nobody in particular."""
    rows = ["state,action,reward" + (",user" if ids else "")]
    for i in range(n):
        state, action = i * 7 // 5 % 3, i * 11 // 3 % 4
        reward = int(i % 4 > 0) if action == state + 1 else int(i % 4 == 0)
        rows.append(f"{state},{action},{reward}" + (f",person {i % ids}" if ids else ""))
    return "\n".join(rows) + "\n"


# --- Refusals


def cases():
    """A learner without its name and agent, its agent, and a log; and what is said of them, or how that begins, before three dots."""
    words = {"$CONTEXT": CONTEXT, "$LIN": LIN, "$CLIP": CLIP, "$JOINT": JOINT, "$LOCAL": LOCAL.replace(", delta: 0", "")}
    given = []
    for line in (SOURCE / "tests/service/cases/warm.cases").read_text().splitlines():
        if line.startswith("=> "):
            for word, text in words.items():
                given = [part.replace(word, text) for part in given]
            yield pytest.param(given[0], given[1], "\n".join(given[2:]) + "\n", line[3:], id=line[3:60])
            given = []
        elif not line.startswith("## "):
            given.append(line)


@pytest.fixture(scope="module")
def desk():
    s = Server("")
    yield s
    s.close()


@pytest.mark.parametrize("learner, agent, log, said", cases())
def test_logs_and_learners_that_do_not_fit_are_refused_with_the_line(desk, learner, agent, log, said):
    desk.write("s.yaml", file_of(f"{learner}, agent: {agent}", "a"))
    desk.write("log.csv", log)
    done = desk.tool(f"serve --check {desk.directory}/s.yaml")
    assert done.returncode != 0
    why = done.stderr.replace(str(desk.directory), "dir").removeprefix("tacit: ").strip()
    assert why.startswith(said[:-3]) if said.endswith("...") else why == said


def test_a_log_that_does_not_fit_leaves_no_learner_behind(prepare):
    s = prepare(f"{ARMS}, users: 9, agent: {JOINT}, warm_start: log.csv", "state,action,reward\n0,0,1\n0,4,1\n")
    assert "log.csv:3: action must be the number of an action, from 0 to 3" in s.does_not_start()
    assert s.sql("SELECT count(*) FROM learner") == 0
    s.write("log.csv", "state,action,reward\n0,0,1\n0,3,1\n")
    start_and_warm(s)
    assert s.ledger("arms")["users"] == 2


# --- Users


def person_of(i):
    """Row i of a log in which what is best depends on age and country, and is not easy to tell."""
    number = i * 2654435761 % 2**32
    age, french, action = 18 + number % 61, number >> 8 & 1, number >> 10 & 1
    chance = 0.9 - 0.01 * age if action == 0 else 0.6 if french else 0.3
    return age, french, action, int((number >> 12) % 1000 < 1000 * chance)


def people_of(n):
    rows = (f"{reward},{age},{'FR' if french else 'DE'},{'high' if action else 'low'}\n"
            for age, french, action, reward in map(person_of, range(n)))
    return "reward,age,country,action\n" + "".join(rows)


def features_of(age, french):
    years = 2 * (age - 18) / 60 - 1
    length = (2 + years * years) ** 0.5
    return [1 / length, years / length, (1 - french) / length, french / length]


def solve(a, b):
    """x of a x = b, by elimination; `a` is positive definite."""
    rows = [row + [y] for row, y in zip(a, b)]
    for i, pivot in enumerate(rows):
        for row in rows[i + 1:]:
            factor = row[i] / pivot[i]
            row[:] = [x - factor * y for x, y in zip(row, pivot)]
    x = [0.0] * len(rows)
    for i in reversed(range(len(rows))):
        x[i] = (rows[i][-1] - sum(rows[i][j] * x[j] for j in range(i + 1, len(rows)))) / rows[i][i]
    return x


def is_learned(s, n):
    """What the service decides for people of all ages and both countries is what the ridge regressions of the same rows say, one for
    each action, with lambda 1 and no bonus."""
    grams = [[[float(i == j) for j in range(4)] for i in range(4)] for _ in range(2)]
    sums = [[0.0] * 4 for _ in range(2)]
    for age, french, action, reward in map(person_of, range(n)):
        x = features_of(age, french)
        for i in range(4):
            sums[action][i] += reward * x[i]
            for j in range(4):
                grams[action][i][j] += x[i] * x[j]
    thetas = [solve(*pair) for pair in zip(grams, sums)]
    chosen = set()
    for age, french in [(age, french) for french in (0, 1) for age in range(18, 79)]:
        low, high = (sum(t * x for t, x in zip(theta, features_of(age, french))) for theta in thetas)
        action = ok(s.post("/v1/decide", {"context": {"age": age, "country": "FR" if french else "DE"}}))["action"]
        assert action == ("low" if low >= high else "high"), (age, french, low - high)
        chosen.add(action)
    assert chosen == {"low", "high"}


def test_users_of_a_log_are_learned_as_all_others_are(prepare):
    s = prepare(f"{CONTEXT}, users: 100000, agent: {FREE}, monitor: {{epsilon: 1}}, warm_start: log.csv", people_of(400))
    start_and_warm(s)
    ledger = s.ledger("arms")
    assert (ledger["accepted"], ledger["users"]) == (400, 400)
    assert (ledger["warm_start"]["rows"], ledger["warm_start"]["users"]) == (400, 400)
    is_learned(s, 400)
    assert "learner arms is warmed up: 400 users of a log of 400 rows" in s.read("err")
    s.check()
    # and those who come are learned after them
    assert s.told(s.decide(context={"age": 20, "country": "FR"}), reward=1) == "finished"
    s.wait_users("arms", 401)
    assert s.sql("SELECT count(*) FROM seen") == 401
    assert s.sql("SELECT count(*) FROM event WHERE what LIKE '%warm%'") == 2


def test_people_of_a_log_have_taken_part(prepare):
    s = prepare(f"{ARMS}, users: 50, agent: {JOINT}, warm_start: log.csv", log_of(60, 40))
    assert ("log.csv has 60 rows of 40 people, and the learner learns from 40 of the rows; 10 users are left"
            in s.run("serve --check service.yaml"))
    start_and_warm(s)
    ledger = s.ledger("arms")
    assert (ledger["users"], ledger["warm_start"]["users"], ledger["warm_start"]["taken"]) == (40, 40, 60)
    decision = s.decide("arms", 0, user="person 39")
    assert decision["reason"] == "taken_part" and s.told(decision, reward=1) == "taken_part"
    assert s.told(s.decide("arms", 0, user="person 40"), reward=1) == "finished"
    assert s.sql("SELECT count(*) FROM person") == 41
    s.check()


def test_visits_of_a_log_are_counted_and_kept_apart(prepare):
    # ann at 1, too soon, two others, again at 4; then she has had all
    s = prepare(f"{ARMS}, users: 10, warm_start: {{file: log.csv, user: who}},\n     agent: {{kind: dp-ucbvi, privacy: {{model: "
                "joint, epsilon: 1, visits: 2, apart: 3}}",
                "who,state,action,reward\nann,0,0,1\nann,0,1,1\nbob,0,2,1\ncarl,1,0,1\nann,1,1,1\nann,2,0,0\ndora,0,0,0\n")
    assert "7 rows of 4 people, and the learner learns from 5 of the rows" in s.run("serve service.yaml --check")
    start_and_warm(s)
    assert s.ledger("arms")["users"] == 5
    assert s.sql("SELECT sum(visits) FROM person") == 5
    assert s.sql("SELECT max(last_place) FROM person WHERE visits=2") == 4
    for user, word in (("ann", "visits_used"), ("dora", "too_soon")):
        assert s.told(s.decide("arms", 0, user=user), reward=1) == word
    s.check()


def test_the_record_has_users_of_a_log_with_the_chance_that_it_tells(prepare):
    s = prepare(f"{CONTEXT}, users: 10, log_decisions: yes, agent: {CLIP}, warm_start: {{file: log.csv, action: dose, reward: "
                "cured, propensity: p}", "p,age,country,dose,cured\n0.25,18,DE,low,1\n0.5,200,FR,high,7\n")
    start_and_warm(s)
    assert s.ledger("arms")["users"] == 2
    first, second = map(json.loads, s.run("store export service.yaml --decisions").splitlines())
    assert (first["action"], first["probability"]) == ("low", 0.25)
    assert (second["action"], second["probability"], second["reward"]) == ("high", 0.5, 1)
    # 1, age at its end, and the second country, of length 1
    assert second["context"] == pytest.approx([3**-0.5, 3**-0.5, 0, 3**-0.5], abs=1e-8)


# --- Ends in the middle


def test_kills_lose_nobody_and_count_nobody_twice(prepare):
    rows = 6000
    s = prepare(f"{CONTEXT}, users: 100000, agent: {FREE}, plan_every: 100, warm_start: log.csv", people_of(rows))
    for life in range(12):
        s.restart()
        time.sleep(0.009 * life)  # at any moment
        if life % 3 == 2:
            s.end()
        else:
            s.kill()
    start_and_warm(s)
    ledger = s.ledger("arms")
    assert (ledger["users"], ledger["warm_start"]["users"]) == (rows, rows)
    is_learned(s, rows)
    s.kill()
    start_and_warm(s)
    assert s.ledger("arms")["accepted"] == rows
    s.check()


def test_a_log_that_changed_in_the_middle_is_refused_and_afterwards_ignored(prepare):
    rows = 20000
    log = log_of(rows)
    s = prepare(f"{ARMS}, users: 100000, agent: {{kind: ucbvi, privacy: {{model: none}}}}, warm_start: log.csv", log)
    s.restart()
    taken = wait_for(lambda: s.ledger("arms").get("warm_start", {}).get("taken"))
    s.kill()
    assert taken < rows
    s.write("log.csv", log[:-2] + ("1" if log[-2] == "0" else "0") + "\n")  # another reward
    assert "log.csv is not the log with which learner 'arms' was being warmed up" in s.does_not_start()
    s.write("log.csv", log)
    start_and_warm(s)
    assert s.ledger("arms")["users"] == rows
    s.end()
    s.write("log.csv", "state,action\n")  # not even a log any more
    start_and_warm(s)
    assert "was warmed up with 20000 rows of a log that differs from log.csv" in s.read("err")
    assert s.ledger("arms")["users"] == rows
    s.end()
    (s.directory / "log.csv").unlink()
    start_and_warm(s)
    assert s.ledger("arms")["users"] == rows
    s.check()


def test_a_row_that_was_set_back_is_noticed(prepare):
    """How far it has come is under the proof of the store."""
    s = prepare(f"{ARMS}, users: 1000, agent: {JOINT}, warm_start: log.csv", log_of(50))
    start_and_warm(s)
    s.end()
    s.sql("DELETE FROM meta WHERE name LIKE 'warm:%'")
    if s.start():
        assert ok(s.get("/healthz"))["status"] == "unsound"
        assert s.ledger("arms")["accepted"] == 50
