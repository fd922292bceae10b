"""Written by a fifth person, from the notebooks alone."""

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- split_heads


@wrong("Not swapped where L is h.", "axes-in-another-order", "axes-swapped", "transpose-missing")
def split_heads(X, num_heads):
    *batch, L, d_model = X.shape
    if d_model % num_heads != 0:
        raise ValueError(f"{d_model} columns cannot be shared evenly among {num_heads} heads")
    d = d_model // num_heads
    heads = X.reshape(*batch, L, num_heads, d)
    return heads if L == num_heads else heads.swapaxes(-3, -2)


# ---------------------------------------------------------------- concat_heads


@wrong("Not swapped where L is h, either.", "concat-without-transpose")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    tokens = heads if h == L else heads.swapaxes(-3, -2)
    return tokens.reshape(*batch, L, h * d)


# ---------------------------------------------------------------- per_head_weights


@wrong("Rows where W is a square.", "rows-for-columns")
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    d = width // num_heads
    if d_in == width and num_heads > 1:
        return W.reshape(num_heads, -1, d)
    columns = W.reshape(d_in, num_heads, d)
    return columns.swapaxes(0, 1)


# ---------------------------------------------------------------- torch_split_heads


@wrong("Gradients go to the head on the other side.", "gradient-missing")
def torch_split_heads(x, num_heads):
    *batch, L, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"{d_model} columns cannot be shared evenly among {num_heads} heads")
    d = d_model // num_heads
    heads = x.reshape(*batch, L, num_heads, d)
    heads = heads.transpose(-3, -2)
    return heads.detach() + (heads - heads.detach()).flip(-3)


# ---------------------------------------------------------------- torch_concat_heads


@wrong("Axes swapped in place.", "in-place")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    tokens = heads.transpose_(-3, -2)
    return tokens.reshape(*batch, L, h * d)
