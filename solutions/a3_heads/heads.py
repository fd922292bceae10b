# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Several heads
#
# **Time:** about 65 minutes. **Difficulty:** ●●○. **Builds on:** assignment 1, and `reshape` and `swapaxes` of NumPy; for exercises 4 and 5, PyTorch.
#
# One attention head gives every word one way of looking at the others. Transformers use several heads side by side,
# each with its own small query, key and value:
#
# $$\text{head}_i = \operatorname{Attention}(Q_i, K_i, V_i) \qquad
# \text{then side by side:}\quad \operatorname{Concat}(\text{head}_0, \dots, \text{head}_{h-1})$$
#
# In this notebook you write what lies around the attention itself: cutting wide matrices into heads and putting the
# heads together again. No new mathematics, but the place where most mistakes happen, because a wrong cut often has the
# right shape.
#
# 1. `split_heads`
# 2. `concat_heads`
# 3. `per_head_weights`
# 4. `torch_split_heads`
# 5. `torch_concat_heads`
# 6. a question to answer in words
#
# **How to work.** Replace `raise NotImplementedError()` in a cell with your code, run the cell, then run the check
# below it. Each part earns points on its own, so a mistake in one exercise does not cost you the next.
#
# **What also counts**, a little each time: `float32` in gives `float32` out (an array from NumPy is `float64` unless you say
# otherwise), the arguments keep their numbers and their shape, and they may come by name. The result may share memory with an
# argument.
#
# **What is not graded:** sizes of 0, `num_heads` below 1, and numbers that are not `float32` or `float64`.
#
# **Stuck?** `hint("split_heads")` in any cell gives a first nudge. Call it again for a second one, and once more for an example and where to read.
# Nobody sees what you ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, explore, heatmap, hint


# %% [markdown]
# ## Why several heads?
#
# *About 5 minutes · easy*
#
# > An astronomer saw a man with a telescope.
#
# Who has the telescope? You can read it as *the man with the telescope*, or as *the astronomer looked through a
# telescope*. One head can hold one perspective only: it gives each word one row of weights, and that row sums to 1. So
# let two heads read the sentence. A score of 4 below says "these two belong together", all others are 0; the softmax
# over each row is the one you know.

# %% tags=["active-ipynb"]
# sentence = ["An", "astronomer", "saw", "a", "man", "with", "a", "telescope"]
# astronomer, saw, man, with_, telescope = 1, 2, 4, 5, 7
#
# scores = np.zeros((2, 8, 8))                     # (h, L, L): two heads, eight words
# scores[0, telescope, man] = 4.0                  # head 0: the telescope is the man's
# scores[0, man, telescope] = 4.0
# scores[0, with_, [man, telescope]] = 4.0
# scores[1, telescope, astronomer] = 4.0           # head 1: it is the astronomer's, who looks through it
# scores[1, astronomer, telescope] = 4.0
# scores[1, with_, [astronomer, telescope]] = 4.0
# scores[1, saw, telescope] = 4.0
#
# two_heads = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
# names = ["head 0: the man has it", "head 1: the astronomer has it"]
# heatmap(two_heads, rows=sentence, columns=sentence, title="two heads, two meanings", names=names)

# %% [markdown]
# Now let a single head do the work of both: it gets every link of either head. Look at the row of *telescope*:

# %% tags=["active-ipynb"]
# both = scores.max(axis=0)                        # (L, L): all links in one head
# one_head = np.exp(both) / np.exp(both).sum(axis=-1, keepdims=True)
#
# print("row telescope         astronomer    man")
# for name, weights in (("one head for both", one_head), ("head 0", two_heads[0]), ("head 1", two_heads[1])):
#     print(f"{name:20s}  {weights[telescope, astronomer]:10.2f} {weights[telescope, man]:6.2f}")

# %% [markdown]
# **What to notice.** The one head gives half its attention to the astronomer and half to the man. Its output is a
# blend that says neither the one nor the other. Two heads keep both meanings, and later layers can choose.
#
# Nobody tells the heads what to look for. They have different weights, so they learn different relationships. In
#
# > Keys on the table belong to Sarah.
#
# three heads could pick up
#
# | relationship | who looks at whom |
# | --- | --- |
# | spatial relation | *Keys* and *table*, joined by *on* |
# | possession | *Keys* and *Sarah* |
# | subject, verb, object | *Keys*, *belong*, *Sarah* |
#
# The original paper uses 8 heads in each layer ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section
# 3.2.2).
#
# Letters for the sizes: **h** heads (`num_heads`), **L** tokens (a *token* is a word, or a piece of one), **d_model** numbers for each token, **d** numbers for
# each token in one head. In the paper d_model = 512 and h = 8, so d = 512 / 8 = 64.

