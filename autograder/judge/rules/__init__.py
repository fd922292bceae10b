"""Rules by which an attempt's answers are judged, one in each file, see `rule.Rule`."""

from __future__ import annotations

from autograder.judge.rules.changed_arguments import ChangedArguments
from autograder.judge.rules.containers import Containers
from autograder.judge.rules.form import Form
from autograder.judge.rules.last_digits import LastDigits
from autograder.judge.rules.memory import Memory
from autograder.judge.rules.ready_made import ReadyMadeFunctions, not_counted, terms_of
from autograder.judge.rules.repeated_calls import RepeatedCalls
from autograder.judge.rules.rule import Rule

__all__ = ["CHECK", "GRADING", "not_counted", "terms_of"]
# In this order, since each sees what those before it have made of the tests.
GRADING: tuple[type[Rule], ...] = (
    ReadyMadeFunctions,
    Memory,
    LastDigits,
    Form,
    Containers,
    ChangedArguments,
    RepeatedCalls,
)
CHECK: tuple[type[Rule], ...] = (ReadyMadeFunctions, RepeatedCalls)  # without the reference's answers
