"""Visible tests of torch_scaled_dot_product_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown

from ..shared_visible_tests import ALL_OUTPUTS, ALL_WEIGHTS, KEYS, OUTPUT, QUERIES, SURE, VALUES, WEIGHTS, K, Q, V


@pytest.mark.exercise("torch_scaled_dot_product_attention")
class TestTorchScaledDotProductAttention:
    def tensors(self, *arrays):
        import torch

        return [torch.from_numpy(array.copy()) for array in arrays]

    def attend(self, student, *arrays):
        output, weights = expect.pair(student.torch_scaled_dot_product_attention(*self.tensors(*arrays)))
        return expect.tensor(output, what="output"), expect.tensor(weights, what="weights")

    def test_worked_example(self, student):
        """The worked example, in tensors: weights of about 0.12 and 0.88, output about (1.19, 8.81)."""
        with shown("The formula is the same as in NumPy. Which line differs?", query=Q, key=K, value=V):
            output, weights = self.attend(student, Q, K, V)
            close(weights, WEIGHTS, "weights")
            close(output, OUTPUT, "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five, in two texts or in one."""
        with shown(
            "Do you count axes from the end or from the front?",
            "exception",
            "shape",
            query=QUERIES,
            key=KEYS,
            value=VALUES,
        ):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES)
            close(weights, ALL_WEIGHTS, "weights")
            close(output, ALL_OUTPUTS, "output")
            output, _ = self.attend(student, QUERIES[0], KEYS[0], VALUES[0])
            close(output, ALL_OUTPUTS[0], "without a batch axis the output")

    def test_large_scores(self, student):
        """Queries a thousand times as large still give finite weights."""
        given = {"query": 1000 * QUERIES[0], "key": KEYS[0], "value": VALUES[0]}
        with shown("What is the exp of 1000, and who may take care of that?", **given):
            close(self.attend(student, *given.values())[1], SURE, "weights")

    def test_gradients_arrive(self, student):
        """A gradient reaches query, key and value, and through the weights query and key."""
        attend, tensors = student.torch_scaled_dot_product_attention, self.tensors(Q, K, V)
        with shown("Which line lets go of it?", "exception", "shape", query=Q, key=K, value=V):
            arrives(attend.gradients(*tensors, seeds=[tensors[0][:, :2], None]).inputs, "query key value")
            arrives(attend.gradients(*tensors, seeds=[None, tensors[0][:, :2]]).inputs[:2], "query key")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and what went in is as before."""
        with shown("Which line makes a new tensor, of which dtype?", query=Q, key=K, value=V):
            keeps(student.torch_scaled_dot_product_attention, *self.tensors(Q, K, V), names="query key value")
            expect.dtype(self.attend(student, Q, K, V)[0], np.float64)
