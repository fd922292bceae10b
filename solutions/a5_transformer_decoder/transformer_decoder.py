# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The transformer decoder
#
# **Time:** about 140 minutes. **Difficulty:** ●●●. **Builds on:** assignments 2 and 4.
#
# **It takes two sittings.** In the first one you write the decoder, exercises 1 to 5, and at the end it speaks. In the second one it learns, reads a novel and
# writes, you leave a part of it out, and you answer exercise 6.
#
# Attention lets words look at each other. A **transformer decoder** wraps it into a whole model that reads a text and
# says, at every place, which word could come next. It is the design behind today's language models. Five parts are
# missing, and you write them here:
#
# ```text
# token ids      (B, L)
#    │  embedding, plus positional encoding      where am I?
#    ▼
#  (B, L, d_model)
#    │  decoder block    x + attention(norm(x)),  then  x + feed_forward(norm(x))
#    │  decoder block    ... num_layers of them, one after the other
#    ▼
#  (B, L, d_model)
#    │  norm, then a linear layer
#    ▼
# logits         (B, L, vocab_size)              which word comes next?
# ```
#
# 1. `positional_encoding`
# 2. `layer_norm`
# 3. `feed_forward`
# 4. `DecoderBlock`, with the `MultiHeadAttention` you bring from assignment 4
# 5. `TransformerDecoder`
# 6. a question to answer in words
#
# **How to work.** Replace `raise NotImplementedError()` in a cell with your code, run the cell, then run the check
# below it. The check uses mostly small numbers that you can follow by hand. Grading uses other numbers and sizes.
# Each part earns points on its own, so a mistake in one exercise does not cost you the next.
#
# **What also counts**, a little each time: `float32` in gives `float32` out, and `float64` gives `float64` (an array from NumPy is
# `float64` unless you say otherwise). Leave the arguments as they are. They may come by name.
#
# **What you may rely on.** Numbers are `float32` or `float64`, and finite. Every size is at least 1.
#
# **Stuck?** `hint("positional_encoding")` in any cell gives a first nudge. Ask again for a second one, and once more for an example and where to read. Nobody sees what you
# ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, explore, grading, heatmap, hint


# %% [markdown]
# ## Does attention know the order of words?
#
# *Dog bites man* and *man bites dog* have the same words and not the same meaning. Here is plain self-attention (queries, keys and values
# all come from the same words) on both, with an embedding of two numbers per word, made by hand:

# %% tags=["active-ipynb"]
# dog, bites, man = [2.0, 0.0], [1.0, 1.0], [0.0, 1.5]
#
# def attend(X):
#     scores = X @ X.T / math.sqrt(X.shape[-1])                              # (L, L)
#     weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)  # (L, L)
#     return weights @ X                                                     # (L, 2)
#
# one, other = attend(np.array([dog, bites, man])), attend(np.array([man, bites, dog]))
# print("dog, in 'dog bites man'", one[0].round(3), "   in 'man bites dog'", other[2].round(3))
# print("man, in 'dog bites man'", one[2].round(3), "   in 'man bites dog'", other[0].round(3))

# %% [markdown]
# **What to notice.** Exactly the same vectors: to attention in which all see all, a text is a *bag* of words. So a word has to
# carry its place with it. We add to each embedding a vector that depends only on the position.

# %% [markdown]
# ## 1. `positional_encoding`
#
# *About 15 minutes · medium*
#
# [Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.5, use waves of many lengths. Position $pos$ gets a row of $d_{model}$ numbers, in pairs of
# a sine and a cosine:
#
# $$PE_{pos,\,2i} = \sin\frac{pos}{10000^{2i/d_{model}}} \qquad PE_{pos,\,2i+1} = \cos\frac{pos}{10000^{2i/d_{model}}}$$
#
# So sines stand in the even columns and cosines in the odd ones, **side by side**, and the two of a pair share one wave length.
#
# **By hand**, three positions and $d_{model} = 4$. The first pair has $10000^{0/4} = 1$, so its angle is $pos$ itself; the second
# has $10000^{2/4} = 100$, so its angle is $pos / 100$.
#
# | $pos$ | $\sin pos$ | $\cos pos$ | $\sin (pos/100)$ | $\cos (pos/100)$ |
# | --- | --- | --- | --- | --- |
# | 0 | 0 | 1 | 0 | 1 |
# | 1 | 0.8415 | 0.5403 | 0.0100 | 0.99995 |
# | 2 | 0.9093 | −0.4161 | 0.0200 | 0.9998 |
#
# Where $d_{model}$ is odd, the last column is a sine without its cosine.

# %% nbgrader={"grade": false, "grade_id": "positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def positional_encoding(length, d_model):
    """Sines and cosines that tell positions apart.

    length: number of positions, an int; they are counted from 0
    d_model: width of a word's vector, an int; odd ones are fine

    Returns a float array, (length, d_model). Row pos belongs to position pos; even columns
    hold sines, odd ones cosines. Compute the angles in float64, as NumPy does by itself.
    """
    ### BEGIN SOLUTION
    position = np.arange(length)[:, np.newaxis]        # (length, 1)
    column = np.arange(d_model)                        # (d_model,)
    pair = column // 2                                 # 0, 0, 1, 1, 2, 2, ...
    angle = position / 10000 ** (2 * pair / d_model)   # (length, d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-positional_encoding", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("positional_encoding")

# %% [markdown]
# **What to notice.** Blue is above zero, orange below. Read a row: it is the name tag of one position, and no two are the same.
# Read columns from left to right: a fast wave, then slower and slower ones, like the hands of a clock that tell seconds, minutes
# and hours.

# %% tags=["active-ipynb"]
# encoding = positional_encoding(32, 32)[:, :20]   # 32 positions; the columns further right are slower still
# heatmap(encoding, title="positional encoding: row = position, column = place in the vector")

# %% [markdown]
# And a sine and a cosine of one angle make a *pair* for a reason: $\sin a \sin b + \cos a \cos b = \cos(a - b)$. So the dot product
# of two rows depends only on **how far apart** the positions are. It is largest where they are the *same* position: as they come, rows
# look at themselves. In this picture and the next, the smallest number is taken off all, so that you see the differences.

