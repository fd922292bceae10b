"""Are draws what is asked for? Their mean, their spread, their distribution, and do they hang together?

A test of chance fails right draws sometimes: each `sample` with a probability below `ERROR`. No limit theorem is in
that, so it holds for any number of draws. It is shared among `CHECKS` bounds, all of them proven:

- means, of draws and of their squared distances: Bernstein's inequality; of squared distances that are too small,
  Maurer's (A bound on the deviation probability for sums of non-negative random variables, 2003). If the reference's
  draws say what is right, each right draw and one of those might have changed places: the differences have their signs
  by chance, and Hoeffding's inequality for signs holds (1963, theorem 2).
- the distribution: for the distance of Kolmogorov and Smirnov the inequality of Dvoretzky, Kiefer and Wolfowitz, with
  Massart's constant (1990), and between two samples of one size with that of Wei and Dudley (Two-sample
  Dvoretzky-Kiefer-Wolfowitz inequalities, 2012), which holds from 458 draws on; of outcomes that can be counted, the
  likelihood-ratio chi-square, with Agrawal's bound (Finite-sample concentration of the multinomial, 2020).
- do draws hang together: the spread of means of neighbours, by the same bounds as the spread of draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.testing import expect
from autograder.testing.expect import fail
from autograder.testing.visible import as_text

ERROR = 1e-7  # so that a test with ten samples fails right draws with a probability of 1e-6
CHECKS = 6  # another answer each time, mean, spread, distribution, and neighbours twice
LEAST = 1000  # draws; fewer tell too little
NEIGHBOURS = 10  # draws that are taken together; the draws of one call, too, if there are many calls
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
    """Draws are independent and of the distribution that is asked for. Right ones fail with a probability below 1e-7.

    draws: what `student.NAME.draws` gave, or a statistic of each call's; the more, the smaller the faults that show:
        of 10,000 a mean that is 0.12 standard deviations off, or a standard deviation that is off by a tenth
    Of what is asked for, one is given:
    like: the reference's draws, as many
    cdf: of numbers the share of draws that are no larger, for a continuous distribution
    outcomes: what can come out with its probability, or all that come out equally often; if these are tuples, what one
        call gives is one outcome
    """
    if sum(one is not None for one in (like, cdf, outcomes)) != 1:
        raise TypeError("one of like=, cdf= and outcomes= says what is asked for")
    if outcomes is not None:
        _counted(draws, _probabilities(outcomes), hint)
        return
    if like is None:
        assert cdf is not None
        found = _numbers(draws, hint, 0.0)
        shares = np.asarray(cdf(found), float)
        _mean_and_spread(found, *_offs(shares, _UNIFORM), hint, by_ranks=True)
        _distribution(found.ravel(), shares.ravel(), hint)
        _hang_together(shares, lambda size: _neighbours(shares, size, _UNIFORM), hint)
    else:
        right = _numbers(like, hint, 1.0)
        share = np.unique(right, return_counts=True)[1].max() / right.size
        found = _numbers(draws, hint, share + 2 * math.sqrt(_log(2) / (2 * right.size)))
        expect.shape(found, right.shape, hint, "the sample")
        _mean_and_spread(found, _swapped(found, right), _spread(found, right), hint)
        _two_distributions(found.ravel(), right.ravel(), hint)
        _hang_together(found, lambda size: _spread(_means(found, size), _means(right, size)), hint)


# ---------------------------------------------------------------- draws


def _must_be_drawn_anew(draws: Any, most: float, whole: bool = False) -> None:
    """most: how likely the likeliest outcome is, for right draws may be the same by chance; whole: is it a call's?"""
    calls = draws if isinstance(draws, np.ndarray) and draws.ndim else _plain(draws)
    if isinstance(calls, tuple) and calls and not isinstance(calls[0], int | float | str | tuple):
        fail(f"each call gave back {expect.kind_of(calls[0])}.", symptom="kind")
    count = len(calls) if isinstance(calls, tuple | np.ndarray) else 0
    again = (count - 1) * (1 if whole else np.size(calls[0])) if count > 1 else 0
    if again and most**again < ERROR / CHECKS and all(np.array_equal(one, calls[0]) for one in calls):
        fail(SAME.format(count))


