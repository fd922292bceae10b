import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()
edit = wrong.edited

# ---------------------------------------------------------------- previous_token_score

BEFORE = """
import numpy as np

def previous_token_score(weights):
    h, L, _ = weights.shape
    total = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        total = total + weights[:, i, i - 1]
    return total / (L - 1)
"""
edit(BEFORE, "over L", "divided-by-all-words", ("total / (L - 1)", "total / L"))
edit(BEFORE, "no division", "sum-for-mean", ("total / (L - 1)", "total"))
edit(BEFORE, "from zero", "negative-index", ("range(1, L)", "range(L)"), ("total / (L - 1)", "total / L"))
edit(BEFORE, "from two", "starts-too-late", ("range(1, L)", "range(2, L)"), ("(L - 1)", "(L - 2)"))
edit(BEFORE, "column then row", "rows-and-columns-swapped", ("weights[:, i, i - 1]", "weights[:, i - 1, i]"))
edit(BEFORE, "itself", "the-word-itself", ("range(1, L)", "range(L)"), ("i - 1]", "i]"), ("(L - 1)", "L"))
edit(BEFORE, "to the front", "first-word-for-previous", ("weights[:, i, i - 1]", "weights[:, i, 0]"))
edit(BEFORE, "double", "float64-always another-dtype", (", dtype=weights.dtype", ", dtype=float"), form=True)
edit(BEFORE, "over heads", "one-number-for-all-heads", ("total / (L - 1)", "(total / (L - 1)).mean()"))
edit(
    BEFORE, "a list", "a-list list-for-array another-kind", ("total / (L - 1)", "(total / (L - 1)).tolist()"), form=True
)


@wrong("best guess", "counted-not-weighed")
def previous_token_score(weights):
    hits = [[head[i].argmax() == i - 1 for i in range(1, len(head))] for head in weights]
    return np.mean(hits, axis=1, dtype=weights.dtype)


# ---------------------------------------------------------------- induction_score

AGAIN = """
import numpy as np

def induction_score(weights, period):
    h, L, _ = weights.shape
    scores = []
    for head in weights:
        looks = [head[i, i - period + 1] for i in range(period, L)]
        scores.append(np.mean(looks))
    return np.array(scores, dtype=weights.dtype)
"""
edit(AGAIN, "found again", "the-same-word", ("i - period + 1", "i - period"))
edit(AGAIN, "minus one", "the-word-before-it", ("i - period + 1", "max(0, i - period - 1)"))
edit(AGAIN, "one back", "the-word-before-the-query", ("i - period + 1", "i - 1"))
edit(AGAIN, "later start", "starts-too-late", ("range(period, L)", "range(period + 1, L)"))
edit(AGAIN, "earlier start", "starts-too-early", ("range(period, L)", "range(period - 1, L)"))
edit(AGAIN, "earlier end", "ends-too-early", ("range(period, L)", "range(period, L - 1)"))
edit(AGAIN, "over all", "divided-by-all-words", ("np.mean(looks)", "np.sum(looks) / L"))
edit(AGAIN, "over the period", "divided-by-the-period", ("np.mean(looks)", "np.sum(looks) / period"))
edit(AGAIN, "summed", "sum-for-mean", ("np.mean(looks)", "np.sum(looks)"))
edit(AGAIN, "key then query", "rows-and-columns-swapped", ("head[i, i - period + 1]", "head[i - period + 1, i]"))
edit(AGAIN, "everybody", "first-round-counted", ("range(period, L)", "range(L)"))
edit(AGAIN, "best one", "largest-for-mean", ("np.mean(looks)", "np.max(looks)"))

# ---------------------------------------------------------------- mean_ablate

