"""Grade right answers on a busy machine, and time an endless loop: the second part of docs/reliability.md.

    python -m tools.busy            # ten runs beside eight busy loops, then five pairs of timed runs in each way
    python -m tools.busy --runs 1 --pairs 1

The busy loops have sessions of their own, because the kernel shares the processors between sessions.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.course.assignments import CONFIG, Assignment, Course

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reliability.md"
HEADING = "## A busy machine"
NAME = "a1_scaled_dot_product"
LOOPS = 8
SLOW = ("torch._dynamo", "sympy", "torch.optim", "torch.distributed.tensor")  # each imported by a first call
WAYS = {
    "grade --json": ("autograder", "grade", "submitted", "--json", "marks.json", "--quiet"),
    "grade --gradebook --feedback": ("autograder", "grade", "--gradebook", "--feedback", "--quiet"),
    "nbgrader autograde": ("nbgrader", "autograde", NAME),
}
WRONG = "def softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum()"
ENDLESS = "def softmax(x, axis=-1):\n    while True:\n        pass"


def command(name: str) -> str:
    """The path of a command of this environment."""
    return str(Path(sys.executable).with_name(name))


def course_with(folder: Path, answers: Mapping[str, Mapping[str, str]]) -> Course:
    """A copy of the course, with a submission of `NAME` by each student."""
    for name in ("source", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / CONFIG, folder / CONFIG)
    course = Course(folder)
    assignment = course.assignment(NAME)
    for student, changed in answers.items():
        hand_in(fill(assignment.notebook, changed), folder / "submitted", student, assignment)
    subprocess.run([command("nbgrader"), "generate_assignment", NAME], cwd=folder, check=True, capture_output=True)
    return course


def importing(assignment: Assignment, module: str) -> dict[str, str]:
    """Model answers whose first call of any exercise imports a large library."""
    late = f"    import {module}  # takes a while\n"
    found = {}
    for name, source in model_answers(assignment).items():
        head, _, rest = source.partition(":\n")
        found[name] = f"{head}:\n{late}{rest}"
    return found


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Within the block, so many programs want a processor each."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(course: Course, way: str) -> float:
    """Seconds that a command takes."""
    began = time.monotonic()
    program, *words = WAYS[way]
    subprocess.run([command(program), *words], cwd=course.root, check=True, capture_output=True)
    return time.monotonic() - began


def on_a_busy_machine(runs: int) -> tuple[int, list[str], float]:
    """How many submissions were graded, who lost points, and the median seconds of a run."""
    with tempfile.TemporaryDirectory() as folder:
        assignment = Course(ROOT).assignment(NAME)
        right = {f"right-{number}": model_answers(assignment) for number in range(4)}
        slow = {module.replace(".", "-"): importing(assignment, module) for module in SLOW}
        course, lost, seconds, graded = course_with(Path(folder), right | slow), [], [], 0
        for _ in range(runs):
            with busy(LOOPS):
                seconds.append(run(course, "grade --json"))
            reports = json.loads((course.root / "marks.json").read_text())
            graded += len(reports)
            lost += [
                f"{one['student']}: {one['score']:g} of {one['max_score']:g} {one.get('reason', '')}"
                for one in reports
                if one["score"] < one["max_score"] or one["status"] == "failed"
            ]
            print(f"busy: {seconds[-1]:.0f} s, lost so far: {lost}", flush=True)
    return graded, lost, statistics.median(seconds)


def of_a_loop(pairs: int) -> dict[str, list[float]]:
    """Seconds that a class of two takes longer if one has an endless loop in place of another mistake."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for way in WAYS:
        for _ in range(pairs):
            seconds = []
            for softmax in (WRONG, ENDLESS):
                with tempfile.TemporaryDirectory() as folder:
                    right = model_answers(Course(ROOT).assignment(NAME))
                    course = course_with(Path(folder), {"ada": right, "ben": right | {"softmax": softmax}})
                    seconds.append(run(course, way))
            found[way].append(seconds[1] - seconds[0])
            print(f"{way}: {seconds[0]:.1f} s, with a loop {seconds[1]:.1f} s", flush=True)
    return found


def section(graded: int, lost: list[str], seconds: float, runs: int, loops: Mapping[str, list[float]]) -> str:
    """This part of the page."""
    names = ", ".join(f"`{module}`" for module in SLOW)
    rows = (f"- `{way}`: {statistics.median(more):.1f} s" for way, more in loops.items())
    return "\n".join(
        [
            HEADING,
            "",
            "[Limits](limits.md) count CPU time, so a busy machine costs nobody a point. `python -m tools.busy` graded",
            f"right answers {runs} times on two cores, beside eight busy loops. Half of the answers import a large",
            f"library in a first call: {names}. Of {graded}",
            f"submissions, {len(lost)} lost points; a run took {seconds:.0f} s (median).",
            "",
            "An endless loop in place of another mistake makes a class of two take this much longer (median):",
            "",
            *rows,
            "",
        ]
    )


def written(page: str, part: str) -> str:
    """The page with its second part replaced."""
    return page.partition(HEADING)[0].rstrip() + "\n\n" + part


def main() -> None:
    """Measure, and write the part of the page. The exit code is 1 if somebody lost points."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10, help="runs beside busy loops")
    parser.add_argument("--pairs", type=int, default=5, help="runs with and without a loop, in each way")
    options = parser.parse_args()
    graded, lost, seconds = on_a_busy_machine(options.runs)
    part = section(graded, lost, seconds, options.runs, of_a_loop(options.pairs))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), part), encoding="utf-8")
    print(part)
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
