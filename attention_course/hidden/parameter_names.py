"""Finds a student's parameters under other names than asked for. One test judges the names; the others accept any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.testing import expect

Shapes = Mapping[str, Sequence[int]]


def student_names(wanted: Shapes, actual: Shapes) -> dict[str, str]:
    """The student's name of each wanted parameter: the same name, or the next unused one of that kind and shape.

    Parameters without a counterpart are left out.
    """
    found = {name: name for name in wanted if name in actual}
    left = [name for name in actual if name not in found]
    for name, shape in wanted.items():
        if name in found:
            continue
        match = next((n for n in left if _kind(n) == _kind(name) and tuple(actual[n]) == tuple(shape)), None)
        if match is not None:
            found[name] = match
            left.remove(match)
    return found


def expect_names(names: Mapping[str, str], hint: str) -> None:
    """Fails with the first wanted member that has another name. `names` is the result of `student_names`."""
    misnamed = [(wanted, actual) for wanted, actual in names.items() if wanted != actual]
    if misnamed:
        wanted, actual = (name.split(".") for name in misnamed[0])
        same = next((i for i in range(len(wanted)) if actual[i : i + 1] != wanted[i : i + 1]), len(wanted))
        member, instead = ".".join(wanted[: same + 1]), ".".join(actual[: same + 1])
        if same == len(wanted):
            expect.fail(f"{member} is no parameter but a layer, with {instead}.", hint)
        expect.fail(f"there is no member {member}; there is {instead}.", hint)


def is_bare(name: str) -> bool:
    """True for a parameter of the module itself, such as `W_Q`, and not of a layer, such as `W_Q.weight`."""
    return name.rpartition(".")[2] not in ("weight", "bias")


def _kind(name: str) -> str:
    """`weight` or `bias`; a bare parameter is a weight."""
    return "weight" if is_bare(name) else name.rpartition(".")[2]
