"""Visible tests of split_heads, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import (
    ANY_SIZE,
    AS_MANY,
    AXES,
    HEAD_0,
    HEAD_1,
    NAMES,
    NINE_HEADS,
    ORDER,
    SEVENTY,
    STAYS,
    TEXTS,
    THREE_HEADS,
    X,
)


@pytest.mark.exercise("split_heads")
class TestSplitHeads:
    def test_two_heads(self, student):
        """Six columns, two heads: head 0 has the first three of each token, head 1 the last three."""
        with shown(
            "Which numbers of the second token belong to head 0, and which columns are head 1's?", X=X, num_heads=2
        ):
            close(expect.array(student.split_heads(X, 2)), np.array([HEAD_0, HEAD_1]))

    def test_three_heads(self, student):
        """Four tokens, six columns, three heads: each has two columns of every token. And with three tokens."""
        with shown("First the heads, then the tokens: which columns are head 2's?", X=TEXTS[0], num_heads=3):
            close(expect.array(student.split_heads(TEXTS[0], 3)), THREE_HEADS[0])
        with shown(AS_MANY, X=TEXTS[0, :3], num_heads=3):
            close(expect.array(student.split_heads(TEXTS[0, :3], 3)), THREE_HEADS[0, :, :3])

    def test_batch(self, student):
        """Two texts in a batch: each gives what it gives alone, with the batch axis in front."""
        with shown("Count axes from the end: which are L and d_model?", "exception", "shape", X=TEXTS, num_heads=3):
            close(expect.array(student.split_heads(TEXTS, 3)), THREE_HEADS)
        with shown("And a batch of one?", "exception", "shape", X=TEXTS[:1], num_heads=3):
            close(expect.array(student.split_heads(TEXTS[:1], 3)), THREE_HEADS[:1])

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each text as if it were alone."""
        with shown(AXES, "exception", "shape"):
            close(expect.array(student.split_heads(TEXTS[ORDER], 3)), THREE_HEADS[ORDER])

    def test_one_head(self, student):
        """One head: all columns are its own, and its axis stays. And as many heads as columns."""
        with shown("Does something drop an axis of length one?", "exception", "shape"):
            close(expect.array(student.split_heads(X, 1)), X[np.newaxis])
        with shown("Six columns make six heads. When do they not come out even?", "exception", "shape"):
            close(expect.array(student.split_heads(X, 6)), X.T[:, :, np.newaxis])

    def test_many(self, student):
        """Seventy tokens of 96 columns: of eight heads, head i begins with column 12 i; nine of width five."""
        with shown(ANY_SIZE, "exception", "shape"):
            got = expect.array(student.split_heads(SEVENTY, 8))
            expect.shape(got, (8, 70, 12))
            close(got[:, :, 0], SEVENTY[:, ::12].T, "each head's first column")
            close(got[:, :, 11], SEVENTY[:, 11::12].T, "each head's last column")
            words = np.concatenate(list(NINE_HEADS), axis=1)
            close(expect.array(student.split_heads(words, 9)), NINE_HEADS)

    def test_does_not_divide(self, student):
        """Six columns cannot make four heads: a ValueError."""
        with shown("How many columns would be left over?"):
            expect.raises(ValueError, lambda: student.split_heads(X, 4))

    def test_float32(self, student):
        """float32 gives float32, and X is as before."""
        with shown(STAYS, X=X, num_heads=2):
            keeps(student.split_heads, X, 2, names="X num_heads")

    def test_by_name(self, student):
        """The arguments may come by name."""
        with shown(NAMES, "exception", X=X, num_heads=2):
            expect.array(student.split_heads(num_heads=2, X=X))
