"""Why a student's code gave no value to judge: as exceptions that a test may expect, and in words.

    reworded("raised ValueError: operands could not be broadcast together with shapes (3,4) (5,) .")
    -> "raised ValueError: shapes (3, 4) and (5,) do not broadcast: counted from the end, 4 meets 5."

A student needs to know which two shapes clash, not what the core dimension of a gufunc is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

from autograder.report import TestMessage
from autograder.text import raised
from cellcage.protocol.calls import Failure, Kind, NoAnswer, Why

BY_HAND = "stopped by hand"  # a reason
DEBUGGER = "BdbQuit"  # raised by pdb where nobody answers it
SURROUNDINGS = (
    (re.compile("EOF when reading a line"), "Nobody types when grading, so `input()` gets no answer."),
    (
        re.compile(r"\b(?:CUDA|NVIDIA|XPU|MPS|mps)\b|cuda\.is_available|accelerator device"),
        "There is no GPU when grading. Use a device only if it is available.",
    ),
)
IN_DEBUGGER = "stopped in a debugger, which nobody answers when grading. Is a `breakpoint()` or `set_trace()` left in?"
# Code that is only slow cannot be told apart from code that never ends.
ENDLESS = "Does a loop never end, or does the code compute far more than the task needs?"
STOPPED = {
    Why.TOO_SLOW: f"{{text}}. {ENDLESS}",
    Why.WAITED: "{text}. Does the code sleep, or wait for something that never comes?",
    Why.GONE: "{text}. Does the code exit, or use far more memory than its input?",
    Why.OVER_LIMIT: "{text}, so it was stopped.",
    Why.UNREADABLE: "what came back could not be read ({text}).",
}


class FailedTest(Exception):
    """Why a test failed, in words for the student: what happened, and the next step.

    reason: tests that fail for one reason have the same reason, even if their texts differ; empty if there is none
    parts: the message in parts, if a visible test raised it
    started: false if there was nothing to judge
    """

    reason, started = "", True
    parts: TestMessage | None = None

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(f"{text} {hint}" if hint else text)
        self.text, self.hint = text, hint


class StudentError(FailedTest):
    """The student's code gave no value to judge."""


class NotStarted(StudentError):
    """The stub is untouched.

    is_own_stub: whether it is the exercise's own stub, rather than that of an exercise it calls
    """

    started = False

    def __init__(self, text: str, is_own_stub: bool = False) -> None:
        super().__init__(text)
        self.is_own_stub = is_own_stub


class Missing(StudentError):
    """The name is not defined in the notebook."""

    started = False


class Raised(StudentError):
    """The student's code raised an exception. Its hint is a question about that error.

    types: the names of its class and of that class's bases
    """

    def __init__(self, text: str, types: tuple[str, ...] = (), reason: str = "") -> None:
        super().__init__(text, asked_about(text))
        self.types, self.reason = types, reason


class RaisedValueError(Raised, ValueError):
    """The student's code raised a ValueError, as some exercises require."""


class Stopped(StudentError):
    """A call did not return in time, or ended its process. late: the first half of the text, if time ran out"""

    def __init__(self, text: str, late: str = "") -> None:
        super().__init__(text)
        self.late = late


class HeldTooMuch(StudentError):
    """The student's code held more memory at once than allowed; `held` is the number of bytes without its arguments."""

    def __init__(self, held: float) -> None:
        super().__init__(f"held {held / 1e6:.1f} MB of memory at once.")
        self.held = held


class NotCounted(StudentError):
    """The student's code did what makes its answers count for nothing; the text says what."""


