"""Pictures and tables that a cell shows, beside its text: figures of Matplotlib, and what has a form in HTML.

They are bytes of untrusted code. The other side checks their sizes, and cleans the HTML.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator, Mapping
from typing import Any

PICTURE, TABLE = "image/png", "text/html"
MOST = 4  # of one cell
LARGEST = 300_000  # bytes of one; a figure has some 20 kB
DPI = 72
Shown = list[tuple[str, bytes]]


class RichOutput:
    """Collects what the present cell shows. found: each with its kind, a MIME type"""

    def __init__(self) -> None:
        self.found: Shown = []

    def take(self, forms: Mapping[str, Any]) -> bool:
        """Keep the picture, or the HTML, among the forms of a value. False if it has neither."""
        for kind in (PICTURE, TABLE):
            form = forms.get(kind)
            if isinstance(form, str | bytes):
                self._keep(kind, form.encode() if isinstance(form, str) else form)
                return True
        return False

    def publish(self, data: Mapping[str, Any], metadata: Any = None, **more: Any) -> None:
        """What `display` calls."""
        if not self.take(data):
            print(data.get("text/plain", ""))

    def take_open_figures(self) -> None:
        """Keep and close the figures that are still open, as a notebook does after each cell."""
        if plt := sys.modules.get("matplotlib.pyplot"):
            for number in plt.get_fignums():
                self._keep(PICTURE, _png(plt.figure(number)))
            plt.close("all")

    def _keep(self, kind: str, form: bytes) -> None:
        if (kind, form) not in self.found and len(self.found) < MOST and len(form) <= LARGEST:
            self.found.append((kind, form))


def _png(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, bbox_inches="tight")
    return file.getvalue()


@contextlib.contextmanager
def collected(shell: Any) -> Iterator[RichOutput]:
    """Collect what code in the block shows."""
    from IPython.core.interactiveshell import InteractiveShell

    rich, formatter = RichOutput(), shell.display_formatter
    types, formatter.active_types = formatter.active_types, [*formatter.active_types, PICTURE, TABLE]
    formatter.formatters[PICTURE].for_type_by_name("matplotlib.figure", "Figure", _png)
    shell.displayhook.rich, publish = rich, shell.display_pub.publish
    shell.display_pub.publish = rich.publish
    instance, InteractiveShell._instance = InteractiveShell._instance, shell  # `display` looks for it there
    try:
        yield rich
        rich.take_open_figures()
    finally:
        shell.displayhook.rich, shell.display_pub.publish = None, publish
        formatter.active_types, InteractiveShell._instance = types, instance
