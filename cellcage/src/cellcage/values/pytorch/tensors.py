"""Tells tensors from other values, without importing PyTorch."""

from __future__ import annotations

import sys
from typing import Any


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_float_tensor(value: Any) -> bool:
    """Whether it is a tensor that may have a gradient."""
    return bool(is_tensor(value) and value.is_floating_point())
