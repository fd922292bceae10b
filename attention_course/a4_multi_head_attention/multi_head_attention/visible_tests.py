"""Visible tests of multi_head_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import (
    BY_HAND,
    CAUSAL,
    CAUSAL_WEIGHTS,
    OUTPUT,
    PADDING,
    STAYS,
    SURE,
    TEXTS,
    WIDE_K,
    WIDE_O,
    WIDE_Q,
    WIDE_V,
    WIDE_WEIGHTS,
)

WIDE = (WIDE_Q, WIDE_K, WIDE_V, WIDE_O)
WIDE_OUTPUTS = np.array(
    [
        [[10.0542, 31.3866, 7.9513], [11.7408, 8.8947, 3.1767], [1.4464, 31.4311, 11.2338], [14.5097, -8.2631, 2.5206]],
        [
            [37.3893, 8.5078, 29.1183],
            [-14.6356, 13.7574, -12.39],
            [-14.6356, 13.7574, -12.39],
            [-1.2941, 3.9513, 3.8118],
        ],
        [[8.66, 36.8282, 9.6421], [2.401, 31.6654, -3.5821], [0.8673, 32.9057, -8.2669], [3.8608, 31.7896, -0.7]],
    ]
)
PADDED_OUTPUTS = np.array(
    [
        [[17.043, -2.3886, 15.8749], [11.8059, 8.3212, 3.1209], [7.1991, 2.1995, 15.6732], [14.521, -8.3939, 2.5136]],
        [
            [37.7741, 8.9322, 29.6612],
            [-15.4669, 16.2895, -13.965],
            [-15.4669, 16.2895, -13.965],
            [5.3564, 15.8873, 6.9424],
        ],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)


@pytest.mark.exercise("multi_head_attention")
class TestMultiHeadAttention:
    def attend(self, student, *args, **more):
        output, weights = expect.pair(student.multi_head_attention(*args, **more))
        return expect.array(output, what="output"), expect.array(weights, what="weights")

    def wide(self, X):
        return dict(zip(("X", "W_Q", "W_K", "W_V", "W_O"), (X, *WIDE), strict=True))

    def test_weights(self, student):
        """The example by hand: each head has weights of its own."""
        with shown(
            "Head 0 owns the first columns of W_Q and of W_K. By hand: its queries, its keys, its scores, its weights?",
            **BY_HAND,
            num_heads=2,
        ):
            _, weights = self.attend(student, *BY_HAND.values(), 2)
            close(weights, np.array([[[0.8497, 0.1503], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]), "weights")

    def test_output(self, student):
        """The example by hand: the first word becomes (1.35, 0.65, 3.35), the second (1, 1, 3)."""
        with shown("Which comes first, each head's blend of its values, or W_O?", **BY_HAND, num_heads=2):
            close(self.attend(student, *BY_HAND.values(), 2)[0], OUTPUT, "output")

    def test_four_words(self, student):
        """Four words of width three, two heads with d_k = 5 and d_v = 6: no two sizes are alike."""
        with shown(
            "By the root of which size is a score divided: d_model, or one head's?", **self.wide(TEXTS[0]), num_heads=2
        ):
            output, weights = self.attend(student, TEXTS[0], *WIDE, 2)
            close(weights, WIDE_WEIGHTS, "weights")
            close(output, WIDE_OUTPUTS[0], "output")

    def test_batch(self, student):
        """Three texts at once: output (3, 4, 3), and each text is what it is alone."""
        with shown("Do you count axes from the end?", "exception", "shape", **self.wide(TEXTS), num_heads=2):
            output, weights = self.attend(student, TEXTS, *WIDE, 2)
            expect.shape(weights, (3, 2, 4, 4), what="weights")
            close(output, WIDE_OUTPUTS, "output")

    def test_mask(self, student):
        """Where the mask is False the weight is 0, in every head, and the others still sum to 1."""
        with shown(
            "True means: may attend. Who takes part in the sum of a row?",
            **self.wide(TEXTS[0]),
            num_heads=2,
            mask=CAUSAL,
        ):
            close(self.attend(student, TEXTS[0], *WIDE, 2, mask=CAUSAL)[1], CAUSAL_WEIGHTS, "weights")

    def test_padding(self, student):
        """A mask (3, 1, 1, 4) hides each text's padding; the third text is nothing else, and its output is 0."""
        hint = "Which axis of the mask meets which axis of the scores? And what does a softmax over nothing divide by?"
        with shown(hint, **self.wide(TEXTS), num_heads=2, mask=PADDING):
            output, weights = self.attend(student, TEXTS, *WIDE, 2, mask=PADDING)
            expect.shape(weights, (3, 2, 4, 4), what="weights")
            close(output, PADDED_OUTPUTS, "output")
            close(weights[2], np.zeros((2, 4, 4)), "weights of the third text")

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights, and no hidden key gets any."""
        X = 1e4 * TEXTS[0]
        with shown(
            "What is np.exp(1000.0), and what does a hidden score become?", **self.wide(X), num_heads=2, mask=CAUSAL
        ):
            close(self.attend(student, X, *WIDE, 2, mask=CAUSAL)[1], SURE, "weights")

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS):
            keeps(student.multi_head_attention, *BY_HAND.values(), 2, names="X W_Q W_K W_V W_O num_heads")
