"""A line of what `autograder doctor` reports."""

from __future__ import annotations

from dataclasses import dataclass

GOOD, LESS, UNSAFE = "good", "less", "unsafe"


@dataclass(frozen=True)
class Condition:
    """One thing that was looked at on this machine.

    state: `GOOD`, `LESS` or `UNSAFE`
    found: what is here
    means: what that means for grading
    remedy: what helps if it is not good
    """

    what: str
    state: str
    found: str
    means: str
    remedy: str = ""
