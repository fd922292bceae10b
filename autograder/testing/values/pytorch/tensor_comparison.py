"""Tensors in messages. They are compared as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.testing.values.comparison import Comparison


class TensorComparison(Comparison):
    """PyTorch tensors."""

    is_array = True

    def named(self, value: Any) -> str:
        """`a tensor of shape (2, 3)`."""
        return f"a tensor of shape {tuple(value.shape)}"

    def shown(self, value: Any, shown: Callable[[Any], str]) -> str:
        """Its numbers."""
        return shown(value.detach().numpy())

    def size(self, value: Any) -> tuple[str, str] | None:
        """`a tensor (2, 3)`."""
        shape = str(tuple(value.shape))
        return f"a tensor {shape}", shape
