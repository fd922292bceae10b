"""Hidden tests of per_head_weights."""

from __future__ import annotations

import pytest

from autograder.testing import expect

from ...hidden.properties import ANY_SIZE, responds
from ...hidden.weights import with_weight
from ..shared_hidden_tests import (
    LOST_OR_COPIED,
    LOUD,
    Heads,
    RefinementTests,
    axis_of,
    changes,
    same,
    whole,
)


class PerHeadTests(Heads):
    """Each head's own weights."""

    ARGUMENTS = ("W", "num_heads")
    ORDINARY, REST = whole(41, 6, 12), (3,)  # (d_in, h * d), three heads of width 4
    LAYOUTS = (whole(42, 12, 6).T, whole(43, 6, 24)[:, ::2])

    def looks_like_an_attempt(self, student):
        responds(lambda W: self.answer(student, W, 2), [whole(44, 6, 24)], [whole(45, 6, 24)], self.ARGUMENTS[:1])

    @pytest.mark.weight(0.35)
    def test_shape(self, student):
        """Weights from width seven to two heads of width five: one array of shape (2, 7, 5)."""
        got = self.take(student.per_head_weights(whole(46, 7, 10), 2))
        expect.shape(got, (2, 7, 5), "First the heads; each of them takes rows of width d_in.")

    @pytest.mark.weight(1.25)
    def test_values(self, student, reference):
        """Head i's own weights are the columns i * d to (i + 1) * d of W."""
        hint = "Take a small W by hand: which columns make head 0's numbers, and which are in your first item?"
        for seed, (d_in, h, d) in ((47, (5, 3, 4)), (48, (2, 4, 2)), (49, (7, 2, 5))):
            W = whole(seed, d_in, h * d)
            same(self.answer(student, W, h), reference.per_head_weights(W, h), hint)

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Weights from width 70 to eight heads, from 33 to nine, from 5100 to two, and from two to three hundred."""
        cases = (whole(53, 70, 96), 8), (whole(54, 33, 45), 9), (whole(55, 5100, 2), 2), (whole(56, 2, 600), 300)
        for W, h in cases:
            same(self.answer(student, W, h), reference.per_head_weights(W, h), ANY_SIZE)

    @pytest.mark.weight(0.4)
    def test_projection(self, student):
        """Projecting with W and taking a head's columns equals projecting with this head's own weights."""
        X, W = whole(50, 4, 5), whole(51, 5, 6)
        own = self.answer(student, W, 2)
        expect.shape(own, (2, 5, 3), "First the heads; each of them takes rows of width d_in.")
        together = X @ W  # (L, h * d)
        hint = "Which column of W makes which column of X @ W?"
        for i in range(2):
            expect.close(X @ own[i], together[:, 3 * i : 3 * i + 3], hint, f"X times the weights of head {i}")

    @pytest.mark.weight(0.2)
    def test_columns_stay_whole(self, student):
        """A column of W lands in one head, as one column, once."""
        self.looks_like_an_attempt(student)
        louder = self.ORDINARY.copy()
        louder[:, 7] += LOUD
        before, after = self.answer(student, self.ORDINARY, 3), self.answer(student, louder, 3)
        changed = changes(before, after, louder[:, 7], LOST_OR_COPIED)
        columns = changed.any(axis=axis_of(changed, 6)).sum()
        if columns != 1:
            hint = "One number of a projection needs one whole column of W. Are columns torn?"
            expect.fail(f"the numbers of one column of W are in {columns} columns of the result.", hint)

    @pytest.mark.weight(0.15)
    def test_smallest(self, student):
        """One head, one row, or heads of width one are cut like any others."""
        self.looks_like_an_attempt(student)
        self.keeps_axes(
            student, [(self.ORDINARY, 1), (self.ORDINARY[:1], 3), (self.ORDINARY, 12), (self.ORDINARY[:, :1], 1)]
        )
        square = whole(52, 12, 12)
        first = self.first_of(self.answer(student, square, 3), 12, 6)
        expect.equal(
            first, self.answer(student, square[:6], 3), "Whose columns are they?", "the first rows of a square W"
        )


@pytest.mark.exercise("per_head_weights")
class TestPerHeadWeights(RefinementTests, PerHeadTests):
    NAME = "per_head_weights"

    test_dtype = with_weight(0.25, RefinementTests.test_dtype)
    test_inputs_left_alone = with_weight(0.3, RefinementTests.test_inputs_left_alone)
    test_layout_in_memory = with_weight(0.35, RefinementTests.test_layout_in_memory)
    test_by_name = with_weight(0.35, RefinementTests.test_by_name)
