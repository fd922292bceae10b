"""Messages of `expect` and of the course's properties, also for odd answers."""

from __future__ import annotations

from collections import deque

import numpy as np
import pandas as pd
import pytest
import torch

from attention_course.hidden.inputs import normal
from attention_course.hidden.properties import gradients_match, parts, responds, same_item_by_item
from autograder.testing import expect
from autograder.testing.call_text import as_text
from autograder.testing.cases import alike
from autograder.testing.comparing import same_value
from autograder.testing.functions import Functions, answering
from autograder.testing.student_errors import Missing, NotStarted, Raised, RaisedValueError, Stopped
from autograder.testing.visible import close
from cellcage.values.value import Form, Other

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


def raising(error):
    def call():
        raise error

    return call


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


def test_zero_has_no_sign_in_messages():
    assert [expect.number_of(np.array(value)) for value in (-0.0, -0.25)] == ["0", "-0.25"]
    assert as_text(np.array([-0.0, 0.5])) == "[0, 0.5]"


# ---------------------------------------------------------------- shapes, values, dtypes

ONES, WANTED = np.ones(2), np.array([[0.25, 0.75], [0.5, 0.5]])
WRONG = np.array([[0.25, 0.75], [0.123456789, 0.5]])
PLAIN = np.arange(6.0).reshape(2, 3)
TURNED = np.asfortranarray(PLAIN)
NOTHING = "returned None (is there a `return`?)"
OTHER_FORM = "x has another shape, dtype or layout in memory after the call than before."


def unchanged(after, before, names=("x",), hint=""):
    return lambda: expect.unchanged(after, before, names, hint)


