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
# **Time:** about 55 minutes. **Difficulty:** ●○○. **Builds on:** NumPy: axes, broadcasting and `@`; for exercise 4, PyTorch: tensors and `backward`.
#
# By the end of this notebook you will have written the one formula that every transformer is built around:
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# You write it in three small steps in NumPy, and then once more in PyTorch.
#
# 1. `softmax`
# 2. `attention_scores`
# 3. `scaled_dot_product_attention`
# 4. `torch_scaled_dot_product_attention`
# 5. a question to answer in words
#
# **How to work.** Replace `raise NotImplementedError()` in a cell with your code, run the cell, then run the check
# below it. The check uses mostly small numbers that you can follow by hand. Grading uses other numbers and sizes.
# Each part earns points on its own, so a mistake in one exercise does not cost you the next.
#
# **What also counts** in this and every exercise, a little each time:
#
# - The result has the dtype of the input. `float32 / math.sqrt(4)` stays `float32`, but `float32 / np.sqrt(4)` is `float64`
#   from NumPy 2 on, since `np.sqrt(4)` is a `float64`.
# - Leave the arguments as they are, and keep their names: a call may say `softmax(x=...)`. A call must not depend on the calls before it.
#
# **What is not graded:** sizes of 0, and input that is an integer, `float16`, infinite or NaN, unless a docstring names it.
#
# **Stuck?** `hint("softmax")` in any cell gives a first nudge. Call it again for a second one, and once more for an example and where to read.
# Nobody sees what you ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, explore, heatmap, hint


# %% [markdown]
# ## Why attention?
#
# *About 5 minutes · easy*
#
# > Keys on the table belong to Sarah.
#
# Read *belong*. To know what it means here you look back at *Keys* (what belongs?) and ahead to *Sarah* (to whom?).
# *on* tells you little. Attention lets each word do that: look at all words, decide how much each one matters, and
# take a blend of what they have to say. In *I love Apple phones* the word *phones* shows that *Apple* is the company and not
# the fruit. Translation, summaries, chat: what reads and writes text today is built on this. Every word plays three roles:
#
# | role | letter | what it is |
# | --- | --- | --- |
# | **query** | $q$ | what this word is looking for |
# | **key** | $k$ | what a word offers to be found by, like a label in an index |
# | **value** | $v$ | the information itself, taken where the key was found relevant |
#
# All three are made from the word's embedding $x$ (its vector of numbers), each with a matrix of its own:
# $q = x W_Q$, $k = x W_K$, $v = x W_V$. A transformer learns these matrices; they are the same for every word.

# %% [markdown]
# ### A worked example: from embeddings to queries, keys and values
#
# Three words with tiny embeddings, counted from 0 as everything in this course: $x_0 = (1, 0)$ picks the first row of each matrix, $x_1 = (1, 1)$ adds up both rows, and
# $x_2 = (0, 1)$ picks the second one.
# Each query and key has $d_k = 4$ numbers, each value has two.

# %% tags=["active-ipynb"]
# x_0, x_1, x_2 = np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.array([0.0, 1.0])
# W_Q = np.array([[2.0, 0.0, 1.0, 1.0],
#                 [0.0, 1.0, 1.0, 0.0]])
# W_K = np.array([[1.0, 1.0, 0.0, 0.0],
#                 [1.0, 0.0, 2.0, 0.0]])
# W_V = np.array([[10.0, 0.0],
#                 [-10.0, 10.0]])
#
# q_0 = x_0 @ W_Q                                       # what the first word is looking for
# k_0, k_1, k_2 = x_0 @ W_K, x_1 @ W_K, x_2 @ W_K       # what the words offer to be found by
# v_0, v_1, v_2 = x_0 @ W_V, x_1 @ W_V, x_2 @ W_V       # what the words have to say
#
# print("q_0 ", q_0)
# print("k_0 ", k_0, " k_1 ", k_1, " k_2 ", k_2)
# print("v_0 ", v_0, " v_1 ", v_1, " v_2 ", v_2)

