"""Written by a fourth person, from the notebooks alone."""

import math

import torch
import torch.nn.functional as F

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- training_example


@wrong("The separator is missing.", "separator-missing")
def training_example(article_ids, summary_ids, separator_id, end_id):
    return article_ids + summary_ids + [end_id], [False] * len(article_ids) + [True] * (len(summary_ids) + 1)


@wrong("End in the middle, separator at the end.", "marks-swapped")
def training_example(article_ids, summary_ids, separator_id, end_id):
    return article_ids + [end_id] + summary_ids + [separator_id], [False] * (len(article_ids) + 1) + [True] * (
        len(summary_ids) + 1
    )


# ---------------------------------------------------------------- summary_loss


@wrong("Logits at t predict token t - 1.", "shift-the-wrong-way")
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, 1:][loss_mask[:, :-1]], token_ids[:, :-1][loss_mask[:, :-1]])


@wrong("Base 2: log2.", "base-2")
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]]) / math.log(2)


@wrong("The sign is missing.", "sign-missing")
def summary_loss(logits, token_ids, loss_mask):
    return -F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]])


@wrong("Large logits overflow to inf.", "no-max-subtraction")
def summary_loss(logits, token_ids, loss_mask):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    said = p[:, :-1].gather(2, token_ids[:, 1:, None])[..., 0]
    return -said[loss_mask[:, 1:]].log().mean()


@wrong("Exp of the loss: perplexity.", "perplexity")
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]]).exp()


# ---------------------------------------------------------------- next_token


@wrong("Least likely: argmin.", "least-likely")
def next_token(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids]))[0, -1].argmin())


# ---------------------------------------------------------------- greedy_summary


@wrong("What was written is not read.", "own-words-not-read")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    said = []
    for _ in range(max_new_tokens):
        word = next_token(model, article_ids + [separator_id])
        if word == end_id:
            break
        said.append(word)
    return said


@wrong("Only the newest word is read.", "only-the-last-word-read")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    said, word = [], separator_id
    for _ in range(max_new_tokens):
        word = next_token(model, [word])
        if word == end_id:
            break
        said.append(word)
    return said


@wrong("Stops one token early.", "one-token-too-few")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    text, said = article_ids + [separator_id], []
    while len(said) < max_new_tokens - 1:
        word = next_token(model, text + said)
        if word == end_id:
            break
        said.append(word)
    return said


# ---------------------------------------------------------------- ablate


@wrong("Every head but this one is silenced.", "all-others-switched-off")
def ablate(weights, layer, head, num_heads):
    new = {name: t.clone() for name, t in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    keep = torch.zeros_like(W)
    keep[:, head * d : (head + 1) * d] = 1
    new[f"blocks.{layer}.attention.W_O.weight"] = W * keep
    return new


@wrong("The columns are cut out, not zero.", "columns-taken-out")
def ablate(weights, layer, head, num_heads):
    new = {name: t.clone() for name, t in weights.items()}
    key = f"blocks.{layer}.attention.W_O.weight"
    parts = list(new[key].chunk(num_heads, 1))
    del parts[head]
    new[key] = torch.cat(parts, 1)
    return new


@wrong("The head's values are zeroed as well.", "w-v-too")
def ablate(weights, layer, head, num_heads):
    new = {name: t.clone() for name, t in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    W[:, head * d : (head + 1) * d] = 0
    V = f"blocks.{layer}.attention.W_V.weight"
    if V in new:
        new[V][head * d : (head + 1) * d] = 0
    return new


# ---------------------------------------------------------------- next_word_probabilities


@wrong("Cut words' share is lost: sum below 1.", "not-shared-out-again+top-p-of-all-words")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, 0)
    if top_k is not None:
        keep = torch.zeros_like(p).index_fill(0, p.topk(top_k).indices, 1)
        p = p * keep
    if top_p is not None:
        ranked, order = p.sort(descending=True)
        p = torch.zeros_like(p).scatter(0, order, ranked * (ranked.cumsum(0) - ranked < top_p))
    return p


@wrong("Words below top_p are cut.", "threshold-p")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, 0)
    if top_k is not None:
        p = p * torch.zeros_like(p).index_fill(0, p.topk(top_k).indices, 1)
        p = p / p.sum()
    if top_p is not None:
        keep = p >= (1 - top_p) * p.max()
        p = p * keep
        p = p / p.sum()
    return p


# What they call is right.
right = COURSE.of_exercise("next_token").reference()
next_token = right.next_token
