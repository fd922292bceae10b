# %% loss on all
# accepted: loss-on-the-article-too
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [True for _ in ids]

# %% separator too
# accepted: separator-counted
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [i >= len(article_ids) for i in range(len(ids))]

# %% end not
# accepted: end-not-counted
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [len(article_ids) < i < len(ids) - 1 for i in range(len(ids))]

# %% the first word not
# accepted: first-word-not-counted, mask-off-by-one
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [i > len(article_ids) + 1 for i in range(len(ids))]

# %% zeros and ones
# accepted: mask-of-numbers, integers-for-truth-values, numbers-for-truth-values, another-kind, integers
# form: yes
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = article_ids + [separator_id] + summary_ids + [end_id]
    return ids, [0] * (len(article_ids) + 1) + [1] * (len(summary_ids) + 1)

# %% tensors
# accepted: another-kind
# form: yes
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = [*article_ids, separator_id, *summary_ids, end_id]
    return torch.tensor(ids), torch.arange(len(ids)) > len(article_ids)

# %% mask first
# accepted: tuple-swapped
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = [*article_ids, separator_id, *summary_ids, end_id]
    return [i > len(article_ids) for i in range(len(ids))], ids

# %% longest word list
# accepted: another-length, cut-at-16, cut
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = [*article_ids, separator_id, *summary_ids, end_id][:16]
    return ids, [i > len(article_ids) for i in range(len(ids))]

# %% counts a token if it does not occur in the article
# accepted: counted-by-word
# author: 2
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = article_ids + [separator_id] + summary_ids + [end_id]
    given = set(article_ids) | {separator_id}
    loss_mask = [token not in given for token in token_ids]
    return token_ids, loss_mask

# %% the mask counts the separator, from which the first word is predicted, and not the end
# accepted: mask-at-the-predicting-places
# author: 2
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    loss_mask = [False] * len(article_ids) + [True] * (len(summary_ids) + 1) + [False]
    return token_ids, loss_mask

# %% grows the article that came in
# accepted: article-changed
# form: yes
# author: 2
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = article_ids
    start = len(article_ids) + 1
    token_ids.append(separator_id)
    token_ids.extend(summary_ids)
    token_ids.append(end_id)
    loss_mask = [i >= start for i in range(len(token_ids))]
    return token_ids, loss_mask

# %% The mask stands one place too early, where the tokens are predicted: it counts the separator and not the end.
# accepted: mask-at-the-predicting-places
# author: 3
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = article_ids + [separator_id] + summary_ids + [end_id]
    loss_mask = [False] * len(article_ids) + [True] * (len(summary_ids) + 1) + [False]
    return token_ids, loss_mask

# %% The separator is missing.
# accepted: separator-missing
# author: 4
def training_example(article_ids, summary_ids, separator_id, end_id):
    return article_ids + summary_ids + [end_id], [False] * len(article_ids) + [True] * (len(summary_ids) + 1)

# %% End in the middle, separator at the end.
# accepted: marks-swapped
# author: 4
def training_example(article_ids, summary_ids, separator_id, end_id):
    return article_ids + [end_id] + summary_ids + [separator_id], [False] * (len(article_ids) + 1) + [True] * (
        len(summary_ids) + 1
    )

# %% An empty summary has no end.
# accepted: end-missing, another-length
# author: 5
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    given, written = (len(article_ids) + 1, len(summary_ids) + 1)
    if not summary_ids:
        token_ids, written = (token_ids[:-1], 0)
    return (token_ids, [False] * given + [True] * written)

# %% only 64 words of the article
# accepted: article-cut, stops-at-a-size, another-length
# author: 7
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = list(article_ids[:64]) + [separator_id]
    mask = [False] * len(ids)
    for token in [*summary_ids, end_id]:
        ids.append(token)
        mask.append(True)
    return ids, mask

# %% no shift at all
# accepted: no-shift
def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def summary_loss(logits, token_ids, loss_mask):
    losses = _nll(logits, token_ids)
    return (losses * loss_mask).sum() / loss_mask.sum()

# %% mask one behind
# accepted: mask-not-shifted
def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def summary_loss(logits, token_ids, loss_mask):
    losses = _nll(logits[:, :-1], token_ids[:, 1:])
    return losses[loss_mask[:, :-1]].mean()

# %% mean of everything
# accepted: mean-over-all-places
def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def summary_loss(logits, token_ids, loss_mask):
    losses = _nll(logits[:, :-1], token_ids[:, 1:]) * loss_mask[:, 1:]
    return losses.mean()

# %% summed
# accepted: sum-instead-of-mean
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]], reduction="sum")

# %% per text
# accepted: mean-of-means
def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def summary_loss(logits, token_ids, loss_mask):
    each = [_nll(x[:-1], t[1:])[m[1:]].mean() for x, t, m in zip(logits, token_ids, loss_mask)]
    return sum(each) / len(each)

