"""Everything that is shown as an example runs: docstrings, and the code of docs/how-to/python.md."""

import doctest
import importlib
import os
import pathlib
import pkgutil
import re

import pytest

import tacit

SOURCE = pathlib.Path(os.environ["TACIT_SOURCE"])
MODULES = ["tacit"] + ["tacit." + m.name for m in pkgutil.iter_modules(tacit.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_help_teaches():
    assert doctest.testmod(tacit).attempted >= 8
    for name in tacit.__all__:
        assert getattr(tacit, name).__doc__, f"tacit.{name} has no docstring"


def test_public_methods_have_docstrings():
    for cls in (tacit.Agent, tacit.World, tacit.Sum, tacit.Results, tacit.Service, tacit.Client):
        for name, member in vars(cls).items():
            if not name.startswith("_") and callable(member):
                assert member.__doc__, f"{cls.__name__}.{name} has no docstring"


@pytest.mark.skipif(not (SOURCE / "docs/how-to/python.md").exists(), reason="no page yet")
def test_code_of_the_page_runs(tmp_path, monkeypatch):
    text = (SOURCE / "docs/how-to/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    code = "\n".join(blocks)
    exec(compile(code, "docs/how-to/python.md", "exec"), {"__name__": "page"})
