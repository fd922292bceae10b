"""Visible checks of a5. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import arrives, keeps, same, shown

EYE = np.eye(2)
STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


def waves(speed, *shape):
    """Numbers from -1 to 1, no two alike: the sines of 1, 2, 3, ... times speed."""
    return np.sin(speed * np.arange(1, np.prod(shape) + 1)).reshape(shape)


@pytest.mark.exercise("positional_encoding")
class TestPositionalEncoding:
    def test_first_positions(self, student):
        """The example by hand: three positions, d_model = 4."""
        with shown("Which columns are sines, and which angle has each pair?", length=3, d_model=4):
            same(
                expect.array(student.positional_encoding(3, 4)),
                np.array([[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0], [0.9093, -0.4161, 0.02, 0.9998]]),
            )

    def test_many_columns(self, student):
        """Two positions, d_model = 6: three pairs, and each has a speed of its own."""
        with shown("What is the exponent of the last pair, and does it depend on d_model?", length=2, d_model=6):
            same(
                expect.array(student.positional_encoding(2, 6)),
                np.array([[0.0, 1.0, 0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0464, 0.9989, 0.0022, 1.0]]),
            )

    def test_odd_width(self, student):
        """With d_model = 3, the last column is a sine without its cosine."""
        with shown("How many sines are there, and how many cosines?", length=2, d_model=3):
            same(expect.array(student.positional_encoding(2, 3)), np.array([[0.0, 1.0, 0.0], [0.8415, 0.5403, 0.0022]]))


@pytest.mark.exercise("layer_norm")
class TestLayerNorm:
    X = np.array([1.0, 3.0, 5.0, 7.0])
    GAMMA, BETA = np.array([2.0, 2.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 10.0])

    def test_one_word(self, student):
        """The example by hand: (1, 3, 5, 7) with gamma (2, 2, 1, 1) and beta (0, 0, 0, 10)."""
        with shown("What is the variance, and what do you divide by?", x=self.X, gamma=self.GAMMA, beta=self.BETA):
            same(
                expect.array(student.layer_norm(self.X, self.GAMMA, self.BETA)),
                np.array([-2.6833, -0.8944, 0.4472, 11.3416]),
            )

    def test_two_words(self, student):
        """Two words, the second ten times the first: both become the same."""
        x, gamma, beta = np.stack([self.X, 10 * self.X]), np.ones(4), np.zeros(4)
        with shown("How many means are there for two words?", x=x, gamma=gamma, beta=beta):
            same(expect.array(student.layer_norm(x, gamma, beta)), np.array([[-1.3416, -0.4472, 0.4472, 1.3416]] * 2))

    def test_two_texts(self, student):
        """Two texts of three words, each number scaled and shifted: every word has a mean of its own."""
        x = np.array(
            [
                [[1.0, 1.0, 3.0, 5.0], [-3.0, -2.0, 4.0, 5.0], [-1.0, -1.0, 4.0, 0.0]],
                [[-1.0, 4.0, -1.0, 0.0], [2.0, 1.0, -3.0, -3.0], [4.0, 3.0, 4.0, 1.0]],
            ]
        )
        gamma, beta = np.array([2.0, -1.0, 3.0, 0.5]), np.array([1.0, 2.0, -1.0, 3.0])
        wanted = np.array(
            [
                [
                    [-0.8091, 2.9045, -0.0955, 3.7538],
                    [-1.2627, 2.8485, 1.5456, 3.5657],
                    [-0.4552, 2.7276, 4.0932, 2.8787],
                ],
                [[-0.4552, 0.3023, -3.1828, 2.8787], [3.4148, 1.2317, -3.9636, 2.5061], [2.633, 2.0, 1.4495, 2.1835]],
            ]
        )
        with shown(
            "Which axis holds a word's features, and is beta added before gamma or after it?",
            x=x,
            gamma=gamma,
            beta=beta,
        ):
            same(expect.array(student.layer_norm(x, gamma, beta)), wanted)

    def test_eps(self, student):
        """With eps = 4, (1, 3, 5, 7) is divided by the root of 5 + 4, which is 3."""
        with shown(
            "What is eps added to, the variance or its root?", x=self.X, gamma=np.ones(4), beta=np.zeros(4), eps=4.0
        ):
            got = student.layer_norm(self.X, np.ones(4), np.zeros(4), eps=4.0)
            same(expect.array(got), np.array([-1.0, -0.3333, 0.3333, 1.0]))

    def test_all_equal(self, student):
        """A word whose features are all equal becomes beta."""
        x = np.array([2.0, 2.0, 2.0, 2.0])
        with shown(
            "What is the variance of this word, and what keeps you from dividing by it?",
            x=x,
            gamma=self.GAMMA,
            beta=self.BETA,
        ):
            same(expect.array(student.layer_norm(x, self.GAMMA, self.BETA)), self.BETA)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS):
            keeps(student.layer_norm, self.X, self.GAMMA, self.BETA, names="x gamma beta")


@pytest.mark.exercise("feed_forward")
class TestFeedForward:
    W_1, b_1 = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]), np.array([-3.0, 0.0, 1.0])
    W_2, b_2 = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.5, -1.0])
    LAYERS = {"W_1": W_1, "b_1": b_1, "W_2": W_2, "b_2": b_2}

    def test_one_word(self, student):
        """The example by hand: (1, 2) becomes (2.5, 4)."""
        x = np.array([1.0, 2.0])
        with shown("Which number is set to zero, and when?", x=x, **self.LAYERS):
            same(expect.array(student.feed_forward(x, *self.LAYERS.values())), np.array([2.5, 4.0]))

    def test_four_words(self, student):
        """Four words: each goes through on its own, and the last one ends below zero."""
        x = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5], [0.0, -1.0]])
        wanted = np.array([[2.5, 4.0], [0.5, 5.0], [1.0, 0.5], [0.5, -1.0]])
        with shown("Is a result below zero lost?", x=x, **self.LAYERS):
            same(expect.array(student.feed_forward(x, *self.LAYERS.values())), wanted)

    def test_float32(self, student):
        """float32 gives float32, and what went in is as before."""
        with shown(STAYS):
            x = np.array([1.0, 2.0])
            keeps(student.feed_forward, x, *self.LAYERS.values(), names="x W_1 b_1 W_2 b_2")


def tensors(weights, dtype="float32"):
    """Weights by name as PyTorch tensors."""
    import torch

    return {name: torch.tensor(value, dtype=getattr(torch, dtype)) for name, value in weights.items()}


def run_module(module, sizes, weights, *args, dtype="float32", **more):
    """Construct a module with `sizes`, copy weights in by name, and call it.

    The two layers of the feed-forward network may have names of their own; they are found by their shapes.
    """
    shapes = module.build(*sizes)
    found = {}
    for name, value in weights.items():
        head, among, tail = name.rpartition("feed_forward.")
        fits = [own for own, shape in shapes.items() if shape == np.shape(value) and own.startswith(head + among)]
        fits = [own for own in fits if own.endswith(tail.rpartition(".")[2])]
        found[fits[0] if among and name not in shapes and len(fits) == 1 else name] = value
    return module.run(sizes, tensors(found, dtype), *args, **more)


def block_of_waves(d_model, d_ff, first):
    """A block's weights, no two alike."""
    square, wide = (d_model, d_model), (d_ff, d_model)
    shapes = {f"attention.W_{name}.weight": square for name in "QKVO"}
    shapes |= {f"norm_{n}.{part}": (d_model,) for n in (1, 2) for part in ("weight", "bias")}
    shapes |= {"feed_forward.0.weight": wide, "feed_forward.0.bias": (d_ff,)}
    shapes |= {"feed_forward.2.weight": wide[::-1], "feed_forward.2.bias": (d_model,)}
    return {name: waves(first + i, *shape) for i, (name, shape) in enumerate(shapes.items())}


