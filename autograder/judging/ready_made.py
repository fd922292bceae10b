"""What the judge answers when student code calls ready-made attention: see `sandbox.inside.ready_made`.

In a cell, a self-check may compare with PyTorch's. A few public functions of PyTorch's are answered for, by their
documented arguments; they check shapes themselves, which the kernels below them do not.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autograder.judging.cost import is_small
from autograder.sandbox.inside.perform import perform
from autograder.sandbox.inside.ready_made import NOT_HERE, QUESTION
from autograder.sandbox.protocol.calls import Call, Failure, Kind, Reply, has_handle

MAX_ITEMS = 2**20
REFUSED = "is not to be called here: writing attention is the exercise"


def name_in(question: Call) -> str | None:
    """Which ready-made function a question asks for; None if it asks for something else."""
    return question.name.removeprefix(QUESTION)[:60] if question.name.startswith(QUESTION) else None


def answer_in_cell(question: Call, answered: Collection[str]) -> Reply | Failure:
    """The answer to a notebook's cell, which may compare with the ready-made functions in `answered`."""
    name = name_in(question)
    function = _function(name) if name and name in answered else None
    if function is None or question.instance is not None or has_handle(question) or not is_small(question, MAX_ITEMS):
        return Failure(Kind.REFUSED, f"PyTorch's {name} {NOT_HERE}", "RuntimeError")
    return perform({question.name: function}, question)


def _function(name: str) -> Any:  # of `torch.nn.functional`
    import torch

    return getattr(torch.nn.functional, name)
