"""Visible tests of decoding_step, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import WAVES, waves

# What is to come out below; the inputs are sines.
FIRST_OUTPUT = np.array([0.1809, -0.4244, 0.3846, -0.0881, -0.2672, 0.4441])
FIRST_K = np.array([[[0.2888, 0.8587, 0.1707, -0.7674]], [[-0.5812, 0.4565, 0.8254, -0.0149]]])
FIRST_V = np.array([[[-0.1385, -2.66, 0.824, 2.4477]], [[-1.4547, -2.0729, 1.9889, 1.5604]]])
FOURTH_OUTPUT = np.array([-1.2991, 1.5109, -0.7142, -0.5591, 1.4593, -1.3855])
FOURTH_K = np.array(
    [
        [
            [0.8912, 0.8085, -0.1577, -0.9516],
            [-0.7055, 0.3115, 0.9882, 0.5849],
            [-0.4575, -1.0, -0.4496, 0.5921],
            [-0.4071, -0.8094, 0.1936, -0.762],
        ],
        [
            [0.9868, 0.3031, -0.7118, -0.9488],
            [-0.149, 0.8137, 0.8872, -0.0089],
            [-0.8952, -0.8033, 0.1665, 0.9543],
            [0.511, -0.5339, 0.8255, 0.0099],
        ],
    ]
)
FOURTH_V = np.array(
    [
        [
            [0.9463, -0.6119, -0.5507, 0.9679],
            [-0.0752, -0.9193, 0.6696, 0.4864],
            [-0.9841, 0.1499, 0.8872, -0.7235],
            [-0.1385, -2.66, 0.824, 2.4477],
        ],
        [
            [-0.4194, 0.9946, -0.2238, -0.85],
            [0.7733, 0.35, -0.9996, 0.2964],
            [0.808, -0.8188, -0.2786, 0.9989],
            [-1.4547, -2.0729, 1.9889, 1.5604],
        ],
    ]
)

SECOND_TEXT = np.array([-0.7511, 0.7252, -0.2153, -0.4383, 0.7994, -0.6269])
LAST_KEY_OF_301 = np.array([[0.8521, -0.3077, -0.0606, 0.7838], [0.4692, 0.571, -0.8151, 0.1312]])
OUTPUT_OF_301 = np.array([0.0069, -0.0054, 0.0003, 0.005, -0.007, 0.0043])


@pytest.mark.exercise("decoding_step")
class TestDecodingStep:
    # Width 6, four query heads and two of keys, each of width 4, and three words in the cache.
    WEIGHTS = (waves(0.9, 6, 16), waves(1.3, 6, 8), waves(1.7, 6, 8), waves(2.3, 16, 6))
    X, K, V = waves(0.7, 6), waves(1.1, 2, 3, 4), waves(1.9, 2, 3, 4)

    def judge(self, student, wanted, *args):
        got = student.decoding_step(*args)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (output, K, V).", symptom="kind")
        for part, other, what in zip(got, wanted, ("output", "K", "V"), strict=True):
            close(expect.array(part, what=what), other, what)

    def is_narrow(self, student):
        """Whether the heads of keys are not of width four, or the numbers do not fit into heads."""
        try:
            got = student.decoding_step(self.X, None, None, *self.WEIGHTS, 4)
        except Exception as error:
            return "cannot be laid out" in str(error)
        return isinstance(got, tuple) and len(got) == 3 and np.shape(got[1])[-1:] != (4,)

    def keeps_the_first(self, student):
        """Whether the cache is right after the first word."""

        def judge():
            _, *cache = student.decoding_step(self.X, None, None, *self.WEIGHTS, 4)
            for part, wanted in zip(cache, (FIRST_K, FIRST_V), strict=True):
                close(expect.array(part), wanted)

        return expect.holds(judge)

    def needs_as_many_keys(self, student):
        """Whether the code fails with two heads of keys, and not with as many as there are heads of queries."""
        W_Q, W_K, W_V, W_O = self.WEIGHTS
        two, four = (
            expect.holds(lambda: student.decoding_step(self.X, None, None, W_Q, *pair, W_O, 4))  # noqa: B023
            for pair in ((W_K, W_V), (W_Q, W_Q))
        )
        return four and not two

    # As by hand: width 2 and one head.
    BY_HAND = (
        np.array([[1.0, 2.0], [3.0, 0.0]]),
        np.array([[1.0, 0.0], [0.0, 2.0]]),
        np.array([[4.0, 0.0], [0.0, 8.0]]),
        np.array([[1.0, 0.0], [1.0, 1.0]]),
    )

    def test_first_word_by_hand(self, student):
        """The example by hand, its first step: a word alone attends to itself."""
        x = np.array([1.0, 0.0])
        with shown("What is in the cache after the first word?", "exception", x=x, K=None, V=None, num_heads=1):
            wanted = [4.0, 0.0], [[[1.0, 0.0]]], [[[4.0, 0.0]]]
            self.judge(student, wanted, x, None, None, *self.BY_HAND, 1)

    def test_second_word_by_hand(self, student):
        """The example by hand, its second step: the query and the new key are turned by 1."""
        x, K, V = np.array([0.0, 1.0]), np.array([[[1.0, 0.0]]]), np.array([[[4.0, 0.0]]])
        question = "By how much are the query, the new key and the old keys turned? By what is a score divided?"
        with shown(question, x=x, K=K, V=V, num_heads=1):
            wanted = [4.9648, 1.9295], [[[1.0, 0.0], [-1.6829, 1.0806]]], [[[4.0, 0.0], [0.0, 8.0]]]
            self.judge(student, wanted, x, K, V, *self.BY_HAND, 1)

    def test_first_word(self, student):
        """The first word: no cache yet, and it attends to itself."""
        question = "What is the position of the first word, and what is in the cache afterwards?"
        if self.needs_as_many_keys(student):
            question = "Four heads ask, and two have keys and values. Which of your lines counts on as many of both?"
        elif self.is_narrow(student):
            question = "How wide is one head? Which of the matrices has num_heads heads side by side?"
        elif self.keeps_the_first(student):
            question = "The cache is right. Which head of values does each query head get, and what meets W_O?"
        with shown(question, "exception", x=self.X, K=None, W_Q="(6, 16)", W_K="(6, 8)", num_heads=4):
            self.judge(student, (FIRST_OUTPUT, FIRST_K, FIRST_V), self.X, None, None, *self.WEIGHTS, 4)

    def test_fourth_word(self, student):
        """Three words in the cache: what is found among all four, and a cache of four."""
        question = "At which position does the newest word stand, what of it is turned, and whom does it attend to?"
        with shown(question, x=self.X, K=self.K, V=self.V, W_Q=WAVES):
            wanted = (FOURTH_OUTPUT, FOURTH_K, FOURTH_V)
            self.judge(student, wanted, self.X, self.K, self.V, *self.WEIGHTS, 4)
        with shown("What does your code keep from one call to the next?", x=self.X, W_O="minus that"):
            wanted, (*weights, W_O) = (-FOURTH_OUTPUT, FOURTH_K, FOURTH_V), self.WEIGHTS
            self.judge(student, wanted, self.X, self.K, self.V, *weights, -W_O, 4)

    def test_two_texts(self, student):
        """Two texts at once, each with a cache of its own."""
        args = [np.stack([part, 0.5 * part]) for part in (self.X, self.K, self.V)]
        with shown("Which axes does your code count from the front?", "exception", "shape", x=args[0]):
            got = student.decoding_step(*args, *self.WEIGHTS, 4)
            close(expect.array(got[0])[0], FOURTH_OUTPUT, "the first text's output")
            close(expect.array(got[0])[1], SECOND_TEXT, "the second text's output")

    def test_long_cache(self, student):
        """Three hundred words in the cache: the newest stands at position 300, and attends to all of them."""
        K, V = waves(1.1, 2, 300, 4), waves(1.9, 2, 300, 4)
        with shown(
            "Short caches come out right? Then which of your numbers is a size?", "exception", x=self.X, K=WAVES
        ):
            output, keys, _ = student.decoding_step(self.X, K, V, *self.WEIGHTS, 4)
            expect.shape(expect.array(keys, what="K"), (2, 301, 4), "", "K")
            close(keys[:, -1], LAST_KEY_OF_301, "the newest key")
            close(expect.array(output, what="output"), OUTPUT_OF_301, "output")

    def test_float32(self, student):
        """float32 gives float32, and the cache that came in is as before."""
        with shown("Which line makes a new array, of which dtype?"):
            args = (self.X, self.K, self.V, *self.WEIGHTS, 4)
            keeps(student.decoding_step, *args, names="x K V W_Q W_K W_V W_O num_heads")
