"""Sets, objects and tables that come back from a student's call: what a suite sees of them, and what it does not."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import itertools
import time
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.course.assignments import Exercise
from autograder.diagnosis.fingerprints import fingerprint_of
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.testing.expect import kind_of
from autograder.testing.hidden_tests import Suite
from autograder.testing.local import Here, answering
from autograder.testing.redaction import without_words
from autograder.testing.student import Student
from autograder.testing.values.comparisons import for_suite
from autograder.testing.values.core.comparing import same_value
from cellcage.calling.perform import perform
from cellcage.protocol.calls import Call, Reply
from cellcage.protocol.frames import WireError
from cellcage.values import codec as values
from cellcage.values.core.objects import NoField, Other, Record
from cellcage.values.core.scalars_codec import MAX_GENERATED, Generated
from cellcage.values.tables.pandas_tables import table_from
from tests.helpers.calls import frame_of


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
    assert isinstance(over(value), Other)


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


def test_names_of_classes_are_dropped_once_the_reference_has_answered():
    record = without_words(Reply(Record("Read31415", {"inner": Record("Pair", {})})), ["class Pair: ..."]).value
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
    assert (table["word"], table["when"]) == (["a", None], [datetime.datetime(2026, 1, 2)] * 2)
    assert table.rows is None
    assert table == over(frame.copy())
    assert table != over(frame.assign(n=[1, 3]))
    assert for_suite(table)["n"].tolist() == [1, 2]
    indexed = over(frame.set_index("word"))
    assert (indexed.rows[0].plain, list(indexed)) == (["a", None], ["n", "x", "when"])
    nullable = over(pandas.DataFrame({"n": pandas.array([1, None], dtype="Int64"), "b": pandas.array([True, None])}))
    assert (nullable["n"], nullable["b"]) == ([1, None], [True, None])
    assert (over(pandas.DataFrame()).names, over(pandas.DataFrame()).parts) == ([], [])


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


def test_a_table_needs_no_pandas():
    table = over(frame_of({"a": np.arange(3), "b": ["x", None, "y"]}, index=["i", "j", "k"]))
    assert (len(table), table["a"].tolist(), table["b"], table.rows[0].given) == (
        3,
        [0, 1, 2],
        ["x", None, "y"],
        ["i", "j", "k"],
    )
    assert kind_of(table) == "a table of 3 rows and 2 columns"
    assert same_value(table, over(frame_of({"a": np.arange(3), "b": ["x", None, "y"]}, index=["i", "j", "k"])))
    assert not hasattr(table, "shape")
    with pytest.raises(NoField, match="no column `c`"):
        table["c"]


# ---------------------------------------------------------------- what is of another form

ARRAY = ["array", "float64", [1], [0], False, bytes(8)]
WHOLE = ["array", "int64", [1], [0], False, b"\x05" + bytes(7)]


def listed(*items):
    return ["list", list(items)]


FLOATS, NO_NAMES = listed("float64", ARRAY), (listed(None), listed(None))


def table_of(kind="DataFrame", labels=("a",), parts=(FLOATS,), rows=None, names=NO_NAMES):
    return [kind, listed(listed("object", listed(*labels))), listed(*parts), rows, *names]


TABLES = [
    table_of("Group"),
    table_of(labels=("a", "b")),
    table_of(labels=("a", "a"), parts=[listed("float64", ARRAY)] * 2),
    table_of(labels=(["list", []],)),
    table_of(parts=[listed("float64", listed(1.0, 2.0)), listed("float64", ARRAY)], labels=("a", "b")),
    table_of(parts=[listed("float32", ARRAY)]),
    table_of(parts=[listed("no such dtype", listed())]),
    table_of(parts=[listed("float64", ["array", "float64", [1, 1], [0, 1], False, bytes(8)])]),
    table_of(parts=[listed("datetime64[ns]", listed(1))]),
    table_of(parts=[listed("datetime64[ns]", ARRAY)]),
    *(
        table_of(parts=[listed(f"datetime64[ns, {zone}]", WHOLE)])
        for zone in ("dateutil//etc/passwd", "../x", "/etc/passwd", "A" * 41, "A/../../etc")
    ),
    table_of(parts=[listed("category", WHOLE, listed("object", listed("x")), False)]),  # of which there is no number 5
    table_of(parts=[listed("category", WHOLE, listed("category", WHOLE), False)]),
    table_of(parts=[listed("category", WHOLE)]),
    table_of(parts=[listed("object", listed(*range(20_001)))]),
    table_of(parts=[listed("float64", ARRAY)] * 257, labels=range(257)),
    table_of(rows=listed()),
    table_of(rows=listed(listed("object", listed()))),
    table_of(names=(listed(), listed(None))),
    table_of(names=(listed(None), listed(["list", []]))),
    table_of("Index"),
    table_of("Series", ("a", "b"), [listed("float64", ARRAY)] * 2),
    table_of("Timestamp"),
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
        *(["table", ["list", table]] for table in TABLES),
        *(["table", data] for data in (None, ["list", []], ["dict", []], [["a"], [ARRAY], None])),
        *([tag, data] for tag, many in SCALARS.items() for data in many),
    ],
)
def test_what_has_not_the_agreed_form_is_refused(data):
    assert values.decode(["table", ["list", table_of()]])["a"].tolist() == [0]
    with pytest.raises(WireError):
        values.decode(data)


# ---------------------------------------------------------------- of Python's library


@pytest.mark.parametrize(
    "value",
    [
        2**64, -(2**63) - 1, 10**3999, 1 + 2j, b"ab", deque([1, (2, 3)], 5), {(1, 2): 3},
        {1j, 10**30}, {np.int64(3): 1},
    ],
    ids=repr,
)  # fmt: skip
def test_what_pythons_library_has_comes_as_it_is(value):
    again = over(value)
    assert again == value and type(again) is type(value) and same_value(again, value)
    assert fingerprint_of(Reply(again)) == fingerprint_of(Reply(value))


def test_numpys_own_texts_come_as_pythons():
    assert over(np.str_("x")) == "x"
    assert over(np.complex128(1j)) == 1j


@pytest.mark.parametrize(
    ("value", "said"),
    [(10**4100, "an int of many digits"), (bytes(2**20 + 1), "bytes of 1048577")],
)
def test_what_is_too_large_to_be_read_is_named(value, said):
    assert kind_of(over(value)) == f"something too large, {said}"


def test_numbers_of_a_million_digits_are_refused_in_no_time():
    started = time.process_time()
    for data in (["integer", "9" * 10**6], ["integer", b"\x7f" * 10**6]):
        with pytest.raises(WireError):
            values.decode(data)
    assert time.process_time() - started < 0.5


def test_keys_of_one_hash_take_no_time():
    """-1 and -2 have one hash, so these tuples do, too; of dates and the like only so many are read as they are."""
    keys = [["tuple", [-1 - (n >> bit & 1) for bit in range(14)]] for n in range(2**14)]
    started = time.process_time()
    found = values.decode(["dict", [[key, 1] for key in keys]])
    assert time.process_time() - started < 5
    assert len(found) == values.MAX_SET + 1


def test_a_generator_is_read_up_to_a_stated_number_of_items():
    def judged(function):
        return answering({"f": function})(Call("f"))

    def squares():
        yield from (n * n for n in itertools.count())

    def breaks():
        yield 1
        raise KeyError("no")

    reply = judged(squares)
    assert (len(reply.value), reply.value[:3], reply.value.more) == (MAX_GENERATED, [0, 1, 4], True)
    assert kind_of(reply.value) == "a generator of more than 1000 values"
    mapped = judged(lambda: map(str, [1, 2]))
    assert (list(mapped.value), mapped.value.kind, kind_of(mapped.value)) == (["1", "2"], "map", "a map of 2 values")
    assert mapped.value != ["1", "2"] and not same_value(mapped.value, ["1", "2"])
    assert mapped.value == (again := judged(lambda: (str(n) for n in (1, 2))).value) and same_value(mapped.value, again)
    assert not same_value(mapped.value, Generated(["1", "2"], "map", more=True))
    assert judged(breaks).error == "KeyError"
    given = answering({"f": lambda numbers: (next(numbers), list(numbers))})(Call("f", [Generated([1, 2, 3])]))
    assert given.value == (1, [2, 3])


# ---------------------------------------------------------------- of pandas


def as_it_arrives(value):
    return for_suite(over(value))


def frame_of_all():
    import pandas

    return pandas.DataFrame(
        {
            "n": [1, 2, 3], "x": [0.5, None, 2], "w": ["a", None, "c"],
            "t": pandas.to_datetime(["2024-01-02", None, "2025-01-01"]),
            "zone": pandas.to_datetime(["2024-01-02", "2024-01-03", "2025-01-01"]).tz_localize("Europe/Berlin"),
            "c": pandas.Categorical(["lo", "hi", None], ["lo", "mid", "hi"], ordered=True),
            "N": pandas.array([1, None, 3], dtype="Int64"), "B": pandas.array([True, None, False]),
            "s": pandas.array(["a", None, "b"], dtype="string"), "td": pandas.to_timedelta([1, 2, None], unit="s"),
            "o": [10**30, b"x", [1, 2]], "u": np.array([1, 2, 3], dtype="uint16"),
            "p": pandas.period_range("2024-01", periods=3, freq="M"),
        }
    )  # fmt: skip


def test_frames_arrive_as_pandas_has_them_wherever_a_course_uses_pandas():
    pandas = pytest.importorskip("pandas")
    frame = frame_of_all()
    many = [
        frame, frame[::-1], frame.set_index("w"), frame.set_index(["n", "w"]), frame[["n"]].T, pandas.DataFrame(),
        pandas.DataFrame(index=[1, 2]), frame.groupby("n").agg({"x": ["mean", "sum"]}),
    ]  # fmt: skip
    for one in many:
        pandas.testing.assert_frame_equal(as_it_arrives(one), one)
    for series in (frame["x"], frame["c"].value_counts(), pandas.Series([1, 2], name=("a", "b"))):
        pandas.testing.assert_series_equal(as_it_arrives(series), series)
    for index in (pandas.Index(["a", "b"]), pandas.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["u", None])):
        pandas.testing.assert_index_equal(as_it_arrives(index), index)
    for moment in ("2024-01-02 03:04:05.123456789", "2024-01-02T00:00+09:00"):
        assert as_it_arrives([pandas.Timestamp(moment)]) == [pandas.Timestamp(moment)]
    assert as_it_arrives(pandas.Timedelta("1s")) == pandas.Timedelta("1s")
    assert as_it_arrives(pandas.NaT) is pandas.NaT
    assert kind_of(over(frame["x"])) == "a series of 3 values"


def test_a_function_gets_pandas_own_and_whatever_is_in_lists():
    pandas = pytest.importorskip("pandas")
    student = Student(
        answering({"f": lambda frames, by: frames[0].groupby(by)["x"].sum()}), lambda name: ("frames", "by")
    )
    got = student.f([pandas.DataFrame({"w": ["a", "b", "a"], "x": [1.0, 2.0, 4.0]})], by="w")
    assert got.to_dict() == {"a": 5.0, "b": 2.0}
    assert student.calls.that_gave(got) is student.calls.last


def test_each_call_gets_a_frame_of_its_own():
    pandas = pytest.importorskip("pandas")

    def write(frame, function):
        frame["n"] = function(1)
        return frame.attrs

    call = Call("f", [table_from(pandas.DataFrame({"n": [5]})), abs])
    assert perform({"f": write}, call).value == {}
    assert perform({"f": lambda frame, _: frame["n"].tolist() * 2}, Call("f", [call.args[0], -1])).value == [5, 5]


def test_two_columns_of_one_name_are_told():
    pandas = pytest.importorskip("pandas")
    twice = over(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    assert kind_of(twice) == "a table in which two columns have one name"


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
    suite = Suite([path])
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
    assert found["test_data"].message.endswith("the returned value is not the expected one. Which radius?")
    assert "gave back something of type SimpleNamespace, which has no public `name`." in found["test_field"].message
