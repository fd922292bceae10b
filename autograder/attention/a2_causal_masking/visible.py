"""Visible checks of a2. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.judging import expect

SCORES = np.array([[5.0, 9.0, 9.0], [1.0, 3.0, 9.0], [2.0, 2.0, 2.0]])
CAUSAL = np.array([[True, False, False], [True, True, False], [True, True, True]])
WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.1192, 0.8808, 0.0], [0.3333, 0.3333, 0.3333]])

# d_k = 4, so dot products of 2 and 6 become the scores 1 and 3.
Q = np.array([[2.0, 0.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0]])
K = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0]])
V = np.array([[10.0, 0.0, 1.0], [0.0, 10.0, 1.0]])
CAUSAL_WEIGHTS = np.array([[1.0, 0.0], [0.1192, 0.8808]])
CAUSAL_OUTPUT = np.array([[10.0, 0.0, 1.0], [1.192, 8.808, 1.0]])


@pytest.mark.exercise("causal_mask")
class TestCausalMask:
    def test_three_words(self, student):
        """For three words: one True in the first row, two in the second, three in the third."""
        got = expect.array(student.causal_mask(3))
        expect.equal(got, CAUSAL, "Row i says where word i may look: at itself and at what came before.")

    def test_truth_values(self, student):
        """The mask holds truth values: its dtype is bool."""
        expect.dtype(expect.array(student.causal_mask(3)), np.bool_)


@pytest.mark.exercise("padding_mask")
class TestPaddingMask:
    def test_shape(self, student):
        """Three texts, max_length 5: shape (3, 1, 5)."""
        got = expect.array(student.padding_mask(np.array([4, 2, 3]), 5))
        expect.shape(got, (3, 1, 5), "The axis in the middle is where the queries would be.")

    def test_three_texts(self, student):
        """Lengths 4, 2, 3: as many True in each row, from the left, and the rest False."""
        got = expect.array(student.padding_mask([4, 2, 3], 5))
        wanted = np.array([[[1, 1, 1, 1, 0]], [[1, 1, 0, 0, 0]], [[1, 1, 1, 0, 0]]])
        expect.equal(got, wanted, "True on real words, False on padding.")
        expect.dtype(got, np.bool_)


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax:
    def test_worked_example(self, student):
        """The three words of the worked example get the weights worked out by hand."""
        got = expect.array(student.masked_softmax(SCORES, CAUSAL))
        expect.close(got, WEIGHTS, "Which scores take part in the sum of each row?", atol=1e-3)

    def test_a_million_behind_the_mask(self, student):
        """A masked score of a million changes nothing."""
        scores = np.where(CAUSAL, SCORES, 1e6)
        got = expect.array(student.masked_softmax(scores, CAUSAL))
        expect.close(got, WEIGHTS, "Where does the masked score still take part?", atol=1e-3)

    def test_nothing_allowed(self, student):
        """Where nothing is allowed, all weights are 0."""
        got = expect.array(student.masked_softmax(SCORES[:1], np.array([[False, False, False]])))
        expect.equal(got, np.zeros((1, 3)), "What is the sum that you divide by?")


@pytest.mark.exercise("causal_attention")
class TestCausalAttention:
    def test_two_words(self, student):
        """Of two words the first sees itself; the second scores 1 and 3, so its weights are 0.12 and 0.88."""
        output, weights = expect.pair(student.causal_attention(Q, K, V))
        hint = "Are the dot products, 2 and 6 in the second row, divided by the square root of 4?"
        expect.close(expect.array(weights), CAUSAL_WEIGHTS, hint, "weights", atol=1e-3)
        expect.close(expect.array(output), CAUSAL_OUTPUT, "Each row blends the values.", "output", atol=1e-2)

    def test_padding(self, student):
        """With the second word as padding, both queries see the first word alone."""
        padding = np.array([[[True, False]]])
        _, weights = expect.pair(student.causal_attention(Q[None], K[None], V[None], padding))
        first_alone = np.array([[[1.0, 0.0], [1.0, 0.0]]])
        expect.close(expect.array(weights), first_alone, "May a key be seen that passes only one mask?", "weights")


@pytest.mark.exercise("torch_masked_attention")
class TestTorchMaskedAttention:
    def attend(self, student, *arrays):
        import torch

        output, weights = expect.pair(student.torch_masked_attention(*map(torch.from_numpy, arrays)))
        return expect.tensor(output), expect.tensor(weights)

    def test_two_words(self, student):
        """Under a causal mask, two words get the weights of the NumPy example."""
        output, weights = self.attend(student, Q, K, V, CAUSAL[:2, :2])
        expect.close(weights, CAUSAL_WEIGHTS, "Which keys take part in each row?", "weights", atol=1e-3)
        expect.close(output, CAUSAL_OUTPUT, "Each row blends the values.", "output", atol=1e-2)

    def test_without_mask(self, student):
        """Without a mask both words see both: weights 0.12 and 0.88 twice."""
        _, weights = self.attend(student, Q, K, V)
        expect.close(weights, CAUSAL_WEIGHTS[[1, 1]], "What does your code do when mask is None?", "weights", atol=1e-3)

    def test_nothing_allowed(self, student):
        """A query that may attend to nothing gets weights 0 and output 0."""
        output, weights = self.attend(student, Q, K, V, np.array([[False, False], [True, True]]))
        expect.equal(weights[0], np.zeros(2), "What does softmax make of that row?", "weights of the first query")
        expect.equal(output[0], np.zeros(3), "What does softmax make of that row?", "output of the first query")
