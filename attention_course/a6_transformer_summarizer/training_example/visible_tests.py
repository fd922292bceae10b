"""Visible tests of training_example, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import equal, expect, shown

from ..shared_visible_tests import unchanged


@pytest.mark.exercise("training_example")
class TestTrainingExample:
    def parts(self, student, *args):
        return expect.pair(student.training_example(*args), "(token_ids, loss_mask)")

    def test_token_ids(self, student):
        """The example by hand: 11 12 13, the separator 1, 14 15, the end 2."""
        given = {"article_ids": [11, 12, 13], "summary_ids": [14, 15], "separator_id": 1, "end_id": 2}
        with shown("Compare it with the second line of the table: what differs?", **given):
            equal(self.parts(student, *given.values())[0], [11, 12, 13, 1, 14, 15, 2], "token_ids")
        given |= {"article_ids": [21, 16, 24], "summary_ids": [18, 21]}
        with shown("What does your code keep from one call to the next?", **given):
            equal(self.parts(student, *given.values())[0], [21, 16, 24, 1, 18, 21, 2], "token_ids")

    def test_loss_mask(self, student):
        """The example by hand: four times False, three times True."""
        given = {"article_ids": [11, 12, 13], "summary_ids": [14, 15], "separator_id": 1, "end_id": 2}
        with shown("Compare it with the last line of the table: what differs?", **given):
            mask = self.parts(student, *given.values())[1]
            equal(mask, [False] * 4 + [True] * 3, "loss_mask")
            if not all(isinstance(one, bool | np.bool_) for one in mask):
                expect.fail(f"loss_mask holds {expect.kind_of(mask[0])}, not True and False.", symptom="kind")

    def test_a_word_in_both(self, student):
        """Words of the summary, id 0, and the end's id may stand in the article, too; there they do not count."""
        given = {"article_ids": [0, 2, 15, 0], "summary_ids": [15, 0], "separator_id": 1, "end_id": 2}
        with shown("Does a token count for what it is, or for where it stands?", **given):
            ids, mask = self.parts(student, *given.values())
            equal(ids, [0, 2, 15, 0, 1, 15, 0, 2], "token_ids")
            equal(mask, [False] * 5 + [True] * 3, "loss_mask")

    def test_many_words(self, student):
        """An article of 90 words and a summary of 40."""
        article, summary = list(range(100, 190)), list(range(301, 341))
        with shown("Right for a few words? Which number in your code is a size?", article="90 words"):
            ids, mask = self.parts(student, article, summary, 1, 2)
            equal(ids, [*article, 1, *summary, 2], "token_ids")
            equal(mask, [False] * 91 + [True] * 41, "loss_mask")

    def test_nothing_to_say(self, student):
        """An empty summary has its end, and an empty article its separator."""
        with shown("Which two tokens are always there?", article_ids=[7, 8], summary_ids=[], separator_id=3, end_id=5):
            equal(self.parts(student, [7, 8], [], 3, 5), ([7, 8, 3, 5], [False] * 3 + [True]), "the pair")
            equal(self.parts(student, [], [9], 3, 5), ([3, 9, 5], [False, True, True]), "without an article the pair")

    def test_lists_left_alone(self, student):
        """The lists that came in are as before."""
        given = {"article_ids": [11, 12, 13], "summary_ids": [14, 15], "separator_id": 1, "end_id": 2}
        with shown("Which line makes a list longer, and is it a list of your own?", **given):
            after = student.training_example.inputs_after([11, 12, 13], [14, 15], 1, 2)
            unchanged(after[0], [11, 12, 13], "article_ids")
            unchanged(after[1], [14, 15], "summary_ids")
