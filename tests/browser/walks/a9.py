"""A walk through a9: (exercise, what is written into its cell, what the first thing shown must say)."""

WALK = [
    (
        "previous_token_score",
        "    return np.diagonal(weights, axis1=1, axis2=2).mean(-1)",
        "Known mistake: the word itself",
    ),
    (
        "previous_token_score",
        "    L = weights.shape[-1]\n    i = np.arange(L)\n    return weights[:, i, i - 1].mean(-1)",
        r"Known mistake: divided by all words or negative index",
    ),
    (
        "induction_score",
        "    i = np.arange(period, weights.shape[-1])\n    return weights[:, i, i - period].mean(-1)",
        "Known mistake: the same word",
    ),
    (
        "induction_score",
        "    scores = np.diagonal(weights, 1 - period, 1, 2)\n    return scores.mean(-1)",
        r"\[0.5, 0.2667\], wanted \[0.6, 0.15\]",
    ),
    (
        "mean_ablate",
        "    found[:, head] = found[:, head].mean(axis=0)\n    return found",
        "found holds other values after the call than before",
    ),
    (
        "mean_ablate",
        "    without = found.copy()\n    without[:, head] = found[:, head].mean(axis=(0, 1))\n    return without",
        "Known mistake: mean over texts and places or one number for all",
    ),
    (
        "patch_head",
        "    patched = found.copy()\n    patched[..., head, :, :] = other[..., head, :, :]\n    return patched",
        "Known mistake: every place",
    ),
    (
        "patch_head",
        "    patched = found.copy()\n    patched[:, head, place] = other[:, head, place]\n    return patched",
        r"the result at \[0, 1\] came out as \[5, 117, 7, 8\], wanted \[5, 6, 7, 8\]",
    ),
    ("qk_circuit", "    return W_Q @ W_K.T", r"shape \(2, 2\), it should be \(2, 2, 2\)"),
    (
        "qk_circuit",
        "    d = W_Q.shape[0]\n    Q, K = W_Q.reshape(num_heads, d, -1), W_K.reshape(num_heads, d, -1)\n"
        "    return Q @ K.swapaxes(-2, -1)",
        "Known mistake: reshaped not split",
    ),
    (
        "ov_circuit",
        "    V, O = np.split(W_V, num_heads, axis=1), np.split(W_O, num_heads, axis=1)\n"
        "    return np.stack([v @ o for v, o in zip(V, O)])",
        "cannot be multiplied: 1 meets 2.*line 3.*Which shape has each part of that line",
    ),
    (
        "ov_circuit",
        "    V, O = np.split(W_V, num_heads, axis=1), np.split(W_O, num_heads, axis=0)\n"
        "    return np.sum([v @ o for v, o in zip(V, O)], axis=0)",
        r"shape \(2, 2\), it should be \(2, 2, 2\)",
    ),
]
