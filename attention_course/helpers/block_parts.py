"""Train any decoder block of assignment 8 without one of its parts, and compare the losses with our own.

    block_parts.without("norm", ModernDecoderBlock(64, 4, 2, 80), rotate, d_head=16)
    block_parts.news_table(ModernDecoderBlock, rotate, {"nothing", "rotation"})

The block's code does not change: hooks on its layers undo what the part does.
`ours()` and `ours_on_the_novel()` return the losses of our own runs; `python -m tools.block_losses` records them.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from . import news, news_training, novel_training

FILE = Path(__file__).with_name("block_losses.json")
OF_NOVEL = Path(__file__).with_name("novel_losses.json")
PARTS = ("nothing", "rotation", "norm", "gate", "groups")
LONGEST = 64  # positions whose rotation can be undone
EPS = 1e-5
STEPS, STEPS_ON_THE_NOVEL = 300, 250
BRANCHES = {"attention": ("W_Q", "W_K", "W_V"), "feed-forward": ("W_gate", "W_up")}


def ours() -> dict[str, Any]:
    """Our runs by part: how many parameters (`numbers`), and each seed's losses `begun`, `early` and `held_out`."""
    runs: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return runs


def ours_on_the_novel() -> dict[str, list[float]]:
    """Our held-out losses on the novel, one for each seed, by part and for the decoder of assignment 5."""
    runs: dict[str, list[float]] = json.loads(OF_NOVEL.read_text(encoding="utf-8"))
    return runs


class Stack(nn.Module):  # type: ignore[misc]
    """A decoder from word numbers to logits: an embedding, a stack of blocks, a norm, an output matrix.

    block: creates a block
    norm: the norm before the output matrix; None for no norm
    """

    def __init__(
        self, vocab_size: int, d_model: int, num_layers: int, block: Callable[[], Any], norm: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)
        nn.init.normal_(self.embedding.weight, std=1 / math.sqrt(d_model))
        self.blocks = nn.Sequential(*(block() for _ in range(num_layers)))
        self.norm = norm or nn.Identity()
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """The logits, (B, L) -> (B, L, vocab_size)."""
        x = math.sqrt(self.output.in_features) * self.embedding(token_ids)
        logits: torch.Tensor = self.output(self.norm(self.blocks(x)))
        return logits


Make = Callable[..., Any]  # a class `ModernDecoderBlock`
Rotate = Callable[..., Any]


def summarizer(make: Make, rotate: Rotate, part: str) -> Stack:
    """Two blocks without a part, for the news. Without the gate a network is half as wide again: as much to learn."""

    def block() -> Any:
        whole = make(64, 4, 4 if part == "groups" else 2, 120 if part == "gate" else 80)
        return without(part, whole, rotate, d_head=16)

    return Stack(len(news.WORDS), 64, 2, block)


def reader(make: Make, rotate: Rotate, part: str) -> Stack:
    """Three blocks without a part, for the novel."""

    def block() -> Any:
        whole = make(96, 4, 4 if part == "groups" else 2, 384 if part == "gate" else 256)
        return without(part, whole, rotate, d_head=24)

    return Stack(novel_training.VOCABULARY, 96, 3, block, nn.RMSNorm(96))


def on_the_news(make: Make, rotate: Rotate, part: str, seed: int = 0, until: int | None = None) -> dict[str, Any]:
    """Train on the news; the losses as in `ours`, of one run. until: stop after so many steps"""
    train, held_out = (news_training.tensors(items) for items in news.items())
    torch.set_num_threads(1)  # in a model this small, two cores would mostly wait for each other
    torch.manual_seed(seed)
    model = summarizer(make, rotate, part)
    losses = news_training.train(model, *train, STEPS, seed, until)
    learned = [W for W in model.parameters() if W.grad is not None]
    return {
        "numbers": sum(W.numel() for W in learned),
        "begun": _mean(losses[:20]),
        "early": _mean(losses[100:150]),
        "held_out": news_training.loss_on(model, *held_out),
    }


