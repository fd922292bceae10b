"""CONTRIBUTING.md lists the private parts of other packages that we use, and the upper bounds they need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

import pytest

from tests.conftest import ROOT

LIST = (ROOT / "CONTRIBUTING.md").read_text().split("## What other packages keep to themselves")[1].split("\n## ")[0]
ENGINE = "autograder", "cellcage/src"


def private_members():
    """Members that ruff finds to be private and that none of our own modules defines."""
    command = [sys.executable, "-m", "ruff", "check", "--select", "SLF001", "--output-format", "json", *ENGINE]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)
    text = "\n".join(path.read_text() for folder in ENGINE for path in (ROOT / folder).rglob("*.py"))
    ours = set(re.findall(r"(?:def |self\.)(_\w+)", text))
    return sorted({re.search("`(.+)`", one["message"])[1] for one in found} - ours)


@pytest.mark.parametrize("member", private_members())
def test_private_part_is_listed(member):
    assert re.search(rf"\b{member}\b", LIST), f"{member} is not in CONTRIBUTING.md"


@pytest.mark.parametrize(("package", "bound"), re.findall(r"\| (\w+) < ([\d.]+) ", LIST))
def test_upper_bound_is_that_of_the_requirements(package, bound):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *(one for part in project["optional-dependencies"].values() for one in part)]
    assert [one for one in needed if one.startswith(f"{package}>=") and one.endswith(f",<{bound}")]
