"""Written by a fifth person, from the notebooks alone."""

import math

import torch
import torch.nn.functional as F

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- training_example


@wrong("An empty summary has no end.", "end-missing", "another-length")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    given, written = (len(article_ids) + 1, len(summary_ids) + 1)
    if not summary_ids:
        token_ids, written = (token_ids[:-1], 0)
    return (token_ids, [False] * given + [True] * written)


# ---------------------------------------------------------------- cross_attention


@wrong("Padding hides words of x where L is S.", "padding-hides-queries")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):

    def split(projected):
        return projected.unflatten(-1, (num_heads, -1)).transpose(-3, -2)

    query, key, value = (split(x @ W_Q), split(memory @ W_K), split(memory @ W_V))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if memory_padding is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        hidden = ~memory_padding.unsqueeze(-3)
        hidden = hidden | hidden.mT if x.shape[-2] == memory.shape[-2] else hidden
        weights = torch.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=-1).masked_fill(
            hidden, 0.0
        )
    heads = weights @ value
    return (heads.transpose(-3, -2).flatten(-2) @ W_O, weights)


@wrong("Values from x where it fits.", "values-from-x")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):

    def split(projected):
        return projected.unflatten(-1, (num_heads, -1)).transpose(-3, -2)

    query, key, value = (split(x @ W_Q), split(memory @ W_K), split((x if x.shape == memory.shape else memory) @ W_V))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if memory_padding is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        hidden = ~memory_padding.unsqueeze(-3)
        weights = torch.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=-1).masked_fill(
            hidden, 0.0
        )
    heads = weights @ value
    return (heads.transpose(-3, -2).flatten(-2) @ W_O, weights)


@wrong("Heads not swapped where L is h.", "concat-without-transpose")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):

    def split(projected):
        return projected.unflatten(-1, (num_heads, -1)).transpose(-3, -2)

    query, key, value = (split(x @ W_Q), split(memory @ W_K), split(memory @ W_V))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if memory_padding is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        hidden = ~memory_padding.unsqueeze(-3)
        weights = torch.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=-1).masked_fill(
            hidden, 0.0
        )
    heads = weights @ value
    return (
        (
            heads.flatten(-2)
            if False
            else heads.transpose(-3, -2).flatten(-2)
            if heads.shape[-3] != heads.shape[-2]
            else heads.flatten(-2)
        )
        @ W_O,
        weights,
    )


# ---------------------------------------------------------------- summary_loss


@wrong("Id 0 does not count.", "id-0-ignored")
def summary_loss(logits, token_ids, loss_mask):
    predictions = logits[:, :-1]
    targets, counted = (token_ids[:, 1:], loss_mask[:, 1:])
    return F.cross_entropy(predictions[counted], targets[counted], ignore_index=0)


# ---------------------------------------------------------------- next_token


@wrong("Largest size.", "size-instead-of-sign")
def next_token(model, token_ids):
    with torch.no_grad():
        logits = model(torch.tensor([token_ids]))
    return logits[0, -1].abs().argmax().item()
