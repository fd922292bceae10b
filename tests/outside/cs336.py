"""Our solutions under the names of Stanford's CS336, assignment 1, as its `tests/adapters.py` asks for them.

What is no exercise of ours, such as an optimiser or a tokenizer, is skipped.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from outside.solutions import attend, causal, loss_of, on_arrays, solution
from torch import nn


def run_softmax(in_features, dim):
    return on_arrays(solution("a1").softmax, in_features, axis=dim)


def run_swiglu(d_model, d_ff, w1_weight, w2_weight, w3_weight, in_features):
    matrices = w1_weight.T, w3_weight.T, w2_weight.T
    return on_arrays(solution("a8").gated_feed_forward, in_features, *matrices)


def run_scaled_dot_product_attention(Q, K, V, mask=None):
    return attend(Q, K, V, None if mask is None else mask.bool())


def run_multihead_self_attention(
    d_model, num_heads, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight, in_features
):
    module = solution("a4").MultiHeadAttention(d_model, num_heads)
    _fill(module, W_Q=q_proj_weight, W_K=k_proj_weight, W_V=v_proj_weight, W_O=o_proj_weight)
    return module(in_features, causal(in_features.shape[-2]))[0]


def run_rope(d_k, theta, max_seq_len, in_query_or_key, token_positions):
    return on_arrays(solution("a8").rotate, in_query_or_key, token_positions, base=theta)


def run_multihead_self_attention_with_rope(
    d_model, num_heads, max_seq_len, theta, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight,
    in_features, token_positions=None,
):  # fmt: skip
    module = solution("a8").ModernDecoderBlock(d_model, num_heads, num_heads, 1)
    _fill(module, W_Q=q_proj_weight, W_K=k_proj_weight, W_V=v_proj_weight, W_O=o_proj_weight)
    return module.attend(in_features)


def run_rmsnorm(d_model, eps, weights, in_features):
    return on_arrays(solution("a8").rms_norm, in_features, weights, eps=eps)


def run_transformer_block(d_model, num_heads, d_ff, max_seq_len, theta, weights, in_features):
    module = solution("a8").ModernDecoderBlock(d_model, num_heads, num_heads, d_ff)
    theirs = {"W_Q": "attn.q_proj", "W_K": "attn.k_proj", "W_V": "attn.v_proj", "W_O": "attn.output_proj"}
    theirs |= {"W_gate": "ffn.w1", "W_up": "ffn.w3", "W_down": "ffn.w2"}
    _fill(module, **{ours: weights[f"{name}.weight"] for ours, name in theirs.items()})
    module.norm_1, module.norm_2 = (nn.Parameter(weights[f"{name}.weight"]) for name in ("ln1", "ln2"))
    return module(in_features)


def run_transformer_lm(
    vocab_size, context_length, d_model, num_layers, num_heads, d_ff, rope_theta, weights, in_indices
):
    x = weights["token_embeddings.weight"][in_indices]
    for layer in range(num_layers):
        of_layer = f"layers.{layer}."
        own = {name.removeprefix(of_layer): w for name, w in weights.items() if name.startswith(of_layer)}
        x = run_transformer_block(d_model, num_heads, d_ff, context_length, rope_theta, own, x)
    return run_rmsnorm(d_model, 1e-5, weights["ln_final.weight"], x) @ weights["lm_head.weight"].T


run_cross_entropy = loss_of


def _fill(module: nn.Module, **weights: torch.Tensor) -> None:
    for name, weight in weights.items():
        getattr(module, name).weight = nn.Parameter(weight)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *args, **options: pytest.skip("no exercise of ours")
