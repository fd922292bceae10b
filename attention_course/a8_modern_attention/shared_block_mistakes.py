"""A right ModernDecoderBlock for known mistakes, with each decision an option, and wrong values for the options."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from .shared_mistakes import right_turn


def rotated(x, place, base=10000.0, turn=right_turn, halves=False):
    d = x.shape[-1]
    angle = place.unsqueeze(-1) * base ** (-torch.arange(0, d, 2) / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    if halves:
        return torch.cat(turn(*x.chunk(2, dim=-1), cos, sin), dim=-1)
    return torch.stack(turn(x[..., 0::2], x[..., 1::2], cos, sin), dim=-1).flatten(-2)


def size_one(x, gamma):
    return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)


def another_eps(eps, outside):
    def size_one(x, gamma):
        mean_square = (x**2).mean(dim=-1, keepdim=True)
        return gamma * x / (mean_square.sqrt() + eps if outside else (mean_square + eps).sqrt())

    return size_one


def size_over(*axes):
    """One size for several numbers of these axes; without axes, for all."""
    return lambda x, gamma: gamma * x / torch.sqrt((x**2).mean(dim=axes or None, keepdim=True) + 1e-5)


def layer_norm(x, gamma):
    return F.layer_norm(x, x.shape[-1:], gamma)


def by_heads(heads, place):
    """Wrong positions: each head is rotated by its own index."""
    return rotated(heads.transpose(-3, -2), torch.arange(heads.shape[-3])).transpose(-3, -2)


def window_alone(back, window):
    return back >= 0 if window is None else back < window


class Block(nn.Module):
    """A right block. Each decision is a class member, which a subclass may replace."""

    bias = False
    turned = ("query", "key")
    value_of = "W_V"
    turn = staticmethod(rotated)
    places = staticmethod(lambda length: torch.arange(length))
    normed = staticmethod(size_one)
    shared = staticmethod(lambda x, group: x.repeat_interleave(group, dim=-3))
    may_see = staticmethod(lambda back, window: (back >= 0) & (True if window is None else back < window))
    scale = staticmethod(lambda d_head, d_model: math.sqrt(d_head))
    first = staticmethod(lambda x, branch, normed: x + branch)
    second = staticmethod(lambda x, branch, normed: x + branch)
    input_of_second = staticmethod(lambda before, after: after)
    curve = staticmethod(F.silu)
    norm_factors = (1, 1)
    heads_as = staticmethod(lambda heads: heads)
    gate_and_up = staticmethod(lambda gate, up, curve: curve(gate) * up)
    ahead = 0  # how many places further queries are rotated than keys
    norms = ("norm_1", "norm_2")  # the norm before the first branch, and before the second
    post = False  # whether the norms come after the branches
    plain = ()  # layers whose input is not normalised
    start_of_second = staticmethod(lambda before, after: after)
    last = staticmethod(lambda block, x: x)
    early = False  # whether queries and keys are rotated before they are split into heads
    joined = staticmethod(lambda heads: heads.transpose(-3, -2).flatten(-2))
    split = staticmethod(lambda projected, d_head: projected.unflatten(-1, (-1, d_head)).transpose(-3, -2))
    masked = staticmethod(lambda training: True)
    hidden = staticmethod(lambda dtype: torch.finfo(dtype).min)
    softmax_axis = -1

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
                nn.init.zeros_(parameter)  # so that the answer is always the same

    def attend(self, x, plain):
        place = self.places(x.shape[-2])
        found = {}
        for name, layer in (("query", self.W_Q), ("key", self.W_K), ("value", getattr(self, self.value_of))):
            projected = layer(plain if f"W_{name[0].upper()}" in self.plain else x)
            at = place + (self.ahead if name == "query" else 0)
            if self.early and name in self.turned:
                projected = self.turn(projected, at)
            heads = self.split(projected, self.d_head)
            found[name] = self.turn(heads, at) if name in self.turned and not self.early else heads
        key, value = self.shared(found["key"], self.group), self.shared(found["value"], self.group)
        query, key, value = (self.heads_as(t) for t in (found["query"], key, value))
        scores = query @ key.transpose(-2, -1) / self.scale(self.d_head, x.shape[-1])
        back = torch.arange(x.shape[-2]).unsqueeze(-1) - torch.arange(x.shape[-2])
        seen = self.may_see(back, self.window)
        if not self.masked(self.training):
            seen = torch.ones_like(seen)
        scores = scores.masked_fill(~seen, self.hidden(scores.dtype))
        return self.W_O(self.joined(torch.softmax(scores, dim=self.softmax_axis) @ value))

    def forward(self, x):
        one, two = (getattr(self, name) for name in self.norms)
        if self.post:
            x = self.normed(x + self.attend(x, x), one)
            return self.normed(x + self.fed(x, x), two)
        normed = self.norm_factors[0] * self.normed(x, one)
        after = self.first(x, self.attend(normed, x), normed)
        read = self.input_of_second(x, after)
        hidden = self.norm_factors[1] * self.normed(read, two)
        return self.last(self, self.second(self.start_of_second(x, after), self.fed(hidden, read), hidden))

    def fed(self, hidden, plain):
        gate, up = (
            layer(plain if name in self.plain else hidden)
            for name, layer in (("W_gate", self.W_gate), ("W_up", self.W_up))
        )
        return self.W_down(self.gate_and_up(gate, up, self.curve))


def scaled(by):
    """Options that scale what a branch adds, what it is added to, or both."""
    branch, kept, both = (
        (lambda x, branch, normed: x + by * branch),
        (lambda x, branch, normed: by * x + branch),
        (lambda x, branch, normed: by * (x + branch)),
    )
    return [{"first": way, "second": way} for way in (branch, kept, both)] + [
        {place: way} for place in ("first", "second") for way in (branch, kept, both)
    ]


def seen_beyond(right):
    """Masks with a limit: `right` decides up to there, and beyond it everything is seen."""

    def ending(limit):
        def may_see(back, window):
            place = torch.arange(len(back))
            return right(back, window) | (place >= limit) | (place.unsqueeze(-1) >= limit)

        return may_see

    return ending


def cut_from(limit):
    """A mask made for `limit` words, and cut to the length of the text."""
    return lambda back, window: Block.may_see(torch.arange(limit).unsqueeze(-1) - torch.arange(limit), window)[
        : len(back), : len(back)
    ]


def cut_up(projected, d_head):
    """A wrong split into heads: only a reshape, so that a head gets pieces of several words."""
    return projected.reshape(projected.shape[0], -1, projected.shape[1], d_head)


def only_heads(limit):
    """Joins the heads, with zeros for those from `limit` on."""
    return lambda heads: Block.joined(heads * (torch.arange(heads.shape[-3]) < limit).view(-1, 1, 1))
