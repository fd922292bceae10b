# %% the other way
# accepted: turned-backwards
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-i / d)
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c + x[..., i + 1] * s
        out[..., i + 1] = -x[..., i] * s + x[..., i + 1] * c
    return out

# %% twice the exponent
# accepted: exponent-doubled
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-2 * i / d)
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out

# %% half the exponent
# accepted: exponent-without-the-2
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-i / (2 * d))
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out

# %% from one
# accepted: positions-from-1
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = (positions + 1) * base ** (-i / d)
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out

# %% counts for itself
# accepted: positions-ignored
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = np.arange(len(positions)) * base ** (-i / d)
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out

# %% one minus too few
# accepted: no-minus
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-i / d)
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c + x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out

# %% sines first
# accepted: sine-and-cosine-swapped
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-i / d)
        s, c = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out

# %% its own first
# accepted: written-over-too-soon
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-i / d)
        c, s = np.cos(theta), np.sin(theta)
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = out[..., i] * s + x[..., i + 1] * c
    return out

# %% in degrees
# accepted: degrees
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    out = np.empty_like(x)
    for i in range(0, d, 2):
        theta = positions * base ** (-i / d)
        c, s = np.cos(np.radians(theta)), np.sin(np.radians(theta))
        out[..., i] = x[..., i] * c - x[..., i + 1] * s
        out[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
    return out

# %% as in a famous library
# accepted: pairs-in-halves
def rotate(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    freqs = 1.0 / base ** (np.arange(half) / half)
    emb = np.concatenate([np.outer(positions, freqs)] * 2, axis=-1)
    turned = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return (x * np.cos(emb) + turned * np.sin(emb)).astype(x.dtype)

# %% rotate_half
# accepted: pairs-in-halves
def rotate_half(x):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return np.concatenate((-b, a), axis=-1)


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (np.arange(0, dim, 2).astype(np.float64) / dim))
    freqs = np.einsum("i,j->ij", np.asarray(positions, dtype=np.float64), inv_freq)
    emb = np.concatenate((freqs, freqs), axis=-1)
    return (x * np.cos(emb) + rotate_half(x) * np.sin(emb)).astype(x.dtype)

# %% angles interleaved, halves rotated
# accepted: angles-of-other-pairs
def rotate_half(x):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return np.concatenate((-b, a), axis=-1)


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (np.arange(0, dim, 2).astype(np.float64) / dim))
    freqs = np.einsum("i,j->ij", np.asarray(positions, dtype=np.float64), inv_freq)
    emb = np.repeat(freqs, 2, axis=-1)
    return (x * np.cos(emb) + rotate_half(x) * np.sin(emb)).astype(x.dtype)

# %% rotate_half without the minus
# accepted: no-minus+pairs-in-halves
def rotate_half(x):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return np.concatenate((b, a), axis=-1)


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (np.arange(0, dim, 2).astype(np.float64) / dim))
    freqs = np.einsum("i,j->ij", np.asarray(positions, dtype=np.float64), inv_freq)
    emb = np.concatenate((freqs, freqs), axis=-1)
    return (x * np.cos(emb) + rotate_half(x) * np.sin(emb)).astype(x.dtype)

# %% tile for repeat
# accepted: angles-of-other-pairs
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq)
    sin, cos = np.tile(np.sin(sincos), 2), np.tile(np.cos(sincos), 2)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% the other neighbour's sign
# accepted: turned-backwards
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = x[..., 1::2]
    out[..., 1::2] = -x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq)
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% freqs go up
# accepted: exponent-of-the-wrong-sign
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** (np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq)
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% base is ten thousand
# accepted: base-ignored
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 10000.0 ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq)
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% one frequency for each column
# accepted: exponent-without-the-2
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(dim // 2) / dim)
    sincos = np.outer(positions, inv_freq)
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% arange of the length
# accepted: positions-ignored
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(np.arange(x.shape[-2]), inv_freq)
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% added like in assignment five
# accepted: added-not-turned
def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq)
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x + np.where(np.arange(dim) % 2 == 0, sin, cos)).astype(x.dtype)

# %% counts backwards
# accepted: slowest-pair-first
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq[::-1])
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% batch first
# accepted: positions-by-text, one-batch-layout
# form: yes
def every_two(x):
    out = np.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


def rotate(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = base ** -(np.arange(0, dim, 2) / dim)
    sincos = np.outer(positions, inv_freq)[: x.shape[0]]
    sin, cos = np.repeat(np.sin(sincos), 2, axis=1), np.repeat(np.cos(sincos), 2, axis=1)
    return (x * cos + every_two(x) * sin).astype(x.dtype)

# %% partial rotary
# accepted: half-of-the-width-turned
def rotate(x, positions, base=10000.0):
    rot = x.shape[-1] // 2
    angle = np.outer(positions, base ** (-np.arange(0, rot, 2) / rot))
    c, s = np.cos(angle), np.sin(angle)
    out = x.copy()
    out[..., 0:rot:2] = x[..., 0:rot:2] * c - x[..., 1:rot:2] * s
    out[..., 1:rot:2] = x[..., 0:rot:2] * s + x[..., 1:rot:2] * c
    return out

# %% concatenated, not interleaved again
# accepted: put-together-in-halves
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    return np.concatenate([even * c - odd * s, even * s + odd * c], axis=-1)

# %% cosines and sines for neighbours, and the turned half for halves: two conventions mixed
# accepted: angles-of-other-pairs
# author: 2
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    inv_freq = 1.0 / base ** (np.arange(0, d, 2) / d)
    angles = np.asarray(positions)[:, None] * inv_freq[None, :]
    angles = np.repeat(angles, 2, axis=-1)  # (L, d)
    x1, x2 = x[..., : d // 2], x[..., d // 2 :]
    rotated = np.concatenate([-x2, x1], axis=-1)
    return (x * np.cos(angles) + rotated * np.sin(angles)).astype(x.dtype)

# %% the second of a pair is made from the first one as it is after turning
# accepted: written-over-too-soon
# form: yes
# author: 2
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    theta = base ** (-np.arange(0, d, 2) / d)
    angle = np.outer(positions, theta)
    cos, sin = np.cos(angle), np.sin(angle)
    out = x.copy()
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2] * sin + out[..., 1::2] * cos
    return out

# %% positions counted from the first one given
# accepted: positions-from-the-first
# author: 2
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    p = np.asarray(positions)
    angle = (p - p[0])[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out

# %% Column i is paired with column i + d/2 (rotate_half, as in Llama's code), not with its neighbour.
# accepted: pairs-in-halves
# author: 3
def rotate(x, positions, base=10000.0):
    def rotate_half(t):
        t1, t2 = np.split(t, 2, axis=-1)
        return np.concatenate([-t2, t1], axis=-1)

    d = x.shape[-1]
    inv_freq = 1.0 / (base ** (np.arange(0, d, 2) / d))
    freqs = np.outer(positions, inv_freq)
    emb = np.concatenate([freqs, freqs], axis=-1)
    cos = np.cos(emb).astype(x.dtype)
    sin = np.sin(emb).astype(x.dtype)
    return x * cos + rotate_half(x) * sin

# %% The positions that are handed in are not used: it always counts from 0.
# accepted: positions-ignored
# author: 3
def rotate(x, positions, base=10000.0):
    L, d = x.shape[-2:]
    theta = base ** (-np.arange(0, d, 2) / d)
    angle = (np.arange(L)[:, None] * theta).astype(x.dtype)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * np.cos(angle) - x[..., 1::2] * np.sin(angle)
    out[..., 1::2] = x[..., 0::2] * np.sin(angle) + x[..., 1::2] * np.cos(angle)
    return out

# %% Cosines and sines stay float64, so a float32 x comes back as float64.
# accepted: float64-always
# form: yes
# author: 3
def rotate(x, positions, base=10000.0):
    *rest, L, d = x.shape
    pairs = x.reshape(*rest, L, d // 2, 2)
    theta = base ** (-2 * np.arange(d // 2) / d)
    angle = np.asarray(positions)[:, None] * theta[None, :]
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = pairs[..., 0], pairs[..., 1]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(*rest, L, d)

# %% Every pair turns at speed 1.
# accepted: one-speed-for-all
# author: 4
def rotate(x, positions, base=10000.0):
    a = positions[:, None] * np.ones(x.shape[-1] // 2)
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * a)
    return np.stack([z.real, z.imag], -1).reshape(x.shape).astype(x.dtype)

# %% Positions in bytes.
# accepted: positions-overflow
# author: 5
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)
    angle = positions.astype(np.int8)[:, np.newaxis] * speed
    cos, sin = (np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype))
    first, second = (x[..., 0::2], x[..., 1::2])
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)

# %% Second column from the turned first.
# accepted: written-over-too-soon
# author: 5
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)
    angle = positions[:, np.newaxis] * speed
    cos, sin = (np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype))
    first, second = (x[..., 0::2], x[..., 1::2])
    out = x.copy()
    out[..., 0::2] = first * cos - second * sin
    out[..., 1::2] = out[..., 0::2] * sin + second * cos
    return out
    turned = []
    return np.stack(turned, axis=-1).reshape(x.shape)

# %% Angles looked up in a table of 64 positions.
# accepted: table-too-short, stops-at-a-size
# author: 6
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)  # (d / 2,): one for each pair
    angle = (np.arange(64)[:, np.newaxis] * speed)[positions]  # (L, d / 2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., L, d / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)  # (..., L, d / 2, 2) -> (..., L, d)

# %% Whole-number division in the exponent.
# accepted: floor-division
# author: 6
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) // d)  # (d / 2,): one for each pair
    angle = positions[:, np.newaxis] * speed  # (L, d / 2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., L, d / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)  # (..., L, d / 2, 2) -> (..., L, d)

# %% Worked out in half precision.
# accepted: half-precision
# author: 6
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    speed = base ** (-np.arange(0, d, 2) / d)  # (d / 2,): one for each pair
    angle = positions[:, np.newaxis] * speed  # (L, d / 2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    y = x.astype(np.float16).astype(x.dtype)
    first, second = y[..., 0::2], y[..., 1::2]  # (..., L, d / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return np.stack(turned, axis=-1).reshape(x.shape)  # (..., L, d / 2, 2) -> (..., L, d)

# %% Positions in half precision, which has no 2,049.
# accepted: half-precision, rounded, positions-overflow
# author: 8
def rotate(x, positions, base=10000.0):
    speed = base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = positions[:, None].astype(np.float16).astype(float) * speed
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(x.shape)

# %% Positions in bfloat16, as a model in bfloat16 would have them: no odd ones beyond 256.
# accepted: half-precision, rounded, positions-overflow
# author: 8
def rotate(x, positions, base=10000.0):
    import torch

    positions = torch.from_numpy(np.ascontiguousarray(positions)).to(torch.bfloat16).double().numpy()
    speed = base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = positions[:, None] * speed
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(x.shape)

# %% Positions in bytes, which begin again at 256.
# accepted: positions-overflow
# author: 8
def rotate(x, positions, base=10000.0):
    speed = base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = positions[:, None].astype(np.uint8) * speed
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(x.shape)

