"""`autograder dev check`: whether the course is ready for students. Authors run it after every edit.

Each check yields problems, which name the file, the cell and the remedy. All code here is trusted: the course's own
stubs, solutions and known mistakes are marked in the same way as a student's work.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import nbformat

from autograder.authoring import notebook_checks
from autograder.authoring.empty_tests import always_true, always_true_cells, judge_nothing
from autograder.authoring.generated_files import can_be_released, release_text
from autograder.authoring.known_mistakes import Promises, promises, result_of
from autograder.authoring.problems import NO_JUDGE, UNCHECKED, UNGRADED, UNUSABLE, Checked, Problem, named, once
from autograder.course.assignments import Assignment, Course, Exercise
from autograder.course.content import settings_of
from autograder.course.loading import COURSE, course_in_time
from autograder.errors import CourseError, MachineError
from autograder.explain import fingerprints, visible_fingerprints
from autograder.explain.explaining import ABOVE, judge
from autograder.explain.material import Material
from autograder.explain.picture import example_in
from autograder.judge.rules import GRADING
from autograder.report import ExerciseResult, Report
from autograder.reports.heatmap import beside, differing, drawn_arrays
from autograder.submission import NotebookFile, code_cells
from autograder.task import Task
from autograder.testing.call_text import as_written
from autograder.testing.callbacks import parameter_names
from autograder.testing.catalogue import Mistake, read_catalogue
from autograder.testing.functions import COURSE_SECONDS, Functions, Here, answering
from autograder.testing.student_errors import FailedTest
from autograder.testing.suite import Outcome, Suite
from autograder.text import one_line
from autograder.worker.worker import Worker, one_worker
from cellcage.protocol.calls import Failure, NoAnswer

FIRST = "Fix this first."
KNOWN_MARKS = {"exercise", "weight", "parametrize", "about_time", "last_digits"}
SUITE_SECONDS = 60.0  # on the clock, for the tests of one exercise or mistake; a single call has its own limit
MISTAKES = 2  # known mistakes, at least, of an exercise: with fewer, what its tests accept is unknown
SLIPS = ("NameError", "ImportError", "ModuleNotFoundError")  # of an author: no wrong answer

Made = TypeVar("Made")


def check_course(course: Course, only: list[str]) -> Iterator[Checked]:
    """Check the assignments named in `only`, or all. Raises `CourseError` if one of them does not exist."""
    names = only or course.names
    if unknown := [name for name in names if name not in course.names]:
        course.assignment(unknown[0])
    with one_worker(course) as worker:
        for name in names:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                checked = _checked(course, name, worker)
            yield replace(checked, printed=tuple(dict.fromkeys(printed.getvalue().splitlines())))


def _checked(course: Course, name: str, worker: Worker) -> Checked:
    try:
        assignment = course.assignment(name)
        problems = [*_modules(course), *_all(assignment, worker)]
        # If something is to be fixed first, this might not be possible.
        found = Promises()
        if not any(one.blocks for one in problems):
            problems += _in_time(assignment.content, "a test", functools.partial(judge_nothing, assignment))
            found = promises(assignment)
        kept = tuple(once([*problems, *found.problems]))
        return Checked(name, _about(assignment, kept), kept, found.in_words)
    except CourseError as error:
        path, what = named(error, course.root / "source" / name)
        return Checked(name, "1 to fix", (Problem(path, "", what, FIRST),))


def _modules(course: Course) -> Iterator[Problem]:
    """The modules in `course.toml` are installed."""
    path = course.folder / COURSE
    if not path.is_file():
        return
    if str(course.root) not in sys.path:
        sys.path.append(str(course.root))  # one may be the course's own
    settings = settings_of(course.folder)
    for name, module in [*settings.names.items(), *(("early", module) for module in settings.early)]:
        try:
            is_there = importlib.util.find_spec(module) is not None
        except (ImportError, ValueError):
            is_there = False
        if not is_there:
            yield Problem(path, name, f"there is no module {module!r} here", "Is it a typo, or is it not installed?")


def _all(assignment: Assignment, worker: Worker) -> Iterator[Problem]:
    """All problems; if the notebook cannot be read, only that one."""
    try:
        _ = assignment.source  # raises `CourseError` if the notebook cannot be read
        source = nbformat.read(assignment.notebook, as_version=4)
        unreleasable = list(can_be_released(assignment, source))
        yield from unreleasable
        if unreleasable:  # nbgrader would end in a traceback
            return
        yield from notebook_checks.cells_in_order(assignment, source)
        lacking = list(notebook_checks.exercises_have_cells(assignment, source))
        yield from lacking
        if lacking:  # and its tests would say the same in other words
            return
        yield from notebook_checks.names_in_files(assignment)
        yield from notebook_checks.headings(assignment, source)
        yield from notebook_checks.left_from_the_skeleton(assignment, source)
        with tempfile.TemporaryDirectory() as folder:
            text = release_text(assignment, Path(folder))
        if assignment.by_suite:
            yield from notebook_checks.in_step(assignment, text)
        release = nbformat.reads(text, as_version=4)
        yield from notebook_checks.no_secret(assignment, source, release)
        yield from notebook_checks.no_other_folder(assignment)
        yield from always_true_cells(assignment)
        for path in (*assignment.suites, *assignment.visible, *assignment.content.glob("*.py")):
            yield from always_true(path) if path.is_file() else ()
        yield from suite_covers(assignment)
        yield from visible_checks(assignment)
        yield from notebook_checks.hints(assignment, source)
        yield from known_mistakes(assignment)
        yield from stubs_and_solutions(assignment, source, release, worker)
    except (CourseError, MachineError) as error:
        path, what = named(error, assignment.notebook.parent)
        yield Problem(path, "", f"{UNCHECKED}{what}", FIRST)


def _in_each(paths: Sequence[Path], check: Callable[[Suite], Iterator[Problem]]) -> Iterator[Problem]:
    """What `check` finds in a suite of all files. If a file is invalid, the files are checked one by one."""
    try:
        suite = Suite(paths)
        found = list(check(suite))
    except (CourseError, MachineError) as error:
        if len(paths) == 1:
            path, what = named(error, paths[0])
            found = [Problem(path, "", f"{UNUSABLE}{what}", FIRST)]
        else:
            found = [problem for path in paths for problem in _in_each([path], check)]
    yield from found


def _about(assignment: Assignment, problems: tuple[Problem, ...]) -> str:
    if blocking := sum(problem.blocks for problem in problems):
        return f"{blocking} to fix"
    written = sum(assignment.graded_cells[name] for name in assignment.written)
    mistakes = len(read_catalogue(assignment.mistakes).mistakes)
    number = len(assignment.exercises)
    counted = f"{number} exercise{'s' * (number != 1)}, {assignment.max_score:g} points by tests"
    return f"in order: {counted} and {written:g} by hand, {mistakes} known mistakes"


def suite_covers(assignment: Assignment) -> Iterator[Problem]:
    """Each exercise has hidden tests in its folder, and no mark is misspelt."""

    def check(suite: Suite) -> Iterator[Problem]:
        yield from _in_their_folders(suite, "hidden tests")
        for test in suite.tests:
            for mark in sorted(test.marks - KNOWN_MARKS):
                yield Problem(test.path, test.name, f"there is no mark {mark!r}", "Is it a typo?")
            if not test.weight > 0:
                remedy = "Give it some, or delete the test."
                yield Problem(test.path, test.name, f"its weight is {test.weight:g}", remedy)

    yield from _in_each(assignment.suites, check)


def visible_checks(assignment: Assignment) -> Iterator[Problem]:
    """Each exercise has visible tests in its folder, and the solution passes them."""
    exercises = {exercise.name: exercise for exercise in assignment.by_suite}
    reference = vars(assignment.reference())

    def solved(suite: Suite, exercise: Exercise) -> tuple[ExerciseResult, ...]:
        return judge(Material(suite), Here(dict(reference), of_course=True), [exercise])

    def check(suite: Suite) -> Iterator[Problem]:
        yield from _in_their_folders(suite, "visible test")
        for path in suite.paths:
            name = path.parent.name
            if name in suite.exercises():
                (result,) = _in_time(path, "it", functools.partial(solved, suite, exercises[name]))
                yield from _with_text(suite, reference, _lost(path, result, "the solution fails this visible test"))

    for path in [path for path in assignment.visible if not path.is_file()]:
        what = "it has no visible test, so `check` cannot test it"
        yield Problem(path, path.parent.name, what, "Write one, or mark hidden cases as visible.", blocks=False)
    yield from _in_each([path for path in assignment.visible if path.is_file()], check)


def _in_time(path: Path, what: str, make: Callable[[], Made]) -> Made:
    """What `make` returns, which runs tests. Raises `CourseError` if that does not end in time."""
    return course_in_time(SUITE_SECONDS, make, f"{path}: {what}", "does a test wait for what never happens?")


def _in_their_folders(suite: Suite, what: str) -> Iterator[Problem]:
    """The mark of each test class names the exercise of its folder."""
    for path in suite.paths:
        name, marked = path.parent.name, {test.exercise for test in suite.tests if test.path == path}
        for other in sorted(marked - {name}):
            yield Problem(path, other, f"a class is marked {other}, and its folder is {name}", "Give both one name.")
        if name not in marked:
            remedy = f'Write a class marked @pytest.mark.exercise("{name}") there.'
            yield Problem(path, name, f"the exercise has no {what}", remedy)


def known_mistakes(assignment: Assignment) -> Iterator[Problem]:
    """Each exercise has known mistakes with hints, and its tests accept none of them."""

    def check(suite: Suite) -> Iterator[Problem]:
        for path in (tests.with_name("mistakes.py") for tests in suite.paths):
            yield from _mistakes_of(path.parent.name, path, assignment, suite)

    yield from _in_each(assignment.suites, check)
    saved = assignment.content / fingerprints.FILE
    if saved.exists() and not fingerprints.read(assignment.content):
        what = "does not match the catalogues beside it, so naming mistakes takes longer"
        yield Problem(saved, "", what, "Run `autograder dev catalogue`.", blocks=False)
    names = assignment.content / visible_fingerprints.FILE
    if names.exists() and not visible_fingerprints.is_fresh(assignment.content):
        what = "does not match the catalogues and visible tests beside it, so `check` may name fewer mistakes"
        yield Problem(names, "", what, "Run `autograder dev catalogue`.", blocks=False)


def _mistakes_of(exercise: str, path: Path, assignment: Assignment, suite: Suite) -> Iterator[Problem]:
    catalogue = read_catalogue([path])
    found = len(catalogue.of(exercise))
    if found < MISTAKES:
        what = f"{found} known mistake{'s' * (found != 1)}"
        yield Problem(path, exercise, what, f"Enter {MISTAKES - found} more.", blocks=False)
    for mistake in catalogue:
        if not mistake.hint.strip():
            yield Problem(path, mistake.name, "it has no hint", "Ask what to look at; don't give the fix away.")
        if mistake.exercise != exercise:
            yield Problem(path, mistake.name, f"it belongs to {mistake.exercise}, not to {exercise}", "Is it a typo?")
        elif exercise in suite.exercises():
            tried = functools.partial(_tried, path, assignment, suite, mistake)
            yield from _in_time(path, f"mistake {mistake.name!r}", tried)
    for made in catalogue.variants:
        try:
            _ = made.code
        except Exception as error:
            what = f"the set of mutants of {made.exercise} makes no code of it ({type(error).__name__}: {error})"
            yield Problem(path, made.name, what, "Does the function take the options of that name?")
            break


def _tried(path: Path, assignment: Assignment, suite: Suite, mistake: Mistake) -> list[Problem]:
    """A mistake fails a test, by an answer and not by a slip of its own. A test that cannot judge it is found, too.

    It stops at the first failure, and so takes a quarter of the time of judging.
    """
    reference = vars(assignment.reference())
    names = functools.partial(parameter_names, reference)
    student = Functions(answering(dict(reference) | {mistake.exercise: mistake.code}), names)
    right = Functions(answering(reference), names)
    tests = [test for test in suite.tests if test.exercise == mistake.exercise]
    outcome = next((found for test in tests if (found := suite.run(test, student, right)).error), None)
    answers = [one.answer for one in student.calls]
    slow = next((one.call for one in student.calls if isinstance(one.answer, NoAnswer)), None)
    if slow is not None:
        what = f"it was stopped, because `{as_written(slow, names)}` did not end in {COURSE_SECONDS:g} seconds"
        return [Problem(path, mistake.name, what, "Let it end, or grading cannot name it.", blocks=False)]
    if answers and all(isinstance(one, Failure) and one.error in SLIPS for one in answers):
        (text,) = {f"{one.error}: {one.text}" for one in answers[:1] if isinstance(one, Failure)}
        return [Problem(path, mistake.name, f"it only raises {text}", "Correct it: no student's answer is like that.")]
    if outcome and not isinstance(outcome.error, FailedTest):
        what = f"{NO_JUDGE} {mistake.name!r} ({_in_words(outcome)})"
        cell = f"{mistake.exercise}, {outcome.test.name}"
        return [Problem(path.with_name("hidden_tests.py"), cell, what, "Fix the test.")]
    if outcome is None and _accepted(assignment, suite, mistake):
        remedy = "Add a test to the hidden_tests.py beside it that it fails."
        return [Problem(path, mistake.name, f"the hidden tests of {mistake.exercise} accept it", remedy)]
    return []


def _accepted(assignment: Assignment, suite: Suite, mistake: Mistake) -> bool:
    """True if judging a mistake that passes all tests gives all points. It repeats calls, which may show kept state."""
    result = result_of(assignment, Material(suite, vars(assignment.reference()), rules=GRADING), mistake)
    return result.score == result.max_score


def _in_words(outcome: Outcome) -> str:
    """The exception of a test that could not judge, with its text and line."""
    return f"{type(outcome.error).__name__}: {one_line(str(outcome.error))}; {outcome.where}"


def stubs_and_solutions(assignment: Assignment, source: Any, release: Any, worker: Worker) -> Iterator[Problem]:
    """Graded like submissions, the release counts as not started, and the source notebook gets full marks."""
    stub, solved = (mark(worker, assignment, NotebookFile.of(notebook.cells)) for notebook in (release, source))
    for reason in filter(None, (stub.reason, solved.reason)):
        yield Problem(assignment.notebook, "", f"{UNGRADED}{reason.rstrip('.')}", FIRST)
    by_cell, found = assignment.source.assert_cells, False
    broken = {one.name for one in solved.exercises if any(test.state != "passed" for test in one.tests)}
    for result in stub.exercises:
        if result.name in by_cell and result.score == result.max_score > 0:
            yield Problem(assignment.notebook, result.name, "untouched, it has all its points", "Let it ask for more.")
        elif result.started and result.name not in by_cell:
            passed = ", ".join(test.name for test in result.tests if test.state == "passed")
            if result.name in broken and not passed:  # because of the test that is broken
                continue
            what = "untouched, it does not count as not started" + (f", and passes {passed}" if passed else "")
            remedy = "Is there code outside the solution's markers?"
            remedy += " Or does that test ask nothing of the student?" if passed else ""
            yield Problem(assignment.notebook, result.name, what, remedy)
    for result in solved.exercises:
        path = assignment.content / result.name / "hidden_tests.py"
        if result.name in by_cell:
            yield from _lost(assignment.notebook, result, "the solution does not get all points")
            continue
        what = "the solution fails this hidden test"
        lost = list(_with_text(Suite(assignment.suites), vars(assignment.reference()), _lost(path, result, what)))
        found = found or bool(lost)
        yield from lost
        yield from _picture(assignment, result)
        total = sum(test.max_score for test in result.tests)
        if abs(total - result.max_score) > 0.01:
            what = f"its tests add up to {total:g} points, its cell says {result.max_score:g}"
            yield Problem(path, result.name, what, "Are all its weights positive?")

    if not found:
        # As in a real run, which ends if the solution itself fails.
        mark(worker, assignment, NotebookFile.of(source.cells), by_author=False)


def _picture(assignment: Assignment, result: ExerciseResult) -> Iterator[Problem]:
    """The solution draws the expected picture."""
    path, drawn = assignment.content / result.name / "picture.toml", result.picture
    if not path.is_file():
        return
    try:
        example_in(path)
    except CourseError as error:
        yield Problem(path, result.name, str(error).removeprefix(f"{path}: "), "Fix it.")
        return
    if drawn is None:
        yield Problem(path, result.name, "the solution gives no such picture", "Are arguments, rows and columns right?")
    elif drawn.wanted and differing(beside(*drawn_arrays(drawn), drawn.rows, drawn.columns)):
        yield Problem(path, result.name, "its wanted numbers are not what the solution gives", "Correct them.")


def _with_text(suite: Suite, reference: Mapping[str, Any], problems: Iterator[Problem]) -> Iterator[Problem]:
    """The problems on tests that the reference fails, each with the line of the test, and the text of its exception."""
    found = list(problems)
    if not found:
        return
    names = functools.partial(parameter_names, reference)
    outcomes = {
        f"{test.exercise}, {test.name}": suite.run(test, Functions(answer, names), Functions(answer, names))
        for answer in [answering(reference)]
        for test in suite.tests
    }
    for problem in found:
        outcome = outcomes.get(problem.cell)
        if outcome is None or outcome.error is None:
            yield problem
        elif isinstance(outcome.error, FailedTest):
            yield replace(problem, what=f"{problem.what[:-1]}; {outcome.where})") if outcome.where else problem
        else:
            what = f"{problem.what.partition(' (')[0]} ({_in_words(outcome)})"
            yield replace(problem, what=what, remedy="Fix the test.")  # it judged nothing


def mark(worker: Worker, assignment: Assignment, notebook: NotebookFile, by_author: bool = True) -> Report:
    """The report on one of the course's own notebooks, graded in the sandbox like a submission, with pictures."""
    task = Task("check", assignment.name, assignment.version, for_page=True, by_author=by_author)
    return worker.mark(task.of(code_cells(notebook, assignment.source.locked_cells))).report


def _lost(path: Path, result: ExerciseResult, what: str) -> Iterator[Problem]:
    for test in result.tests:
        if test.state != "passed" and test.message != ABOVE:
            problem = f"{what} ({test.message.rstrip('.')})"
            yield Problem(path, f"{result.name}, {test.name}", problem, "Fix the solution in source/, or the test.")
