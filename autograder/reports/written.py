"""A page for grading written questions: all answers, similar ones grouped, and a rubric to click.

The page is one file that fetches nothing. Its content security policy allows only its own script, by digest, so
untrusted text cannot run. The page saves decisions as a JSON file, which `autograder written --apply` reads.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from autograder.errors import AutograderError, SubmissionError
from autograder.reading import read_bytes
from autograder.reports.rubric import points
from autograder.text import printable

TEMPLATES = Path(__file__).parent / "templates"
MAX_TEXT = 20_000  # characters of an answer that are shown and compared; six sentences have 800
CUT = "\n… (this answer goes on; formgrader shows all of it)"
MAX_PICTURE = 2**20  # characters of a picture that is shown, as base64; a photograph of a telephone has more
MAX_FILE = 20 * 2**20  # bytes of a file of decisions
MANY = 400  # words: a longer answer is only grouped with equal ones, since comparing thousands of words takes time
FEW = 8  # words: up to this length, similar answers have exactly the same words
ALIKE = 0.75  # share of common pairs of neighbouring words in similar answers; about one word in ten may differ
_WORD = re.compile(r"(\w+)")


@dataclass(frozen=True)
class WrittenAnswer:
    """One student's answer.

    score, comment: given by a person
    waits: a person must still grade it, perhaps again
    pictures: those pasted into it, each as base64 data by media type
    """

    student: str
    text: str
    score: float | None = None
    comment: str = ""
    waits: bool = True
    pictures: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """A short digest of the answer."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True)
class Wording:
    """One wording of an answer, and the answers that have it.

    parts: its text in pieces, each with whether it is a word that the group's first wording does not have
    lacks: words of the first wording that it does not have
    """

    answers: tuple[WrittenAnswer, ...]
    parts: tuple[tuple[str, bool], ...]
    lacks: tuple[str, ...]

    @property
    def who(self) -> str:
        """JSON for the page's script: each student, the answer's digest, and the score so far."""
        return json.dumps([[a.student, a.digest, a.score] for a in self.answers])

    @property
    def scores(self) -> list[float]:
        """The different scores that it has been given."""
        return sorted({a.score for a in self.answers if a.score is not None})

    @property
    def comments(self) -> list[str]:
        """The different comments that it has been given. A new comment replaces them."""
        return sorted({a.comment for a in self.answers if a.comment})


@dataclass(frozen=True)
class Group:
    """Equal and similar answers, which are graded together; `done` if all have been graded."""

    wordings: tuple[Wording, ...]
    done: bool
    earlier: tuple[float, ...]  # scores that answers of this group have already

    @property
    def count(self) -> int:
        """The number of answers."""
        return sum(len(wording.answers) for wording in self.wordings)


@dataclass(frozen=True)
class WrittenQuestion:
    """One written question.

    model: the model answer, as trusted HTML
    lines: of the rubric: points, the text as HTML, and the text as Markdown for a comment
    unanswered: how many students did not change the cell
    """

    name: str
    max_score: float
    model: str
    lines: tuple[tuple[float, str, str], ...]
    answers: tuple[WrittenAnswer, ...]
    unanswered: int


