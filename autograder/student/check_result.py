"""What a check shows for one exercise: a table and pictures in JupyterLab, the same as text in a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from msgspec import structs

from autograder.course.content import Visible, visible_around
from autograder.explain.material import example_in
from autograder.report import WENT_IN, ExerciseResult, TestMessage, TestResult
from autograder.reports import rubric
from autograder.reports.heatmap import Heatmap, beside, differing, drawn_arrays, in_words, side_by_side
from autograder.reports.rubric import block, paragraph, with_code
from autograder.text import printable_lines

BAR = 24  # characters
WIDTH = 80  # characters; nbgrader cuts longer lines when it prints a failed cell
INDENT = " " * 15
PRINTED = "Your code printed, each line once:"
LINES, LONGEST = 12, 200  # of the student's output: lines, and characters of a line
LONG = 160  # characters of inputs; longer ones are folded away
FRAMED = "border-left:.3em solid #c2601c;padding:.3em .8em;margin:.5em 0;font-size:1.1em"
DONE, NOT_DONE = "#2e7d32", "#9e9e9e55"


@dataclass(frozen=True)
class Progress:
    """Which exercises of an assignment pass their visible tests, out of `all`."""

    assignment: str
    all: tuple[str, ...]
    passed: frozenset[str]

    @classmethod
    def of(cls, exercise: str, passed: Collection[str], visible: Visible) -> Progress:
        """The progress of the assignment that `exercise` belongs to. `passed` may name other assignments' exercises."""
        assignment = visible.assignment_of(exercise)
        exercises = visible.assignments[assignment]
        return cls(assignment, exercises, frozenset(passed) & frozenset(exercises))

    def __repr__(self) -> str:
        full = round(BAR * len(self.passed) / len(self.all))
        return f"[{'#' * full}{'-' * (BAR - full)}]\n{self._sentence()}"

    def _sentence(self) -> str:
        name, _, rest = self.assignment.partition("_")
        count = (
            f"{len(self.passed)} of {len(self.all)} exercises of {name}, {rest.replace('_', ' ')}, pass their checks"
        )
        return f"{count}. Well done!" if len(self.passed) == len(self.all) else f"{count}."

    def _repr_html_(self) -> str:
        sentence = escape(self._sentence())
        bar = (
            f'<div role="progressbar" aria-valuemin="0" aria-valuemax="{len(self.all)}" '
            f'aria-valuenow="{len(self.passed)}" aria-label="{sentence}" style="display:flex;gap:2px;max-width:20em">'
            f"{bar_parts({name: DONE if name in self.passed else NOT_DONE for name in self.all})}</div>"
        )
        return f'<div class="autograder-progress" style="margin:.8em 0 .3em">{bar}{paragraph(sentence)}</div>'


def bar_parts(colours: Mapping[str, str]) -> str:
    """The parts of a bar as HTML: one for each name, in its colour, with the name as its title."""
    return "".join(
        f'<span style="flex:1;height:.6em;background:{colour}" title="{escape(name)}"></span>'
        for name, colour in colours.items()
    )


def listing(function: str, folder: Path) -> str:
    """What `check` or `hint` lists without a name: the exercises of the assignment in `folder`, or of all of them.

    function: `check` or `hint`, for the example of a call
    """
    assignments = visible_around(folder, "").assignments
    name = folder.resolve().name
    listed = {name: assignments[name]} if name in assignments else assignments
    example = next((exercise for exercises in listed.values() for exercise in exercises), "")
    lines = [f'Name an exercise, such as {function}("{example}").' if example else "No exercise here."]
    for assignment, exercises in listed.items():
        lines += _wrapped(f"{assignment}: {', '.join(exercises)}", "  ")
    return "\n".join(lines)


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
        drawn = side_by_side(self._shown_pictures(), WIDTH)
        caption = "\n".join(_wrapped(self._caption()))
        printed = f"\n{PRINTED}\n{self._printed()}" if self.printed else ""
        parts = [self.text(), f"\n{caption}\n{drawn}" if drawn else "", printed, self._stuck()]
        return "\n".join([part for part in parts if part] + ([repr(self.progress)] if self.progress else []))

    def text(self) -> str:
        """Only the table, as text."""
        lines = _wrapped(f"{self.result.name}: {self._headline()}") + _wrapped(self._looks_like())
        inputs_shown = False  # a terminal cannot fold them away, so they are shown once
        for test in self._tests() if self.result.started else ():
            lines += _wrapped(f"  {rubric.MARKS[test.state]:<12} {test.sentence}", INDENT)
            message = parts_of(test)
            for part in (message.happened, message.question, "" if inputs_shown else message.inputs.strip()):
                lines += _wrapped(INDENT + part, INDENT) if part else []
            inputs_shown = inputs_shown or bool(message.went_in)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = paragraph(f"<strong>{escape(self.result.name)}</strong>: {with_code(self._headline())}")
        if looks_like := with_code(self._looks_like()):
            named = re.sub("^Known mistake: [^.]*[.]", r"<strong>\g<0></strong>", looks_like)
            head += f'<p style="{FRAMED}">{named}</p>'
        rows = structs.replace(self.result, tests=self._tests())
        first = next((test for test in rows.tests if parts_of(test).went_in), None)
        message = lambda test: _message_html(test, is_open=test is first)  # noqa: E731
        table = rubric.table(rows, with_points=False, message=message) if self.result.started else ""
        drawn = "".join(picture._repr_html_() for picture in self._shown_pictures())
        caption = paragraph(with_code(self._caption())) if drawn else ""
        pictures = f'{caption}<div style="display:flex;flex-wrap:wrap;gap:0 2.5em">{drawn}</div>' if drawn else ""
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
        messages = [structs.replace(parts_of(test), question="") for test in self.result.tests]
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


def parts_of(test: TestResult) -> TestMessage:
    """The parts of a test's message. If the message has no parts, it is what happened."""
    return test.parts or TestMessage(test.message)


def _message_html(test: TestResult, is_open: bool) -> str:
    message = parts_of(test)
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


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of a terminal's width; none of an empty text. A long word, such as code without blanks, is not cut."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