# %% [markdown]
# ## 1. `split_heads`
#
# *About 10 minutes · medium*
#
# A matrix of queries, keys or values has one row per token. Each head owns some of its columns, side by side: head 0 the
# first $d$, head 1 the next $d$, and so on.
#
# $$\text{head}_i = X[:,\; i \cdot d : (i + 1) \cdot d] \qquad (L \times d_{model}) \to (h \times L \times d), \quad
# d = d_{model} / h$$
#
# By hand, with three tokens, six columns and two heads:
#
# ```
#            X                       head 0        head 1
# column      0  1  2  3  4  5        0  1  2       3  4  5
# token 0    11 12 13 14 15 16       11 12 13      14 15 16
# token 1    21 22 23 24 25 26       21 22 23      24 25 26
# token 2    31 32 33 34 35 36       31 32 33      34 35 36
# ```
#
# (A number says where it stands in `X`. Its digits count from 1: 23 is in the second row and the third column.)
#
# The result has one more axis than `X`: the heads come *before* the tokens, so that `result[0]` is head 0 with its
# rows for all tokens. Batch axes stay in front of everything: `(8, L, d_model)` becomes `(8, h, L, d)`.
#
# Six columns make two heads of three, or three heads of two. Four heads cannot share them evenly. If `num_heads` does not
# divide d_model, raise a `ValueError`.

# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(X, num_heads):
    """Cut the last axis into heads; head i owns the columns i * d to (i + 1) * d.

    X: (..., L, d_model); `...` is any number of batch axes, also none
    num_heads: how many heads, h, at least 1

    Returns (..., h, L, d) with d = d_model // h, in the dtype of X, which stays as it is.
    Raises ValueError where num_heads does not divide d_model.
    """
    ### BEGIN SOLUTION
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError(f"{d_model} columns cannot be shared evenly among {num_heads} heads")
    d = d_model // num_heads                        # the width of one head
    heads = X.reshape(*batch, L, num_heads, d)      # (..., L, h, d): each row is cut into h pieces
    return heads.swapaxes(-3, -2)                   # (..., h, L, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-split_heads", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("split_heads")

# %% [markdown]
# **What to notice.** The right shape is not enough. `X.reshape(2, 3, 3)` has it, too. Here are both heads of either, side by side; the bluer a square, the later its token:

# %% tags=["active-ipynb"]
# X = np.array([[11.0, 12.0, 13.0, 14.0, 15.0, 16.0],
#               [21.0, 22.0, 23.0, 24.0, 25.0, 26.0],
#               [31.0, 32.0, 33.0, 34.0, 35.0, 36.0]])
# cuts = split_heads(X, 2), X.reshape(2, 3, 3)                                                # each (h, L, d)
# side_by_side = np.stack([np.concatenate(list(heads), axis=-1) for heads in cuts])          # (2, L, h * d)
# heatmap(side_by_side.astype(int), rows=["row 0", "row 1", "row 2"], title="cut in two ways",
#         columns=["head 0", "", "", "head 1", "", ""], names=["split_heads", "only reshaped"])

# %% [markdown]
# On the right, head 0 has torn token 0 in two, and token 2 is not in it at all. No error tells you. After exercise 2 you will see what such a cut does to
# a model that can read.

# %% [markdown]
# ### See it
#
# *Keys on the table belong to Sarah*, with queries and keys made by hand. Each word has six numbers, and three heads
# own two of them each: the first pair is about **where**, the second about **whose**, the third about **who does
# what**. Your `split_heads` cuts them apart.

