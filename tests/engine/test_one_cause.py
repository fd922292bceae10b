"""If many tests fail for one reason, one message explains it and marks are deducted once."""

from __future__ import annotations

import linecache
import re
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from attention_course.hidden.inputs import normal
from autograder.authoring.sample_class import model_answers
from autograder.explain.explaining import ABOVE, SAME, judge
from autograder.judge.judging import shares
from autograder.reports import rubric
from autograder.student.check import examine
from autograder.testing import call_text
from autograder.testing.functions import Here
from cellcage.protocol.calls import Call
from tests.helpers.in_process import COURSE, material

IMPORTS = "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F"
MULTI_HEAD = model_answers(COURSE.assignment("a4_multi_head_attention"))["MultiHeadAttention"]
numbers = count()


def notebook(name, changes, prerequisites):
    """The names of a notebook: edited model answers, and the student's answers from earlier assignments."""
    assignment = COURSE.of_exercise(name)
    answers = model_answers(assignment)
    for exercise, old, new in changes:
        assert old in answers[exercise], answers[exercise]
        answers[exercise] = answers[exercise].replace(old, new)
    names = {"__name__": "notebook"}
    for source in (IMPORTS, prerequisites if assignment.source.prerequisites else "", *answers.values()):
        place = f"<cell {next(numbers)}>"
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
        exec(compile(source, place, "exec"), names)
    return names


def graded(name, *changes, prerequisites=MULTI_HEAD, names_causes=True):
    """The result of an exercise whose model answer was edited.

    names_causes: whether to run the diagnosis, which is slow
    """
    assignment = COURSE.of_exercise(name)
    names = notebook(name, [(name, old, new) for old, new in changes], prerequisites)
    wanted = [one for one in assignment.exercises if one.name == name]
    known = material(assignment)
    return judge(known if names_causes else replace(known, hypotheses=None), Here(names), wanted)[-1]


def failed(result):
    return [test for test in result.tests if test.state != "passed"]


PAIRS = {
    "scaled_dot_product_attention": ("weights @ V", "weights"),
    "causal_attention": ("weights @ V", "weights"),
    "torch_masked_attention": ("weights @ value", "weights"),
    "MultiHeadAttention": ("self.W_O(heads.flatten(-2))", "weights"),
}
FORMS = {
    "dict, weights first": "{{'weights': {1}, 'output': {0}}}",
    "scores, too": "{0}, {1}, scores",
    "with a number": "{0}, {1}, 0.5",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "MultiHeadAttention"])
def test_swapped_parts_fail_one_test_and_cost_at_most_a_tenth(name):
    output, weights = PAIRS[name]
    result = graded(name, (f"return {output}, {weights}", f"return {weights}, {output}"), names_causes=False)
    assert [test.name for test in failed(result)] == ["test_shape"]
    assert result.max_score * 0.9 <= result.score < result.max_score


def costs_a_fifth(result):
    first, *others = failed(result)
    assert 2 / 3 * result.max_score <= result.score <= 0.9 * result.max_score
    assert "The values are right, so this costs a fifth of the points." in first.message
    assert {test.message for test in others} == {ABOVE}
    assert all(test.score == pytest.approx(0.8 * test.max_score) for test in failed(result))


@pytest.mark.parametrize("form", FORMS)
def test_another_container_costs_a_fifth_and_is_reported_once(form):
    output, weights = PAIRS["scaled_dot_product_attention"]
    code = FORMS[form].format(output, weights).replace("scores", "attention_scores(Q, K)")
    costs_a_fifth(
        graded("scaled_dot_product_attention", (f"return {output}, {weights}", f"return {code}"), names_causes=False)
    )


@pytest.mark.parametrize("name", ["causal_attention", "torch_masked_attention"])
def test_missing_weights_do_not_cost_the_points_of_the_output(name):
    output, weights = PAIRS[name]
    result = graded(name, (f"return {output}, {weights}", f"return {output}"))
    lost = failed(result)
    assert "test_output" not in [test.name for test in lost]
    assert result.score > result.max_score / 3
    assert "nan" not in " ".join(test.message for test in lost)
    assert [test.message for test in lost[1:]] == [ABOVE] * (len(lost) - 1)


def test_another_container_does_not_hide_wrong_numbers():
    result = graded(
        "multi_head_attention",
        ("return output_projection(weights @ V, W_O), weights", "return {'a': (weights @ V).sum(-3), 'b': weights}"),
    )
    assert {"test_shape", "test_output", "test_mask"} <= {test.name for test in failed(result)}


