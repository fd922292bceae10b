"""Known mistakes of ModernDecoderBlock."""

import math

import torch
import torch.nn.functional as F

from autograder.testing import Catalogue

from ...hidden.part_options import PARTS, TIES, head_0, tied
from ..shared_block_mistakes import (
    Block,
    another_eps,
    by_heads,
    cut_from,
    cut_up,
    layer_norm,
    only_heads,
    rotated,
    scaled,
    seen_beyond,
    size_one,
    size_over,
    window_alone,
)
from ..shared_mistakes import HALF, limited

mistake = Catalogue()


def _dropping(part):
    """The product of gate and up, with a part of it set to zero."""

    def together(gate, up, curve):
        return curve(gate) * up * ~part(torch.arange(up.shape[-1]), up.shape[-1])

    return together


@mistake("mask-missing", hint="Which words may word 0 see?")
class ModernDecoderBlock(Block):
    may_see = staticmethod(lambda back, window: (back > -(10**6)) & (True if window is None else back < window))


@mistake("mask-upside-down", hint="Which words may word 0 see, and which ones the last word?")
class ModernDecoderBlock(Block):
    may_see = staticmethod(lambda back, window: (back <= 0) & (True if window is None else -back < window))


@mistake("norm-missing", hint="What goes into each branch: x, or x brought to size one?")
class ModernDecoderBlock(Block):
    normed = staticmethod(lambda x, gamma: x * gamma)


@mistake("gamma-missing", hint="A norm has a scale for each feature. Is it used?")
class ModernDecoderBlock(Block):
    normed = staticmethod(lambda x, gamma: size_one(x, 1 + 0 * gamma))


@mistake("no-gate", hint="Are there two layers side by side, of which one is the other's gate?")
class ModernDecoderBlock(Block):
    gate_and_up = staticmethod(lambda gate, up, curve: curve(gate) + 0 * up)


@mistake("biases", hint="How many biases are there in the table?")
class ModernDecoderBlock(Block):
    bias = True


@mistake("positions-from-1-for-queries", hint="A word and itself: how far apart are they, and how far in your scores?")
class ModernDecoderBlock(Block):
    ahead = 1


@mistake("heads-not-brought-together", hint="Take one word: do its own numbers of all heads stand side by side?")
class ModernDecoderBlock(Block):
    joined = staticmethod(lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1))


@mistake("detached-gradient", hint="Which operations hand on a gradient, and is every step one of those?")
class ModernDecoderBlock(Block):
    first = staticmethod(lambda x, branch, normed: x + branch.detach())


@mistake("output-too-many", hint="How many things does forward return?")
class ModernDecoderBlock(Block):
    def forward(self, x):
        return super().forward(x), self.attend(x, x)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
class ModernDecoderBlock(Block):
    def forward(self, x):
        result = super().forward(x)
        with torch.no_grad():
            x.detach().add_(1.0)
        return result


@mistake("kept-from-the-first-text", hint="What does your block keep from the first text? The next may be longer.")
class ModernDecoderBlock(Block):
    def places(self, length):
        self.kept = getattr(self, "kept", torch.arange(length))
        return self.kept


