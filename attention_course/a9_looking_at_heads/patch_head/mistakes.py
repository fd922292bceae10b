"""Known mistakes of patch_head."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import HINTS

mistake = Catalogue()


@mistake("heads-and-places-swapped", hint="Count the axes from the end: width, then which, then which?")
def patch_head(found, other, head, place):
    h, L = found.shape[-3:-1]
    patched = found.copy()
    patched[..., min(place, h - 1), min(head, L - 1), :] = other[..., min(place, h - 1), min(head, L - 1), :]
    return patched


@mistake("texts-counted-as-first-axis", hint="The example by hand has no texts in front. Which axis is your `:` then?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[:, head, place] = other[:, head, place]
    return patched


@mistake("width-axis-forgotten", hint="Count from the end: on which axis does your last index stand?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head, place] = other[..., head, place]
    return patched


@mistake("found-changed", hint="After the call, what does the caller's `found` hold?")
def patch_head(found, other, head, place):
    found[..., head, place, :] = other[..., head, place, :]
    return found


@mistake("other-changed", hint="After the call, what does the caller's `other` hold?")
def patch_head(found, other, head, place):
    piece = other[..., head, place, :].copy()
    other[...] = found
    other[..., head, place, :] = piece
    return other


@mistake("heads-counted-from-1", hint="Which is the first head: number 0, or number 1?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head - 1, place, :] = other[..., head - 1, place, :]
    return patched


@mistake("places-counted-from-1", hint="Which is the first place: number 0, or number 1?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head, place - 1, :] = other[..., head, place - 1, :]
    return patched


@mistake(
    "no-batch-axes", hint="Which axis are the heads if there are texts in front: the first, or the third from the end?"
)
def patch_head(found, other, head, place):
    result = found.copy()
    if found.ndim == 3:
        result[head, place] = other[head, place]
    else:
        result[min(head, len(found) - 1), place % found.shape[1]] = other[
            min(head, len(found) - 1), place % found.shape[1]
        ]
    return result


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head, place, :] = other[..., head, place, :]
    return patched.astype(np.float64)


@mistake.mutants(
    {
        # These two return an argument, which is no attempt, so their price is not checked.
        "everything": mistake.mutant(
            {"places": lambda place: slice(None), "heads": lambda head: slice(None)},
            hint="How much of the first run is left in your result?",
        ),
        "nothing-replaced": mistake.mutant(
            {"patch": lambda here, there: here}, hint="Where does the other run come into your result?"
        ),
        "every-place": mistake.known(
            {"places": lambda place: slice(None)}, hint="At how many places does the head say something else?"
        ),
        "from-the-place-on": mistake.known(
            {"places": lambda place: slice(place, None)}, hint="At how many places does the head say something else?"
        ),
        "one-place-late": mistake.mutant(
            {"places": lambda place: slice(place + 1, place + 2)},
            hint="Places are counted from 0. Which one has changed in your answer?",
        ),
        "one-place-early": mistake.mutant(
            {"places": lambda place: slice(max(place - 1, 0), max(place, 1))},
            hint="Places are counted from 0. Which one has changed in your answer?",
        ),
        "another-places-vector": mistake.mutant(
            *[{"from_place": by} for by in (-1, 1)],
            hint="From which place of the other run does the new vector come?",
        ),
        "up-to-the-place": mistake.known(
            {"places": lambda place: slice(None, place + 1)},
            hint="At how many places does the head say something else?",
        ),
        "last-place-always": mistake.known(
            {"places": lambda place: slice(-1, None)}, hint="Which argument has no influence on your result?"
        ),
        "every-head": mistake.known(
            {"heads": lambda head: slice(None)}, hint="How many heads say something else at that place?"
        ),
        "head-0-always": mistake.known(
            {"heads": lambda head: slice(0, 1)}, hint="Which argument has no influence on your result?"
        ),
        "from-the-head-on": mistake.mutant(
            {"heads": lambda head: slice(head, None)}, hint="How many heads say something else?"
        ),
        "first-text-only": mistake.mutant(
            {"texts": "the first"},
            {"texts": "index 0"},
            hint="Of how many texts does a vector of yours come from the other run? Which index stands for the texts?",
        ),
        "first-text-for-all": mistake.mutant(
            {"texts": "of the first"}, hint="Whose vector does the second text get: its own, or another text's?"
        ),
        "the-wrong-way-round": mistake.known(
            {"runs": lambda found, other: (other, found)},
            hint="Which run is the one that goes on, and from which one is a piece taken?",
        ),
        "added": mistake.known(
            {"patch": lambda here, there: here + there},
            hint="If both runs say the same, what does the patched one say in yours?",
        ),
        "halfway": mistake.known(
            {"patch": lambda here, there: (here + there) / 2},
            hint="Does the head say what it said in the other run, or something between the two?",
        ),
        "silenced": mistake.known(
            {"patch": lambda here, there: 0 * there}, hint="What does the other run have to do with your result?"
        ),
        "difference-of-runs": mistake.mutant(
            {"patch": lambda here, there: there - here},
            hint="Is the new vector that of the other run, or the step from the one to the other?",
        ),
        "one-number-only": mistake.known(
            {"width": slice(0, 1)}, hint="What a head finds for a word is a vector. How much of it have you replaced?"
        ),
        "heads-and-places-swapped": [{"swapped": True}],
        "axes-from-the-front": mistake.mutant(
            {"front": 1},
            {"front": 0},
            hint="With texts of texts in front, which index of yours still counts from the first axis?",
        ),
    },
    hints=HINTS,
)
def patch_head(
    places=lambda place: slice(place, place + 1),
    heads=lambda head: slice(head, head + 1),
    runs=lambda found, other: (found, other),
    patch=lambda here, there: there,
    width=slice(None),
    front=None,
    from_place=0,
    swapped=False,
    texts="all",
):
    def patched(found, other, head, place):
        here, there = runs(found, np.roll(other, -from_place, axis=-2))
        result, where = here.copy(), np.s_[..., heads(head), places(place), width]
        if front is not None:  # the number of leading axes that the code expects, if any
            where = (slice(None),) * min(front, here.ndim - 3) + (head, place)
        if swapped:  # with indices, which raise where one is too large
            where = np.s_[..., place, head, :]
        before = here.ndim - 3
        if texts == "the first":
            where = (0,) * before + where[1:]
        if texts == "index 0":  # also where no axis stands in front
            where = (0, head, place)
        if texts == "of the first":
            there = np.broadcast_to(there[(0,) * before], there.shape)
        result[where] = patch(here[where], there[where])
        return result

    return patched
