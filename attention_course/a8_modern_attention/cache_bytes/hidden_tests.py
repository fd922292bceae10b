"""Hidden tests of cache_bytes."""

import numpy as np
import pytest

from autograder.testing import expect

from ..shared_hidden_tests import BY_NAME


@pytest.mark.exercise("cache_bytes")
class TestCacheBytes:
    NAMES = ("num_layers", "num_kv_heads", "d_head", "length", "bytes_per_number")

    def count(self, got):
        """The number of bytes. One test judges that it is an int."""
        if isinstance(got, bool) or not isinstance(got, int | float | np.integer | np.floating):
            expect.fail(f"returned {expect.kind_of(got)}, not an int.")
        return float(got)

    def looks_like_an_attempt(self, student):
        """Fails unless the answer changes with at least two of layers, heads, width and words: each ten times."""
        few, *more = [
            self.count(student.cache_bytes(*[n * (10 if i == place else 1) for i, n in enumerate((2, 3, 4, 5))], 3))
            for place in (None, 0, 1, 2, 3)
        ]
        if few <= 0 or sum(many != few for many in more) < 2:
            expect.fail("the count is the same with other numbers, or none at all.", "What is it made from?")

    def compare(self, student, reference, hint, *cases):
        for case in cases:
            got = self.count(student.cache_bytes(*case))
            if got != reference.cache_bytes(*case):
                expect.fail(f"counted {got:,.0f} bytes.", hint, got=got)

    @pytest.mark.weight(0.5)
    def test_values(self, student, reference):
        """Keys and values, of each layer, head and word, at 3 bytes a number, or 1; also if there is one of each."""
        hint = "Count the keys first: of how many layers, heads and words, and how wide is each?"
        self.compare(
            student,
            reference,
            hint,
            (2, 3, 7, 11, 3),
            (32, 8, 128, 128_000, 1),
            (5, 1, 9, 64, 3),
            (1, 1, 1, 1, 1),
        )

    @pytest.mark.weight(0.2)
    def test_two_bytes(self, student):
        """Without bytes_per_number it is 2, as in float16."""
        self.looks_like_an_attempt(student)
        hint = "How many bytes does the first line of the stub give a number?"
        for case in ((2, 3, 7, 11), (6, 5, 8, 3)):
            plain, two = self.count(student.cache_bytes(*case)), self.count(student.cache_bytes(*case, 2))
            if plain != two:
                expect.fail(f"counted {plain:,.0f} bytes, and {two:,.0f} with bytes_per_number = 2.", hint)

    @pytest.mark.weight(0.15)
    def test_twice(self, student):
        """Twice as many layers, heads, words or bytes, or twice the width: twice the cache."""
        self.looks_like_an_attempt(student)
        before = self.count(student.cache_bytes(3, 5, 7, 11, 2))
        for place, name in enumerate(self.NAMES):
            case = [number * (2 if i == place else 1) for i, number in enumerate((3, 5, 7, 11, 2))]
            after = self.count(student.cache_bytes(*case))
            if after != 2 * before:
                expect.fail(f"with twice the {name}, {after:,.0f} bytes follow on {before:,.0f}.", "Should it double?")

    @pytest.mark.weight(0.1)
    def test_int(self, student):
        """The answer is an int, exact to the last byte."""
        self.looks_like_an_attempt(student)
        got = student.cache_bytes(2, 3, 4, 5)
        if not isinstance(got, int):
            hint = "Is there a half of a byte anywhere? And how large may NumPy's integers be?"
            expect.fail(f"returned {expect.kind_of(got)}, not an int.", hint)
        # No loop counts the bytes of a number; one over words would never end.
        few, twice, many = (student.cache_bytes(3, 5, 7, 11, size) for size in (1, 2, 10**15 + 1))
        if twice == 2 * few and many != few * (10**15 + 1):  # other tests judge how it grows
            expect.fail(f"counted {many:,.0f} bytes.", "How many digits does your count keep?")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword."""
        self.looks_like_an_attempt(student)
        plain = self.count(student.cache_bytes(2, 3, 4, 5, 4))
        by_name = dict(reversed(list(zip(self.NAMES, (2, 3, 4, 5, 4), strict=True))))
        if self.count(student.cache_bytes(**by_name)) != plain:
            expect.fail("returned something different when the arguments were passed by name.", BY_NAME)
