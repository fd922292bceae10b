"""What the sandbox promises. A test in `test_promises_*.py` has each promise's name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """One promise.

    name: short, and the name of its test
    text: what holds for untrusted code ("it")
    without_sandbox: true if it holds in a plain process, too: the trusted side or the forking process enforces it
    """

    name: str
    text: str
    without_sandbox: bool = False


PROMISES = (
    Promise("no network", "it reaches no network, not even loopback"),
    Promise(
        "no secrets",
        "it sees Python and system libraries, but no file, home or environment of the user who started it",
    ),
    Promise("no other process", "it can't look into or signal other processes, or harm the one that forks it"),
    Promise("private scratch", "it writes only to limited scratch space, which is removed with its processes"),
    Promise("not root", "if root started it, it runs as a user who owns nothing, and can't gain capabilities"),
    Promise(
        "no system calls that only an attack needs",
        "it can't trace, mount, use keyrings, or call kernel interfaces with a history of faults",
    ),
    Promise("data only", "it returns plain values and arrays, which are checked before use", without_sandbox=True),
    Promise(
        "size of what comes back",
        "one message, all messages together, and what they become in memory are limited",
        without_sandbox=True,
    ),
    Promise("one cause, one loss", "a loop, an exit, a crash or too much memory costs only the calls that met it"),
    Promise(
        "deadlines are kept by the trusted side",
        "the trusted side never waits past a deadline",
        without_sandbox=True,
    ),
    Promise("no state", "each call process starts from the state after the cells", without_sandbox=True),
    Promise(
        "nothing ready made",
        "calls of listed functions are noticed under any name; code that undoes the watch is not covered",
        without_sandbox=True,
    ),
    Promise(
        "questions cost little",
        "the trusted side limits how often and how much code may ask it during a call",
        without_sandbox=True,
    ),
)
