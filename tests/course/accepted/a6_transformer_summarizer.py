"""Correct answers to a6 in many styles."""

import copy
import itertools
import math
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.testing import Catalogue

accepted = Catalogue()


class Example(NamedTuple):
    token_ids: list
    loss_mask: list


# ---------------------------------------------------------------- training_example


@accepted("plus-signs")
def training_example(article_ids, summary_ids, separator_id, end_id):
    given = article_ids + [separator_id]
    written = summary_ids + [end_id]
    return given + written, [False] * len(given) + [True] * len(written)


@accepted("appending-in-a-loop")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids, loss_mask = [], []
    for token in article_ids:
        token_ids.append(token)
        loss_mask.append(False)
    token_ids.append(separator_id)
    loss_mask.append(False)
    for token in summary_ids:
        token_ids.append(token)
        loss_mask.append(True)
    token_ids.append(end_id)
    loss_mask.append(True)
    return token_ids, loss_mask


@accepted("pairs-unzipped")
def training_example(article_ids, summary_ids, separator_id, end_id):
    given = ((token, False) for token in itertools.chain(article_ids, [separator_id]))
    written = ((token, True) for token in itertools.chain(summary_ids, [end_id]))
    token_ids, loss_mask = zip(*given, *written)
    return list(token_ids), list(loss_mask)


@accepted("mask-from-the-place")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = article_ids.copy()
    token_ids.append(separator_id)
    token_ids.extend(summary_ids)
    token_ids.append(end_id)
    return Example(token_ids, [place > len(article_ids) for place in range(len(token_ids))])


@accepted("everything-behind-the-separator")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [place > token_ids.index(separator_id) for place in range(len(token_ids))]


@accepted("numpy-booleans")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = np.concatenate([article_ids, [separator_id], summary_ids, [end_id]]).astype(int)
    return token_ids.tolist(), list(np.arange(len(token_ids)) > len(article_ids))


@accepted("tensors-to-lists")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = torch.cat([torch.tensor(part) for part in (article_ids, [separator_id], summary_ids, [end_id])])
    mask = torch.zeros_like(token_ids)
    mask[len(article_ids) + 1 :] = 1
    return token_ids.tolist(), mask.bool().tolist()


# ---------------------------------------------------------------- summary_loss


@accepted("ignore-index")
def summary_loss(logits, token_ids, loss_mask):
    targets = token_ids.masked_fill(~loss_mask, -100)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=-100)


@accepted("log-softmax-and-gather")
def summary_loss(logits, token_ids, loss_mask):
    log_probabilities = torch.log_softmax(logits, dim=-1)[:, :-1]
    picked = log_probabilities.gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    counted = loss_mask[:, 1:].to(logits.dtype)
    return -(picked * counted).sum() / counted.sum()


@accepted("logsumexp")
def summary_loss(logits, token_ids, loss_mask):
    scores, targets = logits[:, :-1, :], token_ids[:, 1:]
    right = torch.take_along_dim(scores, targets[..., None], dim=2)[..., 0]
    return (torch.logsumexp(scores, dim=2) - right)[loss_mask[:, 1:]].mean()


@accepted("max-subtracted-by-hand")
def summary_loss(logits, token_ids, loss_mask):
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    logs = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    one_hot = F.one_hot(token_ids[:, 1:], logits.shape[-1]).to(logits.dtype)
    losses = -(logs[:, :-1] * one_hot).sum(-1)
    return torch.where(loss_mask[:, 1:], losses, torch.zeros_like(losses)).sum() / loss_mask[:, 1:].sum()


@accepted("token-by-token")
def summary_loss(logits, token_ids, loss_mask):
    losses = []
    for b in range(token_ids.shape[0]):
        for t in range(1, token_ids.shape[1]):
            if loss_mask[b, t]:
                losses.append(-F.log_softmax(logits[b, t - 1], dim=0)[token_ids[b, t]])
    return torch.stack(losses).mean()


