"""Visible checks of a7. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import equal, same, shown

BACK = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
SIGNAL = np.array([[0.0], [0.0], [4.0], [4.0], [4.0], [0.0]])
SMOOTH = np.array([[[0.25]], [[0.5]], [[0.25]]])
EDGES = np.array([[[-1.0]], [[0.0]], [[1.0]]])

# No two sizes alike: four taps that take rows of width three to rows of width two; a text of six rows.
TAPS = np.array(
    [
        [[0.0, 1.0], [2.0, 3.0], [-2.0, -2.0]],
        [[2.0, 3.0], [-1.0, -1.0], [3.0, 0.0]],
        [[-1.0, 2.0], [-1.0, 0.0], [1.0, 1.0]],
        [[-2.0, -2.0], [3.0, 2.0], [3.0, 1.0]],
    ]
)
TEXT = np.array(
    [[3.0, -1.0, -2.0], [0.0, 0.0, 3.0], [1.0, -2.0, 0.0], [2.0, 3.0, 3.0], [4.0, -1.0, 4.0], [-2.0, 1.0, -1.0]]
)


@pytest.mark.exercise("offset_attention")
class TestOffsetAttention:
    def test_one_word_back(self, student):
        """Four words, offset -1: each looks at the word before it, and the first at nothing."""
        with shown("Row i is the query: in which column does its one key stand?", length=4, offset=-1):
            got = expect.array(student.offset_attention(4, -1))
            same(got, BACK)
            expect.dtype(got, np.float64)

    def test_two_words_ahead(self, student):
        """Three words, offset 2: the first looks at the third, the others at nothing."""
        wanted = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        with shown("Which word stands two places after the second one?", length=3, offset=2):
            same(expect.array(student.offset_attention(3, 2)), wanted)

    def test_too_far(self, student):
        """Three words, offset 3 or -4: there is no such key, and every row is zeros."""
        for offset in (3, -4):
            with shown("Which words stand that far away?", length=3, offset=offset):
                same(expect.array(student.offset_attention(3, offset)), np.zeros((3, 3)))


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
        for matrix, what in ((W_V, "W_V"), (W_O, "W_O")):
            expect.dtype(matrix, kernel.dtype, what=what)
        return [int(offset) for offset in offsets], W_V @ W_O.reshape(taps, d_v, out)

    def judge(self, student, kernel, wanted):
        """The offsets are `wanted`, in any order, and each head's product is the tap that listens there."""
        offsets, products = self.heads(student, kernel)
        equal(sorted(offsets), wanted, "offsets, put in order,")
        for tap, offset in enumerate(wanted):
            same(products[offsets.index(offset)], kernel[tap], f"the product of the head at offset {offset}")

    def test_edges(self, student):
        """The filter (-1, 0, 1): heads at the offsets -1, 0, 1, whose products are -1, 0 and 1."""
        with shown("Where does each of three taps listen, and which tap is whose?", kernel=EDGES):
            self.judge(student, EDGES, [-1, 0, 1])

    def test_two_taps(self, student):
        """Two taps have no middle: the offsets are 0 and 1."""
        kernel = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
        with shown("On which side is there one more?", kernel=kernel):
            self.judge(student, kernel, [0, 1])

    def test_four_taps(self, student):
        """Four taps from width three to width two: each head's product is its tap, whatever your d_v."""
        with shown("Which rows of W_O meet head 0's values, and how often is the kernel in the product?", kernel=TAPS):
            self.judge(student, TAPS, [-1, 0, 1, 2])

    def test_float32(self, student):
        """float32 gives float32, and the kernel is as before."""
        kernel = TAPS.astype(np.float32)
        with shown("Which dtype has a matrix that you make yourself?", kernel=kernel):
            self.judge(student, kernel, [-1, 0, 1, 2])
            expect.unchanged(student.convolution_heads.inputs_after(kernel), [kernel], ["kernel"])


@pytest.mark.exercise("convolution_by_attention")
class TestConvolutionByAttention:
    def output(self, student, X, kernel):
        """The output; the weights have one head a tap, and each row of a head looks at one place at most."""
        output, weights = expect.pair(student.convolution_by_attention(X, kernel))
        shape = (len(kernel), len(X), len(X))
        expect.shape(expect.array(weights, what="weights"), shape, "One head a tap, one row a query.", "weights")
        return expect.array(output, what="output")

    def test_smooth(self, student):
        """The example by hand: (1/4, 1/2, 1/4) makes (0, 1, 3, 4, 3, 1) of the signal."""
        wanted = np.array([[0.0], [1.0], [3.0], [4.0], [3.0], [1.0]])
        with shown("Which three numbers does this place hear, and how loud is each?", X=SIGNAL, kernel=SMOOTH):
            same(self.output(student, SIGNAL, SMOOTH), wanted)

    def test_edges(self, student):
        """The example by hand: (-1, 0, 1) makes (0, 4, 4, 0, -4, -4) of the signal."""
        wanted = np.array([[0.0], [4.0], [4.0], [0.0], [-4.0], [-4.0]])
        with shown("Is it what comes after minus what came before?", X=SIGNAL, kernel=EDGES):
            same(self.output(student, SIGNAL, EDGES), wanted)

    def test_four_taps(self, student):
        """Six rows of width three, four taps to width two: nothing is heard from outside."""
        wanted = np.array([[-4.0, 7.0], [26.0, 11.0], [-3.0, 0.0], [11.0, 15.0], [21.0, 13.0], [-18.0, -14.0]])
        with shown("Where do four taps listen, and what does the one that finds no row hear?", X=TEXT, kernel=TAPS):
            same(self.output(student, TEXT, TAPS), wanted)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown("Which dtype have the weights of a head, and is a float32 times a float64 still a float32?"):
            given = [TEXT.astype(np.float32), TAPS.astype(np.float32)]
            expect.dtype(self.output(student, *given), np.float32)
            expect.unchanged(student.convolution_by_attention.inputs_after(*given), given, ["X", "kernel"])


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


