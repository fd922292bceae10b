"""Two roads: the NumPy reference, the PyTorch reference, and PyTorch's own attention agree."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.in_process import COURSE


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
    hidden = None if mask is None else torch.from_numpy(~mask)  # this module marks what must not be seen
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


def test_the_books_example_has_the_books_shapes():
    a4 = reference("a4_multi_head_attention")
    X, W_Q, W_K, W_V, W_O = draw((2, 3), (3, 6), (3, 6), (3, 6), (6, 3))
    output, weights = a4.multi_head_attention(X, W_Q, W_K, W_V, W_O, 2)
    assert output.shape == (2, 3)
    assert weights.shape == (2, 2, 2)
