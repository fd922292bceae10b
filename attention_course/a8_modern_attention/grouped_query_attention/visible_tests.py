"""Visible tests of grouped_query_attention, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

# Six query heads of three words and width four, two heads of five keys, values of width two: no two sizes alike that a
# slip could mix up.
SIX = np.array(
    [
        [[1.0, 2.0, -2.0, 2.0], [0.0, 0.0, 1.0, -1.0], [2.0, -2.0, -1.0, -1.0]],
        [[0.0, 0.0, -2.0, -2.0], [-2.0, -2.0, -2.0, 2.0], [-2.0, 1.0, 1.0, -1.0]],
        [[-1.0, 0.0, -1.0, 2.0], [-2.0, 2.0, 1.0, 2.0], [-2.0, -1.0, 1.0, 0.0]],
        [[1.0, 1.0, 1.0, -2.0], [2.0, 0.0, 2.0, -1.0], [-1.0, 2.0, -2.0, -2.0]],
        [[-1.0, 1.0, -2.0, 2.0], [-1.0, -1.0, 0.0, 2.0], [2.0, 2.0, -1.0, -2.0]],
        [[1.0, 1.0, 1.0, -2.0], [-2.0, 0.0, -1.0, 0.0], [2.0, -1.0, 0.0, -1.0]],
    ]
)
TWO = np.array(
    [
        [
            [-1.0, 2.0, -2.0, -1.0],
            [-2.0, -2.0, -1.0, 1.0],
            [0.0, 0.0, -2.0, 1.0],
            [1.0, -1.0, -2.0, -1.0],
            [-2.0, 1.0, 0.0, 0.0],
        ],
        [
            [-1.0, 0.0, 2.0, -1.0],
            [1.0, -2.0, -1.0, 2.0],
            [2.0, -2.0, 2.0, 2.0],
            [0.0, -1.0, 2.0, 2.0],
            [1.0, -1.0, -1.0, 2.0],
        ],
    ]
)
MORE = np.array(
    [
        [[2.0, 5.0], [6.0, 2.0], [3.0, 7.0], [1.0, 6.0], [9.0, 6.0]],
        [[6.0, 4.0], [9.0, 2.0], [3.0, 6.0], [6.0, 1.0], [1.0, 6.0]],
    ]
)
SEEN = np.array(
    [[True, False, True, True, False], [False, False, False, False, False], [False, True, True, False, True]]
)
SHARED_OUTPUT = np.array(
    [
        [[2.7626, 6.1823], [4.8844, 5.3385], [1.2475, 5.9286]],
        [[1.8582, 5.524], [5.8379, 2.2911], [6.9585, 5.5418]],
        [[5.0369, 4.2485], [7.8174, 5.6736], [6.5535, 3.2349]],
        [[5.7378, 4.0252], [3.8234, 5.1426], [5.556, 4.1175]],
        [[4.1168, 4.336], [5.4323, 3.2112], [4.6255, 4.4408]],
        [[5.7378, 4.0252], [5.4821, 3.6183], [4.2839, 4.8342]],
    ]
)
SHARED_WEIGHTS = np.array(
    [
        [
            [0.3453, 0.0104, 0.5692, 0.0467, 0.0283],
            [0.2163, 0.1312, 0.0796, 0.2163, 0.3566],
            [0.0062, 0.0277, 0.0458, 0.9189, 0.0014],
        ],
        [
            [0.4474, 0.0223, 0.0606, 0.4474, 0.0223],
            [0.0023, 0.9383, 0.0467, 0.0063, 0.0063],
            [0.2487, 0.0555, 0.0124, 0.0075, 0.676],
        ],
        [
            [0.0672, 0.4963, 0.301, 0.0247, 0.1107],
            [0.1067, 0.0647, 0.0393, 0.0007, 0.7886],
            [0.0209, 0.6913, 0.0209, 0.0127, 0.2543],
        ],
        [
            [0.8611, 0.0096, 0.0707, 0.0429, 0.0158],
            [0.1599, 0.0131, 0.7168, 0.097, 0.0131],
            [0.8349, 0.0416, 0.0013, 0.0093, 0.113],
        ],
        [
            [0.0065, 0.353, 0.0107, 0.0478, 0.5821],
            [0.0153, 0.3065, 0.1859, 0.3065, 0.1859],
            [0.4963, 0.1107, 0.0672, 0.0247, 0.301],
        ],
        [
            [0.8611, 0.0096, 0.0707, 0.0429, 0.0158],
            [0.3801, 0.2306, 0.0189, 0.1398, 0.2306],
            [0.0468, 0.2096, 0.5697, 0.0468, 0.1271],
        ],
    ]
)
MASKED_OUTPUT = np.array(
    [
        [[2.5436, 6.233], [0.0, 0.0], [4.2224, 5.1287]],
        [[1.5951, 5.5951], [0.0, 0.0], [8.6763, 5.7183]],
        [[2.7033, 6.5952], [0.0, 0.0], [6.7246, 3.1605]],
        [[5.7824, 4.0131], [0.0, 0.0], [3.1503, 4.9329]],
        [[5.5072, 2.1201], [0.0, 0.0], [3.1303, 5.0751]],
        [[5.7824, 4.0131], [0.0, 0.0], [4.1069, 5.0751]],
    ]
)
MASKED_WEIGHTS = np.array(
    [
        [[0.3592, 0.0, 0.5922, 0.0486, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.3706, 0.611, 0.0, 0.0184]],
        [[0.4683, 0.0, 0.0634, 0.4683, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0746, 0.0166, 0.0, 0.9088]],
        [[0.171, 0.0, 0.7662, 0.0629, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.7153, 0.0216, 0.0, 0.2631]],
        [[0.8835, 0.0, 0.0725, 0.044, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.2668, 0.0081, 0.0, 0.7252]],
        [[0.0996, 0.0, 0.1643, 0.7361, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.2312, 0.1402, 0.0, 0.6285]],
        [[0.8835, 0.0, 0.0725, 0.044, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.2312, 0.6285, 0.0, 0.1402]],
    ]
)

# Query head 1 with the keys and values of head 1.
OUTPUT_OF_ITS_OWN = np.array([[5.3066, 3.9839], [6.7686, 3.0427], [5.9762, 3.8699]])
WEIGHTS_OF_ITS_OWN = np.array(
    [
        [0.3226, 0.3226, 0.0161, 0.0161, 0.3226],
        [0.0017, 0.6952, 0.0127, 0.0346, 0.2557],
        [0.943, 0.0023, 0.0039, 0.0469, 0.0039],
    ]
)


def with_sums(x):
    """One column more: the sum of the others. Weights mix it as they mix those."""
    return np.concatenate([x, x.sum(axis=-1, keepdims=True)], axis=-1)


@pytest.mark.exercise("grouped_query_attention")
class TestGroupedQueryAttention:
    # Two query heads of one word share two keys of width four. Dot products of 2 and 6 become the scores 1 and 3.
    Q = np.array([[[2.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 0.0, 0.0]]])
    K = np.array([[[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0]]])
    V = np.array([[[10.0, 0.0], [0.0, 10.0]]])

    def judge(self, student, output, weights, *args):
        got = expect.pair(student.grouped_query_attention(*args))
        for part, wanted, what in zip(got, (output, weights), ("output", "weights"), strict=True):
            close(expect.array(part, what=what), wanted, what)

    def test_by_hand(self, student):
        """The example by hand: two query heads share two keys."""
        question = "What are the scores of head 0, and what are they divided by?"
        given = {"Q": self.Q, "K": self.K, "V": self.V}
        with shown(question, **given):
            output, _ = expect.pair(student.grouped_query_attention(self.Q, self.K, self.V, 1))
        if isinstance(output, np.ndarray) and not output.any():
            question = "No mask is given here. What do your lines about the mask make of None?"
        elif np.shape(output) == (2, 1, 2) and np.allclose(output[0], [[1.192, 8.808]], atol=1e-3):
            question = "Head 0 is right. The query of head 1 is zeros: which scores and which weights does that give?"
        with shown(question, **given):
            weights = np.array([[[0.1192, 0.8808]], [[0.5, 0.5]]])
            self.judge(student, np.array([[[1.192, 8.808]], [[5.0, 5.0]]]), weights, self.Q, self.K, self.V, 1)

    def test_two_groups(self, student):
        """Six query heads, two of keys and values: neighbours share."""
        question = "Which head of keys does query head 1 get, and how often is each needed, so that all six have one?"
        with shown(question, "exception", Q=SIX, K=TWO, V=MORE):
            self.judge(student, SHARED_OUTPUT, SHARED_WEIGHTS, SIX, TWO, MORE, 2)

    def test_mask(self, student):
        """The same under a mask; the second query may attend to nothing."""
        question = "True means: may attend. What does a query get that may attend to nothing?"
        with shown(question, Q=SIX, K=TWO, V=MORE, mask=SEEN):
            self.judge(student, MASKED_OUTPUT, MASKED_WEIGHTS, SIX, TWO, MORE, 2, SEEN)

    def test_nobody_sees_anything(self, student):
        """A mask that allows nothing at all: weights and output are zeros."""
        mask = np.zeros((3, 5), dtype=bool)
        with shown("What do you divide by, if every key is hidden?", Q=SIX, K=TWO, V=MORE, mask=mask):
            self.judge(student, 0 * SHARED_OUTPUT, 0 * SHARED_WEIGHTS, SIX, TWO, MORE, 2, mask)

    def test_mask_for_each_head(self, student):
        """Six query heads with a mask each: that of head 0 is the one above, the others see everything."""
        mask = np.ones((6, 3, 5), dtype=bool)
        mask[0] = SEEN
        output, weights = SHARED_OUTPUT.copy(), SHARED_WEIGHTS.copy()
        output[0], weights[0] = MASKED_OUTPUT[0], MASKED_WEIGHTS[0]
        with shown(
            "Which axis of the mask are the heads?", "exception", "shape", Q=SIX, K=TWO, V=MORE, mask="(6, 3, 5)"
        ):
            self.judge(student, output, weights, SIX, TWO, MORE, 2, mask)

    def test_as_many_heads(self, student):
        """As many heads of keys and values as of queries: each attends on its own, here to values of width three."""
        output = with_sums(np.stack([SHARED_OUTPUT[0], OUTPUT_OF_ITS_OWN]))
        V = with_sums(MORE)
        with shown("What is a group, if there are as many heads of keys as of queries?", Q=SIX[:2], K=TWO, V=V):
            weights = np.stack([SHARED_WEIGHTS[0], WEIGHTS_OF_ITS_OWN])
            self.judge(student, output, weights, SIX[:2], TWO, V, 2)

    def test_many_heads_and_keys(self, student):
        """Twelve query heads in three groups, and 300 keys that all fit alike: each has a weight of 1/300."""
        V = np.arange(300.0)[:, np.newaxis] + 1000 * np.arange(3.0).reshape(3, 1, 1)
        output = np.repeat([149.5, 1149.5, 2149.5], 4).reshape(12, 1, 1)
        with shown(
            "Small sizes come out right? Then which of your numbers is a size?",
            "exception",
            Q="(12, 1, 2), zeros",
            K="(3, 300, 2), zeros",
        ):
            args = np.zeros((12, 1, 2)), np.zeros((3, 300, 2)), V, 3
            self.judge(student, output, np.full((12, 1, 300), 1 / 300), *args)

    def test_two_texts(self, student):
        """Two texts at once; the second is the first with its words in reverse."""
        Q, K, V = (np.stack([part, part[:, ::-1]]) for part in (SIX, TWO, MORE))
        with shown("Which axes does your code count from the front?", Q=Q, K=K, V=V, num_kv_heads=2):
            output, weights = SHARED_OUTPUT[:, ::-1], SHARED_WEIGHTS[:, ::-1, ::-1]
            self.judge(student, np.stack([SHARED_OUTPUT, output]), np.stack([SHARED_WEIGHTS, weights]), Q, K, V, 2)

    def test_no_groups(self, student):
        """Six query heads cannot form four groups of one size."""
        K = np.zeros((4, 5, 4))
        with shown("When do the groups come out even?", Q="(6, 3, 4)", K="(4, 5, 4)", num_kv_heads=4):
            expect.raises(ValueError, lambda: student.grouped_query_attention(SIX, K, K, 4))

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large give finite numbers."""
        with shown("What could be subtracted before np.exp?"):
            output, weights = expect.pair(student.grouped_query_attention(1e5 * SIX, TWO, MORE, 2))
            expect.finite(output)
            expect.finite(weights)
        with shown(
            "A score far below the largest of its row: what is its weight? Does a line of yours make it larger?"
        ):
            lower = 0.9 * SHARED_WEIGHTS.max(axis=-1, keepdims=True) > SHARED_WEIGHTS
            close(weights * lower, 0 * weights, "what is left for lower scores", within=1e-9)

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype?"):
            expect.pair(
                keeps(student.grouped_query_attention, SIX, TWO, MORE, 2, SEEN, names="Q K V num_kv_heads mask")
            )
