"""Exercises that cells of plain asserts judge, as nbgrader does: run among the student's names, in the sandbox.

The notebook runs once more from its beginning, in a process of its own, with each test cell as its author wrote it, at
its place. Nothing of that run comes out but how each test cell ended: what it prints, and what later cells find of it,
stand on no page. A cell that ends its process, or must be ended, is left out, and the others run again without it.

The student's code runs in the same process as the asserts: it can read them while they run, and change what they see.
What it cannot do is answer beforehand: an answer counts if it has the number that came with the test cell.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.assert_cells import AssertCell
from autograder.course import Exercise
from autograder.judge.notebook import Fresh, Notebook
from autograder.messages import Order
from autograder.report import CellResult, ExerciseResult, State, TestResult
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames, messages
from autograder.testing import forbidden
from autograder.text import one_line

SENTENCE = "The asserts of this cell hold. (They run beside the code that they test.)"
STUB = "NotImplementedError"
WARNED = "It wrote to standard error, such as a warning; nbgrader counts that as 0."
NOT_RUN = "The notebook did not get as far as this cell."


def judge_assert_cells(
    known: Mapping[str, AssertCell],
    order: Order,
    fresh: Fresh,
    answered: Mapping[str, forbidden.Answered],
) -> dict[str, ExerciseResult]:
    """Results by exercise. Raises `MachineError`."""
    cells, tests = _with_tests(known, order)
    notebook = _Tested(cells, tests, order.limits, fresh, answered)
    with notebook:
        found = {name: notebook.ending_of(number) for number, name in tests.items()}
    exercises = [one for one in order.exercises if one.name in known]
    return {one.name: _result(one, known[one.name], *found[one.name]) for one in exercises}


def _with_tests(known: Mapping[str, AssertCell], order: Order) -> tuple[list[str], dict[int, str]]:
    """The cells with the author's tests in them, and which exercise each is of. What is missing comes at the end."""
    names = {cell.grade_id: name for name, cell in known.items()}
    tests = {number: names[grade_id] for number, grade_id in order.locked if grade_id in names}
    cells = list(order.cells)
    for name in known:
        if name not in tests.values():
            tests[len(cells)] = name
            cells.append("")
    for number, name in tests.items():
        cells[number] = known[name].source
    return cells, tests


class _Tested(Notebook):
    """A notebook with test cells at some places."""

    def __init__(
        self,
        cells: Sequence[str],
        tests: Mapping[int, str],
        limits: Limits,
        fresh: Fresh,
        answered: Mapping[str, forbidden.Answered],
    ) -> None:
        self._tests, self._nonce, self._said = tests, "", dict[int, messages.CellOutput]()
        # What limits all cells together is the time of a submission: each test has its own.
        super().__init__(cells, replace(limits, cells_seconds=limits.submission_seconds), fresh, answered=answered)

    def ending_of(self, number: int) -> tuple[messages.CellOutput | None, CellResult]:
        """What came back of a test cell, if anything did, and the same as of any cell."""
        return self._said.get(number), self.results[number]

    def _seconds(self, number: int, ran_out: bool) -> float:
        """Another's loop takes none of a test's time, as long as there is enough left for all."""
        if number in self._tests and self._ends_at - time.monotonic() > self.limits.submission_seconds / 2:
            return self.limits.cell_seconds
        return super()._seconds(number, ran_out)

    def _order(self, number: int, seconds: float) -> messages.RunCell:
        if number not in self._tests:
            return super()._order(number, seconds)
        self._nonce = secrets.token_hex(16)
        return messages.RunCell(self.cells[number], seconds, self._nonce)

    def _cell_result(self, number: int, said: messages.CellOutput) -> CellResult:
        if number in self._tests:
            if not secrets.compare_digest(said.nonce.encode(), self._nonce.encode()):
                raise frames.WireError("not the answer of this test")
            self._said[number] = said
        return super()._cell_result(number, said)


def _result(exercise: Exercise, cell: AssertCell, said: messages.CellOutput | None, end: CellResult) -> ExerciseResult:
    if said is None:
        return _as_result(exercise, 0.0, one_line(f"{end.stopped or NOT_RUN}"), stopped=True)
    if end.ran_out_of_time:
        return _as_result(exercise, 0.0, "it ran out of time", stopped=True)
    if end.error:
        message = cell.says(end.error, end.text, said.line)
        return _as_result(exercise, 0.0, one_line(message), started=end.error != STUB)
    if said.warned:
        return _as_result(exercise, 0.0, WARNED)
    return _as_result(exercise, credit(said.shown, exercise.points), "")


def credit(shown: str, points: float) -> float:
    """Points for a test cell that ended well, by its last value as text: nbgrader's rule.

    A number between 0 and the points is that many; more than all is all, and so is whatever is no such number.
    """
    try:
        part = float(shown)
    except ValueError:
        return points
    return min(part, points) if part >= 0 else points


def _as_result(
    exercise: Exercise, score: float, message: str, started: bool = True, stopped: bool = False
) -> ExerciseResult:
    state: State = "passed" if score == exercise.points else "failed" if started else "not known"
    test = TestResult("asserts", SENTENCE, state, score, exercise.points, message, stopped)
    return ExerciseResult(exercise.name, (test,), exercise.points, started)
