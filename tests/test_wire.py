"""The message reader takes nothing on trust."""

from __future__ import annotations

import contextlib
import socket
import time

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.sandbox.protocol import wire

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)
numbers = arrays.arrays(
    dtype=st.sampled_from([np.float32, np.float64, np.int64, np.bool_, np.uint8]),
    shape=arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=16)
    | st.sampled_from(["array", "tensor", "tuple", "list", "dict", "other", "scalar", "float64"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)  # fmt: skip


@given(plain)
def test_plain_values_come_back_as_they_were(value):
    assert wire.decode(wire.encode(value)) == value


@given(numbers)
def test_arrays_come_back_as_they_were(array):
    back = wire.decode(wire.encode(array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    turned = wire.decode(wire.encode(array.T))
    np.testing.assert_array_equal(turned, array.T)


@given(anything)
def test_no_message_makes_the_reader_raise_anything_else(data):
    with contextlib.suppress(wire.WireError):
        wire.decode(data)


@given(st.binary(max_size=200))
def test_no_bytes_make_the_receiver_raise_anything_else(data):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        try:
            message = wire.receive(ours, time.monotonic() + 1, wire.Allowance(1000, 1000))
        except (wire.WireError, wire.Closed):
            return
        assert isinstance(message, dict)


@pytest.mark.parametrize(
    "fields",
    [
        ["float64", [2], [0], False, b"12345678"],  # one number, two promised
        ["float64", [2**40, 2**40], [0, 1], False, b""],  # a size that would overflow
        ["object", [1], [0], False, b"12345678"],
        ["float64", [-1], [0], False, b""],
        ["float64", [1], [1], False, b"12345678"],
        ["float64", [True], [0], False, b"12345678"],
    ],
)
def test_lying_arrays_are_refused_before_they_are_made(fields):
    with pytest.raises(wire.WireError):
        wire.decode(["array", *fields])


def test_a_deadline_holds_while_the_other_side_does_not_read():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        start = time.monotonic()
        with pytest.raises(wire.Deadline):
            wire.send(ours, {"data": bytes(50_000_000)}, start + 0.2)
        assert time.monotonic() - start < 5


def test_a_deadline_holds_while_the_other_side_writes_half_a_message():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(wire.pack({"a": 1})[:5])
        with pytest.raises(wire.Deadline):
            wire.receive(ours, time.monotonic() + 0.2)


def test_a_message_over_the_limit_is_refused_before_it_is_read():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"\x7f\xff\xff\xff")
        with pytest.raises(wire.WireError, match="size limit"):
            wire.receive(ours, time.monotonic() + 1, wire.Allowance(1000, 1000))


def test_maps_with_odd_keys_are_refused_or_harmless():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        body = msgpack.packb({1.5: 1, b"x": 2})
        theirs.sendall(len(body).to_bytes(4, "big") + body)
        with pytest.raises(wire.WireError):
            wire.receive(ours, time.monotonic() + 1)
