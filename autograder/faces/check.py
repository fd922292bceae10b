"""`check("softmax")`: the visible checks of an exercise, run on what the notebook defines."""

from __future__ import annotations

import functools
import inspect
import os
from pathlib import Path
from typing import Any

from autograder.course import Exercise
from autograder.errors import CourseError
from autograder.faces import rubric
from autograder.marking.mark import Here, judge
from autograder.marking.report import ExerciseResult
from autograder.marking.suite import Suite

VISIBLE = Path(__file__).resolve().parents[1] / "visible"


class CheckFailed(Exception):
    """Raised where nbgrader's Validate runs the notebook, so that it names the cell; never in ordinary work."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return [str(self)]


class Verdict:
    """The outcome of one `check`: a table in JupyterLab, text in a plain console."""

    def __init__(self, result: ExerciseResult) -> None:
        self.result = result

    @property
    def passed(self) -> bool:
        """Did every visible check pass?"""
        return all(test.state == "passed" for test in self.result.tests)

    def __repr__(self) -> str:
        if not self.result.started:
            return f"{self.result.name}: not started yet. {_first_step(self.result)}"
        lines = [f"{self.result.name}: {self._count()}"]
        for test in self.result.tests:
            lines.append(f"  {rubric.MARKS[test.state]:<12} {test.sentence}")
            lines += [f"               {test.message}"] if test.message else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return rubric.checks_as_html(self.result, self._count(), _first_step(self.result))

    def _count(self) -> str:
        passed = sum(test.state == "passed" for test in self.result.tests)
        return f"{passed} of {len(self.result.tests)} visible checks pass"


@functools.cache
def _suites() -> tuple[Suite, ...]:
    return tuple(Suite(path) for path in sorted(VISIBLE.glob("test_*.py")))


def check(exercise: Any) -> None:
    """Run the visible checks of `exercise` (its name, or the function itself) and show what they say.

    Raises `CourseError` where there is no exercise of that name.
    """
    name = exercise if isinstance(exercise, str) else getattr(exercise, "__name__", str(exercise))
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    verdict = examine(name, frame.f_back.f_globals)
    _show(verdict)
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not verdict.passed:
        raise CheckFailed(repr(verdict))


def examine(name: str, names: dict[str, Any]) -> Verdict:
    """The verdict on the exercise `name` as `names` define it."""
    suite = next((s for s in _suites() if name in s.exercises()), None)
    if suite is None:
        known = [exercise for s in _suites() for exercise in s.exercises()]
        raise CourseError(f"there are no visible checks for {name!r}; there are some for {', '.join(known)}")
    return Verdict(judge(suite, Here(names, None), [Exercise(name, 1.0)], None)[0])


def _first_step(result: ExerciseResult) -> str:
    message = result.tests[0].message if result.tests else ""
    if "defines no" in message:
        return f"Run the cell that defines {result.name} first."
    return f"Replace `raise NotImplementedError()` in the cell of {result.name}, run it, then run this again."


def _show(verdict: Verdict) -> None:
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(verdict)
        return
    if get_ipython() is None:  # type: ignore[no-untyped-call]
        print(verdict)
    else:
        display(verdict)  # type: ignore[no-untyped-call]
