"""Links, pipes and other files in a submission are never followed, copied back or waited for."""

from __future__ import annotations

import os
import shutil

import pytest

from autograder.nbgrader.hardening.files import copy_plain_files
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRONG,
    book_of,
    graded,
    nbgrader,
    released,
    reweigh,
    said_by,
    submit,
)

COURSE = "links"


@pytest.fixture
def course(course, tmp_path):
    """A released course with its own exchange."""
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(f"c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = {COURSE!r}\n")
    nbgrader(course, "release_assignment", NAME)
    return course


def inbound(course, student):
    """The path of a student's submission in the exchange."""
    return course.root.parent / "exchange" / COURSE / "inbound" / f"{student}+{NAME}+2027-02-01 10:00:00 UTC+abc"


def hand_in(course, student):
    """Submits as `nbgrader submit` does; gives the folder, which the student owns."""
    folder = inbound(course, student)
    folder.mkdir()
    shutil.copy(released(course), folder)
    (folder / "timestamp.txt").write_text("2027-02-01 10:00:00 UTC")
    (folder / "submission_secret.txt").write_text(f"secret of {student}")
    return folder


def add_links(course, folder):
    """Links to files that a student may want to read, and a pipe."""
    (folder / "stolen.html").symlink_to(course.root / "gradebook.db")
    (folder / "suite.html").symlink_to(course.assignment(NAME).content / EXERCISE / "hidden_tests.py")
    (folder / "folder").symlink_to(course.root / "source")
    (folder / "deep").mkdir()
    (folder / "deep" / "stolen.csv").symlink_to("../../../gradebook.db")
    os.mkfifo(folder / "pipe.csv")
    (folder / "data.csv").write_text("1,2")


LEFT = ("deep/stolen.csv is a link", "folder is a link", "pipe.csv is not a file", "stolen.html is a link",
        "suite.html is a link")  # fmt: skip


def contents(*folders):
    """All files below the folders, after checking that none is a link or a file of the course."""
    found = {}
    for path in [path for folder in folders for path in folder.rglob("*") if not path.is_dir()]:
        assert path.is_file(), path
        assert not path.is_symlink(), path
        data = path.read_bytes()
        assert not data.startswith(b"SQLite format"), path
        assert b"pytest.mark.exercise" not in data, path
        found[path.name] = data
    return found


@pytest.mark.slow
def test_links_in_a_submission_return_nothing(course):
    """Collecting, grading and feedback report them, and handle all other submissions."""
    hand_in(course, "ada")
    add_links(course, hand_in(course, "mallory"))
    inbound(course, "eve").symlink_to(course.root / "source" / NAME)
    os.mkfifo(inbound(course, "frank"))
    inbound(course, "gus").with_name(f"gus+{NAME}+tomorrow").mkdir()
    inbound(course, "ada").with_name(f"ada+{NAME}+").mkdir()
    kept = submit(course, "eve")  # from an earlier collect
    for student in ("amy", "zoe"):
        hand_in(course, student)
    (course.root / "submitted" / "amy").touch()
    output = nbgrader(course, "collect", NAME, "--update", code=1)
    for sentence in LEFT:
        assert f"{sentence}, so it was not collected" in output
    assert f"{inbound(course, 'eve').name} cannot be collected: it is a link" in output
    assert f"{inbound(course, 'amy').name} cannot be collected: {course.root}/submitted/amy" in output
    assert f"{inbound(course, 'frank').name} cannot be collected: it is not a folder" in output
    assert f"gus+{NAME}+tomorrow cannot be collected: its name is not STUDENT+ASSIGNMENT+TIME" in output
    root = course.root
    (root / "submitted" / "amy").unlink()
    collected = {"ada", "eve", "mallory", "zoe"}
    assert {path.name for path in (root / "submitted").iterdir() if any(path.iterdir())} == collected
    assert kept.is_file()
    nbgrader(course, "autograde", NAME)
    nbgrader(course, "generate_feedback", NAME)
    output = nbgrader(course, "release_feedback", NAME, code=1)
    assert f"feedback/eve/{NAME}: no submission_secret.txt, which the exchange adds" in output
    contents(root / "submitted", root / "autograded", root / "feedback", root.parent / "exchange" / COURSE / "feedback")
    assert (root / "autograded" / "mallory" / NAME / "data.csv").read_text() == "1,2"
    assert len(list((root.parent / "exchange" / COURSE / "feedback").iterdir())) == 3
    with book_of(course) as book:
        assert {one.student.id for one in book.assignment_submissions(NAME)} == collected


