"""What the hidden tests of a3 share: tests of any split into heads, in NumPy and PyTorch.

Splitting copies numbers and computes nothing, so values are compared exactly. Inputs are shuffled whole numbers, each
of them once. So every misplaced number is found in any dtype (which has a test of its own), and the message is easy to
follow. All sizes differ: ordinary cases are L=6, h=3, d=4 and the like. A test's weight is its points; together they
are the points of the cell.

`test_smallest` also uses equal sizes, which expose code that finds an axis by its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from autograder.testing import expect, note

from ..hidden.inputs import normal, tensor
from ..hidden.properties import ANY_SIZE, gradients_match, parts, responds, same_item_by_item
from ..hidden.unbatched import Unbatched

LARGEST = 2048  # up to here, half precision has every whole number
LOUD = 1e6  # far above every number in `whole`, so that its place is found
BY_HAND = "Take one token of a small example by hand: where are its numbers before, and where in your result?"
FROM_THE_END = "If it is right for one item alone: count axes from the end. Which is which with one more in front?"
LOST_OR_COPIED = "Does each number of the input go to one place, or are some lost, copied or mixed?"
OTHER_ROWS = "Do rows of other tokens hold some of this token's numbers?"
LENGTH_ONE = "Is an axis of length one kept?"
AS_MANY = "Which axis holds the heads, and which one the tokens, if both are as long?"
DETACHED = "Is there a .detach(), .item(), .numpy(), .data or torch.no_grad() on the way?"
ON_AN_ARGUMENT = "Look for `argument.shape = ...`, names that end in _, and operators like *= on an argument."


def whole(seed: int, *shape: int) -> np.ndarray:
    """The numbers 1, 2, 3, ... once each, shuffled, as float64. After 2047 they start again at 0, to fit any float."""
    count = int(np.prod(shape))
    made = np.random.default_rng(seed).permutation(np.arange(1.0, count + 1)).reshape(shape) % LARGEST
    line = f"np.random.default_rng({seed}).permutation(np.arange(1.0, {count + 1})).reshape({shape})"
    note(made, line if count < LARGEST else f"np.mod({line}, {LARGEST})")
    return made


def numbers(got: Any) -> np.ndarray:
    """The numbers of an answer. A list of heads counts as their stack; `test_shape` asks for one array."""
    if not isinstance(got, list | tuple):
        return parts(got)[0]
    items = [numbers(item) for item in got]
    if not items or len({item.shape for item in items}) > 1 or not items[0].ndim:
        expect.fail(f"returned {expect.kind_of(got)}, where one array belongs.")
    return np.stack(items)


def same(got: np.ndarray, wanted: np.ndarray, hint: str) -> None:
    """Fails unless shape and numbers are exactly the same."""
    expect.shape(got, wanted.shape, hint)
    expect.equal(got, wanted, hint)


def changes(before: np.ndarray, after: np.ndarray, loud: np.ndarray, hint: str) -> np.ndarray:
    """Where two answers differ, as booleans. Each of the `loud` numbers must be in the second one, once."""
    expect.shape(after, before.shape, "Only values changed in the argument, so the shape should stay.")
    changed = before != after
    if not np.array_equal(np.sort(after[changed]), np.sort(loud, axis=None)):
        expect.fail(f"{loud.size} numbers of the input change; in the result it is not just these, each once.", hint)
    return changed


def axis_of(changed: np.ndarray, length: int) -> int:
    """The index of the one axis of this `length`. Fails unless there is exactly one."""
    if changed.shape.count(length) != 1:
        expect.fail(f"the result has shape {changed.shape}; one of its axes should be {length} long.")
    return changed.shape.index(length)


def only_row_changes(changed: np.ndarray, row: int, length: int) -> None:
    """Fails unless only `row` changes along the axis of this `length`: no token leaks into another."""
    axis = axis_of(changed, length)
    rows = np.flatnonzero(changed.any(axis=tuple(a for a in range(changed.ndim) if a != axis)))
    if rows.tolist() != [row]:
        expect.fail(f"when only the numbers of token {row} change, it is not row {row} alone that changes.", OTHER_ROWS)


class Heads:
    """How the exercises of this notebook are called: with one array, and perhaps the number of heads."""

    NAME = ""
    ARGUMENTS: tuple[str, ...] = ()  # the contract's names; the array comes first
    ORDINARY = np.empty(0)
    REST: tuple[int, ...] = ()  # num_heads for ORDINARY, if the exercise takes it
    LAYOUTS: tuple[np.ndarray, ...] = ()  # views of ORDINARY's shape with other layouts in memory

    def give(self, array: np.ndarray) -> Any:
        """The array in the form that this exercise takes."""
        return array

    def take(self, got: Any) -> np.ndarray:
        """The numbers of the answer. Fails unless it is the kind of array that the exercise asks for."""
        return expect.array(got, "Can what you have be made into one array?")

    def answer(self, student: Any, array: np.ndarray, *rest: int) -> np.ndarray:
        """The numbers of the answer."""
        return numbers(self.function(student)(self.give(array), *rest))

    def plain(self, student: Any, array: np.ndarray, *rest: int) -> np.ndarray:
        """The numbers of the answer to exactly this array, without the batch axis that `function` may add."""
        return numbers(getattr(student, self.NAME)(self.give(array), *rest))

    def function(self, student: Any) -> Unbatched:
        """The student's function for refinements. If it takes batches only, it gets a batch of one."""
        return Unbatched(getattr(student, self.NAME), self.ORDINARY.ndim)

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless every argument matters and equal calls give equal answers."""
        raise NotImplementedError

    def first_of(self, got: np.ndarray, length: int, count: int) -> np.ndarray:
        """The first `count` entries along the axis of this `length`, wherever that axis is."""
        return got.take(range(count), axis=axis_of(got, length))

    def keeps_axes(self, student: Any, cases: Sequence[tuple[Any, ...]]) -> None:
        """Fails unless the answer keeps its number of axes for small sizes, too."""
        axes = self.answer(student, self.ORDINARY, *self.REST).ndim
        for array, *rest in cases:
            got = self.answer(student, array, *rest)
            if got.ndim != axes:
                expect.fail(f"the result has shape {got.shape}.", LENGTH_ONE)


class SplitTests(Heads):
    """Tests of both NumPy's and PyTorch's split."""

    ORDINARY, REST = whole(1, 6, 12), (3,)  # (L, d_model), three heads of width 4
    LAYOUTS = (whole(2, 12, 6).T, whole(3, 6, 24)[:, ::2], whole(4, 24, 12).T[::2, ::2])

    def looks_like_an_attempt(self, student):
        responds(lambda X, h: self.answer(student, X, h), [whole(5, 6, 24), 2], [whole(6, 6, 24), 3], self.ARGUMENTS)

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Seven tokens of width ten, cut into two heads: one array of shape (2, 7, 5)."""
        got = self.take(getattr(student, self.NAME)(self.give(whole(7, 7, 10)), 2))
        expect.shape(got, (2, 7, 5), "First the heads, then the tokens, then the width of one head.")

    @pytest.mark.weight(1.7)
    def test_values(self, student, reference):
        """Head i holds the columns i * d to (i + 1) * d of each token."""
        for seed, (L, h, d) in ((11, (5, 3, 4)), (12, (2, 4, 3)), (13, (7, 2, 5))):
            X = whole(seed, L, h * d)
            same(self.plain(student, X, h), reference.split_heads(X, h), BY_HAND)

    @pytest.mark.weight(0.6)
    def test_values_in_a_batch(self, student, reference):
        """With a batch axis in front, (B, L, d_model) becomes (B, h, L, d)."""
        X = whole(14, 2, 5, 12)
        same(self.answer(student, X, 3), reference.split_heads(X, 3), FROM_THE_END)

    @pytest.mark.weight(0.5)
    def test_real_sizes(self, student, reference):
        """Seventy tokens of width 96, cut into eight heads; 33 of width 45, into nine; long texts, and wide ones."""
        cases = (whole(18, 70, 96), 8), (whole(19, 33, 45), 9), (whole(27, 5100, 2), 2), (whole(28, 2, 600), 300)
        for X, h in cases:
            same(self.answer(student, X, h), reference.split_heads(X, h), ANY_SIZE)

    @pytest.mark.weight(0.35)
    def test_batch_axes(self, student):
        """With two batch axes in front, each item is split as if it were alone."""
        self.looks_like_an_attempt(student)
        batch = whole(15, 2, 3, 8, 20)
        same_item_by_item(lambda X: self.answer(student, X, 4), [batch], 2, FROM_THE_END)

    @pytest.mark.weight(0.25)
    def test_tokens_stay_whole(self, student):
        """A row of a head holds numbers of one token, and each of a token's numbers is in one head, once."""
        self.looks_like_an_attempt(student)
        louder = self.ORDINARY.copy()
        louder[2] += LOUD
        before, after = self.answer(student, self.ORDINARY, 3), self.answer(student, louder, 3)
        only_row_changes(changes(before, after, louder[2], LOST_OR_COPIED), row=2, length=6)

    @pytest.mark.weight(0.5)
    def test_value_error(self, student):
        """Where num_heads does not divide d_model, a ValueError is raised."""
        self.looks_like_an_attempt(student)
        function = self.function(student)
        hint = "How could the function notice, before it cuts, that columns would be left over?"
        for X, h in ((whole(16, 8, 10), 4), (whole(17, 3, 8), 16)):  # first, 4 divides the number of tokens
            expect.raises(ValueError, lambda X=X, h=h: function(self.give(X), h), hint)

    @pytest.mark.weight(0.15)
    def test_smallest(self, student):
        """One head, one token, or heads of width one are split like any others."""
        self.looks_like_an_attempt(student)
        X = self.ORDINARY
        self.keeps_axes(student, [(X, 1), (X[:1], 3), (X, 12), (X[:, :1], 1)])
        only = self.answer(student, self.ORDINARY, 1)
        if only.size != 72 or not np.array_equal(only.reshape(6, 12), self.ORDINARY):
            expect.fail("with a single head, not all numbers of X came back in their order.", "What does it own?")
        first = self.first_of(self.answer(student, self.ORDINARY, 3), 6, 3)
        expect.equal(
            self.answer(student, self.ORDINARY[:3], 3), first, AS_MANY, "with as many tokens as heads, the result"
        )


