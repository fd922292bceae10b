"""The suites of an assignment, collected by pytest once and run for any number of submissions.

A suite is ordinary pytest: classes marked `@pytest.mark.exercise("median")`, test methods with a docstring (the
sentence a student reads) and `@pytest.mark.weight(2)`, and the fixtures `student` and `reference`. pytest's own
hooks give outcomes as objects. pytest's session collects and ends; its items outlive it, and are run one at a time, so
that a submission costs 0.1 ms a test instead of a new session's 200 ms.
"""

from __future__ import annotations

import contextlib
import os
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from autograder import content
from autograder.errors import CourseError, MachineError
from autograder.report import Message
from autograder.testing.call_text import as_written
from autograder.testing.fault_localisation import locate_fault
from autograder.testing.mismatch import NOT_RIGHT, Mismatch
from autograder.testing.reproduce import Notes
from autograder.testing.student import Student
from autograder.testing.student_errors import Missing, NotStarted, StudentError
from autograder.text import one_line
from cellcage.protocol.kinds import Gives
from cellcage.values.core.objects import NoField

# Plugins a suite has no use for; each would cost time in every test.
OFF = (
    "cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml", "logging", "nose", "pastebin",
    "setuponly", "setupplan", "stepwise", "terminal", "threadexception", "tmpdir", "unittest", "unraisableexception",
    "warnings",
)  # fmt: skip

# Settings of the environment that are meant for other tests: a suite does not know their options.
SETTINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_CURRENT_TEST")
ORDER = "the order of values"  # a cause
MAX_MESSAGE = 2_000  # characters; an answer may put its own text into a message, such as the keys of a dict


@dataclass(frozen=True)
class Test:
    """One test of a suite, as collected."""

    __test__ = False

    exercise: str
    name: str
    sentence: str
    weight: float


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test.

    error: None if it passed
    kept: the share of its points that a failed test earns all the same
    call: the call that the error is about, in words; reproduce: code that makes its arguments
    where: the suite's line that failed, for authors
    """

    test: Test
    error: BaseException | None
    call: str = ""
    reproduce: str = ""
    where: str = ""
    kept: float = 0.0

    @property
    def share(self) -> float:
        """The share of its points that the test earns."""
        return 1.0 if self.error is None else self.kept

    def message(self, question: bool = True) -> str:
        """The message for the student, with or without the test's own question; empty if the test passed."""
        if self.error is None:
            return ""
        if isinstance(self.error, StudentError | Mismatch):
            text = str(self.error) if question or not isinstance(self.error, Mismatch) else self.error.text
            return one_line(self._after_call(text[:MAX_MESSAGE]))
        what = f"{type(self.error).__name__}, {self.where}" if self.where else type(self.error).__name__
        return f"this test could not judge what came back ({what}). Please tell your instructor."

    @property
    def parts(self) -> Message:
        """The message of a visible test, in parts."""
        parts = self.error.parts if isinstance(self.error, StudentError | Mismatch) else None
        if parts is None:
            return Message(self.message())
        happened = self._after_call(parts.happened)[:MAX_MESSAGE]
        return Message(one_line(happened), one_line(parts.question), tuple(map(one_line, parts.went_in)))

    def _after_call(self, text: str) -> str:
        return f"{self.call}: {text}" if self.call else text

    @property
    def untouched(self) -> bool:
        """Whether there was nothing to judge."""
        return isinstance(self.error, NotStarted | Missing)

    @property
    def cause(self) -> str:
        """The same for tests that fail for one reason, even if their messages differ; empty if only those can tell."""
        return getattr(self.error, "cause", "")


