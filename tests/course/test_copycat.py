"""The small trained model of a9: its forward pass, its heads, its training history, and the command that trains it."""

from __future__ import annotations

import math
import subprocess
import sys

import nbformat
import numpy as np
import pytest
from safetensors.numpy import load_file

from autograder import copycat, explore, heatmap, loss_curve
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE

A4, A9 = (COURSE.assignment(name).reference() for name in ("a4_multi_head_attention", "a9_looking_at_heads"))
A9_NOTEBOOK = COURSE.assignment("a9_looking_at_heads").notebook
PREVIOUS, INDUCTION = (0, 2), (1, 1)  # layer and head
PERIOD = 12
IDS = copycat.texts(60, PERIOD)


@pytest.fixture(scope="module")
def model():
    return copycat.model()


def loss(model, change=None):
    """The mean loss on new words, and on repeated words."""
    losses = copycat.losses(model.read(IDS, change).logits, IDS)
    return losses[:, : PERIOD - 1].mean(), losses[:, PERIOD:].mean()


# ---------------------------------------------------------------- forward pass


def test_forward_pass_matches_attention_of_assignment_4(model):
    reading = model.read(IDS[:3])
    x = model.embedding[IDS[:3]] + model.positions[: 2 * PERIOD]
    causal = np.tri(2 * PERIOD, dtype=bool)
    for layer in range(2):
        matrices = (W[layer] for W in (model.W_Q, model.W_K, model.W_V, model.W_O))
        output, weights = A4.multi_head_attention(x, *matrices, model.num_heads, causal)
        np.testing.assert_allclose(reading.weights[layer], weights, atol=1e-12)
        found = reading.found[layer].swapaxes(1, 2).reshape(3, 2 * PERIOD, -1)
        np.testing.assert_allclose(found @ model.W_O[layer], output, atol=1e-10)
        x = x + output
    np.testing.assert_allclose(reading.logits, x @ model.unembedding, atol=1e-9)


def test_changed_heads_are_used_by_later_layers(model):
    plain = model.read(IDS)
    patched = model.read(IDS, lambda layer, found: 0 * found if layer == 0 else found)
    assert not patched.found[0].any()
    np.testing.assert_array_equal(patched.weights[0], plain.weights[0])
    assert np.abs(patched.weights[1] - plain.weights[1]).max() > 0.1
    np.testing.assert_array_equal(model.read(IDS, lambda layer, found: found).logits, plain.logits)
    with pytest.raises(ValueError, match="changed, it has shape"):
        model.read(IDS, lambda layer, found: found[:, :1])


# ---------------------------------------------------------------- claims of the notebook


def test_model_guesses_new_words_and_knows_repeated_ones(model):
    first, again = loss(model)
    assert abs(first - math.log(32)) < 0.15
    assert again < 0.05


def test_previous_token_and_induction_head_stand_out(model):
    reading = model.read(IDS)
    weights = [layer.mean(axis=0) for layer in reading.weights]
    previous = np.stack([A9.previous_token_score(w) for w in weights])
    induction = np.stack([A9.induction_score(w, PERIOD) for w in weights])
    for scores, best, most in ((previous, PREVIOUS, 0.15), (induction, INDUCTION, 0.1)):
        assert scores[best] > 0.8
        others = scores.copy()
        others[best] = 0
        assert others.max() < most


def test_only_these_two_heads_are_needed(model):
    for layer in range(2):
        for head in range(model.num_heads):
            _, again = loss(model, lambda at, found, layer=layer, head=head: (
                A9.mean_ablate(found, head) if at == layer else found))  # fmt: skip
            assert (again > 3) == ((layer, head) in (PREVIOUS, INDUCTION)), (layer, head, again)


def test_patching_shows_which_words_each_head_carries(model):
    text = "mira oslo hugo lima nora cairo juno delhi hugo"
    who = copycat.encode("mira oslo nora lima hugo cairo juno delhi hugo")
    where = copycat.encode("mira oslo hugo cairo nora lima juno delhi hugo")
    lima, cairo = copycat.encode("lima cairo")[0]

    def lead(logits):
        return logits[0, -1, cairo] - logits[0, -1, lima]

    def moved(other, layer, head, place):
        there = model.read(other)
        change = lambda at, found: (  # noqa: E731
            A9.patch_head(found, there.found[layer], head, place) if at == layer else found
        )
        here = lead(model.read(copycat.encode(text)).logits)
        patched = lead(model.read(copycat.encode(text), change).logits)
        return (patched - here) / (lead(there.logits) - here)

    assert [round(moved(who, *PREVIOUS, place), 1) for place in (3, 5)] == [0.5, 0.5]
    assert [round(moved(where, *PREVIOUS, place), 1) for place in (3, 5)] == [0.0, 0.0]
    assert [round(moved(other, *INDUCTION, 8), 1) for other in (who, where)] == [1.0, 1.0]


