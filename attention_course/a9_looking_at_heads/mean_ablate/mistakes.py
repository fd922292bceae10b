"""Known mistakes of mean_ablate."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import HINTS

mistake = Catalogue()


@mistake("all-others", hint="Whose numbers are replaced: this head's, or everybody else's?")
def mean_ablate(found, head):
    result = np.broadcast_to(found.mean(axis=0), found.shape).copy()
    result[:, head] = found[:, head]
    return result


@mistake("found-changed", hint="After the call, what does the caller's array hold?")
def mean_ablate(found, head):
    found[:, head] = found[:, head].mean(axis=0)
    return found


@mistake("text-for-head", hint="Which axis of `found` are the texts, and which the heads?")
def mean_ablate(found, head):
    result = found.copy()
    text = min(head, len(found) - 1)
    result[text] = found[text].mean(axis=0)
    return result


@mistake("place-for-head", hint="Which axis of `found` are the places, and which the heads?")
def mean_ablate(found, head):
    result = found.copy()
    place = min(head, found.shape[2] - 1)
    result[:, :, place] = found[:, :, place].mean(axis=0)
    return result


@mistake("mean-of-what-was-replaced", hint="When the second text has its turn, what stands in the first one by then?")
def mean_ablate(found, head):
    result = found.copy()
    for text in range(len(result)):
        result[text, head] = result[:, head].mean(axis=0)
    return result


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def mean_ablate(found, head):
    result = np.zeros(found.shape)
    result[:] = found
    without = result.copy()
    without[:, head] = result[:, head].mean(axis=0)
    return without


@mistake.mutants(
    {
        "first-texts-only": mistake.known(
            *({"mean": lambda x, limit=limit: x[:limit].mean(axis=0)} for limit in (16, 8, 10, 12, 20, 32, 5)),
            hint="How many texts are in your mean if there are 33?",
        ),
        "mean-over-places": mistake.known(
            {"mean": lambda x: x.mean(axis=1, keepdims=True)},
            hint="Over which axis is the mean: the texts, or the places of one text?",
        ),
        "mean-over-texts-and-places": mistake.known(
            {"mean": lambda x: x.mean(axis=(0, 1))},
            hint="Does the head say the same at every place? Over which axis is the mean?",
        ),
        "mean-over-the-width": mistake.known(
            {"mean": lambda x: x.mean(axis=-1, keepdims=True)},
            hint="What a head finds is a vector. Which axis has its numbers, and which the texts?",
        ),
        "mean-over-texts-and-width": mistake.known(
            {"mean": lambda x: x.mean(axis=(0, -1), keepdims=True)[0]},
            hint="What a head finds is a vector. Does its mean have as many numbers?",
        ),
        "mean-over-heads": mistake.known(
            {"of": lambda found, head: found.mean(axis=1)},
            {"of": lambda found, head: np.delete(found, head, axis=1).mean(axis=1)},
            hint="Which axis is the mean over: is it this head in other texts, or other heads?",
        ),
        "mean-over-texts-and-heads": mistake.mutant(
            {"of": lambda found, head: found.mean(axis=(0, 1))},
            {"of": lambda found, head: np.delete(found, head, axis=1).mean(axis=(0, 1))},
            hint="Which numbers are in your mean: those of this head alone?",
        ),
        "another-head-copied": mistake.mutant(
            {"of": lambda found, head: found[:, (head + 1) % found.shape[1]]},
            {"of": lambda found, head: found[:, head - 1]},
            {"of": lambda found, head: found[:, head - 1].mean(axis=0)},
            {"of": lambda found, head: found[:, (head + 1) % found.shape[1]].mean(axis=0)},
            hint="Which head says that in the texts as they were?",
        ),
        "mean-of-the-others": mistake.known(
            {"mean": lambda x: (x.sum(axis=0) - x) / max(len(x) - 1, 1)},
            hint="How many texts are in the mean: all of them?",
        ),
        "one-number-for-all": mistake.known(
            {"mean": lambda x: x.mean()}, hint="Is the mean one number, or one vector for each place?"
        ),
        "zero-for-mean": mistake.known(
            {"mean": lambda x: 0 * x}, hint="Silence is one way. Which numbers does the text ask for in its place?"
        ),
        "sum-for-mean": mistake.known({"mean": lambda x: x.sum(axis=0)}, hint="By how many is the sum divided?"),
        "median-for-mean": mistake.known({"mean": lambda x: np.median(x, axis=0)}),
        "divided-by-one-more": mistake.mutant(
            {"mean": lambda x: x.sum(axis=0) / (len(x) + 1)},
            hint="How many texts are in your sum, and by how many is it divided?",
        ),
        "divided-by-one-less": mistake.mutant(
            {"mean": lambda x: x.sum(axis=0) / max(len(x) - 1, 1)},
            hint="How many texts are in your sum, and by how many is it divided?",
        ),
        "largest-for-mean": mistake.mutant(
            {"mean": lambda x: x.max(axis=0)}, hint="Which number does the text ask for: the largest, or the mean?"
        ),
        "of-another-text": mistake.mutant(
            {"mean": lambda x: np.roll(x, 1, axis=0)},
            {"mean": lambda x: np.roll(x, -1, axis=0)},
            hint="Does the head still tell of one text, if of another one? Over which axis is the mean?",
        ),
        "first-text-only": mistake.mutant(
            {"texts": 0},
            {"texts": -1},
            hint="In how many texts does the head say something else? What does each index before `=` stand for?",
        ),
        "first-text-for-all": mistake.known(
            {"mean": lambda x: x[0]},
            {"mean": lambda x: x[-1]},
            hint="What the head says is to be what it says on average. Whose words are those of yours?",
        ),
        "mean-taken-off": mistake.known(
            {"mean": lambda x: x - x.mean(axis=0)}, hint="Does the head say its mean, or everything but its mean?"
        ),
        "heads-counted-from-1": mistake.known({"first": 1}, hint="Which is the first head: number 0, or number 1?"),
        "from-the-head-on": mistake.known(
            {"which": lambda head: slice(head, None)}, hint="How many heads are to be taken away?"
        ),
        "every-head": mistake.known({"which": lambda head: slice(None)}, hint="How many heads are to be taken away?"),
        "only-that-head": mistake.known(
            {"given": lambda result, head: result[:, head]},
            hint="The model goes on with what comes back. What of the other heads?",
        ),
    },
    hints=HINTS,
)
def mean_ablate(mean=lambda x: x.mean(axis=0), first=0, which=lambda head: slice(head, head + 1),
                given=lambda result, head: result, of=None, texts=slice(None)):  # fmt: skip
    def ablated(found, head):
        result = found.copy()
        heads = np.arange(found.shape[1])[which(head - first)] if head >= first else [-1]
        for i in heads:
            said = np.broadcast_to(mean(found[:, i]) if of is None else of(found, i), found[:, i].shape)
            result[texts, i] = said[texts]
        return given(result, head)

    return ablated