def as_html(assignment: str, questions: Sequence[WrittenQuestion]) -> str:
    """The page: groups that wait first, largest on top."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    script = (TEMPLATES / "written.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    found = [(question, grouped(question.answers)) for question in questions]
    page = environment.get_template("written.html")
    values = {"script": script, "digest": digest, "points": points, "most": MAX_PICTURE}
    return page.render(assignment=assignment, questions=found, **values)


# ---------------------------------------------------------------- answers that are alike


def grouped(answers: Iterable[WrittenAnswer]) -> list[Group]:
    """Groups of equal and similar answers: those that wait first, then by size."""
    same: dict[object, list[WrittenAnswer]] = {}
    for answer in answers:
        same.setdefault(_sameness(answer), []).append(answer)
    together: list[tuple[set[Any], list[list[WrittenAnswer]]]] = []
    for found in sorted(same.values(), key=len, reverse=True):
        pairs = _pairs(found[0])
        group = next((members for first, members in together if _alike(first, pairs)), None)
        if group is None:
            together.append((pairs, [found]))
        else:
            group.append(found)
    groups = [_group(wordings) for _, wordings in together]
    return sorted(groups, key=lambda group: (group.done, -group.count))


def words_of(text: str) -> list[str]:
    """The words of a text, without case and punctuation."""
    return _WORD.findall(unicodedata.normalize("NFKC", text[:MAX_TEXT]).casefold())


def _sameness(answer: WrittenAnswer) -> object:
    """A key that is equal for answers that differ only in case and white space.

    Pictures cannot be compared. A text that the page cuts is equal only to the very same text.
    """
    if answer.pictures:
        return answer.student, answer.digest
    if len(answer.text) > MAX_TEXT:
        return answer.digest
    return " ".join(unicodedata.normalize("NFKC", answer.text[:MAX_TEXT]).casefold().split())


def _pairs(answer: WrittenAnswer) -> set[Any]:
    words = words_of(answer.text)
    if answer.pictures or not words or len(words) > MANY:
        return {(answer.student, answer.digest)}  # similar to no other answer
    return {tuple(words)} if len(words) <= FEW else set(itertools.pairwise(words))


def _alike(first: set[Any], second: set[Any]) -> bool:
    """True if the Jaccard index of two answers' pairs is high enough."""
    if min(len(first), len(second)) < ALIKE * max(len(first), len(second)):
        return False  # sets of such different sizes cannot reach it
    return len(first & second) >= ALIKE * len(first | second)


def _group(wordings: list[list[WrittenAnswer]]) -> Group:
    """A decision applies to all answers that wait, or to all if none waits."""
    every = [answer for found in wordings for answer in found]
    done = not any(answer.waits for answer in every)
    kept = [kept for found in wordings if (kept := [a for a in found if done or a.waits])]
    first = words_of(kept[0][0].text)
    scores = {a.score for a in every if a.score is not None and not a.waits}
    return Group(tuple(_wording(found, first) for found in kept), done, tuple(sorted(scores)))


def _wording(answers: list[WrittenAnswer], first: list[str]) -> Wording:
    text, known = shown(answers[0].text), set(first)
    words = set(words_of(text))
    parts = tuple((part, bool(words_of(part)) and not known.issuperset(words_of(part))) for part in _WORD.split(text))
    return Wording(tuple(answers), parts, tuple(dict.fromkeys(word for word in first if word not in words)))


def shown(text: str) -> str:
    """An answer for the page: cut to `MAX_TEXT`, with each line printable."""
    cut = text[:MAX_TEXT] + (CUT if len(text) > MAX_TEXT else "")
    return "\n".join(printable(line.expandtabs(4)) for line in cut.splitlines())


# ---------------------------------------------------------------- what was decided


@dataclass(frozen=True)
class Decision:
    """A student's points for one question.

    answer: the digest of the graded answer
    comment: what the student reads; None leaves an earlier comment as it is
    before: the previous score
    """

    question: str
    student: str
    answer: str
    score: float
    comment: str | None
    before: float | None


FORM = "save it on the page that `autograder written --page` makes"


class _File(msgspec.Struct):
    """The file that the page saves."""

    assignment: str
    decisions: list[Decision]


def read_decisions(path: Path, assignment: str) -> list[Decision]:
    """The decisions in a saved file. Raises `AutograderError` if it is invalid or of another assignment."""
    try:
        found = msgspec.json.decode(read_bytes(path, MAX_FILE, ""), type=_File)
    except (SubmissionError, ValueError, RecursionError) as error:
        raise AutograderError(f"{path} holds no decisions ({error}); {FORM}") from None
    if found.assignment != assignment:
        raise AutograderError(f"{path} is of {printable(found.assignment)}, not of {assignment}")
    return found.decisions
