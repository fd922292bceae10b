"""A walk through a8: (exercise, what is written into its cell, what the first thing shown must say)."""

CACHE = """\
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.words = window, sinks, []

    def append(self, key, value):
        self.words.append((key, value))
        return tuple(self.left(np.concatenate(part, axis=-2)) for part in zip(*self.words))

    def left(self, words):
        return words if self.window is None else {left}

    def __len__(self):
        return self.left(np.arange(len(self.words))[:, None]).shape[0]"""
WALK = [
    (
        "rotate",
        "    half = x.shape[-1] // 2\n    a = np.outer(positions, base ** (-np.arange(half) / half))\n"
        "    c, s, one, other = np.cos(a), np.sin(a), x[..., :half], x[..., half:]\n"
        "    return np.concatenate([one * c - other * s, one * s + other * c], -1)",
        "Which columns are a pair",
    ),
    (
        "grouped_query_attention",
        "    h = Q.shape[-3] // num_kv_heads\n    K, V = np.concatenate([K] * h, -3), np.concatenate([V] * h, -3)\n"
        "    s = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])\n    w = np.exp(s - s.max(-1, keepdims=True))\n"
        "    w = w / w.sum(-1, keepdims=True)\n    return w @ V, w",
        "Which head of keys does query head 1 get",
    ),
    (
        "cache_bytes",
        "    return num_layers * num_kv_heads * d_head * length * bytes_per_number",
        "the count came out as 240, wanted 480",
    ),
    (
        "decoding_step",
        "    d = W_Q.shape[-1] // num_heads\n    cut = lambda y: y.reshape(*x.shape[:-1], -1, 1, d)\n"
        "    k, v = cut(x @ W_K), cut(x @ W_V)\n    k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)\n"
        "    heads, _ = grouped_query_attention(cut(x @ W_Q), k, v, k.shape[-3])\n"
        "    return heads.reshape(*x.shape[:-1], -1) @ W_O, k, v",
        "What is the position of the first word",
    ),
    (
        "sliding_window_mask",
        "    i, j = np.arange(length)[:, None], np.arange(length)\n"
        "    return (i - j <= window) & (j <= i) | (j < sinks)",
        "Whom does word 5 see",
    ),
    (
        "KeyValueCache",
        "    K = V = None\n\n    def __init__(self, window=None, sinks=0):\n"
        "        self.window, self.sinks = window, sinks\n\n"
        "    def append(self, key, value):\n        self.K = np.concatenate([self.K, key], axis=-2)",
        r"has no len\(\).* before there is any word",
    ),
    (
        "KeyValueCache",
        CACHE.format(left="words[..., -self.window :, :]"),
        "Known mistake: sinks ignored",
    ),
    (
        "KeyValueCache",
        CACHE.format(left="np.concatenate([words[..., : self.sinks, :], words[..., -self.window :, :]], axis=-2)"),
        "Known mistake: words twice in short texts",
    ),
    (
        "attention_in_cache",
        "    S, d = K.shape[-2:]\n    turned = rotate(K, np.arange(S))\n"
        "    s = np.einsum('...d,...sd->...s', query, turned) / math.sqrt(d)\n"
        "    w = np.exp(s - s.max(-1, keepdims=True))\n    w = w / w.sum(-1, keepdims=True)\n"
        "    return np.einsum('...s,...sd->...d', w, V), w",
        "By what is each key rotated, and by what the query",
    ),
    (
        "online_softmax_step",
        "    s = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])\n    new = np.maximum(largest, s.max(-1))\n"
        "    p = np.exp(s - new[..., None])\n    return new, total + p.sum(-1), mixed + p @ V",
        "Known mistake: nothing shrunk",
    ),
    (
        "online_softmax_attention",
        "    m, t = np.full(Q.shape[:-1], -np.inf), np.zeros(Q.shape[:-1])\n"
        "    a = np.zeros((*Q.shape[:-1], V.shape[-1]))\n    for b in range(0, K.shape[-2], block_size):\n"
        "        i = slice(b, b + block_size)\n"
        "        m, t, a = online_softmax_step(m, t, a, Q, K[..., i, :], V[..., i, :])\n    return a",
        "What is divided by what at the end",
    ),
    (
        "rms_norm",
        "    return gamma * (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)",
        "What is the mean of the squares",
    ),
    (
        "gated_feed_forward",
        "    return (np.maximum(x @ W_gate, 0) * (x @ W_up)) @ W_down",
        "Known mistake: relu for silu",
    ),
    (
        "ModernDecoderBlock",
        "    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):\n        super().__init__()\n"
        "        self.W_Q, self.W_O = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)",
        "which part is too much, or not there",
    ),
]
