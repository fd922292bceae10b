"""Values that may leave or enter the sandbox, as tagged lists: plain data, sets, arrays, tensors, objects, tables.

A tuple stays a tuple and an array keeps its dtype, shape and layout. Never pickle, never a class that the sender
chooses: an object comes as a `Record` of its public data, a pandas frame as a `Table` of its columns; what else Python
has is in `scalars`. Who decodes takes nothing on trust: dtype, shape and byte count must agree before an array is made.
"""

from __future__ import annotations

import functools
import math
import sys
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.sandbox.protocol import scalars
from autograder.sandbox.protocol.frames import MAX_ITEMS, WireError
from autograder.sandbox.protocol.objects import FORMS, NAME, Form, Other, Record, is_field, public
from autograder.sandbox.protocol.of_pandas import is_of_pandas, table_from
from autograder.sandbox.protocol.scalars import Generated
from autograder.sandbox.protocol.tables import MOMENT, SPAN, Table, table_of

DTYPES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
BY_NAME = {name: np.dtype(name) for name in DTYPES}
NAMES = {dtype: name for name, dtype in BY_NAME.items()}  # numpy takes its time to spell a dtype's name
MAX_DEPTH = 16  # the deepest honest value is a dictionary of tuples
MAX_AXES = 32
MAX_ARRAY = 16 * 2**20  # bytes; an honest answer has some thousand
MAX_TEXT = 20_000
MAX_SET = 1024  # members, and keys that are no plain data; tuples of one hash cost the square of it
PLAIN_KEYS = (str, int, bool, float, type(None))
MAX_FIELDS = 64  # of an object
MAX_OBJECTS = 1000  # in one value; a tree with links to its parents is read along every path


class Handle:
    """Something that can be called and stays on the side that made it; the other side asks for its answers.

    `order` names its parameters; `parameters` are arrays by name if it is an `nn.Module`, else None.
    """

    def __init__(self, key: str, order: list[str], parameters: Mapping[str, Any] | None) -> None:
        self.key = key
        self.order = order
        self.parameters = parameters


class _Objects:
    """The objects of one value: how many more may be read, and which are being read now."""

    def __init__(self) -> None:
        self.left, self.open = MAX_OBJECTS, set[int]()


def encode(value: Any, depth: int = 0, objects: _Objects | None = None) -> Any:
    """`value` as tagged lists; what has no tag becomes an `Other` with its type's name."""
    kind = type(value)
    if depth > MAX_DEPTH:
        return _other(Form.TOO_DEEP)
    if kind is np.ndarray:
        return _encode_array("array", value)
    if value is None or kind in (bool, float, str) or (kind is int and -(2**63) <= value < 2**63):
        return value[:MAX_TEXT] if kind is str else value
    if kind in (tuple, list):
        objects = objects or _Objects()
        return [kind.__name__, [encode(item, depth + 1, objects) for item in value]]
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return ["scalar", *_array_fields(np.asarray(value))]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _encode_tensor(value)
    objects = objects or _Objects()
    if isinstance(value, tuple):
        return ["tuple", [encode(item, depth + 1, objects) for item in tuple.__iter__(value)]]
    if isinstance(value, dict):
        pairs = dict.items(value)
        return ["dict", [[encode(key, depth + 1, objects), encode(item, depth + 1, objects)] for key, item in pairs]]
    if kind in (set, frozenset):
        return _encode_set(value, depth, objects)
    if kind is Handle:
        return ["handle", [value.key, value.order, encode(value.parameters)]]
    if kind in scalars.WRITERS:
        found = scalars.write(value)
        return _other(Form.TOO_LARGE, scalars.size_of(value)) if found is None else list(found)
    if kind in (deque, Generated):
        return _encode_items(value, depth, objects)
    if kind is Table:
        return ["table", encode(value.data(), depth + 1, objects)]
    if is_of_pandas(value):
        made = table_from(value)
        return _other(made.form, made.type_name) if isinstance(made, Other) else encode(made, depth, objects)
    if isinstance(value, np.generic) and value.dtype.kind in "UcmM":
        item = value.astype(f"{value.dtype.kind}8[us]") if value.dtype.kind in "mM" else value
        return encode(item.item(), depth, objects)
    return _encode_object(value, depth, objects)


def _other(form: Form, type_name: str = "") -> list[Any]:
    return ["other", [form.value, type_name]]