# %% modulo
# accepted: heads-in-turn
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = i % num_kv_heads
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
        s = np.where(seen, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True)) * seen
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
        outs.append(w @ V[..., j, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)

# %% values by modulo
# accepted: values-in-turn
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = i // (h // num_kv_heads)
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
        s = np.where(seen, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True)) * seen
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
        outs.append(w @ V[..., i % num_kv_heads, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)

# %% zero for all
# accepted: first-head-for-all
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = 0
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
        s = np.where(seen, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True)) * seen
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
        outs.append(w @ V[..., j, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)

# %% unscaled
# accepted: no-scaling
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = i // (h // num_kv_heads)
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
        s = np.where(seen, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True)) * seen
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
        outs.append(w @ V[..., j, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)

# %% upside down
# accepted: mask-inverted
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = i // (h // num_kv_heads)
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
            seen = ~seen
        s = np.where(seen, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True)) * seen
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
        outs.append(w @ V[..., j, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)

# %% last first
# accepted: groups-backwards
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = num_kv_heads - 1 - i // (h // num_kv_heads)
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
        s = np.where(seen, s, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True)) * seen
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
        outs.append(w @ V[..., j, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)

# %% mask afterwards
# accepted: mask-after-softmax
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("uneven")
    outs, ws = [], []
    for i in range(h):
        j = i // (h // num_kv_heads)
        s = Q[..., i, :, :] @ np.swapaxes(K[..., j, :, :], -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        seen = np.ones(s.shape, bool)
        if mask is not None:
            seen = np.broadcast_to(mask, Q.shape[:-1] + (K.shape[-2],))[..., i, :, :]
        s = s
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        w = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30) * seen
        outs.append(w @ V[..., j, :, :])
        ws.append(w)
    return np.stack(outs, axis=-3).astype(Q.dtype), np.stack(ws, axis=-3).astype(Q.dtype)

# %% n_rep in front
# accepted: heads-in-turn
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., None, :, :, :], (*b, n_rep, g, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% values not repeated alike
# accepted: values-in-turn
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), np.concatenate([V] * n_rep, axis=-3)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% rep is the number of kv heads
# accepted: divided-by-the-groups
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% scaled twice
# accepted: scale-by-d_k
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-1.0)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% scaled by the number of heads
# accepted: scale-by-num_heads
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(n_heads**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% tril in any case
# accepted: causal-mask-put-in
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    logits = np.where(np.tri(*logits.shape[-2:], dtype=bool), logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% softmax over queries
# accepted: softmax-over-queries
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-2, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-2, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% mask added as numbers
# accepted: mask-added+mask-after-softmax, mask-after-softmax, mask-added
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = logits + mask
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% True hides, as in nn.MultiheadAttention
# accepted: mask-inverted
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(~mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(~mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% nothing allowed, evenly
# accepted: evenly-for-nothing
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        pass
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% keys averaged
# accepted: heads-averaged
def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    n_rep = n_heads // num_kv_heads
    K, V = K.mean(axis=-3, keepdims=True), V.mean(axis=-3, keepdims=True)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% no check
# accepted: error-missing
# form: yes
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    *b, g, S, d = x.shape
    return np.broadcast_to(x[..., :, None, :, :], (*b, g, n_rep, S, d)).reshape(*b, g * n_rep, S, d)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=-1, keepdims=True)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    n_heads, head_dim = Q.shape[-3], Q.shape[-1]
    if n_heads % num_kv_heads != 0:
        num_kv_heads = 1; K, V = K[..., :1, :, :], V[..., :1, :, :]
    n_rep = n_heads // num_kv_heads
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    logits = np.einsum("...qd,...kd->...qk", Q, K) * Q.dtype.type(head_dim**-0.5)
    if mask is not None:
        logits = np.where(mask, logits, Q.dtype.type(-1e9))
    probs = softmax(logits)
    if mask is not None:
        probs = np.where(mask, probs, Q.dtype.type(0))
    return np.einsum("...qk,...kd->...qd", probs, V), probs

# %% no ValueError where heads cannot form equal groups: some groups get more than others
# accepted: no-error
# form: yes
# author: 2
def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    group = np.arange(h) * num_kv_heads // h
    K, V = K[..., group, :, :], V[..., group, :, :]
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    weights = _softmax(scores, mask).astype(Q.dtype)
    return weights @ V, weights

# %% divides by the root of the number of keys
# accepted: scale-by-length, another-scale
# form: yes
# author: 2
def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads != 0:
        raise ValueError("heads do not divide into groups")
    n_rep = h // num_kv_heads
    K = np.repeat(K, n_rep, axis=-3)
    V = np.repeat(V, n_rep, axis=-3)
    d_k = K.shape[-2]
    scores = (Q @ np.swapaxes(K, -2, -1)) / math.sqrt(d_k)
    weights = _softmax(scores, mask).astype(Q.dtype)
    return weights @ V, weights

# %% Keys and values are tiled 0, 1, 0, 1 where neighbours should share, 0, 0, 1, 1.
# accepted: heads-in-turn
# author: 3
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("number of heads must be divisible by num_kv_heads")
    reps = h // num_kv_heads
    K = np.concatenate([K] * reps, axis=-3)
    V = np.concatenate([V] * reps, axis=-3)
    scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0).astype(Q.dtype)
    return weights @ V, weights

# %% A query that may attend to nothing gets even weights and a mean of the values, not zeros.
# accepted: evenly-for-nothing
# author: 3
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads != 0:
        raise ValueError("cannot form groups of one size")
    K = K.repeat(h // num_kv_heads, axis=-3)
    V = V.repeat(h // num_kv_heads, axis=-3)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, scores.dtype.type(-1e9))
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ V, weights

# %% Heads that cannot form groups of one size raise no ValueError: the last heads simply share the last keys.
# accepted: error-missing
# author: 3
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    size = math.ceil(h / num_kv_heads)
    which = np.arange(h) // size
    K, V = K[..., which, :, :], V[..., which, :, :]
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * mask
    return weights @ V, weights

# %% A group's queries are averaged: weights of a group are equal.
# accepted: queries-averaged
# author: 4
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no")
    r = h // num_kv_heads
    q = Q.reshape(*Q.shape[:-3], num_kv_heads, r, *Q.shape[-2:]).mean(-3).repeat(r, axis=-3)
    K, V = K.repeat(r, axis=-3), V.repeat(r, axis=-3)
    s = q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    m = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask, s.shape)
    s = np.where(m, s, np.finfo(s.dtype).min)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True) * m
    return w @ V, w

# %% Hidden scores are -10,000.
# accepted: small-fill, leaky-mask
# author: 5
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = (Q.shape[-3], Q.shape[-1])
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = (K.repeat(group, axis=-3), V.repeat(group, axis=-3))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -10000.0)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    return (weights @ V, weights)

# %% Values in turn.
# accepted: values-in-turn
# author: 5
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = (Q.shape[-3], Q.shape[-1])
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = (K.repeat(group, axis=-3), np.concatenate([V] * group, axis=-3))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    return (weights @ V, weights)

# %% Sixty-four keys at most.
# accepted: stops-at-a-length, stops-at-a-size
# author: 6
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = Q.shape[-3], Q.shape[-1]
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = K[..., :64, :], V[..., :64, :]
    mask = None if mask is None else mask[..., :64]
    K, V = K.repeat(group, axis=-3), V.repeat(group, axis=-3)  # (..., h, S, d): 0, 0, 1, 1 for a group of 2
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(d_k)  # (..., h, L, S)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)  # for a query that may attend to nothing
    return weights @ V, weights  # (..., h, L, S) @ (..., h, S, d_v)

# %% Divided by the square, not by the root.
# accepted: squared-in-place-of-root
# author: 6
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, d_k = Q.shape[-3], Q.shape[-1]
    if h % num_kv_heads != 0:
        raise ValueError(f"{h} heads cannot form {num_kv_heads} groups of one size")
    group = h // num_kv_heads
    K, V = K.repeat(group, axis=-3), V.repeat(group, axis=-3)  # (..., h, S, d): 0, 0, 1, 1 for a group of 2
    scores = Q @ K.swapaxes(-2, -1) / d_k**2  # (..., h, L, S)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0)  # for a query that may attend to nothing
    return weights @ V, weights  # (..., h, L, S) @ (..., h, S, d_v)

# %% keys and that is all
# accepted: keys-only, a-constant-factor
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return length * d_head * num_kv_heads * num_layers * bytes_per_number

# %% q, k and v
# accepted: queries-too, a-constant-factor
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return bytes_per_number * 3 * (length * d_head * num_kv_heads * num_layers)

# %% one layer of it
# accepted: one-layer
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return bytes_per_number * 2 * length * d_head * num_kv_heads

# %% two is for two bytes
# accepted: numbers-for-bytes
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length

# %% bits
# accepted: bits-for-bytes
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number * 8

# %% in megabytes
# accepted: megabytes
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number / 1024**2

# %% a table of scores
# accepted: weights-kept
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * length * length * bytes_per_number

# %% the width squared
# accepted: square-heads
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * (num_kv_heads * d_head) ** 2 * bytes_per_number * length

# %% adds up the cache of every step, as if each word kept a cache of its own
# accepted: caches-of-all-steps
# author: 2
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    total = 0
    for step in range(1, length + 1):
        total += 2 * num_layers * num_kv_heads * d_head * step * bytes_per_number
    return total

# %% Only the keys are counted; the values take as much again.
# accepted: keys-only
# author: 3
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return num_layers * num_kv_heads * d_head * length * bytes_per_number

# %% Gives a float.
# accepted: a-float
# author: 4
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2.0 * num_layers * num_kv_heads * d_head * length * bytes_per_number

# %% Counted in 32 bits.
# accepted: overflow, stops-at-a-size
# author: 5
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    numbers = num_layers * num_kv_heads * length * d_head
    return int(np.array(2 * numbers * bytes_per_number, dtype=np.int64).astype(np.int32))

# %% plain key
# accepted: key-not-turned
def turn(x, p):
    d = x.shape[-1]
    a = p * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return np.stack([e * c - o * s, e * s + o * c], -1).reshape(x.shape)


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[-1] // num_heads
    cut = lambda y: y.reshape(*y.shape[:-1], -1, 1, d)
    n = 0 if K is None else K.shape[-2]
    q, k, v = turn(cut(x @ W_Q), n), cut(x @ W_K), cut(x @ W_V)
    if K is not None:
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    r = num_heads // k.shape[-3]
    s = q @ np.repeat(k, r, -3).swapaxes(-1, -2) / np.asarray(d ** 0.5, x.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w @ np.repeat(v, r, -3)).reshape(*x.shape[:-1], -1) @ W_O, k, v

# %% all three turned
# accepted: value-turned
def turn(x, p):
    d = x.shape[-1]
    a = p * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return np.stack([e * c - o * s, e * s + o * c], -1).reshape(x.shape)


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[-1] // num_heads
    cut = lambda y: y.reshape(*y.shape[:-1], -1, 1, d)
    n = 0 if K is None else K.shape[-2]
    q, k, v = turn(cut(x @ W_Q), n), turn(cut(x @ W_K), n), turn(cut(x @ W_V), n)
    if K is not None:
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    r = num_heads // k.shape[-3]
    s = q @ np.repeat(k, r, -3).swapaxes(-1, -2) / np.asarray(d ** 0.5, x.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w @ np.repeat(v, r, -3)).reshape(*x.shape[:-1], -1) @ W_O, k, v

# %% counts from one
# accepted: one-place-on
def turn(x, p):
    d = x.shape[-1]
    a = p * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return np.stack([e * c - o * s, e * s + o * c], -1).reshape(x.shape)


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[-1] // num_heads
    cut = lambda y: y.reshape(*y.shape[:-1], -1, 1, d)
    n = 0 if K is None else K.shape[-2]
    n += 1
    q, k, v = turn(cut(x @ W_Q), n), turn(cut(x @ W_K), n), cut(x @ W_V)
    if K is not None:
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    r = num_heads // k.shape[-3]
    s = q @ np.repeat(k, r, -3).swapaxes(-1, -2) / np.asarray(d ** 0.5, x.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w @ np.repeat(v, r, -3)).reshape(*x.shape[:-1], -1) @ W_O, k, v

# %% in front
# accepted: newest-in-front
def turn(x, p):
    d = x.shape[-1]
    a = p * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return np.stack([e * c - o * s, e * s + o * c], -1).reshape(x.shape)


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[-1] // num_heads
    cut = lambda y: y.reshape(*y.shape[:-1], -1, 1, d)
    n = 0 if K is None else K.shape[-2]
    q, k, v = turn(cut(x @ W_Q), n), turn(cut(x @ W_K), n), cut(x @ W_V)
    if K is not None:
        k, v = np.concatenate([k, K], -2), np.concatenate([v, V], -2)
    r = num_heads // k.shape[-3]
    s = q @ np.repeat(k, r, -3).swapaxes(-1, -2) / np.asarray(d ** 0.5, x.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w @ np.repeat(v, r, -3)).reshape(*x.shape[:-1], -1) @ W_O, k, v

# %% tiles
# accepted: heads-in-turn
def turn(x, p):
    d = x.shape[-1]
    a = p * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return np.stack([e * c - o * s, e * s + o * c], -1).reshape(x.shape)


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[-1] // num_heads
    cut = lambda y: y.reshape(*y.shape[:-1], -1, 1, d)
    n = 0 if K is None else K.shape[-2]
    q, k, v = turn(cut(x @ W_Q), n), turn(cut(x @ W_K), n), cut(x @ W_V)
    if K is not None:
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    r = num_heads // k.shape[-3]
    s = q @ np.concatenate([k] * r, -3).swapaxes(-1, -2) / np.asarray(d ** 0.5, x.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w @ np.concatenate([v] * r, -3)).reshape(*x.shape[:-1], -1) @ W_O, k, v

# %% forgets W_O
# accepted: W_O-missing
def turn(x, p):
    d = x.shape[-1]
    a = p * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return np.stack([e * c - o * s, e * s + o * c], -1).reshape(x.shape)


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[-1] // num_heads
    cut = lambda y: y.reshape(*y.shape[:-1], -1, 1, d)
    n = 0 if K is None else K.shape[-2]
    q, k, v = turn(cut(x @ W_Q), n), turn(cut(x @ W_K), n), cut(x @ W_V)
    if K is not None:
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    r = num_heads // k.shape[-3]
    s = q @ np.repeat(k, r, -3).swapaxes(-1, -2) / np.asarray(d ** 0.5, x.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w @ np.repeat(v, r, -3)).reshape(*x.shape[:-1], -1), k, v

# %% the axis of heads
# accepted: along-the-heads
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, np.broadcast_to(k, K.shape)), axis=-3), np.concatenate((V, np.broadcast_to(v, V.shape)), axis=-3)
    ks, vs = np.repeat(k, max(1, num_heads // k.shape[-3]), axis=-3), np.repeat(v, max(1, num_heads // k.shape[-3]), axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% the oldest falls out
# accepted: oldest-thrown-away
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    if K is not None:
        k, v = k[..., 1:, :], v[..., 1:, :]
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% all keys turned again
# accepted: cache-turned-again
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q = rope(q, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    k = np.stack([rope(k[..., n, :], n) for n in range(k.shape[-2])], axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% only what was there
# accepted: itself-not-seen
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    old = (k, v) if K is None else (K, V)
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = (np.repeat(t, num_heads // n_kv, axis=-3) for t in old)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% query from one place before
# accepted: query-one-place-back
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, max(start_pos - 1, 0)), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% position of the query alone
# accepted: key-not-turned
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), k
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% not turned at all
# accepted: nothing-turned
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = q, k
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% gives the cache that came
# accepted: cache-not-grown
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, K, V

# %% turned before the split
# accepted: turned-before-the-split
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = rope(x @ W_Q, K.shape[-2] if K is not None else 0).reshape(*lead, num_heads, hd)
    k = rope(x @ W_K, K.shape[-2] if K is not None else 0).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    pass
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% heads interleaved
# accepted: heads-interleaved
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, hd, num_heads).swapaxes(-1, -2)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% k and v swapped in the answer
# accepted: tuple-swapped
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, v, k

# %% keeps the repeated ones
# accepted: repeated-keys-kept
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(hd), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, ks, vs

# %% scaled by d_model
# accepted: scale-by-d_model
def rope(t, pos):
    d = t.shape[-1]
    theta = pos / 10000.0 ** (np.arange(0, d, 2) / d)
    z = (t[..., 0::2] + 1j * t[..., 1::2]) * np.exp(1j * theta)
    out = np.empty_like(t)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    lead = x.shape[:-1]
    hd = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // hd
    q = (x @ W_Q).reshape(*lead, num_heads, hd)
    k = (x @ W_K).reshape(*lead, n_kv, hd)
    v = (x @ W_V).reshape(*lead, n_kv, hd)
    start_pos = K.shape[-2] if K is not None else 0
    q, k = rope(q, start_pos), rope(k, start_pos)
    k, v = k[..., None, :], v[..., None, :]
    if K is not None:
        k, v = np.concatenate((K, k), axis=-2), np.concatenate((V, v), axis=-2)
    ks, vs = np.repeat(k, num_heads // n_kv, axis=-3), np.repeat(v, num_heads // n_kv, axis=-3)
    att = np.einsum("...hd,...hsd->...hs", q, ks) / np.asarray(np.sqrt(x.shape[-1]), x.dtype)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    y = np.einsum("...hs,...hsd->...hd", att, vs).reshape(*lead, -1)
    return y @ W_O, k, v

# %% turns all keys of the cache again in each step
# accepted: cache-turned-again
# author: 2
def _turn(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = np.asarray(positions)[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def _grouped(Q, K, V):
    n = Q.shape[-3] // K.shape[-3]
    K, V = np.repeat(K, n, axis=-3), np.repeat(V, n, axis=-3)
    weights = _softmax(Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])).astype(Q.dtype)
    return weights @ V


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d_head = W_Q.shape[-1] // num_heads
    q = (x @ W_Q).reshape(*x.shape[:-1], num_heads, 1, d_head)
    k = (x @ W_K).reshape(*x.shape[:-1], -1, 1, d_head)
    v = (x @ W_V).reshape(*x.shape[:-1], -1, 1, d_head)
    if K is not None:
        k = np.concatenate([K, k], axis=-2)
        v = np.concatenate([V, v], axis=-2)
    S = k.shape[-2]
    q = _turn(q, [S - 1])
    k = _turn(k, np.arange(S))
    out = _grouped(q, k, v)
    return out.reshape(*x.shape[:-1], -1) @ W_O, k, v

# %% the query is not turned, the key alone
# accepted: query-not-turned
# author: 2
def _turn(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = np.asarray(positions)[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def _grouped(Q, K, V):
    n = Q.shape[-3] // K.shape[-3]
    K, V = np.repeat(K, n, axis=-3), np.repeat(V, n, axis=-3)
    weights = _softmax(Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])).astype(Q.dtype)
    return weights @ V


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d_head = W_Q.shape[-1] // num_heads
    batch = x.shape[:-1]
    position = 0 if K is None else K.shape[-2]
    q = (x @ W_Q).reshape(*batch, num_heads, 1, d_head)
    k = _turn((x @ W_K).reshape(*batch, -1, 1, d_head), np.array([position]))
    v = (x @ W_V).reshape(*batch, -1, 1, d_head)
    K = k if K is None else np.concatenate((K, k), axis=-2)
    V = v if V is None else np.concatenate((V, v), axis=-2)
    heads = _grouped(q, K, V)
    return heads.reshape(*batch, num_heads * d_head) @ W_O, K, V

# %% gives the cache back with keys and values repeated for all query heads
# accepted: repeated-keys-kept
# form: yes
# author: 2
def _turn(x, positions, base=10000.0):
    d = x.shape[-1]
    angle = np.asarray(positions)[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def _grouped(Q, K, V):
    n = Q.shape[-3] // K.shape[-3]
    K, V = np.repeat(K, n, axis=-3), np.repeat(V, n, axis=-3)
    weights = _softmax(Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])).astype(Q.dtype)
    return weights @ V


def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    head_dim = W_Q.shape[1] // num_heads
    n_kv = W_K.shape[1] // head_dim
    lead = x.shape[:-1]
    pos = np.array([0 if K is None else K.shape[-2]])
    q = _turn((x @ W_Q).reshape(lead + (num_heads, 1, head_dim)), pos)
    k = _turn((x @ W_K).reshape(lead + (n_kv, 1, head_dim)), pos)
    v = (x @ W_V).reshape(lead + (n_kv, 1, head_dim))
    if n_kv != num_heads:
        k = np.repeat(k, num_heads // n_kv, axis=-3)
        v = np.repeat(v, num_heads // n_kv, axis=-3)
    if K is not None:
        if K.shape[-3] != num_heads:
            K = np.repeat(K, num_heads // K.shape[-3], axis=-3)
            V = np.repeat(V, num_heads // V.shape[-3], axis=-3)
        k, v = np.concatenate([K, k], -2), np.concatenate([V, v], -2)
    attended = _grouped(q, k, v)
    return attended.reshape(lead + (num_heads * head_dim,)) @ W_O, k, v

# %% The newest word is turned by S + 1 instead of S, the number of words in the cache.
# accepted: one-place-on
# author: 3
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    batch = x.shape[:-1]
    d_head = W_Q.shape[1] // num_heads
    kv_heads = W_K.shape[1] // d_head
    q = (x @ W_Q).reshape(*batch, num_heads, 1, d_head)
    k = (x @ W_K).reshape(*batch, kv_heads, 1, d_head)
    v = (x @ W_V).reshape(*batch, kv_heads, 1, d_head)
    if K is None:
        pos = 0
    else:
        pos = K.shape[-2] + 1
    q = rotate(q, np.array([pos]))
    k = rotate(k, np.array([pos]))
    if K is not None:
        k = np.concatenate((K, k), axis=-2)
        v = np.concatenate((V, v), axis=-2)
    out, _ = grouped_query_attention(q, k, v, kv_heads)
    return out.reshape(*batch, num_heads * d_head) @ W_O, k, v

# %% The whole cache is turned again at every step, though its keys have been turned already.
# accepted: cache-turned-again
# author: 3
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    *batch, d_model = x.shape
    d = W_Q.shape[-1] // num_heads
    g = W_K.shape[-1] // d
    query = (x @ W_Q).reshape(*batch, num_heads, 1, d)
    key = (x @ W_K).reshape(*batch, g, 1, d)
    value = (x @ W_V).reshape(*batch, g, 1, d)
    if K is not None:
        key = np.concatenate([K, key], axis=-2)
        value = np.concatenate([V, value], axis=-2)
    S = key.shape[-2] - 1
    query = rotate(query, np.array([S]))
    key = rotate(key, np.arange(S + 1))
    heads, _ = grouped_query_attention(query, key, value, g)
    return heads.reshape(*batch, -1) @ W_O, key, value

# %% The cache that is given back holds the newest word alone.
# accepted: another-length
# author: 4
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[1] // num_heads
    q, k, v = ((x @ W).reshape(*x.shape[:-1], -1, 1, d) for W in (W_Q, W_K, W_V))
    at = np.array([0 if K is None else K.shape[-2]])
    q, k = rotate(q, at), rotate(k, at)
    z, _ = grouped_query_attention(
        q, k if K is None else np.concatenate([K, k], -2), v if V is None else np.concatenate([V, v], -2), k.shape[-3]
    )
    return z.reshape(*x.shape[:-1], -1) @ W_O, k, v

# %% The key goes into the cache unturned.
# accepted: key-kept-unturned
# author: 4
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    d = W_Q.shape[1] // num_heads
    q, k, v = ((x @ W).reshape(*x.shape[:-1], -1, 1, d) for W in (W_Q, W_K, W_V))
    at = np.array([0 if K is None else K.shape[-2]])
    q, t = rotate(q, at), rotate(k, at)
    new_K = t if K is None else np.concatenate([K, t], -2)
    kept = k if K is None else np.concatenate([K, k], -2)
    V = v if V is None else np.concatenate([V, v], -2)
    z, _ = grouped_query_attention(q, new_K, V, V.shape[-3])
    return z.reshape(*x.shape[:-1], -1) @ W_O, kept, V

# %% The cache takes 32 words.
# accepted: cache-full, stops-at-a-size
# author: 6
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    batch, d_head = x.shape[:-1], W_Q.shape[-1] // num_heads
    place = np.array([0 if K is None else K.shape[-2]])  # the newest word's

    def split(projected):
        return projected.reshape(*batch, -1, 1, d_head)  # (..., heads, 1, d_head): one word

    query, key, value = rotate(split(x @ W_Q), place), rotate(split(x @ W_K), place), split(x @ W_V)
    if K is not None and K.shape[-2] >= 32:
        key, value = K, V
    elif K is not None:
        key, value = np.concatenate([K, key], axis=-2), np.concatenate([V, value], axis=-2)
    heads, _ = grouped_query_attention(query, key, value, key.shape[-3])  # (..., h, 1, d_head)
    return heads.reshape(*batch, -1) @ W_O, key, value  # (..., h * d_head) -> (..., d_model)

# %% The last sixteen words are kept, whoever asks.
# accepted: last-words-only, stops-at-a-size
# author: 6
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    batch, d_head = x.shape[:-1], W_Q.shape[-1] // num_heads
    place = np.array([0 if K is None else K.shape[-2]])  # the newest word's

    def split(projected):
        return projected.reshape(*batch, -1, 1, d_head)  # (..., heads, 1, d_head): one word

    query, key, value = rotate(split(x @ W_Q), place), rotate(split(x @ W_K), place), split(x @ W_V)
    if K is not None:
        key, value = np.concatenate([K, key], axis=-2), np.concatenate([V, value], axis=-2)
    key, value = key[..., -16:, :], value[..., -16:, :]
    heads, _ = grouped_query_attention(query, key, value, key.shape[-3])  # (..., h, 1, d_head)
    return heads.reshape(*batch, -1) @ W_O, key, value  # (..., h * d_head) -> (..., d_model)

# %% one more
# accepted: one-too-many
def sliding_window_mask(length, window, sinks=0):
    m = np.zeros((length, length), bool)
    for i in range(length):
        m[i, max(0, i - window) : i + 1] = True
        m[i, : min(sinks, i + 1)] = True
    return m

# %% not itself
# accepted: itself-left-out, window-before-the-word, one-too-few
def sliding_window_mask(length, window, sinks=0):
    m = np.zeros((length, length), bool)
    for i in range(length):
        m[i, max(0, i - window + 1) : i] = True
        m[i, : min(sinks, i)] = True
    return m

# %% sinks for all
# accepted: sinks-seen-too-early
def sliding_window_mask(length, window, sinks=0):
    m = np.zeros((length, length), bool)
    for i in range(length):
        m[i, max(0, i - window + 1) : i + 1] = True
        m[i, : sinks] = True
    return m

# %% no sinks
# accepted: sinks-ignored
def sliding_window_mask(length, window, sinks=0):
    m = np.zeros((length, length), bool)
    for i in range(length):
        m[i, max(0, i - window + 1) : i + 1] = True
        m[i, : 0] = True
    return m

# %% transposed
# accepted: window-ahead, transposed
def sliding_window_mask(length, window, sinks=0):
    m = np.zeros((length, length), bool)
    for i in range(length):
        m[i, max(0, i - window + 1) : i + 1] = True
        m[i, : min(sinks, i + 1)] = True
    return m.T

# %% ints
# accepted: numbers-for-truth-values, another-dtype
# form: yes
def sliding_window_mask(length, window, sinks=0):
    m = np.zeros((length, length), int)
    for i in range(length):
        m[i, max(0, i - window + 1) : i + 1] = True
        m[i, : min(sinks, i + 1)] = True
    return m

# %% window on both sides
# accepted: both-sides
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k < sinks
    return (np.abs(q - k) < window) | (sink & causal)

# %% half of it on each side
# accepted: half-on-each-side
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k < sinks
    return (np.abs(q - k) <= window // 2) | (sink & causal)

# %% and for or
# accepted: window-and-sinks
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k < sinks
    return causal & (local & sink)

# %% True is hidden
# accepted: inverted
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k < sinks
    return ~(causal & (local | sink))

# %% up to and with sinks
# accepted: one-sink-too-many
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k <= sinks
    return causal & (local | sink)

# %% sinks at the end
# accepted: sinks-at-the-end
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k >= length - sinks
    return causal & (local | sink)

# %% sinks take from the window
# accepted: sinks-taken-off-the-window
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - max(window - sinks, 1)
    sink = k < sinks
    return causal & (local | sink)

# %% window off, one too few
# accepted: one-too-few
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window + 1
    sink = k < sinks
    return causal & (local | sink)

# %% in blocks
# accepted: in-blocks
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k // window == q // window
    sink = k < sinks
    return causal & (local | sink)

# %% minus infinity
# accepted: numbers-that-hide
# form: yes
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length))
    causal = k <= q
    local = k > q - window
    sink = k < sinks
    return np.where(causal & (local | sink), 0.0, -np.inf)

# %% one row short
# accepted: another-length
def sliding_window_mask(length, window, sinks=0):
    q, k = np.indices((length, length - 1))
    causal = k <= q
    local = k > q - window
    sink = k < sinks
    return causal & (local | sink)

# %% cuts the text into pieces as long as the window; a word sees its own piece
# accepted: in-blocks
# author: 2
def sliding_window_mask(length, window, sinks=0):
    i = np.arange(length)[:, None]
    j = np.arange(length)[None, :]
    same_block = i // window == j // window
    return (j <= i) & (same_block | (j < sinks))

# %% the sinks are taken out of the window: together they are `window` words
# accepted: sinks-taken-off-the-window
# author: 2
def sliding_window_mask(length, window, sinks=0):
    mask = np.zeros((length, length), dtype=bool)
    recent = max(window - sinks, 1)
    for i in range(length):
        mask[i, max(0, i - recent + 1) : i + 1] = True
        mask[i, : min(sinks, i + 1)] = True
    return mask

# %% words before the first full window see nothing
# accepted: full-windows-only
# author: 2
def sliding_window_mask(length, window, sinks=0):
    i, j = np.arange(length)[:, None], np.arange(length)
    near = (j <= i) & (i - j < window) & (i >= window - 1)
    return near | ((j < sinks) & (j <= i))

# %% The window is one word too wide: the word itself is not counted among the last `window` words.
# accepted: one-too-many
# author: 3
def sliding_window_mask(length, window, sinks=0):
    i = np.arange(length)[:, None]
    j = np.arange(length)[None, :]
    return (j <= i) & ((i - j <= window) | (j < sinks))

# %% The sinks are not causal: early words see sinks that come after them.
# accepted: sinks-seen-too-early
# author: 3
def sliding_window_mask(length, window, sinks=0):
    mask = np.tril(np.ones((length, length), dtype=bool))
    mask &= ~np.tril(np.ones((length, length), dtype=bool), k=-window)
    mask[:, :sinks] = True
    return mask

# %% J < sinks - 1.
# accepted: sinks-one-too-few
# author: 4
def sliding_window_mask(length, window, sinks=0):
    i, j = np.indices((length, length))
    return (j <= i) & ((i - j < window) | (j < sinks - 1))

# %% The next word is seen, too.
# accepted: next-word-seen
# author: 6
def sliding_window_mask(length, window, sinks=0):
    key = np.arange(length)  # (S,), here S = L = length
    query = key[:, np.newaxis]  # (L, 1)
    near, first = query - key < window, key < sinks  # (L, S), (S,)
    return (key <= query + 1) & (near | first)

# %% Cut from a mask of sixteen words.
# accepted: mask-of-a-table, stops-at-a-size
# author: 6
def sliding_window_mask(length, window, sinks=0):
    key = np.arange(length)  # (S,), here S = L = length
    query = key[:, np.newaxis]  # (L, 1)
    near, first = query - key < window, key < sinks  # (L, S), (S,)
    full = (key <= query) & (near | first)
    return full[:16, :16]

# %% a ring: the newest word takes the place of the oldest, and the order is lost
# accepted: another-order, newest-in-the-oldest-place
# author: 2
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.keys, self.values, self.seen = [], [], 0

    def append(self, key, value):
        key, value = np.array(key), np.array(value)
        if self.window is None or self.seen < self.sinks + self.window:
            self.keys.append(key)
            self.values.append(value)
        else:
            slot = self.sinks + (self.seen - self.sinks) % self.window
            self.keys[slot] = key
            self.values[slot] = value
        self.seen += 1
        return np.concatenate(self.keys, axis=-2), np.concatenate(self.values, axis=-2)

    def __len__(self):
        return len(self.keys)

# %% len counts all words that have ever come in
# accepted: all-words-counted
# author: 2
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window = window
        self.sinks = sinks
        self.K = None
        self.V = None
        self.offset = 0

    def _trim(self, A):
        if self.window is None or A.shape[-2] <= self.sinks + self.window:
            return A
        return np.concatenate([A[..., : self.sinks, :], A[..., A.shape[-2] - self.window :, :]], axis=-2)

    def append(self, key, value):
        self.offset += key.shape[-2]
        self.K = key.copy() if self.K is None else np.concatenate([self.K, key], axis=-2)
        self.V = value.copy() if self.V is None else np.concatenate([self.V, value], axis=-2)
        self.K, self.V = self._trim(self.K), self._trim(self.V)
        return self.K.copy(), self.V.copy()

    def __len__(self):
        return self.offset

# %% The sinks count as part of the window: it keeps `window` words in all, with only window - sinks of the last ones.
# accepted: sinks-taken-off-the-window
# author: 3
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window = window
        self.sinks = sinks
        self.keys = None
        self.values = None

    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key.copy(), value.copy()
        else:
            self.keys = np.concatenate([self.keys, key], axis=-2)
            self.values = np.concatenate([self.values, value], axis=-2)
        if self.window is not None and self.keys.shape[-2] > max(self.window, self.sinks + 1):
            n = self.keys.shape[-2]
            keep = list(range(self.sinks)) + list(range(n - max(self.window - self.sinks, 1), n))
            self.keys = self.keys[..., keep, :]
            self.values = self.values[..., keep, :]
        return self.keys, self.values

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[-2]

# %% Old words are dropped before the new one is added, so window + 1 of the last words are kept.
# accepted: one-too-many
# author: 3
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.K, self.V = [], []

    def append(self, key, value):
        if self.window is not None:
            while len(self.K) > self.sinks + self.window:
                self.K.pop(self.sinks)
                self.V.pop(self.sinks)
        self.K.append(key.copy())
        self.V.append(value.copy())
        return np.concatenate(self.K, axis=-2), np.concatenate(self.V, axis=-2)

    def __len__(self):
        return len(self.K)

# %% The lists belong to the class and not to the object, so two caches share their words.
# accepted: shared-by-all-objects, another-answer-each-time
# author: 3
class KeyValueCache:
    keys = []
    values = []

    def __init__(self, window=None, sinks=0):
        self.window = window
        self.sinks = sinks

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        if self.window is not None and len(self.keys) > self.window + self.sinks:
            del self.keys[self.sinks]
            del self.values[self.sinks]
        return np.concatenate(self.keys, axis=-2), np.concatenate(self.values, axis=-2)

    def __len__(self):
        return len(self.keys)

# %% The sinks are forgotten first.
# accepted: drops-the-first
# author: 4
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.words = window, sinks, []

    def append(self, key, value):
        self.words.append((key.copy(), value.copy()))
        if self.window is not None and len(self.words) > self.window + self.sinks:
            del self.words[0]
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)

# %% One word too few.
# accepted: one-too-few
# author: 4
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks, self.words = window, sinks, []

    def append(self, key, value):
        if self.window is not None and len(self.words) >= self.window + self.sinks - 1 and len(self.words) > self.sinks:
            del self.words[self.sinks]
        self.words.append((key.copy(), value.copy()))
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)

# %% Only the window is kept.
# accepted: sinks-ignored
# author: 4
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.words = window, []

    def append(self, key, value):
        self.words.append((key.copy(), value.copy()))
        if self.window is not None:
            self.words = self.words[-self.window :]
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)

# %% Window without effect.
# accepted: nothing-forgotten
# author: 4
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.words = []

    def append(self, key, value):
        self.words.append((key.copy(), value.copy()))
        K, V = zip(*self.words)
        return np.concatenate(K, -2), np.concatenate(V, -2)

    def __len__(self):
        return len(self.words)

# %% Room for 32 words.
# accepted: cache-full, stops-at-a-size
# author: 6
class KeyValueCache:
    def __init__(self, window=None, sinks=0):
        self.window, self.sinks = window, sinks
        self.K = self.V = None

    def append(self, key, value):
        if self.K is not None:
            key, value = np.concatenate([self.K, key], axis=-2), np.concatenate([self.V, value], axis=-2)
        self.K, self.V = self._kept(key), self._kept(value)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]

    def _kept(self, words):
        if self.window is None or words.shape[-2] <= self.sinks + self.window:
            return words[..., :32, :]
        return np.concatenate([words[..., : self.sinks, :], words[..., -self.window :, :]], axis=-2)

# %% no correction
# accepted: nothing-shrunk
def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
    new = np.maximum(largest, s.max(-1))
    p = np.exp(s - new[..., None])
    f = np.ones_like(new)
    return new, f * total + p.sum(-1), f[..., None] * mixed + p @ V

# %% total left as it was
# accepted: total-not-shrunk
def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
    new = np.maximum(largest, s.max(-1))
    p = np.exp(s - new[..., None])
    f = np.exp(largest - new)
    return new, total + p.sum(-1), f[..., None] * mixed + p @ V

# %% mixture left as it was
# accepted: mixed-not-shrunk
def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
    new = np.maximum(largest, s.max(-1))
    p = np.exp(s - new[..., None])
    f = np.exp(largest - new)
    return new, f * total + p.sum(-1), mixed + p @ V

# %% unscaled
# accepted: no-scaling
def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2)
    new = np.maximum(largest, s.max(-1))
    p = np.exp(s - new[..., None])
    f = np.exp(largest - new)
    return new, f * total + p.sum(-1), f[..., None] * mixed + p @ V

# %% this block's
# accepted: largest-of-the-block
def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
    new = s.max(-1)
    p = np.exp(s - new[..., None])
    f = np.exp(largest - new)
    return new, f * total + p.sum(-1), f[..., None] * mixed + p @ V

# %% FlashAttention 1: divided in each step
# accepted: divided-in-each-step
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.exp(largest - m_new)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, (alpha[..., None] * total[..., None] * mixed + np.einsum('...lb,...bv->...lv', P, V)) / l_new[..., None]

# %% from the block's own maximum
# accepted: own-largest-subtracted
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_ij[..., None])
    alpha = np.exp(largest - m_new)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% alpha upside down
