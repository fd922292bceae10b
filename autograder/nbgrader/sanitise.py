"""Sanitises a submitted notebook before it is stored: no untrusted metadata, no text that is too long to show.

`pages` turns its texts into HTML for formgrader and feedback pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

# Markdown parsers take time that grows with the square of a run's length; nobody writes a longer one.
_LONG_RUN = re.compile(r"([^\w\s])\1{200,}")
MAX_MARKDOWN = 20_000  # characters of a cell that are shown, some ten pages
MAX_SHOWN = 100_000  # characters of all cells together; the worst known text takes a quarter of a minute
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def sanitise(notebook: Any, trusted: Collection[str]) -> None:
    """Change `notebook` in place: only its cells stay, and only as much of their text as a page can show.

    trusted: sources of the course's own Markdown cells, which are not changed
    """
    notebook.metadata.clear()
    notebook.metadata.update({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    left = MAX_SHOWN
    for cell in notebook.cells:
        kept = {key: value for key, value in cell.metadata.items() if key == "nbgrader"}
        cell.metadata.clear()
        cell.metadata.update(kept)
        if cell.cell_type != "code" and cell.source not in trusted:
            cell.source = shortened(cell.source, left)
            left = max(0, left - len(cell.source))


def shortened(source: str, left: int = MAX_SHOWN) -> str:
    """At most `left` characters of Markdown, without the long runs that make parsers slow."""
    most = min(left, MAX_MARKDOWN)
    if len(source) > most:
        source = source[:most] + "\n\n... (the rest of this cell is not shown)"
    return _LONG_RUN.sub(lambda run: run[1] * 200, source)
