"""Visible tests find what hidden tests find: known mistakes fail, pictures differ, and messages say where to start."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from autograder.authoring.known_mistakes import not_shown, promises
from autograder.course import content
from autograder.explain.picture import example_in
from autograder.reports.heatmap import ROUNDED
from autograder.student.check import examine
from autograder.student.kernel import exercises_below, in_cells
from autograder.testing.catalogue import read_catalogue
from tests.helpers.in_process import ASSIGNMENTS, COURSE, exercise_of, judged_alone
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import model_code

EVERY = [exercise.name for assignment in ASSIGNMENTS for exercise in assignment.exercises]
PICTURES = {name: example for name in EVERY if (example := example_in(content.Visible().picture_of(name)))}
some = pytest.mark.parametrize("assignment", one_in(len(ASSIGNMENTS), ASSIGNMENTS), ids=lambda a: a.name)


@cache
def verdicts_of(assignment):
    """By exercise and name of each known mistake, what `check` finds in it."""
    names = vars(assignment.reference())
    return {
        (mistake.exercise, mistake.name): examine(mistake.exercise, names | {mistake.exercise: mistake.code})
        for mistake in read_catalogue(assignment.mistakes)
    }


def is_visible(verdict):
    return not verdict.passed or verdict.drawn_equal is False


def right(name):
    return dict(vars(COURSE.of_exercise(name).reference()))


@pytest.mark.slow
@some
def test_known_mistake_is_visible_or_its_exception_has_a_reason(assignment):
    reasons = not_shown(assignment)
    for (exercise, name), verdict in verdicts_of(assignment).items():
        assert is_visible(verdict) or len(reasons.get(exercise, {}).get(name, "")) > 20, (exercise, name)


@pytest.mark.slow
@some
def test_listed_exceptions_exist_and_are_not_caught(assignment):
    verdicts = verdicts_of(assignment)
    left = [(exercise, name) for exercise, table in not_shown(assignment).items() for name in table]
    assert [key for key in left if key not in verdicts or is_visible(verdicts[key])] == []


@pytest.mark.slow
@some
def test_notebook_promises_hold(assignment):
    found = promises(assignment)
    assert found.problems == ()
    assert found.named


@pytest.mark.catalogue
def test_visible_tests_catch_nine_in_ten_known_mistakes():
    """The rest work only up to a certain size: visible examples are small, so that students can follow them."""
    found = [verdict for assignment in ASSIGNMENTS for verdict in verdicts_of(assignment).values()]
    assert sum(not verdict.passed for verdict in found) >= 0.9 * len(found)


# ---------------------------------------------------------------- pictures


@pytest.mark.parametrize("name", PICTURES)
def test_expected_picture_is_the_rounded_reference(name):
    wanted = PICTURES[name].wanted
    assert wanted is not None, "give it `wanted`, so that a student sees the expected numbers"
    verdict = examine(name, right(name))
    given = np.array(verdict.result.picture.matrices, dtype=float).reshape(wanted.shape)
    assert np.abs(given - wanted).max() <= 0.005 + 1e-9 < ROUNDED
    assert "your result is the expected one." in " ".join(repr(verdict).split())
    assert verdict._repr_html_().count("<svg") == len(verdict.result.picture.matrices)


@pytest.mark.parametrize("name", PICTURES)
def test_expected_picture_has_no_symmetry(name):
    for matrix in PICTURES[name].wanted.reshape(-1, *PICTURES[name].shape):
        turned = (matrix.T, matrix[::-1], matrix[:, ::-1], matrix[::-1, ::-1])
        assert not any(other.shape == matrix.shape and np.allclose(other, matrix) for other in turned)


def drawn(name, code):
    return examine(name, right(name) | {name: code}).drawn_equal


@pytest.mark.parametrize(
    "scores",
    [
        lambda Q, K: Q @ K / math.sqrt(2),
        lambda Q, K: Q @ K.T / math.sqrt(K.shape[0]),
        lambda Q, K: Q @ K.T / math.sqrt(Q.shape[0]),
        lambda Q, K: K @ Q.T / math.sqrt(2),
    ],
)
def test_wrong_scores_are_drawn_as_wrong(scores):
    assert drawn("attention_scores", lambda Q, K: Q @ K.T / math.sqrt(Q.shape[1]))
    assert drawn("attention_scores", scores) is False


def test_flipped_kernel_is_drawn_as_wrong():
    right_one = right("convolution_by_attention")["convolution_by_attention"]
    assert drawn("convolution_by_attention", right_one)
    assert drawn("convolution_by_attention", lambda X, kernel: right_one(X, kernel[::-1])) is False
    assert drawn("convolution_by_attention", lambda X, kernel: right_one(X, kernel.swapaxes(1, 2))) is False


# ---------------------------------------------------------------- mistakes in exercises that are called


def defined(name, source):
    """The reference's names for the assignment of `name`, some of them redefined by `source`."""
    names = right(name)
    exec(source, names)
    return names


