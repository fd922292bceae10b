"""`autograder report`: an overview of a class, from files of `autograder grade --json`."""

from __future__ import annotations

import csv
import html.parser
import json
import re

import pytest

from autograder.report import ExerciseResult, Finding, Report, TestResult
from autograder.reports.class_statistics import class_statistics
from autograder.reports.marks_file import read_marks
from tests.helpers.classes import STRANGE
from tests.helpers.small_course import BUILT, EXERCISE, NAME
from tests.helpers.terminal import autograder_here

MISTAKE = "one-mean-for-all"


def test_marks_are_read_back_and_later_files_replace_earlier_ones(marks, tmp_path):
    written = json.loads(marks.read_text())
    assert [report.to_dict() for report in read_marks([marks])] == written
    again = [entry | {"exercises": []} for entry in written if entry["student"] == "ada"]
    (tmp_path / "again.json").write_text(json.dumps(again))
    found = {(r.student, r.assignment): r for r in read_marks([marks, tmp_path / "again.json"])}
    assert len(found) == len(written)
    assert (found["ada", NAME].score, found["ben", NAME].score) == (0, 6)


def test_statistics_of_a_class(marks):
    a1, a2 = class_statistics(read_marks([marks]))
    assert (a1.name, a1.graded, a1.failed, a2.graded) == (NAME, 6, 1, 2)
    by_name = {exercise.name: exercise for exercise in a1.exercises}
    assert (by_name[BUILT].full, by_name[BUILT].not_started) == (5, 1)
    assert (by_name[EXERCISE].full, by_name[EXERCISE].not_started) == (2, 1)
    assert a1.bins[0] == 1  # untouched
    assert a1.bins[9] == 2  # all right
    assert sum(a1.bins) == a1.graded
    (made,) = a1.mistakes
    assert (made.name, made.exercise, made.count) == (MISTAKE, EXERCISE, 2)
    values = next(test for test in by_name[EXERCISE].tests if test.name == "test_values")
    assert (values.passed, values.failed, values.not_known, values.share) == (2, 3, 1, 0.4)
    why = {one.student: one.why for one in a1.attention}
    assert why["eve"] == "no exercise started yet"
    assert why["farid"] == f"code that loops, exits or crashes: {EXERCISE}"
    assert "could not be graded" in why[STRANGE]
    assert why.keys() == {"eve", "farid", STRANGE}
    assert {one.student for one in a2.attention} == {"chloe", "dmitri", "eve", "farid", STRANGE}
    assert all("not this one" in one.why for one in a2.attention)


def test_page_csv_json_and_terminal_agree(marks, tmp_path):
    done = autograder_here(
        "report", marks, "--html", tmp_path / "c.html", "--csv", tmp_path / "c.csv", "--json", tmp_path / "c.json"
    )
    assert done.returncode == 0, done.stderr
    a1 = json.loads((tmp_path / "c.json").read_text())[0]
    assert (a1["mean"], a1["bins"][9], a1["mistakes"][0]["count"]) == (
        class_statistics(read_marks([marks]))[0].mean,
        2,
        2,
    )
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    mine = [row for row in rows if row["assignment"] == NAME]
    assert [(row["name"], row["count"]) for row in mine if row["kind"] == "mistake"] == [(MISTAKE, "2")]
    assert [int(row["count"]) for row in mine if row["kind"] == "marks"] == a1["bins"]
    tests = [row for row in mine if row["kind"] == "test"]
    assert [float(row["share"]) for row in tests] == [t["share"] for e in a1["exercises"] for t in e["tests"]]
    terminal = autograder_here("report", marks).stdout
    page = (tmp_path / "c.html").read_text()
    for words in (MISTAKE, "no exercise started yet", f"code that loops, exits or crashes: {EXERCISE}"):
        assert words in terminal
        assert words in page
    assert "40 %" in page


