# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The decoder of today
#
# **Time:** about 205 minutes, two of them training, in two sittings. **Difficulty:** ●●●. **Builds on:** assignments 2, 4, 5 and 6.
#
# Open a language model of today, such as Llama or Mistral, and you find your decoder of assignment 5 with a handful of parts changed.
# You write these parts here, and compare them with what you know.
#
# | you write | in place of | why |
# | --- | --- | --- |
# | 1. `rotate` | positions added to words | a score knows the *distance* of two words |
# | 2. `grouped_query_attention`<br>3. `cache_bytes` | keys and values for each head | less to keep while writing |
# | 4. `decoding_step` | reading all again for each word | each step is the work of one word |
# | 5. `sliding_window_mask`<br>6. `KeyValueCache`<br>7. `attention_in_cache` | looking back at everything | the cache stops growing |
# | 8. `online_softmax_step`<br>9. `online_softmax_attention` | a table of all weights | far less memory |
# | 10. `rms_norm` | layer norm | simpler, and as good |
# | 11. `gated_feed_forward` | a ReLU | a little better, at the same size |
# | 12. `ModernDecoderBlock` | your block | you train it, and take it apart |
#
# **Two sittings.** Stop after exercise 7, save, and later run the cells again. For a short start take exercise 3, 10 or 11: a line or
# two each.
#
# **How to work.** Write your code in place of `raise NotImplementedError()`, run the cell, then run the check below it. A mistake
# in one exercise does not cost you the next. Ready-made attention, rotation and norms earn nothing inside an exercise.
#
# **What also counts**, a little each time: `float32` in gives `float32` out, the arguments stay as they are, and they may come by
# name. Numbers are finite, and sizes at least 1, unless a docstring says otherwise.
#
# **Stuck?** `hint("rotate")` gives a nudge, then a second one, then where to read. Nobody sees what you ask for. After a restart, run
# the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, explore, grading, heatmap, hint


# %% [markdown]
# ## 1. `rotate`
#
# *About 20 minutes · medium*
#
# In assignment 5 a position was a row of sines and cosines, *added* to a word. *Rotary positions*
# ([Su et al. 2021](https://arxiv.org/abs/2104.09864), section 3.2) add nothing. They **turn** (or *rotate*) each query and each key by
# an angle that grows with its position. Values are not turned.
#
# Why does that work? A dot product depends on the angle *between* two vectors. Turn a query at position $m$ by $m\,\theta$ and a
# key at position $n$ by $n\,\theta$, and that angle changes by $(m - n)\,\theta$. So a score knows **how far apart** two words are, and in
# which order, but not where.
#
# A vector of width $d$ is $d / 2$ **pairs**. Pair $i$ holds the columns $2i$ and $2i + 1$, side by side, and has a speed of its
# own, as in assignment 5: $\theta_i = base^{-2i/d}$. At position $p$:
#
# $$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} =
# \begin{pmatrix} \cos p\,\theta_i & -\sin p\,\theta_i \\ \sin p\,\theta_i & \cos p\,\theta_i \end{pmatrix}
# \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}$$

