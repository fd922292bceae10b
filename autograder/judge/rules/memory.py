"""Calls with a limit of memory are made by themselves, and last, when late imports are done."""

from __future__ import annotations

from dataclasses import replace

from autograder.judge.rules.rule import Asking, Rule


class Memory(Rule):
    """What the kernel measures would include what other calls take. See the base class."""

    def before_calls(self, asking: Asking) -> Asking:
        """Measured calls come after all others, one at a time."""
        measured = [one for one in asking.together if one.call.is_alone]
        others = [one for one in asking.together if not one.call.is_alone]
        return replace(asking, together=others, alone=[*asking.alone, *measured])
