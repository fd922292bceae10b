"""Each run grades the model answer of an assignment first. If it loses marks, no submission is graded."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.authoring.skeletons import begin_assignment
from autograder.course.assignments import Course
from autograder.nbgrader import api
from autograder.worker.executors import MODEL_ANSWER
from autograder.worker.worker import Worker
from tests.helpers.small_course import NAME, book_of, command, nbgrader, said_by, small_course

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_workers")]
OTHER, OTHERS = "a2_second", "column_centred"
STUDENTS = "ada", "bob"
WHY = f"nobody is graded in {OTHER}, and no mark has changed, because its model answer does not get full marks"


def set_limits(course, **limits):
    path = course.assignment(OTHER).notebook
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["autograder"] = {"limits": limits}
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Two graded assignments. The second one's limits now allow no answer of its model answer."""
    course = small_course(tmp_path_factory.mktemp("model") / "course")
    list(begin_assignment(course, OTHER, OTHERS))
    course = Course(course.root)
    assert api(course.root).generate_assignment(OTHER)["success"]
    for assignment in course.assignments.values():
        for student in STUDENTS:
            hand_in(
                fill(assignment.released, model_answers(assignment)), course.root / "submitted", student, assignment
            )
    said_by(course, "grade", "--gradebook")
    set_limits(course, reply=100)
    return course


@pytest.fixture
def graded_models(monkeypatch):
    """The assignments whose model answers were graded."""
    found, mark = [], Worker.mark

    def record(worker, task):
        if task.student == MODEL_ANSWER:
            found.append(task.assignment)
        return mark(worker, task)

    monkeypatch.setattr(Worker, "mark", record)
    return found


def scores(course):
    with book_of(course) as book:
        return {
            (name, one.student.id): one.score for name in (NAME, OTHER) for one in book.assignment_submissions(name)
        }


def test_report_names_the_cause_and_other_assignments_are_graded(course, graded_models):
    output = said_by(course, "grade", "submitted", "--json", "marks.json", "--jobs", 2, code=1)
    reports = json.loads((course.root / "marks.json").read_text())
    found = {(one["assignment"], one["student"]): one for one in reports}
    assert len(found) == 4
    for student in STUDENTS:
        assert (found[NAME, student]["score"], found[NAME, student]["status"]) == (3, "graded")
        failed = found[OTHER, student]
        assert (failed["status"], failed["max_score"]) == ("failed", 3)
        assert WHY in failed["reason"]
        assert f"({OTHERS}, Four rows of width six give four rows of width six: " in failed["reason"]
    assert f"ada, bob: {WHY}" in " ".join(output.split())
    assert sorted(graded_models) == [NAME, OTHER], "once per run, for any number of students and workers"


def test_gradebook_and_autograded_files_stay_unchanged(course, graded_models):
    before = scores(course)
    files = {path: path.read_bytes() for path in (course.root / "autograded").glob(f"*/{OTHER}/*.ipynb")}
    assert len(before) == 4 and len(files) == 2
    output = " ".join(said_by(course, "grade", "--gradebook", "--force", "--feedback", code=1).split())
    assert f"ada, bob, {OTHER}: {WHY}" in output
    assert "2 graded, 2 could not be graded" in output
    assert sorted(graded_models) == [NAME, OTHER]
    logged = nbgrader(course, "autograde", OTHER, code=1)
    assert f"ada, bob: {WHY}" in logged and "2 of 2 submissions" in logged
    output = said_by(course, "regrade", OTHER, "--write", code=1)
    assert WHY in " ".join(output.split()) and "Nothing was written" in output
    assert scores(course) == before
    assert {path: path.read_bytes() for path in files} == files


def test_after_a_fix_the_same_command_grades_all(course):
    set_limits(course)
    code, output = command(course, "grade", "--gradebook")
    assert (code, "2 graded, 2 unchanged" in output) == (0, True), output
