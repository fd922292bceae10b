"""One case of each test of values has one of four inputs, so that a table of answers to known inputs is found out.

A suite draws numbers by a seed (`hidden/inputs.py`), and asks `seed_of` which seed that is. A test of values, which
compares with the reference, gets another seed in place of one of its own: made from the course's secret, so that nobody
knows these inputs before they are used. Which of the four a submission gets follows from its cells. So a regrade
repeats it, and equal notebooks have equal marks. All other inputs are the same for everybody, and so is what is kept of
known mistakes. Without a secret (see `autograder.secret`) there are four inputs as well, which whoever reads this code
can know.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field

VARIANTS = 4
LARGEST = 2**32


@dataclass(frozen=True)
class Drawing:
    """The seeds that a test draws with while it runs, in order, and what stands in place of some.

    calls: how many of its calls have drawn by chance, by whose they are
    """

    instead: Mapping[int, int] = field(default_factory=dict)
    seeds: dict[int, None] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """What is drawn inside is drawn by this."""
        token = _current.set(self)
        self.calls.clear()
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Drawing | None] = ContextVar("_current", default=None)


def seed_of(seed: int) -> int:
    """The seed to draw with in place of `seed`; the same one if no test is running, or if it keeps its input."""
    drawing = _current.get()
    if drawing is None:
        return seed
    drawing.seeds[seed] = None
    return drawing.instead.get(seed, seed)


def seed_of_call(is_reference: bool) -> int:
    """The seed that a test's next call draws by; the reference draws by other ones, the same for everybody."""
    drawing, whose = _current.get() or Drawing(), "reference" if is_reference else "student"
    drawing.calls[whose] += 1
    seed = zlib.crc32(f"{whose} {drawing.calls[whose]}".encode())
    return seed if is_reference else seed_of(seed)


def varied(seed: int, variant: int, secret: str) -> int:
    """The seed of one variant of what `seed` draws."""
    return int.from_bytes(_digest(secret, f"{variant} {seed}")) % LARGEST


def variant_of(cells: Sequence[str], secret: str) -> int:
    """Which variant a submission gets."""
    return int.from_bytes(_digest(secret, "\0".join(cells))) % VARIANTS


def _digest(secret: str, text: str) -> bytes:
    return hmac.digest(secret.encode(), text.encode(errors="surrogatepass"), hashlib.sha256)
