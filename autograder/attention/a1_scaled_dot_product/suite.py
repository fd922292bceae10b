"""Hidden suite of a1: softmax, scores, attention, and the same in PyTorch. All sizes differ: L=4, S=5, d_k=6, d_v=3.

But one case of each has sizes that are equal: there an axis found by its size, or turned because of it, shows.

A test's weight is its points: they add up to those of the cell.
"""

import contextlib

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal, tensor
from autograder.attention.hidden.properties import gradients_match, keeps_digits, responds, same_item_by_item
from autograder.attention.hidden.unbatched import Unbatched
from autograder.attention.hidden.worth import worth
from autograder.suites import expect
from autograder.suites.student import Raised

LARGE = 1e4  # exp(1e4) overflows even float64
# Honest float32 work by log-sum-exp is off by 2e-4 at 10,000; clipped or overflown scores by 0.1 and more.
AT_LARGE = 1e-2
DTYPES = (np.float32, np.float64)


def loosely(got):
    """`got` as numbers where its kind is judged by another test: array, tensor, or a list of rows."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)


@pytest.mark.exercise("softmax")
class TestSoftmax:
    ROW = np.array([-2.0, 0.5, 1.0])
    X = normal(1, 4, 5)

    def looks_like_weights(self, student):
        """One number for each score, made from the scores: true with or without exponential, right axis or sum."""
        expect.shape(loosely(student.softmax(self.ROW)), (3,))
        responds(lambda x: loosely(student.softmax(x)), [self.ROW], [2 * self.ROW + [0.0, 0.0, 1.0]], ["x"])

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """The result has the shape of the input."""
        expect.shape(expect.array(student.softmax(self.X)), (4, 5))

    @pytest.mark.weight(1)
    def test_one_row(self, student, reference):
        """One row of scores gives the right weights."""
        for x in (normal(2, 5), 2 * normal(3, 7), 6 * normal(9, 6)):
            hint = "Which two steps turn scores into weights that are positive and sum to 1?"
            expect.close(expect.array(student.softmax(x)), reference.softmax(x), hint)

    @pytest.mark.weight(1)
    def test_many_rows(self, student, reference):
        """Several rows: each gets the weights it would get alone."""
        for x in (self.X, normal(4, 3, 2), normal(5, 6, 3).T):
            hint = "Does each row sum to 1? Which axis does `axis=-1` mean, and which shape has a sum over it?"
            expect.close(expect.array(student.softmax(x)), reference.softmax(x), hint)

    @pytest.mark.weight(0.7)
    def test_axis(self, student):
        """`axis` chooses the axis to normalise over; it may count from the end."""
        self.looks_like_weights(student)
        hint = "Is `axis` used in every step?"
        x = normal(6, 3, 4, 5)
        results = []
        for axis in (0, -2, 2):
            last = np.moveaxis(x, axis, -1)
            over_the_last = loosely(student.softmax(last))
            expect.shape(over_the_last, last.shape)
            results.append(loosely(student.softmax(x, axis)))
            expect.close(results[-1], np.moveaxis(over_the_last, -1, axis), hint)
        expect.differs(results[0], results[2], hint, "with another `axis` the result")

    @pytest.mark.weight(0.2)
    def test_any_number_of_axes(self, student):
        """Any number of axes, and axes of length one, too."""
        self.looks_like_weights(student)
        hint = "Is anything taken for granted about how many axes x has?"
        same_item_by_item(lambda x: loosely(student.softmax(x)), [normal(7, 2, 3, 4, 5)], 2, hint)
        got = loosely(student.softmax(self.ROW[np.newaxis, :, np.newaxis], axis=1))
        expect.shape(got, (1, 3, 1), hint)
        expect.shape(loosely(student.softmax(self.ROW[:1])), (1,), hint)

    @pytest.mark.weight(0.3)
    def test_large_scores(self, student):
        """Scores of 10,000 still give finite weights, and the right ones."""
        self.looks_like_weights(student)
        hint = "Before np.exp, what could be subtracted from a row without changing its weights?"
        for dtype in DTYPES:
            # Two large scores share the weight as two small ones do, and those far below them get none. The large ones
            # are neither first nor last nor in the middle, so nothing but the largest helps if it is taken off.
            near = loosely(student.softmax(np.array([1.0, 0.0], dtype=dtype)))
            expect.shape(near, (2,))
            got = loosely(student.softmax(np.array([0.0, LARGE, LARGE - 1.0, 0.0, 0.0], dtype=dtype)))
            expect.close(got, np.pad(near, (1, 2)), hint, atol=AT_LARGE)
            low = loosely(student.softmax(np.array([-LARGE, -LARGE - 1.0], dtype=dtype)))
            expect.close(low, near, hint, atol=AT_LARGE)
        small = np.array([[0.0, -2.0], [0.0, 1.0]])
        apart = "Rows can lie far apart. Is each made harmless on its own?"
        got, near = (loosely(student.softmax(rows)) for rows in (small + np.array([[-LARGE], [1e6]]), small))
        expect.finite(got, apart)
        expect.close(got, near, apart, atol=AT_LARGE)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_weights(student)
        for dtype in DTYPES:
            got = expect.array(student.softmax(self.ROW.astype(dtype)))
            expect.dtype(got, dtype, "Where does the type change?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.2)
    def test_inputs_left_alone(self, student):
        """The input is not changed, and may have any layout in memory."""
        self.looks_like_weights(student)
        x = normal(8, 10)[::2]
        hint = "Look for operators like -= and /= on the argument."
        expect.unchanged(student.softmax.inputs_after(x), [x], ["x"], hint)
        copied = loosely(student.softmax(x.copy()))
        expect.close(loosely(student.softmax(x)), copied)

    @pytest.mark.weight(0.2)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_weights(student)
        hint = "The names of the arguments are those in the first line you were given."
        by_position = loosely(student.softmax(self.ROW))
        expect.close(loosely(student.softmax(axis=0, x=self.ROW)), by_position, hint)


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    NAMES = ("Q", "K")
    Q, K = normal(11, 4, 6), normal(12, 5, 6)

    def scores(self, student, Q, K):
        """Scores as numbers, whatever their kind."""
        return loosely(self.function(student)(Q, K))

    def function(self, student):
        """The student's function; where it takes no single sentence, which `test_shape` asks for, a batch of one."""
        return Unbatched(student.attention_scores, axes=2)

    def looks_like_scores(self, student):
        """Both arguments matter, and the same question gets the same answer."""
        others = normal(13, 4, 6), normal(14, 5, 6)
        responds(lambda *a: self.scores(student, *a), [self.Q, self.K], others, self.NAMES)

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Four queries and five keys give scores of shape (4, 5)."""
        got = expect.array(student.attention_scores(self.Q, self.K))
        expect.shape(got, (4, 5), "One row a query, one column a key.")

    @pytest.mark.weight(2.2)
    def test_values(self, student, reference):
        """Each score is the dot product of a query and a key, divided by the square root of d_k."""
        cases = (15, 1, (4, 5, 6)), (17, LARGE, (3, 2, 16)), (64, 1, (4, 3, 3))  # large scores; keys of a square
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

    @pytest.mark.weight(0.45)
    def test_two_batch_axes(self, student):
        """Two batch axes in front: each item is scored on its own."""
        self.looks_like_scores(student)
        hint = "Which axes and sizes does your code count from the front?"
        arrays = [normal(21, 3, 2, 4, 6).swapaxes(0, 1), normal(22, 2, 3, 6, 5).swapaxes(-1, -2)]
        same_item_by_item(lambda *a: self.scores(student, *a), arrays, 2, hint)

    @pytest.mark.weight(0.45)
    def test_lengths_of_one(self, student):
        """One query, one key, or width one: still an array with two axes, and the same numbers as among others."""
        self.looks_like_scores(student)
        whole = self.scores(student, self.Q, self.K)
        expect.shape(whole, (4, 5))
        hint = "Are sizes taken from the right axes, and does every axis stay?"
        expect.close(self.scores(student, self.Q[:1], self.K[:1]), whole[:1, :1], hint)
        expect.shape(self.scores(student, self.Q[:, :1], self.K[:, :1]), (4, 5), hint)
        with contextlib.suppress(Raised):  # code that takes no batches pays for it in `test_batch`
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

    @pytest.mark.weight(0.3)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may have any layout in memory."""
        self.looks_like_scores(student)
        Q, K = normal(23, 6, 4).T, normal(24, 5, 12)[:, ::2]
        after = self.function(student).inputs_after(Q, K)
        expect.unchanged(after, [Q, K], self.NAMES, "Look for operators like /= and *= on an argument.")
        copied = self.scores(student, np.ascontiguousarray(Q), np.ascontiguousarray(K))
        expect.close(self.scores(student, Q, K), copied)

    @pytest.mark.weight(0.3)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_scores(student)
        hint = "The names of the arguments are those in the first line you were given."
        by_position = self.scores(student, self.Q, self.K)
        expect.close(loosely(self.function(student)(K=self.K, Q=self.Q)), by_position, hint)