def _encode_set(value: Any, depth: int, objects: _Objects) -> list[Any]:
    if len(value) > MAX_SET:
        return _other(Form.TOO_LARGE, f"a set of {len(value)}")
    members = [encode(item, depth + 1, objects) for item in value]
    if not all(map(_is_member, members)):
        return _other(Form.TYPE, type(value).__name__)
    return [type(value).__name__, sorted(members, key=repr)]  # the same set, the same bytes


def _encode_items(value: deque[Any] | Generated, depth: int, objects: _Objects) -> list[Any]:
    items = [encode(item, depth + 1, objects) for item in value]
    more = [value.maxlen] if isinstance(value, deque) else [value.kind[:NAME], value.more]
    return ["deque" if isinstance(value, deque) else "generated", [items, *more]]


def _is_member(data: Any) -> bool:
    """May an encoded value be in a set on the other side, too?"""
    if type(data) is list:
        return data[0] in ("scalar", *scalars.READERS) or (
            data[0] in ("tuple", "frozenset") and all(map(_is_member, data[1]))
        )
    return True


# ---------------------------------------------------------------- objects


def _encode_object(value: Any, depth: int, objects: _Objects) -> list[Any]:
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
    fields = [[key, encode(item, depth + 1, objects)] for key, item in found.items()]
    objects.open.discard(id(value))
    return ["record", [name[:NAME], fields]]


# ---------------------------------------------------------------- arrays


def _array_fields(array: np.ndarray) -> list[Any]:
    """dtype, shape, order of axes in memory, whether every second item was taken, bytes."""
    if array.flags.c_contiguous:
        return [NAMES[array.dtype], list(array.shape), list(range(array.ndim)), False, array.tobytes()]
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    packed = np.ascontiguousarray(array.transpose(order))
    gaps = array.size > 0 and not array.transpose(order).flags.c_contiguous
    return [NAMES[array.dtype], list(array.shape), order, bool(gaps), packed.tobytes()]


def _encode_array(tag: str, array: np.ndarray) -> list[Any]:
    if array.dtype not in NAMES:
        return _other(Form(tag), str(array.dtype))
    if array.nbytes > MAX_ARRAY:
        return _other(Form(tag), f"{array.nbytes >> 20} MB")
    return [tag, *_array_fields(array)]


def _encode_tensor(tensor: Any) -> list[Any]:
    if not _is_plain(tensor.layout, tensor.dtype):
        layout = str(tensor.layout).removeprefix("torch.")
        return _other(Form.TENSOR, f"{tensor.dtype}" + (f" ({layout})" if layout != "strided" else ""))
    return _encode_array("tensor", tensor.detach().cpu().numpy())


@functools.cache
def _is_plain(layout: Any, dtype: Any) -> bool:
    """Does NumPy have such tensors, too? PyTorch takes its time to spell what they are."""
    return str(layout) == "torch.strided" and str(dtype).removeprefix("torch.") in DTYPES


# ---------------------------------------------------------------- and back


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
        array = _decode_array(fields)
        return array if tag == "array" else array[()] if tag == "scalar" else _tensor(array)
    if len(fields) != 1:
        raise WireError("a tagged value has one field")
    if tag == "other":
        return _decode_other(fields[0])
    if tag == "handle":
        return _decode_handle(fields[0], depth)
    if tag in ("list", "tuple", "dict"):
        return _decode_container(tag, fields[0], depth)
    if tag in ("set", "frozenset"):
        return _decode_set(tag, fields[0], depth)
    if tag == "record":
        return _decode_record(fields[0], depth)
    if tag == "table":
        return table_of(decode(fields[0], depth + 1))
    if tag in scalars.READERS:
        return scalars.read(tag, fields[0])
    if tag in ("deque", "generated"):
        return _decode_items(tag, fields[0], depth)
    raise WireError("an unknown tag")


def _decode_other(fields: Any) -> Other:
    if type(fields) is not list or len(fields) != 2 or fields[0] not in FORMS or type(fields[1]) is not str:
        raise WireError("not what is left out")
    return Other(fields[1], Form(fields[0]))


def _decode_handle(fields: Any, depth: int) -> Handle:
    if type(fields) is not list or len(fields) != 3 or type(fields[0]) is not str or type(fields[1]) is not list:
        raise WireError("not a handle")
    key, order, parameters = fields[0], fields[1], decode(fields[2], depth + 1)
    if any(type(name) is not str for name in order) or not isinstance(parameters, dict | None):
        raise WireError("not a handle")
    return Handle(key, order, parameters)


