"""Visible checks of a1. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import arrives, keeps, same, shown

# The first word of the worked example: one query, two keys, two values. d_k = 4, so the scores are 2 / 2 and 6 / 2.
Q = np.array([[2.0, 0.0, 1.0, 1.0]])
K = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0]])
V = np.array([[10.0, 0.0], [0.0, 10.0]])
SCORES = np.array([[1.0, 3.0]])
WEIGHTS = np.array([[0.1192, 0.8808]])
OUTPUT = np.array([[1.1920, 8.8080]])

# Two texts, and no two sizes alike: three queries and four keys of width five, values of width six.
QUERIES = np.array(
    [
        [[2.0, 1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, -1.0, -1.0, 2.0], [1.0, 2.0, 1.0, 1.0, 2.0]],
        [[1.0, 1.0, 1.0, 1.0, 2.0], [0.0, 2.0, 1.0, -1.0, 0.0], [2.0, 1.0, -1.0, 2.0, 1.0]],
    ]
)
KEYS = np.array(
    [
        [
            [2.0, -1.0, -1.0, -1.0, -1.0],
            [2.0, 2.0, 1.0, -1.0, -1.0],
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [-1.0, 1.0, 1.0, -1.0, -1.0],
        ],
        [[0.0, 0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 1.0, -1.0, 1.0], [2.0, 2.0, 2.0, 0.0, 0.0], [1.0, 1.0, 1.0, 2.0, 0.0]],
    ]
)
VALUES = np.array(
    [
        [
            [6.0, 8.0, 0.0, 8.0, 4.0, 5.0],
            [6.0, 2.0, 9.0, 0.0, 2.0, 3.0],
            [5.0, 4.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, 9.0, 1.0, 6.0, 7.0, 2.0],
        ],
        [
            [2.0, 4.0, 2.0, 9.0, 1.0, 8.0],
            [7.0, 8.0, 1.0, 3.0, 6.0, 4.0],
            [6.0, 6.0, 6.0, 0.0, 9.0, 5.0],
            [9.0, 2.0, 3.0, 8.0, 1.0, 0.0],
        ],
    ]
)
ALL_SCORES = np.array(
    [
        [[0.8944, 3.1305, 0.4472, 0.0], [-0.4472, -2.6833, -0.4472, -0.8944], [-1.7889, 1.7889, 0.4472, -0.4472]],
        [[1.3416, 1.3416, 2.6833, 2.2361], [0.4472, 1.7889, 2.6833, 0.4472], [0.0, -0.4472, 1.7889, 2.6833]],
    ]
)
ALL_WEIGHTS = np.array(
    [
        [[0.0877, 0.8204, 0.0561, 0.0358], [0.3641, 0.0389, 0.3641, 0.2328], [0.02, 0.7162, 0.1872, 0.0765]],
        [[0.1209, 0.1209, 0.4625, 0.2957], [0.0659, 0.252, 0.6163, 0.0659], [0.0449, 0.0287, 0.2688, 0.6575]],
    ]
)
ALL_OUTPUTS = np.array(
    [
        [
            [5.7647, 2.8892, 7.4755, 0.9166, 2.2425, 2.9713],
            [4.4717, 6.5428, 0.9472, 4.31, 3.1641, 2.403],
            [5.43, 3.0304, 6.7097, 0.6194, 2.0483, 2.4018],
        ],
        [
            [6.5244, 4.8171, 4.0247, 3.8165, 5.3044, 3.7632],
            [6.1861, 6.1087, 4.2791, 1.8757, 7.1902, 4.6163],
            [7.8215, 3.3375, 3.7041, 5.7507, 3.2942, 1.8185],
        ],
    ]
)
# The first text's queries a thousand times as large: each has eyes for its best key alone.
SURE = np.array([[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]])

STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


@pytest.mark.exercise("softmax")
class TestSoftmax:
    def test_two_scores(self, student):
        """Scores 1 and 3 give weights of about 0.12 and 0.88."""
        x = np.array([1.0, 3.0])
        with shown("By hand, what is each of the two fractions?", x=x):
            same(expect.array(student.softmax(x)), WEIGHTS[0])

    def test_two_rows(self, student):
        """Two rows of three scores: each row sums to 1 for itself."""
        x = np.array([[1.0, 3.0, 2.0], [7.0, 7.0, 5.0]])
        with shown("Over which axis is the sum?", x=x):
            same(expect.array(student.softmax(x)), np.array([[0.09, 0.6652, 0.2447], [0.4683, 0.4683, 0.0634]]))

    def test_axis(self, student):
        """With axis=0, each column sums to 1."""
        x = np.array([[1.0, 7.0, 0.0], [3.0, 7.0, 2.0]])
        with shown("Where do you use `axis`?", x=x, axis=0):
            same(expect.array(student.softmax(x, axis=0)), np.array([[0.1192, 0.5, 0.1192], [0.8808, 0.5, 0.8808]]))

    def test_large_scores(self, student):
        """Scores 10001 and 10003 give the same weights as 1 and 3, and both rows may stand in one array."""
        x = np.array([[10001.0, 10003.0], [1.0, 3.0], [-10001.0, -9999.0]])
        with shown(
            "What may change in a fraction without changing its value, and must it be the same for each row?", x=x
        ):
            same(expect.array(student.softmax(x)), np.repeat(WEIGHTS, 3, axis=0))

    def test_float32(self, student):
        """float32 gives float32, and the scores are as before."""
        x = np.array([[1.0, 3.0, 2.0], [7.0, 7.0, 5.0]])
        with shown(STAYS, x=x):
            keeps(student.softmax, x, names="x")


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    def test_worked_example(self, student):
        """The worked example: one query, two keys, scores 1 and 3."""
        with shown("The dot products are 2 and 6. What comes next?", Q=Q, K=K):
            same(expect.array(student.attention_scores(Q, K)), SCORES)

    def test_three_queries(self, student):
        """Three queries and four keys of width five: twelve scores, one row a query."""
        with shown("One row a query, one column a key: which number is each?", Q=QUERIES[0], K=KEYS[0]):
            same(expect.array(student.attention_scores(QUERIES[0], KEYS[0])), ALL_SCORES[0])

    def test_two_texts(self, student):
        """Two texts at once, (2, 3, 4): each text's queries meet its own keys."""
        hint = "Is one text alone right? Then: which axes and sizes does your code count from the front?"
        with shown(hint, Q=QUERIES, K=KEYS):
            same(expect.array(student.attention_scores(QUERIES, KEYS)), ALL_SCORES)

    def test_float32(self, student):
        """float32 gives float32, and queries and keys are as before."""
        with shown(STAYS, Q=Q, K=K):
            keeps(student.attention_scores, Q, K, names="Q K")


