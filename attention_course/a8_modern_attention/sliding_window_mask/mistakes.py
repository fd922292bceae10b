"""Known mistakes of sliding_window_mask."""

import numpy as np

from autograder.suites import Catalogue

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
    """The mask with each decision an option."""
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


LOOKING = {
    "one-too-many": [{"near": lambda i, j, window: i - j <= window}],
    "one-too-few": [
        {"near": lambda i, j, window: (i - j < window - 1) | (i == j)},
        {"near": lambda i, j, window: i - j < window - 1},
    ],
    "both-sides": [
        {"near": lambda i, j, window: abs(i - j) < window, "past": lambda i, j: i > -1, "first": _sinks_behind},
    ],
    "half-on-each-side": [
        {"near": lambda i, j, window: abs(i - j) <= window // 2, "past": lambda i, j: i > -1, "first": _sinks_behind},
    ],
    "window-and-sinks": [{"join": np.logical_and}],
    "numbers-that-hide": [{"end": lambda mask: np.where(mask, 0.0, -np.inf)}],
    "window-before-the-word": [{"near": lambda i, j, window: (j < i) & (i - j <= window)}],
    "itself-left-out": [{"past": lambda i, j: j < i}],
    "looks-ahead": [{"past": lambda i, j: (j <= i) | (j > i)}],
    "window-ahead": [{"end": lambda mask: mask.T}],
    "in-blocks": [{"near": lambda i, j, window: i // window == j // window}],
    "full-windows-only": [{"near": lambda i, j, window: (i - j < window) & (i >= window - 1)}],
    "one-key-only": [{"near": lambda i, j, window: i - j == window - 1}],
    "inverted": [{"end": lambda mask: ~mask}],
}
SINKING = {
    "sinks-ignored": [{"first": lambda i, j, sinks, length: j < 0}],
    "sinks-as-rows": [{"first": lambda i, j, sinks, length: i < sinks}],
    "sinks-at-the-end": [{"first": lambda i, j, sinks, length: j >= length - sinks}],
    "one-sink-only": [{"first": lambda i, j, sinks, length: (j == 0) & (sinks > 0)}],
    "one-sink-too-many": [{"first": lambda i, j, sinks, length: j <= sinks}],
    "last-sink-only": [{"first": lambda i, j, sinks, length: j == sinks - 1}],
}
WINDOWS = {
    "half-on-each-side": "May a word see what comes later, if it is near?",
    "numbers-that-hide": "What is to be at a place that may be attended to: True, or a number to add?",
    "looks-ahead": "May a word see what comes later, if it is near?",
    "full-windows-only": "Whom does word 0 see through a window of 3?",
    "one-key-only": "How many words does a window of 3 hold?",
    "last-sink-only": "How many columns stay dark in the last row, far from the diagonal?",
    "one-too-many": "Count the words that word 5 sees through a window of 3. Is it one of them?",
    "one-too-few": "Count the words that word 5 sees through a window of 3. Is it one of them?",
    "itself-left-out": "Does a word see itself?",
    "window-before-the-word": "Is the word itself one of the window's words?",
    "window-ahead": "Row i belongs to query i. Does it see what came before, or what comes?",
    "sinks-ignored": "What changes in your mask when there are sinks?",
    "sinks-as-rows": "Is a sink a word that sees all, or one that is seen by all?",
    "sinks-at-the-end": "Which words are the sinks: the first or the last?",
    "one-sink-only": "How many columns stay dark in the last row, far from the diagonal?",
    "in-blocks": "Does the window move with each word, or jump?",
    "inverted": "What does True mean: may attend, or must not?",
}


@mistake.recipe(
    LOOKING | SINKING, hints=WINDOWS,
    held=(
        "one-too-many", "one-too-few", "itself-left-out", "window-before-the-word", "window-ahead", "sinks-ignored",
        "sinks-as-rows", "sinks-at-the-end", "one-sink-only", "in-blocks", "inverted",
    ),
)  # fmt: skip
def sliding_window_mask(**options):
    return lambda length, window, sinks=0: _windowed(length, window, sinks, **options)
