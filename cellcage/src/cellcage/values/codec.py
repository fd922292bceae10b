"""Values that may leave or enter the sandbox, as tagged lists: plain data, containers, arrays, objects, other types.

A tuple stays a tuple, and an array keeps its dtype, shape and memory layout. Nothing is pickled, and the sender cannot
choose a class: an object arrives as a `Record` of its public data. Further types have a folder each, see `value_type`.
A reader trusts nothing: dtype, shape and byte count must agree before it makes an array.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from cellcage.values.arrays_codec import NAMES, array_data, array_of
from cellcage.values.value import ATOMS, NAME, Form, Generated, Other, Record, changed, is_field, public
from cellcage.values.value_type import ValueType, by_tag, type_of
from cellcage.wire import MAX_ITEMS, WireError, converted

MAX_DEPTH = 16  # the deepest honest value is a dictionary of tuples
MAX_TEXT = 20_000
MAX_NUMBER_BYTES = 1661  # 4,000 digits; Python itself writes no more than 4,300
MAX_BYTES = 2**20
MAX_SET = 1024  # members, and keys that are not plain data; tuples with equal hashes cost the square of it
PLAIN_KEYS = (str, int, bool, float, type(None))
MAX_FIELDS = 64  # of an object
MAX_OBJECTS = 1000  # in one value; a tree whose nodes link to their parents is read along every path


@dataclass(eq=False)
class Handle:
    """A callable that stays on the side that made it; the other side asks for its answers.

    `order` has the names of its parameters. If it is an `nn.Module`, `parameters` has arrays by name, else it is None.
    """

    key: str
    order: list[str]
    parameters: Mapping[str, Any] | None


def _integer(value: int) -> bytes | None:
    size = value.bit_length() // 8 + 1
    return value.to_bytes(size, "big", signed=True) if size <= MAX_NUMBER_BYTES else None


# Python's own values beside plain data. By type: the tag, and what follows it, or None if the value is too large.
WRITERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    int: ("integer", _integer),
    complex: ("complex", lambda value: [value.real, value.imag]),
    bytes: ("bytes", lambda value: value if len(value) <= MAX_BYTES else None),
}


class _Objects:
    """The objects of one value: how many more may be read, and the ids of those that are being read now."""

    def __init__(self) -> None:
        self.left, self.open = MAX_OBJECTS, set[int]()


def encode(value: Any, depth: int = 0, objects: _Objects | None = None) -> Any:
    """`value` as tagged lists; a value that has no tag becomes an `Other` with its type's name."""
    kind = type(value)
    if depth > MAX_DEPTH:
        return _other(Form.TOO_DEEP)
    if isinstance(value, np.ndarray):
        return _tagged("array", array_data(value))
    if value is None or kind in (bool, float, str) or (kind is int and -(2**63) <= value < 2**63):
        return value[:MAX_TEXT] if kind is str else value
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return _tagged("scalar", array_data(np.asarray(value)))
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
    if kind in WRITERS:
        tag, write = WRITERS[kind]
        data = write(value)
        size = f"bytes of {len(value)}" if kind is bytes else "an int of many digits"
        return _other(Form.TOO_LARGE, size) if data is None else [tag, data]
    if kind is deque:
        return ["deque", [encoded(value), value.maxlen]]
    if kind is Generated:
        return ["generated", [encoded(value.items), value.kind[:NAME], value.more]]
    if isinstance(value, np.generic) and value.dtype.kind in "Uc":
        return encode(value.item(), depth, objects)
    if (known := type_of(value)) is not None:
        return _encode_registered(known, value, encoded)
    return _encode_object(value, encoded, objects)


def _other(form: Form, type_name: str = "") -> list[Any]:
    return ["other", [form.value, type_name]]


def _tagged(tag: str, data: list[Any] | Other) -> list[Any]:
    return _other(data.form, data.type_name) if isinstance(data, Other) else [tag, *data]


def _encode_registered(known: ValueType, value: Any, encoded: Callable[[Iterable[Any]], list[Any]]) -> list[Any]:
    made = known.portable(value)
    parts = made if isinstance(made, Other) else known.parts(made)
    return _tagged(known.tag, parts if isinstance(parts, Other) else encoded([parts]))


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


