"""The catalogue of known mistakes: small wrong implementations with a name and a hint. And a course's own relations.

`mistakes.py` in an exercise's folder. A mistake is written as the student would write it, complete in itself:

    mistake = Catalogue()

    @mistake("one-too-many", hint="What does your function give for an empty list?")
    def count(items):
        return len(items) + 1

The function's (or class's) name is the exercise. If one implementation with an option for each decision can make many
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
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autograder.course import loading
from autograder.errors import AutograderError, CourseError


@dataclass(frozen=True)
class Mistake:
    """One known mistake. `hint` is a question or a place to look, and never the fix.

    is_known: the suites must find it; otherwise it is a hypothesis that only serves the diagnosis
    make: makes its function or class when it is needed; for thousands it never is
    also: what else its code does wrong, on unusual input
    """

    name: str
    exercise: str
    hint: str
    make: Callable[[], Callable[..., Any]]
    is_known: bool = False
    also: str = ""

    @functools.cached_property
    def code(self) -> Callable[..., Any]:
        """The wrong function or class."""
        return self.make()


Options = dict[str, Any]


@dataclass(frozen=True)
class Mutant:
    """One wrong decision: the options that make it, several sets of options if people make it in several ways.

    hint: a question or a place to look; empty if it is given elsewhere
    is_known: the first way is a known mistake; all other ways are hypotheses
    """

    ways: tuple[Options, ...]
    hint: str = ""
    is_known: bool = False


@dataclass
class Catalogue:
    """The mistakes of one exercise or several, in the order written. Used as a decorator.

    `mistakes` are known: the suites must find them, and the page of known mistakes has a row for each. They are written
    out, or rows of a set of mutants. `variants` are the same mistakes in other styles, and other mutants; they only
    serve the diagnosis.
    """

    mistakes: list[Mistake] = field(default_factory=list)
    variants: list[Mistake] = field(default_factory=list)

    def __call__(self, name: str, *, hint: str = "") -> Callable[[Any], Any]:
        """Add the decorated function or class under `name`."""

        def add(code: Any) -> Any:
            self.mistakes.append(Mistake(name, code.__name__, hint, lambda: code, is_known=True))
            return code

        return add

    @staticmethod
    def mutant(*ways: Options, hint: str = "") -> Mutant:
        """A row of a set of mutants that only serves the diagnosis."""
        return Mutant(ways, hint)

    @staticmethod
    def known(*ways: Options, hint: str = "") -> Mutant:
        """A row of a set of mutants that the suites must find."""
        return Mutant(ways, hint, is_known=True)

    def mutants(
        self,
        mutants: Mapping[str, Mutant | Sequence[Options]],
        styles: Sequence[tuple[str, Options]] = (("", {}),),
        hints: Mapping[str, str] = MappingProxyType({}),
        catalogued: Collection[str] = (),
    ) -> Callable[[Any], Any]:
        """Add hypotheses: mutants, each with one wrong decision.

        The decorated function takes options and makes the exercise's function or class; without options, a right one.

        mutants: by name, a row, or only its options, in one way or several
        styles: options that change the result on unusual input (empty rows, say), but not the mistake's name. Each has
            a sentence that says what is wrong then; the first style is right and has none.
        hints, catalogued: for rows that several exercises share: hints for names that no mistake written out above has,
            and which of them are known mistakes here

        Raises `CourseError` if a name in `catalogued` is no mutant.
        """

        def add(make: Callable[..., Any]) -> Callable[..., Any]:
            for name in catalogued:
                if name not in mutants:
                    where = f"{inspect.getfile(make)}: {make.__name__}"
                    raise CourseError(f"{where}: {name!r} is catalogued, and no such mutant")
            rows = {name: row if isinstance(row, Mutant) else Mutant(tuple(row)) for name, row in mutants.items()}
            of_rows = {name: row.hint for name, row in rows.items() if row.hint}
            asks = {**hints, **of_rows, **{mistake.name: mistake.hint for mistake in reversed(self.of(make.__name__))}}
            for name, row in rows.items():
                for number, (options, (also, style)) in enumerate(product(row.ways, styles)):
                    is_known = (row.is_known or name in catalogued) and number == 0
                    code = functools.partial(make, **{**style, **options})
                    made = Mistake(name, make.__name__, asks[name], code, is_known, also)
                    (self.mistakes if is_known else self.variants).append(made)
            return make

        return add

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self.mistakes)

    def of(self, exercise: str) -> list[Mistake]:
        """The known mistakes of one exercise."""
        return [mistake for mistake in self.mistakes if mistake.exercise == exercise]


def read_catalogue(files: Sequence[Path]) -> Catalogue:
    """The catalogues of an assignment's exercises as one; a missing file counts as empty. Raises `CourseError`."""
    whole = Catalogue()
    for folder in {path.parent.parent for path in files}:
        loading.forget(folder)
    for path in [path for path in files if path.is_file()]:
        found = _loaded(path)
        whole.mistakes += found.mistakes
        whole.variants += found.variants
    return whole


def _loaded(path: Path) -> Catalogue:
    """The catalogue in a file. Raises `CourseError` with the line that raises, or if there is none."""
    try:
        found = getattr(loading.load(path), "mistake", None)
    except AutograderError:
        raise
    except Exception as error:
        places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
        line = next((f"; line {line}" for name, line in reversed(places) if name == str(path.resolve())), "")
        raise CourseError(f"{path}: it cannot be loaded ({type(error).__name__}: {error}{line})") from error
    if not isinstance(found, Catalogue):
        raise CourseError(f"{path}: it has no `mistake = Catalogue()`")
    return found


@dataclass(frozen=True)
class OfAnswer:
    """A relation of a wrong answer to the right one, as a course enters it in `relations.py`. It shows in each answer.

    find: gives the evidence in one sentence for a call that was compared (see `explain.relations.ComparedCall`);
        empty if it does not hold
    """

    name: str
    find: Callable[[Any], str]
    hint: str
