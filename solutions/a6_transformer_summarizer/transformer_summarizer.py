# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The transformer summarizer
#
# **Time:** about 150 minutes, one minute of it training. **Difficulty:** ●●○. **Builds on:** assignments 2 to 5, of which
# you may bring your own code.
#
# A language model does one thing: it says which word comes next. So how do you make it *summarise*? You show it texts in
# which a summary comes next:
#
# ```text
# in oslo , mira won the chess cup .  <sep>  mira wins the chess cup in oslo  <end>
# └─────────── article ────────────┘         └────────── summary ──────────┘
# ```
#
# After enough of them, give it an article and the separator `<sep>`, and let it go on. What it writes up to `<end>` is the
# summary. There is no second network and no new kind of layer (Liu et al. 2018 wrote Wikipedia this way).
#
# 1. `training_example`
# 2. `summary_loss`
# 3. `next_token`
# 4. `greedy_summary`
# 5. train it: a loss curve, its summaries, and what each head looks at
# 6. `ablate`: take heads out, and see what they were good for
# 7. `next_word_probabilities`
# 8. `cross_attention`
# 9. a second task, with real words
# 10. questions to answer in words
#
# **How to work.** Write your code in place of `raise NotImplementedError()`, run the cell, then run the check below it. A mistake
# in one exercise does not cost you the next.
#
# **What also counts**, a little each time: lists and tensors that you are given stay as they are, a `float32` model has a `float32`
# loss, and arguments may come by name. Numbers are finite, and sizes at least 1, unless a docstring says otherwise.
#
# **Stuck?** `hint("training_example")` in any cell gives a first nudge, then a second one, then an example and where to read.
# Nobody sees what you ask for. After a restart, run the first code cell again.

# %%
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from attention_course import check, explore, grading, heatmap, highlight, hint, look, loss_curve, news
from attention_course import own_or_plain, without_head, word_by_word


# %% [markdown]
# ## The news
#
# The texts are made up, from templates, by a small program that came with the checks: nothing to download, and the same for
# everybody. Some stand aside and are not for training: **held out**, to see later what the model does with news it has never
# met. No summary of theirs is among the others.

# %% tags=["active-ipynb"]
# if not grading:
#     from textwrap import fill, indent
#
#     train, held_out = news.items()
#     print(len(train), "items to train on,", len(held_out), "held out,", len(news.WORDS), "different words\n")
#     moving = next(item for item in train if " moves " in item.summary)
#     nowhere = next(item for item in train if len(item.summary.split()) == 5)
#     for item in (*train[:3], moving, nowhere):
#         print(fill(item.article, 105), "\n   →", item.summary, "\n")

# %% [markdown]
# **What to notice.** One sentence tells the news: *who* did *what*, *where*. The others are there to mislead: other people in other
# places, what happened a year ago, what somebody hopes to do. The news may stand anywhere. Sometimes it is turned around (*was won
# by mira*), sometimes it takes two sentences (*mira came to oslo . there , she won ...*) and *she* must find her name. Sometimes nobody says
# where, and the summary ends earlier; sometimes the news is of another kind, and somebody *moves to* another place. So the model has
# to decide where a summary ends.
#
# To the model words are numbers, their **ids**:

# %% tags=["active-ipynb"]
# if not grading:
#     ids = news.encode("mira wins the chess cup in oslo")
#     print(ids)
#     print(news.decode(ids))
#     print("separator", news.SEPARATOR_ID, "  end", news.END_ID)

# %% [markdown]
# ## 1. `training_example`
#
# *About 10 minutes · easy*
#
# One text for the model to read: **article, separator, summary, end**. And beside it a mask that says which tokens the loss
# counts. The article is given to the model. It need not learn to write it, nor the separator, which we put there. What it
# has to write itself is the summary, **and the end**: else it never learns when to stop.
#
# By hand, with ids made up for it: article `[11, 12, 13]`, summary `[14, 15]`, separator 1, end 2.
#
# | place | 0 | 1 | 2 | 3 | 4 | 5 | 6 |
# | --- | --- | --- | --- | --- | --- | --- | --- |
# | `token_ids` | 11 | 12 | 13 | 1 | 14 | 15 | 2 |
# | what it is | article | article | article | separator | summary | summary | end |
# | `loss_mask` | False | False | False | False | True | True | True |
#
# The mask stands at the tokens that are to be *written*. At which place they are *predicted* is the business of the loss, below.

# %% nbgrader={"grade": false, "grade_id": "training_example", "locked": false, "schema_version": 3, "solution": true, "task": false}
def training_example(article_ids, summary_ids, separator_id, end_id):
    """One text to learn from, and which of its tokens the loss counts.

    article_ids, summary_ids: lists of ints; either may be empty
    separator_id, end_id: ints; the end's id may stand in the article, too, the separator's
        does not

    Returns the tuple (token_ids, loss_mask) of two lists of the same length: article,
    separator, summary, end, as ints of Python; and a bool for each of them, True only at
    the summary and its end. 0 is an id like any other. The lists that came in stay as they
    are.
    """
    ### BEGIN SOLUTION
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    given, written = len(article_ids) + 1, len(summary_ids) + 1   # with the separator; with the end
    return token_ids, [False] * given + [True] * written
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-training_example", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("training_example")

# %% [markdown]
# **What to notice.** One item of the news, from your function. Only the coloured part teaches.

# %% tags=["active-ipynb"]
# if not grading:
#     item = min(train, key=lambda item: len(item.article))
#     token_ids, loss_mask = training_example(
#         news.encode(item.article), news.encode(item.summary), news.SEPARATOR_ID, news.END_ID
#     )
#     words = news.decode(token_ids).split()
#     display(highlight(np.array(loss_mask, dtype=float), words, title="what the loss counts"))

# %% [markdown]
# ## 2. `summary_loss`
#
# *About 20 minutes · medium*
#
# The model gives logits at every place, $(B, L, V)$. Those at place $t$ say what may come **next**: they are to predict token
# $t + 1$. So logits and tokens have to be shifted against each other by one before they are compared.
#
# For each counted token the loss is $-\log$ of the probability that the model gave to it, the **cross-entropy**:
#
# $$\text{loss} = \frac{1}{N} \sum_{b,\, t \,:\; \text{mask}_{b,\, t+1}} -\log \operatorname{softmax}(\text{logits}_{b,\, t})_{\;\text{token}_{b,\, t+1}}$$
#
# $N$ is how many tokens are counted **in the whole batch**. So each token has the same weight, whether its text is long or short.
#
# Note what the model reads while it learns: always the *right* words of the summary, even after it has predicted a wrong one.
# This is called **teacher forcing**. The exponential of this loss is the model's **perplexity**: a model that hesitates
# between $k$ equally likely words has perplexity $k$.

