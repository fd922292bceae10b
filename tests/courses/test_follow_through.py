"""Follow-through in a course on text and lists: an early mistake costs marks only once."""

from __future__ import annotations

import pytest

from tests.courses.tables import IMPORTS, NAME, Exercise, tables_course
from tests.helpers.sandboxes import Marker

HIDDEN = """
@pytest.mark.exercise("{name}")
class Test:
    test_it = cases("As the task says.", {cases}, "What is asked?")
"""
SOLUTIONS = """
def words(text):
    return text.lower().split()


def counts(text):
    found = words(text)
    return {word: found.count(word) for word in found}


def swap(items, one, other):
    items[one], items[other] = items[other], items[one]


def descending(items):
    for end in range(len(items)):
        for at in range(end, 0, -1):
            if items[at] > items[at - 1]:
                swap(items, at, at - 1)
    return items
"""
CASES = {
    "words": "[('To be or not To be',)]",
    "counts": "[('To be or not to be',), ('a b A',)]",
    "swap": "",
    "descending": "[([5, 1, 4, 2, 3],), ([2, 1],), ([],)]",
}
EXERCISES = {name: f"def {name}(" + text for name in CASES
             for text in [SOLUTIONS.partition(f"def {name}(")[2].partition("\n\n\n")[0]]}  # fmt: skip
WRONG = {  # wrong answers to early exercises
    "words": "def words(text):\n    return text.split()",
    "swap": "def swap(items, one, other):\n    items[one] = items[other]",
}
LATER = {  # wrong answers to exercises that call these
    "words": ("counts", "def counts(text):\n    return {}"),
    "swap": ("descending", "def descending(items):\n    swap(items, 0, 0) if items else None\n    return items"),
}
UNCHANGED = """
@pytest.mark.exercise("swap")
class Test:
    def test_it(self, student):
        \"\"\"The two have changed places.\"\"\"
        assert student.swap.inputs_after([1, 2, 3], 0, 2)[0] == [3, 2, 1], "Which one is lost?"
"""


@pytest.fixture(scope="module")
def mark(tmp_path_factory, sandbox):
    exercises = {
        name: Exercise(text, HIDDEN.format(name=name, cases=CASES[name]) if CASES[name] else UNCHANGED, [])
        for name, text in EXERCISES.items()
    }
    marker = Marker(tables_course(tmp_path_factory.mktemp("follow") / "course", exercises).assignment(NAME), sandbox)

    def marked(changed):
        report, _ = marker.mark_cells("student", [IMPORTS, *(EXERCISES | changed).values()])
        assert not report.reason, report.reason
        return {one.name: one.score / one.max_score for one in report.exercises}

    return marked


@pytest.mark.slow
def test_later_exercise_loses_points_only_for_its_own_mistake(mark):
    scores = mark(WRONG)
    assert {name for name, score in scores.items() if score < 1} == WRONG.keys()
    scores = mark(WRONG | dict(LATER.values()))
    assert all(score < 1 for score in scores.values())


COUNTS = EXERCISES["counts"]
STYLES = {
    "decorated": f"def kept(f):\n    def call(text):\n        return f(text)\n    return call\n\n@kept\n{COUNTS}",
    "cached": f"import functools\n\n@functools.cache\n{COUNTS}",
    "inherited": "class Base:\n    def count(self, text):\n        found = words(text)\n"
    "        return {word: found.count(word) for word in found}\n\nclass Counter(Base):\n    pass\n\n"
    "def counts(text):\n    return Counter().count(text)",
}


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_early_mistake_costs_once_however_it_is_called(mark, style):
    scores = mark({"words": WRONG["words"], "counts": STYLES[style]})
    assert scores["words"] < scores["counts"] == 1
