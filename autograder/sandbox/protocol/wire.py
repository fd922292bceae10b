"""What crosses the wall: frames of msgpack that hold plain data and raw array buffers.

A frame is four bytes of length (big endian) and a msgpack body. Values are tagged lists, so that a
tuple stays a tuple and an array its dtype and shape. Never pickle, never a class chosen by the sender.
Both sides use this file; the trusted side passes `limit` and a deadline, and takes nothing on trust:
dtype, shape and byte count must agree before an array is made.
"""

from __future__ import annotations

import math
import select
import socket
import struct
import sys
import time
from typing import Any

import msgpack
import numpy as np

DTYPES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
NAMES = {np.dtype(name): name for name in DTYPES}  # numpy takes its time to spell a dtype's name
MAX_DEPTH = 16  # the deepest honest value is a dictionary of tuples
MAX_AXES = 32
MAX_ARRAY = 16 * 2**20  # bytes; an honest answer has some thousand
MAX_TEXT = 20_000
MAX_ITEMS = 100_000
_LENGTH = struct.Struct(">I")


class WireError(Exception):
    """A frame that is not of the agreed form."""


class Deadline(Exception):
    """The other side did not read or write in time."""


class Closed(Exception):
    """The other side is gone."""


class Other:
    """A value that does not cross the wall; only the name of its type does."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name[:80]

    def __repr__(self) -> str:
        return f"a value of type {self.type_name}"


class Handle:
    """Something that can be called and stays on the side that made it; the other side asks for its answers.

    `order` names its parameters; `parameters` are arrays by name where it is an `nn.Module`, else None.
    """

    def __init__(self, key: str, order: list[str], parameters: dict[str, Any] | None) -> None:
        self.key = key
        self.order = order
        self.parameters = parameters


# ---------------------------------------------------------------- values


def encode(value: Any, depth: int = 0) -> Any:
    """`value` as tagged lists; what has no tag becomes an `Other` with its type's name."""
    kind = type(value)
    if depth > MAX_DEPTH:
        return ["other", "something nested too deeply"]
    if value is None or kind in (bool, float, str) or (kind is int and -(2**63) <= value < 2**63):
        return value[:MAX_TEXT] if kind is str else value
    if kind is np.ndarray:
        return _encode_array("array", value)
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return ["scalar", *_array_fields(np.asarray(value))]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _encode_tensor(value)
    if isinstance(value, tuple):
        return ["tuple", [encode(item, depth + 1) for item in tuple.__iter__(value)]]
    if kind is list:
        return ["list", [encode(item, depth + 1) for item in value]]
    if isinstance(value, dict):
        pairs = [[encode(key, depth + 1), encode(item, depth + 1)] for key, item in dict.items(value)]
        return ["dict", pairs]
    if kind is Handle:
        return ["handle", [value.key, value.order, encode(value.parameters)]]
    return ["other", kind.__name__]


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
        return ["other", f"{tag} of {array.dtype}"]
    if array.nbytes > MAX_ARRAY:
        return ["other", f"{tag} of {array.nbytes >> 20} MB"]
    return [tag, *_array_fields(array)]


def _encode_tensor(tensor: Any) -> list[Any]:
    if str(tensor.layout) != "torch.strided" or str(tensor.dtype).removeprefix("torch.") not in DTYPES:
        return ["other", f"{str(tensor.layout).removeprefix('torch.')} tensor of {tensor.dtype}"]
    return _encode_array("tensor", tensor.detach().cpu().numpy())


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
        if tag == "array":
            return array
        return array[()] if tag == "scalar" else _tensor(array)
    if len(fields) != 1:
        raise WireError("a tagged value has one field")
    if tag == "other" and type(fields[0]) is str:
        return Other(fields[0])
    if tag == "handle":
        return _decode_handle(fields[0], depth)
    if tag in ("list", "tuple", "dict"):
        return _decode_container(tag, fields[0], depth)
    raise WireError("an unknown tag")


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
    result = {}
    for pair in items:
        if type(pair) is not list or len(pair) != 2:
            raise WireError("not a pair")
        key = decode(pair[0], depth + 1)
        if type(key) not in (str, int, bool, float, type(None)):
            key = f"({type(key).__name__})"
        result[key] = decode(pair[1], depth + 1)
    return result


def _decode_array(fields: list[Any]) -> np.ndarray:
    if len(fields) != 5:
        raise WireError("an array has five fields")
    dtype, shape, order, gaps, data = fields
    if type(dtype) is not str or dtype not in DTYPES or type(data) is not bytes or type(gaps) is not bool:
        raise WireError("not an array")
    for numbers in (shape, order):
        if type(numbers) is not list or len(numbers) > MAX_AXES or any(type(n) is not int or n < 0 for n in numbers):
            raise WireError("not a shape")
    axes = list(range(len(shape)))
    if order != axes and sorted(order) != axes:
        raise WireError("not an order of axes")
    if math.prod(shape) * np.dtype(dtype).itemsize != len(data):
        raise WireError("shape and size disagree")
    # An axis of none makes the product nothing, and whoever sums over it would make the rest.
    if not data and math.prod(filter(None, shape)) > MAX_ARRAY:
        raise WireError("an empty array with an endless axis")
    array = np.frombuffer(data, dtype=dtype).reshape([shape[axis] for axis in order])
    array = _with_gaps(array) if gaps else array.copy()
    return array if order == axes else array.transpose(np.argsort(order))


