# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Heads under the microscope
#
# **Time:** about 90 minutes. **Difficulty:** ●●●, short code and careful looking. **Builds on:** assignments 3, 4 and 6.
#
# You have built heads, trained them and taken them away. What does a single head *do*? In a large model that is hard to
# say. In a small one you can look until you know: every score, every number that it copies, and the step of training at
# which it appeared.
#
# The model of this notebook has two layers of attention and nothing else. It was trained on one task:
#
# ```text
# juno lima hugo oslo mira cairo   juno lima hugo oslo mira ...
# └──────── first round ────────┘  └────── second round ──────┘
# ```
#
# The words are drawn at random, so nobody can predict the first round. The second round is easy if you **look up**:
# *where have I met this word before, and what stood after it?* Looking for an earlier copy of the present word is called
# **prefix matching**, and heads that do it and copy what came next are called **induction heads**
# ([Elhage et al. 2021](https://transformer-circuits.pub/2021/framework/index.html), [Olsson et al.
# 2022](https://arxiv.org/abs/2209.11895)). They have been found in language models of many sizes. Using what stands in
# the text itself, with no further training, is called **in-context learning**.
#
# 1. `previous_token_score`
# 2. `induction_score`
# 3. `mean_ablate`
# 4. `patch_head`
# 5. `qk_circuit`
# 6. `ov_circuit`
# 7. how the heads appear during training, and a model that you train yourself
# 8. a question to answer in words
#
# **How to work.** Write your code in place of `raise NotImplementedError()`, run the cell, then run the check below it. A mistake
# in one exercise does not cost you the next.
#
# **What also counts**, a little each time: `float32` in gives `float32` out, the arguments stay as they are, and they may come by
# name. Numbers are finite, and sizes at least 1, unless a docstring says otherwise.
#
# **Stuck?** `hint("previous_token_score")` in any cell gives a first nudge, then a second one, then an example and where to read.
# Nobody sees what you ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np

from attention_course import check, copycat, explore, grading, heatmap, hint, loss_curve


# %% [markdown]
# ## The model, and what it reads
#
# The model came with the checks, so there is nothing to download. In section 7 you train one like it yourself. It knows 32
# words, names of people and of places. `texts` draws some to read: `period` random words, none of them twice, and then the
# same words again.

# %% tags=["active-ipynb"]
# if not grading:
#     model = copycat.model()
#     ids = copycat.texts(200, period=12)                     # (200, 24): 200 texts, twelve words twice
#     reading = model.read(ids)
#     print(copycat.decode(ids[0, :12]), copycat.decode(ids[0, 12:]), sep="\n")
#     print("logits", reading.logits.shape, "  heads in a layer", model.num_heads)
#     print("weights of layer 0", reading.weights[0].shape, "  what its heads find", reading.found[0].shape)

# %% [markdown]
# `reading.weights[layer]` says where heads look, $(B, h, L, L)$, and `reading.found[layer]` what they find there,
# $(B, h, L, d_v)$: the $Z$ of assignment 4, before $W_O$. Does the model know what comes next? Its loss, place by
# place, as the mean over all the texts:

# %% tags=["active-ipynb"]
# if not grading:
#     by_place = copycat.losses(reading.logits, ids).mean(axis=0)   # (23,): of the second word, the third, ...
#     title = "loss of the word at each place (each line is a tenth of the one above)"
#     display(loss_curve(by_place, title, axis="place", ends=(1, 23)))
#     first, second = by_place[:11].mean(), by_place[12:].mean()
#     print(f"first round {first:.2f}    second round {second:.2f}    log 32 = {math.log(32):.2f}")

# %% [markdown]
# **What to notice.** In the first round the model guesses: its loss is about $\log 32$, that of a model that knows nothing.
# The second round begins at place 12. Its first word is a guess as well, and from then on the loss is next to nothing.
# How does the model do that?
#
# Here is where the four heads of the first layer look, while they read one text. Rows look, columns are looked at:

# %% tags=["active-ipynb"]
# if not grading:
#     one = copycat.texts(1, period=9, seed=1)                # (1, 18)
#     words, seen = copycat.decode(one[0]).split(), model.read(one)
#     display(heatmap(seen.weights[0][0], rows=words, columns=words, title="layer 0"))

# %% [markdown]
# **What to notice.** Head 2 has a strong line right beside the diagonal: each word looks at the word before. Head 3 has two faint lines: it
# looks at the word itself, and at the same word where it stood before. The other two look at a bit of everything.
#
# **Predict first:** the second layer reads what the first has written. Will its heads look one word back, too?

# %% tags=["active-ipynb"]
# if not grading:
#     display(heatmap(seen.weights[1][0], rows=words, columns=words, title="layer 1"))

