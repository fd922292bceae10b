"""What a suite may say about an answer. Each failure carries place and got, and never what was expected.

A `hint` is the next step for the student: a question or a place to look, one sentence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from autograder.report import Message
from autograder.sandbox.protocol.objects import Form, Other
from autograder.sandbox.protocol.scalars import WRITERS, Generated
from autograder.testing import tables
from autograder.testing.comparing import float_of, same_value
from autograder.testing.kinds import kind_as_cause
from autograder.testing.kinds import kind_of as kind_of
from autograder.testing.student import Missing, NotStarted, Raised, Stopped, StudentError

# Honest float32 work is within 3e-6 of the reference on ordinary values. Honest float64 work is within 1e-14, but
# `torch.sqrt(torch.tensor(64))` is a float32 and moves the answer by 1e-7, an epsilon in a denominator by 1e-8.
# The mildest known mistake is 0.01 away.
TOLERANCE = {"float64": 1e-6, "float32": 1e-4, "complex128": 1e-6}
RARE = (complex, Decimal, Fraction)
# What is compared as it is, and not as an array.
EXACT = {*WRITERS, str, tuple, list, set, frozenset, dict, deque, Generated} - {int, complex}


@dataclass(frozen=True)
class Apart:
    """Two arrays that should be equal, the first place where they are not, and what the first one is called.

    wrong: in how many places they are not
    """

    got: np.ndarray
    wanted: np.ndarray
    index: tuple[int, ...]
    what: str
    wrong: int

    def text(self, index: tuple[int, ...]) -> str:
        """What is told of it, with that place in the message."""
        size = self.got.size
        differs = "differs" if self.wrong == 1 else "differ"
        others = f" ({self.wrong} of {size} values {differs})" if size > 1 else ""
        return f"{self.what}{place_of(index)} is {number_of(self.got[self.index])}, which is not right{others}."


class Mismatch(AssertionError):
    """An answer that is not what the exercise asks for: what happened, and the next step.

    cause: what tests that fail for one reason have in common, if not their words
    got: what it is about, by which the call is found that gave it
    wanted: what that should be, or its shape; never told
    apart: what was compared, number by number; never told
    parts: those of the text, if a visible test says it
    symptom: "kind", "shape" or "dtype" if that is what is wrong, and not a value
    """

    symptom: str = ""
    apart: Apart | None = None
    parts: Message | None = None

    def __init__(self, text: str, hint: str = "", cause: str = "", got: Any = None, wanted: Any = None) -> None:
        super().__init__(f"{text} {hint}" if hint else text)
        self.text, self.hint, self.cause, self.got, self.wanted = text, hint, cause, got, wanted


def fail(
    text: str, hint: str = "", cause: str = "", got: Any = None, wanted: Any = None, symptom: str = ""
) -> NoReturn:
    """Fail with `text` and the next step."""
    error = Mismatch(text, hint, cause, got, wanted)
    error.symptom = symptom
    raise error


def array(got: Any, hint: str = "", what: str = "") -> np.ndarray:
    """`got` as a NumPy array; fails where it is something else. `what` names one part of an answer."""
    if not isinstance(got, np.ndarray):
        said = f"{_came_back(what)} {kind_of(got)}, {_unlike(got, 'a NumPy array')}."
        fail(said, hint, kind_as_cause(got), got, symptom="kind")
    return got


def tensor(got: Any, hint: str = "", what: str = "") -> np.ndarray:
    """`got` as numbers of a PyTorch tensor; fails where it is something else. `what` names one part of an answer."""
    if isinstance(got, np.ndarray) or not hasattr(got, "detach"):
        said = f"{_came_back(what)} {kind_of(got)}, {_unlike(got, 'a PyTorch tensor')}."
        fail(said, hint, kind_as_cause(got), got, symptom="kind")
    return np.asarray(got.detach().numpy())


def _unlike(got: Any, wanted: str) -> str:
    """How what came back stands to what was wanted."""
    is_one = isinstance(got, Other) and got.form in (Form.ARRAY, Form.TENSOR)
    return "which holds no plain numbers" if is_one else f"not {wanted}"


def _came_back(what: str) -> str:
    return f"{what} is" if what else "gave back"


def pair(got: Any, names: str = "(output, weights)") -> tuple[Any, Any]:
    """`got` as a tuple of two; fails where it is something else."""
    if not isinstance(got, tuple) or len(got) != 2:
        fail(f"gave back {kind_of(got)}, not the tuple {names}.", cause=kind_as_cause(got), got=got, symptom="kind")
    return got[0], got[1]


def numbers(value: Any) -> Any:
    """`value` as numbers: an array, or one number; fails where it is something else."""
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        return value
    if hasattr(value, "detach"):
        return value.detach().numpy()
    fail(f"gave back {kind_of(value)}, where an array belongs.", cause=kind_as_cause(value), got=value, symptom="kind")


def shape(got: Any, wanted: Sequence[int], hint: str = "", what: str = "the result") -> None:
    """The shape is `wanted`. Shapes are no secret: the docstring of the stub gives them."""
    _check_kind(got)
    if tuple(got.shape) != tuple(wanted):
        said = f"{what} has shape {tuple(got.shape)}, it should be {tuple(wanted)}."
        fail(said, hint, got=got, wanted=tuple(wanted), symptom="shape")


def close(got: Any, wanted: Any, hint: str = "", what: str = "the result", atol: float | None = None) -> None:
    """Same shape, and same finite values within `atol` (by default what honest work needs in the coarser dtype)."""
    if tables.as_table(wanted) is not None:
        table(got, wanted, hint, what, atol=atol)
        return
    got, wanted = (
        np.asarray(float_of(one[()])) if one.dtype.kind == "O" and not one.ndim else one
        for one in _two_arrays(got, wanted)
    )
    shape(got, wanted.shape, what=what)
    if atol is None:
        atol = max(TOLERANCE.get(got.dtype.name, 0.0), TOLERANCE.get(wanted.dtype.name, 0.0))
    finite(got, hint, what)
    kind = complex if "c" in (got.dtype.kind, wanted.dtype.kind) else float
    found, right = got.astype(kind), wanted.astype(kind)
    with np.errstate(all="ignore"):
        wrong = ~(np.abs(found - right) <= atol * np.maximum(1.0, np.abs(right)))
    if wrong.any():
        _wrong_at(got, wanted, wrong, hint, what)


def _wrong_at(got: np.ndarray, wanted: np.ndarray, wrong: np.ndarray, hint: str, what: str) -> NoReturn:
    apart = Apart(got, wanted, tuple(int(i) for i in np.argwhere(wrong)[0]), what, int(wrong.sum()))
    error = Mismatch(apart.text(apart.index), hint, got=got)
    error.apart = apart
    raise error


def equal(got: Any, wanted: Any, hint: str = "", what: str = "the result") -> None:
    """Same shape and exactly the same values; a date, a text, bytes, a table or the like: the same."""
    if tables.as_table(wanted) is not None:
        table(got, wanted, hint, what, atol=0.0)
        return
    if type(wanted) in EXACT:
        if type(got) is not type(wanted):
            fail(f"gave back {kind_of(got)}, which is not asked for.", hint, kind_as_cause(got), got, symptom="kind")
        if not same_value(got, wanted):
            fail(f"{what} is not right.", hint, got=got)
        return
    got, wanted = _two_arrays(got, wanted)
    shape(got, wanted.shape, what=what)
    wrong = ~((got == wanted) | ((got != got) & (wanted != wanted)))
    if wrong.any():
        _wrong_at(got, wanted, wrong, hint, what)


def _two_arrays(got: Any, wanted: Any) -> list[np.ndarray]:
    """Both as arrays of numbers; of those that only Python has, if they are asked for."""
    kinds = RARE if isinstance(wanted, RARE) else ()
    return [np.asarray(one if isinstance(one, kinds) else numbers(one)) for one in (got, wanted)]


def table(
    got: Any,
    wanted: Any,
    hint: str = "",
    what: str = "the result",
    *,
    row_order: bool = True,
    column_order: bool = False,
    dtypes: bool = False,
    index: bool = True,
    atol: float | None = None,
    tells: bool = False,
) -> None:
    """The same table as the one that is wanted: a pandas frame, a series or an index.

    It tells the first thing that matters: no table, rows and columns, names of columns, dtypes, index, the first cell.

    row_order, column_order: must they stand in the same order?
    dtypes: must they be the same? Else numbers are numbers, whatever keeps them, and texts are texts
    index: does it count, too? atol: how far numbers with a point may be off, as in `close`; whole numbers must be equal
    tells: says what is wanted, for visible tests
    """
    right, mine = tables.as_table(wanted), tables.as_table(got)
    if right is None:
        raise TypeError("what is wanted is no table of pandas'")
    if mine is None:
        said = f"{_came_back('')} {kind_of(got)}, not {tables.named(right).partition(' of ')[0]}."
        fail(said, hint, kind_as_cause(got), got, symptom="kind")
    how = tables.How(row_order, column_order, dtypes, index, tables.WITHIN if atol is None else atol, tells)
    if (found := tables.difference(mine, right, how)) is not None:
        symptom = found.sort if found.sort in ("kind", "shape", "dtype") else ""
        fail(f"{what} {found.text}.", hint, got=got, symptom=symptom)


def finite(got: Any, hint: str = "", what: str = "the result") -> None:
    """No NaN, no infinity."""
    got = np.asarray(numbers(got))
    bad = ~np.isfinite(got)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        fail(f"{what}{place_of(index)} is {number_of(got[index])}.", hint, got=got)


def dtype(got: Any, wanted: Any, hint: str = "", what: str = "the result") -> None:
    """The dtype is `wanted`."""
    _check_kind(got)
    name = str(got.dtype).removeprefix("torch.")
    wanted = str(np.dtype(wanted))
    if name != wanted:
        fail(f"{what} has dtype {name}, it should be {wanted}.", hint, got=got, symptom="dtype")


def unchanged(after: Sequence[Any], before: Sequence[Any], names: Sequence[str], hint: str = "") -> None:
    """The arguments hold what they held before the call."""
    if len(after) != len(before):
        fail("the arguments could not be compared before and after the call.")
    for index, (now, then) in enumerate(zip(after, before, strict=True)):
        name = names[index] if index < len(names) else f"argument {index + 1}"
        if (before_it := tables.as_table(then)) is not None:
            if not same_value(tables.as_table(now), before_it):
                fail(f"{name} holds something else after the call than before.", hint)
            continue
        if not isinstance(now, Other) and hasattr(then, "shape") and hasattr(now, "shape"):
            same = now.shape == then.shape and np.array_equal(numbers(now), numbers(then), equal_nan=True)
            if not same:
                fail(f"{name} holds other values after the call than before.", hint)


def differs(one: Any, other: Any, hint: str, what: str = "the result") -> None:
    """Two answers to different questions are not the same."""
    one, other = np.asarray(numbers(one)), np.asarray(numbers(other))
    if one.shape == other.shape and np.allclose(one, other, rtol=0, atol=1e-6, equal_nan=True):
        fail(f"{what} stays the same.", hint)


def holds(check: Callable[[], Any]) -> bool:
    """Does a check pass? For a test that asks another question if something plainer is wrong."""
    try:
        check()
    except (Mismatch, StudentError):
        return False
    return True


def raises(kind: type[Exception] | str, call: Callable[[], Any], hint: str = "") -> None:
    """The call raises `kind`, or what is derived from it. A class of the notebook's own is asked for by its name."""
    name = kind if isinstance(kind, str) else kind.__name__
    try:
        call()
    except (NotStarted, Missing, Stopped):
        raise
    except StudentError as error:
        if (isinstance(error, Raised) and name in error.types) or (isinstance(kind, type) and isinstance(error, kind)):
            return
        fail(f"{error} It should raise {name}.", hint)
    else:
        # What a construction gives back is nobody's value, so that it is not named.
        fail(f"raised nothing; it should raise {name}.", hint)


