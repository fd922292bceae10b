"""A walk through a7: (exercise, what is written into its cell, what the first thing shown must say)."""

from tests.browser.walks.steps import BROUGHT, EMPTY, RIGHT

WALK = [
    (
        "offset_attention",
        "    return np.roll(np.eye(length), offset, axis=1)",
        r"the first at nothing.*\[0, 0, 0, 1\], wanted \[0, 0, 0, 0\]",
    ),
    (
        "convolution_heads",
        "    k, d_in, d_out = kernel.shape\n    return list(range(k)), kernel.copy(), np.tile(np.eye(d_out), (k, 1))",
        r"offsets, put in order, came out as \[0, 1, 2\]",
    ),
    (
        "convolution_heads",
        "    k, d_in, d_out = kernel.shape\n"
        "    return [j - (k - 1) // 2 for j in range(k)], kernel.copy(), np.tile(np.eye(d_out), (k, 1))",
        "W_O has dtype float64",
    ),
    ("output_projection", EMPTY, ""),
    (
        "convolution_by_attention",
        RIGHT,
        "output_projection, which this calls and you bring from a4, is not written yet",
    ),
    ("output_projection", BROUGHT, ""),
    (
        "convolution_by_attention",
        "    offsets, W_V, W_O = convolution_heads(kernel)\n"
        "    w = np.stack([offset_attention(len(X), o) for o in offsets])\n    return w @ (X @ W_V)",
        r"not the tuple \(output, weights\)",
    ),
    (
        "translation_test",
        "    return np.allclose(layer(np.roll(X, shift)), np.roll(layer(X), shift))",
        "because the border is near",
    ),
]
