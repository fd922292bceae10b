"""Known mistakes are recognised by behaviour, in any style of code; unknown ones get no name."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autograder.explain import fingerprints
from autograder.explain.explaining import judge
from autograder.explain.fingerprints import Hypotheses
from autograder.explain.material import material_of
from autograder.testing.catalogue import Catalogue, read_catalogue
from autograder.testing.functions import Here
from tests.helpers.in_process import ASSIGNMENTS, COURSE, judged

A1 = COURSE.assignment("a1_scaled_dot_product")


def scores_by_loop_without_scale(Q, K):
    out = np.zeros((*Q.shape[:-1], K.shape[-2]), dtype=Q.dtype)
    for i in range(Q.shape[-2]):
        out[..., i, :] = (K * Q[..., i : i + 1, :]).sum(-1)
    return out


def scores_scaled_twice_by_einsum(Q, K):
    return np.einsum("...ld,...sd->...ls", Q, K) / Q.shape[-1]


def scores_unscaled_and_two_axes_only(Q, K):
    if Q.ndim > 2:
        raise RuntimeError("two axes only")
    return Q @ K.T


def scores_right_but_two_axes_only(Q, K):
    if Q.ndim > 2:
        raise RuntimeError("two axes only")
    return Q @ K.T / math.sqrt(Q.shape[-1])


def scores_wrong_in_an_unknown_way(Q, K):
    return np.sin(Q @ K.swapaxes(-2, -1)) / math.sqrt(Q.shape[-1])


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (scores_by_loop_without_scale, "no-scaling"),
        (scores_scaled_twice_by_einsum, "scale-by-d_k"),
        (scores_unscaled_and_two_axes_only, "no-scaling"),
        (scores_right_but_two_axes_only, "one-batch-layout"),
        (scores_wrong_in_an_unknown_way, None),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_mistakes_are_named_by_behaviour(code, name):
    assert judged(A1, {"attention_scores": code})["attention_scores"].diagnosis == name


def test_early_mistake_is_named_once_and_costs_marks_once():
    results = judged(A1, {"attention_scores": lambda Q, K: Q @ np.swapaxes(K, -1, -2)})
    assert results["attention_scores"].diagnosis == "no-scaling"
    later = results["scaled_dot_product_attention"]
    assert later.score == later.max_score
    assert later.with_reference == ("attention_scores",)


def test_mistakes_that_cancel_out_cost_marks_once():
    """Scores without the scale, and attention that divides by it: only the scores lose marks."""
    names = {"attention_scores": lambda Q, K: Q @ np.swapaxes(K, -1, -2)}

    def scaled_dot_product_attention(Q, K, V):
        weights = A1.reference().softmax(names["attention_scores"](Q, K) / math.sqrt(Q.shape[-1]))
        return weights @ V, weights

    results = judged(A1, names | {"scaled_dot_product_attention": scaled_dot_product_attention})
    assert results["scaled_dot_product_attention"].score == results["scaled_dot_product_attention"].max_score


def norm(x, gamma, beta, eps, axis):
    mean, variance = x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def layer_norm_over_all_words_of_a_batch(x, gamma, beta, eps=1e-5):
    return norm(x, gamma, beta, eps, (-2, -1) if x.ndim > 2 else -1)


def layer_norm_in_place(x, gamma, beta, eps=1e-5):
    result = norm(x, gamma, beta, eps, -1)
    x -= x.mean(axis=-1, keepdims=True)
    return result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        (layer_norm_over_all_words_of_a_batch, "normalised-over-the-sentence", "your answers in both wrong calls"),
        (layer_norm_in_place, "in-place", "The answer is right, but the call changes an argument"),
    ],
)
def test_evidence_says_which_calls_are_wrong(code, name, words):
    found = judged(COURSE.assignment("a5_transformer_decoder"), {"layer_norm": code})["layer_norm"]
    assert found.diagnosis == name
    assert words in found.evidence
    assert ("gives exactly your answer" in found.evidence) == (name == "normalised-over-the-sentence")


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_fingerprints_are_up_to_date(assignment):
    """Otherwise grading a class starts by running five thousand wrong functions."""
    kept = fingerprints.read(assignment.content)
    assert list(kept) == [exercise.name for exercise in assignment.exercises], "run `autograder dev catalogue`"


def test_two_matching_mistakes_are_both_named_and_three_are_not():
    assignment = COURSE.assignment("a3_heads")
    ready, catalogue = material_of(assignment), read_catalogue(assignment.mistakes)
    (first,) = [one for one in catalogue.of("split_heads") if one.name == "split-without-transpose"]
    second = replace(first, name="heads-from-a-reshape", hint="What does a reshape keep, and what a transpose?")
    third = replace(first, name="yet-another")
    exercises = [one for one in assignment.exercises if one.name == "split_heads"]
    names = Here({**ready.reference, "split_heads": first.code})

    def found(*known):
        hypotheses = Hypotheses(Catalogue(list(known)), ready.reference, ready.plan.by_exercise, {})
        return judge(replace(ready, hypotheses=hypotheses), names, exercises)[0]

    two = found(first, second)
    assert two.diagnosis == "split-without-transpose-or-heads-from-a-reshape"
    assert two.hint == f"{first.hint} Or: {second.hint}"
    assert "there are two such mistakes, and your answers do not tell which one it is." in two.evidence
    assert found(first, second, third).diagnosis is None


def test_outdated_or_broken_fingerprints_are_not_used(tmp_path):
    folder = Path(shutil.copytree(COURSE.assignment("a3_heads").content, tmp_path / "content" / "a3_heads"))
    shutil.copytree(COURSE.folder / "hidden", tmp_path / "content" / "hidden")
    assert len(fingerprints.read(folder)) == 5
    whole, path = (folder / fingerprints.FILE).read_bytes(), folder / "shared_mistakes.py"
    catalogue = path.read_text()
    path.write_text(catalogue + "\n# another\n")
    assert fingerprints.read(folder) == {}
    path.write_text(catalogue)
    assert len(fingerprints.read(folder)) == 5
    (folder / fingerprints.FILE).write_bytes(whole[: len(whole) // 2])
    assert fingerprints.read(folder) == {}
