"""The pages of `docs/`: their commands work, their links exist, generated pages are up to date."""

from __future__ import annotations

import json
import re
import subprocess

import nbformat
import pytest
from msgspec import structs
from nbgrader.api import Gradebook

from autograder.authoring.sample_class import fill, hand_in, mistake, model_answers
from autograder.course.assignments import Course
from autograder.report import ExerciseResult, Finding, Report, TestResult
from autograder.submission import grade_id
from tests.conftest import ROOT
from tests.helpers import places
from tests.helpers.pages import commands
from tools.docs import pages

A1 = "a1_scaled_dot_product"
READERS = ("student", "instructor", "canvas-moodle-gradescope", "large-classes", "term", "your-own-course",
           "writing-exercises", "cookbook", "security")  # fmt: skip


def test_generated_pages_are_up_to_date():
    for path, text in pages().items():
        assert path.read_text() == text, "run `make sync`"


def test_links_lead_to_existing_files():
    for page in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md"), ROOT / "tests" / "README.md"]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"


def test_files_and_commands_in_pages_exist():
    known = (ROOT / "docs" / "reference-command-line.md").read_text()
    for page in [*(ROOT / "docs" / f"{name}.md" for name in READERS), ROOT / "CONTRIBUTING.md"]:
        text = page.read_text()
        for path in re.findall(r"`((?:autograder|tests|docs|tools)/[\w/.]+)`", text):
            assert (ROOT / path).exists(), path
        for command in re.findall(r"(?:`|^ *)autograder ((?:dev )?[a-z-]*[a-z])", text, re.MULTILINE):
            assert f"`autograder {command}`" in known, command


def test_git_ignores_what_the_commands_write():
    """Marks and names do not belong into the course's history."""
    lines = [*commands("instructor"), *commands("canvas-moodle-gradescope"), *commands("term")]
    files = {word for line in lines for word in re.findall(r"(?<= )[\w.]+\.(?:html|csv|json|xml|zip)\b", line)}
    assert {"written.html", "marks.json", "pages.zip", f"{A1}.decisions.json"} <= files
    done = subprocess.run(["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True)
    assert files == set(done.stdout.split())


@pytest.fixture
def checkout(tmp_path):
    return places.checkout(tmp_path / "course", A1)


def give_softmax_5_points(folder):
    """Give softmax 5 points instead of 4, as the guide does in the Create Assignment panel."""
    path = folder / "source" / A1 / "scaled_dot_product.ipynb"
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if grade_id(cell) == "test-softmax").metadata.nbgrader.points = 5
    nbformat.write(notebook, path)


def with_written_answer(notebook):
    """The notebook with an answer to its written question."""
    (cell,) = [cell for cell in notebook.cells if grade_id(cell) == "written-roles"]
    cell.source = "Its query looks for things and for people, and without two vectors it would find itself."
    return notebook


# tests/nbgrader/test_hub.py tests the exchange, and test_return.py beside it written answers.
ELSEWHERE = ("nbgrader release_", "nbgrader collect", "autograder written")


@pytest.mark.catalogue
@pytest.mark.slow
def test_instructors_guide_from_installation_to_feedback(checkout, tmp_path):
    printed = {}

    def until(last):
        while todo:
            command = todo.pop(0)
            environment = {"HOME": str(tmp_path), "PYTHONPATH": str(checkout), "COLUMNS": "140"}
            printed[command] = places.typed(command, checkout, **environment)
            if command.startswith(last):
                return

    todo = [line for line in commands("instructor") if not line.startswith(ELSEWHERE)]
    until(". .venv/bin/activate")
    give_softmax_5_points(checkout)
    until("nbgrader generate_assignment")
    assert "24 points by tests" in printed[f"autograder dev check {A1}"]  # with the new exercise's three
    assignment = Course(checkout).assignment(A1)
    right = model_answers(assignment)
    wrong = right | mistake(assignment, "no-scaling", "attention_scores")
    for student, answers in (("doejane_4321", right), ("leeann_4322", wrong)):
        notebook = with_written_answer(fill(checkout / "assignments" / A1 / "scaled_dot_product.ipynb", answers))
        hand_in(notebook, checkout / "submitted", student, assignment)
    (checkout / "class.csv").write_text("id,name,email\ndoejane_4321,Jane Doe,jane@example.edu\n")
    until("autograder grade --gradebook")
    with Gradebook(f"sqlite:///{checkout}/gradebook.db") as book:
        scores = {one.student.id: one.score for one in book.assignment_submissions(A1)}
    assert scores["doejane_4321"] == 24
    assert 19 < scores["leeann_4322"] < 24
    while todo:
        until("")
    assert "no-scaling" in printed["autograder report marks.json"]
    assert "<svg" in (checkout / "class.html").read_text()
    assert "0 gain, 0 lose, 2 keep" in printed[f"autograder regrade {A1}"]
    for name in ("tests.csv", "gradescope/doejane_4321", "a1.zip", "classroom50/autograder.py"):
        assert (checkout / name).exists(), name


KEYS = re.compile(r"^- `(\w+)`:", re.MULTILINE)


def test_json_reference_explains_every_key():
    test = TestResult("test_shape", "The result has the shape of the input.", "passed", 0.25, 0.25, "")
    exercise = ExerciseResult("softmax", (test,), 0.25)
    failed = Report("ben", A1, (), 0.25, "scaled_dot_product.ipynb is empty")
    place, more = Finding("place", "axis", lines=(1,)), (Finding("mention", "f"), Finding("not produced"))
    rare = structs.replace(exercise, findings=(place, *more), withdrawn=True)
    answered = structs.replace(test, answer="softmax(x) 0123456789abcdef")
    noticed = structs.replace(failed, notices=("two files",))
    whole = (noticed.to_dict(), rare.to_dict(), rare.to_dict()["location"], answered.to_dict())
    page = (ROOT / "docs" / "reference-json.md").read_text()
    _, *sections, example = page.split("\n## ")
    assert [set(KEYS.findall(section)) for section in sections] == [set(keys) for keys in whole]
    reports = [Report("ada", A1, (exercise,), 0.25), failed]
    assert json.loads(example.split("```")[1].removeprefix("json")) == [report.to_dict() for report in reports]
