"""A small decoder trained on a novel: run it with your own attention, and look at its heads.

    from attention_course import trained_decoder
    reading = trained_decoder.read("Elizabeth smiled at Mr. Darcy.", attention=causal_attention)
    reading.tokens                       # the L tokens of the sentence
    reading.weights[0, 2]                # (L, L): the weights of head 2 in layer 0
    reading.next_tokens()                # the likeliest next tokens with their probabilities

It equals assignment 5's `TransformerDecoder`, so the student's decoder can load `weights()` by name. Here its attention
is the student's, or PyTorch's own. It reads without PyTorch, too, as in a browser.
`tools/trained_decoder.py` in the course's repository trained it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import novel
from .byte_pairs import ALPHABET, Tokenizer
from .copycat import attend, losses, read_safetensors

FILE = Path(__file__).with_name("trained_decoder.safetensors")
EPS = 1e-5  # of the norms, as in PyTorch
MERGES = "merges"  # the array in the file with the tokenizer's pairs, as ids
SIZES = {"vocab_size": 1024, "d_model": 96, "num_heads": 4, "d_ff": 384, "num_layers": 3, "max_length": 64}
NUM_HEADS, NUM_LAYERS, MAX_LENGTH = SIZES["num_heads"], SIZES["num_layers"], SIZES["max_length"]
NAMES = tuple(f"layer {layer}, head {head}" for layer in range(NUM_LAYERS) for head in range(NUM_HEADS))

Attention = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Any, Any]]
Layer = Callable[[Any, Any], tuple[Any, Any]]  # takes x (L, d_model) and a mask (L, L)


@dataclass(frozen=True)
class Reading:
    """The result of a forward pass over one text of L tokens.

    ids: (L,); tokens: their texts, with a hyphen before a token inside a word
    weights: the attention weights, (num_layers, num_heads, L, L)
    logits: (L, vocab_size); those at position t are for the token at position t + 1
    """

    ids: np.ndarray
    tokens: tuple[str, ...]
    weights: np.ndarray
    logits: np.ndarray

    def loss(self) -> float:
        """The mean loss on the text's tokens from the second on."""
        return float(losses(self.logits[np.newaxis], self.ids[np.newaxis]).mean())

    def next_tokens(self, count: int = 5) -> list[tuple[str, float]]:
        """The likeliest tokens after the text, and their probabilities."""
        scores = np.exp(self.logits[-1] - self.logits[-1].max())
        likeliest = np.argsort(-scores, kind="stable")[:count]
        return [(tokenizer().tokens[number], float(scores[number] / scores.sum())) for number in likeliest]


def read(text: str, attention: Attention | None = None, layers: Sequence[Layer] | None = None) -> Reading:
    """Run the model on a text.

    attention: a function such as assignment 2's `causal_attention`: from Q, K and V, each (num_heads, L, d), to output
        (num_heads, L, d) and weights (num_heads, L, L). By default it is PyTorch's own causal attention
    layers: in its place, one layer such as assignment 4's `MultiHeadAttention` for each of the model's: from tensors x
        (L, d_model) and a causal mask (L, L) to output (L, d_model) and weights (num_heads, L, L)

    Raises `ValueError` if the text is empty, has more than `MAX_LENGTH` tokens or is not ASCII, or if `attention` or a
    layer returns other shapes.
    """
    ids = np.array(tokenizer().encode(text), dtype=np.int64)
    if not 1 <= len(ids) <= MAX_LENGTH:
        raise ValueError(f"the text has {len(ids)} tokens; the model reads from 1 to {MAX_LENGTH}")
    heads = [_of_heads(layer, attention or _ready_made) for layer in range(NUM_LAYERS)]
    weights, logits = _run(ids, heads if layers is None else [_of_tensors(layer) for layer in layers])
    return Reading(ids, _shown([tokenizer().tokens[number] for number in ids]), weights, logits)


def on_quotation_marks(pages: int = 30) -> tuple[np.ndarray, float]:
    """Each head's share of weight on quotation marks, (num_layers, num_heads), and that of uniform attention.

    pages: the number of stretches to read from the held-out chapters, each of 60 tokens
    """
    ids = tokenizer().encode(novel.text()[1])
    shares, evenly = np.zeros((NUM_LAYERS, NUM_HEADS)), 0.0
    for page in range(pages):
        seen = read(tokenizer().decode(ids[60 * page : 60 * page + 60]))
        marks = np.array(['"' in token for token in seen.tokens])
        places = len(marks)
        everywhere = np.tril(np.ones((places, places))) / np.arange(1, places + 1)[:, np.newaxis]
        shares += seen.weights[..., marks].sum(axis=(-2, -1)) / places / pages
        evenly += float(everywhere[:, marks].sum()) / places / pages
    return shares, evenly


