"""Visible tests of single_head, for students to read; the first numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from .. import shared_visible_tests as by_hand
from ..shared_visible_tests import (
    STAYS,
    SURE,
    TEXTS,
    W_K,
    W_Q,
    W_V,
    WIDE_K,
    WIDE_Q,
    WIDE_V,
    WIDE_WEIGHTS,
    X,
    drawn,
    each_head,
    keeps_float64,
)

WIDE = (WIDE_Q, WIDE_K, WIDE_V)
FOUND = np.array(
    [
        [
            [1.9116, -0.4849, 1.9706, -0.0892, 2.7208, -2.675],
            [2.0021, -1.0021, 0.9839, 0.4892, 1.9954, -2.9786],
            [2.1324, -1.0668, -3.0985, -2.9356, 0.7435, 3.7401],
            [1.9999, -0.193, 3.4202, 0.0962, 3.6136, -3.806],
        ],
        [
            [8.0, -4.0, -2.0, -3.0, 6.0, -2.0],
            [-3.5753, 2.669, 3.3649, 0.756, -0.9765, 0.3008],
            [-3.5753, 2.669, 3.3649, 0.756, -0.9765, 0.3008],
            [-1.3417, 1.2221, 1.5172, -0.1658, -0.0611, 0.5708],
        ],
        [
            [1.9613, -0.167, 1.6585, -1.3859, 3.001, -0.8169],
            [-1.511, 2.6125, 7.2077, 0.6871, 3.0005, -3.5774],
            [0.4981, 1.0066, 3.9898, -0.5252, 3.0007, -1.9591],
            [-0.549, 1.8392, 5.6784, 0.1293, 3.0, -2.8391],
        ],
    ]
)


@pytest.mark.exercise("single_head")
class TestSingleHead:
    BY_HAND = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}

    def attend(self, student, *args):
        output, weights = expect.pair(student.single_head(*args))
        return expect.array(output, what="output"), expect.array(weights, what="weights")

    def wide(self, X):
        return dict(zip(("X", "W_Q", "W_K", "W_V", "head", "num_heads"), (X, *WIDE, 1, 2), strict=True))

    def test_weights(self, student):
        """The example by hand: head 1 gives the first word the weights (0.19, 0.19, 0.61)."""
        hint = "Which line of the table is another in yours: the query, the keys, the scores, or the weights of a row?"
        with shown(hint, **self.BY_HAND, head=1, num_heads=2):
            _, weights = self.attend(student, *self.BY_HAND.values(), 1, 2)
            close(weights, by_hand.WEIGHTS[1], "weights")

    def test_output(self, student):
        """The example by hand: head 1 finds 1.81 for the first word, 1.83 and 1.87 for the others."""
        hint = "Which columns of W_V make this head's values, and what blends them?"
        with shown(hint, **self.BY_HAND, head=1, num_heads=2):
            output, _ = self.attend(student, *self.BY_HAND.values(), 1, 2)
            close(output, by_hand.FOUND[1], "output")

    def test_head_0(self, student):
        """The same words, head 0: it finds 1.47, 1.39 and 1.39."""
        with shown("Heads are counted from 0. Where do a head's columns begin, and where do they end?", head=0):
            output, weights = self.attend(student, *self.BY_HAND.values(), 0, 2)
            close(weights, by_hand.WEIGHTS[0], "weights")
            close(output, by_hand.FOUND[0], "output")

    def test_four_words(self, student):
        """Four words of width three, two heads with d_k = 5 and d_v = 6: no two sizes are alike."""
        hint = "By the root of which size is a score divided, and from which matrix is the width of a value read?"
        with shown(hint, **self.wide(TEXTS[0])):
            output, weights = self.attend(student, TEXTS[0], *WIDE, 1, 2)
            close(weights, WIDE_WEIGHTS[1], "weights")
            close(output, FOUND[0], "output")

    def test_batch(self, student):
        """Three texts at once: output (3, 4, 6), and each text is what it is alone."""
        with shown("Do you count axes from the end?", "exception", "shape", **self.wide(TEXTS)):
            output, weights = self.attend(student, TEXTS, *WIDE, 1, 2)
            expect.shape(weights, (3, 4, 4), what="weights")
            close(output, FOUND, "output")

    def test_two_batch_axes(self, student):
        """Two batch axes, (1, 3): the same numbers."""
        with shown(
            "How many axes may stand before (L, d_model)?", "exception", "shape", **self.wide(TEXTS[np.newaxis])
        ):
            output, weights = self.attend(student, TEXTS[np.newaxis], *WIDE, 1, 2)
            expect.shape(weights, (1, 3, 4, 4), what="weights")
            close(output, FOUND[np.newaxis], "output")

    def test_every_head(self, student):
        """Each of three heads, and of eight, finds what it finds with its own columns only, as a single head."""
        question = "Which columns does head i own, from where to where?"
        for heads in (3, 8):
            words, wide = drawn(1, 5, 12), [drawn(seed, 12, 2 * heads) / 4 for seed in (2, 3, 4)]
            for i in range(heads):
                with shown(question, "exception", "shape", head=i, num_heads=heads):
                    own = [each_head(W, heads)[i] for W in wide]
                    output, weights = self.attend(student, words, *wide, i, heads)
                    alone = self.attend(student, words, *own, 0, 1)
                    close(weights, alone[1], "weights")
                    close(output, alone[0], "output")

    def test_seventy_words(self, student):
        """Seventy words in reverse order find the same in reverse order. Arguments may come by name."""
        words, wide = drawn(5, 70, 6), [drawn(seed, 6, 9) / 3 for seed in (6, 7, 8)]
        with shown(
            expect.IfOthersPass("With four words it is right. Which number in your code is a size?"),
            "exception",
            "shape",
        ):
            output, weights = self.attend(student, words, *wide, 2, 3)
            given = dict(zip(("X", "W_Q", "W_K", "W_V"), (words[::-1], *wide), strict=True))
            turned = expect.pair(student.single_head(**given, head=2, num_heads=3))
            close(turned[0], output[::-1], "output")
            close(turned[1], weights[::-1, ::-1], "weights")

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights."""
        X = 1e4 * TEXTS[0]
        with shown("What is np.exp(1000.0)?", **self.wide(X)):
            wanted = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], SURE[1, 2], [0.0, 1.0, 0.0, 0.0]])
            close(self.attend(student, X, *WIDE, 1, 2)[1], wanted, "weights")

    def test_float32(self, student):
        """float32 gives float32, float64 keeps its digits, and what went in is as before."""
        with shown(STAYS):
            keeps(student.single_head, *self.wide(TEXTS[0]).values(), names="X W_Q W_K W_V head num_heads")
            for part, what in zip(self.attend(student, TEXTS[0], *WIDE, 1, 2), ("output", "weights"), strict=True):
                keeps_float64(part, what)
