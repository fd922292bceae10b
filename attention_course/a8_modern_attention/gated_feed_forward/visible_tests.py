"""Visible tests of gated_feed_forward, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import waves

HALF_OPEN = [[2.2586, -1.58], [1.083, -0.7153]]


@pytest.mark.exercise("gated_feed_forward")
class TestGatedFeedForward:
    X = np.array([1.0, 2.0])
    WEIGHTS = (
        np.array([[0.0, 10.0, 1.0], [0.0, 0.0, -6.0]]),
        np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]),
        np.array([[1.0, 0.0], [0.1, 0.0], [0.0, 1.0]]),
    )
    OTHERS = (2 * waves(1.1, 2, 3), 2 * waves(1.3, 2, 3), waves(1.7, 3, 2))

    def judge(self, student, wanted, x, weights):
        given = dict(zip(("x", "W_gate", "W_up", "W_down"), (x, *weights), strict=True))
        with shown("What does the gate let through of each number, and through what does the gate go?", **given):
            close(expect.array(student.gated_feed_forward(x, *weights)), np.array(wanted))

    def test_by_hand(self, student):
        """The example by hand: (1, 2), with one gate open and two shut."""
        self.judge(student, [2.9999, -0.0009], self.X, self.WEIGHTS)

    def test_half_open(self, student):
        """Two words, and gates that are half open."""
        self.judge(student, HALF_OPEN, np.array([[1.0, 2.0], [-1.0, 0.5]]), self.OTHERS)

    def test_open(self, student):
        """The example by hand with a word ten times as large: the gate lets 100 through, and 30 times as much."""
        self.judge(student, [300.0, 0.0], 10 * self.X, self.WEIGHTS)

    def test_square(self, student):
        """The two words, with d_ff as large as d_model."""
        W_gate, W_up, W_down = self.OTHERS
        weights = W_gate[:, :2], W_up[:, :2], W_down[:2]
        self.judge(student, [[0.8629, -0.3567], [0.3082, -0.0362]], np.array([[1.0, 2.0], [-1.0, 0.5]]), weights)

    def test_far_open(self, student):
        """Words a thousand times as large give finite numbers."""
        with shown("Which of the two, np.exp(1000.0) or np.exp(-1000.0), is too large for a number?"):
            expect.finite(student.gated_feed_forward(1000 * self.X, *self.WEIGHTS))

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and does one write into an old one?"):
            keeps(student.gated_feed_forward, self.X, *self.OTHERS, names="x W_gate W_up W_down")
