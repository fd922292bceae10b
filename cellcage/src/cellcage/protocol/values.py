"""Values that may leave or enter the sandbox, as tagged lists: plain data, sets, arrays, tensors, objects, tables.

A tuple stays a tuple, and an array keeps its dtype, shape and memory layout. Nothing is pickled, and the sender cannot
choose a class: an object arrives as a `Record` of its public data, a pandas frame as a `Table` of its columns. Python's
other values are in `scalars`. A reader trusts nothing: dtype, shape and byte count must agree before it makes an array.
"""

from __future__ import annotations

import functools
import math
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from cellcage.protocol import scalars
from cellcage.protocol.frames import MAX_ITEMS, WireError
from cellcage.protocol.objects import NAME, Form, Other, Record, is_field, public
from cellcage.protocol.of_pandas import is_of_pandas, table_from
from cellcage.protocol.scalars import Generated
from cellcage.protocol.tables import MOMENT, SPAN, Table, table_of

_DTYPES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
BY_NAME = {name: np.dtype(name) for name in _DTYPES}
NAMES = {dtype: name for name, dtype in BY_NAME.items()}  # NumPy is slow at spelling a dtype's name
MAX_DEPTH = 16  # the deepest honest value is a dictionary of tuples
MAX_AXES = 32
MAX_ARRAY = 16 * 2**20  # bytes; an honest answer has some thousand
MAX_TEXT = 20_000
MAX_SET = 1024  # members, and keys that are not plain data; tuples with equal hashes cost the square of it
PLAIN_KEYS = (str, int, bool, float, type(None))
MAX_FIELDS = 64  # of an object
MAX_OBJECTS = 1000  # in one value; a tree whose nodes link to their parents is read along every path
Fields = TypeVar("Fields")
Sizes = Annotated[list[Annotated[int, Meta(ge=0)]], Meta(max_length=MAX_AXES)]


@dataclass(eq=False)
class Handle:
    """A callable that stays on the side that made it; the other side asks for its answers.

    `order` has the names of its parameters. If it is an `nn.Module`, `parameters` has arrays by name, else it is None.
    """

    key: str
    order: list[str]
    parameters: Mapping[str, Any] | None


class _Objects:
    """The objects of one value: how many more may be read, and the ids of those that are being read now."""

    def __init__(self) -> None:
        self.left, self.open = MAX_OBJECTS, set[int]()


