"""A `timestamp.txt` that a person has corrected, added or removed, when downloads are collected again."""

from __future__ import annotations

import shutil

import pytest

from autograder.course.assignments import Course
from tests.helpers.downloads import archive_of, collect, download
from tests.helpers.small_course import NAME, NOTEBOOK, nbgrader, released

DUE, LATE, CORRECTED = "2027-03-01 12:00", "2027-03-01 12:00:01", "2027-03-04 10:00:00 UTC\n"
EXPORT = """---
submission_7:
  :submitters:
  - :name: Ben
    :sid: ben
  :created_at: 2027-03-01 12:00:01.000000000 Z
"""
# By system the student and what is downloaded: late, and, if the system has such, in time.
DOWNLOADS = {
    "Canvas": ("okriben_4302", f"okriben_LATE_4302_98002_{NOTEBOOK}", f"okriben_4302_98002_{NOTEBOOK}"),
    "Moodle": ("Ben O", "", f"Ben O_12_assignsubmission_file/{NOTEBOOK}"),
    "Gradescope": ("ben", f"export/submission_7/{NOTEBOOK}", ""),
}


def collected_again(course, system, name, work=""):
    """Collect a download with this file, and `work` instead of the release; returns what is said on times."""
    beside = {"export/submission_metadata.yml": EXPORT} if system == "Gradescope" else {}
    download(course, {name: released(course).read_text() + work} | beside)
    output, _ = collect(course, system)
    return [line.partition("] ")[2] for line in output.splitlines() if "timestamp.txt" in line]


def time_of(course, student):
    path = course.root / "submitted" / student / NAME / "timestamp.txt"
    return path.read_text() if path.exists() else None


@pytest.fixture(scope="module")
def due(original, tmp_path_factory):
    course = Course(shutil.copytree(original.root, tmp_path_factory.mktemp("due") / "course"))
    nbgrader(course, "db", "assignment", "add", NAME, f"--duedate={DUE} UTC")
    return course


@pytest.fixture
def course_due(due, tmp_path):
    return Course(shutil.copytree(due.root, tmp_path / "course"))


@pytest.mark.parametrize(
    ("system", "late"), [("Canvas", True), ("Canvas", False), ("Moodle", False), ("Gradescope", True)]
)
def test_time_that_a_person_wrote_stays_until_other_work_is_handed_in(course_due, system, late):
    course, (student, *names) = course_due, DOWNLOADS[system]
    name, collected_time = (names[0], LATE) if late else (names[1], None)
    assert collected_again(course, system, name) == []
    assert time_of(course, student) == collected_time
    path = course.root / "submitted" / student / NAME / "timestamp.txt"
    path.write_text(CORRECTED)
    for _ in range(2):
        (said,) = collected_again(course, system, name)
        shown = collected_time or "no time"
        assert said.startswith("kept timestamp.txt as a person has left it")
        assert said.endswith(f"{student} (2027-03-04 10:00:00, not {shown})")
        assert path.read_text() == CORRECTED
    (said,) = collected_again(course, system, name, "\n")
    assert said.startswith("replaced a timestamp.txt that a person had changed, since other work was collected")
    assert said.endswith(f"{student} ({shown}, no longer 2027-03-04 10:00:00)")
    assert time_of(course, student) == collected_time
    assert collected_again(course, system, name, "\n") == []


def test_time_that_a_person_removed_stays_away(course_due):
    course, (student, late, _) = course_due, DOWNLOADS["Canvas"]
    collected_again(course, "Canvas", late)
    (course.root / "submitted" / student / NAME / "timestamp.txt").unlink()
    (said,) = collected_again(course, "Canvas", late)
    assert said.endswith(f"{student} (no time, not {LATE})")
    assert time_of(course, student) is None
    shutil.rmtree(course.root / "submitted")  # to start again
    assert collected_again(course, "Canvas", late) == []
    assert time_of(course, student) == LATE


@pytest.mark.parametrize("remembered", [True, False])
def test_time_of_the_collector_goes_and_follows(course_due, remembered):
    course, (student, late, in_time) = course_due, DOWNLOADS["Canvas"]
    collected_again(course, "Canvas", late)
    if not remembered:
        (course.root / ".collected_times.json").unlink()  # as if an older version had collected it
    assert collected_again(course, "Canvas", in_time) == []  # an extension in Canvas
    assert time_of(course, student) is None
    collected_again(course, "Canvas", late)
    nbgrader(course, "db", "assignment", "add", NAME, "--duedate=2027-03-08 12:00 UTC")
    assert collected_again(course, "Canvas", late) == []
    assert time_of(course, student) == "2027-03-08 12:00:01"


def test_corrected_time_of_a_group_stays_for_each_member(course_due):
    course = course_due
    (archive_of(course).parent / "groups.csv").write_text("group,student\nTeam,okriben_4302\nTeam,parklena_4303\n")
    name = f"team_LATE_4302_98002_{NOTEBOOK}"
    collected_again(course, "Canvas", name)
    (course.root / "submitted" / "parklena_4303" / NAME / "timestamp.txt").write_text(CORRECTED)
    (said,) = collected_again(course, "Canvas", name)
    assert said.endswith(f"parklena_4303 (2027-03-04 10:00:00, not {LATE})")
    assert (time_of(course, "parklena_4303"), time_of(course, "okriben_4302")) == (CORRECTED, LATE)
