"""Visible tests of MultiHeadAttention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, shown

from ..shared_visible_tests import (
    CAUSAL,
    CAUSAL_WEIGHTS,
    PADDING,
    SURE,
    TEXTS,
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

# The module has one width for keys and values, here 5.
LAYER = {"W_Q": WIDE_Q, "W_K": WIDE_K, "W_V": WIDE_V[:, :10], "W_O": WIDE_O[:10]}
# Its first head alone, on the first text.
ONE_HEAD = {"W_Q": WIDE_Q[:, :5], "W_K": WIDE_K[:, :5], "W_V": WIDE_V[:, :5], "W_O": WIDE_O[:5]}
ONE_HEAD_OUTPUT = np.array(
    [[-6.0943, 17.7749, 7.0684], [-0.1037, 6.161, 2.1604], [-6.4159, 18.6694, 6.0042], [4.3057, -6.8671, 2.3271]]
)
LAYER_OUTPUTS = np.array(
    [
        [[-2.3146, 25.5114, 13.3471], [3.4067, 10.1269, 8.1506], [-0.6031, 14.6023, 8.2373], [8.2092, 5.2008, 9.9402]],
        [
            [23.624, 6.9772, 37.1183],
            [-12.5377, 13.8207, -13.6673],
            [-12.5377, 13.8207, -13.6673],
            [-0.7792, 2.5145, 3.1799],
        ],
        [[-1.6788, 28.4214, 13.46], [-7.6546, 34.8651, 2.9957], [-7.0686, 33.872, -3.3072], [-5.9598, 32.5048, 5.1391]],
    ]
)
LAYER_PADDED = np.array(
    [
        [[8.8875, 1.3592, 21.5666], [3.5818, 9.7752, 8.0952], [9.1692, -7.6848, 12.2951], [8.2444, 5.1194, 9.9336]],
        [
            [0.0088, -5.9959, -3.747],
            [-12.9956, 13.9548, -14.572],
            [-12.9956, 13.9548, -14.572],
            [-4.8407, 1.6399, -2.8057],
        ],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttentionModule:
    def run(self, student, sizes, x, matrices, dtype="float32", **more):
        import torch

        # nn.Linear keeps a matrix as (out, in).
        weights = {f"{name}.weight": torch.tensor(W.T, dtype=getattr(torch, dtype)) for name, W in matrices.items()}
        if more.get("mask") is not None:
            more["mask"] = torch.tensor(more["mask"])
        return student.MultiHeadAttention.run(sizes, weights, torch.tensor(x, dtype=getattr(torch, dtype)), **more)

    def attend(self, *args, **more):
        output, weights = expect.pair(self.run(*args, **more).value)
        return expect.tensor(output, what="output"), expect.tensor(weights, what="weights")

    def test_parameters(self, student):
        """MultiHeadAttention(6, 2) has four matrices of shape (6, 6), and no bias."""
        with shown("Which layers does the text above name?", "shape"):
            got = student.MultiHeadAttention.build(6, 2)
        question = "What does nn.Module count as a parameter: any tensor, or which? Is there a member for each matrix?"
        if [*got] == [f"W_{name}.weight" for name in "QKVO"]:
            question = "How wide is one head here, and how many columns do all heads have together?"
        if any(name.endswith("bias") for name in got):
            question = "Which of these does the formula not have? Which of your layers brings it, without being asked?"
        with shown(question):
            if len(got) != 4 or any(shape != (6, 6) for shape in got.values()):
                listed = ", ".join(f"{name} {shape}" for name, shape in got.items()) or "none"
                expect.fail(f"its parameters are {listed}.")

    def test_one_word(self, student):
        """A word alone: in both heads its weight is 1, so its values go on as they are, through W_O."""
        question = "Which matrices does the word go through, and in which order do the heads stand before W_O?"
        with shown(question, x=TEXTS[0, 3:], **LAYER):
            output, weights = self.attend(student, (3, 2, 5), TEXTS[0, 3:], LAYER)
            close(weights, np.ones((2, 1, 1)), "weights")
            close(output, [[-8.0, 41.0, 4.0]], "output")

    def test_one_head(self, student):
        """Four words, one head of width five: the attention of assignment 1, and W_O after it."""
        question = "By the root of which size is a score divided, and over which axis is the softmax?"
        with shown(question, x=TEXTS[0], **ONE_HEAD):
            output, weights = self.attend(student, (3, 1, 5), TEXTS[0], ONE_HEAD)
            close(weights, WIDE_WEIGHTS[:1], "weights")
            close(output, ONE_HEAD_OUTPUT, "output")

    def test_two_heads(self, student):
        """Four words, two heads of width five, in a batch of one or without a batch axis."""
        question = "One head alone is right if the check above passes. Which columns does each of the two own?"
        with shown(question, x=TEXTS[0], **LAYER):
            output, weights = self.attend(student, (3, 2, 5), TEXTS[:1], LAYER)
            close(weights, WIDE_WEIGHTS[np.newaxis], "weights")
            close(output, LAYER_OUTPUTS[:1], "output")
            close(
                self.attend(student, (3, 2, 5), TEXTS[0], LAYER)[0], LAYER_OUTPUTS[0], "without a batch axis the output"
            )

    def test_three_texts(self, student):
        """Three texts of four words of width three, two heads of width five."""
        question = "Each text is attended to for itself: which axes does your code count from the front?"
        with shown(question, x=TEXTS, **LAYER):
            output, weights = self.attend(student, (3, 2, 5), TEXTS, LAYER)
            close(weights[0], WIDE_WEIGHTS, "weights of the first text")
            close(output, LAYER_OUTPUTS, "output")

    def test_mask(self, student):
        """Where the mask is False the weight is 0, in every head, and the others still sum to 1."""
        with shown(
            "Each row has keys that may be seen. Where does the first NaN arise? What is 0 times inf?",
            x=TEXTS[0],
            mask=CAUSAL,
            **LAYER,
        ):
            weights = self.attend(student, (3, 2, 5), TEXTS[0], LAYER, mask=CAUSAL)[1]
            # Called at once, because `check` knows a mistake by all that was called.
            in_eval = self.attend(student, (3, 2, 5), TEXTS[0], LAYER, mask=CAUSAL, training=False)[1]
            expect.finite(weights, what="weights")
        with shown("True means: may attend. Who takes part in the sum of a row?", x=TEXTS[0], mask=CAUSAL, **LAYER):
            close(weights, CAUSAL_WEIGHTS, "weights")
        with shown("Does your mask work in eval(), too? What depends on training?", x=TEXTS[0], mask=CAUSAL, **LAYER):
            close(in_eval, CAUSAL_WEIGHTS, "weights in eval()")

    def test_another_call_before(self, student):
        """The same again after a call with a mask, and after a shorter text: a layer keeps nothing of a call."""
        import torch

        question = "What does your layer keep from one call to the next?"
        text, mask = torch.tensor(TEXTS[0], dtype=torch.float32), torch.tensor(CAUSAL)
        with shown(question, "exception", "shape", x=TEXTS[0], mask=CAUSAL, **LAYER):
            for before in ([text, mask], [text[:2]]):
                close(self.attend(student, (3, 2, 5), TEXTS[0], LAYER, after=before)[1], WIDE_WEIGHTS, "weights")

    def test_padding(self, student):
        """A mask (2, 1, 1, 4) hides each text's padding, at the end of the first one and in front in the second."""
        question, mask = "Which axis of the mask meets which axis of the scores?", PADDING[:2]
        with shown(question, "exception", "shape", x=TEXTS[:2], mask=mask, **LAYER):
            output, _ = self.attend(student, (3, 2, 5), TEXTS[:2], LAYER, mask=mask)
            close(output, LAYER_PADDED[:2], "output")

    def test_nothing_to_attend_to(self, student):
        """A text of padding only gets weights 0 and output 0, alone and in a batch with others."""
        question, mask = "What does a softmax over nothing divide by?", PADDING[2:]
        with shown(question, x=TEXTS[2:], mask=mask, **LAYER):
            output, weights = self.attend(student, (3, 2, 5), TEXTS[2:], LAYER, mask=mask)
            close(weights, np.zeros((1, 2, 4, 4)), "weights")
            close(output, np.zeros((1, 4, 3)), "output")
        with shown(question, x=TEXTS, mask=PADDING, **LAYER):
            close(self.attend(student, (3, 2, 5), TEXTS, LAYER, mask=PADDING)[0], LAYER_PADDED, "output")

    def test_mask_for_each_head(self, student):
        """A mask (2, 4, 4), one table for each head; and two batch axes, (1, 3), with padding."""
        each = np.stack([CAUSAL, CAUSAL[::-1]])
        question = "Is the mask used as it comes, or given other axes?"
        with shown(question, "exception", "shape", x=TEXTS[0], mask=each, **LAYER):
            weights = self.attend(student, (3, 2, 5), TEXTS[0], LAYER, mask=each)[1]
            for i in range(2):
                own = self.attend(student, (3, 2, 5), TEXTS[0], LAYER, mask=each[i])[1]
                close(weights[i], own[i], f"head {i}'s weights")
        each = np.stack([np.zeros((4, 4), dtype=bool), CAUSAL])
        with shown("Head 0 sees nothing. Does what head 1 finds still reach the output?", x=TEXTS[0], mask=each):
            output, weights = self.attend(student, (3, 2, 5), TEXTS[0], LAYER, mask=each)
            close(weights[0], np.zeros((4, 4)), "head 0's weights")
            of_head_1 = LAYER | {"W_O": np.where(np.arange(10)[:, np.newaxis] < 5, 0, LAYER["W_O"])}
            close(output, self.attend(student, (3, 2, 5), TEXTS[0], of_head_1, mask=CAUSAL)[0], "output")
        x, mask = TEXTS[np.newaxis], PADDING[np.newaxis]
        with shown("How many axes may stand before (L, d_model)?", "exception", "shape", x=x, mask=mask, **LAYER):
            close(self.attend(student, (3, 2, 5), x, LAYER, mask=mask)[0], LAYER_PADDED[np.newaxis], "output")

    def test_eight_heads(self, student):
        """Eight heads without a given width, seventy words, a mask with holes: each head attends as if alone."""
        x, mask = drawn(1, 70, 24), with_holes(70)
        matrices = {name: drawn(seed, 24, 24) / 5 for seed, name in enumerate(("W_Q", "W_K", "W_V", "W_O"), 2)}
        question = "Is the number of heads, a width or a length written into your code?"
        with shown(question, "exception", "shape", num_heads=8):
            output, weights = self.attend(student, (24, 8), x, matrices, mask=mask)
            close((weights > 0) * 1, np.stack([mask] * 8) * 1, "1 where a weight is above 0")
            own = [each_head(matrices[name], 8, axis) for name, axis in zip(matrices, (1, 1, 1, 0), strict=True)]
            alone = [
                self.attend(student, (24, 1, 3), x, dict(zip(matrices, blocks, strict=True)), mask=mask)
                for blocks in zip(*own, strict=True)
            ]
            close(weights, np.concatenate([part for _, part in alone]), "weights", within=1e-3)
            close(output, sum(part for part, _ in alone), "output", within=1e-3)

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights, and no hidden key gets any."""
        with shown(
            "What is the exp of 1000, and what does a hidden score become?", x=1e4 * TEXTS[0], mask=CAUSAL, **LAYER
        ):
            _, weights = self.attend(student, (3, 2, 5), 1e4 * TEXTS[0], LAYER, mask=CAUSAL)
            close(weights, SURE, "weights")

    def test_gradients_arrive(self, student):
        """Gradients reach x and all four matrices, and stay finite where a word may attend to nothing."""
        import torch

        mask = CAUSAL.copy()
        mask[0] = False
        of_output, of_weights = torch.tensor(TEXTS[1], dtype=torch.float32), torch.tensor(SURE + WIDE_WEIGHTS).float()
        with shown(
            "Which line lets go of a gradient, or sends a NaN back?",
            "exception",
            "shape",
            x=TEXTS[0],
            mask=mask,
            **LAYER,
        ):
            for seeds, names in (([of_output, None], "W_Q W_K W_V W_O"), ([None, of_weights], "W_Q W_K")):
                got = self.run(student, (3, 2, 5), TEXTS[0], LAYER, mask=mask, seeds=seeds)
                arrives(got.inputs[:1], "x")
                arrives([got.parameters.get(f"{name}.weight") for name in names.split()], names)

    def test_does_not_divide(self, student):
        """Three heads cannot share d_model = 8 evenly: a ValueError."""
        with shown("Where is d_head worked out?"):
            expect.raises(ValueError, lambda: student.MultiHeadAttention.build(8, 3))

    def test_dtype(self, student):
        """A module in float64 gives float64, and x and mask are as before."""
        with shown("Which line makes a new tensor, of which dtype, and does one write into an old one?"):
            got = self.run(student, (3, 2, 5), TEXTS, LAYER, "float64", mask=PADDING)
            for part, what in zip(expect.pair(got.value), ("output", "weights"), strict=True):
                keeps_float64(expect.tensor(part), what)
            import torch

            before = [torch.tensor(TEXTS), torch.tensor(PADDING)]
            weights = {f"{name}.weight": torch.tensor(W.T) for name, W in LAYER.items()}
            after = student.MultiHeadAttention.run((3, 2, 5), weights, *before).after
            expect.unchanged(after, before, ["x", "mask"])
