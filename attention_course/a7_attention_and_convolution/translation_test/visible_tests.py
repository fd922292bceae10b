"""Visible tests of translation_test, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, equal, expect, shown


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
            close(after[1], self.WIDE, "X after the call")
