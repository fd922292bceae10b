"""Known mistakes of TransformerDecoder."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.testing import Catalogue

from ..positional_encoding.mistakes import positional_encoding
from ..shared_decoder_mistakes import ALONE, one_after_the_other
from ..shared_mistakes import RightBlock, RightDecoder

mistake = Catalogue()


@mistake("positions-along-the-batch", hint="Along which axis of (B, L, d_model) do positions run?")
class TransformerDecoder(RightDecoder):
    def embed(self, token_ids):
        positions = self.positions[: token_ids.shape[0]].unsqueeze(1)
        return self.embedding(token_ids) * math.sqrt(self.d_model) + positions


@mistake("positions-in-every-block", hint="How often are positions added?")
class TransformerDecoder(RightDecoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x = block(x + self.positions[: x.shape[-2]], padding)
        return x

    def embed(self, token_ids):
        return self.embedding(token_ids) * math.sqrt(self.d_model)


@mistake("positions-learnt", hint="Which of your members are parameters, and should that one be?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        positions = self.positions
        del self.positions
        self.positions = nn.Parameter(positions)


@mistake("positions-in-float64", hint="NumPy's floats have twice the bits of PyTorch's. Where do they meet?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.positions = self.positions.double()


@mistake("dropout", hint="Is there a dropout? The docstring says what train() may change.")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.dropout = nn.Dropout(0.1)

    def embed(self, token_ids):
        return self.dropout(super().embed(token_ids))


@mistake("embedding-rows", hint="How many rows has the embedding, and how many words has the vocabulary?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.embedding = nn.Embedding(vocab_size + 1, d_model)


@mistake("embedding-rows", hint="How many rows has the embedding, and how many words has the vocabulary?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.embedding = nn.Embedding(vocab_size - 1, d_model)


@mistake("no-last-norm", hint="Go through the table: which member stands between the blocks and the output layer?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        del self.norm

    def logits(self, x):
        return self.output(x)


@mistake("other-names", hint="Which name does the table give the last norm?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.ln_f = self._modules.pop("norm")

    def logits(self, x):
        return self.output(self.ln_f(x))


@mistake("positions-too-few", hint="Which of the six sizes says how long a text may be?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, d_model)


@mistake("positions-too-few", hint="Which of the six sizes says how long a text may be?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, vocab_size)


@mistake("positions-too-few", hint="Which of the six sizes says how long a text may be?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, d_ff)


@mistake("norm-behind-every-block", hint="How often is the last norm called?")
class TransformerDecoder(RightDecoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x = self.norm(block(x, padding))
        return x

    def logits(self, x):
        return self.output(x)


@mistake("last-place-only", hint="For how many places does forward give logits?")
class TransformerDecoder(RightDecoder):
    def logits(self, x):
        return super().logits(x[..., -1, :])


@mistake("one-block-for-all-layers", hint="Do the blocks have weights of their own? Count the parameters.")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.blocks = nn.ModuleList([self.blocks[0]] * num_layers)


@mistake("blocks-in-a-plain-list", hint="What kind of list shows its layers' parameters to PyTorch?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        del self.blocks
        self.blocks = [RightBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]


@mistake("blocks-added-up", hint="The residual is inside the block. What do you add once more?")
class TransformerDecoder(RightDecoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x = x + block(x, padding)
        return x


@mistake("mask-missing-in-the-second-layer", hint="Where does a later token come in: in the first block or behind it?")
class TransformerDecoder(RightDecoder):
    def stack(self, x, padding):
        first, *others = self.blocks
        x = first(x, padding)
        for block in others:
            x = x + block.attention(block.norm_1(x), None if padding is None else padding.unsqueeze(-3))[0]
            x = x + block.feed_forward(block.norm_2(x))
        return x


@mistake("padding-in-the-first-block-only", hint="Which of the blocks are told about the padding?")
class TransformerDecoder(RightDecoder):
    def stack(self, x, padding):
        for block in self.blocks:
            x, padding = block(x, padding), None
        return x


@mistake(
    "padded-places-set-to-zero",
    hint="padding hides keys. What happens to a vector of zeros in an attention that sees it?",
)
class TransformerDecoder(RightDecoder):
    def forward(self, token_ids, padding=None):
        x = self.embed(token_ids)
        if padding is not None:
            x = x * padding.transpose(-2, -1)
        return self.logits(self.stack(x, None))


@mistake(
    "output-shares-the-embedding", hint="How many matrices of shape (vocab_size, d_model) are listed in the table?"
)
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.output.weight = self.embedding.weight


@mistake("no-bias-in-the-output", hint="Which two parameters has the output layer in the table?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.output = nn.Linear(d_model, vocab_size, bias=False)


@mistake(
    "gradients-end-at-the-embedding",
    hint="Print requires_grad of what goes into the first block. Which of your lines turns it False?",
)
class TransformerDecoder(RightDecoder):
    def embed(self, token_ids):
        return super().embed(token_ids).detach()


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
class TransformerDecoder(RightDecoder):
    def logits(self, x):
        return super().logits(x).float()


TABLES = (64, 16, 32, 8, 4)  # sizes that people give a table
FORMULA = "Print positions 0 and 1 for d_model = 4. Are they those of the formula?"
# Positions that are worked out here and not by the earlier exercise, by what is wrong with them.
ENCODED = {
    "sine-and-cosine-swapped": [{"order": "swapped"}],
    "sines-and-cosines-concatenated": [{"order": "concatenated"}],
    "sines-only": [{"order": "sines"}],
    "cosines-only": [{"order": "cosines"}],
    "even-positions-get-sines": [{"order": "by position"}],
    "angles-of-whole-numbers": [{"rounded": np.floor}, {"rounded": np.round}],
    "a-wave-length-for-each-column": [{"exponent": lambda column, d: column / d}],
    "exponent-without-the-2": [{"exponent": lambda column, d: column // 2 / d}],
    "exponent-doubled": [{"exponent": lambda column, d: 4 * (column // 2) / d}, {"exponent": lambda c, d: 2 * c / d}],
    "base-1000": [{"base": 1000}],
    "another-base": [{"base": base} for base in (10, 100, 1e5, 1e6)],
    "multiplied-by-the-power": [{"sign": 1}],
}


def _placed(x, positions, scale):
    return x * scale + positions


def _of_each(blocks, x, padding):
    return [block(x, padding) for block in blocks]


@mistake.mutants(ALONE)
@mistake.mutants(
    {
        "positions-missing": mistake.known(
            {"place": lambda x, positions, scale: x * scale},
            hint="How would the model tell 'dog bites man' from 'man bites dog'?",
        ),
        "embedding-not-scaled": mistake.known(
            {"place": lambda x, positions, scale: x + positions},
            hint="What is the embedding multiplied by before the positions are added?",
        ),
        "positions-scaled-too": mistake.known(
            {"place": lambda x, positions, scale: (x + positions) * scale},
            hint="Is the scale for the embedding alone, or also for the positions?",
        ),
        "scaled-by-d_model": mistake.known(
            {"place": lambda x, positions, scale: x * scale**2 + positions},
            hint="The embedding is multiplied by a root. Of what?",
        ),
        "divided-by-the-root": mistake.known(
            {"place": lambda x, positions, scale: x / scale + positions},
            hint="Is the embedding multiplied by the root, or divided?",
        ),
        "positions-only": mistake.mutant(
            {"place": lambda x, positions, scale: 0 * x + positions},
            hint="Does the answer change if another word stands there?",
        ),
        "positions-multiplied": mistake.mutant(
            {"place": lambda x, positions, scale: x * scale * positions},
            hint="Are positions added to the embedding, or multiplied with it?",
        ),
        "positions-from-1": mistake.mutant(
            {"at": lambda positions, L: positions[1 : L + 1]},
            hint="Which row of the positions belongs to the first word?",
        ),
        "positions-reversed": mistake.mutant(
            {"at": lambda positions, L: positions[:L].flip(0)},
            hint="Which row of the positions belongs to the first word?",
        ),
        "last-positions": mistake.known(
            {"at": lambda positions, L: positions[-L:]},
            hint="Which row of the positional encoding does the first token get?",
        ),
        "positions-cut": mistake.known(
            *[{"at": lambda positions, L, most=most: positions[torch.arange(L) % most]} for most in TABLES],
            *[
                {"at": lambda positions, L, most=most: positions[torch.arange(L).clamp(max=most - 1)]}
                for most in TABLES
            ],
            *[
                {"at": lambda positions, L, most=most: positions[:L] * (torch.arange(L) < most)[:, None]}
                for most in TABLES
            ],
            hint="From which position on do rows repeat, or stay the same? Where does that number come from?",
        ),
        **{name: mistake.mutant(*({"encoded": one} for one in ways), hint=FORMULA) for name, ways in ENCODED.items()},
        "embedding-rows-shifted": mistake.mutant(
            {"word": lambda ids, size: (ids + 1) % size},
            {"word": lambda ids, size: (ids - 1) % size},
            {"word": lambda ids, size: (ids + 1).clamp(max=size - 1)},
            hint="Which row of the embedding belongs to token 0?",
        ),
        "another-default-eps": mistake.known(
            *[{"eps": eps} for eps in (1e-4, 1e-6, 1e-3, 1e-8, 1e-12, 1e-2)],
            hint="Which eps does the last norm get, and does the docstring name one?",
        ),
        "blocks-cut": mistake.known(
            *[
                {"through": lambda blocks, x, padding, most=most: one_after_the_other(blocks[:most], x, padding)}
                for most in (3, 2, 1)
            ],
            hint="How many of the blocks run if there are four?",
        ),
        "one-position-for-all": mistake.mutant(
            {"at": lambda positions, L: positions[L - 1]},
            {"at": lambda positions, L: positions[0]},
            {"at": lambda positions, L: positions[L]},
            hint="Do the first and the last word get the same row of positions?",
        ),
        "last-norm-missing": mistake.known(
            {"normed": lambda norm, x: x}, hint="One of the members is never called. Which one?"
        ),
        "normed-twice": mistake.mutant(
            {"normed": lambda norm, x: norm(norm(x))}, hint="How often does the last norm stand in the formula?"
        ),
        "softmax-on-the-logits": mistake.known(
            {"end": lambda logits: torch.softmax(logits, dim=-1)},
            hint="Do the numbers of one place sum to 1? Should logits?",
        ),
        "log-softmax-on-the-logits": mistake.known(
            {"end": lambda logits: F.log_softmax(logits, dim=-1)}, hint="Is every number below zero? Should logits be?"
        ),
        "padding-ignored": mistake.known({"padded": lambda padding: None}, hint="Who tells the blocks about padding?"),
        "padding-inverted": mistake.mutant(
            {"padded": lambda padding: None if padding is None else ~padding},
            hint="What does True mean in the padding: a real word, or padding?",
        ),
        "padding-for-one-block": mistake.mutant(
            {"through": lambda blocks, x, padding: one_after_the_other(blocks[1:], blocks[0](x, padding), None)},
            {"through": lambda blocks, x, padding: blocks[-1](one_after_the_other(blocks[:-1], x, None), padding)},
            hint="Which blocks are told about the padding: all of them?",
        ),
        "norm-before-the-blocks": mistake.known(
            {"before": lambda norm, x: norm(x), "normed": lambda norm, x: x},
            hint="Where does the last norm stand: in front of the blocks, or behind them?",
        ),
        "normed-before-the-blocks-too": mistake.mutant(
            {"before": lambda norm, x: norm(x)}, hint="How often does the last norm stand in the formula?"
        ),
        "positions-doubled": mistake.mutant(
            {"place": lambda x, positions, scale: x * scale + 2 * positions}, hint="How often are positions added?"
        ),
        "always-the-first-block": mistake.known(
            {"through": lambda blocks, x, padding: one_after_the_other([blocks[0]] * len(blocks), x, padding)},
            hint="Which block runs in the second round of your loop?",
        ),
        "always-the-last-block": mistake.mutant(
            {"through": lambda blocks, x, padding: one_after_the_other([blocks[-1]] * len(blocks), x, padding)},
            hint="Which block does your loop call in its second round?",
        ),
        "one-block-too-few": mistake.known(
            {"through": lambda blocks, x, padding: one_after_the_other(blocks[:-1], x, padding)},
            {"through": lambda blocks, x, padding: one_after_the_other(blocks[1:], x, padding)},
            hint="How many of the blocks run?",
        ),
        "blocks-in-reverse": mistake.known(
            {"through": lambda blocks, x, padding: one_after_the_other(blocks[::-1], x, padding)},
            hint="Which block comes first?",
        ),
        "blocks-left-out": mistake.mutant(
            {"through": lambda blocks, x, padding: x}, hint="Is what the blocks give used?"
        ),
        "each-block-gets-the-embedding": mistake.known(
            {"through": lambda blocks, x, padding: _of_each(blocks, x, padding)[-1]},
            hint="What does the second block get: what the first gave, or what it got?",
        ),
        "blocks-added-up": [
            {"through": lambda blocks, x, padding: sum(_of_each(blocks, x, padding))},
            {"through": lambda blocks, x, padding: x + sum(_of_each(blocks, x, padding))},
        ],
        "residual-around-a-block": mistake.mutant(
            {
                "through": lambda blocks, x, padding: one_after_the_other(
                    [lambda x, padding, block=block: x + block(x, padding) for block in blocks], x, padding
                )
            },
            hint="The residual is inside a block already. How often is x added?",
        ),
    }
)
def TransformerDecoder(
    place=_placed, at=lambda positions, L: positions[:L], normed=lambda norm, x: norm(x), end=lambda logits: logits,
    padded=lambda padding: padding, through=one_after_the_other, before=lambda norm, x: x,
    encoded=None, word=lambda ids, size: ids, eps=1e-5, heads=lambda h, d_model: h, kept=None,
):  # fmt: skip
    class Decoder(RightDecoder):
        def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
            super().__init__(vocab_size, d_model, heads(num_heads, d_model), d_ff, num_layers, max_length)
            self.norm.eps = eps
            if encoded is not None:
                self.positions = torch.from_numpy(positional_encoding(**encoded)(max_length, d_model)).float()

        def embed(self, token_ids):
            size = self.embedding.num_embeddings
            token_ids = word(token_ids, size)
            found = self.embedding(token_ids) * (1 if kept is None else kept(token_ids, size))
            return place(found, at(self.positions, token_ids.shape[-1]), math.sqrt(self.d_model))

        def stack(self, x, padding):
            return through(self.blocks, before(self.norm, x), padded(padding))

        def logits(self, x):
            return end(self.output(normed(self.norm, x)))

    return Decoder
