"""Visible tests of masked_softmax, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import ANY_SIZE, AXES, CAUSAL, FIRST_NAN, NAMES, ORDER, PLACE, STAYS

SCORES = np.array([[5.0, 9.0, 9.0], [1.0, 3.0, 9.0], [2.0, 2.0, 2.0]])
WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.1192, 0.8808, 0.0], [0.3333, 0.3333, 0.3333]])


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax:
    def test_worked_example(self, student):
        """The three words of the worked example get the weights worked out by hand."""
        with shown(FIRST_NAN, scores=SCORES, mask=CAUSAL):
            got = expect.array(student.masked_softmax(SCORES, CAUSAL))
            expect.finite(got)
        with shown("Which scores take part in the sum of each row?", scores=SCORES, mask=CAUSAL):
            close(got, WEIGHTS)
        with shown("A masked weight is exactly 0. What is left of the masked score in yours?"):
            close(got[~CAUSAL], np.zeros(3), "the masked weights", within=0)

    def test_first_key_hidden(self, student):
        """A mask may hide any key, also the first, and a score of 0 is one like any other."""
        scores = np.array([[9.0, 0.0, 2.0, 0.0], [0.0, 2.0, 9.0, 0.0]])
        mask = np.array([[False, True, True, False], [True, True, False, True]])
        with shown("How does your code know what is hidden: from the mask only?", scores=scores, mask=mask):
            wanted = np.array([[0.0, 0.1192, 0.8808, 0.0], [0.1065, 0.787, 0.0, 0.1065]])
            close(expect.array(student.masked_softmax(scores, mask)), wanted)

    def test_a_million_behind_the_mask(self, student):
        """A masked score of a million changes nothing."""
        scores = np.where(CAUSAL, SCORES, 1e6)
        with shown("Which numbers go into np.exp here, and what comes out of it?", scores=scores, mask=CAUSAL):
            got = expect.array(student.masked_softmax(scores, CAUSAL))
            expect.finite(got)
        with shown(
            "Where does the masked score still take part, and what is np.exp of it?", scores=scores, mask=CAUSAL
        ):
            close(got, WEIGHTS)

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
        with shown(
            "Follow this row: what do its scores become, and what is the sum that you divide by?",
            scores=SCORES[:1],
            mask=mask,
        ):
            close(expect.array(student.masked_softmax(SCORES[:1], mask)), np.zeros((1, 3)), within=0)
        mask = np.array([[True, True, False], [False, False, False], [True, True, True]])
        with shown("Does an empty row change the rows beside it?", scores=SCORES, mask=mask):
            wanted = np.array([[0.018, 0.982, 0.0], [0.0, 0.0, 0.0], [0.3333, 0.3333, 0.3333]])
            close(expect.array(student.masked_softmax(SCORES, mask)), wanted)

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

    def test_two_batch_axes(self, student):
        """Two batches of seven texts, each text with its own mask."""
        scores, mask = np.stack([SCORES, SCORES - 4]), np.array([[[True, True, False]], [[True, False, True]]])
        wanted = np.array([[0.018, 0.982, 0.0], [0.018, 0.0, 0.982]])
        with shown(AXES, "exception", "shape"):
            got = expect.array(student.masked_softmax(scores[ORDER], mask[ORDER]))
            expect.shape(got, (2, 7, 3, 3))
            close(got[:, :, 0], wanted[ORDER], "the weights of each first word")

    def test_long_texts(self, student):
        """Seventy queries and as many keys: key j scores log(j + 1), so its weight is (j + 1) / 2485."""
        scores, mask = np.tile([*np.log(PLACE), 9.0], (70, 1)), np.array([[True] * 70 + [False]])
        with shown(ANY_SIZE):
            close(expect.array(student.masked_softmax(scores, mask)), np.tile([*PLACE / 2485, 0.0], (70, 1)))

    def test_many_digits(self, student):
        """Scores log 1, log 2 and log 4 give 1/7, 2/7 and 4/7 to eight digits, and a score of -30 next to nothing."""
        scores, mask = np.array([[*np.log([1.0, 2.0, 4.0]), -30.0, 9.0]]), np.array([[True] * 4 + [False]])
        with shown("Is anything rounded, or computed in fewer digits than those of scores?", "dtype", scores=scores):
            got = expect.array(student.masked_softmax(scores, mask))
            close(1e4 * got, np.array([[1e4 / 7, 2e4 / 7, 4e4 / 7, 0.0, 0.0]]), "10,000 times the result")
            expect.dtype(got, np.float64)
        with shown("Is anything added below the fraction bar?", scores=scores):
            close(100 * (got.sum(axis=-1) - 1), np.zeros(1), "a hundred times (sum of the row - 1)")

    def test_float32(self, student):
        """float32 gives float32, and the scores are as before."""
        with shown(STAYS, scores=SCORES, mask=CAUSAL):
            keeps(student.masked_softmax, SCORES, CAUSAL, names="scores mask")

    def test_by_name(self, student):
        """The arguments may come by name."""
        with shown(NAMES, "exception", scores=SCORES, mask=CAUSAL):
            expect.array(student.masked_softmax(mask=CAUSAL, scores=SCORES))
