import numpy as np
import torch

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


def _ok(width, h):
    if width % h:
        raise ValueError("cannot split")
    return width // h


# ---------------------------------------------------------------- split_heads


@wrong("view into heads", "split-without-transpose")
def split_heads(X, num_heads):
    d = _ok(X.shape[-1], num_heads)
    return np.reshape(X, X.shape[:-2] + (num_heads, -1, d))


@wrong("every h-th column", "heads-interleaved")
def split_heads(X, num_heads):
    _ok(X.shape[-1], num_heads)
    return np.stack([X[..., k::num_heads] for k in range(num_heads)], -3)


@wrong("stays at the token", "heads-after-tokens", "axes-swapped", "transposed", "axes-in-another-order")
def split_heads(X, num_heads):
    _ok(X.shape[-1], num_heads)
    return np.stack(np.split(X, num_heads, axis=-1), axis=-2)


@wrong("heads at the very front", "heads-before-the-batch", "one-batch-layout", "axes-in-another-order", "transposed")
def split_heads(X, num_heads):
    _ok(X.shape[-1], num_heads)
    return np.array(np.split(X, num_heads, axis=-1))


@wrong("backwards", "heads-reversed", "reversed", "another-order")
def split_heads(X, num_heads):
    d = _ok(X.shape[-1], num_heads)
    return np.stack([X[..., (num_heads - 1 - i) * d : (num_heads - i) * d] for i in range(num_heads)], -3)


@wrong("widths and tokens swapped", "axes-swapped", "transposed", "axes-in-another-order")
def split_heads(X, num_heads):
    d = _ok(X.shape[-1], num_heads)
    return np.moveaxis(X.reshape(*X.shape[:-1], num_heads, d), -3, -1)


@wrong("assertion", "another-error-than-asked", "another-error", form=True)
def split_heads(X, num_heads):
    assert X.shape[-1] % num_heads == 0, "d_model must be divisible"
    return X.reshape(*X.shape[:-1], num_heads, -1).swapaxes(-2, -3)


@wrong("never checks", "leftover-columns-dropped", "no-error", "error-missing", form=True)
def split_heads(X, num_heads):
    *b, L, D = X.shape
    d = D // num_heads
    return X[..., : d * num_heads].reshape(*b, L, num_heads, d).swapaxes(-2, -3)


@wrong("batch of one axis", "batch-axis-required", "one-batch-axis-only", "one-batch-layout", form=True)
def split_heads(X, num_heads):
    d = _ok(X.shape[2], num_heads)
    return X.reshape(X.shape[0], X.shape[1], num_heads, d).transpose(0, 2, 1, 3)


# ---------------------------------------------------------------- concat_heads


@wrong("straight reshape", "concat-without-transpose")
def concat_heads(heads):
    return heads.reshape(heads.shape[:-3] + (heads.shape[-2], -1))


@wrong("summed", "heads-summed")
def concat_heads(heads):
    return np.sum(heads, axis=-3)


@wrong("first head", "first-head-only")
def concat_heads(heads):
    return heads[..., 0, :, :]


@wrong("backwards", "heads-reversed", "reversed", "another-order")
def concat_heads(heads):
    parts = [heads[..., i, :, :] for i in reversed(range(heads.shape[-3]))]
    return np.concatenate(parts, axis=-1)


@wrong("taking turns", "heads-interleaved")
def concat_heads(heads):
    *b, h, L, d = heads.shape
    return np.einsum("...hld->...ldh", heads).reshape(*b, L, d * h)


@wrong("axis one counted", "one-batch-layout", "batch-axis-required", "one-batch-axis-only", form=True)
def concat_heads(heads):
    B, h, L, d = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(B, L, h * d)


@wrong("below each other", "heads-below-each-other", "another-shape")
def concat_heads(heads):
    return np.concatenate(list(np.moveaxis(heads, -3, 0)), axis=-2)


@wrong("one too few", "one-head-too-few", "last-head-missing")
def concat_heads(heads):
    return np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3] - 1)], axis=-1)


# ---------------------------------------------------------------- per_head_weights


@wrong("plain reshape", "split-without-transpose")
def per_head_weights(W, num_heads):
    return W.reshape((num_heads, W.shape[0], -1))


@wrong("rows", "rows-for-columns")
def per_head_weights(W, num_heads):
    return np.array(np.vsplit(W, num_heads))


@wrong("turned", "weights-transposed", "transposed", "axes-in-another-order", "axes-swapped")
def per_head_weights(W, num_heads):
    return np.stack([part.T for part in np.hsplit(W, num_heads)])


@wrong("a tuple", "another-kind", "list-of-heads", form=True)
def per_head_weights(W, num_heads):
    return tuple(np.hsplit(W, num_heads))


@wrong("strided", "heads-interleaved")
def per_head_weights(W, num_heads):
    return W.reshape(W.shape[0], -1, num_heads).transpose(2, 0, 1)


