"""What of an exception's text a report may show: a text that stands in the student's code, or one of the libraries'.

Student code computes its exceptions' texts, and 400 letters carry some 200 bytes of what a hidden test passed in. So a
text is shown only as far as it is known in advance. It is compared with the strings in the notebook's own cells,
f-strings among them, and with the messages of Python, NumPy and PyTorch (`LIBRARIES`). A number (of which `redaction`
keeps two digits), a shape, or a name in the code is shown if it fills a gap in such a text; anything else becomes `…`.
A text that matches none is left out: the kind of exception and the line that raised it say enough to find it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

GAP = "{}"
LEFT_OUT = "…"
MOST = 8  # numbers and names in the gaps of one text: two shapes of four axes
MOST_TEXTS = 5_000  # of a notebook; an honest one has some hundred
NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?"
LIST = rf"{NUMBER}(?:, ?{NUMBER})*,?"
SHAPES = re.compile(rf"(?:(?:{NUMBER}|\((?:{LIST})?\)|\[(?:{LIST})?\]|\d+(?:x\d+)+)(?: (?!$)|$))+")
NAMES = re.compile(r"'?[A-Za-z_]\w*(?:\.\w+)*'?(?:,? (?:and )?'?[A-Za-z_]\w*(?:\.\w+)*'?){0,5}")
FORMATTED = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[sdrifgex]")
# Types and other names in the messages of libraries.
TYPES = """
and int float bool str bytes list tuple dict set NoneType function type method slice range complex object module
builtin_function_or_method ndarray Tensor Parameter Linear Module torch numpy np nn Float Double Half Bool Int Long
FloatTensor DoubleTensor LongTensor float16 float32 float64 int32 int64 bool_ generator builtins property weight bias
AsStrided Clone
"""
KNOWN = frozenset(TYPES.split())
LIBRARIES = """
name {} is not defined
name {} is not defined. Did you mean: {}?
cannot access local variable {} where it is not associated with a value
local variable {} referenced before assignment
{} object has no attribute {}
{} object has no attribute {}. Did you mean: {}?
module {} has no attribute {}
{}() missing {} required positional argument: {}
{}() missing {} required positional arguments: {}
{}() missing {} required keyword-only argument: {}
{}() takes {} positional argument but {} were given
{}() takes {} positional arguments but {} were given
{}() takes {} positional arguments but {} was given
{}() takes from {} to {} positional arguments but {} were given
{}() got an unexpected keyword argument {}
{}() got multiple values for argument {}
{}() takes no arguments
unsupported operand type(s) for {}: {} and {}
bad operand type for unary ~: {}
bad operand type for unary -: {}
{} object is not callable
{} object is not iterable
{} object is not subscriptable
{} object does not support item assignment
{} object cannot be interpreted as an integer
object of type {} has no len()
list indices must be integers or slices, not {}
tuple indices must be integers or slices, not {}
string indices must be integers, not {}
can't multiply sequence by non-int of type {}
can only concatenate list (not {}) to list
can only concatenate tuple (not {}) to tuple
not enough values to unpack (expected {}, got {})
too many values to unpack (expected {})
too many values to unpack (expected {}, got {})
cannot unpack non-iterable {} object
'<' not supported between instances of {} and {}
'>' not supported between instances of {} and {}
division by zero
float division by zero
integer division or modulo by zero
integer modulo by zero
list index out of range
tuple index out of range
list assignment index out of range
pop from empty list
maximum recursion depth exceeded
maximum recursion depth exceeded in comparison
maximum recursion depth exceeded while calling a Python object
math domain error
math range error
No module named {}
operands could not be broadcast together with shapes {}
operands could not be broadcast together with remapped shapes {}
non-broadcastable output operand with shape {} doesn't match the broadcast shape {}
matmul: Input operand {} has a mismatch in its core dimension {}, with gufunc signature (n?,k),(k,m?)->(n?,m?) \
(size {} is different from {})
matmul: Input operand {} does not have enough dimensions (has {}, gufunc core with signature (n?,k),(k,m?)->(n?,m?) \
requires {})
shapes {} and {} not aligned: {} (dim {}) != {} (dim {})
cannot reshape array of size {} into shape {}
could not broadcast input array from shape {} into shape {}
shape mismatch: objects cannot be broadcast to a single shape
axis {} is out of bounds for array of dimension {}
index {} is out of bounds for axis {} with size {}
index {} is out of bounds for dimension {} with size {}
too many indices for array: array is {}-dimensional, but {} were indexed
boolean index did not match indexed array along axis {}; size of axis is {} but size of corresponding boolean axis is {}
axes don't match array
repeated axis in transpose
need at least one array to concatenate
all the input array dimensions except for the concatenation axis must match exactly, but along dimension {}, the array \
at index {} has size {} and the array at index {} has size {}
all input arrays must have the same shape
array split does not result in an equal division
cannot select an axis to squeeze out which has size not equal to one
zero-size array to reduction operation maximum which has no identity
The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()
only integer scalar arrays can be converted to a scalar index
only length-1 arrays can be converted to Python scalars
only 0-dimensional arrays can be converted to Python scalars
setting an array element with a sequence.
arrays used as indices must be of integer (or boolean) type
assignment destination is read-only
shape '{}' is invalid for input of size {}
The size of tensor a {} must match the size of tensor b {} at non-singleton dimension {}
mat1 and mat2 shapes cannot be multiplied ({} and {})
Expected size for first two dimensions of batch2 tensor to be: {} but got: {}.
batch1 must be a 3D tensor
batch2 must be a 3D tensor
Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor number {} in the list.
Tensors must have same number of dimensions: got {} and {}
The expanded size of the tensor {} must match the existing size {} at non-singleton dimension {}. \
 Target sizes: {}. Tensor sizes: {}
