"""Hidden tests of padding_mask."""

import contextlib

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.properties import ANY_SIZE, responds
from ..shared_hidden_tests import BY_NAME, TRUTH, loosely


@pytest.mark.exercise("padding_mask")
class TestPaddingMask:
    LENGTHS = np.array([4, 2, 5])
    MAX_LENGTH = 7

    def rows(self, got, texts, max_length, narrow=False):
        """The mask as (B, max_length). Lists and axes of length one fail tests of their own.

        narrow: accept a mask with too few places, because another test judges its width
        """
        got = loosely(got)
        if narrow and got.size < texts * max_length and got.size % texts == 0:
            max_length = got.size // texts
        longer = [[n for n in shape if n > 1] for shape in (got.shape, (texts, max_length))]
        if longer[0] != longer[1]:
            expect.shape(got, (texts, 1, max_length))
        return got.reshape(texts, max_length)

    def looks_like_a_mask(self, student):
        """Fails unless other lengths give another mask, with two kinds of entries, both of them in each row."""
        ask = lambda *args: loosely(student.padding_mask(*args))  # noqa: E731
        responds(ask, [self.LENGTHS, self.MAX_LENGTH], [np.array([3, 6, 1])], ["lengths"])
        got = ask(self.LENGTHS, self.MAX_LENGTH)
        # If a mask is as wide as the longest text, that text's row has one kind of entry only.
        if len(np.unique(got)) != 2 or sum(len(np.unique(row)) == 2 for row in got) < 2:
            expect.fail("each entry should say yes or no, and no text here is without words or without padding.")

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Three texts and a max_length of 7 give a mask of shape (3, 1, 7)."""
        hint = "Scores have the axes text, query, key. Which of them does this mask have, and where is the other one?"
        expect.shape(expect.array(student.padding_mask(self.LENGTHS, self.MAX_LENGTH)), (3, 1, 7), hint)

    @pytest.mark.weight(1.2)
    def test_values(self, student, reference):
        """True on the real words of each text, False on its padding."""
        hint = "Take a text of two words: which places hold a word, and which is the first that does not?"
        for lengths, max_length in (
            (self.LENGTHS, 7),
            (np.array([1, 3, 5, 2]), 5),
        ):
            wanted = reference.padding_mask(lengths, max_length)[:, 0]
            got = self.rows(student.padding_mask(lengths, max_length), len(lengths), max_length, narrow=True)
            expect.equal(got, wanted[:, : max(got.shape[1], lengths.max())], hint)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Many texts, long ones, and a place for one word alone."""
        for lengths, max_length in (
            (np.tile(self.LENGTHS, 11), 8),
            (100 * self.LENGTHS, 800),
            (np.array([5003]), 5100),
            (np.array([0]), 1),
        ):
            wanted = reference.padding_mask(lengths, max_length)[:, 0]
            got = self.rows(student.padding_mask(lengths, max_length), len(lengths), max_length)
            expect.equal(got, wanted, ANY_SIZE)

    @pytest.mark.weight(0.3)
    def test_goes_with_scores(self, student):
        """The mask broadcasts to scores of shape (B, L, S), each text's row for all of its queries."""
        self.looks_like_a_mask(student)
        got = loosely(student.padding_mask(self.LENGTHS, self.MAX_LENGTH))
        rows = self.rows(got, 3, 7)
        hint = "Broadcasting lines axes up from the right. Which axis of the scores does each axis of the mask meet?"
        try:
            full = np.broadcast_to(got, (3, 4, 7))
        except ValueError:
            expect.fail(f"a mask of shape {got.shape} does not go with scores of shape (3, 4, 7).", hint)
        expect.equal(full, np.repeat(rows[:, None, :], 4, axis=1), hint)

    @pytest.mark.weight(0.2)
    def test_list(self, student):
        """`lengths` may be a list, or an array of any integer type, whatever numbers the type holds."""
        self.looks_like_a_mask(student)
        lengths = np.array([4, 0, 5])
        hint = "Which is the smallest number of this type, which the largest, and which ones does your code make of it?"
        for given, max_length, question in (
            (self.LENGTHS.tolist(), 7, "What turns a list into an array?"),
            (lengths.astype(np.int32), 7, hint),
            (lengths.astype(np.uint8), 7, hint),  # 0 - 1 is 255
            (lengths.astype(np.int8), 200, hint),  # the type ends at 127
            (lengths.astype(np.uint8), 300, hint),
        ):
            plain = np.array(given, dtype=np.int64)
            rows = self.rows(student.padding_mask(plain, max_length), 3, max_length, narrow=True)
            try:
                got = student.padding_mask(given, max_length)
            except Raised as error:
                # NumPy itself refuses 200 - np.int8(4), in code that is right for any other type.
                if max_length > 100 and "OverflowError" in error.types:
                    continue
                raise
            what = f"the mask for lengths of type {'list' if isinstance(given, list) else given.dtype}"
            expect.equal(self.rows(got, 3, max_length, narrow=True), rows, question, what)

    @pytest.mark.weight(0.2)
    def test_edges(self, student):
        """A text without a word has one answer everywhere, one without padding the other, whatever is beside it."""
        self.looks_like_a_mask(student)
        rows = self.rows(student.padding_mask(np.array([6, 0, 3]), 6), 3, 6)
        hint = "What does the code do when there is nothing to fill, or nothing but padding?"
        for row, length in ((0, 6), (1, 0)):
            if not np.all(rows[row] == rows[row, 0]):
                expect.fail(f"with max_length=6 and a text of length {length}, not all entries are the same.", hint)
        if rows[0, 0] == rows[1, 0]:
            expect.fail("with max_length=6, texts of length 0 and 6 have the same mask.", hint)
        for row, length in ((0, 6), (1, 0)):
            alike = self.rows(student.padding_mask(np.array([length] * 3), 6), 3, 6, narrow=True)
            if not np.all(alike == rows[row, 0]):
                text = f"with max_length=6, a text of length {length} has one mask among texts of other lengths"
                expect.fail(f"{text}, and another one among texts that all have length {length}.", hint)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """The mask holds truth values."""
        self.looks_like_a_mask(student)
        got = expect.array(student.padding_mask(self.LENGTHS, self.MAX_LENGTH))
        expect.dtype(got, np.bool_, TRUTH)

    @pytest.mark.weight(0.2)
    def test_one_text(self, student):
        """A batch of one text is still a batch, with that text's row."""
        self.looks_like_a_mask(student)
        batch, alone = student.padding_mask(self.LENGTHS, 7), student.padding_mask(self.LENGTHS[1:2], 7)
        hint = "Which axes may not disappear?"
        if loosely(alone).ndim != loosely(batch).ndim:
            expect.fail(f"the mask has shape {loosely(alone).shape}.", hint)
        expect.equal(self.rows(alone, 1, 7), self.rows(batch, 3, 7)[1:2], hint)

    @pytest.mark.weight(0.15)
    def test_call(self, student):
        """The arguments may be given by name, and `lengths` is not changed."""
        self.looks_like_a_mask(student)
        first = self.rows(student.padding_mask(self.LENGTHS, 7), 3, 7, narrow=True)
        again = self.rows(student.padding_mask(max_length=7, lengths=self.LENGTHS), 3, 7, narrow=True)
        expect.equal(again, first, BY_NAME)
        expect.unchanged(student.padding_mask.inputs_after(self.LENGTHS, 7)[:1], [self.LENGTHS], ["lengths"])
        with contextlib.suppress(Raised):  # code that takes no list loses points in `test_list`
            if student.padding_mask.inputs_after(self.LENGTHS.tolist(), 7)[0] != self.LENGTHS.tolist():
                expect.fail("lengths, a list, holds other numbers after the call than before.", "What changes a list?")
