"""Known mistakes are named by behaviour, in any style; what is not known is not guessed at."""

from __future__ import annotations

import math
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.authoring.sample_class import model_answers
from autograder.diagnosis import fingerprints
from autograder.diagnosis.hypotheses import Hypotheses
from autograder.judge.judging import judge
from autograder.judge.process import material_of
from autograder.testing.catalogue import Catalogue, read_catalogue
from autograder.testing.local import Here
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS, COURSE, judged, material
from tests.helpers.sandboxes import Marker

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


def scores_wrong_in_a_way_of_its_own(Q, K):
    return np.sin(Q @ K.swapaxes(-2, -1)) / math.sqrt(Q.shape[-1])


def scores_right(Q, K):
    return np.matmul(Q / Q.shape[-1] ** 0.5, np.swapaxes(K, -1, -2)).astype(Q.dtype)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (scores_by_loop_without_scale, "no-scaling"),
        (scores_scaled_twice_by_einsum, "scale-by-d_k"),
        (scores_unscaled_and_two_axes_only, "no-scaling"),
        (scores_right_but_two_axes_only, "one-batch-layout"),
        (scores_wrong_in_a_way_of_its_own, None),
        (scores_right, None),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_named_by_behaviour_alone(code, name):
    assert judged(A1, {"attention_scores": code})["attention_scores"].diagnosis == name


def test_detached_gradients_are_named():
    def attend(query, key, value):
        weights = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), dim=-1)
        return (weights @ value).detach(), weights.detach()

    result = judged(A1, {"torch_scaled_dot_product_attention": attend})["torch_scaled_dot_product_attention"]
    assert result.diagnosis == "detached-gradient"


def test_an_early_mistake_is_named_where_it_is_and_not_again_later():
    results = judged(A1, {"attention_scores": lambda Q, K: Q @ np.swapaxes(K, -1, -2)})
    assert results["attention_scores"].diagnosis == "no-scaling"
    later = results["scaled_dot_product_attention"]
    assert later.score == later.max_score
    assert later.with_reference == ("attention_scores",)


def test_an_undone_numpy_exercise_does_not_answer_for_the_pytorch_one():
    """The reference stands behind earlier names for code that builds on them, not for code that only hands on."""

    def undone(Q, K, V):
        raise NotImplementedError

    code = (
        "def torch_scaled_dot_product_attention(query, key, value):\n"
        "    output, weights = scaled_dot_product_attention(query.numpy(), key.numpy(), value.numpy())\n"
        "    return torch.from_numpy(output), torch.from_numpy(weights)\n"
    )
    transport_names = {"torch": torch, "scaled_dot_product_attention": undone}
    exec(code, transport_names)
    results = judge(material_of(A1), Here(transport_names), A1.exercises)
    assert results[-1].name == "torch_scaled_dot_product_attention"
    assert results[-1].score == 0


def test_two_mistakes_that_make_up_for_each_other_are_paid_for_once():
    """Scores without the scale, and an attention that divides by it: only the scores are wrong."""
    names = {"attention_scores": lambda Q, K: Q @ np.swapaxes(K, -1, -2)}

    def scaled_dot_product_attention(Q, K, V):
        weights = A1.reference().softmax(names["attention_scores"](Q, K) / math.sqrt(Q.shape[-1]))
        return weights @ V, weights

    results = judged(A1, names | {"scaled_dot_product_attention": scaled_dot_product_attention})
    assert results["scaled_dot_product_attention"].score == results["scaled_dot_product_attention"].max_score


@pytest.mark.slow
def test_named_behind_the_wall_too(sandbox):
    with Marker(A1, sandbox) as marker:
        answers = model_answers(A1)
        answers["softmax"] = "def softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)"
        report, _ = marker.mark_cells("x", ["import numpy as np, math, torch", *answers.values()])
    assert report.exercises[0].diagnosis == "no-max-subtraction"
    assert report.exercises[0].hint
    assert [exercise.diagnosis for exercise in report.exercises[1:]] == [None, None, None]


def test_a_mistake_about_a_function_given_as_an_argument_is_named():
    a7 = COURSE.assignment("a7_attention_and_convolution")

    def translation_test(layer, X, shift, margin):
        before, after = layer(X).tolist(), layer(np.concatenate([X[-shift:], X[:-shift]]) if shift else X).tolist()
        pairs = [(i, i + shift) for i in range(len(X)) if 0 <= i + shift < len(X)]
        return all(abs(a - b) < 1e-6 for i, j in pairs for a, b in zip(before[i], after[j], strict=True))

    assert judged(a7, {"translation_test": translation_test})["translation_test"].diagnosis == "borders-compared"


def norm(x, gamma, beta, eps, axis):
    mean, variance = x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def layer_norm_over_all_words_of_a_batch(x, gamma, beta, eps=1e-5):
    return norm(x, gamma, beta, eps, (-2, -1) if x.ndim > 2 else -1)


def layer_norm_in_place(x, gamma, beta, eps=1e-5):
    result = norm(x, gamma, beta, eps, -1)
    x -= x.mean(axis=-1, keepdims=True)
    return result


