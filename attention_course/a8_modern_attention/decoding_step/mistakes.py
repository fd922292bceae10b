"""Known mistakes of decoding_step."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, softmax_options
from ..shared_mistakes import LIMITS, WHOLE, at_the_end, grouped, in_turn, limited, neighbours, rotation

mistake = Catalogue()


def _apart(projected, d_head):
    """One word's numbers in heads: (..., heads, 1, d_head)."""
    return projected.reshape(*projected.shape[:-1], -1, 1, d_head)


def _interleaved(projected, d_head):
    return projected.reshape(*projected.shape[:-1], d_head, -1).swapaxes(-2, -1)[..., None, :]


def _of_first_text(words):
    """The first text's words for all texts, if there is a batch."""
    return np.broadcast_to(words[:1], words.shape) if words.ndim > 3 else words


def _stepping(
    query_at=lambda S: S,
    key_at=lambda S: S,
    value_at=lambda S: 0,
    joined=at_the_end,
    cut=_apart,
    before=lambda K: K,
    before_value=lambda V: V,
    new=(1, 1, 1),
    seen=lambda K: K,
    kept=lambda old, new: new,
    keys=neighbours,
    values=neighbours,
    together=lambda heads: heads[..., 0, :].reshape(*heads.shape[:-3], -1),
    end=lambda heads, W_O: heads @ W_O,
    cut_query=None,
    early=False,
    width=lambda x, d_head: d_head,
    cached=lambda words, group: words,
    **options,
):
    """`decoding_step`. Each decision is an option."""

    def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
        d_head, S = W_Q.shape[-1] // num_heads, 0 if K is None else K.shape[-2]

        def turned(W, at, cut=cut):
            if early and at(1):
                return cut(rotation()((x @ W)[..., None, :], np.array([at(S)]))[..., 0, :], d_head)
            return rotation()(cut(x @ W, d_head), np.array([at(S)]))

        query, key, value = turned(W_Q, query_at, cut_query or cut), turned(W_K, key_at), turned(W_V, value_at)
        query, key, value = (one * x.dtype.type(by) for one, by in zip((query, key, value), new, strict=True))
        query = query * x.dtype.type(math.sqrt(d_head / width(x, d_head)))
        new_K, new_V = (key, value) if K is None else (joined(before(K), key), joined(before_value(V), value))
        attended = seen(new_K), seen(new_V)
        heads, _ = grouped(query, *attended, new_K.shape[-3], keys=keys, values=values, **options)
        group = num_heads // new_K.shape[-3]
        return end(together(heads), W_O), cached(kept(K, new_K), group), cached(kept(V, new_V), group)

    return decoding_step


@mistake("keys-and-values-swapped", hint="Which matrix makes a key, and which a value?")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    return _stepping()(x, K, V, W_Q, W_V, W_K, W_O, num_heads)


@mistake("fails-without-a-cache", hint="What are K and V before the first word?")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    if K is None:
        raise AttributeError("'NoneType' object has no attribute 'shape'")
    return _stepping()(x, K, V, W_Q, W_K, W_V, W_O, num_heads)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    return tuple(np.zeros(part.shape) + part for part in _stepping()(x, K, V, W_Q, W_K, W_V, W_O, num_heads))


@mistake("position-from-another-axis", hint="Which axis of K counts words? Do you read the position from that one?")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    place = 0 if K is None else len(K)
    return _stepping(lambda S: place, lambda S: place)(x, K, V, W_Q, W_K, W_V, W_O, num_heads)


# A table of three positions gives what the number of heads does in the visible tests, and nobody makes one.
SIZES = [limit for limit in LIMITS if limit > 3]
TURNED = {
    "query-not-turned": mistake.known({"query_at": lambda S: 0}, hint="Which two of query, key and value are turned?"),
    "key-not-turned": mistake.known(
        {"key_at": lambda S: 0}, hint="The keys in the cache have been turned. Has the new one?"
    ),
    "nothing-turned": mistake.known(
        {"query_at": lambda S: 0, "key_at": lambda S: 0}, hint="How does the new word say where it stands?"
    ),
    "value-turned": mistake.known(
        {"value_at": lambda S: S}, hint="Of query, key and value, which one is left as it is?"
    ),
    "one-place-on": mistake.known(
        {"query_at": lambda S: S + 1, "key_at": lambda S: S + 1},
        hint="With no word in the cache, at which position does the first word stand?",
    ),
    "one-place-back": mistake.known(
        {"query_at": lambda S: max(S - 1, 0), "key_at": lambda S: max(S - 1, 0)},
        hint="With five words in the cache, at the positions 0 to 4, where does the next one stand?",
    ),
    "query-one-place-back": mistake.mutant(
        {"query_at": lambda S: max(S - 1, 0)},
        {"query_at": lambda S: S - 1},
        hint="At which positions do the newest word's query and its key stand?",
    ),
    "query-one-place-on": mistake.mutant(
        {"query_at": lambda S: S + 1}, hint="At which positions do the newest word's query and its key stand?"
    ),
    "turned-before-the-split": mistake.mutant(
        {"early": True}, hint="Does each head have a fast pair, or only the first one? When do you turn?"
    ),
    "table-too-short": mistake.mutant(
        *[{f"{who}_at": lambda S, limit=limit: min(S, limit - 1) for who in ("query", "key")} for limit in SIZES],
        hint="For how many positions does your code have an angle? A text may have more words.",
    ),
    "cache-turned-again": mistake.known(
        {"before": lambda K: rotation()(K, np.arange(K.shape[-2]))},
        {"before": lambda K: rotation()(K, np.arange(K.shape[-2])), "key_at": lambda S: 2 * S},
        hint="The keys in the cache have been turned already. What happens to them in your step?",
    ),
}


