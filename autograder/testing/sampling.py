"""Whether draws have the expected mean, spread and distribution, and are independent.

A test of randomness sometimes fails right draws: each `sample` does so with a probability below `ERROR`. No limit
theorem is used, so this holds for any number of draws. The probability is shared among `CHECKS` bounds, all proven:

- means, of draws and of their squared distances: Bernstein's inequality; of squared distances that are too small,
  Maurer's (A bound on the deviation probability for sums of non-negative random variables, 2003). If the reference's
  draws are what is expected, each right draw could change places with one of those: the differences have random signs,
  and Hoeffding's inequality for signs holds (1963, theorem 2).
- the distribution: for the distance of Kolmogorov and Smirnov the inequality of Dvoretzky, Kiefer and Wolfowitz, with
  Massart's constant (1990), and between two samples of one size with that of Wei and Dudley (Two-sample
  Dvoretzky-Kiefer-Wolfowitz inequalities, 2012), which holds from 458 draws on; of outcomes that can be counted, the
  likelihood-ratio chi-square, with Agrawal's bound (Finite-sample concentration of the multinomial, 2020).
- independence: the spread of means of neighbours, by the same bounds as the spread of draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.testing import expect
from autograder.testing.mismatch import fail, kind_of
from autograder.testing.visible import as_text

ERROR = 1e-7  # so that a test with ten samples fails right draws with a probability of 1e-6
CHECKS = 6  # not all draws equal, mean, spread, distribution, and neighbours twice
LEAST = 1000  # draws; fewer tell too little
NEIGHBOURS = 10  # draws that are averaged; the draws of one call as well, if there are many calls
MANY = 100
SAME = "each of {:,} calls drew the same. Is a seed set inside the function, or nothing drawn?"


def sample(
    draws: Any,
    hint: str = "",
    *,
    like: Any = None,
    cdf: Callable[[np.ndarray], np.ndarray] | None = None,
    outcomes: Mapping[Any, float] | Iterable[Any] | None = None,
) -> None:
    """Draws are independent and have the expected distribution. Right ones fail with a probability below 1e-7.

    draws: what `student.NAME.draws` gave, or a statistic of each call's. More draws show smaller faults: 10,000 show a
        mean that is 0.12 standard deviations off, or a standard deviation that is off by a tenth
    Pass one of these, which says what is expected:
    like: as many draws of the reference
    cdf: the share of draws that are no larger than each of some numbers, for a continuous distribution
    outcomes: what can come out with its probability, or everything that comes out equally often; if these are tuples,
        what one call gives is one outcome
    """
    if sum(given is not None for given in (like, cdf, outcomes)) != 1:
        raise TypeError("one of like=, cdf= and outcomes= says what is asked for")
    if outcomes is not None:
        _check_outcomes(draws, _probabilities(outcomes), hint)
        return
    if like is None:
        assert cdf is not None
        found = _numbers(draws, hint, 0.0)
        shares = np.asarray(cdf(found), float)
        _check_mean_and_spread(found, *_offsets(shares, _UNIFORM), hint, by_ranks=True)
        _check_distribution(found.ravel(), shares.ravel(), hint)
        _check_neighbours(shares, lambda size: _spread_of_means(shares, size, _UNIFORM), hint)
    else:
        right = _numbers(like, hint, 1.0)
        share = np.unique(right, return_counts=True)[1].max() / right.size
        found = _numbers(draws, hint, share + 2 * math.sqrt(_log(2) / (2 * right.size)))
        expect.shape(found, right.shape, hint, "the sample")
        _check_mean_and_spread(found, _mean_offset(found, right), _spread_offset(found, right), hint)
        _check_two_distributions(found.ravel(), right.ravel(), hint)
        _check_neighbours(found, lambda size: _spread_offset(_means(found, size), _means(right, size)), hint)


# ---------------------------------------------------------------- draws


def _check_not_all_equal(draws: Any, likeliest: float, whole: bool = False) -> None:
    """Fail if all calls drew the same, unless right draws may well do so.

    likeliest: the probability of the likeliest outcome; whole: whether a call gives a single outcome
    """
    calls = draws if isinstance(draws, np.ndarray) and draws.ndim else _plain(draws)
    if isinstance(calls, tuple) and calls and not isinstance(calls[0], int | float | str | tuple):
        fail(f"each call gave back {kind_of(calls[0])}.", symptom="kind")
    count = len(calls) if isinstance(calls, tuple | np.ndarray) else 0
    repeats = (count - 1) * (1 if whole else np.size(calls[0])) if count > 1 else 0
    if repeats and likeliest**repeats < ERROR / CHECKS and all(np.array_equal(call, calls[0]) for call in calls):
        fail(SAME.format(count))


def _plain(value: Any) -> Any:
    """The value with tuples in place of lists and arrays, so that it can be counted."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim < 2:
        value = value.tolist()
        return tuple(value) if isinstance(value, list) else value
    return tuple(map(_plain, value)) if isinstance(value, list | tuple | np.ndarray) else value


