"""What a8 trains without a part of one's block: a part is undone from outside, and our own runs are what they say."""

from __future__ import annotations

import contextlib
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder import block_parts, news, news_training, novel_training
from tests.helpers.accepted import CASES
from tests.helpers.in_process import COURSE
from tests.helpers.notebook_numbers import cells_of
from tools.block_losses import notebook_names

A8 = COURSE.assignment("a8_modern_attention")
WAYS = [way.code for a, way in CASES if way.exercise == "ModernDecoderBlock"]
BLOCKS = [A8.reference().ModernDecoderBlock, *WAYS]
D_MODEL, H, G, D_FF, D_HEAD = 16, 4, 2, 24, 4


def plain(block, x, rotation=True, norm=True, gate=True):
    """What a block gives with a part left out, worked out from its weights."""
    reference = A8.reference()

    def normed(x, gamma):
        return gamma * x / (torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5) if norm else 1)

    def heads(projected):
        return projected.unflatten(-1, (-1, D_HEAD)).transpose(-3, -2)

    hidden, place = normed(x, block.norm_1), torch.arange(x.shape[1]).numpy()
    Q, K, V = (heads(layer(hidden)) for layer in (block.W_Q, block.W_K, block.W_V))
    if rotation:
        Q, K = (torch.from_numpy(reference.rotate(t.detach().numpy(), place)) for t in (Q, K))
    K, V = (t.repeat_interleave(H // G, dim=1) for t in (K, V))
    seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    weights = torch.softmax((Q @ K.mT / math.sqrt(D_HEAD)).masked_fill(~seen, -math.inf), -1)
    x = x + block.W_O((weights @ V).transpose(1, 2).flatten(2))
    hidden = normed(x, block.norm_2)
    return x + block.W_down(F.silu(block.W_gate(hidden)) * (block.W_up(hidden) if gate else 1))


@pytest.mark.parametrize("part", ["rotation", "norm", "gate"])
@pytest.mark.parametrize("make", BLOCKS, ids=range(len(BLOCKS)))
def test_a_part_is_undone_whoever_wrote_the_block(make, part):
    torch.manual_seed(3)
    whole = make(D_MODEL, H, G, D_FF)
    x = 3 * torch.randn(2, 7, D_MODEL)
    with torch.no_grad():
        torch.testing.assert_close(whole(x), plain(whole, x), atol=1e-4, rtol=1e-4)
        wanted = plain(whole, x, **{part: False})
        assert (wanted - plain(whole, x)).abs().max() > 0.01
        block = make(D_MODEL, H, G, D_FF)
        block.load_state_dict(whole.state_dict())
        if taken_out(part, block):
            torch.testing.assert_close(block(x), wanted, atol=1e-4, rtol=1e-4)


def taken_out(part, block):
    """Is the part undone now? A right block may call no layer; then it is said."""
    with contextlib.suppress(ValueError):
        return block_parts.without(part, block, A8.reference().rotate, D_HEAD)
    with pytest.raises(ValueError, match="does not call W_"):
        block_parts.without(part, block, A8.reference().rotate, D_HEAD)
    return None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, positions: A8.reference().rotate(x, positions, 100.0),
        lambda x, positions: A8.reference().rotate(x, -positions),
        lambda x, positions: x,
    ],
    ids=["base", "backwards", "nothing"],
)
def test_a_rotation_that_is_not_undone_is_said_and_never_trained(wrong):
    torch.manual_seed(4)
    with pytest.raises(ValueError, match="your rotate does not undo"):
        block_parts.without("rotation", A8.reference().ModernDecoderBlock(64, 4, 2, 80), wrong, 16)


@pytest.mark.slow
def test_a_row_that_would_mislead_is_left_out_and_the_others_are_there(capsys):
    names = notebook_names()
    names["rotate"] = lambda x, positions: A8.reference().rotate(x, positions, 100.0)
    names["train_without"] = lambda part: (
        names["Summarizer"](part) and dict.fromkeys(("numbers", "early", "held_out"), 1)
    )
    exec(cells_of(A8)["block-runs"].source, names)
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[0] for row in rows] == list(block_parts.PARTS)
    assert [row for row in rows if "does not undo" in row] == [rows[1]]


