"""Visible tests of summary_loss, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown


@pytest.mark.exercise("summary_loss")
class TestSummaryLoss:
    PROBABILITIES = np.array(
        [
            [
                [0.2, 0.1, 0.1, 0.5, 0.1],
                [0.1, 0.1, 0.2, 0.1, 0.5],
                [0.3, 0.1, 0.25, 0.2, 0.15],
                [0.6, 0.1, 0.1, 0.1, 0.1],
            ]
        ]
    )
    IDS, MASK = np.array([[3, 1, 4, 2]]), np.array([[False, False, True, True]])

    # Two texts of five tokens, five words; three tokens of the first count, one of the second. A 0 counts, too.
    LOGITS = np.array(
        [
            [
                [2.0, 3.0, 3.0, 0.0, 1.0],
                [3.0, 3.0, 3.0, -3.0, -1.0],
                [0.0, 1.0, -2.0, -1.0, 2.0],
                [1.0, 2.0, 1.0, -2.0, 0.0],
                [1.0, 3.0, -2.0, 0.0, 3.0],
            ],
            [
                [-1.0, 3.0, -3.0, 0.0, 2.0],
                [3.0, 0.0, -3.0, 2.0, 1.0],
                [3.0, 3.0, 3.0, -1.0, -2.0],
                [2.0, 3.0, 1.0, 3.0, 1.0],
                [1.0, -2.0, 0.0, 1.0, 0.0],
            ],
        ]
    )
    TWO_IDS = np.array([[0, 2, 3, 0, 1], [3, 1, 0, 2, 0]])
    TWO_MASKS = np.array([[False, False, True, True, True], [False, False, False, True, False]])

    def tensors(self, *arrays):
        import torch

        return [torch.from_numpy(array.copy()) for array in arrays]

    def loss(self, student, *arrays):
        return expect.tensor(student.summary_loss(*self.tensors(*arrays)))

    def test_by_hand(self, student):
        """The example by hand: (0.693 + 1.386) / 2 = 1.040."""
        logits, hint = np.log(self.PROBABILITIES), "Which row speaks of token 4, and how many tokens are counted?"
        with shown(hint, probabilities=self.PROBABILITIES, token_ids=self.IDS, loss_mask=self.MASK):
            close(self.loss(student, logits, self.IDS, self.MASK), np.array(1.0397), "the loss")

    def test_knows_nothing(self, student):
        """All five words equally likely, everywhere: log 5 = 1.609."""
        with shown("What is -log of one fifth, and what is the mean of that?", logits="zeros, (1, 4, 5)"):
            close(self.loss(student, np.zeros((1, 4, 5)), self.IDS, self.MASK), np.array(1.6094), "the loss")

    def test_two_texts(self, student):
        """Two texts, with three tokens that count and with one: each of the four has the same say."""
        given = {"logits": self.LOGITS, "token_ids": self.TWO_IDS, "loss_mask": self.TWO_MASKS}
        with shown("By how many tokens is the sum divided, and is it one mean or a mean of means?", **given):
            close(self.loss(student, *given.values()), np.array(2.8252), "the loss")

    def test_long_text(self, student):
        """A text of 150 tokens, of which only the last one counts: it had the probability 0.5."""
        logits, ids, mask = np.zeros((1, 150, 4)), np.zeros((1, 150), dtype=int), np.zeros((1, 150), dtype=bool)
        logits[0, 148], ids[0, 149], mask[0, 149] = np.log([0.1, 0.2, 0.5, 0.2]), 2, True
        with shown("Right for short texts? Which number in your code is a size?", token_ids="150 tokens"):
            close(self.loss(student, logits, ids, mask), np.array(0.6931), "the loss")

    def test_large_logits(self, student):
        """Logits a thousand times as large still give a finite loss."""
        given = {"logits": 1000 * self.LOGITS, "token_ids": self.TWO_IDS, "loss_mask": self.TWO_MASKS}
        with shown("What is the exp of 1000, and which function takes logits as they are?", **given):
            close(self.loss(student, *given.values()), np.array(2000.5493), "the loss")

    def test_gradient_and_dtype(self, student):
        """A gradient reaches the logits, float32 gives float32, and what went in is as before."""
        import torch

        given = self.tensors(self.LOGITS, self.TWO_IDS, self.TWO_MASKS)
        with shown("Which line lets go of a gradient, makes another dtype, or writes into what came in?"):
            seed = torch.tensor(2.0, dtype=torch.float64)
            arrives(student.summary_loss.gradients(*given, seeds=[seed]).inputs[:1], "logits")
            expect.dtype(student.summary_loss(*given), np.float64)
            keeps(student.summary_loss, *given, names="logits token_ids loss_mask")
