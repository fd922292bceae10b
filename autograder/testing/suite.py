"""The suites of an assignment, collected by pytest once and called for any number of submissions.

A suite is ordinary pytest: classes marked `@pytest.mark.exercise("median")`, and test methods with a docstring (the
sentence a student reads). Tests take `student` and `reference`, and what `@pytest.mark.parametrize` gives them.

    @pytest.mark.weight(2)          the test's share of the exercise's points, by default 1
    @pytest.mark.about_time("...")  the question to a student whose code is too slow
    @pytest.mark.last_digits        it looks at last digits, so it runs although answers differ only in rounding
"""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import re
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.course import loading
from autograder.errors import CourseError, MachineError
from autograder.report import TestMessage
from autograder.testing.call_text import Notes, as_written
from autograder.testing.expect import CHANGED_ARGUMENT
from autograder.testing.functions import AnsweredCall, Functions, quiet
from autograder.testing.mismatch import (
    NONE,
    NOT_RIGHT,
    IfOthersPass,
    Mismatch,
    call_about,
    has_elsewhere,
    kind_of,
    locate_fault,
    of_part,
)
from autograder.testing.student_errors import FailedTest, Missing, Raised, Stopped
from autograder.text import one_line
from cellcage.protocol.calls import Gives, Reply
from cellcage.values.value import NoField

# Settings of the environment that are meant for other tests: a suite does not know their options.
SETTINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
OPTIONS = (
    "--collect-only", "--quiet", "-c", os.devnull, "--noconftest", "--capture=no",
    "--assert=plain",  # a plain assert's message is not extended: pytest would add the expected values
    # Plugins that happen to be installed would cost half a second, and could order or time a suite their own way.
    "--disable-plugin-autoload",
    # It would collect garbage five times in the end, which takes 0.2 s once PyTorch is loaded.
    "-p", "no:unraisableexception",
)  # fmt: skip
GIVEN = ("student", "reference")
VALUE_ORDER = "the order of values"  # a reason
_UNPACKED = re.compile(r"values to unpack \(expected (?:at least )?(?P<count>\d+)|cannot unpack non-iterable")
MAX_MESSAGE = 2_000  # characters; an answer may put its own text into a message, such as the keys of a dict


@dataclass(frozen=True)
class Test:
    """One test of a suite, as collected.

    about_time: its question if a call is too slow, if it has one
    path: the suite's file; code: its function; marks: the names of pytest's
    """

    __test__ = False

    exercise: str
    name: str
    sentence: str
    weight: float
    about_time: str = ""
    path: Path = field(default=Path(), compare=False)
    code: Any = field(default=None, compare=False)
    marks: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test.

    error: None if it passed
    kept: the share of its points that a failed test earns all the same
    call: the call that the error is about, in words; reproduce: code that makes its arguments
    where: the suite's line that failed, for authors
    answer: the call with its answer, for a digest; None if there is none
    """

    test: Test
    error: BaseException | None
    call: str = ""
    reproduce: str = ""
    where: str = ""
    kept: float = 0.0
    answer: AnsweredCall | None = None

    @property
    def share(self) -> float:
        """The share of its points that the test earns."""
        return 1.0 if self.error is None else self.kept

    def message(self, question: bool = True) -> str:
        """The message for the student, with or without the test's own question; empty if the test passed."""
        if self.error is None:
            return ""
        if isinstance(self.error, FailedTest):
            text = str(self.error) if question else self.error.text
            return one_line(self._after_call(text[:MAX_MESSAGE]))
        what = f"{type(self.error).__name__}, {self.where}" if self.where else type(self.error).__name__
        return f"this test could not judge what came back ({what}). Please tell your instructor."

    @property
    def parts(self) -> TestMessage:
        """The message of a visible test, in parts."""
        parts = self.error.parts if isinstance(self.error, FailedTest) else None
        if parts is None:
            return TestMessage(self.message())
        happened = self._after_call(parts.happened)[:MAX_MESSAGE]
        return TestMessage(one_line(happened), one_line(parts.question), tuple(map(one_line, parts.went_in)))

    def _after_call(self, text: str) -> str:
        return f"{self.call}: {text}" if self.call else text

    @property
    def finds_wrong_answer(self) -> bool:
        """Whether a value, shape or error was wrong, or none came. A dtype or a changed argument is something else."""
        error = self.error
        if isinstance(error, Mismatch):
            return error.symptom in ("", "shape", "error") and error.reason != CHANGED_ARGUMENT
        return isinstance(error, FailedTest) and error.started

    @property
    def asks_if_others_pass(self) -> bool:
        """Whether its question fits only if no other test finds a wrong answer."""
        error = self.error
        if not isinstance(error, FailedTest):
            return False
        return isinstance(error.parts.question if error.parts else error.hint, IfOthersPass)

    @property
    def started(self) -> bool:
        """Whether there was something to judge."""
        return not isinstance(self.error, FailedTest) or self.error.started

    @property
    def reason(self) -> str:
        """Equal for tests that fail for one reason, whatever their messages; empty if only the messages can tell."""
        return self.error.reason if isinstance(self.error, FailedTest) else ""


