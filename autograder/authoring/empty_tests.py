"""Tests that judge nothing: asserts that always hold, tests that no known mistake fails, and unseeded numbers."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograder.authoring.problems import Problem
from autograder.course.assignments import Assignment
from autograder.testing.callbacks import parameter_names
from autograder.testing.catalogue import Catalogue, read_catalogue
from autograder.testing.functions import Functions, answering
from autograder.testing.suite import Suite, Test

IN_BRACKETS = 'Write the message without parentheses: assert CONDITION, "message".'
LONGEST = 57  # characters of an assert
CONSTANT = "Compare with what the student's code gives."


def _always_true(source: str) -> Iterator[tuple[int, str, str]]:
    """Asserts that hold whatever the code gives: the line, what stands there, and the remedy."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with magics, or a file that another check names
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        test = node.test
        is_pair = isinstance(test, ast.Tuple) and len(test.elts) == 2
        shown = isinstance(test, ast.Tuple | ast.List | ast.Set) and test.elts
        if shown or isinstance(test, ast.GeneratorExp | ast.Lambda) or (isinstance(test, ast.Constant) and test.value):
            written = f"assert {ast.unparse(test)}"
            remedy = IN_BRACKETS if is_pair else CONSTANT
            yield node.lineno, written if len(written) < LONGEST else f"{written[:LONGEST]}...", remedy


def always_true_cells(assignment: Assignment) -> Iterator[Problem]:
    """Asserts in the notebook's own test cells that always hold."""
    for cell in assignment.source.assert_cells.values():
        for line, written, remedy in _always_true(cell.source):
            yield Problem(assignment.notebook, cell.grade_id, f"line {line}, `{written}`, always holds", remedy)


def always_true(path: Path) -> Iterator[Problem]:
    """Asserts in a file of tests that always hold."""
    for line, written, remedy in _always_true(path.read_text(encoding="utf-8")):
        yield Problem(path, f"line {line}", f"`{written}` always holds", remedy)


def judge_nothing(assignment: Assignment) -> list[Problem]:
    """Tests that draw other numbers each time, and hidden tests that nothing wrong fails. All tests can be run."""
    reference, found = vars(assignment.reference()), list[Problem]()
    for paths in (assignment.suites, [path for path in assignment.visible if path.is_file()]):
        found += _drawn_anew(paths, reference) if paths else ()
    suite = Suite(assignment.suites)
    for path in [path for path in assignment.mistakes if path.parent.name in reference]:
        catalogue = read_catalogue([path])
        found += _never_failed(suite, path.parent.name, reference, catalogue) if catalogue.mistakes else ()
    return found


def _drawn_anew(paths: Sequence[Path], reference: Mapping[str, Any]) -> Iterator[Problem]:
    first, second = (_asked(Suite(paths), reference) for _ in range(2))
    for test, calls in first.items():
        if second[test] != calls:
            what = "its calls are others each time, so two students are judged by different numbers"
            remedy = "Seed what it draws, such as np.random.default_rng(1)."
            yield Problem(test.path, f"{test.exercise}, {test.name}", what, remedy)


def _asked(suite: Suite, reference: Mapping[str, Any]) -> dict[Test, list[bytes]]:
    answer, names = answering(reference), functools.partial(parameter_names, reference)
    found = {}
    for test in suite.tests:
        student = Functions(answer, names)
        suite.run(test, student, Functions(answer, names))
        found[test] = [one.call.as_bytes for one in student.calls]
    return found


def _never_failed(suite: Suite, exercise: str, reference: Mapping[str, Any], catalogue: Catalogue) -> Iterator[Problem]:
    """Tests that no known mistake fails, and no code that gives other values, another form, or changes arguments."""
    names = functools.partial(parameter_names, reference)
    count = itertools.count(1)
    changes = (lambda value, _: _other(value, next(count))), (lambda value, _: _in_another_form(value)), _changing
    codes = [_altered(reference[exercise], change) for change in changes]  # these fail most tests at once
    if isinstance(reference[exercise], type):  # what it is made of may be tested, too
        codes.append(lambda *_, **__: None)
    codes += [mistake.code for mistake in catalogue.of(exercise)]

    def fails(test: Test, code: Any) -> bool:
        student = Functions(answering(dict(reference) | {exercise: code}), names)
        return suite.run(test, student, Functions(answering(reference), names)).error is not None

    for test in suite.tests:
        if test.exercise == exercise and not any(fails(test, code) for code in codes):
            what = "no known mistake fails this test"
            remedy = "Enter one that does. Or does the test judge nothing?"
            yield Problem(test.path, f"{exercise}, {test.name}", what, remedy, blocks=False)


def _altered(code: Any, change: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
    """A function or module whose values are changed ones of `code`, and which raises nothing."""
    if not callable(code):  # a variable
        return code
    if isinstance(code, type):
        names = ["forward"] if hasattr(code, "forward") else [name for name in vars(code) if name[0] != "_"]
        return type(code.__name__, (code,), {name: _altered(getattr(code, name), change) for name in names})

    @functools.wraps(code)
    def altered(*args: Any, **kwargs: Any) -> Any:
        try:
            return change(code(*args, **kwargs), (*args, *kwargs.values()))
        except Exception:
            return None

    return altered


def _other(value: Any, number: int) -> Any:
    """Another value of the same form."""
    if isinstance(value, list | tuple):
        return type(value)(_other(item, number) for item in value)
    if isinstance(value, dict):
        return {key: _other(item, number) for key, item in value.items()}
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return (not value if isinstance(value, bool) else ~value) if number % 2 else value
    if isinstance(value, int | float | complex) or hasattr(value, "dtype"):
        return value + number
    return f"{value}{number}" if isinstance(value, str) else number if value is None else value


def _in_another_form(value: Any) -> Any:
    """An array with one more axis and less precise, a number in a list, and None for anything else."""
    if isinstance(value, tuple):
        return tuple(map(_in_another_form, value))
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)[None].astype(np.float16)
    return [value] if isinstance(value, int | float) or hasattr(value, "shape") else None


def _changing(value: Any, arguments: tuple[Any, ...]) -> Any:
    """The value, after a change of all arguments."""
    for one in arguments:
        if isinstance(one, list):
            one.append(0)
        elif getattr(one, "shape", ()):
            one[...] = _other(one, 1)
    return value
