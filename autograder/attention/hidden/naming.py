"""Parameters of a student's module under other names than asked for: one test judges names, the others find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Shapes = Mapping[str, Sequence[int]]


def own_names(wanted: Shapes, own: Shapes) -> dict[str, str]:
    """The student's name of each wanted parameter: the same; else, in order, the next one left of that kind and shape.

    What has no counterpart is left out.
    """
    found = {name: name for name in wanted if name in own}
    left = [name for name in own if name not in found]
    for name, shape in wanted.items():
        if name in found:
            continue
        match = next((o for o in left if _kind(o) == _kind(name) and tuple(own[o]) == tuple(shape)), None)
        if match is not None:
            found[name] = match
            left.remove(match)
    return found


def _kind(name: str) -> str:
    """`weight` or `bias`."""
    return name.rpartition(".")[2]
