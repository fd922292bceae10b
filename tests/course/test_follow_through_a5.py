"""Follow-through in the transformer decoder: students pay once for a mistake in an earlier exercise or assignment."""

from __future__ import annotations

import pytest

from autograder.authoring.sample_class import mistake, model_answers
from tests.helpers.in_process import COURSE
from tests.helpers.sandboxes import Marker
from tests.helpers.selection import one_in

A4, A5 = COURSE.assignment("a4_multi_head_attention"), COURSE.assignment("a5_transformer_decoder")
pytestmark = pytest.mark.slow
IMPORTS = "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F"
UNDONE = "class MultiHeadAttention(nn.Module):\n    def __init__(self, *a):\n        raise NotImplementedError()"


@pytest.fixture(scope="module")
def marker(sandbox):
    return Marker(A5, sandbox)


def attention(**changes):
    """The attention of a4's model answer, with some of its text replaced."""
    code = model_answers(A4)["MultiHeadAttention"]
    for old, new in changes.values():
        assert old in code
        code = code.replace(old, new)
    return code


BROUGHT = {
    "own": attention(),
    "no scaling": attention(a=("/ math.sqrt(self.d_head)", "")),
    "bias left on": attention(a=("bias=False", "bias=True")),
    "other names": attention(a=("W_Q", "query_layer")),
    "mask ignored": attention(a=("mask=None):\n", "mask=None):\n        mask = None\n")),
    "only the output": attention(a=("self.W_O(heads.flatten(-2)), weights", "self.W_O(heads.flatten(-2))")),
    "undone": UNDONE,
    "not there": "",
}


def marked(marker, prerequisites, answers):
    cells = [IMPORTS, prerequisites, *answers.values()]
    report, _ = marker.mark_cells("x", cells)
    return {exercise.name: exercise for exercise in report.exercises}


@pytest.mark.parametrize("prerequisites", one_in(8, BROUGHT.values(), first=1), ids=BROUGHT.keys())
def test_mistake_in_prerequisite_costs_nothing(marker, prerequisites):
    for result in marked(marker, prerequisites, model_answers(A5)).values():
        assert result.score == result.max_score, [(t.name, t.message) for t in result.tests if t.state != "passed"]


def block(*changes):
    """The block of the model answer, with some of its text replaced."""
    code = model_answers(A5)["DecoderBlock"]
    for old, new in changes:
        assert old in code
        code = code.replace(old, new)
    return code


ADD, LAST = "x = x + attended", "return x + self.feed_forward(self.norm_2(x))"
BLOCKS = {
    "post-norm": block(
        ("self.norm_1(x), mask", "x, mask"),
        (ADD, "x = self.norm_1(x + attended)"),
        (LAST, "return self.norm_2(x + self.feed_forward(x))"),
    ),
    "causal-mask-missing": block((".tril()", "")),
    "no-residuals": block((ADD, "x = attended"), (LAST, "return self.feed_forward(self.norm_2(x))")),
    "weights-given-back-too": block((LAST, f"{LAST}, _")),
}


@pytest.mark.parametrize("name", one_in(8, BLOCKS))
def test_mistake_in_block_costs_only_the_block(marker, name):
    found = marked(marker, BROUGHT["own"], model_answers(A5) | {"DecoderBlock": BLOCKS[name]})
    wrong = found.pop("DecoderBlock")
    assert wrong.diagnosis == name
    assert 0 < wrong.score < wrong.max_score
    assert all(result.score == result.max_score for result in found.values())
    assert "DecoderBlock" in found["TransformerDecoder"].with_reference


def test_decoder_gets_full_marks_if_all_earlier_code_is_wrong(marker):
    answers = (
        model_answers(A5) | mistake(A5, "base-1000") | {"DecoderBlock": "class DecoderBlock(nn.Module):\n    pass"}
    )
    found = marked(marker, UNDONE, answers)
    assert found["positional_encoding"].diagnosis == "base-1000"
    assert found["DecoderBlock"].score == 0
    decoder = found["TransformerDecoder"]
    assert decoder.score == decoder.max_score, [(t.name, t.message) for t in decoder.tests if t.state != "passed"]


def test_decoder_that_only_calls_the_block_earns_almost_nothing(marker):
    answers = model_answers(A5) | {
        "TransformerDecoder": "class TransformerDecoder(nn.Module):\n    def __init__(self, *a):\n"
        "        super().__init__()\n        self.block = DecoderBlock(12, 3, 48)\n"
        "    def forward(self, token_ids, padding=None):\n        return self.block(token_ids.float(), padding)",
        "DecoderBlock": "class DecoderBlock(nn.Module):\n    pass",
    }
    decoder = marked(marker, UNDONE, answers)["TransformerDecoder"]
    assert decoder.score <= decoder.max_score / 10
