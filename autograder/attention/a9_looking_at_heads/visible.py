"""Visible checks of a9. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import keeps, same, shown

# Two heads on four words. The first looks at the word before with 0.8, 0.6 and 0.4 of its weight.
FOUR_WORDS = np.array(
    [
        [[1.0, 0.0, 0.0, 0.0], [0.8, 0.2, 0.0, 0.0], [0.1, 0.6, 0.3, 0.0], [0.2, 0.1, 0.4, 0.3]],
        [[1.0, 0.0, 0.0, 0.0], [0.3, 0.7, 0.0, 0.0], [0.5, 0.2, 0.3, 0.0], [0.1, 0.2, 0.1, 0.6]],
    ]
)
# Two heads on five words: three words, and the first two of them again.
FIVE_WORDS = np.array(
    [
        [
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.4, 0.6, 0.0, 0.0, 0.0],
            [0.3, 0.3, 0.4, 0.0, 0.0],
            [0.1, 0.7, 0.1, 0.1, 0.0],
            [0.1, 0.1, 0.5, 0.2, 0.1],
        ],
        [
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.2, 0.8, 0.0, 0.0, 0.0],
            [0.5, 0.1, 0.4, 0.0, 0.0],
            [0.6, 0.1, 0.1, 0.2, 0.0],
            [0.1, 0.5, 0.2, 0.1, 0.1],
        ],
    ]
)
# Three texts, two heads, four places, one number.
FOUND = np.array(
    [
        [[1.0, 2.0, 3.0, 4.0], [6.0, 0.0, 3.0, 1.0]],
        [[5.0, 6.0, 7.0, 8.0], [0.0, 3.0, 0.0, 2.0]],
        [[9.0, 1.0, 2.0, 3.0], [3.0, 9.0, 6.0, 9.0]],
    ]
)[..., np.newaxis]
# Two heads, three places, four numbers: 1 to 24 in this run, some of 100 to 124, in no order, in the other.
HERE = np.arange(1.0, 25.0).reshape(2, 3, 4)
THERE = 7 * HERE % 25 + 100
# d_model three, two heads of width two.
TO_QUERIES = np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 3.0]])
TO_KEYS = np.array([[1.0, 2.0, 0.0, 1.0], [3.0, 0.0, 1.0, 1.0], [0.0, 1.0, 2.0, 0.0]])
OUT = np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 1.0, 0.0]])


@pytest.mark.exercise("previous_token_score")
class TestPreviousTokenScore:
    def test_by_hand(self, student):
        """Two heads on four words: the scores are 0.6 and 0.2."""
        question = "In rows 1, 2 and 3 of a head: in which column stands the word before? How many rows are these?"
        with shown(question, weights=FOUR_WORDS):
            same(expect.array(student.previous_token_score(FOUR_WORDS)), [0.6, 0.2])

    def test_three_words(self, student):
        """The same heads on the first three words: the scores are 0.7 and 0.25."""
        weights = FOUR_WORDS[:, :3, :3].copy()
        with shown("How many of three words have a word before them?", weights=weights):
            same(expect.array(student.previous_token_score(weights)), [0.7, 0.25])

    def test_float32(self, student):
        """float32 gives float32, and the weights are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.previous_token_score, FOUR_WORDS, names="weights")


@pytest.mark.exercise("induction_score")
class TestInductionScore:
    def test_by_hand(self, student):
        """`a b c a b`, so the period is 3: the scores are 0.6 and 0.15."""
        question = "Row 3 is the second `a`. After the first `a` stood `b`: in which column? And for row 4?"
        with shown(question, weights=FIVE_WORDS, period=3):
            same(expect.array(student.induction_score(FIVE_WORDS, 3)), [0.6, 0.15])

    def test_two_words(self, student):
        """`a b a b`, the period is 2, the first four words of the same heads: the scores are 0.2 and 0.1."""
        weights = FIVE_WORDS[:, :4, :4].copy()
        with shown("Which rows are the second round, and which words do they need?", weights=weights, period=2):
            same(expect.array(student.induction_score(weights, 2)), [0.2, 0.1])

    def test_float32(self, student):
        """float32 gives float32, and the weights are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.induction_score, FIVE_WORDS, 3, names="weights period")


@pytest.mark.exercise("mean_ablate")
class TestMeanAblate:
    def test_by_hand(self, student):
        """Three texts, two heads, four places: head 1 says 3, 4, 3, 4 in all the texts, head 0 what it said."""
        wanted = FOUND.copy()
        wanted[:, 1, :, 0] = [3.0, 4.0, 3.0, 4.0]
        question = (
            "At place 0 head 1 found 6 in the first text, 0 in the second and 3 in the third. What is their mean?"
        )
        with shown(question, found=FOUND[..., 0], head=1):
            same(expect.array(student.mean_ablate(FOUND, 1)), wanted)

    def test_the_other_head(self, student):
        """Head 0 instead: it says 5, 3, 4, 5."""
        wanted = FOUND.copy()
        wanted[:, 0, :, 0] = [5.0, 3.0, 4.0, 5.0]
        with shown("Which axis are the heads, and which of them stay as they are?", found=FOUND[..., 0], head=0):
            same(expect.array(student.mean_ablate(FOUND, 0)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and what came in is as before."""
        with shown("Is it a copy that you write into, and of which dtype?"):
            keeps(student.mean_ablate, FOUND, 1, names="found head")


