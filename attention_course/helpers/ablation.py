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

    from .news_training import tensors

    ids, counted = tensors(items)  # padded at the end, where no real token looks
    with torch.inference_mode():
        is_right = model(ids)[:, :-1].argmax(-1) == ids[:, 1:]  # (B, L - 1): for the token after each place
    right: dict[str, list[bool]] = {"who": [], "what": [], "where": [], "end": []}
    for item, row, in_summary in zip(items, is_right, counted[:, 1:], strict=True):
        for part, correct in zip(_parts(item.summary), row[in_summary].tolist(), strict=True):
            right[part].append(correct)
    return {part: sum(found) / max(1, len(found)) for part, found in right.items()}


def _parts(summary: str) -> list[str]:
    """Which part of the news each word of a summary tells, and "end" for the token after them."""
    words = summary.split()
    has_place = words[-2] in ("in", "to")
    return ["who", *["what"] * (len(words) - 1 - has_place), *["where"] * has_place, "end"]
