"""Visible tests of causal_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import (
    ANY_SIZE,
    AXES,
    CAUSAL_OUTPUT,
    CAUSAL_WEIGHTS,
    FIRST_NAN,
    LONG,
    NAMES,
    ORDER,
    PLACE,
    QUERIES,
    STAYS,
    K,
    Q,
    V,
)

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
FRONT_WEIGHTS = np.array(
    [[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.7928, 0.2072]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]
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
        with shown(FIRST_NAN, Q=Q, K=K, V=V):
            output, weights = self.attend(student, Q, K, V)
            expect.finite(weights, what="weights")
        with shown("Whom does the first word see?", Q=Q, K=K, V=V):
            close(weights[..., 0, :], CAUSAL_WEIGHTS[0], "the first word's weights")
        with shown(
            "By hand the second row has dot products 2 and 6, scores 1 and 3. Which step differs, or comes twice?",
            Q=Q,
            K=K,
            V=V,
        ):
            close(weights, CAUSAL_WEIGHTS, "weights")
        with shown("The weights are right. What is multiplied by them and summed?", Q=Q, K=K, V=V):
            close(output, CAUSAL_OUTPUT, "output", within=1e-3)

    def test_three_words(self, student):
        """Three words of width five, with values of width four."""
        given = {"Q": QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("Row i: at whom may word i look, and by which root is a score divided?", **given):
            output, weights = self.attend(student, *given.values())
            close(weights, TEXT_WEIGHTS, "weights")
        with shown("The weights are right. Which values do they blend?", **given):
            close(output, TEXT_OUTPUT, "output")

    def test_padding(self, student):
        """Two texts, the first with a padded word: both masks hold, and a padded query gets an ordinary output."""
        padding = np.array([[[True, True, False]], [[True, True, True]]])
        hint = "Does the padding hide keys, or queries, and may a key be seen that passes only one mask?"
        with shown(hint, Q=QUERIES, K=KEYS, V=VALUES, padding=padding):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES, padding)
            close(weights, np.stack([PADDED_WEIGHTS[0], BATCH_WEIGHTS[1]]), "weights")
            close(output[0], PADDED_OUTPUT[0], "the first text's output")

    def test_nothing_but_padding(self, student):
        """Where a text, or every text, has nothing but padding, weights and output are 0, not NaN."""
        for padding in (PADDING, np.zeros((2, 1, 3), dtype=bool)):
            hint = "What does a query do that may see nothing, and is that the same as no padding?"
            with shown(hint, Q=QUERIES, K=KEYS, V=VALUES, padding=padding):
                output, weights = self.attend(student, QUERIES, KEYS, VALUES, padding)
                close(weights, np.where(padding.any(axis=-1, keepdims=True), PADDED_WEIGHTS, 0), "weights")
                close(output, np.where(padding.any(axis=-1, keepdims=True), PADDED_OUTPUT, 0), "output")

    def test_padding_in_front(self, student):
        """Padding may stand in front: a padded first word finds nothing, and the words after it find each other."""
        padding = np.array([[[False, True, True]], [[False, False, True]]])
        hint = "Which place does each False stand for, and does your code look where it stands?"
        with shown(hint, Q=QUERIES, K=KEYS, V=VALUES, padding=padding):
            weights = self.attend(student, QUERIES, KEYS, VALUES, padding)[1]
            close(weights, FRONT_WEIGHTS, "weights")

    def test_two_texts(self, student):
        """Two texts at once, without padding, also after a call with padding: each has weights of its own."""
        student.causal_attention(QUERIES, KEYS, VALUES, PADDING)
        with shown("Which axes do you swap, when there are three?", "exception", "shape", Q=QUERIES, K=KEYS, V=VALUES):
            close(self.attend(student, QUERIES, KEYS, VALUES)[1], BATCH_WEIGHTS, "weights")

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each text as if it were alone."""
        with shown(AXES, "exception", "shape"):
            output, weights = self.attend(student, QUERIES[ORDER], KEYS[ORDER], VALUES[ORDER])
            close(weights, BATCH_WEIGHTS[ORDER], "weights")
            expect.shape(output, (2, 7, 3, 4), what="output")
            close(output[0, 0], TEXT_OUTPUT, "the first text's output")

    def test_long_text(self, student):
        """Seventy words of width 100: key j scores log(j + 1), so word i's output is (2 i + 3) / 3 in each unit."""
        with shown(ANY_SIZE):
            output, weights = self.attend(student, *LONG.values())
            close(output, np.outer((2 * PLACE + 1) / 3, [1, 10, 100]), "output")
            close(weights[-1], PLACE / 2485, "the last word's weights")
            expect.dtype(output, np.float64)

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large still give finite weights, and no hidden key gets any."""
        given = {"Q": 1e5 * QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("What is np.exp(1000.0), and what does a hidden score become?", **given):
            close(self.attend(student, *given.values())[1], SURE, "weights", within=1e-8)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS, Q=Q, K=K, V=V):
            keeps(student.causal_attention, Q, K, V, names="Q K V")

    def test_by_name(self, student):
        """The arguments may come by name, and `padding=None` is no padding."""
        with shown(NAMES, "exception", Q=Q, K=K, V=V):
            expect.pair(student.causal_attention(padding=None, V=V, K=K, Q=Q))
