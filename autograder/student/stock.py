"""Grading in the kernel, for courses that run nbgrader without our plugin.

The check cells of source notebooks import this `check` between nbgrader's hidden-test markers, so students never get
it. Hidden tests and points are the same as in the sandbox, but the student's code runs in the judge's own process, so
nothing protects the tests from it.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from autograder.course.assignments import find_course
from autograder.explain.explaining import judge
from autograder.explain.material import material_of
from autograder.report import ExerciseResult
from autograder.reports import rubric
from autograder.reports.rubric import name_of
from autograder.testing.functions import Here


class PartialCredit(float):
    """The points of an exercise. If this is the result of a cell, nbgrader takes it as partial credit."""

    result: ExerciseResult

    def __repr__(self) -> str:
        return rubric.points(self)

    def _repr_html_(self) -> str:
        return rubric.as_html(self.result)


_material = functools.cache(material_of)


def check(exercise: Any) -> PartialCredit:
    """Judge an exercise with the hidden tests, as the caller's names define it.

    exercise: its name, or the function itself
    """
    name = name_of(exercise)
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    names = frame.f_back.f_globals
    assignment = find_course().of_exercise(name)
    # Earlier exercises are judged, too: those that lost marks are replaced by the reference here.
    index = [exercise.name for exercise in assignment.by_suite].index(name)
    exercises = assignment.by_suite[: index + 1]
    material = _material(assignment)
    results = judge(material, Here(names), exercises)
    points = PartialCredit(results[-1].score)
    points.result = results[-1]
    return points
