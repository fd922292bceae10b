"""PyTorch's ready-made attention in an exercise is noticed under any name and earns nothing; elsewhere it is fine."""

from __future__ import annotations

import pytest

from autograder.authors.classroom import model_answers
from autograder.course import Course
from tests.conftest import ROOT
from tests.wall import Marker

NAME = "torch_scaled_dot_product_attention"
WEIGHTS = "    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)\n"
CALLS = {
    "functional": "F.scaled_dot_product_attention(query, key, value)",
    "full name": "torch.nn.functional.scaled_dot_product_attention(query, key, value)",
    "renamed": "sdpa(query, key, value)",
    "from C": "torch._C._nn.scaled_dot_product_attention(query, key, value)",
    "from the operators": "torch.ops.aten.scaled_dot_product_attention(query, key, value)",
    "by getattr": "getattr(F, 'scaled_dot' + '_product_attention')(query, key, value)",
    "only in a batch": "F.scaled_dot_product_attention(query, key, value) if query.ndim > 2 else weights @ value",
}


@pytest.fixture(scope="module")
def marker(sandbox):
    with Marker(Course(ROOT).assignment("a1_scaled_dot_product"), sandbox) as opened:
        yield opened


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_it_earns_nothing_and_the_message_says_why(marker, call):
    answers = model_answers(marker.assignment)
    code = f"def {NAME}(query, key, value):\n{WEIGHTS}    return {call}, weights"
    imports = "import torch.nn.functional as F\nfrom torch.nn.functional import scaled_dot_product_attention as sdpa"
    report, _ = marker.mark_cells("x", [imports, *answers.values(), code])
    *others, last = report.exercises
    assert last.score == 0
    assert all("ready-made" in test.message for test in last.tests)
    assert all(exercise.score == exercise.max_score for exercise in others)


def test_a_self_check_in_another_cell_is_fine(marker):
    answers = model_answers(marker.assignment)
    check = f"q = torch.randn(2, 3, 4)\nprint(F.scaled_dot_product_attention(q, q, q) - {NAME}(q, q, q)[0])"
    report, _ = marker.mark_cells("x", [*answers.values(), check])
    assert report.score == report.max_score


def test_the_modules_that_do_it_all_are_noticed(sandbox):
    with Marker(Course(ROOT).assignment("a4_multi_head_attention"), sandbox) as marker:
        code = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError("does not divide")
        d = num_heads * (d_head or d_model // num_heads)
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(d, d_model, bias=False)
        self.h = num_heads

    def forward(self, x, mask=None):
        attend = nn.MultiheadAttention(x.shape[-1], 1, bias=False, batch_first=True).to(x.dtype)
        return attend(x, x, x)
"""
        report, _ = marker.mark_cells(
            "x", ["import torch\nimport torch.nn as nn", *model_answers(marker.assignment).values(), code]
        )
    *others, last = report.exercises
    assert last.score == 0
    assert "ready-made" in last.tests[0].message
    assert all(exercise.score == exercise.max_score for exercise in others)


@pytest.mark.parametrize(
    "call",
    [
        "F.conv1d(x, w, padding='same')",
        "torch.conv1d(x, w, padding=1)",
        "torch.ops.aten.conv1d(x, w, padding=[1])",
        "nn.Conv1d(x.shape[1], 3, 3, dtype=x.dtype)(x)",
    ],
)
def test_a_ready_made_convolution_is_noticed_where_heads_should_make_it(sandbox, call):
    code = f"""
def convolution_by_attention(X, kernel):
    x, w = torch.from_numpy(X.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    return {call}.detach().numpy()[0].T.copy()
"""
    with Marker(Course(ROOT).assignment("a7_attention_and_convolution"), sandbox) as marker:
        imports = "import numpy as np, torch\nimport torch.nn as nn\nimport torch.nn.functional as F"
        report, _ = marker.mark_cells("x", [imports, *model_answers(marker.assignment).values(), code])
    by_name = {exercise.name: exercise for exercise in report.exercises}
    assert by_name["convolution_by_attention"].score == 0
    assert "ready-made" in by_name["convolution_by_attention"].tests[0].message
    assert by_name["translation_test"].score == by_name["translation_test"].max_score
