"""Hidden tests of sliding_window_mask."""

import contextlib

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.properties import ANY_SIZE, holds_in
from ..shared_hidden_tests import BY_NAME, loosely


@pytest.mark.exercise("sliding_window_mask")
class TestSlidingWindowMask:
    def mask(self, student, length, *args, **more):
        """The mask as True and False. One test judges that it holds bools."""
        got = loosely(student.sliding_window_mask(length, *args, **more))
        expect.shape(got, (length, length), "One row per query, one column per key.")
        return got.astype(bool)

    def looks_like_a_mask(self, student):
        """Fails unless some places are allowed and some are not. The tests of values judge the window."""
        got = self.mask(student, 8, 3)
        if got.all() or not got.any():
            expect.fail("all may attend to all, or nobody to anybody.", "Whom does word 5 see through a window of 3?")

    def compare(self, student, reference, hint, *cases):
        for case in cases:
            wanted = reference.sliding_window_mask(*case)
            got = self.mask(student, *case)
            wrong = np.argwhere(got != wanted)
            if len(wrong):
                i, j = wrong[0]
                verb = "may" if got[i, j] else "may not"
                expect.fail(f"query {i} {verb} attend to key {j}.", hint, got=got)

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """A mask for 6 words has one row per query and one column per key: shape (6, 6)."""
        expect.shape(expect.array(student.sliding_window_mask(6, 2)), (6, 6))

    @pytest.mark.weight(0.6)
    def test_window(self, student, reference):
        """Without sinks: a word sees the last `window` words, itself among them, and none that comes later."""
        hint = "Count the words that word 5 sees: how many, and is it one of them?"
        self.compare(student, reference, hint, (8, 3), (7, 4), (9, 2), (5, 5))

    @pytest.mark.weight(0.45)
    def test_sinks(self, student, reference):
        """With sinks: the first words, too, for everyone who comes after them."""
        hint = "Which words does the last word see, and may word 0 see a sink that comes later?"
        self.compare(student, reference, hint, (10, 2, 4), (9, 3, 2), (8, 2, 1))

    @pytest.mark.weight(0.1)
    def test_wide_window(self, student):
        """A window that is longer than the text is like one as long as the text."""
        self.looks_like_a_mask(student)
        hint = "How many words are there before word 2, and what if the window has room for more?"
        for length, window in ((5, 9), (7, 70)):
            expect.equal(self.mask(student, length, window), self.mask(student, length, length), hint)

    @pytest.mark.weight(0.1)
    def test_window_of_one(self, student, reference):
        """A window of 1: each word sees only itself."""
        self.looks_like_a_mask(student)
        got, plain = self.mask(student, 6, 1), holds_in(student, reference, self.test_window)
        if plain:
            expect.equal(got, np.eye(6, dtype=bool), "Which word does a window of 1 hold?")

    @pytest.mark.weight(0.1)
    def test_many_sinks(self, student, reference):
        """More sinks than words: all that came before are seen."""
        self.looks_like_a_mask(student)
        plain = holds_in(student, reference, self.test_window, self.test_sinks)
        for length, sinks in ((5, 5), (4, 7)):
            got = self.mask(student, length, 2, sinks)
            if plain:
                expect.equal(got, np.tri(length, dtype=bool), "If all words are sinks, whom does a word see?")

    @pytest.mark.weight(0.2)
    def test_real_sizes(self, student, reference):
        """71 words, 521, 64, two words and one, through windows of 300, 64, 33 and 1, with up to 260 sinks."""
        self.looks_like_a_mask(student)
        windows, sinks = (holds_in(student, reference, test) for test in (self.test_window, self.test_sinks))
        without = (71, 33), (64, 16), (33, 64), (270, 9), (2, 1), (1, 1)
        for case in (*without, (71, 16, 9), (521, 300, 260), (64, 8, 16), (2, 1, 1), (1, 1, 1)):
            got, wanted = self.mask(student, *case), reference.sliding_window_mask(*case)
            if windows and (sinks or case in without):
                expect.equal(got, wanted, ANY_SIZE, "the mask")

    @pytest.mark.weight(0.1)
    def test_shorter(self, student):
        """The mask of a shorter text is the corner of a longer one's."""
        self.looks_like_a_mask(student)
        whole = self.mask(student, 9, 3, 1)
        for length in (5, 1):
            hint = "Does whom a word sees depend on how many come after it?"
            expect.equal(self.mask(student, length, 3, 1), whole[:length, :length], hint)

    @pytest.mark.weight(0.15)
    def test_dtype(self, student):
        """The mask is of True and False: dtype bool."""
        self.looks_like_a_mask(student)
        expect.dtype(expect.array(student.sliding_window_mask(6, 2, 1)), np.bool_, "What does ~ make of the number 1?")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword, without sinks there are none, and each call makes a new array."""
        self.looks_like_a_mask(student)
        by_name = self.mask_by_name(student)
        expect.equal(by_name, self.mask(student, 7, 3, 0), BY_NAME)
        expect.equal(self.mask(student, 7, 3), by_name, "How many sinks does the first line of the stub give?")
        with contextlib.suppress(Raised):  # the caller writes into a mask, unless nobody may
            student.sliding_window_mask.use([("fill", True)], 7, 3)
        hint = "Somebody has written into the mask that your code gave before. Whose array is it?"
        expect.equal(self.mask(student, 7, 3), by_name, hint)

    def mask_by_name(self, student):
        return loosely(student.sliding_window_mask(sinks=0, window=3, length=7)).astype(bool)
