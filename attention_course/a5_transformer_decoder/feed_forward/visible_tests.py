"""Visible tests of feed_forward, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import STAYS


@pytest.mark.exercise("feed_forward")
class TestFeedForward:
    W_1, b_1 = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]), np.array([-3.0, 0.0, 1.0])
    W_2, b_2 = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.5, -1.0])
    LAYERS = {"W_1": W_1, "b_1": b_1, "W_2": W_2, "b_2": b_2}

    def test_one_word(self, student):
        """The example by hand: (1, 2) becomes (2.5, 4)."""
        x = np.array([1.0, 2.0])
        with shown(
            "By hand: the first layer with its bias, what the ReLU leaves of it, the second layer. Which step differs?",
            x=x,
            **self.LAYERS,
        ):
            close(expect.array(student.feed_forward(x, *self.LAYERS.values())), np.array([2.5, 4.0]))

    def test_four_words(self, student):
        """Four words: each goes through on its own, and the last one ends below zero."""
        x = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5], [0.0, -1.0]])
        wanted = np.array([[2.5, 4.0], [0.5, 5.0], [1.0, 0.5], [0.5, -1.0]])
        with shown("Is a result below zero lost?", x=x, **self.LAYERS):
            close(expect.array(student.feed_forward(x, *self.LAYERS.values())), wanted)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS):
            x = np.array([1.0, 2.0])
            keeps(student.feed_forward, x, *self.LAYERS.values(), names="x W_1 b_1 W_2 b_2")
