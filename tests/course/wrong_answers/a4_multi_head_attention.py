# %% all the same
# accepted: always-square
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict.fromkeys(["W_Q", "W_K", "W_V", "W_O"], (d_model, d_model))

# %% one head wide
# accepted: one-head-for-all
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"W_Q": (d_model, d_k), "W_K": (d_model, d_k), "W_V": (d_model, d_v), "W_O": (d_v, d_model)}

# %% output the other way
# accepted: W_O-transposed
def projection_shapes(d_model, num_heads, d_k, d_v):
    narrow, wide = (d_model, num_heads * d_k), (d_model, num_heads * d_v)
    return dict(W_Q=narrow, W_K=narrow, W_V=wide, W_O=wide)

# %% as nn.Linear keeps them
# accepted: transposed, axes-swapped
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"W_Q": (num_heads * d_k, d_model), "W_K": (num_heads * d_k, d_model), "W_V": (num_heads * d_v, d_model),
            "W_O": (d_model, num_heads * d_v)}  # fmt: skip

# %% a head's share of d_model
# accepted: divided-by-the-heads, d_k-from-d_model, d_k-ignored
def projection_shapes(d_model, num_heads, d_k, d_v):
    d = d_model // num_heads
    return {"W_Q": (d_model, d), "W_K": (d_model, d), "W_V": (d_model, d), "W_O": (d_model, d_model)}

# %% keys' width for values
# accepted: d_v-ignored
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {name: (d_model, num_heads * d_k) for name in ("W_Q", "W_K", "W_V")} | {"W_O": (num_heads * d_k, d_model)}

# %% all four as nn.Linear keeps them, (out, in)
# accepted: transposed
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": (num_heads * d_k, d_model),
        "W_K": (num_heads * d_k, d_model),
        "W_V": (num_heads * d_v, d_model),
        "W_O": (d_model, num_heads * d_v),
    }

# %% d_v is not used: W_V and W_O made with d_k
# accepted: d_v-ignored
def projection_shapes(d_model, num_heads, d_k, d_v):
    inner = num_heads * d_k
    shapes = {name: (d_model, inner) for name in ("W_Q", "W_K", "W_V")}
    shapes["W_O"] = (inner, d_model)
    return shapes

# %% takes W_O to be square
# accepted: W_O-square
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict(
        W_Q=(d_model, num_heads * d_k),
        W_K=(d_model, num_heads * d_k),
        W_V=(d_model, num_heads * d_v),
        W_O=(d_model, d_model),
    )

# %% a separate axis for the heads, (h, d_model, d_k)
# accepted: heads-on-an-axis
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": (num_heads, d_model, d_k),
        "W_K": (num_heads, d_model, d_k),
        "W_V": (num_heads, d_model, d_v),
        "W_O": (num_heads * d_v, d_model),
    }

# %% lists instead of tuples
# accepted: lists-for-shapes
# form: yes
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": [d_model, num_heads * d_k],
        "W_K": [d_model, num_heads * d_k],
        "W_V": [d_model, num_heads * d_v],
        "W_O": [num_heads * d_v, d_model],
    }

# %% Uses d_k for the values too, so W_V and W_O have the wrong width where d_v differs.
# accepted: d_v-ignored
# author: 3
def projection_shapes(d_model, num_heads, d_k, d_v):
    inner = num_heads * d_k
    return {"W_Q": (d_model, inner), "W_K": (d_model, inner), "W_V": (d_model, inner), "W_O": (inner, d_model)}

# %% Makes all four matrices square, as if d_model were always num_heads times d_k.
# accepted: always-square
# author: 3
def projection_shapes(d_model, num_heads, d_k, d_v):
    shapes = {}
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        shapes[name] = (d_model, d_model)
    return shapes

# %% Num_heads left out (one head's width).
# accepted: one-head-s-matrices
# author: 4
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict(W_Q=(d_model, d_k), W_K=(d_model, d_k), W_V=(d_model, d_v), W_O=(num_heads * d_v, d_model))

# %% W_O's rows from d_k in place of d_v.
# accepted: W_O-from-d_k
# author: 4
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict(
        W_Q=(d_model, num_heads * d_k),
        W_K=(d_model, num_heads * d_k),
        W_V=(d_model, num_heads * d_v),
        W_O=(num_heads * d_k, d_model),
    )

# %% W_V never narrower than d_model.
# accepted: W_V-too-wide
# author: 5
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {
        "W_Q": (d_model, num_heads * d_k),
        "W_K": (d_model, num_heads * d_k),
        "W_V": (d_model, max(d_model, num_heads * d_v)),
        "W_O": (num_heads * d_v, d_model),
    }

# %% keys called by small letters
# accepted: other-names
# form: yes
# author: 7
def projection_shapes(d_model, num_heads, d_k, d_v):
    wide = (d_model, num_heads * d_k)
    return {"W_q": wide, "W_k": wide, "W_v": (d_model, num_heads * d_v), "W_o": (num_heads * d_v, d_model)}

# %% no move
# accepted: concat-without-transpose
def output_projection(heads, W_O):
    *b, h, L, d = heads.shape
    return np.reshape(heads, (*b, L, h * d)) @ W_O

# %% summed after each block
# accepted: first-block-for-all, one-block-for-all, heads-summed
def output_projection(heads, W_O):
    d = heads.shape[-1]
    return sum(heads[..., i, :, :] @ W_O[:d] for i in range(heads.shape[-3]))

# %% reversed
# accepted: heads-reversed, rows-reversed, reversed
def output_projection(heads, W_O):
    return np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3])][::-1], axis=-1) @ W_O

# %% last one forgotten
# accepted: one-head-too-few, last-head-missing
def output_projection(heads, W_O):
    d = heads.shape[-1]
    h = heads.shape[-3]
    out = heads[..., 0, :, :] @ W_O[:d]
    for i in range(1, h - 1):
        out = out + heads[..., i, :, :] @ W_O[i * d : (i + 1) * d]
    return out

