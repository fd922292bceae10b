"""Formulas of the course's own texts, on pages that are read without a network."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import nbformat
import pytest

from autograder.nbgrader.formulas import as_mathml
from tests.in_process import ASSIGNMENTS

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


def test_what_stands_where():
    assert "<msubsup><mi>W</mi><mi>O</mi><mrow><mrow><mo>(</mo>" in as_mathml("W_O^{(0)}", block=False)
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in as_mathml(r"\frac12", block=False)
    assert "<munder><mo>∑</mo><mi>j</mi></munder>" in as_mathml(r"\sum_j x_j", block=True)
    assert "<msub><mo>∑</mo><mi>j</mi></msub>" in as_mathml(r"\sum_j x_j", block=False)
    assert "<mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr>" in as_mathml(
        r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}", block=True
    )
    assert "<mo>&lt;</mo>" in as_mathml("a < b", block=False)
    assert "<mtext>a &lt;b&gt;\u00a0</mtext>" in as_mathml(r"\text{a <b> }", block=False)


@pytest.mark.parametrize(
    "odd", [r"\href{x}{y}", r"\unknown", "x_", "}", r"\left( x", r"\begin{array} 1 \end{array}", ""]
)
def test_what_is_not_known_is_left_to_mathjax(odd):
    drawn = as_mathml(odd, block=False)
    assert drawn is None or odd == ""
