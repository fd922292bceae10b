"""A walk through a1: (exercise, what is written into its cell, what the first thing shown must say)."""

from tests.browser.walks.steps import NO_CELL, NOT_RUN, NOT_STARTED, STUB

WALK = [
    ("softmax", NO_CELL, NOT_RUN),
    ("softmax", STUB, NOT_STARTED),
    ("softmax", "    return np.exp(x) / np.exp(x).sum()", "each row sums to 1 .* Over which axis is the sum"),
    (
        "softmax",
        "    e = np.exp(x)\n    return e / e.sum(axis=axis)",
        r"shapes \(2, 3\) and \(2,\) do not broadcast.*line 3",
    ),
    (
        "softmax",
        "    e = np.exp(x)\n    return e / e.sum(axis=axis, keepdims=True)",
        r"Known mistake: no max subtraction",
    ),
    ("softmax", "    e = np.exp(x - x.max())\n    print(e / e.sum())", r"None \(is there a return\?\)"),
    ("attention_scores", "    return Q @ K / math.sqrt(4)", r"cannot be multiplied: 4 meets 2.*line 2"),
    ("attention_scores", "    return Q @ K.swapaxes(-2, -1)", "Known mistake: no scaling"),
    (
        "attention_scores",
        "    return Q @ K.T / math.sqrt(Q.shape[-1])",
        "Two texts at once.* which axes and sizes does your code count",
    ),
    (
        "attention_scores",
        "    return Q @ K.swapaxes(-2, -1) / np.sqrt(Q.shape[-1])",
        "dtype float64, it should be float32",
    ),
    (
        "scaled_dot_product_attention",
        "    return softmax(attention_scores(Q, K)) @ V",
        r"not the tuple \(output, weights\)",
    ),
    (
        "scaled_dot_product_attention",
        "    w = softmax(attention_scores(Q, K))\n    return w, w @ V",
        "In which order does the docstring name them",
    ),
    (
        "scaled_dot_product_attention",
        "    w = softmax(attention_scores(Q, K), axis=-2)\n    return w @ V, w",
        r"Known mistake: softmax over queries",
    ),
    (
        "torch_scaled_dot_product_attention",
        "    w = torch.softmax(query.detach() @ key.mT / math.sqrt(key.shape[-1]), -1)\n    return w @ value, w",
        "no gradient reaches query",
    ),
]