# %% [markdown]
# ### ... and from there to the output, word by word
#
# Word 0 asks all three words: how well does your key match my query? That is one dot product for each,
# $q_0 \cdot k_0$, $q_0 \cdot k_1$ and $q_0 \cdot k_2$. Each is divided by $\sqrt{d_k} = \sqrt 4$, and a *softmax* (exercise 1 has its formula) turns
# them into weights that sum to 1. The output is the sum of the values, each times its weight.

# %% tags=["active-ipynb"]
# score_00 = q_0 @ k_0 / math.sqrt(4)  # (2 + 0 + 0 + 0) / 2 = 1
# score_01 = q_0 @ k_1 / math.sqrt(4)  # (4 + 0 + 2 + 0) / 2 = 3
# score_02 = q_0 @ k_2 / math.sqrt(4)  # (2 + 0 + 2 + 0) / 2 = 2
# total = math.exp(score_00) + math.exp(score_01) + math.exp(score_02)
# weight_00 = math.exp(score_00) / total
# weight_01 = math.exp(score_01) / total
# weight_02 = math.exp(score_02) / total
#
# print(f"scores   {score_00:.2f}  {score_01:.2f}  {score_02:.2f}")
# print(f"weights  {weight_00:.2f}  {weight_01:.2f}  {weight_02:.2f}")
# print("output  ", (weight_00 * v_0 + weight_01 * v_1 + weight_02 * v_2).round(2))

# %% [markdown]
# Word 1's key matches best, so the output is mostly word 1's value: about 9 % of $v_0$, 67 %
# of $v_1$ and 24 % of $v_2$. Stack all queries as rows of a matrix $Q$, all keys as rows of $K$, all values as rows of $V$, and the same
# sums for all words at once become two matrix products. That is the formula at the top.
#
# Names for the sizes: **L** queries, **S** keys and as many values; **d_k** numbers in each query and key, **d_v** in
# each value.

# %% [markdown]
# ## 1. `softmax`
#
# *About 10 minutes · medium*
#
# $$\operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# For $x = (1, 3, 2)$: $e^1 \approx 2.72$, $e^3 \approx 20.09$ and $e^2 \approx 7.39$, together $30.19$. So the weights are
# $2.72 / 30.19 \approx 0.09$, $20.09 / 30.19 \approx 0.67$ and $7.39 / 30.19 \approx 0.24$, as above.
#
# Two things to get right beyond the formula:
#
# - An array may hold many rows of scores. `axis` says along which axis the weights sum to 1; all others stay apart.
# - Scores can be large, and $e^{1000}$ is too big for a computer. What happens to the fraction if you multiply its top
#   and its bottom by the same number, say $e^{-c}$?
#
# Please write the steps yourself. `torch.softmax` and SciPy's `softmax` earn nothing inside this exercise; in other cells you
# may compare with them.

# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x, axis=-1):
    """Turn scores into weights that are never negative and sum to 1 along `axis`.

    x: array of any shape (at least one axis), float32 or float64
    axis: the axis to normalise over

    Returns an array of the same shape and dtype. Large scores (10,000 and more) give finite
    weights. x stays as it is.
    """
    ### BEGIN SOLUTION
    # Softmax does not change when a constant is subtracted; the largest score then becomes exp(0) = 1.
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-softmax", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("softmax")

# %% [markdown]
# **What to notice.** Only the *differences* between scores count: $(1, 3, 2)$ and $(101, 103, 102)$ give the same
# weights. Their *scale* counts, too: multiply all scores by ten, and one winner takes nearly everything.

# %% tags=["active-ipynb"]
# for factor in (0.1, 1, 10):
#     print(f"scores x {factor:<4}", softmax(factor * np.array([1.0, 2.0, 3.0])).round(3))

# %% [markdown]
# ## 2. `attention_scores`
#
# *About 10 minutes · medium*
#
# Every query against every key, as one matrix product, divided by $\sqrt{d_k}$:
#
# $$\text{scores} = \frac{Q K^\top}{\sqrt{d_k}} \qquad (L \times d_k) \cdot (d_k \times S) \to (L \times S)$$
#
# Row $i$ belongs to query $i$, column $j$ to key $j$. In the worked example, row 0 is $(1, 3, 2)$.