@pytest.mark.slow
def test_links_copied_with_a_submission_are_reported(course):
    """An instructor's own copy may contain links. The notebook is graded, and only its page is made."""
    folder = submit(course, "mallory").parent
    add_links(course, folder)
    submit(course, "zoe")
    (course.root / "submitted" / "eve").mkdir()
    (course.root / "submitted" / "eve" / NAME).symlink_to(course.root / "submitted" / "zoe" / NAME)
    output = said_by(course, "grade", "--gradebook", "--feedback", code=1)
    for sentence in LEFT:
        assert f"mallory, {NAME}: {sentence}, so it was not copied" in output
    assert f"eve, {NAME}: the folder {NAME} is a link; put the files themselves there" in output
    assert "2 graded, 1 could not be graded" in output
    contents(course.root / "autograded", course.root / "feedback")
    assert [path.name for path in course.root.glob("feedback/mallory/**/*.html")] == ["first.html"]


@pytest.mark.catalogue
@pytest.mark.slow
def test_only_generated_pages_are_released(course):
    for student in ("ada", "bob", "cy", "dan"):
        hand_in(course, student)
    nbgrader(course, "collect", NAME)
    graded(course, feedback=True)
    feedback = course.root / "feedback"
    (feedback / "bob" / NAME / "stolen.html").symlink_to(course.root / "gradebook.db")
    (feedback / "cy" / NAME / "0.html").write_text("of an older kit")
    (feedback / "dan" / NAME / "submission_secret.txt").unlink()
    output = nbgrader(course, "release_feedback", NAME, code=1)
    assert f"feedback/bob/{NAME}: stolen.html is not the page first.html; run nbgrader generate_feedback" in output
    assert "0.html is not the page first.html" in output
    assert f"feedback/dan/{NAME}: no submission_secret.txt" in output
    (page,) = (course.root.parent / "exchange" / COURSE / "feedback").iterdir()
    assert page.read_bytes() == (feedback / "ada" / NAME / "first.html").read_bytes()


def test_folder_replaced_by_a_link_during_the_copy_is_not_followed(tmp_path):
    """The student owns the submission, and can change it while it is copied."""
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "x").write_text("secret")

    def wanted(place, is_folder):
        if is_folder:  # after it was checked, before it is opened
            (tmp_path / "in" / "a").rmdir()
            (tmp_path / "in" / "a").symlink_to(tmp_path / "secret")
        return True

    copy_plain_files(tmp_path / "in", tmp_path / "out", 100, wanted)
    assert not list(tmp_path.glob("out/**/x"))