# %% tags=["active-ipynb"]
# small = positional_encoding(8, 32)
# near = small @ small.T   # (8, 8)
# heatmap(near - near.min(), title="dot products as they come: row looks at column")

# %% [markdown]
# How does a head look **one word back**, then? The pair $(\sin a, \cos a)$ is a point on a circle, and $k$ positions further on it has
# turned by a fixed angle: $PE_{pos + k}$ is $PE_{pos}$, *rotated*, by the same matrix for every $pos$. To rotate is to
# multiply by a matrix, and $W_Q$ and $W_K$ are matrices. A head that learns this rotation turns each query back by one, and finds the neighbour:

# %% tags=["active-ipynb"]
# angles = 1 / 10000 ** (np.arange(0, 32, 2) / 32)             # (16,): how far each pair turns, per position
# back = np.zeros((32, 32))                                    # W_Q of such a head; its W_K changes nothing
# for pair, angle in enumerate(angles):
#     turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
#     back[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = turn
# print("rotated by one, row 5 is row 4:", np.allclose(small[5] @ back, small[4]))
# scores = (small @ back) @ small.T   # (8, 8)
# heatmap(scores - scores.min(), title="after the rotation: row looks at column")

# %% [markdown]
# ## 2. `layer_norm`
#
# *About 10 minutes · medium*
#
# A deep model adds up many things, and so the numbers grow: one word's vector may become a hundred times as long as another's. **Layer
# normalisation** ([Ba et al. 2016](https://arxiv.org/abs/1607.06450)) brings every word's vector to mean 0 and variance 1, then lets the model choose a scale
# $\gamma$ and a shift $\beta$ for each of its numbers (its *features*):
#
# $$\operatorname{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta \qquad
# \mu = \frac{1}{d_{model}} \sum_j x_j \qquad \sigma^2 = \frac{1}{d_{model}} \sum_j (x_j - \mu)^2$$
#
# - $\mu$ and $\sigma^2$ are of **one word**: over its own features, never over other words or other texts of the batch.
# - The variance divides by $d_{model}$, not by $d_{model} - 1$.
# - $\epsilon$ stands under the root, so that a word whose features are all equal does no harm.
#
# **By hand:** $x = (1, 3, 5, 7)$. Its mean is 4. The squared distances are 9, 1, 1, 9, so $\sigma^2 = 20 / 4 = 5$, and
# $(x - 4) / \sqrt 5 = (-1.34, -0.45, 0.45, 1.34)$. With $\gamma = (2, 2, 1, 1)$ and $\beta = (0, 0, 0, 10)$ the result is
# $(-2.68, -0.89, 0.45, 11.34)$.
#
# Please write the steps yourself. `F.layer_norm` and PyTorch's other norms earn nothing inside this exercise; in other cells
# you may compare with them.

# %% nbgrader={"grade": false, "grade_id": "layer_norm", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_norm(x, gamma, beta, eps=1e-5):
    """Every vector to mean 0 and variance 1, then scaled by gamma and shifted by beta.

    x: (..., d_model); `...` is any number of axes, also none
    gamma, beta: (d_model,), in the dtype of x
    eps: a small number, added to the variance

    Returns an array of the shape and dtype of x. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    mean = x.mean(axis=-1, keepdims=True)                           # (..., 1): one for each word
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)       # (..., 1), divided by d_model
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-layer_norm", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("layer_norm")

# %% [markdown]
# **What to notice.** Four words: the one from above, the same times ten, the same plus ten, and one that goes its own way. What
# layer norm keeps of a word is the *pattern* in its row; how large it is and where its middle lies are gone.

# %% tags=["active-ipynb"]
# rows = np.array([[1.0, 3.0, 5.0, 7.0],
#                  [10.0, 30.0, 50.0, 70.0],
#                  [11.0, 13.0, 15.0, 17.0],
#                  [4.0, -4.0, 0.0, 2.0]])
# names = ["x", "10 x", "x + 10", "another"]
# normed = layer_norm(rows, np.ones(4), np.zeros(4))
# print("variance before", rows.var(axis=-1), "   after", normed.var(axis=-1).round(3))
# heatmap(np.stack([rows, normed]), rows=names, names=["before", "after layer norm"])

# %% [markdown]
# ## 3. `feed_forward`
#
# *About 5 minutes · easy*
#
# After words have looked at each other, each one works on what it has found, on its own (Vaswani et al. 2017, section 3.3):
# a layer that widens, **ReLU**, which sets what is below zero to zero, and a layer back to the width of the model.
#
# $$\operatorname{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# In the paper $d_{model} = 512$ and the layer between, $d_{ff}$, has 2048. Without the ReLU the two layers would be no more than one.
#
# **By hand:** $x = (1, 2)$ and
#
# $$W_1 = \begin{pmatrix} 1 & 0 & 2 \\ 0 & 1 & 1 \end{pmatrix} \quad b_1 = (-3, 0, 1) \quad
# W_2 = \begin{pmatrix} 1 & 1 \\ 1 & 0 \\ 0 & 1 \end{pmatrix} \quad b_2 = (0.5, -1)$$
#
# $x W_1 + b_1 = (1, 2, 4) + (-3, 0, 1) = (-2, 2, 5)$. ReLU makes it $(0, 2, 5)$. Times $W_2$ it is $(2, 5)$, and plus $b_2$
# $(2.5, 4)$.

# %% nbgrader={"grade": false, "grade_id": "feed_forward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def feed_forward(x, W_1, b_1, W_2, b_2):
    """Two layers with a ReLU between them, for each word on its own.

    x: (..., d_model); `...` is any number of axes, also none
    W_1: (d_model, d_ff), b_1: (d_ff,)
    W_2: (d_ff, d_model), b_2: (d_model,)

    Returns (..., d_model), in the dtype of the input. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    hidden = np.maximum(x @ W_1 + b_1, 0)   # (..., d_ff)
    return hidden @ W_2 + b_2               # (..., d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-feed_forward", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("feed_forward")

