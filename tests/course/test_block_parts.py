"""a8 trains the student's block with one part switched off, and compares it with the runs shipped with the course."""

from __future__ import annotations

import contextlib
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder import block_parts
from tests.helpers.accepted import CASES
from tests.helpers.in_process import COURSE
from tests.helpers.notebook_numbers import cells_of

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


@pytest.mark.catalogue
@pytest.mark.parametrize("part", ["groups", "gate"])
def test_shipped_runs_match_a_training(part):
    """The first steps have the shipped losses."""
    ours = block_parts.ours()
    assert set(ours) == set(block_parts.PARTS)
    found = block_parts.on_the_news(A8.reference().ModernDecoderBlock, A8.reference().rotate, part, until=20)
    assert found["numbers"] == ours[part]["numbers"]
    assert found["begun"] == pytest.approx(ours[part]["begun"][0], abs=0.02)


def test_model_without_gate_has_as_much_to_learn_as_the_whole_one():
    ours = block_parts.ours()
    assert ours["gate"]["numbers"] == ours["nothing"]["numbers"]


@pytest.mark.catalogue
def test_shipped_runs_on_novel_match_a_training():
    ours = block_parts.ours_on_the_novel()
    assert list(ours) == [*block_parts.PARTS, "assignment 5"]
    found = block_parts.on_the_novel(A8.reference().ModernDecoderBlock, A8.reference().rotate, "nothing")
    assert found == pytest.approx(ours["nothing"][0], abs=0.03)


def cell_prints(cell, capsys, **names):
    known = dict(vars(A8.reference())) | {"torch": torch, "nn": nn, "grading": False, "block_parts": block_parts}
    exec(cells_of(A8)[cell].source, known | names)
    return capsys.readouterr().out


def test_cell_waits_with_message_while_block_is_not_written(capsys):
    class Undone(nn.Module):
        def __init__(self, *sizes):
            raise NotImplementedError

    for cell in ("block-runs", "block-reads-runs"):
        said = cell_prints(cell, capsys, ModernDecoderBlock=Undone)
        assert "This table waits for `ModernDecoderBlock` and `rotate`" in said
        assert "nothing  " not in said


def test_tables_show_ours_and_what_does_not_fit(capsys):
    """A rotation that cannot be undone has a line that says so, and our losses."""
    block, wrong = A8.reference().ModernDecoderBlock, lambda x, positions: x
    block_parts.news_table(block, wrong, {"rotation"})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["nothing", "rotation", "rotation", "norm", "gate", "groups"]
    assert "your rotate does not undo" in lines[3]
    assert lines[2].split()[2:] == ["-", "0.20", "0.20", "0.24", "-", "0.03", "0.03", "0.04"]
    block_parts.novel_table(block, wrong, {"rotation"})
    said = capsys.readouterr().out
    assert "your rotate does not undo" in said
    assert said.splitlines()[-1].split() == ["assignment", "5", "-", "4.17", "4.17", "4.18"]


def test_halves_of_a_block_are_compared(capsys):
    cell = "modern-decoder-block-halves"
    lines = cell_prints(cell, capsys).splitlines()
    assert all(float(line.rsplit(" ", 1)[1]) < 1e-5 for line in lines) and len(lines) == 2

    class Undone(A8.reference().ModernDecoderBlock):
        def attend(self, x):
            raise NotImplementedError

        def forward(self, x):
            return 2 * x

    attend, rest = cell_prints(cell, capsys, ModernDecoderBlock=Undone).splitlines()
    assert attend.endswith("not written yet")
    assert float(rest.rsplit(" ", 1)[1]) > 0.1
