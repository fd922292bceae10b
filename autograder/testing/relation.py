"""How a wrong answer may follow from the right one, as a course enters it in `relations.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class OfAnswer:
    """A relation that shows in each single answer.

    find: gives the evidence in one sentence for a call that was compared (see `explain.differences.ComparedCall`);
        empty if it does not hold
    """

    name: str
    find: Callable[[Any], str]
    hint: str
