"""Attention weights and masks as pictures: squares with row and column labels, or the same as text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

SQUARE = 46  # pixels; room for "-0.00"
SMALL = 16  # pixels of a square in a matrix of many columns, where a number has no room
MANY = 16  # columns from which squares are small
LABEL = 7.5  # pixels a character of a label needs at 13 px
INK, BELOW = "#2f6db3", "#c2601c"  # above and below zero


def heatmap(
    weights: Any, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None, title: str = ""
) -> Heatmap:
    """A picture of `weights`, (L, S), or of one matrix a head, (h, L, S); numbers or booleans.

    Numbers below zero have a colour of their own. With more than 16 columns, squares are small and without numbers.

    rows, columns: labels, such as the words of a sentence; counted from 0 where not given
    title: a line above

    Raises `ValueError` where shapes and labels do not fit.
    """
    array = np.asarray(weights.detach() if hasattr(weights, "detach") else weights)
    array = array[np.newaxis] if array.ndim == 2 else array
    if array.ndim != 3:
        raise ValueError(f"heatmap draws (L, S) or (heads, L, S), not {np.asarray(weights).shape}")
    _, length, keys = array.shape
    rows = [str(i) for i in range(length)] if rows is None else list(map(str, rows))
    columns = [str(i) for i in range(keys)] if columns is None else list(map(str, columns))
    if len(rows) != length or len(columns) != keys:
        raise ValueError(f"{len(rows)} row and {len(columns)} column labels for weights of shape {(length, keys)}")
    return Heatmap(array, rows, columns, title)


class Heatmap:
    """What `heatmap` gives back: JupyterLab shows the picture, a plain console the text."""

    def __init__(self, weights: np.ndarray, rows: list[str], columns: list[str], title: str) -> None:
        self.weights, self.rows, self.columns, self.title = weights, rows, columns, title

    def __repr__(self) -> str:
        parts = [self.title] if self.title else []
        width = max(5, *map(len, self.columns))
        side = max(map(len, self.rows))
        for number, matrix in enumerate(self.weights, start=1):
            if len(self.weights) > 1:
                parts.append(f"head {number}")
            parts.append(" " * side + "".join(f"  {label:>{width}}" for label in self.columns))
            parts += [
                f"{label:>{side}}" + "".join(f"  {_text(v):>{width}}" for v in row)
                for label, row in zip(self.rows, matrix, strict=True)
            ]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        many = len(self.weights) > 1
        title = f'<div style="font-weight:600;margin:.3em 0">{escape(self.title)}</div>' if self.title else ""
        pictures = "".join(self._svg(m, f"head {n}" if many else "") for n, m in enumerate(self.weights, start=1))
        return f'<div>{title}<div style="display:flex;flex-wrap:wrap;gap:1.5em">{pictures}</div></div>'

    def _svg(self, matrix: np.ndarray, name: str) -> str:
        square = SMALL if len(self.columns) > MANY else SQUARE
        left = 12 + LABEL * max(map(len, self.rows))
        longest = max(map(len, self.columns))
        slanted = longest * LABEL > SQUARE
        top = (10 + LABEL * longest * 0.75 if slanted else 24) + (22 if name else 0)
        width = left + square * len(self.columns) + (LABEL * longest * 0.7 if slanted else 4)
        height = top + square * len(self.rows) + 4
        parts = [f'<text x="{left:.0f}" y="14" font-weight="600">{escape(name)}</text>'] if name else []
        step = 1 if square == SQUARE else 4  # labels at every fourth of the small squares
        for j in range(0, len(self.columns), step):
            x, y = left + square * (j + 0.5), top - 6
            turn = f'text-anchor="start" transform="rotate(-45 {x:.1f} {y:.1f})"' if slanted else 'text-anchor="middle"'
            parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {turn}>{escape(self.columns[j])}</text>')
        for i, label in enumerate(self.rows):
            y = top + square * (i + 0.5) + 4
            if i % step == 0:
                parts.append(f'<text x="{left - 6:.1f}" y="{y:.1f}" text-anchor="end">{escape(label)}</text>')
            parts += [_square(left + square * j, top + square * i, square, v, matrix) for j, v in enumerate(matrix[i])]
        words = escape(f"{self.title} {name}".strip() or "weights")
        return (
            f'<svg role="img" aria-label="{words}" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-size="13" font-family="sans-serif" fill="currentColor" '
            f'style="max-width:100%">{"".join(parts)}</svg>'
        )


def _square(x: float, y: float, size: int, value: Any, matrix: np.ndarray) -> str:
    shade = _shade(value, matrix)
    ink = "#ffffff" if abs(shade) > 0.55 else "currentColor"
    rectangle = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{size}" height="{size}" fill="{BELOW if shade < 0 else INK}" '
        f'fill-opacity="{abs(shade):.2f}" stroke="currentColor" stroke-opacity="0.25"/>'
    )
    number = (
        f'<text x="{x + size / 2:.1f}" y="{y + size / 2 + 4:.1f}" text-anchor="middle" font-size="12" '
        f'fill="{ink}">{_text(value)}</text>'
    )
    return rectangle + number if size == SQUARE else rectangle


def _shade(value: Any, matrix: np.ndarray) -> float:
    """-1 to 1: weights as they are; where there are larger numbers, as a share of the largest."""
    finite = matrix[np.isfinite(matrix)]
    if not np.isfinite(value) or finite.size == 0:
        return 0.0
    return float(value) / max(1.0, float(np.abs(finite.astype(float)).max()))


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "·"
    return f"{value:.2f}"
