"""How to add a type of values that may cross the sandbox's boundary: derive from `ValueType`, and register an object.

In a distribution's `pyproject.toml`, where `dates/span_type.py` has the object `SPAN`:

    [project.entry-points."cellcage.values"]
    span = "dates.span_type:SPAN"

A value is sent as plain data: numbers, texts, arrays, and lists of these. The core checks their sizes, dtypes and
depth on both sides, so no type reads bytes. Nothing is pickled.
"""

from __future__ import annotations

from typing import Any


class ValueType:
    """A type of values, or a family of them.

    Such a value has up to three forms: that of untrusted code (`native`), one that needs no package beside NumPy
    (`portable`), and plain data (`parts`). The first two may be the same.

    tag: names it on the wire, beside the tags of all other types
    package: what native values need; empty for Python's own
    """

    tag: str
    package = ""

    def knows(self, kind: type) -> bool:
        """Whether values of this class belong to the type, in native or portable form. Must not import a package."""
        raise NotImplementedError

    def portable(self, value: Any) -> Any:
        """The value in portable form, or an `Other` that says why it cannot cross."""
        return value

    def parts(self, value: Any) -> Any:
        """A portable value as plain data, or an `Other` that says why it cannot cross."""
        raise NotImplementedError

    def made_of(self, parts: Any) -> Any:
        """The portable value of plain data. Raises any exception if `parts` would not have given that data.

        The data may be forged, so its types and sizes must be checked before anything is computed with it.
        """
        raise NotImplementedError

    def native(self, value: Any) -> Any:
        """A portable value in native form, as an object of its own."""
        return value

    def hashable(self, value: Any) -> bool:
        """Whether a portable value may be a member of a set or a key of a dict."""
        return False
