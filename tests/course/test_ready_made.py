"""`check` and grading report the call of a ready-made function in the same words."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from autograder.explain.explaining import judge
from autograder.judge.rules.ready_made import READY_MADE, ReadyMadeFunctions
from autograder.student.check import examine
from autograder.testing.functions import Here
from cellcage.notebook_calls import Terms
from cellcage.protocol.calls import Reply, answer_of
from cellcage.protocol.messages import Watched
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, material
from tests.helpers.slips import BY_NAME, names_of

A7 = BY_NAME["a7_attention_and_convolution"]
BY_NUMPY = """
def convolution_by_attention(X, kernel):
    k = len(kernel)
    left = (k - 1) // 2
    output = np.zeros((len(X), kernel.shape[2]), X.dtype)
    for i in range(kernel.shape[1]):
        for o in range(kernel.shape[2]):
            whole = np.convolve(X[:, i], kernel[::-1, i, o])
            output[:, o] += whole[k - 1 - left :][: len(X)]
    offsets, _, _ = convolution_heads(kernel)
    weights = np.stack([offset_attention(len(X), offset) for offset in offsets]).astype(X.dtype)
    return output, weights
"""
BY_TORCH = """
def convolution_by_attention(X, kernel):
    import torch
    import torch.nn.functional as F
    k = len(kernel)
    left = (k - 1) // 2
    x = F.pad(torch.tensor(X).T, (left, k - 1 - left))
    output = F.conv1d(x, torch.tensor(kernel).permute(2, 1, 0)).T.numpy()
    offsets, _, _ = convolution_heads(kernel)
    weights = np.stack([offset_attention(len(X), offset) for offset in offsets]).astype(X.dtype)
    return output, weights
"""


@pytest.mark.parametrize(("source", "name"), [(BY_NUMPY, "numpy.convolve"), (BY_TORCH, "conv1d")])
def test_check_and_grading_name_ready_made_convolution(source, name):
    names = names_of(A7)
    exec(source, names)
    found = examine("convolution_by_attention", names)
    assert not found.passed
    assert all(test.state == "failed" for test in found.result.tests)
    (graded,) = judge(material(A7), Here(names), [exercise_of(A7, "convolution_by_attention")])
    assert graded.score == 0
    for result in (found.result, graded):
        assert READY_MADE.format(name=name) in result.tests[0].message
    assert "noting" not in repr(names["np"].convolve)  # the original function is back


def test_mention_without_a_call_is_found_in_the_source():
    source = "def softmax(x):\n    # F.softmax does the same\n    return stable(x) if x.size else F.softmax(x)"

    def named(cells, exercise, *listed):
        terms = Terms(group=exercise, watch=Watched(tuple(listed)))
        return [one.name for one in ReadyMadeFunctions.in_text(cells, terms)]

    assert named(["import numpy as np", source], "softmax", "scipy.special.softmax", "softmax") == ["softmax"]
    assert named([source.replace("F.softmax(x)", "0")], "softmax", "softmax") == []
    assert named(["from torch import softmax as s\ndef attend(x): return s(x)"], "attend", "softmax") == ["softmax"]
    assert named(["%%time\ndef softmax(x): return F.softmax(x)"], "softmax", "softmax") == []


def test_convolution_is_allowed_in_other_exercises():
    names = names_of(BY_NAME["a1_scaled_dot_product"])
    right = names["softmax"]

    def softmax(x, axis=-1):
        names["np"].convolve([1.0, 2.0], [1.0])
        return right(x, axis)

    assert examine("softmax", names | {"softmax": softmax}).passed


def test_check_names_ready_made_attention():
    names = names_of(BY_NAME["a1_scaled_dot_product"])
    exec(
        """
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.nn.functional.scaled_dot_product_attention(query, key, value), torch.softmax(scores, dim=-1)
""",
        names,
    )
    found = examine("torch_scaled_dot_product_attention", names)
    assert READY_MADE.format(name="scaled_dot_product_attention") in found.result.tests[0].message


READY_MADE_ANSWERS = {
    "a1_scaled_dot_product": (
        "softmax",
        "def softmax(x, axis=-1): return torch.softmax(torch.tensor(x), axis).numpy()",
    ),
    "a2_causal_masking": (
        "masked_softmax",
        "def masked_softmax(scores, mask):\n"
        "    scores, mask = torch.tensor(scores), torch.tensor(mask)\n"
        "    return torch.ops.aten._safe_softmax(scores.masked_fill(~mask, -torch.inf), -1).numpy()",
    ),
    "a5_transformer_decoder": (
        "layer_norm",
        "def layer_norm(x, gamma, beta, eps=1e-5):\n"
        "    x, gamma, beta = map(torch.tensor, (x, gamma, beta))\n"
        "    return torch.nn.LayerNorm(x.shape[-1], eps, False, dtype=x.dtype)(x).mul(gamma).add(beta).numpy()",
    ),
    "a8_modern_attention": (
        "rms_norm",
        "def rms_norm(x, gamma, eps=1e-5):\n"
        "    return torch.rms_norm(torch.tensor(x), x.shape[-1:], torch.tensor(gamma), eps).numpy()",
    ),
}


@pytest.mark.parametrize("assignment", READY_MADE_ANSWERS)
def test_library_function_earns_nothing_where_it_is_the_exercise(assignment):
    found, (name, source) = BY_NAME[assignment], READY_MADE_ANSWERS[assignment]
    names = names_of(found) | {"torch": torch}
    exec(source, names)
    (graded,) = judge(replace(material(found), hypotheses=None), Here(names), [exercise_of(found, name)])
    assert graded.score == 0
    assert "calls the ready-made" in graded.tests[0].message


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda one: one.name)
def test_calls_that_give_a_value_are_watched_closely(assignment):
    """The same three in each exercise whose tests pass no functions. None of them only builds a module."""
    plan = material(assignment).plan
    for name, known in plan.by_exercise.items():
        watched = [one for one in known if one.place in plan.watched[name]]
        assert len(watched) == 3, name
        assert all(isinstance(answer_of(one.answer), Reply) and not one.call.build for one in watched), name
    assert replace(plan).watched == plan.watched  # drawn again
