"""Visible tests of scaled_dot_product_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import (
    ALL_OUTPUTS,
    ALL_WEIGHTS,
    ANY_SIZE,
    AXES,
    KEYS,
    LONG,
    LONG_OUTPUT,
    LONG_WEIGHTS,
    NAMES,
    ORDER,
    OUTPUT,
    QUERIES,
    STAYS,
    SURE,
    VALUES,
    WEIGHTS,
    K,
    Q,
    V,
)


@pytest.mark.exercise("scaled_dot_product_attention")
class TestScaledDotProductAttention:
    def attend(self, student, *arrays):
        output, weights = expect.pair(student.scaled_dot_product_attention(*arrays))
        return expect.array(output, what="output"), expect.array(weights, what="weights")

    def test_worked_example(self, student):
        """The worked example: weights of about 0.09, 0.67 and 0.24, output about (-1.55, 9.10)."""
        question = "Which step gives another number than by hand, or fewer digits? How often is a score divided?"
        with shown(question, Q=Q, K=K, V=V):
            output, weights = self.attend(student, Q, K, V)
            close(weights, WEIGHTS, "weights")
        with shown(
            "The weights are right. What do they multiply, and does anything come after that sum?", Q=Q, K=K, V=V
        ):
            close(output, OUTPUT, "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five; the values have width six."""
        given = {"Q": QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("Is a number of the worked example still in your code? Over which axis does each line go?", **given):
            output, weights = self.attend(student, *given.values())
            close(weights, ALL_WEIGHTS[0], "weights")
            close(output, ALL_OUTPUTS[0], "output")

    def test_query_of_zeros(self, student):
        """A query of zeros looks for nothing: it weighs all keys alike."""
        zeros = np.zeros((5, 4))
        with shown("Does each row of weights sum to 1? The output is a third of each value.", Q=zeros, K=K, V=V):
            output, weights = self.attend(student, zeros, K, V)
            close(weights, np.full((5, 3), 1 / 3), "weights")
            close(output, np.tile([0.0, 20 / 3], (5, 1)), "output")

    def test_two_texts(self, student):
        """Two texts at once: output (2, 3, 6) and weights (2, 3, 4)."""
        hint = "Which axes do you swap, and over which do you sum, when there are three?"
        with shown(hint, "exception", "shape", Q=QUERIES, K=KEYS, V=VALUES):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES)
            close(weights, ALL_WEIGHTS, "weights")
            close(output, ALL_OUTPUTS, "output")

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each text as if it were alone."""
        with shown(AXES, "exception", "shape"):
            output, weights = self.attend(student, QUERIES[ORDER], KEYS[ORDER], VALUES[ORDER])
            close(weights, ALL_WEIGHTS[ORDER], "weights")
            close(output, ALL_OUTPUTS[ORDER], "output")

    def test_long_texts(self, student):
        """Seventy queries and 71 keys of width 100: key j scores log(j + 1), so its weight is (j + 1) / 2556."""
        with shown(ANY_SIZE):
            output, weights = self.attend(student, *LONG.values())
            close(weights, LONG_WEIGHTS, "weights")
            close(output, LONG_OUTPUT, "output")
            expect.dtype(output, np.float64)

    def test_large_scores(self, student):
        """Queries a thousand times as large still give finite weights."""
        given = {"Q": 1000 * QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("What is np.exp(1000.0), and what did your softmax do about it?", **given):
            close(self.attend(student, *given.values())[1], SURE, "weights", within=1e-8)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS, Q=Q, K=K, V=V):
            keeps(student.scaled_dot_product_attention, Q, K, V, names="Q K V")

    def test_by_name(self, student):
        """The arguments may come by name."""
        with shown(NAMES, "exception", Q=Q, K=K, V=V):
            expect.pair(student.scaled_dot_product_attention(V=V, K=K, Q=Q))
