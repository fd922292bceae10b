"""Nothing that a student wrote gets lost: pasted pictures, long answers, and answers that are not in their cell.

One course and one run of `nbgrader autograde` and `generate_feedback`, with a student for each case.
"""

from __future__ import annotations

import base64
import copy
import csv
import json
import os
import re
import shutil
import zipfile

import bs4
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.course.assignments import Course
from autograder.submission import grade_id
from tests.helpers.downloads import collect, download
from tests.helpers.small_course import (
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
WORDS = "Each row has a mean of its own."
PICTURE = base64.b64encode(os.urandom(30_000)).decode()
COPY = "first-Copy1.ipynb"
RIGHT = f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)"
LONG = "word " * 10_000 + "THE_END"


def answer_of(notebook):
    return next(cell for cell in notebook.cells if grade_id(cell) == WRITTEN)


def beside(notebook, cell, below: bool):
    notebook.cells.insert(notebook.cells.index(answer_of(notebook)) + below, cell)


def picture(notebook):
    answer_of(notebook).source = f"![sketch](data:image/png;base64,{PICTURE})\n\n{WORDS}"


def answered_twice(notebook):
    first, second = answer_of(notebook), copy.deepcopy(answer_of(notebook))
    first.source, second.source = WORDS, "Or: the row's own mean."
    notebook.cells.append(second)


def long(notebook):
    answer_of(notebook).source = LONG


def copied(notebook):
    filled = copy.deepcopy(answer_of(notebook))
    filled.source = WORDS
    beside(notebook, filled, below=True)


def below(notebook):
    beside(notebook, new_markdown_cell(WORDS), below=True)


def above(notebook):
    beside(notebook, new_markdown_cell(f"{WORDS}\n\n![x](data:image/png;base64,{PICTURE})"), below=False)


def comment(notebook):
    beside(notebook, new_code_cell(f"# {WORDS}"), below=True)


def in_a_check_cell(notebook):
    """Which nobody may change; Colab does not know that."""
    (cell,) = (one for one in notebook.cells if grade_id(one) == f"test-{EXERCISE}")
    cell.source += f"\n# {WORDS}"


def words_as_code(notebook):
    """A new cell is a code cell, until somebody changes that."""
    beside(notebook, new_code_cell(WORDS), below=True)


def printed(notebook):
    beside(notebook, new_code_cell(f'x = 1\nprint("{WORDS}")'), below=True)


def in_a_magic(notebook):
    beside(notebook, new_code_cell(f"%%markdown\n{WORDS}"), below=True)


def pictures_of_one_name(notebook):
    """JupyterLab calls both image.png."""
    for _ in range(2):
        data = base64.b64encode(os.urandom(300)).decode()
        cell = new_markdown_cell(f"{WORDS} ![](attachment:image.png)", attachments={"image.png": {"image/png": data}})
        beside(notebook, cell, below=True)


def split(notebook):
    answer_of(notebook).source = "First of all:"
    beside(notebook, new_markdown_cell(WORDS), below=True)


def attached(notebook):
    answer_of(notebook).source = f"![sketch](attachment:my%20pic.png)\n\n{WORDS}"
    answer_of(notebook).attachments = {"my pic.png": {"image/png": PICTURE}}


def html(notebook):
    """As JupyterLab shows it: a picture with a width. And a drawing that no page shows."""
    drawing = f'<img src="data:image/svg+xml;base64,{PICTURE}">'
    answer_of(notebook).source = f'{drawing} <img src="attachment:my%20pic.png" width=20> {WORDS}'
    answer_of(notebook).attachments = {"my pic.png": {"image/png": PICTURE}}


def code_of_ones_own(notebook):
    code = "# trying it out\nx = [row for row in range(3) if row]\nprint('three', x)"
    beside(notebook, new_code_cell(code), below=True)


def after_a_book(notebook):
    notebook.cells.insert(0, new_markdown_cell("word " * 250_000))
    answer_of(notebook).source = WORDS


def nothing(notebook):
    """Left as released, with a copy that says nothing either."""
    beside(notebook, copy.deepcopy(answer_of(notebook)), below=True)


