"""HTML of untrusted text, with only the tags and attributes listed here."""

from __future__ import annotations

import re
from typing import Any

import nh3
from pygments.token import STANDARD_TYPES

from autograder.submission import PICTURES

TAGS = {
    "a", "b", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6",
    "hr", "i", "img", "input", "kbd", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup",
    "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
}  # fmt: skip
# No id, and no class but those of highlighted code, because formgrader finds its fields by them.
ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "td": {"style"}, "th": {"style"}}
CLASSES = {"div": {"highlight"}, "span": {name for name in STANDARD_TYPES.values() if name}}
SCHEMES = {"http", "https", "mailto", "data"}  # `data` only for pictures, see `_allowed`
# A link leads to another site or to a place on the page, never to one of formgrader's own addresses.
_LINK = re.compile(r"https?://|mailto:|#", re.IGNORECASE)
_PICTURE = re.compile(rf"data:(?:{'|'.join(PICTURES)});base64,")  # pasted pictures
# MathJax's commands that make links, styles and classes; a formula needs none of them.
ACTIVE_FORMULA = re.compile(r"\\(href|class|cssId|style|require|data|bbox|mmlToken)(?![A-Za-z])")


def _allowed(tag: str, name: str, value: str) -> str | None:
    pattern = {"href": _LINK, "src": _PICTURE}.get(name)
    return value if pattern is None or pattern.match(value) else None


CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    allowed_classes=CLASSES,
    attribute_filter=_allowed,
    url_schemes=SCHEMES,
    filter_style_properties={"text-align"},
    set_tag_attribute_values={"input": {"type": "checkbox", "disabled": "", "aria-label": "task"}},  # of a list
)


def cleaned(markup: Any) -> str:
    """HTML with only what is listed above, and without active formulas."""
    return ACTIVE_FORMULA.sub(r"\\text{\1}", CLEANER.clean(str(markup)))