@pytest.mark.exercise("scaled_dot_product_attention")
class TestScaledDotProductAttention:
    def attend(self, student, *arrays):
        output, weights = expect.pair(student.scaled_dot_product_attention(*arrays))
        return expect.array(output, what="output"), expect.array(weights, what="weights")

    def test_worked_example(self, student):
        """The worked example: weights of about 0.12 and 0.88, output about (1.19, 8.81)."""
        hint = "Which of scores, softmax and weighted sum gives another number than by hand? Which comes back first?"
        with shown(hint, Q=Q, K=K, V=V):
            output, weights = self.attend(student, Q, K, V)
            same(weights, WEIGHTS, "weights")
            same(output, OUTPUT, "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five; the values have width six."""
        given = {"Q": QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("Write the shape beside every line: where does it stop being what you meant?", **given):
            output, weights = self.attend(student, *given.values())
            same(weights, ALL_WEIGHTS[0], "weights")
            same(output, ALL_OUTPUTS[0], "output")

    def test_query_of_zeros(self, student):
        """A query of zeros looks for nothing: it weighs all keys alike."""
        zeros = np.zeros((3, 4))
        with shown("Does each row of weights sum to 1? The output is half of each value.", Q=zeros, K=K, V=V):
            output, weights = self.attend(student, zeros, K, V)
            same(weights, np.full((3, 2), 0.5), "weights")
            same(output, np.full((3, 2), 5.0), "output")

    def test_two_texts(self, student):
        """Two texts at once: output (2, 3, 6) and weights (2, 3, 4)."""
        hint = "Which axes do you swap, and over which do you sum, when there are three?"
        with shown(hint, Q=QUERIES, K=KEYS, V=VALUES):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES)
            same(weights, ALL_WEIGHTS, "weights")
            same(output, ALL_OUTPUTS, "output")

    def test_large_scores(self, student):
        """Queries a thousand times as large still give finite weights."""
        given = {"Q": 1000 * QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("What is np.exp(1000.0), and what did your softmax do about it?", **given):
            same(self.attend(student, *given.values())[1], SURE, "weights")

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS, Q=Q, K=K, V=V):
            keeps(student.scaled_dot_product_attention, Q, K, V, names="Q K V")


@pytest.mark.exercise("torch_scaled_dot_product_attention")
class TestTorchScaledDotProductAttention:
    def tensors(self, *arrays):
        import torch

        return [torch.from_numpy(array.copy()) for array in arrays]

    def attend(self, student, *arrays):
        output, weights = expect.pair(student.torch_scaled_dot_product_attention(*self.tensors(*arrays)))
        return expect.tensor(output, what="output"), expect.tensor(weights, what="weights")

    def test_worked_example(self, student):
        """The worked example, in tensors: weights of about 0.12 and 0.88, output about (1.19, 8.81)."""
        with shown("The formula is the same as in NumPy. Which line differs?", query=Q, key=K, value=V):
            output, weights = self.attend(student, Q, K, V)
            same(weights, WEIGHTS, "weights")
            same(output, OUTPUT, "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five, in two texts or in one."""
        with shown("Do you count axes from the end or from the front?", query=QUERIES, key=KEYS, value=VALUES):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES)
            same(weights, ALL_WEIGHTS, "weights")
            same(output, ALL_OUTPUTS, "output")
            output, _ = self.attend(student, QUERIES[0], KEYS[0], VALUES[0])
            same(output, ALL_OUTPUTS[0], "without a batch axis the output")

    def test_large_scores(self, student):
        """Queries a thousand times as large still give finite weights."""
        given = {"query": 1000 * QUERIES[0], "key": KEYS[0], "value": VALUES[0]}
        with shown("What is the exp of 1000, and who may take care of that?", **given):
            same(self.attend(student, *given.values())[1], SURE, "weights")

    def test_gradients_arrive(self, student):
        """A gradient reaches query, key and value, and through the weights query and key."""
        attend, tensors = student.torch_scaled_dot_product_attention, self.tensors(Q, K, V)
        with shown("Which line lets go of it?", query=Q, key=K, value=V):
            arrives(attend.gradients(*tensors, seeds=[tensors[0][:, :2], None]).inputs, "query key value")
            arrives(attend.gradients(*tensors, seeds=[None, tensors[0][:, :2]]).inputs[:2], "query key")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and what went in is as before."""
        with shown("Which line makes a new tensor, of which dtype?", query=Q, key=K, value=V):
            keeps(student.torch_scaled_dot_product_attention, *self.tensors(Q, K, V), names="query key value")
            expect.dtype(self.attend(student, Q, K, V)[0], np.float64)
