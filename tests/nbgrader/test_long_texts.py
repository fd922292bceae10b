"""Long or odd texts in submissions: everybody is graded, and no step takes long.

Outside the judge, student text is only processed in linear time and bounded memory, as docs/security.md says. Here
every step runs on a class in which each student hands in right work and one such text.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autograder.course.assignments import Course
from autograder.submission import MAX_BYTES
from cellcage.linux import landlock_rules
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRITTEN,
    WRONG,
    book_of,
    nbgrader,
    said_by,
    small_course,
    submit,
)  # fmt: skip

pytestmark = pytest.mark.slow
# Each part is repeated until the text is long.
PARTS = {
    "blank lines": " \n",
    "returns": "\r",
    "spaces": " ",
    "names": "a\n",
    "brackets": "(",
    "links": "[a](",
    "pictures": "![",
    "quotes": '"""\n',
    "formulas": "\\\\[",
    "stars": "*_",
    "elements": "<b><i>",
    "fences": "```\n",
    "blocks of code": "```py\n```\n",
    "definitions": "def a ",
    "accents": "a\N{COMBINING ACUTE ACCENT}\N{COMBINING GRAVE ACCENT BELOW}",
    "wide": "\N{GRINNING FACE}",
}
# Text before the repeated part, the part, and text after it.
AROUND = {
    "an import": ("from ", "a", ""),
    "a check": ("check(", " ", ""),
    "another language": ("%%perl\n", "s{", ""),
    "a block of another language": ("```perl\n", "s{", "\n```"),
    "blank lines in the middle": ("x = 1\n", " \n", "y = 2"),
}
Notebook = dict[str, Any]


def text(name: str, size: int) -> str:
    """A text that takes this many bytes in a notebook."""
    start, part, end = AROUND.get(name) or ("", PARTS[name], "")
    return start + part * (size // (len(json.dumps(part, ensure_ascii=False).encode()) - 2)) + end


def cell(kind: object, source: object, **more: object) -> dict[str, object]:
    outputs: dict[str, object] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source} | outputs | more