# %% [markdown]
# **By hand:** $x = (1, 0, 0, 2)$, so $d = 4$ and the speeds are $1$ and $10000^{-2/4} = 0.01$.
#
# | position | first pair, $(1, 0)$ | second pair, $(0, 2)$ |
# | --- | --- | --- |
# | 0 | $(1, 0)$ | $(0, 2)$ |
# | 1 | $(\cos 1, \sin 1) = (0.5403, 0.8415)$ | $(-2 \sin 0.01, 2 \cos 0.01) = (-0.02, 1.9999)$ |
# | 2 | $(-0.4161, 0.9093)$ | $(-0.04, 1.9996)$ |
#
# <details>
# <summary>Have you seen pairs in halves?</summary>
#
# The paper pairs neighbours, and so do we. Many programs pair column $i$ with column $i + d/2$. Either will do, since a model learns
# $W_Q$ and $W_K$ to fit; but weights trained with one are of no use with the other.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "rotate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotate(x, positions, base=10000.0):
    """Rotary positions: turn each vector by its position, pair by pair.

    x: queries or keys, (..., L, d), d even; `...` is any number of axes, also none
    positions: where each of the L vectors stands, an array (L,) of integers or fractions,
        also below 0; it need not begin at 0, nor be in order
    base: columns 2i and 2i + 1 are a pair, side by side; at position p it turns by p * base
        ** (-2i / d), in radians, so that (1, 0) becomes (cos, sin) of that angle

    Returns the turned vectors, (..., L, d), in the dtype of x. Work the angles
    out in float64, so that a float64 x keeps its digits; for a float32 x, float32 angles
    will do. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)                     # (d / 2,): one for each pair
    angle = positions[:, np.newaxis] * speed                      # (L, d / 2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]                    # (..., L, d / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)             # (..., L, d / 2, 2) -> (..., L, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-rotate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("rotate")

# %% [markdown]
# **What to notice.** Nine pairs, each $(1, 0)$ at position 0, and the first number of each as the position grows. Pair 0 goes round
# fast, like a second hand; the last one hardly moves. Turning makes no vector longer.

# %% tags=["active-ipynb"]
# vector = np.tile([1.0, 0.0], 9)                                    # (18,): nine pairs, each (1, 0)
# turned = rotate(np.tile(vector, (50, 1)), np.arange(50))           # (50, 18): at 50 positions
# print("lengths:", np.unique(np.linalg.norm(turned, axis=-1).round(9)))
# heatmap(turned[:, 0::2].T, title="first number of each pair: row = pair, column = position")

# %% [markdown]
# Now the promise. Below are the scores of eight words with the same query and the same key; only their places differ.
# **Predict first:** in which cells do equal scores stand? And do scores shrink, the further apart the words are?

# %% tags=["active-ipynb"]
# random = np.random.default_rng(3)
# q, k = random.normal(size=(2, 1, 16)).repeat(8, axis=1)         # (8, 16) each: eight equal rows
# place = np.arange(8)
# scores = rotate(q, place) @ rotate(k, place).T                  # (8, 8)
# later = rotate(q, place + 1000) @ rotate(k, place + 1000).T
# print("the same a thousand places on:", np.allclose(scores, later))
# heatmap(scores / np.abs(scores).max(), title="scores of equal words: row = query, column = key")

# %% [markdown]
# **What to notice.** Scores are equal along every **diagonal**: they know the distance, and which word comes first. A thousand
# places on, nothing has changed. But they do not simply shrink: pairs go round, so a score may rise again.

# %% [markdown]
# ## 2. `grouped_query_attention`
#
# *About 20 minutes · medium*
#
# While a model writes, it keeps the keys and values of every word so far, for each head in each layer: the **KV cache**. To make it
# smaller, heads **share**. In *multi-query* attention ([Shazeer 2019](https://arxiv.org/abs/1911.02150)) all heads have their own
# queries, and one set of keys and values. In *grouped-query* attention ([Ainslie et al. 2023](https://arxiv.org/abs/2305.13245)) each
# group of heads has one: nearly as good as a full set, nearly as fast as a single one.
#
# Neighbours form a group. With $h$ query heads and $g$ heads of keys and values, query head $i$ belongs to head
# $\lfloor i / (h / g) \rfloor$. Eight query heads:
#
# | `num_kv_heads` | query head 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | called |
# | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
# | 8 | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | multi-head |
# | 2 | 0 | 0 | 0 | 0 | 1 | 1 | 1 | 1 | grouped-query |
# | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | multi-query |
#
# The rest is as ever: scores divided by $\sqrt{d_k}$, a mask where `True` means *may attend*, a softmax, a blend of values; zeros for a
# query that may attend to nothing.

# %% [markdown]
# **By hand:** one word and two query heads. They share the keys of two words, $(1, 1, 0, 0)$ and $(2, 1, 2, 0)$, and their values,
# $(10, 0)$ and $(0, 10)$.
#
# | head | query | dot products | scores | weights | output |
# | --- | --- | --- | --- | --- | --- |
# | 0 | $(2, 0, 1, 1)$ | 2, 6 | 1, 3 | 0.119, 0.881 | $(1.19, 8.81)$ |
# | 1 | $(0, 0, 0, 0)$ | 0, 0 | 0, 0 | 0.5, 0.5 | $(5, 5)$ |

# %% [markdown]
# **Bring your `masked_softmax`** from assignment 2: copy it into the next cell. It earns no points and costs none. If it has a
# mistake or is missing, grading uses a right one; the check in the notebook needs yours.

# %% nbgrader={"grade": false, "grade_id": "bring-masked_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_softmax(scores, mask):
    """Softmax over the keys that each query may attend to: yours, from assignment 2.

    scores: (..., L, S); mask: bool, broadcasts to the shape of scores, True: may attend

    Returns weights, (..., L, S): 0 where masked, also in a row where nothing is allowed.
    """
    ### BEGIN SOLUTION
    scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.where(mask, exps / exps.sum(axis=-1, keepdims=True), 0)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "grouped_query_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    """Attention in h heads, of which neighbours share the keys and values of one head.

    Q: queries, (..., h, L, d_k)
    K: keys, (..., num_kv_heads, S, d_k)
    V: values, (..., num_kv_heads, S, d_v)
    num_kv_heads: how many heads of keys and values there are; 1 (multi-query) to h
        (multi-head); 0 is not graded
    mask: None, or bool that broadcasts to (..., h, L, S); True means "may attend"

    Returns the tuple (output, weights): output (..., h, L, d_v), weights (..., h, L, S), in
    the dtype of the input. A query that may attend to nothing gets all-zero weights and a
    zero output. Large scores give finite numbers. What comes in stays as it is. Raises
    ValueError where h heads cannot form num_kv_heads groups of one size.
    """
    ### BEGIN SOLUTION
    h, d_k = Q.shape[-3], Q.shape[-1]
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = K.repeat(group, axis=-3), V.repeat(group, axis=-3)    # (..., h, S, d): heads 0, 0, 1, 1
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)             # (..., h, L, S)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)                     # in a row without any key, too
    return weights @ V, weights                                  # (..., h, L, S) @ (..., h, S, d_v)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-grouped_query_attention", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("grouped_query_attention")

# %% [markdown]
# ## 3. `cache_bytes`
#
# *About 5 minutes · easy*
#
# How much is saved? For each layer, each head of keys and values, and each word, the cache holds a key and a value, both of width
# $d_{head}$.
#
# **By hand:** 3 layers, 5 heads of keys and values, a width of 10, 7 words. That is $3 \cdot 5 \cdot 7 = 105$ keys of 10 numbers, so
# 1,050 numbers, and with the values 2,100. At 2 bytes a number (`float16`) it is 4,200 bytes, at 4 (`float32`) 8,400.

# %% nbgrader={"grade": false, "grade_id": "cache_bytes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    """The size of a KV cache for one text.

    num_layers: layers of the model
    num_kv_heads: heads of keys and values in each layer
    d_head: width of a key, and of a value
    length: words in the cache
    bytes_per_number: 2 for float16, 4 for float32

    All five are Python's own ints. Returns the number of bytes, one of those as well, exact
    however large it is.
    """
    ### BEGIN SOLUTION
    numbers = num_layers * num_kv_heads * length * d_head   # of all keys
    return 2 * numbers * bytes_per_number                   # and as many of all values
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-cache_bytes", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("cache_bytes")

# %% [markdown]
# A Llama 3 of 8 billion parameters ([Grattafiori et al. 2024](https://arxiv.org/abs/2407.21783), table 3) has 32 layers, 32 query
# heads of width 128, and 16 GB of weights. It reads one text of 128,000 tokens. **Predict first:** will the cache be smaller than the
# model itself, with a full set of heads? And with eight?

# %% tags=["active-ipynb"]
# print("heads of keys and values    a token    128,000 tokens")
# for num_kv_heads, name in [(32, "multi-head"), (8, "grouped, as in Llama 3"), (1, "multi-query")]:
#     token = cache_bytes(32, num_kv_heads, 128, 1)
#     text = cache_bytes(32, num_kv_heads, 128, 128_000)
#     print(f"{num_kv_heads:2d}  {name:22s} {token / 2**10:7.0f} KiB {text / 1e9:12.1f} GB")
# print(f"the model's own weights {16.0:27.1f} GB")

# %% [markdown]
# **What to notice.** With a full set of heads, the cache of *one* long text is four times as large as the model; with eight, it is as
# large as the model. That is why nearly every large model shares.

# %% [markdown]
# ## 4. `decoding_step`
#
# *About 20 minutes · hard*
#
# Now use the cache. Of the words before it, a new word needs only the keys and values. So a step does the work of **one** word:
#
# 1. from the new word $x$ make a query, a key and a value, $x W_Q$, $x W_K$, $x W_V$, cut into heads;
# 2. turn the query and the key by the word's position, which is the number of words in the cache;
# 3. put the new key and value behind those in the cache (keys are kept turned, so each is turned once);
# 4. attend, in groups, and multiply by $W_O$.
#
# No mask is needed: what comes later is not there yet. The cache comes in and goes out again; the function keeps nothing.
#
# You may call `rotate` and `grouped_query_attention`. If one of them still has a mistake, this exercise is judged with a right one in
# its place.

# %% [markdown]
# **By hand**, $d_{model} = 2$ and one head of width 2, so $d_{head} = 2$. Two words, $x_0 = (1, 0)$ and $x_1 = (0, 1)$, and
#
# $$W_Q = \begin{pmatrix} 1 & 2 \\ 3 & 0 \end{pmatrix} \quad W_K = \begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix} \quad
# W_V = \begin{pmatrix} 4 & 0 \\ 0 & 8 \end{pmatrix} \quad W_O = \begin{pmatrix} 1 & 0 \\ 1 & 1 \end{pmatrix}$$
#
# | | word 0, no cache yet | word 1, one word in the cache |
# | --- | --- | --- |
# | position | 0 | 1 |
# | query, turned | $(1, 2)$ | $(3, 0)$, turned by 1: $(1.6209, 2.5244)$ |
# | key, turned | $(1, 0)$ | $(0, 2)$, turned by 1: $(-1.6829, 1.0806)$ |
# | value | $(4, 0)$ | $(0, 8)$ |
# | cache `K` afterwards | $(1, 0)$ | $(1, 0)$ and $(-1.6829, 1.0806)$ |
# | scores | $1 / \sqrt2$ | $1.6209 / \sqrt2 = 1.146$ and 0 |
# | weights | 1 | 0.7588 and 0.2412 |
# | blend of values | $(4, 0)$ | $(3.0352, 1.9295)$ |
# | output, times $W_O$ | $(4, 0)$ | $(4.9648, 1.9295)$ |

# %% nbgrader={"grade": false, "grade_id": "decoding_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    """Attention for the newest word, with the keys and values of those before it kept.

    x: the newest word, (..., d_model)
    K, V: the cache, keys and values of the S words so far, (..., num_kv_heads, S, d_head),
        keys turned by their positions already; None and None before the first word
    W_Q: (d_model, num_heads * d_head); W_O: (num_heads * d_head, d_model)
    W_K, W_V: (d_model, num_kv_heads * d_head); head i owns the columns i * d_head to (i +
        1) * d_head, as in W_Q
    num_heads: heads of queries; heads of keys and values are as many as the width of W_K
        has room for

    Returns the tuple (output, K, V), in the dtype of the input: output (..., d_model), and
    the cache with the newest word at its end, (..., num_kv_heads, S + 1, d_head). The
    newest word stands at position S: its query and key are turned by S (base 10000), and
    scores are divided by the square root of d_head. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    batch, d_head = x.shape[:-1], W_Q.shape[-1] // num_heads
    place = np.array([0 if K is None else K.shape[-2]])         # the newest word's

    def split(projected):
        return projected.reshape(*batch, -1, 1, d_head)         # (..., heads, 1, d_head): one word

    query, key, value = rotate(split(x @ W_Q), place), rotate(split(x @ W_K), place), split(x @ W_V)
    if K is not None:
        key, value = np.concatenate([K, key], axis=-2), np.concatenate([V, value], axis=-2)
    heads, _ = grouped_query_attention(query, key, value, key.shape[-3])  # (..., h, 1, d_head)
    return heads.reshape(*batch, -1) @ W_O, key, value          # (..., h * d_head) -> (..., d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-decoding_step", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("decoding_step")

