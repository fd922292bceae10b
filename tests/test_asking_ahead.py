"""A suite's questions asked all at once, or test by test in a process each: the same verdict, to the letter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.authors.classroom import mistake, model_answers
from autograder.course import Course
from autograder.judging.judge import judge
from autograder.judging.transport import Behind
from autograder.marking.mark import Marker
from tests.conftest import ROOT

A1 = Course(ROOT).assignment("a1_scaled_dot_product")
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


@pytest.fixture(scope="module")
def marker(sandbox):
    with Marker(A1, sandbox) as opened:
        yield opened


def judged(marker, cells, ahead, **limits):
    """The exercises' results, and how many processes they took."""
    forks = []
    with marker.sandbox.open(cells, replace(marker.limits, **limits)) as running:
        fork, running._fork = running._fork, lambda: forks.append(1) or fork()
        behind = Behind(running, marker.module, marker.foresight if ahead else None)
        return judge(marker.suite, behind, A1.exercises, marker.module, marker.diagnoser), len(forks)


WRONG = {
    "an early mistake": {"softmax": TOO_LARGE},
    "two early mistakes": {"softmax": TOO_LARGE} | mistake(A1, "no-scaling", "attention_scores"),
    "right from its second call on": {"softmax": TOO_LARGE}
    | attention("seen.append(1)", "weights = weights * (len(seen) > 1)")
    | {"before": "seen = []"},
    "right in its first call": {"softmax": TOO_LARGE}
    | attention("seen.append(1)", "weights = weights * (len(seen) < 2)")
    | {"before": "seen = []"},
    "ends Python behind the reference": {"softmax": TOO_LARGE}
    | attention(then="__import__('os')._exit(1) if abs(weights.sum(axis=-1) - 1).max() < 1e-3 else None"),
    "ready-made behind the reference": {"softmax": TOO_LARGE}
    | attention(then="F.scaled_dot_product_attention(*[torch.ones(1, 2, 2)] * 3) if weights.max() <= 1 else None"),
}


@pytest.mark.parametrize("name", WRONG)
def test_asked_ahead_or_one_by_one_is_the_same(marker, name):
    cells = list((model_answers(A1) | WRONG[name]).values())
    assert judged(marker, cells, ahead=True)[0] == judged(marker, cells, ahead=False)[0]


def test_an_early_mistake_takes_one_process_more(marker):
    """Not one for each test of each later exercise."""
    right = list(model_answers(A1).values())
    wrong = list((model_answers(A1) | WRONG["an early mistake"]).values())
    assert judged(marker, right, ahead=True)[1] == 1
    results, processes = judged(marker, wrong, ahead=True)
    assert [result.with_reference for result in results] == [(), (), ("softmax",), ()]
    assert processes == 1 + 1


def test_what_may_keep_a_state_is_asked_twice(marker):
    cells = list((model_answers(A1) | attention("seen.append(1)") | {"before": "seen = []"}).values())
    results, processes = judged(marker, cells, ahead=True)
    assert all(result.score == result.max_score for result in results)
    assert processes == 2


def test_slow_calls_are_waited_for_one_by_one(marker):
    """The limit is a call's, and not that of an exercise whose replies travel together."""
    slow = "    import time\n    time.sleep(0.02)\n    x = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    cells = {"softmax": f"def softmax(x, axis=-1):\n{slow}    return x / x.sum(axis=axis, keepdims=True)"}
    results, processes = judged(marker, list((model_answers(A1) | cells).values()), ahead=True, foreseen_seconds=0.3)
    assert all(result.score == result.max_score for result in results)
    assert processes == 2
