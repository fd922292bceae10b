"""The checks of a hidden test. A failure gives the place and what came back, and never what was expected.

hint: the student's next step, in one sentence: a question, or a place to look
what: the name of the part of the answer that is checked
tells: whether the message gives the expected value, for visible tests
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from autograder.testing.call_text import as_text
from autograder.testing.comparing import same_value
from autograder.testing.containers import slip_in
from autograder.testing.mismatch import RESULT, ArrayDifference, HiddenText, fail_for_kind, number_of, place_of
from autograder.testing.mismatch import IfOthersPass as IfOthersPass
from autograder.testing.mismatch import Mismatch as Mismatch
from autograder.testing.mismatch import fail as fail
from autograder.testing.mismatch import kind_of as kind_of
from autograder.testing.student_errors import FailedTest, Missing, NotStarted, Raised, Stopped, StudentError
from autograder.testing.tolerances import CHECKED, DIFFERENT, WITHIN
from cellcage.values.arrays_codec import layout
from cellcage.values.codec import WRITERS, encode
from cellcage.values.tables.comparison import How
from cellcage.values.tables.comparison import difference as difference_of_tables
from cellcage.values.value import LONGEST, Form, Generated, Other, float_of, is_tensor, not_close
from cellcage.values.value import numbers as numbers_of
from cellcage.values.value import same as exactly_same
from cellcage.values.value_type import Difference, ValueType, comparable, portable

# Values of these types are compared as they are, and not as arrays.
EXACT = {*WRITERS, str, tuple, list, set, frozenset, dict, deque, Generated} - {int, complex}
NO_ARRAY, NO_NUMBER = ", where an array belongs", ", where a number belongs"
CHANGED_ARGUMENT = "argument"  # a reason
SHOWN = 120  # characters of a line
FEW = 8  # answers of up to so many numbers are shown whole; of larger ones, the first row that differs
WIDE = 16  # of a longer row, only the first number that differs


def array(got: Any, hint: str = "", what: str = RESULT) -> np.ndarray:
    """`got` as a NumPy array; fails if it is something else."""
    if not isinstance(got, np.ndarray):
        fail_for_kind(got, _not(got, "a NumPy array"), hint, what)
    return got


def tensor(got: Any, hint: str = "", what: str = RESULT) -> np.ndarray:
    """The numbers of a PyTorch tensor; fails if `got` is something else."""
    if not is_tensor(got):
        fail_for_kind(got, _not(got, "a PyTorch tensor"), hint, what)
    return np.asarray(got.detach().numpy())


def _not(got: Any, wanted: str) -> str:
    unreadable = isinstance(got, Other) and got.form in (Form.ARRAY, Form.TENSOR)
    return ", which holds no plain numbers" if unreadable else f", not {wanted}"


def pair(got: Any, names: str | Sequence[str] = "(output, weights)") -> tuple[Any, Any]:
    """`got` as a tuple of two; fails if it is something else.

    names: as the message writes the tuple, in one text such as "(x, P)", or as two names
    """
    names = names if isinstance(names, str) else f"({', '.join(names)})"
    if not isinstance(got, tuple) or len(got) != 2:
        fail_for_kind(got, f", not the tuple {names}")
    return got[0], got[1]


def numbers(got: Any, hint: str = "", what: str = RESULT, expectation: str = NO_ARRAY) -> Any:
    """`got` as an array or as one number; fails if it is something else."""
    if isinstance(got, np.ndarray | np.generic | bool | int | float):
        return got
    if is_tensor(got):
        return got.detach().numpy()
    fail_for_kind(got, expectation, hint, what)


def shape(got: Any, wanted: Sequence[int], hint: str = "", what: str = RESULT) -> None:
    """The shape is `wanted`. Shapes are no secret: the docstring of the stub gives them."""
    if not hasattr(got, "shape"):
        fail_for_kind(got, NO_ARRAY, hint, what)
    if tuple(got.shape) != tuple(wanted):
        _fail_for_shape(got, wanted, hint, what, tuple(wanted))


def _fail_for_shape(got: Any, shape: Sequence[int], hint: str, what: str, wanted: Any) -> NoReturn:
    text = f"{what} has shape {tuple(got.shape)}, it should be {tuple(shape)}."
    fail(text, hint, got=got, wanted=wanted, symptom="shape")


def close(
    got: Any, wanted: Any, hint: str = "", what: str = RESULT, atol: float | None = None, tells: bool = False
) -> None:
    """Same shape, and the same finite values within `atol`; by default the tolerance of the coarser dtype.

    If a list of numbers is wanted, it is compared as an array, whether the answer is a list or an array. With `tells`,
    the values need not be finite.
    """
    if comparable(wanted) is not None:
        same(got, wanted, hint, what, WITHIN if atol is None else atol, tells)
        return
    got, wanted = (
        np.asarray(float_of(value[()])) if value.dtype.kind == "O" and not value.ndim else value
        for value in _as_arrays(got, wanted, hint, what, tells)
    )
    if atol is None:
        atol = max(CHECKED.get(got.dtype.name, 0.0), CHECKED.get(wanted.dtype.name, 0.0))
    if not tells:
        finite(got, hint, what)
    kind = complex if "c" in (got.dtype.kind, wanted.dtype.kind) else float
    wrong = not_close(got.astype(kind), wanted.astype(kind), atol)
    if tells and wrong.any() and got.dtype.kind in "iu" and (wanted != np.round(wanted)).any():
        text = f"{what} holds whole numbers only (its dtype is {got.dtype}), where fractions belong."
        fail(text, hint, got=got, wanted=wanted, symptom="dtype")
    _must_be_right(got, wanted, wrong, hint, what, tells)


def _must_be_right(got: np.ndarray, wanted: np.ndarray, wrong: np.ndarray, hint: str, what: str, tells: bool) -> None:
    """Fail if two arrays differ. wrong: where they do"""
    if not wrong.any():
        return
    first = tuple(np.argwhere(wrong)[0].tolist())
    if tells:
        place = () if wrong.size <= FEW else first[:-1] if wrong.shape[-1] <= WIDE else first
        count = f" ({wrong.sum()} of {wrong.size} numbers differ)" if wrong.size > 1 else ""
        one, other = got[place], wanted[place]
        if (got.dtype.kind == "b") != (wanted.dtype.kind == "b"):  # truth values beside numbers: as 1 and 0
            one, other = one + 0, other + 0
        both = f"`{as_text(one)}`, wanted `{as_text(other)}`"
        fail(f"{what}{place_of(place)} came out as {both}{count}.", hint, got=got, wanted=wanted)
    difference = ArrayDifference(got, wanted, first, what, int(wrong.sum()))
    raise Mismatch(difference.text(first), hint, got=got, difference=difference)


def equal(got: Any, wanted: Any, hint: str = "", what: str = RESULT, tells: bool = False) -> None:
    """Same shape and exactly the same values. Everything else is compared as it is, such as None, a text or a table.

    With `tells`, so is a number: its type counts, but not the types of numbers in a container.
    """
    if comparable(wanted) is not None:
        same(got, wanted, hint, what, 0.0, tells)
        return
    if wanted is None or type(wanted) in EXACT or (tells and not hasattr(wanted, "dtype")):
        _must_be_equal(got, wanted, hint, what, tells)
        return
    got, wanted = _as_arrays(got, wanted, hint, what, tells)
    wrong = ~((got == wanted) | ((got != got) & (wanted != wanted)))
    _must_be_right(got, wanted, wrong, hint, what, tells)


def _must_be_equal(got: Any, wanted: Any, hint: str, what: str, tells: bool) -> None:
    """Fail if two values that are no arrays differ, or their types."""
    name = type(wanted).__name__
    if not tells:
        if type(got) is not type(wanted):
            fail_for_kind(got, ", which is not asked for", hint, what)
        if not same_value(got, wanted):
            fail(f"{what}{first_place(got, wanted, same_value)[0]} is not right.", hint, got=got)
    elif type(got) is not type(wanted):
        fail(f"{what} is {kind_of(got)}, wanted {'an' if name[0] in 'aeiou' else 'a'} {name}.", hint, symptom="kind")
    elif slip := slip_in(got, wanted):
        fail(f"{what} holds {slip}.", hint, symptom="kind")
    elif not exactly_same(got, wanted) and not same_value(got, wanted):
        fail(f"{what} came out as `{got!r}`, wanted `{wanted!r}`.", hint)


def first_place(got: Any, wanted: Any, are_same: Callable[[Any, Any], bool]) -> tuple[str, Any]:
    """Where two dicts of the same keys, or two sequences of one length, differ first, and what is there in `got`.

    An empty text and `got` itself if they do not have that.
    """
    keys: Iterable[Any] = ()
    if isinstance(got, dict):
        keys = wanted if got.keys() == wanted.keys() else ()
    elif isinstance(got, list | tuple | deque | Generated) and len(got) == len(wanted):
        keys = range(len(got))
    places = ((f" at [{repr(key)[:LONGEST]}]", got[key]) for key in keys if not are_same(got[key], wanted[key]))
    return next(places, ("", got))


def _as_arrays(got: Any, wanted: Any, hint: str, what: str, tells: bool) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays of numbers, of one shape; complex numbers and lists only if they are wanted."""
    if isinstance(wanted, list | tuple):
        wanted = np.asarray(wanted)
        got = _listed(got, hint, what) if isinstance(got, list | tuple) else got
    kinds = complex if isinstance(wanted, complex) else ()
    expectation = NO_NUMBER if isinstance(wanted, int | float | complex | np.generic) else NO_ARRAY
    got, wanted = (
        np.asarray(value if isinstance(value, kinds) else numbers(value, hint, what, expectation))
        for value in (got, wanted)
    )
    if got.shape != wanted.shape:
        _fail_for_shape(got, wanted.shape, "", what, wanted if tells else wanted.shape)
    return got, wanted


