"""Written by a fourth person, from the notebooks alone."""

import numpy as np
import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- split_heads


@wrong("List of heads.", "list-of-heads")
def split_heads(X, num_heads):
    return np.split(X, num_heads, axis=-1)


# ---------------------------------------------------------------- concat_heads


@wrong("Heads averaged.", "heads-averaged")
def concat_heads(heads):
    return heads.mean(axis=-3)


# ---------------------------------------------------------------- per_head_weights


@wrong("Num_heads and d exchanged.", "num-heads-read-as-width")
def per_head_weights(W, num_heads):
    d_in, n = W.shape
    return W.reshape(d_in, n // num_heads, num_heads).transpose(1, 0, 2)


# ---------------------------------------------------------------- torch_concat_heads


@wrong("Cut off from the gradient.", "detached-gradient")
def torch_concat_heads(heads):
    a = heads.detach().numpy()
    a = np.swapaxes(a, -2, -3)
    return torch.from_numpy(a.reshape(*a.shape[:-2], -1).copy())
