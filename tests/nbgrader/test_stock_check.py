"""The check that judges in the kernel, for nbgrader without our plugin: a cell's result is its points."""

from __future__ import annotations

import pytest

from tests.helpers.in_process import ASSIGNMENTS

A1 = ASSIGNMENTS[0]
CELL = "from autograder.student.stock import check\npoints = check({})"


def points(names, asked):
    names = dict(vars(A1.reference())) | names
    exec(CELL.format(asked), names)
    return names["points"]


def test_points_are_a_number_with_a_rubric():
    full = points({}, '"softmax"')
    assert (full, repr(full)) == (A1.exercises[0].points, "4")
    assert "Scores of 10,000 still give finite weights" in full._repr_html_()
    assert points({}, "softmax") == full  # the function itself


@pytest.mark.slow
def test_an_early_mistake_is_paid_for_once():
    wrong = {"attention_scores": lambda Q, K: Q @ K.swapaxes(-2, -1)}
    assert 0 < points(wrong, '"attention_scores"') < A1.exercises[1].points
    assert points({"softmax": lambda x, axis=-1: x}, '"scaled_dot_product_attention"') == A1.exercises[2].points
