"""What a course may import of the engine: one public module, which a page explains. All else is private."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from autograder import testing
from tests.conftest import ROOT

TEMPLATES = ROOT / "autograder" / "authoring" / "templates"
# What a notebook imports, and the two hooks by which nbgrader gets at the engine.
OF_NOTEBOOKS = {"autograder": {"check", "explore", "grading", "heatmap", "hint"}}
HOOKS = {"autograder.nbgrader": {"configure"}, "autograder.student.stock": {"check"}}
ALLOWED = {"autograder.testing": set(testing.__all__), **OF_NOTEBOOKS}
COURSE = sorted((ROOT / "attention_course").rglob("*.py"))
MADE = [path for path in TEMPLATES.rglob("*") if path.suffix in (".txt", ".py") and "import " in path.read_text()]


def imported(code):
    """Every name of the engine that code imports, with its module."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and not node.level and str(node.module).split(".")[0] == "autograder":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "autograder")


def test_the_course_imports_nothing_else():
    found = {(path, *one) for path in COURSE for one in imported(path.read_text())}
    assert len(found) > 200
    assert [one for one in found if one[2] not in ALLOWED.get(one[1], ())] == []


def test_what_is_laid_out_for_a_new_course_imports_nothing_else():
    allowed = ALLOWED | HOOKS
    found = {(path.name, *one) for path in MADE if "@" not in path.name for one in imported(_code(path))}
    assert {name for name, *_ in found} >= {"hidden_tests.txt", "mistakes.txt", "visible_tests.txt", "package.txt"}
    assert [one for one in found if one[2] not in allowed.get(one[1], ())] == []


def _code(path):
    text = path.read_text()
    return "" if "[build-system]" in text else text.replace("@WHEELS@", "[]").replace("@NEEDED@", "{}")


def test_nothing_is_public_that_no_course_uses():
    used = {name for path in COURSE for module, name in imported(path.read_text()) if module == "autograder.testing"}
    for path in (ROOT / "tests" / "courses").glob("*.py"):
        for names in re.findall(r"from autograder\.testing import ([\w, ]+)", path.read_text()):
            used |= {name for name in names.split(", ") if name in testing.__all__}
    assert used == set(testing.__all__)


def test_every_public_name_can_be_had_and_is_explained():
    page = (ROOT / "docs" / "reference-authors.md").read_text()
    for name in testing.__all__:
        assert getattr(testing, name) is not None
        assert re.search(rf"\b{name}\b", page), name
    with pytest.raises(AttributeError, match="no attribute 'Suite'"):
        _ = testing.Suite


def test_what_tests_use_of_expect_is_explained():
    page = (ROOT / "docs" / "reference-authors.md").read_text()
    section = page.partition("## Checks: `expect`")[2].partition("\n## ")[0]
    used = {name for path in COURSE for name in re.findall(r"\bexpect\.(\w+)", path.read_text())}
    assert len(used) > 10
    assert [name for name in used if not re.search(rf"\b{name}\b", section)] == []


def test_it_loads_without_pytorch_and_pytest():
    ask = "import sys, autograder.testing as s; print('torch' in sys.modules, 'pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