# %% mean
# accepted: heads-averaged, a-constant-factor
def output_projection(heads, W_O):
    *_, h, _, d = heads.shape
    return np.mean([heads[..., i, :, :] @ W_O[i * d : i * d + d] for i in range(h)], axis=0)

# %% returns concatenation
# accepted: W_O-missing
def output_projection(heads, W_O):
    return np.concatenate(np.moveaxis(heads, -3, 0), axis=-1)

# %% first block for all
# accepted: first-rows-for-all, one-block-for-all, head-0-for-all
def output_projection(heads, W_O):
    d = heads.shape[-1]
    return sum(heads[..., i, :, :] @ W_O[:d] for i in range(heads.shape[-3]))

# %% sums over the first axis, head for head, which is the batch where there is one
# accepted: one-batch-layout
def output_projection(heads, W_O):
    d_v = heads.shape[-1]
    return sum(head @ W_O[i * d_v : (i + 1) * d_v] for i, head in enumerate(heads))

# %% gives W_O's rows out to the heads in turn: reshaped to (d_v, h, d_model)
# accepted: heads-interleaved
def output_projection(heads, W_O):
    h, d_v = heads.shape[-3], heads.shape[-1]
    W = W_O.reshape(d_v, h, -1)
    return np.einsum("...hld,dhm->...lm", heads, W)

# %% averages over the heads instead of summing
# accepted: heads-averaged
def output_projection(heads, W_O):
    h, d_v = heads.shape[-3], heads.shape[-1]
    W = W_O.reshape(h, d_v, -1)
    return np.mean(heads @ W, axis=-3)

# %% a ReLU after the projection
# accepted: negative-numbers-lost
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    Z = heads.swapaxes(-3, -2).reshape(*batch, L, h * d_v)
    return np.maximum(Z @ W_O, 0)

# %% sums into a float64 buffer
# accepted: float64-always
# form: yes
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    out = np.zeros((*batch, L, W_O.shape[1]))
    for i in range(h):
        out += heads[..., i, :, :] @ W_O[i * d_v : (i + 1) * d_v, :]
    return out

# %% Reshapes the heads without swapping heads and words first, so each row mixes several words of one head.
# accepted: concat-without-transpose
# author: 3
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    Z = heads.reshape(*batch, L, h * d_v)
    return Z @ W_O

# %% Multiplies every head by the first d_v rows of W_O, though each head has rows of its own.
# accepted: first-block-for-all
# author: 3
def output_projection(heads, W_O):
    h, L, d_v = heads.shape[-3:]
    result = 0
    for i in range(h):
        result = result + heads[..., i, :, :] @ W_O[:d_v]
    return result

# %% Adds up the heads in a np.zeros array of default float64, so float32 comes out as float64.
# accepted: float64-always
# form: yes
# author: 3
def output_projection(heads, W_O):
    h, L, d_v = heads.shape[-3:]
    out = np.zeros(heads.shape[:-3] + (L, W_O.shape[1]))
    for i in range(h):
        rows = W_O[i * d_v : (i + 1) * d_v, :]
        out += heads[..., i, :, :] @ rows
    return out

# %% Heads not swapped where there are as many words.
# accepted: concat-without-transpose
# author: 5
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    by_word = heads if h == L else heads.swapaxes(-3, -2)
    concatenated = by_word.reshape(*batch, L, h * d_v)
    return concatenated @ W_O

# %% Mean over three heads and more.
# accepted: heads-averaged
# author: 5
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    by_word = heads.swapaxes(-3, -2)
    concatenated = by_word.reshape(*batch, L, h * d_v)
    return concatenated @ W_O / (h if h > 2 else 1)

# %% values from W_K
# accepted: values-from-W_K, W_V-unused, argument-unused
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_K[:, i * d_k : i * d_k + d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% keys from W_Q
# accepted: keys-from-W_Q, W_K-unused, argument-unused
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% queries and keys exchanged
# accepted: queries-and-keys-swapped, scores-transposed
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", k, q) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% root of the model
# accepted: scale-by-d_model
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_model)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% whole width
# accepted: scale-by-whole-width, scale-by-h-d_k
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(W_K.shape[1])
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% number of heads
# accepted: scale-by-num_heads
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(num_heads)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% root of d_v
# accepted: scale-by-d_v
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_v)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% no scale
# accepted: no-scaling
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% summed heads
# accepted: heads-summed
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.tile(np.sum(outs, axis=0), num_heads)
    return together @ W_O, np.stack(ws, axis=-3)

# %% interleaved in columns
# accepted: heads-interleaved
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i::num_heads]
        k = X @ W_K[:, i::num_heads]
        v = X @ W_V[:, i::num_heads]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% reversed at the end
# accepted: heads-reversed
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs[::-1], axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% mask the other way
# accepted: mask-inverted
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, -1e30, s)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, 0, w)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% small fill
# accepted: leaky-mask, small-fill
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e1)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            pass
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% mask after
# accepted: mask-after-softmax, unmasked-denominator
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            pass
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% axis of queries
# accepted: softmax-over-queries
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-2, keepdims=True))
        w = e / e.sum(axis=-2, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% shared mask of head 0
# accepted: mask-for-the-first-head-only, mask-of-the-first-head-for-all
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., 0, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% weights in a list
# accepted: another-kind
# form: yes
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, ws

# %% head axis first
# accepted: heads-before-the-batch, one-batch-layout, axes-in-another-order, transposed
# form: yes
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws)

# %% mean over heads of the weights
# accepted: weights-averaged
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.mean(ws, axis=0)

# %% no W_O, no scale
# accepted: W_O-missing+no-scaling
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = np.where(m, w, 0)
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together, np.stack(ws, axis=-3)

