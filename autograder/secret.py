"""A course's secret, by which a submission's inputs are chosen (`testing.variants`). No student gets it.

It is made when a course is first graded into a gradebook, and lies beside that. Where it is not (a fresh clone,
`autograder grade` alone), the secret is empty.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

FILE = ".autograder.secret"
BYTES = 32


def secret_of(root: Path) -> str:
    """The secret of the course at `root`; empty if it has none that can be read."""
    try:
        return (root / FILE).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def make_secret(root: Path) -> None:
    """Make the course's secret, readable to its owner alone, if there is none and the folder can be written."""
    with contextlib.suppress(OSError):
        descriptor = os.open(root / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(BYTES) + "\n")