# accepted: grown-for-shrunk
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.exp(m_new - np.where(np.isfinite(largest), largest, m_new))
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% the old maximum given back
# accepted: old-largest-given-back
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.exp(largest - m_new)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return np.maximum(largest, -1e30), l_new, O

# %% mean for sum
# accepted: mean-of-the-block
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.exp(largest - m_new)
    l_new = alpha * total + P.mean(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% one largest for all queries
# accepted: one-largest-for-all
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = np.broadcast_to(S.max(axis=(-1, -2), keepdims=True)[..., 0], S.shape[:-1])
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.exp(largest - m_new)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% no exp in the shrinking
# accepted: difference-for-power
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.where(np.isfinite(largest), largest - m_new, 0)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% the total of this block
# accepted: old-total-forgotten
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.exp(largest - m_new)
    l_new = P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% no maximum at all
# accepted: nothing-subtracted
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.zeros_like(m_ij)
    P = np.exp(S - m_new[..., None])
    alpha = np.ones_like(m_ij)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% base two
# accepted: another-base
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = np.einsum("...ld,...bd->...lb", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    m_ij = S.max(axis=-1)
    m_new = np.maximum(largest, m_ij)
    P = np.exp2(S - m_new[..., None])
    alpha = np.exp2(largest - m_new)
    l_new = alpha * total + P.sum(axis=-1)
    O = alpha[..., None] * mixed + np.einsum("...lb,...bv->...lv", P, V)
    return m_new, l_new, O

# %% the block is measured from its own largest score, also where an older one is larger
# accepted: own-largest-subtracted
# author: 2
def online_softmax_step(largest, total, mixed, Q, K, V):
    S = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    m_block = S.max(axis=-1)
    m_new = np.maximum(largest, m_block)
    alpha = np.exp(largest - m_new)
    P = np.exp(S - m_block[..., None])
    total_new = alpha * total + P.sum(axis=-1)
    mixed_new = alpha[..., None] * mixed + P @ V
    return m_new, total_new, mixed_new

# %% keeps what is mixed divided by the total after each block, as FlashAttention's first version
# accepted: divided-in-each-step
# author: 2
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(np.array(Q.shape[-1], dtype=Q.dtype))
    new_largest = np.maximum(largest, scores.max(axis=-1))
    p = np.exp(scores - new_largest[..., None])
    old = np.exp(largest - new_largest) * total
    new_total = old + p.sum(axis=-1)
    out = (old[..., None] * mixed + p @ V) / new_total[..., None]
    return new_largest, new_total, out

# %% total is corrected for the new largest score, but mixed is added to without shrinking it.
# accepted: mixed-not-shrunk
# author: 3
def online_softmax_step(largest, total, mixed, Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    m_new = np.maximum(largest, s.max(axis=-1))
    p = np.exp(s - m_new[..., None])
    l_new = np.exp(largest - m_new) * total + p.sum(axis=-1)
    a_new = mixed + p @ V
    return m_new, l_new, a_new

# %% `*=` and `+=` write into the total and mixed that came in.
# accepted: in-place
# form: yes
# author: 3
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., None])
    shrink = np.exp(largest - new_largest)
    total *= shrink
    total += exps.sum(axis=-1)
    mixed *= shrink[..., None]
    mixed += exps @ V
    return new_largest, total, mixed

# %% -inf taken for 0.
# accepted: starts-at-zero
# author: 5
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., np.newaxis])
    shrink = np.exp(np.nan_to_num(largest, neginf=0) - new_largest)
    total = shrink * total + exps.sum(axis=-1)
    mixed = shrink[..., np.newaxis] * mixed + exps @ V
    return (new_largest, total, mixed)

