"""Correct answers to a9 in many styles."""

import itertools
import math

import numpy as np
import torch

from autograder.testing import Catalogue

accepted = Catalogue()


# ---------------------------------------------------------------- previous_token_score


@accepted("fancy indices")
def previous_token_score(weights):
    query = np.arange(1, weights.shape[-1])
    return weights[:, query, query - 1].mean(axis=-1)


@accepted("loops that add up")
def previous_token_score(weights):
    h, L, _ = weights.shape
    scores = np.zeros(h, dtype=weights.dtype)
    for head in range(h):
        for query in range(1, L):
            scores[head] += weights[head, query, query - 1]
    return scores / (L - 1)


@accepted("a mask of the places that count")
def previous_token_score(weights):
    L = weights.shape[-1]
    return np.where(np.eye(L, k=-1) > 0, weights, 0).sum(axis=(1, 2)) / np.array(L - 1, dtype=weights.dtype)


@accepted("traces of shifted heads")
def previous_token_score(weights):
    shifted = weights[:, 1:, :-1]
    return np.einsum("hii->h", shifted) / shifted.shape[-1]


@accepted("one head after the other, stacked")
def previous_token_score(weights):
    return np.stack([np.mean(np.diag(head, k=-1)) for head in weights])


@accepted("torch on the way")
def previous_token_score(weights):
    return torch.from_numpy(weights).diagonal(offset=-1, dim1=1, dim2=2).mean(dim=-1).numpy()


# ---------------------------------------------------------------- induction_score


@accepted("a diagonal of the second round")
def induction_score(weights, period):
    return np.diagonal(weights[:, period:, 1:], axis1=1, axis2=2).mean(axis=-1)


@accepted("loops that add up")
def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = np.zeros(h, dtype=weights.dtype)
    for head in range(h):
        for query in range(period, L):
            scores[head] += weights[head, query, query - period + 1] / (L - period)
    return scores


@accepted("a long diagonal, cut")
def induction_score(weights, period):
    looks = np.diagonal(weights, offset=1 - period, axis1=1, axis2=2)  # with query period - 1, which is left out below
    return np.mean(looks[:, 1:], axis=1)


@accepted("a mask of the places that count")
def induction_score(weights, period):
    L = weights.shape[-1]
    query, key = np.indices((L, L))
    counts = (query >= period) & (key == query - period + 1)
    return weights[:, counts].mean(axis=1)


@accepted("einsum with a target")
def induction_score(weights, period):
    L = weights.shape[-1]
    target = np.eye(L, dtype=weights.dtype)[1 : L - period + 1]
    return np.einsum("hqk,qk->h", weights[:, period:], target) / weights.dtype.type(L - period)


@accepted("take along the axis of the keys")
def induction_score(weights, period):
    rows = weights[:, period:]
    keys = np.arange(1, rows.shape[1] + 1).reshape(1, -1, 1)
    return np.take_along_axis(rows, np.repeat(keys, len(weights), axis=0), axis=2)[..., 0].mean(axis=1)


# ---------------------------------------------------------------- mean_ablate


@accepted("copy, then write")
def mean_ablate(found, head):
    result = np.array(found)
    result[:, head, :, :] = np.mean(found[:, head, :, :], axis=0, keepdims=True)
    return result


@accepted("np.where on the number of the head")
def mean_ablate(found, head):
    chosen = (np.arange(found.shape[1]) == head).reshape(1, -1, 1, 1)
    return np.where(chosen, found.mean(axis=0, keepdims=True), found)


@accepted("before, that head, after")
def mean_ablate(found, head):
    said = np.repeat(found[:, head : head + 1].mean(axis=0, keepdims=True), len(found), axis=0)
    return np.concatenate([found[:, :head], said, found[:, head + 1 :]], axis=1)


@accepted("loops over places and numbers")
def mean_ablate(found, head):
    B, _, L, d = found.shape
    result = found.copy()
    for place, column in itertools.product(range(L), range(d)):
        total = 0
        for text in range(B):
            total += found[text, head, place, column]
        for text in range(B):
            result[text, head, place, column] = total / B
    return result


@accepted("heads in a list")
def mean_ablate(found, head):
    heads = [found[:, i] for i in range(found.shape[1])]
    heads[head] = np.broadcast_to(heads[head].mean(axis=0), heads[head].shape)
    return np.stack(heads, axis=1)


@accepted("a blend by zeros and ones")
def mean_ablate(found, head):
    keep = np.ones((1, found.shape[1], 1, 1), dtype=found.dtype)
    keep[0, head] = 0
    return keep * found + (1 - keep) * found.sum(axis=0) / found.dtype.type(len(found))


@accepted("text by text")
def mean_ablate(found, head):
    average = sum(text[head] for text in found) / len(found)
    result = []
    for text in found:
        text = text.copy()
        text[head] = average
        result.append(text)
    return np.stack(result)


