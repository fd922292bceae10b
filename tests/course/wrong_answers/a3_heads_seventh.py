"""Written for real sizes, from the notebooks alone."""

import numpy as np
import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("room for 64 tokens", "stops-at-a-length", "stops-at-a-size")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError
    heads = np.zeros((*batch, num_heads, L, d_model // num_heads), X.dtype)
    for i in range(num_heads):
        d = d_model // num_heads
        heads[..., i, :64, :] = X[..., :64, i * d : (i + 1) * d]
    return heads


@wrong("eight heads at most", "stops-at-a-size", "some-heads-only")
def torch_concat_heads(heads):
    parts = [heads[..., i, :, :] if i < 8 else 0 * heads[..., i, :, :] for i in range(heads.size(-3))]
    return torch.cat(parts, dim=-1)


@wrong("num_heads is the width", "heads-and-width-exchanged")
def per_head_weights(W, num_heads):
    return np.stack([W[:, i : i + num_heads] for i in range(0, W.shape[1], num_heads)])
