"""Frames: messages of msgpack on a socket, with a limit and a deadline for whoever does not trust the other side.

A frame is four bytes of length (big endian) and a msgpack body, which is a map: a struct of `messages`, or plain data.
msgspec makes and checks it. What msgspec does not limit is limited here: how many things a message has.
"""

from __future__ import annotations

import errno
import functools
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

import msgspec

MAX_ITEMS = 100_000  # things in one message; an honest one has some hundred
SMALL = 2**14  # bytes from which on a part is sent by itself
MAX_DESCRIPTORS = 8  # with one message: a socket, and the files of a control group
_LENGTH = struct.Struct(">I")
# What the kernel says when the machine, or this user, has no more of something. That is nobody's fault who hands in.
SCARCE = frozenset({errno.ETOOMANYREFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
AGAIN_SECONDS = 0.05  # between two tries
Made = TypeVar("Made")
PLAIN: Any = dict[str, object]  # the form of a message that is a map of plain data


class WireError(Exception):
    """Bytes that are not of the agreed form."""


class Deadline(Exception):
    """The other side did not read or write in time."""


class Closed(Exception):
    """The other side is gone."""


class Exhausted(Exception):
    """The machine has no more of something, such as open files, and waiting did not help; the text says of what."""


def once_there_is_room(act: Callable[[], Made], deadline: float | None = None) -> Made:
    """What `act` gives. While the machine is short of something it is tried again; raises `Exhausted` at last.

    deadline: `time.monotonic` of the last try; None: 10 s from now
    """
    deadline = time.monotonic() + 10 if deadline is None else deadline
    while True:
        try:
            return act()
        except OSError as error:
            if error.errno not in SCARCE:
                raise
            if time.monotonic() > deadline:
                raise Exhausted(f"{error.strerror} (errno {error.errno})") from None
        time.sleep(AGAIN_SECONDS)


def pair() -> tuple[socket.socket, socket.socket]:
    """Two sockets that are connected. Raises `Exhausted`."""
    return once_there_is_room(socket.socketpair)


def body(message: Any) -> bytes:
    """A message, a struct or a map, as it travels, without its length."""
    try:
        return msgspec.msgpack.encode(message)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_with_whole_characters(msgspec.to_builtins(message, builtin_types=(bytes,))))


def _with_whole_characters(data: Any) -> Any:
    """A text may hold half a character, which no UTF-8 can; a question mark takes its place."""
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
    """The message in `body`, checked to be of a form; raises `WireError` if there is none.

    form: a struct, a union of structs, or a map of plain data; what: it is, for the error
    """
    if len(body) > MAX_ITEMS:  # a thing takes a byte at least, so a short message need not be counted
        _count(body)
    try:
        return _reader_of(form).decode(body)
    except msgspec.ValidationError:
        raise WireError(f"not {what}") from None
    except Exception as error:
        raise WireError(f"not msgpack ({type(error).__name__})") from None


@functools.cache
def _reader_of(form: Any) -> Any:
    return msgspec.msgpack.Decoder(form)


# Of msgpack's kinds of data, by their first byte: bytes that follow; for those with a length, bytes of the length and
# what is added to it; for lists and maps, bytes of the length and things for each.
_FOLLOW = dict(zip(range(0xCA, 0xD4), (4, 8, 1, 2, 4, 8, 1, 2, 4, 8), strict=True)) | {
    0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17, 0xC0: 0, 0xC2: 0, 0xC3: 0,
}  # fmt: skip
_SIZED = {0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0), 0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1), 0xD9: (1, 0),
          0xDA: (2, 0), 0xDB: (4, 0)}  # fmt: skip
_MANY = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}


def _count(body: bytes) -> None:
    """Raises `WireError` for a message of many small things, each of which takes a hundred times its byte once made."""
    at, left, room = 0, 1, MAX_ITEMS
    while left > 0 and at < len(body):
        first, at, left = body[at], at + 1, left - 1
        things, counted = 0, 0  # to be read next; an entry of a map counts once
        if first in _SIZED:
            width, more = _SIZED[first]
            at += width + more + int.from_bytes(body[at : at + width], "big")
        elif first in _MANY:
            width, each = _MANY[first]
            counted = int.from_bytes(body[at : at + width], "big")
            things = each * counted
            at += width
        elif 0x80 <= first < 0xA0:  # a short map, a short list
            counted = first & 0x0F
            things = counted * (1 if first & 0x10 else 2)
        elif 0xA0 <= first < 0xC0:  # a short text
            at += first & 0x1F
        else:
            at += _FOLLOW.get(first, 0)
        left, room = left + things, room - counted - (things > 0)
        if room < 0:
            raise WireError("too many things in one message")


