"""A course on multi-head attention, from dot products to a decoder: what its notebooks import. A folder an assignment.

`check("softmax")` runs the visible tests of an exercise, `hint("softmax")` helps with it, `heatmap(weights)` draws
weights, `explore(draw, d_k=...)` puts a slider over pictures, `progress()` shows how far one is; for training a small
model there are `news`, `news_training`, `own_or_plain`, `loss_curve`, `look`, `highlight`, `without_head`,
`block_parts`, `cost_of` and `word_by_word`; `novel` is real text, `byte_pairs` makes tokens of it,
`novel_training` lets a model read it, and `trained_decoder` is a small model that has. All load on first use.

`hidden/` is shared by suites and known mistakes, and `helpers/` is what a notebook trains and looks with.
"""

import importlib

__version__ = "0.1.0"
__all__ = [
    "block_parts", "byte_pairs", "check", "copycat", "cost_of", "explore", "grading", "heatmap", "highlight", "hint",
    "look", "loss_curve", "news", "news_training", "novel", "novel_training", "own_or_plain", "progress",
    "trained_decoder", "without_head", "word_by_word",
]  # fmt: skip

_OF_THE_ENGINE = ("check", "explore", "grading", "heatmap", "hint", "progress", "solution")
_HOMES = {
    "block_parts": "block_parts",
    "byte_pairs": "byte_pairs",
    "copycat": "copycat",
    "cost_of": "counting",
    "highlight": "looking",
    "look": "looking",
    "loss_curve": "loss_curve",
    "news": "news",
    "news_training": "news_training",
    "novel": "novel",
    "novel_training": "novel_training",
    "own_or_plain": "plain_decoder",
    "trained_decoder": "trained_decoder",
    "without_head": "ablation",
    "word_by_word": "ablation",
}
# Of these a notebook takes the whole module.
_MODULES = (
    "block_parts",
    "byte_pairs",
    "copycat",
    "news",
    "news_training",
    "novel",
    "novel_training",
    "trained_decoder",
)


def __getattr__(name: str) -> object:
    if name in _OF_THE_ENGINE:
        return getattr(importlib.import_module("autograder"), name)
    if name in _HOMES:
        home = importlib.import_module(f"{__name__}.helpers.{_HOMES[name]}")
        return home if name in _MODULES else getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
