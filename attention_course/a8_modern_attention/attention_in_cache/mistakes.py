"""Known mistakes of attention_in_cache."""

import math

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, softmax_options
from ..shared_mistakes import HALF, LIMITS, NUMPY, in_half, limited, rotation

mistake = Catalogue()


def _places(S):
    return np.arange(S)


def _beside(scores, sinks):
    """The sink logits as one more score of each head."""
    column = np.broadcast_to(sinks[:, None, None], (*scores.shape[:-1], 1))
    return np.concatenate([scores, column], axis=-1).astype(scores.dtype)


def _drawn(curve=softmax_options.softmax, sink=lambda sinks, d: sinks, kept=lambda weights: weights[..., :-1]):
    """A softmax over the scores and the sink logits, returned without the sinks."""

    def drawn(sinks, d):
        if sinks is None:
            return curve
        return lambda xp, scores, axis: kept(curve(xp, _beside(scores, sink(sinks, d)), axis))

    return drawn


def _attending(
    query_at=lambda S: S - 1,
    keys_at=_places,
    values_at=None,
    curve=softmax_options.softmax,
    sink=lambda sinks, d: sinks,
    kept=lambda weights: weights[..., :-1],
    softened=_drawn,
    seen=lambda words: words,
    back=lambda output, weights: (output, weights),
    turn=rotation,
    **options,
):
    """`attention_in_cache`. Each decision is an option."""

    def attention_in_cache(query, K, V, sink_logits=None):
        K, V, d = seen(K), seen(V), query.shape[-1]
        S = K.shape[-2]
        asked = turn()(query[..., None, :], np.array([query_at(S)]))
        keys = turn()(K, keys_at(S))
        # For values of an odd width the last step of a rotation raises.
        values = V if values_at is None else turn()(V, values_at(S)).reshape(V.shape)
        found = softened(curve, sink, kept)(sink_logits, d)
        output, weights = mutation_options.attend(NUMPY, asked, keys, values, curve=found, **options)
        return back(output[..., 0, :], weights[..., 0, :])

    return attention_in_cache


@mistake(
    "no-max-subtraction",
    hint="What is np.exp(1000.0)? What may be taken off a row, and off its sink, without a change?",
)
def attention_in_cache(query, K, V, sink_logits=None):
    def curve(xp, scores, axis):
        exps = np.exp(scores)
        return exps / exps.sum(axis=axis, keepdims=True)

    return _attending(curve=curve)(query, K, V, sink_logits)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def attention_in_cache(query, K, V, sink_logits=None):
    return tuple(np.zeros(part.shape) + part for part in _attending()(query, K, V, sink_logits))


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def attention_in_cache(query, K, V, sink_logits=None):
    found = _attending()(query, K, V, sink_logits)
    K[...] = rotation()(K, np.arange(K.shape[-2]))
    return found


@mistake("output-only", hint="How many things does the docstring promise?")
def attention_in_cache(query, K, V, sink_logits=None):
    return _attending()(query, K, V, sink_logits)[0]


@mistake("tuple-swapped", hint="Which of the two does the docstring name first?")
def attention_in_cache(query, K, V, sink_logits=None):
    return _attending()(query, K, V, sink_logits)[::-1]


@mistake.mutants({"half-precision": mistake.mutant(*in_half(_attending()), hint=HALF)})
def attention_in_cache(code):
    return code


def _itself_hidden(curve, sink, kept):
    """The newest word's weight on itself is 0."""

    def drawn(sinks, d):
        found = _drawn(curve, sink, kept)(sinks, d)
        hidden = lambda scores: np.arange(scores.shape[-1]) == max(1, scores.shape[-1] - 1)  # noqa: E731
        return lambda xp, scores, axis: found(xp, np.where(hidden(scores), -1e30, scores).astype(scores.dtype), axis)

    return drawn


ROTATED = {
    "query-not-rotated": mistake.known(
        {"query_at": lambda S: 0}, hint="The newest word stands at the end of the cache. By what is its query rotated?"
    ),
    "keys-not-rotated": mistake.known(
        {"keys_at": lambda S: np.zeros(S)}, hint="The keys come in as they were made. Who rotates them?"
    ),
    "nothing-rotated": mistake.known(
        {"query_at": lambda S: 0, "keys_at": lambda S: np.zeros(S)},
        hint="How does a score know how far apart two words are?",
    ),
    "query-one-place-on": mistake.known(
        {"query_at": lambda S: S}, hint="The newest word's key is in the cache already. At which place does it stand?"
    ),
    "query-one-place-back": mistake.mutant(
        {"query_at": lambda S: S - 2}, hint="With seven words in the cache, at which place does the last one stand?"
    ),
    "places-from-the-end": mistake.known(
        {"query_at": lambda S: 0, "keys_at": lambda S: np.arange(S)[::-1]},
        {"keys_at": lambda S: np.arange(S)[::-1]},
        hint="Which key stands at place 0: the oldest, or the newest?",
    ),
    "values-rotated": mistake.known(
        {"values_at": _places}, hint="Of query, key and value, which one is left as it is?"
    ),
    "keys-all-at-the-end": mistake.mutant(
        {"keys_at": lambda S: np.full(S, S - 1)}, hint="Does each key stand at a place of its own?"
    ),
    "table-too-short": mistake.mutant(
        *[
            {
                "query_at": lambda S, top=top: min(S, top) - 1,
                "keys_at": lambda S, top=top: np.minimum(_places(S), top - 1),
            }
            for top in LIMITS
        ],
        hint="For how many places does your code have an angle? A cache may hold more words.",
    ),
    "last-words-only": mistake.known(
        *limited("seen", lambda limit: lambda words: words[..., -limit:, :]),
        hint="70 words are in the cache. How many of them does yours look at?",
    ),
    "itself-not-seen": mistake.mutant(
        {"seen": lambda words: words[..., :-1, :] if words.shape[-2] > 1 else words, "query_at": lambda S: S},
        {"seen": lambda words: words[..., :-1, :] if words.shape[-2] > 1 else words},
        {"softened": _itself_hidden},
        hint="May the newest word attend to itself?",
    ),
}


