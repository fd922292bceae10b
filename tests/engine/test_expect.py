"""Messages of `expect` and of the course's properties, also for odd answers."""

from __future__ import annotations

from collections import deque

import numpy as np
import pandas as pd
import pytest
import torch

from attention_course.hidden.inputs import normal, tensor
from attention_course.hidden.properties import gradients_match, parts, responds, same_item_by_item
from autograder.testing import expect
from autograder.testing.cases import alike
from autograder.testing.functions import Functions
from autograder.testing.local import answering
from autograder.testing.student_errors import Missing, NotStarted, Raised, RaisedValueError, Stopped, StudentError
from autograder.testing.values.core.comparing import same_value
from autograder.testing.visible import as_text, close
from cellcage.values.core.objects import Form, Other

HINT = "Where does it come from?"
ODD = {
    "None": None,
    "text": "weights",
    "empty list": [],
    "list": [1.0, 2.0],
    "empty tuple": (),
    "pair of None": (None, None),
    "dictionary": {"output": 1},
    "whole number": 3,
    "NumPy number": np.float64(3.0),
    "no dimension": np.zeros(()),
    "no item": np.zeros((0, 3)),
    "bool": np.ones((2, 3), dtype=bool),
    "int": np.ones((2, 3), dtype=int),
    "nan": np.full((2, 3), np.nan),
    "tensor": torch.ones(2, 3),
    "bool tensor": torch.ones(2, 3, dtype=torch.bool),
    "gradient-carrying tensor": torch.ones(2, 3, requires_grad=True),
    "other": Other("matrix"),
}


def message_of(call, *args, **kwargs):
    """The message that a check fails with."""
    with pytest.raises(expect.Mismatch) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def message_or_passed(call):
    try:
        call()
    except expect.Mismatch as mismatch:
        return str(mismatch)
    return "It passed."


# ---------------------------------------------------------------- kinds


def test_fail_appends_the_hint():
    assert message_of(expect.fail, "It is wrong.") == "It is wrong."
    assert message_of(expect.fail, "It is wrong.", HINT) == f"It is wrong. {HINT}"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None (is there a `return`?)"),
        (np.zeros((4, 5)), "an array of shape (4, 5)"),
        (torch.zeros(4, 5), "a tensor of shape (4, 5)"),
        ((1, 2, 3), "a tuple of 3 values"),
        ([1], "a list of 1 value"),
        ([], "a list of 0 values"),
        ("x", "a value of type str"),
        (np.float64(1), "a value of type float64"),
        ({}, "a dict of 0 values"),
        (Other("matrix"), "something of type matrix"),
        (Other("complex128", Form.ARRAY), "an array of complex128"),
        (Other("torch.bfloat16", Form.TENSOR), "a tensor of torch.bfloat16"),
        (Other("a set of 2000", Form.TOO_LARGE), "something too large, a set of 2000"),
        (Other("", Form.TOO_DEEP), "something nested too deeply"),
    ],
)
def test_kind_of_describes_values(value, words):
    assert expect.kind_of(value) == words


def test_array():
    given = np.ones(3)
    assert expect.array(given) is given
    assert message_of(expect.array, None) == "returned None (is there a `return`?), not a NumPy array."
    assert message_of(expect.array, [1.0, 2.0], HINT) == f"returned a list of 2 values, not a NumPy array. {HINT}"
    assert message_of(expect.array, Other("complex128", Form.ARRAY)) == (
        "returned an array of complex128, which holds no plain numbers."
    )
    assert message_of(expect.array, torch.ones(2)) == "returned a tensor of shape (2,), not a NumPy array."
    assert message_of(expect.array, None, what="output") == "output is None (is there a `return`?), not a NumPy array."


def test_tensor():
    assert expect.tensor(torch.ones(3, requires_grad=True)).tolist() == [1.0, 1.0, 1.0]
    assert message_of(expect.tensor, np.ones((4, 3))) == "returned an array of shape (4, 3), not a PyTorch tensor."
    assert (
        message_of(expect.tensor, None, HINT) == f"returned None (is there a `return`?), not a PyTorch tensor. {HINT}"
    )
    assert message_of(expect.tensor, 1.0, what="weights") == "weights is a value of type float, not a PyTorch tensor."


