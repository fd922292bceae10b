"""Visible tests of split_heads, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import HEAD_0, HEAD_1, STAYS, TEXTS, THREE_HEADS, X


@pytest.mark.exercise("split_heads")
class TestSplitHeads:
    def test_two_heads(self, student):
        """Six columns, two heads: head 0 has the first three of each token, head 1 the last three."""
        with shown(
            "Which numbers of the second token belong to head 0, and which columns are head 1's?", X=X, num_heads=2
        ):
            close(expect.array(student.split_heads(X, 2)), np.array([HEAD_0, HEAD_1]))

    def test_three_heads(self, student):
        """Four tokens, six columns, three heads: each has two columns of every token."""
        with shown("First the heads, then the tokens: which columns are head 2's?", X=TEXTS[0], num_heads=3):
            close(expect.array(student.split_heads(TEXTS[0], 3)), THREE_HEADS[0])

    def test_batch(self, student):
        """Two texts in a batch: each gives what it gives alone, with the batch axis in front."""
        with shown("Count axes from the end: which are L and d_model?", "exception", "shape", X=TEXTS, num_heads=3):
            close(expect.array(student.split_heads(TEXTS, 3)), THREE_HEADS)
        with shown("And a batch of one?", "exception", "shape", X=TEXTS[:1], num_heads=3):
            close(expect.array(student.split_heads(TEXTS[:1], 3)), THREE_HEADS[:1])

    def test_does_not_divide(self, student):
        """Six columns make no four heads: a ValueError."""
        with shown("How many columns would be left over?"):
            expect.raises(ValueError, lambda: student.split_heads(X, 4))

    def test_float32(self, student):
        """float32 gives float32, and X is as before."""
        with shown(STAYS, X=X, num_heads=2):
            keeps(student.split_heads, X, 2, names="X num_heads")