@accepted("text-by-text-with-sums")
def summary_loss(logits, token_ids, loss_mask):
    total, count = 0.0, 0
    for scores, ids, mask in zip(logits, token_ids, loss_mask):
        total = total + F.nll_loss(F.log_softmax(scores[:-1], -1)[mask[1:]], ids[1:][mask[1:]], reduction="sum")
        count += int(mask.sum())
    return total / count


@accepted("roll-and-one-weight-a-token")
def summary_loss(logits, token_ids, loss_mask):
    targets, weights = token_ids.roll(-1, dims=1), loss_mask.roll(-1, dims=1).clone()
    weights[:, -1] = False
    losses = nn.CrossEntropyLoss(reduction="none")(logits.transpose(1, 2), targets)
    return losses.masked_select(weights).sum().div(weights.sum())


@accepted("one-hot-and-a-weight-a-token")
def summary_loss(logits, token_ids, loss_mask):
    wanted = F.one_hot(token_ids, logits.shape[-1]).to(logits.dtype).roll(-1, dims=1)
    counts = loss_mask.roll(-1, dims=1).to(logits.dtype)
    return -torch.einsum("blv,blv,bl->", torch.log_softmax(logits, -1), wanted, counts / counts.sum())


# ---------------------------------------------------------------- next_token


@accepted("eval-and-item")
def next_token(model, token_ids):
    model.eval()
    with torch.no_grad():
        logits = model(torch.tensor(token_ids).unsqueeze(0))
    return logits[:, -1, :].argmax(dim=-1).item()


@accepted("inference-mode-and-topk")
@torch.inference_mode()
def next_token(model, token_ids):
    return model(torch.as_tensor([token_ids], dtype=torch.long)).squeeze(0)[-1].topk(1).indices.tolist()[0]


@accepted("gradients-on-and-numpy")
def next_token(model, token_ids):
    logits = model(torch.LongTensor([token_ids]))
    return int(np.argmax(logits.detach().numpy()[0, len(token_ids) - 1]))


@accepted("plain-loop")
def next_token(model, token_ids):
    row = model(torch.tensor([token_ids]))[0][-1].tolist()
    best = 0
    for token, logit in enumerate(row):
        if logit > row[best]:
            best = token
    return best


@accepted("softmax-first")
def next_token(model, token_ids):
    training = model.training
    model.train(False)
    probabilities = torch.softmax(model(torch.tensor([token_ids])), dim=-1)
    model.train(training)
    return int(torch.max(probabilities[0, -1], dim=0).indices)


@accepted("sorted-by-keyword")
def next_token(model, token_ids):
    device = next(model.parameters(), torch.zeros(1)).device
    logits = model(token_ids=torch.tensor(list(token_ids), device=device).reshape(1, -1))
    return logits[0, -1].argsort(descending=True)[0].item()


# ---------------------------------------------------------------- greedy_summary


@accepted("one-growing-list")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = article_ids + [separator_id]
    start = len(token_ids)
    while len(token_ids) - start < max_new_tokens:
        token = next_token(model, token_ids)
        if token == end_id:
            break
        token_ids.append(token)
    return token_ids[start:]


@accepted("one-growing-tensor")
@torch.no_grad()
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    model.eval()
    ids = torch.tensor([[*article_ids, separator_id]])
    for _ in range(max_new_tokens):
        token = model(ids)[:, -1:].argmax(dim=-1)
        if token.item() == end_id:
            break
        ids = torch.hstack([ids, token])
    return ids[0, len(article_ids) + 1 :].tolist()


@accepted("recursive")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    def write(token_ids, left):
        if left == 0:
            return []
        token = int(model(torch.tensor([token_ids]))[0, -1].argmax())
        return [] if token == end_id else [token, *write([*token_ids, token], left - 1)]

    return write([*article_ids, separator_id], max_new_tokens)