# %% tags=["active-ipynb"]
# words = ["Keys", "on", "the", "table", "belong", "to", "Sarah"]
# #               where        whose         who does what
# #              thing place  owned owner   who  verb
# K = np.array([[3.0, 0.0,    3.0, 0.0,    3.0, 0.0],   # Keys
#               [0.0, 0.0,    0.0, 0.0,    0.0, 0.0],   # on
#               [0.0, 0.0,    0.0, 0.0,    0.0, 0.0],   # the
#               [0.0, 3.0,    0.0, 0.0,    0.0, 0.0],   # table
#               [0.0, 0.0,    0.0, 0.0,    0.0, 3.0],   # belong
#               [0.0, 0.0,    0.0, 0.0,    0.0, 0.0],   # to
#               [0.0, 0.0,    0.0, 3.0,    3.0, 0.0]])  # Sarah
# Q = np.array([[0.0, 2.0,    0.0, 2.0,    0.0, 2.0],   # Keys: where, whose, and what of them?
#               [2.0, 2.0,    0.0, 0.0,    0.0, 0.0],   # on: what lies on what?
#               [0.0, 0.0,    0.0, 0.0,    0.0, 0.0],   # the
#               [2.0, 0.0,    0.0, 0.0,    0.0, 0.0],   # table: what lies on it?
#               [0.0, 0.0,    0.0, 0.0,    2.0, 0.0],   # belong: what, and to whom?
#               [0.0, 0.0,    0.0, 2.0,    0.0, 2.0],   # to: to whom, and after which verb?
#               [0.0, 0.0,    2.0, 0.0,    0.0, 2.0]])  # Sarah: what does she own, what is said of her?
#
# head_scores = split_heads(Q, 3) @ split_heads(K, 3).swapaxes(-2, -1) / math.sqrt(2)   # (h, L, L)
# three_heads = np.exp(head_scores) / np.exp(head_scores).sum(axis=-1, keepdims=True)
# names = ["head 0: where", "head 1: whose", "head 2: who does what"]
# heatmap(three_heads, rows=words, columns=words, title="one sentence, three heads", names=names)

# %% [markdown]
# **What to notice.** *Keys* looks at *table* in head 0, at *Sarah* in head 1, at *belong* in head 2. A
# single head would have had to share one row among the three. A word with nothing to ask in a head has an even row
# there.
#
# **Try it.** Whose is the *table*? Write `2.0` into its row of `Q`, in the column *owner*, and run the cell again. Which square turns blue, and in
# which picture? What becomes of the other two pictures?

# %% [markdown]
# ## 2. `concat_heads`
#
# *About 5 minutes · easy*
#
# After attention each head has its own output. Put them side by side again, for each token: first what head 0 says,
# then what head 1 says.
#
# $$\operatorname{Concat}(\text{head}_0, \dots, \text{head}_{h-1}) \qquad
# (h \times L \times d) \to (L \times h \cdot d)$$
#
# ```
# head 0        head 1              result
# 11 12 13      14 15 16            11 12 13 14 15 16     token 0
# 21 22 23      24 25 26            21 22 23 24 25 26     token 1
# 31 32 33      34 35 36            31 32 33 34 35 36     token 2
# ```
#
# It undoes `split_heads`: what comes back has the numbers where they were. Which two axes must be
# neighbours before they become one?

# %% nbgrader={"grade": false, "grade_id": "concat_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def concat_heads(heads):
    """Put the heads side by side again, the inverse of split_heads.

    heads: (..., h, L, d); `...` is any number of batch axes, also none

    Returns (..., L, h * d) in the dtype of `heads`, which stays as it is; the columns i * d
    to (i + 1) * d are head i's.
    """
    ### BEGIN SOLUTION
    *batch, h, L, d = heads.shape
    tokens = heads.swapaxes(-3, -2)                 # (..., L, h, d): a token's pieces lie next to each other
    return tokens.reshape(*batch, L, h * d)         # (..., L, h * d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-concat_heads", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("concat_heads")

# %% [markdown]
# **What to notice.** Concatenating forgets nothing. Back to the telescope: let the values say "I am the astronomer"
# with $(1, 0)$, "I am the man" with $(0, 1)$, and nothing for all other words.

# %% tags=["active-ipynb"]
# V = np.zeros((8, 2))
# V[astronomer] = [1.0, 0.0]
# V[man] = [0.0, 1.0]
#
# outputs = two_heads @ V                          # (h, L, 2): each head takes its blend of the values
# print("telescope, one head: ", (one_head @ V)[telescope].round(2))
# print("telescope, two heads:", concat_heads(outputs)[telescope].round(2))

# %% [markdown]
# One head: some of both. Two heads: the first pair says *the man's*, the second pair says *the astronomer's*. Both
# perspectives are there, and the matrix $W_O$ of the next notebook weighs them against each other.

