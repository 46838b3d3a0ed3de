"""Names instead of numbers: columns of a context and actions, as requests and answers have them; that users must say who they are;
what is refused at start. How names are read and encoded is in tests/unit/test_action_names.c."""

import json
import re

import pytest

from harness import HEAD, JOINT, LOCAL, ok, refused

LIN = "{kind: lin-ucb, privacy: {model: joint, epsilon: 1}}"
CLIP = "{kind: lin-ucb, outside: clip, privacy: {model: joint, epsilon: 1}}"
COLUMNS = "age 17..90, gain 0..1000 log, height 140..200 ?, country {DE | FR | IT}, city {Bonn | ...}"
SPACE = f"{{context: '{COLUMNS}', actions: [low, medium, high]}}"
DOSE = f"  - {{name: dose, space: {SPACE}, users: 100, agent: {LIN}}}\n"
PEOPLE = HEAD + DOSE + f"""  - {{name: clip, space: {SPACE}, users: 100, agent: {CLIP}}}
  - {{name: free, space: {SPACE}, users: 100, agent: {{kind: lin-ucb, privacy: {{model: none}}}}}}
  - {{name: walk, space: {{states: 3, actions: [stay, 'go "on"'], horizon: 1, user: required}}, users: 100, agent: {JOINT}}}
"""
ODD = HEAD + f"""  - name: odd
    space:
      context: 'größe 140..200 ?, "x y, z" {{1 | 2.5 | null | 日本 | a, b}}, n {{"c" | d\\e | ...}}'
      actions: ["lo\\"w", 日本語, '<b>', 0, "null", ' 0']
    users: 100
    agent: {LIN}
"""


@pytest.fixture(scope="module")
def people(serve_all):
    return serve_all(PEOPLE)


@pytest.fixture(scope="module")
def odd(serve_all):
    return serve_all(ODD)


def decide_for(s, learner, context):
    """`context` is JSON, as it is."""
    return s.post("/v1/decide", f'{{"learner":"{learner}","context":{context}}}')


# --- Requests


def test_a_request_has_names_and_so_has_its_answer(serve):
    s = serve(PEOPLE)
    decision = ok(decide_for(s, "dose", '{"age":41,"gain":10,"height":170,"country":"DE","city":"Bonn"}'))
    assert decision["action"] in ("low", "medium", "high") and "outside" not in decision
    assert s.told(decision, reward=1) == "finished"
    s.wait_users("dose", 1)


@pytest.mark.parametrize("context, status", [
    # what may be missing is null, or left out if it is declared with a question mark; other cities are one
    ('{"age":41,"gain":10,"country":null,"city":null}', 200),
    ('{"age":9e1,"gain":0,"height":null,"country":null,"city":"K\\u00f6ln"}', 200),
    # who encodes may send the features
    ("[1,0,0,0,0,0,0,0,0]", 200),
    ("[1,1,0,0,0,0,0,0,0]", 422),
    ("[1,0,0]", 422),
])
def test_a_context_may_lack_columns_or_be_features(people, context, status):
    assert "outside" not in ok(decide_for(people, "dose", context), status) or status == 422


# Quotes, other alphabets, spaces, categories and actions that look like something else: all are text, compared byte by byte.
@pytest.mark.parametrize("context, code, field", [
    ('{"größe":170,"x y, z":"1","n":"\\"c\\""}', None, None),
    ('{"gr\\u00f6\\u00dfe":170,"x y, z":"\\u65e5本","n":"d\\\\e"}', None, None),
    ('{"x y, z":"null","n":null}', None, None),
    ('{"x y, z":"a, b","n":null}', None, None),
    ('{"x y, z":null,"n":" \\"c\\""}', None, None),  # one of the others
    ('{"x y, z":null,"n":"a\\u0000b"}', None, None),
    ('{"x y, z":"1"}', "missing", "context.n"),
    ('{"n":"d\\\\e"}', "missing", "context.x y, z"),
    ('{"x y, z":"2.50"}', "out_of_range", "context.x y, z"),
    ('{"x y, z":"1\\u0000"}', "out_of_range", "context.x y, z"),
    ('{"x y, z":" 1"}', "out_of_range", "context.x y, z"),
    ('{"x y, z":"a"}', "out_of_range", "context.x y, z"),
    ('{"x y, z":1}', "out_of_range", "context.x y, z"),
    ('{"größe":500}', "out_of_range", "context.größe"),
    ('{"gro\\u0308ße":170}', "unknown_field", "context"),
    ('{"\\"x y, z\\"":"1"}', "unknown_field", "context"),
    ('{"":1}', "unknown_field", "context"),
])
def test_names_may_be_odd(odd, context, code, field):
    answer = decide_for(odd, "odd", context)
    if code is not None:
        refused(answer, 422, code, field)
    else:
        assert ok(answer)["action"] in ('lo"w', "日本語", "<b>", "0", "null", " 0")


