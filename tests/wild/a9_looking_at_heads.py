import numpy as np

from tests.wilds import Wilds

wild = Wilds()
edit = wild.edited

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


@wild("best guess", "counted-not-weighed")
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
edit(AGAIN, "double", "float64-always another-dtype", (", dtype=weights.dtype", ""), form=True)

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


@wild("every second", "heads-interleaved")
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


@wild("every second of both", "heads-interleaved")
def ov_circuit(W_V, W_O, num_heads):
    return np.stack([W_V[:, i::num_heads] @ W_O[i::num_heads] for i in range(num_heads)])


@wild("every second column", "columns-interleaved", "heads-interleaved")
def ov_circuit(W_V, W_O, num_heads):
    d = len(W_O) // num_heads
    return np.stack([W_V[:, i::num_heads] @ W_O[i * d : (i + 1) * d] for i in range(num_heads)])