def _plain(value: Any) -> Any:
    """With tuples in place of lists and arrays, so that it can be counted."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim < 2:
        value = value.tolist()
        return tuple(value) if isinstance(value, list) else value
    return tuple(map(_plain, value)) if isinstance(value, list | tuple | np.ndarray) else value


def _numbers(draws: Any, hint: str, most: float) -> np.ndarray:
    _must_be_drawn_anew(draws, most)
    try:
        found = np.asarray(expect.numbers(np.asarray(draws) if isinstance(draws, list) else draws))
    except ValueError:
        fail("the calls gave differently many draws.", hint, symptom="kind")
    if found.dtype.kind not in "biuf":
        fail("some draws are no numbers.", hint, symptom="kind")
    found = found.astype(float)
    expect.finite(found, hint, "the sample")
    _must_be_enough(found.size, hint)
    return found


def _must_be_enough(count: int, hint: str) -> None:
    if count < LEAST:
        fail(f"the sample has {count} draws, which is too few.", hint, symptom="shape")


# ---------------------------------------------------------------- bounds


@dataclass(frozen=True)
class _Moments:
    """Mean, variance, and fourth central moment of right draws, and how far one can be from the mean."""

    mean: float
    variance: float
    fourth: float
    reach: float

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray | None = None) -> _Moments:
        mean = float(np.average(values, weights=weights))
        away = values - mean
        variance, fourth = (float(np.average(away**power, weights=weights)) for power in (2, 4))
        return cls(mean, variance, fourth, float(np.abs(away).max()))


_UNIFORM = _Moments(1 / 2, 1 / 12, 1 / 80, 1 / 2)


def _log(ways: int) -> float:
    """Of what `ways` events may each have as a probability, one to the minus that."""
    return math.log(ways * CHECKS / ERROR)


def _bernstein(count: int, variance: float, reach: float) -> float:
    """By less than this a mean is off."""
    far = reach * _log(2) / 3
    return (far + math.sqrt(far**2 + 2 * count * variance * _log(2))) / count


def _offs(scores: np.ndarray, right: _Moments) -> tuple[int, int]:
    """Are scores too small (-1) or too large (1), and are they too close together (-1) or too far apart (1)?"""
    off = float(scores.mean()) - right.mean
    mean = np.sign(off) if abs(off) > _bernstein(scores.size, right.variance, right.reach) else 0
    squares = (scores - right.mean) ** 2
    return int(mean), _squares(squares, right.variance, right.fourth - right.variance**2, right.reach**2)


def _squares(squares: np.ndarray, mean: float, variance: float, reach: float) -> int:
    """Are squared distances too small (-1), or too large (1)?"""
    off, bound = float(squares.mean()) - mean, _bernstein(squares.size, variance, reach)
    below = min(bound, math.sqrt(2 * (variance + mean**2) * _log(2) / squares.size))
    return 1 if off > bound else -1 if off < -below else 0


def _swapped(found: np.ndarray, right: np.ndarray) -> int:
    """Are the draws smaller (-1) or larger (1) than the reference's, by more than chance?"""
    apart = found - right
    return int(np.sign(apart.sum())) if abs(apart.sum()) > math.sqrt(2 * _log(2) * (apart**2).sum()) else 0


def _spread(found: np.ndarray, right: np.ndarray) -> int:
    """Do they lie closer together (-1), or further apart (1)?"""
    middle = (found.mean() + right.mean()) / 2
    return _swapped((found - middle) ** 2, (right - middle) ** 2)


# ---------------------------------------------------------------- checks


def _mean_and_spread(found: np.ndarray, mean: int, spread: int, hint: str, by_ranks: bool = False) -> None:
    """by_ranks: do `mean` and `spread` say it of the draws' places in the distribution, and not of the draws?"""
    low, middle, high = np.quantile(found, (0.25, 0.5, 0.75))
    if mean:
        size = "large" if mean > 0 else "small"
        told = f"median is {middle:.4g}" if by_ranks else f"mean is {found.mean():.4g}"
        fail(f"{found.size:,} draws are too {size} on the whole: their {told}.", hint)
    if spread:
        how = "far from" if spread > 0 else "close to"
        half = f"half of them lie between {low:.4g} and {high:.4g}"
        told = half if by_ranks else f"their standard deviation is {found.std():.4g}"
        fail(f"{found.size:,} draws lie too {how} the middle: {told}.", hint)


def _hang_together(draws: np.ndarray, off: Callable[[int], int], hint: str) -> None:
    """off: do means of so many neighbours lie too close together (-1), or too far apart (1)?"""
    for size in (NEIGHBOURS, draws.shape[1] if draws.ndim > 1 and len(draws) >= MANY else 1):
        if size > 1 and off(size):
            said = "are too much alike" if off(size) > 0 else "even each other out"
            fail(f"draws that follow one another {said}. Is each one drawn anew, from all there is?", hint)


