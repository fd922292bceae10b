"""The demo's class, and its marks in a wide terminal and in a narrow one."""

from __future__ import annotations

import pytest
from rich.console import Console

from autograder.authoring.sample_class import fill
from autograder.cli.demo import CLASS, marks_table
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.selection import one_in


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


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(3, ASSIGNMENTS), ids=lambda one: one.name)
def test_everybody_hands_in_what_the_table_says_of_them(assignment):
    """`tests/project/test_readme.py` grades one of the nine."""
    handed_in = {student.name: student.answers(assignment) for student in CLASS}
    exercises = [exercise.name for exercise in assignment.exercises]
    released = ROOT / "assignments" / assignment.name / assignment.notebook.name
    for answers in handed_in.values():
        fill(released, answers)  # each has its cell there
    assert list(handed_in["ada"]) == exercises
    assert list(handed_in["ben"]) == exercises[: len(exercises) // 2]
    assert handed_in["eve"] == {}
    changed = {
        name: [one for one in exercises if answers.get(one) != handed_in["ada"][one]]
        for name, answers in handed_in.items()
    }
    assert changed["farid"] == (exercises[:1] if assignment.name.startswith("a1") else [])
    assert changed["grete"] == exercises[:1]
    mistakes = [handed_in[name][one] for name in ("chloe", "dmitri") for one in changed[name]]
    assert len(set(mistakes)) == 2
