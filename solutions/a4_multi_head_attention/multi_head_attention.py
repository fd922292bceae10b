# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Multi-head attention
#
# **Time:** about 90 minutes. **Difficulty:** ●●○. **Builds on:** assignments 1 and 3, and PyTorch modules in exercise 5.
#
# Several heads look at the same words, each in its own way. Then one matrix brings what they found back together:
#
# $$\operatorname{MultiHead}(X) = \operatorname{Concat}(Z_0, \dots, Z_{h-1})\, W_O \qquad
# Z_i = \operatorname{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d_k}}\right) V_i$$
#
# This notebook is about that matrix, $W_O$, and about the whole: first in NumPy, then as a PyTorch module that you
# could train.
#
# 1. `projection_shapes`
# 2. `output_projection`
# 3. `single_head`
# 4. `multi_head_attention`
# 5. `MultiHeadAttention`
# 6. a question to answer in words
#
# Before the question, a trained model reads your own sentence with your module, and you take out one of its heads.
#
# **How to work.** Replace `raise NotImplementedError()` in a cell with your code, run the cell, then run the check
# below it. Each part earns points on its own, so a mistake in one exercise does not cost you the next.
#
# **What also counts**, a little each time: `float32` in gives `float32` out, and `float64` in gives `float64` out. In
# NumPy 2, `float32 / np.sqrt(4)` is `float64`, while `float32 / math.sqrt(4)` stays `float32`. Leave the arguments as
# they are. They may come by name, and in any layout in memory.
#
# **What you may rely on.** Numbers are `float32` or `float64`, and finite. Every size is at least 1. Heads are counted from 0
# everywhere, in formulas, code and pictures.
#
# **Stuck?** `hint("projection_shapes")` in any cell gives a first nudge. Ask again for a second one, and once more for an example and where to read. Nobody sees what you
# ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, explore, heatmap, hint


# %% [markdown]
# ## Two heads read *Money Bank*
#
# *About 5 minutes · easy*
#
# A bank can hold money, and a bank can be the side of a river. Two words, each an embedding of four numbers made by
# hand, so $X$ has shape $(2, 4)$. Two heads, each with its own $W_q$, $W_k$, $W_v$ of shape $(4, 4)$:
#
# - **head 0** compares the words by their first number, *finance*,
# - **head 1** by their second number, *place*.
#
# Follow *Bank* in head 0. Its finance is 1, that of *Money* is 2. So its scores are $1 \cdot 2 / \sqrt 4 = 1$
# for *Money* and $1 \cdot 1 / \sqrt 4 = 0.5$ for itself, and the softmax of $(1, 0.5)$ is $(0.62, 0.38)$.

# %% tags=["active-ipynb"]
# words = ["Money", "Bank"]
# #              finance place thing building
# X = np.array([[2.0, 0.0, 1.0, 0.0],   # Money
#               [1.0, 2.0, 0.0, 1.0]])  # Bank
#
# W_q0 = W_k0 = np.diag([1.0, 0.0, 0.0, 0.0])  # head 0 sees only finance
# W_q1 = W_k1 = np.diag([0.0, 1.0, 0.0, 0.0])  # head 1 sees only place
# W_v0 = W_v1 = np.eye(4)                      # both pass on the whole word
#
# attention, Z = [], []
# for W_q, W_k, W_v in ((W_q0, W_k0, W_v0), (W_q1, W_k1, W_v1)):
#     scores = (X @ W_q) @ (X @ W_k).T / math.sqrt(4)                        # (2, 2)
#     weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)  # (2, 2)
#     attention.append(weights)
#     Z.append(weights @ (X @ W_v))                                          # (2, 4)
#
# heatmap(np.stack(attention), rows=words, columns=words, title="Money Bank: two words, two perspectives",
#         names=["head 0: money", "head 1: a place"])

# %% [markdown]
# **What to notice.** Read the row *Bank*. In head 0 it takes 62 % from *Money*: a house for money. In head 1
# it keeps 88 % of itself: a place.
#
# Now there are two answers for each word, $Z_0$ and $Z_1$, but the next layer wants **one** vector per word, of the
# width it came in. So lay the two side by side and multiply by a matrix $W_O$. Here is one that takes half of each:

