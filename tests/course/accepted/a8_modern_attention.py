"""Correct answers to a8 in many styles."""

import collections
import math
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.testing import Catalogue

accepted = Catalogue()

# ---------------------------------------------------------------- rotate


@accepted("complex numbers")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    turned = pairs * np.exp(1j * np.outer(positions, base ** (-np.arange(0, d, 2) / d)))
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape).astype(x.dtype)


@accepted("written into an empty array")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    result = np.empty_like(x)
    for i in range(d // 2):
        angle = positions / base ** (2 * i / d)
        cos, sin = np.cos(angle), np.sin(angle)
        result[..., 2 * i] = x[..., 2 * i] * cos - x[..., 2 * i + 1] * sin
        result[..., 2 * i + 1] = x[..., 2 * i] * sin + x[..., 2 * i + 1] * cos
    return result


@accepted("one matrix for each position")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    matrices = np.zeros((len(positions), d, d))
    for n, position in enumerate(positions):
        for i in range(0, d, 2):
            c, s = math.cos(position * base ** (-i / d)), math.sin(position * base ** (-i / d))
            matrices[n, i : i + 2, i : i + 2] = [[c, -s], [s, c]]
    return np.einsum("lij,...lj->...li", matrices.astype(x.dtype), x)


@accepted("x times cosines plus its neighbours times sines")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = np.repeat(positions[:, None] / np.power(base, np.arange(0, d, 2) / d), 2, axis=-1)
    neighbour = x.reshape(*x.shape[:-1], d // 2, 2)[..., ::-1].reshape(x.shape) * np.tile([-1, 1], d // 2)
    return (x * np.cos(angle) + neighbour * np.sin(angle)).astype(x.dtype)


@accepted("an einsum with a rotation for each pair")
def rotate(x, positions, base=10000.0):
    *batch, L, d = x.shape
    angle = np.outer(positions, np.exp(-np.log(base) * np.arange(0, d, 2) / d))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = np.einsum("oiln,...lni->...lno", turn, x.reshape(*batch, L, d // 2, 2))
    return turned.reshape(x.shape).astype(x.dtype)


@accepted("length and angle of each pair")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    pairs = x.reshape(*x.shape[:-1], d // 2, 2)
    radius, angle = np.hypot(pairs[..., 0], pairs[..., 1]), np.arctan2(pairs[..., 1], pairs[..., 0])
    angle = angle + np.asarray(positions)[:, None] / base ** (np.arange(d // 2) * 2 / d)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).reshape(x.shape).astype(x.dtype)


@accepted("angles in the dtype of x")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    theta = (base ** (-np.arange(0, d, 2) / d)).astype(x.dtype)
    angle = positions.astype(x.dtype)[:, None] * theta
    a, b = x[..., 0::2], x[..., 1::2]
    c, s = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    out[..., 0::2], out[..., 1::2] = a * c - b * s, b * c + a * s
    return out


# ---------------------------------------------------------------- grouped_query_attention


def softmax(scores):
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@accepted("an axis for the groups, and broadcasting")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    *batch, h, L, d = Q.shape
    if h % num_kv_heads:
        raise ValueError("the groups do not come out even")
    grouped = Q.reshape(*batch, num_kv_heads, h // num_kv_heads, L, d)
    scores = grouped @ np.expand_dims(K, -3).swapaxes(-2, -1) / math.sqrt(d)  # (..., g, h / g, L, S)
    if mask is not None:
        allowed = np.broadcast_to(mask, (*batch, h, L, K.shape[-2])).reshape(scores.shape)
        scores = np.where(allowed, scores, -1e30)
    weights = softmax(scores)
    if mask is not None:
        weights = weights * allowed
    output = weights @ np.expand_dims(V, -3)
    return output.reshape(*batch, h, L, -1), weights.reshape(*batch, h, L, -1)


@accepted("a loop over query heads")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads != 0:
        raise ValueError(h)
    if mask is not None:
        mask = np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
    outputs, all_weights = [], []
    for i in range(h):
        j = i // (h // num_kv_heads)
        scores = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / Q.shape[-1] ** 0.5
        if mask is not None:
            scores = np.where(mask[..., i, :, :], scores, -np.inf)
        largest = np.nan_to_num(scores.max(axis=-1, keepdims=True), neginf=0)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        weights = exps / np.where(total == 0, 1, total)
        outputs.append(weights @ V[..., j, :, :])
        all_weights.append(weights)
    return np.stack(outputs, axis=-3), np.stack(all_weights, axis=-3)


@accepted("heads chosen by index, einsum")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d = Q.shape[-3], Q.shape[-1]
    if h // num_kv_heads * num_kv_heads != h:
        raise ValueError("uneven")
    which = np.arange(h) // (h // num_kv_heads)
    scores = np.einsum("...hld,...hsd->...hls", Q, np.take(K, which, axis=-3)) * np.asarray(d**-0.5, Q.dtype)
    if mask is None:
        weights = softmax(scores)
    else:
        weights = np.nan_to_num(softmax(scores + np.where(mask, 0, -1e30).astype(Q.dtype)) * mask)
    return np.einsum("...hls,...hsv->...hlv", weights, np.take(V, which, axis=-3)), weights


@accepted("groups one after the other, concatenated")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    try:
        groups = np.split(Q, num_kv_heads, axis=-3)
    except ValueError:
        raise ValueError("no groups of one size") from None
    size = h // num_kv_heads
    allowed = np.ones((*Q.shape[:-1], K.shape[-2]), dtype=bool)
    allowed = allowed if mask is None else allowed & mask
    parts = []
    for g, queries in enumerate(groups):
        keys, values = K[..., g : g + 1, :, :], V[..., g : g + 1, :, :]
        seen = allowed[..., g * size : (g + 1) * size, :, :]
        scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        exps = np.where(seen, np.exp(np.where(seen, scores, 0) - _largest(scores, seen)), 0)
        weights = exps / np.maximum(exps.sum(axis=-1, keepdims=True), 1e-30)
        parts.append((weights @ values, weights))
    return tuple(np.concatenate(part, axis=-3).astype(Q.dtype) for part in zip(*parts, strict=True))


def _largest(scores, seen):
    found = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    return np.where(found > -1e30, found, 0)


# ---------------------------------------------------------------- cache_bytes


@accepted("a product of all")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return math.prod((2, num_layers, num_kv_heads, d_head, length, bytes_per_number))


@accepted("the size of an array that is never made")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    shape = (2, num_layers, num_kv_heads, length, d_head)
    return int(np.prod(shape, dtype=np.int64)) * bytes_per_number


@accepted("layer by layer")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    total = 0
    for _layer in range(num_layers):
        for _head in range(num_kv_heads):
            keys = values = length * d_head * bytes_per_number
            total += keys + values
    return total


@accepted("a sum over the numbers of a word")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    a_word = sum(bytes_per_number for _number in range(2 * d_head))
    return length * num_kv_heads * num_layers * a_word


@accepted("word by word")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    total = 0
    for _word in range(length):
        total += 2 * num_layers * num_kv_heads * d_head * bytes_per_number
    return total


# ---------------------------------------------------------------- sliding_window_mask


@accepted("two triangles")
def sliding_window_mask(length, window, sinks=0):
    ones = np.ones((length, length), dtype=bool)
    band = np.tril(ones) & np.triu(ones, 1 - window)
    band[:, :sinks] = True
    return np.tril(band)


@accepted("two loops")
def sliding_window_mask(length, window, sinks=0):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        for j in range(i + 1):
            mask[i, j] = j > i - window or j in range(sinks)
    return mask


@accepted("a row at a time, by slices")
def sliding_window_mask(length, window, sinks=0):
    mask = np.full((length, length), False)
    for i, row in enumerate(mask):
        row[max(0, i - window + 1) : i + 1] = True
        row[: min(sinks, i + 1)] = True
    return mask


@accepted("fromfunction and where")
def sliding_window_mask(length, window, sinks=0):
    def may(i, j):
        return np.where(j > i, False, np.where(j < sinks, True, i - j < window))

    return np.fromfunction(may, (length, length), dtype=int)


@accepted("diagonals added up")
def sliding_window_mask(length, window, sinks=0):
    near = sum(np.eye(length, k=-back) for back in range(min(window, length)))
    first = np.tri(length) * (np.arange(length) < sinks)
    return near + first > 0


# ---------------------------------------------------------------- decoding_step


def turned(x, position):
    return rotate(x, np.array([position]))


@accepted("head by head")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[1] // num_heads
    g = W_K.shape[1] // d
    S = 0 if K is None else K.shape[-2]
    new_K, new_V, found = [], [], []
    for j in range(g):
        key = turned((x @ W_K[:, j * d : (j + 1) * d])[..., None, :], S)
        value = (x @ W_V[:, j * d : (j + 1) * d])[..., None, :]
        new_K.append(key if K is None else np.concatenate([K[..., j, :, :], key], axis=-2))
        new_V.append(value if V is None else np.concatenate([V[..., j, :, :], value], axis=-2))
    for i in range(num_heads):
        j = i // (num_heads // g)
        query = turned((x @ W_Q[:, i * d : (i + 1) * d])[..., None, :], S)
        weights = softmax(query @ new_K[j].swapaxes(-1, -2) / math.sqrt(d))
        found.append((weights @ new_V[j])[..., 0, :])
    return np.concatenate(found, axis=-1) @ W_O, np.stack(new_K, axis=-3), np.stack(new_V, axis=-3)


@accepted("an empty cache made first, einsum")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    *batch, _ = x.shape
    d = W_Q.shape[-1] // num_heads
    g = W_K.shape[-1] // d
    if K is None:
        K = V = np.zeros((*batch, g, 0, d), dtype=x.dtype)
    S = K.shape[-2]
    query = rotate((x @ W_Q).reshape(*batch, num_heads, 1, d), np.array([S])).reshape(*batch, g, num_heads // g, d)
    key = rotate((x @ W_K).reshape(*batch, g, 1, d), np.array([S]))
    K = np.append(K, key, axis=-2)
    V = np.append(V, (x @ W_V).reshape(*batch, g, 1, d), axis=-2)
    weights = softmax(np.einsum("...gnd,...gsd->...gns", query, K) / np.sqrt(d).astype(x.dtype))
    heads = np.einsum("...gns,...gsd->...gnd", weights, V)
    return heads.reshape(*batch, num_heads * d) @ W_O, K, V


@accepted("room made for one word more, its own earlier functions")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[1] // num_heads
    S = K.shape[-2] if K is not None else 0
    heads = lambda W: np.expand_dims(np.stack(np.split(x @ W, W.shape[1] // d, axis=-1), axis=-2), -2)  # noqa: E731
    key, value = heads(W_K), heads(W_V)
    new_K = np.empty((*key.shape[:-2], S + 1, d), dtype=x.dtype)
    new_V = np.empty_like(new_K)
    if S:
        new_K[..., :S, :], new_V[..., :S, :] = K, V
    new_K[..., S:, :] = rotate(key, np.array([S]))
    new_V[..., S:, :] = value
    query = rotate(heads(W_Q), np.array([S]))
    output, _ = grouped_query_attention(query, new_K, new_V, num_kv_heads=key.shape[-3])
    return output.reshape(*x.shape[:-1], num_heads * d) @ W_O, new_K, new_V


# ---------------------------------------------------------------- attention_in_cache


@accepted("head by head, in loops")
def attention_in_cache(query, K, V, sink_logits=None):
    *batch, h, d = query.shape
    S = K.shape[-2]
    output, weights = np.zeros((*batch, h, V.shape[-1]), V.dtype), np.zeros((*batch, h, S), K.dtype)
    for where in np.ndindex(*batch, h):
        turned = rotate(query[where][None], np.array([S - 1]))[0]
        scores = [float(turned @ key) / d**0.5 for key in rotate(K[where], np.arange(S))]
        every = scores if sink_logits is None else [*scores, float(sink_logits[where[-1]])]
        powers = [math.exp(score - max(every)) for score in every]
        for j in range(S):
            weights[(*where, j)] = powers[j] / sum(powers)
            output[where] += weights[(*where, j)] * V[(*where, j)]
    return output, weights


@accepted("distances in place of places: the query stays, keys turn by how far back they are")
def attention_in_cache(query, K, V, sink_logits=None):
    S, d = K.shape[-2:]
    keys = rotate(K, np.arange(S) - (S - 1))
    scores = np.einsum("...d,...sd->...s", query, keys) / np.sqrt(d).astype(query.dtype)
    if sink_logits is None:
        exps = np.exp(scores - scores.max(-1, keepdims=True))
        weights = exps / exps.sum(-1, keepdims=True)
    else:
        column = np.broadcast_to(sink_logits[:, None], (*scores.shape[:-1], 1)).astype(scores.dtype)
        weights = softmax(np.concatenate([column, scores], axis=-1))[..., 1:]
    return np.einsum("...s,...sd->...d", weights, V), weights


@accepted("a softmax over the words, shrunk by what the sink takes")
def attention_in_cache(query, K, V, sink_logits=None):
    S, d = K.shape[-2:]
    place = np.arange(S)
    scores = rotate(query[..., None, :], place[-1:]) @ rotate(K, place).swapaxes(-2, -1) / math.sqrt(d)
    scores = scores[..., 0, :]
    weights = softmax(scores)
    if sink_logits is not None:
        top = scores.max(-1)
        total = top + np.log(np.exp(scores - top[..., None]).sum(-1))
        weights = weights * (1 / (1 + np.exp(np.clip(sink_logits - total, -80, 80))))[..., None].astype(weights.dtype)
    return (weights[..., None, :] @ V)[..., 0, :], weights


@accepted("the sink is a key of its own that no value belongs to")
def attention_in_cache(query, K, V, sink_logits=None):
    S, d = K.shape[-2:]
    places = np.arange(S)
    scores = (rotate(K, places) @ rotate(query[..., np.newaxis, :], places[-1:])[..., 0, :, np.newaxis])[..., 0]
    scores = scores * d**-0.5
    if sink_logits is not None:
        beside = np.zeros((*scores.shape[:-1], 1), scores.dtype) + sink_logits.astype(scores.dtype)[:, np.newaxis]
        scores = np.concatenate([scores, beside], axis=-1)
        V = np.concatenate([V, np.zeros_like(V[..., :1, :])], axis=-2)
    weights = softmax(scores)
    return (weights[..., np.newaxis, :] @ V).squeeze(-2), weights[..., :S]


@accepted("turned by complex numbers")
def attention_in_cache(query, K, V, sink_logits=None):
    S, d = K.shape[-2:]
    angle = np.arange(S)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)  # (S, d / 2)
    keys = (K[..., 0::2] + 1j * K[..., 1::2]) * np.exp(1j * angle)
    asks = (query[..., 0::2] + 1j * query[..., 1::2]) * np.exp(1j * angle[-1])
    scores = (keys * asks[..., None, :].conj()).real.sum(axis=-1) / math.sqrt(d)
    largest = scores.max(axis=-1, keepdims=True)
    if sink_logits is not None:
        largest = np.maximum(largest, sink_logits[:, None])
    exps = np.exp(scores - largest)
    below = exps.sum(axis=-1, keepdims=True)
    if sink_logits is not None:
        below = below + np.exp(sink_logits[:, None] - largest)
    weights = (exps / below).astype(query.dtype)
    return np.einsum("...s,...sv->...v", weights, V), weights


@accepted("grouped_query_attention, and then the sink's share")
def attention_in_cache(query, K, V, sink_logits=None):
    place = np.arange(K.shape[-2])
    asked, keys = rotate(query[..., None, :], place[-1:]), rotate(K, place)
    output, weights = grouped_query_attention(asked, keys, V, K.shape[-3])
    output, weights = output[..., 0, :], weights[..., 0, :]
    if sink_logits is None:
        return output, weights
    scores = (asked @ keys.swapaxes(-1, -2))[..., 0, :] / math.sqrt(K.shape[-1])
    top = scores.max(axis=-1)
    together = top + np.log(np.exp(scores - top[..., None]).sum(axis=-1))
    stays = np.exp(-np.logaddexp(0, sink_logits - together))[..., None].astype(weights.dtype)
    return output * stays, weights * stays


@accepted("in torch")
def attention_in_cache(query, K, V, sink_logits=None):
    place = np.arange(K.shape[-2])
    asked = torch.from_numpy(np.ascontiguousarray(rotate(query[..., None, :], place[-1:])))
    keys, values = torch.from_numpy(rotate(K, place)), torch.from_numpy(np.ascontiguousarray(V))
    scores = (asked @ keys.mT).squeeze(-2) / K.shape[-1] ** 0.5
    if sink_logits is not None:
        sinks = torch.from_numpy(np.array(sink_logits)).to(scores.dtype)[:, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, sinks], dim=-1)
    weights = torch.softmax(scores, dim=-1)[..., : K.shape[-2]]
    return (weights.unsqueeze(-2) @ values).squeeze(-2).numpy(), weights.numpy()


@accepted("block by block, with the sink as the first block")
def attention_in_cache(query, K, V, sink_logits=None):
    S, d = K.shape[-2:]
    asked, keys = rotate(query[..., None, :], np.array([S - 1])), rotate(K, np.arange(S))
    scores = (asked * keys).sum(axis=-1) / math.sqrt(d)
    if sink_logits is None:
        largest, total = np.full(scores.shape[:-1], -np.inf, scores.dtype), np.zeros(scores.shape[:-1], scores.dtype)
    else:
        largest = np.broadcast_to(sink_logits, scores.shape[:-1]).astype(scores.dtype)
        total = np.ones_like(largest)
    for j in range(S):
        new = np.maximum(largest, scores[..., j])
        total = total * np.exp(largest - new) + np.exp(scores[..., j] - new)
        largest = new
    weights = np.exp(scores - largest[..., None]) / total[..., None]
    return np.einsum("...sv,...s->...v", V, weights), weights


# ---------------------------------------------------------------- KeyValueCache


@accepted("two lists, put together when asked")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.keys, self.values = [], []

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        if self.window is not None and len(self.keys) > self.window + self.sinks:
            del self.keys[self.sinks], self.values[self.sinks]
        return np.concatenate(self.keys, axis=-2), np.concatenate(self.values, axis=-2)

    def __len__(self):
        return len(self.keys)


@accepted("sinks here, a deque there")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.first, self.sinks, self.last = [], sinks, collections.deque(maxlen=window)

    def append(self, key, value):
        place = self.first if len(self.first) < self.sinks else self.last
        place.append((key, value))
        keys, values = zip(*self.first, *self.last, strict=True)
        return np.concatenate(keys, axis=-2), np.concatenate(values, axis=-2)

    def __len__(self):
        return len(self.first) + len(self.last)


@accepted("room for so many words, and a ring in it")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.seen, self.K, self.V = window, sinks, 0, None, None

    def _room(self, old, word):
        room = 8 if self.window is None else self.window + self.sinks
        if old is None:
            return np.empty((*word.shape[:-2], room, word.shape[-1]), dtype=word.dtype)
        full = self.window is None and self.seen == old.shape[-2]
        return np.concatenate([old, np.empty_like(old)], axis=-2) if full else old

    def append(self, key, value):
        self.K, self.V = self._room(self.K, key), self._room(self.V, value)
        at = self.seen
        if self.window is not None and at >= self.sinks:
            at = self.sinks + (at - self.sinks) % self.window
        self.K[..., at : at + 1, :], self.V[..., at : at + 1, :] = key, value
        self.seen += 1
        return self._in_order(self.K), self._in_order(self.V)

    def _in_order(self, words):
        S = len(self)
        if self.window is None or self.seen <= S:
            return words[..., :S, :].copy()
        turn = (self.seen - self.sinks) % self.window
        ring = np.roll(words[..., self.sinks :, :], -turn, axis=-2)
        return np.concatenate([words[..., : self.sinks, :], ring], axis=-2)

    def __len__(self):
        return self.seen if self.window is None else min(self.seen, self.window + self.sinks)


@accepted("room that doubles, views of it handed out as copies")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.used, self.rooms = window, sinks, 0, None

    def append(self, key, value):
        new = key, value
        if self.rooms is None:
            self.rooms = [np.zeros((*part.shape[:-2], 1, part.shape[-1]), part.dtype) for part in new]
        elif self.used == self.rooms[0].shape[-2]:
            self.rooms = [np.concatenate([room, np.zeros_like(room)], axis=-2) for room in self.rooms]
        for room, part in zip(self.rooms, new, strict=True):
            room[..., self.used, :] = part[..., 0, :]
        self.used += 1
        if self.window is not None and self.used > self.sinks + self.window:
            for room in self.rooms:  # all entries except sinks move up by one
                room[..., self.sinks : self.used - 1, :] = room[..., self.sinks + 1 : self.used, :].copy()
            self.used -= 1
        return tuple(room[..., : self.used, :].copy() for room in self.rooms)

    def __len__(self):
        return self.used


@accepted("one list of pairs, popped like a queue")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.most = math.inf if window is None else window + sinks
        self.sinks, self.pairs = sinks, []

    def append(self, key, value):
        self.pairs += [(np.array(key), np.array(value))]
        while len(self.pairs) > self.most:
            self.pairs.pop(self.sinks)
        return tuple(np.concatenate([pair[i] for pair in self.pairs], -2) for i in (0, 1))

    def __len__(self):
        return len(self.pairs)


@accepted("by the mask of exercise 5, np.append and compress")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.all = None

    def append(self, key, value):
        new = (key, value)
        self.all = (
            new if self.all is None else tuple(np.append(a, b, axis=-2) for a, b in zip(self.all, new, strict=True))
        )
        return tuple(np.compress(self._seen(), part, axis=-2) for part in self.all)

    def _seen(self):
        n = self.all[0].shape[-2] if self.all is not None else 0
        return sliding_window_mask(n, self.window or n, self.sinks)[-1] if n else np.zeros(0, dtype=bool)

    def __len__(self):
        return int(self._seen().sum())


@accepted("a dataclass")
@dataclass
class KeyValueCache:
    window: int | None = None
    sinks: int = 0
    _keys: list = field(default_factory=list)
    _values: list = field(default_factory=list)

    def append(self, key, value):
        for kept, new in ((self._keys, key), (self._values, value)):
            kept.append(new.copy())
            if self.window is not None and len(kept) > self.sinks + self.window:
                del kept[self.sinks]
        return np.concatenate(self._keys, axis=-2), np.concatenate(self._values, axis=-2)

    def __len__(self):
        return len(self._keys)


# ---------------------------------------------------------------- online_softmax_step


@accepted("the block's own three, then two threes made one")
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    own = scores.max(axis=-1)
    exps = np.exp(scores - own[..., None])
    own_total, own_mixed = exps.sum(axis=-1), exps @ V
    new = np.maximum(largest, own)
    a, b = np.exp(largest - new), np.exp(own - new)
    return new, a * total + b * own_total, a[..., None] * mixed + b[..., None] * own_mixed


@accepted("one key after the other")
def online_softmax_step(largest, total, mixed, Q, K, V):
    largest, total, mixed = largest.copy(), total.copy(), mixed.copy()
    for j in range(K.shape[-2]):
        score = (Q * K[..., j : j + 1, :]).sum(axis=-1) * np.asarray(Q.shape[-1] ** -0.5, Q.dtype)
        new = np.where(score > largest, score, largest)
        shrink, power = np.exp(largest - new), np.exp(score - new)
        total = total * shrink + power
        mixed = mixed * shrink[..., None] + power[..., None] * V[..., j : j + 1, :]
        largest = new
    return largest, total, mixed


@accepted("einsum, and what came before as one more column")
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    all_scores = np.concatenate([largest[..., None], scores], axis=-1)
    new = all_scores.max(axis=-1, keepdims=True)
    powers = np.exp(all_scores - new)
    counts = np.concatenate([total[..., None], np.ones_like(scores)], axis=-1)
    new_mixed = powers[..., :1] * mixed + np.einsum("...lb,...bv->...lv", powers[..., 1:], V)
    return new[..., 0], (powers * counts).sum(axis=-1), new_mixed


# ---------------------------------------------------------------- online_softmax_attention


@accepted("its own loop, largest as low as it goes")
def online_softmax_attention(Q, K, V, block_size):
    scale = math.sqrt(Q.shape[-1])
    largest = np.full((*Q.shape[:-1], 1), np.finfo(Q.dtype).min, dtype=Q.dtype)
    total, mixed = 0, 0
    for start in range(0, K.shape[-2], block_size):
        scores = Q @ np.swapaxes(K[..., start : start + block_size, :], -1, -2) / scale
        new = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        shrink, exps = np.exp(largest - new), np.exp(scores - new)
        total = total * shrink + exps.sum(axis=-1, keepdims=True)
        mixed = mixed * shrink + exps @ V[..., start : start + block_size, :]
        largest = new
    return mixed / total


@accepted("array_split by hand, from the last block to the first")
def online_softmax_attention(Q, K, V, block_size):
    cuts = list(range(block_size, K.shape[-2], block_size))
    blocks = list(zip(np.split(K, cuts, axis=-2), np.split(V, cuts, axis=-2), strict=True))
    empty = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    state = empty[..., 0] - np.inf, 0 * empty[..., 0], empty
    for keys, values in reversed(blocks):
        state = online_softmax_step(*state, Q, keys, values)
    return state[2] / state[1][..., None]


@accepted("log-sum-exp of each block")
def online_softmax_attention(Q, K, V, block_size):
    output = log_total = None
    at = 0
    while at < K.shape[-2]:
        keys, values = K[..., at : at + block_size, :], V[..., at : at + block_size, :]
        scores = Q @ keys.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
        largest = scores.max(axis=-1, keepdims=True)
        own = largest + np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True))
        found = np.exp(scores - own) @ values
        if output is None:
            output, log_total = found, own
        else:
            both = np.logaddexp(log_total, own)
            output, log_total = np.exp(log_total - both) * output + np.exp(own - both) * found, both
        at += block_size
    return output


@accepted("the first half of the blocks, then the second")
def online_softmax_attention(Q, K, V, block_size):
    def over(state, K, V):
        blocks = -(-K.shape[-2] // block_size)
        if blocks <= 1:
            return online_softmax_step(*state, Q, K, V)
        half = blocks // 2 * block_size
        return over(over(state, K[..., :half, :], V[..., :half, :]), K[..., half:, :], V[..., half:, :])

    nothing = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    _, total, mixed = over((np.full(Q.shape[:-1], -np.inf, Q.dtype), nothing[..., 0], nothing), K, V)
    return mixed / total[..., None]


@accepted("key by key")
def online_softmax_attention(Q, K, V, block_size):
    largest = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    total, mixed = np.zeros_like(largest), np.zeros((*largest.shape, V.shape[-1]), Q.dtype)
    for n in range(K.shape[-2]):
        largest, total, mixed = online_softmax_step(
            largest, total, mixed, Q, K[..., n : n + 1, :], V[..., n : n + 1, :]
        )
    return mixed / total[..., None]


@accepted("a state of each block, merged like a tree")
def online_softmax_attention(Q, K, V, block_size):
    def state(start):
        keys, values = K[..., start : start + block_size, :], V[..., start : start + block_size, :]
        scores = Q @ keys.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
        largest = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - largest)
        return largest, exps.sum(axis=-1, keepdims=True), exps @ values

    def merged(one, other):
        largest = np.maximum(one[0], other[0])
        a, b = np.exp(one[0] - largest), np.exp(other[0] - largest)
        return largest, a * one[1] + b * other[1], a * one[2] + b * other[2]

    states = [state(start) for start in range(0, K.shape[-2], block_size)]
    while len(states) > 1:
        pairs = [merged(*states[i : i + 2]) for i in range(0, len(states) - 1, 2)]
        states = pairs + states[2 * len(pairs) :]
    return states[0][2] / states[0][1]


@accepted("in PyTorch: output and log-sum-exp of each block, put together at the end")
def online_softmax_attention(Q, K, V, block_size):
    query, keys, values = (torch.as_tensor(np.ascontiguousarray(part)) for part in (Q, K, V))
    outputs, totals = [], []
    for key, value in zip(keys.split(block_size, dim=-2), values.split(block_size, dim=-2), strict=True):
        scores = query @ key.mT / math.sqrt(Q.shape[-1])
        outputs.append(torch.softmax(scores, dim=-1) @ value)
        totals.append(torch.logsumexp(scores, dim=-1))
    shares = torch.softmax(torch.stack(totals), dim=0)
    return (shares[..., None] * torch.stack(outputs)).sum(dim=0).numpy()


@accepted("the largest scores first, then a second pass, einsum")
def online_softmax_attention(Q, K, V, block_size):
    blocks = [slice(start, start + block_size) for start in range(0, K.shape[-2], block_size)]

    def scores(block):
        return np.einsum("...ld,...bd->...lb", Q, K[..., block, :]) / np.sqrt(Q.shape[-1]).astype(Q.dtype)

    largest = scores(blocks[0]).max(axis=-1, keepdims=True)
    for block in blocks[1:]:
        largest = np.maximum(largest, scores(block).max(axis=-1, keepdims=True))
    total = mixed = 0
    for block in blocks:
        exps = np.exp(scores(block) - largest)
        total = total + exps.sum(axis=-1, keepdims=True)
        mixed = mixed + np.einsum("...lb,...bv->...lv", exps, V[..., block, :])
    return mixed / total


# ---------------------------------------------------------------- rms_norm


@accepted("by the length of the vector")
def rms_norm(x, gamma, eps=1e-5):
    d = x.shape[-1]
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return x * gamma / np.sqrt(length * length / d + eps)


@accepted("einsum and a power")
def rms_norm(x, gamma, eps=1e-5):
    mean_square = np.einsum("...i,...i->...", x, x) / x.shape[-1]
    return x * (mean_square + eps)[..., np.newaxis] ** -0.5 * gamma


@accepted("word by word")
def rms_norm(x, gamma, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    done = [gamma * row / math.sqrt(float(np.mean(np.square(row))) + eps) for row in rows]
    return np.array(done).reshape(x.shape).astype(x.dtype)


@accepted("through PyTorch")
def rms_norm(x, gamma, eps=1e-5):
    vectors, scale = torch.tensor(np.array(x)), torch.tensor(np.array(gamma))
    return (scale * vectors * torch.rsqrt(vectors.square().mean(-1, keepdim=True) + eps)).numpy()


# ---------------------------------------------------------------- gated_feed_forward


@accepted("one wide matrix for gate and up")
def gated_feed_forward(x, W_gate, W_up, W_down):
    both = x @ np.concatenate([W_gate, W_up], axis=1)
    gate, up = np.split(both, 2, axis=-1)
    return (gate * up / (1 + np.exp(-np.clip(gate, -80, None)))) @ W_down


@accepted("a sigmoid by tanh, einsum")
def gated_feed_forward(x, W_gate, W_up, W_down):
    gate, up = np.einsum("...i,io->...o", x, W_gate), np.einsum("...i,io->...o", x, W_up)
    return np.einsum("...o,oi->...i", gate * 0.5 * (1 + np.tanh(gate / 2)) * up, W_down)


@accepted("a sigmoid that looks at the sign")
def gated_feed_forward(x, W_gate, W_up, W_down):
    z = np.dot(x, W_gate)
    small = np.exp(-np.abs(z))
    sigmoid = np.where(z >= 0, 1 / (1 + small), small / (1 + small))
    hidden = np.multiply(np.multiply(z, sigmoid), np.dot(x, W_up))
    return np.dot(hidden, W_down)


@accepted("log-sigmoid by logaddexp")
def gated_feed_forward(x, W_gate, W_up, W_down):
    z = x @ W_gate
    return (z * np.exp(-np.logaddexp(0, -z)) * (x @ W_up)) @ W_down


# ---------------------------------------------------------------- ModernDecoderBlock


class Parts(nn.Module):
    """The members of the block, as in the notebook's table."""

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.window = num_heads, num_kv_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        d_kv = d_model // num_heads * num_kv_heads
        sizes = {"W_Q": (d_model, d_model), "W_K": (d_model, d_kv), "W_V": (d_model, d_kv), "W_O": (d_model, d_model)}
        sizes |= {"W_gate": (d_model, d_ff), "W_up": (d_model, d_ff), "W_down": (d_ff, d_model)}
        for name, (d_in, d_out) in sizes.items():
            setattr(self, name, nn.Linear(d_in, d_out, bias=False))


def rms(x, gamma):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * gamma


@accepted("complex numbers, einsum, a bias of -inf")
class ModernDecoderBlock(Parts):
    def forward(self, x):
        B, L, d_model = x.shape
        d, g = d_model // self.num_heads, self.num_kv_heads
        y = rms(x, self.norm_1)
        q = self.W_Q(y).view(B, L, self.num_heads, d)
        k, v = self.W_K(y).view(B, L, g, d), self.W_V(y).view(B, L, g, d)
        speed = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        angle = torch.outer(torch.arange(L, dtype=torch.float64), speed)
        circle = torch.polar(torch.ones_like(angle), angle)[:, None]
        circle = circle.to(torch.complex64 if x.dtype == torch.float32 else torch.complex128)
        pairs = lambda t: torch.view_as_complex(t.unflatten(-1, (-1, 2)).contiguous())  # noqa: E731
        turn = lambda t: torch.view_as_real(pairs(t) * circle).flatten(-2)  # noqa: E731
        q, k = turn(q).unflatten(2, (g, -1)), turn(k)
        scores = torch.einsum("bignd,bjgd->bgnij", q, k) / math.sqrt(d)
        back = torch.arange(L)[:, None] - torch.arange(L)
        hidden = (back < 0) | (back >= (self.window or L))
        bias = torch.zeros(L, L, dtype=x.dtype).masked_fill(hidden, -math.inf)
        found = torch.einsum("bgnij,bjgd->bignd", (scores + bias).softmax(-1), v)
        x = x + self.W_O(found.reshape(B, L, d_model))
        y = rms(x, self.norm_2)
        gate = self.W_gate(y)
        return x + self.W_down(gate * torch.sigmoid(gate) * self.W_up(y))


@accepted("a rotation matrix for each place, heads in a loop")
class ModernDecoderBlock(Parts):
    def forward(self, x):
        L, d = x.shape[1], x.shape[2] // self.num_heads
        y = rms(x, self.norm_1)
        turns = []
        for place in range(L):
            blocks = []
            for i in range(0, d, 2):
                angle = place * 10000 ** (-i / d)
                c, s = math.cos(angle), math.sin(angle)
                blocks.append(torch.tensor([[c, s], [-s, c]], dtype=x.dtype))
            turns.append(torch.block_diag(*blocks))
        turns = torch.stack(turns)  # (L, d, d): row vector @ matrix is the rotated vector
        queries = torch.split(self.W_Q(y), d, dim=-1)
        keys, values = torch.split(self.W_K(y), d, dim=-1), torch.split(self.W_V(y), d, dim=-1)
        seen = torch.ones(L, L, dtype=torch.bool).tril()
        if self.window is not None:
            seen = seen.triu(1 - self.window)
        found = []
        for i, query in enumerate(queries):
            j = i * self.num_kv_heads // self.num_heads
            q, k = (torch.einsum("bld,lde->ble", t, turns) for t in (query, keys[j]))
            scores = q @ k.mT / d**0.5
            scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=-1)
            found.append(weights @ values[j])
        x = x + self.W_O(torch.cat(found, dim=-1))
        y = rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))


@accepted("its own norm modules' numbers, expand instead of repeat, modules for the branches")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.sizes = num_heads, num_kv_heads, d_model // num_heads
        self.window = window if window is not None else 10**9
        self.norm_1, self.norm_2 = (nn.Parameter(torch.ones(d_model)) for _ in range(2))
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        narrow = num_kv_heads * self.sizes[2]
        self.W_K, self.W_V = (nn.Linear(d_model, narrow, bias=False) for _ in range(2))
        self.W_gate, self.W_up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def turned(self, x):
        """x (B, heads, L, d): x times cosines plus its neighbours times sines."""
        *_, L, d = x.shape
        angle = torch.arange(L)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
        cos, sin = (wave(angle).repeat_interleave(2, dim=-1).to(x.dtype) for wave in (torch.cos, torch.sin))
        pairs = x.unflatten(-1, (d // 2, 2))
        neighbour = torch.stack([-pairs[..., 1], pairs[..., 0]], dim=-1).flatten(-2)
        return x * cos + neighbour * sin

    def attention(self, x):
        B, L, _ = x.shape
        h, g, d = self.sizes
        query = self.turned(self.W_Q(x).reshape(B, L, h, d).permute(0, 2, 1, 3))
        key = self.turned(self.W_K(x).reshape(B, L, g, d).permute(0, 2, 1, 3))
        value = self.W_V(x).reshape(B, L, g, d).permute(0, 2, 1, 3)
        key, value = (t.unsqueeze(2).expand(B, g, h // g, L, d).reshape(B, h, L, d) for t in (key, value))
        place = torch.arange(L)
        seen = (place <= place[:, None]) & (place > place[:, None] - self.window)
        scores = torch.matmul(query, key.transpose(2, 3)) * d**-0.5
        weights = F.softmax(torch.where(seen, scores, torch.full_like(scores, -1e9)), dim=-1)
        return self.W_O(torch.matmul(weights, value).permute(0, 2, 1, 3).reshape(B, L, h * d))

    def forward(self, x):
        norm = lambda t, gamma: gamma * t / (t.pow(2).mean(dim=-1, keepdim=True) + 1e-5).sqrt()  # noqa: E731
        x = x + self.attention(norm(x, self.norm_1))
        y = norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))


@accepted("a dropout of 0, angles and mask kept and made anew when a text is longer")
class ModernDecoderBlock(Parts):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__(d_model, num_heads, num_kv_heads, d_ff, window)
        self.dropout = nn.Dropout(0.0)
        self.d_head, self.known = d_model // num_heads, 0

    def prepare(self, L):
        if self.known >= L:
            return
        self.known = max(16, 2 * L)
        place = torch.arange(self.known)
        angle = torch.outer(place, 10000.0 ** (-torch.arange(0, self.d_head, 2) / self.d_head))
        self.cos, self.sin = angle.cos(), angle.sin()
        back = place[:, None] - place
        self.hidden = (back < 0) | (back >= (self.window or self.known))

    def turned(self, x):
        L = x.shape[-2]
        cos, sin = self.cos[:L].to(x.dtype), self.sin[:L].to(x.dtype)
        result = torch.empty_like(x)
        result[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        result[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
        return result

    def forward(self, x):
        B, L, _ = x.shape
        self.prepare(L)
        y = rms(x, self.norm_1)
        q, k, v = (W(y).reshape(B, L, -1, self.d_head).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        groups = self.num_heads // self.num_kv_heads
        k, v = torch.repeat_interleave(self.turned(k), groups, 1), torch.repeat_interleave(v, groups, 1)
        scores = torch.einsum("bhid,bhjd->bhij", self.turned(q), k) / self.d_head**0.5
        weights = self.dropout(scores.masked_fill(self.hidden[:L, :L], float("-inf")).softmax(dim=-1))
        x = x + self.W_O(torch.einsum("bhij,bhjd->bihd", weights, v).flatten(2))
        y = rms(x, self.norm_2)
        return x + self.dropout(self.W_down(F.silu(self.W_gate(y)) * self.W_up(y)))


@accepted("neighbours swapped and signs")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    a = np.repeat(np.outer(positions, np.exp(-np.arange(0, d, 2) / d * np.log(base))), 2, axis=1)
    other = x.reshape(*x.shape[:-1], -1, 2)[..., ::-1].reshape(x.shape) * np.tile([-1, 1], d // 2)
    return (x * np.cos(a) + other * np.sin(a)).astype(x.dtype)


@accepted("deque of the last, list of the first")
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.first, self.last, self.sinks = ([], collections.deque(maxlen=window), sinks)

    def append(self, key, value):
        (self.first if len(self.first) < self.sinks else self.last).append((key.copy(), value.copy()))
        K, V = zip(*self.first, *self.last)
        return (np.concatenate(K, axis=-2), np.concatenate(V, axis=-2))

    def __len__(self):
        return len(self.first) + len(self.last)


@accepted("hypot with the eps")
def rms_norm(x, gamma, eps=1e-05):
    size = np.linalg.norm(x.astype(float), axis=-1, keepdims=True) / x.shape[-1] ** 0.5
    return (x / np.hypot(size, eps**0.5) * gamma).astype(x.dtype)


@accepted("complex rotary, einsum groups")
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = (num_heads, num_kv_heads, window)
        d = d_model // num_heads
        for name, a, b in (
            ("W_Q", d_model, d_model),
            ("W_K", d_model, num_kv_heads * d),
            ("W_V", d_model, num_kv_heads * d),
            ("W_O", d_model, d_model),
            ("W_gate", d_model, d_ff),
            ("W_up", d_model, d_ff),
            ("W_down", d_ff, d_model),
        ):
            setattr(self, name, nn.Linear(a, b, bias=False))
        self.norm_1, self.norm_2 = (nn.Parameter(torch.ones(d_model)) for _ in range(2))

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h

        def n(y, g):
            return y * (y.pow(2).mean(-1, keepdim=True) + 1e-05).rsqrt() * g

        y = n(x, self.norm_1)
        a = torch.arange(L, dtype=torch.float64)[:, None, None] * 10000.0 ** (
            -torch.arange(0, d, 2, dtype=torch.float64) / d
        )
        c = torch.polar(torch.ones_like(a), a).to(torch.complex128 if x.dtype == torch.float64 else torch.complex64)

        def turn(t):
            return torch.view_as_real(torch.view_as_complex(t.unflatten(-1, (-1, 2)).contiguous()) * c).flatten(-2)

        q = turn(self.W_Q(y).view(B, L, self.h, d)).view(B, L, self.g, -1, d)
        k = turn(self.W_K(y).view(B, L, self.g, d))
        v = self.W_V(y).view(B, L, self.g, d)
        s = torch.einsum("bigrd,bjgd->bgrij", q, k) / d**0.5
        see = torch.ones(L, L, dtype=torch.bool).tril()
        if self.window is not None:
            see = see.triu(1 - self.window)
        w = s.masked_fill(~see, -torch.inf).softmax(-1)
        x = x + self.W_O(torch.einsum("bgrij,bjgd->bigrd", w, v).reshape(B, L, D))
        z = n(x, self.norm_2)
        gate = self.W_gate(z)
        return self.W_down(gate * gate.sigmoid() * self.W_up(z)) + x
