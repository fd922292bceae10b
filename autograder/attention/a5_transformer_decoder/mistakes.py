"""Known mistakes of a5: positions, layer norm, feed-forward, the decoder block and the whole decoder."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()


# ---------------------------------------------------------------- positional_encoding


@mistake("exponent-up-to-1", hint="The exponent is 2i / d_model. Does the last pair reach 1?")
def positional_encoding(length, d_model):
    column = np.arange(d_model)
    angles = np.arange(length)[:, None] / 10000 ** ((column // 2) / max(1, (d_model + 1) // 2 - 1))
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


# Written out, since tests hand it in.
@mistake("base-1000", hint="Count the zeros of the number in the formula.")
def positional_encoding(length, d_model):
    angles = np.arange(length)[:, None] / 1000 ** (2 * (np.arange(d_model) // 2) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))


@mistake("fails-for-odd-widths", hint="With d_model = 7 there are four sines. How many cosines have a place?")
def positional_encoding(length, d_model):
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    encoding = np.zeros((length, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


@mistake("last-column-of-odd-widths-empty", hint="With d_model = 7, what should stand in the last column?")
def positional_encoding(length, d_model):
    pairs = d_model // 2
    angles = np.arange(length)[:, None] / 10000 ** (2 * np.arange(pairs) / d_model)
    encoding = np.zeros((length, d_model))
    for i in range(pairs):
        encoding[:, 2 * i], encoding[:, 2 * i + 1] = np.sin(angles[:, i]), np.cos(angles[:, i])
    return encoding


# ---------------------------------------------------------------- layer_norm


@mistake(
    "axes-counted-from-the-front", hint="With a batch axis in front, which axis holds the features? Count from the end."
)
def layer_norm(x, gamma, beta, eps=1e-5):
    axis = 1 if x.ndim > 1 else 0
    mean, variance = x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


@mistake("eps-fixed", hint="A caller may give another eps. Does yours listen?")
def layer_norm(x, gamma, beta, eps=1e-5):
    variance = x.var(axis=-1, keepdims=True)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + 1e-5) + beta


@mistake("another-default-eps", hint="Which eps does the first line of the stub give?")
def layer_norm(x, gamma, beta, eps=1e-12):
    variance = x.var(axis=-1, keepdims=True)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + eps) + beta


@mistake("root-mean-square-norm", hint="Your squares are of x itself. Which distances does the variance square?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta


@mistake("not-divided", hint="What is the variance of your result with gamma = 1 and beta = 0?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) + beta


@mistake("gamma-and-beta-missing", hint="Which arguments does your code not use?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def layer_norm(x, gamma, beta, eps=1e-5):
    result = np.zeros(x.shape)
    result += gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta
    return result


@mistake("axis-summed-away", hint="A mean has one axis less than x. Which argument of mean keeps it?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) + beta


# ---------------------------------------------------------------- feed_forward


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def feed_forward(x, W_1, b_1, W_2, b_2):
    result = np.zeros(x.shape)
    result += np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2
    return result


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1
    b_1 *= 1.5
    hidden = np.maximum(hidden + b_1 / 1.5, 0)
    return hidden @ W_2 + b_2


# ---------------------------------------------------------------- DecoderBlock


class _Attention(nn.Module):
    """Right multi-head attention."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        query, key, value = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(-3, -2) for layer in (self.W_Q, self.W_K, self.W_V)
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2)), weights


