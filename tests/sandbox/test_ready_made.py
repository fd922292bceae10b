"""A ready-made function in an exercise earns nothing under any name. In other cells it is allowed."""

from __future__ import annotations

import contextlib
import textwrap

import pytest
import torch

from autograder.authoring.sample_class import model_answers
from autograder.course.assignments import Course
from autograder.reports.plain_text import notes
from autograder.testing.callbacks import Questions
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Call, Failure, Kind, Reply
from tests.conftest import ROOT
from tests.helpers.sandboxes import Marker

NAME = "torch_scaled_dot_product_attention"
WEIGHTS = "    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)\n"
CALLS = {
    "renamed": "sdpa(query, key, value)",
    "from the operators": "torch.ops.aten.scaled_dot_product_attention(query, key, value)",
    "only in a batch": "F.scaled_dot_product_attention(query, key, value) if query.ndim > 2 else weights @ value",
}


@pytest.fixture(scope="module")
def marker(sandbox):
    return Marker(Course(ROOT).assignment("a1_scaled_dot_product"), sandbox)


@pytest.mark.parametrize(
    "call",
    [pytest.param(call, marks=pytest.mark.slow if name != "renamed" else (), id=name) for name, call in CALLS.items()],
)
def test_ready_made_attention_earns_nothing_and_is_named_once(marker, call):
    answers = model_answers(marker.assignment)
    code = f"def {NAME}(query, key, value):\n{WEIGHTS}    return {call}, weights"
    imports = "import torch.nn.functional as F\nfrom torch.nn.functional import scaled_dot_product_attention as sdpa"
    report, _ = marker.mark_cells("x", [imports, *answers.values(), code])
    *others, last = report.exercises
    assert last.score == 0
    assert "ready-made" in last.tests[0].message  # only in the first message
    assert f"{len(last.tests) - 1} more tests fail for this reason" in last.tests[0].message
    assert all(exercise.score == exercise.max_score for exercise in others)


def test_self_check_in_another_cell_is_allowed(marker):
    answers = model_answers(marker.assignment)
    check = f"q = torch.randn(2, 3, 4)\nprint(F.scaled_dot_product_attention(q, q, q) - {NAME}(q, q, q)[0])"
    report, _ = marker.mark_cells("x", [*answers.values(), check])
    assert report.score == report.max_score


@pytest.mark.slow
def test_ready_made_module_is_noticed(sandbox):
    code = """
def convolution_by_attention(X, kernel):
    x, w = torch.from_numpy(X.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    return nn.Conv1d(x.shape[1], 3, 3, dtype=x.dtype)(x).detach().numpy()[0].T.copy()
"""
    marker = Marker(Course(ROOT).assignment("a7_attention_and_convolution"), sandbox)
    imports = "import numpy as np, torch\nimport torch.nn as nn\nimport torch.nn.functional as F"
    report, _ = marker.mark_cells("x", [imports, *model_answers(marker.assignment).values(), code])
    by_name = {exercise.name: exercise for exercise in report.exercises}
    assert by_name["convolution_by_attention"].score == 0
    assert "ready-made" in by_name["convolution_by_attention"].tests[0].message
    assert by_name["translation_test"].score == by_name["translation_test"].max_score


def test_mention_is_flagged_in_report_and_log(marker, caplog):
    """A call in another thread is not noticed, as docs/security.md says, but the name is."""
    code = f"""
import threading
def {NAME}(query, key, value):
    found = []
    thread = threading.Thread(target=lambda: found.append(F.scaled_dot_product_attention(query, key, value)))
    thread.start(); thread.join()
{WEIGHTS}    return found[0], weights
"""
    report, _ = marker.mark_cells("x", [*model_answers(marker.assignment).values(), code])
    assert report.exercises[-1].mentions == ("scaled_dot_product_attention",)
    assert report.score == report.max_score
    assert report.to_dict()["exercises"][-1]["mentions"] == ["scaled_dot_product_attention"]
    assert "mentions the ready-made scaled_dot_product_attention" in " ".join(notes(report.exercises[-1]))
    assert "the cell mentions the ready-made scaled_dot_product_attention" in caplog.text
    assert not any(exercise.mentions for exercise in report.exercises[:-1])


def test_code_that_rejects_dispatch_modes_keeps_its_points(marker):
    """Debugging tools may raise if another dispatch mode is active, as it is while operators are watched."""
    code = f"""
from torch.utils._python_dispatch import _get_current_dispatch_mode
def {NAME}(query, key, value):
    if _get_current_dispatch_mode() is not None:
        raise RuntimeError("no rule for this mode")
{WEIGHTS}    return weights @ value, weights
"""
    report, _ = marker.mark_cells("x", [*model_answers(marker.assignment).values(), code])
    assert report.score == report.max_score


def test_operator_called_by_torchscript_is_noticed(sandbox):
    """Only calls in `closely` are watched at the level of operators."""
    cell = """
        import torch
        attend = torch.jit.CompilationUnit("def attend(x: Tensor):\\n    return torch.softmax(x, -1)\\n").attend
        def softmax(x): return attend(x)
    """
    call = Call("softmax", [torch.ones(2, 3)])
    with sandbox.open([textwrap.dedent(cell)]) as running:
        exercise = running.begin(Questions({}), "softmax", ["softmax", "_softmax"])
        with contextlib.closing(exercise):
            first, second, third = map(read, exercise.ask([(call, None)] * 3, closely={1}))
    assert isinstance(first, Reply) and isinstance(third, Reply)
    assert second == Failure(Kind.READY_MADE, "_softmax")