def send(sock: socket.socket, message: Any, deadline: float | None = None) -> None:
    """Send one frame; with a `deadline` (`time.monotonic`) never block past it."""
    send_bytes(sock, pack(message), deadline)


def send_bytes(sock: socket.socket, data: bytes, deadline: float | None = None) -> None:
    """Send all of `data`, never blocking past `deadline`."""
    send_all(sock, [data], deadline)


def send_with(sock: socket.socket, message: Any, bodies: Sequence[bytes], deadline: float | None = None) -> None:
    """Send one frame, and after it one for each of `bodies`, which are not copied."""
    lengths = [_LENGTH.pack(len(body)) for body in bodies]
    send_all(sock, [pack(message), *(part for pair in zip(lengths, bodies, strict=True) for part in pair)], deadline)


def send_all(sock: socket.socket, parts: Sequence[bytes], deadline: float | None = None) -> None:
    """Send all parts, one after the other, never blocking past `deadline`."""
    flags = socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT
    for part in _in_few(parts):
        rest = memoryview(part)
        while rest:
            _in_time(deadline)
            try:
                # Never raise SIGPIPE, and never block: the other side may have stopped reading.
                sent = once_there_is_room(functools.partial(sock.send, rest, flags), deadline)
                rest = rest[sent:]
            except BlockingIOError:
                _wait(sock, select.POLLOUT, deadline)
            except OSError as error:
                raise Closed(str(error)) from None


def _in_few(parts: Sequence[bytes]) -> Iterator[bytes | bytearray]:
    """The parts, with small ones joined: a large one is not copied, and student code may call no `sendmsg`."""
    small = bytearray()
    for part in parts:
        if len(part) < SMALL:
            small += part
        else:
            yield small
            yield part
            small = bytearray()
    yield small


class Allowance:
    """How much may come in: `each` bytes a message, `total` for all of them."""

    def __init__(self, each: int, total: int) -> None:
        self.each, self.left = each, total

    def take(self, size: int) -> None:
        """Account for a message; raises `WireError` if that is too much."""
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
    sock: socket.socket,
    deadline: float | None = None,
    allowance: Allowance | None = None,
    *,
    form: Any = PLAIN,
) -> Any:
    """One frame's message; raises `Deadline`, `Closed`, or `WireError` on one that is not of this form."""
    return parse(receive_body(sock, deadline, allowance), form)


def receive_body(
    sock: socket.socket, deadline: float | None = None, allowance: Allowance | None = None, start: bytes = b""
) -> bytes:
    """One frame's body, unread, after the bytes of it in `start`; raises as `receive` does."""
    (size,) = _LENGTH.unpack(start + _exactly(sock, _LENGTH.size - len(start), deadline))
    if allowance is not None:
        allowance.take(size)
    return _exactly(sock, size, deadline)


def receive_with_descriptors(sock: socket.socket, form: Any = PLAIN) -> tuple[Any, list[int]]:
    """A frame, and the descriptors that came with its first byte. For the inner side: waits without a deadline."""
    first, descriptors, _, _ = socket.recv_fds(sock, 1, MAX_DESCRIPTORS)
    if not first:
        raise Closed("end of stream")
    return parse(receive_body(sock, start=first), form), descriptors


def send_with_descriptors(sock: socket.socket, message: Any, passed: Sequence[int], deadline: float) -> None:
    """Send a frame whose first byte carries descriptors; never blocks past `deadline`.

    Raises `Exhausted` if this user has too many descriptors in flight until then (unix(7): ETOOMANYREFS).
    """
    frame, flags = pack(message), socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT
    try:
        once_there_is_room(lambda: socket.send_fds(sock, [frame[:1]], list(passed), flags), deadline)
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
