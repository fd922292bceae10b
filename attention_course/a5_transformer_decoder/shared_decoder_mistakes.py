"""Known mistakes of TransformerDecoder that are not composed with others: steps scaled, shifted or left out."""

import torch

from autograder.testing import Catalogue

from ..hidden.part_options import PARTS


def but(part, x):
    """True for the features outside the part, along the last axis of x."""
    return ~part(torch.arange(x.shape[-1]), x.shape[-1])


def one_after_the_other(blocks, x, padding):
    for block in blocks:
        x = block(x, padding)
    return x


ALONE = {
    "positions-shifted": Catalogue.mutant(
        *[{"at": lambda positions, L, by=by: positions.roll(by, 0)[:L]} for by in (1, -1, 2, -2)],
        *[
            {"at": lambda positions, L, by=by: positions[(torch.arange(L) + by).clamp(max=len(positions) - 1)]}
            for by in (1, 2)
        ],
        hint="Which row of the positions belongs to the first word, and which to the second?",
    ),
    "embedding-scaled-too-much": Catalogue.mutant(
        *[{"place": lambda x, positions, scale, by=by: by * x * scale + positions} for by in (2, 0.5, 10)],
        hint="What is the embedding multiplied by before the positions are added?",
    ),
    "embedding-rows-zero": Catalogue.mutant(
        *[{"kept": lambda ids, size, p=p: ~p(ids, size)[..., None]} for p in PARTS],
        hint="Take each word of the vocabulary in turn: does every one have numbers of its own?",
    ),
    "embedding-features-zero": Catalogue.mutant(
        *[{"place": lambda x, at, scale, p=p: x * scale * but(p, x) + at} for p in PARTS],
        *[{"place": lambda x, at, scale, p=p: (x * scale + at) * but(p, x)} for p in PARTS],
        hint="Which features of the embedding reach the first block? Set its columns to zero, one by one.",
    ),
    "embedding-rows-swapped": Catalogue.mutant(
        {"word": lambda ids, size: (ids ^ 1).clamp(max=size - 1)},
        {"word": lambda ids, size: size - 1 - ids},
        hint="Which row of the embedding belongs to token 0?",
    ),
    "some-logits-zero": Catalogue.mutant(
        *[{"end": lambda logits, p=p: logits * but(p, logits)} for p in PARTS],
        hint="Which words of the vocabulary have a logit other than zero?",
    ),
    "a-constant-factor": Catalogue.mutant(
        *[{"end": lambda logits, by=by: by * logits} for by in (0.5, 2, 0.1, 10)],
        hint="Is anything multiplied behind the output layer?",
    ),
    "last-norm-scaled": Catalogue.mutant(
        *[{"normed": lambda norm, x, by=by: by * norm(x)} for by in (2, 0.5, 10, 0.1)],
        hint="Between the last norm and the output layer, is anything multiplied?",
    ),
    "last-norm-shifted": Catalogue.mutant(
        *[{"normed": lambda norm, x, by=by: norm(x) + by} for by in (1, -1, 0.5, 0.1)],
        hint="Between the last norm and the output layer, is anything added?",
    ),
    "heads-and-width-exchanged": Catalogue.mutant(
        {"heads": lambda h, d_model: d_model // h},
        hint="Is num_heads how many heads there are, or how wide one of them is?",
    ),
    "num_heads-ignored": Catalogue.mutant(
        {"heads": lambda h, d_model: 1}, hint="How many heads have the blocks of your model?"
    ),
    "residual-removed": Catalogue.mutant(
        {
            "through": lambda blocks, x, padding: one_after_the_other(
                [lambda x, padding, block=block: block(x, padding) - x for block in blocks], x, padding
            )
        },
        hint="The residual is inside a block already. What do you do with it outside?",
    ),
}
