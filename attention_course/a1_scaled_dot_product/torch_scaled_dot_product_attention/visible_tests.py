"""Visible tests of torch_scaled_dot_product_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown

from ..shared_visible_tests import (
    ALL_OUTPUTS,
    ALL_WEIGHTS,
    ANY_SIZE,
    AXES,
    KEYS,
    LONG,
    LONG_OUTPUT,
    LONG_WEIGHTS,
    NAMES,
    ORDER,
    OUTPUT,
    QUERIES,
    SURE,
    VALUES,
    WEIGHTS,
    K,
    Q,
    V,
)


@pytest.mark.exercise("torch_scaled_dot_product_attention")
class TestTorchScaledDotProductAttention:
    def tensors(self, *arrays):
        import torch

        return [torch.from_numpy(array.copy()) for array in arrays]

    def attend(self, student, *arrays):
        output, weights = expect.pair(student.torch_scaled_dot_product_attention(*self.tensors(*arrays)))
        return expect.tensor(output, what="output"), expect.tensor(weights, what="weights")

    def test_worked_example(self, student):
        """The worked example, in tensors: weights of about 0.09, 0.67 and 0.24, output about (-1.55, 9.10)."""
        with shown("The formula is the same as in NumPy. Which line differs?", query=Q, key=K, value=V):
            output, weights = self.attend(student, Q, K, V)
            close(weights, WEIGHTS, "weights")
        with shown("The weights are right. What is multiplied by them and summed?", query=Q, key=K, value=V):
            close(output, OUTPUT, "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five; the values have width six."""
        given = {"query": QUERIES[0], "key": KEYS[0], "value": VALUES[0]}
        with shown("Over which axis do weights sum to 1, and by which root is a score divided?", **given):
            output, weights = self.attend(student, *given.values())
            close(weights, ALL_WEIGHTS[0], "weights")
            close(output, ALL_OUTPUTS[0], "output")

    def test_two_texts(self, student):
        """Two texts at once: output (2, 3, 6) and weights (2, 3, 4)."""
        hint = "Do you count axes from the end or from the front?"
        with shown(hint, "exception", "shape", query=QUERIES, key=KEYS, value=VALUES):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES)
            close(weights, ALL_WEIGHTS, "weights")
            close(output, ALL_OUTPUTS, "output")

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each text as if it were alone, and in memory they may lie in another order."""
        arrays = [array[ORDER.T] for array in (QUERIES, KEYS, VALUES)]
        turned = [tensor.transpose(0, 1) for tensor in self.tensors(*arrays)]
        with shown(AXES, "exception", "shape"):
            output, weights = expect.pair(student.torch_scaled_dot_product_attention(*turned))
            close(weights, ALL_WEIGHTS[ORDER], "weights")
            close(output, ALL_OUTPUTS[ORDER], "output")

    def test_long_texts(self, student):
        """Seventy queries and 71 keys of width 100: key j scores log(j + 1), so its weight is (j + 1) / 2556."""
        with shown(ANY_SIZE):
            output, weights = self.attend(student, *LONG.values())
            close(weights, LONG_WEIGHTS, "weights")
            close(output, LONG_OUTPUT, "output")

    def test_large_scores(self, student):
        """Queries a thousand times as large still give finite weights."""
        given = {"query": 1000 * QUERIES[0], "key": KEYS[0], "value": VALUES[0]}
        with shown("What is the exp of 1000, and who may take care of that?", **given):
            close(self.attend(student, *given.values())[1], SURE, "weights", within=1e-8)

    def test_gradients_arrive(self, student):
        """A gradient reaches query, key and value, and through the weights query and key."""
        attend, tensors = student.torch_scaled_dot_product_attention, self.tensors(Q, K, V)
        with shown("Which line lets go of it?", "exception", "shape", query=Q, key=K, value=V):
            arrives(attend.gradients(*tensors, seeds=[tensors[0][:, :2], None]).inputs, "query key value")
            arrives(attend.gradients(*tensors, seeds=[None, tensors[0][:, :3]]).inputs[:2], "query key")

    def test_gradient_by_hand(self, student):
        """If only the output's first number counts, the query's gradient is the sum of w_j (v_j + 1.55) k_j / 2."""
        tensors, seed = self.tensors(Q, K, V), self.tensors(np.array([[1.0, 0.0]]))
        with shown("Is the gradient the slope of every step?", query=Q, key=K, value=V):
            gradients = student.torch_scaled_dot_product_attention.gradients(*tensors, seeds=[*seed, None])
            close(gradients.inputs[0], np.array([[0.5146, 1.0343, -1.0396, 0.0]]), "the gradient of query")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and what went in is as before."""
        with shown("Which line makes a new tensor, of which dtype?", query=Q, key=K, value=V):
            keeps(student.torch_scaled_dot_product_attention, *self.tensors(Q, K, V), names="query key value")
            expect.dtype(self.attend(student, Q, K, V)[0], np.float64)

    def test_by_name(self, student):
        """The arguments may come by name."""
        query, key, value = self.tensors(Q, K, V)
        with shown(NAMES, "exception", query=Q, key=K, value=V):
            expect.pair(student.torch_scaled_dot_product_attention(value=value, key=key, query=query))
