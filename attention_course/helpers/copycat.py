"""A small model to look into: two layers of only attention, trained on texts that repeat their words.

    from autograder import copycat
    model = copycat.model()
    ids = copycat.texts(8, period=12)             # (8, 24): twelve words, then the same twelve again
    reading = model.read(ids)
    reading.weights[1]                            # (8, h, 24, 24): the weights of the heads in layer 1
    copycat.losses(reading.logits, ids)           # (8, 23): the loss on each next word

The first time, no model can know the next word. The second time it can: it finds the current word earlier in the text
and predicts the word that followed. A head that does so is an *induction head* (Elhage et al. 2021, Olsson et al.
2022). There are no feed-forward layers and no norms, so the heads do everything.

Inputs and outputs are NumPy arrays. Attention is PyTorch's own, because writing it is an exercise. The weights are in
`copycat.safetensors`; `train` trains a model of the same kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import news

PEOPLE = (*news.HER[4:12], *news.HIM[:8])
PLACES = news.PLACES[:16]
WORDS = (*PEOPLE, *PLACES)
IDS = {word: number for number, word in enumerate(WORDS)}

NUM_HEADS = 4  # in each layer
# The learning rate of each head as a factor, by layer. With equal rates, similar heads would share the same work. With
# different ones, the fastest head does it, and the others learn something else.
PACES = ((0.1, 0.05, 1.0, 0.3), (0.3, 1.0, 0.05, 0.1))
LONGEST = 32  # words that a text can have
FILE = Path(__file__).with_name("copycat.safetensors")
DTYPES = {"F32": "<f4", "F16": "<f2", "I16": "<i2"}  # the formats in our files
HISTORY = "history."  # the prefix of arrays that are not weights

Change = Callable[[int, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Reading:
    """The result of a forward pass over B texts of L words.

    logits: (B, L, V); those at position t are for the word at position t + 1
    weights: for each layer its attention weights, (B, h, L, L)
    found: for each layer the outputs of its heads before W_O, (B, h, L, d_v), after any change
    """

    logits: np.ndarray
    weights: tuple[np.ndarray, ...]
    found: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Copycat:
    """The model: its weights and its forward pass. It has V words, width d_model, and n layers of h heads.

    embedding: (V, d_model); positions: (LONGEST, d_model); unembedding: (d_model, V)
    W_Q, W_K, W_V: (n, d_model, h * d), a matrix for each layer; head i has the columns i * d to (i + 1) * d
    W_O: (n, h * d, d_model); head i has the rows i * d to (i + 1) * d
    """

    embedding: np.ndarray
    positions: np.ndarray
    W_Q: np.ndarray
    W_K: np.ndarray
    W_V: np.ndarray
    W_O: np.ndarray
    unembedding: np.ndarray
    num_heads: int = NUM_HEADS

    def read(self, ids: np.ndarray, change: Change | None = None) -> Reading:
        """Run the model on texts of word numbers, (B, L).

        change: takes a layer's number and the outputs of its heads, (B, h, L, d_v), and returns an array of the same
            shape, which the model uses in their place

        Raises `ValueError` if a text is too long, or if `change` returns another shape.
        """
        L = ids.shape[1]
        if len(self.positions) < L:
            raise ValueError(f"a text has {L} words, and the model knows {len(self.positions)} places")
        x = self.embedding[ids] + self.positions[:L]  # (B, L, d_model): the residual stream
        seen, kept = [], []
        for layer, W_O in enumerate(self.W_O):
            found, weights = self._attend(x, layer)
            if change is not None:
                found = _same_shape(change(layer, found), found)
            x = x + sum(found[:, head] @ rows for head, rows in enumerate(np.split(W_O, self.num_heads)))
            seen.append(weights)
            kept.append(found)
        return Reading(x @ self.unembedding, tuple(seen), tuple(kept))

    def _attend(self, x: np.ndarray, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """The outputs of a layer's heads, (B, h, L, d_v), and their weights, (B, h, L, L)."""
        import torch

        stream = torch.from_numpy(x)[:, None]  # (B, 1, L, d_model), the same for all heads
        return attend(*(stream @ self._heads(W[layer]) for W in (self.W_Q, self.W_K, self.W_V)))

    def _heads(self, W: np.ndarray) -> Any:
        """Each head's columns as a tensor, (h, d_model, d)."""
        import torch

        return torch.stack(torch.tensor(W).chunk(self.num_heads, dim=-1))


