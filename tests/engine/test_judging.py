"""Judging one submission: one process per exercise, follow-through with the reference, repeated calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.authoring.sample_class import mistake, model_answers
from autograder.explain.explaining import judge
from tests.helpers.in_process import COURSE, material

A1, A2, A3 = list(COURSE.assignments.values())[:3]
LOOP = "exec('while True: pass')"
SLEEP = "__import__('time').sleep(1000)"
TOO_LARGE = "def softmax(x, axis=-1):\n    return 2 * np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)"
ATTENTION = """
def scaled_dot_product_attention(Q, K, V):
    {first}
    weights = softmax(attention_scores(Q, K))
    {then}
    return weights @ V, weights
"""


def attention(first="pass", then="pass"):
    return {"scaled_dot_product_attention": ATTENTION.format(first=first, then=then)}


def judged(sandbox, assignment, cells, **limits):
    """Results by exercise."""
    with sandbox.open(list(cells), replace(sandbox.limits, **limits)) as running:
        results = judge(material(assignment), running, assignment.exercises)
    return {result.name: result for result in results}


def test_reference_replaces_only_wrong_exercises_that_are_used(sandbox):
    results = judged(sandbox, A1, (model_answers(A1) | {"softmax": TOO_LARGE}).values())
    assert [result.with_reference for result in results.values()] == [(), (), ("softmax",), ()]


def test_answers_of_the_reference_cannot_be_passed_on(sandbox):
    """Files that code writes while it may call the reference are gone in other exercises."""
    leave = """
import os
def keep(word):
    for place in ("/tmp/kept", "/dev/shm/kept"):
        if word not in kept():
            open(place, "a").write(word)
def kept():
    return [open(p).read() for p in ("/tmp/kept", "/dev/shm/kept") if os.path.exists(p)]
def left():  # only texts that are in the code are shown
    return "left: right" if "right" in str(kept()) else "left: wrong" if kept() else "left: nothing"
"""
    answers = model_answers(A1) | {"softmax": TOO_LARGE}
    answers |= attention(then="keep('right' if abs(weights.sum(-1) - 1).max() < 1e-3 else 'wrong')")
    last = "torch_scaled_dot_product_attention"
    answers[last] = f"def {last}(query, key, value):\n    attention_scores; softmax\n    raise ValueError(left())"
    results = judged(sandbox, A1, [leave, *answers.values()])
    assert results["scaled_dot_product_attention"].score == results["scaled_dot_product_attention"].max_score
    assert results[last].score == 0
    messages = " ".join(test.message for test in results[last].tests)
    assert "left: wrong" in messages  # from the run with its own softmax, whose weights sum to two
    assert "left: right" not in messages, messages


def test_repeated_calls_reveal_hidden_state(sandbox):
    kept = """
seen = set()
def softmax(x, axis=-1):
    key = (x.tobytes(), x.shape, axis)
    right = np.exp(x - x.max(axis=axis, keepdims=True))
    right = right / right.sum(axis=axis, keepdims=True)
    wrong = key in seen
    seen.add(key)
    return right * 2 if wrong else right
"""
    results = judged(sandbox, A1, (model_answers(A1) | {"softmax": kept}).values())
    messages = [test.message for test in results["softmax"].tests if test.state != "passed"]
    assert len(messages) >= 5
    assert any("called again with the same arguments" in message for message in messages), messages


def test_better_of_own_and_follow_through_attempt_counts(sandbox):
    ends = attention(then="__import__('os')._exit(1) if abs(weights.sum(axis=-1) - 1).max() < 1e-3 else None")
    results = judged(sandbox, A1, (model_answers(A1) | {"softmax": TOO_LARGE} | ends).values())
    assert results["scaled_dot_product_attention"].score < results["scaled_dot_product_attention"].max_score
    last = results["torch_scaled_dot_product_attention"]
    assert last.score == last.max_score


def test_two_early_mistakes_cost_marks_once_each(sandbox):
    answers = model_answers(A1) | {"softmax": TOO_LARGE} | mistake(A1, "no-scaling", "attention_scores")
    results = judged(sandbox, A1, answers.values())
    attend = results["scaled_dot_product_attention"]
    assert attend.score == attend.max_score
    assert attend.with_reference == ("attention_scores", "softmax")


@pytest.mark.slow
def test_endless_loop_costs_only_tests_that_reach_it(sandbox):
    loop = f"def softmax(x, axis=-1):\n    if x.ndim > 2: {LOOP}\n    x = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    cells = {"softmax": loop + "    return x / x.sum(axis=axis, keepdims=True)"}
    results = judged(sandbox, A1, (model_answers(A1) | cells).values(), call_seconds=0.8, call_seconds_again=0.4)
    tests = {test.name: test for test in results["softmax"].tests}
    assert tests["test_one_row"].state == tests["test_many_rows"].state == "passed", tests
    stopped = [test for test in tests.values() if test.stopped]
    assert stopped and all("Does a loop never end" in test.message for test in stopped)


@pytest.mark.slow
def test_endless_loop_in_a_used_exercise_is_replaced(sandbox):
    answers = model_answers(A1) | {"softmax": f"def softmax(x, axis=-1):\n    {LOOP}"}
    results = judged(sandbox, A1, answers.values(), call_seconds=0.6)
    attend = results["scaled_dot_product_attention"]
    assert (attend.score, attend.with_reference) == (attend.max_score, ("softmax",))


@pytest.mark.slow
def test_sleeping_code_is_stopped_after_two_attempts(sandbox):
    answers = model_answers(A1) | {"softmax": f"def softmax(x, axis=-1):\n    {SLEEP}"}
    results = judged(sandbox, A1, answers.values(), call_seconds=0.05, call_seconds_again=0.02)
    assert "Does the code sleep" in results["softmax"].tests[0].message
    assert results["attention_scores"].score == results["attention_scores"].max_score


@pytest.mark.slow
def test_call_that_timed_out_once_is_repeated(sandbox):
    """The machine may have been busy for a moment."""
    waits = (
        "import os, time\n"
        "def softmax(x, axis=-1):\n"
        "    if not os.path.exists('/tmp/met'):\n"
        "        open('/tmp/met', 'w').close()\n"
        f"        {SLEEP}\n"
        "    x = np.exp(x - x.max(axis=axis, keepdims=True))\n"
        "    return x / x.sum(axis=axis, keepdims=True)"
    )
    results = judged(sandbox, A1, (model_answers(A1) | {"softmax": waits}).values(), call_seconds=0.1)
    assert results["softmax"].score == results["softmax"].max_score
