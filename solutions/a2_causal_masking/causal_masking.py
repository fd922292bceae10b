# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Causal masking
#
# **Time:** about 70 minutes. **Difficulty:** ●●○. **Builds on:** assignment 1, also its PyTorch.
#
# A model that writes a summary must not read the words it has not written yet. By the end of this notebook you will
# have written the attention that keeps this promise, for one text and for a batch of texts of different lengths:
#
# $$\text{weights} = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}
# \;\text{ over the keys the mask allows}\right) \qquad \text{output} = \text{weights} \cdot V$$
#
# You write it in four small steps in NumPy, and then once more in PyTorch.
#
# 1. `causal_mask`
# 2. `padding_mask`
# 3. `masked_softmax`
# 4. `causal_attention`
# 5. `torch_masked_attention`
# 6. a question to answer in words
#
# **How to work.** Replace `raise NotImplementedError()` in a cell with your code, run the cell, then run the check
# below it. The check uses mostly small numbers that you can follow by hand. Grading uses other numbers and sizes.
# Each part earns points on its own, so a mistake in one exercise does not cost you the next.
#
# **What also counts**, a little each time:
#
# - The result has the dtype of the input. `float32 / math.sqrt(4)` stays `float32`, but `float32 / np.sqrt(4)` is `float64`
#   from NumPy 2 on, since `np.sqrt(4)` is a `float64`.
# - Leave the arguments as they are, and keep their names: a call may say `causal_mask(length=...)`. A call must not depend on the calls before it.
#
# **Counting.** Words, queries, keys and texts are counted from 0 everywhere.
#
# **What is not graded:** sizes of 0, and input that is an integer, `float16`, infinite or NaN, unless a docstring names it.
#
# **Stuck?** `hint("causal_mask")` in any cell gives a first nudge. Call it again for a second one, and once more for an example and where to read.
# Nobody sees what you ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, explore, heatmap, hint


# %% [markdown]
# ## Why a mask?
#
# *About 5 minutes · easy*
#
# > Sarah left the keys in a box. She wants them but it is locked.
#
# *She* must find *Sarah*, *them* must find *keys*, *it* must find *box*. Someone who **reads** this text may look
# ahead: *locked* is a good hint that *it* is the box. Someone who **writes** it cannot. When *it* is the newest word,
# *is locked* does not exist yet, and the model is just about to choose it.
#
# Every model that produces text one word after the other is in this position: a summarizer, a translator, a chat
# assistant. So in **causal attention** each word may look at itself and at what came before, never at what comes
# after.
#
# A **mask** says so in a table of yes and no: one row per query, one column per key. `True` means *may attend*.

# %% [markdown]
# ### What the mask buys: all positions trained at once
#
# To train, we take a finished text and ask at every word: what comes next?
#
# | the model has seen | it should say |
# | --- | --- |
# | Sarah | left |
# | Sarah left | the |
# | Sarah left the | keys |
# | ... | ... |
#
# A recurrent network (RNN) walks through the text with one vector of memory. The last step needs the memory of the one
# before, and so on: fifteen steps in a row, however many processors you own. And by the time *She* comes,
# what the memory held of *Sarah* has been rewritten seven times.
#
# A transformer looks at *Sarah* directly, and computes all rows of the table **in one pass**. But the right answer stands in
# the text one place further on. Without the mask, that is cheating. With it, no row can see its answer. (Once it is trained and writes on its own, a transformer goes word by word, too: the next
# word has to be chosen before anything can look at it.)

