"""Functions in C, emptied in the table that their library makes them from.

To replace a module's attribute is not enough: `_imp.create_dynamic` makes the module anew, and the collector knows the
function that was replaced. All of these call what stands in the table (`PyMethodDef`), when they are called.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import types
from collections.abc import Callable

ARGUMENTS = 4  # of a function in C, whatever its flags: the module, arguments, how many or which names, names


class _Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("call", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _Function(ctypes.Structure):
    """A function in C, as Python keeps it."""

    _fields_ = (("head", ctypes.c_char * object.__basicsize__), ("method", ctypes.POINTER(_Method)))


_Call = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * ARGUMENTS)


def empty(function: object, instead: Callable[[], object]) -> None:
    """From now on every function that is made from this one's entry calls `instead`, and gives None.

    Nothing is done for what is no function in C, or if its library's tables cannot be written.
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
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))  # the table keeps no count
    place = ctypes.addressof(method) + _Method.call.offset
    _write(place, bytes(ctypes.cast(made, ctypes.c_void_p)))


def _write(place: int, what: bytes) -> None:
    """Write into memory as far as this process may: the kernel refuses where a table is read-only."""
    reading, writing = os.pipe()
    try:
        os.write(writing, what)
        ctypes.CDLL(None).read(reading, ctypes.c_void_p(place), len(what))
    finally:
        os.close(reading)
        os.close(writing)
