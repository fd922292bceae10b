import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()
edit = wrong.edited

# ---------------------------------------------------------------- offset_attention


@wrong("other side", "offset-of-the-wrong-sign", "transposed")
def offset_attention(length, offset):
    return np.eye(length, k=-offset)


@wrong("round and round", "wraps-around")
def offset_attention(length, offset):
    return np.roll(np.eye(length), offset, axis=1)


@wrong("held at the edge", "clipped-at-the-border")
def offset_attention(length, offset):
    w = np.zeros((length, length))
    for i in range(length):
        w[i, min(length - 1, max(0, i + offset))] = 1
    return w


@wrong("booleans", "truth-values", "another-dtype", form=True)
def offset_attention(length, offset):
    return np.eye(length, k=offset) > 0


@wrong("stops too early", "last-key-missing", "one-too-few", "off-by-one-at-the-border")
def offset_attention(length, offset):
    w = np.zeros((length, length))
    for i in range(length):
        if 0 <= i + offset < length - 1:
            w[i, i + offset] = 1
    return w


@wrong("both sides", "both-sides")
def offset_attention(length, offset):
    return np.clip(np.eye(length, k=offset) + np.eye(length, k=-offset), 0, 1)


# ---------------------------------------------------------------- convolution_heads

HEADS = """
import numpy as np

def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    left = (k - 1) // 2
    offsets = list(range(-left, k - left))
    W_V = np.array(kernel)
    W_O = np.concatenate([np.eye(d_out)] * k).astype(kernel.dtype)
    return offsets, W_V, W_O
"""
edit(HEADS, "k over 2", "even-off-by-one", ("(k - 1) // 2", "k // 2"))
edit(HEADS, "from zero", "offsets-from-0", ("range(-left, k - left)", "range(k)"))
edit(HEADS, "flipped", "kernel-flipped offsets-reversed reversed", ("np.array(kernel)", "np.array(kernel[::-1])"))
edit(
    HEADS,
    "offsets the other way",
    "kernel-flipped offsets-reversed offset-of-the-wrong-sign",
    ("list(range(-left, k - left))", "[left - j for j in range(k)]"),
)
edit(HEADS, "averaging", "heads-averaged a-constant-factor", (".astype(kernel.dtype)", ".astype(kernel.dtype) / k"))
edit(HEADS, "one short", "one-tap-too-few even-off-by-one", ("range(-left, k - left)", "range(-left, left + 1)"))

# ---------------------------------------------------------------- convolution_by_attention

CONV = """
import numpy as np

def convolution_by_attention(X, kernel):
    k, L = kernel.shape[0], X.shape[0]
    left = (k - 1) // 2
    out = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = np.zeros((k, L, L), dtype=X.dtype)
    for j in range(k):
        o = j - left
        for i in range(L):
            if 0 <= i + o < L:
                weights[j, i, i + o] = 1
        out += weights[j] @ X @ kernel[j]
    return out, weights
"""
edit(CONV, "true convolution", "kernel-flipped", ("@ kernel[j]", "@ kernel[k - 1 - j]"))
edit(CONV, "centre of even ones", "even-off-by-one", ("(k - 1) // 2", "k // 2"))
edit(
    CONV,
    "wraps",
    "wraps-around",
    ("if 0 <= i + o < L:\n                weights[j, i, i + o] = 1", "weights[j, i, (i + o) % L] = 1"),
)
edit(CONV, "averaged", "heads-averaged", ("return out,", "return out / k,"))
edit(CONV, "past only", "looks-back-only", ("o = j - left", "o = j - k + 1"))
edit(CONV, "future only", "offsets-from-0", ("o = j - left", "o = j"))
edit(CONV, "columns and rows", "weights-transposed", ("weights[j, i, i + o] = 1", "weights[j, i + o, i] = 1"))
edit(
    CONV,
    "edges held",
    "border-repeated",
    ("if 0 <= i + o < L:\n                weights[j, i, i + o] = 1", "weights[j, i, min(max(i + o, 0), L - 1)] = 1"),
)
edit(CONV, "output alone", "output-only", ("return out, weights", "return out"), form=True)
edit(CONV, "double", "float64-always another-dtype", (", dtype=X.dtype", ""), form=True)
edit(
    CONV,
    "flipped and averaged",
    "kernel-flipped+heads-averaged",
    ("@ kernel[j]", "@ kernel[-1 - j]"),
    ("return out,", "return out / k,"),
)
edit(
    CONV,
    "valid part",
    "border-left-empty border-cut-off",
    (
        "    return out, weights",
        "    right = k - 1 - left\n    out[:left] = 0\n    if right: out[L - right if right < L else 0 :] = 0\n    return out, weights",
    ),
)
edit(
    CONV,
    "weights per query",
    "axes-in-another-order transposed weights-per-query",
    ("return out, weights", "return out, weights.swapaxes(0, 1)"),
)

