"""`hint("median")`: help in three levels, one level more each time it is called; `solution("median")` after that."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from autograder.course.assignments import Course
from autograder.course.content import Visible, settings_of, visible_around
from autograder.reports.rubric import block, name_of, paragraph, with_code
from autograder.student.progress import listing, show

LEVELS = 3
# How often a hint was shown for each exercise in this session. It is not saved.
_asked: Counter[str] = Counter()


class Help:
    """The hints of an exercise up to `level` (1 to 3): HTML in JupyterLab, text in a plain console."""

    def __init__(self, exercise: str, level: int, visible: Visible) -> None:
        hint = visible.hint_for(exercise)
        source = ": ".join(filter(None, (hint.paper, hint.link)))
        reading = f"Read the section “{hint.section}” of this notebook again, from its heading to the empty cell."
        reading += f" The source is {source}" if source else ""
        example = f"An example with other numbers. {hint.example} " if hint.example else ""
        self.lines = (hint.nudge, hint.closer, example + reading)[:level]
        self.title = f"{exercise}: hint {level} of {LEVELS}"
        self.more = f'Try it first. `hint("{exercise}")` again goes one step further.'
        if level == LEVELS:
            self.more = "That was the last hint. A classmate, or your instructor, can look at your code with you."

    def __repr__(self) -> str:
        lines = [f"  {n}. {text}" for n, text in enumerate(self.lines, start=1)]
        return "\n".join([self.title, *lines, f"  {self.more}"])

    def _repr_html_(self) -> str:
        items = "".join(f'<li style="margin:.3em 0">{_linked(text)}</li>' for text in self.lines)
        title = paragraph(f"<strong>{self.title}</strong>")
        steps = f'<ol style="margin:.3em 0;max-width:60em">{items}</ol>'
        return block(f"{title}{steps}{paragraph(with_code(self.more))}", self.title)


def hint(exercise: Any = None) -> None:
    """Show help for `exercise`: a first nudge, then more each time.

    exercise: its name, or the function itself; without it, all exercises are listed

    Never shows the solution, and is not recorded anywhere. Raises `UnknownExercise` if no
    exercise has that name.
    """
    if exercise is None:
        print(listing("hint", Path.cwd()))
        return
    name = name_of(exercise)
    visible = visible_around(Path.cwd(), name)
    visible.assignment_of(name)
    _asked[name] += 1
    show(Help(name, min(_asked[name], LEVELS), visible))


def solution(exercise: Any) -> None:
    """Show the model answer of `exercise` once its check has passed in this session.

    Only a copy of the course's repository holds model answers, and its `course.toml` may forbid to show them.
    """
    from autograder.student.check import passed_here

    name = name_of(exercise)
    visible = visible_around(Path.cwd(), name)
    root, assignment = visible.folder.parent, visible.assignment_of(name)
    if not (settings_of(visible.folder).solutions_after_green and (root / "source" / assignment).is_dir()):
        print("There is no model answer to show here: this course keeps them to itself.")
    elif name not in passed_here:
        print(f'`solution("{name}")` shows the model answer after `check("{name}")` has passed in this session.')
    else:
        text = next(cell.text for cell in Course(root).assignment(assignment).source.cells if cell.grade_id == name)
        print("\n".join(line for line in text.splitlines() if not line.strip().startswith("### ")))  # nbgrader's marks


def _linked(text: str) -> str:
    """Text as HTML, with an address at its end as a link."""
    before, _, address = text.rpartition(": https://")
    if not before:
        return with_code(text)
    link = f'style="text-decoration:underline" href="https://{address}" target="_blank" rel="noopener"'
    return f"{with_code(before)}: <a {link}>https://{address}</a>"
