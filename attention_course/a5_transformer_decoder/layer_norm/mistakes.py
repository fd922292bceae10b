"""Known mistakes of layer_norm."""

import numpy as np

from autograder.testing import Catalogue

mistake = Catalogue()
FIXED = (1e-5, 1e-4, 1e-6, 1e-3, 1e-8, 1e-2, 0.1, 1.0)


@mistake(
    "axes-counted-from-the-front", hint="With a batch axis in front, which axis holds the features? Count from the end."
)
def layer_norm(x, gamma, beta, eps=1e-5):
    axis = 1 if x.ndim > 1 else 0
    mean, variance = x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


@mistake("eps-fixed", hint="A caller may give another eps. Does yours listen?")
def layer_norm(x, gamma, beta, eps=1e-5):
    variance = x.var(axis=-1, keepdims=True)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + 1e-5) + beta


@mistake("another-default-eps", hint="Which eps does the first line of the stub give?")
def layer_norm(x, gamma, beta, eps=1e-12):
    variance = x.var(axis=-1, keepdims=True)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + eps) + beta


@mistake("root-mean-square-norm", hint="Your squares are of x itself. Which distances does the variance square?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta


@mistake("not-divided", hint="What is the variance of your result with gamma = 1 and beta = 0?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) + beta


@mistake("gamma-and-beta-missing", hint="Which arguments does your code not use?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def layer_norm(x, gamma, beta, eps=1e-5):
    result = np.zeros(x.shape)
    result += gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta
    return result


@mistake("axis-summed-away", hint="A mean has one axis less than x. Which argument of mean keeps it?")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) + beta


def _from_the_mean(x, middle):
    return x - x.mean(axis=-1, keepdims=True)


def _root_of(variance, eps):
    return np.sqrt(variance + eps)


@mistake.mutants(
    {
        "normalised-over-the-batch": mistake.known(
            {"axis": 0},
            {"axis": (-5, -4, -3, -2)},
            hint="Whose mean do you subtract: of one word's features, or of one feature's words?",
        ),
        "normalised-over-the-sentence": mistake.mutant(
            {"axis": (-2, -1)},
            {"axis": -2},
            hint="Over how many numbers is your mean: those of one word, or of all words?",
        ),
        "normalised-over-everything": mistake.known(
            {"axis": None}, hint="How many means are there for five words, and how many do you have?"
        ),
        "divided-by-n-minus-1": mistake.known(
            {"ddof": 1}, hint="By what is the 20 of the example divided, and by what does your variance divide?"
        ),
        "no-root": mistake.known(
            {"below": lambda variance, eps: variance + eps},
            hint="If all features are ten times as large, how much larger is the variance? What do you divide by?",
        ),
        "eps-outside-the-root": mistake.known(
            {"below": lambda variance, eps: np.sqrt(variance) + eps},
            hint="What is eps added to: the variance or its root?",
        ),
        "eps-fixed": [{"below": lambda variance, eps, by=by: np.sqrt(variance + by)} for by in FIXED],
        "a-constant-factor": mistake.mutant(
            *[{"affine": lambda y, gamma, beta, by=by: by * gamma * y + beta} for by in (2, 0.5, 10, 0.1, -1)],
            hint="With gamma = 1, how large are your numbers? Is gamma used as it comes?",
        ),
        "gamma-zero": mistake.mutant(
            {"affine": lambda y, gamma, beta: 0 * y + beta}, hint="Does your result change if gamma does, or x?"
        ),
        "another-default-eps": [{"default": eps} for eps in (1e-4, 1e-6, 1e-8, 1e-3, 0.0)],
        "affine-first": mistake.known(
            {"affine_first": True}, hint="Does gamma scale x itself, or what is left once x is normalised?"
        ),
        "eps-twice": mistake.mutant(
            {"below": lambda variance, eps: np.sqrt(variance + eps) + eps},
            {"below": lambda variance, eps: np.sqrt(variance + 2 * eps)},
            hint="How often is eps added, and where?",
        ),
        "eps-missing": mistake.known(
            {"below": lambda variance, eps: np.sqrt(variance)},
            hint="What becomes of a word whose features are all equal?",
        ),
        "root-twice": mistake.mutant(
            {"below": lambda variance, eps: np.sqrt(np.sqrt(variance) + eps)},
            hint="If all features are ten times as large, how much larger is what you divide by?",
        ),
        "eps-squared": mistake.mutant(
            {"below": lambda variance, eps: np.sqrt(variance + eps**2)}, hint="What exactly is added to the variance?"
        ),
        "mean-not-subtracted": mistake.known(
            {"centre": 0}, hint="What is the mean of your result with gamma = 1 and beta = 0?"
        ),
        "absolute-deviation": mistake.mutant(
            {"spread": lambda x, axis: np.abs(x).mean(axis=axis, keepdims=True) ** 2},
            hint="Is the variance the mean of sizes, or of squares?",
        ),
        "sum-of-squares": mistake.mutant(
            {"spread": lambda x, axis: (x**2).sum(axis=axis, keepdims=True)},
            hint="Is the variance a sum or a mean? Try a vector of another length.",
        ),
        "variance-of-x-itself": mistake.mutant(
            {"of": lambda x, mean: x},
            hint="Of what do you take squares for the variance: of x, or of what is left of it?",
        ),
        "variance-over-everything": mistake.mutant(
            {"spread_axis": None}, hint="How many means do you have for five words, and how many variances?"
        ),
        "variance-over-the-batch": mistake.mutant(
            {"spread_axis": 0}, hint="Over which axis is your mean, and over which one your variance?"
        ),
        "median-for-mean": mistake.mutant(
            {"middle": np.median},
            {"middle": np.median, "of": _from_the_mean},
            hint="Which of the two is a mean: the middle one, or the sum divided by how many there are?",
        ),
        "largest-for-mean": mistake.mutant(
            {"middle": np.max},
            {"middle": np.max, "of": _from_the_mean},
            hint="What is taken off each feature: the mean, or the largest?",
        ),
        "eps-as-a-floor": mistake.mutant(
            {"below": lambda variance, eps: np.sqrt(np.maximum(variance, eps))},
            hint="Does eps change a large variance, too?",
        ),
        "range-for-spread": mistake.mutant(
            {"spread": lambda x, axis: np.ptp(x, axis=axis, keepdims=True) ** 2},
            hint="Is it the distance from the smallest to the largest that you divide by?",
        ),
        "gamma-and-beta-swapped": mistake.known(
            {"affine": lambda y, gamma, beta: beta * y + gamma},
            hint="Which of gamma and beta is 1 where nothing should change, and which is 0?",
        ),
        "shifted-before-scaled": mistake.known(
            {"affine": lambda y, gamma, beta: gamma * (y + beta)}, hint="Does gamma scale beta, too?"
        ),
        "gamma-missing": mistake.mutant(
            {"affine": lambda y, gamma, beta: y + beta}, hint="Which of gamma and beta is in your formula?"
        ),
        "beta-missing": mistake.mutant(
            {"affine": lambda y, gamma, beta: gamma * y}, hint="Which of gamma and beta is in your formula?"
        ),
        "gamma-added": mistake.mutant(
            {"affine": lambda y, gamma, beta: (1 + gamma) * y + beta}, hint="What is left of a vector if gamma is 0?"
        ),
    }
)
def layer_norm(
    axis=-1, ddof=0, below=_root_of, centre=1, spread=None, affine=lambda y, gamma, beta: gamma * y + beta,
    of=lambda x, mean: x - mean, middle=np.mean, spread_axis=-1, default=1e-5, affine_first=False,
):  # fmt: skip
    def norm(x, gamma, beta, eps=default):
        if affine_first:
            x, gamma, beta = affine(x, gamma, beta), 1, 0
        along = tuple(a for a in axis if -a <= x.ndim) if isinstance(axis, tuple) else axis
        along = -1 if along == () or (axis in (0, -2) and x.ndim == 1) else along
        mean = middle(x, axis=along, keepdims=True)
        along = along if spread_axis == -1 or x.ndim == 1 else spread_axis
        squares = of(x, mean) ** 2
        count = squares.size / squares.mean(axis=along, keepdims=True).size
        variance = spread(x - mean, along) if spread else squares.sum(axis=along, keepdims=True) / (count - ddof)
        return affine((x - centre * mean) / below(variance, eps), gamma, beta)

    return norm