# %% [markdown]
# **What to notice.** Nine words one after the other give the same as all nine at once under a causal mask. So a model that was
# trained under a mask may write with a cache.

# %% tags=["active-ipynb"]
# random = np.random.default_rng(4)
# text = random.normal(size=(9, 16))                          # nine words, d_model = 16
# W_Q, W_O = random.normal(size=(2, 16, 16)) / 4              # four query heads of width 4
# W_K, W_V = random.normal(size=(2, 16, 8)) / 4               # two heads of keys and values
#
# def at_once(text):
#     """The same attention for all words together."""
#     words = np.arange(len(text))
#     q, k, v = ((text @ W).reshape(len(text), -1, 4).swapaxes(0, 1) for W in (W_Q, W_K, W_V))
#     seen = words <= words[:, None]
#     heads, _ = grouped_query_attention(rotate(q, words), rotate(k, words), v, len(k), seen)
#     return heads.swapaxes(0, 1).reshape(len(text), -1) @ W_O
#
# K, V, outputs = None, None, []
# for word in text:
#     output, K, V = decoding_step(word, K, V, W_Q, W_K, W_V, W_O, num_heads=4)
#     outputs.append(output)
# apart = np.abs(outputs - at_once(text)).max()
# print(f"largest difference: {apart:.0e}; keys in the cache: {K.shape}")

# %% [markdown]
# What does it save? Four layers read a text of random words; without a cache, all words so far go through them again at each step.
# `cost_of` counts the multiplications that `@` does, and seconds. **Predict first:** twice as many words, how many times the
# multiplications, with the cache and without?

# %% tags=["active-ipynb"]
# from attention_course import cost_of
#
# d_model, layers = 64, 4
# W_Q, W_O = random.normal(size=(2, d_model, d_model)) / 8    # 16 query heads of width 4
# W_K, W_V = random.normal(size=(2, d_model, 16)) / 8         # four heads of keys and values
#
# def with_cache(text):
#     caches = [(None, None)] * layers
#     for x in text:
#         for layer, (K, V) in enumerate(caches):
#             output, *caches[layer] = decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads=16)
#             x = x + output
#
# def without_cache(text):
#     for length in range(1, len(text) + 1):
#         x = text[:length]
#         for _ in range(layers):
#             x = x + at_once(x)
#
# if not grading:                                             # nobody looks while it is graded
#     print("        million multiplications         seconds")
#     print("words   with a cache    without   with a cache   without")
#     for length in (30, 60, 120):
#         text = random.normal(size=(length, d_model))
#         (kept, fast), (repeated, slow) = cost_of(with_cache, text), cost_of(without_cache, text)
#         print(f"{length:5} {kept:14.1f} {repeated:10.1f} {fast:14.2f} {slow:9.2f}")

# %% [markdown]
# **What to notice.** From 60 words to 120, the multiplications grow 2.5 times with the cache and 5.3 times without. With it, each new
# word goes through the matrices once, and only its scores get more.

# %% [markdown]
# ## 5. `sliding_window_mask`
#
# *About 15 minutes · easy*
#
# Shared or not, the cache grows with every word. With a **sliding window**, a word attends only to the last few words, itself among
# them, and older ones are thrown away ([Beltagy et al. 2020](https://arxiv.org/abs/2004.05150), section 3.1; Mistral,
# [Jiang et al. 2023](https://arxiv.org/abs/2310.06825), section 2).
#
# There is a catch. A softmax has to put its weight *somewhere*, and in large models heads that look for nothing put it on the
# first words, the **attention sinks** ([Xiao et al. 2023](https://arxiv.org/abs/2309.17453), figure 1 and section 3). Once these were
# thrown away, the perplexity of a Llama 2 went from 5.4 to more than 5,000; with four of them kept, it went on writing well.
#
# So query $i$ may attend to key $j$ if $j$ does not come later, **and** is one of the last `window` words **or** one of the first
# `sinks` words:
#
# $$j \le i \quad\text{and}\quad (\, i - j < window \quad\text{or}\quad j < sinks \,)$$

# %% [markdown]
# **By hand**, six words, a window of 3, one sink. Row = query, x = may attend:
#
# | | 0 | 1 | 2 | 3 | 4 | 5 |
# | --- | --- | --- | --- | --- | --- | --- |
# | **0** | x | | | | | |
# | **1** | x | x | | | | |
# | **2** | x | x | x | | | |
# | **3** | x | x | x | x | | |
# | **4** | x | | x | x | x | |
# | **5** | x | | | x | x | x |

# %% nbgrader={"grade": false, "grade_id": "sliding_window_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sliding_window_mask(length, window, sinks=0):
    """Who may attend to whom, if a word sees the last few words and the first few.

    length: number of words, an int
    window: how many of the last words a query sees, itself among them, an int, 1 or more;
        may be larger than length
    sinks: how many of the first words all later words see, an int, 0 or more; may be
        larger than length

    Returns bool, (length, length): True at row i, column j where query i may attend to key
    j. No word looks ahead. Each call makes a new array.
    """
    ### BEGIN SOLUTION
    key = np.arange(length)                               # (S,), here S = L = length
    query = key[:, np.newaxis]                            # (L, 1)
    near, first = query - key < window, key < sinks       # (L, S), (S,)
    return (key <= query) & (near | first)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-sliding_window_mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("sliding_window_mask")

# %% [markdown]
# **What to notice.** The cache holds as many words as the longest row has blue cells: all 12, or 4, or 6. The last two do not grow with
# the text.

# %% tags=["active-ipynb"]
# masks = np.stack([sliding_window_mask(12, *sizes) for sizes in ((12, 0), (4, 0), (4, 2))])
# print("most keys that a word sees:", masks.sum(axis=-1).max(axis=-1))
# names = ["causal", "window of 4", "window of 4, two sinks"]
# heatmap(masks, title="row = query, column = key", names=names)

