"""What a model gets wrong without one of its heads: the model without it, and a count of right words."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

from . import news

# Where PyTorch's own layers keep what assignment 4 calls W_O.
_PLAIN, _OWN = r"layers\.layers\.(\d+)\.self_attn\.out_proj\.weight", r"blocks.\1.attention.W_O.weight"


def without_head(model: Any, ablate: Callable[..., Any], layer: int, head: int, num_heads: int) -> Any:
    """A copy of `model` with the numbers that `ablate(weights, layer, head, num_heads)` gives.

    The numbers of a decoder of PyTorch's own layers come to `ablate` under the names of assignments 4 and 5.
    """
    names = {name: re.sub(_PLAIN, _OWN, name) for name in model.state_dict()}
    weights = {names[name]: numbers for name, numbers in model.state_dict().items()}
    changed = ablate(weights, layer, head, num_heads)
    other = copy.deepcopy(model)
    other.load_state_dict({name: changed[named] for name, named in names.items()})
    return other.eval()


def word_by_word(model: Any, items: Sequence[news.Item]) -> dict[str, float]:
    """How often `model` says the right word of a summary when all before it are right: who, what, where and the end.

    model: takes int64 ids, (B, L), and gives logits, (B, L, V); causal, so that one reading answers for all places
    """
    import torch

    articles = [[*news.encode(item.article), news.SEPARATOR_ID] for item in items]
    summaries = [[*news.encode(item.summary), news.END_ID] for item in items]
    longest = max(len(article) + len(summary) for article, summary in zip(articles, summaries, strict=True))
    ids = torch.full((len(items), longest), news.PADDING_ID)  # filled up at the end, where no real token looks
    for row, (article, summary) in enumerate(zip(articles, summaries, strict=True)):
        ids[row, : len(article) + len(summary)] = torch.tensor(article + summary)
    with torch.inference_mode():
        likeliest = model(ids).argmax(-1)  # (B, L): what follows each place
    right: dict[str, list[bool]] = {"who": [], "what": [], "where": [], "end": []}
    for row, (article, summary) in enumerate(zip(articles, summaries, strict=True)):
        said = likeliest[row, len(article) - 1 : len(article) + len(summary) - 1].tolist()
        for part, one, wanted in zip(_parts(items[row].summary), said, summary, strict=True):
            right[part].append(one == wanted)
    return {part: sum(found) / max(1, len(found)) for part, found in right.items()}


def _parts(summary: str) -> list[str]:
    """What each word of a summary says, and its end."""
    words = summary.split()
    has_place = words[-2] in ("in", "to")
    return ["who", *["what"] * (len(words) - 1 - has_place), *["where"] * has_place, "end"]
