"""Lines in a picture whose axes are powers of ten."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 60, 20, 20, 50
# AnsweredCall apart by their dashes, too. Dark enough on white, light enough on black.
STYLES = (("#888888", "2 4"), ("#b26a00", "8 4"), ("#2e7d32", ""))


def drawn(lines: Mapping[str, Points], across: str, up: str) -> str:
    """An SVG; each line's name stands at the top, in its colour. across, up: what the axes are."""
    every = [point for points in lines.values() for point in points]
    (left, right), (low, high) = (_powers([point[i] for point in every]) for i in (0, 1))

    def x(value: float) -> float:
        return LEFT + (math.log10(value) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def parts() -> Iterator[str]:
        for power in range(left, right + 1):
            place = x(10**power)
            yield f'<line x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#8884"/>'
            yield f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10**power:,g}</text>'
        for power in range(low, high + 1):
            place = y(10**power)
            yield f'<line x1="{LEFT}" y1="{place:.1f}" x2="{WIDTH - RIGHT}" y2="{place:.1f}" stroke="#8884"/>'
            yield f'<text x="{LEFT - 8}" y="{place + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>'
        yield f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>'
        yield f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{escape(up)}</text>'
        for number, ((name, points), (colour, dash)) in enumerate(zip(lines.items(), STYLES, strict=True)):
            path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
            stroke = f'stroke="{colour}" stroke-width="3" stroke-dasharray="{dash}"'
            yield f'<polyline points="{path}" fill="none" {stroke}/>'
            below = TOP + 18 + 20 * number
            yield f'<line x1="{LEFT + 10}" y1="{below - 4}" x2="{LEFT + 50}" y2="{below - 4}" {stroke}/>'
            yield f'<text x="{LEFT + 58}" y="{below}" fill="{colour}">{escape(name)}</text>'

    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    style = 'font-family="sans-serif" font-size="13" fill="#666"'
    return "\n".join([f"{head} {style}>", '<rect width="100%" height="100%" fill="white"/>', *parts(), "</svg>"]) + "\n"


def _powers(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around `values`, at least one apart."""
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)