# %% [markdown]
# **By hand**, one text of four tokens, with a vocabulary of five words: `[3, 1, 4, 2]`, that is *article, separator, summary, end*.
# The last two count.
#
# | place | 0 | 1 | 2 | 3 |
# | --- | --- | --- | --- | --- |
# | token | 3 | 1 | **4** | **2** |
# | counted | no | no | yes | yes |
# | probabilities after it | (0.2, 0.1, 0.1, 0.5, 0.1) | (0.1, 0.1, 0.2, 0.1, **0.5**) | (0.3, 0.1, **0.25**, 0.2, 0.15) | (0.6, 0.1, 0.1, 0.1, 0.1) |
#
# The first counted token is 4, at place 2. It is predicted at place 1, where it got 0.5, so its loss is $-\log 0.5 = 0.693$. The end,
# token 2 at place 3, is predicted at place 2 and got 0.25: $-\log 0.25 = 1.386$. The mean of the two is **1.040**. What is predicted at
# places 0 and 3 does not matter.
#
# `F.cross_entropy` takes logits, not probabilities, and does softmax and logarithm in one, so large logits do no harm.

# %% nbgrader={"grade": false, "grade_id": "summary_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def summary_loss(logits, token_ids, loss_mask):
    """Mean cross-entropy of the next token, over the tokens that count.

    logits: float tensor, (B, L, V); those at place t predict the token at place t + 1
    token_ids: int64 tensor, (B, L); 0 is an id like any other
    loss_mask: bool tensor, (B, L), True at tokens that count; at least one does, and never
        the first of a text

    Returns a tensor without axes, in the dtype of the logits: the mean over all counted
    tokens of the batch. It is differentiable by the logits. The tensors that came in stay
    as they are.
    """
    ### BEGIN SOLUTION
    predictions = logits[:, :-1]                           # (B, L - 1, V): nothing follows the last token
    targets, counted = token_ids[:, 1:], loss_mask[:, 1:]  # (B, L - 1): nothing predicts the first token
    return F.cross_entropy(predictions[counted], targets[counted])   # (N, V) and (N,)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-summary_loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("summary_loss")

# %% [markdown]
# **What to notice.** The example by hand. A model that knows nothing gives each of $V$ words the same probability, and its loss is
# $\log V$: remember that number when training begins.

# %% tags=["active-ipynb"]
# probabilities = torch.tensor([[[0.2, 0.1, 0.1, 0.5, 0.1], [0.1, 0.1, 0.2, 0.1, 0.5],
#                                [0.3, 0.1, 0.25, 0.2, 0.15], [0.6, 0.1, 0.1, 0.1, 0.1]]])   # (1, 4, 5)
# tokens, counts = torch.tensor([[3, 1, 4, 2]]), torch.tensor([[False, False, True, True]])
# print("by hand           ", round(summary_loss(probabilities.log(), tokens, counts).item(), 3))
# print("knows nothing     ", round(summary_loss(torch.zeros(1, 4, 5), tokens, counts).item(), 3))
# print("log 5             ", round(math.log(5), 3))

# %% [markdown]
# ## 3. `next_token`
#
# *About 10 minutes · easy*
#
# Suppose the model is trained, and reads `[4, 7]`. What comes next? Make a batch of one, ask the model, and take the word with the
# largest logit **after the last token**.
#
# Here is a model that you can follow in your head. It has learned one thing: to count. After 4 comes 5, after 9 comes 0.

# %% tags=["active-ipynb"]
# class Counting(nn.Module):
#     """After token i comes token i + 1; after 9 comes 0. It takes ids (B, L) and gives logits (B, L, 10)."""
#
#     def forward(self, token_ids):
#         assert token_ids.ndim == 2, "a model takes a batch of texts, (B, L)"
#         return 5.0 * F.one_hot((token_ids + 1) % 10, 10).float()
#
# counting = Counting()
# heatmap(counting(torch.tensor([[4, 7]]))[0],
#         rows=["after 4", "after 7"], columns=list("0123456789"), title="logits")

# %% [markdown]
# Two rows of logits, one for each place. The row after 4 says what could follow *4*. But 7 stands there already, and we want to go on from
# the end: the last row, whose largest logit is that of 8. So `next_token(counting, [4, 7])` is 8.
#
# The answer is a Python `int`, so that it can be appended to a list of ids. Gradients are of no use here; `torch.no_grad()` saves
# the work.