# %% [markdown]
# ### A window on real text
#
# Has a small model sinks, too? `trained_decoder` from assignment 2 reads ten stretches of *Pride and Prejudice* that it was not
# trained on, of 60 tokens each. Through your mask, its heads see only the last few tokens, with and without four sinks.
#
# **Predict first:** how small may the window get before the loss rises? And how much will the sinks help?

# %% tags=["active-ipynb"]
# from attention_course import novel, trained_decoder
#
# tokenizer = trained_decoder.tokenizer()
# tokens = tokenizer.encode(novel.text()[1][:4000])            # of chapters that it was not trained on
# stretches = [tokenizer.decode(tokens[60 * n : 60 * n + 60]) for n in range(10)]
#
# def loss_through(window, sinks):
#     """The model's loss if every head looks through a window."""
#     def attention(Q, K, V):                                  # (4, L, 24) each
#         mask = sliding_window_mask(Q.shape[1], window, sinks)
#         return grouped_query_attention(Q, K, V, 4, mask)
#
#     return np.mean([trained_decoder.read(text, attention).loss() for text in stretches])
#
# if not grading:
#     print("window   no sinks   four sinks")
#     for window in (60, 16, 4, 2, 1):
#         print(f"{window:6} {loss_through(window, 0):10.2f} {loss_through(window, 4):12.2f}")
#     on_first = np.mean([trained_decoder.read(text).weights[..., 20:, 0].mean() for text in stretches])
#     print(f"weight on the first token, from token 20 on: {on_first:.1%}")

# %% [markdown]
# **What to notice.** A window of 16 costs this model hardly anything: the loss is 3.21 instead of 3.19. Even if each token sees only
# itself it is 4.07, for the newest token tells most about the next.
#
# The sinks hardly help: only 1 % of this model's weight rests on the first token. It has three layers and never read more than 64
# tokens; sinks are a habit of larger models. Measure before you throw away the first words.

# %% [markdown]
# ## 6. `KeyValueCache`
#
# *About 15 minutes · medium*
#
# A program that writes has a cache for each layer. Let an **object** keep it: a key and a value go in, and whatever later words still
# look at comes out. With a window it also **forgets**, so it stops growing.

# %% [markdown]
# **By hand**, a window of 2 and one sink. The words are *a* to *e*:
#
# | `append` of | returns | `len` |
# | --- | --- | --- |
# | a | a | 1 |
# | b | a b | 2 |
# | c | a b c | 3 |
# | d | a c d | 3 |
# | e | a d e | 3 |
#
# At *d*, the word *b* is neither one of the last two nor the first. No later word will look at it, so it goes. Without a window,
# nothing goes.
#
# Keep everything in `self`, and begin with nothing in `__init__`: two caches know nothing of each other. Keys come in turned already,
# by their positions in the text, so you need not turn anything.

# %% nbgrader={"grade": false, "grade_id": "KeyValueCache", "locked": false, "schema_version": 3, "solution": true, "task": false}
class KeyValueCache:
    """Keys and values of a text that is being written, as many as later words still look at.

    window: how many of the last words are kept, an int, 1 or more; None: all words
    sinks: how many of the first words are kept beside them, an int, 0 or more
    """

    def __init__(self, window=None, sinks=0):
        ### BEGIN SOLUTION
        self.window, self.sinks = window, sinks
        self.K = self.V = None
        ### END SOLUTION

    def append(self, key, value):
        """Add the next word, and forget what no later word looks at.

        key: (..., num_kv_heads, 1, d_k), turned already
        value: (..., num_kv_heads, 1, d_v)

        Returns the tuple (K, V) of what is kept now, the newest word at its end: (...,
        num_kv_heads, S, d_k) and (..., num_kv_heads, S, d_v), in the dtype of the input. Words
        are in their order, and no word appears twice; words with equal keys are different
        words. What comes in stays as it is. The cache may keep the caller's own array, which
        the caller does not change later.
        """
        ### BEGIN SOLUTION
        if self.K is not None:
            key = np.concatenate([self.K, key], axis=-2)
            value = np.concatenate([self.V, value], axis=-2)
        self.K, self.V = self._kept(key), self._kept(value)
        return self.K, self.V
        ### END SOLUTION

    def __len__(self):
        """How many words are kept now, an int; 0 before the first."""
        ### BEGIN SOLUTION
        return 0 if self.K is None else self.K.shape[-2]

    def _kept(self, words):
        """Of keys or values, (..., S, d), those of the first words and the last."""
        if self.window is None or words.shape[-2] <= self.sinks + self.window:
            return words
        return np.concatenate([words[..., : self.sinks, :], words[..., -self.window :, :]], axis=-2)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-KeyValueCache", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("KeyValueCache")

# %% [markdown]
# **What to notice.** Twelve words, and what the cache holds after each. Haven't you seen this picture before? It is the mask of
# exercise 5: what a mask hides, a cache need not keep. So attention over the cache gives what attention under the mask gives.

# %% tags=["active-ipynb"]
# def held(window, sinks):
#     """Which words a cache holds after each of twelve, (12, 12)."""
#     cache, rows = KeyValueCache(window, sinks), np.zeros((12, 12), dtype=bool)
#     for word in range(12):
#         K, _ = cache.append(np.full((1, 1, 1), word), np.zeros((1, 1, 1)))     # its number as its key
#         rows[word, K[0, :, 0].astype(int)] = True
#     return rows
#
# pictures = np.stack([held(None, 0), held(4, 0), held(4, 2)])
# names = ["no window", "window of 4", "window of 4, two sinks"]
# display(heatmap(pictures, title="row = step, column = word", names=names))
#
# random = np.random.default_rng(7)
# Q, K, V = (random.normal(size=(heads, 100, 8)) for heads in (4, 2, 2))
# under_mask, _ = grouped_query_attention(Q, K, V, 2, sliding_window_mask(100, 6, sinks=2))
# cache, largest = KeyValueCache(window=6, sinks=2), 0
# for n in range(100):
#     kept = cache.append(K[:, n : n + 1], V[:, n : n + 1])
#     output, _ = grouped_query_attention(Q[:, n : n + 1], *kept, 2)
#     largest = max(largest, np.abs(output[:, 0] - under_mask[:, n]).max())
# print(f"100 words: largest difference {largest:.0e}, and {len(cache)} words in the cache")

# %% [markdown]
# ## 7. `attention_in_cache`
#
# *About 15 minutes · hard*
#
# One function, two ideas: *where* keys are rotated, and a *sink* that is learned. Write the first and run the check: what is still
# red needs `sink_logits`. Then add the second.
#
# **First idea: places in the cache.** Until now, keys were rotated by their positions in the **text**. In a very long text, the
# newest word stands at 1,000,000 and the sinks at 0 to 3. No model has met such a distance in training, and its heads no longer find
# their sinks.
#
# So keep keys **unrotated**, and rotate all of them at every step by their places **in the cache**
# ([Xiao et al. 2023](https://arxiv.org/abs/2309.17453), section 3.2): the oldest by 0, the next by 1, and so on. The newest word is the
# last of $S$, so its key and its query are rotated by $S - 1$. No distance is larger than the cache, and their models write on for four
# million words.

