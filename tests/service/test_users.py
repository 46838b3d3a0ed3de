"""tacit simulate-users against a real server: worlds of every family, in both models."""

import json
import math
import os
import signal
import subprocess

import pytest

from harness import HEAD, JOINT, SOURCE, TACIT

LIN = "{kind: lin-ucb, privacy: {model: joint, epsilon: 1}}"
LOCAL_LIN = "{kind: lin-ucb, privacy: {model: local, epsilon: 1}}"
FREE_LIN = "{kind: lin-ucb, privacy: {model: none}}"
UCBVI_LOCAL = "{kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}"


def learners(*rows):
    return HEAD + "".join(f"  - {{name: {name}, space: {{{space}}}, users: {users}, agent: {agent}}}\n"
                          for name, space, users, agent in rows)


def play(s, learner, users, arguments, before=0):
    """All of so many users have come and were learned from: what was said of them."""
    done = s.simulate(learner, (arguments.split() if isinstance(arguments, str) else arguments) + ["--users", str(users)])
    assert done.returncode == 0, done
    said = json.loads(done.stdout)
    assert (said["users"], said["known"], said["failures"]) == (users, users, 0)
    s.wait_users(learner, before + users)
    ledger = s.ledger(learner)
    assert (ledger["refused"], ledger["users"]) == (0, before + users)
    return said


# --- Both models, every family


def test_users_bring_features_in_the_joint_model(serve):
    bandit = "features: 3, actions: 4"
    s = serve(learners(("free", bandit, 4000, FREE_LIN), ("few", bandit, 4000, LIN), ("own", bandit + ", shared: no", 4000, LIN),
                       ("steps", "features: 3, actions: 2, horizon: 3", 400,
                        "{kind: lsvi-ucb, privacy: {model: joint, epsilon: 1}}"),
                       ("numbers", "states: 8, actions: 4, horizon: 2", 400, JOINT)))
    # users of their own, or one of twenty whose features everybody knows
    fresh = "--world linear-bandit --set d=3 --set actions=4 --set contexts=0"
    known = "--world linear-bandit --set d=3 --set actions=4 --set contexts=20"
    first = play(s, "free", 50, fresh + " --clients 1")["mean_regret"]
    play(s, "free", 1000, fresh, before=50)
    later = play(s, "free", 1000, fresh + " --seed 2", before=1050)
    # by then it knows theta well: features have arrived where they belong
    assert 0 <= later["mean_regret"] < min(first / 2, 0.05)
    assert later["best_return"] is None  # nobody can tell what is possible
    said = play(s, "few", 60, known)
    assert said["mean_regret"] >= 0 and 0.5 <= said["best_return"] <= 1
    play(s, "own", 60, "--world linear-bandit --set d=3 --set actions=4 --set arms=disjoint")
    said = play(s, "steps", 30, "--world random-linear --set d=3 --set states=7 --set actions=2 --set horizon=3")
    assert 0 <= said["mean_return"] <= said["best_return"] + 1
    play(s, "numbers", 30, "--world random-mixture --set horizon=2")


def test_users_bring_features_in_the_local_model(serve):
    bandit = "features: 3, actions: 4"
    mixture = "states: 5, actions: 3, horizon: 2"
    s = serve(learners(("few", bandit, 4000, LOCAL_LIN), ("own", bandit + ", shared: no", 4000, LOCAL_LIN),
                       ("kernel", "states: 6, actions: 5, horizon: 1", 400, UCBVI_LOCAL),
                       ("mixed", mixture, 400, "{kind: linopt-vi, privacy: {model: local, epsilon: 1}}"),
                       ("watched", mixture, 400, UCBVI_LOCAL + ", monitor: {epsilon: 100, delta: 0}")))
    said = play(s, "few", 60, "--world linear-bandit --set d=3 --set actions=4 --set contexts=0")
    assert said["requests"] == 120  # one billboard, one report
    play(s, "own", 60, "--world linear-bandit --set d=3 --set actions=4 --set arms=disjoint")
    # in the world's own units, which go below 0 here
    said = play(s, "kernel", 40, "--world kernel-bandit --set contexts=6 --set actions=5")
    assert said["mean_regret"] >= 0 and said["best_return"] > said["mean_return"] - 0.5
    play(s, "mixed", 40, "--world random-mixture --set states=5 --set actions=3 --set horizon=2")
    assert "reward" not in [release["name"] for release in s.ledger("mixed")["releases"]]
    # with a monitor, what devices earn is seen, privatized on each: sqrt(2) / 100 / sqrt(40) = 0.0022 off
    said = play(s, "watched", 40, "--world random-tabular --set states=5 --set actions=3 --set horizon=2")
    ledger = s.ledger("watched")
    assert 0.0022 <= ledger["reward_error"] <= 0.0023
    assert abs(ledger["reward"] - said["mean_return"] / 2) <= 0.0135  # 6 deviations
    assert "reward" in [release["name"] for release in ledger["releases"]]
    assert 99 <= ledger["together"]["epsilon"] <= 101  # 1 and 100
    s.kill_and_start()
    assert s.ledger("watched")["reward"] == ledger["reward"]