def _numbers(draws: Any, hint: str, likeliest: float) -> np.ndarray:
    _check_not_all_equal(draws, likeliest)
    try:
        found = np.asarray(expect.numbers(np.asarray(draws) if isinstance(draws, list) else draws))
    except ValueError:
        fail("the calls gave differently many draws.", hint, symptom="kind")
    if found.dtype.kind not in "biuf":
        fail("some draws are no numbers.", hint, symptom="kind")
    found = found.astype(float)
    expect.finite(found, hint, "the sample")
    _check_enough(found.size, hint)
    return found


def _check_enough(count: int, hint: str) -> None:
    if count < LEAST:
        fail(f"the sample has {count} draws, which is too few.", hint, symptom="shape")


# ---------------------------------------------------------------- bounds


@dataclass(frozen=True)
class _Moments:
    """Mean, variance and fourth central moment of right draws, and the largest distance from the mean."""

    mean: float
    variance: float
    fourth: float
    reach: float

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray) -> _Moments:
        mean = float(np.average(values, weights=weights))
        distances = values - mean
        variance, fourth = (float(np.average(distances**power, weights=weights)) for power in (2, 4))
        return cls(mean, variance, fourth, float(np.abs(distances).max()))


_UNIFORM = _Moments(1 / 2, 1 / 12, 1 / 80, 1 / 2)


def _log(ways: int) -> float:
    """The logarithm of 1 / p, where p is the probability that each of `ways` events may have."""
    return math.log(ways * CHECKS / ERROR)


# Each of the following says by its sign whether something is too small (-1), too large (1), or neither (0).


def _offsets(scores: np.ndarray, right: _Moments) -> tuple[int, int]:
    """The mean and the spread of scores."""
    offset = float(scores.mean()) - right.mean
    mean = np.sign(offset) if abs(offset) > _bernstein(scores.size, right.variance, right.reach) else 0
    return int(mean), _spread(scores, right)


def _bernstein(count: int, variance: float, reach: float) -> float:
    """The bound on how far a mean is off."""
    far = reach * _log(2) / 3
    return (far + math.sqrt(far**2 + 2 * count * variance * _log(2))) / count


def _spread(scores: np.ndarray, right: _Moments) -> int:
    """The spread of scores: the mean of their squared distances."""
    squares, variance = (scores - right.mean) ** 2, right.fourth - right.variance**2
    offset, bound = float(squares.mean()) - right.variance, _bernstein(squares.size, variance, right.reach**2)
    below = min(bound, math.sqrt(2 * (variance + right.variance**2) * _log(2) / squares.size))
    return 1 if offset > bound else -1 if offset < -below else 0


def _mean_offset(found: np.ndarray, right: np.ndarray) -> int:
    """The mean of draws, beside the reference's."""
    differences = found - right
    total, bound = differences.sum(), math.sqrt(2 * _log(2) * (differences**2).sum())
    return int(np.sign(total)) if abs(total) > bound else 0


def _spread_offset(found: np.ndarray, right: np.ndarray) -> int:
    """The spread of draws, beside the reference's."""
    middle = (found.mean() + right.mean()) / 2
    return _mean_offset((found - middle) ** 2, (right - middle) ** 2)


def _spread_of_means(values: np.ndarray, size: int, right: _Moments) -> int:
    """The spread of means of `size` neighbours."""
    fourth = (right.fourth + 3 * (size - 1) * right.variance**2) / size**3
    return _spread(_means(values, size), _Moments(right.mean, right.variance / size, fourth, right.reach))