def add_text(notebook: Notebook, name: str, size: int) -> None:
    """The text as code, as Markdown, as a raw cell, and as the answer to the written question."""
    long = text(name, size // 4)
    for one in notebook["cells"]:
        if one["metadata"].get("nbgrader", {}).get("grade_id") == WRITTEN:
            one["source"] = long
    notebook["cells"] += [cell("code", long), cell("markdown", long), cell("raw", long)]


def numbers_as_text(notebook: Notebook, size: int) -> None:
    many = [7] * min(size // 10, 400_000)  # a notebook of more than a million values is not read
    notebook["cells"] += [
        cell(7, 7), cell("code", 10**300, metadata=7), cell("markdown", many, metadata={"nbgrader": {"grade_id": 7}}),
        cell("raw", {"a": many}), cell("markdown", None, attachments=7), cell("markdown", "a", attachments={"a": 7}), 7,
    ]  # fmt: skip
    notebook["metadata"] = 7


def short_texts(notebook: Notebook, size: int) -> None:
    """As many texts as are shown, short enough to be highlighted or shown as Markdown."""
    counts = {"a block of another language": 10, "formulas": 4, "blank lines in the middle": 4, "blocks of code": 30}
    texts = [text(name, 7_900) for name, count in counts.items() for _ in range(count)]
    notebook["cells"] += [cell(kind, one) for one in texts for kind in ("markdown", "code")]


def many_cells(notebook: Notebook, size: int) -> None:
    notebook["cells"] += [cell("code", "1"), cell("markdown", "[a](b)")] * min(2_400, size // 1_000)


def an_old_format(notebook: Notebook, size: int) -> None:
    """Format 3, with a heading that nbformat's own conversion turns into gigabytes."""
    cells = notebook.pop("cells")
    for one in cells:
        if one["cell_type"] == "code":
            one["input"] = one.pop("source")
    heading = {"cell_type": "heading", "level": 1_000 * size, "source": "a", "metadata": {}}
    notebook |= {"nbformat": 3, "worksheets": [{"cells": [*cells, heading]}]}


ODD: dict[str, Callable[[Notebook, int], None]] = {
    "numbers as text": numbers_as_text,
    "short texts": short_texts,
    "many cells": many_cells,
    "an old format": an_old_format,
}
EVERY = [*PARTS, *AROUND, *ODD]
# Each of these shows a different non-linear step.
SELECTED = ["an import", "blank lines in the middle", "a block of another language", "wide", *ODD]
SMALL, LARGE = 400_000, MAX_BYTES - 100_000  # bytes of a submission
ORDINARY, WRONG_AND_LONG = ["ada", "zoe"], "ben"
GROUP = 8  # students of a class with the largest submissions


@dataclass
class Graded:
    """A class after all commands. seconds, megabytes: used by each command in this process, without children."""

    course: Course
    students: list[str]
    seconds: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)

    def run(self, name: str, act: Callable[[], object]) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        memory, begun = in_use("VmRSS"), time.process_time()
        act()
        self.seconds[name], self.megabytes[name] = time.process_time() - begun, in_use("VmHWM") - memory

    def page(self, student: str) -> Path:
        return self.course.root / "feedback" / student / NAME / Path(NOTEBOOK).with_suffix(".html")


def in_use(word: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(word))
    return int(line.split()[1]) / 1024


def graded(folder: Path, names: list[str], size: int) -> Graded:
    """A class with a student for each name."""
    course = small_course(folder / "course", students=ORDINARY, written=True)
    submit(course, WRONG_AND_LONG, {EXERCISE: f"{WRONG}\n\n\nx = '{'a' * size}'"})
    for name in names:
        path = submit(course, name)
        notebook = json.loads(path.read_text())
        ODD[name](notebook, size) if name in ODD else add_text(notebook, name, size)
        path.write_text(json.dumps(notebook, ensure_ascii=False))
    found = Graded(course, [*ORDINARY, WRONG_AND_LONG, *names])
    found.run("autograde", lambda: nbgrader(course, "autograde", NAME))
    found.run("again", lambda: nbgrader(course, "autograde", NAME))
    found.run("feedback", lambda: nbgrader(course, "generate_feedback", NAME))
    sandbox = "landlock" if landlock_rules.abi() else "auto"  # nbgrader's run has already used the best available
    grade = ("grade", "submitted", "--json", "marks.json", "--quiet", "--sandbox", sandbox)
    found.run("grade", lambda: said_by(course, *grade))
    report = ("report", "marks.json", "--html", "class.html", "--submitted", "submitted")
    found.run("report", lambda: said_by(course, *report))
    found.run("written", lambda: said_by(course, "written", NAME, "--page", "written.html"))
    exporter = "autograder.nbgrader.gradebook_export.Exercises"
    found.run("export", lambda: nbgrader(course, "export", f"--exporter={exporter}", "--to=exercises.csv"))
    return found


def check_marks(found: Graded) -> None:
    """All but one have full marks, in the gradebook and in the JSON."""
    with book_of(found.course) as book:
        scores = {one: book.find_submission(NAME, one).score for one in found.students}
    assert scores == dict.fromkeys(found.students, 3.0) | {WRONG_AND_LONG: 0.3}
    reports = json.loads((found.course.root / "marks.json").read_text())
    assert {one["student"]: one["score"] for one in reports} == scores


def check_pages(found: Graded) -> None:
    """Everybody has a feedback page that is not much longer than the submission."""
    for student in found.students:
        handed_in = found.course.root / "submitted" / student / NAME / NOTEBOOK
        assert found.page(student).stat().st_size < 5_000_000 + 2 * handed_in.stat().st_size, student
        assert EXERCISE in found.page(student).read_text()
        copy = found.course.root / "autograded" / student / NAME / NOTEBOOK
        assert copy.stat().st_size < (2_500_000 if student == WRONG_AND_LONG else 12_000_000), student
    assert (found.course.root / "written.html").stat().st_size < 1_000_000 * len(found.students)
    assert (found.course.root / "class.html").stat().st_size < 100_000


def check_cost(found: Graded, seconds: float, megabytes: float) -> None:
    assert {name: took for name, took in found.seconds.items() if took > seconds} == {}
    assert {name: took for name, took in found.megabytes.items() if took > megabytes} == {}


@pytest.mark.catalogue
def test_long_text_is_graded_quickly(tmp_path):
    some = graded(tmp_path, SELECTED, SMALL)
    check_marks(some)
    check_pages(some)
    check_cost(some, 0.7 * len(some.students), 200)


@pytest.mark.catalogue
@pytest.mark.parametrize("start", range(0, len(EVERY), GROUP))
def test_largest_submissions_are_graded(tmp_path, start):
    found = graded(tmp_path, EVERY[start:][:GROUP], LARGE)
    check_marks(found)
    check_pages(found)
    check_cost(found, 3.0 * len(found.students), 1_000)
