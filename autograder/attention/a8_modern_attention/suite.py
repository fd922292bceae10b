"""Hidden suite of a8: what a decoder of today has that the one of a5 has not.

Sizes differ: h=6 query heads, 2 or 3 of keys and values, L=5, S=7, d_k=4, d_v=3. Values are judged against the
reference, refinements by properties of the student's own function. A test's weight is its points: they add up to those
of the cell.
"""

import contextlib
import math

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal, tensor
from autograder.attention.hidden.modules import (
    Module,
    expect_parameters,
    gradients_reach,
    same_each_time,
    with_any_weights,
)
from autograder.attention.hidden.properties import keeps_digits, responds, same_in_batches, same_item_by_item
from autograder.suites import expect
from autograder.suites.student import HeldTooMuch

ATOL = 1e-4  # honest float32 work is within 1e-5 of the float64 reference, the mildest known mistake 0.01 away
LARGE = 1e4  # exp(1e4) overflows even float64
# Honest work on 250 queries and 1,500 keys holds a block and at most copies of K and V, 0.2 MB; 0.3 MB if each step is
# asked for elsewhere, 100 times. The table of scores has 3 MB, or 1.5 in float32. (A question has 256 rows at most.)
MEMORY = 500_000  # bytes
LOUD = 1e5  # put into what must not be seen
BY_NAME = "The names of the arguments are those in the first line you were given."
IN_PLACE = "Look for operators like *= on an argument, and for writing into one."
DTYPE = "Is an array made on the way, and of which dtype?"
FROM_THE_END = "Which axis does your code count from the front?"


def loosely(got):
    """`got` as numbers, also of a tensor or of a list of rows: that it is an array is judged by one test alone."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)


def places(*numbers):
    """Positions, as whole numbers."""
    return np.array(numbers)


@pytest.mark.exercise("rotate")
class TestRotate:
    NAMES = ("x", "positions", "base")
    X, AT = normal(801, 5, 8), places(0, 3, 4, 9, 17)  # five vectors of four pairs

    def turn(self, student, x, positions, *base):
        """The result, in the shape of x."""
        got = loosely(student.rotate(x, positions, *base))
        expect.shape(got, x.shape, "What goes in and what comes out are queries or keys.")
        return got

    def looks_like_an_attempt(self, student):
        """Other vectors at other positions give another result; and so do the same vectors at other positions."""
        call = lambda *args: self.turn(student, *args)  # noqa: E731
        responds(call, [self.X, self.AT], [normal(802, 5, 8), None], self.NAMES)

    def compare(self, student, reference, hint, *cases):
        for x, positions in cases:
            expect.close(self.turn(student, x, positions), reference.rotate(x, positions), hint, atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Five vectors of width eight come out in the shape they went in: (5, 8)."""
        expect.shape(expect.array(student.rotate(self.X, self.AT)), (5, 8))

    @pytest.mark.weight(0.5)
    def test_one_pair(self, student, reference):
        """Vectors of width two: a single pair, turned by the position."""
        hint = "Where does (1, 0) go at position 1, and where (0, 1)?"
        self.compare(student, reference, hint, (normal(803, 5, 2), self.AT), (normal(804, 3, 2), places(2, 1, 6)))

    @pytest.mark.weight(0.94)
    def test_values(self, student, reference):
        """Several pairs: neighbours are turned together, each pair at its own speed."""
        hint = "Do the example by hand, pair by pair: which columns belong together, and what is their angle?"
        given = (normal(805, 5, 8), self.AT), (normal(806, 4, 6), places(1, 0, 40, 7))
        self.compare(student, reference, hint, *given)

    @pytest.mark.weight(0.4)
    def test_distance(self, student):
        """Scores depend on how far apart two words are, and not on where they stand."""
        self.looks_like_an_attempt(student)
        hint = "Turn a query by 5 and a key by 3, then by 15 and by 13. Between the two, what has changed?"
        q, k = np.tile(normal(807, 1, 8), (5, 1)), np.tile(normal(808, 1, 8), (5, 1))
        first = self.turn(student, q, self.AT) @ self.turn(student, k, self.AT).T
        for more in (1, 20, 120):  # the last is past 127, where a signed byte ends
            later = self.turn(student, q, self.AT + more) @ self.turn(student, k, self.AT + more).T
            expect.close(later, first, hint, f"the scores, {more} places on,", ATOL)

    @pytest.mark.weight(0.2)
    def test_length(self, student):
        """Turning makes no vector longer or shorter."""
        self.looks_like_an_attempt(student)
        lengths = np.linalg.norm(self.turn(student, self.X, self.AT), axis=-1)
        hint = "The squares of a cosine and a sine add up to 1. What do the squares of your pair add up to?"
        expect.close(lengths, np.linalg.norm(self.X, axis=-1), hint, "the length of the turned vectors", ATOL)

    @pytest.mark.weight(0.15)
    def test_base(self, student):
        """Another base gives the pairs after the first other speeds; the first turns as ever."""
        self.looks_like_an_attempt(student)
        hint = "Where does base come in, and what is it to the power of 0?"
        ordinary, other = self.turn(student, self.X, self.AT), self.turn(student, self.X, self.AT, 50.0)
        expect.differs(other, ordinary, hint, "with base = 50, the result")
        fixed = self.turn(student, self.X, self.AT, 10000.0)
        expect.close(
            fixed, ordinary, "Which base does the first line of the stub give?", "with base = 10000, the result"
        )

    @pytest.mark.weight(0.25)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each text is turned by the same positions."""
        self.looks_like_an_attempt(student)
        call = lambda x: self.turn(student, x, self.AT)  # noqa: E731
        same_in_batches(call, [[normal(809, 3, 5, 8)], [normal(810, 2, 3, 5, 4)]], FROM_THE_END)

    @pytest.mark.weight(0.1)
    def test_these_positions(self, student):
        """It is these positions that count, in any order, and not the place in the array."""
        self.looks_like_an_attempt(student)
        order = [3, 0, 4, 2, 1]
        got = self.turn(student, self.X[order], self.AT[order])
        hint = "A vector's angle comes from its entry in positions. Does yours?"
        expect.close(got, self.turn(student, self.X, self.AT)[order], hint, "in another order, the result", ATOL)

    @pytest.mark.weight(0.11)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.turn(student, self.X.astype(dtype), self.AT)
            expect.dtype(got, dtype, DTYPE)
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        x = normal(811, 8, 5).T
        plain = self.turn(student, np.ascontiguousarray(x), self.AT, 10000.0)
        by_name = loosely(student.rotate(base=10000.0, positions=self.AT, x=x))
        expect.close(by_name, plain, BY_NAME, atol=ATOL)
        after = student.rotate.inputs_after(x, self.AT)
        expect.unchanged(after, [x, self.AT], self.NAMES, IN_PLACE)


def table(*rows):
    """A mask from rows of ones and zeros."""
    return np.array([[letter == "1" for letter in row] for row in rows])


# Five queries, seven keys; no symmetry, and every row allows something and hides something.
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
        output, weights = expect.pair(student.grouped_query_attention(*args, **more))
        return loosely(output), loosely(weights)

    def looks_like_attention(self, student):
        """Other queries give other weights, from 0 to 1, and some in between."""
        call = lambda *args: self.attend(student, *args)  # noqa: E731
        responds(call, self.SMALL, [normal(824, 6, 5, 4), None, None, None], self.NAMES)

    def given(self, seed, h, g, d_v, batch=()):
        """Fresh queries, keys and values of h and g heads."""
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
        expect.shape(expect.array(weights, what="weights"), (6, 5, 7), "One row a query, one column a key.", "weights")

    @pytest.mark.weight(0.3)
    def test_multi_head(self, student, reference):
        """As many heads of keys as of queries: each head attends on its own, as in multi-head attention."""
        args = self.given(830, 3, 3, 3)
        hint = "One head alone is scaled dot-product attention. Which line is different from it?"
        self.same(self.attend(student, *args), reference.grouped_query_attention(*args), hint)

    @pytest.mark.weight(0.32)
    def test_weights(self, student, reference):
        """Neighbouring query heads share the keys of one head."""
        for args in (self.given(835, 6, 2, 3), self.given(840, 6, 3, 5)):
            wanted = reference.grouped_query_attention(*args)[1]
            expect.close(self.attend(student, *args)[1], wanted, self.GROUPS, "weights", ATOL)

    @pytest.mark.weight(0.37)
    def test_output(self, student, reference):
        """Neighbouring query heads blend the values of one head."""
        for args in (self.given(845, 6, 2, 3), self.given(850, 4, 2, 6)):
            wanted = reference.grouped_query_attention(*args)[0]
            expect.close(self.attend(student, *args)[0], wanted, self.GROUPS, "output", ATOL)

    @pytest.mark.weight(0.15)
    def test_multi_query(self, student, reference):
        """One head of keys and values for all queries."""
        args = self.given(855, 3, 1, 3)
        self.same(self.attend(student, *args), reference.grouped_query_attention(*args), "Who shares the one head?")

    @pytest.mark.weight(0.15)
    def test_who_shares(self, student):
        """A louder head of values is heard by as many query heads as share it, next to each other, and by no other."""
        self.looks_like_attention(student)
        before = self.attend(student, *self.SMALL)[0]
        for head in (0, 1):
            louder = self.V.copy()
            louder[head] += 5
            after = self.attend(student, self.Q, self.K, louder, 2)[0]
            expect.shape(after, before.shape, what="output")
            heard = np.flatnonzero((np.abs(after - before) > 1e-3).any(axis=(-2, -1))).tolist()
            if len(heard) != 3 or heard[-1] - heard[0] != 2:
                told = ", ".join(map(str, heard)) or "none"
                expect.fail(f"when the values of head {head} change, these query heads change: {told}.", self.GROUPS)

    @pytest.mark.weight(0.6)
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
        """A query that may attend to nothing gets weights and output 0, not NaN, and disturbs no other."""
        self.looks_like_attention(student)
        before, got = self.attend(student, *self.SMALL, MASK), self.attend(student, *self.SMALL, ONE_EMPTY)
        hint = "If every key is hidden, what do you divide by, and what should come out?"
        others = [0, 2, 3, 4]
        for part, other, what in zip(got, before, ("output", "weights"), strict=True):
            expect.finite(part, hint, what)
            expect.equal(part[:, 1], np.zeros_like(part[:, 1]), hint, f"{what} of a query that may attend to nothing")
            expect.close(part[:, others], other[:, others], hint, f"{what} of the other queries", ATOL)

    @pytest.mark.weight(0.15)
    def test_batch_axes(self, student):
        """One batch axis or two: each text attends on its own."""
        self.looks_like_attention(student)
        call = lambda Q, K, V: self.attend(student, Q, K, V, 2)  # noqa: E731
        batches = [self.given(880, 4, 2, 3, batch)[:3] for batch in ((3,), (2, 3))]
        same_in_batches(call, batches, FROM_THE_END)

    @pytest.mark.weight(0.15)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers."""
        self.looks_like_attention(student)
        hint = "What could be subtracted from a row of scores before exp without changing its weights?"
        for part, what in zip(
            self.attend(student, LARGE * self.Q, *self.SMALL[1:]), ("output", "weights"), strict=True
        ):
            expect.finite(part, hint, what)
        # All scores far below zero, and a mask: what is seen must not vanish beside what stands for hidden.
        ordinary = self.attend(student, *self.SMALL, MASK)[1].sum(axis=-1)
        low = self.attend(student, -LARGE * (1 + np.abs(self.Q)), 1 + np.abs(self.K), self.V, 2, MASK)[1].sum(axis=-1)
        if low.shape == ordinary.shape and ((low < 0.01) & (ordinary > 0.99)).any():
            hint = "All scores are very low here. What stands for a hidden one, and is it lower still?"
            expect.fail("a query that may attend to something has weights that sum to 0.", hint)

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


