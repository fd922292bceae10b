"""The guide's steps with Canvas, Moodle and Gradescope, from the download to the upload, with a class of seven.

The models of the systems below follow the code and specifications that the modules of `autograder.systems` name.
"""

from __future__ import annotations

import csv
import html
import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
import pytest

from autograder.course.assignments import Course
from tests.helpers.pages import commands
from tests.helpers.small_course import (
    A_POINT_FOR_LATENESS,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    command,
    nbgrader,
    said_by,
    small_course,
    submit,
)

GUIDE, SYSTEMS = "instructor", "canvas-moodle-gradescope"
# Commands for other machines, for other ways to collect and grade, for editing the course, and about ada's own lines.
ELSEWHERE = ("make ", ". ", "autograder doctor", "autograder dev", "nbgrader release_", "nbgrader collect",
             "autograder bundle", "autograder questions")  # fmt: skip


@dataclass(frozen=True)
class Student:
    """A student. kind: what was handed in, "" for nothing; file: its name."""

    number: int
    first: str
    last: str
    kind: str = "right"
    file: str = NOTEBOOK
    late: bool = False

    @property
    def name(self):
        return f"{self.first} {self.last}"


CLASS = (
    Student(4321, "Jane", "Doe"),
    Student(4400, "Ann", "O'Lee", "wrong"),
    Student(17, "Zoë", "Müller", late=True),
    Student(99, "Zed", "Null", "{"),
    Student(102, "Cy", "Roe", file="my attention (final).ipynb"),
    Student(103, "Di", "Fox", "untouched"),
    Student(104, "Ed", "Orr", ""),
)
GRADED = [one for one in CLASS if one.kind in ("right", "wrong", "untouched")]


# ---------------------------------------------------------------- the steps


def steps(system: str) -> list[str]:
    """The guide's command lines, with those of the system in between."""
    collect, give_back = commands(SYSTEMS, system)
    found = []
    for line in commands(GUIDE):
        found += [] if line.startswith(ELSEWHERE) else [line]
        found += [collect] if line.startswith("nbgrader db assignment") else []
        found += [give_back] if line.startswith("nbgrader generate_feedback") else []
    return found


def run_line(course, line):
    """Runs a command line: exit code and output. zip_collect and generate_feedback run as processes."""
    program, *words = shlex.split(line.replace("a1_scaled_dot_product", NAME))
    if program == "autograder":
        return command(course, *words)
    if words[0] not in ("zip_collect", "generate_feedback"):
        return 0, nbgrader(course, *words)
    done = subprocess.run([program, *words], cwd=course.root, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def run_until(course, lines: Iterator[str], last: str) -> str:
    """Runs the steps up to the one that begins with `last`; gives the output of that one.

    One submission cannot be graded, so grading and returning exit with 1, and all else with 0.
    """
    for line in lines:
        if line.startswith("autograder written") and "--apply" in line:
            write_decisions(course)
        code, output = run_line(course, line)
        assert code == int(line.startswith(("autograder grade", "autograder return"))), f"{line}\n{output}"
        if line.startswith(last):
            return output
    raise AssertionError(f"no step begins with {last}")


def write_decisions(course):
    """Gives everybody the rubric's second line, as the page for written answers does."""
    page = (course.root / "written.html").read_text()
    who = [one for found in re.findall(r'data-who="([^"]*)"', page) for one in json.loads(html.unescape(found))]
    decisions = [
        {"question": WRITTEN, "student": student, "answer": answer, "before": before, "score": 3, "comment": "- ✓ why"}
        for student, answer, before in who
    ]
    text = json.dumps({"assignment": NAME, "decisions": decisions})
    (course.root / f"{NAME}.decisions.json").write_text(text)


# ---------------------------------------------------------------- the class


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A released course with a due date and a late penalty, and the text of a notebook for each kind."""
    course = small_course(tmp_path_factory.mktemp("return") / "course", A_POINT_FOR_LATENESS, written=True)
    run_until(course, iter(steps("Canvas")), "nbgrader db assignment")
    answers = {"right": None, "wrong": {EXERCISE: WRONG}, "untouched": {}}
    kinds = {}
    for kind, answer in answers.items():
        path = submit(course, "x", answer)
        notebook = nbformat.read(path, as_version=4)
        if kind != "untouched":
            notebook.cells[-1].source = "It is the mean of the row itself."
        kinds[kind] = nbformat.writes(notebook)
    shutil.rmtree(course.root / "submitted")
    return course, kinds


def collected(begun, folder, name_of, id_of, beside=()):
    """A copy of the course with the system's download and a roster."""
    course, kinds = begun
    course = Course(shutil.copytree(course.root, folder / "course"))
    archive = course.root / "downloaded" / NAME / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "submissions.zip", "w") as download:
        for one in CLASS:
            if one.kind:
                download.writestr(name_of(one), kinds.get(one.kind, one.kind))
        for name, text in beside:
            download.writestr(name, text)
    rows = [f'"{id_of(one)}","{one.name}",{one.number}@example.edu\n' for one in CLASS]
    (course.root / "class.csv").write_text("id,name,email\n" + "".join(rows))
    return course


def rest_of(system):
    """The steps after those in `begun`."""
    lines = steps(system)
    return iter(lines[[line.startswith("nbgrader db") for line in lines].index(True) + 1 :])


def check_marks(marks, key):
    """Everybody has 3 points by tests and 3 by hand, less for mistakes. Gives the marks of the late student."""
    assert marks.keys() == {key(one) for one in GRADED}
    assert marks[key(CLASS[0])] == 6
    for one in GRADED:
        by_hand = 0 if one.kind == "untouched" else 3
        if one.kind == "wrong":
            assert by_hand <= marks[key(one)] < 6
        elif not one.late:
            assert marks[key(one)] == by_hand + (3 if one.kind == "right" else 0), one
    return marks[key(CLASS[2])]


# ---------------------------------------------------------------- Canvas


def canvas_id(one):
    return "".join(filter(str.isascii, filter(str.isalpha, f"{one.last}{one.first}".lower()))) + f"_{one.number}"


def canvas_file(one):
    name, number = canvas_id(one).split("_")
    return f"{name}_{'LATE_' if one.late else ''}{number}_{98000 + one.number}_{one.file}"


def as_canvas_reads(text, users):
    """Title, number and marks by user, as Canvas's `GradebookImporter` reads them."""
    head, *rows = csv.reader(text.splitlines())
    assert len(head) > 3
    assert "Student" in head[0]
    assert "ID" in head[1]
    assert "Section" in head[2]
    title, number = re.fullmatch(r"(.*) \((\d+)\)", head[3]).groups()
    assert {row[1] for row in rows} <= users
    return title, number, {row[1]: float(row[3]) for row in rows if row[3]}


@pytest.mark.catalogue
@pytest.mark.slow
def test_guide_with_canvas(begun, tmp_path):
    course = collected(begun, tmp_path, canvas_file, canvas_id)
    todo = rest_of("Canvas")
    run_until(course, todo, "nbgrader zip_collect")
    stamps = {path.parents[1].name: path.read_text() for path in course.root.glob("submitted/*/*/timestamp.txt")}
    assert stamps.keys() == {"mllerzo_17"}
    assert stamps["mllerzo_17"].startswith("2027-03-01 12:00:01")
    output = run_until(course, todo, "autograder return")
    assert "nullzed_99: could not be graded" in output
    assert "nullzed_99 has no feedback page" not in output
    users = {str(one.number) for one in CLASS if one.kind}
    title, number, marks = as_canvas_reads((course.root / "marks.csv").read_text(), users)
    assert (title, number) == ("Attention", "98765")
    assert check_marks(marks, lambda one: str(one.number)) == 5  # one point less, because it was late
    with zipfile.ZipFile(course.root / "pages.zip") as archive:  # Canvas uses these numbers to find user and attachment
        pages = {tuple(re.findall(r"(?<=_)\d+(?=_)", name)[:2]): archive.read(name) for name in archive.namelist()}
    assert pages.keys() == {(str(one.number), str(98000 + one.number)) for one in GRADED}
    assert b"Late submission penalty" in pages["17", "98017"]
    assert "✓ why" in pages["4321", "102321"].decode()

    run_until(course, todo, "autograder report marks.json --html")
    report = " ".join((course.root / "class.html").read_text().split())
    for told in ("<dt>graded</dt><dd>5</dd>", "<dt>could not be graded</dt><dd>1</dd>", "by hand: written-why 3"):
        assert told in report
    run_until(course, todo, "nbgrader export")
    rows = list(csv.DictReader((course.root / "exercises.csv").read_text().splitlines()))
    assert {row["student"] for row in rows} == set(map(canvas_id, CLASS))
    assert {row["student"] for row in rows if row["problem"]} == {"nullzed_99", "orred_104"}
    assert "0 gain, 0 lose, 5 keep" in run_until(course, todo, "autograder regrade")
    assert not list(todo)


# ---------------------------------------------------------------- Moodle


def moodle_folder(one):
    return f"{one.name}_{123000 + one.number}_assignsubmission_file"


