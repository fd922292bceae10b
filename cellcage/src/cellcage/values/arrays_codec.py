"""Arrays and NumPy's numbers, as lists that hold raw bytes. Dtype, shape and byte count are checked on arrival."""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from cellcage.values.value import Form, Other
from cellcage.wire import WireError, converted

_DTYPES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
BY_NAME = {name: np.dtype(name) for name in _DTYPES}
NAMES = {dtype: name for name, dtype in BY_NAME.items()}  # NumPy is slow at spelling a dtype's name
MAX_AXES = 32
MAX_ARRAY = 16 * 2**20  # bytes; an honest answer has some thousand
Sizes = Annotated[list[Annotated[int, Meta(ge=0)]], Meta(max_length=MAX_AXES)]


class ArrayFields(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """An array on the wire. `order` lists the axes as they lie in memory; with `gaps`, every second item is unused."""

    dtype: str
    shape: Sizes
    order: Sizes
    gaps: bool
    data: bytes


def array_data(array: np.ndarray) -> list[Any] | Other:
    """The items of an `ArrayFields`; an `Other` if the dtype is not supported, or the array too large."""
    array = array if type(array) is np.ndarray else _plain(array)
    if array.dtype not in NAMES:
        return Other(str(array.dtype), Form.ARRAY)
    if array.nbytes > MAX_ARRAY:
        return Other(f"{array.nbytes >> 20} MB", Form.ARRAY)
    if array.flags.c_contiguous:
        return [NAMES[array.dtype], list(array.shape), list(range(array.ndim)), False, array.tobytes()]
    order, gaps = _in_memory(array)
    packed = np.ascontiguousarray(array.transpose(order))
    return [NAMES[array.dtype], list(array.shape), order, gaps, packed.tobytes()]


def _plain(array: np.ndarray) -> np.ndarray:
    """An array of a derived class as one of NumPy's own class. What `np.ma` hides becomes NaN."""
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    numbers = np.ma.getdata(array)
    hidden = np.ma.getmaskarray(array)
    if not hidden.any():
        return np.asarray(numbers)
    return np.where(hidden, np.nan, numbers)


def _in_memory(array: np.ndarray) -> tuple[list[int], bool]:
    """The axes as they lie in memory, and whether there are gaps between the numbers."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    return order, array.size > 0 and not array.transpose(order).flags.c_contiguous


def layout(array: np.ndarray) -> tuple[list[int], bool]:
    """The part of an array's memory layout that crosses the boundary. Axes of length 1 have no place of their own."""
    order, gaps = _in_memory(array)
    return [axis for axis in order if array.shape[axis] > 1], gaps


def array_of(data: Any) -> np.ndarray:
    """The array behind the items of an `ArrayFields`. Raises `WireError` if they are forged."""
    fields: ArrayFields = converted(data, ArrayFields, "an array")
    dtype, shape, order, axes = BY_NAME.get(fields.dtype), fields.shape, fields.order, list(range(len(fields.shape)))
    if dtype is None:
        raise WireError("not an array")
    if order != axes and sorted(order) != axes:
        raise WireError("not an order of axes")
    if math.prod(shape) * dtype.itemsize != len(fields.data):
        raise WireError("shape and size disagree")
    if fields.gaps and not shape:
        raise WireError("no axis to have gaps in")
    # An axis of length 0 makes the product 0, but a sum over it would allocate all the other axes.
    if not fields.data and math.prod(filter(None, shape)) > MAX_ARRAY:
        raise WireError("an empty array with an endless axis")
    flat = np.frombuffer(fields.data, dtype)
    if fields.dtype == "bool":
        flat = flat.view(np.uint8) != 0  # a byte of 2 is neither true nor false to code that calculates with bytes
    array = flat.reshape([shape[axis] for axis in order])
    array = _with_gaps(array) if fields.gaps else array.copy()
    return array if order == axes else array.transpose(sorted(axes, key=order.__getitem__))


def _with_gaps(array: np.ndarray) -> np.ndarray:
    """The same values as every second item of a wider array, so that it stays non-contiguous."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]
