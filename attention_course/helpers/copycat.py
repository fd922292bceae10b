"""A small model to look into: two layers of attention and nothing else, trained on words that come again.

    from autograder import copycat
    model = copycat.model()
    ids = copycat.texts(8, period=12)             # (8, 24): twelve words, then the same twelve again
    reading = model.read(ids)
    reading.weights[1]                            # (8, h, 24, 24): where the heads of layer 1 look
    copycat.losses(reading.logits, ids)           # (8, 23): how surprised it is by each next word

The first time round nobody can know which word comes next. The second time a model can: it has to find the word before
in what it has read, and to say what stood after it. A head that does so is an *induction head* (Elhage et al. 2021,
Olsson et al. 2022). There are no feed-forward layers and no norms, so all that happens is what heads do.

What goes in and comes out are NumPy arrays; attention itself is PyTorch's own, since writing it is an exercise.
Its numbers are in `copycat.safetensors`. `train` makes a model of the same kind.
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

NUM_HEADS = 4  # in each of the layers
# How fast each head of each layer learned. Adam takes steps of one size for all, so heads that start alike come to do
# the same, a bit each. With a head start one does the work, and others find something else to do.
PACES = ((0.1, 0.05, 1.0, 0.3), (0.3, 1.0, 0.05, 0.1))
LONGEST = 32  # words that the model has positions for
FILE = Path(__file__).with_name("copycat.safetensors")
DTYPES = {"F32": "<f4", "F16": "<f2", "I16": "<i2"}  # that our files have, by the format's names
HISTORY = "history."  # what begins the names of arrays that are no weights

Change = Callable[[int, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Reading:
    """What happened while a model read B texts of L words.

    logits: (B, L, V), those at place t for the word at place t + 1
    weights: of each layer where its heads look, (B, h, L, L)
    found: of each layer what its heads find there, (B, h, L, d_v), before W_O; changed where something was changed
    """

    logits: np.ndarray
    weights: tuple[np.ndarray, ...]
    found: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Copycat:
    """The model: its numbers, and how they read a text. V words, d_model wide, n layers of h heads.

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
        """Read texts of word numbers, (B, L), from left to right.

        change: takes the number of a layer and what its heads have found, (B, h, L, d_v), and gives what they are to
            have found instead, in the same shape. The model goes on with that.

        Raises `ValueError` where a text is longer than the model's positions, or what `change` gives has another shape.
        """
        L = ids.shape[1]
        if len(self.positions) < L:
            raise ValueError(f"a text has {L} words, and the model knows {len(self.positions)} places")
        x = self.embedding[ids] + self.positions[:L]  # (B, L, d_model): the residual stream, to which heads add
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
        """What the heads of a layer find, (B, h, L, d_v), and where they look, (B, h, L, L)."""
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
    """Word numbers, (count, 2 * period): in each text so many random words, none twice, and then the same again.

    Raises `ValueError` where there are not enough words, or the text would be longer than the model's positions.
    """
    if not 2 <= period <= LONGEST // 2:
        raise ValueError(f"period is {period}, it should be from 2 to {LONGEST // 2}")
    random = np.random.default_rng(seed)
    words = np.stack([random.permutation(len(WORDS))[:period] for _ in range(count)])
    return np.concatenate([words, words], axis=1)


def losses(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """How surprised a model is by each next word, (B, L - 1): -log of the probability that it gave to that word.

    logits: (B, L, V); ids: (B, L)
    """
    largest = logits.max(axis=-1, keepdims=True)
    log_sum = np.log(np.exp(logits - largest).sum(axis=-1)) + largest[..., 0]  # (B, L)
    of_next = np.take_along_axis(logits[:, :-1], ids[:, 1:, np.newaxis], axis=-1)[..., 0]  # (B, L - 1)
    return np.asarray(log_sum[:, :-1] - of_next)


def encode(text: str) -> np.ndarray:
    """The numbers of a text's words, (1, L): a batch of one. Raises `ValueError` for a word that it does not know."""
    unknown = [word for word in text.split() if word not in IDS]
    if unknown:
        raise ValueError(f"the model has no word {', '.join(map(repr, unknown))}; copycat.WORDS holds all that it has")
    return np.array([[IDS[word] for word in text.split()]])


def decode(ids: Iterable[int]) -> str:
    """The words of these numbers, with single spaces between them."""
    return " ".join(WORDS[number] for number in ids)


def model() -> Copycat:
    """The model, as it is after its training."""
    weights: dict[str, Any] = {name: W for name, W in _numbers().items() if not name.startswith(HISTORY)}
    return Copycat(**weights)


def train(paces: Sequence[Sequence[float]] = PACES, steps: int = 400) -> Copycat:
    """A model of the same kind, trained from nothing, in some ten seconds on one core.

    paces: how fast each head learns, a row for each layer; 1 is Adam's own pace
    """
    import torch

    from .copycat_learning import train as learn

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # in a model this small, two cores would mostly wait for each other
    try:
        return learn(paces, steps).as_copycat()
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class History:
    """The training, looked at now and then: n times, in order.

    steps: (n,) after how many steps
    first, again: (n,) the mean loss of words that are new, and of words that have come before
    previous, induction: (n, layers * h) how much a head looks at the word before, and at the word to be copied; layer
        0's heads first
    """

    steps: np.ndarray
    first: np.ndarray
    again: np.ndarray
    previous: np.ndarray
    induction: np.ndarray


def history() -> History:
    """How its training went."""
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
    """The arrays of a file of our own; https://huggingface.co/docs/safetensors describes the format.

    Here so that nobody needs the `safetensors` package to open the model. An untrusted model is read another way.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    arrays = {}
    for name, entry in json.loads(data[8:start]).items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays
