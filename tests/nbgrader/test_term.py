"""In the middle of a term: an exercise is withdrawn, a student gets more time, work comes late."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from datetime import datetime

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.course import CONFIG, Course
from tests.helpers.pages import commands
from tests.helpers.small_course import (
    BUILT,
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRONG,
    book_of,
    command,
    nbgrader,
    small_course,
    submit,
)

pytestmark = pytest.mark.slow
GRADE = ("grade", "--gradebook", "--quiet")
DUE = datetime(2027, 3, 1, 12)
LATE, LATER = "2027-03-01 15:00:00 UTC", "2027-03-03 12:00:00 UTC"
# A plugin in a file of its own beside nbgrader_config.py, as nbgrader's documentation has it.
PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin


class PointADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return -(-total_seconds_late // 86400)
"""
CONFIGURED = '\nc.AssignLatePenalties.plugin_class = "late_work.PointADay"\n'


def totals(course):
    """By student what counts, the penalty, and the most that there is."""
    with book_of(course) as book:
        found = {one.student.id: one.notebooks[0] for one in book.assignment_submissions(NAME)}
        return {name: (one.score, one.late_submission_penalty or 0, one.max_score) for name, one in found.items()}


# ---------------------------------------------------------------- an exercise is withdrawn


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A course whose second exercise builds on its first; ann right, ben with the first wrong, cleo with nothing."""
    course = small_course(tmp_path_factory.mktemp("term") / "course", second=True)
    right = model_answers(course.assignment(NAME))
    for student, answers in {"ann": right, "ben": right | {EXERCISE: WRONG}, "cleo": {}}.items():
        submit(course, student, answers)
    assert command(course, *GRADE)[0] == 0
    return course


@pytest.fixture
def course(two, tmp_path):
    return Course(shutil.copytree(two.root, tmp_path / "course"))


def test_withdrawn_means_full_marks_for_all_and_an_early_mistake_is_still_paid_for_once(course):
    before = totals(course)
    assert before["ben"][0] == pytest.approx(3.3, abs=0.01), "its second exercise counts in full"
    source = course.assignment(NAME).notebook.read_bytes()
    code, said = command(course, "withdraw", EXERCISE)
    assert (code, "2 gain, 0 lose, 1 keep" in said) == (0, True), said
    assert f"autograder withdraw {EXERCISE} --write" in said
    assert (totals(course), course.assignment(NAME).notebook.read_bytes()) == (before, source)

    code, said = command(course, "withdraw", EXERCISE, "--write", "--note", "the task was unclear")
    assert code == 0, said
    assert {name: one[0] for name, one in totals(course).items()} == {"ann": 6, "ben": 6, "cleo": 3}
    page = (course.root / "autograded" / "ben" / NAME / NOTEBOOK).read_text()
    assert "withdrawn, so everybody gets its 3 points" in page
    submit(course, "dan", {})  # who comes later gets them, too
    assert command(course, *GRADE)[0] == 0
    assert totals(course)["dan"][0] == 3

    code, said = command(course, "withdraw", EXERCISE, "--back", "--write")
    assert (code, totals(course)["ben"]) == (0, before["ben"]), said


def test_out_of_the_total_it_counts_for_nobody(course):
    before = totals(course)
    code, said = command(course, "withdraw", EXERCISE, "--out-of-total", "--write")
    assert code == 0, said
    assert totals(course) == {"ann": (3, 0, 3), "ben": (3, 0, 3), "cleo": (0, 0, 3)}
    assert command(course, *GRADE)[0] == 0
    code, said = command(course, "withdraw", EXERCISE, "--back", "--write")
    assert (code, totals(course)) == (0, before), said


def test_one_student_is_regraded_and_nobody_else(course):
    path = course.assignment(NAME).content / EXERCISE / "hidden_tests.py"
    path.write_text(path.read_text().replace("weight(0.5)", "weight(4.5)"))
    submit(course, "zoe", {EXERCISE: WRONG})
    before = totals(course)
    code, said = command(course, "regrade", NAME, "--student", "ben", "--note", "asked for it", "--write")
    assert code == 0, said
    after = totals(course)
    assert after.pop("ben")[0] == pytest.approx(before.pop("ben")[0] + 1.2, abs=0.01)
    assert after == before
    code, said = command(course, "regrade", NAME, "--student", "nobody")
    assert (code, "nobody has no marks" in said) == (2, True)


# ---------------------------------------------------------------- late work


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """Due at noon; one on time, one three hours late, one two days, with a plugin in its own file."""
    course = small_course(tmp_path_factory.mktemp("late") / "course", CONFIGURED)
    (course.root / "late_work.py").write_text(PLUGIN)
    with book_of(course) as book:
        book.update_or_create_assignment(NAME, duedate=DUE)
    for student, when in {"ann": "2027-03-01 11:00:00 UTC", "ben": LATE, "cleo": LATER}.items():
        submit(course, student, when=when)
    return course


@pytest.mark.catalogue
def test_a_plugin_beside_the_configuration_works_in_both_commands(late, tmp_path):
    other = Course(shutil.copytree(late.root, tmp_path / "other"))
    done = subprocess.run(["nbgrader", "autograde", NAME], cwd=other.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["autograder", *GRADE], cwd=late.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert totals(late) == totals(other) == {"ann": (3, 0, 3), "ben": (3, 1, 3), "cleo": (3, 2, 3)}


def test_a_plugin_that_cannot_be_used_is_one_sentence_before_anybody_is_graded(late, tmp_path):
    course = Course(shutil.copytree(late.root, tmp_path / "course"))
    with (course.root / CONFIG).open("a") as config:
        config.write('\nc.AssignLatePenalties.plugin_class = "no_such_file.Plugin"\n')
    code, said = command(course, *GRADE)
    assert code == 2
    assert "the plugin for late work (c.AssignLatePenalties.plugin_class) cannot be used" in said
    assert "no_such_file" in said


def test_an_extension_takes_the_penalty_away_and_students_see_the_dates(late):
    assert command(late, *GRADE, "--feedback")[0] == 0
    page = (late.root / "feedback" / "cleo" / NAME / "first.html").read_text()
    assert "Due: 2027-03-01 12:00 UTC. Handed in: 2027-03-03 12:00 UTC." in page
    code, said = command(late, "extend", "cleo", NAME, "--days", "1.5")
    assert (code, said.strip()) == (0, f"cleo: {NAME} is due 2027-03-03 00:00 UTC")
    assert totals(late)["cleo"] == (3, 1, 3)
    assert command(late, "extend", "cleo", NAME, "--days", "3")[0] == 0
    assert totals(late)["cleo"] == (3, 0, 3)
    assert command(late, *GRADE, "--feedback")[0] == 0
    page = (late.root / "feedback" / "cleo" / NAME / "first.html").read_text()
    assert "Due: 2027-03-04 12:00 UTC, with your extension." in page
    assert command(late, "extend", "cleo", NAME, "--days", "0")[0] == 0
    assert totals(late)["cleo"] == (3, 2, 3)
    code, said = command(late, "extend", "nobody", NAME, "--days", "3")
    assert (code, "the gradebook knows no nobody" in said) == (2, True)


def test_an_extension_alone_is_no_mark(late):
    """nbgrader makes rows for whoever has an extension; nothing was handed in, so no 0 is exported."""
    with book_of(late) as book:
        book.update_or_create_student("dora")
    assert command(late, *GRADE)[0] == 0
    assert command(late, "extend", "dora", NAME, "--days", "3")[0] == 0
    words = "--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=rows.csv"
    assert nbgrader(late, "export", *words)[0] == 0
    (row,) = [line for line in (late.root / "rows.csv").read_text().splitlines() if line.startswith("dora,")]
    assert row == f"dora,{NAME},,,3.0,,,,,,,,nothing handed in"


def test_a_released_notebook_comes_with_its_due_date(late, tmp_path):
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    code, said = nbgrader(late, "release_assignment", NAME, f"--Exchange.root={exchange}", "--course", "small")
    assert code == 0, said
    (path,) = exchange.glob(f"*/outbound/{NAME}/DUE.txt")
    assert path.read_text() == f"{NAME} is due 2027-03-01 12:00 UTC.\n"


# ---------------------------------------------------------------- the page


def test_the_pages_commands_run_in_order(late, tmp_path):
    course = Course(shutil.copytree(late.root, tmp_path / "course"))
    submit(course, "ada", {EXERCISE: WRONG}, when=LATE)
    assert command(course, *GRADE)[0] == 0
    said = {}
    for line in commands("term"):
        program, *words = shlex.split(line.replace("a1_scaled_dot_product", NAME).replace("softmax", EXERCISE))
        code, said[line] = {"nbgrader": nbgrader, "autograder": command}[program](course, *words)
        assert code == 0, f"{line}\n{said[line]}"
    why = next(text for line, text in said.items() if line.startswith("autograder why")).splitlines()
    assert len(why) <= 10
    assert "extension: due 2027-03-04 12:00 UTC" in "\n".join(why)


# ---------------------------------------------------------------- code for other programs


def test_code_of_each_exercise_goes_out_with_its_stub_and_without_names(course):
    shared = "    X = np.asarray(X)  # from the lecture"
    for number in range(4):
        submit(course, f"zed-{number}", {EXERCISE: f"def {EXERCISE}(X):\n{shared}\n    return X - {number}"})
    path = submit(course, "yan", {EXERCISE: f"def {EXERCISE}(X):\n    return X"})
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.clear()
    nbformat.write(notebook, path)
    code, said = command(course, "similar", NAME, "code")
    assert code == 0, said
    students = course.root / "code" / EXERCISE / "students"
    assert {one.stem for one in students.iterdir()} == {"ann", "ben", "yan", *(f"zed-{n}" for n in range(4))}
    assert (students / "yan.py").read_text() == f"def {EXERCISE}(X):\n    return X\n"  # found by what it defines
    base = (course.root / "code" / EXERCISE / "base" / "base.py").read_text()
    assert "raise NotImplementedError()" in base
    assert shared in base.splitlines()
    assert "return X - 1" not in base
    assert {one.stem for one in (course.root / "code" / BUILT / "students").iterdir()} == {"ann", "ben"}

    assert command(course, "similar", NAME, "plain", "--anonymous")[0] == 0
    names = [one.stem for one in (course.root / "plain" / EXERCISE / "students").iterdir()]
    assert len(names) == 7
    assert all(re.fullmatch(r"student-[0-9a-f]{8}", name) for name in names)
    who = dict(row.split(",") for row in (course.root / "plain.names.csv").read_text().splitlines()[1:])
    assert set(names) < who.keys()
    assert {"ann", "yan"} < set(who.values())
    assert command(course, "similar", NAME, "plain")[0] == 2
