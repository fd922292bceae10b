"""Known mistakes of sliding_window_mask."""

import numpy as np

from autograder.testing import Catalogue

from ...hidden.part_options import AHEAD
from ..shared_mistakes import limited

mistake = Catalogue()


def _windowed(
    length,
    window,
    sinks=0,
    *,
    near=lambda i, j, window: i - j < window,
    first=lambda i, j, sinks, length: j < sinks,
    past=lambda i, j: j <= i,
    join=np.logical_or,
    end=lambda mask: mask,
):
    """The mask. Each decision is an option."""
    j = np.arange(length)
    i = j[:, None]
    shape = (length, length)
    parts = near(i, j, window), first(i, j, sinks, length), past(i, j)
    near_by, at_first, earlier = (np.broadcast_to(part, shape) for part in parts)
    return end(earlier & join(near_by, at_first))


@mistake("both-sides", hint="May a word see what comes later, if it is near?")
def sliding_window_mask(length, window, sinks=0):
    near = lambda i, j, window: abs(i - j) < window  # noqa: E731
    return _windowed(length, window, sinks, near=near, past=lambda i, j: (j <= i) | (abs(i - j) < 10**6))


@mistake("sinks-seen-too-early", hint="May word 0 see a sink that comes later?")
def sliding_window_mask(length, window, sinks=0):
    j = np.arange(length)
    return _windowed(length, window) | (j < sinks)