@accepted("generator-until-the-end")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    def words():
        token_ids = [*article_ids, separator_id]
        while True:
            with torch.no_grad():
                token_ids.append(model(torch.tensor([token_ids])).argmax(-1)[0, -1].item())
            yield token_ids[-1]

    return list(itertools.takewhile(lambda token: token != end_id, itertools.islice(words(), max_new_tokens)))


@accepted("all-written-then-cut")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    written = []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([list(article_ids) + [separator_id] + written]))
        written.append(logits[0, -1].argmax().item())
    return written[: written.index(end_id)] if end_id in written else written


@accepted("buffer-filled-in-place")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    buffer = torch.zeros(1, len(article_ids) + 1 + max_new_tokens, dtype=torch.long)
    buffer[0, : len(article_ids) + 1] = torch.tensor([*article_ids, separator_id])
    place = len(article_ids) + 1
    while place < buffer.shape[1]:
        token = model(buffer[:, :place])[0, -1].argmax()
        if token == end_id:
            break
        buffer[0, place] = token
        place += 1
    return [int(token) for token in buffer[0, len(article_ids) + 1 : place]]


@accepted("asks-once-more-than-needed")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    word = next_token(model, article_ids + [separator_id])
    while word != end_id and len(summary) < max_new_tokens:
        summary.append(word)
        word = next_token(model, article_ids + [separator_id] + summary)
    return summary


@accepted("iter-until-the-end")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    text = article_ids + [separator_id]
    given = len(text)

    def say():
        if len(text) - given >= max_new_tokens:
            return end_id
        text.append(next_token(model, text))
        return text[-1]

    return list(iter(say, end_id))


# ---------------------------------------------------------------- ablate


@accepted("everything-copied-then-zeroed")
def ablate(weights, layer, head, num_heads):
    copied = {name: tensor.clone() for name, tensor in weights.items()}
    W_O = copied[f"blocks.{layer}.attention.W_O.weight"]
    d = W_O.shape[-1] // num_heads
    W_O[:, d * head : d * head + d] = 0.0
    return copied


@accepted("deepcopy-and-views-of-heads")
def ablate(weights, layer, head, num_heads):
    new = copy.deepcopy(dict(weights))
    W_O = new[f"blocks.{layer}.attention.W_O.weight"]
    W_O.view(W_O.shape[0], num_heads, -1)[:, head] = 0
    return new


@accepted("times-a-mask")
def ablate(weights, layer, head, num_heads):
    name = f"blocks.{layer}.attention.W_O.weight"
    W_O = weights[name]
    owner = torch.arange(W_O.shape[1]) // (W_O.shape[1] // num_heads)
    return {**weights, name: W_O * (owner != head)}


@accepted("cut-and-put-together")
def ablate(weights, layer, head, num_heads):
    name = "blocks." + str(layer) + ".attention.W_O.weight"
    parts = list(torch.chunk(weights[name], num_heads, dim=1))
    parts[head] = torch.zeros_like(parts[head])
    result = OrderedDict(weights)
    result[name] = torch.cat(parts, dim=1)
    return result


@accepted("rows-of-the-transposed")
def ablate(weights, layer, head, num_heads):
    name = f"blocks.{layer}.attention.W_O.weight"
    rows = weights[name].T.clone()
    d = len(rows) // num_heads
    rows[head * d : (head + 1) * d] = 0
    return weights | {name: rows.T}