# --- People of files


def test_people_of_files_come_once(serve):
    space = "features: 2, actions: 2, shared: no"
    s = serve(learners(("right", space, 4000, LIN), ("logged", space, 4000, LIN), ("device", space, 4000, LOCAL_LIN)))
    ages = [20 + i % 50 for i in range(80)]
    s.write("people.csv", "age,right\n" + "".join(f"{age},{'a' if age < 45 else 'b'}\n" for age in ages))
    # done at random, one in four times a
    s.write("log.csv", "age,did,how_likely,outcome\n" + "".join(
        f"{age},{'b' if i % 4 else 'a'},{0.75 if i % 4 else 0.25},{0.5 if i % 3 else 1}\n" for i, age in enumerate(ages)))
    right = ["--world", "logged-bandit", "--set", "file=people.csv", "--set", "answer=right {a | b}", "--set",
             "context=age 20..70"]
    log = ["--world", "logged-bandit", "--set", "file=log.csv", "--set", "action=did {a | b}", "--set",
           "propensity=how_likely", "--set", "reward=outcome 0..1", "--set", "context=age 20..70", "--users", "80"]
    said = play(s, "right", 80, right)
    # one right answer each: what is not earned is regret
    assert math.isclose(said["mean_return"] + said["mean_regret"], 1, rel_tol=1e-9)
    done = s.simulate("right", right + ["--users", "81"])
    assert (done.returncode, done.stderr) == (2, "tacit: the world logged-bandit has 80 people, but --users is 81\n")
    # of a log, only those for whom the service did what was done tell anything
    for name in "logged", "device":
        done = s.simulate(name, log)
        assert done.returncode == 0, done
        said = json.loads(done.stdout)
        assert said["users"] == 80 and 1 <= said["known"] < 80
        s.wait_users(name, said["known"])
        assert s.ledger(name)["accepted"] == said["known"]


def test_real_people_are_played_where_their_file_is(serve):
    """Real people, if somebody has put them there: the directory TACIT_DATA, or data/ as in the examples."""
    file = os.path.join(os.environ.get("TACIT_DATA", SOURCE / "data"), "warfarin.csv")
    if not os.access(file, os.R_OK):
        pytest.skip("no warfarin.csv in TACIT_DATA or data/")
    space = "features: 18, actions: 3, shared: no"
    s = serve(learners(("dose", space, 5528, FREE_LIN),
                       ("device", space, 5528, "{kind: lin-ucb, privacy: {model: local, epsilon: 10}}")))
    people = ["--world", "logged-bandit", "--set", f"file={file}", "--set", "answer=dose_bucket {low | medium | high}",
              "--set", "context=age_decade 1..9 ?, height_cm 120..205 ?, weight_kg 30..240 ?, "
              "race {Asian | Black or African American | White | ...}, amiodarone {1 | ...}, enzyme_inducer {1 | ...}, "
              "cyp2c9 {*1/*1 | *1/*2 | *1/*3 | ...}, vkorc1 {A/A | A/G | G/G | ...}"]
    assert play(s, "dose", 600, people)["mean_regret"] < 0.5  # of three doses, and by far not by chance, which has 2/3
    play(s, "device", 600, people)