# %% [markdown]
# **What to notice.** Change one word, and only its own row changes: looking at other words is left to attention.

# %% tags=["active-ipynb"]
# W_1, b_1 = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]), np.array([-3.0, 0.0, 1.0])
# W_2, b_2 = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.5, -1.0])
#
# text = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5]])   # three words
# changed = text.copy()
# changed[1] = [9.0, 9.0]
# before, after = feed_forward(text, W_1, b_1, W_2, b_2), feed_forward(changed, W_1, b_1, W_2, b_2)
# heatmap(after - before, rows=["word 0", "word 1", "word 2"], title="what moves when word 1 changes")

# %% [markdown]
# ## Bring your `MultiHeadAttention`
#
# *About 5 minutes · easy*
#
# The rest is PyTorch. The block below uses the class that you wrote in assignment 4. Copy it from there into this cell.
# Nothing is graded here. If yours has a mistake, or you leave this cell as it is, grading judges the next exercises with a right
# one in its place. Head $i$ owns the columns $i \cdot d$ to $(i + 1) \cdot d$ of $x W_Q$, $x W_K$ and $x W_V$, as there.

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F


# %% nbgrader={"grade": false, "grade_id": "bring-MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Multi-head self-attention with its own W_Q, W_K, W_V and W_O, from assignment 4.

    forward(x, mask=None) takes x (..., L, d_model) and a bool mask that broadcasts to (...,
    h, L, L), True where a query may attend, and returns the tuple (output, weights).
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


# %% tags=["active-ipynb"]
# def brought():
#     """Is there a MultiHeadAttention in the cell above? The pictures below need one; the checks do not."""
#     try:
#         MultiHeadAttention(4, 2)(torch.zeros(1, 1, 4))
#     except NotImplementedError:
#         print("Nothing to see yet: bring your MultiHeadAttention first. The checks do without.")
#         return False
#     return True

# %% [markdown]
# ## 4. `DecoderBlock`
#
# *About 30 minutes · hard*
#
# A block has two **branches**: attention, where words look at each other, and feed-forward, where each works on its own. Neither
# replaces a word's vector. Each *adds* to it:
#
# $$x \;\leftarrow\; x + \operatorname{Attention}(\operatorname{LayerNorm}_1(x)) \qquad\qquad
# x \;\leftarrow\; x + \operatorname{FFN}(\operatorname{LayerNorm}_2(x))$$
#
# The way past the branch, the plain $x$ in front of the plus, is the **residual connection**. It carries a word through any number
# of blocks, and gradients back. What flows along it, the sum of the embedding and of all that branches have added, is called the
# **residual stream**.
#
# (In the paper of 2017 the norm stands elsewhere. After the exercise you will see why.)
#
# You write it in two steps: first only `forward`, with parts that are given, and then the exercise, the whole module with its mask.

# %% [markdown]
# **By hand**, two words of width 2, $(3, 1)$ and $(0, 2)$. Both norms have $\gamma = 1$ and $\beta = 0$. $W_Q$ and $W_K$ are all zeros, so a
# word looks evenly at all it may see; $W_V$ and $W_O$ are the identity. In the feed-forward network the first layer is the identity, the
# second multiplies by 10, and there is no bias.
#
# | | first word | second word |
# | --- | --- | --- |
# | $x$ | $(3, 1)$ | $(0, 2)$ |
# | $\operatorname{LayerNorm}_1$, to mean 0 and variance 1 | $(1, -1)$ | $(-1, 1)$ |
# | attention: itself; half and half | $(1, -1)$ | $(0, 0)$ |
# | $x$ + attention | $(4, 0)$ | $(0, 2)$ |
# | $\operatorname{LayerNorm}_2$ | $(1, -1)$ | $(-1, 1)$ |
# | feed-forward: below zero to zero, times 10 | $(10, 0)$ | $(0, 10)$ |
# | $x$ + attention + feed-forward | $(14, 0)$ | $(0, 12)$ |

# %% [markdown]
# **First step: only `forward`.** Here a block gets its four parts from outside, and its mask as well. Write what the table does, from its first row
# to its last: two sums, of which the second builds on the first. `self.attention(..., mask)` returns the tuple (output, weights), as
# your `MultiHeadAttention` does. This step is not graded. The cell below it checks it.

# %% tags=["active-ipynb"]
# class GivenParts(nn.Module):
#     """A block that is made of given parts."""
#
#     def __init__(self, norm_1, attention, norm_2, feed_forward):
#         super().__init__()
#         self.norm_1, self.attention = norm_1, attention
#         self.norm_2, self.feed_forward = norm_2, feed_forward
#
#     def forward(self, x, mask):
#         """x: (B, L, d_model), mask: (L, L). Returns (B, L, d_model)."""
#         raise NotImplementedError()   # your lines

# %% tags=["active-ipynb"]
# def even(x, mask):
#     """Attention in which a word looks evenly at all it may see."""
#     weights = mask / mask.sum(dim=-1, keepdim=True)   # (L, L)
#     return weights @ x, weights
#
# def first_step(words, wanted, question):
#     """Compare what the parts of the example make of the words with what is wanted."""
#     block = GivenParts(nn.LayerNorm(2), even, nn.LayerNorm(2), lambda x: 10 * x.relu())
#     mask = torch.ones(len(words), len(words), dtype=torch.bool).tril()
#     with torch.no_grad():
#         found = block(torch.tensor([words]), mask)[0]
#     right = found.shape == (len(words), 2) and torch.allclose(found, torch.tensor(wanted), atol=0.01)
#     numbers = [[round(number, 2) for number in word] for word in found.tolist()]
#     print("Right:" if right else "Not yet:", numbers)
#     if not right:
#         print("Wanted:", wanted, question)
#
# try:
#     first_step([[3.0, 1.0], [0.0, 2.0]], [[14.0, 0.0], [0.0, 12.0]],
#                "What goes into each branch, and what is it added to?")
#     first_step([[3.0, 1.0], [2.0, 0.0], [0.0, 0.5]], [[14.0, 0.0], [13.0, -1.0], [10.33, 0.17]],
#                "What does norm_2 get: the word as it came in, or the first sum?")
# except NotImplementedError:
#     print("Not written yet. It takes three lines.")