# %% no room for empty rows
# accepted: evenly-for-nothing, nothing-to-see
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    L, d_model = X.shape[-2:]
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    outs, ws = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, i * d_k : (i + 1) * d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        s = np.einsum("...ic,...jc->...ij", q, k) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*s.shape[:-2], num_heads, L, L))[..., i, :, :]
            s = np.where(m, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            pass
        w = w.astype(X.dtype)
        outs.append(w @ v)
        ws.append(w)
    together = np.concatenate(outs, axis=-1)
    return together @ W_O, np.stack(ws, axis=-3)

# %% mask on head 0 alone
# accepted: mask-for-the-first-head-only, mask-on-one-head, mask-on-the-first-head
def _attend_again(Q, K, V, mask):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    big = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(big), big, 0))
    t = e.sum(-1, keepdims=True)
    w = (e / np.where(t > 0, t, 1)).astype(Q.dtype)
    return w @ V, w


def _split_again(X, h):
    return X.reshape(*X.shape[:-1], h, X.shape[-1] // h).swapaxes(-3, -2)


def _concat_again(h):
    h = h.swapaxes(-3, -2)
    return h.reshape(*h.shape[:-2], -1)


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_split_again(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    out, w = _attend_again(Q, K, V, None)
    if mask is not None:
        o2, w2 = _attend_again(Q, K, V, mask)
        out[..., :1, :, :], w[..., :1, :, :] = o2[..., :1, :, :], w2[..., :1, :, :]
    return _concat_again(out) @ W_O, w

# %% softmax before the split
# accepted: one-big-head, heads-split-too-late, mask-ignored+one-big-head
def _attend_again(Q, K, V, mask):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    big = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(big), big, 0))
    t = e.sum(-1, keepdims=True)
    w = (e / np.where(t > 0, t, 1)).astype(Q.dtype)
    return w @ V, w


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    out, w = _attend_again(X @ W_Q, X @ W_K, X @ W_V, None)
    return out @ W_O, np.repeat(w[..., None, :, :], num_heads, axis=-3)

# %% heads summed into W_O
# accepted: heads-summed
def _attend_again(Q, K, V, mask):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    big = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(big), big, 0))
    t = e.sum(-1, keepdims=True)
    w = (e / np.where(t > 0, t, 1)).astype(Q.dtype)
    return w @ V, w


def _split_again(X, h):
    return X.reshape(*X.shape[:-1], h, X.shape[-1] // h).swapaxes(-3, -2)


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_split_again(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    out, w = _attend_again(Q, K, V, mask)
    return np.tile(out.sum(-3), num_heads) @ W_O, w

# %% query bias of X
# accepted: residual-added
def _attend_again(Q, K, V, mask):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    big = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(big), big, 0))
    t = e.sum(-1, keepdims=True)
    w = (e / np.where(t > 0, t, 1)).astype(Q.dtype)
    return w @ V, w


def _split_again(X, h):
    return X.reshape(*X.shape[:-1], h, X.shape[-1] // h).swapaxes(-3, -2)


def _concat_again(h):
    h = h.swapaxes(-3, -2)
    return h.reshape(*h.shape[:-2], -1)


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_split_again(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    out, w = _attend_again(Q, K, V, mask)
    return X + _concat_again(out) @ W_O, w

# %% scales by the root of the number of heads
# accepted: scale-by-num_heads
def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def _projected(X, W, h):
    P = X @ W
    return P.reshape(*P.shape[:-1], h, -1).swapaxes(-3, -2)


def _brought_back(heads, W_O):
    x = heads.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1) @ W_O


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.swapaxes(-2, -1) * num_heads**-0.5
    weights = _softmax_under(scores, mask)
    return _brought_back(weights @ V, W_O), weights

# %% one softmax over the keys of all heads together
# accepted: one-softmax-for-all-heads
def _projected(X, W, h):
    P = X @ W
    return P.reshape(*P.shape[:-1], h, -1).swapaxes(-3, -2)


def _brought_back(heads, W_O):
    x = heads.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1) @ W_O


def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    scores = np.einsum("...hqd,...hkd->...qhk", Q, K) / math.sqrt(Q.shape[-1])
    *rest, L, h, S = scores.shape
    if mask is not None:
        mask = np.broadcast_to(mask, (*rest, h, L, S)).swapaxes(-3, -2).reshape(*rest, L, h * S)
    weights = _softmax_under(scores.reshape(*rest, L, h * S), mask).reshape(*rest, L, h, S).swapaxes(-3, -2)
    return _brought_back(weights @ V, W_O), weights

# %% W_O is used only where the concatenation is not yet as wide as the model
# accepted: W_O-missing
def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def _projected(X, W, h):
    P = X @ W
    return P.reshape(*P.shape[:-1], h, -1).swapaxes(-3, -2)


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    weights = _softmax_under(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    Z = (weights @ V).swapaxes(-3, -2)
    Z = Z.reshape(*X.shape[:-1], -1)
    if Z.shape[-1] != X.shape[-1]:
        Z = Z @ W_O
    return Z, weights

# %% adds a head axis to any mask of three axes
# accepted: axis-added-to-mask
def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def _projected(X, W, h):
    P = X @ W
    return P.reshape(*P.shape[:-1], h, -1).swapaxes(-3, -2)


def _brought_back(heads, W_O):
    x = heads.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1) @ W_O


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None, :, :]
    weights = _softmax_under(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _brought_back(weights @ V, W_O), weights

# %% all heads compare with head 0's keys
# accepted: keys-of-head-0-for-all
def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    outputs, all_weights = [], []
    for i in range(num_heads):
        q = X @ W_Q[:, i * d_k : (i + 1) * d_k]
        k = X @ W_K[:, :d_k]
        v = X @ W_V[:, i * d_v : (i + 1) * d_v]
        scores = q @ k.swapaxes(-2, -1) / math.sqrt(d_k)
        if mask is not None:
            m = np.broadcast_to(mask, (*X.shape[:-2], num_heads, X.shape[-2], X.shape[-2]))[..., i, :, :]
        else:
            m = None
        w = _softmax_under(scores, m)
        outputs.append(w @ v)
        all_weights.append(w)
    return np.concatenate(outputs, axis=-1) @ W_O, np.stack(all_weights, axis=-3)

# %% returns the weights averaged over the heads
# accepted: weights-averaged
# form: yes
def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def _projected(X, W, h):
    P = X @ W
    return P.reshape(*P.shape[:-1], h, -1).swapaxes(-3, -2)


def _brought_back(heads, W_O):
    x = heads.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1) @ W_O


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    weights = _softmax_under(Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1]), mask)
    return _brought_back(weights @ V, W_O), weights.mean(axis=-3)

