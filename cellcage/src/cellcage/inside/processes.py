"""The processes of a notebook as the kernel sees them: their memory, the CPU time they have used, and why one ended.

A fork server runs no untrusted code, so a notebook cannot change what is read here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cellcage.protocol.messages import Used

KIB = 1024
RESET_PEAK = "5"  # written to `clear_refs`, it sets the peak to the current memory
TICKS = os.sysconf("SC_CLK_TCK")  # of CPU time in a second
CPU_FIELDS = slice(11, 15)  # after the name: time in user mode and in the kernel, of the process and of reaped children


@dataclass(frozen=True)
class ProcStatus:
    """A process in /proc: its resident bytes now and at their peak, and its number in each pid namespace."""

    parent: int
    held: int
    peak: int
    numbers: tuple[int, ...]


def processes() -> dict[int, ProcStatus]:
    """All processes that can be seen, by their numbers in /proc. Raises `OSError` if it cannot be read."""
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return {number: found for number in numbers if (found := process(number))}


def process(number: int) -> ProcStatus | None:
    """None if it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, KeyError):
        with open(f"/proc/{number}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        # A process that has ended and was not reaped has no memory.
        held, peak = (int(fields.get(name, "0 kB").split()[0]) * KIB for name in ("VmRSS", "VmHWM"))
        return ProcStatus(int(fields["PPid"]), held, peak, tuple(map(int, fields["NSpid"].split())))
    return None


def below(first: int, known: dict[int, ProcStatus]) -> Iterator[int]:
    """The numbers of a process and of its descendants, parents first."""
    waiting = [first]
    while waiting:
        number = waiting.pop(0)
        if number in known:
            yield number
        waiting += [child for child, process in known.items() if process.parent == number]


def number_in_proc(pid: int, known: dict[int, ProcStatus]) -> int:
    """A child's number in /proc, which may be mounted for an outer pid namespace. Raises `ProcessLookupError`."""
    this = int(os.readlink("/proc/self"))
    level = len(known[this].numbers) - 1
    for number, process in known.items():
        if process.parent == this and process.numbers[level] == pid:
            return number
    raise ProcessLookupError(pid)


class MemoryWatch:
    """By how many bytes a child of this process, and its descendants, have grown since this was created.

    It goes by the peak of each process's resident memory. The kernel records this peak itself (`VmHWM`), whether
    NumPy, PyTorch or Python allocates the memory. Looks during a call are for processes that end before it does.
    Raises `OSError` if /proc cannot be read.
    """

    def __init__(self, pid: int) -> None:
        known = processes()
        self._first = number_in_proc(pid, known)
        self._before: dict[int, int] = {}
        self._grown: dict[int, int] = {}
        for number in below(self._first, known):
            is_reset = _reset_peak(number)
            if found := process(number):
                # A process that prevents the reset may have raised its peak before, to hide what it allocates later.
                self._before[number] = found.peak if is_reset else found.held

    def look(self) -> None:
        """Record the growth of each process. A new process starts with its parent's memory."""
        found = processes()
        for number in below(self._first, found):
            parent = found[number].parent
            before = self._before.setdefault(number, self._before.get(parent, self._before.get(self._first, 0)))
            self._grown[number] = max(self._grown.get(number, 0), found[number].peak - before)

    def grown(self) -> int:
        """Bytes that all processes together have grown by."""
        self.look()
        return sum(self._grown.values())


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


class Usage:
    """What a child of this process and its descendants have used.

    looks: to be called every few milliseconds while their memory is measured
    """

    def __init__(self) -> None:
        self.looks: list[Callable[[], None]] = []
        self._memory: MemoryWatch | None = None
        self._delayed: dict[int, float] = {}  # how long each waited for a processor; the kernel forgets it at the end

    def until_now(self, pid: int, measures: bool | None) -> Used:
        """The CPU time of a process that has ended counts as long as its parent exists, unless the parent has told the
        kernel to forget it. pid: of the child, 0 if it was not forked; measures: see `HowMuch`
        """
        memory = 0 if measures is None else self._grown(pid, measures)
        with contextlib.suppress(OSError):
            known = processes()
            numbers = list(below(number_in_proc(pid, known), known))
            self._delayed |= {number: seconds_delayed(number) for number in numbers}
            delayed = sum(self._delayed.values()) if counts_delays() else None
            return Used(sum(map(_cpu_ticks, numbers)) / TICKS, delayed, memory)
        return Used(-1.0, memory=memory)

    def _grown(self, pid: int, begins: bool) -> int:
        """Begin to measure memory, or end it; then the bytes by which they have grown."""
        memory, self._memory, self.looks = self._memory, None, []
        with contextlib.suppress(OSError):
            if not begins:
                return memory.grown() if memory else 0
            if pid:
                self._memory = MemoryWatch(pid)
                self.looks = [self._memory.look]
        return 0


def killed_for_memory(files: Sequence[int]) -> int:
    """How often the kernel has killed a process of a control group because the group had reached its memory limit.

    It does not count if the whole machine was short of memory. Version 2 reports that apart (`oom`). Version 1 counts
    both, so there the group must also have met its limit. files: open ones, see `cgroup.COUNTING`; none without a group
    """
    with contextlib.suppress(OSError, ValueError):
        events, *limit_met = (os.pread(file, 4096, 0).decode() for file in files)
        found = dict(line.split() for line in events.splitlines())
        if "oom" in found:
            return int(found["oom"])
        return int(found.get("oom_kill", 0)) if int(limit_met[0]) else 0
    return 0


def counts_delays() -> bool:
    """Whether the kernel counts how long processes wait for a processor."""
    return os.path.exists("/proc/self/schedstat")


def seconds_delayed(number: int | str) -> float:
    """Seconds in which a process's threads waited for a processor. number: as in /proc, or the word `self`"""
    nanoseconds = 0
    with contextlib.suppress(OSError):  # the process has ended
        for thread in os.listdir(f"/proc/{number}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{number}/task/{thread}/schedstat") as file:
                nanoseconds += int(file.read().split()[1])
    return nanoseconds / 1e9


def _cpu_ticks(number: int) -> int:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{number}/stat") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[CPU_FIELDS]))
    return 0
