"""Making a submitted notebook harmless to look at.

formgrader and feedback pages open in an instructor's browser with the instructor's rights. Student code's output is
text already (see `nbgrader.Mark`); what is left are markdown and raw cells, metadata, and formulas.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

# A picture that was pasted into the notebook stays; one that would be fetched from somewhere is shown as text.
_FETCHED_PICTURE = re.compile(r"!\[(?![^\]\n]{0,300}\]\(attachment:)")
# A link leads to a page, an address, a pasted picture or a place in the notebook; any other kind is shown as text.
_GOOD = r"(?:https?://|mailto:|attachment:|#)"
_ODD_LINK = re.compile(rf"\](\(\s*(?!{_GOOD}))", re.IGNORECASE)
_ODD_REFERENCE = re.compile(rf"^([ \t>*+.\d-]*)\[([^\]\n]*)\]:(?=\s*(?!{_GOOD})\S)", re.IGNORECASE | re.MULTILINE)
# MathJax commands that make links, styles and classes; a formula needs none of them.
_ACTIVE_FORMULA = re.compile(r"\\(href|class|cssId|style|require|data)\b")
# Markdown's readers take the square of a run's length; nobody writes a longer one.
_LONG_RUN = re.compile(r"([^\w\s])\1{200,}")
MAX_MARKDOWN = 20_000  # characters of a cell that are shown, some ten pages
MAX_SHOWN = 200_000  # characters of all cells together
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def make_harmless(notebook: Any, trusted: Collection[str]) -> None:
    """Change `notebook` in place so that nothing in it acts or loads when shown as HTML.

    trusted: sources of the course's own markdown cells, which stay as they are
    """
    notebook.metadata.clear()
    notebook.metadata.update({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    left = MAX_SHOWN
    for cell in notebook.cells:
        kept = cell.metadata.get("nbgrader")
        cell.metadata.clear()
        if kept is not None:
            cell.metadata["nbgrader"] = kept
        if cell.cell_type != "code" and cell.source not in trusted:
            cell.source = harmless_markdown(cell.source, left)
            left = max(0, left - len(cell.source))


def harmless_markdown(source: str, left: int = MAX_SHOWN) -> str:
    """Markdown without HTML of its own, pictures from elsewhere, or links and formulas that act; it reads the same.

    At most `left` characters of it, and no more than a reader of Markdown gets through in a second.
    """
    most = min(left, MAX_MARKDOWN)
    if len(source) > most:
        source = source[:most] + "\n\n... (the rest of this cell is not shown)"
    source = _LONG_RUN.sub(lambda run: run[1] * 200, source.replace("<", "&lt;"))
    source = _FETCHED_PICTURE.sub("! [", source)
    source = _ODD_LINK.sub(r"] \1", source)
    source = _ODD_REFERENCE.sub(r"\1[\2] :", source)
    return _ACTIVE_FORMULA.sub(r"\\text{\1}", source)