def cases(*arguments: Any, **more: Any) -> Callable[..., None]:
    """A test of a table of examples: see `autograder.testing.cases.cases`."""
    from autograder.testing.cases import cases as made  # which says what it finds by this module

    return made(*arguments, **more)


def sample(draws: Any, hint: str = "", **asked: Any) -> None:
    """Draws are of the distribution that is asked for: see `autograder.testing.sampling.sample`."""
    from autograder.testing.sampling import sample as judged  # which fails by this module

    judged(draws, hint, **asked)


def text(
    got: Any, wanted: str, hint: str = "", what: str = "what it prints", *, strict: bool = False, tells: bool = False
) -> None:
    """Two texts are the same line by line, but for blanks at the end of a line, and empty lines at the end of all.

    strict: every character counts; tells: with the line that is wanted, as visible tests do
    """
    from autograder.testing.texts import compare

    compare(got, wanted, hint, what, strict, tells)


def figure(got: Any, wanted: Any, hint: str = "", words: bool = False, atol: float = 1e-6) -> None:
    """Two figures show the same: as many axes, and in each the same lines, points, bars, images, wedges and scales.

    Lines may come in another order. Where one has a title, a label or a legend, the other has one, too.
    words: must these say the same? atol: of numbers, as a share of the largest
    """
    from autograder.testing.figures import compare

    compare(got, wanted, hint, words, atol)


def _check_kind(got: Any) -> None:
    """Fails where `got` has no shape to speak of."""
    if not hasattr(got, "shape"):
        fail(f"gave back {kind_of(got)}, where an array belongs.", cause=kind_as_cause(got), got=got, symptom="kind")


def place_of(index: tuple[int, ...]) -> str:
    """` at [0, 2]`; nothing for a plain number."""
    return f" at [{', '.join(map(str, index))}]" if index else ""


def number_of(value: Any) -> str:
    """A number in four digits, without the sign of a zero; or whatever else stands in an array."""
    if not hasattr(value, "dtype") or value.dtype.kind == "c":
        return tables.shown(value.item() if hasattr(value, "dtype") else value)
    return f"{value.item() + 0.0:.4g}" if value.dtype.kind == "f" else str(value.item())
