"""A student's walk through each notebook: typical slips, one after the other.

One of the notebooks stands in real JupyterLab in real Chromium, the others run in a real kernel without a page.

After each slip the first thing shown, a headline and the first check that fails, names the slip or its place. Then the
right answer gets its tick, and the walk goes on.
"""

from __future__ import annotations

import re
import shutil

import pytest

from autograder.authoring.sample_class import model_answers
from tests.conftest import ROOT
from tests.helpers.browser import Tab
from tests.helpers.in_process import COURSE
from tests.helpers.kernel import Kernel, seen

pytestmark = pytest.mark.slow

NOT_STARTED, NOT_RUN = "not started yet. Replace raise NotImplementedError()", "Run the cell that defines"
STUB, NO_CELL = "the stub as it was released, run", "the check before the cell above it was run"
RIGHT, BROUGHT = "the model answer", "the model answer of an earlier assignment, copied into its cell"
EMPTY = "the cell of what is to be brought, run as it was released"

# For each notebook, in its order: (what is written into the exercise's cell, what the first thing shown must say).
A1 = [
    ("softmax", NO_CELL, NOT_RUN),
    ("softmax", STUB, NOT_STARTED),
    ("softmax", "    return np.exp(x) / np.exp(x).sum()", "each row sums to 1 .* Over which axis is the sum"),
    (
        "softmax",
        "    e = np.exp(x)\n    return e / e.sum(axis=axis)",
        r"shapes \(2, 3\) and \(2,\) do not broadcast.*line 3",
    ),
    (
        "softmax",
        "    e = np.exp(x)\n    return e / e.sum(axis=axis, keepdims=True)",
        r"Known mistake: no max subtraction",
    ),
    ("softmax", "    e = np.exp(x - x.max())\n    print(e / e.sum())", r"None \(is there a return\?\)"),
    ("attention_scores", "    return Q @ K / math.sqrt(4)", r"cannot be multiplied: 4 meets 2.*line 2"),
    ("attention_scores", "    return Q @ K.swapaxes(-2, -1)", "Known mistake: no scaling"),
    (
        "attention_scores",
        "    return Q @ K.T / math.sqrt(Q.shape[-1])",
        "Two texts at once.* which axes and sizes does your code count",
    ),
    (
        "attention_scores",
        "    return Q @ K.swapaxes(-2, -1) / np.sqrt(Q.shape[-1])",
        "dtype float64, it should be float32",
    ),
    (
        "scaled_dot_product_attention",
        "    return softmax(attention_scores(Q, K)) @ V",
        r"not the tuple \(output, weights\)",
    ),
    (
        "scaled_dot_product_attention",
        "    w = softmax(attention_scores(Q, K))\n    return w, w @ V",
        "In which order does the docstring name them",
    ),
    (
        "scaled_dot_product_attention",
        "    w = softmax(attention_scores(Q, K), axis=-2)\n    return w @ V, w",
        r"Known mistake: softmax over queries",
    ),
    (
        "torch_scaled_dot_product_attention",
        "    w = torch.softmax(query.detach() @ key.mT / math.sqrt(key.shape[-1]), -1)\n    return w @ value, w",
        "no gradient reaches query",
    ),
]
A2 = [
    ("causal_mask", "    return np.tril(np.ones((length, length)))", "dtype float64, it should be bool"),
    ("causal_mask", "    return np.tril(np.ones((length, length), bool), -1)", "Known mistake: mask off by one"),
    (
        "padding_mask",
        "    return np.arange(max_length) < np.array(lengths)[:, None]",
        r"shape \(3, 5\), it should be \(3, 1, 5\)",
    ),
    (
        "padding_mask",
        "    return np.arange(max_length) < lengths[:, None, None]",
        "list indices must be integers .*line 2",
    ),
    (
        "masked_softmax",
        "    e = np.exp(scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True) * mask",
        "Known mistake: mask after softmax",
    ),
    (
        "masked_softmax",
        "    s = np.where(mask, scores, -np.inf)\n    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)",
        "nothing is allowed.*nan",
    ),
    (
        "causal_attention",
        "    w = masked_softmax(Q @ K.swapaxes(-2, -1), causal_mask(Q.shape[-2]))\n    return w @ V, w",
        "divided by the square root of 4",
    ),
    (
        "causal_attention",
        "    w = masked_softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), causal_mask(Q.shape[-2]))\n"
        "    return w @ V, w",
        "Known mistake: padding ignored",
    ),
    (
        "torch_masked_attention",
        "    s = query @ key.mT / math.sqrt(query.shape[-1])\n    if mask is not None:\n"
        "        s = s.masked_fill(mask, -1e9)\n    w = torch.softmax(s, -1)\n    return w @ value, w",
        "Known mistake: mask inverted",
    ),
]
A3 = [
    (
        "split_heads",
        "    *batch, L, d_model = X.shape\n    return X.reshape(*batch, num_heads, L, d_model // num_heads)",
        "Known mistake: split without transpose",
    ),
    ("split_heads", "    return np.split(X, num_heads, axis=-1)", "a list of 2 values, not a NumPy array"),
    (
        "split_heads",
        "    L, d_model = X.shape\n    return X.reshape(L, num_heads, d_model // num_heads).swapaxes(0, 1)",
        "too many values to unpack.*line 2.*Count axes from the end",
    ),
    (
        "concat_heads",
        "    *batch, h, L, d = heads.shape\n    return heads.reshape(*batch, L, h * d)",
        "Known mistake: concat without transpose",
    ),
    ("per_head_weights", "    return np.split(W, num_heads, axis=-1)", "Can the heads' weights be made into one array"),
    (
        "per_head_weights",
        "    return W.reshape(num_heads, W.shape[0], -1)",
        "Known mistake: split without transpose",
    ),
    (
        "torch_split_heads",
        "    *batch, L, d_model = x.shape\n    return x.reshape(*batch, L, num_heads, -1).transpose(-3, -2)",
        "should raise ValueError",
    ),
    (
        "torch_split_heads",
        "    return torch.from_numpy(split_heads(x.detach().numpy(), num_heads))",
        "no gradient reaches x",
    ),
    (
        "torch_concat_heads",
        "    *batch, h, L, d = heads.shape\n    return heads.transpose(-3, -2).view(*batch, L, h * d)",
        r"view size is not compatible.*Use \.reshape.*line 3",
    ),
]
ALL_BUT = """\
    *batch, L, d_model = X.shape
    Q, K, V = (Y.reshape(*batch, L, num_heads, -1).swapaxes(-3, -2) for Y in (X @ W_Q, X @ W_K, X @ W_V))
    s = Q @ K.swapaxes(-2, -1) / math.sqrt({size})
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return output_projection(w @ V, W_O), w"""
A4 = [
    (
        "projection_shapes",
        "    return {name: (d_model, d_model) for name in ('W_Q', 'W_K', 'W_V', 'W_O')}",
        r"the shape of W_Q came out as \(4, 4\), wanted \(4, 8\)",
    ),
    (
        "output_projection",
        "    *batch, h, L, d_v = heads.shape\n    return heads.reshape(*batch, L, h * d_v) @ W_O",
        "Known mistake: concat without transpose",
    ),
    (
        "single_head",
        "    d_k, d_v = W_Q.shape[-1] // num_heads, W_V.shape[-1] // num_heads\n"
        "    Q, K = (X @ W[:, head * d_k : (head + 1) * d_k] for W in (W_Q, W_K))\n"
        "    w = np.exp(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k))\n    w = w / w.sum(-1, keepdims=True)\n"
        "    return w @ X @ W_V[:, : d_v], w",
        "Which columns of W_V make this head's values",
    ),
    ("multi_head_attention", ALL_BUT.format(size="d_model"), "d_model, or one head's"),
    ("multi_head_attention", ALL_BUT.format(size="Q.shape[-1]"), "Known mistake: mask ignored"),
    (
        "MultiHeadAttention",
        "    def __init__(self, d_model, num_heads, d_head=None):\n        super().__init__()\n"
        "        self.query = nn.Linear(d_model, d_model, bias=False)",
        r"its parameters are query.weight \(6, 6\).*Which layers does the text above name",
    ),
]
BLOCK = """\
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.{norm}, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        {forward}
        return x + self.feed_forward(self.norm_2(x))"""
