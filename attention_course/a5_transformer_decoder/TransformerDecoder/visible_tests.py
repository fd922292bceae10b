"""Visible tests of TransformerDecoder, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, shown

from ..shared_visible_tests import WAVES, block_of_waves, keeps_float64, run_module, waves


@pytest.mark.exercise("TransformerDecoder")
class TestTransformerDecoder:
    SIZES = (3, 4, 1, 2, 1, 5)  # vocab_size, d_model, num_heads, d_ff, num_layers, max_length
    # The block is silent: its branches add zeros.
    WEIGHTS = {"blocks.0.attention.W_O.weight": np.zeros((4, 4)), "blocks.0.feed_forward.2.weight": np.zeros((4, 2))}
    WEIGHTS |= {"blocks.0.feed_forward.2.bias": np.zeros(4), "norm.weight": np.ones(4), "norm.bias": np.zeros(4)}
    WEIGHTS |= {f"blocks.0.attention.W_{name}.weight": np.zeros((4, 4)) for name in "QKV"}
    WEIGHTS |= {f"blocks.0.norm_{n}.weight": np.ones(4) for n in (1, 2)}
    WEIGHTS |= {f"blocks.0.norm_{n}.bias": np.zeros(4) for n in (1, 2)}
    WEIGHTS |= {"blocks.0.feed_forward.0.weight": np.zeros((2, 4)), "blocks.0.feed_forward.0.bias": np.zeros(2)}
    WEIGHTS |= {"embedding.weight": [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]}
    WEIGHTS |= {"output.weight": [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]}
    WEIGHTS |= {"output.bias": [0.0, 0.0, 0.5]}

    # No two sizes alike: seven tokens, width six, three heads, five numbers between, two blocks, at most eight tokens.
    WIDE = (7, 6, 3, 5, 2, 8)
    IDS = [[3, 0, 6, 2], [5, 5, 1, 4]]
    PADDING = np.array([[[False, True, True, True]], [[True, True, True, False]]])
    # Of the first text, from the first block alone.
    ONE_BLOCK = [
        [-0.1554, -0.116, 1.2883, -0.7578, 0.3527, -1.443, 1.2771],
        [0.3465, -3.6608, -1.559, 0.9032, 4.2989, -0.493, -2.0406],
        [1.5221, -2.2394, -1.7942, -0.6738, 3.4907, 0.5492, -0.5428],
        [0.01, -0.5133, 0.86, -0.6438, 0.8564, -1.2237, 0.9185],
    ]
    LOGITS = np.array(
        [
            [
                [1.3357, -3.0709, -2.1579, -0.0829, 4.2453, 0.4577, -1.358],
                [1.2188, -3.5389, -2.3507, 0.2576, 4.6634, 0.3938, -1.8184],
                [1.9421, -2.4328, -2.3421, -0.8428, 3.9267, 1.0068, -0.6761],
                [1.4028, -1.0408, -0.8818, -1.2687, 2.1847, 0.2801, 0.585],
            ],
            [
                [2.388, -1.5457, -2.201, -1.6367, 3.2604, 1.3598, 0.2237],
                [2.44, -1.3936, -2.1525, -1.7566, 3.1325, 1.3951, 0.3749],
                [-1.0441, -0.9036, 1.6559, 0.2731, 0.667, -2.2658, 0.4183],
                [2.2018, -0.8227, -1.5365, -1.9199, 2.4085, 1.0794, 0.8901],
            ],
        ]
    )
    PADDED = np.array(
        [
            [
                [-0.1577, -0.4728, 1.0545, -0.5556, 0.7201, -1.402, 0.9367],
                [0.3291, -1.9271, -0.3946, -0.06, 2.4971, -0.7218, -0.3903],
                [1.8639, -1.3129, -1.5229, -1.4208, 2.7252, 0.7898, 0.3818],
                [-0.334, -0.6313, 1.1259, -0.3499, 0.7849, -1.5649, 0.7642],
            ],
            [
                [2.388, -1.5457, -2.201, -1.6367, 3.2604, 1.3598, 0.2237],
                [2.44, -1.3936, -2.1525, -1.7566, 3.1325, 1.3951, 0.3749],
                [-1.0441, -0.9036, 1.6559, 0.2731, 0.667, -2.2658, 0.4183],
                [2.2014, -0.7792, -1.5073, -1.9442, 2.3633, 1.0737, 0.9316],
            ],
        ]
    )

    def run(self, student, ids, weights, sizes=SIZES, padding=None, dtype="float32", **more):
        import torch

        more |= {} if padding is None else {"padding": torch.tensor(padding)}
        ids = torch.tensor(ids)
        return run_module(student.TransformerDecoder, sizes, weights, token_ids=ids, dtype=dtype, **more)

    def of_waves(self, student, ids=IDS, blocks=2, silent=0, **more):
        blocks = 1 if silent else blocks
        weights = {"embedding.weight": waves(0.9, 7, 6), "norm.weight": waves(1.3, 6), "norm.bias": waves(1.7, 6)}
        weights |= {"output.weight": waves(2.3, 7, 6), "output.bias": waves(2.9, 7)}
        for number in range(blocks):
            of_block = block_of_waves(6, 5, 3 + 20 * number)
            weights |= {f"blocks.{silent + number}.{k}": v for k, v in of_block.items()}
        for number in range(silent):
            weights |= {f"blocks.{number}.{k}": 0 * v for k, v in block_of_waves(6, 5, 3).items()}
        return self.run(student, ids, weights, (*self.WIDE[:4], silent + blocks, self.WIDE[5]), **more)

    def test_parameters(self, student):
        """The count by hand: for a vocabulary of 11, d_model = 8, d_ff = 16 and one block, 771 numbers."""
        with shown("Compare it with the table above: which part is too much, missing, or of another size?"):
            got = student.TransformerDecoder.build(11, 8, 2, 16, 1, 6)
            total = sum(int(np.prod(shape)) for shape in got.values())
        more = [name for name in got if name.partition(".")[0] not in ("embedding", "blocks", "norm", "output")]
        with shown("Which members hold something to learn? What are the others, if not parameters?"):
            if more:
                expect.fail(f"it has {total}. The table has no {', '.join(more[:3])}.")
        with shown("Compare it with the table above: which part is too much, missing, or of another size?"):
            if total != 771:
                expect.fail(f"it has {total}: {', '.join(got) or 'no parameters'}.")

    def test_before_and_after_the_blocks(self, student):
        """The example by hand: with a silent block, token 2 at place 0 gets the logits (-1.34, 1.34, 0.5)."""
        wanted = np.array([[[-1.3416, 1.3416, 0.5], [1.6358, -0.0919, 0.5]]])
        hint = "Which step has other numbers: the scaled embedding, the position, the norm, or the output layer?"
        with shown(hint, sizes=self.SIZES, token_ids=[[2, 0]]):
            close(expect.tensor(self.run(student, [[2, 0]], self.WEIGHTS).value), wanted, "logits", within=5e-4)

    def test_one_block(self, student):
        """One text of four tokens, one block, and weights of which no two are alike."""
        hint = "What goes into the block, and what goes from it to the last norm?"
        with shown(hint, sizes=(7, 6, 3, 5, 1, 8), weights=WAVES, token_ids=self.IDS[:1]):
            got = expect.tensor(self.of_waves(student, self.IDS[:1], 1).value)
            close(got, [self.ONE_BLOCK], "logits", within=5e-4)

    def test_two_blocks(self, student):
        """Two texts of four tokens, two blocks, and weights of which no two are alike."""
        hint = "Does each block get what the one before it gave, and where does the last norm stand?"
        with shown(hint, sizes=self.WIDE, weights=WAVES, token_ids=self.IDS):
            close(expect.tensor(self.of_waves(student).value), self.LOGITS, "logits", within=5e-4)

    def test_padding(self, student):
        """The same with padding: every block gets it."""
        with shown(
            "Which blocks get padding?", sizes=self.WIDE, weights=WAVES, token_ids=self.IDS, padding=self.PADDING
        ):
            got = expect.tensor(self.of_waves(student, padding=self.PADDING).value)
            expect.shape(got, self.PADDED.shape)
            expect.finite(got)
            close(got, self.PADDED, "logits", within=5e-4)

    def test_causal(self, student):
        """The logits of the first two tokens do not depend on the third."""
        weights = self.WEIGHTS | {"blocks.0.attention.W_O.weight": np.eye(4)}
        weights |= {f"blocks.0.attention.W_{name}.weight": np.eye(4) for name in "QKV"}
        with shown("At whom may the first token look?", sizes=self.SIZES, token_ids=[[2, 0, 1], [2, 0, 2]]):
            one, other = (expect.tensor(self.run(student, [ids], weights).value) for ids in ([2, 0, 1], [2, 0, 2]))
            expect.shape(one, (1, 3, 3), what="logits")
            close(other[:, :2], one[:, :2], "with token 2 at the end, the logits before it")

    def test_longest_text(self, student):
        """A text as long as max_length, 8 tokens, gives a row of logits for each."""
        import torch

        ids = torch.tensor([[3, 0, 6, 2, 5, 1, 4, 2]])
        with shown("Which size says how many positions there are?", "shape", token_ids=ids):
            shapes = student.TransformerDecoder.build(*self.WIDE)
            weights = {name: torch.zeros(shape) for name, shape in shapes.items()}
            got = student.TransformerDecoder.run(self.WIDE, weights, ids).value
            expect.shape(expect.tensor(got), (1, 8, 7))

    def test_shorter_text_before(self, student):
        """The same model gives the same after a text of two tokens: it keeps nothing of a call."""
        import torch

        question = "What does your model keep from one call to the next?"
        with shown(question, "exception", "shape", sizes=self.WIDE, weights=WAVES, token_ids=self.IDS):
            before = [torch.tensor([[3, 0]])]
            close(expect.tensor(self.of_waves(student, after=before).value), self.LOGITS, "logits", within=5e-4)

    def test_three_hundred_tokens(self, student):
        """A text of 300 tokens: the last one gets the position 299."""
        ids = [[2, 0, 1] * 100]
        with shown(
            "Which positions are there, and which one does token 299 get?", "exception", "shape", max_length=300
        ):
            got = expect.tensor(self.run(student, ids, self.WEIGHTS, (*self.SIZES[:5], 300)).value)
            expect.shape(got, (1, 300, 3), what="logits")
            close(
                got[0, [6, 299]],
                [[-1.3997, 1.2767, 0.5], [-0.5838, -1.1657, 0.5]],
                "the logits at 6 and 299",
                within=1e-3,
            )

    def test_many_blocks(self, student):
        """Thirteen blocks, of which the first twelve are silent, give what the last one gives as the only block."""
        with shown(
            "How many blocks does a text go through?", "exception", "shape", num_layers=13, token_ids=self.IDS[:1]
        ):
            got = expect.tensor(self.of_waves(student, self.IDS[:1], silent=12).value)
            close(got, [self.ONE_BLOCK], "logits", within=5e-4)

    def test_gradients_arrive(self, student):
        """A gradient reaches every parameter, the embedding among them."""
        import torch

        with shown(
            "Which line lets go of a gradient?",
            "exception",
            "shape",
            sizes=self.WIDE,
            weights=WAVES,
            token_ids=self.IDS,
        ):
            got = self.of_waves(student, seeds=[torch.tensor(waves(0.3, 2, 4, 7)).float()])
            arrives(got.parameters.values(), " ".join(got.parameters))

    def test_dtype(self, student):
        """A model in float64 gives logits in float64."""
        with shown("Which line makes a new tensor, of which dtype?"):
            keeps_float64(expect.tensor(self.of_waves(student, dtype="float64").value))
