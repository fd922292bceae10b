"""Put two collected mistakes into one answer, and count how often grading finds the line of one of them.

    python -m tools.two_mistakes OUT.jsonl [ASSIGNMENT ...]

A pair is two wrong answers to one exercise that each change one line of the model answer, and not the same line. A
place is right if it is in one of the two lines. The last lines count.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

from autograder.course.assignments import Assignment, Course
from autograder.report import ExerciseResult
from autograder.worker.worker import one_worker
from tests.helpers.wrong_code import WrongCode, model_code, wrong_code_of
from tools.locations import ROOT, SOURCES, graded

PAIRS = 5  # of an exercise


def pairs_of(assignment: Assignment) -> Iterator[tuple[WrongCode, set[int]]]:
    """Answers with two mistakes, each with the numbers of their lines."""
    changed = dict[str, set[tuple[int, str]]]()
    models = {one.name: model_code(assignment.solution.read_text(), one.name) for one in assignment.exercises}
    for wrong in (one for source in SOURCES for one in wrong_code_of(assignment, source) if not one.is_right):
        model, lines = models[wrong.exercise].rstrip("\n").splitlines(), wrong.code.rstrip("\n").splitlines()
        if len(lines) == len(model):
            other = [(at, line) for at, line in enumerate(lines) if line != model[at]]
            if len(other) == 1:
                changed.setdefault(wrong.exercise, set()).update(other)
    for exercise, found in changed.items():
        pairs = [pair for pair in itertools.combinations(sorted(found), 2) if pair[0][0] != pair[1][0]]
        random.Random(exercise).shuffle(pairs)
        for pair in pairs[:PAIRS]:
            lines = models[exercise].rstrip("\n").splitlines()
            for at, line in pair:
                lines[at] = line
            yield (
                WrongCode(assignment.name, exercise, 0, "pair", "", False, "\n".join(lines) + "\n"),
                {at + 1 for at, _ in pair},
            )


def kind_of(result: ExerciseResult, lines: set[int]) -> str:
    """What the feedback says of an answer with mistakes in these lines."""
    if result.is_full:
        return "full marks"
    if result.first("known mistake"):
        return "a name"
    if (place := result.first("place")) is None:
        return "no place"
    where = "a right place" if set(place.lines) <= lines else "a wrong place"
    return where if not place.is_certain else f"{where}, repaired by one edit"


def main(out: str, *names: str) -> None:
    """Write a line of JSON for each pair to the file `out`, and count."""
    course, counts, seconds = Course(ROOT), Counter[str](), 0.0
    with open(out, "w") as file, one_worker(course) as worker:
        for assignment in course.assignments.values():
            if names and not assignment.name.startswith(names):
                continue
            for wrong, lines in pairs_of(assignment):
                began = time.monotonic()
                result = graded(worker, assignment, wrong)
                seconds += (took := time.monotonic() - began)
                counts[kind := kind_of(result, lines)] += 1
                row = {"exercise": wrong.exercise, "lines": sorted(lines), "code": wrong.code, "kind": kind}
                print(json.dumps(row | {"place": result.where, "seconds": took}), file=file, flush=True)
    for kind, count in counts.most_common():
        print(f"{count:5d} {kind}")
    print(f"{seconds / max(1, counts.total()):.2f} s for each")


if __name__ == "__main__":
    main(*sys.argv[1:])
