"""Visible tests of positional_encoding, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown


@pytest.mark.exercise("positional_encoding")
class TestPositionalEncoding:
    def test_first_positions(self, student):
        """The example by hand: three positions, d_model = 4."""
        with shown("Which columns are sines, and which angle has each pair?", length=3, d_model=4):
            close(
                expect.array(student.positional_encoding(3, 4)),
                np.array([[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0], [0.9093, -0.4161, 0.02, 0.9998]]),
            )

    def test_many_columns(self, student):
        """Two positions, d_model = 6: three pairs, and each has a speed of its own."""
        with shown("What is the exponent of the last pair, and does it depend on d_model?", length=2, d_model=6):
            close(
                expect.array(student.positional_encoding(2, 6)),
                np.array([[0.0, 1.0, 0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0464, 0.9989, 0.0022, 1.0]]),
            )

    def test_odd_width(self, student):
        """With d_model = 3, the last column is a sine without its cosine; with d_model = 1 it is all there is."""
        with shown("How many sines are there, and how many cosines?", "exception", "shape", length=2, d_model=3):
            odd = expect.array(student.positional_encoding(2, 3))
            expect.shape(odd, (2, 3))
            one = expect.array(student.positional_encoding(2, 1))
            expect.shape(one, (2, 1))
        with shown(
            "By what is the exponent of the last column divided: by d_model as it came in?", length=2, d_model=3
        ):
            close(odd, [[0.0, 1.0, 0.0], [0.8415, 0.5403, 0.0022]])
            close(one, [[0.0], [0.8415]], "with d_model = 1 the result")

    def test_far_position(self, student):
        """The last of 300 positions, d_model = 3: the slow sine has moved, too."""
        with shown("Which angle has the last pair at position 299?", "exception", "shape", length=300, d_model=3):
            far = expect.array(student.positional_encoding(300, 3))
            expect.shape(far, (300, 3))
            close(far[-1], [-0.5216, -0.8532, 0.6005], "the last row")

    def test_a_book(self, student):
        """The last of 4,500 positions, d_model = 3, and with d_model = 16 to seven digits."""
        with shown("How many rows has your table?", "exception", "shape", length=4500, d_model=3):
            book = expect.array(student.positional_encoding(4500, 3))
            expect.shape(book, (4500, 3))
            close(book[-1], [0.24, 0.97, -0.26], "the last row", within=0.01)
        with shown("Which dtype have your angles?", "exception", "shape", length=4500, d_model=16):
            book = expect.array(student.positional_encoding(4500, 16))
            expect.shape(book, (4500, 16))
            off = float(np.abs(book[-1, 2:4] - [0.419371390, -0.907814759]).max())
            if off > 1e-6:
                expect.fail(f"in the last row, column 2 or 3 is off by {off:.7f}, more than in float64.")
