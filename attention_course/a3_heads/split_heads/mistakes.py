"""Known mistakes of split_heads."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import CUTS, WORDS, split_by

mistake = Catalogue()


@mistake("split-without-transpose", hint="Has head 0 a row for each token, or pieces of the first ones?")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return X.reshape(*batch, num_heads, L, d_model // num_heads)


# Written out as code, because tests submit it.
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


@mistake(
    "list-of-heads", hint="Does your code return a list or one array, and which of them does the docstring ask for?"
)
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


@mistake("leftover-columns-dropped", hint="Six columns, four heads: which columns reach no head, and who learns of it?")
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


@mistake.mutants(CUTS, hints=WORDS, catalogued=("heads-after-tokens", "stops-at-a-length", "some-heads-only"))
def split_heads(**options):
    split = split_by(**options)
    return lambda X, num_heads: split(X, num_heads)
