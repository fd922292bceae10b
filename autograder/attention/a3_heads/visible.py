"""Visible checks of a3. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.judging import expect

X = np.array([[11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [21.0, 22.0, 23.0, 24.0, 25.0, 26.0]])
W = np.array([[*X[0]], [*X[1]], [31.0, 32.0, 33.0, 34.0, 35.0, 36.0]])
HEAD_0 = np.array([[11.0, 12.0, 13.0], [21.0, 22.0, 23.0]])
HEAD_1 = np.array([[14.0, 15.0, 16.0], [24.0, 25.0, 26.0]])


def tensor(array):
    """The array as a tensor; PyTorch is needed from the second half of the notebook on."""
    import torch

    return torch.tensor(array)


@pytest.mark.exercise("split_heads")
class TestSplitHeads:
    def test_two_heads(self, student):
        """Six columns, two heads: head 0 has the first three of each token, head 1 the last three."""
        got = expect.array(student.split_heads(X, 2))
        expect.shape(got, (2, 2, 3), "First the heads, then the tokens, then the columns of one head.")
        expect.equal(got[0], HEAD_0, "Which numbers of the second token belong to head 0?", "head 0")
        expect.equal(got[1], HEAD_1, "Which columns of X are head 1's?", "head 1")

    def test_three_heads(self, student):
        """Six columns, three heads: the last head has the last two columns."""
        got = expect.array(student.split_heads(X, 3))
        expect.shape(got, (3, 2, 2), "First the heads, then the tokens, then the columns of one head.")
        expect.equal(got[2], np.array([[15.0, 16.0], [25.0, 26.0]]), "Which columns of X are head 2's?", "head 2")

    def test_batch(self, student):
        """One sentence in a batch gives what it gives alone, with the batch axis in front."""
        got = expect.array(student.split_heads(X.reshape(1, 2, 6), 2))
        expect.shape(got, (1, 2, 2, 3), "Count axes from the end: which are L and d_model?")
        expect.equal(got[0, 1], HEAD_1, "Which columns of X are head 1's?", "head 1 of the first sentence")

    def test_does_not_divide(self, student):
        """Six columns make no four heads: a ValueError."""
        expect.raises(ValueError, lambda: student.split_heads(X, 4), "How many columns would be left over?")


@pytest.mark.exercise("concat_heads")
class TestConcatHeads:
    def test_two_heads(self, student):
        """Each token's numbers stand side by side again: first head 0's, then head 1's."""
        got = expect.array(student.concat_heads(np.array([HEAD_0, HEAD_1])))
        expect.shape(got, (2, 6), "One row a token, and the heads' widths side by side.")
        expect.equal(got, X, "The first row is the first token's: what do the two heads say about it?")

    def test_batch(self, student):
        """One sentence in a batch gives what it gives alone, with the batch axis in front."""
        got = expect.array(student.concat_heads(np.array([[HEAD_0, HEAD_1]])))
        expect.shape(got, (1, 2, 6), "Count axes from the end: which are h, L and d?")
        expect.equal(got[0], X, "The first row is the first token's: what do the two heads say about it?")


@pytest.mark.exercise("per_head_weights")
class TestPerHeadWeights:
    def test_two_heads(self, student):
        """Head 0 owns the first three columns of W, head 1 the last three."""
        got = expect.array(student.per_head_weights(W, 2), "Can the heads' weights be made into one array?")
        expect.shape(got, (2, 3, 3), "First the heads; each has as many rows as W.")
        own_0, own_1 = np.array([*HEAD_0, [31.0, 32.0, 33.0]]), np.array([*HEAD_1, [34.0, 35.0, 36.0]])
        expect.equal(got[0], own_0, "Which columns of W are head 0's?", "head 0's weights")
        expect.equal(got[1], own_1, "Which columns of W are head 1's?", "head 1's weights")

    def test_three_heads(self, student):
        """Six columns, three heads: each has weights of shape (3, 2)."""
        got = expect.array(student.per_head_weights(W, 3), "Can the heads' weights be made into one array?")
        expect.shape(got, (3, 3, 2), "First the heads; each has as many rows as W.")


@pytest.mark.exercise("torch_split_heads")
class TestTorchSplitHeads:
    def test_two_heads(self, student):
        """Six columns, two heads, as in NumPy."""
        got = expect.tensor(student.torch_split_heads(tensor(X), 2))
        expect.shape(got, (2, 2, 3), "First the heads, then the tokens, then the columns of one head.")
        expect.equal(got[0], HEAD_0, "Which numbers of the second token belong to head 0?", "head 0")
        expect.equal(got[1], HEAD_1, "Which columns of x are head 1's?", "head 1")

    def test_does_not_divide(self, student):
        """Six columns make no four heads: a ValueError."""
        call = lambda: student.torch_split_heads(tensor(X), 4)  # noqa: E731
        expect.raises(ValueError, call, "How many columns would be left over?")

    def test_gradient(self, student):
        """What head 1 says sends gradients to its own columns, and to no others."""
        seed = np.zeros((2, 2, 3))
        seed[1] = 1.0
        gradient = student.torch_split_heads.gradients(tensor(X), 2, seeds=[tensor(seed)]).inputs[0]
        if gradient is None:
            expect.fail("no gradient reaches x.", "Is there a .detach(), .item() or .numpy() on the way?")
        wanted = np.array([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]])
        expect.equal(gradient, wanted, "Which columns of x does head 1 own?", "the gradient")


@pytest.mark.exercise("torch_concat_heads")
class TestTorchConcatHeads:
    def test_two_heads(self, student):
        """Each token's numbers stand side by side again, as in NumPy."""
        got = expect.tensor(student.torch_concat_heads(tensor(np.array([HEAD_0, HEAD_1]))))
        expect.shape(got, (2, 6), "One row a token, and the heads' widths side by side.")
        expect.equal(got, X, "The first row is the first token's: what do the two heads say about it?")

    def test_batch(self, student):
        """One sentence in a batch gives what it gives alone, with the batch axis in front."""
        got = expect.tensor(student.torch_concat_heads(tensor(np.array([[HEAD_0, HEAD_1]]))))
        expect.shape(got, (1, 2, 6), "Count axes from the end: which are h, L and d?")
        expect.equal(got[0], X, "The first row is the first token's: what do the two heads say about it?")

    def test_gradient(self, student):
        """A gradient reaches the heads."""
        heads = tensor(np.array([HEAD_0, HEAD_1]))
        gradient = student.torch_concat_heads.gradients(heads, seeds=[tensor(X)]).inputs[0]
        if gradient is None:
            expect.fail("no gradient reaches the heads.", "Is there a .detach(), .item() or .numpy() on the way?")
        expect.equal(gradient, np.array([HEAD_0, HEAD_1]), "By which way did each number come?", "the gradient")
