"""Frames: messages of msgpack on a socket, with a limit and a deadline for whoever does not trust the other side.

A frame is four bytes of length (big endian) and a msgpack body, which is a map.
"""

from __future__ import annotations

import errno
import functools
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgpack

MAX_ITEMS = 100_000  # things in one message; an honest one has some hundred
MAX_DESCRIPTORS = 8  # with one message: a socket, and the files of a control group
_LENGTH = struct.Struct(">I")
# What the kernel says when the machine, or this user, has no more of something. That is nobody's fault who hands in.
SCARCE = frozenset({errno.ETOOMANYREFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
AGAIN_SECONDS = 0.05  # between two tries
Made = TypeVar("Made")


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
    """The message in `body`; raises `WireError` if there is none."""
    # A thing takes a byte at least, so a short message need not be counted.
    count = _Count() if len(body) > MAX_ITEMS else None
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
    rest, flags = memoryview(data), socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT
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


class Allowance:
    """How much may come in: `each` bytes a message, `total` for all of them."""

    def __init__(self, each: int, total: int) -> None:
        self.each, self.left = each, total

    def take(self, size: int) -> None:
        """Account for a message; raises `WireError` if that is too much."""
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


def receive_with_descriptors(sock: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A frame, and the descriptors that came with its first byte. For the inner side: waits without a deadline."""
    first, descriptors, _, _ = socket.recv_fds(sock, 1, MAX_DESCRIPTORS)
    if not first:
        raise Closed("end of stream")
    return parse(receive_body(sock, start=first)), descriptors


def send_with_descriptors(sock: socket.socket, message: dict[str, Any], passed: Sequence[int], deadline: float) -> None:
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
