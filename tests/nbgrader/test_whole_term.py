"""A term from release to Canvas's file. After each event, all places show the same totals."""

from __future__ import annotations

import nbformat
import pytest

from autograder.authoring.sample_class import fill, model_answers
from tests.helpers.downloads import collect, download
from tests.helpers.small_course import (
    A_POINT_FOR_LATENESS,
    BUILT,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    grade_in_formgrader,
    nbgrader,
    released,
    said_by,
    small_course,
)
from tests.helpers.totals import WAYS, by_why, on_the_page

pytestmark = pytest.mark.slow
ADA, BEN, CLEO, DAN = CLASS = ("doeada_101", "leeben_102", "raycleo_103", "kimdan_104")  # Canvas's ids
# Canvas's export of its gradebook.
ROSTER = """Student,ID,SIS Login ID,Section
    Points Possible,,,
"Doe, Ada",101,ada,S1
"Lee, Ben",102,ben,S1
"Ray, Cleo",103,cleo,S1
"Kim, Dan",104,dan,S1
"Sent, Ab",109,ab,S1
"""
TEST = f"test-{EXERCISE}"


def handed_in(course):
    """Canvas's download: ada is right, ben and dan have a mistake, cleo has only the written answer; two are late."""
    right = model_answers(course.assignment(NAME)) | {WRITTEN: "Each row has a mean of its own."}
    wrong = right | {EXERCISE: WRONG}
    work = {
        "doeada_101": right,
        "leeben_LATE_102": wrong,
        "raycleo_LATE_103": {WRITTEN: right[WRITTEN]},
        "kimdan_104": wrong,
    }
    return {
        f"{student}_9{number}_{NOTEBOOK}": nbformat.writes(fill(released(course), answers))
        for number, (student, answers) in enumerate(work.items())
    }


@pytest.mark.catalogue
def test_totals_agree_everywhere_during_a_term(tmp_path, monkeypatch):
    course = small_course(tmp_path / "course", A_POINT_FOR_LATENESS, written=True, second=True)
    totals = {}

    def grade():
        said_by(course, "grade", "--gradebook", "--quiet")

    def by_hand(student, cell, score):
        grade_in_formgrader(course, monkeypatch, student, cell, score)

    def check_totals(changed):
        """Every place shows these totals, and unchanged totals for all others."""
        totals.update(changed)
        (course.root / "marks.json").unlink(missing_ok=True)
        for way in WAYS:
            shown = way(course, changed if way in (by_why, on_the_page) else CLASS)  # these take a second per student
            assert shown, way.__name__
            assert shown == {student: pytest.approx(totals[student]) for student in shown}, way.__name__

    nbgrader(course, "db", "assignment", "add", NAME, "--duedate=2027-03-01 12:00:00 UTC")
    download(course, handed_in(course))
    output, _ = collect(course, "Canvas")
    assert "4 students collected" in output and len(output.splitlines()) < 10
    (course.root / "class.csv").write_text(ROSTER)
    output = said_by(course, "roster", "class.csv")
    assert output.splitlines()[0] == "entered 5 students, 5 of them new to the gradebook"
    assert "no folder in submitted/ yet, so the id is the number for now: 109" in output
    grade()
    check_totals({ADA: 6, BEN: 2.3, CLEO: 0, DAN: 3.3})
    page, report = (course.root / path for path in (f"feedback/{BEN}/{NAME}/first.html", "class.html"))
    assert "Handed in: late." in page.read_text()  # the kit's own timestamp
    assert "in the gradebook; late, 1 points less<" in report.read_text()

    said_by(course, "extend", BEN, NAME, "--days", 3)
    check_totals({BEN: 3.3})
    assert "Late work and manual grades: 1 student<" in report.read_text()

    for student, score in {ADA: 4, BEN: 2, CLEO: 0.5, DAN: 1}.items():
        by_hand(student, WRITTEN, score)
    by_hand(DAN, TEST, 2)
    check_totals({ADA: 10, BEN: 5.3, CLEO: 0, DAN: 6})

    book = (course.root / "gradebook.db").read_bytes()
    said_by(course, "withdraw", BUILT)
    assert (course.root / "gradebook.db").read_bytes() == book, "a dry run writes into no file"
    said_by(course, "withdraw", BUILT, "--write")
    check_totals({CLEO: 2.5})

    suite = course.assignment(NAME).content / EXERCISE / "hidden_tests.py"
    fair = suite.read_text()
    suite.write_text(fair.replace("weight(0.5)", "weight(4.5)"))
    said_by(course, "regrade", NAME, "--write")
    check_totals({BEN: 6.5})

    said_by(course, "regrade", NAME, "--undo")
    suite.write_text(fair)
    check_totals({BEN: 5.3})

    said_by(course, "withdraw", BUILT, "--back", "--write")
    grade()
    check_totals({CLEO: 0})
