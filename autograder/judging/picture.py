"""What a student's function gives on an exercise's visible example, as data that can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.judging.example import Example
from autograder.judging.student import StudentError
from autograder.report import ExerciseResult, Picture

if TYPE_CHECKING:
    from autograder.judging.transport import Behind, Here


def draw(transport: Behind | Here, result: ExerciseResult, example: Example | None) -> Picture | None:
    """What the student's function gives on the exercise's visible example, where that can be drawn."""
    if example is None or not result.started:
        return None
    transport.begin(result.with_reference)
    try:
        value = transport(_request(result.name, example)).get("value")
    except StudentError:
        return None
    finally:
        transport.isolate()
    if example.part is not None:
        value = value[example.part] if isinstance(value, tuple | list) and len(value) > example.part else None
    return _as_picture(value, example)


def _request(name: str, example: Example) -> dict[str, Any]:
    def give(value: Any) -> Any:
        return _tensor(value) if example.tensors and isinstance(value, np.ndarray) else value

    request: dict[str, Any] = {"name": name, "args": [give(arg) for arg in example.args], "kwargs": {}}
    if example.parameters is not None:
        request["parameters"] = {key: give(value) for key, value in example.parameters.items()}
        request["forward"] = {"args": [give(arg) for arg in example.forward], "kwargs": {}}
    return request


def _as_picture(value: Any, example: Example) -> Picture | None:
    if not isinstance(value, np.ndarray) and not hasattr(value, "detach"):
        return None
    array = np.asarray(value.detach() if hasattr(value, "detach") else value)
    if array.dtype.kind not in "bf" or array.shape[-2:] != example.shape or array.ndim not in (2, 3) or len(array) > 8:
        return None
    heads = array.reshape(-1, *example.shape).tolist()
    matrices = tuple(tuple(tuple(row) for row in head) for head in heads)
    return Picture(matrices, example.rows, example.columns, array.dtype.kind == "b")


def _tensor(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(np.ascontiguousarray(array))