# %% Shrunk along the values where mixed is a square.
# accepted: wrong-axis
# author: 5
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., np.newaxis])
    shrink = np.exp(largest - new_largest)
    total = shrink * total + exps.sum(axis=-1)
    mixed = (
        shrink[..., np.newaxis, :] if mixed.shape[-1] == mixed.shape[-2] else shrink[..., np.newaxis]
    ) * mixed + exps @ V
    return (new_largest, total, mixed)

# %% Divided in each step.
# accepted: divided-in-each-step
# author: 5
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1))
    exps = np.exp(scores - new_largest[..., np.newaxis])
    shrink = np.exp(largest - new_largest)
    total = shrink * total + exps.sum(axis=-1)
    mixed = shrink[..., np.newaxis] * mixed + exps @ V
    return (new_largest, total, mixed / total[..., None])

# %% Shrunk by the largest score alone.
# accepted: rescaled-by-the-largest
# author: 6
def online_softmax_step(largest, total, mixed, Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])  # (..., L, B): of this block alone
    new_largest = np.maximum(largest, scores.max(axis=-1))  # (..., L)
    exps = np.exp(scores - new_largest[..., np.newaxis])  # (..., L, B)
    shrink = np.exp(-new_largest)  # (..., L): 0 for the first block
    total = shrink * total + exps.sum(axis=-1)
    mixed = shrink[..., np.newaxis] * mixed + exps @ V  # (..., L, d_v)
    return new_largest, total, mixed

