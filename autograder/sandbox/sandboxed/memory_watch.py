"""Measures how much memory a submission takes during a call, as the kernel counts it.

A fork server runs no student code, so a submission cannot change what it measures: the peak of the resident memory of
each process of the submission. The kernel records this peak itself (`VmHWM`), whether NumPy, PyTorch or Python
allocates the memory. Looks during the call are for processes that end before it does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

RESET_PEAK = "5"  # written to `clear_refs`, it sets the peak to the current memory
KIB = 1024


@dataclass(frozen=True)
class _Process:
    """A process in /proc: its resident bytes now and at their peak, and its number in each pid namespace."""

    parent: int
    held: int
    peak: int
    numbers: tuple[int, ...]


class MemoryWatch:
    """By how many bytes a child of this process, and its descendants, have grown since this was created.

    Raises `OSError` if /proc cannot be read.
    """

    def __init__(self, pid: int) -> None:
        self._first = _number_in_proc(pid)
        self._before: dict[int, int] = {}
        self._grown: dict[int, int] = {}
        for number in _below(self._first, _processes()):
            is_reset = _reset_peak(number)
            if process := _process(number):
                # A process that prevents the reset may have raised its peak before, to hide what it allocates later.
                self._before[number] = process.peak if is_reset else process.held

    def look(self) -> None:
        """Record the growth of each process. A new process starts with its parent's memory."""
        found = _processes()
        for number in _below(self._first, found):
            parent = found[number].parent
            before = self._before.setdefault(number, self._before.get(parent, self._before.get(self._first, 0)))
            self._grown[number] = max(self._grown.get(number, 0), found[number].peak - before)

    def grown(self) -> int:
        """Bytes that all processes together have grown by."""
        self.look()
        return sum(self._grown.values())


def _processes() -> dict[int, _Process]:
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return {number: found for number in numbers if (found := _process(number))}


def _process(number: int) -> _Process | None:
    """None if it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, KeyError):
        with open(f"/proc/{number}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        held, peak = (int(fields[name].split()[0]) * KIB for name in ("VmRSS", "VmHWM"))
        return _Process(int(fields["PPid"]), held, peak, tuple(map(int, fields["NSpid"].split())))
    return None


def _below(first: int, processes: dict[int, _Process]) -> Iterator[int]:
    """The numbers of a process and of its descendants, parents first."""
    waiting = [first]
    while waiting:
        number = waiting.pop(0)
        if number in processes:
            yield number
        waiting += [child for child, process in processes.items() if process.parent == number]


def _number_in_proc(pid: int) -> int:
    """A child's number in /proc, which may be mounted for an outer pid namespace."""
    this = int(os.readlink("/proc/self"))
    processes = _processes()
    level = len(processes[this].numbers) - 1
    for number, process in processes.items():
        if process.parent == this and process.numbers[level] == pid:
            return number
    raise ProcessLookupError(pid)


def _reset_peak(number: int) -> bool:
    """Set a process's peak to its current memory, if the kernel supports that. False if it is not permitted."""
    try:
        with open(f"/proc/{number}/clear_refs", "w") as file:
            file.write(RESET_PEAK)
    except PermissionError:
        return False
    except OSError:
        pass
    return True
