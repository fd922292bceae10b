"""Written with sizes in mind: what is right for a few words."""

import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("only 64 words of the article", "article-cut", "stops-at-a-size", "another-length")
def training_example(article_ids, summary_ids, separator_id, end_id):
    ids = list(article_ids[:64]) + [separator_id]
    mask = [False] * len(ids)
    for token in [*summary_ids, end_id]:
        ids.append(token)
        mask.append(True)
    return ids, mask


@wrong("the last 64 tokens are read", "context-cut", "stops-at-a-size")
def next_token(model, token_ids):
    window = list(token_ids)[-64:]
    with torch.no_grad():
        return int(model(torch.tensor(window).unsqueeze(0))[0, -1].argmax())


@wrong("never more than 50 candidates", "words-cut", "stops-at-a-size")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    k = min(len(logits), 50 if top_k is None else min(top_k, 50))
    best, which = torch.topk(logits / temperature, k)
    share = best.softmax(0)
    if top_p is not None:
        share = share * (share.cumsum(0) - share < top_p)
    return torch.zeros_like(logits).scatter(0, which, share / share.sum())


@wrong("probabilities divided by the temperature", "temperature-after-softmax", "probabilities-divided")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    share = logits.softmax(0)
    best, which = share.sort(descending=True)
    best = best[:top_k] / best[:top_k].sum()
    if top_p is not None:
        best = best * (best.cumsum(0) - best < top_p)
    best = best / best.sum()
    return torch.zeros_like(logits).scatter(0, which[: len(best)], best / temperature)
