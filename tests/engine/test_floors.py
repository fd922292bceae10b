"""The lowest versions that are promised are those that `make floors` installs."""

from __future__ import annotations

import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT
from tools import floors

# Within `make test`, another make says which folder it enters and leaves.
PLANNED = ["make", "--no-print-directory", "-n", "-o", ".venv/installed"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_each_promise_has_a_lowest_version_and_that_is_installed(capsys):
    floors.main()
    installed = [Requirement(line) for line in capsys.readouterr().out.splitlines()]
    stated = [
        Requirement(one)
        for group in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
        for one in group
    ]
    promised = {
        one.name: next(bound.version for bound in one.specifier if bound.operator == ">=")
        for one in stated
        if one.name != PROJECT["name"]
    }
    assert {one.name: str(one.specifier) for one in installed} == {name: f"=={low}" for name, low in promised.items()}
    assert len(promised) > 20


def test_a_promise_without_a_lowest_version_is_refused():
    with pytest.raises(ValueError, match="'rich<15' states no lowest version"):
        list(floors.floors(["numpy>=2.0", "rich<15"]))


def test_make_floors_installs_them_apart_and_runs_the_quick_tests_there():
    told = subprocess.run([*PLANNED, "floors"], cwd=ROOT, capture_output=True, text=True)
    made, environment, _, install, tested = told.stdout.splitlines()[-5:]
    assert made.endswith("tools.floors > build/floors.txt") and environment.endswith("--clear build/floors")
    assert "build/floors/bin/python -m pip install" in install and "--constraint build/floors.txt" in install
    assert all(f"{extra}" in install for extra in PROJECT["optional-dependencies"] if extra not in ("torch", "lab"))
    assert "build/floors/bin/python -m pytest" in tested and "not slow" in tested


def test_the_course_needs_the_python_that_the_engine_needs():
    course = tomllib.loads((ROOT / "attention_course" / "pyproject.toml").read_text())["project"]
    assert course["requires-python"] == PROJECT["requires-python"] == ">=3.11"
    assert "sys.version_info < (3, 11)" in (ROOT / "Makefile").read_text()
