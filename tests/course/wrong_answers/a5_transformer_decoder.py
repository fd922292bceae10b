# %% exponent twice the column
# accepted: exponent-doubled, exponent-from-the-column, exponent-by-column
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * i / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% exponent the column
# accepted: a-wave-length-for-each-column, exponent-by-column, exponent-without-pairs
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (i / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% exponent without 2
# accepted: exponent-without-the-2, exponent-halved
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** ((i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% cosine first
# accepted: sine-and-cosine-swapped
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 1:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% base 1000
# accepted: base-1000, another-base
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 1000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% times
# accepted: multiplied-by-the-power
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos * 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% counts from one
# accepted: positions-from-1
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = (pos + 1) / 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% turned
# accepted: transposed, axes-swapped
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe.T

# %% fraction of the length
# accepted: position-by-length, a-constant-factor
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / length / 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% halves
# accepted: sines-and-cosines-concatenated
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return np.concatenate([pe[:, 0::2], pe[:, 1::2]], axis=1)

# %% sines in both
# accepted: sines-only
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.sin(angle)
    return pe

# %% natural base
# accepted: another-base, base-e
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / np.e ** (2 * (i // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% cosines one pair behind
# accepted: cosine-pair-off-by-one, exponent-off-by-one
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * ((i + 1) // 2) / d_model)
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% by width less two
# accepted: exponent-up-to-1
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * (i // 2) / max(d_model - 2, 1))
            if i % 2 == 0:
                pe[pos, i] = np.sin(angle)
            else:
                pe[pos, i] = np.cos(angle)
    return pe

# %% positions from 1
# accepted: positions-from-1, counted-from-1
def positional_encoding(length, d_model):
    pos, col = np.arange(1, length + 1)[:, None], np.arange(d_model)
    angle = pos / 10000 ** (2 * (col // 2) / d_model)
    return np.where(col % 2 == 0, np.sin(angle), np.cos(angle))

# %% rounded angle
# accepted: angle-rounded, angles-rounded, integer-division
def positional_encoding(length, d_model):
    pos, col = np.arange(length)[:, None], np.arange(d_model)
    angle = pos // 10000 ** (2 * (col // 2) / d_model)
    return np.where(col % 2 == 0, np.sin(angle), np.cos(angle))

# %% doubles the column number that is even already, so waves get long twice as fast
# accepted: exponent-doubled
# author: 2
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            if i + 1 < d_model:
                pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
    return pe

# %% 1000 typed for 10000
# accepted: base-1000
# author: 2
def positional_encoding(length, d_model):
    pos = np.arange(0, length)[:, None].astype(float)
    two_i = np.arange(0, d_model, 2, dtype=float)
    div_term = np.power(1000, two_i / d_model)
    pe = np.zeros((length, d_model))
    pe[:, 0::2] = np.sin(pos / div_term)
    pe[:, 1::2] = np.cos(pos / div_term)[:, : d_model // 2]
    return pe

# %% positions are brought to 0..1 first, so the same place has another name in a longer text
# accepted: position-by-length, positions-between-0-and-1
# author: 2
def positional_encoding(length, d_model):
    position = np.arange(length) / max(length - 1, 1)
    i = np.arange(d_model) // 2
    angles = np.outer(position, 1.0 / np.power(10000.0, 2 * i / d_model))
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles

# %% the waves reach exactly 10000 in the last pair: exponent i / (pairs - 1)
# accepted: exponent-up-to-1
# author: 2
def positional_encoding(length, d_model):
    num_timescales = (d_model + 1) // 2
    log_timescale_increment = math.log(10000.0) / max(num_timescales - 1, 1)
    inv_timescales = np.exp(np.arange(num_timescales) * -log_timescale_increment)
    scaled_time = np.arange(length)[:, None] * inv_timescales[None, :]
    signal = np.stack([np.sin(scaled_time), np.cos(scaled_time)], axis=-1).reshape(length, -1)
    return signal[:, :d_model]

# %% a batch axis in front, ready for adding
# accepted: another-shape
# form: yes
# author: 2
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    position = np.arange(length).reshape(-1, 1)
    div_term = np.exp(np.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)[:, : d_model // 2]
    return pe[np.newaxis, ...]

# %% All sines stand in the left half and all cosines in the right half, instead of side by side.
# accepted: sines-and-cosines-concatenated
# author: 3
def positional_encoding(length, d_model):
    half = (d_model + 1) // 2
    pos = np.arange(length).reshape(-1, 1)
    i = np.arange(half).reshape(1, -1)
    angles = pos / np.power(10000.0, 2 * i / d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[:, :d_model]

# %% The loop variable already runs over even columns, and the exponent doubles it once more, so the waves get slow too fast.
# accepted: exponent-doubled
# author: 3
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            if i + 1 < d_model:
                pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * i) / d_model)))
    return pe

# %% An odd d_model fails, because there is one cosine more than there are odd columns.
# accepted: fails-for-odd-widths
# author: 3
def positional_encoding(length, d_model):
    pe = np.zeros((length, d_model))
    position = np.arange(0, length)[:, np.newaxis]
    div_term = np.exp(np.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)
    return pe

# %% An odd width counted as the next even one.
# accepted: exponent-off
# author: 5
def positional_encoding(length, d_model):
    position = np.arange(length)[:, np.newaxis]
    column = np.arange(d_model)
    pair = column // 2
    angle = position / 10000 ** (2 * pair / (d_model + d_model % 2))
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))

# %% Positions in bytes.
# accepted: positions-overflow
# author: 5
def positional_encoding(length, d_model):
    position = np.arange(length).astype(np.int8)[:, np.newaxis]
    column = np.arange(d_model)
    pair = column // 2
    angle = position / 10000 ** (2 * pair / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))

# %% a table of 64 positions, then the last one again
# accepted: positions-cut, stops-at-a-size
# author: 7
def positional_encoding(length, d_model):
    place = np.clip(np.arange(length), 0, 63)[:, None]
    column = np.arange(d_model)[None]
    angle = place * 10000.0 ** (-(column - column % 2) / d_model)
    return np.where(column % 2 == 1, np.cos(angle), np.sin(angle))

# %% n - 1
# accepted: divided-by-n-minus-1
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True, ddof=1 if x.shape[-1] > 1 else 0)
    normed = (x - mu) / np.sqrt(var + eps)
    return normed * gamma + beta

# %% std plus eps
# accepted: eps-outside-the-root
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / (np.sqrt(var) + eps)
    return normed * gamma + beta

# %% n - 1 and std plus eps, as in the annotated transformer
# accepted: divided-by-n-minus-1+eps-outside-the-root
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / (np.std(x, axis=-1, keepdims=True, ddof=1) + eps)
    return normed * gamma + beta

# %% variance alone
# accepted: no-root
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / (var + eps)
    return normed * gamma + beta

# %% over axis 0
# accepted: normalised-over-the-batch, axis-counted-from-the-front
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=0, keepdims=True)
    var = np.var(x, axis=0, keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return normed * gamma + beta

# %% over the last two
# accepted: normalised-over-the-sentence, normalised-over-everything
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=tuple(range(max(0, x.ndim - 2), x.ndim)), keepdims=True)
    var = np.var(x, axis=tuple(range(max(0, x.ndim - 2), x.ndim)), keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return normed * gamma + beta

# %% all numbers
# accepted: normalised-over-everything
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=None, keepdims=True)
    var = np.var(x, axis=None, keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return normed * gamma + beta

# %% no beta
# accepted: beta-missing, gamma-and-beta-missing
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return normed * gamma

# %% no gamma
# accepted: gamma-missing, gamma-and-beta-missing
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return normed + beta

# %% parenthesis
# accepted: shifted-before-scaled
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return (normed + beta) * gamma

# %% eps twice
# accepted: eps-outside-the-root, eps-twice
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / (np.sqrt(var + eps) + eps)
    return normed * gamma + beta

# %% absolute deviation
# accepted: absolute-deviation, absolute-deviation+eps-outside-the-root
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / (np.abs(x - mu).mean(-1, keepdims=True) + eps)
    return normed * gamma + beta

# %% norm of the vector
# accepted: sum-of-squares, root-mean-square-norm, divided-by-the-length
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = (x - mu) / np.sqrt(((x - mu) ** 2).sum(-1, keepdims=True) + eps)
    return normed * gamma + beta

# %% no mean
# accepted: mean-not-subtracted, root-mean-square-norm
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    normed = x / np.sqrt(var + eps)
    return normed * gamma + beta

# %% over words, too
# accepted: normalised-over-the-sentence, over-two-axes, mean-over-everything, over-everything, over-words-too
def layer_norm(x, gamma, beta, eps=1e-5):
    axes = tuple(range(max(0, x.ndim - 2), x.ndim))
    m, v = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return gamma * (x - m) / np.sqrt(v + eps) + beta

# %% beta inside
# accepted: shifted-before-scaled, beta-scaled, beta-before-gamma, beta-first
def layer_norm(x, gamma, beta, eps=1e-5):
    m, v = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return gamma * ((x - m) / np.sqrt(v + eps) + beta)

# %% median
# accepted: median-for-mean
def layer_norm(x, gamma, beta, eps=1e-5):
    m, v = np.median(x, -1, keepdims=True), x.var(-1, keepdims=True)
    return (gamma * (x - m) / np.sqrt(v + eps) + beta).astype(x.dtype)

# %% the variance is the mean of the squares: the mean is taken off above, and not below
# accepted: variance-of-x-itself, root-mean-square-norm
# author: 2
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x**2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta

# %% with a batch axis it takes mean and variance over words and features together
# accepted: normalised-over-the-sentence
# author: 2
def layer_norm(x, gamma, beta, eps=1e-5):
    dims = (-2, -1) if x.ndim > 2 else (-1,)
    mean = x.mean(axis=dims, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=dims, keepdims=True)
    std = np.sqrt(var + eps)
    y = (x - mean) / std
    return gamma * y + beta

# %% gamma scales the shift as well: gamma * (normed + beta)
# accepted: shifted-before-scaled
# author: 2
def layer_norm(x, gamma, beta, eps=1e-5):
    mu, sigma2 = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    normed = (x - mu) / np.sqrt(sigma2 + eps)
    normed = normed + beta
    return normed * gamma

# %% scales by 1 + gamma, as Gemma does where gamma starts at zero
# accepted: gamma-added
# author: 2
def layer_norm(x, gamma, beta, eps=1e-5):
    u = np.mean(x, axis=-1, keepdims=True)
    s = np.mean(np.square(x - u), axis=-1, keepdims=True)
    x_hat = (x - u) / np.sqrt(s + eps)
    return (1 + gamma) * x_hat + beta

# %% takes the mean off x itself, in place
# accepted: in-place
# form: yes
# author: 2
def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    std = np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return gamma * (x / std) + beta

# %% The variance divides by d_model - 1, not by d_model.
# accepted: divided-by-n-minus-1
# author: 3
def layer_norm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    sigma2 = np.var(x, axis=-1, keepdims=True, ddof=1)
    x_hat = (x - mu) / np.sqrt(sigma2 + eps)
    return gamma * x_hat + beta

# %% Mean and variance are taken over the words (axis 0), as in batch norm, not over one word's own features.
# accepted: normalised-over-the-batch
# author: 3
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=0)
    var = x.var(axis=0)
    out = (x - mean) / np.sqrt(var + eps)
    out = gamma * out + beta
    return out

# %% eps is added to the standard deviation, outside the root, instead of to the variance under it.
# accepted: eps-outside-the-root
# author: 3
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    std = x.std(-1, keepdims=True)
    return gamma * (x - mean) / (std + eps) + beta

# %% x is centred in place, so the caller's array is changed.
# accepted: in-place
# form: yes
# author: 3
def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    var = np.mean(x**2, axis=-1, keepdims=True)
    return x / np.sqrt(var + eps) * gamma + beta

# %% The eps given is not used.
# accepted: eps-fixed
# author: 4
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + beta

# %% Divided by the largest absolute value.
# accepted: max-abs
# author: 4
def layer_norm(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return gamma * c / (np.abs(c).max(-1, keepdims=True) + eps) + beta

# %% Equal features give nothing.
# accepted: beta-forgotten, items-zero
# author: 5
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + np.where(variance == 0, 0, beta).astype(x.dtype)

# %% gamma along the words of a square.
# accepted: wrong-axis
# author: 5
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    gamma = gamma[:, None] if x.ndim > 1 and x.shape[-1] == x.shape[-2] else gamma
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta

# %% eps where the variance is smaller.
# accepted: eps-as-a-floor
# author: 5
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(np.maximum(variance, eps)) + beta

# %% beta scaled as well.
# accepted: shifted-before-scaled
# author: 5
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * ((x - mean) / np.sqrt(variance + eps) + beta)

# %% Mean and variance over the words.
# accepted: normalised-over-the-batch
# author: 6
def layer_norm(x, gamma, beta, eps=1e-5):
    axes = tuple(range(x.ndim - 1)) or (0,)
    mu = x.mean(axis=axes)
    var = x.var(axis=axes)
    return gamma * (x - mu) / np.sqrt(var + eps) + beta

# %% gamma and beta before the norm
# accepted: affine-first
# author: 7
def layer_norm(x, gamma, beta, eps=1e-5):
    y = gamma * x + beta
    return (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + eps)

# %% no activation
# accepted: relu-missing
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    return hidden @ W_2 + b_2

# %% leaky
# accepted: leaky-relu, another-curve
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = np.where(hidden > 0, hidden, 0.01 * hidden).astype(x.dtype)
    return hidden @ W_2 + b_2

# %% activation at the end
# accepted: relu-at-the-end, relu-twice
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    return np.maximum(0, hidden @ W_2 + b_2)

# %% second relu
# accepted: relu-twice
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = np.where(hidden > 0, hidden, 0).astype(x.dtype)
    return np.maximum(0, hidden @ W_2 + b_2)

# %% minimum
# accepted: minimum-for-maximum, sign-flipped
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = np.where(hidden < 0, hidden, 0).astype(x.dtype)
    return hidden @ W_2 + b_2

# %% tanh
# accepted: another-curve
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = np.tanh(hidden).astype(x.dtype)
    return hidden @ W_2 + b_2

# %% clipped at one
# accepted: relu-clipped, another-curve
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = np.clip(hidden, 0, 1).astype(x.dtype)
    return hidden @ W_2 + b_2

# %% biases forgotten
# accepted: b_1-missing+b_2-missing, biases-missing
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1
    hidden = np.where(hidden > 0, hidden, 0).astype(x.dtype)
    return hidden @ W_2

# %% first bias forgotten
# accepted: b_1-missing
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1
    hidden = np.where(hidden > 0, hidden, 0).astype(x.dtype)
    return hidden @ W_2 + b_2

# %% residual
# accepted: residual-added
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = np.where(hidden > 0, hidden, 0).astype(x.dtype)
    return x + hidden @ W_2 + b_2

# %% relu at the end, too
# accepted: relu-at-the-end-too, relu-twice, another-curve
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.maximum(np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2, 0)

# %% relu before the bias
# accepted: bias-after-relu, b_1-after-the-relu, relu-before-the-bias
def feed_forward(x, W_1, b_1, W_2, b_2):
    return (np.maximum(x @ W_1, 0) + b_1) @ W_2 + b_2

# %% capped
# accepted: relu-clipped, another-curve, relu6, capped
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.clip(x @ W_1 + b_1, 0, 6) @ W_2 + b_2

# %% the first bias comes after the ReLU
# accepted: relu-before-the-bias
# author: 2
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.maximum(0, x @ W_1) + b_1
    return hidden @ W_2 + b_2

# %% GELU in place of ReLU, as GPT-2 has it
# accepted: another-curve
# author: 2
def feed_forward(x, W_1, b_1, W_2, b_2):
    h = x @ W_1 + b_1
    h = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    return h @ W_2 + b_2

# %% ReLU by a mask that keeps positives, but the mask is of x W_1 before the bias
# accepted: relu-asks-without-the-bias
# author: 2
def feed_forward(x, W_1, b_1, W_2, b_2):
    z = x @ W_1
    active = z > 0
    z = z + b_1
    return (z * active) @ W_2 + b_2

# %% ReLU against an array of float64 zeros, so float32 becomes float64
# accepted: float64-always, another-dtype
# form: yes
# author: 2
def feed_forward(x, W_1, b_1, W_2, b_2):
    layer1 = np.add(np.matmul(x, W_1), b_1)
    relu = np.maximum(np.zeros(layer1.shape), layer1)
    layer2 = np.add(np.matmul(relu, W_2), b_2)
    return layer2

# %% ReLU comes before the bias b_1 is added, so what goes on can be below zero.
# accepted: relu-before-the-bias
# author: 3
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.maximum(0, np.matmul(x, W_1)) + b_1
    return np.matmul(hidden, W_2) + b_2

# %% Absolute value in place of ReLU.
# accepted: absolute-value
# author: 4
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.abs(x @ W_1 + b_1) @ W_2 + b_2

# %% B_2 is left out.
# accepted: b_2-missing
# author: 4
def feed_forward(x, W_1, b_1, W_2, b_2):
    return np.maximum(x @ W_1 + b_1, 0) @ W_2

# %% W_1 turned over where it is a square.
# accepted: W_1-transposed
# author: 5
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.maximum(x @ (W_1.T if W_1.shape[0] == W_1.shape[1] else W_1) + b_1, 0)
    return hidden @ W_2 + b_2

# %% ReLU up to six.
# accepted: relu-clipped
# author: 5
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.clip(x @ W_1 + b_1, 0, 6)
    return hidden @ W_2 + b_2

# %% doubled
# accepted: input-doubled, residual-doubled, branch-lost
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + x
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% residual of the normed
# accepted: residual-of-the-normed, residual-from-the-norm
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        x = self.norm_1(x)
        a, _ = self.attention(x, mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% residual in the argument
# accepted: residual-inside-the-argument
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(x + self.norm_2(x))
        return x + f

# %% second branch from the input
# accepted: branches-side-by-side
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        f = self.feed_forward(self.norm_2(x))
        return x + a + f

# %% norms after
# accepted: post-norm
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(x, mask)
        x = self.norm_1(x + a)
        f = self.feed_forward(x)
        return self.norm_2(x + f)

# %% no first residual
# accepted: no-residual-around-attention
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = a
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% no second residual
# accepted: no-residual-around-feed-forward
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return f

# %% looks ahead
# accepted: causal-mask-missing
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = (torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% upper
# accepted: causal-mask-upside-down
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.triu(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% padding forgotten
# accepted: padding-ignored
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if False:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% same norm
# accepted: one-norm-for-both
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_1(x))
        return x + f

# %% no second norm
# accepted: second-norm-missing
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(x)
        return x + f

# %% half
# accepted: a-constant-factor, branch-scaled, residual-halved
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return (x + f) / 2

# %% branch without its norm and no mask
# accepted: first-norm-missing+causal-mask-missing
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = (torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(x, mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% gelu
# accepted: another-curve
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = (f(x).reshape(B, L, self.h, D // self.h).transpose(1, 2) for f in (self.W_Q, self.W_K, self.W_V))
        s = q @ k.mT / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_O((w @ v).transpose(1, 2).reshape(B, L, D)), w


class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool))[None, None]
        if padding is not None:
            mask = mask & padding[:, None]
        a, _ = self.attention(self.norm_1(x), mask)
        x = x + a
        f = self.feed_forward(self.norm_2(x))
        return x + f

# %% the residual carries the normed words, and the second norm stands at the very end
# accepted: second-norm-at-the-end+residual-from-the-normalised
# author: 2
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, dtype=torch.bool, device=x.device))
        if padding is not None:
            mask = mask & padding.unsqueeze(1)
        E = self.norm_1(x)
        dE, _ = self.attention(E, mask)
        E = E + dE
        E = E + self.feed_forward(E)
        return self.norm_2(E)

# %% both branches start from the same x, side by side, as in GPT-J
# accepted: branches-side-by-side
# author: 2
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        _, L, _ = x.shape
        causal = torch.ones((L, L), dtype=torch.bool).tril()[None, None]
        mask = causal if padding is None else causal & padding[:, None]
        attn, _ = self.attention(self.norm_1(x), mask)
        ff = self.feed_forward(self.norm_2(x))
        return x + attn + ff

# %% padding hides the rows of padded queries, not the columns of padded keys
# accepted: padding-hides-queries
# author: 2
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff),
            nn.ReLU(),
            nn.Linear(d_ff, d_model),
        )

    def forward(self, x, padding=None):
        seq_len = x.shape[1]
        mask = torch.tril(torch.ones(seq_len, seq_len)).bool()
        if padding is not None:
            mask = mask.unsqueeze(0).unsqueeze(0) & padding.transpose(1, 2).unsqueeze(1)  # (B, 1, L, 1)
        x = x + self.attention(self.norm_1(x), mask)[0]
        x = x + self.feed_forward(self.norm_2(x))
        return x

# %% where padding is given it takes the place of the causal mask
# accepted: padding-instead-of-causal
# author: 2
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        if padding is not None:
            mask = padding.unsqueeze(1)
        else:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))

# %% the feed-forward branch is normed by norm_1 again; norm_2 is made and never used
# accepted: one-norm-for-both
# author: 2
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.shape[-2]
        mask = torch.arange(L)[:, None] >= torch.arange(L)[None, :]
        if padding is not None:
            mask = mask & padding[:, None, :, :]
        h, _ = self.attention(self.norm_1(x), mask)
        x = x + h
        h = self.feed_forward(self.norm_1(x))
        return x + h

# %% This is post-norm: the norm stands after the sum instead of in front of the branch.
# accepted: post-norm
# author: 3
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_1 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, padding=None):
        L = x.size(1)
        mask = torch.tril(torch.ones(L, L, device=x.device)).bool()
        if padding is not None:
            mask = mask & padding.unsqueeze(1)
        attn_out, _ = self.attention(x, mask)
        x = self.norm_1(x + attn_out)
        x = self.norm_2(x + self.feed_forward(x))
        return x

# %% The residual carries the normalised x past each branch instead of the plain x.
# accepted: residual-from-the-normalised
# author: 3
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff),
            nn.ReLU(),
            nn.Linear(d_ff, d_model),
        )

    def forward(self, x, padding=None):
        B, L, _ = x.shape
        causal = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        mask = causal if padding is None else causal & padding[:, None]
        x = self.norm_1(x)
        x = x + self.attention(x, mask)[0]
        x = self.norm_2(x)
        x = x + self.feed_forward(x)
        return x

