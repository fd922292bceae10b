"""The site's start page: the nine assignments, and the ways to open each."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import jinja2
import nbformat

from autograder.course.assignments import Assignment, Course

HERE = Path(__file__).parent
# Colab opens notebooks on GitHub; the workflow publishes the site on this branch.
PAGES = re.compile(r"https://([\w-]+)\.github\.io/([\w.-]+)/?")
COLAB = "https://colab.research.google.com/github/{}/{}/blob/gh-pages/files"
PICTURE = re.compile(r"^!\[(.*)\]\((best-(a\d)\.png)\)$", re.MULTILINE)


def start_page(course: Course, folder: Path, address: str) -> None:
    """Write `index.html` with its pictures."""
    words = tomllib.loads((HERE / "assignments.toml").read_text(encoding="utf-8"))
    pictures = PICTURE.findall((course.root / "docs" / "notebooks.md").read_text(encoding="utf-8"))
    described = {number: (name, text) for text, name, number in pictures}
    cards = []
    for name, assignment in course.assignments.items():
        picture, described_as = described[name.partition("_")[0]]
        cards.append(card(assignment) | words[name] | {"picture": picture, "described": described_as})
        (folder / "pictures").mkdir(exist_ok=True)
        shutil.copy(course.root / "docs" / picture, folder / "pictures" / picture)
    place = PAGES.fullmatch(address)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string((HERE / "start_page.html").read_text(encoding="utf-8"))
    colab = COLAB.format(*place.groups()) if place else ""
    (folder / "index.html").write_text(template.render(cards=cards, colab=colab), encoding="utf-8")


def card(assignment: Assignment) -> dict[str, object]:
    """What the released notebook says of itself: title, minutes, difficulty, exercises."""
    first = nbformat.read(assignment.released, as_version=4).cells[0].source
    title, minutes, difficulty = (
        found[1]
        for pattern in (r"^# (.*)", r"about (\d+) minutes", r"\*\*Difficulty:\*\* ([●○]+)")
        if (found := re.search(pattern, first))
    )
    return {
        "number": assignment.name.partition("_")[0],
        "title": title,
        "minutes": minutes,
        "difficulty": difficulty,
        "level": f"difficulty {difficulty.count('●')} of 3",
        "exercises": [exercise.name for exercise in assignment.exercises],
        "file": assignment.notebook.name,
        "path": f"{assignment.name}/{assignment.notebook.name}",
    }
