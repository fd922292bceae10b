"""Hidden tests of translation_test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal

TAPS = normal(781, 5, 4, 3)  # five taps, so a reach of two to either side
L = 24

# A layer's docstring is its name in messages.


def circular(X: np.ndarray) -> np.ndarray:
    """a convolution on a circle, with no border"""
    result = np.zeros((len(X), 3))
    for j, tap in enumerate(TAPS):
        moved = np.roll(X, 2 - j, axis=0)
        for column in range(4):  # term by term, so that every place gets the same last bit
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


def every_third(X: np.ndarray) -> np.ndarray:
    """a layer that changes the sign of every third row"""
    return X * (1 - 2 * (np.arange(len(X)) % 3 == 0))[:, None]


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


def off_at(rows: Any, columns: Any = slice(None), by: Any = 1.0, of: Any = circular) -> Any:
    """A layer, but off at some rows or columns, wherever X is moved: by more with each row, or by less."""

    def layer(X: np.ndarray) -> np.ndarray:
        """a layer that is off at some fixed places"""
        result = of(X)
        result[rows, columns] += by * (1 + np.arange(len(result)))[rows, None]
        return result

    if isinstance(rows, int):
        place = {0: "the first row", L - 1: "the last row"}.get(rows, f"row {rows}")
        layer.__doc__ = f"a layer that is off at {place}, wherever X is moved"
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
    # Periodic: rows repeat after three, or after six.
    AGAIN_AFTER_3, AGAIN_AFTER_6 = np.tile(normal(792, 3, 4), (8, 1)), np.tile(normal(793, 6, 4), (4, 1))

    PLAINEST: tuple[Case, ...] = ((circular, X, 3, 2, True), (knows_places, X, 3, 2, False))
    BEGIN = "Begin with the two layers by hand in the notebook: which rows do you compare, and do they agree?"

    def verdicts(self, student: Any, cases: list[Case], hint: str) -> None:
        """Fails unless both kinds of layers get the right verdict. All calls are made before one is judged."""
        answers = [self.verdict(student, *case[:4]) for case in cases]
        for (*call, passes), answer in zip(cases, answers, strict=True):
            if answer != passes:
                # A test that is wrong about the simplest layers is wrong about these for the same reason.
                plain = [self.verdict(student, *case[:4]) == case[4] for case in self.PLAINEST]
                student.translation_test(*call)  # once more, so that the message shows this call
                text = f"{answer} for {call[0].__doc__}."
                if not all(plain):
                    expect.fail(text, self.BEGIN, reason="wrong about the plainest layers")
                expect.fail(text, hint)

    def off_places(self, student: Any, places: list[tuple[Any, Any]], shifts: tuple[int, ...], hint: str) -> None:
        """Fails if a layer that is off at some rows and columns passes. All calls are made before one is judged."""
        cases = [(*place, shift) for place in places for shift in shifts]
        passed = [case for case in cases if self.verdict(student, off_at(*case[:2]), self.X, case[2], 2)]
        for rows, columns, shift in passed[:1]:
            if not self.verdict(student, off_at(rows, columns, by=-1), self.X, shift, 2):  # so this place is compared
                hint = "One output may be larger there than the other, or smaller. Are both a difference?"
            self.verdicts(student, [(off_at(rows, columns), self.X, shift, 2, False)], hint)

    def verdict(self, student: Any, *call: Any, **options: Any) -> bool:
        """The answer as True or False. Another test judges whether it is a truth value and not a number."""
        answer = student.translation_test(*call, **options)
        if isinstance(answer, np.ndarray) and answer.dtype == bool:
            return bool(answer.all())
        if not isinstance(answer, bool | int | float | np.generic):
            expect.fail(f"returned {expect.kind_of(answer)}, not True or False.")
        if isinstance(answer, float | np.floating):
            return bool(abs(answer) <= 1e-6)  # the distance between the outputs: nearly an answer
        return bool(answer)

    def tells_apart(self, student: Any) -> None:
        """Fails if the answer is always the same. A shift of 0 may be needed for another answer."""
        first, *others = (circular, 3), (louder_by_place, 3), (each_alone, 0)
        answer = self.verdict(student, first[0], self.X, first[1], 2)
        if all(self.verdict(student, layer, self.X, shift, 2) == answer for layer, shift in others):
            expect.fail(f"always {answer}, whatever the layer.", "Does the answer come from comparing two outputs?")

    @pytest.mark.weight(0.4)
    def test_true_or_false(self, student):
        """The answer is True or False."""
        for layer in (circular, knows_places):
            answer = student.translation_test(layer, self.X, 3, 2)
            if not isinstance(answer, bool | np.bool_):
                expect.fail(f"returned {expect.kind_of(answer)}, not True or False.")

    @pytest.mark.weight(0.7)
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

    @pytest.mark.weight(0.45)
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

    @pytest.mark.weight(0.5)
    def test_borders(self, student):
        """Rows closer than margin to either end are not compared: a convolution with zeros outside passes."""
        hint = "Which rows does the margin leave out: of the one output, of the other, at both ends?"
        first, last = off_at(slice(0, 2)), off_at(slice(-2, None))
        cases = [(layer, self.X, s, 2, True) for layer in (with_zeros_outside, first, last) for s in (3, -3, 1)]
        self.verdicts(student, [*cases, (knows_places, self.X, 1, 2, False)], hint)

    @pytest.mark.weight(0.5)
    def test_real_sizes(self, student):
        """Seventy rows of width 33, moved by as many as 33, with margins as wide as 8; 521 rows, moved by 300."""
        hint = "Is there a number in your code that a longer or wider X, a larger shift or a wider margin goes beyond?"
        X, at_ends, far = normal(794, 70, 33), off_at([7, 62], of=each_alone), off_at(60, [30], of=each_alone)
        cases = [(at_ends, X, shift, 8, True) for shift in (33, -32)]
        cases += [(each_alone, normal(795, 64, 1), 16, 1, True), (each_alone, normal(796, 3, 2), 1, 0, True)]
        long, late = normal(797, 521, 1), off_at(410, of=each_alone)
        cases += [(late, long, -300, 100, False), (every_third, long, 300, 105, True)]
        self.verdicts(student, [*cases, (far, X, 3, 7, False)], hint)

    @pytest.mark.weight(0.5)
    def test_every_row(self, student):
        """A layer that is off at a single row inside the margins does not pass."""
        self.tells_apart(student)
        hint = "Is every row that lies inside the margins compared?"
        for shift in (3, -3):
            self.verdict(student, two_rows_swapped, self.X, shift, 2)
        rows = (2, 9, 12, 21, slice(2, 4))  # two rows, for comparisons that allow a few to differ
        self.off_places(student, [(row, slice(None)) for row in rows], (3, -3), hint)
        hint = "The same rows in another order: are they the same output?"
        self.verdicts(student, [(two_rows_swapped, self.X, s, 2, False) for s in (3, -3)], hint)

    @pytest.mark.weight(0.5)
    def test_every_column(self, student):
        """A layer that depends on the place in a single column does not pass, nor in two in opposite ways."""
        self.tells_apart(student)
        hint = "Are all columns compared?"
        self.off_places(student, [(slice(None), [column]) for column in (0, 1, 2)], (3,), hint)
        hint = "A difference of 1 in one column and of -1 in another: what is left of the two in a mean?"
        opposite = off_at(slice(None), [0, 1], by=np.array([1.0, -1.0]))
        self.verdicts(student, [(opposite, self.X, 3, 2, False)], hint)

    @pytest.mark.weight(0.25)
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

    @pytest.mark.weight(0.4)
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
        hint = "With a margin of 0, how many rows does your slice hold? Is the first one among them, and the last?"
        cases = [(off_at(row, of=each_alone), self.X, shift, 0, False) for row in (0, L - 1) for shift in (3, -3)]
        plain = [(each_alone, self.X, 3, 0, True), (louder_by_place, self.X, 3, 0, False)]
        self.verdicts(student, [*plain, *cases], hint)

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
                expect.fail("returned something different when the arguments were passed by name.")
            after = student.translation_test.inputs_after(layer, self.X, 3, 2)
            expect.unchanged(after, [layer, self.X, 3, 2], ["layer", "X"], "Is X moved in place?")
