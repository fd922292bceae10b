"""The course through the real nbgrader's own interface: release, hand in, autograde, read the gradebook, feedback.

By its commands, up to the export, tests/project/test_readme.py goes.
"""

from __future__ import annotations

import json
import shutil

import nbformat
import pytest

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.discovery import find_submissions
from autograder.nbgrader import api
from autograder.submission import grade_id
from autograder.worker.pool import grade_many
from tests.conftest import copy_course
from tests.helpers.classes import marks
from tests.helpers.small_course import book_of

pytestmark = pytest.mark.slow
# To the grader it is a loop, and it takes no processor time from the tests beside it.
LOOP = "def {name}(*args, **kwargs):\n    import time\n    time.sleep(1000)"
# One that begins in NumPy, and one that brings something along and saves a model. `make catalogue` grades the model
# answers and the untouched releases of all nine (tests/engine/test_dev_check.py).
SOME = ("a1_scaled_dot_product", "a6_transformer_summarizer")


def undo(answers, name):
    return {key: code for key, code in answers.items() if key != name}


def class_of(assignment):
    answers = model_answers(assignment)
    last = assignment.exercises[-1].name
    # A loop takes its time limits; one assignment with one is enough.
    loops = {"last-loops": answers | {last: LOOP.format(name=last)}} if assignment.name.startswith("a1") else {}
    return loops | {
        "right": answers,
        "untouched": {},
        "last-undone": undo(answers, last),
        "first-wrong": answers
        | {assignment.exercises[0].name: f"def {assignment.exercises[0].name}(*a, **k): return 0"},
    }


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Some of the course, graded once through nbgrader's own interface."""
    course = copy_course(tmp_path_factory.mktemp("round-trip") / "course")
    for folder in (course.root / "source").iterdir():
        if folder.name not in SOME:
            shutil.rmtree(folder)
    assert tuple(course.assignments()) == SOME
    nbgrader = api(course.root)
    for assignment in course.assignments().values():
        assert nbgrader.generate_assignment(assignment.name)["success"]
        released = course.root / "assignments" / assignment.name / assignment.notebook.name
        for student, answers in class_of(assignment).items():
            hand_in(fill(released, answers), course.root / "submitted", student, assignment)
        result = nbgrader.autograde(assignment.name, "*")
        assert result["success"], result
        assert nbgrader.generate_feedback(assignment.name)["success"]
    return course


def test_model_answers_get_all_and_untouched_releases_nothing(graded):
    with book_of(graded) as book:
        for assignment in graded.assignments().values():
            assert sum(marks(book, assignment, "right").values()) == assignment.max_score
            assert sum(marks(book, assignment, "untouched").values()) == 0


def test_an_exercise_undone_or_looping_costs_itself_only(graded):
    with book_of(graded) as book:
        for assignment in graded.assignments().values():
            last = assignment.exercises[-1]
            for student in {"last-undone", "last-loops"} & class_of(assignment).keys():
                found = marks(book, assignment, student)
                assert found.pop(last.name) == 0
                assert found == {e.name: e.points for e in assignment.exercises if e.name != last.name}


def test_an_early_mistake_is_paid_for_once(graded):
    with book_of(graded) as book:
        for assignment in graded.assignments().values():
            found = marks(book, assignment, "first-wrong")
            first = assignment.exercises[0]
            assert found.pop(first.name) <= first.points / 10
            assert found == {e.name: e.points for e in assignment.exercises[1:]}


def test_written_questions_wait_for_a_person(graded):
    with book_of(graded) as book:
        for assignment in graded.assignments().values():
            grades = [g for n in book.find_submission(assignment.name, "right").notebooks for g in n.grades]
            waiting = [grade for grade in grades if grade.needs_manual_grade]
            assert all(grade.cell.cell_type == "markdown" for grade in waiting)


def test_feedback_shows_the_rubric_and_nothing_hidden(graded):
    for assignment in graded.assignments().values():
        folder = graded.root / "feedback" / "first-wrong" / assignment.name
        page = (folder / f"{assignment.notebook.stem}.html").read_text()
        assert "autograder-rubric" in page
        assert "✓ passed" in page
        assert "✗ not yet" in page
        assert page.count("<svg") >= sum(path.is_file() for path in assignment.files("picture.toml")[1:])
        suite = "\n".join(path.read_text() for path in assignment.content.rglob("*hidden_tests.py"))
        hidden = [line.strip() for line in suite.splitlines() if "normal(" in line]
        assert hidden
        assert not [line for line in hidden if line in page]
        assert "BEGIN SOLUTION" not in page


def test_autograded_notebook_keeps_what_cells_printed_as_text(graded):
    assignment = next(iter(graded.assignments().values()))
    path = graded.root / "autograded" / "right" / assignment.name / assignment.notebook.name
    notebook = nbformat.read(path, as_version=4)
    printed = "".join(o.text for c in notebook.cells for o in c.get("outputs", []) if o.output_type == "stream")
    assert "weights" in printed
    rich = [o for c in notebook.cells for o in c.get("outputs", []) if "text/html" in o.get("data", {})]
    assert len(rich) == len(assignment.exercises)  # the rubrics, and nothing of the student's


@pytest.mark.catalogue
def test_points_changed_in_the_notebook_alone_change_the_marks(own_course, sandbox):
    """Points stand in the source notebook and nowhere else."""
    assignment = own_course.assignment("a1_scaled_dot_product")
    data = json.loads(assignment.notebook.read_text())
    for cell in data["cells"]:
        if grade_id(cell) == "test-softmax":
            cell["metadata"]["nbgrader"]["points"] = 40
    assignment.notebook.write_text(json.dumps(data))
    nbgrader = api(own_course.root)
    assert nbgrader.generate_assignment(assignment.name)["success"]
    released = own_course.root / "assignments" / assignment.name / assignment.notebook.name
    hand_in(fill(released, model_answers(assignment)), own_course.root / "submitted", "right", assignment)
    assert nbgrader.autograde(assignment.name, "*")["success"]
    with book_of(own_course) as book:
        assert marks(book, assignment, "right")["softmax"] == 40
    (report,) = grade_many(find_submissions([own_course.root / "submitted"], own_course), own_course.root, 1)
    assert report.exercises[0].score == 40
    assert report.max_score == 56
