"""The catalogue of known mistakes: small wrong implementations with a name and a hint.

One file an assignment in `mistakes/`. A mistake is written as the student would write it, complete in itself:

    mistake = Catalogue()

    @mistake("no-scaling", hint="What are the dot products divided by before the softmax?")
    def attention_scores(Q, K):
        return Q @ K.swapaxes(-2, -1)

The function's (or class's) name is the exercise.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """One known mistake. `hint` is a question or a place to look, and never the fix."""

    name: str
    exercise: str
    hint: str
    code: Callable[..., Any]


@dataclass
class Catalogue:
    """The mistakes of one assignment, in the order written. Used as a decorator."""

    mistakes: list[Mistake] = field(default_factory=list)

    def __call__(self, name: str, *, hint: str = "") -> Callable[[Any], Any]:
        """Enter the decorated function or class under `name`."""

        def enter(code: Any) -> Any:
            self.mistakes.append(Mistake(name, code.__name__, hint, code))
            return code

        return enter

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self.mistakes)

    def of(self, exercise: str) -> list[Mistake]:
        """The mistakes of one exercise."""
        return [mistake for mistake in self.mistakes if mistake.exercise == exercise]


def read_catalogue(suite: Path) -> Catalogue:
    """The catalogue beside a suite; empty where there is none."""
    path = suite.parent / "mistakes" / f"{suite.stem.removeprefix('test_')}.py"
    if not path.is_file():
        return Catalogue()
    spec = importlib.util.spec_from_file_location(f"mistakes_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.mistake
    assert isinstance(found, Catalogue)
    return found