# %% [markdown]
# **Second idea: a sink that is learned.** Give the weight that has to go somewhere a place of its own: one number $b$ for each head,
# learned with the model. It stands beside the scores as one more, with no key and no value:
#
# $$w_j = \frac{e^{s_j}}{e^{b} + \sum_k e^{s_k}}$$
#
# The weights then sum to less than 1, and a head that finds nothing adds next to nothing. The gpt-oss models have such
# **sink logits** ([OpenAI 2025](https://arxiv.org/abs/2508.10925)).
#
# **By hand**, one head, $d = 2$, two words in the cache. The query is $(\sqrt2, 0)$, both keys are $(2, 0)$, the values 10 and 20. The
# newest key stands where the query stands, so its score is $2 \sqrt2 / \sqrt2 = 2$. The other is one place away: $2 \cos 1 = 1.0806$.
#
# | | scores | weights | output |
# | --- | --- | --- | --- |
# | no sink logit | 1.0806, 2 | 0.2851, 0.7149 | 17.149 |
# | a sink logit of 2 | 1.0806, 2, and 2 for the sink | 0.1662, 0.4169 | 10.0 |

# %% nbgrader={"grade": false, "grade_id": "attention_in_cache", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_in_cache(query, K, V, sink_logits=None):
    """Attention of the newest word to a cache of unrotated keys.

    Each key is rotated by its place in the cache, 0 to S - 1, and the query by S - 1.

    query: the newest word's, one for each head, (..., h, d), unrotated; d is even
    K: keys, (..., h, S, d), unrotated, in the order of the cache; the newest word's is last
    V: values, (..., h, S, d_v)
    sink_logits: (h,), one number for each head, that is a score of its own without a value,
        in the dtype of the query; None: there is none

    Returns the tuple (output, weights) in the dtype of the input: output (..., h, d_v), and
    the weights of the S words, (..., h, S). Positions turn by the base 10000; scores are
    divided by the square root of d, sink logits are not. Large scores and large sink logits
    give finite numbers. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    S, d = K.shape[-2:]
    place = np.arange(S)                                              # (S,): in the cache
    query = rotate(query[..., np.newaxis, :], place[-1:])             # (..., h, 1, d): one word
    scores = query @ rotate(K, place).swapaxes(-2, -1) / math.sqrt(d)  # (..., h, 1, S)
    largest = scores.max(axis=-1, keepdims=True)                      # (..., h, 1, 1)
    into_sink = 0
    if sink_logits is not None:
        sink = sink_logits[:, np.newaxis, np.newaxis].astype(scores.dtype)  # (h, 1, 1)
        largest = np.maximum(largest, sink)
        into_sink = np.exp(sink - largest)
    exps = np.exp(scores - largest)
    weights = exps / (exps.sum(axis=-1, keepdims=True) + into_sink)
    return (weights @ V)[..., 0, :], weights[..., 0, :]               # (..., h, d_v), (..., h, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-attention_in_cache", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("attention_in_cache")

# %% [markdown]
# A head has learned to rest on the first two words: their keys fit its query if they stand seven and six places back. Your cache keeps
# these two and the last six words, while ten thousand go by. **Predict first:** where will the head look, if keys are rotated by
# positions in the **text**? And by places in the **cache**?

# %% tags=["active-ipynb"]
# random = np.random.default_rng(2)
# query = random.normal(size=(1, 16))                                     # one head of width 16
# sinks = 0.8 * rotate(np.tile(query, (2, 1)), np.array([7, 6]))          # (2, 16): their keys
# cache, lengths = KeyValueCache(window=6, sinks=2), [8, 30, 100, 300, 1_000, 3_000, 10_000]
# in_text, in_cache = [], []
# for n in range(lengths[-1]):                                            # word after word
#     key = sinks[n : n + 1] if n < 2 else random.normal(size=(1, 16)) / 2  # (1, 16), unrotated
#     K, _ = cache.append(key[np.newaxis], key[np.newaxis])               # (1, S, 16), S is at most 8
#     if n + 1 in lengths:
#         position = np.array([0, 1, *range(n - 5, n + 1)])               # in the text
#         scores = rotate(query, position[-1:]) @ rotate(K[0], position).T / 4  # (1, 8)
#         in_text.append((np.exp(scores) / np.exp(scores).sum())[0])
#         in_cache.append(attention_in_cache(query, K, K)[1][0])          # (8,)
# heatmap(np.stack([in_text, in_cache]), title="weights of the newest word",
#         names=["positions in the text", "places in the cache"],
#         rows=[f"{length:,} words" for length in lengths], columns=["sink", "sink", *range(-5, 1)])

# %% [markdown]
# **What to notice.** By positions in the **text**, the head loses its sinks as the text grows, and meets them again only by chance. By
# places in the **cache** they stand seven and six places back at every length, so it always finds them.

# %% [markdown]
# Now the learned sink, and eight words of which none has what the head looks for. **Predict first:** where does its weight go without
# a sink logit, and where with a larger and larger one?

# %% tags=["active-ipynb"]
# nothing_fits = random.normal(size=(1, 8, 16)) / 2                          # (1, 8, 16): keys
#
# def with_sink_logit(b):
#     rows = [attention_in_cache(query, nothing_fits, nothing_fits, sink)[1][0]
#             for sink in (None, np.array([b]))]                             # (8,) each
#     shown = np.array([[*row, 1 - row.sum()] for row in rows])              # the rest is in the sink
#     labels = ["no sink logit", f"a sink logit of {b:g}"]
#     return heatmap(shown, rows=labels, columns=[*range(-7, 1), "sink"])
#
# explore(with_sink_logit, b=(-2.0, 0.0, 2.0, 4.0, 6.0))

# %% [markdown]
# **What to notice.** Without it, words that do not fit share all of the weight. A sink logit takes from all of them alike: their weights
# shrink by one factor.
#
# *The first sitting ends here.* You made the cache small; in the second you make the work itself small.

# %% [markdown]
# ## 8. `online_softmax_step`
#
# *About 20 minutes · hard*
#
# *Here the second sitting begins.* A softmax needs a whole row of scores, so attention makes a table of them: 128,000 times 128,000 for
# that many words, in every head. Does it have to be there?
#
# No. Take the sum **while the keys come by**, block after block, and correct it each time a larger score turns up
# ([Milakov and Gimelshein 2018](https://arxiv.org/abs/1805.02867), section 3). For each query, remember three things:
#
# - $m$, the **largest** score so far,
# - $\ell = \sum_j e^{s_j - m}$, the **total** so far, measured from $m$,
# - $a = \sum_j e^{s_j - m}\, v_j$, the values **mixed** so far, measured from $m$, too.
#
# A block brings new scores $s_j$ and values $v_j$. With $m' = \max(m, \max_j s_j)$, what we have was measured from the old $m$, so it
# shrinks by $e^{m - m'}$ before the block's part is added:
#
# $$\ell' = e^{m - m'}\, \ell + \sum_{j \text{ in the block}} e^{s_j - m'} \qquad
# a' = e^{m - m'}\, a + \sum_{j \text{ in the block}} e^{s_j - m'}\, v_j$$
#
# At the very end, the output is $a / \ell$. Before the first block $m = -\infty$, $\ell = 0$ and $a = 0$. Since $e^{-\infty - m'} = 0$,
# the first block needs no special case.

# %% [markdown]
# **By hand**, one query, blocks of one key. The scores are $0$ and $\ln 3$, the values 10 and 2.
#
# | | $m$ | $\ell$ | $a$ |
# | --- | --- | --- | --- |
# | before | $-\infty$ | 0 | 0 |
# | score 0, value 10 | 0 | 1 | 10 |
# | score $\ln 3$, value 2 | $\ln 3$ | $\tfrac13 \cdot 1 + 1 = \tfrac43$ | $\tfrac13 \cdot 10 + 2 = \tfrac{16}3$ |
#
# The output is $\tfrac{16}3 / \tfrac43 = 4$. The whole softmax of $(0, \ln 3)$ is $(\tfrac14, \tfrac34)$, and
# $\tfrac14 \cdot 10 + \tfrac34 \cdot 2 = 4$. Write the one step; it sees one block of keys and no other.

# %% nbgrader={"grade": false, "grade_id": "online_softmax_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def online_softmax_step(largest, total, mixed, Q, K, V):
    """One more block of keys and values, for attention that never sees a whole row.

    largest: each query's largest score so far, (..., L); -inf before the first block
    total: the sum of e ** (score - largest) so far, (..., L); 0 before the first block
    mixed: the sum of e ** (score - largest) times the value so far, (..., L, d_v); 0 before
        the first block
    Q: queries, (..., L, d_k)
    K: the block's keys, (..., B, d_k)
    V: the block's values, (..., B, d_v)

    Returns the new tuple (largest, total, mixed), in the dtype of the input. Scores are
    divided by the square root of d_k. Large scores give finite numbers. What comes in stays
    as it is.
    """
    ### BEGIN SOLUTION
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])      # (..., L, B): of this block only
    new_largest = np.maximum(largest, scores.max(axis=-1))        # (..., L)
    exps = np.exp(scores - new_largest[..., np.newaxis])          # (..., L, B)
    shrink = np.exp(largest - new_largest)                        # (..., L): 0 for the first block
    total = shrink * total + exps.sum(axis=-1)
    mixed = shrink[..., np.newaxis] * mixed + exps @ V            # (..., L, d_v)
    return new_largest, total, mixed
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-online_softmax_step", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("online_softmax_step")

# %% [markdown]
# ## 9. `online_softmax_attention`
#
# *About 10 minutes · medium*
#
# Now the whole thing: begin with nothing, take keys and values block by block (the last block may be shorter), divide at the end. You
# may call `online_softmax_step`; if it still has a mistake, this exercise is judged with a right one in its place.
#
# The **table of all scores**, a row for each query and a column for each key, is never in memory. So you return **only the output**, and
# no weights.

# %% nbgrader={"grade": false, "grade_id": "online_softmax_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def online_softmax_attention(Q, K, V, block_size):
    """Attention over blocks of keys, without the table of all scores.

    Q: queries, (..., L, d_k)
    K: keys, (..., S, d_k)
    V: values, (..., S, d_v)
    block_size: how many keys are looked at together, an int, 1 or more; S need not be a
        multiple of it, nor larger

    Returns the output, (..., L, d_v), in the dtype of the input: that of softmax(Q K^T /
    sqrt(d_k)) V. Large scores, above and below zero, give finite numbers. What comes in
    stays as it is. At no time may the scores of all keys, (..., L, S), be in memory, in one
    array or in parts, nor those of one query, (S,). Those of a block, (..., L, B), may, and
    something small of each block, such as its largest, total and mixed. A long text may
    have thousands of blocks.
    """
    ### BEGIN SOLUTION
    rows = Q.shape[:-1]                                                  # (..., L)
    largest, total = np.full(rows, -np.inf, Q.dtype), np.zeros(rows, Q.dtype)
    mixed = np.zeros((*rows, V.shape[-1]), Q.dtype)
    for start in range(0, K.shape[-2], block_size):
        block = slice(start, start + block_size)
        keys, values = K[..., block, :], V[..., block, :]
        largest, total, mixed = online_softmax_step(largest, total, mixed, Q, keys, values)
    return mixed / total[..., np.newaxis]                                # (..., L, d_v)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-online_softmax_attention", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("online_softmax_attention")

# %% [markdown]
# ### What FlashAttention makes of it
#
# A graphics card has a large memory that is slow, and a small one that is fast. Plain attention writes its table into the slow one and
# reads it again, twice; that takes longer than the arithmetic. **FlashAttention**
# ([Dao et al. 2022](https://arxiv.org/abs/2205.14135), section 3.1) does your step on blocks of queries and keys that fit into the fast
# memory. The table is never written anywhere, and the result is exact.
#
# **Predict first:** twice as many words, how many times the memory, with the table and with your function?

# %% tags=["active-ipynb"]
# import tracemalloc
#
# def most_memory(attention, *inputs):
#     """The most bytes in use at any time of a call, beside its inputs."""
#     tracemalloc.start()
#     try:
#         attention(*inputs)
#         return tracemalloc.get_traced_memory()[1]
#     finally:
#         tracemalloc.stop()
#
# def with_table(Q, K, V, block_size):
#     exps = np.exp(Q @ K.T / math.sqrt(Q.shape[-1]))                    # (L, S): the table
#     return exps / exps.sum(axis=-1, keepdims=True) @ V
#
# if not grading:
#     print("words   with the table   in blocks of 50")
#     for length in (500, 1000, 2000):
#         Q = np.random.default_rng(0).normal(size=(length, 16))         # one head
#         table = most_memory(with_table, Q, Q, Q, 50) / 1e6
#         blocks = most_memory(online_softmax_attention, Q, Q, Q, 50) / 1e6
#         print(f"{length:5,} {table:13.1f} MB {blocks:14.1f} MB")

# %% [markdown]
# **What to notice.** Twice as many words need four times the memory with the table, and twice without. At 128,000 words the table of one
# head would have 32.8 GB, at 2 bytes a number.

# %% [markdown]
# ## 10. `rms_norm`
#
# *About 5 minutes · easy*
#
# Layer norm takes the mean off and divides by the spread. Do we need the mean? [Zhang and Sennrich 2019](https://arxiv.org/abs/1910.07467)
# (section 3) leave it out, and the shift $\beta$ with it. A vector is only divided by its own size, the *root mean square*:
#
# $$\operatorname{RMSNorm}(x) = \gamma \odot \frac{x}{\sqrt{\frac1{d_{model}} \sum_j x_j^2 + \epsilon}}$$
#
# **By hand:** $x = (1, 3, 5, 7)$ with $\gamma = (2, 2, 1, 1)$. The squares are 1, 9, 25, 49, their mean is 21, and
# $x / \sqrt{21} = (0.2182, 0.6547, 1.0911, 1.5275)$. The result is $(0.4364, 1.3093, 1.0911, 1.5275)$.

# %% nbgrader={"grade": false, "grade_id": "rms_norm", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rms_norm(x, gamma, eps=1e-5):
    """Every vector divided by its root mean square, then scaled by gamma.

    x: (..., d_model); `...` is any number of axes, also none
    gamma: (d_model,), in the dtype of x
    eps: a small number, added to the mean of the squares, under the root

    Returns an array of the shape and dtype of x. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    mean_square = (x**2).mean(axis=-1, keepdims=True)     # (..., 1): one for each word
    return gamma * x / np.sqrt(mean_square + eps)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-rms_norm", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("rms_norm")