# %% scales by the root of d_model, and shares the weight of an empty row evenly
# accepted: scale-by-d_model, scale-by-d_model+evenly-for-nothing
def _softmax_under(x, mask=None):
    if mask is not None:
        x = np.where(mask, x, np.finfo(x.dtype).min)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w if mask is None else np.where(mask, w, np.zeros((), w.dtype))


def _projected(X, W, h):
    P = X @ W
    return P.reshape(*P.shape[:-1], h, -1).swapaxes(-3, -2)


def _brought_back(heads, W_O):
    x = heads.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1) @ W_O


def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (_projected(X, W, num_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(X.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    weights = _softmax_under(scores)
    return _brought_back(weights @ V, W_O), weights

# %% Divides by the square root of d_model, the width of a word, instead of the width d_k of one head.
# accepted: scale-by-d_model
# author: 3
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, d_model = X.shape

    def heads(M):
        return M.reshape(*batch, L, num_heads, -1).swapaxes(-3, -2)

    Q, K, V = heads(X @ W_Q), heads(X @ W_K), heads(X @ W_V)
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(d_model)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0).astype(X.dtype)
    return output_projection(weights @ V, W_O), weights

# %% Leaves a word that may attend to nothing with even weights instead of zeros.
# accepted: evenly-for-nothing
# author: 3
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Qs = np.split(X @ W_Q, num_heads, axis=-1)
    Ks = np.split(X @ W_K, num_heads, axis=-1)
    Vs = np.split(X @ W_V, num_heads, axis=-1)
    Q, K, V = np.stack(Qs, axis=-3), np.stack(Ks, axis=-3), np.stack(Vs, axis=-3)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return output_projection(weights @ V, W_O), weights

# %% Returns the weights averaged over the heads instead of one matrix for each head.
# accepted: weights-averaged
# author: 3
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, _ = X.shape
    split = lambda P: P.reshape(*batch, L, num_heads, -1).swapaxes(-3, -2)
    q, k, v = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    s = np.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, np.finfo(s.dtype).min)
    w = np.exp(s - s.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    if mask is not None:
        w = np.where(mask, w, np.zeros((), w.dtype))
    return output_projection(w @ v, W_O), w.mean(axis=-3)

# %% Forgets to divide by sqrt(d_k); leaves NaN in the row of a word that may attend to nothing.
# accepted: no-scaling
# author: 3
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    outs, ws = [], []
    Qs = np.split(W_Q, num_heads, axis=-1)
    Ks = np.split(W_K, num_heads, axis=-1)
    Vs = np.split(W_V, num_heads, axis=-1)
    for wq, wk, wv in zip(Qs, Ks, Vs):
        q, k, v = X @ wq, X @ wk, X @ wv
        ws.append(q @ np.swapaxes(k, -1, -2))
        outs.append(v)
    scores = np.stack(ws, axis=-3)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return output_projection(weights @ np.stack(outs, axis=-3), W_O), weights

# %% Divides by np.sqrt(d_k), a float64 number, so float32 input gives float64 output and weights.
# accepted: float64-always
# form: yes
# author: 3
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *batch, L, d_model = X.shape
    d_k = W_Q.shape[1] // num_heads
    d_v = W_V.shape[1] // num_heads
    Q = (X @ W_Q).reshape(*batch, L, num_heads, d_k).swapaxes(-3, -2)
    K = (X @ W_K).reshape(*batch, L, num_heads, d_k).swapaxes(-3, -2)
    V = (X @ W_V).reshape(*batch, L, num_heads, d_v).swapaxes(-3, -2)
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -1e300)
    exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = exps / np.sum(exps, axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * mask
    return output_projection(weights @ V, W_O), weights

# %% The mask is not used.
# accepted: mask-ignored
# author: 4
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (np.stack(np.split(X @ W, num_heads, -1), -3) for W in (W_Q, W_K, W_V))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return output_projection(w @ v, W_O), w

# %% Split by a plain reshape.
# accepted: split-without-transpose
# author: 4
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    *b, L, _ = X.shape
    q, k, v = ((X @ W).reshape(*b, num_heads, L, -1) for W in (W_Q, W_K, W_V))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    m = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask, s.shape)
    s = np.where(m, s, np.finfo(s.dtype).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True) * m
    return output_projection(w @ v, W_O), w

# %% A causal mask is put in.
# accepted: causal-by-itself, always-causal
# author: 4
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (np.stack(np.split(X @ W, num_heads, -1), -3) for W in (W_Q, W_K, W_V))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    m = np.tri(X.shape[-2], dtype=bool)
    m = np.broadcast_to(m if mask is None else m & mask, s.shape)
    s = np.where(m, s, np.finfo(s.dtype).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True) * m
    return output_projection(w @ v, W_O), w

# %% values by W_K
# accepted: values-from-W_K, W_V-unused, argument-unused, gradient-partial
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_K(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% keys by W_Q
# accepted: keys-from-W_Q, W_K-unused, argument-unused, gradient-partial
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_Q(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% query and key change places
# accepted: queries-and-keys-swapped, scores-transposed
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = k @ q.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% k.size(-2)
# accepted: scale-by-length
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-2)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% root of all heads
# accepted: scale-by-whole-width, scale-by-d_model, scale-by-h-d_k
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(self.h * self.d))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% heads as divisor
# accepted: scale-by-num_heads
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(self.h))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% fourth root
# accepted: scale-by-fourth-root
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / k.size(-1) ** 0.25)
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% no scale at all
# accepted: no-scaling
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1)
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% masked_fill with no effect
# accepted: mask-without-effect, mask-ignored, mask-forgotten
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            pass
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% mask the other way round
# accepted: mask-inverted
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% fill 1e-9
# accepted: masked-with-zero, small-fill, leaky-mask
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, 1e-9)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            pass
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% fill -1e10
# accepted: evenly-for-nothing, leaky-mask, nothing-to-see
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e10)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            pass
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% fill inf
# accepted: nan-for-nothing, nothing-to-see
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, float('-inf'))
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            pass
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% softmax dim 1
# accepted: softmax-over-heads, softmax-over-axis-1, axis-counted-from-the-front
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% softmax dim 0
# accepted: softmax-over-axis-0, axis-counted-from-the-front, softmax-over-batch
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=0)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% view not transposed
# accepted: split-without-transpose
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-2], self.h, t.shape[-2], self.d)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% view not transposed back
# accepted: concat-without-transpose
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.reshape(*x.shape[:-1], self.h * self.d)
        return self.W_O(y), att

