"""Draws matrices of numbers or booleans as labelled squares, or as text; a student's beside the expected ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from typing import Any

import numpy as np

from autograder.course.content import word
from autograder.png import GREY, HIGH, WIDE, Raster, blend, with_fallback
from autograder.report import Picture

SQUARE = 46  # pixels; room for "-0.00"
NARROWEST = 260  # pixels to which a picture shrinks to make room for another
SMALL = 16  # pixels of a square in a matrix of many columns, where a number has no room
MANY = 16  # with more columns than this, squares are small
MANY_OF_YES = 8  # the same for three or more matrices of booleans, which then stand side by side
LABEL = 7.5  # pixels that a label's character needs at 13 px
INK, BELOW = "#2f6db3", "#c2601c"  # above and below zero
FRAME = (230, 81, 0)  # #e65100, of a marked square
DOTS = 64  # of a square's side in the PNG; has room for "-0.00" at size 2
DEEPEST = 0.75  # opacity of a full square: a number on it has a contrast of 4.5 in light and dark themes
# Expected values are rounded to two digits: half a hundredth, plus the rounding of float32.
ROUNDED = 0.0051


def heatmap(
    weights: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    title: str = "",
    names: Sequence[str] | None = None,
    full: float | None = None,
) -> Heatmap:
    """A picture of `weights`, one matrix or several, (n, rows, columns).

    They are numbers or booleans. Numbers below zero have a colour of their own. With more
    than 16 columns, squares are small and without numbers. Of three or more matrices of
    booleans that is so with more than 8.

    rows, columns: labels, such as the words of a sentence; counted from 0 if not given
    title: a line above
    names: of several matrices; counted from 0 if not given, after the course's own word for one
    full: the number with full colour; by default the largest of each matrix, but at least 1

    Raises `ValueError` where shapes and labels do not fit.
    """
    array = np.asarray(weights.detach() if hasattr(weights, "detach") else weights)
    array = array[np.newaxis] if array.ndim == 2 else array
    if array.ndim != 3:
        raise ValueError(f"heatmap draws (rows, columns) or (n, rows, columns), not {np.asarray(weights).shape}")
    count, length, width = array.shape
    rows = [str(i) for i in range(length)] if rows is None else list(map(str, rows))
    columns = [str(i) for i in range(width)] if columns is None else list(map(str, columns))
    if len(rows) != length or len(columns) != width:
        raise ValueError(f"{len(rows)} row and {len(columns)} column labels for weights of shape {(length, width)}")
    if names is None:
        names = [f"{word('matrix')} {n}" for n in range(count)] if count > 1 else [""]
    if len(names) != count:
        raise ValueError(f"{len(names)} names for {count} matrices")
    return Heatmap(array, rows, columns, title, tuple(map(str, names)), full)


@dataclass(frozen=True)
class Heatmap:
    """The result of `heatmap`: JupyterLab shows the picture, a plain console the text.

    marked: booleans of the shape of `weights`: squares with a frame, or an asterisk in text
    """

    weights: np.ndarray
    rows: list[str]
    columns: list[str]
    title: str
    names: tuple[str, ...]
    full: float | None = None
    marked: np.ndarray | None = None

    def __repr__(self) -> str:
        parts = [self.title] if self.title else []
        width = max(5, *map(len, self.columns))
        side = max(map(len, self.rows))
        for number, matrix in enumerate(self.weights):
            parts += [self.names[number]] if self.names[number] else []
            gap = "" if self.marked is None else " "  # room for the asterisk
            stars = [[gap] * len(self.columns) for _ in self.rows]
            for i, j in self._marked_places(number):
                stars[i][j] = "*"
            parts.append(" " * side + "".join(f"  {label:>{width}}{gap}" for label in self.columns).rstrip())
            for i, label in enumerate(self.rows):
                values = (f"  {_text(v):>{width}}{stars[i][j]}" for j, v in enumerate(matrix[i]))
                parts.append(f"{label:>{side}}" + "".join(values).rstrip())
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return self._page([self._with_png(number) for number in range(len(self.weights))])

    def _repr_png_(self) -> bytes:
        drawn = [self._canvas(number).dots for number in range(len(self.weights))]
        canvas = Raster(sum(dots.shape[1] for dots in drawn), max(dots.shape[0] for dots in drawn))
        left = 0
        for dots in drawn:
            canvas.dots[: dots.shape[0], left : left + dots.shape[1]] = dots
            left += dots.shape[1]
        return canvas.png()

    def plain_html(self) -> str:
        """HTML with only the SVG, for pages where it is shown."""
        return self._page([self._svg(number) for number in range(len(self.weights))])

    def _page(self, pictures: list[str]) -> str:
        title = f'<div style="font-weight:600;margin:.3em 0">{escape(self.title)}</div>' if self.title else ""
        # Two or three pictures stand side by side, and shrink where there is less room.
        style = f"display:flex;flex-wrap:{'nowrap' if len(pictures) <= 3 else 'wrap'};gap:1.5em;align-items:flex-start"
        return f'<div>{title}<div style="{style}">{"".join(pictures)}</div></div>'

    def _with_png(self, number: int) -> str:
        canvas = self._canvas(number)
        width = canvas.dots.shape[1] * SQUARE / DOTS
        return with_fallback(self._svg(number), canvas.png(), self._aloud(number), width)

    def _svg(self, number: int) -> str:
        matrix, name = self.weights[number], self.names[number]
        square = self._size()
        left = 12 + LABEL * max(map(len, self.rows))
        longest = max(map(len, self.columns))
        slanted = longest * LABEL > square
        top = (10 + LABEL * longest * 0.75 if slanted else 24) + (22 if name else 0)
        width = left + square * len(self.columns) + (LABEL * longest * 0.7 if slanted else 4)
        width = max(width, left + 7 * len(name))
        height = top + square * len(self.rows) + 4
        parts = [f'<text x="{left:.0f}" y="14" font-weight="600">{escape(name)}</text>'] if name else []
        step = self._label_step()
        for j in range(0, len(self.columns), step):
            x, y = left + square * (j + 0.5), top - 6
            turn = f'text-anchor="start" transform="rotate(-45 {x:.1f} {y:.1f})"' if slanted else 'text-anchor="middle"'
            turn += ' font-size="11"' if slanted and square == SMALL else ""  # larger ones overlap
            parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {turn}>{escape(self.columns[j])}</text>')
        full = self.full or _full(matrix)
        for i, label in enumerate(self.rows):
            y = top + square * (i + 0.5) + 4
            if i % step == 0:
                parts.append(f'<text x="{left - 6:.1f}" y="{y:.1f}" text-anchor="end">{escape(label)}</text>')
            for j, value in enumerate(matrix[i]):
                parts.append(_square(left + square * j, top + square * i, square, value, _shade(value, full)))
        for i, j in self._marked_places(number):  # last, so that no neighbour covers a frame
            parts.append(
                f'<rect x="{left + square * j + 2:.1f}" y="{top + square * i + 2:.1f}" width="{square - 4}" '
                f'height="{square - 4}" fill="none" stroke="#e65100" stroke-width="3" stroke-dasharray="6 3"/>'
            )
        return (
            f'<svg role="img" aria-label="{escape(self._aloud(number))}" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-size="13" font-family="sans-serif" fill="currentColor" '
            f'style="max-width:100%;min-width:{min(width, NARROWEST):.0f}px;height:auto">{"".join(parts)}</svg>'
        )

    def _canvas(self, number: int) -> Raster:
        """The picture for the PNG."""
        matrix, name, full = self.weights[number], self.names[number], self.full or _full(self.weights[number])
        small = self._size() == SMALL
        side, step, letter, line = DOTS // 3 if small else DOTS, self._label_step(), 2 * WIDE, 2 * HIGH
        longest = max(map(len, self.columns)) * letter
        left, upright = 8 + letter * max(map(len, self.rows)), longest > side
        top = (longest if upright else line) + 10 + (line + 8 if name else 0)
        canvas = Raster(max(left + side * len(self.columns) + 12, letter * len(name)), top + side * len(self.rows) + 8)
        canvas.text(0, 2, name)
        for j in range(0, len(self.columns), step):
            wide, middle = len(self.columns[j]) * letter, left + side * (j + 0.5)
            at = (middle - line / 2, top - 4 - wide) if upright else (middle - wide / 2, top - line)
            canvas.text(*at, self.columns[j], up=upright)
        for i, values in enumerate(matrix):
            y = top + side * i
            if i % step == 0:
                canvas.text(left - 6 - letter * len(self.rows[i]), y + (side - line) / 2, self.rows[i])
            for j, value in enumerate(values):
                x, shade = left + side * j, _shade(value, full)
                canvas.fill(x, y, side, side, GREY)
                canvas.fill(x + 1, y + 1, side - 1, side - 1, blend(BELOW if shade < 0 else INK, abs(shade)))
                if not small:
                    number_text = _text(value)
                    inner = x + (side - letter * len(number_text)) / 2 + 1
                    canvas.text(inner, y + (side - line) / 2 + 1, number_text)
        for i, j in self._marked_places(number):
            canvas.frame(left + side * j + 3, top + side * i + 3, side - 5, FRAME, 4)
        return canvas

    def _size(self) -> int:
        """Pixels of a square's side."""
        yes_or_no = self.weights.dtype == bool and len(self.weights) > 2
        return SMALL if len(self.columns) > (MANY_OF_YES if yes_or_no else MANY) else SQUARE

    def _label_step(self) -> int:
        """1 if every row and column has a label; 4 if numbers label small squares, which only fit every fourth."""
        return 4 if self._size() == SMALL and all(label.isdecimal() for label in self.columns) else 1

    def _marked_places(self, number: int) -> list[list[int]]:
        """(row, column) of each marked square."""
        return [] if self.marked is None else np.argwhere(self.marked[number]).tolist()

    def _aloud(self, number: int) -> str:
        """The picture in words, a row at a time, for screen readers."""
        head = f"{self.title} {self.names[number]}".strip() or "numbers"
        rows = (
            f"{label}: " + ", ".join(f"{c} {_text(v)}" for c, v in zip(self.columns, values, strict=True))
            for label, values in zip(self.rows, self.weights[number], strict=True)
        )
        return f"{head}. {'; '.join(rows)}"


