"""Hidden tests of rotate."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, keeps_digits, responds, same_in_batches
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, FROM_THE_END, IN_PLACE, loosely


def places(*numbers):
    """Positions, as whole numbers."""
    return np.array(numbers)


@pytest.mark.exercise("rotate")
class TestRotate:
    NAMES = ("x", "positions", "base")
    X, AT = normal(801, 5, 8), places(0, 3, 4, 9, 17)  # five vectors of four pairs

    def turn(self, student, x, positions, *base):
        """The result, in the shape of x."""
        ask = Unbatched(student.rotate, 2, 0)  # `test_shape` judges code for batches only
        got = loosely(ask(x, positions, *base))
        expect.shape(got, x.shape, "What goes in and what comes out are queries or keys.")
        return got

    def looks_like_an_attempt(self, student):
        """Fails unless other vectors give another result, and so do the same vectors at other positions."""
        call = lambda *args: self.turn(student, *args)  # noqa: E731
        responds(call, [self.X, self.AT], [normal(802, 5, 8), None], self.NAMES)

    def compare(self, student, reference, hint, *cases):
        for x, positions in cases:
            expect.close(self.turn(student, x, positions), reference.rotate(x, positions), hint, atol=ATOL)

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """Five vectors of width eight come out in the shape they went in: (5, 8)."""
        expect.shape(expect.array(student.rotate(self.X, self.AT)), (5, 8))

    @pytest.mark.weight(0.33)
    def test_one_pair(self, student, reference):
        """Vectors of width two: a single pair, turned by the position."""
        hint = "Where does (1, 0) go at position 1, and where (0, 1)?"
        self.compare(student, reference, hint, (normal(803, 5, 2), self.AT), (normal(804, 3, 2), places(2, 1, 6)))

    @pytest.mark.weight(0.9)
    def test_values(self, student, reference):
        """Several pairs: neighbours are turned together, each pair at its own speed."""
        hint = "Do the example by hand, pair by pair: which columns belong together, and what is their angle?"
        given = (normal(805, 5, 8), self.AT), (normal(806, 4, 6), places(1, 0, 40, 7))
        self.compare(student, reference, hint, *given)

    @pytest.mark.weight(0.2)
    def test_distance(self, student):
        """Scores depend on how far apart two words are, not on where they stand, also in a text of 2,000 words."""
        self.looks_like_an_attempt(student)
        near = "Turn a query by 5 and a key by 3, then by 15 and by 13. Between the two, what has changed?"
        far = "After 2,000 words, are two places side by side still two numbers on each of your lines?"
        q, k = np.tile(normal(807, 1, 8), (5, 1)), np.tile(normal(808, 1, 8), (5, 1))
        first = self.turn(student, q, self.AT) @ self.turn(student, k, self.AT).T
        # Bytes end at 127 or 255 and begin again at 2,048; bfloat16 has all numbers up to 256, float16 up to 2,048.
        for more, hint in ((1, near), (20, near), (120, near), (2040, far)):
            later = self.turn(student, q, self.AT + more) @ self.turn(student, k, self.AT + more).T
            expect.close(later, first, hint, f"the scores, {more} places on,", ATOL)

    @pytest.mark.weight(0.2)
    def test_length(self, student):
        """Turning makes no vector longer or shorter."""
        self.looks_like_an_attempt(student)
        lengths = np.linalg.norm(self.turn(student, self.X, self.AT), axis=-1)
        hint = "The squares of a cosine and a sine add up to 1. What do the squares of your pair add up to?"
        expect.close(lengths, np.linalg.norm(self.X, axis=-1), hint, "the length of the turned vectors", ATOL)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Two texts of 71 words in eight heads, and whatever else is larger or smaller than the examples."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_one_pair, self.test_values)
        for number, shape in enumerate([(2, 8, 71, 12), (64, 16), (33, 6), (2, 2), (1, 2)]):
            x, where = normal(1500 + number, *shape), np.arange(shape[-2])
            wanted = reference.rotate(x, where)
            got = self.turn(student, x, where)
            if plain:
                expect.close(got, wanted, ANY_SIZE, atol=ATOL)

    @pytest.mark.weight(0.3)
    def test_base(self, student):
        """Another base gives the pairs after the first other speeds; the first turns as ever."""
        self.looks_like_an_attempt(student)
        hint = "Where does base come in, and what is it to the power of 0?"
        ordinary, other = self.turn(student, self.X, self.AT), self.turn(student, self.X, self.AT, 50.0)
        expect.differs(other, ordinary, hint, "with base = 50, the result")
        # After the call with another base, so that one which is kept shows.
        plain, fixed = self.turn(student, -self.X, self.AT), self.turn(student, -self.X, self.AT, 10000.0)
        hint = "Which base does the first line of the stub give?"
        expect.close(fixed, plain, hint, "with base = 10000, the result")

    @pytest.mark.weight(0.25)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each text is turned by the same positions."""
        self.looks_like_an_attempt(student)
        call = lambda x: self.turn(student, x, self.AT)  # noqa: E731
        same_in_batches(call, [[normal(809, 3, 5, 8)], [normal(810, 2, 3, 5, 4)]], FROM_THE_END)

    @pytest.mark.weight(0.1)
    def test_these_positions(self, student):
        """It is these positions that count, in any order, below zero or between whole numbers, and not the place."""
        self.looks_like_an_attempt(student)
        order = [3, 0, 4, 2, 1]
        got = self.turn(student, self.X[order], self.AT[order])
        hint = "A vector's angle comes from its entry in positions. Does yours?"
        plain = self.turn(student, self.X, self.AT)
        expect.close(got, plain[order], hint, "in another order, the result", ATOL)
        hint = (
            "A position may lie between two whole numbers, or below zero. What does your code make of 0.5, and of -3?"
        )
        halves = self.turn(student, self.turn(student, self.X, self.AT / 2), self.AT / 2)
        expect.close(halves, plain, hint, "turned twice by half of each position, the result", ATOL)
        undone = self.turn(student, plain, -self.AT)
        expect.close(undone, self.X, hint, "turned back by positions below zero, the result", ATOL)

    @pytest.mark.weight(0.12)
    def test_dtype(self, student, reference):
        """float32 stays float32, float64 stays float64 and keeps its digits."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.turn(student, self.X.astype(dtype), self.AT)
            expect.dtype(got, dtype, DTYPE)
            keeps_digits(got, "the result")
        if holds_in(student, reference, self.test_values):
            hint = "How many digits have your angles, and the speeds that they are made from?"
            wanted = reference.rotate(self.X, self.AT)
            expect.close(self.turn(student, self.X, self.AT), wanted, hint, "of float64 numbers, the result", 1e-9)

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        x = normal(811, 8, 5).T
        plain = self.turn(student, np.ascontiguousarray(x), self.AT, 10000.0)
        by_name = loosely(student.rotate(base=10000.0, positions=self.AT, x=x))
        expect.close(by_name, plain, BY_NAME, atol=ATOL)
        after = student.rotate.inputs_after(x, self.AT)
        expect.unchanged(after, [x, self.AT], self.NAMES, IN_PLACE)
