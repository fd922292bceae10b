"""List the wrong answers that the notebook's first line explains rightly, and grading's page less well.

    python -m tools.explained OUT.jsonl [ASSIGNMENT ...] [--every N]

Each collected wrong answer goes through `check` and, in the sandbox, through grading. A first line is right if it has
an accepted name, or for slips if it fits their pattern or quotes their line; two names of which one is right do not
count. Grading says as much if its page does the same, has a place, or asks the first line's question. The last lines
count.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter

from autograder.course.assignments import Assignment, Course
from autograder.report import ExerciseResult
from autograder.reports.rubric import as_text
from autograder.student.check import CheckResult, message_of
from autograder.worker.worker import one_worker
from tests.helpers import slips
from tests.helpers.wrong_code import WrongCode, wrong_code_of
from tools.locations import ROOT, SOURCES, arguments, graded

GREEN, UNCLEAR, SAME, PLACE, QUESTION, FULL, LESS = (
    "the check is green",
    "the first line has no accepted name, or is only a test's message",
    "grading explains it, too",
    "grading shows the place",
    "grading asks the same",
    "grading gives full marks",
    "grading says less",
)


def explains(wrong: WrongCode, seen: CheckResult) -> bool:
    """Whether the first line of `check` is right."""
    if wrong.source in ("slip", "walk"):
        return slips.judged(wrong, seen) == "right"
    return any(wrong.accepts(one.name) for one in seen.result.of("known mistake"))


def compared(wrong: WrongCode, seen: CheckResult, result: ExerciseResult) -> str:
    """How grading's page stands to the notebook's first line."""
    if seen.passed:
        return GREEN
    if not explains(wrong, seen):
        return UNCLEAR
    if result.score == result.max_score:
        return FULL
    names = {one.name for one in seen.result.of("known mistake")}
    if any(wrong.accepts(one.name) or one.name in names for one in result.of("known mistake")):
        return SAME
    page, pattern = as_text(result), wrong.words if wrong.source in ("slip", "walk") else "(?!)"
    if re.search(rf"(?<![A-Za-z])(?:{pattern})", page, re.IGNORECASE):
        return SAME
    if result.first("place"):
        return PLACE
    failed = next((test for test in seen.result.tests if test.state != "passed"), None)
    question = message_of(failed).question if failed and not names else ""
    return QUESTION if question and question in page else LESS


def of_assignment(assignment: Assignment, every: int) -> list[WrongCode]:
    """One in `every` of the assignment's wrong answers."""
    answers = [one for source in SOURCES for one in wrong_code_of(assignment, source) if not one.is_right]
    return answers[::every]


def main(out: str, *names: str, every: int = 1) -> None:
    """Write a line of JSON for each answer to the file `out`, and print those that grading explains less well."""
    course, counts = Course(ROOT), Counter[str]()
    with open(out, "w") as file, one_worker(course) as worker:
        for assignment in course.assignments.values():
            if names and not assignment.name.startswith(names):
                continue
            for wrong in of_assignment(assignment, every):
                seen, result = slips.checked(wrong), graded(worker, assignment, wrong)
                kind = compared(wrong, seen, result)
                counts[kind] += 1
                said = {"notebook": slips.first_line(seen), "grading": as_text(result)}
                print(
                    json.dumps({"answer": str(wrong), "kind": kind, "code": wrong.code} | said), file=file, flush=True
                )
                if kind in (FULL, LESS):
                    print(f"{kind}: {wrong}\n  {said['notebook']}")
    for kind, count in counts.most_common():
        print(f"{count:5d} {kind}")


if __name__ == "__main__":
    words, step = arguments(sys.argv[1:])
    main(*words, every=step)
