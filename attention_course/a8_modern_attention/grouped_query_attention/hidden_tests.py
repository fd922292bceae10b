"""Hidden tests of grouped_query_attention."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, nothing_for_the_rest, responds, same_in_batches
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import (
    ATOL,
    BY_NAME,
    DTYPE,
    FROM_THE_END,
    IN_PLACE,
    LARGE,
    LOUD,
    loosely,
)


def table(*rows):
    """A mask from rows of ones and zeros."""
    return np.array([[letter == "1" for letter in row] for row in rows])


# Five queries, seven keys. Not symmetric; every row allows something and hides something.
MASK = table("1011001", "0110110", "0000100", "1110001", "0101011")
ONE_EMPTY = table("1011001", "0000000", "0000100", "1110001", "0101011")


@pytest.mark.exercise("grouped_query_attention")
class TestGroupedQueryAttention:
    NAMES = ("Q", "K", "V", "num_kv_heads", "mask")
    Q, K, V = normal(821, 6, 5, 4), normal(822, 2, 7, 4), normal(823, 2, 7, 3)  # six query heads, two of keys
    SMALL = (Q, K, V, 2)
    GROUPS = "Which head of keys belongs to query head 0, which to 1, and which to the last?"

    def attend(self, student, *args, **more):
        """Output and weights as arrays."""
        ask = Unbatched(student.grouped_query_attention, 3, 3, 3, 0)  # `test_shape` judges code for batches only
        output, weights = expect.pair(ask(*args, **more))
        return loosely(output), loosely(weights)

    def looks_like_attention(self, student):
        """Fails unless other queries give other weights, from 0 to 1 and some in between."""
        call = lambda *args: self.attend(student, *args)  # noqa: E731
        responds(call, self.SMALL, [normal(824, 6, 5, 4), None, None, None], self.NAMES)

    def given(self, seed, h, g, d_v, batch=()):
        """New queries of h heads, and keys and values of g heads."""
        return normal(seed, *batch, h, 5, 4), normal(seed + 1, *batch, g, 7, 4), normal(seed + 2, *batch, g, 7, d_v), g

    def same(self, got, wanted, hint, where=""):
        for part, other, what in zip(got, wanted, ("output", "weights"), strict=True):
            expect.close(part, other, hint, what + where, ATOL)

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """Six query heads on two of keys and values: output (6, 5, 3) and weights (6, 5, 7), as a tuple."""
        output, weights = expect.pair(student.grouped_query_attention(*self.SMALL))
        hint = "How many heads of output are there: as many as of queries?"
        expect.shape(expect.array(output, what="output"), (6, 5, 3), hint, "output")
        expect.shape(
            expect.array(weights, what="weights"), (6, 5, 7), "One row per query, one column per key.", "weights"
        )

    @pytest.mark.weight(0.2)
    def test_multi_head(self, student, reference):
        """As many heads of keys as of queries: each head attends on its own, as in multi-head attention."""
        args = self.given(830, 3, 3, 3)
        hint = "One head alone is scaled dot-product attention. Which line is different from it?"
        self.same(self.attend(student, *args), reference.grouped_query_attention(*args), hint)

    @pytest.mark.weight(0.22)
    def test_weights(self, student, reference):
        """Neighbouring query heads share the keys of one head."""
        for args in (self.given(835, 6, 2, 3), self.given(840, 6, 3, 5)):
            wanted = reference.grouped_query_attention(*args)[1]
            expect.close(self.attend(student, *args)[1], wanted, self.GROUPS, "weights", ATOL)

    @pytest.mark.weight(0.26)
    def test_output(self, student, reference):
        """Neighbouring query heads blend the values of one head."""
        for args in (self.given(845, 6, 2, 3), self.given(850, 4, 2, 6)):
            wanted = reference.grouped_query_attention(*args)[0]
            expect.close(self.attend(student, *args)[0], wanted, self.GROUPS, "output", ATOL)

    @pytest.mark.weight(0.11)
    def test_multi_query(self, student, reference):
        """One head of keys and values for all queries."""
        args = self.given(855, 3, 1, 3)
        self.same(self.attend(student, *args), reference.grouped_query_attention(*args), "Who shares the one head?")

    @pytest.mark.weight(0.1)
    def test_who_shares(self, student):
        """A louder head of values is heard by as many query heads as share it, next to each other, and by no other."""
        self.looks_like_attention(student)
        before = self.attend(student, *self.SMALL)[0]
        for head in (0, 1):
            louder = self.V.copy()
            louder[head] += 5
            after = self.attend(student, self.Q, self.K, louder, 2)[0]
            expect.shape(after, before.shape, what="output")
            changed = np.flatnonzero((np.abs(after - before) > 1e-3).any(axis=(-2, -1))).tolist()
            if len(changed) != 3 or changed[-1] - changed[0] != 2:
                heads = ", ".join(map(str, changed)) or "none"
                expect.fail(f"when the values of head {head} change, these query heads change: {heads}.", self.GROUPS)

    @pytest.mark.weight(0.7)
    def test_mask(self, student, reference):
        """A mask says who may attend to whom; it broadcasts, and each head may have its own."""
        hint = "True means: may attend. Which keys take part in the softmax?"
        heads = np.stack([np.roll(MASK, head, axis=1) for head in range(6)])
        for seed, mask in ((860, MASK), (865, heads), (870, MASK[:1])):
            args = (*self.given(seed, 6, 2, 3), mask)
            self.same(self.attend(student, *args), reference.grouped_query_attention(*args), hint)

    @pytest.mark.weight(0.16)
    def test_no_leak(self, student):
        """A key that is masked for all changes nothing, however loud it is."""
        self.looks_like_attention(student)
        seen = np.array([True, True, False, True, True, False, True])
        K, V = self.K.copy(), self.V.copy()
        K[:, ~seen], V[:, ~seen] = LOUD * normal(875, 2, 2, 4), LOUD
        hint = "A masked key and its value were replaced by huge ones. In which step do they still take part?"
        mask = np.broadcast_to(seen, (5, 7)).copy()
        self.same(self.attend(student, self.Q, K, V, 2, mask), self.attend(student, *self.SMALL, mask), hint)

    @pytest.mark.weight(0.15)
    def test_nothing_allowed(self, student):
        """One query, or all, may attend to nothing: weights and output 0, not NaN; the other queries keep theirs."""
        self.looks_like_attention(student)
        before, got = self.attend(student, *self.SMALL, MASK), self.attend(student, *self.SMALL, ONE_EMPTY)
        hint = "If every key is hidden, what do you divide by, and what should come out?"
        others = [0, 2, 3, 4]
        for part, other, what, width in zip(got, before, ("output", "weights"), (3, 7), strict=True):
            expect.shape(part, (6, 5, width), what=what)
            expect.finite(part, hint, what)
            expect.equal(part[:, 1], np.zeros_like(part[:, 1]), hint, f"{what} of a query that may attend to nothing")
            expect.close(part[:, others], other[:, others], hint, f"{what} of the other queries", ATOL)
        got = self.attend(student, *self.SMALL, np.zeros_like(MASK))
        for part, what in zip(got, ("output", "weights"), strict=True):
            expect.finite(part, hint, what)
            expect.equal(part, np.zeros_like(part), hint, f"with a mask that allows nothing to any query, {what}")

    @pytest.mark.weight(0.15)
    def test_batch_axes(self, student):
        """One batch axis or two: each text attends on its own."""
        self.looks_like_attention(student)
        call = lambda Q, K, V: self.attend(student, Q, K, V, 2)  # noqa: E731
        batches = [self.given(880, 4, 2, 3, batch)[:3] for batch in ((3,), (2, 3))]
        same_in_batches(call, batches, FROM_THE_END)

    @pytest.mark.weight(0.15)
    def test_large_scores(self, student, reference):
        """Scores of 10,000 and more give finite numbers, and nothing is left for scores far below the largest."""
        self.looks_like_attention(student)
        hint = "What could be subtracted from a row of scores before exp without changing its weights?"
        for part, what in zip(
            self.attend(student, LARGE * self.Q, *self.SMALL[1:]), ("output", "weights"), strict=True
        ):
            expect.finite(part, hint, what)
        if holds_in(student, reference, self.test_weights):
            ordinary = self.attend(student, *self.SMALL)[1]
            weights = self.attend(student, LARGE * self.Q, *self.SMALL[1:])[1]
            # Where two scores of a row are nearly alike, even these do not lie far apart.
            nothing_for_the_rest(weights[ordinary < 0.9 * ordinary.max(axis=-1, keepdims=True)])
        # All scores are far below zero, with a mask: seen keys must not vanish beside the number that hides others.
        ordinary = self.attend(student, *self.SMALL, MASK)[1].sum(axis=-1)
        low = self.attend(student, -100 * LARGE * (1 + np.abs(self.Q)), 1 + np.abs(self.K), self.V, 2, MASK)[1].sum(
            axis=-1
        )
        if low.shape == ordinary.shape and ((low < 0.01) & (ordinary > 0.99)).any():
            hint = "All scores are very low here. What stands for a hidden one, and is it lower still?"
            expect.fail("a query that may attend to something has weights that sum to 0.", hint)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Eight query heads on 71 words in two texts, a causal mask; 5,101 words, 260 heads, and sizes from 1 on."""
        self.looks_like_attention(student)
        plain = holds_in(student, reference, self.test_multi_head, self.test_weights, self.test_output, self.test_mask)
        cases = (
            (8, 2, 17, 71, 12, 12, (2,)),
            (9, 3, 33, 33, 8, 16, ()),
            (16, 16, 2, 16, 1, 9, ()),
            (8, 1, 1, 64, 2, 1, ()),
        )
        for number, (h, g, L, S, d_k, d_v, batch) in enumerate(
            (
                *cases,
                (1, 1, 1, 1, 9, 2, (1,)),
                (2, 1, 16, 1, 16, 3, ()),
                (2, 1, 1, 5101, 1, 1, ()),
                (260, 130, 1, 2, 1, 1, ()),
            )
        ):
            heads = normal(1510 + 3 * number, *batch, h, L, d_k), normal(1511 + 3 * number, *batch, g, S, d_k)
            args = *heads, normal(1512 + 3 * number, *batch, g, S, d_v), g
            masked = (*args, np.tri(L, S, max(0, S - L), dtype=bool)) if number < 3 else args  # the last L of S words
            wanted, got = reference.grouped_query_attention(*masked), self.attend(student, *masked)
            if plain:
                self.same(got, wanted, ANY_SIZE)

    @pytest.mark.weight(0.1)
    def test_groups_of_one_size(self, student):
        """Six query heads cannot form four groups of one size: that is a ValueError."""
        self.looks_like_attention(student)
        call = lambda: student.grouped_query_attention(*self.given(885, 6, 4, 3))  # noqa: E731
        expect.raises(ValueError, call, "When do the groups come out even? Say so before you begin.")

    @pytest.mark.weight(0.1)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights."""
        self.looks_like_attention(student)
        for dtype in (np.float32, np.float64):
            got = self.attend(student, *(array.astype(dtype) for array in self.SMALL[:3]), 2, MASK)
            for part, what in zip(got, ("output", "weights"), strict=True):
                expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_attention(student)
        views = [normal(890 + i, *array.shape[:1], *array.shape[:0:-1]).swapaxes(-1, -2)
                 for i, array in enumerate(self.SMALL[:3])]  # fmt: skip
        plain = self.attend(student, *map(np.ascontiguousarray, views), 2, MASK)
        by_name = dict(reversed(list(zip(self.NAMES, (*views, 2, MASK), strict=True))))
        self.same(self.attend(student, **by_name), plain, BY_NAME)
        after = student.grouped_query_attention.inputs_after(*views, 2, MASK)
        expect.unchanged(after, [*views, 2, MASK], self.NAMES, IN_PLACE)
