"""Answers that differ from the recorded ones by rounding are as good, unless a test looks at the last digits."""

from __future__ import annotations

from dataclasses import replace

from autograder.judge.rules.rule import Asking, Rule
from autograder.testing.comparing import differs_by_rounding
from autograder.testing.plan import PlannedCall
from autograder.testing.suite import Test
from cellcage.notebook_calls import Unread, read
from cellcage.protocol.calls import answer_of

EXACTLY = "last_digits"  # the mark of a test that looks at them


class LastDigits(Rule):
    """See the module."""

    def before_calls(self, asking: Asking) -> Asking:
        """Compare with the recorded answers up to rounding."""
        compared: dict[tuple[PlannedCall, Unread | None], bool] = {}

        def is_right(test: Test, one: PlannedCall, got: Unread | None) -> bool:
            if got == one.answer or EXACTLY in test.marks:
                return got == one.answer
            if not isinstance(got, bytes) or len(got) != len(one.answer):
                return False
            if (one, got) not in compared:
                compared[one, got] = differs_by_rounding(read(got), answer_of(one.answer))
            return compared[one, got]

        return replace(asking, is_right=is_right)
