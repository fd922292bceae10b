# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Attention and convolution
#
# **Time:** about 75 minutes. **Difficulty:** ●●●. **Builds on:** assignments 1 and 4.
#
# Two ways of letting a word hear from other words. A **convolution** lays a small filter over the text, and each *tap*
# of the filter listens to one fixed place: the word before, the word itself, the word after. An **attention** layer has
# *heads*, and each head listens where it finds something to its liking.
#
# $$\text{convolution:}\quad y_i = \sum_{\text{tap } j} x_{i + o_j} K_j \qquad\qquad
# \text{attention:}\quad y_i = \sum_{\text{head } h} \Big( \sum_m A^{(h)}_{im}\, x_m \Big) W_V^{(h)} W_O^{(h)}$$
#
# Put side by side they look like relatives. In this notebook you show how close: a head that always attends to the same
# offset $o$ **is** a tap, and enough of them make any convolution. The result is due to
# [Cordonnier, Loukas and Jaggi (2020)](https://arxiv.org/abs/1911.03584), who prove it for images.
#
# 1. `offset_attention`
# 2. `convolution_heads`
# 3. `convolution_by_attention`
# 4. `translation_test`
# 5. a question to answer in words
#
# **How to work.** Write your code in place of `raise NotImplementedError()`, run the cell, then run the check below it. A mistake
# in one exercise does not cost you the next.
#
# **What also counts**, a little each time: `float32` in gives `float32` out (an array from NumPy is `float64` unless you say
# otherwise), the arguments stay as they are, and they may come by name. Numbers are finite, and sizes at least 1, unless a
# docstring says otherwise.
#
# **Stuck?** `hint("offset_attention")` in any cell gives a first nudge, then a second one, then an example and where to read.
# Nobody sees what you ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, explore, heatmap, hint


# %% [markdown]
# ## Bring your own
#
# You have built attention already. Copy your `output_projection` and your `multi_head_attention` from assignment 4 into
# the two cells below; exercise 3 may call the first, and in section 4 you test the second. These cells earn no
# points, and they cost none: if what you bring has a mistake, or is missing, grading uses a right one in its place. The
# check in the notebook needs yours, and tells you if it is the cause.