# %% [markdown]
# **Why divide?** Here four queries look at five keys. Each row holds one query's weights. Move the slider to wider vectors, with the mouse or
# with the arrow keys: what happens on the left, and what on the right?

# %% tags=["active-ipynb"]
# def at_width(d_k):
#     random = np.random.default_rng(3)
#     queries, keys = random.normal(size=(4, d_k)), random.normal(size=(5, d_k))
#     products = queries @ keys.T  # (4, 5)
#     both = np.stack([softmax(products), softmax(products / math.sqrt(d_k))])
#     title = f"q . k is typically {products.std():.1f}, the square root of d_k is {math.sqrt(d_k):.0f}"
#     names = ["as they are", "divided by the square root of d_k"]
#     rows, columns = ["q 0", "q 1", "q 2", "q 3"], ["k 0", "k 1", "k 2", "k 3", "k 4"]
#     return heatmap(both, rows=rows, columns=columns, title=title, names=names)
#
#
# explore(at_width, d_k=(1, 4, 16, 64, 256, 1024))

# %% [markdown]
# **Where does the square root come from?** The *variance* of some numbers is the mean of their squared distances from their mean. If their mean is 0, the square
# root of the variance says how large the numbers typically are. Take $q$ and $k$ with independent numbers of mean 0 and variance 1. Then
# $q \cdot k$ is a sum of $d_k$ products, each with variance 1, and so it has variance $d_k$: it is typically as large as $\sqrt{d_k}$
# ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.2.1). Divide by that, and it is typically as large as 1 at every width.

# %% [markdown]
# **Why does it matter?** Training follows *gradients*: how much a weight moves when its score moves a little. For a softmax that is $w (1 - w)$. Where it is 0,
# nothing is learned. Below, 100 queries look at five keys each. One of the four columns goes to 0 as the vectors get wider. Which one?

# %% tags=["active-ipynb"]
# def in_numbers(scores):
#     weights = softmax(scores)                            # (100, 5)
#     gradient = (weights * (1 - weights)).max(axis=-1)    # (100,): of the weight that moves most
#     return f"{weights.max(axis=-1).mean():14.2f} {np.median(gradient):10.4f}"
#
#
# random = np.random.default_rng(0)
# print("      plain                       divided by the square root of d_k")
# print(" d_k  largest weight   gradient   largest weight   gradient")
# for width in (4, 64, 1024):
#     queries, keys = random.normal(size=(100, width, 1)), random.normal(size=(100, 5, width))
#     products = (keys @ queries)[:, :, 0]                 # (100, 5)
#     print(f"{width:4d} ", in_numbers(products), " ", in_numbers(products / math.sqrt(width)))

# %% [markdown]
# Without the division, wide queries give one key nearly everything, and a softmax that sure of itself has almost no
# gradient to learn from. With it, the weights keep their balance at every width.
#
# Real models work on many sentences at once: `Q` may have *batch axes* in front, such as `(8, L, d_k)` for eight
# sentences. If you think in terms of the **last two axes**, your code works for any number of axes in front of them.

# %% nbgrader={"grade": false, "grade_id": "attention_scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_scores(Q, K):
    """Dot product of every query with every key, divided by the square root of d_k.

    Q: queries, (..., L, d_k), float32 or float64
    K: keys, (..., S, d_k), with the batch axes of Q

    Returns scores, (..., L, S), in the dtype of the input. `...` is any number of batch
    axes, also none. Q and K stay as they are.
    """
    ### BEGIN SOLUTION
    d_k = Q.shape[-1]
    return Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)  # (..., L, d_k) @ (..., d_k, S) -> (..., L, S)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-attention_scores", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("attention_scores")

# %% [markdown]
# **What to notice.** `L` and `S` need not be equal: three queries may look at five keys. And scores are not weights
# yet: they can be negative, and a row sums to anything.