# %% [markdown]
# **Second step: the whole block.** Now the block makes its own parts and its own mask. A word may look at itself and at what came before: causal, as in assignment 2. On top of
# that comes `padding`, a mask $(B, 1, L)$ that is `True` on real words, as your `padding_mask` makes it: no word may look at padding. Padding
# hides only keys: a padded place itself looks at the real words before it, as any other place does.
# Scores are $(B, h, L, L)$, and what you hand to the attention must broadcast to that.

# %% [markdown]
# **By hand**, a text of three words with one `<pad>` at its *beginning*. Some programs pad there, so that all texts of a batch end at the same place:
#
# | may look at → | `<pad>` | Sarah | left | keys |
# | --- | --- | --- | --- | --- |
# | `<pad>` | no | no | no | no |
# | Sarah | no | yes | no | no |
# | left | no | yes | yes | no |
# | keys | no | yes | yes | yes |
#
# The first row may look at nothing. Its attention is 0, and the residual carries it on.

# %% [markdown]
# **The members have these names**, so that weights can be copied by name: `norm_1`, `attention`, `norm_2`, `feed_forward`. The last is
# an `nn.Sequential` of `nn.Linear`, `nn.ReLU`, `nn.Linear`. PyTorch's `nn.LayerNorm` does what your `layer_norm` does; its `weight` is
# $\gamma$ and its `bias` $\beta$.
#
# Please write it yourself: PyTorch's own attention earns nothing here. In other cells you may compare with it.

# %% nbgrader={"grade": false, "grade_id": "DecoderBlock", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderBlock(nn.Module):
    """One pre-norm block: causal multi-head attention, then the feed-forward network.

    d_model: width of a word's vector
    num_heads: heads of the attention, at least 1
    d_ff: width between the two layers of the feed-forward network

    Members: norm_1 and norm_2, each nn.LayerNorm(d_model); attention,
    MultiHeadAttention(d_model, num_heads); feed_forward, an nn.Sequential of
    nn.Linear(d_model, d_ff), nn.ReLU() and nn.Linear(d_ff, d_model). The norms keep the
    eps of nn.LayerNorm. There is no dropout: in train() it gives what it gives in eval().
    """

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        ### END SOLUTION

    def forward(self, x, padding=None):
        """One round of looking and working.

        x: (B, L, d_model)
        padding: bool, (B, 1, L), True on real words; None: all words are real

        Returns (B, L, d_model). Place i sees those of the places 0 to i that are no padding;
        that holds for a padded place, too. One that sees nothing gets 0 from the attention,
        never NaN. The dtype is that of the parameters (a float64 block gives float64), and what
        comes in stays as it is.
        """
        ### BEGIN SOLUTION
        L = x.shape[-2]
        mask = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()   # (L, L): query i, keys 0 to i
        if padding is not None:
            mask = mask & padding.unsqueeze(-3)                             # (B, 1, L, L)
        attended, _ = self.attention(self.norm_1(x), mask)                  # (B, L, d_model)
        x = x + attended
        return x + self.feed_forward(self.norm_2(x))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-DecoderBlock", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("DecoderBlock")

# %% [markdown]
# **Check yourself against PyTorch.** It has a layer for encoders, which see everything; under a causal mask, and with the norm
# first, it is your block. With copied weights the two should agree to about six digits:

# %% tags=["active-ipynb"]
# if brought():
#     torch.manual_seed(0)
#     mine = DecoderBlock(64, 4, 256)
#     theirs = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
#     with torch.no_grad():
#         W = mine.attention
#         theirs.self_attn.in_proj_weight.copy_(torch.cat([W.W_Q.weight, W.W_K.weight, W.W_V.weight]))
#         theirs.self_attn.out_proj.weight.copy_(W.W_O.weight)
#         theirs.self_attn.out_proj.bias.zero_()                 # in_proj_bias starts at zero
#         theirs.linear1.load_state_dict(mine.feed_forward[0].state_dict())
#         theirs.linear2.load_state_dict(mine.feed_forward[2].state_dict())
#
#     x = torch.randn(2, 10, 64)                                 # (B, L, d_model)
#     hidden = torch.ones(10, 10, dtype=torch.bool).triu(1)      # theirs is True where a query may NOT attend
#     print(f"largest difference: {(mine(x) - theirs(x, src_mask=hidden)).abs().max().item():.7f}")

# %% [markdown]
# **What to notice.** Who depends on whom? Nudge one word, and see how far each output moves. With one block or with six, the upper
# right stays empty: no word hears from a later one.

# %% tags=["active-ipynb"]
# if brought():
#     torch.manual_seed(1)
#     stack = nn.Sequential(*(DecoderBlock(16, 2, 32) for _ in range(6)))
#
#     words = ["Sarah", "left", "the", "keys", "in"]
#     x = torch.randn(1, 5, 16)
#     nudged = x.repeat(5, 1, 1)                  # five copies of the text: in copy j, word j is nudged
#     nudged[range(5), range(5)] += torch.randn(5, 16)
#     with torch.no_grad():
#         moved = (stack(nudged) - stack(x)).norm(dim=-1).T    # (5, 5): how far output i moves with word j
#     title = "row: output, column: the word that was nudged"
#     display(heatmap(moved / moved.max(), rows=words, columns=words, title=title))

# %% [markdown]
# **Where the norm stands.** The original transformer normalises the sum, $\operatorname{LayerNorm}(x + \operatorname{branch}(x))$
# (Vaswani et al. 2017, section 3.1): *post-norm*. Here it stands in front of the branch: *pre-norm*, as in most models since GPT-2. The
# reason in one sentence: with the way past the branches free of norms, gradients are of a healthy size from the first step on, so
# training can do without a *warm-up*, a learning rate that rises slowly at first ([Xiong et al. 2020](https://arxiv.org/abs/2002.04745)). Many people warm up all the same,
# and so will you in the second sitting: it does no harm.

