"""Find implementations of attention and convolution in PyTorch and NumPy that `course.toml` does not remove.

    python -m tools.find_ready_made

This takes half a minute. The exit code is 1 if something is not removed. Nobody remembers every name, so the search
walks all modules that can be imported, and all operators of PyTorch's dispatcher. Whatever has a suspect name, module
or signature is called with small inputs, and is a built-in implementation if it computes attention or a convolution.
The calls are then repeated in a process in which `course.toml` has removed what it names.

Suspects that cannot be called here (other devices, packed weights) are counted, and removed by their names alone.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import itertools
import json
import math
import os
import pkgutil
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import msgspec

from autograder.content import course_folder, sandbox_setting
from cellcage.inside import removal
from cellcage.protocol.messages import Forbidden
from tools.ready_made_worlds import World, attention_worlds, convolution_worlds

PACKAGES = ("numpy", "torch")
# Importing these has effects: they are programs, or need a graphics card.
NOT_IMPORTED = re.compile(r"\.__main__|\.tests?\.|torch\.distributed\.(launch|run)$|\.f2py\.|\.distutils\.|hipify")
SUSPECT = re.compile(r"attention|attn|mha|sdp|encoder_?layer|decoder_?layer|conv(?!e[rx])|correlat|polymul", re.I)
QUERY_KEY_VALUE = re.compile(r"^(q|query|querys|queries)\W.*\b(k|key|keys)\W.*\b(v|value|values)\b", re.I)
SECONDS = 10  # for all calls of one suspect
AT_ONCE = 32  # suspects that share a process
MOST = 64  # calls of one suspect with the arguments of one world


@dataclass(frozen=True)
class Suspect:
    """Something to call: a member of a module, or an operator of the dispatcher."""

    place: str
    name: str
    call: Callable[..., Any]
    parameters: tuple[tuple[str, Any], ...]  # name and default; `inspect.Parameter.empty` for none
    is_class: bool = False

    @property
    def full(self) -> str:
        """The qualified name."""
        return f"{self.place}::{self.name}" if self.place in _spaces() else f"{self.place}.{self.name}"


@dataclass(frozen=True)
class Found:
    """A built-in implementation, and whether `course.toml` removes it."""

    name: str
    what: str  # "attention" or "convolution"
    covered: bool


def search(setting: Mapping[str, Any]) -> tuple[list[Found], int]:
    """The built-in implementations, found by their behaviour, and the number of suspects. Takes half a minute.

    setting: see `autograder.content.sandbox_setting`
    """
    import torch

    torch.set_num_threads(1)
    modules = list(import_all())
    hidden = {place for place in modules if _is_hidden(place, setting["forbidden"]["hidden"])}
    suspects = [*_in_modules(modules), *_operators()]
    before = _behaviour(suspects)
    again = [one for one in suspects if one.full in before]
    after = _in_child(lambda: _without(setting, again))
    if after is None:
        raise RuntimeError("the process that is like the students' did not come to its end")
    found = [
        Found(one.full, before[one.full], one.full not in after or one.place in hidden)
        for one in sorted(again, key=lambda one: one.full)
    ]
    return found, len(suspects)


def _without(setting: Mapping[str, Any], suspects: Sequence[Suspect]) -> dict[str, str]:
    """The behaviour of `suspects` in a process without the forbidden functions, as students have it."""
    forbidden = msgspec.convert(setting["forbidden"], Forbidden)
    removal.remove_forbidden(forbidden)
    for what in forbidden.where_watched.values():
        removal.remove_forbidden(what)
    return _behaviour(suspects)


def _is_hidden(place: str, patterns: Sequence[str]) -> bool:
    """True if the file of a module is empty for student code."""
    path = getattr(sys.modules[place], "__file__", None) or ""
    return any(fnmatch(path, "*/site-packages/" + pattern) for pattern in patterns)


# ---------------------------------------------------------------- suspects


def import_all() -> Iterator[str]:
    """The names of all modules of PyTorch and NumPy that can be imported here."""
    warnings.simplefilter("ignore")
    for package in map(importlib.import_module, PACKAGES):
        yield package.__name__
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=lambda name: None):
            if not NOT_IMPORTED.search(info.name):
                with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
                    importlib.import_module(info.name)
                    yield info.name


def _in_modules(places: Sequence[str]) -> Iterator[Suspect]:
    """Each function and `nn.Module` with a suspect name, module or signature, once."""
    import torch

    seen = set[int]()
    for place in places:
        for name, value in sorted(vars(sys.modules[place]).items(), key=lambda item: item[0]):
            if id(value) in seen or inspect.ismodule(value) or not callable(value):
                continue
            if not isinstance(value, type):
                if _is_suspect(place, name, value):
                    seen.add(id(value))
                    yield Suspect(place, name, value, _parameters(value))
            elif issubclass(value, torch.nn.Module) and SUSPECT.search(name):
                seen.add(id(value))
                yield Suspect(place, name, value, _parameters(value), is_class=True)


def _is_suspect(place: str, name: str, value: Any) -> bool:
    if SUSPECT.search(f"{place.rpartition('.')[2]}.{name}"):
        return True
    return bool(QUERY_KEY_VALUE.match(" ".join(f"{key} " for key, _ in _parameters(value))))


def _operators() -> Iterator[Suspect]:
    """Operators of PyTorch's dispatcher."""
    import torch

    for full in sorted(torch._C._dispatch_get_all_op_names()):
        space, _, name = full.partition("::")
        if SUSPECT.search(name):
            with contextlib.suppress(AttributeError, RuntimeError):
                base, _, overload = name.partition(".")
                operator = getattr(getattr(getattr(torch.ops, space), base), overload or "default")
                arguments = operator._schema.arguments
                empty = inspect.Parameter.empty
                known = [(one.name, one.default_value if one.has_default_value() else empty) for one in arguments]
                yield Suspect(space, name, operator, tuple(known))


