"""Visible checks of a2. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import arrives, keeps, same, shown

SCORES = np.array([[5.0, 9.0, 9.0], [1.0, 3.0, 9.0], [2.0, 2.0, 2.0]])
CAUSAL = np.array([[True, False, False], [True, True, False], [True, True, True]])
WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.1192, 0.8808, 0.0], [0.3333, 0.3333, 0.3333]])

# d_k = 4, so dot products of 2 and 6 become the scores 1 and 3.
Q = np.array([[2.0, 0.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0]])
K = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0]])
V = np.array([[10.0, 0.0, 1.0], [0.0, 10.0, 1.0]])
CAUSAL_WEIGHTS = np.array([[1.0, 0.0], [0.1192, 0.8808]])
CAUSAL_OUTPUT = np.array([[10.0, 0.0, 1.0], [1.192, 8.808, 1.0]])

# Two texts of three words, of width five, with values of width four. Of the first text two words are real, of the
# second none.
QUERIES = np.array(
    [
        [[2.0, 1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, -1.0, -1.0, 2.0], [1.0, 2.0, 1.0, 1.0, 2.0]],
        [[1.0, 1.0, 1.0, 1.0, 2.0], [0.0, 2.0, 1.0, -1.0, 0.0], [2.0, 1.0, -1.0, 2.0, 1.0]],
    ]
)
KEYS = np.array(
    [
        [[2.0, -1.0, -1.0, -1.0, -1.0], [2.0, 2.0, 1.0, -1.0, -1.0], [0.0, 0.0, 1.0, 0.0, 0.0]],
        [[-1.0, 1.0, 1.0, -1.0, -1.0], [0.0, 0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 1.0, -1.0, 1.0]],
    ]
)
VALUES = np.array(
    [
        [[6.0, 8.0, 0.0, 8.0], [4.0, 5.0, 6.0, 2.0], [9.0, 0.0, 2.0, 3.0]],
        [[5.0, 4.0, 1.0, 0.0], [0.0, 0.0, 1.0, 9.0], [1.0, 6.0, 7.0, 2.0]],
    ]
)
PADDING = np.array([[[True, True, False]], [[False, False, False]]])
TEXT_OUTPUT = np.array([[6.0, 8.0, 0.0, 8.0], [5.8069, 7.7103, 0.5793, 7.4207], [5.0571, 4.0513, 5.059, 2.3328]])
TEXT_WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.9034, 0.0966, 0.0], [0.0217, 0.7756, 0.2027]])
PADDED_WEIGHTS = np.array(
    [
        [[1.0, 0.0, 0.0], [0.9034, 0.0966, 0.0], [0.0272, 0.9728, 0.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
PADDED_OUTPUT = np.array(
    [
        [[6.0, 8.0, 0.0, 8.0], [5.8069, 7.7103, 0.5793, 7.4207], [4.0544, 5.0815, 5.8369, 2.1631]],
        [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]],
    ]
)
BATCH_WEIGHTS = np.array(
    [
        [[1.0, 0.0, 0.0], [0.9034, 0.0966, 0.0], [0.0217, 0.7756, 0.2027]],
        [[1.0, 0.0, 0.0], [0.7928, 0.2072, 0.0], [0.0612, 0.5726, 0.3662]],
    ]
)
# The first text's queries a hundred thousand times as large.
SURE = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])

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

STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


@pytest.mark.exercise("causal_mask")
class TestCausalMask:
    def test_three_words(self, student):
        """For three words: one True in the first row, two in the second, three in the third."""
        with shown("Row i says at whom word i may look: at itself and at what came before. Is it so?", length=3):
            same(expect.array(student.causal_mask(3)), CAUSAL)

    def test_truth_values(self, student):
        """The mask holds truth values: its dtype is bool."""
        with shown("What kind of value does a comparison give?", length=3):
            expect.dtype(expect.array(student.causal_mask(3)), np.bool_)


@pytest.mark.exercise("padding_mask")
class TestPaddingMask:
    def test_shape(self, student):
        """Three texts, max_length 5: shape (3, 1, 5)."""
        lengths = np.array([4, 2, 3])
        with shown("Which axis is where the queries would be?", lengths=lengths, max_length=5):
            expect.shape(expect.array(student.padding_mask(lengths, 5)), (3, 1, 5))

    def test_three_texts(self, student):
        """Lengths 4, 2, 3: as many True in each row, from the left, and the rest False."""
        with shown(
            "True on real words, False on padding: what is compared with what?", lengths=[4, 2, 3], max_length=5
        ):
            got = expect.array(student.padding_mask([4, 2, 3], 5))
            same(got, np.array([[[1, 1, 1, 1, 0]], [[1, 1, 0, 0, 0]], [[1, 1, 1, 0, 0]]]) == 1)
            expect.dtype(got, np.bool_)

    def test_one_text(self, student):
        """One text alone, max_length 3: shape (1, 1, 3)."""
        with shown("A batch of one text has how many axes?", lengths=[2], max_length=3):
            same(expect.array(student.padding_mask([2], 3)), np.array([[[1, 1, 0]]]) == 1)

    def test_full_and_empty(self, student):
        """A text of length 0 has no real word, one of max_length no padding."""
        with shown("What does your code do for 0, and for max_length itself?", lengths=[0, 4], max_length=4):
            same(expect.array(student.padding_mask([0, 4], 4)), np.array([[[0, 0, 0, 0]], [[1, 1, 1, 1]]]) == 1)


@pytest.mark.exercise("masked_softmax")
class TestMaskedSoftmax:
    def test_worked_example(self, student):
        """The three words of the worked example get the weights worked out by hand."""
        with shown("Which scores take part in the sum of each row?", scores=SCORES, mask=CAUSAL):
            same(expect.array(student.masked_softmax(SCORES, CAUSAL)), WEIGHTS)

    def test_a_million_behind_the_mask(self, student):
        """A masked score of a million changes nothing."""
        scores = np.where(CAUSAL, SCORES, 1e6)
        with shown("Where does the masked score still take part?", scores=scores, mask=CAUSAL):
            same(expect.array(student.masked_softmax(scores, CAUSAL)), WEIGHTS)

    def test_minus_a_million_in_front_of_it(self, student):
        """Scores of a million, and of minus a million, are scores like any others."""
        scores = np.array([[1.0, 3.0, 0.0], [1e6 + 1, 1e6 + 3, 5.0], [-1e6 - 3, -1e6 - 1, 5.0]])
        mask = np.array([[True, True, False]])
        with shown(
            "Which numbers go into np.exp, and is what hides a score lower than every score?", scores=scores, mask=mask
        ):
            same(expect.array(student.masked_softmax(scores, mask)), WEIGHTS[[1, 1, 1]])

    def test_nothing_allowed(self, student):
        """Where nothing is allowed, all weights are 0."""
        mask = np.array([[False, False, False]])
        with shown("What is the sum that you divide by?", scores=SCORES[:1], mask=mask):
            same(expect.array(student.masked_softmax(SCORES[:1], mask)), np.zeros((1, 3)), within=0)

    def test_padding(self, student):
        """A mask of shape (2, 1, 3) holds for every query of its text."""
        scores = np.stack([SCORES, SCORES - 4])
        mask = np.array([[[True, True, False]], [[True, False, True]]])
        wanted = np.array(
            [
                [[0.018, 0.982, 0.0], [0.1192, 0.8808, 0.0], [0.5, 0.5, 0.0]],
                [[0.018, 0.0, 0.982], [0.0003, 0.0, 0.9997], [0.5, 0.0, 0.5]],
            ]
        )
        with shown("Does your code need the mask to have the shape of the scores?", scores=scores, mask=mask):
            same(expect.array(student.masked_softmax(scores, mask)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the scores are as before."""
        with shown(STAYS, scores=SCORES, mask=CAUSAL):
            keeps(student.masked_softmax, SCORES, CAUSAL, names="scores mask")


