"""Looks for one small edit of a student's own cell that makes all tests pass, and says where it is.

The judge makes the edited texts. They run in the student's sandbox only. First several of them answer one call in the
same process. Those that answer it rightly are tested in a call process of their own, so that no edit sees what another
one has left behind. This comes after judging and can change no mark.

If there is no such edit, there may be two mistakes. Then the edit counts that makes most of the failing tests pass and
breaks none.
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
from autograder.testing.functions import AnsweredCall, Functions, answering, has_chance
from autograder.testing.plan import PlannedCall
from autograder.testing.suite import Test
from cellcage.notebook_calls import Terms, Unread, read
from cellcage.protocol.calls import Answer, Call, Failure, NoAnswer, answer_of

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
# If no edit repairs all, the place of one of two mistakes is looked for among so many, by so many failing tests.
IN_PART, CAUSES = 64, 3
IN_PART_QUESTION = (
    "what does it give for a small example, worked out by hand? It may not be the only line with a mistake."
)
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
    search = _Search(subject.material, notebook, judged, seconds)
    found = list(search.repairs(cell))
    is_whole = any(passed == len(best.outcomes) for passed, _, _ in found)
    if not is_whole:
        found = search.repairs_in_part(cell, found)
    most = max((passed for passed, _, _ in found), default=0)
    found = [one for one in found if one[0] == most]
    if not found or len({edit.lines[0] for _, edit, _ in found}) > MOST_LINES:
        return None
    _, edit, text = found[0]
    hides = _has_hidden_number(edit, cell.source, best.calls)
    return None if hides else _as_finding(cell, edit, text, is_certain=is_whole)


def _cell(notebook: JudgedNotebook, judged: Judged) -> ParsedCell | None:
    """The cell that defines the exercise in the state that counts."""
    sources = notebook.cells[: judged.place]
    source = next((one for one in reversed(sources) if defines(judged.exercise.name, one)), "")
    try:
        return ParsedCell(source) if source else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


Repair = tuple[int, Edit, str]  # how many tests pass with an edit, and the text that it makes


class _Search:
    """A search for the edits that repair one exercise."""

    def __init__(self, material: Material, notebook: JudgedNotebook, judged: Judged, seconds: float) -> None:
        self._material, self._notebook, self._judged = material, notebook, judged
        notebook.at(judged.place)
        self._ends_at = time.monotonic() + CLOCK_FACTOR * seconds
        self._began, self._seconds = time.process_time(), seconds
        self._spent_before, self._lost = notebook.spent, 0
        self._call_seconds = _call_seconds(material, judged.exercise)
        self._wrong = _wrong(material, judged.exercise, judged.best)
        self._probe = self._wrong[0][0] if self._wrong else None

    @property
    def _spent(self) -> float:
        """Seconds of CPU time until now: of this process, and of the student's as far as they are known."""
        return time.process_time() - self._began + self._notebook.spent - self._spent_before

    @property
    def _is_over(self) -> bool:
        out_of_time = self._spent > self._seconds or time.monotonic() > self._ends_at
        return out_of_time or self._lost >= MOST_LOST

    def repairs(self, cell: ParsedCell) -> Iterator[Repair]:
        """Edits that make more tests pass, up to the first that makes all of them pass and the others of its kind."""
        not_run = _not_run(cell, self._probe, self._judged.best)
        kind, left, together = "", islice(edits(cell, not_run), CANDIDATES), TOGETHER
        while some := list(islice(left, together)):
            together = min(2 * together, MOST_TOGETHER)
            for edit, text in self._first_right(some):
                if self._is_over or (kind and edit.kind != kind):
                    return
                together = TOGETHER
                if passed := self._passed_with(text):
                    kind = edit.kind if passed == len(self._judged.best.outcomes) else kind
                    yield passed, edit, text
            if self._is_over or (kind and some[-1][0].kind != kind):
                return

    def repairs_in_part(self, cell: ParsedCell, found: Sequence[Repair]) -> list[Repair]:
        """What `repairs` has found, and more, after nothing of it made all tests pass."""
        if _is_one_statement(cell):  # it says nothing that the line has a mistake
            return []
        repairs = list(found)
        for test, probe in islice(self._causes(), CAUSES):
            some, lines = islice(edits(cell, _not_run(cell, probe, self._judged.best)), IN_PART), set[int]()
            for (edit, text), got in self._answered(list(some), probe):
                # A copy stands at an argument, and not in the line that changes it.
                if edit.kind != "copy" and edit.lines[0] not in lines and self._accepts(test, probe, read(got)):
                    if passed := self._passed_with(text):
                        repairs.append((passed, edit, text))
                    lines = {one.lines[0] for _, one, _ in repairs}
        return repairs

    def _causes(self) -> list[tuple[Test, PlannedCall]]:
        """Each failing test with its smallest planned call that is enough to make it fail, the smallest first."""
        found = list[tuple[Test, PlannedCall]]()
        for test in [one.test for one in self._judged.best.outcomes if one.error is not None]:
            planned = self._material.plan.by_test.get(test, ())
            # An error has a line of its own.
            mine = ((one, got) for one, got in self._wrong if one in planned and not isinstance(got, Failure))
            found += islice(((test, one) for one, got in mine if not self._accepts(test, one, got)), 1)
        return sorted(found, key=lambda cause: len(cause[1].place[0]))

    def _accepts(self, test: Test, probe: PlannedCall, got: Answer) -> bool:
        """Whether a test passes if one call is answered so, and all others rightly."""
        right = self._material.plan.answering(self._material.reference)

        def answer(call: Call) -> Answer:
            return got if call.as_bytes == probe.place[0] else right(call)

        names = [Functions(answering, lambda name: []) for answering in (answer, right)]
        return self._material.suite.run(test, *names).error is None

    def _first_right(self, some: Sequence[tuple[Edit, str]]) -> Iterator[tuple[Edit, str]]:
        """Those that answer the cheapest failing call rightly; all of them if there is no such call."""
        if self._probe is None:
            yield from (one for one in some if _compiles(one[1]))
            return
        right = self._probe.answer
        for one, got in self._answered(some, self._probe):
            if got == right or same_answer(read(got), answer_of(right)):
                yield one

    def _answered(
        self, some: Sequence[tuple[Edit, str]], probe: PlannedCall
    ) -> Iterator[tuple[tuple[Edit, str], Unread]]:
        """Each with its answer to a failing call, as long as there is time."""
        while some and not self._is_over:
            answers = self._answers([text for _, text in some], probe)
            yield from zip(some, answers, strict=False)
            some = some[max(1, len(answers)) :]

    def _answers(self, texts: Sequence[str], probe: PlannedCall) -> list[Unread]:
        """What these texts answer to a failing call, up to the first that gives no answer."""
        terms = Terms(self._material.questions(self._judged.best.substituted), self._judged.exercise.name)
        answers, began = [], self._spent
        with contextlib.closing(self._edited(*texts).begin(terms)) as calls:
            for answer in calls.ask([(probe.call, None)] * len(texts)):
                answers.append(answer)
                self._lost += isinstance(answer, NoAnswer)
                if self._is_over or self._spent - began > self._seconds / MOST_AT_ONCE:
                    break
        return answers

    def _passed_with(self, text: str) -> int:
        """How many tests pass with this text in place of the cell; 0 if it breaks one, or repairs none.

        If no call could be asked, one test is first.
        """
        best = self._judged.best
        failed = [one.test for one in best.outcomes if one.error is not None]
        if self._probe is None and not self._attempt(text, failed[:1]).full:
            return 0
        passed = _passed(self._attempt(text))
        return len(passed) if passed > _passed(best) else 0

    def _attempt(self, text: str, tests: Sequence[Test] = ()) -> Attempt:
        best = self._judged.best
        names = self._edited(text)
        return attempt(self._material, names, self._judged.exercise, lambda name: [], best.substituted, tests)

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