class ConcatTests(Heads):
    """Tests of both NumPy's and PyTorch's concatenation."""

    ARGUMENTS = ("heads",)
    ORDINARY = whole(21, 3, 5, 4)  # (h, L, d)
    LAYOUTS = (whole(22, 4, 3, 5).transpose(1, 2, 0), whole(23, 3, 5, 8)[..., ::2], whole(24, 5, 3, 4).swapaxes(0, 1))

    def looks_like_an_attempt(self, student):
        responds(lambda heads: self.answer(student, heads), [self.ORDINARY], [whole(25, 3, 5, 4)], self.ARGUMENTS)
        got = self.answer(student, self.ORDINARY)
        in_old_order = np.array_equal(got.ravel(), self.ORDINARY.ravel())
        unchanged = got.shape == self.ORDINARY.shape or (in_old_order and got.ndim != self.ORDINARY.ndim - 1)
        if unchanged or got.ndim > self.ORDINARY.ndim:
            expect.fail("the heads came back as they were.", "Which two axes should become one?")

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Two heads of width five, seven tokens: one array of shape (7, 10)."""
        got = self.take(getattr(student, self.NAME)(self.give(whole(26, 2, 7, 5))))
        expect.shape(got, (7, 10), "One row per token, and the heads' widths side by side.")

    @pytest.mark.weight(0.9)
    def test_values(self, student, reference):
        """Each token's row holds its numbers from head 0, then those from head 1, and so on."""
        for seed, (h, L, d) in ((31, (3, 5, 4)), (32, (4, 2, 3)), (33, (2, 7, 5))):
            heads = whole(seed, h, L, d)
            same(self.plain(student, heads), reference.concat_heads(heads), BY_HAND)

    @pytest.mark.weight(0.6)
    def test_values_in_a_batch(self, student, reference):
        """With a batch axis in front, (B, h, L, d) becomes (B, L, h * d)."""
        heads = whole(34, 2, 3, 5, 4)
        same(self.answer(student, heads), reference.concat_heads(heads), FROM_THE_END)

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Seventy tokens with eight heads of width 12, 33 with nine, 5100 with two, and two with three hundred."""
        for heads in (whole(38, 8, 70, 12), whole(39, 9, 33, 5), whole(40, 2, 5100, 1), whole(29, 300, 2, 2)):
            same(self.answer(student, heads), reference.concat_heads(heads), ANY_SIZE)

    @pytest.mark.weight(0.35)
    def test_undoes_split(self, student, reference):
        """It undoes splitting, where axes were swapped and the numbers in memory stayed where they were."""
        for seed, (L, h, d) in ((35, (5, 3, 4)), (36, (7, 2, 5))):
            X = whole(seed, L, h * d)
            hint = "What did splitting do first and what last, and what has to come first to undo it?"
            same(self.answer(student, reference.split_heads(X, h)), X, hint)

    @pytest.mark.weight(0.3)
    def test_batch_axes(self, student):
        """With two batch axes in front, each item's heads are put together as if it were alone."""
        self.looks_like_an_attempt(student)
        batch = whole(37, 2, 3, 4, 6, 5)
        same_item_by_item(lambda heads: self.answer(student, heads), [batch], 2, FROM_THE_END)

    @pytest.mark.weight(0.3)
    def test_tokens_stay_whole(self, student):
        """A token's row holds all its numbers from all heads, and nothing of other tokens."""
        self.looks_like_an_attempt(student)
        louder = self.ORDINARY.copy()
        louder[:, 2] += LOUD
        before, after = self.answer(student, self.ORDINARY), self.answer(student, louder)
        only_row_changes(changes(before, after, louder[:, 2], LOST_OR_COPIED), row=2, length=5)

    @pytest.mark.weight(0.2)
    def test_smallest(self, student):
        """One head, one token, or heads of width one are put together like any others."""
        self.looks_like_an_attempt(student)
        self.keeps_axes(student, [(self.ORDINARY[:1],), (self.ORDINARY[:, :1],), (self.ORDINARY[..., :1],)])
        only = self.answer(student, self.ORDINARY[:1])
        if only.size != 20 or not np.array_equal(only.reshape(5, 4), self.ORDINARY[0]):
            expect.fail("of a single head, not all numbers came back in their order.", "What is there to put together?")
        together = self.answer(student, self.ORDINARY)
        first = self.first_of(together, 5, 3)
        expect.equal(
            self.answer(student, self.ORDINARY[:, :3]), first, AS_MANY, "with as many tokens as heads, the result"
        )
        # Heads of width one are like wider heads in which only one column is looked at.
        beside_zeros = self.answer(student, np.where(np.arange(4) == 0, self.ORDINARY, 0))
        narrow = self.answer(student, self.ORDINARY[..., :1])
        expect.equal(narrow.ravel(), beside_zeros[beside_zeros != 0], LENGTH_ONE)