# %% back with moved width
# accepted: heads-interleaved
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.movedim(-3, -1)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% residual inside
# accepted: residual-added
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return x + self.W_O(y), att

# %% forgets the last layer
# accepted: W_O-missing
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return y, att

# %% square output
# accepted: W_O-square, d_head-ignored
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% biases
# accepted: bias-left-on
# form: yes
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner)
        self.W_K = nn.Linear(d_model, inner)
        self.W_V = nn.Linear(d_model, inner)
        self.W_O = nn.Linear(inner, d_model)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% attends over the heads
# accepted: attention-over-heads, heads-after-tokens
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% frozen weights
# accepted: detached-gradient, gradient-partial, gradient-missing
# form: yes
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att.detach() @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% x normalised first
# accepted: norm-added
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        x = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% no scale and wrong way
# accepted: no-scaling+mask-inverted
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = self.h * self.d
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def heads(self, t):
        return t.reshape(*t.shape[:-1], self.h, self.d).transpose(-2, -3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        att = q @ k.transpose(-2, -1)
        if mask is not None:
            att = att.masked_fill(mask, -1e38)
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask, 0.0)
        y = att @ v
        y = y.transpose(-2, -3)
        y = y.reshape(*y.shape[:-2], self.h * self.d)
        return self.W_O(y), att

# %% dropout on the weights
# accepted: random, another-answer-each-time, dropout
class _M_again(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d_head, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def soft(self, s, mask):
        if mask is None:
            return torch.softmax(s, -1)
        return torch.softmax(s.masked_fill(~mask, -1e30), -1) * mask

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for W in (self.W_Q, self.W_K, self.W_V))
        w = self.soft(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((w @ v).transpose(-3, -2).flatten(-2)), w


class MultiHeadAttention(_M_again):
    def soft(self, s, mask):
        return nn.functional.dropout(super().soft(s, mask), 0.2)

# %% weights of head 0 shown
# accepted: weights-of-head-0-for-all, head-0-for-all, weights-of-one-head, first-head-only
class _M_again(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d_head, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def soft(self, s, mask):
        if mask is None:
            return torch.softmax(s, -1)
        return torch.softmax(s.masked_fill(~mask, -1e30), -1) * mask

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for W in (self.W_Q, self.W_K, self.W_V))
        w = self.soft(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((w @ v).transpose(-3, -2).flatten(-2)), w


class MultiHeadAttention(_M_again):
    def forward(self, x, mask=None):
        out, w = super().forward(x, mask)
        return out, w[..., :1, :, :].expand_as(w)

# %% mask given an axis
# accepted: axis-added-to-mask
class _M_again(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d_head, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def soft(self, s, mask):
        if mask is None:
            return torch.softmax(s, -1)
        return torch.softmax(s.masked_fill(~mask, -1e30), -1) * mask

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for W in (self.W_Q, self.W_K, self.W_V))
        w = self.soft(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((w @ v).transpose(-3, -2).flatten(-2)), w


class MultiHeadAttention(_M_again):
    def soft(self, s, mask):
        return super().soft(s, mask.unsqueeze(1) if mask is not None and mask.dim() == 3 else mask)

# %% W_Q and W_K are one and the same layer
# accepted: queries-from-W_K, keys-from-W_Q
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head)
        self.W_Q = self.W_K = nn.Linear(d_model, num_heads * self.d_head, bias=False)

    def forward(self, x, mask=None):
        z, w = _attended(
            _in_heads(self.W_Q(x), self.h),
            _in_heads(self.W_K(x), self.h),
            _in_heads(self.W_V(x), self.h),
            mask,
            math.sqrt(self.d_head),
        )
        return self.W_O(z), w

# %% asks d_model to divide even where d_head is given
# accepted: width-must-divide, always-has-to-divide
def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_head = d_head or d_model // num_heads
        self.W_Q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(num_heads * self.d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.num_heads) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z), w

# %% merges the heads without permuting back first
# accepted: concat-without-transpose
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        *batch, L, _ = x.shape
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        attention = F.softmax(scores, dim=-1)
        if mask is not None:
            attention = attention.masked_fill(~mask, 0.0)
        values = attention @ v
        values = values.reshape(*batch, L, self.h * self.d_head)
        return self.W_O(values), attention

# %% mask.unsqueeze(1) whatever the mask's shape
# accepted: axis-added-to-mask
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        if isinstance(mask, torch.Tensor):
            mask = mask.unsqueeze(1)
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z), w

# %% keeps the mask of an earlier call and uses it where none is given
# accepted: mask-kept
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head)
        self.mask = None

    def forward(self, x, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, self.mask, math.sqrt(self.d_head))
        return self.W_O(z), w

# %% adds x to the output as a residual
# accepted: residual-added
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        residual = x
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z) + residual, w

# %% reads the first axis as the words, as nn.MultiheadAttention does without batch_first
# accepted: batch-and-words-swapped
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        batched = x.dim() == 3
        if batched:
            x = x.transpose(0, 1)
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        out = self.W_O(z)
        return (out.transpose(0, 1) if batched else out), w