def _run(ids: np.ndarray, layers: Sequence[Layer]) -> tuple[np.ndarray, np.ndarray]:
    """The attention weights, (num_layers, num_heads, L, L), and the logits, (L, vocab_size)."""
    W, (L, width), looks = weights(), (len(ids), SIZES["d_model"]), []

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt(x.var(axis=-1, keepdims=True) + EPS)
        normed: np.ndarray = centred / scale * W[f"{name}.weight"] + W[f"{name}.bias"]
        return normed

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        product: np.ndarray = x @ W[f"{name}.weight"].T + W[f"{name}.bias"]
        return product

    x = W["embedding.weight"][ids] * math.sqrt(width) + W["positions"][:L]  # (L, d_model)
    mask = np.tri(L, dtype=bool)
    for number, layer in enumerate(layers):
        block = f"blocks.{number}"
        found, look = _checked(layer(norm(x, f"{block}.norm_1"), mask), (L, width), (NUM_HEADS, L, L))
        looks.append(look)
        x = x + found
        hidden = np.maximum(linear(norm(x, f"{block}.norm_2"), f"{block}.feed_forward.0"), 0)
        x = x + linear(hidden, f"{block}.feed_forward.2")
    return np.stack(looks), linear(norm(x, "norm"), "output")


def _of_heads(number: int, attention: Attention) -> Layer:
    """Layer `number` with this attention function of Q, K and V."""
    W_Q, W_K, W_V, W_O = layer_weights(number).values()

    def layer(x: Any, mask: Any) -> tuple[Any, Any]:
        Q, K, V = (np.stack([x @ own.T for own in np.split(W, NUM_HEADS)]) for W in (W_Q, W_K, W_V))
        found, look = _checked(attention(Q, K, V), V.shape, (*V.shape[:2], V.shape[1]))  # V: (num_heads, L, d)
        columns = np.split(W_O, NUM_HEADS, axis=1)
        return sum(head @ own.T for head, own in zip(found, columns, strict=True)), look

    return layer


def _of_tensors(layer: Layer) -> Layer:
    """A layer of tensors as one of arrays."""
    import torch

    def of_arrays(x: Any, mask: Any) -> tuple[Any, Any]:
        with torch.no_grad():
            return layer(torch.from_numpy(x), torch.from_numpy(mask))

    return of_arrays


def _checked(given: Any, *wanted: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Output and weights as arrays. Raises `ValueError` if they have other shapes than `wanted`."""
    output, weights = (np.asarray(array, dtype=np.float32) for array in given)
    if (output.shape, weights.shape) != wanted:
        raise ValueError(
            f"the attention gave output and weights of {output.shape} and {weights.shape}, not of {wanted}"
        )
    return output, weights


def _ready_made(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """PyTorch's own causal attention; without PyTorch the same numbers, from one query after the other."""
    try:
        import torch
    except ModuleNotFoundError:
        weights = np.zeros((*Q.shape[:2], K.shape[1]), dtype=Q.dtype)
        for t in range(Q.shape[1]):
            asked = np.einsum("hd,hsd->hs", Q[:, t], K[:, : t + 1]) / math.sqrt(Q.shape[2])
            weights[:, t, : t + 1] = np.exp(asked - np.logaddexp.reduce(asked, axis=-1, keepdims=True))
        return np.einsum("hts,hsd->htd", weights, V), weights
    return attend(*map(torch.from_numpy, (Q, K, V)))


def _shown(tokens: Sequence[str]) -> tuple[str, ...]:
    """Tokens as labels of a picture: without leading spaces, and with a hyphen before a token inside a word."""
    before = ["", *tokens[:-1]]
    inside = [token[:1].isalpha() and last[-1:].isalpha() for last, token in zip(before, tokens, strict=True)]
    plain = [token.replace("\n", "¶").strip(" ") or "␣" for token in tokens]
    return tuple(f"-{word}" if within else word for within, word in zip(inside, plain, strict=True))


def weights() -> dict[str, np.ndarray]:
    """The model's weights by the names in assignment 5's decoder, with its positions."""
    return {name: array for name, array in _numbers().items() if name != MERGES}


def layer_weights(number: int) -> dict[str, np.ndarray]:
    """W_Q, W_K, W_V and W_O of layer `number`, by the names in assignment 4's module."""
    return {f"W_{name}.weight": _numbers()[f"blocks.{number}.attention.W_{name}.weight"] for name in "QKVO"}


@cache
def tokenizer() -> Tokenizer:
    """The model's tokenizer: 96 characters, and merged pairs."""
    tokens = list(ALPHABET)
    for first, second in _numbers()[MERGES].astype(int):
        tokens.append(tokens[first] + tokens[second])
    return Tokenizer((tokens[first], tokens[second]) for first, second in _numbers()[MERGES].astype(int))


@cache
def _numbers() -> Mapping[str, np.ndarray]:
    """All arrays of the file, read-only, in float32."""
    found = {name: array.astype(np.float32) for name, array in read_safetensors(FILE.read_bytes()).items()}
    for array in found.values():
        array.flags.writeable = False
    return found
