"""The modules that notebooks train and draw with: the corpus, the plain decoder, pictures; and a whole training run."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys

import nbformat
import numpy as np
import pytest
import torch

from attention_course.helpers.plain_decoder import PlainDecoder
from autograder import highlight, look, loss_curve, news, own_or_plain, without_head
from tests.conftest import ROOT
from tests.helpers.in_process import COURSE, judged
from tests.helpers.kernel import run_all

A6 = COURSE.assignment("a6_transformer_summarizer")
SIZES = {"vocab_size": len(news.WORDS), "d_model": 16, "num_heads": 2, "d_ff": 32, "num_layers": 2, "max_length": 64}


# ---------------------------------------------------------------- the corpus


@pytest.mark.slow
def test_held_out_summaries_are_not_in_the_training_set():
    train, held_out = news.items()
    assert (len(train), len(held_out)) == (6000, 400)
    assert len({item.summary for item in (*train, *held_out)}) == 6400
    assert not {item.article for item in train} & {item.article for item in held_out}


@pytest.mark.slow
def test_every_word_is_encoded_and_decoded():
    train, held_out = news.items()
    for item in (*train, *held_out):
        for text in (item.article, item.summary):
            assert news.decode(news.encode(text)) == text
    assert len(set(news.WORDS)) == len(news.WORDS)
    with pytest.raises(ValueError, match="no word 'zebra'"):
        news.encode("a zebra")


# ---------------------------------------------------------------- the decoder


def test_plain_decoder_is_causal_and_ignores_padding():
    torch.manual_seed(0)
    model = PlainDecoder(**SIZES).eval()
    ids = torch.randint(len(news.WORDS), (2, 7))
    logits = model(ids)
    assert logits.shape == (2, 7, len(news.WORDS))
    later = ids.clone()
    later[:, 4:] = 3
    torch.testing.assert_close(model(later)[:, :4], logits[:, :4])
    padding = torch.ones(2, 1, 7, dtype=torch.bool)
    padding[:, :, 1] = False
    other = ids.clone()
    other[:, 1] = 5
    torch.testing.assert_close(model(other, padding)[:, 2:], model(ids, padding)[:, 2:])


class Unwritten(torch.nn.Module):
    def __init__(self, **sizes):
        raise NotImplementedError


class Broken(torch.nn.Module):
    def __init__(self, **sizes):
        super().__init__()

    def forward(self, token_ids):
        raise TypeError("mine")


def test_students_decoder_is_used_once_it_is_written(capsys):
    own = A6.reference().TransformerDecoder
    assert isinstance(own_or_plain(own, **SIZES), own)
    assert "your own" in capsys.readouterr().out
    for unwritten in (Unwritten, None):
        assert isinstance(own_or_plain(unwritten, **SIZES), PlainDecoder)
        assert "PyTorch's own layers" in capsys.readouterr().out
    with pytest.raises(TypeError, match="mine"):
        own_or_plain(Broken, **SIZES)


# ---------------------------------------------------------------- pictures


@pytest.fixture(params=["own", "plain"])
def model(request):
    torch.manual_seed(0)
    return (A6.reference().TransformerDecoder if request.param == "own" else PlainDecoder)(**SIZES).eval()


def test_look_returns_weights_and_leaves_the_model_unchanged(model):
    seen = look(model, [4, 9, 7, 5])
    assert seen.shape == (4, 4)  # two layers of two heads, four words
    np.testing.assert_allclose(seen.sum(-1), 1.0, atol=1e-5)
    before = model(torch.tensor([[4, 9, 7, 5]]))
    torch.testing.assert_close(model(torch.tensor([[4, 9, 7, 5]])), before)
    assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in model.modules())


def test_highlight_as_text_and_picture():
    picture = highlight([[0.1, 0.9], [0.5, 0.5]], ["<mira>", "wins"], title="about to write: <wins>")
    assert "head 0   wins 0.90   <mira> 0.10" in repr(picture)
    html = picture._repr_html_()
    assert "<mira>" not in html
    assert html.count("<span") == 4
    with pytest.raises(ValueError, match="3 words for weights"):
        highlight([0.5, 0.5], ["a", "b", "c"])


def test_highlight_shows_a_weight_of_a_tenth_and_tells_a_half_from_all():
    html = highlight([0.0, 0.1, 0.5, 1.0], list("abcd"))._repr_html_()
    shades = [float(shade) for shade in re.findall(r"rgba\(.*?, ([\d.]+)\)", html)]
    assert shades == sorted(set(shades))
    assert shades[1] > 0.15
    assert shades[-1] == 0.75  # no more: words keep their colour, and a contrast as on a heat map


def test_loss_curve_compares_two_trainings_between_lines_that_lie_near():
    def lines(picture):
        return re.findall(r'text-anchor="end">([\d.]+)</text>', picture._repr_html_())[:-1]

    picture = loss_curve({"whole": [7.0, 3.5], "without it": [7.2, 3.3]}, title="loss")
    assert repr(picture).splitlines()[-1].split() == ["2", "3.5000", "3.3000"]
    assert picture._repr_html_().count("<polyline") == 2
    assert "loss, whole: from 7 to 3.5" in picture._repr_html_()
    assert lines(picture) == ["3", "4", "5", "6", "7", "8"]
    assert lines(loss_curve([3.0, 0.02])) == ["0.01", "0.1", "1", "10"]
    with pytest.raises(ValueError, match="not 3"):
        loss_curve({name: [1.0] for name in "abc"})


def test_head_is_ablated_only_in_the_copy(model):
    reference = A6.reference()
    ids = torch.tensor([[4, 9, 7, 5]])
    before = model(ids)
    without_heads = model
    for layer in range(2):
        for head in range(2):
            one = without_head(model, reference.ablate, layer, head, num_heads=2)
            assert not torch.allclose(one(ids), before)
            without_heads = without_head(without_heads, reference.ablate, layer, head, num_heads=2)
    torch.testing.assert_close(model(ids), before)
    # Without any head, the logits at the last word depend only on this word and its position.
    other = ids.clone()
    other[0, :3] = 11
    torch.testing.assert_close(without_heads(other)[0, -1], without_heads(ids)[0, -1])


def test_notebook_warns_if_the_model_sees_the_future(capsys):
    """The released cell prints its alarm for a decoder without causal mask, and only for it."""
    released = nbformat.read(COURSE.root / "assignments" / A6.name / A6.notebook.name, as_version=4)
    cell = next(c.source for c in released.cells if c["id"] == "train-model-code")
    reference = A6.reference()

    class Seeing(reference.TransformerDecoder):
        def forward(self, token_ids, padding=None):
            return super().forward(token_ids.flip(1), padding).flip(1)

    names = {"grading": False, "torch": torch, "math": math, "news": news, "own_or_plain": own_or_plain}
    names |= {"summary_loss": reference.summary_loss, "all_ids": torch.randint(5, 100, (64, 40))}
    names["all_masks"] = torch.ones(64, 40, dtype=torch.bool)
    for decoder, alarm in ((reference.TransformerDecoder, False), (None, False), (Seeing, True)):
        exec(cell, names | {"TransformerDecoder": decoder})
        assert ("ALARM: words to come move the logits before them" in capsys.readouterr().out) == alarm


# ---------------------------------------------------------------- the exercises


@pytest.mark.slow
@pytest.mark.parametrize("exercise", ["next_token", "greedy_summary"])
def test_sampling_is_diagnosed_as_random(exercise):
    def next_token(model, token_ids):
        return int(torch.multinomial(torch.softmax(model(torch.tensor([token_ids]))[0, -1], -1), 1))

    def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
        summary = []
        for _ in range(max_new_tokens):
            token = next_token(model, [*article_ids, separator_id, *summary])
            if token == end_id:
                break
            summary.append(token)
        return summary

    result = judged(A6, {exercise: locals()[exercise]})[exercise]
    assert result.score <= result.max_score / 5
    assert result.diagnosis == "another-answer-each-time"
    assert "random" in result.hint


def test_prerequisites_of_a6_equal_the_classes_of_a5():
    """Students copy these classes from a5 to a6, so weights and logits must agree."""
    here, there = A6.reference(), COURSE.assignment("a5_transformer_decoder").reference()
    np.testing.assert_allclose(here.positional_encoding(9, 7), there.positional_encoding(9, 7), atol=1e-12)
    one, other = here.TransformerDecoder(11, 12, 3, 20, 2, 9), there.TransformerDecoder(11, 12, 3, 20, 2, 9)
    other.load_state_dict(one.state_dict())
    ids, padding = torch.randint(11, (2, 8)), torch.ones(2, 1, 8, dtype=torch.bool)
    padding[0, 0, :2] = False
    torch.testing.assert_close(one(ids, padding), other(ids, padding))


def test_grading_is_true_in_autograde_and_validate():
    code = "from autograder import grading; print(grading)"
    for value, wanted in ((None, "False"), ("autograde", "True"), ("validate", "True")):
        environment = {k: v for k, v in os.environ.items() if k != "NBGRADER_EXECUTION"}
        environment |= {} if value is None else {"NBGRADER_EXECUTION": value}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == wanted


# ---------------------------------------------------------------- a whole training run


def run(notebook, folder):
    """Run a notebook in `folder`; the output of each cell as text, by cell id."""
    path = folder / A6.notebook.name
    nbformat.write(notebook, path)
    _, done = run_all(path, folder)
    texts = {}
    for cell in done.cells:
        outputs = cell.get("outputs", [])
        texts[cell["id"]] = "".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in outputs)
    return texts


def share_of_exact(texts):
    return float(texts["exact"].split(":")[1].split("%")[0])


def trained_for(notebook, steps):
    """The notebook with fewer training steps; the learning-rate schedule is compressed to them."""
    (loop,) = [cell for cell in notebook.cells if f"STEPS, BATCH = {STEPS}" in cell.source]
    loop.source = loop.source.replace(f"STEPS, BATCH = {STEPS}", f"STEPS, BATCH = {steps}")
    loop.source += '\n    print("\\n", losses[0] / losses[-1])'
    return notebook


STEPS, ENOUGH = 800, 500  # training steps of the notebook, and how many are enough for the test


@pytest.mark.slow
@pytest.mark.catalogue
def test_reference_learns_to_summarise(tmp_path):
    """At least 95 % of the held-out items exactly, with five eighths of the steps."""
    texts = run(trained_for(nbformat.read(A6.notebook, as_version=4), ENOUGH), tmp_path)
    assert share_of_exact(texts) >= 95
    assert "your own TransformerDecoder" in texts["train-model-code"]
    assert f"{ENOUGH}/{ENOUGH}" in texts["train-loop-code"]
    assert "loss, step by step" in texts["train-loop-code"]
    assert "A slider" in texts["heads"]
    assert texts["your-own-article"].splitlines()[0] == "mira wins the chess cup in oslo"
    assert "the news has no word 'zebra'" in texts["limits-code"]


@pytest.mark.catalogue
def test_notebook_trains_without_prerequisites(tmp_path):
    """The release with its exercises solved and no decoder from a5: the loss falls in an eighth of the training."""
    from autograder.authoring.sample_class import fill, model_answers

    released = COURSE.root / "assignments" / A6.name / A6.notebook.name
    notebook = trained_for(fill(released, model_answers(A6)), STEPS // 8)
    (news_cell,) = [cell for cell in notebook.cells if "held_out = news.items()" in cell.source]
    news_cell.source = news_cell.source.replace("news.items()", "news.items(6000, 40)")  # enough, and quicker
    texts = run(notebook, tmp_path)
    assert "PyTorch's own layers" in texts["train-model-code"]
    assert float(texts["train-loop-code"].split()[-1]) > 2  # the loss has fallen to less than half
    assert "A slider" in texts["heads"]
