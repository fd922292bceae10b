"""Visible tests of ablate, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown


@pytest.mark.exercise("ablate")
class TestAblate:
    # Two layers of two heads of width two on d_model 3; the second digit is the column, counted from 1.
    W_O = np.array([[11.0, 12.0, 13.0, 14.0], [21.0, 22.0, 23.0, 24.0], [31.0, 32.0, 33.0, 34.0]])
    NAMES = ("blocks.0.attention.W_O.weight", "blocks.1.attention.W_O.weight", "blocks.1.attention.W_V.weight")

    def weights(self, dtype="float64"):
        import torch

        arrays = (self.W_O, self.W_O + 100, self.W_O.T + 200)
        return {n: torch.from_numpy(a.astype(dtype)) for n, a in zip(self.NAMES, arrays, strict=True)}

    def numbers(self, got, *names):
        if not isinstance(got, dict):
            expect.fail(f"returned {expect.kind_of(got)}, not a dict.", symptom="kind")
        missing = [name for name in names or self.NAMES if name not in got]
        if missing:
            expect.fail(f"the dict has no {missing[0]}, which came in.", symptom="kind")
        return {name: expect.tensor(value, what=name) for name, value in got.items()}

    def test_by_hand(self, student):
        """Layer 0, head 1 of two: the columns 2 and 3 are zero."""
        with shown("Which columns of W_O.weight are this head's?", layer=0, head=1, num_heads=2, W_O=self.W_O):
            got = self.numbers(student.ablate(self.weights(), 0, 1, 2))
            close(got[self.NAMES[0]], self.W_O * np.array([1, 1, 0, 0]), "the W_O of layer 0")

    def test_another_layer(self, student):
        """Layer 1, head 0 of two: its own columns, and nothing of layer 0."""
        with shown("Which name has the W_O of this layer?", layer=1, head=0, num_heads=2, W_O=self.W_O + 100):
            got = self.numbers(student.ablate(self.weights(), 1, 0, 2))
            close(got[self.NAMES[1]], (self.W_O + 100) * np.array([0, 0, 1, 1]), "the W_O of layer 1")
            close(got[self.NAMES[0]], self.W_O, "the W_O of layer 0")
            close(got[self.NAMES[2]], self.W_O.T + 200, "the W_V of layer 1")

    def test_four_heads(self, student):
        """Four heads of width one: of head 2, one column is zero."""
        with shown("How wide is one of four heads here?", layer=0, head=2, num_heads=4, W_O=self.W_O):
            got = self.numbers(student.ablate(self.weights(), 0, 2, 4))
            close(got[self.NAMES[0]], self.W_O * np.array([1, 1, 0, 1]), "the W_O of layer 0")

    def test_many_layers_and_heads(self, student):
        """Thirteen layers of eight heads: of layer 12, head 7 is zero; of layer 1, head 7, and nothing of layer 11."""
        import torch

        names = [f"blocks.{layer}.attention.W_O.weight" for layer in range(13)]
        weights = {name: torch.full((2, 16), float(layer + 1)) for layer, name in enumerate(names)}
        with shown("Right for two layers? Which number in your code is a size?", layer=12, head=7, num_heads=8):
            got = self.numbers(student.ablate(weights, 12, 7, 8), *names)
            close(got[names[12]], [[13.0] * 14 + [0.0] * 2] * 2, "the W_O of layer 12")
            close(got[names[1]], np.full((2, 16), 2.0), "the W_O of layer 1")
        with shown("Whose names begin or end like that of layer 1?", layer=1, head=7, num_heads=8):
            got = self.numbers(student.ablate(weights, 1, 7, 8), *names)
            close(got[names[1]], [[2.0] * 14 + [0.0] * 2] * 2, "the W_O of layer 1")
            close(got[names[11]], np.full((2, 16), 12.0), "the W_O of layer 11")

    def test_left_alone(self, student):
        """float32 gives float32, float64 gives float64, and the weights that came in are as before."""
        with shown("Which tensor do you write into, and whose is it?"):
            after = student.ablate.inputs_after(self.weights("float32"), 0, 1, 2)[0]
            for name, value in self.weights("float32").items():
                close(expect.tensor(after[name]), expect.tensor(value), f"{name} of what came in")
            for dtype in ("float32", "float64"):
                got = self.numbers(student.ablate(self.weights(dtype), 0, 1, 2))
                for name in self.NAMES:
                    expect.dtype(got[name], np.dtype(dtype).type, what=name)