def _listed(value: Sequence[Any], hint: str, what: str) -> np.ndarray:
    """A list of numbers, or of lists of equal length, as an array; fails if it is something else."""
    with contextlib.suppress(ValueError):
        if (found := np.asarray(value)).dtype.kind in "biuf":
            return found
    fail_for_kind(value, ", where a list of numbers belongs", hint, what)


def same(got: Any, wanted: Any, hint: str = "", what: str = RESULT, atol: float = WITHIN, tells: bool = False) -> None:
    """The same value of a registered type, such as a table, numbers within `atol`; see `cellcage.values.value_type`."""
    value_type, found, right = _same_type(got, wanted, hint, what)
    _must_not_differ(value_type.difference(found, right, atol, tells), got, hint, what)


def _same_type(got: Any, wanted: Any, hint: str, what: str) -> tuple[ValueType, Any, Any]:
    """The type of what is wanted, and both values in portable form; fails if one is of another type."""
    right, found = comparable(wanted), comparable(got)
    if right is None:
        raise TypeError(f"a {type(wanted).__name__} is of no registered type")
    if found is None or found[0] is not right[0]:
        fail_for_kind(got, f", not {right[0].named(right[1]).partition(' of ')[0]}", hint, what)
    return right[0], found[1], right[1]


def _must_not_differ(difference: Difference | None, got: Any, hint: str, what: str) -> None:
    if difference is not None:
        symptom = difference.sort if difference.sort in ("kind", "shape", "dtype") else ""
        fail(f"{what} {difference.text}.", hint, got=got, symptom=symptom)


