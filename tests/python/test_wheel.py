"""The wheel installs without a network and works where the tree is not; the notebook runs."""

import json
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
BUILD = pathlib.Path(os.environ["TACIT_BUILD"])
CHECK = """
import tacit, sys
assert sys.argv[1] in tacit.__file__, tacit.__file__
world = tacit.World("riverswim", chance=1)
agent = tacit.Agent("auto", world, episodes=10, privacy=tacit.joint(1))
agent.learn(*world.play(agent.plan()))
print(tacit.__version__, agent.users)
"""


@pytest.fixture(scope="module")
def wheel():
    pytest.importorskip("wheel")
    done = subprocess.run(["cmake", "--build", str(BUILD), "--target", "tacit_wheel"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return max((BUILD / "python").glob("tacit-*.whl"), key=lambda path: path.stat().st_mtime)


def test_the_wheel_installs_and_works(wheel, tmp_path):
    assert "-cp311-abi3-linux_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {"tacit/__init__.py", "tacit/_tacit.abi3.so", "tacit/_tacit.pyi", "tacit/py.typed"} <= set(names)
    target = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile", "--target", str(target),
         "--disable-pip-version-check", "--root-user-action", "ignore", str(wheel)],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = subprocess.run([sys.executable, "-c", CHECK, str(target)], env={**os.environ, "PYTHONPATH": str(target)},
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0 and said.stdout.split()[1] == "1", said.stderr


def test_only_the_limited_interface_is_used(wheel):
    """Of names that begin with _Py the stable ABI has these, and forms of functions that take sizes."""
    text = subprocess.run(["nm", "-D", "--undefined-only", str(BUILD / "python/tacit/_tacit.abi3.so")],
                          capture_output=True, text=True, check=True).stdout
    used = {line.split()[-1] for line in text.splitlines() if line.split()[-1].startswith(("Py", "_Py"))}
    assert "PyObject_GetBuffer" in used
    private = {name for name in used if name.startswith("_Py") and not name.endswith("_SizeT")}
    assert private <= {"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct"}
    exported = subprocess.run(["nm", "-D", "--defined-only", str(BUILD / "python/tacit/_tacit.abi3.so")],
                              capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in exported.splitlines()] == ["PyInit__tacit"]


def test_the_notebook_runs(tmp_path):
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    book = SOURCE / "examples/notebook/price_of_privacy.ipynb"
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", str(tmp_path), str(book)],
        env={**os.environ, "HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path)},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / book.name).read_text())["cells"]
    outputs = [o for cell in cells if cell["cell_type"] == "code" for o in cell["outputs"]]
    kinds = {kind for o in outputs for kind in o.get("data", {})}
    assert "image/png" in kinds and any("iframe" in "".join(o.get("data", {}).get("text/html", "")) for o in outputs)
    assert all(not cell.get("outputs") for cell in json.loads(book.read_text())["cells"])  # kept without outputs
