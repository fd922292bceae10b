"""A fault of a judge fails only its own submission, with a reason."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from autograder.authoring.sample_class import model_answers
from autograder.authoring.skeletons import add_exercise
from autograder.course.assignments import Course
from autograder.task import Task
from autograder.worker import executors, worker
from autograder.worker.pool import open_pool
from cellcage.limits import Limits
from cellcage.outside.zygote_client import Zygote
from tests.helpers import faulty_judge
from tests.helpers.faulty_judge import OTHER
from tests.helpers.small_course import NAME, command, small_course

pytestmark = pytest.mark.slow
FAULTS = [*faulty_judge.ENDS, *faulty_judge.SAYS]
IGNORED = "a withdrawal"
SLOW = {"loops", "half a frame", "asks without end"}
AFTER_MARKS = {  # when the judge fails, and how: what is missing then
    ("BARE", "exits"): "the explanation (",
    **{("LATE", how): "the rest of the explanation (" for how in ("exits", "raises", "nothing", "a score above")},
}


TESTS = Path(__file__).resolve().parents[1]


class ZygoteForTests(Zygote):
    """A zygote whose judges can import the faulty judge."""

    def __init__(self, wall, modules, places=(), path=()):
        super().__init__(wall, modules, (*places, TESTS), path)


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """One run over a class, with an honest submission after each fault: its reports, and the tracebacks it printed."""
    course = small_course(tmp_path_factory.mktemp("faults") / "course")
    list(add_exercise(course, NAME, OTHER))
    assert command(course, "dev", "sync")[0] == 0
    assignment = Course(course.root).assignment(NAME)
    answers, version = tuple(model_answers(assignment).values()), assignment.version
    tasks = [Task("first", assignment.name, version, answers)]
    for when, fault in AFTER_MARKS:
        tasks.append(Task(f"{when} {fault}", assignment.name, version, (*answers, f'{when} = "{fault}"')))
    for number, fault in enumerate(FAULTS):
        tasks.append(Task(fault, assignment.name, version, (*answers, f'FAULT = "{fault}"')))
        tasks.append(Task(f"honest-{number}", assignment.name, version, answers))
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "JUDGE", f"{faulty_judge.__name__}:Judge")
        patch.setattr(worker, "Zygote", ZygoteForTests)
        patch.setattr(worker, "GRACE_SECONDS", 1.0)
        patch.setattr(worker, "Limits", functools.partial(Limits, total_clock_seconds=5.0))
        patch.setattr(executors.traceback, "print_exc", lambda: printed.append("a traceback"))
        workers = open_pool(course.root, len(tasks), 8, "bubblewrap")  # most wait for a fault's end
        try:
            reports = [one.report for one in workers.mark(tasks)]
        finally:
            workers.close()
    return {report.student: report for report in reports}, printed


def test_fault_does_not_affect_other_submissions(marked):
    reports, _ = marked
    assert len(reports) == 1 + 2 * len(FAULTS) + len(AFTER_MARKS)
    for student, report in reports.items():
        if student not in FAULTS:
            assert report.status == "graded" and report.score == report.max_score, report


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != IGNORED])
def test_report_of_the_faulty_submission_gives_the_reason(marked, fault):
    reports, printed = marked
    report = reports[fault]
    assert report.status == "failed" and report.exercises == ()
    assert "judge of this submission" in report.reason or "the grader itself failed" in report.reason
    assert len(report.reason) < 1000 and report.reason.isprintable(), report.reason
    assert fault not in SLOW or "did not come to an end in time" in report.reason
    assert not printed


def test_judge_cannot_withdraw_an_exercise(marked):
    assert [exercise.withdrawn for exercise in marked[0][IGNORED].exercises] == [False, False]


@pytest.mark.parametrize("fault", AFTER_MARKS, ids=" ".join)
def test_fault_after_the_marks_keeps_the_marks(marked, fault):
    report = marked[0][" ".join(fault)]
    assert report.status == "graded" and report.score == report.max_score
    assert all(one.first("not produced").name.startswith(AFTER_MARKS[fault]) for one in report.exercises)
