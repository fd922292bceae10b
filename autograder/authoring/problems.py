"""What `autograder dev check` finds, and in which form it says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

UNCHECKED = "the rest could not be checked: "
UNUSABLE = "it cannot be used: "
UNGRADED = "it cannot be graded: "
NO_JUDGE = "it could not judge the mistake"


@dataclass(frozen=True)
class Problem:
    """What an author should mend. cell: of a notebook; or a test, a mistake, an exercise; empty for a whole file

    blocks: it must be fixed before release; False for parts that are not written yet
    """

    path: Path
    cell: str
    what: str
    remedy: str
    blocks: bool = True

    def __str__(self) -> str:
        kind = {".ipynb": "cell ", ".py": "mistake " if self.path.name == "mistakes.py" else ""}.get(
            self.path.suffix, ""
        )
        place = f"{self.path}: {kind}'{self.cell}'" if self.cell else str(self.path)
        return f"{place}: {self.what}. {self.remedy}"


@dataclass(frozen=True)
class Checked:
    """One assignment's problems, with a summary in `about`.

    named: how many known mistakes the visible tests name, in words
    printed: the lines that the course's code printed, once
    """

    name: str
    about: str
    problems: tuple[Problem, ...]
    named: str = ""
    printed: tuple[str, ...] = ()

    @property
    def in_order(self) -> bool:
        """True if no problem prevents its release to students."""
        return not any(problem.blocks for problem in self.problems)


def once(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Each problem once; that something could not be checked or graded only if no other problem gives the reason.

    A test that could not judge several mistakes, or not even the solution, is one problem.
    """
    for number, one in enumerate(problems):
        before = problems[:number]
        of_test = [other for other in problems if (other.path, other.cell) == (one.path, one.cell)]
        said = one in before
        if one.what.startswith((UNCHECKED, UNGRADED)):
            why = one.what.removeprefix(UNCHECKED).removeprefix(UNGRADED)
            said = said or any(why in other.what or _unusable(other) in why for other in before)
        elif one.what.startswith(NO_JUDGE):
            said = any(other in before or not other.what.startswith(NO_JUDGE) for other in of_test)
        if not said:
            yield one


def _unusable(problem: Problem) -> str:
    """Why a file cannot be used; if it can, a text that nothing contains."""
    return problem.what.removeprefix(UNUSABLE) if problem.what.startswith(UNUSABLE) else "\0"


def named(error: Exception, otherwise: Path) -> tuple[Path, str]:
    """The file that an error begins with, or `otherwise`, and what it says."""
    reason = str(error).partition(" Nothing was graded")[0].rstrip(".")
    place, _, what = reason.partition(": ")
    return (Path(place), what) if what and Path(place).is_file() else (otherwise, reason)
