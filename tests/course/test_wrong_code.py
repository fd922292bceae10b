"""The files of wrong code can be read, and each entry is what its edits say."""

from __future__ import annotations

import ast

import pytest

from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import edited, model_code, wrong_code_of

CODE = "def f(x):\n    y = x + 1\n    y = y * 2\n    return y"


@pytest.mark.parametrize("assignment", one_in(4, ASSIGNMENTS), ids=lambda assignment: assignment.name)
def test_each_exercise_has_code_of_each_source_that_differs_from_the_model(assignment):
    solution = assignment.solution.read_text(encoding="utf-8")
    for source in ("author", "slip", "walk", "list"):
        found = wrong_code_of(assignment, source)
        assert source == "list" or {one.exercise for one in found} == {one.name for one in assignment.exercises}
        for one in found:
            assert one.words, one
            assert ast.dump(ast.parse(one.code)) != ast.dump(ast.parse(model_code(solution, one.exercise))), one


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        (["~ x + 1 => x - 1"], CODE.replace("+", "-")),
        (["     y = x + 1", "+    y -= 3"], CODE.replace("+ 1", "+ 1\n    y -= 3")),
        (["-    y = y * 2"], CODE.replace("    y = y * 2\n", "")),
        (["-    y = x + 1", "-...", "-    return y", "+    return x"], "def f(x):\n    return x"),
        (["+def f(x):", "+    return 0"], "def f(x):\n    return 0"),
        (
            ["+def g(x):", "+    return 0", "~ x + 1 => g(x)"],
            f"def g(x):\n    return 0\n{CODE.replace('x + 1', 'g(x)')}",
        ),
    ],
    ids=["part of a line", "line after another", "line left out", "any lines", "definition", "definition beside it"],
)
def test_edit_changes_what_it_names(edits, code):
    assert edited(CODE, edits) == code


@pytest.mark.parametrize("edit", ["~ z => y", "~ y => z", "-    y = y"])
def test_edit_that_does_not_stand_there_once_is_an_error(edit):
    with pytest.raises(ValueError, match="times in the code"):
        edited(CODE, [edit])
