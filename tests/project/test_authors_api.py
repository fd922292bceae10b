"""What a course may import of the engine: one public module, which a page explains. All else is private."""

from __future__ import annotations

import ast
import re

import pytest

from autograder import testing
from tests.conftest import ROOT

# And what a notebook imports.
ALLOWED = {
    "autograder.testing": set(testing.__all__),
    "autograder": {"check", "explore", "grading", "heatmap", "hint"},
}
COURSE = sorted((ROOT / "attention_course").rglob("*.py"))


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


def test_every_public_name_can_be_had_and_is_explained():
    page = (ROOT / "docs" / "reference-authors.md").read_text()
    for name in testing.__all__:
        assert getattr(testing, name) is not None
        assert re.search(rf"\b{name}\b", page), name
    with pytest.raises(AttributeError, match="no attribute 'Suite'"):
        _ = testing.Suite
