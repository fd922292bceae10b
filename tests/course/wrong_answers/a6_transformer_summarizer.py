import torch
import torch.nn.functional as F

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()

# ---------------------------------------------------------------- training_example


@wrong("loss on all", "loss-on-the-article-too")
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [True for _ in ids]


@wrong("separator too", "separator-counted")
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [i >= len(article_ids) for i in range(len(ids))]


@wrong("end not", "end-not-counted")
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [len(article_ids) < i < len(ids) - 1 for i in range(len(ids))]


@wrong("the first word not", "first-word-not-counted", "mask-off-by-one")
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [i > len(article_ids) + 1 for i in range(len(ids))]


@wrong(
    "zeros and ones",
    "mask-of-numbers",
    "integers-for-truth-values",
    "numbers-for-truth-values",
    "another-kind",
    "integers",
    form=True,
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [0] * (len(article_ids) + 1) + [1] * (len(summary_ids) + 1)


@wrong("tensors", "another-kind", form=True)
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = [*article_ids, separator_id, *summary_ids, end_id]
    return torch.tensor(ids), torch.arange(len(ids)) > len(article_ids)


@wrong("mask first", "tuple-swapped")
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = [*article_ids, separator_id, *summary_ids, end_id]
    return [i > len(article_ids) for i in range(len(ids))], ids


# ---------------------------------------------------------------- summary_loss


def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


@wrong("no shift at all", "no-shift")
def summary_loss(logits, token_ids, loss_mask):
    losses = _nll(logits, token_ids)
    return (losses * loss_mask).sum() / loss_mask.sum()


@wrong("mask one behind", "mask-not-shifted")
def summary_loss(logits, token_ids, loss_mask):
    losses = _nll(logits[:, :-1], token_ids[:, 1:])
    return losses[loss_mask[:, :-1]].mean()


@wrong("mean of everything", "mean-over-all-places")
def summary_loss(logits, token_ids, loss_mask):
    losses = _nll(logits[:, :-1], token_ids[:, 1:]) * loss_mask[:, 1:]
    return losses.mean()


@wrong("summed", "sum-instead-of-mean")
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]], reduction="sum")


@wrong("per text", "mean-of-means")
def summary_loss(logits, token_ids, loss_mask):
    each = [_nll(x[:-1], t[1:])[m[1:]].mean() for x, t, m in zip(logits, token_ids, loss_mask)]
    return sum(each) / len(each)


@wrong("everything counts", "loss-mask-ignored")
def summary_loss(logits, token_ids, loss_mask):
    V = logits.size(-1)
    return F.cross_entropy(logits[:, :-1].reshape(-1, V), token_ids[:, 1:].reshape(-1))


@wrong("id 0 left out", "id-0-ignored", "zero-ignored")
def summary_loss(logits, token_ids, loss_mask):
    targets = torch.where(loss_mask, token_ids, 0)[:, 1:]
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=0)


@wrong("twice through the softmax", "softmax-before-cross-entropy")
def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[:, 1:]
    return F.cross_entropy(torch.softmax(logits, -1)[:, :-1][kept], token_ids[:, 1:][kept])


@wrong("logits pick", "logits-instead-of-log", "log-softmax-missing", "softmax-missing")
def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[:, 1:]
    return F.nll_loss(logits[:, :-1][kept], token_ids[:, 1:][kept])


@wrong("base two", "a-constant-factor", "another-base", "bits")
def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[:, 1:]
    return _nll(logits[:, :-1], token_ids[:, 1:])[kept].mean() / 0.6931471805599453


@wrong("first text", "first-text-only", "batch-item-0-for-all", "one-batch-layout")
def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[0, 1:]
    return _nll(logits[0, :-1], token_ids[0, 1:])[kept].mean()


@wrong("multiplied logits", "mask-on-the-logits", "mask-multiplied")
def summary_loss(logits, token_ids, loss_mask):
    masked = logits[:, :-1] * loss_mask[:, 1:, None]
    return _nll(masked, token_ids[:, 1:]).mean()


