"""Late work and extensions, which are nbgrader's own features."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta

import pytest

from autograder.course.assignments import CONFIG, Course
from autograder.nbgrader.hardening.timestamps import WrongTime, parse_utc
from tests.helpers.small_course import EXERCISE, NAME, book_of, nbgrader, said_by, small_course, submit

pytestmark = pytest.mark.slow
GRADE = ("grade", "--gradebook", "--quiet")
DUE = datetime(2027, 3, 1, 12)
TEST = f"test-{EXERCISE}"
# Half an hour before or after the due date, as people write it in timestamp.txt, with the penalty.
WRITTEN_TIMES = {
    "offset": ("2027-03-01 13:30:00 +0200", 0), "colon": ("2027-03-01 13:30:00 +02:00", 0),
    "west": ("2027-03-01 07:30:00 -0500", 1), "pst": ("2027-03-01 04:30:00 PST", 1),
    "cest": ("2027-03-01 13:30:00 CEST", 0), "bom": ("\ufeff2027-03-01T12:30Z\n", 1),
}  # fmt: skip
# A plugin in a file beside nbgrader_config.py, as in nbgrader's documentation.
PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin


class PointADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return -(-total_seconds_late // 86400)
"""
CONFIGURED = 'c.AssignLatePenalties.plugin_class = "late_work.PointADay"\n'


def at(hours):
    """This many hours after the due date."""
    return f"{DUE + timedelta(hours=hours):%Y-%m-%d %H:%M:%S} UTC"


def totals(course):
    """By student: the score, and the penalty."""
    with book_of(course) as book:
        found = {one.student.id: one.notebooks for one in book.assignment_submissions(NAME)}
        return {name: (one.score, one.late_submission_penalty or 0) for name, ones in found.items() for one in ones}


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """A graded class: on time, late by hours, days and weeks, and late with an extension."""
    course = small_course(tmp_path_factory.mktemp("late") / "course", CONFIGURED)
    (course.root / "late_work.py").write_text(PLUGIN)
    for student, hours in {"ann": -1, "ben": 3, "cleo": 48, "very-late": 1000, "extended": 3}.items():
        submit(course, student, when=at(hours))
    for student, (when, _) in WRITTEN_TIMES.items():
        submit(course, student, when=when)
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate=DUE)
        book.add_student("extended")
        book.add_submission(NAME, "extended")
        book.grant_extension(NAME, "extended", hours=4)
    said_by(course, *GRADE, "--feedback")
    return course


RIGHT = dict.fromkeys(("ann", "extended"), (3, 0)) | {"ben": (3, 1), "cleo": (3, 2), "very-late": (3, 3)}
RIGHT |= {student: (3, penalty) for student, (_, penalty) in WRITTEN_TIMES.items()}


def test_late_work_loses_the_penalty(late):
    assert totals(late) == RIGHT  # never below 0
    with book_of(late) as book:
        found = {one.student.id: one for one in book.assignment_submissions(NAME)}
        assert found["ben"].total_seconds_late == 3 * 3600
        assert found["ben"].timestamp == DUE + timedelta(hours=3)


def test_unusable_plugin_is_reported_before_grading(late, tmp_path):
    course = Course(shutil.copytree(late.root, tmp_path / "course"))
    with (course.root / CONFIG).open("a") as config:
        config.write('\nc.AssignLatePenalties.plugin_class = "no_such_file.Plugin"\n')
    output = said_by(course, *GRADE, code=2)
    assert "the plugin for late work (c.AssignLatePenalties.plugin_class) cannot be used" in output
    assert "no_such_file" in output


def test_ambiguous_time_is_rejected(course):
    submit(course, "ann", when="2027-03-01 17:00:00 IST")
    output = nbgrader(course, "autograde", NAME, code=1)
    assert f"ann, {NAME} cannot be graded: timestamp.txt: '" in output
    assert "2027-03-01 12:00:00 +0100" in output  # how to write it
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ("2027-03-01 01:00 PM", "write hours from 00 to 23"),
        ("2027-03-01 12:00 +01:99", "is not a time zone"),
        ("2027-03-01", "has no time; for the end of a day write 23:59 and your zone: 2027-03-01 23:59"),
        ("2027-03-01 12.30", "in this order"),
        ("1803902400", "in this order"),
        ("02.03.2027 10:00", "in this order"),
        ("2027-02-29 12:00", "day is out of range"),
    ],
)
def test_invalid_time_gives_the_reason(when, reason):
    with pytest.raises(WrongTime, match=reason):
        parse_utc(when)


