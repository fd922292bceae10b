"""A worker marks one submission after another: it opens a judge and a notebook, passes sockets, and reads the verdict.

Here a submission is bytes. What the student's code said is read by the judge alone, which is gone with the submission.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import structs

from autograder import content
from autograder.course import Assignment, Course, Exercise
from autograder.errors import CourseError, MachineError
from autograder.messages import Ended, Grown, Opened, Order, Setting
from autograder.report import ExerciseResult, Report, Verdict
from autograder.sandbox.backends import Backend
from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.messages import Preparation
from autograder.sandbox.supervisor.fork_server import JUDGES, Child, ForkServer, FreshChildren, isolates
from autograder.sandbox.supervisor.zygote import Zygote
from autograder.secret import secret_of
from autograder.worker.task import Marked, Task, failed
from autograder.worker.verdict import BadVerdict, read_message

GRACE_SECONDS = 60.0  # for loading a suite, and for a judge to say what came of it
MAX_VERDICT = 8 * 2**20  # bytes; an honest one has some 50 kB
# Of a judge: notebooks for one submission, each exercise twice, and some cells that end Python; and how some ended.
MAX_REQUESTS = 120
TOO_LONG = "the judge of this submission did not come to an end in time. Does its code wait for something?"
OUTSIDE = "the judge of this submission {how}. It was tried twice; no other submission is touched"


class Judges:
    """The judges' fork server of one course, which all workers share. Begins anew if the course has changed.

    warm: what has forked it, and forks the workers' fork servers, too
    """

    def __init__(self, root: Path, backend: Backend) -> None:
        own = Course(root).folder
        folders = (root / "source", root / "solutions", own, *content.installed())
        places = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
        self.zygote = Zygote(backend, content.imported_once(own), places)
        setting = Setting(str(root), str(own), secret_of(root))
        self._server = ForkServer(self.zygote, JUDGES, structs.asdict(setting), judges=True)
        self._lock = threading.Lock()
        self._versions: dict[str, str] = {}
        self._lost: dict[str, set[str]] = {}

    def warm_up(self, assignment: Assignment) -> None:
        """Begin to load what judging takes, and do not wait for it."""
        self._server.warm_up()
        threading.Thread(target=self._server.prepare, args=[self._needed(assignment.name)], daemon=True).start()

    def open(self, assignment: Assignment, version: str, limits: Limits) -> Child:
        """A judge for one submission."""
        with self._lock:
            if self._versions.setdefault(assignment.name, version) != version:
                self._server.close()
                self._versions, self._lost = {assignment.name: version}, {}
            needed = self._needed(assignment.name)
        return self._server.open(limits, needed)

    def learn(self, report: Report) -> None:
        """Tell the judges to come which exercises lose marks in this class, so that they have the mistakes ready."""
        lost = {e.name for e in report.exercises if e.started and e.score < e.max_score}
        with self._lock:
            self._lost.setdefault(report.assignment, set()).update(lost)

    def end(self) -> None:
        """End the fork server and all judges, and the zygote with all that it has forked, for good."""
        self._server.end()
        self.zygote.end()

    def _needed(self, assignment: str) -> Preparation:
        return Preparation(assignment, tuple(sorted(self._lost.get(assignment, ()))))


class Worker:
    """One submission at a time, with judges that it may share with other workers."""

    def __init__(self, course: Course, judges: Judges, limits: Limits | None = None) -> None:
        self.course, self.judges = course, judges
        self.limits = limits or Limits()
        self.students = ForkServer(judges.zygote, setting=content.sandbox_setting(course.folder))

    def end(self) -> None:
        """End all that this worker has started, for good."""
        self.students.end()

    def mark(self, task: Task) -> Marked:
        """The report on a submission. Raises `CourseError`; whatever else goes wrong stands in the report."""
        if task.problem and task.assignment not in self.course.assignments():
            return Marked(failed(task, task.problem))
        assignment = self.course.assignment(task.assignment)
        exercises = assignment.exercises if task.exercises is None else task.exercises
        points = sum(exercise.points for exercise in exercises)
        if task.problem:
            return Marked(failed(task, task.problem, points))
        try:
            verdict = self._verdict(task, assignment, tuple(map(_judged_as, exercises)))
        except (MachineError, frames.Exhausted) as error:
            return Marked(failed(task, f"this machine could not run it: {error}"), machine_failed=True)
        except _Lost as error:
            return Marked(failed(task, str(error)), machine_failed=not isinstance(error, _TooLong))
        report = Report(task.student, task.assignment, verdict.exercises, points, extra=verdict.extra)
        self.judges.learn(report)
        counted = tuple(_counted(*one, assignment.withdrawn) for one in zip(report.exercises, exercises, strict=True))
        return Marked(structs.replace(report, exercises=counted), verdict.cells)

    def _verdict(self, task: Task, assignment: Assignment, exercises: tuple[Exercise, ...]) -> Verdict:
        limits = _limits(assignment, self.limits)
        for again in (True, False):  # a judge that is lost may have been the machine's fault
            try:
                return self._judged(task, assignment, exercises, limits)
            except _Lost as lost:
                if not again or isinstance(lost, _TooLong):
                    raise
        raise AssertionError

    def _judged(self, task: Task, assignment: Assignment, exercises: tuple[Exercise, ...], limits: Limits) -> Verdict:
        runs = 1 + bool(assignment.assert_cells)
        ends_at = time.monotonic() + limits.submission_seconds * runs + GRACE_SECONDS
        how = task.for_page, task.model, task.by_author, task.locked
        order = Order(assignment.name, task.cells, exercises, limits, *how)
        allowance = frames.Allowance(MAX_VERDICT, MAX_VERDICT)
        with (
            self.judges.open(assignment, task.version, limits) as judge,
            FreshChildren(self.students, limits) as notebooks,
        ):
            try:
                frames.send(judge.sock, order, ends_at)
                for asked in range(MAX_REQUESTS):
                    message = read_message(frames.receive(judge.sock, ends_at, allowance), exercises, len(task.cells))
                    if message.open:
                        _open(judge, notebooks, ends_at)
                    elif message.ending is not None:
                        frames.send(judge.sock, Ended(notebooks.ending(message.ending)), ends_at)
                    elif message.memory is not None:
                        frames.send(judge.sock, Grown(notebooks.grown(message.memory)), ends_at)
                    elif message.broken is not None:
                        raise _broken(*message.broken, untouched=asked == 0)
                    else:
                        assert message.verdict is not None
                        # Both end while the report is made.
                        notebooks.begin_to_end()
                        judge.begin_to_end()
                        return message.verdict
            except frames.Deadline:
                raise _TooLong(TOO_LONG) from None
            except frames.Closed:
                raise _Lost(OUTSIDE.format(how="ended before it was done")) from None
            except (frames.WireError, BadVerdict) as error:
                raise _Lost(OUTSIDE.format(how=f"said what is no verdict ({error!s:.100})")) from None
        raise _Lost(OUTSIDE.format(how="opened the notebook again and again"))


@contextlib.contextmanager
def one_worker(course: Course) -> Iterator[Worker]:
    """A worker with judges of its own, in the sandbox that works here, for whoever marks a few notebooks."""
    with contextlib.ExitStack() as ends:
        judges = Judges(course.root, isolates("auto")[0])
        ends.callback(judges.end)
        worker = Worker(course, judges)
        ends.callback(worker.end)
        yield worker


def _open(judge: Child, notebooks: FreshChildren, ends_at: float) -> None:
    """A fresh notebook for a judge; its socket goes to the judge, and nothing that is said there comes here."""
    try:
        sock = notebooks.open()
    except MachineError as error:
        frames.send(judge.sock, Opened(str(error)), ends_at)
        return
    frames.send_with_descriptors(judge.sock, Opened(), [sock.fileno()], ends_at)
    sock.close()


def _judged_as(exercise: Exercise) -> Exercise:
    """As if it were worth a point if it is worth none, since later exercises may build on it."""
    return exercise if exercise.points else Exercise(exercise.name, 1.0)


def _counted(result: ExerciseResult, exercise: Exercise, withdrawn: Collection[str]) -> ExerciseResult:
    """A result with the exercise's own points, which are none if it does not count."""
    if not exercise.points:
        tests = tuple(structs.replace(test, score=0.0, max_score=0.0) for test in result.tests)
        result = structs.replace(result, tests=tests, max_score=0.0)
    return structs.replace(result, withdrawn=True) if exercise.name in withdrawn else result


class _Lost(Exception):
    """There is no verdict; the text is the reason for the report."""


class _TooLong(_Lost):
    """There will be none, however often it is tried: a submission has minutes, and used them."""


def _broken(kind: str, text: str, untouched: bool) -> Exception:
    """What a judge that gives no verdict stands for. `untouched` is set if it had met no student code before.

    Only such a judge is believed if it says that the course is at fault, since that ends the whole run.
    """
    if kind == CourseError.__name__ and untouched:
        return CourseError(text)
    if kind == MachineError.__name__:
        return MachineError(text)
    return _Lost(f"the grader itself failed ({kind}: {text}); not the student's fault")


def _limits(assignment: Assignment, limits: Limits) -> Limits:
    try:
        return limits.changed(assignment.limits)
    except ValueError as error:
        raise CourseError(f"{assignment.notebook}: the metadata's autograder.limits: {error}") from None