def worksheet():
    """Moodle's grading worksheet."""
    head = (
        "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    )
    rows = [
        f"Participant {123000 + one.number},{one.name},{one.number}@example.edu,Submitted,,100.00,Yes,"
        '"Sunday, 1 March 2026, 9:00 AM",-,"so, so"\n'
        for one in CLASS
    ]
    return head + "".join(rows)


@pytest.mark.catalogue
@pytest.mark.slow
def test_guide_with_moodle(begun, tmp_path):
    course = collected(begun, tmp_path, lambda one: f"{moodle_folder(one)}/{one.file}", lambda one: one.name)
    (course.root / "worksheet.csv").write_text(worksheet(), encoding="utf-8")
    output = run_until(course, rest_of("Moodle"), "autograder return")
    assert "Moodle's maximum grade is 100.00, here it is 7" in output
    assert "Zed Null: could not be graded" in output
    before = list(csv.DictReader(worksheet().removeprefix("\ufeff").splitlines()))
    after = list(csv.DictReader((course.root / "marks.csv").read_text("utf-8-sig").splitlines()))
    assert [{**row, "Grade": ""} for row in after] == before  # only the grades have changed
    grades = {row["Full name"]: float(row["Grade"]) for row in after if row["Grade"]}
    assert check_marks(grades, lambda one: one.name) == 6  # Moodle's download has no times
    with zipfile.ZipFile(course.root / "pages.zip") as archive:
        assert set(archive.namelist()) == {f"{moodle_folder(one)}/first.html" for one in GRADED}


# ---------------------------------------------------------------- Gradescope


def submission(one):
    return f"submission_{500 + one.number}"


def metadata():
    """`submission_metadata.yml` as Ruby writes it, with an autograder's output."""
    lines = ["---\n"]
    for one in CLASS:
        if one.kind:
            lines += [f"{submission(one)}:\n  :submitters:\n"]
            lines += [f"  - :name: \"{one.name}\"\n    :sid: '0{one.number}'\n    :email: x@y.z\n"]
            day = "2027-03-02" if one.late else "2027-02-28"
            lines += [f"  :created_at: {day} 17:34:00.861687000 Z\n  :score: 2.0\n"]
            lines += ["  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess\n    output: |-\n"]
            lines += ["      submission_4821:\n        :submitters:\n        - :sid: '0103'\n"]
    return "".join(lines)


def as_gradescope_runs_it(path, folder, number):
    """The results.json of one submission, in the folders of Gradescope's specification."""
    root = folder / "autograder"
    with zipfile.ZipFile(path) as archive:
        archive.extractall(root / "source")
    shutil.copy(root / "source" / "run_autograder", root)
    about = {"id": number, "users": [{"email": "x@y.z", "id": 1, "name": "X"}], "created_at": "2027-02-28T17:34:00Z"}
    (root / "submission_metadata.json").write_text(json.dumps(about))
    subprocess.run([sys.executable, root / "run_autograder"], cwd=root, check=True)
    return json.loads((root / "results" / "results.json").read_text())


@pytest.mark.catalogue
@pytest.mark.slow
def test_guide_with_gradescope(begun, tmp_path):
    root = "assignment_9_export"
    course = collected(
        begun,
        tmp_path,
        lambda one: f"{root}/{submission(one)}/{one.file}",
        lambda one: f"0{one.number}",
        beside=[(f"{root}/submission_metadata.yml", metadata())],
    )
    todo = rest_of("Gradescope")
    run_until(course, todo, "nbgrader zip_collect")
    stamps = {path.parents[1].name: path.read_text() for path in course.root.glob("submitted/*/*/timestamp.txt")}
    assert stamps["017"].startswith("2027-03-02 17:34:00")
    assert len(stamps) == 6
    output = run_until(course, todo, "autograder return")
    assert "099: could not be graded" in output
    results = {one: as_gradescope_runs_it(course.root / "marks.zip", tmp_path, 500 + one.number) for one in CLASS}
    marks = {one.number: results[one]["score"] for one in GRADED}
    assert check_marks(marks, lambda one: one.number) == 5
    assert "1 points less, since it was late" in results[CLASS[2]]["output"]
    jane = results[CLASS[0]]
    assert [(test["name"], test["score"], test["max_score"]) for test in jane["tests"]] == [
        (EXERCISE, 3, 3), (WRITTEN, 3, 4),
    ]  # fmt: skip
    assert "✓ passed" in jane["tests"][0]["output"]
    assert "✓ why" in jane["tests"][1]["output"]
    assert jane["visibility"] == "after_published"
    assert "no marks for this submission yet" in results[CLASS[3]]["output"]
    with zipfile.ZipFile(course.root / "marks.zip") as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {"setup.sh", "run_autograder", "marks"}
        assert all(info.external_attr >> 16 == 0o755 for info in archive.infolist()[:2])


# ---------------------------------------------------------------- missing information


@pytest.mark.slow
def test_return_reports_missing_information(begun, tmp_path):
    course = Course(shutil.copytree(begun[0].root, tmp_path / "course"))
    (course.root / "sheet.csv").write_text("Nom,Note\n")
    for words, reason in (
        (("--to", "canvas", "--marks", "c.csv"), "nothing that Canvas has named"),
        (("--to", "moodle", "--marks", "m.csv"), "name it with --sheet"),
        (("--to", "canvas"), "name --marks, --feedback, or both"),
        (("--to", "gradescope", "--feedback", "p.zip"), "Gradescope takes no pages"),
    ):
        text = said_by(course, "return", NAME, *words, code=2)
        assert reason in " ".join(text.split())
    place = course.root / "downloaded" / NAME / "extracted" / "Jo_1_assignsubmission_file" / NOTEBOOK
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    words = ("--to", "moodle", "--marks", "m.csv", "--sheet", "sheet.csv")
    assert "no columns Identifier and Grade" in said_by(course, "return", NAME, *words, code=2)
