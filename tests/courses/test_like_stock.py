"""A course graded by stock nbgrader and by `autograder`: honest work gets the same marks."""

from __future__ import annotations

import re
import shutil

import pytest
from nbgrader.api import Gradebook

from autograder.course.assignments import Course
from autograder.nbgrader.whole_class import grade_into_gradebook
from autograder.submission import grade_id
from tests.courses.algorithms import COUNTED, COUNTING, FULL, RIGHT, SORTING
from tests.courses.classic import classic_course, submit
from tests.helpers.stock import stock

NAME = "algorithms"
TEXT = SORTING + COUNTING  # in one notebook: stock nbgrader starts a kernel for each
BY_HAND = dict.fromkeys(("by-hand", "why", "plan"))
STYLE = RIGHT | {
    "counts": "from collections import Counter\ndef counts(text):\n    return Counter(text.split())",
    "sum-of-five": "total = 2**5 - 1",
}
MIXED = STYLE | {
    "middle": "import sys\ndef middle(numbers):\n    return sorted(numbers)[len(numbers) // 2]",
    "binary_search": "def binary_search(ordered, item):\n    return item // 2",
    "longest": "def longest(words):\n    import sys\n    print('it warns', file=sys.stderr)\n    return 'APPLE'",
    "counts": "def counts(text):\n    return {word: text.count(word) for word in text.split(' ')}",
    "sum-of-five": "total = '31'",
}
LOSES = STYLE | {
    "middle": "def middle(numbers):\n    numbers.sort()\n    half = len(numbers) // 2\n"
    "    return (numbers[half] + numbers[~half]) / 2",
    "keep": "def keep(path, words):\n    open(path, 'w').write(' '.join(sorted(words)))",
    "counts": "def counts(text):\n    return dict.fromkeys(text.split(), 1)",
    "sum-of-five": "total = 32",
}
EDITED = STYLE | {"longest": "def longest(words):\n    return max(words).upper()"}
HONEST = {"style": STYLE, "mixed": MIXED, "loses": LOSES, "empty": {}}
CRASH = STYLE | {
    "middle": "def middle(numbers):\n    import os\n    os._exit(0)",
    "sum-of-five": "import ctypes\ntotal = ctypes.string_at(0)",
}

# The first drops asserts and replaces a function that the tests call. The second returns objects equal to everything.
DROPS = """\
import ast
import numpy.testing

class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()

get_ipython().ast_transformers.append(Drop())
numpy.testing.assert_allclose = lambda *values, **more: None
"""
ANYTHING = """\
class Anything(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        return True
"""
FORGED = {
    "drops": {
        "middle": f"{DROPS}\ndef middle(numbers):\n    return 0",
        "binary_search": "def binary_search(ordered, item):\n    return 0",
        "longest": "def longest(words):\n    return ''",
        "keep": "def keep(path, words):\n    open(path, 'w').close()",
        "counts": f"{DROPS}\ndef counts(text):\n    return 0",
        "sum-of-five": "total = 0",
    },
    "equals": {
        "middle": f"{ANYTHING}\nimport numpy.testing\nnumpy.testing.assert_allclose = lambda *values: None\n"
        "def middle(numbers):\n    return Anything()",
        "binary_search": "def binary_search(ordered, item):\n    return Anything()",
        "longest": "def longest(words):\n    return Anything()",
        "keep": "Path.read_text = lambda path: type('Text', (), {'splitlines': lambda self: Anything()})()\n"
        "def keep(path, words):\n    pass",
        "counts": f"{ANYTHING}\ndef counts(text):\n    return Anything()",
        "sum-of-five": "total = 0\nsha1 = lambda data: type('Digest', (), {'hexdigest': lambda self: Anything()})()",
    },
}
OF_FORGED = {
    "drops": dict.fromkeys(FULL | COUNTED, 0) | {"search": 0.2},  # asserts stay; 0 is right once
    "equals": FULL | COUNTED,  # `existing-course.md` says so: only a suite compares outside of the notebook process
}


def edit_locked_cells(cells):
    """Write answers into locked cells, and delete one."""
    named = {grade_id(cell): cell for cell in cells}
    named["data"].source = 'WORDS = ["A", "APPLE"]'
    named["search"].source = "4"
    named["middle-odd"].source += "\nmiddle = None"
    cells.remove(named["files"])


def scores(course, student):
    """The automatic points by cell; None where a person grades, and where a cell is missing."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        grades = book.find_submission_notebook(NAME, NAME, student).grades
        return {grade.name: grade.auto_score for grade in grades}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course graded by stock nbgrader, and a copy graded by `autograder`."""
    students = HONEST | FORGED | {"edited": EDITED}
    course = classic_course(tmp_path_factory.mktemp("pair") / "course", **{NAME: TEXT})
    shutil.copytree(course.root / "source", course.root / "submitted" / "good")
    for student, answers in students.items():
        submit(course, NAME, student, edit_locked_cells if student == "edited" else lambda cells: None, **answers)
    ours = Course(shutil.copytree(course.root, course.root.parent / "ours"))
    stock(course.root, "autograde", [NAME])
    submit(ours, NAME, "crash", **CRASH)
    outcomes = grade_into_gradebook(ours, list(ours.assignments.values()), {"jobs": 1}, "auto", feedback=True)
    assert {(one.reason, one.no_feedback) for one in outcomes} == {(None, None)}
    return course, ours


def assert_same_marks(graded, students):
    """In every cell except the deleted one, which nbgrader leaves out and we put back."""
    by_stock, by_ours = ({who: scores(one, who) for who in ("good", *students)} for one in graded)
    assert by_stock["good"] == FULL | COUNTED | BY_HAND
    assert by_stock["edited"].pop("files") is None
    assert by_ours["edited"].pop("files") == 2
    assert by_ours == by_stock
    return by_stock


def assert_pages_are_in_order(ours, students):
    """The page shows a restored cell once."""
    names = re.findall(r"#% \w+ ([\w-]+) \d", TEXT)
    for student in ("good", "crash", *students):
        page = (ours.root / "feedback" / student / NAME / f"{NAME}.html").read_text()
        in_order = [*(one for one in names if one != "files"), "files"] if student == "edited" else names
        assert re.findall(r'<li><a href="#(?!comment-)([\w-]+)">', page) == in_order, student
    page = (ours.root / "feedback" / "edited" / NAME / f"{NAME}.html").read_text()
    text = re.sub(r"<[^>]+>", "", page)
    assert text.count("WORDS =") == 1
    assert "APPLE&quot;]" not in text and "SECRET" not in page


@pytest.mark.slow
def test_honest_work_gets_nbgraders_marks_in_every_cell(graded):
    """The solution, another style, partial credit, warnings, exceptions, an empty notebook, edited locked cells."""
    by_stock = assert_same_marks(graded, [*HONEST, "edited"])
    assert [sum(filter(None, by_stock[who].values())) for who in HONEST] == [17, 10, 8, 0]
    assert_pages_are_in_order(graded[1], ["edited", "empty"])


@pytest.mark.slow
def test_crash_costs_its_cells_and_forgery_what_the_page_says(graded):
    by_stock, by_ours = graded
    lost = {"middle-odd": 0, "middle-even": 0, "total": 0}
    assert scores(by_ours, "crash") == scores(by_ours, "style") | lost
    for student, expected in OF_FORGED.items():
        by_hand = {name: score for name, score in scores(by_ours, student).items() if name in BY_HAND}
        assert scores(by_ours, student) == expected | by_hand, student
        assert scores(by_stock, student) == scores(by_ours, "good") | by_hand | {"search": expected["search"]}
