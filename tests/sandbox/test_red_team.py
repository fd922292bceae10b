"""Submissions that try to get unearned marks, to see secrets, or to do harm.

Each file in `red_team/` is one submission in percent format. Its first comment says what it tries and what must
happen instead. The line `# expect:` holds the expectations as JSON:

    assignment   default: a1
    answers      exercises whose model answers come first; default: "all"
    at_most      exercise: the largest share of its points that it may get. All other exercises with an answer
                 must get full marks
    says         text in a message of each exercise in `at_most`, or a text for each
    never        a pattern that no message may match
    pictures     true to draw pictures
    printed      the exact output of the last cell
    stopped      the number of stopped cells; or stopped_at_most
    seconds      the time limit for the whole submission; default: 30
    behind_landlock   expectations that differ with Landlock

With each backend, all groups of attacks run one after another, with honest submissions before and after each group.
The honest reports must not change by a byte. `make test` runs the first group, which attacks the sandbox itself,
with both backends, and one in 24 of the others with bubblewrap.
"""

from __future__ import annotations

import contextlib
import functools
import json
import queue
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.authoring.sample_class import mistake, model_answers
from autograder.course.assignments import Course
from cellcage.limits import MIB, Limits
from cellcage.linux import landlock_rules
from cellcage.notebook import CUT
from tests.conftest import ROOT
from tests.helpers.sandboxes import Marker, Sandbox

pytestmark = pytest.mark.slow
ATTACKS = sorted(Path(__file__).parent.glob("red_team/*.py"))
FIRST = [path for path in ATTACKS if path.stem.startswith(("leaves", "sees", "harm_every", "harm_open"))]
OTHERS = [path for path in ATTACKS if path not in FIRST]
GROUPS = [FIRST, *(OTHERS[start::24] for start in range(24))]  # an attack that harms others also harms the next attack
# Low limits, so that attacks end soon.
SHORT = Limits(
    cell_seconds=1, call_seconds=1.2, import_seconds=0.1, call_seconds_again=0.2, total_seconds=10,
    total_clock_seconds=30, scratch=16 * MIB,
)  # fmt: skip


def read(path):
    """Expectations and cells of an attack."""
    head, *cells = re.split(r"^# %%.*\n", path.read_text(), flags=re.MULTILINE)
    (line,) = re.findall(r"^# expect: (.*)$", head, flags=re.MULTILINE)
    repeated = re.compile(r"^# repeat (\d+): (.*)$", re.MULTILINE)  # abbreviates a long cell
    return json.loads(line), [repeated.sub(lambda found: found[2] * int(found[1]), cell) for cell in cells]


