"""How much a submission may use. One place, each number with its reason."""

from __future__ import annotations

from dataclasses import asdict, dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """What one submission may use; seconds are wall clock, sizes are bytes."""

    # A cell that teaches takes milliseconds; a scratch computation may take a while.
    cell_seconds: float = 10.0
    # After a cell that was stopped: most often the next ones call the same endless function.
    cell_seconds_again: float = 2.0
    # A student who plots and trains a little in several cells still gets through.
    cells_seconds: float = 60.0
    # A call in a suite takes about a millisecond, under load perhaps a hundred.
    call_seconds: float = 3.0
    # After a call that was stopped, the same exercise's next tests: still a thousand times what honest work needs.
    call_seconds_again: float = 1.0
    # One looping exercise costs its tests 3 s and then 1 s each; a whole looping notebook must still end.
    submission_seconds: float = 180.0
    # Above what Python and PyTorch hold already; attention on a suite's inputs needs a few MiB.
    memory: int = 1024 * MIB
    # subprocess and a shell line need a few, a fork bomb needs thousands.
    processes: int = 32
    open_files: int = 128
    scratch: int = 64 * MIB
    # A suite's largest honest answer is well under 1 MiB.
    reply: int = 32 * MIB
    # What a person would still read of a cell's printed text.
    printed_characters: int = 20_000

    def to_dict(self) -> dict[str, float]:
        """The limits as plain data, to cross the wall."""
        return asdict(self)
