"""A student's `nn.Module` with the weights that it begins with: can it learn, and is no head like another?

A text may ask for more; no text of this course asks for a gain, so weights may be small or large, and one layer may
begin at zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.testing import Gradients, expect

from .inputs import tensor
from .modules import Module, Weights
from .parameter_names import student_names

HINT = "What do you do with the numbers that nn.Linear begins with?"
LARGEST = 100  # of an answer to words of ordinary size
Matrices = Mapping[str, np.ndarray]


def begins_well(
    module: Module,
    weights: Weights,
    arg: Any,
    seed: Any,
    heads: int,
    branches: Sequence[Sequence[str]],
    last: str | None = None,
) -> None:
    """As it is made: float32, ordinary numbers, a gradient in each branch, and heads that steps change differently.

    branches: for each the names of its matrices; those of the first are W_Q and W_O
    last: the matrix that all branches lead to, if there is one. It may begin at zero, for its own gradient is another
    """
    got = module.function.run(module.construct, {}, arg, seeds=[seed], training=False)
    output = got.value[0] if isinstance(got.value, tuple) and got.value else got.value
    expect_ordinary(output, "output")
    gradients, names = found_in(got, weights)
    dead = without_gradient(gradients, branches)
    if last and begins_at_zero(expect.tensor(output)) and gradients[last].any():
        after_a_step = {names.get(last, last): tensor(-gradients[last])}
        got = module.function.run(module.construct, after_a_step, arg, seeds=[seed], training=False)
        gradients, _ = found_in(got, weights)
        dead = without_gradient(gradients, branches)
    if dead:
        expect.fail(f"as it is made, no parameter of {dead[0]} has a gradient other than zero.", HINT)
    W_Q, W_O = (gradients[name] for name in branches[0][:2])
    expect_heads_apart([np.split(W_Q, heads), np.split(W_O, heads, axis=1)])


def begins_at_zero(output: np.ndarray) -> bool:
    """Has the last layer no weight other than zero? Then its bias is all that comes out, of every word."""
    return bool((output == output.reshape(-1, output.shape[-1])[0]).all())


def expect_ordinary(part: Any, name: str) -> None:
    """What a module gives as it is made: float32, finite, and of ordinary size."""
    expect.dtype(expect.tensor(part), np.float32, HINT, f"as it is made, the {name}")
    expect.finite(part, HINT, f"as it is made, the {name}")
    if np.abs(expect.tensor(part)).max() > LARGEST:
        expect.fail(f"as it is made, the {name} has a number above {LARGEST}, for words of ordinary size.", HINT)


def expect_heads_apart(of_heads: Sequence[Sequence[np.ndarray]]) -> None:
    """No two heads have the same gradients; for each matrix, those of each head. Zeros tell nothing."""
    telling = [own for own in of_heads if any(map(np.any, own))]
    for i, j in itertools.combinations(range(len(of_heads[0]) if telling else 0), 2):
        if all(np.allclose(own[i], own[j], atol=1e-6) for own in telling):
            expect.fail(f"as it is made, heads {i} and {j} are alike, and each step would change them alike.", HINT)


def without_gradient(gradients: Matrices, branches: Sequence[Sequence[str]]) -> list[str]:
    """The first name of each branch that no gradient reaches."""
    return [names[0] for names in branches if not any(gradients[name].any() for name in names)]


def found_in(got: Gradients, weights: Weights) -> tuple[Matrices, Mapping[str, str]]:
    """The gradients by the names that were asked for, zeros where there is none; and the student's names."""
    came: Mapping[str, Any] = got.parameters
    own = {name: gradient.numpy() for name, gradient in came.items() if hasattr(gradient, "detach")}
    names = student_names({name: value.shape for name, value in weights.items()}, {n: g.shape for n, g in own.items()})
    return {name: own.get(names.get(name, name), np.zeros(value.shape)) for name, value in weights.items()}, names
