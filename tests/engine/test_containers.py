"""Answers in other containers: what moves into the right one without changing a value, and what stays."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.testing.containers import in_containers_of, slip_in
from autograder.testing.values.core.comparing import same_value
from cellcage.values.core.objects import Other

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
MORE = np.ones((4, 5))
TENSOR = torch.from_numpy(ROWS)
PAIR = (ROWS, MORE)
ITSELF = [
    (ROWS, ROWS.astype(int)),
    (ROWS, 2.5),
    (ROWS, Other("matrix")),
    (ROWS, [[1.0, 2.0], [3.0]]),
    (ROWS, (ROWS, ROWS + 1)),  # two answers
    (PAIR, (MORE, ROWS)),  # the order is not a matter of containers
    ({"a": ROWS}, {"b": ROWS}),
]
MOVED = [
    (ROWS, TENSOR, ROWS),
    (TENSOR, ROWS, TENSOR),
    (ROWS, ROWS.tolist(), ROWS),  # a list has no dtype of its own
    (ROWS, [[np.float64(1)]], np.ones((1, 1))),  # a wrong shape and a wrong dtype stay as they are
    (ROWS, {"result": ROWS.tolist()}, ROWS),
    (torch.tensor(1.5), 1.5, torch.tensor(1.5)),
    (PAIR, (*PAIR, MORE), PAIR),
    (PAIR, {"second": MORE, "first": ROWS}, PAIR),
    ((4, 8), [4, 8], (4, 8)),
    ([1, 2], np.array([3, 4, 5]), [np.int64(3), np.int64(4), np.int64(5)]),
    ({"a": ROWS, "b": (1, 2)}, {"a": TENSOR, "b": [1, 2]}, {"a": ROWS, "b": (1, 2)}),
]


@pytest.mark.parametrize(("expected", "actual"), ITSELF)
def test_right_containers_and_unclear_ones_stay_as_they_are(expected, actual):
    assert in_containers_of(expected, actual) is actual
    assert slip_in(actual, expected) == ""


@pytest.mark.parametrize(("expected", "actual", "moved"), MOVED)
def test_values_are_moved_and_not_changed(expected, actual, moved):
    assert same_value(in_containers_of(expected, actual), moved)
    assert slip_in(actual, expected)


def test_a_slip_is_told_where_it_is():
    assert slip_in((TENSOR, MORE), PAIR) == "a tensor of shape (2, 3), where a NumPy array belongs"
    assert slip_in({"a": [1, 2]}, {"a": (1, 2)}) == "a list of 2 values, where a tuple of 2 belongs"
    assert slip_in(np.array(True), True) == "an array of shape (), where True or False belongs"
