"""One submission judged: asked all at once, in one process an exercise, and anew behind the reference."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from autograder.authoring.sample_class import mistake, model_answers
from autograder.judge.display_cells import display_cells
from autograder.judge.judging import judge
from autograder.judge.notebook import Notebook
from tests.helpers.in_process import COURSE, material

A1, A2, A3 = list(COURSE.assignments().values())[:3]
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
    """Results by exercise; processes forked for exercises; how often the notebook was run."""
    forks, runs = [], []
    with sandbox.open(list(cells), replace(sandbox.limits, **limits)) as running:
        fork, renew = running._fork, running.renew
        running._fork = lambda *a: forks.append(1) or fork(*a)
        running.renew = lambda *a: runs.append(1) or renew(*a)
        results = judge(material(assignment), running, assignment.exercises)
    return {result.name: result for result in results}, len(forks), 1 + len(runs)


def test_an_exercise_takes_one_process_and_a_right_notebook_is_run_once(sandbox):
    results, forks, runs = judged(sandbox, A1, model_answers(A1).values())
    assert all(result.score == result.max_score for result in results.values())
    assert (forks, runs) == (len(A1.exercises), 1)


def test_only_what_uses_a_wrong_name_is_judged_with_the_reference(sandbox):
    results, forks, runs = judged(sandbox, A1, (model_answers(A1) | {"softmax": TOO_LARGE}).values())
    assert [result.with_reference for result in results.values()] == [(), (), ("softmax",), ()]
    assert (forks, runs) == (len(A1.exercises) + 1, 1)


def test_nothing_written_behind_the_reference_is_found_later(sandbox):
    """An answer of the reference's, left in scratch space and in shared memory, is not there in another exercise."""
    leave = """
import os
def keep(word):
    for place in ("/tmp/kept", "/dev/shm/kept"):
        if word not in kept():
            open(place, "a").write(word)
def kept():
    return [open(p).read() for p in ("/tmp/kept", "/dev/shm/kept") if os.path.exists(p)]
def left():  # in words that stand in the code, for others are not shown
    return "left: right" if "right" in str(kept()) else "left: wrong" if kept() else "left: nothing"
"""
    answers = model_answers(A1) | {"softmax": TOO_LARGE}
    answers |= attention(then="keep('right' if abs(weights.sum(-1) - 1).max() < 1e-3 else 'wrong')")
    last = "torch_scaled_dot_product_attention"
    answers[last] = f"def {last}(query, key, value):\n    attention_scores; softmax\n    raise ValueError(left())"
    results, _, _ = judged(sandbox, A1, [leave, *answers.values()])
    assert results["scaled_dot_product_attention"].score == results["scaled_dot_product_attention"].max_score
    assert results[last].score == 0
    messages = " ".join(test.message for test in results[last].tests)
    assert "left: wrong" in messages  # what its own code has left, whose weights sum to two; of no use to anybody
    assert "left: right" not in messages, messages


KEEPS = {
    "the first mask": """
seen = []
def masked_softmax(scores, mask):
    seen.append(mask)
    mask = np.broadcast_to(seen[0], scores.shape) if seen[0].shape[-1] == scores.shape[-1] else mask
    s = np.where(mask, scores, -np.inf)
    top = np.where(mask.any(-1, keepdims=True), s.max(-1, keepdims=True), 0)
    e = np.where(mask, np.exp(s - top), 0).astype(scores.dtype)
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)
""",
    "how often it was called": """
calls = []
def masked_softmax(scores, mask):
    calls.append(1)
    s = np.where(mask, scores, -np.inf)
    top = np.where(mask.any(-1, keepdims=True), s.max(-1, keepdims=True), 0)
    e = np.where(mask, np.exp(s - top), 0).astype(scores.dtype)
    total = e.sum(-1, keepdims=True)
    right = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
    return right * (1 + 1e-3 * (len(calls) > 40))
""",
}


@pytest.mark.parametrize("what", KEEPS)
def test_a_function_that_keeps_something_between_calls_loses_marks(sandbox, what):
    results, _, _ = judged(sandbox, A2, (model_answers(A2) | {"masked_softmax": KEEPS[what]}).values())
    assert results["masked_softmax"].score < results["masked_softmax"].max_score


def test_what_is_wrong_only_the_second_time_is_found_by_asking_again(sandbox):
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
    results, _, _ = judged(sandbox, A1, (model_answers(A1) | {"softmax": kept}).values())
    said = [test.message for test in results["softmax"].tests if test.state != "passed"]
    assert len(said) >= 5
    assert any("called again with the same arguments" in message for message in said), said


