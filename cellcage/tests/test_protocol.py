"""Messages: values survive the round trip, and malformed messages are refused."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cellcage.calling.perform import perform
from cellcage.protocol import frames
from cellcage.protocol.calls import Call, Failure, Instance, Kind, Line, Reply, Step, answer_bytes, answer_of, call_of
from cellcage.values import codec as values
from cellcage.values.arrays_codec import MAX_ARRAY
from cellcage.values.value import Form, Record, same

# What untrusted code might send.
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=16)
    | st.sampled_from(["array", "tensor", "tuple", "list", "dict", "other", "scalar", "float64"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)  # fmt: skip
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
members = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3), st.tuples, max_leaves=4)
objects = st.recursive(
    plain | numbers | st.sets(members, max_size=4) | st.frozensets(members, max_size=4),
    lambda inner: st.dictionaries(st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True), inner, max_size=3).map(
        lambda fields: Record("Point", fields)
    ),
    max_leaves=8,
)


@given(objects)
def test_values_round_trip(value):
    assert same(values.decode(values.encode(value)), value)


@given(numbers)
def test_arrays_keep_dtype_shape_and_layout(array):
    for sent in (array, array.T, array[..., ::2] if array.ndim else array, np.broadcast_to(array, (2, *array.shape))):
        back = values.decode(values.encode(sent))
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, sent)
        assert back.flags.c_contiguous == sent.flags.c_contiguous or sent.size == 0


CALLS = [
    Call("softmax", [np.ones(3)], {"axis": 0}),
    Call(
        "Block", [np.ones(2)], {}, Instance((8, 2), {"d_head": 4}, {"W_O.weight": np.ones((2, 2))}), [None, np.ones(2)]
    ),
    Call("Block", instance=Instance((8,)), build=True),
    Call("Cache", [4], steps=[Step("append", [np.ones(2)]), Step("len")], memory=10**6),
]
ANSWERS = [
    Reply(np.ones(3), [np.ones(3)], [np.ones(3), None], {"W": np.ones(2)}, {"W": (2, 3)}),
    Failure(Kind.RAISED, "no", "ValueError", (Line("f", 3, "x"),)),
    Failure(Kind.MEMORY, "1600000"),
]


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_calls_round_trip(call):
    again = call_of(call.as_bytes)
    assert again.as_bytes == call.as_bytes
    assert (again.memory, [step.method for step in again.steps]) == (call.memory, [step.method for step in call.steps])
    assert (again.name, again.build, again.instance is None) == (call.name, call.build, call.instance is None)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_answers_round_trip(answer):
    assert answer_bytes(answer_of(answer_bytes(answer))) == answer_bytes(answer)


# ---------------------------------------------------------------- malformed messages


@settings(deadline=None)  # the first tensor imports PyTorch
@given(anything)
def test_reading_any_data_raises_only_wire_error(data):
    with contextlib.suppress(frames.WireError):
        values.decode(data)


@settings(deadline=None)  # the first tensor imports PyTorch
@given(st.dictionaries(st.sampled_from(["reply", "failure", "call", "x"]), anything, max_size=2))
def test_reading_any_message_raises_only_wire_error(message):
    try:
        body = frames.body(message)
    except (OverflowError, ValueError):
        return
    for read in (answer_of, call_of):
        with contextlib.suppress(frames.WireError):
            read(body)


@settings(deadline=None)  # the first tensor imports PyTorch
@given(st.sampled_from([*map(answer_bytes, ANSWERS), *(call.as_bytes for call in CALLS)]), st.data())
def test_reading_a_corrupted_message_raises_only_wire_error(body, data):
    place = data.draw(st.integers(0, len(body) - 1))
    changed = body[:place] + bytes([data.draw(st.integers(0, 255))]) + body[place + 1 :]
    for read in (answer_of, call_of):
        with contextlib.suppress(frames.WireError):
            read(changed)


@given(st.binary(max_size=200))
def test_receiving_any_bytes_raises_only_protocol_errors(data):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        try:
            message = frames.receive(ours, time.monotonic() + 1, frames.Allowance(1000, 1000))
        except (frames.WireError, frames.Closed):
            return
        assert isinstance(message, dict)


@pytest.mark.parametrize(
    "fields",
    [
        ["float64", [2], [0], False, b"12345678"],  # one number for a length of two
        ["float64", [2**40, 2**40], [0, 1], False, b""],  # the size overflows
        ["object", [1], [0], False, b"12345678"],
        ["float64", [-1], [0], False, b""],
        ["float64", [1], [1], False, b"12345678"],
        ["float64", [True], [0], False, b"12345678"],
        ["float64", [], [], True, b"12345678"],  # strided, but without an axis
    ],
)
def test_inconsistent_array_is_refused(fields):
    with pytest.raises(frames.WireError):
        values.decode(["array", *fields])


NOTHING = ["dict", []]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"call": ["f", ["list", []], NOTHING, None, None, 1, False, [], None]}, "not a call"),
        ({"call": ["f", ["tuple", []], NOTHING, None, None, False, False, [], None]}, "not a list"),
        ({"call": ["f", ["list", []], ["dict", [[1, 2]]], None, None, False, False, [], None]}, "not named values"),
        ({"failure": ["memory", "9" * 400, "", []]}, "not a number"),
        ({"failure": ["raised", "", "", [["f", "1", ""]]]}, "not an answer"),
        ({"reply": [None, ["list", []], None, NOTHING, ["dict", [["W", ["list", [-1]]]]]]}, "not a shape"),
    ],
)
def test_malformed_message_is_refused_with_reason(message, reason):
    read = call_of if "call" in message else answer_of
    with pytest.raises(frames.WireError, match=reason):
        read(frames.body(message))


# ---------------------------------------------------------------- time and size


def test_deadline_holds_for_stalled_reader_and_half_message():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        start = time.monotonic()
        with pytest.raises(frames.Deadline):
            frames.send(ours, {"data": bytes(50_000_000)}, start + 0.2)
        theirs.sendall(frames.pack({"a": 1})[:5])
        with pytest.raises(frames.Deadline):
            frames.receive(ours, time.monotonic() + 0.2)
        assert time.monotonic() - start < 5


def test_message_over_the_limit_is_refused_before_it_is_read():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"\x7f\xff\xff\xff")
        with pytest.raises(frames.WireError, match="size limit"):
            frames.receive(ours, time.monotonic() + 1, frames.Allowance(1000, 1000))


def test_message_with_too_many_items_is_refused():
    for before in (None, ["x"], {"a": 1.5}, b"\xdd" * 9):
        body = frames.body({"x": before, "long": bytes(70_000), "things": [None] * 40_000})
        assert len(frames.parse(body)["things"]) == 40_000
        with pytest.raises(frames.WireError, match="too many things"):
            frames.parse(frames.body({"x": before, "things": [None] * frames.MAX_ITEMS}))


def test_too_deep_or_too_large_value_is_replaced_by_its_name():
    deep = []
    for _ in range(values.MAX_DEPTH + 1):
        deep = [deep]
    inner = values.decode(values.encode(deep))
    while isinstance(inner, list):
        (inner,) = inner
    assert inner.form is Form.TOO_DEEP
    large = values.decode(values.encode(np.broadcast_to(np.float64(0), (MAX_ARRAY // 8 + 1,))))
    assert (large.form, large.type_name) == (Form.ARRAY, "16 MB")


def test_frames_sent_together_arrive_one_by_one():
    bodies = [b"", b"small", bytes(50_000), b"x" * 7, bytes(500_000), b"last"]
    ours, theirs = frames.pair()
    with ours, theirs:
        sender = threading.Thread(target=frames.send, args=(ours, {"calls": len(bodies)}, None, bodies))
        sender.start()
        assert frames.receive(theirs) == {"calls": len(bodies)}
        assert [frames.receive_body(theirs) for _ in bodies] == bodies
        sender.join()


# ---------------------------------------------------------------- performing a call


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda array: array[:, ::2]])
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_only_changed_arguments_are_sent_back(layout, kind):
    array = layout(np.arange(12.0).reshape(3, 4))
    argument = pytest.importorskip("torch").from_numpy(array) if kind == "tensor" else array
    call = call_of(Call("f", [argument, [1, np.nan]]).as_bytes)
    assert perform({"f": lambda value, _: value + 1}, call).inputs is None

    def writes(value, _):
        value[0, 0] = 5

    (changed, _) = perform({"f": writes}, call).inputs
    assert changed[0, 0] == 5


def test_call_runs_with_gradients_and_restores_the_mode():
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        assert perform({"f": torch.is_grad_enabled}, Call("f")).value is True
        assert not torch.is_grad_enabled()
    assert perform({"f": lambda: torch.set_grad_enabled(False) and None}, Call("f")).value is None
    assert torch.is_grad_enabled()
