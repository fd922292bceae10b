"""Visible tests of induction_score, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

# Two heads on five words: three words, and the first two of them again.
FIVE_WORDS = np.array(
    [
        [
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.4, 0.6, 0.0, 0.0, 0.0],
            [0.3, 0.3, 0.4, 0.0, 0.0],
            [0.1, 0.7, 0.1, 0.1, 0.0],
            [0.1, 0.1, 0.5, 0.2, 0.1],
        ],
        [
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.2, 0.8, 0.0, 0.0, 0.0],
            [0.5, 0.1, 0.4, 0.0, 0.0],
            [0.6, 0.1, 0.1, 0.2, 0.0],
            [0.1, 0.5, 0.2, 0.1, 0.1],
        ],
    ]
)


@pytest.mark.exercise("induction_score")
class TestInductionScore:
    def test_by_hand(self, student):
        """`a b c a b`, so the period is 3: the scores are 0.6 and 0.15."""
        question = "Row 3 is the second `a`. After the first `a` stood `b`: in which column? And for row 4?"
        with shown(question, weights=FIVE_WORDS, period=3):
            close(expect.array(student.induction_score(FIVE_WORDS, 3)), [0.6, 0.15])
        with shown("What does your code keep from one call to the next?", weights="the heads swapped", period=3):
            close(expect.array(student.induction_score(FIVE_WORDS[::-1].copy(), 3)), [0.15, 0.6])

    def test_two_words(self, student):
        """`a b a b`, the period is 2, the first four words of the same heads: the scores are 0.2 and 0.1."""
        weights = FIVE_WORDS[:, :4, :4].copy()
        with shown("Which rows are the second round, and which words do they need?", weights=weights, period=2):
            close(expect.array(student.induction_score(weights, 2)), [0.2, 0.1])

    def test_six_words(self, student):
        """`a b c a b c`, one head, 0.9, 0.3 and 0.3 on the words to be copied: the score is 0.5."""
        weights = np.diag([1.0, 1.0, 1.0, 0.1, 0.7, 0.7]) + np.diag([0.0, 0.9, 0.3, 0.3], -2)
        with shown("The weights add up to 1.5. By how many are they divided?", weights=weights, period=3):
            close(expect.array(student.induction_score(weights[np.newaxis], 3)), [0.5])

    def test_a_third(self, student):
        """`a b a`: the last word has a third of its weight on `b`."""
        weights = np.array([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 1 / 3, 5 / 12]]])
        with shown("How many digits does each of your steps keep?", weights=weights, period=2):
            close(expect.array(student.induction_score(weights, 2)), [1 / 3], within=1e-5)

    def test_long_text(self, student):
        """A hundred words, the period is 60; with 0.01, 0.02, ... 0.4 on the words to be copied the score is 0.205."""
        weights = np.zeros((1, 100, 100))
        weights[0, range(60, 100), range(1, 41)] = np.arange(1, 41) / 100
        weights[0, :, 0] = 1 - weights[0].sum(axis=-1)
        with shown("Short texts come out right? Then which of your numbers is a size?", "exception", period=60):
            close(expect.array(student.induction_score(weights, 60)), [0.205])

    def test_float32(self, student):
        """float32 gives float32, and the weights are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.induction_score, FIVE_WORDS, 3, names="weights period")
