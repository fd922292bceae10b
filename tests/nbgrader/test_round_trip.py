"""The course through nbgrader's Python interface, from release to feedback.

tests/project/test_readme.py uses its commands.
"""

from __future__ import annotations

import shutil

import nbformat
import pytest

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.nbgrader import api
from tests.conftest import copy_course
from tests.helpers.classes import marks
from tests.helpers.small_course import book_of

pytestmark = [pytest.mark.slow, pytest.mark.catalogue]  # `make test` runs `make demo`
# Counts as a loop for the grader, but takes no CPU time from other tests.
LOOP = "def {name}(*args, **kwargs):\n    import time\n    time.sleep(1000)"
# One with NumPy, and one with given code. tests/engine/test_dev_check.py grades the model answers
# and untouched releases of all nine.
SOME = ("a1_scaled_dot_product", "a6_transformer_summarizer")


def class_of(assignment):
    answers = model_answers(assignment)
    first, last = assignment.exercises[0].name, assignment.exercises[-1].name
    # A loop waits for its time limit, so only one assignment has one.
    loops = {"last-loops": answers | {last: LOOP.format(name=last)}} if assignment.name.startswith("a1") else {}
    return loops | {
        "right": answers,
        "untouched": {},
        "last-undone": {name: code for name, code in answers.items() if name != last},
        "first-wrong": answers | {first: f"def {first}(*a, **k): return 0"},
    }


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Two assignments, graded through nbgrader's Python interface."""
    course = copy_course(tmp_path_factory.mktemp("round-trip") / "course")
    for folder in (course.root / "source").iterdir():
        if folder.name not in SOME:
            shutil.rmtree(folder)
    assert tuple(course.assignments) == SOME
    nbgrader = api(course.root)
    for assignment in course.assignments.values():
        assert nbgrader.generate_assignment(assignment.name)["success"]
        released = course.root / "assignments" / assignment.name / assignment.notebook.name
        for student, answers in class_of(assignment).items():
            hand_in(fill(released, answers), course.root / "submitted", student, assignment)
        result = nbgrader.autograde(assignment.name, "*")
        assert result["success"], result
        assert nbgrader.generate_feedback(assignment.name)["success"]
    return course


def test_each_exercise_counts_for_itself(graded):
    """Also with an undone or looping exercise; an early mistake costs only its own points."""
    with book_of(graded) as book:
        for assignment in graded.assignments.values():
            points = {exercise.name: exercise.points for exercise in assignment.exercises}
            first, last = assignment.exercises[0].name, assignment.exercises[-1].name
            found = {student: marks(book, assignment, student) for student in class_of(assignment)}
            assert found["right"] == points
            assert sum(found["untouched"].values()) == 0
            for student in {"last-undone", "last-loops"} & found.keys():
                assert found[student] == points | {last: 0}
            assert found["first-wrong"].pop(first) <= points[first] / 10
            assert found["first-wrong"] == {name: most for name, most in points.items() if name != first}
            grades = [g for n in book.find_submission(assignment.name, "right").notebooks for g in n.grades]
            assert all(grade.cell.cell_type == "markdown" for grade in grades if grade.needs_manual_grade)


def test_feedback_shows_the_rubric_and_nothing_hidden(graded):
    for assignment in graded.assignments.values():
        page, right = (
            (graded.root / "feedback" / student / assignment.name / f"{assignment.notebook.stem}.html").read_text()
            for student in ("first-wrong", "right")
        )
        assert "autograder-rubric" in page
        assert "✓ passed" in page
        assert "✗ not yet" in page
        assert right.count("<svg") >= sum(path.is_file() for path in assignment.files("picture.toml"))
        suite = "\n".join(path.read_text() for path in assignment.content.rglob("*hidden_tests.py"))
        hidden = [line.strip() for line in suite.splitlines() if "normal(" in line]
        assert hidden
        assert not [line for line in hidden if line in page]
        assert "BEGIN SOLUTION" not in page


def test_autograded_notebook_keeps_printed_text(graded):
    assignment = next(iter(graded.assignments.values()))
    path = graded.root / "autograded" / "right" / assignment.name / assignment.notebook.name
    notebook = nbformat.read(path, as_version=4)
    printed = "".join(o.text for c in notebook.cells for o in c.get("outputs", []) if o.output_type == "stream")
    assert "weights" in printed
    rich = [o for c in notebook.cells for o in c.get("outputs", []) if "text/html" in o.get("data", {})]
    assert len(rich) == len(assignment.exercises)  # only the rubrics