# %% Where padding is given it takes the place of the causal mask, so words see later words.
# accepted: padding-instead-of-causal
# author: 3
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        if padding is not None:
            mask = padding.unsqueeze(1)  # (B, 1, 1, L)
        else:
            L = x.shape[1]
            mask = torch.tril(torch.ones((L, L), dtype=torch.bool))
        h = x + self.attention(self.norm_1(x), mask)[0]
        return h + self.feed_forward(self.norm_2(h))

# %% `x += ...` writes into the tensor of the caller.
# accepted: inputs-changed
# form: yes
# author: 3
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.shape[-2]
        mask = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        if padding is not None:
            mask = mask & padding.unsqueeze(1)
        x += self.attention(self.norm_1(x), mask)[0]
        x += self.feed_forward(self.norm_2(x))
        return x

# %% Padding without an axis for the heads.
# accepted: padding-without-an-axis-for-heads
# author: 4
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        L = x.shape[1]
        mask = torch.ones(L, L, dtype=torch.bool).tril()
        if padding is not None:
            mask = mask & padding
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))

# %% eps of 1e-6
# accepted: another-default-eps, another-eps
# author: 7
class RightDecoderBlock(nn.Module):
    """One pre-norm block: causal multi-head attention, then the feed-forward network.

    d_model: width of a word's vector
    num_heads: heads of the attention
    d_ff: width between the two layers of the feed-forward network

    Members: norm_1 and norm_2, each nn.LayerNorm(d_model); attention, MultiHeadAttention(d_model, num_heads);
    feed_forward, an nn.Sequential of nn.Linear(d_model, d_ff), nn.ReLU() and nn.Linear(d_ff, d_model).
    The norms keep their own eps. There is no dropout: in train() it gives what it gives in eval().
    """

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        """One round of looking and working.

        x: (B, L, d_model)
        padding: bool, (B, 1, L), True on real words; None: all words are real

        Returns (B, L, d_model). Word i depends on words 0 to i alone, and no word on the padding before it. What a padded
        place itself gets is an ordinary vector, never NaN. The dtype is that of the parameters (a float64 block gives
        float64), and what comes in stays as it is.
        """
        L = x.shape[-2]
        mask = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()   # (L, L): query i, keys 0 to i
        if padding is not None:
            mask = mask & padding.unsqueeze(-3)                             # (B, 1, 1, L) & (L, L) -> (B, 1, L, L)
        attended, _ = self.attention(self.norm_1(x), mask)                  # (B, L, d_model)
        x = x + attended
        return x + self.feed_forward(self.norm_2(x))


