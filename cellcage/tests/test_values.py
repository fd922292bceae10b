"""Values that leave the sandbox: how they arrive, and which data is refused."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import time
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from cellcage.values import codec as values
from cellcage.values.tables.table import FRAME, Column, Table
from cellcage.values.value import Form, NoField, Other, same
from cellcage.wire import WireError


def sent(value):
    """The value after encoding and decoding."""
    return values.decode(values.encode(value))


@dataclasses.dataclass
class Point:
    x: float
    y: np.ndarray
    _secret: int = 7


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class Node:
    def __init__(self, name, parent=None):
        self.name, self.parent, self.children = name, parent, []
        if parent is not None:
            parent.children.append(self)


class Colour(enum.Enum):
    RED = 1


class Nasty:
    @property
    def __dict__(self):
        raise RuntimeError


# ---------------------------------------------------------------- Python's built-in types


@pytest.mark.parametrize(
    "value",
    [
        set(), {1, "a", None, 2.5}, frozenset({(1, 2), (1, (2, 3))}), {np.float32(1)},
        2**64, -(2**63) - 1, 10**3999, 1 + 2j, b"ab", deque([1, (2, 3)], 5), {(1, 2): 3}, {1j, 10**30},
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_built_in_value_round_trips(value):
    again = sent(value)
    assert type(again) is type(value) and same(again, value)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (10**4100, "an int of many digits"),
        (bytes(2**20 + 1), "bytes of 1048577"),
        (set(range(values.MAX_SET + 1)), "a set of 1025"),
    ],
)
def test_too_large_value_is_replaced_by_its_name(value, name):
    found = sent(value)
    assert (found.form, found.type_name) == (Form.TOO_LARGE, name)


def test_forged_values_are_decoded_quickly():
    """Numbers of a million digits, and keys with equal hashes (-1 and -2 have the same hash)."""
    keys = [["tuple", [-1 - (n >> bit & 1) for bit in range(14)]] for n in range(2**14)]
    started = time.process_time()
    for data in (["integer", "9" * 10**6], ["integer", b"\x7f" * 10**6]):
        with pytest.raises(WireError):
            values.decode(data)
    assert len(values.decode(["dict", [[key, 1] for key in keys]])) == values.MAX_SET + 1
    assert time.process_time() - started < 5


# ---------------------------------------------------------------- objects


def test_object_arrives_as_its_public_data():
    point = sent(Point(1.5, np.arange(3)))
    assert (point.x, point["x"], point.y.tolist(), point.fields.keys()) == (1.5, 1.5, [0, 1, 2], {"x", "y"})
    assert sent(SimpleNamespace(a=1, _b=2)).fields == {"a": 1}
    assert sent(Slotted()).fields == {"a": 1}
    assert repr(sent(SimpleNamespace(a=1))) == "SimpleNamespace(a=1)"
    assert point == sent(SimpleNamespace(x=1.5, y=np.arange(3)))
    assert point != sent(Point(1.5, np.arange(4)))


@pytest.mark.parametrize(
    "value", [object(), len, Colour.RED, {Colour.RED}, ValueError("x"), np, Point, Nasty(), lambda: 1]
)
def test_value_without_public_data_is_not_sent(value):
    assert isinstance(sent(value), Other)


def test_object_with_fields_of_an_array_is_no_array():
    pretender = sent(SimpleNamespace(shape=(2, 2), dtype="float64", detach=1, forward=2, x=3))
    for name in ("shape", "dtype", "detach", "forward", "__array__", "_x", "y"):
        assert not hasattr(pretender, name)
    assert pretender["shape"] == (2, 2)
    with pytest.raises(TypeError):
        list(pretender)


def test_objects_that_refer_to_each_other_are_sent_quickly():
    root = Node("root")
    Node("leaf", root)
    found = sent(root)
    assert (found.children[0].name, found.children[0].parent.form) == ("leaf", Form.ENDLESS)
    nodes = [Node(str(number)) for number in range(12)]
    for one in nodes:
        one.children = nodes
    started = time.process_time()
    sent(nodes)
    assert time.process_time() - started < 2
    assert sent(SimpleNamespace(**{f"a{n}": n for n in range(65)})).form is Form.TOO_MANY


# ---------------------------------------------------------------- tables


def test_pandas_frame_arrives_as_its_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"n": [1, 2], "x": [0.5, None], "word": ["a", None], "when": pandas.to_datetime(["2026-01-02"] * 2)}
    )
    table = sent(frame)
    assert (len(table), list(table)) == (2, ["n", "x", "word", "when"])
    assert table["n"].dtype == np.int64
    np.testing.assert_array_equal(table["x"], [0.5, np.nan])
    assert (table["word"], table["when"]) == (["a", None], [datetime.datetime(2026, 1, 2)] * 2)
    assert table == sent(frame.copy())
    assert table != sent(frame.assign(n=[1, 3]))
    indexed = sent(frame.set_index("word"))
    assert (indexed.rows[0].plain, list(indexed)) == (["a", None], ["n", "x", "when"])
    nullable = sent(pandas.DataFrame({"n": pandas.array([1, None], dtype="Int64"), "b": pandas.array([True, None])}))
    assert (nullable["n"], nullable["b"]) == ([1, None], [True, None])
    assert sent(pandas.DataFrame([[1, 2]], columns=["a", "a"])).form is Form.TWICE
    for large, size in ((pandas.DataFrame({"w": ["a"] * 30_000}), "30000 x 1"), (np.zeros((1, 300)), "1 x 300")):
        assert sent(pandas.DataFrame(large)).type_name == f"a DataFrame of {size}"


def test_table_needs_no_pandas():
    columns = {"a": np.arange(3), "b": ["x", None, "y"]}
    made = Table(FRAME, [Column.of([*columns])], [*map(Column.of, columns.values())], None, [None], [None])
    table = sent(made)
    assert (len(table), table["a"].tolist(), table["b"], table == made) == (3, [0, 1, 2], ["x", None, "y"], True)
    assert not hasattr(table, "shape")
    with pytest.raises(NoField, match="no column `c`"):
        table["c"]


# ---------------------------------------------------------------- malformed data

ARRAY = ["array", "float64", [1], [0], False, bytes(8)]
WHOLE = ["array", "int64", [1], [0], False, b"\x05" + bytes(7)]


def listed(*items):
    return ["list", list(items)]


FLOATS, NO_NAMES = listed("float64", ARRAY), (listed(None), listed(None))


def table_of(kind="DataFrame", labels=("a",), parts=(FLOATS,), rows=None, names=NO_NAMES):
    return [kind, listed(listed("object", listed(*labels))), listed(*parts), rows, *names]


TABLES = [
    table_of(labels=("a", "b")),
    table_of(labels=(["list", []],)),
    table_of(parts=[listed("float64", listed(1.0, 2.0)), listed("float64", ARRAY)], labels=("a", "b")),
    table_of(parts=[listed("no such dtype", listed())]),
    table_of(parts=[listed("float64", ["array", "float64", [1, 1], [0, 1], False, bytes(8)])]),
    table_of(parts=[listed("datetime64[ns]", ARRAY)]),
    *(
        table_of(parts=[listed(f"datetime64[ns, {zone}]", WHOLE)])
        for zone in ("dateutil//etc/passwd", "../x", "/etc/passwd", "A" * 41, "A/../../etc")
    ),
    table_of(parts=[listed("category", WHOLE, listed("object", listed("x")), False)]),  # there is no category 5
    table_of(parts=[listed("category", WHOLE, listed("category", WHOLE), False)]),
    table_of(parts=[listed("object", listed(*range(20_001)))]),
    table_of(parts=[listed("float64", ARRAY)] * 257, labels=range(257)),
    table_of(rows=listed(listed("object", listed()))),
    table_of(names=(listed(None), listed(["list", []]))),
    table_of("Series", ("a", "b"), [listed("float64", ARRAY)] * 2),
]
SCALARS = {
    "integer": (1, b"", bytes(1662), "9" * 10**6, [1]),
    "complex": ([1, 2], [1.0], ["1", 2.0], None),
    "bytes": ("x", bytes(2**20 + 1), [1]),
    "deque": (["list", []], [[1, 2], 1], [[1], "2"], [[1]], [None, None]),
    "generated": ([[1], "generator"], [[1], "a b", True], [[1], "generator", 1], [1, "generator", True]),
}


@pytest.mark.parametrize(
    "data",
    [
        ["set", [ARRAY]],
        ["set", list(range(values.MAX_SET + 1))],
        ["frozenset", [["tuple", [["dict", []]]]]],
        ["record", ["P"]],
        ["record", ["not a name", []]],
        ["record", ["P", [["__class__", 1]]]],
        ["record", ["P", [["x", 1], ["x", 2]]]],
        ["record", ["P", [["x"]]]],
        ["record", ["P", [[f"x{n}", n] for n in range(65)]]],
        *(["table", ["list", table]] for table in TABLES),
        *(["table", data] for data in (None, ["list", []], ["dict", []], [["a"], [ARRAY], None])),
        *([tag, data] for tag, many in SCALARS.items() for data in many),
    ],
)
def test_malformed_data_is_refused(data):
    assert values.decode(["table", ["list", table_of()]])["a"].tolist() == [0]
    with pytest.raises(WireError):
        values.decode(data)
