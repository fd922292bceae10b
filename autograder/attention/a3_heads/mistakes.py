"""Known mistakes of a3: splitting into heads, and putting heads together."""

import numpy as np
import torch

from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()

# ---------------------------------------------------------------- split_heads


@mistake("split-without-transpose", hint="Has head 0 a row for each token, or pieces of the first ones?")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return X.reshape(*batch, num_heads, L, d_model // num_heads)


# Written out, since tests hand it in.
@mistake("heads-interleaved", hint="Which columns does head 0 own: neighbours, or every h-th one?")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    d = d_model // num_heads
    return np.moveaxis(X.reshape(*batch, L, d, num_heads), -1, -3)


@mistake("one-head-for-all", hint="Head 0 looks right. Where does head 1 get its columns from?")
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return np.stack([X[..., : d_model // num_heads]] * num_heads, axis=-3)


@mistake("split-along-tokens", hint="Should a head see every token, or its share of the tokens?")
def split_heads(X, num_heads):
    if X.shape[-1] % num_heads:
        raise ValueError("num_heads must divide d_model")
    return np.stack(np.split(X, num_heads, axis=-2), axis=-3)


@mistake("list-of-heads", hint="What kind of thing does np.split give back, and what does the docstring ask for?")
def split_heads(X, num_heads):
    return np.split(X, num_heads, axis=-1)


@mistake("no-batch-axes", hint="Which axes do the numbers in your transpose mean when there is a batch axis in front?")
def split_heads(X, num_heads):
    L, d_model = X.shape[-2:]
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return X.reshape(-1, L, num_heads, d_model // num_heads)[0].transpose(1, 0, 2)


@mistake("batch-axis-required", hint="How many axes does X have for a single sentence?")
def split_heads(X, num_heads):
    B, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return X.reshape(B, L, num_heads, d_model // num_heads).transpose(0, 2, 1, 3)


@mistake("leftover-columns-dropped", hint="Six columns, four heads: which columns reach no head, and who is told?")
def split_heads(X, num_heads):
    d = X.shape[-1] // num_heads
    return np.stack([X[..., i * d : (i + 1) * d] for i in range(num_heads)], axis=-3)


@mistake("float64-always", hint="Which dtype has each array that you make yourself, if you do not say?")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    d = d_model // num_heads
    heads = np.zeros((*batch, num_heads, L, d))
    for i in range(num_heads):
        heads[..., i, :, :] = X[..., i * d : (i + 1) * d]
    return heads


@mistake("in-place", hint="After the call, which shape does the caller's X have?")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    X.shape = (*batch, L, num_heads, d_model // num_heads)
    return X.swapaxes(-3, -2)


# ---------------------------------------------------------------- concat_heads


@mistake("concat-without-transpose", hint="Row 0 is the first token's. From which heads are your row 0's numbers?")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.reshape(*batch, L, h * d)


@mistake("swapped-not-joined", hint="How many axes should be left, once the heads' widths stand side by side?")
def concat_heads(heads):
    return heads.swapaxes(-3, -2)


@mistake("no-batch-axes", hint="Which axis does a for loop over an array go through, in a batch?")
def concat_heads(heads):
    return np.concatenate([head for head in heads], axis=-1)


@mistake("float64-always", hint="Which dtype has each array that you make yourself, if you do not say?")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    result = np.zeros((*batch, L, h * d))
    for i in range(h):
        result[..., i * d : (i + 1) * d] = heads[..., i, :, :]
    return result


@mistake("axes-squeezed", hint="What does np.squeeze do to a sentence of one token?")
def concat_heads(heads):
    return np.concatenate(np.split(heads, heads.shape[-3], axis=-3), axis=-1).squeeze()


# ---------------------------------------------------------------- per_head_weights


@mistake("split-without-transpose", hint="Column 0 of W makes one number of head 0. Is it a column of your head 0?")
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    return W.reshape(num_heads, d_in, width // num_heads)


@mistake("rows-for-columns", hint="Rows belong to what goes into a projection. What is it that the heads share out?")
def per_head_weights(W, num_heads):
    return np.stack(np.split(W, num_heads, axis=0))


@mistake("heads-not-first", hint="What is result[0]: the first head's weights, or the first row of them all?")
def per_head_weights(W, num_heads):
    return np.stack(np.split(W, num_heads, axis=-1), axis=1)


@mistake("one-head-for-all", hint="Head 0 looks right. Where does head 1 get its columns from?")
def per_head_weights(W, num_heads):
    d = W.shape[1] // num_heads
    return np.array([W[:, :d] for _ in range(num_heads)])


@mistake("list-of-heads", hint="What kind of thing does np.split give back, and what does the docstring ask for?")
def per_head_weights(W, num_heads):
    return np.split(W, num_heads, axis=-1)


# ---------------------------------------------------------------- torch_split_heads


@mistake("split-without-transpose", hint="Has head 0 a row for each token, or pieces of the first ones?")
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return x.reshape(*batch, num_heads, L, d_model // num_heads)


@mistake("leftover-columns-dropped", hint="Six columns, four heads: which columns reach no head, and who is told?")
def torch_split_heads(x, num_heads):
    d = x.shape[-1] // num_heads
    return torch.stack([x[..., i * d : (i + 1) * d] for i in range(num_heads)], dim=-3)


@mistake("detached-gradient", hint="Which method on the way gives a tensor that autograd knows nothing of?")
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return x.detach().reshape(*batch, L, num_heads, d_model // num_heads).transpose(-3, -2)


@mistake("view-joins-batch-axes", hint="Which axes does the view join into one, and are they neighbours in memory?")
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    d = d_model // num_heads
    rows = x.view(-1, num_heads, d)
    return rows.reshape(*batch, L, num_heads, d).transpose(-3, -2)


@mistake("memory-read-as-it-lies", hint="Where do the numbers of x.T lie in memory? Do your steps know?")
def torch_split_heads(x, num_heads):
    d_model = x.shape[-1]
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    rows = x.as_strided(x.shape, torch.empty(x.shape).stride())
    return rows.unflatten(-1, (num_heads, d_model // num_heads)).transpose(-3, -2)


@mistake("float32-always", hint="Which dtype has a tensor from torch.zeros when you do not say?")
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    d = d_model // num_heads
    heads = torch.zeros(*batch, num_heads, L, d)
    for i in range(num_heads):
        heads[..., i, :, :] = x[..., i * d : (i + 1) * d]
    return heads


@mistake("tuple-of-heads", hint="What does torch.chunk give back: one tensor?")
def torch_split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("num_heads must divide d_model")
    return x.chunk(num_heads, dim=-1)


# ---------------------------------------------------------------- torch_concat_heads


@mistake("concat-without-transpose", hint="Row 0 is the first token's. From which heads are your row 0's numbers?")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.reshape(*batch, L, h * d)


@mistake("view-after-transpose", hint="Did the transpose move the numbers in memory, or change the rule for walking?")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.transpose(-3, -2).view(*batch, L, h * d)


@mistake("detached-gradient", hint="Which step on the way gives a tensor that autograd knows nothing of?")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    with torch.no_grad():
        return heads.transpose(-3, -2).reshape(*batch, L, h * d)


@mistake("no-batch-axes", hint="Which axis does a for loop over a tensor go through, in a batch?")
def torch_concat_heads(heads):
    return torch.cat([head for head in heads], dim=-1)


# ---------------------------------------------------------------- one decision wrong, and two

WORDS = {
    "heads-reversed": "Which columns stand in head 0: the first ones, or the last?",
    "heads-before-the-batch": "Which axis comes first in the docstring: the batch, or the heads?",
    "one-head-too-few": "Count the heads in your result. Where does your loop begin, and where does it end?",
    "heads-overlap": "Which columns does head 0 own, and which is the first column of head 1?",
    "width-from-the-rows": "How wide is one head's share of W? Which size of W tells you?",
    "heads-summed": "How wide is your result? What is lost when heads are added up?",
    "first-head-only": "Head 0 is there. Where do the others go?",
    "heads-below-each-other": "Side by side, or one below the other: which axis grows?",
    "weights-transposed": "In X @ own[0], which axis of own[0] meets the columns of X?",
    "batch-items-mixed": "In a batch of two texts, from which are the numbers of your first row?",
    "heads-after-tokens": "What should result[0] be: everything about the first token, or the first head?",
    "heads-averaged": "How wide is your result? What is lost when heads are added up?",
    "heads-interleaved": "Which columns does head 0 own: neighbours, or every h-th one?",
}
JOINED = WORDS | {
    "heads-interleaved": "In a row, do head 0's numbers stand together, or does each head take turns?",
}


def _checked(x, h):
    if x.shape[-1] % h:
        raise ValueError("num_heads must divide d_model")
    return x.reshape(*x.shape[:-1], h, x.shape[-1] // h)


def _backwards(x, axis):
    return np.flip(x, axis) if isinstance(x, np.ndarray) else torch.flip(x, (axis,))


def _overlapping(x, h):
    """Each head begins one column after the one before."""
    d = _checked(x, h).shape[-1]
    return _stacked([x[..., i : i + d] for i in range(h)])


def _stacked(heads):
    return np.stack(heads, axis=-2) if isinstance(heads[0], np.ndarray) else torch.stack(heads, dim=-2)


def _first(x, axis):
    return np.moveaxis(x, axis, 0) if isinstance(x, np.ndarray) else torch.movedim(x, axis, 0)


CUTS = {
    "heads-interleaved": [
        {"cut": lambda x, h: _checked(x, x.shape[-1] // h).swapaxes(-2, -1) if _checked(x, h) is not None else x}
    ],
    "heads-reversed": [{"cut": lambda x, h: _backwards(_checked(x, h), -2)}],
    "heads-after-tokens": [{"place": lambda cut: cut}],
    "one-head-too-few": [{"end": lambda heads: heads[..., :-1, :, :]}, {"end": lambda heads: heads[..., 1:, :, :]}],
    "first-head-only": [{"end": lambda heads: heads[..., 0, :, :]}],
    "heads-overlap": [{"cut": _overlapping}],
    "heads-before-the-batch": [{"place": lambda cut: _first(cut, -2)}],
}


def _split_by(cut=_checked, place=lambda cut: cut.swapaxes(-3, -2), end=lambda heads: heads):
    return lambda x, h: end(place(cut(x, h)))


@mistake.recipe(CUTS, hints=WORDS, held=("heads-after-tokens",))
def split_heads(**options):
    split = _split_by(**options)
    return lambda X, num_heads: split(X, num_heads)


@mistake.recipe(CUTS, hints=WORDS, held=("heads-interleaved",))
def torch_split_heads(**options):
    split = _split_by(**options)
    return lambda x, num_heads: split(x, num_heads)


@mistake.recipe(
    {
        "heads-reversed": [{"order": lambda own: own[::-1]}],
        "weights-transposed": [{"order": lambda own: own.swapaxes(-2, -1)}],
        "one-head-too-few": [{"order": lambda own: own[:-1]}],
        "first-head-only": [{"order": lambda own: own[0]}],
        "heads-interleaved": [{"interleaved": True}],
        "width-from-the-rows": [{"by_rows": True}],
    },
    hints=WORDS,
    held=("heads-interleaved", "weights-transposed"),
)
def per_head_weights(order=lambda own: own, interleaved=False, by_rows=False):
    def split(W, num_heads):
        if by_rows:
            d = W.shape[0] // num_heads
            return order(np.array([W[:, i * d : (i + 1) * d] for i in range(num_heads)]))
        d = W.shape[1] // num_heads
        if interleaved:
            return order(W.reshape(W.shape[0], d, num_heads).transpose(2, 0, 1))
        return order(W.reshape(W.shape[0], num_heads, d).swapaxes(0, 1))

    return split


def _silenced(heads, i):
    heads = heads * 1
    heads[..., i, :, :] = 0
    return heads


JOINS = {
    "heads-summed": [{"join": lambda heads: heads.sum(-3)}],
    "heads-averaged": [
        {"join": lambda heads: heads.sum(-3) / heads.shape[-3]},
        {"some": lambda heads: 0 * heads + (heads.sum(-3) / heads.shape[-3])[..., None, :, :]},
    ],
    "first-head-only": [{"join": lambda heads: heads[..., 0, :, :]}],
    "one-head-too-few": [
        {"some": lambda heads: heads[..., :-1, :, :]},
        {"some": lambda heads: heads[..., 1:, :, :]},
        {"some": lambda heads: _silenced(heads, 0)},
        {"some": lambda heads: _silenced(heads, -1)},
    ],
    "heads-reversed": [{"some": lambda heads: _backwards(heads, -3)}],
    "heads-interleaved": [{"turn": lambda tokens: tokens.swapaxes(-2, -1)}],
    "heads-below-each-other": [{"join": lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])}],
}


def _joined_by(some=lambda heads: heads, turn=lambda tokens: tokens, join=None):
    def joined(heads):
        heads = some(heads)
        if join is not None:
            return join(heads)
        tokens = turn(heads.swapaxes(-3, -2))
        return tokens.reshape(*tokens.shape[:-2], tokens.shape[-2] * tokens.shape[-1])

    return joined


@mistake.recipe(JOINS, hints=JOINED, held=("heads-averaged", "heads-interleaved", "heads-below-each-other"))
def concat_heads(**options):
    return _joined_by(**options)


@mistake.recipe(JOINS, hints=JOINED, held=("heads-averaged", "heads-interleaved"))
def torch_concat_heads(**options):
    return _joined_by(**options)
