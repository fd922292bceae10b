"""Looks for one small edit of a student's own cell that makes all tests pass, and says where it is.

The judge makes the edited texts. They run in the student's sandbox only. First several of them answer one call in the
same process. Those that answer it rightly are tested in a call process of their own, so that no edit sees what another
one has left behind. This comes after judging and can change no mark.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Sequence
from itertools import islice

from autograder.course.assignments import Exercise
from autograder.explain.material import Material, Subject
from autograder.explain.repair.cell import Edit, ParsedCell
from autograder.explain.repair.edits import ONLY_THE_LINE, QUESTIONS, edits, shortened
from autograder.judge.attempt import attempt
from autograder.judge.judging import Judged
from autograder.judge.notebook import EditedNotebook, JudgedNotebook, defines
from autograder.judge.rules.rule import Attempt
from autograder.report import Finding
from autograder.testing.comparing import same_answer
from autograder.testing.functions import AnsweredCall, answering, has_chance
from autograder.testing.plan import PlannedCall
from cellcage.notebook_calls import Terms, Unread, read
from cellcage.protocol.calls import Call, Failure, NoAnswer, answer_of

MOST_AT_ONCE = 10  # of the time for an exercise, this part is used before edits with a right answer are tested
# Edits that answer the first call in one process, which takes as long to fork as some of them to answer. It begins with
# few, since half of the repairs are among the first twelve, and asks twice as many while none of them answers rightly.
TOGETHER, MOST_TOGETHER = 16, 64
CANDIDATES = 176  # edits tried for an exercise; 425 would take nearly twice as long and find one place in fifty more
EXERCISE_SECONDS, SUBMISSION_SECONDS = 2.0, 10.0  # of CPU time, the student's processes included
CLOCK_FACTOR = 5  # so many times as long on the clock: a candidate may wait, and the machine may be busy
MOST_LOST = 10  # candidates that loop or end their process; then most likely all do the same
LEAST_SECONDS, TIMES_SLOWER = 0.3, 10  # of CPU time for a call: at least; times what the reference takes
MEMORY = 256 * 2**20  # bytes for a candidate's process, with what the cells hold; honest calls need a few megabytes
# A cell that is much longer than the model answer may hold many guesses, and a place would tell which one is right.
TIMES_LONGER, ROOM = 3, 60  # nodes of the syntax tree: times the model answer's, and so many more
MOST_LINES = 3  # if more lines could be repaired equally well, none of them is shown
LEFT_OUT = "# left out"
MAX_REPAIRED = 300  # characters of the repaired lines, for the person who grades
SMALL = 3  # whole numbers up to here are in every formula; a larger one may be a size from a hidden test


def place(subject: Subject) -> Finding | None:
    """Where an edit makes all of an exercise's tests pass; None if there is none, or it would reveal too much.

    A known mistake's name says more.
    """
    notebook, judged, best = subject.names, subject.judged, subject.judged.best
    assert isinstance(notebook, JudgedNotebook)
    if subject.result.first("known mistake") or best.full or best.not_counted or not best.started:
        return None
    if judged.exercise.name in notebook.looping:  # most edits of it would have to be stopped, too
        return None
    cell = _cell(notebook, judged)
    if cell is None or cell.size > TIMES_LONGER * subject.material.sizes.get(judged.exercise.name, 0) + ROOM:
        return None
    seconds = min(EXERCISE_SECONDS, SUBMISSION_SECONDS - subject.spent)
    found = list(_Search(subject.material, notebook, judged, seconds).repairs(cell))
    if not found or len({edit.lines[0] for edit, _ in found}) > MOST_LINES:
        return None
    edit, text = found[0]
    return None if _has_hidden_number(edit, cell.source, best.calls) else _as_finding(cell, edit, text)


def _cell(notebook: JudgedNotebook, judged: Judged) -> ParsedCell | None:
    """The cell that defines the exercise in the state that counts."""
    sources = notebook.cells[: judged.place]
    source = next((one for one in reversed(sources) if defines(judged.exercise.name, one)), "")
    try:
        return ParsedCell(source) if source else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Search:
    """A search for the edits that repair one exercise."""

    def __init__(self, material: Material, notebook: JudgedNotebook, judged: Judged, seconds: float) -> None:
        self._material, self._notebook, self._judged = material, notebook, judged
        notebook.at(judged.place)
        self._ends_at = time.monotonic() + CLOCK_FACTOR * seconds
        self._began, self._seconds = time.process_time(), seconds
        self._spent_before, self._lost = notebook.spent, 0
        self._call_seconds = _call_seconds(material, judged.exercise)
        self._probe = _cheapest_wrong(material, judged.exercise, judged.best)

    @property
    def spent(self) -> float:
        """Seconds of CPU time until now: of this process, and of the student's as far as they are known."""
        return time.process_time() - self._began + self._notebook.spent - self._spent_before

    @property
    def _is_over(self) -> bool:
        out_of_time = self.spent > self._seconds or time.monotonic() > self._ends_at
        return out_of_time or self._lost >= MOST_LOST

    def repairs(self, cell: ParsedCell) -> Iterator[tuple[Edit, str]]:
        """The first edit that makes all tests pass, and the others of its kind, each with the text that it makes."""
        not_run = _not_run(cell, self._probe, self._judged.best)
        kind, left, together = "", islice(edits(cell, not_run), CANDIDATES), TOGETHER
        while some := list(islice(left, together)):
            together = min(2 * together, MOST_TOGETHER)
            for edit, text in self._first_right(some):
                if self._is_over or (kind and edit.kind != kind):
                    return
                together = TOGETHER
                if self._passes(text):
                    kind = edit.kind
                    yield edit, text
            if self._is_over or (kind and some[-1][0].kind != kind):
                return

    def _first_right(self, some: Sequence[tuple[Edit, str]]) -> Iterator[tuple[Edit, str]]:
        """Those that answer the cheapest failing call rightly; all of them if there is no such call."""
        while some and self._probe is not None and not self._is_over:
            answers = self._answers([text for _, text in some])
            for one, got in zip(some, answers, strict=False):
                if got == self._probe.answer or same_answer(read(got), answer_of(self._probe.answer)):
                    yield one
            some = some[max(1, len(answers)) :]
        if self._probe is None:
            yield from (one for one in some if _compiles(one[1]))

    def _answers(self, texts: Sequence[str]) -> list[Unread]:
        """What these texts answer to the cheapest failing call, up to the first that gives no answer."""
        assert self._probe is not None
        terms = Terms(self._material.questions(self._judged.best.substituted), self._judged.exercise.name)
        answers, began = [], self.spent
        with contextlib.closing(self._edited(*texts).begin(terms)) as calls:
            for answer in calls.ask([(self._probe.call, None)] * len(texts)):
                answers.append(answer)
                self._lost += isinstance(answer, NoAnswer)
                if self._is_over or self.spent - began > self._seconds / MOST_AT_ONCE:
                    break
        return answers

    def _passes(self, text: str) -> bool:
        """Whether all tests pass with this text in place of the cell. If no call could be asked, one test is first."""
        exercise, best = self._judged.exercise, self._judged.best
        failed = [one.test for one in best.outcomes if one.error is not None]
        parts = ((),) if self._probe is not None else (failed[:1], ())
        return all(
            attempt(self._material, self._edited(text), exercise, lambda name: [], best.substituted, tests).full
            for tests in parts
        )

    def _edited(self, *texts: str) -> EditedNotebook:
        return EditedNotebook(self._notebook, texts, self._call_seconds, MEMORY)