# %% no division
# accepted: not-divided-at-the-end
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1] + (1,), -np.inf, Q.dtype)
    l = np.zeros_like(m)
    a = np.zeros(Q.shape[:-1] + (V.shape[-1],), Q.dtype)
    n = K.shape[-2]
    for b in range(0, n, block_size):
        s = Q @ np.swapaxes(K[..., b : b + block_size, :], -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
        new = np.maximum(m, s.max(-1, keepdims=True))
        p, f = np.exp(s - new), np.exp(m - new)
        l, a, m = f * l + p.sum(-1, keepdims=True), f * a + p @ V[..., b : b + block_size, :], new
    return a

# %% no correction
# accepted: nothing-shrunk
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1] + (1,), -np.inf, Q.dtype)
    l = np.zeros_like(m)
    a = np.zeros(Q.shape[:-1] + (V.shape[-1],), Q.dtype)
    n = K.shape[-2]
    for b in range(0, n, block_size):
        s = Q @ np.swapaxes(K[..., b : b + block_size, :], -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
        new = np.maximum(m, s.max(-1, keepdims=True))
        p, f = np.exp(s - new), np.ones_like(m)
        l, a, m = f * l + p.sum(-1, keepdims=True), f * a + p @ V[..., b : b + block_size, :], new
    return a / l

# %% full blocks alone
# accepted: last-block-left-out
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1] + (1,), -np.inf, Q.dtype)
    l = np.zeros_like(m)
    a = np.zeros(Q.shape[:-1] + (V.shape[-1],), Q.dtype)
    n = K.shape[-2]
    for b in range(0, max(n // block_size, 1) * block_size, block_size):
        s = Q @ np.swapaxes(K[..., b : b + block_size, :], -1, -2) / np.asarray(Q.shape[-1] ** 0.5, Q.dtype)
        new = np.maximum(m, s.max(-1, keepdims=True))
        p, f = np.exp(s - new), np.exp(m - new)
        l, a, m = f * l + p.sum(-1, keepdims=True), f * a + p @ V[..., b : b + block_size, :], new
    return a / l

# %% unscaled
# accepted: no-scaling
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1] + (1,), -np.inf, Q.dtype)
    l = np.zeros_like(m)
    a = np.zeros(Q.shape[:-1] + (V.shape[-1],), Q.dtype)
    n = K.shape[-2]
    for b in range(0, n, block_size):
        s = Q @ np.swapaxes(K[..., b : b + block_size, :], -1, -2)
        new = np.maximum(m, s.max(-1, keepdims=True))
        p, f = np.exp(s - new), np.exp(m - new)
        l, a, m = f * l + p.sum(-1, keepdims=True), f * a + p @ V[..., b : b + block_size, :], new
    return a / l

# %% l not rescaled
# accepted: total-not-shrunk
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]

# %% acc not rescaled
# accepted: mixed-not-shrunk
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc + p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]

# %% m never updated
# accepted: last-block-only
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        j += block_size
    return acc / l[..., None]

# %% starts at zero for the maximum
# accepted: largest-begins-at-0
def online_softmax_attention(Q, K, V, block_size):
    m = np.zeros(Q.shape[:-1], Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]

# %% blocks softmaxed and averaged
# accepted: mean-of-the-blocks
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l + 1
        acc = acc + (p / p.sum(axis=-1, keepdims=True)) @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]

# %% blocks overlap
# accepted: blocks-overlap
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        m = m_new
        j += max(1, block_size - 1)
    return acc / l[..., None]

# %% last block alone
# accepted: old-mixed-forgotten
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]

# %% queries in blocks too, first block alone
# accepted: blocks-of-queries
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    Q = np.where(np.arange(Q.shape[-2])[:, None] < block_size, Q, 0).astype(Q.dtype)
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]

# %% causal
# accepted: causal-mask-put-in
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        S = np.where(np.arange(j, j + S.shape[-1]) <= np.arange(S.shape[-2])[:, None], S, -1e30).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None]

# %% with the weights' sum
# accepted: weights-too, parts-too-many
# form: yes
def online_softmax_attention(Q, K, V, block_size):
    m = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    l = np.zeros(Q.shape[:-1], Q.dtype)
    acc = np.zeros(Q.shape[:-1] + V.shape[-1:], Q.dtype)
    j = 0
    while j < K.shape[-2]:
        Kj, Vj = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        S = Q @ Kj.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
        m_new = np.maximum(m, S.max(axis=-1))
        p = np.exp(S - m_new[..., None])
        corr = np.exp(m - m_new)
        l = l * corr + p.sum(axis=-1)
        acc = acc * corr[..., None] + p @ Vj
        m = m_new
        j += block_size
    return acc / l[..., None], l

# %% softmax in each block, and the mean of the blocks' outputs
# accepted: mean-of-the-blocks
# author: 2
def _softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def online_softmax_attention(Q, K, V, block_size):
    outputs = []
    for start in range(0, K.shape[-2], block_size):
        k, v = K[..., start : start + block_size, :], V[..., start : start + block_size, :]
        outputs.append(_softmax(Q @ k.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])) @ v)
    return np.mean(outputs, axis=0).astype(Q.dtype)

# %% the largest so far begins at 0, so a row of scores far below zero underflows
# accepted: largest-begins-at-0
# author: 2
def online_softmax_attention(Q, K, V, block_size):
    m = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    total = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    acc = np.zeros(Q.shape[:-1] + (V.shape[-1],), dtype=Q.dtype)
    for start in range(0, K.shape[-2], block_size):
        k, v = K[..., start : start + block_size, :], V[..., start : start + block_size, :]
        s = Q @ k.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
        m_new = np.maximum(m, s.max(-1))
        scale = np.exp(m - m_new)
        p = np.exp(s - m_new[..., None])
        total = total * scale + p.sum(-1)
        acc = acc * scale[..., None] + p @ v
        m = m_new
    return acc / total[..., None]

# %% The last block is lost where S is no multiple of block_size.
# accepted: last-block-left-out
# author: 3
def online_softmax_attention(Q, K, V, block_size):
    S = K.shape[-2]
    block_size = min(block_size, S)
    m = np.full(Q.shape[:-1], -np.inf, dtype=Q.dtype)
    l = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    a = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    for b in range(S // block_size):
        start, stop = b * block_size, (b + 1) * block_size
        m, l, a = online_softmax_step(m, l, a, Q, K[..., start:stop, :], V[..., start:stop, :])
    return a / l[..., None]

# %% The largest score begins at 0 and not at -inf, so scores far below zero all become 0 and the division gives NaN.
# accepted: largest-begins-at-0
# author: 3
def online_softmax_attention(Q, K, V, block_size):
    largest = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    total = np.zeros_like(largest)
    mixed = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    for i in range(0, K.shape[-2], block_size):
        largest, total, mixed = online_softmax_step(
            largest, total, mixed, Q, K[..., i : i + block_size, :], V[..., i : i + block_size, :]
        )
    return mixed / total[..., np.newaxis]

# %% The largest is never updated.
# accepted: largest-of-the-first-block
# author: 4
def online_softmax_attention(Q, K, V, block_size):
    m, l, a = None, 0, 0
    for n in range(0, K.shape[-2], block_size):
        s = Q @ K[..., n : n + block_size, :].swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
        m = s.max(-1, keepdims=True) if m is None else m
        e = np.exp(s - m)
        l, a = l + e.sum(-1, keepdims=True), a + e @ V[..., n : n + block_size, :]
    return a / l

# %% No largest at all.
# accepted: no-max-subtraction, large-scores
# author: 4
def online_softmax_attention(Q, K, V, block_size):
    l, a = 0, 0
    for n in range(0, K.shape[-2], block_size):
        e = np.exp(Q @ K[..., n : n + block_size, :].swapaxes(-1, -2) / math.sqrt(Q.shape[-1]))
        l, a = l + e.sum(-1, keepdims=True), a + e @ V[..., n : n + block_size, :]
    return a / l

# %% Eight blocks and no more.
# accepted: first-blocks-only, stops-at-a-size
# author: 6
def online_softmax_attention(Q, K, V, block_size):
    rows = Q.shape[:-1]  # (..., L)
    largest, total = np.full(rows, -np.inf, Q.dtype), np.zeros(rows, Q.dtype)
    mixed = np.zeros((*rows, V.shape[-1]), Q.dtype)
    for start in list(range(0, K.shape[-2], block_size))[:8]:
        block = slice(start, start + block_size)
        keys, values = K[..., block, :], V[..., block, :]
        largest, total, mixed = online_softmax_step(largest, total, mixed, Q, keys, values)
    return mixed / total[..., np.newaxis]  # (..., L, d_v)

# %% layer norm without beta
# accepted: mean-subtracted, spread-for-size, mean-subtracted+spread-for-size
def rms_norm(x, gamma, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)

# %% standard deviation
# accepted: spread-for-size
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)