# %% [markdown]
# ### A worked example, by hand
#
# Three words, and scores already divided by $\sqrt{d_k}$. Row $i$ is word $i$'s query, column $j$ is word $j$'s key:
#
# $$\text{scores} = \begin{pmatrix} 5 & 9 & 9 \\ 1 & 3 & 9 \\ 2 & 2 & 2 \end{pmatrix} \qquad
# \text{mask} = \begin{pmatrix} \text{yes} & \text{no} & \text{no} \\ \text{yes} & \text{yes} & \text{no} \\
# \text{yes} & \text{yes} & \text{yes} \end{pmatrix}$$
#
# - Word 0 may look only at itself, so all its weight goes there: $(1, 0, 0)$. That its score 5 is smaller than 9
#   plays no role.
# - Word 1 may look at words 0 and 1: $e^1 \approx 2.72$ and $e^3 \approx 20.09$ share a total of $22.80$. The 9 is
#   not in the sum.
# - Word 2 may look at all three, and its scores are equal: a third each.

# %% tags=["active-ipynb"]
# e_1, e_3 = math.exp(1), math.exp(3)
# print("word 0  ", [1.0, 0.0, 0.0])
# print("word 1  ", [round(e_1 / (e_1 + e_3), 2), round(e_3 / (e_1 + e_3), 2), 0.0])
# print("word 2  ", [round(1 / 3, 2)] * 3)

# %% [markdown]
# ## 1. `causal_mask`
#
# *About 5 minutes · easy*
#
# The mask of a text with `length` words, as in the example: query $i$ may attend to keys $0 \dots i$.
#
# $$\text{mask}_{ij} = (j \le i) \qquad \text{for length 3:}\quad \begin{pmatrix}
# \text{True} & \text{False} & \text{False} \\
# \text{True} & \text{True} & \text{False} \\
# \text{True} & \text{True} & \text{True} \end{pmatrix}$$
#
# A word may always look at **itself**: its own key is on the diagonal. The entries are truth values (dtype `bool`),
# not zeros and ones.

# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(length):
    """Who may look at whom when nobody may look ahead.

    length: number of words, an int, at least 1

    Returns a bool array, (length, length): row i, column j is True where query i may attend
    to key j (0 to i).
    """
    ### BEGIN SOLUTION
    position = np.arange(length)
    return position[None, :] <= position[:, None]  # (1, S) against (L, 1) -> (L, S), here L = S = length
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-causal_mask", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("causal_mask")

# %% [markdown]
# **What to notice.** A staircase. Read a row: what may this word see? Read a column: who may see this word? *Sarah*
# is seen by all, *keys* only by itself, because it is the last word so far.

# %% tags=["active-ipynb"]
# words = ["Sarah", "left", "the", "keys"]
# heatmap(causal_mask(4), rows=words, columns=words, title="causal mask: row may look at column")

# %% [markdown]
# ## 2. `padding_mask`
#
# *About 10 minutes · easy*
#
# A batch is one array, but texts differ in length. So the shorter ones are filled up with a meaningless word until
# all have `max_length`:
#
# | text | | | | | | length |
# | --- | --- | --- | --- | --- | --- | --- |
# | 0 | She | wants | them | . | `<pad>` | 4 |
# | 1 | Help | ! | `<pad>` | `<pad>` | `<pad>` | 2 |
# | 2 | It | is | locked | `<pad>` | `<pad>` | 3 |
#
# Nobody should look at `<pad>`. The mask has one row per text, `True` on real words. For lengths $(4, 2, 3)$ and
# `max_length` 5:
#
# $$\begin{pmatrix} \text{T} & \text{T} & \text{T} & \text{T} & \text{F} \\
# \text{T} & \text{T} & \text{F} & \text{F} & \text{F} \\
# \text{T} & \text{T} & \text{T} & \text{F} & \text{F} \end{pmatrix}$$
#
# The scores of the batch have shape `(B, L, S)`: text, query, key. The mask says something about texts and keys, and
# the same for every query. So it gets an axis of length one where the queries are: `(B, 1, max_length)`, and NumPy
# [broadcasts](https://numpy.org/doc/stable/user/basics.broadcasting.html) it to all of them.

