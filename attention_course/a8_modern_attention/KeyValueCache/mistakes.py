"""Known mistakes of KeyValueCache."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import at_the_end, limited

mistake = Catalogue()


def _first_and_last(number, window, sinks):
    """The words that are kept, by place."""
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
    shared=False,
):
    """`KeyValueCache`. Each decision is an option."""

    class KeyValueCache:
        def __init__(self, window=None, sinks=0):
            self.window, self.sinks, self.number = window, sinks, 0
            if not shared:
                self.K = self.V = None

        K = V = None  # of the class

        def append(self, key, value):
            holder = type(self) if shared else self
            before, self.number = (holder.K, holder.V), self.number + 1
            keep_values = left_of_values or left
            holder.K = self.kept(key if holder.K is None else joined(holder.K, key), left)
            holder.V = self.kept(value if holder.V is None else joined(holder.V, value), keep_values)
            return back(holder.K, holder.V, before)

        def kept(self, words, left):
            return words[..., left(words.shape[-2], self.window, self.sinks), :]

        def __len__(self):
            return count(self.K, self.number)

    return KeyValueCache


def _everything(number, window, sinks):
    return list(range(number))


def _windows(change):
    """What is kept with another window and other sinks. The newest word is always kept."""
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


def _right_up_to(limit):
    """What is kept while there is room. After that, no more words are added."""
    return lambda number, window, sinks: _first_and_last(number, window, sinks)[:limit]


def _right_last(limit):
    """What is kept, cut to the last words."""
    return lambda number, window, sinks: _first_and_last(number, window, sinks)[-limit:]


def _into_room_for(limit):
    """Written into an array with room for a fixed number of words."""

    def joined(old, new):
        S = old.shape[-2]
        room = np.empty((*old.shape[:-2], max(limit, S), old.shape[-1]), dtype=old.dtype)
        room[..., :S, :], room[..., S : S + 1, :] = old, new
        return room[..., : S + 1, :]

    return joined


FORGETTING = {
    "cache-full": mistake.known(
        *limited("left", _right_up_to),
        *limited("joined", _into_room_for),
        hint="Without a window nothing goes, and everything finds room. Where does yours stop?",
    ),
    "last-words-only": mistake.known(
        *limited("left", _right_last), hint="After 71 words without a window, how many are in your cache?"
    ),
    "sinks-twice": mistake.mutant(
        {"left": _windows(lambda window, sinks: (window, 2 * sinks))},
        hint="With two sinks, how many of the first words are kept?",
    ),
    "sinks-added-to-the-window": mistake.mutant(
        {"left": _windows(lambda window, sinks: (window + sinks, sinks))},
        hint="With two sinks and a window of 3, how many words are kept of nine?",
    ),
    "nothing-forgotten": mistake.known(
        {"left": _everything}, hint="How many words are kept after nine, if the window is 4?"
    ),
    "sinks-ignored": mistake.known(
        {"left": _windows(lambda window, sinks: (window, 0))}, hint="What changes in your cache when there are sinks?"
    ),
    "one-too-many": mistake.known(
        {"left": _windows(lambda window, sinks: (window + 1, sinks))},
        hint="Count the words that are left of nine, if the window is 4.",
    ),
    "one-too-few": mistake.known(
        {"left": _windows(lambda window, sinks: (max(window - 1, 1), sinks))},
        {"left": _windows(lambda window, sinks: (max(window - 1, 0), sinks))},
        hint="Count the words that are left of nine, if the window is 4. Is the newest one of them?",
    ),
    "sinks-taken-off-the-window": mistake.known(
        {"left": _windows(lambda window, sinks: (max(window - sinks, 1), sinks))},
        hint="With two sinks and a window of 3, how many words are kept of nine?",
    ),
    "one-sink-only": mistake.known(
        {"left": _windows(lambda window, sinks: (window, min(sinks, 1)))},
        hint="With two sinks, how many of the first words are kept?",
    ),
    "one-sink-too-many": mistake.mutant(
        {"left": _windows(lambda window, sinks: (window, sinks + 1))},
        hint="With one sink, which words are left of nine, and is word 1 one of them?",
    ),
    "words-twice-in-short-texts": mistake.known(
        {"left": _unless_all(_overlapping)},
        hint="The first two words and the last three of four: which one do you have twice?",
    ),
    "oldest-kept": mistake.known(
        {"left": _unless_all(lambda number, window, sinks: list(range(number))[: window + sinks])},
        hint="The cache is full and a word comes: which one goes, the newest or the oldest that is no sink?",
    ),
}
JOINING = {
    "newest-in-front": mistake.known(
        {"joined": lambda old, new: np.concatenate([new, old], axis=-2)},
        hint="Where in the cache does the newest word go: in front, or at the end?",
    ),
    "newest-only": mistake.known(
        {"joined": lambda old, new: new}, hint="What becomes of the words before when the next one is appended?"
    ),
    "first-only": mistake.known(
        {"joined": lambda old, new: old}, hint="What becomes of the next word: is it anywhere in what comes back?"
    ),
    "along-the-heads": mistake.known(
        {"joined": lambda old, new: np.concatenate([old, new], axis=-3)},
        hint="With two heads, which shape has K after three words? Which axis has grown in yours?",
    ),
    "along-the-width": mistake.mutant(
        {"joined": lambda old, new: np.concatenate([old, new], axis=-1)},
        hint="How wide is a key after three words? Which axis has grown in yours?",
    ),
    "added-up": mistake.mutant(
        {"joined": lambda old, new: old + new}, hint="Do the keys stand one behind the other, or have they become one?"
    ),
}
GIVING = {
    "newest-not-given-back": mistake.known(
        {"back": lambda K, V, before: (K, V) if before[0] is None else before},
        hint="The newest word attends to itself, too. Is it in what append returns?",
    ),
    "new-word-given-back": mistake.known(
        {"back": lambda K, V, before: (K[..., -1:, :], V[..., -1:, :])},
        hint="Does append return the one word that came in, or all that are kept?",
    ),
    "values-first": mistake.known(
        {"back": lambda K, V, before: (V, K)}, hint="In which order does the docstring name what comes back?"
    ),
    "keys-for-both": mistake.mutant(
        {"back": lambda K, V, before: (K, K)}, hint="What comes in beside the key, and where does it come out?"
    ),
    "keys-alone-forgotten": mistake.known(
        {"left_of_values": _everything}, hint="A key goes. What stands beside it in the cache?"
    ),
}
COUNTING = {
    "shared-by-all-objects": mistake.known(
        {"shared": True}, hint="What is made once for the class, and what in __init__, for each object?"
    ),
    "all-words-counted": mistake.known(
        {"count": lambda K, number: number}, hint="Nine words came, four are kept. Which of the two is len?"
    ),
    "heads-counted": mistake.known(
        {"count": lambda K, number: 0 if K is None else len(K)}, hint="What is len of an array of shape (2, 9, 4)?"
    ),
    "width-counted": mistake.mutant(
        {"count": lambda K, number: 0 if K is None else K.shape[-1]},
        hint="What is it that len counts: words, or numbers in a key?",
    ),
    "no-length-before-the-first-word": mistake.known(
        {"count": lambda K, number: K.shape[-2]}, hint="What is in the cache before the first word, and how long is it?"
    ),
}


@mistake.mutants(FORGETTING | JOINING | GIVING | COUNTING)
def KeyValueCache(**options):
    return _keeping(**options)