# %% nbgrader={"grade": false, "grade_id": "next_token", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_token(model, token_ids):
    """The likeliest next token.

    model: takes an int64 tensor of ids, (B, L), and gives logits, (B, L, V)
    token_ids: a list of ints, one or more; it stays as it is

    Returns an int of Python: the id with the largest logit after the whole text; of equal
    ones any of them. No word is drawn.
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        logits = model(torch.tensor([token_ids]))   # (1, L, V): a batch of one text
    return logits[0, -1].argmax().item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-next_token", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("next_token")

# %% [markdown]
# ## 4. `greedy_summary`
#
# *About 10 minutes · medium*
#
# Once more and once more: this is how a model writes. It reads the article and the separator, says the likeliest next token,
# **reads that, too**, and says the next one. Until the token is the end, or `max_new_tokens` have been written.
#
# With `counting`, article `[4, 2]`, separator 5 and end 9:
#
# | it reads | it says |
# | --- | --- |
# | 4 2 5 | 6 |
# | 4 2 5 6 | 7 |
# | 4 2 5 6 7 | 8 |
# | 4 2 5 6 7 8 | 9, the end |
#
# The summary is `[6, 7, 8]`: what was written, without what was given and without the end. With `max_new_tokens=2` it is `[6, 7]`.
#
# It is called **greedy** since it takes the best token at each step and never looks back.
#
# You may call `next_token` from above. If it has a mistake, grading judges this exercise with a right one in its place.

# %% nbgrader={"grade": false, "grade_id": "greedy_summary", "locked": false, "schema_version": 3, "solution": true, "task": false}
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    """What the model writes after an article.

    model: takes an int64 tensor of ids, (B, L), and gives logits, (B, L, V)
    article_ids: a list of ints, in which the end's id may stand, too; it stays as it is
    separator_id, end_id: ints
    max_new_tokens: the most tokens to write, an int, 0 or more

    Returns a list of ints: the tokens written, the end not included. Nothing but the end
    ends it early: the separator and 0 are tokens like any other.
    """
    ### BEGIN SOLUTION
    summary = []
    for _ in range(max_new_tokens):
        token = next_token(model, [*article_ids, separator_id, *summary])
        if token == end_id:
            break
        summary.append(token)
    return summary
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-greedy_summary", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("greedy_summary")

# %% [markdown]
# **What to notice.** The model never learned what a summary is. Here it counts:

# %% tags=["active-ipynb"]
# print(greedy_summary(counting, [4, 2], separator_id=5, end_id=9, max_new_tokens=20))
# print(greedy_summary(counting, [4, 2], separator_id=5, end_id=9, max_new_tokens=2))

# %% [markdown]
# ## Bring your decoder
#
# The model is the one you built in the last two assignments. Copy your own code into these four cells: `MultiHeadAttention` from
# assignment 4, and `positional_encoding`, `DecoderBlock` and `TransformerDecoder` from assignment 5.
#
# They are not graded here. **Is yours not ready?** Leave the cells as they are. Training then takes a decoder made of PyTorch's own
# layers, and everything below works all the same.

# %% nbgrader={"grade": false, "grade_id": "bring-MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """From assignment 4: forward(x, mask=None) -> output (..., L, d_model), weights (..., h,
    L, L).
    """

    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        ### BEGIN SOLUTION
        if d_head is None and d_model % num_heads:
            raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
        self.num_heads, self.d_head = num_heads, d_head or d_model // num_heads
        wide = num_heads * self.d_head
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, wide, bias=False) for _ in range(3))
        self.W_O = nn.Linear(wide, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        def split(projected):
            return projected.unflatten(-1, (self.num_heads, self.d_head)).transpose(-3, -2)  # (..., h, L, d)

        query, key, value = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)            # (..., h, L, L)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)   # for a query that may attend to nothing
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2)), weights  # (..., L, d_model)
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def positional_encoding(length, d_model):
    """From assignment 5: (length, d_model), sines on even and cosines on odd columns."""
    ### BEGIN SOLUTION
    column = np.arange(d_model)
    angle = np.arange(length)[:, np.newaxis] / 10000 ** (2 * (column // 2) / d_model)   # (length, d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-DecoderBlock", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderBlock(nn.Module):
    """From assignment 5: forward(x, padding=None) -> (B, L, d_model), pre-norm and causal."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        ### END SOLUTION

    def forward(self, x, padding=None):
        ### BEGIN SOLUTION
        mask = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool, device=x.device).tril()
        if padding is not None:
            mask = mask & padding.unsqueeze(-3)         # (B, 1, L, L)
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-TransformerDecoder", "locked": false, "schema_version": 3, "solution": true, "task": false}
class TransformerDecoder(nn.Module):
    """From assignment 5: forward(token_ids, padding=None) -> logits (B, L, vocab_size)."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)   # as large as the positions, once scaled
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())
        self.blocks = nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        ### END SOLUTION

    def forward(self, token_ids, padding=None):
        ### BEGIN SOLUTION
        x = self.embedding(token_ids) * math.sqrt(self.embedding.embedding_dim)   # (B, L, d_model)
        x = x + self.positions[: token_ids.shape[-1]]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))                                          # (B, L, vocab_size)
        ### END SOLUTION


# %% [markdown]
# ## 5. Train it
#
# *About 20 minutes · easy*
#
# First all examples in one tensor. Texts differ in length, so the short ones are filled up at their end. Does the model mind? It is
# causal, no real token ever looks to its right, and the loss counts nothing there: so there is no need for a padding mask this time.
#
# **Is your `training_example` or your `summary_loss` not ready?** Run the cells all the same. They say so, and take one that is ready.

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import news_training
#
#     try:
#         examples = [
#             training_example(
#                 news.encode(item.article), news.encode(item.summary), news.SEPARATOR_ID, news.END_ID
#             )
#             for item in train
#         ]
#     except NotImplementedError:
#         print("your training_example is not written yet: training takes texts that are ready")
#         all_ids, all_masks = news_training.tensors(train)
#     else:
#         L = max(len(ids) for ids, _ in examples)   # all_ids and all_masks are (6000, L)
#         all_ids = torch.tensor([ids + [news.PADDING_ID] * (L - len(ids)) for ids, _ in examples])
#         all_masks = torch.tensor([mask + [False] * (L - len(mask)) for _, mask in examples])
#     print(tuple(all_ids.shape), "ids, of which the loss counts", int(all_masks.sum()))

# %% [markdown]
# Then a model: two layers of four heads, 64 numbers per word. (To train PyTorch's layers although yours are written, put `None` in
# place of `TransformerDecoder`.)

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import news_training
#
#     torch.manual_seed(0)
#     V = len(news.WORDS)
#     sizes = {"d_model": 64, "num_heads": 4, "d_ff": 128, "num_layers": 2, "max_length": 64}
#     model = own_or_plain(TransformerDecoder, vocab_size=V, **sizes)
#     loss_of = news_training.own_or_ready_loss(summary_loss)
#     start = loss_of(model(all_ids[:64]), all_ids[:64], all_masks[:64]).item()
#     print(f"loss before training {start:.2f}; of a model that knows nothing: log {V} = {math.log(V):.2f}")
#     # An alarm, before any time goes into training: another last word must not change what stands before it.
#     one, other = all_ids[:8].clone(), all_ids[:8].clone()
#     other[:, 20:] = (other[:, 20:] + 1) % V
#     with torch.no_grad():
#         moved = (model(one)[:, :20] - model(other)[:, :20]).abs().max().item()
#     if moved > 1e-4:
#         print(f"ALARM: words to come move the logits before them by {moved:.2g}.\n"
#               "This model sees the future: it will learn to copy the answer in training, and write\n"
#               "nonsense afterwards. Look at the causal mask in your DecoderBlock.")

# %% [markdown]
# Now train: 800 steps, each on 64 random examples. The learning rate rises at first and then falls to nothing. This takes about half
# a minute, on a busy machine perhaps two. (It is left out while your work is graded.)

# %% tags=["active-ipynb"]
# if not grading:
#     import sys
#
#     from tqdm import trange
#
#     torch.set_num_threads(1)   # in a model this small, two cores would mostly wait for each other
#     STEPS, BATCH = 800, 64
#     optimizer = torch.optim.AdamW(model.parameters())
#     schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=STEPS, pct_start=0.1)
#     losses = []
#     progress = trange(STEPS, desc="training", unit="step", file=sys.stdout, mininterval=1, ncols=80)
#     for step in progress:
#         some = torch.randint(len(all_ids), (BATCH,))
#         loss = loss_of(model(all_ids[some]), all_ids[some], all_masks[some])
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
#         schedule.step()
#         losses.append(loss.item())
#         progress.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
#
#     display(loss_curve(losses, title="loss, step by step (each line is a tenth of the one above)"))

# %% [markdown]
# **What to notice.** Down to a loss of about 1 the model learns which words summaries are made of, and in which order: a name, then
# *wins*, *opens* or the like. For the name itself it can only guess. Then its heads find out how to **copy a word from the article**: the line
# falls steeply, and from there on it is right nearly always.

# %% [markdown]
# ### Read what it writes
#
# On news it has never seen:

# %% tags=["active-ipynb"]
# if not grading:
#     model.eval()
#
#     def summarise(article):
#         ids = news.encode(article)
#         return news.decode(greedy_summary(model, ids, news.SEPARATOR_ID, news.END_ID, max_new_tokens=12))
#
#     for item in held_out[:4]:
#         print(fill(item.article, 105), "\n   →", summarise(item.article), "\n")

# %% [markdown]
# **Predict first.** The next cell lets the model summarise all 400 held-out items and shows where it was wrong. Nearly all will be right. In those
# that are not, which word will be wrong: *who*, *what* or *where*?

# %% tags=["active-ipynb"]
# if not grading:
#     written = [summarise(item.article) for item in held_out]
#     wrong = [(item, got) for item, got in zip(held_out, written) if got != item.summary]
#     print(f"word for word right: {1 - len(wrong) / len(held_out):.1%} of {len(held_out)} held-out items\n")
#     for item, got in wrong[:3]:
#         print(fill(item.article, 105), "\n   it wrote    ", got, "\n   should be   ", item.summary, "\n")

# %% [markdown]
# **What to notice.** The first line says how many are right, word for word; trained here, 99 of 100 were. Look at those that
# are not (perhaps yours has none). They are good English, with a name that does not belong there: wrong *and* fluent, as large models are at times.

# %% [markdown]
# ### What each head looks at
#
# The model is about to write a word. Which words of the article does each head look at in that moment? Choose *who*, *where* or *what* by the slider. More colour is more weight; layers and
# heads are counted from 0.

# %% tags=["active-ipynb"]
# if not grading:
#     with_she = [item for item in held_out if " she " in item.article]
#     item = next((item for item in with_she if summarise(item.article) == item.summary), with_she[0])
#     print(fill(item.article, 105), "\n   →", item.summary)
#     given, summary = item.article.split() + [news.SEPARATOR], item.summary.split()
#     names = [f"layer {layer}, head {head}" for layer in range(2) for head in range(4)]
#
#     def about_to_write(word):
#         words = given + summary[: summary.index(word)]
#         title = f"about to write: {word}"
#         return highlight(look(model, [news.IDS[word] for word in words]), words, title=title, names=names)
#
#     display(explore(about_to_write, word=(summary[0], summary[-1], summary[3])))   # who, where, what

# %% [markdown]
# **What to notice.** Look for a head of the second layer that rests on the very word that is about to be written: it copies. Your heads may have shared the work in another way: they were drawn at random, and nobody told them what to do.

# %% [markdown]
# ### What a name cannot know
#
# How does the model know *which* name to copy? Think of what the vector of *mira* can hold. Your decoder is causal, so a name knows what
# stands **before** it, and nothing of what comes after. In *the chess cup was won by mira* the words that tell are before the name. In
# *mira won the chess cup* they come after it. There the name alone does not tell that it is the right one, and the separator, which
# reads everything, has to find out.
#
# **Predict first:** with which of the two kinds will your model pick a wrong name more often? The next cell reads some 2,400 fresh
# items, none of which was trained on, and counts.

# %% tags=["active-ipynb"]
# if not grading:
#     known = {item.summary for item in train}
#     fresh = [item for item in news.items(train=1, held_out=3500, seed=1)[1] if item.summary not in known]
#     before = [item for item in fresh if f"by {item.summary.split()[0]} " in item.article]
#     after = [item for item in fresh if item not in before]
#     kinds = {"the words that tell are before the name": before, "the words that tell come after it": after}
#     for what, some in kinds.items():
#         share = 1 - word_by_word(model, some)["who"]
#         print(f"{what:40} wrong name in {round(share * len(some)):3} of {len(some):5,} items: {share:.2%}")

# %% [markdown]
# **What to notice.** Wrong names are rare. Did yours do what the argument says? We trained three models, from other numbers at the start. Where the words
# that tell come after the name, 13, 7 and 16 of 1,914 names were wrong; where they come before it, 2, 6 and 2 of 505. Together that is 0.6 % and 0.7 %:
# no difference. The name alone cannot know, but the separator finds out nearly always.
#
# Taken by itself, the first of the three, with 0.7 % and 0.4 %, would have "shown" what we expected. So count over several models, above all if you like the result.

# %% [markdown]
# Now two articles. The second has two pieces of news, and the corpus has none of that kind. **Predict first:** which of the two will the model tell?
# (If you write your own, use the words in `news.WORDS`.)

# %% tags=["active-ipynb"]
# if not grading:
#     print(summarise("in oslo , mira won the chess cup . hugo stayed at home in lima ."))
#     print(summarise("in oslo , mira won the chess cup . in lima , hugo found a lost dog ."))

# %% [markdown]
# **What to notice.** Trained here, the second summary was *mira finds a lost dog in oslo*: each word stands in the article, the English is
# good, and nobody ever said it. The model copies *who*, *what* and *where* one after the other. In training there was one piece of news per
# article, so nothing taught it to make sure that all three come from the same sentence. A summary that says what its source does not is
# called a **hallucination** ([Maynez et al. 2020](https://arxiv.org/abs/2005.00661)).

# %% [markdown]
# **What this model cannot do.** It knows the 173 words of its news and no other one, so it cannot even read yours:

# %% tags=["active-ipynb"]
# if not grading:
#     try:
#         print(summarise("in oslo , a zebra won the chess cup ."))
#     except ValueError as error:
#         print(error)

# %% [markdown]
# And it has learned *these* sentences: who, what and where always stand in one of a few templates. News is a good place to see a model copy, since a
# summary is made of words of the article. It says little about language. Real text is longer, has thousands of words, and is never so regular.

# %% [markdown]
# ## 6. `ablate`
#
# *About 15 minutes · medium*
#
# The pictures show where a head *looks*. What it is **needed** for is another question, and there is one way to find out: take the head
# away, and see what goes wrong. This is called an **ablation** ([Michel et al. 2019](https://arxiv.org/abs/1905.10650)).
#
# A head speaks to the rest of the model through its own part of $W_O$, and in no other way: $\operatorname{Concat}(Z_0, \dots, Z_{h-1})\, W_O = \sum_i Z_i\, W_O^{(i)}$, as in
# assignment 4. With zeros instead of $W_O^{(i)}$, head $i$ is silent.
#
# All numbers of a model come as a dict, `model.state_dict()`: a name and a tensor each. The $W_O$ of layer 0 has the name
# `blocks.0.attention.W_O.weight`, and `nn.Linear` keeps it transposed, $(d_{model}, h \cdot d)$. What were a head's *rows* in assignment 4 are *columns* here.
#
# **By hand**, $d_{model} = 3$, two heads of width 2, without head 1.
#
# ```
# W_O.weight                   without head 1
#  1  2    3  4                 1  2    0  0
#  5  6    7  8                 5  6    0  0
#  9 10   11 12                 9 10    0  0
# head 0  head 1
# ```
#
# Everything else in the dict is as before, and so are the numbers of the model itself: it is to be whole again for the next head.

# %% nbgrader={"grade": false, "grade_id": "ablate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ablate(weights, layer, head, num_heads):
    """The numbers of a model without one of its heads.

    weights: a dict of float tensors by name, as `model.state_dict()` gives it; the W_O of
        layer i is under f"blocks.{i}.attention.W_O.weight" and has shape (d_model,
        num_heads * d)
    layer, head: which one is to be silent, ints, both counted from 0
    num_heads: how many heads each layer has

    Returns a dict with the same names: that head's columns in that layer's W_O are zero,
    all other numbers are as before, in their dtype. The dict and the tensors that came in
    stay as they are.
    """
    ### BEGIN SOLUTION
    name = f"blocks.{layer}.attention.W_O.weight"
    W_O = weights[name].clone()                  # (d_model, h * d): a copy, for the model keeps the original
    d = W_O.shape[1] // num_heads                # the width of one head
    W_O[:, head * d : (head + 1) * d] = 0
    return {**weights, name: W_O}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-ablate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("ablate")

# %% [markdown]
# ### Which head does it need for *where*?
#
# Now take away one head after the other, and count, on the held-out news, how often the model says the right word where all words before it are
# right: the first word of the summary (*who*), the words after it (*what*), the place (*where*), and the end.

# %% tags=["active-ipynb"]
# if not grading:
#     def print_shares(name, some_model):
#         """The share of right words in each part of the summaries, on the held-out news."""
#         print(f"{name:27}", *(f"{share:7.1%}" for share in word_by_word(some_model, held_out).values()))
#
#     header = " ".join([" " * 27, *(f"{part:>7}" for part in ("who", "what", "where", "end"))])
#     print(header)
#     print_shares("with all heads", model)
#     for layer in range(2):
#         for head in range(4):
#             other = without_head(model, ablate, layer, head, num_heads=4)   # a copy, changed by `ablate`
#             print_shares(f"without layer {layer}, head {head}", other)

# %% [markdown]
# **What to notice.** The share of right words with all heads, and with one of them silent. Trained here, *where* hung most on head 1 of layer 1: without it,
# nine of ten places were right, instead of all of them. So the model loses little, although this head rests on the place with all its weight! But in the
# pictures it was not the only one: three heads of that layer rested there, and they stand in for one another. So take away several, one after the other:

# %% tags=["active-ipynb"]
# if not grading:
#     other = model
#     print(header)
#     for head in (1, 0, 3):   # put in what the pictures and the numbers above say of yours
#         other = without_head(other, ablate, layer=1, head=head, num_heads=4)
#         print_shares(f"and without layer 1, head {head}", other)

# %% [markdown]
# **What to notice.** With all three heads silent, one place in five is right. The pictures show where a head *looks*.
# Only an ablation shows what the model *needs*, and an ablation of a single head may show too little. Your heads were drawn at random, so yours may be other heads, with other numbers.

# %% [markdown]
# ## 7. `next_word_probabilities`
#
# *About 20 minutes · medium*
#
# `greedy_summary` always says the likeliest word. For news that is what one wants; for a story it gets dull, and the model says the same each time. The other way
# is to **draw** the next word: each word as often as it is likely. Three knobs turn that towards the safe side or the wild one, in this order:
#
# 1. **Temperature** $T$: logits are divided by it before the softmax. Below 1 the likely gets likelier still, above 1 the unlikely gets a chance.
# 2. **`top_k`**: only the $k$ likeliest words stay. If several are equally likely at the end of the list, keep any of them, or all. Their probabilities grow in the same proportion, so that they sum to 1 again.
# 3. **`top_p`**, also called **nucleus sampling** ([Holtzman et al. 2020](https://arxiv.org/abs/1904.09751)): the smallest number of likeliest words stays whose probabilities
#    add up to `top_p` or more. (Of equally likely ones at the end, any will do, but no more than are needed.) Again they grow to sum to 1. A model that is sure has few words to choose from, one that is not has many.

# %% [markdown]
# **By hand**, four words with the probabilities 0.2, 0.4, 0.1, 0.3:
#
# | | word 0 | word 1 | word 2 | word 3 |
# | --- | --- | --- | --- | --- |
# | as they are | 0.2 | 0.4 | 0.1 | 0.3 |
# | temperature 0.5, so squares: 0.04, 0.16, 0.01, 0.09 over 0.3 | 0.13 | 0.53 | 0.03 | 0.3 |
# | `top_k=2` | 0 | 0.57 | 0 | 0.43 |
# | `top_p=0.6`: 0.4 is not enough, 0.4 + 0.3 is | 0 | 0.57 | 0 | 0.43 |
# | `top_p=0.75`: 0.4 + 0.3 is not enough, with 0.2 it is | 0.22 | 0.44 | 0 | 0.33 |
# | `top_k=3` | 0.22 | 0.44 | 0 | 0.33 |
# | `top_k=3` and `top_p=0.75`: in the line above, 0.44 + 0.33 is enough | 0 | 0.57 | 0 | 0.43 |

# %% nbgrader={"grade": false, "grade_id": "next_word_probabilities", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """How likely each word is to be drawn as the next one.

    logits: float tensor, (V,), for the words of the vocabulary
    temperature: what logits are divided by, a number above 0
    top_k: how many of the likeliest words stay, an int from 1 to V; None: all
    top_p: the smallest number of likeliest words stays whose probabilities, after top_k,
        add up to this or more; a number above 0 and up to 1; None: all

    Returns probabilities, (V,), in the dtype of the logits and in the order of the words: 0
    for a word that is cut off, and they sum to 1. The logits stay as they are.
    """
    ### BEGIN SOLUTION
    scaled = logits / temperature
    order = scaled.argsort(descending=True)                  # (V,): the words, the likeliest first
    left = torch.softmax(scaled[order], dim=-1)[:top_k]      # all of them where top_k is None
    left = left / left.sum()
    if top_p is not None:
        likelier = left.cumsum(dim=0) - left                 # what the words before this one have together
        left = torch.where(likelier < top_p, left, 0)
    probabilities = torch.zeros_like(scaled)
    probabilities[order[: len(left)]] = left / left.sum()
    return probabilities
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-next_word_probabilities", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("next_word_probabilities")

# %% [markdown]
# **What to notice.** Low temperature: most of it on one word. High: more even. `top_k` and `top_p` leave the proportions of the words that stay as they were.

# %% tags=["active-ipynb"]
# if not grading:
#     logits = torch.log(torch.tensor([0.2, 0.4, 0.1, 0.3]))
#     settings = [{"temperature": T} for T in (0.25, 0.5, 1.0, 2.0)] + [{"top_k": 2}, {"top_p": 0.75}]
#     rows = [f"{name} = {value}" for knobs in settings for name, value in knobs.items()]
#     table = torch.stack([next_word_probabilities(logits, **knobs) for knobs in settings])   # (6, 4)
#     columns, title = ["word 0", "word 1", "word 2", "word 3"], "how likely each word is drawn"
#     display(heatmap(table, rows=rows, columns=columns, title=title))

# %% [markdown]
# Now draw from the model that you have trained, three times at each setting:

# %% tags=["active-ipynb"]
# if not grading:
#     def drawn_summary(article, **knobs):
#         """A summary whose words are drawn, one after the other."""
#         ids = [*news.encode(article), news.SEPARATOR_ID]
#         for _ in range(12):
#             with torch.no_grad():
#                 probabilities = next_word_probabilities(model(torch.tensor([ids]))[0, -1], **knobs)
#             ids.append(torch.multinomial(probabilities, 1).item())
#             if ids[-1] == news.END_ID:
#                 break
#         return news.decode(ids).partition(news.SEPARATOR)[2].removesuffix(news.END).strip()
#
#     article = held_out[0].article
#     print(fill(article, 105), "\n   →", held_out[0].summary, "\n")
#     for knobs in ({"temperature": 1.0}, {"temperature": 4.0}, {"temperature": 4.0, "top_p": 0.5}):
#         print(knobs, *(drawn_summary(article, **knobs) for _ in range(3)), sep="\n   ")

# %% [markdown]
# **What to notice.** At temperature 1 this model is so sure that it says the same each time. At 4 it gets wild: a name from elsewhere, words in no order, an end that does not come. `top_p` cuts off the
# long tail of words that are each unlikely but many. What comes out is tamer, and still often wrong: so high a temperature makes words
# likely that do not fit, and `top_p` can only cut off what is less likely still.

# %% [markdown]
# ### Where much may follow
#
# A summary leaves little to chance. How a novel goes on leaves a lot: `trained_decoder`, which you know from assignment 2, has read *Pride and Prejudice*, and
# after *Elizabeth was* it holds no token for likelier than 0.055. Let it write, with your probabilities. **Predict first:** what will it write if it is
# nearly greedy?

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import trained_decoder
#
#     def drawn_prose(beginning, seed, **knobs):
#         """The beginning, and thirty tokens drawn after it."""
#         tokens, generator = trained_decoder.tokenizer().tokens, torch.Generator().manual_seed(seed)
#         text = beginning
#         for _ in range(30):
#             logits = torch.tensor(trained_decoder.read(text).logits[-1])       # (1024,)
#             drawn = torch.multinomial(next_word_probabilities(logits, **knobs), 1, generator=generator)
#             text += tokens[drawn.item()]
#         return text
#
#     settings = [{"temperature": 0.1}, {"temperature": 1.0}, {"top_p": 0.8}, {"temperature": 2.0},
#                 {"temperature": 2.0, "top_k": 10}]
#     for knobs in settings:
#         texts = [fill(drawn_prose('"My dear Mr. Bennet,"', seed, **knobs), 105) for seed in (0, 1)]
#         print(knobs, *(indent(text, "   ") for text in texts), sep="\n")

# %% [markdown]
# **What to notice.** Nearly greedy, it says *I am sure I am sure* again and again, or turns around a few letters: a text that always takes the likeliest step soon runs in a circle
# ([Holtzman et al. 2020](https://arxiv.org/abs/1904.09751), where `top_p` comes from). At temperature 1 it gets out of it, and makes up a word now and then.
# With `top_p=0.8` there are fewer of those. At 2 English falls to pieces, and `top_k=10` holds it together. So where one word is right, take the likeliest, and
# where many are, draw.

# %% [markdown]
# ## 8. `cross_attention`
#
# *About 25 minutes · hard*
#
# Article and summary are one text for your model, and its words look back at all of it. There is an older way to summarise, or to translate: two
# halves. An **encoder** reads the article, a **decoder** writes the summary, and between the two stands the third use of attention
# ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.2.3). Each word of the summary asks, and the words of the article answer:
#
# | | queries from | keys and values from | a word may look at |
# | --- | --- | --- | --- |
# | in the encoder | the article | the article | all words |
# | in the decoder | the summary | the summary | itself and those before it |
# | between them, **cross-attention** | **the summary** | **the article** | all words of the article |
#
# The summarizer above does without it, as most language models of today do. Models that translate, or write down what they hear, still have it.
#
# Please write it yourself: PyTorch's own attention earns nothing here. In other cells you may compare with it.

# %% [markdown]
# Everything else is as in assignment 4. Only there are two lengths now, $L$ words in `x` and $S$ in `memory`, which is what the paper's decoder gets from
# the encoder. Their vectors may differ in width, too. So the weights of a head are $(L, S)$: a row for each word that asks, a column for each that may
# answer. **Nothing is causal** here, since the article is all there before the first word is written.
#
# There is padding in both texts. That of `memory` must be hidden: nobody may look at it. That of `x` may ask what it likes, because nobody reads its output.
# `memory_padding` comes as `padding_mask` of assignment 2 makes it, $(B, 1, S)$, and knows nothing of heads.

# %% [markdown]
# **By hand**, two words that ask, three that answer, one head of $d_k = 4$; `I` is the identity, and `|` puts two matrices side by side:
#
# $$x = \begin{pmatrix} 2 & 0 \\ 0 & 2 \end{pmatrix} \quad \text{memory} = \begin{pmatrix} 1 & 0 \\ 0 & 1 \\ 1 & 1 \end{pmatrix} \quad
# W_Q = (I \,|\, 0) \quad W_K = \begin{pmatrix} 1 & 1 & 0 & 0 \\ 2 & -1 & 0 & 0 \end{pmatrix} \quad W_V = 10\, I \quad W_O = I$$
#
# | | scores | weights | output | weights if the third is padding | output |
# | --- | --- | --- | --- | --- | --- |
# | word 0 | 1, 2, 3 | 0.09, 0.24, 0.67 | 7.6, 9.1 | 0.27, 0.73, 0 | 2.7, 7.3 |
# | word 1 | 1, -1, 0 | 0.67, 0.09, 0.24 | 9.1, 3.3 | 0.88, 0.12, 0 | 8.8, 1.2 |

# %% [markdown]
# **Bring your attention.** Much of this you have written before. Copy `torch_masked_attention` from assignment 2, and `torch_split_heads` and `torch_concat_heads` from
# assignment 3, into these three cells. Then what is new is left to write: which text asks and which answers, and a padding mask that needs an
# axis for the heads.
#
# They are not graded here. Leave them as they are if you would rather write everything again.

# %% nbgrader={"grade": false, "grade_id": "bring-torch_masked_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def torch_masked_attention(query, key, value, mask=None):
    """From assignment 2: attention under a bool mask that broadcasts to (..., L, S) -> output
    (..., L, d_v), weights (..., L, S).
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])                        # (..., L, S)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1).masked_fill(~mask, 0.0)
    return weights @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-torch_split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def torch_split_heads(x, num_heads):
    """From assignment 3: (..., L, d_model) -> (..., h, L, d_model // h)."""
    ### BEGIN SOLUTION
    if x.shape[-1] % num_heads != 0:
        raise ValueError(f"{x.shape[-1]} columns cannot be shared evenly among {num_heads} heads")
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "bring-torch_concat_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def torch_concat_heads(heads):
    """From assignment 3: (..., h, L, d) -> (..., L, h * d)."""
    ### BEGIN SOLUTION
    return heads.transpose(-3, -2).flatten(-2)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "cross_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    """Multi-head attention of one text to another, differentiable in both and in the four
    matrices.

    x: the text that asks, (..., L, d_model)
    memory: the text that answers, (..., S, d_memory), with the same batch axes
    W_Q: (d_model, h * d_k); W_K: (d_memory, h * d_k); head 0 owns the first d_k columns,
        head 1 the next d_k
    W_V: (d_memory, h * d_v), its columns owned in the same way
    W_O: (h * d_v, d_model)
    num_heads: h, at least 1
    memory_padding: bool, (..., 1, S), True on real words of memory; None: all of them are
        real

    Returns the tuple (output, weights): output (..., L, d_model), weights (..., h, L, S),
    both in the dtype of the input. Large scores give finite numbers. Where memory is
    nothing but padding, weights and output are 0. What comes in stays as it is.
    """
    ### BEGIN SOLUTION
    def split(projected):
        return projected.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (..., h, L or S, d)

    query, key, value = split(x @ W_Q), split(memory @ W_K), split(memory @ W_V)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])    # (..., h, L, S)
    if memory_padding is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        hidden = ~memory_padding.unsqueeze(-3)                             # (..., 1, 1, S): for all heads
        # The lowest finite number, not -inf: no NaN where all is hidden. The second fill clears that row.
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=-1).masked_fill(hidden, 0.0)
    heads = weights @ value                                                # (..., h, L, d_v)
    return heads.transpose(-3, -2).flatten(-2) @ W_O, weights              # (..., L, d_model)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-cross_attention", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["active-ipynb"]
# ### BEGIN HIDDEN TESTS
# from autograder.student.stock import check
# ### END HIDDEN TESTS
# check("cross_attention")

# %% [markdown]
# **What to notice.** A translation, with vectors that are made up so that words of one meaning find each other. *chat* looks one word ahead and *noir* one
# back, for French puts the colour behind the cat. The last place of the English text is padding, and its vector is a bit of everything: each French
# word gives it a share, until `memory_padding` hides it.

# %% tags=["active-ipynb"]
# french, english = ["le", "chat", "noir", "dort"], ["the", "black", "cat", "sleeps", "<pad>"]
# x = torch.eye(4)                                         # (4, 4): determiner, animal, colour, activity
# memory = torch.tensor([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1],
#                        [0.7, 0.7, 0.7, 0.7]])            # (5, 4)
# matrices = [2.5 * torch.eye(4), 2.5 * torch.eye(4), torch.eye(4), torch.eye(4)]
# real = torch.tensor([[True, True, True, True, False]])   # (1, 5)
# for padding, title in ((None, "all of memory"), (real, "without its padding")):
#     output, weights = cross_attention(x, memory, *matrices, num_heads=1, memory_padding=padding)
#     display(heatmap(weights[0], rows=french, columns=english, title=title))

# %% [markdown]
# ## 9. A second task, with real words
#
# *About 10 minutes · easy*
#
# Nothing is graded here. The news could be summarised by copying; this task cannot be. The "article" is a word of *Pride and Prejudice* without its vowels, the "summary" is the word:
#
# ```text
# l z b t h  <sep>  e l i z a b e t h  <end>
# ```
#
# (Hebrew and Arabic leave out the short vowels, and their readers know what is meant.) Tokens are letters now. Your `training_example` makes the
# texts, a new decoder of the same size trains for 1,500 steps, and your `greedy_summary` lets it write. The last tenth of the novel is held out.
# This takes about twenty seconds, on a busy machine more than a minute.
#
# **Predict first:** how many words of 100 will be right? And how many of those that it has never met?

# %% tags=["active-ipynb"]
# if not grading:
#     import re
#     from collections import Counter
#
#     from attention_course import novel
#
#     LETTERS = "abcdefghijklmnopqrstuvwxyz"
#     PADDING, SEPARATOR, END = 26, 27, 28
#
#     def spelled(word):
#         return [LETTERS.index(letter) for letter in word]
#
#     def bare(word):
#         return re.sub("[aeiou]", "", word)
#
#     met, unmet = (re.findall(r"\b[a-z]{1,10}\b", text.lower()) for text in novel.text())
#     pairs = [training_example(spelled(bare(word)), spelled(word), SEPARATOR, END) for word in met]
#     longest = max(len(letters) for letters, _ in pairs)   # both tensors are (N, longest)
#     letter_ids = torch.tensor([letters + [PADDING] * (longest - len(letters)) for letters, _ in pairs])
#     letter_masks = torch.tensor([mask + [False] * (longest - len(mask)) for _, mask in pairs])

# %% tags=["active-ipynb"]
# if not grading:
#     torch.manual_seed(0)
#     sizes = {"vocab_size": 29, "d_model": 64, "num_heads": 4, "d_ff": 128, "num_layers": 2, "max_length": 32}
#     speller = own_or_plain(TransformerDecoder, **sizes)
#     spelling_losses = news_training.train(speller, letter_ids, letter_masks, steps=1500)
#     print(f"{len(met):,} words; loss at the end {sum(spelling_losses[-50:]) / 50:.2f}")

# %% tags=["active-ipynb"]
# if not grading:
#     speller.eval()
#
#     def with_vowels(consonants):
#         """What the model makes of them."""
#         letters = greedy_summary(speller, spelled(consonants), SEPARATOR, END, max_new_tokens=12)
#         return "".join(LETTERS[letter] for letter in letters if letter < PADDING)
#
#     often = Counter(met)
#     listed = {bare(word): word for word in sorted(often, key=often.get)}   # the more frequent word stays
#     running, new = unmet[:: len(unmet) // 500][:500], sorted(set(unmet) - set(met))
#     for what, some in (("words of the last chapters", running), ("words that it has never met", new)):
#         by_model = sum(with_vowels(bare(word)) == word for word in some) / len(some)
#         by_list = sum(listed.get(bare(word)) == word for word in some) / len(some)
#         print(f"{what:27} {len(some):4}   right by the model {by_model:4.0%}   by a list {by_list:4.0%}")
#     print(f"\n{'it reads':10} {'it writes':14} the word")
#     for word in ("elizabeth", "happiness", "more", *new[::25]):
#         print(f"{bare(word):10} {with_vowels(bare(word)):14} {word}")

# %% [markdown]
# **What to notice.** Trained here, the model was right in 70 of 100 words as they occur. A list that keeps, for each row of consonants, the most
# frequent word was right in 81. Both are wrong where consonants do not tell enough: *mr* may be *mr* or *more*, and only the words beside it would say.
#
# Of words that are new, the list knows none. The model has about a tenth of them right, and much of the rest could be English: look at the last lines above. So it has learned something about how words are spelled, and not only which there are.
#
# And mind the list. It needs no training, and for words that it knows it is the better tool. Before you praise a model, ask how far the simplest thing would get.

# %% [markdown]
# ## 10. In your own words
#
# *About 10 minutes · medium*
#
# 1. The loss counts only the summary and its end. What would the model spend its effort on if the article counted, too?
# 2. What would happen when it writes if the end did not count?
# 3. `greedy_summary` takes the likeliest word at each step. In which case does that lead to a worse summary than looking further ahead?
# 4. Which head does your model need for *where*? Give the numbers that you measured (if nothing was trained, those in the text above).
# 5. Why does a picture of what a head looks at not answer that question?
# 6. Suppose your summarizer had cross-attention: which words would ask, which would be `memory`, and who would see whom?
#
# A sentence or two for each is enough.

# %% [markdown] nbgrader={"grade": true, "grade_id": "written-summarizer", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# If the article counted, most of the loss would be about guessing names, places and days that nothing foretells, so most gradients would
# go into something no summary needs, and the few summary tokens would weigh little. If the end did not count, nothing would ever have taught the
# model to say it: it would write on after a perfect summary until `max_new_tokens` stops it. Greedy decoding commits to a word: where two sentences
# could be the news, a name that is slightly likelier at first may leave it with no good way to go on, while a beam of several beginnings could see
# that the other name leads to a likelier whole. For *where*, head 1 of layer 1 was needed most: without it 90 % of the
# places were right in place of 100 %, without any other single head 96 % or more. But heads 0 and 3 of that layer rest on the place as well, and with
# 1 and 0 silent 64 % are right, with all three 20 %: they carry the same information. So a head that looks at the place may be missed by nobody, and
# one that nobody misses alone may be needed together with others; only taking heads away shows it. With cross-attention the words of the summary would ask and
# the article would be `memory`: every word of the summary would see all of the article but its padding, and no word of the article any of the summary.

# %% [markdown]
# ---
#
# **What you can do now.** You can turn a task into text for a decoder, train one on it, let it write in more than one way, look at what
# its heads do, and test by ablation whether they are needed. You have also seen it be fluent and wrong, and you know why.

# %% tags=["active-ipynb"]
# if not grading:
#     from attention_course import progress
#
#     progress()   # all nine assignments, by what your own checks have found
