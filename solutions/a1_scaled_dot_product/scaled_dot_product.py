# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Scaled dot-product attention
#
# By the end of this notebook you will have written the one formula that every transformer is built around:
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# You write it in three small steps in NumPy, and then once more in PyTorch.
#
# | exercise | points |
# | --- | --- |
# | 1. `softmax` | 4 |
# | 2. `attention_scores` | 5 |
# | 3. `scaled_dot_product_attention` | 5 |
# | 4. `torch_scaled_dot_product_attention` | 6 |
# | 5. a question to answer in words | 4 |
#
# **How to work.** Replace `raise NotImplementedError()` in a cell with your code, run the cell, then run the check
# below it. Each part earns points on its own, so a mistake in one exercise does not cost you the next.

# %%
import math

import numpy as np

from autograder import check, heatmap


# %% [markdown]
# ## Why attention?
#
# > Keys on the table belong to Sarah.
#
# Read *belong*. To know what it means here you look back at *Keys* (what belongs?) and ahead to *Sarah* (to whom?).
# *on* tells you little. Attention lets each word do that: look at all words, decide how much each one matters, and
# take a blend of what they have to say. Every word plays three roles:
#
# | role | letter | what it is |
# | --- | --- | --- |
# | **query** | $q$ | what this word is looking for |
# | **key** | $k$ | what a word offers to be found by, like a label in an index |
# | **value** | $v$ | the information itself, taken where the key was found relevant |
#
# All three are made from the word's embedding, each with a matrix of its own: $q = x W_Q$, $k = x W_K$, $v = x W_V$.

# %% [markdown]
# ### A worked example, word by word
#
# Two words, so two queries, two keys, two values. Each query and key has $d_k = 4$ numbers.
#
# The first word asks both words: how well does your key match my query? That is a dot product each, $q_1 \cdot k_1$ and
# $q_1 \cdot k_2$. Both are divided by $\sqrt{d_k} = 2$ and a softmax turns them into weights that sum to 1.

# %% tags=["active-ipynb"]
# q_1 = np.array([2.0, 0.0, 1.0, 1.0])
# k_1 = np.array([1.0, 1.0, 0.0, 0.0])
# k_2 = np.array([2.0, 1.0, 2.0, 0.0])
# v_1 = np.array([10.0, 0.0])
# v_2 = np.array([0.0, 10.0])
#
# score_11 = q_1 @ k_1 / math.sqrt(4)  # (2 + 0 + 0 + 0) / 2 = 1
# score_12 = q_1 @ k_2 / math.sqrt(4)  # (4 + 0 + 2 + 0) / 2 = 3
# total = math.exp(score_11) + math.exp(score_12)
# weight_11 = math.exp(score_11) / total
# weight_12 = math.exp(score_12) / total
#
# print(f"scores   {score_11:.2f}  {score_12:.2f}")
# print(f"weights  {weight_11:.2f}  {weight_12:.2f}   sum {weight_11 + weight_12:.2f}")
# print("output  ", weight_11 * v_1 + weight_12 * v_2)

# %% [markdown]
# The second word's key matches better, so the output is mostly the second word's value: about 12 % of $v_1$ and 88 % of
# $v_2$. Stack all queries as rows of a matrix $Q$, all keys as rows of $K$, all values as rows of $V$, and the same
# sums become two matrix products. That is the formula at the top.
#
# Three letters for the sizes: **L** queries, **S** keys (and as many values), **d_k** numbers in each query and key.

# %% [markdown]
# ## 1. `softmax` (4 points)
#
# $$\operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# For $x = (1, 3)$: $e^1 \approx 2.72$, $e^3 \approx 20.09$, so the weights are $2.72 / 22.81 \approx 0.12$ and
# $20.09 / 22.81 \approx 0.88$, as above.
#
# Scores can be large, and $e^{1000}$ is too big for a computer. What happens to the fraction if you multiply its top and
# its bottom by the same number, say $e^{-c}$?

# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x, axis=-1):
    """Turn scores into weights that are positive and sum to 1 along `axis`.

    x: array of any shape (at least one axis), float32 or float64
    axis: the axis to normalise over

    Returns an array of the same shape and dtype. Large scores (10,000 and more) give finite weights.
    """
    ### BEGIN SOLUTION
    # Softmax does not change when a constant is subtracted; the largest score then becomes exp(0) = 1.
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-softmax", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.stock import check
# ### END HIDDEN TESTS
# check("softmax")

# %% [markdown]
# **What to notice.** Softmax looks only at *differences* between scores: $(1, 3)$ and $(101, 103)$ give the same weights.
# And multiplying all scores by ten makes it nearly pick one winner. Try it:

# %% tags=["active-ipynb"]
# for factor in (0.1, 1, 10):
#     print(f"scores x {factor:<4}", softmax(factor * np.array([1.0, 2.0, 3.0])).round(3))

# %% [markdown]
# ## 2. `attention_scores` (5 points)
#
# Every query against every key, as one matrix product, divided by $\sqrt{d_k}$:
#
# $$\text{scores} = \frac{Q K^\top}{\sqrt{d_k}} \qquad (L \times d_k) \cdot (d_k \times S) \to (L \times S)$$
#
# Row $i$ belongs to query $i$; column $j$ to key $j$.
#
# **Why divide?** If the numbers in $q$ and $k$ are independent with variance 1, their dot product is a sum of $d_k$ such
# products and has variance $d_k$ ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.2.1). Watch what
# that does to the weights as the width grows:

# %% tags=["active-ipynb"]
# random = np.random.default_rng(0)
# for width in (4, 64, 1024):
#     query, keys = random.normal(size=width), random.normal(size=(5, width))
#     raw = keys @ query
#     plain = np.exp(raw - raw.max())
#     scaled = np.exp((raw - raw.max()) / math.sqrt(width))
#     print(f"d_k = {width:4d}   largest weight, not scaled: {plain.max() / plain.sum():.2f}   scaled: {scaled.max() / scaled.sum():.2f}")

# %% [markdown]
# Without the division one key takes everything, and a softmax that saturated has almost no gradient to learn from.
#
# Real models work on many sentences at once: `Q` may have *batch axes* in front, such as `(8, L, d_k)` for eight
# sentences. If you think in terms of the **last two axes**, your code works for any number of axes in front of them.

# %% nbgrader={"grade": false, "grade_id": "attention_scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_scores(Q, K):
    """Dot product of every query with every key, divided by the square root of d_k.

    Q: queries, (..., L, d_k)
    K: keys, (..., S, d_k)

    Returns scores, (..., L, S), in the dtype of the input. `...` is any number of batch axes, also none.
    """
    ### BEGIN SOLUTION
    d_k = Q.shape[-1]
    return Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)  # (..., L, d_k) @ (..., d_k, S) -> (..., L, S)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-attention_scores", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.stock import check
# ### END HIDDEN TESTS
# check("attention_scores")

# %% [markdown]
# **What to notice.** `L` and `S` need not be equal: three queries may look at five keys. And scores are not weights yet:
# they can be negative, and a row sums to anything.

# %% [markdown]
# ## 3. `scaled_dot_product_attention` (5 points)
#
# Now put it together: scores, softmax **over the keys**, and the weighted sum of the values.
#
# $$\underbrace{\text{weights}}_{(L,\,S)} = \operatorname{softmax}(\text{scores}) \qquad
# \underbrace{\text{output}}_{(L,\,d_v)} = \text{weights} \cdot \underbrace{V}_{(S,\,d_v)}$$
#
# Give back both: the output goes on through the network, the weights are what people look at. You may call `softmax` and
# `attention_scores` from above. If one of them still has a mistake, this exercise is judged as if it had none.

# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(Q, K, V):
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V.

    Q: queries, (..., L, d_k)
    K: keys, (..., S, d_k)
    V: values, (..., S, d_v); d_v may differ from d_k

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, S), each row of weights sums to 1.
    """
    ### BEGIN SOLUTION
    weights = softmax(attention_scores(Q, K), axis=-1)  # (..., L, S): each query's weights over the keys
    return weights @ V, weights  # (..., L, S) @ (..., S, d_v) -> (..., L, d_v)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-scaled_dot_product_attention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.stock import check
# ### END HIDDEN TESTS
# check("scaled_dot_product_attention")

# %% [markdown]
# ### See it
#
# Four numbers a word, made by hand: *thing*, *place*, *owning*, *person*. As a query, *belong* looks for a thing and a
# person; *on* looks for a thing and a place. A dark square means: this word (row) takes a lot from that word (column).

# %% tags=["active-ipynb"]
# words = ["Keys", "on", "the", "table", "belong", "to", "Sarah"]
# #              thing place owning person
# K = np.array([[3.0, 0.0, 1.0, 0.0],   # Keys
#               [0.0, 1.0, 0.0, 0.0],   # on
#               [0.0, 0.0, 0.0, 0.0],   # the
#               [1.0, 3.0, 0.0, 0.0],   # table
#               [0.0, 0.0, 2.0, 0.0],   # belong
#               [0.0, 0.0, 1.0, 0.0],   # to
#               [0.0, 0.0, 1.0, 3.0]])  # Sarah
# Q = np.array([[0.0, 1.0, 2.0, 1.0],   # Keys: where are they, whose are they?
#               [2.0, 2.0, 0.0, 0.0],   # on: what lies on what?
#               [1.0, 1.0, 0.0, 0.0],   # the
#               [2.0, 0.0, 0.0, 0.0],   # table: what lies on it?
#               [2.0, 0.0, 0.0, 2.0],   # belong: what, and to whom?
#               [0.0, 0.0, 1.0, 2.0],   # to
#               [2.0, 0.0, 2.0, 0.0]])  # Sarah: what does she own?
# output, weights = scaled_dot_product_attention(Q, K, np.eye(7))
# heatmap(weights, rows=words, columns=words, title="who looks at whom")

# %% [markdown]
# **What to notice.** Each row sums to 1, a column need not: many words look at *Keys*, hardly any at *the*. Here the
# values were the identity matrix, so the output *is* the weights. With real values it is a blend of them.

# %% [markdown]
# ## 4. The same in PyTorch (6 points)
#
# PyTorch calls them `query`, `key` and `value`. The formula is the same; what is new is that gradients flow back through
# your function to all three, so stay with tensors from start to end: no `.detach()`, no `.numpy()`.
#
# `torch.softmax` is fine to use here. PyTorch's ready-made attention is not: you are writing it.

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

# %% nbgrader={"grade": false, "grade_id": "torch_scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def torch_scaled_dot_product_attention(query, key, value):
    """Attention on tensors, differentiable in all three.

    query: (..., L, d_k)
    key: (..., S, d_k)
    value: (..., S, d_v)

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, S).
    """
    ### BEGIN SOLUTION
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., L, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights  # (..., L, d_v)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-torch_scaled_dot_product_attention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.stock import check
# ### END HIDDEN TESTS
# check("torch_scaled_dot_product_attention")

# %% [markdown]
# **Check yourself against PyTorch.** Outside an exercise you may call the ready-made one. The two should agree to about
# seven digits:

# %% tags=["active-ipynb"]
# torch.manual_seed(0)
# query, key, value = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
# output, weights = torch_scaled_dot_product_attention(query, key, value)
# print("largest difference:", (output - F.scaled_dot_product_attention(query, key, value)).abs().max().item())

# %% [markdown]
# ## 5. In your own words (4 points)
#
# In *Keys on the table belong to Sarah*, take the word **belong**. What would a useful query of it look for, which words'
# keys should match, and what would their values bring? Then: why must query and key be *different* vectors of the same
# word? What could a word not do if they were the same? Five sentences are plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-roles", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# *Belong* looks for a thing that can be owned and for a person who can own it. *Keys* and *Sarah* have keys that match;
# their values bring "small metal things" and "this person", so the new vector of *belong* says what belongs to whom. If
# query and key were the same vector, every word would match itself best and looking would be mutual: *belong* could not
# look for *Sarah* without *Sarah* looking for *belong* just as much.
