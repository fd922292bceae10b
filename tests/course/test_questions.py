"""The question in a message is about what is wrong, not about what is right."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attention_course.hidden.inputs import normal, tensor
from autograder.explain import visible_fingerprints
from autograder.explain.explaining import ABOVE
from autograder.report import Finding
from autograder.student.check import examine, message_of
from autograder.testing import call_text
from cellcage.protocol.calls import Call
from tests.helpers.in_process import COURSE, exercise_of, judged_alone
from tests.helpers.slips import names_of
from tests.helpers.wrong_code import WrongCode, model_code


def messages(code):
    """The message of each failed test, for code whose mistake has no name."""
    assignment = COURSE.of_exercise(code.__name__)
    exercise = next(one for one in assignment.exercises if one.name == code.__name__)
    result = judged_alone(assignment, exercise, code)
    assert result.diagnosis is None
    return {test.name: test.message for test in result.tests if test.state == "failed"}


def _next(model, token_ids):
    with torch.no_grad():
        return int(model(torch.tensor([token_ids]))[0, -1].argmax())


@pytest.mark.slow
def test_early_end_of_summary_asks_what_ends_it():
    def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
        words = []
        while len(words) < max_new_tokens:
            token = _next(model, [*article_ids, separator_id, *words])
            if token == end_id or (words and token % 3 == 0):
                break
            words.append(token)
        return words

    found = messages(greedy_summary)["test_summaries"]
    assert "right, but not the whole. What ends your summary" in found


def test_wrong_order_of_words_asks_about_the_order():
    def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
        """The likeliest word is passed over."""
        shares = torch.softmax(logits / temperature, -1)
        if top_k is not None:
            order = shares.argsort(descending=True)[1 : top_k + 1]
            shares = torch.zeros_like(shares).index_put((order,), shares[order])
        return shares / shares.sum()

    found = messages(next_word_probabilities)
    assert "In which order do they stand where you cut?" in found["test_top_k"]
    assert "At which word do you stop" in found["test_top_p"]


def test_wrong_loss_says_when_it_is_right():
    def summary_loss(logits, token_ids, loss_mask):
        losses = torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")
        counted = loss_mask[:, 1:]
        return losses[counted].square().mean().sqrt()

    assert "With one counted token alone your loss is right." in messages(summary_loss)["test_values"]


def test_only_the_wrong_branch_of_the_block_is_asked_about():
    solution = COURSE.of_exercise("DecoderBlock").reference()

    class DecoderBlock(solution.DecoderBlock):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__(d_model, num_heads, d_ff)
            self.feed_forward[1] = torch.nn.Softsign()

    found = messages(DecoderBlock)
    assert "What goes into the feed-forward network" in found["test_feed_forward_branch"]
    assert found["test_values"] == ABOVE


def test_wrong_shape_is_reported_once():
    def previous_token_score(weights):
        return np.cos(np.diagonal(weights, offset=-1)).mean(axis=-1)

    found = messages(previous_token_score)
    assert "it should be (3,)" in found.pop("test_shape")
    assert found["test_first_word"] == found["test_plain_heads"] == found["test_values"] == ABOVE


def test_narrow_head_asks_how_much_fits_through():
    def convolution_heads(kernel):
        k = len(kernel)
        columns, sizes, rows = np.linalg.svd(kernel)
        W_V = (columns[:, :, :1] * sizes[:, None, :1]).astype(kernel.dtype)
        return [j - (k - 1) // 2 for j in range(k)], W_V, rows[:, 0].astype(kernel.dtype)

    assert "fits through a head of width 1?" in messages(convolution_heads)["test_taps"]


def test_line_that_recreates_many_arrays_is_short():
    notes = call_text.Notes()
    with notes.taken():
        given = [tensor(0.5 * normal(seed, 3, 4)) for seed in (5, 6, 7)]
    line = notes.line(Call("f", tuple(given)), lambda name: ["x", "y", "z"])
    assert line.count("default_rng") == 1
    names = {"np": np, "torch": torch}
    exec(line, names)
    assert all(torch.allclose(names[name], one) for name, one in zip("xyz", given, strict=True))


def first_of_check(name, old, new):
    """The first failed message of `check` for the model answer with one edit, in parts."""
    return message_of(next(test for test in checked(name, old, new).result.tests if test.state == "failed"))


def checked(name, old, new):
    assignment = COURSE.of_exercise(name)
    names = names_of(assignment)
    _edited(assignment, name, old, new).define(names)
    return examine(name, names)


def _edited(assignment, name, old, new):
    code = model_code(assignment.solution.read_text(encoding="utf-8"), name)
    assert code.count(old) == 1, code
    return WrongCode(assignment.name, name, 0, "slip", "", False, code.replace(old, new))


IN_PLACE = [
    ("softmax", "exps = np.exp(x - x.max", "x -= x.max(axis=axis, keepdims=True)\n    exps = np.exp(x - x.max"),
    (
        "masked_softmax",
        "allowed = np.where(mask, scores, -np.inf)",
        "allowed = scores\n    np.copyto(scores, -np.inf, where=~mask)",
    ),
]


@pytest.mark.parametrize(("name", "old", "new"), IN_PLACE, ids=[name for name, *_ in IN_PLACE])
def test_changed_argument_asks_which_line_writes_and_not_about_dtypes(name, old, new):
    message = first_of_check(name, old, new)
    assert "holds other values after the call than before" in message.happened
    assert message.question.startswith("Which line writes into an argument")


@pytest.mark.parametrize("name", ["MultiHeadAttention", "DecoderBlock", "TransformerDecoder"])
def test_missing_super_init_asks_about_the_first_line_only(name):
    message = first_of_check(name, "super().__init__()", "pass")
    assert "before `super().__init__()`" in message.happened
    assert message.question.startswith("What does the first line of `__init__` have to be")


RAISED = [
    ("softmax", "np.exp(x - x.max", "math.exp(x - x.max", "several numbers stand where one is expected",
     "How many numbers has what goes into each function of that line?"),
    ("torch_scaled_dot_product_attention", "torch.softmax(scores, dim=-1)", "torch.softmax(scores.long(), dim=-1)",
     "PyTorch cannot compute this for numbers of the type Long", "Print the dtype of each part of that line"),
    ("torch_scaled_dot_product_attention", "torch.softmax(scores, dim=-1)", "scores - scores.max(-1, keepdim=True)",
     "of a tensor gives a pair", "Is that line written for an array or for a tensor?"),
    ("torch_scaled_dot_product_attention", "weights @ value, weights", "weights.numpy() @ value, weights",
     "'numpy.ndarray' and 'Tensor'", "Which part of that line is NumPy's"),
    ("split_heads", "raise ValueError", "raise Exception", "It should raise ValueError.",
     "Which kind of error does the docstring ask for"),
    ("split_heads", "raise ValueError", "return ValueError", "raised nothing (is there a `raise`?)",
     "How many columns would be left over?"),
    ("split_heads", "d_model % num_heads != 0", "d_model % num_heads == 0", "raised ValueError",
     "What came in, and for what should that line raise?"),
    ("MultiHeadAttention", "d_model % num_heads != 0", "d_model % num_heads == 0", "raised ValueError",
     "What came in, and for what should that line raise?"),
    ("MultiHeadAttention", "def __init__", "def _init_", "takes 1 positional argument", ""),
    ("DecoderBlock", "nn.ReLU()", "nn.ReLU", "ReLU is not a Module subclass", ""),
    ("split_heads", "heads.swapaxes(-3, -2)", "heads.swapaxes(-3)", "takes exactly 2 arguments", ""),
    ("torch_concat_heads", ".reshape(", ".view(", "`reshape` copies where it must", "Which step before the `view`"),
    ("TransformerDecoder", "for block in self.blocks:\n            x = block(x, padding)",
     "x = self.blocks(x, padding)", "an nn.ModuleList cannot be called", ""),
    ("induction_score", "np.arange(period, weights.shape[-1])", "np.arange(period, 2 * period)", "is out of bounds",
     "Which indices are there"),
    ("next_token", "logits[0, -1]", "logits[0, len(token_ids)]", "is out of bounds", "Which indices are there"),
    ("greedy_summary", "return", "return summary[len(summary)]\n    return", "index out of range",
     "Which indices are there"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "happened", "question"), RAISED, ids=[f"{r[0]}-{r[2]}" for r in RAISED])
def test_error_says_what_it_is_and_asks_about_that(name, old, new, happened, question):
    message = first_of_check(name, old, new)
    assert happened in message.happened
    assert message.question.startswith(question) if question else not message.question


ALL_STEPS = [
    ("softmax", "return exps / exps.sum(axis=axis, keepdims=True)",
     "return (exps / exps.sum(axis=axis, keepdims=True)).round(2)", "or fewer digits?"),
    ("single_head", "scores.max(axis=-1, keepdims=True)", "scores.max(axis=-1)", "or the weights of a row?"),
    ("TransformerDecoder", "self.output(self.norm(x))", "self.norm(x) @ self.embedding.weight.T", "the output layer?"),
    ("TransformerDecoder", "nn.Embedding(vocab_size, d_model)", "nn.Embedding(max_length, d_model)", "another size?"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "words"), ALL_STEPS, ids=[f"{r[0]}-{r[2]}" for r in ALL_STEPS])
def test_question_about_an_example_leaves_no_step_out(name, old, new, words):
    assert first_of_check(name, old, new).question.endswith(words)


def test_angles_in_float32_are_not_green():
    message = first_of_check("positional_encoding", "angle = position / 10000 ** (2 * pair / d_model)",
                             "angle = np.float32(position) / np.float32(10000 ** (2 * pair / d_model))")  # fmt: skip
    assert message.question == "Which dtype have your angles?"


def test_unpacked_shape_asks_how_many_axes_there_may_be():
    message = first_of_check("softmax", "exps = np.exp", "B, L, S = x.shape\n    exps = np.exp")
    assert "If they are axes: may there be more, or fewer?" in message.question
    own = first_of_check("attention_scores", "d_k = Q.shape[-1]", "L, d_k = Q.shape")
    assert "count from the front" in own.question  # a test that asks about errors keeps its question


BELOW = [("softmax", "exps.sum(axis=axis, keepdims=True)"), ("masked_softmax", "np.where(total > 0, total, 1)")]


@pytest.mark.parametrize(("name", "total"), BELOW, ids=[name for name, _ in BELOW])
def test_tiny_number_below_the_fraction_bar_is_not_green(name, total):
    message = first_of_check(name, total, f"({total} + 1e-5)")
    assert "a hundred times (sum of the" in message.happened


def test_bias_is_asked_about_and_not_which_layers_there_are():
    message = first_of_check("MultiHeadAttention", "self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)",
                             "self.W_O = nn.Linear(num_heads * d_head, d_model)")  # fmt: skip
    assert message.question.startswith("Which of these does the formula not have?")


def test_position_parameter_is_named_in_the_message():
    message = first_of_check("TransformerDecoder", "self.register_buffer('positions', positions)",
                             "self.positions = nn.Parameter(positions, requires_grad=False)")  # fmt: skip
    assert message.happened.endswith("it has 819. The table has no positions.")


NAMED = [
    ("softmax", "exps = np.exp(x - x.max(axis=axis, keepdims=True))", "exps = x - x.max(axis=axis, keepdims=True)",
     "no-exponential"),
    ("softmax", "exps / exps.sum", "exps / x.sum", "not-normalised"),
    ("softmax", "x.max(", "x.mean(", "another-number-subtracted"),
    ("softmax", "x.max(", "x.min(", "another-number-subtracted"),
    ("causal_mask", "position[:, None]", "position[:, None] + 1", "mask-off-by-one"),
    ("torch_masked_attention", "masked_fill(~mask, lowest)", "masked_fill(mask, lowest)", "mask-inverted"),
    ("projection_shapes", "'W_Q': (d_model, num_heads * d_k), 'W_K': (d_model, num_heads * d_k), "
     "'W_V': (d_model, num_heads * d_v)", "'W_Q': (d_model, d_k), 'W_K': (d_model, d_k), 'W_V': (d_model, d_v)",
     "one-head-for-all-but-W_O"),
    ("single_head", "return (weights @ V, weights)", "return weights @ V", "output-only"),
    ("single_head", "exps / exps.sum(axis=-1, keepdims=True)", "exps / exps.sum(axis=-2, keepdims=True)",
     "softmax-over-queries"),
    ("single_head", "exps = np.exp(scores - scores.max(axis=-1, keepdims=True))",
     "exps = scores - scores.max(axis=-1, keepdims=True)", "no-exponential"),
    ("single_head", "Q = X @ W_Q[:, head * d_k:(head + 1) * d_k]\n    K = X @ W_K[:, head * d_k:(head + 1) * d_k]\n"
     "    V = X @ W_V[:, head * d_v:(head + 1) * d_v]", "Q = X @ W_Q[:, head:head + d_k]\n"
     "    K = X @ W_K[:, head:head + d_k]\n    V = X @ W_V[:, head:head + d_v]", "columns-from-the-heads-number"),
    ("multi_head_attention", "output_projection(weights @ V, W_O), weights)",
     "output_projection(weights @ V, W_O), weights[..., -1, :, :])", "weights-of-one-head"),
    ("MultiHeadAttention", "return (self.W_O(heads.flatten(-2)), weights)", "return self.W_O(heads.flatten(-2))",
     "output-only"),
    ("DecoderBlock", "nn.ReLU(), ", "", "relu-missing"),
    ("DecoderBlock", "nn.ReLU(), nn.Linear(d_ff, d_model)", "nn.Linear(d_ff, d_model), nn.ReLU()",
     "relu-behind-the-second-layer"),
    ("TransformerDecoder", "self.register_buffer('positions', positions)",
     "self.positions = nn.Parameter(positions, requires_grad=False)", "positions-as-parameters"),
    ("translation_test", "bool(np.allclose(before[i], after[i + shift], rtol=1e-06, atol=1e-06))",
     "all(abs((before[j] - after[j + shift]).mean()) < 1e-6 for j in i)", "means-compared"),
    # What it does raises in every call, as many mistakes do.
    ("scaled_dot_product_attention", "weights @ V", "weights.swapaxes(-2, -1) @ V", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "wanted"), NAMED, ids=[f"{name}-{to}" for name, _, _, to in NAMED])
def test_usual_slip_is_named_in_grading(name, old, new, wanted):
    assignment = COURSE.of_exercise(name)
    result = judged_alone(
        assignment, exercise_of(assignment, name), _edited(assignment, name, old, new).made(assignment)
    )
    assert (result.diagnosis, result.score < result.max_score) == (wanted, True)


def test_mistake_of_two_forms_asks_about_the_one_that_was_made():
    """The catalogue's known mistakes come before mutants of their name, whose hint may be that of the other form."""
    known, mutant = (
        Finding("known mistake", "mask-off-by-one", hint=hint) for hint in ("The last True?", "A first one?")
    )
    assert visible_fingerprints.shared([known, mutant]).hint == "The last True?"


