"""The version that a mark depends on covers the code of the engine and of the sandbox."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

import autograder
import cellcage
from autograder.course import content


@pytest.mark.parametrize("place", ["judge/attempt.py", "calling/perform.py"])
def test_change_of_engine_or_sandbox_changes_the_version(place, tmp_path, monkeypatch):
    copies = [tmp_path / "autograder", tmp_path / "cellcage"]
    for package, copy in zip((autograder, cellcage), copies, strict=True):
        shutil.copytree(package.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(content, "__file__", str(copies[0] / "course" / "content.py"))
    monkeypatch.setattr(content, "cellcage", SimpleNamespace(__file__=str(copies[1] / "__init__.py")))
    before = content._kit_version.__wrapped__("")
    (changed,) = [copy / place for copy in copies if (copy / place).is_file()]
    changed.write_text(changed.read_text() + "# changed\n")
    assert content._kit_version.__wrapped__("") != before