ATTEND = """
def scaled_dot_product_attention(Q, K, V):
    weights = softmax(attention_scores(Q, K))
    return weights @ V, weights
"""
WRONG = "def attention_scores(Q, K):\n    return Q @ K.swapaxes(-2, -1)\n"
UNDONE = "def attention_scores(Q, K):\n    raise NotImplementedError()\n"


def first_line(verdict):
    return " ".join(verdict.text().split("\n  ")[0].split())


def test_first_line_names_wrong_callee_and_asks_no_other_question():
    verdict = examine("scaled_dot_product_attention", defined("softmax", WRONG + ATTEND))
    assert first_line(verdict).startswith(
        "scaled_dot_product_attention: `attention_scores`, which this calls, does not pass its own check yet. "
        "Start there."
    )
    assert "Which of scores, softmax" not in repr(verdict)
    assert "0.6652" in repr(verdict)  # the values are still shown
    assert 'hint("attention_scores")' in repr(verdict)
    other = examine("scaled_dot_product_attention", defined("softmax", ATTEND.replace("weights, ", "")))
    assert "which this calls" not in repr(other)


def test_first_line_names_prerequisite_and_its_assignment():
    names = defined(
        "DecoderBlock", "class MultiHeadAttention(nn.Module):\n    def __init__(self, *args):\n        1 / 0"
    )
    exec("class DecoderBlock(nn.Module):\n    def __init__(self, *args):\n        MultiHeadAttention(*args)", names)
    line = first_line(examine("DecoderBlock", names))
    assert "`MultiHeadAttention`, which this calls and you bring from a4, does not pass its own check yet" in line
    assert "grading uses a right one in its place" in line


def test_earliest_wrong_callee_is_named():
    deep = WRONG + ATTEND + "def softmax(x, axis=-1):\n    return x\n"
    assert "`softmax`, which" in first_line(examine("scaled_dot_product_attention", defined("softmax", deep)))


def test_torch_softmax_is_not_taken_for_the_exercise():
    names = defined("softmax", "def softmax(x, axis=-1):\n    return x\n")
    attend = "def torch_scaled_dot_product_attention(query, key, value):\n    return torch.softmax(query, -1), value"
    exec(attend, names)
    assert "which this calls" not in repr(examine("torch_scaled_dot_product_attention", names))


def test_callees_are_found_in_a_saved_notebooks_text():
    cells = ["%pip install torch", UNDONE, ATTEND, "class Whole:\n    def run(self, Q):\n        return deeper(Q)"]
    cells += ["def deeper(Q):\n    return [scaled_dot_product_attention(q, q, q) for q in Q]"]
    definitions = in_cells(cells)
    known = ["softmax", "attention_scores", "scaled_dot_product_attention"]
    assert exercises_below("scaled_dot_product_attention", definitions, known) == ["softmax", "attention_scores"]
    assert exercises_below("attention_scores", definitions, known) == []
    assert exercises_below("Whole", definitions, known) == known
    names = defined("softmax", "\n".join(cells[1:]))
    assert exercises_below("Whole", names, known) == known


def test_passing_check_names_no_other_exercise():
    names = defined("softmax", "def softmax(x, axis=-1):\n    return x\n")
    attend = names["torch_scaled_dot_product_attention"]
    names["torch_scaled_dot_product_attention"] = lambda *given: (softmax_too, attend(*given))[1]
    softmax_too = names["softmax"]
    assert examine("torch_scaled_dot_product_attention", names).culprit is None


# ---------------------------------------------------------------- one fault costs about as much in both

