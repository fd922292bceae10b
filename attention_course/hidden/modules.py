"""A student's `nn.Module` in a suite: made with given sizes, given weights by name, called, and differentiated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.testing import Function, Gradients, Raised, expect

from .inputs import normal, tensor
from .parameter_names import Shapes, expect_names, student_names

UNKNOWN = "the module has no parameter"  # what a name that does not fit raises
ANOTHER_SIZE = "it should be"  # in the words of what a parameter of another shape raises
IN_TRAINING = "In eval() it is another one. Which step asks for that? What does the docstring say of dropout?"
Weights = Mapping[str, np.ndarray]


class Module:
    """A student's module with given sizes, called with weights by name and the arguments of `forward`.

    Where names differ, layers are found by kind, shape and order. A missing bias or norm is left out. One test judges
    all that, and it costs no other. It is asked in `eval()`, so that a dropout costs the one test that asks in
    `train()`.
    """

    def __init__(self, function: Function, *construct: Any) -> None:
        self.function, self.construct = function, construct
        self.shapes: Shapes = {}  # asked for where a name does not fit

    def with_extras_zeroed(self, weights: Weights) -> Module:
        """The same; parameters that none of `weights` is for are zero, where by chance they would be anything."""
        shapes = self.function.build(*self.construct)
        if len(shapes) > len(weights):
            self.shapes = shapes
        return self

    def run(
        self, weights: Weights, *args: np.ndarray, dtype: Any = np.float32, training: bool = False, **more: Any
    ) -> Gradients:
        """What `Function.run` gives back; floating weights in `dtype`, arguments by keyword too.

        training: is it asked in `train()`?
        """
        more["training"] = training
        try:
            return self.function.run(self.construct, self.named(weights, dtype), *map(tensor, args), **more)
        except Raised as error:
            if self.shapes or not (UNKNOWN in str(error) or ANOTHER_SIZE in str(error)):
                raise
            self.shapes = self.function.build(*self.construct)
            return self.function.run(self.construct, self.named(weights, dtype), *map(tensor, args), **more)

    def named(self, weights: Weights, dtype: Any) -> dict[str, Any]:
        """`weights` as tensors under the student's names; a row too many there, or too few, costs no other test."""
        found = {own: weights[name].astype(dtype) for name, own in self.names(weights).items()}
        more = {own: np.zeros(shape, dtype) for own, shape in self.shapes.items() if own not in found}
        given = {own: self.fitted(value, self.shapes.get(own, value.shape)) for own, value in found.items()} | more
        return {own: tensor(value) for own, value in given.items()}

    def fitted(self, value: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """`value` with a row more, of zeros, or a row less, as the student's parameter has."""
        more = shape[0] - len(value) if len(shape) == value.ndim and tuple(shape[1:]) == value.shape[1:] else 0
        if abs(more) > 1:
            return value
        return value[: shape[0]] if more <= 0 else np.pad(value, [(0, more), *[(0, 0)] * (value.ndim - 1)])

    def names(self, weights: Weights) -> dict[str, str]:
        """The student's names of the parameters; matrices that are missing keep theirs, for a message to name."""
        if not self.shapes:
            return {name: name for name in weights}
        own = student_names({name: value.shape for name, value in weights.items()}, self.shapes)
        return own | {name: name for name, value in weights.items() if name not in own and value.ndim > 1}

    def expect_names(self, weights: Weights) -> None:
        """The members have the names that were asked for, as far as they are there; within `feed_forward`, any."""
        own = {n: o for n, o in self.names(weights).items() if not ("feed_forward." in n and "feed_forward." in o)}
        expect_names(own, "Under which names does the exercise ask for the layers?")

    def value(self, weights: Weights, *args: np.ndarray, **more: Any) -> np.ndarray:
        """What `forward` gives, as numbers; of a tuple the first, since one test judges that already."""
        got = self.run(weights, *args, **more).value
        return expect.tensor(got[0] if isinstance(got, tuple) and got else got)


def with_any_weights(module: Module, weights: Weights, *args: np.ndarray, **more: Any) -> Any:
    """What `forward` gives as it comes, also where members have other names: then with zeros in those that fit."""
    try:
        return module.run(weights, *args, **more).value
    except Raised as error:
        if UNKNOWN not in str(error):
            raise
        return module.run({n: 0 * v for n, v in weights.items() if n in module.shapes}, *args, **more).value


def expect_parameters(shapes: Shapes, wanted: Weights, hint: str) -> None:
    """The module's parameters are the wanted ones: as many of each shape, under any name."""
    found = sorted(map(tuple, shapes.values()))
    if found == sorted(value.shape for value in wanted.values()):
        return
    total, right = (sum(math.prod(shape) for shape in group) for group in (found, [v.shape for v in wanted.values()]))
    missing = [name for name in wanted if name not in shapes and "feed_forward" not in name]
    extra = [name for name in shapes if name not in wanted and "feed_forward" not in name]
    text = f"it has {len(found)} parameters with {total} numbers in all; {right} are to be learnt"
    text += f"; missing: {', '.join(missing[:3])}" if missing else ""
    text += f"; not asked for: {', '.join(extra[:3])}" if extra else ""
    expect.fail(f"{text}.", hint)


def same_each_time(first: np.ndarray, again: np.ndarray) -> None:
    """The same question gets the same answer: no noise, no dropout, nothing kept."""
    if not np.allclose(first, again, rtol=1e-5, atol=1e-6, equal_nan=True):
        expect.fail("the same arguments give another result each time.")


def same_in_training(module: Module, weights: Weights, *args: np.ndarray) -> None:
    """In `train()` it gives what it gives in `eval()`."""
    trained = module.value(weights, *args, training=True)
    expect.close(trained, module.value(weights, *args), IN_TRAINING, "in train(), the output", 1e-4)


def keeps_nothing(module: Module, weights: Weights, x: np.ndarray, padding: np.ndarray, hint: str) -> None:
    """A call with padding leaves nothing behind for the next one, which has none. Where it raises, that is so."""
    alone = module.value(weights, x)
    try:
        later = module.value(weights, x, after=[tensor(x), tensor(padding)])
    except Raised:
        return
    if later.shape != alone.shape or not np.allclose(later, alone, rtol=1e-4, atol=1e-4, equal_nan=True):
        expect.fail("called with padding and then without, it gives another output than without.", hint)


def gradients_reach(module: Module, weights: Weights, args: Sequence[np.ndarray], seed: np.ndarray, hint: str) -> None:
    """Every parameter and every floating argument has a gradient, and together they are the slope of the function."""
    got = module.run(weights, *args, dtype=np.float64, seeds=[tensor(seed)])
    expect.shape(got.value, seed.shape)
    floating = [i for i, arg in enumerate(args) if arg.dtype.kind == "f"]
    gradients = {f"argument {i + 1}" if i else "x": got.inputs[i] for i in floating if i < len(got.inputs)}
    names = module.names(weights)
    gradients |= {name: got.parameters.get(own) for name, own in names.items()}
    for name, gradient in gradients.items():
        if not hasattr(gradient, "detach"):
            expect.fail(f"no gradient reaches {name}.", hint)
        expect.finite(gradient, hint, f"the gradient of {name}")
        if not np.any(gradient.numpy()):
            expect.fail(f"the gradient of {name} is all zeros.", hint)
    steps = {name: normal(900 + i, *weights[name].shape) for i, name in enumerate(names)}
    moves = [normal(960 + i, *arg.shape) * (arg.dtype.kind == "f") for i, arg in enumerate(args)]
    flowing = sum(float((gradients[name].numpy() * step).sum()) for name, step in steps.items())
    flowing += sum(float((got.inputs[i].numpy() * moves[i]).sum()) for i in floating)

    def slope(size: float) -> float:
        """The slope of sum(output * seed) when everything moves at once."""
        sides = []
        for sign in (size, -size):
            moved = {name: value + sign * steps.get(name, 0) for name, value in weights.items()}
            shifted = [a + sign * m if a.dtype.kind == "f" else a for a, m in zip(args, moves, strict=True)]
            sides.append(float((module.value(moved, *shifted, dtype=np.float64) * seed).sum()))
        return (sides[0] - sides[1]) / (2 * size)

    # Honest float64 agrees to 1e-7 at the fine step; code that turns to float32 inside shows its slope at the coarse.
    for size, relative in ((1e-6, 1e-4), (1e-3, 2e-2)):
        if abs(flowing - slope(size)) <= relative * abs(flowing) + 1e-4:
            return
    expect.fail("the gradients are not the slope of the function.", hint)
