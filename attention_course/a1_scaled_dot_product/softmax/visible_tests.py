"""Visible tests of softmax, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import NAMES, STAYS, WEIGHTS


@pytest.mark.exercise("softmax")
class TestSoftmax:
    def test_three_scores(self, student):
        """Scores 1, 3 and 2 give weights of about 0.09, 0.67 and 0.24."""
        x = np.array([1.0, 3.0, 2.0])
        with shown("By hand, what is each fraction? Which of your steps gives another number, or fewer digits?", x=x):
            close(expect.array(student.softmax(x)), WEIGHTS[0])

    def test_two_rows(self, student):
        """Two rows of three scores: each row sums to 1 for itself."""
        x = np.array([[1.0, 3.0, 2.0], [7.0, 7.0, 5.0]])
        with shown("Over which axis is the sum?", x=x):
            got = expect.array(student.softmax(x))
            close(got.sum(axis=-1), np.ones(2), "the sum of each row")
        with shown("Each row sums to 1. What is taken off its scores: over which axis is the maximum?", x=x):
            close(got, np.array([[0.09, 0.6652, 0.2447], [0.4683, 0.4683, 0.0634]]))

    def test_axis(self, student):
        """With axis=0, each column sums to 1."""
        x = np.array([[1.0, 7.0, 0.0], [3.0, 7.0, 2.0]])
        with shown("Where do you use `axis`?", x=x, axis=0):
            close(expect.array(student.softmax(x, axis=0)), np.array([[0.1192, 0.5, 0.1192], [0.8808, 0.5, 0.8808]]))

    def test_three_axes(self, student):
        """Of three axes, axis=-2 is the middle one: along it the weights sum to 1."""
        x = np.array([[[1.0, 7.0, 0.0], [3.0, 7.0, 2.0]]])
        with shown("Which axis is -2 if there are three? Is any axis written as a number in your code?", x=x, axis=-2):
            wanted = np.array([[[0.1192, 0.5, 0.1192], [0.8808, 0.5, 0.8808]]])
            close(expect.array(student.softmax(x, axis=-2)), wanted)

    def test_many_digits(self, student):
        """Scores log 1, log 2 and log 4 give 1/7, 2/7 and 4/7 to eight digits, and a score of -30 next to nothing."""
        x = np.array([*np.log([1.0, 2.0, 4.0]), -30.0])
        with shown("Is anything rounded, cut off, or computed in fewer digits than those of x?", "dtype", x=x):
            got = expect.array(student.softmax(x))
            close(1e4 * got, np.array([1e4 / 7, 2e4 / 7, 4e4 / 7, 0.0]), "10,000 times the result")
            expect.dtype(got, np.float64)
        with shown("Is anything added below the fraction bar?", x=x):
            close(100 * (got.sum(keepdims=True) - 1), np.zeros(1), "a hundred times (sum of the weights - 1)")

    def test_long_rows(self, student):
        """Seventy rows of 96 scores: where score j is log(j + 1), its weight is (j + 1) / 4656."""
        place = np.arange(1.0, 97.0)
        with shown(expect.IfOthersPass("Small sizes come out right. Which of your numbers is a size?")):
            close(expect.array(student.softmax(np.tile(np.log(place), (70, 1)))), np.tile(place / 4656, (70, 1)))

    def test_large_scores(self, student):
        """Scores 10,001, 10,003 and 10,002 give the same weights as 1, 3 and 2, also in one array with them."""
        x = np.array([1.0, 3.0, 2.0]) + np.array([[10000.0], [0.0], [-10002.0], [-3.0]])
        with shown(
            "What may change in a fraction without changing its value, and must it be the same for each row?", x=x
        ):
            close(expect.array(student.softmax(x)), np.repeat(WEIGHTS, 4, axis=0))

    def test_far_apart(self, student):
        """Scores that are far apart: the largest takes all, in each column for itself."""
        x = np.array([[3000.0, 1.0], [0.0, 3.0]])
        with shown("What is the largest number that goes into np.exp, and whose largest is it?", x=x, axis=0):
            close(expect.array(student.softmax(x, axis=0)), np.array([[1.0, 0.1192], [0.0, 0.8808]]))

    def test_float32(self, student):
        """float32 gives float32, and the scores are as before."""
        x = np.array([[1.0, 3.0, 2.0], [7.0, 7.0, 5.0]])
        with shown(STAYS, x=x):
            keeps(student.softmax, x, names="x")

    def test_by_name(self, student):
        """The arguments may come by name."""
        x = np.array([1.0, 3.0])
        with shown(NAMES, "exception", x=x, axis=0):
            expect.array(student.softmax(axis=0, x=x))
