"""Nothing that a student wrote gets lost, from the download to the returned feedback.

One course has a student for each case: odd archives and ids, pasted pictures, long answers, answers outside their
cell, code that stops. All are collected, autograded, opened in formgrader in Chromium, given feedback and returned.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import zipfile

import bs4
import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.course.assignments import Course
from autograder.submission import grade_id
from autograder.text import composed
from tests.helpers.browser import lab
from tests.helpers.downloads import AsTheFinder, archive_of, collect, download, repacked
from tests.helpers.odd_answers import (
    ELSEWHERE,
    IN_PLACE,
    LONG,
    PICTURE,
    RIGHT,
    UNTOUCHED,
    WORDS,
    answer_of,
)
from tests.helpers.small_course import (
    A_POINT_FOR_LATENESS,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    book_of,
    nbgrader,
    said_by,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
sync_api = pytest.importorskip("playwright.sync_api")
COPY = "first-Copy1.ipynb"
FINDERS, BACKSLASHES = "Zoë Ünal", "Łukasz Żak"
CANVAS = ("jdoe_22_4326", "okriben_4311", "parklena_4312")  # the last two form a group


def student_of(change):
    return change.__name__.replace("_", " ")  # as in Moodle's names


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Course, str]:
    """The course after the run, and the output of autograde."""
    course = small_course(tmp_path_factory.mktemp("elsewhere") / "course", A_POINT_FOR_LATENESS, written=True)
    nbgrader(course, "db", "assignment", "add", NAME, "--duedate=2027-03-01 12:00 UTC")
    for change in [*ELSEWHERE, *IN_PLACE, *UNTOUCHED]:
        path = submit(course, student_of(change))
        notebook = nbformat.read(path, 4)
        change(notebook)
        path.write_text(json.dumps(notebook))
    copies(course, "copy1", {}, {EXERCISE: RIGHT, WRITTEN: WORDS})
    copies(course, "nameless", {}, {EXERCISE: RIGHT, WRITTEN: WORDS})
    for path in (course.root / "submitted" / "nameless" / NAME).glob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        for cell in notebook.cells:  # as an editor without nbgrader saves it
            cell.metadata = {}
        nbformat.write(notebook, path)
    copies(course, "both", {EXERCISE: RIGHT}, {WRITTEN: WORDS})
    copies(course, "first", {EXERCISE: RIGHT, WRITTEN: WORDS}, {})
    for student in (FINDERS, BACKSLASHES):
        submit(course, student)
    collect_from_canvas(course, submit(course, "x"))
    collect_from_moodle(course)
    folder = submit(course, "script", {}).parent  # the rest as from a hub, which keeps subfolders
    (folder / "first.py").write_text(f"{RIGHT}\n")
    folder = submit(course, "folder", {EXERCISE: RIGHT, WRITTEN: WORDS}).parent
    (folder / "work").mkdir()
    (folder / NOTEBOOK).rename(folder / "work" / NOTEBOOK)
    submit(course, "folder", {})
    for student, when in {"offset": "2027-03-01 13:30 +0200", "day_first": "02.03.2027 10:00"}.items():
        submit(course, student, when=when)
    output = nbgrader(course, "autograde", NAME, code=1)  # day_first cannot be graded
    nbgrader(course, "generate_feedback", NAME)
    return course, output


def collect_from_canvas(course, path):
    """An id that contains a number, and a group's work. Roster and groups are saved by a spreadsheet."""
    text = path.read_text()
    shutil.rmtree(path.parents[1])
    (course.root / "class.csv").write_text("ID;Name\n" + "".join(f"{student};Jo Doe\n" for student in CANVAS))
    said_by(course, "roster", "class.csv")
    download(course, {f"jdoe_22_4326_98770_{NOTEBOOK}": text, f"teamrocket_4311_98771_{NOTEBOOK}": text})
    members = "".join(f"TeamRocket;{student}\r\n" for student in CANVAS[1:])
    (archive_of(course).parent / "groups.csv").write_bytes(f"\ufeffGroup;Student\r\n{members}".encode())
    (course.root / "submitted").rename(course.root / "others")
    assert "3 students collected" in collect(course, "Canvas")[0]
    (course.root / "downloaded").rename(course.root / "of Canvas")


