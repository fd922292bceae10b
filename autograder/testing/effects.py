"""What a call does beside returning a value, as a suite sees it: files by name, a figure by its parts.

All of it comes from student code. If it does not have the form that a suite uses, that is told as a student's mistake.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.sandbox.protocol.objects import NoField, Record

ORDINALS = ("", "a second ", "a third ", "a fourth ", "a fifth ")
LISTS = ("legend", "texts", "lines", "points", "bars", "images")


def no_input(number: int) -> str:
    """The message about code that reads more input than is typed in. number: of the missing line, counted from 1."""
    ordinal = ORDINALS[number - 1] if 0 < number <= len(ORDINALS) else "yet another "
    there = "none is" if number <= 1 else f"only {number - 1} {'is' if number == 2 else 'are'}"
    return f"asks for {ordinal}input, and {there} typed in. How often does it call `input`?"


class Files(dict[str, str | bytes]):
    """Contents by name. A missing file is the student's mistake."""

    def __missing__(self, name: str) -> str:
        others = f", and {len(self)} of another name" if self else ""
        raise NoField(f"wrote no file `{name}`{others}. Where does it write?")


def files_of(value: Any) -> Files:
    """The files in an answer. Raises `NoField` if there are more than can be read."""
    if not isinstance(value, dict):
        raise NoField("wrote more files, or longer ones, than can be read.")
    return Files({str(name): _content(data) for name, data in value.items() if isinstance(data, str | np.ndarray)})


def _content(data: str | np.ndarray) -> str | bytes:
    if isinstance(data, str):
        return data
    try:
        return data.tobytes().decode()
    except UnicodeDecodeError:
        return data.tobytes()


class Parts(list[Any]):
    """The artists of one kind in a figure, in order."""

    def __init__(self, kind: str, items: list[Any]) -> None:
        super().__init__(items)
        self.kind = kind

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int) and not -len(self) <= place < len(self):
            raise NoField(f"has {len(self)} {self.kind} in its figure, which is not what is asked for.")
        return super().__getitem__(place)


def figure_of(value: Any) -> Record:
    """The figure in an answer. Raises `NoField` if there is none, or one of another form."""
    if value is None:
        raise NoField("drew nothing: it gave no figure back, and none is open. Which line draws?")
    if not isinstance(value, Record) or not isinstance(value.fields.get("axes"), list):
        raise NoField("drew more than can be read.")
    axes = [_axes(one) for one in value.fields["axes"] if isinstance(one, Record)]
    return Record("Figure", value.fields | {"axes": Parts("axes", axes)})


def _axes(axes: Record) -> Record:
    lists = {kind: Parts(kind, found) for kind in LISTS if isinstance(found := axes.fields.get(kind), list)}
    return Record("Axes", axes.fields | lists)
