"""How to compare values of a type and write them in messages: derive from `Comparison`, and register an object.

In a distribution's `pyproject.toml`, under the tag of the `ValueType`:

    [project.entry-points."autograder.values"]
    span = "dates.span_comparison:SPANS"

All methods get values in portable form. A type without a comparison has the defaults below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from autograder.testing.tolerances import WITHIN
from autograder.testing.values.core.comparing import same_value
from cellcage.values.value_type import ValueType


@dataclass(frozen=True)
class Difference:
    """The first difference that matters, in words that follow `the result`.

    sort: "kind", "shape" or "dtype" if that differs; else any word
    """

    sort: str
    text: str


class Comparison:
    """Compares and describes the values of one type.

    is_array: whether `numpy.asarray` gives their numbers; they are then compared as arrays
    imports: lines that import what `code` uses, by the name used
    """

    is_array = False
    imports: ClassVar[Mapping[str, str]] = {}

    def for_suite(self, value: Any, value_type: ValueType) -> Any:
        """The value as tests get it: the same object each time, so that the call that gave it can be found."""
        return value_type.native(value)

    def named(self, value: Any) -> str:
        """What a value is, with an article: `a table of 3 rows and 2 columns`."""
        return f"a value of type {type(value).__name__}"

    def difference(self, got: Any, wanted: Any, atol: float = WITHIN, tells: bool = False) -> Difference | None:
        """How two values of this type differ; None if they do not.

        atol: how far numbers may be off
        tells: whether the text gives the expected value. If not, the text may have numbers of `got`, but no words that
            student code could have chosen: that code may have called the reference, and could say what it answered
        """
        if same_value(got, wanted):
            return None
        text = f"is `{self.code(got):.60}`, wanted `{self.code(wanted):.60}`" if tells else "is not right"
        return Difference("value", text)

    def compared(self, value: Any) -> Any:
        """The value without what checks ignore by default. Answers are looked up among known mistakes' in this form."""
        return value

    def code(self, value: Any) -> str:
        """Python code that makes the value."""
        return repr(value)

    def shown(self, value: Any, shown: Callable[[Any], str]) -> str:
        """A value as a person writes it down. `shown` does that for its parts."""
        return self.code(value)

    def size(self, value: Any) -> tuple[str, str] | None:
        """A value in a call by its size: `an array (2, 3)`, and `(2, 3)` after a label; None if it is written out."""
        return None

    def axes(self, value: Any) -> tuple[int, ...]:
        """Its lengths, by which the work for a call is guessed."""
        return ()