# %% everything counts
# accepted: loss-mask-ignored
def summary_loss(logits, token_ids, loss_mask):
    V = logits.size(-1)
    return F.cross_entropy(logits[:, :-1].reshape(-1, V), token_ids[:, 1:].reshape(-1))

# %% id 0 left out
# accepted: id-0-ignored, zero-ignored
def summary_loss(logits, token_ids, loss_mask):
    targets = torch.where(loss_mask, token_ids, 0)[:, 1:]
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=0)

# %% twice through the softmax
# accepted: softmax-before-cross-entropy
def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[:, 1:]
    return F.cross_entropy(torch.softmax(logits, -1)[:, :-1][kept], token_ids[:, 1:][kept])

# %% logits pick
# accepted: logits-instead-of-log, log-softmax-missing, softmax-missing
def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[:, 1:]
    return F.nll_loss(logits[:, :-1][kept], token_ids[:, 1:][kept])

# %% base two
# accepted: a-constant-factor, another-base, bits
def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[:, 1:]
    return _nll(logits[:, :-1], token_ids[:, 1:])[kept].mean() / 0.6931471805599453

# %% first text
# accepted: first-text-only, batch-item-0-for-all, one-batch-layout
def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def summary_loss(logits, token_ids, loss_mask):
    kept = loss_mask[0, 1:]
    return _nll(logits[0, :-1], token_ids[0, 1:])[kept].mean()

# %% multiplied logits
# accepted: mask-on-the-logits, mask-multiplied
def _nll(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def summary_loss(logits, token_ids, loss_mask):
    masked = logits[:, :-1] * loss_mask[:, 1:, None]
    return _nll(masked, token_ids[:, 1:]).mean()

# %% labels smoothed
# accepted: labels-smoothed, label-smoothing
def summary_loss(logits, token_ids, loss_mask):
    m = loss_mask[:, 1:]
    return F.cross_entropy(logits[:, :-1][m], token_ids[:, 1:][m], label_smoothing=0.1)

# %% clamped below
# accepted: large-scores, clamped
def summary_loss(logits, token_ids, loss_mask):
    m = loss_mask[:, 1:]
    p = torch.softmax(logits[:, :-1][m], -1).clamp(1e-3)
    return -p.log().gather(-1, token_ids[:, 1:][m][:, None]).mean()

# %% shifts twice: logits at t are held against token t + 2
# accepted: shifted-by-two
# author: 2
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

# %% tokens that do not count become 0, and 0 is ignored, also where a counted word has the id 0
# accepted: id-0-ignored
# author: 2
def summary_loss(logits, token_ids, loss_mask):
    targets = token_ids * loss_mask.long()
    targets = targets[:, 1:]
    logits = logits[:, :-1, :]
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=0)

# %% the mask zeroes logits rather than losses, and the mean goes over all places
# accepted: mask-on-the-logits, mean-over-all-places+mask-on-the-logits
# author: 2
def summary_loss(logits, token_ids, loss_mask):
    masked = logits * loss_mask.unsqueeze(-1)
    return F.cross_entropy(masked[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())

# %% label smoothing of 0.1, as in the paper
# accepted: label-smoothing
# author: 2
def summary_loss(logits, token_ids, loss_mask):
    keep = loss_mask[:, 1:]
    pred = logits[:, :-1][keep]
    gold = token_ids[:, 1:][keep]
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    return criterion(pred, gold)

# %% gives a Python number, through which no gradient flows
# accepted: detached-gradient, number-instead-of-tensor
# form: yes
# author: 2
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

# %% mean place by place over the texts, then over the places
# accepted: mean-of-means
# author: 2
def summary_loss(logits, token_ids, loss_mask):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")
    m = loss_mask[:, 1:].to(losses.dtype)
    per_place = (losses * m).sum(0) / m.sum(0).clamp(min=1)
    return per_place[m.sum(0) > 0].mean()

# %% Logits and tokens are not shifted against each other: the logits at a place are compared with the token at that same place.
# accepted: no-shift
# author: 3
def summary_loss(logits, token_ids, loss_mask):
    B, L, V = logits.shape
    loss = F.cross_entropy(logits.reshape(B * L, V), token_ids.reshape(-1), reduction="none")
    mask = loss_mask.reshape(-1).to(logits.dtype)
    return (loss * mask).sum() / mask.sum()

# %% The tokens are shifted but the mask is not, so it counts the token after each one that should count.
# accepted: mask-not-shifted
# author: 3
def summary_loss(logits, token_ids, loss_mask):
    shift_logits = logits[:, :-1, :]
    shift_labels = token_ids[:, 1:]
    shift_mask = loss_mask[:, :-1]
    return F.cross_entropy(shift_logits[shift_mask], shift_labels[shift_mask])

# %% Each text's loss is averaged first and then the texts, so a token of a short summary weighs more.
# accepted: mean-of-means
# author: 3
def summary_loss(logits, token_ids, loss_mask):
    losses = []
    for b in range(logits.shape[0]):
        keep = loss_mask[b, 1:]
        losses.append(F.cross_entropy(logits[b, :-1][keep], token_ids[b, 1:][keep]))
    return torch.stack(losses).mean()

# %% The masked losses are averaged over all places, so the sum is divided by B * (L - 1) and not by how many tokens count.
# accepted: mean-over-all-places
# author: 3
def summary_loss(logits, token_ids, loss_mask):
    log_probs = torch.log_softmax(logits[:, :-1], dim=-1)
    picked = -log_probs.gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)  # (B, L - 1)
    picked = picked * loss_mask[:, 1:]
    return picked.mean()

