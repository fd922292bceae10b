"""What NumPy and PyTorch say about shapes, dtypes and gradients, in the course's words.

    reworded("raised ValueError: operands could not be broadcast together with shapes (3,4) (5,) .")
    -> "raised ValueError: shapes (3, 4) and (5,) do not broadcast: counted from the end, 4 meets 5."

A student needs to know which two shapes clash, not what the core dimension of a gufunc is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

PRODUCT = "a product with @ sums over the left one's last axis and the right one's last but one"


def reworded(text: str) -> str:
    """`text` with what it says about shapes in plain words; unchanged if it says nothing known."""
    for pattern, message in KNOWN:
        if found := pattern.search(text):
            replacement = found.expand(message) if isinstance(message, str) else message(*found.groups())
            return text[: found.start()] + replacement + text[found.end() :]
    return text


def _sizes(text: str) -> tuple[int, ...]:
    """The sizes in `(3,4)`, `[3, 4]` or `3x4`."""
    return tuple(map(int, re.findall(r"-?\d+", text)))


def _broadcast(text: str) -> str:
    shapes = [_sizes(shape) for shape in re.findall(r"\([\d,]+\)", text)]
    met = next(filter(None, (_unequal(*pair) for pair in pairwise(shapes))), None)
    where = f": counted from the end, {met[0]} meets {met[1]}" if met else ""
    return f"shapes {' and '.join(map(str, shapes))} do not broadcast{where}"


def _unequal(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, int] | None:
    """The first two sizes, counted from the end, that do not broadcast."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next(((a, b) for a, b in pairs if a != b and 1 not in (a, b)), None)


def _two_matrices(left: str, right: str) -> str:
    one, other = _sizes(left), _sizes(right)
    return f"shapes {one} and {other} cannot be multiplied: {one[-1]} meets {other[max(0, len(other) - 2)]}; {PRODUCT}"


def _batch_axes(left: str, right: str) -> str:
    one, other = _sizes(left), _sizes(right)
    before = f"the axes before the last two, {one[:-2]} and {other[:-2]}, do not broadcast"
    return f"shapes {one} and {other} cannot be multiplied: {before}"


def _too_few_axes(operand: str) -> str:
    side = "left" if operand == "0" else "right"
    return f"these two cannot be multiplied: the {side} one is a single number, without axes"


def _batches(wanted: str, got: str) -> str:
    sizes = f"the right one begins with {_sizes(got)}, and the left one asks for {_sizes(wanted)}"
    return f"these two cannot be multiplied: {sizes}"


def _reshape(count: str, shape: str) -> str:
    sizes = _sizes(shape.replace("newaxis", "-1"))
    if -1 in sizes:
        return f"{count} numbers cannot be laid out in the shape {sizes}: no whole number in place of -1 fits"
    return f"{count} numbers cannot be laid out in the shape {sizes}, which has room for {math.prod(sizes)}"


def _norm(normalized: str, got: str) -> str:
    return f"this norm is for a last axis of {_sizes(normalized)[-1]}, and a tensor of shape {_sizes(got)} came"


def _axis(number: str, axes: int) -> str:
    counted = f"0 to {axes - 1}, or -{axes} to -1 from the end" if axes else "none"
    return f"there is no axis {number} here: the axes are {counted}"


def _assigned(got: str, place: str) -> str:
    return f"what has shape {_sizes(got)} does not fit into a place of shape {_sizes(place)}"


IN_PLACE = "a tensor that a gradient needs was changed in place, as by `+=`"
TWO_DTYPES = "numbers of two dtypes meet"

# What replaces each text: a template, or a function of the groups.
KNOWN: list[tuple[re.Pattern[str], str | Callable[..., str]]] = [
    (re.compile(pattern), message)
    for pattern, message in (
        # NumPy
        (r"operands could not be broadcast together with shapes ((?:\([\d,]*\) ?)+)(?<! ) ?", _broadcast),
        (
            r"operands could not be broadcast together with remapped shapes.*?: (\([\d,]+\))->.*? (\([\d,]+\))->.*"
            r"requested shape \([\d,]*\)",
            _batch_axes,
        ),
        (
            r"matmul: Input operand \d has a mismatch.*\(size (\d+) is different from (\d+)\)",
            rf"these two cannot be multiplied: \2 meets \1; {PRODUCT}",
        ),
        (r"matmul: Input operand (\d) does not have enough dimensions.*requires \d\)", _too_few_axes),
        (r"shapes (\([\d,]*\)) and (\([\d,]*\)) not aligned: \d+ \(dim \d\) != \d+ \(dim \d\)", _two_matrices),
        (r"cannot reshape array of size (\d+) into shape (\([-\d,a-z]*\))", _reshape),
        (r"could not broadcast input array from shape (\([\d,]*\)) into shape (\([\d,]*\))", _assigned),
        (
            r"(?:axis\d: )?axis (-?\d+) is out of bounds for array of dimension (\d+)",
            lambda number, axes: _axis(number, int(axes)),
        ),
        (
            r"all the input array dimensions except .*along dimension (\d+), the array at index \d+ has size (\d+) "
            r"and the array at index \d+ has size (\d+)",
            r"these cannot be put side by side: on axis \1 one has the size \2 and another \3",
        ),
        # PyTorch
        (r"mat1 and mat2 shapes cannot be multiplied \((\d+x\d+) and (\d+x\d+)\)", _two_matrices),
        (r"size mismatch, got input \(\d+\), mat \((\d+x\d+)\), vec \((\d+)\)", _two_matrices),
        (r"Expected size for first two dimensions of batch2 tensor to be: (\[.*?\]) but got: (\[.*?\])\.?", _batches),
        (
            r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\).*dimension (\d+)",
            r"these two tensors do not broadcast: on axis \3 of the result, \1 meets \2",
        ),
        (r"shape '(\[[-\d, ]*\])' is invalid for input of size (\d+)", lambda shape, count: _reshape(count, shape)),
        (
            r"Given normalized_shape=(\[.*?\]), expected input with shape \[.*?\], but got input of size ?(\[.*?\])",
            _norm,
        ),
        (
            r"Dimension out of range \(expected to be in range of \[-\d+, (\d+)\], but got (-?\d+)\)",
            lambda last, number: _axis(number, int(last) + 1),
        ),
        (
            r"Sizes of tensors must match except in dimension \d+\. Expected size (\d+) but got size (\d+) "
            r"for tensor number (\d+) in the list\.?",
            r"these cannot be put side by side: \1 meets \2 in number \3 of the list",
        ),
        (
            r"Can't call numpy\(\) on Tensor that requires grad\. Use .* instead(?:\.(?=\.))?",
            "a tensor that a gradient flows through cannot become a NumPy array, which would lose the gradient",
        ),
        (
            r"one of the variables needed for gradient computation has been modified by an in-?place operation"
            r".*set_detect_anomaly\([^)]*\)(?:\.(?=\.))?",
            IN_PLACE,
        ),
        (r"mixed dtype \(CPU\): all inputs must share same datatype(?:\.(?=\.))?", TWO_DTYPES),
        (r"\w+ and \w+ must have the same dtype, but got (\w+) and (\w+)", rf"{TWO_DTYPES}: \1 and \2"),
    )
]