DECODER = """\
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.tensor(positional_encoding(max_length, d_model)).float())
        blocks = [DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.blocks = {blocks}
        self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = {x} + self.positions[: token_ids.shape[-1]]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))"""
A5 = [
    (
        "positional_encoding",
        "    i = np.arange(d_model // 2)\n    a = np.arange(length)[:, None] / 10000 ** (2 * i / d_model)\n"
        "    return np.concatenate([np.sin(a), np.cos(a)], axis=-1)",
        "Which columns are sines",
    ),
    (
        "layer_norm",
        "    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta",
        "Known mistake: normalised over everything",
    ),
    (
        "layer_norm",
        "    m = x.mean(-1, keepdims=True)\n"
        "    return gamma * (x - m) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps) + beta",
        "Known mistake: divided by n minus 1",
    ),
    ("feed_forward", "    return (x @ W_1 + b_1) @ W_2 + b_2", "Known mistake: relu missing"),
    ("MultiHeadAttention", EMPTY, ""),
    (
        "DecoderBlock",
        RIGHT,
        "MultiHeadAttention, which this calls and you bring from a4, is not written yet. Start there",
    ),
    ("MultiHeadAttention", BROUGHT, ""),
    (
        "DecoderBlock",
        BLOCK.format(norm="ln1", forward="x = x + self.attention(self.ln1(x), None)[0]"),
        "the module has no parameter norm_1.weight; it has ln1.weight",
    ),
    (
        "DecoderBlock",
        BLOCK.format(norm="norm_1", forward="x = x + self.attention(self.norm_1(x), None)[0]"),
        "whom does each word see",
    ),
    (
        "TransformerDecoder",
        DECODER.format(blocks="list(blocks)", x="self.embedding(token_ids) * math.sqrt(self.embedding.embedding_dim)"),
        "Known mistake: blocks in a plain list",
    ),
    (
        "TransformerDecoder",
        DECODER.format(blocks="nn.ModuleList(blocks)", x="self.embedding(token_ids)"),
        "What is the embedding multiplied by",
    ),
]
A6 = [
    (
        "training_example",
        "    ids = article_ids + [separator_id] + summary_ids\n"
        "    return ids, [False] * (len(article_ids) + 1) + [True] * len(summary_ids)",
        r"\[11, 12, 13, 1, 14, 15\], wanted \[11, 12, 13, 1, 14, 15, 2\]",
    ),
    (
        "training_example",
        "    ids = article_ids + [separator_id] + summary_ids + [end_id]\n"
        "    return ids, [0] * (len(article_ids) + 1) + [1] * (len(summary_ids) + 1)",
        "loss_mask holds a value of type int, not True and False",
    ),
    (
        "summary_loss",
        "    return F.cross_entropy(logits[loss_mask], token_ids[loss_mask])",
        "Known mistake: no shift or logits of the target",
    ),
    (
        "summary_loss",
        "    return F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())",
        "Known mistake: loss mask ignored",
    ),
    ("next_token", "    return model(token_ids)[0, -1].argmax().item()", "RuntimeError.*In next_token, line 2"),
    (
        "next_token",
        "    return model(torch.tensor([token_ids]))[0, -1].argmax()",
        r"a tensor of shape \(\), not an int",
    ),
    (
        "greedy_summary",
        "    ids = article_ids + [separator_id]\n    for _ in range(max_new_tokens):\n"
        "        ids.append(next_token(model, ids))\n        if ids[-1] == end_id:\n            break\n"
        "    return ids[len(article_ids) + 1 :]",
        r"came out as \[6, 7, 8, 9\], wanted \[6, 7, 8\]",
    ),
    (
        "ablate",
        "    W_O = weights[f'blocks.{layer}.attention.W_O.weight'].clone()\n    d = W_O.shape[1] // num_heads\n"
        "    W_O[head * d : (head + 1) * d] = 0\n"
        "    return {**weights, f'blocks.{layer}.attention.W_O.weight': W_O}",
        "Known mistake: rows instead of columns",
    ),
    (
        "ablate",
        "    W_O = weights[f'blocks.{layer}.attention.W_O.weight']\n    d = W_O.shape[1] // num_heads\n"
        "    W_O[:, head * d : (head + 1) * d] = 0\n    return weights",
        "Known mistake: the original changed",
    ),
    (
        "ablate",
        "    W_O = weights[f'block.{layer}.attention.W_O.weight'].clone()\n    return W_O",
        "KeyError.*In ablate, line 2",
    ),
    (
        "next_word_probabilities",
        "    return torch.softmax(logits * temperature, dim=-1)",
        "At temperature 0.5, how many times as likely is it",
    ),
    (
        "next_word_probabilities",
        "    return torch.softmax(logits / temperature, dim=-1)",
        "What do the two that are left sum to",
    ),
    (
        "cross_attention",
        "    def split(t): return t.unflatten(-1, (num_heads, -1)).transpose(-3, -2)\n"
        "    query, key, value = split(x @ W_Q), split(x @ W_K), split(x @ W_V)\n"
        "    weights = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), dim=-1)\n"
        "    return (weights @ value).transpose(-3, -2).flatten(-2) @ W_O, weights",
        r"shape \(1, 2, 2\)",
    ),
]
A7 = [
    (
        "offset_attention",
        "    return np.roll(np.eye(length), offset, axis=1)",
        r"the first at nothing.*\[0, 0, 0, 1\], wanted \[0, 0, 0, 0\]",
    ),
    (
        "convolution_heads",
        "    k, d_in, d_out = kernel.shape\n    return list(range(k)), kernel.copy(), np.tile(np.eye(d_out), (k, 1))",
        r"offsets, put in order, came out as \[0, 1, 2\]",
    ),
    (
        "convolution_heads",
        "    k, d_in, d_out = kernel.shape\n"
        "    return [j - (k - 1) // 2 for j in range(k)], kernel.copy(), np.tile(np.eye(d_out), (k, 1))",
        "W_O has dtype float64",
    ),
    ("output_projection", EMPTY, ""),
    (
        "convolution_by_attention",
        RIGHT,
        "output_projection, which this calls and you bring from a4, is not written yet",
    ),
    ("output_projection", BROUGHT, ""),
    (
        "convolution_by_attention",
        "    offsets, W_V, W_O = convolution_heads(kernel)\n"
        "    w = np.stack([offset_attention(len(X), o) for o in offsets])\n    return w @ (X @ W_V)",
        r"not the tuple \(output, weights\)",
    ),
    (
        "translation_test",
        "    return np.allclose(layer(np.roll(X, shift)), np.roll(layer(X), shift))",
        "because the border is near",
    ),
]
CACHE = """\
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.words = window, sinks, []

    def append(self, key, value):
        self.words.append((key, value))
        return tuple(self.left(np.concatenate(part, axis=-2)) for part in zip(*self.words))

    def left(self, words):
        return words if self.window is None else {left}

    def __len__(self):
        return self.left(np.arange(len(self.words))[:, None]).shape[0]"""
