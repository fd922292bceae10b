"""Known mistakes of KeyValueCache."""

import numpy as np

from autograder.suites import Catalogue

from ..shared_mistakes import at_the_end

mistake = Catalogue()


def _first_and_last(number, window, sinks):
    """Of so many words, by place, those that are kept."""
    if window is None or number <= window + sinks:
        return list(range(number))
    return [*range(sinks), *range(number - window, number)]


def _unless_all(left):
    """What is kept once there is a window; without one, everything."""
    return lambda number, window, sinks: list(range(number)) if window is None else left(number, window, sinks)


def _keeping(
    joined=at_the_end,
    left=_first_and_last,
    left_of_values=None,
    back=lambda K, V, before: (K, V),
    count=lambda K, number: 0 if K is None else K.shape[-2],
):
    """`KeyValueCache` with each decision an option."""

    class KeyValueCache:
        def __init__(self, window=None, sinks=0):
            self.window, self.sinks, self.number = window, sinks, 0
            self.K = self.V = None

        def append(self, key, value):
            before, self.number = (self.K, self.V), self.number + 1
            keep_values = left_of_values or left
            self.K = self.kept(key if self.K is None else joined(self.K, key), left)
            self.V = self.kept(value if self.V is None else joined(self.V, value), keep_values)
            return back(self.K, self.V, before)

        def kept(self, words, left):
            return words[..., left(words.shape[-2], self.window, self.sinks), :]

        def __len__(self):
            return count(self.K, self.number)

    return KeyValueCache


def _everything(number, window, sinks):
    return list(range(number))


def _windows(change):
    """What is kept with another window and other sinks, and the newest word in any case."""
    return _unless_all(lambda number, window, sinks: _first_and_last(number, *change(window, sinks)))


def _overlapping(number, window, sinks):
    places = list(range(number))
    return [*places[:sinks], *places[-window:]]


@mistake("emptied-when-full", hint="The cache is full and a word comes. How many words go?")
class KeyValueCache(
    _keeping(
        left=_unless_all(lambda n, window, sinks: [*range(min(n, sinks)), n - 1] if n > window + sinks else [*range(n)])
    )
):
    pass


@mistake("axis-from-the-front", hint="Which axis holds the words when there are texts in front of the heads?")
class KeyValueCache(_keeping(joined=lambda old, new: np.concatenate([old, new], axis=1))):
    pass


@mistake("keys-alone-given-back", hint="How many things does the docstring of append promise?")
class KeyValueCache(_keeping(back=lambda K, V, before: K)):
    pass


@mistake("a-stacked-pair", hint="What comes back: a tuple of two, or one array with an axis more?")
class KeyValueCache(_keeping(back=lambda K, V, before: [K, V])):
    pass


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
class KeyValueCache(_keeping(back=lambda K, V, before: (np.zeros(K.shape) + K, np.zeros(V.shape) + V))):
    pass


