"""Visible checks of a6. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.judging import expect


def counting():
    """The notebook's own example of a model: after token i comes token i + 1; after 9 comes 0."""
    import torch.nn as nn  # here, since checks of assignments without PyTorch read this file, too
    import torch.nn.functional as F

    class Counting(nn.Module):
        def forward(self, token_ids):
            return 5.0 * F.one_hot((token_ids + 1) % 10, 10).float()

        def __repr__(self):
            return "counting"

    return Counting()


def listed(got, what):
    """`got`, which is a list."""
    if not isinstance(got, list):
        expect.fail(f"{what}: this is {expect.kind_of(got)}, where a list belongs.")
    return got


@pytest.mark.exercise("training_example")
class TestTrainingExample:
    def parts(self, student):
        got = expect.pair(student.training_example([11, 12, 13], [14, 15], 1, 2), "(token_ids, loss_mask)")
        return listed(got[0], "token_ids"), listed(got[1], "loss_mask")

    def test_token_ids(self, student):
        """The example by hand: 11 12 13, the separator 1, 14 15, the end 2."""
        ids, _ = self.parts(student)
        if ids != [11, 12, 13, 1, 14, 15, 2]:
            expect.fail(f"token_ids is {ids}.", "Compare it with the second line of the table.")

    def test_loss_mask(self, student):
        """The example by hand: four times False, three times True."""
        _, mask = self.parts(student)
        if mask != [False] * 4 + [True] * 3:
            expect.fail(f"loss_mask is {mask}.", "Compare it with the last line of the table.")


@pytest.mark.exercise("summary_loss")
class TestSummaryLoss:
    PROBABILITIES = np.array([[[0.1, 0.8, 0.1], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.6, 0.2, 0.2]]])
    IDS, MASK = np.array([[0, 1, 2, 1]]), np.array([[False, False, True, True]])

    def loss(self, student, logits):
        import torch

        tensors = (torch.from_numpy(part.copy()) for part in (logits, self.IDS, self.MASK))
        return expect.tensor(student.summary_loss(*tensors))

    def test_by_hand(self, student):
        """The example by hand: (0.693 + 1.386) / 2 = 1.040."""
        hint = "Which row of probabilities speaks of token 2, and how many tokens are counted?"
        expect.close(self.loss(student, np.log(self.PROBABILITIES)), np.array(1.0397), hint, "the loss", atol=1e-3)

    def test_knows_nothing(self, student):
        """All three words equally likely, everywhere: log 3 = 1.099."""
        hint = "What is -log of one third, and what is the mean of that?"
        expect.close(self.loss(student, np.zeros((1, 4, 3))), np.array(1.0986), hint, "the loss", atol=1e-3)


@pytest.mark.exercise("next_token")
class TestNextToken:
    def test_counting(self, student):
        """The model counts: after [4, 7] comes 8."""
        got = student.next_token(counting(), [4, 7])
        if isinstance(got, bool) or not isinstance(got, int):
            expect.fail(f"gave back {expect.kind_of(got)}, not an int.", "How do you get the number out of a tensor?")
        if got != 8:
            expect.fail(f"gave back {got}.", "Which row of the picture above speaks of what follows the 7?")

    def test_from_nine_to_zero(self, student):
        """After [3, 1, 9] comes 0."""
        got = student.next_token(counting(), [3, 1, 9])
        if got != 0:
            what = got if isinstance(got, int) else expect.kind_of(got)
            expect.fail(f"gave back {what}.", "The text has three tokens. How many rows of logits are there?")


@pytest.mark.exercise("greedy_summary")
class TestGreedySummary:
    def test_counting(self, student):
        """Article [4, 2], separator 5, end 9: the summary is [6, 7, 8]."""
        got = listed(student.greedy_summary(counting(), [4, 2], 5, 9, 20), "the summary")
        if got != [6, 7, 8]:
            expect.fail(f"gave back {got}.", "Compare it with the table: what is read, what is said, what is kept?")

    def test_at_most_two(self, student):
        """The same with max_new_tokens=2: [6, 7]."""
        got = listed(student.greedy_summary(counting(), [4, 2], 5, 9, 2), "the summary")
        if got != [6, 7]:
            expect.fail(f"gave back {got}.", "How often may your loop go round?")

    def test_nothing_to_say(self, student):
        """Article [3], separator 8, end 9: the first word would be the end, so the summary is empty."""
        got = listed(student.greedy_summary(counting(), [3], 8, 9, 20), "the summary")
        if got:
            expect.fail(f"gave back {got}.", "Is the end a word of the summary?")
