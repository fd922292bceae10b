"""Untrusted text is made safe to print."""

from __future__ import annotations

import json
import shlex
import subprocess

from hypothesis import given
from hypothesis import strategies as st

from autograder.course.assignments import Course
from autograder.text import in_shell, one_line, printable
from tests.conftest import ROOT
from tests.helpers.sandboxes import Marker


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_becomes_printable(text):
    shown = printable(text)
    assert len(shown) == len(text)
    shown.encode("utf-8")
    assert shown.isprintable()
    assert "\n" not in one_line(text)


def test_invisible_characters_are_replaced_and_names_kept():
    """Unassigned, surrogate, control, zero-width, bidirectional, line separator, private and tag characters."""
    for odd in "\ud7fc\ud800\x1b\x85\u200b\u202e\u2028\ue000\U000e0041":
        assert printable(f"a{odd}b") == "a\ufffdb"
        assert one_line(f"a{odd}b").isprintable()
    for name in ("Zoë Ünal", "李雷", "o'hara-2", "محمد", "🎓 Ana"):
        assert printable(name) == name


@given(st.text(st.characters(exclude_characters="\0"), min_size=1))
def test_any_name_is_one_word_of_a_shell_and_visible(name):
    assert in_shell(name).isprintable()
    if name.isprintable():
        assert shlex.split(in_shell(name)) == [name]


def test_invisible_name_reaches_the_program_as_it_is():
    name = "it's\u00a0\\a$(id)\u202e"
    done = subprocess.run(
        ["bash", "-c", f"printf %s {in_shell(name)}"], env={"LC_ALL": "C.UTF-8"}, stdout=subprocess.PIPE
    )
    assert done.stdout.decode() == name


def test_control_characters_in_an_error_message_are_replaced(sandbox):
    """Escape sequences, a forged line, a surrogate."""
    code = "def softmax(x, axis=-1):\n    raise ValueError('\\x1b[2J\\x1b[31m\\nright: 20 / 20 \\ud800 \\u202e')"
    report = Marker(Course(ROOT).assignment("a1_scaled_dot_product"), sandbox).mark_cells("ana", [code])[0]
    text = json.dumps(report.to_dict(), ensure_ascii=False)
    text.encode("utf-8")
    assert "right: 20 / 20" in text
    assert not set("\x1b\u202e") & set(text)
    assert all("\n" not in test.message for test in report.exercises[0].tests)
