"""What the hidden tests of a4 share. Sizes differ: B=2, h=3, d_k=4, L=5, d_model=12; one test uses real sizes.

Ordinary input has h * d_k = h * d_v = d_model, so that a mistake with other widths fails only the tests of widths.
Output and weights are identified by their number of axes, so that a wrong order fails only `test_shape`. A module's
layers are found under any name, so that wrong names fail only `test_parameters`. A test's weight is its points;
together they are the points of the cell.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from autograder.testing import expect

from ..hidden.inputs import normal
from ..hidden.properties import keeps_digits, nothing_for_the_rest, same_item_by_item

ATOL = 1e-4  # correct float32 code is within 3e-6 of the float64 reference, the mildest known mistake 0.01 away
EXACT = 1e-9  # a masked weight is exp(-inf) or exp(-1e9): exactly 0
LARGE = 1e4  # exp(1e4) overflows even float64
LARGEST = 0.9e6  # the course promises scores up to a million
LOUD = 3e5  # put where nobody may look; gives scores of up to half a million
KEYS = ("W_Q", "W_K", "W_V", "W_O")

# Not symmetric, and nobody may look at token 2.
MASK = np.array([[1, 0, 0, 1, 0], [1, 1, 0, 0, 1], [0, 1, 0, 1, 1], [1, 0, 0, 0, 0], [0, 1, 0, 1, 1]], dtype=bool)
ONE_EACH = np.roll(np.eye(5, dtype=bool), 3, axis=1)  # query i may attend to key i + 3 alone, counted in a circle
# The last token of the first item is padding, and the first one and the last of the second.
PADDING = np.array([[1, 1, 1, 1, 0], [0, 1, 1, 1, 0]], dtype=bool)[:, np.newaxis, np.newaxis]  # (2, 1, 1, 5)


def weights_for(seed, d_model=12, num_heads=3, d_k=4, d_v=4):
    """W_Q, W_K, W_V, W_O such that scores are around 2 and outputs around 1."""
    size = 1.4 / math.sqrt(d_model)
    W_Q, W_K = size * normal(seed, d_model, num_heads * d_k), size * normal(seed + 1, d_model, num_heads * d_k)
    W_V, W_O = size * normal(seed + 2, d_model, num_heads * d_v), normal(seed + 3, num_heads * d_v, d_model)
    return W_Q, W_K, W_V, W_O / math.sqrt(num_heads * d_v)


def at_length(length):
    """A tolerance. What a floor under each weight adds to many words' blend is for the test of large scores."""
    return ATOL if length < 500 else 10 * ATOL


def with_holes(length):
    """A causal mask (length, length) that also hides some earlier words. Each word sees itself."""
    query, key = np.arange(length)[:, np.newaxis], np.arange(length)
    return (key < query) & ((query + 3 * key) % 7 > 1) | (key == query)


def in_order(X, answer):
    """Output and weights in this order. The weights are the part with one axis more than X."""
    first, second = (getattr(part, "ndim", 0) - X.ndim for part in answer)
    return answer[::-1] if (first, second) == (1, 0) else answer


