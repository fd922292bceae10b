"""Parameters of a student's module under other names than asked for: one test judges names, the others find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.testing import expect

Shapes = Mapping[str, Sequence[int]]


def student_names(wanted: Shapes, own: Shapes) -> dict[str, str]:
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


def expect_names(own: Mapping[str, str], hint: str) -> None:
    """Fails with the first wanted member that has another name; `own` as `student_names` gives it."""
    misnamed = [(name, other) for name, other in own.items() if name != other]
    if misnamed:
        wanted, given = (name.split(".") for name in misnamed[0])
        same = next(i for i in range(len(wanted)) if given[i : i + 1] != wanted[i : i + 1])
        member, instead = ".".join(wanted[: same + 1]), ".".join(given[: same + 1])
        expect.fail(f"there is no member {member}; there is {instead}.", hint)


def is_bare(name: str) -> bool:
    """Is it a parameter of the module's own, such as `W_Q`, where a layer's is asked for, as `W_Q.weight`?"""
    return name.rpartition(".")[2] not in ("weight", "bias")


def _kind(name: str) -> str:
    """`weight` or `bias`; a bare parameter is a weight."""
    return "weight" if is_bare(name) else name.rpartition(".")[2]
