"""Visible tests of per_head_weights, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import ANY_SIZE, NAMES, NINE_HEADS, SEVENTY, STAYS

W = np.array(
    [
        [11.0, 12.0, 13.0, 14.0, 15.0, 16.0],
        [21.0, 22.0, 23.0, 24.0, 25.0, 26.0],
        [31.0, 32.0, 33.0, 34.0, 35.0, 36.0],
        [41.0, 42.0, 43.0, 44.0, 45.0, 46.0],
        [51.0, 52.0, 53.0, 54.0, 55.0, 56.0],
    ]
)  # 32: third row, second column


@pytest.mark.exercise("per_head_weights")
class TestPerHeadWeights:
    def test_two_heads(self, student):
        """Two heads: head 0 owns the first three columns of W, head 1 the last three."""
        with shown("First the heads; each has as many rows as W. Which columns are whose?", W=W, num_heads=2):
            got = expect.array(student.per_head_weights(W, 2), "Can the heads' weights be made into one array?")
            close(
                got,
                np.array(
                    [
                        [
                            [11.0, 12.0, 13.0],
                            [21.0, 22.0, 23.0],
                            [31.0, 32.0, 33.0],
                            [41.0, 42.0, 43.0],
                            [51.0, 52.0, 53.0],
                        ],
                        [
                            [14.0, 15.0, 16.0],
                            [24.0, 25.0, 26.0],
                            [34.0, 35.0, 36.0],
                            [44.0, 45.0, 46.0],
                            [54.0, 55.0, 56.0],
                        ],
                    ]
                ),
            )

    def test_three_heads(self, student):
        """Six columns, three heads: each has weights of shape (5, 2)."""
        with shown("First the heads; each has as many rows as W. Which columns are whose?", W=W, num_heads=3):
            close(
                expect.array(student.per_head_weights(W, 3)),
                np.array(
                    [
                        [[11.0, 12.0], [21.0, 22.0], [31.0, 32.0], [41.0, 42.0], [51.0, 52.0]],
                        [[13.0, 14.0], [23.0, 24.0], [33.0, 34.0], [43.0, 44.0], [53.0, 54.0]],
                        [[15.0, 16.0], [25.0, 26.0], [35.0, 36.0], [45.0, 46.0], [55.0, 56.0]],
                    ]
                ),
            )

    def test_one_head(self, student):
        """One head: all columns are its own, and its axis stays."""
        with shown("Does something drop an axis of length one?", "exception", "shape"):
            close(expect.array(student.per_head_weights(W, 1)), W[np.newaxis])

    def test_many(self, student):
        """Seventy rows of 96 columns: of eight heads, head i begins with column 12 i. And 600 rows for nine heads."""
        with shown(ANY_SIZE, "exception", "shape"):
            got = expect.array(student.per_head_weights(SEVENTY, 8))
            expect.shape(got, (8, 70, 12))
            close(got[:, :, 0], SEVENTY[:, ::12].T, "each head's first column")
            close(got[:, :, 11], SEVENTY[:, 11::12].T, "each head's last column")
            close(expect.array(student.per_head_weights(np.concatenate(list(NINE_HEADS), axis=1), 9)), NINE_HEADS)

    def test_float32(self, student):
        """float32 gives float32, and W is as before."""
        with shown(STAYS, W=W, num_heads=2):
            keeps(student.per_head_weights, W, 2, names="W num_heads")

    def test_by_name(self, student):
        """The arguments may come by name."""
        with shown(NAMES, "exception", W=W, num_heads=2):
            expect.array(student.per_head_weights(num_heads=2, W=W))
