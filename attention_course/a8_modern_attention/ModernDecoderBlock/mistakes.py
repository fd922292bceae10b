"""Known mistakes of ModernDecoderBlock."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.testing import Catalogue

from ..shared_mistakes import right_turn

mistake = Catalogue()


def _torch_turn(x, place, base=10000.0, turn=right_turn, halves=False):
    d = x.shape[-1]
    angle = place.unsqueeze(-1) * base ** (-torch.arange(0, d, 2) / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    if halves:
        return torch.cat(turn(*x.chunk(2, dim=-1), cos, sin), dim=-1)
    return torch.stack(turn(x[..., 0::2], x[..., 1::2], cos, sin), dim=-1).flatten(-2)


def _torch_size_one(x, gamma):
    return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)


def _another_eps(eps, outside):
    def size_one(x, gamma):
        mean_square = (x**2).mean(dim=-1, keepdim=True)
        return gamma * x / (mean_square.sqrt() + eps if outside else (mean_square + eps).sqrt())

    return size_one


def _torch_layer_norm(x, gamma):
    return F.layer_norm(x, x.shape[-1:], gamma)


def _by_heads(heads, place):
    """Each head turned by its own number."""
    return _torch_turn(heads.transpose(-3, -2), torch.arange(heads.shape[-3])).transpose(-3, -2)


def _window_alone(back, window):
    return back >= 0 if window is None else back < window


class _Block(nn.Module):
    """A right block, with each decision a member that another class may have otherwise."""

    bias = False
    turned = ("query", "key")
    turn = staticmethod(_torch_turn)
    places = staticmethod(lambda length: torch.arange(length))
    normed = staticmethod(_torch_size_one)
    shared = staticmethod(lambda x, group: x.repeat_interleave(group, dim=-3))
    may_see = staticmethod(lambda back, window: (back >= 0) & (True if window is None else back < window))
    scale = staticmethod(lambda d_head, d_model: math.sqrt(d_head))
    first = staticmethod(lambda x, branch, normed: x + branch)
    second = staticmethod(lambda x, branch, normed: x + branch)
    input_of_second = staticmethod(lambda before, after: after)
    curve = staticmethod(F.silu)
    gate_and_up = staticmethod(lambda gate, up, curve: curve(gate) * up)
    ahead = 0  # by how many places queries are turned more than keys
    norms = ("norm_1", "norm_2")  # in front of which branch
    post = False  # or behind each branch
    plain = ()  # layers that read the words in front of the norm
    start_of_second = staticmethod(lambda before, after: after)
    last = staticmethod(lambda block, x: x)
    early = False  # are queries and keys turned before they are split into heads?
    joined = staticmethod(lambda heads: heads.transpose(-3, -2).flatten(-2))

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.d_head, self.group, self.window = d_model // num_heads, num_heads // num_kv_heads, window
        narrow = num_kv_heads * self.d_head
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=self.bias)
        self.W_K = nn.Linear(d_model, narrow, bias=self.bias)
        self.W_V = nn.Linear(d_model, narrow, bias=self.bias)
        self.W_O = nn.Linear(d_model, d_model, bias=self.bias)
        self.W_gate = nn.Linear(d_model, d_ff, bias=self.bias)
        self.W_up = nn.Linear(d_model, d_ff, bias=self.bias)
        self.W_down = nn.Linear(d_ff, d_model, bias=self.bias)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)  # the same answer each time

    def attend(self, x, plain):
        place = self.places(x.shape[-2])
        found = {}
        for name, layer in (("query", self.W_Q), ("key", self.W_K), ("value", self.W_V)):
            projected = layer(plain if f"W_{name[0].upper()}" in self.plain else x)
            at = place + (self.ahead if name == "query" else 0)
            if self.early and name in self.turned:
                projected = self.turn(projected, at)
            heads = projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)
            found[name] = self.turn(heads, at) if name in self.turned and not self.early else heads
        key, value = self.shared(found["key"], self.group), self.shared(found["value"], self.group)
        scores = found["query"] @ key.transpose(-2, -1) / self.scale(self.d_head, x.shape[-1])
        back = torch.arange(x.shape[-2]).unsqueeze(-1) - torch.arange(x.shape[-2])
        seen = self.may_see(back, self.window)
        scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
        return self.W_O(self.joined(torch.softmax(scores, dim=-1) @ value))

    def forward(self, x):
        one, two = (getattr(self, name) for name in self.norms)
        if self.post:
            x = self.normed(x + self.attend(x, x), one)
            return self.normed(x + self.fed(x, x), two)
        normed = self.normed(x, one)
        after = self.first(x, self.attend(normed, x), normed)
        read = self.input_of_second(x, after)
        hidden = self.normed(read, two)
        return self.last(self, self.second(self.start_of_second(x, after), self.fed(hidden, read), hidden))

    def fed(self, hidden, plain):
        gate, up = (
            layer(plain if name in self.plain else hidden)
            for name, layer in (("W_gate", self.W_gate), ("W_up", self.W_up))
        )
        return self.W_down(self.gate_and_up(gate, up, self.curve))


@mistake("mask-missing", hint="Which words may word 0 see?")
class ModernDecoderBlock(_Block):
    may_see = staticmethod(lambda back, window: (back > -(10**6)) & (True if window is None else back < window))


@mistake("mask-upside-down", hint="Which words may word 0 see, and which ones the last word?")
class ModernDecoderBlock(_Block):
    may_see = staticmethod(lambda back, window: (back <= 0) & (True if window is None else -back < window))


@mistake("norm-missing", hint="What goes into each branch: x, or x brought to size one?")
class ModernDecoderBlock(_Block):
    normed = staticmethod(lambda x, gamma: x * gamma)


@mistake("gamma-missing", hint="A norm has a scale for each feature. Is it used?")
class ModernDecoderBlock(_Block):
    normed = staticmethod(lambda x, gamma: _torch_size_one(x, 1 + 0 * gamma))


@mistake("no-gate", hint="Are there two layers side by side, of which one is the other's gate?")
class ModernDecoderBlock(_Block):
    gate_and_up = staticmethod(lambda gate, up, curve: curve(gate) + 0 * up)


@mistake("biases", hint="How many biases are there in the table?")
class ModernDecoderBlock(_Block):
    bias = True


@mistake("positions-from-1-for-queries", hint="A word and itself: how far apart are they, and how far in your scores?")
class ModernDecoderBlock(_Block):
    ahead = 1


@mistake("heads-not-brought-together", hint="Take one word: do its own numbers of all heads stand side by side?")
class ModernDecoderBlock(_Block):
    joined = staticmethod(lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1))


@mistake("detached-gradient", hint="Which operations hand on a gradient, and is every step one of those?")
class ModernDecoderBlock(_Block):
    first = staticmethod(lambda x, branch, normed: x + branch.detach())


@mistake("output-too-many", hint="How many things does forward give back?")
class ModernDecoderBlock(_Block):
    def forward(self, x):
        return super().forward(x), self.attend(x, x)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
class ModernDecoderBlock(_Block):
    def forward(self, x):
        result = super().forward(x)
        with torch.no_grad():
            x.detach().add_(1.0)
        return result


@mistake.mutants(
    {
        "positions-missing": mistake.known(
            {"turned": ()}, hint="Shuffle the words before the last one. Does the last one notice?"
        ),
        "query-not-turned": mistake.known({"turned": ("key",)}, hint="Which two of query, key and value are turned?"),
        "key-not-turned": mistake.known({"turned": ("query",)}, hint="Which two of query, key and value are turned?"),
        "values-turned": mistake.known(
            {"turned": ("query", "key", "value")}, hint="Of query, key and value, which one is left as it is?"
        ),
        "turned-before-the-split": mistake.known(
            {"early": True}, hint="Does each head have a fast pair, or only the first one? When do you turn?"
        ),
        "pairs-in-halves": mistake.known(
            {"turn": lambda x, place: _torch_turn(x, place, halves=True)},
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
        "layer-norm": mistake.known(
            {"normed": _torch_layer_norm}, hint="Is the mean taken off in this notebook's norm?"
        ),
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
            {"turn": _by_heads}, hint="By what is a query turned: by its word's place, or by its head's number?"
        ),
        "mask-missing-with-a-window": mistake.mutant(
            {"may_see": _window_alone}, hint="With a window, may word 0 see what comes later?"
        ),
        "another-eps": mistake.mutant(
            *[{"normed": _another_eps(eps, outside)} for eps in (1e-6, 1e-8) for outside in (False, True)],
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
    return type("ModernDecoderBlock", (_Block,), made)
