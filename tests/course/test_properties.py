"""Properties that hidden tests of this course ask for: their sentences, and what honest work passes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attention_course.hidden.inputs import normal, tensor
from attention_course.hidden.properties import gradients_match, parts, responds, same_item_by_item
from autograder.testing import expect
from autograder.testing.local import answering
from autograder.testing.student import Gradients, Student
from autograder.testing.student_errors import StudentError
from cellcage.values.core.objects import Other

HINT = "Where does it come from?"


def said(call, *args, **kwargs):
    """The sentence a check fails with."""
    with pytest.raises(expect.Mismatch) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def said_or_passed(call):
    try:
        call()
    except expect.Mismatch as mismatch:
        return str(mismatch)
    return "It passed."


def student_of(function):
    """The function as suites meet it: called through a transport."""
    return Student(answering({"f": function}), lambda name: []).f


def test_parts():
    assert [p.tolist() for p in parts((np.ones(2), torch.zeros(1)))] == [[1.0, 1.0], [0.0]]
    assert [p.tolist() for p in parts(2.0)] == [2.0]
    assert said(parts, ()) == "gave back a tuple of 0 values, where an array belongs."
    assert said(parts, (np.ones(2), None)) == "gave back None (is there a `return`?), where an array belongs."
    assert said(parts, [np.ones(2)]) == "gave back a list of 1 value, where an array belongs."


def test_responds_takes_a_function_of_its_arguments():
    one, other = [np.full(2, 2.0), np.full(2, 5.0)], [np.zeros(2), np.ones(2)]
    responds(lambda x, y: x * y, one, other)
    responds(lambda x, y: x + 1, one, other)  # one forgotten argument is for the tests of values
    responds(lambda x, y: x + 1, one, [np.zeros(2), None])
    responds(lambda x: (x, x > 0), [np.full(2, 2.0)], [np.zeros(2)])
    last_digits = iter([5.0, 5.0 + 1e-15, 2.0])
    responds(lambda x: np.array(next(last_digits)), [np.ones(2)], [np.zeros(2)])


def test_responds_finds_random_and_remembered_numbers():
    calls = iter(range(10))
    for call in (lambda x: np.array(float(next(calls))), lambda x: tuple([x] * next(calls))):
        assert said(responds, call, [np.ones(2)], [np.zeros(2)]) == "the same arguments give another result each time."


def test_responds_finds_an_answer_that_is_none():
    args, others = [np.ones(2), np.ones(2)], [np.zeros(2), np.zeros(2)]
    assert said(responds, lambda Q, K: K, args, others, ["Q", "K"]) == (
        "an argument came back as it was. What is to be done with it?"
    )
    assert said(responds, lambda Q, K: np.full(1, np.nan), args, others, ["Q", "K"]) == (
        "the result stays the same with other values in Q and K. What is it made from?"
    )
    assert said(responds, lambda Q, K: np.full(3, 0.5), args, [np.zeros(2), None]) == (
        "the result stays the same with other values in argument 1. What is it made from?"
    )


def test_same_item_by_item():
    x = normal(1, 2, 3, 4)
    same_item_by_item(lambda x: (x * 2, x.sum(axis=-1)), [x], 2, HINT)
    mixed = said(same_item_by_item, lambda x: x - x.max(), [x], 1, HINT)
    assert mixed.startswith("the result for batch item 0 at [0, 0]")
    first_for_all = said(same_item_by_item, lambda x: x[:1, :1] + 0 * x if x.ndim == 3 else x, [x], 2, HINT)
    assert first_for_all.startswith("the result for batch item (0, 2) at [0] is ")
    assert first_for_all.endswith(f"which is not right (4 of 4 values differ). {HINT}")
    assert said(same_item_by_item, lambda x: x.reshape(-1, 4), [x], 2, HINT) == (
        f"the result has shape (6, 4); its first axes should be (2, 3). {HINT}"
    )
    assert said(same_item_by_item, lambda x: x.sum(), [x], 1, HINT) == (
        f"the result has shape (); its first axes should be (2,). {HINT}"
    )


def weighted(query, value):
    return torch.softmax(query, dim=-1) @ value


ARGS = [tensor(normal(2, 3, 4)), tensor(normal(3, 4, 5))]
SEED = tensor(normal(4, 3, 5))


def slope(function, args=ARGS, seeds=(SEED,), names=("query", "value")):
    gradients_match(student_of(function), args, list(seeds), HINT, names)


def test_gradients_match_takes_honest_work():
    slope(weighted)
    slope(lambda query, value: (weighted(query, value), query), seeds=[SEED, None])
    slope(lambda query, value: [weighted(query, value), query], seeds=[SEED, ARGS[0]])
    slope(lambda query, value: weighted(query.float(), value.float()))
    slope(lambda query, value: weighted(query.float(), value.float()).double())


def test_gradients_match_leaves_out_what_has_no_gradient():
    mask = torch.tensor([True, False, True, True])
    slope(lambda query, value, mask: weighted(query, value * mask[:, None]), [*ARGS, mask])


def test_gradients_match_names_the_argument():
    assert said(slope, lambda query, value: weighted(query.detach(), value)) == f"no gradient reaches query. {HINT}"
    assert said(slope, lambda query, value: weighted(query, value.detach()), names=()) == (
        f"no gradient reaches argument 2. {HINT}"
    )
    assert said(slope, lambda query, value: weighted(query, value).detach()) == f"no gradient reaches query. {HINT}"


def test_gradients_match_wants_the_slope():
    assert said(slope, lambda query, value: weighted(query, value) + weighted(query.detach(), value)) == (
        f"the gradient of query is not the slope of the function. {HINT}"
    )
    assert said(slope, lambda query, value: weighted(query, value) + (0 * query).sqrt().sum()).startswith(
        "the gradient of query at [0, 0] is nan."
    )


def test_gradients_match_wants_the_shape_of_its_seed():
    assert said(slope, lambda query, value: weighted(query, value).T) == (
        f"the result has shape (5, 3), it should be (3, 5). {HINT}"
    )


def test_gradients_match_wants_gradients_of_the_argument_s_shape():
    class Strange:
        def __call__(self, x):
            return x

        def gradients(self, x, seeds):
            return Gradients(x, [torch.ones(5)])

    assert said(gradients_match, Strange(), [torch.ones(3)], [torch.ones(3)], HINT, ["x"]) == (
        f"the gradient of x has shape (5,), it should be (3,). {HINT}"
    )


def test_a_student_s_own_error_passes_through_properties():
    def fails(x):
        raise TypeError("no")

    for call in (
        lambda: responds(student_of(fails), [np.ones(2)], [np.zeros(2)]),
        lambda: same_item_by_item(student_of(fails), [np.ones((2, 3))], 1, HINT),
        lambda: gradients_match(student_of(fails), [torch.ones(2)], [torch.ones(2)], HINT),
    ):
        with pytest.raises(StudentError, match="raised TypeError: no"):
            call()


@pytest.mark.parametrize(
    "value", [None, "weights", [], (None, None), {"output": 1}, np.ones((2, 3), int), Other("matrix")]
)
def test_odd_answers_give_a_sentence_or_pass_and_nothing_else(value):
    wanted = np.ones((2, 3))
    for call in (
        lambda: parts(value),
        lambda: responds(lambda x: value, [wanted], [wanted + 1]),
        lambda: same_item_by_item(lambda x: value, [wanted], 1, HINT),
        lambda: gradients_match(student_of(lambda x: value), [torch.ones(2, 3)], [torch.ones(2, 3)], HINT),
    ):
        assert said_or_passed(call).endswith((".", "?"))