def as_data(value: Any) -> Any:
    """The value, and what in it is of another class than the usual ones as it arrives on the other side.

    That may run code of these classes. Writing what this returns runs none.
    """
    usual = _usual("torch" in sys.modules)

    def change(item: Any) -> Any:
        return item if type(item) in usual or isinstance(item, np.generic) else decode(encode(item))

    return changed(value, change)


@functools.cache
def _usual(has_torch: bool) -> frozenset[type]:
    torch = sys.modules["torch"] if has_torch else None
    return frozenset({*ATOMS, np.ndarray, *((torch.Tensor, torch.nn.Parameter) if torch else ())})


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
    if tag == "array":
        return array_of(fields)
    if tag == "scalar":
        return array_of(fields)[()]
    if len(fields) != 1:
        raise WireError("a tagged value has one field")
    if tag in _BY_TAG:
        return _BY_TAG[tag](fields[0], depth + 1)
    if tag in by_tag():
        return _decode_registered(by_tag()[tag], decode(fields[0], depth + 1))
    raise WireError("an unknown tag")


def _decode_registered(known: ValueType, parts: Any) -> Any:
    if isinstance(parts, Other):  # such as plain data that was nested too deeply
        return parts
    try:
        return known.made_of(parts)
    except Exception as error:
        raise WireError(f"not a {known.tag} ({type(error).__name__})") from None


def _decode_other(data: Any, depth: int) -> Other:
    form, type_name = converted(data, tuple[Form, str], "a value that is left out")
    return Other(type_name, form)


def _decode_handle(data: Any, depth: int) -> Handle:
    key, order, parameters = converted(data, tuple[str, list[str], Any], "a handle")
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
    if type(value) in PLAIN_KEYS or type(value) in WRITERS or isinstance(value, np.generic):
        return True
    known = type_of(value)
    return known is not None and known.hashable(value)


def _decode_record(data: Any, depth: int) -> Record:
    name, pairs = converted(data, tuple[str, list[tuple[str, Any]]], "an object")
    if not name.isidentifier() or len(pairs) > MAX_FIELDS:
        raise WireError("not an object")
    fields = {key: decode(item, depth) for key, item in pairs}
    if len(fields) < len(pairs) or not all(map(is_field, fields)):
        raise WireError("not a field")
    return Record(name, fields)


def _decode_deque(data: Any, depth: int) -> deque[Any]:
    items, size = converted(data, tuple[Any, int | None], "a deque")
    values = _decode_list(items, depth)
    if size is not None and len(values) > size:
        raise WireError("not a deque")
    return deque(values, size if size is None else min(size, MAX_ITEMS))


def _decode_generated(data: Any, depth: int) -> Generated:
    items, kind, more = converted(data, tuple[Any, str, bool], "a generator's items")
    if not kind.isidentifier():
        raise WireError("not a generator's items")
    return Generated(_decode_list(items, depth), kind[:NAME], more)


def _decode_complex(data: Any, depth: int) -> complex:
    if type(data) is not list or [*map(type, data)] != [float, float]:
        raise WireError("not a complex number")
    return complex(*data)


# Sizes are checked before anything is computed: for a million digits `int` takes minutes.
_Integer = Annotated[bytes, Meta(min_length=1, max_length=MAX_NUMBER_BYTES)]
_Bytes = Annotated[bytes, Meta(max_length=MAX_BYTES)]
_BY_TAG: dict[str, Callable[[Any, int], Any]] = {
    "other": _decode_other,
    "handle": _decode_handle,
    "list": _decode_list,
    "tuple": lambda items, depth: tuple(_decode_list(items, depth)),
    "dict": _decode_dict,
    "set": lambda items, depth: set(_decode_members(items, depth)),
    "frozenset": lambda items, depth: frozenset(_decode_members(items, depth)),
    "record": _decode_record,
    "deque": _decode_deque,
    "generated": _decode_generated,
    "integer": lambda data, depth: int.from_bytes(converted(data, _Integer, "a whole number"), "big", signed=True),
    "complex": _decode_complex,
    "bytes": lambda data, depth: converted(data, _Bytes, "bytes"),
}