def _added_to_scores(curve, sink, kept):
    def drawn(sinks, d):
        if sinks is None:
            return curve
        return lambda xp, scores, axis: curve(xp, scores + sinks[:, None, None].astype(scores.dtype), axis)

    return drawn


def _on_the_first(curve, sink, kept):
    def drawn(sinks, d):
        if sinks is None:
            return curve

        def weights(xp, scores, axis):
            raised = scores.copy()
            raised[..., 0] += sinks[:, None].astype(scores.dtype)
            return curve(xp, raised, axis)

        return weights

    return drawn


def _below_the_bar(part):
    """Below the fraction bar this of the logit, beside exponentials of scores measured from their largest."""

    def softened(curve, sink, kept):
        def drawn(sinks, d):
            if sinks is None:
                return curve

            def weights(xp, scores, axis):
                exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
                return exps / (exps.sum(axis=-1, keepdims=True) + part(sinks)[:, None, None].astype(scores.dtype))

            return weights

        return drawn

    return softened


_as_it_is, _from_zero = _below_the_bar(lambda sinks: sinks), _below_the_bar(np.exp)


def _always(curve, sink, kept):
    """Without sink logits, logits of 0 are used."""

    def drawn(sinks, d):
        if sinks is not None:
            return _drawn(curve, sink, kept)(sinks, d)
        return lambda xp, scores, axis: kept(curve(xp, _beside(scores, np.zeros(scores.shape[-3])), axis))

    return drawn


SINKS = {
    "sink-ignored": mistake.known(
        {"kept": lambda weights: weights[..., :-1] / weights[..., :-1].sum(axis=-1, keepdims=True)},
        {"softened": _added_to_scores},  # the same for all scores of a row, so the softmax does not change
        hint="With a sink logit, do a head's weights still sum to 1? What does the sink take?",
    ),
    "sink-scaled": mistake.known(
        {"sink": lambda sinks, d: sinks / np.sqrt(d)},
        hint="A score is divided by the root of d. Is a sink logit a dot product, too?",
    ),
    "sink-of-zero": mistake.known(
        {"sink": lambda sinks, d: 0 * sinks}, hint="Give another sink logit: do your weights change?"
    ),
    "one-sink-for-all-heads": mistake.known(
        {"sink": lambda sinks, d: 0 * sinks + sinks[0]},
        {"sink": lambda sinks, d: 0 * sinks + sinks.mean()},
        hint="How many sink logits come in, and which of them is whose?",
    ),
    "sink-on-the-first-word": mistake.known(
        {"softened": _on_the_first}, hint="Is the learned sink a word of the text, with a value to give?"
    ),
    "sink-not-exponentiated": mistake.mutant(
        {"softened": _as_it_is},
        hint="Below the fraction bar, which power of e belongs to a score, and to a sink logit?",
    ),
    "sink-not-shifted": mistake.mutant(
        {"softened": _from_zero},
        hint="The largest score is taken off all scores of a row. Is it taken off the sink logit, too?",
    ),
    "sink-in-place-of-a-word": mistake.mutant(
        {"kept": lambda weights: np.concatenate([weights[..., -1:], weights[..., :-2]], axis=-1)},
        hint="At which end of your scores does the sink stand, and at which do you cut a weight off?",
    ),
    "sink-missing-in-the-output": mistake.mutant(
        {"back": lambda output, weights: (output / weights.sum(axis=-1, keepdims=True), weights)},
        hint="By which weights is your output blended: by those that you return?",
    ),
    "sink-without-being-asked": mistake.mutant(
        {"softened": _always}, hint="Without sink logits, what do the weights of a head sum to, and what do yours?"
    ),
}


@mistake(
    "sink-weight-given-back",
    hint="How many words are in the cache, and how many weights does each of your heads return?",
)
def attention_in_cache(query, K, V, sink_logits=None):
    output, weights = _attending()(query, K, V, sink_logits)
    if sink_logits is None:
        return output, weights
    rest = 1 - weights.sum(axis=-1, keepdims=True)
    return output, np.concatenate([weights, rest], axis=-1)


@mistake.mutants(
    ROTATED
    | SINKS
    | mutation_options.only(mutation_options.SCALES, "no-scaling", "scale-by-d_k")
    | {
        # There is a single query, so the root of the number of queries is 1.
        "scale-by-length": mistake.mutant(
            {"scale": lambda size: math.sqrt(size.S)},
            {"scale": lambda size: size.S},
            hint=mutation_hints.HINTS["scale-by-length"],
        )
    }
    | mutation_options.only(
        softmax_options.CURVES, "softmax-missing", "no-exponential", "not-normalised", "sign-flipped"
    )
    | mutation_options.only(mutation_options.OPERANDS, "keys-blended"),
    hints=mutation_hints.HINTS,
    catalogued=("no-scaling",),
)
def attention_in_cache(**options):
    return _attending(**options)
