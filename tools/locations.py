"""Grade wrong answers in the sandbox, and record whether the feedback has a name, a place, or neither.

    python -m tools.locations OUT.jsonl [ASSIGNMENT ...] [--every N]

A wrong answer replaces one exercise of the model answers. The last lines count how many have the name of a known
mistake, a relation, or a place, and give the seconds for each.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from autograder.authoring.sample_class import fill, model_answers
from autograder.course.assignments import Assignment, Course
from autograder.report import ExerciseResult
from autograder.submission import NotebookFile, code_cells
from autograder.task import Task
from autograder.worker.worker import Worker, one_worker
from tests.helpers.wrong_code import WrongCode, wrong_code_of

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("author", "list", "slip", "walk")


def graded(worker: Worker, assignment: Assignment, wrong: WrongCode) -> ExerciseResult:
    """The result of one wrong answer among model answers."""
    notebook = fill(assignment.released, model_answers(assignment) | {wrong.exercise: wrong.code})
    task = Task("wrong", assignment.name, assignment.version).of(
        code_cells(NotebookFile.of(notebook.cells), assignment.source.locked_cells)
    )
    return next(one for one in worker.mark(task).report.exercises if one.name == wrong.exercise)


def outcome(worker: Worker, assignment: Assignment, wrong: WrongCode) -> dict[str, object]:
    """The result of one wrong answer, as values for JSON."""
    began = time.monotonic()
    result = graded(worker, assignment, wrong)
    seconds = time.monotonic() - began
    named, place = result.first("known mistake"), result.first("place")
    return {
        "answer": str(wrong),
        "is_right": wrong.is_right,
        "code": wrong.code,
        "words": wrong.words,
        "share": result.score / result.max_score,
        "name": result.diagnosis if named else "",
        "accepted": bool(named and wrong.accepts(named.name)),
        "relation": "" if named else result.diagnosis or "",
        "hint": result.hint,
        "location": result.to_dict().get("location"),
        "reads": place.where if place else "",
        "not_produced": [one.name for one in result.of("not produced")],
        "seconds": round(seconds, 3),
    }


def kind_of(entry: dict[str, object]) -> str:
    """The kind of feedback on an answer."""
    if entry["share"] == 1:
        return "full marks"
    given = [word for word in ("name", "relation", "location") if entry[word]]
    return " and ".join(given) or "nothing"


def main(out: str, *names: str, every: int = 1) -> None:
    """Write a line of JSON for each answer to the file `out`."""
    course, counts, seconds = Course(ROOT), Counter[str](), 0.0
    with open(out, "w") as file, one_worker(course) as worker:
        for assignment in course.assignments.values():
            if names and not assignment.name.startswith(names):
                continue
            for wrong in [one for source in SOURCES for one in wrong_code_of(assignment, source)][::every]:
                entry = outcome(worker, assignment, wrong)
                counts[kind_of(entry)] += 1
                seconds += float(str(entry["seconds"]))
                print(json.dumps(entry), file=file, flush=True)
    for kind, count in counts.most_common():
        print(f"{count:5d} {kind}")
    print(f"{seconds / max(1, counts.total()):.2f} s for each")


def arguments(words: list[str]) -> tuple[list[str], int]:
    """The words without `--every N`, and N."""
    step = int(words.pop(words.index("--every") + 1)) if "--every" in words else 1
    return [one for one in words if one != "--every"], step


if __name__ == "__main__":
    words, step = arguments(sys.argv[1:])
    main(*words, every=step)