class Suite:
    """The collected suites of an assignment's exercises.

    Raises `CourseError` if they cannot be used, `MachineError` if they need a package that is not installed here.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        missing = [path for path in paths if not path.is_file()]
        if missing:
            raise CourseError(f"{missing[0]}: no such suite")
        self.folder = paths[0].parent.parent.resolve() if paths else Path()  # the assignment's
        self.paths = tuple(self.folder / path.parent.name / path.name for path in paths)
        self._notes = Notes()
        with self._notes.taken():
            self._calls = {_as_test(item): _TestCall.of(item) for item in _collected(self.folder, self.paths)}
        self.tests = tuple(self._calls)

    def exercises(self) -> list[str]:
        """The exercises' names, in the suites' order."""
        return list(dict.fromkeys(test.exercise for test in self.tests))

    def run(self, test: Test, student: Functions, reference: Functions | None) -> Outcome:
        """Run one test for one student.

        Raises `MachineError` if the test needs a package that is not installed here.
        """
        with self._notes.taken():
            error = self._calls[test].error(student, reference)
        if error is None:
            return Outcome(test, None)
        if isinstance(error, ModuleNotFoundError):
            raise MachineError(_how_to_get(error.name or str(error)))
        if isinstance(error, MachineError):  # not the student's fault
            raise error
        return self._failed(test, error, student, reference)

    def _failed(self, test: Test, error: BaseException, student: Functions, reference: Functions | None) -> Outcome:
        """The outcome of a failed test, with the call that the error is about and its arguments."""
        where, in_suite = _where(error, self.folder)
        error = _in_words(test, error, student.calls, in_suite)
        if isinstance(error, Mismatch) and reference is not None:
            error = locate_fault(error, student.calls, reference._answer)
        about = call_about(getattr(error, "got", None), student.calls)
        if about is None:
            return Outcome(test, error, where=where)
        if isinstance(error, Mismatch) and has_elsewhere(error.got, error.wanted, about.answer):
            error.reason = VALUE_ORDER
        names = student._parameter_names
        inputs = self._notes.line(about.call, names) if isinstance(error, Mismatch) else ""
        is_exact = isinstance(error, Raised) and "TypeError" in error.types and "argument" in str(error)
        return Outcome(test, error, as_written(about.call, names, is_exact), inputs, where, answer=about)


def _in_words(test: Test, error: BaseException, calls: Sequence[AnsweredCall], in_suite: bool) -> BaseException:
    """The error with what the test and the last call add to its words, or with words for a student if it has none."""
    last = calls[-1] if calls else None
    if isinstance(error, Missing) and last and last.call.gives is Gives.NAME:
        return Missing(f"{error} It belongs in the cell of `{test.exercise}`.")
    if isinstance(error, Stopped) and error.late and test.about_time:
        return Stopped(f"{error.late}. {test.about_time}", error.late)
    if isinstance(error, NoField):
        return Mismatch(str(error))
    if isinstance(error, Mismatch):
        has_none = any(isinstance(one.answer, Reply) and one.answer.value is None for one in calls)
        if NONE not in error.text or last is None or has_none:
            return error
        return of_part(error, "a part of the answer" if last.call.seeds is None else "a gradient")
    if isinstance(error, AssertionError | pytest.fail.Exception):
        # A plain `assert ..., "hint"` or `pytest.fail("hint")`. One that is raised elsewhere, such as in
        # numpy.testing, would tell the expected values.
        return Mismatch(NOT_RIGHT, str(error) if in_suite else "")
    unpacked = _UNPACKED.search(str(error)) if in_suite and isinstance(error, ValueError | TypeError) else None
    if unpacked and last and isinstance(last.answer, Reply):
        got = last.answer.value
        text = f"returned {kind_of(got)}, where {unpacked['count'] or 'several'} values belong."
        return Mismatch(text, got=got, symptom="kind")
    return error


@dataclass(frozen=True)
class _TestCall:
    """How a collected test is called.

    owner: its class, made for each call; None if it has none
    takes: which of `GIVEN` it takes; parameters: from `parametrize`
    """

    owner: type | None
    name: str
    function: Callable[..., None]
    takes: tuple[str, ...]
    parameters: dict[str, object]

    @classmethod
    def of(cls, item: pytest.Function) -> _TestCall:
        """Raises `CourseError` if the test takes an argument that it cannot get."""
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        own = inspect.signature(item.function).parameters
        asked = sorted(item.fixturenames, key=lambda name: name not in own)  # other fixtures request the rest
        takes = tuple(name for name in asked if name not in parameters)
        for name in takes:
            if name not in GIVEN:
                where = f"{item.path}: {item.name}"
                raise CourseError(f"{where}: hidden tests take `student` and `reference`; this one asks for `{name}`")
        return cls(item.cls, item.originalname, item.function, takes, parameters)

    def error(self, student: Functions, reference: Functions | None) -> BaseException | None:
        """What the test raises; None if it passes."""
        given: dict[str, object] = {"student": student, "reference": reference}
        arguments = {name: given[name] for name in self.takes} | self.parameters
        try:
            test = getattr(self.owner(), self.name) if self.owner else self.function
            test(**arguments)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            return error
        return None


def _collected(folder: Path, paths: Sequence[Path]) -> list[pytest.Function]:
    """The tests that pytest finds in the files. Raises `CourseError` and `MachineError`."""
    if not paths:  # no exercise of the assignment is judged by a suite
        return []
    collector = _Collector(folder)
    loading.forget(folder)
    with _without_settings(), quiet():  # `autograder dev check` names an unknown mark
        # Without the second it lists every folder on the way to the suite, and in a sandbox most cannot be listed.
        folders = f"--rootdir={folder}", f"--confcutdir={folder}"
        pytest.main([*OPTIONS, *folders, *(os.path.relpath(path, folder) for path in paths)], plugins=[collector])
    for path, error in collector.not_loaded.items():
        if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(loading.PACKAGE):
            raise MachineError(_how_to_get(error.name or str(error)))
        if isinstance(error, CourseError):  # it names the file
            raise error
        where, _ = _where(error, folder)
        line = f" ({where})" if where else ""
        raise CourseError(f"{path}: it cannot be loaded: {type(error).__name__}: {error}{line}")
    if collector.problem or not collector.items:
        raise CourseError(f"{folder}: a suite cannot be used: {collector.problem or 'pytest found no test in it'}")
    return collector.items


class _Collector:
    """A plugin of pytest's that keeps the collected tests, and what stopped their collection.

    folder: what the files are named from, since pytest takes `[1]` in a file's path for a test's parameters
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.items: list[pytest.Function] = []
        self.not_loaded: dict[Path, Exception] = {}
        self.problem = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        started, config = session.config.invocation_params, session.config
        config.invocation_params = pytest.Config.InvocationParams(args=started.args, plugins=None, dir=self.folder)
        try:
            return (yield)
        finally:
            config.invocation_params = started  # where pytest goes in the end

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        """A file of the course. Several are called hidden_tests.py, and they share files; see `loading.load`."""
        module: pytest.Module = pytest.Module.from_parent(parent, path=module_path)
        try:
            module.obj = loading.load(module_path)
        except Exception as error:
            self.not_loaded[module_path] = error
            module.obj = ModuleType("nothing")
        return module

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problem = f"{report.nodeid}: {report.longrepr}"

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if excinfo.type is KeyboardInterrupt:  # and not pytest's own, for a suite that cannot be loaded
            raise excinfo.value

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = [item for item in session.items if isinstance(item, pytest.Function)]