@accepted("where-with-numpy")
def ablate(weights, layer, head, num_heads):
    name = f"blocks.{layer}.attention.W_O.weight"
    W_O = weights[name].numpy()
    silent = np.repeat(np.arange(num_heads) == head, W_O.shape[1] // num_heads)
    return {
        n: torch.from_numpy(np.where(silent, 0, W_O).astype(W_O.dtype)) if n == name else w for n, w in weights.items()
    }


# ---------------------------------------------------------------- next_word_probabilities


@accepted("minus infinity for what is cut off")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        smallest = torch.topk(logits, top_k).values[-1]
        logits = logits.masked_fill(logits < smallest, -torch.inf)
    if top_p is not None:
        ranked, order = torch.sort(logits, descending=True)
        shares = F.softmax(ranked, dim=0)
        cut = torch.cumsum(shares, dim=0) - shares >= top_p
        logits = logits.masked_fill(torch.zeros_like(cut).scatter(0, order, cut), -torch.inf)
    return F.softmax(logits, dim=0)


@accepted("a loop over ranks")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    probabilities = torch.exp(torch.log_softmax(logits / temperature, dim=-1))
    ranks = sorted(range(len(logits)), key=lambda i: -probabilities[i].item())[: top_k or len(logits)]
    total = sum(probabilities[i].item() for i in ranks)
    kept, reached = [], 0.0
    for i in ranks:
        if top_p is not None and reached >= top_p:
            break
        kept.append(i)
        reached += probabilities[i].item() / total
    mask = torch.zeros_like(probabilities)
    mask[kept] = 1
    return probabilities * mask / (probabilities * mask).sum()


@accepted("counting, and scattering back")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    values, indices = (logits / temperature).softmax(-1).sort(descending=True)
    if top_k is not None:
        values, indices = values[:top_k], indices[:top_k]
        values = values / values.sum()
    if top_p is not None:
        enough = int((values.cumsum(-1) < top_p).sum()) + 1
        values, indices = values[:enough], indices[:enough]
    return torch.zeros_like(logits).scatter_(0, indices, values / values.sum())


@accepted("each word asks how much the likelier ones have")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    exps = torch.exp((logits - logits.max()) / temperature)
    likelier = (logits[None, :] > logits[:, None]).to(logits.dtype)
    if top_k is not None:
        exps = torch.where(likelier.sum(-1) < top_k, exps, 0 * exps)
    shares = exps / exps.sum()
    if top_p is not None:
        shares = torch.where(likelier @ shares < top_p, shares, 0 * shares)
    return shares / shares.sum()


@accepted("sorted in NumPy")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    z = logits.detach().double().numpy() / temperature
    p = np.exp(z - z.max())
    p /= p.sum()
    order = np.argsort(-p, kind="stable")
    keep = np.zeros(len(p), dtype=bool)
    keep[order[:top_k]] = True
    p = np.where(keep, p, 0)
    p /= p.sum()
    if top_p is not None:
        n = np.searchsorted(np.cumsum(p[order]), top_p - 1e-12) + 1
        p[order[n:]] = 0
        p /= p.sum()
    return torch.from_numpy(p).to(logits.dtype)


# ---------------------------------------------------------------- cross_attention


@accepted("head by head, a column block each")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    outputs, all_weights = [], []
    for Q, K, V in zip(*(W.chunk(num_heads, dim=1) for W in (W_Q, W_K, W_V)), strict=True):
        scores = (x @ Q) @ (memory @ K).mT / Q.shape[1] ** 0.5
        if memory_padding is not None:
            scores = torch.where(memory_padding, scores, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1)
        if memory_padding is not None:
            weights = torch.where(memory_padding, weights, torch.zeros_like(weights))
        outputs.append(weights @ (memory @ V))
        all_weights.append(weights)
    return torch.cat(outputs, dim=-1) @ W_O, torch.stack(all_weights, dim=-3)


@accepted("einsum from end to end")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    W_Q, W_K, W_V = (W.reshape(W.shape[0], num_heads, -1) for W in (W_Q, W_K, W_V))
    query = torch.einsum("...lm,mhd->...hld", x, W_Q)
    key = torch.einsum("...sm,mhd->...hsd", memory, W_K)
    value = torch.einsum("...sm,mhd->...hsd", memory, W_V)
    scores = torch.einsum("...hld,...hsd->...hls", query, key) * W_Q.shape[-1] ** -0.5
    if memory_padding is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~memory_padding[..., None, :, :], -1e30)
    weights = scores.softmax(-1)
    if memory_padding is not None:
        weights = weights * memory_padding[..., None, :, :]
    heads = torch.einsum("...hls,...hsd->...hld", weights, value)
    return torch.einsum("...hld,hdm->...lm", heads, W_O.reshape(num_heads, -1, W_O.shape[-1])), weights


