"""Code copied from an earlier assignment costs no marks if it is missing, unwritten or wrong."""

from __future__ import annotations

import ast

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.course.source_notebook import PREREQUISITE
from autograder.submission import grade_id
from tests.helpers.in_process import ASSIGNMENTS, COURSE, exercise_of, judged_alone
from tests.helpers.sandboxes import Marker
from tests.helpers.selection import REST

BRINGING = [assignment for assignment in ASSIGNMENTS if assignment.source.prerequisites]
IMPORTS = "import math\nimport numpy as np, torch\nimport torch.nn as nn\nimport torch.nn.functional as F"


def stubs(assignment):
    """The released cells for code from earlier assignments."""
    path = COURSE.root / "assignments" / assignment.name / assignment.notebook.name
    cells = nbformat.read(path, as_version=4).cells
    found = [cell.source for cell in cells if grade_id(cell).startswith(PREREQUISITE)]
    assert found and all("raise NotImplementedError()" in source for source in found)
    return found


def cases():
    """Each assignment with each state of its prerequisites; `make test` takes each state once."""
    for number, assignment in enumerate(BRINGING):
        for turn, state in enumerate(("unwritten", "missing", "wrong")):
            marks = REST if number < 3 or (number + turn) % 3 else []
            yield pytest.param(assignment, state, marks=marks, id=f"{assignment.name}-{state}")


@pytest.mark.slow
@pytest.mark.parametrize(("assignment", "state"), [*cases()])
def test_full_marks_for_any_prerequisites(assignment, state, sandbox):
    prerequisites = {
        "unwritten": stubs(assignment),
        "missing": [],
        "wrong": [f"{name} = None" for name in assignment.source.prerequisites],
    }[state]
    report, _ = Marker(assignment, sandbox).mark_cells(
        "x", [IMPORTS, *prerequisites, *model_answers(assignment).values()]
    )
    assert {e.name: e.score for e in report.exercises} == {e.name: e.max_score for e in report.exercises}


# Short answers that call code from earlier assignments.
SHORT = """
def output_projection(heads, W_O):
    return concat_heads(heads) @ W_O


def single_head(X, W_Q, W_K, W_V, head, num_heads):
    def own(W):
        d = W.shape[-1] // num_heads
        return X @ W[:, head * d : (head + 1) * d]

    return scaled_dot_product_attention(own(W_Q), own(W_K), own(W_V))


def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = (torch_split_heads(t, num_heads) for t in (x @ W_Q, memory @ W_K, memory @ W_V))
    mask = None if memory_padding is None else memory_padding.unsqueeze(-3)
    heads, weights = torch_masked_attention(query, key, value, mask)
    return torch_concat_heads(heads) @ W_O, weights


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("heads cannot form groups")
    K, V = (np.repeat(t, h // num_kv_heads, axis=-3) for t in (K, V))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, True if mask is None else mask)
    return weights @ V, weights


def qk_circuit(W_Q, W_K, num_heads):
    return per_head_weights(W_Q, num_heads) @ per_head_weights(W_K, num_heads).swapaxes(-2, -1)


def ov_circuit(W_V, W_O, num_heads):
    return per_head_weights(W_V, num_heads) @ per_head_weights(W_O.T, num_heads).swapaxes(-2, -1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("function", ast.parse(SHORT).body, ids=lambda function: function.name)
def test_short_answer_can_use_earlier_code(function):
    code, name = ast.unparse(function), function.name
    assignment = next(one for one in BRINGING if name in [exercise.name for exercise in one.exercises])
    names = dict(vars(assignment.reference()))
    exec(code, names)
    assert {used for used in assignment.source.prerequisites if used in code}
    result = judged_alone(assignment, exercise_of(assignment, name), names[name], names_causes=False)
    assert result.score == result.max_score