def test_circuits_show_copying_and_prefix_matching(model):
    E, U, h = model.embedding, model.unembedding, model.num_heads
    says = E @ A9.ov_circuit(model.W_V[1], model.W_O[1], h) @ U
    notes = E @ A9.ov_circuit(model.W_V[0], model.W_O[0], h)[PREVIOUS[1]]
    looks_for = E @ A9.qk_circuit(model.W_Q[1], model.W_K[1], h) @ notes.T
    own = np.arange(len(E))
    for circuit in (says, looks_for):
        assert (circuit[INDUCTION[1]].argmax(axis=-1) == own).all()
        assert not (np.delete(circuit, INDUCTION[1], axis=0).argmax(axis=-1) == own).mean() > 0.3


def test_history_shows_loss_fall_when_both_heads_appear():
    past = copycat.history()
    wide = 2 * copycat.NUM_HEADS
    assert past.previous.shape == past.induction.shape == (len(past.steps), wide)
    assert past.first.shape == past.again.shape == past.steps.shape
    before, after = past.steps == 160, past.steps == 240
    assert (past.again[before], past.again[after]) == (pytest.approx(3.3, abs=0.1), pytest.approx(0.4, abs=0.1))
    for scores, (layer, head) in ((past.previous, PREVIOUS), (past.induction, INDUCTION)):
        own = scores[:, layer * copycat.NUM_HEADS + head]
        assert own[before] < 0.13
        assert own[after] > 0.4


def test_slider_shows_the_loss_before_and_after_the_fall():
    cells = {cell["id"]: cell["source"] for cell in nbformat.read(A9_NOTEBOOK, as_version=4).cells}
    shown: list = []
    layers, heads = range(2), range(copycat.NUM_HEADS)
    names = {"copycat": copycat, "np": np, "grading": False, "display": shown.append, "heatmap": heatmap}
    names |= {"loss_curve": loss_curve, "explore": explore}
    names["NAMES"] = [f"layer {layer}, head {head}" for layer in layers for head in heads]
    for cell in ("history", "birth-slider"):
        exec(cells[cell], names)
    slider = shown[-1]
    assert {0, 160, 240, 1600} <= set(slider.values)
    before, after = (repr(slider.draw(step)) for step in (160, 240))
    assert "step 160: the loss of words that have come before is 3.32" in before
    assert "step 240: the loss of words that have come before is 0.40" in after
    assert slider._repr_html_().count("<svg") >= 4


# ---------------------------------------------------------------- training


@pytest.mark.catalogue
def test_command_trains_such_a_model(tmp_path):
    """With a quarter of the steps, to be quick: the same heads, less distinct."""
    to = tmp_path / "short.safetensors"
    command = [sys.executable, "-m", "attention_course.helpers.copycat_training", "--steps", "400", "--to", to]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    arrays = load_file(to)
    assert arrays.keys() == load_file(copycat.FILE).keys()
    made = copycat.Copycat(**{name: array.astype(float) for name, array in arrays.items() if "." not in name})
    first, again = loss(made)
    assert first > 3
    assert again < 0.5
    reading = made.read(IDS)
    assert A9.previous_token_score(reading.weights[0].mean(axis=0)).argmax() == PREVIOUS[1]
    assert A9.induction_score(reading.weights[1].mean(axis=0), PERIOD)[INDUCTION[1]] > 0.6


@pytest.mark.catalogue
@pytest.mark.slow
def test_one_learning_rate_for_all_spreads_the_work_over_heads():
    """Section 7 of the notebook: with its own learning rates, a single head does the work."""
    cells = {cell["id"]: cell["source"] for cell in nbformat.read(A9_NOTEBOOK, as_version=4).cells}
    printed: list[str] = []
    names = {"copycat": copycat, "np": np, "grading": False, "ids": copycat.texts(200, PERIOD)}
    names |= {"induction_score": A9.induction_score, "mean_ablate": A9.mean_ablate}
    names["print"] = lambda *parts: printed.append(" ".join(map(str, parts)))
    for cell in ("your-own-training", "all-silenced"):
        exec(cells[cell], names)
    own, shared = ([float(word) for word in line.split()[-5:]] for line in printed[-2:])
    assert own[0] < 0.3
    assert own[1] < 0.3
    assert min(own[2:]) > 3.3
    steps = np.diff(shared)
    assert shared[0] < 0.3
    assert steps.min() > 0.3
    assert shared[-1] > 3.2