@mistake.mutants(
    {
        "mask-of-a-table": mistake.known(
            *limited("may_see", seen_beyond(Block.may_see), cut_from),
            hint="Is there a mask that was made beforehand? For how many words?",
        ),
        "table-too-short": mistake.known(
            *limited(
                "places",
                lambda limit: lambda length: torch.arange(length).clamp(max=limit - 1),
                lambda limit: lambda length: torch.arange(length) % limit,
                lambda limit: lambda length: torch.arange(limit)[:length],
            ),
            hint="For how many positions does your code have an angle? A text may have more words.",
        ),
        "some-heads-only": mistake.mutant(
            *limited("joined", only_heads, limits=(6, 7, 8, 12, 3, 4, 1)),
            hint="How many heads does your code go through? Is that number written in it?",
        ),
        "mask-dropped-in-eval": mistake.known(
            {"masked": lambda training: training},
            hint="Is your block the same in training and in use: may a word look ahead in one of the two?",
        ),
        "mask-dropped-in-training": mistake.mutant(
            {"masked": lambda training: not training},
            hint="Is your block the same in training and in use: may a word look ahead in one of the two?",
        ),
        "next-word-seen": mistake.mutant(
            {"may_see": lambda back, window: (back >= -1) & (True if window is None else back < window)},
            {"may_see": lambda back, window: (back >= -1) & (True if window is None else back < window - 1)},
            hint="Does word 2 hear from word 3?",
        ),
        "half-precision": mistake.mutant(
            {"normed": lambda x, gamma: size_one(x, gamma).half().to(x.dtype)},
            {"normed": lambda x, gamma: size_one(x.half().to(x.dtype), gamma)},
            hint=HALF,
        ),
        "gamma-first": mistake.mutant(
            {"normed": lambda x, gamma: size_one(x * gamma, torch.ones_like(gamma))},
            hint="Is the size taken of x, or of x times gamma?",
        ),
        "length-for-size": mistake.mutant(
            {"normed": lambda x, gamma: gamma * F.normalize(x, dim=-1)},
            hint="Of the squares, is it the sum or the mean?",
        ),
        "mean-over-the-words": mistake.mutant(
            *({"normed": size_over(*axes)} for axes in ((-2, -1), (1,), (0,), ())),
            hint="Change one word: does the norm divide another one by a new size? Over which axis is its mean?",
        ),
        "no-root": mistake.mutant(
            {"normed": lambda x, gamma: gamma * x / ((x**2).mean(dim=-1, keepdim=True) + 1e-5)},
            hint="If all features are ten times as large, how much larger is what you divide by?",
        ),
        "branch-scaled": mistake.mutant(
            *(options for by in (0.5, 2**-0.5, 0.1) for options in scaled(by)),
            hint="Set a branch to zero: what is left of x? And what is each branch multiplied by?",
        ),
        "one-speed-for-all": mistake.mutant(
            {"turn": lambda x, place: rotated(x, place, base=1.0)},
            hint="How fast does the second pair turn: like the first?",
        ),
        "speeds-of-another-base": mistake.mutant(
            *({"turn": lambda x, place, base=base: rotated(x, place, base)} for base in (1000.0, 100.0, 500000.0)),
            hint="The speed of a head's second pair: which base is it, and raised to which power?",
        ),
        "exponent-doubled": mistake.mutant(
            {"turn": lambda x, place: rotated(x, place, base=1e8)},
            hint="Which number is i for columns 2 and 3 of a head: is it 2, or the number of the pair?",
        ),
        "exponent-of-the-wrong-sign": mistake.mutant(
            {"turn": lambda x, place: rotated(x, place, base=1e-4)},
            hint="Does the second pair turn faster than the first, or slower?",
        ),
        "turned-backwards": mistake.mutant(
            {"turn": lambda x, place: rotated(x, -place)},
            hint="Where does (1, 0) go at position 1: to (cos, sin), or to (cos, -sin)?",
        ),
        "positions-missing": mistake.known(
            {"turned": ()}, hint="Shuffle the words before the last one. Does the last one notice?"
        ),
        "query-not-turned": mistake.known({"turned": ("key",)}, hint="Which two of query, key and value are turned?"),
        "key-not-turned": mistake.known({"turned": ("query",)}, hint="Which two of query, key and value are turned?"),
        "values-turned": mistake.known(
            {"turned": ("query", "key", "value")}, hint="Of query, key and value, which one is left as it is?"
        ),
        "values-from-W_K": mistake.mutant({"value_of": "W_K"}, hint="Is each of the seven matrices used once?"),
        "turned-before-the-split": mistake.known(
            {"early": True}, hint="Does each head have a fast pair, or only the first one? When do you turn?"
        ),
        "pairs-in-halves": mistake.known(
            {"turn": lambda x, place: rotated(x, place, halves=True)},
            hint="Which column of a head is turned together with column 0?",
        ),
        "heads-in-turn": mistake.known(
            {"shared": lambda x, group: torch.cat([x] * group, dim=-3)},
            hint="With 6 query heads and 2 of keys, do heads 0 and 1 share, or heads 0 and 2?",
        ),
        "window-ignored": mistake.known(
            {"may_see": lambda back, window: back >= 0}, hint="With a window of 3, does word 6 hear from word 0?"
        ),
        "mask-missing": [{"may_see": lambda back, window: back > -(10**6)}],
        "mask-inverted": mistake.mutant(
            *[
                {"may_see": lambda back, window: ~Block.may_see(back, window), "hidden": hidden}
                for hidden in (lambda dtype: -math.inf, Block.hidden)
            ],
            hint="Print the mask of three words. Does True mean in it what your fill, or your `where`, takes it for?",
        ),
        "softmax-over-queries": mistake.mutant(
            {"softmax_axis": -2}, hint="Add up one row of your weights, and one column. Which of the two is 1?"
        ),
        "split-without-transpose": mistake.mutant(
            {"split": cut_up},
            {"split": cut_up, "joined": lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1)},
            hint="Has head 0 a row for each word, or pieces of the first ones?",
        ),
        "layer-norm": mistake.known({"normed": layer_norm}, hint="Is the mean taken off in this notebook's norm?"),
        "no-residual-around-attention": mistake.known(
            {"first": lambda x, branch, normed: branch}, hint="What is the attention's result added to?"
        ),
        "no-residual-around-feed-forward": mistake.known(
            {"second": lambda x, branch, normed: branch}, hint="What is the feed-forward network's result added to?"
        ),
        "residual-of-the-normed": mistake.known(
            {
                "first": lambda x, branch, normed: normed + branch,
                "second": lambda x, branch, normed: normed + branch,
            },
            {"first": lambda x, branch, normed: normed + branch},
            {"second": lambda x, branch, normed: normed + branch},
            hint="The way past a branch: does it begin before the norm or behind it?",
        ),
        "norm-behind-each-branch": mistake.mutant(
            {"post": True}, hint="What is brought to size one: what goes into a branch, or the sum behind it?"
        ),
        "first-norm-for-both": mistake.mutant(
            {"norms": ("norm_1", "norm_1")},
            hint="How many norms does the table of members name, and how many do you use?",
        ),
        "second-norm-for-both": mistake.mutant(
            {"norms": ("norm_2", "norm_2")},
            hint="How many norms does the table of members name, and how many do you use?",
        ),
        "turned-by-heads": mistake.mutant(
            {"turn": by_heads}, hint="By what is a query turned: by its word's place, or by its head's number?"
        ),
        "mask-missing-with-a-window": mistake.mutant(
            {"may_see": window_alone}, hint="With a window, may word 0 see what comes later?"
        ),
        "another-eps": mistake.known(
            *[
                {"normed": another_eps(eps, outside)}
                for eps in (1e-6, 1e-8, 1e-4, 1e-3, 1e-2, 1e-7, 1e-9, 1e-12, 0.0)
                for outside in (False, True)
            ],
            {"normed": another_eps(1e-5, True)},
            hint="To what is epsilon added, and how large is it?",
        ),
        "window-one-too-wide": mistake.known(
            {"may_see": lambda back, window: (back >= 0) & (True if window is None else back <= window)},
            hint="How many words does word 6 see through a window of 3, itself among them?",
        ),
        "branches-side-by-side": mistake.known(
            {"input_of_second": lambda before, after: before},
            hint="What does the feed-forward network work on: what went in, or what attention gave?",
        ),
        "second-residual-from-the-input": mistake.mutant(
            {"start_of_second": lambda before, after: before},
            hint="What is the second branch added to: does what attention gave survive?",
        ),
        "branch-alone-read": mistake.mutant(
            {"input_of_second": lambda before, after: after - before},
            hint="What does the feed-forward network read: the sum, or what attention found alone?",
        ),
        "input-added-again": mistake.mutant(
            {"start_of_second": lambda before, after: before + after},
            hint="If both branches gave zeros, how often would x be in the output?",
        ),
        "first-norm-missing": mistake.mutant(
            {"plain": ("W_Q", "W_K", "W_V")}, hint="What goes into the attention: x, or x brought to size one?"
        ),
        "second-norm-missing": mistake.mutant(
            {"plain": ("W_gate", "W_up")},
            hint="What goes into the feed-forward network: its words, or its words brought to size one?",
        ),
        "plain-words-read": mistake.mutant(
            *[
                {"plain": layers}
                for layers in (("W_up",), ("W_gate",), ("W_V",), ("W_K",), ("W_Q",), ("W_K", "W_V"), ("W_Q", "W_K"))
            ],
            hint="Go through the layers: which read the words behind a norm, and which as they came?",
        ),
        "attention-lost": mistake.mutant(
            {"first": lambda x, branch, normed: x}, hint="Does a word's output change if an earlier word does?"
        ),
        "feed-forward-lost": mistake.mutant(
            {"second": lambda x, branch, normed: x}, hint="Is the result of the feed-forward network used?"
        ),
        "branch-doubled": mistake.mutant(
            {"first": lambda x, branch, normed: x + 2 * branch},
            {"second": lambda x, branch, normed: x + 2 * branch},
            hint="Set a branch to zero: what is left of x? And what is each branch multiplied by?",
        ),
        "normed-at-the-end-too": mistake.mutant(
            {"last": lambda block, x: block.normed(x, block.norm_2)}, hint="How often is each norm used?"
        ),
        "second-norm-at-the-end": mistake.mutant(
            {"plain": ("W_gate", "W_up"), "last": lambda block, x: block.normed(x, block.norm_2)},
            hint="What goes into the feed-forward network, and what happens to the sum behind it?",
        ),
        "no-scaling": mistake.known(
            {"scale": lambda d_head, d_model: 1.0}, hint="What are the dot products divided by before the softmax?"
        ),
        "every-key-alike": mistake.mutant(
            {"scale": lambda d_head, d_model: math.inf}, hint="Change W_Q, and then W_K: does your output change?"
        ),
        "tanh-for-silu": mistake.mutant({"curve": torch.tanh}, hint="What does SiLU make of 10: about 1, or about 10?"),
        "hidden-features-dropped": mistake.mutant(
            *[{"gate_and_up": _dropping(part)} for part in PARTS],
            hint="Which of the numbers between the layers reach W_down?",
        ),
        "norm-scaled": mistake.mutant(
            *[{"norm_factors": factors} for by in (2, 0.5) for factors in ((by, 1), (1, by), (by, by))],
            hint="Between a norm and its branch, is anything multiplied?",
        ),
        "residual-doubled": mistake.mutant(
            {"first": lambda x, branch, normed: 2 * x + branch},
            {"second": lambda x, branch, normed: 2 * x + branch},
            {
                "first": lambda x, branch, normed: 2 * x + branch,
                "second": lambda x, branch, normed: 2 * x + branch,
            },
            hint="If both branches gave zeros, how often would x be in the output?",
        ),
        "one-head-for-all": mistake.mutant(
            {"heads_as": lambda heads: tied(heads, head_0)}, hint="Compare the weights of two heads. Are they the same?"
        ),
        "heads-tied": mistake.mutant(
            *[{"heads_as": lambda heads, tie=tie: tied(heads, tie)} for tie in TIES],
            hint="Compare the weights of neighbouring heads. Are they the same?",
        ),
        "scale-by-d_model": mistake.known(
            {"scale": lambda d_head, d_model: math.sqrt(d_model)},
            hint="How wide is a query of one head, and is that the number below your square root?",
        ),
        "relu-for-silu": mistake.known({"curve": F.relu}, hint="What does your curve make of -1: exactly 0?"),
        "gelu-for-silu": mistake.mutant({"curve": F.gelu}, hint="Which curve does the formula name?"),
        "sigmoid-for-silu": mistake.mutant(
            {"curve": torch.sigmoid}, hint="What does SiLU make of 10: about 1, or about 10?"
        ),
        "gate-and-up-swapped": mistake.known(
            {"gate_and_up": lambda gate, up, curve: gate * curve(up)},
            hint="Through which of the two layers does SiLU go?",
        ),
    }
)
def ModernDecoderBlock(**options):
    made = {name: staticmethod(option) if callable(option) else option for name, option in options.items()}
    return type("ModernDecoderBlock", (Block,), made)
