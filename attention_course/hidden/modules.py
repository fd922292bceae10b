"""A student's `nn.Module` in hidden tests: built, filled with weights by name, called, and differentiated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograder.testing import Function, Gradients, Raised, expect

from .inputs import normal, tensor
from .parameter_names import Shapes, expect_names, student_names
from .properties import FIRST_NAN

UNKNOWN = "the module has no parameter"  # part of the error if there is no parameter of that name
ANOTHER_SIZE = "it should be"  # part of the error if a parameter has another shape
IN_TRAINING = "In eval() it is another one. Which step asks for that? What does the docstring say of dropout?"
Weights = Mapping[str, np.ndarray]


class Module:
    """A student's module of given sizes, called with weights by name and with the arguments of `forward`.

    Layers with other names than asked for are found by kind, shape and order. Missing biases and norms are left out.
    One test judges all that, so the others accept it. The module runs in `eval()`, so that dropout costs only the one
    test that uses `train()`.
    """

    def __init__(self, function: Function, *construct: Any) -> None:
        self.function, self.construct = function, construct
        self.shapes: Shapes = {}  # the student's parameters; read once a name does not fit
        self.keeps_extras = False

    def with_extras_settled(self, weights: Weights, *args: np.ndarray) -> Module:
        """The same module. Parameters with no counterpart in `weights` become zero, if they start random.

        Those that start alike each time, such as positions by a formula, stay as they are made.

        args: of a call that shows it
        """
        shapes = self.function.build(*self.construct)
        if len(shapes) > len(weights):
            self.shapes, self.keeps_extras = shapes, True
            first, again = (answer_alone(self, weights, args) for _ in range(2))
            self.keeps_extras = first is not None and again is not None and np.array_equal(first, again)
        return self

    def run(
        self, weights: Weights, *args: np.ndarray, dtype: Any = np.float32, training: bool = False, **kwargs: Any
    ) -> Gradients:
        """The result of `Function.run`, with floating weights in `dtype`. Arguments may also come by keyword.

        training: whether the module runs in `train()`
        """
        kwargs["training"] = training
        try:
            return self.function.run(self.construct, self.named(weights, dtype), *map(tensor, args), **kwargs)
        except Raised as error:
            if self.shapes or not (UNKNOWN in str(error) or ANOTHER_SIZE in str(error)):
                raise
            self.shapes = self.function.build(*self.construct)
            return self.function.run(self.construct, self.named(weights, dtype), *map(tensor, args), **kwargs)

    def named(self, weights: Weights, dtype: Any) -> dict[str, Any]:
        """`weights` as tensors under the student's names. A parameter with one row too many or too few is accepted."""
        found = {actual: weights[name].astype(dtype) for name, actual in self.names(weights).items()}
        fitted = {name: self.fitted(value, self.shapes.get(name, value.shape)) for name, value in found.items()}
        more = {name: shape for name, shape in self.shapes.items() if name not in found and not self.keeps_extras}
        extras = {name: np.zeros(shape, dtype) for name, shape in more.items()}
        return {name: tensor(value) for name, value in (fitted | extras).items()}

    def fitted(self, value: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """`value` with one row of zeros added, or one row removed, if the student's parameter has that shape."""
        missing = shape[0] - len(value) if len(shape) == value.ndim and tuple(shape[1:]) == value.shape[1:] else 0
        if abs(missing) > 1:
            return value
        return value[: shape[0]] if missing <= 0 else np.pad(value, [(0, missing), *[(0, 0)] * (value.ndim - 1)])

    def names(self, weights: Weights) -> dict[str, str]:
        """The student's name of each parameter. A missing matrix keeps its own name, so that a message can name it."""
        if not self.shapes:
            return {name: name for name in weights}
        found = student_names({name: value.shape for name, value in weights.items()}, self.shapes)
        return found | {name: name for name, value in weights.items() if name not in found and value.ndim > 1}

    def expect_names(self, weights: Weights) -> None:
        """Fails unless the members have the names asked for. Inside `feed_forward`, any name is accepted."""
        actual = {n: a for n, a in self.names(weights).items() if not ("feed_forward." in n and "feed_forward." in a)}
        expect_names(actual, "Under which names does the exercise ask for the layers?")

    def value(self, weights: Weights, *args: np.ndarray, **kwargs: Any) -> np.ndarray:
        """The output of `forward` as numbers. A tuple counts as its first item, because another test judges tuples."""
        got = self.run(weights, *args, **kwargs).value
        return expect.tensor(got[0] if isinstance(got, tuple) and got else got)


def with_any_weights(module: Module, weights: Weights, *args: np.ndarray, **kwargs: Any) -> Any:
    """The unchanged output of `forward`. If members have other names than asked for, those that fit are set to zero."""
    try:
        return module.run(weights, *args, **kwargs).value
    except Raised as error:
        if UNKNOWN not in str(error):
            raise
        return module.run({n: 0 * v for n, v in weights.items() if n in module.shapes}, *args, **kwargs).value


def expect_parameters(shapes: Shapes, wanted: Weights, hint: str) -> None:
    """Fails unless the module has the wanted parameters: as many of each shape, under any name."""
    found = sorted(map(tuple, shapes.values()))
    if found == sorted(value.shape for value in wanted.values()):
        return
    actual, expected = (
        sum(math.prod(shape) for shape in group) for group in (found, [v.shape for v in wanted.values()])
    )
    missing = [name for name in wanted if name not in shapes and "feed_forward" not in name]
    extra = [name for name in shapes if name not in wanted and "feed_forward" not in name]
    text = f"it has {len(found)} parameters with {actual} numbers in all; {expected} are to be learnt"
    text += f"; missing: {', '.join(missing[:3])}" if missing else ""
    text += f"; not asked for: {', '.join(extra[:3])}" if extra else ""
    expect.fail(f"{text}.", hint)


def same_each_time(first: np.ndarray, second: np.ndarray) -> None:
    """Fails unless two identical calls gave the same answer: no noise, no dropout, no state."""
    if not np.allclose(first, second, rtol=1e-5, atol=1e-6, equal_nan=True):
        expect.fail("the same arguments give another result each time.")


def same_in_training(module: Module, weights: Weights, *args: np.ndarray) -> None:
    """Fails unless the output in `train()` equals the output in `eval()`."""
    trained = module.value(weights, *args, training=True)
    same_as_evaluated(trained, module.value(weights, *args), "the output", 1e-4)


def same_as_evaluated(trained: np.ndarray, evaluated: np.ndarray, what: str, atol: float) -> None:
    """Fails unless a part of the answer in `train()` equals the one in `eval()`, which must be finite."""
    expect.finite(evaluated, FIRST_NAN, what)
    expect.close(trained, evaluated, IN_TRAINING, f"in train(), {what}", atol)


def keeps_nothing(module: Any, weights: Any, x: np.ndarray, mask: np.ndarray, hint: str) -> None:
    """Fails if an earlier call of the same module changes an answer, or makes the module raise.

    The caller writes into what the earlier call gave. What raises by itself is for other tests.

    module: a `Module`, or anything else whose `value(weights, *args, after=...)` is the output
    mask: the second argument of `forward`, if x is the first
    """
    other, small, one = (np.ascontiguousarray(text) for text in (x[:, ::-1], x[:1, :2], x[:1]))
    turned = np.ascontiguousarray(mask[..., ::-1])
    alone = [answer_alone(module, weights, args) for args in ([x], [small], [one], [x, turned])]
    for before, args, wanted, what in (
        ([x, mask], [x], alone[0], "with a mask and then without"),
        ([other, mask], [x, turned], alone[3], "with another mask before"),
        ([x], [x], alone[0], "twice, with the first result overwritten in between"),
        ([other], [x], alone[0], "with another text before"),
        ([small], [x], alone[0], "with a shorter text before"),
        ([x], [small], alone[1], "with longer texts before"),
        ([one], [x], alone[0], "with one text before, and then with several"),
        ([x], [one], alone[2], "with several texts before, and then with one"),
    ):
        if wanted is None:
            continue
        later = partial(module.value, weights, *args, after=[*map(tensor, before)])
        try:
            got = later()
        except Raised:
            if answer_alone(module, weights, before) is None:
                continue
            got = later()  # raises again, so that the message shows this call
        if got.shape != wanted.shape or not np.allclose(got, wanted, rtol=1e-4, atol=1e-4, equal_nan=True):
            expect.fail(f"called {what}, it gives another output.", hint)


def answer_alone(module: Any, weights: Any, args: Sequence[np.ndarray]) -> np.ndarray | None:
    """The output of a new module; None if it raises."""
    try:
        found: np.ndarray = module.value(weights, *args)
    except Raised:
        return None
    return found


def gradients_reach(module: Module, weights: Weights, args: Sequence[np.ndarray], seed: np.ndarray, hint: str) -> None:
    """Fails unless each parameter and floating argument has a gradient, and together they are the function's slope."""
    got = module.run(weights, *args, dtype=np.float64, seeds=[tensor(seed)])
    expect.shape(got.value, seed.shape)
    floating = [i for i, arg in enumerate(args) if arg.dtype.kind == "f"]
    gradients = {f"argument {i + 1}" if i else "x": got.inputs[i] for i in floating if i < len(got.inputs)}
    names = module.names(weights)
    gradients |= {name: got.parameters.get(actual) for name, actual in names.items()}
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
        """The slope of sum(output * seed) if all parameters and arguments change together."""
        sides = []
        for sign in (size, -size):
            moved = {name: value + sign * steps.get(name, 0) for name, value in weights.items()}
            shifted = [a + sign * m if a.dtype.kind == "f" else a for a, m in zip(args, moves, strict=True)]
            sides.append(float((module.value(moved, *shifted, dtype=np.float64) * seed).sum()))
        return (sides[0] - sides[1]) / (2 * size)

    # Correct float64 agrees to 1e-7 at the fine step. Code that uses float32 inside agrees at the coarse step only.
    for size, relative in ((1e-6, 1e-4), (1e-3, 2e-2)):
        if abs(flowing - slope(size)) <= relative * abs(flowing) + 1e-4:
            return
    expect.fail("the gradients are not the slope of the function.", hint)