# %% nbgrader={"grade": false, "grade_id": "padding_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(lengths, max_length):
    """Which keys are real words, for each text of a batch.

    lengths: number of real words of each text, a list or an array of shape (B,) of any
        integer type, also unsigned; at least one text, each from 0 to max_length
    max_length: number of words of each text with its padding, an int

    Returns a bool array, (B, 1, max_length), True on real words. `lengths` stays as it is.
    """
    ### BEGIN SOLUTION
    lengths = np.asarray(lengths)[:, None, None]  # (B, 1, 1)
    return np.arange(max_length) < lengths  # (max_length,) against (B, 1, 1) -> (B, 1, max_length)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-padding_mask", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("padding_mask")

# %% [markdown]
# Here are the three texts above, one row per text:

# %% tags=["active-ipynb"]
# padding = padding_mask([4, 2, 3], 5)
# heatmap(padding[:, 0, :], rows=["text 0", "text 1", "text 2"],
#         title="padding mask: row = text, column = place")

# %% [markdown]
# And here is what text 2 may see when it is padded *and* causal. Two masks that must both say yes are joined with `&`:

# %% tags=["active-ipynb"]
# text = ["It", "is", "locked", "<pad>", "<pad>"]
# both = causal_mask(5) & padding  # (5, 5) & (3, 1, 5) -> (3, 5, 5)
# print("shape of both together:", both.shape)
# heatmap(both[2], rows=text, columns=text, title="text 2: causal and padded")

# %% [markdown]
# **What to notice.** The *columns* of `<pad>` are all no. Its *rows* are not: padding hides keys only. What a query
# on a padded place finds is of no use to anyone, and it does no harm either, since no word will ever look at it.
#
# Cover the last picture with your hand from the fourth row on: only the causal mask is left. Padding that
# stands behind the words lies in their future anyway. A *reader*, who may look ahead, would stumble over it.

# %% [markdown]
# Some programs put the padding *in front* of the words, so that all texts end in the same column. Then a query on padding has
# nothing before it but padding. Under a causal mask its row is all no, and your functions meet a query that **may attend to nothing**.

# %% tags=["active-ipynb"]
# at_the_end = np.array([False, False, True, True, True])  # (5,): real words, padding in front
# text = ["<pad>", "<pad>", "It", "is", "locked"]
# heatmap(causal_mask(5) & at_the_end, rows=text, columns=text, title="padding in front: two rows of nothing")

# %% [markdown]
# ## 3. `masked_softmax`
#
# *About 15 minutes · hard*
#
# Softmax over the allowed keys, and zero for the others:
#
# $$\text{weights}_{ij} = \frac{e^{s_{ij}}}{\sum_{k \text{ allowed for } i} e^{s_{ik}}}
# \text{ where } j \text{ is allowed,} \qquad \text{weights}_{ij} = 0 \text{ where it is not.}$$
#
# **Where does the mask go?** Word 1 of the worked example scores $(1, 3, 9)$ and may see the first two. Here are two ideas that
# look fine and are not. What went wrong in each?

# %% tags=["active-ipynb"]
# scores = np.array([1.0, 3.0, 9.0])
# allowed = np.array([True, True, False])
# idea_1 = np.exp(scores) / np.exp(scores).sum() * allowed
# idea_2 = np.exp(scores * allowed) / np.exp(scores * allowed).sum()
# print("wanted                   [0.119 0.881 0.   ]")
# print("softmax, then times mask", idea_1.round(3))
# print("scores times mask       ", idea_2.round(3))