# %% [markdown]
# **What to notice.** No. Head 1 has a strong line as well, but further from the diagonal, and only in the lower half, where words come again. In
# the upper half it rests on the first word, and so do other heads. Pictures of one text are a beginning. Now put numbers to it.

# %% [markdown]
# ## 1. `previous_token_score`
#
# *About 10 minutes · easy*
#
# How much does a head look at the word before? Take the weight that each word puts on the word before it, and the mean
# of those. **The first word has no word before it and does not count.** So a head that always looks one word back has
# score 1, and a head that never does has 0.
#
# **By hand**, one head on four words. Row 1 is the second word's, and so on:
#
# | | mira | oslo | hugo | lima |
# | --- | --- | --- | --- | --- |
# | mira | 1 | · | · | · |
# | oslo | **0.8** | 0.2 | · | · |
# | hugo | 0.1 | **0.6** | 0.3 | · |
# | lima | 0.2 | 0.1 | **0.4** | 0.3 |
#
# $$\text{score} = \tfrac13\, (0.8 + 0.6 + 0.4) = 0.6$$

# %% nbgrader={"grade": false, "grade_id": "previous_token_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def previous_token_score(weights):
    """How much each head looks at the word before.

    weights: where h heads look on L words, (h, L, L); row i is query i, it sums to 1. L is
        2 or more.

    Returns one number for each head, (h,), in the dtype of the weights: the mean weight
    that a word puts on the word before it, over all words that have one. The weights
    stay as they are.
    """
    ### BEGIN SOLUTION
    before = np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)   # (h, L - 1): query i on key i - 1
    return before.mean(axis=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-previous_token_score", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("previous_token_score")

# %% [markdown]
# **Predict first:** about how high is the score of head 2 of layer 0? And that of a head that looks everywhere evenly?
#
# The table shows the scores of all eight heads. Two others stand beside them, which are as easy: how much a word
# looks at itself, and at the first word of the text. Large models, too, often have a word that heads look at if
# they find nothing better ([Clark et al. 2019](https://arxiv.org/abs/1906.04341)).

# %% tags=["active-ipynb"]
# if not grading:
#     print("layer  head   word before   itself   first word")
#     for layer in range(2):
#         weights = reading.weights[layer].mean(axis=0)       # (h, L, L): the mean over all the texts
#         itself = np.diagonal(weights, axis1=1, axis2=2)[:, 1:].mean(axis=-1)
#         first = weights[:, 1:, 0].mean(axis=-1)
#         for head, score in enumerate(previous_token_score(weights)):
#             print(f"{layer:5} {head:5} {score:13.2f} {itself[head]:8.2f} {first[head]:12.2f}")

# %% [markdown]
# **What to notice.** Head 2 of layer 0 stands out with 0.82. A head that looks at everything evenly would have about
# 0.12 in each of the three columns. The heads of layer 1 rest on the first word with 0.21 to 0.36 of their weight: where they
# find nothing that fits, the weight has to go somewhere. (So do heads 0 and 3 of layer 0, with 0.20 and 0.22.)

# %% [markdown]
# ## 2. `induction_score`
#
# *About 10 minutes · medium*
#
# Now the trick itself. In the second round, a head that knows what it is doing looks at **the word after the place
# where the present word stood before**. The text is `period` words, and then the same words again, so word $i$ stood
# before at place $i - \text{period}$.
#
# **By hand**, a period of 3, cut short after five words. Word 3 is the second *a*; it stood before at place 0, and
# after it stood *b*, at place 1. Word 4 is the second *b*, and after the first one stood *c*, at place 2:
#
# | place | 0 | 1 | 2 | 3 | 4 |
# | --- | --- | --- | --- | --- | --- |
# | word | a | b | c | a | b |
# | looks for | | | | place **1** | place **2** |
#
# With weights of 0.7 in row 3, column 1, and 0.5 in row 4, column 2, the score is 0.6. Words of the first round do not
# count: nobody can look up what has not been met. If the text goes on with the second *c* at place 5, that word looks
# for place **3**: after the first *c* stood the second *a*.

# %% nbgrader={"grade": false, "grade_id": "induction_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def induction_score(weights, period):
    """How much each head looks at what came after the present word when it was met before.

    weights: where h heads look on L words, (h, L, L); row i is query i, it sums to 1
    period: the text is this many different words, 2 or more, and then the same words again,
        all of them or the first few: period < L <= 2 * period

    Returns one number for each head, (h,), in the dtype of the weights: over all words
    of the second round, the mean weight on the word that came after the same word the
    first time. The word at place period - 1 ended the first round, so there it is the
    word at place period, the first of the second round. The weights stay as they are.
    """
    ### BEGIN SOLUTION
    query = np.arange(period, weights.shape[-1])      # the second round
    key = query - period + 1                          # one after the place where the same word stood
    return weights[:, query, key].mean(axis=-1)       # (h, L - period) -> (h,)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-induction_score", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("induction_score")

# %% tags=["active-ipynb"]
# if not grading:
#     for layer in range(2):
#         scores = induction_score(reading.weights[layer].mean(axis=0), period=12)
#         print(f"layer {layer}:", "   ".join(f"head {head} {score:.2f}" for head, score in enumerate(scores)))

# %% [markdown]
# **What to notice.** Head 1 of layer 1 has 0.90, all others have less than 0.1. It stands in the *second* layer, and
# that is no accident.
#
# A head can only look for what stands *in* a word. How does the word *lima* of the first round know that *juno* stood
# before it, so that the second *juno* can find it? Keep the question; you will take the answer apart in a moment.

# %% [markdown]
# ## 3. `mean_ablate`
#
# *About 10 minutes · easy*
#
# Which heads does the model *need*? In assignment 6 you silenced a head with zeros. But zero may be a strange thing for
# a head to say, and that may be enough to confuse what comes after it. A gentler way is to let it say **what it says on
# average**: the mean, at each place, over many texts. So it still speaks, and tells nothing of the text at hand ([Wang
# et al. 2022](https://arxiv.org/abs/2211.00593)).
#
# What heads find in a layer has the shape $(B, h, L, d_v)$. **By hand**: two texts, two heads, two places, width 1;
# head 1 is taken away.
#
# | | place 0 | place 1 | | place 0 | place 1 |
# | --- | --- | --- | --- | --- | --- |
# | text 0, head 0 | 5 | 7 | | 5 | 7 |
# | text 0, **head 1** | 2 | 8 | → | **3** | **4** |
# | text 1, head 0 | 6 | 1 | | 6 | 1 |
# | text 1, **head 1** | 4 | 0 | → | **3** | **4** |

# %% nbgrader={"grade": false, "grade_id": "mean_ablate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mean_ablate(found, head):
    """What heads find, with one of them saying what it says on average.

    found: what h heads have found in B texts of L words, (B, h, L, d_v)
    head: which of them is taken away, an int, counted from 0

    Returns an array like found, in its dtype: what that head found is replaced, at each
    place, by the mean over all B texts at that place, each of the d_v numbers on its
    own. All other heads are as before, and found stays as it is.
    """
    ### BEGIN SOLUTION
    without = found.copy()
    without[:, head] = found[:, head].mean(axis=0)    # (L, d_v), the same for all B texts
    return without
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-mean_ablate", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("mean_ablate")

# %% [markdown]
# `model.read` takes a function that may change what heads have found, layer by layer, before the model goes on. With
# yours in it: what is the loss of the second round without this head, or that one? **Predict first:** which heads will it miss?

# %% tags=["active-ipynb"]
# if not grading:
#     def again(change=None):
#         """The mean loss of words in the second round."""
#         return copycat.losses(model.read(ids, change).logits, ids)[:, 12:].mean()
#
#     print(f"with all heads           {again():.2f}")
#     for layer in range(2):
#         for head in range(model.num_heads):
#             loss = again(lambda at, found: mean_ablate(found, head) if at == layer else found)
#             print(f"without layer {layer}, head {head}  {loss:.2f}")

# %% [markdown]
# **What to notice.** Two heads matter, and you know both of them. Without head 2 of layer 0, which looks at the word
# before, the loss rises from 0.02 to 3.59, about $\log 32$: the model knows nothing any more. Without head 1 of layer
# 1, the induction head, it is 8.22, and that is far *worse* than knowing nothing! The other heads must be saying
# something that is wrong in the second round if no head speaks against it. Any one of the other six may go: without head 0 of
# layer 1 the loss is 0.13, without any other at most 0.02. What they say, you will see in exercise 6.

# %% [markdown]
# ## 4. `patch_head`
#
# *About 15 minutes · medium*
#
# An ablation says *that* a head is needed. **What does it carry?** To see that, let the model read two texts that
# differ in one thing, and carry what one head has found from one run over into the other: a **patch** ([Meng et al.
# 2022](https://arxiv.org/abs/2202.05262)). If the answer turns into that of the other text, this head at this place
# carried the difference.
#
# `other` is what the heads found in the other run, in the same shape. **By hand**: two heads, three places, width 1.
# Head 1 at place 2 is patched.
#
# | | here | in the other run | patched |
# | --- | --- | --- | --- |
# | head 0 | 1, 2, 3 | 11, 12, 13 | 1, 2, 3 |
# | head 1 | 4, 5, 6 | 14, 15, 16 | 4, 5, **16** |

# %% nbgrader={"grade": false, "grade_id": "patch_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patch_head(found, other, head, place):
    """What heads find, with one head at one place saying what it said in another run.

    found: what h heads have found at L places in this run, (..., h, L, d_v)
    other: the same of another run, in the same shape and dtype
    head, place: which one is replaced, ints, both counted from 0

    Returns an array like found, in its dtype: the vector of that head at that place
    comes from other, everything else from found. `...` is any number of batch axes,
    also none: the same head and place in every text. Both arrays stay as they are.
    """
    ### BEGIN SOLUTION
    patched = found.copy()
    patched[..., head, place, :] = other[..., head, place, :]   # (..., d_v): one vector per text
    return patched
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-patch_head", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("patch_head")

# %% [markdown]
# ### Who, and where
#
# Four people in four places. Then a person is named again, and the model is to say where. In the second text two
# people are swapped, in the third two places. Both change the answer, from *lima* to *cairo*:

# %% tags=["active-ipynb"]
# if not grading:
#     TEXT  = "mira oslo hugo lima nora cairo juno delhi hugo"
#     WHO   = "mira oslo nora lima hugo cairo juno delhi hugo"
#     WHERE = "mira oslo hugo cairo nora lima juno delhi hugo"
#     runs = {text: model.read(copycat.encode(text)) for text in (TEXT, WHO, WHERE)}
#     lima, cairo = copycat.IDS["lima"], copycat.IDS["cairo"]
#     for text, run in runs.items():
#         logits = run.logits[0, -1]                          # (V,): what comes after the last word
#         answer = copycat.decode([logits.argmax()])
#         print(f"{text}  →  {answer:6} (lima {logits[lima]:.1f}, cairo {logits[cairo]:.1f})")

# %% [markdown]
# Now patch each head at each place, from the second text (other *who*) and from the third (other *where*). How far does
# the answer move from *lima* to *cairo*? 0 is not at all, 1 as far as in the other text.
# **Predict first:** at which places will a patch of head 2 of layer 0 matter?

# %% tags=["active-ipynb"]
# if not grading:
#     HEADS = [(layer, head) for layer in range(2) for head in range(model.num_heads)]
#     NAMES = [f"layer {layer}, head {head}" for layer, head in HEADS]
#
#     def lead(logits):
#         """By how much *cairo* is ahead of *lima* at the end of a text."""
#         return logits[0, -1, cairo] - logits[0, -1, lima]
#
#     def moved(source, layer, head, place):
#         """How far one patch from another text moves the answer, from 0 to 1."""
#         def change(at, found):
#             return patch_head(found, runs[source].found[layer], head, place) if at == layer else found
#
#         patched = model.read(copycat.encode(TEXT), change)
#         here, there = lead(runs[TEXT].logits), lead(runs[source].logits)
#         return (lead(patched.logits) - here) / (there - here)
#
#     words = TEXT.split()
#     for what, source in (("who", WHO), ("where", WHERE)):
#         effect = [[moved(source, *head, place) for place in range(len(words))] for head in HEADS]
#         effect = np.array(effect).round(2) + 0              # (8, 9)
#         title = f"patched from the text with other {what}"
#         display(heatmap(effect, rows=NAMES, columns=words, title=title))

# %% [markdown]
# **What to notice.**
#
# - Other *who*: head 2 of layer 0 carries it, at the places of *lima* and of *cairo*, and nowhere else. There it has
#   noted **who stood before me**, and each of the two notes moves the answer half of the way.
# - Other *where*: the notes do not depend on the word they are written on. So no head of layer 0 moves the answer by even
#   a tenth of the way.
# - Head 1 of layer 1 carries the answer in both pictures, but only at the last place. It has found a note that says
#   *hugo*, and it carries **the word on which the note stands**.
#
# So one head tells *who*, the other *where*.

# %% [markdown]
# ## 5. `qk_circuit`
#
# *About 10 minutes · medium*
#
# So far you have watched. Now read what is *in* a head, without any text. A head's score of word $j$ for word $i$ is
# the product of a query and a key,
#
# $$q_i \cdot k_j = (x_i W_Q)(x_j W_K)^\top = x_i \, \underbrace{W_Q W_K^\top}_{M}\, x_j^\top$$
#
# and everything that the head has learned about **whom to look for** stands in one matrix $M$,
# $(d_{model}, d_{model})$: who looks on the left, who is looked at on the right. Each head has its own columns of $W_Q$
# and $W_K$, head $i$ those from $i \cdot d_k$ to $(i + 1) \cdot d_k$, so each has its own $M$. (The division by
# $\sqrt{d_k}$ stays outside.)
#
# **By hand**, $d_{model} = 2$, two heads of width 1:
#
# $$W_Q = \begin{pmatrix} 1 & 2 \\ 3 & 0 \end{pmatrix} \quad W_K = \begin{pmatrix} 2 & 1 \\ 0 & -1 \end{pmatrix} \qquad
# M_0 = \begin{pmatrix} 1 \\ 3 \end{pmatrix} \begin{pmatrix} 2 & 0 \end{pmatrix} = \begin{pmatrix} 2 & 0 \\ 6 & 0 \end{pmatrix} \quad
# M_1 = \begin{pmatrix} 2 \\ 0 \end{pmatrix} \begin{pmatrix} 1 & -1 \end{pmatrix} = \begin{pmatrix} 2 & -2 \\ 0 & 0 \end{pmatrix}$$

# %% [markdown]
# **Bring your `per_head_weights`** from assignment 3: it cuts a wide matrix into those of each head, for this exercise and the next. Copy it into the
# cell below. It earns no points and costs none: if it has a mistake, or is missing, grading uses a right one in its place. The check in the notebook needs yours.

# %% nbgrader={"grade": false, "grade_id": "bring-per_head_weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def per_head_weights(W, num_heads):
    """Each head's own projection, cut from the weights of all heads: yours, from assignment 3.

    W: (d_in, h * d)

    Returns (h, d_in, d): item i holds the columns i * d to (i + 1) * d of W.
    """
    ### BEGIN SOLUTION
    return W.reshape(len(W), num_heads, -1).swapaxes(0, 1)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "qk_circuit", "locked": false, "schema_version": 3, "solution": true, "task": false}
