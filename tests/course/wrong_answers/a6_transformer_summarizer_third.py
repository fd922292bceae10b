"""Written by a third person, who knew the exercises and no catalogue."""

import math

import torch
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()

F = nn.functional


# ------------------------------------------------------------------------------------------------- training_example


@wrong(
    "The mask stands one place too early, where the tokens are predicted: it counts the separator and not the end.",
    "mask-at-the-predicting-places",
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = article_ids + [separator_id] + summary_ids + [end_id]
    loss_mask = [False] * len(article_ids) + [True] * (len(summary_ids) + 1) + [False]
    return token_ids, loss_mask


# ----------------------------------------------------------------------------------------------------- summary_loss


@wrong(
    "Logits and tokens are not shifted against each other: the logits at a place are compared with the token at that same place.",
    "no-shift",
)
def summary_loss(logits, token_ids, loss_mask):
    B, L, V = logits.shape
    loss = F.cross_entropy(logits.reshape(B * L, V), token_ids.reshape(-1), reduction="none")
    mask = loss_mask.reshape(-1).to(logits.dtype)
    return (loss * mask).sum() / mask.sum()


@wrong(
    "The tokens are shifted but the mask is not, so it counts the token after each one that should count.",
    "mask-not-shifted",
)
def summary_loss(logits, token_ids, loss_mask):
    shift_logits = logits[:, :-1, :]
    shift_labels = token_ids[:, 1:]
    shift_mask = loss_mask[:, :-1]
    return F.cross_entropy(shift_logits[shift_mask], shift_labels[shift_mask])


@wrong(
    "Each text's loss is averaged first and then the texts, so a token of a short summary weighs more.", "mean-of-means"
)
def summary_loss(logits, token_ids, loss_mask):
    losses = []
    for b in range(logits.shape[0]):
        keep = loss_mask[b, 1:]
        losses.append(F.cross_entropy(logits[b, :-1][keep], token_ids[b, 1:][keep]))
    return torch.stack(losses).mean()


@wrong(
    "The masked losses are averaged over all places, so the sum is divided by B * (L - 1) and not by how many tokens count.",
    "mean-over-all-places",
)
def summary_loss(logits, token_ids, loss_mask):
    log_probs = torch.log_softmax(logits[:, :-1], dim=-1)
    picked = -log_probs.gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)  # (B, L - 1)
    picked = picked * loss_mask[:, 1:]
    return picked.mean()


# ------------------------------------------------------------------------------------------------------- next_token


@wrong(
    "argmax runs over all places and words at once, so it gives a flat index and not the best word after the last token.",
    "argmax-over-everything",
)
def next_token(model, token_ids):
    with torch.no_grad():
        logits = model(torch.tensor(token_ids).unsqueeze(0))
        return int(torch.argmax(logits[0]))


@wrong("The result is a tensor, not a Python int.", "tensor-instead-of-int", form=True)
def next_token(model, token_ids):
    ids = torch.tensor([token_ids], dtype=torch.long)
    with torch.no_grad():
        logits = model(ids)
    return torch.argmax(logits[:, -1, :], dim=-1)[0]


def next_token(model, token_ids):
    with torch.no_grad():
        logits = model(torch.tensor([token_ids]))
    return logits[0, -1].argmax().item()


# --------------------------------------------------------------------------------------------------- greedy_summary


@wrong(
    "The model reads the article without the separator behind it, so it would go on with the article.",
    "separator-forgotten",
)
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = list(article_ids)
    summary = []
    while len(summary) < max_new_tokens:
        token = next_token(model, ids)
        if token == end_id:
            break
        ids.append(token)
        summary.append(token)
    return summary


@wrong("The end token is part of the summary that comes back.", "end-returned")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    prompt = article_ids + [separator_id]
    written = []
    for _ in range(max_new_tokens):
        tok = next_token(model, prompt + written)
        written.append(tok)
        if tok == end_id:
            break
    return written


@wrong(
    "The separator and the written tokens are appended to the caller's own article list.", "article-changed", form=True
)
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = article_ids
    ids.append(separator_id)
    n = len(ids)
    for step in range(max_new_tokens):
        token = next_token(model, ids)
        if token == end_id:
            break
        ids.append(token)
    return ids[n:]


# ----------------------------------------------------------------------------------------------------------- ablate


@wrong(
    "The head's rows of W_O are set to zero; nn.Linear keeps it turned round, so they are columns.",
    "rows-instead-of-columns",
)
def ablate(weights, layer, head, num_heads):
    new = {name: tensor.clone() for name, tensor in weights.items()}
    W_O = new[f"blocks.{layer}.attention.W_O.weight"]
    d_head = W_O.shape[0] // num_heads
    W_O[head * d_head : (head + 1) * d_head] = 0
    return new


