"""One pytest session over the suites of an assignment, collected once and kept open for any number of submissions.

A suite is ordinary pytest: classes marked `@pytest.mark.exercise("median")`, test methods with a docstring (the
sentence a student reads) and `@pytest.mark.weight(2)`, and the fixtures `student` and `reference`. pytest's own
hooks give outcomes as objects. A thread keeps the session open in `pytest_runtestloop`, so that a submission costs
0.1 ms a test instead of a new session's 200 ms.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from autograder import content
from autograder.errors import CourseError, MachineError
from autograder.sandbox.protocol.objects import NoField
from autograder.suites import made_by
from autograder.suites.expect import Mismatch
from autograder.suites.student import Missing, NotStarted, Student, StudentError, answers_of, as_written, names_of
from autograder.suites.whose_fault import truly
from autograder.text import one_line

# Plugins a suite has no use for; each would cost time in every test.
OFF = (
    "cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml", "logging", "nose", "pastebin",
    "setuponly", "setupplan", "stepwise", "terminal", "threadexception", "tmpdir", "unittest", "unraisableexception",
    "warnings",
)  # fmt: skip

SETTINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")  # somebody's own, for other tests: a suite does not know their options
ORDER = "the order of values"  # a cause
WITHIN = "within "  # what is called in this line of a suite fails
MAX_MESSAGE = 2_000  # characters; an answer may have words of its own in it, the keys of a dict


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
    """What one test gave: None if it passed, else the error.

    call: the one that it is about, in words; made_by: code that makes what went in
    where: the suite's line that failed, for authors
    """

    test: Test
    error: BaseException | None
    call: str = ""
    made_by: str = ""
    where: str = ""

    def told(self, question: bool = True) -> str:
        """What the student reads, empty if the test passed; without the test's question if a better one is known."""
        if self.error is None:
            return ""
        if isinstance(self.error, StudentError | Mismatch):
            text = str(self.error) if question or not isinstance(self.error, Mismatch) else self.error.text
            return one_line(f"{self.call}: {text[:MAX_MESSAGE]}" if self.call else text[:MAX_MESSAGE])
        what = f"{type(self.error).__name__}, {self.where}" if self.where else type(self.error).__name__
        return f"this test could not judge what came back ({what}). Please tell your instructor."

    @property
    def untouched(self) -> bool:
        """Was there nothing to judge?"""
        return isinstance(self.error, NotStarted | Missing)

    @property
    def cause(self) -> str:
        """The same for tests that fail for one reason, however it is worded; empty if only the words can tell."""
        return getattr(self.error, "cause", "")


