"""HTML for students' notebooks and feedback pages."""

from __future__ import annotations

from html import escape
from typing import Any


def name_of(exercise: Any) -> str:
    """The name of an exercise, given as `"median"` or as the function itself."""
    return exercise if isinstance(exercise, str) else getattr(exercise, "__name__", str(exercise))


def with_code(text: str) -> str:
    """Text as HTML, with `backticks` shown as code."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # an unpaired backtick: show all of them as they are
        return escape(text)
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def block(html: str, name: str) -> str:
    """A part of the page in which MathJax looks for no formulas. `name` describes it to screen readers.

    A narrow window scrolls it, so it can have the keyboard's focus.
    """
    return (
        f'<div class="autograder-rubric tex2jax_ignore mathjax_ignore" style="overflow-x:auto" tabindex="0" '
        f'role="group" aria-label="{escape(name)}">{html}</div>'
    )


def paragraph(html: str) -> str:
    """One paragraph with small margins."""
    return f'<p style="margin:.3em 0">{html}</p>'