MESSAGES = [
    (lambda: expect.array(None), f"{NOTHING}, not a NumPy array."),
    (lambda: expect.array([1.0, 2.0], HINT), f"returned a list of 2 values, not a NumPy array. {HINT}"),
    (lambda: expect.array(Other("complex128", Form.ARRAY)),
     "returned an array of complex128, which holds no plain numbers."),
    (lambda: expect.array(torch.ones(2)), "returned a tensor of shape (2,), not a NumPy array."),
    (lambda: expect.array(None, what="output"), "output is None (is there a `return`?), not a NumPy array."),
    (lambda: expect.tensor(np.ones((4, 3))), "returned an array of shape (4, 3), not a PyTorch tensor."),
    (lambda: expect.tensor(None, HINT), f"{NOTHING}, not a PyTorch tensor. {HINT}"),
    (lambda: expect.tensor(1.0, what="weights"), "weights is a value of type float, not a PyTorch tensor."),
    (lambda: expect.pair([1, 2]), "returned a list of 2 values, not the tuple (output, weights)."),
    (lambda: expect.pair((1, 2, 3)), "returned a tuple of 3 values, not the tuple (output, weights)."),
    (lambda: expect.pair(np.ones((4, 3)), "(offsets, W_V)"),
     "returned an array of shape (4, 3), not the tuple (offsets, W_V)."),
    (lambda: expect.numbers("x"), "returned a value of type str, where an array belongs."),
    (lambda: expect.numbers(None), f"{NOTHING}, where an array belongs."),
    (lambda: expect.shape(np.ones((5, 4)), (4, 5), HINT), f"the result has shape (5, 4), it should be (4, 5). {HINT}"),
    (lambda: expect.shape(torch.ones(2), (), what="output"), "output has shape (2,), it should be ()."),
    (lambda: expect.shape([1.0], (1,)), "returned a list of 1 value, where an array belongs."),
    # place and value, but not the expected one
    (lambda: expect.close(WRONG, WANTED),
     "the result at [1, 0] is 0.1235, which is not right (1 of 4 values differs)."),
    (lambda: expect.close(WRONG + 1, WANTED, HINT, "weights"),
     f"weights at [0, 0] is 1.25, which is not right (4 of 4 values differ). {HINT}"),
    (lambda: expect.close(np.float64(0.9), np.float64(1.0), what="the sum"), "the sum is 0.9, which is not right."),
    # shape and finiteness first
    (lambda: expect.close(np.ones(3), np.ones((3, 1))), "the result has shape (3,), it should be (3, 1)."),
    (lambda: expect.close(np.array([1.0, np.nan]), ONES, HINT), f"the result at [1] is nan. {HINT}"),
    (lambda: expect.close(np.array(-np.inf), np.array(1.0)), "the result is -inf."),
    (lambda: expect.close(None, ONES), f"{NOTHING}, where an array belongs."),
    # whole numbers and booleans exactly
    (lambda: expect.close(np.array([True, True]), np.array([True, False])),
     "the result at [1] is True, which is not right (1 of 2 values differs)."),
    (lambda: expect.close(np.array([3, 4]), np.array([3, 5])),
     "the result at [1] is 4, which is not right (1 of 2 values differs)."),
    (lambda: expect.equal(np.array([1e-12, 0.0]), np.zeros(2), HINT, "a masked weight"),
     f"a masked weight at [0] is 1e-12, which is not right (1 of 2 values differs). {HINT}"),
    (lambda: expect.equal(np.zeros(2), np.zeros(3)), "the result has shape (2,), it should be (3,)."),
    (lambda: expect.equal(None, 3), f"{NOTHING}, where a number belongs."),
    (lambda: expect.equal(ONES, None, HINT, "the gradient of W"),
     f"the gradient of W is an array of shape (2,), which is not asked for. {HINT}"),
    (lambda: expect.finite(torch.tensor([[1.0, float("inf")]]), HINT), f"the result at [0, 1] is inf. {HINT}"),
    (lambda: expect.finite(np.array([np.nan]), what="weights"), "weights at [0] is nan."),
    (lambda: expect.dtype(ONES, np.float32, HINT), f"the result has dtype float64, it should be float32. {HINT}"),
    (lambda: expect.dtype(torch.ones(2), bool, what="the mask"), "the mask has dtype float32, it should be bool."),
    (lambda: expect.dtype((1,), bool), "returned a tuple of 1 value, where an array belongs."),
    (unchanged([ONES, ONES + 1], [ONES, ONES], ["x", "query"], HINT),
     f"query holds other values after the call than before. {HINT}"),
    (unchanged([ONES, ONES + 1], [ONES, ONES]), "argument 2 holds other values after the call than before."),
    (unchanged([PLAIN.reshape(3, 2)], [PLAIN]), OTHER_FORM),
    (unchanged([PLAIN.astype(np.float32)], [PLAIN]), OTHER_FORM),
    (unchanged([TURNED], [PLAIN]), OTHER_FORM),
    (unchanged([np.repeat(PLAIN, 2, axis=1)[:, ::2]], [PLAIN]), OTHER_FORM),
    (unchanged([torch.from_numpy(TURNED)], [torch.from_numpy(PLAIN)]), OTHER_FORM),
    (unchanged([Other("complex128", Form.ARRAY)], [PLAIN]), "x is of another kind after the call than before."),
    (unchanged([], [ONES]), "the arguments could not be compared before and after the call."),
    (lambda: expect.differs(ONES, ONES, HINT), f"the result stays the same. {HINT}"),
    (lambda: expect.differs(np.array([True]), np.array([True]), "", "the mask"), "the mask stays the same."),
    (lambda: expect.raises(ValueError, lambda: ONES, HINT),
     f"raised nothing (is there a `raise`?); it should raise ValueError. {HINT}"),
    (lambda: expect.raises(ValueError, raising(Raised("raised TypeError.")), HINT),
     f"raised TypeError. It should raise ValueError. {HINT}"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MESSAGES, ids=range(len(MESSAGES)))
def test_message_says_what_is_wrong(call, message):
    assert message_of(call) == message


def test_right_answers_pass():
    given = np.ones(3)
    assert expect.array(given) is given
    assert expect.tensor(torch.ones(3, requires_grad=True)).tolist() == [1.0, 1.0, 1.0]
    assert expect.pair((1, 2)) == (1, 2)
    assert expect.numbers(torch.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]
    for value in (1, 2.0, True, np.float32(1)):
        assert expect.numbers(value) is value
    expect.shape(np.ones((4, 5)), (4, 5))
    expect.shape(torch.ones(4, 5), [4, 5])
    expect.close(WANTED + 1e-8, WANTED)
    expect.close(np.array([True, False]), np.array([True, False]))
    expect.equal(np.array([0.0, np.nan]), np.array([0.0, np.nan]))
    expect.equal(torch.tensor([True]), np.array([True]))
    expect.finite(given)
    expect.finite(np.array([True]))
    expect.dtype(np.ones(2, dtype=np.float32), np.float32)
    expect.dtype(torch.ones(2, dtype=torch.float64), np.float64)
    expect.differs(ONES, np.zeros(2), HINT)
    expect.differs(ONES, given, HINT)
    expect.raises(ValueError, raising(RaisedValueError("raised ValueError: 7 heads do not divide 64.")))


def test_unchanged_arguments_pass():
    x, query = np.array([1.0, np.nan]), torch.ones(2)
    expect.unchanged([x.copy(), query.clone(), 3], [x, query, 3], ["x", "query", "n"])
    expect.unchanged([PLAIN[:, None].copy()], [PLAIN[:, None]], ["x"])  # its stride does not matter
    dates = np.array(["2027-01-01"], dtype="datetime64[D]")
    expect.unchanged([Other("datetime64[D]", Form.ARRAY)], [dates], ["x"])  # it cannot cross the boundary


def test_close_accepts_rounding_errors():
    wanted = normal(1, 3, 4)
    expect.close(wanted.astype(np.float32), wanted)  # 3e-8 away; `expect.dtype` rejects float32
    expect.close(wanted * (1 + 4e-8), wanted)  # a scale made with torch.sqrt(torch.tensor(d_k))
    message_of(expect.close, wanted * (1 + 1e-4), wanted)
    expect.close(1e6 * wanted * (1 + 4e-8), 1e6 * wanted)  # relative where numbers are large
    expect.close(wanted + 5e-3, wanted, atol=1e-2)
    message_of(expect.close, wanted + 5e-2, wanted, atol=1e-2)


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


# ---------------------------------------------------------------- errors


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