# %% [markdown]
# ## What does a wrong cut cost?
#
# *About 5 minutes · easy*
#
# You can take heads apart and put them together. Let a model use it that can read: a small *decoder*, which says what comes next. It has read
# *Pride and Prejudice* (1813), and it has three layers of four heads. Below, your `concat_heads` puts its heads together, a function of our
# choice cuts them again, and the model goes on as before. After *Mr.* it should expect a man from the novel. What will it expect when we only reshape?

# %% tags=["active-ipynb"]
# from attention_course import novel, trained_decoder
#
#
# def only_reshaped(X, num_heads):
#     L, d_model = X.shape
#     return X.reshape(num_heads, L, d_model // num_heads)
#
#
# def attention_after(cut):
#     """The model's attention, on heads that `cut` has made."""
#     def attention(Q, K, V):                                                     # each (h, L, d)
#         Q, K, V = (cut(concat_heads(heads), len(heads)) for heads in (Q, K, V))
#         scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])                # (h, L, L)
#         scores = np.where(np.tri(Q.shape[-2], dtype=bool), scores, -np.inf)     # no token looks ahead
#         exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
#         weights = exps / exps.sum(axis=-1, keepdims=True)
#         return weights @ V, weights
#     return attention
#
#
# beginning = "Elizabeth smiled at Mr. Darcy, and Mr."   # or your own, in plain English letters
# for name, cut in (("your split_heads", split_heads), ("only reshaped", only_reshaped)):
#     reading = trained_decoder.read(beginning, attention=attention_after(cut))
#     print(f"{name:18}", "  ".join(f"{token!r} {share:.2f}" for token, share in reading.next_tokens(4)))

# %% [markdown]
# **What to notice.** Same numbers, same shapes, no error, and the names are gone. (`\n` is a new line.)
#
# One sentence is no proof. So let the model read fifty short stretches that it was not trained on, and measure how surprised it is: minus the logarithm of the probability that it gave to
# the token that came, on average. For comparison, the same without any attention, where no token hears of another. Which will do worst?

# %% tags=["active-ipynb"]
# def no_attention(Q, K, V):
#     return 0 * V, np.zeros((len(V), V.shape[1], V.shape[1]))
#
#
# _, unread = novel.text()
# stretches = [unread[at : at + 120] for at in range(0, 6000, 120)]   # of 120 characters
# mine, torn = attention_after(split_heads), attention_after(only_reshaped)
# for name, attention in (("your split_heads", mine), ("only reshaped", torn), ("no attention", no_attention)):
#     surprise = np.mean([trained_decoder.read(stretch, attention=attention).loss() for stretch in stretches])
#     print(f"{name:18} {surprise:.2f}")

# %% [markdown]
# **What to notice.** The wrong cut is worse than no attention at all: torn tokens find nothing but noise, and the model trusts it. That is why the checks here compare numbers, and not
# only shapes.

# %% [markdown]
# ## 3. `per_head_weights`
#
# *About 5 minutes · easy*
#
# Where do the columns come from? From a projection, $Q = X W_Q$. Only column $j$ of $W_Q$ makes column $j$ of $Q$.
# So if head $i$ owns columns of $Q$, it also owns the same columns of $W_Q$: its own small projection.
#
# $$W^{(i)} = W[:,\; i \cdot d : (i + 1) \cdot d] \qquad (d_{in} \times h \cdot d) \to (h \times d_{in} \times d)$$
#
# With three numbers per word ($d_{in} = 3$), two heads and $d = 3$:
#
# ```
# W                         head 0's own       head 1's own
# 11 12 13 14 15 16         11 12 13           14 15 16
# 21 22 23 24 25 26         21 22 23           24 25 26
# 31 32 33 34 35 36         31 32 33           34 35 36
# ```
#
# `W` is not square here, and need not be: the width of all heads together, $h \cdot d = 6$, is another number than
# $d_{in}$.

# %% nbgrader={"grade": false, "grade_id": "per_head_weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def per_head_weights(W, num_heads):
    """Each head's own projection, cut from the weights of all heads.

    W: (d_in, h * d); num_heads divides its columns
    num_heads: how many heads, h, at least 1

    Returns one array (h, d_in, d) in the dtype of W, which stays as it is; item i holds the
    columns i * d to (i + 1) * d of W.
    """
    ### BEGIN SOLUTION
    d_in, width = W.shape
    d = width // num_heads                          # the width of one head
    columns = W.reshape(d_in, num_heads, d)         # (d_in, h, d)
    return columns.swapaxes(0, 1)                   # (h, d_in, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-per_head_weights", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("per_head_weights")