def test_most_ways_to_write_a_block_can_be_taken_apart():
    assert sum(taken_out("rotation", make(D_MODEL, H, G, D_FF)) is not None for make in BLOCKS) >= 0.6 * len(BLOCKS)


@pytest.mark.slow
def test_our_runs_are_those_of_the_notebook():
    """The beginning of a run, as the notebook's own cells make it, is the one that is kept."""
    names, ours = notebook_names(), block_parts.ours()
    assert set(ours) == set(block_parts.PARTS)
    names["STEPS"] = 300
    torch.manual_seed(0)
    model = names["Summarizer"]("groups")
    assert sum(W.numel() for W in model.parameters()) == ours["groups"]["numbers"]
    losses = news_training.train(model, *names["train"], 300, seed=0, until=20)
    assert sum(losses) / 20 == pytest.approx(ours["groups"]["begun"][0], abs=0.02)


@pytest.mark.catalogue
def test_our_runs_on_the_novel_are_those_of_the_notebook():
    names, ours = notebook_names(), block_parts.ours_on_the_novel()
    assert list(ours) == [*block_parts.PARTS, "assignment 5"]
    assert names["read_without"]("nothing") == pytest.approx(ours["nothing"][0], abs=0.03)


@pytest.mark.slow
def test_a_model_that_knows_nothing_of_the_novel_is_unsure_among_all_tokens():
    """And a few steps make it less so."""
    names = notebook_names()
    torch.manual_seed(0)
    model = names["Reader"]("nothing")
    untrained = novel_training.held_out_loss(model)
    assert untrained == pytest.approx(math.log(novel_training.VOCABULARY), abs=0.5)
    losses = novel_training.train(model, 250, until=40)
    assert len(losses) == 40 and losses[-1] < untrained - 0.3
    assert len(novel_training.tokens()[0]) > 190_000


def test_a_cell_waits_in_a_sentence_if_the_block_is_not_written(capsys):
    names = notebook_names()

    class Undone(nn.Module):
        def __init__(self, *sizes):
            raise NotImplementedError

    names["ModernDecoderBlock"] = Undone
    for cell in ("block-runs", "block-reads-runs"):
        exec(cells_of(A8)[cell].source, names)
        said = capsys.readouterr().out
        assert "This table waits for `ModernDecoderBlock` and `rotate`" in said
        assert "nothing  " not in said


def test_texts_are_those_of_the_exercise_and_the_ready_loss_is_right(capsys):
    a6, items = COURSE.assignment("a6_transformer_summarizer").reference(), news.items(40, 0)[0]
    ids, counted = news_training.tensors(items)
    for item, row, mask in zip(items, ids.tolist(), counted.tolist(), strict=True):
        words, of_loss = a6.training_example(
            news.encode(item.article), news.encode(item.summary), news.SEPARATOR_ID, news.END_ID
        )
        assert row == words + [news.PADDING_ID] * (ids.shape[1] - len(words))
        assert mask == of_loss + [False] * (ids.shape[1] - len(words))
    logits = torch.randn(40, ids.shape[1], len(news.WORDS))
    ready = news_training.loss_of_what_counts(logits, ids, counted)
    torch.testing.assert_close(ready, a6.summary_loss(logits, ids, counted))
    assert news_training.own_or_ready_loss(a6.summary_loss) is a6.summary_loss
    assert capsys.readouterr().out == ""


def undone(logits, token_ids, loss_mask):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (undone, "is not written yet"),
        (lambda logits, token_ids, loss_mask: logits.mean(), "does not give 1.040 on the example by hand yet"),
        (lambda logits, token_ids, loss_mask: logits @ token_ids, "fails with RuntimeError"),
    ],
)
def test_who_is_stuck_on_the_loss_can_train_all_the_same(capsys, own, why):
    assert news_training.own_or_ready_loss(own) is news_training.loss_of_what_counts
    said = capsys.readouterr().out
    assert f"your summary_loss {why}" in said
    assert "training takes one that is ready" in said