@pytest.mark.exercise("causal_attention")
class TestCausalAttention:
    def attend(self, student, *arrays):
        output, weights = expect.pair(student.causal_attention(*arrays))
        return expect.array(output, what="output"), expect.array(weights, what="weights")

    def test_two_words(self, student):
        """Of two words the first sees itself; the second scores 1 and 3, so its weights are 0.12 and 0.88."""
        with shown("Are the dot products, 2 and 6 in the second row, divided by the square root of 4?", Q=Q, K=K, V=V):
            output, weights = self.attend(student, Q, K, V)
            same(weights, CAUSAL_WEIGHTS, "weights")
            same(output, CAUSAL_OUTPUT, "output", within=1e-3)

    def test_three_words(self, student):
        """Three words of width five, with values of width four."""
        with shown(
            "Row i: at whom may word i look, and by which root is a score divided?",
            Q=QUERIES[0],
            K=KEYS[0],
            V=VALUES[0],
        ):
            output, weights = self.attend(student, QUERIES[0], KEYS[0], VALUES[0])
            same(weights, TEXT_WEIGHTS, "weights")
            same(output, TEXT_OUTPUT, "output")

    def test_two_texts(self, student):
        """Two texts at once: each has weights of its own."""
        with shown("Which axes do you swap, when there are three?", Q=QUERIES, K=KEYS, V=VALUES):
            same(self.attend(student, QUERIES, KEYS, VALUES)[1], BATCH_WEIGHTS, "weights")

    def test_padding(self, student):
        """Two texts, one with a padded word, one with nothing else: both masks hold, and no row is NaN."""
        hint = "May a key be seen that passes only one mask, and what does a query do that may see none?"
        with shown(hint, Q=QUERIES, K=KEYS, V=VALUES, padding=PADDING):
            output, weights = self.attend(student, QUERIES, KEYS, VALUES, PADDING)
            same(weights, PADDED_WEIGHTS, "weights")
            same(output, PADDED_OUTPUT, "output")

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large still give finite weights, and no hidden key gets any."""
        given = {"Q": 1e5 * QUERIES[0], "K": KEYS[0], "V": VALUES[0]}
        with shown("What is np.exp(1000.0), and what does a hidden score become?", **given):
            same(self.attend(student, *given.values())[1], SURE, "weights")

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS, Q=Q, K=K, V=V):
            keeps(student.causal_attention, Q, K, V, names="Q K V")


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
            same(weights, CAUSAL_WEIGHTS, "weights")
            same(output, CAUSAL_OUTPUT, "output", within=1e-3)

    def test_three_queries(self, student):
        """Three queries look at four keys of width five, in two texts, each with a mask of its own."""
        hint = "Do you count axes from the end, and does the mask reach every query of its text?"
        with shown(hint, query=QUERIES, key=MORE_KEYS, value=MORE_VALUES, mask=SEEN):
            output, weights = self.attend(student, QUERIES, MORE_KEYS, MORE_VALUES, SEEN)
            same(weights, SEEN_WEIGHTS, "weights")
            same(output, SEEN_OUTPUT, "output")

    def test_without_mask(self, student):
        """Without a mask both words see both: weights 0.12 and 0.88 twice."""
        with shown("What does your code do when mask is None?", query=Q, key=K, value=V):
            same(self.attend(student, Q, K, V)[1], CAUSAL_WEIGHTS[[1, 1]], "weights")

    def test_nothing_allowed(self, student):
        """A query that may attend to nothing gets weights 0 and output 0."""
        mask = np.array([[False, False], [True, True]])
        with shown("What does softmax make of a row where nothing is allowed?", query=Q, key=K, value=V, mask=mask):
            output, weights = self.attend(student, Q, K, V, mask)
            same(weights, np.array([[0.0, 0.0], [0.1192, 0.8808]]), "weights")
            same(output, np.array([[0.0, 0.0, 0.0], [1.192, 8.808, 1.0]]), "output", within=1e-3)

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large still give finite weights, and no hidden key gets any."""
        given = {"query": 1e5 * QUERIES[0], "key": MORE_KEYS[0], "value": MORE_VALUES[0], "mask": SEEN[0]}
        with shown("What is the exp of 1000, and what does a hidden score become?", **given):
            same(self.attend(student, *given.values())[1], SURE_OF_FOUR, "weights")

    def test_gradients_arrive(self, student):
        """Gradients reach query, key and value, and stay finite where a query may attend to nothing."""
        attend, tensors = (
            student.torch_masked_attention,
            self.tensors(Q, K, V, np.array([[False, False], [True, True]])),
        )
        with shown("Which line lets go of a gradient, or sends a NaN back?", query=Q, key=K, value=V, mask=tensors[3]):
            arrives(attend.gradients(*tensors, seeds=[tensors[0][:, :3], None]).inputs[:3], "query key value")
            arrives(attend.gradients(*tensors, seeds=[None, tensors[0][:, :2]]).inputs[:2], "query key")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and what went in is as before."""
        with shown("Which line makes a new tensor, of which dtype?", query=Q, key=K, value=V, mask=CAUSAL[:2, :2]):
            tensors = self.tensors(Q, K, V, CAUSAL[:2, :2])
            keeps(student.torch_masked_attention, *tensors, names="query key value mask")
            expect.dtype(self.attend(student, Q, K, V)[0], np.float64)
