"""Visible tests of masked_softmax, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import CAUSAL, STAYS

SCORES = np.array([[5.0, 9.0, 9.0], [1.0, 3.0, 9.0], [2.0, 2.0, 2.0]])
WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.1192, 0.8808, 0.0], [0.3333, 0.3333, 0.3333]])


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax:
    def test_worked_example(self, student):
        """The three words of the worked example get the weights worked out by hand."""
        with shown("Which scores take part in the sum of each row?", scores=SCORES, mask=CAUSAL):
            close(expect.array(student.masked_softmax(SCORES, CAUSAL)), WEIGHTS)

    def test_a_million_behind_the_mask(self, student):
        """A masked score of a million changes nothing."""
        scores = np.where(CAUSAL, SCORES, 1e6)
        with shown("Where does the masked score still take part?", scores=scores, mask=CAUSAL):
            close(expect.array(student.masked_softmax(scores, CAUSAL)), WEIGHTS)

    def test_minus_a_million_in_front_of_it(self, student):
        """Scores of a million, and of minus a million, are scores like any others, and so are both in one row."""
        alike = [[start + 1, start + 3, 5.0] for start in (0.0, 1e6, -1e6, -800.0, -200.0)]
        scores = np.array([*alike, [-1e6, 1e6, 5.0], [-1e3, 1.0, 5.0]])
        mask = np.array([[True, True, False]])
        with shown(
            "Which numbers go into np.exp, and is what hides a score lower than every score?", scores=scores, mask=mask
        ):
            wanted = np.array([*WEIGHTS[[1] * len(alike)], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
            close(expect.array(student.masked_softmax(scores, mask)), wanted)

    def test_nothing_allowed(self, student):
        """Where nothing is allowed, all weights are 0."""
        mask = np.array([[False, False, False]])
        with shown("What is the sum that you divide by?", scores=SCORES[:1], mask=mask):
            close(expect.array(student.masked_softmax(SCORES[:1], mask)), np.zeros((1, 3)), within=0)

    def test_padding(self, student):
        """A mask of shape (2, 1, 3) holds for every query of its text."""
        scores = np.stack([SCORES, SCORES - 4])
        mask = np.array([[[True, True, False]], [[True, False, True]]])
        wanted = np.array(
            [
                [[0.018, 0.982, 0.0], [0.1192, 0.8808, 0.0], [0.5, 0.5, 0.0]],
                [[0.018, 0.0, 0.982], [0.0003, 0.0, 0.9997], [0.5, 0.0, 0.5]],
            ]
        )
        with shown(
            "Does your code need the mask to have the shape of the scores?",
            "exception",
            "shape",
            scores=scores,
            mask=mask,
        ):
            close(expect.array(student.masked_softmax(scores, mask)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the scores are as before."""
        with shown(STAYS, scores=SCORES, mask=CAUSAL):
            keeps(student.masked_softmax, SCORES, CAUSAL, names="scores mask")
