"""A student's walk through each notebook: typical slips, one after the other.

The notebooks run in a real kernel. After each slip, the headline and the first failing check name the slip or its
place. Then the correct answer passes, and the walk goes on.
"""

from __future__ import annotations

import re
import shutil

import pytest

from autograder.authoring.sample_class import model_answers
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS, COURSE
from tests.helpers.kernel import Kernel, seen
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import wrong_code_of

pytestmark = pytest.mark.slow

NO_CELL, STUB = "run only the check", "run the released stub"
EMPTY = "run the released cell for code from an earlier assignment"
BROUGHT, RIGHT = "copy the model answer of an earlier assignment into its cell", "write the model answer"
NOT_WRITTEN = "{0}, which this calls and you bring from a4, is not written yet"
# Steps before an exercise's slips: the cell, what is done in it, and a pattern that the check must show first.
BEFORE = {
    "softmax": [
        ("softmax", NO_CELL, "Run the cell that defines"),
        ("softmax", STUB, "not started yet. Replace raise NotImplementedError()"),
    ],
    "DecoderBlock": [
        ("MultiHeadAttention", EMPTY, ""),
        ("DecoderBlock", RIGHT, f"{NOT_WRITTEN.format('MultiHeadAttention')}. Start there"),
        ("MultiHeadAttention", BROUGHT, ""),
    ],
    "convolution_by_attention": [
        ("output_projection", EMPTY, ""),
        ("convolution_by_attention", RIGHT, NOT_WRITTEN.format("output_projection")),
        ("output_projection", BROUGHT, ""),
    ],
}


def body_of(slip):
    """Its code below the first line, which the notebook has already."""
    first_line, _, body = slip.code.partition("\n")
    assert re.match(rf"(def|class) {slip.exercise}\b", first_line)
    return body


def walk_of(assignment):
    """The steps: an exercise, the code written into its cell, and a pattern for the first message."""
    slips = wrong_code_of(assignment, "walk")
    return [
        step
        for exercise in assignment.exercises
        for step in [
            *BEFORE.get(exercise.name, ()),
            *((exercise.name, body_of(slip), slip.words) for slip in slips if slip.exercise == exercise.name),
        ]
    ]


WALKS = {assignment.name[:2]: walk_of(assignment) for assignment in ASSIGNMENTS}


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    yield kernel
    kernel.close()


@pytest.mark.parametrize("name", one_in(len(WALKS), sorted(WALKS)))
def test_first_message_names_each_slip(name, kernel, tmp_path):
    kernel.open(copied(WALKS[name], tmp_path))
    walk_through(WALKS[name], kernel)


def copied(walk, root):
    """A copy of the released notebook of a walk."""
    assignment = COURSE.of_exercise(walk[0][0])
    steps = [step[0] for step in walk if step[1] not in (BROUGHT, EMPTY)]
    assert list(dict.fromkeys(steps)) == [exercise.name for exercise in assignment.exercises], "all exercises, in order"
    folder = shutil.copytree(ROOT / "assignments" / assignment.name, root / "walk" / assignment.name)
    return folder / assignment.notebook.name


def walk_through(walk, tab):
    tab.run("import numpy as np")
    if walk not in (WALKS["a6"], WALKS["a7"], WALKS["a9"]):  # these import it, or need no PyTorch
        tab.run("import torch.nn as nn")
    for number, (exercise, mutant, says) in enumerate(walk):
        answer = model_answers(COURSE.of_exercise(exercise))[exercise]
        first_line = answer.partition("\n")[0]
        if mutant == EMPTY:
            tab.run(first_line)
        elif mutant == BROUGHT:
            tab.write(first_line, answer)
        if not says:
            continue
        if mutant == STUB:
            tab.run(first_line)
        elif mutant != NO_CELL:
            tab.write(first_line, answer if mutant == RIGHT else f"{first_line}\n{mutant}")
        shown = first_message(tab, exercise)
        assert shown.startswith(exercise), shown
        assert re.search(says, shown), f"{mutant}\n\n{shown}"
        if exercise not in [step[0] for step in walk[number + 1 :]]:
            tab.write(first_line, answer)
            assert re.search(rf"^{exercise}: (\d+) of \1 visible tests pass", first_message(tab, exercise))


def first_message(kernel, exercise):
    """The headline of the check, and its first failing test."""
    page, *_question = kernel.run(f'check("{exercise}")')
    return " ".join(" ".join(seen(page)[:2]).split())
