"""Hidden tests of previous_token_score."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.testing import expect

from ..shared_hidden_tests import ATOL, Scores, always_looking, weights_of


@pytest.mark.exercise("previous_token_score")
class TestPreviousTokenScore(Scores):
    NAME = "previous_token_score"

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Three heads on seven words: an array of three numbers."""
        expect.array(student.previous_token_score(self.W()))
        self.score(student, self.W())

    @pytest.mark.weight(1.35)
    def test_values(self, student, reference):
        """A head's score is the mean weight that a word puts on the word before it."""
        hint = "Take one head of four words by hand: which weights are on the word before, and how many are there?"
        for seed, h, L in ((911, 3, 7), (912, 2, 9), (913, 5, 4)):
            weights = weights_of(seed, h, L)
            wanted = reference.previous_token_score(weights)
            expect.close(self.score(student, weights), wanted, hint, "the score", ATOL)

    @pytest.mark.weight(0.25)
    def test_plain_heads(self, student):
        """A head that always looks at the word before has score 1, one that looks two words back, or at itself, 0."""
        self.looks_like_an_attempt(student)
        heads = np.stack([always_looking(lambda i, back=back: i - back, 8) for back in (1, 0, 3)])
        heads[2, :4] = np.eye(8)[:4]  # the first four have no word that far back, and look at themselves
        hint = "How many words have a word before them? By how many do you divide?"
        expect.close(self.score(student, heads), np.array([1.0, 0.0, 0.0]), hint, "the score", ATOL)

    @pytest.mark.weight(0.3)
    def test_first_word(self, student):
        """What the first word looks at does not count."""
        self.does_not_count(student, slice(0, 1), "Which word stands before the first? Where does index -1 lead to?")

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Eight heads on 71 words; 521 words, 64 and two, one head and nine."""
        self.at_sizes(student, reference, ((8, 71), (1, 64), (9, 2), (2, 33), (1, 521)), self.test_values)

    @pytest.mark.weight(0.2)
    def test_heads_apart(self, student):
        """A head's score hangs on that head's weights alone."""
        self.heads_apart(student)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.keeps_dtype(student)

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """The weights may come by keyword and with any layout in memory, and are not changed."""
        self.keeps_arguments(student)
