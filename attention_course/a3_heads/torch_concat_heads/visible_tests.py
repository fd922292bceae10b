"""Visible tests of torch_concat_heads, for students to read; the numbers are those of the notebook."""

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
    TEXTS,
    THREE_HEADS,
    X,
    tensor,
)


@pytest.mark.exercise("torch_concat_heads")
class TestTorchConcatHeads:
    def test_two_heads(self, student):
        """Each token's numbers stand side by side again, as in NumPy."""
        heads = np.array([HEAD_0, HEAD_1])
        with shown("The first row is the first token's: what do the two heads say about it?", heads=heads):
            close(expect.tensor(student.torch_concat_heads(tensor(heads))), X)

    def test_batch(self, student):
        """Two texts in a batch, three heads of width two."""
        with shown("Count axes from the end: which are h, L and d?", "exception", "shape", heads=THREE_HEADS):
            close(expect.tensor(student.torch_concat_heads(tensor(THREE_HEADS))), TEXTS)
        with shown(AS_MANY, heads=THREE_HEADS[:, :, :3]):
            close(expect.tensor(student.torch_concat_heads(tensor(THREE_HEADS[:, :, :3]))), TEXTS[:, :3])

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each text as if it were alone."""
        with shown(AXES, "exception", "shape"):
            close(expect.tensor(student.torch_concat_heads(tensor(THREE_HEADS[ORDER]))), TEXTS[ORDER])

    def test_one_head(self, student):
        """One head: its numbers are the whole row."""
        with shown("Does something drop an axis of length one?", "exception", "shape"):
            close(expect.tensor(student.torch_concat_heads(tensor(HEAD_0[np.newaxis]))), HEAD_0)

    def test_many(self, student):
        """Nine heads of width five, 600 tokens."""
        with shown(ANY_SIZE, "exception", "shape"):
            got = expect.tensor(student.torch_concat_heads(tensor(NINE_HEADS)))
            close(got, np.concatenate(list(NINE_HEADS), axis=1))

    def test_layout(self, student):
        """The same where the numbers lie in memory in another order, as after a split."""
        turned = tensor(THREE_HEADS.swapaxes(1, 2).copy()).transpose(1, 2)
        hint = "Which method insists on the order in memory, and which one copies where it has to?"
        with shown(hint, "exception", "shape"):
            close(expect.tensor(student.torch_concat_heads(turned)), TEXTS)

    def test_gradient(self, student):
        """A gradient reaches the heads, each number's its own."""
        heads = tensor(np.array([HEAD_0, HEAD_1]))
        question = "Which way did each number come, and does every line stay in PyTorch, where gradients flow?"
        with shown(question, "exception", "shape", heads=heads):
            gradients = student.torch_concat_heads.gradients(heads, seeds=[tensor(X)]).inputs
            arrives(gradients, "heads")
            close(gradients[0], np.array([HEAD_0, HEAD_1]), "the gradient")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and the heads are as before."""
        with shown("Which line makes a new tensor, of which dtype?", heads=THREE_HEADS[0]):
            keeps(student.torch_concat_heads, tensor(THREE_HEADS[0]), names="heads")
            expect.dtype(student.torch_concat_heads(tensor(THREE_HEADS[0])), np.float64)

    def test_by_name(self, student):
        """The heads may come by name."""
        with shown(NAMES, "exception", heads=np.array([HEAD_0, HEAD_1])):
            expect.tensor(student.torch_concat_heads(heads=tensor(np.array([HEAD_0, HEAD_1]))))
