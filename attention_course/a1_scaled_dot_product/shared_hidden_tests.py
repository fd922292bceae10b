"""What the hidden tests of a1 share. All sizes differ: L=4, S=5, d_k=6, d_v=3.

One case of each exercise has equal sizes, which exposes code that finds an axis by its size. One test of each uses real
sizes. Two batch axes stand for two texts with eight heads.

A test's weight is its points; together they are the points of the cell.
"""

import contextlib

import numpy as np
import pytest

from autograder.testing import expect

from ..hidden.inputs import normal
from ..hidden.properties import ANY_SIZE, keeps_digits, nothing_for_the_rest, responds, same_item_by_item
from ..hidden.unbatched import Unbatched

LARGE = 1e4  # exp(1e4) overflows even float64
# Correct float32 code with log-sum-exp is off by 2e-4 at 10,000; clipped or overflown scores by 0.1 and more.
AT_LARGE = 1e-2
DTYPES = (np.float32, np.float64)


def loosely(got):
    """`got` as numbers, whether array, tensor or list of rows. Another test judges which of these it is."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)


class AttentionTests:
    """Tests of both NumPy's and PyTorch's attention: L=4, S=5, d_k=6, d_v=3.

    Only `test_shape` asks for a tuple. Only it, `test_weights`, `test_output` and `test_batch` ask for the right kind
    of array. The others accept anything with numbers, so that a list, missing weights, or an array in place of a tensor
    costs those tests and not all.
    """

    NAME = ""
    NAMES = ("Q", "K", "V")
    Q, K, V = normal(31, 4, 6), normal(32, 5, 6), normal(33, 5, 3)
    OTHERS = (normal(34, 4, 6), normal(35, 5, 6), normal(36, 5, 3))

    def give(self, array):
        """The array in the form that this exercise takes."""
        return array

    def kind(self, got, what):
        """One part of an answer as numbers. Fails unless it is the kind of array that this exercise asks for."""
        return expect.array(got, what=what)

    def ask(self, student, *arrays):
        return getattr(student, self.NAME)(*map(self.give, arrays))

    def split(self, got, least=1):
        """Output and weights unchanged, or only the output if there are no weights. Fails below `least` values."""
        values = tuple(got) if isinstance(got, tuple | list) else (got,)
        if len(values) < least:
            expect.pair(got)
        return values[:2]

    def in_order(self, values, shapes):
        """Output before weights, identified by shape: no two are equal here. `test_shape` judges the order."""
        found = [next((v for v in values if tuple(getattr(v, "shape", ())) == shape), None) for shape in shapes]
        return tuple(values if any(part is None for part in found[: len(values)]) else found[: len(values)])

    def part(self, values, place, wanted):
        """Output or weights: the value with the shape of `wanted`, or the one at `place`."""
        return next((v for v in values if tuple(getattr(v, "shape", ())) == wanted.shape), values[place])

    def function(self, student):
        """The student's function. If it takes batches only, it gets a batch of one; `test_shape` judges that."""
        return Unbatched(getattr(student, self.NAME), 2)

    def ask_alone(self, student, *arrays):
        """The answer to a single sentence."""
        return self.function(student)(*map(self.give, arrays))

    def numbers(self, got, *arrays):
        """Output and weights as numbers, in this order, or only the output if there are no weights."""
        Q, K, V = arrays
        shapes = [(*Q.shape[:-1], V.shape[-1]), (*Q.shape[:-1], K.shape[-2])]
        return self.in_order([loosely(value) for value in self.split(got)], shapes)

    def attend(self, student, *arrays):
        """Output and weights as numbers for these arrays. The function may take batches only."""
        return self.numbers(self.ask_alone(student, *arrays), *arrays)

    def looks_like_attention(self, student):
        """Fails unless every argument matters and equal calls give equal answers."""
        responds(lambda *a: self.attend(student, *a), [self.Q, self.K, self.V], self.OTHERS, self.NAMES)

    @pytest.mark.weight(0.35)
    def test_shape(self, student):
        """Four queries, five keys, values of width three: output (4, 3), weights (4, 5), as a tuple."""
        output, weights = expect.pair(self.ask(student, self.Q, self.K, self.V))
        if getattr(output, "shape", ()) == (4, 5) and getattr(weights, "shape", ()) == (4, 3):
            expect.fail("what has the weights' shape comes first.", "In which order does the docstring name the two?")
        expect.shape(self.kind(output, "output"), (4, 3), "One row per query.", "output")
        expect.shape(self.kind(weights, "weights"), (4, 5), "One row per query, one column per key.", "weights")

    @pytest.mark.weight(0.75)
    def test_weights(self, student, reference):
        """The weights are the softmax of the scaled scores, over the keys."""
        hint = "Each row belongs to one query. What does a row sum to, and what were the scores divided by?"
        for seed, (length, keys, d_k, d_v) in ((41, (4, 5, 6, 3)), (44, (3, 2, 16, 7)), (66, (5, 5, 2, 4))):
            Q, K, V = normal(seed, length, d_k), normal(seed + 1, keys, d_k), normal(seed + 2, keys, d_v)
            _, wanted = reference.scaled_dot_product_attention(Q, K, V)
            weights = self.part(self.split(self.ask_alone(student, Q, K, V), least=2), 1, wanted)
            expect.close(self.kind(weights, "weights"), wanted, hint, "weights")

    @pytest.mark.weight(1)
    def test_output(self, student, reference):
        """The output is the sum of the values, each times its weight."""
        hint = "Each output row blends all the values. Which numbers say how much of each?"
        for seed, (length, keys, d_k, d_v) in ((47, (4, 5, 6, 3)), (50, (3, 2, 16, 7)), (69, (5, 5, 2, 4))):
            Q, K, V = normal(seed, length, d_k), normal(seed + 1, keys, d_k), normal(seed + 2, keys, d_v)
            wanted, _ = reference.scaled_dot_product_attention(Q, K, V)
            output = self.part(self.split(self.ask_alone(student, Q, K, V)), 0, wanted)
            expect.close(self.kind(output, "output"), wanted, hint, "output")

    @pytest.mark.weight(0.6)
    def test_batch(self, student, reference):
        """Several sentences at once: one batch axis in front. It stays for a batch of one."""
        hint = "Does one sentence alone come out right? Then: with three axes, which ones do you swap and sum over?"
        for batch in (3, 1):
            arrays = normal(53, batch, 4, 6), normal(54, batch, 5, 6), normal(55, batch, 5, 3)
            wanted = reference.scaled_dot_product_attention(*arrays)
            got = self.split(self.ask(student, *arrays))
            for place, name in list(enumerate(("output", "weights")))[: len(got)]:
                expect.close(self.kind(self.part(got, place, wanted[place]), name), wanted[place], hint, name)

    @pytest.mark.weight(0.5)
    def test_real_sizes(self, student, reference):
        """A text of seventy words of width 96, one of seventeen, and one query with 5100 keys."""
        for seed, (length, keys, d_k, d_v) in ((271, (70, 71, 96, 64)), (274, (17, 16, 11, 5)), (277, (1, 5100, 1, 1))):
            Q, K, V = normal(seed, length, d_k), normal(seed + 1, keys, d_k), normal(seed + 2, keys, d_v)
            wanted = reference.scaled_dot_product_attention(Q, K, V)
            for part, right, name in zip(self.attend(student, Q, K, V), wanted, ("output", "weights"), strict=False):
                expect.close(part, right, ANY_SIZE, name)

    @pytest.mark.weight(0.5)
    def test_two_batch_axes(self, student):
        """Two batch axes in front: each item attends on its own."""
        self.looks_like_attention(student)
        hint = "Which axes and sizes does your code count from the front?"
        arrays = [
            normal(56, 8, 2, 4, 6).swapaxes(0, 1),
            normal(57, 2, 8, 6, 5).swapaxes(-1, -2),
            normal(58, 2, 8, 5, 3),
        ]
        same_item_by_item(lambda *a: self.attend(student, *a), arrays, 2, hint)

    @pytest.mark.weight(0.35)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers; the largest score of a row takes all the weight."""
        self.looks_like_attention(student)
        hint = "What could be subtracted from a row of scores before exp without changing its weights?"
        for dtype in DTYPES:
            arrays = [a.astype(dtype) for a in (LARGE * self.Q, self.K, self.V)]
            for part, name in zip(self.attend(student, *arrays), ("output", "weights"), strict=False):
                expect.finite(part, hint, name)
                if name == "weights":
                    self.winners_take_all(part, hint)

    def winners_take_all(self, weights, hint):
        """Fails unless scores thousands apart give weights of 0 and 1, along any axis: no ties, and not only zeros.

        A 1 may be off by float32's rounding of large scores, a 0 may not.
        """
        between = np.minimum(np.abs(weights), np.abs(weights - 1.0)) > AT_LARGE
        if between.any() or not np.any(weights > 0.5):
            expect.fail("with scores that lie thousands apart, the largest should take all the weight.", hint)
        nothing_for_the_rest(weights)

    @pytest.mark.weight(0.25)
    def test_lengths_of_one(self, student):
        """One query, one key, width one: every axis stays."""
        self.looks_like_attention(student)
        for length, keys, d_k in ((1, 5, 6), (4, 1, 6), (1, 1, 1)):
            parts = self.attend(student, self.Q[:length, :d_k], self.K[:keys, :d_k], self.V[:keys, :1])
            for part, wanted, name in zip(parts, ((length, 1), (length, keys)), ("output", "weights"), strict=False):
                expect.shape(part, wanted, "Does something drop axes of length one?", name)
                expect.finite(part, what=name)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights."""
        self.looks_like_attention(student)
        for dtype in DTYPES:
            parts = self.attend(student, *(a.astype(dtype) for a in (self.Q, self.K, self.V)))
            for part, name in zip(parts, ("output", "weights"), strict=False):
                expect.dtype(part, dtype, "Of which type are the numbers and arrays you make yourself?", name)
                keeps_digits(part, name)

    @pytest.mark.weight(0.25)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may have any layout in memory."""
        self.looks_like_attention(student)
        arrays = [normal(59, 6, 4).T, normal(60, 5, 12)[:, ::2], normal(61, 3, 5).T]
        given = [self.give(a) for a in arrays]
        after = self.function(student).inputs_after(*given)
        expect.unchanged(after, given, self.NAMES, "Look for operators like /= and *= on an argument.")
        copied = self.attend(student, *map(np.ascontiguousarray, arrays))
        for part, same in zip(self.attend(student, *arrays), copied, strict=False):
            expect.close(part, same)

    @pytest.mark.weight(0.2)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_attention(student)
        arrays = [self.give(a) for a in (self.Q, self.K, self.V)]
        named = dict(reversed(list(zip(self.NAMES, arrays, strict=True))))
        hint = "The names of the arguments are those in the first line you were given."
        by_position = self.attend(student, self.Q, self.K, self.V)
        got = self.numbers(self.function(student)(**named), self.Q, self.K, self.V)
        for part, same in zip(got, by_position, strict=False):
            expect.close(part, same, hint)
