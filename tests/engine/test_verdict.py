"""A judge's verdict is checked field by field, and `tools.fuzz` runs for a few seconds."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.task import read_message
from cellcage.protocol import frames
from cellcage.wire import WireError
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


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tests": []}, "do not add up"),
        ({"findings": [{"kind": "mention"}] * 201}, "length <= 200"),
        ({"findings": [{"kind": "guess"}]}, "Invalid enum value"),
        ({"picture": {"matrices": [[[1.0]]], "rows": ["a"], "columns": ["b", "c"], "boolean": False}}, "labels"),
        ({"findings": [{"kind": "place"}]}, "a place without a line"),
    ],
)
def test_verdict_that_no_honest_judge_sends_is_refused(honest, change, reason):
    first, *others = honest["exercises"]
    with pytest.raises(WireError, match=reason):
        read_message({"verdict": honest | {"exercises": [first | change, *others]}}, EXERCISES, 3)


def test_message_that_says_two_things_or_none_is_refused(honest):
    for message in ({}, {"open": False}, {"open": True, "broken": ["a", "b"]}, {"verdict": honest, "marks": honest}):
        with pytest.raises(WireError, match="one thing"):
            read_message(message, EXERCISES, 3)


def test_long_texts_are_cut_and_kept_on_one_line(honest):
    first, *others = honest["exercises"]
    changed = {"findings": [{"kind": "relation", "name": "x" * 9_000, "evidence": "a\nb" * 5_000}]}
    printed = [{"printed": "a\n" * 20_000}, {}, {"rich": [["text/html", b"<b>"], ["image/png", b"GIF"]]}]
    verdict = {"exercises": [first | changed, *others], "cells": printed}
    found = read_message({"verdict": verdict}, EXERCISES, 3).verdict
    assert len(found.exercises[0].evidence) == len(found.exercises[0].diagnosis) == 4_000
    assert found.cells[0].printed == "a\n" * 12_500
    assert found.cells[2].rich == (("text/html", b"<b>"),)


@pytest.mark.slow
@given(anything)
@settings(max_examples=100, deadline=None)
def test_random_data_is_refused(data):
    try:
        read_message({"verdict": data}, EXERCISES, 3)
    except WireError:
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
    except WireError:
        return
    for exercise, wanted in zip(verdict.exercises, EXERCISES, strict=True):
        assert exercise.name == wanted.name
        assert 0 <= exercise.score <= exercise.max_score == wanted.points
        assert math.isfinite(exercise.score)


def test_mutated_messages_are_read_in_time(targets):
    for name, target in targets.items():
        for seed in range(60):
            assert fuzz.run_one(target, seed) < fuzz.SECONDS, name
