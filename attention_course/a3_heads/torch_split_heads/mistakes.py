"""Known mistakes of torch_split_heads."""

import torch

from autograder.testing import Catalogue

from ..shared_mistakes import CUTS, WORDS, split_by

mistake = Catalogue()


@mistake("split-without-transpose", hint="Has head 0 a row for each token, or pieces of the first ones?")
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return x.reshape(*batch, num_heads, L, d_model // num_heads)


@mistake("leftover-columns-dropped", hint="Six columns, four heads: which columns reach no head, and who learns of it?")
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


@mistake("tuple-of-heads", hint="What does torch.chunk return: one tensor?")
def torch_split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("num_heads must divide d_model")
    return x.chunk(num_heads, dim=-1)


@mistake.mutants(CUTS, hints=WORDS, catalogued=("heads-interleaved", "stops-at-a-length", "some-heads-only"))
def torch_split_heads(**options):
    split = split_by(**options)
    return lambda x, num_heads: split(x, num_heads)
