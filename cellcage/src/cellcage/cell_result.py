"""What running one cell gives, as plain text: it can be kept and passed on without reading any value."""

from __future__ import annotations

from msgspec import Struct


class CellResult(Struct, frozen=True):
    """The result of running one cell: its output, its exception, and why it was stopped.

    error, text: type and text of the exception
    lines: traceback lines in the notebook's own code, each as (function, line number in the cell, text)
    ran_out_of_time: it was stopped or interrupted because it took too long
    rich: pictures and HTML, each as (MIME type, bytes), if they were asked for; untrusted as all else
    """

    printed: str = ""
    error: str = ""
    text: str = ""
    lines: tuple[tuple[str, int, str], ...] = ()
    stopped: str | None = None
    ran_out_of_time: bool = False
    rich: tuple[tuple[str, bytes], ...] = ()