@pytest.mark.exercise("cache_bytes")
class TestCacheBytes:
    NAMES = ("num_layers", "num_kv_heads", "d_head", "length", "bytes_per_number")

    def count(self, got):
        """The number of bytes; that it is an int is judged by one test alone."""
        if isinstance(got, bool) or not isinstance(got, int | float | np.integer | np.floating):
            expect.fail(f"gave back {expect.kind_of(got)}, not an int.")
        return float(got)

    def looks_like_an_attempt(self, student):
        """Ten times as much is not as much, whether of layers, heads, width or words: of two of them at least."""
        few, *more = [
            self.count(student.cache_bytes(*[n * (10 if i == place else 1) for i, n in enumerate((2, 3, 4, 5))], 3))
            for place in (None, 0, 1, 2, 3)
        ]
        if few <= 0 or sum(many != few for many in more) < 2:
            expect.fail("the count is the same with other numbers, or none at all.", "What is it made from?")

    def compare(self, student, reference, hint, *cases):
        for case in cases:
            got = self.count(student.cache_bytes(*case))
            if got != reference.cache_bytes(*case):
                expect.fail(f"counted {got:,.0f} bytes.", hint, got=got)

    @pytest.mark.weight(0.5)
    def test_values(self, student, reference):
        """Keys and values, of each layer, head and word, at 3 bytes a number, or 1."""
        hint = "Count the keys first: of how many layers, heads and words, and how wide is each?"
        self.compare(student, reference, hint, (2, 3, 7, 11, 3), (32, 8, 128, 128_000, 1), (5, 1, 9, 13, 3))

    @pytest.mark.weight(0.2)
    def test_two_bytes(self, student):
        """Without bytes_per_number it is 2, as in float16."""
        self.looks_like_an_attempt(student)
        hint = "How many bytes does the first line of the stub give a number?"
        for case in ((2, 3, 7, 11), (6, 5, 8, 3)):
            plain, two = self.count(student.cache_bytes(*case)), self.count(student.cache_bytes(*case, 2))
            if plain != two:
                expect.fail(f"counted {plain:,.0f} bytes, and {two:,.0f} with bytes_per_number = 2.", hint)

    @pytest.mark.weight(0.15)
    def test_twice(self, student):
        """Twice as many layers, heads, words or bytes, or twice the width: twice the cache."""
        self.looks_like_an_attempt(student)
        before = self.count(student.cache_bytes(3, 5, 7, 11, 2))
        for place, name in enumerate(self.NAMES):
            case = [number * (2 if i == place else 1) for i, number in enumerate((3, 5, 7, 11, 2))]
            after = self.count(student.cache_bytes(*case))
            if after != 2 * before:
                expect.fail(f"with twice the {name}, {after:,.0f} bytes follow on {before:,.0f}.", "Should it double?")

    @pytest.mark.weight(0.1)
    def test_int(self, student):
        """The answer is an int."""
        self.looks_like_an_attempt(student)
        got = student.cache_bytes(2, 3, 4, 5)
        if not isinstance(got, int | np.integer):
            expect.fail(f"gave back {expect.kind_of(got)}, not an int.", "Is there a half of a byte anywhere?")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword."""
        self.looks_like_an_attempt(student)
        plain = self.count(student.cache_bytes(2, 3, 4, 5, 4))
        by_name = dict(reversed(list(zip(self.NAMES, (2, 3, 4, 5, 4), strict=True))))
        if self.count(student.cache_bytes(**by_name)) != plain:
            expect.fail("gave back something else than with the same arguments by position.", BY_NAME)


# ---------------------------------------------------------------- one word at a time


@pytest.mark.exercise("decoding_step")
class TestDecodingStep:
    """A step costs the work of one word: the words before are not given, only their keys and values."""

    NAMES = ("x", "K", "V", "W_Q", "W_K", "W_V", "W_O", "num_heads")
    PARTS = ("output", "K", "V")

    @staticmethod
    def given(seed, words, h=6, g=2, batch=()):
        """A newest word of width 10, a cache of so many words, and weights for heads of width 4; no two sizes alike."""
        x, cache = normal(seed, *batch, 10), [normal(seed + i, *batch, g, words, 4) for i in (1, 2)]
        wide, narrow = 0.5 * normal(seed + 3, 10, 4 * h), [0.5 * normal(seed + i, 10, 4 * g) for i in (4, 5)]
        return x, *(cache if words else (None, None)), wide, *narrow, 0.3 * normal(seed + 6, 4 * h, 10), h

    SMALL = given(900, 5)

    def step(self, student, *args, **more):
        """Output and cache as arrays."""
        got = student.decoding_step(*args, **more)
        if not isinstance(got, tuple | list) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (output, K, V).")
        return tuple(loosely(part) for part in got)

    def looks_like_an_attempt(self, student):
        """Another word gives another output."""
        call = lambda *args: self.step(student, *args)  # noqa: E731
        responds(call, self.SMALL, [normal(910, 10)], self.NAMES)

    def compare(self, student, reference, hint, part, *cases):
        for args in cases:
            got, wanted = self.step(student, *args), reference.decoding_step(*args)
            expect.close(got[part], wanted[part], hint, self.PARTS[part], ATOL)

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """A word of width 10 and a cache of 5 words: output (10,), K and V of 6 words, (2, 6, 4), as a tuple."""
        got = student.decoding_step(*self.SMALL)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (output, K, V).")
        for part, shape, what in zip(got, ((10,), (2, 6, 4), (2, 6, 4)), self.PARTS, strict=True):
            expect.shape(expect.array(part, what=what), shape, "One word comes in, one more is in the cache.", what)

    @pytest.mark.weight(0.3)
    def test_keys(self, student, reference):
        """The new key, turned by its position, stands behind those that were there."""
        hint = "At which position does the newest word stand, and which keys have been turned already?"
        self.compare(student, reference, hint, 1, self.given(915, 5), self.given(925, 3, 4, 4))

    @pytest.mark.weight(0.2)
    def test_values_in_the_cache(self, student, reference):
        """The new value stands behind those that were there, as it is."""
        hint = "Which matrix makes a value, which columns of it are a head's, and is a value turned?"
        self.compare(student, reference, hint, 2, self.given(935, 5), self.given(945, 3, 4, 4))

    @pytest.mark.weight(0.67)
    def test_output(self, student, reference):
        """The output: what the new word finds among all words so far, itself among them, times W_O."""
        hint = "Whom does the newest word attend to, with which query, and where do its heads' results go?"
        self.compare(
            student, reference, hint, 0, self.given(955, 5), self.given(965, 3, 4, 2), self.given(975, 7, 3, 1)
        )

    @pytest.mark.weight(0.15)
    def test_first_word(self, student, reference):
        """Before the first word there is no cache: it stands at position 0 and attends to itself."""
        args = self.given(985, 0)
        got, wanted = self.step(student, *args), reference.decoding_step(*args)
        for part, other, what in zip(got, wanted, self.PARTS, strict=True):
            expect.close(part, other, "K and V are None here. What is the cache afterwards?", what, ATOL)

    @pytest.mark.weight(0.2)
    def test_word_by_word(self, student):
        """Each step goes on from the cache that the one before gave: what is in it stays, word for word."""
        self.looks_like_an_attempt(student)
        hint = "What was in the cache before: is it there afterwards, at the beginning, as it was?"
        _, *rest = self.SMALL
        K, V = rest[:2]
        for number in range(2):
            _, new_K, new_V = self.step(student, normal(995 + number, 10), K, V, *rest[2:])
            for new, old, what in ((new_K, K, "K"), (new_V, V, "V")):
                expect.shape(new, (2, 6 + number, 4), hint, what)
                expect.close(new[:, :-1], old, hint, f"what was in {what} before", ATOL)
            K, V = new_K, new_V

    @pytest.mark.weight(0.1)
    def test_who_is_heard(self, student):
        """Every word in the cache is heard, from the first to the last."""
        self.looks_like_an_attempt(student)
        before = self.step(student, *self.SMALL)[0]
        for word in (0, 4):
            V = self.SMALL[2].copy()
            V[:, word] += 5
            louder = (*self.SMALL[:2], V, *self.SMALL[3:])
            hint = "Is any word of the cache hidden from the newest one?"
            what = f"when the value of word {word} changes, the output"
            expect.differs(self.step(student, *louder)[0], before, hint, what)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """One batch axis or two: each text has its own newest word and its own cache."""
        self.looks_like_an_attempt(student)
        for axes, batch in ((1, (3,)), (2, (2, 3))):
            x, K, V, *weights = self.given(1005, 5, batch=batch)
            call = lambda x, K, V: self.step(student, x, K, V, *weights)  # noqa: B023, E731
            same_item_by_item(call, [x, K, V], axes, FROM_THE_END)

    @pytest.mark.weight(0.08)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in all three."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.step(student, *(array.astype(dtype) for array in self.SMALL[:-1]), 6)
            for part, what in zip(got, self.PARTS, strict=True):
                expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory; the cache that comes in stays as it is."""
        self.looks_like_an_attempt(student)
        x, K, V, *weights, h = self.SMALL
        views = (x, *(np.ascontiguousarray(part.swapaxes(-1, -2)).swapaxes(-1, -2) for part in (K, V)), *weights, h)
        by_name = self.step(student, **dict(reversed(list(zip(self.NAMES, views, strict=True)))))
        for part, other, what in zip(by_name, self.step(student, *self.SMALL), self.PARTS, strict=True):
            expect.close(part, other, BY_NAME, what, ATOL)
        after = student.decoding_step.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, IN_PLACE)


