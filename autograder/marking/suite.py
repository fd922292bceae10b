"""One pytest session over one suite, collected once and kept open for any number of submissions.

A suite is ordinary pytest: classes marked `@pytest.mark.exercise("softmax")`, test methods with a docstring (the
sentence a student reads) and `@pytest.mark.weight(2)`, and the fixtures `student` and `reference`. pytest's own
hooks give outcomes as objects. The session lives in a thread that waits in `pytest_runtestloop`, as a worker of
a test distributor does; a submission then costs 0.1 ms a test instead of a new session's 200 ms.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CourseError
from autograder.marking.expect import Mismatch
from autograder.marking.student import Student, StudentError

# Plugins a suite has no use for; each would cost time in every test.
OFF = (
    "cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml", "logging", "nose", "pastebin",
    "setuponly", "setupplan", "stepwise", "terminal", "threadexception", "tmpdir", "unittest", "unraisableexception",
    "warnings",
)  # fmt: skip


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
    """What one test gave: None where it passed, else the error."""

    test: Test
    error: BaseException | None
    call: str = ""

    @property
    def message(self) -> str:
        """What the student reads; empty where the test passed."""
        if self.error is None:
            return ""
        if isinstance(self.error, StudentError | Mismatch):
            return f"{self.call}: {self.error}" if self.call else str(self.error)
        where = traceback.extract_tb(self.error.__traceback__)[-1]
        return f"this test could not judge what came back ({type(self.error).__name__} at {Path(where.filename).name}:{where.lineno})."


class Suite:
    """A collected suite. Use as a context manager, or call `close`."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise CourseError(f"{path}: no such suite")
        self.path = path
        self._jobs: queue.Queue[Any] = queue.Queue()
        self._answers: queue.Queue[Any] = queue.Queue()
        self._plugin = _Plugin(self._jobs, self._answers)
        self._thread = threading.Thread(target=self._main, name=f"suite {path.stem}", daemon=True)
        self._thread.start()
        self.tests: tuple[Test, ...] = self._answer()

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def exercises(self) -> list[str]:
        """The exercises' names, in the suite's order."""
        return list(dict.fromkeys(test.exercise for test in self.tests))

    def run(self, test: Test, student: Student, reference: Student | None) -> Outcome:
        """Run one test for one student."""
        self._jobs.put((test, student, reference))
        return self._answer()

    def close(self) -> None:
        """End the session."""
        self._jobs.put(None)
        self._thread.join()

    def _answer(self) -> Any:
        answer = self._answers.get()
        if isinstance(answer, CourseError):
            raise answer
        return answer

    def _main(self) -> None:
        arguments = [f"--rootdir={self.path.parent}", "-c", "/dev/null", "--import-mode=importlib", "--noconftest"]
        for name in OFF:
            arguments += ["-p", f"no:{name}"]
        code = pytest.main([*arguments, str(self.path)], plugins=[self._plugin])
        if not self._plugin.ready:
            self._answers.put(CourseError(f"{self.path}: the suite cannot be collected (pytest's exit code {int(code)}): {self._plugin.problem}"))


class _Plugin:
    """Turns pytest's session into a function from (test, student) to outcome."""

    def __init__(self, jobs: queue.Queue[Any], answers: queue.Queue[Any]) -> None:
        self.jobs, self.answers = jobs, answers
        self.ready = False
        self.problem = "no test found"
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
        config.addinivalue_line("markers", "exercise(name): the exercise that a class of tests judges")
        config.addinivalue_line("markers", "weight(n): the test's share of the exercise's points, 1 where not given")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problem = str(report.longrepr)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed or not session.items:
            return True
        try:
            items = {_as_test(item): item for item in session.items}
        except CourseError as error:
            self.problem = str(error)
            return True
        self.ready = True
        self.answers.put(tuple(items))
        while (job := self.jobs.get()) is not None:
            test, self.student, self.referee = job
            self.error = None
            items[test].ihook.pytest_runtest_protocol(item=items[test], nextitem=None)
            self.answers.put(Outcome(test, self.error, self.student.last_call if self.student else ""))
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        if call.excinfo is not None and self.error is None:
            self.error = call.excinfo.value
        return report


def _as_test(item: pytest.Item) -> Test:
    exercise = item.get_closest_marker("exercise")
    if exercise is None or not exercise.args:
        raise CourseError(f'{item.nodeid}: no @pytest.mark.exercise("...") on its class')
    weight = item.get_closest_marker("weight")
    document = (getattr(item.obj, "__doc__", None) or "").strip()  # type: ignore[attr-defined]
    if not document:
        raise CourseError(f"{item.nodeid}: no docstring; it is the sentence that a student reads")
    return Test(exercise.args[0], item.name, " ".join(document.split()), float(weight.args[0]) if weight else 1.0)


Runner = Callable[[Test], Outcome]
