"""The pages of `docs/`: every command in them is run, every link leads somewhere, what is made is today's."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from msgspec import structs
from nbgrader.api import Gradebook

from autograder.authoring.sample_class import fill, hand_in, mistake, model_answers
from autograder.course.assignments import CONFIG, Course
from autograder.report import Cause, ExerciseResult, Location, Report, TestResult
from autograder.submission import grade_id
from tests.conftest import ROOT
from tests.helpers import places
from tests.helpers.pages import commands
from tools.docs import pages

A1 = "a1_scaled_dot_product"
READERS = ("student", "instructor", "canvas-moodle-gradescope", "large-classes", "term", "your-own-course",
           "writing-exercises", "cookbook", "security")  # fmt: skip


def test_made_pages_are_what_the_code_says():
    for path, text in pages().items():
        assert path.read_text() == text, "run `make sync`"


def test_links_lead_to_files_that_are_there():
    for page in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md"), ROOT / "tests" / "README.md"]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"


def test_files_and_commands_that_pages_name_are_there():
    known = (ROOT / "docs" / "reference-command-line.md").read_text()
    for page in [*(ROOT / "docs" / f"{name}.md" for name in READERS), ROOT / "CONTRIBUTING.md"]:
        text = page.read_text()
        for path in re.findall(r"`((?:autograder|tests|docs|tools)/[\w/.]+)`", text):
            assert (ROOT / path).exists(), path
        for command in re.findall(r"(?:`|^ *)autograder ((?:dev )?[a-z-]*[a-z])", text, re.MULTILINE):
            assert f"`autograder {command}`" in known, command


class Person:
    """Somebody at a terminal, in a folder, with the course's environment."""

    def __init__(self, folder, home, kit):
        self.folder = folder
        self.environment = {"HOME": str(home), "PYTHONPATH": str(kit), "COLUMNS": "140"}
        self.environment |= {"JUPYTER_CONFIG_DIR": str(home / ".jupyter")}

    def types(self, command):
        return places.typed(command, self.folder, **self.environment)


@pytest.fixture
def checkout(tmp_path):
    return places.checkout(tmp_path / "course", A1)


def softmax_is_worth_5(folder):
    """Instead of 4. `test_in_the_browser.py` types it into the Create Assignment panel, which does the same."""
    path = folder / "source" / A1 / "scaled_dot_product.ipynb"
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if grade_id(cell) == "test-softmax").metadata.nbgrader.points = 5
    nbformat.write(notebook, path)


def through_the_exchange(student, answers):
    """What a student does by the student's page, up to handing in."""
    fetch, submit, _ = commands("student")
    assert (fetch.split()[1], submit.split()[1]) == ("fetch_assignment", "submit")
    student.types(fetch)
    notebook = student.folder / A1 / "scaled_dot_product.ipynb"
    nbformat.write(written(fill(notebook, answers)), notebook)
    student.types(submit)


def written(notebook):
    """The notebook, its written question answered."""
    (cell,) = [cell for cell in notebook.cells if grade_id(cell) == "written-roles"]
    cell.source = "Its query looks for things and for people, and without two vectors it would find itself."
    return notebook


def by_another_way(folder, answers):
    """What the guide says of work that comes in neither through the exchange nor from a system."""
    assignment = Course(folder).assignment(A1)
    notebook = written(fill(folder / "assignments" / A1 / "scaled_dot_product.ipynb", answers))
    hand_in(notebook, folder / "submitted", "doejane_4321", assignment)


def teacher_and_student(checkout, folder):
    """Two people with homes of their own and one exchange between them."""
    for name in ("exchange", "teacher", "ada/.jupyter", "ada/work"):
        (folder / name).mkdir(parents=True)
    (folder / "exchange").chmod(0o777)
    exchange = f'c.Exchange.root = "{folder / "exchange"}"\n'
    with (checkout / CONFIG).open("a") as config:
        config.write(exchange)
    lines = f"c = get_config()\n{exchange}c.CourseDirectory.course_id = 'multi_head_attention'\n"
    (folder / "ada" / ".jupyter" / CONFIG).write_text(lines)
    return Person(checkout, folder / "teacher", checkout), Person(folder / "ada" / "work", folder / "ada", checkout)


