"""A walk through a2: (exercise, what is written into its cell, what the first thing shown must say)."""

WALK = [
    ("causal_mask", "    return np.tril(np.ones((length, length)))", "dtype float64, it should be bool"),
    ("causal_mask", "    return np.tril(np.ones((length, length), bool), -1)", "Known mistake: mask off by one"),
    (
        "padding_mask",
        "    return np.arange(max_length) < np.array(lengths)[:, None]",
        r"shape \(3, 5\), it should be \(3, 1, 5\)",
    ),
    (
        "padding_mask",
        "    return np.arange(max_length) < lengths[:, None, None]",
        "list indices must be integers .*line 2",
    ),
    (
        "masked_softmax",
        "    e = np.exp(scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True) * mask",
        "Known mistake: mask after softmax",
    ),
    (
        "masked_softmax",
        "    s = np.where(mask, scores, -np.inf)\n    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)",
        "nothing is allowed.*nan",
    ),
    (
        "causal_attention",
        "    w = masked_softmax(Q @ K.swapaxes(-2, -1), causal_mask(Q.shape[-2]))\n    return w @ V, w",
        "divided by the square root of 4",
    ),
    (
        "causal_attention",
        "    w = masked_softmax(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), causal_mask(Q.shape[-2]))\n"
        "    return w @ V, w",
        "Known mistake: padding ignored",
    ),
    (
        "torch_masked_attention",
        "    s = query @ key.mT / math.sqrt(query.shape[-1])\n    if mask is not None:\n"
        "        s = s.masked_fill(mask, -1e9)\n    w = torch.softmax(s, -1)\n    return w @ value, w",
        "Known mistake: mask inverted",
    ),
]