# %% [markdown]
# ## 5. `TransformerDecoder`
#
# *About 25 minutes · hard*
#
# Now the whole model. Token ids, $(B, L)$ whole numbers, go in; **logits**, $(B, L, vocab\_size)$, come out: for each place one score
# for every word that could come next.
#
# 1. **Embedding.** `nn.Embedding` looks up a vector for each id. Multiply it by $\sqrt{d_{model}}$ (section 3.4 of the paper). Every id can be a word
#    here, so leave out `padding_idx`, which would keep one id at zero.
# 2. **Positions.** Add the first $L$ rows of your `positional_encoding(max_length, d_model)`. They are fixed: no parameter, nothing to
#    train. `self.register_buffer("positions", tensor)` keeps a tensor with the module without making it a parameter. It should be
#    `float32` like everything else in the model; NumPy gave you `float64`.
# 3. **Blocks.** `num_layers` of them, each with weights of its own, one after the other. Each gets `padding`. Keep them in an
#    `nn.ModuleList`: a plain Python list hides their parameters from PyTorch.
# 4. **Norm.** In a pre-norm model nothing has normalised the sum that the last block passes on, so one more `nn.LayerNorm` comes here
#    (Xiong et al. 2020).
# 5. **Output.** An `nn.Linear` from `d_model` to `vocab_size`, with its bias.
#
# No softmax at the end: `F.cross_entropy` expects logits and does its own, and the largest logit is the likeliest word either way.
#
# **The members have these names:** `embedding`, `blocks`, `norm`, `output`.

# %% [markdown]
# **By hand**, $d_{model} = 4$ and a block that adds nothing. Token 2 stands first:
#
# | step | the vector |
# | --- | --- |
# | the embedding of token 2 | $(0, 0, 1, 1)$ |
# | times $\sqrt 4$ | $(0, 0, 2, 2)$ |
# | plus position 0, which is $(0, 1, 0, 1)$ | $(0, 1, 2, 3)$ |
# | the last norm | $(-1.34, -0.45, 0.45, 1.34)$ |
# | output: rows $(1, 0, 0, 0)$, $(0, 0, 0, 1)$, $(1, 1, 1, 1)$, bias $(0, 0, 0.5)$ | $(-1.34, 1.34, 0.5)$ |

# %% [markdown]
# **How the weights start out** is not graded. `nn.Embedding` starts with random numbers, positive and negative, of size 1 or so, which is large once multiplied by
# $\sqrt{d_{model}}$. With `nn.init.normal_(self.embedding.weight, std=d_model ** -0.5)` it starts about as large as the positions, so that
# it does not drown them.
#
# You may call `DecoderBlock` and `positional_encoding` from above. If one of them has a mistake, grading judges this exercise with a
# right one in its place.
#
# Please write it yourself: PyTorch's own attention earns nothing here. In other cells you may compare with it.

# %% nbgrader={"grade": false, "grade_id": "TransformerDecoder", "locked": false, "schema_version": 3, "solution": true, "task": false}
class TransformerDecoder(nn.Module):
    """Token ids in, logits for the next token out.

    vocab_size: how many different tokens there are
    d_model, num_heads, d_ff: as for DecoderBlock
    num_layers: how many blocks
    max_length: the longest text, in tokens

    Members: embedding, nn.Embedding(vocab_size, d_model); blocks, an nn.ModuleList of
    DecoderBlock; norm, nn.LayerNorm(d_model); output, nn.Linear(d_model, vocab_size).
    Positions are no parameters. There is no dropout: in train() it gives what it gives in
    eval().
    """

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        ### BEGIN SOLUTION
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)           # scaled, as large as positions
        positions = torch.from_numpy(positional_encoding(max_length, d_model)).float()
        self.register_buffer("positions", positions)                        # (max_length, d_model)
        self.blocks = nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        ### END SOLUTION

    def forward(self, token_ids, padding=None):
        """The logits at every place.

        token_ids: whole numbers from 0 to vocab_size - 1, (B, L), with L at most max_length
        padding: bool, (B, 1, L), True on real tokens; None: all tokens are real

        Returns logits, (B, L, vocab_size), in the dtype of the parameters: those at place i say
        what may follow tokens 0 to i. A padded place gets logits like any other. What comes in
        stays as it is.
        """
        ### BEGIN SOLUTION
        L = token_ids.shape[-1]
        x = self.embedding(token_ids) * math.sqrt(self.d_model)             # (B, L, d_model)
        x = x + self.positions[:L]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))                                    # (B, L, vocab_size)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-TransformerDecoder", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("TransformerDecoder")

# %% [markdown]
# **Count by hand** what there is to learn (the decoder's *parameters*), for a vocabulary of 11, $d_{model} = 8$, $d_{ff} = 16$, one block:
#
# | part | numbers |
# | --- | --- |
# | embedding | $11 \cdot 8 = 88$ |
# | attention, four matrices without bias | $4 \cdot 8 \cdot 8 = 256$ |
# | feed-forward | $8 \cdot 16 + 16 + 16 \cdot 8 + 8 = 280$ |
# | three norms, $\gamma$ and $\beta$ each | $3 \cdot 16 = 48$ |
# | output | $8 \cdot 11 + 11 = 99$ |
# | together | 771 |

# %% tags=["active-ipynb"]
# if brought():
#     tiny = TransformerDecoder(vocab_size=11, d_model=8, num_heads=2, d_ff=16, num_layers=1, max_length=4)
#     print("yours has", sum(p.numel() for p in tiny.parameters()), "numbers to learn")

# %% [markdown]
# ### It speaks
#
# You have written a language model. It has learned nothing yet, so its numbers are random, and what it writes is noise. But the course has numbers that fit: a decoder of this size
# was trained on *Pride and Prejudice* (1813), and its members have the names that yours have. Load them into your code, and let it write. (*Tokens* are words or
# pieces of words. You will make them in the second sitting.)

