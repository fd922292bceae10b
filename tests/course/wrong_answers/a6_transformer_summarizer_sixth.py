"""Written by a sixth person, from the notebooks alone."""

import math

import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("Any end ends, the article's, too.", "any-end-ends-it")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    ids = [*article_ids, separator_id]
    written = []
    while end_id not in ids and len(written) < max_new_tokens:
        token = int(model(torch.tensor([ids]))[0, -1].argmax())
        ids.append(token)
        if token != end_id:
            written.append(token)
    return written


@wrong("NaN swept up in the result alone.", "nan-in-the-gradient", form=True)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    cut = lambda y: y.unflatten(-1, (num_heads, -1)).transpose(-2, -3)
    q, k, v = cut(x @ W_Q), cut(memory @ W_K), cut(memory @ W_V)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if memory_padding is not None:
        bias = torch.where(memory_padding, 0.0, -torch.inf).to(s.dtype)
        s = s + bias[..., None, :, :]
    w = torch.nan_to_num(torch.softmax(s, dim=-1))
    return (w @ v).transpose(-2, -3).flatten(-2) @ W_O, w