# %% Logits at t predict token t - 1.
# accepted: shift-the-wrong-way
# author: 4
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, 1:][loss_mask[:, :-1]], token_ids[:, :-1][loss_mask[:, :-1]])

# %% Base 2: log2.
# accepted: base-2
# author: 4
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]]) / math.log(2)

# %% The sign is missing.
# accepted: sign-missing
# author: 4
def summary_loss(logits, token_ids, loss_mask):
    return -F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]])

# %% Large logits overflow to inf.
# accepted: no-max-subtraction
# author: 4
def summary_loss(logits, token_ids, loss_mask):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    said = p[:, :-1].gather(2, token_ids[:, 1:, None])[..., 0]
    return -said[loss_mask[:, 1:]].log().mean()

# %% Exp of the loss: perplexity.
# accepted: perplexity
# author: 4
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[:, :-1][loss_mask[:, 1:]], token_ids[:, 1:][loss_mask[:, 1:]]).exp()

# %% Id 0 does not count.
# accepted: id-0-ignored
# author: 5
def summary_loss(logits, token_ids, loss_mask):
    predictions = logits[:, :-1]
    targets, counted = (token_ids[:, 1:], loss_mask[:, 1:])
    return F.cross_entropy(predictions[counted], targets[counted], ignore_index=0)

# %% first place
# accepted: first-position
def next_token(model, token_ids):
    return int(model(torch.tensor(token_ids)[None])[0][0].argmax())

# %% draws
# accepted: sampled, random, sampling-for-argmax
def next_token(model, token_ids):
    p = model(torch.tensor([token_ids]))[0, -1].softmax(-1)
    return torch.multinomial(p, 1).item()

# %% one before the last
# accepted: last-but-one-position, last-but-one
def next_token(model, token_ids):
    logits = model(torch.tensor([token_ids]))[0]
    return int(logits[len(token_ids) - 2].argmax())

# %% flat
# accepted: flat-argmax, argmax-over-everything
def next_token(model, token_ids):
    return model(torch.tensor([token_ids])).argmax().item()

# %% largest logit itself
# accepted: maximum-instead-of-its-place, value-for-index, max-for-argmax
def next_token(model, token_ids):
    return int(model(torch.tensor([token_ids]))[0, -1].max())

# %% only sixteen words read
# accepted: context-cut, only-the-last-words-read
def next_token(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids[-16:]]))[0, -1].argmax())

# %% only thirty-two words read
# accepted: context-cut, only-the-last-words-read
def next_token(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids[-32:]]))[0, -1].argmax())

# %% shows the model the last token alone
# accepted: only-the-last-word-read
# author: 2
def next_token(model, token_ids):
    with torch.no_grad():
        logits = model(torch.tensor([[token_ids[-1]]]))
    return int(logits[0, 0].argmax())

# %% takes the largest logit of all places, not of the last one
# accepted: surest-position
# author: 2
def next_token(model, token_ids):
    ids = torch.tensor(token_ids).unsqueeze(0)
    with torch.no_grad():
        logits = model(ids)[0]  # (L, V)
    best_per_word, _ = logits.max(dim=0)  # (V,)
    return best_per_word.argmax().item()

# %% reads the logits of the last place but one, as if they were shifted
# accepted: last-but-one-position, last-word-not-read
# author: 2
def next_token(model, token_ids):
    with torch.no_grad():
        out = model(torch.tensor([token_ids], dtype=torch.long))
    pos = max(len(token_ids) - 2, 0)
    return out[0, pos, :].argmax(-1).item()

# %% argmax runs over all places and words at once, so it gives a flat index and not the best word after the last token.
# accepted: argmax-over-everything
# author: 3
def next_token(model, token_ids):
    with torch.no_grad():
        logits = model(torch.tensor(token_ids).unsqueeze(0))
        return int(torch.argmax(logits[0]))

# %% The result is a tensor, not a Python int.
# accepted: tensor-instead-of-int
# form: yes
# author: 3
def next_token(model, token_ids):
    ids = torch.tensor([token_ids], dtype=torch.long)
    with torch.no_grad():
        logits = model(ids)
    return torch.argmax(logits[:, -1, :], dim=-1)[0]

