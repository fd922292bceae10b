"""The question in a message is about what is wrong, not about what is right."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attention_course.hidden.inputs import normal, tensor
from autograder.explain.explaining import ABOVE
from autograder.testing import call_text
from cellcage.protocol.calls import Call
from tests.helpers.in_process import COURSE, judged_alone


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
