"""Links, pipes and other files in a hand-in: nothing that they lead to comes back, and nothing waits for them."""

from __future__ import annotations

import os
import shutil

import pytest

from autograder.nbgrader.files import copy_plain_files
from tests.helpers.small_course import EXERCISE, NAME, book_of, graded, nbgrader, released, said_by, submit

COURSE = "links"


@pytest.fixture
def course(course, tmp_path):
    """A released course with an exchange of its own."""
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(f"c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = {COURSE!r}\n")
    nbgrader(course, "release_assignment", NAME)
    return course


def inbound(course, student):
    """Where a student's hand-in lies in the exchange; it is not made."""
    return course.root.parent / "exchange" / COURSE / "inbound" / f"{student}+{NAME}+2027-02-01 10:00:00 UTC+abc"


def hand_in(course, student):
    """As `nbgrader submit` does it; gives the folder, which is the student's own."""
    folder = inbound(course, student)
    folder.mkdir()
    shutil.copy(released(course), folder)
    (folder / "timestamp.txt").write_text("2027-02-01 10:00:00 UTC")
    (folder / "submission_secret.txt").write_text(f"secret of {student}")
    return folder


def add_links(course, folder):
    """What a student could want to read, and a pipe."""
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
    """Every file below the folders; none of them is a link or leads to what is not the students'."""
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
def test_no_link_in_a_hand_in_brings_anything_back(course):
    """From the exchange to the exchange; what is left is told, and all others are collected."""
    hand_in(course, "ada")
    add_links(course, hand_in(course, "mallory"))
    inbound(course, "eve").symlink_to(course.root / "source" / NAME)
    os.mkfifo(inbound(course, "frank"))
    inbound(course, "gus").with_name(f"gus+{NAME}+tomorrow").mkdir()
    inbound(course, "ada").with_name(f"ada+{NAME}+").mkdir()
    kept = submit(course, "eve")  # collected earlier
    said = nbgrader(course, "collect", NAME, "--update", code=1)
    for sentence in LEFT:
        assert f"{sentence}, so it was not collected" in said
    assert f"{inbound(course, 'eve').name} cannot be collected: it is a link" in said
    assert f"{inbound(course, 'frank').name} cannot be collected: it is not a folder" in said
    assert f"gus+{NAME}+tomorrow cannot be collected: its name is not STUDENT+ASSIGNMENT+TIME" in said
    root = course.root
    assert {path.name for path in (root / "submitted").iterdir() if any(path.iterdir())} == {"ada", "eve", "mallory"}
    assert kept.is_file()
    nbgrader(course, "autograde", NAME)
    nbgrader(course, "generate_feedback", NAME)
    said = nbgrader(course, "release_feedback", NAME, code=1)
    assert f"feedback/eve/{NAME}: no submission_secret.txt, which the exchange adds" in said
    contents(root / "submitted", root / "autograded", root / "feedback", root.parent / "exchange" / COURSE / "feedback")
    assert (root / "autograded" / "mallory" / NAME / "data.csv").read_text() == "1,2"
    assert len(list((root.parent / "exchange" / COURSE / "feedback").iterdir())) == 2
    with book_of(course) as book:
        assert {one.student.id for one in book.assignment_submissions(NAME)} == {"ada", "eve", "mallory"}


@pytest.mark.slow
def test_links_that_were_brought_here_with_their_hand_in_are_told(course):
    """A teacher's own copying may keep links. The notebook is graded, and the page is the only one."""
    folder = submit(course, "mallory").parent
    add_links(course, folder)
    submit(course, "zoe")
    (course.root / "submitted" / "eve").mkdir()
    (course.root / "submitted" / "eve" / NAME).symlink_to(course.root / "submitted" / "zoe" / NAME)
    said = said_by(course, "grade", "--gradebook", "--feedback", code=1)
    for sentence in LEFT:
        assert f"mallory, {NAME}: {sentence}, so it was not copied" in said
    assert f"eve, {NAME}: the folder {NAME} is a link; put the files themselves there" in said
    assert "2 graded, 1 could not be graded" in said
    contents(course.root / "autograded", course.root / "feedback")
    assert [path.name for path in course.root.glob("feedback/mallory/**/*.html")] == ["first.html"]


@pytest.mark.catalogue
@pytest.mark.slow
def test_only_pages_of_ours_are_released_and_one_that_cannot_be_costs_nobody_else(course):
    for student in ("ada", "bob", "cy", "dan"):
        hand_in(course, student)
    nbgrader(course, "collect", NAME)
    graded(course, feedback=True)
    feedback = course.root / "feedback"
    (feedback / "bob" / NAME / "stolen.html").symlink_to(course.root / "gradebook.db")
    (feedback / "cy" / NAME / "0.html").write_text("of an older kit")
    (feedback / "dan" / NAME / "submission_secret.txt").unlink()
    said = nbgrader(course, "release_feedback", NAME, code=1)
    assert f"feedback/bob/{NAME}: stolen.html is not the page first.html; run nbgrader generate_feedback" in said
    assert "0.html is not the page first.html" in said
    assert f"feedback/dan/{NAME}: no submission_secret.txt" in said
    (page,) = (course.root.parent / "exchange" / COURSE / "feedback").iterdir()
    assert page.read_bytes() == (feedback / "ada" / NAME / "first.html").read_bytes()


def test_a_link_that_takes_a_folders_place_meanwhile_is_not_followed(tmp_path):
    """The student owns the hand-in, and can change it while it is being copied."""
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "x").write_text("secret")

    def wanted(place, is_folder):
        if is_folder:  # between the look at the folder and the step into it
            (tmp_path / "in" / "a").rmdir()
            (tmp_path / "in" / "a").symlink_to(tmp_path / "secret")
        return True

    copy_plain_files(tmp_path / "in", tmp_path / "out", 100, wanted)
    assert not list(tmp_path.glob("out/**/x"))


def test_a_file_that_is_too_large_is_left_and_told(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "big").write_bytes(bytes(2**20 + 1))
    (tmp_path / "in" / "small").write_text("x")
    assert copy_plain_files(tmp_path / "in", tmp_path / "out", 2**20) == ["big has 1.0 MB; the limit is 1"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["small"]
