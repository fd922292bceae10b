"""Known mistakes of a6: the training example, the masked loss, the next token, and greedy decoding."""

import torch
import torch.nn.functional as F

from autograder.judging.catalogue import Catalogue

mistake = Catalogue()


# ---------------------------------------------------------------- training_example


@mistake("loss-on-the-article-too", hint="Which of these words does the model get, and which has it to write?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [True] * len(token_ids)


@mistake("separator-counted", hint="Who writes the separator: the model, or the one who asks it for a summary?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [False] * len(article_ids) + [True] * (len(summary_ids) + 2)


@mistake("end-not-counted", hint="From which token is the model to learn when its summary is over?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [False] * (len(article_ids) + 1) + [True] * len(summary_ids) + [False]


@mistake("end-missing", hint="What comes after the last word of the summary?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids]
    return token_ids, [False] * (len(article_ids) + 1) + [True] * len(summary_ids)


@mistake("separator-missing", hint="How is the model to see where the article ends?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, *summary_ids, end_id]
    return token_ids, [False] * len(article_ids) + [True] * (len(summary_ids) + 1)


@mistake("summary-first", hint="What does the model read before it writes?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*summary_ids, separator_id, *article_ids, end_id]
    return token_ids, [False] * (len(summary_ids) + 1) + [True] * (len(article_ids) + 1)


@mistake("marks-swapped", hint="Which of the two marks stands between article and summary?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, end_id, *summary_ids, separator_id]
    return token_ids, [False] * (len(article_ids) + 1) + [True] * (len(summary_ids) + 1)


@mistake(
    "mask-at-the-predicting-places", hint="Does the mask stand at a word, or at the place from which it is guessed?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [False] * len(article_ids) + [True] * (len(summary_ids) + 1) + [False]


@mistake("mask-inverted", hint="What does True mean in this mask?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [True] * (len(article_ids) + 1) + [False] * (len(summary_ids) + 1)


@mistake("counted-by-word", hint="A word of the summary may stand in the article, too. Does it count there?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [token in summary_ids or token == end_id for token in token_ids]


@mistake(
    "mask-of-numbers", hint="For a mask, what is the difference between a list of 0 and 1 and one of False and True?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [0] * (len(article_ids) + 1) + [1] * (len(summary_ids) + 1)


@mistake("article-changed", hint="Whose list does += make longer?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    given = len(article_ids) + 1
    article_ids += [separator_id, *summary_ids, end_id]
    return article_ids, [False] * given + [True] * (len(article_ids) - given)


@mistake("lists-nested", hint="What is the difference between append and extend?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = list(article_ids)
    token_ids.append(separator_id)
    token_ids.append(summary_ids)
    token_ids.append(end_id)
    return token_ids, [False] * (len(article_ids) + 1) + [True] * (len(summary_ids) + 1)


# ---------------------------------------------------------------- summary_loss


@mistake("no-shift", hint="Logits at a place speak of the next token. With which token does your code compare them?")
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[loss_mask], token_ids[loss_mask])


@mistake("shift-the-wrong-way", hint="Is it the earlier place that predicts the later token, or the other way round?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:]
    return F.cross_entropy(logits[:, 1:][counted], token_ids[:, :-1][counted])


@mistake("mask-not-shifted", hint="The mask stands at tokens. After the shift, does it still stand at the same ones?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, :-1]
    return F.cross_entropy(logits[:, :-1][counted], token_ids[:, 1:][counted])


@mistake("shifted-by-two", hint="Is it the next token, or the one after the next?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 2:]
    return F.cross_entropy(logits[:, :-2][counted], token_ids[:, 2:][counted])


@mistake("mask-ignored", hint="Which argument has no influence on your loss?")
def summary_loss(logits, token_ids, loss_mask):
    # Counted from the front, so that nothing but a mask that is all True would do.
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())


@mistake("mask-inverted", hint="What does True mean in this mask?")
def summary_loss(logits, token_ids, loss_mask):
    counted = ~loss_mask[:, 1:]
    return F.cross_entropy(logits[:, :-1][counted], token_ids[:, 1:][counted])


def _losses(logits, token_ids):
    """One loss for each token but the first, (B, L - 1)."""
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")


@mistake("sum-instead-of-mean", hint="With a batch of twice the size, should the loss be twice as large?")
def summary_loss(logits, token_ids, loss_mask):
    return (_losses(logits, token_ids) * loss_mask[:, 1:]).sum()


@mistake("mean-over-all-places", hint="By how many tokens is the sum divided? How many are counted?")
def summary_loss(logits, token_ids, loss_mask):
    return (_losses(logits, token_ids) * loss_mask[:, 1:]).mean()


@mistake("mean-of-means", hint="A text with 3 counted tokens and one with 6: does every token have the same say?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:].to(logits.dtype)
    return ((_losses(logits, token_ids) * counted).sum(1) / counted.sum(1)).mean()


@mistake("divided-by-the-batch", hint="By how many tokens is the sum divided? Is B a number of tokens?")
def summary_loss(logits, token_ids, loss_mask):
    return (_losses(logits, token_ids) * loss_mask[:, 1:]).sum() / len(logits)


@mistake("no-reduction", hint="There is a loss for each counted token. Which one number is handed to backward?")
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits, token_ids)[loss_mask[:, 1:]]


@mistake("softmax-before-cross-entropy", hint="What does F.cross_entropy do with its input first?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:]
    return F.cross_entropy(torch.softmax(logits, dim=-1)[:, :-1][counted], token_ids[:, 1:][counted])


@mistake("softmax-over-places", hint="Over which axis do the probabilities of one place sum to 1?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:]
    return F.nll_loss(torch.log_softmax(logits, dim=1)[:, :-1][counted], token_ids[:, 1:][counted])


@mistake("sign-missing", hint="The log of a probability is below zero. Should training make it smaller or larger?")
def summary_loss(logits, token_ids, loss_mask):
    return -(_losses(logits, token_ids)[loss_mask[:, 1:]].mean())


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
    "detached-gradient", hint="Is there a .detach(), .data or torch.no_grad() on the way from the logits to the loss?"
)
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits.detach(), token_ids)[loss_mask[:, 1:]].mean()


@mistake("float32-always", hint="What does .float() make of a float64 tensor?")
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits.float(), token_ids)[loss_mask[:, 1:]].mean()


@mistake("in-place", hint="Whose tensor does a function that ends in an underscore change?")
def summary_loss(logits, token_ids, loss_mask):
    loss = _losses(logits, token_ids)[loss_mask[:, 1:]].mean()
    token_ids.masked_fill_(~loss_mask, -100)
    return loss


# ---------------------------------------------------------------- next_token


def _logits(model, token_ids):
    """(L, V)"""
    with torch.no_grad():
        return model(torch.tensor([token_ids]))[0]


@mistake("first-position", hint="The logits at place 0 have read one word. Which place has read them all?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids)[0].argmax())


@mistake("middle-position", hint="At which place has the model read the whole text?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids)[len(token_ids) // 2].argmax())


@mistake(
    "last-but-one-position", hint="The logits at a place already speak of the next token. Which place is the last?"
)
def next_token(model, token_ids):
    return int(_logits(model, token_ids)[-2].argmax())


@mistake("argmax-over-positions", hint="Is the largest logit looked for among words, or among places?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids).argmax(dim=0)[-1])


@mistake(
    "argmax-over-everything", hint="Without an axis, argmax counts through all places. What number comes out then?"
)
def next_token(model, token_ids):
    return int(_logits(model, token_ids).argmax())


@mistake(
    "surest-position", hint="The model may be surest about a word that stands there already. Which place is asked for?"
)
def next_token(model, token_ids):
    logits = _logits(model, token_ids)
    return int(logits[logits.max(dim=-1).values.argmax()].argmax())


@mistake("mean-over-positions", hint="Which places speak of a word that stands in the text already?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids).mean(dim=0).argmax())


@mistake("least-likely", hint="Has the likeliest word the largest logit or the smallest?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids)[-1].argmin())


@mistake("size-instead-of-sign", hint="Is a word with a logit of -5 likelier than one with 3?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids)[-1].abs().argmax())


@mistake("only-the-last-word-read", hint="Which words does the model get to read?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids[-1:])[-1].argmax())


@mistake("read-backwards", hint="In which order does the model read?")
def next_token(model, token_ids):
    return int(_logits(model, token_ids[::-1])[-1].argmax())


@mistake("tensor-instead-of-int", hint="How do you get the number out of a tensor that holds one?")
def next_token(model, token_ids):
    return _logits(model, token_ids)[-1].argmax()


@mistake("text-changed", hint="Whose list does append make longer?")
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


@mistake("end-returned", hint="The end says that the summary is over. Is it a word of it?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    while len(summary) < max_new_tokens:
        summary.append(_next(model, [*article_ids, separator_id, *summary]))
        if summary[-1] == end_id:
            break
    return summary


@mistake("never-stops-at-the-end", hint="What does your loop do when the model says end?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        summary.append(_next(model, [*article_ids, separator_id, *summary]))
    return summary


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


@mistake("one-too-many", hint="With max_new_tokens=1, how often does your loop go round?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens + 1):
        token = _next(model, [*article_ids, separator_id, *summary])
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake("one-too-few", hint="With max_new_tokens=1, how often does your loop go round?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(1, max_new_tokens):
        token = _next(model, [*article_ids, separator_id, *summary])
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake("the-given-counts-as-new", hint="Which words are new: does the article count towards max_new_tokens?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = [*article_ids, separator_id]
    while len(token_ids) < max_new_tokens:
        token = _next(model, token_ids)
        if token == end_id:
            break
        token_ids.append(token)
    return token_ids[len(article_ids) + 1 :]


@mistake("prompt-returned-too", hint="Which part of the text did the model write?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next(model, token_ids)
        if token == end_id:
            break
        token_ids.append(token)
    return token_ids


@mistake("separator-returned-too", hint="Where does the summary begin: at the separator, or after it?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next(model, token_ids)
        if token == end_id:
            break
        token_ids.append(token)
    return token_ids[len(article_ids) :]


@mistake("separator-forgotten", hint="How does the model know that the article is over?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, *summary])
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake("separator-first", hint="In the examples that the model learned from, where did the separator stand?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [separator_id, *article_ids, *summary])
        if token == end_id:
            break
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


@mistake("own-words-not-read", hint="What does the model read when it writes the second word? Has anything changed?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, separator_id])
        if token == end_id:
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


@mistake("article-forgotten", hint="When the model writes its second word, is the article still there to be read?")
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


@mistake("first-word-lost", hint="Is the first word that the model says part of the summary?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next(model, token_ids)
        if token == end_id:
            break
        token_ids.append(token)
    return token_ids[len(article_ids) + 2 :]


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


@mistake("article-changed", hint="Whose list does append make longer?")
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


@mistake("heads-counted-from-1", hint="Where do the columns of head 0 begin?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    return _with(weights, layer, lambda W_O: W_O[:, max(0, head - 1) * d : head * d].zero_())


@mistake("heads-interleaved", hint="Are a head's columns neighbours, or every h-th one?")
def ablate(weights, layer, head, num_heads):
    return _with(weights, layer, lambda W_O: W_O[:, head::num_heads].zero_())


@mistake("one-column-only", hint="How many numbers has each head found for a word, and how many columns do they meet?")
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


@mistake("float32-always", hint="What does .float() make of a float64 tensor?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    W_O = weights[_name(layer)].float()
    W_O = W_O.clone()
    W_O[:, head * d : (head + 1) * d] = 0
    return weights | {_name(layer): W_O}
