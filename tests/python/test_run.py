"""Experiments from Python: the numbers of the command, frames, figures, the report, and Ctrl-C."""

import math
import os
import pathlib
import subprocess
import sys
import threading
import time
import warnings

import numpy
import pytest

import tacit

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
COMMAND = os.path.join(os.environ["TACIT_BUILD"], "tacit")
SMALL = {
    "title": "small",
    "worlds": [{"kind": "riverswim", "states": [4, 5], "horizon": 8}],
    "episodes": 300,
    "runs": 3,
    "seed": 5,
    "agents": [
        {"label": "plain", "kind": "ucbvi"},
        {"label": "private", "kind": "dp-ucbvi", "privacy": tacit.joint(5, 1e-4)},
        {"kind": "uniform"},
    ],
}


@pytest.fixture(scope="module")
def small():
    return tacit.run(SMALL)


def test_results_are_those_of_the_command(tmp_path):
    file = SOURCE / "examples/riverswim.yaml"
    subprocess.run([COMMAND, "run", str(file), "--episodes", "300", "--runs", "2", "-o", str(tmp_path / "r"), "-q"],
                   check=True, capture_output=True)
    theirs = tacit.open_results(tmp_path / "r")
    ours = tacit.run(file, episodes=300, runs=2)
    assert ours.agents == theirs.agents and ours.complete and theirs.complete
    for agent in ours.agents:
        assert (ours.curves(agent) == theirs.curves(agent)).all()
    names = [row["kind"] for row in ours.summary()]
    assert names[0] == "posterior-tabular"  # what auto stands for


def test_threads_change_nothing(small):
    one = tacit.run(SMALL, threads=1)
    for world in small.worlds:
        for agent in small.agents:
            assert (one.curves(agent, world) == small.curves(agent, world)).all()


def test_summary_and_frames(small):
    rows = small.summary()
    assert len(rows) == 6 and {row["world"] for row in rows} == {"riverswim states 4", "riverswim states 5"}
    private = [row for row in rows if row["agent"] == "private"][0]
    assert private["epsilon"] == 5 and private["delta"] == 1e-4 and private["runs"] == 3
    curves = small.curves("private", "riverswim states 4")
    assert curves.shape == (3, 300)
    assert private["regret_mean"] == pytest.approx(curves[:, -1].mean(), rel=1e-12)
    assert private["regret_error"] == pytest.approx(curves[:, -1].std(ddof=1) / math.sqrt(3), rel=1e-9)
    assert private["regret_half"] == pytest.approx(4.302653 * private["regret_error"], rel=1e-6)  # t of 2 degrees
    frame = small.frame()
    assert list(frame["agent"])[:3] == ["plain", "private", "uniform"]
    long = small.frame("curves")
    last = long[(long.world == "riverswim states 4") & (long.agent == "private") & (long.episode == 300)]
    assert numpy.allclose(sorted(last.regret), sorted(curves[:, -1]))
    with pytest.raises(ValueError, match="several worlds"):
        small.curves("private")
    with pytest.raises(KeyError, match="no agent has the label"):
        small.curves("nobody", "riverswim states 4")


def test_promise_of_an_agent(small):
    assert small.guarantee("private", "riverswim states 4").epsilon <= 5 * (1 + 1e-9)
    assert small.guarantee("plain", "riverswim states 4") is None
    assert {line["name"] for line in small.releases("private", "riverswim states 5")}


def test_figure(small):
    import matplotlib.pyplot as pyplot

    axes = small.plot()
    assert len(axes) == 2 and [line.get_label() for line in axes[0].lines] == small.agents
    assert len(axes[0].collections) == 3  # a band for each: three runs
    y = axes[0].lines[1].get_ydata()
    assert y[-1] == pytest.approx(small.curves("private", "riverswim states 4")[:, -1].mean())
    _, ax = pyplot.subplots()
    assert small.plot("riverswim states 5", ax=ax, agents=["plain"]) is ax
    pyplot.close("all")


def test_report_and_notebook(small, tmp_path):
    path = tmp_path / "report.html"
    small.report(path)
    page = path.read_text(encoding="utf-8")
    assert "<html" in page and "small" in page
    shown = small._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "&lt;html" in shown
    assert "<script" not in small.html(still=True)


