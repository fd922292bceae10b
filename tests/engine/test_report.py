"""`autograder report`: a class at a glance, from what `autograder grade --json` writes."""

from __future__ import annotations

import csv
import html.parser
import itertools
import json
import random
import re

import pytest

from autograder.report import Cause, ExerciseResult, Report, TestResult
from autograder.reports.class_statistics import class_statistics
from autograder.reports.marks_file import read_marks, report_of
from tests.helpers.classes import STRANGE
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.terminal import autograder_here

A1, A2 = ASSIGNMENTS[:2]


def test_marks_read_back_are_the_marks_that_were_written(marks):
    written = json.loads(marks.read_text())
    assert [report.to_dict() for report in read_marks([marks])] == written


def test_statistics_count_what_the_class_did(marks):
    a1, a2 = class_statistics(read_marks([marks]))
    assert (a1.name, a1.graded, a1.failed, a2.graded) == (A1.name, 6, 1, 2)
    by_name = {exercise.name: exercise for exercise in a1.exercises}
    assert (by_name["softmax"].full, by_name["softmax"].not_started) == (4, 1)
    assert (by_name["attention_scores"].full, by_name["attention_scores"].not_started) == (3, 1)
    assert a1.bins[0] == 1  # untouched
    assert a1.bins[9] == 2  # all right
    assert sum(a1.bins) == a1.graded
    (made,) = a1.mistakes
    assert (made.name, made.exercise, made.count) == ("no-scaling", "attention_scores", 2)
    values = next(test for test in by_name["attention_scores"].tests if test.name == "test_values")
    assert (values.passed, values.failed, values.not_known, values.share) == (3, 2, 1, 0.6)
    why = {one.student: one.why for one in a1.attention}
    assert why["eve"] == "nothing started yet"
    assert why["farid"] == "code that loops, exits or crashes: softmax"
    assert "could not be graded" in why[STRANGE]
    assert why.keys() == {"eve", "farid", STRANGE}
    assert {one.student for one in a2.attention} == {"chloe", "dmitri", "eve", "farid", STRANGE}
    assert all("not this one" in one.why for one in a2.attention)


def test_page_table_json_and_terminal_say_the_same(marks, tmp_path):
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
    mine = [row for row in rows if row["assignment"] == A1.name]
    assert [(row["name"], row["count"]) for row in mine if row["kind"] == "mistake"] == [("no-scaling", "2")]
    assert [int(row["count"]) for row in mine if row["kind"] == "marks"] == a1["bins"]
    tests = [row for row in mine if row["kind"] == "test"]
    assert [float(row["share"]) for row in tests] == [t["share"] for e in a1["exercises"] for t in e["tests"]]
    terminal = autograder_here("report", marks).stdout
    page = (tmp_path / "c.html").read_text()
    for words in ("no-scaling", "nothing started yet", "code that loops, exits or crashes: softmax", "60 %"):
        assert words in terminal
        assert words in page


def test_strangers_text_stays_text(marks, tmp_path):
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


@pytest.mark.slow
def test_the_page_in_a_browser_is_readable_on_paper_and_phone_and_asks_nobody(marks, tmp_path, chromium):
    autograder_here("report", marks, "--html", tmp_path / "c.html")
    page = chromium.new_page(viewport={"width": 360, "height": 700})
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "c.html").as_uri())
    assert asked == [(tmp_path / "c.html").as_uri()]
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for chart in page.get_by_role("img").all():
        assert chart.get_attribute("aria-label").strip()
    assert "90 to 100 %: 2 students" in page.locator(".distribution").first.get_attribute("aria-label")
    headings = [int(tag[1]) for tag in page.locator("h1, h2, h3").evaluate_all("all => all.map(one => one.tagName)")]
    assert headings[0] == 1 and all(b - a <= 1 for a, b in itertools.pairwise(headings))
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator(".distribution").first.is_visible()
    page.close()


