"""One case of each test of values has one of four inputs, so that a table of answers to known inputs is found out.

A suite draws numbers with a seed (`hidden/inputs.py`), and asks `seed_of` which seed that is. A test of values compares
with the reference; in it, one of the seeds is replaced. The new seed comes from the course's secret, so nobody knows
these inputs before they are used. The submission's cells determine which of the four it gets. So a regrade repeats it,
and equal notebooks have equal marks. All other inputs are the same for everybody, and so are those that known mistakes
were tried with. Without a secret (see `autograder.secret`) there are four inputs as well, but whoever reads this code
can know them.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field

VARIANTS = 4
LARGEST = 2**32


@dataclass(frozen=True)
class Drawing:
    """The seeds that a running test draws with, in order.

    instead: replacements for some of them
    """

    instead: Mapping[int, int] = field(default_factory=dict)
    seeds: dict[int, None] = field(default_factory=dict)

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """Whatever draws inside draws with these seeds."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Drawing | None] = ContextVar("_current", default=None)


def seed_of(seed: int) -> int:
    """The seed to draw with in place of `seed`; `seed` itself if no test is running, or if it is not replaced."""
    drawing = _current.get()
    if drawing is None:
        return seed
    drawing.seeds[seed] = None
    return drawing.instead.get(seed, seed)


def varied(seed: int, variant: int, secret: str) -> int:
    """What replaces `seed` in one of the variants."""
    return int.from_bytes(_digest(secret, f"{variant} {seed}")) % LARGEST


def variant_of(cells: Sequence[str], secret: str) -> int:
    """The variant that a submission gets."""
    return int.from_bytes(_digest(secret, "\0".join(cells))) % VARIANTS


def _digest(secret: str, text: str) -> bytes:
    return hmac.digest(secret.encode(), text.encode(errors="surrogatepass"), hashlib.sha256)
