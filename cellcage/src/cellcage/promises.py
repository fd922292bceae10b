"""What the sandbox promises. A test in `test_promises_*.py` has each promise's name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """One promise.

    name: short, and the name of its test
    text: what untrusted code keeps to
    without_sandbox: true if it holds in a plain process, too: the trusted side or the forking process enforces it
    """

    name: str
    text: str
    without_sandbox: bool = False


PROMISES = (
    Promise("no network", "it reaches no network, not even loopback, and no family of sockets that belongs to none"),
    Promise(
        "no secrets",
        "it sees Python and the system's libraries, and nothing of the files, the home or the environment of the user "
        "who started it",
    ),
    Promise("no other process", "it sees and signals no process but its own, and cannot harm the one that forks"),
    Promise(
        "private scratch",
        "it writes only to scratch space, which is limited, and gone with its processes, shared memory included",
    ),
    Promise(
        "not root", "if root started it, it runs as a user who owns nothing, with no capability and no way to gain one"
    ),
    Promise(
        "no system calls that only an attack needs",
        "tracing, mounting, keyrings, kernel interfaces with a history of faults",
    ),
    Promise(
        "data only",
        "it gives back plain values and arrays; dtype, shape and size are checked before anything is made of them",
        without_sandbox=True,
    ),
    Promise(
        "size of what comes back",
        "a message, all messages together, and what they become in memory have limits",
        without_sandbox=True,
    ),
    Promise(
        "one cause, one loss",
        "a loop, an exit, a crash or too much memory costs the calls that met it, and no others",
    ),
    Promise(
        "deadlines are kept by the trusted side",
        "it waits for no reply, no reader and no end of a stream past them",
        without_sandbox=True,
    ),
    Promise(
        "no state",
        "each call process has what the cells have left, and nothing of an earlier call process's memory",
        without_sandbox=True,
    ),
    Promise(
        "nothing ready made",
        "a call of a listed function is noticed, by whatever name the code calls it; code that works against the watch "
        "is not covered",
        without_sandbox=True,
    ),
    Promise(
        "questions cost little",
        "how often and how much code may ask while it is called is limited on the trusted side",
        without_sandbox=True,
    ),
)
