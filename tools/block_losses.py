"""Our own runs of assignment 8, section 13, as data: `python -m tools.block_losses`, some six minutes on one core.

The cells are those of the notebook, with its solutions; a run for each part and each seed.
"""

from __future__ import annotations

import json
from typing import Any

import nbformat
import torch
from torch import nn

from attention_course.helpers import block_parts, news, news_training
from autograder.course import Course
from tests.conftest import ROOT

SEEDS = (0, 1, 2)
CELLS = ("block-trained", "block-runs")  # of the notebook: the model and its training, and the table


def notebook_names() -> dict[str, Any]:
    """What the notebook has defined before it trains: the solutions, and the function that trains without a part."""
    assignment = Course(ROOT).assignment("a8_modern_attention")
    cells = {cell["id"]: cell["source"] for cell in nbformat.read(assignment.notebook, as_version=4).cells}
    names = dict(vars(assignment.reference())) | {"torch": torch, "nn": nn, "grading": False}
    names |= {"news": news, "news_training": news_training, "block_parts": block_parts}
    exec(cells[CELLS[0]], names)
    return names


def main() -> None:
    """Train without each part, once for each seed, and write the losses."""
    train = notebook_names()["train_without"]
    runs: dict[str, dict[str, Any]] = {}
    for part in block_parts.PARTS:
        found = [train(part, seed) for seed in SEEDS]
        runs[part] = {name: [round(one[name], 4) for one in found] for name in ("begun", "early", "held_out")}
        runs[part]["numbers"] = found[0]["numbers"]
        print(part, runs[part], flush=True)
    block_parts.FILE.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
