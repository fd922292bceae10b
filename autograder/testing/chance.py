"""Calls that draw, each by a seed of its own, so that marks are the same in every run; and samples of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from autograder.sandbox.protocol.calls import Call, Chance, Reply
from autograder.testing.variants import seed_of_call


class Drawn(Enum):
    """What stands for an argument that is another one each time: a NumPy generator, or a number to seed one with."""

    RNG = "rng"
    SEED = "seed"


RNG, SEED = Drawn.RNG, Drawn.SEED


@dataclass(frozen=True)
class Chances:
    """How the calls of one test draw; if the test is marked as random, all do."""

    is_reference: bool = False
    is_random: bool = False

    def next(self) -> Chance:
        """That of the next call."""
        return Chance(seed_of_call(self.is_reference))

    def into(self, call: Call) -> Call:
        """The same call, which draws by a seed if all calls do."""
        return replace(call, chance=self.next()) if self.is_random and call.chance is None else call


class Draws:
    """Samples of what one function gives."""

    name: str
    _student: Any

    def _reply(self, call: Call) -> Reply:
        raise NotImplementedError

    def draws(self, times: int, *args: Any, **kwargs: Any) -> Any:
        """A sample for `expect.sample`: what `times` calls give, one after the other, as an array (times, ...).

        It is a list if they give something else than numbers of one shape. They draw by a seed that the engine sets,
        the same in every run. `rng=RNG` and `seed=SEED` pass a NumPy generator, and a number that is another each time.
        """
        return self._sample(False, times, args, kwargs)

    def draws_in_place(self, times: int, *args: Any, **kwargs: Any) -> Any:
        """The same of what the first argument holds after each call."""
        return self._sample(True, times, args, kwargs)

    def _sample(self, in_place: bool, times: int, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        names = {kind: name for name, kind in kwargs.items() if isinstance(kind, Drawn)}
        rest = {name: value for name, value in kwargs.items() if name not in names.values()}
        passed = {"rng": names.get(RNG, ""), "given": names.get(SEED, "")}
        chance = replace(self._student._chances.next(), times=times, in_place=in_place, **passed)
        return self._reply(Call(self.name, args, rest, chance=chance)).value