class _Block(nn.Module):
    """A right block in small steps; each mistake below gets one of them wrong."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = _Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def causal(self, L):
        return torch.ones(L, L, dtype=torch.bool).tril()

    def mask(self, L, padding):
        return self.causal(L) if padding is None else self.causal(L) & padding.unsqueeze(-3)

    def attend(self, x, padding):
        return self.attention(x, self.mask(x.shape[-2], padding))[0]

    def forward(self, x, padding=None):
        x = x + self.attend(self.norm_1(x), padding)
        return x + self.feed_forward(self.norm_2(x))


@mistake(
    "residual-from-the-normalised", hint="What is each branch added to: x as it came, or what the norm made of it?"
)
class DecoderBlock(_Block):
    def forward(self, x, padding=None):
        x = self.norm_1(x)
        x = x + self.attend(x, padding)
        x = self.norm_2(x)
        return x + self.feed_forward(x)


@mistake("no-residuals", hint="If both branches gave zeros, what would be left of x?")
class DecoderBlock(_Block):
    def forward(self, x, padding=None):
        x = self.attend(self.norm_1(x), padding)
        return self.feed_forward(self.norm_2(x))


@mistake("feed-forward-first", hint="Which of the two branches comes first?")
class DecoderBlock(_Block):
    def forward(self, x, padding=None):
        x = x + self.feed_forward(self.norm_2(x))
        return x + self.attend(self.norm_1(x), padding)


@mistake("padding-hides-queries", hint="Does padding say who may look, or who may be looked at? Which axis is that?")
class DecoderBlock(_Block):
    def mask(self, L, padding):
        return self.causal(L) if padding is None else self.causal(L) & padding.unsqueeze(-3).transpose(-2, -1)


@mistake(
    "padding-without-an-axis-for-heads", hint="Scores are (B, h, L, L). Which shape has your mask, and which axes meet?"
)
class DecoderBlock(_Block):
    def mask(self, L, padding):
        return self.causal(L) if padding is None else self.causal(L) & padding


@mistake("relu-behind-the-second-layer", hint="May the feed-forward network lower a number?")
class DecoderBlock(_Block):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.feed_forward.append(nn.ReLU())


@mistake("no-bias-in-feed-forward", hint="Which four parameters have the two linear layers?")
class DecoderBlock(_Block):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff, bias=False), nn.ReLU(), nn.Linear(d_ff, d_model, bias=False)
        )


@mistake("d_ff-ignored", hint="How wide is the layer between for DecoderBlock(8, 2, 30)?")
class DecoderBlock(_Block):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, 4 * d_model)


@mistake("num_heads-ignored", hint="How many heads has the attention of DecoderBlock(12, 3, 20)?")
class DecoderBlock(_Block):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, 1, d_ff)


@mistake("one-more-norm", hint="Count the norms. Which of them has the formula not?")
class DecoderBlock(_Block):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x, padding=None):
        return self.norm_3(super().forward(x, padding))


@mistake("other-names", hint="Which names does the table give the two norms?")
class DecoderBlock(_Block):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.ln1, self.ln2 = self._modules.pop("norm_1"), self._modules.pop("norm_2")

    def forward(self, x, padding=None):
        x = x + self.attend(self.ln1(x), padding)
        return x + self.feed_forward(self.ln2(x))


@mistake("weights-given-back-too", hint="How many things does forward give back?")
class DecoderBlock(_Block):
    def forward(self, x, padding=None):
        attended, weights = self.attention(self.norm_1(x), self.mask(x.shape[-2], padding))
        x = x + attended
        return x + self.feed_forward(self.norm_2(x)), weights


@mistake(
    "detached-attention",
    hint="Print requires_grad of what the attention gives you. Which of your lines turns it False?",
)
class DecoderBlock(_Block):
    def attend(self, x, padding):
        return super().attend(x, padding).detach()


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
class DecoderBlock(_Block):
    def forward(self, x, padding=None):
        return super().forward(x, padding).float()


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
class DecoderBlock(_Block):
    def forward(self, x, padding=None):
        attended = self.attend(self.norm_1(x), padding)
        with torch.no_grad():
            x.detach().add_(0.5)
        return super().forward(x - 0.5, padding) + 0 * attended


# ---------------------------------------------------------------- TransformerDecoder


def _positions(length, d_model):
    column = torch.arange(d_model)
    angles = torch.arange(length)[:, None].double() / 10000 ** (2 * (column // 2) / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos()).float()


class _Decoder(nn.Module):
    """A right decoder in small steps; each mistake below gets one of them wrong."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", _positions(max_length, d_model))
        self.blocks = nn.ModuleList(_Block(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def embed(self, token_ids):
        return self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[: token_ids.shape[-1]]

    def stack(self, x, padding):
        for block in self.blocks:
            x = block(x, padding)
        return x

    def logits(self, x):
        return self.output(self.norm(x))

    def forward(self, token_ids, padding=None):
        return self.logits(self.stack(self.embed(token_ids), padding))


@mistake("positions-along-the-batch", hint="Along which axis of (B, L, d_model) do positions run?")
class TransformerDecoder(_Decoder):
    def embed(self, token_ids):
        positions = self.positions[: token_ids.shape[0]].unsqueeze(1)
        return self.embedding(token_ids) * math.sqrt(self.d_model) + positions


@mistake("positions-in-every-block", hint="How often are positions added?")
class TransformerDecoder(_Decoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x = block(x + self.positions[: x.shape[-2]], padding)
        return x

    def embed(self, token_ids):
        return self.embedding(token_ids) * math.sqrt(self.d_model)


@mistake("positions-learnt", hint="Which of your members are parameters, and should that one be?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        positions = self.positions
        del self.positions
        self.positions = nn.Parameter(positions)


@mistake("positions-in-float64", hint="NumPy's floats have twice the bits of PyTorch's. Where do they meet?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.positions = self.positions.double()


@mistake("no-last-norm", hint="Go through the table: which member stands between the blocks and the output layer?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        del self.norm

    def logits(self, x):
        return self.output(x)


@mistake("other-names", hint="Which name does the table give the last norm?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.ln_f = self._modules.pop("norm")

    def logits(self, x):
        return self.output(self.ln_f(x))


@mistake("positions-too-few", hint="Which of the six sizes says how long a text may be?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, d_model)


@mistake("positions-too-few", hint="Which of the six sizes says how long a text may be?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, vocab_size)


@mistake("positions-too-few", hint="Which of the six sizes says how long a text may be?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, d_ff)


@mistake("norm-behind-every-block", hint="How often is the last norm called?")
class TransformerDecoder(_Decoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x = self.norm(block(x, padding))
        return x

    def logits(self, x):
        return self.output(x)


@mistake("last-place-only", hint="For how many places does forward give logits?")
class TransformerDecoder(_Decoder):
    def logits(self, x):
        return super().logits(x[..., -1, :])


@mistake("one-block-for-all-layers", hint="Do the blocks have weights of their own? Count the parameters.")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.blocks = nn.ModuleList([self.blocks[0]] * num_layers)


@mistake("blocks-in-a-plain-list", hint="What kind of list shows its layers' parameters to PyTorch?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        del self.blocks
        self.blocks = [_Block(d_model, num_heads, d_ff) for _ in range(num_layers)]


@mistake("blocks-added-up", hint="The residual is inside the block. What do you add once more?")
class TransformerDecoder(_Decoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x = x + block(x, padding)
        return x


@mistake("mask-missing-in-the-second-layer", hint="Where does a later token come in: in the first block or behind it?")
class TransformerDecoder(_Decoder):
    def stack(self, x, padding):
        first, *others = self.blocks
        x = first(x, padding)
        for block in others:
            x = x + block.attention(block.norm_1(x), None if padding is None else padding.unsqueeze(-3))[0]
            x = x + block.feed_forward(block.norm_2(x))
        return x


@mistake("padding-in-the-first-block-only", hint="Which of the blocks are told about the padding?")
class TransformerDecoder(_Decoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x, padding = block(x, padding), None
        return x


@mistake(
    "padded-places-set-to-zero",
    hint="padding hides keys. What happens to a vector of zeros in an attention that sees it?",
)
class TransformerDecoder(_Decoder):
    def forward(self, token_ids, padding=None):
        x = self.embed(token_ids)
        if padding is not None:
            x = x * padding.transpose(-2, -1)
        return self.logits(self.stack(x, None))


@mistake(
    "output-shares-the-embedding", hint="How many matrices of shape (vocab_size, d_model) are listed in the table?"
)
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.output.weight = self.embedding.weight


@mistake("no-bias-in-the-output", hint="Which two parameters has the output layer in the table?")
class TransformerDecoder(_Decoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.output = nn.Linear(d_model, vocab_size, bias=False)


@mistake(
    "gradients-end-at-the-embedding",
    hint="Print requires_grad of what goes into the first block. Which of your lines turns it False?",
)
class TransformerDecoder(_Decoder):
    def embed(self, token_ids):
        return super().embed(token_ids).detach()


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
class TransformerDecoder(_Decoder):
    def logits(self, x):
        return super().logits(x).float()


# ---------------------------------------------------------------- one decision wrong, and two


def _pairs(column, d_model):
    return 2 * (column // 2) / d_model


@mistake.recipe(
    {
        "sine-and-cosine-swapped": [{"order": "swapped"}],
        "sines-and-cosines-concatenated": [{"order": "concatenated"}],
        "sines-only": [{"order": "sines"}],
        "cosines-only": [{"order": "cosines"}],
        "a-wave-length-for-each-column": [{"exponent": lambda column, d: column / d}],
        "exponent-without-the-2": [{"exponent": lambda column, d: column // 2 / d}],
        "exponent-doubled": [
            {"exponent": lambda column, d: 4 * (column // 2) / d},
            {"exponent": lambda column, d: 2 * column / d},
        ],
        "exponent-up-to-1": [
            {"exponent": lambda column, d: 2 * (column // 2) / max(d - 2, 1)},
            {"exponent": lambda column, d: 2 * (column // 2) / max(d - 1, 1)},
            {"exponent": lambda column, d: column / max(d - 1, 1)},
        ],
        "exponent-off-by-one": [
            {"exponent": lambda column, d: 2 * ((column + 1) // 2) / d},
            {"exponent": lambda column, d: 2 * (column // 2 + 1) / d},
        ],
        "exponent-rounded-down": [{"exponent": lambda column, d: 2 * (column // 2) // d}],
        "positions-from-1": [{"first": 1}],
        "base-1000": [{"base": 1000}],
        "another-base": [{"base": base} for base in (10, 100, 1e5, 1e6, math.e, 2)],
        "multiplied-by-the-power": [{"sign": 1}],
        "position-by-length": [{"place": lambda at, length: at / length},
                               {"place": lambda at, length: at / max(length - 1, 1)}],
        "positions-backwards": [{"place": lambda at, length: at[::-1]}],
        "turns-for-angles": [{"unit": 2 * math.pi}],
        "degrees-for-angles": [{"unit": math.pi / 180}],
        "power-of-the-whole": [{"whole": True}],
        "angles-of-whole-numbers": [{"rounded": np.floor}, {"rounded": np.round}],
        "exponent-by-length": [{"width": lambda length, d: length}],
        "cosine-of-the-sine": [{"order": "twice"}],
        "transposed": [{"end": np.transpose}],
    },
    hints={
        "cosines-only": "What stands in the even columns?",
        "exponent-off-by-one": "Columns 0 and 1 are a pair. Which exponent has each of them in yours?",
        "exponent-rounded-down": "What is 2 // 6 in Python, and what is 2 / 6?",
        "another-base": "Which number is raised to a power in the formula, and which one in yours?",
        "positions-backwards": "Which row of your table is that of position 0?",
        "turns-for-angles": "By how much does the angle in column 0 grow from one position to the next?",
        "degrees-for-angles": "By how much does the angle in column 0 grow from one position to the next?",
        "power-of-the-whole": "What is raised to the power: 10000 alone, or the position, too?",
        "angles-of-whole-numbers": "What is 3 / 4 in yours, as an angle?",
        "exponent-by-length": "By what is the number of the column divided in the exponent?",
        "cosine-of-the-sine": "Of what is the cosine taken in yours: of the angle?",
        "transposed": "Which axis does the docstring name first: positions, or columns?",
        "sine-and-cosine-swapped": "At position 0, what should stand in column 0: the sine of 0 or its cosine?",
        "sines-and-cosines-concatenated": "In which columns do the cosines stand: every second one, or all at the end?",
        "a-wave-length-for-each-column": "In the formula, does the cosine of a pair have another angle than its sine?",
        "exponent-without-the-2": "The second pair of d_model = 4: what is 2i / d_model there, and what is yours?",
        "exponent-doubled": "Which number is i for column 2: is it 2, or the number of the pair?",
        "positions-from-1": "Which position has the first word, and what is the sine of that?",
        "multiplied-by-the-power": "Is the position divided by the power of 10000, or multiplied by it?",
        "sines-only": "What stands in the odd columns?",
        "position-by-length": "Does the angle of position 1 depend on how long the text is?",
    },
    held=(
        "sine-and-cosine-swapped", "sines-and-cosines-concatenated", "a-wave-length-for-each-column",
        "exponent-without-the-2", "exponent-doubled", "positions-from-1", "multiplied-by-the-power", "sines-only",
        "position-by-length",
    ),
)  # fmt: skip
def positional_encoding(
    order="right", exponent=_pairs, first=0, base=10000, sign=-1, place=lambda at, length: at, unit=1.0, whole=False,
    end=lambda encoding: encoding,
    width=lambda length, d: d, rounded=lambda angles: angles,
):  # fmt: skip
    def encode(length, d_model):
        column = np.arange(d_model)
        position = place(np.arange(length), length)[:, None] + first
        angles = unit * position * float(base) ** (sign * exponent(column, width(length, d_model)))
        angles = rounded(angles)
        if whole:
            angles = (position / base) ** exponent(column, d_model)
        if order == "concatenated":
            return end(np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], axis=1))
        if order == "twice":
            return end(np.where(column % 2 == 0, np.sin(angles), np.cos(np.sin(angles))))
        if order in ("sines", "cosines"):
            return end(np.sin(angles) if order == "sines" else np.cos(angles))
        return end(np.where(column % 2 == (order == "swapped"), np.sin(angles), np.cos(angles)))

    return encode


def _from_the_mean(x, middle):
    return x - x.mean(axis=-1, keepdims=True)


def _root_of(variance, eps):
    return np.sqrt(variance + eps)


@mistake.recipe(
    {
        "normalised-over-the-batch": [{"axis": 0}],
        "normalised-over-the-sentence": [{"axis": (-2, -1)}, {"axis": -2}],
        "normalised-over-everything": [{"axis": None}],
        "divided-by-n-minus-1": [{"ddof": 1}],
        "no-root": [{"below": lambda variance, eps: variance + eps}],
        "eps-outside-the-root": [{"below": lambda variance, eps: np.sqrt(variance) + eps}],
        "eps-twice": [
            {"below": lambda variance, eps: np.sqrt(variance + eps) + eps},
            {"below": lambda variance, eps: np.sqrt(variance + 2 * eps)},
        ],
        "eps-missing": [{"below": lambda variance, eps: np.sqrt(variance)}],
        "root-twice": [{"below": lambda variance, eps: np.sqrt(np.sqrt(variance) + eps)}],
        "eps-squared": [{"below": lambda variance, eps: np.sqrt(variance + eps**2)}],
        "mean-not-subtracted": [{"centre": 0}],
        "absolute-deviation": [{"spread": lambda x, axis: np.abs(x).mean(axis=axis, keepdims=True) ** 2}],
        "sum-of-squares": [{"spread": lambda x, axis: (x**2).sum(axis=axis, keepdims=True)}],
        "variance-of-x-itself": [{"of": lambda x, mean: x}],
        "variance-over-everything": [{"spread_axis": None}],
        "variance-over-the-batch": [{"spread_axis": 0}],
        "median-for-mean": [{"middle": np.median}, {"middle": np.median, "of": _from_the_mean}],
        "largest-for-mean": [{"middle": np.max}, {"middle": np.max, "of": _from_the_mean}],
        "eps-as-a-floor": [{"below": lambda variance, eps: np.sqrt(np.maximum(variance, eps))}],
        "range-for-spread": [{"spread": lambda x, axis: np.ptp(x, axis=axis, keepdims=True) ** 2}],
        "gamma-and-beta-swapped": [{"affine": lambda y, gamma, beta: beta * y + gamma}],
        "shifted-before-scaled": [{"affine": lambda y, gamma, beta: gamma * (y + beta)}],
        "gamma-missing": [{"affine": lambda y, gamma, beta: y + beta}],
        "beta-missing": [{"affine": lambda y, gamma, beta: gamma * y}],
        "gamma-added": [{"affine": lambda y, gamma, beta: (1 + gamma) * y + beta}],
    },
    hints={
        "normalised-over-the-sentence": "Over how many numbers is your mean: those of one word, or of all words?",
        "eps-twice": "How often is eps added, and where?",
        "root-twice": "If all features are ten times as large, how much larger is what you divide by?",
        "eps-squared": "What exactly is added to the variance?",
        "absolute-deviation": "Is the variance the mean of sizes, or of squares?",
        "sum-of-squares": "Is the variance a sum or a mean? Try a vector of another length.",
        "gamma-missing": "Which of gamma and beta is in your formula?",
        "beta-missing": "Which of gamma and beta is in your formula?",
        "gamma-added": "What is left of a vector if gamma is 0?",
        "variance-of-x-itself": "Of what do you take squares for the variance: of x, or of what is left of it?",
        "variance-over-everything": "How many means do you have for five words, and how many variances?",
        "variance-over-the-batch": "Over which axis is your mean, and over which one your variance?",
        "median-for-mean": "Which of the two is a mean: the middle one, or the sum divided by how many there are?",
        "largest-for-mean": "What is taken off each feature: the mean, or the largest?",
        "eps-as-a-floor": "Does eps change a large variance, too?",
        "range-for-spread": "Is it the distance from the smallest to the largest that you divide by?",
        "normalised-over-the-batch": "Whose mean do you subtract: of one word's features, or of one feature's words?",
        "normalised-over-everything": "How many means are there for five words, and how many do you have?",
        "divided-by-n-minus-1": "By what is the 20 of the example divided, and by what does your variance divide?",
        "no-root": "If all features are ten times as large, how much larger is the variance? What do you divide by?",
        "eps-outside-the-root": "What is eps added to: the variance or its root?",
        "eps-missing": "What becomes of a word whose features are all equal?",
        "mean-not-subtracted": "What is the mean of your result with gamma = 1 and beta = 0?",
        "gamma-and-beta-swapped": "Which of gamma and beta is 1 where nothing should change, and which is 0?",
        "shifted-before-scaled": "Does gamma scale beta, too?",
    },
    held=(
        "normalised-over-the-batch", "normalised-over-everything", "divided-by-n-minus-1", "no-root",
        "eps-outside-the-root", "eps-missing", "mean-not-subtracted", "gamma-and-beta-swapped", "shifted-before-scaled",
    ),
)  # fmt: skip
def layer_norm(
    axis=-1, ddof=0, below=_root_of, centre=1, spread=None, affine=lambda y, gamma, beta: gamma * y + beta,
    of=lambda x, mean: x - mean, middle=np.mean, spread_axis=-1,
):  # fmt: skip
    def norm(x, gamma, beta, eps=1e-5):
        along = tuple(a for a in axis if -a <= x.ndim) if isinstance(axis, tuple) else axis
        along = -1 if axis in (0, -2) and x.ndim == 1 else along
        mean = middle(x, axis=along, keepdims=True)
        along = along if spread_axis == -1 or x.ndim == 1 else spread_axis
        squares = of(x, mean) ** 2
        count = squares.size / squares.mean(axis=along, keepdims=True).size
        variance = spread(x - mean, along) if spread else squares.sum(axis=along, keepdims=True) / (count - ddof)
        return affine((x - centre * mean) / below(variance, eps), gamma, beta)

    return norm


ANOTHER = [
    np.tanh,
    lambda y: y / (1 + np.exp(-y)),
    lambda y: y / (1 + np.exp(-1.702 * y)),
    lambda y: np.log1p(np.exp(y)),
]


@mistake.recipe(
    {
        "relu-missing": [{"curve": lambda y: y}],
        "relu-at-the-end": [{"curve": lambda y: y, "end": lambda y: np.maximum(y, 0)},
                            {"curve": lambda y: y, "late": lambda y: np.maximum(y, 0)}],
        "relu-twice": [{"end": lambda y: np.maximum(y, 0)}],
        "relu-first": [{"curve": lambda y: y, "begin": lambda x: np.maximum(x, 0)}],
        "another-curve": [{"curve": lambda y: 0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y**3)))}]
        + [{"curve": lambda y: np.where(y > 0, y, 0.5 * y * (1 + np.tanh(0.79788456 * (y + 0.044715 * y**3))))}]
        + [{"curve": curve} for curve in ANOTHER],
        "leaky-relu": [{"curve": lambda y, by=by: np.where(y > 0, y, by * y)} for by in (0.01, 0.1, 0.2)],
        "relu-clipped": [{"curve": lambda y, top=top: np.clip(y, 0, top)} for top in (1, 6)],
        "absolute-value": [{"curve": np.abs}],
        "squared-relu": [{"curve": lambda y: np.maximum(y, 0) ** 2}],
        "step-for-relu": [{"curve": lambda y: (y > 0).astype(y.dtype)}],
        "sign-flipped": [{"curve": lambda y: np.minimum(y, 0)}, {"curve": lambda y: np.maximum(-y, 0)}],
        "sigmoid": [{"curve": lambda y: 1 / (1 + np.exp(-y))}],
        "softmax-for-relu": [{"curve": lambda y: np.exp(y) / np.exp(y).sum(-1, keepdims=True)}],
        "relu-on-the-words-too": [{"begin": lambda x: np.maximum(x, 0)}],
        "first-layer-turned-round": [{"back": lambda W_1, W_2: W_1.T}],
        "b_1-missing": [{"first": 0}],
        "b_2-missing": [{"second": 0}],
        "b_1-subtracted": [{"first": -1}],
        "b_2-subtracted": [{"second": -1}],
        "b_1-twice": [{"first": 2}],
        "b_2-twice": [{"second": 2}],
        "relu-before-the-bias": [{"early": True}],
        "relu-asks-without-the-bias": [{"asks": lambda hidden, b_1: hidden > 0}],
        "relu-asks-the-word": [{"asks": lambda hidden, b_1: (hidden + b_1).sum(-1, keepdims=True) > 0},
                               {"asks": lambda hidden, b_1: (hidden + b_1).max(-1, keepdims=True) > 0}],
        "residual-added": [{"rest": 1}],
    },
    hints={
        "leaky-relu": "What does ReLU make of -1?",
        "relu-clipped": "What does ReLU make of 10?",
        "squared-relu": "What does ReLU make of 10?",
        "step-for-relu": "What does ReLU make of 10?",
        "sign-flipped": "What does ReLU make of 3, and what of -3?",
        "softmax-for-relu": "Does one hidden unit know of the others in a ReLU?",
        "relu-on-the-words-too": "A feature of a word is below zero. Does the first layer meet it?",
        "first-layer-turned-round": "Which of the arguments has no influence on your result?",
        "b_1-subtracted": "Is the bias added or taken off?",
        "b_2-subtracted": "Is the bias added or taken off?",
        "b_1-twice": "How often is each bias added?",
        "b_2-twice": "How often is each bias added?",
        "relu-asks-without-the-bias": "What does your ReLU ask whether it is below zero: numbers with b_1 or without?",
        "relu-asks-the-word": "May one hidden number be set to zero and its neighbour not?",
        "another-curve": "Is what is below zero exactly zero after your curve, and what is above it unchanged?",
        "relu-missing": "Which numbers between the two layers are below zero, and what should become of them?",
        "relu-at-the-end": "Between which two steps of the formula is the maximum? May the result be below zero?",
        "relu-twice": "May the result be below zero? Which step would forbid it?",
        "relu-first": "What is set to zero here: features of the word, or what the first layer makes of them?",
        "relu-before-the-bias": "In the example, is -3 added before or after numbers are set to zero?",
        "b_1-missing": "Which arguments does your code not use?",
        "b_2-missing": "Which arguments does your code not use?",
        "sigmoid": "What does your curve make of 5, and what should come out?",
        "absolute-value": "What should become of -2 between the layers: 0 or 2?",
        "residual-added": "What else is in your result besides the second layer's?",
    },
    held=(
        "relu-missing", "relu-at-the-end", "relu-twice", "relu-first", "relu-before-the-bias", "b_1-missing",
        "b_2-missing", "sigmoid", "absolute-value", "residual-added", "another-curve",
    ),
)  # fmt: skip
def feed_forward(
    curve=lambda y: np.maximum(y, 0), begin=lambda x: x, end=lambda y: y, first=1, second=1, early=False, rest=0,
    asks=None, late=lambda y: y,
    back=lambda W_1, W_2: W_2,
):  # fmt: skip
    def forward(x, W_1, b_1, W_2, b_2):
        hidden = begin(x) @ W_1
        if asks is not None:
            hidden = (hidden + first * b_1) * asks(hidden, b_1)
        else:
            hidden = curve(hidden) + first * b_1 if early else curve(hidden + first * b_1)
        return end(late(hidden @ back(W_1, W_2)) + second * b_2) + rest * x

    return forward


ALLOWED = {
    "causal-mask-missing": [{"allowed": lambda ones: ones}],
    "may-not-see-itself": [{"allowed": lambda ones: ones.tril(-1)}],
    "looks-one-ahead": [{"allowed": lambda ones: ones.tril(1)}],
    "causal-mask-upside-down": [{"allowed": torch.triu}],
    "causal-mask-inverted": [{"allowed": lambda ones: ones.triu(1)}],
}
PADDED = {
    "padding-ignored": [{"join": lambda causal, padding: causal}],
    "padding-instead-of-causal": [{"join": lambda causal, padding: padding}],
    "padding-or-causal": [{"join": lambda causal, padding: causal | padding}],
    "padding-inverted": [{"join": lambda causal, padding: causal & ~padding}],
    "padding-hides-queries": [{"join": lambda causal, padding: causal & padding & padding.transpose(-2, -1)}],
}


def _norm_1(block, x):
    return block.norm_1(x)


def _norm_2(block, x):
    return block.norm_2(x)


@mistake.recipe(
    {
        "post-norm": [{"norm": ("post", "post")}],
        "post-norm-in-one-branch": [{"norm": ("post", "pre")}, {"norm": ("pre", "post")}],
        "norm-behind-the-branch": [
            {"norm": ("behind", "behind")}, {"norm": ("behind", "pre")}, {"norm": ("pre", "behind")}
        ],
        "normed-on-both-sides": [{"norm": ("both", "both")}, {"norm": ("both", "pre")}, {"norm": ("pre", "both")}],
        "second-norm-at-the-end": [{"norm_2": lambda block, x: x, "last": _norm_2}],
        "normed-at-the-end-too": [{"last": _norm_2}, {"last": _norm_1}],
        "second-residual-from-the-input": [{"start": lambda before, after: before}],
        "input-added-again": [{"start": lambda before, after: before + after}],
        "branches-side-by-side": [{"reads": lambda before, after: before}],
        "branch-alone-read": [{"reads": lambda before, after: after - before}],
        "no-residual-around-attention": [{"first": lambda x, n, branch: branch}],
        "no-residual-around-feed-forward": [{"second": lambda x, n, branch: branch}],
        "attention-lost": [{"first": lambda x, n, branch: x}],
        "feed-forward-lost": [{"second": lambda x, n, branch: x}],
        "input-doubled": [{"first": lambda x, n, branch: x + x}, {"second": lambda x, n, branch: x + x}],
        "branch-doubled": [
            {"first": lambda x, n, branch: x + 2 * branch},
            {"second": lambda x, n, branch: x + 2 * branch},
            {"first": lambda x, n, branch: branch + branch},
            {"second": lambda x, n, branch: branch + branch},
        ],
        "sum-halved": [
            {"second": lambda x, n, branch: (x + branch) / 2},
            {"first": lambda x, n, branch: (x + branch) / 2},
            {"first": lambda x, n, branch: (x + branch) / 2, "second": lambda x, n, branch: (x + branch) / 2},
        ],
        "multiplied-not-added": [
            {"first": lambda x, n, branch: x * branch},
            {"second": lambda x, n, branch: x * branch},
        ],
        "residual-subtracted": [
            {"first": lambda x, n, branch: x - branch},
            {"second": lambda x, n, branch: x - branch},
            {"first": lambda x, n, branch: branch - x},
        ],
        "residual-from-the-normalised": [{"first": lambda x, n, branch: n + branch}],
        "second-residual-from-the-normalised": [{"second": lambda x, n, branch: n + branch}],
        "residual-inside-the-argument": [
            {"into_second": lambda x, n: x + n},
            {"into_first": lambda x, n: x + n},
            {"into_second": lambda x, n: x + n, "second": lambda x, n, branch: branch},
        ],
        "one-norm-for-both": [{"norm_2": _norm_1}, {"norm_1": _norm_2}],
        "norms-swapped": [{"norm_1": _norm_2, "norm_2": _norm_1}],
        "first-norm-missing": [{"norm_1": lambda block, x: x}],
        "second-norm-missing": [{"norm_2": lambda block, x: x}],
        "relu-missing": [{"curve": nn.Identity}],
        "another-curve": [{"curve": nn.GELU}, {"curve": nn.SiLU}, {"curve": nn.Tanh}, {"curve": nn.Sigmoid},
                          {"curve": nn.LeakyReLU}, {"curve": nn.ELU}, {"curve": nn.ReLU6}],
    } | ALLOWED | PADDED,
    hints={
        "looks-one-ahead": "Which words may word 0 look at?",
        "attention-lost": "Does a word's output change if an earlier word does?",
        "feed-forward-lost": "Is the result of the feed-forward network used?",
        "input-doubled": "What is added to x: itself, or what the branch found?",
        "branch-doubled": "Set a branch to zero: what is left of x? And what is each branch multiplied by?",
        "sum-halved": "If both branches give zero, what should come out?",
        "multiplied-not-added": "If a branch gives zero, what should be left of x?",
        "residual-subtracted": "If a branch gives zero, and then one, how does the output change?",
        "residual-inside-the-argument": "What goes into the branch: the norm alone, or a sum?",
        "post-norm-in-one-branch": "Do both norms stand at the same place: in front of the branch, or behind the sum?",
        "normed-on-both-sides": "How often is each norm used in the formula?",
        "second-norm-at-the-end": "What goes into the feed-forward network, and what happens to the sum behind it?",
        "normed-at-the-end-too": "How often is each norm used in the formula?",
        "branch-alone-read": "What does the feed-forward network read: the sum, or what attention found alone?",
        "input-added-again": "If both branches gave zeros, how often would x be in the output?",
        "post-norm": "Where does the norm stand: in front of each branch, or behind the sum?",
        "norm-behind-the-branch": "What goes into the attention: x, or the normalised x? And what is added to x?",
        "second-residual-from-the-normalised": "What is the second branch added to: the sum, or norm_2 of it?",
        "no-residual-around-attention": "If the attention gave zeros, what would be left of x?",
        "no-residual-around-feed-forward": "If the feed-forward network gave zeros, what would be left of x?",
        "second-residual-from-the-input": "What is the second branch added to: does the attention's share survive?",
        "branches-side-by-side": "Does the feed-forward network see what the attention has found?",
        "norms-swapped": "Which norm stands in front of the attention, and which in front of the feed-forward network?",
        "one-norm-for-both": "One of the members is never called. Which one?",
        "first-norm-missing": "One of the members is never called. Which one?",
        "second-norm-missing": "One of the members is never called. Which one?",
        "causal-mask-missing": "May the first word look at the last one? Who forbids it?",
        "causal-mask-upside-down": "Print the mask of three words. At whom may the first one look?",
        "may-not-see-itself": "Print the mask of three words. Is the diagonal True?",
        "causal-mask-inverted": "True means: may attend. Print the mask of three words.",
        "padding-ignored": "Where does your code use padding?",
        "padding-instead-of-causal": "With padding, does the causal mask still hold?",
        "padding-or-causal": "May a word attend where one of the masks says yes, or only where both do?",
        "padding-inverted": "True means: a real word. At whom may the others look with your mask?",
        "relu-missing": "Which three layers make the feed-forward network?",
        "another-curve": "Which curve stands between the two linear layers?",
    },
    held=(
        "post-norm", "norm-behind-the-branch", "second-residual-from-the-normalised", "no-residual-around-attention",
        "no-residual-around-feed-forward", "second-residual-from-the-input", "branches-side-by-side", "norms-swapped",
        "one-norm-for-both", "first-norm-missing", "second-norm-missing", "causal-mask-missing",
        "causal-mask-upside-down", "may-not-see-itself", "causal-mask-inverted", "padding-ignored",
        "padding-instead-of-causal", "padding-or-causal", "padding-inverted", "relu-missing", "another-curve",
    ),
)  # fmt: skip
def DecoderBlock(
    norm=("pre", "pre"), first=lambda x, n, branch: x + branch, second=lambda x, n, branch: x + branch,
    into_first=lambda x, n: n, into_second=lambda x, n: n, norm_1=_norm_1, norm_2=_norm_2,
    allowed=torch.tril, join=lambda causal, padding: causal & padding, curve=nn.ReLU, last=lambda block, x: x,
    start=lambda before, after: after, reads=lambda before, after: after,
):  # fmt: skip
    class Block(_Block):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__(d_model, num_heads, d_ff)
            self.feed_forward[1] = curve()

        def mask(self, L, padding):
            causal = allowed(torch.ones(L, L, dtype=torch.bool))
            return causal if padding is None else join(causal, padding.unsqueeze(-3))

        def forward(self, x, padding=None):
            after = self.around(norm[0], norm_1, into_first, lambda y: self.attend(y, padding), x, x, first)
            rest, read = start(x, after), reads(x, after)
            return last(self, self.around(norm[1], norm_2, into_second, self.feed_forward, rest, read, second))

        def around(self, where, layer, into, branch, rest, x, together):
            """`rest` is what the branch is added to, `x` what it reads."""
            if where == "post":
                return layer(self, together(rest, rest, branch(x)))
            if where == "behind":
                return together(rest, rest, layer(self, branch(x)))
            normed = layer(self, x)
            found = branch(into(x, normed))
            return together(rest, normed, layer(self, found) if where == "both" else found)

    return Block


def _placed(x, positions, scale):
    return x * scale + positions


def _one_after_the_other(blocks, x, padding):
    for block in blocks:
        x = block(x, padding)
    return x


def _of_each(blocks, x, padding):
    return [block(x, padding) for block in blocks]


@mistake.recipe(
    {
        "positions-missing": [{"place": lambda x, positions, scale: x * scale}],
        "embedding-not-scaled": [{"place": lambda x, positions, scale: x + positions}],
        "positions-scaled-too": [{"place": lambda x, positions, scale: (x + positions) * scale}],
        "scaled-by-d_model": [{"place": lambda x, positions, scale: x * scale**2 + positions}],
        "divided-by-the-root": [{"place": lambda x, positions, scale: x / scale + positions}],
        "positions-only": [{"place": lambda x, positions, scale: 0 * x + positions}],
        "positions-multiplied": [{"place": lambda x, positions, scale: x * scale * positions}],
        "positions-from-1": [{"at": lambda positions, L: positions[1 : L + 1]}],
        "positions-reversed": [{"at": lambda positions, L: positions[:L].flip(0)}],
        "last-positions": [{"at": lambda positions, L: positions[-L:]}],
        "one-position-for-all": [
            {"at": lambda positions, L: positions[L - 1]},
            {"at": lambda positions, L: positions[0]},
            {"at": lambda positions, L: positions[L]},
        ],
        "last-norm-missing": [{"normed": lambda norm, x: x}],
        "normed-twice": [{"normed": lambda norm, x: norm(norm(x))}],
        "softmax-on-the-logits": [{"end": lambda logits: torch.softmax(logits, dim=-1)}],
        "log-softmax-on-the-logits": [{"end": lambda logits: F.log_softmax(logits, dim=-1)}],
        "padding-ignored": [{"padded": lambda padding: None}],
        "padding-inverted": [{"padded": lambda padding: None if padding is None else ~padding}],
        "padding-for-one-block": [
            {"through": lambda blocks, x, padding: _one_after_the_other(blocks[1:], blocks[0](x, padding), None)},
            {"through": lambda blocks, x, padding: blocks[-1](_one_after_the_other(blocks[:-1], x, None), padding)},
        ],
        "norm-before-the-blocks": [{"before": lambda norm, x: norm(x), "normed": lambda norm, x: x}],
        "normed-before-the-blocks-too": [{"before": lambda norm, x: norm(x)}],
        "positions-doubled": [{"place": lambda x, positions, scale: x * scale + 2 * positions}],
        "always-the-first-block": [
            {"through": lambda blocks, x, padding: _one_after_the_other([blocks[0]] * len(blocks), x, padding)}
        ],
        "always-the-last-block": [
            {"through": lambda blocks, x, padding: _one_after_the_other([blocks[-1]] * len(blocks), x, padding)}
        ],
        "one-block-too-few": [
            {"through": lambda blocks, x, padding: _one_after_the_other(blocks[:-1], x, padding)},
            {"through": lambda blocks, x, padding: _one_after_the_other(blocks[1:], x, padding)},
        ],
        "blocks-in-reverse": [{"through": lambda blocks, x, padding: _one_after_the_other(blocks[::-1], x, padding)}],
        "blocks-left-out": [{"through": lambda blocks, x, padding: x}],
        "each-block-gets-the-embedding": [{"through": lambda blocks, x, padding: _of_each(blocks, x, padding)[-1]}],
        "blocks-added-up": [
            {"through": lambda blocks, x, padding: sum(_of_each(blocks, x, padding))},
            {"through": lambda blocks, x, padding: x + sum(_of_each(blocks, x, padding))},
        ],
        "residual-around-a-block": [
            {"through": lambda blocks, x, padding: _one_after_the_other(
                [lambda x, padding, block=block: x + block(x, padding) for block in blocks], x, padding)}
        ],
    },
    hints={
        "positions-only": "Does the answer change if another word stands there?",
        "positions-multiplied": "Are positions added to the embedding, or multiplied with it?",
        "positions-from-1": "Which row of the positions belongs to the first word?",
        "positions-reversed": "Which row of the positions belongs to the first word?",
        "one-position-for-all": "Do the first and the last word get the same row of positions?",
        "normed-twice": "How often does the last norm stand in the formula?",
        "padding-inverted": "What does True mean in the padding: a real word, or padding?",
        "always-the-last-block": "Which block does your loop call in its second round?",
        "blocks-left-out": "Is what the blocks give used?",
        "residual-around-a-block": "The residual is inside a block already. How often is x added?",
        "padding-for-one-block": "Which blocks are told about the padding: all of them?",
        "norm-before-the-blocks": "Where does the last norm stand: in front of the blocks, or behind them?",
        "normed-before-the-blocks-too": "How often does the last norm stand in the formula?",
        "positions-doubled": "How often are positions added?",
        "positions-missing": "How would the model tell 'dog bites man' from 'man bites dog'?",
        "embedding-not-scaled": "What is the embedding multiplied by before the positions are added?",
        "positions-scaled-too": "Is the scale for the embedding alone, or also for the positions?",
        "scaled-by-d_model": "The embedding is multiplied by a root. Of what?",
        "divided-by-the-root": "Is the embedding multiplied by the root, or divided?",
        "last-positions": "Which row of the positional encoding does the first token get?",
        "last-norm-missing": "One of the members is never called. Which one?",
        "softmax-on-the-logits": "Do the numbers of one place sum to 1? Should logits?",
        "log-softmax-on-the-logits": "Is every number below zero? Should logits be?",
        "always-the-first-block": "Which block runs in the second round of your loop?",
        "one-block-too-few": "How many of the blocks run?",
        "blocks-in-reverse": "Which block comes first?",
        "each-block-gets-the-embedding": "What does the second block get: what the first gave, or what it got?",
        "padding-ignored": "Who tells the blocks about padding?",
    },
    held=(
        "positions-missing", "embedding-not-scaled", "positions-scaled-too", "scaled-by-d_model", "divided-by-the-root",
        "last-positions", "last-norm-missing", "norm-before-the-blocks", "softmax-on-the-logits",
        "log-softmax-on-the-logits", "always-the-first-block", "one-block-too-few", "blocks-in-reverse",
        "each-block-gets-the-embedding", "padding-ignored",
    ),
)  # fmt: skip
def TransformerDecoder(
    place=_placed, at=lambda positions, L: positions[:L], normed=lambda norm, x: norm(x), end=lambda logits: logits,
    padded=lambda padding: padding, through=_one_after_the_other, before=lambda norm, x: x,
):  # fmt: skip
    class Decoder(_Decoder):
        def embed(self, token_ids):
            return place(self.embedding(token_ids), at(self.positions, token_ids.shape[-1]), math.sqrt(self.d_model))

        def stack(self, x, padding):
            return through(self.blocks, before(self.norm, x), padded(padding))

        def logits(self, x):
            return end(self.output(normed(self.norm, x)))

    return Decoder