def test_right_positions_as_a_parameter_cost_the_test_of_parameters_only():
    assignment = COURSE.of_exercise("TransformerDecoder")
    slip = _edited(assignment, "TransformerDecoder", "self.register_buffer('positions', positions)",
                   "self.positions = nn.Parameter(positions)")  # fmt: skip
    result = judged_alone(assignment, exercise_of(assignment, slip.exercise), slip.made(assignment))
    assert [test.name for test in result.tests if test.state != "passed"] == ["test_parameters"]


def test_stub_is_what_raises_not_implemented_error_itself():
    said = [checked("feed_forward", "return", f"raise NotImplementedError({text})\n    return").result
            for text in ("", "'later'")]  # fmt: skip
    assert [result.started for result in said] == [False, False]
    assert checked("TransformerDecoder", "for block in self.blocks:\n            x = block(x, padding)",
                   "x = self.blocks(x, padding)").result.started  # fmt: skip


# What is right in spite of the mistake is not asked about. None of these mistakes has a name.
RIGHT_ELSEWHERE = [
    ("greedy_summary", "if token == end_id:", "if token == end_id or not token:", "Is 0 a word like any other?"),
    ("next_word_probabilities", "left / left.sum()\n    return", "left\n    return", "The right words are left"),
    ("cross_attention", "math.sqrt(query.shape[-1])", "math.sqrt(value.shape[-1])", "By what is each divided?"),
    ("grouped_query_attention", "scores = Q @", "scores = Q[..., :1, :, :] @", "Head 0 is right."),
    ("decoding_step", "heads.reshape(*batch, -1) @ W_O", "heads.sum(axis=-3)[..., 0, :] @ W_O[:d_head]",
     "The cache is right."),
    ("attention_in_cache", "weights = exps / (exps.sum(axis=-1, keepdims=True) + into_sink)",
     "weights = exps / (exps.sum(axis=-1, keepdims=True) + into_sink)\n"
     "    weights[..., -1:] += 1 - weights.sum(axis=-1, keepdims=True)", "What is left for the sink?"),
    ("KeyValueCache", "if self.K is not None:", "if self.K is not None and (self.K[..., -1:, :] == key).all():\n"
     "            return self.K, self.V\n        if self.K is not None:", "a new word, or the same one?"),
    ("ModernDecoderBlock", "-math.inf), dim=-1)", "-1e9), dim=1)", "over which axis do weights sum to 1"),
    ("ModernDecoderBlock", "return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))",
     "return (weights @ value).transpose(-3, -2).flatten(-2)", "With which matrix does each branch end"),
    ("previous_token_score", "before.mean(axis=-1)", "(before > 0.5).mean(axis=-1).astype(weights.dtype)",
     "What is their mean?"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "asked"), RIGHT_ELSEWHERE, ids=[one[0] for one in RIGHT_ELSEWHERE])
