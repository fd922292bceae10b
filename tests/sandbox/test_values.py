"""Sets, objects and tables that come back from a student's call: what a suite sees of them, and what it does not."""

from __future__ import annotations

import dataclasses
import enum
import time
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.course import Exercise
from autograder.diagnosis.fingerprints import fingerprint_of
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.sandbox.protocol import values
from autograder.sandbox.protocol.calls import Reply
from autograder.sandbox.protocol.frames import WireError
from autograder.sandbox.protocol.objects import NoField, Record, Table
from autograder.testing.comparing import same_value
from autograder.testing.expect import kind_of
from autograder.testing.local import Here
from autograder.testing.redaction import redacted
from autograder.testing.session import Suite


def over(value):
    """A value as it arrives on the other side."""
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


# ---------------------------------------------------------------- sets


@pytest.mark.parametrize("value", [set(), {1, "a", None, 2.5}, frozenset({(1, 2), (1, (2, 3))}), {np.float32(1)}])
def test_a_set_comes_as_the_set_it_is(value):
    assert over(value) == value
    assert type(over(value)) is type(value)


def test_a_set_has_the_same_bytes_however_it_was_made():
    assert values.encode({"a", "b", "c", "d"}) == values.encode({"d", "c", "b", "a"})
    one, other = (Reply(over(set(order))) for order in ("abcdef", "fedcba"))
    assert fingerprint_of(one) == fingerprint_of(other)


def test_a_set_that_is_too_large_or_holds_what_cannot_be_in_one_is_named():
    assert kind_of(over(set(range(values.MAX_SET + 1)))) == "something too large, a set of 1025"
    assert over({Colour.RED}).type_name == "set"


# ---------------------------------------------------------------- objects


def test_a_dataclass_and_any_object_come_as_their_public_data():
    point = over(Point(1.5, np.arange(3)))
    assert (point.x, point["x"], point.y.tolist(), point.fields.keys()) == (1.5, 1.5, [0, 1, 2], {"x", "y"})
    assert over(SimpleNamespace(a=1, _b=2)).fields == {"a": 1}
    assert over(Slotted()).fields == {"a": 1}
    assert repr(over(SimpleNamespace(a=1))) == "SimpleNamespace(a=1)"


def test_objects_are_equal_if_their_data_is_whatever_they_are_called():
    assert over(Point(1.5, np.arange(3))) == over(SimpleNamespace(x=1.5, y=np.arange(3)))
    assert over(Point(1.5, np.arange(3))) != over(Point(1.5, np.arange(4)))
    assert same_value(over(Point(1.5, np.ones(2))), over(Point(1.5, np.ones(2) + 1e-9)))
    assert not same_value(over(Point(1.5, np.ones(2))), over(Point(1.5, np.ones(2) + 1)))


@pytest.mark.parametrize("value", [object(), len, Colour.RED, ValueError("x"), np, Point, Nasty(), lambda: 1])
def test_what_has_no_public_data_stays_where_it_is(value):
    assert isinstance(over(value), values.Other)


def test_an_object_is_taken_for_no_array_whatever_its_fields_are_called():
    pretender = over(SimpleNamespace(shape=(2, 2), dtype="float64", detach=1, forward=2, x=3))
    for name in ("shape", "dtype", "detach", "forward", "__array__", "_x", "y"):
        assert not hasattr(pretender, name)
    assert pretender["shape"] == (2, 2)
    assert kind_of(pretender) == "something of type SimpleNamespace"
    with pytest.raises(TypeError):
        list(pretender)


def test_a_tree_with_links_to_parents_comes_without_them():
    root = Node("root")
    Node("leaf", root)
    found = over(root)
    assert found.children[0].name == "leaf"
    assert kind_of(found.children[0].parent) == "something that holds itself"


def test_objects_that_all_know_each_other_take_no_time():
    everybody = [Node(str(number)) for number in range(12)]
    for one in everybody:
        one.children = everybody
    started = time.process_time()
    over(everybody)
    assert time.process_time() - started < 2
    assert kind_of(over(SimpleNamespace(**{f"a{n}": n for n in range(65)}))) == "something of too many objects"


def test_words_of_a_students_class_must_stand_in_the_code_and_are_dropped_once_the_reference_has_answered():
    reply, cells = Reply([Record("Read31415", {"inner": Record("Pair", {})})]), ["class Pair: ..."]
    (record,) = redacted(reply, cells, asked=False).value
    assert (record.type_name, record.inner.type_name) == ("object", "Pair")
    (record,) = redacted(reply, cells, asked=True).value
    assert (record.type_name, record.inner.type_name) == ("object", "object")


# ---------------------------------------------------------------- tables