def test_of_two_marks_the_later_counts(marks, tmp_path):
    first = json.loads(marks.read_text())
    again = [entry | {"exercises": []} for entry in first if entry["student"] == "ada"]
    (tmp_path / "again.json").write_text(json.dumps(again))
    found = {(r.student, r.assignment): r for r in read_marks([marks, tmp_path / "again.json"])}
    assert len(found) == len(first)
    assert found["ada", A1.name].score == 0
    assert found["ben", A1.name].score == 20


def test_a_class_that_could_not_be_graded_at_all_has_a_page(tmp_path):
    entry = {"student": "ada", "assignment": "a1", "status": "failed", "score": 0, "max_score": 20, "exercises": []}
    entry |= {"reason": "it is empty"}
    (tmp_path / "marks.json").write_text(json.dumps([entry]))
    done = autograder_here("report", tmp_path / "marks.json", "--html", tmp_path / "c.html")
    assert done.returncode == 0, done.stderr
    assert "it is empty" in (tmp_path / "c.html").read_text()
    assert "it is empty" in autograder_here("report", tmp_path / "marks.json").stdout


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[1]", '[{"student": "ada"}]'])
def test_a_file_that_holds_no_marks_is_said_with_the_remedy(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    done = autograder_here("report", tmp_path / "m.json")
    assert done.returncode == 2
    assert "m.json" in done.stderr
    assert "autograder grade" in done.stderr


def test_a_file_that_is_not_there_or_cannot_be_written_is_said(tmp_path, marks):
    assert "cannot be read: No such file" in " ".join(autograder_here("report", tmp_path / "none.json").stderr.split())
    done = autograder_here("report", marks, "--html", marks / "below" / "c.html")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


# ---------------------------------------------------------------- a class of 300


HINTS = {"no-scaling": "What are the dot products divided by?", "mean-of-columns": "Along which axis does a row lie?"}


def large_class(folder, count=300):
    """Marks of a made-up class, with names as long as a hub's, in two assignments of four exercises."""
    rng = random.Random(7)
    entries = []
    for number in range(count):
        student, skill = f"{'student-with-a-long-id' if number % 9 else 's'}-{number:04}@example.edu", rng.random()
        for assignment in ("a1_scaled_dot_product", "a2_causal_masking"):
            if number % 50 == 49 and assignment.startswith("a2"):
                continue
            exercises = [_exercise(rng, f"exercise_{n}", skill, begun=number % 40 != 39 or n < 2) for n in range(4)]
            score = round(sum(e["score"] for e in exercises), 2)
            entries.append(
                {"student": student, "assignment": assignment, "status": "graded", "score": score, "max_score": 20.0}
                | {"exercises": exercises}
            )
    path = folder / "marks.json"
    path.write_text(json.dumps(entries))
    return path


def _exercise(rng, name, skill, begun):
    passed = [begun and rng.random() < skill + 0.2 for _ in range(5)]
    diagnosis = rng.choice(["no-scaling", "mean-of-columns", None]) if begun and not all(passed) else None
    tests = [
        {"name": f"test_{n}", "sentence": f"What the test number {n} asks for, in a sentence.", "passed": ok,
         "state": "passed" if ok else "failed" if begun else "not known", "score": 1.0 if ok else 0.0,
         "max_score": 1.0, "message": "" if ok else f"{name}(x): the result at [0] is {n}."}
        for n, ok in enumerate(passed)
    ]  # fmt: skip
    return {
        "name": name, "score": float(sum(passed)), "max_score": 5.0, "started": begun, "diagnosis": diagnosis,
        "hint": HINTS.get(diagnosis, ""), "tests": tests,
    }  # fmt: skip


@pytest.mark.slow
def test_300_students_are_two_screens_with_the_rest_folded_light_and_dark(tmp_path, chromium):
    path = large_class(tmp_path)
    feedback = tmp_path / "feedback" / "s-0000@example.edu" / A1.name
    feedback.mkdir(parents=True)
    (feedback / "scaled_dot_product.html").write_text("<p>well done</p>")
    (feedback / "0.html").write_text("<script>window.acted = 1</script>")
    done = autograder_here("report", path, "--html", tmp_path / "c.html", "--feedback", tmp_path / "feedback")
    assert done.returncode == 0, done.stderr
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.goto((tmp_path / "c.html").as_uri())
    sections = page.locator("section").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert max(sections) <= 2000, sections
    assert page.locator("details.course summary").inner_text() == "300 students, 2 assignments: everybody's points"
    page.locator("details.course summary").click()
    rows = page.locator("details.course tbody tr")
    assert rows.count() == 300
    assert rows.locator("th").evaluate_all("all => Math.max(...all.map(one => one.getClientRects().length))") == 1
    heights = rows.locator("th").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert max(heights) < 1.5 * min(heights)  # no id is broken
    page.get_by_role("row", name="s-0000@example.edu").first.get_by_role("link").click()
    assert page.get_by_text("well done").is_visible()
    page.go_back()
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) != light == "rgb(255, 255, 255)"
    assert _contrast(page) > 7
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(background) == light  # paper is white
    page.close()


