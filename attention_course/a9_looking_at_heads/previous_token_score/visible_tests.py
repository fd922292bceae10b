"""Visible tests of previous_token_score, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

# Two heads on four words. The first looks at the word before with 0.8, 0.6 and 0.4 of its weight.
FOUR_WORDS = np.array(
    [
        [[1.0, 0.0, 0.0, 0.0], [0.8, 0.2, 0.0, 0.0], [0.1, 0.6, 0.3, 0.0], [0.2, 0.1, 0.4, 0.3]],
        [[1.0, 0.0, 0.0, 0.0], [0.3, 0.7, 0.0, 0.0], [0.5, 0.2, 0.3, 0.0], [0.1, 0.2, 0.1, 0.6]],
    ]
)


@pytest.mark.exercise("previous_token_score")
class TestPreviousTokenScore:
    def test_by_hand(self, student):
        """Two heads on four words: the scores are 0.6 and 0.2."""
        question = "Which weights have rows 1, 2 and 3 of a head in the word before's column? What is their mean?"
        with shown(question, weights=FOUR_WORDS):
            close(expect.array(student.previous_token_score(FOUR_WORDS)), [0.6, 0.2])
        with shown("What does your code keep from one call to the next?", weights="the heads swapped"):
            close(expect.array(student.previous_token_score(FOUR_WORDS[::-1].copy())), [0.2, 0.6])

    def test_three_words(self, student):
        """The same heads on the first three words: the scores are 0.7 and 0.25."""
        weights = FOUR_WORDS[:, :3, :3].copy()
        with shown("How many of three words have a word before them?", weights=weights):
            close(expect.array(student.previous_token_score(weights)), [0.7, 0.25])

    def test_five_words(self, student):
        """A head on five words that looks at the word before with 0.9, 0.1, 0.2 and 0.2: the score is 0.35."""
        weights = np.diag([1.0, 0.1, 0.9, 0.8, 0.8]) + np.diag([0.9, 0.1, 0.2, 0.2], -1)
        with shown("The weights add up to 1.4. By how many are they divided?", weights=weights):
            close(expect.array(student.previous_token_score(weights[np.newaxis])), [0.35])

    def test_a_third(self, student):
        """Two words, and a third of the weight on the word before."""
        weights = np.array([[[1.0, 0.0], [1 / 3, 2 / 3]]])
        with shown("How many digits does each of your steps keep?", weights=weights):
            close(expect.array(student.previous_token_score(weights)), [1 / 3], within=1e-5)

    def test_long_text(self, student):
        """A hundred and one words, with 0.001, 0.002, ... 0.1 on the word before: the score is 0.0505."""
        before = np.arange(101) / 1000
        weights = np.diag(1 - before) + np.diag(before[1:], -1)
        with shown("Short texts come out right? Then which of your numbers is a size?", "exception"):
            close(expect.array(student.previous_token_score(weights[np.newaxis])), [0.0505])

    def test_float32(self, student):
        """float32 gives float32, and the weights are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.previous_token_score, FOUR_WORDS, names="weights")