def _spaces() -> frozenset[str]:
    """The dispatcher's namespaces."""
    import torch

    return frozenset(full.partition("::")[0] for full in torch._C._dispatch_get_all_op_names())


def _parameters(value: Any) -> tuple[tuple[str, Any], ...]:
    """Names and defaults; empty for most C functions, which have no signature."""
    try:
        listed = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple((one.name, one.default) for one in listed if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD))


# ---------------------------------------------------------------- behaviour


def _in_child(work: Callable[[], dict[str, str]]) -> dict[str, str] | None:
    """The result of `work` in a forked process, which may change anything; None if it crashes."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException), os.fdopen(write, "w") as pipe:
            pipe.write(json.dumps(work()))
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return dict(json.loads(text)) if text else None


def _behaviour(suspects: Sequence[Suspect]) -> dict[str, str]:
    """ "attention" or "convolution" for each suspect that computes it."""
    found: dict[str, str] = {}
    for start in range(0, len(suspects), AT_ONCE):
        found |= _of_some(suspects[start : start + AT_ONCE])
    return found


def _of_some(suspects: Sequence[Suspect]) -> dict[str, str]:
    """Call many suspects in one process, because forking takes longer than calling. After a crash, try each half."""
    found = _in_child(lambda: _silently(suspects))
    if found is not None or len(suspects) == 1:
        return found or {}
    half = len(suspects) // 2
    return _of_some(suspects[:half]) | _of_some(suspects[half:])


def _silently(suspects: Sequence[Suspect]) -> dict[str, str]:
    """Call `suspects` in this process, without output. The process ends if one of them takes too long."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    return {one.full: what for one in suspects if (what := _computes(one))}


def _computes(suspect: Suspect) -> str:
    signal.alarm(SECONDS)
    return _layer_computes(suspect) if suspect.is_class else _function_computes(suspect)


def _function_computes(suspect: Suspect) -> str:
    """ "attention" or "convolution" if a function returns its numbers, in whatever order; else empty."""
    import torch

    for world in (*attention_worlds(), *convolution_worlds()):
        for args, kwargs in itertools.islice(_arguments(suspect, world), MOST):
            # An error only means that these were not the right arguments.
            with contextlib.suppress(Exception), torch.no_grad():
                if any(_same(one, wanted) for one in _arrays(suspect.call(*args, **kwargs)) for wanted in world.wanted):
                    return world.what
    return ""


def _layer_computes(suspect: Suspect) -> str:
    """ "attention" or "convolution" if positions of an `nn.Module` influence each other.

    Its weights are random, so its output cannot be compared with known numbers.
    """
    import torch

    convolves = re.search("conv", suspect.name, re.I) is not None
    sizes = [(4, 3, 3)] if convolves else [(4, 1), (4, 2), (4, 2, 8)]
    shapes = [(1, 4, *[9] * axes) for axes in (1, 2, 3)] if convolves else [(2, 5, 4)]
    for size, shape, times in itertools.product(sizes, shapes, (1, 2, 3)):
        with contextlib.suppress(Exception), torch.no_grad():
            layer, x = suspect.call(*size).eval(), torch.linspace(-1, 1, math.prod(shape)).cos().reshape(shape)
            (first, *_), moved = _arrays(layer(*[x] * times)), x.clone()
            moved[(0, ..., 4) if convolves else (0, 0)] += 1
            (second, *_) = _arrays(layer(*[moved] * times))
            places = (first != second).reshape(-1, first.shape[-1]).sum()
            if places > first.shape[1 if convolves else -1]:
                return "convolution" if convolves else "attention"
    return ""


def _arguments(suspect: Suspect, world: World) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Ways to call it: with the first arguments alone, or with a value for each parameter that has no default."""
    yield world.first, {}
    needed = [name for name, default in suspect.parameters if default is inspect.Parameter.empty]
    choices = [_values_for(name, world) for name in needed]
    for values in itertools.product(*choices):
        yield values, {}
    for values in itertools.product(*choices[len(world.first) :]):
        yield (*world.first, *values), {}


def _values_for(name: str, world: World) -> tuple[Any, ...]:
    return next((values for pattern, values in world.by_name if re.search(pattern, name, re.I)), (None,))


def _arrays(value: Any) -> list[Any]:
    """The tensors and arrays in an answer, as NumPy arrays."""
    import numpy as np

    values = list(value) if isinstance(value, tuple | list) else [value]
    dense = [one.to_dense() if getattr(one, "is_mkldnn", False) else one for one in values]
    return [np.asarray(one, dtype=float) for one in dense if hasattr(one, "shape") and math.prod(one.shape) > 1]


def _same(got: Any, wanted: Any) -> bool:
    """True if both hold the same numbers, whatever the order of the axes."""
    import numpy as np

    wanted = np.asarray(wanted, dtype=float)
    if got.size != wanted.size:
        return False
    return bool(np.allclose(np.sort(got, axis=None), np.sort(wanted, axis=None), rtol=1e-3, atol=1e-4))


def main() -> int:
    """Print the findings and return the exit code."""
    found, suspects = search(sandbox_setting(course_folder(Path(__file__).resolve().parents[1])))
    for one in found:
        print(f"{'taken out' if one.covered else 'NOT TAKEN OUT':<15}{one.what:<13}{one.name}")
    left = sum(not one.covered for one in found)
    print(f"{suspects} names are suspect, {len(found)} of them do it, {left} are not taken out")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
