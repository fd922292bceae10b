"""`dev check` reports an author's slips, here all in one course on recursion."""

from __future__ import annotations

import contextlib
import logging
import signal

import pytest

from autograder.authoring import course_check, known_mistakes
from autograder.authoring.known_mistakes import promises
from autograder.cli import main
from autograder.course.assignments import Course
from autograder.explain import visible_fingerprints
from autograder.explain.material import Material
from autograder.testing import functions
from autograder.testing.catalogue import read_catalogue
from autograder.testing.suite import Suite
from tests.courses.own import IMPORTS, course_of, exercise
from tests.helpers.small_course import command

NAME = "a1_recursion"
CHANGE = '''\
def change(coins, amount):
    """The fewest coins that add up to the amount; None if there is no way."""
    ### BEGIN SOLUTION
    best = [0] + [None] * amount
    for total in range(1, amount + 1):
        before = [best[total - coin] for coin in coins if coin <= total and best[total - coin] is not None]
        best[total] = min(before) + 1 if before else None
    return best[amount]
    ### END SOLUTION
'''
HEAD = "import numpy as np\nimport pytest\n\nfrom autograder.testing import cases, expect\n\n"
TESTS = """
@pytest.mark.exercise("change")
class TestChange:
    test_few = cases("Few coins.", [(([1, 3, 4], 6), 2), (([5], 3), None)], "How many of 3?")
    test_large = cases("A large amount.", [(([1, 7, 31, 90], 300), 9)], "What is computed twice?", about_time=True)
"""
SLIPS = '''
    def test_nothing(self, reference):
        """It does not call the student's code."""
        print("read me once")
        assert reference.change([1], 2) == 2

    def test_almost(self, student):
        """Nearly right."""
        expect.almost(student.change([1], 2), 2)
'''
MISTAKES = """
from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("greedy", hint="Is the largest coin always one of them?")
def change(coins, amount):
    count = 0
    for coin in sorted(coins, reverse=True):
        count, amount = count + amount // coin, amount % coin
    return None if amount else count


@mistake("no-memory", hint="How often is the same amount worked out?")
def change(coins, amount):
    def fewest(rest):
        ways = [fewest(rest - coin) for coin in coins if coin <= rest]
        return min((way + 1 for way in ways if way is not None), default=None) if rest else 0

    return fewest(amount)


@mistake("slip", hint="What?")
def change(coins, amount):
    return smallest(coins)
"""
VISIBLE = '''
@pytest.mark.exercise("change")
class TestChange:
    def test_seven(self, student):
        """Two of 7 and one of 1."""
        expect.equals(student.change([1, 7], 15), 3)
'''
HINT = 'nudge = "What is the last coin?"\ncloser = "A table."\nsection = "1. `change`"\n'


def course_with(root, **more):
    cells = IMPORTS + "\n#% text\n## 1. `change`\n\n" + exercise("change", CHANGE)
    return course_of(
        root,
        NAME,
        cells,
        {"change/hidden_tests.py": HEAD + TESTS, "change/mistakes.py": MISTAKES, "change/hint.toml": HINT} | more,
    )


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The lines that `dev check` prints for a course with many slips."""
    more = {"change/hidden_tests.py": HEAD + TESTS + SLIPS, "change/visible_tests.py": HEAD + VISIBLE}
    course = course_with(tmp_path_factory.mktemp("slips") / "coins", **more)
    settings = course.folder / "course.toml"
    settings.write_text('[names]\nnp = "numppy"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functions, "COURSE_SECONDS", 0.5)
        patch.setattr(course_check, "COURSE_SECONDS", 0.5)
        code, text = command(course, "dev", "check")
    assert code == 1, text
    assert str(course.root) not in text  # paths are relative
    return text.splitlines()


def line_with(printed, *words):
    (found,) = [line for line in printed if all(word in line for word in words)]
    return printed.index(found), found


@pytest.mark.catalogue
@pytest.mark.slow
def test_each_slip_is_reported_with_its_place(printed):
    folder = "coins_course/a1_recursion/change"
    to_fix, _ = line_with(printed, "To fix before students get it:")
    can_wait, _ = line_with(printed, "Can wait:")
    for words in (
        ("coins_course/course.toml: 'np'", "there is no module 'numppy' here"),
        (f"{folder}/mistakes.py: mistake 'slip'", "it only raises NameError: name 'smallest' is not defined"),
        (f"{folder}/hidden_tests.py: 'change, test_almost'", "AttributeError: ", "'almost'", "hidden_tests.py, line"),
        (f"{folder}/visible_tests.py: 'change, test_seven'", "AttributeError: ", "'equals'", "visible_tests.py, line"),
        ("cell 'change'", "untouched, it does not count as not started, and passes test_nothing"),
    ):
        assert to_fix < line_with(printed, *words)[0] < can_wait, words
    place, slow = line_with(printed, f"{folder}/mistakes.py: mistake 'no-memory'")
    assert place > can_wait
    assert "did not end in 0.5 seconds" in slow and "change(" in slow
    assert sum("read me once" in line for line in printed) == 1
    assert not [line for line in printed if "paper" in line or "in order" in line]


@pytest.mark.slow
def test_about_time_asks_its_own_question_at_a_time_limit(tmp_path, monkeypatch):
    """As an argument of `cases` and as a mark; other tests ask whether a loop never ends."""
    monkeypatch.setattr(functions, "COURSE_SECONDS", 0.2)
    marked = """
    @pytest.mark.about_time("Does it end?")
    def test_method(self, student):
        \"\"\"It ends.\"\"\"
        student.change([1, 3], 200)

    def test_other(self, student):
        \"\"\"It gives something.\"\"\"
        student.change([1, 4], 200)
