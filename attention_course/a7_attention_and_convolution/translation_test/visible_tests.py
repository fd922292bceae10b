"""Visible tests of translation_test, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, equal, expect, shown


def triple(X):
    """The layer of the example by hand."""
    return 3 * X


def triple_the_first_column(X):
    """A layer whose columns differ."""
    return X * (1 + 2 * (np.arange(X.shape[1]) == 0))


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


def add_to_the_first_row(X):
    """A layer that is the same everywhere but in row 0."""
    return X + (np.arange(len(X)) == 0)[:, None]


def add_to_row_two(X):
    """A layer that is the same everywhere but in row 2."""
    return X + (np.arange(len(X)) == 2)[:, None]


def add_to_the_last_row(X):
    """A layer that is the same everywhere but in the last row."""
    return X + (np.arange(len(X)) == len(X) - 1)[:, None]


def add_to_the_last_column(X):
    """A layer whose last column knows where each row stands."""
    return X + np.arange(len(X))[:, None] * (np.arange(X.shape[1]) == X.shape[1] - 1)


def add_and_take_off(X):
    """A layer that adds each row's number to the first column, and takes it off the second."""
    return X + np.arange(len(X))[:, None] * [1, -1]


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
    EIGHT = np.array([[3.0], [1.0], [4.0], [1.0], [5.0], [9.0], [2.0], [6.0]])
    WIDE = np.array([[1.0, 4.0], [5.0, 3.0], [2.0, 8.0], [7.0, 6.0], [9.0, 0.0]])
    TWICE = np.concatenate([X, X])  # its rows repeat after four

    def judge(self, student, question, *cases):
        """Each case is the right verdict, a layer, X, shift and margin. All calls are made before one is judged."""
        found = [self.verdict(student, question, *case) for _, *case in cases]
        for (wanted, *case), verdict in zip(cases, found, strict=True):
            if verdict != wanted:
                self.verdict(student, question, *case)  # once more, so that the message is about this call
            with self.told(question, *case):
                equal(verdict, wanted, "the verdict")

    def verdict(self, student, question, layer, X, shift, margin):
        with self.told(question, layer, X, shift, margin):
            got = student.translation_test(layer, X, shift, margin)
            if not isinstance(got, bool | np.bool_):
                expect.fail(f"returned {expect.kind_of(got)}, not True or False.", symptom="kind")
            return bool(got)

    def told(self, question, layer, X, shift, margin):
        return shown(question, layer=f"{layer.__name__}: {layer.__doc__}", X=X, shift=shift, margin=margin)

    def test_tripled(self, student):
        """The example by hand: a layer that triples passes."""
        question = "Which row of the second output belongs to row 0 of the first?"
        self.judge(student, question, (True, triple, self.X, 1, 0))

    def test_row_numbers(self, student):
        """The example by hand: a layer that adds each row's number does not pass."""
        question = "What do you compare: the outputs, both of them?"
        with_margin, without = (self.verdict(student, question, add_row_number, self.X, 1, margin) for margin in (1, 0))
        if without and not with_margin:
            question = "With a margin of 0, how many rows does your slice hold?"
        self.judge(student, question, (False, add_row_number, self.X, 1, 0))

    def test_repeated_rows(self, student):
        """Rows that repeat after four, moved by two and by four: tripling passes, and adding row numbers does not."""
        layers = ((True, triple), (False, add_row_number))
        cases = [(wanted, layer, self.TWICE, shift, 0) for wanted, layer in layers for shift in (2, 4)]
        self.judge(student, "Which row of the second output belongs to row 0 of the first?", *cases)

    def test_two_columns(self, student):
        """Rows of two numbers move as rows: tripling passes, also of one column."""
        question = "Row i becomes row i + shift as a whole. Where does the last number of row 0 go in yours?"
        layers = ((True, triple), (True, triple_the_first_column), (False, add_row_number))
        again = (True, triple, np.tile(self.WIDE[:3], (2, 1)), 3, 0)  # the same rows, moved or not
        self.judge(student, question, *((wanted, layer, self.WIDE, 1, 0) for wanted, layer in layers), again)

    def test_to_the_left(self, student):
        """A negative shift moves to the left."""
        question = "With a negative shift, for which i do both i and i + shift lie inside the margins?"
        layers = ((True, triple), (False, add_row_number), (False, add_to_the_first_row))
        self.judge(student, question, *((wanted, layer, self.WIDE, -2, 0) for wanted, layer in layers))
        self.judge(student, question, *((False, layer, self.WIDE, -1, 0) for layer in (add_to_row_two, add_row_number)))

    def test_no_shift(self, student):
        """A shift of 0: every layer passes."""
        question = "With a shift of 0, how many rows does your slice hold?"
        self.judge(student, question, *((True, layer, self.WIDE, 0, 0) for layer in (triple, add_row_number)))

    def test_borders(self, student):
        """With a margin of 1, the first and the last row are not compared, in either output."""
        question = "Which rows are closer to an end than the margin: of the one output, of the other, at both ends?"
        layers = (add_to_the_first_row, add_to_the_last_row, smooth)
        cases = [(True, layer, self.EIGHT, shift, 1) for layer in layers for shift in (2, -2)]
        self.judge(student, question, *cases, (False, add_to_row_two, self.EIGHT, 2, 1))

    def test_wide_margin(self, student):
        """A margin of 3 and a shift of -1: rows 3 and 4 are compared, with rows 3 and 4."""
        question = "For which i do both i and i + shift lie inside the margins?"
        layers = (add_to_the_first_row, add_to_row_two, add_to_the_last_row)
        self.judge(student, question, *((True, layer, self.EIGHT, -1, 3) for layer in layers))

    def test_every_row_and_column(self, student):
        """A layer that differs in one row or one column only, or in opposite ways in two, does not pass."""
        question = "Which rows and columns do you compare: all of them?"
        layers = (add_to_the_first_row, add_to_row_two, add_to_the_last_row, add_to_the_last_column)
        self.judge(student, question, *((False, layer, self.WIDE, 1, 0) for layer in layers))
        question = "A difference of 1 in one column and of -1 in another: what does your code make of the two?"
        self.judge(student, question, (False, add_and_take_off, self.WIDE, 1, 0))

    def test_long_text(self, student):
        """Of ninety rows, a single one that differs is enough: the layer does not pass."""
        X = np.arange(180.0).reshape(90, 2) % 7
        question = "Is there a size in your code, or does a large share of equal rows count as all?"
        layers = ((False, add_to_the_last_row), (False, add_to_row_two), (True, triple))
        self.judge(student, question, *((wanted, layer, X, 20, 0) for wanted, layer in layers))

    def test_round_in_a_circle(self, student):
        """What goes out at one end comes in at the other, so a layer that looks at all rows passes."""
        question = "Does the layer see the same rows after you moved them?"
        self.judge(student, question, (True, away_from_the_mean, self.WIDE, 2, 0))

    def test_by_shift(self, student):
        """A layer that treats every second row in another way passes for a shift of 2, and not for 1."""
        X = np.concatenate([self.WIDE, self.WIDE[:1] + 2])
        question = "Where does the shift come in, when X is moved and when rows are compared?"
        self.judge(student, question, (True, add_to_odd_rows, X, 2, 0), (False, add_to_odd_rows, X, 1, 0))

    def test_this_input(self, student):
        """The layer is given these rows and no others."""
        self.judge(student, "What do you hand to the layer?", (True, add_below_zero, self.WIDE, 1, 0))

    def test_rounding(self, student):
        """A difference of a billionth is rounding, one of a hundredth is not."""
        question = "From which difference on are two outputs not the same?"
        cases = ((True, add_a_billionth, self.WIDE, 1, 0), (False, add_a_hundredth, self.WIDE, 1, 0))
        self.judge(student, question, *cases)

    def test_left_alone(self, student):
        """X is as before."""
        with shown("Is it the caller's array that you move, or a copy?", X=self.WIDE):
            after = student.translation_test.inputs_after(triple, self.WIDE.copy(), 1, 0)
            close(after[1], self.WIDE, "X after the call")