def qk_circuit(W_Q, W_K, num_heads):
    """What each head of a layer looks for: one matrix between the word that looks and the word
    looked at.

    W_Q, W_K: (d_model, h * d_k); head i has the columns i * d_k to (i + 1) * d_k
    num_heads: h, an int

    Returns one matrix M for each head, (h, d_model, d_model), also for one head, in the
    dtype of the matrices: x_i @ M @ x_j is the dot product of that head's query of x_i
    and its key of x_j, not divided by anything. W_Q and W_K stay as they are.
    """
    ### BEGIN SOLUTION
    d_model = W_Q.shape[0]
    queries = W_Q.reshape(d_model, num_heads, -1).swapaxes(0, 1)      # (h, d_model, d_k)
    keys = W_K.reshape(d_model, num_heads, -1).swapaxes(0, 1)
    return queries @ keys.swapaxes(-2, -1)                            # (h, d_model, d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-qk_circuit", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("qk_circuit")

# %% [markdown]
# What enters the first layer is the sum of two vectors: one says which word it is, the other at which place it stands.
# The score is linear in both, so it falls into parts. Here is the part from place to place, **which place looks for
# which**, for the heads of layer 0:

# %% tags=["active-ipynb"]
# if not grading:
#     P = model.positions[:18]                                # (18, d_model)
#     circuits = qk_circuit(model.W_Q[0], model.W_K[0], model.num_heads)
#     d_k = model.W_Q.shape[-1] // model.num_heads
#     by_place = P @ circuits @ P.T / math.sqrt(d_k)          # (h, 18, 18)
#     shown = np.where(np.tri(18, dtype=bool), by_place, 0)   # nobody looks ahead
#     display(heatmap(shown / np.abs(shown).max(), title="layer 0: which place looks for which"))

