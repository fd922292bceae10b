"""Code that holds the whole score matrix fails the memory test, in NumPy or PyTorch; other code gets full marks."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from autograder.explain.explaining import judge
from tests.helpers.accepted import CASES
from tests.helpers.in_process import COURSE, exercise_of, judged_alone, material
from tests.helpers.wrong_code import wrong_code_of

A8 = COURSE.assignment("a8_modern_attention")
NAME = "online_softmax_attention"
IMPORTS = "import math\nimport numpy as np\nimport torch\n"
TABLES = {
    "NumPy's memory": """
        scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True) @ V
    """,
    "PyTorch's memory": """
        q, k, v = (torch.from_numpy(np.ascontiguousarray(part)) for part in (Q, K, V))
        return (torch.softmax(q @ k.mT / math.sqrt(Q.shape[-1]), dim=-1) @ v).numpy()
    """,
    "memory that is not counted": """
        import tracemalloc
        tracemalloc.get_traced_memory = lambda: (0, 0)
        scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True) @ V
    """,
}
# Answers that do not use `online_softmax_step`.
WITHOUT = {
    answer.name: IMPORTS + inspect.getsource(answer.code).partition("\n")[2]
    for _, answer in CASES
    if answer.exercise == NAME and "online_softmax_step" not in inspect.getsource(answer.code)
}


def attention(lines):
    """The code of a notebook that has only this function body."""
    return f"{IMPORTS}def {NAME}(Q, K, V, block_size):\n{textwrap.indent(textwrap.dedent(lines), '    ')}"


def failed(sandbox, code):
    """The hidden tests that a notebook with this code fails."""
    with sandbox.open([code]) as notebook:
        (result,) = judge(replace(material(A8), hypotheses=None), notebook, [exercise_of(A8, NAME)])
    return [test.name for test in result.tests if test.state != "passed"]


@pytest.mark.slow
@pytest.mark.parametrize("lines", TABLES.values(), ids=TABLES)
def test_score_matrix_costs_only_the_memory_test(sandbox, lines):
    assert failed(sandbox, attention(lines)) == ["test_no_table"]


@pytest.mark.slow
@pytest.mark.parametrize("code", WITHOUT.values(), ids=WITHOUT)
def test_code_without_score_matrix_gets_full_marks(sandbox, code):
    assert failed(sandbox, code) == []


def test_table_from_before_the_call_costs_marks_and_other_rounding_costs_none():
    """Both differ from the model answer in last digits only. The test of memory runs nevertheless (`last_digits`)."""

    def score(code):
        result = judged_alone(A8, exercise_of(A8, NAME), code, names_causes=False)
        return result.score / result.max_score

    (table,) = [one.made(A8) for one in wrong_code_of(A8, "author") if one.words == "table-in-memory"]
    by_blocks = next(
        answer.code for _, answer in CASES if (answer.exercise, answer.name) == (NAME, "log-sum-exp of each block")
    )
    args = *(np.random.default_rng(seed).normal(size=(40, 4)) for seed in (0, 1, 2)), 16
    right = vars(A8.reference())[NAME](*args)
    for code in (table, by_blocks):
        assert np.allclose(code(*args), right, rtol=1e-12) and not np.array_equal(code(*args), right)
    assert score(table) <= 0.95
    assert score(by_blocks) == 1.0
