"""Known mistakes of TransformerDecoder."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.suites import Catalogue

from ..shared_mistakes import RightBlock

mistake = Catalogue()


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
        self.blocks = nn.ModuleList(RightBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
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
        self.blocks = [RightBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]


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
