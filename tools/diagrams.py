"""Draw the pictures of the processes and of the packages for `docs/`.

`python -m tools.docs` writes them as SVG. They need no network, font or script, and set their own background, so that
they are readable on dark pages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from autograder.errors import CourseError

LINE = 17  # pixels from one line of text to the next
PADDING = 12
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2430 }
.title { font-weight: 600 } .small { font-size: 12px; fill: #475066 }
.trusted { fill: #e3f1e6; stroke: #5c9a6a } .student { fill: #fdeedd; stroke: #cf8b3c }
.judge { fill: #e6ecfa; stroke: #6b86c9 } .course { fill: #f3e6f7; stroke: #9b6bb0 }
.sandbox { fill: none; stroke: #9aa1b2; stroke-width: 2; stroke-dasharray: 7 5 }
.arrow { stroke: #475066; stroke-width: 1.5; fill: none }
"""


@dataclass
class Diagram:
    """An SVG with `alternative` as its text for screen readers."""

    width: int
    height: int
    alternative: str
    parts: list[str] = field(default_factory=list)

    def box(self, kind: str, title: str, lines: Sequence[str], x: int, y: int, width: int, flat: bool = False) -> None:
        """Add a rounded box with a title and lines below it; a flat one has a single line beside its title."""
        height = 36 if flat else 2 * PADDING + LINE * (1 + len(lines)) - 4
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')
        left, top = x + PADDING, y + PADDING + 11
        right, below = (max(88, 9 * len(title)), 0) if flat else (0, LINE)
        self.parts.append(_text(left, top, title, "title"))
        for n, line in enumerate(lines, start=1):
            self.label(left + right, top + below * n, line)

    def sandbox(self, x: int, y: int, width: int, height: int, label: str) -> None:
        """Add a dashed frame with a label in its lower left corner."""
        self.parts.append(f'<rect class="sandbox" x="{x}" y="{y}" width="{width}" height="{height}" rx="12"/>')
        self.label(x + PADDING, y + height - PADDING, label)

    def arrow(self, *points: int | str) -> None:
        """Add an arrow through points (x, y, x, y, ...). A text at the end is written to the right of its middle."""
        numbers = [point for point in points if isinstance(point, int)]
        steps = " ".join(f"{x},{y}" for x, y in zip(numbers[::2], numbers[1::2], strict=True))
        self.parts.append(f'<polyline class="arrow" points="{steps}" marker-end="url(#end)"/>')
        if len(points) > len(numbers):
            x, y, to_x, to_y = numbers
            self.label((x + to_x) // 2 + 8, (y + to_y) // 2 + 4, str(points[-1]))

    def label(self, x: int, y: int, text: str) -> None:
        """Add a small text."""
        self.parts.append(_text(x, y, text, "small"))

    def __str__(self) -> str:
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img">'
        tip = '<marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        tip += 'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#475066"/></marker>'
        paper = f'<rect width="{self.width}" height="{self.height}" fill="#fff" rx="12"/>'
        title = f"<title>{escape(self.alternative)}</title>"
        return "\n".join([head, title, f"<style>{STYLE}</style><defs>{tip}</defs>", paper, *self.parts, "</svg>\n"])


def _text(x: int, y: int, words: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(words, quote=False)}</text>'


def processes() -> str:
    """The processes that grade a submission, with the data in each of them."""
    alternative = "The supervisor starts a zygote, which forks two fork servers: one forks judges, the other notebooks."
    picture = Diagram(860, 560, alternative)
    known = ["submissions as bytes, the gradebook", "reads nothing that student code wrote"]
    picture.box("trusted", "supervisor: workers", known, 60, 20, 300)
    known = ["in a sandbox: NumPy, PyTorch, IPython", "no hidden test, no submission"]
    picture.box("course", "zygote", known, 500, 20, 300)
    picture.sandbox(20, 190, 400, 350, "a sandbox around the judges")
    picture.sandbox(440, 190, 400, 350, "a sandbox around student code")
    known = ["hidden tests, reference, known mistakes", "has seen no submission"]
    picture.box("judge", "judges' fork server", known, 70, 225, 280)
    known = ["a fork for one submission", "asks, compares, gives its verdict, ends"]
    picture.box("judge", "judge", known, 70, 345, 280)
    known = ["one for each worker", "the course is hidden from it"]
    picture.box("student", "students' fork server", known, 510, 225, 280)
    picture.box("student", "notebook", ["a fork for one submission", "in a sandbox of its own"], 510, 345, 280)
    picture.box("student", "exercise", ["a fork for the calls of one exercise"], 510, 445, 280)
    picture.arrow(362, 56, 498, 56)
    picture.label(408, 48, "starts")
    picture.arrow(580, 91, 260, 223)
    picture.label(356, 150, "forks")
    picture.arrow(650, 91, 650, 223, "forks")
    picture.arrow(210, 296, 210, 343, "forks")
    picture.arrow(650, 296, 650, 343, "forks")
    picture.arrow(650, 416, 650, 443, "forks")
    picture.arrow(352, 368, 508, 368)
    picture.arrow(508, 394, 352, 394)
    picture.label(376, 361, "calls")
    picture.label(446, 412, "answers")
    picture.arrow(352, 350, 508, 272)
    for row, word in enumerate(("its end,", "memory,", "CPU time")):
        picture.label(360, 262 + 16 * row, word)
    picture.arrow(68, 380, 40, 380, 40, 56, 58, 56)
    picture.label(52, 130, "one verdict, read field by field")
    return str(picture)


# A short description of each package. The order of the layers comes from pyproject.toml, as `make lint` checks it.
PACKAGES = {
    "cli": "the command line",
    "authoring": "for authors: checks, releases, new exercises",
    "systems": "Canvas, Moodle, Gradescope, Classroom 50: submissions in, marks out",
    "nbgrader": "a course in nbgrader: autograde, gradebook, feedback pages",
    "student": "check, hint, explore",
    "worker": "many submissions, a verdict each",
    "reports": "marks to look at: rubric, heat map, class report",
    "judge_process": "one submission: the process that judges and explains",
    "judge": "the marks: attempts at each exercise, and rules",
    "explain": "what to say about a mark: known mistakes, relations to right answers, the place of a mistake",
    "testing": "what authors import: student and reference, expect, Catalogue",
    "task": "a submission, and what worker and judge say to each other",
    "discovery": "the submissions to grade, and which files hold the work",
    "report": "a result as values",
    "submission": "a notebook, read within limits",
    "course": "a course on disk",
    "reading": "bounded bytes and JSON",
    "text": "text made safe to print",
    "png": "pictures as PNG",
    "errors": "errors, and who has to act",
}


def packages(project: Path) -> str:
    """The packages of the code in layers. Raises `CourseError` if one has no description here."""
    layers = _layers(project)
    nameless = sorted({name for layer in layers for name in layer} - set(PACKAGES))
    if nameless:
        raise CourseError(f"{__file__}: PACKAGES has no description of {', '.join(nameless)}")
    step, width = 44, 780
    alternative = "The packages of the code in layers; each imports from those below it."
    picture = Diagram(width + 80, 20 + step * len(layers), alternative)
    for row, layer in enumerate(layers):
        share = (width - PADDING * (len(layer) - 1)) // len(layer)
        for place, name in enumerate(layer):
            kind = "trusted" if name == "errors" else "judge"
            picture.box(kind, name, [PACKAGES[name]], 60 + place * (share + PADDING), 12 + row * step, share, flat=True)
    picture.arrow(32, 24, 32, step * len(layers) - 6)
    picture.parts.append('<text class="small" transform="translate(22 130) rotate(-90)">imports</text>')
    return str(picture)


def _layers(project: Path) -> list[list[str]]:
    contracts = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    found = [[name.strip() for name in layer.split("|")] for layer in contracts[0]["layers"]]
    return [layer for layer in found if layer != ["__main__"]]
