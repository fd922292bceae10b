"""Visible tests of torch_concat_heads, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown

from ..shared_visible_tests import HEAD_0, HEAD_1, TEXTS, THREE_HEADS, X, tensor


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

    def test_gradient(self, student):
        """A gradient reaches the heads, each number's its own."""
        heads = tensor(np.array([HEAD_0, HEAD_1]))
        with shown("By which way did each number come, and does every line hand on a gradient?", heads=heads):
            gradients = student.torch_concat_heads.gradients(heads, seeds=[tensor(X)]).inputs
            arrives(gradients, "heads")
            close(gradients[0], np.array([HEAD_0, HEAD_1]), "the gradient")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and the heads are as before."""
        with shown("Which line makes a new tensor, of which dtype?", heads=THREE_HEADS[0]):
            keeps(student.torch_concat_heads, tensor(THREE_HEADS[0]), names="heads")
            expect.dtype(student.torch_concat_heads(tensor(THREE_HEADS[0])), np.float64)
