"""Known mistakes of DecoderBlock."""

import functools

import torch
import torch.nn as nn

from autograder.testing import Catalogue

from ...hidden.part_options import PARTS
from ..shared_mask_mistakes import ALLOWED, PADDED
from ..shared_mistakes import Dropping, RightBlock, norm_parts

mistake = Catalogue()


@mistake(
    "residual-from-the-normalised", hint="What is each branch added to: x as it came, or what the norm made of it?"
)
class DecoderBlock(RightBlock):
    def forward(self, x, padding=None):
        x = self.norm_1(x)
        x = x + self.attend(x, padding)
        x = self.norm_2(x)
        return x + self.feed_forward(x)


@mistake("no-residuals", hint="If both branches gave zeros, what would be left of x?")
class DecoderBlock(RightBlock):
    def forward(self, x, padding=None):
        x = self.attend(self.norm_1(x), padding)
        return self.feed_forward(self.norm_2(x))


@mistake("feed-forward-first", hint="Which of the two branches comes first?")
class DecoderBlock(RightBlock):
    def forward(self, x, padding=None):
        x = x + self.feed_forward(self.norm_2(x))
        return x + self.attend(self.norm_1(x), padding)


@mistake("padding-hides-queries", hint="Does padding say who may look, or who may be looked at? Which axis is that?")
class DecoderBlock(RightBlock):
    def mask(self, L, padding):
        return self.causal(L) if padding is None else self.causal(L) & padding.unsqueeze(-3).transpose(-2, -1)


@mistake(
    "padding-without-an-axis-for-heads", hint="Scores are (B, h, L, L). Which shape has your mask, and which axes meet?"
)
class DecoderBlock(RightBlock):
    def mask(self, L, padding):
        return self.causal(L) if padding is None else self.causal(L) & padding


@mistake("relu-behind-the-second-layer", hint="May the feed-forward network lower a number?")
class DecoderBlock(RightBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.feed_forward.append(nn.ReLU())


@mistake("no-bias-in-feed-forward", hint="Which four parameters have the two linear layers?")
class DecoderBlock(RightBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff, bias=False), nn.ReLU(), nn.Linear(d_ff, d_model, bias=False)
        )


@mistake("d_ff-ignored", hint="How wide is the layer between for DecoderBlock(8, 2, 30)?")
class DecoderBlock(RightBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, 4 * d_model)


@mistake("num_heads-ignored", hint="How many heads has the attention of DecoderBlock(12, 3, 20)?")
class DecoderBlock(RightBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, 1, d_ff)


@mistake("one-more-norm", hint="Count the norms. Which of them has the formula not?")
class DecoderBlock(RightBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x, padding=None):
        return self.norm_3(super().forward(x, padding))


