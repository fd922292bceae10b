"""Odd submissions have a defined outcome, and nbgrader and `autograder grade` agree on it."""

from __future__ import annotations

import contextlib
import copy
import json
import os

import nbformat
import pytest
from nbgrader.api import MissingEntry

from autograder.authoring.sample_class import fill, model_answers
from autograder.cli.grading import find_submissions
from autograder.course.source_notebook import CHECK_PREFIX
from autograder.nbgrader import api
from autograder.submission import MAX_BYTES, grade_id
from autograder.worker.pool import grade, open_pool
from tests.helpers.classes import marks
from tests.helpers.small_course import BUILT, EXERCISE, NAME, NOTEBOOK, WRITTEN, WRONG, book_of, released, small_course

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Non-unique cell id")]


# ---------------------------------------------------------------- notebooks that can be graded


def deleted(notebook):
    notebook.cells = [c for c in notebook.cells if grade_id(c) not in (EXERCISE, CHECK_PREFIX + BUILT)]


def wrong(notebook):
    """An ordinary mistake: some of the points, and full marks for the exercise that builds on it."""
    next(c for c in notebook.cells if grade_id(c) == EXERCISE).source = WRONG


def duplicated(notebook):
    """A copy of the cell and its check at the end; the last definition counts."""
    notebook.cells += [copy.deepcopy(c) for c in notebook.cells if grade_id(c) in (EXERCISE, CHECK_PREFIX + EXERCISE)]


def metadata_removed(notebook):
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})


def metadata_odd(notebook):
    wrong = [None, 3, "x", [], {"grade_id": 5}, {"grade_id": ["a"]}, {"nbgrader": None}, {"nbgrader": {"grade_id": {}}}]
    for number, cell in enumerate(notebook.cells):
        cell["metadata"] = wrong[number % len(wrong)]


def points_changed(notebook):
    for cell in notebook.cells:
        if grade_id(cell).startswith(CHECK_PREFIX):
            cell.metadata.nbgrader.update(points=10_000, grade_id=grade_id(cell))
            cell.source = "print('full marks please')\n100"


def solution_in_a_cell_of_its_own(notebook):
    at = next(i for i, c in enumerate(notebook.cells) if grade_id(c) == EXERCISE)
    notebook.cells.insert(at + 1, nbformat.v4.new_code_cell(notebook.cells[at].source))
    notebook.cells[at].source = f"def {EXERCISE}(X):\n    raise NotImplementedError()"


def turned_into(kind, *names):
    """Cells of another kind, which takes one key in JupyterLab. nbgrader gives them their own back."""

    def change(notebook):
        for cell in notebook.cells:
            cell.cell_type = kind if grade_id(cell) in names else cell.cell_type

    change.__name__ = f"{names[0]} turned into {kind}"
    return change


def markdown_copy(notebook):
    """A note with the name of the cell that it was copied from: it stays a note."""
    at = next(i for i, c in enumerate(notebook.cells) if grade_id(c) == EXERCISE)
    note = nbformat.v4.new_markdown_cell("My first try:", metadata=notebook.cells[at].metadata)
    notebook.cells.insert(at, note)


def syntax_error(notebook):
    notebook.cells.insert(3, nbformat.v4.new_code_cell("def f(:\n  pass"))


def magics_and_questions(notebook):
    lines = [
        "%matplotlib inline", "%timeit -n 1 -r 1 1", "!ls /", "%%bash\necho hello", "!pip install torch",
        "name = input('who? ')", "import matplotlib.pyplot as plt\nplt.plot([1])", "?print", "exit()", "quit",
        "%load_ext autoreload\n%autoreload 2", "raise SystemExit", "%reset -f\nimport numpy as np",
        "get_ipython().kernel.do_shutdown(True)", "sum(i * i for i in range(10**6))", "print('x' * 10**6)",
        "print('\\ud800 \\x1b[2J')",
    ]  # fmt: skip
    first = next(i for i, c in enumerate(notebook.cells) if grade_id(c))
    for line in reversed(lines):
        notebook.cells.insert(first, nbformat.v4.new_code_cell(line))
    notebook.cells.insert(first + len(lines), nbformat.v4.new_code_cell("import numpy as np"))


