"""The judge's answers when student code calls a forbidden built-in implementation: see `sandbox.sandboxed.removal`.

A self-check in a cell may compare with it. Only a few public functions of the libraries are answered for: they check
shapes themselves, which the kernels below them do not.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from autograder.sandbox.protocol.calls import Call, Failure, Kind, Reply
from autograder.sandbox.sandboxed.perform import perform
from autograder.sandbox.sandboxed.removal import NOT_HERE
from autograder.testing import callback_cost

MAX_ITEMS = 2**20  # of the arguments of what no test may call: their shapes multiply to no more
MAX_NAME = 60  # characters
MAX_SIZES = 3  # numbers in a list that gives a size for each axis, such as a stride
TOO_LATE = "is answered once more for the same inputs only; this is about a self-check, not a mark"
REFUSED = "is not to be called here: writing it is the exercise"


@dataclass(frozen=True)
class Answered:
    """A function that is answered for: its module, and the most items that one of its arguments may have."""

    module: str
    items: int


def answered_in(what: Mapping[str, Any]) -> dict[str, Answered]:
    """The functions that a self-check may compare with, by name.

    what: `forbidden` of `autograder.content.sandbox_setting`
    """
    always = {name: Answered(module, MAX_ITEMS) for name, module in what["answered"].items()}
    others = [watched["answered"] for watched in what["where_watched"].values()]
    return always | {name: Answered(module, callback_cost.MAX_ITEMS) for one in others for name, module in one.items()}


def name_in(question: Call) -> str | None:
    """The forbidden function that a question asks for; None if it asks for something else."""
    return question.name[:MAX_NAME] if question.forbidden else None


def answer_in_cell(question: Call, answered: Mapping[str, Answered]) -> Reply | Failure:
    """The answer to a notebook's cell, which may compare with the functions in `answered`."""
    name = name_in(question) or ""
    plain_name = name.partition(".")[0]  # an operator's overloads stand behind a dot
    known = answered.get(plain_name)
    is_plain = question.instance is None and not question.has_handle()
    if known is None or not is_plain or not callback_cost.is_small(_with_sizes_apart(question), known.items):
        return refused(f"the ready-made {name} {NOT_HERE}")
    return perform({question.name: getattr(importlib.import_module(known.module), plain_name)}, question)


def too_late(question: Call) -> Failure:
    """The answer to a cell that asks something new after exercises were judged."""
    return refused(f"the ready-made {name_in(question) or ''} {TOO_LATE}")


def refused(text: str) -> Failure:
    """The answer to a question that is not answered."""
    return Failure(Kind.REFUSED, text, "RuntimeError")


def _with_sizes_apart(question: Call) -> Call:
    """The question with short lists of numbers spread out: padding along two axes costs the product of both."""
    args: list[Any] = []
    for value in (*question.args, *question.kwargs.values()):
        is_sizes = isinstance(value, list | tuple) and len(value) <= MAX_SIZES
        args += value if is_sizes and all(isinstance(n, int) for n in value) else [value]
    return replace(question, args=args, kwargs={})