# %% tags=["active-ipynb"]
# W_O = np.concatenate([0.5 * np.eye(4), 0.5 * np.eye(4)])  # (8, 4)
# concatenated = np.concatenate(Z, axis=-1)                 # (2, 8)
#
# print("X           ", X.shape)
# print("Z_0, Z_1    ", Z[0].shape, Z[1].shape)
# print("side by side", concatenated.shape)
# print("W_O         ", W_O.shape)
# print("output      ", (concatenated @ W_O).shape, "the shape that X had")
# print()
# print("Bank, head 0       ", Z[0][1].round(2))
# print("Bank, head 1       ", Z[1][1].round(2))
# print("Bank, the output   ", (concatenated @ W_O)[1].round(2), "both perspectives, balanced")

# %% [markdown]
# ## 1. `projection_shapes`
#
# *About 5 minutes · easy*
#
# Before computing anything, count. One head turns each word's `d_model` numbers into a query and a key of `d_k` numbers
# and a value of `d_v` numbers. In practice all heads' $W_q$ stand side by side in one wide matrix $W_Q$, so that one
# product makes the queries of all heads. The same goes for $W_K$ and $W_V$. Then $W_O$ comes last.
#
# | example | `d_model` | `num_heads` | `d_k` | `d_v` | `W_Q` | `W_O` |
# | --- | --- | --- | --- | --- | --- | --- |
# | *Money Bank* | 4 | 2 | 4 | 4 | (4, 8) | (8, 4) |
# | a small one, for later | 4 | 2 | 3 | 1 | (4, 6) | (2, 4) |
# | the original paper | 512 | 8 | 64 | 64 | (512, 512) | (512, 512) |
#
# In the paper $8 \cdot 64 = 512$, so everything is square. That is a choice, not a law: in the other two rows
# `d_model` is not `num_heads` times `d_k`. And `d_v` may differ from `d_k`, as in the small one.

# %% nbgrader={"grade": false, "grade_id": "projection_shapes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def projection_shapes(d_model, num_heads, d_k, d_v):
    """The shapes of the four matrices of multi-head attention.

    d_model: width of a word's vector, before and after
    num_heads: how many heads, at least 1
    d_k: width of one head's queries and keys
    d_v: width of one head's values

    Returns a dict with the keys "W_Q", "W_K", "W_V", "W_O", and no others; each value is a
    tuple (rows, columns). A matrix is multiplied from the right: X @ W_Q.
    """
    ### BEGIN SOLUTION
    return {
        "W_Q": (d_model, num_heads * d_k),  # a word's vector -> the queries of all heads
        "W_K": (d_model, num_heads * d_k),
        "W_V": (d_model, num_heads * d_v),
        "W_O": (num_heads * d_v, d_model),  # all heads' values, side by side -> a word's vector
    }
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-projection_shapes", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("projection_shapes")

# %% [markdown]
# **What to notice.** Give each head its 64 numbers and add heads. The concatenation gets wider, and with it $W_O$'s
# *inner* dimension, the one that the product sums over. What comes out stays one vector of 512 numbers per word.

# %% tags=["active-ipynb"]
# print("heads   Z, side by side         W_O        output   rows of W_O")
# for h in (1, 2, 4, 8, 16):
#     inner, width = projection_shapes(512, h, 64, 64)["W_O"]
#     print(f"{h:5d}     (L, {inner:4d})   @  ({inner:4d}, {width})  =  (L, {width})   {'▇' * h}")

# %% [markdown]
# The same as a picture, small enough to count: $d_{model} = 4$ and $d_v = 2$. Each square of $W_O$ carries the number of
# the head whose result it will meet. Move the slider, with the mouse or with the arrow keys: what grows, what stays?

# %% tags=["active-ipynb"]
# def picture_of_W_O(num_heads):
#     d_model, d_v = 4, 2
#     rows, columns = projection_shapes(d_model, num_heads, d_v, d_v)["W_O"]
#     head = np.arange(rows) // d_v                                # whose numbers meet this row
#     squares = np.repeat(head[:, None], columns, axis=1)          # (rows, columns)
#     title = f"num_heads = {num_heads}, d_v = {d_v}: W_O has {rows} rows and {columns} columns"
#     return heatmap(squares, rows=[f"head {i}" for i in head], title=title, full=5)
#
#
# explore(picture_of_W_O, num_heads=(1, 2, 3, 4, 5, 6))

# %% [markdown]
# ## Bring your own
#
# *About 5 minutes · easy*
#
# You have written attention already, and you have cut matrices into heads and put heads together again. Copy your
# `scaled_dot_product_attention` from assignment 1, and your `split_heads` and `concat_heads` from assignment 3, into the
# three cells below. (Their notebooks are in the folders beside this one.) The exercises may call them, so that you only write
# what is new: $W_O$, whose columns are whose, and the mask.
#
# These cells earn no points, and they cost none. Where one has a mistake or is missing, grading puts a right one in its
# place. The checks in this notebook use yours. You may also leave the cells as they are, and write everything again.

