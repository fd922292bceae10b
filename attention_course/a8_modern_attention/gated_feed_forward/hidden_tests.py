"""Hidden tests of gated_feed_forward."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, responds, same_in_batches
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, IN_PLACE, loosely


@pytest.mark.exercise("gated_feed_forward")
class TestGatedFeedForward:
    NAMES = ("x", "W_gate", "W_up", "W_down")
    ARGS = (normal(1280, 5, 7), normal(1281, 7, 10) / 2, normal(1282, 7, 10) / 2, normal(1283, 10, 7) / 3)

    def forward(self, student, *args):
        """The result, in the shape of x."""
        ask = Unbatched(student.gated_feed_forward, 2, 0)  # `test_shape` judges code for batches only
        got = loosely(ask(*args))
        expect.shape(got, args[0].shape)
        return got

    def looks_like_an_attempt(self, student):
        """Fails unless the result depends on the words and on the matrices."""
        others = [normal(1284, 5, 7), None, None, self.ARGS[3][::-1].copy()]
        responds(lambda *args: self.forward(student, *args), self.ARGS, others, self.NAMES)

    @pytest.mark.weight(0.07)
    def test_shape(self, student):
        """Five words of width 7 give five words of width 7."""
        expect.shape(expect.array(student.gated_feed_forward(*self.ARGS)), (5, 7), "Where does the width come back?")

    @pytest.mark.weight(0.45)
    def test_values(self, student, reference):
        """The gate, what it lets through, the last layer."""
        hint = (
            "Take the example by hand: what goes through SiLU, what is multiplied number by number, what by a matrix?"
        )
        for seed, size in ((1290, 1), (1300, 10)):  # ten times as large: gates of 30 are fully open or closed
            x, *weights = (normal(seed + i, *arg.shape) / 1.5 for i, arg in enumerate(self.ARGS))
            got, wanted = self.forward(student, size * x, *weights), reference.gated_feed_forward(size * x, *weights)
            expect.close(got, wanted, hint, atol=ATOL)
        square = [normal(1305 + i, *shape) for i, shape in enumerate([(5, 7), (7, 7), (7, 7), (7, 7)])]
        hint = "d_ff is as large as d_model here. Which axes of the matrices are which?"
        expect.close(self.forward(student, *square), reference.gated_feed_forward(*square), hint, atol=ATOL)

    @pytest.mark.weight(0.1)
    def test_last_layer(self, student):
        """W_down comes last: twice as large, and so is the result."""
        self.looks_like_an_attempt(student)
        *others, W_down = self.ARGS
        hint = "What is the last thing that the formula does?"
        expect.close(self.forward(student, *others, 2 * W_down), 2 * self.forward(student, *self.ARGS), hint, atol=ATOL)

    @pytest.mark.weight(0.08)
    def test_large(self, student):
        """A gate that is far open or far shut gives finite numbers."""
        self.looks_like_an_attempt(student)
        x, *weights = self.ARGS
        hint = "What is np.exp(1000.0), and what do you divide by what?"
        expect.finite(self.forward(student, 1000 * x, *weights), hint)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each word goes through on its own, also a single vector."""
        self.looks_like_an_attempt(student)
        call = lambda x: self.forward(student, x, *self.ARGS[1:])  # noqa: E731
        batches = [[self.ARGS[0]], [normal(1310, 2, 3, 5, 7)]]
        same_in_batches(call, batches, "Is there an axis that your code counts on?")

    @pytest.mark.weight(0.1)
    def test_real_sizes(self, student, reference):
        """Two texts of 71 words of width 96; 5,101 words and one; widths of 1, 2, 33 and 64."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_values)
        cases = (2, 71, 96, 64), (64, 33, 16), (2, 64, 1), (1, 2, 33), (1, 1, 1, 2), (5101, 1, 1)
        for number, (*shape, d_ff) in enumerate(cases):
            x, width = normal(1670 + 4 * number, *shape), shape[-1]
            to_d_ff = [normal(1671 + 4 * number + i, width, d_ff) / width**0.5 for i in (0, 1)]
            args = x, *to_d_ff, normal(1673 + 4 * number, d_ff, width) / d_ff**0.5
            wanted, got = reference.gated_feed_forward(*args), self.forward(student, *args)
            if plain:
                expect.close(got, wanted, ANY_SIZE, atol=ATOL)

    @pytest.mark.weight(0.05)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.forward(student, *(a.astype(dtype) for a in self.ARGS))
            expect.dtype(got, dtype, DTYPE)

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        views = [a.T.copy().T for a in self.ARGS]
        by_name = loosely(student.gated_feed_forward(**dict(reversed(list(zip(self.NAMES, views, strict=True))))))
        expect.close(by_name, self.forward(student, *self.ARGS), BY_NAME, atol=ATOL)
        after = student.gated_feed_forward.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, IN_PLACE)