# %% [markdown]
# In the first, the 9 was in the sum, so the weights of the others are too small. In the second, the 9 became 0, and $e^0 = 1$
# is still in the sum. Two more questions before you write:
#
# - **How small is small enough?** A score that stands for *not allowed* has to lose against every real score, and
#   scores can be as large as a million, on either side of zero. What is $e^{-\infty}$?
# - **What if nothing is allowed?** A text of length 0 in a batch has such rows. Then there is nothing to share out:
#   all weights are 0, and so the output will be. Without care, this is where $0 / 0$ and NaN come from. One NaN, and
#   a few steps of training later the whole model is NaN.
#
# The mask broadcasts to the shape of the scores: `(L, S)`, `(B, L, S)`, `(B, 1, S)` and so on are all possible. It never has
# more axes than the scores.
#
# Please write the masking yourself. `torch.masked.softmax` and the like earn nothing inside this exercise; in other cells you
# may compare with them.

# %% nbgrader={"grade": false, "grade_id": "masked_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_softmax(scores, mask):
    """Softmax over the keys that each query may attend to.

    scores: (..., L, S), float32 or float64, all finite, from -1e6 to 1e6
    mask: bool, at least two axes, broadcasts to the shape of scores; True means
        "may attend"

    Returns weights, (..., L, S), in the dtype of scores: exactly 0 where the mask is False,
    and each row sums to 1. A row where nothing is allowed is all 0. `scores` and `mask`
    stay as they are.
    """
    ### BEGIN SOLUTION
    allowed = np.where(mask, scores, -np.inf)  # (..., L, S): a masked score of -inf becomes exp(-inf) = 0
    largest = allowed.max(axis=-1, keepdims=True)  # (..., L, 1): over the allowed keys only
    largest = np.where(np.isfinite(largest), largest, 0)  # an empty row has none, and -inf - (-inf) is NaN
    exps = np.exp(allowed - largest)
    total = exps.sum(axis=-1, keepdims=True)  # (..., L, 1): at least 1, or 0 in an empty row
    return exps / np.where(total > 0, total, 1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-masked_softmax", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("masked_softmax")

# %% [markdown]
# The worked example, and then the same with a text of length 0 beside it:

# %% tags=["active-ipynb"]
# scores = np.array([[5.0, 9.0, 9.0],
#                    [1.0, 3.0, 9.0],
#                    [2.0, 2.0, 2.0]])
# print(masked_softmax(scores, causal_mask(3)).round(2))
# print("nothing allowed:", masked_softmax(np.stack([scores, scores]), padding_mask([3, 0], 3))[1, 0])

# %% [markdown]
# **What to notice.** What is masked does not exist: the 9 of word 1 plays no part. That is also how you can find a leak in any attention code you
# meet: put something huge where nobody may look, and see whether anything moves. Try it, here and at other places of `scores`.
# Then put `leaky` in place of `masked_softmax`: it is the first of the two ideas from above.

# %% tags=["active-ipynb"]
# def leaky(scores, mask):
#     weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
#     return weights / weights.sum(axis=-1, keepdims=True) * mask
#
#
# function = masked_softmax   # or leaky
# row, column = 1, 2          # word 1 may not look at word 2
# huge = scores.copy()
# huge[row, column] = 1e6
# print("before:", function(scores, causal_mask(3))[row].round(3))
# print("after: ", function(huge, causal_mask(3))[row].round(3))

# %% [markdown]
# ## 4. `causal_attention`
#
# *About 10 minutes · medium*
#
# All together: scores as in scaled dot-product attention, both masks, softmax, weighted sum of the values.
#
# - `padding` is `None`, or comes from `padding_mask`: shape `(B, 1, L)`. Then `Q`, `K`, `V` have one batch axis:
#   `(B, L, d)`.
# - Padding may also stand in front of the words, as in the picture above.
# - Without padding there may be any number of batch axes, also none. `Q`, `K` and `V` have the same ones.
# - Queries and keys come from the same words here, so there are `L` of both.
#
# You may call `causal_mask` and `masked_softmax` from above. If one of them still has a mistake, this exercise is
# judged with right ones in their place.
#
# Please write it yourself: PyTorch's own attention earns nothing here. In other cells you may compare with it.

# %% nbgrader={"grade": false, "grade_id": "causal_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_attention(Q, K, V, padding=None):
    """Attention in which no word looks ahead, and none looks at padding.

    Q: queries, (..., L, d)
    K: keys, (..., L, d)
    V: values, (..., L, d_v); d_v may differ from d
    padding: None, or bool (B, 1, L) with Q (B, L, d), True on real words; it hides keys
        only

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, L), both in
    the dtype of the input. A query that may attend to nothing gets all-zero weights and a
    zero output. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    L, d = Q.shape[-2:]  # words, width
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d)  # (..., L, d) @ (..., d, L) -> (..., L, L)
    mask = causal_mask(L)  # (L, L)
    if padding is not None:
        mask = mask & padding  # (L, L) & (B, 1, L) -> (B, L, L)
    weights = masked_softmax(scores, mask)  # (..., L, L)
    return weights @ V, weights  # (..., L, L) @ (..., L, d_v) -> (..., L, d_v)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-causal_attention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("causal_attention")

# %% [markdown]
# ### See it
#
# Four numbers per word, made by hand: *person*, *several things*, *one thing*, *state*. *She* looks for a person,
# *them* for several things, *it* for one thing and for the state it is in. First the rows of these three for a reader, who sees everything:

# %% tags=["active-ipynb"]
# words = "Sarah left the keys in a box . She wants them but it is locked".split()
# K = np.zeros((15, 4))
# #                   person several one state
# K[words.index("Sarah")] = [4.0, 0.0, 0.0, 0.0]
# K[words.index("keys")] = [0.0, 4.0, 0.0, 0.0]
# K[words.index("box")] = [0.0, 0.0, 4.0, 0.0]
# K[words.index("locked")] = [0.0, 0.0, 0.0, 4.0]
# Q = np.zeros((15, 4))
# Q[words.index("She")] = [3.0, 0.0, 0.0, 0.0]
# Q[words.index("them")] = [0.0, 3.0, 0.0, 0.0]
# Q[words.index("it")] = [0.0, 0.0, 3.0, 3.0]
#
# everything = np.ones((15, 15), dtype=bool)
# reader = masked_softmax(Q @ K.T / math.sqrt(4), everything)
# looking = [words.index(word) for word in ("She", "them", "it")]
# it, box, locked = words.index("it"), words.index("box"), words.index("locked")
# print(f"reader: it takes {reader[it, box]:.2f} from box, {reader[it, locked]:.2f} from locked")
# heatmap(reader[looking], rows=["She", "them", "it"], columns=words, title="a reader sees the whole text")

# %% [markdown]
# Then all rows for a writer, with the same queries and keys:

# %% tags=["active-ipynb"]
# output, writer = causal_attention(Q, K, np.eye(15))
# print(f"writer: it takes {writer[it, box]:.2f} from box, {writer[it, locked]:.2f} from locked")
# heatmap(writer, rows=words, columns=words, title="a writer: no word looks ahead")

# %% [markdown]
# **What to notice.** In the first picture *it* looks both ways, at *box* and at *locked*. In the second one it can
# only look back, and *box* gets what *locked* had. *She* and *them* hardly change: their words came earlier anyway.
# The other words look for nothing in particular and spread evenly over what they may see; the first has no
# choice, *Sarah* looks at *Sarah*.

# %% [markdown]
# ### One pass is as honest as word by word
#
# The promise from the beginning, put to the test. We give the first word alone, then the first two, and so on, as if
# the rest were not written yet, and compare the newest word's output with its row in the one pass over the whole
# text:

# %% tags=["active-ipynb"]
# random = np.random.default_rng(0)
# Q, K, V = random.normal(size=(5, 4)), random.normal(size=(5, 4)), random.normal(size=(5, 3))
# one_pass, _ = causal_attention(Q, K, V)
# for seen in range(1, 6):
#     word_by_word, _ = causal_attention(Q[:seen], K[:seen], V[:seen])
#     difference = np.abs(word_by_word[-1] - one_pass[seen - 1]).max()
#     print(f"words seen: {seen}   largest difference {difference:.7f}")

# %% [markdown]
# **What to notice.** No difference beyond rounding. So five training questions (what comes after one word, after two,
# ...) are answered by the same few matrix products.

# %% [markdown]
# ## 5. The same in PyTorch
#
# *About 10 minutes · medium*
#
# Now with *any* bool mask, given by the caller, or none. The formula is the same; what is new is that gradients flow
# back to `query`, `key` and `value`. Queries and keys need not be equally many here.
#
# An empty row is harder than in NumPy: the result may have no NaN while its **gradients** do, for example where
# $0 / 0$ is computed and `torch.where` then chooses 0 instead. Gradients have to be finite everywhere, and zero for a query
# that may attend to nothing. (`masked_fill` with $-\infty$, then `torch.softmax` and `nan_to_num`, is a way that does it: its gradients are finite.)
#
# `torch.softmax`, `masked_fill` and `torch.where` are fine to use. PyTorch's ready-made attention is not: you are
# writing it.
#
# No PyTorch on this machine yet? `%pip install torch` in a cell of its own, then restart the kernel.

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F


# %% nbgrader={"grade": false, "grade_id": "torch_masked_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def torch_masked_attention(query, key, value, mask=None):
    """Attention under a mask on tensors, differentiable in query, key and value.

    query: (..., L, d_k)
    key: (..., S, d_k), with the batch axes of query
    value: (..., S, d_v)
    mask: None (everything is allowed), or a bool tensor of two axes or more that
        broadcasts to (..., L, S) and adds no axis; True means "may attend"

    Returns the tuple (output, weights): output (..., L, d_v), weights (..., L, S), both in
    the dtype of the input. A query that may attend to nothing gets all-zero weights, a zero
    output and zero gradients. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., L, S)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        # With the lowest number, unlike -inf, an empty row is even, not NaN. The second fill clears it.
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1).masked_fill(~mask, 0.0)
    return weights @ value, weights  # (..., L, S) @ (..., S, d_v) -> (..., L, d_v)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-torch_masked_attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("torch_masked_attention")