# %% tags=["active-ipynb"]
# import textwrap
#
# from attention_course import novel, trained_decoder
#
# tokenizer = trained_decoder.tokenizer()
#
#
# def speak(model, beginning, length=50, seed=0):
#     """The beginning, and `length` tokens that the model draws after it, one by one."""
#     generator, ids = torch.Generator().manual_seed(seed), tokenizer.encode(beginning)
#     with torch.no_grad():
#         for _ in range(length):
#             logits = model(torch.tensor([ids[-64:]]))[0, -1]               # (vocab_size,)
#             ids.append(int(torch.multinomial(novel.likely(logits, 0.8), 1, generator=generator)))
#     return lines_of(tokenizer.decode(ids))
#
#
# def lines_of(text):
#     """The text with lines no longer than a cell is wide."""
#     return "\n".join(textwrap.fill(line, 100) for line in text.splitlines())
#
#
# if brought() and not grading:
#     torch.manual_seed(0)
#     own = TransformerDecoder(**trained_decoder.SIZES)
#     print("random numbers:", speak(own, "Elizabeth"), "", sep="\n")
#     numbers = trained_decoder.weights()
#     learned = {name: torch.tensor(numbers[name]) for name, _ in own.named_parameters()}
#     own.load_state_dict(learned, strict=False)
#     print("learned numbers:", speak(own, "Elizabeth"), sep="\n")

# %% [markdown]
# **What to notice.** The same code, line for line. Only the numbers differ. Change the beginning and the seed, and let it talk; then take a break.
# Where such numbers come from is the second sitting.

# %% [markdown]
# ## Second sitting: does it learn?
#
# *About 10 minutes · easy*
#
# A task for a tiny model: at every place, say the word **before** this one. The words are drawn at random, so there is nothing to
# guess from, and no way but to look one place back. The *loss* is $-\ln$ of the probability that the model gives to the right word,
# on average: 0 when it is sure and right, $\ln 12$ when all twelve words seem equally likely. Your model knows where each word stands; can it use that? (This takes
# a few seconds, and is left out while your work is graded.)

# %% tags=["active-ipynb"]
# def learn(model, steps):
#     """Train on random words, and print the loss and how many words are said right."""
#     torch.set_num_threads(1)   # in a model this small, two cores would mostly wait for each other
#     optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
#     for step in range(steps + 1):
#         token_ids = torch.randint(vocab, (64, L))
#         logits, wanted = model(token_ids)[:, 1:], token_ids[:, :-1]    # (64, L - 1, vocab), (64, L - 1)
#         loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
#         if step % (steps // 3) == 0:
#             right = (logits.argmax(-1) == wanted).float().mean().item()
#             print(f"step {step:3d}   loss {loss.item():.3f}   right {right:.0%}")
#
# if brought():
#     torch.manual_seed(0)
#     vocab, L = 12, 8
#     model = TransformerDecoder(vocab, d_model=32, num_heads=2, d_ff=64, num_layers=2, max_length=L)
#     print("numbers to learn:", sum(p.numel() for p in model.parameters()))
#     if not grading:
#         learn(model, steps=150)

# %% [markdown]
# **What to notice.** The loss starts near $\ln 12 = 2.48$ or above, which is guessing, and falls towards 0. Here is what a
# head does now; row looks at column. Move the slider through all four, and look for a line just below the diagonal: a head that looks one word back. The words tell it
# nothing about places, so it must know them from elsewhere: from the positional encoding, and perhaps from something else. See the next
# training.

# %% tags=["active-ipynb"]
# if brought():
#     token_ids = torch.randint(vocab, (1, L))
#     mask = torch.ones(L, L, dtype=torch.bool).tril()
#     looks = []
#     with torch.no_grad():
#         x = model.embedding(token_ids) * math.sqrt(32) + torch.from_numpy(positional_encoding(L, 32)).float()
#         for block in model.blocks:
#             looks.append(block.attention(block.norm_1(x), mask)[1][0])         # (h, L, L)
#             x = block(x)
#     heads = {f"{b}, {h}": heatmap(looks[b][h], title=f"who looks at whom: block {b}, head {h}")
#              for b in range(2) for h in range(2)}
#     display(explore(heads.get, head=list(heads)))

# %% [markdown]
# ### And without positions?
#
# The same model once more, with all name tags wiped: every place gets the same row of zeros. If attention saw a bag of words, it could do
# no better than guess among the words it has seen. What do you expect? Train it four times as long, and see:

# %% tags=["active-ipynb"]
# if brought() and not grading:
#     torch.manual_seed(0)
#     without = TransformerDecoder(vocab, d_model=32, num_heads=2, d_ff=64, num_layers=2, max_length=L)
#     for buffer in without.buffers():   # the positions, if you keep them with `register_buffer`
#         buffer.zero_()
#     learn(without, steps=600)

# %% [markdown]
# **What to notice.** It is slower, and it gets there: nearly all words are right in the end. That is the causal mask's doing. The
# first word sees one word, the second two, the third three. So a head that blends all it sees gives a word's own share as $1$,
# $\tfrac12$, $\tfrac13$, ... The place can be read off from how much is blended, and the second block uses what the first has found.
#
# Attention in which *all see all* could never learn this. And positions are still worth having. They say at once what is otherwise found by a
# detour, and the longer the text, the less $\tfrac1{n}$ differs from $\tfrac1{n+1}$.

# %% [markdown]
# ## Your decoder reads a novel
#
# *About 15 minutes · easy*
#
# Random words show that it learns. Now for real ones: *Pride and Prejudice* by Jane Austen (1813) is in the public domain and comes
# with the course. The last tenth is **held out**: your decoder never trains on it, so its loss there says what it has learnt about the
# language, and not by heart.

# %% tags=["active-ipynb"]
# from attention_course import novel
#
# text, held_out = novel.text()
# print(f"{len(text):,} characters to train on, {len(held_out):,} held out")
# print(lines_of(text[:234]))

