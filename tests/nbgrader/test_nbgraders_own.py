"""What we replace in nbgrader leaves what nbgrader's own leaves."""

from __future__ import annotations

from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.nbgrader.pages import Page


def test_a_page_is_what_nbconvert_makes_of_it():
    """Which reads its own page again for pictures without words: three quarters of what a page took."""
    drawn = new_output("display_data", {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"})
    printed = new_output("stream", text="1 < 2 & \x1b[31mred\x1b[0m")
    cells = [
        new_markdown_cell("# Heads\n\n| a | b |\n|---|---|\n| $d_k$ | `x < y` |"),
        new_code_cell("def f(x):\n    return x @ x.T  # a < b", outputs=[drawn, printed]),
    ]
    notebook = new_notebook(cells=cells)
    page, _ = Page(template_name="classic").from_notebook_node(notebook)
    theirs, _ = HTMLExporter.from_notebook_node(Page(template_name="classic"), notebook)
    ours, theirs = (BeautifulSoup(text, "html.parser") for text in (page, theirs))
    assert ours.find("img")["alt"] == "a picture without a description"
    ours.find("img")["alt"] = theirs.find("img")["alt"]
    assert ours == theirs