GRADED = [
    deleted, wrong, duplicated, metadata_removed, metadata_odd, points_changed, solution_in_a_cell_of_its_own,
    turned_into("markdown", EXERCISE), turned_into("raw", BUILT, EXERCISE), turned_into("raw", CHECK_PREFIX + EXERCISE),
    markdown_copy, syntax_error, magics_and_questions,
]  # fmt: skip
LOSE_THE_FIRST = [deleted, wrong]


# ---------------------------------------------------------------- odd file formats that can be read


def byte_order_mark(notebook):
    return "\ufeff" + json.dumps(notebook)


def nbformat_3(notebook):
    empty = {"cell_type": "code", "language": "python", "outputs": [], "collapsed": False, "metadata": {}}
    cells = [empty | {"input": cell.source} for cell in notebook.cells if cell.cell_type == "code"]
    worksheets = [{"cells": cells, "metadata": {}}]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": worksheets})


def junk_among_the_cells(notebook):
    data = json.loads(json.dumps(notebook))
    data["cells"] += [None, 7, "x", {}, {"cell_type": "code"}, {"cell_type": 3, "source": 5}]
    data["metadata"] = None
    return json.dumps(data)


def halves_of_characters(notebook):
    """Half an emoji, as tools leave it that cut a text, wherever a notebook has text."""
    half = "\ud83d"
    data = json.loads(json.dumps(notebook))
    picture = {f"{half}.png": {"image/png": f"iVBORw0KGgo={half}", half: half}, "b.png": {"image/png": "iVBORw0KGgo="}}
    own = {"nbgrader": {"grade_id": half, half: half}, half: half}
    output = {"output_type": "stream", "name": "stdout", "text": half, half: half}
    data["metadata"][half] = half
    data["cells"] += [
        {
            "cell_type": "markdown",
            "id": half,
            "source": f"![a](attachment:{half}.png)",
            "attachments": picture,
            half: 1,
        },
        {"cell_type": "code", "id": half, "source": f"'{half}'", "metadata": own, "outputs": [output]},
    ]
    for cell in data["cells"]:
        cell["id"] = cell.setdefault("metadata", {})[half] = half
        if grade_id(cell) == WRITTEN:
            cell |= {"source": f"Because \x1b[31m\x9b\x7f {half} ![a](attachment:{half}.png)", "attachments": picture}
    return json.dumps(data)


FORMS = [byte_order_mark, nbformat_3, junk_among_the_cells, halves_of_characters]


# ---------------------------------------------------------------- files that cannot be graded, with the reason


def a_link(path, notebook):
    target = path.parent.parent / "elsewhere.ipynb"
    target.write_text(json.dumps(notebook))
    path.symlink_to(target)


FAILED = {
    "empty": (lambda path, notebook: path.write_text(""), "is empty"),
    "broken": (lambda path, notebook: path.write_text(json.dumps(notebook)[:-50]), "not a Jupyter notebook"),
    "bytes": (lambda path, notebook: path.write_bytes(b"\xff\xfe\x00\x01"), "not UTF-8"),
    "large": (lambda path, notebook: path.write_bytes(b" " * (MAX_BYTES + 1)), "the limit is 20"),
    "folder": (lambda path, notebook: path.mkdir(), "not a file"),
    "link": (a_link, "it is a link"),
    "pipe": (lambda path, notebook: os.mkfifo(path), "not a file"),
    "two-with-other-names": (
        lambda path, notebook: [
            (path.parent / name).write_text(json.dumps(notebook).replace("mean", name))
            for name in ("a.ipynb", "b.ipynb")
        ],
        "more than one notebook with its cells: a.ipynb, b.ipynb",
    ),
    "..dots": (lambda path, notebook: path.write_text(json.dumps(notebook)), "begins with a dot"),
    "nothing": (lambda path, notebook: None, "the folder is empty"),
}
STUDENTS = ["with space", "Zoë Ünal", "a..b", "quote'quote", "[brackets]"]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return small_course(tmp_path_factory.mktemp("messy") / "course", written=True, second=True)


