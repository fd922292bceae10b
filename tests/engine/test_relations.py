"""Answers that no catalogued mistake explains are described by their relation to the right ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from autograder.course.content import course_relations
from autograder.errors import CourseError
from autograder.explain.relations import ComparedCall, relation_among
from autograder.student.check import examine
from autograder.testing.comparing import same_answer
from autograder.testing.functions import answering
from cellcage.protocol.calls import Call
from tests.helpers.in_process import COURSE, judged_alone

A1 = COURSE.assignment("a1_scaled_dot_product")
SCORES = next(exercise for exercise in A1.exercises if exercise.name == "attention_scores")
X = np.random.default_rng(0).normal(size=(3, 4, 5))


def related(wrong, right, *calls, of_course=()):
    """The relation between two functions' answers to some arrays."""
    asked = [Call("f", (x,)) for x in calls or (X, X[0])]
    pairs = [(answering({"f": wrong})(call), answering({"f": right})(call)) for call in asked]
    off = frozenset(i for i, (got, wanted) in enumerate(pairs) if not same_answer(got, wanted))
    return relation_among([ComparedCall(call, *pair) for call, pair in zip(asked, pairs, strict=True)], off, of_course)


def changed(x):
    x *= 2
    return x / 2


@pytest.mark.parametrize(
    ("wrong", "right", "name", "words"),
    [
        (lambda x: x.astype("float32"), lambda x: x, "another-dtype", "float32 where float64"),
        (lambda x: (x > 0).astype(int), lambda x: x > 0, "another-dtype", "int64 where bool"),
        (lambda x: x.tolist(), lambda x: x, "another-kind", "a list and not as a NumPy array"),
        (lambda x: x[None], lambda x: x, "another-shape", "too many"),
        (changed, lambda x: x / 1, "inputs-changed", "changes an argument"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_relation_has_a_name_and_evidence(wrong, right, name, words):
    found = related(wrong, right)
    assert found.name == name
    assert words in found.evidence
    assert found.hint.endswith("?")


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (lambda x: x - x.mean(-1), "shapes-do-not-broadcast"),
        (lambda x: x - x.mean(1, keepdims=True), "one-batch-layout"),
    ],
)
def test_axis_that_is_lost_is_no_axis_counted_from_the_front(wrong, name):
    found = related(wrong, lambda x: x - x.mean(-1, keepdims=True), X, X[0], X[0, 0])
    assert found.name == name
    assert ("do not broadcast" in found.hint) == (name == "shapes-do-not-broadcast")


def test_floor_under_the_weights_explains_the_output():
    def softmax(x):
        exps = np.exp(x - x.max(-1, keepdims=True))
        weights = exps / exps.sum(-1, keepdims=True)
        return weights @ X[0].T, weights

    def with_floor(x, least=1e-4):
        weights = np.maximum(softmax(x)[1], least)
        return weights @ X[0].T, weights

    calls, of_course = (X, 1e4 * X), course_relations(COURSE.folder)
    found = related(with_floor, softmax, *calls, of_course=of_course)
    assert found.name == "floor-under-the-weights"
    assert found.evidence.endswith("where one should be below 0.0001, yours is 0.0001.")
    # An unusual number is not a floor, and neither are uniform weights.
    assert "floor" not in str(related(lambda x: with_floor(x, 0.00123), softmax, *calls, of_course=of_course))
    assert "floor" not in str(related(lambda x: softmax(0 * x), softmax, *calls, of_course=of_course))


def test_relations_file_without_relations_is_an_error(tmp_path):
    assert course_relations(tmp_path) == ()
    (tmp_path / "course.toml").touch()
    (tmp_path / "relations.py").write_text("RELATION = ()\n")
    with pytest.raises(CourseError, match=r"relations\.py: it defines no RELATIONS"):
        course_relations(tmp_path)


def test_unrelated_answers_have_no_relation():
    assert related(lambda x: np.sin(9 * x), lambda x: x) is None
    assert related(lambda x: np.sign(x) * np.abs(x) ** 1.002, lambda x: x) is None  # slightly wrong, but not rounded


def test_missing_gradients_are_named():
    a1 = A1.exercises[-1]

    def attend(query, key, value):
        weights = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -1)
        return weights @ value, weights + 0 * value.detach().sum()

    assert judged_alone(A1, a1, attend).diagnosis is None

    def without(query, key, value):
        weights = torch.softmax(query @ key.detach().mT / math.sqrt(query.shape[-1]), -1)
        return weights @ value, weights

    result = judged_alone(A1, a1, without)
    assert result.diagnosis == "gradient-missing"
    assert "The values are right" in result.evidence


def test_changing_answers_are_named():
    noise = np.random.default_rng(1)
    result = judged_alone(A1, SCORES, lambda Q, K: Q @ K.swapaxes(-1, -2) * noise.normal())
    assert result.diagnosis == "another-answer-each-time"


def test_check_reports_the_relation_as_well():
    def attention_scores(Q, K):
        return (Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1]))[None]

    verdict = examine("attention_scores", {"attention_scores": attention_scores, "np": np})
    assert "an axis of length 1 is too many" in repr(verdict)
    assert "Known mistake" not in repr(verdict)