def _neighbours(values: np.ndarray, size: int, right: _Moments) -> int:
    variance = right.variance / size
    fourth = (right.fourth + 3 * (size - 1) * right.variance**2) / size**3
    return _squares((_means(values, size) - right.mean) ** 2, variance, fourth - variance**2, right.reach**2)


def _means(values: np.ndarray, size: int) -> np.ndarray:
    """Of so many neighbours each, without those that are left over."""
    return np.asarray(values.ravel()[: values.size // size * size].reshape(-1, size).mean(axis=1))


def _distribution(found: np.ndarray, shares: np.ndarray, hint: str) -> None:
    order, count = np.argsort(found, kind="stable"), found.size
    up = np.arange(1, count + 1) / count - shares[order]
    apart = np.where(np.abs(up) > np.abs(up - 1 / count), up, up - 1 / count)
    _tell_distance(apart, found[order], math.sqrt(_log(2) / (2 * count)), hint)


def _two_distributions(found: np.ndarray, right: np.ndarray, hint: str) -> None:
    places = np.sort(np.concatenate([found, right]))
    shares = [np.searchsorted(np.sort(one), places, side="right") / one.size for one in (found, right)]
    _tell_distance(shares[0] - shares[1], places, math.sqrt(_log(2) / found.size), hint)


def _tell_distance(apart: np.ndarray, places: np.ndarray, bound: float, hint: str) -> None:
    most = int(np.abs(apart).argmax())
    if abs(apart[most]) > bound:
        many = "many" if apart[most] > 0 else "few"
        fail(f"too {many} draws are below {places[most]:.4g}.", hint)


# ---------------------------------------------------------------- outcomes


def _probabilities(outcomes: Mapping[Any, float] | Iterable[Any]) -> dict[Any, float]:
    if isinstance(outcomes, Mapping):
        return {_plain(one): float(share) for one, share in outcomes.items()}
    found = Counter(map(_plain, outcomes))
    return {one: count / found.total() for one, count in found.items()}


def _counted(draws: Any, asked: Mapping[Any, float], hint: str) -> None:
    """Mean and spread of outcomes that are numbers, how often each came, and neighbours."""
    if not math.isclose(sum(asked.values()), 1):
        raise TypeError(f"the probabilities add up to {sum(asked.values()):g}")
    calls, whole = _plain(draws), isinstance(next(iter(asked)), tuple)
    if not isinstance(calls, tuple):
        fail(f"gave back {expect.kind_of(draws)}, where draws belong.", hint, symptom="kind")
    _must_be_drawn_anew(draws, max(asked.values()), whole)
    items = list(calls) if whole else [item for one in calls for item in (one if isinstance(one, tuple) else (one,))]
    for item in items:
        if not _is_among(item, asked):
            fail(f"`{as_text(item):.80}` came out, which cannot be.", hint)
    _must_be_enough(len(items), hint)
    numbers = all(isinstance(one, int | float) for one in asked)
    scores = {one: float(one if numbers else place) for place, one in enumerate(asked)}
    came = np.array([scores[item] for item in items])
    came = came.reshape((len(calls), -1) if len(items) % len(calls) == 0 else (-1,))
    right = _Moments.of(np.array(list(scores.values())), np.array(list(asked.values())))
    if numbers:
        _mean_and_spread(came, *_offs(came, right), hint)
    _chi_square(items, asked, hint)
    _hang_together(came, lambda size: _neighbours(came, size, right), hint)


def _is_among(item: Any, asked: Mapping[Any, float]) -> bool:
    try:
        return asked.get(item, 0.0) > 0
    except TypeError:  # a dict is no outcome
        return False


def _chi_square(items: Sequence[Any], asked: Mapping[Any, float], hint: str) -> None:
    """How often each came out: by the sum of k ln (k / n p), which is half the likelihood-ratio chi-square."""
    count, came = len(items), Counter(items)
    total = sum(k * math.log(k / (count * asked[one])) for one, k in came.items())
    free = len(asked) - 1
    bound = _log(1) + 2 * free
    for _ in range(60 if free else 0):  # until e^-bound (e bound / free)^free is small enough
        bound = _log(1) + free * (1 + math.log(bound / free))
    if total > bound:
        one = max(asked, key=lambda o: abs(came[o] - count * asked[o]) / math.sqrt(count * asked[o] or 1))
        often = "often" if came[one] > count * asked[one] else "rarely"
        fail(f"`{as_text(one)}` came out {came[one]:,} times in {count:,} draws, which is too {often}.", hint)