def collect_from_moodle(course):
    """All others, in a zip from macOS and one from Windows."""
    entries, numbers = {AsTheFinder: {}, zipfile.ZipInfo: {}}, {}
    for number, folder in enumerate(sorted((course.root / "others").iterdir()), 101):
        numbers[folder.name] = number
        kind, between = (zipfile.ZipInfo, "\\") if folder.name == BACKSLASHES else (AsTheFinder, "/")
        for path in sorted((folder / NAME).glob("*.ipynb")):
            entries[kind][f"{folder.name}_{number}_assignsubmission_file{between}{path.name}"] = path.read_text()
    for kind, packed in entries.items():
        (archive_of(course) / f"{kind.__name__}.zip").write_bytes(repacked(packed, kind))
    sheet = (f"Participant {number},{student},\n" for student, number in numbers.items())
    (course.root / "sheet.csv").write_text("".join(["Identifier,Full name,Grade\n", *sheet]))
    assert f"{len(numbers)} students collected" in collect(course, "Moodle")[0]


def copies(course, student, first, second):
    """Two notebooks with these answers; the second has the name of JupyterLab's copy. Both have the installing cell."""
    for answers, name in ((second, COPY), (first, NOTEBOOK)):
        notebook = nbformat.read(submit(course, student, answers, name), 4)
        notebook.cells.insert(0, new_code_cell("# Run this first.\npass"))
        if student == "copy1":  # no other cell above the exercise
            named = [cell for cell in notebook.cells if grade_id(cell)]
            notebook.cells = [notebook.cells[0], *named]
        nbformat.write(notebook, course.root / "submitted" / student / NAME / name)


def grade(course, student):
    with book_of(course) as book:
        found = book.find_grade(WRITTEN, "first", NAME, student)
        return found.auto_score, bool(found.needs_manual_grade)


def field(course, student):
    """The answer's cell in the autograded copy."""
    return answer_of(nbformat.read(course.root / "autograded" / student / NAME / NOTEBOOK, 4))


def page(course, student):
    return bs4.BeautifulSoup((course.root / "feedback" / student / NAME / "first.html").read_text(), "html.parser")


@pytest.mark.parametrize("change", ELSEWHERE)
def test_answer_outside_its_cell_is_shown_and_needs_manual_grading(run, change):
    course, output = run
    student = student_of(change)
    assert grade(course, student) == (None, True)
    assert WORDS in field(course, student).source
    assert WORDS in page(course, student).text
    (notice,) = (line for line in output.splitlines() if f"{student}, {NAME}: the cell of" in line)
    assert "cell " in notice
    assert WORDS in notice


def by_tests(course, student):
    with book_of(course) as book:
        return book.find_grade(f"test-{EXERCISE}", "first", NAME, student).auto_score


@pytest.mark.parametrize(
    ("student", "graded", "other"),
    [
        ("copy1", COPY, NOTEBOOK),
        ("first", NOTEBOOK, COPY),
        ("nameless", COPY, NOTEBOOK),
        ("folder", f"work/{NOTEBOOK}", NOTEBOOK),
    ],
)
def test_notebook_with_work_is_graded_if_there_are_two(run, student, graded, other):
    course, output = run
    assert (by_tests(course, student), grade(course, student)) == (3, (None, True))
    assert WORDS in field(course, student).source
    notice = f"{student}, {NAME}: {graded} was graded; {other} beside it has no work in it"
    assert notice in output
    marked = said_by(course, "grade", course.root / "submitted" / student)
    assert f"warning: {notice}" in marked
    assert "3 / 3" in marked


def test_second_notebook_with_work_is_reported(run):
    course, output = run
    assert (by_tests(course, "both"), grade(course, "both")) == (3, (None, True))
    assert WORDS in field(course, "both").source
    assert f"both, {NAME}: {NOTEBOOK} was graded; the folder also has {COPY} with other work in it" in output
    assert f'{COPY}, "{WORDS}"' in output


def test_picture_pasted_as_text_is_shown(run):
    course, output = run
    assert grade(course, "picture") == (None, True)
    assert list(field(course, "picture").attachments.values()) == [{"image/png": PICTURE}]
    shown = page(course, "picture")
    assert WORDS in shown.text
    assert len(shown.find_all("img", src=f"data:image/png;base64,{PICTURE}")) == 1
    shown = page(course, "html")
    assert len(shown.find_all("img", src=f"data:image/png;base64,{PICTURE}")) == 1
    assert WORDS in shown.text
    assert len(field(course, "html").source) < 300, "base64 text in the answer"
    pictures = page(course, "pictures of one name").find_all("img", src=re.compile("^data:image/png"))
    assert len({picture["src"] for picture in pictures}) == 2
    assert len(pictures) == 4, "each in its place and in the answer's cell"
    assert f"{NAME}: pictures were moved out of the texts of: above 1, picture 1" in output


