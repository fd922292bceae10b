"""Visible checks of a5. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.judging import expect

EYE = np.eye(2)


@pytest.mark.exercise("positional_encoding")
class TestPositionalEncoding:
    def test_first_positions(self, student):
        """The example by hand: three positions, d_model = 4."""
        wanted = np.array([[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 0.99995], [0.9093, -0.4161, 0.02, 0.9998]])
        got = expect.array(student.positional_encoding(3, 4))
        hint = "Which columns are sines, and which angle has each pair?"
        expect.close(got, wanted, hint, atol=1e-3)

    def test_odd_width(self, student):
        """With d_model = 3, the last column is a sine without its cosine."""
        got = expect.array(student.positional_encoding(2, 3))
        wanted = np.array([[0.0, 1.0, 0.0], [0.8415, 0.5403, 0.00215]])
        expect.close(got, wanted, "How many sines are there, and how many cosines?", atol=1e-3)


@pytest.mark.exercise("layer_norm")
class TestLayerNorm:
    X = np.array([1.0, 3.0, 5.0, 7.0])

    def test_one_word(self, student):
        """The example by hand: (1, 3, 5, 7) with gamma (2, 2, 1, 1) and beta (0, 0, 0, 10)."""
        got = student.layer_norm(self.X, np.array([2.0, 2.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 10.0]))
        wanted = np.array([-2.6833, -0.8944, 0.4472, 11.3416])
        expect.close(expect.array(got), wanted, "What is the variance, and what do you divide by?", atol=1e-3)

    def test_two_words(self, student):
        """Two words, the second ten times the first: both become the same."""
        got = student.layer_norm(np.stack([self.X, 10 * self.X]), np.ones(4), np.zeros(4))
        wanted = np.array([[-1.3416, -0.4472, 0.4472, 1.3416]] * 2)
        expect.close(expect.array(got), wanted, "How many means are there for two words?", atol=1e-3)


@pytest.mark.exercise("feed_forward")
class TestFeedForward:
    W_1, b_1 = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]), np.array([-3.0, 0.0, 1.0])
    W_2, b_2 = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.5, -1.0])

    def test_one_word(self, student):
        """The example by hand: (1, 2) becomes (2.5, 4)."""
        got = student.feed_forward(np.array([1.0, 2.0]), self.W_1, self.b_1, self.W_2, self.b_2)
        expect.close(expect.array(got), np.array([2.5, 4.0]), "Which number is set to zero, and when?")

    def test_three_words(self, student):
        """Three words: each goes through on its own."""
        x = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5]])
        got = student.feed_forward(x, self.W_1, self.b_1, self.W_2, self.b_2)
        expect.close(expect.array(got), np.array([[2.5, 4.0], [0.5, 5.0], [1.0, 0.5]]), "Is a result below zero lost?")


def tensors(weights):
    """Weights by name as PyTorch tensors."""
    import torch

    return {name: torch.tensor(value, dtype=torch.float32) for name, value in weights.items()}


@pytest.mark.exercise("DecoderBlock")
class TestDecoderBlock:
    # Words look evenly at all they may see, and the attention hands on what it finds.
    WEIGHTS = {"attention.W_Q.weight": 0 * EYE, "attention.W_K.weight": 0 * EYE, "attention.W_V.weight": EYE}
    WEIGHTS |= {"attention.W_O.weight": EYE, "norm_1.weight": [1.0, 1.0], "norm_1.bias": [0.0, 0.0]}
    WEIGHTS |= {"norm_2.weight": [1.0, 1.0], "norm_2.bias": [0.0, 0.0]}
    WEIGHTS |= {"feed_forward.0.weight": EYE, "feed_forward.0.bias": [0.0, 0.0]}
    WEIGHTS |= {"feed_forward.2.weight": 10 * EYE, "feed_forward.2.bias": [0.0, 0.0]}

    def run(self, student, **more):
        import torch

        x = torch.tensor([[[3.0, 1.0], [0.0, 2.0]]])
        return expect.tensor(student.DecoderBlock.run((2, 1, 2), tensors(self.WEIGHTS), x, **more).value)

    def test_parameters(self, student):
        """DecoderBlock(8, 2, 16) has 568 numbers to learn: attention, feed-forward and two norms."""
        got = student.DecoderBlock.build(8, 2, 16)
        total = sum(int(np.prod(shape)) for shape in got.values())
        if total != 568:
            expect.fail(f"it has {total}: {', '.join(got) or 'no parameters'}.", "Which members does the text name?")

    def test_output(self, student):
        """The example by hand: the two words become (14, 0) and (0, 12)."""
        hint = "Follow the example step by step: what goes into each branch, and what is it added to?"
        expect.close(self.run(student), np.array([[[14.0, 0.0], [0.0, 12.0]]]), hint, "the output", atol=1e-3)

    def test_padding(self, student):
        """Where the first word is padding, it gets (13, 1), and the second sees only itself: (-1, 13)."""
        import torch

        got = self.run(student, padding=torch.tensor([[[False, True]]]))
        hint = "Both masks must hold. At whom may each of the two words look?"
        expect.close(got, np.array([[[13.0, 1.0], [-1.0, 13.0]]]), hint, "the output", atol=1e-3)


@pytest.mark.exercise("TransformerDecoder")
class TestTransformerDecoder:
    SIZES = (3, 4, 1, 2, 1, 5)  # vocab_size, d_model, num_heads, d_ff, num_layers, max_length
    # The block is silent: its branches add zeros.
    WEIGHTS = {"blocks.0.attention.W_O.weight": np.zeros((4, 4)), "blocks.0.feed_forward.2.weight": np.zeros((4, 2))}
    WEIGHTS |= {"blocks.0.feed_forward.2.bias": np.zeros(4), "norm.weight": np.ones(4), "norm.bias": np.zeros(4)}
    WEIGHTS |= {"embedding.weight": [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]}
    WEIGHTS |= {"output.weight": [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]}
    WEIGHTS |= {"output.bias": [0.0, 0.0, 0.5]}

    def run(self, student, ids, weights):
        import torch

        got = student.TransformerDecoder.run(self.SIZES, tensors(weights), token_ids=torch.tensor([ids]))
        return expect.tensor(got.value)

    def test_parameters(self, student):
        """The count by hand: for a vocabulary of 11, d_model = 8, d_ff = 16 and one block, 771 numbers."""
        got = student.TransformerDecoder.build(11, 8, 2, 16, 1, 6)
        total = sum(int(np.prod(shape)) for shape in got.values())
        if total != 771:
            expect.fail(f"it has {total}: {', '.join(got) or 'no parameters'}.", "Compare it with the table above.")

    def test_before_and_after_the_blocks(self, student):
        """The example by hand: with a silent block, token 2 at place 0 gets the logits (-1.34, 1.34, 0.5)."""
        got = self.run(student, [2, 0], self.WEIGHTS)
        wanted = np.array([[[-1.3416, 1.3416, 0.5], [1.6358, -0.0919, 0.5]]])
        hint = "Follow the example step by step. What is the embedding multiplied by, and which position is added?"
        expect.close(got, wanted, hint, "the logits", atol=1e-3)

    def test_causal(self, student):
        """The logits of the first two tokens do not depend on the third."""
        weights = self.WEIGHTS | {"blocks.0.attention.W_O.weight": np.eye(4)}
        weights |= {f"blocks.0.attention.W_{name}.weight": np.eye(4) for name in "QKV"}
        one, other = self.run(student, [2, 0, 1], weights), self.run(student, [2, 0, 2], weights)
        expect.shape(one, (1, 3, 3), what="the logits")
        expect.shape(other, (1, 3, 3), what="the logits")
        expect.close(one[:, :2], other[:, :2], "At whom may the first token look?", "the logits before", atol=1e-4)
