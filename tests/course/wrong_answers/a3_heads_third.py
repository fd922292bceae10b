"""Written by a third person, who knew the exercises and no catalogue."""

import numpy as np
import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- split_heads


@wrong(
    "Reshapes straight to (h, L, d), which tears tokens apart instead of cutting columns.", "split-without-transpose"
)
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError("d_model must be divisible by num_heads")
    return X.reshape(*batch, num_heads, L, d_model // num_heads)


@wrong(
    "Deals the columns out in turn, so head i gets every h-th column and not a block of neighbours.",
    "heads-interleaved",
)
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    if d_model % num_heads:
        raise ValueError(f"{d_model} is not divisible by {num_heads}")
    return np.stack([X[..., i::num_heads] for i in range(num_heads)], axis=-3)


@wrong("Stops after the reshape, with the heads still behind the tokens: (L, h, d).", "heads-after-tokens")
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    if d_model % num_heads != 0:
        raise ValueError("num_heads must divide d_model")
    d = d_model // num_heads
    return X.reshape(X.shape[:-1] + (num_heads, d))


@wrong(
    "Silently drops the columns left over where num_heads does not divide d_model, instead of raising ValueError.",
    "leftover-columns-dropped",
)
def split_heads(X, num_heads):
    d = X.shape[-1] // num_heads
    heads = []
    for i in range(num_heads):
        heads.append(X[..., i * d : (i + 1) * d])
    return np.stack(heads, axis=-3)


# ---------------------------------------------------------------- concat_heads


@wrong(
    "Reshapes at once, without first bringing the tokens in front of the heads, so rows mix different tokens.",
    "concat-without-transpose",
)
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.reshape(*batch, L, h * d)


@wrong(
    "Concatenates over the first axis, which are the texts and not the heads once there is a batch.", "no-batch-axes"
)
def concat_heads(heads):
    return np.concatenate([head for head in heads], axis=-1)


@wrong(
    "Copies the heads into an np.zeros array, which is float64 whatever the dtype of the heads.",
    "float64-always",
    form=True,
)
def concat_heads(heads):
    h, L, d = heads.shape[-3:]
    result = np.zeros((*heads.shape[:-3], L, h * d))
    for i in range(h):
        result[..., i * d : (i + 1) * d] = heads[..., i, :, :]
    return result


# ---------------------------------------------------------------- per_head_weights


@wrong("Gives each head's matrix transposed, (h, d, d_in), as nn.Linear would keep it.", "weights-transposed")
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    return W.T.reshape(num_heads, width // num_heads, d_in)


@wrong("Returns np.split's list of matrices instead of one array (h, d_in, d).", "list-of-heads", form=True)
def per_head_weights(W, num_heads):
    return np.split(W, num_heads, axis=-1)


# ---------------------------------------------------------------- torch_split_heads


@wrong("Swaps axes 1 and 2 counted from the front, which is right for exactly one batch axis only.", "one-batch-layout")
def torch_split_heads(x, num_heads):
    d_model = x.size(-1)
    if d_model % num_heads != 0:
        raise ValueError("d_model must be divisible by num_heads")
    return x.reshape(*x.shape[:-1], num_heads, d_model // num_heads).transpose(1, 2)


@wrong(
    "Stacks the heads along dim 0, in front of the batch axes instead of just before the tokens.",
    "heads-before-the-batch",
)
def torch_split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("cannot split evenly")
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=0)


@wrong("Checks the division with assert, which raises AssertionError and not ValueError.", "another-error", form=True)
def torch_split_heads(x, num_heads):
    d_model = x.shape[-1]
    assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
    return x.unflatten(-1, (num_heads, d_model // num_heads)).transpose(-3, -2)


# ---------------------------------------------------------------- torch_concat_heads


@wrong(
    "Makes the tensor contiguous but forgets to transpose, so each row is filled from one head's next tokens.",
    "concat-without-transpose",
)
def torch_concat_heads(heads):
    h, L, d = heads.shape[-3:]
    return heads.contiguous().view(*heads.shape[:-3], L, h * d)


@wrong(
    "Calls .view right after the transpose, which PyTorch refuses for numbers that are not in that order in memory.",
    "view-after-transpose",
)
def torch_concat_heads(heads):
    h, L, d = heads.shape[-3:]
    heads = heads.transpose(-3, -2)
    return heads.view(*heads.shape[:-2], h * d)
