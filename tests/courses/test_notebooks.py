"""What a notebook does is graded as what its functions give: a variable, and printed text."""

from __future__ import annotations

import contextlib
import shutil

import nbformat
import pytest

from autograder.cli.check_notebook import read, verdicts
from autograder.course.assignments import CHECK, Course
from autograder.course.content import Visible
from autograder.student.check import examine
from autograder.submission import Cell, grade_id
from autograder.worker.task import Task
from autograder.worker.worker import Judges, Worker
from cellcage import choose_backend
from cellcage.limits import Limits
from tests.courses.notebooks import DATA, HEAD, NAME, NOTEBOOK, RIGHT, SUITES, VISIBLE, WRONG
from tests.courses.own import IMPORTS, course_of


def notes_course(root, cells, suites, visible=()):
    """A course of these suites, in the minimal form."""
    files = {f"{one}/hidden_tests.py": HEAD + text for one, text in suites.items()}
    files |= {f"{one}/visible_tests.py": HEAD + text for one, text in dict(visible).items()}
    return course_of(root, NAME, IMPORTS + cells, files, DATA)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return notes_course(tmp_path_factory.mktemp("notes") / "course", NOTEBOOK, SUITES, VISIBLE)


@contextlib.contextmanager
def marking(course, kind="auto", limits=None):
    """What the solution with other cells gets, by exercise: points and the first message."""
    assignment, judges = course.assignment(NAME), Judges(course.root, choose_backend(kind)[0])
    worker = Worker(course, judges, limits or Limits())
    solved = nbformat.read(assignment.notebook, as_version=4)

    def mark(**answers):
        cells = [
            Cell(number, answers.get(grade_id(cell), cell.source))
            for number, cell in enumerate(solved.cells)
            if cell.cell_type == "code" and not grade_id(cell).startswith(CHECK)
        ]
        found = worker.mark(Task("somebody", NAME, assignment.version()).of(cells))
        assert not found.report.reason, found.report.reason
        return {one.name: (one.score, one.tests[0].message) for one in found.report.exercises}

    try:
        yield mark
    finally:
        worker.end()
        judges.end()


@pytest.fixture(scope="module")
def marked(course):
    with marking(course) as mark:
        yield mark


FULL = dict.fromkeys(SUITES, (2.0, ""))


@pytest.mark.slow
def test_right_answers_in_any_style_get_all(marked):
    assert marked() == FULL
    for answers in RIGHT:
        assert marked(**answers) == FULL


@pytest.mark.slow
def test_wrong_answers_lose_their_exercise_and_are_told_what_they_did(marked):
    for name, answer, said in WRONG:
        found = marked(**{name: answer})
        score, message = found.pop(name)
        assert (score, message[: len(said)]) == (0, said)
        assert found == {one: full for one, full in FULL.items() if one != name}


# ---------------------------------------------------------------- hostile

HOSTILE = [
    {"table": "def table(prices):\n    while True: print('x' * 10**6)"},
    {"table": "def table(prices):\n    print('x' * 10**8)\n    print(f'secret {prices}')"},
]


OTHERS = [pytest.param(kind, marks=pytest.mark.catalogue) for kind in ("landlock", "process")]


@pytest.mark.catalogue
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", *OTHERS])
def test_what_is_hostile_loses_its_own_exercise(course, kind):
    """Endless text."""
    quick = Limits(call_seconds=1.5, memory=400 * 2**20)
    with marking(course, kind, quick) as mark:
        for answers in HOSTILE:
            found = mark(**answers)
            assert {name: score for name, (score, _) in found.items()} == {
                name: 0 if name in answers else 2 for name in SUITES
            }, found
        assert mark() == FULL


# ---------------------------------------------------------------- the visible side

SHOWN = {
    "mean_price": ("mean_price = 4.5", "came out as `False`"),
    "table": (
        "def table(prices):\n    print(prices)",
        "is `{'fig': 0.5}`, wanted `fig: 0.50`.",
    ),
}


def released(course, **answers):
    """The release with answers, saved beside its data."""
    path = course.root / "assignments" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
    nbformat.write(notebook, path)
    return path


def test_check_in_a_kernel_says_what_was_printed(course, monkeypatch):
    folder = course.root / "assignments" / NAME
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.csv")} == DATA.keys()
    monkeypatch.chdir(folder)
    before, visible = sorted(folder.rglob("*")), Visible(course.folder)
    right, wrong = dict[str, object](), dict[str, object]()
    for name in SUITES:
        exec(RIGHT[0][name], right)
        exec(SHOWN[name][0], wrong)
    for name, (_, said) in SHOWN.items():
        assert examine(name, right, visible).passed
        assert said in examine(name, wrong, visible).result.tests[0].message
    assert "nothing under the name `mean_price`" in examine("mean_price", {}, visible).result.tests[0].message
    assert sorted(folder.rglob("*")) == before


@pytest.mark.slow
def test_check_of_a_saved_notebook_finds_the_data_beside_it(course, tmp_path, sandbox):
    copy = Course(shutil.copytree(course.root, tmp_path / "course"))
    right = list(verdicts(read(released(copy, **RIGHT[0]), copy), sandbox.students))
    assert [verdict.result.name for verdict in right if verdict.passed] == list(SUITES)
    answers = {name: answer for name, (answer, _) in SHOWN.items()}
    for verdict in verdicts(read(released(copy, **answers), copy), sandbox.students):
        assert SHOWN[verdict.result.name][1] in verdict.result.tests[0].message
