"""The catalogue of known mistakes: small wrong implementations with a name and a hint.

`mistakes.py` in an exercise's folder. A mistake is written as the student would write it, complete in itself:

    mistake = Catalogue()

    @mistake("one-too-many", hint="What does your function give for an empty list?")
    def count(items):
        return len(items) + 1

The function's (or class's) name is the exercise. Where one implementation with an option for each decision makes many
mistakes, a set of mutants makes them, from a row for each:

    @mistake.mutants({
        "one-too-many": mistake.known({"more": 1}, hint="What does your function give for an empty list?"),
        "two-too-many": mistake.mutant({"more": 2}, hint="What does your function give for an empty list?"),
    })
    def count(more=0):
        return lambda items: len(items) + more
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autograder import content
from autograder.errors import CourseError
from autograder.report import Cause, joined_hints, joined_names


@dataclass(frozen=True)
class Mistake:
    """One known mistake. `hint` is a question or a place to look, and never the fix.

    is_known: are the suites held against it, or is it a hypothesis, for diagnosis alone?
    make: gives its function or class, which is asked for only if it is in question: thousands never are
    also: what its code does wrong besides, at the edges
    both: if it is two in one function, each of them
    """

    name: str
    exercise: str
    hint: str
    make: Callable[[], Callable[..., Any]]
    is_known: bool = False
    also: str = ""
    both: tuple[Cause, ...] = ()

    @functools.cached_property
    def code(self) -> Callable[..., Any]:
        """The wrong function or class."""
        return self.make()

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What is wrong: the mistake itself, or both of two."""
        return self.both or (Cause(self.name, self.hint),)


Options = dict[str, Any]


@dataclass(frozen=True)
class Mutant:
    """One wrong decision: the options that make it, in several ways if people make it in several ways.

    hint: a question or a place to look; empty if it stands elsewhere
    is_known: is its first way a known mistake? All else that comes of it are hypotheses.
    """

    accepted_submissions: tuple[Options, ...]
    hint: str = ""
    is_known: bool = False


@dataclass
class Catalogue:
    """The mistakes of an exercise, in the order written, or of several. Used as a decorator.

    `mistakes` are known: the suites are held against them, and the page of known mistakes has a row for each. They are
    written out, or what a set of mutants holds. `variants` are the same in other styles, and what else comes of one
    wrong decision; `pairs` are two in one function, named `one+other`. Both come from sets of mutants and serve
    diagnosis alone.
    """

    mistakes: list[Mistake] = field(default_factory=list)
    variants: list[Mistake] = field(default_factory=list)
    pairs: list[Mistake] = field(default_factory=list)

    def __call__(self, name: str, *, hint: str = "") -> Callable[[Any], Any]:
        """Enter the decorated function or class under `name`."""

        def enter(code: Any) -> Any:
            self.mistakes.append(Mistake(name, code.__name__, hint, lambda: code, is_known=True))
            return code

        return enter

    @staticmethod
    def mutant(*accepted_submissions: Options, hint: str = "") -> Mutant:
        """A row of a set of mutants, for diagnosis alone."""
        return Mutant(accepted_submissions, hint)

    @staticmethod
    def known(*accepted_submissions: Options, hint: str = "") -> Mutant:
        """A row of a set of mutants that the suites are held against."""
        return Mutant(accepted_submissions, hint, is_known=True)

    def mutants(
        self,
        mutants: Mapping[str, Mutant | Sequence[Options]],
        styles: Sequence[tuple[str, Options]] = (("", {}),),
        hints: Mapping[str, str] = MappingProxyType({}),
        catalogued: Collection[str] = (),
    ) -> Callable[[Any], Any]:
        """Enter hypotheses: what comes of one wrong decision, and of two.

        The decorated function takes options and makes the exercise's function or class; without options, a right one.

        slips: by name, a row or just the ways. Two that set one option exclude each other; of two, the first ways are
            tried.
        styles: options that change how the code does at the edges (empty rows, say) and leave the mistake's name, each
            behind a sentence if that is wrong, too; the first one is right
        hints, held: what rows that several exercises share do not say: hints for names that no mistake written out
            above has, and which of them are known mistakes here

        Raises `CourseError` if one of `held` is no slip.
        """

        def enter(make: Callable[..., Any]) -> Callable[..., Any]:
            for name in catalogued:
                if name not in mutants:
                    where = f"{inspect.getfile(make)}: {make.__name__}"
                    raise CourseError(f"{where}: {name!r} is catalogued, and no such mutant")
            rows = {name: row if isinstance(row, Mutant) else Mutant(tuple(row)) for name, row in mutants.items()}
            own = {name: row.hint for name, row in rows.items() if row.hint}
            asks = {**hints, **own, **{mistake.name: mistake.hint for mistake in reversed(self.of(make.__name__))}}
            _, plain = styles[0]
            for name, row in rows.items():
                for number, (options, (also, style)) in enumerate(product(row.accepted_submissions, styles)):
                    is_known = (row.is_known or name in catalogued) and number == 0
                    code = functools.partial(make, **{**style, **options})
                    made = Mistake(name, make.__name__, asks[name], code, is_known, also)
                    (self.mistakes if is_known else self.variants).append(made)
            for (one, first), (other, second) in combinations(rows.items(), 2):
                if not first.accepted_submissions[0].keys() & second.accepted_submissions[0].keys():
                    code = functools.partial(
                        make, **{**plain, **first.accepted_submissions[0], **second.accepted_submissions[0]}
                    )
                    both = Cause(one, asks[one]), Cause(other, asks[other])
                    name, hint = joined_names(both), joined_hints(both)
                    self.pairs.append(Mistake(name, make.__name__, hint, code, both=both))
            return make

        return enter

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self.mistakes)

    def of(self, exercise: str) -> list[Mistake]:
        """The known mistakes of one exercise."""
        return [mistake for mistake in self.mistakes if mistake.exercise == exercise]


def read_catalogue(files: Sequence[Path]) -> Catalogue:
    """The catalogues of an assignment's exercises as one; a file that is not there holds none."""
    whole = Catalogue()
    for folder in {path.parent.parent for path in files}:
        content.forget(folder)
    for path in [path for path in files if path.is_file()]:
        found = content.load(path).mistake
        assert isinstance(found, Catalogue)
        whole.mistakes += found.mistakes
        whole.variants += found.variants
        whole.pairs += found.pairs
    return whole