def as_exception(name: str, answer: Failure | NoAnswer) -> StudentError:
    """The exception that a suite gets for an answer without a value."""
    if isinstance(answer, NoAnswer):
        late = answer.text if answer.why is Why.TOO_SLOW else ""
        return Stopped(STOPPED[answer.why].format(text=answer.text), late)
    if answer.kind is Kind.NOT_STARTED:
        return NotStarted("not started yet.", is_own_stub=len(answer.lines) == 1)
    if answer.kind is Kind.MISSING:
        return Missing(f"the notebook defines no `{name}`. Was its cell deleted, renamed, or did it fail?")
    if answer.kind is Kind.MEMORY:
        return HeldTooMuch(float(answer.text))
    if answer.kind is Kind.NOTICED:
        return NotCounted("calls a ready-made function.")
    if answer.kind is Kind.NO_PARAMETER:
        return Raised(f"{answer.text}. Are the layers kept as members under the names the exercise gives?")
    where = "".join(f" In {line.function}, line {line.number}: `{line.text.strip()}`." for line in answer.lines)
    types = answer.types or (answer.error,)
    # The same exception in the same line is one reason, whatever sizes its text has.
    reason = f"{answer.error} {answer.lines[-1]}" if answer.lines else ""
    cls = RaisedValueError if "ValueError" in (answer.error, *types) else Raised
    return cls(reworded(explained(answer.error, answer.text)) + where, types, reason)


def explained(kind: str, text: str) -> str:
    """An exception as a sentence, as `raised`, with what it says about the surroundings."""
    if kind == DEBUGGER:
        return IN_DEBUGGER
    return raised(kind, text) + next((f" {words}" for pattern, words in SURROUNDINGS if pattern.search(text)), "")


# ---------------------------------------------------------------- what NumPy and PyTorch say

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
NO_SUCH_DTYPE = "PyTorch cannot compute this for numbers of the type"
TWO_DTYPES = "numbers of two dtypes meet"
PAIR = "gives a pair, values and places"
VIEW = "`view` cannot lay these numbers out so without copying them"
OF_NUMPY, NOT_OF_NUMPY = "a NumPy array", "NumPy knows no"
NO_TRUTH = "`~` turns truth values about, and here are other numbers"
NO_INIT = "a layer is assigned before `super().__init__()`"
ONE_TRUTH = (
    "{} of several numbers stands where one truth value or one number is expected: ask `is None` for whether it is "
    "there, and join masks by `&`"
)
ONE_NUMBER = (
    "several numbers stand where one is expected: `float` and the functions of `math` take one, those of NumPy and "
    "PyTorch take many"
)

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
        (
            r"The truth value of an array with more than one element is ambiguous\. Use a\.any\(\) or a\.all\(\)",
            ONE_TRUTH.format("an array"),
        ),
        (
            r"axes don't match array",
            "NumPy's `transpose` takes all axes in their new order, and `swapaxes` the two to exchange",
        ),
        (
            r"only integer scalar arrays can be converted to a scalar index",
            "an array stands where one whole number is expected, such as an axis, often the second argument",
        ),
        (
            r"only (?:0-dimensional arrays|(?:length|size)-1 arrays|one[ -]element tensors) can be converted to Python "
            r"scalars",
            ONE_NUMBER,
        ),
        (r"Concatenation operation is not implemented for NumPy arrays(?s:.*)", f"a tensor is added to {OF_NUMPY}"),
        (r"Cannot interpret '(torch\.\w+)' as a data type", rf"{NOT_OF_NUMPY} dtype \1"),
        (
            r"zero-size array to reduction operation (\w+) which has no identity",
            r"there is no \1 of no numbers: an axis of this array has length 0",
        ),
        (r"array split does not result in an equal division", "this axis cannot be cut into so many equal parts"),
        (
            r"boolean index did not match indexed array along axis (\d+); size of axis is (\d+) but size of "
            r"corresponding boolean axis is (\d+)",
            r"a mask between brackets has the array's own shape, and on axis \1 this one has \3 in place of \2",
        ),
        (
            r"list indices must be integers or slices, not tuple",
            "a list takes one place between its brackets, and only an array takes several",
        ),
        (r"ufunc 'invert' not supported for the input types.*safe''", NO_TRUTH),
        # PyTorch
        (r"~ \(operator\.invert\) is only implemented on integer and Boolean-type tensors", NO_TRUTH),
        (r"a Tensor with \d+ elements cannot be converted to Scalar", ONE_NUMBER),
        (
            r"view size is not compatible with input tensor's size and stride .*reshape\(\.{3}\) instead(?:\.(?=\.))?",
            f"{VIEW}; `reshape` copies where it must",
        ),
        (
            r"permute\(.*?\): number of dimensions .* input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)",
            r"`permute` takes all axes in their new order, here \1, and it got \2",
        ),
        (
            r"(\w+)\(\) received an invalid combination of arguments - got (\(.*?\)), but expected(?s:.*)",
            r"`\1` cannot take what it got: \2",
        ),
        (r"\"\w+\" not implemented for '(\w+)'", rf"{NO_SUCH_DTYPE} \1"),
        (
            r'Module \[(Module(?:List|Dict))\] is missing the required "forward" function',
            r"an nn.\1 cannot be called: it only keeps layers, for your code to call one by one",
        ),
        (r"Boolean value of Tensor with more than one value is ambiguous", ONE_TRUTH.format("a tensor")),
        (
            r"cannot assign \w+ before Module\.__init__\(\) call",
            f"{NO_INIT}, which comes first in `__init__`",
        ),
        (
            r"unsupported operand type\(s\) for .+?: '\w+' and 'torch\.return_types\.(\w+)'",
            rf"`\1` over one axis of a tensor {PAIR}, and only the values can be computed with",
        ),
        (
            r"(\w+)\(\): argument '\w+' \(position \d\) must be Tensor, not numpy\.ndarray",
            rf"torch.\1 takes a tensor, and it got {OF_NUMPY}",
        ),
        (
            r"(\w+)\(\): argument 'input' \(position 1\) must be Tensor, not (int|float)",
            r"torch.\1 takes a tensor, and it got one \2: `math` has a \1 for those",
        ),
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
            f"a tensor that a gradient flows through cannot become {OF_NUMPY}, which would lose the gradient",
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


