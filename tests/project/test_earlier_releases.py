"""Every notebook that was ever released is known, since students may still have it."""

from __future__ import annotations

import subprocess

import msgspec
import pytest

from autograder.course.assignments import Course
from autograder.course.source_notebook import SourceNotebook, digests_of
from tests.conftest import ROOT


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, check=True).stdout


@pytest.mark.catalogue
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a copy without the history")
def test_every_committed_release_is_known():
    missing = []
    for name, assignment in Course(ROOT).assignments.items():
        path = f"assignments/{name}/{assignment.notebook.name}"
        for commit in git("log", "--diff-filter=AM", "--format=%H", "--", path).decode().split():
            notebook = msgspec.json.decode(git("show", f"{commit}:{path}"), type=SourceNotebook)
            found = digests_of((cell.cell_type, cell.grade_id, cell.text) for cell in notebook.cells)
            missing += [f"{name} {digest}" for digest in sorted(found - assignment.released_digests)]
    assert not missing, "add these lines to earlier_releases.txt:\n" + "\n".join(dict.fromkeys(missing))