class RefinementTests(Heads):
    """Tests of all exercises here, which only move numbers from one array to another."""

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, and no number is rounded."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            array = normal(71, *self.ORDINARY.shape, dtype=dtype)
            got = self.take(self.function(student)(self.give(array), *self.REST))
            expect.dtype(got, dtype, "If you make a new array: which dtype does it get?")
            if dtype == np.float64 and np.array_equal(got, got.astype(np.float32)):
                expect.fail("every number is rounded to what float32 can hold.", "Where does float32 come in?")

    @pytest.mark.weight(0.25)
    def test_inputs_left_alone(self, student):
        """The input is not changed: neither its numbers nor its shape."""
        self.looks_like_an_attempt(student)
        given = self.give(self.ORDINARY)
        after = self.function(student).inputs_after(given, *self.REST)
        expect.unchanged(after, [given, *self.REST], self.ARGUMENTS, ON_AN_ARGUMENT)

    @pytest.mark.weight(0.15)
    def test_layout_in_memory(self, student):
        """The input may be a view with any layout in memory, such as a transposed array or every second column."""
        self.looks_like_an_attempt(student)
        hint = "Which of your steps reads the numbers as they lie in memory, not as the axes say?"
        for view in self.LAYOUTS:
            plain = self.answer(student, np.ascontiguousarray(view), *self.REST)
            expect.equal(self.answer(student, view, *self.REST), plain, hint)

    @pytest.mark.weight(0.1)
    def test_by_name(self, student):
        """Arguments may be given by name."""
        self.looks_like_an_attempt(student)
        in_order = self.answer(student, self.ORDINARY, *self.REST)
        given = dict(zip(self.ARGUMENTS, (self.give(self.ORDINARY), *self.REST), strict=True))
        by_name = numbers(self.function(student)(**given))
        expect.equal(by_name, in_order, "Which names does the first line of the stub give?")


class TorchTests(RefinementTests):
    """Tests of PyTorch's exercises: tensors in, tensors out, and gradients."""

    def give(self, array: np.ndarray) -> Any:
        return tensor(array)

    def take(self, got: Any) -> np.ndarray:
        return expect.tensor(got, "Can what you have be made into one tensor?")

    @pytest.mark.weight(2)
    def test_gradients(self, student):
        """Gradients reach every number of the input."""
        self.looks_like_an_attempt(student)
        function = self.function(student)
        # Moving numbers is linear, so the slope is the same everywhere. At zero, no dtype rounds it.
        args = [tensor(np.zeros(self.ORDINARY.shape)), *self.REST]
        # Seeds of the answer's own shape: shapes have a test of their own.
        seeds = [tensor(normal(72 + i, *part.shape)) for i, part in enumerate(parts(function(*args)))]
        gradients_match(function, args, seeds, DETACHED, self.ARGUMENTS)
