"""What a notebook does is graded as what its functions give: a variable, text, files, figures, input typed in."""

from __future__ import annotations

import contextlib
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.paired_scripts import sync
from autograder.course import CHECK, CONFIG, Course
from autograder.sandbox.limits import Limits
from autograder.sandbox.supervisor.fork_server import isolates
from autograder.submission import Cell, grade_id
from autograder.worker.task import Task
from autograder.worker.worker import Judges, Worker
from tests.courses.classic import notebook_of
from tests.courses.notebooks import DATA, HEAD, NAME, NOTEBOOK, RIGHT, SUITES, VISIBLE, WRONG

STOCK = "### BEGIN HIDDEN TESTS\nfrom autograder.student.stock import check\n### END HIDDEN TESTS\n"


def suite_course(root: Path, notebook: str, suites, data=None, visible=None) -> Course:
    """A course with one assignment, its suites in the minimal form, and files beside its notebook."""
    (root / "notes_course").mkdir(parents=True)
    (root / "notes_course" / "course.toml").write_text("")
    (root / CONFIG).write_text("from autograder.nbgrader import configure\nc = get_config()\nconfigure(c)\n")
    (root / "jupytext.toml").write_text('cell_metadata_filter = "nbgrader,tags"\n')
    for name, text in {f"{one}/hidden_tests.py": suites[one] for one in suites}.items() | (visible or {}).items():
        path = root / "notes_course" / NAME / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + text)
    source = notebook_of(notebook)
    for cell in source.cells:
        if grade_id(cell).startswith(CHECK):
            cell.source, cell.metadata["tags"] = STOCK + cell.source, ["active-ipynb"]
    folder = root / "source" / NAME
    for name, content in (data or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(source, folder / "notes.ipynb")
    course = Course(root)
    list(sync(course))
    return course


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notes") / "course"
    return suite_course(folder, NOTEBOOK, SUITES, DATA, {"table/visible_tests.py": VISIBLE})


@contextlib.contextmanager
def marking(course, kind="auto", limits=None):
    """What the solution with other cells gets, by exercise: points and the first message."""
    assignment, ends = course.assignment(NAME), contextlib.ExitStack()
    judges = Judges(course.root, isolates(kind)[0])
    worker = Worker(course, judges, limits or Limits())
    ends.callback(judges.end)
    ends.callback(worker.end)
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

    with ends:
        yield mark


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
    {
        "table": "def table(prices):\n    while True: print('x' * 10**6)",
        "cheap": "import os, csv\ndef cheap(limit, path):\n    os.symlink('/etc/passwd', path)",
        "draw": "import matplotlib.pyplot as plt\ndef draw(prices):\n    plt.plot(range(10**6))",
        "quiz": "import builtins\nbuiltins.input = input = lambda *_: '9'\ndef quiz():\n    return float(input())",
    },
    {
        "table": "def table(prices):\n    print('x' * 10**8)\n    print(f'secret {prices}')",
        "cheap": "def cheap(limit, path):\n    for n in range(10**6):\n        open(f'{n}.txt', 'w').write('x')",
        "draw": "import matplotlib.pyplot as plt\ndef draw(prices):\n    for n in range(1000): plt.text(n, n, 'x')",
        "quiz": "import builtins\nbuiltins.input = lambda *_: '9'\ndef quiz(read=input):\n    return float(read())",
    },
    {
        "cheap": "import os\ndef cheap(limit, path):\n    while True:\n        os.mkdir('d')\n        os.chdir('d')",
        "draw": "class Figure:\n    axes = [1, 2]\ndef draw(prices):\n    return Figure()",
        "quiz": "def quiz():\n    import sys\n    sys.stdin = None\n    return input",
    },
    {
        "cheap": "def cheap(limit, path):\n    file = open(path, 'wb')\n    while True: file.write(b'x' * 10**6)",
        "draw": "import matplotlib.pyplot as plt\ndef draw(prices):\n    return [plt.figure() for _ in range(10**6)]",
    },
]


OTHERS = [pytest.param(kind, marks=pytest.mark.catalogue) for kind in ("landlock", "process")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", *OTHERS])
def test_what_is_hostile_loses_its_own_exercise(course, kind):
    """Endless text, files and points, links out of the folder, an `input` of its own."""
    quick = Limits(call_seconds=1.5, planned_seconds=0.7, memory=400 * 2**20)
    with marking(course, kind, quick) as mark:
        for answers in HOSTILE:
            found = mark(**answers)
            assert {name: score for name, (score, _) in found.items()} == {
                name: 0 if name in answers else 2 for name in SUITES
            }, found
            assert "root:" not in str(found)
        assert mark() == FULL
