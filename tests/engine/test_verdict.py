"""A judge's verdict is checked field by field, and `tools.fuzz` runs for a few seconds."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.worker.verdict import BadVerdict, read_message
from cellcage.protocol import frames
from tools import fuzz, fuzz_changes

EXERCISES = fuzz.EXERCISES
# Random data, as untrusted code might send it.
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=16)
    | st.sampled_from(["array", "tensor", "tuple", "list", "dict", "other", "scalar", "float64"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)  # fmt: skip


@pytest.fixture(scope="module")
def targets():
    return fuzz.targets()


@pytest.fixture(scope="module")
def honest():
    return frames.parse(fuzz.verdicts()[0])["verdict"]


def test_valid_verdict_is_read_unchanged(honest):
    verdict = read_message({"verdict": honest}, EXERCISES, 3).verdict
    assert json.loads(json.dumps(msgspec.to_builtins(verdict))) == honest
    assert [exercise.name for exercise in verdict.exercises] == [exercise.name for exercise in EXERCISES]


@given(anything)
@settings(max_examples=200, deadline=None)
def test_random_data_is_refused(data):
    try:
        read_message({"verdict": data}, EXERCISES, 3)
    except BadVerdict:
        return
    raise AssertionError("accepted as a verdict")


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_verdict_with_a_random_field_is_refused_or_valid(data):
    tree = [frames.parse(fuzz.verdicts()[0])["verdict"]]
    place, key = data.draw(st.sampled_from(list(fuzz_changes.places(tree))))
    place[key] = data.draw(anything)
    try:
        verdict = read_message({"verdict": tree[0]}, EXERCISES, 3).verdict
    except BadVerdict:
        return
    for exercise, wanted in zip(verdict.exercises, EXERCISES, strict=True):
        assert exercise.name == wanted.name
        assert 0 <= exercise.score <= exercise.max_score == wanted.points
        assert math.isfinite(exercise.score)


def test_mutated_messages_are_read_in_time(targets):
    for name, target in targets.items():
        for seed in range(60):
            assert fuzz.run_one(target, seed) < fuzz.SECONDS, name