A8 = [
    (
        "rotate",
        "    half = x.shape[-1] // 2\n    a = np.outer(positions, base ** (-np.arange(half) / half))\n"
        "    c, s, one, other = np.cos(a), np.sin(a), x[..., :half], x[..., half:]\n"
        "    return np.concatenate([one * c - other * s, one * s + other * c], -1)",
        "Which columns are a pair",
    ),
    (
        "grouped_query_attention",
        "    h = Q.shape[-3] // num_kv_heads\n    K, V = np.concatenate([K] * h, -3), np.concatenate([V] * h, -3)\n"
        "    s = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])\n    w = np.exp(s - s.max(-1, keepdims=True))\n"
        "    w = w / w.sum(-1, keepdims=True)\n    return w @ V, w",
        "Which head of keys does query head 1 get",
    ),
    (
        "cache_bytes",
        "    return num_layers * num_kv_heads * d_head * length * bytes_per_number",
        "the count came out as 240, wanted 480",
    ),
    (
        "decoding_step",
        "    d = W_Q.shape[-1] // num_heads\n    cut = lambda y: y.reshape(*x.shape[:-1], -1, 1, d)\n"
        "    k, v = cut(x @ W_K), cut(x @ W_V)\n    k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)\n"
        "    heads, _ = grouped_query_attention(cut(x @ W_Q), k, v, k.shape[-3])\n"
        "    return heads.reshape(*x.shape[:-1], -1) @ W_O, k, v",
        "What is the position of the first word",
    ),
    (
        "sliding_window_mask",
        "    i, j = np.arange(length)[:, None], np.arange(length)\n"
        "    return (i - j <= window) & (j <= i) | (j < sinks)",
        "Whom does word 5 see",
    ),
    (
        "KeyValueCache",
        "    K = V = None\n\n    def __init__(self, window=None, sinks=0):\n"
        "        self.window, self.sinks = window, sinks\n\n"
        "    def append(self, key, value):\n        self.K = np.concatenate([self.K, key], axis=-2)",
        r"has no len\(\).* before there is any word",
    ),
    (
        "KeyValueCache",
        CACHE.format(left="words[..., -self.window :, :]"),
        "Known mistake: sinks ignored",
    ),
    (
        "KeyValueCache",
        CACHE.format(left="np.concatenate([words[..., : self.sinks, :], words[..., -self.window :, :]], axis=-2)"),
        "Known mistake: words twice in short texts",
    ),
    (
        "attention_in_cache",
        "    S, d = K.shape[-2:]\n    turned = rotate(K, np.arange(S))\n"
        "    s = np.einsum('...d,...sd->...s', query, turned) / math.sqrt(d)\n"
        "    w = np.exp(s - s.max(-1, keepdims=True))\n    w = w / w.sum(-1, keepdims=True)\n"
        "    return np.einsum('...s,...sd->...d', w, V), w",
        "By what is each key rotated, and by what the query",
    ),
    (
        "online_softmax_step",
        "    s = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])\n    new = np.maximum(largest, s.max(-1))\n"
        "    p = np.exp(s - new[..., None])\n    return new, total + p.sum(-1), mixed + p @ V",
        "Known mistake: nothing shrunk",
    ),
    (
        "online_softmax_attention",
        "    m, t = np.full(Q.shape[:-1], -np.inf), np.zeros(Q.shape[:-1])\n"
        "    a = np.zeros((*Q.shape[:-1], V.shape[-1]))\n    for b in range(0, K.shape[-2], block_size):\n"
        "        i = slice(b, b + block_size)\n"
        "        m, t, a = online_softmax_step(m, t, a, Q, K[..., i, :], V[..., i, :])\n    return a",
        "What is divided by what at the end",
    ),
    (
        "rms_norm",
        "    return gamma * (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)",
        "What is the mean of the squares",
    ),
    (
        "gated_feed_forward",
        "    return (np.maximum(x @ W_gate, 0) * (x @ W_up)) @ W_down",
        "Known mistake: relu for silu",
    ),
    (
        "ModernDecoderBlock",
        "    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):\n        super().__init__()\n"
        "        self.W_Q, self.W_O = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)",
        "which part is too much, or not there",
    ),
]
A9 = [
    (
        "previous_token_score",
        "    return np.diagonal(weights, axis1=1, axis2=2).mean(-1)",
        "Known mistake: the word itself",
    ),
    (
        "previous_token_score",
        "    L = weights.shape[-1]\n    i = np.arange(L)\n    return weights[:, i, i - 1].mean(-1)",
        r"Known mistake: divided by all words or negative index",
    ),
    (
        "induction_score",
        "    i = np.arange(period, weights.shape[-1])\n    return weights[:, i, i - period].mean(-1)",
        "Known mistake: the same word",
    ),
    (
        "induction_score",
        "    scores = np.diagonal(weights, 1 - period, 1, 2)\n    return scores.mean(-1)",
        r"\[0.5, 0.2667\], wanted \[0.6, 0.15\]",
    ),
    (
        "mean_ablate",
        "    found[:, head] = found[:, head].mean(axis=0)\n    return found",
        "found holds other values after the call than before",
    ),
    (
        "mean_ablate",
        "    without = found.copy()\n    without[:, head] = found[:, head].mean(axis=(0, 1))\n    return without",
        "Known mistake: mean over texts and places or one number for all",
    ),
    (
        "patch_head",
        "    patched = found.copy()\n    patched[..., head, :, :] = other[..., head, :, :]\n    return patched",
        "Known mistake: every place",
    ),
    (
        "patch_head",
        "    patched = found.copy()\n    patched[:, head, place] = other[:, head, place]\n    return patched",
        r"the result at \[0, 1\] came out as \[5, 117, 7, 8\], wanted \[5, 6, 7, 8\]",
    ),
    ("qk_circuit", "    return W_Q @ W_K.T", r"shape \(2, 2\), it should be \(2, 2, 2\)"),
    (
        "qk_circuit",
        "    d = W_Q.shape[0]\n    Q, K = W_Q.reshape(num_heads, d, -1), W_K.reshape(num_heads, d, -1)\n"
        "    return Q @ K.swapaxes(-2, -1)",
        "Known mistake: reshaped not split",
    ),
    (
        "ov_circuit",
        "    V, O = np.split(W_V, num_heads, axis=1), np.split(W_O, num_heads, axis=1)\n"
        "    return np.stack([v @ o for v, o in zip(V, O)])",
        "cannot be multiplied: 1 meets 2.*line 3.*Which shape has each part of that line",
    ),
    (
        "ov_circuit",
        "    V, O = np.split(W_V, num_heads, axis=1), np.split(W_O, num_heads, axis=0)\n"
        "    return np.sum([v @ o for v, o in zip(V, O)], axis=0)",
        r"shape \(2, 2\), it should be \(2, 2, 2\)",
    ),
]
WALKS = {f"a{number}": walk for number, walk in enumerate([A1, A2, A3, A4, A5, A6, A7, A8, A9], start=1)}
# One that brings something along. What a check shows is the same in the others, and what a student does in the page of
# the first one, tests/helpers/browser/test_student_jupyterlab.py.
IN_THE_BROWSER = "a7"


