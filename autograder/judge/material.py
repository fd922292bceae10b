"""The material for judging an assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.diagnosis.hypotheses import Hypotheses
from autograder.diagnosis.visible_fingerprints import VisibleNames
from autograder.testing.example import Example
from autograder.testing.hidden_tests import Suite
from autograder.testing.plan import Recording
from autograder.testing.relation import OfAnswer


@dataclass(frozen=True)
class Material:
    """The material for judging an assignment.

    suite: hidden or visible tests
    reference: the solution's names, empty if there is no solution here
    prerequisites: names from an earlier assignment, which are not judged here
    examples: what is drawn, by exercise
    relations: the course's own relations between wrong and right answers
    visible_names: names of mistakes by their answers to visible tests
    ready_made: for each exercise, the functions that it must not call
    sizes: for each exercise, how long its model answer is, in nodes of the syntax tree
    """

    suite: Suite
    reference: Mapping[str, Any] = field(default_factory=dict)
    recording: Recording = field(default_factory=Recording)
    hypotheses: Hypotheses | None = None
    prerequisites: tuple[str, ...] = ()
    examples: Mapping[str, Example] = field(default_factory=dict)
    relations: Sequence[OfAnswer] = ()
    visible_names: VisibleNames = field(default_factory=dict)
    ready_made: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
