"""Visible tests of online_softmax_step, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import LN_3, waves

NEXT_LARGEST = [5.0, 3.4133]
NEXT_TOTAL = [2.2958, 1.0886]
NEXT_MIXED = [[2.0418, 0.1352, -0.615, 0.6647, -0.2205], [-0.5287, 2.939, -0.2281, -2.854, 0.9956]]


@pytest.mark.exercise("online_softmax_step")
class TestOnlineSoftmaxStep:
    # Two queries of width 4, three keys, values of width 5. The first query has seen larger scores, the second has not.
    SEEN = (np.array([5.0, -0.4]), np.array([1.5, 2.5]), waves(0.9, 2, 5))
    BLOCK = (2 * waves(1.1, 2, 4), 2 * waves(1.3, 3, 4), 3 * waves(1.7, 3, 5))

    def judge(self, student, wanted, *args):
        got = student.online_softmax_step(*args)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (largest, total, mixed).", symptom="kind")
        for part, other, what in zip(got, wanted, ("largest", "total", "mixed"), strict=True):
            close(expect.array(part, what=what), np.array(other), what)

    def test_first_block(self, student):
        """The example by hand, its first row: nothing seen so far, the score 0, the value 10."""
        before = np.array([-np.inf]), np.array([0.0]), np.array([[0.0]])
        one, given = np.array([[1.0]]), {"largest": before[0], "total": before[1], "mixed": before[2]}
        args, question = (*before, one, 0 * one, 10 * one), "What is e to the power of -inf?"
        with shown(question, **given):
            got = student.online_softmax_step(*args)
            if isinstance(got, tuple) and len(got) == 3 and np.any(got[1] == np.inf):
                question = "From which largest score is the score of the block measured?"
        with shown(question, **given):
            self.judge(student, ([0.0], [1.0], [[10.0]]), *args)

    def test_second_block(self, student):
        """The example by hand, its second row: then the score ln 3, the value 2."""
        before = np.array([0.0]), np.array([1.0]), np.array([[10.0]])
        with shown("By what do 1 and 10 shrink?", largest=before[0], total=before[1], mixed=before[2]):
            args = np.array([[1.0]]), np.array([[LN_3]]), np.array([[2.0]])
            self.judge(student, ([1.0986], [1.3333], [[5.3333]]), *before, *args)

    def test_two_queries(self, student):
        """Two queries and a block of three keys: one has seen larger scores before, the other has not."""
        given = dict(zip(("largest", "total", "mixed", "Q", "K", "V"), (*self.SEEN, *self.BLOCK), strict=True))
        with shown("Whose largest score is whose, and what is divided by the square root of 4?", **given):
            self.judge(student, (NEXT_LARGEST, NEXT_TOTAL, NEXT_MIXED), *self.SEEN, *self.BLOCK)

    def test_as_many_queries_as_columns(self, student):
        """The same with values of width two, as many as there are queries."""
        (largest, total, mixed), (Q, K, V) = self.SEEN, self.BLOCK
        given = {"largest": largest, "total": total, "mixed": mixed[:, :2], "Q": Q, "K": K, "V": V[:, :2]}
        with shown("Which axis of mixed are the queries?", **given):
            wanted = (NEXT_LARGEST, NEXT_TOTAL, np.array(NEXT_MIXED)[:, :2])
            self.judge(student, wanted, *given.values())

    def test_two_texts(self, student):
        """Two texts at once; the second is the first with its queries and keys in reverse."""
        names = ("largest", "total", "mixed", "Q", "K", "V")
        given = {n: np.stack([part, part[::-1]]) for n, part in zip(names, (*self.SEEN, *self.BLOCK), strict=True)}
        wanted = [np.stack([part, part[::-1]]) for part in map(np.array, (NEXT_LARGEST, NEXT_TOTAL, NEXT_MIXED))]
        with shown("Which axes does your code count from the front?", **given):
            self.judge(student, wanted, *given.values())

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large give finite numbers."""
        Q, K, V = self.BLOCK
        with shown("What is subtracted from a score before e is raised to it?"):
            for part in student.online_softmax_step(*self.SEEN, 1e5 * Q, K, V):
                expect.finite(part)

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and does one write into an old one?"):
            keeps(student.online_softmax_step, *self.SEEN, *self.BLOCK, names="largest total mixed Q K V")
