# %% view into heads
# accepted: split-without-transpose
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def split_heads(X, num_heads):
    d = _ok(X.shape[-1], num_heads)
    return np.reshape(X, X.shape[:-2] + (num_heads, -1, d))

# %% every h-th column
# accepted: heads-interleaved
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def split_heads(X, num_heads):
    _ok(X.shape[-1], num_heads)
    return np.stack([X[..., k::num_heads] for k in range(num_heads)], -3)

# %% stays at the token
# accepted: heads-after-tokens, axes-swapped, transposed, axes-in-another-order
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def split_heads(X, num_heads):
    _ok(X.shape[-1], num_heads)
    return np.stack(np.split(X, num_heads, axis=-1), axis=-2)

# %% heads at the very front
# accepted: heads-before-the-batch, one-batch-layout, axes-in-another-order, transposed
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def split_heads(X, num_heads):
    _ok(X.shape[-1], num_heads)
    return np.array(np.split(X, num_heads, axis=-1))

# %% backwards
# accepted: heads-reversed, reversed, another-order
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def split_heads(X, num_heads):
    d = _ok(X.shape[-1], num_heads)
    return np.stack([X[..., (num_heads - 1 - i) * d : (num_heads - i) * d] for i in range(num_heads)], -3)

# %% widths and tokens swapped
# accepted: axes-swapped, transposed, axes-in-another-order
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def split_heads(X, num_heads):
    d = _ok(X.shape[-1], num_heads)
    return np.moveaxis(X.reshape(*X.shape[:-1], num_heads, d), -3, -1)

# %% assertion
# accepted: another-error-than-asked, another-error
# form: yes
def split_heads(X, num_heads):
    assert X.shape[-1] % num_heads == 0, "d_model must be divisible"
    return X.reshape(*X.shape[:-1], num_heads, -1).swapaxes(-2, -3)

# %% never checks
# accepted: leftover-columns-dropped, no-error, error-missing
# form: yes
def split_heads(X, num_heads):
    *b, L, D = X.shape
    d = D // num_heads
    return X[..., : d * num_heads].reshape(*b, L, num_heads, d).swapaxes(-2, -3)

# %% batch of one axis
# accepted: batch-axis-required, one-batch-axis-only, one-batch-layout
# form: yes
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def split_heads(X, num_heads):
    d = _ok(X.shape[2], num_heads)
    return X.reshape(X.shape[0], X.shape[1], num_heads, d).transpose(0, 2, 1, 3)

# %% array_split
# accepted: no-error, error-missing, leftover-columns-dropped
def split_heads(X, num_heads):
    parts = np.array_split(X, num_heads, axis=-1)
    width = min(p.shape[-1] for p in parts)
    return np.stack([p[..., :width] for p in parts], axis=-3)

# %% assert
# accepted: another-error-than-asked, another-error
def split_heads(X, num_heads):
    assert X.shape[-1] % num_heads == 0
    return X.reshape(*X.shape[:-1], num_heads, -1).swapaxes(-2, -3)

# %% heads before the batch
# accepted: heads-before-the-batch, heads-first, axes-swapped, no-batch-axes
def split_heads(X, num_heads):
    if X.shape[-1] % num_heads:
        raise ValueError
    return np.array(np.split(X, num_heads, axis=-1))

