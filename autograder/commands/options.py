"""What several commands share: where student code runs, and what is said before the work begins."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.errors import AutograderError, MachineError
from autograder.sandbox.outside.launch import why_no_bubblewrap


class SandboxKind(StrEnum):
    """Where student code runs."""

    auto = "auto"
    bubblewrap = "bubblewrap"
    process = "process"


def must_be_writable(path: Path | None) -> None:
    """Raise `AutograderError` if `path` cannot be written: before the class is graded, not after."""
    if path is None or path == Path("-"):
        return
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise AutograderError(f"{path} cannot be written; name a file in a folder that is there")


def warn(kind: SandboxKind) -> None:
    """Say so if there is no sandbox; raises `MachineError` if one was insisted on."""
    reason = why_no_bubblewrap() if kind is not SandboxKind.process else "asked for with --sandbox process"
    if reason and kind is SandboxKind.bubblewrap:
        raise MachineError(reason)
    if reason:
        text = f"warning: student code runs in a process with limits, but without a sandbox: {reason}"
        Console(stderr=True, style="yellow").print(Text(text))
