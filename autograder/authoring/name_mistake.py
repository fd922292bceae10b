"""`autograder dev name-mistake`: drafts a catalogue entry from a submission's wrong answer.

Every line of the student's code is commented out, since the catalogue is imported outside the sandbox. The author reads
the draft and then uncomments it.
"""

from __future__ import annotations

import re
from pathlib import Path

from autograder.course import Course
from autograder.errors import CourseError, SubmissionError
from autograder.submission import read_notebook

NAME = re.compile(r"[\w-]{1,60}")


def name_mistake(course: Course, notebook: Path, exercise: str, name: str, hint: str) -> Path:
    """Append a draft of the mistake `name` to the exercise's catalogue, and return that file.

    Raises `CourseError` if the exercise does not exist or the name or hint is invalid, and `SubmissionError` if the
    notebook cannot be read or has no such cell.
    """
    if not NAME.fullmatch(name):
        raise CourseError(f"{name!r} is no name for a mistake. Use letters, digits and dashes, such as no-scaling")
    if not hint.strip().endswith(("?", ".")):
        raise CourseError("the hint should be a question, or a sentence that says where to look")
    assignment = course.of_exercise(exercise)
    found = [cell.source for cell in read_notebook(notebook).cells if cell.grade_id == exercise]
    if not found or not found[0].strip():
        raise SubmissionError(f"{notebook.name} has no cell of {exercise}")
    path = assignment.content / exercise / "mistakes.py"
    draft = [
        "# A draft. Read the code: it is a student's, and this file is imported. Then take the comment signs away.",
        f"# @mistake({name!r}, hint={hint.strip()!r})",
        *(f"# {line}".rstrip() for line in found[0].splitlines()),
    ]
    before = path.read_text(encoding="utf-8").rstrip("\n")
    path.write_text(before + "\n\n\n" + "\n".join(draft) + "\n", encoding="utf-8")
    return path