@wrong(
    "The dict is copied but not its tensors, so the zeros are written into the model's own W_O.",
    "the-original-changed",
    form=True,
)
def ablate(weights, layer, head, num_heads):
    result = dict(weights)
    key = f"blocks.{layer}.attention.W_O.weight"
    d = result[key].shape[1] // num_heads
    result[key][:, head * d : (head + 1) * d] = 0.0
    return result


# ------------------------------------------------------------------------------------------ next_word_probabilities


@wrong("top_p leaves out the word with which it is reached; it should still be in.", "one-word-too-few")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kth = torch.topk(logits, top_k).values[-1]
        logits = logits.masked_fill(logits < kth, float("-inf"))
    probs = torch.softmax(logits, dim=-1)
    if top_p is not None:
        sorted_probs, sorted_idx = torch.sort(probs, descending=True)
        cumulative = torch.cumsum(sorted_probs, dim=-1)
        remove = cumulative > top_p
        remove[0] = False  # at least one word
        probs[sorted_idx[remove]] = 0
        probs = probs / probs.sum()
    return probs


@wrong(
    "top_p is measured on the probabilities of all words, not on what top_k has left and shared out anew.",
    "top-p-of-all-words",
)
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = F.softmax(logits / temperature, dim=-1)
    sorted_p, idx = p.sort(descending=True)
    keep = torch.ones_like(sorted_p, dtype=torch.bool)
    if top_k is not None:
        keep[top_k:] = False
    if top_p is not None:
        before = sorted_p.cumsum(-1) - sorted_p
        keep &= before < top_p
    out = torch.zeros_like(p)
    out[idx[keep]] = sorted_p[keep]
    return out / out.sum()


# -------------------------------------------------------------------------------------------------- cross_attention


@wrong("Padding is set to zero after the softmax, and the weights that are left do not sum to 1.", "mask-after-softmax")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    def heads(t):
        return t.reshape(*t.shape[:-1], num_heads, -1).transpose(-3, -2)

    q, k, v = heads(x @ W_Q), heads(memory @ W_K), heads(memory @ W_V)
    weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
    if memory_padding is not None:
        weights = weights * memory_padding.unsqueeze(-3)
    out = (weights @ v).transpose(-3, -2).flatten(-2)
    return out @ W_O, weights


@wrong(
    "Heads are cut by a reshape straight to (h, L, d), which mixes words and columns; it has to be (L, h, d) and then a transpose.",
    "split-without-transpose",
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    *batch, L, _ = x.shape
    S = memory.shape[-2]
    Q = (x @ W_Q).reshape(*batch, num_heads, L, -1)
    K = (memory @ W_K).reshape(*batch, num_heads, S, -1)
    V = (memory @ W_V).reshape(*batch, num_heads, S, -1)
    scores = torch.matmul(Q, K.transpose(-2, -1)) / Q.shape[-1] ** 0.5
    if memory_padding is not None:
        hidden = ~memory_padding.unsqueeze(-3)
        scores = scores.masked_fill(hidden, -1e9)
        weights = torch.softmax(scores, dim=-1).masked_fill(hidden, 0)
    else:
        weights = torch.softmax(scores, dim=-1)
    out = torch.matmul(weights, V)
    out = out.transpose(-3, -2).reshape(*batch, L, -1)
    return out @ W_O, weights


@wrong(
    "Where memory is nothing but padding, the softmax of a row of -inf gives NaN instead of zeros.", "nan-for-nothing"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    def split(t):
        return t.unflatten(-1, (num_heads, -1)).transpose(-3, -2)

    q = split(x @ W_Q)
    k = split(memory @ W_K)
    v = split(memory @ W_V)
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(k.size(-1))
    if memory_padding is not None:
        scores = scores.masked_fill(~memory_padding.unsqueeze(-3), float("-inf"))
    weights = scores.softmax(dim=-1)
    z = torch.einsum("...qk,...kd->...qd", weights, v)
    return z.transpose(-3, -2).flatten(-2) @ W_O, weights


@wrong("The four matrices are detached on the way in, so no gradient reaches them.", "gradient-missing", form=True)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    W_Q, W_K, W_V, W_O = (torch.tensor(W.detach().numpy()) for W in (W_Q, W_K, W_V, W_O))

    def split(t):
        return t.unflatten(-1, (num_heads, -1)).transpose(-3, -2)

    q, k, v = split(x @ W_Q), split(memory @ W_K), split(memory @ W_V)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        allowed = memory_padding.unsqueeze(-3)
        scores = torch.where(allowed, scores, torch.finfo(scores.dtype).min)
        weights = torch.where(allowed, torch.softmax(scores, dim=-1), 0.0)
    else:
        weights = torch.softmax(scores, dim=-1)
    return (weights @ v).transpose(-3, -2).flatten(-2) @ W_O, weights