# ---------------------------------------------------------------- patch_head


@accepted("copy, then write")
def patch_head(found, other, head, place):
    result = found.copy()
    result[..., head, place, :] = other[..., head, place, :]
    return result


@accepted("np.where on both numbers")
def patch_head(found, other, head, place):
    h, L = found.shape[-3:-1]
    heads, places = np.ogrid[:h, :L]
    return np.where(((heads == head) & (places == place))[..., None], other, found)


@accepted("a step from one run to the other")
def patch_head(found, other, head, place):
    step = np.zeros_like(found)
    step[..., head, place, :] = other[..., head, place, :] - found[..., head, place, :]
    return found + step


@accepted("batch axes made one")
def patch_head(found, other, head, place):
    h, L, d = found.shape[-3:]
    flat, theirs = np.array(found).reshape(-1, h, L, d), other.reshape(-1, h, L, d)
    for text in range(len(flat)):
        flat[text][head][place] = theirs[text][head][place]
    return flat.reshape(found.shape)


@accepted("axes moved to the front")
def patch_head(found, other, head, place):
    result = found.copy()
    mine, theirs = (np.moveaxis(run, (-3, -2), (0, 1)) for run in (result, other))
    mine[head, place] = theirs[head, place]
    return result


# ---------------------------------------------------------------- qk_circuit


@accepted("einsum over cut columns")
def qk_circuit(W_Q, W_K, num_heads):
    Q, K = (W.reshape(len(W), num_heads, -1) for W in (W_Q, W_K))
    return np.einsum("ahd,bhd->hab", Q, K)


@accepted("slices, one head after the other")
def qk_circuit(W_Q, W_K, num_heads):
    d = W_Q.shape[-1] // num_heads
    heads = []
    for i in range(num_heads):
        own = slice(i * d, (i + 1) * d)
        heads.append(W_Q[:, own] @ W_K[:, own].T)
    return np.array(heads)


@accepted("np.split")
def qk_circuit(W_Q, W_K, num_heads):
    pairs = zip(np.split(W_Q, num_heads, axis=1), np.split(W_K, num_heads, axis=1), strict=True)
    return np.stack([np.dot(Q, K.T) for Q, K in pairs])


@accepted("outer products of columns")
def qk_circuit(W_Q, W_K, num_heads):
    d_model, width = W_Q.shape
    result = np.zeros((num_heads, d_model, d_model), dtype=W_Q.dtype)
    for column in range(width):
        result[column // (width // num_heads)] += np.outer(W_Q[:, column], W_K[:, column])
    return result


@accepted("transposed first")
def qk_circuit(W_Q, W_K, num_heads):
    Q, K = W_Q.T.reshape(num_heads, -1, len(W_Q)), W_K.T.reshape(num_heads, -1, len(W_K))
    return np.swapaxes(Q, 1, 2) @ K


# ---------------------------------------------------------------- ov_circuit


@accepted("einsum over cut columns and rows")
def ov_circuit(W_V, W_O, num_heads):
    values, out = W_V.reshape(len(W_V), num_heads, -1), W_O.reshape(num_heads, -1, W_O.shape[-1])
    return np.einsum("ahd,hdb->hab", values, out)


@accepted("slices, one head after the other")
def ov_circuit(W_V, W_O, num_heads):
    d = len(W_O) // num_heads
    heads = []
    for start in range(0, len(W_O), d):
        heads.append(W_V[:, start : start + d] @ W_O[start : start + d])
    return np.array(heads)


@accepted("np.split")
def ov_circuit(W_V, W_O, num_heads):
    pairs = zip(np.split(W_V, num_heads, axis=-1), np.vsplit(W_O, num_heads), strict=True)
    return np.stack([columns @ rows for columns, rows in pairs])


@accepted("all other heads silenced")
def ov_circuit(W_V, W_O, num_heads):
    circuits = np.empty((num_heads, len(W_V), W_O.shape[1]), dtype=W_V.dtype)
    owner = np.arange(len(W_O)) // (len(W_O) // num_heads)
    for head in range(num_heads):
        circuits[head] = (W_V * (owner == head)) @ W_O
    return circuits


@accepted("outer products, a number at a time")
def ov_circuit(W_V, W_O, num_heads):
    width = W_V.shape[1]
    outer = W_V.T[:, :, None] * W_O[:, None, :]
    return outer.reshape(num_heads, math.ceil(width / num_heads), len(W_V), W_O.shape[1]).sum(axis=1)


@accepted("other heads' columns cleared")
def ov_circuit(W_V, W_O, num_heads):
    owner = np.repeat(np.arange(num_heads), W_V.shape[1] // num_heads)
    return np.stack([(W_V * (owner == i)) @ W_O for i in range(num_heads)])


@accepted("ravel with a stride")
def previous_token_score(weights):
    h, n, _ = weights.shape
    return weights.reshape(h, n * n)[:, n :: n + 1].mean(-1)