# %% nbgrader={"grade": false, "grade_id": "bring-scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(Q, K, V):
    """softmax(Q K^T / sqrt(d_k)) V: yours, from assignment 1.

    Q: (..., L, d_k); K: (..., S, d_k); V: (..., S, d_v)

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, S).
    """
    ### BEGIN SOLUTION
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])           # (..., L, S)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(X, num_heads):
    """Cut the last axis into heads: yours, from assignment 3.

    X: (..., L, d_model)

    Returns (..., h, L, d), with h = num_heads and d = d_model // h.
    """
    ### BEGIN SOLUTION
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError(f"{d_model} columns cannot be shared evenly among {num_heads} heads")
    return X.reshape(*batch, L, num_heads, d_model // num_heads).swapaxes(-3, -2)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-concat_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def concat_heads(heads):
    """Put the heads side by side again: yours, from assignment 3.

    heads: (..., h, L, d)

    Returns (..., L, h * d).
    """
    ### BEGIN SOLUTION
    *batch, h, L, d = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, L, h * d)
    ### END SOLUTION


# %% [markdown]
# ## 2. `output_projection`
#
# *About 10 minutes · medium*
#
# $$\text{output} = \operatorname{Concat}(Z_0, \dots, Z_{h-1})\, W_O \qquad
# (L \times h\,d_v) \cdot (h\,d_v \times d_{model}) \to (L \times d_{model})$$
#
# By hand: one word, two heads of width two, $d_{model} = 3$.
#
# $$Z_0 = \begin{pmatrix} 1 & 2 \end{pmatrix} \quad Z_1 = \begin{pmatrix} 3 & 4 \end{pmatrix} \quad
# W_O = \begin{pmatrix} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 1 & 1 & 0 \\ 0 & 0 & 2 \end{pmatrix}$$
#
# Side by side they are $(1, 2, 3, 4)$, and times $W_O$: $(1 + 3,\; 2 + 3,\; 2 \cdot 4) = (4, 5, 8)$.
#
# The heads come in one array $(h, L, d_v)$: first all words of head 0, then all words of head 1. To stand side by side,
# the numbers of one *word* must come together. Which axes have to change places before you reshape?
# Your `concat_heads` knows.

