"""What `autograder doctor` says of one thing on this machine."""

from __future__ import annotations

from dataclasses import dataclass

GOOD, LESS, UNSAFE = "good", "less", "unsafe"


@dataclass(frozen=True)
class Condition:
    """One line: how it stands with something here, what that means for grading, and what helps if it is not good."""

    what: str
    state: str
    found: str
    means: str
    remedy: str = ""