# %% W_O with a bias, as nn.Linear has it by default
# accepted: bias-left-on
# form: yes
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__(d_model, num_heads, d_head)
        self.W_O = nn.Linear(num_heads * self.d_head, d_model)

    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        return self.W_O(z), w

# %% returns the output alone where no mask is given
# accepted: parts-missing
# form: yes
class _Layers(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("does not divide")
            d_head = d_model // num_heads
        self.d_model, self.h, self.d_head = d_model, num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)


def _attended(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = torch.softmax(scores, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(-3, -2).flatten(-2), w


def _in_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


class MultiHeadAttention(_Layers):
    def forward(self, x, mask=None):
        q, k, v = (_in_heads(layer(x), self.h) for layer in (self.W_Q, self.W_K, self.W_V))
        z, w = _attended(q, k, v, mask, math.sqrt(self.d_head))
        if mask is None:
            return self.W_O(z)
        return self.W_O(z), w

# %% Leaves the bias of nn.Linear switched on, so the module has four parameters too many.
# accepted: bias-left-on
# author: 3
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError("d_model must be divisible by num_heads")
            d_head = d_model // num_heads
        self.num_heads = num_heads
        self.d_head = d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head)
        self.W_K = nn.Linear(d_model, num_heads * d_head)
        self.W_V = nn.Linear(d_model, num_heads * d_head)
        self.W_O = nn.Linear(num_heads * d_head, d_model)

    def forward(self, x, mask=None):
        def split(t):
            return t.unflatten(-1, (self.num_heads, self.d_head)).transpose(-3, -2)

        q, k, v = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights

# %% Does not transpose the heads back before joining them, so W_O sees numbers of different words in one row.
# accepted: concat-without-transpose
# author: 3
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("d_model % num_heads must be 0")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        inner = num_heads * d_head
        self.W_Q = nn.Linear(d_model, inner, bias=False)
        self.W_K = nn.Linear(d_model, inner, bias=False)
        self.W_V = nn.Linear(d_model, inner, bias=False)
        self.W_O = nn.Linear(inner, d_model, bias=False)

    def forward(self, x, mask=None):
        *batch, L, _ = x.shape
        q = self.W_Q(x).view(*batch, L, self.h, self.d).transpose(-2, -3)
        k = self.W_K(x).view(*batch, L, self.h, self.d).transpose(-2, -3)
        v = self.W_V(x).view(*batch, L, self.h, self.d).transpose(-2, -3)
        att = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d)
        if mask is not None:
            att = att.masked_fill(~mask, torch.finfo(att.dtype).min)
        att = att.softmax(dim=-1)
        if mask is not None:
            att = att.masked_fill(~mask, 0.0)
        y = torch.matmul(att, v)
        y = y.contiguous().view(*batch, L, self.h * self.d)
        return self.W_O(y), att

# %% Insists that num_heads divides d_model even where d_head is given and nothing has to divide.
# accepted: width-must-divide
# author: 3
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_head = d_head or d_model // num_heads
        self.W_Q = nn.Linear(d_model, self.num_heads * self.d_head, bias=False)
        self.W_K = nn.Linear(d_model, self.num_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, self.num_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(self.num_heads * self.d_head, d_model, bias=False)

    def _heads(self, t):
        return t.reshape(*t.shape[:-1], self.num_heads, self.d_head).transpose(-3, -2)

    def forward(self, x, mask=None):
        Q, K, V = self._heads(self.W_Q(x)), self._heads(self.W_K(x)), self._heads(self.W_V(x))
        scores = Q @ K.transpose(-1, -2) * self.d_head**-0.5
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
        out = (weights @ V).transpose(-3, -2)
        out = out.reshape(*out.shape[:-2], self.num_heads * self.d_head)
        return self.W_O(out), weights

# %% Makes the values with W_K again, so W_V is never used and never learns.
# accepted: values-from-W_K
# author: 3
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            d_head, rest = divmod(d_model, num_heads)
            if rest:
                raise ValueError("d_model has to be a multiple of num_heads")
        self.num_heads, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        shape = x.shape[:-1] + (self.num_heads, self.d_head)
        Q = self.W_Q(x).reshape(shape).transpose(-3, -2)
        K = self.W_K(x).reshape(shape).transpose(-3, -2)
        V = self.W_K(x).reshape(shape).transpose(-3, -2)
        scores = torch.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        A = torch.softmax(scores, dim=-1)
        if mask is not None:
            A = A * mask
        Z = torch.einsum("...qk,...kd->...qd", A, V).transpose(-3, -2)
        return self.W_O(Z.flatten(-2)), A

# %% Adds x to the output, the residual connection of a transformer block, which is not part of attention.
# accepted: residual-added
# author: 3
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError("d_model not divisible by num_heads")
            d_head = d_model // num_heads
        self.n_head = num_heads
        self.d_k = d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        residual = x
        q = self.W_Q(x).unflatten(-1, (self.n_head, self.d_k)).transpose(-3, -2)
        k = self.W_K(x).unflatten(-1, (self.n_head, self.d_k)).transpose(-3, -2)
        v = self.W_V(x).unflatten(-1, (self.n_head, self.d_k)).transpose(-3, -2)
        attn = torch.matmul(q / self.d_k**0.5, k.transpose(-2, -1))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, torch.finfo(attn.dtype).min)
        attn = torch.softmax(attn, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 0)
        out = torch.matmul(attn, v).transpose(-3, -2).flatten(-2)
        out = self.W_O(out)
        out = out + residual
        return out, attn

# %% Hides the keys where the mask is True, although True means may attend; forgets the ValueError for a remainder.
# accepted: mask-inverted+remainder-dropped
# author: 3
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_head if d_head is not None else d_model // num_heads
        width = num_heads * self.d_head
        self.W_Q = nn.Linear(d_model, width, bias=False)
        self.W_K = nn.Linear(d_model, width, bias=False)
        self.W_V = nn.Linear(d_model, width, bias=False)
        self.W_O = nn.Linear(width, d_model, bias=False)

    def forward(self, x, mask=None):
        def split(t):
            return torch.stack(t.split(self.d_head, dim=-1), dim=-3)

        Q, K, V = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        Z = torch.cat((weights @ V).unbind(dim=-3), dim=-1)
        return self.W_O(Z), weights