# %% nbgrader={"grade": false, "grade_id": "output_projection", "locked": false, "schema_version": 3, "solution": true, "task": false}
def output_projection(heads, W_O):
    """Concatenate the heads, word by word, and multiply by W_O.

    heads: what each head found, (..., h, L, d_v); head 0 comes first
    W_O: (h * d_v, d_model)

    Returns one vector per word, (..., L, d_model), in the dtype of the input. `...` is any
    number of batch axes, also none. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    *batch, h, L, d_v = heads.shape
    by_word = heads.swapaxes(-3, -2)                       # (..., L, h, d_v): a word's heads together
    concatenated = by_word.reshape(*batch, L, h * d_v)     # (..., L, h * d_v)
    return concatenated @ W_O                              # (..., L, d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-output_projection", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("output_projection")

# %% [markdown]
# **What to notice.** A word's new vector is a **weighted sum over the heads**. The first $d_v$ rows of $W_O$ meet the
# numbers of head 0 only, the next $d_v$ rows those of head 1, and so on:
#
# $$\operatorname{Concat}(Z_0, Z_1)\, W_O = Z_0\, W_O^{(0)} + Z_1\, W_O^{(1)}$$
#
# Each head has its own rows, and these say how much of it goes where. In the example by hand:

# %% tags=["active-ipynb"]
# Z_0 = np.array([[1.0, 2.0]])        # (1, 2): one word
# Z_1 = np.array([[3.0, 4.0]])        # (1, 2)
# W_O = np.array([[1.0, 0.0, 0.0],    # head 0's own rows
#                 [0.0, 1.0, 0.0],
#                 [1.0, 1.0, 0.0],    # head 1's own rows
#                 [0.0, 0.0, 2.0]])
#
# print("concatenated, times W_O   ", output_projection(np.stack([Z_0, Z_1]), W_O))
# print("Z_0 times its own rows    ", Z_0 @ W_O[0:2])
# print("Z_1 times its own rows    ", Z_1 @ W_O[2:4])
# print("the sum over the heads    ", Z_0 @ W_O[0:2] + Z_1 @ W_O[2:4])
# owners = ["head 0", "head 0", "head 1", "head 1"]
# heatmap(W_O, rows=owners, columns=["0", "1", "2"], title="W_O: each head has rows of its own")

# %% [markdown]
# ## 3. `single_head`
#
# *About 10 minutes · medium*
#
# Before all heads, one. A head is the attention of assignment 1, on vectors that it makes with columns of its own. You may
# call the `scaled_dot_product_attention` that you have brought. New is which columns are whose. Of $W_Q$ and $W_K$, head $i$
# owns the columns $i \cdot d_k$ to $(i + 1) \cdot d_k$, the last one not included. Of $W_V$ it owns the columns
# $i \cdot d_v$ to $(i + 1) \cdot d_v$.
#
# $$Q_i = X W_Q^{(i)} \qquad K_i = X W_K^{(i)} \qquad V_i = X W_V^{(i)} \qquad
# Z_i = \operatorname{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d_k}}\right) V_i$$
#
# The dots in the docstring, `...`, stand for any number of batch axes, also none. PyTorch's own attention earns nothing here.

# %% [markdown]
# **By hand:** three words of width 4, two heads with $d_k = 3$ and $d_v = 1$. In these matrices every column holds a single 1,
# so it picks one of a word's four numbers, counted from 0:
#
# $$X = \begin{pmatrix} 1 & 1 & 1 & 1 \\ 1 & 2 & 2 & 0 \\ 2 & 2 & 1 & 1 \end{pmatrix}$$
#
# | | head 0's columns pick | head 1's columns pick |
# | --- | --- | --- |
# | $W_Q$, (4, 6) | 2, 0, 3 | 0, 1, 3 |
# | $W_K$, (4, 6) | 3, 2, 0 | 3, 1, 0 |
# | $W_V$, (4, 2) | 0 | 1 |
#
# What does head 1 find for the first word?
#
# | step | head 1 |
# | --- | --- |
# | the first word's query, its numbers 0, 1 and 3 | (1, 1, 1) |
# | the three keys, the numbers 3, 1 and 0 of each word | (1, 1, 1), (0, 2, 1), (1, 2, 2) |
# | scores, divided by $\sqrt 3$ | $(3, 3, 5) / \sqrt 3 = (1.73, 1.73, 2.89)$ |
# | weights | (0.19, 0.19, 0.61) |
# | the three values, number 1 of each word | 1, 2, 2 |
# | what it finds | the weights sum to 1, so it is $0.19 \cdot 1 + (1 - 0.19) \cdot 2 = 1.81$ |

# %% nbgrader={"grade": false, "grade_id": "single_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    """What one of several heads finds, and where it looks.

    X: one vector per word, (..., L, d_model)
    W_Q, W_K: of all heads, (d_model, h * d_k); head 0 owns the first d_k columns, head 1
        the next d_k
    W_V: of all heads, (d_model, h * d_v), its columns owned in the same way; d_v may
        differ from d_k
    head: which one, from 0 to num_heads - 1
    num_heads: h, at least 1

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, L), both in
    the dtype of the input. Large scores (10,000 and more) give finite numbers. What comes
    in stays as it is.
    """
    ### BEGIN SOLUTION
    d_k, d_v = W_Q.shape[-1] // num_heads, W_V.shape[-1] // num_heads  # one head's widths
    Q = X @ W_Q[:, head * d_k : (head + 1) * d_k]                      # (..., L, d_k)
    K = X @ W_K[:, head * d_k : (head + 1) * d_k]                      # (..., L, d_k)
    V = X @ W_V[:, head * d_v : (head + 1) * d_v]                      # (..., L, d_v)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)                   # (..., L, L)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights                                        # (..., L, d_v), (..., L, L)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-single_head", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("single_head")

# %% [markdown]
# **What to notice.** Your function finds both heads of *Money Bank* again. Their small matrices stand side by side in wide
# ones, and it knows whose columns are whose:

# %% tags=["active-ipynb"]
# wide_q = np.hstack([W_q0, W_q1])   # (4, 8)
# wide_k = np.hstack([W_k0, W_k1])   # (4, 8)
# wide_v = np.hstack([W_v0, W_v1])   # (4, 8)
# both = [single_head(X, wide_q, wide_k, wide_v, head, num_heads=2) for head in range(2)]
# print("as in the first picture:", all(np.allclose(Z[head], both[head][0]) for head in range(2)))
# heatmap(np.stack([weights for _, weights in both]), rows=words, columns=words,
#         title="Money Bank, from single_head", names=["head 0", "head 1"])

# %% [markdown]
# ## 4. `multi_head_attention`
#
# *About 20 minutes · hard*
#
# Now all of it:
#
# 1. project: $X W_Q$, $X W_K$, $X W_V$,
# 2. give each head its own columns: head 0 the first $d_k$ (of $V$ the first $d_v$), head 1 the next, and so on,
# 3. attend in each head: scores divided by $\sqrt{d_k}$, softmax over the keys, times the values,
# 4. concatenate and multiply by $W_O$.
#
# You can go through the heads one by one, as in `single_head`. Or project once and reshape, for all heads at a time. Both
# are right. New is the mask, which comes below.

# %% [markdown]
# **By hand:** the three words of exercise 3, with the same $W_Q$, $W_K$ and $W_V$, and now with both heads and
#
# $$W_O = \left(\begin{array}{cccc} 2 & 2 & 2 & 1 \\ \hline 1 & 2 & 0 & 1 \end{array}\right)$$
#
# The first row of $W_O$ meets what head 0 finds, the second row what head 1 finds.
#
# - *Head 0*, first word: the query is $(1, 1, 1)$, the scores are $(3, 3, 4) / \sqrt 3$, and the weights $(0.26, 0.26, 0.47)$. Its
#   values are number 0 of each word: 1, 1 and 2. It finds $(1 - 0.47) \cdot 1 + 0.47 \cdot 2 = 1.47$.
# - *Head 1* finds 1.81, as above.
# - The output for the first word is $1.47 \cdot (2, 2, 2, 1) + 1.81 \cdot (1, 2, 0, 1) = (4.75, 6.56, 2.94, 3.28)$.

# %% [markdown]
# **The mask** is boolean, and `True` means *may attend*. It broadcasts to the scores, $(\dots, h, L, L)$, and never adds an axis
# to them:
#
# | mask | what it says |
# | --- | --- |
# | $(L, L)$ | one table, the same for all heads and all texts |
# | $(h, L, L)$ | one table for each head |
# | $(B, 1, 1, L)$ | the padding of each text in a batch, the same for all heads and queries |
# | $(B, 1, L, L)$ | one table for each text. What is the axis of length 1 for? |

# %% tags=["active-ipynb"]
# scores = (2, 4, 3, 3)                      # (B, h, L, L): two texts, four heads, three words
# for mask in ((2, 1, 3, 3), (2, 3, 3)):     # a table for each text, with the axis of length 1 and without
#     try:
#         print("mask", mask, "broadcasts to", np.broadcast_shapes(mask, scores))
#     except ValueError as error:
#         print("mask", mask, "does not:", str(error).partition(".")[0])

# %% [markdown]
# **What to notice.** NumPy and PyTorch line up axes from the right. Without the axis of length 1, the two texts of the mask meet the four heads. With four
# texts it would be worse: no error, and each *head* would get the table of a *text*.

# %% [markdown]
# A row of the mask may allow nothing. In that head the word gets weights 0, and the head adds nothing to its output. If no head may look
# anywhere, the output is 0.
#
# You may call `output_projection` from above, and the `split_heads` that you have brought. If one of them has a mistake, grading
# judges this exercise with a right one in its place.
#
# Please write attention yourself: PyTorch's own earns nothing here. In other cells you may compare with it.

# %% nbgrader={"grade": false, "grade_id": "multi_head_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """Attention in num_heads heads, concatenated and brought together by W_O.

    X: one vector per word, (..., L, d_model)
    W_Q, W_K: (d_model, h * d_k); head 0 owns the first d_k columns, head 1 the next d_k
    W_V: (d_model, h * d_v), its columns owned in the same way; d_v may differ from d_k
    W_O: (h * d_v, d_model)
    num_heads: h, at least 1
    mask: bool, broadcasts to (..., h, L, L) without adding an axis, True where a query may
        attend; None: everywhere

    Returns the tuple (output, weights): output (..., L, d_model), weights (..., h, L, L),
    both in the dtype of the input. Large scores (10,000 and more) give finite numbers.
    Where a query may attend to nothing, its weights are 0 and that head adds nothing to
    the output; if this is so in every head, the output is 0. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    *batch, L, d_model = X.shape

    def split(projected):
        heads = projected.reshape(*batch, L, num_heads, -1)    # (..., L, h * d) -> (..., L, h, d)
        return heads.swapaxes(-3, -2)                          # (..., h, L, d)

    Q, K, V = split(X @ W_Q), split(X @ W_K), split(X @ W_V)   # (..., h, L, d_k) twice, (..., h, L, d_v)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])   # (..., h, L, L)
    if mask is not None:
        # The lowest number there is: unlike -inf it gives no NaN where a whole row is hidden.
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)                   # for a query that may attend to nothing
    return output_projection(weights @ V, W_O), weights        # (..., h, L, d_v) -> (..., L, d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-multi_head_attention", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("multi_head_attention")

