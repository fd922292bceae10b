"""Replaces functions in C in the table (`PyMethodDef`) from which their library creates them.

It is not enough to replace a module's attribute: `_imp.create_dynamic` creates the module again, and the garbage
collector still lists the replaced function. All of these call what the table's entry points to.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import types
from collections.abc import Callable

ARGUMENTS = 4  # most that a function in C gets, whatever its flags: module, arguments, their number or names, names


class _Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("call", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _Function(ctypes.Structure):
    """A function in C, as it is laid out in memory."""

    _fields_ = (("head", ctypes.c_char * object.__basicsize__), ("method", ctypes.POINTER(_Method)))


_Call = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * ARGUMENTS)


def empty(function: object, instead: Callable[[], object]) -> None:
    """From now on every function that is created from this one's entry calls `instead`, and returns None.

    Has no effect if `function` is not a function in C, or if its library's table cannot be written.
    """
    if not isinstance(function, types.BuiltinFunctionType):
        return
    method = _Function.from_address(id(function)).method.contents
    if method.name != function.__name__.encode():
        return

    def call(*_: object) -> None:
        with contextlib.suppress(Exception):
            instead()

    made = _Call(call)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))  # the table holds no reference
    place = ctypes.addressof(method) + _Method.call.offset
    _write(place, bytes(ctypes.cast(made, ctypes.c_void_p)))


def _write(place: int, what: bytes) -> None:
    """Write into this process's memory by a pipe, as the kernel then refuses to write into a read-only table."""
    reading, writing = os.pipe()
    try:
        os.write(writing, what)
        ctypes.CDLL(None).read(reading, ctypes.c_void_p(place), len(what))
    finally:
        os.close(reading)
        os.close(writing)
