"""Hidden tests of convolution_heads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, responds
from ..shared_hidden_tests import ATOL, are_numbers


@pytest.mark.exercise("convolution_heads")
class TestConvolutionHeads:
    ORDINARY = normal(701, 3, 4, 3)  # (k, d_in, d_out)

    def heads(self, student: Any, kernel: np.ndarray) -> tuple[Any, np.ndarray]:
        """The unchanged offsets, and each head's product, (k, d_in, d_out)."""
        offsets, W_V, W_O = self.parts(student, kernel)
        k, _, d_out = kernel.shape
        return offsets, W_V.astype(float) @ W_O.astype(float).reshape(k, W_V.shape[2], d_out)

    def parts(self, student: Any, kernel: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """The unchanged offsets, and the matrices in their shapes, for any d_v."""
        offsets, W_V, W_O = self.answer(student, kernel)
        k, d_in, d_out = kernel.shape
        W_V, W_O = expect.array(W_V, what="W_V"), expect.array(W_O, what="W_O")
        if W_V.ndim != 3 or W_V.shape[:2] != (k, d_in):
            hint = f"There are {k} heads, and each takes rows of width {d_in}."
            expect.fail(f"W_V has shape {W_V.shape}, it should be ({k}, {d_in}, d_v).", hint)
        expect.shape(W_O, (k * W_V.shape[2], d_out), "Each head has d_v rows in it.", "W_O")
        return offsets, W_V, W_O

    def answer(self, student: Any, kernel: np.ndarray) -> tuple[Any, Any, Any]:
        """The three parts. `test_shape` asks for a tuple."""
        got = student.convolution_heads(kernel)
        if not isinstance(got, tuple | list) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (offsets, W_V, W_O).")
        return got[0], got[1], got[2]

    def offsets(self, got: Any, k: int) -> np.ndarray:
        """The offsets as numbers. Another test judges whether they are whole numbers."""
        if not are_numbers(got):
            expect.fail(f"the offsets are {expect.kind_of(got)}; they should be a list of ints.")
        if len(got) != k:
            expect.fail(f"there are {len(got)} offsets for {k} taps.", "Each tap has a head of its own.")
        return np.array(got, dtype=float)

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless the products of the heads depend on the kernel."""
        # Doubled, because the right products equal the kernel and would look like a returned argument.
        products = lambda kernel: 2 * self.heads(student, kernel)[1]  # noqa: E731
        responds(products, [self.ORDINARY], [normal(702, 3, 4, 3)], ["kernel"])

    def in_order(self, got: Any, products: np.ndarray) -> np.ndarray:
        """The products from the leftmost head to the rightmost, or unchanged if the offsets cannot be read."""
        if not are_numbers(got):
            return products
        offsets = self.offsets(got, len(products))
        if len(set(offsets.tolist())) < len(offsets):
            expect.fail(f"the offsets are {_listed(offsets)}.", "Can two taps listen at the same place?")
        return products[np.argsort(offsets)]

    def compare_offsets(self, student: Any, taps: tuple[int, ...], reference: Any, hint: str) -> None:
        """Fails unless the heads look where the reference's heads look, in any order."""
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
            expect.fail(f"returned {expect.kind_of(got)}, not a tuple.")

    @pytest.mark.weight(1.25)
    def test_offsets(self, student, reference):
        """An odd number of taps: as many heads look to the left as to the right."""
        self.compare_offsets(student, (3, 5, 7), reference, "Where does the middle tap listen, and where the first?")

    @pytest.mark.weight(0.5)
    def test_real_sizes(self, student):
        """Taps from width 33 to width 64, nine of them, and 521 small ones."""
        self.compare_taps(student, ((3, 33, 64), (9, 5, 7), (521, 1, 1)), ANY_SIZE)

    @pytest.mark.weight(1.4)
    def test_taps(self, student):
        """From left to right, each head's W_V times its rows of W_O is its tap of the kernel."""
        hint = "Which tap is this head's, and which rows of W_O are its own?"
        self.compare_taps(student, ((3, 4, 3), (5, 2, 6), (3, 4, 4)), hint)

    def compare_taps(self, student: Any, sizes: tuple[tuple[int, int, int], ...], hint: str) -> None:
        """Fails unless the products of the heads are the taps, for kernels of these sizes."""
        for k, d_in, d_out in sizes:
            kernel = normal(720 + k + d_in, k, d_in, d_out)
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
            expect.fail(f"returned {expect.kind_of(by_name)}, not a tuple.")
        after = student.convolution_heads.inputs_after(view)
        expect.unchanged(after, [view], ["kernel"], "Look for operators like *= on an argument.")


def _listed(offsets: np.ndarray) -> str:
    return ", ".join(f"{offset:g}" for offset in offsets)
