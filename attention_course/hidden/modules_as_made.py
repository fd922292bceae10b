"""A student's `nn.Module` with its initial weights: whether it can learn, and whether its heads differ.

No exercise of this course asks for a certain gain, so initial weights may be small or large, and one layer may begin at
zero.
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
LARGEST = 100  # number in an output for input of ordinary size
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
    """Fails unless a new module gives ordinary float32 numbers, each branch has a gradient, and no two heads are alike.

    branches: the names of each branch's matrices; the first branch begins with W_Q and W_O
    last: the matrix that all branches lead to, if there is one. It may begin at zero, because it still has a gradient
    """
    got = module.function.run(module.construct, {}, arg, seeds=[seed], training=False)
    output = got.value[0] if isinstance(got.value, tuple) and got.value else got.value
    expect_ordinary(output, "output")
    gradients, names = gradients_by_name(got, weights)
    dead = without_gradient(gradients, branches)
    if last and begins_at_zero(expect.tensor(output)) and gradients[last].any():
        after_a_step = {names.get(last, last): tensor(-gradients[last])}
        got = module.function.run(module.construct, after_a_step, arg, seeds=[seed], training=False)
        gradients, _ = gradients_by_name(got, weights)
        dead = without_gradient(gradients, branches)
    if dead:
        expect.fail(f"as it is made, no parameter of {dead[0]} has a gradient other than zero.", HINT)
    W_Q, W_O = (gradients[name] for name in branches[0][:2])
    expect_heads_apart([np.split(W_Q, heads), np.split(W_O, heads, axis=1)])


def begins_at_zero(output: np.ndarray) -> bool:
    """True if all weights of the last layer are zero: then the output is its bias at every position."""
    return bool((output == output.reshape(-1, output.shape[-1])[0]).all())


def expect_ordinary(part: Any, name: str) -> None:
    """Fails unless an output of a new module is float32, finite, and of ordinary size."""
    expect.dtype(expect.tensor(part), np.float32, HINT, f"as it is made, the {name}")
    expect.finite(part, HINT, f"as it is made, the {name}")
    if np.abs(expect.tensor(part)).max() > LARGEST:
        expect.fail(f"as it is made, the {name} has a number above {LARGEST}, for words of ordinary size.", HINT)


def expect_heads_apart(of_heads: Sequence[Sequence[np.ndarray]]) -> None:
    """Fails if two heads have the same gradients. `of_heads` has one list a matrix, with the gradient of each head.

    Matrices whose gradients are all zero are ignored.
    """
    nonzero = [gradients for gradients in of_heads if any(map(np.any, gradients))]
    for i, j in itertools.combinations(range(len(of_heads[0]) if nonzero else 0), 2):
        if all(np.allclose(gradients[i], gradients[j], atol=1e-6) for gradients in nonzero):
            expect.fail(f"as it is made, heads {i} and {j} are alike, and each step would change them alike.", HINT)


def without_gradient(gradients: Matrices, branches: Sequence[Sequence[str]]) -> list[str]:
    """The first matrix of each branch that no gradient reaches."""
    return [names[0] for names in branches if not any(gradients[name].any() for name in names)]


def gradients_by_name(got: Gradients, weights: Weights) -> tuple[Matrices, Mapping[str, str]]:
    """The gradients under the names asked for, zeros if there is none; and the student's name of each."""
    parameters: Mapping[str, Any] = got.parameters
    found = {name: gradient.numpy() for name, gradient in parameters.items() if hasattr(gradient, "detach")}
    wanted = {name: value.shape for name, value in weights.items()}
    names = student_names(wanted, {name: gradient.shape for name, gradient in found.items()})
    return {name: found.get(names.get(name, name), np.zeros(shape)) for name, shape in wanted.items()}, names