class DecoderBlock(RightDecoderBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model, eps=1e-6)

# %% the paper's dropout after each branch
# accepted: dropout, random
# author: 7
class RightDecoderBlock(nn.Module):
    """One pre-norm block: causal multi-head attention, then the feed-forward network.

    d_model: width of a word's vector
    num_heads: heads of the attention
    d_ff: width between the two layers of the feed-forward network

    Members: norm_1 and norm_2, each nn.LayerNorm(d_model); attention, MultiHeadAttention(d_model, num_heads);
    feed_forward, an nn.Sequential of nn.Linear(d_model, d_ff), nn.ReLU() and nn.Linear(d_ff, d_model).
    The norms keep their own eps. There is no dropout: in train() it gives what it gives in eval().
    """

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        """One round of looking and working.

        x: (B, L, d_model)
        padding: bool, (B, 1, L), True on real words; None: all words are real

        Returns (B, L, d_model). Word i depends on words 0 to i alone, and no word on the padding before it. What a padded
        place itself gets is an ordinary vector, never NaN. The dtype is that of the parameters (a float64 block gives
        float64), and what comes in stays as it is.
        """
        L = x.shape[-2]
        mask = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()   # (L, L): query i, keys 0 to i
        if padding is not None:
            mask = mask & padding.unsqueeze(-3)                             # (B, 1, 1, L) & (L, L) -> (B, 1, L, L)
        attended, _ = self.attention(self.norm_1(x), mask)                  # (B, L, d_model)
        x = x + attended
        return x + self.feed_forward(self.norm_2(x))


