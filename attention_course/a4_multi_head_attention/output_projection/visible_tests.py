"""Visible tests of output_projection, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import STAYS, drawn, each_head, keeps_float64


@pytest.mark.exercise("output_projection")
class TestOutputProjection:
    W_O = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    # Two texts, three heads, four words, d_v = 2; five numbers a word come out.
    HEADS = np.array(
        [
            [
                [[8.0, 0.0], [1.0, 2.0], [1.0, 8.0], [8.0, 5.0]],
                [[0.0, 0.0], [3.0, 4.0], [6.0, 4.0], [2.0, 1.0]],
                [[6.0, 7.0], [0.0, 1.0], [4.0, 3.0], [8.0, 5.0]],
            ],
            [
                [[4.0, 4.0], [6.0, 5.0], [1.0, 7.0], [7.0, 9.0]],
                [[7.0, 2.0], [3.0, 6.0], [6.0, 6.0], [8.0, 2.0]],
                [[9.0, 0.0], [0.0, 9.0], [9.0, 2.0], [1.0, 3.0]],
            ],
        ]
    )
    WIDE = np.array(
        [
            [1.0, 2.0, 2.0, 1.0, 2.0],
            [2.0, 2.0, -1.0, 0.0, 1.0],
            [0.0, 0.0, 1.0, 2.0, 1.0],
            [-1.0, 1.0, 2.0, -1.0, 1.0],
            [0.0, 2.0, -1.0, 0.0, 2.0],
            [0.0, -1.0, 2.0, 2.0, 2.0],
        ]
    )

    def test_one_word(self, student):
        """The example by hand: (1, 2) and (3, 4) give (4, 5, 8)."""
        heads = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
        with shown("What stands side by side, and what is it multiplied by?", heads=heads, W_O=self.W_O):
            close(expect.array(student.output_projection(heads, self.W_O)), np.array([[4.0, 5.0, 8.0]]))

    def test_two_words(self, student):
        """Two words and a square W_O: each word gets the numbers of its own heads, times the columns of W_O."""
        heads = np.array([[[1.0, 2.0], [10.0, 20.0]], [[3.0, 4.0], [30.0, 40.0]]])  # head 0, then head 1
        square = np.column_stack([self.W_O, [0.0, 0.0, 1.0, -1.0]])
        with shown(
            "The second word is ten times the first. Which numbers come together in a row?", heads=heads, W_O=square
        ):
            wanted = np.array([[4.0, 5.0, 8.0, -1.0], [40.0, 50.0, 80.0, -10.0]])
            close(expect.array(student.output_projection(heads, square)), wanted)

    def test_two_texts(self, student):
        """Two texts of four words, three heads: in a batch each gives what it gives alone."""
        wanted = np.array(
            [
                [
                    [8.0, 21.0, 24.0, 22.0, 42.0],
                    [1.0, 9.0, 13.0, 5.0, 13.0],
                    [13.0, 27.0, 10.0, 15.0, 34.0],
                    [17.0, 38.0, 17.0, 21.0, 50.0],
                ],
                [
                    [10.0, 36.0, 6.0, 16.0, 39.0],
                    [10.0, 19.0, 40.0, 24.0, 44.0],
                    [9.0, 38.0, 8.0, 11.0, 43.0],
                    [23.0, 33.0, 22.0, 27.0, 41.0],
                ],
            ]
        )
        with shown(
            "Count axes from the end: which are h, L and d_v? Is h a number in your code?",
            "exception",
            "shape",
            heads=self.HEADS,
            W_O=self.WIDE,
        ):
            close(expect.array(student.output_projection(self.HEADS, self.WIDE)), wanted)
            close(expect.array(student.output_projection(self.HEADS[0], self.WIDE)), wanted[0], "the first text alone")

    def test_two_batch_axes(self, student):
        """Two batch axes, (1, 2): the same numbers."""
        heads = self.HEADS[np.newaxis]
        with shown("How many axes may stand before (h, L, d_v)?", "exception", "shape", heads=heads, W_O=self.WIDE):
            got = expect.array(student.output_projection(heads, self.WIDE))
            expect.shape(got, (1, 2, 4, 5))
            close(got[0], expect.array(student.output_projection(self.HEADS, self.WIDE)))

    def test_many_heads(self, student):
        """Eight heads and seventy words: the sum of what each head gives with its own rows of W_O."""
        heads, W_O = drawn(1, 8, 70, 3), drawn(2, 24, 5)
        with shown(
            expect.IfOthersPass("With two heads it is right. Which number in your code is a size?"),
            "exception",
            "shape",
        ):
            rows = each_head(W_O, 8, axis=0)
            alone = [expect.array(student.output_projection(heads[i : i + 1], rows[i])) for i in range(8)]
            close(expect.array(student.output_projection(heads=heads, W_O=W_O)), sum(alone))

    def test_minus_a_third(self, student):
        """Heads times minus a third give minus a third of it, in float64 with all its digits."""
        heads = self.HEADS / -3
        with shown("Is a number rounded or lost on the way, and of which dtype is each array?", heads=heads):
            got = expect.array(student.output_projection(heads, self.WIDE))
            close(-3 * got, student.output_projection(self.HEADS, self.WIDE), "minus three times the result")
            keeps_float64(got)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS):
            keeps(student.output_projection, self.HEADS, self.WIDE, names="heads W_O")