def test_each_slip_is_named_by_the_first_thing_shown(jupyterlab, chromium):
    course, address = jupyterlab
    walk = WALKS[IN_THE_BROWSER]
    tab = Tab(chromium, address, copied(walk, course.root).relative_to(course.root).as_posix())
    try:
        each_slip_is_named(walk, tab, on_the_page)
    finally:
        tab.close()
    assert tab.complaints == []


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    yield kernel
    kernel.close()


@pytest.mark.parametrize("name", sorted(WALKS.keys() - {IN_THE_BROWSER}))
def test_nor_is_it_otherwise_in_a_kernel_without_a_page(name, kernel, tmp_path):
    kernel.open(copied(WALKS[name], tmp_path))
    each_slip_is_named(WALKS[name], kernel, in_the_output)


def copied(walk, root):
    """The released notebook of a walk, in a folder of its own."""
    assignment = COURSE.of_exercise(walk[0][0])
    steps = [step[0] for step in walk if step[1] not in (BROUGHT, EMPTY)]
    assert list(dict.fromkeys(steps)) == [exercise.name for exercise in assignment.exercises], "all, in their order"
    folder = shutil.copytree(ROOT / "assignments" / assignment.name, root / "walk" / assignment.name)
    return folder / assignment.notebook.name


def each_slip_is_named(walk, tab, first_thing):
    """Walk through a notebook in a `tab`; `first_thing` is what is read first after a check is run there."""
    tab.run("import numpy as np")
    if walk in (A1, A2, A3, A4, A5, A8):  # a6 begins with all of them, and a7 does without PyTorch
        tab.run("import torch.nn as nn")
    for number, (exercise, mutant, says) in enumerate(walk):
        answer = model_answers(COURSE.of_exercise(exercise))[exercise]
        first_line = answer.partition("\n")[0]
        if mutant == EMPTY:
            tab.run(first_line)
        elif mutant == BROUGHT:
            tab.write(first_line, answer)
        if not says:
            continue
        if mutant == STUB:
            tab.run(first_line)
        elif mutant != NO_CELL:
            tab.write(first_line, answer if mutant == RIGHT else f"{first_line}\n{mutant}")
        shown = first_thing(tab, exercise)
        assert shown.startswith(exercise), shown
        assert re.search(says, shown), f"{mutant}\n\n{shown}"
        if exercise not in [step[0] for step in walk[number + 1 :]]:
            tab.write(first_line, answer)
            assert re.search(rf"^{exercise}: (\d+) of \1 visible tests pass", first_thing(tab, exercise))


def on_the_page(tab, exercise):
    """What a student reads first after running the check: the headline, and the first check that fails."""
    cell, _ = tab.run(f'check("{exercise}")')
    said = cell.locator(".autograder-rubric")
    failed = said.locator("tr", has_text="✗ not yet")
    told = said.locator("p").all()[:2]  # the headline, and below it what is known
    texts = [*(one.inner_text() for one in told), *(row.inner_text() for row in failed.all()[:1])]
    return " ".join(" ".join(texts).split())


def in_the_output(kernel, exercise):
    """The same, of the page that the kernel gives."""
    (page,) = kernel.run(f'check("{exercise}")')
    return " ".join(" ".join(seen(page)[:2]).split())