SHARED = """class KeyValueCache:
    keys, values = [], []

    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        if self.window is not None and len(self.keys) > self.window + self.sinks:
            del self.keys[self.sinks], self.values[self.sinks]
        return np.concatenate(self.keys, axis=-2), np.concatenate(self.values, axis=-2)

    def __len__(self):
        return len(self.keys)
"""


def failed(verdict):
    return [test.name for test in verdict.result.tests if test.state != "passed"]


def share(name, source):
    """The share of the points that grading gives."""
    assignment = COURSE.of_exercise(name)
    result = judged_alone(assignment, exercise_of(assignment, name), defined(name, source)[name], names_causes=False)
    return result.score / result.max_score


def with_shared_cache():
    """The names of a notebook whose cell was run, as IPython runs it."""
    names = right("KeyValueCache") | {"In": [SHARED]}
    exec(compile(SHARED, "<cell>", "exec", dont_inherit=True), names)
    return names


def test_cache_in_its_class_fails_one_visible_test_also_after_it_was_used():
    names = with_shared_cache()
    names["KeyValueCache"]().append(np.zeros((1, 1, 2)), np.zeros((1, 1, 2)))  # as in a cell below the check
    verdict = examine("KeyValueCache", names)
    assert failed(verdict) == ["test_new_cache"]
    assert len(verdict.result.tests) * (1 - share("KeyValueCache", SHARED)) == pytest.approx(1, abs=0.2)
    assert len(names["KeyValueCache"]()) == 1, "the student's own objects keep their words"


def test_class_with_a_method_replaced_later_is_checked_as_it_is():
    names = with_shared_cache()
    names["KeyValueCache"].append = lambda self, key, value: (key, value)
    assert "test_everything" in failed(examine("KeyValueCache", names))


def test_other_names_of_members_fail_one_visible_test_which_says_them():
    solution = COURSE.of_exercise("ModernDecoderBlock").solution.read_text(encoding="utf-8")
    source = model_code(solution, "ModernDecoderBlock").replace("W_O", "W_out").replace("norm_2", "second")
    verdict = examine("ModernDecoderBlock", defined("ModernDecoderBlock", source))
    assert failed(verdict) == ["test_parameters"]
    said = "there is no parameter norm_2; in its place there is second, and of 1 more the names differ, too."
    assert said in " ".join(repr(verdict).split())
    assert share("ModernDecoderBlock", source) >= 0.9


def test_norm_of_one_axis_only_fails_most_visible_tests():
    source = "def rms_norm(x, gamma, eps=1e-5):\n    return gamma * x / np.sqrt((x**2).mean(0) + eps)"
    assert len(failed(examine("rms_norm", defined("rms_norm", source)))) >= 4
    assert share("rms_norm", source) < 0.6


# ---------------------------------------------------------------- messages


def test_other_kind_of_value_is_asked_about_as_such():
    source = "def ablate(weights, layer, head, num_heads):\n    return [*weights.values()]"
    verdict = examine("ablate", defined("ablate", source))
    assert "returned a list of 3 values, not a dict." in first_message(verdict)
    assert "What does your code return, and what does the docstring promise?" in first_message(verdict)


def first_message(verdict):
    return next(test.message for test in verdict.result.tests if test.state != "passed")


def test_message_shows_inputs_result_expected_value_and_question():
    verdict = examine("attention_scores", defined("softmax", WRONG))
    message = verdict.result.tests[0].message
    assert "the result came out as `[[2, 6, 4]]`, wanted `[[1, 3, 2]]`" in message
    assert "What are the dot products divided by" in " ".join(repr(verdict).split())
    assert message.endswith("What went in: `Q = [[2, 0, 1, 1]]`, `K = [[1, 1, 0, 0], [2, 1, 2, 0], [1, 0, 2, 0]]`.")
    page = verdict._repr_html_()
    assert page.count("<summary>What went in</summary>") == 5
    assert page.count("<details open>") == 1  # the first; the others are folded away
    assert repr(verdict).count("What went in") == 1


def test_exception_message_explains_shapes_and_asks_about_them():
    verdict = examine("attention_scores", {"attention_scores": lambda Q, K: Q @ K})
    message = verdict.result.tests[0].message
    assert "these two cannot be multiplied: 4 meets 3; a product with @ sums over" in message
    assert "gufunc" not in repr(verdict)
    assert "→ Which shape has each part of that line, and which one did you mean it to have?" in message
    assert "What went in: `Q = " in message