# %% [markdown]
# **What to notice.** Head 2 has a line right beside the diagonal, blue and with numbers above zero: place 5 looks for place 4, place 6 for place 5,
# whatever word stands there. The other heads are much fainter: they care little for places. It is no clean drawing
# (orange is below zero), because nobody drew it; and the words themselves have a say in the score as well.

# %% [markdown]
# ## 6. `ov_circuit`
#
# *About 15 minutes · medium*
#
# And what does a head *do* with a word when it has found it? The word goes through the head's columns of $W_V$ and then
# through the head's rows of $W_O$, and is added to the word that looked:
#
# $$\text{what a head adds to word } i = \sum_j A_{ij}\, x_j \underbrace{W_V W_O}_{M}$$
#
# So **what is copied** is one matrix as well, and it does not depend on where the head looks. All heads of a layer
# together are the sum of such parts, and nothing more:
#
# $$\operatorname{Concat}(Z_0, \dots, Z_{h-1})\, W_O = \sum_{\text{heads}} A\, X\, M$$
#
# **By hand**, $d_{model} = 2$, two heads of width 1. Head 0 has the first *column* of $W_V$ and the first *row* of
# $W_O$:
#
# $$W_V = \begin{pmatrix} 1 & 2 \\ 3 & 0 \end{pmatrix} \quad W_O = \begin{pmatrix} 2 & 1 \\ 0 & -1 \end{pmatrix} \qquad
# M_0 = \begin{pmatrix} 1 \\ 3 \end{pmatrix} \begin{pmatrix} 2 & 1 \end{pmatrix} = \begin{pmatrix} 2 & 1 \\ 6 & 3 \end{pmatrix} \quad
# M_1 = \begin{pmatrix} 2 \\ 0 \end{pmatrix} \begin{pmatrix} 0 & -1 \end{pmatrix} = \begin{pmatrix} 0 & -2 \\ 0 & 0 \end{pmatrix}$$