def _passed(attempted: Attempt) -> set[Test]:
    return {one.test for one in attempted.outcomes if one.error is None}


def _wrong(material: Material, exercise: Exercise, best: Attempt) -> list[tuple[PlannedCall, Answer]]:
    """The planned calls that the student's code answers wrongly, the smallest first, each with this answer."""
    given = {one.call.as_bytes: read(one.answer) for one in best.calls if isinstance(one, AnsweredCall)}
    plan = [one for one in material.plan.by_exercise.get(exercise.name, ()) if one.place[1] == 0]
    with_right = [(one, answer_of(one.answer)) for one in plan if one.place[0] in given]
    wrong = [
        (one, given[one.place[0]])
        for one, right in with_right
        if not has_chance(one.call, right) and not same_answer(given[one.place[0]], right)
    ]
    return sorted(wrong, key=lambda pair: len(pair[0].place[0]))


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


def _is_one_statement(cell: ParsedCell) -> bool:
    return len(list(islice(cell.statements, 2))) < 2


def _sizes(call: Call) -> Iterator[int]:
    for value in call.given():
        yield from (int(length) for length in getattr(value, "shape", ()))
        if isinstance(value, int):
            yield value


def _as_finding(cell: ParsedCell, edit: Edit, text: str, is_certain: bool) -> Finding:
    """The place of an edit. The part is left out where it would be the whole answer, or may be only a part of it."""
    tells = edit.kind in ONLY_THE_LINE or _is_one_statement(cell) or not is_certain
    part = "" if tells else shortened(edit.part)
    code = shortened(cell.lines[edit.lines[0] - 1].strip())
    before, after = cell.source.splitlines(), text.splitlines()
    repaired = [line.strip() for line in after if line not in before] if edit.kind != "statement" else [LEFT_OUT]
    return Finding(
        "place",
        edit.kind,
        hint=QUESTIONS[edit.kind] if is_certain else IN_PART_QUESTION,
        lines=edit.lines,
        code=code,
        part=part,
        repaired=" / ".join(repaired)[:MAX_REPAIRED],
        is_certain=is_certain,
    )