def test_another_container_does_not_hide_a_known_mistake():
    form = ("return weights @ value, weights", "return {'output': weights @ value, 'weights': weights}")
    result = graded("torch_scaled_dot_product_attention", form, (" / math.sqrt(d_k)", ""))
    assert result.diagnosis == "no-scaling" and result.score < 0.5 * result.max_score
    assert graded("torch_scaled_dot_product_attention", form).diagnosis == "another-kind"


@pytest.mark.catalogue
def test_missing_part_earns_no_points_of_its_own():
    name, names = "online_softmax_step", notebook("online_softmax_step", [], "")
    step, assignment = names[name], COURSE.of_exercise(name)
    names[name] = lambda *args, **more: step(*args, **more)[:2]
    wanted = [one for one in assignment.exercises if one.name == name]
    (result,) = judge(replace(material(assignment), hypotheses=None), Here(names), wanted)
    lost = {test.name for test in failed(result)}
    assert lost.isdisjoint({"test_largest", "test_total", "test_batch_axes"})
    assert {"test_mixed", "test_in_any_blocks"} <= lost  # tests of the third part


NORMS = [("self.norm_1", "self.ln1"), ("self.norm_2", "self.ln2")]
MISNAMED = [
    ("DecoderBlock", NORMS, "norm_1"),
    ("MultiHeadAttention", [("self.W_Q", "self.query")], "W_Q"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "changes", "missing"), MISNAMED)
def test_misnamed_member_fails_only_the_test_that_names_it(name, changes, missing):
    result = graded(name, *changes, names_causes=False)
    (lost,) = failed(result)
    assert lost.name == "test_parameters" and lost.max_score <= result.max_score / 10
    assert f"there is no member {missing}; there is " in lost.message
    assert ".weight" not in lost.message  # not a list of all parameters


@pytest.mark.slow
def test_exception_in_one_line_is_reported_once_with_the_number_of_tests():
    result = graded("DecoderBlock", ("        self.norm_2 = nn.LayerNorm(d_model)\n", ""))
    first, *others = failed(result)
    assert "has no attribute 'norm_2'" in first.message and "`return x + self.feed_forward" in first.message
    assert first.message.endswith("14 more tests fail for this reason.")
    assert {test.message for test in others} == {ABOVE}


def test_view_after_a_transpose_is_reported_once():
    result = graded("torch_concat_heads", ("tokens.reshape(", "tokens.view("))
    assert 0.7 * result.max_score < result.score < 0.9 * result.max_score
    first, *others = failed(result)
    assert "`reshape` copies where it must" in first.message and "for this reason." in first.message
    assert {test.message for test in others} == {ABOVE}


# ---------------------------------------------------------------- shares of the points


@pytest.mark.slow
def test_one_slip_in_a_large_exercise_keeps_most_points():
    inverted = graded("DecoderBlock", ("padding.unsqueeze(-3)", "~padding.unsqueeze(-3)"), names_causes=False)
    assert inverted.score >= 4
    forgotten = ("self.output(self.norm(x))", "self.output(x)")
    assert graded("TransformerDecoder", forgotten, names_causes=False).score >= 2.5


@pytest.mark.parametrize(
    ("weights", "points"), [([1, 1, 1], 1), ([0.2, 1, 1.5, 0.3], 4), ([1] * 7, 2.5), ([3, 1, 1, 1] * 5, 0.1)]
)
def test_shares_are_positive_and_add_up(weights, points):
    found = shares(weights, points)
    assert round(sum(found), 10) == points and min(found) > 0
    assert points < 1 or all(round(share, 2) == share for share in found)


# ---------------------------------------------------------------- hints, and answers from earlier assignments


def test_hint_of_a_known_mistake_replaces_other_questions():
    for name, *change in (
        ("scaled_dot_product_attention", "weights @ V, weights", "weights, weights @ V"),
        ("attention_scores", "d_k = Q.shape[-1]", "d_k = Q.shape[-2]"),
        ("masked_softmax", "np.where(mask, scores, -np.inf)", "np.where(mask, scores, 0)"),
    ):
        result = graded(name, tuple(change))
        assert result.diagnosis and result.hint, name
        assert not any("?" in test.message for test in failed(result)), failed(result)
    unknown = graded("attention_scores", ("Q @ K", "np.sin(Q) @ K"))
    assert unknown.diagnosis is None and any("?" in test.message for test in failed(unknown))


