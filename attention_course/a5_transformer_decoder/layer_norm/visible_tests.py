"""Visible tests of layer_norm, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import STAYS, keeps_float64


@pytest.mark.exercise("layer_norm")
class TestLayerNorm:
    X = np.array([1.0, 3.0, 5.0, 7.0])
    GAMMA, BETA = np.array([2.0, 2.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 10.0])

    def test_one_word(self, student):
        """The example by hand: (1, 3, 5, 7) with gamma (2, 2, 1, 1) and beta (0, 0, 0, 10)."""
        with shown(
            "By hand: the mean, the variance, its root, then gamma and beta. Which step is another one in yours?",
            x=self.X,
            gamma=self.GAMMA,
            beta=self.BETA,
        ):
            close(
                expect.array(student.layer_norm(self.X, self.GAMMA, self.BETA)),
                np.array([-2.6833, -0.8944, 0.4472, 11.3416]),
            )

    def test_two_words(self, student):
        """Two words, the second ten times the first: both become the same."""
        x, gamma, beta = np.stack([self.X, 10 * self.X]), np.ones(4), np.zeros(4)
        with shown("How many means are there for two words?", x=x, gamma=gamma, beta=beta):
            close(expect.array(student.layer_norm(x, gamma, beta)), np.array([[-1.3416, -0.4472, 0.4472, 1.3416]] * 2))

    def test_two_texts(self, student):
        """Two texts of three words, each number scaled and shifted: every word has a mean of its own."""
        x = np.array(
            [
                [[1.0, 1.0, 3.0, 5.0], [-3.0, -2.0, 4.0, 5.0], [-1.0, -1.0, 4.0, 0.0]],
                [[-1.0, 4.0, -1.0, 0.0], [2.0, 1.0, -3.0, -3.0], [4.0, 3.0, 4.0, 1.0]],
            ]
        )
        gamma, beta = np.array([2.0, -1.0, 3.0, 0.5]), np.array([1.0, 2.0, -1.0, 3.0])
        wanted = np.array(
            [
                [
                    [-0.8091, 2.9045, -0.0955, 3.7538],
                    [-1.2627, 2.8485, 1.5456, 3.5657],
                    [-0.4552, 2.7276, 4.0932, 2.8787],
                ],
                [[-0.4552, 0.3023, -3.1828, 2.8787], [3.4148, 1.2317, -3.9636, 2.5061], [2.633, 2.0, 1.4495, 2.1835]],
            ]
        )
        with shown(
            "Which axis holds a word's features, and is beta added before gamma or after it?",
            x=x,
            gamma=gamma,
            beta=beta,
        ):
            close(expect.array(student.layer_norm(x, gamma, beta)), wanted)

    def test_eps(self, student):
        """With eps = 4, (1, 3, 5, 7) is divided by the root of 5 + 4, which is 3."""
        with shown(
            "What is eps added to, the variance or its root?", x=self.X, gamma=np.ones(4), beta=np.zeros(4), eps=4.0
        ):
            got = student.layer_norm(self.X, np.ones(4), np.zeros(4), eps=4.0)
            close(expect.array(got), np.array([-1.0, -0.3333, 0.3333, 1.0]))

    def test_far_from_zero(self, student):
        """In float32, with 10,000 added to (1, 3, 5, 7): where the middle lies does not matter."""
        x, gamma, beta = (number.astype(np.float32) for number in (self.X + 10_000, np.ones(4), np.zeros(4)))
        with shown("Which numbers do you square, and how many digits has float32?", x=x, gamma=gamma, beta=beta):
            close(expect.array(student.layer_norm(x, gamma, beta)), [-1.3416, -0.4472, 0.4472, 1.3416], within=0.01)

    def test_all_equal(self, student):
        """A word whose features are all equal becomes beta."""
        x = np.array([2.0, 2.0, 2.0, 2.0])
        with shown(
            "What is the variance of this word, and what keeps you from dividing by it?",
            x=x,
            gamma=self.GAMMA,
            beta=self.BETA,
        ):
            close(expect.array(student.layer_norm(x, self.GAMMA, self.BETA)), self.BETA)

    def test_small_numbers(self, student):
        """Numbers a thousand times as small, (0.001, 0.003, 0.005, 0.007): eps is 0.00001 unless given."""
        x, gamma, beta = self.X / 1000, np.ones(4), np.zeros(4)
        with shown("Which value has eps when it is not given, and what is it added to?", x=x, gamma=gamma, beta=beta):
            close(expect.array(student.layer_norm(x, gamma, beta)), [-0.7746, -0.2582, 0.2582, 0.7746])

    def test_as_many_words_as_features(self, student):
        """Four words of width four, one axis or two in front: each word is what it is alone."""
        x = np.stack([self.X, self.X[::-1], 2 * self.X + [0, 5, 0, 1], -self.X])
        question = "Which axis do gamma and beta belong to when there are as many words as features?"
        with shown(question, "exception", "shape", x=x, gamma=self.GAMMA, beta=self.BETA):
            alone = np.stack([expect.array(student.layer_norm(word, self.GAMMA, self.BETA)) for word in x])
            close(expect.array(student.layer_norm(x, self.GAMMA, self.BETA)), alone)
            two = np.stack([x, x[::-1]])[np.newaxis]  # (1, 2, 4, 4)
            close(student.layer_norm(two, self.GAMMA, self.BETA)[0, 0], alone, "with two axes in front, the first text")

    def test_float32(self, student):
        """float32 gives float32, float64 keeps its digits, and what went in is as before."""
        with shown(STAYS):
            keeps(student.layer_norm, self.X, self.GAMMA, self.BETA, names="x gamma beta")
            keeps_float64(expect.array(student.layer_norm(self.X, self.GAMMA, self.BETA)))
