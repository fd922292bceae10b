"""What each head attends to: collect the weights of a decoder's heads, and show them on the words of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

INK = "47, 109, 179"  # the blue of the heat maps
DEEPEST = 0.75  # its opacity for a weight of 1, as in the heat maps: the word on it stays legible in both themes
STRONGEST = 4  # words for each head in a plain console


def look(model: Any, token_ids: Sequence[int]) -> np.ndarray:
    """The attention weights of every head at the last position while `model` reads `token_ids`, (num_heads, L).

    Heads are counted through all layers, from the first layer on. It works for every `nn.Module` with layers that
    return (output, weights) with weights (..., h, L, L), such as assignment 4's `MultiHeadAttention`, and for PyTorch's
    `nn.MultiheadAttention`.

    Raises `ValueError` if no layer returns weights.
    """
    import torch

    seen: list[np.ndarray] = []

    def keep(module: Any, inputs: Any, output: Any) -> None:
        weights: Any = output[1] if isinstance(output, tuple) and len(output) == 2 else None
        if len(getattr(weights, "shape", ())) >= 3:
            seen.append(weights.detach().reshape(-1, *weights.shape[-2:])[:, -1].float().numpy())  # (h, L)

    hooks = [hook for layer in model.modules() for hook in _watch(layer, keep)]
    try:
        with torch.no_grad():
            model(torch.tensor([list(token_ids)]))
    finally:
        for hook in hooks:
            hook.remove()
    if not seen:
        raise ValueError("no layer of this model returns (output, weights), so there is nothing to look at")
    return np.concatenate(seen)


def _watch(layer: Any, keep: Callable[..., None]) -> list[Any]:
    """Hooks on one layer. PyTorch's attention returns the weights of each head only on request."""
    from torch import nn

    def ask_for_weights(module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        return args, kwargs | {"need_weights": True, "average_attn_weights": False}

    hooks = [layer.register_forward_hook(keep)]
    if isinstance(layer, nn.MultiheadAttention):
        hooks.append(layer.register_forward_pre_hook(ask_for_weights, with_kwargs=True))
    return hooks


def highlight(weights: Any, words: Sequence[str], title: str = "", names: Sequence[str] | None = None) -> Highlight:
    """The text once for each head; the more the head attends to a word, the bluer it is.

    weights: (num_heads, L) or, for one head, (L,)
    words: the L words
    names: a label for each row; by default "head 0", "head 1", ...

    Raises `ValueError` if their lengths differ.
    """
    array = np.atleast_2d(np.asarray(weights.detach() if hasattr(weights, "detach") else weights))
    if array.ndim != 2 or array.shape[1] != len(words):
        raise ValueError(f"{len(words)} words for weights of shape {np.shape(weights)}; there is one weight a word")
    if names is None:
        names = [f"head {number}" for number in range(len(array))] if len(array) > 1 else [""]
    if len(names) != len(array):
        raise ValueError(f"{len(names)} names for {len(array)} rows of weights")
    return Highlight(array, list(map(str, words)), title, list(map(str, names)))


class Highlight:
    """The result of `highlight`: JupyterLab shows the shaded text, a plain console the strongest words."""

    def __init__(self, weights: np.ndarray, words: list[str], title: str, names: list[str]) -> None:
        self.weights, self.words, self.title, self.names = weights, words, title, names

    def __repr__(self) -> str:
        lines = [self.title] if self.title else []
        for name, row in zip(self.names, self.weights, strict=True):
            strongest = np.argsort(-row, kind="stable")[:STRONGEST]
            lines.append(f"{name}   ".lstrip() + "   ".join(f"{self.words[i]} {row[i]:.2f}" for i in strongest))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title = f'<div style="font-weight:600;margin:.3em 0">{escape(self.title)}</div>' if self.title else ""
        side = "white-space:nowrap;vertical-align:top;text-align:left"
        rows = "".join(
            f'<tr><td style="{side}">{escape(name)}</td>'
            f'<td style="text-align:left;line-height:1.9">{self._text(row)}</td></tr>'
            for name, row in zip(self.names, self.weights, strict=True)
        )
        return f"<div>{title}<table>{rows}</table></div>"

    def _text(self, row: np.ndarray) -> str:
        shades = DEEPEST * np.clip(row, 0.0, 1.0) ** 0.6  # of a dozen words few get more than 0.3, which would be pale
        return " ".join(
            f'<span title="{weight:.2f}" style="background:rgba({INK}, {shade:.2f});'
            f'padding:.1em .2em;border-radius:.2em;white-space:nowrap">{escape(word)}</span>'
            for word, weight, shade in zip(self.words, row, shades, strict=True)
        )