# %% [markdown]
# **Predict first:** what does the norm do to $10\,x$, and to $x + 10$? Would layer norm do the same?

# %% tags=["active-ipynb"]
# x = np.array([1.0, 3, 5, 7])
# for name, y in (("x", x), ("10 x", 10 * x), ("x + 10", x + 10)):
#     layer_norm = ((y - y.mean()) / y.std()).round(2)
#     print(f"{name:7} RMSNorm {rms_norm(y, np.ones(4)).round(2)}   layer norm {layer_norm}")

# %% [markdown]
# **What to notice.** Ten times as long makes no difference to either. Adding 10 makes none to layer norm, which takes the mean off; with
# RMSNorm it stays in.

# %% [markdown]
# ## 11. `gated_feed_forward`
#
# *About 5 minutes · easy*
#
# In assignment 5 the feed-forward network was a layer, a ReLU, a layer. Today two layers stand side by side, and one decides how much
# of the other gets through, number by number: a **gate** ([Shazeer 2020](https://arxiv.org/abs/2002.05202), section 2, where it is
# called $\operatorname{FFN}_{\operatorname{SwiGLU}}$).
#
# $$\big(\operatorname{SiLU}(x W_{gate}) \odot x W_{up}\big)\, W_{down} \qquad
# \operatorname{SiLU}(z) = z \cdot \operatorname{sigmoid}(z) = \frac{z}{1 + e^{-z}}$$
#
# There are no biases. SiLU is a ReLU with a soft corner: about $z$ where $z$ is large, about 0 far below zero.
#
# **By hand:** $x = (1, 2)$ and three numbers in the middle, with matrices that open one gate and shut two:
#
# $$W_{gate} = \begin{pmatrix} 0 & 10 & 1 \\ 0 & 0 & -6 \end{pmatrix} \quad
# W_{up} = \begin{pmatrix} 1 & 1 & 1 \\ 0 & 1 & 2 \end{pmatrix} \quad
# W_{down} = \begin{pmatrix} 1 & 0 \\ 0.1 & 0 \\ 0 & 1 \end{pmatrix}$$
#
# $x W_{gate} = (0, 10, -11)$, and SiLU makes it $(0, 9.9995, -0.0002)$: shut, open, shut. $x W_{up} = (1, 3, 5)$. The product is
# $(0, 29.9986, -0.0009)$, and times $W_{down}$ it is $(2.9999, -0.0009)$.

