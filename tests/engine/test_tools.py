"""What maintainers run by hand."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS
from tools import best_moments, compare_reports
from tools.every_submission import every_answer


def report(student, score=1.0, **more):
    test = {"name": "test_a", "message": "x", "score": score, "max_score": 1.0, "passed": score == 1}
    exercise = {"name": "softmax", "score": score, "diagnosis": None, "tests": [test]}
    return {"student": student, "assignment": "a1", "exercises": [exercise], **more}


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ([report("ada"), report("ben")], "no difference"),
        ([report("ada"), report("ben", 0.5)], "ben, a1: softmax: score 1.0, then 0.5"),
        ([report("ada")], "ben, a1: only before"),
        ([report("ada"), report("ben", reason="empty")], "ben, a1: graded, then empty"),
    ],
)
def test_two_versions_reports_are_compared(tmp_path, capsys, after, said):
    files = []
    for name, reports in (("before", [report("ada"), report("ben")]), ("after", after)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(reports))
    assert compare_reports.main(*map(str, files)) == (said != "no difference")
    assert capsys.readouterr().out == f"{said}\n"


@pytest.mark.slow
def test_a_class_of_everything_has_right_and_wrong_answers_to_each_exercise():
    for assignment in ASSIGNMENTS:
        found = list(every_answer(assignment))
        assert {exercise for _, exercise, _ in found} == {exercise.name for exercise in assignment.exercises}
        assert len({student for student, _, _ in found}) == len(found) > 50


def test_the_cells_whose_pictures_are_shown_are_there():
    """Each notebook has one, and it draws something."""
    cells = {
        a.name[:2]: {c["id"]: c.source for c in nbformat.read(a.notebook, as_version=4).cells} for a in ASSIGNMENTS
    }
    assert set(best_moments.CELLS) == set(cells)
    for name, cell in best_moments.CELLS.items():
        assert re.search(r"(heatmap|loss_curve)\(", cells[name][cell]), name


@pytest.mark.slow
def test_a_picture_is_what_the_cell_shows():
    assignment = next(one for one in ASSIGNMENTS if one.name.startswith("a4"))
    found = best_moments.picture(assignment, best_moments.CELLS["a4"])
    assert found == (ROOT / "docs" / "best-a4.png").read_bytes()
    with pytest.raises(ValueError, match="shows no picture"):
        best_moments.picture(assignment, assignment_imports(assignment))


def assignment_imports(assignment):
    """The first code cell."""
    return next(c["id"] for c in nbformat.read(assignment.notebook, as_version=4).cells if c.cell_type == "code")