# ---------------------------------------------------------------- what is asked about an error

OF_DTYPES = "Print the dtype of each part of that line. Which one is not the expected one, and where is it made?"
TWO_LIBRARIES = "Which part of that line is NumPy's, and which PyTorch's? Which of the two should all of it be?"
INDICES = "Which indices are there, and which ones does that line ask for?"
ASKED = {
    NO_INIT: "What does the first line of `__init__` have to be, so that a layer can be kept as a member?",
    IN_PLACE: "Which line writes into a tensor: with `+=`, with `x[...] =`, or with a method such as `add_`?",
    " is not defined": "Where is that name made: in this function, or in a cell that has run? Is it spelled so there?",
    **dict.fromkeys((TWO_DTYPES, NO_SUCH_DTYPE, NO_TRUTH), OF_DTYPES),
    **dict.fromkeys((OF_NUMPY, NOT_OF_NUMPY, "but got numpy.ndarray", "ndarray' and 'Tensor'"), TWO_LIBRARIES),
    ONE_NUMBER: "How many numbers has what goes into each function of that line? Which function takes only one?",
    **dict.fromkeys((" is out of bounds for axis", " is out of bounds for dim", "index out of range"), INDICES),
    PAIR: "Is that line written for an array or for a tensor? Which part of the pair do you need?",
    VIEW: "Which step before the `view`, such as a transpose, leaves the numbers in another order in memory?",
    ": `raise ": "What came in, and for what should that line raise?",
}
ABOUT_SHAPES = re.compile(r"\b(multiplied|broadcast|shape|axis|axes|dimension)")  # not `swapaxes`
SHAPES = "Which shape has each part of that line, and which one did you mean it to have?"
UNPACKED = "How many names has that line, and how many values come? If they are axes: may there be more, or fewer?"
GENERAL = ("", SHAPES, INDICES, UNPACKED)  # a test's own question says more


def asked_about(text: str) -> str:
    """The question about an error of which a test's message says `text`; empty if there is none."""
    if found := next((question for words, question in ASKED.items() if words in text), ""):
        return found
    said = text.partition(", line ")[0]  # without the code, which holds words such as `axis=`
    if "to unpack" in said:
        return UNPACKED
    return SHAPES if "it should be" not in said and ABOUT_SHAPES.search(said) else ""