class AttentionTests:
    """What NumPy's and PyTorch's attention have in common: L=4, S=5, d_k=6, d_v=3.

    Only `test_shape` asks for a tuple, and only it, `test_weights`, `test_output` and `test_batch` for the right kind
    of array. The others take what has numbers, so that a list, missing weights, or an array in place of a tensor
    costs those tests and not all.
    """

    NAME = ""
    NAMES = ("Q", "K", "V")
    Q, K, V = normal(31, 4, 6), normal(32, 5, 6), normal(33, 5, 3)
    OTHERS = (normal(34, 4, 6), normal(35, 5, 6), normal(36, 5, 3))

    def give(self, array):
        """An array as this exercise takes it."""
        return array

    def kind(self, got, what):
        """One part of an answer as numbers; it has to be of this exercise's kind."""
        return expect.array(got, what=what)

    def ask(self, student, *arrays):
        return getattr(student, self.NAME)(*map(self.give, arrays))

    def split(self, got, least=1):
        """Output and weights as they came, the output alone where no weights did; fails below `least`."""
        values = tuple(got) if isinstance(got, tuple | list) else (got,)
        if len(values) < least:
            expect.pair(got)
        return values[:2]

    def in_order(self, values, shapes):
        """Output before weights, told by their shapes: no two are alike here, and `test_shape` judges the order."""
        found = [next((v for v in values if tuple(getattr(v, "shape", ())) == shape), None) for shape in shapes]
        return tuple(values if any(one is None for one in found[: len(values)]) else found[: len(values)])

    def part(self, values, place, wanted):
        """Output or weights, whichever comes first."""
        return next((v for v in values if tuple(getattr(v, "shape", ())) == wanted.shape), values[place])

    def function(self, student):
        """The student's function; where it takes no single sentence, which `test_shape` asks for, a batch of one."""
        return Unbatched(getattr(student, self.NAME), axes=2)

    def ask_alone(self, student, *arrays):
        """What comes back for a single sentence."""
        return self.function(student)(*map(self.give, arrays))

    def numbers(self, got, *arrays):
        """Output and weights as numbers, in this order; the output alone where no weights came back."""
        Q, K, V = arrays
        shapes = [(*Q.shape[:-1], V.shape[-1]), (*Q.shape[:-1], K.shape[-2])]
        return self.in_order([loosely(value) for value in self.split(got)], shapes)

    def attend(self, student, *arrays):
        """Output and weights as numbers for these arrays, also of a function that takes batches only."""
        return self.numbers(self.ask_alone(student, *arrays), *arrays)

    def looks_like_attention(self, student):
        """Every argument matters, and the same question gets the same answer."""
        responds(lambda *a: self.attend(student, *a), [self.Q, self.K, self.V], self.OTHERS, self.NAMES)

    @pytest.mark.weight(0.35)
    def test_shape(self, student):
        """Four queries, five keys, values of width three: output (4, 3), weights (4, 5), as a tuple."""
        output, weights = expect.pair(self.ask(student, self.Q, self.K, self.V))
        if getattr(output, "shape", ()) == (4, 5) and getattr(weights, "shape", ()) == (4, 3):
            expect.fail("what has the weights' shape comes first.", "In which order does the docstring name the two?")
        expect.shape(self.kind(output, "output"), (4, 3), "One row a query.", "output")
        expect.shape(self.kind(weights, "weights"), (4, 5), "One row a query, one column a key.", "weights")

    @pytest.mark.weight(1)
    def test_weights(self, student, reference):
        """The weights are the softmax of the scaled scores, over the keys."""
        hint = "Each row belongs to one query. What does a row sum to, and what were the scores divided by?"
        for seed, (length, keys, d_k, d_v) in ((41, (4, 5, 6, 3)), (44, (3, 2, 16, 7)), (66, (5, 5, 2, 4))):
            Q, K, V = normal(seed, length, d_k), normal(seed + 1, keys, d_k), normal(seed + 2, keys, d_v)
            _, wanted = reference.scaled_dot_product_attention(Q, K, V)
            weights = self.part(self.split(self.ask_alone(student, Q, K, V), least=2), 1, wanted)
            expect.close(self.kind(weights, "weights"), wanted, hint, "weights")

    @pytest.mark.weight(1.25)
    def test_output(self, student, reference):
        """The output is the sum of the values, each times its weight."""
        hint = "Each output row blends all the values. Which numbers say how much of each?"
        for seed, (length, keys, d_k, d_v) in ((47, (4, 5, 6, 3)), (50, (3, 2, 16, 7)), (69, (5, 5, 2, 4))):
            Q, K, V = normal(seed, length, d_k), normal(seed + 1, keys, d_k), normal(seed + 2, keys, d_v)
            wanted, _ = reference.scaled_dot_product_attention(Q, K, V)
            output = self.part(self.split(self.ask_alone(student, Q, K, V)), 0, wanted)
            expect.close(self.kind(output, "output"), wanted, hint, "output")

    @pytest.mark.weight(0.75)
    def test_batch(self, student, reference):
        """Several sentences at once: one batch axis in front."""
        arrays = normal(53, 2, 4, 6), normal(54, 2, 5, 6), normal(55, 2, 5, 3)
        wanted = reference.scaled_dot_product_attention(*arrays)
        hint = "Does one sentence alone come out right? Then: with three axes, which ones do you swap and sum over?"
        got = self.split(self.ask(student, *arrays))
        for place, name in list(enumerate(("output", "weights")))[: len(got)]:
            expect.close(self.kind(self.part(got, place, wanted[place]), name), wanted[place], hint, name)

    @pytest.mark.weight(0.3)
    def test_two_batch_axes(self, student):
        """Two batch axes in front: each item attends on its own."""
        self.looks_like_attention(student)
        hint = "Which axes and sizes does your code count from the front?"
        arrays = [
            normal(56, 2, 3, 4, 6).swapaxes(0, 1),
            normal(57, 3, 2, 6, 5).swapaxes(-1, -2),
            normal(58, 3, 2, 5, 3),
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
        """Scores that lie thousands apart give weights of 0 and 1 along whichever axis: no tie, and not all zero."""
        between = np.minimum(np.abs(weights), np.abs(weights - 1.0)) > AT_LARGE
        if between.any() or not np.any(weights > 0.5):
            expect.fail("with scores that lie thousands apart, the largest should take all the weight.", hint)

    @pytest.mark.weight(0.25)
    def test_lengths_of_one(self, student):
        """One query, one key, one value of width one: every axis stays."""
        self.looks_like_attention(student)
        for length, keys in ((1, 5), (4, 1), (1, 1)):
            parts = self.attend(student, self.Q[:length], self.K[:keys], self.V[:keys, :1])
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

    @pytest.mark.weight(0.25)
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


@pytest.mark.exercise("scaled_dot_product_attention")
class TestScaledDotProductAttention(AttentionTests):
    NAME = "scaled_dot_product_attention"


@pytest.mark.exercise("torch_scaled_dot_product_attention")
class TestTorchScaledDotProductAttention(AttentionTests):
    NAME = "torch_scaled_dot_product_attention"
    NAMES = ("query", "key", "value")
    DETACHED = "Which operations on the way hand on a gradient, and which ones let go of it?"

    # NumPy's tests, with some points less for two of gradients.
    test_shape = worth(0.4, AttentionTests.test_shape)
    test_weights = worth(1, AttentionTests.test_weights)
    test_output = worth(1.35, AttentionTests.test_output)
    test_batch = worth(0.8, AttentionTests.test_batch)
    test_two_batch_axes = worth(0.3, AttentionTests.test_two_batch_axes)
    test_lengths_of_one = worth(0.25, AttentionTests.test_lengths_of_one)
    test_dtype = worth(0.25, AttentionTests.test_dtype)
    test_inputs_left_alone = worth(0.3, AttentionTests.test_inputs_left_alone)
    test_by_name = worth(0.25, AttentionTests.test_by_name)

    def give(self, array):
        return tensor(array)

    def kind(self, got, what):
        return expect.tensor(got, what=what)

    SEEDS = (tensor(normal(62, 4, 3)), tensor(normal(63, 4, 5)))  # to weigh each of output and weights by

    def seeded(self, student):
        """The arguments, and the seeds in the order in which this function gives output and weights."""
        got = self.split(self.function(student)(*map(self.give, (self.Q, self.K, self.V))))
        swapped = len(got) == 2 and tuple(getattr(got[0], "shape", ())) == (4, 5)
        return [tensor(a) for a in (self.Q, self.K, self.V)], list(self.SEEDS[:: -1 if swapped else 1])

    @pytest.mark.weight(0.4)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers and gradients; the largest of a row takes all the weight."""
        super().test_large_scores(student)
        args, seeds = self.seeded(student)
        with contextlib.suppress(Raised):  # code that takes no gradient at all pays for it in `test_gradients`
            given = self.function(student).gradients(LARGE * args[0], *args[1:], seeds=seeds)
            for gradient, name in zip(given.inputs, self.NAMES, strict=False):
                if gradient is not None:
                    expect.finite(gradient, what=f"the gradient of {name}")

    @pytest.mark.weight(0.5)
    def test_gradients(self, student):
        """Gradients of the output reach query, key and value."""
        args, seeds = self.seeded(student)
        of_output = [seed if seed is self.SEEDS[0] else None for seed in seeds]
        gradients_match(self.function(student), args, of_output, self.DETACHED, self.NAMES)

    @pytest.mark.weight(0.2)
    def test_gradients_of_weights(self, student):
        """Gradients of output and weights together reach query, key and value."""
        args, seeds = self.seeded(student)
        gradients_match(self.function(student), args, seeds, self.DETACHED, self.NAMES)