# %% nbgrader={"grade": false, "grade_id": "gated_feed_forward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gated_feed_forward(x, W_gate, W_up, W_down):
    """Two layers side by side, one of which is the other's gate, and a third; for each word on
    its own.

    x: (..., d_model); `...` is any number of axes, also none
    W_gate, W_up: (d_model, d_ff)
    W_down: (d_ff, d_model)

    Returns (..., d_model), in the dtype of the input. SiLU is only for the gate. What
    comes in stays as it is.
    """
    ### BEGIN SOLUTION
    gate = x @ W_gate                                     # (..., d_ff)
    gate = gate / (1 + np.exp(-gate))                     # SiLU
    return (gate * (x @ W_up)) @ W_down                   # (..., d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-gated_feed_forward", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("gated_feed_forward")

# %% [markdown]
# **What to notice.** A number that opens the gate, and one that waits behind it. Far below zero the gate is shut, whatever waits; the
# wider it opens, the more gets through.

# %% tags=["active-ipynb"]
# rows, columns = np.array([-6.0, -3, -1, 0, 1, 3, 6]), np.array([-2.0, -1, 0, 1, 2])
# x = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1)     # (7, 5, 2): all pairs
# through = gated_feed_forward(x, np.array([[1.0], [0]]), np.array([[0.0], [1]]), np.array([[1.0]]))
# heatmap(through[..., 0], rows=[f"{z:g}" for z in rows], columns=[f"{z:g}" for z in columns],
#         title="what gets through: row = what opens the gate, column = what waits")

# %% [markdown]
# With three matrices instead of two, $d_{ff}$ is made two thirds as wide, for the same count of weights. *"We offer no explanation as to why
# these architectures seem to work"*, says the paper; *"we attribute their success, as all else, to divine benevolence."*

# %% [markdown]
# ## 12. `ModernDecoderBlock`
#
# *About 30 minutes · hard*
#
# All together, in PyTorch. The plan is that of assignment 5's block, with the parts of this notebook:
#
# $$x \;\leftarrow\; x + \operatorname{Attention}(\operatorname{RMSNorm}_1(x)) \qquad\qquad
# x \;\leftarrow\; x + \operatorname{FFN}(\operatorname{RMSNorm}_2(x))$$
#
# - The attention is causal, or looks through a window.
# - Queries and keys (not values) are turned by their positions $0, 1, \ldots, L - 1$, with the base 10000 and pairs side by side. This comes
#   **after** they have been split into heads, so that a pair lies within one head, and **before** the scores.
# - Then heads share keys and values in groups.
# - No layer has a bias, $\epsilon$ is $10^{-5}$, and there is no *dropout*: `train()` and `eval()` give the same.
# - A block in float64 gives float64; its angles may have the digits of float32, but not fewer.
#
# **Take two steps:** write `__init__` and `attend`, and run the cell below the class, which compares them with your NumPy functions. Then
# write `forward`. (You may do without `attend`; grading looks only at `forward`.)

# %% [markdown]
# **The members have these names**, and weights are copied by name. With $d_{head}$ = `d_model // num_heads`:
#
# | member | what it is | shape |
# | --- | --- | --- |
# | `norm_1`, `norm_2` | `nn.Parameter`, the $\gamma$ of each norm | `(d_model,)` |
# | `W_Q`, `W_O` | `nn.Linear` without bias | `d_model` to `d_model` |
# | `W_K`, `W_V` | `nn.Linear` without bias | `d_model` to `num_kv_heads * d_head` |
# | `W_gate`, `W_up` | `nn.Linear` without bias | `d_model` to `d_ff` |
# | `W_down` | `nn.Linear` without bias | `d_ff` to `d_model` |
#
# On tensors, `rotate` takes `torch.stack` and `flatten`, the norm `torch.sqrt`, and shared keys `repeat_interleave`; `F.silu` is SiLU.

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F


# %% nbgrader={"grade": false, "grade_id": "ModernDecoderBlock", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ModernDecoderBlock(nn.Module):
    """One block of a decoder of today: rotary positions, grouped queries, a window, RMSNorm
    and a gate.

    d_model: width of a word's vector
    num_heads: query heads, each of width d_model // num_heads, which is even
    num_kv_heads: heads of keys and values; num_heads is a multiple of it
    d_ff: width of the gated feed-forward network
    window: how many of the last words a word sees, itself among them; None: all of them

    Members: norm_1 and norm_2, nn.Parameter of shape (d_model,), ones at first; W_Q, W_K,
    W_V, W_O, W_gate, W_up and W_down, nn.Linear without bias.
    """

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        ### BEGIN SOLUTION
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)
        ### END SOLUTION

    def attend(self, x):
        """The attention branch: words brought to size one, (B, L, d_model), give what is added to
        them, (B, L, d_model).
        """
        ### BEGIN SOLUTION
        place = torch.arange(x.shape[-2], device=x.device)                # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed                               # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, h, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            turned = [first * cos - second * sin, first * sin + second * cos]
            return torch.stack(turned, dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)   # (B, h, L, L)
        back = place.unsqueeze(-1) - place                                # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)
        ### END SOLUTION

    def forward(self, x):
        """One round of looking and working.

        x: (B, L, d_model)

        Returns (B, L, d_model), in the dtype of the parameters. Word i depends only on words 0
        to i; within the attention, on the last `window` of them. What comes in stays as it is,
        and the next x may have more texts or words, or fewer.
        """
        ### BEGIN SOLUTION
        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)  # (B, L, d_model)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))
        ### END SOLUTION