@pytest.mark.catalogue
def test_right_answer_from_an_earlier_assignment_is_not_blamed():
    result = graded("DecoderBlock", *NORMS, names_causes=False)
    assert result.with_reference == ()
    wrong_prerequisite = MULTI_HEAD.replace("W_Q", "query")
    wrong = graded("DecoderBlock", *NORMS, prerequisites=wrong_prerequisite, names_causes=False)
    assert wrong.with_reference == ("MultiHeadAttention",) and wrong.score == result.score
    (note,) = [note for note in rubric.notes(wrong) if "MultiHeadAttention" in note]
    assert "lost marks" not in note and "calls" in note


# ---------------------------------------------------------------- calls in messages


def test_message_shows_the_call_with_the_wrong_result():
    wider = "    if d_model != W_O.shape[0]:\n        return np.zeros((5, 12)), np.zeros((3, 5, 5))\n"
    axes = "*batch, L, d_model = X.shape\n"
    result = graded("multi_head_attention", (axes, axes + wider))
    (lost,) = failed(result)
    assert "with X (5, 7), W_Q (7, 12)" in lost.message and "d_model is 7" in lost.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("attention_scores", "Q @ K", "np.sin(Q) @ K"),
        ("split_heads", "heads.swapaxes(-3, -2)", "heads.swapaxes(-3, -2)[::-1]"),
        ("multi_head_attention", "Q @ K", "np.sin(Q) @ K"),
    ],
)
def test_line_of_code_in_a_message_reproduces_the_input(name, old, new):
    """After this line, the call in the message gives the number in the message."""
    result = graded(name, (old, new))
    messages = [test.message for test in failed(result) if "To have the same input: `" in test.message]
    assert messages
    checked = 0
    for message in messages:
        found = re.search(r"(?:result|output|weights) at \[([\d, ]+)\] is (-?[\d.e+-]+), which is not right", message)
        if not found:
            continue
        names = notebook(name, [(name, old, new)], prerequisites="")
        exec(message.partition("To have the same input: `")[2].rpartition("`")[0], names)
        got = eval(message.partition(" with ")[0], names)
        parts = [got] if hasattr(got, "shape") else got
        place = tuple(map(int, found[1].split(",")))
        near = [part[place] for part in parts if len(part.shape) == len(place)]
        assert any(float(one) == pytest.approx(float(found[2]), rel=2e-3, abs=1e-4) for one in near), message
        checked += 1
    assert checked


def test_line_of_code_contains_only_inputs_of_the_hidden_tests():
    answer = np.random.default_rng(0).normal(size=(3, 4)) ** 2
    notes = call_text.Notes()
    with notes.taken():
        x = normal(5, 3, 4)
    assert notes.line(Call("f", (answer,)), lambda name: ["x"]) == ""
    assert notes.line(Call("f", (x, answer)), lambda name: ["x", "y"]) == ""
    made = "np.random.default_rng(5).normal(size=(3, 4))"
    for given, code in (
        (x, made),
        (2.5 * x + 1, f"2.5 * {made} + 1"),
        (x - 0.5, f"{made} - 0.5"),
        (x.T, f"{made}.swapaxes(-1, -2)"),
        (-x.astype(np.float32), f"(-1 * {made}).astype(np.float32)"),
        (np.array([[True, False]]), "np.array([[1,0]], dtype='bool')"),
    ):
        assert notes.line(Call("f", (given,)), lambda name: ["x"]) == f"x = {code}"
        assert np.allclose(eval(code, {"np": np}), given, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------- visible tests


def test_check_reports_swapped_values_with_one_question():
    names = notebook("causal_attention", [("causal_attention", "weights @ V, weights", "weights, weights @ V")], "")
    messages = [test.message for test in examine("causal_attention", names).result.tests if test.state != "passed"]
    (question,) = [message for message in messages if "?" in message]
    assert "the values came back in another order. → In which order does the docstring name them? What" in question
    assert SAME in messages


def test_missing_exception_of_a_constructor_is_reported():
    result = graded("MultiHeadAttention", ("if d_model % num_heads != 0:", "if False:"))
    (lost,) = failed(result)
    assert lost.name == "test_does_not_divide"
    assert (
        "raised nothing (is there a `raise`?); it should raise ValueError." in lost.message
        and "dict" not in lost.message
    )