# %% [markdown]
# **What to notice.** The example by hand: $d_{model} = 4$ is neither $2 \cdot 3$ nor $2 \cdot 1$, and the output has the shape
# of $X$ all the same.

# %% tags=["active-ipynb"]
# def picking(*numbers):                        # a matrix whose columns each pick one number of a word
#     return np.eye(4)[:, list(numbers)]
#
#
# small = np.array([[1.0, 1.0, 1.0, 1.0],
#                   [1.0, 2.0, 2.0, 0.0],
#                   [2.0, 2.0, 1.0, 1.0]])      # (3, 4): three words
# W_Q = picking(2, 0, 3, 0, 1, 3)               # (4, 6): two heads of width 3
# W_K = picking(3, 2, 0, 3, 1, 0)               # (4, 6)
# W_V = picking(0, 1)                           # (4, 2): two heads of width 1
# W_O = np.array([[2.0, 2.0, 2.0, 1.0],
#                 [1.0, 2.0, 0.0, 1.0]])        # (2, 4)
#
# output, weights = multi_head_attention(small, W_Q, W_K, W_V, W_O, num_heads=2)
# print("weights of the first word: head 0", weights[0, 0].round(2), " head 1", weights[1, 0].round(2))
# print("output", output.shape)
# print(output.round(2))