@pytest.mark.parametrize("context, code, field, clipped", [
    ('{"age":12,"gain":0}', "out_of_range", "context.age", True),
    ('{"age":90.5,"gain":0}', "out_of_range", "context.age", True),
    ('{"age":41,"gain":-1e300}', "out_of_range", "context.gain", True),
    ('{"age":41,"gain":0,"country":"secret"}', "out_of_range", "context.country", True),
    ('{"age":41,"gain":0,"country":""}', "out_of_range", "context.country", True),
    ('{"gain":0}', "missing", "context.age", True),
    ('{"age":null,"gain":0}', "missing", "context.age", True),
    ('{"age":"41","gain":0}', "out_of_range", "context.age", False),
    ('{"age":41,"gain":0,"country":1}', "out_of_range", "context.country", False),
    ('{"age":41,"gain":0,"contry":"secret"}', "unknown_field", "context", False),
    ('{"age":41,"\\u0061ge":41,"gain":0}', "unknown_field", "context", False),
    ('"secret"', "out_of_range", "context", False),
    ("7", "out_of_range", "context", False),
])
def test_what_lies_outside_is_refused_or_clipped(people, context, code, field, clipped):
    assert "secret" not in refused(decide_for(people, "dose", context), 422, code, field)
    answer = decide_for(people, "clip", context)
    if clipped:
        assert ok(answer)["outside"] is True
    else:
        refused(answer, 422, code, field)


def test_what_is_missing_is_a_mistake_unless_all_are_taken_as_they_come(people):
    refused(decide_for(people, "dose", '{"age":41,"gain":0,"city":null}'), 422, "missing", "context.country")
    assert "outside" not in ok(decide_for(people, "clip", '{"age":41,"gain":0}'))
    # a missing place is no place of a learner
    refused(people.post("/v1/decide", {"learner": "dose"}), 422, "missing", "context")
    refused(people.post("/v1/decide", {"learner": "dose", "state": 1}), 422, "out_of_range", "state")


@pytest.mark.parametrize("context, words", [
    ('{"age":41,"gain":0,"contry":"DE"}', "context has a column that is not declared (did you mean 'country'?); the columns "
     "are: age, gain, height, country, city"),
    ('{"age":41,"gain":0,"secret":"DE"}', "context has a column that is not declared; the columns are: age, gain"),
    ('{"age":41,"\\u0061ge":41,"gain":0}', "context has the column age twice"),
    ('{"age":41,"gain":0,"country":"ES"}', "context.country must be one of: DE, FR, IT"),
    ('{"age":"41","gain":0}', "context.age must be a number from 17 to 90, not text"),
    ('{"age":41,"gain":0,"country":1}', "context.country must be text, not a number"),
    ('{"age":41,"gain":0,"city":"Bonn"}', "context.country is missing; send null if it is not known"),
    ("[]", "context must be an array of 9 numbers"),
])
def test_errors_name_the_column_and_what_it_may_have(people, context, words):
    """Who reads an error knows what to change."""
    answer = ok(decide_for(people, "dose", context), 422)
    assert words in answer and "secret" not in answer and "contry" not in answer


@pytest.mark.parametrize("route", ["guarantee", "billboard", "ledger"])
def test_names_are_told_to_whoever_asks(people, route):
    dose = ok(people.get(f"/v1/{route}?learner=dose"))
    assert '"actions":3,' in dose and '"action_names":["low","medium","high"]' in dose
    assert ('"columns":[{"name":"age","low":17,"high":90},{"name":"gain","low":0,"high":1000,"log":true},{"name":"height",'
            '"low":140,"high":200,"missing":true},{"name":"country","categories":["DE","FR","IT"]},{"name":"city",'
            '"categories":["Bonn"],"others":true}],"intercept":true,"unit":true') in dose
    walk = ok(people.get(f"/v1/{route}?learner=walk"))
    assert '"action_names":["stay","go \\"on\\""]' in walk and '"user":"required"' in walk


def test_who_must_say_who_they_are_is_refused_without(serve):
    s = serve(PEOPLE)
    for body in {"state": 1}, {"state": 1, "user": None}:
        refused(s.post("/v1/decide", {"learner": "walk", **body}), 422, "missing", "user")
    refused(s.post("/v1/episodes", {"learner": "walk"}), 422, "missing", "user")
    for user in "ada", "Ada":  # ids are taken as they are: another writing is another user
        decision = s.decide("walk", 1, user=user)
        assert decision["action"] in ("stay", 'go "on"')
        assert s.told(decision, reward=1) == "finished"
    s.wait_users("walk", 2)


