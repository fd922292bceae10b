"""Visible checks of a4. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import arrives, equal, keeps, same, shown

# The example by hand: two words of width 3, two heads of width 3.
EYE, ZERO = np.eye(3), np.zeros((3, 3))
X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
W_Q = np.hstack([EYE, EYE])
W_K = np.hstack([EYE, ZERO])
W_V = np.hstack([EYE, EYE])
W_O = np.concatenate([EYE, EYE])
BY_HAND = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
OUTPUT = np.array([[1.3497, 0.6503, 3.3497], [1.0, 1.0, 3.0]])

# No two sizes alike: four words of width three, two heads with d_k = 5 and d_v = 6; and a batch of three such texts.
TEXTS = np.array(
    [
        [[2.0, 0.0, -1.0], [0.0, 0.0, 2.0], [0.0, -1.0, 0.0], [1.0, 2.0, 1.0]],
        [[2.0, -1.0, 2.0], [-1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, 0.0, -1.0]],
        [[1.0, 0.0, 1.0], [1.0, 2.0, 0.0], [-1.0, 1.0, 2.0], [2.0, 2.0, 1.0]],
    ]
)
WIDE_Q = np.array(
    [
        [-1.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, -1.0],
        [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0, 1.0, 1.0, 0.0],
        [1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 1.0, -1.0],
    ]
)
WIDE_K = np.array(
    [
        [0.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 0.0, 0.0],
        [0.0, -1.0, 1.0, 1.0, 0.0, -1.0, -1.0, 1.0, -1.0, 1.0],
        [1.0, -1.0, 0.0, 0.0, 0.0, -1.0, 1.0, -1.0, 0.0, 0.0],
    ]
)
WIDE_V = np.array(
    [
        [2.0, 2.0, 2.0, 2.0, -2.0, 2.0, 2.0, -1.0, -2.0, -2.0, 1.0, 2.0],
        [1.0, 1.0, 1.0, -2.0, 2.0, 2.0, -2.0, 2.0, 2.0, -1.0, 0.0, 2.0],
        [2.0, -2.0, 1.0, 0.0, -1.0, 2.0, 1.0, 0.0, 2.0, 0.0, 2.0, -2.0],
    ]
)
WIDE_O = np.array(
    [
        [-1.0, 2.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 2.0, 0.0],
        [1.0, -1.0, 1.0],
        [-1.0, 2.0, -1.0],
        [1.0, 2.0, 0.0],
        [2.0, 1.0, 2.0],
        [1.0, 2.0, -1.0],
        [-1.0, 1.0, 1.0],
        [1.0, 2.0, 0.0],
        [2.0, 1.0, -1.0],
        [-1.0, 2.0, 1.0],
    ]
)
WIDE = (WIDE_Q, WIDE_K, WIDE_V, WIDE_O)
WIDE_WEIGHTS = np.array(
    [
        [
            [0.2071, 0.0006, 0.0002, 0.7921],
            [0.0079, 0.6905, 0.2823, 0.0193],
            [0.1294, 0.0827, 0.0138, 0.7741],
            [0.0246, 0.0939, 0.8789, 0.0026],
        ],
        [
            [0.0442, 0.647, 0.2645, 0.0442],
            [0.0023, 0.4988, 0.4988, 0.0001],
            [0.6136, 0.0656, 0.1604, 0.1604],
            [0.0, 0.9034, 0.0965, 0.0],
        ],
    ]
)
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
# May attend: the words before and the word itself; and in each text of the batch the words that are no padding.
CAUSAL = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]) == 1
PADDING = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]).reshape(3, 1, 1, 4) == 1
CAUSAL_WEIGHTS = np.array(
    [
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.0113, 0.9887, 0.0, 0.0],
            [0.5726, 0.3662, 0.0612, 0.0],
            [0.0246, 0.0939, 0.8789, 0.0026],
        ],
        [[1.0, 0.0, 0.0, 0.0], [0.0046, 0.9954, 0.0, 0.0], [0.7308, 0.0781, 0.1911, 0.0], [0.0, 0.9034, 0.0965, 0.0]],
    ]
)
PADDED_OUTPUTS = np.array(
    [
        [[17.043, -2.3886, 15.8749], [11.8059, 8.3212, 3.1209], [7.1991, 2.1995, 15.6732], [14.521, -8.3939, 2.5136]],
        [
            [37.7741, 8.9322, 29.6612],
            [-15.4669, 16.2895, -13.965],
            [-15.4669, 16.2895, -13.965],
            [5.3564, 15.8873, 6.9424],
        ],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
# The first text ten thousand times as large.
SURE = np.array(
    [
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    ]
)

# The module has one width for keys and values, here 5.
LAYER = {"W_Q": WIDE_Q, "W_K": WIDE_K, "W_V": WIDE_V[:, :10], "W_O": WIDE_O[:10]}
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
            [23.8419, 7.0678, 37.6612],
            [-13.9232, 16.5872, -14.8997],
            [-13.9232, 16.5872, -14.8997],
            [0.7946, 12.1794, 8.5542],
        ],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)

STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


@pytest.mark.exercise("projection_shapes")
class TestProjectionShapes:
    def entries(self, student, *args):
        got = student.projection_shapes(*args)
        if not isinstance(got, dict) or not {"W_Q", "W_K", "W_V", "W_O"} <= got.keys():
            expect.fail(f"gave back {expect.kind_of(got)}; it should be a dict with the keys W_Q, W_K, W_V, W_O.")
        return got

    def test_money_bank(self, student):
        """Money Bank (4, 2 heads, 4, 4): W_Q is (4, 8) and W_O is (8, 4)."""
        with shown("Which row of the table above is this?"):
            got = self.entries(student, 4, 2, 4, 4)
            for key, wanted in (("W_Q", (4, 8)), ("W_O", (8, 4))):
                equal(got[key], wanted, f"the shape of {key}")

    def test_other_values(self, student):
        """All sizes differ: d_model 10, 2 heads, d_k 3, d_v 4."""
        with shown("What comes in, what goes out, for all heads together, and which matrices deal with values?"):
            got = self.entries(student, 10, 2, 3, 4)
            for key, wanted in (("W_Q", (10, 6)), ("W_K", (10, 6)), ("W_V", (10, 8)), ("W_O", (8, 10))):
                equal(got[key], wanted, f"the shape of {key}")


@pytest.mark.exercise("output_projection")
class TestOutputProjection:
    W_O = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    # Two texts, three heads, four words, d_v = 2; five numbers a word come out.
    HEADS = np.array(
        [
            [
                [[8.0, 0.0], [1.0, 2.0], [1.0, 8.0], [8.0, 5.0]],
                [[0.0, 0.0], [3.0, 4.0], [6.0, 4.0], [2.0, 1.0]],
                [[6.0, 7.0], [0.0, 1.0], [4.0, 3.0], [8.0, 5.0]],
            ],
            [
                [[4.0, 4.0], [6.0, 5.0], [1.0, 7.0], [7.0, 9.0]],
                [[7.0, 2.0], [3.0, 6.0], [6.0, 6.0], [8.0, 2.0]],
                [[9.0, 0.0], [0.0, 9.0], [9.0, 2.0], [1.0, 3.0]],
            ],
        ]
    )
    WIDE = np.array(
        [
            [1.0, 2.0, 2.0, 1.0, 2.0],
            [2.0, 2.0, -1.0, 0.0, 1.0],
            [0.0, 0.0, 1.0, 2.0, 1.0],
            [-1.0, 1.0, 2.0, -1.0, 1.0],
            [0.0, 2.0, -1.0, 0.0, 2.0],
            [0.0, -1.0, 2.0, 2.0, 2.0],
        ]
    )

    def test_one_word(self, student):
        """The example by hand: (1, 2) and (3, 4) give (4, 5, 8)."""
        heads = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
        with shown("What stands side by side, and what is it multiplied by?", heads=heads, W_O=self.W_O):
            same(expect.array(student.output_projection(heads, self.W_O)), np.array([[4.0, 5.0, 8.0]]))

    def test_two_words(self, student):
        """Two words: each gets the numbers of its own heads."""
        heads = np.array([[[1.0, 2.0], [10.0, 20.0]], [[3.0, 4.0], [30.0, 40.0]]])  # head 0, then head 1
        with shown(
            "The second word is ten times the first. Which numbers come together in a row?", heads=heads, W_O=self.W_O
        ):
            wanted = np.array([[4.0, 5.0, 8.0], [40.0, 50.0, 80.0]])
            same(expect.array(student.output_projection(heads, self.W_O)), wanted)

    def test_two_texts(self, student):
        """Two texts of four words, three heads: in a batch each gives what it gives alone."""
        wanted = np.array(
            [
                [
                    [8.0, 21.0, 24.0, 22.0, 42.0],
                    [1.0, 9.0, 13.0, 5.0, 13.0],
                    [13.0, 27.0, 10.0, 15.0, 34.0],
                    [17.0, 38.0, 17.0, 21.0, 50.0],
                ],
                [
                    [10.0, 36.0, 6.0, 16.0, 39.0],
                    [10.0, 19.0, 40.0, 24.0, 44.0],
                    [9.0, 38.0, 8.0, 11.0, 43.0],
                    [23.0, 33.0, 22.0, 27.0, 41.0],
                ],
            ]
        )
        with shown("Count axes from the end: which are h, L and d_v?", heads=self.HEADS, W_O=self.WIDE):
            same(expect.array(student.output_projection(self.HEADS, self.WIDE)), wanted)
            same(expect.array(student.output_projection(self.HEADS[0], self.WIDE)), wanted[0], "the first text alone")

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS):
            keeps(student.output_projection, self.HEADS, self.WIDE, names="heads W_O")


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
            "Head 1 owns the first three columns of W_Q. What are its scores divided by?", **BY_HAND, num_heads=2
        ):
            _, weights = self.attend(student, *BY_HAND.values(), 2)
            same(weights, np.array([[[0.8497, 0.1503], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]), "weights")

    def test_output(self, student):
        """The example by hand: the first word becomes (1.35, 0.65, 3.35), the second (1, 1, 3)."""
        with shown("Which comes first, each head's blend of its values, or W_O?", **BY_HAND, num_heads=2):
            same(self.attend(student, *BY_HAND.values(), 2)[0], OUTPUT, "output")

    def test_four_words(self, student):
        """Four words of width three, two heads with d_k = 5 and d_v = 6: no two sizes are alike."""
        with shown(
            "By the root of which size is a score divided: d_model, or one head's?", **self.wide(TEXTS[0]), num_heads=2
        ):
            output, weights = self.attend(student, TEXTS[0], *WIDE, 2)
            same(weights, WIDE_WEIGHTS, "weights")
            same(output, WIDE_OUTPUTS[0], "output")

    def test_batch(self, student):
        """Three texts at once: output (3, 4, 3), and each text is what it is alone."""
        with shown("Do you count axes from the end?", **self.wide(TEXTS), num_heads=2):
            output, weights = self.attend(student, TEXTS, *WIDE, 2)
            expect.shape(weights, (3, 2, 4, 4), what="weights")
            same(output, WIDE_OUTPUTS, "output")

    def test_mask(self, student):
        """Where the mask is False the weight is 0, in every head, and the others still sum to 1."""
        with shown(
            "True means: may attend. Who takes part in the sum of a row?",
            **self.wide(TEXTS[0]),
            num_heads=2,
            mask=CAUSAL,
        ):
            same(self.attend(student, TEXTS[0], *WIDE, 2, mask=CAUSAL)[1], CAUSAL_WEIGHTS, "weights")

    def test_padding(self, student):
        """A mask (3, 1, 1, 4) hides each text's padding; the third text is nothing else, and its output is 0."""
        hint = "Which axis of the mask meets which axis of the scores? And what does a softmax over nothing divide by?"
        with shown(hint, **self.wide(TEXTS), num_heads=2, mask=PADDING):
            output, weights = self.attend(student, TEXTS, *WIDE, 2, mask=PADDING)
            expect.shape(weights, (3, 2, 4, 4), what="weights")
            same(output, PADDED_OUTPUTS, "output")
            same(weights[2], np.zeros((2, 4, 4)), "weights of the third text")

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights, and no hidden key gets any."""
        X = 1e4 * TEXTS[0]
        with shown(
            "What is np.exp(1000.0), and what does a hidden score become?", **self.wide(X), num_heads=2, mask=CAUSAL
        ):
            same(self.attend(student, X, *WIDE, 2, mask=CAUSAL)[1], SURE, "weights")

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS):
            keeps(student.multi_head_attention, *BY_HAND.values(), 2, names="X W_Q W_K W_V W_O num_heads")


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
        with shown("Which layers does the text above name?"):
            got = student.MultiHeadAttention.build(6, 2)
            if len(got) != 4 or any(shape != (6, 6) for shape in got.values()):
                listed = ", ".join(f"{name} {shape}" for name, shape in got.items()) or "none"
                expect.fail(f"its parameters are {listed}.")

    def test_output(self, student):
        """The example by hand, d_model = 3 with d_head = 3, in a batch or alone: the same numbers as in NumPy."""
        by_hand = {name: W for name, W in BY_HAND.items() if name != "X"}
        with shown("Compare each step with your NumPy function: which one differs?", x=X, **by_hand):
            output, weights = self.attend(student, (3, 2, 3), X[np.newaxis], by_hand)  # a batch of one
            expect.shape(weights, (1, 2, 2, 2), what="weights")
            same(output, OUTPUT[np.newaxis], "output")
            same(self.attend(student, (3, 2, 3), X, by_hand)[0], OUTPUT, "without a batch axis the output")

    def test_three_texts(self, student):
        """Three texts of four words of width three, two heads of width five."""
        with shown("By the root of which size is a score divided: d_model, or one head's?", x=TEXTS, **LAYER):
            output, weights = self.attend(student, (3, 2, 5), TEXTS, LAYER)
            same(weights[0], WIDE_WEIGHTS, "weights of the first text")
            same(output, LAYER_OUTPUTS, "output")

    def test_mask(self, student):
        """Where the mask is False the weight is 0, in every head, and the others still sum to 1."""
        with shown("True means: may attend. Who takes part in the sum of a row?", x=TEXTS[0], mask=CAUSAL, **LAYER):
            same(self.attend(student, (3, 2, 5), TEXTS[0], LAYER, mask=CAUSAL)[1], CAUSAL_WEIGHTS, "weights")

    def test_mask_of_another_call(self, student):
        """A call without a mask is the same after one with a mask: a layer keeps nothing of a call."""
        import torch

        with shown("What does your layer keep from one call to the next?", x=TEXTS[0], mask=CAUSAL, **LAYER):
            before = [torch.tensor(TEXTS[0], dtype=torch.float32), torch.tensor(CAUSAL)]
            same(self.attend(student, (3, 2, 5), TEXTS[0], LAYER, after=before)[1], WIDE_WEIGHTS, "weights")

    def test_padding(self, student):
        """A mask (3, 1, 1, 4) hides each text's padding; the third text is nothing else, and its output is 0."""
        hint = "Which axis of the mask meets which axis of the scores? And what does a softmax over nothing divide by?"
        with shown(hint, x=TEXTS, mask=PADDING, **LAYER):
            output, weights = self.attend(student, (3, 2, 5), TEXTS, LAYER, mask=PADDING)
            same(output, LAYER_PADDED, "output")
            same(weights[2], np.zeros((2, 4, 4)), "weights of the third text")

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights, and no hidden key gets any."""
        with shown(
            "What is the exp of 1000, and what does a hidden score become?", x=1e4 * TEXTS[0], mask=CAUSAL, **LAYER
        ):
            _, weights = self.attend(student, (3, 2, 5), 1e4 * TEXTS[0], LAYER, mask=CAUSAL)
            same(weights, SURE, "weights")

    def test_gradients_arrive(self, student):
        """Gradients reach x and all four matrices, and stay finite where a word may attend to nothing."""
        import torch

        mask = CAUSAL.copy()
        mask[0] = False
        of_output, of_weights = torch.tensor(TEXTS[1], dtype=torch.float32), torch.tensor(SURE + WIDE_WEIGHTS).float()
        with shown("Which line lets go of a gradient, or sends a NaN back?", x=TEXTS[0], mask=mask, **LAYER):
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
                expect.dtype(part, np.float64, what=what)
            import torch

            before = [torch.tensor(TEXTS), torch.tensor(PADDING)]
            weights = {f"{name}.weight": torch.tensor(W.T) for name, W in LAYER.items()}
            after = student.MultiHeadAttention.run((3, 2, 5), weights, *before).after
            expect.unchanged(after, before, ["x", "mask"])