# %% [markdown]
# **Which half is right already?** Your NumPy functions do what each half of the block should do, with its own weights. A difference below
# a millionth is rounding. Run this after `attend`, and again after `forward`; it earns no points.

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import block_parts
#
#     in_numpy = rotate, grouped_query_attention, sliding_window_mask, rms_norm, gated_feed_forward
#     block_parts.compare_halves(ModernDecoderBlock, *in_numpy)

# %% nbgrader={"grade": true, "grade_id": "test-ModernDecoderBlock", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("ModernDecoderBlock")

# %% [markdown]
# **Is what lies outside a window lost?** Nudge one word, and see how far each output moves, in two blocks with a window of 3. No word hears
# from a later one. But words hear from four words back, since each layer reaches `window - 1` words further: in Mistral 7B, with 32 layers
# and a window of 4,096, that is 131,040 words.

# %% tags=["active-ipynb"]
# torch.manual_seed(1)
# stack = nn.Sequential(*(ModernDecoderBlock(16, 4, 2, 24, window=3) for _ in range(2)))
# x = torch.randn(1, 8, 16)
# nudged = x.repeat(8, 1, 1)                                # in copy j of the text, word j is nudged
# nudged[range(8), range(8)] += torch.randn(8, 16)
# with torch.no_grad():
#     moved = (stack(nudged) - stack(x)).norm(dim=-1).T     # (8, 8): of output i, by word j
# moved = (moved / moved.max()) ** 0.25                     # small moves are to be seen, too
# heatmap(moved, title="row = output, column = the word that was nudged")

# %% [markdown]
# ## 13. Train it, and take it apart
#
# *About 10 minutes · easy*
#
# Your block goes into the summarizer of assignment 6: the same news, two layers of four heads, 64 numbers per word. Heads share keys two by
# two, and the network is 80 wide instead of 128, for about the same size with its gate.
#
# Then one part goes, and a model **without** it is trained from the beginning: an *ablation in training*. Your class stays as it is, since each
# part is undone from outside.
#
# | without | in its place |
# | --- | --- |
# | rotation | nothing: only the causal mask tells what came before |
# | norm | vectors as large as they happen to be |
# | gate | only SiLU of `W_gate`, 120 wide: two matrices of 120 have as many numbers as three of 80 |
# | groups | four heads of keys and values, each for one head of queries |
#
# You train three models, 300 steps each: about a minute on one core. The table has two losses for each, the mean of steps 101 to 150 in
# training, and at the end on held-out news. Beside yours stand three runs of our own, from the best to the worst, for all parts.
# **Predict first:** which part will this model miss most?

# %% tags=["active-ipynb"]
# TRAINED = {"nothing", "rotation", "gate"}   # add "norm" and "groups" if you have another minute
#
# if not grading:
#     block_parts.news_table(ModernDecoderBlock, rotate, TRAINED)

# %% [markdown]
# **What to notice.** Rotation is missed most: without it, our runs end at 0.08 to 0.09, and with all parts at 0.03 to 0.04. The model
# still learns, for even a causal mask tells something about order ([Haviv et al. 2022](https://arxiv.org/abs/2203.16634)).
#
# **How much of this is chance?** Look at the gate: without it, one run ends at 0.03, as good as any, and another at 0.16. At steps 101 to 150,
# though, our runs agree: rotation and gate make learning faster. Before you believe a table like this one, train more than once, and compare
# models of one size.

# %% [markdown]
# ### And on real text?
#
# The news is short and made of few words. So let your blocks read *Pride and Prejudice*, in the tokens of assignment 5: three blocks, 96 numbers
# per token, 64 tokens at a time, 250 steps, twenty seconds a model. In the last line stands the decoder of assignment 5 after as many steps.
# **Predict first:** will it miss rotation more here, or less?

# %% tags=["active-ipynb"]
# if not grading:   # add "norm", "gate" or "groups", if you like
#     block_parts.novel_table(ModernDecoderBlock, rotate, {"nothing", "rotation"})

# %% [markdown]
# **What to notice.** Every run of your block beats the decoder of assignment 5, although that one has more numbers to learn. Without rotation or
# without the gate all runs are worse than with all parts, so this is no chance.
#
# Yet rotation is missed far less than in the news: a summary needs a name from far back, and has to know what stood beside it.

# %% [markdown]
# ## 14. In your own words
#
# *About 10 minutes · medium*
#
# A classmate says: "Grouped queries, a sliding window and FlashAttention are three names for the same thing: attention made
# cheaper." What does each of the three save? Which of them can be switched on in a model that is already trained, without
# changing a single number that comes out, and why? And why does a large model with a window fall apart when the first words
# leave it, though they mean nothing for the text, and why did the small one above not? Six sentences are plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-modern-attention", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# Grouped queries save memory while writing: fewer heads of keys and values have to be kept and read for every word. A window
# bounds how many words are kept, and how many each word looks at, so the cost no longer grows with the square of the length.
# FlashAttention saves nothing that is kept, and no arithmetic; it saves the coming and going of a table of scores, which is never
# written down. Only FlashAttention can be switched on in a trained model without changing a number: it works out the same
# softmax in another order. The other two compute something else, because keys are shared or hidden, and a model has to be
# trained, or trained on, with them. A softmax has to put all its weight somewhere, and heads that look for nothing have learnt to
# put it on the first words; if those are gone, the weight falls on words that do mean something, and every blend is changed.
# The small model put 1 % of its weight on the first word, so it had little to lose.

# %% [markdown]
# ## 15. A map of 2026
#
# *About 5 minutes · easy*
#
# Here is what comes beside the parts that you have written. Nothing below is graded.
#
# | idea | what it does |
# | --- | --- |
# | multi-head latent attention ([DeepSeek-AI 2024](https://arxiv.org/abs/2405.04434), section 2.1) | keeps one vector of 512 numbers for each word, from which every head makes its own keys and values, and one rotary key of 64: 36 KiB a token in exercise 3's table, where multi-query attention keeps 16 and a full set 512 |
# | scaled rotary positions ([Chen et al. 2023](https://arxiv.org/abs/2306.15595), [Peng et al. 2023](https://arxiv.org/abs/2309.00071)) | for texts longer than in training: `rotate` gets positions divided by 4, or a larger base |
# | local and global layers ([Gemma Team 2025](https://arxiv.org/abs/2503.19786), section 2) | five layers with a window of 1,024, then one that sees everything: of 128,000 words 2.7 GB are kept in place of 15.7 (30 layers, 8 heads) |
# | QK-norm ([Henry et al. 2020](https://arxiv.org/abs/2010.04245)) | brings queries and keys to one size, so that no score explodes in training |
# | ALiBi ([Press et al. 2021](https://arxiv.org/abs/2108.12409)) | no positions: each score loses a multiple of the distance |
# | linear attention ([Katharopoulos et al. 2020](https://arxiv.org/abs/2006.16236)) | without the softmax, a sum over keys and values replaces the cache, and does not grow |
# | speculative decoding ([Leviathan et al. 2022](https://arxiv.org/abs/2211.17192)) | a small model writes a few words ahead, the large one checks them all at once |
# | differential attention ([Ye et al. 2024](https://arxiv.org/abs/2410.05258)) | one softmax minus another: what both see by chance cancels out |

# %% [markdown]
# ---
#
# **What you can do now.** You can read the code of Llama or Mistral and find each of its parts here. You know what each of them saves, and what
# a small model loses without it. The papers on the map are within reach.

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
