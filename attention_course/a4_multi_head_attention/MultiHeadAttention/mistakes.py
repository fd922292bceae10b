"""Known mistakes of MultiHeadAttention."""

import math

import torch
import torch.nn as nn

from autograder.testing import Catalogue

from ...hidden import mutation_options
from ..shared_mistakes import SLIPS, TORCH, WORDS, in_heads

mistake = Catalogue()


class _Module(nn.Module):
    """A right module in small steps. Each mistake below gets one of them wrong."""

    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be a multiple of num_heads")
            d_head = d_model // num_heads
        self.make_layers(d_model, num_heads, d_head, bias=False)

    def make_layers(self, d_model, num_heads, d_head, bias):
        self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_head
        width = num_heads * d_head
        self.W_Q = nn.Linear(d_model, width, bias=bias)
        self.W_K = nn.Linear(d_model, width, bias=bias)
        self.W_V = nn.Linear(d_model, width, bias=bias)
        self.W_O = nn.Linear(width, d_model, bias=bias)

    def split(self, projected):
        return projected.unflatten(-1, (self.num_heads, self.d_head)).transpose(-3, -2)

    def concat(self, heads):
        return heads.transpose(-3, -2).flatten(-2)

    def softmax(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1).masked_fill(~mask, 0.0)

    def forward(self, x, mask=None):
        query, key, value = self.split(self.W_Q(x)), self.split(self.W_K(x)), self.split(self.W_V(x))
        weights = self.softmax(query @ key.transpose(-2, -1) / math.sqrt(self.d_head), mask)
        return self.W_O(self.concat(weights @ value)), weights


@mistake("leaky-mask", hint="Could a visible score be lower than the number you put in place of the hidden ones?")
class MultiHeadAttention(_Module):
    def softmax(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        return torch.softmax(scores.masked_fill(~mask, -1e3), dim=-1) * mask.any(dim=-1, keepdim=True)


@mistake("residual-added", hint="What else is in your output besides the heads?")
class MultiHeadAttention(_Module):
    def forward(self, x, mask=None):
        output, weights = super().forward(x, mask)
        return x + output, weights


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
class MultiHeadAttention(_Module):
    def forward(self, x, mask=None):
        return super().forward(x, mask)[::-1]


@mistake("output-only", hint="How many things does the docstring promise?")
class MultiHeadAttention(_Module):
    def forward(self, x, mask=None):
        return super().forward(x, mask)[0]


_OTHER_NAMES = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "out_proj"}


@mistake("other-names", hint="Which names does the docstring give the four layers?")
class MultiHeadAttention(_Module):
    def make_layers(self, d_model, num_heads, d_head, bias):
        super().make_layers(d_model, num_heads, d_head, bias)
        self._modules = {_OTHER_NAMES[name]: layer for name, layer in self._modules.items()}

    def __getattr__(self, name):
        return super().__getattr__(_OTHER_NAMES.get(name, name))


@mistake("bias-left-on", hint="What does nn.Linear add to the product, unless told otherwise?")
class MultiHeadAttention(_Module):
    def make_layers(self, d_model, num_heads, d_head, bias):
        super().make_layers(d_model, num_heads, d_head, bias=True)


@mistake("d_head-ignored", hint="MultiHeadAttention(7, 3, 4): how wide is a head, and where does your code use that?")
class MultiHeadAttention(_Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads)


@mistake("width-fixed", hint="How wide is a head of MultiHeadAttention(12, 3)? Does your code ask for d_model there?")
class MultiHeadAttention(_Module):
    def __init__(self, d_model, num_heads, d_head=64):
        super().__init__(d_model, num_heads, d_head)


@mistake("dropout", hint="Is there a dropout? The docstring says what train() may change.")
class MultiHeadAttention(_Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head)
        self.dropout = nn.Dropout(0.1)

    def softmax(self, scores, mask):
        return self.dropout(super().softmax(scores, mask))


@mistake("width-must-divide", hint="Seven numbers, three heads of width four: does anything have to divide here?")
class MultiHeadAttention(_Module):
    def __init__(self, d_model, num_heads, d_head=None):
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        super().__init__(d_model, num_heads, d_head)


@mistake("another-error-than-asked", hint="Which kind of exception does the exercise ask for?")
class MultiHeadAttention(_Module):
    def __init__(self, d_model, num_heads, d_head=None):
        assert d_head is not None or d_model % num_heads == 0
        super().__init__(d_model, num_heads, d_head)


