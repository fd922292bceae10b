"""Known mistakes of TransformerDecoder."""

import math

import torch
import torch.nn as nn

from autograder.testing import Catalogue

from ..positional_encoding.mistakes import positional_encoding
from ..shared_composed_mistakes import COMPOSED
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


class _WithAParameter(RightDecoder):
    learns = True

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        positions = self.positions
        del self.positions
        self.positions = nn.Parameter(positions, requires_grad=self.learns)


@mistake("positions-as-parameters", hint="Which of your members are parameters, and should that one be?")
class TransformerDecoder(_WithAParameter):
    pass


@mistake("positions-as-parameters", hint="Which of your members are parameters, and should that one be?")
class TransformerDecoder(_WithAParameter):
    learns = False


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


@mistake("padding-in-the-first-block-only", hint="Which of the blocks get the padding?")
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


@mistake("padding-index-set", hint="Which word's row of the embedding has a gradient of 0? Is that word padding here?")
class TransformerDecoder(RightDecoder):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__(vocab_size, d_model, num_heads, d_ff, num_layers, max_length)
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
class TransformerDecoder(RightDecoder):
    def logits(self, x):
        return super().logits(x).float()


def _placed(x, positions, scale):
    return x * scale + positions


@mistake.mutants(
    {
        "positions-by-token": mistake.mutant(
            {"rows": lambda positions, ids: positions[ids]},
            hint="Which row of the positions does a word get: that of its place, or that of its id?",
        ),
        "positions-along-the-batch": [{"rows": lambda positions, ids: positions[: ids.shape[0]]}],
    }
)
@mistake.mutants(ALONE)
@mistake.mutants(COMPOSED)
def TransformerDecoder(
    place=_placed, at=lambda positions, L: positions[:L], normed=lambda norm, x: norm(x), end=lambda logits: logits,
    padded=lambda padding: padding, through=one_after_the_other, before=lambda norm, x: x,
    encoded=None, word=lambda ids, size: ids, eps=1e-5, heads=lambda h, d_model: h, kept=None,
    rows=None,
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
            positions = rows(self.positions, token_ids) if rows else at(self.positions, token_ids.shape[-1])
            return place(found, positions, math.sqrt(self.d_model))

        def stack(self, x, padding):
            return through(self.blocks, before(self.norm, x), padded(padding))

        def logits(self, x):
            return end(self.output(normed(self.norm, x)))

    return Decoder