def test_split_and_long_answers_are_complete(run):
    course, output = run
    for student, words in {"answered twice": "Or: the row's own mean.", "split": WORDS}.items():
        assert words in field(course, student).source
        assert f"{student}, {NAME}: the cell of '{WRITTEN}' is not all of the answer: cell " in output
    assert field(course, "long").source == LONG
    assert LONG in page(course, "long").text
    assert field(course, "after a book").source == WORDS
    (notice,) = (line for line in output.splitlines() if f"after a book, {NAME}: texts beyond 1,000,000" in line)
    assert f"submitted/after a book/{NAME}/{NOTEBOOK}" in notice


# By student: the points by tests, and text on the pages of formgrader and feedback.
GRADED = {
    **dict.fromkeys(("copied", "below", "above", "picture", "attached", "copy1", "folder"), (3, WORDS)),
    **dict.fromkeys((FINDERS, BACKSLASHES, *CANVAS, "offset", "scratch"), (3, "row_centred: 3 of 3 points")),
    "commented": (3, "My rows"),
    "library": (0, "no_such_library"),
    "script": (0, "it has nothing for row_centred, but the folder also has first.py"),
}


@pytest.mark.catalogue
def test_formgrader_shows_marks_and_answers(run, chromium):
    course, _ = run
    with book_of(course) as book:
        numbers = {s.student_id: s.notebooks[0].id for s in book.assignment_submissions(NAME)}
    with lab(course.root) as address:
        page = chromium.new_page()
        page.goto(f"{address}/formgrader?token=secret")
        page.goto(f"{address}/formgrader/manage_submissions/{NAME}")
        page.locator("tr", has_text="day_first").wait_for(timeout=60_000)
        rows = {cells[1]: cells[2:5] for cells in (row.split("\t") for row in page.locator("tr").all_inner_texts()[1:])}
        assert rows["day_first"][1] == "needs autograding"
        assert rows["offset"][0] == "2027-03-01 11:30:00 UTC"
        assert {student: rows[student][2] for student in GRADED} == {s: f"{GRADED[s][0]} / 7" for s in GRADED}
        for student, (points, words) in GRADED.items():
            page.goto(f"{address}/formgrader/submissions/{numbers[student]}", wait_until="domcontentloaded")
            assert words in page.locator("body").inner_text(), student
            field = page.locator(f"#test-{EXERCISE}")
            sync_api.expect(field).to_have_attribute("placeholder", re.compile(rf"{points}(\.0)?"))
            if student in ("picture", "attached", "above"):
                assert page.locator("img[src^='data:image/png']").count(), student
        page.close()


def test_marks_and_pages_are_returned_to_the_right_students(run, tmp_path):
    course = Course(shutil.copytree(run[0].root, tmp_path / "course"))
    back = ("--marks", "marks.csv", "--feedback", "pages.zip")

    def returned(*words, student, mark):
        said_by(course, "return", NAME, *words, *back)
        rows = csv.DictReader((course.root / "marks.csv").read_text().splitlines())
        with zipfile.ZipFile(course.root / "pages.zip") as pages:
            texts = {composed(name.split("_1")[0]): pages.read(name).decode() for name in pages.namelist()}
        return {row[student]: row[mark] for row in rows}, texts

    marks, texts = returned("--to", "moodle", "--sheet", "sheet.csv", student="Full name", mark="Grade")
    for student in GRADED.keys() - {*CANVAS, "offset", "folder", "script"}:
        points, words = GRADED[student]
        assert float(marks[student]) == points, student
        assert words in bs4.BeautifulSoup(texts[student], "html.parser").text, student
    shutil.rmtree(course.root / "downloaded")
    (course.root / "of Canvas").rename(course.root / "downloaded")
    marks, _ = returned("--to", "canvas", student="ID", mark=NAME)
    assert marks == dict.fromkeys(("4326", "4311", "4312"), "3")


def test_untouched_answers_get_zero_and_waiting_answers_are_counted(run):
    course, output = run
    for change in UNTOUCHED:
        assert grade(course, student_of(change)) == (0, False)
        assert f"{student_of(change)}, {NAME}" not in output
    with book_of(course) as book:
        waiting = sum(
            grade.needs_manual_grade for s in book.assignment_submissions(NAME) for grade in s.notebooks[0].grades
        )
    assert f"{NAME}: {waiting} answers wait for a person to grade" in output
    again = said_by(course, "grade", "--gradebook", "--quiet", code=1)
    assert f"{NAME}: {waiting} answers wait for a person to grade" in again