def attend(query: Any, key: Any, value: Any) -> tuple[np.ndarray, np.ndarray]:
    """PyTorch's own causal attention on (..., h, L, d) tensors: output and weights, (..., h, L, L)."""
    import torch

    L, d = value.shape[-2:]
    # Each value is extended by a one-hot vector of its position. The outputs for these are the weights.
    place = torch.eye(L, dtype=value.dtype).expand(*value.shape[:-1], -1)  # (..., h, L, L)
    values = torch.cat([value, place], dim=-1)
    both = torch.nn.functional.scaled_dot_product_attention(query, key, values, is_causal=True)
    output, weights = both.split([d, L], dim=-1)
    return output.numpy(), weights.numpy()


def _same_shape(changed: np.ndarray, found: np.ndarray) -> np.ndarray:
    if np.shape(changed) != found.shape:
        raise ValueError(f"what the heads find has shape {found.shape}; changed, it has shape {np.shape(changed)}")
    return changed


def texts(count: int, period: int, seed: int = 0) -> np.ndarray:
    """Word numbers, (count, 2 * period): each text has `period` different random words, then the same words again.

    Raises `ValueError` if the text would be too short or too long.
    """
    if not 2 <= period <= LONGEST // 2:
        raise ValueError(f"period is {period}, it should be from 2 to {LONGEST // 2}")
    random = np.random.default_rng(seed)
    words = np.stack([random.permutation(len(WORDS))[:period] for _ in range(count)])
    return np.concatenate([words, words], axis=1)


def losses(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The loss on each next word, (B, L - 1): -log of its predicted probability.

    logits: (B, L, V); ids: (B, L)
    """
    largest = logits.max(axis=-1, keepdims=True)
    log_sum = np.log(np.exp(logits - largest).sum(axis=-1)) + largest[..., 0]  # (B, L)
    of_next = np.take_along_axis(logits[:, :-1], ids[:, 1:, np.newaxis], axis=-1)[..., 0]  # (B, L - 1)
    return np.asarray(log_sum[:, :-1] - of_next)


def encode(text: str) -> np.ndarray:
    """The numbers of a text's words, (1, L): a batch of one. Raises `ValueError` for an unknown word."""
    unknown = [word for word in text.split() if word not in IDS]
    if unknown:
        raise ValueError(f"the model has no word {', '.join(map(repr, unknown))}; copycat.WORDS holds all that it has")
    return np.array([[IDS[word] for word in text.split()]])


def decode(ids: Iterable[int]) -> str:
    """The words of these numbers, separated by single spaces."""
    return " ".join(WORDS[number] for number in ids)


def model() -> Copycat:
    """The trained model."""
    weights: dict[str, Any] = {name: W for name, W in _numbers().items() if not name.startswith(HISTORY)}
    return Copycat(**weights)


def train(paces: Sequence[Sequence[float]] = PACES, steps: int = 400) -> Copycat:
    """Train a model of the same kind, which takes some ten seconds on one core.

    paces: each head's factor of the learning rate, a row for each layer
    """
    import torch

    from .copycat_learning import train as learn

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for a model this small, a second thread only costs time
    try:
        return learn(paces, steps).as_copycat()
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class History:
    """Measurements at n steps of the training, in order.

    steps: (n,) the number of steps so far
    first, again: (n,) the mean loss on new words, and on repeated words
    previous, induction: (n, layers * h) each head's mean weight on the previous word, and on the word to copy; the
        heads of layer 0 come first
    """

    steps: np.ndarray
    first: np.ndarray
    again: np.ndarray
    previous: np.ndarray
    induction: np.ndarray


def history() -> History:
    """The history of the model's training."""
    kept = {name: array for name, array in _numbers().items() if name.startswith(HISTORY)}
    return History(**{name.removeprefix(HISTORY): array for name, array in kept.items()})


@cache
def _numbers() -> Mapping[str, np.ndarray]:
    """All arrays of the file, read-only, in float64."""
    found = {name: array.astype(float) for name, array in read_safetensors(FILE.read_bytes()).items()}
    for array in found.values():
        array.flags.writeable = False
    return found


def read_safetensors(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of one of our own files; https://huggingface.co/docs/safetensors describes the format.

    So opening the model does not need the `safetensors` package. `saved_model` reads untrusted models.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    arrays = {}
    for name, entry in json.loads(data[8:start]).items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays
