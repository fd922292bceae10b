"""Hidden suite of a2: masks, softmax under a mask, causal attention, and masked attention in PyTorch.

Sizes differ wherever the exercise lets them. A leak through a mask is found by influence: something huge is put where
nobody may look, and nothing may move. A test's weight is its points: they add up to those of the cell.
"""

import contextlib

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal, tensor
from autograder.attention.hidden.properties import gradients_match, keeps_digits, responds, same_item_by_item
from autograder.suites import expect
from autograder.suites.student import Raised

LARGE = 1e4  # exp(1e4) overflows even float64
HUGE = 1e6  # the largest score of the contract
FAR = 1e5  # keys of this size give scores of at most a few 1e5
# Honest float32 work by log-sum-exp is off by 2e-4 at 10,000; clipped or overflown scores by 0.1 and more.
AT_LARGE = 1e-2
DTYPES = (np.float32, np.float64)
TRUTH = "What does ~ make of True, and what of the number 1?"
BY_NAME = "The names of the arguments are those in the first line you were given."


def all_low(seed, length, keys, width):
    """Queries and keys whose scores are all low: about -850,000."""
    Q, K = 1 + 0.03 * normal(seed, length, width), 1 + 0.03 * normal(seed + 1, keys, width)
    return Q, -0.85 * HUGE / np.sqrt(width) * K


def table(*rows):
    """A mask from rows of ones and zeros."""
    return np.array([[letter == "1" for letter in row] for row in rows])


# No symmetry; every row allows something and hides something, so that empty rows are a matter of their own tests.
MASK = table("100110", "011011", "000010", "111000")
OTHER_MASK = table("011100", "110010", "100101", "001011")
SOME_ZERO = np.array([[0.0, 1, 2, 0], [1, 0, -1, 0], [0, 2, 1, 0], [0, 0, 0, -2]])  # a score of 0 is one like any other
SQUARE = table("1010", "0110", "1001", "0111")  # as many queries as keys: a mask that was turned over goes in, too
PADDING = table("111000", "111110")[:, None, :]  # (2, 1, 6)
LATER = np.triu(np.ones((5, 5), dtype=bool), 1)  # what a word may not see in a text of five
ONE_EMPTY = table("100110", "000000", "000010", "111000")  # MASK, but nothing is allowed for query 1


