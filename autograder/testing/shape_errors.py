"""What NumPy and PyTorch say about shapes, in the course's words.

    told("raised ValueError: operands could not be broadcast together with shapes (3,4) (5,) .")
    -> "raised ValueError: shapes (3, 4) and (5,) do not broadcast: counted from the end, 4 meets 5."

Which two shapes met is what a student needs; what a gufunc's core dimension is, they need not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

Say = Callable[[re.Match[str]], str]
PRODUCT = "a product with @ sums over the left one's last axis and the right one's last but one"


def told(text: str) -> str:
    """`text` with what it says about shapes in plain words; as it is where it says nothing known."""
    for pattern, say in KNOWN:
        found = pattern.search(text)
        if found:
            return text[: found.start()] + say(found) + text[found.end() :]
    return text


def _numbers(text: str) -> tuple[int, ...]:
    """The sizes in `(3,4)`, `[3, 4]` or `3x4`."""
    return tuple(map(int, re.findall(r"-?\d+", text)))


def _broadcast(found: re.Match[str]) -> str:
    shapes = [_numbers(shape) for shape in re.findall(r"\([\d,]+\)", found[1])]
    met = next((pair for pair in map(_that_meet, *zip(*pairwise(shapes), strict=True)) if pair), None)
    where = f": counted from the end, {met[0]} meets {met[1]}" if met else ""
    return f"shapes {' and '.join(map(str, shapes))} do not broadcast{where}"


def _that_meet(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int] | None:
    """The first two sizes, counted from the end, that do not go together."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next(((a, b) for a, b in pairs if a != b and 1 not in (a, b)), None)


def _two_matrices(found: re.Match[str]) -> str:
    one, other = _numbers(found[1]), _numbers(found[2])
    return f"shapes {one} and {other} cannot be multiplied: {one[-1]} meets {other[max(0, len(other) - 2)]}; {PRODUCT}"


def _batch_axes(found: re.Match[str]) -> str:
    one, other = _numbers(found[1]), _numbers(found[2])
    before = f"the axes before the last two, {one[:-2]} and {other[:-2]}, do not broadcast"
    return f"shapes {one} and {other} cannot be multiplied: {before}"


def _core(found: re.Match[str]) -> str:
    return f"these two cannot be multiplied: {found[2]} meets {found[1]}; {PRODUCT}"


def _too_few_axes(found: re.Match[str]) -> str:
    side = "left" if found[1] == "0" else "right"
    return f"these two cannot be multiplied: the {side} one is a single number, without axes"


def _sizes(found: re.Match[str]) -> str:
    return f"these two tensors do not broadcast: on axis {found[3]} of the result, {found[1]} meets {found[2]}"


def _batches(found: re.Match[str]) -> str:
    wanted, got = _numbers(found[1]), _numbers(found[2])
    return f"these two cannot be multiplied: the right one begins with {got}, and the left one asks for {wanted}"


def _reshape(size: str, shape: str) -> str:
    sizes = _numbers(shape)
    if -1 in sizes:
        return f"{size} numbers cannot be laid out in the shape {sizes}: no whole number in place of -1 fits"
    product = 1
    for one in sizes:
        product *= one
    return f"{size} numbers cannot be laid out in the shape {sizes}, which has room for {product}"


def _norm(found: re.Match[str]) -> str:
    return f"this norm is for a last axis of {_numbers(found[1])[-1]}, and a tensor of shape {_numbers(found[2])} came"


def _axis(number: str, axes: int) -> str:
    counted = f"0 to {axes - 1}, or -{axes} to -1 from the end" if axes else "none"
    return f"there is no axis {number} here: the axes are {counted}"


def _concatenate(found: re.Match[str]) -> str:
    return f"these cannot be put side by side: on axis {found[1]} one has the size {found[2]} and another {found[3]}"


def _assigned(found: re.Match[str]) -> str:
    return f"what has shape {_numbers(found[1])} does not fit into a place of shape {_numbers(found[2])}"


KNOWN: list[tuple[re.Pattern[str], Say]] = [
    (re.compile(pattern), say)
    for pattern, say in (
        # NumPy
        (r"operands could not be broadcast together with shapes ((?:\([\d,]*\) ?)+)(?<! ) ?", _broadcast),
        (
            r"operands could not be broadcast together with remapped shapes.*?: (\([\d,]+\))->.*? (\([\d,]+\))->.*"
            r"requested shape \([\d,]*\)",
            _batch_axes,
        ),
        (r"matmul: Input operand \d has a mismatch.*\(size (\d+) is different from (\d+)\)", _core),
        (r"matmul: Input operand (\d) does not have enough dimensions.*requires \d\)", _too_few_axes),
        (r"shapes (\([\d,]*\)) and (\([\d,]*\)) not aligned: \d+ \(dim \d\) != \d+ \(dim \d\)", _two_matrices),
        (
            r"cannot reshape array of size (\d+) into shape (\([-\d,a-z]*\))",
            lambda m: _reshape(m[1], m[2].replace("newaxis", "-1")),
        ),
        (r"could not broadcast input array from shape (\([\d,]*\)) into shape (\([\d,]*\))", _assigned),
        (r"(?:axis\d: )?axis (-?\d+) is out of bounds for array of dimension (\d+)", lambda m: _axis(m[1], int(m[2]))),
        (
            r"all the input array dimensions except .*along dimension (\d+), the array at index \d+ has size (\d+) "
            r"and the array at index \d+ has size (\d+)",
            _concatenate,
        ),
        # PyTorch
        (r"mat1 and mat2 shapes cannot be multiplied \((\d+x\d+) and (\d+x\d+)\)", _two_matrices),
        (r"size mismatch, got input \(\d+\), mat \((\d+x\d+)\), vec \((\d+)\)", _two_matrices),
        (r"Expected size for first two dimensions of batch2 tensor to be: (\[.*?\]) but got: (\[.*?\])\.?", _batches),
        (r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\).*dimension (\d+)", _sizes),
        (r"shape '(\[[-\d, ]*\])' is invalid for input of size (\d+)", lambda m: _reshape(m[2], m[1])),
        (
            r"Given normalized_shape=(\[.*?\]), expected input with shape \[.*?\], but got input of size ?(\[.*?\])",
            _norm,
        ),
        (
            r"Dimension out of range \(expected to be in range of \[-\d+, (\d+)\], but got (-?\d+)\)",
            lambda m: _axis(m[2], int(m[1]) + 1),
        ),
        (
            r"Sizes of tensors must match except in dimension \d+\. Expected size (\d+) but got size (\d+) "
            r"for tensor number (\d+) in the list\.?",
            lambda m: f"these cannot be put side by side: {m[1]} meets {m[2]} in number {m[3]} of the list",
        ),
    )
]