# ---------------------------------------------------------------- who sees whom


@pytest.mark.exercise("sliding_window_mask")
class TestSlidingWindowMask:
    def mask(self, student, length, *args, **more):
        """The mask as True and False; that it is of bools is judged by one test alone."""
        got = loosely(student.sliding_window_mask(length, *args, **more))
        expect.shape(got, (length, length), "One row a query, one column a key.")
        return got.astype(bool)

    def looks_like_a_mask(self, student):
        """Some may, some may not, and the window has a say."""
        got = self.mask(student, 8, 3)
        if got.all() or not got.any():
            expect.fail("all may attend to all, or nobody to anybody.", "Whom does word 5 see through a window of 3?")
        expect.differs(self.mask(student, 8, 5), got, "Where does window come in?", "with a larger window, the mask")

    def compare(self, student, reference, hint, *cases):
        for case in cases:
            wanted = reference.sliding_window_mask(*case)
            got = self.mask(student, *case)
            wrong = np.argwhere(got != wanted)
            if len(wrong):
                i, j = wrong[0]
                verb = "may" if got[i, j] else "may not"
                expect.fail(f"query {i} {verb} attend to key {j}.", hint, got=got)

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """A mask for 6 words has one row a query and one column a key: shape (6, 6)."""
        expect.shape(expect.array(student.sliding_window_mask(6, 2)), (6, 6))

    @pytest.mark.weight(0.7)
    def test_window(self, student, reference):
        """Without sinks: a word sees the last `window` words, itself among them, and none that comes later."""
        hint = "Count the words that word 5 sees: how many, and is it one of them?"
        self.compare(student, reference, hint, (8, 3), (7, 4), (9, 2))

    @pytest.mark.weight(0.5)
    def test_sinks(self, student, reference):
        """With sinks: the first words, too, for everyone who comes after them."""
        hint = "Which words does the last word see, and may word 0 see a sink that comes later?"
        self.compare(student, reference, hint, (10, 2, 4), (9, 3, 2), (8, 2, 1))

    @pytest.mark.weight(0.15)
    def test_wide_window(self, student):
        """A window as long as the text, or longer, hides only what comes later."""
        self.looks_like_a_mask(student)
        hint = "How many words are there before word 2, and what if the window has room for more?"
        for length, window in ((5, 5), (5, 9), (130, 200)):
            expect.equal(self.mask(student, length, window), np.tri(length, dtype=bool), hint)

    @pytest.mark.weight(0.1)
    def test_window_of_one(self, student):
        """A window of 1: each word sees itself alone."""
        self.looks_like_a_mask(student)
        expect.equal(self.mask(student, 6, 1), np.eye(6, dtype=bool), "Which word does a window of 1 hold?")

    @pytest.mark.weight(0.1)
    def test_many_sinks(self, student):
        """More sinks than words: all that came before are seen."""
        self.looks_like_a_mask(student)
        for length, sinks in ((5, 5), (4, 7)):
            got = self.mask(student, length, 2, sinks)
            expect.equal(got, np.tri(length, dtype=bool), "If all words are sinks, whom does a word see?")

    @pytest.mark.weight(0.1)
    def test_shorter(self, student):
        """The mask of a shorter text is the corner of a longer one's."""
        self.looks_like_a_mask(student)
        whole = self.mask(student, 9, 3, 1)
        for length in (5, 1):
            hint = "Does whom a word sees depend on how many come after it?"
            expect.equal(self.mask(student, length, 3, 1), whole[:length, :length], hint)

    @pytest.mark.weight(0.15)
    def test_dtype(self, student):
        """The mask is of True and False: dtype bool."""
        self.looks_like_a_mask(student)
        expect.dtype(expect.array(student.sliding_window_mask(6, 2, 1)), np.bool_, "What does ~ make of the number 1?")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword, and without sinks there are none."""
        self.looks_like_a_mask(student)
        by_name = self.mask_by_name(student)
        expect.equal(by_name, self.mask(student, 7, 3, 0), BY_NAME)
        expect.equal(self.mask(student, 7, 3), by_name, "How many sinks does the first line of the stub give?")

    def mask_by_name(self, student):
        return loosely(student.sliding_window_mask(sinks=0, window=3, length=7)).astype(bool)


# ---------------------------------------------------------------- a cache that keeps and forgets


@pytest.mark.exercise("KeyValueCache")
class TestKeyValueCache:
    """Each call makes a cache, appends some words, and takes what the last of its methods gives."""

    KEYS, VALUES = normal(1030, 2, 9, 4), normal(1031, 2, 9, 3)  # nine words, two heads of keys and values

    @staticmethod
    def words(keys, values, count):
        """The steps that append so many words, one after the other."""
        return [("append", keys[..., n : n + 1, :], values[..., n : n + 1, :]) for n in range(count)]

    def raw(self, student, *limits, count=9, **more):
        """What the last of so many words gives back, as it is."""
        return student.KeyValueCache.use(self.words(self.KEYS, self.VALUES, count), *limits, **more)

    def kept(self, student, *limits, count=9, keys=KEYS, values=VALUES, **more):
        """K and V after so many words, as arrays."""
        got = student.KeyValueCache.use(self.words(keys, values, count), *limits, **more)
        if not isinstance(got, tuple | list) or len(got) != 2:
            expect.fail(f"append gave back {expect.kind_of(got)}, not the tuple (K, V).")
        return tuple(loosely(part) for part in got)

    def looks_like_an_attempt(self, student):
        """Other words give something else back."""
        call = lambda keys, values: self.kept(student, count=5, keys=keys, values=values)  # noqa: E731
        responds(call, [self.KEYS, self.VALUES], [normal(1032, 2, 9, 4), normal(1033, 2, 9, 3)], ("key", "value"))

    def compare(self, student, reference, hint, *cases):
        for window, sinks, count in cases:
            wanted = self.kept(reference, window, sinks, count=count)
            for part, other, what in zip(self.kept(student, window, sinks, count=count), wanted, "KV", strict=True):
                expect.close(part, other, hint, what, ATOL)

    @pytest.mark.weight(0.09)
    def test_shape(self, student):
        """Nine words, no window: K (2, 9, 4) and V (2, 9, 3), as a tuple."""
        got = self.raw(student)
        if not isinstance(got, tuple) or len(got) != 2:
            expect.fail(f"append gave back {expect.kind_of(got)}, not the tuple (K, V).")
        for part, shape, what in zip(got, ((2, 9, 4), (2, 9, 3)), "KV", strict=True):
            expect.shape(expect.array(part, what=what), shape, "One more word at a time. Along which axis?", what)

    @pytest.mark.weight(0.22)
    def test_everything(self, student, reference):
        """Without a window every word is kept, in its order."""
        hint = "Where does the newest word go, and what becomes of those before it?"
        self.compare(student, reference, hint, (None, 0, 1), (None, 0, 5), (None, 2, 4))

    @pytest.mark.weight(0.19)
    def test_window(self, student, reference):
        """With a window, the last words are kept and no others."""
        hint = "After nine words, with a window of 4: which are the last four?"
        self.compare(student, reference, hint, (4, 0, 9), (3, 0, 5), (1, 0, 4))

    @pytest.mark.weight(0.18)
    def test_sinks(self, student, reference):
        """With sinks, the first words are kept beside the last ones, each of them once."""
        hint = "After nine words, with a window of 3 and two sinks: which five are left? And after four words?"
        self.compare(student, reference, hint, (3, 2, 9), (2, 1, 4), (1, 3, 6), (4, 2, 5))

    @pytest.mark.weight(0.12)
    def test_length(self, student):
        """len(cache) is how many words are kept: 0 at first, and never more than window and sinks together."""
        self.looks_like_an_attempt(student)
        for limits, count in (((), 0), ((), 5), ((3, 1), 2), ((3, 1), 9)):
            steps = [*self.words(self.KEYS, self.VALUES, count), ("len",)]
            got = student.KeyValueCache.use(steps, *limits)
            if type(got) is not int:
                expect.fail(f"len gave back {expect.kind_of(got)}, not an int.")
            held = self.kept(student, *limits, count=count)[0].shape[-2] if count else 0
            if got != held:
                expect.fail(f"len gave {got}, where {held} words are kept.", "Of what is it to be the number?")

    @pytest.mark.weight(0.05)
    def test_each_its_own(self, student):
        """A new cache is empty, whatever other caches hold."""
        self.looks_like_an_attempt(student)
        alone = self.kept(student, count=1)
        for part, what in zip(alone, "KV", strict=True):
            hint = "What is made once for the class, and what in __init__, for each object?"
            expect.shape(part, (2, 1, part.shape[-1]), hint, f"after the first word of a new cache, {what}")

    @pytest.mark.weight(0.05)
    def test_batch_axes(self, student):
        """One batch axis or two: each text has its own keys and values."""
        self.looks_like_an_attempt(student)
        call = lambda keys, values: self.kept(student, 3, 1, count=6, keys=keys, values=values)  # noqa: E731
        for axes, batch in ((1, (3,)), (2, (2, 3))):
            given = normal(1040, *batch, 2, 6, 4), normal(1041, *batch, 2, 6, 3)
            same_item_by_item(call, given, axes, FROM_THE_END)

    @pytest.mark.weight(0.05)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in K and V."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            given = {"keys": self.KEYS.astype(dtype), "values": self.VALUES.astype(dtype)}
            for part, what in zip(self.kept(student, 3, 1, **given), "KV", strict=True):
                expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """window and sinks may come by keyword, and the words that come in stay as they are."""
        self.looks_like_an_attempt(student)
        by_name = self.kept(student, sinks=1, window=3)
        for part, other, what in zip(by_name, self.kept(student, 3, 1), "KV", strict=True):
            expect.close(part, other, BY_NAME, what, ATOL)
        steps = self.words(self.KEYS, self.VALUES, 6)
        before = [part for _, *parts in steps for part in parts]
        expect.unchanged(student.KeyValueCache.inputs_after_use(steps, 3, 1), before, ("key", "value") * 6, IN_PLACE)


# ---------------------------------------------------------------- online softmax


@pytest.mark.exercise("online_softmax_step")
class TestOnlineSoftmaxStep:
    NAMES = ("largest", "total", "mixed", "Q", "K", "V")
    PARTS = NAMES[:3]
    AGAIN = "What was measured from the old largest score: how much is it, measured from the new one?"

    @staticmethod
    def given(seed, *batch, above=0.0, keys=4):
        """What came before and a block of keys, for five queries; what came before had scores larger by `above`."""
        largest, total = normal(seed, *batch, 5) + above, 1 + np.abs(normal(seed + 1, *batch, 5))
        mixed = 2 * normal(seed + 2, *batch, 5, 3)
        block = normal(seed + 4, *batch, keys, 7), normal(seed + 5, *batch, keys, 3)
        return largest, total, mixed, normal(seed + 3, *batch, 5, 7), *block

    @staticmethod
    def beginning(seed, keys=4):
        """Before the first block."""
        _, _, _, *block = TestOnlineSoftmaxStep.given(seed, keys=keys)
        return np.full(5, -np.inf), np.zeros(5), np.zeros((5, 3)), *block

    SMALL = given(1020)

    def step(self, student, *args, **more):
        """The three as arrays."""
        got = student.online_softmax_step(*args, **more)
        if not isinstance(got, tuple | list) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (largest, total, mixed).")
        return tuple(loosely(part) for part in got)

    def looks_like_an_attempt(self, student):
        """Another block gives another answer."""
        call = lambda *args: self.step(student, *args)  # noqa: E731
        others = [None, None, None, normal(1030, 5, 7), normal(1031, 4, 7), normal(1032, 4, 3)]
        responds(call, self.SMALL, others, self.NAMES)

    def compare(self, student, reference, hint, part, *cases):
        for args in cases:
            got, wanted = self.step(student, *args), reference.online_softmax_step(*args)
            expect.close(got[part], wanted[part], hint, self.PARTS[part], ATOL)

    def mixture(self, got):
        """What the output would be now."""
        _, total, mixed = got
        with np.errstate(all="ignore"):
            return mixed / total[..., np.newaxis]

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """Five queries, four keys, values of width three: (5,), (5,) and (5, 3), as a tuple."""
        got = student.online_softmax_step(*self.SMALL)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (largest, total, mixed).")
        for part, shape, what in zip(got, ((5,), (5,), (5, 3)), self.PARTS, strict=True):
            expect.shape(expect.array(part, what=what), shape, "One number a query, one row a query.", what)

    @pytest.mark.weight(0.22)
    def test_largest(self, student, reference):
        """The largest score so far, of this block and of those before."""
        hint = "Each query has a largest score of its own. What are scores divided by, and what was there before?"
        self.compare(student, reference, hint, 0, self.given(1040), self.given(1050, above=1.0, keys=6))

    @pytest.mark.weight(0.4)
    def test_total(self, student, reference):
        """The total so far, measured from the new largest score, plus that of the block."""
        self.compare(student, reference, self.AGAIN, 1, self.given(1060), self.given(1070, above=1.0, keys=6))

    @pytest.mark.weight(0.4)
    def test_mixed(self, student, reference):
        """The values mixed so far, measured from the new largest score, plus those of the block."""
        *before, K, V = self.given(1095, above=1.0)
        as_wide = (*(part[:3] for part in before), K, V)  # as many queries as values are wide
        cases = self.given(1080), self.given(1090, above=1.0, keys=6), as_wide
        self.compare(student, reference, self.AGAIN, 2, *cases)

    @pytest.mark.weight(0.2)
    def test_first_block(self, student, reference):
        """Before the first block nothing has been seen: -inf, 0 and 0."""
        args = self.beginning(1100)
        hint = "What is e to the power of -inf, and is anything NaN on the way?"
        for part, other, what in zip(
            self.step(student, *args), reference.online_softmax_step(*args), self.PARTS, strict=True
        ):
            expect.finite(part, hint, what)
            expect.close(part, other, hint, what, ATOL)

    @pytest.mark.weight(0.2)
    def test_in_any_blocks(self, student):
        """A block of six keys, or its halves one after the other: the same in the end."""
        self.looks_like_an_attempt(student)
        *before, Q, K, V = self.given(1110, keys=6)
        whole = self.step(student, *before, Q, K, V)
        half = self.step(student, *before, Q, K[:3], V[:3])
        got = self.step(student, *half, Q, K[3:], V[3:])
        hint = "When a larger score turns up later, what becomes of what was summed up before?"
        expect.close(self.mixture(got), self.mixture(whole), hint, "what is mixed, by the total,", ATOL)

    @pytest.mark.weight(0.1)
    def test_quiet_block(self, student):
        """A block whose scores are all far below adds nothing, and what was there stays."""
        self.looks_like_an_attempt(student)
        args = self.given(1120, above=1e4)
        got = self.step(student, *args)
        hint = "If the largest score stays the same, by what does the old part shrink?"
        expect.close(self.mixture(got), self.mixture(args[:3]), hint, "what is mixed, by the total,", ATOL)

    @pytest.mark.weight(0.1)
    def test_large_scores(self, student):
        """Scores of 10,000 and -10,000 give finite numbers, in the first block and later."""
        self.looks_like_an_attempt(student)
        hint = "What is subtracted from a score before e is raised to it?"
        for before in (self.beginning(1130)[:3], self.SMALL[:3]):
            _, _, _, Q, K, V = self.given(1130)
            for queries, keys in ((LARGE * Q, K), (-LARGE * np.abs(Q), np.abs(K))):  # the largest is low as well
                for part, what in zip(self.step(student, *before, queries, keys, V), self.PARTS, strict=True):
                    expect.finite(part, hint, what)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each text on its own."""
        self.looks_like_an_attempt(student)
        call = lambda *args: self.step(student, *args)  # noqa: E731
        same_in_batches(call, [self.given(1140, 3), self.given(1150, 2, 3)], FROM_THE_END)

    @pytest.mark.weight(0.08)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in all three."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.step(student, *(array.astype(dtype) for array in self.SMALL))
            for part, what in zip(got, self.PARTS, strict=True):
                expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        views = [array.T.copy().T for array in self.SMALL]
        by_name = self.step(student, **dict(reversed(list(zip(self.NAMES, views, strict=True)))))
        for part, other, what in zip(by_name, self.step(student, *self.SMALL), self.PARTS, strict=True):
            expect.close(part, other, BY_NAME, what, ATOL)
        after = student.online_softmax_step.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, IN_PLACE)