# %% [markdown]
# ## 3. `scaled_dot_product_attention`
#
# *About 10 minutes · easy*
#
# Now put it together: scores, softmax **over the keys**, and the weighted sum of the values.
#
# $$\underbrace{\text{weights}}_{(L,\,S)} = \operatorname{softmax}(\text{scores}) \qquad
# \underbrace{\text{output}}_{(L,\,d_v)} = \text{weights} \cdot \underbrace{V}_{(S,\,d_v)}$$
#
# In the worked example the first row of weights is $(0.09, 0.67, 0.24)$. The first row of the output is
# $0.09 \cdot (10, 0) + 0.67 \cdot (0, 10) + 0.24 \cdot (-10, 10) = (-1.5, 9.1)$, or $(-1.55, 9.10)$ with more digits.
#
# Return both: the output goes on through the network, and the weights are what people look at. You may call `softmax`
# and `attention_scores` from above. If one of them still has a mistake, this exercise is judged with right ones in their place.
#
# Please write it yourself: PyTorch's own attention earns nothing here. In other cells you may compare with it.

# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(Q, K, V):
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V.

    Q: queries, (..., L, d_k)
    K: keys, (..., S, d_k), with the batch axes of Q
    V: values, (..., S, d_v); d_v may differ from d_k

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, S), both in
    the dtype of the input. Each row of weights sums to 1. Q, K and V stay as they are.
    """
    ### BEGIN SOLUTION
    weights = softmax(attention_scores(Q, K), axis=-1)  # (..., L, S): each query's weights over the keys
    return weights @ V, weights  # (..., L, S) @ (..., S, d_v) -> (..., L, d_v)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-scaled_dot_product_attention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("scaled_dot_product_attention")

# %% [markdown]
# ### See it
#
# Back to the sentence. Each key has four numbers, made by hand: is this word a *thing*, a *place*, an *owning* word,
# a *person*? Each query says which of the four the word is looking for. The bluer a square, the more its word (row)
# takes from that word (column).

# %% tags=["active-ipynb"]
# words = ["Keys", "on", "the", "table", "belong", "to", "Sarah"]
# #            thing place owning person
# K = np.array([[3.0, 0.0, 0.0, 0.0],   # Keys: a thing
#               [0.0, 0.0, 0.0, 0.0],   # on
#               [0.0, 0.0, 0.0, 0.0],   # the
#               [0.0, 3.0, 0.0, 0.0],   # table: here, a place
#               [0.0, 0.0, 3.0, 0.0],   # belong: about owning
#               [0.0, 0.0, 0.0, 0.0],   # to
#               [0.0, 0.0, 0.0, 3.0]])  # Sarah: a person
# Q = np.array([[0.0, 2.0, 0.0, 2.0],   # Keys: where are they, and whose?
#               [2.0, 2.0, 0.0, 0.0],   # on: what is where?
#               [0.0, 0.0, 0.0, 0.0],   # the: looks for nothing
#               [2.0, 0.0, 0.0, 0.0],   # table: what lies here?
#               [2.0, 0.0, 0.0, 2.0],   # belong: what, and to whom?
#               [0.0, 0.0, 2.0, 2.0],   # to: what is it about, and who?
#               [2.0, 0.0, 2.0, 0.0]])  # Sarah: what about her, and which thing?
# V = np.eye(7)                         # one number per word, so that the output shows whom it came from
# output, weights = scaled_dot_product_attention(Q, K, V)
# heatmap(weights, rows=words, columns=words, title="who looks at whom")

# %% [markdown]
# **What to notice.**
#
# - *belong* takes 0.44 from *Keys* and 0.44 from *Sarah*: its query matches the keys of both words with a score of
#   $2 \cdot 3 / \sqrt 4 = 3$, all others with 0, and $e^3 / (2 e^3 + 5) \approx 0.44$. That is who owns what.
# - *on* looks at *Keys* and *table* in the same way. That is what lies where.
# - *the* looks for nothing. Its scores are all 0, so its weights are all $1/7 \approx 0.14$: softmax has to spend 1.
# - Each row sums to 1, a column need not. Four words look at *Keys*, none looks for *the*.
#
# Now give *the* a question: write `[0.0, 2.0, 0.0, 0.0]` in its row of `Q`. Which square will turn blue? Run the cell again and see.
# Then take a sentence of your own: write its words, and for each word a row of `K` and of `Q`. (`np.eye` needs their number.)
#
# The values were the identity matrix here, so the output *is* the weights. With real values it is a blend of them.
#
# Each word has *one* query here, so it gets one blend. *Keys* wants to know two things, "where?" and "whose?", and the
# answers come mixed. To keep them apart takes two heads: that is where this course is going.

# %% [markdown]
# ## 4. The same in PyTorch
#
# *About 10 minutes · easy*
#
# PyTorch calls them `query`, `key` and `value`. The formula is the same, and most names are:
#
# | NumPy says | PyTorch says |
# | --- | --- |
# | `x.sum(axis=-1, keepdims=True)` | `x.sum(dim=-1, keepdim=True)` |
# | `x.max(axis=-1)` | `x.amax(dim=-1)`; `x.max(dim=-1)` also gives the places |
# | `x.swapaxes(0, 1)` | `x.transpose(0, 1)` |
# | `np.exp(x)`, `np.where(c, a, b)` | `torch.exp(x)`, `torch.where(c, a, b)` |
# | `x.astype(np.float32)` | `x.to(torch.float32)` |
#
# What is new: PyTorch remembers how each tensor was computed. So it can say for every number of `query`, `key` and `value` how
# much the output moves when that number moves a little: its *gradient*. That is how $W_Q$, $W_K$ and $W_V$ are learned. An
# array of NumPy remembers nothing, and `.detach()` gives a tensor that has forgotten. So stay with tensors from start to end:
# no `.detach()`, no `.numpy()`.
#
# `torch.softmax` is fine to use here. PyTorch's ready-made attention is not: you are writing it.
#
# No PyTorch on this machine yet? `%pip install torch` in a cell of its own, then restart the kernel.

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

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, S), both in
    the dtype of the input. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., L, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights  # (..., L, d_v)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-torch_scaled_dot_product_attention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("torch_scaled_dot_product_attention")

# %% [markdown]
# **Check yourself against PyTorch.** Outside an exercise you may call the ready-made one. The two should agree up
# to the rounding of float32, which is about 0.0000001:

# %% tags=["active-ipynb"]
# torch.manual_seed(0)
# query, key, value = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
# output, weights = torch_scaled_dot_product_attention(query, key, value)
# ready_made = F.scaled_dot_product_attention(query, key, value)
# print(f"largest difference: {(output - ready_made).abs().max().item():.7f}")

# %% [markdown]
# **See gradients arrive.** Scores compare queries with keys, so both have a gradient. Values are blended, so they
# have one, too. If it prints `None`, your function has lost a gradient.

# %% tags=["active-ipynb"]
# for tensor in (query, key, value):
#     tensor.requires_grad_()
# output, weights = torch_scaled_dot_product_attention(query, key, value)
# (output**2).sum().backward()
# for name, tensor in (("query", query), ("key", key), ("value", value)):
#     gradient = None if tensor.grad is None else tuple(tensor.grad.shape)
#     print(f"{name:5}  {tuple(tensor.shape)}  gradient {gradient}")

# %% [markdown]
# ## 5. In your own words
#
# *About 10 minutes · medium*
#
# In *Keys on the table belong to Sarah*, take the word **belong**. What would a useful query of it look for, which
# words' keys should match, and what would their values bring? Then: why do query and key of one word need to be
# *different* vectors? What could a word not do if they were always the same? Five sentences are plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-roles", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# *Belong* looks for a thing that can be owned and for a person who can own it. The keys of *Keys* and *Sarah* match;
# their values bring "small metal things" and "this person", so the new vector of *belong* says what belongs to whom.
# If query and key were always the same vector, the scores would be symmetric: *belong* could not look for *Sarah*
# without *Sarah* looking for *belong* just as much. And a word would look for words like itself, usually most of
# all for itself, whereas *belong* looks for a thing and a person and is neither.

# %% [markdown]
# ---
#
# **What you can do now.** You can compute attention, in NumPy and in PyTorch, and say why scores are divided by $\sqrt{d_k}$. The
# attention that you have matched against PyTorch's runs in every chat model, and every notebook to come is built around it.

# %% tags=["active-ipynb"]
# from attention_course import grading
#
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
