"""Hidden tests of convolution_by_attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, responds
from ..shared_hidden_tests import ATOL

LONG = normal(739, 11, 4, 3)  # eleven taps
LOUD = 1e3  # added to one row, to see which rows of the output change


@pytest.mark.exercise("convolution_by_attention")
class TestConvolutionByAttention:
    X, KERNEL = normal(731, 9, 4), normal(732, 3, 4, 3)  # nine words of width four; three taps to width three
    BY_HAND = (
        "Take one row by hand: which words do its taps hear, through which matrix each, and what is done with them?"
    )

    def convolve(self, student: Any, X: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        """The output as an array of any shape. It may come alone or second."""
        return self.output(student.convolution_by_attention(X, kernel))

    def output(self, got: Any) -> np.ndarray:
        """The output: the part with fewer axes. `test_shape` judges whether there are two, in order."""
        if isinstance(got, tuple | list) and len(got) == 2:
            got = min(got, key=lambda part: getattr(part, "ndim", 0))
        return expect.array(got, what="the output")

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless other words and another kernel give another output."""
        call = lambda X, kernel: self.convolve(student, X, kernel)  # noqa: E731
        responds(call, [self.X, self.KERNEL], [normal(733, 9, 4), normal(734, 3, 4, 3)])

    def compare_inside(self, student: Any, reference: Any, taps: tuple[int, ...], hint: str) -> None:
        """Fails unless values are right where every tap meets a word, for kernels with these numbers of taps."""
        for k in taps:
            for d_in, d_out in ((4, 3), (3, 3)):
                self.compare_one(student, reference, normal(740 + k, 13, d_in), normal(760 + k, k, d_in, d_out), hint)

    def compare_one(self, student: Any, reference: Any, X: np.ndarray, kernel: np.ndarray, hint: str) -> None:
        """Fails unless one call's values are right where every tap meets a word."""
        got = self.convolve(student, X, kernel)
        expect.shape(got, (len(X), kernel.shape[2]), "One row per word, as wide as a tap's result.")
        inside = slice(len(kernel) - 1, len(X) + 1 - len(kernel))
        wanted, _ = reference.convolution_by_attention(X, kernel)
        expect.close(got[inside], wanted[inside], hint, f"the result, from row {inside.start} on,", ATOL)

    def same_among_zeros(self, student: Any, X: np.ndarray, kernel: np.ndarray, hint: str) -> None:
        """Fails unless rows of zeros before and after X leave the output of its own rows unchanged."""
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
        hint = "One row per word, as wide as a tap's result."
        expect.shape(expect.array(output, what="output"), (6, 2), hint, "output")
        expect.shape(expect.array(weights, what="weights"), (3, 6, 6), "One head per tap.", "weights")

    @pytest.mark.weight(1.1)
    def test_weights(self, student, reference):
        """One head for each tap, that attends to the tap's place and to nothing else, as `offset_attention` says."""
        hint = "Which head is which tap's, and which key does its query 3 attend to?"
        for k, length in ((3, 7), (5, 8), (1, 6)):  # another test has even k
            given = normal(746 + k, length, 4), normal(766 + k, k, 4, 3)
            _, weights = expect.pair(student.convolution_by_attention(*given))
            wanted = reference.convolution_by_attention(*given)[1]
            weights = weights if getattr(weights, "ndim", 0) == 3 else student.convolution_by_attention(*given)[0]
            expect.shape(expect.array(weights, what="weights"), wanted.shape, "One head per tap.", "weights")
            expect.close(self.from_the_left(weights), wanted, hint, "weights, heads from the left,", ATOL)

    def from_the_left(self, weights: np.ndarray) -> np.ndarray:
        """The heads from left to right by where they look: `convolution_heads` may return them in any order."""
        place = np.arange(weights.shape[-1])
        distance = (weights * (place - place[:, None])).sum(axis=(1, 2))
        total = np.maximum(np.abs(weights).sum(axis=(1, 2)), 1e-9)
        return weights[np.argsort(distance / total, kind="stable")].astype(float)

    @pytest.mark.weight(1.75)
    def test_values(self, student, reference):
        """Where every tap finds a word: the sum over the taps of what each hears, times its matrix."""
        self.compare_inside(student, reference, (3, 5), self.BY_HAND)

    @pytest.mark.weight(0.6)
    def test_real_sizes(self, student, reference):
        """A text of seventy words of width 33, one of 521, nine taps, and width one."""
        for length, k, d_in, d_out in ((70, 1, 33, 16), (33, 9, 4, 3), (32, 3, 1, 1), (521, 2, 1, 1)):
            X, kernel = normal(773 + k, length, d_in), normal(793 + k, k, d_in, d_out)
            self.compare_one(student, reference, X, kernel, ANY_SIZE)

    @pytest.mark.weight(0.5)
    def test_borders(self, student):
        """What lies outside counts as zero: rows of zeros around the words change nothing for them."""
        self.looks_like_an_attempt(student)
        hint = "At the first and the last word, what do the taps hear that find no word?"
        self.same_among_zeros(student, self.X, self.KERNEL, hint)
        self.same_among_zeros(student, self.X, normal(737, 5, 4, 3), hint)

    @pytest.mark.weight(0.6)
    def test_even(self, student, reference):
        """An even number of taps: the right side gets one more."""
        self.looks_like_an_attempt(student)
        hint = "Where does the first tap of an even number listen?"
        if not expect.holds(lambda: self.compare_inside(student, reference, (3, 5), "")):
            hint = self.BY_HAND  # the places are not the only mistake
        self.compare_inside(student, reference, (2, 4, 6), hint)

    @pytest.mark.weight(0.2)
    def test_who_hears(self, student):
        """A word is heard at as many places as there are taps, next to each other, and nowhere else."""
        self.looks_like_an_attempt(student)
        louder = self.X.copy()
        louder[4] += LOUD
        for k in (3, 4):
            kernel = normal(738, k, 4, 3)
            before, after = self.convolve(student, self.X, kernel), self.convolve(student, louder, kernel)
            expect.shape(after, before.shape)
            moved = np.flatnonzero((np.abs(after.astype(float) - before) > 1e-3).any(axis=tuple(range(1, after.ndim))))
            if len(moved) != k or moved[-1] - moved[0] != k - 1:
                places = ", ".join(map(str, moved.tolist())) or "none"
                expect.fail(f"when word 4 changes, these rows change: {places}.", f"How many taps are there? {k}.")

    @pytest.mark.weight(0.1)
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
        # The tests of values judge wrong weights of heads. Here only the place counts.
        expect.close(alone, ratio * middle, hint, atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_more_taps_than_words(self, student):
        """A kernel with more taps than there are words; a text of one word."""
        self.looks_like_an_attempt(student)
        hint = "Which taps find a word at all, when the text is shorter than the kernel?"
        self.same_among_zeros(student, self.X[:4], LONG, hint)
        self.same_among_zeros(student, self.X[:1], self.KERNEL, hint)
        got = student.convolution_by_attention(self.X[:4], LONG)
        shapes = [getattr(part, "shape", ()) for part in got] if isinstance(got, tuple | list) else []
        for shape in [shape for shape in shapes if len(shape) == 3 and shape[1:] == (4, 4)]:
            if shape[0] < 11:
                expect.fail(f"for 4 words and 11 taps there are {shape[0]} heads.", "One head per tap, heard or not.")

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        hint = "Which dtype do the weights have, and what does a float32 times a float64 give?"
        for dtype in (np.float32, np.float64):
            expect.dtype(self.convolve(student, self.X.astype(dtype), self.KERNEL.astype(dtype)), dtype, hint)

    @pytest.mark.weight(0.3)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        X, kernel = normal(771, 4, 9).T, normal(772, 3, 4, 6)[:, :, ::2]
        plain = self.convolve(student, np.ascontiguousarray(X), np.ascontiguousarray(kernel))
        by_name = self.output(student.convolution_by_attention(kernel=kernel, X=X))
        expect.close(by_name, plain, "Is memory read in the order of the axes?", atol=ATOL)
        after = student.convolution_by_attention.inputs_after(X, kernel)
        expect.unchanged(after, [X, kernel], ["X", "kernel"], "Look for operators like *= on an argument.")
