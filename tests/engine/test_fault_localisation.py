"""If a test compares two answers of the student, its message never calls the right one wrong."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.testing import expect
from autograder.testing.functions import Functions, answering
from autograder.testing.mismatch import Mismatch, call_about, locate_fault

X = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])


def right(x):
    return x.sum(axis=-1), 2 * x


def message_of(code, compare):
    """The message of a test that compares answers of `code`, and the call it is about."""
    student = Functions(answering({"f": code}), lambda name: ["x"])
    with pytest.raises(Mismatch) as failed:
        compare(student.f)
    error = locate_fault(failed.value, student.calls, answering({"f": right}))
    return str(error), call_about(error.got, student.calls).call


def rows_first(f):
    whole = f(X)
    expect.close(f(X[:1])[1], whole[1][:1], "Is a row alone what it is among others?", "the row alone")


def rows_last(f):
    alone = f(X[:1])
    expect.close(f(X)[1][:1], alone[1], "Is a row alone what it is among others?", "the first row")


def wrong_alone(x):
    return x.sum(axis=-1), (2 if len(x) > 1 else 3) * x


def wrong_together(x):
    return x.sum(axis=-1), (3 if len(x) > 1 else 2) * x


def test_wrong_answer_is_shown_if_the_test_reports_it():
    text, call = message_of(wrong_alone, rows_first)
    assert text.startswith("the row alone at [0, 0] is 3, which is not right (3 of 3 values differ). Is a row")
    assert call.args[0].shape == (1, 3)


@pytest.mark.parametrize(("code", "compare", "rows"), [(wrong_together, rows_first, 2), (wrong_alone, rows_last, 1)])
def test_wrong_answer_is_shown_if_the_test_reports_the_other(code, compare, rows):
    text, call = message_of(code, compare)
    assert text == (
        "result[1] at [0, 0] is 3, which is not right. It should agree with another answer of yours, which is right."
    )
    assert call.args[0].shape == (rows, 3)


def test_copied_answers_are_reported_as_disagreeing():
    def compare(f):
        whole = f(X)
        expect.close(f(X[:1])[1].copy(), whole[1][:1].copy(), "Why?", "the row alone")

    text, _ = message_of(wrong_together, compare)
    assert text == "the row alone at [0, 0] is 2, unlike other answers of yours. They should agree. Why?"


def test_wrong_hidden_test_calls_no_answer_wrong():
    text, _ = message_of(right, lambda f: expect.close(f(X)[1], 3 * f(X)[1], "Why?"))
    assert text == "the result at [0, 0] is 2, unlike other answers of yours. They should agree. Why?"


def test_expected_value_is_not_shown():
    text, _ = message_of(lambda x: (x.sum(axis=-1), 3 * x), lambda f: expect.close(f(X)[1], 2 * X))
    assert text == "the result at [0, 0] is 3, which is not right (6 of 6 values differ)."
