"""Visible tests of rms_norm, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown


@pytest.mark.exercise("rms_norm")
class TestRmsNorm:
    X, GAMMA = np.array([1.0, 3.0, 5.0, 7.0]), np.array([2.0, 2.0, 1.0, 1.0])

    def judge(self, student, question, wanted, x, gamma, *eps):
        """Also for an exception: mostly two shapes do not meet."""
        given = {"x": x, "gamma": gamma, **({"eps": eps[0]} if eps else {})}
        with shown(question, "exception", **given):
            close(expect.array(student.rms_norm(x, gamma, *eps)), np.array(wanted))

    def test_by_hand(self, student):
        """The example by hand: (1, 3, 5, 7) with gamma (2, 2, 1, 1)."""
        with shown("What is the mean of the squares, and what is divided by its root?", x=self.X, gamma=self.GAMMA):
            close(expect.array(student.rms_norm(self.X, self.GAMMA)), np.array([0.4364, 1.3093, 1.0911, 1.5275]))
        with shown("What does your code keep from one call to the next?", x=-self.X, gamma=self.GAMMA):
            close(expect.array(student.rms_norm(-self.X, self.GAMMA)), [-0.4364, -1.3093, -1.0911, -1.5275])

    def test_three_words(self, student):
        """Three words, (3, 4), the second ten times the first: the two become the same."""
        x = np.stack([self.X, 10 * self.X, [4.0, -4.0, 0.0, 2.0]])
        wanted = [[0.4364, 1.3093, 1.0911, 1.5275]] * 2 + [[2.6667, -2.6667, 0.0, 0.6667]]
        question = "How many sizes are there for three words, and which shape has an array of them that divides (3, 4)?"
        self.judge(student, question, wanted, x, self.GAMMA)

    def test_two_texts(self, student):
        """Two texts of three words, (2, 3, 4), the second with its numbers in reverse."""
        words = np.stack([self.X, 10 * self.X, [4.0, -4.0, 0.0, 2.0]])
        wanted = [
            [[0.4364, 1.3093, 1.0911, 1.5275], [0.4364, 1.3093, 1.0911, 1.5275], [2.6667, -2.6667, 0.0, 0.6667]],
            [[3.0551, 2.1822, 0.6547, 0.2182], [3.0551, 2.1822, 0.6547, 0.2182], [1.3333, 0.0, -1.3333, 1.3333]],
        ]
        question = "Which axis has the four numbers of a word, with one more axis in front? Count it from the end."
        self.judge(student, question, wanted, np.stack([words, words[:, ::-1]]), self.GAMMA)

    def test_eps(self, student):
        """(3, 4) has the mean square 12.5, so with eps = 12.5 it is divided by 5; (1, 7), by 6.124."""
        x, gamma = np.array([[3.0, 4.0], [1.0, 7.0], [4.0, 3.0]]), np.ones(2)
        wanted = [[0.6, 0.8], [0.1633, 1.1431], [0.8, 0.6]]
        self.judge(student, "What is eps added to?", wanted, x, gamma, 12.5)

    def test_small_numbers(self, student):
        """(0.003, 0.004) has the mean square 0.0000125; with the eps of the first line it is divided by 0.004743."""
        x, gamma = np.array([[0.003, 0.004], [-0.004, 0.003], [0.0, 0.005]]), np.ones(2)
        question = "How large is eps if the call does not say? Look at the first line."
        self.judge(student, question, [[0.6325, 0.8433], [-0.8433, 0.6325], [0.0, 1.0541]], x, gamma)

    def test_nothing(self, student):
        """Of two words, one of zeros stays zeros."""
        x = np.stack([0 * self.X, self.X])
        self.judge(student, "What do you divide by?", [[0.0] * 4, [0.4364, 1.3093, 1.0911, 1.5275]], x, self.GAMMA)

    def test_float32(self, student):
        """float32 gives float32, in the shape of x, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and does one write into an old one?"):
            x = np.stack([self.X, 10 * self.X, -self.X])
            expect.shape(keeps(student.rms_norm, x, self.GAMMA, names="x gamma"), x.shape)