def _decode_container(tag: str, items: Any, depth: int) -> Any:
    if type(items) is not list or len(items) > MAX_ITEMS:
        raise WireError("not a list of items")
    if tag != "dict":
        values = [decode(item, depth + 1) for item in items]
        return tuple(values) if tag == "tuple" else values
    result, left = {}, MAX_SET
    for pair in items:
        if type(pair) is not list or len(pair) != 2:
            raise WireError("not a pair")
        key = decode(pair[0], depth + 1)
        key = key.parts[0].plain[0] if type(key) is Table and key.kind in (MOMENT, SPAN) else key
        if type(key) not in PLAIN_KEYS or (type(key) is int and key.bit_length() > 64):
            left -= 1
            key = key if left >= 0 and _can_be_member(key) else f"({type(key).__name__})"
        result[key] = decode(pair[1], depth + 1)
    return result


def _decode_set(tag: str, items: Any, depth: int) -> Any:
    if type(items) is not list or len(items) > MAX_SET:
        raise WireError("not a list of members")
    members = [decode(item, depth + 1) for item in items]
    if not all(map(_can_be_member, members)):
        raise WireError("not a member of a set")
    return set(members) if tag == "set" else frozenset(members)


def _can_be_member(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_can_be_member, value))
    return type(value) in PLAIN_KEYS or type(value) in scalars.WRITERS or isinstance(value, np.generic)


def _decode_record(data: Any, depth: int) -> Record:
    name, pairs = data if type(data) is list and len(data) == 2 else ("", None)
    if type(name) is not str or not name.isidentifier() or type(pairs) is not list or len(pairs) > MAX_FIELDS:
        raise WireError("not an object")
    fields = dict[str, object]()
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2 or not is_field(pair[0]) or pair[0] in fields:
            raise WireError("not a field")
        fields[pair[0]] = decode(pair[1], depth + 1)
    return Record(name, fields)


def _decode_items(tag: str, data: Any, depth: int) -> deque[Any] | Generated:
    items, *more = data if type(data) is list and data else (None,)
    values = _decode_container("list", items, depth)
    if (
        tag == "generated"
        and len(more) == 2
        and type(more[0]) is str
        and more[0].isidentifier()
        and type(more[1]) is bool
    ):
        return Generated(values, more[0][:NAME], more[1])
    if tag == "deque" and len(more) == 1 and (more[0] is None or (type(more[0]) is int and len(values) <= more[0])):
        return deque(values, more[0] if more[0] is None else min(more[0], MAX_ITEMS))
    raise WireError("not a list of items")


def _decode_array(fields: list[Any]) -> np.ndarray:
    if len(fields) != 5:
        raise WireError("an array has five fields")
    name, shape, order, gaps, data = fields
    dtype = BY_NAME.get(name) if type(name) is str else None
    if dtype is None or type(data) is not bytes or type(gaps) is not bool:
        raise WireError("not an array")
    _check_sizes(shape)
    _check_sizes(order)
    axes = list(range(len(shape)))
    if order != axes and sorted(order) != axes:
        raise WireError("not an order of axes")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise WireError("shape and size disagree")
    if gaps and not shape:
        raise WireError("no axis to have gaps in")
    # An axis of none makes the product nothing, and whoever sums over it would make the rest.
    if not data and math.prod(filter(None, shape)) > MAX_ARRAY:
        raise WireError("an empty array with an endless axis")
    flat = np.frombuffer(data, dtype)
    if name == "bool":
        flat = flat.view(np.uint8) != 0  # a byte of 2 is neither true nor false to code that reckons with bytes
    array = flat.reshape([shape[axis] for axis in order])
    array = _with_gaps(array) if gaps else array.copy()
    return array if order == axes else array.transpose(sorted(axes, key=order.__getitem__))


def _check_sizes(numbers: Any) -> None:
    """Raises `WireError` unless `numbers` are a list of sizes, or of places of axes."""
    if type(numbers) is not list or len(numbers) > MAX_AXES:
        raise WireError("not a shape")
    for number in numbers:
        if type(number) is not int or number < 0:
            raise WireError("not a shape")


def _with_gaps(array: np.ndarray) -> np.ndarray:
    """The same values as every second item of a wider array, so that it stays non-contiguous."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def _tensor(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array)