def test_untrusted_text_is_escaped(marks, tmp_path):
    autograder_here("report", marks, "--html", tmp_path / "c.html", "--csv", tmp_path / "c.csv")
    page = (tmp_path / "c.html").read_text()
    tags = []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    parser.feed(page)
    assert not {"script", "img", "link", "iframe", "object", "form"} & {tag for tag, _ in tags}
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on") or name == "src"]
    assert "&lt;img src=x" in page
    assert not re.findall(r"https?://", page)
    assert f"'{STRANGE}" in [row["name"] for row in csv.DictReader((tmp_path / "c.csv").read_text().splitlines())]


def test_class_without_any_grades_has_a_page(tmp_path):
    entry = {"student": "ada", "assignment": "a1", "status": "failed", "score": 0, "max_score": 20, "exercises": []}
    entry |= {"reason": "it is empty"}
    (tmp_path / "marks.json").write_text(json.dumps([entry]))
    done = autograder_here("report", tmp_path / "marks.json", "--html", tmp_path / "c.html")
    assert done.returncode == 0, done.stderr
    assert "it is empty" in (tmp_path / "c.html").read_text()
    assert "it is empty" in autograder_here("report", tmp_path / "marks.json").stdout


@pytest.mark.parametrize("text", ["", '{"a": 1}', '[{"student": "ada"}]'])
def test_file_without_marks_is_reported_with_the_remedy(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    done = autograder_here("report", tmp_path / "m.json")
    assert done.returncode == 2
    assert "m.json" in done.stderr
    assert "autograder grade" in done.stderr
    assert "cannot be read: No such file" in " ".join(autograder_here("report", tmp_path / "none").stderr.split())


def test_mistakes_list_students_and_an_anonymous_sample(marks, tmp_path):
    page = tmp_path / "c.html"
    done = autograder_here("report", marks, "--html", page, "--submitted", "submitted", cwd=marks.parent)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    found = re.search(rf"{MISTAKE}<br>.*?</tr>", text, re.DOTALL)[0]
    assert "chloe, dmitri" in " ".join(
        re.sub(r"<[^>]*>", "", found.partition("who")[2].partition("</details>")[0]).split()
    )
    sample = found.partition("<pre>")[2].partition("</pre>")[0]
    assert "return X - X.mean()" in sample
    assert "#" not in sample
    (a1, _) = class_statistics(read_marks([marks]))
    assert a1.mistakes[0].students == ("chloe", "dmitri")


def test_low_scores_and_missing_submissions_need_attention():
    (a1,) = class_statistics([made("ada", "a1", scores="no-scaling", heads="")], ["ada", "ben"])
    why = {one.student: one.why for one in a1.attention}
    assert why["ada"].startswith("started everything, and has ")
    assert why["ben"] == "nothing collected"


def made(student, assignment, **diagnoses):
    tests = (TestResult("test_values", "Values.", "failed", 0.0, 1.0, ""),)
    exercises = tuple(
        ExerciseResult(name, tests, 1.0, findings=(Finding("relation", cause, hint=cause),) if cause else ())
        for name, cause in diagnoses.items()
    )
    return Report(student, assignment, exercises, 1.0)


def test_causes_are_counted_per_class_and_course():
    reports = [
        made("ada", "a1", scores="no-scaling"),
        made("ben", "a1", scores="no-scaling"),
        made("eve", "a1", scores="another-dtype"),
        made("ada", "a4", heads="no-scaling"),
        made("cleo", "a1", scores=""),
        made("dora", "a1", scores=""),
    ]
    a1, a4 = class_statistics(reports)
    first, second = a1.mistakes
    assert (first.name, first.count, first.hint, first.students) == ("no-scaling", 2, "no-scaling", ("ada", "ben"))
    assert (second.name, second.count, second.hint) == ("another-dtype", 1, "another-dtype")
    assert first.again == (("heads", 1),)
    assert [(m.name, m.again) for m in a4.mistakes] == [("no-scaling", (("scores", 1),))]
    (group,) = a1.alike
    assert (group.exercise, group.count, group.students) == ("scores", 2, ("cleo", "dora"))
