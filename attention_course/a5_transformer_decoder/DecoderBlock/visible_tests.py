"""Visible tests of DecoderBlock, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, shown

from ..shared_visible_tests import WAVES, block_of_waves, keeps_float64, run_module, waves

EYE = np.eye(2)


@pytest.mark.exercise("DecoderBlock")
class TestDecoderBlock:
    # Words look evenly at all they may see, and the attention hands on what it finds.
    WEIGHTS = {"attention.W_Q.weight": 0 * EYE, "attention.W_K.weight": 0 * EYE, "attention.W_V.weight": EYE}
    WEIGHTS |= {"attention.W_O.weight": EYE, "norm_1.weight": [1.0, 1.0], "norm_1.bias": [0.0, 0.0]}
    WEIGHTS |= {"norm_2.weight": [1.0, 1.0], "norm_2.bias": [0.0, 0.0]}
    # A third number between the two layers is always 0.
    WEIGHTS |= {"feed_forward.0.weight": np.eye(3, 2), "feed_forward.0.bias": [0.0, 0.0, 0.0]}
    WEIGHTS |= {"feed_forward.2.weight": 10 * np.eye(2, 3), "feed_forward.2.bias": [0.0, 0.0]}
    X = np.array([[[3.0, 1.0], [0.0, 2.0]]])

    # No two sizes alike: three texts of four words, width six, two heads, five numbers between the two layers.
    SIZES = (6, 2, 5)
    TEXTS = waves(0.7, 3, 4, 6)
    PADDING = np.array([[[True, True, True, True]], [[False, True, True, True]], [[True, True, False, False]]])
    OUTPUTS = np.array(
        [
            [
                [-4.8534, 8.3597, -5.0726, 5.2586, -0.7007, 0.3626],
                [-3.7446, 4.8907, -0.5524, 2.8057, -2.29, 3.9681],
                [-2.8448, 3.6176, 1.9196, -0.5488, -3.0541, 0.3903],
                [-2.5781, 5.9563, -0.7269, 2.7407, -1.3309, 0.2574],
            ],
            [
                [-3.9155, 5.2461, 0.7904, 1.5999, -2.5174, 3.6398],
                [-3.3109, 3.9904, 2.4122, -0.7084, -3.6891, 0.501],
                [-1.9696, 5.2209, 1.1153, 1.6353, -1.6799, 0.0354],
                [-4.4372, 4.6492, 1.1587, 2.4944, -2.8501, 3.0181],
            ],
            [
                [-4.3085, 3.8624, 3.33, -0.1884, -4.6743, 0.0377],
                [-2.1538, 5.0149, 0.4567, 2.4012, -1.5404, -0.148],
                [-4.7265, 4.4879, 1.3801, 2.7671, -2.911, 2.6361],
                [-3.5859, 3.6953, 2.4897, -0.3235, -3.7842, 0.3562],
            ],
        ]
    )
    PADDED = np.array(
        [
            [
                [-4.8534, 8.3597, -5.0726, 5.2586, -0.7007, 0.3626],
                [-3.7446, 4.8907, -0.5524, 2.8057, -2.29, 3.9681],
                [-2.8448, 3.6176, 1.9196, -0.5488, -3.0541, 0.3903],
                [-2.5781, 5.9563, -0.7269, 2.7407, -1.3309, 0.2574],
            ],
            [
                [-3.6035, 3.8517, -2.9741, 5.5717, -1.6268, 4.0123],
                [-4.1879, 3.7938, 3.2508, -0.1547, -4.5667, -0.0222],
                [-2.1868, 5.0634, 0.2993, 2.5091, -1.4536, -0.0999],
                [-4.7263, 4.4841, 1.2557, 2.7937, -2.9122, 2.7048],
            ],
            [
                [-4.3085, 3.8624, 3.33, -0.1884, -4.6743, 0.0377],
                [-2.1538, 5.0149, 0.4567, 2.4012, -1.5404, -0.148],
                [-5.2639, 4.0618, 1.802, 3.2261, -3.022, 1.9176],
                [-3.6587, 3.2835, 2.4625, 0.1123, -3.7111, 0.0794],
            ],
        ]
    )

    def run(self, student, sizes, weights, x, padding=None, dtype="float32", **more):
        import torch

        padding = None if padding is None else torch.tensor(padding)
        x = torch.tensor(x, dtype=getattr(torch, dtype))
        return run_module(student.DecoderBlock, sizes, weights, x, padding, dtype=dtype, **more)

    def by_hand(self, student, padding=None):
        return expect.tensor(self.run(student, (2, 1, 3), self.WEIGHTS, self.X, padding).value)

    def of_waves(self, student, padding=None, **more):
        return self.run(student, self.SIZES, block_of_waves(6, 5, 2), self.TEXTS, padding, **more)

    def test_parameters(self, student):
        """DecoderBlock(8, 2, 16) has 568 numbers to learn: attention, feed-forward and two norms."""
        with shown("Which members does the text name?", "shape", d_model=8, num_heads=2, d_ff=16):
            got = student.DecoderBlock.build(8, 2, 16)
            total = sum(int(np.prod(shape)) for shape in got.values())
            if total != 568 and got.keys() != self.WEIGHTS.keys():
                expect.fail(f"it has {total}: {', '.join(got) or 'no parameters'}.")
        with shown("Which of them is of another size than the text says?", d_model=8, num_heads=2, d_ff=16):
            if total != 568:
                expect.fail(f"it has {total}: {', '.join(f'{name} {shape}' for name, shape in got.items())}.")

    def test_feed_forward_alone(self, student):
        """With W_O = 0 the attention adds nothing: (3, 1) becomes (13, 1), and (0, 2) becomes (0, 12)."""
        silent = self.WEIGHTS | {"attention.W_O.weight": 0 * EYE}
        with shown("Which norm does the feed-forward network get, and what is it added to?", x=self.X):
            got = expect.tensor(self.run(student, (2, 1, 3), silent, self.X).value)
            close(got, np.array([[[13.0, 1.0], [0.0, 12.0]]]), within=1e-3)

    def test_attention_alone(self, student):
        """With the last layer of the feed-forward network 0: (3, 1) becomes (4, 0), and (0, 2) stays."""
        silent = self.WEIGHTS | {"feed_forward.2.weight": np.zeros((2, 3))}
        with shown("What does norm_1 make of each word, whom does each word see, and what is it added to?", x=self.X):
            got = expect.tensor(self.run(student, (2, 1, 3), silent, self.X).value)
            close(got, np.array([[[4.0, 0.0], [0.0, 2.0]]]), within=1e-3)

    def test_output(self, student):
        """The example by hand: the two words become (14, 0) and (0, 12)."""
        hint = "Follow the example step by step: what goes into each branch, and what is it added to?"
        with shown(hint, x=self.X):
            close(self.by_hand(student), np.array([[[14.0, 0.0], [0.0, 12.0]]]), within=1e-3)

    def test_padding_by_hand(self, student):
        """Where the first word is padding, the second sees only itself: (-1, 13). What the first gets is no NaN."""
        padding = np.array([[[False, True]]])
        with shown("Both masks must hold. At whom may each of the two words look?", x=self.X, padding=padding):
            got = self.by_hand(student, padding)
            expect.shape(got, (1, 2, 2))
            expect.finite(got)
            close(got[:, 1], np.array([[-1.0, 13.0]]), "the second word", within=1e-3)

    def test_nothing_but_padding(self, student):
        """A text of padding only: each word gets what the feed-forward network adds, and no NaN."""
        padding = np.array([[[False, False]]])
        with shown("What does a softmax over nothing divide by?", x=self.X, padding=padding):
            close(self.by_hand(student, padding), [[[13.0, 1.0], [0.0, 12.0]]], within=1e-3)

    def test_three_texts(self, student):
        """Three texts of four words, and weights of which no two are alike."""
        hint = "Which norm stands before which branch, what does each branch see, and what is it added to?"
        with shown(hint, sizes=self.SIZES, weights=WAVES, x=self.TEXTS):
            close(expect.tensor(self.of_waves(student).value), self.OUTPUTS, within=5e-4)

    def test_padding(self, student):
        """Three texts, each with its own padding, and two heads."""
        hint = "Each head of each text has scores of its own: does your mask reach the axes it is meant for?"
        with shown(hint, sizes=self.SIZES, weights=WAVES, x=self.TEXTS, padding=self.PADDING):
            got = expect.tensor(self.of_waves(student, self.PADDING).value)
            expect.shape(got, self.PADDED.shape)
            expect.finite(got)
            real = self.PADDING[:, 0]  # (3, 4)
            close(got[real], self.PADDED[real], "the words that are no padding", within=5e-4)
        with shown("Padding hides keys. What does a padded word itself see?", x=self.TEXTS, padding=self.PADDING):
            close(got, self.PADDED, "with the padded words, the result", within=5e-4)

    def test_eval(self, student):
        """After eval() it gives the same."""
        with shown("Which of your lines does something else in eval()?", sizes=self.SIZES, padding=self.PADDING):
            got = expect.tensor(self.of_waves(student, self.PADDING, training=False).value)
            close(got, self.PADDED, within=5e-4)

    def test_shorter_text_before(self, student):
        """The same block gives the same after a text of two words: it keeps nothing of a call."""
        import torch

        question = "What does your block keep from one call to the next?"
        with shown(question, "exception", "shape", sizes=self.SIZES, weights=WAVES, x=self.TEXTS):
            before = [torch.tensor(self.TEXTS[:1, :2]).float()]
            close(expect.tensor(self.of_waves(student, after=before).value), self.OUTPUTS, within=5e-4)

    def test_seventy_words(self, student):
        """Seventy words: the first forty get what they get alone, and the last one sees those at places 3 and 65."""
        x, weights = waves(0.7, 1, 70, 6), block_of_waves(6, 5, 2)
        padding = np.ones((1, 1, 70), dtype=bool)
        with shown("Right for four words? Which number in your code is a size?", "exception", "shape", x="70 words"):
            whole = expect.tensor(self.run(student, self.SIZES, weights, x, padding).value)
            first = expect.tensor(self.run(student, self.SIZES, weights, x[:, :40], padding[..., :40]).value)
            close(whole[:, :40], first, "of seventy words, the first forty", within=5e-4)
            for place in (3, 65):
                changed = x.copy()
                changed[0, place] = -x[0, place]
                other = expect.tensor(self.run(student, self.SIZES, weights, changed, padding).value)
                if np.abs(other[0, 69] - whole[0, 69]).max() < 1e-3:
                    expect.fail(f"the last word stays the same when the one at place {place} changes.", got=other)

    def test_gradients_arrive(self, student):
        """A gradient reaches x and every parameter."""
        import torch

        with shown("Which line lets go of a gradient?", "exception", "shape", weights=WAVES, x=self.TEXTS):
            got = self.of_waves(student, seeds=[torch.tensor(waves(0.3, 3, 4, 6)).float()])
            arrives(got.inputs[:1], "x")
            arrives(got.parameters.values(), " ".join(got.parameters))

    def test_dtype(self, student):
        """A block in float64 gives float64, and x is as before."""
        with shown("Which line makes a new tensor, of which dtype, and does one write into an old one?"):
            got = self.of_waves(student, self.PADDING, dtype="float64")
            keeps_float64(expect.tensor(got.value))
            expect.unchanged(got.after, [self.TEXTS, self.PADDING], ["x", "padding"])
