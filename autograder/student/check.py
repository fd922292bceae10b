"""`check("median")`: the visible tests of an exercise, run on what the notebook defines, and what they show.

That is a table and pictures in JupyterLab, and the same as text in a terminal.
"""

from __future__ import annotations

import functools
import inspect
import io
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.course.content import Visible, course_relations, visible_around
from autograder.errors import MachineError
from autograder.explain.explaining import judge
from autograder.explain.material import Material
from autograder.explain.picture import example_in
from autograder.judge.attempt import JudgedNames
from autograder.judge.cell_errors import stub_left_in
from autograder.judge.rules import terms_of
from autograder.report import WENT_IN, ExerciseResult, TestMessage, TestResult
from autograder.reports import rubric
from autograder.reports.heatmap import Heatmap, beside, differing, drawn_arrays, in_a_row, in_words, side_by_side
from autograder.reports.rubric import block, name_of, paragraph, with_code
from autograder.student import own_lines
from autograder.student.kernel import InKernel, begin_waiting, exercises_below, source_of, why_not_here, why_not_run
from autograder.student.progress import TERMINAL, Progress, listing, path_of, remember, show, wrapped
from autograder.testing.suite import Suite
from autograder.text import printable_lines

INDENT = " " * 15
PRINTED = "Your code printed, each line once:"
LINES, LONGEST = 12, 200  # of the student's output: lines, and characters of a line
LONG = 160  # characters of inputs; longer ones are folded away
FRAMED = "border-left:.3em solid #c2601c;padding:.3em .8em;margin:.5em 0;font-size:1.1em"
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
    if answer is not None:
        show(own_lines.reply(name, answer))
        return
    for sentence in visible.passed_over:
        print(sentence)
    result = examine(name, frame.f_back.f_globals, visible)
    (passed_here.add if result.passed else passed_here.discard)(name)
    met = [] if result.culprit else [one.name for one in result.result.of("known mistake")]
    begins_to_pass = remember(result.result, result.passed, met, path_of(Path.cwd(), visible.assignments))
    show(replace(result, progress=Progress.of(name, passed_here, visible)))
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not result.passed:
        raise CheckFailed(result.text())
    if begins_to_pass or (result.passed and name in own_lines.unanswered):
        own_lines.ask(name, frame.f_back.f_globals, visible_material(name, visible))


def examine(name: str, names: dict[str, Any], visible: Visible | None = None) -> CheckResult:
    """Check the exercise `name` as `names` define it. Raises `UnknownExercise`.

    visible: the course's visible tests and examples; those of the installed course if not given
    """
    visible = visible or Visible()
    visible.assignment_of(name)
    if reason := why_not_run(name, names):  # the name may still have the value of an older version of the cell
        return _not_judged(name, reason, visible)
    if left := stub_left_in(source_of(name, names), name):
        first_step = left
    elif name in names:
        begin = f"Replace `raise NotImplementedError()` in the cell of `{name}`, run it, then run this again."
        first_step = f"not started yet. {begin} {visible.nudge(name)}".strip()
    else:
        where = f", below the heading “{visible.hint_for(name).section}”" if visible.nudge(name) else ""
        first_step = f"not started yet. Run the cell that defines `{name}` first{where}."
    return judged(name, InKernel.for_exercise(name, names), first_step, visible, names)


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
        home = visible.assignment_of(name)
        # A name of an earlier assignment that nothing defines here is an error of this code.
        known = [one for one in visible.exercises if one in definitions or visible.assignment_of(one) == home]
        below = exercises_below(name, definitions, known)
        results = (_result(exercise, names, visible, definitions) for exercise in below)
        return replace(checked, culprit=next((result for result in results if not passed(result)), None))
    except MachineError as error:
        return _not_judged(name, why_not_here(error), visible)


def _not_judged(name: str, reason: str, visible: Visible) -> CheckResult:
    return CheckResult(ExerciseResult(name, (), 1.0, started=False), reason, visible)


def _result(name: str, names: JudgedNames, visible: Visible, definitions: Mapping[str, object]) -> ExerciseResult:
    return judge(visible_material(name, visible), names, [Exercise(name, 1.0)], definitions)[0]


