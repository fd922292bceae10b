"""A course on pandas tables, graded in the sandbox: points for any style, and fitting messages for wrong answers."""

from __future__ import annotations

import pandas as pd
import pytest

from autograder.authoring.generated_files import visible_files
from autograder.errors import CourseError
from autograder.testing.functions import Functions, answering
from autograder.testing.suite import Suite
from tests.courses.tables import EXERCISES, IMPORTS, NAME, Exercise, answer, tables_course
from tests.helpers.sandboxes import Marker

FITTING = 0.6  # of the messages about wrong answers; this course has no known mistakes


@pytest.fixture(scope="module")
def mark(tmp_path_factory, sandbox):
    """Grades some answers in one notebook; the results by exercise."""
    marker = Marker(tables_course(tmp_path_factory.mktemp("tables") / "course").assignment(NAME), sandbox)

    def marked(**answers):
        report, _ = marker.mark_cells("student", [IMPORTS, *answers.values()])
        assert not report.reason, report.reason
        return {one.name: one for one in report.exercises if one.name in answers}

    return marked


def in_turn(kind):
    """Answers of one kind: first the first answer of each exercise, then the second ones, and so on."""
    most = max(len(getattr(one, kind)) for one in EXERCISES.values())
    for number in range(most):
        yield {name: getattr(one, kind)[number] for name, one in EXERCISES.items() if number < len(getattr(one, kind))}


def first_message(result):
    """The first message that a student reads."""
    return f"{result.evidence} {next((test.message for test in result.tests if test.message), '')}"


@pytest.mark.slow
def test_right_answer_in_any_style_gets_full_marks(mark):
    solutions = {name: one.solution for name, one in EXERCISES.items()}
    for answers in (solutions, *in_turn("right")):
        results = mark(**answers)
        lost = {name: first_message(one) for name, one in results.items() if one.score < one.max_score}
        assert lost == {} and len(results) == len(answers)


@pytest.mark.slow
@pytest.mark.parametrize("of_each", [1, pytest.param(None, marks=pytest.mark.catalogue)], ids=["first", "all"])
def test_wrong_answer_loses_points_with_a_fitting_message(mark, of_each):
    found = {}
    for answers in list(in_turn("wrong"))[:of_each]:
        results = mark(**{name: answer(name, body) for name, (body, _) in answers.items()})
        found |= {(name, body): (results[name], words) for name, (body, words) in answers.items()}
    assert [key for key, (one, _) in found.items() if one.score == one.max_score] == []
    messages = {key: first_message(one) for key, (one, _) in found.items()}
    unfitting = [key for key, (_, words) in found.items() if words is None or words not in messages[key]]
    assert len(unfitting) <= (1 - FITTING) * len(found), "\n".join(f"{key}: {messages[key]}" for key in unfitting)


VISIBLE = """
@pytest.mark.exercise("late")
class TestLate:
    test_late = cases("Later orders.", [((ORDERS[3:5], pd.Timestamp("2024-03-01")),), ((ORDERS[:1],
        pd.Timestamp("2024-01-01")), 7)], "Later than what?", visible=True)
"""


def test_visible_test_of_a_table_shows_inputs_and_expected_table(tmp_path):
    """The generated file writes frames by their columns."""
    solution = "def late(orders, day):\n    return orders[orders['day'] > day][['city', 'day']]\n"
    tests = "import pandas as pd\n" + VISIBLE
    course = tables_course(tmp_path / "course", {"late": Exercise(solution, tests, [])})
    ((path, text),) = visible_files(course.assignment(NAME))
    path.write_text(text)
    names = {"pd": pd}
    exec(solution, names)
    suite = Suite([path])
    (test,) = suite.tests

    def message(function):
        student = Functions(answering({"late": function}), lambda name: ("orders", "day"))
        return suite.run(test, student, None).message()

    late = names["late"]
    said = message(late)
    assert "late(orders, day=2024-01-01 00:00:00) with orders of 1 x 5: returned a table of 1 row and 2 columns" in said
    assert "wanted `7`" in said and "DataFrame {'city': ['Paris']" in said
    said = message(lambda orders, day: late(orders, day).assign(city="Rom"))
    assert "is 'Rom' in column 'city' at row 4, wanted 'Rome'" in said


def test_case_that_cannot_be_written_as_code_raises_course_error(tmp_path):
    solution = "def late(orders, day):\n    return orders\n"
    tests = "import pandas as pd\n" + VISIBLE.replace("7)]", "object())]")
    with pytest.raises(CourseError, match="holds what cannot be written down"):
        tables_course(tmp_path / "course", {"late": Exercise(solution, tests, [])})
