"""Hidden tests of offset_attention."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.properties import ANY_SIZE, responds
from ..shared_hidden_tests import ATOL, are_numbers


@pytest.mark.exercise("offset_attention")
class TestOffsetAttention:
    BACK, AHEAD = ((7, -1), (6, -2), (8, -5)), ((9, 1), (6, 2), (5, 4))  # length, offset

    def weights(self, student: Any, length: int, offset: int) -> np.ndarray:
        """The weights as numbers, for a call by position."""
        return self.numbers(student.offset_attention(length, offset), length)

    def numbers(self, got: Any, length: int) -> np.ndarray:
        """The weights as numbers. Other tests judge whether they are an array of floating numbers."""
        if isinstance(got, list) and all(are_numbers(row) and len(row) == length for row in got):
            got = np.array(got)
        got = expect.array(got)
        expect.shape(got, (length, length), "One row per query, one column per key.")
        return got.astype(float)

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless the keys that queries attend to depend on the offset."""
        responds(student.offset_attention, [7, -2], [None, -4], ["length", "offset"])
        if not self.weights(student, 7, -2).any():
            expect.fail("no query attends to anything.", "Which queries have a key at this offset?")

    def compare(
        self,
        student: Any,
        cases: tuple[tuple[int, int], ...],
        hint: str = "Take query 3: at which place stands the key that it looks at?",
    ) -> None:
        """Fails unless the rows of all queries that have a key at their offset are right."""
        for length, offset in cases:
            got = self.weights(student, length, offset)
            for query in range(max(0, -offset), min(length, length - offset)):
                expect.close(got[query], np.eye(length)[query + offset], hint, f"the row of query {query}", ATOL)

    @pytest.mark.weight(0.35)
    def test_shape(self, student):
        """For six words the weights have shape (6, 6)."""
        expect.array(student.offset_attention(6, -1))
        self.weights(student, 6, -1)

    @pytest.mark.weight(0.65)
    def test_looking_back(self, student):
        """With a negative offset a query attends to the key so many places before it, and to no other."""
        self.compare(student, self.BACK)

    @pytest.mark.weight(0.65)
    def test_looking_ahead(self, student):
        """With a positive offset a query attends to the key so many places after it, and to no other."""
        self.compare(student, self.AHEAD)

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student):
        """In a long text, near or far, a query attends to the key at its offset and to no other."""
        self.compare(student, ((70, 2), (520, -513), (67, 64)), ANY_SIZE)

    @pytest.mark.weight(0.5)
    def test_border(self, student):
        """A query with no key at its offset gets a row of zeros: as many rows as the offset is long."""
        self.looks_like_an_attempt(student)
        hint = "The key would stand outside the sentence. Is another one taken in its place?"
        for length, offset in (*self.BACK, *self.AHEAD, (4, 4), (4, -4)):
            empty = int((~self.weights(student, length, offset).any(axis=1)).sum())
            if empty != abs(offset):
                rows = {0: "no row is", 1: "1 row is"}.get(empty, f"{empty} rows are")
                expect.fail(f"{rows} all zero.", hint)

    @pytest.mark.weight(0.3)
    def test_the_word_itself(self, student):
        """Offset 0: each word attends to itself."""
        self.looks_like_an_attempt(student)
        expect.close(self.weights(student, 5, 0), np.eye(5), "Which key stands 0 places away?", atol=ATOL)

    @pytest.mark.weight(0.3)
    def test_far_outside(self, student):
        """An offset longer than the sentence, on either side: nobody attends to anything."""
        self.looks_like_an_attempt(student)
        for length, offset in ((4, 6), (4, -6), (3, 11), (5, -8), (1, 3)):
            got = self.weights(student, length, offset)
            expect.equal(got, np.zeros((length, length)), "Is there any key so far away?")

    @pytest.mark.weight(0.45)
    def test_dtype(self, student):
        """Weights are floating numbers: float64."""
        self.looks_like_an_attempt(student)
        hint = "Weights will be multiplied with values. What does == give, and which dtype has a weight?"
        expect.dtype(expect.array(student.offset_attention(5, -1)), np.float64, hint)

    @pytest.mark.weight(0.4)
    def test_keywords(self, student):
        """Arguments may come by keyword, and the offset from an array; each call makes a new array."""
        self.looks_like_an_attempt(student)
        plain = self.weights(student, 6, -2)
        by_name = self.numbers(student.offset_attention(offset=np.int64(-2), length=6), 6)
        expect.close(by_name, plain, "Which names does the first line of the stub give?", atol=ATOL)
        with contextlib.suppress(Raised):  # the caller writes into the weights, unless nobody may
            student.offset_attention.use([("fill", 7.0)], 6, -2)
        hint = "Somebody has written into the weights that your code gave before. Whose array is it?"
        expect.close(self.weights(student, 6, -2), plain, hint, atol=ATOL)
