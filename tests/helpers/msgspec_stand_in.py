"""As much of msgspec as `check` needs, in Python alone: the browser test's Pyodide is too old for a wheel of msgspec.

`tests.helpers.pyodide` makes a wheel of this file. Messages are real msgpack, so they have the same bytes.
"""

from __future__ import annotations

import dataclasses
import enum
import json as _json
import struct
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union

__version__ = "0.22.0"


class MsgspecError(Exception):
    pass


class ValidationError(MsgspecError, ValueError):
    pass


class UnsetType(enum.Enum):
    UNSET = "UNSET"

    def __bool__(self):
        return False


UNSET = UnsetType.UNSET


@dataclasses.dataclass(frozen=True)
class Meta:
    ge: float | None = None
    min_length: int | None = None
    max_length: int | None = None


def field(*, default=dataclasses.MISSING, default_factory=dataclasses.MISSING):
    return dataclasses.field(default=default, default_factory=default_factory)


class _StructType(type):
    def __new__(cls, name, bases, namespace, frozen=None, **options):
        for key, value in list(namespace.items()):
            if key in namespace.get("__annotations__", {}) and type(value) in (list, dict, set):
                namespace[key] = dataclasses.field(default_factory=type(value))
        made = super().__new__(cls, name, bases, namespace)
        made._options = {**getattr(made, "_options", {}), **options}
        made._frozen = getattr(made, "_frozen", False) if frozen is None else frozen
        made = dataclasses.dataclass(eq=True)(made)
        if made._frozen:
            made.__hash__ = lambda self: hash(tuple(getattr(self, key) for key in self.__struct_fields__))
        made.__struct_fields__ = made.__struct_encode_fields__ = tuple(one.name for one in dataclasses.fields(made))
        return made


class Struct(metaclass=_StructType):
    pass


def replace(value, /, **changes):
    return dataclasses.replace(value, **changes)


def asdict(value):
    return {key: getattr(value, key) for key in value.__struct_fields__}


# ---------------------------------------------------------------- to plain data


def to_builtins(value, *, builtin_types=()):
    if isinstance(value, Struct):
        parts = asdict(value)
        if value._options.get("array_like"):
            return [to_builtins(part) for part in parts.values()]
        if value._options.get("omit_defaults"):
            parts = {key: part for key, part in parts.items() if part != _default(type(value), key)}
        tag = {"type": value._options["tag"]} if "tag" in value._options else {}
        return tag | {key: to_builtins(part) for key, part in parts.items() if part is not UNSET}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {to_builtins(key): to_builtins(part) for key, part in value.items()}
    if isinstance(value, str | bytes | bytearray | memoryview | int | float | None):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [to_builtins(part) for part in value]
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")


def _default(kind, key):
    given = next(one for one in dataclasses.fields(kind) if one.name == key)
    if given.default_factory is not dataclasses.MISSING:
        return given.default_factory()
    return given.default


# ---------------------------------------------------------------- from plain data


def convert(data, type, *, builtin_types=(), strict=True):
    return _converted(data, type)


def _converted(data, form):
    if form in (Any, object):
        return data
    if isinstance(form, typing._GenericAlias | types.GenericAlias | types.UnionType):
        return _generic(data, form)
    if form in (None, types.NoneType) and data is None:
        return None
    if isinstance(form, type) and issubclass(form, Struct):
        return _struct(data, form)
    if isinstance(form, type) and issubclass(form, enum.Enum):
        try:
            return form(data)
        except ValueError as error:
            raise ValidationError(str(error)) from None
    if form is float and type(data) is int:
        return float(data)
    if form in (list, tuple, dict, set) and not isinstance(data, str):
        return form(data)
    if type(data) is form or (form is float and isinstance(data, float)):
        return data
    raise ValidationError(f"Expected `{getattr(form, '__name__', form)}`, got `{type(data).__name__}`")


def _generic(data, form):
    origin, arguments = typing.get_origin(form), typing.get_args(form)
    if origin is Annotated:
        return _checked(_converted(data, arguments[0]), form.__metadata__)
    if origin is Literal:
        if data in arguments:
            return data
    elif origin in (Union, types.UnionType):
        for one in arguments:
            try:
                return _converted(data, one)
            except ValidationError:
                continue
    elif issubclass(origin, Mapping) and isinstance(data, dict):
        return {_converted(key, arguments[0]): _converted(value, arguments[1]) for key, value in data.items()}
    elif origin is tuple and isinstance(data, list | tuple):
        if arguments[-1] is not Ellipsis:
            if len(arguments) == len(data):
                return tuple(map(_converted, data, arguments))
        else:
            return tuple(_converted(part, arguments[0]) for part in data)
    elif isinstance(data, list | tuple):
        made = [_converted(part, arguments[0]) for part in data]
        return made if issubclass(list, origin) else origin(made)
    raise ValidationError(f"Expected `{form}`, got `{type(data).__name__}`")


