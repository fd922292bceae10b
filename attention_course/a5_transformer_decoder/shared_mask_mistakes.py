"""Wrong masks of DecoderBlock's known mistakes: what the causal mask allows, and how padding is combined with it."""

import torch

from autograder.testing import Catalogue

from ..hidden.part_options import AHEAD

CUT = (16, 8, 32, 64)  # typical fixed sizes of a table


def _beyond(ones, most):
    """(L, L): True for keys at position `most` or later."""
    return ones & (torch.arange(len(ones)) >= most)


def _seen(ahead):
    """A causal mask that lets a query see some later keys."""

    def allowed(ones):
        place = torch.arange(len(ones))
        return ones.tril() | ahead(place[:, None], place, len(ones))

    return allowed


ALLOWED = {
    "causal-mask-missing": Catalogue.known(
        {"allowed": lambda ones: ones},
        {"allowed": lambda ones: ones, "join": lambda causal, padding: causal},
        hint="May the first word look at the last one? Who forbids it?",
    ),
    "may-not-see-itself": Catalogue.known(
        {"allowed": lambda ones: ones.tril(-1)}, hint="Print the mask of three words. Is the diagonal True?"
    ),
    "looks-one-ahead": Catalogue.mutant({"allowed": lambda ones: ones.tril(1)}, hint="Which words may word 0 look at?"),
    "causal-mask-upside-down": Catalogue.known(
        {"allowed": torch.triu}, hint="Print the mask of three words. At whom may the first one look?"
    ),
    "mask-cut": Catalogue.known(
        *[{"allowed": lambda ones, most=most: ones.tril() | _beyond(ones, most)} for most in CUT],
        *[{"allowed": lambda ones, most=most: ones[:most, :most].tril()} for most in CUT],
        hint="Up to which length does your causal mask hold? Where does that number come from?",
    ),
    "stops-at-a-length": Catalogue.known(
        *[{"allowed": lambda ones, most=most: ones.tril() & ones.triu(1 - most)} for most in CUT],
        *[{"allowed": lambda ones, most=most: ones.tril() & ~_beyond(ones, most) | ones.tril().triu()} for most in CUT],
        hint="How many words back may the last word look in yours?",
    ),
    "causal-mask-inverted": Catalogue.known(
        {"allowed": lambda ones: ones.triu(1)},
        {"allowed": lambda ones: ones.triu(1), "join": lambda causal, padding: causal | ~padding},
        hint="True means: may attend. Print the mask of three words.",
    ),
    "some-ahead-seen": Catalogue.mutant(
        *[{"allowed": allowed} for allowed in map(_seen, AHEAD)],
        hint="Print the mask of six words. Is every place above the diagonal False?",
    ),
}
PADDED = {
    "padding-ignored": Catalogue.known(
        {"join": lambda causal, padding: causal}, hint="Where does your code use padding?"
    ),
    "padding-instead-of-causal": Catalogue.known(
        {"join": lambda causal, padding: padding}, hint="With padding, does the causal mask still hold?"
    ),
    "padding-or-causal": Catalogue.known(
        {"join": lambda causal, padding: causal | padding},
        hint="May a word attend where one of the masks says yes, or only where both do?",
    ),
    "padding-inverted": Catalogue.known(
        {"join": lambda causal, padding: causal & ~padding},
        hint="True means: a real word. At whom may the others look with your mask?",
    ),
    "padding-hides-queries": [{"join": lambda causal, padding: causal & padding & padding.transpose(-2, -1)}],
}
