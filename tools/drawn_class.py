"""Classes for the benchmark: answers by different people, drawn with a seed, and copies of the model answers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.course.assignments import CONFIG, Assignment, Course
from autograder.nbgrader import api
from tools.every_submission import ROOT, every_answer

GRADED = ("a1_scaled_dot_product", "a2_causal_masking", "a3_heads", "a4_multi_head_attention")
SEED = 20170612

Answers = dict[str, str]  # a submission: the code of each exercise
Draw = Callable[[Assignment, random.Random, int], Iterator[Answers]]


def build(folder: Path, count: int, draw: Draw, loops: int = 0) -> Course:
    """A released course with `count` submissions of each of a1 to a4, of which `loops` never end."""
    for name in ("source", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / CONFIG, folder / CONFIG)
    course = Course(folder)
    for name in GRADED:
        assignment = course.assignment(name)
        assert api(folder).generate_assignment(name)["success"]
        for number, answers in enumerate(draw(assignment, random.Random(f"{SEED} {name}"), count)):
            if number < loops:
                last = assignment.exercises[-1].name
                answers |= {last: f"def {last}(*args, **kwargs):\n    while True:\n        pass"}
            hand_in(fill(assignment.released, answers), folder / "submitted", f"student-{number:04}", assignment)
    return course


def copies(assignment: Assignment, _: random.Random, count: int) -> Iterator[Answers]:
    """The model answers, each with its own comment."""
    for number in range(count):
        yield {name: f"# student {number}\n{code}" for name, code in model_answers(assignment).items()}


def right(assignment: Assignment, drawn: random.Random, count: int) -> Iterator[Answers]:
    """Submissions with an accepted answer in each exercise."""
    own, others = model_answers(assignment), _of_kinds(assignment, "right")
    for number in range(count):
        styles = {name: drawn.choice(others.get(name, [code])) for name, code in own.items()}
        yield {name: f"# student {number}\n{code}" for name, code in styles.items()}


def wrong(assignment: Assignment, drawn: random.Random, count: int) -> Iterator[Answers]:
    """As `right`, with one exercise replaced by a known mistake or an independent wrong answer, each at most once."""
    found = [(name, code) for name, codes in _of_kinds(assignment, "mistake", "wrong").items() for code in codes]
    for answers, (name, code) in zip(
        right(assignment, drawn, count), drawn.sample(found, min(count, len(found))), strict=True
    ):
        yield answers | {name: code}


def of_different_people(assignment: Assignment, drawn: random.Random, count: int) -> Iterator[Answers]:
    """A class in which one in three submissions is right."""
    everybody = [*right(assignment, drawn, count // 3), *wrong(assignment, drawn, count - count // 3)]
    drawn.shuffle(everybody)
    yield from everybody


def _of_kinds(assignment: Assignment, *kinds: str) -> dict[str, list[str]]:
    """The answers of these kinds in `every_submission`, by exercise."""
    found: dict[str, list[str]] = {}
    for student, exercise, code in every_answer(assignment):
        if student.split("-")[1] in kinds:
            found.setdefault(exercise, []).append(code)
    return found
