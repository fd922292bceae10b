"""Record the losses of our own runs of assignment 8, section 13: `python -m tools.block_losses`.

This runs the notebook's cells with its solutions, once for each part and seed. It takes some ten minutes on one core.
"""

from __future__ import annotations

import json
from typing import Any

import nbformat
import torch
from torch import nn

from attention_course.helpers import block_parts, news, news_training, novel_training, trained_decoder
from autograder.course.assignments import Course
from tests.conftest import ROOT

SEEDS = (0, 1, 2)
CELLS = ("block-trained", "block-reads")  # cells that define and train a model, on the news and on the novel
A5 = "assignment 5"  # its decoder is trained on the novel for comparison


def notebook_names() -> dict[str, Any]:
    """The notebook's names before it trains: the solutions, and the functions that train without a part."""
    assignment = Course(ROOT).assignment("a8_modern_attention")
    cells = {cell["id"]: cell["source"] for cell in nbformat.read(assignment.notebook, as_version=4).cells}
    names = dict(vars(assignment.reference())) | {"torch": torch, "nn": nn, "grading": False}
    names |= {"news": news, "news_training": news_training, "block_parts": block_parts}
    names |= {"novel_training": novel_training}
    for cell in CELLS:
        exec(cells[cell], names)
    return names


def of_assignment_5(seed: int) -> float:
    """The held-out loss of assignment 5's decoder, trained in the same way."""
    torch.manual_seed(seed)
    model = Course(ROOT).assignment("a5_transformer_decoder").reference().TransformerDecoder(**trained_decoder.SIZES)
    novel_training.train(model, notebook_names()["READ"], seed)
    return novel_training.held_out_loss(model)


def main() -> None:
    """Train without each part for each seed, and write the losses."""
    names = notebook_names()
    train, read = names["train_without"], names["read_without"]
    of_novel = {part: [round(read(part, seed), 4) for seed in SEEDS] for part in block_parts.PARTS}
    of_novel[A5] = [round(of_assignment_5(seed), 4) for seed in SEEDS]
    print(of_novel, flush=True)
    block_parts.OF_NOVEL.write_text(json.dumps(of_novel, indent=1) + "\n", encoding="utf-8")
    runs: dict[str, dict[str, Any]] = {}
    for part in block_parts.PARTS:
        found = [train(part, seed) for seed in SEEDS]
        runs[part] = {name: [round(one[name], 4) for one in found] for name in ("begun", "early", "held_out")}
        runs[part]["numbers"] = found[0]["numbers"]
        print(part, runs[part], flush=True)
    block_parts.FILE.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
