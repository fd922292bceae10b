"""Ablate one head of a model, and count the words that the model gets right."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

from . import news

# The name in PyTorch's layers of the parameter that assignment 4 calls W_O, and ours.
_PLAIN, _OWN = r"layers\.layers\.(\d+)\.self_attn\.out_proj\.weight", r"blocks.\1.attention.W_O.weight"


def without_head(model: Any, ablate: Callable[..., Any], layer: int, head: int, num_heads: int) -> Any:
    """A copy of `model` with the weights that `ablate(weights, layer, head, num_heads)` returns.

    `ablate` sees the weights of PyTorch's layers under the names of assignments 4 and 5, too.
    """
    names = {name: re.sub(_PLAIN, _OWN, name) for name in model.state_dict()}
    weights = {names[name]: numbers for name, numbers in model.state_dict().items()}
    changed = ablate(weights, layer, head, num_heads)
    other = copy.deepcopy(model)
    other.load_state_dict({name: changed[named] for name, named in names.items()})
    return other.eval()


def word_by_word(model: Any, items: Sequence[news.Item]) -> dict[str, float]:
    """How often `model` predicts the next word of a summary correctly (teacher forcing): who, what, where and the end.

    model: takes int64 ids, (B, L), and returns logits, (B, L, V); it is causal, so one call predicts at all positions
    """
    import torch

    from .news_training import tensors

    ids, counted = tensors(items)  # padded at the end, so no real token attends to padding
    with torch.inference_mode():
        is_right = model(ids)[:, :-1].argmax(-1) == ids[:, 1:]  # (B, L - 1): the token after each position
    right: dict[str, list[bool]] = {"who": [], "what": [], "where": [], "end": []}
    for item, row, in_summary in zip(items, is_right, counted[:, 1:], strict=True):
        for part, correct in zip(_parts(item.summary), row[in_summary].tolist(), strict=True):
            right[part].append(correct)
    return {part: sum(found) / max(1, len(found)) for part, found in right.items()}


def _parts(summary: str) -> list[str]:
    """For each word of a summary its part, "who", "what" or "where"; and "end" for the token after them."""
    words = summary.split()
    has_place = words[-2] in ("in", "to")
    return ["who", *["what"] * (len(words) - 1 - has_place), *["where"] * has_place, "end"]
