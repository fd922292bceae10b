"""The processes of a submission in /proc, as a fork server sees them: their memory, and the CPU time they have used.

A fork server runs no student code, so a submission cannot change what is read here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

KIB = 1024
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # of CPU time in a second
CPU_FIELDS = slice(11, 15)  # after the name: own time in user mode and in the kernel, and that of reaped children


@dataclass(frozen=True)
class Process:
    """A process in /proc: its resident bytes now and at their peak, and its number in each pid namespace."""

    parent: int
    held: int
    peak: int
    numbers: tuple[int, ...]


def processes() -> dict[int, Process]:
    """All processes that can be seen, by their numbers in /proc. Raises `OSError` if it cannot be read."""
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return {number: found for number in numbers if (found := process(number))}


def process(number: int) -> Process | None:
    """None if it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, KeyError):
        with open(f"/proc/{number}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        # A process that has ended and was not reaped has no memory.
        held, peak = (int(fields.get(name, "0 kB").split()[0]) * KIB for name in ("VmRSS", "VmHWM"))
        return Process(int(fields["PPid"]), held, peak, tuple(map(int, fields["NSpid"].split())))
    return None


def below(first: int, known: dict[int, Process]) -> Iterator[int]:
    """The numbers of a process and of its descendants, parents first."""
    waiting = [first]
    while waiting:
        number = waiting.pop(0)
        if number in known:
            yield number
        waiting += [child for child, process in known.items() if process.parent == number]


def number_in_proc(pid: int, known: dict[int, Process]) -> int:
    """A child's number in /proc, which may be mounted for an outer pid namespace. Raises `ProcessLookupError`."""
    this = int(os.readlink("/proc/self"))
    level = len(known[this].numbers) - 1
    for number, process in known.items():
        if process.parent == this and process.numbers[level] == pid:
            return number
    raise ProcessLookupError(pid)


def cpu_seconds(pid: int) -> float:
    """CPU time that a child of this process, and its descendants, have used. Raises `OSError` if /proc cannot be read.

    A process that has ended counts as long as its parent exists, unless the parent has told the kernel to forget it.
    """
    known = processes()
    return sum(map(_cpu_ticks, below(number_in_proc(pid, known), known))) / TICKS


def _cpu_ticks(number: int) -> int:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{number}/stat") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[CPU_FIELDS]))
    return 0