def _with_gaps(array: np.ndarray) -> np.ndarray:
    """The same values as every second item of a wider array, so that it stays non-contiguous."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def _tensor(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array)


# ---------------------------------------------------------------- frames


def body(message: dict[str, Any]) -> bytes:
    """A message as it travels, without its length."""
    # A text may hold half a character, which no UTF-8 can; a question mark takes its place.
    return bytes(msgpack.packb(message, use_bin_type=True, unicode_errors="replace"))


def pack(message: dict[str, Any]) -> bytes:
    """One frame, ready to send."""
    return framed(body(message))


def framed(body: bytes) -> bytes:
    """A frame that holds `body`."""
    return bytes(_LENGTH.pack(len(body)) + body)


class _Count:
    """Stops a message of many small things, each of which takes a hundred times its byte once it is made."""

    def __init__(self) -> None:
        self.left = MAX_ITEMS

    def __call__(self, made: Any) -> Any:
        self.left -= 1 + len(made)
        if self.left < 0:
            raise WireError("too many things in one message")
        return made


def parse(body: bytes) -> dict[str, Any]:
    """The message in `body`; raises `WireError` where there is none."""
    count = _Count()
    try:
        message = msgpack.unpackb(
            body, raw=False, strict_map_key=True, max_array_len=MAX_ITEMS, list_hook=count, object_hook=count
        )
    except Exception as error:
        raise WireError(f"not msgpack ({type(error).__name__})") from None
    if type(message) is not dict:
        raise WireError("a message is a map")
    return message


def send(sock: socket.socket, message: dict[str, Any], deadline: float | None = None) -> None:
    """Send one frame; with a `deadline` (`time.monotonic`) never block past it."""
    send_bytes(sock, pack(message), deadline)


def send_bytes(sock: socket.socket, data: bytes, deadline: float | None = None) -> None:
    """Send all of `data`, never blocking past `deadline`."""
    rest = memoryview(data)
    while rest:
        _in_time(deadline)
        try:
            # Never raise SIGPIPE, and never block: the other side may have stopped reading.
            rest = rest[sock.send(rest, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT) :]
        except BlockingIOError:
            _wait(sock, select.POLLOUT, deadline)
        except OSError as error:
            raise Closed(str(error)) from None


class Allowance:
    """How much may come in: `each` bytes a message, `total` for all of them."""

    def __init__(self, each: int, total: int) -> None:
        self.each, self.left = each, total

    def take(self, size: int) -> None:
        """Account for a message; raises `WireError` where that is too much."""
        if size > min(self.each, self.left):
            raise WireError("a message over the size limit")
        self.left -= size


def receive(sock: socket.socket, deadline: float | None = None, allowance: Allowance | None = None) -> dict[str, Any]:
    """One frame's message; raises `Deadline`, `Closed`, or `WireError` on a malformed one."""
    return parse(receive_body(sock, deadline, allowance))


def receive_body(
    sock: socket.socket, deadline: float | None = None, allowance: Allowance | None = None, start: bytes = b""
) -> bytes:
    """One frame's body, unread, after the bytes of it in `start`; raises as `receive` does."""
    (size,) = _LENGTH.unpack(start + _exactly(sock, _LENGTH.size - len(start), deadline))
    if allowance is not None:
        allowance.take(size)
    return _exactly(sock, size, deadline)


def receive_with_descriptor(sock: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A frame, and the descriptors that came with its first byte. For the inner side: waits without a deadline."""
    first, descriptors, _, _ = socket.recv_fds(sock, 1, 1)
    if not first:
        raise Closed("end of stream")
    return parse(receive_body(sock, start=first)), descriptors


def send_with_descriptor(sock: socket.socket, message: dict[str, Any], passed: socket.socket, deadline: float) -> None:
    """Send a frame whose first byte carries a descriptor; never blocks past `deadline`."""
    frame = pack(message)
    try:
        socket.send_fds(sock, [frame[:1]], [passed.fileno()], socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
    except BlockingIOError:
        raise Deadline from None
    except OSError as error:
        raise Closed(str(error)) from None
    send_bytes(sock, frame[1:], deadline)


def _exactly(sock: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        _in_time(deadline)
        try:
            part = sock.recv(min(size - len(parts), 2**20), socket.MSG_DONTWAIT)
        except BlockingIOError:
            _wait(sock, select.POLLIN, deadline)
            continue
        except OSError as error:
            raise Closed(str(error)) from None
        if not part:
            raise Closed("end of stream")
        parts += part
    return bytes(parts)


def _in_time(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() >= deadline:
        raise Deadline


def _wait(sock: socket.socket, event: int, deadline: float | None) -> None:
    poll = select.poll()
    poll.register(sock, event)
    if deadline is None:
        poll.poll()
        return
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise Deadline
