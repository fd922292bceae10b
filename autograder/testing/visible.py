"""What a visible test says: what came out, what was wanted, a question, and what went in. None of it is a secret.

    with shown("The sums are 2 and 6. What comes next?", X=X):
        close(expect.array(student.row_means(X)), MEANS)

Whatever goes wrong inside is told with what went in. The question is for wrong numbers; where another shape, another
kind of value or an error in the student's code is what is wrong, another one is asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import numpy as np

from autograder.report import Message
from autograder.testing import expect, tables
from autograder.testing.comparing import same_value
from autograder.testing.expect import Mismatch
from autograder.testing.shape_errors import told
from autograder.testing.student import Raised

FOUR_DIGITS = 1e-4  # the literals of a visible test are rounded to four digits after the point
OF_SHAPES = ("multiplied", "broadcast", "shape", "axis", "axes", "dimension", "unpack")
FEW = 8  # numbers of an answer that are shown whole; of more, the first row that differs


# What is asked where no value is wrong. The question of a test is about its values, unless the test says more.
ASKED = {
    "kind": "What does your code give back, and what does the docstring promise?",
    "shape": "Write down the shape after each step: where does it part from the docstring's?",
    "dtype": "Print the dtype after each line. Where does it part from the one that is asked for?",
    "shapes that do not meet": "Which shape has each part of that line, and which one did you mean it to have?",
}


@contextlib.contextmanager
def shown(question: str, *fits: str, **given: Any) -> Iterator[None]:
    """What goes wrong inside is told with a question, and with the arguments `given`, by name.

    `question` is for wrong values. fits: what else it is for: "kind", "shape", "dtype", "exception"; else the question
    for it stands in `ASKED`, if there is one
    """
    went_in = tuple(f"{name} = {as_text(value)}" for name, value in given.items())
    try:
        yield
    except Mismatch as error:
        asked = question if not error.symptom or error.symptom in fits else ASKED[error.symptom]
        parts = Message(str(error), asked, went_in)
        mismatch = Mismatch(str(parts), cause=error.cause, got=error.got, wanted=_values(error.wanted))
        mismatch.parts, mismatch.symptom = parts, error.symptom
        raise mismatch from None
    except Raised as error:
        said = told(str(error))
        is_of_shapes = any(word in said for word in OF_SHAPES)
        asked = question if "exception" in fits else ASKED["shapes that do not meet"] if is_of_shapes else ""
        parts = Message(said, asked, went_in)
        raised = type(error)(str(parts))
        raised.cause, raised.parts = error.cause, parts
        raise raised from None


def close(got: Any, wanted: Any, what: str = "the result", within: float = FOUR_DIGITS) -> None:
    """Same shape and same numbers, up to the rounding of literals; says both where they differ."""
    got, wanted = np.asarray(expect.numbers(got)), np.asarray(wanted)
    if got.shape != wanted.shape:
        text = f"{what} has shape {got.shape}, it should be {wanted.shape}."
        expect.fail(text, got=got, wanted=wanted, symptom="shape")
    with np.errstate(all="ignore"):
        found, right = got.astype(float), wanted.astype(float)
        same = (found == right) | (np.isnan(found) & np.isnan(right))
        wrong: np.ndarray = ~same & ~(np.abs(found - right) <= within * np.maximum(1.0, np.abs(right)))
    if wrong.any():
        place = () if wrong.size <= FEW else tuple(np.argwhere(wrong)[0][:-1].tolist())
        at = f" at [{', '.join(map(str, place))}]" if place else ""
        count = f" ({wrong.sum()} of {wrong.size} numbers differ)" if wrong.size > 1 else ""
        text = f"{what}{at} came out as `{as_text(got[place])}`, wanted `{as_text(wanted[place])}`{count}."
        expect.fail(text, got=got, wanted=wanted)


def equal(got: Any, wanted: Any, what: str = "the result") -> None:
    """The same value of Python's: a list, a tuple, a number; says both where they differ."""
    if type(got) is not type(wanted):
        expect.fail(f"{what} is {expect.kind_of(got)}, wanted {_kind(wanted)}.", symptom="kind")
    if got != wanted and not same_value(got, wanted):
        expect.fail(f"{what} came out as `{got!r}`, wanted `{wanted!r}`.")


def keeps(function: Any, *arguments: Any, names: str) -> Any:
    """Call with float32: float32 comes back, and the arguments, with `names` apart, stay as they were.

    Gives back the call's value.
    """
    given = [_float32(argument) for argument in arguments]
    value = function(*given)
    for part in value if isinstance(value, tuple) else (value,):
        expect.dtype(part, np.float32)
    expect.unchanged(function.inputs_after(*given), given, names.split())
    return value


def arrives(gradients: Any, names: str) -> None:
    """A gradient, finite and not all zeros, reaches each of the arguments called `names`."""
    for name, gradient in zip(names.split(), gradients, strict=True):
        if gradient is None or not np.any(expect.numbers(gradient)):
            expect.fail(f"no gradient reaches {name}.")
        expect.finite(gradient, what=f"the gradient of {name}")


def as_text(value: Any) -> str:
    """`[[1, 0.1192], [2, 3]]`: an array as a person writes it down."""
    if isinstance(value, date | timedelta):
        return str(value)
    if (table := tables.as_table(value)) is not None:
        columns = [*zip(table.names, table.parts, strict=False), *(("index", level) for level in table.rows or [])]
        listed = [f"{name!r}: [{', '.join(map(as_text, column.plain))}]" for name, column in columns]
        return f"{table.kind} {{{', '.join(listed)}}}"
    if hasattr(value, "detach"):
        value = value.detach().numpy()
    if isinstance(value, np.ndarray):
        return f"[{', '.join(map(as_text, value))}]" if value.ndim else as_text(value.item())
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        number = float(value) + 0.0  # -0 is 0 to whoever reads it
        plain = number == 0 or 5e-5 <= abs(number) < 1e7
        return f"{number:.4f}".rstrip("0").rstrip(".") if plain else f"{number:.2g}"
    return repr(value)


def _values(wanted: Any) -> Any:
    """What is wanted, if it is values: that something else has its shape says nothing."""
    return None if isinstance(wanted, tuple) else wanted


def _float32(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(np.float32)
    return value.float() if hasattr(value, "is_floating_point") and value.is_floating_point() else value


def _kind(value: Any) -> str:
    return f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"