def loosely(got):
    """`got` as numbers where its kind is judged by another test: array, tensor, or a list of rows."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)


def looks_like_weights(weights):
    """From 0 to 1, and some in between: true of every softmax, also of one under a wrong mask."""
    if np.any(weights < -1e-6) or np.any(weights > 1 + 1e-6):
        expect.fail("a weight should be a number from 0 to 1.")
    some_in_between(weights)


def some_in_between(weights):
    """Finite, and not yes or no alone, as a mask is."""
    expect.finite(weights, what="the weights")
    if not np.any((weights > 1e-3) & (weights < 1 - 1e-3)):
        expect.fail("no weight lies between 0 and 1, though there are queries that may attend to several keys.")


def zero_where(hidden, got, hint, what):
    """Exactly zero, as the docstring of the stub says; a NaN deserves words of its own."""
    expect.finite(np.where(hidden, got, 0), "Which numbers go into np.exp here, and what is divided by what?", what)
    wrong = np.argwhere(hidden & ~(got == 0))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        expect.fail(f"{what} at {list(place)} is {float(got[place]):.4g}, it should be exactly 0.", hint)


def all_zero(got, hint, what):
    """Finite first, since NaN deserves its own words; then exactly zero."""
    expect.finite(got, hint, what)
    zero_where(np.ones(got.shape, dtype=bool), got, hint, what)


def winners_take_all(weights, hint):
    """Scores that lie thousands apart give weights of 0 and 1: no tie."""
    between = np.minimum(np.abs(weights), np.abs(weights - 1.0)) > AT_LARGE
    if between.any():
        expect.fail("with scores that lie thousands apart, the largest should take all the weight.", hint)


def no_row_vanishes(weights, ordinary, hint):
    """What sums to 1 with ordinary scores does not vanish, as it would after dividing nothing by a guarded 0."""
    totals = weights.sum(axis=-1)
    gone = (totals < AT_LARGE) & (ordinary.sum(axis=-1) > 0.99)
    if gone.any():
        expect.fail(f"a query that may attend to something has weights that sum to {float(totals[gone][0]):.4g}.", hint)


@pytest.mark.exercise("causal_mask")
class TestCausalMask:
    def square(self, got, length):
        """The mask as (length, length). Lists and axes of length one in front cost tests of their own."""
        got = loosely(got)
        if got.shape[-2:] != (length, length) or got.size != length * length:
            expect.shape(got, (length, length))
        return got.reshape(length, length)

    def looks_like_a_mask(self, student):
        """Somebody may, somebody may not, and the way from query to key decides."""
        got = self.square(student.causal_mask(4), 4)
        diagonals = [np.diagonal(got, offset) for offset in range(-3, 4)]
        # One diagonal may be patched: that is judged by the values.
        if sum(np.any(d != d[0]) for d in diagonals) > 1 or np.all(got == got[0, 0]):
            expect.fail("whether a query may attend to a key should depend on which of them comes first.")

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """A mask for 5 words has one row a query and one column a key: shape (5, 5)."""
        expect.shape(expect.array(student.causal_mask(5)), (5, 5))

    @pytest.mark.weight(1.65)
    def test_values(self, student, reference):
        """Query i may attend to keys 0 to i, itself included, and to no later one."""
        hint = "Take the word of that row: at which ones may it look? Is that what the row says?"
        for length in (4, 7, 2):
            expect.equal(self.square(student.causal_mask(length), length), reference.causal_mask(length), hint)

    @pytest.mark.weight(0.4)
    def test_dtype(self, student):
        """The mask holds truth values."""
        self.looks_like_a_mask(student)
        expect.dtype(expect.array(student.causal_mask(4)), np.bool_, TRUTH)

    @pytest.mark.weight(0.3)
    def test_shorter_text(self, student):
        """The mask of a shorter text, even of one word, is a corner of that of a longer one."""
        self.looks_like_a_mask(student)
        whole = self.square(student.causal_mask(6), 6)
        hint = "Does a longer text change who may see whom?"
        for length in (3, 1):
            expect.equal(self.square(student.causal_mask(length), length), whole[:length, :length], hint)

    @pytest.mark.weight(0.2)
    def test_longer_text(self, student):
        """In a longer text, too, the way from query to key alone decides."""
        self.looks_like_a_mask(student)
        short = self.square(student.causal_mask(6), 6)
        for length in (11, 130):  # 130: more than a signed byte counts
            last = self.square(student.causal_mask(length), length)[-6:, -6:]
            expect.equal(last, short, "Is your mask made for any length?", "the mask of the last six words")

    @pytest.mark.weight(0.15)
    def test_call(self, student):
        """The length may be given by name, and asking again gives the same mask."""
        self.looks_like_a_mask(student)
        first = self.square(student.causal_mask(5), 5)
        expect.equal(self.square(student.causal_mask(length=5), 5), first, BY_NAME)


@pytest.mark.exercise("padding_mask")
class TestPaddingMask:
    LENGTHS = np.array([4, 2, 5])
    MAX_LENGTH = 7

    def rows(self, got, texts, max_length, narrow=False):
        """The mask as (B, max_length). Lists and axes of length one, wherever they are, cost tests of their own.

        narrow: a mask of fewer places will do; that it is too narrow is judged elsewhere
        """
        got = loosely(got)
        if narrow and got.size < texts * max_length and got.size % texts == 0:
            max_length = got.size // texts
        longer = [[n for n in shape if n > 1] for shape in (got.shape, (texts, max_length))]
        if longer[0] != longer[1]:
            expect.shape(got, (texts, 1, max_length))
        return got.reshape(texts, max_length)

    def looks_like_a_mask(self, student):
        """Other lengths, another mask; two kinds of entries, and both of them in each row."""
        ask = lambda *args: loosely(student.padding_mask(*args))  # noqa: E731
        responds(ask, [self.LENGTHS, self.MAX_LENGTH], [np.array([3, 6, 1])], ["lengths"])
        got = ask(self.LENGTHS, self.MAX_LENGTH)
        # Of a mask that is as wide as the longest text, that text's row is all of one kind.
        if len(np.unique(got)) != 2 or sum(len(np.unique(row)) == 2 for row in got) < 2:
            expect.fail("each entry should say yes or no, and no text here is without words or without padding.")

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Three texts and a max_length of 7 give a mask of shape (3, 1, 7)."""
        hint = "Scores have the axes text, query, key. Which of them does this mask have, and where is the other one?"
        expect.shape(expect.array(student.padding_mask(self.LENGTHS, self.MAX_LENGTH)), (3, 1, 7), hint)

    @pytest.mark.weight(1.5)
    def test_values(self, student, reference):
        """True on the real words of each text, False on its padding."""
        hint = "Take a text of two words: which places hold a word, and which is the first that does not?"
        for lengths, max_length in ((self.LENGTHS, 7), (np.array([1, 3, 4, 2]), 5), (np.array([200, 9]), 300)):
            wanted = reference.padding_mask(lengths, max_length)[:, 0]
            expect.equal(self.rows(student.padding_mask(lengths, max_length), len(lengths), max_length), wanted, hint)

    @pytest.mark.weight(0.3)
    def test_goes_with_scores(self, student):
        """The mask broadcasts to scores of shape (B, L, S), each text's row for all of its queries."""
        self.looks_like_a_mask(student)
        got = loosely(student.padding_mask(self.LENGTHS, self.MAX_LENGTH))
        rows = self.rows(got, 3, 7)
        hint = "Broadcasting lines axes up from the right. Which axis of the scores does each axis of the mask meet?"
        try:
            full = np.broadcast_to(got, (3, 4, 7))
        except ValueError:
            expect.fail(f"a mask of shape {got.shape} does not go with scores of shape (3, 4, 7).", hint)
        expect.equal(full, np.repeat(rows[:, None, :], 4, axis=1), hint)

    @pytest.mark.weight(0.2)
    def test_list(self, student):
        """`lengths` may be a list, or an array of another integer type."""
        self.looks_like_a_mask(student)
        rows = self.rows(student.padding_mask(self.LENGTHS, 7), 3, 7, narrow=True)
        for lengths in (self.LENGTHS.tolist(), self.LENGTHS.astype(np.int32)):
            got = self.rows(student.padding_mask(lengths, 7), 3, 7, narrow=True)
            expect.equal(got, rows, "What turns a list into an array?")

    @pytest.mark.weight(0.2)
    def test_edges(self, student):
        """A text without a word has the same answer everywhere, a text without padding the opposite one."""
        self.looks_like_a_mask(student)
        rows = self.rows(student.padding_mask(np.array([6, 0, 3]), 6), 3, 6)
        hint = "What does the code do when there is nothing to fill, or nothing but padding?"
        for row, length in ((0, 6), (1, 0)):
            if not np.all(rows[row] == rows[row, 0]):
                expect.fail(f"with max_length=6 and a text of length {length}, not all entries are the same.", hint)
        if rows[0, 0] == rows[1, 0]:
            expect.fail("with max_length=6, texts of length 0 and 6 have the same mask.", hint)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """The mask holds truth values."""
        self.looks_like_a_mask(student)
        got = expect.array(student.padding_mask(self.LENGTHS, self.MAX_LENGTH))
        expect.dtype(got, np.bool_, TRUTH)

    @pytest.mark.weight(0.2)
    def test_one_text(self, student):
        """A batch of one text is still a batch, with that text's row."""
        self.looks_like_a_mask(student)
        batch, alone = student.padding_mask(self.LENGTHS, 7), student.padding_mask(self.LENGTHS[1:2], 7)
        hint = "Which axes may not disappear?"
        if loosely(alone).ndim != loosely(batch).ndim:
            expect.fail(f"the mask has shape {loosely(alone).shape}.", hint)
        expect.equal(self.rows(alone, 1, 7), self.rows(batch, 3, 7)[1:2], hint)

    @pytest.mark.weight(0.15)
    def test_call(self, student):
        """The arguments may be given by name, and `lengths` is not changed."""
        self.looks_like_a_mask(student)
        first = self.rows(student.padding_mask(self.LENGTHS, 7), 3, 7, narrow=True)
        again = self.rows(student.padding_mask(max_length=7, lengths=self.LENGTHS), 3, 7, narrow=True)
        expect.equal(again, first, BY_NAME)
        expect.unchanged(student.padding_mask.inputs_after(self.LENGTHS, 7)[:1], [self.LENGTHS], ["lengths"])
        with contextlib.suppress(Raised):  # code that takes no list pays for it in `test_list`
            if student.padding_mask.inputs_after(self.LENGTHS.tolist(), 7)[0] != self.LENGTHS.tolist():
                expect.fail("lengths, a list, holds other numbers after the call than before.", "What changes a list?")


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax:
    NAMES = ("scores", "mask")
    X = normal(1, 4, 6)

    def weigh(self, student, scores, mask):
        """The weights as numbers, in the right shape; whether they are an array is judged in two tests."""
        got = loosely(student.masked_softmax(scores, mask))
        expect.shape(got, scores.shape)
        return got

    def looks_like_softmax(self, student):
        """Weights from 0 to 1 that depend on the scores and on the mask, whatever they make of it."""
        others = normal(2, 4, 6), OTHER_MASK
        responds(lambda *a: self.weigh(student, *a), [self.X, MASK], others, self.NAMES)
        looks_like_weights(self.weigh(student, self.X, MASK))

    def hidden(self, student):
        """The keys that this code hides under `MASK`: whether they are the right ones is judged by `test_values`."""
        found = self.weigh(student, self.X, MASK) < 1e-3
        if not found.any():
            expect.fail("no key has weight 0, and the mask hides some.", "What is the mask used for?")
        return found

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """The weights have the shape of the scores."""
        expect.shape(expect.array(student.masked_softmax(self.X, MASK)), (4, 6))

    @pytest.mark.weight(2)
    def test_values(self, student, reference):
        """Each row is the softmax over the keys that its query may attend to."""
        hint = "Leave out by hand what is masked in one row. Is each sum over what is left, and does the row sum to 1?"
        everything = np.ones((3, 5), dtype=bool)
        cases = (self.X, MASK), (normal(3, 4, 6), OTHER_MASK), (normal(4, 3, 5), everything), (normal(9, 4, 4), SQUARE)
        for scores, mask in [*cases, (SOME_ZERO, SQUARE)]:
            got = expect.array(student.masked_softmax(scores, mask))
            expect.close(got, reference.masked_softmax(scores, mask), hint)

    @pytest.mark.weight(0.75)
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
        cases = [(three, MASK), (three, MASK[None]), (three, PADDING), (three, np.stack([MASK, OTHER_MASK]))]
        # Axes that are equally long can be taken for each other: four texts of four words, and a table for each of two.
        alike = [(normal(11, 4, 4, 4), SQUARE), (normal(12, 2, 4, 4), np.stack([SQUARE, SQUARE[::-1]]))]
        for scores, mask in [*cases, (four, PADDING[:, None]), *alike]:
            got = self.weigh(student, scores, mask)
            full = np.broadcast_to(mask, scores.shape)
            for index in np.ndindex(*scores.shape[:-2]):
                what = f"with a mask of shape {mask.shape}, the result for batch item {list(index)}"
                expect.close(got[index], self.weigh(student, scores[index], full[index].copy()), hint, what)

    @pytest.mark.weight(0.3)
    def test_large_scores(self, student):
        """The same number added to a query's scores changes nothing, also if it is large; the largest takes all."""
        self.looks_like_softmax(student)
        before = self.weigh(student, self.X, MASK)
        everything = np.ones_like(MASK)  # what is masked has tests of its own
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
            got = expect.array(student.masked_softmax(self.X.astype(dtype), MASK))
            expect.dtype(got, dtype, "Of which type are the numbers and arrays you make yourself?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.25)
    def test_inputs_left_alone(self, student):
        """Scores and mask are not changed, and may have any layout in memory."""
        self.looks_like_softmax(student)
        scores, mask = normal(8, 6, 4).T, np.asfortranarray(MASK)
        after = student.masked_softmax.inputs_after(scores, mask)
        expect.unchanged(after, [scores, mask], self.NAMES, "Which line writes into an argument?")
        expect.close(self.weigh(student, scores, mask), self.weigh(student, scores.copy("C"), MASK))

    @pytest.mark.weight(0.2)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_softmax(student)
        got = student.masked_softmax(mask=MASK, scores=self.X)
        expect.close(loosely(got), self.weigh(student, self.X, MASK), BY_NAME)


class AttentionTests:
    """What both attention exercises have in common.

    Only `test_shape` asks for a tuple, and only it, `test_weights` and `test_output` for the right kind of array. The
    others take what has numbers, so that a list, missing weights, or an array in place of a tensor costs those tests
    and not all. Output and weights are found by shape: no two shapes are alike.
    """

    NAME = ""
    NAMES: tuple[str, ...] = ()
    SMALL: tuple[np.ndarray, ...] = ()  # queries, keys, values (and mask) without batch axes, for the gate
    OTHERS: tuple[np.ndarray, ...] = ()  # others of the same shapes
    LOW = "All scores are very low here. What makes a masked weight 0 in your code, and what is left of the others?"
    NOTHING = "Follow a row in which every key is masked through your softmax."

    def give(self, array):
        """An array as this exercise takes it."""
        return array

    def kind(self, got, what):
        """One part of an answer as numbers; it has to be of this exercise's kind."""
        return expect.array(got, what=what)

    def ask(self, student, *arrays):
        return getattr(student, self.NAME)(*map(self.give, arrays))

    def parts(self, got, Q, K, V):
        """Output and weights as they came, found by shape; the output alone where no weights came back."""
        values = got if isinstance(got, tuple | list) and got else (got,)
        shapes = [(*Q.shape[:-1], V.shape[-1]), (*Q.shape[:-1], K.shape[-2])][: len(values)]
        found = []
        for value, shape, what in zip(values, shapes, ("output", "weights"), strict=False):
            part = next((v for v in values if tuple(getattr(v, "shape", ())) == shape), value)
            expect.shape(loosely(part), shape, what=what)
            found.append(part)
        return found

    def attend(self, student, *arrays):
        """Output and weights as numbers; the output alone where no weights came back."""
        return [loosely(part) for part in self.parts(self.ask(student, *arrays), *arrays[:3])]

    def looks_like_attention(self, student):
        """Every argument matters, and the same question gets the same answer."""
        responds(lambda *a: tuple(self.attend(student, *a)), self.SMALL, self.OTHERS, self.NAMES)
        for weights in self.attend(student, *self.SMALL)[1:]:
            some_in_between(weights)

    def same(self, got, wanted, hint, where=""):
        """Two answers agree, in the output and, where there are some, in the weights."""
        for part, other, what in zip(got, wanted, ("output", "weights"), strict=False):
            expect.close(part, other, hint, what + where)

    def check_shape(self, got, output_shape, weights_shape):
        output, weights = expect.pair(got)
        if [getattr(part, "shape", ()) for part in got] == [weights_shape, output_shape]:
            expect.fail("what has the weights' shape comes first.", "In which order does the docstring name the two?")
        expect.shape(self.kind(output, "output"), output_shape, "One row a query.", "output")
        expect.shape(self.kind(weights, "weights"), weights_shape, "One row a query, one column a key.", "weights")

    def check_weights(self, student, arrays, wanted):
        hint = "Row i belongs to query i and sums to 1. Which keys take part in it, and what is a score divided by?"
        got = self.parts(self.ask(student, *arrays), *arrays[:3])
        if len(got) < 2:
            expect.pair(got[0])
        expect.close(self.kind(got[1], "weights"), wanted, hint, "weights")

    def check_output(self, student, arrays, wanted):
        hint = "Each output row blends the values that its query may see. Which numbers say how much of each?"
        output = self.parts(self.ask(student, *arrays), *arrays[:3])[0]
        expect.close(self.kind(output, "output"), wanted, hint, "output")

    def check_large(self, student, Q, *others):
        hint = "What could be subtracted from a row of scores before exp without changing its weights?"
        for dtype in DTYPES:
            arrays = [a if a.dtype == bool else a.astype(dtype) for a in (LARGE * Q, *others)]
            for part, what in zip(self.attend(student, *arrays), ("output", "weights"), strict=False):
                expect.finite(part, hint, what)
                if what == "weights":
                    winners_take_all(part, hint)
                    no_row_vanishes(part, self.attend(student, Q, *others)[-1], hint)

    def check_low(self, student, arrays, hidden):
        """Very low scores: what is hidden has weight 0 all the same, and what is seen has not.

        Code that has trouble with low scores where nothing is hidden pays for it in `test_large_scores`.
        """
        if not self.stands(student, *arrays[:3]):
            return
        for weights in self.attend(student, *arrays)[1:]:
            zero_where(hidden, weights, self.LOW, "the weight of a masked key")
            no_row_vanishes(weights, self.attend(student, *self.SMALL)[-1], self.LOW)

    def stands(self, student, Q, K, V):
        """Are there weights for such scores where the last query, at least, sees all keys?"""
        weights = self.attend(student, Q, K, V)[-1]
        return bool(np.isfinite(weights).all() and weights[-1].any())

    def check_dtype(self, student, *arrays):
        hint = "Of which type are the numbers and arrays you make yourself?"
        for dtype in DTYPES:
            given = [a if a.dtype == bool else a.astype(dtype) for a in arrays]
            for part, what in zip(self.attend(student, *given), ("output", "weights"), strict=False):
                expect.dtype(part, dtype, hint, what)
                keeps_digits(part, what)

    def check_inputs(self, student, *arrays):
        given = [self.give(array) for array in arrays]
        after = getattr(student, self.NAME).inputs_after(*given)
        hint = "Look for operators like /= and &=, and for names that end in _, on an argument."
        expect.unchanged(after, given, self.NAMES, hint)
        copied = self.attend(student, *map(np.ascontiguousarray, arrays))
        self.same(self.attend(student, *arrays), copied, "Does it matter to your code how memory is laid out?")

    def check_names(self, student, *arrays):
        named = dict(reversed(list(zip(self.NAMES, map(self.give, arrays), strict=False))))
        got = self.parts(getattr(student, self.NAME)(**named), *arrays[:3])
        self.same(map(loosely, got), self.attend(student, *arrays), BY_NAME)


@pytest.mark.exercise("causal_attention")
class TestCausalAttention(AttentionTests):
    """L=5, d=6, d_v=3, and batches of 2."""

    NAME = "causal_attention"
    NAMES = ("Q", "K", "V", "padding")
    SMALL = Q, K, V = normal(31, 5, 6), normal(32, 5, 6), normal(33, 5, 3)
    OTHERS = (normal(34, 5, 6), normal(35, 5, 6), normal(36, 5, 3))
    BATCH = (normal(37, 2, 5, 6), normal(38, 2, 5, 6), normal(39, 2, 5, 3))
    LENGTHS = (4, 2)  # the first is not the shortest: a mask of what all have in common is not the first one
    PADDING = table("11110", "11000")[:, None, :]  # (2, 1, 5)

    def with_hidden(self, lengths):
        """The batch, with huge keys and values on the padded places."""
        Q, K, V = (array.copy() for array in self.BATCH)
        for item, length in enumerate(lengths):
            K[item, length:] = FAR * normal(40 + item, 5 - length, 6)
            V[item, length:] = HUGE
        return Q, K, V

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Five words, values of width three: output (5, 3), weights (5, 5), as a tuple."""
        self.check_shape(self.ask(student, *self.SMALL), (5, 3), (5, 5))

    @pytest.mark.weight(0.65)
    def test_weights(self, student, reference):
        """The weights are the softmax of the scaled scores, over the word itself and the words before it."""
        for seed, (length, d, d_v) in ((41, (5, 6, 3)), (44, (3, 4, 7))):
            arrays = normal(seed, length, d), normal(seed + 1, length, d), normal(seed + 2, length, d_v)
            self.check_weights(student, arrays, reference.causal_attention(*arrays)[1])

    @pytest.mark.weight(0.85)
    def test_output(self, student, reference):
        """The output is the sum of the values, each times its weight."""
        for seed, (length, d, d_v) in ((47, (5, 6, 3)), (50, (4, 3, 6))):
            arrays = normal(seed, length, d), normal(seed + 1, length, d), normal(seed + 2, length, d_v)
            self.check_output(student, arrays, reference.causal_attention(*arrays)[0])

    @pytest.mark.weight(0.8)
    def test_last_word(self, student, reference):
        """The last word sees all words, so its row is that of attention without a mask."""
        for seed, (length, d, d_v) in ((106, (5, 6, 3)), (109, (4, 3, 6))):
            arrays = normal(seed, length, d), normal(seed + 1, length, d), normal(seed + 2, length, d_v)
            hint = "By which steps do scores become weights, and weights an output, where nothing is hidden?"
            wanted = [part[-1] for part in reference.causal_attention(*arrays)]
            self.same([part[-1] for part in self.attend(student, *arrays)], wanted, hint, " of the last word")

    @pytest.mark.weight(0.4)
    def test_batch_axes(self, student):
        """Batch axes in front, without padding: each item attends on its own."""
        self.looks_like_attention(student)
        hint = "Which axes do you swap, and from which do you take sizes, when there are more than two?"
        same_item_by_item(lambda *a: tuple(self.attend(student, *a)), self.BATCH, 1, hint)
        arrays = [normal(56, 3, 2, 5, 6), normal(57, 3, 2, 5, 6), normal(58, 3, 2, 5, 4)]
        same_item_by_item(lambda *a: tuple(self.attend(student, *a)), arrays, 2, hint)

    @pytest.mark.weight(0.3)
    def test_no_look_ahead(self, student):
        """What comes later changes nothing, even if it is huge, and has weight 0, exactly."""
        self.looks_like_attention(student)
        before = self.attend(student, *self.SMALL)
        hint = "The later words were replaced by huge ones. In which step do they still take part?"
        for seen in (1, 3):
            Q, K, V = self.Q.copy(), self.K.copy(), self.V.copy()
            Q[seen:], K[seen:], V[seen:] = normal(61, 5 - seen, 6), FAR * normal(62, 5 - seen, 6), HUGE
            after = self.attend(student, Q, K, V)
            self.same([a[:seen] for a in after], [b[:seen] for b in before], hint, " of the words before")
            for weights in after[1:]:
                zero_where(LATER, weights, hint, "the weight of a later word")
        self.check_low(student, [*all_low(64, 5, 5, 6), self.V], LATER)

    @pytest.mark.weight(0.4)
    def test_padding(self, student):
        """With padding, no query sees a padded key, and the real words find what they find without it."""
        self.looks_like_attention(student)
        before = self.attend(student, *self.BATCH, self.PADDING)
        hint = "How do the causal mask and the padding come together? A key has to pass both."
        for item, length in enumerate(self.LENGTHS):
            alone = self.attend(student, *(array[item, :length] for array in self.BATCH))
            got = [part[item, :length, : single.shape[-1]] for part, single in zip(before, alone, strict=False)]
            self.same(got, alone, hint, f" of the real words of item {item}")
        hint = "The padded keys and values were replaced by huge ones. In which row do they still take part?"
        self.same(self.attend(student, *self.with_hidden(self.LENGTHS), self.PADDING), before, hint)
        for weights in before[1:]:
            zero_where(np.broadcast_to(~self.PADDING, (2, 5, 5)), weights, hint, "the weight of a padded key")

    @pytest.mark.weight(0.25)
    def test_padded_queries(self, student):
        """Padding hides keys only: a query on a padded place finds what it would find as the last real word."""
        self.looks_like_attention(student)
        got = self.attend(student, *self.BATCH, self.PADDING)
        hint = "Which axis of the scores does the padding belong to, queries or keys?"
        for item, length in enumerate(self.LENGTHS):
            Q, K, V = (array[item, :length].copy() for array in self.BATCH)
            Q[-1] = self.BATCH[0][item, 4]  # the query of the last place, a padded one
            alone = [part[-1] for part in self.attend(student, Q, K, V)]
            found = [part[item, 4, : single.shape[-1]] for part, single in zip(got, alone, strict=False)]
            self.same(found, alone, hint, f" of item {item} at a padded query")

    @pytest.mark.weight(0.25)
    def test_empty_text(self, student):
        """In a text of length 0 nothing is found: weights and output are 0, not NaN, and the other text is as ever."""
        self.looks_like_attention(student)
        padding = table("00000", "11110")[:, None, :]
        arrays = self.with_hidden((0, 4))
        got = self.attend(student, *arrays, padding)
        alone = self.attend(student, *(array[1:] for array in arrays), padding[1:])
        for part, single, what in zip(got, alone, ("output", "weights"), strict=False):
            all_zero(part[0], self.NOTHING, f"{what} of a text of length 0")
            expect.close(part[1], single[0], self.NOTHING, f"{what} of the other text")

    @pytest.mark.weight(0.25)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers; the largest that a word may see takes all the weight."""
        self.looks_like_attention(student)
        self.check_large(student, *self.SMALL)

    @pytest.mark.weight(0.05)
    def test_one_word(self, student):
        """A text of one word: every axis stays."""
        self.looks_like_attention(student)
        for part, what in zip(self.attend(student, *(a[:1] for a in self.SMALL)), ("output", "weights"), strict=False):
            expect.finite(part, what=what)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights."""
        self.looks_like_attention(student)
        self.check_dtype(student, *self.SMALL)
        with contextlib.suppress(Raised):  # code that takes no batches pays for it where they are asked for
            self.check_dtype(student, *self.BATCH, self.PADDING)

    @pytest.mark.weight(0.25)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may have any layout in memory."""
        self.looks_like_attention(student)
        Q, V = (normal(seed, 2, width, 5).swapaxes(1, 2) for seed, width in ((59, 6), (63, 3)))
        K = normal(60, 2, 5, 12)[..., ::2]
        self.check_inputs(student, Q[0], K[0], V[0])
        with contextlib.suppress(Raised):  # as for dtypes
            self.check_inputs(student, Q, K, V, self.PADDING)

    @pytest.mark.weight(0.1)
    def test_by_name(self, student):
        """The arguments may be given by name, and `padding=None` is the same as no padding."""
        self.looks_like_attention(student)
        self.check_names(student, *self.SMALL)
        with contextlib.suppress(Raised):  # as for dtypes
            self.check_names(student, *self.BATCH, self.PADDING)
        got = student.causal_attention(*self.SMALL, padding=None)
        hint = "What does your code do with the padding when there is none?"
        self.same(map(loosely, self.parts(got, *self.SMALL)), self.attend(student, *self.SMALL), hint)


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
        """The small input with a huge value, and a huge key if this code stands that, hidden from all by the mask."""
        K, V, mask = self.K.copy(), self.V.copy(), mask & table("111101")
        K[4], V[4] = FAR * normal(93, 5), HUGE
        if not self.stands(student, self.Q, K, self.V):
            K = self.K
        mask[2] = table("010001")  # this query saw nothing else
        return self.Q, K, V, mask

    def seeds(self, student):
        """A tensor to weigh each of output and weights by, in the order in which this function gives them."""
        got = self.ask(student, *self.SMALL)
        swapped = isinstance(got, tuple | list) and tuple(getattr(got[0] if got else None, "shape", ())) == (4, 6)
        return list(self.SEEDS[:: -1 if swapped else 1])

    def right(self, reference, seed, mask, d_k, d_v):
        """Fresh inputs, and the right output and weights for them, by the NumPy road."""
        length, keys = mask.shape
        Q, K, V = normal(seed, length, d_k), normal(seed + 1, keys, d_k), normal(seed + 2, keys, d_v)
        weights = reference.masked_softmax(Q @ K.T / np.sqrt(d_k), mask)
        return (Q, K, V, mask), weights @ V, weights

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Four queries, six keys, values of width three: output (4, 3), weights (4, 6), as a tuple."""
        self.check_shape(self.ask(student, *self.SMALL), (4, 3), (4, 6))

    @pytest.mark.weight(0.53)
    def test_weights(self, student, reference):
        """The weights are the softmax of the scaled scores, over the keys that the mask allows."""
        cases = (81, MASK, (5, 3)), (84, table("10", "11", "01"), (4, 7)), (112, SQUARE, (5, 3))
        for seed, mask, (d_k, d_v) in cases:
            arrays, _, weights = self.right(reference, seed, mask, d_k, d_v)
            self.check_weights(student, arrays, weights)

    @pytest.mark.weight(0.65)
    def test_output(self, student, reference):
        """The output is the sum of the values, each times its weight."""
        for seed, mask, (d_k, d_v) in ((87, MASK, (5, 3)), (90, table("1101", "0110", "1011"), (2, 6))):
            arrays, output, _ = self.right(reference, seed, mask, d_k, d_v)
            self.check_output(student, arrays, output)

    @pytest.mark.weight(0.48)
    def test_without_mask(self, student, reference):
        """No mask, or `mask=None`, is attention in which every query sees all keys."""
        arrays, *wanted = self.right(reference, 115, np.ones((4, 6), dtype=bool), 5, 3)
        hint = "What does your code do with the mask when there is none?"
        self.same(self.attend(student, *arrays[:3]), wanted, hint)
        got = student.torch_masked_attention(*map(tensor, arrays[:3]), mask=None)
        self.same(map(loosely, self.parts(got, *arrays[:3])), wanted, hint)

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
        self.check_low(student, [*all_low(105, 4, 6, 5), self.V, MASK], ~MASK)

    @pytest.mark.weight(0.24)
    def test_nothing_allowed(self, student):
        """A query that may attend to nothing gets weights and output 0, not NaN, and disturbs no other."""
        self.looks_like_attention(student)
        for dtype in DTYPES:
            arrays = [array.astype(dtype) for array in (self.Q, self.K, self.V)]
            before, got = self.attend(student, *arrays, MASK), self.attend(student, *arrays, ONE_EMPTY)
            for part, other, what in zip(got, before, ("output", "weights"), strict=False):
                all_zero(part[1], self.NOTHING, f"{what} of a query that may attend to nothing")
                expect.close(part[[0, 2, 3]], other[[0, 2, 3]], self.NOTHING, f"{what} of the other queries")

    @pytest.mark.weight(0.56)
    def test_broadcast(self, student):
        """Batch axes in front, and masks that broadcast to the scores: each item attends on its own."""
        self.looks_like_attention(student)
        hint = "Axes are lined up from the right. Which ones do you swap, and does every item meet its own mask?"
        heads = normal(94, 2, 3, 4, 5), normal(95, 2, 3, 6, 5), normal(96, 2, 3, 6, 3)
        cases = [(self.BATCH, MASK), (self.BATCH, MASK[None]), (self.BATCH, PADDING), (heads, PADDING[:, None])]
        for arrays, mask in [*cases, (self.BATCH, np.stack([MASK, OTHER_MASK]))]:
            batch = arrays[0].shape[:-2]
            got = self.attend(student, *arrays, mask)
            full = np.broadcast_to(mask, (*batch, 4, 6))
            for index in np.ndindex(*batch):
                alone = self.attend(student, *(array[index] for array in arrays), full[index].copy())
                where = f" of batch item {list(index)} with a mask of shape {mask.shape}"
                self.same([part[index] for part in got], alone, hint, where)

    @pytest.mark.weight(0.28)
    def test_gradients(self, student):
        """Gradients of the output reach query, key and value."""
        self.looks_like_attention(student)
        seeds = [seed if seed is self.SEEDS[0] else None for seed in self.seeds(student)]
        gradients_match(student.torch_masked_attention, [*map(tensor, self.SMALL)], seeds, self.DETACHED, self.NAMES)

    @pytest.mark.weight(0.08)
    def test_gradients_of_weights(self, student):
        """Gradients of output and weights together reach query, key and value."""
        self.looks_like_attention(student)
        args = [*map(tensor, self.SMALL)]
        gradients_match(student.torch_masked_attention, args, self.seeds(student), self.DETACHED, self.NAMES)

    @pytest.mark.weight(0.12)
    def test_finite_gradients(self, student):
        """Gradients stay finite where nothing is allowed or a masked key is huge; an empty row has none."""
        self.looks_like_attention(student)
        hint = "Where does a NaN or an infinity arise on the way, even if the result no longer shows it?"
        # A row with nothing to see that is wrong itself has lost its points in `test_nothing_allowed`.
        empty = self.attend(student, self.Q, self.K, self.V, ONE_EMPTY)
        is_zero = not any(part[1].any() for part in empty)  # NaN is not
        args = [tensor(array) for array in self.with_hidden(student, ONE_EMPTY if is_zero else MASK)]
        gradients = student.torch_masked_attention.gradients(*args, seeds=self.seeds(student)).inputs
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
        for length, keys in ((1, 5), (4, 1)):
            everything = np.ones((length, keys), dtype=bool)
            parts = self.attend(student, self.Q[:length], self.K[:keys], self.V[:keys, :2], everything)
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

    @pytest.mark.weight(0.04)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        self.looks_like_attention(student)
        self.check_names(student, *self.SMALL)