# --- Starts


@pytest.mark.parametrize("context, actions", [("age 17..91", "low, high"), ("age 17..90", "high, low")])
def test_other_names_are_another_learner(serve, context, actions):
    def file_of(context, actions):
        return HEAD + f"  - {{name: dose, space: {{context: '{context}', actions: [{actions}]}}, users: 9, agent: {LIN}}}\n"
    s = serve(file_of("age 17..90", "low, high"))
    s.end()
    s.rewrite(file_of(context, actions))
    assert "the store has a learner 'dose' with other settings" in s.does_not_start()
    s.restart(file_of("age   17..90", "low, high"))


def test_learners_that_the_file_has_not_are_told_of(serve):
    s = serve(PEOPLE)
    assert "that is not in the service file" not in s.read("err")
    assert s.told(s.decide("walk", 1, user="ada"), reward=1) == "finished"
    s.wait_users("walk", 1)
    s.restart(HEAD + DOSE)
    said = s.read("err")
    assert "learner dose that is not in the service file" not in said
    for name in "clip", "free", "walk":
        assert (f"the store has a learner {name} that is not in the service file: it is not served, and 0 of its users wait "
                "in the store") in said


@pytest.mark.parametrize("limit, name, space, agent, message", [
    (262144, "wide", "features: 128, actions: 128", "lin-ucb, privacy: {model: none}",
     "tacit: service.yaml:6: requests to learner 'wide' may have 410112 bytes, but limits.body is 262144; write limits: "
     "{body: 410112}"),
    (67108864, "vast", "features: 4096, actions: 100000", "lin-ucb, privacy: {model: none}",
     "tacit: service.yaml:6: requests to learner 'vast' may have 10240000512 bytes, more than any limits.body (67108864): it "
     "needs a smaller space"),
    (64, "small", "states: 2, actions: 2, horizon: 1", "ucbvi, privacy: {model: none}", None),
    (1024, "device", "states: 30, actions: 2, horizon: 1", "dp-ucbvi, privacy: {model: local, epsilon: 1}", None),
])
def test_learners_whose_requests_do_not_fit_are_refused_at_start(serve, limit, name, space, agent, message):
    """A learner whose requests cannot be taken does not start, and one with the limit that it asks for takes them, in full."""
    def file_of(body):
        return (f"listen: 127.0.0.1:0\nstore: service.db\nlimits: {{body: {body}}}\nlearners:\n  - {{name: {name}, users: 9, "
                f"space: {{{space}}},\n     agent: {{kind: {agent}}}}}\n")
    s = serve(file_of(limit), start=False)
    assert not s.start() and s.code in (2, 3)
    assert message is None or s.said == [message]
    asked = re.search(r"write limits: \{body: (\d+)", s.read("err"))
    assert (asked is None) == (name == "vast")
    if asked is not None:  # with what it asks for, it starts
        s.restart(file_of(asked[1]))
    if name == "wide":
        numbers = ",".join(f"{-1e-3 - 1e-9 * i:.16e}" for i in range(128 * 128))
        ok(s.post("/v1/decide", f'{{"context":[{numbers}]}}'))


# --- Programs


def test_devices_read_a_billboard_with_names(serve):
    """Devices act by numbers, which are places in the billboard's list of names."""
    s = serve(HEAD + f"  - {{name: ours, space: {{states: 2, actions: [stay, go], horizon: 1}}, users: 50, "
              f"agent: {LOCAL}}}\n")
    assert '"action_names":["stay","go"]' in ok(s.get("/v1/billboard"))
    report, key = s.live("ours")
    ok(s.post("/v1/reports", report, key), 202)
    s.wait_users("ours", 1)


def test_the_simulator_knows_names(serve):
    """The simulator plays people of a file against named columns, with the features that it has made itself."""
    s = serve(PEOPLE)
    s.write("people.csv", "age,gain,height,country,city,dose\n" + "".join(
        f"{20 + i},{i},150,DE,Bonn,{'low' if i < 9 else 'high'}\n" for i in range(20)))
    s.end()
    s.token = s.make_token("simulator", "decide,observe,read")
    s.restart()  # it knows the token now
    done = s.simulate("free", ["--users", "20", "--world", "logged-bandit", "--set", "file=people.csv", "--set",
                               "answer=dose {low | medium | high}", "--set", f"context={COLUMNS}"])
    assert done.returncode == 0 and json.loads(done.stdout)["users"] == 20, done
    s.wait_users("free", 20)
    done = s.simulate("walk", "--users 5 --world random-tabular --set states=3 --set actions=2 --set horizon=1")
    assert done.returncode == 0, done
    s.wait_users("walk", 5)