@pytest.mark.exercise("online_softmax_attention")
class TestOnlineSoftmaxAttention:
    NAMES = ("Q", "K", "V", "block_size")
    SMALL = (normal(1160, 5, 7), normal(1161, 9, 7), normal(1162, 9, 3), 4)

    def attend(self, student, *args, **more):
        """The output; also where weights, or something else, came with it."""
        got = student.online_softmax_attention(*args, **more)
        return loosely(got[0] if isinstance(got, tuple) and got else got)

    def looks_like_an_attempt(self, student):
        """Other queries give another output."""
        responds(lambda *args: self.attend(student, *args), self.SMALL, [normal(1163, 5, 7)], self.NAMES)

    def compare(self, student, reference, hint, *cases):
        for keys, block_size in cases:
            args = normal(1170, 5, 7), normal(1171 + keys, keys, 7), normal(1190 + keys, keys, 3), block_size
            wanted = reference.online_softmax_attention(*args)
            expect.close(self.attend(student, *args), wanted, hint, "the output", ATOL)

    @pytest.mark.weight(0.05)
    def test_shape(self, student):
        """Five queries, values of width three: an array of shape (5, 3), and no weights."""
        expect.shape(expect.array(student.online_softmax_attention(*self.SMALL)), (5, 3))

    @pytest.mark.weight(0.3)
    def test_values(self, student, reference):
        """Several blocks of one size: the output of attention."""
        hint = "What is divided by what at the very end? And where does each block begin?"
        self.compare(student, reference, hint, (8, 4), (9, 3), (6, 1))

    @pytest.mark.weight(0.2)
    def test_last_block(self, student, reference):
        """The last block may be shorter: no key is left out, none is taken twice."""
        hint = "With 9 keys in blocks of 4, how many blocks are there, and what is in the last one?"
        self.compare(student, reference, hint, (9, 4), (11, 6))

    @pytest.mark.weight(0.05)
    def test_one_block(self, student, reference):
        """A block that holds all keys, or has room for more."""
        hint = "How many blocks are there if one holds all keys?"
        self.compare(student, reference, hint, (6, 6), (5, 50))

    @pytest.mark.weight(0.1)
    def test_low_scores(self, student):
        """Scores of 10,000, of -10,000, and both in one row, give finite numbers."""
        self.looks_like_an_attempt(student)
        Q, K = 1 + 0.1 * np.abs(normal(1210, 5, 7)), 1 + 0.1 * np.abs(normal(1211, 9, 7))
        far_apart = LARGE * self.SMALL[0], self.SMALL[1][:8]  # some queries' largest is in the first block, some not
        cases = (LARGE * Q, K), (-LARGE * Q, K), far_apart
        outputs = [self.attend(student, queries, keys, self.SMALL[2][: len(keys)], 4) for queries, keys in cases]
        for output in outputs:  # all are asked before one is judged, so that a diagnosis hears all
            expect.finite(output, "What is the largest score so far, before the first block and after it?", "output")

    @pytest.mark.weight(0.1)
    def test_no_table(self, student):
        """250 queries, 1,500 keys in blocks of 15: the table of all scores is at no time in memory."""
        self.looks_like_an_attempt(student)
        Q, K, V = normal(1230, 250, 4), normal(1231, 1500, 4), normal(1232, 1500, 3)
        try:
            student.online_softmax_attention.within(MEMORY, Q, K, V, 15)
        except HeldTooMuch as error:
            hint = (
                "Which array in your code has a row for each query and a column for each key, and who needs all of it?"
            )
            text = "the scores of a block take 0.03 MB, those of all keys 3 MB."
            expect.fail(f"{error.args[0].removesuffix('.')}; {text}", hint, cause="memory")

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """One batch axis or two: each text on its own."""
        self.looks_like_an_attempt(student)
        for axes, batch in ((1, (3,)), (2, (2, 3))):
            args = normal(1220, *batch, 5, 7), normal(1221, *batch, 9, 7), normal(1222, *batch, 9, 3)
            same_item_by_item(lambda Q, K, V: self.attend(student, Q, K, V, 4), args, axes, FROM_THE_END)

    @pytest.mark.weight(0.05)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.attend(student, *(array.astype(dtype) for array in self.SMALL[:3]), 4)
            expect.dtype(got, dtype, DTYPE, "the output")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        views = [array.T.copy().T for array in self.SMALL[:3]]
        by_name = self.attend(student, **dict(reversed(list(zip(self.NAMES, (*views, 4), strict=True)))))
        expect.close(by_name, self.attend(student, *self.SMALL), BY_NAME, "output", ATOL)
        after = student.online_softmax_attention.inputs_after(*views, 4)
        expect.unchanged(after, [*views, 4], self.NAMES, IN_PLACE)


