"""Known mistakes of a4: sizes, the output projection, and multi-head attention in NumPy and PyTorch."""

import math

import numpy as np
import torch
import torch.nn as nn

from autograder.attention.hidden import decisions
from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()


# ---------------------------------------------------------------- projection_shapes


@mistake("transposed", hint="X @ W_Q: which size of X must agree with which size of W_Q?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (qk, d_model), "W_K": (qk, d_model), "W_V": (v, d_model), "W_O": (d_model, v)}


@mistake("W_O-transposed", hint="Which size does the concatenation have, and which size should come out of W_O?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (d_model, v)}


@mistake("one-head-for-all", hint="Are these the matrices of one head or of all of them? Where does num_heads come in?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"W_Q": (d_model, d_k), "W_K": (d_model, d_k), "W_V": (d_model, d_v), "W_O": (d_v, d_model)}


@mistake("W_O-for-one-head", hint="How wide are the heads once they stand side by side?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (d_v, d_model)}


@mistake("W_O-from-d_k", hint="What is it that gets concatenated: queries, keys, or blends of values?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (qk, d_model)}


@mistake("d_v-ignored", hint="Which of the four arguments has your code not used?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    wide = num_heads * d_k
    return {"W_Q": (d_model, wide), "W_K": (d_model, wide), "W_V": (d_model, wide), "W_O": (wide, d_model)}


@mistake("always-square", hint="In the paper h * d_k equals d_model. Does it in each row of the table?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (d_model, d_model))


@mistake("W_O-square", hint="How wide are the heads side by side? Is that d_model in each row of the table?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (d_model, d_model)}


@mistake("heads-on-an-axis", hint="One matrix makes the queries of all heads at once. How many axes has it?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    q, v = (num_heads, d_model, d_k), (num_heads, d_model, d_v)
    return {"W_Q": q, "W_K": q, "W_V": v, "W_O": (num_heads * d_v, d_model)}


@mistake("lists-for-shapes", hint="What type has the shape of a NumPy array?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": [d_model, qk], "W_K": [d_model, qk], "W_V": [d_model, v], "W_O": [v, d_model]}


# ---------------------------------------------------------------- output_projection


# Written out, since tests hand it in.
@mistake("W_O-transposed", hint="Do rows or columns of W_O belong to the heads' numbers?")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, L, h * d_v) @ W_O.T


@mistake("heads-averaged", hint="Is there a mean over the heads in your code? What does the formula do with them?")
def output_projection(heads, W_O):
    return heads.mean(axis=-3) @ W_O[: heads.shape[-1]]


@mistake("rows-reversed", hint="Whose numbers come first in the concatenation?")
def output_projection(heads, W_O):
    return np.concatenate([heads[..., i, :, :] for i in reversed(range(heads.shape[-3]))], axis=-1) @ W_O


@mistake("axes-counted-from-the-front", hint="With a batch, which axis is axis 0? How could you count from the end?")
def output_projection(heads, W_O):
    return np.concatenate(list(heads), axis=-1) @ W_O


@mistake("batch-item-0-for-all", hint="Does every item of the batch get an answer of its own?")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    first = heads.reshape(-1, h, L, d_v)[0].swapaxes(0, 1).reshape(L, h * d_v) @ W_O
    return np.broadcast_to(first, (*batch, L, W_O.shape[1]))


@mistake("float64-always", hint="Which dtype has each array that you make yourself, if you do not say?")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    total = np.zeros((*batch, L, W_O.shape[1]))
    for i in range(h):
        total += heads[..., i, :, :] @ W_O[i * d_v : (i + 1) * d_v]
    return total


# ---------------------------------------------------------------- multi_head_attention


def _split(projected, num_heads):
    *batch, L, width = projected.shape
    return projected.reshape(*batch, L, num_heads, width // num_heads).swapaxes(-3, -2)


def _concat(heads):
    *batch, h, L, d = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, L, h * d)


def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights if mask is None else np.where(mask, weights, 0)


@mistake("one-head-for-all", hint="Compare two heads' weights. Should they be the same?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    outputs, all_weights = [], []
    d_k, d_v = W_Q.shape[-1] // num_heads, W_V.shape[-1] // num_heads
    if mask is not None:
        mask = np.broadcast_to(mask, (*X.shape[:-2], num_heads, X.shape[-2], X.shape[-2]))
    for i in range(num_heads):
        Q, K, V = X @ W_Q[:, :d_k], X @ W_K[:, :d_k], X @ W_V[:, :d_v]
        own = None if mask is None else mask[..., i, :, :]
        weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k), own)
        outputs.append(weights @ V)
        all_weights.append(weights)
    return np.concatenate(outputs, axis=-1) @ W_O, np.stack(all_weights, axis=-3)


@mistake("one-big-head", hint="How many matrices of weights are there? Over how many columns does a score add up?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    one = None if mask is None else mask[..., 0, :, :] if mask.ndim > 2 else mask
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), one)
    return weights @ V @ W_O, np.stack([weights] * num_heads, axis=-3)


@mistake("weights-averaged", hint="The weights should show what each head looks at. How many axes do they have?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _concat(weights @ V) @ W_O, weights.mean(axis=-3)


@mistake("d_k-from-d_model", hint="d_model need not be h * d_k. Which shape tells you how wide a head really is?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, d_model = X.shape
    d_k = d_model // num_heads
    Q, K, V = ((X @ W).reshape(*batch, L, num_heads, d_k).swapaxes(-3, -2) for W in (W_Q, W_K, W_V))
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake("leaky-mask", hint="Could a visible score be lower than the number you put in place of the hidden ones?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e3)
    weights = _softmax(scores)
    if mask is not None:
        weights = weights * np.any(mask, axis=-1, keepdims=True)
    return _concat(weights @ V) @ W_O, weights


@mistake("mask-for-the-first-head-only", hint="Look at each head's weights in turn. Where does the mask show?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    if mask is not None:
        mask = np.broadcast_to(mask, (*V.shape[:-1], V.shape[-2])).copy()
        mask[..., 1:, :, :] = True
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake("no-max-subtraction", hint="What could be subtracted from the scores before exp without changing the weights?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    exps = np.exp(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]))
    if mask is not None:
        exps = exps * mask
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total > 0, total, 1)
    return _concat(weights @ V) @ W_O, weights


@mistake("float64-always", hint="Which dtype has each number and array that you make yourself?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1) / np.asarray([math.sqrt(Q.shape[-1])]), mask)
    return _concat(weights @ V) @ W_O, weights


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return weights, _concat(weights @ V) @ W_O


@mistake("in-place", hint="Whose array does an operator like /= change?")
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    W_Q /= math.sqrt(W_Q.shape[-1] // num_heads)
    Q, K, V = _split(X @ W_Q, num_heads), _split(X @ W_K, num_heads), _split(X @ W_V, num_heads)
    weights = _softmax(Q @ K.swapaxes(-2, -1), mask)
    return _concat(weights @ V) @ W_O, weights


# ---------------------------------------------------------------- MultiHeadAttention


class _Module(nn.Module):
    """A right module in small steps; each mistake below gets one of them wrong."""

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


# ---------------------------------------------------------------- one decision wrong, and two

NUMPY, TORCH = decisions.numpy_ways(), decisions.torch_ways()
SCALES = decisions.SCALES | {
    "scale-by-d_v": decisions.BY_VALUES["scale-by-d_v"],
    "scale-by-d_model": [{"scale": lambda size: math.sqrt(size.d_model)}, {"scale": lambda size: size.d_model}],
    "scale-by-whole-width": [{"scale": lambda size: math.sqrt(size.h * size.d_k)}],
    "scale-by-num_heads": [{"scale": lambda size: math.sqrt(size.h)}, {"scale": lambda size: size.h}],
}


def _cut(x, h):
    return x.reshape(*x.shape[:-1], h, x.shape[-1] // h)


def _interleaved(x, h):
    return x.reshape(*x.shape[:-1], x.shape[-1] // h, h).swapaxes(-2, -1)


def _joined(tokens):
    return tokens.reshape(*tokens.shape[:-2], tokens.shape[-2] * tokens.shape[-1])


def _backwards(x):
    """The heads in reversed order."""
    return x[..., ::-1, :, :] if isinstance(x, np.ndarray) else x.flip(-3)


HEADS = {
    "heads-interleaved": [
        {"split": lambda x, h: _interleaved(x, h).swapaxes(-3, -2)},
        {"join": lambda heads: _joined(heads.swapaxes(-3, -2).swapaxes(-2, -1))},
        {
            "split": lambda x, h: _interleaved(x, h).swapaxes(-3, -2),
            "join": lambda heads: _joined(heads.swapaxes(-3, -2).swapaxes(-2, -1)),
        },
    ],
    "split-without-transpose": [{"split": lambda x, h: x.reshape(*x.shape[:-2], h, x.shape[-2], x.shape[-1] // h)}],
    "attention-over-heads": [{"split": _cut, "join": _joined}],
    "concat-without-transpose": [
        {"join": lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-2], heads.shape[-3] * heads.shape[-1])}
    ],
    "heads-reversed": [
        {"join": lambda heads: _joined(_backwards(heads).swapaxes(-3, -2))},
        {"split": lambda x, h: _backwards(_cut(x, h).swapaxes(-3, -2))},
    ],
    "heads-summed": [
        {"join": lambda heads: _joined((0 * heads + heads.sum(-3)[..., None, :, :]).swapaxes(-3, -2))},
        {"join": lambda heads: heads.sum(-3)},
    ],
    "heads-averaged": [
        {"join": lambda heads: _joined((0 * heads + heads.mean(-3)[..., None, :, :]).swapaxes(-3, -2))},
        {"join": lambda heads: heads.mean(-3)},
        {"join": lambda heads: _joined(heads.swapaxes(-3, -2)) / heads.shape[-3]},
    ],
    "first-head-only": [
        {"join": lambda heads: _joined((0 * heads + heads[..., :1, :, :]).swapaxes(-3, -2))},
        {"join": lambda heads: heads[..., 0, :, :]},
    ],
}


def _unless_as_wide(concatenated, W_O):
    return concatenated if concatenated.shape[-1] == W_O.shape[-1] else concatenated @ W_O


def _of_head_0(x):
    return 0 * x + x[..., :1, :, :]


OF_HEAD_0 = {
    "keys-of-head-0-for-all": [{"operands": lambda Q, K, V: (Q, _of_head_0(K), V)}],
    "queries-of-head-0-for-all": [{"operands": lambda Q, K, V: (_of_head_0(Q), K, V)}],
    "values-of-head-0-for-all": [{"operands": lambda Q, K, V: (Q, K, _of_head_0(V))}],
}
PROJECTIONS = {
    "W_O-missing": [{"end": lambda concatenated, W_O: concatenated}, {"end": _unless_as_wide}],
    "W_O-transposed": [{"end": lambda concatenated, W_O: concatenated @ W_O.T}],
    "values-from-W_K": [{"sources": lambda Q, K, V: (Q, K, K)}],
    "values-from-W_Q": [{"sources": lambda Q, K, V: (Q, K, Q)}],
    "keys-from-W_Q": [{"sources": lambda Q, K, V: (Q, Q, V)}],
    "queries-from-W_K": [{"sources": lambda Q, K, V: (K, K, V)}],
    "queries-and-keys-swapped": [{"sources": lambda Q, K, V: (K, Q, V)}],
    "W_K-and-W_V-swapped": [{"sources": lambda Q, K, V: (Q, V, K)}],
}
MASKS = decisions.without(decisions.MASKS, "mask-of-the-first-for-all")
SLIPS = (
    SCALES | HEADS | OF_HEAD_0 | PROJECTIONS | MASKS | decisions.MASK_AXES | decisions.NOTHING
    | decisions.AXES | {"softmax-over-heads": [{"axis": -3}], "one-softmax-for-all-heads": [{"axis": (-3, -1)}]}
    | decisions.only(decisions.CURVES, "softmax-missing", "softmax-twice", "no-exponential", "not-normalised",
                     "sigmoid-for-softmax", "no-max-subtraction", "sign-flipped", "hard-maximum")
    | decisions.TURNS | decisions.AFTER
    | {"weights-of-head-0-for-all": [{"mixed": lambda w, V, size: (w @ V, 0 * w + w[..., :1, :, :])}]}
)  # fmt: skip
WORDS = decisions.HINTS | {
    "residual-added": "What does the docstring add to the output?",
    "weights-of-head-0-for-all": "Are the weights that you give back each head's own?",
    "keys-of-head-0-for-all": "Which columns of W_K make the keys of head 1?",
    "queries-of-head-0-for-all": "Which columns of W_Q make the queries of head 1?",
    "values-of-head-0-for-all": "Which columns of W_V make the values of head 1?",
    "one-softmax-for-all-heads": "What does one row of a single head's weights sum to?",
    "batch-and-words-swapped": "Change the second text of a batch: does the first one's output change?",
    "heads-interleaved": "Which columns does head 0 own: neighbours, or every h-th one?",
    "split-without-transpose": "Has head 0 a row for each token, or pieces of the first ones?",
    "concat-without-transpose": "Row 0 is the first token's. From which heads are your row 0's numbers?",
    "attention-over-heads": "Which two axes does your matrix product meet: two of words, or the heads?",
    "heads-reversed": "Which head's numbers stand first in a row of yours?",
    "heads-summed": "Side by side, or added up: what is lost when heads are added?",
    "heads-averaged": "Side by side, or added up: what is lost when heads are averaged?",
    "first-head-only": "Head 0 is there. Where do the others go?",
    "W_O-missing": "What happens to the concatenated heads before they are given back?",
    "W_O-transposed": "Which axis of W_O meets the concatenated heads?",
    "values-from-W_K": "Which matrix makes the values? Is each of the four used once?",
    "values-from-W_Q": "Which matrix makes the values? Is each of the four used once?",
    "keys-from-W_Q": "Which matrix makes the keys? Is each of the four used once?",
    "queries-from-W_K": "Which matrix makes the queries? Is each of the four used once?",
    "W_K-and-W_V-swapped": "Which matrix makes what is compared, and which one what is blended?",
    "first-block-for-all": "Which rows of W_O meet head 1?",
    "one-head-too-few": "Count the heads that reach your result. Where does your loop end?",
}


def _in_heads(
    xp, Q, K, V, h, d_model, allowed, project,
    split=lambda x, h: _cut(x, h).swapaxes(-3, -2),
    join=lambda heads: _joined(heads.swapaxes(-3, -2)),
    sources=lambda Q, K, V: (Q, K, V),
    **options,
):  # fmt: skip
    heads = [split(x, h) for x in sources(Q, K, V)]
    found, weights = decisions.attend(xp, *heads, allowed, more={"h": h, "d_model": d_model}, **options)
    return project(join(found)), weights


@mistake.recipe(
    SLIPS | {"residual-added": [{"residual": 1}]}, decisions.EMPTY, WORDS,
    held=(
        "no-scaling", "scale-by-d_k", "scale-by-d_model", "softmax-over-queries", "heads-interleaved",
        "split-without-transpose", "concat-without-transpose", "W_O-missing", "W_O-transposed", "mask-inverted",
        "mask-after-softmax", "masked-with-zero", "axis-added-to-mask", "nan-for-nothing", "evenly-for-nothing",
    ),
)  # fmt: skip
def multi_head_attention(end=lambda concatenated, W_O: concatenated @ W_O, residual=0, **options):
    def attend(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
        Q, K, V, width = X @ W_Q, X @ W_K, X @ W_V, X.shape[-1]
        found = _in_heads(NUMPY, Q, K, V, num_heads, width, mask, lambda found: end(found, W_O), **options)
        return (found[0] + X, found[1]) if residual else found

    return attend


@mistake.recipe(
    SLIPS
    | {
        "detached-gradient": [
            {"mixed": lambda w, V, size: (w.detach() @ V, w.detach())},
            {"mixed": lambda w, V, size: (w.detach() @ V, w)},
        ],
        "batch-and-words-swapped": [{"words_first": True}],
        "bias-left-on": [{"biased": ("W_O",)}, {"biased": ("W_Q", "W_K", "W_V")}],
    },
    decisions.EMPTY,
    WORDS | {
        "W_O-missing": "One of the four layers is never called. Which one?",
        "mask-inverted": "True means: may attend. Where does masked_fill fill: at True or at False?",
    },
    held=(
        "no-scaling", "scale-by-d_k", "masked-with-zero", "scale-by-d_model", "softmax-over-queries",
        "softmax-over-heads", "heads-interleaved", "split-without-transpose", "concat-without-transpose", "W_O-missing",
        "mask-inverted", "mask-after-softmax", "axis-added-to-mask", "nan-for-nothing", "evenly-for-nothing",
        "detached-gradient",
    ),
)  # fmt: skip
def MultiHeadAttention(end=lambda concatenated, W_O: concatenated @ W_O, biased=(), words_first=False, **options):
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
            output, weights = _in_heads(
                TORCH,
                Q,
                K,
                V,
                self.num_heads,
                x.shape[-1],
                mask,
                lambda found: end(found, self.W_O.weight.T),
                **options,
            )
            return (output.transpose(0, 1) if turn else output), weights

    return Attention


@mistake.recipe(
    {name: joins for name, ways in HEADS.items() if (joins := [way for way in ways if way.keys() == {"join"}])}
    | decisions.only(PROJECTIONS, "W_O-missing", "W_O-transposed")
    | {
        "first-block-for-all": [
            {"join": lambda heads: heads.sum(-3), "end": lambda summed, W_O: summed @ W_O[: summed.shape[-1]]}
        ],
        "one-head-too-few": [{"skip": -1}, {"skip": 0}],
    },
    hints=WORDS | {
        "heads-interleaved": "In a row of the concatenation, whose number stands beside the first one of head 1?",
    },
    held=("concat-without-transpose", "heads-interleaved", "W_O-missing"),
)  # fmt: skip
def output_projection(
    join=lambda heads: _joined(heads.swapaxes(-3, -2)), end=lambda concatenated, W_O: concatenated @ W_O, skip=None
):
    def project(heads, W_O):
        if skip is not None and heads.shape[-3] > 1:
            heads = heads.copy()
            heads[..., skip, :, :] = 0
        return end(join(heads), W_O)

    return project