# %% [markdown]
# ### See it
#
# *Money Bank* again, with your function. The two heads' small matrices stand side by side in the wide ones. This time you choose how much $W_O$ listens to
# head 1, and how much to head 0. Move the slider and watch *Bank*: when is it a house for money, when a place?

# %% tags=["active-ipynb"]
# W_Q = np.hstack([W_q0, W_q1])                                                  # (4, 8)
# W_K = np.hstack([W_k0, W_k1])                                                  # (4, 8)
# W_V = np.hstack([W_v0, W_v1])                                                  # (4, 8)
#
#
# def listening_to_head_1(share):
#     W_O = np.concatenate([(1 - share) * np.eye(4), share * np.eye(4)])         # (8, 4)
#     output, _ = multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads=2)       # (2, 4)
#     return heatmap(output, rows=words, columns=["finance", "place", "thing", "building"], full=2,
#                    title=f"the output, {1 - share:.0%} head 0 and {share:.0%} head 1")
#
#
# explore(listening_to_head_1, share=(0, 0.25, 0.5, 0.75, 1))

# %% [markdown]
# **What to notice.** In the row of *Bank*, *finance* goes down and *place* goes up: one output for all heads together, and the heads meet in $W_O$ and nowhere before. The
# weights stay one matrix per head, and a mask of shape $(2, 2)$ holds in both. Here *Money* may not look ahead:

# %% tags=["active-ipynb"]
# no_looking_ahead = np.array([[True, False],
#                              [True, True]])
# W_O = np.concatenate([0.5 * np.eye(4), 0.5 * np.eye(4)])   # (8, 4)
# _, weights = multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads=2, mask=no_looking_ahead)
# heatmap(weights, rows=words, columns=words, title="Money may not look at Bank", names=["head 0", "head 1"])

# %% [markdown]
# ### What does it cost?
#
# Count the multiplications for $L$ words of width $d_{model}$, with heads that share this width. Each of the four matrices takes
# $L \cdot d_{model}^2$. The scores of all heads together take $L^2 \cdot d_{model}$, and so does the blend of the values. At
# which length do the matrices and the looking take the same? Guess first, then run the cell.

# %% tags=["active-ipynb"]
# d_model = 512
# print("words   four matrices   scores and blend   of all the work")
# for L in (64, 256, 1024, 4096, 16384):
#     matrices, looking = 4 * L * d_model**2, 2 * L**2 * d_model
#     share = looking / (matrices + looking)
#     print(f"{L:5d} {matrices / 1e6:11,.0f} million {looking / 1e6:10,.0f} million {share:15.0%}")

# %% [markdown]
# **What to notice.** Four times as many words: four times the work for the matrices, sixteen times for scores and blend. At
# $L = 2\, d_{model}$, here 1024 words, the two take the same. In longer texts the looking takes more, and in the end nearly everything:
# $L^2$ is why long texts are expensive.
# And the number of heads does not appear anywhere: they share one width.