def test_pair():
    assert expect.pair((1, 2)) == (1, 2)
    assert message_of(expect.pair, [1, 2]) == "returned a list of 2 values, not the tuple (output, weights)."
    assert message_of(expect.pair, (1, 2, 3)) == "returned a tuple of 3 values, not the tuple (output, weights)."
    assert message_of(expect.pair, np.ones((4, 3)), "(offsets, W_V)") == (
        "returned an array of shape (4, 3), not the tuple (offsets, W_V)."
    )


def test_numbers():
    assert expect.numbers(torch.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]
    for value in (1, 2.0, True, np.float32(1)):
        assert expect.numbers(value) is value
    assert message_of(expect.numbers, "x") == "returned a value of type str, where an array belongs."
    assert message_of(expect.numbers, None) == "returned None (is there a `return`?), where an array belongs."


def test_zero_has_no_sign_in_messages():
    assert [expect.number_of(np.array(value)) for value in (-0.0, -0.25)] == ["0", "-0.25"]
    assert as_text(np.array([-0.0, 0.5])) == "[0, 0.5]"


# ---------------------------------------------------------------- shapes, values, dtypes


def test_shape():
    expect.shape(np.ones((4, 5)), (4, 5))
    expect.shape(torch.ones(4, 5), [4, 5])
    assert message_of(expect.shape, np.ones((5, 4)), (4, 5), HINT) == (
        f"the result has shape (5, 4), it should be (4, 5). {HINT}"
    )
    assert message_of(expect.shape, torch.ones(2), (), what="output") == "output has shape (2,), it should be ()."
    assert message_of(expect.shape, [1.0], (1,)) == "returned a list of 1 value, where an array belongs."


def test_close_reports_place_and_value_but_not_the_expected_one():
    wanted = np.array([[0.25, 0.75], [0.5, 0.5]])
    expect.close(wanted + 1e-8, wanted)
    got = wanted.copy()
    got[1, 0] = 0.123456789
    assert message_of(expect.close, got, wanted) == (
        "the result at [1, 0] is 0.1235, which is not right (1 of 4 values differs)."
    )
    assert message_of(expect.close, got + 1, wanted, HINT, "weights") == (
        f"weights at [0, 0] is 1.25, which is not right (4 of 4 values differ). {HINT}"
    )
    assert message_of(expect.close, np.float64(0.9), np.float64(1.0), what="the sum") == (
        "the sum is 0.9, which is not right."
    )


def test_close_checks_shape_and_finiteness_first():
    assert message_of(expect.close, np.ones(3), np.ones((3, 1))) == "the result has shape (3,), it should be (3, 1)."
    assert message_of(expect.close, np.array([1.0, np.nan]), np.ones(2), HINT) == f"the result at [1] is nan. {HINT}"
    assert message_of(expect.close, np.array(-np.inf), np.array(1.0)) == "the result is -inf."
    assert message_of(expect.close, None, np.ones(2)) == "returned None (is there a `return`?), where an array belongs."


def test_close_accepts_rounding_errors():
    wanted = normal(1, 3, 4)
    expect.close(wanted.astype(np.float32), wanted)  # 3e-8 away; `expect.dtype` rejects float32
    expect.close(wanted * (1 + 4e-8), wanted)  # a scale made with torch.sqrt(torch.tensor(d_k))
    message_of(expect.close, wanted * (1 + 1e-4), wanted)
    expect.close(1e6 * wanted * (1 + 4e-8), 1e6 * wanted)  # relative where numbers are large
    expect.close(wanted + 5e-3, wanted, atol=1e-2)
    message_of(expect.close, wanted + 5e-2, wanted, atol=1e-2)


def test_close_on_whole_numbers_and_booleans_is_exact():
    expect.close(np.array([True, False]), np.array([True, False]))
    assert message_of(expect.close, np.array([True, True]), np.array([True, False])) == (
        "the result at [1] is True, which is not right (1 of 2 values differs)."
    )
    assert message_of(expect.close, np.array([3, 4]), np.array([3, 5])) == (
        "the result at [1] is 4, which is not right (1 of 2 values differs)."
    )


def test_equal():
    expect.equal(np.array([0.0, np.nan]), np.array([0.0, np.nan]))
    expect.equal(torch.tensor([True]), np.array([True]))
    assert message_of(expect.equal, np.array([1e-12, 0.0]), np.zeros(2), HINT, "a masked weight") == (
        f"a masked weight at [0] is 1e-12, which is not right (1 of 2 values differs). {HINT}"
    )
    assert message_of(expect.equal, np.zeros(2), np.zeros(3)) == "the result has shape (2,), it should be (3,)."
    assert message_of(expect.equal, None, 3) == "returned None (is there a `return`?), where a number belongs."
    assert message_of(expect.equal, np.ones(2), None, HINT, "the gradient of W") == (
        f"the gradient of W is an array of shape (2,), which is not asked for. {HINT}"
    )


