"""Hidden tests of feed_forward."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import keeps_digits, responds, same_in_batches
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME


@pytest.mark.exercise("feed_forward")
class TestFeedForward:
    NAMES = ("x", "W_1", "b_1", "W_2", "b_2")
    ARGS = (normal(321, 5, 7), normal(322, 7, 10) / 2, normal(323, 10), normal(324, 10, 7) / 3, normal(325, 7))

    def forward(self, student, *args):
        """The result, in the shape of x."""
        ask = Unbatched(student.feed_forward, 2, 0)  # `test_shape` judges code for batches only
        got = expect.array(ask(*args))
        expect.shape(got, args[0].shape)
        return got

    def looks_like_layers(self, student):
        """Fails unless the result depends on the words and on the second matrix."""
        others = [normal(326, 5, 7), None, None, self.ARGS[3][::-1].copy()]
        responds(lambda *args: self.forward(student, *args), self.ARGS, others, self.NAMES)

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """Five words of width 7 give five words of width 7."""
        expect.shape(expect.array(student.feed_forward(*self.ARGS)), (5, 7), "Where does the width come back?")

    @pytest.mark.weight(0.2)
    def test_real_sizes(self, student, reference):
        """Seventy words of width 96 and 130 hidden numbers; one word and one hidden number; 5100 words."""
        hint = expect.IfOthersPass(
            "With five words of width 7 another test judges this. Is there a size in your code as a number?"
        )
        for seed, words, width, hidden in (
            (361, 70, 96, 130),
            (366, 16, 33, 64),
            (371, 2, 1, 2),
            (376, 1, 2, 1),
            (381, 5100, 2, 3),
        ):
            shapes = ((words, width), (width, hidden), (hidden,), (hidden, width), (width,))
            args = [normal(seed + i, *shape) / np.sqrt(shape[0] if i else 1) for i, shape in enumerate(shapes)]
            what = f"the result for {words} words and {hidden} hidden numbers"
            expect.close(self.forward(student, *args), reference.feed_forward(*args), hint, what, ATOL)

    @pytest.mark.weight(1.0)
    def test_values(self, student, reference):
        """The first layer, what is below zero set to zero, the second layer."""
        hint = "Take the example by hand: which numbers are set to zero, and when is each b added?"
        for seed, size in ((331, 0.5), (341, 100.0)):  # beyond 6, where some activations cut off
            args = [normal(seed + i, *arg.shape) * (size if i == 0 else 0.5) for i, arg in enumerate(self.ARGS)]
            expect.close(self.forward(student, *args), reference.feed_forward(*args), hint, atol=ATOL)
        square = [normal(351 + i, *shape) for i, shape in enumerate([(5, 7), (7, 7), (7,), (7, 7), (7,)])]
        hint = "d_ff is as large as d_model here. Which axes of W_1 and W_2 are which?"
        expect.close(self.forward(student, *square), reference.feed_forward(*square), hint, atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_biases(self, student):
        """b_1 enters before the second layer, b_2 is added at the very end."""
        self.looks_like_layers(student)
        x, W_1, b_1, W_2, b_2 = self.ARGS
        before = self.forward(student, *self.ARGS)
        hint = "What is the last thing that the formula does?"
        after = self.forward(student, x, W_1, b_1, W_2, b_2 + normal(327, 7))
        expect.close(after, before + normal(327, 7), hint, "with another b_2, the result", ATOL)
        after = self.forward(student, x, W_1, b_1 + 1, W_2, b_2)
        expect.differs(after, before, "Where is b_1 used?", "with another b_1, the result")

    @pytest.mark.weight(0.25)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each word goes through on its own, also a single vector."""
        self.looks_like_layers(student)
        call = lambda x: self.forward(student, x, *self.ARGS[1:])  # noqa: E731
        batches = [[self.ARGS[0]], [normal(328, 2, 3, 5, 7)]]
        same_in_batches(call, batches, "Is there an axis that your code counts on?")

    @pytest.mark.weight(0.1)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_layers(student)
        for dtype in (np.float32, np.float64):
            got = self.forward(student, *(a.astype(dtype) for a in self.ARGS))
            expect.dtype(got, dtype, "Is an array made on the way, and of which dtype?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_layers(student)
        views = [a.T.copy().T for a in self.ARGS]
        by_name = student.feed_forward(**dict(reversed(list(zip(self.NAMES, views, strict=True)))))
        expect.close(by_name, self.forward(student, *self.ARGS), BY_NAME, atol=ATOL)
        after = student.feed_forward.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, "Look for operators like += or *= on an argument.")