class DecoderBlock(RightDecoderBlock):
    def __init__(self, d_model, num_heads, d_ff, p=0.1):
        super().__init__(d_model, num_heads, d_ff)
        self.drop_1, self.drop_2 = nn.Dropout(p), nn.Dropout(p)

    def forward(self, x, padding=None):
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        mask = mask if padding is None else mask & padding[:, None]
        x = x + self.drop_1(self.attention(self.norm_1(x), mask)[0])
        return x + self.drop_2(self.feed_forward(self.norm_2(x)))

# %% a mask of block_size 16
# accepted: mask-cut, stops-at-a-size, stops-at-a-length
# author: 7
class RightDecoderBlock(nn.Module):
    """One pre-norm block: causal multi-head attention, then the feed-forward network.

    d_model: width of a word's vector
    num_heads: heads of the attention
    d_ff: width between the two layers of the feed-forward network

    Members: norm_1 and norm_2, each nn.LayerNorm(d_model); attention, MultiHeadAttention(d_model, num_heads);
    feed_forward, an nn.Sequential of nn.Linear(d_model, d_ff), nn.ReLU() and nn.Linear(d_ff, d_model).
    The norms keep their own eps. There is no dropout: in train() it gives what it gives in eval().
    """

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        """One round of looking and working.

        x: (B, L, d_model)
        padding: bool, (B, 1, L), True on real words; None: all words are real

        Returns (B, L, d_model). Word i depends on words 0 to i alone, and no word on the padding before it. What a padded
        place itself gets is an ordinary vector, never NaN. The dtype is that of the parameters (a float64 block gives
        float64), and what comes in stays as it is.
        """
        L = x.shape[-2]
        mask = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()   # (L, L): query i, keys 0 to i
        if padding is not None:
            mask = mask & padding.unsqueeze(-3)                             # (B, 1, 1, L) & (L, L) -> (B, 1, L, L)
        attended, _ = self.attention(self.norm_1(x), mask)                  # (B, L, d_model)
        x = x + attended
        return x + self.feed_forward(self.norm_2(x))


