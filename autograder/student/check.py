"""`check("median")`: the visible tests of an exercise, run on what the notebook defines."""

from __future__ import annotations

import functools
import inspect
import io
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.content import Visible, course_relations, settings_of, visible_around
from autograder.course import Exercise
from autograder.diagnosis import visible_fingerprints
from autograder.errors import MachineError
from autograder.judge.attempt import Names
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.report import ExerciseResult
from autograder.reports.html import name_of
from autograder.sandbox.protocol.calls import Call, Failure, Kind, Reply
from autograder.student import waiting
from autograder.student.calls import CodeOf, exercises_below, in_kernel
from autograder.student.check_result import CheckResult, Progress, passed
from autograder.student.forbidden_here import noticed
from autograder.student.kernel_cells import why_not_run
from autograder.student.listing import listing
from autograder.student.progress import remember
from autograder.testing.callbacks import Questions
from autograder.testing.example import example_in
from autograder.testing.local import CallsHere, Here
from autograder.testing.session import Suite
from autograder.testing.student import BY_HAND, Stopped

# What passed in this session; it ends with the kernel.
_passed: set[str] = set()


class CheckFailed(Exception):
    """Raised where nbgrader's Validate runs the notebook, so that it names the cell; never in ordinary work."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return [str(self)]


def check(exercise: Any = None) -> None:
    """Run the visible tests of `exercise`, and show what they say.

    exercise: its name, or the function itself; without it, what there is is listed

    Raises `UnknownExercise` where there is no exercise of that name.
    """
    if exercise is None:
        print(listing("check", Path.cwd()))
        return
    name = name_of(exercise)
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    visible = visible_around(Path.cwd(), name)
    for sentence in visible.passed_over:
        print(sentence)
    verdict = examine(name, frame.f_back.f_globals, visible)
    (_passed.add if verdict.passed else _passed.discard)(name)
    remember(verdict, Path.cwd())
    from IPython.display import display  # takes long to import: the command line goes without

    display(replace(verdict, progress=Progress.of(name, _passed, visible)))
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not verdict.passed:
        raise CheckFailed(verdict.text())


def examine(name: str, names: dict[str, Any], visible: Visible | None = None) -> CheckResult:
    """The verdict on the exercise `name` as `names` define it. Raises `UnknownExercise`.

    visible: what it is checked by; what the kit has if not given
    """
    visible = visible or Visible()
    visible.assignment_of(name)
    if why := why_not_run(name, names):  # what an older version of the cell has defined is not judged
        return CheckResult(ExerciseResult(name, (), 1.0, started=False), why, visible=visible)
    if name in names:
        begin = f"Replace `raise NotImplementedError()` in the cell of `{name}`, run it, then run this again."
        first_step = f'not started yet. {begin} `hint("{name}")` gives a first nudge.'
    else:
        has_hint = visible.picture_of(name).with_name("hint.toml").is_file()  # a minimal exercise has none
        where = f", below the heading “{visible.hint_for(name).section}”" if has_hint else ""
        first_step = f"not started yet. Run the cell that defines `{name}` first{where}."
    return judged(name, InKernel(names, _watched()), first_step, visible, in_kernel(names), names)


def judged(
    name: str,
    names: Names,
    first_step: str,
    visible: Visible,
    code_of: CodeOf,
    signatures: Mapping[str, Any] | None = None,
) -> CheckResult:
    """The verdict on the exercise `name` as `names` answer, judged by its visible tests alone.

    If it fails, the exercises that its code calls are checked, too: the first that fails is the one to start with.
    signatures: names whose parameters messages speak of
    """
    try:
        result = _result(name, names, visible, signatures)
        stream = getattr(names, "printed", None)  # some keep what the code prints
        printed = stream.getvalue() if stream else ""
        verdict = CheckResult(result, first_step, result.picture, visible=visible, printed=printed)
        if verdict.passed:
            return verdict
        # The earliest exercise that this one's code calls and that fails.
        known = [exercise for exercises in visible.assignments().values() for exercise in exercises]
        results = (_result(one, names, visible, signatures) for one in exercises_below(name, code_of, known))
        return replace(verdict, culprit=next((result for result in results if not passed(result)), None))
    except MachineError as error:
        return CheckResult(ExerciseResult(name, (), 1.0, started=False), str(error), visible=visible)


def _result(name: str, names: Names, visible: Visible, signatures: Mapping[str, Any] | None) -> ExerciseResult:
    """One exercise judged by its visible tests: all there is of `judge` on the students' side."""
    example = example_in(visible.picture_of(name))
    checks, saved = _checks(name, visible)
    examples = {name: example} if example else {}
    suite = _suite(checks, saved)
    if isinstance(names, InKernel):
        names.watched = (*_watched(), *suite.watched)
    material = Material(
        suite,
        examples=examples,
        relations=course_relations(visible.folder),
        visible_names=_names_kept(checks[0].parents[1], saved),
    )
    return judge(material, names, [Exercise(name, 1.0)], signatures)[0]


def watched_in(name: str, visible: Visible) -> tuple[str, ...]:
    """What is forbidden in the assignment that has the exercise `name`, and not in all; see `content.Forbidden`."""
    return _suite(*_checks(name, visible)).watched


def _checks(name: str, visible: Visible) -> tuple[tuple[Path, ...], tuple[int, ...]]:
    """The files of visible tests of the assignment that has the exercise `name`, and when each was saved."""
    checks = visible.checks(visible.assignment_of(name))
    return checks, tuple(path.stat().st_mtime_ns for path in (*checks, *checks[0].parents[1].glob("shared_*.py")))


def _watched() -> tuple[str, ...]:
    return tuple(settings_of().forbidden.watched)


PRINTED = 20_000  # characters that are kept of what an exercise prints


class Printed(io.StringIO):
    """The first characters of what is printed."""

    def write(self, text: str) -> int:
        """Keep what there is room for; the answer is the number of characters given, as every stream says."""
        super().write(text[: max(0, PRINTED - self.tell())])
        return len(text)


class InKernel(Here):
    """The notebook's own names, and what they print.

    The stop button ends the whole check, and not the one call it met.
    """

    printed: Printed = Printed()

    def begin(self, questions: Questions) -> CallsInKernel:
        """Calls of one exercise."""
        calls = CallsInKernel(self, questions)
        calls.printed = self.printed = Printed()
        return calls


class CallsInKernel(CallsHere):
    """Calls in the kernel; from the call on that was interrupted, none is made."""

    stopped: Stopped | None = None

    def _perform(self, call: Call) -> Reply | Failure:
        if self.stopped is None:
            with noticed(self._here.watched) as seen:
                answer = super()._perform(call)
            if seen:  # told as grading tells it
                return Failure(Kind.FORBIDDEN, seen[0])
            if not isinstance(answer, Failure) or answer.error != "KeyboardInterrupt":
                return answer
            where = "".join(f" In {one.function}, line {one.number}: `{one.text.strip()}`." for one in answer.lines)
            self.stopped = Stopped(f"was stopped by you.{where} Is there a loop that never ends?")
            self.stopped.cause = BY_HAND
        raise self.stopped


@functools.cache
def _names_kept(folder: Path, saved: tuple[int, ...]) -> visible_fingerprints.VisibleNames:
    """What is kept beside an assignment's visible tests; read anew after each save"""
    return visible_fingerprints.read(folder)


@functools.cache
def _suite(checks: tuple[Path, ...], saved: tuple[int, ...]) -> Suite:
    """saved: when each was; whoever writes checks sees them anew after each save"""
    return Suite(checks)


waiting.in_this_notebook()