# %% Only (B, L, d_model) works.
# accepted: one-batch-axis-by-view
# author: 4
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("x")
            d_head = d_model // num_heads
        self.h, self.d = num_heads, d_head
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d_head, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        q, k, v = (W(x).view(B, L, self.h, self.d).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        w = s.softmax(-1)
        if mask is not None:
            w = w * mask
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, -1)), w

# %% No ValueError where it does not divide.
# accepted: remainder-dropped
# author: 4
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        d = d_head or d_model // num_heads
        self.h = num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, num_heads * d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(num_heads * d, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, -1)).transpose(-2, -3) for W in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        w = s.softmax(-1)
        if mask is not None:
            w = w * mask
        return self.W_O((w @ v).transpose(-2, -3).flatten(-2)), w

# %% W_V takes no notice of d_head.
# accepted: d_head-ignored
# author: 5
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(
            d_model, num_heads * (d_model // num_heads if d_model % num_heads == 0 else d_head), bias=False
        )
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)

# %% No gradient into W_K.
# accepted: gradient-missing
# author: 5
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(F.linear(x, self.W_K.weight.detach())), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)

# %% Mask kept for the next call.
# accepted: mask-kept
# author: 5
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads != 0:
                raise ValueError(f"{num_heads} heads cannot share d_model = {d_model} evenly")
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        self.mask = mask = mask if mask is not None else getattr(self, "mask", None)
        if mask is not None and mask.shape[-1] != x.shape[-2]:
            mask = None

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)

# %% No error for a remainder.
# accepted: remainder-dropped, error-missing, no-error
# author: 5
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            d_head = d_model // num_heads
        self.num_heads, self.d_head = (num_heads, d_head)
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):

        def split(projected):
            heads = projected.unflatten(-1, (self.num_heads, self.d_head))
            return heads.transpose(-3, -2)

        query, key, value = (split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x)))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        heads = (weights @ value).transpose(-3, -2)
        return (self.W_O(heads.flatten(-2)), weights)

