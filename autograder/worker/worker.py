"""A worker marks one submission after another: it opens a judge and a notebook, passes sockets, and checks the verdict.

To a worker a submission is bytes. Only the judge reads what the student's code sends, and it ends with the submission.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from autograder.course import content
from autograder.course.assignments import Assignment, Course, Exercise
from autograder.errors import CourseError, MachineError, SubmissionError
from autograder.report import ExerciseResult, Finding, Report, Verdict
from autograder.task import CourseSetting, Marked, Opened, Preparation, Task, failed, newer_python, read_message
from autograder.text import shown_name
from cellcage import Backend, ForkServer, Limits, Process, Zygote, choose_backend
from cellcage.errors import NoSandbox
from cellcage.protocol import frames

ENGINE = Path(__file__).resolve().parents[1]  # what judges import; out of student code's reach
JUDGE = "autograder.judge_process:Judge"
GRACE_SECONDS = 60.0  # for loading a suite, and for the judge's last work
EXPLAIN_SECONDS = 240.0  # on the clock, for what comes after the marks; ten programs may want each core
log = logging.getLogger("autograder")
REMEDY = (
    "`autograder doctor` and docs/containers.md say what helps. `--sandbox process` (of nbgrader: "
    "`--Mark.sandbox=process`) runs student code without one: it can then read the hidden tests and all that you can "
    "read, and use the network"
)
SETTLE_SECONDS = 1.0  # before a second try
MAX_VERDICT = 8 * 2**20  # bytes; an honest one has some 50 kB
MAX_NOTEBOOKS = 2000  # of one judge: two for each exercise, and some more for edited cells and cells that end Python
TOO_LONG = "the judge of this submission did not come to an end in time. Does its code wait for something?"
EXPLANATION, REST = "the explanation", "the rest of the explanation"
OUTSIDE = "the judge of this submission {how}. It was tried twice; no other submission is touched"


class Judges:
    """The judges' fork server of one course, which all workers share. It is restarted if the course has changed.

    zygote: forks it, and the workers' fork servers, too
    folder: the course's own
    """

    def __init__(self, root: Path, backend: Backend) -> None:
        self._root, self.folder = root, Course(root).folder
        folders = (ENGINE, root / "source", root / "solutions", self.folder, *content.installed())
        places = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
        self.zygote = Zygote(backend, content.imported_once(self.folder), places, path=[ENGINE.parent])
        setting = CourseSetting(str(root), str(self.folder))
        self._server = ForkServer(self.zygote, JUDGE, structs.asdict(setting), trusted=True)
        self._lock = threading.Lock()
        self._read: dict[str, tuple[str, Assignment]] = {}  # by name: the version, and what was read of it
        self._lost: dict[str, set[str]] = {}

    def assignment(self, task: Task) -> Assignment:
        """A task's assignment, in the task's version. Another version is read again, here and by the judges.

        Raises `CourseError`.
        """
        with self._lock:
            version, found = self._read.get(task.assignment, (task.version, None))
            if version != task.version:
                self._server.close()
                self._read, self._lost, found = {}, {}, None
            if found is None:
                found = Course(self._root).assignment(task.assignment)
                self._read[task.assignment] = task.version, found
            return found

    def warm_up(self, task: Task) -> None:
        """Load what judging a task takes, without waiting for it. Raises `CourseError` if there is no assignment."""
        needed = self._needed(self.assignment(task))
        self._server.warm_up()
        threading.Thread(target=self._server.prepare, args=[needed], daemon=True).start()

    def open(self, assignment: Assignment, limits: Limits) -> Process:
        """A judge for one submission."""
        with self._lock:
            needed = self._needed(assignment)
        judge = self._server.process(limits, needed=needed)
        judge.open()
        return judge

    def learn(self, report: Report) -> None:
        """Note which exercises lose marks in this class, so that later judges have those mistakes ready."""
        lost = {e.name for e in report.exercises if e.started and e.score < e.max_score}
        with self._lock:
            self._lost.setdefault(report.assignment, set()).update(lost)

    def end(self) -> None:
        """End the fork server and all judges, and the zygote with all that it has forked, for good."""
        self._server.end()
        self.zygote.end()

    def _needed(self, assignment: Assignment) -> dict[str, object]:
        return structs.asdict(Preparation(assignment.name, tuple(sorted(self._lost.get(assignment.name, ())))))


class Worker:
    """Marks one submission at a time. Workers may share their judges."""

    def __init__(self, judges: Judges, limits: Limits | None = None) -> None:
        self.judges, self.limits = judges, limits or Limits()
        self.students = ForkServer(judges.zygote, setting=content.sandbox_setting(judges.folder))

    def end(self) -> None:
        """End all that this worker has started, for good."""
        self.students.end()

    def mark(self, task: Task) -> Marked:
        """Mark a submission. Raises `CourseError`; the report says what else goes wrong."""
        try:
            assignment = self.judges.assignment(task)
        except CourseError:
            if task.problem:
                return Marked(failed(task, task.problem))
            raise
        exercises = task.exercises or assignment.exercises
        points = sum(exercise.points for exercise in exercises)
        if task.problem:
            return Marked(failed(task, task.problem, points))
        try:
            verdict = self._judged_with_retry(replace(task, exercises=tuple(map(_with_points, exercises))), assignment)
        except MachineError as error:
            return Marked(failed(task, f"this machine could not run it: {error}"), machine_failed=True)
        except (frames.Deadline, SubmissionError) as error:
            return Marked(failed(task, _in_words(error)), machine_failed=isinstance(error, SubmissionError))
        notices = (*task.notices, newer_python(task.python_version, verdict.cells))
        report = Report(task.student, task.assignment, verdict.exercises, points, notices=tuple(filter(None, notices)))
        self.judges.learn(report)
        _log_for_a_person(report)
        results = tuple(map(ExerciseResult.counted_as, report.exercises, exercises))
        return Marked(structs.replace(report, exercises=results), verdict.cells)

    def _judged_with_retry(self, task: Task, assignment: Assignment) -> Verdict:
        try:
            task = replace(task, student="", notices=(), limits=self.limits.changed(assignment.limits))
        except ValueError as error:
            raise CourseError(f"{assignment.notebook}: the metadata's autograder.limits: {error}") from None
        try:
            return self._talk_to_judge(task, assignment)
        except (SubmissionError, MachineError):
            # It may have been the machine's fault, and what ends one process often ends others within the same second.
            time.sleep(SETTLE_SECONDS)
            return self._talk_to_judge(task, assignment)

    def _talk_to_judge(self, task: Task, assignment: Assignment) -> Verdict:
        runs = 1 + bool(assignment.source.assert_cells)
        ends_at = time.monotonic() + task.limits.total_clock_seconds * runs + GRACE_SECONDS
        marks, missing = None, ""
        allowance = frames.Allowance(MAX_VERDICT, MAX_VERDICT)
        with (
            self.judges.open(assignment, task.limits) as judge,
            self.students.process(task.limits) as notebook,
        ):
            try:
                frames.send(judge.sock, task, ends_at)
                for opened in range(MAX_NOTEBOOKS):
                    data = frames.receive(judge.sock, ends_at, allowance)
                    message = read_message(data, task.exercises, len(task.cells))
                    if message.verdict is not None:
                        # Both can end while the report is made.
                        notebook.begin_to_end()
                        judge.begin_to_end()
                        return message.verdict
                    if message.marks is not None:
                        # The marks come twice: bare, and explained. The second message gives no more time.
                        ends_at = time.monotonic() + EXPLAIN_SECONDS if marks is None else ends_at
                        missing = EXPLANATION if marks is None else REST
                        marks = message.marks
                    elif message.broken is not None:
                        raise _broken(*message.broken, untouched=opened == 0)
                    else:
                        _open(notebook, judge, ends_at)
                raise SubmissionError(OUTSIDE.format(how="asked again and again"))
            except (frames.Deadline, frames.Closed, frames.WireError, SubmissionError, MachineError) as error:
                if marks is not None:
                    return _without(missing, marks, error)
                if isinstance(error, frames.Closed | frames.WireError):
                    raise SubmissionError(_in_words(error)) from None
                raise


def backend_for(sandbox: str) -> tuple[Backend, str | None]:
    """As `choose_backend`, with what helps if no sandbox works here."""
    try:
        return choose_backend(sandbox)
    except NoSandbox as error:
        raise NoSandbox(error.found, REMEDY) from None


@contextlib.contextmanager
def one_worker(course: Course) -> Iterator[Worker]:
    """A worker with its own judges, in the best sandbox that works here, or in none, to mark a few notebooks.

    They are the course's own, like its tests, which run without a sandbox.
    """
    try:
        backend, _ = choose_backend("auto")
    except NoSandbox:
        backend, _ = choose_backend("process")
    judges = Judges(course.root, backend)
    worker = Worker(judges)
    try:
        yield worker
    finally:
        worker.end()
        judges.end()


def _open(notebook: Process, judge: Process, ends_at: float) -> None:
    """Open a fresh notebook and hand its sockets to the judge. Nothing that is sent on them comes here."""
    try:
        sockets = notebook.open()
    except MachineError as error:
        frames.send(judge.sock, Opened(str(error)), ends_at)
        return
    frames.send_with_descriptors(judge.sock, Opened(), [one.fileno() for one in sockets], ends_at)
    notebook.sock.close()


def _log_for_a_person(report: Report) -> None:
    for one in report.exercises:
        for what in one.remarks:
            log.warning(
                "%s, %s, %s: %s. The mark stands.", shown_name(report.student), report.assignment, one.name, what
            )


def _in_words(error: Exception) -> str:
    """Why there is no verdict."""
    if isinstance(error, frames.Deadline):
        return TOO_LONG
    if isinstance(error, frames.Closed):
        return OUTSIDE.format(how="ended before it was done")
    if isinstance(error, frames.WireError):
        return OUTSIDE.format(how=f"sent no valid verdict ({error!s:.100})")
    return str(error)


def _without(missing: str, marks: Verdict, error: Exception) -> Verdict:
    """The verdict of a judge that was lost after it had sent marks. missing: what it still had to make"""
    lost = Finding("not produced", f"{missing} ({_in_words(error):.200})")
    return structs.replace(marks, exercises=tuple(one.adding(lost) for one in marks.exercises))


def _with_points(exercise: Exercise) -> Exercise:
    """The exercise, with one point if it has none: it is judged, too, since later exercises may build on it."""
    return exercise if exercise.points else replace(exercise, points=1.0)


def _broken(kind: str, text: str, untouched: bool) -> Exception:
    """The error of a judge that gives no verdict. untouched: true if it had not yet met student code.

    Only an untouched judge can blame the course, since that ends the whole run.
    """
    if kind == CourseError.__name__ and untouched:
        return CourseError(text)
    if kind == MachineError.__name__:
        return MachineError(text)
    return SubmissionError(f"the grader itself failed ({kind}: {text}); not the student's fault")
