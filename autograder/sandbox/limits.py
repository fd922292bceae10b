"""How much a submission may use. One place, each number with its reason.

An assignment that needs other numbers says so in its source notebook's metadata, beside the points: in JupyterLab's
property inspector, *Notebook Metadata*, `"autograder": {"limits": {"call_seconds": 10}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """What one submission may use; seconds are wall-clock, sizes are bytes."""

    # A cell that teaches takes milliseconds; a scratch computation may take a while.
    cell_seconds: float = 10.0
    # After a cell or a call that was stopped: most often the next ones call the same endless function.
    cell_seconds_again: float = 2.0
    # A student who plots and trains a little in several cells still gets through.
    cells_seconds: float = 60.0
    # A call in a suite takes about a millisecond, under load perhaps a hundred.
    call_seconds: float = 3.0
    # After a call that was stopped, in any exercise: still a thousand times what honest work needs.
    call_seconds_again: float = 1.0
    # After two in a row: a loop that they all go through. Still a hundred times what honest work needs.
    call_seconds_at_last: float = 0.25
    # Calls that a suite is known to make are asked all at once; if one takes longer, it is made again by itself.
    planned_seconds: float = 1.0
    # A looping exercise takes 1 s (its calls together), 3 s (the next one 1 s), 1 s, then a quarter for each test; a
    # whole looping notebook must still end.
    submission_seconds: float = 180.0
    # Above what Python and PyTorch hold already; an exercise on a suite's inputs needs a few MiB. All processes of a
    # submission together if the machine has control groups, each of them if not.
    memory: int = 1024 * MIB
    # subprocess and a shell line need a few, a fork bomb needs thousands.
    processes: int = 32
    # If nothing counts their memory together, so that the worst case is 8 GiB and not 32.
    processes_uncounted: int = 8
    open_files: int = 128
    scratch: int = 64 * MIB
    # A suite's largest honest answer is well under 1 MiB.
    reply: int = 32 * MIB
    # All answers together, which the trusted side holds until the report is written. Honest ones have some 100 KiB.
    replies: int = 128 * MIB
    # What a person would still read of a cell's printed text.
    printed_characters: int = 20_000

    def changed(self, wishes: Mapping[str, Any]) -> Limits:
        """These limits with some of them replaced by name.

        Raises `ValueError` on a name there is not, or a value that is no positive number.
        """
        known = {field.name: field.type for field in fields(self)}
        for name, value in wishes.items():
            if name not in known:
                raise ValueError(f"there is no limit {name!r}; there are {', '.join(known)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ValueError(f"the limit {name} is {value!r}, it should be a number above 0")
        numbers: Any = {n: int(v) if known[n] == "int" else float(v) for n, v in wishes.items()}
        return replace(self, **numbers)
