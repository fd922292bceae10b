"""Our solutions under the names of LeetGPU's challenges: each takes a test's arguments and gives its `output`."""

from __future__ import annotations

import numpy as np
import torch

from .solutions import attend, attend_in_heads, causal, loss_of, on_arrays, solution


def _with_sinks(Q, K, V, M, num_sinks, window_size, **_):
    seen = solution("a8").sliding_window_mask(M, window_size, num_sinks)
    return attend(Q, K, V, torch.from_numpy(seen))


def _across(Q, K, V, **_):
    return attend(*(one.transpose(0, 1) for one in (Q, K, V))).transpose(0, 1)


def _rms_norm(input, gamma, beta, eps, **_):
    return on_arrays(solution("a8").rms_norm, input, np.float32(gamma), eps=eps) + beta


CHALLENGES = {
    "medium/5_softmax": lambda input, **_: on_arrays(solution("a1").softmax, input),
    "medium/6_softmax_attention": lambda Q, K, V, **_: attend(Q, K, V),
    "medium/25_categorical_cross_entropy_loss": lambda logits, true_labels, **_: loss_of(logits, true_labels).reshape(
        1
    ),
    "medium/50_rms_normalization": _rms_norm,
    "medium/80_grouped_query_attention": lambda Q, K, V, num_kv_heads, **_: on_arrays(
        solution("a8").grouped_query_attention, Q, K, V, num_kv_heads
    ),
    "medium/84_swiglu_mlp_block": lambda x, W_gate, W_up, W_down, **_: on_arrays(
        solution("a8").gated_feed_forward, x, W_gate, W_up, W_down
    ),
    "medium/112_attention_with_sinks": _with_sinks,
    "medium/113_layer_normalization": lambda input, weight, bias, eps, **_: on_arrays(
        solution("a5").layer_norm, input, weight, bias, eps
    ),
    "hard/12_multi_head_attention": lambda Q, K, V, h, **_: attend_in_heads(Q, K, V, h),
    "hard/26_multi_head_cross_attention": _across,
    "hard/53_casual_attention": lambda Q, K, V, **_: attend(Q, K, V, causal(len(Q))),
}