# ---------------------------------------------------------------- norm and gate


@pytest.mark.exercise("rms_norm")
class TestRmsNorm:
    NAMES = ("x", "gamma", "eps")
    X, GAMMA = 1.5 * normal(1230, 5, 12) + 0.7, 1 + 0.4 * normal(1231, 12)  # neither of mean 0 nor of size 1

    def norm(self, student, x, gamma=GAMMA, *eps):
        """The result, in the shape of x."""
        got = loosely(student.rms_norm(x, gamma, *eps))
        expect.shape(got, x.shape)
        return got

    def looks_like_an_attempt(self, student):
        """Other words and another gamma give another result."""
        others = [normal(1232, 5, 12), 2 - self.GAMMA]
        responds(lambda *args: self.norm(student, *args), [self.X, self.GAMMA], others, self.NAMES)

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """The result has the shape of x."""
        expect.shape(expect.array(student.rms_norm(self.X, self.GAMMA)), (5, 12))

    @pytest.mark.weight(0.4)
    def test_values(self, student, reference):
        """Several words: each is divided by its own root mean square, then scaled by gamma."""
        hint = (
            "Take the example by hand: what is the mean of the squares, and how many of them are there for five words?"
        )
        for seed in (1240, 1250):
            x, gamma = 12 * normal(seed, 5, 12) - 3, normal(seed + 1, 12)
            expect.close(self.norm(student, x, gamma), reference.rms_norm(x, gamma), hint, atol=ATOL)

    @pytest.mark.weight(0.1)
    def test_one_word(self, student, reference):
        """One word alone, a single vector."""
        x = 10 * self.X[2]
        hint = "Which axis holds the features? Count it from the end."
        expect.close(self.norm(student, x), reference.rms_norm(x, self.GAMMA), hint, atol=ATOL)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """One batch axis or two: each word is normalised on its own, whatever stands beside it."""
        self.looks_like_an_attempt(student)
        call = lambda x: self.norm(student, x)  # noqa: E731
        same_in_batches(call, [[normal(1260, 2, 5, 12)], [normal(1261, 2, 3, 4, 12)]], FROM_THE_END)
        # As many words as features: gamma would go with the words as well.
        same_item_by_item(call, [normal(1262, 12, 12)], 1, FROM_THE_END)

    @pytest.mark.weight(0.05)
    def test_gamma(self, student):
        """gamma scales each feature, after the rest."""
        self.looks_like_an_attempt(student)
        plain = self.norm(student, self.X, np.ones(12))
        hint = "What is gamma multiplied with?"
        expect.close(self.norm(student, self.X), self.GAMMA * plain, hint, atol=ATOL)

    @pytest.mark.weight(0.1)
    def test_eps(self, student):
        """eps is added to the mean of the squares, under the root, and the caller may choose it."""
        self.looks_like_an_attempt(student)
        # What comes out has the size c / sqrt(v + eps): 1 / size ** 2 grows evenly with eps.
        sizes = [np.linalg.norm(self.norm(student, self.X, np.ones(12), eps), axis=-1) for eps in (0.0, 2.0, 6.0)]
        expect.differs(sizes[1], sizes[0], "Where does eps come in?", "with another eps, the size of the result")
        with np.errstate(all="ignore"):
            one, three = (1 / sizes[i] ** 2 - 1 / sizes[0] ** 2 for i in (1, 2))
        if not np.allclose(three, 3 * one, rtol=1e-3):
            hint = "Do you add eps to the mean of the squares, or to its root?"
            expect.fail("eps does not have the share that it should.", hint)
        # What x was divided by, squared, grows by eps itself. (A mean that was taken off would be 0 here.)
        x = self.X - self.X.mean(axis=-1, keepdims=True)
        with np.errstate(all="ignore"):
            none, two = ((x / self.norm(student, x, np.ones(12), eps)) ** 2 for eps in (0.0, 2.0))
        if not np.allclose(two - none, 2.0, rtol=1e-3):
            hint = "Do you add eps to the mean of the squares, or to their sum?"
            expect.fail("eps does not have the share that it should.", hint)
        got = self.norm(student, 0 * self.X)
        expect.close(got, 0 * self.X, "By what is a word of zeros divided?", "what comes of zeros", ATOL)

    @pytest.mark.weight(0.05)
    def test_default_eps(self, student):
        """Without eps, it is 1e-5."""
        self.looks_like_an_attempt(student)
        x = 0.003 * self.X  # a mean square around 1e-5
        hint = "Which eps does the first line of the stub give, when the caller gives none?"
        expect.close(self.norm(student, x), self.norm(student, x, self.GAMMA, 1e-5), hint, atol=ATOL)

    @pytest.mark.weight(0.05)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.norm(student, self.X.astype(dtype), self.GAMMA.astype(dtype))
            expect.dtype(got, dtype, DTYPE)
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        x = normal(1270, 12, 5).T
        plain = self.norm(student, np.ascontiguousarray(x), self.GAMMA, 1e-5)
        by_name = loosely(student.rms_norm(eps=1e-5, gamma=self.GAMMA, x=x))
        expect.close(by_name, plain, BY_NAME, atol=ATOL)
        after = student.rms_norm.inputs_after(x, self.GAMMA)
        expect.unchanged(after, [x, self.GAMMA], self.NAMES, IN_PLACE)


