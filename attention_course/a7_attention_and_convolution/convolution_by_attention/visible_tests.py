"""Visible tests of convolution_by_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, equal, expect, shown

from ..shared_visible_tests import EDGES, TAPS

SIGNAL = np.array([[0.0], [0.0], [4.0], [4.0], [4.0], [0.0]])
SMOOTH = np.array([[[0.25]], [[0.5]], [[0.25]]])
TEXT = np.array(
    [[3.0, -1.0, -2.0], [0.0, 0.0, 3.0], [1.0, -2.0, 0.0], [2.0, 3.0, 3.0], [4.0, -1.0, 4.0], [-2.0, 1.0, -1.0]]
)

# Whom each of six rows hears, by four taps at the offsets -1, 0, 1 and 2.
HEARD = np.array(
    [
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [0, 1, 1, 1, 1, 0],
        [0, 0, 1, 1, 1, 1],
        [0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 1, 1],
    ]
)


@pytest.mark.exercise("convolution_by_attention")
class TestConvolutionByAttention:
    def output(self, student, X, kernel):
        """The output; the weights have one head per tap, and each row of a head looks at one place at most."""
        output, weights = expect.pair(student.convolution_by_attention(X, kernel))
        shape = (len(kernel), len(X), len(X))
        expect.shape(expect.array(weights, what="weights"), shape, "One head per tap, one row per query.", "weights")
        expect.dtype(expect.array(output, what="output"), X.dtype, what="output")
        return output

    def test_smooth(self, student):
        """The example by hand: (1/4, 1/2, 1/4) makes (0, 1, 3, 4, 3, 1) of the signal."""
        wanted = np.array([[0.0], [1.0], [3.0], [4.0], [3.0], [1.0]])
        with shown("Which three numbers does this place hear, and how loud is each?", X=SIGNAL, kernel=SMOOTH):
            close(self.output(student, SIGNAL, SMOOTH), wanted)

    def test_edges(self, student):
        """The example by hand: (-1, 0, 1) makes (0, 4, 4, 0, -4, -4) of the signal."""
        wanted = np.array([[0.0], [4.0], [4.0], [0.0], [-4.0], [-4.0]])
        with shown("Is it what comes after minus what came before?", X=SIGNAL, kernel=EDGES):
            close(self.output(student, SIGNAL, EDGES), wanted)

    def test_four_taps(self, student):
        """Six rows of width three, four taps to width two: nothing is heard from outside."""
        wanted = np.array([[-4.0, 7.0], [26.0, 11.0], [-3.0, 0.0], [11.0, 15.0], [21.0, 13.0], [-18.0, -14.0]])
        with shown("Where do four taps listen, and what does the one that finds no row hear?", X=TEXT, kernel=TAPS):
            close(self.output(student, TEXT, TAPS), wanted)

    def test_weights(self, student):
        """Four heads on six rows: each looks at one place, counted from the query, and at no other."""
        with shown("Which head is which tap's, and which key does its query 2 attend to?", X=TEXT, kernel=TAPS):
            _, weights = expect.pair(student.convolution_by_attention(TEXT, TAPS))
            found = [{int(key - query) for query, key in np.argwhere(head)} for head in weights]
            equal(
                sorted(way for ways in found for way in ways), [-1, 0, 1, 2], "the distances from a query to its keys"
            )
            close(weights.sum(axis=0), HEARD, "the weights of all heads, added up,")

    def test_more_taps_than_rows(self, student):
        """Two rows and four taps: the last tap finds no row."""
        with shown("Which taps find a row at all?", X=TEXT[:2], kernel=TAPS):
            close(self.output(student, TEXT[:2], TAPS), np.array([[4.0, 13.0], [11.0, 4.0]]))

    def test_many_digits(self, student):
        """The signal and the filter of the example, times a hundred and divided by seven."""
        wanted = np.array([[0.0], [4.0], [4.0], [0.0], [-4.0], [-4.0]])
        with shown("Which dtype does each step compute in, and how many digits does it keep?", kernel=EDGES):
            close(self.output(student, 100 * SIGNAL / 7, EDGES), 100 * wanted / 7)

    def test_long_text(self, student):
        """A hundred rows, each with its number: what comes after minus what came before is 2."""
        X, wanted = np.arange(100.0)[:, None], np.array([[1.0], *[[2.0]] * 98, [-98.0]])
        with shown("Short texts come out right? Then which of your numbers is a size?", "exception", kernel=EDGES):
            close(self.output(student, X, EDGES), wanted)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown("Which dtype have the weights of a head, and is a float32 times a float64 still a float32?"):
            given = [TEXT.astype(np.float32), TAPS.astype(np.float32)]
            expect.dtype(self.output(student, *given), np.float32)
            expect.unchanged(student.convolution_by_attention.inputs_after(*given), given, ["X", "kernel"])
