"""`check("softmax")`: the visible checks of an exercise, run on what the notebook defines."""

from __future__ import annotations

import functools
import inspect
import os
from dataclasses import replace
from typing import Any

from autograder import content
from autograder.course import Exercise
from autograder.errors import MachineError
from autograder.judging.judge import judge
from autograder.judging.picture import draw
from autograder.judging.student import Stopped
from autograder.judging.suite import Suite
from autograder.judging.transport import Behind, Here
from autograder.notebook.calls import CodeOf, exercises_below, in_kernel
from autograder.notebook.show import name_of, show
from autograder.notebook.verdict import Progress, Verdict, passed
from autograder.report import ExerciseResult

# What passed in this session; it ends with the kernel.
_passed: set[str] = set()


class CheckFailed(Exception):
    """Raised where nbgrader's Validate runs the notebook, so that it names the cell; never in ordinary work."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return [str(self)]


def check(exercise: Any) -> None:
    """Run the visible checks of `exercise` (its name, or the function itself) and show what they say.

    Raises `UnknownExercise` where there is no exercise of that name.
    """
    name = name_of(exercise)
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    verdict = examine(name, frame.f_back.f_globals)
    (_passed.add if verdict.passed else _passed.discard)(name)
    show(replace(verdict, progress=Progress.of(name, _passed)))
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not verdict.passed:
        raise CheckFailed(verdict.text())


def examine(name: str, names: dict[str, Any]) -> Verdict:
    """The verdict on the exercise `name` as `names` define it. Raises `UnknownExercise`."""
    content.assignment_of(name)
    if name in names:
        begin = f"Replace `raise NotImplementedError()` in the cell of `{name}`, run it, then run this again."
        first_step = f'not started yet. {begin} `hint("{name}")` gives a first nudge.'
    else:
        section = content.hint_for(name).section
        first_step = f"not started yet. Run the cell that defines `{name}` first, below the heading “{section}”."
    return judged(name, InKernel(names, None), first_step, in_kernel(names))


def judged(name: str, transport: Behind | Here, first_step: str, code_of: CodeOf) -> Verdict:
    """The verdict on the exercise `name` behind `transport`, judged by its visible checks alone.

    Where it fails, the exercises that its code calls are checked, too: the first that fails is the one to start with.
    """
    try:
        result = _result(name, transport)
        verdict = Verdict(result, first_step, draw(transport, result, content.example_for(name)))
        return verdict if verdict.passed else replace(verdict, culprit=_culprit(name, transport, code_of))
    except MachineError as error:
        return Verdict(ExerciseResult(name, (), 1.0, started=False), str(error))


def _culprit(name: str, transport: Behind | Here, code_of: CodeOf) -> ExerciseResult | None:
    """The result of the earliest exercise that the code of `name` calls and that fails; None where none does."""
    results = (_result(earlier, transport) for earlier in exercises_below(name, code_of))
    return next((result for result in results if not passed(result)), None)


def _result(name: str, transport: Behind | Here) -> ExerciseResult:
    """One exercise judged by its visible checks: all there is of `judge` on the students' side."""
    return judge(_suite(content.assignment_of(name)), transport, [Exercise(name, 1.0)], None)[0]


class InKernel(Here):
    """The notebook's own names. The stop button ends the whole check, and not the one call it met."""

    interrupted = False

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform a request; raises `Stopped` from the call on that was interrupted."""
        if self.interrupted:
            raise Stopped("not tried, since you stopped the check.")
        reply = super().__call__(request)
        error = reply.get("error")
        if error and error["kind"] == "KeyboardInterrupt":
            self.interrupted = True
            where = "".join(
                f" In {function}, line {number}: `{line.strip()}`." for function, number, line in error["lines"]
            )
            raise Stopped(f"was stopped by you.{where} Is there a loop that never ends?")
        return reply


@functools.cache
def _suite(assignment: str) -> Suite:
    return Suite(content.suite_file(assignment))
