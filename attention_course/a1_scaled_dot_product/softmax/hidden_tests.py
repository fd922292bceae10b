"""Hidden tests of softmax."""

import contextlib

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, keeps_digits, nothing_for_the_rest, responds, same_item_by_item
from ..shared_hidden_tests import AT_LARGE, DTYPES, LARGE, loosely


class InMoreAxes:
    """A student's softmax. If it raises, it is called again with one axis of length one in front, and then with two.

    `test_shape`, `test_one_row` and `test_any_number_of_axes` judge that, so code for two or three axes loses no more.
    """

    def __init__(self, function):
        self.function = function

    def __call__(self, x):
        return self._asked(lambda x, more: self.function(x), x)

    def by_name(self, x):
        """With an `axis` that is the first of x."""
        return self._asked(lambda x, more: self.function(axis=more, x=x), x)

    def inputs_after(self, x):
        return [self._asked(lambda x, more: self.function.inputs_after(x)[0], x)]

    def _asked(self, call, x):
        for more in range(3):
            with contextlib.suppress(Raised):
                got = call(x[(np.newaxis,) * more], more)
                added = more and isinstance(got, np.ndarray) and got.shape[:more] == (1,) * more
                return got[(0,) * more] if added else got
        return call(x, 0)  # raises again, so that the message shows this call


@pytest.mark.exercise("softmax")
class TestSoftmax:
    ROW = np.array([-2.0, 0.5, 1.0])
    X = normal(1, 4, 5)

    def looks_like_weights(self, student):
        """Fails unless each score has a number, made from the scores. Exponential, axis and sum may be wrong."""
        softmax = InMoreAxes(student.softmax)
        expect.shape(loosely(softmax(self.ROW)), (3,))
        responds(lambda x: loosely(softmax(x)), [self.ROW], [2 * self.ROW + [0.0, 0.0, 1.0]], ["x"])

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """The result has the shape of the input."""
        expect.shape(expect.array(student.softmax(self.X)), (4, 5))

    @pytest.mark.weight(0.8)
    def test_one_row(self, student, reference):
        """One row of scores gives the right weights."""
        for x in (normal(2, 5), 2 * normal(3, 7), 6 * normal(9, 6), np.array([0.0, 1.5, -0.5, 0.0])):
            hint = "Which two steps turn scores into weights that are positive and sum to 1?"
            expect.close(expect.array(student.softmax(x)), reference.softmax(x), hint)

    @pytest.mark.weight(0.8)
    def test_many_rows(self, student, reference):
        """Several rows: each gets the weights it would get alone."""
        softmax = InMoreAxes(student.softmax)
        for x in (self.X, normal(4, 3, 2), normal(5, 6, 3).T):
            hint = "Does each row sum to 1? Which axis does `axis=-1` mean, and do sum and maximum both go over it?"
            expect.close(expect.array(softmax(x)), reference.softmax(x), hint)

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Seventy rows of 96 scores, and one of 5100."""
        softmax = InMoreAxes(student.softmax)
        for x in (normal(281, 70, 96), 2 * normal(282, 1, 5100)):
            expect.close(loosely(softmax(x)), reference.softmax(x), ANY_SIZE)

    @pytest.mark.weight(0.7)
    def test_axis(self, student):
        """`axis` chooses the axis to normalise over; it may count from the end."""
        self.looks_like_weights(student)
        hint = "Is `axis` used in every step?"
        x = normal(6, 8, 4, 5)
        results = []
        for axis in (0, -2, 2):
            last = np.moveaxis(x, axis, -1)
            over_the_last = loosely(student.softmax(last))
            expect.shape(over_the_last, last.shape)
            results.append(loosely(student.softmax(x, axis)))
            expect.close(results[-1], np.moveaxis(over_the_last, -1, axis), hint)
        expect.differs(results[0], results[2], hint, "with another `axis` the result")

    @pytest.mark.weight(0.2)
    def test_any_number_of_axes(self, student):
        """Any number of axes, and axes of length one, too."""
        self.looks_like_weights(student)
        hint = "Is anything taken for granted about how many axes x has?"
        same_item_by_item(lambda x: loosely(student.softmax(x)), [normal(7, 2, 3, 4, 5)], 2, hint)
        got = loosely(student.softmax(self.ROW[np.newaxis, :, np.newaxis], axis=1))
        expect.shape(got, (1, 3, 1), hint)
        expect.shape(loosely(student.softmax(self.ROW[:1])), (1,), hint)

    @pytest.mark.weight(0.3)
    def test_large_scores(self, student):
        """Scores of 10,000 still give finite weights, and the right ones; nothing is left for scores far below."""
        softmax = InMoreAxes(student.softmax)
        self.looks_like_weights(student)
        hint = "Before np.exp, what could be subtracted from a row without changing its weights?"
        for dtype in DTYPES:
            # Two large scores share the weight as two small ones do, and scores far below get none. The large ones
            # are neither first nor last nor in the middle, so only subtracting the largest helps.
            near = loosely(softmax(np.array([1.0, 0.0], dtype=dtype)))
            expect.shape(near, (2,))
            # The low scores are asked about before the large ones are judged, so that a diagnosis has both answers.
            low = loosely(softmax(np.array([-LARGE, -LARGE - 1.0], dtype=dtype)))
            got = loosely(softmax(np.array([0.0, LARGE, LARGE - 1.0, 0.0, 0.0], dtype=dtype)))
            expect.close(got, np.pad(near, (1, 2)), hint, atol=AT_LARGE)
            nothing_for_the_rest(got[[0, 3, 4]])
            expect.close(low, near, hint, atol=AT_LARGE)
        small = np.array([[0.0, -2.0], [0.0, 1.0]])
        apart = "Rows can lie far apart. Is each made harmless on its own?"
        got, near = (loosely(softmax(rows)) for rows in (small + np.array([[-LARGE], [1e6]]), small))
        expect.finite(got, apart)
        expect.close(got, near, apart, atol=AT_LARGE)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        softmax = InMoreAxes(student.softmax)
        self.looks_like_weights(student)
        for dtype in DTYPES:
            got = expect.array(softmax(self.ROW.astype(dtype)))
            expect.dtype(got, dtype, "Where does the type change?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.2)
    def test_inputs_left_alone(self, student):
        """The input is not changed, and may have any layout in memory."""
        softmax = InMoreAxes(student.softmax)
        self.looks_like_weights(student)
        x = normal(8, 10)[::2]
        hint = "Look for operators like -= and /= on the argument."
        expect.unchanged(softmax.inputs_after(x), [x], ["x"], hint)
        copied = loosely(softmax(x.copy()))
        expect.close(loosely(softmax(x)), copied)

    @pytest.mark.weight(0.2)
    def test_by_name(self, student):
        """The arguments may be given by name."""
        softmax = InMoreAxes(student.softmax)
        self.looks_like_weights(student)
        hint = "The names of the arguments are those in the first line you were given."
        by_position = loosely(softmax(self.ROW))
        expect.close(loosely(softmax.by_name(self.ROW)), by_position, hint)
