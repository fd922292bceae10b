"""Hidden tests of masked_softmax."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, keeps_digits, responds, some_items
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import (
    ALL_KEYS,
    BY_NAME,
    DTYPES,
    HUGE,
    LARGE,
    MASK,
    ONE_EMPTY,
    OTHER_MASK,
    PADDING,
    SQUARE,
    all_zero,
    any_mask,
    loosely,
    no_row_vanishes,
    some_in_between,
    winners_take_all,
    zero_where,
)

SOME_ZERO = np.array([[0.0, 1, 2, 0], [1, 0, -1, 0], [0, 2, 1, 0], [0, 0, 0, -2]])  # a score of 0 is one like any other


def looks_like_weights(weights):
    """Fails unless weights are from 0 to 1 with some in between, as in any softmax, even under a wrong mask."""
    if np.any(weights < -1e-6) or np.any(weights > 1 + 1e-6):
        expect.fail("a weight should be a number from 0 to 1.")
    some_in_between(weights)


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax:
    NAMES = ("scores", "mask")
    X = normal(1, 4, 6)

    def function(self, student):
        """The student's function. If it takes batches only, it gets a batch of one; `test_shape` judges that."""
        return Unbatched(student.masked_softmax, 2)

    def weigh(self, student, scores, mask):
        """The weights as numbers, in the right shape. Two tests judge whether they are an array."""
        got = loosely(self.function(student)(scores, mask))
        expect.shape(got, scores.shape)
        return got

    def looks_like_softmax(self, student):
        """Fails unless weights are from 0 to 1 and depend on the scores and, in any way, on the mask."""
        others = normal(2, 4, 6), OTHER_MASK
        responds(lambda *a: self.weigh(student, *a), [self.X, MASK], others, self.NAMES)
        looks_like_weights(self.weigh(student, self.X, MASK))

    def hidden(self, student):
        """The keys that this code hides under `MASK`. `test_values` judges whether they are the right ones."""
        found = self.weigh(student, self.X, MASK) < 1e-3
        if not found.any():
            expect.fail("no key has weight 0, and the mask hides some.", "What is the mask used for?")
        return found

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """The weights have the shape of the scores."""
        expect.shape(expect.array(student.masked_softmax(self.X, MASK)), (4, 6))

    @pytest.mark.weight(1.6)
    def test_values(self, student, reference):
        """Each row is the softmax over the keys that its query may attend to."""
        hint = "Leave out by hand what is masked in one row. Is each sum over what is left, and does the row sum to 1?"
        everything = np.ones((3, 5), dtype=bool)
        cases = (self.X, MASK), (normal(3, 4, 6), OTHER_MASK), (normal(4, 3, 5), everything), (normal(9, 4, 4), SQUARE)
        for scores, mask in [*cases, (SOME_ZERO, SQUARE)]:
            got = expect.array(self.function(student)(scores, mask))
            expect.close(got, reference.masked_softmax(scores, mask), hint)

    @pytest.mark.weight(0.5)
    def test_real_sizes(self, student, reference):
        """Seventy queries with 71 keys, two with 5100, and eight heads in a batch of two texts of 16 words."""
        heads = normal(14, 2, 8, 17, 16), np.arange(16) < np.array([16, 11])[:, None, None, None]
        long = normal(16, 2, 5100), any_mask(17, 2, 5100)
        for scores, mask in ((normal(13, 70, 71), any_mask(15, 70, 71)), heads, long):
            expect.close(self.weigh(student, scores, mask), reference.masked_softmax(scores, mask), ANY_SIZE)

    @pytest.mark.weight(0.65)
    def test_proportions(self, student):
        """Among the keys that get weight, one with a score higher by 1 gets e times as much."""
        self.looks_like_softmax(student)
        hint = "Which function turns a difference between scores into a ratio of weights?"
        for scores, mask in ((self.X, MASK), (normal(10, 4, 6), OTHER_MASK)):
            got = self.weigh(student, scores, mask)
            for row, weights, allowed in zip(scores, got, mask, strict=True):
                seen = weights > 1e-6
                seen = seen & allowed if (seen & allowed).any() else seen
                if not seen.any():
                    expect.fail("a row without any weight, though its query may attend to something.", hint)
                ratio = weights[seen] / weights[seen].sum()
                wanted = np.exp(row[seen] - row[seen].max())
                if not np.allclose(ratio, wanted / wanted.sum(), atol=1e-6):
                    expect.fail("the weights of one row are not in proportion to exp of their scores.", hint)

    @pytest.mark.weight(0.15)
    def test_exact_zeros(self, student):
        """A masked key has weight 0, exactly, however low the scores of the others are."""
        self.looks_like_softmax(student)
        hint = "What makes this weight 0 in your code? Does it do so for every score that can occur?"
        hidden = self.hidden(student)
        for scores in (self.X, np.where(hidden, self.X, -HUGE), np.where(hidden, HUGE, -HUGE)):
            zero_where(hidden, self.weigh(student, scores, MASK), hint, "the weight of a masked key")

    @pytest.mark.weight(0.2)
    def test_no_leak(self, student):
        """A masked score changes nothing, even if it is a million."""
        self.looks_like_softmax(student)
        before, hidden = self.weigh(student, self.X, MASK), self.hidden(student)
        signs = np.where(normal(5, 4, 6) > 0, HUGE, -HUGE)
        hint = "A masked score was set to a million. In which steps does it still take part?"
        for masked in (signs, np.full((4, 6), HUGE)):
            expect.close(self.weigh(student, np.where(hidden, masked, self.X), MASK), before, hint)

    @pytest.mark.weight(0.25)
    def test_nothing_allowed(self, student):
        """A query that may attend to nothing gets all-zero weights, not NaN, and disturbs no other."""
        self.looks_like_softmax(student)
        before = self.weigh(student, self.X, MASK)
        hint = "Follow a row in which every key is masked: what is its maximum, what its sum?"
        for row, dtype in ((self.X[1], np.float64), (-HUGE, np.float32), (HUGE, np.float64)):
            scores = self.X.astype(dtype)
            scores[1] = row
            got = self.weigh(student, scores, ONE_EMPTY)
            all_zero(got[1], hint, "in a row where nothing is allowed, the weight")
            others = [0, 2, 3]
            expect.close(got[others], before[others], hint, "beside a row where nothing is allowed, the weight")
        got = self.weigh(student, self.X, np.zeros_like(MASK))
        all_zero(got, hint, "where nothing is allowed in any row, the weight")

    @pytest.mark.weight(0.35)
    def test_broadcast(self, student):
        """Batch axes in front, and masks that broadcast to the scores: each item as if it were alone."""
        self.looks_like_softmax(student)
        hint = "Axes are lined up from the right. Is the sum over the keys, and does every item meet its own mask?"
        three, four = normal(6, 2, 4, 6), normal(7, 2, 3, 4, 6)
        cases = [
            (three[:1], PADDING[:1]),
            (three, MASK),
            (three, MASK[None]),
            (three, PADDING),
            (three, np.stack([MASK, OTHER_MASK])),
            (three, ALL_KEYS),
        ]
        # Axes of equal length can be confused: four texts of four words, and a table for each of two.
        alike = [(normal(11, 4, 4, 4), SQUARE), (normal(12, 2, 4, 4), np.stack([SQUARE, SQUARE[::-1]]))]
        for scores, mask in [*cases, (four, PADDING[:, None]), *alike]:
            got = self.weigh(student, scores, mask)
            full = np.broadcast_to(mask, scores.shape)
            for index in some_items(scores.shape[:-2]):
                what = f"with a mask of shape {mask.shape}, the result for batch item {list(index)}"
                expect.close(got[index], self.weigh(student, scores[index], full[index].copy()), hint, what)

    @pytest.mark.weight(0.3)
    def test_large_scores(self, student):
        """The same number added to a query's scores changes nothing, also if it is large; the largest takes all."""
        self.looks_like_softmax(student)
        before = self.weigh(student, self.X, MASK)
        everything = np.ones_like(MASK)  # masked places have tests of their own
        hint = "Which numbers go into np.exp now, and could they be smaller without changing the weights?"
        apart = np.array([[0.9 * HUGE], [0.0], [-0.9 * HUGE], [-LARGE]])
        shifted = [self.weigh(student, self.X + shift, MASK) for shift in (LARGE, -0.9 * HUGE, apart)]
        cases = self.X, self.X - LARGE, LARGE * self.X
        ordinary, low, far_apart = (self.weigh(student, scores, everything) for scores in cases)
        for got in shifted:
            expect.close(got, before, hint)
        expect.close(low, ordinary, hint)
        expect.finite(far_apart, hint, "with scores that lie thousands apart, the weight")
        winners_take_all(far_apart, hint)
        no_row_vanishes(far_apart, ordinary, hint)

    @pytest.mark.weight(0.1)
    def test_lengths_of_one(self, student):
        """One query or one key: every axis stays."""
        self.looks_like_softmax(student)
        for scores in (self.X[:1], self.X[:, :1]):
            got = self.weigh(student, scores, np.ones(scores.shape, dtype=bool))
            expect.finite(got, "Does something drop axes of length one?")

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_softmax(student)
        for dtype in DTYPES:
            got = expect.array(self.function(student)(self.X.astype(dtype), MASK))
            expect.dtype(got, dtype, "Of which type are the numbers and arrays you make yourself?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.25)
    def test_inputs_left_alone(self, student):
        """Scores and mask are not changed, and may have any layout in memory."""
        self.looks_like_softmax(student)
        scores, mask = normal(8, 6, 4).T, np.asfortranarray(MASK)
        after = self.function(student).inputs_after(scores, mask)
        expect.unchanged(after, [scores, mask], self.NAMES, "Which line writes into an argument?")
        expect.close(self.weigh(student, scores, mask), self.weigh(student, scores.copy("C"), MASK))

    @pytest.mark.weight(0.2)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_softmax(student)
        got = self.function(student)(mask=MASK, scores=self.X)
        expect.close(loosely(got), self.weigh(student, self.X, MASK), BY_NAME)
