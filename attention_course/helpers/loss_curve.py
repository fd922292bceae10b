"""A picture of the loss during training: a line over the steps, or a table as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from autograder.testing import GREY, HIGH, WIDE, Raster, blend, with_fallback

WIDTH, HEIGHT = 560, 240  # pixels
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 40  # room for the numbers of the axes
INK = "#2f6db3"
POINTS = 300  # more than a screen shows of a line of this width
LINES_OF_TEXT = 10


def loss_curve(
    losses: Sequence[float], title: str = "", axis: str = "step", ends: tuple[int, int] | None = None
) -> LossCurve:
    """A picture of `losses`, one number for each step, in order.

    The axis of the loss is logarithmic: from 1 to 0.1 is as far as from 0.1 to 0.01.

    axis: the label of the other axis
    ends: the step numbers of the first and the last loss; by default 1 and the number of losses

    Raises `ValueError` if no loss is finite.
    """
    numbers = [float(loss) for loss in losses]
    if not any(math.isfinite(number) for number in numbers):
        raise ValueError("loss_curve needs at least one finite loss; has the training run?")
    return LossCurve(np.array(numbers), title, axis, ends or (1, len(numbers)))


class LossCurve:
    """The result of `loss_curve`: JupyterLab shows the picture, a plain console the text."""

    def __init__(self, losses: np.ndarray, title: str, axis: str, ends: tuple[int, int]) -> None:
        self.losses, self.title, self.axis, self.ends = losses, title, axis, ends
        # A loss of exactly 0 has no logarithm.
        self._heights = np.log10(np.maximum(losses, 1e-6))

    def __repr__(self) -> str:
        rows = [self.title] if self.title else []
        rows.append(f"{self.axis:>6}  loss")
        numbers = np.linspace(*self.ends, num=len(self.losses)).round().astype(int)
        for step in _some(len(self.losses), LINES_OF_TEXT):
            rows.append(f"{numbers[step]:>6}  {self.losses[step]:.4f}")
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        low, high = self._range()
        steps = _some(len(self.losses), POINTS)
        points = " ".join(
            f"{self._x(i):.1f},{_y(self._heights[i], low, high):.1f}" for i in steps if np.isfinite(self._heights[i])
        )
        title = f'<div style="font-weight:600;margin:.3em 0">{escape(self.title)}</div>' if self.title else ""
        words = f"{self.title or 'loss'}: from {self.losses[0]:.2g} to {self.losses[-1]:.2g}"
        svg = (
            f'<svg role="img" aria-label="{escape(words)}" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-size="12" font-family="sans-serif" fill="currentColor" '
            f'style="max-width:100%">{_axes(low, high, self.axis, self.ends)}'
            f'<polyline points="{points}" fill="none" stroke="{INK}" stroke-width="1.6"/></svg>'
        )
        return f"<div>{title}{with_fallback(svg, self._repr_png_(), words, WIDTH)}</div>"

    def _repr_png_(self) -> bytes:
        low, high = self._range()
        canvas = Raster(WIDTH * 2, HEIGHT * 2)  # twice the resolution
        for power in range(low, high + 1):
            y, label = 2 * _y(power, low, high), f"{10.0**power:g}"
            canvas.fill(2 * LEFT, y, 2 * (WIDTH - LEFT - RIGHT), 2, GREY)
            canvas.text(2 * LEFT - 12 - 3 * WIDE * len(label), y - 1.5 * HIGH, label, size=3)
        (first, last), y = map(str, self.ends), 2 * (HEIGHT - BOTTOM) + 10
        canvas.text(2 * LEFT, y, first, size=3)
        canvas.text(2 * (LEFT + WIDTH - RIGHT) / 2 - 1.5 * WIDE * len(self.axis), y, self.axis, size=3)
        canvas.text(2 * (WIDTH - RIGHT) - 3 * WIDE * len(last), y, last, size=3)
        drawn = np.flatnonzero(np.isfinite(self._heights))
        columns = np.arange(2 * LEFT, 2 * (WIDTH - RIGHT) + 1)
        heights = np.interp(columns, [2 * self._x(int(i)) for i in drawn], self._heights[drawn])
        places = [2 * _y(float(height), low, high) for height in heights]
        for x, here, there in zip(columns.tolist(), places, [*places[1:], places[-1]], strict=True):
            canvas.fill(x, min(here, there) - 1.5, 3, abs(here - there) + 3, blend(INK, 1.0))
        return canvas.png()

    def _range(self) -> tuple[int, int]:
        """The powers of ten below and above all losses."""
        finite = self._heights[np.isfinite(self._heights)]
        low, high = math.floor(finite.min()), math.ceil(finite.max())
        return low, max(high, low + 1)

    def _x(self, step: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / max(1, len(self.losses) - 1)


def _axes(low: int, high: int, axis: str, ends: tuple[int, int]) -> str:
    """A labelled line at each power of ten; below, the label, first and last number of the other axis."""
    parts = []
    for power in range(low, high + 1):
        y = _y(power, low, high)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" '
            f'stroke-opacity="0.2"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    for x, label, anchor in ((LEFT, str(ends[0]), "start"), (WIDTH - RIGHT, str(ends[1]), "end")):
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="{anchor}">{label}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(axis)}</text>')
    return "".join(parts)


def _y(height: float, low: int, high: int) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (high - height) / (high - low)


def _some(count: int, most: int) -> list[int]:
    """Up to `most` evenly spaced indices, with the first and the last."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})
