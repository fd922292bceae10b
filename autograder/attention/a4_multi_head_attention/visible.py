"""Visible checks of a4. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.judging import expect

EYE, ZERO = np.eye(3), np.zeros((3, 3))
X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])  # two words of width 3
W_Q = np.hstack([EYE, EYE])  # two heads of width 3
W_K = np.hstack([EYE, ZERO])
W_V = np.hstack([EYE, EYE])
W_O = np.concatenate([EYE, EYE])


@pytest.mark.exercise("projection_shapes")
class TestProjectionShapes:
    def entry(self, student, key, *args):
        got = student.projection_shapes(*args)
        if not isinstance(got, dict) or key not in got:
            expect.fail(f"gave back {expect.kind_of(got)}; it should be a dict with the key {key!r}.")
        if not isinstance(got[key], tuple):
            expect.fail(f"the entry {key!r} is {expect.kind_of(got[key])}; it should be a tuple.")
        return got[key]

    def test_money_bank(self, student):
        """Money Bank (4, 2 heads, 4, 4): W_Q is (4, 8) and W_O is (8, 4)."""
        for key, wanted in (("W_Q", (4, 8)), ("W_O", (8, 4))):
            got = self.entry(student, key, 4, 2, 4, 4)
            if got != wanted:
                expect.fail(f"the shape of {key} is {got}.", "Compare it with the table above.")

    def test_other_values(self, student):
        """d_v may differ from d_k: for (10, 2 heads, 3, 4), W_V is (10, 8)."""
        got = self.entry(student, "W_V", 10, 2, 3, 4)
        if got != (10, 8):
            expect.fail(f"the shape of W_V is {got}.", "How wide is one head's value here?")


@pytest.mark.exercise("output_projection")
class TestOutputProjection:
    W_O = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])

    def test_one_word(self, student):
        """The example by hand: (1, 2) and (3, 4) give (4, 5, 8)."""
        got = expect.array(student.output_projection(np.array([[[1.0, 2.0]], [[3.0, 4.0]]]), self.W_O))
        expect.close(got, np.array([[4.0, 5.0, 8.0]]), "What stands side by side, and what is it multiplied by?")

    def test_two_words(self, student):
        """Two words: each gets the numbers of its own heads."""
        heads = np.array([[[1.0, 2.0], [10.0, 20.0]], [[3.0, 4.0], [30.0, 40.0]]])  # head 1, then head 2
        hint = "The second word is ten times the first. Which numbers come together in a row?"
        expect.close(student.output_projection(heads, self.W_O), np.array([[4.0, 5.0, 8.0], [40.0, 50.0, 80.0]]), hint)


@pytest.mark.exercise("multi_head_attention")
class TestMultiHeadAttention:
    def test_weights(self, student):
        """The example by hand: each head has weights of its own."""
        _, weights = expect.pair(student.multi_head_attention(X, W_Q, W_K, W_V, W_O, 2))
        wanted = np.array([[[0.8497, 0.1503], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
        hint = "Head 1 owns the first three columns of W_Q. What are its scores divided by?"
        expect.close(expect.array(weights), wanted, hint, "weights", atol=1e-3)

    def test_output(self, student):
        """The example by hand: the first word becomes (1.35, 0.65, 3.35), the second (1, 1, 3)."""
        output, _ = expect.pair(student.multi_head_attention(X, W_Q, W_K, W_V, W_O, 2))
        wanted = np.array([[1.3497, 0.6503, 3.3497], [1.0, 1.0, 3.0]])
        expect.close(expect.array(output), wanted, "Blend each head's values first, then W_O.", "output", atol=1e-3)

    def test_mask(self, student):
        """Where the mask is False the weight is 0; a word that may see itself alone takes all from itself."""
        mask = np.array([[True, False], [True, True]])
        _, weights = expect.pair(student.multi_head_attention(X, W_Q, W_K, W_V, W_O, 2, mask=mask))
        wanted = np.array([[[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5]]])
        expect.close(expect.array(weights), wanted, "True means: may attend.", "weights", atol=1e-3)


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttentionModule:
    def run(self, student, x, **more):
        import torch

        matrices = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}  # nn.Linear keeps them as (out, in)
        weights = {f"{name}.weight": torch.tensor(W.T, dtype=torch.float32) for name, W in matrices.items()}
        x = torch.tensor(x, dtype=torch.float32)
        output, got = expect.pair(student.MultiHeadAttention.run((3, 2, 3), weights, x, **more).value)
        return expect.tensor(output), expect.tensor(got)

    def test_parameters(self, student):
        """MultiHeadAttention(6, 2) has four matrices of shape (6, 6), and no bias."""
        got = student.MultiHeadAttention.build(6, 2)
        if len(got) != 4 or any(shape != (6, 6) for shape in got.values()):
            listed = ", ".join(f"{name} {shape}" for name, shape in got.items()) or "none"
            expect.fail(f"its parameters are {listed}.", "Which layers does the text above name?")

    def test_output(self, student):
        """The example by hand, d_model = 3 with d_head = 3, in a batch or alone: the same numbers as in NumPy."""
        wanted = np.array([[1.3497, 0.6503, 3.3497], [1.0, 1.0, 3.0]])
        output, weights = self.run(student, X[np.newaxis])  # a batch of one
        expect.shape(weights, (1, 2, 2, 2), "One matrix of weights a head.", "weights")
        expect.close(output, wanted[np.newaxis], "Compare each step with your NumPy function.", "output", atol=1e-3)
        output, _ = self.run(student, X)
        expect.close(output, wanted, "Without a batch axis, which axis holds the words?", "output", atol=1e-3)

    def test_mask(self, student):
        """A word that may attend to nothing gets weights 0 and output 0."""
        import torch

        output, weights = self.run(student, X[np.newaxis], mask=torch.tensor([[True, True], [False, False]]))
        hint = "What does a softmax over nothing divide by?"
        expect.shape(weights, (1, 2, 2, 2), hint, "weights")
        expect.shape(output, (1, 2, 3), hint, "output")
        expect.close(weights[0, :, 1], np.zeros((2, 2)), hint, "weights of the second word")
        expect.close(output[0, 1], np.zeros(3), hint, "output of the second word")

    def test_does_not_divide(self, student):
        """Three heads cannot share d_model = 8 evenly: a ValueError."""
        expect.raises(ValueError, lambda: student.MultiHeadAttention.build(8, 3), "Where is d_head worked out?")