# %% [markdown]
# ### What is a token?
#
# A character? Then texts are long, and a model learns to spell before anything else. A word? Then a word that is not in the list cannot be
# read at all. **Byte-pair encoding** ([Sennrich et al. 2016](https://arxiv.org/abs/1508.07909)) lies between, and most language models
# use it:
#
# 1. begin with single characters,
# 2. find the pair of neighbours that occurs most often, and join it into one token,
# 3. do that again and again, until there are as many tokens as you want.
#
# **By hand:** in *the then they*, the pairs `t h` and `h e` occur three times each. Join `t h`: now `th e` occurs three times. Join that, too:
# `the`, `the n`, `the y`. What is frequent becomes one token, and what is rare stays in pieces.

# %% tags=["active-ipynb"]
# from collections import Counter
# from itertools import pairwise
#
# from attention_course import byte_pairs
#
# words = byte_pairs.PIECE.findall(text)                         # each with the space before it, or signs
# pairs = Counter(pair for word in words for pair in pairwise(word))
# print(pairs.most_common(5))

# %% [markdown]
# **What to notice.** Four of these five pairs are a space with the first letter of a word, or letters of *the*: nothing about English was put in, only
# counting.
#
# Now join, 928 times. With the 96 characters of a keyboard that makes 1,024 tokens. One line of `join` is missing. It isn't graded: without
# it, the course's own does the work. (This takes five seconds or so.)

# %% tags=["active-ipynb"]
# def join(tokens, pair):
#     """The tokens, with each occurrence of the pair as one token, from left to right."""
#     joined = []
#     for token in tokens:
#         if joined and (joined[-1], token) == pair:
#             ...   # your line: the last token in `joined` grows by this one
#         else:
#             joined.append(token)
#     return joined
#
# if join(list("the then"), ("t", "h")) == ["th", "e", " ", "th", "e", "n"]:
#     print("Your join is right.")
# else:
#     print("Not yet: the then becomes", join(list("the then"), ("t", "h")))
#     join = byte_pairs.joined
#
# characters = byte_pairs.ALPHABET                               # 96 of them
# merges = byte_pairs.learn(text, 1024, join)
# print("first:", merges[:6])
# print("later:", merges[150::150])

# %% [markdown]
# A text becomes tokens by the same joins in the same order. A word that the novel does not have is no trouble: it stays in more pieces.

# %% tags=["active-ipynb"]
# tokenizer = byte_pairs.Tokenizer(merges)
# tokens, encode, decode = tokenizer.tokens, tokenizer.encode, tokenizer.decode
#
# ids = encode(text)
# print(f"{len(text):,} characters are {len(ids):,} tokens: {len(text) / len(ids):.1f} characters per token")
# print("|".join(tokens[i] for i in encode("Elizabeth smiled at the transformer.")))

# %% [markdown]
# ### Two minutes of training
#
# Three blocks, four heads, 64 tokens at a time. In each step the decoder reads 16 stretches of the novel, and is asked at every place for the
# next token. Guessing would be a loss of $\ln 1024 = 6.93$. It starts a little above that, since at first it is sure of wrong things. Six times on the way it tries to go on after
# *Elizabeth*: watch how noise becomes words. (This takes one to two minutes on one core, and is left
# out while your work is graded.)

# %% tags=["active-ipynb"]
# def ready():
#     """Is there a TransformerDecoder to train?"""
#     try:
#         TransformerDecoder(**SIZES)(torch.zeros(1, 2, dtype=torch.long))
#     except NotImplementedError:
#         print("Nothing to train yet: write TransformerDecoder first, then run this cell again.")
#         return False
#     return True

# %% tags=["active-ipynb"]
# SIZES = {"vocab_size": 1024, "d_model": 96, "num_heads": 4, "d_ff": 384, "num_layers": 3, "max_length": 64}
# STEPS, BATCH, L = 900, 16, 64
#
# def surprise(model, x):
#     """The mean loss of every next token of x, (B, L)."""
#     return F.cross_entropy(model(x)[:, :-1].flatten(0, 1), x[:, 1:].flatten())
#
# def train_on(ids, steps, change=None):
#     """A decoder after so many steps on the token ids, and its losses. change: done to it before"""
#     torch.set_num_threads(1)
#     torch.manual_seed(0)
#     model, losses = TransformerDecoder(**SIZES), []
#     if change is not None:
#         change(model)
#     # AdamW is Adam that keeps weights small. OneCycleLR: the learning rate goes up, then slowly down.
#     optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
#     pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
#     for step in range(steps):
#         starts = torch.randint(len(ids) - L, (BATCH, 1))
#         loss = surprise(model, ids[starts + torch.arange(L)])              # (BATCH, L)
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
#         pace.step()
#         losses.append(loss.item())
#         if step % (steps // 6) == 0:
#             tries = " ".join(speak(model, "Elizabeth", length=16).split())
#             print(f"step {step:4d}   loss {losses[-1]:.2f}   {tries}")
#     return model, losses

# %% tags=["active-ipynb"]
# from attention_course import loss_curve
#
# trained = None
# if not grading and ready():
#     trained, losses = train_on(torch.tensor(ids), STEPS)
#     others = torch.tensor(encode(held_out))
#     with torch.no_grad():
#         there = surprise(trained, others[: len(others) // L * L].view(-1, L)).item()
#     print(f"held out: loss {there:.2f}, as unsure as among {math.exp(there):.0f} equally likely tokens")
#     display(loss_curve(losses, title="loss, step by step"))

# %% [markdown]
# ### It writes
#
# To write, the decoder reads what is there, draws one of the tokens that it finds likely, reads again, and so on. How sure it is of them can be
# changed: the logits are divided by a *temperature* before the softmax. (Assignment 6 has more to say about drawing.)
#
# **By hand**, for the logits $(2, 1, 0)$: a temperature of 0.5 makes them $(4, 2, 0)$, and the softmax of that is $(0.87, 0.12, 0.02)$, where it would have been
# $(0.67, 0.24, 0.09)$. Below 1 the likely gets likelier. One line is missing. It isn't graded: without it, the course's own does the work.