def test_too_large_file_is_reported_and_not_copied(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "big").write_bytes(bytes(2**20 + 1))
    (tmp_path / "in" / "small").write_text("x")
    assert copy_plain_files(tmp_path / "in", tmp_path / "out", 2**20) == ["big has 1.0 MB; the limit is 1"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["small"]


LINK, FILE = "it is a link", "Not a directory"
# By student: what cannot be removed, read or written, and what the command says.
OBSTACLES = {
    "autograded link": (f"autograded/{{}}/{NAME}", "link", LINK),
    "autograded file above": ("autograded/{}", "file", FILE),
    "feedback link": (f"feedback/{{}}/{NAME}", "link", LINK),
    "submitted file": (f"submitted/{{}}/{NAME}", "file", FILE),
}


def put_in_the_way(path, kind):
    """Replace a path by a link, a file or a folder."""
    place = path.parent / "elsewhere"
    if path.is_dir():
        shutil.move(path, place)
    else:
        path.unlink()
    if kind == "link":
        path.symlink_to(place if place.exists() else path.parent)
    else:
        path.touch()


@pytest.mark.slow
def test_folder_that_cannot_be_used_costs_one_student(course):
    """All others are graded, and their pages are made, whatever command meets it."""
    for student in ("ada", *OBSTACLES, "zoe"):
        submit(course, student)
    said_by(course, "grade", "--gradebook", "--feedback", "--quiet")
    for student, (place, kind, _) in OBSTACLES.items():
        put_in_the_way(course.root / place.format(student), kind)
    for student in ("ada", "zoe", *(name for name in OBSTACLES if "submitted" not in name)):
        submit(course, student, {EXERCISE: WRONG})
    output = said_by(course, "grade", "--gradebook", "--feedback", code=1)
    assert "Traceback" not in output
    lines = output.splitlines()
    for student, (_, _, reason) in OBSTACLES.items():
        assert [line for line in lines if f"{student}, {NAME}: " in line and reason in line], (student, output)
    assert_graded(course, "ada", "zoe")
    with book_of(course) as book:  # nothing is entered for those who are reported as not graded
        old = {one.student.id for one in book.assignment_submissions(NAME) if one.score == 3}
    assert old == OBSTACLES.keys() - {"feedback link"}
    for page in course.root.glob("feedback/*/*/*.html"):
        page.unlink()
    log = nbgrader(course, "autograde", NAME, "--force", code=1)
    log += nbgrader(course, "generate_feedback", NAME, code=1)
    assert "Traceback" not in log
    for student, (_, _, reason) in OBSTACLES.items():
        assert [line for line in log.splitlines() if student in line and reason in line], (student, log)
    assert_graded(course, "ada", "zoe")
    reweigh(course)
    output = said_by(course, "regrade", NAME, "--write")
    assert "nbgrader could not grade autograded link; the old marks stay." in output
    output = said_by(course, "regrade", NAME, "--undo", code=2)
    assert "the marks are restored, but not the folders in autograded/ of autograded link (" in output
    (course.root / "autograded" / "autograded link" / NAME).unlink()
    said_by(course, "regrade", NAME, "--undo")


def assert_graded(course, *students):
    with book_of(course) as book:
        marks = {one.student.id: one.score for one in book.assignment_submissions(NAME)}
    for student in students:
        assert marks[student] < 3
        assert (course.root / "feedback" / student / NAME / "first.html").is_file()


def test_corrected_time_stays_when_the_exchange_is_collected_again(course):
    folder = hand_in(course, "ada")
    nbgrader(course, "collect", NAME, "--update")
    path = course.root / "submitted" / "ada" / NAME / "timestamp.txt"
    path.write_text("2027-01-31 10:00:00 UTC")  # earlier, so that nbgrader takes the same work for newer
    output = nbgrader(course, "collect", NAME, "--update")
    assert "kept timestamp.txt as a person has left it" in output
    assert "ada (2027-01-31 10:00:00, not 2027-02-01 10:00:00)" in output
    assert path.read_text() == "2027-01-31 10:00:00 UTC"
    newer = folder.rename(folder.with_name(folder.name.replace("02-01", "02-02")))
    (newer / "timestamp.txt").write_text("2027-02-02 10:00:00 UTC")
    (newer / NOTEBOOK).write_text(released(course).read_text() + "\n")
    output = nbgrader(course, "collect", NAME, "--update")
    assert "ada (2027-02-02 10:00:00, no longer 2027-01-31 10:00:00)" in output
    assert path.read_text() == "2027-02-02 10:00:00 UTC"


def test_collect_takes_brackets_in_an_id_as_they_are_and_names_a_place_where_it_finds_nothing(course, tmp_path):
    for student in ("a", "[ab]"):
        hand_in(course, student)
    nbgrader(course, "collect", NAME, "--student=[ab]")
    assert os.listdir(course.root / "submitted") == ["[ab]"]
    place = (tmp_path / "exchange").rename(tmp_path / "exchange [1]")
    output = nbgrader(course, "collect", NAME, f"--Exchange.root={place}", code=1)
    assert f"{place / COURSE}: nbgrader takes [, ? and * in the exchange's path for a pattern" in output