@pytest.mark.parametrize("when", ["2027-03-01t12:00z", "2027-03-01 13:00 +01", "2027-03-01T12:00:00.123456789Z"])
def test_iso_time_is_read(when):
    assert parse_utc(when).replace(microsecond=0) == DUE


def test_extension_without_submission_exports_no_mark(late, tmp_path):
    """nbgrader adds a row for everybody with an extension; the export must not turn it into 0 points."""
    late = Course(shutil.copytree(late.root, tmp_path / "course"))
    with book_of(late) as book:
        book.update_or_create_student("dora")
    said_by(late, "extend", "dora", NAME, "--days", "3")
    nbgrader(late, "export", "--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=rows.csv")
    assert f"dora,{NAME},,,3.0,,,,,,,,nothing collected" in (late.root / "rows.csv").read_text()


def test_extension_removes_the_penalty_and_is_on_the_page(late):
    page = (late.root / "feedback" / "cleo" / NAME / "first.html").read_text()
    assert "Due: 2027-03-01 12:00 UTC. Handed in: 2027-03-03 12:00 UTC." in page
    for days, due, penalty in (("1.5", "2027-03-03 00:00", 1), ("3", "2027-03-04 12:00", 0)):
        output = said_by(late, "extend", "cleo", NAME, "--days", days)
        assert output.strip() == f"cleo: {NAME} is due {due} UTC"
        assert totals(late)["cleo"] == (3, penalty)
    said_by(late, *GRADE, "--feedback")
    page = (late.root / "feedback" / "cleo" / NAME / "first.html").read_text()
    assert "Due: 2027-03-04 12:00 UTC, with your extension." in page
    said_by(late, "extend", "cleo", NAME, "--days", "0")
    assert totals(late)["cleo"] == (3, 2)
    assert "the gradebook has no nobody" in said_by(late, "extend", "nobody", NAME, "--days", "3", code=2)


def test_released_notebook_comes_with_its_due_date(late, tmp_path):
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    nbgrader(late, "release_assignment", NAME, f"--Exchange.root={exchange}", "--course", "small")
    (path,) = exchange.glob(f"*/outbound/{NAME}/DUE.txt")
    assert path.read_text() == f"{NAME} is due 2027-03-01 12:00 UTC.\n"


def test_penalty_goes_with_its_timestamp(late, tmp_path):
    late = Course(shutil.copytree(late.root, tmp_path / "course"))
    right = totals(late)
    for student in ("ben", "cleo", "very-late"):
        (late.root / "submitted" / student / NAME / "timestamp.txt").unlink()
    with book_of(late) as book:  # as a script may do
        book.update_or_create_submission(NAME, "very-late", timestamp=DUE + timedelta(hours=30))
    output = said_by(late, "grade", "--gradebook", "--feedback")
    assert totals(late) == right | {"ben": (3, 0), "cleo": (3, 0), "very-late": (3, 2)}
    assert (
        f"ben, {NAME}: has no timestamp.txt any more, so 2027-03-01 15:00:00 UTC no longer counts as the time of "
        "handing in"
    ) in " ".join(output.split())
    for words in (GRADE, (*GRADE, "--force")):
        text = " ".join(said_by(late, *words).split())
        assert f"very-late, {NAME}: counts as late, because the gradebook has 2027-03-02 18:00:00 UTC" in text
        assert "ben" not in text
        assert totals(late)["very-late"] == (3, 2)
    page = (late.root / "feedback" / "cleo" / NAME / "first.html").read_text()
    assert "Handed in" not in page
    assert "late" not in said_by(late, "why", "ben", NAME)


def test_penalty_goes_with_its_timestamp_in_nbgraders_command(late, tmp_path):
    late = Course(shutil.copytree(late.root, tmp_path / "course"))
    (late.root / "submitted" / "ben" / NAME / "timestamp.txt").unlink()
    output = nbgrader(late, "autograde", NAME, "--student=ben", "--force")
    assert "seconds late" not in output
    assert totals(late)["ben"] == (3, 0)