class _ArrayFields(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """An array on the wire. `order` lists the axes as they lie in memory; with `gaps`, every second item is unused."""

    dtype: str
    shape: Sizes
    order: Sizes
    gaps: bool
    data: bytes


def encode(value: Any, depth: int = 0, objects: _Objects | None = None) -> Any:
    """`value` as tagged lists; a value that has no tag becomes an `Other` with its type's name."""
    kind = type(value)
    if depth > MAX_DEPTH:
        return _other(Form.TOO_DEEP)
    if isinstance(value, np.ndarray):
        return _encode_array("array", value if kind is np.ndarray else _plain(value))
    if value is None or kind in (bool, float, str) or (kind is int and -(2**63) <= value < 2**63):
        return value[:MAX_TEXT] if kind is str else value
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return ["scalar", *_array_fields(np.asarray(value))]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _encode_tensor(value)
    objects = objects or _Objects()

    def encoded(items: Iterable[Any]) -> list[Any]:
        return [encode(item, depth + 1, objects) for item in items]

    if kind is list:
        return ["list", encoded(value)]
    if isinstance(value, tuple):
        return ["tuple", encoded(tuple.__iter__(value))]
    if isinstance(value, dict):
        return ["dict", [encoded(pair) for pair in dict.items(value)]]
    if kind in (set, frozenset):
        return _encode_set(value, encoded)
    if kind is Handle:
        return ["handle", [value.key, value.order, encode(value.parameters)]]
    if kind in scalars.WRITERS:
        tag, write = scalars.WRITERS[kind]
        data = write(value)
        return _other(Form.TOO_LARGE, scalars.size_of(value)) if data is None else [tag, data]
    if kind is deque:
        return ["deque", [encoded(value), value.maxlen]]
    if kind is Generated:
        return ["generated", [encoded(value.items), value.kind[:NAME], value.more]]
    if kind is Table:
        return ["table", encode(value.data(), depth + 1, objects)]
    if is_of_pandas(value):
        made = table_from(value)
        return _other(made.form, made.type_name) if isinstance(made, Other) else encode(made, depth, objects)
    if isinstance(value, np.generic) and value.dtype.kind in "UcmM":
        item = value.astype(f"{value.dtype.kind}8[us]") if value.dtype.kind in "mM" else value
        return encode(item.item(), depth, objects)
    return _encode_object(value, encoded, objects)


def _other(form: Form, type_name: str = "") -> list[Any]:
    return ["other", [form.value, type_name]]


def _encode_set(value: Any, encoded: Callable[[Iterable[Any]], list[Any]]) -> list[Any]:
    if len(value) > MAX_SET:
        return _other(Form.TOO_LARGE, f"a set of {len(value)}")
    members = encoded(value)
    if not all(_can_be_member(decode(member)) for member in members):
        return _other(Form.TYPE, type(value).__name__)
    return [type(value).__name__, sorted(members, key=repr)]  # equal sets give equal bytes


def _encode_object(value: Any, encoded: Callable[[Iterable[Any]], list[Any]], objects: _Objects) -> list[Any]:
    name = value.type_name if type(value) is Record else type(value).__name__
    found = {} if type(value) is Other else public(value)
    if not (found or type(value) is Record) or not name.isidentifier():
        return _other(Form.TYPE, name)
    if objects.left <= 0 or len(found) > MAX_FIELDS:
        return _other(Form.TOO_MANY)
    if id(value) in objects.open:
        return _other(Form.ENDLESS)
    objects.left -= 1
    objects.open.add(id(value))
    fields = [[*pair] for pair in zip(found, encoded(found.values()), strict=True)]
    objects.open.discard(id(value))
    return ["record", [name[:NAME], fields]]


def _plain(array: np.ndarray) -> np.ndarray:
    """An array of a derived class as one of NumPy's own class. What `np.ma` hides becomes NaN."""
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    numbers = np.ma.getdata(array)
    hidden = np.ma.getmaskarray(array)
    if not hidden.any():
        return np.asarray(numbers)
    return np.where(hidden, np.nan, numbers)


def _array_fields(array: np.ndarray) -> list[Any]:
    """The items of an `_ArrayFields`."""
    if array.flags.c_contiguous:
        return [NAMES[array.dtype], list(array.shape), list(range(array.ndim)), False, array.tobytes()]
    order, gaps = _in_memory(array)
    packed = np.ascontiguousarray(array.transpose(order))
    return [NAMES[array.dtype], list(array.shape), order, gaps, packed.tobytes()]


def _in_memory(array: np.ndarray) -> tuple[list[int], bool]:
    """The axes as they lie in memory, and whether there are gaps between the numbers."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    return order, array.size > 0 and not array.transpose(order).flags.c_contiguous


def layout(array: np.ndarray) -> tuple[list[int], bool]:
    """How an array lies in memory, as far as that crosses the boundary. Axes of length 1 have no place of their own."""
    order, gaps = _in_memory(array)
    return [axis for axis in order if array.shape[axis] > 1], gaps


def _encode_array(tag: str, array: np.ndarray) -> list[Any]:
    if array.dtype not in NAMES:
        return _other(Form(tag), str(array.dtype))
    if array.nbytes > MAX_ARRAY:
        return _other(Form(tag), f"{array.nbytes >> 20} MB")
    return [tag, *_array_fields(array)]


def _encode_tensor(tensor: Any) -> list[Any]:
    if not _is_plain(tensor.layout, tensor.dtype):
        kind = str(tensor.layout).removeprefix("torch.")
        return _other(Form.TENSOR, f"{tensor.dtype}" + (f" ({kind})" if kind != "strided" else ""))
    if tensor.is_meta:
        return _other(Form.TENSOR, f"{tensor.dtype} without values (on `meta`)")
    torch = sys.modules["torch"]
    plain = tensor.detach().as_subclass(torch.Tensor)
    # A bit of the tensor may say that each number is to be read as its negative, or as its conjugate.
    return _encode_array("tensor", plain.resolve_conj().resolve_neg().cpu().numpy())


@functools.cache
def _is_plain(layout: Any, dtype: Any) -> bool:
    """True if NumPy has an array for such tensors. Cached, as PyTorch is slow at spelling a layout and a dtype."""
    return str(layout) == "torch.strided" and str(dtype).removeprefix("torch.") in BY_NAME


# ---------------------------------------------------------------- decoding


def decode(data: Any, depth: int = 0) -> Any:
    """The value behind tagged lists.

    Raises `WireError` on anything `encode` would not have written.
    """
    if depth > MAX_DEPTH + 1:
        raise WireError("nested too deeply")
    if data is None or type(data) in (bool, int, float, str):
        return data
    if type(data) is not list or not data or type(data[0]) is not str:
        raise WireError("not a tagged value")
    tag, *fields = data
    if tag in ("array", "scalar", "tensor"):
        array = _decode_array(_converted(fields, _ArrayFields, "an array"))
        if tag == "tensor":
            import torch

            return torch.from_numpy(array)
        return array if tag == "array" else array[()]
    if len(fields) != 1:
        raise WireError("a tagged value has one field")
    if tag in scalars.READERS:
        return scalars.read(tag, fields[0])
    if tag not in _BY_TAG:
        raise WireError("an unknown tag")
    return _BY_TAG[tag](fields[0], depth + 1)


def _converted(data: Any, form: type[Fields], what: str) -> Fields:
    try:
        return msgspec.convert(data, form, builtin_types=(bytes,))
    except msgspec.ValidationError:
        raise WireError(f"not {what}") from None


def _decode_other(data: Any, depth: int) -> Other:
    form, type_name = _converted(data, tuple[Form, str], "a value that is left out")
    return Other(type_name, form)


def _decode_handle(data: Any, depth: int) -> Handle:
    key, order, parameters = _converted(data, tuple[str, list[str], Any], "a handle")
    parameters = decode(parameters, depth)
    if not isinstance(parameters, dict | None):
        raise WireError("not a handle")
    return Handle(key, order, parameters)


def _decode_list(items: Any, depth: int, most: int = MAX_ITEMS) -> list[Any]:
    if type(items) is not list or len(items) > most:
        raise WireError("not a list of items")
    return [decode(item, depth) for item in items]


def _decode_dict(items: Any, depth: int) -> dict[Any, Any]:
    if type(items) is not list:
        raise WireError("not a list of items")
    result, left = {}, MAX_SET
    for pair in items:
        if type(pair) is not list or len(pair) != 2:
            raise WireError("not a pair")
        key = decode(pair[0], depth)
        key = key.parts[0].plain[0] if type(key) is Table and key.kind in (MOMENT, SPAN) else key
        if type(key) not in PLAIN_KEYS or (type(key) is int and key.bit_length() > 64):
            left -= 1
            key = key if left >= 0 and _can_be_member(key) else f"({type(key).__name__})"
        result[key] = decode(pair[1], depth)
    return result


def _decode_members(items: Any, depth: int) -> list[Any]:
    members = _decode_list(items, depth, MAX_SET)
    if not all(map(_can_be_member, members)):
        raise WireError("not a member of a set")
    return members


def _can_be_member(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_can_be_member, value))
    return type(value) in PLAIN_KEYS or type(value) in scalars.WRITERS or isinstance(value, np.generic)


def _decode_record(data: Any, depth: int) -> Record:
    name, pairs = _converted(data, tuple[str, list[tuple[str, Any]]], "an object")
    if not name.isidentifier() or len(pairs) > MAX_FIELDS:
        raise WireError("not an object")
    fields = {key: decode(item, depth) for key, item in pairs}
    if len(fields) < len(pairs) or not all(map(is_field, fields)):
        raise WireError("not a field")
    return Record(name, fields)


def _decode_deque(data: Any, depth: int) -> deque[Any]:
    items, size = _converted(data, tuple[Any, int | None], "a deque")
    values = _decode_list(items, depth)
    if size is not None and len(values) > size:
        raise WireError("not a deque")
    return deque(values, size if size is None else min(size, MAX_ITEMS))


def _decode_generated(data: Any, depth: int) -> Generated:
    items, kind, more = _converted(data, tuple[Any, str, bool], "a generator's items")
    if not kind.isidentifier():
        raise WireError("not a generator's items")
    return Generated(_decode_list(items, depth), kind[:NAME], more)


_BY_TAG: dict[str, Callable[[Any, int], Any]] = {
    "other": _decode_other,
    "handle": _decode_handle,
    "list": _decode_list,
    "tuple": lambda items, depth: tuple(_decode_list(items, depth)),
    "dict": _decode_dict,
    "set": lambda items, depth: set(_decode_members(items, depth)),
    "frozenset": lambda items, depth: frozenset(_decode_members(items, depth)),
    "record": _decode_record,
    "table": lambda data, depth: table_of(decode(data, depth)),
    "deque": _decode_deque,
    "generated": _decode_generated,
}


def _decode_array(fields: _ArrayFields) -> np.ndarray:
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
