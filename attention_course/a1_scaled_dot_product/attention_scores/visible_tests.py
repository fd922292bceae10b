"""Visible tests of attention_scores, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import ANY_SIZE, AXES, KEYS, NAMES, ORDER, PLACE, QUERIES, STAYS, K, Q

SCORES = np.array([[1.0, 3.0, 2.0]])
ALL_SCORES = np.array(
    [
        [[0.8944, 3.1305, 0.4472, 0.0], [-0.4472, -2.6833, -0.4472, -0.8944], [-1.7889, 1.7889, 0.4472, -0.4472]],
        [[1.3416, 1.3416, 2.6833, 2.2361], [0.4472, 1.7889, 2.6833, 0.4472], [0.0, -0.4472, 1.7889, 2.6833]],
    ]
)


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    def test_worked_example(self, student):
        """The worked example: one query, three keys, scores 1, 3 and 2."""
        with shown("The dot products are 2, 6 and 4. What comes next?", Q=Q, K=K):
            close(expect.array(student.attention_scores(Q, K)), SCORES)

    def test_three_queries(self, student):
        """Three queries and four keys of width five: twelve scores, one row per query."""
        hint = "One row per query, one column per key: which products are they, and what divides them, and how?"
        with shown(hint, Q=QUERIES[0], K=KEYS[0]):
            close(expect.array(student.attention_scores(QUERIES[0], KEYS[0])), ALL_SCORES[0])

    def test_two_texts(self, student):
        """Two texts at once, (2, 3, 4): each text's queries meet its own keys."""
        hint = "Is one text alone right? Then: which axes and sizes does your code count from the front?"
        with shown(hint, "exception", "shape", Q=QUERIES, K=KEYS):
            close(expect.array(student.attention_scores(QUERIES, KEYS)), ALL_SCORES)

    def test_two_batch_axes(self, student):
        """Two batches of seven texts, (2, 7, 3, 4): each text as if it were alone."""
        with shown(AXES, "exception", "shape"):
            close(expect.array(student.attention_scores(QUERIES[ORDER], KEYS[ORDER])), ALL_SCORES[ORDER])

    def test_square_keys(self, student):
        """Three keys of width three: the columns of the scores are still keys."""
        Q = np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
        K = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [4.0, 0.0, 1.0]])
        with shown("Row or column: where is the second key, and what are the products divided by?", Q=Q, K=K):
            wanted = np.array([[1.7321, 0.0, 6.9282], [3.4641, 1.7321, 0.0]])
            close(expect.array(student.attention_scores(Q, K)), wanted)

    def test_large_scores(self, student):
        """A query 10,000 times as large has scores 10,000 times as large."""
        with shown("Is anything cut off or made smaller on the way?", Q=1e4 * Q, K=K):
            close(expect.array(student.attention_scores(1e4 * Q, K)), 1e4 * SCORES)

    def test_long_texts(self, student):
        """Seventy queries and 71 keys of width 100: query i times key j is i * j, divided by 10."""
        queries, keys = np.outer(PLACE[:70], np.full(100, 0.01)), np.outer(PLACE, np.ones(100))
        with shown(ANY_SIZE):
            got = expect.array(student.attention_scores(queries, keys))
            close(got, np.outer(PLACE[:70], PLACE) / 10)
            expect.dtype(got, np.float64)

    def test_float32(self, student):
        """float32 gives float32, and queries and keys are as before."""
        with shown(STAYS, Q=Q, K=K):
            keeps(student.attention_scores, Q, K, names="Q K")

    def test_by_name(self, student):
        """The arguments may come by name."""
        with shown(NAMES, "exception", Q=Q, K=K):
            expect.array(student.attention_scores(K=K, Q=Q))
