"""An example that can be drawn: the `PICTURE` of an exercise's `picture.py`.

Small, by hand, the same for everybody. `wanted` is what the example asks for, in numbers that a student may read, as
those of the visible checks; nothing hidden judges by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Example:
    """A call, what it asks for, and which part of its answer is the picture: None where the answer itself is.

    For an `nn.Module`, `args` construct it, `parameters` are copied in by name, and `forward` is what it is given.
    """

    args: tuple[Any, ...]
    part: int | None = None
    tensors: bool = False
    parameters: dict[str, np.ndarray] | None = None
    forward: tuple[np.ndarray, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    wanted: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """What the picture must have; another answer is not drawn."""
        return len(self.rows), len(self.columns)