def table(
    got: Any,
    wanted: Any,
    hint: str = "",
    what: str = RESULT,
    *,
    row_order: bool = True,
    column_order: bool = False,
    dtypes: bool = False,
    index: bool = True,
    atol: float = WITHIN,
    tells: bool = False,
) -> None:
    """The same table as `wanted`: a pandas frame, a series or an index.

    The message gives the first thing that is wrong: no table, rows and columns, names of columns, dtypes, index, a
    cell.

    row_order, column_order: whether they must stand in the same order
    dtypes: whether they must be the same; otherwise any dtype of numbers will do for numbers, and of texts for texts
    index: whether it counts, too
    atol: how far floating-point numbers may be off, as in `close`; whole numbers must be equal
    """
    _, found, right = _same_type(got, wanted, hint, what)
    how = How(row_order, column_order, dtypes, index, atol, tells)
    _must_not_differ(difference_of_tables(found, right, how), got, hint, what)


def finite(got: Any, hint: str = "", what: str = RESULT) -> None:
    """No NaN, no infinity."""
    got = np.asarray(numbers(got, hint, what))
    bad = ~np.isfinite(got)
    if bad.any():
        index = tuple(np.argwhere(bad)[0].tolist())
        fail(f"{what}{place_of(index)} is {number_of(got[index])}.", hint, got=got)


def dtype(got: Any, wanted: Any, hint: str = "", what: str = RESULT) -> None:
    """The dtype is `wanted`."""
    if not hasattr(got, "shape"):
        fail_for_kind(got, NO_ARRAY, hint, what)
    name, wanted = str(got.dtype).removeprefix("torch."), str(np.dtype(wanted))
    if name != wanted:
        fail(f"{what} has dtype {name}, it should be {wanted}.", hint, got=got, symptom="dtype")


