"""From Canvas and Moodle and back: what they gave to download, graded, and what they take back.

The small models of the systems below read files as the code that is named in `autograder.nbgrader.returning` does.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import zipfile

import pytest

from autograder.course import Course
from tests.small_course import (
    A_POINT_FOR_LATENESS,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRONG,
    book_of,
    command,
    graded,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
# Three students: one right and in time, one wrong, one right and late; a fourth file cannot be read.
CANVAS = {
    "doejane_4321_98765_first.ipynb": "right",
    "leeann_4400_98770_first-1.ipynb": "wrong",
    "mullerzoe_LATE_17_98771_first (2).ipynb": "right",
    "zed_99_98772_first.ipynb": "broken",
}
MOODLE = {
    "Jane Doe_123456_assignsubmission_file/first.ipynb": "right",
    "Ann O'Lee_123457_assignsubmission_file/first (1).ipynb": "wrong",
    "Zoë Müller_123458_assignsubmission_file_/first.ipynb": "right",
    "Zed_123459_assignsubmission_file/first.ipynb": "broken",
}
WORKSHEET = (
    "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    'Participant 123456,Jane Doe,jane@example.edu,Submitted,,100.00,Yes,"Sunday, 1 March 2026, 9:00 AM",-,\n'
    'Participant 123457,Ann O\'Lee,ann@example.edu,Submitted,,100.00,Yes,"Sunday, 1 March 2026",-,"so, so"\n'
    'Participant 123458,Zoë Müller,zoe@example.edu,Submitted,,100.00,Yes,"Sunday, 1 March 2026",-,\n'
    'Participant 123459,Zed,zed@example.edu,Submitted,,100.00,Yes,"Sunday, 1 March 2026",-,\n'
    "Participant 123460,Not There,none@example.edu,No submission,,100.00,Yes,-,-,\n"
)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Released, with a due date and a penalty for late work."""
    course = small_course(tmp_path_factory.mktemp("return") / "course", A_POINT_FOR_LATENESS)
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-01 12:00:00")
    return course


def collected(course, folder, names, collector):
    """Downloaded from a system, collected, graded, with pages."""
    course = Course(shutil.copytree(course.root, folder / "course"))
    kinds = {
        "right": submit(course, "x").read_text(),
        "wrong": submit(course, "x", {EXERCISE: WRONG}).read_text(),
        "broken": "{",
    }
    shutil.rmtree(course.root / "submitted")
    archive = course.root / "downloaded" / NAME / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "submissions.zip", "w") as download:
        for name, kind in names.items():
            download.writestr(name, kinds[kind])
    command = ["nbgrader", "zip_collect", NAME, "--force", f"--collector=autograder.nbgrader.collectors.{collector}"]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    graded(course, feedback=True)
    return course


def as_canvas_reads(text, users):
    """Marks by user and column as `GradebookImporter` reads them; a row it knows nobody for is an error."""
    head, *rows = csv.reader(text.splitlines())
    assert len(head) > 3
    assert "Student" in head[0]
    assert "ID" in head[1]
    assert "Section" in head[2]
    title, number = re.fullmatch(r"(.*) \((\d+)\)", head[3]).groups()
    assert {row[1] for row in rows} <= users
    return title, number, {row[1]: float(row[3]) for row in rows if row[3]}


def as_canvas_takes_pages(path, attachments):
    """Pages by user as `infer_comment_context_from_filename` finds them; attachments: user by file's number."""
    with zipfile.ZipFile(path) as archive:
        found = {}
        for name in archive.namelist():
            user, attachment = [part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]
            assert attachments[attachment] == user
            found[user] = archive.read(name).decode()
    return found


def test_canvas_there_and_back(begun, tmp_path):
    course = collected(begun, tmp_path, CANVAS, "Canvas")
    stamps = {path.parents[1].name: path.read_text() for path in course.root.glob("submitted/*/*/timestamp.txt")}
    assert stamps.keys() == {"mullerzoe_17"}
    assert stamps["mullerzoe_17"].startswith("2026-03-01 12:00:01")
    words = ("--to", "canvas", "--marks", "canvas.csv", "--feedback", "canvas.zip", "--column", "Attention 1 (777)")
    code, said = command(course, "return", NAME, *words)
    assert code == 1, said
    assert "zed_99: could not be graded" in said
    attachments = {number: user for user, number in re.findall(r"_(\d+)_(\d+)_", " ".join(CANVAS))}
    title, number, marks = as_canvas_reads((course.root / "canvas.csv").read_text(), set(attachments.values()))
    assert (title, number) == ("Attention 1", "777")
    assert marks.keys() == {"4321", "4400", "17"}
    assert (marks["4321"], marks["17"]) == (3, 2)  # a point less for late work
    assert marks["4400"] < 3
    pages = as_canvas_takes_pages(course.root / "canvas.zip", attachments)
    assert pages.keys() == {"4321", "4400", "17"}
    assert "Late submission penalty" in pages["17"]
    assert "Late submission penalty" not in pages["4321"]


def as_moodle_takes_pages(path):
    """Pages by participant and file name, as `is_valid_filename_for_import` finds them."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            folder, _, rest = name.partition("/")
            parts = folder.split("_", 4)
            assert parts[2:4] == ["assignsubmission", "file"]
            found[parts[1], rest] = archive.read(name).decode()
    return found


def test_moodle_there_and_back(begun, tmp_path):
    course = collected(begun, tmp_path, MOODLE, "Moodle")
    (course.root / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    words = ("--to", "moodle", "--sheet", "worksheet.csv", "--marks", "moodle.csv", "--feedback", "moodle.zip")
    code, said = command(course, "return", NAME, *words)
    assert code == 1, said
    assert "Moodle's maximum grade is 100.00, here it is 3" in said
    before = list(csv.DictReader(WORKSHEET.removeprefix("\ufeff").splitlines()))
    after = list(csv.DictReader((course.root / "moodle.csv").read_text().splitlines()))
    assert [{**row, "Grade": ""} for row in after] == before  # nothing else has changed
    grades = {row["Full name"]: row["Grade"] for row in after}
    assert (grades["Jane Doe"], grades["Zoë Müller"], grades["Zed"], grades["Not There"]) == ("3", "3", "", "")
    assert 0 <= float(grades["Ann O'Lee"]) < 3
    pages = as_moodle_takes_pages(course.root / "moodle.zip")
    assert pages.keys() == {(number, "first.html") for number in ("123456", "123457", "123458")}


def test_what_is_missing_for_the_way_back_is_said(begun, tmp_path):
    course = Course(shutil.copytree(begun.root, tmp_path / "course"))
    (course.root / "sheet.csv").write_text("Nom,Note\n")
    for words, said in (
        (("--to", "canvas", "--marks", "c.csv"), "nothing that Canvas has named"),
        (("--to", "moodle", "--marks", "m.csv"), "name it with --sheet"),
        (("--to", "canvas"), "name --marks, --feedback, or both"),
    ):
        code, text = command(course, "return", NAME, *words)
        assert (code, said in " ".join(text.split())) == (2, True), text
    place = course.root / "downloaded" / NAME / "extracted" / "Jo_1_assignsubmission_file" / NOTEBOOK
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    code, said = command(course, "return", NAME, "--to", "moodle", "--marks", "m.csv", "--sheet", "sheet.csv")
    assert (code, "no columns Identifier and Grade" in said) == (2, True)