# %% nbgrader={"grade": false, "grade_id": "ov_circuit", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ov_circuit(W_V, W_O, num_heads):
    """What each head of a layer copies: one matrix from the word looked at to what is added to
    the word that looks.

    W_V: (d_model, h * d_v); head i has the columns i * d_v to (i + 1) * d_v
    W_O: (h * d_v, d_model); head i has the rows i * d_v to (i + 1) * d_v
    num_heads: h, an int

    Returns one matrix M for each head, (h, d_model, d_model), also for one head, in the
    dtype of the matrices: x_j @ M is what that head adds if all its weight is on x_j.
    W_V and W_O stay as they are.
    """
    ### BEGIN SOLUTION
    d_model = W_V.shape[0]
    values = W_V.reshape(d_model, num_heads, -1).swapaxes(0, 1)       # (h, d_model, d_v)
    return values @ W_O.reshape(num_heads, -1, d_model)               # (h, d_model, d_model)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-ov_circuit", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("ov_circuit")

# %% [markdown]
# **Equal to the whole?** What layer 0 adds to a text, once as the model does it and once as the sum over heads of
# $A\,X\,M$:

# %% tags=["active-ipynb"]
# if not grading:
#     x = model.embedding[one[0]] + model.positions[:18]                # (18, d_model)
#     A = seen.weights[0][0]                                            # (h, 18, 18)
#     parts = A @ x @ ov_circuit(model.W_V[0], model.W_O[0], model.num_heads)   # (h, 18, d_model)
#     Z = seen.found[0][0].swapaxes(0, 1).reshape(18, -1)               # (18, h * d_v)
#     print("largest difference:", np.abs(parts.sum(axis=0) - Z @ model.W_O[0]).max())

