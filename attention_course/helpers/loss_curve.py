"""A picture of the loss during training: a line over the steps, or a table as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from autograder.testing import GREY, HIGH, WIDE, Raster, blend, with_fallback

WIDTH, HEIGHT = 560, 240  # pixels
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 40  # room for the numbers of the axes
INKS = "#2f6db3", "#c2601c"  # of the first and the second curve
POINTS = 300  # more than a screen shows of a line of this width
LINES_OF_TEXT = 10
UPWARD = "up: loss, log scale"


def loss_curve(
    losses: Sequence[float] | Mapping[str, Sequence[float]],
    title: str = "",
    axis: str = "step",
    ends: tuple[int, int] | None = None,
) -> LossCurve:
    """A picture of `losses`, one number for each step, in order; or of two trainings by name, to compare them.

    The axis of the loss is logarithmic: from 1 to 0.1 is as far as from 0.1 to 0.01.

    axis: the label of the other axis
    ends: the step numbers of the first and the last loss; by default 1 and the number of losses

    Raises `ValueError` if no loss is finite, or for more than two trainings.
    """
    given = losses if isinstance(losses, Mapping) else {"loss": losses}
    curves = {name: np.array([float(loss) for loss in one]) for name, one in given.items()}
    if not any(np.isfinite(one).any() for one in curves.values()):
        raise ValueError("loss_curve needs at least one finite loss; has the training run?")
    if len(curves) > len(INKS):
        raise ValueError(f"loss_curve draws one or two trainings, not {len(curves)}")
    return LossCurve(curves, title, axis, ends or (1, max(map(len, curves.values()))))


class LossCurve:
    """The result of `loss_curve`: JupyterLab shows the picture, a plain console the text."""

    def __init__(self, curves: Mapping[str, np.ndarray], title: str, axis: str, ends: tuple[int, int]) -> None:
        self.curves, self.title, self.axis, self.ends = curves, title, axis, ends
        self.losses = next(iter(curves.values()))
        self._length = max(map(len, curves.values()))
        # A loss of exactly 0 has no logarithm.
        self._heights = [np.log10(np.maximum(one, 1e-6)) for one in curves.values()]
        self._lines = _lines(np.concatenate(self._heights))

    def __repr__(self) -> str:
        rows = [self.title] if self.title else []
        wide = max(6, *map(len, self.curves))
        rows.append(f"{self.axis:>6}  " + "  ".join(f"{name:>{wide}}" for name in self.curves))
        numbers = np.linspace(*self.ends, num=self._length).round().astype(int)
        for step in _some(self._length, LINES_OF_TEXT):
            shown = (f"{one[step]:{wide}.4f}" if step < len(one) else " " * wide for one in self.curves.values())
            rows.append(f"{numbers[step]:>6}  " + "  ".join(shown))
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        title = f'<div style="font-weight:600;margin:.3em 0">{escape(self.title)}</div>' if self.title else ""
        words = "; ".join(
            f"{self.title or 'loss'}{f', {name}' if len(self.curves) > 1 else ''}: from {one[0]:.2g} to {one[-1]:.2g}"
            for name, one in self.curves.items()
        )
        drawn = self._axes() + "".join(map(self._line, self._heights, INKS)) + self._legend()
        svg = (
            f'<svg role="img" aria-label="{escape(words)}" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-size="12" font-family="sans-serif" fill="currentColor" '
            f'style="max-width:100%">{drawn}</svg>'
        )
        return f"<div>{title}{with_fallback(svg, self._repr_png_(), words, WIDTH)}</div>"

    def _line(self, heights: np.ndarray, ink: str) -> str:
        steps = _some(len(heights), POINTS)
        points = " ".join(f"{self._x(i):.1f},{self._y(heights[i]):.1f}" for i in steps if np.isfinite(heights[i]))
        return f'<polyline points="{points}" fill="none" stroke="{ink}" stroke-width="1.6"/>'

    def _legend(self) -> str:
        """What each of two curves is, in the upper right corner."""
        return "".join(
            f'<rect x="{x - 16}" y="{y - 8}" width="10" height="4" fill="{ink}"/>'
            f'<text x="{x}" y="{y}">{escape(name)}</text>'
            for name, ink, x, y in self._names()
        )

    def _names(self) -> list[tuple[str, str, int, int]]:
        """The names of two curves, each with its ink and its place."""
        if len(self.curves) == 1:
            return []
        x = WIDTH - RIGHT - 8 * max(map(len, self.curves))
        return [(name, ink, x, TOP + 14 + 16 * i) for i, (name, ink) in enumerate(zip(self.curves, INKS, strict=True))]

    def _repr_png_(self) -> bytes:
        canvas = Raster(WIDTH * 2, HEIGHT * 2)  # twice the resolution
        for line in self._lines:
            y, label = 2 * self._y(line), f"{10.0**line:g}"
            canvas.fill(2 * LEFT, y, 2 * (WIDTH - LEFT - RIGHT), 2, GREY)
            canvas.text(2 * LEFT - 12 - 3 * WIDE * len(label), y - 1.5 * HIGH, label, size=3)
        (first, last), y = map(str, self.ends), 2 * (HEIGHT - BOTTOM) + 10
        canvas.text(2 * LEFT, y, first, size=3)
        canvas.text(2 * (LEFT + WIDTH - RIGHT) / 2 - 1.5 * WIDE * len(self.axis), y, self.axis, size=3)
        canvas.text(2 * (WIDTH - RIGHT) - 3 * WIDE * len(last), y, last, size=3)
        canvas.text(2 * 4, 2 * (HEIGHT - 6) - 2 * HIGH, UPWARD, size=2)
        for heights, ink in zip(self._heights, INKS, strict=False):
            drawn = np.flatnonzero(np.isfinite(heights))
            columns = np.arange(2 * LEFT, 2 * (WIDTH - RIGHT) + 1)
            along = np.interp(columns, [2 * self._x(int(i)) for i in drawn], heights[drawn])
            places = [2 * self._y(float(height)) for height in along]
            for x, (here, there) in zip(columns.tolist(), pairwise([*places, places[-1]]), strict=True):
                canvas.fill(x, min(here, there) - 1.5, 3, abs(here - there) + 3, blend(ink, 1.0))
        for name, ink, x, y in self._names():
            canvas.fill(2 * x - 32, 2 * y - 16, 20, 8, blend(ink, 1.0))
            canvas.text(2 * x, 2 * y - 20, name, size=2)
        return canvas.png()

    def _axes(self) -> str:
        """A labelled line at each of some round losses; below, the label, first and last number of the other axis."""
        parts = []
        for line in self._lines:
            y = self._y(line)
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" '
                f'stroke-opacity="0.2"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**line:g}</text>'
            )
        for x, label, anchor in ((LEFT, str(self.ends[0]), "start"), (WIDTH - RIGHT, str(self.ends[1]), "end")):
            parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="{anchor}">{label}</text>')
        parts.append(f'<text x="4" y="{HEIGHT - 6}">{UPWARD}</text>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(self.axis)}</text>')
        return "".join(parts)

    def _x(self, step: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / max(1, self._length - 1)

    def _y(self, height: float) -> float:
        low, high = self._lines[0], self._lines[-1]
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - height) / (high - low)


def _lines(heights: np.ndarray) -> list[float]:
    """The logarithms of round losses from below all losses to above: powers of ten, or 3, 4, 5 ... if they are near."""
    finite = heights[np.isfinite(heights)]
    low, high = math.floor(finite.min()), math.ceil(finite.max())
    powers = [float(power) for power in range(low, max(high, low + 1) + 1)]
    if finite.max() - finite.min() > 1 or finite.max() == finite.min():
        return powers
    fine = [math.log10(digit) + power for power in range(low, high) for digit in range(1, 10)] + [float(high)]
    below = [line for line in fine if line <= finite.min()][-1]
    above = next(line for line in fine if line >= finite.max())
    near = [line for line in fine if below <= line <= above]
    return near if len(near) > 1 else powers


def _some(count: int, most: int) -> list[int]:
    """Up to `most` evenly spaced indices, with the first and the last."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})
