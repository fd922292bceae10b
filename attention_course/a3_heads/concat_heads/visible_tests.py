"""Visible tests of concat_heads, for students to read; the numbers are those of the notebook."""

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
    STAYS,
    TEXTS,
    THREE_HEADS,
    X,
)


@pytest.mark.exercise("concat_heads")
class TestConcatHeads:
    def test_two_heads(self, student):
        """Each token's numbers stand side by side again: first head 0's, then head 1's."""
        heads = np.array([HEAD_0, HEAD_1])
        with shown("The first row is the first token's: what do the two heads say about it?", heads=heads):
            close(expect.array(student.concat_heads(heads)), X)
        with shown("What does your code keep from one call to the next?", heads=-heads):
            close(expect.array(student.concat_heads(-heads)), -X)

    def test_three_heads(self, student):
        """Three heads of width two, four tokens; and three tokens."""
        with shown(
            "One row per token, and the heads' widths side by side: whose number comes third?", heads=THREE_HEADS[0]
        ):
            close(expect.array(student.concat_heads(THREE_HEADS[0])), TEXTS[0])
        with shown(AS_MANY, heads=THREE_HEADS[0, :, :3]):
            close(expect.array(student.concat_heads(THREE_HEADS[0, :, :3])), TEXTS[0, :3])

    def test_batch(self, student):
        """Two texts in a batch: each gives what it gives alone, with the batch axis in front."""
        with shown("Count axes from the end: which are h, L and d?", "exception", "shape", heads=THREE_HEADS):
            close(expect.array(student.concat_heads(THREE_HEADS)), TEXTS)
        with shown("And a batch of one?", "exception", "shape", heads=THREE_HEADS[:1]):
            close(expect.array(student.concat_heads(THREE_HEADS[:1])), TEXTS[:1])

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each text as if it were alone."""
        with shown(AXES, "exception", "shape"):
            close(expect.array(student.concat_heads(THREE_HEADS[ORDER])), TEXTS[ORDER])

    def test_one_head(self, student):
        """One head: its numbers are the whole row."""
        with shown("Does something drop an axis of length one?", "exception", "shape"):
            close(expect.array(student.concat_heads(HEAD_0[np.newaxis])), HEAD_0)

    def test_many(self, student):
        """Nine heads of width five, 600 tokens."""
        with shown(ANY_SIZE, "exception", "shape"):
            got = expect.array(student.concat_heads(NINE_HEADS))
            close(got, np.concatenate(list(NINE_HEADS), axis=1))

    def test_float32(self, student):
        """float32 gives float32, and the heads are as before."""
        with shown(STAYS, heads=THREE_HEADS[0]):
            keeps(student.concat_heads, THREE_HEADS[0], names="heads")

    def test_by_name(self, student):
        """The heads may come by name."""
        with shown(NAMES, "exception", heads=np.array([HEAD_0, HEAD_1])):
            expect.array(student.concat_heads(heads=np.array([HEAD_0, HEAD_1])))