WRONG = {
    "ends Python behind the reference": {"softmax": TOO_LARGE}
    | attention(then="__import__('os')._exit(1) if abs(weights.sum(axis=-1) - 1).max() < 1e-3 else None"),
    "ready-made behind the reference": {"softmax": TOO_LARGE}
    | attention(then="F.scaled_dot_product_attention(*[torch.ones(1, 2, 2)] * 3) if weights.max() <= 1 else None"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_better_of_own_and_followed_through_counts(sandbox, name):
    results, _, _ = judged(sandbox, A1, (model_answers(A1) | WRONG[name]).values())
    assert results["scaled_dot_product_attention"].score < results["scaled_dot_product_attention"].max_score
    last = results["torch_scaled_dot_product_attention"]
    assert last.score == last.max_score


def test_two_early_mistakes_are_paid_for_once_each(sandbox):
    answers = model_answers(A1) | {"softmax": TOO_LARGE} | mistake(A1, "no-scaling", "attention_scores")
    results, _, _ = judged(sandbox, A1, answers.values())
    attend = results["scaled_dot_product_attention"]
    assert attend.score == attend.max_score
    assert attend.with_reference == ("attention_scores", "softmax")


@pytest.mark.slow
def test_slow_calls_are_waited_for_one_by_one(sandbox):
    """The limit is a call's, and not that of an exercise whose answers travel together."""
    slow = "    import time\n    time.sleep(0.02)\n    x = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    cells = {"softmax": f"def softmax(x, axis=-1):\n{slow}    return x / x.sum(axis=axis, keepdims=True)"}
    results, forks, _ = judged(sandbox, A1, (model_answers(A1) | cells).values(), call_seconds=0.4)
    assert all(result.score == result.max_score for result in results.values())
    assert forks == len(A1.exercises)


@pytest.mark.slow
def test_a_loop_in_one_call_costs_the_tests_that_made_it(sandbox):
    loop = f"def softmax(x, axis=-1):\n    if x.ndim > 2: {LOOP}\n    x = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    cells = {"softmax": loop + "    return x / x.sum(axis=axis, keepdims=True)"}
    results, _, _ = judged(sandbox, A1, (model_answers(A1) | cells).values(), call_seconds=2, call_seconds_again=1)
    tests = {test.name: test for test in results["softmax"].tests}
    assert tests["test_one_row"].state == tests["test_many_rows"].state == "passed", tests
    stopped = [test for test in tests.values() if test.stopped]
    assert stopped and all("Does a loop never end" in test.message for test in stopped)


@pytest.mark.slow
def test_a_loop_that_all_tests_go_through_is_waited_for_less_and_less(sandbox):
    loop = f"def concat_heads(heads):\n    {LOOP}"
    results, _, _ = judged(sandbox, A3, [loop], call_seconds=0.6, call_seconds_again=0.2)
    found = [re.search(r"no answer after ([\d.]+) seconds", test.message) for test in results["concat_heads"].tests]
    waited = [float(one[1]) for one in found if one]
    assert waited[0] == 0.6 > waited[1] > waited[2]


@pytest.mark.slow
def test_an_exercise_that_calls_a_loop_is_not_run_into_it(sandbox):
    answers = model_answers(A1) | {"softmax": f"def softmax(x, axis=-1):\n    {LOOP}"}
    results, forks, _ = judged(sandbox, A1, answers.values(), call_seconds=0.6)
    attend = results["scaled_dot_product_attention"]
    assert (attend.score, attend.with_reference) == (attend.max_score, ("softmax",))
    calls = len(results["softmax"].tests)
    assert forks <= calls + len(A1.exercises)  # each test of the loop has a process of its own, and all else one


@pytest.mark.slow
def test_code_that_sleeps_is_tried_twice_and_then_stopped(sandbox):
    answers = model_answers(A1) | {"softmax": f"def softmax(x, axis=-1):\n    {SLEEP}"}
    results, _, _ = judged(sandbox, A1, answers.values(), call_seconds=0.05, call_seconds_again=0.02)
    assert "Does the code sleep" in results["softmax"].tests[0].message
    assert results["attention_scores"].score == results["attention_scores"].max_score


@pytest.mark.slow
def test_a_call_that_waited_the_first_time_is_made_once_more(sandbox):
    """As on a machine that was busy for a moment."""
    waits = (
        "import os, time\n"
        "def softmax(x, axis=-1):\n"
        "    if not os.path.exists('/tmp/met'):\n"
        "        open('/tmp/met', 'w').close()\n"
        f"        {SLEEP}\n"
        "    x = np.exp(x - x.max(axis=axis, keepdims=True))\n"
        "    return x / x.sum(axis=axis, keepdims=True)"
    )
    results, _, _ = judged(sandbox, A1, (model_answers(A1) | {"softmax": waits}).values(), call_seconds=0.1)
    assert results["softmax"].score == results["softmax"].max_score


@pytest.mark.slow
def test_a_cell_that_shows_what_is_known_to_loop_is_hardly_waited_for(sandbox, monkeypatch):
    """Each picture of a looping function waited ten seconds for it; the first one tells that it loops."""
    waited, run_cell = {}, Notebook._run_cell

    def noted(self, number, seconds):
        waited[self.cells[number]] = seconds
        return run_cell(self, number, seconds)

    monkeypatch.setattr(Notebook, "_run_cell", noted)
    loop, show, again = f"def endless():\n    {LOOP}", "endless()", "endless() "
    limits = replace(sandbox.limits, cell_seconds=2, call_seconds_again=0.3)
    with sandbox.open([loop, show, again], limits, showing=display_cells([show, again]), shows=True) as notebook:
        pass
    assert waited[show] == 2
    assert waited[again] == 0.3
    assert notebook.results[1].ran_out_of_time


@pytest.mark.slow
def test_an_answer_between_two_loops_is_worth_patience(sandbox):
    sometimes = (
        f"def softmax(x, axis=-1):\n    if x.ndim != 2: {LOOP}\n    x = np.exp(x - x.max(axis=axis, keepdims=True))\n"
    )
    cells = {"softmax": sometimes + "    return x / x.sum(axis=axis, keepdims=True)"}
    results, _, _ = judged(sandbox, A1, [cells["softmax"]], call_seconds=0.6)
    assert any(test.state == "passed" for test in results["softmax"].tests)
