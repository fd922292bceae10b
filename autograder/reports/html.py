"""Showing something to a student: HTML in a notebook, text in a terminal."""

from __future__ import annotations

from html import escape
from typing import Any


def name_of(exercise: Any) -> str:
    """The name of an exercise that was given as `"median"` or as the function itself."""
    return exercise if isinstance(exercise, str) else getattr(exercise, "__name__", str(exercise))


def with_code(text: str) -> str:
    """Text as HTML, with `backticks` shown as code."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # an odd backtick is a backtick
        return escape(text)
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def block(html: str, name: str) -> str:
    """A part of the page whose words MathJax does not read as formulas. name: what it is, for those who hear the page.

    A narrow window scrolls it, so the keyboard reaches it.
    """
    return (
        f'<div class="autograder-rubric tex2jax_ignore mathjax_ignore" style="overflow-x:auto" tabindex="0" '
        f'role="group" aria-label="{escape(name)}">{html}</div>'
    )


def paragraph(html: str) -> str:
    """One paragraph, near its neighbours."""
    return f'<p style="margin:.3em 0">{html}</p>'