def clicked_on_the_page(checkout, chromium):
    """Two lines of the rubric for every written answer, on the page that was made, and saved."""
    page = chromium.new_page(accept_downloads=True)
    page.goto((checkout / "written.html").as_uri())
    for group in page.locator("article").all():
        group.locator(".line").nth(0).click()
        group.locator(".line").nth(2).click()
    with page.expect_download() as download:
        page.locator(".save").click()
    download.value.save_as(checkout / f"{A1}.decisions.json")
    page.close()


def scores_of(checkout):
    """Everybody's points in the gradebook."""
    with Gradebook(f"sqlite:///{checkout}/gradebook.db") as book:
        return {s.student.id: s.score for s in book.assignment_submissions(A1)}


@pytest.mark.catalogue
@pytest.mark.slow
def test_from_an_empty_folder_to_returned_feedback(checkout, tmp_path, chromium):
    teacher, ada = teacher_and_student(checkout, tmp_path)
    said = {}

    def until(last):
        while todo:
            command = todo.pop(0)
            said[command] = teacher.types(command)
            if command.startswith(last):
                return

    todo = commands("instructor")
    until(". .venv/bin/activate")
    softmax_is_worth_5(checkout)
    until("autograder dev check")
    assert ": in order: " in said[f"autograder dev check {A1}"]
    assert "21 points by tests" in said[f"autograder dev check {A1}"]
    until("nbgrader release_assignment")
    assert "24 points by tests" in said[f"autograder dev check {A1}"]  # with the new exercise's three
    assignment = Course(checkout).assignment(A1)
    right = model_answers(assignment)
    wrong = right | mistake(assignment, "no-scaling", "attention_scores")
    through_the_exchange(ada, wrong)
    until("nbgrader collect")
    by_another_way(checkout, right)
    (checkout / "class.csv").write_text("id,name,email\ndoejane_4321,Jane Doe,jane@example.edu\n")
    until("autograder grade --gradebook")
    scores = scores_of(checkout)
    (by_exchange,) = scores.keys() - {"doejane_4321"}
    assert scores["doejane_4321"] == 24
    assert 19 < scores[by_exchange] < 24
    until(f"autograder written {A1} --page")
    clicked_on_the_page(checkout, chromium)
    # This class handed in both ways, so the page's advice for that is followed.
    todo[todo.index(f"nbgrader release_feedback {A1}")] += f" --student={by_exchange}"
    until("nbgrader release_feedback")
    ada.types(commands("student")[2])
    (page,) = (ada.folder / A1).rglob("*.html")
    assert "no scaling" in page.read_text()
    while todo:
        until("")
    assert "no-scaling" in said["autograder report marks.json"]
    assert "<svg" in (checkout / "class.html").read_text()
    assert f"{by_exchange},{A1},written-roles,2.0,4.0" in (checkout / "exercises.csv").read_text()
    assert "0 gain, 0 lose, 2 keep" in said[f"autograder regrade {A1}"]
    assert "Brought back the marks of 2 students" in said[f"autograder regrade {A1} --undo"]
    for name in ("tests.csv", "gradescope/doejane_4321", "a1.zip", "classroom50/autograder.py"):
        assert (checkout / name).exists(), name


KEYS = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def test_json_reference_explains_every_key():
    test = TestResult("test_shape", "The result has the shape of the input.", "passed", 0.25, 0.25, "")
    exercise = ExerciseResult("softmax", (test,), 0.25)
    failed = Report("ben", A1, (), 0.25, "scaled_dot_product.ipynb is empty")
    place = Location((1,), "", "", "axis", "", "")
    rare = {"cause": Cause("no-scaling", ""), "withdrawn": True, "not_produced": ("",), "mentions": ("f",)}
    whole = (structs.replace(failed, extra="..."), structs.replace(exercise, location=place, **rare), place, test)
    page = (ROOT / "docs" / "reference-json.md").read_text()
    _, *sections, example = page.split("\n## ")
    assert [set(KEYS.findall(section)) for section in sections] == [set(value.to_dict()) for value in whole]
    reports = [Report("ada", A1, (exercise,), 0.25), failed]
    assert json.loads(example.split("```")[1].removeprefix("json")) == [report.to_dict() for report in reports]
