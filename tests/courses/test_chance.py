"""Answers that are drawn: judged as samples, by seeds that stay the same, so that marks do, too."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from autograder.testing import expect, sampling
from autograder.testing.callbacks import Questions
from cellcage.calling import chance
from cellcage.protocol.calls import Call, Chance
from tests.courses.chance import CELLS, FILES, NAME, RIGHT, SOLUTIONS, WRONG
from tests.courses.own import course_of, graded, told


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return course_of(tmp_path_factory.mktemp("own") / "statistics", NAME, CELLS, FILES)


@pytest.mark.slow
def test_right_answers_by_any_generator_get_all_points(sandbox, course):
    for answers in (SOLUTIONS, RIGHT):
        found = told(graded(sandbox, course, NAME, answers))
        assert {score for score, _ in found.values()} == {2}, found


@pytest.mark.slow
def test_twenty_gradings_give_one_mark(sandbox, course):
    """Also of answers at the edge, which half of all seeds accept, and of generators that have no seed."""
    weights = "[6 - abs(t - 7) + 0.05 * (t - 7) for t in range(2, 13)]"
    edge = {
        "throws": f"def throws(n, rng):\n    return random.Random().choices(range(2, 13), {weights}, k=n)",
        "waiting": "def waiting():\n    return random.SystemRandom().expovariate(1 / 2.148)",
    }
    first, *others = (graded(sandbox, course, NAME, edge) for _ in range(20))
    assert {one.started for one in first.exercises if one.name in edge} == {True}
    assert all(other.exercises == first.exercises for other in others)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(max(map(len, WRONG.values()))))
def test_wrong_answers_are_told_what_is_wrong(sandbox, course, number):
    wrong = {name: answers[number] for name, answers in WRONG.items() if number < len(answers)}
    found = told(graded(sandbox, course, NAME, SOLUTIONS | {name: code for name, (code, _) in wrong.items()}))
    for name, (score, words) in found.items():
        assert (score < 2) == (name in wrong), (name, words)
        assert wrong.get(name, ("", ""))[1] in words, (name, words)


# ---------------------------------------------------------------- how often


def fails(draws, **asked):
    try:
        expect.sample(draws, **asked)
    except expect.Mismatch:
        return True
    return False


def normal_cdf(x):
    return np.vectorize(lambda one: (1 + math.erf(one / math.sqrt(2))) / 2)(x)


GRID = np.linspace(-6, 6, 2001)
TABLE = normal_cdf(GRID)
ORDERS = list(itertools.permutations(range(4)))
RIGHT_DRAWS = {
    "normal, cdf": lambda rng: (rng.normal(size=3000), {"cdf": lambda x: np.interp(x, GRID, TABLE)}),
    "normal, like": lambda rng: (rng.normal(size=(150, 20)), {"like": rng.normal(size=(150, 20))}),
    "no variance, like": lambda rng: (rng.standard_cauchy(3000), {"like": rng.standard_cauchy(3000)}),
    "rare outcomes": lambda rng: (rng.random(2000) < 0.001, {"outcomes": {1: 0.001, 0: 0.999}}),
    "die": lambda rng: (rng.integers(1, 7, (200, 10)), {"outcomes": range(1, 7)}),
    "orders": lambda rng: (rng.permuted(np.tile(range(4), (1500, 1)), axis=1), {"outcomes": ORDERS}),
}


@pytest.mark.parametrize("name", RIGHT_DRAWS)
@pytest.mark.parametrize("runs", [40, pytest.param(1000, marks=pytest.mark.catalogue)])
def test_right_draws_fail_less_often_than_is_said(monkeypatch, name, runs):
    """With an error of one in ten in place of one in ten million, which nobody can count."""
    monkeypatch.setattr(sampling, "ERROR", 0.1)
    assert (
        sum(
            fails(draws, **asked) for draws, asked in (RIGHT_DRAWS[name](np.random.default_rng(n)) for n in range(runs))
        )
        <= 0.1 * runs
    )


WRONG_DRAWS = {
    "mean": lambda rng: (rng.normal(0.15, 1, 10_000), RIGHT_DRAWS["normal, cdf"](rng)[1]),
    "spread": lambda rng: (rng.normal(0, 1.12, 10_000), RIGHT_DRAWS["normal, cdf"](rng)[1]),
    "form": lambda rng: (rng.uniform(-1.73, 1.73, 20_000), {"like": rng.normal(size=20_000)}),
    "mean, like": lambda rng: (rng.normal(0.18, 1, 10_000), {"like": rng.normal(size=10_000)}),
    "spread, like": lambda rng: (rng.normal(0, 1.15, 10_000), {"like": rng.normal(size=10_000)}),
    "sorted": lambda rng: (np.sort(rng.normal(size=10_000)), {"like": rng.normal(size=10_000)}),
    "not put back": lambda rng: (rng.permuted(np.tile(range(9), (1000, 1)), axis=1), {"outcomes": range(9)}),
    "own seed": lambda rng: (np.tile(rng.normal(size=10), (1000, 1)), {"like": rng.normal(size=(1000, 10))}),
    "loaded die": lambda rng: (rng.choice(6, 10_000, p=[0.14, 0.16, 0.16, 0.16, 0.16, 0.22]), {"outcomes": range(6)}),
    "naive shuffle": lambda rng: (swapped_with_any(rng), {"outcomes": itertools.permutations(range(3))}),
}  # fmt: skip


def swapped_with_any(rng, times=10_000, size=3):
    """Each item swapped with any other: some orders come out more often."""
    drawn = np.tile(range(size), (times, 1))
    for row in drawn:
        for i, j in enumerate(rng.integers(size, size=size)):
            row[[i, j]] = row[[j, i]]
    return drawn


@pytest.mark.parametrize("name", WRONG_DRAWS)
@pytest.mark.parametrize("runs", [2, pytest.param(30, marks=pytest.mark.catalogue)])
def test_wrong_draws_fail(name, runs):
    for seed in range(runs):
        draws, asked = WRONG_DRAWS[name](np.random.default_rng(seed))
        assert fails(draws, **asked), seed


@pytest.mark.parametrize(
    "draws", [None, [None] * 9, [{}] * 9, ["a"] * 8 + [[]], ["1", "2"] * 999, [1.0, [2.0]], np.zeros(0), "abc", 3.0]
)
def test_what_is_no_sample_is_told_so(draws):
    for asked in ({"cdf": np.tanh}, {"outcomes": "ab"}, {"like": np.arange(9.0)}):
        assert fails(draws, **asked)


def test_student_code_cannot_ask_the_reference_to_draw_without_end():
    asked = Call("roll", chance=Chance(0, times=10**9))
    questions = Questions({"roll": lambda: 4}, ("roll",))
    assert questions.answer(asked).value == 4


def test_chance_of_a_call_leaves_no_trace_in_a_students_kernel():
    random.seed(3), np.random.seed(3)
    wanted = random.random(), np.random.random()
    random.seed(3), np.random.seed(3)
    with chance.seeded(5):
        first = random.random(), np.random.random(), np.random.default_rng().random(), random.Random().random()
    with chance.seeded(5):
        assert first == (
            random.random(),
            np.random.random(),
            np.random.default_rng().random(),
            random.Random().random(),
        )
    assert (random.random(), np.random.random()) == wanted
    assert np.random.default_rng().random() != np.random.default_rng().random()
