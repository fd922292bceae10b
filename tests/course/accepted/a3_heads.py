"""Correct answers to a3 in many styles."""

from functools import reduce

import numpy as np
import torch
import torch.nn.functional as F

from autograder.testing import Catalogue

accepted = Catalogue()


def checked(width, num_heads):
    """The width of one head."""
    if width % num_heads:
        raise ValueError(f"{width} % {num_heads} != 0")
    return width // num_heads


# ---------------------------------------------------------------- split_heads


@accepted("np.split and stack")
def split_heads(X, num_heads):
    return np.stack(np.split(X, num_heads, axis=-1), axis=-3)  # np.split raises the ValueError


@accepted("loop into an empty array")
def split_heads(X, num_heads):
    d = checked(X.shape[-1], num_heads)
    heads = np.empty((*X.shape[:-2], num_heads, X.shape[-2], d), dtype=X.dtype)
    for i in range(num_heads):
        heads[..., i, :, :] = X[..., :, i * d : (i + 1) * d]
    return heads


@accepted("einsum with a selection")
def split_heads(X, num_heads):
    d = checked(X.shape[-1], num_heads)
    own = np.eye(X.shape[-1], dtype=X.dtype).reshape(X.shape[-1], num_heads, d)
    return np.einsum("...lm,mhd->...hld", X, own)


@accepted("one number at a time")
def split_heads(X, num_heads):
    d = checked(X.shape[-1], num_heads)
    rows = X.reshape(-1, X.shape[-2], X.shape[-1])
    items = [[[[row[j] for j in range(i * d, (i + 1) * d)] for row in item] for i in range(num_heads)] for item in rows]
    return np.array(items, dtype=X.dtype).reshape(*X.shape[:-2], num_heads, X.shape[-2], d)


@accepted("recursion over batch axes")
def split_heads(X, num_heads):
    def split(item):
        if item.ndim > 2:
            return np.array([split(part) for part in item])
        d = checked(item.shape[1], num_heads)
        return item.T.reshape(num_heads, d, -1).transpose(0, 2, 1)

    return split(X)


@accepted("take with indices")
def split_heads(X, num_heads):
    d = checked(X.shape[-1], num_heads)
    columns = np.arange(num_heads * d).reshape(num_heads, 1, d)
    return X[..., np.arange(X.shape[-2])[:, None], columns]


@accepted("strides")
def split_heads(X, num_heads):
    if X.shape[-1] % num_heads:
        raise ValueError("heads must divide d_model")
    X = np.ascontiguousarray(X)
    *lead, L, m = X.shape
    d = m // num_heads
    *s, row, one = X.strides
    return np.lib.stride_tricks.as_strided(X, (*lead, num_heads, L, d), (*s, d * one, row, one)).copy()


# ---------------------------------------------------------------- concat_heads


@accepted("np.concatenate of slices")
def concat_heads(heads):
    return np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3])], axis=-1)


@accepted("moveaxis and -1")
def concat_heads(heads):
    tokens = np.moveaxis(heads, -3, -2)
    return tokens.reshape((*tokens.shape[:-2], -1))


@accepted("einsum, then reshape")
def concat_heads(heads):
    return np.einsum("...hld->...lhd", heads).reshape(*heads.shape[:-3], heads.shape[-2], -1)


@accepted("sum of padded heads")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    result = np.zeros((*batch, L, h * d), heads.dtype)
    for i in range(h):
        before_after = [(0, 0)] * (len(batch) + 1) + [(i * d, (h - 1 - i) * d)]
        result += np.pad(heads[..., i, :, :], before_after)
    return result


@accepted("batch item by batch item")
def concat_heads(heads):
    if heads.ndim > 3:
        return np.stack([concat_heads_of_one(item) for item in heads])
    return concat_heads_of_one(heads)


def concat_heads_of_one(heads):
    if heads.ndim > 3:
        return np.stack([concat_heads_of_one(item) for item in heads])
    return np.hstack(list(heads))


@accepted("explicit copy")
def concat_heads(heads):
    tokens = np.ascontiguousarray(np.swapaxes(heads, -2, -3))
    tokens.shape = (*tokens.shape[:-2], tokens.shape[-2] * tokens.shape[-1])
    return tokens


@accepted("one head appended after the other")
def concat_heads(heads):
    return reduce(lambda left, right: np.append(left, right, axis=-1), np.moveaxis(heads, -3, 0))


# ---------------------------------------------------------------- per_head_weights


@accepted("np.split and stack")
def per_head_weights(W, num_heads):
    return np.stack(np.split(W, num_heads, axis=-1))


@accepted("slices in a list")
def per_head_weights(W, num_heads):
    d = checked(W.shape[1], num_heads)
    return np.array([W[:, i * d : (i + 1) * d] for i in range(num_heads)])


@accepted("rows as tokens, einsum")
def per_head_weights(W, num_heads):
    return np.einsum("ihd->hid", W.reshape(W.shape[0], num_heads, -1))


@accepted("transposed twice")
def per_head_weights(W, num_heads):
    return W.T.reshape(num_heads, -1, W.shape[0]).swapaxes(1, 2)


@accepted("np.hsplit, Fortran order")
def per_head_weights(W, num_heads):
    return np.asfortranarray(np.array(np.hsplit(W, num_heads)))


# ---------------------------------------------------------------- torch_split_heads


@accepted("chunk and stack")
def torch_split_heads(x, num_heads):
    checked(x.shape[-1], num_heads)
    return torch.stack(x.chunk(num_heads, dim=-1), dim=-3)