@pytest.mark.exercise("patch_head")
class TestPatchHead:
    def test_by_hand(self, student):
        """Head 1 at place 1 found 17, 18, 19, 20 here and 119, 101, 108, 115 there."""
        wanted = HERE.copy()
        wanted[1, 1] = [119.0, 101.0, 108.0, 115.0]
        question = "There are six vectors of four numbers. Which one comes from the other run?"
        with shown(question, found=HERE, other=THERE, head=1, place=1):
            same(expect.array(student.patch_head(HERE, THERE, 1, 1)), wanted)

    def test_another_place(self, student):
        """Head 1 at place 0: 13, 14, 15, 16 become 116, 123, 105, 112."""
        wanted = HERE.copy()
        wanted[1, 0] = [116.0, 123.0, 105.0, 112.0]
        question = "Which axis are the heads, and which the places?"
        with shown(question, found=HERE, other=THERE, head=1, place=0):
            same(expect.array(student.patch_head(HERE, THERE, 1, 0)), wanted)

    def test_five_texts(self, student):
        """Five texts at once: in each of them the same head at the same place."""
        times = np.array([1.0, 2.0, -1.0, 3.0, 5.0]).reshape(5, 1, 1, 1)
        wanted = times * HERE
        wanted[:, 1, 0] = times[:, 0, 0] * np.array([116.0, 123.0, 105.0, 112.0])
        question = "With texts in front, heads are no longer the first axis. Which one are they, counted from the end?"
        with shown(question, head=1, place=0):
            same(expect.array(student.patch_head(times * HERE, times * THERE, 1, 0)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and both runs are as before."""
        with shown("Is it a copy that you write into, and of which dtype?"):
            keeps(student.patch_head, HERE, THERE, 1, 1, names="found other head place")


@pytest.mark.exercise("qk_circuit")
class TestQkCircuit:
    def test_by_hand(self, student):
        """d_model 2, two heads of width one."""
        W_Q, W_K = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[2.0, 1.0], [0.0, -1.0]])
        wanted = [[[2.0, 0.0], [6.0, 0.0]], [[2.0, -2.0], [0.0, 0.0]]]
        with shown("Head 0 has the first column of each. Its product is 2 by 2: why?", W_Q=W_Q, W_K=W_K, num_heads=2):
            same(expect.array(student.qk_circuit(W_Q, W_K, 2)), wanted)

    def test_width_two(self, student):
        """d_model 3, two heads of width two."""
        wanted = [
            [[1.0, 3.0, 0.0], [2.0, 0.0, 1.0], [4.0, 6.0, 1.0]],
            [[1.0, 3.0, 4.0], [0.0, 1.0, 2.0], [3.0, 3.0, 0.0]],
        ]
        question = "Which two columns has head 0? How wide is what comes out?"
        with shown(question, W_Q=TO_QUERIES, W_K=TO_KEYS, num_heads=2):
            same(expect.array(student.qk_circuit(TO_QUERIES, TO_KEYS, 2)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the matrices are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.qk_circuit, TO_QUERIES, TO_KEYS, 2, names="W_Q W_K num_heads")


@pytest.mark.exercise("ov_circuit")
class TestOvCircuit:
    def test_by_hand(self, student):
        """d_model 2, two heads of width one."""
        W_V, W_O = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[2.0, 1.0], [0.0, -1.0]])
        wanted = [[[2.0, 1.0], [6.0, 3.0]], [[0.0, -2.0], [0.0, 0.0]]]
        question = "Head 0 has the first column of W_V and the first row of W_O. Its product is 2 by 2: why?"
        with shown(question, W_V=W_V, W_O=W_O, num_heads=2):
            same(expect.array(student.ov_circuit(W_V, W_O, 2)), wanted)

    def test_width_two(self, student):
        """d_model 3, two heads of width two."""
        wanted = [
            [[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [5.0, 4.0, 1.0]],
            [[1.0, 3.0, 4.0], [0.0, 1.0, 2.0], [3.0, 3.0, 0.0]],
        ]
        question = "Which two columns of W_V has head 0, and which two rows of W_O?"
        with shown(question, W_V=TO_QUERIES, W_O=OUT, num_heads=2):
            same(expect.array(student.ov_circuit(TO_QUERIES, OUT, 2)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the matrices are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.ov_circuit, TO_QUERIES, OUT, 2, names="W_V W_O num_heads")
