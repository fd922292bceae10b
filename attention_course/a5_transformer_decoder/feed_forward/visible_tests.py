"""Visible tests of feed_forward, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import STAYS, keeps_float64


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

    def test_seventy_hidden_numbers(self, student):
        """Seventy hidden numbers, 3, 4, 5, ... 72: the output is their sum, and the first of them."""
        W_1, b_1 = np.ones((2, 70)), np.arange(70.0)
        W_2 = np.stack([np.ones(70), np.eye(70)[0]], axis=1)  # (70, 2)
        with shown("What becomes of a large hidden number, and of the last ones?", "exception", "shape", x=[1, 2]):
            got = expect.array(student.feed_forward(np.array([1.0, 2.0]), W_1, b_1, W_2, np.zeros(2)))
            close(got, [2625.0, 3.0])

    def test_square_layers(self, student):
        """As many hidden numbers as d_model, two axes in front: (1, 2) becomes (3, 10) everywhere."""
        W_1, W_2 = np.array([[1.0, 3.0], [0.0, 1.0]]), np.array([[3.0, 0.0], [0.0, 2.0]])
        x = np.tile([1.0, 2.0], (1, 3, 4, 1))
        with shown(
            "Which axis of W_1 meets the features of x?", "exception", "shape", x="(1, 2) for each word", W_1=W_1
        ):
            got = expect.array(student.feed_forward(x, W_1, np.zeros(2), W_2, np.zeros(2)))
            close(got, np.tile([3.0, 10.0], (1, 3, 4, 1)))

    def test_float32(self, student):
        """float32 gives float32, float64 keeps its digits, and what went in is as before."""
        with shown(STAYS):
            x = np.array([1.0, 2.0])
            keeps(student.feed_forward, x, *self.LAYERS.values(), names="x W_1 b_1 W_2 b_2")
            keeps_float64(expect.array(student.feed_forward(x / 3, *self.LAYERS.values())))