ELSEWHERE = [copied, below, above, comment, in_a_check_cell, words_as_code, printed, in_a_magic, pictures_of_one_name]
IN_PLACE = [picture, answered_twice, long, after_a_book, split, attached, html]
UNTOUCHED = [nothing, code_of_ones_own]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Course, str]:
    """The course after the run, and what it said."""
    course = small_course(tmp_path_factory.mktemp("elsewhere") / "course", written=True)
    for change in [*ELSEWHERE, *IN_PLACE, *UNTOUCHED]:
        path = submit(course, change.__name__)
        notebook = nbformat.read(path, 4)
        change(notebook)
        path.write_text(json.dumps(notebook))
    copies(course, "copy1", {}, {EXERCISE: RIGHT, WRITTEN: WORDS})
    copies(course, "nameless", {}, {EXERCISE: RIGHT, WRITTEN: WORDS})
    for path in (course.root / "submitted" / "nameless" / NAME).glob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        for cell in notebook.cells:  # as an editor saves it that knows nothing of nbgrader
            cell.metadata = {}
        nbformat.write(notebook, path)
    copies(course, "both", {EXERCISE: RIGHT}, {WRITTEN: WORDS})
    copies(course, "first", {EXERCISE: RIGHT, WRITTEN: WORDS}, {})
    said = nbgrader(course, "autograde", NAME)
    nbgrader(course, "generate_feedback", NAME)
    return course, said


def copies(course, student, first, second):
    """Two notebooks with these answers, the second as JupyterLab names a copy. The wheels' first cell is in both."""
    for answers, name in ((second, COPY), (first, NOTEBOOK)):
        notebook = nbformat.read(submit(course, student, answers, name), 4)
        notebook.cells.insert(0, new_code_cell("# Run this first.\npass"))
        if student == "copy1":  # no other cell stands above the exercise
            named = [cell for cell in notebook.cells if grade_id(cell)]
            notebook.cells = [notebook.cells[0], *named]
        nbformat.write(notebook, course.root / "submitted" / student / NAME / name)


def grade(course, student):
    with book_of(course) as book:
        found = book.find_grade(WRITTEN, "first", NAME, student)
        return found.auto_score, bool(found.needs_manual_grade)


def field(course, student):
    """The answer's own cell in the autograded copy."""
    return answer_of(nbformat.read(course.root / "autograded" / student / NAME / NOTEBOOK, 4))


def page(course, student):
    return bs4.BeautifulSoup((course.root / "feedback" / student / NAME / "first.html").read_text(), "html.parser")


@pytest.mark.parametrize("change", ELSEWHERE)
def test_answer_outside_its_cell_waits_for_a_person_who_is_told_where(run, change):
    course, said = run
    student = change.__name__
    assert grade(course, student) == (None, True)
    assert WORDS in field(course, student).source
    assert WORDS in page(course, student).text
    (notice,) = (line for line in said.splitlines() if f"{student}, {NAME}: the cell of" in line)
    assert "cell " in notice
    assert WORDS in notice


def by_tests(course, student):
    with book_of(course) as book:
        return book.find_grade(f"test-{EXERCISE}", "first", NAME, student).auto_score


@pytest.mark.parametrize(
    ("student", "graded", "other"), [("copy1", COPY, NOTEBOOK), ("first", NOTEBOOK, COPY), ("nameless", COPY, NOTEBOOK)]
)
def test_the_one_of_two_notebooks_that_has_work_is_graded(run, student, graded, other):
    course, said = run
    assert (by_tests(course, student), grade(course, student)) == (3, (None, True))
    assert WORDS in field(course, student).source
    notice = f"{student}, {NAME}: {graded} was graded; {other} beside it has no work in it"
    assert notice in said
    marked = said_by(course, "grade", course.root / "submitted" / student)
    assert f"warning: {notice}" in marked
    assert "3 / 3" in marked


def test_if_both_notebooks_have_work_the_first_is_graded_and_a_person_is_told_of_the_other(run):
    course, said = run
    assert (by_tests(course, "both"), grade(course, "both")) == (3, (None, True))
    assert WORDS in field(course, "both").source
    assert f"both, {NAME}: {NOTEBOOK} was graded; the folder also has {COPY} with other work in it" in said
    assert f'{COPY}, "{WORDS}"' in said