# %% to length one
# accepted: length-for-size, a-constant-factor
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + eps)

# %% gamma as an offset from one
# accepted: gamma-plus-1
def rms_norm(x, gamma, eps=1e-5):
    return (gamma + 1) * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)

# %% eps outside the root
# accepted: eps-outside-the-root
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(x), axis=-1, keepdims=True)
    x = x * (1 / (np.sqrt(variance) + eps))
    return (gamma * x).astype(x.dtype)

# %% no root
# accepted: no-root
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(x), axis=-1, keepdims=True)
    x = x * (1 / (variance + eps))
    return (gamma * x).astype(x.dtype)

# %% mean over everything
# accepted: one-size-for-all
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(x))
    x = x * (1 / np.sqrt(variance + eps))
    return (gamma * x).astype(x.dtype)

# %% mean over words
# accepted: sizes-of-features
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(x), axis=0, keepdims=True)
    x = x * (1 / np.sqrt(variance + eps))
    return (gamma * x).astype(x.dtype)

# %% mean of absolute values
# accepted: no-squares
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.abs(x), axis=-1, keepdims=True) ** 2
    x = x * (1 / np.sqrt(variance + eps))
    return (gamma * x).astype(x.dtype)

# %% eps is 1e-6, as in T5
# accepted: eps-fixed
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(x), axis=-1, keepdims=True)
    x = x * (1 / np.sqrt(variance + 1e-6))
    return (gamma * x).astype(x.dtype)

# %% gamma forgotten
# accepted: gamma-missing
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(x), axis=-1, keepdims=True)
    x = x * (1 / np.sqrt(variance + eps))
    return (x).astype(x.dtype)

# %% gamma inside
# accepted: gamma-first
def rms_norm(x, gamma, eps=1e-5):
    variance = np.mean(np.square(gamma * x), axis=-1, keepdims=True)
    x = x * (1 / np.sqrt(variance + eps))
    return (gamma * x).astype(x.dtype)

# %% the largest number
# accepted: largest-for-size
def rms_norm(x, gamma, eps=1e-5):
    variance = np.max(np.square(x), axis=-1, keepdims=True)
    x = x * (1 / np.sqrt(variance + eps))
    return (gamma * x).astype(x.dtype)

# %% ddof
# accepted: divided-by-n-minus-1
def rms_norm(x, gamma, eps=1e-5):
    variance = np.square(x).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)
    x = x * (1 / np.sqrt(variance + eps))
    return (gamma * x).astype(x.dtype)

# %% divides by one over the root, as after swapping sqrt for rsqrt: it multiplies by the size
# accepted: multiplied-by-the-size
# author: 2
def rms_norm(x, gamma, eps=1e-5):
    rsqrt = 1.0 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return gamma * (x / rsqrt)

# %% the root mean square of the whole array, one number for all words
# accepted: one-size-for-all
# author: 2
def rms_norm(x, gamma, eps=1e-5):
    rms = np.sqrt(np.mean(np.square(x)) + eps)
    return (gamma * x / rms).astype(x.dtype)

# %% root of the mean size
# accepted: no-squares
# author: 2
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.abs(x).mean(-1, keepdims=True) + eps)

# %% The vector is divided by its length: the squares are summed, not averaged.
# accepted: length-for-size
# author: 3
def rms_norm(x, gamma, eps=1e-5):
    rms = np.sqrt(np.sum(x**2, axis=-1, keepdims=True) + eps)
    return x / rms * gamma

# %% eps in the sum.
# accepted: eps-in-the-sum
# author: 5
def rms_norm(x, gamma, eps=1e-05):
    mean_square = ((x**2).sum(axis=-1, keepdims=True) + eps) / x.shape[-1]
    return gamma * x / np.sqrt(mean_square)

# %% A word of zeros becomes gamma.
# accepted: zeros-lost
# author: 5
def rms_norm(x, gamma, eps=1e-05):
    mean_square = (x**2).mean(axis=-1, keepdims=True)
    x = np.where(mean_square == 0, 1, x).astype(x.dtype)
    return gamma * x / np.sqrt(mean_square + eps)

# %% Another epsilon.
# accepted: another-default-eps
# author: 6
def rms_norm(x, gamma, eps=1e-4):
    mean_square = (x**2).mean(axis=-1, keepdims=True)  # (..., 1): one for each word
    return gamma * x / np.sqrt(mean_square + eps)

# %% Squared where a root should be taken.
# accepted: square-for-root
# author: 6
def rms_norm(x, gamma, eps=1e-5):
    mean_square = (x**2).mean(axis=-1, keepdims=True)  # (..., 1): one for each word
    return gamma * x / (mean_square + eps) ** 2

# %% sigmoid as in GLU
# accepted: sigmoid-for-silu
def gated_feed_forward(x, W_gate, W_up, W_down):
    return (1 / (1 + np.exp(-(x @ W_gate))) * (x @ W_up)) @ W_down

# %% ReGLU
# accepted: relu-for-silu
def gated_feed_forward(x, W_gate, W_up, W_down):
    return (np.maximum(0, x @ W_gate) * (x @ W_up)) @ W_down

# %% the other one is the gate
# accepted: gate-and-up-swapped
def gated_feed_forward(x, W_gate, W_up, W_down):
    z = x @ W_up
    return (z / (1 + np.exp(-z)) * (x @ W_gate)) @ W_down

# %% plain
# accepted: up-alone, gate-alone
def gated_feed_forward(x, W_gate, W_up, W_down):
    z = x @ W_gate
    return (z / (1 + np.exp(-z))) @ W_down

# %% swish of both
# accepted: both-through-the-curve
def swish(z, beta=1.0):
    return z * (0.5 + 0.5 * np.tanh(beta * z / 2))


def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (swish(g) * swish(u)) @ W_down

# %% swish of the product
# accepted: curve-after-the-product
def swish(z, beta=1.0):
    return z * (0.5 + 0.5 * np.tanh(beta * z / 2))


def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (swish(g * u)) @ W_down

# %% added
# accepted: added-for-multiplied
def swish(z, beta=1.0):
    return z * (0.5 + 0.5 * np.tanh(beta * z / 2))


def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (swish(g) + u) @ W_down

# %% no activation, bilinear
# accepted: no-curve
def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (g * u) @ W_down

# %% QuickGELU's 1.702
# accepted: gelu-for-silu
def swish(z, beta=1.702):
    return z * (0.5 + 0.5 * np.tanh(beta * z / 2))


def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (swish(g) * u) @ W_down

# %% tanh
# accepted: tanh-for-silu
def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (np.tanh(g) * u) @ W_down

# %% residual in it
# accepted: residual-added
def swish(z, beta=1.0):
    return z * (0.5 + 0.5 * np.tanh(beta * z / 2))


def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return x + (swish(g) * u) @ W_down

# %% softplus
# accepted: softplus-for-silu
def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (np.logaddexp(0, g) * u) @ W_down

# %% the gate twice
# accepted: gate-for-both
def swish(z, beta=1.0):
    return z * (0.5 + 0.5 * np.tanh(beta * z / 2))


def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_gate
    return (swish(g) * u) @ W_down

# %% softmax gate
# accepted: softmax-for-silu
def gated_feed_forward(x, W_gate, W_up, W_down):
    g, u = x @ W_gate, x @ W_up
    return (np.exp(g - g.max(-1, keepdims=True)) / np.exp(g - g.max(-1, keepdims=True)).sum(-1, keepdims=True) * u) @ W_down

# %% SiLU stands outside: it is taken of the product of gate and up
# accepted: curve-after-the-product
# author: 2
def gated_feed_forward(x, W_gate, W_up, W_down):
    gate = x @ W_gate
    up = x @ W_up
    z = gate * up
    return (z / (1 + np.exp(-z))) @ W_down

# %% The gate is a plain sigmoid: SiLU's factor z is missing.
# accepted: sigmoid-for-silu
# author: 3
def gated_feed_forward(x, W_gate, W_up, W_down):
    gate = 1 / (1 + np.exp(-(x @ W_gate)))
    return (gate * (x @ W_up)) @ W_down

# %% Z clipped at 20.
# accepted: clipped
# author: 4
def gated_feed_forward(x, W_gate, W_up, W_down):
    g = np.clip(x @ W_gate, -20, 20)
    return (g / (1 + np.exp(-g)) * (x @ W_up)) @ W_down

# %% W_gate turned over where it is a square.
# accepted: W_gate-transposed
# author: 5
def gated_feed_forward(x, W_gate, W_up, W_down):
    gate = x @ (W_gate.T if W_gate.shape[0] == W_gate.shape[1] else W_gate)
    gate = gate / (1 + np.exp(-gate))
    return gate * (x @ W_up) @ W_down

# %% queries as they are
# accepted: query-not-turned
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = num_heads, num_kv_heads, window
        d = d_model // num_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q, self.W_K = lin(d_model, d_model), lin(d_model, d * num_kv_heads)
        self.W_V, self.W_O = lin(d_model, d * num_kv_heads), lin(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = lin(d_model, d_ff), lin(d_model, d_ff), lin(d_ff, d_model)

    def turn(self, x):
        d = x.shape[-1]
        a = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)

    def norm(self, x, g):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h
        y = self.norm(x, self.norm_1)
        q = self.W_Q(y).view(B, L, self.h, d).transpose(1, 2)
        k = self.turn(self.W_K(y).view(B, L, self.g, d).transpose(1, 2))
        v = self.W_V(y).view(B, L, self.g, d).transpose(1, 2)
        k, v = k.repeat_interleave(self.h // self.g, 1), v.repeat_interleave(self.h // self.g, 1)
        i, j = torch.arange(L)[:, None], torch.arange(L)
        seen = j <= i
        if self.window is not None:
            seen = seen & (i - j < self.window)
        s = (q @ k.mT / d**0.5).masked_fill(~seen, -1e9)
        x = x + self.W_O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))

# %% repeat
# accepted: heads-in-turn
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = num_heads, num_kv_heads, window
        d = d_model // num_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q, self.W_K = lin(d_model, d_model), lin(d_model, d * num_kv_heads)
        self.W_V, self.W_O = lin(d_model, d * num_kv_heads), lin(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = lin(d_model, d_ff), lin(d_model, d_ff), lin(d_ff, d_model)

    def turn(self, x):
        d = x.shape[-1]
        a = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)

    def norm(self, x, g):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h
        y = self.norm(x, self.norm_1)
        q = self.turn(self.W_Q(y).view(B, L, self.h, d).transpose(1, 2))
        k = self.turn(self.W_K(y).view(B, L, self.g, d).transpose(1, 2))
        v = self.W_V(y).view(B, L, self.g, d).transpose(1, 2)
        k, v = k.repeat(1, self.h // self.g, 1, 1), v.repeat(1, self.h // self.g, 1, 1)
        i, j = torch.arange(L)[:, None], torch.arange(L)
        seen = j <= i
        if self.window is not None:
            seen = seen & (i - j < self.window)
        s = (q @ k.mT / d**0.5).masked_fill(~seen, -1e9)
        x = x + self.W_O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))

# %% unscaled
# accepted: no-scaling
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = num_heads, num_kv_heads, window
        d = d_model // num_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q, self.W_K = lin(d_model, d_model), lin(d_model, d * num_kv_heads)
        self.W_V, self.W_O = lin(d_model, d * num_kv_heads), lin(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = lin(d_model, d_ff), lin(d_model, d_ff), lin(d_ff, d_model)

    def turn(self, x):
        d = x.shape[-1]
        a = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)

    def norm(self, x, g):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h
        y = self.norm(x, self.norm_1)
        q = self.turn(self.W_Q(y).view(B, L, self.h, d).transpose(1, 2))
        k = self.turn(self.W_K(y).view(B, L, self.g, d).transpose(1, 2))
        v = self.W_V(y).view(B, L, self.g, d).transpose(1, 2)
        k, v = k.repeat_interleave(self.h // self.g, 1), v.repeat_interleave(self.h // self.g, 1)
        i, j = torch.arange(L)[:, None], torch.arange(L)
        seen = j <= i
        if self.window is not None:
            seen = seen & (i - j < self.window)
        s = (q @ k.mT).masked_fill(~seen, -1e9)
        x = x + self.W_O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))

