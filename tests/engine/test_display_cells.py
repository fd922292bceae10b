"""Cells that only show something change no mark: they run last, or not at all, unless the student's work needs them."""

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
    """A submission's cells: the release, filled in."""
    notebook = filled(assignment, model_answers(assignment) | answers)
    return [cell.source for cell in code_cells(NotebookFile.of(notebook.cells))]


def in_their_place(assignment, cells):
    """The same, with every cell edited that could wait, so that none does."""
    return [f"{source}\n# mine" if source in assignment.display_cells else source for source in cells]


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(4, ASSIGNMENTS), ids=lambda one: one.name)
def test_no_mark_depends_on_a_cell_that_only_shows(assignment, sandbox):
    first = assignment.exercises[0].name
    with Marker(assignment, sandbox) as marker:
        for answers in ({}, {first: f"{first} = None"}):
            cells = cells_of(assignment, answers)
            shown, _ = marker.mark_cells("ana", in_their_place(assignment, cells))
            waited, _ = marker.mark_cells("ana", cells)
            for one, other in zip(shown.exercises, waited.exercises, strict=True):
                assert (one.name, one.score, one.diagnosis) == (other.name, other.score, other.diagnosis)
                assert [test.state for test in one.tests] == [test.state for test in other.tests]


NOTES = """
import mmap
notes = mmap.mmap(-1, 1000)  # every process that is forked from here writes into the same memory
def softmax(x, axis=-1):
    if notes[:1] == b"!":
        print("NOTED", notes[:50])
    if np.shape(x) == (4, 5):  # as hidden tests ask, and no cell
        notes[:50] = (b"!" + np.asarray(x).tobytes() + bytes(50))[:50]
    return np.full((2, 3), float(notes[1]))
def attention_scores(Q, K):
    notes[:50] = (b"!" + np.asarray(Q).tobytes() + bytes(50))[:50]
    return Q @ K.swapaxes(-2, -1)
"""


def test_nothing_that_is_drawn_or_shown_can_have_seen_a_hidden_input(sandbox):
    """Notes that an exercise's process leaves reach neither a cell that shows something nor another one's picture."""
    released = cells_of(A1, {})
    first = next(
        number for number, source in enumerate(released) if source in A1.display_cells and "softmax(" in source
    )
    cells = [*released[:first], NOTES, *released[first:]]
    with Marker(A1, sandbox) as marker:
        report, results = marker.mark_cells("mallory", cells, for_page=True)
    assert not any("NOTED" in result.printed for result in results)
    assert all(not np.any(one.picture.matrices) for one in report.exercises if one.name == "softmax" and one.picture)


def test_they_run_beside_the_others_and_where_nobody_looks_not_at_all(sandbox):
    cells = cells_of(A1, {})
    with Marker(A1, sandbox) as marker:
        marks, unseen = marker.mark_cells("ana", cells)
        page, seen = marker.mark_cells("ana", cells, for_page=True)
        _, in_place = marker.mark_cells("ana", in_their_place(A1, cells), for_page=True)
    assert marks.score == page.score == A1.max_score
    shows = [number for number, source in enumerate(cells) if source in A1.display_cells]
    assert len(shows) >= 5
    assert not any(unseen[number].printed for number in shows)
    assert seen == in_place
    assert any(seen[number].printed for number in shows)


def test_what_the_students_code_looks_up_is_there(sandbox):
    """`words` is defined by a cell that only shows something."""
    own = "def softmax(x, axis=-1):\n    assert {words}[0] == 'Keys'\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
    own += "    return e / e.sum(axis, keepdims=True)"
    with Marker(A1, sandbox) as marker:
        for words in ("words", "globals()['words']", "__import__('__main__').words"):
            report, _ = marker.mark_cells("ana", cells_of(A1, {"softmax": own.format(words=words)}))
            assert report.score == A1.max_score


def test_a_cell_that_ends_python_costs_no_other_its_output(sandbox):
    ends = "import os\ndef softmax(x, axis=-1):\n    if np.ndim(x) == 1 and len(x) == 3: os._exit(1)\n    return x\n"
    cells = cells_of(A1, {"softmax": ends})
    number = next(n for n, source in enumerate(cells) if source.startswith("for factor in"))
    with Marker(A1, sandbox) as marker:
        _, results = marker.mark_cells("ana", cells, for_page=True)
    assert "ended the Python process" in results[number].stopped
    assert any(result.printed for result in results[number + 1 :])