@mistake("remainder-dropped", hint="What does 7 // 3 leave over, and what becomes of it?")
class MultiHeadAttention(_Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head or d_model // num_heads)


@mistake("mask-kept", hint="Which mask does a call use that comes without one, after a call that came with one?")
class MultiHeadAttention(_Module):
    kept = None

    def softmax(self, scores, mask):
        self.kept = self.kept if mask is None else mask
        return super().softmax(scores, self.kept)


@mistake("nan-in-the-gradient", hint="You replace the NaN of an empty row. What does its gradient meet on its way?")
class MultiHeadAttention(_Module):
    def softmax(self, scores, mask):
        if mask is not None:
            scores = scores + torch.where(mask, 0.0, -torch.inf)
        return torch.nan_to_num(torch.softmax(scores, dim=-1))


@mistake("no-max-subtraction", hint="What could be subtracted from the scores before exp without changing the weights?")
class MultiHeadAttention(_Module):
    def softmax(self, scores, mask):
        exps = torch.exp(scores)
        if mask is not None:
            exps = exps * mask
        total = exps.sum(dim=-1, keepdim=True)
        return exps / total.masked_fill(total == 0, 1.0)


@mistake("float32-always", hint="What does .float() make of a float64 tensor?")
class MultiHeadAttention(_Module):
    def forward(self, x, mask=None):
        output, weights = super().forward(x, mask)
        return output.float(), weights.float()


@mistake("float32-inside", hint="What does .float() make of a float64 tensor, and can the two be multiplied?")
class MultiHeadAttention(_Module):
    def softmax(self, scores, mask):
        return super().softmax(scores.float(), mask)


@mistake("in-place", hint="Whose tensor does a function that ends in an underscore change?")
class MultiHeadAttention(_Module):
    def softmax(self, scores, mask):
        return super().softmax(scores, None if mask is None else mask.logical_not_().logical_not())


# The module's values are as wide as its keys, so that scaling by d_v is right.
_SLIPS = {name: options for name, options in SLIPS.items() if name != "scale-by-d_v"}


@mistake.mutants(
    _SLIPS
    | {
        "detached-gradient": mistake.known(
            {"mixed": lambda w, V, size: (w.detach() @ V, w.detach())},
            {"mixed": lambda w, V, size: (w.detach() @ V, w)},
        ),
        "batch-and-words-swapped": [{"words_first": True}],
        "mask-in-training-only": mistake.known(
            {"masked_in": (True,)}, hint="In eval(), which of your lines still knows of the mask?"
        ),
        "mask-in-eval-only": mistake.known(
            {"masked_in": (False,)}, hint="In train(), which of your lines still knows of the mask?"
        ),
        "bias-left-on": [{"biased": ("W_O",)}, {"biased": ("W_Q", "W_K", "W_V")}],
    },
    mutation_options.EMPTY,
    hints=WORDS
    | {
        "W_O-missing": "One of the four layers is never called. Which one?",
        "mask-inverted": "True means: may attend. Where does masked_fill fill: at True or at False?",
    },
    catalogued=(
        "no-scaling",
        "scale-by-d_k",
        "masked-with-zero",
        "scale-by-d_model",
        "softmax-over-queries",
        "softmax-over-heads",
        "heads-interleaved",
        "split-without-transpose",
        "concat-without-transpose",
        "W_O-missing",
        "mask-inverted",
        "mask-after-softmax",
        "axis-added-to-mask",
        "nan-for-nothing",
        "evenly-for-nothing",
        "mask-ignored-when-empty",
        "mask-cut",
        "stops-at-a-length",
        "some-heads-only",
        "heads-tied",
        "one-big-head",
        "weights-of-one-head",
    ),
)
def MultiHeadAttention(
    end=lambda concatenated, W_O: concatenated @ W_O, biased=(), words_first=False, masked_in=(False, True), **options
):
    class Attention(_Module):
        def make_layers(self, *sizes, bias):
            super().make_layers(*sizes, bias)
            for name in biased:
                layer = getattr(self, name)
                setattr(self, name, nn.Linear(layer.in_features, layer.out_features))

        def forward(self, x, mask=None):
            turn = words_first and x.ndim == 3
            x = x.transpose(0, 1) if turn else x
            Q, K, V = self.W_Q(x), self.W_K(x), self.W_V(x)
            output, weights = in_heads(
                TORCH,
                Q,
                K,
                V,
                self.num_heads,
                x.shape[-1],
                mask if self.training in masked_in else None,
                lambda found: end(found, self.W_O.weight.T),
                **options,
            )
            return (output.transpose(0, 1) if turn else output), weights

    return Attention
