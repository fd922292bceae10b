"""Written by somebody who knew the exercises and no catalogue."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- training_example


@wrong("counts a token if it does not occur in the article", "counted-by-word")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = article_ids + [separator_id] + summary_ids + [end_id]
    given = set(article_ids) | {separator_id}
    loss_mask = [token not in given for token in token_ids]
    return token_ids, loss_mask


@wrong(
    "the mask counts the separator, from which the first word is predicted, and not the end",
    "mask-at-the-predicting-places",
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    loss_mask = [False] * len(article_ids) + [True] * (len(summary_ids) + 1) + [False]
    return token_ids, loss_mask


@wrong("grows the article that came in", "article-changed", form=True)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = article_ids
    start = len(article_ids) + 1
    token_ids.append(separator_id)
    token_ids.extend(summary_ids)
    token_ids.append(end_id)
    loss_mask = [i >= start for i in range(len(token_ids))]
    return token_ids, loss_mask


# ---------------------------------------------------------------- summary_loss


@wrong("shifts twice: logits at t are held against token t + 2", "shifted-by-two")
def summary_loss(logits, token_ids, loss_mask):
    # the model predicts the next token
    logits = logits[:, :-1]
    targets, mask = token_ids[:, 1:], loss_mask[:, 1:]
    # causal LM loss
    shift_logits = logits[:, :-1].reshape(-1, logits.size(-1))
    shift_labels = targets[:, 1:].reshape(-1)
    shift_mask = mask[:, 1:].reshape(-1)
    loss = F.cross_entropy(shift_logits, shift_labels, reduction="none")
    return (loss * shift_mask).sum() / shift_mask.sum()


@wrong("tokens that do not count become 0, and 0 is ignored, also where a counted word has the id 0", "id-0-ignored")
def summary_loss(logits, token_ids, loss_mask):
    targets = token_ids * loss_mask.long()
    targets = targets[:, 1:]
    logits = logits[:, :-1, :]
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=0)


@wrong(
    "the mask zeroes logits rather than losses, and the mean goes over all places",
    "mask-on-the-logits",
    "mean-over-all-places+mask-on-the-logits",
)
def summary_loss(logits, token_ids, loss_mask):
    masked = logits * loss_mask.unsqueeze(-1)
    return F.cross_entropy(masked[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())


@wrong("label smoothing of 0.1, as in the paper", "label-smoothing")
def summary_loss(logits, token_ids, loss_mask):
    keep = loss_mask[:, 1:]
    pred = logits[:, :-1][keep]
    gold = token_ids[:, 1:][keep]
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    return criterion(pred, gold)


@wrong(
    "gives a Python number, through which no gradient flows", "detached-gradient", "number-instead-of-tensor", form=True
)
def summary_loss(logits, token_ids, loss_mask):
    log_probs = torch.log_softmax(logits[:, :-1], dim=-1)
    picked = log_probs.gather(-1, token_ids[:, 1:, None]).squeeze(-1)
    mask = loss_mask[:, 1:]
    total = 0.0
    for b in range(picked.shape[0]):
        for t in range(picked.shape[1]):
            if mask[b, t]:
                total -= picked[b, t].item()
    return torch.tensor(total / mask.sum().item(), dtype=logits.dtype)


# ---------------------------------------------------------------- next_token


@wrong("shows the model the last token alone", "only-the-last-word-read")
def next_token(model, token_ids):
    with torch.no_grad():
        logits = model(torch.tensor([[token_ids[-1]]]))
    return int(logits[0, 0].argmax())


@wrong("takes the largest logit of all places, not of the last one", "surest-position")
def next_token(model, token_ids):
    ids = torch.tensor(token_ids).unsqueeze(0)
    with torch.no_grad():
        logits = model(ids)[0]  # (L, V)
    best_per_word, _ = logits.max(dim=0)  # (V,)
    return best_per_word.argmax().item()


@wrong(
    "reads the logits of the last place but one, as if they were shifted", "last-but-one-position", "last-word-not-read"
)
def next_token(model, token_ids):
    with torch.no_grad():
        out = model(torch.tensor([token_ids], dtype=torch.long))
    pos = max(len(token_ids) - 2, 0)
    return out[0, pos, :].argmax(-1).item()


# ---------------------------------------------------------------- greedy_summary


def next_token(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids]))[0, -1].argmax())


@wrong("writes from the separator alone: the article is never read", "article-forgotten")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    generated = [separator_id]
    for _ in range(max_new_tokens):
        token = next_token(model, generated)
        if token == end_id:
            break
        generated.append(token)
    return generated[1:]


@wrong("writes on after the end, and only sorts the ends out", "end-left-out-and-on")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = list(article_ids) + [separator_id]
    n = len(ids)
    for _ in range(max_new_tokens):
        ids.append(next_token(model, ids))
    return [t for t in ids[n:] if t != end_id]


@wrong("max_new_tokens is taken for the length of the whole text, article included", "the-given-counts-as-new")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    start = len(ids)
    while len(ids) < max_new_tokens:
        nxt = next_token(model, ids)
        if nxt == end_id:
            break
        ids.append(nxt)
    return ids[start:]


@wrong("stops at a word that it has written before, against repetition", "stops-at-a-word-it-has-written")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    context = list(article_ids) + [separator_id]
    summary = []
    while len(summary) < max_new_tokens:
        token = next_token(model, context + summary)
        if token == end_id or token in summary:
            break
        summary.append(token)
    return summary


# ---------------------------------------------------------------- ablate


@wrong("takes every num_heads-th column: heads interleaved", "heads-interleaved")
def ablate(weights, layer, head, num_heads):
    result = {name: tensor.clone() for name, tensor in weights.items()}
    result[f"blocks.{layer}.attention.W_O.weight"][:, head::num_heads] = 0
    return result


@wrong("the width of a head is d_model // num_heads, whatever the width of W_O", "width-from-d-model")
def ablate(weights, layer, head, num_heads):
    key = f"blocks.{layer}.attention.W_O.weight"
    new = {k: v.clone() for k, v in weights.items()}
    d_model = new[key].shape[0]
    d = d_model // num_heads
    new[key][:, head * d : (head + 1) * d] = 0.0
    return new


@wrong("silences the head in all layers", "every-layer")
def ablate(weights, layer, head, num_heads):
    out = copy.deepcopy(dict(weights))
    for name in out:
        if name.endswith("attention.W_O.weight"):
            d = out[name].shape[1] // num_heads
            out[name][:, head * d : head * d + d] = 0
    return out


@wrong("a new dict around the old tensors, one of which is zeroed in place", "the-original-changed", form=True)
def ablate(weights, layer, head, num_heads):
    without = dict(weights)
    W_O = without["blocks.%d.attention.W_O.weight" % layer]
    width = W_O.shape[1] // num_heads
    with torch.no_grad():
        W_O[:, head * width : (head + 1) * width] = 0
    return without


# ---------------------------------------------------------------- next_word_probabilities


@wrong(
    "temperature divides the probabilities, which are brought to sum 1 again: it does nothing", "temperature-ignored"
)
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    probs = F.softmax(logits, dim=-1) / temperature
    probs = probs / probs.sum()
    if top_k is not None:
        values, indices = torch.topk(probs, top_k)
        probs = torch.zeros_like(probs).scatter(0, indices, values)
        probs = probs / probs.sum()
    if top_p is not None:
        sorted_probs, order = torch.sort(probs, descending=True)
        before = torch.cumsum(sorted_probs, 0) - sorted_probs
        sorted_probs = torch.where(before < top_p, sorted_probs, torch.zeros_like(sorted_probs))
        probs = torch.zeros_like(probs).scatter(0, order, sorted_probs)
        probs = probs / probs.sum()
    return probs


@wrong("top_p: the mask of the sorted words is used on the unsorted ones", "cut-in-another-order")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kth = torch.topk(logits, top_k).values[-1]
        logits = torch.where(logits < kth, torch.full_like(logits, -math.inf), logits)
    if top_p is not None:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        cum_probs = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
        sorted_indices_to_remove = cum_probs >= top_p
        sorted_indices_to_remove = torch.cat([torch.tensor([False]), sorted_indices_to_remove[:-1]])
        logits = logits.masked_fill(sorted_indices_to_remove, -math.inf)
    return torch.softmax(logits, dim=-1)


@wrong("top_p is measured on all words, also where top_k has cut some off", "top-p-of-all-words")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    probs = torch.softmax(logits / temperature, dim=-1)
    order = probs.argsort(descending=True)
    ranked = probs[order]
    keep = torch.ones_like(ranked, dtype=torch.bool)
    if top_k is not None:
        keep[top_k:] = False
    if top_p is not None:
        reached = ranked.cumsum(0) - ranked
        keep &= reached < top_p
    kept = torch.zeros_like(probs)
    kept[order[keep]] = ranked[keep]
    return kept / kept.sum()


# ---------------------------------------------------------------- cross_attention


def _split(x, h):
    return x.unflatten(-1, (h, x.shape[-1] // h)).transpose(-2, -3)


@wrong(
    "causal, as in the decoder: word i of the summary sees the first i + 1 words of the article", "causal-mask-put-in"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    h = num_heads
    q, k, v = _split(x @ W_Q, h), _split(memory @ W_K, h), _split(memory @ W_V, h)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    L, S = scores.shape[-2:]
    mask = torch.ones(L, S, dtype=torch.bool).tril().expand(scores.shape)
    if memory_padding is not None:
        mask = mask & memory_padding.unsqueeze(-3)
    dead = ~mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~mask & ~dead, -math.inf).softmax(-1).masked_fill(dead, 0)
    return (weights @ v).transpose(-2, -3).flatten(-2) @ W_O, weights


@wrong("padding is zeroed after the softmax, and the rest does not share anew", "mask-after-softmax")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    Q = _split(x @ W_Q, num_heads)
    K = _split(memory @ W_K, num_heads)
    V = _split(memory @ W_V, num_heads)
    weights = torch.softmax(Q @ K.transpose(-1, -2) / Q.shape[-1] ** 0.5, dim=-1)
    if memory_padding is not None:
        weights = weights * memory_padding.unsqueeze(-3).to(weights.dtype)
    out = (weights @ V).transpose(-2, -3).flatten(start_dim=-2)
    return out @ W_O, weights


@wrong(
    "the padding of the texts falls on the heads: no axis is made for them", "heads-axis-missing-in-padding", form=True
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    Q, K, V = (_split(t, num_heads) for t in (x @ W_Q, memory @ W_K, memory @ W_V))
    scores = Q @ K.transpose(-2, -1) / math.sqrt(K.size(-1))
    if memory_padding is not None:
        scores = scores.masked_fill(~memory_padding, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    output = (weights @ V).transpose(-3, -2).flatten(-2) @ W_O
    return output, weights


@wrong(
    "two things: scores are divided by the root of all heads' width",
    "scale-by-whole-width",
    "scale-by-whole-width+evenly-for-nothing",
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    q, k, v = x @ W_Q, memory @ W_K, memory @ W_V
    scale = 1.0 / math.sqrt(q.shape[-1])
    q, k, v = _split(q, num_heads), _split(k, num_heads), _split(v, num_heads)
    scores = torch.matmul(q, k.transpose(-2, -1)) * scale
    if memory_padding is not None:
        scores = scores.masked_fill(memory_padding.unsqueeze(-3) == 0, -1e9)
    weights = F.softmax(scores, dim=-1)
    context = torch.matmul(weights, v).transpose(-2, -3)
    context = context.reshape(*context.shape[:-2], -1)
    return context @ W_O, weights


@wrong("top_k keeps what is likelier than one in k", "threshold-for-top-k")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, -1)
    if top_k is not None:
        p = torch.where((p >= 1 / top_k) | (p == p.max()), p, torch.zeros_like(p))
        p = p / p.sum()
    if top_p is not None:
        s, order = p.sort(descending=True)
        keep = s.cumsum(0) - s < top_p
        p = torch.zeros_like(p).index_put((order,), torch.where(keep, s, torch.zeros_like(s)))
        p = p / p.sum()
    return p


@wrong("words that come again are taken out at the end", "repeated-words-taken-out", "another-length")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids, out = [*article_ids, separator_id], []
    for _ in range(max_new_tokens):
        t = next_token(model, ids)
        if t == end_id:
            break
        ids.append(t)
        out.append(t)
    return list(dict.fromkeys(out))


@wrong("mean place by place over the texts, then over the places", "mean-of-means")
def summary_loss(logits, token_ids, loss_mask):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")
    m = loss_mask[:, 1:].to(losses.dtype)
    per_place = (losses * m).sum(0) / m.sum(0).clamp(min=1)
    return per_place[m.sum(0) > 0].mean()
