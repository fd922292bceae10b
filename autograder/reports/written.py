"""Written questions for whoever grades them: all answers on one page, those alike together, a rubric to click.

The page is one file that fetches nothing. Its script, which a policy names by digest, is the only one that may run on
it, so untrusted text stays text. What a grader decides is saved as a small JSON file, and `autograder written
--apply` enters it.
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
from autograder.reports.plain_text import points
from autograder.text import printable

TEMPLATES = Path(__file__).parent / "templates"
MAX_TEXT = 20_000  # characters of an answer that are shown and compared; six sentences have 800
MAX_FILE = 20 * 2**20  # bytes of a file of decisions
MANY = 400  # words from which on an answer is alike only if it is the same: comparing thousands of words takes time
FEW = 8  # words up to which an answer is alike only if it has the very same words
ALIKE = 0.75  # share of pairs of neighbouring words that two answers have in common; one word in ten may differ
_WORD = re.compile(r"(\w+)")


@dataclass(frozen=True)
class Answer:
    """What one student wrote. `score` and `comment` are a person's; `waits` is set if it is to be looked at (again).

    pictures: something was pasted into it that this page does not show
    """

    student: str
    text: str
    score: float | None = None
    comment: str = ""
    waits: bool = True
    pictures: bool = False

    @property
    def digest(self) -> str:
        """A word that changes with the answer."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True)
class Wording:
    """An answer, and everybody who wrote it. `parts` is its text in pieces, each with whether it is a word that the
    group's first wording has not; `lacks` are words of the first that it has not.
    """

    answers: tuple[Answer, ...]
    parts: tuple[tuple[str, bool], ...]
    lacks: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        """For the page's script, as JSON: each student, the answer's digest, and the score so far."""
        return json.dumps([[a.student, a.digest, a.score] for a in self.answers])

    @property
    def scores(self) -> list[float]:
        """Points that a person has given for it, each once."""
        return sorted({a.score for a in self.answers if a.score is not None})

    @property
    def comments(self) -> list[str]:
        """What a person has said to it, each once. A new comment takes its place."""
        return sorted({a.comment for a in self.answers if a.comment})


@dataclass(frozen=True)
class Group:
    """Equal and nearly equal answers, which one decision marks; `done` if a person has graded all of them."""

    wordings: tuple[Wording, ...]
    done: bool
    earlier: tuple[float, ...] = ()  # points that answers like these have been given already

    @property
    def count(self) -> int:
        """How many students wrote one of them."""
        return sum(len(wording.answers) for wording in self.wordings)


@dataclass(frozen=True)
class Question:
    """One written question. `untouched` counts who left it as it was.

    model: the model answer, as HTML of the course's own
    lines: of the rubric: points, the text as HTML, and the same as Markdown for a comment
    """

    name: str
    max_score: float
    model: str
    lines: tuple[tuple[float, str, str], ...]
    answers: tuple[Answer, ...]
    untouched: int = 0


def as_html(assignment: str, questions: Sequence[Question]) -> str:
    """The page: open groups first, the largest on top."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    script = (TEMPLATES / "written.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    found = [(question, grouped(question.answers)) for question in questions]
    page = environment.get_template("written.html")
    return page.render(assignment=assignment, questions=found, script=script, digest=digest, points=points)


# ---------------------------------------------------------------- answers that are alike


def grouped(answers: Iterable[Answer]) -> list[Group]:
    """Equal and nearly equal answers together: those that wait first, then the larger groups."""
    same: dict[object, list[Answer]] = {}
    for answer in answers:
        same.setdefault(_sameness(answer), []).append(answer)
    together: list[tuple[set[Any], list[list[Answer]]]] = []
    for found in sorted(same.values(), key=len, reverse=True):
        pairs = _pairs(found[0])
        group = next((those for first, those in together if _alike(first, pairs)), None)
        if group is None:
            together.append((pairs, [found]))
        else:
            group.append(found)
    groups = [_group(wordings) for _, wordings in together]
    return sorted(groups, key=lambda group: (group.done, -group.count))


def words_of(text: str) -> list[str]:
    """The words of a text, without case, and without what stands between them."""
    return _WORD.findall(unicodedata.normalize("NFKC", text[:MAX_TEXT]).casefold())


def _sameness(answer: Answer) -> object:
    """Equal for answers that are the same but for case and white space; pictures cannot be compared."""
    if answer.pictures:
        return answer.student, answer.digest
    return " ".join(unicodedata.normalize("NFKC", answer.text[:MAX_TEXT]).casefold().split())


def _pairs(answer: Answer) -> set[Any]:
    words = words_of(answer.text)
    if answer.pictures or not words or len(words) > MANY:
        return {(answer.student, answer.digest)}  # like nothing else
    return {tuple(words)} if len(words) <= FEW else set(itertools.pairwise(words))


def _alike(one: set[Any], other: set[Any]) -> bool:
    """By Jaccard's index of the pairs; a set that is much smaller need not be looked at."""
    if min(len(one), len(other)) < ALIKE * max(len(one), len(other)):
        return False
    return len(one & other) >= ALIKE * len(one | other)


def _group(wordings: list[list[Answer]]) -> Group:
    """One decision counts for all that wait, and for all if none does."""
    every = [answer for found in wordings for answer in found]
    done = not any(answer.waits for answer in every)
    counting = [[a for a in found if done or a.waits] for found in wordings]
    kept = [found for found in counting if found]
    first = words_of(kept[0][0].text)
    scores = {a.score for a in every if a.score is not None and not a.waits}
    return Group(tuple(_wording(found, first) for found in kept), done, tuple(sorted(scores)))


def _wording(answers: list[Answer], first: list[str]) -> Wording:
    text, known = shown(answers[0].text), set(first)
    own = set(words_of(text))
    parts = tuple((part, bool(words_of(part)) and not known.issuperset(words_of(part))) for part in _WORD.split(text))
    return Wording(tuple(answers), parts, tuple(dict.fromkeys(word for word in first if word not in own)))


def shown(text: str) -> str:
    """An answer as a page shows it: line by line, nothing that acts."""
    cut = text[:MAX_TEXT] + ("\n…" if len(text) > MAX_TEXT else "")
    return "\n".join(printable(line.expandtabs(4)) for line in cut.splitlines())


# ---------------------------------------------------------------- what was decided


@dataclass(frozen=True)
class Decision:
    """A student's points for one question. `answer` is the digest of what was graded, `before` the score until then."""

    question: str
    student: str
    answer: str
    score: float
    comment: str
    before: float | None


FORM = "save it on the page that `autograder written --page` makes"


class _File(msgspec.Struct):
    """What the page saves."""

    assignment: str
    decisions: list[Decision]


def read_decisions(path: Path, assignment: str) -> list[Decision]:
    """What a grader has saved. Raises `AutograderError` if it is something else, or of another assignment."""
    try:
        found = msgspec.json.decode(read_bytes(path, MAX_FILE, ""), type=_File)
    except (SubmissionError, ValueError, RecursionError) as error:
        raise AutograderError(f"{path} holds no decisions ({error}); {FORM}") from None
    if found.assignment != assignment:
        raise AutograderError(f"{path} is of {printable(found.assignment)}, not of {assignment}")
    return found.decisions