ABLATE = """
import numpy as np

def mean_ablate(found, head):
    result = np.array(found)
    average = found[:, head].mean(axis=0)
    for text in range(len(found)):
        result[text, head] = average
    return result
"""
edit(ABLATE, "silence", "zero-for-mean", ("= average", "= 0"))
edit(ABLATE, "in place", "found-changed", ("np.array(found)", "found"), form=True)
edit(ABLATE, "all of it", "one-number-for-all", ("mean(axis=0)", "mean()"))
edit(ABLATE, "along the text", "mean-over-places", ("= average", "= found[text, head].mean(axis=0)"))
edit(ABLATE, "texts and places", "mean-over-texts-and-places", ("mean(axis=0)", "mean(axis=(0, 1))"))
edit(ABLATE, "across heads", "mean-over-heads", ("= average", "= found[text].mean(axis=0)"))
edit(ABLATE, "everyone", "every-head", ("found[:, head].mean", "found.mean"), ("result[text, head]", "result[text]"))
edit(ABLATE, "next head", "heads-counted-from-1", ("[:, head]", "[:, head - 1]"), ("[text, head]", "[text, head - 1]"))
edit(ABLATE, "median", "median-for-mean", ("found[:, head].mean(axis=0)", "np.median(found[:, head], axis=0)"))
edit(ABLATE, "first one", "first-text-for-all", ("found[:, head].mean(axis=0)", "found[0, head]"))
edit(ABLATE, "sum", "sum-for-mean", ("mean(axis=0)", "sum(axis=0)"))
edit(ABLATE, "centred", "mean-taken-off", ("= average", "-= average"))
edit(ABLATE, "double", "float64-always another-dtype", ("np.array(found)", "np.array(found, float)"), form=True)

# ---------------------------------------------------------------- patch_head

PATCH = """
import numpy as np

def patch_head(found, other, head, place):
    result = np.copy(found)
    result[..., head, place, :] = other[..., head, place, :]
    return result
"""
edit(
    PATCH,
    "all places",
    "every-place",
    ("result[..., head, place, :] = other[..., head, place, :]", "result[..., head, :, :] = other[..., head, :, :]"),
)
edit(
    PATCH,
    "all heads",
    "every-head",
    ("result[..., head, place, :] = other[..., head, place, :]", "result[..., place, :] = other[..., place, :]"),
)
edit(PATCH, "onto itself", "found-changed", ("np.copy(found)", "found"), form=True)
edit(PATCH, "backwards", "the-wrong-way-round", ("np.copy(found)", "np.copy(other)"), ("= other[", "= found["))
edit(PATCH, "on top", "added", ("] = other", "] += other"))
edit(PATCH, "and later", "from-the-place-on", ("head, place, :]", "head, place:, :]"))
edit(PATCH, "and earlier", "up-to-the-place", ("head, place, :]", "head, :place + 1, :]"))
edit(PATCH, "head minus one", "heads-counted-from-1", ("head, place, :]", "head - 1, place, :]"))
edit(PATCH, "place minus one", "places-counted-from-1", ("head, place, :]", "head, place - 1, :]"))
edit(PATCH, "the end", "last-place-always", ("head, place, :]", "head, -1, :]"))
edit(PATCH, "first number", "one-number-only", ("head, place, :]", "head, place, 0]"))
edit(
    PATCH,
    "nothing of it",
    "nothing-replaced",
    ("result[..., head, place, :] = other", "result = np.copy(found); other"),
)
edit(PATCH, "mixed", "halfway", ("= other[..., head, place, :]", "= (result + other)[..., head, place, :] / 2"))

# ---------------------------------------------------------------- qk_circuit

