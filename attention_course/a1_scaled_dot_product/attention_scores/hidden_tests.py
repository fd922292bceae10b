"""Hidden tests of attention_scores."""

import contextlib

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, keeps_digits, responds, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import DTYPES, LARGE, loosely


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    NAMES = ("Q", "K")
    Q, K = normal(11, 4, 6), normal(12, 5, 6)

    def scores(self, student, Q, K):
        """Scores as numbers, whether array, tensor or list."""
        return loosely(self.function(student)(Q, K))

    def function(self, student):
        """The student's function. If it takes batches only, it gets a batch of one; `test_shape` judges that."""
        return Unbatched(student.attention_scores, 2)

    def looks_like_scores(self, student):
        """Fails unless both arguments matter and equal calls give equal answers."""
        others = normal(13, 4, 6), normal(14, 5, 6)
        responds(lambda *a: self.scores(student, *a), [self.Q, self.K], others, self.NAMES)

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Four queries and five keys give scores of shape (4, 5)."""
        got = expect.array(student.attention_scores(self.Q, self.K))
        expect.shape(got, (4, 5), "One row per query, one column per key.")

    @pytest.mark.weight(1.7)
    def test_values(self, student, reference):
        """Each score is the dot product of a query and a key, divided by the square root of d_k."""
        cases = (15, 1, (4, 5, 6)), (17, LARGE, (3, 2, 16)), (64, 1, (4, 3, 3))  # large scores; a square matrix of keys
        for seed, size, (length, keys, width) in cases:
            Q, K = size * normal(seed, length, width), normal(seed + 1, keys, width)
            hint = "Take one query and one key and do it by hand: first the product, then the scale. The same number?"
            expect.close(expect.array(self.function(student)(Q, K)), reference.attention_scores(Q, K), hint)

    @pytest.mark.weight(0.75)
    def test_batch(self, student, reference):
        """Several sentences at once: one batch axis in front."""
        Q, K = normal(19, 3, 4, 6), normal(20, 3, 5, 6)
        hint = "Does one sentence alone come out right? Then: which axes and sizes does your code count from the front?"
        expect.close(expect.array(student.attention_scores(Q, K)), reference.attention_scores(Q, K), hint)

    @pytest.mark.weight(0.5)
    def test_real_sizes(self, student, reference):
        """Seventy queries of width 96, seventeen of width 11, and two with 5100 keys."""
        for seed, (length, keys, width) in ((281, (70, 71, 96)), (283, (17, 16, 11)), (286, (2, 5100, 1))):
            Q, K = normal(seed, length, width), normal(seed + 1, keys, width)
            expect.close(self.scores(student, Q, K), reference.attention_scores(Q, K), ANY_SIZE)

    @pytest.mark.weight(0.5)
    def test_two_batch_axes(self, student):
        """Two batch axes in front: each item is scored on its own."""
        self.looks_like_scores(student)
        hint = "Which axes and sizes does your code count from the front?"
        arrays = [normal(21, 8, 2, 4, 6).swapaxes(0, 1), normal(22, 2, 8, 6, 5).swapaxes(-1, -2)]
        same_item_by_item(lambda *a: self.scores(student, *a), arrays, 2, hint)

    @pytest.mark.weight(0.3)
    def test_lengths_of_one(self, student):
        """One query, one key, or width one: still an array with two axes, and the same numbers as among others."""
        self.looks_like_scores(student)
        whole = self.scores(student, self.Q, self.K)
        expect.shape(whole, (4, 5))
        hint = "Are sizes taken from the right axes, and does every axis stay?"
        expect.close(self.scores(student, self.Q[:1], self.K[:1]), whole[:1, :1], hint)
        expect.shape(self.scores(student, self.Q[:, :1], self.K[:, :1]), (4, 5), hint)
        with contextlib.suppress(Raised):  # code that takes no batches loses points in `test_batch`
            if self.scores(student, self.Q[np.newaxis], self.K[np.newaxis]).shape == (4, 5):
                expect.fail("a batch of one sentence comes back without its batch axis.", hint)

    @pytest.mark.weight(0.3)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_scores(student)
        for dtype in DTYPES:
            got = expect.array(self.function(student)(self.Q.astype(dtype), self.K.astype(dtype)))
            expect.dtype(got, dtype, "Of which type are the numbers and arrays you make yourself?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.35)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may have any layout in memory."""
        self.looks_like_scores(student)
        Q, K = normal(23, 6, 4).T, normal(24, 5, 12)[:, ::2]
        after = self.function(student).inputs_after(Q, K)
        expect.unchanged(after, [Q, K], self.NAMES, "Look for operators like /= and *= on an argument.")
        copied = self.scores(student, np.ascontiguousarray(Q), np.ascontiguousarray(K))
        expect.close(self.scores(student, Q, K), copied)

    @pytest.mark.weight(0.35)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_scores(student)
        hint = "The names of the arguments are those in the first line you were given."
        by_position = self.scores(student, self.Q, self.K)
        expect.close(loosely(self.function(student)(K=self.K, Q=self.Q)), by_position, hint)
