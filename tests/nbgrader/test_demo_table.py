"""The demo's class, and its marks in a wide terminal and in a narrow one."""

from __future__ import annotations

import pytest
from rich.console import Console

from autograder.cli.demo import CLASS, marks_table
from tests.helpers.in_process import ASSIGNMENTS


@pytest.mark.parametrize(("width", "shown"), [(80, "16.67"), (120, "16.67/20")])
def test_every_student_and_the_heading_have_a_line_to_themselves(width, shown):
    scores = [[("16.67", "20")] * len(ASSIGNMENTS)] * len(CLASS)
    console = Console(width=width)
    with console.capture() as captured:
        console.print(marks_table(ASSIGNMENTS, scores, width))
    title, heading, *lines = captured.get().splitlines()
    assert title.startswith("Marks in nbgrader's gradebook")
    assert len(heading.split()) == len(("student", "hands", "in", *ASSIGNMENTS))
    assert "20" in heading + lines[0]
    assert [line.split()[0] for line in lines] == [student.name for student in CLASS]
    for student, line in zip(CLASS, lines, strict=True):
        assert student.about in line
        assert line.count(shown) == len(ASSIGNMENTS)