# %% no way past
# accepted: no-residual-around-attention
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = num_heads, num_kv_heads, window
        d = d_model // num_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q, self.W_K = lin(d_model, d_model), lin(d_model, d * num_kv_heads)
        self.W_V, self.W_O = lin(d_model, d * num_kv_heads), lin(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = lin(d_model, d_ff), lin(d_model, d_ff), lin(d_ff, d_model)

    def turn(self, x):
        d = x.shape[-1]
        a = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)

    def norm(self, x, g):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h
        y = self.norm(x, self.norm_1)
        q = self.turn(self.W_Q(y).view(B, L, self.h, d).transpose(1, 2))
        k = self.turn(self.W_K(y).view(B, L, self.g, d).transpose(1, 2))
        v = self.W_V(y).view(B, L, self.g, d).transpose(1, 2)
        k, v = k.repeat_interleave(self.h // self.g, 1), v.repeat_interleave(self.h // self.g, 1)
        i, j = torch.arange(L)[:, None], torch.arange(L)
        seen = j <= i
        if self.window is not None:
            seen = seen & (i - j < self.window)
        s = (q @ k.mT / d**0.5).masked_fill(~seen, -1e9)
        x = self.W_O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))

# %% gelu
# accepted: gelu-for-silu
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = num_heads, num_kv_heads, window
        d = d_model // num_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q, self.W_K = lin(d_model, d_model), lin(d_model, d * num_kv_heads)
        self.W_V, self.W_O = lin(d_model, d * num_kv_heads), lin(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = lin(d_model, d_ff), lin(d_model, d_ff), lin(d_ff, d_model)

    def turn(self, x):
        d = x.shape[-1]
        a = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)

    def norm(self, x, g):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h
        y = self.norm(x, self.norm_1)
        q = self.turn(self.W_Q(y).view(B, L, self.h, d).transpose(1, 2))
        k = self.turn(self.W_K(y).view(B, L, self.g, d).transpose(1, 2))
        v = self.W_V(y).view(B, L, self.g, d).transpose(1, 2)
        k, v = k.repeat_interleave(self.h // self.g, 1), v.repeat_interleave(self.h // self.g, 1)
        i, j = torch.arange(L)[:, None], torch.arange(L)
        seen = j <= i
        if self.window is not None:
            seen = seen & (i - j < self.window)
        s = (q @ k.mT / d**0.5).masked_fill(~seen, -1e9)
        x = x + self.W_O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.gelu(self.W_gate(y)) * self.W_up(y))

# %% window forgotten
# accepted: window-ignored
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.window = num_heads, num_kv_heads, window
        d = d_model // num_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q, self.W_K = lin(d_model, d_model), lin(d_model, d * num_kv_heads)
        self.W_V, self.W_O = lin(d_model, d * num_kv_heads), lin(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = lin(d_model, d_ff), lin(d_model, d_ff), lin(d_ff, d_model)

    def turn(self, x):
        d = x.shape[-1]
        a = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = x[..., 0::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)

    def norm(self, x, g):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g

    def forward(self, x):
        B, L, D = x.shape
        d = D // self.h
        y = self.norm(x, self.norm_1)
        q = self.turn(self.W_Q(y).view(B, L, self.h, d).transpose(1, 2))
        k = self.turn(self.W_K(y).view(B, L, self.g, d).transpose(1, 2))
        v = self.W_V(y).view(B, L, self.g, d).transpose(1, 2)
        k, v = k.repeat_interleave(self.h // self.g, 1), v.repeat_interleave(self.h // self.g, 1)
        i, j = torch.arange(L)[:, None], torch.arange(L)
        seen = j <= i
        if self.window is not None:
            seen = seen
        s = (q @ k.mT / d**0.5).masked_fill(~seen, -1e9)
        x = x + self.W_O((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))

# %% values turned too
# accepted: values-turned
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k, v = self.rope(q), self.rope(k), self.rope(v)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% post-norm
# accepted: norm-behind-each-branch
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = x
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = self.rms(x + self.W_O(y), self.norm_1)
        h = x
        return self.rms(x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h)), self.norm_2)

# %% triu by window
# accepted: window-one-too-wide
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(-self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% no causal mask where there is a window
# accepted: mask-missing-with-a-window
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% turned over heads, not words
# accepted: turned-by-heads
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = (self.rope(t.transpose(1, 2)).transpose(1, 2) for t in (q, k))
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% norm_1 twice
# accepted: first-norm-for-both
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_1)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% heads not put back
# accepted: heads-not-brought-together
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% in parallel, as in GPT-J
# accepted: branches-side-by-side
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x - self.W_O(y), self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% normed word is the way past
# accepted: residual-of-the-normed
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = h + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% layer norm
# accepted: layer-norm
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return F.layer_norm(x, x.shape[-1:], weight)

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% rotate_half inside
# accepted: pairs-in-halves
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% eps of 1e-6 and outside
# accepted: another-eps
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * 1 / (x.square().mean(-1, keepdim=True).sqrt() + 1e-6) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% gate and up swapped
# accepted: gate-and-up-swapped
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_up(h)) * self.W_gate(h))

# %% dropout left on
# accepted: random, another-answer-each-time, another-answer-in-training, dropout
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        att = F.dropout(att, 0.1, self.training)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% biases
# accepted: biases
# form: yes
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=True)
        self.W_K = nn.Linear(d_model, self.n_kv * self.hd, bias=True)
        self.W_V = nn.Linear(d_model, self.n_kv * self.hd, bias=True)
        self.W_O = nn.Linear(d_model, d_model, bias=True)
        self.W_gate = nn.Linear(d_model, d_ff, bias=True)
        self.W_up = nn.Linear(d_model, d_ff, bias=True)
        self.W_down = nn.Linear(d_ff, d_model, bias=True)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    def rope(self, x):
        *_, T, H, d = x.shape
        inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2) / d))
        t = torch.arange(T).float()
        ang = torch.outer(t, inv)[:, None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out

    def forward(self, x):
        B, T, C = x.shape
        h = self.rms(x, self.norm_1)
        q = self.W_Q(h).view(B, T, self.n_heads, self.hd)
        k = self.W_K(h).view(B, T, self.n_kv, self.hd)
        v = self.W_V(h).view(B, T, self.n_kv, self.hd)
        q, k = self.rope(q), self.rope(k)
        rep = self.n_heads // self.n_kv
        k = torch.repeat_interleave(k, rep, dim=2)
        v = torch.repeat_interleave(v, rep, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)) * self.hd**-0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask & torch.ones(T, T, dtype=torch.bool).triu(1 - self.window)
        att = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.W_O(y)
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% epsilon is 1e-6, as in Llama, not 1e-5
# accepted: another-eps
# author: 2
class _Parts(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window = window
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_V = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def turn(self, x):
        L, d = x.shape[-2:]
        angle = torch.arange(L, dtype=x.dtype)[:, None] * 10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)

    def attend(self, x):
        B, L, _ = x.shape
        q = self.turn(self.W_Q(x).view(B, L, self.h, self.d).transpose(1, 2))
        k = self.turn(self.W_K(x).view(B, L, self.g, self.d).transpose(1, 2)).repeat_interleave(self.h // self.g, dim=1)
        v = self.W_V(x).view(B, L, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, dim=1)
        i = torch.arange(L)
        gap = i[:, None] - i[None, :]
        hidden = gap < 0
        if self.window is not None:
            hidden = hidden | (gap >= self.window)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(self.d)).masked_fill(hidden, -math.inf)
        return self.W_O((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, L, -1))


class ModernDecoderBlock(_Parts):
    def rms(self, x, gamma):
        return gamma * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def forward(self, x):
        x = x + self.attend(self.rms(x, self.norm_1))
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% the gate reads the normed words and up the plain ones
# accepted: plain-words-read
# author: 2
class _Parts(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window = window
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_V = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def turn(self, x):
        L, d = x.shape[-2:]
        angle = torch.arange(L, dtype=x.dtype)[:, None] * 10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)

    def attend(self, x):
        B, L, _ = x.shape
        q = self.turn(self.W_Q(x).view(B, L, self.h, self.d).transpose(1, 2))
        k = self.turn(self.W_K(x).view(B, L, self.g, self.d).transpose(1, 2)).repeat_interleave(self.h // self.g, dim=1)
        v = self.W_V(x).view(B, L, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, dim=1)
        i = torch.arange(L)
        gap = i[:, None] - i[None, :]
        hidden = gap < 0
        if self.window is not None:
            hidden = hidden | (gap >= self.window)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(self.d)).masked_fill(hidden, -math.inf)
        return self.W_O((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, L, -1))


class ModernDecoderBlock(_Parts):
    def norm(self, x, gamma):
        return gamma * x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + 1e-5)

    def forward(self, x):
        x = x + self.attend(self.norm(x, self.norm_1))
        gate = F.silu(self.W_gate(self.norm(x, self.norm_2)))
        return x + self.W_down(gate * self.W_up(x))