def test_a_pandas_frame_comes_as_its_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"n": [1, 2], "x": [0.5, None], "word": ["a", None], "when": pandas.to_datetime(["2026-01-02"] * 2)}
    )
    table = over(frame)
    assert (len(table), list(table)) == (2, ["n", "x", "word", "when"])
    assert table["n"].dtype == np.int64
    np.testing.assert_array_equal(table["x"], [0.5, np.nan])
    assert (table["word"], table["when"]) == (["a", None], ["2026-01-02 00:00:00"] * 2)
    assert table.index is None
    assert table == over(frame.copy())
    assert table != over(frame.assign(n=[1, 3]))
    assert table.to_pandas()["n"].tolist() == [1, 2]
    indexed = over(frame.set_index("word"))
    assert (indexed.index, list(indexed)) == (["a", None], ["n", "x", "when"])
    nullable = over(pandas.DataFrame({"n": pandas.array([1, None], dtype="Int64"), "b": pandas.array([True, None])}))
    assert (nullable["n"], nullable["b"]) == ([1, None], [True, None])
    assert over(pandas.DataFrame()).columns == {}


def test_a_frame_backed_by_arrow_comes_as_its_columns_too():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"n": [1, 2], "w": ["a", None]}).convert_dtypes(dtype_backend="pyarrow")
    table = over(frame)
    assert (table["n"], table["w"]) == ([1, 2], ["a", None])


def test_a_frame_that_is_too_large_is_named():
    pandas = pytest.importorskip("pandas")
    assert kind_of(over(pandas.DataFrame({"w": ["a"] * 30_000}))) == "something too large, a DataFrame of 30000 x 1"
    assert kind_of(over(pandas.DataFrame(np.zeros((1, 300))))) == "something too large, a DataFrame of 1 x 300"
    assert over(pandas.DataFrame([[1, 2]], columns=["a", "a"])).type_name == "DataFrame"


def test_a_table_needs_no_pandas():
    table = over(Table({"a": np.arange(3), "b": ["x", None, "y"]}, index=["i", "j", "k"]))
    assert (len(table), table["a"].tolist(), table["b"], table.index) == (
        3,
        [0, 1, 2],
        ["x", None, "y"],
        ["i", "j", "k"],
    )
    assert kind_of(table) == "a table of 3 rows and 2 columns"
    assert same_value(table, over(Table({"a": np.arange(3), "b": ["x", None, "y"]}, index=["i", "j", "k"])))
    assert not hasattr(table, "shape")
    with pytest.raises(NoField, match="no column `c`"):
        table["c"]


# ---------------------------------------------------------------- what is of another form

ARRAY = ["array", "float64", [1], [0], False, bytes(8)]


@pytest.mark.parametrize(
    "data",
    [
        ["set", 1],
        ["set", [ARRAY]],
        ["set", [["list", []]]],
        ["set", list(range(values.MAX_SET + 1))],
        ["frozenset", [["tuple", [["dict", []]]]]],
        ["record", ["P"]],
        ["record", [1, []]],
        ["record", ["not a name", []]],
        ["record", ["P", [["_x", 1]]]],
        ["record", ["P", [["__class__", 1]]]],
        ["record", ["P", [["x", 1], ["x", 2]]]],
        ["record", ["P", [["x"]]]],
        ["record", ["P", [[f"x{n}", n] for n in range(65)]]],
        ["table", [["a"], [], None]],
        ["table", [["a", "a"], [ARRAY, ARRAY], None]],
        ["table", [["a", "b"], [ARRAY, ["list", [1, 2]]], None]],
        ["table", [["a"], [ARRAY], ["list", []]]],
        ["table", [["a"], [["array", "float64", [1, 1], [0, 1], False, bytes(8)]], None]],
        ["table", [["a"], [["list", [["list", []]]]], None]],
        ["table", [["a"], [1], None]],
        ["table", [[1], [ARRAY], None]],
        ["table", [["a"]]],
    ],
)
def test_what_has_not_the_agreed_form_is_refused(data):
    with pytest.raises(WireError):
        values.decode(data)


# ---------------------------------------------------------------- in a suite

SUITE = '''
import pytest


@pytest.mark.exercise("make")
class TestMake:
    def test_data(self, student, reference):
        """A circle of its radius."""
        assert student.make(2.0) == reference.make(2.0), "Which radius?"

    def test_field(self, student):
        """It knows its name."""
        assert student.make(2.0).name == "circle"

    def test_set(self, student):
        """Its tags."""
        assert student.make(2.0).tags == {"round"}
'''


def judged(tmp_path, make):
    path = tmp_path / "a1" / "hidden_tests.py"
    path.parent.mkdir()
    path.write_text(SUITE)
    right = {"make": lambda radius: SimpleNamespace(radius=radius, name="circle", tags={"round"})}
    with Suite([path]) as suite:
        (result,) = judge(Material(suite, right), Here({"make": make}), [Exercise("make", 3.0)])
    return {test.name: test for test in result.tests}


@dataclasses.dataclass
class Circle:
    radius: float
    name: str = "circle"
    tags: set = dataclasses.field(default_factory=lambda: {"round"})


def test_a_suite_compares_objects_and_a_class_of_the_students_own_is_right(tmp_path):
    assert {test.state for test in judged(tmp_path, Circle).values()} == {"passed"}


def test_a_suite_says_which_public_data_is_missing(tmp_path):
    found = judged(tmp_path, lambda radius: SimpleNamespace(radius=radius + 1))
    assert {test.state for test in found.values()} == {"failed"}
    assert found["test_data"].message.endswith("what came back is not what is asked for here. Which radius?")
    assert "gave back something of type SimpleNamespace, which has no public `name`." in found["test_field"].message
