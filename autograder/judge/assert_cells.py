"""Exercises judged by cells of plain asserts, as nbgrader does: they run among the student's names, in the sandbox.

The notebook runs once more from its beginning, in a process of its own, with each test cell as its author wrote it, in
its place. All that comes out of this run is how each test cell ended. What test cells print, and what later cells learn
from them, appears on no page. A cell that ends its process, or that must be stopped by ending it, is skipped, and the
others run again.

The student's code runs in the same process as the asserts: it can read them while they run, and change what they see.
It cannot answer in advance: an answer counts only if it has the number that was sent with the test cell.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.course.source_notebook import AssertCell
from autograder.judge import cell_errors
from autograder.judge.notebook import JudgedNotebook
from autograder.judge.rules import not_counted
from autograder.report import CellResult, ExerciseResult, Finding, State, TestResult
from autograder.task import Task
from autograder.text import one_line
from cellcage import Limits, Process
from cellcage.notebook_calls import Terms
from cellcage.protocol import frames, messages

SENTENCE = "The asserts of this cell hold."
STUB = "NotImplementedError"
WARNED = "It wrote to standard error, such as a warning; nbgrader counts that as 0."
PART = "It gives {score:g} of {points:g} points."
NOT_RUN = "The notebook did not get as far as this cell."


def judge_assert_cells(
    known: Mapping[str, AssertCell], task: Task, process: Process, terms: Mapping[str, Terms]
) -> dict[str, ExerciseResult]:
    """Results by exercise. terms: by exercise, on which its code is called. Raises `MachineError`."""
    cells, tests = _with_tests(known, task)
    numbers = {name: number for number, name in tests.items()}
    by_number = {number: (known[name], terms[name].watch) for number, name in tests.items()}
    with _TestedNotebook(cells, by_number, task.limits, process) as notebook:
        notebook.repeat_less_closely()
        results, outputs = notebook.results, notebook.outputs
    others = [pair for number, pair in enumerate(zip(cells, results, strict=True)) if number not in tests]
    found = {}
    for exercise in task.exercises:
        if exercise.name in known:
            number, cell = numbers[exercise.name], known[exercise.name]
            result = _result(exercise, cell, outputs.get(number), results[number], task.by_author)
            earlier = cell_errors.not_reached([results[number].text], others) if result.tests[0].message else ""
            words = [Finding("cells", evidence=earlier)] if earlier else []
            found[exercise.name] = result.adding(*words)
    return found


def _with_tests(known: Mapping[str, AssertCell], task: Task) -> tuple[list[str], dict[int, str]]:
    """The cells with the author's test cells, and each test cell's exercise. Missing ones are added at the end."""
    names = {cell.grade_id: name for name, cell in known.items()}
    tests = {number: names[grade_id] for number, grade_id in task.locked if grade_id in names}
    cells = list(task.cells)
    for name in known:
        if name not in tests.values():
            tests[len(cells)] = name
            cells.append("")
    for number, name in tests.items():
        cells[number] = known[name].source
    return cells, tests


class _TestedNotebook(JudgedNotebook):
    """A notebook with test cells.

    tests: by the cell's number, the test, and what is noticed in it
    outputs: what came back from a test cell, by its number
    """

    def __init__(
        self,
        cells: Sequence[str],
        tests: Mapping[int, tuple[AssertCell, messages.Watched]],
        limits: Limits,
        process: Process,
    ) -> None:
        self._tests, self._nonce, self.outputs = tests, "", dict[int, messages.CellOutput]()
        self._closely = True
        # All cells together may take a submission's whole time; each test has a limit of its own.
        super().__init__(cells, replace(limits, cells_seconds=limits.total_seconds), process)

    def _seconds(self, number: int, ran_out: bool) -> float:
        """A test has its full time even after an endless loop elsewhere, as long as there is time for all tests."""
        if number in self._tests and self.spent < self.limits.total_seconds / 2:
            return self.limits.cell_seconds
        return super()._seconds(number, ran_out)

    def _run_message(self, number: int, seconds: float) -> messages.RunCell:
        if number not in self._tests:
            return super()._run_message(number, seconds)
        self._nonce = secrets.token_hex(16)
        cell, watch = self._tests[number]
        watch = structs.replace(watch, answers=cell.answers, closely=self._closely)
        return messages.RunCell(self.cells[number], seconds, self.on_the_clock(seconds), self._nonce, watch)

    def repeat_less_closely(self) -> None:
        """Watching closely can break honest code, or slow it down. If it may have, all cells run again without it.

        What has been seen counts, however the test ends.
        """
        results = self.results
        watched = (number for number, (_, watch) in self._tests.items() if watch.functions)
        stopped = {number for number in watched if _may_be_broken(results[number])}
        if not stopped:
            return
        seen = {number: output.noticed for number, output in self.outputs.items() if output.noticed}
        self._closely, self._results, self.outputs = False, {}, {}
        self._skip = {number: result for number, result in self._skip.items() if number not in stopped}
        self.renew()
        for number in seen.keys() & self.outputs.keys():
            self.outputs[number] = structs.replace(self.outputs[number], noticed=seen[number])

    def _cell_result(self, number: int, output: messages.CellOutput) -> CellResult:
        if number in self._tests:
            if not secrets.compare_digest(output.nonce.encode(), self._nonce.encode()):
                raise frames.WireError("not the answer of this test")
            if output.noticed and output.noticed not in self._tests[number][1].functions:
                raise frames.WireError("not a listed function")
            self.outputs[number] = output
        return super()._cell_result(number, output)


def _may_be_broken(result: CellResult) -> bool:
    """Whether a test cell ended in a way that no wrong value explains."""
    return bool(result.stopped) or result.ran_out_of_time or result.error not in ("", "AssertionError", STUB)


def _result(
    exercise: Exercise, cell: AssertCell, output: messages.CellOutput | None, end: CellResult, by_author: bool
) -> ExerciseResult:
    """by_author: whether the message may tell what a hidden line raised"""
    score, message, started, stopped = 0.0, "", True, False
    if output is None:
        message, stopped = one_line(f"{end.stopped or NOT_RUN}"), True
    elif output.noticed:
        message = str(not_counted(output.noticed))
    elif end.ran_out_of_time:
        message, stopped = "it ran out of time", True
    elif end.error:
        message, started = one_line(cell.message(end.error, end.text, output.line, not by_author)), end.error != STUB
    elif output.warned:
        message = WARNED
    else:
        score = credit(output.shown, exercise.points)
        message = PART.format(score=score, points=exercise.points) if score < exercise.points else ""
    state: State = "passed" if score == exercise.points else "failed" if started else "not known"
    test = TestResult("asserts", cell.sentence or SENTENCE, state, score, exercise.points, message, stopped)
    return ExerciseResult(exercise.name, (test,), exercise.points, started)


def credit(shown: str, points: float) -> float:
    """Points for a test cell that ran to its end, by nbgrader's rule, from its last value as text.

    A number from 0 to the points gives that many points. A larger number, and anything else, gives all points.
    """
    try:
        part = float(shown)
    except ValueError:
        return points
    return min(part, points) if part >= 0 else points
