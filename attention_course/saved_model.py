"""A saved model that came with a submission: read as data, and judged by what it writes.

The file is untrusted, so it is only ever parsed (safetensors, a format for numbers alone), never run. Its numbers go
into a decoder of the course's own, and that summarises news which nobody has trained on. No student code is involved,
and nothing is trained. What comes of it is a sentence: it brings no points and costs none.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autograder.testing import MODEL, ModelFile, ModelPlan, one_line

from .helpers import news

ITEMS = 200
SEED = 20191216  # another draw than the students'
NO_POINTS = "It brings no points and costs none."
AGAIN = "Save it again with the notebook's own cell, and hand in the file that it writes."
SAME_SIZES = "Train with the sizes and the names of members that the notebook gives, and save again."
OWN_CODE = "own_code"  # beside the weights: the logits after `news.PROBE`, by the code that trained them
OTHER_CODE = (
    "Your own code makes other logits of these numbers than the course's decoder, with which this was counted: "
    "do your classes pass the checks of assignments 4 and 5?"
)
LONGEST = 60  # characters of a tensor's name that are shown


class Unusable(Exception):
    """The file cannot be judged; the text is the reason and the next step."""


def sentence(file: ModelFile, plan: ModelPlan, module: ModuleType) -> str:
    """How many held-out items the saved model summarises exactly, or why that cannot be said. Never raises.

    plan, module: the assignment's; the decoder is `module`'s class of the plan's name
    """
    if file.problem:
        end = "" if file.problem.endswith("?") else "."
        return one_line(f"Saved model: {file.problem}{end} {AGAIN} {NO_POINTS}")
    try:
        right, alike = _count(file.data, plan, module)
        said = f"{right} of {ITEMS} held-out items summarised exactly." + ("" if alike else f" {OTHER_CODE}")
    except Unusable as error:
        said = f"{MODEL} could not be used: {error}"
    except Exception as error:  # a bug of the kit's: shown in full, and no reason to lose a mark
        traceback.print_exc()
        said = f"the grader itself failed over {MODEL} ({type(error).__name__}); not your fault. Tell your instructor."
    return one_line(f"Saved model: {said} {NO_POINTS}")


def _count(data: bytes, plan: ModelPlan, module: ModuleType) -> tuple[int, bool]:
    """How many are exact, and whether the code that saved the numbers makes the same of them as the course's."""
    weights = parse(data)
    own_code = weights.pop(OWN_CODE, None)
    try:
        import torch
    except ImportError:
        raise _not_here("torch") from None
    with torch.random.fork_rng(devices=[]):  # making a decoder draws random numbers
        model = _filled(weights, plan, module)
        return exact(model, held_out()), own_code is None or _agrees(own_code, model)


def _agrees(own_code: np.ndarray, model: Any) -> bool:
    """Are these the logits that `model` gives after the probe, up to rounding?"""
    import torch

    with torch.inference_mode():
        logits = model(torch.tensor([news.encode(news.PROBE)]))[0, -1].numpy()
    return own_code.shape == logits.shape and bool(np.allclose(own_code, logits, rtol=1e-3, atol=1e-2))


def parse(data: bytes) -> dict[str, np.ndarray]:
    """The arrays in a safetensors file by name. Raises `Unusable` where it is none, whatever the bytes are."""
    try:
        from safetensors.numpy import load
    except ImportError:
        raise _not_here("safetensors") from None
    if not data:
        raise Unusable(f"it is empty. {AGAIN}")
    try:
        return dict(load(data))
    except KeyError as error:  # a dtype that NumPy has not, such as bfloat16
        raise Unusable(f"it holds {error}, where float32 belongs. {SAME_SIZES}") from None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic inside the parser is no `Exception`
        reason = str(error)[:LONGEST] or type(error).__name__
        raise Unusable(f"it is no safetensors file, or not a whole one ({reason}). {AGAIN}") from None