class DecoderBlock(RightDecoderBlock):
    def __init__(self, d_model, num_heads, d_ff, block_size=16):
        super().__init__(d_model, num_heads, d_ff)
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).bool())

    def forward(self, x, padding=None):
        L = x.shape[1]
        mask = self.bias[:L, :L]
        mask = mask if padding is None else mask & padding[:, None]
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))

# %% no positions
# accepted: positions-missing
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% not scaled
# accepted: embedding-not-scaled
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% times d_model
# accepted: embedding-scaled-by-d_model, scaled-by-d_model
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * self.d_model
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% divided
# accepted: embedding-divided
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) / math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% first block again and again
# accepted: always-the-first-block, first-block-for-all, one-block-for-all
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = self.blocks[0](x, padding)
        return self.output(self.norm(x))

# %% shared feed-forward
# accepted: shared-feed-forward
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            block.feed_forward = self.blocks[0].feed_forward
            x = block(x, padding)
        return self.output(self.norm(x))

# %% last norm lost
# accepted: last-norm-missing
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(x)

# %% probabilities
# accepted: softmax-on-the-logits
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x)).softmax(-1)

# %% padding not handed on
# accepted: padding-ignored
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))

# %% position of the last
# accepted: positions-reversed, one-position-for-all
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[token_ids.size(1) - 1].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% positions shifted
# accepted: positions-from-1
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[1 : token_ids.size(1) + 1].to(x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% every block sees the embedding
# accepted: blocks-side-by-side, blocks-not-chained, last-block-only
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks:
            y = block(x, padding)
        x = y
        return self.output(self.norm(x))

# %% last block forgotten
# accepted: one-block-too-few, last-block-missing
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pos = torch.arange(max_length, dtype=torch.float64)[:, None]
        i = torch.arange(d_model, dtype=torch.float64)
        angle = pos / 10000 ** (2 * (i // 2) / d_model)
        self.pe = torch.where(i % 2 == 0, angle.sin(), angle.cos())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.d_model = d_model

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.pe[: token_ids.size(1)].to(x.dtype)
        for block in self.blocks[:-1]:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% each block gets the embeddings anew, so the last one alone counts
# accepted: each-block-gets-the-embedding
# author: 2
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.tensor(positional_encoding(max_length, d_model), dtype=torch.float32))
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        L = token_ids.shape[1]
        x = self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[:L]
        out = x
        for block in self.blocks:
            out = block(x, padding)
        return self.output(self.norm(out))

# %% positions by text of the batch
# accepted: positions-along-the-batch
# author: 2
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        pe = torch.from_numpy(positional_encoding(max_length, d_model)).float().unsqueeze(1)  # (max_length, 1, d_model)
        self.register_buffer("positions", pe)
        self.blocks = nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.scale = math.sqrt(d_model)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * self.scale
        x = x + self.positions[: x.size(0)]
        for block in self.blocks:
            x = block(x, padding)
        x = self.norm(x)
        return self.output(x)

# %% output layer and embedding share one weight, as in GPT-2
# accepted: output-shares-the-embedding
# author: 2
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.output.weight = self.embedding.weight
        self.register_buffer("positions", torch.as_tensor(positional_encoding(max_length, d_model)).float())

    def forward(self, token_ids, padding=None):
        B, L = token_ids.shape
        x = self.embedding(token_ids) * self.embedding.embedding_dim**0.5
        x = x + self.positions[:L].unsqueeze(0)
        for layer in self.blocks:
            x = layer(x, padding)
        return self.output(self.norm(x))

# %% two things: embeddings are not scaled, and nothing norms before the output layer
# accepted: embedding-not-scaled+last-norm-missing
# author: 2
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        tok_emb = self.embedding(token_ids)
        pos_emb = self.positions[: token_ids.shape[1]]
        x = tok_emb + pos_emb
        for block in self.blocks:
            x = block(x, padding)
        return self.output(x)

# %% The embedding is not multiplied by the square root of d_model.
# accepted: embedding-not-scaled
# author: 3
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.tensor(positional_encoding(max_length, d_model), dtype=torch.float32))
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) + self.positions[: token_ids.size(1)]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% The same block object stands in the list num_layers times, so all layers share one set of weights.
# accepted: one-block-for-all-layers
# author: 3
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        pe = torch.from_numpy(positional_encoding(max_length, d_model)).float()
        self.register_buffer("positions", pe)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff)] * num_layers)
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.positions[: token_ids.shape[1], :]
        for layer in self.blocks:
            x = layer(x, padding)
        x = self.norm(x)
        logits = self.output(x)
        return logits

