"""Messages of the properties that this course's hidden tests use."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attention_course.hidden.inputs import normal, tensor
from attention_course.hidden.properties import gradients_match, responds, same_item_by_item
from autograder.testing.functions import Functions, answering
from autograder.testing.mismatch import Mismatch
from autograder.testing.student_errors import StudentError

HINT = "Where does it come from?"


def message_of(call, *args, **kwargs):
    """The message that a check fails with."""
    with pytest.raises(Mismatch) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def student_of(function):
    """The function as hidden tests call it: through a transport."""
    return Functions(answering({"f": function}), lambda name: []).f


def test_responds_accepts_functions_of_their_arguments():
    one, other = [np.full(2, 2.0), np.full(2, 5.0)], [np.zeros(2), np.ones(2)]
    responds(lambda x, y: x * y, one, other)
    responds(lambda x, y: x + 1, one, other)  # tests of values find one forgotten argument
    responds(lambda x, y: x + 1, one, [np.zeros(2), None])
    responds(lambda x: (x, x > 0), [np.full(2, 2.0)], [np.zeros(2)])
    last_digits = iter([5.0, 5.0 + 1e-15, 2.0])
    responds(lambda x: np.array(next(last_digits)), [np.ones(2)], [np.zeros(2)])


def test_responds_rejects_results_that_change():
    calls = iter(range(10))
    for call in (lambda x: np.array(float(next(calls))), lambda x: tuple([x] * next(calls))):
        assert (
            message_of(responds, call, [np.ones(2)], [np.zeros(2)])
            == "the same arguments give another result each time."
        )


def test_responds_rejects_returned_arguments_and_constants():
    args, others = [np.ones(2), np.ones(2)], [np.zeros(2), np.zeros(2)]
    assert message_of(responds, lambda Q, K: K, args, others, ["Q", "K"]) == (
        "an argument came back as it was. What is to be done with it?"
    )
    assert message_of(responds, lambda Q, K: np.full(1, np.nan), args, others, ["Q", "K"]).startswith(
        "the result at [0] is nan. Where is the first NaN?"
    )
    assert message_of(responds, lambda Q, K: np.full(3, 0.5), args, [np.zeros(2), None]) == (
        "the result stays the same with other values in argument 1. What is it made from?"
    )


def test_same_item_by_item():
    x = normal(1, 2, 3, 4)
    same_item_by_item(lambda x: (x * 2, x.sum(axis=-1)), [x], 2, HINT)
    mixed = message_of(same_item_by_item, lambda x: x - x.max(), [x], 1, HINT)
    assert mixed.startswith("the result for batch item 0 at [0, 0]")
    first_for_all = message_of(same_item_by_item, lambda x: x[:1, :1] + 0 * x if x.ndim == 3 else x, [x], 2, HINT)
    assert first_for_all.startswith("the result for batch item (0, 2) at [0] is ")
    assert first_for_all.endswith(f"which is not right (4 of 4 values differ). {HINT}")
    assert message_of(same_item_by_item, lambda x: x.reshape(-1, 4), [x], 2, HINT) == (
        f"the result has shape (6, 4); its first axes should be (2, 3). {HINT}"
    )
    assert message_of(same_item_by_item, lambda x: x.sum(), [x], 1, HINT) == (
        f"the result has shape (); its first axes should be (2,). {HINT}"
    )


def weighted(query, value):
    return torch.softmax(query, dim=-1) @ value


ARGS = [tensor(normal(2, 3, 4)), tensor(normal(3, 4, 5))]
SEED = tensor(normal(4, 3, 5))


def slope(function, args=ARGS, seeds=(SEED,), names=("query", "value")):
    gradients_match(student_of(function), args, list(seeds), HINT, names)


def test_gradients_match_accepts_right_functions():
    slope(weighted)
    slope(lambda query, value: (weighted(query, value), query), seeds=[SEED, None])
    slope(lambda query, value: [weighted(query, value), query], seeds=[SEED, ARGS[0]])
    slope(lambda query, value: weighted(query.float(), value.float()))
    slope(lambda query, value: weighted(query.float(), value.float()).double())
    mask = torch.tensor([True, False, True, True])
    slope(lambda query, value, mask: weighted(query, value * mask[:, None]), [*ARGS, mask])


def test_gradients_match_names_the_faulty_argument():
    assert (
        message_of(slope, lambda query, value: weighted(query.detach(), value)) == f"no gradient reaches query. {HINT}"
    )
    assert message_of(slope, lambda query, value: weighted(query, value.detach()), names=()) == (
        f"no gradient reaches argument 2. {HINT}"
    )
    assert (
        message_of(slope, lambda query, value: weighted(query, value).detach()) == f"no gradient reaches query. {HINT}"
    )
    assert message_of(slope, lambda query, value: weighted(query, value) + weighted(query.detach(), value)) == (
        f"the gradient of query is not the slope of the function. {HINT}"
    )
    assert message_of(slope, lambda query, value: weighted(query, value) + (0 * query).sqrt().sum()).startswith(
        "the gradient of query at [0, 0] is nan."
    )
    assert message_of(slope, lambda query, value: weighted(query, value).T) == (
        f"the result has shape (5, 3), it should be (3, 5). {HINT}"
    )


def test_student_errors_pass_through_properties():
    def fails(x):
        raise TypeError("no")

    for call in (
        lambda: responds(student_of(fails), [np.ones(2)], [np.zeros(2)]),
        lambda: same_item_by_item(student_of(fails), [np.ones((2, 3))], 1, HINT),
        lambda: gradients_match(student_of(fails), [torch.ones(2)], [torch.ones(2)], HINT),
    ):
        with pytest.raises(StudentError, match="raised TypeError: no"):
            call()