QK = """
import numpy as np

def qk_circuit(W_Q, W_K, num_heads):
    Qs = np.split(W_Q, num_heads, axis=1)
    Ks = np.split(W_K, num_heads, axis=1)
    circuits = [Q @ K.T for Q, K in zip(Qs, Ks)]
    return np.stack(circuits)
"""
edit(QK, "other way", "keys-first transposed", ("Q @ K.T", "K @ Q.T"))
edit(QK, "narrow", "widths-of-a-head", ("Q @ K.T", "Q.T @ K"))
edit(QK, "root inside", "scaled", ("Q @ K.T", "Q @ K.T / Q.dtype.type(Q.shape[1] ** 0.5)"))
edit(QK, "by width", "scaled-by-d", ("Q @ K.T", "Q @ K.T / Q.shape[1]"))
edit(QK, "backwards", "heads-reversed", ("np.stack(circuits)", "np.stack(circuits[::-1])"))
edit(QK, "added up", "heads-summed", ("np.stack(circuits)", "sum(circuits)"))
edit(QK, "heads at the end", "heads-last", ("np.stack(circuits)", "np.stack(circuits, axis=-1)"))
edit(QK, "no stack", "a-list list-for-array another-kind", ("np.stack(circuits)", "circuits"), form=True)
edit(QK, "itself", "queries-with-queries", ("Q @ K.T", "Q @ Q.T"))
edit(QK, "crossed", "heads-mixed", ("zip(Qs, Ks)", "zip(Qs, Ks[::-1])"))
edit(QK, "the lot", "all-heads-together", ("Q @ K.T", "W_Q @ W_K.T"))
edit(
    QK,
    "double",
    "float64-always another-dtype",
    ("np.stack(circuits)", "np.array(circuits, dtype=np.float64)"),
    form=True,
)


@wrong("every second", "heads-interleaved")
def qk_circuit(W_Q, W_K, num_heads):
    return np.stack([W_Q[:, i::num_heads] @ W_K[:, i::num_heads].T for i in range(num_heads)])


# ---------------------------------------------------------------- ov_circuit

OV = """
import numpy as np

def ov_circuit(W_V, W_O, num_heads):
    Vs = np.split(W_V, num_heads, axis=1)
    Os = np.split(W_O, num_heads, axis=0)
    circuits = [V @ O for V, O in zip(Vs, Os)]
    return np.stack(circuits)
"""
edit(OV, "turned", "transposed", ("V @ O", "(V @ O).T"))
edit(OV, "narrow", "widths-of-a-head", ("V @ O", "O @ V"))
edit(OV, "crossed", "heads-mixed", ("zip(Vs, Os)", "zip(Vs, Os[::-1])"))
edit(OV, "backwards", "heads-reversed", ("np.stack(circuits)", "np.stack(circuits[::-1])"))
edit(OV, "added up", "heads-summed", ("np.stack(circuits)", "sum(circuits)"))
edit(OV, "shared out", "heads-averaged", ("V @ O", "V @ O / num_heads"))
edit(OV, "the lot", "all-heads-together", ("V @ O", "W_V @ W_O"))
edit(OV, "with the word", "residual-added", ("V @ O", "V @ O + np.eye(len(V), dtype=V.dtype)"))
edit(OV, "one set of rows", "first-rows-for-all", ("V @ O", "V @ Os[0]"))
edit(OV, "reshaped", "reshaped-not-split", ("np.split(W_V, num_heads, axis=1)", "W_V.reshape(num_heads, len(W_V), -1)"))
edit(OV, "no stack", "a-list list-for-array another-kind", ("np.stack(circuits)", "circuits"), form=True)


@wrong("every second of both", "heads-interleaved")
def ov_circuit(W_V, W_O, num_heads):
    return np.stack([W_V[:, i::num_heads] @ W_O[i::num_heads] for i in range(num_heads)])


@wrong("every second column", "columns-interleaved", "heads-interleaved")
def ov_circuit(W_V, W_O, num_heads):
    d = len(W_O) // num_heads
    return np.stack([W_V[:, i::num_heads] @ W_O[i * d : (i + 1) * d] for i in range(num_heads)])


# ================================================================ by another hand: what public code does, and habits
# Written without a look at the catalogue. Before anything was changed for them, all 69 lost marks, 60 were named.