@accepted("unflatten and movedim")
def torch_split_heads(x, num_heads):
    checked(x.size(-1), num_heads)
    return x.unflatten(-1, (num_heads, -1)).movedim(-2, -3)


@accepted("view of the last axis, which every layout allows")
def torch_split_heads(x, num_heads):
    d = checked(x.shape[-1], num_heads)
    return x.view(*x.shape[:-1], num_heads, d).transpose(-2, -3).contiguous()


@accepted("slices in a new tensor")
def torch_split_heads(x, num_heads):
    d = checked(x.shape[-1], num_heads)
    heads = x.new_zeros(*x.shape[:-2], num_heads, x.shape[-2], d)
    for i in range(num_heads):
        heads[..., i, :, :] = x[..., i * d : (i + 1) * d]
    return heads


@accepted("linear with a selection")
def torch_split_heads(x, num_heads):
    d = checked(x.shape[-1], num_heads)
    own = torch.eye(x.shape[-1], dtype=x.dtype).split(d)
    return torch.stack([F.linear(x, rows) for rows in own], dim=-3)


@accepted("permute with all axes named")
def torch_split_heads(x, num_heads):
    checked(x.shape[-1], num_heads)
    n = x.dim() - 2
    cut = x.reshape((*x.shape[:-1], num_heads, x.shape[-1] // num_heads))
    return cut.permute(*range(n), n + 1, n, n + 2)


@accepted("unfold")
def torch_split_heads(x, num_heads):
    d = checked(x.shape[-1], num_heads)
    return x.unfold(-1, d, d).swapaxes(-2, -3)


@accepted("gather by column numbers")
def torch_split_heads(x, num_heads):
    m = x.shape[-1]
    if m % num_heads:
        raise ValueError("no")
    d = m // num_heads
    index = torch.arange(m).view(num_heads, 1, d).expand(*x.shape[:-2], num_heads, x.shape[-2], d)
    return x.unsqueeze(-3).expand(*x.shape[:-2], num_heads, *x.shape[-2:]).gather(-1, index)


@accepted("PyTorch's own error turned into the one asked for")
def torch_split_heads(x, num_heads):
    try:
        cut = x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads)
    except RuntimeError as error:
        raise ValueError("num_heads must divide d_model") from error
    return torch.swapdims(cut, -2, -3)


# ---------------------------------------------------------------- torch_concat_heads


@accepted("cat of unbound heads")
def torch_concat_heads(heads):
    return torch.cat(heads.unbind(dim=-3), dim=-1)


@accepted("contiguous view")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.transpose(-3, -2).contiguous().view(*batch, L, h * d)


@accepted("flatten")
def torch_concat_heads(heads):
    return heads.movedim(-3, -2).flatten(start_dim=-2)


@accepted("einsum")
def torch_concat_heads(heads):
    return torch.einsum("...hld->...lhd", heads).reshape(*heads.shape[:-3], heads.shape[-2], -1)


@accepted("token by token")
def torch_concat_heads(heads):
    rows = [heads[..., i, :].flatten(-2) for i in range(heads.shape[-2])]
    return torch.stack(rows, dim=-2)


@accepted("slices in a new tensor")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    result = torch.empty(*batch, L, h * d, dtype=heads.dtype)
    for i in range(h):
        result[..., i * d : (i + 1) * d] = heads[..., i, :, :]
    return result


@accepted("selection matrices")
def split_heads(X, num_heads):
    if X.shape[-1] % num_heads:
        raise ValueError
    eye = np.eye(X.shape[-1], dtype=X.dtype).reshape(X.shape[-1], num_heads, -1)
    return np.einsum("...lc,chd->...hld", X, eye)


@accepted("turned, cut and turned")
def per_head_weights(W, num_heads):
    return W.T.reshape(num_heads, -1, W.shape[0]).transpose(0, 2, 1)


@accepted("unfold")
def torch_split_heads(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError
    d = x.size(-1) // num_heads
    return x.unfold(-1, d, d).movedim(-2, -3)


# ---------------------------------------------------------------- at real sizes


@accepted("sixteen tokens at a time")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    parts = [X[..., i : i + 16, :] for i in range(0, L, 16)]
    cut = [part.reshape(*batch, -1, num_heads, d_model // num_heads).swapaxes(-3, -2) for part in parts]
    return np.concatenate(cut, axis=-2)


@accepted("sixteen tokens at a time")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    parts = [heads[..., i : i + 16, :].swapaxes(-3, -2) for i in range(0, L, 16)]
    return np.concatenate([part.reshape(*batch, -1, h * d) for part in parts], axis=-2)


@accepted("eight columns at a time")
def per_head_weights(W, num_heads):
    own = np.empty((num_heads, W.shape[0], W.shape[1] // num_heads), dtype=W.dtype)
    for i in range(0, W.shape[1], 8):
        for column in range(i, min(i + 8, W.shape[1])):
            own[column // own.shape[2], :, column % own.shape[2]] = W[:, column]
    return own


@accepted("tokens in chunks")
def torch_split_heads(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError("num_heads must divide d_model")
    parts = [part.unflatten(-1, (num_heads, -1)).transpose(-3, -2) for part in x.split(16, dim=-2)]
    return torch.cat(parts, dim=-2)


@accepted("tokens in chunks")
def torch_concat_heads(heads):
    return torch.cat([part.transpose(-3, -2).flatten(-2) for part in heads.split(16, dim=-2)], dim=-2)
