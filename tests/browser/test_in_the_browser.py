"""What an instructor sees of a student's notebook in JupyterLab, in real Chromium."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from tests.helpers.browser import Tab
from tests.helpers.kernel import once_more

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.slow


PICTURES = """from autograder import check, explore, heatmap, highlight, loss_curve
heatmap([[[0.25, 0.75], [1.0, 0.0]]], rows=["Money", "Bank"], columns=["Money", "Bank"], names=["head 0"])"""
MORE = {
    "the loss": "loss_curve([3.0, 0.2, 0.01], title='the loss')",
    "words": "highlight([[0.25, 0.75], [1.0, 0.0]], ['mira', 'wins'])",
    "a series": "explore(lambda n: heatmap([[1.0] * n]), n=(1, 2))",
    "a check": 'def softmax(x, axis=-1):\n    return x\ncheck("softmax")',
    "marked": 'import numpy as np\ndef causal_mask(n):\n    return np.ones((n, n), bool)\ncheck("causal_mask")',
}


@pytest.mark.catalogue
def test_untrusted_notebook_shows_pictures_as_png(jupyterlab, chromium):
    """JupyterLab removes SVGs from a notebook that somebody else ran. It shows the PNG, not the text of the SVG."""
    course, address = jupyterlab
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook.cells = [nbformat.v4.new_code_cell(code) for code in (PICTURES, *MORE.values())]
    once_more(NotebookClient(notebook, kernel_name="python3").execute)
    nbformat.write(notebook, course.root / "received.ipynb")
    tab = Tab(chromium, address, "received.ipynb")
    try:
        cells = tab.page.locator(".jp-Notebook-cell")
        assert tab.page.locator(".jp-OutputArea svg[role=img]").count() == 0
        for number, pictures in ((0, 1), (1, 1), (4, 0), (5, 2)):
            drawn = cells.nth(number).locator(".jp-OutputArea img")
            sync_api.expect(drawn).to_have_count(pictures)
            for picture in drawn.all():
                sync_api.expect(picture).to_be_visible()
                assert picture.evaluate("e => e.complete && e.naturalWidth > 50")
                assert picture.get_attribute("alt")
        assert "0.75" not in cells.nth(0).locator(".jp-OutputArea").inner_text()  # only the picture
        sync_api.expect(cells.nth(2)).to_contain_text("mira wins")
        sync_api.expect(cells.nth(4)).to_contain_text("✗ not yet")
        sync_api.expect(cells.nth(5)).to_contain_text("3 squares of yours differ (marked)")
        cells.nth(3).locator("summary").click()
        assert cells.nth(3).locator("details img").count() == 2
        sync_api.expect(cells.nth(3).locator("details img").first).to_be_visible()

        sync_api.expect(cells.nth(3)).to_contain_text("A slider: run this cell to move it.")

        tab.run("loss_curve([")  # an error, so that the next cell gets another number than before
        cell, _ = tab.run("import check, explore")  # cells that one runs are trusted: the SVG, and no PNG
        sync_api.expect(cell.locator("svg[role=img]")).to_be_visible()
        sync_api.expect(cell.locator(".jp-OutputArea img")).to_be_hidden()
    finally:
        tab.close()
    assert tab.complaints == []