LENS = """
import numpy as np

def previous_token_score(weights):
    rows = np.arange(1, weights.shape[-1])
    return weights[:, rows, rows - 1].mean(axis=-1)
"""
edit(
    LENS,
    "offset of plus one, as in diagonal(offset=1)",
    "rows-and-columns-swapped",
    ("rows, rows - 1", "rows - 1, rows"),
)
edit(
    LENS,
    "all pairs of rows and columns",
    "mean-over-all-pairs",
    ("weights[:, rows, rows - 1].mean(axis=-1)", "weights[:, rows][:, :, rows - 1].mean(axis=(-1, -2))"),
)
edit(LENS, "the last two words", "one-query-only", ("weights[:, rows, rows - 1].mean(axis=-1)", "weights[:, -1, -2]"))
edit(LENS, "two back", "two-words-back", ("rows, rows - 1", "rows[1:], rows[1:] - 2"))
edit(LENS, "largest for mean", "largest-for-mean", (".mean(axis=-1)", ".max(axis=-1)"))
edit(
    LENS,
    "median for mean",
    "median-for-mean",
    ("weights[:, rows, rows - 1].mean(axis=-1)", "np.median(weights[:, rows, rows - 1], axis=-1)"),
)
edit(LENS, "over heads", "mean-over-heads", (".mean(axis=-1)", ".mean(axis=0)"))
edit(
    LENS,
    "trace with offset, over L",
    "divided-by-all-words",
    ("weights[:, rows, rows - 1].mean(axis=-1)", "np.trace(weights, offset=-1, axis1=1, axis2=2) / weights.shape[-1]"),
)
edit(
    LENS,
    "all that came before",
    "all-words-before",
    ("weights[:, rows, rows - 1].mean(axis=-1)", "np.tril(weights, -1).sum(axis=-1)[:, 1:].mean(axis=-1)"),
)
edit(
    LENS,
    "any other word",
    "all-words-before",
    ("weights[:, rows, rows - 1].mean(axis=-1)", "1 - np.diagonal(weights, axis1=1, axis2=2)[:, 1:].mean(axis=-1)"),
)

STRIPE = """
import numpy as np

def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=1 - period, axis1=-2, axis2=-1)
    return stripe[:, 1:].mean(axis=-1)
"""
edit(STRIPE, "the whole stripe", "starts-too-early", ("stripe[:, 1:]", "stripe"))
edit(STRIPE, "offset of the period", "the-same-word", ("1 - period", "-period"), ("[:, 1:]", ""))
edit(STRIPE, "offset of period plus one", "the-word-before-it", ("1 - period", "-period - 1"), ("[:, 1:]", ""))
edit(STRIPE, "above the diagonal", "rows-and-columns-swapped", ("offset=1 - period", "offset=period - 1"))
edit(STRIPE, "half the length is the period", "half-the-text", ("1 - period", "1 - weights.shape[-1] // 2"))
edit(
    STRIPE,
    "divided by the length",
    "divided-by-all-words",
    ("stripe[:, 1:].mean(axis=-1)", "stripe[:, 1:].sum(axis=-1) / weights.shape[-1]"),
)
edit(STRIPE, "largest", "largest-for-mean", (".mean(axis=-1)", ".max(axis=-1)"))
edit(
    STRIPE,
    "minus the others",
    "shifted-by-a-constant",
    ("return stripe[:, 1:].mean(axis=-1)", "s = stripe[:, 1:].mean(axis=-1)\n    return s - s.mean()"),
)
edit(STRIPE, "first word skipped twice", "starts-too-late", ("stripe[:, 1:]", "stripe[:, 2:]"))
edit(STRIPE, "the last word left out", "ends-too-early", ("stripe[:, 1:]", "stripe[:, 1:-1]"))
edit(
    STRIPE,
    "any word of the first round",
    "all-of-the-first-round",
    ("return stripe[:, 1:].mean(axis=-1)", "return weights[:, period:, :period].sum(axis=-1).mean(axis=-1)"),
)
edit(
    STRIPE,
    "the same word and the one after",
    "same-word-or-the-next",
    (
        "return stripe[:, 1:].mean(axis=-1)",
        "return stripe[:, 1:].mean(axis=-1) + np.diagonal(weights, -period, -2, -1).mean(axis=-1)",
    ),
)

