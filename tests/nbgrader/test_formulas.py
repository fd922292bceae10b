"""Formulas on pages become MathML, which needs no network."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET

import nbformat
import pytest

from autograder.nbgrader.pages import Page, as_mathml
from tests.helpers.in_process import ASSIGNMENTS

CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_every_formula_of_the_course_becomes_mathml(assignment):
    cells = nbformat.read(assignment.notebook, as_version=4).cells
    texts = [CODE.sub("", cell.source) for cell in cells if cell.cell_type == "markdown"]
    found = [match for text in texts for match in FORMULA.findall(text)]
    assert len(found) >= 10
    for block, inline in found:
        drawn = as_mathml(block or inline, block=bool(block))
        assert drawn is not None, block or inline
        assert "\\" not in "".join(ET.fromstring(drawn).itertext()), block or inline


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "</mtext><img src=x onerror=alert(1)>", "&lt;b&gt;", "a < b"]
)
def test_markup_in_a_formula_is_text(text):
    formula = as_mathml(rf"\text{{{text}}} x < y", block=False)
    tags = {element.tag.split("}")[1] for element in ET.fromstring(formula).iter()}
    assert tags <= {"math", "mrow", "mtext", "mi", "mo"}
    words = next("".join(one.itertext()) for one in ET.fromstring(formula).iter() if one.tag.endswith("mtext"))
    assert words.replace("\N{NO-BREAK SPACE}", " ") == html.unescape(text)


def test_only_formulas_of_a_students_text_become_markup():
    def shown(source):
        return Page().markdown2html({"cell": {"source": source}}, source)

    page = shown(r"It is $\frac{n(n+1)}{6}$, and $$a < b$$ so <b>bold</b>.")
    assert page.count("<math") == 2 and "<mfrac>" in page and "<b>" not in page and "a &lt; b" not in page
    odd = shown(r"$\href{javascript:alert(1)}{x}$ formula0123456789abcdef0123456789abcdef")
    assert "<math" not in odd and "<a" not in odd and "formula0123456789abcdef0123456789abcdef" in odd
    assert "<math" not in shown(f"${'x+' * 200}x$")  # too long to convert
