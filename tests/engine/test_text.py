"""Untrusted text is shown and never obeyed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.assignments import Course
from autograder.errors import CourseError
from autograder.text import one_line, printable
from tests.conftest import ROOT
from tests.helpers.sandboxes import Marker


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


def with_limits(course, limits):
    notebook = course.assignment("a1_scaled_dot_product").notebook
    data = json.loads(notebook.read_text())
    data["metadata"]["autograder"] = {"limits": limits}
    notebook.write_text(json.dumps(data))
    return course.assignment("a1_scaled_dot_product")


@pytest.mark.slow
def test_limits_are_changed_in_the_notebook(own_course, sandbox):
    assignment = with_limits(own_course, {"call_seconds": 0.2, "call_seconds_again": 0.1})
    with Marker(assignment, sandbox) as marker:
        report, _ = marker.mark_cells("ana", ["def softmax(x, axis=-1):\n    while True: pass"])
    loop = report.exercises[0]
    assert "no answer after 0.2 seconds" in loop.tests[0].message


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"seconds": 3}, "there is no limit 'seconds'; there are cell_seconds,"),
        ({"memory": "much"}, "limits.memory: expected float, got str"),
        ([1], "limits: expected object, got array"),
    ],
)
def test_a_limit_that_is_none_says_so(own_course, sandbox, limits, words):
    with pytest.raises(CourseError, match=r"scaled_dot_product.ipynb: the metadata's autograder[.:] ?limits") as caught:
        Marker(with_limits(own_course, limits), sandbox).mark_cells("ana", [])
    assert words in str(caught.value)