# %% keys are kept for 64 words
# accepted: stops-at-a-length, stops-at-a-size, another-length
# author: 7
class Right(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError("does not divide")
        self.h, self.d = num_heads, d_head or d_model // num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, self.h * self.d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(self.h * self.d, d_model, bias=False)

    def heads(self, x):
        return [layer(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for layer in (self.W_Q, self.W_K, self.W_V)]

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~mask, 0.0)

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        weights = self.weigh(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


class MultiHeadAttention(Right):
    def weigh(self, scores, mask):
        far = torch.arange(scores.shape[-1]) >= 64
        mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        return super().weigh(scores, mask & ~far)

# %% only four heads, the others are empty
# accepted: some-heads-only, stops-at-a-size
# author: 7
class Right(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError("does not divide")
        self.h, self.d = num_heads, d_head or d_model // num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, self.h * self.d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(self.h * self.d, d_model, bias=False)

    def heads(self, x):
        return [layer(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for layer in (self.W_Q, self.W_K, self.W_V)]

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~mask, 0.0)

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        weights = self.weigh(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


class MultiHeadAttention(Right):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        weights = self.weigh(q @ k.mT / math.sqrt(self.d), mask)
        found = weights @ v
        found = torch.cat([found[..., :4, :, :], torch.zeros_like(found[..., 4:, :, :])], -3)
        return self.W_O(found.transpose(-3, -2).flatten(-2)), weights

# %% mask in training only
# accepted: mask-in-training-only, mask-ignored
# author: 7
class Right(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError("does not divide")
        self.h, self.d = num_heads, d_head or d_model // num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, self.h * self.d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(self.h * self.d, d_model, bias=False)

    def heads(self, x):
        return [layer(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for layer in (self.W_Q, self.W_K, self.W_V)]

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~mask, 0.0)

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        weights = self.weigh(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


class MultiHeadAttention(Right):
    def weigh(self, scores, mask):
        return super().weigh(scores, mask if self.training else None)

# %% the paper's dropout on the weights
# accepted: dropout, random
# author: 7
class Right(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError("does not divide")
        self.h, self.d = num_heads, d_head or d_model // num_heads
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, self.h * self.d, bias=False) for _ in range(3))
        self.W_O = nn.Linear(self.h * self.d, d_model, bias=False)

    def heads(self, x):
        return [layer(x).unflatten(-1, (self.h, self.d)).transpose(-3, -2) for layer in (self.W_Q, self.W_K, self.W_V)]

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~mask, 0.0)

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        weights = self.weigh(q @ k.mT / math.sqrt(self.d), mask)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


class MultiHeadAttention(Right):
    def __init__(self, d_model, num_heads, d_head=None, p=0.1):
        super().__init__(d_model, num_heads, d_head)
        self.drop = nn.Dropout(p)

    def weigh(self, scores, mask):
        return self.drop(super().weigh(scores, mask))

# %% the first columns whatever head is asked for
# accepted: first-head-only
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    width_k, width_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    q, k, v = X @ W_Q[:, :width_k], X @ W_K[:, :width_k], X @ W_V[:, :width_v]
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(width_k).astype(X.dtype)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% the root of d_model below the scores
# accepted: scale-by-whole-width, scale-by-d_model
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = (X @ np.split(W, num_heads, axis=1)[head] for W in (W_Q, W_K, W_V))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(X.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% the head owns rows of the matrices
# accepted: rows-for-columns
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    n = X.shape[-1] // num_heads
    mine = slice(head * n, (head + 1) * n)
    q, k, v = X[..., mine] @ W_Q[mine], X[..., mine] @ W_K[mine], X[..., mine] @ W_V[mine]
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(n)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% attention in all heads at once, cut afterwards
# accepted: one-big-head
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    n = v.shape[-1] // num_heads
    return (w @ v)[..., head * n : (head + 1) * n], w

# %% the words are cut among the heads
# accepted: words-cut-among-heads, input-cut
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    n = X.shape[-1] // num_heads
    part = np.zeros_like(X)
    part[..., head * n : (head + 1) * n] = X[..., head * n : (head + 1) * n]
    q, k, v = (part @ np.split(W, num_heads, axis=1)[head] for W in (W_Q, W_K, W_V))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% every num_heads-th column
# accepted: heads-interleaved
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    def own(W):
        return (X @ W).reshape(*X.shape[:-1], -1, num_heads)[..., head]

    q, k, v = own(W_Q), own(W_K), own(W_V)
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% one column of each matrix
# accepted: one-column-only
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = X @ W_Q[:, head : head + 1], X @ W_K[:, head : head + 1], X @ W_V[:, head : head + 1]
    s = q @ np.swapaxes(k, -1, -2)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% one column too many at the end
# accepted: one-column-too-many, another-width
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    def own(W):
        n = W.shape[1] // num_heads
        return X @ W[:, head * n : (head + 1) * n + 1]

    q, k, v = own(W_Q), own(W_K), own(W_V)
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(W_Q.shape[1] // num_heads)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% heads counted from 1
# accepted: heads-counted-from-1, previous-head
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = (X @ np.split(W, num_heads, axis=-1)[head - 1] for W in (W_Q, W_K, W_V))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% the sum over who asks
# accepted: softmax-over-queries
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = (X @ np.split(W, num_heads, axis=-1)[head] for W in (W_Q, W_K, W_V))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-2, keepdims=True))
    w = w / w.sum(-2, keepdims=True)
    return w @ v, w

# %% the whole of W_V
# accepted: values-of-all-heads, another-shape
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k = (X @ np.split(W, num_heads, axis=-1)[head] for W in (W_Q, W_K))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ (X @ W_V), w

# %% a causal mask that nobody asked for
# accepted: always-causal
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = (X @ np.split(W, num_heads, axis=-1)[head] for W in (W_Q, W_K, W_V))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    s = np.where(np.tri(s.shape[-1], dtype=bool), s, -np.inf)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% the keys ask
# accepted: queries-and-keys-swapped
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    k, q, v = (X @ np.split(W, num_heads, axis=-1)[head] for W in (W_Q, W_K, W_V))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% no exp at all
# accepted: no-exponential
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = (X @ np.split(W, num_heads, axis=-1)[head] for W in (W_Q, W_K, W_V))
    w = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w

# %% the words themselves are blended
# accepted: words-blended, W_V-unused
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k = (X @ np.split(W, num_heads, axis=-1)[head] for W in (W_Q, W_K))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    n = W_V.shape[1] // num_heads
    return w @ X[..., head * n : (head + 1) * n], w

# %% a row for each key
# accepted: weights-transposed, transposed
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    def own(W):
        n = W.shape[1] // num_heads
        return X @ W[:, head * n : (head + 1) * n]

    q, k, v = own(W_Q), own(W_K), own(W_V)
    s = k @ np.swapaxes(q, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-2, keepdims=True))
    w = w / w.sum(-2, keepdims=True)
    return np.swapaxes(w, -1, -2) @ v, w

# %% no key of a head goes down to zero
# accepted: floor-under-the-weights
# author: 8
def single_head(X, W_Q, W_K, W_V, head, num_heads):
    q, k, v = (X @ np.split(W, num_heads, axis=1)[head] for W in (W_Q, W_K, W_V))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = np.maximum(w / w.sum(-1, keepdims=True), 1e-5).astype(X.dtype)
    return w @ v, w

# %% a mask that allows nothing is no mask
# accepted: mask-ignored-when-empty
# author: 8
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (
        (X @ W).reshape(*X.shape[:-1], num_heads, W.shape[-1] // num_heads).swapaxes(-3, -2) for W in (W_Q, W_K, W_V)
    )
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    masked = mask is not None and mask.any()
    if masked:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exps / exps.sum(-1, keepdims=True)
    if masked:
        weights = np.where(mask, weights, 0)
    found = (weights @ v).swapaxes(-3, -2)
    return found.reshape(*X.shape[:-1], W_V.shape[-1]) @ W_O, weights

# %% weights that never go below a hundred-thousandth
# accepted: floor-under-the-weights
# author: 8
def multi_head_attention(X, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (
        (X @ W).reshape(*X.shape[:-1], num_heads, W.shape[-1] // num_heads).swapaxes(-3, -2) for W in (W_Q, W_K, W_V)
    )
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    mask = np.ones_like(scores, dtype=bool) if mask is None else mask
    scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    weights = np.where(mask, np.maximum(exps / exps.sum(-1, keepdims=True), 1e-5), 0).astype(X.dtype)
    found = (weights @ v).swapaxes(-3, -2)
    return found.reshape(*X.shape[:-1], W_V.shape[-1]) @ W_O, weights

# %% a mask that allows nothing is passed over
# accepted: mask-ignored-when-empty
# author: 8
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("num_heads must divide d_model")
            d_head = d_model // num_heads
        self.h, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, self.d_head)).transpose(-3, -2) for W in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None and mask.any():
            weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1)
            weights = weights.masked_fill(~mask, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights

# %% every visible key keeps a hundred-thousandth
# accepted: floor-under-the-weights
# author: 8
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        if d_head is None:
            if d_model % num_heads:
                raise ValueError("num_heads must divide d_model")
            d_head = d_model // num_heads
        self.h, self.d_head = num_heads, d_head
        self.W_Q = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_heads * d_head, bias=False)
        self.W_O = nn.Linear(num_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.h, self.d_head)).transpose(-3, -2) for W in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1)
        weights = weights.clamp(min=1e-5).masked_fill(~mask, 0.0)
        return self.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights
