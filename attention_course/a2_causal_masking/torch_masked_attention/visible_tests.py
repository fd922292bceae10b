"""Visible tests of torch_masked_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown

from ..shared_visible_tests import CAUSAL, CAUSAL_OUTPUT, CAUSAL_WEIGHTS, QUERIES, K, Q, V

# For any mask: two texts again, and now three queries look at four keys.
MORE_KEYS = np.array(
    [
        [
            [-1.0, 2.0, 1.0, 0.0, -1.0],
            [1.0, 0.0, 2.0, 0.0, 1.0],
            [-1.0, 1.0, -1.0, 2.0, -1.0],
            [1.0, 2.0, 0.0, 2.0, 1.0],
        ],
        [
            [2.0, 1.0, 2.0, -1.0, -1.0],
            [1.0, 1.0, 1.0, 2.0, 0.0],
            [2.0, 1.0, -1.0, -1.0, 2.0],
            [1.0, 2.0, 2.0, 2.0, 0.0],
        ],
    ]
)
MORE_VALUES = np.array(
    [
        [
            [6.0, 8.0, 0.0, 8.0, 4.0, 5.0],
            [6.0, 2.0, 9.0, 0.0, 2.0, 3.0],
            [5.0, 4.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, 9.0, 1.0, 6.0, 7.0, 2.0],
        ],
        [
            [2.0, 4.0, 2.0, 9.0, 1.0, 8.0],
            [7.0, 8.0, 1.0, 3.0, 6.0, 4.0],
            [6.0, 6.0, 6.0, 0.0, 9.0, 5.0],
            [9.0, 2.0, 3.0, 8.0, 1.0, 0.0],
        ],
    ]
)
SEEN = np.array([[[True, True, False, True]], [[False, True, False, False]]])
SEEN_WEIGHTS = np.array(
    [
        [[0.1156, 0.4422, 0.0, 0.4422], [0.1565, 0.5987, 0.0, 0.2448], [0.0361, 0.138, 0.0, 0.8259]],
        [[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    ]
)
SEEN_OUTPUT = np.array(
    [
        [
            [3.789, 5.789, 4.422, 3.578, 4.4422, 2.789],
            [4.7761, 4.6525, 5.6332, 2.7208, 3.5369, 3.0682],
            [1.8707, 7.9976, 2.0683, 5.2439, 6.2015, 2.2463],
        ],
        [[7.0, 8.0, 1.0, 3.0, 6.0, 4.0], [7.0, 8.0, 1.0, 3.0, 6.0, 4.0], [7.0, 8.0, 1.0, 3.0, 6.0, 4.0]],
    ]
)
SURE_OF_FOUR = np.array([[0.0, 0.5, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@pytest.mark.exercise("torch_masked_attention")
class TestTorchMaskedAttention:
    def tensors(self, *arrays):
        import torch

        return [torch.from_numpy(array.copy()) for array in arrays]

    def attend(self, student, *arrays):
        output, weights = expect.pair(student.torch_masked_attention(*self.tensors(*arrays)))
        return expect.tensor(output, what="output"), expect.tensor(weights, what="weights")

    def test_two_words(self, student):
        """Under a causal mask, two words get the weights of the NumPy example."""
        with shown("Which keys take part in each row?", query=Q, key=K, value=V, mask=CAUSAL[:2, :2]):
            output, weights = self.attend(student, Q, K, V, CAUSAL[:2, :2])
            close(weights, CAUSAL_WEIGHTS, "weights")
            close(output, CAUSAL_OUTPUT, "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five, in two texts, each with a mask of its own."""
        hint = "Do you count axes from the end, and does the mask reach every query of its text?"
        with shown(hint, "exception", "shape", query=QUERIES, key=MORE_KEYS, value=MORE_VALUES, mask=SEEN):
            output, weights = self.attend(student, QUERIES, MORE_KEYS, MORE_VALUES, SEEN)
            close(weights, SEEN_WEIGHTS, "weights")
            close(output, SEEN_OUTPUT, "output")

    def test_without_mask(self, student):
        """Without a mask both words see both: weights 0.12 and 0.88 twice."""
        with shown("What does your code do when mask is None?", "exception", "shape", query=Q, key=K, value=V):
            close(self.attend(student, Q, K, V)[1], CAUSAL_WEIGHTS[[1, 1]], "weights")

    def test_nothing_allowed(self, student):
        """A query that may attend to nothing gets weights 0 and output 0."""
        mask = np.array([[False, False], [True, True]])
        with shown("What does softmax make of a row where nothing is allowed?", query=Q, key=K, value=V, mask=mask):
            output, weights = self.attend(student, Q, K, V, mask)
            close(weights, np.array([[0.0, 0.0], [0.1192, 0.8808]]), "weights")
            close(output, np.array([[0.0, 0.0, 0.0], [1.192, 8.808, 1.0]]), "output", within=1e-3)

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large still give finite weights, and no hidden key gets any."""
        given = {"query": 1e5 * QUERIES[0], "key": MORE_KEYS[0], "value": MORE_VALUES[0], "mask": SEEN[0]}
        with shown("What is the exp of 1000, and what does a hidden score become?", **given):
            close(self.attend(student, *given.values())[1], SURE_OF_FOUR, "weights")

    def test_gradients_arrive(self, student):
        """Gradients reach query, key and value, and stay finite where a query may attend to nothing."""
        attend, tensors = (
            student.torch_masked_attention,
            self.tensors(Q, K, V, np.array([[False, False], [True, True]])),
        )
        with shown(
            "Which line lets go of a gradient, or sends a NaN back?",
            "exception",
            "shape",
            query=Q,
            key=K,
            value=V,
            mask=tensors[3],
        ):
            arrives(attend.gradients(*tensors, seeds=[tensors[0][:, :3], None]).inputs[:3], "query key value")
            arrives(attend.gradients(*tensors, seeds=[None, tensors[0][:, :2]]).inputs[:2], "query key")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and what went in is as before."""
        with shown("Which line makes a new tensor, of which dtype?", query=Q, key=K, value=V, mask=CAUSAL[:2, :2]):
            tensors = self.tensors(Q, K, V, CAUSAL[:2, :2])
            keeps(student.torch_masked_attention, *tensors, names="query key value mask")
            expect.dtype(self.attend(student, Q, K, V)[0], np.float64)