@pytest.mark.exercise("gated_feed_forward")
class TestGatedFeedForward:
    NAMES = ("x", "W_gate", "W_up", "W_down")
    ARGS = (normal(1280, 5, 7), normal(1281, 7, 10) / 2, normal(1282, 7, 10) / 2, normal(1283, 10, 7) / 3)

    def forward(self, student, *args):
        """The result, in the shape of x."""
        got = loosely(student.gated_feed_forward(*args))
        expect.shape(got, args[0].shape)
        return got

    def looks_like_an_attempt(self, student):
        """Words and matrices have a say."""
        others = [normal(1284, 5, 7), None, None, self.ARGS[3][::-1].copy()]
        responds(lambda *args: self.forward(student, *args), self.ARGS, others, self.NAMES)

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """Five words of width 7 give five words of width 7."""
        expect.shape(expect.array(student.gated_feed_forward(*self.ARGS)), (5, 7), "Where does the width come back?")

    @pytest.mark.weight(0.46)
    def test_values(self, student, reference):
        """The gate, what it lets through, the last layer."""
        hint = (
            "Take the example by hand: what goes through SiLU, what is multiplied number by number, what by a matrix?"
        )
        for seed, size in ((1290, 1), (1300, 10)):  # ten times as large: gates of 30, far open and far shut
            x, *weights = (normal(seed + i, *arg.shape) / 1.5 for i, arg in enumerate(self.ARGS))
            got, wanted = self.forward(student, size * x, *weights), reference.gated_feed_forward(size * x, *weights)
            expect.close(got, wanted, hint, atol=ATOL)
        square = [normal(1305 + i, *shape) for i, shape in enumerate([(5, 7), (7, 7), (7, 7), (7, 7)])]
        hint = "d_ff is as large as d_model here. Which axes of the matrices are which?"
        expect.close(self.forward(student, *square), reference.gated_feed_forward(*square), hint, atol=ATOL)

    @pytest.mark.weight(0.12)
    def test_last_layer(self, student):
        """W_down comes last: twice as large, and so is the result."""
        self.looks_like_an_attempt(student)
        *others, W_down = self.ARGS
        hint = "What is the last thing that the formula does?"
        expect.close(self.forward(student, *others, 2 * W_down), 2 * self.forward(student, *self.ARGS), hint, atol=ATOL)

    @pytest.mark.weight(0.12)
    def test_large(self, student):
        """A gate that is far open or far shut gives finite numbers."""
        self.looks_like_an_attempt(student)
        x, *weights = self.ARGS
        hint = "What is np.exp(1000.0), and what do you divide by what?"
        expect.finite(self.forward(student, 1000 * x, *weights), hint)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each word goes through on its own, also a single vector."""
        self.looks_like_an_attempt(student)
        call = lambda x: self.forward(student, x, *self.ARGS[1:])  # noqa: E731
        batches = [[self.ARGS[0]], [normal(1310, 2, 3, 5, 7)]]
        same_in_batches(call, batches, "Is there an axis that your code counts on?")

    @pytest.mark.weight(0.05)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.forward(student, *(a.astype(dtype) for a in self.ARGS))
            expect.dtype(got, dtype, DTYPE)

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        views = [a.T.copy().T for a in self.ARGS]
        by_name = loosely(student.gated_feed_forward(**dict(reversed(list(zip(self.NAMES, views, strict=True))))))
        expect.close(by_name, self.forward(student, *self.ARGS), BY_NAME, atol=ATOL)
        after = student.gated_feed_forward.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, IN_PLACE)


# ---------------------------------------------------------------- the block


def block_weights(seed, d_model=24, num_heads=6, num_kv_heads=2, d_ff=20):
    """Weights of a block by name, such that scores are around 2 and both branches add numbers around 1."""
    narrow, size = d_model // num_heads * num_kv_heads, 1.4 / math.sqrt(d_model)
    shapes = {"W_Q": (d_model, d_model), "W_K": (narrow, d_model), "W_V": (narrow, d_model), "W_O": (d_model, d_model)}
    shapes |= {"W_gate": (d_ff, d_model), "W_up": (d_ff, d_model), "W_down": (d_model, d_ff)}
    found = {f"norm_{i}": 1 + 0.4 * normal(seed + i, d_model) for i in (1, 2)}
    return found | {
        f"{name}.weight": size * normal(seed + 5 + i, *shape) for i, (name, shape) in enumerate(shapes.items())
    }


def silent(weights, name):
    """`weights` with zeros in the layer `name`, whose branch then adds nothing."""
    return {key: value * (key != f"{name}.weight") for key, value in weights.items()}


class Block(Module):
    """A student's block; biases that it should not have are zero, so that one test judges them."""

    def run(self, weights, *args, **more):
        self.shapes = self.shapes or self.function.build(*self.construct)
        return super().run(weights, *args, **more)

    def named(self, weights, dtype):
        biases = {name: np.zeros(shape, dtype) for name, shape in self.shapes.items() if name.endswith("bias")}
        return {name: tensor(zeros) for name, zeros in biases.items()} | super().named(weights, dtype)