# %% [markdown]
# **What to notice.** In books you often meet `np.split` here: it cuts `W_Q`, `W_K` and `W_V` along the last axis and
# gives a list of matrices, one per head. They are the items of your array:

# %% tags=["active-ipynb"]
# W = np.array([[11.0, 12.0, 13.0, 14.0, 15.0, 16.0],
#               [21.0, 22.0, 23.0, 24.0, 25.0, 26.0],
#               [31.0, 32.0, 33.0, 34.0, 35.0, 36.0]])
# own = per_head_weights(W, 2)                     # (2, 3, 3)
# for i, piece in enumerate(np.split(W, 2, axis=-1)):
#     print(f"head {i}: the same as np.split gives?", np.array_equal(own[i], piece))

# %% [markdown]
# And it makes no difference whether you first project with the whole `W` and split the result, or project with each
# head's own weights. The one is how a program does it (one large product), the other is how to think about it:

# %% tags=["active-ipynb"]
# X = np.array([[1.0, 0.0, 2.0],
#               [0.0, 1.0, 1.0]])                          # (2, 3): two words
# project_then_split = split_heads(X @ W, 2)               # (h, L, d)
# each_on_its_own = np.array([X @ own[0], X @ own[1]])     # (h, L, d)
# print(project_then_split)
# print("the same on both roads?", np.allclose(project_then_split, each_on_its_own))

# %% [markdown]
# First word, head 0, first number: $1 \cdot 11 + 0 \cdot 21 + 2 \cdot 31 = 73$ on both roads.
#
# **What do more heads cost?** Here is a $W$ with three rows and twelve columns; the number in a square is its column. Move the slider, with the mouse
# or with the arrow keys: what changes, what stays?

# %% tags=["active-ipynb"]
# def own_columns(num_heads):
#     W = np.tile(np.arange(12), (3, 1))           # (3, 12): each number is its column
#     own = per_head_weights(W, num_heads)         # (h, 3, d)
#     title = f"heads: {num_heads}, columns of each: {own.shape[-1]}, numbers in all: {own.size}"
#     names = [f"head {i}" for i in range(num_heads)]
#     return heatmap(own, rows=[""] * 3, columns=[""] * own.shape[-1], title=title, names=names, full=11)
#
#
# explore(own_columns, num_heads=(1, 2, 3, 4, 6))

# %% [markdown]
# **What to notice.** More heads are narrower heads. The paper's eight heads of width 64 need no more weights than one head of width 512: several perspectives, at the
# price of one.

# %% [markdown]
# ## 4. `torch_split_heads`
#
# *About 10 minutes · medium*
#
# The same cut for tensors. First read: here are three ways to cut a tensor `x` of shape (L, d_model), three tokens of six numbers. All three give the shape
# (2, 3, 3), and none gives an error. You have met one of the three before. For each: which numbers are in head 0? Which one is right, and what is wrong with the others?
#
# No PyTorch on this machine yet? `%pip install torch` in a cell of its own, then restart the kernel.

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F


# %% tags=["active-ipynb"]
# x = torch.tensor([[11.0, 12.0, 13.0, 14.0, 15.0, 16.0],
#                   [21.0, 22.0, 23.0, 24.0, 25.0, 26.0],
#                   [31.0, 32.0, 33.0, 34.0, 35.0, 36.0]])   # (3, 6)
# cuts = {
#     "A": x.reshape(2, 3, 3),                      # (h, L, d)
#     "B": x.reshape(3, 3, 2).permute(2, 0, 1),     # (L, d, h) -> (h, L, d)
#     "C": x.reshape(3, 2, 3).transpose(0, 1),      # (L, h, d) -> (h, L, d)
# }
# guess = None   # "A", "B" or "C"
#
# if guess is None:
#     print("Write down your guess first.")
# else:
#     for name, cut in cuts.items():
#         print(f"{name}: head 0 is {cut[0].tolist()}")
#     right = np.array_equal(cuts[guess], split_heads(x.numpy(), 2))
#     print(guess, "cuts" if right else "does not cut", "as your split_heads does.")