def visible_material(name: str, visible: Visible) -> Material:
    """What an exercise is judged with here: its assignment's visible tests, read again after each save; its example."""
    files = visible.checks(visible.assignment_of(name))
    shared = files[0].parents[1].glob("shared_*.py")
    material = _loaded(files, tuple(path.stat().st_mtime_ns for path in (*files, *shared)))
    example = example_in(visible.picture_of(name))
    return replace(material, examples={name: example} if example else {})


@functools.cache
def _loaded(files: tuple[Path, ...], saved: tuple[int, ...]) -> Material:
    """saved: when each file was saved last; part of the cache's key"""
    folder = files[0].parents[1]
    return Material(
        Suite(files),
        relations=course_relations(folder.parent),
        terms={path.parent.name: terms_of(path.parent) for path in files},
    )


# ---------------------------------------------------------------- what it shows


def passed(result: ExerciseResult) -> bool:
    """True if there are visible tests and all of them pass."""
    return bool(result.tests) and all(test.state == "passed" for test in result.tests)


@dataclass(frozen=True)
class CheckResult:
    """The outcome of the visible tests of one exercise.

    first_step: what to do if the exercise is not judged
    visible: the course that it was checked by
    progress: of the whole assignment, shown below if given
    culprit: the result of an earlier exercise that this one calls and that fails, so the failure may come from there
    printed: what the student's code printed while it was tested
    """

    result: ExerciseResult
    first_step: str
    visible: Visible
    progress: Progress | None = None
    culprit: ExerciseResult | None = None
    printed: str = ""

    @property
    def passed(self) -> bool:
        """True if every visible test passes."""
        return passed(self.result)

    @property
    def drawn_equal(self) -> bool | None:
        """True if the student's picture is right. None if the exercise has no picture or was not judged."""
        pictures = self._pictures()
        return self.result.picture is not None and not differing(pictures) if pictures else None

    def __repr__(self) -> str:
        drawn = side_by_side(self._shown_pictures(), TERMINAL)
        caption = "\n".join(wrapped(self._caption()))
        printed = f"\n{PRINTED}\n{self._printed()}" if self.printed else ""
        parts = [self.text(), f"\n{caption}\n{drawn}" if drawn else "", printed, self._stuck()]
        return "\n".join([part for part in parts if part] + ([repr(self.progress)] if self.progress else []))

    def text(self) -> str:
        """Only the table, as text."""
        lines = wrapped(f"{self.result.name}: {self._headline()}") + wrapped(self._looks_like())
        inputs_shown = False  # a terminal cannot fold them away, so they are shown once
        for test in self._tests() if self.result.started else ():
            lines += wrapped(f"  {rubric.MARKS[test.state]:<12} {test.sentence}", INDENT)
            message = message_of(test)
            for part in (message.happened, message.question, "" if inputs_shown else message.inputs.strip()):
                lines += wrapped(INDENT + part, INDENT) if part else []
            inputs_shown = inputs_shown or bool(message.went_in)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = paragraph(f"<strong>{escape(self.result.name)}</strong>: {with_code(self._headline())}")
        if looks_like := with_code(self._looks_like()):
            named = re.sub("^Known mistake: [^.]*[.]", r"<strong>\g<0></strong>", looks_like)
            head += f'<p style="{FRAMED}">{named}</p>'
        rows = structs.replace(self.result, tests=self._tests())
        first = next((test for test in rows.tests if message_of(test).went_in), None)
        message = lambda test: _message_html(test, is_open=test is first)  # noqa: E731
        table = rubric.table(rows, with_points=False, message=message) if self.result.started else ""
        drawn = [picture._repr_html_() for picture in self._shown_pictures()]
        pictures = paragraph(with_code(self._caption())) + in_a_row(drawn) if drawn else ""
        stuck = paragraph(with_code(self._stuck())) if self._stuck() else ""
        printed = f"{paragraph(PRINTED)}<pre>{escape(self._printed())}</pre>" if self.printed else ""
        shown = head + table + pictures + printed + stuck + (self.progress._repr_html_() if self.progress else "")
        return block(shown, f"Check of {self.result.name}")

    def _headline(self) -> str:
        count = sum(test.state == "passed" for test in self.result.tests)
        counted = f"{count} of {len(self.result.tests)} visible tests pass"
        if self.culprit is None:
            return counted if self.result.started else self.first_step
        return self._start_there(self.culprit) + (f" {counted}." if self.result.started else "")

    def _looks_like(self) -> str:
        """A sentence on the error; empty if we do not know it, or if another exercise may be the cause."""
        return rubric.looks_like(self.result) if self.culprit is None else ""

    def _start_there(self, culprit: ExerciseResult) -> str:
        state = "does not pass its own check yet" if culprit.started else "is not written yet"
        home = self.visible.assignment_of(culprit.name)
        if home == self.visible.assignment_of(self.result.name):
            return f"`{culprit.name}`, which this calls, {state}. Start there."
        prerequisite = f"`{culprit.name}`, which this calls and you bring from {home.partition('_')[0]}, {state}."
        return f"{prerequisite} Start there; grading uses a right one in its place."

    def _tests(self) -> tuple[TestResult, ...]:
        """The tests as they are shown. If another exercise may be the cause, they ask no misleading question."""
        if self.culprit is None:
            return self.result.tests
        messages = [structs.replace(message_of(test), question="") for test in self.result.tests]
        return tuple(
            structs.replace(test, message=str(message), parts=message)
            for test, message in zip(self.result.tests, messages, strict=True)
        )

    def _printed(self) -> str:
        """The first few lines printed, each once, since a check calls the code many times."""
        lines = list(dict.fromkeys(line for line in printable_lines(self.printed).splitlines() if line.strip()))
        more = [f"... and {len(lines) - LINES} other lines"] if len(lines) > LINES else []
        return "\n".join([line[:LONGEST] for line in lines[:LINES]] + more)

    def _stuck(self) -> str:
        failed = self.culprit or (self.result if self.result.started and not self.passed else None)
        nudge = self.visible.nudge(failed.name) if failed else ""
        return f"Stuck? {nudge}" if nudge else ""

    def _caption(self) -> str:
        name = f"`{self.result.name}`"
        if self.result.picture is None:
            return f"{name} on a small example, the expected result: yours cannot be drawn yet."
        return name + in_words(differing(self._pictures()))

    def _shown_pictures(self) -> list[Heatmap]:
        """The pictures; none if something is wrong that they do not show."""
        return [] if not self.passed and self.drawn_equal else self._pictures()

    def _pictures(self) -> list[Heatmap]:
        """The student's picture, with the squares marked that differ, and the example's."""
        example = example_in(self.visible.picture_of(self.result.name))
        if example is None or example.wanted is None or not self.result.started:
            return []
        picture = self.result.picture
        drawn = drawn_arrays(picture)[0] if picture is not None else None
        return beside(drawn, example.wanted.reshape(-1, *example.shape), example.rows, example.columns)


def message_of(test: TestResult) -> TestMessage:
    """A test's message in its parts. If it has none, all of it is what happened."""
    return test.parts or TestMessage(test.message)


def _message_html(test: TestResult, is_open: bool) -> str:
    message = message_of(test)
    asked = f'<div style="margin-top:.2em"><em>{with_code(message.question)}</em></div>' if message.question else ""
    return with_code(message.happened) + asked + (_inputs_html(message, is_open) if message.went_in else "")


def _inputs_html(message: TestMessage, is_open: bool) -> str:
    """The inputs, one on a line, and a matrix with one row on a line. Folded away unless `is_open`, or if long."""
    rows = "\n".join(
        text.replace("], [", "],\n" + " " * (text.index("[") + 1) + "[") if "[" in text else text
        for text in message.went_in
    )
    style = "margin:.2em 0;padding:0 0 0 1em;background:none;color:inherit"
    opened = " open" if is_open and len(message.inputs) < LONG + len(WENT_IN) else ""
    summary = WENT_IN.strip().rstrip(":")
    return f'<details{opened}><summary>{summary}</summary><pre style="{style}">{escape(rows)}</pre></details>'


begin_waiting()  # from the notebook's first cell on, which imports `check`
