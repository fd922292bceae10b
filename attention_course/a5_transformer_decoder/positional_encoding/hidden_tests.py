"""Hidden tests of positional_encoding."""

import contextlib

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.properties import WRITTEN, responds, written_between
from ..shared_hidden_tests import ATOL, BY_NAME


def loosely(got):
    """`got` as numbers, whether array, tensor or list of rows."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)


@pytest.mark.exercise("positional_encoding")
class TestPositionalEncoding:
    # Float64 or float32 is not judged, because neither the arguments nor the exercise say which.
    def encode(self, student, length, d_model):
        """The encoding, finite and in the right shape. One test judges that it is an array."""
        got = loosely(student.positional_encoding(length, d_model))
        expect.shape(got, (length, d_model), "One row a position, as wide as the model.")
        expect.finite(got)
        return got

    def part(self, student, length, d_model):
        """The encoding, and the rows and columns that it has: some may be missing at the end."""
        got = loosely(student.positional_encoding(length, d_model))
        if got.ndim != 2 or not all(
            wanted / 2 <= n <= wanted for n, wanted in zip(got.shape, (length, d_model), strict=True)
        ):
            expect.shape(got, (length, d_model), "One row a position, as wide as the model.")
        expect.finite(got)
        return got, tuple(map(slice, got.shape))

    def looks_like_encoding(self, student):
        """Fails unless numbers are from -1 to 1, positions differ, and the result depends on the width."""
        ask = lambda *args: self.encode(student, *args)[:, :8]  # noqa: E731
        responds(ask, [6, 12], [None, 8], ["length", "d_model"])
        got = ask(6, 12)
        if np.abs(got).max() > 1 + ATOL:
            expect.fail("there is a number below -1 or above 1.", "What values do sines and cosines have?")
        if any(np.allclose(got[i], got[j], atol=1e-6) for i in range(6) for j in range(i)):
            expect.fail("two positions have the same row.", "What should differ between them?")

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """Seven positions and d_model = 12 give an array of shape (7, 12)."""
        expect.shape(expect.array(student.positional_encoding(7, 12)), (7, 12))

    @pytest.mark.weight(1.5)
    def test_values(self, student, reference):
        """Sines in the even columns, cosines in the odd ones, and each pair at the angle of the formula."""
        hint = "Do position 1 by hand for d_model = 4, column by column: which angle, and a sine or a cosine?"
        for length, d_model in ((7, 12), (9, 6), (3, 4)):
            got, there = self.part(student, length, d_model)
            expect.close(got, reference.positional_encoding(length, d_model)[there], hint, atol=ATOL)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Three hundred positions and 5003, a width of 96, and the smallest table there is."""
        hint = expect.IfOthersPass(
            "With a few positions another test judges this. Is there a size in your code as a number?"
        )
        for length, d_model in ((300, 6), (96, 96), (65, 33), (2, 1), (1, 2)):
            got = self.encode(student, length, d_model)
            expect.close(got, reference.positional_encoding(length, d_model), hint, atol=ATOL)
        # The docstring asks for angles in float64. In float32, those of 125 in the third column are off by 0.00001.
        got, wanted = self.encode(student, 5003, 5), reference.positional_encoding(5003, 5)
        expect.close(got, wanted, hint, atol=ATOL)
        expect.close(got, wanted, "Which dtype have your angles?", "for large positions, the result", 1e-6)

    @pytest.mark.weight(0.3)
    def test_odd_width(self, student):
        """An odd d_model works: all columns are filled, and the first wave is the same as ever."""
        self.looks_like_encoding(student)
        hint = "With d_model = 7, how many sines are there, and how many cosines?"
        for d_model in (7, 3):
            got = self.encode(student, 5, d_model)
            expect.close(got[:, 0], self.encode(student, 5, 8)[:, 0], hint, "column 0", ATOL)
            # With twice the width, every second wave is the same, because 2i / d is 4i / 2d. That is true for any base.
            twice = self.encode(student, 5, 2 * d_model)[:, ::4]
            expect.close(got[:, ::2], twice, "By which width is the exponent divided?", "the even columns", ATOL)
            if any(np.ptp(column) == 0 for column in got.T):
                expect.fail("a column is the same for all positions.", hint)

    @pytest.mark.weight(0.3)
    def test_shorter(self, student):
        """A shorter text, even of one position, has the first rows of a longer one."""
        self.looks_like_encoding(student)
        whole = self.encode(student, 9, 10)
        for length in (4, 1):
            hint = "Does a position's row depend on how many come after it?"
            expect.close(self.encode(student, length, 10), whole[:length], hint, atol=ATOL)

    @pytest.mark.weight(0.3)
    def test_call(self, student):
        """The arguments may be given by name, and what one does with a table changes no other."""
        self.looks_like_encoding(student)
        by_name = loosely(student.positional_encoding(d_model=10, length=5))
        expect.close(by_name, self.encode(student, 5, 10), BY_NAME)
        wanted = self.encode(student, 17, 12)
        write, undo = (("__setitem__", (0, 1), number) for number in (9.0, 1.0))
        got = loosely(written_between(student.positional_encoding, [23, 12], write, undo, [17, 12]))
        expect.close(got, wanted, WRITTEN, "after somebody wrote into another table, the result")
