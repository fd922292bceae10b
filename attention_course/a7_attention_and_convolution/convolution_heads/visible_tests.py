"""Visible tests of convolution_heads, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, equal, expect, shown

from ..shared_visible_tests import EDGES, TAPS


@pytest.mark.exercise("convolution_heads")
class TestConvolutionHeads:
    def heads(self, student, kernel):
        """Offsets as a list, and each head's product of its two matrices."""
        got = student.convolution_heads(kernel)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (offsets, W_V, W_O).", symptom="kind")
        offsets, W_V, W_O = got
        W_V, W_O = expect.array(W_V, what="W_V"), expect.array(W_O, what="W_O")
        taps, width, out = kernel.shape
        d_v = W_V.shape[-1]
        expect.shape(W_V, (taps, width, d_v), "One matrix of values a head.", "W_V")
        expect.shape(W_O, (taps * d_v, out), "Each head has d_v rows in it.", "W_O")
        if not isinstance(offsets, list | tuple | np.ndarray):
            expect.fail(f"the offsets are {expect.kind_of(offsets)}, not a list of ints.", symptom="kind")
        for offset in offsets:
            if not isinstance(offset, int | float | np.number):
                expect.fail(f"an offset is {expect.kind_of(offset)}, not an int.", symptom="kind")
            if not float(offset).is_integer():
                expect.fail(f"an offset is {offset}, not an int.", symptom="kind")
        for matrix, what in ((W_V, "W_V"), (W_O, "W_O")):
            expect.dtype(matrix, kernel.dtype, what=what)
        return [int(offset) for offset in offsets], W_V @ W_O.reshape(taps, d_v, out)

    def judge(self, student, kernel, wanted):
        """The offsets are `wanted`, in any order, and each head's product is the tap that listens there."""
        offsets, products = self.heads(student, kernel)
        equal(len(offsets), len(wanted), "the number of offsets")
        equal(sorted(offsets), wanted, "offsets, put in order,")
        for tap, offset in enumerate(wanted):
            close(products[offsets.index(offset)], kernel[tap], f"the product of the head at offset {offset}")

    def asked(self, student, kernel, wanted, question):
        """`question`, or another if the offsets are `wanted`."""
        if expect.holds(lambda: equal(sorted(self.heads(student, kernel)[0]), wanted)):
            return "What is the product of this head's W_V and its rows of W_O, and how often is its tap in there?"
        return question

    def test_edges(self, student):
        """The filter (-1, 0, 1): heads at the offsets -1, 0, 1, whose products are -1, 0 and 1."""
        with shown(self.asked(student, EDGES, [-1, 0, 1], "Where does each of three taps listen?"), kernel=EDGES):
            self.judge(student, EDGES, [-1, 0, 1])

    def test_two_taps(self, student):
        """Two taps have no middle: the offsets are 0 and 1."""
        kernel = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
        question = self.asked(student, kernel, [0, 1], "On which side is there one more offset?")
        with shown(question, kernel=kernel):
            self.judge(student, kernel, [0, 1])

    def test_four_taps(self, student):
        """Four taps from width three to width two: each head's product is its tap, whatever your d_v."""
        with shown("Which rows of W_O meet head 0's values, and how often is the kernel in the product?", kernel=TAPS):
            self.judge(student, TAPS, [-1, 0, 1, 2])
        with shown("What does your code keep from one call to the next?", kernel=-TAPS):
            self.judge(student, -TAPS, [-1, 0, 1, 2])

    def test_one_tap(self, student):
        """A single tap listens to the place itself, and its product is the kernel."""
        with shown("Where does the middle one of one tap listen?", kernel=TAPS[:1]):
            self.judge(student, TAPS[:1], [0])

    def test_many_taps(self, student):
        """Seventeen taps from width one to width forty: the offsets go from -8 to 8."""
        kernel = np.arange(680.0).reshape(17, 1, 40)
        with shown("Small kernels come out right? Then which of your numbers is a size?", "exception", "shape"):
            self.judge(student, kernel, [*range(-8, 9)])

    def test_float32(self, student):
        """float32 gives float32, and the kernel is as before."""
        kernel = TAPS.astype(np.float32)
        with shown("Which dtype has a matrix that you make yourself?", kernel=kernel):
            self.judge(student, kernel, [-1, 0, 1, 2])
            expect.unchanged(student.convolution_heads.inputs_after(kernel), [kernel], ["kernel"])
