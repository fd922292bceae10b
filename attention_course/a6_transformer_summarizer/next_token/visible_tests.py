"""Visible tests of next_token, for students to read; the numbers are those of the notebook."""

import pytest

from autograder.testing import equal, expect, shown

from ..shared_visible_tests import ADDING, adding, counting, unchanged


@pytest.mark.exercise("next_token")
class TestNextToken:
    def token(self, student, model, ids):
        got = student.next_token(model, ids)
        if isinstance(got, bool) or not isinstance(got, int):
            expect.fail(f"returned {expect.kind_of(got)}, not an int.", symptom="kind")
        return got

    def test_counting(self, student):
        """The model counts: after [4, 7] comes 8."""
        with shown(
            "Which row of the picture above speaks of what follows the 7, and is the answer an int?", token_ids=[4, 7]
        ):
            equal(self.token(student, counting(), [4, 7]), 8, "the next token")

    def test_from_nine_to_zero(self, student):
        """After [3, 1, 9] comes 0."""
        with shown(
            "The text has three tokens. How many rows of logits are there?", "exception", "shape", token_ids=[3, 1, 9]
        ):
            equal(self.token(student, counting(), [3, 1, 9]), 0, "the next token")

    def test_twice_the_same(self, student):
        """After [4, 4] comes 5."""
        with shown("Over which axis is the largest one sought: over the words, or over the places?", token_ids=[4, 4]):
            equal(self.token(student, counting(), [4, 4]), 5, "the next token")

    def test_not_sure(self, student):
        """A model that is not sure, with the probability 0.12 for 9 after [4, 8]: the likeliest is still 9."""
        with shown("Is the word drawn, or is it the likeliest one? Can it be the last id?", token_ids=[4, 8]):
            for _ in range(3):
                equal(self.token(student, counting(sure=0.2), [4, 8]), 9, "the next token")

    def test_adding(self, student):
        """A model that adds up all it reads: after [4, 7, 5] comes 6, though every logit is far below zero."""
        hint = "Does the model get to read every token, and is it the largest logit that you take?"
        with shown(hint, model=ADDING, token_ids=[4, 7, 5]):
            equal(self.token(student, adding(), [4, 7, 5]), 6, "the next token")

    def test_list_left_alone(self, student):
        """The list of ids is as before."""
        with shown("Which line makes a list longer, and is it a list of your own?", token_ids=[4, 7]):
            unchanged(student.next_token.inputs_after(counting(), [4, 7])[1], [4, 7], "token_ids")
