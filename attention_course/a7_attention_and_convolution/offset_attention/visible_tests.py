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

    def test_the_word_itself(self, student):
        """Three words, offset 0: each looks at itself."""
        with shown("Which key stands no place away?", length=3, offset=0):
            close(expect.array(student.offset_attention(3, 0)), np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))

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

    def test_by_name(self, student):
        """Arguments may come by name, and the offset from an array of NumPy's."""
        with shown("Which names does the first line of the stub give?", "exception", length=4, offset=-1):
            close(expect.array(student.offset_attention(offset=np.int64(-1), length=4)), BACK)

    def test_long_text(self, student):
        """300 words, offset -270: the last thirty have a key, and it stands 270 places before them."""
        question = "Small texts come out right? Then which of your numbers is a size?"
        with shown(question, "exception", "shape", length=300, offset=-270):
            got = expect.array(student.offset_attention(300, -270))
            close(got.sum(axis=1), [0] * 270 + [1] * 30, "the sum of each row")
            for query, key in ((270, 0), (283, 13), (299, 29)):
                close(got[query, key], 1, f"the weight at row {query}, column {key}")
