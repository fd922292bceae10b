"""Tensors of PyTorch, sent as arrays. Imports PyTorch only when a tensor arrives."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from cellcage.values.arrays_codec import BY_NAME, MAX_ARRAY, NAMES
from cellcage.values.value import Form, Other
from cellcage.values.value_type import ValueType


class TensorType(ValueType):
    """Tensors on any device, without their graph. One of a derived class arrives as a plain tensor."""

    tag = "tensor"
    package = "torch"
    is_array = True

    def knows(self, kind: type) -> bool:
        """Whether it is a class of tensors."""
        torch = sys.modules.get("torch")
        return torch is not None and issubclass(kind, torch.Tensor)

    def parts(self, value: Any) -> np.ndarray | Other:
        """Its numbers; an `Other` if NumPy has no array for them."""
        if type(value) is sys.modules["torch"].Tensor:  # most are; the rest takes three times as long
            with contextlib.suppress(TypeError, RuntimeError):
                numbers: np.ndarray = value.detach().numpy()
                if numbers.dtype in NAMES and numbers.nbytes <= MAX_ARRAY:
                    return numbers
        if not _is_plain(value.layout, value.dtype):
            kind = str(value.layout).removeprefix("torch.")
            return Other(f"{value.dtype}" + (f" ({kind})" if kind != "strided" else ""), Form.TENSOR)
        if value.is_meta:
            return Other(f"{value.dtype} without values (on `meta`)", Form.TENSOR)
        # A bit of the tensor may mean that each number stands for its negative or its conjugate.
        plain = value.detach().as_subclass(sys.modules["torch"].Tensor)
        array: np.ndarray = plain.resolve_conj().resolve_neg().cpu().numpy()
        return Other(f"{array.nbytes >> 20} MB", Form.TENSOR) if array.nbytes > MAX_ARRAY else array

    def made_of(self, parts: Any) -> Any:
        """A tensor of an array's numbers."""
        import torch

        return torch.from_numpy(parts)

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


@functools.cache
def _is_plain(layout: Any, dtype: Any) -> bool:
    """True if NumPy has an array for such tensors. Cached, as PyTorch is slow at spelling a layout and a dtype."""
    return str(layout) == "torch.strided" and str(dtype).removeprefix("torch.") in BY_NAME