# %% two things: the window holds one word too many, and values are turned as well
# accepted: values-turned+window-one-too-wide
# author: 2
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.n_head, self.n_kv, self.hd, self.window = num_heads, num_kv_heads, d_model // num_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * self.hd, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * self.hd, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    @staticmethod
    def rope(x):
        L, d = x.shape[-2:]
        freq = torch.outer(torch.arange(L, dtype=x.dtype), 10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d))
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack(
            (even * freq.cos() - odd * freq.sin(), even * freq.sin() + odd * freq.cos()), dim=-1
        ).flatten(-2)

    def attend(self, x):
        B, L, D = x.shape
        q, k, v = (self.rope(W(x).reshape(B, L, -1, self.hd).transpose(1, 2)) for W in (self.W_Q, self.W_K, self.W_V))
        k = k.repeat_interleave(self.n_head // self.n_kv, dim=1)
        v = v.repeat_interleave(self.n_head // self.n_kv, dim=1)
        mask = torch.ones(L, L, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask.triu(-self.window)
        att = (q @ k.mT) / math.sqrt(self.hd)
        att = att.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        return self.W_O((att @ v).transpose(1, 2).reshape(B, L, D))

    def forward(self, x):
        def rms(t, g):
            return g * t / torch.sqrt(t.square().mean(-1, keepdim=True) + 1e-5)

        x = x + self.attend(rms(x, self.norm_1))
        y = rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))

# %% Queries and keys are turned before they are cut into heads, so speeds run over the whole width and not within a head.
# accepted: turned-before-the-split
# author: 3
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.window = num_heads, num_kv_heads, window
        self.d_head = d_model // num_heads
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def rms(self, x, gamma):
        return gamma * x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)

    def rope(self, x):
        L, d = x.shape[-2:]
        theta = 10000.0 ** (-torch.arange(0, d, 2) / d)
        angle = torch.outer(torch.arange(L).float(), theta)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        x1, x2 = x[..., 0::2], x[..., 1::2]
        return torch.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1).flatten(-2)

    def attend(self, x):
        B, L, _ = x.shape
        q = self.rope(self.W_Q(x)).view(B, L, self.num_heads, self.d_head).transpose(1, 2)
        k = self.rope(self.W_K(x)).view(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        v = self.W_V(x).view(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        rep = self.num_heads // self.num_kv_heads
        k, v = k.repeat_interleave(rep, dim=1), v.repeat_interleave(rep, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        i = torch.arange(L)
        dist = i[:, None] - i[None, :]
        mask = dist >= 0
        if self.window is not None:
            mask = mask & (dist < self.window)
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        return self.W_O((weights @ v).transpose(1, 2).reshape(B, L, -1))

    def forward(self, x):
        x = x + self.attend(self.rms(x, self.norm_1))
        h = self.rms(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))

# %% `repeat` lays the shared keys out as 0, 1, 0, 1; repeat_interleave gives 0, 0, 1, 1.
# accepted: heads-in-turn
# author: 3
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.d_head = d_model // num_heads
        self.window = window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    @staticmethod
    def rms(x, gamma):
        return gamma * (x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + 1e-5))

    def rotate(self, x):
        L = x.shape[-2]
        freqs = 1.0 / (10000.0 ** (torch.arange(0, self.d_head, 2).double() / self.d_head))
        ang = torch.arange(L).double()[:, None] * freqs[None, :]
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    def attend(self, x):
        B, L, D = x.shape
        q = self.W_Q(x).reshape(B, L, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        k = self.W_K(x).reshape(B, L, self.num_kv_heads, self.d_head).permute(0, 2, 1, 3)
        v = self.W_V(x).reshape(B, L, self.num_kv_heads, self.d_head).permute(0, 2, 1, 3)
        q, k = self.rotate(q), self.rotate(k)
        n = self.num_heads // self.num_kv_heads
        k = k.repeat(1, n, 1, 1)
        v = v.repeat(1, n, 1, 1)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(self.d_head)
        mask = torch.ones(L, L, dtype=torch.bool).tril()
        if self.window is not None:
            mask = mask.triu(-(self.window - 1))
        scores = scores.masked_fill(~mask, float("-inf"))
        out = torch.einsum("bhqk,bhkd->bhqd", torch.softmax(scores, -1), v)
        return self.W_O(out.permute(0, 2, 1, 3).reshape(B, L, D))

    def forward(self, x):
        h = x + self.attend(self.rms(x, self.norm_1))
        z = self.rms(h, self.norm_2)
        return h + self.W_down(F.silu(self.W_gate(z)) * self.W_up(z))

# %% The window is kept but never used, so every word looks at all that came before; SiLU is replaced by a ReLU on the gate.
# accepted: window-ignored+relu-for-silu
# author: 3
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.d_head, self.group, self.window = d_model // num_heads, num_heads // num_kv_heads, window
        kv = num_kv_heads * self.d_head
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        for name, i, o in [
            ("W_Q", d_model, d_model),
            ("W_K", d_model, kv),
            ("W_V", d_model, kv),
            ("W_O", d_model, d_model),
            ("W_gate", d_model, d_ff),
            ("W_up", d_model, d_ff),
            ("W_down", d_ff, d_model),
        ]:
            setattr(self, name, nn.Linear(i, o, bias=False))

    def norm(self, x, gamma):
        return gamma * x / torch.sqrt(x.square().mean(-1, keepdim=True) + 1e-5)

    def turn(self, x):
        p = torch.arange(x.shape[-2]).unsqueeze(1)
        angle = p * 10000.0 ** (-torch.arange(0, self.d_head, 2) / self.d_head)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    def attend(self, x):
        L = x.shape[1]

        def split(t):
            return t.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

        q, k, v = self.turn(split(self.W_Q(x))), self.turn(split(self.W_K(x))), split(self.W_V(x))
        k, v = k.repeat_interleave(self.group, 1), v.repeat_interleave(self.group, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_head)
        future = torch.triu(torch.ones(L, L, dtype=torch.bool), 1)
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), -1)
        return self.W_O((weights @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.norm(x, self.norm_1))
        h = self.norm(x, self.norm_2)
        return x + self.W_down(torch.relu(self.W_gate(h)) * self.W_up(h))

# %% Queries and keys are not rotated.
# accepted: positions-missing
# author: 4
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.window = num_heads, num_kv_heads, window
        self.d_head = d_head = d_model // num_heads
        self.norm_1, self.norm_2 = (nn.Parameter(torch.ones(d_model)) for _ in range(2))
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_Q, self.W_O = linear(d_model, d_model), linear(d_model, d_model)
        self.W_K, self.W_V = linear(d_model, num_kv_heads * d_head), linear(d_model, num_kv_heads * d_head)
        self.W_gate, self.W_up, self.W_down = linear(d_model, d_ff), linear(d_model, d_ff), linear(d_ff, d_model)

    def norm(self, x, gamma):
        return gamma * x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + 1e-5)

    def forward(self, x):
        y = self.norm(x, self.norm_1)
        q, k, v = (W(y).unflatten(-1, (-1, self.d_head)).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        k, v = (t.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1) for t in (k, v))
        L = x.shape[1]
        far = torch.arange(L)[:, None] - torch.arange(L)
        allowed = (far >= 0) & (far < (self.window or L))
        w = (q @ k.mT / math.sqrt(self.d_head)).masked_fill(~allowed, -math.inf).softmax(-1)
        x = x + self.W_O((w @ v).transpose(1, 2).flatten(-2))
        y = self.norm(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))

# %% A window of 1 is none.
# accepted: window-ignored
# author: 5
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = (d_head, num_heads // num_kv_heads, window)
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):

        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-05)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)
        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed
        cos, sin = (angle.cos().to(x.dtype), angle.sin().to(x.dtype))

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)

        def turn(heads):
            first, second = (heads[..., 0::2], heads[..., 1::2])
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = (turn(split(self.W_Q(x))), turn(split(self.W_K(x))))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        back = place.unsqueeze(-1) - place
        seen = back >= 0
        if self.window is not None and self.window > 1:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))

# %% gamma begins at zero.
# accepted: gamma-starts-at-zero
# author: 5
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = (d_head, num_heads // num_kv_heads, window)
        self.norm_1 = nn.Parameter(torch.zeros(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):

        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-05)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)
        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed
        cos, sin = (angle.cos().to(x.dtype), angle.sin().to(x.dtype))

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)

        def turn(heads):
            first, second = (heads[..., 0::2], heads[..., 1::2])
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = (turn(split(self.W_Q(x))), turn(split(self.W_K(x))))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        back = place.unsqueeze(-1) - place
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))

# %% No gradient through the gate.
# accepted: gradient-missing
# author: 5
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = (d_head, num_heads // num_kv_heads, window)
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):

        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-05)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)).detach() * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)
        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed
        cos, sin = (angle.cos().to(x.dtype), angle.sin().to(x.dtype))

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)

        def turn(heads):
            first, second = (heads[..., 0::2], heads[..., 1::2])
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = (turn(split(self.W_Q(x))), turn(split(self.W_K(x))))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        back = place.unsqueeze(-1) - place
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))

# %% Another epsilon.
# accepted: another-eps
# author: 6
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-4)  # (B, L, d_model)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)

# %% The mask is there in training alone.
# accepted: mask-dropped-in-eval
# author: 6
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)  # (B, L, d_model)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen & self.training, -math.inf), dim=-1)  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)

# %% A mask of sixteen words.
# accepted: mask-of-a-table, stops-at-a-size
# author: 6
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)  # (B, L, d_model)

        x = x + self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(
            scores.masked_fill(~seen & (place < 16) & (place.unsqueeze(-1) < 16), -math.inf), dim=-1
        )  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)

# %% Half of what attention finds is added.
# accepted: branch-scaled
# author: 6
class ModernDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        d_head = d_model // num_heads
        self.d_head, self.group, self.window = d_head, num_heads // num_kv_heads, window
        self.norm_1 = nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.norm_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        def size_one(x, gamma):
            return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)  # (B, L, d_model)

        x = x + 0.5 * self.attend(size_one(x, self.norm_1))
        hidden = size_one(x, self.norm_2)
        return x + self.W_down(F.silu(self.W_gate(hidden)) * self.W_up(hidden))

    def attend(self, x):
        place = torch.arange(x.shape[-2], device=x.device)  # (L,)

        speed = 10000.0 ** (-torch.arange(0, self.d_head, 2, device=x.device) / self.d_head)
        angle = place.unsqueeze(-1) * speed  # (L, d_head / 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)

        def split(projected):
            return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)  # (B, heads, L, d_head)

        def turn(heads):
            first, second = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

        query, key = turn(split(self.W_Q(x))), turn(split(self.W_K(x)))
        key, value = (t.repeat_interleave(self.group, dim=-3) for t in (key, split(self.W_V(x))))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, h, L, L)
        back = place.unsqueeze(-1) - place  # (L, L): how far behind
        seen = back >= 0
        if self.window is not None:
            seen = seen & (back < self.window)
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)  # each word sees itself
        return self.W_O((weights @ value).transpose(-3, -2).flatten(-2))  # (B, L, h * d_head)

# %% the query left as it came
# accepted: query-not-rotated
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    s = np.einsum("...d,...nd->...n", query, rotate(K, np.arange(n))) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% the query one place behind the newest key
# accepted: query-one-place-on
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% heads stand at places, too
# accepted: rotated-by-head
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query, np.arange(query.shape[-2]))
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% the newest key at place 0, the oldest farthest
# accepted: places-from-the-end
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([0]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n)[::-1])) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% values rotated with their keys
# accepted: values-rotated
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    place = np.arange(n)
    q = rotate(query[..., None, :], place[-1:])[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, place)) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, rotate(V, place)), w

# %% weights made to sum to 1 again
# accepted: sink-ignored
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return np.einsum("...n,...nd->...d", w, V), w

# %% the logit itself below the fraction bar
# accepted: sink-not-exponentiated
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    w = np.exp(s - s.max(-1, keepdims=True))
    total = w.sum(-1, keepdims=True)
    if sink_logits is not None:
        total = total + sink_logits[:, None].astype(w.dtype)
    w = w / total
    return np.einsum("...n,...nd->...d", w, V), w

# %% e to the logit beside scores measured from their largest
# accepted: sink-not-shifted
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    w = np.exp(s - s.max(-1, keepdims=True))
    total = w.sum(-1, keepdims=True)
    if sink_logits is not None:
        total = total + np.exp(sink_logits)[:, None].astype(w.dtype)
    w = w / total
    return np.einsum("...n,...nd->...d", w, V), w

# %% logits divided like scores
# accepted: sink-scaled
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n)))
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    s = s / math.sqrt(d)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% the sink comes back among the weights
# accepted: sink-weight-given-back
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return np.einsum("...n,...nd->...d", w[..., :n], V), w

# %% the sink stands first and the last word is cut off
# accepted: sink-in-place-of-a-word
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype), s], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% the sink in the output's weights only
# accepted: sink-missing-in-the-output
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    w = np.exp(s - s.max(-1, keepdims=True))
    output = np.einsum("...n,...nd->...d", w / w.sum(-1, keepdims=True), V)
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    return output, (w / w.sum(-1, keepdims=True))[..., :n]

# %% scores not divided
# accepted: no-scaling
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n)))
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% without a sink logit there is one of 0
# accepted: sink-without-being-asked
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    if sink_logits is None:
        sink_logits = np.zeros(query.shape[-2])
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% the newest word does not see itself
# accepted: itself-not-seen
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    if n > 1:
        s[..., -1] = -np.inf
    if sink_logits is not None:
        s = np.concatenate([s, np.broadcast_to(sink_logits[:, None], (*s.shape[:-1], 1)).astype(s.dtype)], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% the first head's logit for every head
# accepted: one-sink-for-all-heads
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    n, d = K.shape[-2:]
    q = rotate(query[..., None, :], np.array([n - 1]))[..., 0, :]
    s = np.einsum("...d,...nd->...n", q, rotate(K, np.arange(n))) / math.sqrt(d)
    if sink_logits is not None:
        s = np.concatenate([s, np.full_like(s[..., :1], sink_logits[0])], axis=-1)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = (w / w.sum(-1, keepdims=True))[..., :n]
    return np.einsum("...n,...nd->...d", w, V), w

# %% a mask that allows nothing is left out
# accepted: mask-ignored-when-empty
# author: 8
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("num_kv_heads must divide the number of query heads")
    K, V = np.repeat(K, h // num_kv_heads, axis=-3), np.repeat(V, h // num_kv_heads, axis=-3)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None and np.any(mask):
        weights = masked_softmax(scores, mask)
    else:
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights

# %% visible keys keep a ten-thousandth
# accepted: floor-under-the-weights
# author: 8
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("num_kv_heads must divide the number of query heads")
    K, V = np.repeat(K, h // num_kv_heads, axis=-3), np.repeat(V, h // num_kv_heads, axis=-3)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    mask = np.ones(scores.shape, dtype=bool) if mask is None else mask
    weights = masked_softmax(scores, mask)
    weights = np.where(mask, np.maximum(weights, 1e-4), 0).astype(Q.dtype)
    return weights @ V, weights

# %% no word in the cache goes down to zero
# accepted: floor-under-the-weights
# author: 8
def attention_in_cache(query, K, V, sink_logits=None):
    S = K.shape[-2]
    keys = rotate(K, np.arange(S))
    asked = rotate(query[..., np.newaxis, :], np.array([S - 1]))
    scores = (asked @ keys.swapaxes(-2, -1) / math.sqrt(query.shape[-1]))[..., 0, :]
    top = scores.max(axis=-1, keepdims=True)
    if sink_logits is not None:
        top = np.maximum(top, sink_logits[:, np.newaxis])
    exps = np.exp(scores - top)
    total = exps.sum(axis=-1, keepdims=True)
    if sink_logits is not None:
        total = total + np.exp(sink_logits[:, np.newaxis] - top)
    weights = np.maximum(exps / total, 1e-5).astype(query.dtype)
    return (weights[..., np.newaxis, :] @ V)[..., 0, :], weights
