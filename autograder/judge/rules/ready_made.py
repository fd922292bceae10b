"""Code that calls a ready-made function which it should implement earns nothing."""

from __future__ import annotations

from dataclasses import replace

from autograder.judge.rules.rule import Asking, Attempt, Rule, is_ready_made
from autograder.testing.functions import READY_MADE
from autograder.testing.student_errors import ReadyMade
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Failure


class ReadyMadeFunctions(Rule):
    """The process that answers notices such a call, and then gives no other answer. See the base class."""

    def before_calls(self, asking: Asking) -> Asking:
        """Watch some calls closely."""
        return replace(asking, closely=self.setting.plan.watched.get(self.setting.exercise, frozenset()))

    def after_tests(self, attempt: Attempt) -> Attempt:
        """Take all points for the first call of a listed function that an answer reports. Answers may be forged."""
        answers = [*attempt.planned.values(), *(call.answer for call in attempt.calls)]
        for answer in map(read, filter(is_ready_made, answers)):
            if isinstance(answer, Failure) and answer.text in self.setting.ready_made:
                return replace(attempt, ready_made=ReadyMade(READY_MADE.format(name=answer.text)))
        return attempt
