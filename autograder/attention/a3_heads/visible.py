"""Visible checks of a3. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import arrives, keeps, same, shown

X = np.array([[11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [21.0, 22.0, 23.0, 24.0, 25.0, 26.0]])
HEAD_0 = np.array([[11.0, 12.0, 13.0], [21.0, 22.0, 23.0]])
HEAD_1 = np.array([[14.0, 15.0, 16.0], [24.0, 25.0, 26.0]])

# Two texts of four tokens, six columns; 132 is the first text's third token, second column.
TEXTS = np.array(
    [
        [
            [111.0, 112.0, 113.0, 114.0, 115.0, 116.0],
            [121.0, 122.0, 123.0, 124.0, 125.0, 126.0],
            [131.0, 132.0, 133.0, 134.0, 135.0, 136.0],
            [141.0, 142.0, 143.0, 144.0, 145.0, 146.0],
        ],
        [
            [211.0, 212.0, 213.0, 214.0, 215.0, 216.0],
            [221.0, 222.0, 223.0, 224.0, 225.0, 226.0],
            [231.0, 232.0, 233.0, 234.0, 235.0, 236.0],
            [241.0, 242.0, 243.0, 244.0, 245.0, 246.0],
        ],
    ]
)
THREE_HEADS = np.array(
    [
        [
            [[111.0, 112.0], [121.0, 122.0], [131.0, 132.0], [141.0, 142.0]],
            [[113.0, 114.0], [123.0, 124.0], [133.0, 134.0], [143.0, 144.0]],
            [[115.0, 116.0], [125.0, 126.0], [135.0, 136.0], [145.0, 146.0]],
        ],
        [
            [[211.0, 212.0], [221.0, 222.0], [231.0, 232.0], [241.0, 242.0]],
            [[213.0, 214.0], [223.0, 224.0], [233.0, 234.0], [243.0, 244.0]],
            [[215.0, 216.0], [225.0, 226.0], [235.0, 236.0], [245.0, 246.0]],
        ],
    ]
)
W = np.array(
    [
        [11.0, 12.0, 13.0, 14.0, 15.0, 16.0],
        [21.0, 22.0, 23.0, 24.0, 25.0, 26.0],
        [31.0, 32.0, 33.0, 34.0, 35.0, 36.0],
        [41.0, 42.0, 43.0, 44.0, 45.0, 46.0],
        [51.0, 52.0, 53.0, 54.0, 55.0, 56.0],
    ]
)  # 32: third row, second column

STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


def tensor(array):
    """The array as a tensor; PyTorch is needed from the second half of the notebook on."""
    import torch

    return torch.tensor(array)


@pytest.mark.exercise("split_heads")
class TestSplitHeads:
    def test_two_heads(self, student):
        """Six columns, two heads: head 0 has the first three of each token, head 1 the last three."""
        with shown(
            "Which numbers of the second token belong to head 0, and which columns are head 1's?", X=X, num_heads=2
        ):
            same(expect.array(student.split_heads(X, 2)), np.array([HEAD_0, HEAD_1]))

    def test_three_heads(self, student):
        """Four tokens, six columns, three heads: each has two columns of every token."""
        with shown("First the heads, then the tokens: which columns are head 2's?", X=TEXTS[0], num_heads=3):
            same(expect.array(student.split_heads(TEXTS[0], 3)), THREE_HEADS[0])

    def test_batch(self, student):
        """Two texts in a batch: each gives what it gives alone, with the batch axis in front."""
        with shown("Count axes from the end: which are L and d_model?", X=TEXTS, num_heads=3):
            same(expect.array(student.split_heads(TEXTS, 3)), THREE_HEADS)
        with shown("And a batch of one?", X=TEXTS[:1], num_heads=3):
            same(expect.array(student.split_heads(TEXTS[:1], 3)), THREE_HEADS[:1])

    def test_does_not_divide(self, student):
        """Six columns make no four heads: a ValueError."""
        with shown("How many columns would be left over?"):
            expect.raises(ValueError, lambda: student.split_heads(X, 4))

    def test_float32(self, student):
        """float32 gives float32, and X is as before."""
        with shown(STAYS, X=X, num_heads=2):
            keeps(student.split_heads, X, 2, names="X num_heads")


@pytest.mark.exercise("concat_heads")
class TestConcatHeads:
    def test_two_heads(self, student):
        """Each token's numbers stand side by side again: first head 0's, then head 1's."""
        heads = np.array([HEAD_0, HEAD_1])
        with shown("The first row is the first token's: what do the two heads say about it?", heads=heads):
            same(expect.array(student.concat_heads(heads)), X)

    def test_three_heads(self, student):
        """Three heads of width two, four tokens."""
        with shown(
            "One row a token, and the heads' widths side by side: whose number comes third?", heads=THREE_HEADS[0]
        ):
            same(expect.array(student.concat_heads(THREE_HEADS[0])), TEXTS[0])

    def test_batch(self, student):
        """Two texts in a batch: each gives what it gives alone, with the batch axis in front."""
        with shown("Count axes from the end: which are h, L and d?", heads=THREE_HEADS):
            same(expect.array(student.concat_heads(THREE_HEADS)), TEXTS)
        with shown("And a batch of one?", heads=THREE_HEADS[:1]):
            same(expect.array(student.concat_heads(THREE_HEADS[:1])), TEXTS[:1])

    def test_float32(self, student):
        """float32 gives float32, and the heads are as before."""
        with shown(STAYS, heads=THREE_HEADS[0]):
            keeps(student.concat_heads, THREE_HEADS[0], names="heads")