# %% [markdown]
# Now write the right one, for any number of heads and of batch axes. It only moves numbers about, so a gradient goes back the way its number came, as long as
# you stay with tensors from start to end: no `.detach()`, no `.numpy()`.
#
# Here, too, raise a `ValueError` where `num_heads` does not divide d_model. PyTorch's own errors are of another type. The numbers of
# `x` may lie in memory in any order. `.reshape` copes with that; exercise 5 shows why it matters.

# %% nbgrader={"grade": false, "grade_id": "torch_split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def torch_split_heads(x, num_heads):
    """split_heads on a tensor, differentiable.

    x: (..., L, d_model), with any layout in memory
    num_heads: how many heads, h, at least 1

    Returns (..., h, L, d) with d = d_model // h, in the dtype of x, which stays as it is.
    Raises ValueError where num_heads does not divide d_model.
    """
    ### BEGIN SOLUTION
    *batch, L, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"{d_model} columns cannot be shared evenly among {num_heads} heads")
    d = d_model // num_heads
    heads = x.reshape(*batch, L, num_heads, d)      # (..., L, h, d)
    return heads.transpose(-3, -2)                  # (..., h, L, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-torch_split_heads", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("torch_split_heads")

# %% [markdown]
# **What to notice.** Let only head 1 have an opinion, and see which numbers of `x` would learn from it:

# %% tags=["active-ipynb"]
# x = torch.zeros(3, 6, requires_grad=True)
# torch_split_heads(x, 2)[1].sum().backward()
# heatmap(x.grad, rows=["token 0", "token 1", "token 2"], title="gradient of x: only head 1's columns learn")

# %% [markdown]
# ## 5. `torch_concat_heads`
#
# *About 10 minutes · medium*
#
# This one undoes exercise 4. Its text is about what is new in PyTorch: how a tensor lies in **memory**.

# %% [markdown]
# A tensor is a row of numbers in memory and a rule for walking through them: how many numbers to go on for the next row, and how many for the next
# column. Swapping two axes changes the rule and leaves the numbers where they are. `.view` can give a tensor another shape only
# where such a rule exists:

# %% tags=["active-ipynb"]
# table = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
# print("as it is:", table.view(6))
# try:
#     print("transposed:", table.T.view(6))
# except RuntimeError as error:
#     print("transposed:", error)

# %% [markdown]
# Read the transposed table row by row, and it is 1 4 2 5 3 6. With 1 2 3 4 5 6 in memory no regular step leads through
# that order, so somebody has to copy the numbers. The error message names a way out.
#
# Now heads. Splitting cuts one axis into two and swaps two axes, and both change only the rule. `stride()` shows it: how far it is in memory to the
# next item along each axis. Before you run the cell: for which of the four tensors can `.view` make the shape behind it?

# %% tags=["active-ipynb"]
# x = torch.arange(12.0).view(2, 6)                     # two tokens of six numbers, in order
# cut = x.view(2, 2, 3)                                 # (L, h, d)
# heads = cut.transpose(0, 1).contiguous()              # (h, L, d), copied, as if two heads had computed it
# back = heads.transpose(0, 1)                          # (L, h, d) again
# asked = {"x": (x, (2, 2, 3)), "cut": (cut, (2, 6)), "heads": (heads, (4, 3)), "back": (back, (2, 6))}
# for name, (tensor, shape) in asked.items():
#     try:
#         tensor.view(shape)
#         verdict = "works"
#     except RuntimeError:
#         verdict = "fails"
#     print(f"{name:5}  shape {tuple(tensor.shape)!s:9}  steps {tensor.stride()!s:9}  view{shape} {verdict}")

# %% [markdown]
# **What to notice.** In `back` a token's six numbers do not lie side by side: three are here, and three lie six places further on. Here are the places
# in memory:

# %% tags=["active-ipynb"]
# place = torch.arange(12)                                                    # each number is its own place
# of_back = torch.as_strided(place, back.shape, back.stride()).reshape(2, 6)  # (L, h * d)
# heatmap(torch.stack([place.view(2, 6), of_back]), rows=["token 0", "token 1"], names=["x", "back"],
#         title="where each number lies in memory")