view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous \
subspaces). Use .reshape(...) instead.
unflatten: Provided sizes {} don't multiply up to the size of dim {} in the input tensor
Dimension out of range (expected to be in range of {}, but got {})
expected scalar type {} but found {}
expected m1 and m2 to have the same dtype, but got: {} != {}
self and mat2 must have the same dtype, but got {} and {}
mat1 and mat2 must have the same dtype, but got {} and {}
mixed dtype (CPU): all inputs must share same datatype.
Boolean value of Tensor with more than one value is ambiguous
permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of \
dimensions i.e. input.dim() = {} is not equal to len(dims) = {}
Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.
a leaf Variable that requires grad is being used in an in-place operation.
one of the variables needed for gradient computation has been modified by an inplace operation: [torch.{} {}], which \
is output {} of {}, is at version {}; expected version {} instead{}
element {} of tensors does not require grad and does not have a grad_fn
a Tensor with {} elements cannot be converted to Scalar
only one element tensors can be converted to Python scalars
{} has shape {}, it should be {}
{} must be a torch.nn.Module
the module has no parameter {}
the module has no parameter {}; it has {}
"""
Parts = tuple[str, ...]  # what stands between the gaps
OF_LIBRARIES: tuple[Parts, ...] = tuple(tuple(line.split(GAP)) for line in LIBRARIES.strip().splitlines())


def texts_in(cells: Sequence[str]) -> tuple[Parts, ...]:
    """The strings in a notebook's code, with gaps where something is put in."""
    found: dict[Parts, None] = {}
    for cell in cells:
        try:
            nodes = list(ast.walk(ast.parse(cell)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # a magic, or no Python at all
            continue
        found |= dict.fromkeys(_texts(nodes))
    return tuple(found)[:MOST_TEXTS]


def _texts(nodes: Sequence[ast.AST]) -> Iterator[Parts]:
    inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            pieces = (str(part.value) if isinstance(part, ast.Constant) else GAP for part in node.values)
            yield tuple("".join(pieces).split(GAP))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value and id(node) not in inner:
            yield tuple(FORMATTED.split(node.value))
            yield (node.value, "")  # and something after it: "..." + str(x)


def quoted(text: str, known: Sequence[Parts], names: Collection[str]) -> str:
    """As much of a text as may be shown. known: see `texts_in`; names: those in the student's code."""
    text = text.strip()
    matches = [(parts, gaps) for parts in (*known, *OF_LIBRARIES) if (gaps := _gaps(text, parts)) is not None]

    def amount_shown(redacted: str) -> tuple[int, int]:
        return len(redacted.replace(LEFT_OUT, "")), -redacted.count(LEFT_OUT)

    return max((_joined(parts, gaps, names) for parts, gaps in matches), key=amount_shown, default="")


def may_be(text: str, whole: str) -> bool:
    """Whether `text` can be what is left of `whole` after parts of that were left out."""
    return text == whole or _gaps(whole.strip(), tuple(text.split(LEFT_OUT))) is not None


def _gaps(text: str, parts: Parts) -> list[str] | None:
    """What fills the gaps between parts of a text; None if it has not these parts. The leftmost match counts."""
    first, *rest = parts
    first = first.lstrip()
    if not text.startswith(first):
        return None
    gaps, at = [], len(first)
    for number, part in enumerate(rest, 1):
        if number < len(rest):
            where = text.find(part, at)
        else:
            part = part.rstrip()
            where = len(text) - len(part) if text.endswith(part) else -1
        if where < at:
            return None
        gaps.append(text[at:where])
        at = where + len(part)
    return gaps if at == len(text) else None


def _joined(parts: Parts, gaps: Sequence[str], names: Collection[str]) -> str:
    if not any(part.strip() for part in parts):
        return ""
    left, shown = MOST, [parts[0]]
    for gap, part in zip(gaps, parts[1:], strict=True):
        left -= len(re.findall(rf"{NUMBER}|[A-Za-z_]\w*", gap))
        shown += [gap if not gap or (left >= 0 and _may_be_shown(gap, names)) else LEFT_OUT, part]
    return "".join(shown).strip()


def _may_be_shown(gap: str, names: Collection[str]) -> bool:
    plain = gap.strip("() ") if gap.count("(") == gap.count(")") == 1 else gap
    if SHAPES.fullmatch(gap.strip()) or SHAPES.fullmatch(plain):
        return True
    words = re.findall(r"\w+", gap)
    return NAMES.fullmatch(gap) is not None and all(word in KNOWN or word in names or word.isdigit() for word in words)