def _means(values: np.ndarray, size: int) -> np.ndarray:
    """Means of `size` neighbours each; values that are left over are dropped."""
    return np.asarray(values.ravel()[: values.size // size * size].reshape(-1, size).mean(axis=1))


# ---------------------------------------------------------------- checks


def _check_mean_and_spread(found: np.ndarray, mean: int, spread: int, hint: str, by_ranks: bool = False) -> None:
    """by_ranks: whether `mean` and `spread` are about the draws' places in the distribution, not the draws."""
    low, middle, high = np.quantile(found, (0.25, 0.5, 0.75))
    if mean:
        size = "large" if mean > 0 else "small"
        figure = f"median is {middle:.4g}" if by_ranks else f"mean is {found.mean():.4g}"
        fail(f"{found.size:,} draws are too {size} on the whole: their {figure}.", hint)
    if spread:
        how = "far from" if spread > 0 else "close to"
        half = f"half of them lie between {low:.4g} and {high:.4g}"
        figure = half if by_ranks else f"their standard deviation is {found.std():.4g}"
        fail(f"{found.size:,} draws lie too {how} the middle: {figure}.", hint)


def _check_neighbours(draws: np.ndarray, spread_of_means: Callable[[int], int], hint: str) -> None:
    for size in (NEIGHBOURS, draws.shape[1] if draws.ndim > 1 and len(draws) >= MANY else 1):
        if size > 1 and (offset := spread_of_means(size)):
            finding = "are too much alike" if offset > 0 else "even each other out"
            fail(f"draws that follow one another {finding}. Is each one drawn anew, from all there is?", hint)


def _check_distribution(found: np.ndarray, shares: np.ndarray, hint: str) -> None:
    order, count = np.argsort(found, kind="stable"), found.size
    above = np.arange(1, count + 1) / count - shares[order]
    below = above - 1 / count
    gaps = np.where(np.abs(above) > np.abs(below), above, below)
    _check_gaps(gaps, found[order], math.sqrt(_log(2) / (2 * count)), hint)


def _check_two_distributions(found: np.ndarray, right: np.ndarray, hint: str) -> None:
    places = np.sort(np.concatenate([found, right]))
    shares = [np.searchsorted(np.sort(draws), places, side="right") / draws.size for draws in (found, right)]
    _check_gaps(shares[0] - shares[1], places, math.sqrt(_log(2) / found.size), hint)


def _check_gaps(gaps: np.ndarray, places: np.ndarray, bound: float, hint: str) -> None:
    """Fail if two distribution functions differ by more than `bound`."""
    largest = int(np.abs(gaps).argmax())
    if abs(gaps[largest]) > bound:
        many = "many" if gaps[largest] > 0 else "few"
        fail(f"too {many} draws are below {places[largest]:.4g}.", hint)


# ---------------------------------------------------------------- outcomes


def _probabilities(outcomes: Mapping[Any, float] | Iterable[Any]) -> dict[Any, float]:
    if isinstance(outcomes, Mapping):
        return {_plain(outcome): float(share) for outcome, share in outcomes.items()}
    found = Counter(map(_plain, outcomes))
    return {outcome: count / found.total() for outcome, count in found.items()}


def _check_outcomes(draws: Any, expected: Mapping[Any, float], hint: str) -> None:
    """Check outcomes with their probabilities: mean and spread of numbers, how often each came, and neighbours."""
    if not math.isclose(sum(expected.values()), 1):
        raise TypeError(f"the probabilities add up to {sum(expected.values()):g}")
    calls, whole = _plain(draws), isinstance(next(iter(expected)), tuple)
    if not isinstance(calls, tuple):
        fail(f"gave back {kind_of(draws)}, where draws belong.", hint, symptom="kind")
    _check_not_all_equal(draws, max(expected.values()), whole)
    items = [item for call in calls for item in (call if isinstance(call, tuple) and not whole else (call,))]
    for item in items:
        if not _is_possible(item, expected):
            fail(f"`{as_text(item):.80}` came out, which cannot be.", hint)
    _check_enough(len(items), hint)
    numbers = all(isinstance(outcome, int | float) for outcome in expected)
    scores = {outcome: float(outcome if numbers else place) for place, outcome in enumerate(expected)}
    found = np.array([scores[item] for item in items])
    found = found.reshape((len(calls), -1) if len(items) % len(calls) == 0 else (-1,))
    right = _Moments.of(np.array(list(scores.values())), np.array(list(expected.values())))
    if numbers:
        _check_mean_and_spread(found, *_offsets(found, right), hint)
    _check_frequencies(items, expected, hint)
    _check_neighbours(found, lambda size: _spread_of_means(found, size, right), hint)


def _is_possible(item: Any, expected: Mapping[Any, float]) -> bool:
    try:
        return expected.get(item, 0.0) > 0
    except TypeError:  # a dict is no outcome
        return False


def _check_frequencies(items: Sequence[Any], expected: Mapping[Any, float], hint: str) -> None:
    """Check how often each outcome came, by the sum of k ln (k / n p): half the likelihood-ratio chi-square."""
    count, found = len(items), Counter(items)
    total = sum(k * math.log(k / (count * expected[outcome])) for outcome, k in found.items())
    free = len(expected) - 1
    bound = _log(1) + 2 * free
    for _ in range(60 if free else 0):  # until e^-bound (e bound / free)^free is small enough
        bound = _log(1) + free * (1 + math.log(bound / free))
    if total > bound:
        worst = max(expected, key=lambda o: abs(found[o] - count * expected[o]) / math.sqrt(count * expected[o] or 1))
        often = "often" if found[worst] > count * expected[worst] else "rarely"
        fail(f"`{as_text(worst)}` came out {found[worst]:,} times in {count:,} draws, which is too {often}.", hint)