def change_of(before: Any, after: Any) -> str:
    """Describe how a call changed an array or tensor argument; empty if it did not."""
    if not hasattr(after, "shape"):
        return "" if encode(before)[0] == "other" else "is of another kind"  # it may not be able to cross the boundary
    then, now = numbers_of(before), numbers_of(after)
    if now.shape != then.shape or now.dtype != then.dtype or layout(now) != layout(then):
        return "has another shape, dtype or layout in memory"
    return "" if np.array_equal(now, then, equal_nan=now.dtype.kind in "fc") else "holds other values"


def unchanged(after: Sequence[Any], before: Sequence[Any], names: Sequence[str], hint: str = "") -> None:
    """The arguments are as they were before the call: their values, shapes, dtypes and layouts in memory."""
    if len(after) != len(before):
        fail("the arguments could not be compared before and after the call.")
    for index, (now, then) in enumerate(zip(after, before, strict=True)):
        name = names[index] if index < len(names) else f"argument {index + 1}"
        if comparable(then) is not None:
            if not same_value(portable(now), portable(then)):
                fail(f"{name} holds other values after the call than before.", hint)
        elif hasattr(then, "shape") and (how := change_of(then, now)):
            fail(f"{name} {how} after the call than before.", hint, CHANGED_ARGUMENT)


def differs(one: Any, other: Any, hint: str, what: str = RESULT) -> None:
    """The answers to two different calls are not the same."""
    one, other = (np.asarray(numbers(value, hint, what)) for value in (one, other))
    if one.shape == other.shape and np.allclose(one, other, rtol=0, atol=DIFFERENT, equal_nan=True):
        finite(one, hint, what)  # two NaN may come from different numbers
        fail(f"{what} stays the same.", hint)


def holds(check: Callable[[], Any]) -> bool:
    """Whether a check passes. A test can then give another hint if something simpler is wrong."""
    try:
        check()
    except FailedTest:
        return False
    return True


def raises(kind: type[Exception] | str, call: Callable[[], Any], hint: str = "") -> None:
    """The call raises `kind` or a class derived from it. Pass the name of a class that the notebook defines."""
    name = kind if isinstance(kind, str) else kind.__name__
    try:
        call()
    except (NotStarted, Missing, Stopped):
        raise
    except StudentError as error:
        if (isinstance(error, Raised) and name in error.types) or (isinstance(kind, type) and isinstance(error, kind)):
            return
        fail(f"{error.text} It should raise {name}.", hint, symptom="error")
    else:
        # The value is not described: a constructed object is not an answer.
        fail(f"raised nothing (is there a `raise`?); it should raise {name}.", hint)


def text(
    got: Any, wanted: str, hint: str = "", what: str = "what it prints", *, strict: bool = False, tells: bool = False
) -> None:
    """Two texts are the same line by line, except for blanks at the end of a line and empty lines at the end.

    strict: whether every character counts
    """
    if not isinstance(got, str):
        fail(f"{what} is {kind_of(got)}, where a text belongs.", hint, got=got, symptom="kind")
    lines, right = _lines(got, strict), _lines(wanted, strict)
    for number, (line, expected) in enumerate(zip(lines, right, strict=False), start=1):
        if line != expected:
            quoted = _quoted(got, line)
            rest = f"{', which' * bool(quoted)} is not right{_near_miss(line, expected)}."
            if tells:
                rest = f", wanted `{_shown(expected)}`."
            fail(f"line {number} of {what}{quoted}{rest}", hint, got=got)
    if len(lines) > len(right):
        quoted = _quoted(got, lines[len(right)])
        which = f"{quoted}, which" if quoted else ""
        fail(f"line {len(right) + 1} of {what}{which} should not be there.", hint, got=got)
    if len(lines) < len(right):
        ending = f"ends after line {len(lines)}, but there should be more." if lines else "is empty."
        expected = f" Wanted next: `{_shown(right[len(lines)])}`." if tells else ""
        fail(f"{what} {ending}{expected}", hint, got=got)


def _lines(text: str, strict: bool) -> list[str]:
    if strict:
        return text.split("\n")
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _near_miss(line: str, expected: str) -> str:
    """What the only difference is, if it is one that is easily overlooked; else empty."""
    if line.casefold() == expected.casefold():
        return ", though only small and capital letters differ"
    return ", though only spaces differ" if "".join(line.split()) == "".join(expected.split()) else ""


def _quoted(got: str, line: str) -> str:
    """A line as part of a sentence; empty if no message may show it."""
    return "" if isinstance(got, HiddenText) else f" is `{_shown(line)}`"


def _shown(line: str) -> str:
    """A line with its outer blanks made visible."""
    line = line if line and line == line.strip() else repr(line)
    return line[:SHOWN] + ("…" if len(line) > SHOWN else "")