HOOK = """
import numpy as np

def mean_ablate(found, head):
    z = np.array(found)
    z[:, head, :, :] = z[:, head, :, :].mean(axis=0, keepdims=True)
    return z
"""
edit(HOOK, "over places too", "mean-over-texts-and-places", ("axis=0, keepdims", "axis=(0, 1), keepdims"))
edit(HOOK, "over places, not texts", "mean-over-places", ("axis=0, keepdims", "axis=1, keepdims"))
edit(HOOK, "over the width", "mean-over-the-width", ("axis=0, keepdims", "axis=-1, keepdims"))
edit(HOOK, "zero", "zero-for-mean", ("z[:, head, :, :].mean(axis=0, keepdims=True)", "0"))
edit(HOOK, "all heads' mean", "mean-over-heads", ("z[:, head, :, :].mean(axis=0, keepdims=True)", "z.mean(axis=1)"))
edit(
    HOOK,
    "resampled from the next text",
    "of-another-text",
    ("z[:, head, :, :].mean(axis=0, keepdims=True)", "np.roll(z[:, head], 1, axis=0)"),
)
edit(HOOK, "by view", "found-changed", ("np.array(found)", "np.asarray(found)"), form=True)
edit(
    HOOK,
    "the other axis",
    "text-for-head",
    (
        "z[:, head, :, :] = z[:, head, :, :].mean(axis=0, keepdims=True)",
        "z[head] = z[head].mean(axis=0, keepdims=True)",
    ),
)
edit(
    HOOK,
    "keeps one head",
    "all-others",
    (
        "    return z",
        "    keep = found.mean(axis=0, keepdims=True).repeat(len(found), axis=0)\n    keep[:, head] = found[:, head]\n    return keep.astype(found.dtype)",
    ),
)
edit(HOOK, "mean subtracted", "mean-taken-off", ("= z[:, head, :, :].mean", "-= z[:, head, :, :].mean"))
edit(
    HOOK,
    "counted from one",
    "heads-counted-from-1",
    ("    z[:, head, :, :] =", "    head = head - 1\n    z[:, head, :, :] ="),
)
edit(HOOK, "only that head's", "only-that-head", ("return z", "return z[:, head]"))
edit(HOOK, "to all texts the first one's", "first-text-for-all", (".mean(axis=0, keepdims=True)", "[:1]"))

PATCH = """
import numpy as np

def patch_head(found, other, head, place):
    z = found.copy()
    z[..., head, place, :] = other[..., head, place, :]
    return z
"""
edit(PATCH, "at every place", "every-place", ("place, :]", ":, :]"))
edit(PATCH, "every head", "every-head", ("[..., head, place, :]", "[..., place, :]"))
edit(PATCH, "the wrong way round", "the-wrong-way-round", ("found.copy()", "other.copy()"), ("= other[", "= found["))
edit(
    PATCH,
    "head and place swapped",
    "head-and-place-swapped",
    (
        "z[..., head, place, :] = other[..., head, place, :]",
        "z[..., place % z.shape[-3], head, :] = other[..., place % z.shape[-3], head, :]",
    ),
)
edit(PATCH, "from that place on", "from-the-place-on", ("place, :]", "place:, :]"))
edit(PATCH, "up to that place", "up-to-the-place", ("place, :]", ": place + 1, :]"))
edit(
    PATCH,
    "the first text alone",
    "first-of-the-batch-only",
    (
        "z[..., head, place, :] = other[..., head, place, :]",
        "z.reshape(-1, *z.shape[-3:])[0, head, place] = other.reshape(-1, *z.shape[-3:])[0, head, place]",
    ),
)
edit(PATCH, "added", "added", ("] = other", "] += other"))
edit(
    PATCH,
    "difference",
    "difference-of-runs",
    ("= other[..., head, place, :]", "= other[..., head, place, :] - found[..., head, place, :]"),
)
edit(PATCH, "written into found", "found-changed", ("found.copy()", "found"), form=True)
edit(PATCH, "one place late", "one-place-late", ("place, :]", "min(place + 1, z.shape[-2] - 1), :]"))
edit(
    PATCH,
    "half of each",
    "halfway",
    ("= other[..., head, place, :]", "= (other[..., head, place, :] + found[..., head, place, :]) / 2"),
)

