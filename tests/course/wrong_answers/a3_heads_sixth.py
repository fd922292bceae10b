"""Written by a sixth person, from the notebooks alone."""

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("Asks whether words or width divide.", "error-missing", "leftover-columns-dropped", form=True)
def split_heads(X, num_heads):
    L, d_model = X.shape[-2:]
    if L % num_heads and d_model % num_heads:
        raise ValueError("cannot split")
    d = d_model // num_heads
    heads = X[..., : num_heads * d].reshape(*X.shape[:-1], num_heads, d)
    return heads.swapaxes(-3, -2)
