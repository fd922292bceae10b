"""What students bring from an earlier assignment costs no marks: forgotten, undone, or wrong."""

from __future__ import annotations

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.course import PREREQUISITE
from autograder.submission import grade_id
from tests.helpers.in_process import ASSIGNMENTS, COURSE
from tests.helpers.sandboxes import Marker

BRINGING = [assignment for assignment in ASSIGNMENTS if assignment.prerequisites]
IMPORTS = "import math\nimport numpy as np, torch\nimport torch.nn as nn\nimport torch.nn.functional as F"


def stubs(assignment):
    """The released cells for what is brought, untouched."""
    path = COURSE.root / "assignments" / assignment.name / assignment.notebook.name
    cells = nbformat.read(path, as_version=4).cells
    found = [cell.source for cell in cells if grade_id(cell).startswith(PREREQUISITE)]
    assert found and all("raise NotImplementedError()" in source for source in found)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("assignment", BRINGING, ids=lambda a: a.name)
@pytest.mark.parametrize("what", ["undone", "forgotten", "wrong"])
def test_full_marks_whatever_was_brought(assignment, what, sandbox):
    prerequisites = {
        "undone": stubs(assignment),
        "forgotten": [],
        "wrong": [f"{name} = None" for name in assignment.prerequisites],
    }[what]
    with Marker(assignment, sandbox) as marker:
        report, _ = marker.mark_cells("x", [IMPORTS, *prerequisites, *model_answers(assignment).values()])
    assert {e.name: e.score for e in report.exercises} == {e.name: e.max_score for e in report.exercises}