FORGETTING = {
    "nothing-forgotten": [{"left": _everything}],
    "sinks-ignored": [{"left": _windows(lambda window, sinks: (window, 0))}],
    "one-too-many": [{"left": _windows(lambda window, sinks: (window + 1, sinks))}],
    "one-too-few": [
        {"left": _windows(lambda window, sinks: (max(window - 1, 1), sinks))},
        {"left": _windows(lambda window, sinks: (max(window - 1, 0), sinks))},
    ],
    "sinks-taken-off-the-window": [{"left": _windows(lambda window, sinks: (max(window - sinks, 1), sinks))}],
    "one-sink-only": [{"left": _windows(lambda window, sinks: (window, min(sinks, 1)))}],
    "one-sink-too-many": [{"left": _windows(lambda window, sinks: (window, sinks + 1))}],
    "words-twice-in-short-texts": [{"left": _unless_all(_overlapping)}],
    "oldest-kept": [{"left": _unless_all(lambda number, window, sinks: list(range(number))[: window + sinks])}],
}
JOINING = {
    "newest-in-front": [{"joined": lambda old, new: np.concatenate([new, old], axis=-2)}],
    "newest-only": [{"joined": lambda old, new: new}],
    "first-only": [{"joined": lambda old, new: old}],
    "along-the-heads": [{"joined": lambda old, new: np.concatenate([old, new], axis=-3)}],
    "along-the-width": [{"joined": lambda old, new: np.concatenate([old, new], axis=-1)}],
    "added-up": [{"joined": lambda old, new: old + new}],
}
GIVING = {
    "newest-not-given-back": [{"back": lambda K, V, before: (K, V) if before[0] is None else before}],
    "new-word-given-back": [{"back": lambda K, V, before: (K[..., -1:, :], V[..., -1:, :])}],
    "values-first": [{"back": lambda K, V, before: (V, K)}],
    "keys-for-both": [{"back": lambda K, V, before: (K, K)}],
    "keys-alone-forgotten": [{"left_of_values": _everything}],
}
COUNTING = {
    "all-words-counted": [{"count": lambda K, number: number}],
    "heads-counted": [{"count": lambda K, number: 0 if K is None else len(K)}],
    "width-counted": [{"count": lambda K, number: 0 if K is None else K.shape[-1]}],
    "no-length-before-the-first-word": [{"count": lambda K, number: K.shape[-2]}],
}
KEEPING = {
    "one-sink-too-many": "With one sink, which words are left of nine, and is word 1 one of them?",
    "along-the-width": "How wide is a key after three words? Which axis has grown in yours?",
    "added-up": "Do the keys stand one behind the other, or have they become one?",
    "keys-for-both": "What comes in beside the key, and where does it come out?",
    "width-counted": "What is it that len counts: words, or numbers in a key?",
    "nothing-forgotten": "How many words are kept after nine, if the window is 4?",
    "sinks-ignored": "What changes in your cache when there are sinks?",
    "one-too-many": "Count the words that are left of nine, if the window is 4.",
    "one-too-few": "Count the words that are left of nine, if the window is 4. Is the newest one of them?",
    "sinks-taken-off-the-window": "With two sinks and a window of 3, how many words are kept of nine?",
    "one-sink-only": "With two sinks, how many of the first words are kept?",
    "words-twice-in-short-texts": "The first two words and the last three of four: which one do you have twice?",
    "oldest-kept": "The cache is full and a word comes: which one goes, the newest or the oldest that is no sink?",
    "newest-in-front": "Where in the cache does the newest word go: in front, or at the end?",
    "newest-only": "What becomes of the words before when the next one is appended?",
    "first-only": "What becomes of the next word: is it anywhere in what comes back?",
    "newest-not-given-back": "The newest word attends to itself, too. Is it in what append gives back?",
    "new-word-given-back": "Does append give back the one word that came in, or all that are kept?",
    "keys-alone-forgotten": "A key goes. What stands beside it in the cache?",
    "along-the-heads": "With two heads, which shape has K after three words? Which axis has grown in yours?",
    "values-first": "In which order does the docstring name what comes back?",
    "all-words-counted": "Nine words came, four are kept. Which of the two is len?",
    "heads-counted": "What is len of an array of shape (2, 9, 4)?",
    "no-length-before-the-first-word": "What is in the cache before the first word, and how long is it?",
}


@mistake.recipe(
    FORGETTING | JOINING | GIVING | COUNTING, hints=KEEPING,
    held=(
        "nothing-forgotten", "sinks-ignored", "one-too-many", "one-too-few", "sinks-taken-off-the-window",
        "one-sink-only", "words-twice-in-short-texts", "oldest-kept", "newest-in-front", "newest-only", "first-only",
        "newest-not-given-back", "new-word-given-back", "keys-alone-forgotten", "along-the-heads", "values-first",
        "all-words-counted", "heads-counted", "no-length-before-the-first-word",
    ),
)  # fmt: skip
def KeyValueCache(**options):
    return _keeping(**options)