@contextlib.contextmanager
def _without_settings() -> Iterator[None]:
    settings = {name: os.environ.pop(name) for name in SETTINGS if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(settings)


def _where(error: BaseException, folder: Path) -> tuple[str, bool]:
    """The line of a suite, or of one of its helpers, that an error comes from; and whether it was raised there itself.

    folder: the assignment's
    """
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    folders = (f"{folder}{os.sep}", f"{folder.parent / 'hidden'}{os.sep}")
    in_suite = [place for place in places if place[0].startswith(folders)]
    if not in_suite:
        return "", False
    raised_there = places[-1] == in_suite[-1] or isinstance(error, pytest.fail.Exception)
    name, line = in_suite[-1]
    return f"{'' if raised_there else 'within '}{os.path.basename(name)}, line {line}", raised_there


def _how_to_get(package: str) -> str:
    name = {"torch": "PyTorch"}.get(package, package)
    return f"{name} is not installed here; get it with `pip install {package}`, then restart."


def _as_test(item: pytest.Function) -> Test:
    exercise = item.get_closest_marker("exercise")
    if exercise is None or not exercise.args:
        raise CourseError(f'{item.path}: {item.name}: no @pytest.mark.exercise("...") on its class')
    marker = item.get_closest_marker("weight")
    weight = marker.args[0] if marker else getattr(item.function, "weight", 1.0)  # a test by `cases` has it
    document = (item.function.__doc__ or "").strip()
    if not document:
        raise CourseError(f"{item.path}: {item.name}: no docstring; it is the sentence that a student reads")
    if not isinstance(weight, int | float) or isinstance(weight, bool):
        raise CourseError(f"{item.path}: {item.name}: its weight is {weight!r}; it should be a number, such as 2")
    if weight < 0 or not math.isfinite(weight):
        raise CourseError(f"{item.path}: {item.name}: its weight is {weight:g}; it should be a number above 0")
    late = item.get_closest_marker("about_time")
    about_time = late.args[0] if late else getattr(item.function, "about_time", "")
    sentence, marks = " ".join(document.split()), frozenset(mark.name for mark in item.iter_markers())
    return Test(exercise.args[0], item.name, sentence, float(weight), about_time, item.path, item.function, marks)