class Run:
    """Attackers and honest students in one run with two workers, which are functions from assignment name to marker."""

    def __init__(self, kind):
        self.kind, self._opened = kind, contextlib.ExitStack()
        first = self._opened.enter_context(Sandbox(SHORT, kind))
        second = self._opened.enter_context(Sandbox(SHORT, kind, beside=first))
        course = Course(ROOT)
        self.workers = [
            functools.cache(lambda name, wall=wall: Marker(course.assignment(name), wall)) for wall in (first, second)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._opened.close()

    def honest_reports(self):
        """The report on an honest submission with one mistake, as bytes, from each worker."""
        return [honest_report(worker) for worker in self.workers]

    def outcome(self, paths):
        """Outcomes by attack. Two run at a time, because many wait for a deadline."""
        free = queue.SimpleQueue()
        for worker in self.workers:
            free.put(worker)

        def one(path):
            worker = free.get()
            try:
                return outcome(path, worker)
            finally:
                free.put(worker)

        with ThreadPoolExecutor(len(self.workers)) as pool:
            return dict(zip(paths, pool.map(one, paths), strict=True))


@pytest.fixture(scope="module")
def run():
    """The run with a backend, by name."""
    with contextlib.ExitStack() as opened:
        yield functools.cache(lambda kind: opened.enter_context(Run(kind)))


def honest_report(markers):
    marker = markers("a1_scaled_dot_product")
    answers = model_answers(marker.assignment) | mistake(marker.assignment, "no-scaling", "attention_scores")
    report, results = marker.mark_cells("innocent", ["print('hello')", *answers.values()], for_page=True)
    assert results[0].printed == "hello\n"
    return json.dumps(report.to_dict()).encode()


@pytest.fixture(scope="module")
def reports_before(run):
    """The honest reports before any attack."""
    first, second = run("bubblewrap").honest_reports()
    assert first == second
    assert b"no-scaling" in first
    return [first, second]


@pytest.fixture(scope="module")
def after(run, reports_before):
    """By backend and group: outcomes of its attacks, and whether the honest reports are unchanged."""

    def found(kind, number):
        outcomes = run(kind).outcome(GROUPS[number])
        return outcomes, run(kind).honest_reports() == reports_before

    return functools.cache(found)


def cases():
    for backend, now in (("bubblewrap", 1), ("landlock", 1)):
        for number, group in enumerate(GROUPS):
            marks = [] if number < now else [pytest.mark.catalogue]
            for path in group:
                yield pytest.param(path, number, backend, marks=marks, id=f"{backend}-{path.stem}")


@pytest.mark.parametrize(("path", "group", "backend"), list(cases()))
def test_attack(path, group, backend, after):
    if backend == "landlock" and not landlock_rules.abi():
        pytest.skip("this kernel has no Landlock")
    outcomes, unchanged = after(backend, group)
    check_outcome(path, *outcomes[path], backend)
    assert unchanged, "the report of an honest submission changed after this group of attacks"


def outcome(path, markers):
    """The report and cells of an attack, and the seconds it took."""
    expect, cells = read(path)
    marker = markers(expect.get("assignment", "a1_scaled_dot_product"))
    answers = model_answers(marker.assignment)
    start = time.monotonic()
    cells = [*(answers[name] for name in answered_exercises(expect, marker.assignment)), *cells]
    report, results = marker.mark_cells("mallory", cells, for_page=expect.get("pictures", False))
    return report, results, time.monotonic() - start


def answered_exercises(expect, assignment):
    return list(model_answers(assignment)) if expect.get("answers", "all") == "all" else expect["answers"]


def check_outcome(path, report, results, seconds, backend):
    expect, _ = read(path)
    expect |= expect.get(f"behind_{backend}", {})
    first = answered_exercises(expect, Course(ROOT).assignment(expect.get("assignment", "a1_scaled_dot_product")))
    assert seconds < expect.get("seconds", 30)
    assert report.status == "graded", report.reason
    if "never" in expect:
        messages = [test.message for exercise in report.exercises for test in exercise.tests]
        assert not any(re.search(expect["never"], message) for message in messages), messages
    at_most = expect.get("at_most", {})
    for exercise in report.exercises:
        if exercise.name in at_most:
            assert exercise.score <= at_most[exercise.name] * exercise.max_score, exercise
            says = expect.get("says", "")
            words = says[exercise.name] if isinstance(says, dict) else says
            assert any(words in test.message for test in exercise.tests), exercise
        elif exercise.name in first:
            assert exercise.score == exercise.max_score, exercise
    if "printed" in expect:
        assert results[-1].printed == expect["printed"]
        assert not results[-1].error
    stopped = sum(result.stopped is not None for result in results)
    assert stopped <= expect["stopped_at_most"] if "stopped_at_most" in expect else stopped == expect.get("stopped", 0)
    assert all(len(result.printed) <= SHORT.printed_characters + CUT for result in results)


def test_submission_with_thousands_of_loud_cells_is_graded(run):
    """Even though their output is larger than a verdict may be."""
    marker = run("bubblewrap").workers[0]("a1_scaled_dot_product")
    loud = "print('\N{GRINNING FACE}' * 30_000)\ndef f():\n    1 / 0\ndef g():\n    f()\ng()"
    cells = [*model_answers(marker.assignment).values(), *[loud] * 150, *["1 / 0"] * 4000]
    report, results = marker.mark_cells("mallory", cells)
    assert report.status == "graded", report.reason
    assert report.score == report.max_score
    assert len(results) == len(cells) and results[4].error == "ZeroDivisionError"