def test_results_stay_in_a_directory(tmp_path):
    first = tacit.run(SMALL, directory=tmp_path / "r")
    with pytest.raises(tacit.ExistsError, match="resume=True plays the missing jobs, force=True discards these results"):
        tacit.run(SMALL, directory=tmp_path / "r")
    again = tacit.run(SMALL, directory=tmp_path / "r", resume=True)
    assert [r["regret_mean"] for r in first.summary()] == [r["regret_mean"] for r in again.summary()]
    with pytest.raises(tacit.WrongPlanError, match="force=True"):
        tacit.run({**SMALL, "seed": 6}, directory=tmp_path / "r", resume=True)
    tacit.run({**SMALL, "seed": 6}, directory=tmp_path / "r", force=True)
    with pytest.raises(ValueError):
        tacit.run(SMALL, resume=True)
    with pytest.raises(tacit.Error):
        tacit.run({**SMALL, "episodes": -1}, directory=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_wrong_experiments_are_refused_with_the_sentence():
    with pytest.raises(tacit.Error, match="no key 'episode', did you mean 'episodes'"):
        tacit.run({"world": {"kind": "riverswim"}, "episode": 5, "agents": [{"kind": "ucbvi"}]})
    with pytest.raises(tacit.Error, match="nowhere.yaml"):
        tacit.run("nowhere.yaml")
    with pytest.raises(tacit.TooLargeError, match="raise max_jobs"):
        tacit.run({**SMALL, "runs": 1000}, max_jobs=100)
    with pytest.raises(TypeError, match="no place in an experiment"):
        tacit.run({"world": {"kind": object()}})


def test_forgotten_privacy_is_warned_of():
    with pytest.warns(UserWarning, match="agent 'dp-ucbvi' has no 'privacy' and works on exact data"):
        tacit.run({**SMALL, "agents": [{"kind": "dp-ucbvi"}]}, episodes=5)
    with pytest.warns(UserWarning, match="a delta above 1/users"):
        tacit.run({**SMALL, "agents": [{"kind": "dp-ucbvi", "privacy": tacit.joint(1, 0.5)}]}, episodes=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.run(SMALL, episodes=5)
        with pytest.raises(UserWarning):
            tacit.run({**SMALL, "agents": [{"kind": "dp-ucbvi"}]}, episodes=5)


def test_progress_is_told_and_can_stop(capsys):
    seen = []
    tacit.run(SMALL, progress=seen.append)
    assert seen and seen[-1]["jobs"] == seen[-1]["n_jobs"] == 18
    assert tacit.run(SMALL, progress=True).complete

    def enough(now):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        tacit.run(SMALL, progress=enough)


LONG = """
import signal, sys, threading, os, tacit
experiment = {"world": {"kind": "riverswim", "states": 6, "horizon": 20}, "episodes": 4000, "runs": 12, "seed": 3,
              "agents": [{"kind": "ucbvi"}, {"kind": "dp-ucbvi", "privacy": tacit.joint(1)}]}
directory = sys.argv[1]
def press(now):
    if now["jobs"] >= 2:
        os.kill(os.getpid(), signal.SIGINT)
try:
    tacit.run(experiment, directory=directory, progress=press)
    print("was not stopped")
except KeyboardInterrupt as stop:
    assert isinstance(stop, tacit.Interrupted)
    print(stop.args[0].split(";")[0], stop.results.complete)
    done = sum(row["runs"] for row in stop.results.summary())
    assert 2 <= done < 24, done
resumed = tacit.run(experiment, directory=directory, resume=True)
whole = tacit.run(experiment)
for agent in whole.agents:
    assert (resumed.curves(agent) == whole.curves(agent)).all()
print("the same", resumed.complete)
"""


def test_ctrl_c_stops_and_resumes(tmp_path):
    done = subprocess.run([sys.executable, "-c", LONG, str(tmp_path / "r")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["stopped False", "the same True"], done.stdout


def test_the_gil_is_free_while_a_run_goes_on():
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    tacit.run({**SMALL, "episodes": 2000})
    during = counted - before
    stop.set()
    thread.join()
    assert during > 100
