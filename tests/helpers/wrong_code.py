"""Wrong code, written as edits of the model answers, with the diagnosis or message that is right for it.

`tests/course/wrong/` has a file for each assignment, with a section for each exercise. An entry is one line if it edits
one place in one line. Otherwise its edits are below its head:

    [softmax]
    author 3: softmax-over-everything, axis-ignored :: exps.sum(axis=axis, keepdims=True) => exps.sum()
    author 2 (B): no-max-subtraction
    +def softmax(x, axis=-1):
    +    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)
    author 2, like B: axis-ignored
    ~ sum(axis, => sum(0,
     exps = np.exp(x - largest)
    -return exps / exps.sum()
    +return exps

- `~ old => new` replaces a part of a line.
- Lines that start with a space, `-` and `+` are a hunk as in a diff: kept, removed and added. `-...` matches any lines.
- A definition with only `+` lines replaces the one of the same name (the whole answer, or a method). A new one goes
  before the answer.

The text to replace must occur exactly once in the answer. That is the model answer as `ast.unparse` writes it, without
comments and docstrings, or the entry whose letter follows `like`. `python -m tests.helpers.wrong_code a3_heads 13`
prints the code of the entry in line 12.

Sources:

- `author`: wrong answers by people who had not seen the catalogue, except for the eighth. The words are the names a
  teacher would accept.
- `list`: a wrong answer for an operator of a published list of faults (`operators.toml`). `list ABC, right` is a right
  answer here, and the words say why.
- `slip`: a small edit, written from the notebooks without knowledge of the visible tests and known mistakes. The words
  are a pattern: the first line of `check` is right if it matches.
- `walk`: a slip made while working through the notebook, with a pattern for the first message.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.course.assignments import Assignment
from autograder.testing.catalogue import read_catalogue
from tests.helpers.in_process import COURSE

FOLDER = Path(__file__).parents[1] / "course" / "wrong"
KNOWS_THE_TESTS = "author 8"  # had seen the catalogue and the hidden tests
HEAD = re.compile(
    r"(?P<source>author \d|list \w+|slip|walk)(?P<right>, right)?( \((?P<label>\w+)\))?(, like (?P<base>\w+))?: "
    r"(?P<words>.*?)( :: (?P<edit>.* => .*))?"
)
DEFINES = re.compile(r"\+ *(?=(def|class|@))")
# Synonyms.
SAME = [
    "residual-of-the-normed residual-from-the-norm residual-from-the-normalised",
    "embedding-divided divided-by-the-root",
    "embedding-scaled-by-d_model scaled-by-d_model",
    "blocks-side-by-side blocks-not-chained each-block-gets-the-embedding",
    "first-block-for-all one-block-for-all always-the-first-block",
    "last-block-missing one-block-too-few",
    "rows-for-columns rows-instead-of-columns",
    "mask-upside-down mask-transposed square-mask-transposed causal-mask-transposed causal-mask-upside-down",
    "temperature-ignored temperature-without-effect",
    "mask-ignored mask-forgotten mask-without-effect causal-mask-missing",
    "in-place input-changed inputs-changed the-original-changed",
    "one-batch-axis-only batch-axis-required one-batch-layout no-batch-axes matrices-only",
    "output-only parts-missing weights-missing",
    "transposed axes-swapped axes-in-another-order",
    "axis-lost axis-missing axis-added axis-too-many axis-too-few another-shape missing-axis another-length",
    "detached-gradient gradient-missing gradient-partial",
    "reversed another-order heads-reversed rows-reversed",
    "float64-always float32-always another-dtype",
    "no-error error-missing",
    "another-error-than-asked another-error",
    "input-doubled residual-doubled branch-lost attention-lost",
    "log-taken log-softmax",
    "random another-answer-each-time",
    "argmax-for-softmax hard-maximum",
    "minimum-for-maximum sign-flipped",
    "last-head-missing one-head-too-few",
    "integers numbers-for-truth-values integers-for-truth-values mask-of-numbers",
    "residual-halved branch-scaled sum-halved",
    "exponent-by-column exponent-without-pairs a-wave-length-for-each-column",
    "exponent-off-by-one cosine-pair-off-by-one",
    "argument-unused W_K-unused W_V-unused value-unused key-unused query-unused",
    "small-fill leaky-mask leak-of-1e-9",
    "scores-blended output-first-by-scores",
    "heads-and-width-exchanged num-heads-read-as-width",
    "transpose-missing split-without-transpose concat-without-transpose",
    "average-difference means-compared",
    "one-tap-too-few last-tap-missing",
    "another-number-subtracted mean-subtracted first-allowed-subtracted last-allowed-subtracted smallest-subtracted",
    "stops-at-a-size right-up-to-a-size stops-at-a-length some-heads-only stops-at-eight positions-overflow "
    "lengths-overflow",
    "mask-multiplied masked-with-zero",
    "truth-values another-dtype",
    "wrong-matrix W_Q-for-W_O another-matrix",
    "last-but-one-position last-word-not-read",
    "repetition-forbidden no-repetition stops-at-a-word-it-has-written",
    "heads-and-places-swapped head-and-place-swapped",
    "first-item-only first-of-the-batch-only first-text-only",
    "angle-rounded angles-rounded angles-of-whole-numbers integer-division",
]


@dataclass(frozen=True)
class WrongCode:
    """One entry.

    line: in the assignment's file
    source: as in the file, such as `author 2` or `slip`
    words: accepted names, or a pattern for slips and walks
    is_right: whether it is a right answer; `words` then say why
    code: the code of the cell, without imports
    """

    assignment: str
    exercise: str
    line: int
    source: str
    words: str
    is_right: bool
    code: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.assignment}.txt:{self.line} {self.exercise}, {self.source}: {self.words}"

    @functools.cached_property
    def accepted(self) -> frozenset[str]:
        """The accepted names, each replaced by its first synonym."""
        return frozenset(_word(name) for name in self.words.split(", "))

    def accepts(self, name: str) -> bool:
        """Whether a teacher would accept this name."""
        return _word(name) in self.accepted

    def made(self, assignment: Assignment) -> Any:
        """The function or class that the code defines, with model answers to the other exercises."""
        names = dict(vars(assignment.reference()))
        self.define(names)
        return names[self.exercise]

    def define(self, names: dict[str, Any]) -> None:
        """Run the code in a namespace as a kernel does, so that messages can quote its lines."""
        file = f"<{self}>"
        linecache.cache[file] = len(self.code), None, self.code.splitlines(keepends=True), file
        exec(compile(self.code, file, "exec"), names)


def wrong_code_of(assignment: Assignment, source: str) -> list[WrongCode]:
    """The entries of an assignment from one kind of source: `author`, `list`, `slip` or `walk`."""
    return [one for one in _entries(assignment) if one.source.split()[0] == source]


def telling(assignment: Assignment) -> Iterator[WrongCode]:
    """Answers of authors that nothing else tests, and one for every exercise.

    Of the answers with the same accepted names, the first is used, if none of the names is a known mistake.
    """
    catalogue, answers = read_catalogue(assignment.mistakes), wrong_code_of(assignment, "author")
    for exercise in assignment.exercises:
        known = {_word(mistake.name) for mistake in catalogue.of(exercise.name)}
        mine = [one for one in answers if one.exercise == exercise.name]
        first = {one.accepted: one for one in reversed(mine) if known.isdisjoint(one.accepted)}
        yield from first.values() or mine[:1]


@functools.cache
def _entries(assignment: Assignment) -> tuple[WrongCode, ...]:
    path, solution = FOLDER / f"{assignment.name}.txt", assignment.solution.read_text(encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line and line[0] not in " -+~"]
    found, exercise, bases = [], "", dict[str, str]()
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines[start].startswith("["):
            exercise = lines[start].strip("[]")
            bases = {"": model_code(solution, exercise)}
            continue
        head = HEAD.fullmatch(lines[start])
        assert head, f"{path}:{start + 1}: not the head of an entry: {lines[start]}"
        edits = [f"~ {head['edit']}"] if head["edit"] else [line for line in lines[start + 1 : end] if line]
        try:
            code = edited(bases[head["base"] or ""], edits)
        except (ValueError, KeyError) as error:
            raise ValueError(f"{path}:{start + 1}: {error}") from error
        if head["label"]:
            bases[head["label"]] = code
        found.append(
            WrongCode(assignment.name, exercise, start + 1, head["source"], head["words"], bool(head["right"]), code)
        )
    return tuple(found)


def model_code(solution: str, exercise: str) -> str:
    """The model answer to an exercise, without comments, docstrings and empty lines."""
    (node,) = [one for one in _definitions(ast.parse(solution)) if one.name == exercise]
    for inner in _definitions(node):
        if ast.get_docstring(inner, clean=False) is not None:
            inner.body = inner.body[1:] or [ast.Pass()]
    return "\n".join(line for line in ast.unparse(node).splitlines() if line.strip())


def edited(code: str, edits: Sequence[str]) -> str:
    """The code after all edits, in order. Raises `ValueError` if one does not fit."""
    for hunk in _hunks(edits):
        if hunk[0].startswith("~"):
            old, new = hunk[0][2:].split(" => ")
            code = _replaced(code, re.escape(old), new)
        elif all(line.startswith("+") for line in hunk):
            code = _with_definition(code, [line[1:] for line in hunk])
        else:
            old = "".join(
                r"(?:.*\n)*?" if line == "-..." else re.escape(line[1:]) + r"\n" for line in hunk if line[0] != "+"
            )
            new = "".join(f"{line[1:]}\n" for line in hunk if line[0] != "-")
            code = _replaced(f"\n{code}\n", r"(?<=\n)" + old, new).strip("\n")
    return code


def _hunks(edits: Sequence[str]) -> Iterator[list[str]]:
    """The edits of an entry, one by one. A hunk has kept lines, then removed ones, then new ones."""
    order, hunk = " -+", list[str]()
    for line in edits:
        if hunk and (
            "~" in line[0] + hunk[-1][0] or order.index(line[0]) < order.index(hunk[-1][0]) or _ends(hunk, line)
        ):
            yield hunk
            hunk = []
        hunk.append(line)
    if hunk:
        yield hunk


def _ends(hunk: Sequence[str], line: str) -> bool:
    """Whether a line starts another definition than the hunk's first one."""
    begins = DEFINES.match(line)
    if not begins or hunk[0][0] != "+" or hunk[-1].lstrip("+ ").startswith("@"):
        return False
    return len(begins[0]) <= len(hunk[0]) - len(hunk[0].lstrip("+ "))