# %% [markdown]
# Now from words to words: $E\, M\, U$ takes the embedding of a word through a head and reads off, as the model itself
# does at its end, which word that speaks for. Reading a vector inside the model with the model's own last matrix is called
# a **logit lens**. Rows are words that a head of layer 1 finds, columns what it says then:

# %% tags=["active-ipynb"]
# if not grading:
#     words = copycat.PEOPLE[:9] + copycat.PLACES[:9]
#     some = [copycat.IDS[word] for word in words]
#     E, U = model.embedding[some], model.unembedding[:, some]          # (18, d_model), (d_model, 18)
#     says = E @ ov_circuit(model.W_V[1], model.W_O[1], model.num_heads) @ U   # (h, 18, 18)
#     title = "layer 1: finds the row, says the column"
#     display(heatmap(says / np.abs(says).max(), rows=words, columns=words, title=title))

# %% [markdown]
# **What to notice.** Head 1, the induction head, has a blue diagonal, above zero: whatever it finds, it says **that
# word**. It copies. Head 0 has an orange one, below zero, and head 3 a faint one: whatever they find, they say **not that
# word again**. In the first round the induction head has found nothing yet: it rests on the first word, and says it. Heads 0
# and 3 speak against that. Without the two, the loss of the first round rises from 3.53 to 4.54. In the second round the
# induction head has found its word, and is louder than both. Now you know why the model without it was worse than one that knows nothing.
#
# **Predict first:** its loss was 8.22. What will it be if you take away the two heads that mislead it, too?

# %% tags=["active-ipynb"]
# if not grading:
#     def without_three(at, found):
#         """Layer 1 without its heads 0, 1 and 3."""
#         for head in (0, 1, 3) if at == 1 else ():
#             found = mean_ablate(found, head)
#         return found
#
#     print(f"without heads 0, 1 and 3 of layer 1  {again(without_three):.2f}")

# %% [markdown]
# **What to notice.** The loss is 3.45, about $\log 32$. The model knows nothing, and is no longer misled.

# %% [markdown]
# ### The two together
#
# One question is left: how does the second *juno* find the word that stood after the first? Follow the chain backwards.
# A head of layer 1 looks, with its $M_{QK}$, for something in a word; what stands there was written by layer 0's head
# number 2, with its $M_{OV}$, and came from the word before. Chained together that is one matrix from words to words
# again. Rows: the word that looks. Columns: the word that stood *before* the one looked at.
#
# $$E\; M_{QK}\; (E\, M_{OV})^\top$$

