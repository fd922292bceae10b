"""Messages say only what was judged, name the place, and name a mistake in whatever form its numbers come."""

from __future__ import annotations

import pytest

from autograder.course.assignments import Exercise
from autograder.explain.explaining import judge
from autograder.explain.material import Material
from autograder.testing.functions import Here
from autograder.testing.suite import Suite
from tests.courses.own import IMPORTS, course_of, exercise, graded, points_and_messages

NAME = "a1_chance"
HEAD = "import numpy as np\nimport pytest\n\nfrom autograder.testing import cases, expect\n\n\n"
DRAWN = """
def drawn(n, seed):
    ### BEGIN SOLUTION
    return np.random.default_rng(seed).normal(size=n)
    ### END SOLUTION
"""
PARSED = """
def parsed(text):
    ### BEGIN SOLUTION
    return {name: int(value) for name, value in (pair.split("=") for pair in text.split())}
    ### END SOLUTION
"""
STEPPED = """
def stepped(w, rate):
    ### BEGIN SOLUTION
    return w - rate * 2 * w, float((w * w).sum())
    ### END SOLUTION
"""
HIDDEN = {
    "drawn": '''
@pytest.mark.exercise("drawn")
class TestDrawn:
    def test_values(self, student, reference):
        """The numbers that this seed gives."""
        expect.close(expect.array(student.drawn(4, 1)), reference.drawn(4, 1), "Which generator?")

    def test_seed_matters(self, student):
        """Another seed gives other numbers."""
        expect.differs(student.drawn(4, 2), student.drawn(4, 3), "What is seeded?")
''',
    "parsed": '''
@pytest.mark.exercise("parsed")
class TestParsed:
    test_two = cases("Two pairs.", [("a=1 b=2", {"a": 1, "b": 2})], "What stands behind the equals sign?")

    def test_same(self, student, reference):
        """Three pairs."""
        expect.equal(student.parsed("c=1 d=2"), reference.parsed("c=1 d=2"), "What comes last?")
''',
    "stepped": '''
@pytest.mark.exercise("stepped")
class TestStepped:
    @pytest.mark.parametrize("rate", [0.1, 0.2, 0.3])
    def test_step(self, student, reference, rate):
        """One step and the loss before it."""
        w = np.arange(3.0)
        got, loss = expect.pair(student.stepped(w, rate), ("w", "loss"))
        right, before = reference.stepped(w, rate)
        expect.close(got, right, "Which way?", "w")
        expect.close(expect.numbers(loss), before, "The loss of which w?", "the loss")
''',
}
MISTAKES = """
import numpy as np

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("uphill", hint="Up or down?")
def stepped(w, rate):
    return w + rate * 2 * w, float((w * w).sum())
"""
WRONG = {
    "drawn": "def drawn(n, seed):\n    np.random.seed(seed)\n    return list(np.random.normal(size=n))",
    "parsed": "def parsed(text):\n    return {pair.split('=')[0]: 1 for pair in text.split()}",
    "stepped": "import torch\n\ndef stepped(w, rate):\n    return w + rate * 2 * w, torch.tensor(sum(w * w)).float()",
}


@pytest.fixture(scope="module")
def messages(sandbox, tmp_path_factory):
    cells = IMPORTS + exercise("drawn", DRAWN) + exercise("parsed", PARSED) + exercise("stepped", STEPPED)
    files = {f"{name}/hidden_tests.py": HEAD + text for name, text in HIDDEN.items()}
    course = course_of(
        tmp_path_factory.mktemp("true") / "course", NAME, cells, files | {"stepped/mistakes.py": MISTAKES}
    )

    def messages(**more):
        found = points_and_messages(graded(sandbox, course, NAME, WRONG | more))
        return {name: text for name, (_, text) in found.items()}

    return messages


@pytest.mark.slow
def test_messages_are_true(messages):
    found = messages()
    assert (
        "returned a list of 4 values, where a NumPy array belongs. Nothing else is wrong by this test" in found["drawn"]
    )
    assert "The values are right" not in found["drawn"]
    assert "the result at ['b'] is 1, which is not right. What stands behind" in found["parsed"]
    assert "the result at ['d'] is not right. What comes last?" in found["parsed"]
    assert found["stepped"].startswith("Up or down?"), found["stepped"]
    other = messages(
        drawn="def drawn(n, seed):\n    return list(np.random.default_rng(seed).normal(size=n))",
        stepped="def stepped(w, rate):\n    return w",
    )
    assert "where a NumPy array belongs. The values are right, so this costs a fifth" in other["drawn"]
    assert "returned an array of shape (3,), not the tuple (w, loss)." in other["stepped"]


VISIBLE = '''
import pytest


@pytest.mark.exercise("halves")
class TestHalves:
    def test_both(self, student):
        """Both halves."""
        first, second = student.halves([1, 2])
        assert first == [1]
'''


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((1, 2, 3), "halves([1, 2]): returned a tuple of 3 values, where 2 values belong."),
        ([1], "halves([1, 2]): returned a list of 1 value, where 2 values belong."),
        (None, "halves([1, 2]): returned None (is there a `return`?), where several values belong."),
    ],
)
def test_test_that_unpacks_an_answer_says_what_came_back(tmp_path, value, words):
    (tmp_path / "visible_tests.py").write_text(VISIBLE)
    material = Material(Suite([tmp_path / "visible_tests.py"]))
    (result,) = judge(material, Here({"halves": lambda numbers: value}), [Exercise("halves", 1.0)])
    assert result.tests[0].message == words
