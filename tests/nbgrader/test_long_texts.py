"""Texts that are long or odd, each handed in beside ordinary work: the class is graded, and no step takes long.

Outside the judge, nothing computes on a student's text except in linear time and bounded memory. What all commands read
is listed in docs/security.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, book_of, nbgrader, said_by, small_course, submit

pytestmark = pytest.mark.slow
LINES = {
    "blank lines": " \n",
    "ends of lines": "\n",
    "returns": "\r",
    "spaces": " ",
    "tabs": "\t",
    "one name": "a",
    "names": "a\n",
    "brackets": "(",
    "pairs of brackets": "[]",
    "links": "[a](",
    "pictures": "![",
    "quotations": "> ",
    "quotes": '"""\n',
    "formulas": "\\\\[",
    "stars": "*_",
    "elements": "<b><i>",
    "fences": "```\n",
    "comments": "#",
    "commas": "a, ",
    "definitions": "def a ",
    "accents": "a\N{COMBINING ACUTE ACCENT}\N{COMBINING GRAVE ACCENT BELOW}",
    "wide": "\N{GRINNING FACE}",
}


def a_line(start: str, part: str) -> Callable[[int], str]:
    return lambda size: start + part * (size // len(part))


TEXTS = {name: a_line("", part) for name, part in LINES.items()} | {
    "an import": a_line("from ", "a"),
    "a check": a_line("check(", " "),
    "a check's rest": lambda size: 'check("a")' + " " * size + "b",
    "another language": a_line("%%perl\n", "s{"),
    "a block of another language": a_line("```perl\n", "s{"),
    "a block of blank lines": lambda size: f"```python\n{' \n' * (size // 2)}x\n```",
    "blank lines in the middle": lambda size: f"x = 1\n{' \n' * (size // 2)}y = 2",
}


def cell(kind: object, source: object, **more: object) -> dict[str, object]:
    outputs: dict[str, object] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source} | outputs | more


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# Cells that are no text of one kind: by name, for a number of characters.
ODD = {
    "numbers for words": lambda size: [
        cell(7, 7),
        cell("code", 10**300, metadata=7),
        cell("markdown", [7] * (size // 10), metadata={"nbgrader": {"grade_id": 7}}),
        cell("raw", {"a": [7] * (size // 10)}),
        cell("markdown", None, attachments=7),
        7,
    ],
    "one picture many times": lambda size: [
        cell("markdown", "![](attachment:a) " * 400, attachments={"a": {"image/png": PNG + "A" * size}})
    ],
    "many cells": lambda size: [cell("code", "1"), cell("markdown", "[a](b)")] * (size // 1_000),
    "names of cells": lambda size: [
        cell("code", "1", metadata={"nbgrader": {"grade_id": "test-" + "a" * size}}),
    ],
}


def of_three_kinds(name: str, size: int) -> list[object]:
    text = TEXTS[name](size)
    return [cell("code", text), cell("markdown", text), cell("raw", text)]


class Class(NamedTuple):
    """What a class of such students became, and the CPU seconds of this process by command."""

    course: object
    students: list[str]
    seconds: dict[str, float]


def graded(folder, names, size: int) -> Class:
    """A class in which each name is a student, who adds such cells to right work."""
    course = small_course(folder / "course", students=["ada", "zoe"])
    for name in names:
        path = submit(course, name)
        notebook = json.loads(path.read_text())
        # Each kind of cell has the text, so a third of what may be handed in.
        notebook["cells"] += of_three_kinds(name, size // 3) if name in TEXTS else ODD[name](size)
        path.write_text(json.dumps(notebook, ensure_ascii=False))
    seconds = {}
    for step, act in {
        "autograde": lambda: nbgrader(course, "autograde", NAME),
        "generate_feedback": lambda: nbgrader(course, "generate_feedback", NAME),
        "grade": lambda: said_by(course, "grade", "submitted", "--json", "marks.json", "--quiet"),
        "report": lambda: said_by(course, "report", "marks.json", "--html", "class.html"),
        "similar": lambda: said_by(course, "similar", NAME, "code"),
    }.items():
        begun = time.process_time()
        act()
        seconds[step] = time.process_time() - begun
    return Class(course, ["ada", *names, "zoe"], seconds)


def test_x(tmp_path):
    import os
    names = os.environ["NAMES"].split(",") if os.environ.get("NAMES") else [*TEXTS, *ODD]
    size = int(os.environ.get("SIZE", 100_000))
    found = graded(tmp_path, names, size)
    print(found.seconds)
    with book_of(found.course) as book:
        for s in found.students:
            try: print(s, book.find_submission(NAME, s).score, (found.course.root/"feedback"/s/NAME/"first.html").is_file())
            except Exception as e: print(s, e)
    print([(r["student"], r["score"], r.get("reason")) for r in json.loads((found.course.root/"marks.json").read_text())])
