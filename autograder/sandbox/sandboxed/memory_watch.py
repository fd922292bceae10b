"""How much memory a submission takes during a call, as the kernel counts it.

A fork server runs nobody's code, so whom it measures cannot change what it finds. What counts is resident memory of
every process of the submission, at its highest: the kernel keeps that mark itself (`VmHWM`), be the memory NumPy's,
PyTorch's or Python's. Looks in between are for processes that end before the call does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

RESET_PEAK = "5"  # what `clear_refs` takes to make the peak what is held now
KIB = 1024


@dataclass(frozen=True)
class _Process:
    """A process as /proc tells of it: bytes held now, and at most since it began; its number in each namespace."""

    parent: int
    held: int
    peak: int
    numbers: tuple[int, ...]


class MemoryWatch:
    """What the processes below one, and it itself, have grown by since this was made.

    pid: a child of this process; OSError is raised where /proc cannot be read
    """

    def __init__(self, pid: int) -> None:
        self._first = _number_in_proc(pid)
        self._before: dict[int, int] = {}
        self._grown: dict[int, int] = {}
        for number in _below(self._first, _processes()):
            is_reset = _reset_peak(number)
            if process := _process(number):
                # Whoever keeps its peak from being reset may have raised it to hide what comes.
                self._before[number] = process.peak if is_reset else process.held

    def look(self) -> None:
        """Note what each has grown by. One that is new begins with what its parent had."""
        found = _processes()
        for number in _below(self._first, found):
            parent = found[number].parent
            before = self._before.setdefault(number, self._before.get(parent, self._before.get(self._first, 0)))
            self._grown[number] = max(self._grown.get(number, 0), found[number].peak - before)

    def grown(self) -> int:
        """Bytes, of all of them together."""
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
    """The numbers of a process and of all that descend from it, parents first."""
    waiting = [first]
    while waiting:
        number = waiting.pop(0)
        if number in processes:
            yield number
        waiting += [child for child, process in processes.items() if process.parent == number]


def _number_in_proc(pid: int) -> int:
    """A child's number as /proc has it, which may be mounted for a namespace further out."""
    own = int(os.readlink("/proc/self"))
    processes = _processes()
    level = len(processes[own].numbers) - 1
    for number, process in processes.items():
        if process.parent == own and process.numbers[level] == pid:
            return number
    raise ProcessLookupError(pid)


def _reset_peak(number: int) -> bool:
    """Make a process's peak what it holds now, if the kernel can; False if it is not allowed."""
    try:
        with open(f"/proc/{number}/clear_refs", "w") as file:
            file.write(RESET_PEAK)
    except PermissionError:
        return False
    except OSError:
        pass
    return True