def _checked(value, metadata):
    for meta in metadata:
        if isinstance(meta, Meta) and (
            (meta.ge is not None and value < meta.ge)
            or (meta.min_length is not None and len(value) < meta.min_length)
            or (meta.max_length is not None and len(value) > meta.max_length)
        ):
            raise ValidationError(f"Expected {meta}")
    return value


def _struct(data, form):
    if isinstance(data, form):
        return data
    names = form.__struct_fields__
    if form._options.get("array_like") and isinstance(data, list | tuple):
        data = dict(zip(names, data, strict=False))
    if not isinstance(data, dict):
        raise ValidationError(f"Expected `object`, got `{type(data).__name__}`")
    if form._options.get("forbid_unknown_fields") and (more := set(data) - {*names, "type"}):
        raise ValidationError(f"Object contains unknown field `{min(more)}`")
    hints = typing.get_type_hints(form, include_extras=True)
    try:
        return form(**{name: _converted(data[name], hints[name]) for name in names if name in data})
    except TypeError as error:
        raise ValidationError(str(error)) from None


# ---------------------------------------------------------------- bytes


def _packed(value):
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    if isinstance(value, int):
        return _packed_int(value)
    if isinstance(value, str):
        data = value.encode()
        return _head(len(data), 0xA0, 32, (0xD9, 0xDA, 0xDB)) + data
    if isinstance(value, bytes | bytearray | memoryview):
        return _head(len(value), 0, 0, (0xC4, 0xC5, 0xC6)) + bytes(value)
    if isinstance(value, dict):
        parts = (_packed(key) + _packed(part) for key, part in value.items())
        return _head(len(value), 0x80, 16, (None, 0xDE, 0xDF)) + b"".join(parts)
    return _head(len(value), 0x90, 16, (None, 0xDC, 0xDD)) + b"".join(map(_packed, value))


def _packed_int(value):
    if -32 <= value < 128:
        return struct.pack("b" if value < 0 else "B", value)
    forms = (
        ((0xCC, "B"), (0xCD, "H"), (0xCE, "I"), (0xCF, "Q"))
        if value > 0
        else tuple(zip(range(0xD0, 0xD4), "bhiq", strict=True))
    )
    for first, form in forms:
        try:
            return struct.pack(f">B{form}", first, value)
        except struct.error:
            continue
    raise OverflowError("Integer value out of range")


def _head(size, short, below, firsts):
    if size < below:
        return bytes([short | size])
    width = next(width for width, first in enumerate(firsts) if first is not None and size < 256 ** (2**width))
    return bytes([firsts[width]]) + size.to_bytes(2**width, "big")


def _unpacked(data, at):
    first, at = data[at], at + 1
    if first < 0x80 or first >= 0xE0:
        return (first if first < 0x80 else first - 256), at
    if first in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[first], at
    if 0xCA <= first <= 0xD3:
        form = ">" + "fdBHIQbhiq"[first - 0xCA]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if first < 0x90 or first in (0xDE, 0xDF):
        size, at = (first & 15, at) if first < 0x90 else _size(data, at, first - 0xDD)
        flat, at = _several(data, at, 2 * size)
        return dict(zip(flat[::2], flat[1::2], strict=True)), at
    if first < 0xA0 or first in (0xDC, 0xDD):
        size, at = (first & 15, at) if first < 0xA0 else _size(data, at, first - 0xDB)
        return _several(data, at, size)
    if first in (0xC4, 0xC5, 0xC6):
        size, at = _size(data, at, first - 0xC4)
        return bytes(data[at : at + size]), at + size
    size, at = (first & 31, at) if first < 0xC0 else _size(data, at, first - 0xD9)
    return bytes(data[at : at + size]).decode(), at + size


def _size(data, at, power):
    return int.from_bytes(data[at : at + 2**power], "big"), at + 2**power


def _several(data, at, count):
    found = []
    for _ in range(count):
        value, at = _unpacked(data, at)
        found.append(value)
    return found, at


class _Decoder:
    def __init__(self, type=Any):
        self._form = type

    def decode(self, data):
        return _converted(_unpacked(data, 0)[0], self._form)


def _module(name, **members):
    made = sys.modules[f"{__name__}.{name}"] = types.ModuleType(f"{__name__}.{name}")
    vars(made).update(members)
    return made


structs = _module("structs", replace=replace, asdict=asdict)
json = _module(
    "json",
    encode=lambda value: _json.dumps(to_builtins(value), separators=(",", ":")).encode(),
    decode=lambda data, type=Any: _converted(_json.loads(data), type),
)
msgpack = _module("msgpack", encode=lambda value: _packed(to_builtins(value)), Decoder=_Decoder)