def side_by_side(pictures: Sequence[Heatmap], width: int) -> str:
    """Several pictures as text, side by side if they fit into `width` characters."""
    blocks = [repr(picture).splitlines() for picture in pictures]
    widths = [max(map(len, block)) for block in blocks]
    if sum(widths) + 5 * len(widths) > width:
        return "\n\n".join(map(repr, pictures))
    lines = zip_longest(*blocks, fillvalue="")
    return "\n".join("     ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def beside(own: np.ndarray | None, wanted: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> list[Heatmap]:
    """The student's picture, if it can be drawn, and the expected one; only one picture if the two are equal.

    Both have the shape (matrices, rows, columns).
    """
    full = max(1.0, float(np.abs(wanted.astype(float)).max()))
    right = heatmap(wanted, rows, columns, "asked for", full=full)
    if own is None:
        return [right]
    marked: np.ndarray = np.ones(own.shape, dtype=bool)
    if own.shape == wanted.shape:  # NaN differs from everything
        marked = ~(np.abs(own.astype(float) - wanted.astype(float)) <= ROUNDED)
    if not marked.any():
        return [replace(right, title="")]
    return [replace(heatmap(own, rows, columns, "yours", full=full), marked=marked), right]


def drawn_arrays(picture: Picture) -> tuple[np.ndarray, np.ndarray]:
    """The student's matrices and the expected ones (maybe empty), as `beside` takes them."""
    kind = bool if picture.boolean else float
    return np.array(picture.matrices, dtype=kind), np.array(picture.wanted, dtype=kind)


def differing(pictures: Sequence[Heatmap]) -> int:
    """The number of marked squares."""
    return sum(int(picture.marked.sum()) for picture in pictures if picture.marked is not None)


def in_words(count: int) -> str:
    """What a small example shows, as the end of a sentence. count: the number of marked squares"""
    if not count:
        return " on a small example: your result is the expected one."
    squares = "1 square of yours differs" if count == 1 else f"{count} squares of yours differ"
    return f" on a small example, your result and the expected one: {squares} (marked)."


def in_a_row(drawn: Iterable[str]) -> str:
    """Drawn pictures as HTML, side by side where there is room."""
    return f'<div style="display:flex;flex-wrap:wrap;gap:0 2.5em">{"".join(drawn)}</div>'


def _square(x: float, y: float, size: int, value: Any, shade: float) -> str:
    rectangle = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{size}" height="{size}" fill="{BELOW if shade < 0 else INK}" '
        f'fill-opacity="{abs(shade):.2f}" stroke="currentColor" stroke-opacity="0.25"/>'
    )
    number = (
        f'<text x="{x + size / 2:.1f}" y="{y + size / 2 + 4:.1f}" text-anchor="middle" font-size="12">'
        f"{_text(value)}</text>"
    )
    return rectangle + number if size == SQUARE else rectangle


def _full(matrix: np.ndarray) -> float:
    """The number with full colour: the largest magnitude, but at least 1."""
    finite = matrix[np.isfinite(matrix)]
    return max(1.0, float(np.abs(finite.astype(float)).max(initial=0.0)))


def _shade(value: Any, full: float) -> float:
    """A square's opacity; negative for the colour `BELOW`."""
    return DEEPEST * float(np.clip(float(value) / full, -1, 1)) if np.isfinite(value) else 0.0


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "·"
    if isinstance(value, int | np.integer):
        return str(value)
    return f"{value:.2f}" if not abs(value) >= 1000 else f"{value:.0e}"
