"""A walk through a5: (exercise, what is written into its cell, what the first thing shown must say)."""

from tests.browser.walks.steps import BROUGHT, EMPTY, RIGHT

BLOCK = """\
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.{norm}, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        {forward}
        return x + self.feed_forward(self.norm_2(x))"""
DECODER = """\
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.tensor(positional_encoding(max_length, d_model)).float())
        blocks = [DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.blocks = {blocks}
        self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = {x} + self.positions[: token_ids.shape[-1]]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))"""
WALK = [
    (
        "positional_encoding",
        "    i = np.arange(d_model // 2)\n    a = np.arange(length)[:, None] / 10000 ** (2 * i / d_model)\n"
        "    return np.concatenate([np.sin(a), np.cos(a)], axis=-1)",
        "Which columns are sines",
    ),
    (
        "layer_norm",
        "    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta",
        "Known mistake: normalised over everything",
    ),
    (
        "layer_norm",
        "    m = x.mean(-1, keepdims=True)\n"
        "    return gamma * (x - m) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps) + beta",
        "Known mistake: divided by n minus 1",
    ),
    ("feed_forward", "    return (x @ W_1 + b_1) @ W_2 + b_2", "Known mistake: relu missing"),
    ("MultiHeadAttention", EMPTY, ""),
    (
        "DecoderBlock",
        RIGHT,
        "MultiHeadAttention, which this calls and you bring from a4, is not written yet. Start there",
    ),
    ("MultiHeadAttention", BROUGHT, ""),
    (
        "DecoderBlock",
        BLOCK.format(norm="ln1", forward="x = x + self.attention(self.ln1(x), None)[0]"),
        "the module has no parameter norm_1.weight; it has ln1.weight",
    ),
    (
        "DecoderBlock",
        BLOCK.format(norm="norm_1", forward="x = x + self.attention(self.norm_1(x), None)[0]"),
        "whom does each word see",
    ),
    (
        "TransformerDecoder",
        DECODER.format(blocks="list(blocks)", x="self.embedding(token_ids) * math.sqrt(self.embedding.embedding_dim)"),
        "Known mistake: blocks in a plain list",
    ),
    (
        "TransformerDecoder",
        DECODER.format(blocks="nn.ModuleList(blocks)", x="self.embedding(token_ids)"),
        "What is the embedding multiplied by",
    ),
]
