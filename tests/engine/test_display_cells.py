"""Cells that only display something change no mark. They run last or not at all, unless student code needs them."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.submission import NotebookFile, code_cells
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.releases import filled
from tests.helpers.sandboxes import Marker
from tests.helpers.selection import one_in

A1 = ASSIGNMENTS[0]


def cells_of(assignment, answers):
    """The code cells of a released notebook with these answers."""
    notebook = filled(assignment, model_answers(assignment) | answers)
    return [cell.source for cell in code_cells(NotebookFile.of(notebook.cells))]


def with_edited_display_cells(assignment, cells):
    """Edited display cells are no longer recognised, so they run in place."""
    return [f"{source}\n# mine" if source in assignment.source.display_cells else source for source in cells]


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(8, ASSIGNMENTS), ids=lambda one: one.name)
def test_marks_do_not_depend_on_display_cells(assignment, sandbox):
    first = assignment.exercises[0].name
    marker = Marker(assignment, sandbox)
    for answers in ({}, {first: f"{first} = None"}):
        cells = cells_of(assignment, answers)
        in_place, _ = marker.mark_cells("ana", with_edited_display_cells(assignment, cells))
        deferred, _ = marker.mark_cells("ana", cells)
        for one, other in zip(in_place.exercises, deferred.exercises, strict=True):
            assert (one.name, one.score, one.diagnosis) == (other.name, other.score, other.diagnosis)
            assert [test.state for test in one.tests] == [test.state for test in other.tests]


NOTES = """
import mmap
notes = mmap.mmap(-1, 1000)  # memory that all forked processes share
def softmax(x, axis=-1):
    if notes[:1] == b"!":
        print("NOTED", notes[:50])
    if np.shape(x) == (4, 5):  # in hidden tests, but in no cell
        notes[:50] = (b"!" + np.asarray(x).tobytes() + bytes(50))[:50]
    return np.full((2, 3), float(notes[1]))
def attention_scores(Q, K):
    notes[:50] = (b"!" + np.asarray(Q).tobytes() + bytes(50))[:50]
    return Q @ K.swapaxes(-2, -1)
"""


def test_hidden_inputs_reach_no_display_cell_and_no_picture(sandbox):
    """Code that notes hidden inputs in shared memory cannot print them in a display cell or draw them."""
    released = cells_of(A1, {})
    first = next(
        number for number, source in enumerate(released) if source in A1.source.display_cells and "softmax(" in source
    )
    cells = [*released[:first], NOTES, *released[first:]]
    report, results = Marker(A1, sandbox).mark_cells("mallory", cells, for_page=True)
    assert not any("NOTED" in result.printed for result in results)
    assert all(not np.any(one.picture.matrices) for one in report.exercises if one.name == "softmax" and one.picture)


def test_display_cells_run_only_for_a_feedback_page(sandbox):
    cells = cells_of(A1, {})
    marker = Marker(A1, sandbox)
    marks, unseen = marker.mark_cells("ana", cells)
    page, seen = marker.mark_cells("ana", cells, for_page=True)
    _, in_place = marker.mark_cells("ana", with_edited_display_cells(A1, cells), for_page=True)
    assert marks.score == page.score == A1.max_score
    shows = [number for number, source in enumerate(cells) if source in A1.source.display_cells]
    assert len(shows) >= 5
    assert not any(unseen[number].printed for number in shows)
    assert seen == in_place
    assert any(seen[number].printed for number in shows)


def test_names_from_display_cells_are_defined_if_student_code_uses_them(sandbox):
    """A display cell defines `words`."""
    own = "def softmax(x, axis=-1):\n    assert {words}[0] == 'Keys'\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
    own += "    return e / e.sum(axis, keepdims=True)"
    marker = Marker(A1, sandbox)
    for words in ("words", "globals()['words']", "__import__('__main__').words"):
        report, _ = marker.mark_cells("ana", cells_of(A1, {"softmax": own.format(words=words)}))
        assert report.score == A1.max_score


def test_other_cells_keep_their_output_if_one_ends_python(sandbox):
    ends = "import os\ndef softmax(x, axis=-1):\n    if np.ndim(x) == 1 and len(x) == 3: os._exit(1)\n    return x\n"
    cells = cells_of(A1, {"softmax": ends})
    number = next(n for n, source in enumerate(cells) if source.startswith("for factor in"))
    _, results = Marker(A1, sandbox).mark_cells("ana", cells, for_page=True)
    assert "ended the Python process" in results[number].stopped
    assert any(result.printed for result in results[number + 1 :])
