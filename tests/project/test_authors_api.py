"""A course imports only the engine's one public module, which `docs/reference-authors.md` documents."""

from __future__ import annotations

import ast
import re

import pytest

from autograder import testing
from tests.conftest import ROOT

# The second line is for notebooks.
ALLOWED = {
    "autograder.testing": set(testing.__all__),
    "autograder": {"check", "explore", "grading", "heatmap", "hint"},
}
COURSE = sorted((ROOT / "attention_course").rglob("*.py"))


def imported(code):
    """Every name that code imports from the engine, with its module."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and not node.level and str(node.module).split(".")[0] == "autograder":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "autograder")


@pytest.mark.slow
def test_course_imports_only_public_names():
    found = {(path, *one) for path in COURSE for one in imported(path.read_text())}
    assert len(found) > 200
    assert [one for one in found if one[2] not in ALLOWED.get(one[1], ())] == []


def test_every_public_name_exists_and_is_documented():
    page = (ROOT / "docs" / "reference-authors.md").read_text()
    for name in testing.__all__:
        assert getattr(testing, name) is not None
        assert re.search(rf"\b{name}\b", page), name
    with pytest.raises(AttributeError, match="no attribute 'Suite'"):
        _ = testing.Suite