# --- Their curve


def check_curve(s, learner, users, limit):
    """The learner's history has a point for every user up to the 50th, then one every 2 %, and the last; all of them have a reward."""
    points = s.get(f"/v1/history?learner={learner}")["points"]
    expected, number = [], 1
    while number <= users:
        expected.append(number)
        number = min(number + number // 50 + 1, limit) if number < limit else limit + 1
    assert [point["users"] for point in points] == expected
    versions = [point["version"] for point in points]
    assert versions == sorted(versions) and all(math.isfinite(point["reward"]) for point in points)


def test_their_curve_does_not_depend_on_how_they_gather(serve):
    walk = "states: 2, actions: 2, horizon: 2"
    s = serve(learners(("joint", walk, 300, JOINT + ", monitor: {epsilon: 1}"),
                       ("local", walk, 300, "{kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0}}, "
                        "monitor: {epsilon: 1, delta: 0}")))
    world = "--set states=2 --set horizon=2 --clients 16"
    for learner in "joint", "local":
        play(s, learner, 160, world)
        check_curve(s, learner, 160, 300)
    s.kill_and_start()
    for learner in "joint", "local":
        check_curve(s, learner, 160, 300)
        play(s, learner, 140, world + " --seed 2", before=160)
        check_curve(s, learner, 300, 300)


# --- What does not fit


@pytest.fixture(scope="module")
def sized(serve_all):
    return serve_all(learners(
        ("numbers", "states: 6, actions: 2, horizon: 20", 40, "{kind: dp-ucbvi, privacy: {model: none}}"),
        ("features", "features: 3, actions: 4, bound: 0.5", 40, FREE_LIN)))


NUMBERS = "6 states, 2 actions and horizon 20"
FEATURES = "3 features of each action of norm at most 0.5, 4 actions and horizon 1"
BANDIT = "--world linear-bandit --set contexts=0 "


@pytest.mark.parametrize("learner, arguments, world, space", [
    ("numbers", "--set states=5 --set horizon=20", "riverswim has 5 states, 2 actions and horizon 20", NUMBERS),
    ("numbers", BANDIT + "--set d=2 --set actions=2",
     "linear-bandit has 2 features of each action of norm at most 1, 2 actions and horizon 1", NUMBERS),
    ("features", "--set states=6", "riverswim has 6 states, 2 actions and horizon 20", FEATURES),
    ("features", BANDIT + "--set d=3 --set actions=4",
     "linear-bandit has 3 features of each action of norm at most 1, 4 actions and horizon 1", FEATURES),
    ("features", BANDIT + "--set d=3 --set actions=4 --set arms=disjoint",
     "linear-bandit has 3 features of each user of norm at most 1, 4 actions and horizon 1", FEATURES),
])
def test_what_does_not_fit_is_said_of_both(sized, learner, arguments, world, space):
    done = sized.simulate(learner, arguments)
    assert (done.returncode, done.stderr) == (2, f"tacit: the world {world}; the learner has {space}\n")


def test_a_learner_that_there_is_not_is_said(sized):
    done = sized.simulate("nobody", "")
    assert done.returncode == 2 and "has no learner 'nobody'; its service file has the names" in done.stderr


def test_an_interrupted_play_is_told(serve):
    """Ctrl-C in the middle: those who are there finish, and what came of it is told."""
    s = serve(learners(("arms", "states: 6, actions: 2, horizon: 2", 4000000, JOINT)))
    s.write("token", s.token + "\n")
    playing = subprocess.Popen([TACIT, "simulate-users", s.url, "--token-file", "token", "--set", "horizon=2", "--users",
                                "4000000", "--json"], cwd=s.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    s.wait_users("arms", 20)
    playing.send_signal(signal.SIGINT)
    out, err = playing.communicate(timeout=120)
    assert playing.returncode == 130
    said = json.loads(out)
    assert said["users"] >= 20 and said["failures"] == 0
    assert f"tacit: interrupted: {said['users']} of 4000000 users came, and their observations are kept\n" in err.decode()
    s.wait_users("arms", said["users"])  # all of them