def _filled(weights: Mapping[str, np.ndarray], plan: ModelPlan, module: ModuleType) -> Any:
    """A decoder with these weights: the solution's, or the one of PyTorch's layers if the names are that one's.

    Raises `Unusable` where they fit neither.
    """
    import torch

    from .helpers.plain_decoder import PlainDecoder

    sizes = {"vocab_size": len(news.WORDS), **plan.sizes}
    plain = PlainDecoder(**sizes)
    model = plain if weights.keys() == dict(plain.named_parameters()).keys() else getattr(module, plan.made_of)(**sizes)
    # Buffers, such as positions, are the decoder's own: whoever saves them, too, is not wrong.
    own = {name for name, _ in model.named_buffers()}
    learnt = {name: array for name, array in weights.items() if name not in own}
    _check(learnt, {name: tuple(parameter.shape) for name, parameter in model.named_parameters()})
    # A copy, since the arrays are views of bytes that must not be written to.
    model.load_state_dict({name: torch.tensor(array) for name, array in learnt.items()}, strict=False)
    return model.eval()


def _check(weights: Mapping[str, np.ndarray], wanted: Mapping[str, tuple[int, ...]]) -> None:
    """Names, shapes, dtype and finite numbers. Raises `Unusable` with the first thing that is not in order."""
    missing = [name for name in wanted if name not in weights]
    unknown = sorted(name for name in weights if name not in wanted)
    if missing or unknown:
        lacks, has = f"it lacks {_some(missing)}", f"the course's decoder has no {_some(unknown)}"
        raise Unusable(f"{', and '.join([lacks] * bool(missing) + [has] * bool(unknown))}. {SAME_SIZES}")
    for name, shape in wanted.items():
        array = weights[name]
        if array.shape != shape:
            raise Unusable(f"{name} has the shape {array.shape} in place of {shape}. {SAME_SIZES}")
        if array.dtype != np.float32:
            raise Unusable(f"{name} is {array.dtype}, where float32 belongs. {SAME_SIZES}")
        if not np.isfinite(array).all():
            raise Unusable(f"{name} holds NaN or infinity. Does the loss curve go astray? Train and save again.")


def _some(names: Sequence[str]) -> str:
    """The first two names, and how many more there are."""
    shown = ", ".join(name[:LONGEST] for name in names[:2])
    return shown + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _not_here(package: str) -> Unusable:
    return Unusable(f"the package {package} is missing where it was graded. Nothing is lost; tell your instructor.")


@functools.cache
def held_out() -> tuple[news.Item, ...]:
    """News that is not among what students train on or look at; the same each time."""
    seen = {item.summary for part in news.items() for item in part}
    drawn, _ = news.items(3 * ITEMS, 0, SEED)  # three in ten have been seen
    return tuple(item for item in drawn if item.summary not in seen)[:ITEMS]


def exact(model: Any, items: Sequence[news.Item]) -> int:
    """How many summaries `model` writes word for word, up to the end, when it always takes the likeliest next token.

    model: takes int64 ids, (B, L), and gives logits, (B, L, V); causal

    It writes the right summary exactly if, after each beginning of the right text, the likeliest token is the right
    next one. So a single reading of the right texts answers for all places at once, and nothing is written.
    """
    import torch

    texts = [[*news.encode(item.article), news.SEPARATOR_ID] for item in items]
    summaries = [[*news.encode(item.summary), news.END_ID] for item in items]
    L = max(len(text) + len(summary) for text, summary in zip(texts, summaries, strict=True))
    ids = torch.full((len(items), L), news.PADDING_ID)  # filled up at the end, where no real token looks
    judged = torch.zeros(len(items), L, dtype=torch.bool)
    for row, (text, summary) in enumerate(zip(texts, summaries, strict=True)):
        end = len(text) + len(summary)
        ids[row, :end] = torch.tensor(text + summary)
        judged[row, len(text) : end] = True
    with torch.inference_mode():
        likeliest = model(ids).argmax(-1)  # (B, L): what follows each place
    wrong = (likeliest[:, :-1] != ids[:, 1:]) & judged[:, 1:]
    return int((~wrong.any(-1)).sum())