def away_from_the_mean(X):
    """A layer that looks at all rows."""
    return X - X.mean(axis=0)


def add_to_odd_rows(X):
    """A layer that treats every second row in another way."""
    return X + 10 * (np.arange(len(X)) % 2)[:, None]


def add_to_the_last_row(X):
    """A layer that is the same everywhere but in one row."""
    return X + (np.arange(len(X)) == len(X) - 1)[:, None]


def add_to_the_last_column(X):
    """A layer whose last column knows where each row stands."""
    return X + np.arange(len(X))[:, None] * (np.arange(X.shape[1]) == X.shape[1] - 1)


def add_below_zero(X):
    """A layer that knows where each row stands, and shows it where a number is below zero."""
    return np.where(X < 0, add_row_number(X), X)


def add_a_billionth(X):
    """A layer whose answers differ by rounding alone."""
    return X + 1e-9 * np.arange(len(X))[:, None]


def add_a_hundredth(X):
    """A layer whose answers differ by a little."""
    return X + 0.01 * np.arange(len(X))[:, None]


@pytest.mark.exercise("translation_test")
class TestTranslationTest:
    X = np.array([[1.0], [5.0], [2.0], [7.0]])
    WIDE = np.array([[1.0, 4.0], [5.0, 3.0], [2.0, 8.0], [7.0, 6.0], [9.0, 0.0]])

    def judge(self, student, wanted, question, layer, X, shift, margin):
        told = f"{layer.__name__}: {layer.__doc__}"
        with shown(question, layer=told, X=X, shift=shift, margin=margin):
            got = student.translation_test(layer, X, shift, margin)
            if not isinstance(got, bool | np.bool_):
                expect.fail(f"gave back {expect.kind_of(got)}, not True or False.")
            equal(bool(got), wanted, "the verdict")

    def test_tripled(self, student):
        """The example by hand: a layer that triples passes."""
        self.judge(student, True, "Which row of the second output belongs to row 0 of the first?", triple, self.X, 1, 0)

    def test_row_numbers(self, student):
        """The example by hand: a layer that adds each row's number does not pass."""
        self.judge(student, False, "What do you compare: the outputs, both of them?", add_row_number, self.X, 1, 0)

    def test_borders(self, student):
        """A filter of three taps passes with a margin of 1, also to the left."""
        X = np.array([[3.0], [1.0], [4.0], [1.0], [5.0], [9.0], [2.0], [6.0]])
        self.judge(student, True, "Which rows hear something else only because the border is near?", smooth, X, -2, 1)

    def test_two_columns(self, student):
        """Rows of two numbers move as rows: tripling passes, to the right, to the left and not at all."""
        for shift in (1, -2, 0):
            self.judge(student, True, "Row i becomes row i + shift: as a whole?", triple, self.WIDE, shift, 0)

    def test_every_row_and_column(self, student):
        """A layer that differs in the last row alone, or in the last column alone, does not pass."""
        for layer in (add_to_the_last_row, add_to_the_last_column):
            self.judge(student, False, "Which rows and columns do you compare: all of them?", layer, self.WIDE, 1, 0)

    def test_round_in_a_circle(self, student):
        """What goes out at one end comes in at the other, so a layer that looks at all rows passes."""
        question = "Does the layer see the same rows after you moved them?"
        self.judge(student, True, question, away_from_the_mean, self.WIDE, 2, 0)

    def test_by_shift(self, student):
        """A layer that treats every second row in another way passes for a shift of 2, and not for 1."""
        X = np.concatenate([self.WIDE, self.WIDE[:1] + 2])
        self.judge(
            student,
            True,
            "Where does the shift come in, when X is moved and when rows are compared?",
            add_to_odd_rows,
            X,
            2,
            0,
        )
        self.judge(
            student,
            False,
            "Where does the shift come in, when X is moved and when rows are compared?",
            add_to_odd_rows,
            X,
            1,
            0,
        )

    def test_this_input(self, student):
        """The layer is given these rows and no others."""
        self.judge(student, True, "What do you hand to the layer?", add_below_zero, self.WIDE, 1, 0)

    def test_rounding(self, student):
        """A difference of a billionth is rounding, one of a hundredth is not."""
        question = "From which difference on are two outputs not the same?"
        self.judge(student, True, question, add_a_billionth, self.WIDE, 1, 0)
        self.judge(student, False, question, add_a_hundredth, self.WIDE, 1, 0)

    def test_left_alone(self, student):
        """X is as before."""
        with shown("Is it the caller's array that you move, or a copy?", X=self.WIDE):
            after = student.translation_test.inputs_after(triple, self.WIDE.copy(), 1, 0)
            same(after[1], self.WIDE, "X after the call")
