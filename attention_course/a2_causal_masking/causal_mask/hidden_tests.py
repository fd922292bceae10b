"""Hidden tests of causal_mask."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.properties import WRITTEN, written_between
from ..shared_hidden_tests import BY_NAME, TRUTH, loosely


@pytest.mark.exercise("causal_mask")
class TestCausalMask:
    def square(self, got, length):
        """The mask as (length, length). Lists and leading axes of length one fail tests of their own."""
        got = loosely(got)
        if got.shape[-2:] != (length, length) or got.size != length * length:
            expect.shape(got, (length, length))
        return got.reshape(length, length)

    def looks_like_a_mask(self, student):
        """Fails unless some places are allowed and some are not, depending on the distance from query to key."""
        got = self.square(student.causal_mask(4), 4)
        diagonals = [np.diagonal(got, offset) for offset in range(-3, 4)]
        # One diagonal may differ: the tests of values judge that.
        if sum(np.any(d != d[0]) for d in diagonals) > 1 or np.all(got == got[0, 0]):
            expect.fail("whether a query may attend to a key should depend on which of them comes first.")

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """A mask for 5 words has one row per query and one column per key: shape (5, 5)."""
        expect.shape(expect.array(student.causal_mask(5)), (5, 5))

    @pytest.mark.weight(1.55)
    def test_values(self, student, reference):
        """Query i may attend to keys 0 to i, itself included, and to no later one."""
        hint = "Take the word of that row: at which ones may it look? Is that what the row says?"
        for length in (4, 7, 2):
            expect.equal(self.square(student.causal_mask(length), length), reference.causal_mask(length), hint)

    @pytest.mark.weight(0.4)
    def test_dtype(self, student):
        """The mask holds truth values."""
        self.looks_like_a_mask(student)
        expect.dtype(expect.array(student.causal_mask(4)), np.bool_, TRUTH)

    @pytest.mark.weight(0.3)
    def test_shorter_text(self, student):
        """The mask of a shorter text, even of one word, is a corner of that of a longer one."""
        self.looks_like_a_mask(student)
        whole = self.square(student.causal_mask(6), 6)
        hint = "Does a longer text change who may see whom?"
        for length in (3, 1):
            expect.equal(self.square(student.causal_mask(length), length), whole[:length, :length], hint)

    @pytest.mark.weight(0.4)
    def test_longer_text(self, student):
        """In a longer text, too, the way from query to key alone decides."""
        self.looks_like_a_mask(student)
        short = self.square(student.causal_mask(6), 6)
        by_distance = np.array([*short[5], *short[0, 1:]])  # from five places before to five places after
        for length in (11, 64, 520):  # 520: more than a byte counts, and more than a table of 512 has
            place = np.arange(length)
            way = np.clip(place - place[:, None], -5, 5)
            whole = self.square(student.causal_mask(length), length)
            expect.equal(whole, by_distance[way + 5], "Is your mask made for any length?")

    @pytest.mark.weight(0.15)
    def test_call(self, student):
        """The length may be given by name, and what one does with a mask changes no other."""
        self.looks_like_a_mask(student)
        first = self.square(student.causal_mask(5), 5)
        expect.equal(self.square(student.causal_mask(length=5), 5), first, BY_NAME)
        wanted = loosely(student.causal_mask(17))
        write, undo = (("__setitem__", (2, 1), seen) for seen in (False, True))
        got = written_between(student.causal_mask, [23], write, undo, [17])
        expect.equal(loosely(got), wanted, WRITTEN, "after somebody wrote into another mask, the result")