# %% nbgrader={"grade": false, "grade_id": "bring-output_projection", "locked": false, "schema_version": 3, "solution": true, "task": false}
def output_projection(heads, W_O):
    """Concatenate the heads, word by word, and multiply by W_O: yours, from assignment 4.

    heads: what each head found, (..., h, L, d_v)
    W_O: (h * d_v, d_model)

    Returns one vector per word, (..., L, d_model).
    """
    ### BEGIN SOLUTION
    *batch, h, L, d_v = heads.shape
    by_word = heads.swapaxes(-3, -2)                       # (..., L, h, d_v): a word's heads side by side
    return by_word.reshape(*batch, L, h * d_v) @ W_O       # (..., L, h * d_v) -> (..., L, d_model)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-multi_head_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """Attention in num_heads heads, brought together by W_O: yours, from assignment 4.

    X: (..., L, d_model)
    W_Q, W_K: (d_model, h * d_k); W_V: (d_model, h * d_v); W_O: (h * d_v, d_model)
    mask: bool, broadcasts to (..., h, L, L), True where a query may attend; None:
        everywhere

    Returns the tuple (output, weights): output (..., L, d_model), weights (..., h, L, L).
    """
    ### BEGIN SOLUTION
    *batch, L, d_model = X.shape

    def split(projected):
        return projected.reshape(*batch, L, num_heads, -1).swapaxes(-3, -2)   # (..., h, L, d)

    Q, K, V = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])                  # (..., h, L, L)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)   # for a query that may attend to nothing
    return output_projection(weights @ V, W_O), weights
    ### END SOLUTION


# %% tags=["active-ipynb"]
# def brought():
#     """Is there a multi_head_attention in the cell above? Only section 4 looks at it."""
#     ones = np.ones((2, 2))
#     try:
#         multi_head_attention(ones, ones, ones, ones, ones, num_heads=1)
#     except NotImplementedError:
#         print("(attention is left out here: bring your multi_head_attention, at the top, to see it)")
#         return False
#     return True

# %% [markdown]
# ## A convolution by hand
#
# A signal, six numbers long, and a filter of three taps:
#
# $$x = (0,\ 0,\ 4,\ 4,\ 4,\ 0) \qquad K = (\tfrac14,\ \tfrac12,\ \tfrac14)$$
#
# Each place takes a quarter of what stands before it, half of what stands on it, and a quarter of what comes after. At
# place 2 that is $\tfrac14 \cdot 0 + \tfrac12 \cdot 4 + \tfrac14 \cdot 4 = 3$. At the last place nothing comes after, and
# what is not there counts as zero: $\tfrac14 \cdot 4 + \tfrac12 \cdot 0 = 1$. All in all
#
# $$y = (0,\ 1,\ 3,\ 4,\ 3,\ 1).$$
#
# Another filter, $(-1, 0, 1)$, takes what comes after minus what came before. It finds edges:
#
# $$y = (0,\ 4,\ 4,\ 0,\ {-4},\ {-4}).$$

# %% [markdown]
# **The conventions in this notebook**, which are PyTorch's:
#
# - A **kernel** has shape `(k, d_in, d_out)`: `k` taps, each a matrix that takes a row of width `d_in` to width `d_out`.
# - Tap $j$ listens at an **offset** from where the result goes: $o_j = j - (k - 1) // 2$. The middle tap listens to the
#   place itself, those before it to the left, those after it to the right. An even number of taps has no middle: then
#   the right side gets one more.
# - The kernel is **not flipped**: tap 0 is the leftmost. (What deep learning calls a convolution is a *correlation* in
#   books on signals.)
# - What lies outside counts as **zero**, so the result is as long as the input. PyTorch calls this
#   `padding="same"`.
#
# | `k` | offsets |
# | --- | --- |
# | 1 | 0 |
# | 2 | 0, 1 |
# | 3 | -1, 0, 1 |
# | 4 | -1, 0, 1, 2 |
# | 5 | -2, -1, 0, 1, 2 |

# %% [markdown]
# ## 1. `offset_attention`
#
# *About 10 minutes · easy*
#
# Begin with one tap. It needs a head that looks at one place and at no other: query $i$ attends to key $i + o$.
#
# $$A_{im} = \begin{cases} 1 & \text{where } m = i + o \\ 0 & \text{elsewhere} \end{cases} \qquad
# \text{four words, } o = -1{:}\quad \begin{pmatrix} 0 & 0 & 0 & 0 \\ 1 & 0 & 0 & 0 \\ 0 & 1 & 0 & 0 \\
# 0 & 0 & 1 & 0 \end{pmatrix}$$
#
# A negative offset looks back, a positive one looks ahead, 0 looks at the word itself. The first word has no word before
# it: **it may attend to nothing, so its row is all zero**, as everywhere in this course. Nothing takes the missing
# word's place.

# %% nbgrader={"grade": false, "grade_id": "offset_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def offset_attention(length, offset):
    """The weights of a head that attends to one fixed offset.

    length: number of words, an int
    offset: how many places after the query the key stands, an int; negative: before it; 0:
        the word itself. It may be as large as length, or larger, on either side.

    Returns the weights, (length, length), float64: 1 at row i, column i + offset, and 0
    elsewhere. A query for which there is no such key gets a row of zeros. Each call makes a
    new array.
    """
    ### BEGIN SOLUTION
    place = np.arange(length)
    return (place == place[:, None] + offset).astype(float)  # (L,) against (L, 1) -> (L, L)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-offset_attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("offset_attention")

# %% [markdown]
# One sentence, and a head for each offset. **Predict first:** at which offsets does nobody look at *Sarah*? And where do the ones
# stand, if a head looks two words ahead? Then move the slider:

# %% tags=["active-ipynb"]
# words = ["Keys", "on", "the", "table", "belong", "to", "Sarah"]
#
# def at_offset(offset):
#     title = f"a head that looks at offset {offset}"
#     return heatmap(offset_attention(7, offset), rows=words, columns=words, title=title)
#
# explore(at_offset, offset=(-2, -1, 0, 1, 2))

# %% [markdown]
# **What to notice.** A line along the diagonal, moved by the offset: two words ahead, the first 1 stands in the column of *the*. No head here has
# asked what the words *are*, only where they stand. Heads that look back never look at *Sarah*, heads that look ahead never at *Keys*.
# And $A$ times the sentence is the sentence, moved:

# %% tags=["active-ipynb"]
# sentence = np.array(words)
# for offset in (-1, 0, 1):
#     heard = offset_attention(7, offset) @ np.eye(7)    # (7, 7) times a one-hot row for each word
#     print(f"offset {offset:2d}:", *(sentence[row.argmax()] if row.any() else "·" for row in heard))

# %% [markdown]
# ### Can a softmax do that?
#
# Weights of exactly 0 and 1 do not come out of a softmax. But almost do. Let the score of a key fall with the *square* of
# its distance from the wanted place:
#
# $$\text{scores}_{im} = -\alpha\, \big( (m - i) - o \big)^2 = -\alpha\, (m - i)^2 + 2 \alpha\, o\, (m - i) - \alpha\, o^2$$
#
# The last term is the same for all keys, so the softmax does not see it. What is left is a dot product of two numbers
# that the head has learnt, $-\alpha (1, -2 o)$, with two numbers that say how far the key is from the query,
# $\big((m - i)^2, m - i\big)$. This is the paper's *quadratic encoding* (Lemma 2), in one dimension. **Predict first:** what will the
# head look at if $\alpha$ is nearly 0, and what if it is large? Then move the slider:

# %% tags=["active-ipynb"]
# place = np.arange(7)
# distance = place - place[:, None]                                   # (7, 7): how far key m is from query i
# encoding = np.stack([distance**2, distance], axis=-1)               # (7, 7, 2)
#
# def soft_head(alpha, offset=-1):
#     """The weights of a head that looks one word back, by a softmax, (7, 7)."""
#     scores = encoding @ (-alpha * np.array([1.0, -2.0 * offset]))   # (7, 7, 2) @ (2,) -> (7, 7)
#     return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
#
# def at_alpha(alpha):
#     return heatmap(soft_head(alpha), rows=words, columns=words, title=f"one word back, alpha = {alpha}")
#
# explore(at_alpha, alpha=(0, 0.1, 0.3, 1, 3, 10))

# %% [markdown]
# **What to notice.** At $\alpha = 0$ the head looks at everything evenly, at $\alpha = 0.1$ it takes a bit from everywhere, at $\alpha = 10$ it is a tap, except for
# about 0.0001. In between lies something a convolution does not have: a tap with a soft edge, whose place and width can be
# *learnt*.
#
# Look at the first row. *Keys* has no word before it, but a softmax must put its weight somewhere, so it goes to the
# nearest word there is. That is not what a convolution does. The way out is to put words of zeros around the sentence:
# then the weight falls on a zero. A row of zeros, as `offset_attention` gives it, comes to the same.

# %% [markdown]
# ## 2. `convolution_heads`
#
# *About 20 minutes · medium*
#
# Now the numbers. Give each tap a head of its own. Head $j$ attends to the offset $o_j$, so it finds $x_{i + o_j}$, and
# this has to be multiplied by the tap's matrix $K_j$ on its way to the output. A head has two matrices on that way: its
# own $W_V^{(j)}$, of shape $(d_{in}, d_v)$, and its own rows of $W_O$, of shape $(d_v, d_{out})$. So the heads make the
# convolution where
#
# $$W_V^{(j)}\, W_O^{(j)} = K_j \qquad \text{for every tap } j.$$
#
# **You choose** $d_v$ and how to share the work between the two. There are many right ways, and every one counts: put all
# of $K_j$ into one of them and let the other pass on what it gets, or share in any other way. Only the product matters. But
# for most kernels $d_v$ must be at least the smaller of $d_{in}$ and $d_{out}$: the *rank* of the product, the number of directions that it can fill, is at most $d_v$.
# The heads may come in any order, if `offsets` has the same order.

# %% [markdown]
# **By hand:** the filter $(-1, 0, 1)$ on a signal of width 1 is a kernel of shape `(3, 1, 1)`. With $d_v = 1$:
#
# | head | offset | $W_V$ | its row of $W_O$ | product |
# | --- | --- | --- | --- | --- |
# | 0 | -1 | $(-1)$ | $(1)$ | $-1$ |
# | 1 | 0 | $(0)$ | $(1)$ | $0$ |
# | 2 | 1 | $(1)$ | $(1)$ | $1$ |
#
# $W_V$ keeps one matrix per head, $(k, d_{in}, d_v)$, as in `per_head_weights` of assignment 3. The rows of $W_O$ stand below
# each other, $(k \cdot d_v, d_{out})$: those of head 0 first, as in `output_projection`.

# %% nbgrader={"grade": false, "grade_id": "convolution_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def convolution_heads(kernel):
    """The heads that make a convolution: one for each tap of the kernel.

    kernel: (k, d_in, d_out); tap j listens at the offset j - (k - 1) // 2. For k = 3 that
        is -1, 0, 1; for k = 4 it is -1, 0, 1, 2.

    Returns the tuple (offsets, W_V, W_O), with a d_v of your choice, the matrices in the
    dtype of kernel:
        offsets: a list (or integer array) of k ints, where each head looks
        W_V: each head's own values, (k, d_in, d_v)
        W_O: (k * d_v, d_out), head 0's rows first; head j's matrix in W_V times its rows of
            W_O is its tap
    The kernel stays as it is.
    """
    ### BEGIN SOLUTION
    k, d_in, d_out = kernel.shape
    offsets = [j - (k - 1) // 2 for j in range(k)]
    W_V = kernel.copy()                                   # (k, d_in, d_out): the values do all the work
    W_O = np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1))  # (k * d_out, d_out): and W_O only adds up
    return offsets, W_V, W_O
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-convolution_heads", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("convolution_heads")

# %% [markdown]
# **What to notice.** Each head's product is its tap, whatever your choice of $d_v$:

# %% tags=["active-ipynb"]
# random = np.random.default_rng(0)
# taps = random.normal(size=(3, 4, 2))                     # three taps, from width 4 to width 2
# offsets, W_V, W_O = convolution_heads(taps)
# d_v = W_V.shape[-1]
# print("kernel", taps.shape, "   W_V", W_V.shape, "   W_O", W_O.shape, "   d_v =", d_v)
# for j, offset in enumerate(offsets):
#     product = W_V[j] @ W_O[j * d_v : (j + 1) * d_v]      # (d_in, d_v) @ (d_v, d_out)
#     apart = np.abs(product - taps[offset + 1]).max()      # its tap is the one that listens at its offset
#     print(f"head {j} at offset {offset:2d}: largest difference from its tap {apart:.0e}")

# %% [markdown]
# ## 3. `convolution_by_attention`
#
# *About 15 minutes · medium*
#
# The whole layer:
#
# 1. for each head the weights of its offset, $(L, L)$, from `offset_attention`,
# 2. times the values $X W_V^{(j)}$: what the head finds, $(L, d_v)$,
# 3. all heads, concatenated, times $W_O$: `output_projection` does that.
#
# Nothing else: no scores and no softmax, because these heads know where to look. As everywhere in this course, an attention
# function returns `(output, weights)`: here the weights of all heads, $(k, L, L)$. They show that heads do the work.
#
# You may call `offset_attention`, `convolution_heads` and `output_projection`. If one of them still has a mistake, this
# exercise is judged with right ones in their place. Please build the convolution from heads: a ready-made one of PyTorch, NumPy or
# SciPy earns nothing inside this exercise. And mind the dtype: `offset_attention` gives float64, and a float32 times a float64
# is a float64.
#
# The check also draws a sentence, with the taps 0.2, 0.5 and 0.3. Where *Keys* is heard there, half as much of *Sarah* is heard, too.

# %% nbgrader={"grade": false, "grade_id": "convolution_by_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def convolution_by_attention(X, kernel):
    """A 1-D convolution, computed by multi-head attention with one head for each tap.

    X: (L, d_in)
    kernel: (k, d_in, d_out), not flipped; tap j listens at the offset j - (k - 1) // 2. k
        may be even, and larger than L.

    Returns the tuple (output, weights):
        output: (L, d_out) in the dtype of X: row i is the sum over the taps j of
            X[i + offset] @ kernel[j]; rows outside X count as zero
        weights: the heads' weights, (k, L, L), one head for each tap, in the order of your
            offsets
    X and kernel stay as they are.
    """
    ### BEGIN SOLUTION
    offsets, W_V, W_O = convolution_heads(kernel)
    L = len(X)
    weights = np.stack([offset_attention(L, offset) for offset in offsets]).astype(X.dtype)  # (k, L, L)
    heads = weights @ (X @ W_V)                           # (k, L, L) @ (k, L, d_v) -> (k, L, d_v)
    return output_projection(heads, W_O), weights         # (L, d_out), (k, L, L)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-convolution_by_attention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("convolution_by_attention")

# %% [markdown]
# ### See it: a signal
#
# The two filters by hand, on a longer signal, with your heads. **Predict first:** what will become of the single 2, by each of the two?

# %% tags=["active-ipynb"]
# signal = np.array([0, 0, 4, 4, 4, 0, 0, 0, 2, 0, 0, 0], dtype=float)
# smooth = np.array([0.25, 0.5, 0.25]).reshape(3, 1, 1)
# edges = np.array([-1.0, 0.0, 1.0]).reshape(3, 1, 1)
#
# smoothed, weights = convolution_by_attention(signal[:, None], smooth)    # (12, 1) -> (12, 1), (3, 12, 12)
# heatmap(np.stack([signal, smoothed[:, 0]]), rows=["signal", "smooth"], title="smoothed by (1/4, 1/2, 1/4)")

# %% tags=["active-ipynb"]
# found, weights = convolution_by_attention(signal[:, None], edges)
# heatmap(np.stack([signal, found[:, 0]]), rows=["signal", "edges"], title="its edges, by (-1, 0, 1)")

# %% [markdown]
# **What to notice.** Smoothed, the single 2 becomes a low hill of three places, 0.5, 1, 0.5. Its edges are 2 one place before it and -2 one place
# after it, and nothing on the 2 itself: there, what comes before and what comes after are the same.

# %% [markdown]
# ### See it: a sentence
#
# Let each word be a one-hot row, so that the output says who has been heard. Three taps, $\tfrac14, \tfrac12, \tfrac14$:

# %% tags=["active-ipynb"]
# mixing = np.array([0.25, 0.5, 0.25]).reshape(3, 1, 1) * np.eye(7)  # (3, 7, 7): a tap passes on a whole word
# band, weights = convolution_by_attention(np.eye(7), mixing)        # (7, 7), (3, 7, 7)
# heatmap(band, rows=words, columns=words, title="every word hears its neighbours, always alike")

# %% [markdown]
# **What to notice.** The same numbers along the diagonal in every row, one step further right each time. That is the mark
# of a convolution, and the next exercise turns it into a test.

# %% [markdown]
# ### Check yourself against PyTorch
#
# `torch.nn.functional.conv1d` wants channels before places, `(d_in, L)`, and its kernel as `(d_out, d_in, k)`. Both are
# only transposed. We pad by hand, so that an even number of taps is plain to see: on the left `(k - 1) // 2` zeros, on
# the right `k // 2`.

# %% tags=["active-ipynb"]
# import torch
# import torch.nn.functional as F
#
# random = np.random.default_rng(1)
# X = random.normal(size=(10, 4))                                      # ten places, width 4
# for k in (1, 2, 3, 4, 5, 13):
#     kernel = random.normal(size=(k, 4, 3))                           # from width 4 to width 3
#     padded = F.pad(torch.from_numpy(X.T), ((k - 1) // 2, k // 2))    # (d_in, L + k - 1)
#     theirs = F.conv1d(padded, torch.from_numpy(kernel.transpose(2, 1, 0).copy()))
#     mine, _ = convolution_by_attention(X, kernel)
#     print(f"{k:2d} taps, {k:2d} heads: largest difference {np.abs(mine - theirs.numpy().T).max():.0e}")

# %% [markdown]
# **What to notice.** The two agree but for rounding. Whatever this convolution can do, attention can, with as
# many heads as taps.

# %% [markdown]
# ### See it: an image
#
# The paper is about images, and there it is no different. The pixels of an image, row after row, are words of width 1. A filter of 3 by 3 has nine
# taps, so it needs nine heads: one looks a row up and a column to the left, the next a row up, and so on. The weights of such a head are made from two
# of yours: `np.kron` puts the offset between *columns* inside the offset between *rows*.
#
# **Predict first:** a filter takes the pixel to the right minus the pixel to the left. Which lines of the heart will it find? And one that takes the pixel
# below minus the one above?

# %% tags=["active-ipynb"]
# heart = ["............", "..##....##..", ".####..####.", ".##########.", ".##########.", ".##########.",
#          "..########..", "...######...", "....####....", ".....##.....", "............"]
# small = np.array([[float(pixel == "#") for pixel in row] for row in heart])   # (11, 12)
# image = np.kron(small, np.ones((2, 2)))                                       # (22, 24)
#
# def image_by_attention(image, kernel):
#     """A convolution of an image, (H, W), with a kernel of 3 by 3, by nine heads."""
#     H, W = image.shape
#     pixels, output = image.reshape(H * W, 1), 0                               # (H * W, 1)
#     for down in (-1, 0, 1):
#         for right in (-1, 0, 1):
#             weights = np.kron(offset_attention(H, down), offset_attention(W, right))
#             output = output + weights @ pixels * kernel[down + 1, right + 1]  # (H * W, H * W) @ (H * W, 1)
#     return output.reshape(H, W)
#
# left_and_right = np.array([[0.0, 0, 0], [-1, 0, 1], [0, 0, 0]])
# filters = {"blur": np.full((3, 3), 1 / 9), "right - left": left_and_right, "below - above": left_and_right.T}
#
# def filtered(name):
#     shown = np.stack([image, image_by_attention(image, filters[name])])
#     return heatmap(shown, names=["image", name], title="an image, by nine heads")
#
# explore(filtered, filter=list(filters))   # add a filter of your own

# %% [markdown]
# **What to notice.** *right - left* finds no line where the heart's border runs from left to right: there, both neighbours are the same. Blue
# is where the heart begins, orange where it ends. *below - above* finds those lines, and misses the upright ones.

# %% [markdown]
# ### What a head can do and a tap cannot
#
# The other way round it does not hold. In *Keys on the table belong to Sarah*, what belongs to Sarah? The *keys*, four words
# before *belong*. A tap at offset -4 finds them. So does a head that looks for a *thing that can be owned*. Now add two
# words. **Predict first:** where does each of the two look then?

# %% tags=["active-ipynb"]
# def look_for_things(words):
#     """The weights of a head that looks by content, wherever it stands: queries ask, keys answer."""
#     #                  can be owned, is a place
#     keys = {"Keys": [4.0, 0.0], "table": [1.0, 4.0]}                    # what a word can be found by
#     queries = {"belong": [1.0, 0.0], "on": [0.0, 1.0]}                  # what a word asks for
#     K = np.array([keys.get(word, [0.0, 0.0]) for word in words])        # (L, 2)
#     Q = np.array([queries.get(word, [0.0, 0.0]) for word in words])     # (L, 2): other words ask nothing
#     scores = Q @ K.T                                                    # (L, L)
#     return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
#
# for text in ("Keys on the table belong to Sarah", "Keys on the old wooden table belong to Sarah"):
#     split = text.split()
#     belong = split.index("belong")
#     tap, head = offset_attention(len(split), -4)[belong], look_for_things(split)[belong]
#     print(text)
#     print(f"    belong, by a tap at -4: {split[tap.argmax()]:6s} by content: {split[head.argmax()]}")
#
# split = "Keys on the old wooden table belong to Sarah".split()
# both = np.stack([offset_attention(9, -4)[6], look_for_things(split)[6]])
# heatmap(both, rows=["tap at -4", "head by content"], columns=split, title="where does belong look?")

# %% [markdown]
# **What to notice.** The tap counts words and lands on *the*. The head follows what the words mean. Filters in a *CNN*, a network made of convolutions, and
# heads in a transformer each pick up their own kind of pattern. But a filter's pattern is tied to fixed places, and a
# head can choose another place in each sentence. Trained image transformers have both kinds: heads that sit on
# fixed offsets, and heads that look at content (the paper, section 4).

# %% [markdown]
# ## 4. `translation_test`
#
# *About 20 minutes · hard*
#
# A convolution does the same thing everywhere. Move its input by some places, and the output is the same, moved by as
# many. This is called **translation equivariance**:
#
# $$f(\text{shift}_s(X)) = \text{shift}_s(f(X)) \qquad \text{row by row:}\quad f(X')_{i + s} = f(X)_i
# \quad \text{with} \quad X'_{i + s} = X_i$$
#
# Write a function that puts this to the test, for any layer: it calls `layer(X)`, moves `X`, calls the layer again, and
# compares.
#
# - **Moving.** Row $i$ of $X$ becomes row $i + s$. A negative $s$ moves to the left. What goes out at one end comes in at the
#   other, so that a layer which looks at all rows sees the same rows as before.
# - **The borders.** Near the ends a layer with zero padding meets zeros; after moving, other rows meet them. That is no
#   fault of the layer. So rows closer than `margin` to either end are not compared: both $i$ and $i + s$ must lie between
#   `margin` and `L - 1 - margin`. For a kernel of `k` taps `margin = k // 2` is enough. At least one
#   row is always left to compare.
# - **Rounding.** Two ways to the same number may differ in the last digits. For numbers around 1, a difference below a
#   millionth is rounding, and one of a hundredth or more is a real difference. What lies between is not graded.

# %% [markdown]
# **By hand:** a layer that triples, $f(X) = 3 X$, on $X = (1, 5, 2, 7)$ and $s = 1$. $X' = (7, 1, 5, 2)$, so $f(X) = (3, 15, 6, 21)$ and
# $f(X') = (21, 3, 15, 6)$. With margin 0 we compare $f(X)_0, f(X)_1, f(X)_2 = 3, 15, 6$ with
# $f(X')_1, f(X')_2, f(X')_3 = 3, 15, 6$. The test is passed. A layer that adds each row's number,
# $f(X) = X + (0, 1, 2, 3),$ gives $(1, 6, 4)$ against $(2, 7, 5)$. It is not.

# %% nbgrader={"grade": false, "grade_id": "translation_test", "locked": false, "schema_version": 3, "solution": true, "task": false}
def translation_test(layer, X, shift, margin):
    """Does the layer do the same thing at every place? Move the input, and see whether the
    output moves along.

    layer: a function; layer(X) takes an array (L, d_in) and returns an array (L, d_out)
    X: (L, d_in)
    shift: by how many rows X is moved, an int: row i becomes row i + shift; negative: to
        the left. What goes out at one end comes in at the other.
    margin: rows closer than this to either end are not compared, an int, 0 or more; at
        least one row is left

    Returns True where the output for X at row i equals the output for the moved X at row i
    + shift, in all columns, for every i where both rows lie in margin .. L - 1 - margin;
    else False. A difference below 1e-6 is rounding, one of 0.01 or more is not. X stays as
    it is.
    """
    ### BEGIN SOLUTION
    L = len(X)
    before = layer(X)                                              # (L, d_out)
    after = layer(np.roll(X, shift, axis=0))                       # (L, d_out), shift rows further on
    i = np.arange(max(margin, margin - shift), min(L - margin, L - margin - shift))
    return bool(np.allclose(before[i], after[i + shift], rtol=1e-6, atol=1e-6))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-translation_test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("translation_test")

# %% [markdown]
# ### Who passes?
#
# Your convolution, and your multi-head attention from assignment 4, once without positions and once with a position
# added to each word, as in the original transformer. And last the soft taps from above, whose weights depend on the *distance*
# between query and key. **Predict first:** which of the four pass?

# %% tags=["active-ipynb"]
# random = np.random.default_rng(2)
# X = random.normal(size=(24, 4))                                              # 24 places, width 4
# kernel = random.normal(size=(3, 4, 4))                                       # three taps
# W_Q, W_K, W_V, W_O = random.normal(size=(4, 4, 4))                           # two heads of width two
# positions = np.sin(np.arange(24)[:, None] / np.array([1.0, 2.0, 4.0, 8.0]))  # (24, 4): a row for each place
#
# def convolution(X):
#     return convolution_by_attention(X, kernel)[0]
#
# def attention(X):
#     return multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads=2)[0]
#
# def attention_with_positions(X):
#     return attention(X + positions)
#
# def soft_taps(X):
#     distance = np.arange(24) - np.arange(24)[:, None]                        # (24, 24)
#     scores = np.stack([-2.0 * (distance - offset) ** 2 for offset in (-1, 0, 1)])
#     weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)    # (3, 24, 24): by distance only
#     return (weights @ (X @ kernel)).sum(axis=0)

# %% tags=["active-ipynb"]
# shifts = (-3, -1, 0, 1, 6)
# print("shift                           ", *(f"{shift:>5d}" for shift in shifts))
# layers = {"convolution": convolution, "attention": attention,
#           "attention with positions added": attention_with_positions, "soft taps": soft_taps}
# if not brought():
#     layers = {"convolution": convolution, "soft taps": soft_taps}
# for name, layer in layers.items():
#     print(f"{name:32s}", *(f"{translation_test(layer, X, shift, margin=5)!s:>5}" for shift in shifts))
#
# order = random.permutation(24)
# print()
# print("shuffled input, shuffled output?")
# for name in [name for name in ("convolution", "attention") if name in layers]:
#     print(f"{name:32s}", np.allclose(layers[name](X[order]), layers[name](X)[order]))

# %% [markdown]
# **What to notice.**
#
# - The convolution passes: the same taps at every place.
# - Attention *without* positions passes, too, and more than that: shuffle its words in any way, and its output is shuffled
#   alike. It does not know about places at all: the same words in another order are the same to it.
# - With positions *added* it knows places, and loses the test: the same three words mean something else at the beginning
#   than at the end. (With a shift of 0, every layer passes.)
# - Weights that depend on the *distance* know about order and pass all the same. So relative positions give attention
#   what a convolution has.
#
# Here it is on a signal with one bump, four places further on the second time. Compare the picture's rows in pairs:

# %% tags=["active-ipynb"]
# here = np.array([0, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0], dtype=float)[:, None]    # (12, 1)
# there = np.roll(here, 4, axis=0)
# one, where = np.ones((1, 1)), np.sin(np.arange(12.0) / 2)[:, None]        # a head of width one; positions
#
# def smoothing(X):
#     return convolution_by_attention(X, smooth)[0]
#
# def attending(X):
#     return multi_head_attention(X + where, one, one, one, one, num_heads=1)[0]
#
# rows, names = [smoothing(here), smoothing(there)], ["convolution", "moved by 4"]
# if "attention" in layers:
#     rows, names = [*rows, attending(here), attending(there)], [*names, "attention + positions", "moved by 4"]
# heatmap(np.stack([row[:, 0] for row in rows]), rows=names, title="does the output move along?")

# %% [markdown]
# ## 5. In your own words
#
# *About 10 minutes · medium*
#
# A classmate says: "You have just shown that attention with fixed offsets is a convolution. So a transformer is a slow
# CNN." What is right about that, and what is missing? Take *Keys on the table belong to Sarah*: what would a CNN with
# three taps need so that *Sarah* hears of *Keys*, and what would an attention layer need? And what does each of the two
# know about the order of words, when nobody adds positions? Six sentences are plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-attention-and-convolution", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# Right: with one head for each tap and weights that depend only on the offset, the two layers give the same numbers, so
# attention can do whatever a convolution does, and pays $L \times L$ weights a head for it. What is missing is that a
# head may *choose* where it looks, from what the words are: its weights change with the sentence, those of a tap never
# do. *Sarah* is six words from *Keys*: a CNN with three taps hears one word further with each layer, so it needs six
# layers (or one kernel that reaches six words to the left), while one attention layer connects any two words, however far
# apart. A convolution has order built in, because each offset has its own matrix, and treats all places alike. Attention
# without positions knows nothing of order: shuffled words give the same output, shuffled. It must be told, by positions
# added to the words, which gives up treating all places alike, or by distances in the scores, which keeps it.

# %% [markdown]
# ---
#
# **What you can do now.** You can say exactly when attention is a convolution, build one from the other, and test a layer for translation
# equivariance.

# %% tags=["active-ipynb"]
# from attention_course import grading
#
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
