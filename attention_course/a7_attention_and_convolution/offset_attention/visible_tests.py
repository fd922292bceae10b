"""Visible tests of offset_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown

BACK = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])


@pytest.mark.exercise("offset_attention")
class TestOffsetAttention:
    def test_one_word_back(self, student):
        """Four words, offset -1: each looks at the word before it, and the first at nothing."""
        with shown("Row i is the query: in which column does its one key stand?", length=4, offset=-1):
            got = expect.array(student.offset_attention(4, -1))
            close(got, BACK)
            expect.dtype(got, np.float64)

    def test_two_words_ahead(self, student):
        """Three words, offset 2: the first looks at the third, the others at nothing."""
        wanted = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        with shown("Which word stands two places after the second one?", length=3, offset=2):
            close(expect.array(student.offset_attention(3, 2)), wanted)

    def test_too_far(self, student):
        """Three words, offset 3 or -4: there is no such key, and every row is zeros."""
        for offset in (3, -4):
            with shown("Which words stand that far away?", length=3, offset=offset):
                close(expect.array(student.offset_attention(3, offset)), np.zeros((3, 3)))
