"""Known mistakes of causal_mask."""

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_hints, size_options
from ..shared_mistakes import SEEN_AHEAD

mistake = Catalogue()


@mistake("mask-off-by-one", hint="What may the first word look at? Is there a row in your mask without any True?")
def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool), k=-1)


@mistake("mask-off-by-one", hint="Look at the last True in the second row: which word is that?")
def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool), k=1)


@mistake("not-boolean", hint="What is the dtype of your mask, and what does ~ make of it?")
def causal_mask(length):
    return np.tril(np.ones((length, length)))


@mistake("additive-mask", hint="This mask is there to be added to scores. What should it say instead?")
def causal_mask(length):
    return np.where(np.tri(length) == 1, 0.0, -np.inf)


@mistake("extra-axes", hint="How many axes does your mask have, and how many do you need for query and key?")
def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))[None, None]


@mistake.mutants(
    {
        "mask-off-by-one": [{"k": 1}, {"k": -1}],
        "mask-transposed": mistake.known(
            {"turned": True}, hint="Rows are queries. How many words may the first one see, and how many the last one?"
        ),
        "diagonal-only": mistake.mutant(
            {"part": "diagonal"}, hint="Which words come before word 2, and may it look at them?"
        ),
        "mask-inverted": mistake.known({"inverted": True}),
        "stops-at-a-length": mistake.known(
            *size_options.TABLES,
            hint="For how many words is your mask made? Try a longer text than those in the notebook.",
        ),
        "looks-back-a-few-words": mistake.mutant(
            *[{"back": back} for back in (*range(2, 7), *size_options.LENGTHS)],
            hint="In a long text, how far back does the last word look in yours?",
        ),
        "some-ahead-seen": mistake.mutant(
            *[{"table": table} for table in SEEN_AHEAD],
            hint="Print the mask of six words. Is every place above the diagonal False?",
        ),
        "mask-forgotten": mistake.mutant({"k": 10**6}, hint="Is there a False in your mask?"),
        "diagonal-missing": mistake.mutant(
            {"k": -1, "first": True}, hint="May a word look at itself? Read off the diagonal of your mask."
        ),
    },
    hints=mutation_hints.HINTS,
)
def causal_mask(
    k=0, turned=False, part="lower", inverted=False, back=None, first=False, table=lambda mask: mask,
):  # fmt: skip
    def mask(length):
        ones = np.ones((length, length), dtype=bool)
        found = np.tril(ones, k) if part == "lower" else np.eye(length, dtype=bool)
        found = found & np.triu(ones, 1 - back) if back else found
        found[0, 0] |= first
        found = table(found)
        found = found.T if turned else found
        return ~found if inverted else found

    return mask
