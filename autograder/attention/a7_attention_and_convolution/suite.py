"""Hidden suite of a7: heads at fixed offsets, a convolution made of them, and the test that tells them from attention.

Sizes differ: L=9, k=3 or 5, d_in=4, d_out=3. A kernel may be shared between W_V and W_O in any way, so heads are judged
by what their products give. Values are judged where every tap finds a word; the borders have tests of their own, by
properties of the student's own function. A test's weight is its points: they add up to those of the cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal
from autograder.attention.hidden.properties import responds
from autograder.suites import expect

pytestmark = pytest.mark.watched("conv")  # writing it is the exercise
ATOL = 1e-4  # honest float32 work is within 3e-6 of the float64 reference, the mildest known mistake 0.01 away
LOUD = 1e3  # what one row is changed by, to see which rows hear of it


@pytest.mark.exercise("offset_attention")
class TestOffsetAttention:
    BACK, AHEAD = ((7, -1), (6, -2), (8, -5)), ((9, 1), (6, 2), (5, 4))  # length, offset

    def weights(self, student: Any, length: int, offset: int) -> np.ndarray:
        """The weights as numbers, for a call by position."""
        return self.numbers(student.offset_attention(length, offset), length)

    def numbers(self, got: Any, length: int) -> np.ndarray:
        """The weights as numbers; whether they are an array of floating numbers is judged in tests of their own."""
        if isinstance(got, list) and all(_are_numbers(row) and len(row) == length for row in got):
            got = np.array(got)
        got = expect.array(got)
        expect.shape(got, (length, length), "One row a query, one column a key.")
        return got.astype(float)

    def looks_like_an_attempt(self, student: Any) -> None:
        """Whom the queries attend to depends on the offset."""
        responds(student.offset_attention, [7, -2], [None, -4], ["length", "offset"])
        if not self.weights(student, 7, -2).any():
            expect.fail("no query attends to anything.", "Which queries have a key at this offset?")

    def compare(self, student: Any, cases: tuple[tuple[int, int], ...]) -> None:
        """The rows of all queries that have a key at their offset."""
        hint = "Take query 3: at which place stands the key that it looks at?"
        for length, offset in cases:
            got = self.weights(student, length, offset)
            for query in range(max(0, -offset), min(length, length - offset)):
                expect.close(got[query], np.eye(length)[query + offset], hint, f"the row of query {query}", ATOL)

    @pytest.mark.weight(0.35)
    def test_shape(self, student):
        """For six words the weights have shape (6, 6)."""
        expect.array(student.offset_attention(6, -1))
        self.weights(student, 6, -1)

    @pytest.mark.weight(0.85)
    def test_looking_back(self, student):
        """With a negative offset a query attends to the key so many places before it, and to no other."""
        self.compare(student, self.BACK)

    @pytest.mark.weight(0.85)
    def test_looking_ahead(self, student):
        """With a positive offset a query attends to the key so many places after it, and to no other."""
        self.compare(student, self.AHEAD)

    @pytest.mark.weight(0.5)
    def test_border(self, student):
        """A query with no key at its offset gets a row of zeros: as many rows as the offset is long."""
        self.looks_like_an_attempt(student)
        hint = "The key would stand outside the sentence. Is another one taken in its place?"
        for length, offset in (*self.BACK, *self.AHEAD, (4, 4), (4, -4)):
            empty = int((~self.weights(student, length, offset).any(axis=1)).sum())
            if empty != abs(offset):
                rows = {0: "no row is", 1: "1 row is"}.get(empty, f"{empty} rows are")
                expect.fail(f"{rows} all zero.", hint)

    @pytest.mark.weight(0.3)
    def test_the_word_itself(self, student):
        """Offset 0: each word attends to itself."""
        self.looks_like_an_attempt(student)
        expect.close(self.weights(student, 5, 0), np.eye(5), "Which key stands 0 places away?", atol=ATOL)

    @pytest.mark.weight(0.35)
    def test_far_outside(self, student):
        """An offset longer than the sentence, on either side: nobody attends to anything."""
        self.looks_like_an_attempt(student)
        for length, offset in ((4, 6), (4, -6), (3, 11), (5, -8), (1, 3)):
            got = self.weights(student, length, offset)
            expect.equal(got, np.zeros((length, length)), "Is there any key so far away?")

    @pytest.mark.weight(0.4)
    def test_dtype(self, student):
        """Weights are floating numbers: float64."""
        self.looks_like_an_attempt(student)
        hint = "Weights will be multiplied with values. What does == give, and which dtype has a weight?"
        expect.dtype(expect.array(student.offset_attention(5, -1)), np.float64, hint)

    @pytest.mark.weight(0.4)
    def test_keywords(self, student):
        """Arguments may come by keyword, and the offset from an array."""
        self.looks_like_an_attempt(student)
        plain = self.weights(student, 6, -2)
        by_name = self.numbers(student.offset_attention(offset=np.int64(-2), length=6), 6)
        expect.close(by_name, plain, "Which names does the first line of the stub give?", atol=ATOL)


@pytest.mark.exercise("convolution_heads")
class TestConvolutionHeads:
    ORDINARY = normal(701, 3, 4, 3)  # (k, d_in, d_out)

    def heads(self, student: Any, kernel: np.ndarray) -> tuple[Any, np.ndarray]:
        """Offsets as they came, and each head's product, (k, d_in, d_out)."""
        offsets, W_V, W_O = self.parts(student, kernel)
        k, _, d_out = kernel.shape
        return offsets, W_V.astype(float) @ W_O.astype(float).reshape(k, W_V.shape[2], d_out)

    def parts(self, student: Any, kernel: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Offsets as they came, and the matrices in their shapes, for whatever d_v."""
        offsets, W_V, W_O = self.answer(student, kernel)
        k, d_in, d_out = kernel.shape
        W_V, W_O = expect.array(W_V, what="W_V"), expect.array(W_O, what="W_O")
        if W_V.ndim != 3 or W_V.shape[:2] != (k, d_in):
            hint = f"There are {k} heads, and each takes rows of width {d_in}."
            expect.fail(f"W_V has shape {W_V.shape}, it should be ({k}, {d_in}, d_v).", hint)
        expect.shape(W_O, (k * W_V.shape[2], d_out), "Each head has d_v rows in it.", "W_O")
        return offsets, W_V, W_O

    def answer(self, student: Any, kernel: np.ndarray) -> tuple[Any, Any, Any]:
        """The three parts; whether they come as a tuple, `test_shape` asks."""
        got = student.convolution_heads(kernel)
        if not isinstance(got, tuple | list) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (offsets, W_V, W_O).")
        return got[0], got[1], got[2]

    def offsets(self, got: Any, k: int) -> np.ndarray:
        """The offsets as numbers; whether they are whole is judged in a test of its own."""
        if not _are_numbers(got):
            expect.fail(f"the offsets are {expect.kind_of(got)}; they should be a list of ints.")
        if len(got) != k:
            expect.fail(f"there are {len(got)} offsets for {k} taps.", "Each tap has a head of its own.")
        return np.array(got, dtype=float)

    def looks_like_an_attempt(self, student: Any) -> None:
        """The products of the heads depend on the kernel."""
        # Twice, since right products are the kernel itself, and it is no argument handed back.
        products = lambda kernel: 2 * self.heads(student, kernel)[1]  # noqa: E731
        responds(products, [self.ORDINARY], [normal(702, 3, 4, 3)], ["kernel"])

    def in_order(self, got: Any, products: np.ndarray) -> np.ndarray:
        """The products from the leftmost head to the rightmost; as they came where no offsets can be read."""
        if not _are_numbers(got):
            return products
        offsets = self.offsets(got, len(products))
        if len(set(offsets.tolist())) < len(offsets):
            expect.fail(f"the offsets are {_listed(offsets)}.", "Can two taps listen at the same place?")
        return products[np.argsort(offsets)]

    def compare_offsets(self, student: Any, taps: tuple[int, ...], reference: Any, hint: str) -> None:
        """The heads look where the reference's look, in any order."""
        for k in taps:
            kernel = normal(710 + k, k, 4, 3)
            got = self.offsets(self.answer(student, kernel)[0], k)
            wanted = reference.convolution_heads(kernel)[0]
            if sorted(got.tolist()) != sorted(map(float, wanted)):
                expect.fail(f"the offsets of {k} taps are {_listed(got)}.", hint)

    @pytest.mark.weight(0.35)
    def test_shape(self, student):
        """Three taps from width four to width three: a tuple of 3 offsets, W_V (3, 4, d_v) and W_O (3 * d_v, 3)."""
        offsets, _ = self.heads(student, self.ORDINARY)
        self.offsets(offsets, 3)
        got = student.convolution_heads(self.ORDINARY)
        if not isinstance(got, tuple):
            expect.fail(f"gave back {expect.kind_of(got)}, not a tuple.")

    @pytest.mark.weight(1.25)
    def test_offsets(self, student, reference):
        """An odd number of taps: as many heads look to the left as to the right."""
        self.compare_offsets(student, (3, 5, 7), reference, "Where does the middle tap listen, and where the first?")

    @pytest.mark.weight(1.9)
    def test_taps(self, student):
        """From left to right, each head's W_V times its rows of W_O is its tap of the kernel."""
        for k, d_in, d_out in ((3, 4, 3), (5, 2, 6), (3, 4, 4)):
            kernel = normal(720 + k + d_in, k, d_in, d_out)
            hint = "Which tap is this head's, and which rows of W_O are its own?"
            width = self.parts(student, kernel)[1].shape[2]
            if width < min(d_in, d_out):
                hint = f"How much of a matrix of shape ({d_in}, {d_out}) fits through a head of width {width}?"
            for j, (got, tap) in enumerate(zip(self.in_order(*self.heads(student, kernel)), kernel, strict=True)):
                expect.close(got, tap, hint, f"the product of head {j} from the left", ATOL)

    @pytest.mark.weight(0.6)
    def test_even(self, student, reference):
        """An even number of taps: the right side gets one more."""
        hint = "An even number of taps has no middle one. What does the rule for tap j give, in whole numbers?"
        self.compare_offsets(student, (2, 4, 6), reference, hint)

    @pytest.mark.weight(0.35)
    def test_one_tap(self, student):
        """A single tap is one head that looks at the word itself."""
        self.looks_like_an_attempt(student)
        offsets, products = self.heads(student, self.ORDINARY[:1])
        (offset,) = self.offsets(offsets, 1)
        if offset != 0:
            expect.fail(f"the offset of a single tap is {offset:g}.", "Where does the middle one of one tap listen?")
        among_others = self.heads(student, np.concatenate([self.ORDINARY[:1], np.zeros((1, 4, 3))]))[1]
        hint = "Does this tap give the same product among others?"
        if not any(np.allclose(products[0], other, atol=ATOL) for other in among_others):
            expect.fail("the product of a single head is not what it is beside a tap of zeros.", hint)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in both matrices; offsets are ints."""
        self.looks_like_an_attempt(student)
        offsets = self.answer(student, self.ORDINARY)[0]
        self.offsets(offsets, 3)
        if not all(isinstance(offset, int | np.integer) for offset in offsets):
            expect.fail("an offset is no int.", "np.eye(L, k=1.0) refuses: which division gives a whole number?")
        hint = "Is an array made on the way, by np.eye or np.zeros, say? Which dtype does it get?"
        for dtype in (np.float32, np.float64):
            _, W_V, W_O = self.parts(student, self.ORDINARY.astype(dtype))
            expect.dtype(W_V, dtype, hint, "W_V")
            expect.dtype(W_O, dtype, hint, "W_O")

    @pytest.mark.weight(0.3)
    def test_arguments(self, student):
        """The kernel may come by keyword and with any layout in memory, and is not changed."""
        self.looks_like_an_attempt(student)
        view = normal(703, 3, 4, 5).T  # (5, 4, 3)
        _, plain = self.heads(student, np.ascontiguousarray(view))
        hint = "Is memory read in the order of the axes?"
        expect.close(self.heads(student, view)[1], plain, hint, "the products", ATOL)
        by_name = student.convolution_heads(kernel=view)
        if not isinstance(by_name, tuple | list):
            expect.fail(f"gave back {expect.kind_of(by_name)}, not a tuple.")
        after = student.convolution_heads.inputs_after(view)
        expect.unchanged(after, [view], ["kernel"], "Look for operators like *= on an argument.")


def _are_numbers(got: Any) -> bool:
    """Is it a list or an array of numbers?"""
    if isinstance(got, np.ndarray):
        return got.ndim == 1 and got.dtype.kind in "if"
    return isinstance(got, list | tuple) and all(isinstance(n, int | float | np.integer | np.floating) for n in got)


def _listed(offsets: np.ndarray) -> str:
    return ", ".join(f"{offset:g}" for offset in offsets)


@pytest.mark.exercise("convolution_by_attention")
class TestConvolutionByAttention:
    X, KERNEL = normal(731, 9, 4), normal(732, 3, 4, 3)  # nine words of width four; three taps to width three
    BY_HAND = (
        "Take one row by hand: which words do its taps hear, through which matrix each, and what is done with them?"
    )

    def convolve(self, student: Any, X: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        """The output as an array, whatever its shape, also where it comes alone or second."""
        return self.output(student.convolution_by_attention(X, kernel))

    def output(self, got: Any) -> np.ndarray:
        """The output: what has the fewer axes of the two. Whether there are two, in order, `test_shape` asks."""
        if isinstance(got, tuple | list) and len(got) == 2:
            got = min(got, key=lambda part: getattr(part, "ndim", 0))
        return expect.array(got, what="the output")

    def looks_like_an_attempt(self, student: Any) -> None:
        """Other words and another kernel give another output."""
        call = lambda X, kernel: self.convolve(student, X, kernel)  # noqa: E731
        responds(call, [self.X, self.KERNEL], [normal(733, 9, 4), normal(734, 3, 4, 3)])

    def compare_inside(self, student: Any, reference: Any, taps: tuple[int, ...], hint: str) -> None:
        """The values where every tap finds a word, for kernels with so many taps."""
        for k in taps:
            for d_in, d_out in ((4, 3), (3, 3)):
                X, kernel = normal(740 + k, 13, d_in), normal(760 + k, k, d_in, d_out)
                got = self.convolve(student, X, kernel)
                expect.shape(got, (13, d_out), "One row a word, as wide as a tap's result.")
                inside = slice(k - 1, 14 - k)
                wanted, _ = reference.convolution_by_attention(X, kernel)
                expect.close(got[inside], wanted[inside], hint, f"the result, from row {inside.start} on,", ATOL)

    def same_among_zeros(self, student: Any, X: np.ndarray, kernel: np.ndarray, hint: str) -> None:
        """With rows of zeros before and behind X, its own rows come out the same."""
        alone, zeros = self.convolve(student, X, kernel), np.zeros((12, X.shape[1]))
        among = self.convolve(student, np.concatenate([zeros, X, zeros]), kernel)
        expect.shape(among, (24 + len(X), kernel.shape[2]), hint)
        expect.shape(alone, (len(X), kernel.shape[2]), hint)
        expect.close(alone, among[12:-12], hint, atol=ATOL)

    @pytest.mark.weight(0.4)
    def test_shape(self, student):
        """Six words of width five, three taps to width two: output (6, 2) and weights (3, 6, 6), as a tuple."""
        output, weights = expect.pair(student.convolution_by_attention(normal(735, 6, 5), normal(736, 3, 5, 2)))
        if (getattr(output, "ndim", 0), getattr(weights, "ndim", 0)) == (3, 2):
            expect.fail("what has the weights' shape comes first.", "In which order does the docstring name the two?")
        hint = "One row a word, as wide as a tap's result."
        expect.shape(expect.array(output, what="output"), (6, 2), hint, "output")
        expect.shape(expect.array(weights, what="weights"), (3, 6, 6), "One head a tap.", "weights")

    @pytest.mark.weight(1.4)
    def test_weights(self, student, reference):
        """One head for each tap, that attends to the tap's place and to nothing else, as `offset_attention` says."""
        hint = "Which head is which tap's, and which key does its query 3 attend to?"
        for k, length in ((3, 7), (5, 8), (1, 6)):  # an even k has a test of its own
            given = normal(746 + k, length, 4), normal(766 + k, k, 4, 3)
            _, weights = expect.pair(student.convolution_by_attention(*given))
            wanted = reference.convolution_by_attention(*given)[1]
            weights = weights if getattr(weights, "ndim", 0) == 3 else student.convolution_by_attention(*given)[0]
            expect.shape(expect.array(weights, what="weights"), wanted.shape, "One head a tap.", "weights")
            expect.close(self.from_the_left(weights), wanted, hint, "weights, heads from the left,", ATOL)

    def from_the_left(self, weights: np.ndarray) -> np.ndarray:
        """The heads in the order of where they look: `convolution_heads` may give them in any."""
        place = np.arange(weights.shape[-1])
        distance = (weights * (place - place[:, None])).sum(axis=(1, 2))
        total = np.maximum(np.abs(weights).sum(axis=(1, 2)), 1e-9)
        return weights[np.argsort(distance / total, kind="stable")].astype(float)

    @pytest.mark.weight(2.15)
    def test_values(self, student, reference):
        """Where every tap finds a word: the sum over the taps of what each hears, times its matrix."""
        self.compare_inside(student, reference, (3, 5), self.BY_HAND)

    @pytest.mark.weight(0.5)
    def test_borders(self, student):
        """What lies outside counts as zero: rows of zeros around the words change nothing for them."""
        self.looks_like_an_attempt(student)
        hint = "At the first and the last word, what do the taps hear that find no word?"
        self.same_among_zeros(student, self.X, self.KERNEL, hint)
        self.same_among_zeros(student, self.X, normal(737, 5, 4, 3), hint)

    @pytest.mark.weight(0.4)
    def test_even(self, student, reference):
        """An even number of taps: the right side gets one more."""
        self.looks_like_an_attempt(student)
        hint = "Where does the first tap of an even number listen?"
        if not expect.holds(lambda: self.compare_inside(student, reference, (3, 5), "")):
            hint = self.BY_HAND  # it is not only where they listen
        self.compare_inside(student, reference, (2, 4, 6), hint)

    @pytest.mark.weight(0.25)
    def test_who_hears(self, student):
        """A word is heard at as many places as there are taps, next to each other, and nowhere else."""
        self.looks_like_an_attempt(student)
        louder = self.X.copy()
        louder[4] += LOUD
        for k in (3, 4):
            kernel = normal(738, k, 4, 3)
            before, after = self.convolve(student, self.X, kernel), self.convolve(student, louder, kernel)
            expect.shape(after, before.shape)
            heard = np.flatnonzero((np.abs(after.astype(float) - before) > 1e-3).any(axis=tuple(range(1, after.ndim))))
            if len(heard) != k or heard[-1] - heard[0] != k - 1:
                places = ", ".join(map(str, heard.tolist())) or "none"
                expect.fail(f"when word 4 changes, these rows change: {places}.", f"How many taps are there? {k}.")

    @pytest.mark.weight(0.15)
    def test_one_tap(self, student):
        """A single tap hears the word itself, as the middle one of three does whose neighbours are zero."""
        self.looks_like_an_attempt(student)
        tap, zero = self.KERNEL[:1], np.zeros((1, 4, 3))
        alone = self.convolve(student, self.X, tap)
        hint = "Where does a single tap listen?"
        expect.shape(alone, (9, 3), hint)
        middle = self.convolve(student, self.X, np.concatenate([zero, tap, zero]))
        expect.shape(middle, (9, 3), hint)
        ratio = np.vdot(middle, alone) / max(np.vdot(middle, middle), 1e-12)
        # A slip in how heads are weighted is judged by the values: here it is the place that counts.
        expect.close(alone, ratio * middle, hint, atol=ATOL)

    @pytest.mark.weight(0.25)
    def test_more_taps_than_words(self, student):
        """A kernel with more taps than there are words; a text of one word."""
        self.looks_like_an_attempt(student)
        hint = "Which taps find a word at all, when the text is shorter than the kernel?"
        self.same_among_zeros(student, self.X[:4], normal(739, 11, 4, 3), hint)
        self.same_among_zeros(student, self.X[:1], self.KERNEL, hint)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        hint = "Which dtype do the weights have, and what does a float32 times a float64 give?"
        for dtype in (np.float32, np.float64):
            expect.dtype(self.convolve(student, self.X.astype(dtype), self.KERNEL.astype(dtype)), dtype, hint)

    @pytest.mark.weight(0.25)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        X, kernel = normal(771, 4, 9).T, normal(772, 3, 4, 6)[:, :, ::2]
        plain = self.convolve(student, np.ascontiguousarray(X), np.ascontiguousarray(kernel))
        by_name = self.output(student.convolution_by_attention(kernel=kernel, X=X))
        expect.close(by_name, plain, "Is memory read in the order of the axes?", atol=ATOL)
        after = student.convolution_by_attention.inputs_after(X, kernel)
        expect.unchanged(after, [X, kernel], ["X", "kernel"], "Look for operators like *= on an argument.")


# ---------------------------------------------------------------- layers for translation_test
# A layer's docstring is how a message speaks of it.

TAPS = normal(781, 5, 4, 3)  # five taps, so a reach of two to either side
L = 24


def circular(X: np.ndarray) -> np.ndarray:
    """a convolution on a circle, with no border"""
    result = np.zeros((len(X), 3))
    for j, tap in enumerate(TAPS):
        moved = np.roll(X, 2 - j, axis=0)
        for column in range(4):  # term by term, so that it is the same to the last bit at every place
            result += moved[:, column, None] * tap[column]
    return result


def with_zeros_outside(X: np.ndarray) -> np.ndarray:
    """a convolution with zeros outside"""
    padded = np.pad(X, ((2, 2), (0, 0)))
    return circular(padded)[2:-2]


def by_fourier(X: np.ndarray) -> np.ndarray:
    """a convolution whose last digits are rounded differently at each place"""
    spectrum = np.fft.fft(circular(X), axis=0) * np.exp(0.1j)
    return np.fft.ifft(spectrum * np.exp(-0.1j), axis=0).real


def each_alone(X: np.ndarray) -> np.ndarray:
    """a layer that works on each row alone"""
    return X * X - 2 * X


def knows_places(X: np.ndarray) -> np.ndarray:
    """a convolution that adds something to each row, by where it stands"""
    return circular(X) + _positions(X)


def louder_by_place(X: np.ndarray) -> np.ndarray:
    """a convolution that gets louder to the right"""
    return circular(X) * np.linspace(1.0, 2.0, len(X))[:, None]


def places_alone(X: np.ndarray) -> np.ndarray:
    """a layer that only says where each row stands"""
    return np.broadcast_to(_positions(X), (len(X), 3)).copy()


def every_other(X: np.ndarray) -> np.ndarray:
    """a layer that changes the sign of every second row"""
    return X * (1 - 2 * (np.arange(len(X)) % 2))[:, None]


def backwards(X: np.ndarray) -> np.ndarray:
    """a layer that turns the rows around"""
    return X[::-1].copy()


def two_rows_swapped(X: np.ndarray) -> np.ndarray:
    """a convolution with two of its rows swapped, always the same two"""
    result = circular(X)
    result[[11, 12]] = result[[12, 11]]
    return result


def attention(X: np.ndarray) -> np.ndarray:
    """attention without positions, which looks at all rows"""
    scores = X @ X.T / 2
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.round(exps / exps.sum(axis=1, keepdims=True) @ X, 9)  # rounding has a test of its own


def attention_with_places(X: np.ndarray) -> np.ndarray:
    """attention with an absolute position added to each row"""
    return attention(X + _positions(X))


def _positions(X: np.ndarray) -> np.ndarray:
    return np.sin(0.7 * np.arange(len(X)))[:, None] + 0.1 * np.arange(len(X))[:, None]


def off_at(rows: Any, columns: Any = slice(None), by: float = 1.0) -> Any:
    """`circular`, but off at some rows or columns, wherever X is moved: by more with each row, or by less."""

    def layer(X: np.ndarray) -> np.ndarray:
        """a convolution that is off at some fixed places"""
        result = circular(X)
        result[rows, columns] += by * (1 + np.arange(len(result)))[rows, None]
        return result

    return layer


def off_by(size: float) -> Any:
    """`circular`, with something small added that depends on the place."""

    def layer(X: np.ndarray) -> np.ndarray:
        """a convolution that adds a hundredth or less to each row, by where it stands"""
        return circular(X) + size * np.cos(2.0 * np.arange(len(X)))[:, None]

    return layer


Case = tuple[Any, np.ndarray, int, int, bool]  # layer, X, shift, margin, and whether it passes


@pytest.mark.exercise("translation_test")
class TestTranslationTest:
    X = normal(791, L, 4)
    # A rhythm: rows that come again after three, or after six.
    AGAIN_AFTER_3, AGAIN_AFTER_6 = np.tile(normal(792, 3, 4), (8, 1)), np.tile(normal(793, 6, 4), (4, 1))

    PLAINEST: tuple[Case, ...] = ((circular, X, 3, 2, True), (knows_places, X, 3, 2, False))
    BEGIN = "Begin with the two layers by hand in the notebook: which rows do you compare, and do they agree?"

    def verdicts(self, student: Any, cases: list[Case], hint: str) -> None:
        """Both kinds of layers are told apart. All are asked before any is judged."""
        answers = [self.verdict(student, *case[:4]) for case in cases]
        for (*call, passes), answer in zip(cases, answers, strict=True):
            if answer != passes:
                # A test that is wrong about the plainest layers is wrong about these for the same reason.
                plain = [self.verdict(student, *case[:4]) == case[4] for case in self.PLAINEST]
                student.translation_test(*call)  # once more, so that it is the call that the message speaks of
                text = f"{answer} for {call[0].__doc__}."
                if not all(plain):
                    expect.fail(text, self.BEGIN, cause="wrong about the plainest layers")
                expect.fail(text, hint)

    def off_places(self, student: Any, places: list[tuple[Any, Any]], shifts: tuple[int, ...], hint: str) -> None:
        """Layers that are off at some rows and columns do not pass. All are asked before any is judged."""
        cases = [(*place, shift) for place in places for shift in shifts]
        passed = [case for case in cases if self.verdict(student, off_at(*case[:2]), self.X, case[2], 2)]
        for rows, columns, shift in passed[:1]:
            if not self.verdict(student, off_at(rows, columns, by=-1), self.X, shift, 2):  # so the place is looked at
                hint = "One output may be larger there than the other, or smaller. Are both a difference?"
            self.verdicts(student, [(off_at(rows, columns), self.X, shift, 2, False)], hint)

    def verdict(self, student: Any, *call: Any, **options: Any) -> bool:
        """The answer as True or False; whether it is a truth value and no number is judged in a test of its own."""
        answer = student.translation_test(*call, **options)
        if isinstance(answer, np.ndarray) and answer.dtype == bool:
            return bool(answer.all())
        if not isinstance(answer, bool | int | float | np.generic):
            expect.fail(f"gave back {expect.kind_of(answer)}, not True or False.")
        if isinstance(answer, float | np.floating):
            return bool(abs(answer) <= 1e-6)  # how far the outputs are apart: nearly the answer
        return bool(answer)

    def tells_apart(self, student: Any) -> None:
        """An attempt: not always the same answer, be it that a shift of 0 is needed to see it."""
        first, *others = (circular, 3), (louder_by_place, 3), (each_alone, 0)
        answer = self.verdict(student, first[0], self.X, first[1], 2)
        if all(self.verdict(student, layer, self.X, shift, 2) == answer for layer, shift in others):
            expect.fail(f"always {answer}, whatever the layer.", "Does the answer come from comparing two outputs?")

    @pytest.mark.weight(0.5)
    def test_true_or_false(self, student):
        """The answer is True or False."""
        for layer in (circular, knows_places):
            answer = student.translation_test(layer, self.X, 3, 2)
            if not isinstance(answer, bool | np.bool_):
                expect.fail(f"gave back {expect.kind_of(answer)}, not True or False.")

    @pytest.mark.weight(1.3)
    def test_values(self, student):
        """Layers that do the same at every place pass, layers that depend on the place do not."""
        hint = "Row i of X becomes row i + shift. Which rows of the two outputs belong together?"
        cases = [
            (circular, self.X, 3, 2, True),
            (each_alone, self.X, 5, 2, True),
            (circular, self.AGAIN_AFTER_3, 3, 2, True),
            (circular, self.AGAIN_AFTER_6, 3, 2, True),
            (knows_places, self.X, 3, 2, False),
            (louder_by_place, self.X, 5, 2, False),
            (backwards, self.X, 4, 2, False),
            (places_alone, self.X, 3, 2, False),
            (attention_with_places, self.X, 3, 2, False),
        ]
        self.verdicts(student, cases, hint)

    @pytest.mark.weight(0.6)
    def test_to_the_left(self, student):
        """A negative shift moves to the left."""
        hint = "With a negative shift, for which i do both i and i + shift lie inside the margins?"
        cases = [
            (circular, self.X, -3, 2, True),
            (each_alone, self.X, -1, 2, True),
            (knows_places, self.X, -3, 2, False),
            (louder_by_place, self.X, -5, 2, False),
        ]
        self.verdicts(student, cases, hint)

    @pytest.mark.weight(0.6)
    def test_borders(self, student):
        """Rows closer than margin to either end are not compared: a convolution with zeros outside passes."""
        hint = "Which rows does the margin leave out: of the one output, of the other, at both ends?"
        first, last = off_at(slice(0, 2)), off_at(slice(-2, None))
        cases = [(layer, self.X, s, 2, True) for layer in (with_zeros_outside, first, last) for s in (3, -3, 1)]
        self.verdicts(student, [*cases, (knows_places, self.X, 1, 2, False)], hint)

    @pytest.mark.weight(0.35)
    def test_every_row(self, student):
        """A layer that is off at a single row inside the margins does not pass."""
        self.tells_apart(student)
        hint = "Is every row that lies inside the margins compared?"
        for shift in (3, -3):
            self.verdict(student, two_rows_swapped, self.X, shift, 2)
        rows = (2, 9, 12, 21, slice(2, 4))  # of two rows, a comparison that lets a few differ sees more
        self.off_places(student, [(row, slice(None)) for row in rows], (3, -3), hint)
        hint = "The same rows in another order: are they the same output?"
        self.verdicts(student, [(two_rows_swapped, self.X, s, 2, False) for s in (3, -3)], hint)

    @pytest.mark.weight(0.35)
    def test_every_column(self, student):
        """A layer that depends on the place in a single column does not pass."""
        self.tells_apart(student)
        hint = "Are all columns compared?"
        self.off_places(student, [(slice(None), [column]) for column in (0, 1, 2)], (3,), hint)

    @pytest.mark.weight(0.3)
    def test_rounding(self, student):
        """A difference in the last digits is none; a difference of a hundredth is one."""
        hint = "How do you compare floating numbers? How large may rounding be, and how large is too large?"
        self.verdicts(student, [(by_fourier, self.X, 3, 2, True), (off_by(0.01), self.X, 3, 2, False)], hint)

    @pytest.mark.weight(0.25)
    def test_no_row_is_lost(self, student):
        """A layer that looks at all rows sees the same rows after moving: attention without positions passes."""
        hint = "What goes out at one end: where does it come in again? Which rows does the layer see then?"
        cases = [
            (attention, self.X, 3, 2, True),
            (attention, self.X, -5, 2, True),
            (attention_with_places, self.X, 5, 2, False),
        ]
        self.verdicts(student, cases, hint)

    @pytest.mark.weight(0.2)
    def test_this_shift(self, student):
        """A layer that treats even and odd rows differently passes an even shift, and not an odd one."""
        hint = "Is it this shift that is put to the test, and no other?"
        cases = [(every_other, self.X, shift, 2, shift % 2 == 0) for shift in (2, 3, -4, -1)]
        self.verdicts(student, cases, hint)

    @pytest.mark.weight(0.15)
    def test_this_input(self, student):
        """It is about this X: a layer that gets louder to the right passes where there is nothing to hear."""
        hint = "What does the layer get from you: X?"
        cases = [(louder_by_place, self.X, 3, 2, False), (louder_by_place, np.zeros((L, 4)), 3, 2, True)]
        self.verdicts(student, cases, hint)

    @pytest.mark.weight(0.1)
    def test_no_margin(self, student):
        """A margin of 0: all rows are compared that have a partner."""
        hint = "With a margin of 0, how many rows does your slice hold?"
        self.verdicts(student, [(each_alone, self.X, 3, 0, True), (louder_by_place, self.X, 3, 0, False)], hint)

    @pytest.mark.weight(0.15)
    def test_no_shift(self, student):
        """A shift by 0 every layer passes."""
        self.tells_apart(student)
        hint = "With a shift of 0, how many rows does your slice hold, and what do you compare?"
        cases = [(layer, self.X, 0, 2, True) for layer in (knows_places, circular)]
        self.verdicts(student, cases, hint)

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """Arguments may come by keyword, and X is not changed."""
        self.tells_apart(student)
        for layer in (circular, knows_places):
            plain = self.verdict(student, layer, self.X, 3, 2)
            by_name = self.verdict(student, margin=2, shift=3, X=self.X, layer=layer)
            if plain != by_name:
                expect.fail("gave back something else than with the same arguments by position.")
            after = student.translation_test.inputs_after(layer, self.X, 3, 2)
            expect.unchanged(after, [layer, self.X, 3, 2], ["layer", "X"], "Is X moved in place?")