# %% tags=["active-ipynb"]
# if not grading:
#     notes = E @ ov_circuit(model.W_V[0], model.W_O[0], model.num_heads)[2]   # (18, d_model), of head 2
#     looks_for = E @ qk_circuit(model.W_Q[1], model.W_K[1], model.num_heads) @ notes.T    # (h, 18, 18)
#     title = "layer 1: the row looks for a word that came after the column"
#     display(heatmap(looks_for / np.abs(looks_for).max(), rows=words, columns=words, title=title))

# %% [markdown]
# **What to notice.** Head 1 has a blue diagonal again: the word *juno* looks for a word that came after *juno*. Nobody
# put it there; training did. And a single layer could not do it: in the first layer no word knows yet what stood
# before it, so there is nothing of the kind to be found. The second layer looks for what the first has written. This is
# called **composition** of heads, and since the first layer has written into what becomes a *key*, **K-composition**
# (Elhage et al. 2021). Both layers read from the residual stream of assignment 5 and write into it.

# %% [markdown]
# ## 7. How the heads appear
#
# *About 10 minutes · easy*
#
# While the model was trained, its loss was measured every 20 steps, on words that are new and on words that have come
# before, and so were both scores of each head, computed as you do it.

# %% tags=["active-ipynb"]
# if not grading:
#     past = copycat.history()
#     steps = past.steps.astype(int)
#     title = "loss of words that have come before (each line is a tenth of the one above)"
#     display(loss_curve(past.again, title, ends=(steps[0], steps[-1])))

# %% [markdown]
# Watch it happen. Move the slider, with the mouse or with the arrow keys, from step to step: when does the loss fall,
# and what do you see on the left and on the right in that moment?

# %% tags=["active-ipynb"]
# def at_step(step):
#     """Both scores of each head after so many steps, (2, layers, heads)."""
#     now = list(steps).index(step)
#     scores = np.stack([past.previous[now], past.induction[now]]).reshape(2, 2, -1)
#     title = f"step {step}: the loss of words that have come before is {past.again[now]:.2f}"
#     names = ["looks at the word before", "looks at the word to be copied"]
#     heads = [f"head {head}" for head in range(scores.shape[-1])]
#     return heatmap(scores.round(2), rows=["layer 0", "layer 1"], columns=heads, title=title, names=names)
#
# if not grading:
#     display(explore(at_step, step=(0, 80, 160, 180, 200, 220, 240, 280, 400, steps[-1].item())))

# %% [markdown]
# **What to notice.** For 160 steps hardly anything happens. Then, within 80 steps, the loss falls from 3.3 to 0.4, as
# from a cliff. In the same moment both heads appear: the one that looks at the word before, and the one that looks up.
# Neither is of any use without the other. So as long as both are missing, hardly anything tells the model in which
# direction to change; once there is a trace of both, each makes the other worth while, and it goes fast. What comes
# after that is polish.
#
# Olsson et al. (2022) saw the same in language models of many sizes: induction heads appear within a short stretch of
# training, and in that very stretch in-context learning gets much better. For small models that have only attention they also
# showed by ablation that the heads cause it. For large models the evidence is that both happen at the same time.

# %% [markdown]
# ### Train one yourself
#
# The model above had some help: each head learned at **a pace of its own**, head 2 of layer 0 and head 1 of layer 1
# fastest. What happens if all heads learn at the same pace? Predict it before you run the cell.
#
# This trains two models from nothing, for 400 steps each. It takes about twenty seconds.

# %% tags=["active-ipynb"]
# if not grading:
#     ONE_PACE = ((1, 1, 1, 1), (1, 1, 1, 1))
#     trained = {}
#     for what, paces in (("paces as above", copycat.PACES), ("one pace for all", ONE_PACE)):
#         trained[what] = copycat.train(paces, steps=400)
#         weights = trained[what].read(ids).weights[1].mean(axis=0)
#         scores = induction_score(weights, period=12)
#         shown = "   ".join(f"head {head} {score:.2f}" for head, score in enumerate(scores))
#         print(f"{what:17} induction scores of layer 1: {shown}")

# %% [markdown]
# **What to notice.** With paces of their own, only head 1 looks up. With one pace for all, every head of layer 1 became an
# induction head. Nobody needs four of them, but heads that start alike and learn alike come to do the same.
#
# What would an ablation say? Silence the heads of layer 1 one after the other, first one, then two, then three, then all:

# %% tags=["active-ipynb"]
# if not grading:
#     def silenced(some_model, count):
#         """The mean loss in the second round with the first `count` heads of layer 1 ablated."""
#         def change(at, found):
#             for head in range(count if at == 1 else 0):
#                 found = mean_ablate(found, head)
#             return found
#
#         return copycat.losses(some_model.read(ids, change).logits, ids)[:, 12:].mean()
#
#     print("heads of layer 1 silenced", *(f"{count:6}" for count in range(5)))
#     for what, some_model in trained.items():
#         print(f"{what:25}", *(f"{silenced(some_model, count):6.2f}" for count in range(5)))

