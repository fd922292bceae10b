"""Visible tests of padding_mask, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown


@pytest.mark.exercise("padding_mask")
class TestPaddingMask:
    def test_shape(self, student):
        """Three texts, max_length 5: shape (3, 1, 5)."""
        lengths = np.array([4, 2, 3])
        with shown("Which axis is where the queries would be?", "exception", "shape", lengths=lengths, max_length=5):
            expect.shape(expect.array(student.padding_mask(lengths, 5)), (3, 1, 5))

    def test_three_texts(self, student):
        """Lengths 4, 2, 3: as many True in each row, from the left, and the rest False."""
        with shown(
            "True on real words, False on padding: what is compared with what?", lengths=[4, 2, 3], max_length=5
        ):
            got = expect.array(student.padding_mask([4, 2, 3], 5))
            close(got, np.array([[[1, 1, 1, 1, 0]], [[1, 1, 0, 0, 0]], [[1, 1, 1, 0, 0]]]) == 1)
            expect.dtype(got, np.bool_)

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