@mistake("one-sink-too-many", hint="With one sink, does the last word see word 1?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, window, sinks, first=lambda i, j, sinks, length: (j <= sinks) & (sinks > 0))


@mistake("window-and-sinks", hint="Must a key be near and a sink, or is one of the two enough?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, window, sinks, join=(np.logical_and if sinks else np.logical_or))


@mistake("sinks-taken-off-the-window", hint="With two sinks and a window of 3, how many words does the last one see?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, max(window - sinks, 1), sinks)


@mistake("round-in-a-circle", hint="Whom does word 0 see? Is the text a circle?")
def sliding_window_mask(length, window, sinks=0):
    i, j = np.arange(length)[:, None], np.arange(length)
    return ((i - j) % length < window) | ((j < sinks) & (j <= i))


@mistake("causal-only", hint="What changes in your mask when the window does?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, length)


@mistake("numbers-for-truth-values", hint="What does ~ make of the number 1? Which dtype has a mask?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, window, sinks).astype(float)


@mistake(
    "fails-for-wide-windows", hint="How many words are there before word 2, and what if the window has room for more?"
)
def sliding_window_mask(length, window, sinks=0):
    if window > length:
        raise IndexError("window is longer than the text")
    return _windowed(length, window, sinks)


def _sinks_behind(i, j, sinks, length):
    return (j < sinks) & (j <= i)


def _cut_from(limit):
    return lambda mask: mask[:limit, :limit]


def _beyond(seen):
    """The mask for the first words. Beyond them, everything or nothing is seen."""

    def ending(limit):
        def end(mask):
            whole = np.full(mask.shape, seen)
            whole[:limit, :limit] = mask[:limit, :limit]
            return whole

        return end

    return ending


LOOKING = {
    "mask-of-a-table": mistake.known(
        *limited("end", _cut_from, _beyond(True), _beyond(False)),
        hint="Is there a mask that was made beforehand? For how many words?",
    ),
    "next-word-seen": mistake.known(
        {"past": lambda i, j: j <= i + 1, "near": lambda i, j, window: i - j < window},
        {"past": lambda i, j: j <= i + 1, "near": lambda i, j, window: i - j < window - 1},
        hint="Does word 2 see word 3?",
    ),
    "one-too-many": mistake.known(
        {"near": lambda i, j, window: i - j <= window},
        hint="Count the words that word 5 sees through a window of 3. Is it one of them?",
    ),
    "one-too-few": mistake.known(
        {"near": lambda i, j, window: (i - j < window - 1) | (i == j)},
        {"near": lambda i, j, window: i - j < window - 1},
        hint="Count the words that word 5 sees through a window of 3. Is it one of them?",
    ),
    "both-sides": [
        {"near": lambda i, j, window: abs(i - j) < window, "past": lambda i, j: i > -1, "first": _sinks_behind},
    ],
    "half-on-each-side": mistake.mutant(
        {"near": lambda i, j, window: abs(i - j) <= window // 2, "past": lambda i, j: i > -1, "first": _sinks_behind},
        hint="May a word see what comes later, if it is near?",
    ),
    "window-and-sinks": [{"join": np.logical_and}],
    "numbers-that-hide": mistake.mutant(
        {"end": lambda mask: np.where(mask, 0.0, -np.inf)},
        hint="What is to be at a place that may be attended to: True, or a number to add?",
    ),
    "window-before-the-word": mistake.known(
        {"near": lambda i, j, window: (j < i) & (i - j <= window)}, hint="Is the word itself one of the window's words?"
    ),
    "some-ahead-seen": mistake.mutant(
        *[{"past": lambda i, j, ahead=ahead: ahead(i, j, len(j))} for ahead in AHEAD],
        hint="Print the mask of eight words. Is every place above the diagonal False?",
    ),
    "all-true": mistake.mutant(
        {"end": lambda mask: mask | True}, hint="Is there a False in your mask, and where should one be?"
    ),
    "itself-left-out": mistake.known({"past": lambda i, j: j < i}, hint="Does a word see itself?"),
    "looks-ahead": mistake.mutant(
        {"past": lambda i, j: (j <= i) | (j > i)}, hint="May a word see what comes later, if it is near?"
    ),
    "window-ahead": mistake.known(
        {"end": lambda mask: mask.T}, hint="Row i belongs to query i. Does it see what came before, or what comes?"
    ),
    "causal-mask-inverted": mistake.mutant(
        {"past": lambda i, j: j > i},
        hint="Print the part that keeps words from looking ahead. On which side of the diagonal is it True?",
    ),
    "window-inverted": mistake.mutant(
        {"near": lambda i, j, window: i - j >= window},
        hint="Print the window alone. Which words does it hold: the last few, or those before them?",
    ),
    "in-blocks": mistake.known(
        {"near": lambda i, j, window: i // window == j // window}, hint="Does the window move with each word, or jump?"
    ),
    "full-windows-only": mistake.mutant(
        {"near": lambda i, j, window: (i - j < window) & (i >= window - 1)},
        hint="Whom does word 0 see through a window of 3?",
    ),
    "one-key-only": mistake.mutant(
        {"near": lambda i, j, window: i - j == window - 1}, hint="How many words does a window of 3 hold?"
    ),
    "inverted": mistake.known({"end": lambda mask: ~mask}, hint="What does True mean: may attend, or must not?"),
}
SINKING = {
    "sinks-twice": mistake.mutant(
        {"first": lambda i, j, sinks, length: j < 2 * sinks},
        hint="With two sinks, how many columns stay dark in the last row, far from the diagonal?",
    ),
    "sinks-added-to-the-window": mistake.mutant(
        {"wider": True}, hint="With two sinks and a window of 3, how many words near itself does the last one see?"
    ),
    "sinks-ignored": mistake.known(
        {"first": lambda i, j, sinks, length: j < 0}, hint="What changes in your mask when there are sinks?"
    ),
    "sinks-as-rows": mistake.known(
        {"first": lambda i, j, sinks, length: i < sinks},
        hint="Is a sink a word that sees all, or one that is seen by all?",
    ),
    "sinks-at-the-end": mistake.known(
        {"first": lambda i, j, sinks, length: j >= length - sinks},
        hint="Which words are the sinks: the first or the last?",
    ),
    "one-sink-only": mistake.known(
        {"first": lambda i, j, sinks, length: (j == 0) & (sinks > 0)},
        hint="How many columns stay dark in the last row, far from the diagonal?",
    ),
    "one-sink-too-many": [{"first": lambda i, j, sinks, length: j <= sinks}],
    "last-sink-only": mistake.mutant(
        {"first": lambda i, j, sinks, length: j == sinks - 1},
        hint="How many columns stay dark in the last row, far from the diagonal?",
    ),
}


@mistake.mutants(LOOKING | SINKING)
def sliding_window_mask(**options):
    wider = options.pop("wider", False)
    return lambda length, window, sinks=0: _windowed(length, window + wider * sinks, sinks, **options)
