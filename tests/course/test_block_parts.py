"""a8 trains the student's block with one part switched off, and compares it with the runs shipped with the course."""

from __future__ import annotations

import contextlib
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder import block_parts, news_training
from tests.helpers.accepted import CASES
from tests.helpers.in_process import COURSE
from tests.helpers.notebook_numbers import cells_of
from tests.helpers.selection import one_in
from tools.block_losses import notebook_names

A8 = COURSE.assignment("a8_modern_attention")
ACCEPTED = [answer.code for _, answer in CASES if answer.exercise == "ModernDecoderBlock"]
BLOCKS = [A8.reference().ModernDecoderBlock, *ACCEPTED]
D_MODEL, H, G, D_FF, D_HEAD = 16, 4, 2, 24, 4


def plain(block, x, rotation=True, norm=True, gate=True):
    """The output of a block without one part, computed from its weights."""
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
def test_part_is_switched_off_in_any_accepted_block(make, part):
    torch.manual_seed(3)
    whole = make(D_MODEL, H, G, D_FF)
    x = 3 * torch.randn(2, 7, D_MODEL)
    with torch.no_grad():
        torch.testing.assert_close(whole(x), plain(whole, x), atol=1e-4, rtol=1e-4)
        wanted = plain(whole, x, **{part: False})
        assert (wanted - plain(whole, x)).abs().max() > 0.01
        block = make(D_MODEL, H, G, D_FF)
        block.load_state_dict(whole.state_dict())
        if switched_off(part, block):
            torch.testing.assert_close(block(x), wanted, atol=1e-4, rtol=1e-4)


def switched_off(part, block):
    """Whether the part is off now. A correct block may call no layer; then an error says so."""
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
def test_rotation_that_cannot_be_undone_raises(wrong):
    torch.manual_seed(4)
    with pytest.raises(ValueError, match="your rotate does not undo"):
        block_parts.without("rotation", A8.reference().ModernDecoderBlock(64, 4, 2, 80), wrong, 16)


@pytest.mark.parametrize("part", block_parts.PARTS)
def test_block_that_keeps_the_first_texts_mask_raises(part):
    class Keeps(A8.reference().ModernDecoderBlock):
        def forward(self, x):
            if not hasattr(self, "seen"):
                self.seen = torch.ones(x.shape[1], x.shape[1]).tril()
            return super().forward(x) * self.seen[-1:].mT.expand(x.shape[1], 1)

    with pytest.raises(ValueError, match="not one of 5 words after it"):
        block_parts.without(part, Keeps(D_MODEL, H, G, D_FF), A8.reference().rotate, D_HEAD)


@pytest.mark.slow
@pytest.mark.parametrize("part", one_in(2, ["groups", "gate"]))
def test_shipped_runs_match_the_notebooks_training(part):
    """The first steps, trained by the notebook's own cells, have the shipped losses."""
    names, ours = notebook_names(), block_parts.ours()
    assert set(ours) == set(block_parts.PARTS)
    torch.manual_seed(0)
    model = names["summarizer"](part)
    losses = news_training.train(model, *names["train"], 300, seed=0, until=20)
    assert sum(W.numel() for W in model.parameters() if W.grad is not None) == ours[part]["numbers"]
    assert sum(losses) / 20 == pytest.approx(ours[part]["begun"][0], abs=0.02)


def test_model_without_gate_has_as_much_to_learn_as_the_whole_one():
    ours = block_parts.ours()
    assert ours["gate"]["numbers"] == ours["nothing"]["numbers"]


@pytest.mark.catalogue
def test_shipped_runs_on_novel_match_the_notebooks_training():
    names, ours = notebook_names(), block_parts.ours_on_the_novel()
    assert list(ours) == [*block_parts.PARTS, "assignment 5"]
    assert names["read_without"]("nothing") == pytest.approx(ours["nothing"][0], abs=0.03)


def test_cell_waits_with_message_while_block_is_not_written(capsys):
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
