"""Answers in another container: which are converted without changing a value, and which stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.testing.comparing import same_value
from autograder.testing.containers import repacked, slip_in
from cellcage.values.value import Other

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
MORE = np.ones((4, 5))
TENSOR = torch.from_numpy(ROWS)
PAIR = (ROWS, MORE)
UNCHANGED = [
    (ROWS, ROWS.astype(int)),
    (ROWS, 2.5),
    (ROWS, Other("matrix")),
    (ROWS, [[1.0, 2.0], [3.0]]),
    (ROWS, (ROWS, ROWS + 1)),  # two answers
    (PAIR, (MORE, ROWS)),  # another order is not another container
    ({"a": ROWS}, {"b": ROWS}),
]
CONVERTED = [
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


@pytest.mark.parametrize(("expected", "actual"), UNCHANGED)
def test_right_and_ambiguous_containers_are_not_converted(expected, actual):
    assert repacked(actual, expected) is actual
    assert slip_in(actual, expected) == ""


@pytest.mark.parametrize(("expected", "actual", "converted"), CONVERTED)
def test_other_containers_are_converted_without_changing_values(expected, actual, converted):
    assert same_value(repacked(actual, expected), converted)
    assert slip_in(actual, expected)


def test_message_names_the_wrong_container():
    assert slip_in((TENSOR, MORE), PAIR) == "a tensor of shape (2, 3), where a NumPy array belongs"
    assert slip_in({"a": [1, 2]}, {"a": (1, 2)}) == "a list of 2 values, where a tuple of 2 belongs"
    assert slip_in(np.array(True), True) == "an array of shape (), where True or False belongs"