WAVES = "sines, no two alike"


@pytest.mark.exercise("DecoderBlock")
class TestDecoderBlock:
    # Words look evenly at all they may see, and the attention hands on what it finds.
    WEIGHTS = {"attention.W_Q.weight": 0 * EYE, "attention.W_K.weight": 0 * EYE, "attention.W_V.weight": EYE}
    WEIGHTS |= {"attention.W_O.weight": EYE, "norm_1.weight": [1.0, 1.0], "norm_1.bias": [0.0, 0.0]}
    WEIGHTS |= {"norm_2.weight": [1.0, 1.0], "norm_2.bias": [0.0, 0.0]}
    # A third number between the two layers is always 0.
    WEIGHTS |= {"feed_forward.0.weight": np.eye(3, 2), "feed_forward.0.bias": [0.0, 0.0, 0.0]}
    WEIGHTS |= {"feed_forward.2.weight": 10 * np.eye(2, 3), "feed_forward.2.bias": [0.0, 0.0]}
    X = np.array([[[3.0, 1.0], [0.0, 2.0]]])

    # No two sizes alike: three texts of four words, width six, two heads, five numbers between the two layers.
    SIZES = (6, 2, 5)
    TEXTS = waves(0.7, 3, 4, 6)
    PADDING = np.array([[[True, True, True, True]], [[False, True, True, True]], [[True, True, False, False]]])
    OUTPUTS = np.array(
        [
            [
                [-4.8534, 8.3597, -5.0726, 5.2586, -0.7007, 0.3626],
                [-3.7446, 4.8907, -0.5524, 2.8057, -2.29, 3.9681],
                [-2.8448, 3.6176, 1.9196, -0.5488, -3.0541, 0.3903],
                [-2.5781, 5.9563, -0.7269, 2.7407, -1.3309, 0.2574],
            ],
            [
                [-3.9155, 5.2461, 0.7904, 1.5999, -2.5174, 3.6398],
                [-3.3109, 3.9904, 2.4122, -0.7084, -3.6891, 0.501],
                [-1.9696, 5.2209, 1.1153, 1.6353, -1.6799, 0.0354],
                [-4.4372, 4.6492, 1.1587, 2.4944, -2.8501, 3.0181],
            ],
            [
                [-4.3085, 3.8624, 3.33, -0.1884, -4.6743, 0.0377],
                [-2.1538, 5.0149, 0.4567, 2.4012, -1.5404, -0.148],
                [-4.7265, 4.4879, 1.3801, 2.7671, -2.911, 2.6361],
                [-3.5859, 3.6953, 2.4897, -0.3235, -3.7842, 0.3562],
            ],
        ]
    )
    PADDED = np.array(
        [
            [
                [-4.8534, 8.3597, -5.0726, 5.2586, -0.7007, 0.3626],
                [-3.7446, 4.8907, -0.5524, 2.8057, -2.29, 3.9681],
                [-2.8448, 3.6176, 1.9196, -0.5488, -3.0541, 0.3903],
                [-2.5781, 5.9563, -0.7269, 2.7407, -1.3309, 0.2574],
            ],
            [
                [-3.6035, 3.8517, -2.9741, 5.5717, -1.6268, 4.0123],
                [-4.1879, 3.7938, 3.2508, -0.1547, -4.5667, -0.0222],
                [-2.1868, 5.0634, 0.2993, 2.5091, -1.4536, -0.0999],
                [-4.7263, 4.4841, 1.2557, 2.7937, -2.9122, 2.7048],
            ],
            [
                [-4.3085, 3.8624, 3.33, -0.1884, -4.6743, 0.0377],
                [-2.1538, 5.0149, 0.4567, 2.4012, -1.5404, -0.148],
                [-5.2639, 4.0618, 1.802, 3.2261, -3.022, 1.9176],
                [-3.6587, 3.2835, 2.4625, 0.1123, -3.7111, 0.0794],
            ],
        ]
    )

    def run(self, student, sizes, weights, x, padding=None, dtype="float32", **more):
        import torch

        padding = None if padding is None else torch.tensor(padding)
        x = torch.tensor(x, dtype=getattr(torch, dtype))
        return run_module(student.DecoderBlock, sizes, weights, x, padding, dtype=dtype, **more)

    def by_hand(self, student, padding=None):
        return expect.tensor(self.run(student, (2, 1, 3), self.WEIGHTS, self.X, padding).value)

    def of_waves(self, student, padding=None, **more):
        return self.run(student, self.SIZES, block_of_waves(6, 5, 2), self.TEXTS, padding, **more)

    def test_parameters(self, student):
        """DecoderBlock(8, 2, 16) has 568 numbers to learn: attention, feed-forward and two norms."""
        with shown("Which members does the text name?", d_model=8, num_heads=2, d_ff=16):
            got = student.DecoderBlock.build(8, 2, 16)
            total = sum(int(np.prod(shape)) for shape in got.values())
            if total != 568:
                expect.fail(f"it has {total}: {', '.join(got) or 'no parameters'}.")

    def test_output(self, student):
        """The example by hand: the two words become (14, 0) and (0, 12)."""
        hint = "Follow the example step by step: what goes into each branch, and what is it added to?"
        with shown(hint, x=self.X):
            same(self.by_hand(student), np.array([[[14.0, 0.0], [0.0, 12.0]]]), within=1e-3)

    def test_padding_by_hand(self, student):
        """Where the first word is padding, it gets (13, 1), and the second sees only itself: (-1, 13)."""
        padding = np.array([[[False, True]]])
        with shown("Both masks must hold. At whom may each of the two words look?", x=self.X, padding=padding):
            same(self.by_hand(student, padding), np.array([[[13.0, 1.0], [-1.0, 13.0]]]), within=1e-3)

    def test_three_texts(self, student):
        """Three texts of four words, and weights of which no two are alike."""
        hint = "Which norm stands before which branch, what does each branch see, and what is it added to?"
        with shown(hint, sizes=self.SIZES, weights=WAVES, x=self.TEXTS):
            same(expect.tensor(self.of_waves(student).value), self.OUTPUTS, within=5e-4)

    def test_padding(self, student):
        """Three texts, each with its own padding, and two heads."""
        hint = "Each head of each text has scores of its own: does your mask reach the axes it is meant for?"
        with shown(hint, sizes=self.SIZES, weights=WAVES, x=self.TEXTS, padding=self.PADDING):
            same(expect.tensor(self.of_waves(student, self.PADDING).value), self.PADDED, within=5e-4)

    def test_gradients_arrive(self, student):
        """A gradient reaches x and every parameter."""
        import torch

        with shown("Which line lets go of it?", sizes=self.SIZES, weights=WAVES, x=self.TEXTS):
            got = self.of_waves(student, seeds=[torch.tensor(waves(0.3, 3, 4, 6)).float()])
            arrives(got.inputs[:1], "x")
            arrives(got.parameters.values(), " ".join(got.parameters))

    def test_dtype(self, student):
        """A block in float64 gives float64, and x is as before."""
        with shown("Which line makes a new tensor, of which dtype, and does one write into an old one?"):
            got = self.of_waves(student, self.PADDING, dtype="float64")
            expect.dtype(expect.tensor(got.value), np.float64)
            expect.unchanged(got.after, [self.TEXTS, self.PADDING], ["x", "padding"])


