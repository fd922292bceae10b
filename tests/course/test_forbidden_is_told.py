"""What grading gives no points for, the check in the notebook says before, in the same words."""

from __future__ import annotations

import pytest

from autograder.judge.judging import judge
from autograder.student.check import examine
from autograder.testing.local import Here
from autograder.testing.student import FORBIDDEN
from tests.helpers.in_process import exercise_of, material
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


@pytest.mark.parametrize(("source", "name"), [(BY_NUMPY, "convolve"), (BY_TORCH, "conv1d")])
def test_a_ready_made_convolution_is_named_before_grading(source, name):
    names = names_of(A7)
    exec(source, names)
    found = examine("convolution_by_attention", names)
    assert not found.passed
    assert all(test.state == "failed" for test in found.result.tests)
    assert FORBIDDEN.format(name=name) in found.result.tests[0].message
    assert names["np"].convolve([1.0], [2.0]) == [2.0]  # it is there again


def test_grading_says_the_same_in_the_same_words():
    names, known = names_of(A7), material(A7)
    exec(BY_TORCH, names)
    here = Here(names, known.suite.watched)
    (graded,) = judge(known, here, [exercise_of(A7, "convolution_by_attention")])
    assert graded.score == 0
    told = examine("convolution_by_attention", names).result.tests[0].message
    assert FORBIDDEN.format(name="conv1d") in told
    assert FORBIDDEN.format(name="conv1d") in graded.tests[0].message


def test_elsewhere_a_convolution_is_nobodys_exercise():
    names = names_of(BY_NAME["a1_scaled_dot_product"])
    right = names["softmax"]

    def softmax(x, axis=-1):
        names["np"].convolve([1.0, 2.0], [1.0])
        return right(x, axis)

    assert examine("softmax", names | {"softmax": softmax}).passed


def test_the_ready_made_attention_is_named():
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
    assert FORBIDDEN.format(name="scaled_dot_product_attention") in found.result.tests[0].message
