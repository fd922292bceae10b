"""Visible tests of ModernDecoderBlock, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, shown

from ..shared_visible_tests import WAVES, waves

WHOLE = [
    [
        [
            1.9579,
            2.4891,
            2.2314,
            1.3314,
            -0.1549,
            -1.2693,
            -1.3259,
            -0.6871,
            0.4861,
            1.9182,
            2.5762,
            2.1517,
            1.1986,
            -0.1174,
            -1.3153,
            -1.4462,
        ],
        [
            -0.8388,
            0.5014,
            1.7473,
            2.3791,
            2.1291,
            1.0284,
            -0.3646,
            -1.3379,
            -1.5166,
            -0.8068,
            0.5347,
            1.8084,
            2.3935,
            2.1016,
            1.0251,
            -0.3806,
        ],
        [
            -1.914,
            -2.1782,
            -1.4064,
            0.0232,
            1.1884,
            1.7566,
            1.5469,
            0.3798,
            -1.0595,
            -1.9175,
            -2.06,
            -1.3805,
            0.0451,
            1.3215,
            1.7861,
            1.4993,
        ],
        [
            0.4921,
            -0.8765,
            -1.8973,
            -1.9678,
            -1.1513,
            0.1161,
            1.3701,
            1.9647,
            1.5272,
            0.3871,
            -0.9282,
            -1.9223,
            -2.0282,
            -1.1569,
            0.1466,
            1.3309,
        ],
    ]
]
THROUGH_A_WINDOW = [
    [
        [
            1.9579,
            2.4891,
            2.2314,
            1.3314,
            -0.1549,
            -1.2693,
            -1.3259,
            -0.6871,
            0.4861,
            1.9182,
            2.5762,
            2.1517,
            1.1986,
            -0.1174,
            -1.3153,
            -1.4462,
        ],
        [
            -0.8388,
            0.5014,
            1.7473,
            2.3791,
            2.1291,
            1.0284,
            -0.3646,
            -1.3379,
            -1.5166,
            -0.8068,
            0.5347,
            1.8084,
            2.3935,
            2.1016,
            1.0251,
            -0.3806,
        ],
        [
            -1.9814,
            -2.2421,
            -1.4698,
            -0.0436,
            1.1244,
            1.6945,
            1.4812,
            0.3156,
            -1.1205,
            -1.9817,
            -2.1239,
            -1.4405,
            -0.0172,
            1.2581,
            1.727,
            1.4391,
        ],
        [
            0.0552,
            -1.3162,
            -2.3121,
            -2.3867,
            -1.5789,
            -0.2873,
            0.9702,
            1.552,
            1.1354,
            0.0066,
            -1.3234,
            -2.3018,
            -2.3896,
            -1.5321,
            -0.2195,
            0.9882,
        ],
    ]
]


@pytest.mark.exercise("ModernDecoderBlock")
class TestModernDecoderBlock:
    # Width 16: four query heads of width 4, so two pairs each, and two heads of keys; six numbers between.
    SIZES = (16, 4, 2, 6)
    X = 2 * waves(0.7, 1, 4, 16)

    def weights(self):
        shapes = {"norm_1": (16,), "norm_2": (16,), "W_Q.weight": (16, 16), "W_K.weight": (8, 16)}
        shapes |= {"W_V.weight": (8, 16), "W_O.weight": (16, 16), "W_gate.weight": (6, 16), "W_up.weight": (6, 16)}
        shapes |= {"W_down.weight": (16, 6)}
        return {name: waves(0.9 + 0.37 * i, *shape) for i, (name, shape) in enumerate(shapes.items())}

    def run(self, student, sizes=SIZES, dtype="float32", **more):
        import torch

        kind = getattr(torch, dtype)
        weights = {name: torch.tensor(value, dtype=kind) for name, value in self.weights().items()}
        return student.ModernDecoderBlock.run(sizes, weights, torch.tensor(self.X, dtype=kind), **more)

    def judge(self, student, wanted, question, sizes):
        with shown(question, sizes=sizes, weights=WAVES, x=WAVES):
            got = expect.tensor(self.run(student, sizes).value)
            close(got, np.array(wanted), "the output", within=5e-4)

    def test_parameters(self, student):
        """The count for d_model = 16, four heads, two of keys, d_ff = 6: two norms and seven matrices, 1088 numbers."""
        with shown("Compare it with the table above: which part is too much, or not there?"):
            shapes = student.ModernDecoderBlock.build(*self.SIZES)
            total = sum(int(np.prod(shape)) for shape in shapes.values())
            if total != 1088:
                expect.fail(f"it has {total}: {', '.join(f'{n} {tuple(s)}' for n, s in shapes.items())}.")

    def test_four_words(self, student):
        """Four words, and weights of which no two are alike."""
        question = "Go through it word by word: what goes into each branch, what is turned, who sees whom?"
        self.judge(student, WHOLE, question, self.SIZES)

    def test_window(self, student):
        """The same through a window of two."""
        self.judge(student, THROUGH_A_WINDOW, "Whom does the last word see?", (*self.SIZES, 2))

    def test_gradients_arrive(self, student):
        """A gradient reaches x and every parameter, W_Q among them."""
        import torch

        with shown("Which line lets go of it?", "exception", "shape", sizes=self.SIZES, weights=WAVES):
            got = self.run(student, seeds=[torch.tensor(waves(0.3, 1, 4, 16)).float()])
            arrives([got.inputs[0], *got.parameters.values()], " ".join(["x", *got.parameters]))

    def test_float64(self, student):
        """A block in float64 gives float64, and x is as before."""
        with shown("Which line makes a new tensor, of which dtype?"):
            got = self.run(student, dtype="float64")
            expect.dtype(expect.tensor(got.value), np.float64)
            close(got.after[0], self.X, "x after the call")
