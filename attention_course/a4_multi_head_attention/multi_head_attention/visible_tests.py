"""Visible tests of multi_head_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import (
    BY_HAND,
    CAUSAL,
    CAUSAL_WEIGHTS,
    OUTPUT,
    PADDING,
    STAYS,
    SURE,
    TEXTS,
    WEIGHTS,
    WIDE_K,
    WIDE_O,
    WIDE_Q,
    WIDE_V,
    WIDE_WEIGHTS,
    drawn,
    each_head,
    keeps_float64,
    with_holes,
)

WIDE = (WIDE_Q, WIDE_K, WIDE_V, WIDE_O)
WIDE_OUTPUTS = np.array(
    [
        [[10.0542, 31.3866, 7.9513], [11.7408, 8.8947, 3.1767], [1.4464, 31.4311, 11.2338], [14.5097, -8.2631, 2.5206]],
        [
            [37.3893, 8.5078, 29.1183],
            [-14.6356, 13.7574, -12.39],
            [-14.6356, 13.7574, -12.39],
            [-1.2941, 3.9513, 3.8118],
        ],
        [[8.66, 36.8282, 9.6421], [2.401, 31.6654, -3.5821], [0.8673, 32.9057, -8.2669], [3.8608, 31.7896, -0.7]],
    ]
)
CAUSAL_OUTPUT = np.array(
    [[7.0, -5.0, 23.0], [14.0007, 21.7283, 2.184], [7.1991, 2.1995, 15.6732], [14.5097, -8.2631, 2.5206]]
)
PADDED_OUTPUTS = np.array(
    [
        [[17.043, -2.3886, 15.8749], [11.8059, 8.3212, 3.1209], [7.1991, 2.1995, 15.6732], [14.521, -8.3939, 2.5136]],
        [
            [-5.8532, 0.7281, 1.115],
            [-15.3041, 13.5719, -13.2635],
            [-15.3041, 13.5719, -13.2635],
            [-7.8097, 2.5779, -0.8367],
        ],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)


@pytest.mark.exercise("multi_head_attention")
class TestMultiHeadAttention:
    def attend(self, student, *args, **more):
        output, weights = expect.pair(student.multi_head_attention(*args, **more))
        return expect.array(output, what="output"), expect.array(weights, what="weights")

    def wide(self, X):
        return dict(zip(("X", "W_Q", "W_K", "W_V", "W_O"), (X, *WIDE), strict=True))

    def test_weights(self, student):
        """The example by hand: each head has weights of its own."""
        with shown(
            "There is no mask here. What does your code make of None, and what becomes of the scores?",
            **BY_HAND,
            num_heads=2,
        ):
            _, weights = self.attend(student, *BY_HAND.values(), 2)
            if not np.nan_to_num(weights).any():
                expect.fail("every weight is 0 or NaN.")
        with shown(
            "Head 0 owns the first columns of W_Q and W_K. By hand: its scores, divided by which size? Its weights?",
            **BY_HAND,
            num_heads=2,
        ):
            close(weights, WEIGHTS, "weights")

    def test_output(self, student):
        """The example by hand: the first word becomes (4.75, 6.56, 2.94, 3.28)."""
        hint = "If the check above passes, the weights are right. What do they blend? Which rows of W_O meet head 1?"
        with shown(hint, **BY_HAND, num_heads=2):
            close(self.attend(student, *BY_HAND.values(), 2)[0], OUTPUT, "output")

    def test_four_words(self, student):
        """Four words of width three, two heads with d_k = 5 and d_v = 6: no two sizes are alike."""
        with shown(
            "By the root of which size is a score divided: d_model, or one head's?", **self.wide(TEXTS[0]), num_heads=2
        ):
            output, weights = self.attend(student, TEXTS[0], *WIDE, 2)
            close(weights, WIDE_WEIGHTS, "weights")
            close(output, WIDE_OUTPUTS[0], "output")

    def test_batch(self, student):
        """Three texts at once: output (3, 4, 3), and each text is what it is alone."""
        with shown("Do you count axes from the end?", "exception", "shape", **self.wide(TEXTS), num_heads=2):
            output, weights = self.attend(student, TEXTS, *WIDE, 2)
            expect.shape(weights, (3, 2, 4, 4), what="weights")
            close(output, WIDE_OUTPUTS, "output")

    def test_mask(self, student):
        """Where the mask is False the weight is 0, in every head, and the others still sum to 1."""
        given = self.wide(TEXTS[0]) | {"num_heads": 2, "mask": CAUSAL}
        with shown("Each row has keys that may be seen. Where does the first NaN arise? What is 0 times inf?", **given):
            output, weights = self.attend(student, TEXTS[0], *WIDE, 2, mask=CAUSAL)
            expect.finite(weights, what="weights")
        with shown("True means: may attend. Who takes part in the sum of a row?", **given):
            close(weights, CAUSAL_WEIGHTS, "weights")
        with shown("These weights are right. Are they the ones that blend the values?", **given):
            close(output, CAUSAL_OUTPUT, "output")

    def test_padding(self, student):
        """A mask (2, 1, 1, 4) hides each text's padding, at the end of the first one and in front in the second."""
        given = self.wide(TEXTS[:2]) | {"num_heads": 2, "mask": PADDING[:2]}
        with shown("Which axis of the mask meets which axis of the scores?", "exception", "shape", **given):
            output, weights = self.attend(student, TEXTS[:2], *WIDE, 2, mask=PADDING[:2])
            expect.shape(weights, (2, 2, 4, 4), what="weights")
            close(output, PADDED_OUTPUTS[:2], "output")

    def test_nothing_to_attend_to(self, student):
        """A text of padding only gets weights 0 and output 0, alone and in a batch with others."""
        alone = self.wide(TEXTS[2]) | {"num_heads": 2, "mask": PADDING[2, 0]}
        with shown("What does a softmax over nothing divide by?", **alone):
            output, weights = self.attend(student, TEXTS[2], *WIDE, 2, mask=PADDING[2, 0])
            close(weights, np.zeros((2, 4, 4)), "weights")
            close(output, np.zeros((4, 3)), "output")
        with shown("What does a softmax over nothing divide by?", **self.wide(TEXTS), num_heads=2, mask=PADDING):
            close(self.attend(student, TEXTS, *WIDE, 2, mask=PADDING)[0], PADDED_OUTPUTS, "output")

    def test_mask_for_each_head(self, student):
        """A mask (2, 4, 4), one table for each head: each head gets what it gets with its own table for both."""
        each = np.stack([CAUSAL, CAUSAL[::-1]])
        given = self.wide(TEXTS[0]) | {"num_heads": 2, "mask": each}
        with shown("Is the mask used as it comes, or given other axes?", "exception", "shape", **given):
            weights = self.attend(student, TEXTS[0], *WIDE, 2, mask=each)[1]
            expect.shape(weights, (2, 4, 4), what="weights")
            for i in range(2):
                close(weights[i], self.attend(student, TEXTS[0], *WIDE, 2, mask=each[i])[1][i], f"head {i}'s weights")
        each = np.stack([np.zeros((4, 4), dtype=bool), CAUSAL])
        given = self.wide(TEXTS[0]) | {"num_heads": 2, "mask": each}
        with shown("Head 0 sees nothing. Does what head 1 finds still reach the output?", **given):
            output, weights = self.attend(student, TEXTS[0], *WIDE, 2, mask=each)
            close(weights[0], np.zeros((4, 4)), "head 0's weights")
            of_head_1 = (*WIDE[:3], np.where(np.arange(12)[:, np.newaxis] < 6, 0, WIDE_O))
            close(output, self.attend(student, TEXTS[0], *of_head_1, 2, mask=CAUSAL)[0], "output")

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights, and no hidden key gets any."""
        X = 1e4 * TEXTS[0]
        with shown(
            "What is np.exp(1000.0), and what does a hidden score become?", **self.wide(X), num_heads=2, mask=CAUSAL
        ):
            close(self.attend(student, X, *WIDE, 2, mask=CAUSAL)[1], SURE, "weights")

    def test_two_batch_axes(self, student):
        """Two batch axes, (1, 3), and padding: the same numbers."""
        X, mask = TEXTS[np.newaxis], PADDING[np.newaxis]
        with shown("How many axes may stand before (L, d_model)?", "exception", "shape", **self.wide(X), mask=mask):
            output, weights = self.attend(student, X, *WIDE, 2, mask=mask)
            expect.shape(weights, (1, 3, 2, 4, 4), what="weights")
            close(output, PADDED_OUTPUTS[np.newaxis], "output")

    def test_three_and_eight_heads(self, student):
        """Each of three heads, and of eight, attends as if alone; the output is the sum of what they give alone."""
        question = (
            "Each head owns columns, and rows of W_O. Is the number of heads, or a width, written into your code?"
        )
        for heads, mask in ((3, CAUSAL), (8, None)):
            width = 2 * heads  # of a word, and of all heads together
            X, (Q, K, V, O) = drawn(1, 4, width), (drawn(seed, width, width) / 3 for seed in (2, 3, 4, 5))  # noqa: E741
            with shown(question, "exception", "shape", num_heads=heads):
                output, weights = self.attend(student, X, Q, K, V, O, heads, mask=mask)
                side_by_side, _ = self.attend(student, X, Q, K, V, np.eye(width), heads, mask=mask)
                of_one, _ = self.attend(student, X[:1], Q, K, V, O, heads)
                close(of_one, X[:1] @ V @ O, "output for a text of one word, beside its vector times W_V and W_O")
                close(output, side_by_side @ O, "output, beside what comes with the identity for W_O, times W_O")
                own = zip(*(each_head(W, heads) for W in (Q, K, V)), each_head(O, heads, axis=0), strict=True)
                alone = [self.attend(student, X, *matrices, 1, mask=mask) for matrices in own]
                close(weights, np.concatenate([part for _, part in alone]), "weights")
                close(output, sum(part for part, _ in alone), "output")

    def test_seventy_words(self, student):
        """Seventy words and a mask with holes: every word gets weight from just those it may attend to."""
        X, weights = drawn(6, 70, 6), [drawn(seed, 6, 6) / 3 for seed in (7, 8, 9, 10)]
        mask = with_holes(70)
        with shown(
            expect.IfOthersPass("With four words it is right. Which number in your code is a size?"),
            "exception",
            "shape",
        ):
            seen = self.attend(student, X, *weights, 3, mask=mask)[1]
            expect.shape(seen, (3, 70, 70), what="weights")
            close((seen > 0) * 1, np.stack([mask] * 3) * 1, "1 where a weight is above 0")
            names = dict(zip(("X", "W_Q", "W_K", "W_V", "W_O"), (X[::-1], *weights), strict=True))
            turned = self.attend(student, **names, num_heads=3)
            close(turned[0], self.attend(student, X, *weights, 3)[0][::-1], "output, the words in reverse order")

    def test_float32(self, student):
        """float32 gives float32, float64 keeps its digits, and what went in is as before."""
        with shown(STAYS):
            keeps(
                student.multi_head_attention,
                *BY_HAND.values(),
                2,
                CAUSAL[:3, :3],
                names="X W_Q W_K W_V W_O num_heads mask",
            )
            parts = self.attend(student, *BY_HAND.values(), 2, mask=CAUSAL[:3, :3])
            for part, what in zip(parts, ("output", "weights"), strict=True):
                keeps_float64(part, what)