def test_close_compares_lists_if_a_list_is_expected():
    for got in ([1, 2.0], (1.0, 2.0), np.array([1.0, 2.0])):
        expect.close(got, [1.0, 2.0])
    expect.close([[1, 2], [3, 4]], [[1, 2], [3, 4 + 1e-9]])
    with pytest.raises(expect.Mismatch, match=r"the result at \[1\] is 3, which is not right"):
        expect.close([1, 3], [1.0, 2.0])
    for odd in (["a", 2], [[1], [2, 3]], [None, 1]):
        with pytest.raises(expect.Mismatch, match="where a list of numbers belongs"):
            expect.close(odd, [1.0, 2.0])
    with pytest.raises(expect.Mismatch, match="where an array belongs"):
        expect.close([1.0, 2.0], np.array([1.0, 2.0]))


def test_finite():
    expect.finite(np.ones(3))
    expect.finite(np.array([True]))
    assert (
        message_of(expect.finite, torch.tensor([[1.0, float("inf")]]), HINT) == f"the result at [0, 1] is inf. {HINT}"
    )
    assert message_of(expect.finite, np.array([np.nan]), what="weights") == "weights at [0] is nan."


def test_dtype():
    expect.dtype(np.ones(2, dtype=np.float32), np.float32)
    expect.dtype(torch.ones(2, dtype=torch.float64), np.float64)
    assert message_of(expect.dtype, np.ones(2), np.float32, HINT) == (
        f"the result has dtype float64, it should be float32. {HINT}"
    )
    assert (
        message_of(expect.dtype, torch.ones(2), bool, what="the mask")
        == "the mask has dtype float32, it should be bool."
    )
    assert message_of(expect.dtype, (1,), bool) == "returned a tuple of 1 value, where an array belongs."


def test_unchanged():
    x, query = np.array([1.0, np.nan]), torch.ones(2)
    expect.unchanged([x.copy(), query.clone(), 3], [x, query, 3], ["x", "query", "n"])
    assert message_of(expect.unchanged, [x, query + 1], [x, query], ["x", "query"], HINT) == (
        f"query holds other values after the call than before. {HINT}"
    )
    assert message_of(expect.unchanged, [x, query + 1], [x, query], ["x"]) == (
        "argument 2 holds other values after the call than before."
    )
    other_form = "x has another shape, dtype or layout in memory after the call than before."
    plain = np.arange(6.0).reshape(2, 3)
    turned = np.asfortranarray(plain)
    for after in (plain.reshape(3, 2), plain.astype(np.float32), turned, np.repeat(plain, 2, axis=1)[:, ::2]):
        assert message_of(expect.unchanged, [after], [plain], ["x"]) == other_form
    assert message_of(expect.unchanged, [torch.from_numpy(turned)], [torch.from_numpy(plain)], ["x"]) == other_form
    assert message_of(expect.unchanged, [Other("complex128", Form.ARRAY)], [plain], ["x"]) == (
        "x is of another kind after the call than before."
    )
    expect.unchanged([plain[:, None].copy()], [plain[:, None]], ["x"])  # its stride does not matter
    dates = np.array(["2027-01-01"], dtype="datetime64[D]")
    expect.unchanged([Other("datetime64[D]", Form.ARRAY)], [dates], ["x"])  # it cannot cross the boundary
    assert (
        message_of(expect.unchanged, [], [x], ["x"]) == "the arguments could not be compared before and after the call."
    )


def test_differs():
    expect.differs(np.ones(2), np.zeros(2), HINT)
    expect.differs(np.ones(2), np.ones(3), HINT)
    assert message_of(expect.differs, np.ones(2), np.ones(2), HINT) == f"the result stays the same. {HINT}"
    assert message_of(expect.differs, np.array([True]), np.array([True]), "", "the mask") == "the mask stays the same."


# ---------------------------------------------------------------- errors


def raising(error):
    def call():
        raise error

    return call


def test_raises():
    expect.raises(ValueError, raising(RaisedValueError("raised ValueError: 7 heads do not divide 64.")))
    assert message_of(expect.raises, ValueError, lambda: np.ones((4, 5)), HINT) == (
        f"raised nothing; it should raise ValueError. {HINT}"
    )
    assert message_of(expect.raises, ValueError, raising(Raised("raised TypeError.")), HINT) == (
        f"raised TypeError. It should raise ValueError. {HINT}"
    )


