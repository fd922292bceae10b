"""A walk through a4: (exercise, what is written into its cell, what the first thing shown must say)."""

ALL_BUT = """\
    *batch, L, d_model = X.shape
    Q, K, V = (Y.reshape(*batch, L, num_heads, -1).swapaxes(-3, -2) for Y in (X @ W_Q, X @ W_K, X @ W_V))
    s = Q @ K.swapaxes(-2, -1) / math.sqrt({size})
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return output_projection(w @ V, W_O), w"""
WALK = [
    (
        "projection_shapes",
        "    return {name: (d_model, d_model) for name in ('W_Q', 'W_K', 'W_V', 'W_O')}",
        r"the shape of W_Q came out as \(4, 4\), wanted \(4, 8\)",
    ),
    (
        "output_projection",
        "    *batch, h, L, d_v = heads.shape\n    return heads.reshape(*batch, L, h * d_v) @ W_O",
        "Known mistake: concat without transpose",
    ),
    (
        "single_head",
        "    d_k, d_v = W_Q.shape[-1] // num_heads, W_V.shape[-1] // num_heads\n"
        "    Q, K = (X @ W[:, head * d_k : (head + 1) * d_k] for W in (W_Q, W_K))\n"
        "    w = np.exp(Q @ K.swapaxes(-2, -1) / math.sqrt(d_k))\n    w = w / w.sum(-1, keepdims=True)\n"
        "    return w @ X @ W_V[:, : d_v], w",
        "Which columns of W_V make this head's values",
    ),
    ("multi_head_attention", ALL_BUT.format(size="d_model"), "d_model, or one head's"),
    ("multi_head_attention", ALL_BUT.format(size="Q.shape[-1]"), "Known mistake: mask ignored"),
    (
        "MultiHeadAttention",
        "    def __init__(self, d_model, num_heads, d_head=None):\n        super().__init__()\n"
        "        self.query = nn.Linear(d_model, d_model, bias=False)",
        r"its parameters are query.weight \(6, 6\).*Which layers does the text above name",
    ),
]
