"""Hidden tests of torch_masked_attention."""

import contextlib

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.inputs import normal, tensor
from ...hidden.properties import ANY_SIZE, gradients_match, some_items
from ..shared_hidden_tests import (
    ALL_KEYS,
    DTYPES,
    FAR,
    HUGE,
    MASK,
    ONE_EMPTY,
    OTHER_MASK,
    PADDING,
    SQUARE,
    AttentionTests,
    all_low,
    all_zero,
    any_mask,
    loosely,
    table,
    zero_where,
)


@pytest.mark.exercise("torch_masked_attention")
class TestTorchMaskedAttention(AttentionTests):
    """L=4, S=6, d_k=5, d_v=3, and batches of 2."""

    NAME = "torch_masked_attention"
    NAMES = ("query", "key", "value", "mask")
    SMALL = Q, K, V, _ = normal(71, 4, 5), normal(72, 6, 5), normal(73, 6, 3), MASK
    OTHERS = (normal(74, 4, 5), normal(75, 6, 5), normal(76, 6, 3), OTHER_MASK)
    BATCH = (normal(77, 2, 4, 5), normal(78, 2, 6, 5), normal(79, 2, 6, 3))
    DETACHED = "Which operations on the way hand on a gradient, and which ones let go of it?"
    SEEDS = (tensor(normal(97, 4, 3)), tensor(normal(98, 4, 6)))

    def give(self, array):
        return tensor(array)

    def kind(self, got, what):
        return expect.tensor(got, what=what)

    def with_hidden(self, student, mask):
        """The small input with a huge value that the mask hides, and a huge key if this code can handle one."""
        K, V, mask = self.K.copy(), self.V.copy(), mask & table("111101")
        K[4], V[4] = FAR * normal(93, 5), HUGE
        if not self.stands(student, self.Q, K, self.V):
            K = self.K
        mask[2] = table("010001")  # this query could see nothing else
        return self.Q, K, V, mask

    def seeds(self, student):
        """Seeds for output and weights, in the order in which this function returns them."""
        got = self.ask(student, *self.SMALL)
        swapped = isinstance(got, tuple | list) and tuple(getattr(got[0] if got else None, "shape", ())) == (4, 6)
        return list(self.SEEDS[:: -1 if swapped else 1])

    def right(self, reference, seed, mask, d_k, d_v):
        """New inputs, and the right output and weights for them, computed in NumPy. All scores of query 1 are 0."""
        length, keys = mask.shape
        Q, K, V = normal(seed, length, d_k), normal(seed + 1, keys, d_k), normal(seed + 2, keys, d_v)
        Q[1] = 0
        weights = reference.masked_softmax(Q @ K.T / np.sqrt(d_k), mask)
        return (Q, K, V, mask), weights @ V, weights

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Four queries, six keys, values of width three: output (4, 3), weights (4, 6), as a tuple."""
        self.check_shape(student, (4, 3), (4, 6))

    @pytest.mark.weight(0.43)
    def test_weights(self, student, reference):
        """The weights are the softmax of the scaled scores, over the keys that the mask allows."""
        cases = (81, MASK, (5, 3)), (84, table("10", "11", "01"), (4, 7)), (112, SQUARE, (5, 3))
        for seed, mask, (d_k, d_v) in cases:
            arrays, _, weights = self.right(reference, seed, mask, d_k, d_v)
            self.check_weights(student, arrays, weights)

    @pytest.mark.weight(0.5)
    def test_output(self, student, reference):
        """The output is the sum of the values, each times its weight."""
        for seed, mask, (d_k, d_v) in ((87, MASK, (5, 3)), (90, table("1101", "0110", "1011"), (2, 6))):
            arrays, output, _ = self.right(reference, seed, mask, d_k, d_v)
            self.check_output(student, arrays, output)

    @pytest.mark.weight(0.48)
    def test_without_mask(self, student, reference):
        """No mask, or `mask=None`, is attention in which every query sees all keys, whatever mask came before."""
        with contextlib.suppress(Raised):  # other tests judge what happens with a mask; equal calls are made only once
            self.function(student)(*map(tensor, self.right(reference, 118, MASK, 5, 3)[0]))
        arrays, *wanted = self.right(reference, 115, np.ones((4, 6), dtype=bool), 5, 3)
        hint = (
            "Here every query sees all keys. Over which axis does a row sum to 1, and what stands for a missing mask?"
        )
        self.same(self.attend(student, *arrays[:3]), wanted, hint)
        got = self.function(student)(*map(tensor, arrays[:3]), mask=None)
        self.same(map(loosely, self.parts(got, *arrays[:3])), wanted, hint)

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Seventy queries of width 96 with 71 keys, two with 5100, and eight heads in a batch of two texts."""
        padding = np.arange(16) < np.array([16, 11])[:, None, None, None]
        long = 128, (), (2, 5100, 1, 1), any_mask(131, 2, 5100)  # more keys than a table of 5,000 holds
        cases = (121, (), (70, 71, 96, 64), any_mask(127, 70, 71)), (124, (2, 8), (17, 16, 11, 5), padding), long
        for seed, batch, (length, keys, d_k, d_v), mask in cases:
            Q, K = normal(seed, *batch, length, d_k), normal(seed + 1, *batch, keys, d_k)
            arrays = Q, K, normal(seed + 2, *batch, keys, d_v), mask
            wanted = map(loosely, reference.torch_masked_attention(*map(tensor, arrays)))
            self.same(self.attend(student, *arrays), wanted, ANY_SIZE)

    @pytest.mark.weight(0.24)
    def test_no_leak(self, student):
        """A key that is masked for all changes nothing, even if it is huge, and has weight 0, exactly."""
        self.looks_like_attention(student)
        hint = "A masked key and its value were replaced by huge ones. In which step do they still take part?"
        *huge, mask = self.with_hidden(student, MASK)
        after = self.attend(student, *huge, mask)
        self.same(after, self.attend(student, self.Q, self.K, self.V, mask), hint)
        for weights in after[1:]:
            zero_where(~mask, weights, hint, "the weight of a masked key")
        self.check_low(student, [*all_low(105, 4, 6, 5), self.V, MASK], ~MASK, only=4)

    @pytest.mark.weight(0.24)
    def test_nothing_allowed(self, student):
        """One query, or all, may attend to nothing: weights and output 0, not NaN; the other queries keep theirs."""
        self.looks_like_attention(student)
        for dtype in DTYPES:
            arrays = [array.astype(dtype) for array in (self.Q, self.K, self.V)]
            before, got = self.attend(student, *arrays, MASK), self.attend(student, *arrays, ONE_EMPTY)
            for part, other, what in zip(got, before, ("output", "weights"), strict=False):
                all_zero(part[1], self.NOTHING, f"{what} of a query that may attend to nothing")
                expect.close(part[[0, 2, 3]], other[[0, 2, 3]], self.NOTHING, f"{what} of the other queries")
        got = self.attend(student, self.Q, self.K, self.V, np.zeros_like(MASK))
        for part, what in zip(got, ("output", "weights"), strict=False):
            all_zero(part, self.NOTHING, f"with a mask that allows nothing to any query, {what}")

    @pytest.mark.weight(0.4)
    def test_broadcast(self, student):
        """Batch axes in front, and masks that broadcast to the scores: each item attends on its own."""
        self.looks_like_attention(student)
        hint = "Axes are lined up from the right. Which ones do you swap, and does every item meet its own mask?"
        # The memory layout of heads that were split from words.
        heads = [normal(seed, 2, n, 3, d).swapaxes(1, 2) for seed, n, d in ((94, 4, 5), (95, 6, 5), (96, 6, 3))]
        one = [array[:1] for array in self.BATCH]
        cases = [(self.BATCH, MASK), (self.BATCH, MASK[None]), (self.BATCH, PADDING), (heads, PADDING[:, None])]
        for arrays, mask in [
            (one, PADDING[:1]),
            *cases,
            (self.BATCH, np.stack([MASK, OTHER_MASK])),
            (self.BATCH, ALL_KEYS),
        ]:
            batch = arrays[0].shape[:-2]
            got = self.attend(student, *arrays, mask)
            full = np.broadcast_to(mask, (*batch, 4, 6))
            for index in some_items(batch):
                alone = self.attend(student, *(array[index] for array in arrays), full[index].copy())
                where = f" of batch item {list(index)} with a mask of shape {mask.shape}"
                self.same([part[index] for part in got], alone, hint, where)

    @pytest.mark.weight(0.28)
    def test_gradients(self, student):
        """Gradients of the output reach query, key and value."""
        self.looks_like_attention(student)
        seeds = [seed if seed is self.SEEDS[0] else None for seed in self.seeds(student)]
        gradients_match(self.function(student), [*map(tensor, self.SMALL)], seeds, self.DETACHED, self.NAMES)

    @pytest.mark.weight(0.08)
    def test_gradients_of_weights(self, student):
        """Gradients of output and weights together reach query, key and value."""
        self.looks_like_attention(student)
        args = [*map(tensor, self.SMALL)]
        gradients_match(self.function(student), args, self.seeds(student), self.DETACHED, self.NAMES)

    @pytest.mark.weight(0.12)
    def test_finite_gradients(self, student):
        """Gradients stay finite where nothing is allowed or a masked key is huge; an empty row has none."""
        self.looks_like_attention(student)
        hint = "Where does a NaN or an infinity arise on the way, even if the result no longer shows it?"
        # If a row that may see nothing is wrong, `test_nothing_allowed` fails already.
        empty = self.attend(student, self.Q, self.K, self.V, ONE_EMPTY)
        is_zero = not any(part[1].any() for part in empty)  # not for NaN
        args = [tensor(array) for array in self.with_hidden(student, ONE_EMPTY if is_zero else MASK)]
        gradients = self.function(student).gradients(*args, seeds=self.seeds(student)).inputs
        if len(gradients) < 3 or any(gradient is None for gradient in gradients[:3]):
            expect.fail("no gradient reaches query, key or value.", self.DETACHED)
        for name, arg, gradient in zip(self.NAMES[:3], args, gradients, strict=False):
            got = expect.tensor(gradient)
            expect.shape(got, tuple(arg.shape), what=f"the gradient of {name}")
            expect.finite(got, hint, f"the gradient of {name}")
            if name == "query" and is_zero:
                all_zero(got[1], hint, "the gradient of a query that may attend to nothing")

    @pytest.mark.weight(0.2)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers; the largest that a query may see takes all the weight."""
        self.looks_like_attention(student)
        self.check_large(student, *self.SMALL)

    @pytest.mark.weight(0.04)
    def test_lengths_of_one(self, student):
        """One query, one key, one value of width one: every axis stays."""
        self.looks_like_attention(student)
        for length, keys, d_k, d_v in ((1, 5, 5, 2), (4, 1, 5, 2), (4, 6, 1, 1)):
            everything = np.ones((length, keys), dtype=bool)
            arrays = self.Q[:length, :d_k], self.K[:keys, :d_k], self.V[:keys, :d_v]
            parts = self.attend(student, *arrays, everything)
            for part, what in zip(parts, ("output", "weights"), strict=False):
                expect.finite(part, what=what)

    @pytest.mark.weight(0.14)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights."""
        self.looks_like_attention(student)
        self.check_dtype(student, *self.SMALL)

    @pytest.mark.weight(0.2)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may have any layout in memory."""
        self.looks_like_attention(student)
        mask = np.asfortranarray(MASK)
        self.check_inputs(student, normal(102, 5, 4).T, normal(103, 6, 10)[:, ::2], normal(104, 3, 6).T, mask)

    @pytest.mark.weight(0.05)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_attention(student)
        self.check_names(student, *self.SMALL)
