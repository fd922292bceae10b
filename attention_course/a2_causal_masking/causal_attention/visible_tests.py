"""Visible tests of causal_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import CAUSAL_OUTPUT, CAUSAL_WEIGHTS, QUERIES, STAYS, K, Q, V

KEYS = np.array(
    [
        [[2.0, -1.0, -1.0, -1.0, -1.0], [2.0, 2.0, 1.0, -1.0, -1.0], [0.0, 0.0, 1.0, 0.0, 0.0]],
        [[-1.0, 1.0, 1.0, -1.0, -1.0], [0.0, 0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 1.0, -1.0, 1.0]],
    ]
)
VALUES = np.array(
    [
        [[6.0, 8.0, 0.0, 8.0], [4.0, 5.0, 6.0, 2.0], [9.0, 0.0, 2.0, 3.0]],
        [[5.0, 4.0, 1.0, 0.0], [0.0, 0.0, 1.0, 9.0], [1.0, 6.0, 7.0, 2.0]],
    ]
)
PADDING = np.array([[[True, True, False]], [[False, False, False]]])
TEXT_OUTPUT = np.array([[6.0, 8.0, 0.0, 8.0], [5.8069, 7.7103, 0.5793, 7.4207], [5.0571, 4.0513, 5.059, 2.3328]])
TEXT_WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.9034, 0.0966, 0.0], [0.0217, 0.7756, 0.2027]])
PADDED_WEIGHTS = np.array(
    [
        [[1.0, 0.0, 0.0], [0.9034, 0.0966, 0.0], [0.0272, 0.9728, 0.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
PADDED_OUTPUT = np.array(
    [
        [[6.0, 8.0, 0.0, 8.0], [5.8069, 7.7103, 0.5793, 7.4207], [4.0544, 5.0815, 5.8369, 2.1631]],
        [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]],
    ]
)
BATCH_WEIGHTS = np.array(
    [
        [[1.0, 0.0, 0.0], [0.9034, 0.0966, 0.0], [0.0217, 0.7756, 0.2027]],
        [[1.0, 0.0, 0.0], [0.7928, 0.2072, 0.0], [0.0612, 0.5726, 0.3662]],
    ]
)
# The first text's queries a hundred thousand times as large.
SURE = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.exercise("causal_attention")
class TestCausalAttention:
    def attend(self, student, *arrays):
        output, weights = expect.pair(student.causal_attention(*arrays))
        return expect.array(output, what="output"), expect.array(weights, what="weights")

    def test_two_words(self, student):
        """Of two words the first sees itself; the second scores 1 and 3, so its weights are 0.12 and 0.88."""
        with shown("Are the dot products, 2 and 6 in the second row, divided by the square root of 4?", Q=Q, K=K, V=V):
            output, weights = self.attend(student, Q, K, V)
            close(weights, CAUSAL_WEIGHTS, "weights")
            close(output, CAUSAL_OUTPUT, "output", within=1e-3)

    def test_three_words(self, student):
        """Three words of width five, with values of width four."""
        with shown(
            "Row i: at whom may word i look, and by which root is a score divided?",
            Q=QUERIES[0],
            K=KEYS[0],
            V=VALUES[0],
        ):
            output, weights = self.attend(student, QUERIES[0], KEYS[0], VALUES[0])
            close(weights, TEXT_WEIGHTS, "weights")
            close(output, TEXT_OUTPUT, "output")

    def test_two_texts(self, student):
        """Two texts at once: each has weights of its own."""
        with shown("Which axes do you swap, when there are three?", "exception", "shape", Q=QUERIES, K=KEYS, V=VALUES):
            close(self.attend(student, QUERIES, KEYS, VALUES)[1], BATCH_WEIGHTS, "weights")

    def test_padding(self, student):
        """Two texts, one with a padded word, one with nothing else: both masks hold, and no row is NaN."""
        hint = "May a key be seen that passes only one mask, and what does a query do that may see none?"
        with shown(hint, Q=QUERIES, K=KEYS, V=VALUES, padding=PADDING):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES, PADDING)
            close(weights, PADDED_WEIGHTS, "weights")
            close(output, PADDED_OUTPUT, "output")

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large still give finite weights, and no hidden key gets any."""
        given = {"Q": 1e5 * QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("What is np.exp(1000.0), and what does a hidden score become?", **given):
            close(self.attend(student, *given.values())[1], SURE, "weights")

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS, Q=Q, K=K, V=V):
            keeps(student.causal_attention, Q, K, V, names="Q K V")