def _until_full(limit):
    return lambda old, new: old if old.shape[-2] >= limit else at_the_end(old, new)


def _last_of(limit):
    return lambda old, new: at_the_end(old, new)[..., -limit:, :]


KEPT = {
    "cache-full": mistake.known(
        *limited("joined", _until_full), hint="The cache holds as many words as the text has. Where does yours stop?"
    ),
    "last-words-only": mistake.known(
        *limited("joined", _last_of), hint="After 71 words, how many are in your cache? Did anybody ask for a window?"
    ),
    "newest-in-front": mistake.known(
        {"joined": lambda old, new: np.concatenate([new, old], axis=-2)},
        hint="Where in the cache does the newest word go: in front, or at the end?",
    ),
    "oldest-thrown-away": mistake.known(
        {"joined": lambda old, new: np.concatenate([old[..., 1:, :], new], axis=-2)},
        hint="How many words are in the cache after the step? Is the first still among them?",
    ),
    "newest-written-over-the-last": mistake.known(
        {"joined": lambda old, new: np.concatenate([old[..., :-1, :], new], axis=-2)},
        hint="How many words are in the cache after the step? Which one has gone?",
    ),
    "itself-not-seen": mistake.known(
        {"seen": lambda K: K[..., :-1, :] if K.shape[-2] > 1 else K}, hint="May the newest word attend to itself?"
    ),
    "itself-alone-seen": mistake.known(
        {"seen": lambda K: K[..., -1:, :]},
        hint="What is the cache there for? Whom does the newest word attend to in your step?",
    ),
    "oldest-not-seen": mistake.mutant(
        {"seen": lambda K: K[..., 1:, :] if K.shape[-2] > 1 else K},
        hint="Whom does the newest word attend to: is the first word among them?",
    ),
    "cache-of-the-first-for-all": mistake.mutant(
        {"before": lambda K: _of_first_text(K), "before_value": lambda V: _of_first_text(V)},
        {"before": lambda K: _of_first_text(K)},
        {"before_value": lambda V: _of_first_text(V)},
        hint="In a batch of two texts, whose words are in the cache of the second?",
    ),
    "new-key-zero": mistake.mutant({"new": (1, 0, 1)}, hint="Does anything change if W_K does?"),
    "new-value-zero": mistake.mutant({"new": (1, 1, 0)}, hint="Does anything change if W_V does?"),
    "query-zero": mistake.mutant({"new": (0, 1, 1)}, hint="Does anything change if W_Q does?"),
    "cache-not-grown": mistake.known(
        {"kept": lambda old, new: new if old is None else old},
        {"kept": lambda old, new: old},
        hint="What will the next step know of this word?",
    ),
    "repeated-keys-kept": mistake.mutant(
        {"cached": lambda words, group: np.repeat(words, group, axis=-3)},
        hint="How many heads has the cache that came in, and how many the one that goes out?",
    ),
    "scale-by-d_model": [{"width": lambda x, d_head: x.shape[-1]}],
    "W_O-missing": mistake.known({"end": lambda heads, W_O: heads}, hint="What happens to what the heads have found?"),
    "W_O-transposed": mistake.mutant(
        {"end": lambda heads, W_O: heads @ W_O.reshape(W_O.shape[::-1]).T},
        hint="Which axis of W_O meets what the heads have found?",
    ),
    "heads-interleaved": mistake.known(
        {"cut": _interleaved},
        {"cut_query": _interleaved},
        hint="Which columns of W_Q are head 0's: the first d_head, or every so many?",
    ),
}
CACHED = {
    "scale-by-length": "Write down the shape of K. Which of its numbers is the square root of?",
}


def _as_many_heads(cut):
    """As many heads of keys and values as of queries. `cut` shapes a key or a value."""

    def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
        batch, place = x.shape[:-1], np.array([0 if K is None else K.shape[-2]])
        query = rotation()((x @ W_Q).reshape(*batch, num_heads, 1, -1), place)
        key, value = (cut(x @ W, batch, num_heads, query.shape[-1]) for W in (W_K, W_V))
        key = rotation()(key, place)
        if K is not None:
            key, value = at_the_end(K, key), at_the_end(V, value)
        heads, _ = grouped(query, key, value, num_heads, keys=lambda K, h: K, values=lambda V, h: V)
        return heads.reshape(*batch, -1) @ W_O, key, value

    return decoding_step


@mistake.mutants(
    {
        "as-many-heads-of-keys": mistake.mutant(
            {"cut": lambda projected, batch, heads, d: projected.reshape(*batch, heads, 1, d)},
            {"cut": lambda projected, batch, heads, d: projected.reshape(*batch, heads, 1, -1)},
            {"cut": lambda projected, batch, heads, d: projected.reshape(*batch, -1, 1, d)},
            hint="How many heads have keys: as many as ask? Which width tells you? What does num_heads count?",
        )
    }
)
def decoding_step(cut):
    return _as_many_heads(cut)


@mistake.mutants(
    TURNED
    | KEPT
    | mutation_options.only(mutation_options.SCALES, "no-scaling", "scale-by-d_k")
    | mutation_options.only(softmax_options.CURVES, "softmax-missing", "no-exponential", "not-normalised")
    | mutation_options.only(softmax_options.AXES, "softmax-over-queries")
    | {
        "heads-in-turn": mistake.known(
            {"keys": in_turn, "values": in_turn},
            hint="With 6 query heads and 2 of keys, do heads 0 and 1 share, or heads 0 and 2?",
        )
    }
    | mutation_options.only(WHOLE, "scale-by-length"),
    hints=mutation_hints.HINTS | CACHED,
    catalogued=("no-scaling",),
)
def decoding_step(**options):
    return _stepping(**options)