# ---------------------------------------------------------------- next_token


@wrong("first place", "first-position")
def next_token(model, token_ids):
    return int(model(torch.tensor(token_ids)[None])[0][0].argmax())


@wrong("draws", "sampled", "random", "sampling-for-argmax")
def next_token(model, token_ids):
    p = model(torch.tensor([token_ids]))[0, -1].softmax(-1)
    return torch.multinomial(p, 1).item()


@wrong("one before the last", "last-but-one-position", "last-but-one")
def next_token(model, token_ids):
    logits = model(torch.tensor([token_ids]))[0]
    return int(logits[len(token_ids) - 2].argmax())


@wrong("flat", "flat-argmax", "argmax-over-everything")
def next_token(model, token_ids):
    return model(torch.tensor([token_ids])).argmax().item()


@wrong("largest logit itself", "maximum-instead-of-its-place", "value-for-index", "max-for-argmax")
def next_token(model, token_ids):
    return int(model(torch.tensor([token_ids]))[0, -1].max())


# ---------------------------------------------------------------- greedy_summary


def _next(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


@wrong("with the end", "end-returned")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = article_ids + [separator_id]
    n = len(ids)
    while len(ids) - n < max_new_tokens:
        ids.append(_next(model, ids))
        if ids[-1] == end_id:
            break
    return ids[n:]


@wrong("whole text", "prompt-returned-too")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = article_ids + [separator_id]
    for _ in range(max_new_tokens):
        t = _next(model, ids)
        if t == end_id:
            break
        ids.append(t)
    return ids


@wrong("no separator", "separator-forgotten")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    while len(out) < max_new_tokens:
        t = _next(model, article_ids + out)
        if t == end_id:
            return out
        out.append(t)
    return out


@wrong("less or equal", "one-token-too-many")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    while len(out) <= max_new_tokens:
        t = _next(model, article_ids + [separator_id] + out)
        if t == end_id:
            return out
        out.append(t)
    return out


@wrong(
    "is for equals", "end-compared-by-identity", "ids-compared-by-is", "compared-by-identity", "never-stops-at-the-end"
)
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    for _ in range(max_new_tokens):
        t = _next(model, article_ids + [separator_id] + out)
        if t is end_id:
            break
        out.append(t)
    return out


# No model of the suite writes the separator, so that it does not stop at all.
@wrong("stops at the separator", "never-stops-at-the-end", "separator-for-end", "stops-at-the-separator")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    for _ in range(max_new_tokens):
        t = _next(model, article_ids + [separator_id] + out)
        if t == separator_id:
            break
        out.append(t)
    return out


# ---------------------------------------------------------------- ablate


@wrong("rows", "rows-for-columns")
def ablate(weights, layer, head, num_heads):
    new = {k: v.clone() for k, v in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[0] // num_heads
    W[head * d : (head + 1) * d] = 0
    return new


@wrong("one further", "heads-counted-from-1", "next-head")
def ablate(weights, layer, head, num_heads):
    new = {k: v.clone() for k, v in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    W[:, (head - 1) * d : head * d] = 0
    return new


@wrong("shallow copy", "the-original-changed", "in-place", "input-changed", form=True)
def ablate(weights, layer, head, num_heads):
    new = dict(weights)
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    W[:, head * d : (head + 1) * d] = 0
    return new


@wrong("query's too", "queries-switched-off", "wrong-matrix", "W_Q-for-W_O")
def ablate(weights, layer, head, num_heads):
    name = f"blocks.{layer}.attention.W_Q.weight"
    W = weights[name].clone()
    d = W.shape[0] // num_heads
    W[head * d : (head + 1) * d] = 0
    return {**weights, name: W}


# ---------------------------------------------------------------- next_word_probabilities

NEXT = """
import torch
import torch.nn.functional as F

def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kth = torch.topk(logits, top_k).values[-1]
        logits = torch.where(logits >= kth, logits, -torch.inf)
    probs = F.softmax(logits, dim=-1)
    if top_p is not None:
        ranked, order = probs.sort(descending=True)
        over = ranked.cumsum(0) - ranked >= top_p
        probs = probs.clone()
        probs[order[over]] = 0
        probs = probs / probs.sum()
    return probs
"""
edit = wrong.edited
edit(NEXT, "times", "temperature-multiplied", ("logits / temperature", "logits * temperature"))
edit(NEXT, "no heat", "temperature-ignored", ("logits / temperature", "logits / 1.0"))
edit(
    NEXT,
    "crossing word out",
    "one-word-too-few",
    ("ranked.cumsum(0) - ranked >= top_p", "(ranked.cumsum(0) >= top_p) & (ranked < ranked[0])"),
)
edit(NEXT, "never top p", "top-p-ignored", ("top_p is not None", "False"))
edit(NEXT, "never top k", "top-k-ignored", ("top_k is not None", "False"))
edit(NEXT, "one more", "one-word-more-than-k", ("torch.topk(logits, top_k)", "torch.topk(logits, top_k + 1)"))
edit(
    NEXT,
    "into the argument",
    "logits-changed in-place",
    ("logits = logits / temperature", "logits.div_(temperature)"),
    form=True,
)
edit(NEXT, "logs", "logarithms log-softmax log-taken", ("return probs", "return (probs + 1e-9).log()"))
edit(NEXT, "rank order", "left-in-sorted-order", ("return probs", "return probs.sort(descending=True).values"))


# ---------------------------------------------------------------- cross_attention

CROSS = """
import math
import torch
import torch.nn.functional as F

def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        keep = memory_padding[..., None, :, :].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att
"""
edit(
    CROSS,
    "looks at itself",
    "keys-and-values-from-x",
    ("L, S = x.shape[-2], memory.shape[-2]", "memory, memory_padding = x, None; L = S = x.shape[-2]"),
)
edit(
    CROSS,
    "the other way round",
    "x-and-memory-swapped",
    ("L, S = x.shape", "x, memory, memory_padding = memory, x, None; L, S = x.shape"),
)
edit(CROSS, "asks itself", "queries-from-memory", ("    L, S = x.shape", "    x = memory; L, S = x.shape"))
edit(CROSS, "not divided", "no-scaling", (" / math.sqrt(q.shape[-1])", ""))
edit(CROSS, "root of the model", "scale-by-d_model", ("math.sqrt(q.shape[-1])", "math.sqrt(x.shape[-1])"))
edit(CROSS, "columns sum", "softmax-over-queries", ("dim=-1", "dim=-2"))
edit(CROSS, "heads share", "softmax-over-heads", ("dim=-1", "dim=-3"))
edit(CROSS, "upside down", "mask-inverted", ("= memory_padding[", "= ~memory_padding["))
edit(CROSS, "no padding at all", "mask-ignored", ("memory_padding is not None", "False"))
edit(CROSS, "afterwards", "mask-after-softmax", ("att = att.masked_fill(~keep, -1e20)", "pass"))
edit(CROSS, "no end", "W_O-missing", ("z @ W_O", "z"))
edit(CROSS, "no transpose back", "concat-without-transpose", ("(att @ v).transpose(-2, -3)", "(att @ v)"))
edit(CROSS, "values by keys", "W_K-and-W_V-swapped", ("memory @ W_K", "memory @ W_U"), ("memory @ W_V", "memory @ W_K"),
     ("W_U", "W_V"))  # fmt: skip
edit(
    CROSS,
    "never ahead",
    "causal-mask-put-in causal-mask",
    (
        "    if memory_padding",
        "    att = att + torch.full((L, S), -1e9, dtype=att.dtype).triu(1)\n    if memory_padding",
    ),
)
edit(CROSS, "head of first text", "padding-of-the-first-for-all mask-of-the-first-for-all",
     ("memory_padding[..., None, :, :]", "memory_padding.reshape(-1, S)[0]"))  # fmt: skip
edit(CROSS, "even where nothing is", "evenly-for-nothing", (" * keep", ""))
edit(CROSS, "weights of one head", "weights-averaged", ("W_O, att", "W_O, att.mean(-3)"))
edit(CROSS, "weights first", "tuple-swapped", ("z @ W_O, att", "att, z @ W_O"), form=True)
edit(CROSS, "thirty-two", "float32-always another-dtype", ("z @ W_O, att", "(z @ W_O).float(), att.float()"), form=True)
edit(CROSS, "zeros in memory", "memory-zeroed", ("    L, S", "    if memory_padding is not None:\n        memory = "
     "torch.where(memory_padding.transpose(-1, -2), memory, 0); memory_padding = None\n    L, S"))  # fmt: skip
edit(CROSS, "by numbers", "detached-gradient", ("@ v).transpose", "@ v.detach()).transpose"), form=True)
edit(CROSS, "nothing joined", "heads-averaged", ("(att @ v)", "(att @ v).mean(-3, keepdim=True).expand_as(q)"))


# ---------------------------------------------------------------- written when prices were made alike


@wrong("labels smoothed", "labels-smoothed", "label-smoothing")
def summary_loss(logits, token_ids, loss_mask):
    m = loss_mask[:, 1:]
    return F.cross_entropy(logits[:, :-1][m], token_ids[:, 1:][m], label_smoothing=0.1)


@wrong("clamped below", "large-scores", "clamped")
def summary_loss(logits, token_ids, loss_mask):
    m = loss_mask[:, 1:]
    p = torch.softmax(logits[:, :-1][m], -1).clamp(1e-3)
    return -p.log().gather(-1, token_ids[:, 1:][m][:, None]).mean()


@wrong("only sixteen words read", "context-cut", "only-the-last-words-read")
def next_token(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids[-16:]]))[0, -1].argmax())