@wrong("double", "float64-always", "another-dtype", form=True)
def per_head_weights(W, num_heads):
    out = np.empty((num_heads, W.shape[0], W.shape[1] // num_heads))
    for i in range(num_heads):
        out[i] = np.hsplit(W, num_heads)[i]
    return out


# ---------------------------------------------------------------- torch


@wrong("view only", "split-without-transpose")
def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.contiguous().view(*x.shape[:-2], num_heads, x.size(-2), d)


@wrong("not moved", "heads-after-tokens", "axes-swapped", "axes-in-another-order", "transposed")
def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.unflatten(-1, (num_heads, d))


@wrong("width first", "heads-interleaved")
def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.unflatten(-1, (d, num_heads)).permute(*range(x.dim() - 2), x.dim(), x.dim() - 2, x.dim() - 1)


@wrong("annotated transformer", "one-batch-axis-only", "batch-axis-required", "one-batch-layout", form=True)
def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.view(x.size(0), -1, num_heads, d).transpose(1, 2)


@wrong("no error", "leftover-columns-dropped", "no-error", "error-missing", "another-error-than-asked", form=True)
def torch_split_heads(x, num_heads):
    return x.reshape(*x.shape[:-1], num_heads, -1).transpose(-2, -3)


@wrong("data", "detached-gradient", "gradient-missing", form=True)
def torch_split_heads(x, num_heads):
    d = _ok(x.size(-1), num_heads)
    return x.data.unflatten(-1, (num_heads, d)).transpose(-2, -3)


@wrong("straight", "concat-without-transpose")
def torch_concat_heads(heads):
    return heads.contiguous().view(*heads.shape[:-3], heads.size(-2), heads.size(-3) * heads.size(-1))


@wrong("sum", "heads-summed")
def torch_concat_heads(heads):
    return heads.sum(-3)


@wrong("take turns", "heads-interleaved")
def torch_concat_heads(heads):
    return torch.stack(heads.unbind(-3), -1).flatten(-2)


@wrong("batch axis zero", "no-batch-axes", "one-batch-layout", "batch-items-mixed", form=True)
def torch_concat_heads(heads):
    return torch.cat([heads[i] for i in range(heads.shape[0])], dim=-1)


# ---------------------------------------------------------------- written when prices were made alike


@wrong("array_split", "no-error", "error-missing", "leftover-columns-dropped")
def split_heads(X, num_heads):
    parts = np.array_split(X, num_heads, axis=-1)
    width = min(p.shape[-1] for p in parts)
    return np.stack([p[..., :width] for p in parts], axis=-3)


@wrong("assert", "another-error-than-asked", "another-error")
def split_heads(X, num_heads):
    assert X.shape[-1] % num_heads == 0
    return X.reshape(*X.shape[:-1], num_heads, -1).swapaxes(-2, -3)


@wrong("heads before the batch", "heads-before-the-batch", "heads-first", "axes-swapped", "no-batch-axes")
def split_heads(X, num_heads):
    if X.shape[-1] % num_heads:
        raise ValueError
    return np.array(np.split(X, num_heads, axis=-1))


@wrong("concatenate walks axis 0", "no-batch-axes", "axes-counted-from-the-front", "one-batch-layout")
def concat_heads(heads):
    return np.concatenate(heads, axis=-1)


@wrong("hstack", "no-batch-axes", "axes-counted-from-the-front", "one-batch-layout")
def concat_heads(heads):
    return np.hstack(list(heads))


@wrong("rows of the turned", "weights-transposed", "axes-swapped", "transposed")
def per_head_weights(W, num_heads):
    return np.array(np.split(W.T, num_heads))


@wrong("chunk and stack", "heads-before-the-batch", "heads-first", "axes-swapped", "no-batch-axes")
def torch_split_heads(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError
    return torch.stack(x.chunk(num_heads, dim=-1))


@wrong("cat of unbind 0", "no-batch-axes", "axes-counted-from-the-front", "one-batch-layout")
def torch_concat_heads(heads):
    return torch.cat(heads.unbind(0), dim=-1)


@wrong("cat of unbind 1", "one-batch-axis-only", "axes-counted-from-the-front", "one-batch-layout")
def torch_concat_heads(heads):
    return torch.cat(heads.unbind(1), dim=-1)


# ---------------------------------------------------------------- split_heads, by somebody else
@wrong("takes the width from X.shape[1]: L where there is a batch axis", "one-batch-layout")
def split_heads(X, num_heads):
    if X.shape[1] % num_heads != 0:
        raise ValueError("d_model must be divisible by num_heads")
    X = X.reshape(*X.shape[:-1], num_heads, X.shape[-1] // num_heads)
    return np.swapaxes(X, -2, -3)


@wrong("slices start at i, not at i * d, so the heads overlap", "heads-overlap")
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    if d_model % num_heads:
        raise ValueError(f"{num_heads} does not divide {d_model}")
    d = d_model // num_heads
    heads = [X[..., i : i + d] for i in range(num_heads)]
    return np.stack(heads, axis=-3)


@wrong(
    "stacks the heads in front of the batch axes", "heads-before-the-batch", "one-batch-layout", "axes-in-another-order"
)
def split_heads(X, num_heads):
    return np.stack(np.split(X, num_heads, axis=-1))


@wrong(
    "splits the tokens, not the columns, into heads, and lays them out to the right shape", "split-without-transpose"
)
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError
    d = d_model // num_heads
    return X.reshape(*batch, -1, d).reshape(*batch, num_heads, L, d)


@wrong("drops the columns that are left over instead of raising", "leftover-columns-dropped")
def split_heads(X, num_heads):
    d = X.shape[-1] // num_heads
    return np.stack([X[..., i * d : (i + 1) * d] for i in range(num_heads)], axis=-3)


@wrong("an assert instead of a ValueError", "another-error", form=True)
def split_heads(X, num_heads):
    d_model = X.shape[-1]
    assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
    out = X.reshape(X.shape[:-1] + (num_heads, d_model // num_heads))
    return np.moveaxis(out, -2, -3)


# ---------------------------------------------------------------- concat_heads, by somebody else
@wrong("concatenates along the first axis of the array, which is the batch where there is one", "no-batch-axes")
def concat_heads(heads):
    return np.concatenate(list(heads), axis=-1)


@wrong("moves the head axis behind the columns, so the heads are interleaved", "heads-interleaved")
def concat_heads(heads):
    moved = np.moveaxis(heads, -3, -1)
    return moved.reshape(moved.shape[:-2] + (-1,))


@wrong("loops over the heads from one, head 0 stays zero", "one-head-too-few")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    out = np.zeros((*batch, L, h * d), dtype=heads.dtype)
    for i in range(1, h):
        out[..., :, i * d : (i + 1) * d] = heads[..., i, :, :]
    return out


@wrong("fills a float64 buffer", "float64-always", form=True)
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    out = np.empty((*batch, L, h * d))
    for i in range(h):
        out[..., i * d : (i + 1) * d] = heads[..., i, :, :]
    return out


@wrong("squeezes axes of length one away", "axes-squeezed", form=True)
def concat_heads(heads):
    h = heads.shape[-3]
    return np.concatenate(np.split(heads, h, axis=-3), axis=-1).squeeze()


# ---------------------------------------------------------------- per_head_weights, by somebody else
@wrong("each head's matrix transposed, as nn.Linear keeps it", "weights-transposed")
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    return W.T.reshape(num_heads, width // num_heads, d_in)


@wrong("width of a head from d_in, right for square weights only", "width-from-the-rows")
def per_head_weights(W, num_heads):
    d = W.shape[0] // num_heads
    return np.array([W[:, h * d : (h + 1) * d] for h in range(num_heads)])


@wrong("a list of arrays, not one array", "list-of-heads", form=True)
def per_head_weights(W, num_heads):
    return np.split(W, num_heads, axis=1)


@wrong("every num_heads-th column: head i gets the columns i, i + h, i + 2h", "heads-interleaved")
def per_head_weights(W, num_heads):
    return np.stack([W[:, i::num_heads] for i in range(num_heads)])


# ---------------------------------------------------------------- torch_split_heads, by somebody else
@wrong(
    "torch.chunk gives fewer heads, and no error, where the width does not divide",
    "another-error",
    "leftover-columns-dropped",
)
def torch_split_heads(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=-3)


@wrong("transpose(1, 2) is right with one batch axis only", "one-batch-layout")
def torch_split_heads(x, num_heads):
    d_model = x.size(-1)
    if d_model % num_heads != 0:
        raise ValueError("embed dim must be divisible by heads")
    x = x.reshape(*x.shape[:-1], num_heads, d_model // num_heads)
    return x.transpose(1, 2)


@wrong(
    "heads first, then the batch, as for folding them into the batch",
    "heads-before-the-batch",
    "one-batch-layout",
    "axes-in-another-order",
)
def torch_split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("does not divide")
    d = x.shape[-1] // num_heads
    return torch.stack(x.split(d, dim=-1), dim=0)


@wrong("works on x.data, the gradient is cut", "detached-gradient", form=True)
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError("d_model % num_heads != 0")
    y = x.data.reshape(*batch, L, num_heads, d_model // num_heads)
    return y.transpose(-3, -2)


# ---------------------------------------------------------------- torch_concat_heads, by somebody else
@wrong("hstack joins along axis 1, which are the tokens as soon as there is a batch", "one-batch-layout")
def torch_concat_heads(heads):
    return torch.hstack(heads.unbind(dim=-3))


@wrong("contiguous() instead of a transpose before the view", "concat-without-transpose")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.contiguous().view(*batch, L, h * d)


@wrong("averages the heads and repeats the average", "heads-averaged")
def torch_concat_heads(heads):
    h = heads.size(-3)
    mean = heads.mean(dim=-3)
    return torch.cat([mean] * h, dim=-1)


@wrong("casts to float32", "another-dtype", form=True)
def torch_concat_heads(heads):
    x = heads.float().transpose(-3, -2)
    return x.flatten(start_dim=-2)
