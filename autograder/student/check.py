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

from autograder.course.assignments import Exercise
from autograder.course.content import Visible, course_relations, ready_made, visible_around
from autograder.errors import MachineError
from autograder.explain import visible_fingerprints
from autograder.explain.explaining import judge
from autograder.explain.material import Material, example_in
from autograder.judge.attempt import JudgedNames
from autograder.report import ExerciseResult
from autograder.reports.rubric import name_of
from autograder.student import own_lines, waiting
from autograder.student.check_result import CheckResult, Progress, listing, passed
from autograder.student.kernel import InKernel, exercises_below, why_not_run
from autograder.student.progress import remember
from autograder.testing.suite import Suite

# Exercises that pass their check. The set lives as long as the kernel.
passed_here: set[str] = set()


class CheckFailed(Exception):
    """Raised only while nbgrader's Validate runs the notebook, so that Validate names the cell."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return [str(self)]


def check(exercise: Any = None, answer: Any = None) -> None:
    """Run the visible tests of `exercise`, and show what they say. If all pass, ask about a line of the code.

    exercise: its name, or the function itself; without it, all exercises are listed
    answer: to the question that the last check asked; then no test runs

    Raises `UnknownExercise` if no exercise has that name.
    """
    if exercise is None:
        print(listing("check", Path.cwd()))
        return
    name = name_of(exercise)
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    visible = visible_around(Path.cwd(), name)
    from IPython.display import display  # its import takes long, and the command line does not need it

    if answer is not None:
        display(own_lines.reply(name, answer))
        return
    for sentence in visible.passed_over:
        print(sentence)
    result = examine(name, frame.f_back.f_globals, visible)
    (passed_here.add if result.passed else passed_here.discard)(name)
    is_new = remember(result, Path.cwd())
    display(replace(result, progress=Progress.of(name, passed_here, visible)))
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not result.passed:
        raise CheckFailed(result.text())
    if is_new or (result.passed and name in own_lines.unanswered):
        own_lines.ask(name, frame.f_back.f_globals, visible_material(name, visible))


def examine(name: str, names: dict[str, Any], visible: Visible | None = None) -> CheckResult:
    """Check the exercise `name` as `names` define it. Raises `UnknownExercise`.

    visible: the course's visible tests and examples; those of the installed course if not given
    """
    visible = visible or Visible()
    visible.assignment_of(name)
    if reason := why_not_run(name, names):  # the name may still have the value of an older version of the cell
        return _not_judged(name, reason, visible)
    if name in names:
        begin = f"Replace `raise NotImplementedError()` in the cell of `{name}`, run it, then run this again."
        first_step = f"not started yet. {begin} {visible.nudge(name)}".strip()
    else:
        where = f", below the heading “{visible.hint_for(name).section}”" if visible.nudge(name) else ""
        first_step = f"not started yet. Run the cell that defines `{name}` first{where}."
    return judged(name, InKernel(names), first_step, visible, names)


def judged(
    name: str, names: JudgedNames, first_step: str, visible: Visible, definitions: Mapping[str, object]
) -> CheckResult:
    """Judge the exercise `name` by its visible tests, with the answers of `names`.

    If it fails, the exercises that it calls are judged, too, and the first of them that fails is the `culprit`.

    first_step: shown if the exercise is not started
    definitions: the notebook's functions and classes, for what they call and how their parameters are called
    """
    try:
        result = _result(name, names, visible, definitions)
        printed: io.StringIO | None = getattr(names, "printed", None)
        checked = CheckResult(result, first_step, visible, printed=printed.getvalue() if printed else "")
        if checked.passed:
            return checked
        exercises = [exercise for exercises in visible.assignments.values() for exercise in exercises]
        below = exercises_below(name, definitions, exercises)
        results = (_result(exercise, names, visible, definitions) for exercise in below)
        return replace(checked, culprit=next((result for result in results if not passed(result)), None))
    except MachineError as error:
        needs_pytorch = waiting.in_browser() and str(error).startswith(waiting.PYTORCH)
        return _not_judged(name, waiting.NOT_IN_BROWSER if needs_pytorch else str(error), visible)


def _not_judged(name: str, reason: str, visible: Visible) -> CheckResult:
    return CheckResult(ExerciseResult(name, (), 1.0, started=False), reason, visible)


def _result(name: str, names: JudgedNames, visible: Visible, definitions: Mapping[str, object]) -> ExerciseResult:
    example = example_in(visible.picture_of(name))
    material = visible_material(name, visible)
    material = replace(material, examples={name: example} if example else {})
    return judge(material, names, [Exercise(name, 1.0)], definitions)[0]


def visible_material(name: str, visible: Visible) -> Material:
    """The material that students have for the assignment of the exercise `name`, loaded again after each save."""
    files = visible.checks(visible.assignment_of(name))
    shared = files[0].parents[1].glob("shared_*.py")
    return _loaded(files, tuple(path.stat().st_mtime_ns for path in (*files, *shared)))


@functools.cache
def _loaded(files: tuple[Path, ...], saved: tuple[int, ...]) -> Material:
    """saved: when each file was saved last; part of the cache's key"""
    folder = files[0].parents[1]
    return Material(
        Suite(files),
        relations=course_relations(folder.parent),
        visible_names=visible_fingerprints.read(folder),
        ready_made={path.parent.name: ready_made(path.parent) for path in files},
    )


waiting.begin()