@pytest.mark.exercise("ModernDecoderBlock")
class TestModernDecoderBlock:
    SIZES = (24, 6, 2, 20)  # d_model, num_heads, num_kv_heads, d_ff
    X = 1.3 * normal(1320, 2, 5, 24) + 0.4  # two texts of five words
    WEIGHTS = block_weights(1330)

    def block(self, student, *sizes):
        return Block(student.ModernDecoderBlock, *(sizes or self.SIZES))

    def run(self, block, x=X, weights=WEIGHTS, dtype=np.float32):
        """The block's output for x, in the shape of x."""
        got = block.value(weights, x.astype(dtype), dtype=dtype)
        expect.shape(got, x.shape, what="the output")
        return got

    def looks_like_block(self, block):
        """Words hear from each other: another word 2 gives another output of some other word."""
        x = self.X.copy()
        x[:, 2] = normal(1340, 2, 24)
        first, other, rest = self.run(block), self.run(block, x), [0, 1, 3, 4]
        hint = "Is the attention used?"
        expect.differs(other[:, rest], first[:, rest], hint, "when word 2 changes, the others' output")
        return first

    def compare(self, student, reference, seed, sizes, silenced, hint):
        """The output with zeros in one layer is the reference's."""
        weights = block_weights(seed, *sizes[:4])
        weights = silent(weights, silenced) if silenced else weights
        x = 1.3 * normal(seed + 15, 2, 7, sizes[0]) + 0.4
        wanted = Module(reference.ModernDecoderBlock, *sizes).value(weights, x, dtype=np.float64)
        expect.close(self.run(self.block(student, *sizes), x, weights), wanted, hint, "the output", ATOL)

    def attention_alone(self, student, reference):
        """The output without a feed-forward network."""
        hint = "Which of the three is turned, by which positions, and when? Who shares keys with whom?"
        self.compare(student, reference, 1350, (24, 6, 2, 20), "W_down", hint)
        self.compare(student, reference, 1370, (8, 2, 2, 12), "W_down", hint)

    def feed_forward_alone(self, student, reference):
        """The output without attention."""
        hint = "Which two layers get the normalised words, what goes through SiLU, and what is the result added to?"
        self.compare(student, reference, 1390, (8, 2, 1, 12), "W_O", hint)

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """A batch of two texts of five words comes out in the shape it went in: (2, 5, 24)."""
        got = with_any_weights(self.block(student), self.WEIGHTS, self.X.astype(np.float32))
        expect.shape(expect.tensor(got, "How many things does forward give back?"), (2, 5, 24))

    @pytest.mark.weight(0.3)
    def test_parameters(self, student):
        """The parameters are two norms and seven matrices, without biases, and no others."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        block.expect_names(self.WEIGHTS)
        hint = "Go through the table row by row: which member is missing, doubled, or has another width?"
        for sizes in (self.SIZES, (8, 2, 1, 30)):
            expect_parameters(student.ModernDecoderBlock.build(*sizes), block_weights(0, *sizes), hint)
        # Both norms are left as they were made, and then filled with ones.
        as_made = {name: value for name, value in self.WEIGHTS.items() if not name.startswith("norm")}
        ones = as_made | {name: np.ones(24) for name in ("norm_1", "norm_2")}
        hint = "With which numbers do norm_1 and norm_2 begin?"
        expect.close(
            self.run(block, weights=as_made), self.run(block, weights=ones), hint, "a new block's output", ATOL
        )

    @pytest.mark.weight(0.8)
    def test_attention_branch(self, student, reference):
        """With a silent feed-forward network, the block adds to x the attention of the normalised x."""
        self.attention_alone(student, reference)

    @pytest.mark.weight(0.45)
    def test_feed_forward_branch(self, student, reference):
        """With a silent attention, the block adds to x the gated feed-forward network of the normalised x."""
        self.feed_forward_alone(student, reference)

    @pytest.mark.weight(0.25)
    def test_values(self, student, reference):
        """Both branches: first attention, and the feed-forward network works on what it gave."""
        # If a branch alone is wrong, that is told, and nothing is asked about both.
        self.attention_alone(student, reference)
        self.feed_forward_alone(student, reference)
        hint = "Each branch alone is right. What does the second one start from?"
        self.compare(student, reference, 1410, (24, 6, 3, 20), "", hint)

    @pytest.mark.weight(0.05)
    def test_eps(self, student):
        """The norms add 1e-5 to the mean of the squares: words that are nearly nothing stay small."""
        block = self.block(student)
        self.looks_like_block(block)
        word, alone = (
            self.X[:, :1],
            silent(self.WEIGHTS, "W_down"),
        )  # one word sees itself: W_O W_V of its norm is added
        added = [np.abs(self.run(block, size * word, alone) - size * word).mean() for size in (1.0, 1e-3)]
        # The mean of the squares is about 2e-6 then: with epsilon 1e-5 the ratio is 0.4, with 1e-6 0.8, with none 1.
        if not 0.2 < added[1] / max(added[0], 1e-9) < 0.6:
            text = (
                f"with words a thousandth as large, what is added to them is {added[1] / max(added[0], 1e-9):.2f} times"
            )
            expect.fail(f"{text} as large.", "To what is epsilon added, and how large is it?")

    @pytest.mark.weight(0.25)
    def test_window(self, student, reference):
        """Through a window of 3, a word sees itself and the two before it."""
        hint = "How many words does a window of 3 hold, the word itself among them?"
        self.compare(student, reference, 1430, (24, 6, 2, 20, 3), "W_down", hint)
        self.compare(
            student, reference, 1470, (24, 6, 2, 20, 1), "W_down", "Whom does a word see through a window of 1?"
        )

    @pytest.mark.weight(0.2)
    def test_causal(self, student):
        """No word hears from a later one, however loud it is; each hears from those before."""
        block = self.block(student)
        free = self.looks_like_block(block)
        for word in (1, 4):
            x = self.X.copy()
            x[:, word] = LOUD * normal(1441, 2, 24)
            hint = f"Word {word} was changed. Who may see it?"
            expect.close(self.run(block, x)[:, :word], free[:, :word], hint, "the output of the words before", ATOL)
        x = self.X.copy()
        x[:, 0] = -x[:, 0]
        hint = "Without a window, may a word see all earlier ones?"
        expect.differs(self.run(block, x)[:, 4], free[:, 4], hint, "when word 0 changes, word 4's output")

    @pytest.mark.weight(0.1)
    def test_batch(self, student):
        """Each text of a batch is on its own; one text and one word are fine."""
        block = self.block(student)
        free = self.looks_like_block(block)
        hint = "Does one text's result depend on the others in the batch, or is an axis of length one dropped?"
        for b in range(2):
            expect.close(self.run(block, self.X[b : b + 1])[0], free[b], hint, f"the output of text {b} alone", ATOL)
        expect.close(self.run(block, self.X[:, :1]), free[:, :1], hint, "the output of the first word alone", ATOL)

    @pytest.mark.weight(0.2)
    def test_gradients(self, student):
        """Gradients reach x and every parameter."""
        block = self.block(student)
        self.looks_like_block(block)
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way, or a layer that is not used?"
        gradients_reach(block, self.WEIGHTS, [self.X], normal(1451, 2, 5, 24), hint)

    @pytest.mark.weight(0.15)
    def test_dtype(self, student):
        """A float32 block gives float32, a float64 block float64."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        for dtype in (np.float32, np.float64):
            expect.dtype(self.run(block, dtype=dtype), dtype, "Which dtype has what you make yourself?", "the output")

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        block = self.block(student)
        self.looks_like_block(block)
        x = normal(1461, 2, 24, 5).astype(np.float32).swapaxes(-1, -2)
        plain = self.run(block, np.ascontiguousarray(x))
        options = {"window": None, "d_ff": 20, "num_kv_heads": 2, "num_heads": 6, "d_model": 24}
        parameters = block.named(self.WEIGHTS, np.float32)
        by_name = student.ModernDecoderBlock.run((), parameters, options=options, x=tensor(x))
        expect.close(expect.tensor(by_name.value), plain, "Is memory read in the order of the axes?", "output", ATOL)
        expect.unchanged(block.run(self.WEIGHTS, x).after, [tensor(x)], ["x"], "Look for operators like += on x.")
