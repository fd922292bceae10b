"""The files of wrong code can be read, and each entry differs from the model answer."""

from __future__ import annotations

import ast

import pytest

from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import model_code, wrong_code_of


@pytest.mark.parametrize("assignment", one_in(4, ASSIGNMENTS), ids=lambda assignment: assignment.name)
def test_each_exercise_has_wrong_code_from_each_source(assignment):
    solution = assignment.solution.read_text(encoding="utf-8")
    for source in ("author", "slip", "walk", "list"):
        found = wrong_code_of(assignment, source)
        assert source == "list" or {one.exercise for one in found} == {one.name for one in assignment.exercises}
        for one in found:
            assert one.words, one
            assert ast.dump(ast.parse(one.code)) != ast.dump(ast.parse(model_code(solution, one.exercise))), one
