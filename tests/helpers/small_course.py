"""A course with one exercise and without PyTorch, so that tests of the engine take one second instead of ten."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import json
import shutil
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_core.application import NoStart
from nbgrader.api import Gradebook
from nbgrader.apps.nbgraderapp import NbGraderApp
from nbgrader.server_extensions.formgrader.apihandlers import GradeHandler
from typer.testing import CliRunner

from autograder.authoring.generated_files import sync
from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.authoring.skeletons import add_exercise, begin_course
from autograder.cli.main import app
from autograder.course.assignments import CONFIG, Course
from autograder.errors import EXPECTED
from autograder.nbgrader import api
from autograder.nbgrader.hardening import formgrader
from autograder.nbgrader.whole_class import grade_into_gradebook
from autograder.reports.store import Entry, Store
from autograder.submission import grade_id

NAME, NOTEBOOK, EXERCISE = "a1_first", "first.ipynb", "row_centred"
WRONG = f"def {EXERCISE}(X):\n    return X - X.mean()"

# For nbgrader_config.py: late students lose one point.
A_POINT_FOR_LATENESS = """
from nbgrader.plugins import LateSubmissionPlugin


class OnePoint(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 1


c.AssignLatePenalties.plugin_class = OnePoint
"""


WRITTEN, RUBRIC = "written-why", 'written-why = [[1, "names the mean of a row"], [3, "says why it is the row\'s own"]]'

ANSWER = "Since each row has a mean of its own, and $x$ less it sums to 0."


def add_question(course: Course, rubric: str = RUBRIC, answer: str = ANSWER) -> None:
    """A written question at the end, worth 4 points, with a rubric."""
    (course.assignment(NAME).content / "rubric.toml").write_text(rubric)
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    data = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3, "points": 4}
    metadata = {"nbgrader": data | {"grade_id": WRITTEN}}
    notebook.cells.append(nbformat.v4.new_markdown_cell(answer, id="why", metadata=metadata))
    nbformat.write(notebook, path)


# A second exercise, which builds on the first.
BUILT = "doubled"
SOLVED = f"### BEGIN SOLUTION\ndef {BUILT}(X):\n    return 2 * {EXERCISE}(X)\n### END SOLUTION"
TESTED = f'''
import numpy as np
import pytest

from autograder.testing import expect


@pytest.mark.exercise("{BUILT}")
class TestDoubled:
    @pytest.mark.weight(1)
    def test_values(self, student, reference):
        """Twice the centred rows."""
        X = np.random.default_rng(5).normal(1, size=(3, 4))
        expect.close(expect.array(student.{BUILT}(X)), reference.{BUILT}(X), "Twice what?")
'''


def add_second(course: Course) -> None:
    """A second exercise, worth 3 points as the first one is."""
    list(add_exercise(course, NAME, BUILT))
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (one for one in notebook.cells if grade_id(one) == BUILT)
    cell.source = SOLVED
    nbformat.write(notebook, path)
    (course.assignment(NAME).content / BUILT / "hidden_tests.py").write_text(TESTED)


def small_course(folder: Path, config: str = "", students=(), written: bool = False, second: bool = False) -> Course:
    """A new, released course with right submissions of `students`, and if wanted a second exercise or a question."""
    made = Path(_new_course(folder.name, config, written, second).name)
    shutil.copytree(made / folder.name, folder, dirs_exist_ok=True)  # and not over a folder that others may read
    course = Course(folder)
    for student in students:
        submit(course, student)
    return course


@functools.cache
def _new_course(name: str, config: str, written: bool, second: bool) -> TemporaryDirectory:
    """A folder with such a course in it, made once in this process: that takes a quarter of a second."""
    made = TemporaryDirectory(prefix="small-course-")
    folder = Path(made.name) / name
    list(begin_course(folder, NAME, EXERCISE))
    with (folder / CONFIG).open("a") as file:
        file.write(config)
    course = Course(folder)
    if second:
        add_second(course)
    if written:
        add_question(course)
    if second or written:
        list(sync(course))
    course = Course(folder)
    assert api(folder).generate_assignment(NAME)["success"]
    return made


def submit(course: Course, student: str, answers=None, name: str = NOTEBOOK, when: str = "") -> Path:
    """Hand in right work or `answers`, with this file name and timestamp."""
    assignment = Course(course.root).assignment(NAME)
    notebook = fill(released(course), model_answers(assignment) if answers is None else answers)
    path = hand_in(notebook, course.root / "submitted", student, assignment)
    if when:
        path.with_name("timestamp.txt").write_text(when)
    return path.rename(path.with_name(name))


def released(course: Course) -> Path:
    return course.root / "assignments" / NAME / NOTEBOOK


def graded(course: Course, feedback: bool = False, **settings):
    """Grade into the gradebook; returns outcomes and notices."""
    notices: list[str] = []
    course = Course(course.root)
    outcomes = grade_into_gradebook(
        course, [course.assignment(NAME)], {"jobs": 1} | settings, "auto", feedback=feedback, on_notice=notices.append
    )
    return outcomes, notices


def book_of(course: Course) -> Gradebook:
    return Gradebook(f"sqlite:///{course.root}/gradebook.db")


def entries(course: Course, student: str) -> list[Entry]:
    """The history of a student's mark."""
    return Store(course.root).entries(NAME, student).get(student, [])


def grade_by_hand(course: Course, student: str, cell: str, score: float | None, waits: bool = False) -> None:
    """Write to the gradebook what formgrader writes when a person enters a score."""
    with book_of(course) as book:
        grade = book.find_grade(cell, "first", NAME, student)
        grade.manual_score, grade.needs_manual_grade = score, waits
        book.db.commit()


def grade_in_formgrader(course: Course, monkeypatch, student: str, cell: str, score: float | None) -> None:
    """Let formgrader's handler process a score as the browser sends it."""
    nbgrader = api(course.root)
    with book_of(course) as book:
        grade = book.find_grade(cell, "first", NAME, student)
        sent = {"manual_score": score, "extra_credit": grade.extra_credit}
        for name, value in {"gradebook": book, "coursedir": nbgrader.coursedir, "api": nbgrader}.items():
            monkeypatch.setattr(GradeHandler, name, value, raising=False)
        monkeypatch.setattr(GradeHandler, "get_json_body", lambda self: sent)
        monkeypatch.setattr(GradeHandler, "write", lambda self, text: json.loads(text))
        # without nbgrader's check of the login
        monkeypatch.setattr(formgrader, "_put", inspect.unwrap(formgrader._put))
        GradeHandler.__new__(GradeHandler).put(grade.id)


def reweigh(course: Course, before: str = "weight(0.5)", after: str = "weight(4.5)") -> None:
    """Change the weight of the hidden test that `WRONG` passes."""
    path = course.assignment(NAME).content / EXERCISE / "hidden_tests.py"
    path.write_text(path.read_text().replace(before, after))


def set_points(course: Course, points: float) -> None:
    """Change the points in the source notebook, as JupyterLab's panel does."""
    path = course.assignment(NAME).notebook
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.points = points
    nbformat.write(notebook, path)


def command(course: Course, *words):
    """Run `autograder` in a course and in this process, which saves the imports; returns exit code and output."""
    with contextlib.chdir(course.root):
        done = CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "200"})
    if done.exception is not None and not isinstance(done.exception, (SystemExit, *EXPECTED)):
        raise done.exception
    if isinstance(done.exception, EXPECTED):
        return 2, f"autograder: {done.exception}"
    return done.exit_code, done.output


def said_by(course: Course, *words, code: int = 0) -> str:
    """The output of a command, which must end with this exit code."""
    found, output = command(course, *words)
    assert found == code, output
    return output


def reports_of(course: Course) -> dict[str, dict]:
    """Grade what was submitted; returns the reports that `--json` writes, by student."""
    said_by(course, "grade", "submitted", "--json", "marks.json")
    return {one["student"]: one for one in json.loads((course.root / "marks.json").read_text())}


def nbgrader(course: Course, *words: str, code: int = 0) -> str:
    """The log of one of nbgrader's commands, run as nbgrader's own tests run them."""
    app, logged, paths, found = NbGraderApp.instance(), io.StringIO(), list(sys.path), 0
    with contextlib.chdir(course.root), contextlib.redirect_stderr(logged), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it does not close all files
        try:
            app.initialize(list(map(str, words)))
            with contextlib.suppress(NoStart):  # a subcommand has run
                app.start()
        except SystemExit as end:
            found = int(end.code or 0)
        finally:
            app.reset()
            sys.path[:] = paths
    assert found == code, logged.getvalue()
    return logged.getvalue()
