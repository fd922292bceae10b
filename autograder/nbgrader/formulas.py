"""Formulas of the course's own texts as MathML, which a browser draws without a network."""

from __future__ import annotations

import re
from html import unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import Converter

# Commands that become attributes which act or restyle; MathJax may have them.
_ACTS = re.compile(r"\\(href|class|style|cssId|bbox)(?![A-Za-z])")


def as_mathml(tex: str, block: bool) -> str | None:
    """MathML of a formula; None if it holds anything that the converter does not know, so that MathJax gets it."""
    if _ACTS.search(tex):
        return None
    try:
        formula = Converter(display="block" if block else "inline").convert_to_element(tex)
    except Exception:  # it has a dozen of its own, and stumbles over what nobody thought of
        return None
    for element in formula.iter():
        element.text, element.tail = unescape(element.text or ""), unescape(element.tail or "")
    # Its own text form would let a `<` in \text{...} through as markup; this escapes it.
    return tostring(formula, encoding="unicode") if all(map(_is_known, formula.iter())) else None


def _is_known(element: Element) -> bool:
    """Converted, and not passed on as a backslash or as an operator without a name."""
    return "\\" not in (element.text or "") and not (element.tag == "mo" and not element.text)