def test_picture_pasted_as_text_is_shown_with_the_words_after_it(run):
    course, said = run
    assert grade(course, "picture") == (None, True)
    assert list(field(course, "picture").attachments.values()) == [{"image/png": PICTURE}]
    shown = page(course, "picture")
    assert WORDS in shown.text
    assert len(shown.find_all("img", src=f"data:image/png;base64,{PICTURE}")) == 1
    shown = page(course, "html")
    assert len(shown.find_all("img", src=f"data:image/png;base64,{PICTURE}")) == 1
    assert WORDS in shown.text
    assert len(field(course, "html").source) < 300, "no wall of base64"
    pictures = page(course, "pictures_of_one_name").find_all("img", src=re.compile("^data:image/png"))
    assert len({picture["src"] for picture in pictures}) == 2
    assert len(pictures) == 4, "in their places, and in the answer's cell"
    assert f"{NAME}: pictures were moved out of the texts of: above 1, picture 1" in said


def test_no_words_in_an_answers_cell_are_lost(run):
    course, said = run
    for student, words in {"answered_twice": "Or: the row's own mean.", "split": WORDS}.items():
        assert words in field(course, student).source
        assert f"{student}, {NAME}: the cell of '{WRITTEN}' is not all of the answer: cell " in said
    assert field(course, "long").source == LONG
    assert LONG in page(course, "long").text
    assert field(course, "after_a_book").source == WORDS
    (notice,) = (line for line in said.splitlines() if f"after_a_book, {NAME}: texts beyond 1,000,000" in line)
    assert f"submitted/after_a_book/{NAME}/{NOTEBOOK}" in notice


def test_from_canvass_download_to_its_marks_nobody_loses_anything(run, tmp_path):
    """Also what stops a cell, and what is defined again below a check."""
    course = Course(shutil.copytree(run[0].root, tmp_path / "course"))
    handed_in = {name: course.root / "submitted" / name for name in ("copied", "below", "picture", "attached", "copy1")}
    typed = RIGHT.replace("(X)", "(X: Optional[int])")
    for student, code, at, more in (
        ("scratch", RIGHT, -1, f"{EXERCISE} = {EXERCISE}([[1.0, 3.0]])"),
        ("magic", f"# My rows\n%%time\n{RIGHT}", 0, "x = 1"),
        ("library", typed, 0, "import no_such_library\nfrom typing import Optional"),
    ):
        path = submit(course, student, {EXERCISE: code})
        notebook = nbformat.read(path, 4)
        notebook.cells.insert(at % (len(notebook.cells) + 1), new_code_cell(more))
        nbformat.write(notebook, path)
        handed_in[student] = course.root / "submitted" / student
    download(
        course,
        {
            f"{student}_{number}_9{number}{at}_{path.name}": path.read_text()
            for number, (student, folder) in enumerate(handed_in.items(), 101)
            for at, path in enumerate(sorted((folder / NAME).glob("*.ipynb")))
        },
    )
    shutil.rmtree(course.root / "submitted")
    ids = {student: f"{student}_{number}" for number, student in enumerate(handed_in, 101)}
    said, left = collect(course, "Canvas")
    assert (left, "8 students collected" in said) == ([], True)
    nbgrader(course, "autograde", NAME)
    nbgrader(course, "generate_feedback", NAME)
    said_by(course, "return", NAME, "--to", "canvas", "--marks", "marks.csv", "--feedback", "pages.zip")
    marks = {row["Student"]: row[NAME] for row in csv.DictReader((course.root / "marks.csv").read_text().splitlines())}
    assert marks == dict.fromkeys(ids.values(), "3") | {ids["library"]: "0"}
    with zipfile.ZipFile(course.root / "pages.zip") as pages:
        texts = {name.partition("_")[0]: pages.read(name).decode() for name in pages.namelist()}
    assert texts.keys() == ids.keys()
    for student in ("copied", "below", "picture", "attached", "copy1"):
        assert WORDS in bs4.BeautifulSoup(texts[student], "html.parser").text, student
        assert grade(course, ids[student]) == (None, True)
    assert "no_such_library" in texts["library"]


def test_run_says_how_many_answers_wait_and_untouched_ones_have_zero_without_a_person(run):
    course, said = run
    for change in UNTOUCHED:
        assert grade(course, change.__name__) == (0, False)
        assert f"{change.__name__}, {NAME}" not in said
    waiting = len(ELSEWHERE) + len(IN_PLACE) + 4
    assert f"{NAME}: {waiting} answers wait for a person to grade" in said
    again = said_by(course, "grade", "--gradebook", "--quiet")
    assert f"{NAME}: {waiting} answers wait for a person to grade" in again
