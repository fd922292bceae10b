"""The lowest versions that are promised are those that `make floors` installs."""

from __future__ import annotations

import tomllib

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT
from tools import floors

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