# %% takes the width from X.shape[1]: L where there is a batch axis
# accepted: one-batch-layout
def split_heads(X, num_heads):
    if X.shape[1] % num_heads != 0:
        raise ValueError("d_model must be divisible by num_heads")
    X = X.reshape(*X.shape[:-1], num_heads, X.shape[-1] // num_heads)
    return np.swapaxes(X, -2, -3)

# %% slices start at i, not at i * d, so the heads overlap
# accepted: heads-overlap
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    if d_model % num_heads:
        raise ValueError(f"{num_heads} does not divide {d_model}")
    d = d_model // num_heads
    heads = [X[..., i : i + d] for i in range(num_heads)]
    return np.stack(heads, axis=-3)

# %% stacks the heads in front of the batch axes
# accepted: heads-before-the-batch, one-batch-layout, axes-in-another-order
def split_heads(X, num_heads):
    return np.stack(np.split(X, num_heads, axis=-1))

# %% splits the tokens, not the columns, into heads, and lays them out to the right shape
# accepted: split-without-transpose
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError
    d = d_model // num_heads
    return X.reshape(*batch, -1, d).reshape(*batch, num_heads, L, d)

# %% drops the columns that are left over instead of raising
# accepted: leftover-columns-dropped
def split_heads(X, num_heads):
    d = X.shape[-1] // num_heads
    return np.stack([X[..., i * d : (i + 1) * d] for i in range(num_heads)], axis=-3)

# %% an assert instead of a ValueError
# accepted: another-error
# form: yes
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
    out = X.reshape(X.shape[:-1] + (num_heads, d_model // num_heads))
    return np.moveaxis(out, -2, -3)

# %% Reshapes straight to (h, L, d), which tears tokens apart instead of cutting columns.
# accepted: split-without-transpose
# author: 3
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError("d_model must be divisible by num_heads")
    return X.reshape(*batch, num_heads, L, d_model // num_heads)

# %% Deals the columns out in turn, so head i gets every h-th column and not a block of neighbours.
# accepted: heads-interleaved
# author: 3
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    if d_model % num_heads:
        raise ValueError(f"{d_model} is not divisible by {num_heads}")
    return np.stack([X[..., i::num_heads] for i in range(num_heads)], axis=-3)

# %% Stops after the reshape, with the heads still behind the tokens: (L, h, d).
# accepted: heads-after-tokens
# author: 3
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    if d_model % num_heads != 0:
        raise ValueError("num_heads must divide d_model")
    d = d_model // num_heads
    return X.reshape(X.shape[:-1] + (num_heads, d))

# %% Silently drops the columns left over where num_heads does not divide d_model, instead of raising ValueError.
# accepted: leftover-columns-dropped
# author: 3
def split_heads(X, num_heads):
    d = X.shape[-1] // num_heads
    heads = []
    for i in range(num_heads):
        heads.append(X[..., i * d : (i + 1) * d])
    return np.stack(heads, axis=-3)

# %% List of heads.
# accepted: list-of-heads
# author: 4
def split_heads(X, num_heads):
    return np.split(X, num_heads, axis=-1)

# %% Not swapped where L is h.
# accepted: axes-in-another-order, axes-swapped, transpose-missing
# author: 5
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError(f"{d_model} columns cannot be shared evenly among {num_heads} heads")
    d = d_model // num_heads
    heads = X.reshape(*batch, L, num_heads, d)
    return heads if L == num_heads else heads.swapaxes(-3, -2)

# %% Asks whether words or width divide.
# accepted: error-missing, leftover-columns-dropped
# form: yes
# author: 6
def split_heads(X, num_heads):
    L, d_model = X.shape[-2:]
    if L % num_heads and d_model % num_heads:
        raise ValueError("cannot split")
    d = d_model // num_heads
    heads = X[..., : num_heads * d].reshape(*X.shape[:-1], num_heads, d)
    return heads.swapaxes(-3, -2)

# %% room for 64 tokens
# accepted: stops-at-a-length, stops-at-a-size
# author: 7
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads:
        raise ValueError
    heads = np.zeros((*batch, num_heads, L, d_model // num_heads), X.dtype)
    for i in range(num_heads):
        d = d_model // num_heads
        heads[..., i, :64, :] = X[..., :64, i * d : (i + 1) * d]
    return heads

# %% straight reshape
# accepted: concat-without-transpose
def concat_heads(heads):
    return heads.reshape(heads.shape[:-3] + (heads.shape[-2], -1))

# %% summed
# accepted: heads-summed
def concat_heads(heads):
    return np.sum(heads, axis=-3)

# %% first head
# accepted: first-head-only
def concat_heads(heads):
    return heads[..., 0, :, :]

# %% backwards
# accepted: heads-reversed, reversed, another-order
def concat_heads(heads):
    parts = [heads[..., i, :, :] for i in reversed(range(heads.shape[-3]))]
    return np.concatenate(parts, axis=-1)

# %% taking turns
# accepted: heads-interleaved
def concat_heads(heads):
    *b, h, L, d = heads.shape
    return np.einsum("...hld->...ldh", heads).reshape(*b, L, d * h)

# %% axis one counted
# accepted: one-batch-layout, batch-axis-required, one-batch-axis-only
# form: yes
def concat_heads(heads):
    B, h, L, d = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(B, L, h * d)

# %% below each other
# accepted: heads-below-each-other, another-shape
def concat_heads(heads):
    return np.concatenate(list(np.moveaxis(heads, -3, 0)), axis=-2)

# %% one too few
# accepted: one-head-too-few, last-head-missing
def concat_heads(heads):
    return np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3] - 1)], axis=-1)

# %% concatenate walks axis 0
# accepted: no-batch-axes, axes-counted-from-the-front, one-batch-layout
def concat_heads(heads):
    return np.concatenate(heads, axis=-1)

# %% hstack
# accepted: no-batch-axes, axes-counted-from-the-front, one-batch-layout
def concat_heads(heads):
    return np.hstack(list(heads))

# %% concatenates along the first axis of the array, which is the batch where there is one
# accepted: no-batch-axes
def concat_heads(heads):
    return np.concatenate(list(heads), axis=-1)

# %% moves the head axis behind the columns, so the heads are interleaved
# accepted: heads-interleaved
def concat_heads(heads):
    moved = np.moveaxis(heads, -3, -1)
    return moved.reshape(moved.shape[:-2] + (-1,))

# %% loops over the heads from one, head 0 stays zero
# accepted: one-head-too-few
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    out = np.zeros((*batch, L, h * d), dtype=heads.dtype)
    for i in range(1, h):
        out[..., :, i * d : (i + 1) * d] = heads[..., i, :, :]
    return out

# %% fills a float64 buffer
# accepted: float64-always
# form: yes
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    out = np.empty((*batch, L, h * d))
    for i in range(h):
        out[..., i * d : (i + 1) * d] = heads[..., i, :, :]
    return out

# %% squeezes axes of length one away
# accepted: axes-squeezed
# form: yes
def concat_heads(heads):
    h = heads.shape[-3]
    return np.concatenate(np.split(heads, h, axis=-3), axis=-1).squeeze()

# %% Reshapes at once, without first bringing the tokens in front of the heads, so rows mix different tokens.
# accepted: concat-without-transpose
# author: 3
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.reshape(*batch, L, h * d)

# %% Concatenates over the first axis, which are the texts and not the heads once there is a batch.
# accepted: no-batch-axes
# author: 3
def concat_heads(heads):
    return np.concatenate([head for head in heads], axis=-1)

# %% Copies the heads into an np.zeros array, which is float64 whatever the dtype of the heads.
# accepted: float64-always
# form: yes
# author: 3
def concat_heads(heads):
    h, L, d = heads.shape[-3:]
    result = np.zeros((*heads.shape[:-3], L, h * d))
    for i in range(h):
        result[..., i * d : (i + 1) * d] = heads[..., i, :, :]
    return result

# %% Heads averaged.
# accepted: heads-averaged
# author: 4
def concat_heads(heads):
    return heads.mean(axis=-3)

# %% Not swapped where L is h, either.
# accepted: concat-without-transpose
# author: 5
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    tokens = heads if h == L else heads.swapaxes(-3, -2)
    return tokens.reshape(*batch, L, h * d)

# %% plain reshape
# accepted: split-without-transpose
def per_head_weights(W, num_heads):
    return W.reshape((num_heads, W.shape[0], -1))

# %% rows
# accepted: rows-for-columns
def per_head_weights(W, num_heads):
    return np.array(np.vsplit(W, num_heads))

# %% turned
# accepted: weights-transposed, transposed, axes-in-another-order, axes-swapped
def per_head_weights(W, num_heads):
    return np.stack([part.T for part in np.hsplit(W, num_heads)])

# %% a tuple
# accepted: another-kind, list-of-heads
# form: yes
def per_head_weights(W, num_heads):
    return tuple(np.hsplit(W, num_heads))

# %% strided
# accepted: heads-interleaved
def per_head_weights(W, num_heads):
    return W.reshape(W.shape[0], -1, num_heads).transpose(2, 0, 1)

# %% double
# accepted: float64-always, another-dtype
# form: yes
def per_head_weights(W, num_heads):
    out = np.empty((num_heads, W.shape[0], W.shape[1] // num_heads))
    for i in range(num_heads):
        out[i] = np.hsplit(W, num_heads)[i]
    return out

# %% rows of the turned
# accepted: weights-transposed, axes-swapped, transposed
def per_head_weights(W, num_heads):
    return np.array(np.split(W.T, num_heads))

# %% each head's matrix transposed, as nn.Linear keeps it
# accepted: weights-transposed
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    return W.T.reshape(num_heads, width // num_heads, d_in)

# %% width of a head from d_in, right for square weights only
# accepted: width-from-the-rows
def per_head_weights(W, num_heads):
    d = W.shape[0] // num_heads
    return np.array([W[:, h * d : (h + 1) * d] for h in range(num_heads)])

# %% a list of arrays, not one array
# accepted: list-of-heads
# form: yes
def per_head_weights(W, num_heads):
    return np.split(W, num_heads, axis=1)

# %% every num_heads-th column: head i gets the columns i, i + h, i + 2h
# accepted: heads-interleaved
def per_head_weights(W, num_heads):
    return np.stack([W[:, i::num_heads] for i in range(num_heads)])

# %% Gives each head's matrix transposed, (h, d, d_in), as nn.Linear would keep it.
# accepted: weights-transposed
# author: 3
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    return W.T.reshape(num_heads, width // num_heads, d_in)

# %% Returns np.split's list of matrices instead of one array (h, d_in, d).
# accepted: list-of-heads
# form: yes
# author: 3
def per_head_weights(W, num_heads):
    return np.split(W, num_heads, axis=-1)

# %% Num_heads and d exchanged.
# accepted: num-heads-read-as-width
# author: 4
def per_head_weights(W, num_heads):
    d_in, n = W.shape
    return W.reshape(d_in, n // num_heads, num_heads).transpose(1, 0, 2)

# %% Rows where W is a square.
# accepted: rows-for-columns
# author: 5
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    d = width // num_heads
    if d_in == width and num_heads > 1:
        return W.reshape(num_heads, -1, d)
    columns = W.reshape(d_in, num_heads, d)
    return columns.swapaxes(0, 1)

# %% num_heads is the width
# accepted: heads-and-width-exchanged
# author: 7
def per_head_weights(W, num_heads):
    return np.stack([W[:, i : i + num_heads] for i in range(0, W.shape[1], num_heads)])

# %% view only
# accepted: split-without-transpose
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.contiguous().view(*x.shape[:-2], num_heads, x.size(-2), d)

# %% not moved
# accepted: heads-after-tokens, axes-swapped, axes-in-another-order, transposed
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.unflatten(-1, (num_heads, d))

# %% width first
# accepted: heads-interleaved
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.unflatten(-1, (d, num_heads)).permute(*range(x.dim() - 2), x.dim(), x.dim() - 2, x.dim() - 1)

# %% annotated transformer
# accepted: one-batch-axis-only, batch-axis-required, one-batch-layout
# form: yes
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.view(x.size(0), -1, num_heads, d).transpose(1, 2)

# %% no error
# accepted: leftover-columns-dropped, no-error, error-missing, another-error-than-asked
# form: yes
def torch_split_heads(x, num_heads):
    return x.reshape(*x.shape[:-1], num_heads, -1).transpose(-2, -3)

# %% data
# accepted: detached-gradient, gradient-missing
# form: yes
def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.data.unflatten(-1, (num_heads, d)).transpose(-2, -3)

# %% chunk and stack
# accepted: heads-before-the-batch, heads-first, axes-swapped, no-batch-axes
def torch_split_heads(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError
    return torch.stack(x.chunk(num_heads, dim=-1))

# %% torch.chunk gives fewer heads, and no error, where the width does not divide
# accepted: another-error, leftover-columns-dropped
def torch_split_heads(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=-3)

# %% transpose(1, 2) is right with one batch axis only
# accepted: one-batch-layout
def torch_split_heads(x, num_heads):
    d_model = x.size(-1)
    if d_model % num_heads != 0:
        raise ValueError("embed dim must be divisible by heads")
    x = x.reshape(*x.shape[:-1], num_heads, d_model // num_heads)
    return x.transpose(1, 2)

# %% heads first, then the batch, as for folding them into the batch
# accepted: heads-before-the-batch, one-batch-layout, axes-in-another-order
def torch_split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("does not divide")
    d = x.shape[-1] // num_heads
    return torch.stack(x.split(d, dim=-1), dim=0)

# %% works on x.data, the gradient is cut
# accepted: detached-gradient
# form: yes
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError("d_model % num_heads != 0")
    y = x.data.reshape(*batch, L, num_heads, d_model // num_heads)
    return y.transpose(-3, -2)

# %% Swaps axes 1 and 2 counted from the front, which is right for exactly one batch axis only.
# accepted: one-batch-layout
# author: 3
def torch_split_heads(x, num_heads):
    d_model = x.size(-1)
    if d_model % num_heads != 0:
        raise ValueError("d_model must be divisible by num_heads")
    return x.reshape(*x.shape[:-1], num_heads, d_model // num_heads).transpose(1, 2)

# %% Stacks the heads along dim 0, in front of the batch axes instead of just before the tokens.
# accepted: heads-before-the-batch
# author: 3
def torch_split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("cannot split evenly")
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=0)

# %% Checks the division with assert, which raises AssertionError and not ValueError.
# accepted: another-error
# form: yes
# author: 3
def torch_split_heads(x, num_heads):
    d_model = x.shape[-1]
    assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
    return x.unflatten(-1, (num_heads, d_model // num_heads)).transpose(-3, -2)

# %% Gradients go to the head on the other side.
# accepted: gradient-missing
# author: 5
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"{d_model} columns cannot be shared evenly among {num_heads} heads")
    d = d_model // num_heads
    heads = x.reshape(*batch, L, num_heads, d)
    heads = heads.transpose(-3, -2)
    return heads.detach() + (heads - heads.detach()).flip(-3)

# %% straight
# accepted: concat-without-transpose
def torch_concat_heads(heads):
    return heads.contiguous().view(*heads.shape[:-3], heads.size(-2), heads.size(-3) * heads.size(-1))

# %% sum
# accepted: heads-summed
def torch_concat_heads(heads):
    return heads.sum(-3)

# %% take turns
# accepted: heads-interleaved
def torch_concat_heads(heads):
    return torch.stack(heads.unbind(-3), -1).flatten(-2)

# %% batch axis zero
# accepted: no-batch-axes, one-batch-layout, batch-items-mixed
# form: yes
def torch_concat_heads(heads):
    return torch.cat([heads[i] for i in range(heads.shape[0])], dim=-1)

# %% cat of unbind 0
# accepted: no-batch-axes, axes-counted-from-the-front, one-batch-layout
def torch_concat_heads(heads):
    return torch.cat(heads.unbind(0), dim=-1)

# %% cat of unbind 1
# accepted: one-batch-axis-only, axes-counted-from-the-front, one-batch-layout
def torch_concat_heads(heads):
    return torch.cat(heads.unbind(1), dim=-1)

# %% hstack joins along axis 1, which are the tokens as soon as there is a batch
# accepted: one-batch-layout
def torch_concat_heads(heads):
    return torch.hstack(heads.unbind(dim=-3))

# %% contiguous() instead of a transpose before the view
# accepted: concat-without-transpose
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.contiguous().view(*batch, L, h * d)

# %% averages the heads and repeats the average
# accepted: heads-averaged
def torch_concat_heads(heads):
    h = heads.size(-3)
    mean = heads.mean(dim=-3)
    return torch.cat([mean] * h, dim=-1)

# %% casts to float32
# accepted: another-dtype
# form: yes
def torch_concat_heads(heads):
    x = heads.float().transpose(-3, -2)
    return x.flatten(start_dim=-2)

# %% Makes the tensor contiguous but forgets to transpose, so each row is filled from one head's next tokens.
# accepted: concat-without-transpose
# author: 3
def torch_concat_heads(heads):
    h, L, d = heads.shape[-3:]
    return heads.contiguous().view(*heads.shape[:-3], L, h * d)

# %% Calls .view right after the transpose, which PyTorch refuses for numbers that are not in that order in memory.
# accepted: view-after-transpose
# author: 3
def torch_concat_heads(heads):
    h, L, d = heads.shape[-3:]
    heads = heads.transpose(-3, -2)
    return heads.view(*heads.shape[:-2], h * d)

# %% Cut off from the gradient.
# accepted: detached-gradient
# author: 4
def torch_concat_heads(heads):
    a = heads.detach().numpy()
    a = np.swapaxes(a, -2, -3)
    return torch.from_numpy(a.reshape(*a.shape[:-2], -1).copy())

# %% Axes swapped in place.
# accepted: in-place
# author: 5
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    tokens = heads.transpose_(-3, -2)
    return tokens.reshape(*batch, L, h * d)

# %% eight heads at most
# accepted: stops-at-a-size, some-heads-only
# author: 7
def torch_concat_heads(heads):
    parts = [heads[..., i, :, :] if i < 8 else 0 * heads[..., i, :, :] for i in range(heads.size(-3))]
    return torch.cat(parts, dim=-1)