class MultiHeadTests:
    """Tests of both the NumPy function and the PyTorch module.

    `attention(student)` returns a function of (X, W_Q, W_K, W_V, W_O, mask=None) to a tuple of arrays.
    """

    DTYPE = np.float64
    BATCH: tuple[int, ...] = ()  # batch axes of ordinary input
    # Batch axes, words, d_model, heads. Diagnosis looks at weights of up to 20,000 numbers. Many words have a small
    # width, and few words a large one, because correct code may multiply all words, heads and widths.
    REAL: tuple[tuple[tuple[int, ...], int, int, int], ...] = (
        ((), 70, 9, 3),
        ((), 521, 2, 1),
        ((), 16, 15, 5),
        ((), 2, 16, 2),
        ((), 4, 96, 8),
    )
    WEIGHTS = weights_for(121)
    OTHERS = weights_for(125)

    @property
    def X(self):
        """Ordinary input."""
        return self.ordinary(129)

    def ordinary(self, seed):
        """Five words of width 12."""
        return normal(seed, *self.BATCH, 5, 12)

    def attention(self, student, d_model=12, num_heads=3, d_head=4) -> Callable:
        raise NotImplementedError

    def without_help(self, student) -> Callable:
        """The same for `test_shape`, also where the other tests give a batch of one to code that takes no less."""
        return self.attention(student)

    def attend(self, attention, X, weights, mask=None):
        """Output and weights, in this order, for input of this exercise's usual dtype."""
        got = attention(X.astype(self.DTYPE), *(w.astype(self.DTYPE) for w in weights), mask=mask)
        return in_order(X, got)

    def in_shape(self, answer, rows=5, width=12, heads=3):
        """Fails unless output and weights have the shapes for ordinary input with `rows` words."""
        output, weights = answer
        expect.shape(output, (*self.BATCH, rows, width), what="the output")
        expect.shape(weights, (*self.BATCH, heads, rows, rows), "Each head has weights of its own.", "the weights")

    def looks_like_attention(self, attention):
        """Fails unless equal calls give equal answers, and other matrices give another output and other weights."""
        first, again = self.attend(attention, self.X, self.WEIGHTS), self.attend(attention, self.X, self.WEIGHTS)
        others = self.attend(attention, self.X, self.OTHERS)
        for name, before, after, changed in zip(("output", "weights"), first, again, others, strict=True):
            # An array's address in memory may change the last digits. A random number differs by far more.
            if before.shape != after.shape or not np.allclose(before, after, rtol=1e-5, atol=1e-6, equal_nan=True):
                expect.fail(f"the {name}: the same arguments give another result each time.")
            expect.differs(before, changed, "Other matrices should give another result.", f"the {name}")
        return first

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """Five words of width 12 and three heads: output (..., 5, 12), weights (..., 3, 5, 5), as a tuple."""
        given = [array.astype(self.DTYPE) for array in (self.X, *self.WEIGHTS)]
        answer = self.without_help(student)(*given)
        if in_order(self.X, answer) is not answer:
            expect.fail("what has the weights' shape comes first.", "In which order does the docstring name the two?")
        self.in_shape(answer)

    @pytest.mark.weight(0.7)
    def test_weights(self, student, reference):
        """Each head's weights: softmax over the keys of its own scores, scaled by its own width."""
        attention = self.attention(student)
        hint = "Do one head by hand: its columns of W_Q and W_K, its scores, its scale. What does a row sum to?"
        for seed in (141, 151):
            X, weights = self.ordinary(seed), weights_for(seed + 1)
            wanted = reference.multi_head_attention(X, *weights, 3)[1]
            expect.close(self.attend(attention, X, weights)[1], wanted, hint, "weights", ATOL)

    @pytest.mark.weight(1.25)
    def test_output(self, student, reference):
        """The output: each head's blend of its own values, concatenated, times W_O."""
        attention = self.attention(student)
        hint = "Do one word by hand: blend each head's values by its weights, lay them side by side. What comes last?"
        for seed in (161, 171):
            X, weights = self.ordinary(seed), weights_for(seed + 1)
            wanted = reference.multi_head_attention(X, *weights, 3)[0]
            expect.close(self.attend(attention, X, weights)[0], wanted, hint, "output", ATOL)

    @pytest.mark.weight(0.7)
    def test_real_sizes(self, student, reference):
        """Seventy words, 521, or eight heads on a width of 96: every word and every head has its share."""
        hint = expect.IfOthersPass(
            "The tests with a few words and three heads are about the rest. Is there a size in your code as a number?"
        )
        for number, (batch, length, d_model, heads) in enumerate(self.REAL):
            X, weights = normal(1100 + number, *batch, length, d_model), self.real_weights(number, d_model, heads)
            mask = with_holes(length)
            attention = self.attention(student, d_model, heads, d_model // heads)
            got = self.at_real_sizes(attention, X, weights, mask)
            for name, part, right in zip(
                ("output", "weights"), got, reference.multi_head_attention(X, *weights, heads, mask), strict=True
            ):
                expect.close(part, right, hint, f"with {length} words and {heads} heads, the {name}", at_length(length))

    def real_weights(self, number, d_model, heads):
        """The matrices of case `number` of real sizes."""
        return weights_for(1110 + 10 * number, d_model, heads, d_model // heads, d_model // heads)

    def at_real_sizes(self, attention, X, weights, mask):
        """The answer. The module's class also compares with `train()`."""
        return self.attend(attention, X, weights, mask)

    @pytest.mark.weight(0.1)
    def test_one_head_one_word(self, student):
        """One head and one word: no axis is lost, and two equal words get what one alone gets."""
        self.looks_like_attention(self.attention(student))
        attention = self.attention(student, num_heads=1, d_head=12)
        hint = "Is an axis of length one dropped?"
        alone = self.attend(attention, self.X[..., :1, :], self.WEIGHTS)
        together = self.attend(attention, self.X[..., [0, 0], :], self.WEIGHTS)
        for (output, weights), rows in ((alone, 1), (together, 2)):
            expect.shape(weights, (*self.BATCH, 1, rows, rows), hint, "the weights")
            expect.shape(output, (*self.BATCH, rows, 12), hint, "the output")
        hint = "What do two equal words blend?"
        expect.close(together[0], np.repeat(alone[0], 2, axis=-2), hint, "the output", ATOL)
        # A single word gives itself all the weight in each head, so the number of heads does not matter.
        attention = self.attention(student)
        in_three, _ = self.attend(attention, self.X[..., :1, :], self.WEIGHTS)
        expect.close(alone[0], in_three, "Is one head's result treated as that of several?", "the output", ATOL)
        as_many, _ = self.attend(attention, self.X[..., [0, 0, 0], :], self.WEIGHTS)
        hint = "Which axis holds the heads, and which one the words, if both are as long?"
        expect.close(as_many, np.repeat(in_three, 3, axis=-2), hint, "the output of three equal words", ATOL)

    @pytest.mark.weight(0.25)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each item attends on its own, with the same matrices."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        hint = "Which axes do you reshape and swap when there are more than two? Count them from the end."
        for batch, mask in ((normal(180, 3, 5, 12), None), (normal(181, 2, 4, 5, 12), MASK)):
            call = partial(self.attend, attention, weights=self.WEIGHTS, mask=mask)
            same_item_by_item(call, [batch], batch.ndim - 2, hint)

    @pytest.mark.weight(1.2)
    def test_values_with_a_mask(self, student, reference):
        """With a mask: each head's softmax is over the words that may be seen, and its blend is of these."""
        attention = self.attention(student)
        hint = "Leave out by hand what one word may not see. Does its row sum to 1 over what is left, in each head?"
        for seed, mask in ((216, MASK), (226, MASK[::-1])):
            X, weights = self.ordinary(seed), weights_for(seed + 1)
            weights[0][:, :4] = 0  # all scores of head 0 are 0
            wanted = reference.multi_head_attention(X, *weights, 3, mask)
            got = self.attend(attention, X, weights, mask)
            for name, part, right in reversed(list(zip(("output", "weights"), got, wanted, strict=True))):
                expect.close(part, right, hint, name, ATOL)

    def stands_large_scores(self, attention):
        """True if large scores without a mask give finite numbers. Otherwise `test_large_scores` fails already."""
        W_Q, *rest = self.WEIGHTS
        return all(np.isfinite(part).all() for part in self.attend(attention, self.X, [LARGE * W_Q, *rest]))

    @pytest.mark.weight(0.23)
    def test_mask(self, student):
        """A word that may not be seen has weight 0 in every head and moves no other's output; nothing is kept."""
        attention = self.attention(student)
        free, _ = self.looks_like_attention(attention)
        self.hidden_is_zero(self.attend(attention, self.X, self.WEIGHTS, MASK), MASK)
        seen, _ = self.attend(attention, self.X, self.WEIGHTS, np.ones((5, 5), dtype=bool))
        expect.close(seen, free, "A mask that hides nothing should change nothing.", "the output", ATOL)
        self.keeps_nothing(attention, free)
        if not self.stands_large_scores(attention):
            return
        # The last feature of word 2 changes its key and its value, but not its query.
        matrices = [self.WEIGHTS[0].copy(), *self.WEIGHTS[1:]]
        matrices[0][-1] = 0
        loud = self.X
        loud[..., 2, -1] = LOUD
        before, after = (self.attend(attention, X, matrices, MASK) for X in (self.X, loud))
        self.in_shape(before)
        self.in_shape(after)
        hint = "Nobody may look at word 2, but a huge number in it comes through. At which step is the mask applied?"
        quiet, others = before[0][..., [0, 1, 3, 4], :], after[0][..., [0, 1, 3, 4], :]
        expect.close(others, quiet, hint, "the output of the other words", ATOL)

    def keeps_nothing(self, attention, free):
        """Fails if an earlier call changes a later answer. `free` is the output of a call before the first mask."""
        later = self.attend(attention, self.X, self.WEIGHTS)[0]
        if later.shape != free.shape or not np.allclose(later, free, atol=ATOL):
            hint = "Does it keep something of a call?"
            expect.fail("called with a mask and then without one, it gives another output than without one.", hint)

    def hidden_is_zero(self, answer, mask):
        """Fails unless all weights are 0 where the mask is False."""
        self.in_shape(answer)
        weights = answer[1]
        hint = "The mask is True where a query may attend. Which weights must be 0, in which head?"
        hidden = np.where(np.broadcast_to(mask, weights.shape), 0, weights)
        expect.close(hidden, np.zeros(weights.shape), hint, "the weights", EXACT)

    @pytest.mark.weight(0.42)
    def test_mask_and_large_scores(self, student):
        """What is hidden stays hidden when all scores are large, above or below zero; what is seen is seen."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        if not self.stands_large_scores(attention):
            return
        causal = np.tril(np.ones((5, 5), dtype=bool))  # the first word sees only itself, whatever its score
        W_Q, *rest = self.WEIGHTS
        Q, K = (np.reshape(self.X @ W, (-1, 5, 3, 4)).swapaxes(1, 2) for W in (W_Q, rest[0]))
        largest = LARGEST / np.abs(Q @ K.swapaxes(2, 3) / 2).max()
        for factor, mask in ((LARGE, causal), (-LARGE, causal), (largest, ONE_EACH), (-largest, ONE_EACH)):
            output, weights = self.attend(attention, self.X, [factor * W_Q, *rest], mask)
            self.hidden_is_zero((output, weights), mask)
            # Over the keys or over the queries: another test judges the axis.
            if not any(np.allclose(weights.sum(axis=axis), 1, atol=0.01) for axis in (-1, -2)):
                hint = "A word that sees a single one, with a score of -10,000: which weight does it get?"
                expect.fail("with a mask, the weights do not sum to 1 when scores are large.", hint)

    @pytest.mark.weight(0.25)
    def test_mask_axes(self, student):
        """One mask for all, one for each item (B, 1, 1, L), or one for each head (h, L, L)."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        hint = "Scores are (..., h, L, L) and the mask broadcasts to that. Is it used as it comes, or given other axes?"
        pair = normal(131, 2, 5, 12)
        free = self.attend(attention, pair, self.WEIGHTS)
        filled_up = self.attend(attention, pair, self.WEIGHTS, PADDING)
        shared = self.attend(attention, pair, self.WEIGHTS, MASK)
        expect.differs(filled_up[0], free[0], "What is the mask used for?", "with a mask (2, 1, 1, 5), the output")
        for b in range(2):
            mask = np.repeat(PADDING[b, 0], 5, axis=0)  # (5, 5)
            alone = self.attend(attention, pair[b].reshape(self.one_item), self.WEIGHTS, mask)
            self.same(filled_up, alone, b, hint, f"with a mask (2, 1, 1, 5), item {b}'s")
        alone = self.attend(attention, pair[1].reshape(self.one_item), self.WEIGHTS, MASK)
        self.same(shared, alone, 1, hint, "with a mask (5, 5) for a batch of two, item 1's")
        row, rows = (self.attend(attention, self.X, self.WEIGHTS, MASK[:1].repeat(n, axis=0)) for n in (1, 5))
        expect.close(row[0], rows[0], hint, "with a mask (1, 5), the same for all queries, the output", ATOL)
        each = np.stack([MASK, MASK[::-1], np.tril(np.ones((5, 5), dtype=bool))])
        together = self.attend(attention, self.X, self.WEIGHTS, each)
        self.in_shape(together)
        for i in range(3):
            alone = self.attend(attention, self.X, self.WEIGHTS, each[i])
            self.in_shape(alone)
            shared, single = together[1][..., i, :, :], alone[1][..., i, :, :]
            expect.close(shared, single, hint, f"with a mask (3, 5, 5), head {i}'s weights", ATOL)

    @property
    def one_item(self):
        """The shape of a single item, with the same number of batch axes as ordinary input."""
        return (*(1 for _ in self.BATCH), 5, 12)

    def same(self, together, alone, item, hint, what):
        """Fails unless item `item` of a batch of two gets the same answer as alone."""
        shapes = (5, 12), (3, 5, 5)
        for name, whole, single, shape in zip(("output", "weights"), together, alone, shapes, strict=True):
            expect.shape(whole, (2, *shape), hint, f"{what} {name} with the batch")
            expect.shape(single, (*self.one_item[:-2], *shape), hint, f"{what} {name}")
            expect.close(whole[item], single.reshape(shape), hint, f"{what} {name}", ATOL)

    @pytest.mark.weight(0.35)
    def test_nothing_to_attend_to(self, student):
        """One query, or all, may attend to nothing: weights 0 and output 0; the other queries keep theirs."""
        attention = self.attention(student)
        free = self.looks_like_attention(attention)
        mask = np.ones((5, 5), dtype=bool)
        mask[1] = False
        output, weights = answer = self.attend(attention, self.X, self.WEIGHTS, mask)
        self.in_shape(answer)
        self.in_shape(free)
        hint = "Query 1 may attend to nothing: what does a softmax over nothing divide by?"
        expect.close(weights[..., 1, :], np.zeros((*self.BATCH, 3, 5)), hint, "the weights of query 1", EXACT)
        expect.close(output[..., 1, :], np.zeros((*self.BATCH, 12)), hint, "the output of query 1", EXACT)
        others = [0, 2, 3, 4]
        expect.close(output[..., others, :], free[0][..., others, :], hint, "the output of the other queries", ATOL)
        nothing = self.attend(attention, self.X, self.WEIGHTS, np.zeros((5, 5), dtype=bool))
        self.in_shape(nothing)
        hint = "No query may attend to anything: what does a softmax over nothing divide by?"
        for name, part in zip(("output", "weights"), nothing, strict=True):
            expect.close(part, np.zeros(part.shape), hint, f"with a mask that allows nothing, the {name}", EXACT)

    @pytest.mark.weight(0.35)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers, and the largest takes all the weight."""
        attention = self.attention(student)
        _, ordinary = self.looks_like_attention(attention)
        hint = "What could be subtracted from the scores before exp without changing the weights?"
        W_Q, *rest = self.WEIGHTS
        output, weights = self.attend(attention, self.X, [LARGE * W_Q, *rest])
        expect.finite(weights, hint, "weights")
        expect.finite(output, hint, "output")
        expect.shape(weights, ordinary.shape, what="the weights")
        if weights.ndim < 2:
            expect.fail(f"the weights have shape {weights.shape}: one row per query, one column per key.")
        # If scores are multiplied by 10,000, weights w1 < w2 get the ratio (w1 / w2) ** 10,000. Scores differ by 0.01
        # and more, so only the largest is left. Another test judges whether that is over the keys or the queries.
        winners = [ordinary == ordinary.max(axis=axis, keepdims=True) for axis in (-1, -2)]
        if not any(np.allclose(weights, winner, atol=0.01) for winner in winners):
            hint = "Are large scores cut off or rounded?"
            expect.fail("weights: the largest score does not take all the weight.", hint)
        nothing_for_the_rest(weights)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights, with and without a mask."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        hint = "Which dtype has what you make yourself: the scale, the masked scores, an array you fill?"
        for dtype in (np.float32, np.float64):
            for mask in (None, MASK):
                given = [array.astype(dtype) for array in (self.X, *self.WEIGHTS)]
                output, weights = in_order(self.X, attention(*given, mask=mask))
                expect.dtype(output, dtype, hint, "output")
                expect.dtype(weights, dtype, hint, "weights")
                keeps_digits(output, "output")
                keeps_digits(weights, "weights")


def padded(array, shape):
    """`array` padded at the end with zeros, up to `shape`."""
    return np.pad(array, [(0, wanted - size) for size, wanted in zip(array.shape, shape, strict=True)])