"""
    course = course_with(tmp_path / "coins", **{"change/hidden_tests.py": HEAD + TESTS + marked})
    assignment = course.assignment(NAME)
    wrong = next(one for one in read_catalogue(assignment.mistakes) if one.name == "no-memory")
    result = course_check.result_of(assignment, Material(Suite(assignment.suites)), wrong)
    messages = {test.name: test.message for test in result.tests}
    assert messages["test_large"].endswith("no answer after 0.2 seconds. What is computed twice?")
    assert messages["test_method"].endswith("seconds. Does it end?")
    assert messages["test_other"].endswith(
        "seconds. Does a loop never end, or does the code compute far more than the task needs?"
    )


WEAK = '''
@pytest.mark.exercise("change")
class TestChange:
    def test_none(self, student):
        """There is no way."""
        expect.equal(student.change([5], 3), None)
'''


@pytest.mark.slow
def test_mistake_that_check_passes_or_does_not_name_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(functions, "COURSE_SECONDS", 0.2)
    assignment = course_with(tmp_path / "coins", **{"change/visible_tests.py": HEAD + WEAK}).assignment(NAME)
    found = promises(assignment)
    assert found.in_words == ""  # names are counted once fingerprints exist
    greedy, no_memory = found.problems
    assert (greedy.cell, no_memory.cell) == ("greedy", "no-memory")
    assert greedy.what == "it passes all visible tests, and gets 50% of the points"
    assert greedy.blocks
    visible_fingerprints.write(assignment.content, {})
    found = promises(assignment)
    assert found.in_words == "known mistakes that the visible tests name: change 0 of 3"
    assert "`check` names 0 of 3 known mistakes" in found.problems[-1].what
    assert found.problems[-1].blocks
    reasons = '[change]\ngreedy = "It needs a fourth coin."\nno-memory = " "\n'
    (assignment.content / "not_shown.toml").write_text(reasons)
    assert [one.cell for one in promises(assignment).problems] == ["no-memory", "change"]
    (assignment.content / "change" / "visible_tests.py").write_text(
        HEAD + WEAK.replace("[5], 3), None", "[1, 3, 4], 6), 2")
    )
    visible_fingerprints.write(assignment.content, dict(known_mistakes._visible_rows(assignment)))
    found = promises(assignment)
    assert found.in_words.endswith("change 1 of 3")
    assert not [one for one in found.problems if one.cell == "greedy"]


@pytest.mark.slow
def test_signals_interrupt_the_check_of_known_mistakes(tmp_path, monkeypatch):
    """Ctrl-C and SIGTERM do not count as exceptions of the mistake that is running."""
    monkeypatch.setattr(functions, "COURSE_SECONDS", 0.5)
    wait = "    import os, time\n    os.kill(os.getpid(), {number})\n    time.sleep(9)\n"
    head, _, tail = MISTAKES.partition("    return smallest(coins)\n")
    for number, kind in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)):
        mistakes = head + wait.format(number=int(number)) + tail
        course = course_with(tmp_path / number.name, **{"change/mistakes.py": mistakes})
        before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
        with contextlib.ExitStack() as stack:
            stack.callback(logging.disable, logging.NOTSET)  # the handler disables logging
            stack.callback(lambda before=before: [signal.signal(*pair) for pair in before.items()])
            for one in before:
                signal.signal(one, main._raise)
            with pytest.raises(kind):
                list(course_check.known_mistakes(course.assignment(NAME)))


def test_commands_outside_a_course_say_so(tmp_path):
    notebook = tmp_path / "ps1" / "x.ipynb"
    notebook.parent.mkdir()
    notebook.write_text("{}")
    grade = (["grade", "ps1/x.ipynb"], ["grade", "."], ["grade", "ps1/x.ipynb", "--assignment", "ps1"])
    for words in (["dev", "check"], ["dev", "sync"], ["dev", "new", "a1_first", "mean"], *grade):
        code, printed = command(Course(tmp_path), *words)
        assert code == 2
        assert printed.startswith("autograder: no course here: ")