@pytest.fixture(scope="module")
def right(course):
    """A notebook with full marks."""
    return fill(released(course), model_answers(course.assignment(NAME)))


@pytest.fixture(scope="module")
def graded(course, right):
    """All cases, graded by nbgrader and by the function of the command line."""
    for change in GRADED:
        notebook = copy.deepcopy(right)
        change(notebook)
        place(course, change.__name__).write_text(json.dumps(notebook))
    for form in FORMS:
        place(course, form.__name__).write_text(form(copy.deepcopy(right)))
    for student, (write, _) in FAILED.items():
        write(place(course, student), right)
    for student in STUDENTS:
        place(course, student).write_text(json.dumps(right))
    extras(place(course, "extras"), right)
    result = api(course.root).autograde(NAME, "*")
    found = find_submissions([course.root / "submitted"], course)
    with contextlib.closing(open_pool(course.root, len(found), 2)) as workers:
        return result, {marked.report.student: marked.report for marked in grade(found, course, workers)}


def place(course, student):
    folder = course.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    return folder / NOTEBOOK


def extras(path, notebook):
    """Files beside the notebook that must not run."""
    path.write_text(json.dumps(notebook))
    acts = "open({!r}, 'w').write('acted')\n".format(str(path.parents[3] / "acted"))
    for name in ("conftest.py", "nbgrader_config.py", "autograder.py", "numpy.py", "sitecustomize.py", "test_x.py"):
        (path.parent / name).write_text(acts)
    (path.parent / "link").symlink_to("/etc/hostname")
    os.mkfifo(path.parent / "pipe")
    (path.parent / "second.ipynb").write_text("not a notebook")


def marks_in_the_gradebook(course, student):
    with book_of(course) as book:
        return marks(book, course.assignment(NAME), student)


@pytest.mark.parametrize("change", GRADED)
def test_odd_notebook_is_graded(graded, course, change):
    report = graded[1][change.__name__]
    lost = {e.name for e in report.exercises if e.score < e.max_score}
    assert lost == ({EXERCISE} if change in LOSE_THE_FIRST else set())
    assert marks_in_the_gradebook(course, change.__name__) == {e.name: e.score for e in report.exercises}


def test_odd_files_and_names_get_full_marks_and_extra_files_do_not_run(graded, course):
    for student in (*(form.__name__ for form in FORMS), *STUDENTS, "extras"):
        assert graded[1][student].score == 6, student
        assert sum(marks_in_the_gradebook(course, student).values()) == 6, student
    assert api(course.root).generate_feedback(NAME, halves_of_characters.__name__)["success"]
    (page,) = course.root.glob(f"feedback/{halves_of_characters.__name__}/*/*.html")
    assert "Because" in page.read_text()
    assert not set(page.read_text()) & {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))} - {"\n"}
    assert not (course.root / "acted").exists()
    copied = course.root / "autograded" / "extras" / NAME
    assert {path.name for path in copied.iterdir()} & {"conftest.py", "link", "pipe"} == {"conftest.py"}


def test_unreadable_submission_fails_with_a_reason(graded, course):
    result, reports = graded
    assert not result["success"]
    assert f"{len(FAILED)} of {len(FAILED) + len(GRADED) + len(FORMS) + len(STUDENTS) + 1} submissions" in result["log"]
    assert "Traceback" not in result["log"]
    for student, (_, words) in FAILED.items():
        assert reports[student].status == "failed"
        assert words in reports[student].reason
        assert f"{student}, {NAME} cannot be graded" in result["log"]
        assert words in result["log"]
        with pytest.raises(MissingEntry):
            marks_in_the_gradebook(course, student)
