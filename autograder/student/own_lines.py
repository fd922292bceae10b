"""What is asked about a student's own lines, made by running them, and never graded.

    check("softmax")                 `softmax(x)` with x (2, 3): which shape has `x.max(axis, keepdims=True)` in line 2?
    check("softmax", answer="2 1")   Right: (2, 1).

The cell's functions answer a call of the visible tests: with each expression wrapped, so that it prints its shape;
without a batch axis; or with another axis. They run in the kernel or, for `autograder questions`, in the sandbox. What
they print is read as a few numbers only.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from typing import Any
from zlib import crc32

from msgspec import structs

from autograder.course.assignments import Exercise
from autograder.explain.material import Material
from autograder.explain.repair.cell import Change, ParsedCell, is_stored, number
from autograder.judge.attempt import JudgedNames, attempt
from autograder.reports.rubric import block, paragraph, with_code
from autograder.student.explore import in_notebook
from autograder.student.kernel import InKernel, source_of
from autograder.student.progress import show
from autograder.testing.call_text import ParameterNames, as_written
from autograder.testing.callbacks import parameter_names
from autograder.testing.functions import quiet
from autograder.text import one_line
from cellcage.calling.perform import perform
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Answer, Call, Failure, Gives, Reply, call_of

AnsweringWith = Callable[[str, Call], Answer]  # to a call, with a text in place of the cell that defines the exercise
Shape = tuple[int, ...]
SAW = "_autograder_saw"
RECORDER = f"""
def {SAW}(place, value, seen=set()):
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and hasattr(value, "dtype") and (place, *shape) not in seen:
        seen.add((place, *shape))
        print("\\n{SAW}", place, *shape)
    return value
"""
SEEN = re.compile(rf"^{SAW} (\d{{1,4}})((?: \d{{1,9}}){{0,8}})$", re.MULTILINE)
RECORDED = ast.Call, ast.BinOp, ast.Subscript, ast.Attribute
PARTS = ast.Call | ast.keyword
LONGEST, ROWS = 60, 25  # characters of an expression, and lines of a list of shapes
NO_NUMBER = "Type the answer as numbers, such as 7 or 2 3 4."
unanswered: dict[str, Question] = {}  # the last question on each exercise in this session


@dataclass(frozen=True, repr=False)
class Page:
    """A sentence and lines below it, as text and as HTML."""

    text: str
    rows: Sequence[str] = ()

    def __repr__(self) -> str:
        return "\n".join((self.text, *self.rows))

    def _repr_html_(self) -> str:
        rows = f"<pre>{escape(chr(10).join(self.rows))}</pre>" if self.rows else ""
        return block(paragraph(with_code(self.text)) + rows, "Question about your own lines")


@dataclass(frozen=True)
class Question:
    """A question. right: the numbers of the answer; said: the answer in words; rows: expressions and their shapes"""

    exercise: str
    text: str
    right: Shape
    said: str
    rows: Sequence[str]

    def reply(self, answer: object) -> Page:
        """What is shown for an answer such as "(2, 3)", "2 3" or (2, 3): if it is wrong, the shapes, too."""
        numbers = tuple(map(int, re.findall(r"\d{1,9}", str(answer))))
        if not numbers:
            return Page(NO_NUMBER)
        unanswered.pop(self.exercise, None)
        return Page(f"Right: {self.said}.") if numbers == self.right else Page(f"It is {self.said}.", self.rows)


def in_kernel(exercise: str, names: dict[str, Any], material: Material) -> Iterator[Question]:
    """The questions on an exercise as `names` define it; none if its cell cannot run once more, such as after `del`."""

    def answer(text: str, call: Call) -> Answer:
        copy = dict(names)
        exec(compile(text, "<own lines>", "exec", dont_inherit=True), copy)  # noqa: S102
        with quiet():
            return perform(copy, call_of(call.as_bytes))

    if source := source_of(exercise, names):
        with contextlib.suppress(Exception):
            yield from questions(exercise, source, calls_of(exercise, InKernel(names), material), answer, names)


def ask(exercise: str, names: dict[str, Any], material: Material) -> None:
    """Show a question on an exercise that passes its check, as `names` define it."""
    if (question := next(in_kernel(exercise, names, material), None)) is None:
        return

    def field(widgets: Any) -> list[Any]:
        typed = widgets.Text(description="Answer", placeholder="such as 7 or 2 3 4", continuous_update=False)
        said = widgets.HTML()
        alert = '<div role="alert">{}</div>'.format  # a screen reader speaks it at once
        typed.observe(lambda it: said.set_trait("value", alert(question.reply(it.new)._repr_html_())), "value")
        return [typed, said]

    unanswered[exercise], below = question, in_notebook(field, "A field for the answer: run this cell to use it.")
    way = f'{"Answer by" if below is None else "Type the answer below, or run"} `check("{exercise}", answer="...")`.'
    show(Page(f"About your own lines, never graded: {question.text} {way}"))
    if below is not None:
        show(below)


def reply(exercise: str, answer: object) -> Page:
    """What is shown for an answer to the last question on an exercise."""
    none = f'No question on `{exercise}` is open: `check("{exercise}")` asks one when its tests begin to pass.'
    return unanswered[exercise].reply(answer) if exercise in unanswered else Page(none)


def calls_of(exercise: str, names: JudgedNames, material: Material) -> Sequence[Call]:
    """The visible tests' calls that give a value, those of the most different sizes first; none if a test fails."""
    tried = attempt(material, names, Exercise(exercise, 1.0), lambda name: ())
    found = [one.call for one in tried.calls if isinstance(read(one.answer), Reply)] if tried.full else []
    odd = [call.build or (call.instance and call.steps) or any(map(callable, call.given())) for call in found]
    plain = [call for call, is_odd in zip(found, odd, strict=True) if call.gives is Gives.VALUE and not is_odd]
    return sorted(plain, key=lambda call: len({size for shape in _given(call) for size in shape} - {1}), reverse=True)