# ---------------------------------------------------------------- translation_test


@wrong("moves the input, not the output", "output-not-moved")
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, 0))
    keep = slice(margin, len(X) - margin)
    return bool(np.allclose(a[keep], b[keep], atol=1e-6))


@wrong("any", "any-for-all")
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), shift, 0), layer(np.roll(X, shift, 0))
    rows = [j for j in range(margin, len(X) - margin) if margin <= j - shift < len(X) - margin]
    return bool(any(np.allclose(a[j], b[j], atol=1e-6) for j in rows))


@wrong("wrong direction", "shifted-the-wrong-way", "output-moved-the-wrong-way")
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), -shift, 0), layer(np.roll(X, shift, 0))
    rows = [j for j in range(margin, len(X) - margin) if margin <= j - shift < len(X) - margin]
    return bool(all(np.allclose(a[j], b[j], atol=1e-6) for j in rows))


@wrong("margin on one side", "border-on-one-side")
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), shift, 0), layer(np.roll(X, shift, 0))
    rows = [j for j in range(margin, len(X)) if margin <= j - shift < len(X)]
    return bool(all(np.allclose(a[j], b[j], atol=1e-6) for j in rows))


@wrong("borders", "borders-compared")
def translation_test(layer, X, shift, margin):
    a, b = np.roll(layer(X), shift, 0), layer(np.roll(X, shift, 0))
    return bool(np.abs(a - b).max(initial=0) < 1e-6)


# ---------------------------------------------------------------- written when prices were made alike


@wrong("clipped at the border", "clipped-at-the-border", "nearest-at-the-border", "clipped", "border-repeated")
def offset_attention(length, offset):
    w = np.zeros((length, length))
    for i in range(length):
        w[i, min(max(i + offset, 0), length - 1)] = 1.0
    return w


@wrong(
    "the other way round",
    "offset-of-the-wrong-sign",
    "offset-turned",
    "looks-the-other-way",
    "sign-flipped",
    "transposed",
)
def offset_attention(length, offset):
    return np.eye(length, k=-offset)


@wrong("means compared", "means-compared", "rows-averaged")
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(np.allclose(a[lo - shift : hi - shift].mean(), b[lo:hi].mean(), atol=1e-6))


@wrong("norms compared", "norms-compared")
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(
        np.allclose(np.linalg.norm(a[lo - shift : hi - shift], axis=1), np.linalg.norm(b[lo:hi], axis=1), atol=1e-6)
    )


@wrong("relative tolerance of a tenth", "not-close-enough", "too-tolerant", "tolerance-too-large")
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(np.allclose(a[lo - shift : hi - shift], b[lo:hi], rtol=0.1))


@wrong("most rows agree", "most-rows-enough", "some-rows-enough")
def translation_test(layer, X, shift, margin):
    a, b = layer(X), layer(np.roll(X, shift, axis=0))
    lo, hi = margin + max(shift, 0), len(X) - margin + min(shift, 0)
    return bool(np.isclose(a[lo - shift : hi - shift], b[lo:hi], atol=1e-6).mean() > 0.9)
