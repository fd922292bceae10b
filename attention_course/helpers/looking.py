"""What each head looks at: catch the weights of a decoder's heads, and show them on the words of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

INK = "47, 109, 179"  # the blue of the heat maps
STRONGEST = 4  # words a head that a plain console names


def look(model: Any, token_ids: Sequence[int]) -> np.ndarray:
    """The attention of every head while `model` reads `token_ids` and predicts what follows, (num_heads, L).

    A row is what the last place attends to, its own included. Heads are counted through all layers, the first layer's
    first. It works for every `nn.Module` inside which layers give back the tuple (output, weights) with weights
    (..., h, L, L), as assignment 4's `MultiHeadAttention` does, and for PyTorch's `nn.MultiheadAttention`.

    Raises `ValueError` where no layer gives weights.
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
        raise ValueError("no layer of this model gives back (output, weights), so there is nothing to look at")
    return np.concatenate(seen)


def _watch(layer: Any, keep: Callable[..., None]) -> list[Any]:
    """Hooks on one layer; PyTorch's own attention must be asked for the weights of each head."""
    from torch import nn

    def ask_for_weights(module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        return args, kwargs | {"need_weights": True, "average_attn_weights": False}

    hooks = [layer.register_forward_hook(keep)]
    if isinstance(layer, nn.MultiheadAttention):
        hooks.append(layer.register_forward_pre_hook(ask_for_weights, with_kwargs=True))
    return hooks


def highlight(weights: Any, words: Sequence[str], title: str = "", names: Sequence[str] | None = None) -> Highlight:
    """A text once for each head, with a word the darker the more the head attends to it.

    weights: (num_heads, L) or, for one head, (L,)
    words: L of them
    names: what each of several rows is; "head 0", "head 1", ... where not given

    Raises `ValueError` where they do not fit.
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
    """What `highlight` gives back: JupyterLab shows the shaded text, a plain console the strongest words."""

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
        return " ".join(
            f'<span title="{weight:.2f}" style="background:rgba({INK}, {min(1.0, max(0.0, float(weight))):.2f});'
            f'{"color:#ffffff;" if weight > 0.55 else ""}padding:.1em .2em;border-radius:.2em">{escape(word)}</span>'
            for word, weight in zip(self.words, row, strict=True)
        )
