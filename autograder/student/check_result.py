"""What a check says about one exercise: a table and pictures in JupyterLab, the same as text in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from dataclasses import dataclass, field
from html import escape

from msgspec import structs

from autograder.content import Visible
from autograder.report import ExerciseResult, Picture, TestResult
from autograder.reports import plain_text, rubric
from autograder.reports.heatmap import Heatmap, side_by_side
from autograder.reports.html import block, paragraph, with_code
from autograder.reports.side_by_side import beside, differing, drawn_arrays, in_words
from autograder.student import message
from autograder.testing.example import example_in
from autograder.text import printable_lines

BAR = 24  # characters
WIDTH = 80  # characters; nbgrader cuts what is longer when it prints a failed cell
INDENT = " " * 15
PRINTED = "Your code printed, each line once:"
LINES, LONGEST = 12, 200  # lines and characters of a line, of what the code printed
DONE, NOT_DONE = "#2e7d32", "#9e9e9e55"


@dataclass(frozen=True)
class Progress:
    """How far an assignment is: which of `all`, its exercises, pass their visible tests."""

    assignment: str
    all: tuple[str, ...]
    passed: frozenset[str]

    @classmethod
    def of(cls, exercise: str, passed: Collection[str], visible: Visible) -> Progress:
        """The progress of the assignment that holds `exercise`, where those in `passed` do."""
        assignment = visible.assignment_of(exercise)
        exercises = visible.assignments()[assignment]
        return cls(assignment, exercises, frozenset(passed) & frozenset(exercises))

    def __repr__(self) -> str:
        full = round(BAR * len(self.passed) / len(self.all))
        return f"[{'#' * full}{'-' * (BAR - full)}]\n{self.words}"

    @property
    def words(self) -> str:
        """The bar in words."""
        name, _, rest = self.assignment.partition("_")
        count = (
            f"{len(self.passed)} of {len(self.all)} exercises of {name}, {rest.replace('_', ' ')}, pass their checks"
        )
        return f"{count}. Well done!" if len(self.passed) == len(self.all) else f"{count}."

    def _repr_html_(self) -> str:
        parts = "".join(
            f'<span style="flex:1;height:.6em;background:{DONE if name in self.passed else NOT_DONE}" '
            f'title="{name}"></span>'
            for name in self.all
        )
        bar = (
            f'<div role="progressbar" aria-valuemin="0" aria-valuemax="{len(self.all)}" '
            f'aria-valuenow="{len(self.passed)}" aria-label="{escape(self.words)}" '
            f'style="display:flex;gap:2px;max-width:20em">{parts}</div>'
        )
        return f'<div class="autograder-progress" style="margin:.8em 0 .3em">{bar}{paragraph(escape(self.words))}</div>'


def passed(result: ExerciseResult) -> bool:
    """Did every visible test pass?"""
    return bool(result.tests) and all(test.state == "passed" for test in result.tests)


@dataclass(frozen=True)
class CheckResult:
    """The outcome of the visible tests of one exercise.

    first_step: what to do where nothing is judged yet
    picture: what the student's function gives on the visible example; None where it cannot be drawn
    culprit: the result of an earlier exercise that this one calls and that fails; what fails here may come from there
    visible: what it was checked by
    printed: what the student's code has printed meanwhile
    """

    result: ExerciseResult
    first_step: str
    picture: Picture | None = None
    progress: Progress | None = None
    culprit: ExerciseResult | None = None
    visible: Visible = field(default_factory=Visible)
    printed: str = ""

    @property
    def passed(self) -> bool:
        """Did every visible test pass?"""
        return passed(self.result)

    @property
    def drawn_equal(self) -> bool | None:
        """Is the student's picture what is asked for? None where the exercise has none, or nothing is judged."""
        return self.picture is not None and not self._differing() if self._pictures() else None

    def __repr__(self) -> str:
        drawn = side_by_side(self._shown_pictures(), WIDTH)
        caption = "\n".join(_wrapped(self._caption()))
        printed = f"\n{PRINTED}\n{self._printed()}" if self.printed else ""
        parts = [self.text(), f"\n{caption}\n{drawn}" if drawn else "", printed, self._stuck()]
        return "\n".join([part for part in parts if part] + ([repr(self.progress)] if self.progress else []))

    def text(self) -> str:
        """The table alone, as text."""
        lines = _wrapped(f"{self.result.name}: {self._headline()}")
        lines += _wrapped(self._looks_like()) if self._looks_like() else []
        inputs_shown = False  # a terminal cannot fold them away, so they are told once
        for test in self._tests() if self.result.started else ():
            lines += _wrapped(f"  {plain_text.MARKS[test.state]:<12} {test.sentence}", INDENT)
            told = message.parts_of(test)
            for part in message.lines(told, with_inputs=not inputs_shown):
                lines += _wrapped(INDENT + part, INDENT)
            inputs_shown = inputs_shown or bool(told.went_in)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = paragraph(f"<strong>{escape(self.result.name)}</strong>: {with_code(self._headline())}")
        head += paragraph(with_code(self._looks_like())) if self._looks_like() else ""
        rows = structs.replace(self.result, tests=self._tests())
        table = rubric.table(rows, with_points=False, message=message.html) if self.result.started else ""
        drawn = "".join(picture._repr_html_() for picture in self._shown_pictures())
        caption = paragraph(with_code(self._caption())) if drawn else ""
        pictures = f'{caption}<div style="display:flex;flex-wrap:wrap;gap:0 2.5em">{drawn}</div>' if drawn else ""
        stuck = paragraph(with_code(self._stuck())) if self._stuck() else ""
        said = f"{paragraph(PRINTED)}<pre>{escape(self._printed())}</pre>" if self.printed else ""
        shown = head + table + pictures + said + stuck + (self.progress._repr_html_() if self.progress else "")
        return block(shown, f"Check of {self.result.name}")

    def _headline(self) -> str:
        count = sum(test.state == "passed" for test in self.result.tests)
        counted = f"{count} of {len(self.result.tests)} visible tests pass"
        if self.culprit is None:
            return counted if self.result.started else self.first_step
        return self._start_there(self.culprit) + (f" {counted}." if self.result.started else "")

    def _looks_like(self) -> str:
        """What is wrong in a sentence, if that can be told and does not come from another exercise."""
        return plain_text.looks_like(self.result) if self.culprit is None else ""

    def _start_there(self, culprit: ExerciseResult) -> str:
        state = "does not pass its own check yet" if culprit.started else "is not written yet"
        home = self.visible.assignment_of(culprit.name)
        if home == self.visible.assignment_of(self.result.name):
            return f"`{culprit.name}`, which this calls, {state}. Start there."
        prerequisites = f"`{culprit.name}`, which this calls and you bring from {home.partition('_')[0]}, {state}."
        return f"{prerequisites} Start there; grading puts a right one in its place."

    def _tests(self) -> tuple[TestResult, ...]:
        """The tests as they are shown: where the cause may lie in another exercise, no question leads astray."""
        if self.culprit is None:
            return self.result.tests
        return tuple(
            structs.replace(test, message=str(parts), parts=parts)
            for test in self.result.tests
            for parts in [structs.replace(message.parts_of(test), question="")]
        )

    def _printed(self) -> str:
        """What was printed, each line once, and the first few: a check calls the code many times."""
        lines = list(dict.fromkeys(line for line in printable_lines(self.printed).splitlines() if line.strip()))
        more = f"... and {len(lines) - LINES} other lines" if len(lines) > LINES else ""
        return "\n".join([*(line[:LONGEST] for line in lines[:LINES]), *filter(None, [more])])

    def _stuck(self) -> str:
        failed = self.culprit or (self.result if self.result.started and not self.passed else None)
        return f'Stuck? `hint("{failed.name}")` gives a first nudge.' if failed else ""

    def _caption(self) -> str:
        yours = f"`{self.result.name}` on a small example, yours and what it asks for"
        if self.picture is None:
            return f"{yours}: yours cannot be drawn yet."
        return yours + in_words(self._differing())

    def _differing(self) -> int:
        """How many squares of the student's picture differ."""
        return differing(self._pictures())

    def _shown_pictures(self) -> list[Heatmap]:
        """None if something is wrong and the pictures do not show it."""
        return [] if not self.passed and self.drawn_equal else self._pictures()

    def _pictures(self) -> list[Heatmap]:
        """The student's picture and the example's; the student's squares that differ are marked."""
        example = example_in(self.visible.picture_of(self.result.name))
        if example is None or example.wanted is None or not self.result.started:
            return []
        own = drawn_arrays(self.picture)[0] if self.picture is not None else None
        return beside(own, example.wanted.reshape(-1, *example.shape), example.rows, example.columns)


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of a terminal's width; a word, such as a line of code without blanks, is never cut."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
