"""`autograder report`: a class at a glance, from what `autograder grade --json` writes."""

from __future__ import annotations

import csv
import html.parser
import itertools
import json
import re

import pytest

from autograder.reports.class_statistics import class_statistics
from autograder.reports.marks_file import read_marks
from tests.classes import STRANGE
from tests.in_process import ASSIGNMENTS
from tests.terminal import autograder

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
    assert (values.passed, values.failed, values.not_known, values.share) == (3, 2, 1, 0.5)
    why = {one.student: one.why for one in a1.attention}
    assert why["eve"] == "nothing started yet"
    assert why["farid"] == "code that loops, exits or crashes: softmax"
    assert "could not be graded" in why[STRANGE]
    assert why.keys() == {"eve", "farid", STRANGE}
    assert {one.student for one in a2.attention} == {"chloe", "dmitri", "eve", "farid", STRANGE}
    assert all("not this one" in one.why for one in a2.attention)


def test_page_table_json_and_terminal_say_the_same(marks, tmp_path):
    done = autograder(
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
    terminal = autograder("report", marks).stdout
    page = (tmp_path / "c.html").read_text()
    for words in ("no-scaling", "nothing started yet", "code that loops, exits or crashes: softmax", "50 %"):
        assert words in terminal
        assert words in page


def test_strangers_text_stays_text(marks, tmp_path):
    autograder("report", marks, "--html", tmp_path / "c.html", "--csv", tmp_path / "c.csv")
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
    autograder("report", marks, "--html", tmp_path / "c.html")
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
    entry = {
        "student": "ada",
        "assignment": "a1",
        "status": "failed",
        "score": 0,
        "max_score": 20,
        "exercises": [],
        "reason": "it is empty",
    }
    (tmp_path / "marks.json").write_text(json.dumps([entry]))
    done = autograder("report", tmp_path / "marks.json", "--html", tmp_path / "c.html")
    assert done.returncode == 0, done.stderr
    assert "it is empty" in (tmp_path / "c.html").read_text()
    assert "it is empty" in autograder("report", tmp_path / "marks.json").stdout


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[1]", '[{"student": "ada"}]'])
def test_a_file_that_holds_no_marks_is_said_with_the_remedy(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    done = autograder("report", tmp_path / "m.json")
    assert done.returncode == 2
    assert "m.json" in done.stderr
    assert "autograder grade" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_or_cannot_be_written_is_said(tmp_path, marks):
    assert "cannot be read: No such file" in " ".join(autograder("report", tmp_path / "none.json").stderr.split())
    done = autograder("report", marks, "--html", marks / "below" / "c.html")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
