"""Known mistakes of a6: examples, masked loss, next token, greedy decoding, ablation, sampling, cross-attention."""

import math

import torch
import torch.nn.functional as F

from autograder.attention.hidden import decisions
from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()
TORCH = decisions.torch_ways()


# ---------------------------------------------------------------- training_example


@mistake("summary-first", hint="What does the model read before it writes?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*summary_ids, separator_id, *article_ids, end_id]
    return token_ids, [False] * (len(summary_ids) + 1) + [True] * (len(article_ids) + 1)


@mistake(
    "mask-at-the-predicting-places", hint="Does the mask stand at a word, or at the place from which it is guessed?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [False] * len(article_ids) + [True] * (len(summary_ids) + 1) + [False]


@mistake(
    "mask-of-numbers", hint="For a mask, what is the difference between a list of 0 and 1 and one of False and True?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [0] * (len(article_ids) + 1) + [1] * (len(summary_ids) + 1)


@mistake(
    "article-changed", hint="Print article_ids before and after the call. Which of your lines makes that list longer?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    given = len(article_ids) + 1
    article_ids += [separator_id, *summary_ids, end_id]
    return article_ids, [False] * given + [True] * (len(article_ids) - given)


@mistake("lists-nested", hint="Print token_ids. Is each of its entries a number?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = list(article_ids)
    token_ids.append(separator_id)
    token_ids.append(summary_ids)
    token_ids.append(end_id)
    return token_ids, [False] * (len(article_ids) + 1) + [True] * (len(summary_ids) + 1)


# ---------------------------------------------------------------- summary_loss


# Written out, since tests hand it in.
@mistake("no-shift", hint="Logits at a place speak of the next token. With which token does your code compare them?")
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[loss_mask], token_ids[loss_mask])


@mistake("shift-the-wrong-way", hint="Is it the earlier place that predicts the later token, or the other way round?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:]
    return F.cross_entropy(logits[:, 1:][counted], token_ids[:, :-1][counted])


@mistake("shifted-by-two", hint="Is it the next token, or the one after the next?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 2:]
    return F.cross_entropy(logits[:, :-2][counted], token_ids[:, 2:][counted])


def _losses(logits, token_ids):
    """One loss for each token but the first, (B, L - 1)."""
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")


@mistake("softmax-over-places", hint="Over which axis do the probabilities of one place sum to 1?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:]
    return F.nll_loss(torch.log_softmax(logits, dim=1)[:, :-1][counted], token_ids[:, 1:][counted])


@mistake("probability-instead-of-log", hint="By hand: 0.5 gives 0.693. What has become of the logarithm?")
def summary_loss(logits, token_ids, loss_mask):
    return (1 - torch.exp(-_losses(logits, token_ids)))[loss_mask[:, 1:]].mean()


@mistake(
    "mask-on-the-logits",
    hint="A logit of 0 is a guess like any other. Does a token whose logits are 0 count for nothing?",
)
def summary_loss(logits, token_ids, loss_mask):
    masked = logits[:, :-1] * loss_mask[:, 1:, None]
    return F.cross_entropy(masked.flatten(0, 1), token_ids[:, 1:].flatten())


@mistake("no-max-subtraction", hint="What is exp(10000)? Which function of PyTorch takes the log without that step?")
def summary_loss(logits, token_ids, loss_mask):
    exps = torch.exp(logits[:, :-1])
    probabilities = exps / exps.sum(-1, keepdim=True)
    picked = probabilities.gather(-1, token_ids[:, 1:, None])[..., 0]
    return -torch.log(picked[loss_mask[:, 1:]]).mean()


@mistake("number-instead-of-tensor", hint="What can backward do with a Python number?")
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits, token_ids)[loss_mask[:, 1:]].mean().item()


@mistake(
    "detached-gradient",
    hint="Print requires_grad after each step from the logits to the loss. Where does it turn False?",
)
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits.detach(), token_ids)[loss_mask[:, 1:]].mean()


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits.float(), token_ids)[loss_mask[:, 1:]].mean()


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def summary_loss(logits, token_ids, loss_mask):
    loss = _losses(logits, token_ids)[loss_mask[:, 1:]].mean()
    token_ids.masked_fill_(~loss_mask, -100)
    return loss


# ---------------------------------------------------------------- next_token


def _logits(model, token_ids):
    """(L, V)"""
    with torch.no_grad():
        return model(torch.tensor([token_ids]))[0]


@mistake("middle-position", hint="At which place has the model read the whole text?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids)[len(token_ids) // 2].argmax())


@mistake(
    "last-but-one-position",
    hint="Your answer is what the model says before it has read the last word. Where does that word get lost?",
)
def next_token(model, token_ids):
    return int(_logits(model, token_ids)[-2].argmax())


@mistake("argmax-over-positions", hint="Is the largest logit looked for among words, or among places?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids).argmax(dim=0)[-1])


@mistake("tensor-instead-of-int", hint="How do you get the number out of a tensor that holds one?")
def next_token(model, token_ids):
    return _logits(model, token_ids)[-1].argmax()


@mistake("text-changed", hint="Print token_ids before and after the call. Which of your lines makes that list longer?")
def next_token(model, token_ids):
    token = int(_logits(model, token_ids)[-1].argmax())
    token_ids.append(token)
    return token


@mistake(
    "probabilities-rounded", hint="What is exp(-400) in numbers of 32 bits, and what is the largest of many zeros?"
)
def next_token(model, token_ids):
    return int(torch.exp(_logits(model, token_ids)[-1].float()).argmax())


# ---------------------------------------------------------------- greedy_summary


def _next(model, token_ids):
    return int(_logits(model, token_ids)[-1].argmax())


@mistake("end-left-out-and-on", hint="After the end, does your loop stop, or does it go on without it?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token_ids.append(_next(model, token_ids))
    return [token for token in token_ids[len(article_ids) + 1 :] if token != end_id]


@mistake("max_new_tokens-ignored", hint="What ends your loop when the model never says end?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    while (token := _next(model, [*article_ids, separator_id, *summary])) != end_id:
        summary.append(token)
    return summary


@mistake("separator-before-every-word", hint="How many separators does the model read when it writes the third word?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, *summary, separator_id])
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake("end-for-separator", hint="Which of the two marks stands between article and summary?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, end_id, *summary])
        if token == separator_id:
            break
        summary.append(token)
    return summary


@mistake("only-the-last-word-read", hint="What does the model read when it writes the second word: all, or one word?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary, token_ids = [], [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next(model, token_ids)
        if token == end_id:
            break
        summary.append(token)
        token_ids = [token]
    return summary


@mistake(
    "article-forgotten", hint="Print what the model reads for each word that it writes. Where in it is the article?"
)
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary, token_ids = [], [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next(model, token_ids)
        if token == end_id:
            break
        summary.append(token)
        token_ids = [separator_id, *summary]
    return summary


@mistake("all-at-once", hint="One look at the article gives logits at every place. Are those the words of a summary?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    words = _logits(model, [*article_ids, separator_id]).argmax(dim=-1).tolist()
    return words[words.index(end_id) + 1 :][:max_new_tokens] if end_id in words else words[:max_new_tokens]


@mistake("written-backwards", hint="At which end of the summary does the next word belong?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, separator_id, *summary])
        if token == end_id:
            break
        summary.insert(0, token)
    return summary


@mistake("repeated-words-left-out", hint="May a word stand in the summary, if it stands there already?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        logits = _logits(model, [*article_ids, separator_id, *summary])[-1].clone()
        logits[summary] = -torch.inf
        token = int(logits.argmax())
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake(
    "article-changed", hint="Print article_ids before and after the call. Which of your lines makes that list longer?"
)
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    given = len(article_ids) + 1
    article_ids.append(separator_id)
    for _ in range(max_new_tokens):
        token = _next(model, article_ids)
        if token == end_id:
            break
        article_ids.append(token)
    return article_ids[given:]


@mistake("tensor-instead-of-list", hint="What kind of value does the exercise ask for?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = torch.tensor([[*article_ids, separator_id]])
    for _ in range(max_new_tokens):
        with torch.no_grad():
            token = model(token_ids)[:, -1].argmax(-1, keepdim=True)
        if token.item() == end_id:
            break
        token_ids = torch.cat([token_ids, token], dim=1)
    return token_ids[0, len(article_ids) + 1 :]


@mistake("least-likely", hint="Has the likeliest word the largest logit or the smallest?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = int(_logits(model, [*article_ids, separator_id, *summary])[-1].argmin())
        if token == end_id:
            break
        summary.append(token)
    return summary


# ---------------------------------------------------------------- ablate


def _name(layer):
    return f"blocks.{layer}.attention.W_O.weight"


def _with(weights, layer, change):
    """The weights with that layer's W_O changed by a function."""
    W_O = weights[_name(layer)].clone()
    change(W_O)
    return weights | {_name(layer): W_O}


@mistake(
    "rows-instead-of-columns", hint="nn.Linear keeps its matrix turned round. Does a row meet one head, or all of them?"
)
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    return _with(weights, layer, lambda W_O: W_O[head * d : (head + 1) * d].zero_())


@mistake(
    "one-column-of-the-head", hint="How many numbers has each head found for a word, and how many columns do they meet?"
)
def ablate(weights, layer, head, num_heads):
    return _with(weights, layer, lambda W_O: W_O[:, head].zero_())


@mistake("from-the-head-on", hint="Where do this head's columns end?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    return _with(weights, layer, lambda W_O: W_O[:, head * d :].zero_())


@mistake("all-others-switched-off", hint="Is it this head that falls silent, or everybody else?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    kept = torch.zeros(num_heads * d)
    kept[head * d : (head + 1) * d] = 1
    return _with(weights, layer, lambda W_O: W_O.mul_(kept))


@mistake("whole-layer-switched-off", hint="Who else speaks through this matrix?")
def ablate(weights, layer, head, num_heads):
    return _with(weights, layer, lambda W_O: W_O.zero_())


@mistake("every-layer", hint="In how many layers does a head of that number stand, and which one is asked for?")
def ablate(weights, layer, head, num_heads):
    for number in range(sum(name.endswith("W_O.weight") for name in weights)):
        d = weights[_name(number)].shape[1] // num_heads
        weights = _with(weights, number, lambda W_O, d=d: W_O[:, head * d : (head + 1) * d].zero_())
    return weights


@mistake("first-layer-always", hint="Which argument has no influence on your result?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(0)].shape[1] // num_heads
    return _with(weights, 0, lambda W_O: W_O[:, head * d : (head + 1) * d].zero_())


@mistake("width-from-d-model", hint="Which axis of W_O.weight do the heads share: d_model, or the other one?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[0] // num_heads
    return _with(weights, layer, lambda W_O: W_O[:, head * d : (head + 1) * d].zero_())


@mistake("the-original-changed", hint="A new dict may hold the old tensors. Whose numbers are set to zero?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    weights = dict(weights)
    weights[_name(layer)][:, head * d : (head + 1) * d] = 0
    return weights


@mistake("only-one-matrix-given-back", hint="What does a model do without its other numbers?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    changed = _with(weights, layer, lambda W_O: W_O[:, head * d : (head + 1) * d].zero_())
    return {_name(layer): changed[_name(layer)]}


@mistake("turned-round-and-not-back", hint="Which shape has W_O.weight when it comes in, and when it goes out?")
def ablate(weights, layer, head, num_heads):
    rows = weights[_name(layer)].T.clone()
    d = len(rows) // num_heads
    rows[head * d : (head + 1) * d] = 0
    return weights | {_name(layer): rows}


@mistake("values-switched-off", hint="A head without values is silent, too. But which matrix does the text name?")
def ablate(weights, layer, head, num_heads):
    name = _name(layer).replace("W_O", "W_V")
    d = len(weights[name]) // num_heads
    W_V = weights[name].clone()
    W_V[head * d : (head + 1) * d] = 0
    return weights | {name: W_V}


@mistake("others-made-louder", hint="Are the numbers of the other heads as they were?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    louder = num_heads / max(1, num_heads - 1)
    return _with(weights, layer, lambda W_O: W_O.mul_(louder)[:, head * d : (head + 1) * d].zero_())


@mistake("average-in-place-of-zero", hint="What does a head say through columns that are all alike but not zero?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    return _with(weights, layer, lambda W_O: W_O[:, head * d : (head + 1) * d].fill_(W_O.mean()))


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    W_O = weights[_name(layer)].float()
    W_O = W_O.clone()
    W_O[:, head * d : (head + 1) * d] = 0
    return weights | {_name(layer): W_O}


# ---------------------------------------------------------------- next_word_probabilities


@mistake("cut-before-the-temperature", hint="Which comes first, the temperature or top_p? Does it change what adds up?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    order = logits.argsort(descending=True)
    plain = torch.softmax(logits[order], -1)[:top_k]
    plain = plain / plain.sum()
    kept = torch.softmax(logits[order] / temperature, -1)[:top_k]
    if top_p is not None:
        kept = torch.where(plain.cumsum(0) - plain < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result


@mistake("cut-off-with-zero", hint="What is e to the power of 0? Is that what a word gets that is cut off?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    order = scaled.argsort(descending=True)
    left = torch.zeros_like(scaled)
    left[order[:top_k]] = scaled[order[:top_k]]
    kept = torch.softmax(left[order], -1)
    if top_p is not None:
        within = kept.cumsum(0) - kept < top_p
        kept = torch.softmax(torch.where(within, left[order], torch.zeros_like(kept)), -1)
    result = torch.zeros_like(logits)
    result[order] = kept
    return result


@mistake("the-likeliest-alone", hint="Are these probabilities to draw from, or is one word chosen already?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    return F.one_hot(logits.argmax(), len(logits)).to(logits.dtype)


@mistake("logarithms", hint="Can a probability be negative?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    order = scaled.argsort(descending=True)
    kept = torch.softmax(scaled[order], -1)[:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result.clamp(min=1e-9).log()


@mistake("logits-changed", hint="After the call, what do the caller's logits hold?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits /= temperature
    order = logits.argsort(descending=True)
    kept = torch.softmax(logits[order], -1)[:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    order = scaled.argsort(descending=True)
    kept = torch.softmax(scaled[order], -1)[:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros(len(logits))
    result[order[: len(kept)]] = (kept / kept.sum()).float()
    return result


@mistake(
    "overflowing", hint="What is e to the power of 10,000? What may be taken off all logits without changing anything?"
)
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    exps = (logits / temperature).exp()
    order = logits.argsort(descending=True)
    kept = (exps / exps.sum())[order][:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result


# ---------------------------------------------------------------- cross_attention


def _cut(projected, h):
    """(..., length, h * d) -> (..., h, length, d)"""
    return projected.unflatten(-1, (h, -1)).transpose(-3, -2)


def _scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _shares(scores, real=None, dim=-1):
    """Weights; `real` broadcasts to the scores."""
    if real is None:
        return torch.softmax(scores, dim)
    return torch.softmax(scores.masked_fill(~real, torch.finfo(scores.dtype).min), dim).masked_fill(~real, 0.0)


def _for_heads(padding):
    """(..., 1, S) -> (..., 1, 1, S)"""
    return None if padding is None else padding.unsqueeze(-3)


def _side_by_side(heads):
    """(..., h, L, d) -> (..., L, h * d)"""
    return heads.transpose(-3, -2).flatten(-2)


@mistake("keys-and-values-from-x", hint="Who is asked: the text itself, or the other one? What is memory used for?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(x @ W_K, num_heads), _cut(x @ W_V, num_heads)
    weights = _shares(_scores(query, key))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("x-and-memory-swapped", hint="Which of the two texts asks, and which one answers?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(memory @ W_Q, num_heads), _cut(x @ W_K, num_heads), _cut(x @ W_V, num_heads)
    weights = _shares(_scores(query, key))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("both-texts-as-keys", hint="How many columns should the weights have? May a word look at its own text here?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    both = torch.cat([memory, x], dim=-2)
    real = _for_heads(memory_padding)
    if real is not None:
        real = torch.cat([real, real.new_ones(*real.shape[:-1], x.shape[-2])], dim=-1)
    query, key, value = _cut(x @ W_Q, num_heads), _cut(both @ W_K, num_heads), _cut(both @ W_V, num_heads)
    weights = _shares(_scores(query, key), real)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("one-big-head", hint="How many matrices of weights are there? Over how many columns does a score add up?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    weights = _shares(_scores(x @ W_Q, memory @ W_K), memory_padding)
    return weights @ (memory @ W_V) @ W_O, torch.stack([weights] * num_heads, dim=-3)


@mistake("residual-added", hint="What else is in your output besides the heads?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return x + _side_by_side(weights @ value) @ W_O, weights


@mistake("weights-averaged", hint="The weights should show what each head looks at. How many axes do they have?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return _side_by_side(weights @ value) @ W_O, weights.mean(dim=-3)


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return weights, _side_by_side(weights @ value) @ W_O


@mistake("memory-zeroed", hint="A vector of zeros has a key, too. Which score does it get, and so which weight?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    if memory_padding is not None:
        memory = memory * memory_padding.transpose(-2, -1)
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("leaky-mask", hint="Put a score of a million under the mask. How much of it comes through?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    scores = _scores(query, key)
    if memory_padding is None:
        weights = _shares(scores)
    else:
        real = _for_heads(memory_padding)
        weights = _shares(scores - 100.0 * ~real) * real.any(dim=-1, keepdim=True)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("padding-of-the-first-for-all", hint="Do two texts with different padding get different weights?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    real = None if memory_padding is None else memory_padding.reshape(-1, memory.shape[-2])[0]
    weights = _shares(_scores(query, key), real)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake(
    "heads-axis-missing-in-padding", hint="The scores have an axis for the heads. Which axis of (B, 1, S) meets it?"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), memory_padding)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake(
    "one-batch-axis-only", hint="Does your code ask how many batch axes there are, or does it take for granted one?"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    (B, L, _), S = x.shape, memory.shape[1]
    query = (x @ W_Q).view(B, L, num_heads, -1).transpose(1, 2)
    key = (memory @ W_K).view(B, S, num_heads, -1).transpose(1, 2)
    value = (memory @ W_V).view(B, S, num_heads, -1).transpose(1, 2)
    weights = _shares(_scores(query, key), None if memory_padding is None else memory_padding[:, None])
    return (weights @ value).transpose(1, 2).reshape(B, L, -1) @ W_O, weights


@mistake("d_k-from-d_model", hint="d_model need not be h * d_k. Which shape tells you how wide a head really is?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    d_k = x.shape[-1] // num_heads
    query, key, value = (
        t.unflatten(-1, (num_heads, d_k)).transpose(-3, -2) for t in (x @ W_Q, memory @ W_K, memory @ W_V)
    )
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("no-max-subtraction", hint="What is e to the power of 1000? What may be taken off a row of scores?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    exps = torch.exp(_scores(query, key))
    if memory_padding is not None:
        exps = exps.masked_fill(~_for_heads(memory_padding), 0.0)
    total = exps.sum(dim=-1, keepdim=True)
    weights = exps / torch.where(total > 0, total, 1.0)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake(
    "detached-gradient", hint="Print requires_grad after each step from memory to the output. Where does it turn False?"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    memory = memory.detach()
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key).float(), _for_heads(memory_padding))
    return _side_by_side(weights @ value.float()) @ W_O.float(), weights


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    output = _side_by_side(weights @ value) @ W_O, weights
    if memory_padding is not None:
        memory.masked_fill_(~memory_padding.transpose(-2, -1), 0.0)
    return output


# ---------------------------------------------------------------- one decision wrong, and two

# What several exercises ask.
WORDS = {
    "loss-mask-inverted": "What does True mean in this mask?",
    "only-the-last-word-read": "Which words does the model get to read?",
    "context-cut": "How many of the words before does the model read for the next one?",
}


@mistake.recipe(
    {
        "loss-on-the-article-too": [{"first": -(10**6)}],
        "separator-counted": [{"first": 0}],
        "first-word-not-counted": [{"first": 2}],
        "end-not-counted": [{"last": -1}],
        "loss-mask-inverted": [{"inverted": True}],
        "counted-by-word": [
            {"counts": lambda i, token, a, s, sep: token in s or i > len(a) + len(s)},
            {"counts": lambda i, token, a, s, sep: token not in {*a, sep}},
            {"counts": lambda i, token, a, s, sep: token not in a and i > len(a)},
            {"counts": lambda i, token, a, s, sep: token not in a or i > len(a) + len(s)},
            {"counts": lambda i, token, a, s, sep: token in s},
        ],
        "mask-without-its-first": [{"whole": lambda mask: mask[1:]}],
        "separator-on-both-sides": [{"ids": lambda a, s, sep, end: [sep, *a, sep, *s, end], "first": 2}],
        "end-missing": [{"ids": lambda a, s, sep, end: [*a, sep, *s]}],
        "separator-missing": [{"ids": lambda a, s, sep, end: [*a, *s, end], "first": 0}],
        "article-with-an-end": [{"ids": lambda a, s, sep, end: [*a, end, sep, *s, end], "first": 2}],
        "article-backwards": [{"ids": lambda a, s, sep, end: [*a[::-1], sep, *s, end]}],
        "summary-backwards": [{"ids": lambda a, s, sep, end: [*a, sep, *s[::-1], end]}],
        "summary-first": [{"ids": lambda a, s, sep, end: [*s, sep, *a, end]}],
        "marks-swapped": [{"ids": lambda a, s, sep, end: [*a, end, *s, sep]}],
    },
    hints=WORDS | {
        "article-with-an-end": "How often does a text say that it is over?",
        "article-backwards": "In which order does the model read the article?",
        "summary-backwards": "In which order is the model to write the summary?",
        "mask-without-its-first": "Does each token id have its entry in the mask, the first one, too?",
        "separator-on-both-sides": "How many separators does a text have, and where?",
        "first-word-not-counted": "Who is to learn to write the first word of the summary?",
        "loss-on-the-article-too": "Which of these words does the model get, and which has it to write?",
        "counted-by-word": "A word may stand in the article and in the summary. Do you ask for its place, or its id?",
        "separator-counted": "Who writes the separator: the model, or the one who asks it for a summary?",
        "end-not-counted": "From which token is the model to learn when its summary is over?",
        "end-missing": "What comes after the last word of the summary?",
        "separator-missing": "How is the model to see where the article ends?",
        "marks-swapped": "Which of the two marks stands between article and summary?",
    },
    held=(
        "loss-on-the-article-too", "separator-counted", "end-not-counted", "end-missing", "separator-missing",
        "marks-swapped", "loss-mask-inverted", "counted-by-word",
    ),
)  # fmt: skip
def training_example(
    ids=lambda a, s, sep, end: [*a, sep, *s, end], first=1, last=0, inverted=False, counts=None,
    whole=lambda mask: mask,
):  # fmt: skip
    def example(article_ids, summary_ids, separator_id, end_id):
        token_ids = ids(article_ids, summary_ids, separator_id, end_id)
        begin = len(article_ids) + first
        mask = [begin <= i < len(token_ids) + last for i in range(len(token_ids))]
        if counts is not None:
            mask = [counts(i, token, article_ids, summary_ids, separator_id) for i, token in enumerate(token_ids)]
        return token_ids, whole([not counted for counted in mask] if inverted else mask)

    return example


def _log_softmax(logits):
    return torch.log_softmax(logits, dim=-1)


@mistake.recipe(
    {
        "no-shift": [{"cut": lambda x, t, m: (x, t, m)}],
        "shift-the-wrong-way": [{"cut": lambda x, t, m: (x[:, 1:], t[:, :-1], m[:, :-1])}],
        "mask-not-shifted": [{"cut": lambda x, t, m: (x[:, :-1], t[:, 1:], m[:, :-1])}],
        "logits-of-the-target": [{"cut": lambda x, t, m: (x[:, 1:], t[:, 1:], m[:, 1:])}],
        "loss-mask-ignored": [{"counted": lambda m, t: torch.ones_like(m)}],
        "loss-mask-inverted": [{"counted": lambda m, t: ~m}],
        "id-0-ignored": [{"counted": lambda m, t: m & (t != 0)}],
        "sum-instead-of-mean": [{"mean": lambda losses, m: losses[m].sum()}],
        "mean-over-all-places": [
            {"mean": lambda losses, m: (losses * m).mean()},
            {"mean": lambda losses, m: (losses * m).sum() / (m.shape[0] * (m.shape[1] + 1))},
        ],
        "mean-of-means": [
            {"mean": lambda losses, m: torch.stack([x[n].mean() for x, n in zip(losses, m)]).mean()},
            {"mean": lambda losses, m: torch.stack([x[n].mean() for x, n in zip(losses.T, m.T) if n.any()]).mean()},
        ],
        "divided-by-the-batch": [{"mean": lambda losses, m: losses[m].sum() / len(m)}],
        "first-text-only": [{"mean": lambda losses, m: losses[0][m[0]].mean()}],
        "no-reduction": [{"mean": lambda losses, m: losses[m]}, {"mean": lambda losses, m: losses * m}],
        "softmax-before-cross-entropy": [{"log": lambda x: torch.log_softmax(torch.softmax(x, dim=-1), dim=-1)}],
        "log-softmax-twice": [{"log": lambda x: torch.log_softmax(torch.log_softmax(x, dim=-1) * 2, dim=-1)}],
        "softmax-over-places": [{"log": lambda x: torch.log_softmax(x, dim=1)}],
        "logits-instead-of-log": [{"log": lambda x: x}],
        "probability-instead-of-log": [{"log": lambda x: torch.softmax(x, dim=-1)}],
        "sign-missing": [{"log": lambda x: -torch.log_softmax(x, dim=-1)}],
        "another-base": [{"log": lambda x: torch.log_softmax(x, dim=-1) / by} for by in (0.6931471805599453, 2.302585)],
        "mask-on-the-logits": [
            {"before": lambda x, m: x * m[..., None]},
            {"before": lambda x, m: x * m[..., None], "mean": lambda losses, m: losses.mean()},
            {"masked": lambda x, m: x * m[..., None]},
            {"masked": lambda x, m: x * m[..., None], "mean": lambda losses, m: losses.mean()},
        ],
        "mask-on-the-ids": [{"aimed": lambda t, m: t * m, "counted": lambda m, t: torch.ones_like(m)}],
        "label-smoothing": [{"smoothed": by} for by in (0.1, 0.05, 0.2)],
        "perplexity": [{"mean": lambda losses, m: losses[m].mean().exp()}],
        "divided-by-one-more": [{"mean": lambda losses, m: losses[m].sum() / (m.sum() + 1)}],
        "largest-for-mean": [{"mean": lambda losses, m: losses[m].max()}],
        "weighted-by-probability": [{"weigh": lambda losses: losses * (1 - torch.exp(-losses))},
                                    {"weigh": lambda losses: losses * (1 - torch.exp(-losses)) ** 2}],
    },
    hints=WORDS | {
        "id-0-ignored": "Is 0 a word like others here? Which tokens count is said by the loss mask alone.",
        "logits-instead-of-log": "Are logits logarithms of probabilities? Which step is missing?",
        "another-base": "Which logarithm is in the docstring's cross-entropy?",
        "first-text-only": "How many texts has the batch, and how many reach your sum?",
        "mask-not-shifted": "The mask stands at tokens. After the shift, does it still stand at the same ones?",
        "loss-mask-ignored": "Which argument has no influence on your loss?",
        "sum-instead-of-mean": "With a batch of twice the size, should the loss be twice as large?",
        "mean-over-all-places": "By how many tokens is the sum divided? How many are counted?",
        "mean-of-means": "A text with 3 counted tokens and one with 6: does every token have the same say?",
        "divided-by-the-batch": "By how many tokens is the sum divided? Is B a number of tokens?",
        "no-reduction": "There is a loss for each counted token. Which one number is handed to backward?",
        "softmax-before-cross-entropy": "What does F.cross_entropy do with its input first?",
        "sign-missing": "The log of a probability is below zero. Should training make it smaller or larger?",
        "logits-of-the-target": "The logits at place t predict the token at which place?",
        "mask-on-the-ids": "Which word is id 0, and what does a place cost at which you ask for it?",
        "label-smoothing": "If the model is all but sure of the right word, is your loss near 0?",
        "perplexity": "By hand: two words of probability 0.5 each cost 0.693. What does yours make of them?",
        "divided-by-one-more": "A single counted token: by how many is its loss divided?",
        "largest-for-mean": "Does each counted token have a say in your loss, or one of them alone?",
        "weighted-by-probability": "Does a sure guess count for less than an unsure one? What is a mean?",
        "log-softmax-twice": "How often does a logit go through a softmax on its way into the loss?",
    },
    held=(
        "mask-not-shifted", "loss-mask-ignored", "loss-mask-inverted", "sum-instead-of-mean", "mean-over-all-places",
        "mean-of-means", "divided-by-the-batch", "no-reduction", "softmax-before-cross-entropy", "sign-missing",
    ),
)  # fmt: skip
def summary_loss(
    cut=lambda x, t, m: (x[:, :-1], t[:, 1:], m[:, 1:]), counted=lambda m, t: m,
    mean=lambda losses, m: losses[m].mean(), log=_log_softmax, before=lambda x, m: x, masked=lambda x, m: x,
    aimed=lambda t, m: t, smoothed=0.0, weigh=lambda losses: losses,
):  # fmt: skip
    def loss(logits, token_ids, loss_mask):
        predictions, targets, mask = cut(masked(logits, loss_mask), token_ids, loss_mask)
        costs = -log(before(predictions, mask))
        losses = costs.gather(-1, aimed(targets, mask)[..., None]).squeeze(-1)
        losses = weigh((1 - smoothed) * losses + smoothed * costs.mean(-1))
        return mean(losses, counted(mask, targets))

    return loss


CONTEXTS = (16, 8, 10, 12, 20, 24, 32)  # sizes that people give a context, below that of the suite's texts


@mistake.recipe(
    {
        "first-position": [{"place": lambda x: x[0]}],
        # A model that reads from left to right says the same there as after a text without its last word.
        "last-but-one-position": [{"place": lambda x: x[max(-2, -len(x))]}],
        "mean-over-positions": [{"place": lambda x: x.mean(0)}],
        "surest-position": [{"place": lambda x: x[x.max(-1).values.argmax()]}],
        "argmax-over-everything": [{"place": lambda x: x.reshape(-1)}],
        "least-likely": [{"pick": lambda x: x.argmin()}],
        "size-instead-of-sign": [{"pick": lambda x: x.abs().argmax()}],
        "maximum-instead-of-its-place": [{"pick": lambda x: x.max()}],
        "second-likeliest": [{"pick": lambda x: x.argsort()[-2]}],
        "only-the-last-word-read": [{"read": lambda ids: ids[-1:]}],
        "context-cut": [{"read": lambda ids, most=most: ids[-most:]} for most in CONTEXTS],
        "read-backwards": [{"read": lambda ids: ids[::-1]}],
    },
    hints=WORDS | {
        "second-likeliest": "Sort the logits of one place: which one do you take?",
        "maximum-instead-of-its-place": "Is the result an id, or a logit?",
        "first-position": "The logits at place 0 have read one word. Which place has read them all?",
        "argmax-over-everything": "Without an axis, argmax counts through all places. What number comes out then?",
        "surest-position": "The model may be surest about a word that stands there already. Which place is asked for?",
        "mean-over-positions": "Which places speak of a word that stands in the text already?",
        "least-likely": "Has the likeliest word the largest logit or the smallest?",
        "size-instead-of-sign": "Is a word with a logit of -5 likelier than one with 3?",
        "read-backwards": "In which order does the model read?",
    },
    held=(
        "first-position", "argmax-over-everything", "surest-position", "mean-over-positions", "least-likely",
        "size-instead-of-sign", "only-the-last-word-read", "read-backwards",
    ),
)  # fmt: skip
def next_token(place=lambda x: x[-1], pick=lambda x: x.argmax(), read=lambda ids: ids):
    return lambda model, token_ids: int(pick(place(model(torch.tensor([read(list(token_ids))]))[0])))


@mistake.recipe(
    {
        "end-returned": [{"with_end": True}],
        "never-stops-at-the-end": [{"stop": lambda token, separator, end: False}],
        "separator-for-end": [{"stop": lambda token, separator, end: token == separator}],
        "stops-at-the-separator-too": [{"stop": lambda token, separator, end: token in (separator, end)}],
        "stops-at-a-word-it-has-written": [
            {"over": lambda token, words, article, most: token in words},
            {"over": lambda token, words, article, most: words[-1:] == [token]},
        ],
        "stops-at-a-word-of-the-article": [{"over": lambda token, words, article, most: token in article}],
        "stops-where-the-article-is-as-long": [
            {"over": lambda token, words, article, most: len(words) >= len(article)}
        ],
        "the-given-counts-as-new": [
            {"over": lambda token, words, article, most: len(article) + 1 + len(words) >= most},
            {"over": lambda token, words, article, most: len(article) + len(words) >= most},
        ],
        "end-compared-by-identity": [{"stop": lambda token, separator, end: token is end}],
        "one-token-too-many": [{"more": 1}],
        "one-token-too-few": [{"more": -1}],
        "prompt-returned-too": [{"back": lambda article, separator, words: [*article, separator, *words]}],
        "separator-returned-too": [{"back": lambda article, separator, words: [separator, *words]}],
        "first-word-lost": [{"back": lambda article, separator, words: words[1:]}],
        "last-word-lost": [{"back": lambda article, separator, words: words[:-1]}],
        "repeated-words-taken-out": [{"back": lambda article, separator, words: list(dict.fromkeys(words))}],
        "written-backwards": [{"back": lambda article, separator, words: words[::-1]}],
        "separator-forgotten": [{"read": lambda article, separator, words: [*article, *words]}],
        "separator-last": [{"read": lambda article, separator, words: [*article, *words, separator]}],
        "separator-first": [{"read": lambda article, separator, words: [separator, *article, *words]}],
        "own-words-not-read": [{"read": lambda article, separator, words: [*article, separator]}],
        "article-forgotten": [{"read": lambda article, separator, words: [separator, *words]}],
        "only-the-last-word-read": [{"read": lambda article, separator, words: [*article, separator, *words][-1:]}],
        "context-cut": [
            {"read": lambda article, separator, words, most=most: [*article, separator, *words][-most:]}
            for most in CONTEXTS
        ],
    },
    hints=WORDS | {
        "separator-for-end": "Which id ends the summary?",
        "end-returned": "The end says that the summary is over. Is it a word of it?",
        "never-stops-at-the-end": "What does your loop do when the model says end?",
        "one-token-too-many": "With max_new_tokens=1, how often does your loop go round?",
        "one-token-too-few": "With max_new_tokens=1, how often does your loop go round?",
        "end-compared-by-identity": "What does `is` compare, and are two ints of the same value one object?",
        "the-given-counts-as-new": "Which words are new: does the article count towards max_new_tokens?",
        "prompt-returned-too": "Which part of the text did the model write?",
        "separator-returned-too": "Where does the summary begin: at the separator, or after it?",
        "separator-forgotten": "How does the model know that the article is over?",
        "separator-first": "In the examples that the model learned from, where did the separator stand?",
        "own-words-not-read": "What does the model read when it writes the second word? Has anything changed?",
        "first-word-lost": "Is the first word that the model says part of the summary?",
        "stops-at-the-separator-too": "Which id ends the summary?",
        "stops-at-a-word-it-has-written": "May a summary say a word twice? What does your code do then?",
        "repeated-words-taken-out": "May a summary say a word twice? What does your code do then?",
        "stops-at-a-word-of-the-article": "May a summary say a word of the article? What does your code do then?",
        "stops-where-the-article-is-as-long": "May a summary be longer than its article? What ends yours?",
        "last-word-lost": "Is the last word of your list a word of the summary?",
        "separator-last": "Where does the separator stand once the first word is written?",
    },
    held=(
        "end-returned", "never-stops-at-the-end", "one-token-too-many", "one-token-too-few", "end-compared-by-identity",
        "context-cut", "the-given-counts-as-new", "prompt-returned-too", "separator-returned-too",
        "separator-forgotten", "separator-first", "own-words-not-read", "first-word-lost",
    ),
)  # fmt: skip
def greedy_summary(
    stop=lambda token, separator, end: token == end, more=0, with_end=False,
    back=lambda article, separator, words: words,
    read=lambda article, separator, words: [*article, separator, *words],
    over=lambda token, words, article, most: False,
):  # fmt: skip
    def summary(model, article_ids, separator_id, end_id, max_new_tokens):
        words = []
        for _ in range(max_new_tokens + more):
            token = _next(model, read(article_ids, separator_id, words))
            if stop(token, separator_id, end_id):
                words += [token] if with_end else []
                break
            if over(token, words, article_ids, max_new_tokens):
                break
            words.append(token)
        return back(article_ids, separator_id, words)

    return summary


@mistake.recipe(
    {
        "rows-instead-of-columns": [{"rows": True}],
        "heads-counted-from-1": [{"shift": -1}],
        "next-head": [{"shift": 1}],
        "another-matrix": [
            {"matrix": name, "rows": rows} for name in ("W_Q", "W_K", "W_V") for rows in (False, True)
        ],
        "layers-counted-from-1": [{"layer_shift": -1}],
        "others-made-louder": [{"value": lambda W: W * 2}],
        "average-in-place-of-zero": [{"value": lambda W: 0 * W + W.mean()}],
        "heads-interleaved": [{"strided": True}],
        "set-to-one": [{"value": lambda W: 0 * W + 1}],
    },
    hints=WORDS | {
        "another-matrix": "Which matrix brings a head's values back to the width of the model?",
        "rows-instead-of-columns": "nn.Linear keeps its matrix turned round. Does a row meet one head, or all of them?",
        "heads-counted-from-1": "Where do the columns of head 0 begin?",
        "heads-interleaved": "Are a head's columns neighbours, or every h-th one?",
        "next-head": "Where do the columns of head 0 begin?",
        "layers-counted-from-1": "Which layer has the name blocks.0?",
        "set-to-one": "By what must a number be multiplied to have no effect?",
    },
    held=("heads-counted-from-1", "heads-interleaved"),
)  # fmt: skip
def ablate(rows=False, shift=0, matrix="W_O", layer_shift=0, value=lambda W: 0 * W, strided=False):
    def silent(weights, layer, head, num_heads):
        name = f"blocks.{layer + layer_shift}.attention.{matrix}.weight"
        W = weights[name].clone()
        d = W.shape[0 if rows else 1] // num_heads
        cut = slice(head, None, num_heads) if strided else slice((head + shift) * d, (head + shift + 1) * d)
        if rows:
            W[cut] = value(W[cut])
        else:
            W[:, cut] = value(W[:, cut])
        return {**weights, name: W}

    return silent


@mistake.recipe(
    {
        "temperature-multiplied": [{"heat": lambda logits, T: logits * T}],
        "temperature-ignored": [{"heat": lambda logits, T: logits}],
        "probabilities-divided": [{"heat": lambda logits, T: torch.softmax(logits, -1) / T}],
        "least-likely-kept": [{"first_the_likeliest": False}],
        "left-in-sorted-order": [{"back": False}],
        "not-shared-out-again": [{"shared": False}],
        "top-k-ignored": [{"most": lambda k: None}],
        "one-word-more-than-k": [{"most": lambda k: None if k is None else k + 1}],
        "one-word-less-than-k": [{"most": lambda k: None if k is None else max(1, k - 1)}],
        "top-p-ignored": [{"within": lambda kept, p: torch.ones_like(kept, dtype=torch.bool)}],
        "one-word-too-few": [
            {"within": lambda kept, p: (kept.cumsum(0) < p) | (kept == kept[0])},
            {"within": lambda kept, p: kept.cumsum(0) < p},
        ],
        "one-word-too-many": [{"within": lambda kept, p: torch.arange(len(kept)) < (kept.cumsum(0) < p).sum() + 2}],
        "each-word-against-top-p": [
            {"within": lambda kept, p: (kept >= 1 - p) | (kept == kept[0])},
            {"within": lambda kept, p: (kept >= p) | (kept == kept[0])},
            {"within": lambda kept, p: (kept <= p) | (kept == kept[0])},
        ],
        "top-p-of-all-words": [{"among": False}],
        "cut-in-another-order": [{"cut": "what top_k has left"}, {"cut": "all"}],
        "not-sorted": [{"ordered": False}],
        "order-not-undone": [{"back": "turned"}],
    },
    hints={
        "one-word-less-than-k": "With top_k 3, how many words have a probability above zero in yours?",
        "cut-in-another-order": "You know how many of the sorted words are left. Which words of logits are they?",
        "not-sorted": "Which words come first in yours: the likeliest, or those with the smallest ids?",
        "order-not-undone": "Take three words, the last the likeliest. Which number stands last in yours?",
        "temperature-multiplied": "Which temperature makes a model surer, 0.5 or 2? Which one does so in yours?",
        "temperature-ignored": "What changes in your result when the temperature does?",
        "probabilities-divided": "Is it the logits that the temperature divides, or what the softmax gives?",
        "not-shared-out-again": "Once some words are cut off, what do the others sum to?",
        "least-likely-kept": "With top_k 3, which words are left in yours: the three likeliest?",
        "left-in-sorted-order": "Which word does the first number of your result belong to?",
        "one-word-too-few": "With the word at which you stop, is top_p reached? And without it?",
        "one-word-too-many": "At which word is top_p reached, and how many come after it in yours?",
        "each-word-against-top-p": "Is it each word alone that has to reach top_p, or all of them together?",
        "top-p-ignored": "What changes in your result when top_p does?",
        "top-k-ignored": "What changes in your result when top_k does?",
        "top-p-of-all-words": "Is top_p a share of all words, or of those that top_k has left?",
        "one-word-more-than-k": "With top_k 1, how many words have a probability above zero in yours?",
    },
    held=(
        "temperature-multiplied", "temperature-ignored", "probabilities-divided", "not-shared-out-again",
        "least-likely-kept", "left-in-sorted-order", "one-word-too-few", "one-word-too-many", "each-word-against-top-p",
        "top-p-ignored", "top-k-ignored", "top-p-of-all-words", "one-word-more-than-k",
    ),
)  # fmt: skip
def next_word_probabilities(
    heat=lambda logits, T: logits / T,
    first_the_likeliest=True,
    most=lambda k: k,
    among=True,
    within=lambda kept, p: kept.cumsum(0) - kept < p,
    shared=True,
    back=True,
    cut="",
    ordered=True,
):
    def probabilities(logits, temperature=1.0, top_k=None, top_p=None):
        scaled = heat(logits, temperature)
        order = scaled.argsort(descending=first_the_likeliest) if ordered else torch.arange(len(scaled))
        everything = torch.softmax(scaled[order], -1)
        kept = everything[: most(top_k)]
        inside = torch.ones_like(kept, dtype=torch.bool)
        if top_p is not None:
            inside = within(kept / kept.sum() if among else kept, top_p)
        if cut:
            # What is left is known by rank, and picked by id: of those that top_k has left, or of all.
            by_id = F.pad(inside, (0, len(logits) - len(kept)))[order]
            kept = kept * by_id[: len(kept)] if cut == "what top_k has left" and top_p is not None else (
                kept if cut == "what top_k has left" else everything * by_id
            )  # fmt: skip
        else:
            kept = torch.where(inside, kept, torch.zeros_like(kept))
        kept = kept / kept.sum() if shared else kept
        if back == "turned":
            return F.pad(kept, (0, len(logits) - len(kept)))[order]
        result = torch.zeros_like(logits)
        result[order[: len(kept)] if back else slice(0, len(kept))] = kept
        return result

    return probabilities


def _onto(real, size):
    """The padding turned, as far as there are queries."""
    return real.transpose(-2, -1)[..., :size, :]


@mistake.recipe(
    decisions.SCALES
    | {"scale-by-d_model": [{"scale": lambda size: math.sqrt(size.d_model)}]}
    | {"scale-by-whole-width": [{"scale": lambda size: math.sqrt(size.num_heads * size.d_k)}]}
    | {"scale-by-num_heads": [{"scale": lambda size: math.sqrt(size.num_heads)}]}
    | {
        "keys-and-values-from-x": [{"texts": lambda x, m: (x, x, x)}],
        "queries-from-memory": [{"texts": lambda x, m: (m, m, m)}],
        "x-and-memory-swapped": [{"texts": lambda x, m: (m, x, x)}],
        "keys-from-x": [{"texts": lambda x, m: (x, x, m)}],
        "values-from-x": [{"texts": lambda x, m: (x, m, x)}],
        "W_K-and-W_V-swapped": [{"matrices": lambda Q, K, V: (Q, V, K)}],
        "W_Q-and-W_K-swapped": [{"matrices": lambda Q, K, V: (K, Q, V)}],
        "values-from-W_K": [{"matrices": lambda Q, K, V: (Q, K, K)}],
        "keys-from-W_Q": [{"matrices": lambda Q, K, V: (Q, Q, V)}],
        "heads-interleaved": [{"cut": lambda t, h: t.unflatten(-1, (-1, h)).movedim(-1, -3)}],
        "split-without-transpose": [{"cut": lambda t, h: t.reshape(*t.shape[:-2], h, t.shape[-2], t.shape[-1] // h)}],
        "concat-without-transpose": [{"join": lambda z: z.reshape(*z.shape[:-3], z.shape[-2], -1)}],
        "heads-reversed": [{"join": lambda z: _side_by_side(z.flip(-3))}],
        "heads-averaged": [{"join": lambda z: _side_by_side(z.mean(-3, keepdim=True).expand_as(z))}],
        "heads-summed": [{"join": lambda z: _side_by_side(z.sum(-3, keepdim=True).expand_as(z))}],
        "W_O-missing": [{"end": lambda joined, W_O: joined}],
        "W_O-transposed": [{"end": lambda joined, W_O: joined @ W_O.T}],
        "causal-mask-put-in": [{"causal": 0}],
        "mask-on-the-queries": [{"seen": lambda real, size: _onto(real, size)}],
        "mask-on-both-texts": [{"seen": lambda real, size: real & _onto(real, size)}],
        "padding-of-the-first-for-all": [{"seen": lambda real, size: real[:1]}],
        "softmax-over-heads": [{"axis": -3}],
    }
    | decisions.without(decisions.MASKS, "mask-transposed", "mask-of-the-first-for-all")
    | decisions.NOTHING
    | decisions.AXES
    | decisions.only(decisions.CURVES, "softmax-missing", "softmax-twice", "no-exponential", "not-normalised",
                     "sigmoid-for-softmax", "no-max-subtraction", "sign-flipped", "hard-maximum")
    | decisions.AFTER,
    decisions.EMPTY,
    decisions.HINTS
    | {
        "keys-from-x": "A score compares a word of x with what? Which text are the keys made from?",
        "values-from-x": "The weights say how much of each word of memory. Which text are the values made from?",
        "values-from-W_K": "Which matrix makes the values? Is each of the four used once?",
        "keys-from-W_Q": "Which matrix makes the keys? Is each of the four used once?",
        "heads-reversed": "Which head's numbers stand first in a row of yours?",
        "heads-averaged": "Side by side, or added up: what is lost when heads are averaged?",
        "heads-summed": "Side by side, or added up: what is lost when heads are added?",
        "W_O-transposed": "Which axis of W_O meets the concatenated heads?",
        "queries-from-memory": "Which of the two texts asks? How many rows have the weights then?",
        "W_K-and-W_V-swapped": "Which matrix makes what is compared, and which one what is blended?",
        "W_Q-and-W_K-swapped": "Which matrix belongs to the text that asks?",
        "causal-mask-put-in": "Is any word of memory written later than the word that asks?",
        "heads-interleaved": "Which columns of W_Q does head 0 own: neighbours, or every h-th one?",
        "split-without-transpose": "Has head 0 a row for each word, or pieces of the first ones?",
        "concat-without-transpose": "Row 0 is the first word's. From which heads are your row 0's numbers?",
        "W_O-missing": "What happens to the concatenated heads before they are given back?",
        "mask-ignored": "Where does memory_padding go in, and is the result of that line used?",
        "mask-inverted": "What does True mean in memory_padding: a real word, or padding?",
        "mask-on-the-queries": "memory_padding has an entry a word of memory. Which axis of the weights is that?",
        "mask-on-both-texts": "memory_padding hides words that answer. Which words of x does your code silence?",
    },
    held=(
        "queries-from-memory", "W_K-and-W_V-swapped", "W_Q-and-W_K-swapped", "causal-mask-put-in", "no-scaling",
        "scale-by-d_model", "softmax-over-queries", "softmax-over-heads", "heads-interleaved",
        "split-without-transpose", "concat-without-transpose", "W_O-missing", "mask-ignored", "mask-inverted",
        "mask-on-the-queries", "mask-on-both-texts", "mask-after-softmax", "masked-with-zero", "nan-for-nothing",
        "evenly-for-nothing",
    ),
)  # fmt: skip
def cross_attention(
    texts=lambda x, m: (x, m, m),
    matrices=lambda Q, K, V: (Q, K, V),
    cut=_cut,
    join=_side_by_side,
    end=lambda joined, W_O: joined @ W_O,
    causal=None,
    seen=lambda real, size: real,
    **options,
):
    def attend(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
        pairs = zip(texts(x, memory), matrices(W_Q, W_K, W_V), strict=True)
        query, key, value = (cut(text @ W, num_heads) for text, W in pairs)
        L, S = query.shape[-2], key.shape[-2]
        allowed = None if memory_padding is None else seen(_for_heads(memory_padding), L)
        if causal is not None:
            stairs = torch.ones(L, S, dtype=torch.bool).tril(causal)
            allowed = stairs if allowed is None else stairs & allowed
        more = {"d_model": x.shape[-1], "num_heads": num_heads}
        heads, weights = decisions.attend(TORCH, query, key, value, allowed, more=more, **options)
        return end(join(heads), W_O), weights

    return attend