# %% [markdown]
# **What to notice.** Loss in the second round; $\log 32 = 3.47$ is knowing nothing. Where one head does the work, the loss
# jumps when head 1 goes, and the others change nothing. Where four heads share the work, each one that goes costs a part of
# it. In the first model, "which head looks up?" has a clear answer. In the second it has none, and in large models you
# find both. So a finding about one model is a finding about *that* model, and about how it was trained.

# %% [markdown]
# ### And a model that has read a novel?
#
# The model above was made for its task. `trained_decoder`, which you know from assignment 2, has read *Pride and Prejudice*: three layers of four
# heads, with feed-forward networks between them. In a quarter of what it read, a stretch of the novel came again and again, so copying paid. Does it have the two heads,
# one for the token before and one that looks up?
#
# Your functions measure it. For the first score it reads twenty stretches of the novel that it was not trained on. For the second it reads twenty words
# of the novel in random order, and then the same again. **Predict first:** what will the largest of each score be?

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import novel, trained_decoder
#
#     tokenizer = trained_decoder.tokenizer()
#     prose = tokenizer.encode(novel.text()[1])                       # the chapters that it was not trained on
#     # words of one token
#     whole = [token for token in tokenizer.tokens if token.startswith(" ") and token[1:].isalpha()]
#     random = np.random.default_rng(0)
#     before, copied, surprise = np.zeros((3, 4)), np.zeros((3, 4)), np.zeros(39)
#     for n in range(20):
#         stretch = trained_decoder.read(tokenizer.decode(prose[60 * n : 60 * n + 60]))
#         once = "".join(random.permutation(whole)[:20])
#         twice = trained_decoder.read(once + once)                   # 40 tokens
#         before += [previous_token_score(layer) / 20 for layer in stretch.weights]
#         copied += [induction_score(layer, period=20) / 20 for layer in twice.weights]
#         surprise += copycat.losses(twice.logits[None], twice.ids[None])[0] / 20
#     for what, scores in (("token before", before), ("token to be copied", copied)):
#         for layer in range(3):
#             shown = "   ".join(f"head {head} {score:.2f}" for head, score in enumerate(scores[layer]))
#             print(f"{what:18}  layer {layer}: {shown}")
#     print(f"loss in the first round {surprise[:19].mean():.2f}, in the second {surprise[20:].mean():.2f}")

# %% [markdown]
# **What to notice.** Each head of layer 0 puts about a quarter of its weight on the token before, up to 0.28, where looking at everything evenly would give 0.06.
# So there are four blurred previous-token heads, and none as sharp as the 0.82 above. **There is no induction head**: the largest score is 0.04, and
# looking evenly would give 0.03. So the second round helps it little: the loss is 9.81 after 9.94. (Both are worse than guessing among 1,024 tokens: it expects English, and gets
# a list.)
#
# It was not enough that copying paid. Was the training too short, or the model too small? We have not tried; you could. It is a result all the same: a score can say *none*, and the
# heads that you have found in one model need not be in another.

# %% [markdown]
# ## 8. In your own words
#
# *About 10 minutes · medium*
#
# Explain to somebody who knows attention how this model finds the next word of the second round:
#
# - Which head does what? Back each claim with a number or a picture from above: a score, an ablation, a patch or a
#   circuit.
# - Why could a single layer not do it?
# - Which of these four shows that a head is *needed*, and which only where it *looks*?
# - In the training, why did the loss stay where it was for so long, and then fall so fast?
#
# Six sentences are enough.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-looking-at-heads", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# The model looks up: at the second *juno* it finds the word that came after the first, and says it. Head 2 of layer 0
# notes on each word which word stood before it: it puts 0.82 of its weight on the word before, and a patch of it, at
# the two places in question, turns the answer as if other people stood there. Head 1 of layer 1 looks for the note that
# names the present word (the product of its QK circuit with the other head's OV circuit has a strong diagonal), with an
# induction score of 0.90, and copies the word that it finds there: its OV circuit has a strong diagonal, too. One layer
# alone could not do it, since in the first layer a word holds only itself and its place, so there is no note to look
# for. A score tells where a head looks, and so does a picture of the weights; that a head is needed only an ablation
# tells (0.02 becomes 3.59 or 8.22), a patch what it carries, and a circuit what it would do with any word. In the
# training neither head is of use without the other, so at first there is almost no gradient towards either; as soon as
# both exist a little, each improves what the other is good for, and the loss falls at once.

# %% [markdown]
# ---
#
# **What you can do now.** You can score heads, ablate and patch them, read their weights as circuits, and tell which of
# these shows what a head *needs*, *carries*, *looks for* or *copies*. That is where research on the inside of language
# models begins.

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
