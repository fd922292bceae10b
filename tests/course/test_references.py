"""The NumPy references, the PyTorch references and PyTorch's own layers agree."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.helpers.in_process import ASSIGNMENTS, COURSE, judged_elsewhere
from tests.helpers.selection import one_in

EXERCISES = [(assignment, exercise) for assignment in ASSIGNMENTS for exercise in assignment.exercises]


def reference(name):
    return COURSE.assignment(name).reference()


def draw(*shapes):
    random = np.random.default_rng(3)
    return [random.normal(size=shape) for shape in shapes]


def test_numpy_and_pytorch_attention_agree_with_pytorchs_own():
    a1 = reference("a1_scaled_dot_product")
    Q, K, V = draw((2, 4, 6), (2, 5, 6), (2, 5, 3))
    output, weights = a1.scaled_dot_product_attention(Q, K, V)
    tensors = [torch.from_numpy(a) for a in (Q, K, V)]
    torch_output, torch_weights = a1.torch_scaled_dot_product_attention(*tensors)
    np.testing.assert_allclose(output, torch_output.numpy(), atol=1e-12)
    np.testing.assert_allclose(weights, torch_weights.numpy(), atol=1e-12)
    np.testing.assert_allclose(output, F.scaled_dot_product_attention(*tensors).numpy(), atol=1e-12)


def test_masked_attention_agrees_with_pytorchs_own():
    a2 = reference("a2_causal_masking")
    Q, K, V = draw((2, 5, 6), (2, 5, 6), (2, 5, 6))
    tensors = [torch.from_numpy(a) for a in (Q, K, V)]
    own = F.scaled_dot_product_attention(*tensors, is_causal=True).numpy()
    np.testing.assert_allclose(a2.causal_attention(Q, K, V)[0], own, atol=1e-12)
    mask = torch.from_numpy(a2.causal_mask(5))
    np.testing.assert_allclose(a2.torch_masked_attention(*tensors, mask)[0].numpy(), own, atol=1e-12)
    padding = torch.from_numpy(a2.padding_mask([2, 5], 5))
    own = F.scaled_dot_product_attention(*tensors, attn_mask=padding).numpy()
    np.testing.assert_allclose(a2.torch_masked_attention(*tensors, padding)[0].numpy(), own, atol=1e-12)


def test_heads_agree_between_numpy_and_pytorch():
    a3 = reference("a3_heads")
    (X,) = draw((2, 5, 6))
    heads = a3.split_heads(X, 3)
    np.testing.assert_array_equal(heads, a3.torch_split_heads(torch.from_numpy(X), 3).numpy())
    np.testing.assert_array_equal(a3.concat_heads(heads), X)
    np.testing.assert_array_equal(a3.torch_concat_heads(torch.from_numpy(heads)).numpy(), X)


@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_attention_agrees_with_pytorchs_own_module(causal):
    a4 = reference("a4_multi_head_attention")
    d_model, h, L = 6, 2, 5
    X, W_Q, W_K, W_V, W_O = draw((3, L, d_model), *[(d_model, d_model)] * 4)
    mask = np.tril(np.ones((L, L), dtype=bool)) if causal else None
    output, weights = a4.multi_head_attention(X, W_Q, W_K, W_V, W_O, h, mask)

    own = torch.nn.MultiheadAttention(d_model, h, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        own.in_proj_weight.copy_(torch.from_numpy(np.concatenate([W_Q.T, W_K.T, W_V.T])))
        own.out_proj.weight.copy_(torch.from_numpy(W_O.T))
    x = torch.from_numpy(X)
    hidden = None if mask is None else torch.from_numpy(~mask)  # True where attention is forbidden
    expected, expected_weights = own(x, x, x, attn_mask=hidden, average_attn_weights=False)
    np.testing.assert_allclose(output, expected.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(weights, expected_weights.detach().numpy(), atol=1e-12)

    module = a4.MultiHeadAttention(d_model, h).double()
    with torch.no_grad():
        for name, matrix in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O)):
            getattr(module, name).weight.copy_(torch.from_numpy(matrix.T))
    out, w = module(x, None if mask is None else torch.from_numpy(mask))
    np.testing.assert_allclose(out.detach().numpy(), output, atol=1e-12)
    np.testing.assert_allclose(w.detach().numpy(), weights, atol=1e-12)


def test_numpy_parts_of_the_decoder_agree_with_pytorchs_own():
    a5 = reference("a5_transformer_decoder")
    x, gamma, beta, W_1, b_1, W_2, b_2 = draw((2, 5, 6), (6,), (6,), (6, 9), (9,), (9, 6), (6,))
    t = [torch.from_numpy(a) for a in (x, gamma, beta)]
    own = F.layer_norm(t[0], (6,), t[1], t[2], 1e-3).numpy()
    np.testing.assert_allclose(a5.layer_norm(x, gamma, beta, 1e-3), own, atol=1e-12)
    t = [torch.from_numpy(a) for a in (x, W_1.T, b_1, W_2.T, b_2)]
    own = F.linear(F.relu(F.linear(*t[:3])), *t[3:]).numpy()
    np.testing.assert_allclose(a5.feed_forward(x, W_1, b_1, W_2, b_2), own, atol=1e-12)


@pytest.mark.parametrize("padded", [False, True])
def test_decoder_agrees_with_pytorchs_causal_encoder(padded):
    """`nn.TransformerEncoderLayer(norm_first=True)` and `nn.TransformerEncoder` with copied weights."""
    a5 = reference("a5_transformer_decoder")
    torch.manual_seed(5)
    d_model, h, d_ff, L = 12, 3, 20, 6
    decoder = a5.TransformerDecoder(11, d_model, h, d_ff, num_layers=2, max_length=9).double()
    kind = {"dropout": 0.0, "batch_first": True, "norm_first": True, "dtype": torch.float64}
    layers = [torch.nn.TransformerEncoderLayer(d_model, h, d_ff, **kind) for _ in decoder.blocks]
    with torch.no_grad():
        for block, own in zip(decoder.blocks, layers, strict=True):
            W = block.attention
            own.self_attn.in_proj_weight.copy_(torch.cat([W.W_Q.weight, W.W_K.weight, W.W_V.weight]))
            own.self_attn.out_proj.weight.copy_(W.W_O.weight)
            own.self_attn.out_proj.bias.zero_()
            own.linear1.load_state_dict(block.feed_forward[0].state_dict())
            own.linear2.load_state_dict(block.feed_forward[2].state_dict())
            for norm in (block.norm_1, block.norm_2):
                norm.weight.add_(torch.randn(d_model, dtype=torch.float64) / 3)
                norm.bias.add_(torch.randn(d_model, dtype=torch.float64) / 3)
            own.norm1.load_state_dict(block.norm_1.state_dict())
            own.norm2.load_state_dict(block.norm_2.state_dict())
    hidden = torch.ones(L, L, dtype=torch.bool).triu(1)  # True where attention is forbidden
    ids = torch.randint(11, (2, L))
    padding = torch.ones(2, 1, L, dtype=torch.bool)
    padding[1, 0, 3] = not padded  # not the first, which could attend to nothing: PyTorch's own gives NaN there

    def own_block(layer, x):
        return layer(x, src_mask=hidden, src_key_padding_mask=~padding[:, 0])

    x = torch.randn(2, L, d_model, dtype=torch.float64)
    torch.testing.assert_close(decoder.blocks[0](x, padding), own_block(layers[0], x), atol=1e-12, rtol=0)
    position = torch.from_numpy(a5.positional_encoding(L, d_model)).float()
    x = decoder.embedding(ids) * d_model**0.5 + position
    for layer in layers:
        x = own_block(layer, x)
    x = F.layer_norm(x, (d_model,), decoder.norm.weight, decoder.norm.bias)
    logits = F.linear(x, decoder.output.weight, decoder.output.bias)
    torch.testing.assert_close(decoder(ids, padding), logits, atol=1e-12, rtol=0)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 15])
def test_convolution_by_attention_agrees_with_pytorchs_own(k):
    a7 = reference("a7_attention_and_convolution")
    X, kernel = draw((9, 4), (k, 4, 3))
    signal = F.pad(torch.from_numpy(X.T.copy()), ((k - 1) // 2, k // 2))  # channels before places
    own = F.conv1d(signal, torch.from_numpy(kernel.transpose(2, 1, 0).copy())).numpy().T
    np.testing.assert_allclose(a7.convolution_by_attention(X, kernel)[0], own, atol=1e-12)


def test_only_relative_positions_pass_the_translation_test():
    a7 = reference("a7_attention_and_convolution")
    a4 = reference("a4_multi_head_attention")
    X, kernel, positions, *weights = draw((20, 4), (4, 4, 4), (20, 4), *[(4, 4)] * 4)

    def attention(x):
        return a4.multi_head_attention(x, *weights, 2)[0]

    for shift in (-4, 1, 6):
        assert a7.translation_test(lambda x: a7.convolution_by_attention(x, kernel)[0], X, shift, 2)
        assert a7.translation_test(attention, X, shift, 0)
        assert not a7.translation_test(lambda x: attention(x + positions), X, shift, 2)


def test_prerequisite_of_a7_equals_the_exercise_of_a4():
    a4, a7 = reference("a4_multi_head_attention"), reference("a7_attention_and_convolution")
    X, W_Q, W_K, W_V, W_O = draw((3, 5, 6), *[(6, 6)] * 4)
    mask = np.tril(np.ones((5, 5), dtype=bool), -1)  # the first query may attend to nothing
    for mine, theirs in zip(*(a.multi_head_attention(X, W_Q, W_K, W_V, W_O, 2, mask) for a in (a4, a7)), strict=True):
        np.testing.assert_array_equal(mine, theirs)


# ---------------------------------------------------------------- a9


def test_circuits_add_up_to_the_attention_of_a4():
    """x_i M x_j is a score, and the heads add up to the output."""
    a4, a9 = reference("a4_multi_head_attention"), reference("a9_looking_at_heads")
    random = np.random.default_rng(9)
    h, d_k, d_v, d_model = 3, 4, 2, 5
    X = random.normal(size=(6, d_model))
    W_Q, W_K, W_V = (random.normal(size=(d_model, h * d)) for d in (d_k, d_k, d_v))
    W_O = random.normal(size=(h * d_v, d_model))
    output, weights = a4.multi_head_attention(X, W_Q, W_K, W_V, W_O, h)
    exps = np.exp(X @ a9.qk_circuit(W_Q, W_K, h) @ X.T / np.sqrt(d_k))
    np.testing.assert_allclose(exps / exps.sum(axis=-1, keepdims=True), weights, atol=1e-12)
    added = (weights @ X @ a9.ov_circuit(W_V, W_O, h)).sum(axis=0)
    np.testing.assert_allclose(added, output, atol=1e-12)


def test_head_scores_of_heads_with_known_offsets():
    """A head of a7 has score 1 for its own offset, and 0 for others."""
    a7, a9 = reference("a7_attention_and_convolution"), reference("a9_looking_at_heads")
    heads = np.stack([a7.offset_attention(10, offset) for offset in (-1, -4, 0)])
    np.testing.assert_array_equal(a9.previous_token_score(heads), [1, 0, 0])
    np.testing.assert_array_equal(a9.induction_score(heads, 5), [0, 1, 0])
    np.testing.assert_array_equal(a9.induction_score(heads, 6), [0, 0, 0])


@pytest.mark.slow
@pytest.mark.parametrize(("assignment", "exercise"), one_in(6, EXERCISES), ids=lambda one: one.name)
def test_earlier_exercise_that_raises_costs_later_ones_nothing(assignment, exercise):
    """The reference answers in its place, so no hidden test may ask for more than it answers."""
    for result in judged_elsewhere(assignment, exercise, refuses, has_lost=True):
        assert result.score == result.max_score, [(t.name, t.message) for t in result.tests if t.state != "passed"]


def refuses(*args, **kwargs):
    raise ValueError("not finished")
