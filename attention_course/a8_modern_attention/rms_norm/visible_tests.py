"""Visible tests of rms_norm, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown


@pytest.mark.exercise("rms_norm")
class TestRmsNorm:
    X, GAMMA = np.array([1.0, 3.0, 5.0, 7.0]), np.array([2.0, 2.0, 1.0, 1.0])

    def test_by_hand(self, student):
        """The example by hand: (1, 3, 5, 7) with gamma (2, 2, 1, 1)."""
        with shown("What is the mean of the squares, and what is divided by its root?", x=self.X, gamma=self.GAMMA):
            close(expect.array(student.rms_norm(self.X, self.GAMMA)), np.array([0.4364, 1.3093, 1.0911, 1.5275]))
        with shown("What does your code keep from one call to the next?", x=-self.X, gamma=self.GAMMA):
            close(expect.array(student.rms_norm(-self.X, self.GAMMA)), [-0.4364, -1.3093, -1.0911, -1.5275])

    def test_three_words(self, student):
        """Three words, the second ten times the first: the two become the same."""
        x = np.stack([self.X, 10 * self.X, [4.0, -4.0, 0.0, 2.0]])
        wanted = [[0.4364, 1.3093, 1.0911, 1.5275]] * 2 + [[2.6667, -2.6667, 0.0, 0.6667]]
        with shown("How many sizes are there for three words?", x=x, gamma=self.GAMMA):
            close(expect.array(student.rms_norm(x, self.GAMMA)), np.array(wanted))

    def test_eps(self, student):
        """(3, 4) has the mean square 12.5; with eps = 12.5 it is divided by 5."""
        x, gamma = np.array([3.0, 4.0]), np.ones(2)
        with shown("What is eps added to?", x=x, gamma=gamma, eps=12.5):
            close(expect.array(student.rms_norm(x, gamma, 12.5)), np.array([0.6, 0.8]))

    def test_small_numbers(self, student):
        """(0.003, 0.004) has the mean square 0.0000125; with the eps of the first line it is divided by 0.004743."""
        x, gamma = np.array([0.003, 0.004]), np.ones(2)
        with shown("How large is eps if the call does not say? Look at the first line.", x=x, gamma=gamma):
            close(expect.array(student.rms_norm(x, gamma)), np.array([0.6325, 0.8433]))

    def test_nothing(self, student):
        """A word of zeros stays one."""
        x, gamma = np.zeros((1, 4)), np.ones(4)
        with shown("What do you divide by?", x=x, gamma=gamma):
            close(expect.array(student.rms_norm(x, gamma)), x)

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and does one write into an old one?"):
            keeps(student.rms_norm, self.X, self.GAMMA, names="x gamma")