@wrong("only thirty-two words read", "context-cut", "only-the-last-words-read")
def next_token(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids[-32:]]))[0, -1].argmax())


def _next_again(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


@wrong("is at the end", "end-compared-by-identity")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next_again(model, ids)
        if token is end_id:
            break
        ids.append(token)
    return ids[len(article_ids) + 1 :]


@wrong("context of sixteen", "context-cut", "only-the-last-words-read")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next_again(model, ids[-16:])
        if token == end_id:
            break
        ids.append(token)
    return ids[len(article_ids) + 1 :]


@wrong("no word twice running", "another-length", "no-repetition", "repetition-forbidden")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    words = []
    for _ in range(max_new_tokens):
        token = _next_again(model, [*article_ids, separator_id, *words])
        if token == end_id or (words and token == words[-1]):
            break
        words.append(token)
    return words


@wrong("longest word list", "another-length", "cut-at-16", "cut")
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = [*article_ids, separator_id, *summary_ids, end_id][:16]
    return ids, [i > len(article_ids) for i in range(len(ids))]


@wrong("row of W_O by reshape", "heads-interleaved", "columns-interleaved")
def ablate(weights, layer, head, num_heads):
    out = {k: v.clone() for k, v in weights.items()}
    W = out[f"blocks.{layer}.attention.W_O.weight"]
    W.view(W.shape[0], -1, num_heads)[..., head] = 0
    return out


@wrong("every layer", "every-layer", "all-layers", "whole-layer-switched-off")
def ablate(weights, layer, head, num_heads):
    out = {k: v.clone() for k, v in weights.items()}
    for name, W in out.items():
        if name.endswith("W_O.weight"):
            d = W.shape[1] // num_heads
            W[:, head * d : (head + 1) * d] = 0
    return out


@wrong("temperature after top-p", "cut-before-the-temperature", "temperature-last")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits, -1)
    if top_k is not None:
        p = torch.where(p >= p.topk(top_k).values[-1], p, 0)
        p = p / p.sum()
    if top_p is not None:
        s, i = p.sort(descending=True)
        keep = s.cumsum(0) - s < top_p
        p = torch.zeros_like(p).scatter(0, i, torch.where(keep, s, torch.zeros_like(s)))
    p = p ** (1 / temperature)
    return p / p.sum()
