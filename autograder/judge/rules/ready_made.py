"""Code that calls a ready-made function which it should implement earns nothing.

A mention costs no points; a person should look at it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.course import content
from autograder.judge.notebook import defines
from autograder.judge.rules.rule import Asking, Attempt, Rule, is_noticed
from autograder.report import Finding
from autograder.testing.student_errors import NotCounted
from cellcage.notebook_calls import Terms, read
from cellcage.protocol.calls import Failure
from cellcage.protocol.messages import Watched

READY_MADE = (
    "calls the ready-made `{name}`. Writing that yourself is the exercise, so this earns no points. Replace the call "
    "with steps of your own; in another cell you may compare with it."
)


class ReadyMadeFunctions(Rule):
    """The process that answers notices such a call, and then gives no other answer. See the base class."""

    @staticmethod
    def in_text(cells: Sequence[str], terms: Terms) -> list[Finding]:
        """Mentions: listed functions that the exercise's cells use as an attribute, or import by name."""
        found = {name for source in cells if defines(terms.group, source) for name in _used_by_name(source)}
        listed = (name.rpartition(".")[2] for name in terms.watch.functions)
        return [Finding("mention", name) for name in dict.fromkeys(listed) if name in found]

    def before_calls(self, asking: Asking) -> Asking:
        """Watch some calls closely."""
        return replace(asking, closely=self.setting.plan.watched.get(self.setting.exercise, frozenset()))

    def after_tests(self, attempt: Attempt) -> Attempt:
        """Take all points for the first call of a listed function that an answer reports. Answers may be forged."""
        answers = [*attempt.planned.values(), *(call.answer for call in attempt.calls)]
        for answer in map(read, filter(is_noticed, answers)):
            if isinstance(answer, Failure) and answer.text in self.setting.calls.terms.watch.functions:
                return replace(attempt, not_counted=not_counted(answer.text))
        return attempt


def terms_of(exercise: Path) -> Terms:
    """The terms on which an exercise's code is called. exercise: its folder. Raises `CourseError`."""
    return Terms(group=exercise.name, watch=Watched(content.ready_made(exercise)))


def not_counted(noticed: str) -> NotCounted:
    """Why answers do not count. noticed: the listed function that was called"""
    return NotCounted(READY_MADE.format(name=noticed))


def _used_by_name(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the cell has magics, or does not run
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
