"""Frames: msgpack messages on a socket, with size limits and deadlines for a side that does not trust the other.

A frame is four bytes of length (big endian) and a msgpack body, which is a map: a struct of `messages`, or plain data.
msgspec writes and checks it. msgspec does not limit how many items a message has, so this module does.
"""

from __future__ import annotations

import errno
import functools
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import msgspec

from cellcage.errors import MachineError
from cellcage.wire import MAX_ITEMS
from cellcage.wire import WireError as WireError

MAX_DESCRIPTORS = 8  # with one message: a socket, and the files of a control group
_LENGTH = struct.Struct(">I")
# No SIGPIPE if the other side is gone, and no blocking if it has stopped reading.
_FLAGS = getattr(socket, "MSG_NOSIGNAL", 0) | getattr(socket, "MSG_DONTWAIT", 0)
# The kernel's errors when the machine, or this user, runs out of something. That is never that code's fault.
SCARCE = frozenset({errno.ETOOMANYREFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
RETRY_SECONDS = 0.05
Made = TypeVar("Made")
PLAIN: Any = dict[str, object]  # the type of a message that is a map of plain data


class Deadline(Exception):
    """The other side did not read or write in time. computed: whether it used up its CPU time, see `clock`"""

    def __init__(self, computed: bool = False) -> None:
        super().__init__()
        self.computed = computed


class Closed(Exception):
    """The other side is gone."""


def retry_while_short(act: Callable[[], Made], deadline: float | None = None) -> Made:
    """The result of `act`, which is retried while the machine is short of something, such as open files.

    Raises `MachineError` in the end.

    deadline: `time.monotonic` of the last try; None for 10 s from now
    """
    deadline = time.monotonic() + 10 if deadline is None else deadline
    while True:
        try:
            return act()
        except OSError as error:
            if error.errno not in SCARCE:
                raise
            if time.monotonic() > deadline:
                raise MachineError(f"{error.strerror} (errno {error.errno})") from None
        time.sleep(RETRY_SECONDS)


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets. Raises `MachineError`."""
    return retry_while_short(socket.socketpair)


def body(message: Any) -> bytes:
    """A message, which is a struct or a map, as msgpack, without its length."""
    try:
        return msgspec.msgpack.encode(message)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_with_whole_characters(msgspec.to_builtins(message, builtin_types=(bytes,))))


def _with_whole_characters(data: Any) -> Any:
    """The same data with a question mark for each lone surrogate, which UTF-8 cannot encode."""
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode()
    if isinstance(data, dict):
        return {_with_whole_characters(key): _with_whole_characters(value) for key, value in data.items()}
    return [*map(_with_whole_characters, data)] if isinstance(data, list | tuple) else data


def pack(message: Any) -> bytes:
    """One frame, ready to send."""
    return framed(body(message))


def framed(body: bytes) -> bytes:
    """A frame that holds `body`."""
    return bytes(_LENGTH.pack(len(body)) + body)


@overload
def parse(body: bytes, form: type[Made], what: str = ...) -> Made: ...
@overload
def parse(body: bytes, form: Any = PLAIN, what: str = ...) -> Any: ...
def parse(body: bytes, form: Any = PLAIN, what: str = "of the agreed form") -> Any:
    """The message in `body`. Raises `WireError` if `body` is not a message of this type.

    form: a struct, a union of structs, or a map of plain data; what: the message's name in an error
    """
    if len(body) > MAX_ITEMS:  # an item takes at least a byte, so a short message cannot have too many
        _check_items(body)
    try:
        return _reader_of(form).decode(body)
    except msgspec.ValidationError:
        raise WireError(f"not {what}") from None
    except Exception as error:
        raise WireError(f"not msgpack ({type(error).__name__})") from None


def make_readers(*forms: Any) -> None:
    """Build the decoders for these forms now, so that forked processes need not."""
    for form in forms:
        _reader_of(form)


@functools.cache
def _reader_of(form: Any) -> Any:
    return msgspec.msgpack.Decoder(form)


# msgpack's types by their first byte. Types of fixed size: how many bytes follow. Types with a length: the bytes of the
# length, and how many bytes follow beside those it counts. Lists and maps: bytes of the length, items of an entry.
_FOLLOW = dict(zip(range(0xCA, 0xD4), (4, 8, 1, 2, 4, 8, 1, 2, 4, 8), strict=True)) | {
    0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17, 0xC0: 0, 0xC2: 0, 0xC3: 0,
}  # fmt: skip
_SIZED = {0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0), 0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1), 0xD9: (1, 0),
          0xDA: (2, 0), 0xDB: (4, 0)}  # fmt: skip
_MANY = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}


def _check_items(body: bytes) -> None:
    """Raises `WireError` if a message has too many items: once decoded, a small item takes a hundred times its byte."""
    at, pending, left = 0, 1, MAX_ITEMS
    while pending > 0 and at < len(body):
        first, at, pending = body[at], at + 1, pending - 1
        entries, items = 0, 0  # of a list or a map; an entry of a map is two items and counts once
        if first in _SIZED:
            width, more = _SIZED[first]
            at += width + more + int.from_bytes(body[at : at + width], "big")
        elif first in _MANY:
            width, each = _MANY[first]
            entries = int.from_bytes(body[at : at + width], "big")
            items = each * entries
            at += width
        elif 0x80 <= first < 0xA0:  # a short map or list
            entries = first & 0x0F
            items = entries * (1 if first & 0x10 else 2)
        elif 0xA0 <= first < 0xC0:  # a short text
            at += first & 0x1F
        else:
            at += _FOLLOW.get(first, 0)
        pending, left = pending + items, left - entries - (items > 0)
        if left < 0:
            raise WireError("too many things in one message")


def send(sock: socket.socket, message: Any, deadline: float | None = None, bodies: Sequence[bytes] = ()) -> None:
    """Send one frame, then one for each of `bodies`. Never blocks past `deadline` (`time.monotonic`)."""
    send_all(sock, b"".join([pack(message), *map(framed, bodies)]), deadline)


def send_all(sock: socket.socket, data: bytes, deadline: float | None = None) -> None:
    """Send all of `data`. Never blocks past `deadline`."""
    rest = memoryview(data)
    while rest:
        _check_time(deadline)
        try:
            rest = rest[retry_while_short(functools.partial(sock.send, rest, _FLAGS), deadline) :]
        except BlockingIOError:
            _wait(sock, select.POLLOUT, deadline)
        except OSError as error:
            raise Closed(str(error)) from None


class Allowance:
    """How many bytes may be received: `each` in one message, `total` in all of them."""

    def __init__(self, each: int, total: int) -> None:
        self.each, self.left = each, total

    def take(self, size: int) -> None:
        """Account for a message of this size. Raises `WireError` if it is over a limit."""
        if size > min(self.each, self.left):
            raise WireError("a message over the size limit")
        self.left -= size


@overload
def receive(
    sock: socket.socket, deadline: float | None = None, allowance: Allowance | None = None, *, form: type[Made]
) -> Made: ...
@overload
def receive(
    sock: socket.socket, deadline: float | None = None, allowance: Allowance | None = None, *, form: Any = ...
) -> Any: ...
def receive(
    sock: socket.socket, deadline: float | None = None, allowance: Allowance | None = None, *, form: Any = PLAIN
) -> Any:
    """The next frame's message. Raises `Deadline`, `Closed`, or `WireError` if it is not of this type."""
    return parse(receive_body(sock, deadline, allowance), form)


def receive_body(
    sock: socket.socket, deadline: float | None = None, allowance: Allowance | None = None, start: bytes = b""
) -> bytes:
    """The next frame's body, undecoded. Raises as `receive` does. start: the first bytes, if they were read before."""
    (size,) = _LENGTH.unpack(start + _exactly(sock, _LENGTH.size - len(start), deadline))
    if allowance is not None:
        allowance.take(size)
    return _exactly(sock, size, deadline)


def receive_whole(sock: socket.socket, most: int, form: Any) -> Any:
    """The message of the one frame that has come, of at most so many bytes. Never waits for more.

    Raises `BlockingIOError` if nothing has come, and `WireError` also for part of a frame, and for more than one.
    """
    try:
        data = sock.recv(most, socket.MSG_DONTWAIT)
    except ConnectionError as error:
        raise Closed(str(error)) from None
    if not data:
        raise Closed("end of stream")
    if data != framed(data[_LENGTH.size :]):
        raise WireError("not one message")
    return parse(data[_LENGTH.size :], form)


def receive_with_descriptors(sock: socket.socket, form: Any = PLAIN) -> tuple[Any, list[int]]:
    """The next frame's message, and the descriptors that came with its first byte. Waits without a deadline."""
    first, descriptors, _, _ = socket.recv_fds(sock, 1, MAX_DESCRIPTORS)
    if not first:
        raise Closed("end of stream")
    return parse(receive_body(sock, start=first), form), descriptors


def send_with_descriptors(sock: socket.socket, message: Any, passed: Sequence[int], deadline: float) -> None:
    """Send a frame whose first byte carries descriptors. Never blocks past `deadline`.

    Raises `MachineError` if this user still has too many descriptors in flight then (unix(7): ETOOMANYREFS).
    """
    frame = pack(message)
    try:
        retry_while_short(lambda: socket.send_fds(sock, [frame[:1]], list(passed), _FLAGS), deadline)
    except BlockingIOError:
        raise Deadline from None
    except OSError as error:
        raise Closed(str(error)) from None
    send_all(sock, frame[1:], deadline)


def _exactly(sock: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        _check_time(deadline)
        try:
            part = sock.recv(min(size - len(parts), 2**20), socket.MSG_DONTWAIT)
            if len(part) == size:
                return part
        except BlockingIOError:
            _wait(sock, select.POLLIN, deadline)
            continue
        except OSError as error:
            raise Closed(str(error)) from None
        if not part:
            raise Closed("end of stream")
        parts += part
    return bytes(parts)


def _check_time(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() >= deadline:
        raise Deadline


def readable(sock: socket.socket, seconds: float) -> bool:
    """Wait at most so long until there is something to read, or the other side is gone. False if there is nothing."""
    try:
        _wait(sock, select.POLLIN, time.monotonic() + seconds)
    except Deadline:
        return False
    return True


def _wait(sock: socket.socket, event: int, deadline: float | None) -> None:
    poll = select.poll()
    poll.register(sock, event)
    if not poll.poll(None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000):
        raise Deadline