# %% [markdown]
# ## 5. `MultiHeadAttention` in PyTorch
#
# *About 20 minutes · hard*
#
# The same as a module: it *keeps* its four matrices and can learn them. Each is an `nn.Linear` without bias, held under
# the names `self.W_Q`, `self.W_K`, `self.W_V` and `self.W_O`. It has no other parameters.
#
# - `nn.Linear(a, b)` takes vectors of width `a` to vectors of width `b`. It keeps its weight as `(b, a)`, and you
#   need not care: `self.W_Q(x)` does the product.
# - `d_head` is the width of each head, $d_k = d_v$. Most people leave it out and share `d_model` evenly among the
#   heads, so then it is `d_model // num_heads`. Where that leaves a remainder, raise a `ValueError`. Where `d_head`
#   is given, nothing has to divide.
# - Head $i$ owns the same columns of $x W_Q$, $x W_K$ and $x W_V$ as before, and the same numbers go into $W_O$: those of
#   head 0 first.
# - Gradients flow to `x` and to all four matrices. They stay finite where a query may attend to nothing.
#
# `torch.softmax` is fine to use. PyTorch's ready-made attention is not: you are writing it.
#
# No PyTorch on this machine yet? `%pip install torch` in a cell of its own, then restart the kernel.

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Multi-head self-attention with its own W_Q, W_K, W_V and W_O.

    d_model: width of a word's vector
    num_heads: h, at least 1
    d_head: width of one head; None: d_model // num_heads, a ValueError where that leaves a
        remainder

    Parameters: W_Q.weight, W_K.weight, W_V.weight (h * d_head, d_model) and W_O.weight
    (d_model, h * d_head). There is no dropout, and nothing is kept from one call to the
    next: in train() it gives what it gives in eval().
    """

    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        ### BEGIN SOLUTION
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x, mask=None):
        """Attend.

        x: (..., L, d_model)
        mask: bool, broadcasts to (..., h, L, L) without adding an axis, True where a query
            may attend; None: everywhere

        Returns the tuple (output, weights): output (..., L, d_model), weights (..., h, L, L),
        both in the dtype of the parameters. Where a query may attend to nothing, its weights
        are 0 and that head adds nothing to the output; if this is so in every head, the
        output is 0. Large scores give finite numbers. x and mask stay as they are.
        """
        ### BEGIN SOLUTION
        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))  # (..., L, h, d)
            return heads.transpose(-3, -2)                                  # (..., h, L, d)

        query, key, value = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)     # (..., h, L, L)
        if mask is not None:
            # The lowest number there is: unlike -inf it gives no NaN where a whole row is hidden.
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)                       # where nothing is allowed
        heads = (weights @ value).transpose(-3, -2)                         # (..., L, h, d)
        return self.W_O(heads.flatten(-2)), weights                         # (..., L, d_model)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-MultiHeadAttention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("MultiHeadAttention")

# %% [markdown]
# **Check yourself against PyTorch.** Outside an exercise you may use the ready-made module. It keeps $W_Q$, $W_K$ and
# $W_V$ stacked in one parameter. With 8 heads and $d_{model} = 128$, a quarter of the original paper's width,
# so that $d_k = d_v = 16$, the two should agree to about six digits:

# %% tags=["active-ipynb"]
# torch.manual_seed(0)
# mine, theirs = MultiHeadAttention(128, 8), nn.MultiheadAttention(128, 8, bias=False, batch_first=True)
# with torch.no_grad():
#     theirs.in_proj_weight.copy_(torch.cat([mine.W_Q.weight, mine.W_K.weight, mine.W_V.weight]))
#     theirs.out_proj.weight.copy_(mine.W_O.weight)
#
# x = torch.randn(2, 10, 128)  # (B, L, d_model): two sentences of ten words
# output, weights = mine(x)
# wanted, wanted_weights = theirs(x, x, x, average_attn_weights=False)
# print("output", tuple(output.shape), "   weights", tuple(weights.shape))
# print("largest difference in the output: ", f"{(output - wanted).abs().max().item():.7f}")
# print("largest difference in the weights:", f"{(weights - wanted_weights).abs().max().item():.7f}")
# count = sum(p.numel() for p in mine.parameters())
# print("numbers to learn:", count, "= 4 * 128 * 128, however many heads share them")

# %% [markdown]
# ## Read with it, and take out a head
#
# *About 5 minutes · easy*
#
# Assignment 3 had a small decoder that has read *Pride and Prejudice*. It has three layers of four heads. Its weights fit your module, so
# here it reads with your code in all three layers. What does it expect after something that somebody says?

# %% tags=["active-ipynb"]
# from attention_course import trained_decoder
#
# sentence = '"You are very kind," said Elizabeth, "but I am not tired.'   # write your own
#
#
# def trained_layers():
#     """The three attention layers of the trained model, as your module."""
#     layers = []
#     for number in range(trained_decoder.NUM_LAYERS):
#         layer = MultiHeadAttention(96, 4)
#         learned = trained_decoder.layer_weights(number)
#         layer.load_state_dict({name: torch.tensor(W) for name, W in learned.items()})
#         layers.append(layer)
#     return layers
#
#
# def likeliest(reading):
#     return ", ".join(f"{token!r} {share:.2f}" for token, share in reading.next_tokens(3))
#
#
# print("with your module:          ", likeliest(trained_decoder.read(sentence, layers=trained_layers())))
# print("with PyTorch's attention:  ", likeliest(trained_decoder.read(sentence)))

# %% [markdown]
# Now take out one head. Its rows of $W_O$ say what reaches the output, so put zeros there (`nn.Linear` keeps them as columns).
# Before you run the cell: do you expect that one head of twelve makes a difference? Then move the slider through all twelve; at `1, 2` it is layer 1, head 2. Which one did
# you find in the puzzle of assignment 3?

# %% tags=["active-ipynb"]
# def without(number, head):
#     """All layers, but what this head of layer `number` finds reaches nobody."""
#     layers = trained_layers()
#     with torch.no_grad():
#         layers[number].W_O.weight[:, 24 * head : 24 * (head + 1)] = 0    # a head is 96 / 4 = 24 wide
#     return layers
#
#
# heads = {f"{layer}, {head}": (layer, head) for layer in range(3) for head in range(4)}
# whole = trained_decoder.read(sentence, layers=trained_layers())
#
#
# def expected_without(layer_and_head):
#     layer, head = heads[layer_and_head]
#     less = trained_decoder.read(sentence, layers=without(layer, head))
#     tokens = list(dict.fromkeys(token for reading in (whole, less) for token, _ in reading.next_tokens(5)))
#     shares = [dict(reading.next_tokens(1024)) for reading in (whole, less)]    # of all 1,024 tokens
#     numbers = np.array([[share[token] for token in tokens] for share in shares])
#     columns = [repr(token)[1:-1] for token in tokens]
#     return heatmap(numbers, rows=["all heads", "without it"], columns=columns,
#                    title=f"what comes next, without layer {layer}, head {head}")
#
#
# explore(expected_without, head=list(heads))

# %% [markdown]
# **What to notice.** With the sentence as it stands, *I* stays the likeliest for eleven of the twelve: somebody is still speaking. Without head 0 of layer 1 the model
# expects a new line first (`\n`), as if a paragraph had ended.
#
# And the head of the puzzle, which looks at quotation marks more than any other? Without it hardly anything changes. How much a head *looks* at
# something does not say how much the model *needs* it. Assignments 6 and 9 find out more about that.

# %% [markdown]
# ## 6. In your own words
#
# *About 10 minutes · medium*
#
# The concatenation $Z$ of all heads, times a matrix, gives a word's new vector $z'$. Which linear map is that: what
# does it take, what does it give, which word's numbers does it see, and how does it treat each head? Why is it enough
# that it is linear? And what would be lost if you left out $W_O$ and passed $Z$ on as it is? Six sentences are
# plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-output-projection", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# It is $z' = z W_O$: a learned map, the same for every word, from the $h \cdot d_v$ numbers of one word's
# concatenated heads to $d_{model}$ numbers. It sees one word at a time, because the looking at other words is done by
# then. Each head has its own rows of $W_O$, so $z'$ is a sum over the heads, each weighted by a matrix:
# $z' = \sum_i z_i W_O^{(i)}$. Linear is enough, since its work is to weigh the heads, mix them and bring them
# back to the width of the model; the choosing, which is not linear, was done by the softmax in each head, and the
# feed-forward layer that follows brings non-linearity for each word. Without $W_O$ every head would keep its own
# fixed place in the vector: no number of $z'$ could blend two heads, a useless head could not be turned down, and
# the width would be $h \cdot d_v$, which need not be $d_{model}$ and would grow with every head.

# %% [markdown]
# ---
#
# **What you can do now.** You can write multi-head attention, the layer itself, as a function and as a PyTorch module with weights that learn.

# %% tags=["active-ipynb"]
# from attention_course import grading
#
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