def on_the_novel(make: Make, rotate: Rotate, part: str, seed: int = 0) -> float:
    """Train on the novel; the loss on held-out chapters."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = reader(make, rotate, part)
    novel_training.train(model, STEPS_ON_THE_NOVEL, seed)
    return novel_training.held_out_loss(model)


def news_table(make: Make, rotate: Rotate, trained: Collection[str]) -> None:
    """Print the losses without each part: yours if it is in `trained`, and those of our three runs, best first."""
    print("              numbers       steps 101 to 150           held-out news")
    print("without      to learn     yours   ours              yours   ours")
    with _waiting():
        for part, runs in ours().items():
            yours = _run(part, on_the_news, make, rotate) if part in trained else None
            losses = (_beside(yours and yours[name], runs[name]) for name in ("early", "held_out"))
            print(f"{part:12} {(yours or runs)['numbers']:8,}", *losses)


def novel_table(make: Make, rotate: Rotate, trained: Collection[str]) -> None:
    """Print the losses on the novel in the same way, and in the last line those of the decoder of assignment 5."""
    print("without          yours   ours")
    with _waiting():
        for part, runs in ours_on_the_novel().items():
            yours = _run(part, on_the_novel, make, rotate) if part in trained else None
            print(f"{part:12} {_beside(yours, runs)}")


def _beside(yours: float | None, ours: Sequence[float]) -> str:
    """One loss of yours, or a dash, and those of our runs."""
    return f"{'-' if yours is None else format(yours, '.2f'):>9}   " + " ".join(f"{loss:.2f}" for loss in sorted(ours))


@contextlib.contextmanager
def _waiting() -> Iterator[None]:
    """End a table with a sentence where an exercise is not written yet."""
    try:
        yield
    except NotImplementedError:
        print("This table waits for `ModernDecoderBlock` and `rotate`: write them, then run this cell again.")


def _run(part: str, train: Callable[..., Any], make: Make, rotate: Rotate) -> Any:
    """What a training without this part gives; None, with a line that says why, if the part cannot be taken out."""
    try:
        return train(make, rotate, part)
    except ValueError as error:
        print(f"{part:12} {error}")
        return None


def _mean(some: Sequence[float]) -> float:
    return sum(some) / max(1, len(some))


def compare_halves(
    make: Make, rotate: Rotate, grouped_query_attention: Any, sliding_window_mask: Any, rms_norm: Any,
    gated_feed_forward: Any,
) -> None:  # fmt: skip
    """Print how far each half of a block with a window of 3 is from what your NumPy functions give with its weights."""
    torch.manual_seed(0)
    block, x = make(16, 4, 2, 24, window=3), torch.randn(1, 6, 16)
    words, place = x[0].numpy(), np.arange(6)

    def weights(*names: str) -> list[np.ndarray]:
        return [getattr(block, name).weight.detach().numpy().T for name in names]

    def attended() -> np.ndarray:
        Q, K, V = ((words @ W).reshape(6, -1, 4).swapaxes(0, 1) for W in weights("W_Q", "W_K", "W_V"))
        mask = sliding_window_mask(6, 3)
        heads, _ = grouped_query_attention(rotate(Q, place), rotate(K, place), V, len(K), mask)  # (4, 6, 4)
        return np.asarray(heads.swapaxes(0, 1).reshape(6, 16) @ weights("W_O")[0])

    def worked() -> np.ndarray:
        normed = rms_norm(words, block.norm_2.detach().numpy())
        return np.asarray(words + gated_feed_forward(normed, *weights("W_gate", "W_up", "W_down")))

    _compare("attend             ", lambda: block.attend(x), attended())
    nn.init.zeros_(block.W_O.weight)  # now the attention half adds nothing
    _compare("the rest of forward", lambda: block(x), worked())


def _compare(half: str, yours: Callable[[], torch.Tensor], expected: np.ndarray) -> None:
    try:
        with torch.no_grad():
            found = yours()[0].numpy()
    except NotImplementedError:
        print(f"{half}: not written yet")
        return
    is_alike = found.shape == expected.shape
    apart = f"largest difference {np.abs(found - expected).max():.0e}" if is_alike else "another shape"
    print(f"{half}: {found.shape}, {apart}")


def without(part: str, block: Any, rotate: Callable[..., Any], d_head: int) -> Any:
    """Switch off one part of the block, and return the block.

    part: "rotation": queries and keys are rotated back before the block rotates them; "norm": the outputs of the two
        norms are scaled back to their original size; "gate": `W_up` gives only ones, so that only SiLU remains. Any
        other word leaves the block unchanged.
    block: a `ModernDecoderBlock` with the members of assignment 8
    rotate: the NumPy function of assignment 8
    d_head: the width of a head

    Raises `ValueError` if the block fails on a second text of another length, if it does not call the layers that need
    a hook, or if `rotate` does not undo the block's rotation: then the model would keep some of it.
    """
    _reads_two_lengths(block)
    called: set[str] = set()
    if part == "rotation":
        needed = _without_rotation(block, _back(rotate, d_head), called)
    elif part == "norm":
        needed = _without_norm(block, called)
    elif part == "gate":
        needed = _without_gate(block, called)
    else:
        return block
    with torch.no_grad():
        block(torch.ones(1, 2, block.W_O.out_features))
    if missing := needed - called:
        raise ValueError(f"your block does not call {', '.join(sorted(missing))}, so nothing can be undone there")
    if part == "rotation" and not _is_blind_to_order(block):
        raise ValueError(
            "your rotate does not undo what your block does: one of the two turns another way, perhaps below position 0"
        )
    return block


def _reads_two_lengths(block: Any) -> None:
    """Raise `ValueError` if the block reads a text, but not a longer one after it."""
    width = block.W_O.out_features
    with torch.no_grad():
        block(torch.ones(1, 2, width))
        try:
            block(torch.ones(1, 5, width))
        except RuntimeError as error:
            raise ValueError(
                "your block reads a text of 2 words, but not one of 5 words after it. Does it keep something of the"
                " first text, such as a mask, or cos and sin?"
            ) from error


def _is_blind_to_order(block: Any) -> bool:
    """True if the order of the earlier words does not change the last output, so that no rotation is left."""
    words = torch.randn(1, LONGEST, block.W_O.out_features, generator=torch.Generator().manual_seed(0))
    reordered = torch.cat([words[:, :-1].flip(1), words[:, -1:]], dim=1)
    trains = block.training
    block.eval()
    with torch.no_grad():
        first, second = block(3 * words)[:, -1], block(3 * reordered)[:, -1]
    block.train(trains)
    return bool(torch.allclose(first, second, rtol=1e-3, atol=1e-3))


def _back(rotate: Callable[..., Any], d_head: int) -> torch.Tensor:
    """The matrix that undoes the rotation at each position, (LONGEST, d_head, d_head)."""
    unit = np.repeat(np.eye(d_head)[:, np.newaxis], LONGEST, axis=1)  # (d_head, LONGEST, d_head)
    return torch.tensor(rotate(unit, -np.arange(LONGEST)), dtype=torch.float32).transpose(0, 1)


def _without_rotation(block: Any, back: torch.Tensor, called: set[str]) -> set[str]:
    d_head, names = back.shape[-1], {"W_Q", "W_K"}

    def rotated_back(name: str) -> Callable[..., torch.Tensor]:
        def hook(layer: nn.Module, given: Any, projected: torch.Tensor) -> torch.Tensor:
            called.add(name)
            heads = projected.unflatten(-1, (-1, d_head))  # (B, L, heads, d_head)
            return torch.einsum("blhd,lde->blhe", heads, back[: heads.shape[1]]).flatten(-2)

        return hook

    for name in names:
        getattr(block, name).register_forward_hook(rotated_back(name))
    return names


def _without_norm(block: Any, called: set[str]) -> set[str]:
    came_in: list[torch.Tensor] = []  # the block's words, (B, L, d_model)
    size: dict[str, torch.Tensor] = {}  # the size of each word's vector before a branch's norm, (B, L, 1)

    def comes_in(layer: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        came_in[:] = given[:1]
        size["attention"] = _size(given[0])

    def attended(layer: nn.Module, given: Any, added: torch.Tensor) -> None:
        called.add("W_O")
        size["feed-forward"] = _size(came_in[0] + added)

    def as_large_as_before(branch: str, name: str) -> Callable[..., tuple[torch.Tensor, ...]]:
        def hook(layer: nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            called.add(name)
            return (given[0] * size[branch],)

        return hook

    block.register_forward_pre_hook(comes_in)
    block.W_O.register_forward_hook(attended)
    for branch, names in BRANCHES.items():
        for name in names:
            getattr(block, name).register_forward_pre_hook(as_large_as_before(branch, name))
    return {"W_O"}.union(*BRANCHES.values())


def _size(x: torch.Tensor) -> torch.Tensor:
    return torch.sqrt((x**2).mean(dim=-1, keepdim=True) + EPS)


def _without_gate(block: Any, called: set[str]) -> set[str]:
    def open_wide(layer: nn.Module, given: Any, projected: torch.Tensor) -> torch.Tensor:
        called.add("W_up")
        return torch.ones_like(projected)

    block.W_up.register_forward_hook(open_wide)
    return {"W_up"}
