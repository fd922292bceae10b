"""Arguments that do not cross to the student's code: a test that passes one fails, and says what to pass instead."""

from __future__ import annotations

import dataclasses
import io
import random
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from cellcage.protocol.calls import Call
from cellcage.values.arrays_codec import NAMES
from cellcage.values.codec import encode
from cellcage.values.value import Other, Record, changed
from cellcage.values.value_type import type_of

DRAWS = np.random.Generator | np.random.RandomState | np.random.BitGenerator | random.Random
OF_CHANCE = "pass a seed, and let the function make its generator"
OF_FILES = "pass the text in it, or the name of a file beside the notebook"
OF_FUNCTIONS = "pass each function as an argument of its own"
OF_ITERATORS = "pass a list"
OF_ANYTHING = "pass the numbers and texts that it is made of, and let the notebook make it"


def refuse(call: Call) -> None:
    """Raise `TypeError` for an argument that the student's code would not get as it is."""
    for value in call.given():
        if hasattr(value, "named_parameters"):
            _refuse_trainable(call, value)
        elif not callable(value):  # a function is called across the boundary
            changed(value, lambda item: _refused(call, item))


def _refuse_trainable(call: Call, module: Any) -> None:
    """Only a module's outputs would cross, so it cannot be trained."""
    if any(weight.requires_grad for weight in module.parameters()):
        raise TypeError(
            f"{call.name} gets a {type(module).__name__} with trainable weights, and training does not cross to the "
            "student's code; pass its state_dict() and let the notebook make the module, or, if it is only "
            "called, pass it after requires_grad_(False)"
        )


def _refused(call: Call, item: Any) -> Any:
    """The item itself, if it crosses the boundary."""
    is_plain = isinstance(item, np.ndarray | np.generic) and item.dtype in NAMES
    if is_plain or type(item) in (Other, Record) or _crosses(item):
        return item
    kind = type(item).__name__
    named = (
        f"an array of {item.dtype}" if isinstance(item, np.ndarray) else f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"
    )
    raise TypeError(f"{call.name} gets {named}, which cannot be passed to the student's code; {_instead(item)}")


def _crosses(item: Any) -> bool:
    data = encode(item)
    if not isinstance(data, list) or data[0] not in ("other", "record"):
        return True
    # An object arrives as its public data, so one that is more than data would not be what it is here.
    is_data = dataclasses.is_dataclass(item) or isinstance(item, SimpleNamespace) or not _methods(type(item))
    return data[0] == "record" and is_data


def _methods(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name, None))]


def _instead(item: Any) -> str:
    torch = sys.modules.get("torch")
    if isinstance(item, DRAWS) or (torch is not None and isinstance(item, torch.Generator)):
        return OF_CHANCE
    if isinstance(item, io.IOBase):
        return OF_FILES
    if callable(item):
        return OF_FUNCTIONS
    if hasattr(item, "__next__"):
        return OF_ITERATORS
    return "pass another one" if type_of(item) or isinstance(item, np.ndarray) else OF_ANYTHING
