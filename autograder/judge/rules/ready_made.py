"""Code that calls a ready-made function which it should implement earns nothing.

A mention costs no points; a person should look at it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder.judge.notebook import defines
from autograder.judge.rules.rule import Asking, Attempt, Rule, is_ready_made
from autograder.report import Finding
from autograder.testing.student_errors import READY_MADE, ReadyMade
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


def mentions(cells: Sequence[str], exercise: str, listed: Sequence[str]) -> list[Finding]:
    """The listed functions that the cells which define `exercise` use as an attribute, or import by name."""
    found = {name for source in cells if defines(exercise, source) for name in _used_by_name(source)}
    names = dict.fromkeys(last for name in listed if (last := name.rpartition(".")[2]) in found)
    return [Finding("mention", name) for name in names]


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