def _contrast(page):
    """Of the text on its background (WCAG 2.2, relative luminance)."""

    def luminance(color):
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    ink, paper = (
        luminance(page.evaluate(f"getComputedStyle(document.body).{name}")) for name in ("color", "backgroundColor")
    )
    return (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)


def test_each_mistake_has_its_students_and_one_answer_that_names_nobody(marks, tmp_path):
    page = tmp_path / "c.html"
    done = autograder_here("report", marks, "--html", page, "--submitted", marks.parent / "submitted")
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    found = re.search(r"no-scaling<br>.*?</tr>", text, re.DOTALL)[0]
    assert "chloe, dmitri" in " ".join(
        re.sub(r"<[^>]*>", "", found.partition("who")[2].partition("</details>")[0]).split()
    )
    sample = found.partition("<pre>")[2].partition("</pre>")[0]
    assert "return Q @ K" in sample
    assert "#" not in sample
    (a1, _) = class_statistics(read_marks([marks]))
    assert a1.mistakes[0].students == ("chloe", "dmitri")


def test_who_tries_everything_and_scores_low_and_who_errs_alike_without_a_name_are_told(tmp_path):
    reports = read_marks([large_class(tmp_path, 40)])
    a1, a2 = class_statistics(reports, ["nobody@example.edu"])
    low = [one.student for one in a1.attention if one.why.startswith("started everything, and has ")]
    wanted = [
        r.student for r in reports if r.assignment == A1.name and r.score < 10 and all(e.started for e in r.exercises)
    ]
    assert low == wanted
    assert {one.student: one.why for one in a2.attention}["nobody@example.edu"] == "nothing handed in"
    first = a1.exercises[0]
    assert (first.started + first.not_started, a1.exercises[3].not_started) == (40, 1)
    begun = [
        e.score for r in reports if r.assignment == A1.name for e in r.exercises if e.name == "exercise_3" and e.started
    ]
    assert a1.exercises[3].mean == round(sum(begun) / len(begun), 2)
    assert all(-1 <= e.discrimination <= 1 and e.deviation > 0 for e in a1.exercises)
    assert a1.alike and all(one.count == len(one.students) > 1 for one in a1.alike)
    unnamed = {(r.student, e.name) for r in reports if r.assignment == A1.name for e in r.exercises if not e.diagnosis}
    assert all((student, one.exercise) in unnamed for one in a1.alike for student in one.students)


def made(student, assignment, **diagnoses):
    tests = (TestResult("test_values", "Values.", "failed", 0.0, 1.0, ""),)
    exercises = tuple(
        ExerciseResult(name, tests, 1.0, cause=Cause(cause, cause) if cause else None)
        for name, cause in diagnoses.items()
    )
    return Report(student, assignment, exercises, 1.0)


def test_cause_comes_back_from_the_json():
    one = made("ben", "a1", scores="no-scaling")
    assert one.exercises[0].to_dict()["diagnosis"] == "no-scaling"
    assert report_of(json.loads(json.dumps(one.to_dict()))) == one


def test_causes_are_counted_over_the_class_and_the_course():
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