def questions(
    exercise: str, source: str, calls: Sequence[Call], answer: AnsweringWith, names: Mapping[str, Any]
) -> Iterator[Question]:
    """At most one question of each kind, in an order that depends on the code.

    source: the cell that defines the exercise
    answer: answers a call, with a text in place of that cell
    names: the notebook's functions and classes, for their parameters' names
    """
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # of a source that is no plain code
        lines = _OwnLines(exercise, source, calls[0], answer, partial(parameter_names, names)) if calls else None
        kinds = [lines.shape, lines.batch_axis, lines.changed_axis] if lines else []
        first = crc32(source.encode()) % 3
        yield from filter(None, (kind() for kind in (*kinds[first:], *kinds[:first])))


class _OwnLines:
    """The functions of a cell, and what they compute for `call`."""

    def __init__(self, exercise: str, source: str, call: Call, answer: AnsweringWith, names: ParameterNames) -> None:
        self._exercise, self._call, self._answer, self._names = exercise, call, answer, names
        whole = ParsedCell(source)
        others = [one for one in whole.tree.body if not isinstance(one, ast.FunctionDef | ast.ClassDef)]
        changes = (Change(*whole.span(one), "pass" + "\n" * ((one.end_lineno or 0) - one.lineno)) for one in others)
        self._cell = ParsedCell(whole.edited(changes))
        # Python 3.11 does not know where the expressions in an f-string stand.
        odd = {node for one in self._cell.nodes(ast.JoinedStr, ast.pattern) for node in ast.walk(one)}
        places = [one for one in self._cell.of(*RECORDED) if one.field != "func" and one.node not in odd]
        self._expressions = [one.node for one in places if not is_stored(one.node)]

    def shape(self) -> Question | None:
        """Which shape has an expression? One with a shape that no argument has, if there is any."""
        once = [(node, shapes[0]) for node, shapes in self._shapes.items() if len(shapes) == 1 and shapes[0]]
        short = [(node, shape) for node, shape in once if len(self._cell.text(node)) <= LONGEST]
        telling = [(node, shape) for node, shape in short if shape not in _given(self._call)] or short
        if not telling:
            return None
        node, right = telling[crc32(self._cell.source.encode()) // 3 % len(telling)]
        return self._question(f"{self._written(self._call)}: which shape has {self._named(node)}?", right, str(right))

    def batch_axis(self) -> Question | None:
        """Which line raises without axes in front? Nothing is asked if none does, as in most code for any axes."""
        less = self._call.with_given(lambda one: one[(0,) * (one.ndim - 2)] if getattr(one, "ndim", 0) > 2 else one)
        raised = getattr(self._answer(self._cell.source, less), "lines", ())
        lines = [line.number for line in raised if any(self._cell.lines[line.number - 1 : line.number])]
        if not lines:
            return None
        text = f"Without the axes in front, {self._written(less)} raises an error: in which line? Type its number."
        return self._question(text, lines[-1:], f"line {lines[-1]}, `{self._cell.lines[lines[-1] - 1].strip()}`")

    def changed_axis(self) -> Question | None:
        """Which shape has the result with another axis? Nothing is asked if it stays the same."""
        for place in self._cell.of(ast.UnaryOp):
            old, part = number(place.node), self._cell.text(place.parent) if isinstance(place.parent, PARTS) else ""
            if old in (-1, -2) and 0 < len(part) <= LONGEST:
                changed = self._cell.edited(self._cell.put("", place.node, new := str(-3 - int(old))).changes)
                now, then = (self._answer(text, self._call) for text in (self._cell.source, changed))
                same, other = (tuple(getattr(getattr(one, "value", 0), "shape", ())) for one in (now, then))
                if same and same != other and (other or isinstance(then, Failure)):
                    where = f"If {old} were {new} in `{one_line(part)}`, line {place.node.lineno}"
                    text = f"{where}: which shape has the result of {self._written(self._call)}? Type 0 for an error."
                    said = str(other) if other else f"0, since it raises {getattr(then, 'error', '')}"
                    return self._question(text, other or [0], said)
        return None

    def _question(self, text: str, right: Sequence[int], said: str) -> Question:
        rows = {f"The shapes for {self._written(self._call)}, as they are computed:".replace("`", ""): None}
        for node, shapes in self._shapes.items():  # an expression that is written twice counts once
            made = " and ".join(map(str, shapes[:3]))
            rows[f"line {node.lineno}: {one_line(self._cell.text(node))[:LONGEST]}  {made}"] = None
        return Question(self._exercise, text, tuple(right), said, tuple(rows)[:ROWS])

    @cached_property
    def _shapes(self) -> Mapping[ast.expr, Sequence[Shape]]:
        """The shapes that each expression has in the first call, in the order in which they are computed."""
        spans = [self._cell.span(node) for node in self._expressions]
        begins = [Change(begin, begin, f"{SAW}({place}, ") for place, (begin, _) in enumerate(spans)]
        wrapped = self._cell.edited((*begins, *(Change(end, end, ")") for _, end in spans)))
        answer = self._answer(RECORDER + wrapped, structs.replace(self._call, gives=Gives.PRINTED))
        found: dict[ast.expr, list[Shape]] = {}
        printed = getattr(answer, "value", "")
        for place, sizes in SEEN.findall(printed if isinstance(printed, str) else ""):
            if int(place) < len(spans):
                found.setdefault(self._expressions[int(place)], []).append(tuple(map(int, sizes.split())))
        return found

    def _named(self, node: ast.expr) -> str:
        for one in self._cell.nodes(ast.Assign):
            if one.value is node and isinstance(one.targets[0], ast.Name):
                return f"`{one.targets[0].id}` after line {one.end_lineno}"
        return f"`{one_line(self._cell.text(node))}` in line {node.lineno}"

    def _written(self, call: Call) -> str:
        made, word, sizes = as_written(call, self._names).partition(" with ")
        return f"`{made}`{word}{sizes}"


def _given(call: Call) -> Sequence[Shape]:
    return [tuple(value.shape) for value in call.given() if hasattr(value, "shape")]
