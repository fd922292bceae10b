"""Known mistakes of TransformerDecoder that are also composed with one another."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.testing import Catalogue

from .shared_decoder_mistakes import one_after_the_other

TABLES = (64, 16, 32, 8, 4)  # typical fixed sizes of a table
FORMULA = "Print positions 0 and 1 for d_model = 4. Are they those of the formula?"
# Wrong positional encodings, by name: here a mistake computes them and does not use the earlier exercise.
ENCODED = {
    "sine-and-cosine-swapped": [{"order": "swapped"}],
    "sines-and-cosines-concatenated": [{"order": "concatenated"}],
    "sines-only": [{"order": "sines"}],
    "cosines-only": [{"order": "cosines"}],
    "even-positions-get-sines": [{"order": "by position"}],
    "angles-of-whole-numbers": [{"rounded": np.floor}, {"rounded": np.round}],
    "a-wave-length-for-each-column": [{"exponent": lambda column, d: column / d}],
    "exponent-without-the-2": [{"exponent": lambda column, d: column // 2 / d}],
    "exponent-doubled": [{"exponent": lambda column, d: 4 * (column // 2) / d}, {"exponent": lambda c, d: 2 * c / d}],
    "base-1000": [{"base": 1000}],
    "another-base": [{"base": base} for base in (10, 100, 1e5, 1e6)],
    "multiplied-by-the-power": [{"sign": 1}],
}


def _of_each(blocks, x, padding):
    return [block(x, padding) for block in blocks]


COMPOSED = {
    "positions-missing": Catalogue.known(
        {"place": lambda x, positions, scale: x * scale},
        hint="How would the model tell 'dog bites man' from 'man bites dog'?",
    ),
    "embedding-not-scaled": Catalogue.known(
        {"place": lambda x, positions, scale: x + positions},
        hint="What is the embedding multiplied by before the positions are added?",
    ),
    "positions-scaled-too": Catalogue.known(
        {"place": lambda x, positions, scale: (x + positions) * scale},
        hint="Is the scale for the embedding alone, or also for the positions?",
    ),
    "scaled-by-d_model": Catalogue.known(
        {"place": lambda x, positions, scale: x * scale**2 + positions},
        hint="The embedding is multiplied by a root. Of what?",
    ),
    "divided-by-the-root": Catalogue.known(
        {"place": lambda x, positions, scale: x / scale + positions},
        hint="Is the embedding multiplied by the root, or divided?",
    ),
    "positions-only": Catalogue.mutant(
        {"place": lambda x, positions, scale: 0 * x + positions},
        hint="Does the answer change if another word stands there?",
    ),
    "positions-multiplied": Catalogue.mutant(
        {"place": lambda x, positions, scale: x * scale * positions},
        hint="Are positions added to the embedding, or multiplied with it?",
    ),
    "positions-from-1": Catalogue.mutant(
        {"at": lambda positions, L: positions[1 : L + 1]},
        hint="Which row of the positions belongs to the first word?",
    ),
    "positions-reversed": Catalogue.mutant(
        {"at": lambda positions, L: positions[:L].flip(0)},
        hint="Which row of the positions belongs to the first word?",
    ),
    "last-positions": Catalogue.known(
        {"at": lambda positions, L: positions[-L:]},
        hint="Which row of the positional encoding does the first token get?",
    ),
    "positions-cut": Catalogue.known(
        *[{"at": lambda positions, L, most=most: positions[torch.arange(L) % most]} for most in TABLES],
        *[{"at": lambda positions, L, most=most: positions[torch.arange(L).clamp(max=most - 1)]} for most in TABLES],
        *[{"at": lambda positions, L, most=most: positions[:L] * (torch.arange(L) < most)[:, None]} for most in TABLES],
        hint="From which position on do rows repeat, or stay the same? Where does that number come from?",
    ),
    **{name: Catalogue.mutant(*({"encoded": way} for way in ways), hint=FORMULA) for name, ways in ENCODED.items()},
    "embedding-rows-shifted": Catalogue.mutant(
        {"word": lambda ids, size: (ids + 1) % size},
        {"word": lambda ids, size: (ids - 1) % size},
        {"word": lambda ids, size: (ids + 1).clamp(max=size - 1)},
        hint="Which row of the embedding belongs to token 0?",
    ),
    "another-default-eps": Catalogue.known(
        *[{"eps": eps} for eps in (1e-4, 1e-6, 1e-3, 1e-8, 1e-12, 1e-2)],
        hint="Which eps does the last norm get, and does the docstring name one?",
    ),
    "blocks-cut": Catalogue.known(
        *[
            {"through": lambda blocks, x, padding, most=most: one_after_the_other(blocks[:most], x, padding)}
            for most in (3, 2, 1)
        ],
        hint="How many of the blocks run if there are four?",
    ),
    "one-position-for-all": Catalogue.mutant(
        {"at": lambda positions, L: positions[L - 1]},
        {"at": lambda positions, L: positions[0]},
        {"at": lambda positions, L: positions[L]},
        hint="Do the first and the last word get the same row of positions?",
    ),
    "last-norm-missing": Catalogue.known(
        {"normed": lambda norm, x: x}, hint="One of the members is never called. Which one?"
    ),
    "normed-twice": Catalogue.mutant(
        {"normed": lambda norm, x: norm(norm(x))}, hint="How often does the last norm stand in the formula?"
    ),
    "softmax-on-the-logits": Catalogue.known(
        {"end": lambda logits: torch.softmax(logits, dim=-1)},
        hint="Do the numbers of one place sum to 1? Should logits?",
    ),
    "log-softmax-on-the-logits": Catalogue.known(
        {"end": lambda logits: F.log_softmax(logits, dim=-1)}, hint="Is every number below zero? Should logits be?"
    ),
    "padding-ignored": Catalogue.known({"padded": lambda padding: None}, hint="Who tells the blocks about padding?"),
    "padding-inverted": Catalogue.mutant(
        {"padded": lambda padding: None if padding is None else ~padding},
        hint="What does True mean in the padding: a real word, or padding?",
    ),
    "padding-for-one-block": Catalogue.mutant(
        {"through": lambda blocks, x, padding: one_after_the_other(blocks[1:], blocks[0](x, padding), None)},
        {"through": lambda blocks, x, padding: blocks[-1](one_after_the_other(blocks[:-1], x, None), padding)},
        hint="Which blocks get the padding: all of them?",
    ),
    "norm-before-the-blocks": Catalogue.known(
        {"before": lambda norm, x: norm(x), "normed": lambda norm, x: x},
        hint="Where does the last norm stand: in front of the blocks, or behind them?",
    ),
    "normed-before-the-blocks-too": Catalogue.mutant(
        {"before": lambda norm, x: norm(x)}, hint="How often does the last norm stand in the formula?"
    ),
    "positions-doubled": Catalogue.mutant(
        {"place": lambda x, positions, scale: x * scale + 2 * positions}, hint="How often are positions added?"
    ),
    "always-the-first-block": Catalogue.known(
        {"through": lambda blocks, x, padding: one_after_the_other([blocks[0]] * len(blocks), x, padding)},
        hint="Which block runs in the second round of your loop?",
    ),
    "always-the-last-block": Catalogue.mutant(
        {"through": lambda blocks, x, padding: one_after_the_other([blocks[-1]] * len(blocks), x, padding)},
        hint="Which block does your loop call in its second round?",
    ),
    "one-block-too-few": Catalogue.known(
        {"through": lambda blocks, x, padding: one_after_the_other(blocks[:-1], x, padding)},
        {"through": lambda blocks, x, padding: one_after_the_other(blocks[1:], x, padding)},
        hint="How many of the blocks run?",
    ),
    "blocks-in-reverse": Catalogue.known(
        {"through": lambda blocks, x, padding: one_after_the_other(blocks[::-1], x, padding)},
        hint="Which block comes first?",
    ),
    "blocks-left-out": Catalogue.mutant(
        {"through": lambda blocks, x, padding: x}, hint="Is what the blocks give used?"
    ),
    "each-block-gets-the-embedding": Catalogue.known(
        {"through": lambda blocks, x, padding: _of_each(blocks, x, padding)[-1]},
        hint="What does the second block get: what the first gave, or what it got?",
    ),
    "blocks-added-up": [
        {"through": lambda blocks, x, padding: sum(_of_each(blocks, x, padding))},
        {"through": lambda blocks, x, padding: x + sum(_of_each(blocks, x, padding))},
    ],
    "residual-around-a-block": Catalogue.mutant(
        {
            "through": lambda blocks, x, padding: one_after_the_other(
                [lambda x, padding, block=block: x + block(x, padding) for block in blocks], x, padding
            )
        },
        hint="The residual is inside a block already. How often is x added?",
    ),
}
