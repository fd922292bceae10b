"""Real errors of NumPy and PyTorch about shapes, dtypes and gradients, reworded for students."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from autograder.testing.student_errors import reworded

z, t = np.zeros, torch.zeros


def changed_in_place():
    curve = torch.exp(t(3, requires_grad=True))
    curve += 1
    return curve.sum()


CASES = [
    (lambda: z((3, 4)) + z(5), "shapes (3, 4) and (5,) do not broadcast: counted from the end, 4 meets 5"),
    (lambda: np.where(z((2, 3)) > 0, z((2, 4)), 0), "shapes (2, 3) and (2, 4) do not broadcast"),
    (lambda: z((3, 4)) @ z((5, 6)), "these two cannot be multiplied: 4 meets 5"),
    (lambda: z((2, 3, 4)) @ z((3, 4, 5)), "the axes before the last two, (2,) and (3,), do not broadcast"),
    (lambda: z(12).reshape(5, -1), "12 numbers cannot be laid out in the shape (5, -1): no whole number"),
    (lambda: z((2, 2)).sum(axis=2), "there is no axis 2 here: the axes are 0 to 1, or -2 to -1 from the end"),
    (lambda: np.concatenate([z((2, 3)), z((3, 3))], axis=1), "on axis 0 one has the size 2 and another 3"),
    (lambda: z((2, 2)).__setitem__(0, z(3)), "what has shape (3,) does not fit into a place of shape (2,)"),
    (lambda: z((3, 0)).max(axis=1), "there is no maximum of no numbers: an axis of this array has length 0"),
    (lambda: np.split(z(5), 2), "this axis cannot be cut into so many equal parts"),
    (lambda: z((7, 3))[z((1, 3)) > 0], "and on axis 0 this one has 1 in place of 7"),
    (lambda: list(range(3))[None, :], "only an array takes several"),
    (lambda: ~z(3), "`~` turns truth values about, and here are other numbers"),
    (lambda: ~t(3), "`~` turns truth values about, and here are other numbers"),
    (lambda: t(2, 3) @ t(4), "shapes (2, 3) and (4,) cannot be multiplied: 3 meets 4"),
    (lambda: t(2, 3, 4) @ t(2, 3, 5), "the right one begins with (2, 3), and the left one asks for (2, 4)"),
    (lambda: t(3, 4) + t(5), "these two tensors do not broadcast: on axis 1 of the result, 4 meets 5"),
    (lambda: torch.cat([t(2, 3), t(3, 4)], dim=1), "these cannot be put side by side: 2 meets 3"),
    (lambda: t(2, requires_grad=True).numpy(), "a tensor that a gradient flows through cannot become a NumPy array"),
    (lambda: changed_in_place().backward(), "a tensor that a gradient needs was changed in place, as by `+=`"),
    (lambda: torch.nn.LayerNorm(4)(t(2, 4).double()), "numbers of two dtypes meet"),
    (lambda: torch.nn.Linear(4, 3)(t(2, 4).double()), "numbers of two dtypes meet: Double and Float"),
    (lambda: torch.nn.LayerNorm(4)(t(2, 3)), "this norm is for a last axis of 4, and a tensor of shape (2, 3) came"),
]


@pytest.mark.parametrize(("fails", "words"), CASES, ids=[words for _, words in CASES])
def test_shape_errors_are_reworded(fails, words):
    with pytest.raises((ValueError, RuntimeError, IndexError, TypeError)) as caught:
        fails()
    text = reworded(f"raised {caught.type.__name__}: {caught.value}. In attend, line 3: `a @ b`.")
    assert words in text
    assert text.startswith(f"raised {caught.type.__name__}: ")
    assert text.endswith(" In attend, line 3: `a @ b`.")
    assert ".." not in text
    assert "gufunc" not in text
    assert reworded(text) == text


def test_other_errors_are_not_reworded():
    assert reworded("raised NameError: name 'np' is not defined.") == "raised NameError: name 'np' is not defined."
    assert reworded("") == ""


class _Late(torch.nn.Module):
    def __init__(self):
        self.layer = torch.nn.Linear(1, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bool(np.ones(3)), "an array of several numbers stands where one truth value"),
        (lambda: bool(torch.ones(3)), "a tensor of several numbers stands where one truth value"),
        (lambda: np.max(0, np.ones(3)), "one whole number is expected, such as an axis"),
        (_Late, "a layer is assigned before `super().__init__()`"),
        (lambda: torch.ones(3, 3) - torch.ones(3, 3).max(dim=1), "`max` over one axis of a tensor gives a pair"),
        (lambda: math.exp(np.ones(3)), "several numbers stand where one is expected"),
        (lambda: math.exp(torch.ones(3)), "several numbers stand where one is expected"),
        (lambda: torch.ones(2, 3).item(), "several numbers stand where one is expected"),
        (lambda: torch.ones(2, 3).T.view(6), "`reshape` copies where it must"),
        (lambda: torch.softmax(torch.tensor([1, 2]), 0), "cannot compute this for numbers of the type Long"),
        (lambda: torch.nn.ModuleList()(torch.ones(3)), "an nn.ModuleList cannot be called"),
        (lambda: z((2, 3, 4)).transpose(-2, -1), "`swapaxes` the two to exchange"),
        (lambda: t(2, 3, 4).permute(1, 0), "`permute` takes all axes in their new order, here 3, and it got 2"),
        (
            lambda: t(2, 2).masked_fill(z((2, 2)) > 0, 1.0),
            "`masked_fill` cannot take what it got: (numpy.ndarray, float)",
        ),
        (lambda: z(3) + t(3), "a tensor is added to a NumPy array"),
        (lambda: z(3).astype(t(3).dtype), "NumPy knows no dtype torch.float32"),
        (lambda: torch.matmul(t(3), z(3)), "torch.matmul takes a tensor, and it got a NumPy array"),
        (lambda: torch.sqrt(4), "torch.sqrt takes a tensor, and it got one int"),
    ],
)
def test_other_errors_of_numpy_and_pytorch_are_in_plain_words(call, words):
    with pytest.raises((TypeError, ValueError, RuntimeError, AttributeError)) as error:
        call()
    assert words in reworded(str(error.value))