class Suite:
    """The collected suites of an assignment's exercises. Use as a context manager, or call `close`.

    Raises `CourseError` where they cannot be used, `MachineError` where they need a package that is not installed here.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        missing = [path for path in paths if not path.is_file()]
        if missing or not paths:
            raise CourseError(f"{missing[0]}: no such suite" if missing else "no exercise, so no suite")
        self.folder = paths[0].parent.parent.resolve()  # the assignment's
        self.paths = tuple(self.folder / path.parent.name / path.name for path in paths)
        self._plugin = _Plugin(self.folder)
        self._thread = threading.Thread(target=self._session, name=f"suite {self.folder.name}", daemon=True)
        self._thread.start()
        self._plugin.collected.wait()
        if self._plugin.missing is not None:
            raise MachineError(_how_to_get(self._plugin.missing))
        if self._plugin.problem is not None:
            raise CourseError(f"{self.folder}: a suite cannot be used: {self._plugin.problem}")
        self.tests: tuple[Test, ...] = tuple(self._plugin.items)
        self.path_of = {test: item.path for test, item in self._plugin.items.items()}
        # Parts of names of functions that are not to be called, see `perform`.
        markers = [item.get_closest_marker("watched") for item in self._plugin.items.values()]
        self.watched = tuple(sorted({str(part) for marker in markers if marker for part in marker.args}))

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def exercises(self) -> list[str]:
        """The exercises' names, in the suites' order."""
        return list(dict.fromkeys(test.exercise for test in self.tests))

    def run(self, test: Test, student: Student, reference: Student | None) -> Outcome:
        """Run one test for one student, in the calling thread (so that Ctrl-C reaches it).

        Raises `MachineError` where the test needs a package that is not installed here.
        """
        outcome = self._plugin.run(test, student, reference)
        if isinstance(outcome.error, ModuleNotFoundError):
            raise MachineError(_how_to_get(outcome.error.name or str(outcome.error)))
        return outcome

    def close(self) -> None:
        """End the session."""
        self._plugin.finished.set()
        self._thread.join()

    def _session(self) -> None:
        arguments = [f"--rootdir={self.folder}", "-c", os.devnull, "--noconftest"]
        # Else it lists every folder on the way to the suite, and behind a wall most of them cannot be.
        arguments.append(f"--confcutdir={self.folder}")
        # A plain assert says its own words and no more: what pytest would add are the values that are asked for.
        arguments.append("--assert=plain")
        # Plugins that happen to be installed would cost half a second, and could order or time a suite their own way.
        arguments.append("--disable-plugin-autoload")
        for name in OFF:
            arguments += ["-p", f"no:{name}"]
        content.forget(self.folder)
        self._plugin.settings = {name: os.environ.pop(name) for name in SETTINGS if name in os.environ}
        try:
            pytest.main([*arguments, *map(str, self.paths)], plugins=[self._plugin])
        finally:
            self._plugin.collected.set()


class _Module(pytest.Module):
    """A file of the content. Several are called suite.py, and they share files; see `content.load`."""

    def _getobj(self) -> Any:
        return content.load(self.path)


class _Plugin:
    """Keeps pytest's session open, and runs its items one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.collected, self.finished = threading.Event(), threading.Event()
        self.items: dict[Test, pytest.Item] = {}
        self.last: pytest.Item | None = None
        self.problem: str | None = "pytest found no test in it"
        self.settings: dict[str, str] = {}  # of the environment, given back once pytest has looked at it
        self.missing: str | None = None
        self.student: Student | None = None
        self.referee: Student | None = None
        self.error: BaseException | None = None

    @pytest.fixture(name="student")
    def student_fixture(self) -> Student | None:
        return self.student

    @pytest.fixture(name="reference")
    def reference_fixture(self) -> Student | None:
        return self.referee

    def pytest_configure(self, config: pytest.Config) -> None:
        os.environ.update(self.settings)
        config.addinivalue_line("markers", "exercise(name): the exercise that a class of tests judges")
        config.addinivalue_line("markers", "watched(*parts): PyTorch's functions with such names are not to be called")
        config.addinivalue_line("markers", "weight(n): the test's share of the exercise's points, 1 where not given")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problem = f"{report.nodeid}: {report.longrepr}"

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        return _Module.from_parent(parent, path=module_path)

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        """A suite that cannot be imported since a package is not there: that is the machine's, and not the course's."""
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith(content.PACKAGE):
            self.missing = error.name

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.items and not session.testsfailed:
            try:
                self.items = {_as_test(item): item for item in session.items}
                self.problem = None
            except CourseError as error:
                self.problem = str(error)
            else:
                self.collected.set()
                self.finished.wait()
        return True

    def run(self, test: Test, student: Student, reference: Student | None) -> Outcome:
        self.student, self.referee, self.error = student, reference, None
        item = self.items[test]
        # What comes next is mostly of this module, so its packages are not set up for each test anew: 1 ms of 2.
        module: Any = item.getparent(pytest.Module)
        if self.last is not None and self.last.getparent(pytest.Module) is not module:
            item.ihook.pytest_runtest_teardown(item=self.last, nextitem=item)
        self.last = item
        item.ihook.pytest_runtest_protocol(item=item, nextitem=module)
        if self.error is None:
            return Outcome(test, None)
        if isinstance(self.error, MachineError):  # nobody's answer is judged
            raise self.error
        where = _where(self.error, self.folder)
        if isinstance(self.error, NoField):
            self.error = Mismatch(str(self.error))
        if isinstance(self.error, AssertionError | pytest.fail.Exception) and not isinstance(self.error, Mismatch):
            self.error = as_mismatch(self.error, where)
        if isinstance(self.error, Mismatch) and reference is not None:
            self.error = truly(self.error, student.calls, answers_of(reference))
        call = student.calls.that_gave(getattr(self.error, "got", None))
        if call is None:
            return Outcome(test, self.error, where=where)
        if isinstance(self.error, Mismatch) and student.calls.has_elsewhere(self.error.got, self.error.wanted):
            self.error.cause = ORDER
        inputs = made_by.line(call, names_of(student)) if isinstance(self.error, Mismatch) else ""
        return Outcome(test, self.error, as_written(call, names_of(student)), inputs, where)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """The outcome as an object, without pytest's drawing of a failure: 60 ms that nobody reads."""
        if call.excinfo is not None and self.error is None:
            self.error = call.excinfo.value
        assert call.when != "collect"
        outcome: Literal["passed", "failed"] = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)


def as_mismatch(error: BaseException, where: str) -> Mismatch:
    """What a plain `assert ..., "hint"` or `pytest.fail("hint")` says, as an answer that is not what is asked for.

    An assertion that fails elsewhere, such as in numpy.testing, would tell the values that are asked for.
    """
    hint = str(error) if where and not where.startswith(WITHIN) else ""
    return Mismatch("what came back is not what is asked for here.", hint)


def _where(error: BaseException, folder: Path) -> str:
    """The line of a suite, or of a helper of it, that an error comes from; with `WITHIN` if by way of others.

    folder: the assignment's
    """
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    folders = (f"{folder}{os.sep}", f"{folder.parent / 'hidden'}{os.sep}")
    own = [place for place in places if place[0].startswith(folders)]
    if not own:
        return ""
    passed_on = places[-1] != own[-1] and not isinstance(error, pytest.fail.Exception)
    return f"{WITHIN if passed_on else ''}{os.path.basename(own[-1][0])}, line {own[-1][1]}"


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
