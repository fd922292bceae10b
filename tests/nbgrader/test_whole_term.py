"""A term from release to Canvas's file. After each event, all that shows a total shows the same."""

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
from tests.helpers.totals import WAYS, by_why

pytestmark = pytest.mark.slow
ADA, BEN, CLEO, DAN = CLASS = ("doeada_101", "leeben_102", "raycleo_103", "kimdan_104")  # as Canvas has them
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
    """Canvas's download: ada is right, ben and dan have the first exercise wrong, cleo only wrote; two are late."""
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


def test_all_ways_show_the_same_totals_from_release_to_canvass_file(tmp_path, monkeypatch):
    course = small_course(tmp_path / "course", A_POINT_FOR_LATENESS, written=True, second=True)
    totals = {}

    def grade():
        said_by(course, "grade", "--gradebook", "--quiet")

    def by_hand(student, cell, score):
        grade_in_formgrader(course, monkeypatch, student, cell, score)

    def become(changed):
        """Each way shows these totals, and those of all others as they were."""
        totals.update(changed)
        (course.root / "marks.json").unlink(missing_ok=True)
        for way in WAYS:
            shown = way(course, changed if way is by_why else CLASS)  # `why` grades again, which takes time
            assert shown, way.__name__
            assert shown == {student: pytest.approx(totals[student]) for student in shown}, way.__name__

    nbgrader(course, "db", "assignment", "add", NAME, "--duedate=2027-03-01 12:00:00 UTC")
    download(course, handed_in(course))
    said, _ = collect(course, "Canvas")
    assert "4 students collected" in said and len(said.splitlines()) < 10
    (course.root / "class.csv").write_text(ROSTER)
    said = said_by(course, "roster", "class.csv")
    assert said.splitlines()[0] == "entered 4 students, 4 of them new to the gradebook"
    assert "109 is left out: no folder in submitted/ ends in this number" in said
    grade()
    become({ADA: 6, BEN: 2.3, CLEO: 0, DAN: 3.3})
    page, report = (course.root / path for path in (f"feedback/{BEN}/{NAME}/first.html", "class.html"))
    assert "Handed in: late." in page.read_text()  # the time is the kit's own
    assert "in the gradebook; late, 1 points less<" in report.read_text()

    said_by(course, "extend", BEN, NAME, "--days", 3)
    become({BEN: 3.3})

    for student, score in {ADA: 4, BEN: 2, CLEO: 0.5, DAN: 1}.items():
        by_hand(student, WRITTEN, score)
    by_hand(DAN, TEST, 2)
    become({ADA: 10, BEN: 5.3, CLEO: 0, DAN: 6})

    said_by(course, "withdraw", BUILT, "--write")
    become({CLEO: 2.5})

    suite = course.assignment(NAME).content / EXERCISE / "hidden_tests.py"
    fair = suite.read_text()
    suite.write_text(fair.replace("weight(0.5)", "weight(4.5)"))
    said_by(course, "regrade", NAME, "--write")
    become({BEN: 6.5})

    said_by(course, "regrade", NAME, "--undo")
    suite.write_text(fair)
    become({BEN: 5.3})

    said_by(course, "withdraw", BUILT, "--back", "--write")
    grade()
    become({CLEO: 0})
