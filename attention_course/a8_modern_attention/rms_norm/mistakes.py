"""Known mistakes of rms_norm."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import HALF, in_half

mistake = Catalogue()


def _mean_square(x, axis=-1):
    return (x**2).mean(axis=axis, keepdims=True)


def _normed(
    size=lambda x, eps: np.sqrt(_mean_square(x) + eps),
    scaled=lambda x, size, gamma: gamma * x / size,
    eps=lambda eps: eps,
    before=lambda x: x,
):
    """`rms_norm`. Each decision is an option."""

    def rms_norm(x, gamma, eps_=1e-5):
        x = before(x)
        return scaled(x, size(x, eps(eps_)), gamma)

    return lambda x, gamma, eps=1e-5: rms_norm(x, gamma, eps)


@mistake("multiplied-by-the-size", hint="If all features are ten times as large, does your result grow?")
def rms_norm(x, gamma, eps=1e-5):
    return _normed(scaled=lambda x, size, gamma: gamma * x * size)(x, gamma, eps)


@mistake("sizes-of-features", hint="Whose size do you divide by: that of one word, or of one feature in all words?")
def rms_norm(x, gamma, eps=1e-5):
    axis = 0 if x.ndim > 1 else -1
    return _normed(size=lambda x, eps: np.sqrt(_mean_square(x, axis) + eps))(x, gamma, eps)


@mistake("eps-outside-the-root", hint="What is eps added to: the mean of the squares or its root?")
def rms_norm(x, gamma, eps=1e-5):
    return _normed(size=lambda x, eps: np.sqrt(_mean_square(x)) + eps)(x, gamma, eps)


@mistake("another-default-eps", hint="Which eps does the first line of the stub give?")
def rms_norm(x, gamma, eps=1e-8):
    return _normed()(x, gamma, eps)


def _by_default(default, size=None):
    """`rms_norm` with another default eps."""
    code = _normed() if size is None else _normed(size=size)
    return {"code": lambda x, gamma, eps=default: code(x, gamma, eps)}


@mistake.mutants(
    {
        "another-default-eps": mistake.mutant(
            *map(_by_default, (1e-6, 1e-4, 1e-3, 1e-2, 1e-7, 1e-9, 1e-12, 0.0, 1e-1, 1.0)),
            hint="Which eps does the first line of the stub give?",
        ),
        "half-precision": mistake.mutant(*in_half(_normed()), hint=HALF),
    }
)
def rms_norm(code):
    return code


@mistake("gamma-first", hint="Is the size taken of x, or of x times gamma?")
def rms_norm(x, gamma, eps=1e-5):
    return _normed(before=lambda x: gamma * x, scaled=lambda x, size, gamma: x / size)(x, gamma, eps)


@mistake("axis-summed-away", hint="A mean has one axis less than x. Which argument of mean keeps it?")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt((x**2).mean(axis=-1) + eps)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def rms_norm(x, gamma, eps=1e-5):
    x /= np.sqrt(_mean_square(x) + eps)
    return gamma * x


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def rms_norm(x, gamma, eps=1e-5):
    return np.zeros(x.shape) + _normed()(x, gamma, eps)


@mistake.mutants(
    {
        "mean-subtracted": mistake.known(
            {"before": lambda x: x - x.mean(axis=-1, keepdims=True)},
            hint="Is the mean taken off? What does the norm of this exercise leave out?",
        ),
        "spread-for-size": mistake.known(
            {"size": lambda x, eps: np.sqrt(x.var(axis=-1, keepdims=True) + eps)},
            hint="Your squares are of distances from the mean. Of what should they be?",
        ),
        "length-for-size": mistake.known(
            {"size": lambda x, eps: np.sqrt((x**2).sum(axis=-1, keepdims=True) + eps)},
            {"size": lambda x, eps: np.sqrt((x**2).sum(axis=-1, keepdims=True)) + eps},
            hint="Of the squares, is it the sum or the mean?",
        ),
        "no-root": mistake.known(
            {"size": lambda x, eps: _mean_square(x) + eps},
            hint="If all features are ten times as large, how much larger is what you divide by?",
        ),
        "square-for-root": mistake.mutant(
            {"size": lambda x, eps: (_mean_square(x) + eps) ** 2},
            {"size": lambda x, eps: ((x**2).sum(axis=-1, keepdims=True) + eps) ** 2},
            hint="If all features are ten times as large, how much larger is what you divide by?",
        ),
        "root-twice": mistake.mutant(
            {"size": lambda x, eps: (_mean_square(x) + eps) ** 0.25},
            hint="If all features are 16 times as large, how much larger is what you divide by?",
        ),
        "eps-squared": mistake.mutant(
            {"eps": lambda eps: eps**2}, {"eps": lambda eps: eps**0.5}, hint="To what is eps added, and as it is?"
        ),
        "no-squares": mistake.known(
            {"size": lambda x, eps: np.abs(x).mean(axis=-1, keepdims=True) + eps},
            {"size": lambda x, eps: np.sqrt(np.abs(x).mean(axis=-1, keepdims=True) ** 2 + eps)},
            {"size": lambda x, eps: np.sqrt(np.abs(x).mean(axis=-1, keepdims=True) + eps)},
            hint="Root, mean, square: which of the three is not there? What if the features sum to 0?",
        ),
        "largest-for-size": mistake.known(
            {"size": lambda x, eps: np.abs(x).max(axis=-1, keepdims=True) + eps},
            {"size": lambda x, eps: np.sqrt((x**2).max(axis=-1, keepdims=True) + eps)},
            hint="Is a vector divided by its largest feature, or by all of them together?",
        ),
        "one-size-for-all": mistake.known(
            {"size": lambda x, eps: np.sqrt((x**2).mean() + eps)},
            hint="How many sizes are there for five words, and how many do you have?",
        ),
        "sizes-of-features": [{"size": lambda x, eps: np.sqrt(_mean_square(x, 0 if x.ndim == 1 else -2) + eps)}],
        "divided-by-n-minus-1": mistake.mutant(
            {"size": lambda x, eps: np.sqrt((x**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1) + eps)},
            hint="In the example 84 is divided by a number. By which, and by which in yours?",
        ),
        "gamma-missing": mistake.known(
            {"scaled": lambda x, size, gamma: x / size}, hint="Which argument does your code not use?"
        ),
        "gamma-plus-1": mistake.known(
            {"scaled": lambda x, size, gamma: (1 + gamma) * x / size},
            hint="With gamma = 1, what should be the size of the result?",
        ),
        "gamma-added": mistake.known(
            {"scaled": lambda x, size, gamma: x / size + gamma}, hint="Is gamma multiplied or added?"
        ),
        "gamma-divided": mistake.mutant(
            {"scaled": lambda x, size, gamma: x / (size * gamma)}, hint="Is gamma multiplied, or do you divide by it?"
        ),
        "one-added-to-the-size": mistake.mutant(
            *[{"size": lambda x, eps, by=by: np.sqrt(_mean_square(x) + eps) + by} for by in (1, 0.5, 0.1, 0.01)],
            hint="If all features are ten times as large, what you divide by should be, too. Is yours?",
        ),
        "eps-missing": mistake.known(
            {"eps": lambda eps: 0.0},
            hint="What becomes of a word whose features are all 0? Which argument does your code not use?",
        ),
        "eps-fixed": mistake.known(
            *[{"eps": lambda eps, by=by: by} for by in (1e-5, 1e-6, 1e-8, 1e-4, 1e-3, 1e-2, 0.1, 1.0)],
            hint="A caller may give another eps. Does yours listen?",
        ),
    }
)
def rms_norm(**options):
    return _normed(**options)
