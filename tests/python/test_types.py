"""Types: mypy accepts the package, and the stub of the C module is what the module has."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")
BUILD = pathlib.Path(os.environ["TACIT_BUILD"]) / "python"


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """What is optional is not looked into; one cache for all."""
    box = tmp_path_factory.mktemp("mypy")
    file = box / "mypy.ini"
    file.write_text(f"[mypy]\ncache_dir = {box}\n[mypy-numpy.*]\nfollow_imports = skip\n")
    return str(file)


def mypy(config, *arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, *arguments],
        cwd=cwd, env={**os.environ, "MYPYPATH": str(BUILD)}, capture_output=True, text=True, check=False,
    )


def test_mypy_accepts_the_package(config, tmp_path):
    done = mypy(config, "--strict", "-p", "tacit", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_is_the_module(config, tmp_path):
    # types of dicts are of the stub only
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"tacit._tacit.{n}\n" for n in ("AgentFacts", "Composition", "PromiseFacts", "WorldFacts")))
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", config, "--allowlist", str(allowed), "tacit._tacit"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(BUILD)}, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_type_is_found(config, tmp_path):
    (tmp_path / "wrong.py").write_text("import tacit\nx: str = tacit.account.scale(epsilon=1, delta=1e-6, l2=1)\n")
    done = mypy(config, "wrong.py", cwd=tmp_path)
    assert done.returncode == 1 and "Incompatible types in assignment" in done.stdout, done.stdout + done.stderr