def _replaced(code: str, pattern: str, new: str) -> str:
    found = list(re.finditer(pattern, code))
    if len(found) != 1:
        raise ValueError(f"found {len(found)} times in the code: {pattern!r}")
    return code[: found[0].start()] + new + code[found[0].end() :]


def _with_definition(code: str, lines: Sequence[str]) -> str:
    """Replace the function, method or class of the same name, or add the definition before the answer."""
    (made, *_) = ast.parse(textwrap.dedent("\n".join(lines))).body
    depth, before = len(lines[0]) - len(lines[0].lstrip()), code.split("\n")
    for node in _definitions(ast.parse(code)):
        if node.name == getattr(made, "name", "") and node.col_offset == depth:
            start = min(one.lineno for one in (node, *node.decorator_list))
            return "\n".join([*before[: start - 1], *lines, *before[node.end_lineno :]])
    last = ast.parse(code).body[-1].lineno - 1
    return "\n".join([*before[:last], *lines, *before[last:]])


def _definitions(tree: ast.AST) -> list[ast.FunctionDef | ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]


@functools.cache
def _word(name: str) -> str:
    """A name's first synonym."""
    return next((line.split()[0] for line in SAME if name in line.split()), name)


if __name__ == "__main__":
    for entry in _entries(COURSE.assignment(sys.argv[1])):
        if entry.line == int(sys.argv[2]):
            print(f"# {entry}\n{entry.code}")
