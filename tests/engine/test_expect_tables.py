"""`expect` on tables, and on numbers and exceptions that only Python has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from autograder.judge.redaction import without_words
from autograder.testing import expect
from autograder.testing.call_text import as_text
from autograder.testing.comparing import same_answer
from autograder.testing.functions import Functions, answering
from autograder.testing.student_errors import Raised, RaisedValueError
from autograder.testing.suite import Suite
from cellcage.protocol.calls import Call
from cellcage.values.value import Other

WANTED = pd.DataFrame(
    {"mean": [2.0, 3.5, 4.0], "n": [1, 2, 3], "day": pd.to_datetime(["2024-01-01", "2024-02-01", None])},
    index=pd.Index(["Paris", "Rome", "Oslo"], name="city"),
)
NUMBERED = WANTED.reset_index()
TEXT = pd.Series(["a"]).dtype  # str since pandas 3, object before


def message_of(got, wanted=WANTED, **options):
    with pytest.raises(expect.Mismatch) as caught:
        expect.table(got, wanted, **options)
    return caught.value.text.removeprefix("the result ")


def changed(**columns):
    return WANTED.assign(**columns)


@pytest.mark.parametrize(
    ("got", "text"),
    [
        (None, "returned None (is there a `return`?), not a table."),
        ([1, 2], "returned a list of 2 values, not a table."),
        (Other("Styler"), "returned something of type Styler, not a table."),
        (WANTED["mean"], "is a series of 3 values, it should be a table."),
        (WANTED[:2], "has 2 rows and 3 columns, it should have 3 rows and 3 columns."),
        (WANTED[["n", "day"]],
         "has 3 rows and 2 columns, it should have 3 rows and 3 columns: column 'mean' is missing."),
        (WANTED.rename(columns={"mean": "secret"}),
         "has other columns than asked for: column 'mean' is missing; column 'secret' is not asked for."),
        (NUMBERED, "has 3 rows and 4 columns, it should have 3 rows and 3 columns: 'city' is a column and should be the"
                   " index."),
        (changed(mean=["2.0", "3.5", "4.0"]), f"has dtype {TEXT} in column 'mean' where float64 is wanted."),
        (changed(mean=pd.Series([10**30, 3.5, "4"], index=WANTED.index)), "has dtype object in column 'mean' where"
                                                                            " float64 is wanted."),
        (WANTED.reset_index(drop=True), "has another index than asked for: it is 0 at row 0."),
        (WANTED[::-1], "has the right rows, but they stand in another order."),
        (changed(mean=[2.0, 3.25, np.nan]), "is 3.25 in column 'mean' at row 'Rome', which is not right"
                                            " (2 of 3 values of this column differ)."),
        (changed(mean=[None, 3.5, 4.0]), "is missing in column 'mean' at row 'Paris', which is not right"
                                         " (1 of 3 values of this column differs)."),
        (changed(day=pd.Timestamp("1999-12-31")), "is another time in column 'day' at row 'Paris', which is not right"
                                                  " (3 of 3 values of this column differ)."),
    ],
)  # fmt: skip
def test_message_reports_the_first_relevant_difference(got, text):
    assert message_of(got) == text


def test_irrelevant_differences_are_accepted():
    for got in (
        WANTED[["n", "day", "mean"]],
        WANTED.convert_dtypes(),
        changed(mean=WANTED["mean"] + 1e-9),
        changed(n=WANTED["n"].astype("int32")),
        WANTED.rename_axis("town"),
        WANTED.astype({"day": "datetime64[ns]"}),
    ):
        expect.table(got, WANTED)
    expect.table(WANTED[::-1], WANTED, row_order=False)
    expect.table(NUMBERED[::-1], NUMBERED, row_order=False)
    expect.table(WANTED.set_index(WANTED.index.str.upper()), WANTED, index=False)
    expect.table(changed(mean=WANTED["mean"] + 0.01), WANTED, atol=0.1)
    expect.table(WANTED["mean"].rename("x"), WANTED["mean"])
    expect.table(pd.Index(["a", "b"]), pd.Index(["a", "b"], dtype=object))
    expect.table(WANTED.assign(c=pd.Categorical(["a", "b", "a"])), WANTED.assign(c=["a", "b", "a"]))


def test_options_make_more_differences_relevant():
    assert message_of(WANTED[["n", "mean", "day"]], column_order=True).startswith(
        "has its columns in another order: 'n' is"
    )
    assert (
        message_of(changed(n=WANTED["n"].astype("int32")), dtypes=True)
        == "has dtype int32 in column 'n' where int64 is wanted."
    )
    assert message_of(changed(n=[1, 2, 4])[::-1], row_order=False) == (
        "is 4 in column 'n', which is not right (1 of 3 values of this column differs)."
    )
    assert message_of(NUMBERED.set_index(pd.Index([0, 2, 1])), NUMBERED) == (
        "has an index of its own; its rows should be numbered from 0."
    )
    assert message_of(WANTED.set_index("n", append=True), WANTED[["mean", "day"]]).startswith(
        "has an index of 2 levels"
    )
    assert message_of(pd.Index(["a", "c"]), pd.Index(["a", "b"])) == (
        "is another text at row 1, which is not right (1 of 2 values differs)."
    )


def test_whole_numbers_are_compared_exactly():
    assert message_of(changed(n=[10**9 + 1, 2, 3]), changed(n=[10**9, 2, 3])).startswith("is 1e+09 in column 'n'")


def test_cells_may_hold_any_object():
    odd = pd.DataFrame({"o": [np.ones(2), [1, 1.5], {"a": 1j}]})
    expect.table(odd, odd.copy())
    assert message_of(odd[::-1].reset_index(drop=True), odd) == "has the right rows, but they stand in another order."
    assert message_of(pd.DataFrame({"o": [np.zeros(2), np.ones(2), {}]}), odd).startswith(
        "is another value in column 'o'"
    )


def test_visible_tests_show_expected_values():
    assert message_of(changed(n=[1, 2, 4]), tells=True) == (
        "is 4 in column 'n' at row 'Oslo', wanted 3 (1 of 3 values of this column differs)."
    )
    assert "column 'x' is not asked for" in message_of(WANTED.rename(columns={"n": "x"}), tells=True)
    assert as_text(WANTED[["n"]]) == "DataFrame {'n': [1, 2, 3], 'index': ['Paris', 'Rome', 'Oslo']}"


@pytest.mark.parametrize(
    ("hides_words", "text"),
    [
        (False, "column 'secret' is not asked for"),
        (True, "1 column is not asked for"),
    ],
)
def test_after_the_reference_no_unexpected_column_is_named(hides_words, text):
    answer = answering({"f": lambda: WANTED.assign(secret=1)})
    student = Functions(lambda call: without_words(answer(call), []) if hides_words else answer(call), lambda name: ())
    assert text in message_of(student.f())


def test_texts_in_a_table_are_not_shown():
    assert "31415" not in message_of(changed(n=["31415", "2", "3"]))
    zone = changed(day=WANTED["day"].dt.tz_localize("Etc/GMT+7"))
    assert "GMT" not in message_of(zone, dtypes=True)


SUITE = '''
import pandas as pd
import pytest

from autograder.testing import expect


@pytest.mark.exercise("f")
class TestF:
    def test_series(self, student):
        """One of its columns."""
        expect.table(student.f()[0]["detach"], pd.Series({"detach": 1, "dtype": 3}), "Which one?")
'''


def test_names_of_columns_and_rows_are_not_attributes(tmp_path):
    path = tmp_path / "hidden_tests.py"
    path.write_text(SUITE)
    frame = pd.DataFrame({"detach": [1, 2], "dtype": [1, 1]}, index=["detach", "dtype"])
    names = {"f": lambda: (frame, np.ones(2))}
    suite = Suite([path])
    (test,) = suite.tests
    outcome = suite.run(
        test, Functions(answering(names), lambda name: ()), Functions(answering(names), lambda name: ())
    )
    assert outcome.message() == (
        "f(): the result is 2 at row 'dtype', which is not right (1 of 2 values differs). Which one?"
    )


# ---------------------------------------------------------------- other values


def test_close_compares_any_numbers_and_tables():
    expect.close(1 + 2j + 1e-9, 1 + 2j)
    expect.close(WANTED["mean"] + 1e-9, WANTED["mean"])
    with pytest.raises(expect.Mismatch, match=r"the result is 1\+3j, which is not right"):
        expect.close(1 + 3j, 1 + 2j)
    with pytest.raises(expect.Mismatch):
        expect.close(10**400, 1.0)
    with pytest.raises(expect.Mismatch, match="where a number belongs"):
        expect.close(1 + 0j, 1.0)


def test_changed_table_arguments_are_detected():
    def function(table):
        table["n"] = 0

    student = Functions(answering({"f": function, "g": lambda table: table["n"].sum()}), lambda name: ("table",))
    expect.unchanged(student.g.inputs_after(WANTED), [WANTED], ["table"])
    with pytest.raises(expect.Mismatch, match="table holds other values after the call"):
        expect.unchanged(student.f.inputs_after(WANTED), [WANTED], ["table"])


# ---------------------------------------------------------------- exceptions


class TooYoung(Exception):
    pass


class FarTooYoung(TooYoung, ValueError):
    pass


def raising(error, **names):
    def function():
        raise error

    return Functions(answering({"f": function, **names}), lambda name: ())


def test_raises_accepts_any_exception_class_or_name():
    own = raising(FarTooYoung("no"), TooYoung=TooYoung, FarTooYoung=FarTooYoung)
    for kind in ("FarTooYoung", "TooYoung", TooYoung, ValueError, "ValueError"):
        expect.raises(kind, own.f)
    expect.raises(KeyError, raising(KeyError(1)).f)
    expect.raises(LookupError, raising(KeyError(1)).f)
    expect.raises("JSONDecodeError", raising(__import__("json").JSONDecodeError("no", "", 0)).f)
    with pytest.raises(expect.Mismatch, match=r"raised KeyError: 1\. It should raise TooYoung"):
        expect.raises(TooYoung, raising(KeyError(1)).f)
    with pytest.raises(RaisedValueError, match="raised FarTooYoung: no"):
        own.f()


def test_subclass_of_an_exception_is_another_answer():
    answers = [
        answering({"f": student, "FarTooYoung": FarTooYoung})(Call("f"))
        for student in (lambda: (_ for _ in ()).throw(FarTooYoung()), lambda: [].__getitem__(int("x")))
    ]
    assert [(one.error, one.types[-2:]) for one in answers] == [
        ("FarTooYoung", ("ValueError", "Exception", "BaseException")[-2:]),
        ("ValueError", ("Exception", "BaseException")),
    ]
    assert not same_answer(*answers)


def test_other_exceptions_are_raised_as_raised():
    with pytest.raises(Raised):
        raising(Exception("x")).f()
