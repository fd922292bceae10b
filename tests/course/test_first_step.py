"""Cells of a5 that are not graded and check themselves: the first step to a block, writing, and leaving out a part."""

from __future__ import annotations

import numpy as np
import pytest

from attention_course import novel
from tests.helpers.in_process import COURSE
from tests.helpers.notebook_numbers import cells_of

A5 = COURSE.assignment("a5_transformer_decoder")
STUB = "raise NotImplementedError()   # your lines"
RIGHT = "x = x + self.attention(self.norm_1(x), mask)[0]; return x + self.feed_forward(self.norm_2(x))"
SAME_X = "return x + self.attention(self.norm_1(x), mask)[0] + self.feed_forward(self.norm_2(x))"
NO_RESIDUAL = "x = self.attention(self.norm_1(x), mask)[0]; return self.feed_forward(self.norm_2(x))"
NO_NORM = "x = x + self.attention(x, mask)[0]; return x + self.feed_forward(self.norm_2(x))"


def run(names, *cells, **replaced):
    """Run these cells of a5, with parts of their code replaced."""
    for cell in cells:
        source = cells_of(A5)[cell].source
        for old, new in replaced.get("by", {}).items():
            source = source.replace(old, new)
        exec(source, names)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (STUB, ["Not written yet"]),
        (RIGHT, ["Right", "Right"]),
        (SAME_X, ["Right", "Not yet", "the first sum"]),
        (NO_RESIDUAL, ["Not yet", "what is it added to", "Not yet", "the first sum"]),
        (NO_NORM, ["Not yet", "What goes into each branch", "Not yet", "the first sum"]),
    ],
    ids=["unwritten", "right", "same-x", "no-residual", "no-norm"],
)
def test_first_step_to_a_block_says_which_row_of_the_table_is_missed(lines, says, capsys):
    run(dict(vars(A5.reference())), "first-step", "first-step-check", by={STUB: lines})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(says)
    assert all(part in line for part, line in zip(says, printed, strict=True))


def trained_names(steps):
    """The names of the cells that train, after a few steps on made-up tokens."""
    names = dict(vars(A5.reference())) | {"np": np, "display": print}
    names["speak"] = lambda model, beginning, length: beginning
    run(names, "training-code", by={"STEPS, BATCH, L = 900": f"STEPS, BATCH, L = {steps}"})
    names["ids"] = [number * number % 1024 for number in range(500)]
    names["trained"], names["losses"] = names["train_on"](names["torch"].tensor(names["ids"]), steps)
    names["loss_curve"] = lambda curves, title: f"{title}: {[(name, len(losses)) for name, losses in curves.items()]}"
    return names


@pytest.mark.slow
def test_left_out_part_is_trained_without_or_asked_for(capsys):
    names = trained_names(steps=6)
    capsys.readouterr()
    run(names, "leave-out")
    assert capsys.readouterr().out.startswith("Nothing is left out yet")
    by = {"...   # your lines": "model.positions.zero_()", "(0, 100, 200, 400, 600, 850)": "(0, 3)"}
    run(names, "leave-out", by=by)
    printed = capsys.readouterr().out
    assert "loss, step by step: [('whole', 6), ('without it', 6)]" in printed
    whole, without = printed.split("from step   0")[1].split()[:2]
    assert whole != without


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("...", "Not yet"),
        ("return torch.softmax(logits, dim=-1)", "Not yet"),
        ("return torch.softmax(logits / temperature, dim=-1)", "Your line is right"),
        ("exps = torch.exp(logits / temperature); return exps / exps.sum()", "Your line is right"),
    ],
    ids=["unwritten", "no-temperature", "right", "by-exp"],
)
def test_missing_line_of_writing_is_checked_and_replaced(line, says, capsys):
    names = dict(vars(A5.reference())) | {"novel": novel}
    run(names, "writing-likely", by={"...   # your line": line})
    assert says in capsys.readouterr().out
    found = names["likely"](names["torch"].tensor([2.0, 1.0, 0.0]), 0.5)
    assert found.numpy() == pytest.approx([0.8668, 0.1173, 0.0159], abs=1e-4)
