"""nbgrader without our plugin, with its own kernel, gives the same partial credit."""

from __future__ import annotations

import pytest

from autograder.authoring.sample_class import fill, hand_in, mistake, model_answers
from autograder.cli.grading import find_submissions
from autograder.course.assignments import CONFIG
from autograder.submission import code_cells, read_notebook
from tests.conftest import copy_course
from tests.helpers.classes import marks
from tests.helpers.sandboxes import Marker
from tests.helpers.small_course import book_of
from tests.helpers.stock import stock

# NumPy only, NumPy and PyTorch, given code and training, ready-made functions, ten exercises.
MISTAKES = {
    "a1_scaled_dot_product": "no-scaling",
    "a4_multi_head_attention": "W_O-transposed",
    "a6_transformer_summarizer": "no-shift",
    "a7_attention_and_convolution": "offset-of-the-wrong-sign",
    "a8_modern_attention": "pairs-in-halves",
}


@pytest.mark.catalogue
@pytest.mark.parametrize("name", MISTAKES)
def test_stock_nbgrader_gives_the_same_marks(name, tmp_path, sandbox):
    """A kernel takes seconds, so one submission has right answers, a known mistake and an untouched stub."""
    course = copy_course(tmp_path / "course")
    (course.root / CONFIG).write_text('c = get_config()\nc.CourseDirectory.release_directory = "assignments"\n')
    stock(course.root, "generate_assignment", [name])
    assignment = course.assignment(name)
    answers, mutant = model_answers(assignment), mistake(assignment, MISTAKES[name])
    undone = next(exercise.name for exercise in reversed(assignment.exercises) if exercise.name not in mutant)
    code = {exercise: text for exercise, text in (answers | mutant).items() if exercise != undone}
    released = course.root / "assignments" / name / assignment.notebook.name
    hand_in(fill(released, code), course.root / "submitted", "mixed", assignment)
    stock(course.root, "autograde", [name], "mixed")
    (one,) = find_submissions([course.root / "submitted" / "mixed" / name], course)
    cells = [cell.source for cell in code_cells(read_notebook(one.path))]
    report, _ = Marker(assignment, sandbox).mark_cells(one.student, cells)
    with book_of(course) as book:
        mixed = marks(book, assignment, "mixed")
    assert mixed == {exercise.name: exercise.score for exercise in report.exercises}
    assert mixed.pop(undone) == 0
    assert 0 < sum(mixed.values()) < sum(e.points for e in assignment.exercises if e.name != undone)