# %% [markdown]
# **Check yourself against PyTorch.** Outside an exercise you may call the ready-made one. Its `attn_mask` has our
# convention, and the two should agree to about seven digits:

# %% tags=["active-ipynb"]
# torch.manual_seed(0)
# query, key, value = torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 3)
# mask = torch.from_numpy(causal_mask(4) & padding_mask([4, 2], 4))  # (2, 4, 4)
# output, weights = torch_masked_attention(query, key, value, mask)
# ready_made = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
# print(f"largest difference: {(output - ready_made).abs().max().item():.7f}")

# %% [markdown]
# **What the mask does to learning.** We ask for the gradient of *one* word's output, word 1's: which words'
# values would training change because of what word 1 found?

# %% tags=["active-ipynb"]
# value.requires_grad_(True)
# output, weights = torch_masked_attention(query, key, value, torch.from_numpy(causal_mask(4)))
# output[0, 1].sum().backward()
# print("gradient by word:", value.grad[0].abs().sum(dim=-1).numpy().round(2))

# %% [markdown]
# **What to notice.** Exactly zero for the words that come later. The mask works in both directions: nothing is seen
# from the future, and nothing is learnt from it.

# %% [markdown]
# ## A trained model reads with your attention
#
# *About 5 minutes · easy*
#
# Queries and keys made by hand are one thing. Here are learned ones, from a small *decoder*: a model that guesses what comes next.
# It has read *Pride and Prejudice* (1813), again and again. It reads *tokens*: words, or pieces of rare ones. They look at each other
# in three rounds, called *layers*, each with four **heads**: four attentions side by side, of which assignment 3 tells more. Here it
# uses your `causal_attention` in all twelve places. Write a sentence of your own, in plain English letters:

