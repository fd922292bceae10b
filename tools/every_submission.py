"""Write a class with every accepted answer, known mistake and independent wrong answer of the tests.

    python -m tools.every_submission FOLDER

Each submission replaces one exercise of the model answers. Known mistakes from `mutants` have no source text and are
left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.authoring.sample_class import fill, hand_in, model_answers, stands_alone, text_of
from autograder.course.assignments import Assignment, Course
from autograder.testing.catalogue import read_catalogue
from tests.helpers.accepted import accepted_submissions
from tests.helpers.wrong_code import wrong_code_of

ROOT = Path(__file__).resolve().parents[1]
KINDS = "mistake", "right", "wrong"


def every_answer(assignment: Assignment) -> Iterator[tuple[str, str, str]]:
    """The student's name, the exercise and the code of each answer."""
    accepted = [(one, _text(one.code, one.exercise)) for one in accepted_submissions(assignment)]
    entries = [
        [(one.exercise, _text(one.code, one.exercise)) for one in read_catalogue(assignment.mistakes)],
        [(one.exercise, text) for one, text in accepted if stands_alone(assignment, text)],
        [(one.exercise, one.code) for one in wrong_code_of(assignment, "author")],
    ]
    for kind, found in zip(KINDS, entries, strict=True):
        for number, (exercise, text) in enumerate(found):
            if text:
                yield f"{assignment.name[:2]}-{kind}-{number}", exercise, text


def _text(code: Any, exercise: str) -> str:
    """The source without its decorator; empty if there is none, or if it defines something else."""
    try:
        text = text_of(code)
    except (OSError, TypeError):
        return ""
    return text if re.match(rf"(def|class) {exercise}\b", text) else ""


def main(folder: str) -> None:
    """Write the class into `folder`, as nbgrader lays it out."""
    count = 0
    for assignment in Course(ROOT).assignments.values():
        answers = model_answers(assignment)
        for student, exercise, code in every_answer(assignment):
            hand_in(fill(assignment.released, answers | {exercise: code}), Path(folder), student, assignment)
            count += 1
    print(f"{count} submissions in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])