@pytest.mark.exercise("TransformerDecoder")
class TestTransformerDecoder:
    SIZES = (3, 4, 1, 2, 1, 5)  # vocab_size, d_model, num_heads, d_ff, num_layers, max_length
    # The block is silent: its branches add zeros.
    WEIGHTS = {"blocks.0.attention.W_O.weight": np.zeros((4, 4)), "blocks.0.feed_forward.2.weight": np.zeros((4, 2))}
    WEIGHTS |= {"blocks.0.feed_forward.2.bias": np.zeros(4), "norm.weight": np.ones(4), "norm.bias": np.zeros(4)}
    WEIGHTS |= {"embedding.weight": [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]}
    WEIGHTS |= {"output.weight": [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]}
    WEIGHTS |= {"output.bias": [0.0, 0.0, 0.5]}

    def test_longest_text(self, student):
        """A text as long as max_length, 8 tokens, gives a row of logits for each."""
        import torch

        ids = torch.tensor([[3, 0, 6, 2, 5, 1, 4, 2]])
        with shown("Which size says how many positions there are?", token_ids=ids):
            shapes = student.TransformerDecoder.build(*self.WIDE)
            weights = {name: torch.zeros(shape) for name, shape in shapes.items()}
            got = student.TransformerDecoder.run(self.WIDE, weights, ids).value
            expect.shape(expect.tensor(got), (1, 8, 7))

    # No two sizes alike: seven tokens, width six, three heads, five numbers between, two blocks, at most eight tokens.
    WIDE = (7, 6, 3, 5, 2, 8)
    IDS = [[3, 0, 6, 2], [5, 5, 1, 4]]
    PADDING = np.array([[[False, True, True, True]], [[True, True, True, False]]])
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

    def of_waves(self, student, **more):
        weights = {"embedding.weight": waves(0.9, 7, 6), "norm.weight": waves(1.3, 6), "norm.bias": waves(1.7, 6)}
        weights |= {"output.weight": waves(2.3, 7, 6), "output.bias": waves(2.9, 7)}
        for number in (0, 1):
            weights |= {f"blocks.{number}.{k}": v for k, v in block_of_waves(6, 5, 3 + 20 * number).items()}
        return self.run(student, self.IDS, weights, self.WIDE, **more)

    def test_parameters(self, student):
        """The count by hand: for a vocabulary of 11, d_model = 8, d_ff = 16 and one block, 771 numbers."""
        with shown("Compare it with the table above: which part is too much, or not there?"):
            got = student.TransformerDecoder.build(11, 8, 2, 16, 1, 6)
            total = sum(int(np.prod(shape)) for shape in got.values())
            if total != 771:
                expect.fail(f"it has {total}: {', '.join(got) or 'no parameters'}.")

    def test_before_and_after_the_blocks(self, student):
        """The example by hand: with a silent block, token 2 at place 0 gets the logits (-1.34, 1.34, 0.5)."""
        wanted = np.array([[[-1.3416, 1.3416, 0.5], [1.6358, -0.0919, 0.5]]])
        hint = "Follow the example step by step. What is the embedding multiplied by, and which position is added?"
        with shown(hint, sizes=self.SIZES, token_ids=[[2, 0]]):
            same(expect.tensor(self.run(student, [[2, 0]], self.WEIGHTS).value), wanted, "the logits", within=5e-4)

    def test_two_blocks(self, student):
        """Two texts of four tokens, two blocks, and weights of which no two are alike."""
        hint = "Does each block get what the one before it gave, and where does the last norm stand?"
        with shown(hint, sizes=self.WIDE, weights=WAVES, token_ids=self.IDS):
            same(expect.tensor(self.of_waves(student).value), self.LOGITS, "the logits", within=5e-4)

    def test_padding(self, student):
        """The same with padding: every block is told of it."""
        with shown(
            "Which blocks get padding?", sizes=self.WIDE, weights=WAVES, token_ids=self.IDS, padding=self.PADDING
        ):
            got = self.of_waves(student, padding=self.PADDING)
            same(expect.tensor(got.value), self.PADDED, "the logits", within=5e-4)

    def test_causal(self, student):
        """The logits of the first two tokens do not depend on the third."""
        weights = self.WEIGHTS | {"blocks.0.attention.W_O.weight": np.eye(4)}
        weights |= {f"blocks.0.attention.W_{name}.weight": np.eye(4) for name in "QKV"}
        with shown("At whom may the first token look?", sizes=self.SIZES, token_ids=[[2, 0, 1], [2, 0, 2]]):
            one, other = (expect.tensor(self.run(student, [ids], weights).value) for ids in ([2, 0, 1], [2, 0, 2]))
            expect.shape(one, (1, 3, 3), what="the logits")
            same(other[:, :2], one[:, :2], "with token 2 at the end, the logits before it")

    def test_gradients_arrive(self, student):
        """A gradient reaches every parameter, the embedding among them."""
        import torch

        with shown("Which line lets go of it?", sizes=self.WIDE, weights=WAVES, token_ids=self.IDS):
            got = self.of_waves(student, seeds=[torch.tensor(waves(0.3, 2, 4, 7)).float()])
            arrives(got.parameters.values(), " ".join(got.parameters))

    def test_dtype(self, student):
        """A model in float64 gives logits in float64."""
        with shown("Which line makes a new tensor, of which dtype?"):
            expect.dtype(expect.tensor(self.of_waves(student, dtype="float64").value), np.float64)
