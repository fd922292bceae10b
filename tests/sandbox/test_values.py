"""How hidden tests see sets, objects, generators and tables that a student's function returns."""

from __future__ import annotations

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.course.assignments import Exercise
from autograder.explain.explaining import judge
from autograder.explain.material import Material
from autograder.judge.rules import GRADING
from autograder.testing.comparing import same_value
from autograder.testing.functions import Functions, Here, answering
from autograder.testing.mismatch import call_about, kind_of
from autograder.testing.suite import Suite
from cellcage.protocol.calls import Call
from cellcage.values import codec as values
from cellcage.values.value import MAX_GENERATED, Generated
from cellcage.values.value_type import for_caller


def sent(value):
    """The value after encoding and decoding."""
    return values.decode(values.encode(value))


def test_objects_are_compared_by_their_data():
    point = sent(SimpleNamespace(x=1.5, y=np.ones(2)))
    assert kind_of(point) == "something of type SimpleNamespace"
    assert same_value(point, sent(SimpleNamespace(x=1.5, y=np.ones(2) + 1e-9)))
    assert not same_value(point, sent(SimpleNamespace(x=1.5, y=np.ones(2) + 1)))


def test_generator_is_read_up_to_a_limit():
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


# ---------------------------------------------------------------- tables


def received(value):
    return for_caller(sent(value))


def frame_of_all_types():
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


def test_pandas_objects_arrive_unchanged():
    pandas = pytest.importorskip("pandas")
    frame = frame_of_all_types()
    many = [
        frame, frame[::-1], frame.set_index("w"), frame.set_index(["n", "w"]), frame[["n"]].T, pandas.DataFrame(),
        pandas.DataFrame(index=[1, 2]), frame.groupby("n").agg({"x": ["mean", "sum"]}),
    ]  # fmt: skip
    for one in many:
        pandas.testing.assert_frame_equal(received(one), one)
    for series in (frame["x"], frame["c"].value_counts(), pandas.Series([1, 2], name=("a", "b"))):
        pandas.testing.assert_series_equal(received(series), series)
    for index in (pandas.Index(["a", "b"]), pandas.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["u", None])):
        pandas.testing.assert_index_equal(received(index), index)
    for moment in ("2024-01-02 03:04:05.123456789", "2024-01-02T00:00+09:00"):
        assert received([pandas.Timestamp(moment)]) == [pandas.Timestamp(moment)]
    assert received(pandas.Timedelta("1s")) == pandas.Timedelta("1s")
    assert received(pandas.NaT) is pandas.NaT
    assert kind_of(sent(frame["x"])) == "a series of 3 values"


def test_function_gets_pandas_objects_inside_lists():
    pandas = pytest.importorskip("pandas")
    student = Functions(
        answering({"f": lambda frames, by: frames[0].groupby(by)["x"].sum()}), lambda name: ("frames", "by")
    )
    got = student.f([pandas.DataFrame({"w": ["a", "b", "a"], "x": [1.0, 2.0, 4.0]})], by="w")
    assert got.to_dict() == {"a": 5.0, "b": 2.0}
    assert call_about(got, student.calls) is student.calls[-1]


# ---------------------------------------------------------------- hidden tests

SUITE = '''
import pytest


@pytest.mark.exercise("make")
class TestMake:
    def test_data(self, student, reference):
        """A circle of its radius."""
        assert student.make(2.0) == reference.make(2.0), "Which radius?"

    def test_field(self, student):
        """It has its name."""
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
    (result,) = judge(Material(suite, right, rules=GRADING), Here({"make": make}), [Exercise("make", 3.0)])
    return {test.name: test for test in result.tests}


@dataclasses.dataclass
class Circle:
    radius: float
    name: str = "circle"
    tags: set = dataclasses.field(default_factory=lambda: {"round"})


def test_students_own_class_is_right(tmp_path):
    assert {test.state for test in judged(tmp_path, Circle).values()} == {"passed"}


def test_missing_public_attribute_is_reported(tmp_path):
    found = judged(tmp_path, lambda radius: SimpleNamespace(radius=radius + 1))
    assert {test.state for test in found.values()} == {"failed"}
    assert found["test_data"].message.endswith("the returned value is not the expected one. Which radius?")
    assert "returned something of type SimpleNamespace, which has no public `name`." in found["test_field"].message