def layer_norm_lost_in_batches(x, gamma, beta, eps=1e-5):
    return np.cos(x) if x.ndim > 2 else norm(x, gamma, beta, eps, -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        (layer_norm_over_all_words_of_a_batch, "normalised-over-the-sentence", "your answers in both wrong calls"),
        (layer_norm_over_all_words_of_a_batch, "normalised-over-the-sentence", "Your other answers are right."),
        (layer_norm_in_place, "in-place", "The answer is right, but after the call an argument is no longer what"),
        (layer_norm_lost_in_batches, None, ""),
    ],
)
def test_a_mistake_in_some_calls_is_told_as_such_and_evidence_says_what_is_wrong(code, name, words):
    found = judged(COURSE.assignment("a5_transformer_decoder"), {"layer_norm": code})["layer_norm"]
    assert found.diagnosis == name
    assert words in found.evidence
    assert ("gives exactly your answer" in found.evidence) == (name == "normalised-over-the-sentence")


@pytest.mark.slow
def test_what_is_wrong_beside_a_mistake_is_not_said_to_come_of_it():
    """No scale, and a memory of padding alone is looked at evenly: the scale does not explain that."""

    def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
        def split(t):
            return t.unflatten(-1, (num_heads, -1)).transpose(-2, -3)

        scores = split(x @ W_Q) @ split(memory @ W_K).mT
        if memory_padding is not None:
            scores = scores.masked_fill(~memory_padding.unsqueeze(-3), -1e9)
        weights = scores.softmax(-1)
        return (weights @ split(memory @ W_V)).transpose(-2, -3).flatten(-2) @ W_O, weights

    a6 = COURSE.assignment("a6_transformer_summarizer")
    found = judged(a6, {"cross_attention": cross_attention})["cross_attention"]
    assert "no-scaling" in found.diagnosis
    assert "with one thing more: a query that may attend to nothing gets even weights" in found.evidence


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_what_hypotheses_answer_is_kept(assignment):
    """Else a class would wait for five thousand wrong functions first, as it does for a catalogue just changed."""
    kept = fingerprints.read(assignment.content)
    assert list(kept) == [exercise.name for exercise in assignment.exercises], "run `autograder dev catalogue`"
    hypotheses = material(assignment).hypotheses
    assert [name for name, one in kept.items() if len(hypotheses.table(name).columns) != len(one.right)] == []