class Suite:
    """The collected suites of an assignment's exercises. As a context manager it tears down what fixtures have set up.

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
            self._plugin = _Plugin(self.folder, self.paths)
        items = self._plugin.by_test
        self.tests: tuple[Test, ...] = tuple(items)
        self.path_of = {test: item.path for test, item in items.items()}
        self.code_of: dict[Test, Any] = {test: getattr(item, "function", None) for test, item in items.items()}
        self.marks = {test: {mark.name for mark in item.iter_markers()} for test, item in items.items()}

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *exc: object) -> None:
        self._plugin.tear_down()

    def exercises(self) -> list[str]:
        """The exercises' names, in the suites' order."""
        return list(dict.fromkeys(test.exercise for test in self.tests))

    def run(self, test: Test, student: Student, reference: Student | None) -> Outcome:
        """Run one test for one student.

        Raises `MachineError` if the test needs a package that is not installed here.
        """
        with self._notes.taken():
            error = self._plugin.run(test, student, reference)
        if error is None:
            return Outcome(test, None)
        if isinstance(error, ModuleNotFoundError):
            raise MachineError(_how_to_get(error.name or str(error)))
        if isinstance(error, MachineError):  # nobody's answer is judged
            raise error
        return self._failed(test, error, student, reference)

    def _failed(self, test: Test, error: BaseException, student: Student, reference: Student | None) -> Outcome:
        """The outcome of a failed test, with the call that the error is about and its arguments."""
        where, in_suite = _where(error, self.folder)
        if isinstance(error, Missing) and student.calls and student.calls[-1].call.gives is Gives.NAME:
            error = Missing(f"{error} It belongs in the cell of `{test.exercise}`.")
        if isinstance(error, NoField):
            error = Mismatch(str(error))
        if isinstance(error, AssertionError | pytest.fail.Exception) and not isinstance(error, Mismatch):
            # A plain `assert ..., "hint"` or `pytest.fail("hint")`. One that is raised elsewhere, such as in
            # numpy.testing, would tell the expected values.
            error = Mismatch(NOT_RIGHT, str(error) if in_suite else "")
        if isinstance(error, Mismatch) and reference is not None:
            error = locate_fault(error, student.calls, reference._answer)
        call = student.calls.that_gave(getattr(error, "got", None))
        if call is None:
            return Outcome(test, error, where=where)
        if isinstance(error, Mismatch) and student.calls.has_elsewhere(error.got, error.wanted):
            error.cause = ORDER
        names = student._parameter_names
        inputs = self._notes.line(call, names) if isinstance(error, Mismatch) else ""
        return Outcome(test, error, as_written(call, names), inputs, where)


class _Module(pytest.Module):
    """A file of the course. Several are called hidden_tests.py, and they share files; see `content.load`."""

    def _getobj(self) -> Any:
        return content.load(self.path)


class _Plugin:
    """A plugin of pytest's that keeps the collected tests, and runs them later."""

    def __init__(self, folder: Path, paths: Sequence[Path]) -> None:
        self.by_test: dict[Test, pytest.Item] = {}
        self._problem = "pytest found no test in it"
        self._missing_package: str | None = None
        self._last: pytest.Item | None = None
        self._student: Student | None = None
        self._reference: Student | None = None
        self._error: BaseException | None = None
        if not paths:  # no exercise of the assignment is judged by a suite
            return
        arguments = [f"--rootdir={folder}", "-c", os.devnull, "--noconftest"]
        # Without this it lists every folder on the way to the suite, and in a sandbox most of them cannot be listed.
        arguments.append(f"--confcutdir={folder}")
        # The message of a plain assert is not extended: pytest would add the expected values.
        arguments.append("--assert=plain")
        # Plugins that happen to be installed would cost half a second, and could order or time a suite their own way.
        arguments.append("--disable-plugin-autoload")
        for name in OFF:
            arguments += ["-p", f"no:{name}"]
        content.forget(folder)
        with _without_settings(), warnings.catch_warnings():
            warnings.simplefilter("ignore", pytest.PytestUnknownMarkWarning)  # `autograder dev check` names it
            pytest.main([*arguments, *map(str, paths)], plugins=[self])
        if self._missing_package is not None:
            raise MachineError(_how_to_get(self._missing_package))
        if not self.by_test:
            raise CourseError(f"{folder}: a suite cannot be used: {self._problem}")

    def run(self, test: Test, student: Student, reference: Student | None) -> BaseException | None:
        """What one test raises; None if it passes."""
        self._student, self._reference, self._error = student, reference, None
        item = self.by_test[test]
        # The next test is mostly of this module, so its packages are not set up for each test anew: 1 ms of 2.
        module: Any = item.getparent(pytest.Module)
        if self._last is not None and self._last.getparent(pytest.Module) is not module:
            self.tear_down(item)
        self._last = item
        item.ihook.pytest_runtest_protocol(item=item, nextitem=module)
        return self._error

    def tear_down(self, following: pytest.Item | None = None) -> None:
        """Tear down what was set up for the last test, except what the `following` one needs, too."""
        if self._last is not None:
            with _without_settings():
                self._last.ihook.pytest_runtest_teardown(item=self._last, nextitem=following)
            self._last = None

    @pytest.fixture(name="student")
    def student_fixture(self) -> Student | None:
        return self._student

    @pytest.fixture(name="reference")
    def reference_fixture(self) -> Student | None:
        return self._reference

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "exercise(name): the exercise that a class of tests judges")
        config.addinivalue_line("markers", "random: what the exercise gives is drawn; each call has a seed of its own")
        config.addinivalue_line("markers", "weight(n): the test's share of the exercise's points, 1 where not given")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._problem = f"{report.nodeid}: {report.longrepr}"

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        return _Module.from_parent(parent, path=module_path)

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        """Notice that a suite needs a package that is missing: the machine's fault, and not the course's."""
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(content.PACKAGE):
            self._missing_package = error.name

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if excinfo.type is KeyboardInterrupt:  # and not pytest's own, for a suite that cannot be loaded
            raise excinfo.value

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Keep the items, and run none."""
        if session.items and not session.testsfailed:
            try:
                self.by_test = {_as_test(item): item for item in session.items}
            except CourseError as error:
                self._problem = str(error)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """The outcome as an object, without pytest's drawing of a failure, which takes 60 ms."""
        if call.excinfo is not None and self._error is None:
            self._error = call.excinfo.value
        assert call.when != "collect"
        outcome: Literal["passed", "failed"] = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)


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


def _as_test(item: pytest.Item) -> Test:
    exercise = item.get_closest_marker("exercise")
    if exercise is None or not exercise.args:
        raise CourseError(f'{item.nodeid}: no @pytest.mark.exercise("...") on its class')
    weight = item.get_closest_marker("weight")
    document = (getattr(item.obj, "__doc__", None) or "").strip()  # type: ignore[attr-defined]
    if not document:
        raise CourseError(f"{item.nodeid}: no docstring; it is the sentence that a student reads")
    return Test(exercise.args[0], item.name, " ".join(document.split()), float(weight.args[0]) if weight else 1.0)
