"""A course's secret, from which each submission's test inputs are derived (`testing.variants`). No student gets it.

It is created when a course is first graded into a gradebook, and is stored beside that. Without the file (a fresh
clone, `autograder grade` alone), the secret is empty.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

FILE = ".autograder.secret"
BYTES = 32


def secret_of(root: Path) -> str:
    """The secret of the course at `root`; empty if there is no readable one."""
    try:
        return (root / FILE).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def make_secret(root: Path) -> None:
    """Create the course's secret, readable only by its owner, unless it exists or the folder is read-only."""
    with contextlib.suppress(OSError):
        descriptor = os.open(root / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(BYTES) + "\n")