@pytest.mark.exercise("per_head_weights")
class TestPerHeadWeights:
    def test_two_heads(self, student):
        """Two heads: head 0 owns the first three columns of W, head 1 the last three."""
        with shown("First the heads; each has as many rows as W. Which columns are whose?", W=W, num_heads=2):
            got = expect.array(student.per_head_weights(W, 2), "Can the heads' weights be made into one array?")
            same(
                got,
                np.array(
                    [
                        [
                            [11.0, 12.0, 13.0],
                            [21.0, 22.0, 23.0],
                            [31.0, 32.0, 33.0],
                            [41.0, 42.0, 43.0],
                            [51.0, 52.0, 53.0],
                        ],
                        [
                            [14.0, 15.0, 16.0],
                            [24.0, 25.0, 26.0],
                            [34.0, 35.0, 36.0],
                            [44.0, 45.0, 46.0],
                            [54.0, 55.0, 56.0],
                        ],
                    ]
                ),
            )

    def test_three_heads(self, student):
        """Six columns, three heads: each has weights of shape (5, 2)."""
        with shown("First the heads; each has as many rows as W. Which columns are whose?", W=W, num_heads=3):
            same(
                expect.array(student.per_head_weights(W, 3)),
                np.array(
                    [
                        [[11.0, 12.0], [21.0, 22.0], [31.0, 32.0], [41.0, 42.0], [51.0, 52.0]],
                        [[13.0, 14.0], [23.0, 24.0], [33.0, 34.0], [43.0, 44.0], [53.0, 54.0]],
                        [[15.0, 16.0], [25.0, 26.0], [35.0, 36.0], [45.0, 46.0], [55.0, 56.0]],
                    ]
                ),
            )

    def test_float32(self, student):
        """float32 gives float32, and W is as before."""
        with shown(STAYS, W=W, num_heads=2):
            keeps(student.per_head_weights, W, 2, names="W num_heads")


@pytest.mark.exercise("torch_split_heads")
class TestTorchSplitHeads:
    def test_two_heads(self, student):
        """The same cut as in NumPy: two heads of three columns each."""
        with shown(
            "Which numbers of the second token belong to head 0, and which columns are head 1's?", x=X, num_heads=2
        ):
            same(expect.tensor(student.torch_split_heads(tensor(X), 2)), np.array([HEAD_0, HEAD_1]))

    def test_batch(self, student):
        """Two texts in a batch, three heads."""
        with shown("Count axes from the end: which are L and d_model?", x=TEXTS, num_heads=3):
            same(expect.tensor(student.torch_split_heads(tensor(TEXTS), 3)), THREE_HEADS)

    def test_layout(self, student):
        """The same where the numbers lie in memory in another order: token by token, and not text by text."""
        turned = tensor(TEXTS.swapaxes(0, 1).copy()).transpose(0, 1)
        with shown("Which method insists on the order in memory, and which one copies where it has to?", num_heads=3):
            same(expect.tensor(student.torch_split_heads(turned, 3)), THREE_HEADS)

    def test_does_not_divide(self, student):
        """Six columns make no four heads: a ValueError."""
        with shown("How many columns would be left over?"):
            expect.raises(ValueError, lambda: student.torch_split_heads(tensor(X), 4))

    def test_gradient(self, student):
        """What head 1 says sends gradients to its own columns, and to no others."""
        seed = np.zeros((2, 2, 3))
        seed[1] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        with shown("Which columns of x does head 1 own, and does every line hand on a gradient?", x=X, num_heads=2):
            gradients = student.torch_split_heads.gradients(tensor(X), 2, seeds=[tensor(seed)]).inputs
            arrives(gradients[:1], "x")
            wanted = np.array([[0.0, 0.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 4.0, 5.0, 6.0]])
            same(gradients[0], wanted, "the gradient")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and x is as before."""
        with shown("Which line makes a new tensor, of which dtype?", x=X, num_heads=2):
            keeps(student.torch_split_heads, tensor(X), 2, names="x num_heads")
            expect.dtype(student.torch_split_heads(tensor(X), 2), np.float64)


@pytest.mark.exercise("torch_concat_heads")
class TestTorchConcatHeads:
    def test_two_heads(self, student):
        """Each token's numbers stand side by side again, as in NumPy."""
        heads = np.array([HEAD_0, HEAD_1])
        with shown("The first row is the first token's: what do the two heads say about it?", heads=heads):
            same(expect.tensor(student.torch_concat_heads(tensor(heads))), X)

    def test_batch(self, student):
        """Two texts in a batch, three heads of width two."""
        with shown("Count axes from the end: which are h, L and d?", heads=THREE_HEADS):
            same(expect.tensor(student.torch_concat_heads(tensor(THREE_HEADS))), TEXTS)

    def test_gradient(self, student):
        """A gradient reaches the heads, each number's its own."""
        heads = tensor(np.array([HEAD_0, HEAD_1]))
        with shown("By which way did each number come, and does every line hand on a gradient?", heads=heads):
            gradients = student.torch_concat_heads.gradients(heads, seeds=[tensor(X)]).inputs
            arrives(gradients, "heads")
            same(gradients[0], np.array([HEAD_0, HEAD_1]), "the gradient")

    def test_float32(self, student):
        """float32 gives float32, float64 gives float64, and the heads are as before."""
        with shown("Which line makes a new tensor, of which dtype?", heads=THREE_HEADS[0]):
            keeps(student.torch_concat_heads, tensor(THREE_HEADS[0]), names="heads")
            expect.dtype(student.torch_concat_heads(tensor(THREE_HEADS[0])), np.float64)
