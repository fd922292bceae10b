"""Visible tests of torch_masked_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, keeps, shown

from ..shared_visible_tests import (
    ANY_SIZE,
    AXES,
    CAUSAL,
    CAUSAL_OUTPUT,
    CAUSAL_WEIGHTS,
    FIRST_NAN,
    LONG,
    NAMES,
    ORDER,
    PLACE,
    QUERIES,
    K,
    Q,
    V,
)

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

    def test_without_mask(self, student):
        """Without a mask each of three words sees both keys, here with weights 0.12 and 0.88."""
        given = {"query": Q[[0, 1, 1]], "key": K, "value": V}
        hint = "Two axes, and no mask: from which end do you count axes, and what does your code do when mask is None?"
        with shown(hint, "exception", "shape", "kind", **given):
            output, weights = self.attend(student, *given.values())
        with shown("Each word sees both keys. Over which axis does each row of weights sum to 1?", **given):
            close(weights, CAUSAL_WEIGHTS[[1, 1, 1]], "weights")
            close(output, CAUSAL_OUTPUT[[1, 1, 1]], "output", within=1e-3)

    def test_two_words(self, student):
        """Under a causal mask, two words get the weights of the NumPy example; the next call has no mask again."""
        with shown(FIRST_NAN, query=Q, key=K, value=V, mask=CAUSAL[:2, :2]):
            output, weights = self.attend(student, Q, K, V, CAUSAL[:2, :2])
            expect.finite(weights, what="weights")
        with shown("Which keys take part in each row?", query=Q, key=K, value=V, mask=CAUSAL[:2, :2]):
            close(weights, CAUSAL_WEIGHTS, "weights")
        with shown("The weights are right. What is multiplied by them and summed?", query=Q, key=K, value=V):
            close(output, CAUSAL_OUTPUT, "output", within=1e-3)
        with shown("Does your code keep a mask from one call to the next?", query=Q, key=K, value=V):
            close(self.attend(student, Q, K, V)[1], CAUSAL_WEIGHTS[[1, 1]], "without a mask, weights")

    def test_nothing_allowed(self, student):
        """A query that may attend to nothing gets weights 0 and output 0, also if it is so for every query."""
        for allowed in ([True, True], [False, False]):
            mask = np.array([[False, False], allowed])
            with shown("What does softmax make of a row where nothing is allowed?", query=Q, key=K, value=V, mask=mask):
                output, weights = self.attend(student, Q, K, V, mask)
                close(weights, np.where(mask, CAUSAL_WEIGHTS[1], 0), "weights")
                close(output, np.where(mask.any(axis=1, keepdims=True), CAUSAL_OUTPUT[1], 0), "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five; a mask hides the third key from all."""
        given = {"query": QUERIES[0], "key": MORE_KEYS[0], "value": MORE_VALUES[0], "mask": SEEN[0]}
        with shown("By which root is a score divided, and does the mask reach every query?", **given):
            output, weights = self.attend(student, *given.values())
            close(weights, SEEN_WEIGHTS[0], "weights")
            close(output, SEEN_OUTPUT[0], "output")

    def test_two_texts(self, student):
        """Two texts at once, each with a mask of its own; the second one hides the first key."""
        hint = "Do you count axes from the end, and does the mask reach every query of its text?"
        with shown(hint, "exception", "shape", query=QUERIES, key=MORE_KEYS, value=MORE_VALUES, mask=SEEN):
            output, weights = self.attend(student, QUERIES, MORE_KEYS, MORE_VALUES, SEEN)
            close(weights, SEEN_WEIGHTS, "weights")
            close(output, SEEN_OUTPUT, "output")

    def test_two_batch_axes(self, student):
        """Two batches of seven texts: each as if it were alone, and in memory they may lie in another order."""
        arrays = [array[ORDER.T] for array in (QUERIES, MORE_KEYS, MORE_VALUES, SEEN)]
        turned = [tensor.transpose(0, 1) for tensor in self.tensors(*arrays)]
        with shown(AXES, "exception", "shape"):
            output, weights = expect.pair(student.torch_masked_attention(*turned))
            close(weights, SEEN_WEIGHTS[ORDER], "weights")
            close(output, SEEN_OUTPUT[ORDER], "output")

    def test_long_texts(self, student):
        """Seventy queries and keys of width 100: key j scores log(j + 1); under a mask of its own each sees all."""
        with shown(ANY_SIZE):
            output, weights = self.attend(student, *LONG.values(), np.ones((70, 70), dtype=bool))
            close(weights, np.tile(PLACE / 2485, (70, 1)), "weights")
            close(output, np.tile([47.0, 470.0, 4700.0], (70, 1)), "output")

    def test_large_scores(self, student):
        """Scores of 400,000 and of -900,000 still give finite weights, and no hidden key gets any."""
        given = {"query": 1e5 * QUERIES[0], "key": MORE_KEYS[0], "value": MORE_VALUES[0], "mask": SEEN[0]}
        with shown("What is the exp of 1000, and what does a hidden score become?", **given):
            close(self.attend(student, *given.values())[1], SURE_OF_FOUR, "weights", within=1e-8)
        low = {"query": Q, "key": np.array([[-9e5, 0, 0, 0], [2 - 9e5, 0, 0, 0]]), "value": V, "mask": CAUSAL[:2, :2]}
        with shown("Is what hides a score lower than every score?", **low):
            close(self.attend(student, *low.values())[1], CAUSAL_WEIGHTS, "weights")

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

    def test_by_name(self, student):
        """The arguments may come by name."""
        query, key, value, mask = self.tensors(Q, K, V, CAUSAL[:2, :2])
        with shown(NAMES, "exception", query=Q, key=K, value=V):
            expect.pair(student.torch_masked_attention(mask=mask, value=value, key=key, query=query))
