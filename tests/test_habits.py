"""What we have agreed to keep to, in this repository."""

from __future__ import annotations

import ast

from tests.conftest import ROOT


def imported(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_test_module_is_imported_by_another_file():
    """What two of them need has a module of its own: `tests.classes`, `tests.terminal`, ..."""
    found = {path.name: name for path in (ROOT / "tests").glob("*.py") for name in imported(path)
             if name.startswith("tests.test_")}  # fmt: skip
    assert found == {}
