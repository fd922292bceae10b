"""Visible checks of a1. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.judging import expect

# The first word of the worked example: one query, two keys, two values. d_k = 4, so the scores are 2 / 2 and 6 / 2.
Q = np.array([[2.0, 0.0, 1.0, 1.0]])
K = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0]])
V = np.array([[10.0, 0.0], [0.0, 10.0]])
SCORES = np.array([[1.0, 3.0]])
WEIGHTS = np.array([[0.1192, 0.8808]])
OUTPUT = np.array([[1.192, 8.808]])
FOUR_DIGITS = 1e-3  # the literals above are rounded


@pytest.mark.exercise("softmax")
class TestSoftmax:
    def test_two_scores(self, student):
        """Scores 1 and 3 give weights of about 0.12 and 0.88."""
        got = expect.array(student.softmax(np.array([1.0, 3.0])))
        expect.close(got, WEIGHTS[0], "By hand, what is each of the two fractions?", atol=FOUR_DIGITS)

    def test_two_rows(self, student):
        """Two rows of scores: each row sums to 1 for itself."""
        got = expect.array(student.softmax(np.array([[1.0, 3.0], [7.0, 7.0]])))
        expect.close(got, np.array([[0.1192, 0.8808], [0.5, 0.5]]), "Over which axis is the sum?", atol=FOUR_DIGITS)

    def test_axis(self, student):
        """With axis=0, each column sums to 1."""
        got = expect.array(student.softmax(np.array([[1.0, 7.0], [3.0, 7.0]]), axis=0))
        expect.close(got, np.array([[0.1192, 0.5], [0.8808, 0.5]]), "Where do you use `axis`?", atol=FOUR_DIGITS)

    def test_large_scores(self, student):
        """Scores 10001 and 10003 give the same weights as 1 and 3."""
        got = expect.array(student.softmax(np.array([10001.0, 10003.0])))
        expect.close(got, WEIGHTS[0], "What may change in a fraction without changing its value?", atol=FOUR_DIGITS)


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    def test_worked_example(self, student):
        """The worked example: one query, two keys, scores 1 and 3."""
        got = expect.array(student.attention_scores(Q, K))
        expect.close(got, SCORES, "The dot products are 2 and 6. What comes next?")

    def test_three_queries(self, student):
        """Three queries and five keys of width four, all ones: fifteen scores, each 4 / 2 = 2."""
        got = expect.array(student.attention_scores(np.ones((3, 4)), np.ones((5, 4))))
        expect.close(got, np.full((3, 5), 2.0), "One row a query, one column a key: which number is each?")

    def test_two_sentences(self, student):
        """Two sentences at once: shape (2, 1, 2), each sentence with its own scores."""
        got = expect.array(student.attention_scores(np.stack([Q, 2 * Q]), np.stack([K, K])))
        expect.close(got, np.stack([SCORES, 2 * SCORES]), "Which two axes of K change places, when there are three?")


@pytest.mark.exercise("scaled_dot_product_attention")
class TestScaledDotProductAttention:
    def test_worked_example(self, student):
        """The worked example: weights of about 0.12 and 0.88, output about (1.19, 8.81)."""
        output, weights = expect.pair(student.scaled_dot_product_attention(Q, K, V))
        hint = "Which of scores, softmax, and weighted sum gives another number than by hand?"
        expect.close(expect.array(weights, what="weights"), WEIGHTS, hint, "weights", atol=FOUR_DIGITS)
        expect.close(expect.array(output, what="output"), OUTPUT, hint, "output", atol=FOUR_DIGITS)

    def test_query_of_zeros(self, student):
        """A query of zeros looks for nothing: it weighs all keys alike."""
        output, weights = expect.pair(student.scaled_dot_product_attention(np.zeros((3, 4)), K, V))
        expect.close(weights, np.full((3, 2), 0.5), "Does each row sum to 1?", "weights")
        expect.close(output, np.full((3, 2), 5.0), "The output is half of each value.", "output")

    def test_two_sentences(self, student):
        """Two sentences at once: output (2, 1, 2) and weights (2, 1, 2)."""
        got = student.scaled_dot_product_attention(np.stack([Q, Q]), np.stack([K, K]), np.stack([V, 2 * V]))
        output, weights = expect.pair(got)
        hint = "Which axes do you swap, and over which do you sum, when there are three?"
        expect.close(weights, np.stack([WEIGHTS, WEIGHTS]), hint, "weights", atol=FOUR_DIGITS)
        expect.close(output, np.stack([OUTPUT, 2 * OUTPUT]), hint, "output", atol=FOUR_DIGITS)


@pytest.mark.exercise("torch_scaled_dot_product_attention")
class TestTorchScaledDotProductAttention:
    def tensors(self):
        import torch

        return [torch.from_numpy(array) for array in (Q, K, V)]

    def test_worked_example(self, student):
        """The worked example, in tensors: weights of about 0.12 and 0.88, output about (1.19, 8.81)."""
        output, weights = expect.pair(student.torch_scaled_dot_product_attention(*self.tensors()))
        hint = "The formula is the same as in NumPy. Which line differs?"
        expect.close(expect.tensor(weights, what="weights"), WEIGHTS, hint, "weights", atol=FOUR_DIGITS)
        expect.close(expect.tensor(output, what="output"), OUTPUT, hint, "output", atol=FOUR_DIGITS)

    def test_two_sentences(self, student):
        """Two sentences at once: each row of weights still sums to 1."""
        query, key, value = (tensor.expand(2, *tensor.shape).clone() for tensor in self.tensors())
        output, weights = expect.pair(student.torch_scaled_dot_product_attention(query, key, value))
        hint = "Do you count axes from the end or from the front?"
        expect.close(weights, np.stack([WEIGHTS, WEIGHTS]), hint, "weights", atol=FOUR_DIGITS)
        expect.close(output, np.stack([OUTPUT, OUTPUT]), hint, "output", atol=FOUR_DIGITS)

    def test_gradients_arrive(self, student):
        """A gradient reaches query, key and value."""
        query, key, value = self.tensors()
        seed = value.new_ones(1, 2) * value.new_tensor([1.0, 3.0])
        given = student.torch_scaled_dot_product_attention.gradients(query, key, value, seeds=[seed, None])
        for name, gradient in zip(("query", "key", "value"), given.inputs, strict=True):
            if gradient is None:
                expect.fail(f"no gradient reaches {name}.", "Which line lets go of it?")
