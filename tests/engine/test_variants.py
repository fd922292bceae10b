"""One case of each test of values is one of four inputs: a table of answers to known inputs earns little."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from attention_course.hidden.inputs import chosen, normal
from autograder.judge.judging import judge
from autograder.secret import FILE, make_secret, secret_of
from autograder.testing.local import Here
from autograder.testing.recording import variants
from autograder.testing.variants import VARIANTS, Drawing, variant_of, varied
from tests.helpers.in_process import ASSIGNMENTS, material

SECRET = "a course's own"
# Exercises whose hidden tests pass models or objects that keep their inputs, or ask for lists of token ids.
KEPT = {"next_token", "greedy_summary", "training_example", "ablate", "KeyValueCache", "offset_attention",
        "translation_test"}  # fmt: skip


@pytest.fixture(scope="module", params=ASSIGNMENTS, ids=lambda a: a.name)
def known(request):
    """What an assignment is judged with, and its recordings for a course with a secret."""
    found = material(request.param)
    return request.param, found, variants(found.suite, found.reference, found.recording, SECRET)


@pytest.mark.slow
def test_each_test_of_values_has_four_inputs_and_the_solution_passes_them(known):
    assignment, found, recordings = known
    assert len(recordings) == VARIANTS
    of_values = Counter(test.exercise for test in found.recording.drawn)
    for recording in recordings:
        changed = Counter(test.exercise for test in recording.drawings)
        for exercise in {one.name for one in assignment.exercises} - KEPT:
            assert 2 * changed[exercise] >= of_values[exercise] > 0, exercise
        for test in recording.drawings:
            assert recording.calls[test] != found.recording.calls[test]
    names = dict(found.reference)
    for recording in recordings:
        for result in judge(replace(found, recording=recording, hypotheses=None), Here(names), assignment.exercises):
            assert result.score == result.max_score, result


@pytest.mark.slow
def test_a_table_of_known_answers_loses_a_fair_share_everywhere(known):
    """Whoever has the answers to all that is asked of everybody, but no way to find them."""
    assignment, found, recordings = known
    tables = {exercise: {one.place[0]: one.answer for one in plan} for exercise, plan in found.recording.plans.items()}
    plain, *others = (
        judge(replace(found, recording=one, hypotheses=None), Table(tables), assignment.exercises)
        for one in (found.recording, *recordings)
    )
    for results in others:
        for before, after in zip(plain, results, strict=True):
            if before.name not in KEPT:
                assert before.score >= 0.8 * before.max_score, before.name  # the table works
                assert after.score <= before.score - 0.25 * before.max_score, after.name


class Table(Here):
    """Names that answer calls as they stand in a table, and other calls with nothing."""

    def __init__(self, tables):
        super().__init__({})
        self.table = {body: answer for one in tables.values() for body, answer in one.items()}

    def begin(self, questions, name=""):
        exercise, table = super().begin(questions, name), self.table

        def ask(calls):
            for call, body in calls:
                nothing = next(type(exercise).ask(exercise, [(call, body)]))
                passed = any(map(callable, call.given()))
                yield nothing if passed else table.get(call.as_bytes, nothing)

        exercise.ask = ask
        return exercise


def test_a_submission_has_one_variant_whenever_it_is_graded():
    cells = ["import numpy as np", "def softmax(x): ..."]
    assert variant_of(cells, SECRET) == variant_of(list(cells), SECRET)
    assert {variant_of([*cells, str(n)], SECRET) for n in range(100)} == set(range(VARIANTS))
    assert [variant_of([*cells, str(n)], SECRET) for n in range(40)] != [
        variant_of([*cells, str(n)], "") for n in range(40)
    ]
    assert varied(7, 1, SECRET) != varied(7, 1, "another")


def test_only_what_is_drawn_while_a_test_runs_can_change():
    drawing = Drawing({3: varied(3, 0, SECRET)})
    usual, size = normal(3, 4), chosen(5, 6, 7)
    with drawing.under_way():
        assert not np.array_equal(normal(3, 4), usual)
        np.testing.assert_array_equal(normal(4, 4), np.random.default_rng(4).normal(size=4))
        assert chosen(5, 6, 7) == size == 5
    np.testing.assert_array_equal(normal(3, 4), usual)
    assert list(drawing.seeds)[:2] == [3, 4]
    with Drawing({list(drawing.seeds)[2]: 11}).under_way():
        assert chosen(5, 6, 7) in (6, 7)


def test_a_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    assert secret_of(tmp_path) == ""
    make_secret(tmp_path)
    made = secret_of(tmp_path)
    make_secret(tmp_path)
    assert len(made) == 64 and secret_of(tmp_path) == made
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
