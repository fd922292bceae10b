"""Hidden tests of single_head."""

import math

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import holds_in, keeps_digits, nothing_for_the_rest, responds, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, LARGE, at_length, padded, weights_for


@pytest.mark.exercise("single_head")
class TestSingleHead:
    X = normal(801, 5, 12)
    WEIGHTS = weights_for(802)[:3]

    def attend(self, student, X, weights, head, num_heads=3):
        """Output and weights of one head, in this order.

        If the function takes batches only, it gets a batch of one; `test_shape` judges that.
        """
        ask = Unbatched(student.single_head, 2, 0)
        return self.in_order(X, weights[2], num_heads, ask(X, *weights, head, num_heads))

    def in_order(self, X, W_V, num_heads, answer):
        """Output and weights, identified by their widths, so that a wrong order fails only `test_shape`."""
        one, other = map(expect.array, expect.pair(answer))
        swapped = [part.shape[-1:] for part in (other, one)] == [(W_V.shape[-1] // num_heads,), (X.shape[-2],)]
        return (other, one) if swapped else (one, other)

    def looks_like_a_head(self, student):
        """Fails unless five words give two matrices, and other weight matrices give other ones.

        How wide the output is, is for the tests of shape and output.
        """
        output, weights = self.attend(student, self.X, self.WEIGHTS, 1)
        expect.shape(output, (5, *output.shape[1:2]), what="the output")
        expect.shape(weights, (5, 5), what="the weights")
        call = lambda X, *weights: self.attend(student, X, weights, 1)  # noqa: E731
        responds(call, [self.X, *self.WEIGHTS], [None, *weights_for(806)[:3]])

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Head 1 of three, five words of width 12: output (5, 4), weights (5, 5), as a tuple."""
        output, weights = expect.pair(student.single_head(self.X, *self.WEIGHTS, 1, 3))
        output, weights = expect.array(output), expect.array(weights)
        is_swapped = (output.shape, weights.shape) == ((5, 5), (5, 4))
        hint = (
            "Which columns of W_V does a head own?" if output.shape[:1] == (5,) else "Which axis holds the words of X?"
        )
        hint = "In which order does the docstring name the two?" if is_swapped else hint
        expect.shape(output, (5, 4), hint, "output")
        expect.shape(weights, (5, 5), "What does a score compare with what?", "weights")

    @pytest.mark.weight(0.6)
    def test_weights(self, student, reference):
        """The weights of each of three heads: softmax over the keys of its own scores, scaled by its own width."""
        hint = "Which columns of W_Q and W_K does this head own, what is a score divided by, and over what is the sum?"
        for seed, head in ((811, 1), (821, 2), (831, 0)):
            X, weights = normal(seed, 5, 12), weights_for(seed + 1)[:3]
            wanted = reference.single_head(X, *weights, head, 3)[1]
            got = self.attend(student, X, weights, head)[1]
            expect.close(got, wanted, hint, f"the weights of head {head}", ATOL)

    @pytest.mark.weight(0.8)
    def test_output(self, student, reference):
        """What each of three heads finds: the blend of its own values."""
        hint = "Which columns of W_V does this head own, and by which weights are the values blended?"
        for seed, head in ((841, 2), (851, 1), (861, 0)):
            X, weights = normal(seed, 5, 12), weights_for(seed + 1)[:3]
            wanted = reference.single_head(X, *weights, head, 3)[0]
            got = self.attend(student, X, weights, head)[0]
            expect.close(got, wanted, hint, f"the output of head {head}", ATOL)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Head 6 of eight among seventy words; head 10 of sixteen on a width of 96; 521 words; small and odd sizes."""
        hint = expect.IfOthersPass(
            "With three heads and five words other tests judge this. Is there a size in your code as a number?"
        )
        sizes = (
            (70, 24, 6, 8),
            (521, 2, 1, 2),
            (4, 96, 10, 16),
            (16, 32, 2, 4),
            (9, 15, 3, 5),
            (2, 16, 1, 2),
            (1, 12, 0, 1),
        )
        for number, (length, d_model, head, heads) in enumerate(sizes):
            seed = 1001 + 10 * number
            X = normal(seed, length, d_model)
            weights = weights_for(seed + 1, d_model, heads, d_model // heads, d_model // heads)[:3]
            for name, got, wanted in zip(
                ("output", "weights"),
                self.attend(student, X, weights, head, heads),
                reference.single_head(X, *weights, head, heads),
                strict=True,
            ):
                expect.close(
                    got, wanted, hint, f"for {length} words and head {head} of {heads}, the {name}", at_length(length)
                )

    @pytest.mark.weight(0.2)
    def test_widths(self, student):
        """d_model need not be h * d_k, nor d_v be d_k."""
        self.looks_like_a_head(student)
        # Zeros change nothing: d_model = 7 padded to 12, and d_v = 2 padded to 4, are the ordinary case.
        hint = "d_model is 7, h is 3, d_k is 4. Which shapes tell you so?"
        X, weights = normal(901, 5, 7), weights_for(902, d_model=7)[:3]
        got = self.attend(student, X, weights, 1)
        wanted = self.attend(student, padded(X, (5, 12)), [padded(W, (12, 12)) for W in weights], 1)
        for name, one, other in zip(("output", "weights"), got, wanted, strict=True):
            expect.close(one, other, hint, name, ATOL)
        hint = "d_k is 4 and d_v is 2. From which matrix can you read the width of a head's values?"
        W_Q, W_K, W_V, _ = weights_for(907, d_v=2)  # W_V (12, 6)
        wide = np.concatenate([padded(block, (12, 4)) for block in np.split(W_V, 3, axis=1)], axis=1)
        output, weights = self.attend(student, self.X, (W_Q, W_K, W_V), 1)
        wanted = self.attend(student, self.X, (W_Q, W_K, wide), 1)
        expect.close(weights, wanted[1], hint, "weights", ATOL)
        expect.shape(output, (5, 2), hint, "output")
        expect.close(output, wanted[0][:, :2], hint, "output", ATOL)

    @pytest.mark.weight(0.45)
    def test_batch_axes(self, student):
        """Batch axes in front: each item attends on its own, with the same matrices."""
        self.looks_like_a_head(student)
        hint = "Which two axes does your product turn when there are more than two? Count them from the end."
        call = lambda X: self.attend(student, X, self.WEIGHTS, 1)  # noqa: E731
        same_item_by_item(call, [normal(911, 2, 5, 12)], 1, hint)
        same_item_by_item(call, [normal(912, 2, 4, 5, 12)], 2, hint)

    @pytest.mark.weight(0.15)
    def test_large_scores(self, student, reference):
        """Scores of 10,000 and more give finite numbers, and nothing is left for scores far below the largest."""
        self.looks_like_a_head(student)
        hint = "What could be subtracted from the scores before exp without changing the weights?"
        W_Q, W_K, W_V = self.WEIGHTS
        output, weights = self.attend(student, self.X, (LARGE * W_Q, W_K, W_V), 1)
        expect.finite(weights, hint, "weights")
        expect.finite(output, hint, "output")
        if holds_in(student, reference, self.test_weights):
            nothing_for_the_rest(self.attend(student, self.X, (LARGE * W_Q, W_K, W_V), 1)[1])

    @pytest.mark.weight(0.15)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights."""
        self.looks_like_a_head(student)
        hint = "Which dtype has what you make yourself: the scale, an array you fill?"
        for dtype in (np.float32, np.float64):
            given = [array.astype(dtype) for array in (self.X, *self.WEIGHTS)]
            for name, part in zip(("output", "weights"), self.attend(student, given[0], given[1:], 1), strict=True):
                expect.dtype(part, dtype, hint, name)
                keeps_digits(part, name)

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_a_head(student)
        every_second = [normal(seed, 12, 24)[:, ::2] / math.sqrt(12) for seed in (921, 922)]
        views = [normal(923, 12, 5).T, *every_second, self.WEIGHTS[2].T]
        plain = self.attend(student, np.ascontiguousarray(views[0]), list(map(np.ascontiguousarray, views[1:])), 1)
        names = ["X", "W_Q", "W_K", "W_V"]
        by_name = student.single_head(**dict(zip(names, views, strict=True)), head=1, num_heads=3)
        by_name = self.in_order(views[0], views[3], 3, by_name)
        for name, got, wanted in zip(("output", "weights"), by_name, plain, strict=True):
            expect.close(got, wanted, "Is memory read in the order of the axes?", name, ATOL)
        given = [*views, 1, 3]
        hint = "Look for operators like /= on an argument."
        expect.unchanged(student.single_head.inputs_after(*given), given, [*names, "head", "num_heads"], hint)