# %% tags=["active-ipynb"]
# def likely(logits, temperature):
#     """The probability of each token, (vocab_size,)."""
#     ...   # your line
#
# found = likely(torch.tensor([2.0, 1.0, 0.0]), 0.5)
# wanted = torch.tensor([0.867, 0.117, 0.016])
# if isinstance(found, torch.Tensor) and torch.allclose(found, wanted, atol=0.001):
#     print("Your line is right.")
# else:
#     print("Not yet: for the logits of the example it gives", found)
#     likely = novel.likely

# %% tags=["active-ipynb"]
# def write(model, beginning, length=80, seed=0, temperature=0.8):
#     """The beginning, and `length` tokens that the model draws after it."""
#     generator = torch.Generator().manual_seed(seed)
#     ids = encode(beginning)
#     with torch.no_grad():
#         for _ in range(length):
#             logits = model(torch.tensor([ids[-L:]]))[0, -1]                # (vocab_size,)
#             ids.append(int(torch.multinomial(likely(logits, temperature), 1, generator=generator)))
#     return lines_of(decode(ids))
#
# if trained is not None:
#     print(write(trained, "Elizabeth", seed=0))
#     print("---")
#     print(write(trained, '"My dear Mr. Darcy,"', seed=1))

# %% [markdown]
# And now yours. Write another beginning, in plain English letters, or choose another seed:

# %% tags=["active-ipynb"]
# if trained is not None:
#     print(write(trained, "It is a truth universally acknowledged, that a decoder", seed=2))

# %% [markdown]
# **What to notice.** Two minutes ago it knew nothing, not even that letters make words. Now most words are English, people have names, quotation marks open and
# close, and a verb stands where a verb belongs. But it has nothing to say: no sentence means much, and some words do
# not exist. For more it is too small, and one novel is too little.

# %% [markdown]
# ### And with more time?
#
# The numbers at the end of the first sitting were learned from the same novel, with the very tokens that you have just made, but in 2,400 steps. (Some texts had a stretch
# twice, to teach copying.) Here is what both say of the held-out chapters, and what they write:

# %% tags=["active-ipynb"]
# print("the same tokens:", trained_decoder.tokenizer().merges == merges)
# if trained is not None:
#     longer, numbers = TransformerDecoder(**SIZES), trained_decoder.weights()
#     learned = {name: torch.tensor(numbers[name]) for name, _ in longer.named_parameters()}
#     longer.load_state_dict(learned, strict=False)
#     for name, model in (("yours", trained), ("trained for longer", longer)):
#         with torch.no_grad():
#             there = surprise(model, others[: len(others) // L * L].view(-1, L)).item()
#         print(f"--- {name}, held out: loss {there:.2f}")
#         print(write(model, "Elizabeth", seed=0))

# %% [markdown]
# ## Leave something out
#
# *About 15 minutes · medium*
#
# What is a part good for? Take it out, train again, and compare. Choose one, write it into `leave_out`, and guess its curve
# before you run the cell.
#
# - **The norms.** `nn.Identity()` hands on what it gets, so it can stand where a norm stood. Each of `model.blocks` has two of them, and the model has one more.
# - **The positions.** Fill them with zeros, as you have seen above.
#
# Do not expect a catastrophe: some parts are missed only in deeper models or longer texts. A curve that stays nearly as it was wants an explanation, too.
#
# Nothing here is graded. (It takes as long as the first training.)

# %% tags=["active-ipynb"]
# def leave_out(model):
#     """Take a part out of a decoder that has not learned yet."""
#     ...   # your lines
#
# if trained is not None:
#     fresh, some = TransformerDecoder(**SIZES), torch.arange(L)[None]
#     with torch.no_grad():
#         before, _, after = fresh(some), leave_out(fresh), fresh(some)
#     if torch.equal(before, after):
#         print("Nothing is left out yet: write your lines in leave_out.")
#     else:
#         _, without_it = train_on(torch.tensor(ids), STEPS, change=leave_out)
#         print("mean loss of 50 steps     whole   without")
#         for step in (0, 100, 200, 400, 600, 850):
#             whole, less = (np.mean(one[step : step + 50]) for one in (losses, without_it))
#             print(f"from step {step:3d}         {whole:10.2f}{less:10.2f}")
#         display(loss_curve({"whole": losses, "without it": without_it}, title="loss, step by step"))

# %% [markdown]
# **Explain the curves.** Double-click here and write two or three sentences: where do they differ, in the beginning or in the end, and by how
# much? What did the part do for the model, what does the model do instead, and why may that be
# harder with thirty blocks, or without a warm-up? Then try the other one.

# %% [markdown]
# ## 6. In your own words
#
# *About 10 minutes · medium*
#
# Follow one word's vector through the decoder, from its id to its logits. What does each branch of a block add to it, and which of the two
# can bring in something about other words? A classmate says: *with a residual around every branch, the last block still knows which word
# this was*. Is that so, and what would be lost without residuals? And why do we put the norm in front of the branch and then need one
# more at the very end? Six sentences are plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-decoder", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# An id becomes a row of the embedding, times $\sqrt{d_{model}}$, plus the row of its position: what the word is and where it stands. Each
# block adds to this vector twice. Attention adds a blend of values of earlier words (and its own), so it is the only place where something
# about other words comes in; the feed-forward network adds what it computes from this one vector, the same function at every place. The
# classmate is right: the vector at the end is the embedding plus the sum of all that the branches added, so the word is still in there,
# unless branches have learnt to cancel it. Without residuals every block would have to pass on the word through its softmax and ReLU, most of it
# would be blended away after a few blocks, and gradients would shrink on the same way back. The norm in front of a branch gives it inputs
# of one size and leaves the sum itself untouched, so gradients reach every block directly and training is stable without warm-up; for
# the same reason the sum grows from block to block and nobody has normalised it when it arrives at the output layer, so one norm comes last.

# %% [markdown]
# ---
#
# **What you can do now.** You can build the model behind today's language models, from token ids to logits, make its
# tokens from a text, and train it until it writes. In the next assignment one learns to summarise.

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
