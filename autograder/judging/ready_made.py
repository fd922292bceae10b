"""What the trusted side answers where student code calls ready-made attention: see `sandbox.inside.ready_made`."""

from __future__ import annotations

import functools
from typing import Any

from autograder.judging.cost import is_question, is_small
from autograder.sandbox.inside.perform import perform
from autograder.sandbox.inside.ready_made import NOT_HERE, PARTS, QUESTION

MAX_ITEMS = 2**20
REFUSED = "is not to be called here: writing attention is the exercise"


def name_in(question: Any) -> str | None:
    """Which ready-made function a question asks for; None where it asks for something else."""
    name = question.get("name") if isinstance(question, dict) else None
    return name.removeprefix(QUESTION)[:60] if isinstance(name, str) and name.startswith(QUESTION) else None


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The answer to a notebook's cell, which may compare with the ready-made."""
    name = name_in(question)
    function = _function(name) if name and is_question(question) else None
    if function is None or not is_small(question, MAX_ITEMS):
        return {"error": {"kind": "RuntimeError", "text": f"PyTorch's {name} {NOT_HERE}", "lines": []}}
    reply = perform({question["name"]: function}, question)
    return {key: value for key, value in reply.items() if key != "ready_made"}


@functools.lru_cache(100)  # PyTorch spells three thousand names to say which it has
def _function(name: str) -> Any:
    import torch

    if name == "multi_head_attention_forward":
        return torch.nn.functional.multi_head_attention_forward
    known = f"aten::{name}" in torch._C._dispatch_get_all_op_names() and any(part in name for part in PARTS)
    return getattr(torch.ops.aten, name) if known else None
