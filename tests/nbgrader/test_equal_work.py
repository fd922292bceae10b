"""Work that is equal apart from names is listed for a person to look at."""

from __future__ import annotations

import json
import time

import bs4
import pytest

from autograder.report import ExerciseResult, Report, TestResult
from autograder.reports.equal_work import LONG, digest, written_by_the_course
from tests.helpers.small_course import EXERCISE, NAME, submit
from tests.helpers.terminal import autograder_here

OWN = f'''
def {EXERCISE}(X):
    """Centre each row."""
    rows, columns = X.shape
    means = X.sum(axis=-1) / columns  # one for each row
    return X - means.reshape(rows, 1)
'''
RENAMED = f"""
def {EXERCISE}(data):

  # my own idea
  n, d = data.shape
  m = (
  data.sum(axis=-1)) / d
  return data - m.reshape(n,
      1)
""".replace("(\n  data.sum(axis=-1))", "data.sum(\n     axis=-1)")
OTHER = OWN.replace("X.sum", "X.max")


def test_digest_looks_past_names_comments_docstring_and_layout():
    assert digest(OWN) == digest(RENAMED) != ""
    assert digest(OTHER) not in (digest(OWN), "")
    swapped = OWN.replace("reshape(rows, 1)", "reshape(columns, 1)")
    assert digest(swapped) not in (digest(OWN), "")


@pytest.mark.parametrize(
    "source",
    [
        f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)",
        OWN + "#" * LONG,
        OWN + "    '''never closed",
        OWN + "\n  def back(): ...\n x",
    ],
    ids=["short", "long", "no end", "no Python"],
)
def test_no_digest(source):
    assert digest(source) == ""


@pytest.mark.parametrize(
    "nested", ["(" * 9000 + ")" * 9000, "-" * 19000 + "1", "if x:\n" * 3000, "f'{" * 6000, "\\\n" * 9000]
)
def test_hostile_nesting_costs_neither_the_process_nor_much_time(nested):
    started = time.monotonic()
    digest(nested)
    assert time.monotonic() - started < 5  # seconds; it takes less than one


def page_of(course, **sources):
    """The section of the page on what these students handed in."""
    reports = []
    for student, source in sources.items():
        submit(course, student, {EXERCISE: source})
        test = TestResult("test_values", "Values.", "passed", 3.0, 3.0, "")
        reports.append(Report(student, NAME, (ExerciseResult(EXERCISE, (test,), 3.0),), 3.0).to_dict())
    (course.root / "marks.json").write_text(json.dumps(reports))
    done = autograder_here("report", "marks.json", "--html", "class.html", "--submitted", "submitted", cwd=course.root)
    assert done.returncode == 0, done.stderr
    page = bs4.BeautifulSoup((course.root / "class.html").read_text(), "html.parser")
    heading = page.find("h3", string="Equal apart from names")
    return heading and (heading.find_next("ul").get_text(" ", strip=True), heading.find_next("p").get_text())


def test_report_lists_equal_work_and_accuses_nobody(course):
    groups, text = page_of(course, ada=OWN, bob=RENAMED, cleo=OTHER)
    assert groups.replace(" ,", ",") == f"{EXERCISE} : ada, bob"
    assert "proves nothing" in text and "a person has to look" in text
    assert page_of(course, ada=OWN, bob=OTHER) is None


def test_model_answer_and_known_mistakes_are_left_out(course):
    assignment = course.assignment(NAME)
    mistakes = assignment.mistakes[0]
    mistakes.write_text(mistakes.read_text() + OWN.replace(EXERCISE, "sum_without_mean"))
    assert digest(RENAMED) in written_by_the_course(assignment)
    assert page_of(course, ada=OWN, bob=RENAMED) is None
    notebook = json.loads(assignment.notebook.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == EXERCISE:
            cell["source"] = OTHER
    assignment.notebook.write_text(json.dumps(notebook))
    assert page_of(course, ada=OTHER, bob=OTHER) is None
