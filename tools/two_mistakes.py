"""Put two collected mistakes into one answer, and look for the edit that makes most of its failing tests pass.

    python -m tools.two_mistakes OUT.jsonl [ASSIGNMENT ...]

A pair is two wrong answers to one exercise that each change one line of the model answer, and not the same line. Each
edit of the search for a place is tested in this process. It counts if it makes failing tests pass and breaks none; of
these, those that do most. The place is right if all of them are in one of the two lines. The last lines count.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice

from autograder.course.assignments import Assignment
from autograder.explain.repair.cell import ParsedCell
from autograder.explain.repair.edits import edits
from autograder.explain.repair.search import CANDIDATES
from autograder.judge.attempt import Attempt, attempt
from autograder.testing.callbacks import parameter_names
from autograder.testing.functions import Here
from tests.helpers.in_process import ASSIGNMENTS, LONG, exercise_of, material
from tests.helpers.slips import names_of
from tests.helpers.wrong_code import model_code, wrong_code_of
from tools.locations import SOURCES

solution_names = functools.cache(names_of)
PAIRS, SECONDS = 5, 6.0  # of an exercise; of CPU time for a pair


def pairs_of(assignment: Assignment) -> Iterator[tuple[str, str, set[int]]]:
    """An exercise, an answer with two mistakes, and the numbers of their lines."""
    changed = dict[str, set[tuple[int, str]]]()
    models = {one.name: model_code(assignment.solution.read_text(), one.name) for one in assignment.exercises}
    for wrong in (one for source in SOURCES for one in wrong_code_of(assignment, source) if not one.is_right):
        model, lines = models[wrong.exercise].rstrip("\n").splitlines(), wrong.code.rstrip("\n").splitlines()
        other = (
            [(at, line) for at, line in enumerate(lines) if line != model[at : at + 1][0]]
            if len(lines) == len(model)
            else []
        )
        if len(other) == 1:
            changed.setdefault(wrong.exercise, set()).update(other)
    for exercise, found in changed.items():
        pairs = [pair for pair in itertools.combinations(sorted(found), 2) if pair[0][0] != pair[1][0]]
        random.Random(exercise).shuffle(pairs)
        for pair in pairs[:PAIRS]:
            lines = models[exercise].rstrip("\n").splitlines()
            for at, line in pair:
                lines[at] = line
            yield exercise, "\n".join(lines) + "\n", {at + 1 for at, _ in pair}


def attempted(assignment: Assignment, exercise: str, text: str) -> Attempt:
    """The outcome of an answer to the hidden tests."""
    names = dict(solution_names(assignment))
    exec(compile(text, "<cell>", "exec", dont_inherit=True), names)
    known = material(assignment)
    parameters = partial(parameter_names, known.reference)
    return attempt(known, Here(names, of_course=True), exercise_of(assignment, exercise), parameters)


def passed(tried: Attempt) -> set[object]:
    """The tests that pass."""
    return {one.test for one in tried.outcomes if one.error is None}


def searched(assignment: Assignment, exercise: str, text: str, lines: set[int]) -> dict[str, object]:
    """What the search finds for one pair."""
    began, before = time.process_time(), passed(attempted(assignment, exercise, text))
    found, tried = list[tuple[int, int]](), 0
    for edit, changed in islice(edits(ParsedCell(text)), CANDIDATES):
        if time.process_time() - began > SECONDS:
            break
        tried += 1
        try:
            after = attempted(assignment, exercise, changed)
        except Exception:  # the edited cell does not run
            continue
        if after.full:
            return {"kind": "one edit repairs both", "seconds": time.process_time() - began, "tried": tried}
        if passed(after) > before:
            found.append((len(passed(after)), edit.lines[0]))
    most = {line for count, line in found if count == max(found)[0]}
    kind = "no edit" if not most else "several lines" if len(most) > 1 else "right" if most <= lines else "wrong"
    return {"kind": kind, "seconds": time.process_time() - began, "tried": tried}


def main(out: str, *names: str) -> None:
    """Write a line of JSON for each pair to the file `out`, and count."""
    counts, seconds = Counter[object](), 0.0
    with open(out, "w") as file:
        for assignment in ASSIGNMENTS:
            if names and not assignment.name.startswith(names):
                continue
            for exercise, text, lines in pairs_of(assignment):
                if exercise not in LONG:
                    result = searched(assignment, exercise, text, lines)
                    counts[result["kind"]] += 1
                    seconds += float(str(result["seconds"]))
                    row = {"exercise": exercise, "lines": sorted(lines), "code": text} | result
                    print(json.dumps(row), file=file, flush=True)
    for kind, count in counts.most_common():
        print(f"{count:5d} {kind}")
    print(f"{seconds / max(1, counts.total()):.2f} s of CPU time for each")


if __name__ == "__main__":
    main(*sys.argv[1:])