@pytest.mark.catalogue
@pytest.mark.skipif(platform.machine() != "x86_64", reason="these are names of x86's")
@pytest.mark.parametrize("kind", ["Nehalem", "SkylakeX"])
def test_what_is_kept_is_found_on_another_processor(kind):
    """Whose last digits differ: a suite may pass on what the reference has answered there."""
    own = [sys.executable, "-m", "pytest", "-q", __file__, "-k", test_what_hypotheses_answer_is_kept.__name__]
    environment = os.environ | {"OPENBLAS_CORETYPE": kind, "ATEN_CPU_CAPABILITY": "default"}
    done = subprocess.run(own, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_what_is_kept_is_what_hypotheses_answer():
    assignment = COURSE.assignment("a3_heads")
    kept, asked = fingerprints.read(assignment.content), material_of(assignment, keeps=False).hypotheses
    for exercise, known in kept.items():
        now = asked.fingerprints(exercise)
        assert known.of == now.of
        for one, other in ((known.right, now.right), (known.wrong, now.wrong)):
            np.testing.assert_allclose(one, other, atol=fingerprints.UNIT)


@pytest.mark.parametrize(
    ("exercise", "name"),
    [("split_heads", "split-without-transpose"), ("torch_concat_heads", "concat-without-transpose")],
)
def test_who_gives_the_answers_is_looked_up(exercise, name):
    """To run the code of everybody in question took ten times as long as all the rest of a diagnosis."""
    ran = []

    def noticed(mistake):
        def code(*args, **kwargs):
            ran.append(mistake.name)
            return mistake.code(*args, **kwargs)

        return replace(mistake, make=lambda: code)

    assignment = COURSE.assignment("a3_heads")
    ready, catalogue = material_of(assignment), read_catalogue(assignment.mistakes)
    known = Catalogue(*(list(map(noticed, part)) for part in (catalogue.mistakes, catalogue.variants)))
    looking_up = Hypotheses(known, ready.reference, ready.recording.plans, fingerprints.read(assignment.content))
    (mistake,) = [one for one in catalogue.of(exercise) if one.name == name]
    names = Here({**ready.reference, exercise: mistake.code})
    (found,) = judge(
        replace(ready, hypotheses=looking_up), names, [one for one in assignment.exercises if one.name == exercise]
    )
    # Its own, at most: of large numbers a fingerprint shows few digits, so what it names is compared in full.
    assert found.diagnosis == name and set(ran) <= {name}


@pytest.mark.parametrize("keeps", [True, False])
def test_numbers_beside_the_arrays_tell_mistakes_apart_with_kept_prints_and_without(keeps):
    """A tap too few gives the right matrices, and so does a mistake whose offsets are others; its offsets tell."""
    assignment = COURSE.assignment("a7_attention_and_convolution")
    ready = material_of(assignment, keeps=keeps)
    right = ready.reference["convolution_heads"]

    def convolution_heads(kernel):
        offsets, W_V, W_O = right(kernel)
        left = (len(offsets) - 1) // 2
        return list(range(-left, left + 1)), W_V, W_O

    names = Here({**ready.reference, "convolution_heads": convolution_heads})
    exercises = [one for one in assignment.exercises if one.name == "convolution_heads"]
    assert judge(ready, names, exercises)[0].diagnosis == "one-tap-too-few"


def test_a_row_of_a_recipe_says_its_hint_and_whether_it_is_known():
    mistake = Catalogue()

    @mistake.mutants(
        {
            "more": mistake.known({"more": 1}, {"more": 3}, hint="How many for an empty list?"),
            "less": mistake.mutant({"less": 1}, hint="Fewer than none?"),
        }
    )
    def count(more=0, less=0):
        return lambda items: len(items) + more - less

    def entries(made):
        return [(one.name, one.hint, one.is_known, one.code("")) for one in made]

    assert entries(mistake.mistakes) == [("more", "How many for an empty list?", True, 1)]
    assert entries(mistake.variants) == [
        ("more", "How many for an empty list?", False, 3), ("less", "Fewer than none?", False, -1)
    ]  # fmt: skip


def test_two_names_that_fit_are_told_as_the_one_or_the_other():
    assignment = COURSE.assignment("a3_heads")
    ready, catalogue = material_of(assignment), read_catalogue(assignment.mistakes)
    (first,) = [one for one in catalogue.of("split_heads") if one.name == "split-without-transpose"]
    second = replace(first, name="heads-from-a-reshape", hint="What does a reshape keep, and what a transpose?")
    third = replace(first, name="yet-another")
    exercises = [one for one in assignment.exercises if one.name == "split_heads"]
    names = Here({**ready.reference, "split_heads": first.code})

    def found(*known):
        asked = Hypotheses(Catalogue(list(known)), ready.reference, ready.recording.plans)
        return judge(replace(ready, hypotheses=asked), names, exercises)[0]

    two = found(first, second)
    assert two.diagnosis == "split-without-transpose-or-heads-from-a-reshape"
    assert two.hint == f"{first.hint} Or: {second.hint}"
    assert "there are two such mistakes, and your answers do not tell which one it is." in two.evidence
    assert found(first, second, third).diagnosis is None, "what fits three names tells nothing"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no-batch-axes", "leftover-columns-dropped", "float64-always"])
def test_prints_that_agree_by_chance_give_no_name_where_few_answers_are_wrong(name):
    assignment = COURSE.assignment("a3_heads")
    ready, catalogue = material_of(assignment), read_catalogue(assignment.mistakes)
    exercises = [one for one in assignment.exercises if one.name == "split_heads"]
    (made,) = [one for one in catalogue.of("split_heads") if one.name == name]
    (other,) = [one for one in catalogue.of("split_heads") if one.name == "split-without-transpose"]

    def fingerprints(mistake):
        asked = Hypotheses(Catalogue([mistake]), ready.reference, ready.recording.plans)
        return asked.fingerprints("split_heads")

    by_chance = replace(fingerprints(other), wrong=fingerprints(made).wrong)
    misled = Hypotheses(Catalogue([other]), ready.reference, ready.recording.plans, {"split_heads": by_chance})
    names = Here({**ready.reference, "split_heads": made.code})
    (found,) = judge(replace(ready, hypotheses=misled), names, exercises)
    assert found.score < found.max_score and found.diagnosis != other.name


def test_if_the_catalogue_has_changed_or_the_file_is_broken_they_are_asked(tmp_path):
    folder = Path(shutil.copytree(COURSE.assignment("a3_heads").content, tmp_path / "content" / "a3_heads"))
    shutil.copytree(COURSE.folder / "hidden", tmp_path / "content" / "hidden")
    assert len(fingerprints.read(folder)) == 5
    whole = (folder / fingerprints.FILE).read_bytes()
    for path in (folder / "split_heads" / "mistakes.py", folder / "shared_mistakes.py"):
        catalogue = path.read_text()
        path.write_text(catalogue + "\n# another\n")
        assert fingerprints.read(folder) == {}
        path.write_text(catalogue)
        assert len(fingerprints.read(folder)) == 5
    (folder / fingerprints.FILE).write_bytes(whole[: len(whole) // 2])
    assert fingerprints.read(folder) == {}
    (folder / fingerprints.FILE).unlink()
    assert fingerprints.read(folder) == {}


def test_what_is_kept_of_other_questions_is_not_used():
    right = np.array([[1.0, 0.0], [2.0, 0.0]])
    known = fingerprints.Fingerprints("these", right, np.ones((3, 2, 2)))
    assert known.fits("these", right)
    assert not known.fits("others", right)
    assert not known.fits("these", right + 0.5)
