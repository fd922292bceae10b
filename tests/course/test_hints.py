"""`hint("softmax")` gives three hints, from a file beside the visible tests, and never the solution."""

from __future__ import annotations

import re
from collections import Counter

import nbformat
import pytest

from autograder import hint
from autograder.authoring import notebook_checks
from autograder.course import content
from autograder.student.hint import Help
from tests.helpers.in_process import ASSIGNMENTS

each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)


@pytest.fixture(autouse=True)
def new_session(monkeypatch):
    monkeypatch.setattr("autograder.student.hint._asked", Counter())


@each
def test_every_exercise_has_hints_under_its_heading(assignment):
    assert content.Visible().assignments[assignment.name] == tuple(one.name for one in assignment.exercises)
    source = nbformat.read(assignment.notebook, as_version=4)
    assert not list(notebook_checks.hints(assignment, source))
    above, headings = "", {}
    for cell in source.cells:
        if cell.cell_type == "markdown":
            above = next(iter(re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)[-1:]), above)
        headings[cell.metadata.get("nbgrader", {}).get("grade_id")] = above
    for exercise in assignment.exercises:
        given = content.Visible().hint_for(exercise.name)
        assert given.section == headings[exercise.name]
        assert given.link.startswith("https://")
        assert len(given.nudge) > 40
        assert len(given.closer) > 40
        assert re.search(r"\d", given.example) and len(given.example) > 80
        assert len({given.nudge, given.closer, given.example, given.paper}) == 4


def test_each_call_gives_one_more_hint(capsys):
    said = []
    for _ in range(4):
        hint("softmax")
        said.append(capsys.readouterr().out)
    given = content.Visible().hint_for("softmax")
    assert given.nudge in said[0]
    assert given.closer not in said[0]
    assert 'hint("softmax")` again goes one step further' in said[0]
    assert given.closer in said[1]
    assert given.link not in said[1]
    assert given.example not in said[1]
    assert f"An example with other numbers. {given.example}" in said[2]
    assert "Read the section “1. `softmax`” of this notebook" in said[2]
    assert "Vaswani et al. 2017, section 3.2.1: https://arxiv.org/abs/1706.03762" in said[2]
    assert said[3] == said[2]


def test_hints_are_counted_per_exercise_given_by_name_or_function(capsys):
    def attention_scores(Q, K): ...

    hint("softmax")
    hint(attention_scores)
    hint(attention_scores)
    out = capsys.readouterr().out
    assert "softmax: hint 1 of 3" in out
    assert "attention_scores: hint 2 of 3" in out


def test_jupyterlab_shows_hints_as_a_list_with_a_link():
    page = Help("softmax", 3, content.Visible())._repr_html_()
    assert page.count("<li") == 3
    assert 'href="https://arxiv.org/abs/1706.03762"' in page
    assert "<code>softmax</code>" in page


def test_hint_writes_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    hint("softmax")
    assert list(tmp_path.iterdir()) == []
