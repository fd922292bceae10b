"""What a failed check raises, and the words that describe a value in its message."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from msgspec import structs

from autograder.report import TestMessage
from cellcage.values.value import Form, Generated, Other, Record, in_four_digits
from cellcage.values.value_type import described

NONE = "None (is there a `return`?)"
RESULT = "the result"  # what messages call a whole answer
NOT_RIGHT = "the returned value is not the expected one."
# What did not cross the sandbox's boundary, by its form.
OTHERS = {
    Form.TYPE: "something of type {}",
    Form.ARRAY: "an array of {}",
    Form.TENSOR: "a tensor of {}",
    Form.TOO_LARGE: f"{Form.TOO_LARGE.value}, {{}}",
}


@dataclass(frozen=True)
class ArrayDifference:
    """Two arrays that should be equal, and the first `index` at which they are not.

    what: the name of the first array in a message; count: the number of places that differ
    """

    got: np.ndarray
    wanted: np.ndarray
    index: tuple[int, ...]
    what: str
    count: int

    def text(self, index: tuple[int, ...]) -> str:
        """The message, which gives `index` as the place."""
        differs = "differs" if self.count == 1 else "differ"
        others = f" ({self.count} of {self.got.size} values {differs})" if self.got.size > 1 else ""
        return f"{self.what}{place_of(index)} is {number_of(self.got[self.index])}, which is not right{others}."


class IfOthersPass(str):
    """A hint, such as on large sizes, that is given only if no other test finds a wrong value, shape or exception."""


class Mismatch(AssertionError):
    """An answer that is not what the exercise asks for: what happened, and the next step.

    reason: tests that fail for one reason have the same reason, even if their texts differ; empty if there is none
    got: the value that the message is about; it identifies the call that returned it
    wanted: the expected value or its shape; never shown
    symptom: "kind", "shape" or "dtype" if that is wrong; empty if a value is
    difference: the arrays that were compared; never shown
    parts: the message in parts, if a visible test raised it
    """

    parts: TestMessage | None = None

    def __init__(
        self,
        text: str,
        hint: str = "",
        reason: str = "",
        got: Any = None,
        wanted: Any = None,
        symptom: str = "",
        difference: ArrayDifference | None = None,
    ) -> None:
        super().__init__(f"{text} {hint}" if hint else text)
        self.text, self.hint, self.reason, self.got, self.wanted = text, hint, reason, got, wanted
        self.symptom, self.difference = symptom, difference


def fail(
    text: str, hint: str = "", reason: str = "", got: Any = None, wanted: Any = None, symptom: str = ""
) -> NoReturn:
    """Fail with `text` and the next step. The other arguments are those of `Mismatch`."""
    raise Mismatch(text, hint, reason, got, wanted, symptom)


def fail_for_kind(got: Any, expectation: str, hint: str = "", what: str = "") -> NoReturn:
    """Fail because `got` is of the wrong kind; `expectation` follows the name of that kind.

    what: the name of a part of the answer; empty, or `RESULT`, for a whole answer
    """
    is_part = what not in ("", RESULT)
    reason = re.sub(r"\d+", "", kind_of(got))  # one reason for all sizes
    fail(f"{f'{what} is' if is_part else 'returned'} {kind_of(got)}{expectation}.", hint, reason, got, symptom="kind")


def of_part(error: Mismatch, part: str) -> Mismatch:
    """An error about a None that is only a part of the answer, so no `return` is missing. It always asks its hint."""

    def words(text: str) -> str:
        return text.replace(f"returned {NONE}", f"{part} is None", 1).replace(NONE, "None", 1)

    text = f"{words(error.text)} {error.hint}" if error.hint else words(error.text)
    found = Mismatch(text, "", error.reason, symptom=error.symptom)
    found.parts = error.parts and structs.replace(error.parts, happened=words(error.parts.happened))
    return found


def kind_of(got: Any) -> str:
    """What a value is, in words."""
    if got is None:
        return NONE
    if isinstance(got, Other):
        return OTHERS.get(got.form, str(got.form.value)).format(got.type_name)
    if (found := described(got)) is not None:
        return found[0].named(found[1])
    if isinstance(got, np.ndarray):
        return f"an array of shape {got.shape}"
    if isinstance(got, Generated):
        return f"{'an' if got.kind[0] in 'aeiou' else 'a'} {got.kind} of {'more than ' * got.more}{len(got)} values"
    if isinstance(got, tuple | list | set | frozenset | deque | dict):
        name = "dict" if isinstance(got, dict) else type(got).__name__
        return f"a {name} of {len(got)} value{'' if len(got) == 1 else 's'}"
    if isinstance(got, Record):
        return f"something of type {got.type_name}"
    return f"a value of type {type(got).__name__}"


def place_of(index: tuple[int, ...]) -> str:
    """` at [0, 2]`; empty for a plain number."""
    return f" at [{', '.join(map(str, index))}]" if index else ""


def number_of(value: Any) -> str:
    """A number in four digits, with -0 as 0; anything else in an array as Python writes it."""
    if not hasattr(value, "dtype") or value.dtype.kind == "c":
        return in_four_digits(value.item() if hasattr(value, "dtype") else value)
    return f"{value.item() + 0.0:.4g}" if value.dtype.kind == "f" else str(value.item())