def _compiles(text: str) -> bool:
    try:
        compile(text, "<cell>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _call_seconds(material: Material, exercise: Exercise) -> float:
    """CPU seconds for a call of an edited cell, by what the reference takes for its slowest planned call."""
    answer, slowest = answering(material.reference), 0.0
    for one in material.plan.by_exercise.get(exercise.name, ()):
        began = time.process_time()
        answer(one.call)
        slowest = max(slowest, time.process_time() - began)
    return max(LEAST_SECONDS, TIMES_SLOWER * slowest)


def _cheapest_wrong(material: Material, exercise: Exercise, best: Attempt) -> PlannedCall | None:
    """The smallest planned call that the student's code answers wrongly; None if no planned call is."""
    given = {one.call.as_bytes: read(one.answer) for one in best.calls if isinstance(one, AnsweredCall)}
    plan = [one for one in material.plan.by_exercise.get(exercise.name, ()) if one.place[1] == 0]
    with_right = [(one, answer_of(one.answer)) for one in plan if one.place[0] in given]
    wrong = [
        one
        for one, right in with_right
        if not has_chance(one.call, right) and not same_answer(given[one.place[0]], right)
    ]
    return min(wrong, key=lambda one: len(one.place[0]), default=None)


def _not_run(cell: ParsedCell, probe: PlannedCall | None, best: Attempt) -> set[int]:
    """The lines of the cell that this call did not reach, since it raised before."""
    answers = (read(one.answer) for one in best.calls if probe and one.call.as_bytes == probe.place[0])
    lines = [line for answer in answers if isinstance(answer, Failure) for line in answer.lines]
    written = dict(enumerate(map(str.strip, cell.lines), 1))
    return {after for one in lines if written.get(one.number) == one.text for after in cell.after(one.number)}


def _has_hidden_number(edit: Edit, source: str, calls: Sequence[AnsweredCall | PlannedCall]) -> bool:
    """Whether an edit puts in a number that is not in the cell, and that is a size in a hidden test's call."""
    known = set(re.findall(r"\d+", source))
    new = {word for change in edit.changes for word in re.findall(r"\d+", change.text)} - known
    sizes = {size for one in calls for size in _sizes(one.call)}
    return any(int(word) > SMALL and int(word) in sizes for word in new if len(word) < 10)


def _sizes(call: Call) -> Iterator[int]:
    for value in call.given():
        yield from (int(length) for length in getattr(value, "shape", ()))
        if isinstance(value, int):
            yield value


def _as_finding(cell: ParsedCell, edit: Edit, text: str) -> Finding:
    """The place of an edit. The part is left out where it would be the whole answer."""
    tells = edit.kind in ONLY_THE_LINE or sum(1 for _ in cell.statements) <= 1
    part = "" if tells else shortened(edit.part)
    code = shortened(cell.lines[edit.lines[0] - 1].strip())
    before, after = cell.source.splitlines(), text.splitlines()
    repaired = [line.strip() for line in after if line not in before] if edit.kind != "statement" else [LEFT_OUT]
    return Finding(
        "place",
        edit.kind,
        hint=QUESTIONS[edit.kind],
        lines=edit.lines,
        code=code,
        part=part,
        repaired=" / ".join(repaired)[:MAX_REPAIRED],
    )