@pytest.mark.parametrize("kind", [NotStarted, Missing, Stopped])
def test_raises_passes_on_errors_that_are_not_answers(kind):
    with pytest.raises(kind):
        expect.raises(ValueError, raising(kind("not started yet.")))


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_odd_answers_pass_or_give_a_sentence(value):
    wanted = np.ones((2, 3))
    calls = [
        lambda: expect.array(value),
        lambda: expect.tensor(value),
        lambda: expect.pair(value),
        lambda: expect.numbers(value),
        lambda: expect.shape(value, (2, 3)),
        lambda: expect.close(value, wanted),
        lambda: expect.equal(value, wanted),
        lambda: expect.finite(value),
        lambda: expect.dtype(value, np.float64),
        lambda: expect.unchanged([value], [wanted], ["x"]),
        lambda: expect.differs(value, wanted, HINT),
        lambda: expect.raises(ValueError, lambda: value),
        lambda: parts(value),
        lambda: responds(lambda x: value, [wanted], [wanted + 1]),
        lambda: same_item_by_item(lambda x: value, [wanted], 1, HINT),
        lambda: gradients_match(student_of(lambda x: value), [torch.ones(2, 3)], [torch.ones(2, 3)], HINT),
    ]
    for call in calls:
        assert message_or_passed(call).endswith((".", "?"))


# ---------------------------------------------------------------- properties


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
    assert message_of(responds, lambda Q, K: np.full(1, np.nan), args, others, ["Q", "K"]) == (
        "the result stays the same with other values in Q and K. What is it made from?"
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7 heads do not divide 64", "raised ValueError: 7 heads do not divide 64."),
        ("7 heads do not divide 64.", "raised ValueError: 7 heads do not divide 64."),
        ("7 heads?", "raised ValueError: 7 heads?"),
        ("", "raised ValueError."),
    ],
)
def test_error_messages_end_in_one_full_stop(text, message):
    def fails(x):
        raise ValueError(text)

    with pytest.raises(RaisedValueError) as caught:
        student_of(fails)(1.0)
    assert str(caught.value).split(" In fails")[0] == message


# ---------------------------------------------------------------- equal values

NAN = float("nan")
FRAME = pd.DataFrame({"a": [1, 2]})
EQUAL = [
    (2, 2.0),
    ([1, NAN], [1, NAN]),
    ({"a": (NAN,)}, {"a": (NAN,)}),
    (np.array([1.0, NAN]), np.array([1.0, NAN])),
    (10**400, 10**400),
    ("a", "a"),
    (b"x", b"x"),
    (None, None),
    ({1, 2}, {1, 2}),
    (deque([1, 2]), deque([1, 2])),
    (FRAME, FRAME.copy()),
    ((FRAME, 3), (FRAME.copy(), 3)),
    (FRAME.index, FRAME.index),
]
DIFFERENT = [
    ([1, NAN], [1, 2]),
    ([1], (1,)),
    ([1, 2], deque([1, 2])),
    (np.array([1, 2]), np.array([1, 3])),
    (10**400, 10**400 + 1),
    (b"x", b"y"),
    ("a", 1),
    (3, None),
    (3.5, {1, 2}),
    (3.5, [np.ones(2)]),
    (None, FRAME),
    (FRAME, FRAME + 1),
    ((FRAME + 1, 3), (FRAME, 3)),
]


@pytest.mark.parametrize(("got", "wanted"), EQUAL)
def test_equal_values_are_accepted(got, wanted):
    expect.equal(got, wanted)
    assert alike(got, wanted)


@pytest.mark.parametrize(("got", "wanted"), DIFFERENT)
def test_different_values_are_rejected(got, wanted):
    assert not alike(got, wanted)
    with pytest.raises(expect.Mismatch):
        expect.equal(got, wanted)


def test_examples_distinguish_booleans_from_numbers():
    assert not alike(True, 1)


def test_nan_is_right_where_nan_is_expected():
    """`expect.close` still asks for finite numbers: NaN there stands for a missing part."""
    array = np.array([1.0, NAN, np.inf])
    for check in (expect.equal, close):
        check(array, array.copy())
    assert same_value([array], [array.copy()]) and not same_value([NAN], [1.0])
    assert message_of(expect.close, array, array.copy(), HINT) == f"the result at [1] is nan. {HINT}"