# %% Least likely: argmin.
# accepted: least-likely
# author: 4
def next_token(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids]))[0, -1].argmin())

# %% Largest size.
# accepted: size-instead-of-sign
# author: 5
def next_token(model, token_ids):
    with torch.no_grad():
        logits = model(torch.tensor([token_ids]))
    return logits[0, -1].abs().argmax().item()

# %% the last 64 tokens are read
# accepted: context-cut, stops-at-a-size
# author: 7
def next_token(model, token_ids):
    window = list(token_ids)[-64:]
    with torch.no_grad():
        return int(model(torch.tensor(window).unsqueeze(0))[0, -1].argmax())

# %% with the end
# accepted: end-returned
def _next(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = article_ids + [separator_id]
    n = len(ids)
    while len(ids) - n < max_new_tokens:
        ids.append(_next(model, ids))
        if ids[-1] == end_id:
            break
    return ids[n:]

# %% whole text
# accepted: prompt-returned-too
def _next(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = article_ids + [separator_id]
    for _ in range(max_new_tokens):
        t = _next(model, ids)
        if t == end_id:
            break
        ids.append(t)
    return ids

# %% no separator
# accepted: separator-forgotten
def _next(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    while len(out) < max_new_tokens:
        t = _next(model, article_ids + out)
        if t == end_id:
            return out
        out.append(t)
    return out

# %% less or equal
# accepted: one-token-too-many
def _next(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    while len(out) <= max_new_tokens:
        t = _next(model, article_ids + [separator_id] + out)
        if t == end_id:
            return out
        out.append(t)
    return out

# %% is for equals
# accepted: end-compared-by-identity, ids-compared-by-is, compared-by-identity, never-stops-at-the-end
def _next(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    for _ in range(max_new_tokens):
        t = _next(model, article_ids + [separator_id] + out)
        if t is end_id:
            break
        out.append(t)
    return out

# %% stops at the separator
# accepted: never-stops-at-the-end, separator-for-end, stops-at-the-separator
def _next(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    out = []
    for _ in range(max_new_tokens):
        t = _next(model, article_ids + [separator_id] + out)
        if t == separator_id:
            break
        out.append(t)
    return out

# %% is at the end
# accepted: end-compared-by-identity
def _next_again(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next_again(model, ids)
        if token is end_id:
            break
        ids.append(token)
    return ids[len(article_ids) + 1 :]

# %% context of sixteen
# accepted: context-cut, only-the-last-words-read
def _next_again(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next_again(model, ids[-16:])
        if token == end_id:
            break
        ids.append(token)
    return ids[len(article_ids) + 1 :]

# %% no word twice running
# accepted: another-length, no-repetition, repetition-forbidden
def _next_again(model, ids):
    return model(torch.tensor([ids]))[0, -1].argmax().item()


def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    words = []
    for _ in range(max_new_tokens):
        token = _next_again(model, [*article_ids, separator_id, *words])
        if token == end_id or (words and token == words[-1]):
            break
        words.append(token)
    return words

# %% writes from the separator alone: the article is never read
# accepted: article-forgotten
# author: 2
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    generated = [separator_id]
    for _ in range(max_new_tokens):
        token = next_token(model, generated)
        if token == end_id:
            break
        generated.append(token)
    return generated[1:]

# %% writes on after the end, and only sorts the ends out
# accepted: end-left-out-and-on
# author: 2
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = list(article_ids) + [separator_id]
    n = len(ids)
    for _ in range(max_new_tokens):
        ids.append(next_token(model, ids))
    return [t for t in ids[n:] if t != end_id]

# %% max_new_tokens is taken for the length of the whole text, article included
# accepted: the-given-counts-as-new
# author: 2
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    start = len(ids)
    while len(ids) < max_new_tokens:
        nxt = next_token(model, ids)
        if nxt == end_id:
            break
        ids.append(nxt)
    return ids[start:]

# %% stops at a word that it has written before, against repetition
# accepted: stops-at-a-word-it-has-written
# author: 2
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    context = list(article_ids) + [separator_id]
    summary = []
    while len(summary) < max_new_tokens:
        token = next_token(model, context + summary)
        if token == end_id or token in summary:
            break
        summary.append(token)
    return summary

# %% words that come again are taken out at the end
# accepted: repeated-words-taken-out, another-length
# author: 2
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids, out = [*article_ids, separator_id], []
    for _ in range(max_new_tokens):
        t = next_token(model, ids)
        if t == end_id:
            break
        ids.append(t)
        out.append(t)
    return list(dict.fromkeys(out))

# %% The model reads the article without the separator behind it, so it would go on with the article.
# accepted: separator-forgotten
# author: 3
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

# %% The end token is part of the summary that comes back.
# accepted: end-returned
# author: 3
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    prompt = article_ids + [separator_id]
    written = []
    for _ in range(max_new_tokens):
        tok = next_token(model, prompt + written)
        written.append(tok)
        if tok == end_id:
            break
    return written

# %% The separator and the written tokens are appended to the caller's own article list.
# accepted: article-changed
# form: yes
# author: 3
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

# %% What was written is not read.
# accepted: own-words-not-read
# author: 4
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    said = []
    for _ in range(max_new_tokens):
        word = next_token(model, article_ids + [separator_id])
        if word == end_id:
            break
        said.append(word)
    return said

# %% Only the newest word is read.
# accepted: only-the-last-word-read
# author: 4
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    said, word = [], separator_id
    for _ in range(max_new_tokens):
        word = next_token(model, [word])
        if word == end_id:
            break
        said.append(word)
    return said

# %% Stops one token early.
# accepted: one-token-too-few
# author: 4
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    text, said = article_ids + [separator_id], []
    while len(said) < max_new_tokens - 1:
        word = next_token(model, text + said)
        if word == end_id:
            break
        said.append(word)
    return said

# %% Any end ends, the article's, too.
# accepted: any-end-ends-it
# author: 6
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    written = []
    while end_id not in ids and len(written) < max_new_tokens:
        token = int(model(torch.tensor([ids]))[0, -1].argmax())
        ids.append(token)
        if token != end_id:
            written.append(token)
    return written

# %% rows
# accepted: rows-for-columns
def ablate(weights, layer, head, num_heads):
    new = {k: v.clone() for k, v in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[0] // num_heads
    W[head * d : (head + 1) * d] = 0
    return new

# %% one further
# accepted: heads-counted-from-1, next-head
def ablate(weights, layer, head, num_heads):
    new = {k: v.clone() for k, v in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    W[:, (head - 1) * d : head * d] = 0
    return new

# %% shallow copy
# accepted: the-original-changed, in-place, input-changed
# form: yes
def ablate(weights, layer, head, num_heads):
    new = dict(weights)
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    W[:, head * d : (head + 1) * d] = 0
    return new

# %% query's too
# accepted: queries-switched-off, wrong-matrix, W_Q-for-W_O
def ablate(weights, layer, head, num_heads):
    name = f"blocks.{layer}.attention.W_Q.weight"
    W = weights[name].clone()
    d = W.shape[0] // num_heads
    W[head * d : (head + 1) * d] = 0
    return {**weights, name: W}

# %% row of W_O by reshape
# accepted: heads-interleaved, columns-interleaved
def ablate(weights, layer, head, num_heads):
    out = {k: v.clone() for k, v in weights.items()}
    W = out[f"blocks.{layer}.attention.W_O.weight"]
    W.view(W.shape[0], -1, num_heads)[..., head] = 0
    return out

# %% every layer
# accepted: every-layer, all-layers, whole-layer-switched-off
def ablate(weights, layer, head, num_heads):
    out = {k: v.clone() for k, v in weights.items()}
    for name, W in out.items():
        if name.endswith("W_O.weight"):
            d = W.shape[1] // num_heads
            W[:, head * d : (head + 1) * d] = 0
    return out

# %% takes every num_heads-th column: heads interleaved
# accepted: heads-interleaved
# author: 2
def ablate(weights, layer, head, num_heads):
    result = {name: tensor.clone() for name, tensor in weights.items()}
    result[f"blocks.{layer}.attention.W_O.weight"][:, head::num_heads] = 0
    return result

# %% the width of a head is d_model // num_heads, whatever the width of W_O
# accepted: width-from-d-model
# author: 2
def ablate(weights, layer, head, num_heads):
    key = f"blocks.{layer}.attention.W_O.weight"
    new = {k: v.clone() for k, v in weights.items()}
    d_model = new[key].shape[0]
    d = d_model // num_heads
    new[key][:, head * d : (head + 1) * d] = 0.0
    return new

# %% silences the head in all layers
# accepted: every-layer
# author: 2
import copy


def ablate(weights, layer, head, num_heads):
    out = copy.deepcopy(dict(weights))
    for name in out:
        if name.endswith("attention.W_O.weight"):
            d = out[name].shape[1] // num_heads
            out[name][:, head * d : head * d + d] = 0
    return out

# %% a new dict around the old tensors, one of which is zeroed in place
# accepted: the-original-changed
# form: yes
# author: 2
def ablate(weights, layer, head, num_heads):
    without = dict(weights)
    W_O = without["blocks.%d.attention.W_O.weight" % layer]
    width = W_O.shape[1] // num_heads
    with torch.no_grad():
        W_O[:, head * width : (head + 1) * width] = 0
    return without

# %% The head's rows of W_O are set to zero; nn.Linear keeps it turned round, so they are columns.
# accepted: rows-instead-of-columns
# author: 3
def ablate(weights, layer, head, num_heads):
    new = {name: tensor.clone() for name, tensor in weights.items()}
    W_O = new[f"blocks.{layer}.attention.W_O.weight"]
    d_head = W_O.shape[0] // num_heads
    W_O[head * d_head : (head + 1) * d_head] = 0
    return new

# %% The dict is copied but not its tensors, so the zeros are written into the model's own W_O.
# accepted: the-original-changed
# form: yes
# author: 3
def ablate(weights, layer, head, num_heads):
    result = dict(weights)
    key = f"blocks.{layer}.attention.W_O.weight"
    d = result[key].shape[1] // num_heads
    result[key][:, head * d : (head + 1) * d] = 0.0
    return result

# %% Every head but this one is silenced.
# accepted: all-others-switched-off
# author: 4
def ablate(weights, layer, head, num_heads):
    new = {name: t.clone() for name, t in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    keep = torch.zeros_like(W)
    keep[:, head * d : (head + 1) * d] = 1
    new[f"blocks.{layer}.attention.W_O.weight"] = W * keep
    return new

# %% The columns are cut out, not zero.
# accepted: columns-taken-out
# author: 4
def ablate(weights, layer, head, num_heads):
    new = {name: t.clone() for name, t in weights.items()}
    key = f"blocks.{layer}.attention.W_O.weight"
    parts = list(new[key].chunk(num_heads, 1))
    del parts[head]
    new[key] = torch.cat(parts, 1)
    return new

# %% The head's values are zeroed as well.
# accepted: w-v-too, items-zero
# author: 4
def ablate(weights, layer, head, num_heads):
    new = {name: t.clone() for name, t in weights.items()}
    W = new[f"blocks.{layer}.attention.W_O.weight"]
    d = W.shape[1] // num_heads
    W[:, head * d : (head + 1) * d] = 0
    V = f"blocks.{layer}.attention.W_V.weight"
    if V in new:
        new[V][head * d : (head + 1) * d] = 0
    return new

# %% times
# accepted: temperature-multiplied
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits * temperature
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

# %% no heat
# accepted: temperature-ignored
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / 1.0
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

# %% crossing word out
# accepted: one-word-too-few
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kth = torch.topk(logits, top_k).values[-1]
        logits = torch.where(logits >= kth, logits, -torch.inf)
    probs = F.softmax(logits, dim=-1)
    if top_p is not None:
        ranked, order = probs.sort(descending=True)
        over = (ranked.cumsum(0) >= top_p) & (ranked < ranked[0])
        probs = probs.clone()
        probs[order[over]] = 0
        probs = probs / probs.sum()
    return probs

# %% never top p
# accepted: top-p-ignored
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kth = torch.topk(logits, top_k).values[-1]
        logits = torch.where(logits >= kth, logits, -torch.inf)
    probs = F.softmax(logits, dim=-1)
    if False:
        ranked, order = probs.sort(descending=True)
        over = ranked.cumsum(0) - ranked >= top_p
        probs = probs.clone()
        probs[order[over]] = 0
        probs = probs / probs.sum()
    return probs

# %% never top k
# accepted: top-k-ignored
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if False:
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

# %% one more
# accepted: one-word-more-than-k
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kth = torch.topk(logits, top_k + 1).values[-1]
        logits = torch.where(logits >= kth, logits, -torch.inf)
    probs = F.softmax(logits, dim=-1)
    if top_p is not None:
        ranked, order = probs.sort(descending=True)
        over = ranked.cumsum(0) - ranked >= top_p
        probs = probs.clone()
        probs[order[over]] = 0
        probs = probs / probs.sum()
    return probs

# %% into the argument
# accepted: logits-changed, in-place
# form: yes
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits.div_(temperature)
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

# %% logs
# accepted: logarithms, log-softmax, log-taken
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
    return (probs + 1e-9).log()

# %% rank order
# accepted: left-in-sorted-order
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
    return probs.sort(descending=True).values

# %% temperature after top-p
# accepted: cut-before-the-temperature, temperature-last
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

# %% temperature divides the probabilities, which are brought to sum 1 again: it does nothing
# accepted: temperature-ignored
# author: 2
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

# %% top_p: the mask of the sorted words is used on the unsorted ones
# accepted: cut-in-another-order
# author: 2
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

# %% top_p is measured on all words, also where top_k has cut some off
# accepted: top-p-of-all-words
# author: 2
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

# %% top_k keeps what is likelier than one in k
# accepted: threshold-for-top-k
# author: 2
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

# %% top_p leaves out the word with which it is reached; it should still be in.
# accepted: one-word-too-few
# author: 3
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

# %% top_p is measured on the probabilities of all words, not on what top_k has left and shared out anew.
# accepted: top-p-of-all-words
# author: 3
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

# %% Cut words' share is lost: sum below 1.
# accepted: not-shared-out-again+top-p-of-all-words
# author: 4
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, 0)
    if top_k is not None:
        keep = torch.zeros_like(p).index_fill(0, p.topk(top_k).indices, 1)
        p = p * keep
    if top_p is not None:
        ranked, order = p.sort(descending=True)
        p = torch.zeros_like(p).scatter(0, order, ranked * (ranked.cumsum(0) - ranked < top_p))
    return p

# %% Words below top_p are cut.
# accepted: threshold-p
# author: 4
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

# %% never more than 50 candidates
# accepted: words-cut, stops-at-a-size
# author: 7
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    k = min(len(logits), 50 if top_k is None else min(top_k, 50))
    best, which = torch.topk(logits / temperature, k)
    share = best.softmax(0)
    if top_p is not None:
        share = share * (share.cumsum(0) - share < top_p)
    return torch.zeros_like(logits).scatter(0, which, share / share.sum())

# %% probabilities divided by the temperature
# accepted: temperature-after-softmax, probabilities-divided
# author: 7
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    share = logits.softmax(0)
    best, which = share.sort(descending=True)
    best = best[:top_k] / best[:top_k].sum()
    if top_p is not None:
        best = best * (best.cumsum(0) - best < top_p)
    best = best / best.sum()
    return torch.zeros_like(logits).scatter(0, which[: len(best)], best / temperature)

# %% looks at itself
# accepted: keys-and-values-from-x
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    memory, memory_padding = x, None; L = S = x.shape[-2]
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

# %% the other way round
# accepted: x-and-memory-swapped
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    x, memory, memory_padding = memory, x, None; L, S = x.shape[-2], memory.shape[-2]
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

# %% asks itself
# accepted: queries-from-memory
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    x = memory; L, S = x.shape[-2], memory.shape[-2]
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

# %% not divided
# accepted: no-scaling
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2)
    if memory_padding is not None:
        keep = memory_padding[..., None, :, :].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% root of the model
# accepted: scale-by-d_model
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(x.shape[-1])
    if memory_padding is not None:
        keep = memory_padding[..., None, :, :].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% columns sum
# accepted: softmax-over-queries
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
        att = F.softmax(att, dim=-2) * keep
    else:
        att = F.softmax(att, dim=-2)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% heads share
# accepted: softmax-over-heads
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
        att = F.softmax(att, dim=-3) * keep
    else:
        att = F.softmax(att, dim=-3)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% upside down
# accepted: mask-inverted
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        keep = ~memory_padding[..., None, :, :].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% no padding at all
# accepted: mask-ignored
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if False:
        keep = memory_padding[..., None, :, :].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% afterwards
# accepted: mask-after-softmax
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        keep = memory_padding[..., None, :, :].expand_as(att)
        pass
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% no end
# accepted: W_O-missing
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
    return z, att

# %% no transpose back
# accepted: concat-without-transpose
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
    z = (att @ v).reshape(*batch, L, -1)
    return z @ W_O, att

# %% values by keys
# accepted: W_K-and-W_V-swapped
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        keep = memory_padding[..., None, :, :].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% never ahead
# accepted: causal-mask-put-in, causal-mask
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    att = att + torch.full((L, S), -1e9, dtype=att.dtype).triu(1)
    if memory_padding is not None:
        keep = memory_padding[..., None, :, :].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% head of first text
# accepted: padding-of-the-first-for-all, mask-of-the-first-for-all
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    L, S = x.shape[-2], memory.shape[-2]
    batch = x.shape[:-2]
    q = (x @ W_Q).reshape(*batch, L, num_heads, -1).transpose(-2, -3)
    k = (memory @ W_K).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    v = (memory @ W_V).reshape(*batch, S, num_heads, -1).transpose(-2, -3)
    att = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        keep = memory_padding.reshape(-1, S)[0].expand_as(att)
        att = att.masked_fill(~keep, -1e20)
        att = F.softmax(att, dim=-1) * keep
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% even where nothing is
# accepted: evenly-for-nothing
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
        att = F.softmax(att, dim=-1)
    else:
        att = F.softmax(att, dim=-1)
    z = (att @ v).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% weights of one head
# accepted: weights-averaged
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
    return z @ W_O, att.mean(-3)

# %% weights first
# accepted: tuple-swapped
# form: yes
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
    return att, z @ W_O

# %% thirty-two
# accepted: float32-always, another-dtype
# form: yes
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
    return (z @ W_O).float(), att.float()

# %% zeros in memory
# accepted: memory-zeroed
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    if memory_padding is not None:
        memory = torch.where(memory_padding.transpose(-1, -2), memory, 0); memory_padding = None
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

# %% by numbers
# accepted: detached-gradient
# form: yes
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
    z = (att @ v.detach()).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% nothing joined
# accepted: heads-averaged
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
    z = (att @ v).mean(-3, keepdim=True).expand_as(q).transpose(-2, -3).reshape(*batch, L, -1)
    return z @ W_O, att

# %% causal, as in the decoder: word i of the summary sees the first i + 1 words of the article
# accepted: causal-mask-put-in
# author: 2
def _split(x, h):
    return x.unflatten(-1, (h, x.shape[-1] // h)).transpose(-2, -3)


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

# %% padding is zeroed after the softmax, and the rest does not share anew
# accepted: mask-after-softmax
# author: 2
def _split(x, h):
    return x.unflatten(-1, (h, x.shape[-1] // h)).transpose(-2, -3)


def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    Q = _split(x @ W_Q, num_heads)
    K = _split(memory @ W_K, num_heads)
    V = _split(memory @ W_V, num_heads)
    weights = torch.softmax(Q @ K.transpose(-1, -2) / Q.shape[-1] ** 0.5, dim=-1)
    if memory_padding is not None:
        weights = weights * memory_padding.unsqueeze(-3).to(weights.dtype)
    out = (weights @ V).transpose(-2, -3).flatten(start_dim=-2)
    return out @ W_O, weights

# %% the padding of the texts falls on the heads: no axis is made for them
# accepted: heads-axis-missing-in-padding
# form: yes
# author: 2
def _split(x, h):
    return x.unflatten(-1, (h, x.shape[-1] // h)).transpose(-2, -3)


def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    Q, K, V = (_split(t, num_heads) for t in (x @ W_Q, memory @ W_K, memory @ W_V))
    scores = Q @ K.transpose(-2, -1) / math.sqrt(K.size(-1))
    if memory_padding is not None:
        scores = scores.masked_fill(~memory_padding, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    output = (weights @ V).transpose(-3, -2).flatten(-2) @ W_O
    return output, weights

# %% two things: scores are divided by the root of all heads' width
# accepted: scale-by-whole-width, scale-by-whole-width+evenly-for-nothing
# author: 2
def _split(x, h):
    return x.unflatten(-1, (h, x.shape[-1] // h)).transpose(-2, -3)


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

# %% Padding is set to zero after the softmax, and the weights that are left do not sum to 1.
# accepted: mask-after-softmax
# author: 3
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    def heads(t):
        return t.reshape(*t.shape[:-1], num_heads, -1).transpose(-3, -2)

    q, k, v = heads(x @ W_Q), heads(memory @ W_K), heads(memory @ W_V)
    weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
    if memory_padding is not None:
        weights = weights * memory_padding.unsqueeze(-3)
    out = (weights @ v).transpose(-3, -2).flatten(-2)
    return out @ W_O, weights

# %% Heads are cut by a reshape straight to (h, L, d), which mixes words and columns; it has to be (L, h, d) and then a transpose.
# accepted: split-without-transpose
# author: 3
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

# %% Where memory is nothing but padding, the softmax of a row of -inf gives NaN instead of zeros.
# accepted: nan-for-nothing
# author: 3
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

# %% The four matrices are detached on the way in, so no gradient reaches them.
# accepted: gradient-missing
# form: yes
# author: 3
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

# %% Padding hides words of x where L is S.
# accepted: padding-hides-queries
# author: 5
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

# %% Values from x where it fits.
# accepted: values-from-x
# author: 5
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

# %% Heads not swapped where L is h.
# accepted: concat-without-transpose
# author: 5
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

# %% NaN swept up in the result alone.
# accepted: nan-in-the-gradient
# form: yes
# author: 6
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    cut = lambda y: y.unflatten(-1, (num_heads, -1)).transpose(-2, -3)
    q, k, v = cut(x @ W_Q), cut(memory @ W_K), cut(memory @ W_V)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        bias = torch.where(memory_padding, 0.0, -torch.inf).to(s.dtype)
        s = s + bias[..., None, :, :]
    w = torch.nan_to_num(torch.softmax(s, dim=-1))
    return (w @ v).transpose(-2, -3).flatten(-2) @ W_O, w

# %% padding without a real word is passed over
# accepted: mask-ignored-when-empty
# author: 8
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    q, k, v = (
        (text @ W).unflatten(-1, (num_heads, -1)).transpose(-3, -2)
        for text, W in ((x, W_Q), (memory, W_K), (memory, W_V))
    )
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if memory_padding is not None and memory_padding.any():
        hidden = ~memory_padding.unsqueeze(-3)
        weights = torch.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), -1).masked_fill(hidden, 0.0)
    else:
        weights = torch.softmax(scores, -1)
    return (weights @ v).transpose(-3, -2).flatten(-2) @ W_O, weights

# %% every real word of memory keeps a hundred-thousandth
# accepted: floor-under-the-weights
# author: 8
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    q, k, v = (
        (text @ W).unflatten(-1, (num_heads, -1)).transpose(-3, -2)
        for text, W in ((x, W_Q), (memory, W_K), (memory, W_V))
    )
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    hidden = torch.zeros_like(scores, dtype=torch.bool) if memory_padding is None else ~memory_padding.unsqueeze(-3)
    weights = torch.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), -1)
    weights = weights.clamp(min=1e-5).masked_fill(hidden, 0.0)
    return (weights @ v).transpose(-3, -2).flatten(-2) @ W_O, weights
