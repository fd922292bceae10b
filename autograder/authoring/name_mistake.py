"""`autograder dev name-mistake`: a real submission's wrong answer becomes an entry of the catalogue.

The entry is a draft: every line of a student's code stands behind a comment sign, since the catalogue is imported where
nothing is walled off. Whoever has read it takes the signs away.
"""

from __future__ import annotations

import re
from pathlib import Path

from autograder.course import Course
from autograder.errors import CourseError, SubmissionError
from autograder.submission import read_notebook

NAME = re.compile(r"[\w-]{1,60}")


def name_mistake(course: Course, notebook: Path, exercise: str, name: str, hint: str) -> Path:
    """Write a draft of the mistake `name` into the exercise's catalogue; the file written.

    Raises `CourseError` if there is no such exercise, or the name or the hint is no good; `SubmissionError` if the
    notebook cannot be read or holds no such cell.
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
