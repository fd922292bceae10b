"""What to warn of before anything is graded here."""

from __future__ import annotations

from pathlib import Path

from cellcage.machine import choose_backend, shown_with


def what_is_unsafe(kind: str, root: Path) -> str | None:
    """One sentence if there is no sandbox, if it isolates less than it could, or if student code can read the course.

    kind: see `choose_backend`; root: the course's folder
    Raises `MachineError` as `choose_backend` does.
    """
    backend, reason = choose_backend(kind)
    if not backend.isolates:
        reason = reason or "that is what was asked for"
        reason = f"student code runs in a process with limits, but without a sandbox: {reason}"
    elif place := shown_with(root):
        reason = f"student code can read the course, since it lies in {place}, with the libraries"
    return reason and f"{reason} (`autograder doctor` says what helps)"
