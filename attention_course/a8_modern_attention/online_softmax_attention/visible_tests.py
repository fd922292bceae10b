"""Visible tests of online_softmax_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import HeldTooMuch, close, expect, keeps, shown

from ..shared_visible_tests import LN_3, waves

BLOCKWISE = [[0.5536, -1.3711], [0.4305, 0.0004], [0.2039, -0.97]]


@pytest.mark.exercise("online_softmax_attention")
class TestOnlineSoftmaxAttention:
    # Three queries of width 4, seven keys, values of width 2.
    Q, K, V = 2 * waves(1.1, 3, 4), 2 * waves(1.3, 7, 4), 3 * waves(1.7, 7, 2)

    def judge(self, student, wanted, question, Q, K, V, block_size):
        with shown(question, Q=Q, K=K, V=V, block_size=block_size):
            close(expect.array(student.online_softmax_attention(Q, K, V, block_size)), np.array(wanted))

    def test_by_hand(self, student):
        """The example by hand: the scores 0 and ln 3, the values 10 and 2, one key per block."""
        K, V = np.array([[0.0], [LN_3]]), np.array([[10.0], [2.0]])
        question = "Which key and which value are in each block? What is divided by what at the end?"
        self.judge(student, [[4.0]], question, np.array([[1.0]]), K, V, 1)

    def test_shorter_block(self, student):
        """Seven keys in blocks of three: the last block has one."""
        self.judge(student, BLOCKWISE, "Which keys are in which block?", self.Q, self.K, self.V, 3)
        self.judge(
            student,
            -np.array(BLOCKWISE),
            "What does your code keep from one call to the next?",
            self.Q,
            self.K,
            -self.V,
            3,
        )

    def test_small_blocks(self, student):
        """Seven keys in blocks of two: there are more queries than keys in a block."""
        self.judge(student, BLOCKWISE, "Is it keys that are cut into blocks, or queries?", self.Q, self.K, self.V, 2)

    def test_many_blocks(self, student):
        """One query and 400 keys in blocks of three."""
        Q, K, V = self.Q[:1], 2 * waves(1.3, 400, 4), 3 * waves(1.7, 400, 2)
        with shown("Few blocks come out right? Then which of your numbers is a size?", "exception", block_size=3):
            close(expect.array(student.online_softmax_attention(Q, K, V, 3)), np.array([[-0.0131, -0.0017]]))

    def test_one_block(self, student):
        """Seven keys in a block with room for ten."""
        self.judge(student, BLOCKWISE, "How many blocks are there?", self.Q, self.K, self.V, 10)

    def test_two_texts(self, student):
        """Two texts at once; the second is the first with its words in reverse, and minus its values."""
        Q, K, V = (np.stack([part, part[::-1]]) for part in (self.Q, self.K, self.V))
        V[1] *= -1
        wanted = np.stack([BLOCKWISE, -np.array(BLOCKWISE[::-1])])
        for size in (3, 1):  # cut along the first axis, a block of three holds both texts
            self.judge(student, wanted, "Which axes does your code count from the front?", Q, K, V, size)

    def test_low_scores(self, student):
        """Scores that are all far below zero give the output that they should."""
        K, V = np.array([[-2000.0], [-2000.0 + LN_3]]), np.array([[10.0], [2.0]])
        question = "What is the largest score before the first block?"
        self.judge(student, [[4.0]], question, np.array([[1.0]]), K, V, 1)

    def test_no_table(self, student):
        """50 queries and 1,000 keys in blocks of 40: at no time are all scores in memory, nor those of one query."""
        Q, K, V = waves(1.1, 50, 4), waves(1.3, 1000, 4), waves(1.7, 1000, 2)
        with shown("Which array has a row for each query and a column for each key, and who needs all of it?"):
            try:
                student.online_softmax_attention.within(150_000, Q, K, V, 40)
            except HeldTooMuch as error:
                expect.fail(f"{error.args[0].removesuffix('.')}; a block of scores takes 0.016 MB, all of them 0.4 MB.")
        # Sums by blocks are rounded elsewhere if blocks have another size. Key by key they are not, but then keys
        # without any weight change no digit.
        Q, K, V = 1.5 + waves(1.1, 50, 4), waves(1.3, 71, 4), waves(1.7, 71, 2)
        longer = np.concatenate([K, np.full((9, 4), -10000.0)]), np.concatenate([V, waves(0.3, 9, 2)])
        with shown("Which of your lines looks at block_size keys, and does one look at all of them?"):
            first, *others = (expect.array(student.online_softmax_attention(Q, K, V, size)) for size in (1, 4, 30))
            more = expect.array(student.online_softmax_attention(Q, *longer, 1))
            if all(np.array_equal(first, other) for other in others) and not np.array_equal(first, more):
                expect.fail(
                    "with blocks of 1, 4 and 30 keys, the output is the same to the last digit; sums by blocks are not."
                )

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which dtype have the largest, the total and the mixture that you begin with?"):
            keeps(student.online_softmax_attention, self.Q, self.K, self.V, 3, names="Q K V block_size")
