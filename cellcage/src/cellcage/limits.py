"""How much a notebook may use, each number with its reason.

`Limits(call_seconds=10)` changes one; `Limits.changed` changes some by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """The limits of one notebook. Sizes are bytes. Seconds are CPU time of its processes unless stated as clock time.

    CPU time, because a busy machine must not end honest code: a process that has to wait for its turn uses none. A cell
    that sleeps or waits for something else may do so for as many seconds as it may compute.
    """

    # A teaching cell takes milliseconds; a scratch computation may take a while.
    cell_seconds: float = 10.0
    # After a cell that was stopped: the next ones most often call the same endless function.
    cell_seconds_again: float = 2.0
    # Code that plots and trains a little in several cells still gets through.
    cells_seconds: float = 60.0
    # An ordinary call takes about a millisecond, and the slowest right answer that we know of half a second.
    call_seconds: float = 2.0
    # On top, if a call imports a large library: `torch._dynamo` takes 2.3 s, and half as long again where two programs
    # share a core. Loops within a library's own code get this time, too.
    import_seconds: float = 2.0
    # After a call of the same group that was stopped: still three hundred times what honest work needs. No call gets
    # less than twice what the slowest answered one took.
    call_seconds_again: float = 0.3
    # After two such calls: most likely all calls run into the same loop.
    call_seconds_at_last: float = 0.05
    # How long a call may be idle, as in `time.sleep`. Then it is made once more, so it takes twice as long in all.
    idle_seconds: float = 2.0
    # Calls of a looping group take 2 s, then 0.3 s, then 0.05 s each. A whole looping notebook must still end.
    total_seconds: float = 180.0
    # A call or a cell is stopped after this many times its CPU seconds on the clock, whatever it did meanwhile: ten,
    # because a machine may have ten programs that want each core.
    clock_factor: float = 10.0
    # The same for the whole notebook, in seconds on the clock.
    total_clock_seconds: float = 600.0
    # On top of what Python and PyTorch use. Calls need a few MiB for their inputs. This limits all processes
    # of a notebook together if the machine has control groups, else each of them.
    memory: int = 1024 * MIB
    # subprocess and a shell line need a few, a fork bomb needs thousands.
    processes: int = 32
    # If nothing limits their memory together: then the worst case is 8 GiB and not 32.
    processes_uncounted: int = 8
    open_files: int = 128
    scratch: int = 64 * MIB
    # The largest honest answer is well under 1 MiB.
    reply: int = 32 * MIB
    # All answers together; the trusted side keeps them until the report is written. Honest ones have some 100 KiB.
    replies: int = 128 * MIB
    # As much of a cell's printed text as a person would read.
    printed_characters: int = 20_000

    def changed(self, wishes: Mapping[str, Any]) -> Limits:
        """These limits, with some of them replaced by name.

        Raises `ValueError` if there is no limit of that name, or if a value is not a positive number.
        """
        known = {field.name: field.type for field in fields(self)}
        for name, value in wishes.items():
            if name not in known:
                raise ValueError(f"there is no limit {name!r}; there are {', '.join(known)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ValueError(f"the limit {name} is {value!r}, it should be a number above 0")
        numbers: Any = {n: int(v) if known[n] == "int" else float(v) for n, v in wishes.items()}
        return replace(self, **numbers)
