"""Untrusted text is shown and never obeyed."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.assignments import Course
from autograder.text import one_line, printable
from tests.conftest import ROOT
from tests.helpers.sandboxes import Marker
from tests.helpers.small_course import EXERCISE, NAME, said_by, small_course, submit


@given(st.text(st.characters(exclude_categories=[])))
def test_no_text_obeys_or_breaks_a_file(text):
    shown = printable(text)
    assert len(shown) == len(text)
    shown.encode("utf-8")
    assert shown.isprintable()
    assert "\n" not in one_line(text)


def test_what_cannot_be_seen_is_shown_as_one_mark():
    """Unassigned, half, control, invisible, turning, line end, private, tag; ordinary names stay."""
    for odd in "\ud7fc\ud800\x1b\x85\u200b\u202e\u2028\ue000\U000e0041":
        assert printable(f"a{odd}b") == "a\ufffdb"
        assert one_line(f"a{odd}b").isprintable()
    for name in ("Zoë Ünal", "李雷", "o'hara-2", "محمد", "🎓 Ana"):
        assert printable(name) == name


def test_an_error_that_paints_the_terminal_is_text(sandbox):
    """Escape sequences, a forged line, half a character."""
    code = "def softmax(x, axis=-1):\n    raise ValueError('\\x1b[2J\\x1b[31m\\nright: 20 / 20 \\ud800 \\u202e')"
    with Marker(Course(ROOT).assignment("a1_scaled_dot_product"), sandbox) as marker:
        report = marker.mark_cells("ana", [code])[0]
    text = json.dumps(report.to_dict(), ensure_ascii=False)
    text.encode("utf-8")
    assert "right: 20 / 20" in text
    assert not set("\x1b\u202e") & set(text)
    assert all("\n" not in test.message for test in report.exercises[0].tests)


@pytest.mark.slow
def test_limits_are_changed_in_the_notebook(tmp_path):
    course = small_course(tmp_path / "course")
    notebook = nbformat.read(course.assignment(NAME).notebook, as_version=4)
    notebook.metadata["autograder"] = {"limits": {"call_seconds": 0.2, "call_seconds_again": 0.1}}
    nbformat.write(notebook, course.assignment(NAME).notebook)
    submit(course, "ana", {EXERCISE: f"def {EXERCISE}(X):\n    while True:\n        pass"})
    waited = re.findall(r"no answer after ([\d.]+) seconds", said_by(course, "grade", "submitted"))
    assert waited and all(float(one) <= 0.2 for one in waited)
