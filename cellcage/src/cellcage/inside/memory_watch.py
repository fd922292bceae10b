"""Measures how much memory a notebook takes during a call, as the kernel counts it.

It is the peak of the resident memory of each process of the notebook. The kernel records this peak itself (`VmHWM`),
whether NumPy, PyTorch or Python allocates the memory. Looks during the call are for processes that end before it does.
"""

from __future__ import annotations

from cellcage.inside.processes import below, number_in_proc, process, processes

RESET_PEAK = "5"  # written to `clear_refs`, it sets the peak to the current memory


class MemoryWatch:
    """By how many bytes a child of this process, and its descendants, have grown since this was created.

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
