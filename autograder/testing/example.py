"""An example that can be drawn: an exercise's `picture.toml`.

It is small, written by hand, and the same for everybody. `wanted` is what the example should give, in numbers that a
student may read; hidden tests do not use them.

    args = ["Q", "K", 2]        # a text names values below, or in the assignment's shared_picture.toml
    wanted = [[0.0, -1.41], [2.83, 1.41]]
    rows = ["who", "sleeps"]
    columns = "TEXT"
    values.Q = [[0.0, 2.0], [3.0, 0.0]]
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from autograder.errors import CourseError
from autograder.reading import read_toml

SHARED = "shared_picture.toml"  # in the assignment's folder: values by name
NestedNumbers = list[Any]  # nested as deep as an array has axes; numpy looks at what is in them


@dataclass(frozen=True)
class Example:
    """A call and its expected result. part: the part of the answer that is the picture; None if it is the whole answer.

    An `nn.Module` is constructed with `args`, gets `parameters` copied in by name, and is called with `forward`.
    """

    args: tuple[Any, ...]
    part: int | None = None
    tensors: bool = False
    parameters: dict[str, np.ndarray] | None = None
    forward: tuple[Any, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    wanted: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the picture; an answer of another shape is not drawn."""
        return len(self.rows), len(self.columns)


class PictureFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`picture.toml` as it is written, with names for values."""

    args: list[bool | int | float | str | NestedNumbers]
    wanted: str | NestedNumbers
    rows: str | list[str]
    columns: str | list[str]
    part: int | None = None
    tensors: bool = False
    parameters: dict[str, str | NestedNumbers] | None = None
    forward: list[bool | int | float | str | NestedNumbers] = []
    values: dict[str, NestedNumbers] = {}


def example_in(path: Path) -> Example | None:
    """The example of a `picture.toml`; None if there is no such file.

    Raises `CourseError` that names the file and the key.
    """
    if not path.is_file():
        return None
    file = read_toml(path, PictureFile)
    values = read_toml(path.parents[1] / SHARED, dict[str, NestedNumbers]) | file.values

    def given(key: str, value: Any, kinds: str = "bif") -> Any:
        """A number unchanged, a list as an array of one of NumPy's `kinds`; a text names one of the values."""
        if isinstance(value, str):
            if value not in values:
                raise CourseError(f"{path}: {key}: no value is called {value!r}, here or in {SHARED}")
            value = values[value]
        try:
            array = np.array(value)
        except ValueError:  # rows of several lengths
            array = np.array(None)
        if array.dtype.kind not in kinds:
            raise CourseError(f"{path}: {key}: expected {'words' if kinds == 'U' else 'numbers in rows of one length'}")
        return array if isinstance(value, list) else value

    parameters = {name: given(f"parameters.{name}", value) for name, value in (file.parameters or {}).items()}
    return Example(
        tuple(given(f"args[{i}]", value) for i, value in enumerate(file.args)),
        file.part,
        file.tensors,
        parameters or None,
        tuple(given(f"forward[{i}]", value) for i, value in enumerate(file.forward)),
        tuple(given("rows", file.rows, "U").tolist()),
        tuple(given("columns", file.columns, "U").tolist()),
        given("wanted", file.wanted),
    )