QK = """
import numpy as np

def qk_circuit(W_Q, W_K, num_heads):
    n = W_Q.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        q, k = W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]
        out.append(q @ k.T)
    return np.stack(out)
"""
edit(QK, "key first", "keys-first", ("q @ k.T", "k @ q.T"))
edit(QK, "divided by the root", "scaled", ("q @ k.T", "q @ k.T / np.sqrt(n).astype(q.dtype)"))
edit(QK, "inner product", "widths-of-a-head", ("q @ k.T", "q.T @ k"))
edit(
    QK,
    "rows for columns",
    "rows-for-columns",
    (
        "W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]",
        "W_Q.T[:, i * n : (i + 1) * n], W_K.T[:, i * n : (i + 1) * n]",
    ),
)
edit(
    QK, "all heads in one", "all-heads-together", ("return np.stack(out)", "return np.stack([W_Q @ W_K.T] * num_heads)")
)
edit(QK, "summed over heads", "heads-summed", ("return np.stack(out)", "return np.sum(out, axis=0)"))
edit(
    QK,
    "every second column",
    "heads-interleaved",
    ("W_Q[:, i * n : (i + 1) * n], W_K[:, i * n : (i + 1) * n]", "W_Q[:, i::num_heads], W_K[:, i::num_heads]"),
)
edit(
    QK,
    "query of one head, key of the next",
    "heads-mixed",
    ("W_K[:, i * n : (i + 1) * n]", "np.roll(W_K, -n, axis=1)[:, i * n : (i + 1) * n]"),
)
edit(QK, "softmaxed", "softmax-taken", ("q @ k.T", "np.exp(q @ k.T) / np.exp(q @ k.T).sum(-1, keepdims=True)"))
edit(QK, "with itself", "queries-with-queries", ("q @ k.T", "q @ q.T"))
edit(
    QK,
    "blocks on the diagonal",
    "diagonal-only",
    ("return np.stack(out)", "return np.stack([np.where(np.eye(len(o), dtype=bool), o, 0) for o in out])"),
)

OV = """
import numpy as np

def ov_circuit(W_V, W_O, num_heads):
    V = np.stack(np.split(W_V, num_heads, axis=1))
    O = np.stack(np.split(W_O, num_heads, axis=0))
    return np.einsum("hdv,hve->hde", V, O)
"""
edit(OV, "the other side up", "transposed", ("->hde", "->hed"))
edit(OV, "heads summed", "heads-summed", ("->hde", "->de"))
edit(OV, "heads crossed", "values-of-all-heads", ("hdv,hve->hde", "gdv,hve->hde"))
edit(
    OV,
    "rows of O for the wrong head",
    "heads-mixed",
    ("np.stack(np.split(W_O, num_heads, axis=0))", "np.stack(np.split(W_O, num_heads, axis=0)[::-1])"),
)
edit(
    OV,
    "W_O by reshape",
    "rows-interleaved",
    ("np.stack(np.split(W_O, num_heads, axis=0))", "W_O.reshape(-1, num_heads, W_O.shape[1]).swapaxes(0, 1)"),
)
edit(
    OV,
    "W_V by reshape",
    "reshaped-not-split",
    ("np.stack(np.split(W_V, num_heads, axis=1))", "W_V.reshape(num_heads, W_V.shape[0], -1)"),
)
edit(
    OV,
    "W_O as in nn.Linear",
    "another-order",
    (
        "np.stack(np.split(W_O, num_heads, axis=0))",
        "np.stack(np.split(W_O.T, num_heads, axis=1)).swapaxes(1, 2)[:, :, ::-1]",
    ),
)
edit(
    OV,
    "the whole for each",
    "all-heads-together",
    ('np.einsum("hdv,hve->hde", V, O)', "np.repeat((W_V @ W_O)[None], num_heads, axis=0)"),
)
edit(
    OV,
    "divided by the heads",
    "heads-averaged",
    ('np.einsum("hdv,hve->hde", V, O)', 'np.einsum("hdv,hve->hde", V, O) / num_heads'),
)
edit(OV, "values only", "values-with-values", ('np.einsum("hdv,hve->hde", V, O)', "V @ V.swapaxes(-1, -2)"))
edit(OV, "last head missing", "one-head-too-few", ('"hdv,hve->hde", V, O', '"hdv,hve->hde", V[:-1], O[:-1]'))
