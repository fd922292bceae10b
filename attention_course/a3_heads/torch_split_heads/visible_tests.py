"""Visible tests of torch_split_heads, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown

from ..shared_visible_tests import (
    ANY_SIZE,
    AS_MANY,
    AXES,
    HEAD_0,
    HEAD_1,
    NAMES,
    NINE_HEADS,
    ORDER,
    SEVENTY,
    TEXTS,
    THREE_HEADS,
    X,
    tensor,
)


@pytest.mark.exercise("torch_split_heads")
class TestTorchSplitHeads:
    def test_two_heads(self, student):
        """The same cut as in NumPy: two heads of three columns each."""
        with shown(
            "Which numbers of the second token belong to head 0, and which columns are head 1's?", x=X, num_heads=2
        ):
            close(expect.tensor(student.torch_split_heads(tensor(X), 2)), np.array([HEAD_0, HEAD_1]))

    def test_batch(self, student):
        """Two texts in a batch, three heads."""
        with shown("Count axes from the end: which are L and d_model?", "exception", "shape", x=TEXTS, num_heads=3):
            close(expect.tensor(student.torch_split_heads(tensor(TEXTS), 3)), THREE_HEADS)
        with shown(AS_MANY, x=TEXTS[:, :3], num_heads=3):
            close(expect.tensor(student.torch_split_heads(tensor(TEXTS[:, :3]), 3)), THREE_HEADS[:, :, :3])

    def test_layout(self, student):
        """The same where the numbers lie in memory in another order: token by token, and not text by text."""
        turned = tensor(TEXTS.swapaxes(0, 1).copy()).transpose(0, 1)
        with shown(
            "Which method insists on the order in memory, and which one copies where it has to?",
            "exception",
            "shape",
            num_heads=3,
        ):
            close(expect.tensor(student.torch_split_heads(turned, 3)), THREE_HEADS)

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each text as if it were alone."""
        with shown(AXES, "exception", "shape"):
            close(expect.tensor(student.torch_split_heads(tensor(TEXTS[ORDER]), 3)), THREE_HEADS[ORDER])

    def test_one_head(self, student):
        """One head: all columns are its own, and its axis stays. And as many heads as columns."""
        with shown("Does something drop an axis of length one?", "exception", "shape"):
            close(expect.tensor(student.torch_split_heads(tensor(X), 1)), X[np.newaxis])
        with shown("Six columns make six heads. When do they not come out even?", "exception", "shape"):
            close(expect.tensor(student.torch_split_heads(tensor(X), 6)), X.T[:, :, np.newaxis])

    def test_many(self, student):
        """Seventy tokens of 96 columns: of eight heads, head i begins with column 12 i; nine of width five."""
        with shown(ANY_SIZE, "exception", "shape"):
            got = expect.tensor(student.torch_split_heads(tensor(SEVENTY), 8))
            expect.shape(got, (8, 70, 12))
            close(got[:, :, 0], SEVENTY[:, ::12].T, "each head's first column")
            close(got[:, :, 11], SEVENTY[:, 11::12].T, "each head's last column")
            words = np.concatenate(list(NINE_HEADS), axis=1)
            close(expect.tensor(student.torch_split_heads(tensor(words), 9)), NINE_HEADS)

    def test_does_not_divide(self, student):
        """Six columns cannot make four heads: a ValueError."""
        with shown("How many columns would be left over?"):
            expect.raises(ValueError, lambda: student.torch_split_heads(tensor(X), 4))

    def test_gradient(self, student):
        """What head 1 says sends gradients to its own columns, and to no others."""
        seed = np.zeros((2, 3, 3))
        seed[1] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
        question = "Which columns of x does head 1 own, and does every line stay in PyTorch, where gradients flow?"
        with shown(question, "exception", "shape", x=X, num_heads=2):
            gradients = student.torch_split_heads.gradients(tensor(X), 2, seeds=[tensor(seed)]).inputs
            arrives(gradients[:1], "x")
            close(gradients[0], np.concatenate([np.zeros((3, 3)), seed[1]], axis=1), "the gradient")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and x is as before."""
        with shown("Which line makes a new tensor, of which dtype?", x=X, num_heads=2):
            keeps(student.torch_split_heads, tensor(X), 2, names="x num_heads")
            expect.dtype(student.torch_split_heads(tensor(X), 2), np.float64)

    def test_by_name(self, student):
        """The arguments may come by name."""
        with shown(NAMES, "exception", x=X, num_heads=2):
            expect.tensor(student.torch_split_heads(num_heads=2, x=tensor(X)))
