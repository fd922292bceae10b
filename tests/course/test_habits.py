"""What we have agreed to keep to, in this repository."""

from __future__ import annotations

import ast
import re
import tomllib

import yaml

import autograder
from tests.conftest import ROOT
from tests.helpers.terminal import autograder as command


def imported(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_test_module_is_imported_by_another_file():
    """What two of them need has a module of its own: `tests.helpers.classes`, `tests.helpers.terminal`, ..."""
    found = {path.name: name for path in (ROOT / "tests").glob("*.py") for name in imported(path)
             if name.startswith("tests.test_")}  # fmt: skip
    assert found == {}


def test_the_version_stands_in_one_place_and_the_changelog_has_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "autograder/__init__.py"
    assert command("--version").stdout == f"autograder {autograder.__version__}\n"
    releases = re.findall(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert releases[0][0] == autograder.__version__
    assert "unreleased" not in [date for _, date in releases[1:]]


def test_what_runs_before_a_commit_is_what_make_lint_runs_and_fetches_nothing():
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    hooks = [hook for repo in repos for hook in repo["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system"}
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)[1]
    for hook in hooks:
        tool = hook["entry"].removeprefix(".venv/bin/").split(" --")[0]
        assert f"$(BIN)/{tool}" in lint


MADE = {"reference-command-line.md", "reference-json.md", "benchmark.md"}


def test_lines_of_hand_written_pages_are_at_most_100_wide():
    """Tables cannot be broken; what is written by a command is as wide as it is."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        lines = page.read_text().splitlines() if page.name not in MADE else []
        wide = [line for line in lines if len(line) > 100 and not line.startswith(("|", "    "))]
        assert wide == [], page.name
