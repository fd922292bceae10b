"""What a visible test says: what came out, what was wanted, a question, and the arguments. None of it is secret.

    with shown("The sums are 2 and 6. What comes next?", X=X):
        close(expect.array(student.row_means(X)), MEANS)

Whatever fails inside is reported with the arguments. The question is for wrong numbers; for another shape, another kind
of value or an error in the student's code, another question is asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.report import TestMessage
from autograder.testing import expect
from autograder.testing.call_text import as_text
from autograder.testing.mismatch import RESULT, Mismatch
from autograder.testing.student_errors import GENERAL, Raised
from autograder.testing.tolerances import VISIBLE

# What is asked about anything but a wrong value, unless the test's own question fits: by symptom, or by what is said.
SYMPTOMS = {
    "kind": "What does your code return, and what does the docstring promise?",
    "shape": "Write down the shape after each step: where does it differ from the docstring's?",
    "dtype": "Print the dtype after each line. After which line is it no longer the expected one?",
    "error": "Which kind of error does the docstring ask for, and which line should raise it?",
    "changed": "Which line writes into an argument: with an operator such as `+=`, with `x[...] =`, or with `out=`?",
}


@contextlib.contextmanager
def shown(question: str, *fits: str, **given: Any) -> Iterator[None]:
    """Report whatever fails inside with a question, and with the arguments `given`, by name.

    question: for wrong values
    fits: what else it is for: "kind", "shape", "dtype", "changed", "exception"; else the engine asks one of its own
    """
    went_in = tuple(f"{name} = {as_text(value)}" for name, value in given.items())
    try:
        yield
    except Mismatch as error:
        symptom = "changed" if error.reason == expect.CHANGED_ARGUMENT else error.symptom
        asked = question if not symptom or symptom in fits else SYMPTOMS[symptom]
        parts = TestMessage(str(error), asked, went_in)
        # The shape is not passed on as the expected value: another part of the answer may have it by chance.
        wanted = None if isinstance(error.wanted, tuple) else error.wanted
        mismatch = Mismatch(str(parts), "", error.reason, error.got, wanted, error.symptom)
        mismatch.parts = parts
        raise mismatch from None
    except Raised as error:
        asked = question if "exception" in fits and error.hint in GENERAL else error.hint
        error.parts = TestMessage(error.text, asked, went_in)
        raise


def close(got: Any, wanted: Any, what: str = RESULT, within: float = VISIBLE) -> None:
    """`expect.close`, up to the rounding of literals; the message gives both where they differ."""
    expect.close(got, wanted, "", what, within, tells=True)


def equal(got: Any, wanted: Any, what: str = RESULT) -> None:
    """`expect.equal`, and a number's type counts, too; the message gives both."""
    expect.equal(got, wanted, "", what, tells=True)


def keeps(function: Any, *arguments: Any, names: str) -> Any:
    """A call with float32 returns float32, and leaves its arguments unchanged. Returns the call's value.

    names: the names of the arguments, separated by blanks
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


def _float32(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(np.float32)
    return value.float() if hasattr(value, "is_floating_point") and value.is_floating_point() else value
