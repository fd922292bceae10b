"""Gives a batch to code that takes nothing else: it loses points where values are judged, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.testing import Gradients, Raised


class Unbatched:
    """A student's function. If it raises on a single item, it is called again with a batch of one.

    The batch axis is removed from the answer.

    axes: how many axes a single item has, for each argument in turn; the last is for all that follow, and the first for
        arguments by name. 0 if an argument has no batch axis
    """

    def __init__(self, function: Any, *axes: int) -> None:
        self.function, self.axes = function, axes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of the call."""
        return self._ask(self.function, args, kwargs, self._lower)

    def inputs_after(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The arguments as they are after the call."""
        return list(self._ask(self.function.inputs_after, args, kwargs, lambda after: [*map(self._lower, after)]))

    def gradients(self, *args: Any, seeds: Sequence[Any]) -> Gradients:
        """Output and gradients. The seeds get a batch axis together with the arguments."""

        def lowered(got: Gradients) -> Gradients:
            return Gradients(self._lower(got.value), [self._lower(gradient) for gradient in got.inputs])

        return self._ask(self.function.gradients, args, {}, lowered, seeds)  # type: ignore[no-any-return]

    def _ask(
        self,
        call: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        lower: Callable[[Any], Any],
        seeds: Sequence[Any] | None = None,
    ) -> Any:
        with_seeds = {} if seeds is None else {"seeds": seeds}
        try:
            return call(*args, **kwargs, **with_seeds)
        except Raised:
            more = [self.axes[-1]] * len(args)
            lifted = [_lifted(arg, axes) for arg, axes in zip(args, [*self.axes, *more], strict=False)]
            named = {name: _lifted(arg, self.axes[0]) for name, arg in kwargs.items()}
            if all(
                one is other for one, other in zip([*lifted, *named.values()], [*args, *kwargs.values()], strict=True)
            ):
                raise
            in_a_batch = {} if seeds is None else {"seeds": [seed if seed is None else seed[None] for seed in seeds]}
            try:
                got = call(*lifted, **named, **in_a_batch)
            except Raised:
                return call(*args, **kwargs, **with_seeds)  # raises again, so that the message shows this call
            return lower(got)

    def _lower(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._lower, value))
        return value[0] if getattr(value, "ndim", 0) and len(value) == 1 else value


def _lifted(arg: Any, axes: int) -> Any:
    return arg[None] if axes and getattr(arg, "ndim", None) == axes else arg