# %% [markdown]
# `.reshape` copies where it must; `.view` never copies. Your function may get a tensor with any layout in memory, also one whose axes were swapped before. Whether the result shares memory with
# the argument is not graded.
#
# A gradient goes back the way its number came. So what is the gradient of `torch_concat_heads`, seen from the heads? You have
# written it already, in exercise 4.

# %% nbgrader={"grade": false, "grade_id": "torch_concat_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def torch_concat_heads(heads):
    """concat_heads on a tensor, differentiable.

    heads: (..., h, L, d), with any layout in memory

    Returns (..., L, h * d) in the dtype of `heads`, which stays as it is.
    """
    ### BEGIN SOLUTION
    *batch, h, L, d = heads.shape
    tokens = heads.transpose(-3, -2)                # (..., L, h, d)
    return tokens.reshape(*batch, L, h * d)         # (..., L, h * d): it copies where it must
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-torch_concat_heads", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("torch_concat_heads")

# %% [markdown]
# **Check yourself against NumPy.** Splitting and concatenating rearranges numbers and computes nothing, so the two must
# agree to the last digit, and there and back again changes nothing:

# %% tags=["active-ipynb"]
# torch.manual_seed(0)
# x = torch.randn(4, 5, 6)                         # (B, L, d_model)
# heads = torch_split_heads(x, 3)                  # (B, h, L, d)
# print("as in NumPy:        ", np.array_equal(heads.numpy(), split_heads(x.numpy(), 3)))
# print("there and back again:", torch.equal(torch_concat_heads(heads), x))

# %% [markdown]
# ## A puzzle: find the head
#
# *About 5 minutes · easy*
#
# The decoder from above has twelve heads, in three layers. Here it reads with your `split_heads` and `concat_heads` again. Each line is one head, and the bluer a token, the more
# the last one, *her*, looks at it. One of the twelve looks for **quotation marks**, to know whether somebody is speaking. Which one is it?

# %% tags=["active-ipynb"]
# from attention_course import highlight
#
# text = '"You are very kind," said Elizabeth, "but I am not tired." Mr. Darcy said nothing. He looked at her'
# reading = trained_decoder.read(text, attention=attention_after(split_heads))
# twelve = reading.weights.reshape(12, *reading.weights.shape[2:])           # (layers, h, L, L) -> (12, L, L)
# highlight(twelve[:, -1], reading.tokens, names=trained_decoder.NAMES)

# %% [markdown]
# Two of them look suspicious, and one sentence is no proof. Write your guess in place of `None`, layer and head. The cell reads thirty short stretches that the model was
# not trained on, and compares what all heads give to quotation marks.

# %% tags=["active-ipynb"]
# guess = None   # such as (0, 3): layer 0, head 3
#
# if guess is None:
#     print("Look at the twelve lines above, and write down your guess.")
# else:
#     shares, evenly = trained_decoder.on_quotation_marks()   # (layers, h), and for an even look
#     more = int((shares > shares[guess]).sum())
#     print(f"It gives quotation marks {shares[guess] / evenly:.1f} times as much as an even look would.")
#     print("That is the one." if more == 0 else f"Not yet. Heads that give them more: {more} of twelve.")

# %% [markdown]
# ## 6. In your own words
#
# *About 10 minutes · medium*
#
# Think of *An astronomer saw a man with a telescope*. What about a single head keeps it from giving both meanings, and
# how do two heads and `concat_heads` keep them both? Then: someone splits with `X.reshape(h, L, d)` and says "the
# shape is right and nothing complains". With two heads and two tokens, what does each of these heads hold, and what
# can its attention no longer do? Five sentences are plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-heads", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# A single head has one row of weights for *telescope*, which sums to 1: what goes to *man* is missing for
# *astronomer*, and the output is one blend of the two. Two heads have their own queries and keys, so each has a row of
# its own and can settle on one meaning; `concat_heads` puts the two outputs side by side instead of adding them up, so
# both meanings survive. With `X.reshape(2, 2, d)` head 0 holds only token 0, cut into two halves that pass for two
# tokens, and head 1 holds token 1. Its attention compares one half of a token with the other half, so a word can no
# longer look at another word, and its columns no longer mean the same thing from row to row.

# %% [markdown]
# ---
#
# **What you can do now.** You can cut wide matrices into heads and put them together again, and you know which wrong cuts have the right shape, and what they cost.

# %% tags=["active-ipynb"]
# from attention_course import grading
#
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