# %% tags=["active-ipynb"]
# from attention_course import highlight, trained_decoder
#
# sentence = "Elizabeth smiled at Mr. Darcy, and Mr."   # up to 64 tokens; a rare word is several of them
# reading = trained_decoder.read(sentence, attention=causal_attention)
# print(" ".join(reading.tokens), "...")
# for token, probability in reading.next_tokens():
#     print(f"{probability:.2f}  {token}")

# %% [markdown]
# **What to notice.** After *Mr.* it expects a man from the novel, above all Darcy. It knows no more of the world than this one book. Everything it knows of this sentence
# comes to a word through your attention.

# %% tags=["active-ipynb"]
# two = reading.weights[0, :2]                            # (2, L, L): heads 0 and 1 of the first layer
# heatmap(two, rows=reading.tokens, columns=reading.tokens, title="first layer: row looks at column")

# %% [markdown]
# **What to notice.** The staircase is yours. Below it the heads look **near**: averaged over a few pages of the novel (the picture shows one sentence), each head of the first layer gives about a quarter of its weight to the token before, more than to the token
# itself. In the other two layers it is about an eighth at most, and heads look farther back. Nobody told them to.
#
# How far back? Here is a head of the middle one of three layers, as it reads a word of somebody who is speaking. What is it looking for?

