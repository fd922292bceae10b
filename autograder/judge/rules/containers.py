"""Container slips: the values of an answer are judged in the right containers, and the slip costs one fifth, once.

It costs something if one of the exercise's tests fails on the answers as they came: a suite may accept a list and an
array alike. Then each test whose calls have such an answer, and that passes in the right containers, fails and keeps
four fifths of its points. So a slip in every answer costs about a fifth of the exercise, whatever its tests look at,
and whatever else is wrong costs its own share. A fifth is more than a detail such as a dtype, because other code
could not use the answer as it is. It is less than a mistake about the subject, because the numbers are right.

Several answers in place of one are not corrected, since the grader chooses none. If a suite takes one of them, such as
the output of a module that also returns its weights, that is a container slip, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from msgspec import structs

from autograder.judge.rules.rule import Attempt, Rule, Setting, TestRun
from autograder.testing.callbacks import passes_functions
from autograder.testing.cases import alike
from autograder.testing.containers import NUMBER, are_several, in_place_of, order_in, repacked, slip_in
from autograder.testing.functions import Answering
from autograder.testing.mismatch import Mismatch
from autograder.testing.suite import Outcome, Test
from cellcage.protocol.calls import Answer, Call, Gives, Reply
from cellcage.values.value import parts_of

KEPT = 0.8  # of a test's points
COSTS = "returned {slip}. {why}, so this costs a fifth of the points."
RIGHT, UNJUDGED = "The values are right", "Nothing else is wrong by this test"  # which may judge no values
REASON = "container"


@dataclass(frozen=True)
class Slip:
    """A container slip in words, and its value in the right container, or as it came if there are several values.

    is_right: whether the values are the reference's
    """

    text: str
    value: object
    is_right: bool

    @classmethod
    def of(cls, text: str, value: object, expected: object) -> Slip:
        """The slip of a value in place of the expected one, or of several that may include it."""
        return cls(text, value, any(alike(one, expected) for one in (value, *parts_of(value))))


class Containers(Rule):
    """A student's answers in the containers of the reference's. See the base class.

    slips: the first container slip of each test that met one
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.slips: dict[Test, Slip] = {}

    def after_call(self, test: Test, call: Call, answer: Answer, ask: Answering) -> Answer:
        """The answer in the right container."""
        if not isinstance(answer, Reply) or call.build or call.gives is not Gives.VALUE:
            return answer
        if passes_functions(call) and _is_plain(answer.value):
            return answer  # the reference would call them, too, and a test may count their calls
        expected = self.setting.right(call)
        if not isinstance(expected, Reply):
            return answer
        value = repacked(answer.value, expected.value)
        if value is answer.value:
            if test not in self.slips and are_several(value, expected.value):
                self.slips[test] = Slip.of(in_place_of(value, expected.value), value, expected.value)
            return answer
        if call.seeds is not None:
            answer = _with_gradients(call, answer, expected, ask)
        if test not in self.slips:
            self.slips[test] = Slip.of(slip_in(answer.value, expected.value), value, expected.value)
        return structs.replace(answer, value=value)

    def after_tests(self, attempt: Attempt) -> Attempt:
        """A slip costs something if a test does not accept it. Then it costs the same share of all that met it."""
        runs = [
            replace(run, corrected=run.corrected or run.made) if run.test in self.slips else run for run in attempt.runs
        ]
        slipped = [run for run in runs if run.test in self.slips and run.outcome.error is None]
        is_accepted = all(self._passes_as_they_came(run) for run in slipped)
        costs = {} if is_accepted else {run.test: with_cost(run.outcome, self.slips[run.test]) for run in slipped}
        return replace(attempt, runs=runs).with_outcomes(costs)

    def _passes_as_they_came(self, run: TestRun) -> bool:
        """Whether a test passes on the answers in their own containers."""
        ask, rerun = run.as_they_came, run.rerun
        assert ask is not None and rerun is not None

        def answers(call: Call) -> Answer:
            """None if there are several answers in place of one."""
            answer = ask(call)
            if not isinstance(answer, Reply) or call.build or call.gives is not Gives.VALUE:
                return answer
            expected = self.setting.right(call)
            several = isinstance(expected, Reply) and are_several(answer.value, expected.value)
            return structs.replace(answer, value=None) if several else answer

        return rerun(answers)[0].error is None


def _with_gradients(call: Call, answer: Reply, expected: Reply, ask: Answering) -> Reply:
    """The reply with each seed at the value that it is for. In a dict, the values may stand in another order."""
    parts = expected.value if isinstance(expected.value, tuple | list) else [expected.value]
    order = order_in(answer.value, parts) if isinstance(answer.value, dict) else []
    if order == sorted(order) or call.seeds is None:
        return answer
    seeds = [call.seeds[order.index(place)] for place in range(len(order))]
    again = ask(structs.replace(call, seeds=seeds))
    return again if isinstance(again, Reply) else answer


def _is_plain(value: object) -> bool:
    """Whether a value is a number of Python's, or a list of several."""
    parts = value if type(value) is list and len(value) != 1 else [value]
    return all(type(part) in NUMBER for part in parts)


def with_cost(outcome: Outcome, slip: Slip) -> Outcome:
    """The outcome of a test that passed in the right containers, with the cost of the slip."""
    text = COSTS.format(slip=slip.text, why=RIGHT if slip.is_right else UNJUDGED)
    error = Mismatch(text, reason=REASON, got=slip.value, symptom="kind")
    return replace(outcome, error=error, kept=KEPT)