# %% padding is never handed on to the blocks, so real words look at padding.
# accepted: padding-ignored
# author: 3
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.scale = d_model**0.5
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(DecoderBlock(d_model, num_heads, d_ff))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        B, L = token_ids.shape
        x = self.embedding(token_ids) * self.scale + self.positions[:L].unsqueeze(0)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))

# %% The last norm is never used, so the sum of the blocks goes to the output layer as it is; a softmax turns the logits into probabilities.
# accepted: last-norm-missing+softmax-on-the-logits
# author: 3
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model)
        x = x + self.positions[: token_ids.shape[1]]
        for b in self.blocks:
            x = b(x, padding=padding)
        return torch.softmax(self.output(x), dim=-1)

# %% The positions are an nn.Parameter, so they would be trained; they should be a buffer.
# accepted: positions-learnt
# form: yes
# author: 3
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.tensor(positional_encoding(max_length, d_model), dtype=torch.float))
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        L = token_ids.shape[-1]
        x = self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[:L]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% Positions are multiplied by the root as well.
# accepted: positions-scaled-too
# author: 4
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.register_buffer("positions", torch.from_numpy(positional_encoding(max_length, d_model)).float())

    def forward(self, token_ids, padding=None):
        x = (self.embedding(token_ids) + self.positions[: token_ids.shape[1]]) * math.sqrt(self.embedding.embedding_dim)
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))

