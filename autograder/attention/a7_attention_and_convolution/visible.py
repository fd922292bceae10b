"""Visible checks of a7. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.judging import expect

BACK = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
SIGNAL = np.array([[0.0], [0.0], [4.0], [4.0], [4.0], [0.0]])
SMOOTH = np.array([[[0.25]], [[0.5]], [[0.25]]])
EDGES = np.array([[[-1.0]], [[0.0]], [[1.0]]])


@pytest.mark.exercise("offset_attention")
class TestOffsetAttention:
    def test_one_word_back(self, student):
        """Four words, offset -1: each looks at the word before it, and the first at nothing."""
        got = expect.array(student.offset_attention(4, -1))
        expect.equal(got, BACK, "Row i is the query, column i + offset the one key that it attends to.")

    def test_two_words_ahead(self, student):
        """Three words, offset 2: the first looks at the third, the others at nothing."""
        got = expect.array(student.offset_attention(3, 2))
        wanted = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        expect.equal(got, wanted, "Which word stands two places after the second one?")


@pytest.mark.exercise("convolution_heads")
class TestConvolutionHeads:
    def heads(self, student, kernel):
        """Offsets as a list, and each head's product of its two matrices."""
        got = student.convolution_heads(kernel)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (offsets, W_V, W_O).")
        offsets, W_V, W_O = got
        W_V, W_O = expect.array(W_V, what="W_V"), expect.array(W_O, what="W_O")
        taps, width, out = kernel.shape
        d_v = W_V.shape[-1]
        expect.shape(W_V, (taps, width, d_v), "One matrix of values a head.", "W_V")
        expect.shape(W_O, (taps * d_v, out), "Each head has d_v rows in it.", "W_O")
        if not isinstance(offsets, list | tuple | np.ndarray):
            expect.fail(f"the offsets are {expect.kind_of(offsets)}, not a list of ints.")
        return [int(offset) for offset in offsets], W_V @ W_O.reshape(taps, d_v, out)

    def test_edges(self, student):
        """The filter (-1, 0, 1): heads at the offsets -1, 0, 1, whose products are -1, 0 and 1."""
        offsets, products = self.heads(student, EDGES)
        found = dict(zip(offsets, products[:, 0, 0].tolist(), strict=True))
        if sorted(found) != [-1, 0, 1]:
            expect.fail(f"the offsets are {offsets}.", "Where does each of three taps listen?")
        for offset, wanted in ((-1, -1.0), (0, 0.0), (1, 1.0)):
            if abs(found[offset] - wanted) > 1e-6:
                expect.fail(f"the head at offset {offset} has the product {found[offset]:.4g}.", "Which tap is this?")

    def test_two_taps(self, student):
        """Two taps have no middle: the offsets are 0 and 1."""
        offsets, _ = self.heads(student, np.array([[[1.0, 2.0]], [[3.0, 4.0]]]))
        if sorted(offsets) != [0, 1]:
            expect.fail(f"the offsets are {offsets}.", "On which side is there one more?")


@pytest.mark.exercise("convolution_by_attention")
class TestConvolutionByAttention:
    def output(self, student, kernel):
        """The output for the signal; its weights, one head a tap, are looked at in the notebook's picture."""
        output, weights = expect.pair(student.convolution_by_attention(SIGNAL, kernel))
        expect.shape(expect.array(weights, what="weights"), (3, 6, 6), "One head a tap, one row a query.", "weights")
        return expect.array(output, what="output")

    def test_smooth(self, student):
        """The example by hand: (1/4, 1/2, 1/4) makes (0, 1, 3, 4, 3, 1) of the signal."""
        got = self.output(student, SMOOTH)
        wanted = np.array([[0.0], [1.0], [3.0], [4.0], [3.0], [1.0]])
        expect.close(got, wanted, "Which three numbers does this place hear, and how loud is each?")

    def test_edges(self, student):
        """The example by hand: (-1, 0, 1) makes (0, 4, 4, 0, -4, -4) of the signal."""
        got = self.output(student, EDGES)
        wanted = np.array([[0.0], [4.0], [4.0], [0.0], [-4.0], [-4.0]])
        expect.close(got, wanted, "Is it what comes after minus what came before?")


def triple(X):
    """The layer of the example by hand."""
    return 3 * X


def add_row_number(X):
    """A layer that knows where each row stands."""
    return X + np.arange(len(X))[:, None]


def smooth(X):
    """The filter (1/4, 1/2, 1/4), with zeros outside."""
    padded = np.pad(X, ((1, 1), (0, 0)))
    return padded[:-2] / 4 + padded[1:-1] / 2 + padded[2:] / 4


@pytest.mark.exercise("translation_test")
class TestTranslationTest:
    X = np.array([[1.0], [5.0], [2.0], [7.0]])

    def verdict(self, student, *args):
        got = student.translation_test(*args)
        if not isinstance(got, bool | np.bool_):
            expect.fail(f"gave back {expect.kind_of(got)}, not True or False.")
        return bool(got)

    def test_tripled(self, student):
        """The example by hand: a layer that triples passes."""
        if not self.verdict(student, triple, self.X, 1, 0):
            expect.fail("gave back False.", "Which row of the second output belongs to row 0 of the first?")

    def test_row_numbers(self, student):
        """The example by hand: a layer that adds each row's number does not pass."""
        if self.verdict(student, add_row_number, self.X, 1, 0):
            expect.fail("gave back True.", "What do you compare: the outputs, both of them?")

    def test_borders(self, student):
        """A filter of three taps passes with a margin of 1, also to the left."""
        X = np.array([[3.0], [1.0], [4.0], [1.0], [5.0], [9.0], [2.0], [6.0]])
        if not self.verdict(student, smooth, X, -2, 1):
            expect.fail("gave back False.", "Which rows hear something else only because the border is near?")