def test_question_is_not_about_what_is_right(name, old, new, asked):
    found = checked(name, old, new).result
    assert found.first("known mistake", "relation") is None
    wrong = [message_of(test).question for test in found.tests if test.state == "failed"]
    assert any(asked in question for question in wrong), wrong


def test_columns_that_differ_in_opposite_ways_are_not_green():
    found = checked("translation_test", "np.allclose(before[i], after[i + shift], rtol=1e-06, atol=1e-06)",
                    "(abs((before[i] - after[i + shift]).sum(axis=-1)) < 1e-6).all()").result  # fmt: skip
    assert found.diagnosis == "means-compared"


def test_mask_that_is_multiplied_is_not_green():
    """The largest score may be a hidden one, and then nothing is left of the others."""
    message = first_of_check("ModernDecoderBlock", "torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)",
                             "torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * seen\n"
                             "        weights = weights / weights.sum(dim=-1, keepdim=True)")  # fmt: skip
    assert "of the first word the first 8 numbers came out as `[nan" in message.happened


def test_fraction_as_an_offset_is_shown_as_it_is():
    message = first_of_check("convolution_heads", "(k - 1) // 2", "(k - 1) / 2")
    assert "an offset is -0.5, not an int" in message.happened


def test_wrong_numbers_of_an_overwritten_argument_ask_what_stood_there():
    message = first_of_check(
        "rotate",
        "turned = [first * cos - second * sin, first * sin + second * cos]\n    return np.stack(turned, axis=-1)",
        "first[...] = first * cos - second * sin\n    second[...] = first * sin + second * cos\n    return x",
    )
    assert message.happened.startswith("rotate(x, positions)") and "numbers differ" in message.happened
    assert message.question.startswith("Your code writes into an argument, too")


def test_other_bases_of_the_block_have_one_true_name():
    assignment = COURSE.of_exercise("ModernDecoderBlock")
    for base in ("100.0", "1000.0"):
        slip = _edited(assignment, "ModernDecoderBlock", "10000.0", base)
        assert judged_alone(assignment, exercise_of(assignment, slip.exercise), slip.made(assignment)).diagnosis == (
            "speeds-of-another-base"
        )


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("def softmax(x, axis=-1):\n    return exponentials(x)", "Where is that name made"),
        ("def softmax(x, axis=-1):\n    return np.exp(x) @ np.ones((2, 7))", "Which shape has each part of that line"),
        ("def softmax(x, axis=-1):\n    a, b, c, d, e = x.shape\n    return x", "How many names has that line"),
    ],
)
def test_error_is_asked_about_in_the_notebook_and_in_grading(code, question):
    assignment = COURSE.of_exercise("softmax")
    answer, names = WrongCode(assignment.name, "softmax", 0, "slip", "", False, code), names_of(assignment)
    answer.define(names)
    graded = judged_alone(assignment, exercise_of(assignment, "softmax"), answer.made(assignment))
    for result in (examine("softmax", names).result, graded):
        assert question in next(test.message for test in result.tests if test.state == "failed")