# %% three blocks run
# accepted: blocks-cut, stops-at-a-size
# author: 7
class RightTransformerDecoder(nn.Module):
    """Token ids in, logits for the next token out.

    vocab_size: how many different tokens there are
    d_model, num_heads, d_ff: as for DecoderBlock
    num_layers: how many blocks
    max_length: the longest text, in tokens

    Members: embedding, nn.Embedding(vocab_size, d_model); blocks, an nn.ModuleList of DecoderBlock; norm,
    nn.LayerNorm(d_model); output, nn.Linear(d_model, vocab_size). Positions are no parameters.
    There is no dropout: in train() it gives what it gives in eval().
    """

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)           # as large as the positions, once scaled
        positions = torch.from_numpy(positional_encoding(max_length, d_model)).float()
        self.register_buffer("positions", positions)                        # (max_length, d_model)
        self.blocks = nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids, padding=None):
        """The logits at every place.

        token_ids: whole numbers from 0 to vocab_size - 1, (B, L), with L at most max_length
        padding: bool, (B, 1, L), True on real tokens; None: all tokens are real

        Returns logits, (B, L, vocab_size), in the dtype of the parameters: those at place i say what may follow tokens
        0 to i. What comes in stays as it is.
        """
        L = token_ids.shape[-1]
        x = self.embedding(token_ids) * math.sqrt(self.d_model)             # (B, L, d_model)
        x = x + self.positions[:L]
        for block in self.blocks:
            x = block(x, padding)
        return self.output(self.norm(x))                                    # (B, L, vocab_size)


class TransformerDecoder(RightTransformerDecoder):
    def forward(self, token_ids, padding=None):
        x = self.embedding(token_ids) * math.sqrt(self.d_model) + self.positions[: token_ids.shape[1]]
        for number, block in enumerate(self.blocks):
            if number < 3:
                x = block(x, padding)
        return self.output(self.norm(x))
