"""Hidden tests of induction_score."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.testing import expect

from ..shared_hidden_tests import ATOL, Scores, always_looking, weights_of


@pytest.mark.exercise("induction_score")
class TestInductionScore(Scores):
    NAME, MORE = "induction_score", (4,)

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Three heads on seven words that come again after four: an array of three numbers."""
        expect.array(student.induction_score(self.W(), 4))
        self.score(student, self.W())

    @pytest.mark.weight(1.25)
    def test_values(self, student, reference):
        """The mean weight, in the second round, on the word that stood after the same word in the first round."""
        hint = "Write down a text of three words, twice. Where does the second `b` look if it wants to know what comes?"
        for seed, h, period in ((921, 3, 4), (922, 2, 6), (923, 5, 3)):
            weights = weights_of(seed, h, 2 * period)
            wanted = reference.induction_score(weights, period)
            expect.close(self.score(student, weights, period), wanted, hint, "the score", ATOL)

    @pytest.mark.weight(0.6)
    def test_second_round_cut_short(self, student, reference):
        """The same if the text ends before the second round does."""
        hint = "How many words are in the second round: is it always `period`? Which is the last query?"
        for seed, h, L, period in ((924, 3, 7, 4), (925, 2, 8, 6), (926, 4, 6, 5)):
            weights = weights_of(seed, h, L)
            wanted = reference.induction_score(weights, period)
            expect.close(self.score(student, weights, period), wanted, hint, "the score", ATOL)

    @pytest.mark.weight(0.3)
    def test_plain_heads(self, student):
        """A head that always looks there has score 1; at the same word, or at the word before: 0."""
        self.looks_like_an_attempt(student)
        heads = np.stack([always_looking(lambda i, back=back: i - back, 10) for back in (4, 5, 1)])
        hint = "The head that copies stands at a word it has met before. Does it look at that word, or at the next one?"
        expect.close(self.score(student, heads, 5), np.array([1.0, 0.0, 0.0]), hint, "the score", ATOL)

    @pytest.mark.weight(0.4)
    def test_first_round(self, student):
        """What the words of the first round look at does not count."""
        self.does_not_count(student, slice(0, 4), "Which query is the first that has been met before?")

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Eight heads on 71 words that come again after 40; after 261, 32, 33 and two, one head and nine."""
        cases = (8, 71, 40), (1, 64, 32), (9, 35, 33), (2, 3, 2), (1, 4, 2), (1, 521, 261)
        self.at_sizes(student, reference, cases, self.test_values, self.test_second_round_cut_short)

    @pytest.mark.weight(0.2)
    def test_heads_apart(self, student):
        """A head's score hangs on that head's weights alone."""
        self.heads_apart(student)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.keeps_dtype(student)

    @pytest.mark.weight(0.35)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.keeps_arguments(student, period=4)
