"""Without our plugin: nbgrader's default preprocessors, its own kernel, the same partial credit."""

from __future__ import annotations

import subprocess

import pytest
from nbgrader.api import Gradebook

from autograder.authors.classroom import fill, hand_in, mistake, model_answers
from autograder.course import CONFIG
from autograder.submission import code_cells, find_submissions, read_notebook
from tests.classes import marks
from tests.in_process import ASSIGNMENTS
from tests.wall import Marker

# NumPy alone, both halves, what is brought and trained, what is watched, and ten exercises.
MISTAKES = {
    "a1_scaled_dot_product": "no-scaling",
    "a4_multi_head_attention": "W_O-transposed",
    "a6_transformer_summarizer": "no-shift",
    "a7_attention_and_convolution": "offset-of-the-wrong-sign",
    "a8_modern_attention": "pairs-in-halves",
}


def nbgrader(course, *words):
    """nbgrader's own command, in a process that has never heard of us."""
    done = subprocess.run(["nbgrader", *words], cwd=course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_stock_nbgrader_gives_the_same_marks(name, own_course, sandbox):
    assignment = own_course.assignment(name)
    (own_course.root / CONFIG).write_text('c = get_config()\nc.CourseDirectory.release_directory = "assignments"\n')
    nbgrader(own_course, "generate_assignment", name)
    released = own_course.root / "assignments" / name / assignment.notebook.name
    answers, slip = model_answers(assignment), mistake(assignment, MISTAKES[name])
    # A kernel takes seconds, so one submission has it all: right ones, a known mistake, and a stub left as it was.
    undone = next(exercise.name for exercise in reversed(assignment.exercises) if exercise.name not in slip)
    code = {exercise: text for exercise, text in (answers | slip).items() if exercise != undone}
    hand_in(fill(released, code), own_course.root / "submitted", "mixed", assignment)
    if name == ASSIGNMENTS[0].name:
        hand_in(fill(released, answers), own_course.root / "submitted", "right", assignment)
        hand_in(fill(released, {}), own_course.root / "submitted", "untouched", assignment)
    nbgrader(own_course, "autograde", name)
    found = find_submissions([own_course.root / "submitted"], own_course)
    with Gradebook(f"sqlite:///{own_course.root}/gradebook.db") as book, Marker(assignment, sandbox) as marker:
        for one in found:
            cells = [cell.source for cell in code_cells(read_notebook(one.path))]
            report, _ = marker.mark_cells(one.student, cells)
            expected = {exercise.name: exercise.score for exercise in report.exercises}
            assert marks(book, assignment, one.student) == expected
        mixed = marks(book, assignment, "mixed")
        assert mixed.pop(undone) == 0
        assert 0 < sum(mixed.values()) < sum(e.points for e in assignment.exercises if e.name != undone)
        if name == ASSIGNMENTS[0].name:
            assert sum(marks(book, assignment, "right").values()) == assignment.max_score
            assert sum(marks(book, assignment, "untouched").values()) == 0
