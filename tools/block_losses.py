"""Record the losses of our own runs of assignment 8, section 13: `python -m tools.block_losses`.

This trains the model answer once for each part and seed. It takes some ten minutes on one core.
"""

from __future__ import annotations

import json
from typing import Any

import torch

from attention_course.helpers import block_parts, novel_training, trained_decoder
from autograder.course.assignments import Course
from tests.conftest import ROOT

SEEDS = (0, 1, 2)
A5 = "assignment 5"  # its decoder is trained on the novel for comparison


def of_assignment_5(seed: int) -> float:
    """The held-out loss of assignment 5's decoder, trained in the same way."""
    torch.manual_seed(seed)
    model = Course(ROOT).assignment("a5_transformer_decoder").reference().TransformerDecoder(**trained_decoder.SIZES)
    novel_training.train(model, block_parts.STEPS_ON_THE_NOVEL, seed)
    return novel_training.held_out_loss(model)


def main() -> None:
    """Train without each part for each seed, and write the losses."""
    a8 = Course(ROOT).assignment("a8_modern_attention").reference()
    answers = a8.ModernDecoderBlock, a8.rotate
    of_novel = {
        part: [round(block_parts.on_the_novel(*answers, part, seed), 4) for seed in SEEDS] for part in block_parts.PARTS
    }
    of_novel[A5] = [round(of_assignment_5(seed), 4) for seed in SEEDS]
    print(of_novel, flush=True)
    block_parts.OF_NOVEL.write_text(json.dumps(of_novel, indent=1) + "\n", encoding="utf-8")
    runs: dict[str, dict[str, Any]] = {}
    for part in block_parts.PARTS:
        found = [block_parts.on_the_news(*answers, part, seed) for seed in SEEDS]
        runs[part] = {name: [round(one[name], 4) for one in found] for name in ("begun", "early", "held_out")}
        runs[part]["numbers"] = found[0]["numbers"]
        print(part, runs[part], flush=True)
    block_parts.FILE.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
