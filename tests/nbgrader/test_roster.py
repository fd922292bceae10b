"""The roster: names in formgrader, and a row for everybody in exports."""

from __future__ import annotations

import csv
import io

import pytest

from autograder.errors import AutograderError
from autograder.reports.roster import read_roster
from tests.helpers.small_course import NOTEBOOK, book_of, graded, nbgrader, said_by, small_course, submit

ROSTER = 'id,name,email\nann,Ann Lee,ann@example.edu\nbob,"García Márquez, Bob",\n\ndee,Dee,dee@example.edu\nzoe,,\n'


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """ann is graded; bob is graded, then his file breaks; zoe's file is broken; dee hands in nothing."""
    course = small_course(tmp_path_factory.mktemp("roster") / "course", students=("ann", "bob"))
    (course.root / "class.csv").write_text(ROSTER)
    graded(course)
    submit(course, "bob").write_text("[]")
    submit(course, "zoe").write_text("{")
    said_by(course, "roster", "class.csv")
    graded(course)
    return course


@pytest.mark.slow
def test_formgrader_has_names_and_a_second_roster_updates_them(course):
    with book_of(course) as book:
        named = {one.id: (one.first_name, one.last_name, one.email) for one in book.students}
    assert named == {
        "ann": ("Ann", "Lee", "ann@example.edu"), "bob": ("Bob", "García Márquez", None),
        "dee": (None, "Dee", "dee@example.edu"), "zoe": (None, None, None),
    }  # fmt: skip
    (course.root / "late.csv").write_text("sep=;\n\nID;E-Mail\nann;new@example.edu\n88;n@example.edu\n")
    output = said_by(course, "roster", "late.csv")
    assert "entered 2 students, 1 of them new" in output
    assert "submitted/ has folders that are nobody's in the roster: zoe\n" in output, "bob is from the roster before"
    with book_of(course) as book:
        book.remove_student("88")
    with book_of(course) as book:
        ann = book.find_student("ann")
        assert (ann.first_name, ann.last_name, ann.email) == ("Ann", "Lee", "new@example.edu")


def test_rows_of_canvas_without_a_student_are_left_out(course):
    """Once marks are posted by hand, a row without a name comes before `Points Possible`."""
    lines = "Student,ID,Section,Means (77)", ",,,Manual Posting", "    Points Possible,,,20", '"Lee, Ann",ann,S1,'
    (course.root / "canvas.csv").write_text("\n".join(lines))
    assert "entered 1 student, 0 of them new" in said_by(course, "roster", "canvas.csv")


@pytest.mark.slow
def test_export_has_a_row_for_everybody_with_the_problem(course):
    words = "--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=ours.csv"
    nbgrader(course, "export", *words)
    found = {row["student"]: row for row in rows((course.root / "ours.csv").read_text())}
    assert found.keys() == {"ann", "bob", "dee", "zoe"}
    assert (found["ann"]["score"], found["ann"]["problem"]) == ("3.0", "")
    assert (found["dee"]["score"], found["dee"]["problem"]) == ("", "nothing collected")
    assert found["zoe"]["problem"].startswith(f"could not be graded: {NOTEBOOK} is not a Jupyter notebook")
    assert (found["bob"]["score"], found["zoe"]["max_score"]) == ("3.0", "3.0")
    assert found["bob"]["problem"].startswith("these are marks of earlier work: ")


@pytest.mark.slow
def test_nbgraders_export_keeps_columns_and_has_no_formula(course):
    with book_of(course) as book:
        book.update_or_create_student("dee", last_name="=1+1", first_name="Lee, Dee")
    nbgrader(course, "export", "--to=totals.csv")
    found = {row["student_id"]: row for row in rows((course.root / "totals.csv").read_text())}
    assert found.keys() == {"ann", "bob", "dee", "zoe"}
    assert (found["ann"]["score"], found["dee"]["score"], found["ann"]["max_score"]) == ("3.0", "0.0", "3.0")
    assert (found["dee"]["last_name"], found["dee"]["first_name"]) == ("'=1+1", "Lee, Dee")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name,email\nAnn,a@b", "no column `id`"),
        ("id,name\nann,Ann\nann,Ann", "line 3: 'ann' appears twice"),
        ("id,name\n,Ann", "line 2: no id"),
        ("Student,ID\nAnn,", "line 2: no id"),
        ("id,name,email\nann,Lee, Ann,a@b", "line 2: more values than columns"),
        ("id,name\na/n,Ann", "line 2: 'a/n' cannot be an id"),
        ('id,name\n"a""n",Ann', "line 2: 'a\"n' cannot be an id"),
    ],
)
def test_invalid_roster_is_reported_with_its_line(tmp_path, text, reason):
    path = tmp_path / "class.csv"
    path.write_text(text)
    with pytest.raises(AutograderError, match=reason):
        read_roster(path)
