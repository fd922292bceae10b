"""Visible tests of padding_mask, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown

from ..shared_visible_tests import NAMES


@pytest.mark.exercise("padding_mask")
class TestPaddingMask:
    def test_shape(self, student):
        """Three texts, max_length 5: shape (3, 1, 5)."""
        lengths = np.array([4, 2, 3])
        with shown(
            "How long is each row? Which axis is where the queries would be?",
            "exception",
            "shape",
            lengths=lengths,
            max_length=5,
        ):
            expect.shape(expect.array(student.padding_mask(lengths, 5)), (3, 1, 5))

    def test_three_texts(self, student):
        """Lengths 4, 2, 3: as many True in each row, from the left, and the rest False."""
        with shown(
            "True on real words, False on padding: in each row? What is compared with what?",
            lengths=[4, 2, 3],
            max_length=5,
        ):
            got = expect.array(student.padding_mask([4, 2, 3], 5))
            close(got, np.array([[[1, 1, 1, 1, 0]], [[1, 1, 0, 0, 0]], [[1, 1, 1, 0, 0]]]) == 1)
            expect.dtype(got, np.bool_)
        with shown("What does your code keep from one call to the next?", lengths=[1, 5, 2], max_length=5):
            other = expect.array(student.padding_mask([1, 5, 2], 5))
            close(other, np.array([[[1, 0, 0, 0, 0]], [[1, 1, 1, 1, 1]], [[1, 1, 0, 0, 0]]]) == 1, "after it, the mask")

    def test_one_text(self, student):
        """One text alone, max_length 3: shape (1, 1, 3)."""
        with shown("A batch of one text has how many axes?", "exception", "shape", lengths=[2], max_length=3):
            close(expect.array(student.padding_mask([2], 3)), np.array([[[1, 1, 0]]]) == 1)

    def test_full_and_empty(self, student):
        """A text of length 0 has no real word, one of max_length no padding."""
        with shown(
            "What does your code do for 0, and for max_length itself?",
            "exception",
            "shape",
            lengths=[0, 4],
            max_length=4,
        ):
            close(expect.array(student.padding_mask([0, 4], 4)), np.array([[[0, 0, 0, 0]], [[1, 1, 1, 1]]]) == 1)

    def test_nothing_real(self, student):
        """Where no text has a word, nothing is real."""
        with shown("Does a text's row depend on the other texts?", lengths=[0, 0], max_length=3):
            close(expect.array(student.padding_mask([0, 0], 3)), np.zeros((2, 1, 3), dtype=bool))

    def test_long_texts(self, student):
        """Thirty texts with 20 to 600 words, and one with 4,500: each row has as many True as its text has words."""
        lengths = np.arange(20, 620, 20)
        with shown("Which of your numbers is a size, and how far can each count?", lengths=lengths, max_length=600):
            mask = expect.array(student.padding_mask(lengths, 600))
            expect.shape(mask, (30, 1, 600))
            close(mask.sum(axis=2)[:, 0], lengths, "how many True each row has")
            close(mask[:, 0, 19], np.ones(30), "the twentieth place")
        with shown("Which of your numbers is a size?", "exception", "shape", lengths=[4500], max_length=4600):
            book = expect.array(student.padding_mask([4500], 4600))
            expect.shape(book, (1, 1, 4600))
            close(book.sum(), 4500, "how many True the row has")

    def test_call(self, student):
        """The arguments may come by name, and `lengths` stays as it is."""
        lengths = np.array([4, 2, 3])
        with shown(NAMES, "exception", lengths=lengths, max_length=5):
            expect.array(student.padding_mask(max_length=5, lengths=lengths))
        with shown("Which line writes into lengths?", lengths=lengths, max_length=5):
            expect.unchanged(student.padding_mask.inputs_after(lengths, 5)[:1], [lengths], ["lengths"])