@accepted("the batch flattened, and NaN replaced where nothing is real")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    (*batch, L, d_model), (S, d_memory) = x.shape, memory.shape[-2:]

    def heads_of(text, W):
        return (text @ W).reshape(-1, text.shape[1], num_heads, W.shape[1] // num_heads).permute(0, 2, 1, 3)

    x, memory = x.reshape(-1, L, d_model), memory.reshape(-1, S, d_memory)
    query, key, value = heads_of(x, W_Q), heads_of(memory, W_K), heads_of(memory, W_V)
    real = torch.ones(len(x), 1, 1, S, dtype=torch.bool)
    if memory_padding is not None:
        real = memory_padding.reshape(-1, 1, 1, S)
    scores = query @ key.permute(0, 1, 3, 2) / math.sqrt(query.size(-1))
    scores = scores.masked_fill(~real, -1e30)
    exps = torch.exp(scores - scores.amax(-1, keepdim=True))
    exps = torch.where(real, exps, torch.zeros_like(exps))
    total = exps.sum(-1, keepdim=True)
    weights = exps / torch.where(total == 0, torch.ones_like(total), total)
    output = (weights @ value).permute(0, 2, 1, 3).reshape(-1, L, W_V.shape[1]) @ W_O
    return output.reshape(*batch, L, -1), weights.reshape(*batch, num_heads, L, S)


@accepted("each head adds its own part of W_O, and empty memories are cut short")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    output, found = 0, []
    for head in range(num_heads):
        k, v = slice(head * d_k, (head + 1) * d_k), slice(head * d_v, (head + 1) * d_v)
        scores = (x @ W_Q[:, k]) @ (memory @ W_K[:, k]).transpose(-1, -2) / d_k**0.5
        if memory_padding is not None:
            nothing = ~memory_padding.any(dim=-1, keepdim=True)
            # Rows without real tokens attend to all, and are zeroed afterwards, so that no row of the softmax is empty.
            scores = scores.masked_fill(~(memory_padding | nothing), float("-inf"))
        weights = torch.softmax(scores, -1)
        if memory_padding is not None:
            weights = weights * ~nothing
        output = output + weights @ (memory @ W_V[:, v]) @ W_O[v]
        found.append(weights)
    return output, torch.stack(found, -3)


@accepted("multiplied by a mask")
def ablate(weights, layer, head, num_heads):

    def change(n, t):
        if n != f"blocks.{layer}.attention.W_O.weight":
            return t
        keep = torch.ones(num_heads, 1, dtype=t.dtype)
        keep[head] = 0
        return (t.unflatten(1, (num_heads, -1)) * keep).flatten(1)

    return {n: change(n, t) for n, t in weights.items()}


@accepted("memory-in-blocks")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query = torch.stack((x @ W_Q).chunk(num_heads, -1), -3)
    scores, values = [], []
    for block in memory.split(16, dim=-2):
        key, value = (torch.stack((block @ W).chunk(num_heads, -1), -3) for W in (W_K, W_V))
        scores.append(torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5)
        values.append(value)
    scores = torch.cat(scores, -1)
    if memory_padding is not None:
        hidden = ~memory_padding.unsqueeze(-3)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    weights = weights if memory_padding is None else weights.masked_fill(hidden, 0.0)
    output = sum(w @ v for w, v in zip(weights.split(16, dim=-1), values))
    return torch.cat(output.unbind(-3), -1) @ W_O, weights