# %% tags=["active-ipynb"]
# speech = '"You are very kind, but I am not tired, and your house is not far from my own," said she. "Will'
# reading = trained_decoder.read(speech, attention=causal_attention)
# ((token, probability),) = reading.next_tokens(1)
# print(f"next:{token} {probability:.2f}")
# highlight(reading.weights[1, 0, -1], reading.tokens, title="layer 1, head 0: where the last word looks")

# %% [markdown]
# **What to notice.** *You*, *I*, *your*, *my*: four of the 31 tokens get about half of all the weight. *You* is also the likeliest next word. (That a head looks there does not
# yet show that it is the reason. Assignment 4 puts such a guess to the test.) Heads as tidy as the ones by hand are rare,
# though: this one looks at the quotation marks as well, which say that somebody is speaking, and most heads do nothing that has a name. Move the slider through all twelve, by layer and head, and try a sentence of your own.

# %% tags=["active-ipynb"]
# heads = {f"{layer}, {head}": (layer, head) for layer in range(3) for head in range(4)}
#
#
# def last_word_looks(layer_and_head):
#     layer, head = heads[layer_and_head]
#     weights = reading.weights[layer, head, -1]   # (L,): the last word's row
#     return highlight(weights, reading.tokens, title=f"layer {layer}, head {head}: where the last word looks")
#
#
# explore(last_word_looks, head=list(heads))

# %% [markdown]
# ## 6. In your own words
#
# *About 10 minutes · medium*
#
# A classmate has trained a summarizer and forgot the causal mask. In training its loss falls almost to zero within
# minutes. Then it is asked to write a summary, word by word, and what comes out is nonsense. Explain both. Then:
# does the mask make training slow? And why does it let a transformer train faster than an RNN? Five sentences are plenty.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-masking", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# Without the mask the word to be guessed stands in the input one place further on, so each position learns to look
# there and copy it: the loss falls to zero, and nothing is learnt about language. When it writes, there is no next
# word to copy yet; the one trick it has learnt is of no use, so what comes out is nonsense. With the mask every
# position sees exactly what it will see when writing, so all positions of a text can be trained in one pass, as
# matrix products that run in parallel. An RNN is honest by its order of reading: each step waits for the memory of
# the step before, so a text takes as many steps as it has words.

# %% [markdown]
# ---
#
# **What you can do now.** You can let a word see only its past, hide padding in a batch of texts, and do both without a single NaN. With that,
# attention can be trained to write.

# %% tags=["active-ipynb"]
# from attention_course import grading
#
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