@mistake("other-names", hint="Which names does the table give the two norms?")
class DecoderBlock(RightBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.ln1, self.ln2 = self._modules.pop("norm_1"), self._modules.pop("norm_2")

    def forward(self, x, padding=None):
        x = x + self.attend(self.ln1(x), padding)
        return x + self.feed_forward(self.ln2(x))


@mistake("weights-given-back-too", hint="How many things does forward return?")
class DecoderBlock(RightBlock):
    def forward(self, x, padding=None):
        attended, weights = self.attention(self.norm_1(x), self.mask(x.shape[-2], padding))
        x = x + attended
        return x + self.feed_forward(self.norm_2(x)), weights


@mistake(
    "detached-attention",
    hint="Print requires_grad of what the attention gives you. Which of your lines turns it False?",
)
class DecoderBlock(RightBlock):
    def attend(self, x, padding):
        return super().attend(x, padding).detach()


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
class DecoderBlock(RightBlock):
    def forward(self, x, padding=None):
        return super().forward(x, padding).float()


@mistake("dropout", hint="Is there a dropout? The docstring says what train() may change.")
class DecoderBlock(RightBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, padding=None):
        x = x + self.dropout(self.attend(self.norm_1(x), padding))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
class DecoderBlock(RightBlock):
    def forward(self, x, padding=None):
        attended = self.attend(self.norm_1(x), padding)
        with torch.no_grad():
            x.detach().add_(0.5)
        return super().forward(x - 0.5, padding) + 0 * attended


SCALES = (0.5, 0.1, 0.5**0.5, 1.5)


def _scaled(branch_by, rest_by=1):
    return lambda x, n, branch: rest_by * x + branch_by * branch


def _norm_1(block, x):
    return block.norm_1(x)


def _norm_2(block, x):
    return block.norm_2(x)


NORMS = {name: functools.partial(norm_parts, name) for name in ("norm_1", "norm_2")}


@mistake.mutants(
    {
        "post-norm": mistake.known(
            {"norm": ("post", "post")}, hint="Where does the norm stand: in front of each branch, or behind the sum?"
        ),
        "post-norm-in-one-branch": mistake.mutant(
            {"norm": ("post", "pre")},
            {"norm": ("pre", "post")},
            hint="Do both norms stand at the same place: in front of the branch, or behind the sum?",
        ),
        "norm-behind-the-branch": mistake.known(
            {"norm": ("behind", "behind")},
            {"norm": ("behind", "pre")},
            {"norm": ("pre", "behind")},
            hint="What goes into the attention: x, or the normalised x? And what is added to x?",
        ),
        "normed-on-both-sides": mistake.mutant(
            {"norm": ("both", "both")},
            {"norm": ("both", "pre")},
            {"norm": ("pre", "both")},
            hint="How often is each norm used in the formula?",
        ),
        "second-norm-at-the-end": mistake.mutant(
            {"norm_2": lambda block, x: x, "last": _norm_2},
            hint="What goes into the feed-forward network, and what happens to the sum behind it?",
        ),
        "normed-at-the-end-too": mistake.mutant(
            {"last": _norm_2}, {"last": _norm_1}, hint="How often is each norm used in the formula?"
        ),
        "second-residual-from-the-input": mistake.known(
            {"start": lambda before, after: before},
            hint="What is the second branch added to: does the attention's share survive?",
        ),
        "input-added-again": mistake.mutant(
            {"start": lambda before, after: before + after},
            hint="If both branches gave zeros, how often would x be in the output?",
        ),
        "branches-side-by-side": mistake.known(
            {"reads": lambda before, after: before},
            hint="Does the feed-forward network see what the attention has found?",
        ),
        "branch-alone-read": mistake.mutant(
            {"reads": lambda before, after: after - before},
            hint="What does the feed-forward network read: the sum, or what attention found alone?",
        ),
        "no-residual-around-attention": mistake.known(
            {"first": lambda x, n, branch: branch}, hint="If the attention gave zeros, what would be left of x?"
        ),
        "no-residual-around-feed-forward": mistake.known(
            {"second": lambda x, n, branch: branch},
            hint="If the feed-forward network gave zeros, what would be left of x?",
        ),
        "attention-lost": mistake.mutant(
            {"first": lambda x, n, branch: x}, hint="Does a word's output change if an earlier word does?"
        ),
        "feed-forward-lost": mistake.mutant(
            {"second": lambda x, n, branch: x}, hint="Is the result of the feed-forward network used?"
        ),
        "input-doubled": mistake.mutant(
            {"first": lambda x, n, branch: x + x},
            {"second": lambda x, n, branch: x + x},
            hint="What is added to x: itself, or what the branch found?",
        ),
        "branch-doubled": mistake.mutant(
            {"first": lambda x, n, branch: x + 2 * branch},
            {"second": lambda x, n, branch: x + 2 * branch},
            {"first": lambda x, n, branch: branch + branch},
            {"second": lambda x, n, branch: branch + branch},
            hint="Set a branch to zero: what is left of x? And what is each branch multiplied by?",
        ),
        "sum-halved": mistake.mutant(
            {"second": lambda x, n, branch: (x + branch) / 2},
            {"first": lambda x, n, branch: (x + branch) / 2},
            {"first": lambda x, n, branch: (x + branch) / 2, "second": lambda x, n, branch: (x + branch) / 2},
            hint="If both branches give zero, what should come out?",
        ),
        "multiplied-not-added": mistake.mutant(
            {"first": lambda x, n, branch: x * branch},
            {"second": lambda x, n, branch: x * branch},
            hint="If a branch gives zero, what should be left of x?",
        ),
        "residual-subtracted": mistake.mutant(
            {"first": lambda x, n, branch: x - branch},
            {"second": lambda x, n, branch: x - branch},
            {"first": lambda x, n, branch: branch - x},
            hint="If a branch gives zero, and then one, how does the output change?",
        ),
        "residual-from-the-normalised": [{"first": lambda x, n, branch: n + branch}],
        "second-residual-from-the-normalised": mistake.known(
            {"second": lambda x, n, branch: n + branch},
            hint="What is the second branch added to: the sum, or norm_2 of it?",
        ),
        "residual-inside-the-argument": mistake.mutant(
            {"into_second": lambda x, n: x + n},
            {"into_first": lambda x, n: x + n},
            {"into_second": lambda x, n: x + n, "second": lambda x, n, branch: branch},
            hint="What goes into the branch: the norm alone, or a sum?",
        ),
        "norm-scaled": mistake.mutant(
            *({place: ways(by, 0)} for place, ways in NORMS.items() for by in (2, 0.5, 10, 0.1, 0)),
            *({place: ways(by, 0) for place, ways in NORMS.items()} for by in (2, 0.5)),
            hint="Between a norm and its branch, is anything multiplied?",
        ),
        "norm-shifted": mistake.mutant(
            *({place: ways(1, by)} for place, ways in NORMS.items() for by in (1, -1, 0.5, 0.1)),
            *({place: ways(1, by) for place, ways in NORMS.items()} for by in (1,)),
            hint="Between a norm and its branch, is anything added?",
        ),
        "residual-doubled": mistake.mutant(
            {"first": _scaled(1, 2)},
            {"second": _scaled(1, 2)},
            {"first": _scaled(1, 2), "second": _scaled(1, 2)},
            hint="If both branches gave zeros, how often would x be in the output?",
        ),
        "heads-and-width-exchanged": mistake.mutant(
            {"heads": lambda h, d_model: d_model // h},
            hint="Is num_heads how many heads there are, or how wide one of them is?",
        ),
        "hidden-features-dropped": mistake.mutant(
            *[{"curve": lambda p=p: Dropping(p)} for p in PARTS],
            hint="Which of the hidden numbers reach the second layer?",
        ),
        "one-norm-for-both": mistake.known(
            {"norm_2": _norm_1}, {"norm_1": _norm_2}, hint="One of the members is never called. Which one?"
        ),
        "norms-swapped": mistake.known(
            {"norm_1": _norm_2, "norm_2": _norm_1},
            hint="Which norm stands in front of the attention, and which in front of the feed-forward network?",
        ),
        "norms-missing": mistake.mutant(
            {"norm_1": lambda block, x: x, "norm_2": lambda block, x: x}, hint="Which two members are never called?"
        ),
        "first-norm-missing": mistake.known(
            {"norm_1": lambda block, x: x}, hint="One of the members is never called. Which one?"
        ),
        "second-norm-missing": mistake.known(
            {"norm_2": lambda block, x: x}, hint="One of the members is never called. Which one?"
        ),
        "relu-missing": mistake.known(
            {"curve": nn.Identity}, {"order": (0, 2)}, hint="Which three layers make the feed-forward network?"
        ),
        "relu-behind-the-second-layer": mistake.mutant(
            {"order": (0, 2, 1)}, hint="Between which two layers does the curve stand, and where does yours?"
        ),
        "another-curve": mistake.known(
            {"curve": nn.GELU},
            {"curve": nn.SiLU},
            {"curve": nn.Tanh},
            {"curve": nn.Sigmoid},
            {"curve": nn.LeakyReLU},
            {"curve": nn.ELU},
            {"curve": nn.ReLU6},
            hint="Which curve stands between the two linear layers?",
        ),
    }
    | {
        "mask-in-training-only": mistake.known(
            {"masked_in": (True,)}, hint="In eval(), which of your lines still makes a mask?"
        ),
        "mask-in-eval-only": mistake.known(
            {"masked_in": (False,)}, hint="In train(), which of your lines still makes a mask?"
        ),
        "another-default-eps": mistake.known(
            *[{"eps": eps} for eps in (1e-4, 1e-6, 1e-3, 1e-8, 1e-12, 1e-2)],
            hint="Which eps do the norms get, and does the docstring name one?",
        ),
        "branch-scaled": mistake.mutant(
            *[{"first": _scaled(by)} for by in SCALES],
            *[{"second": _scaled(by)} for by in SCALES],
            *[{"first": _scaled(by), "second": _scaled(by)} for by in SCALES],
            *[{"first": _scaled(1, by)} for by in SCALES],
            *[{"second": _scaled(1, by)} for by in SCALES],
            *[{"first": _scaled(1, by), "second": _scaled(1, by)} for by in SCALES],
            hint="Set a branch to zero: what is left of x? And what is each branch multiplied by?",
        ),
    }
    | ALLOWED
    | PADDED
)
def DecoderBlock(
    norm=("pre", "pre"), first=lambda x, n, branch: x + branch, second=lambda x, n, branch: x + branch,
    into_first=lambda x, n: n, into_second=lambda x, n: n, norm_1=_norm_1, norm_2=_norm_2,
    allowed=torch.tril, join=lambda causal, padding: causal & padding, curve=nn.ReLU, last=lambda block, x: x,
    start=lambda before, after: after, reads=lambda before, after: after, eps=1e-5, masked_in=(False, True),
    heads=lambda h, d_model: h, order=(0, 1, 2),
):  # fmt: skip
    class Block(RightBlock):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__(d_model, heads(num_heads, d_model), d_ff)
            self.feed_forward[1] = curve()
            self.feed_forward = nn.Sequential(*(self.feed_forward[i] for i in order))
            self.norm_1.eps = self.norm_2.eps = eps

        def mask(self, L, padding):
            ones = torch.ones(L, L, dtype=torch.bool)
            causal = allowed(ones) if self.training in masked_in else ones
            return causal if padding is None else join(causal, padding.unsqueeze(-3))

        def forward(self, x, padding=None):
            after = self.around(norm[0], norm_1, into_first, lambda y: self.attend(y, padding), x, x, first)
            rest, read = start(x, after), reads(x, after)
            return last(self, self.around(norm[1], norm_2, into_second, self.feed_forward, rest, read, second))

        def around(self, where, layer, into, branch, rest, x, together):
            """`rest` is what the branch is added to, `x` is its input."""
            if where == "post":
                return layer(self, together(rest, rest, branch(x)))
            if where == "behind":
                return together(rest, rest, layer(self, branch(x)))
            normed = layer(self, x)
            found = branch(into(x, normed))
            return together(rest, normed, layer(self, found) if where == "both" else found)

    return Block
