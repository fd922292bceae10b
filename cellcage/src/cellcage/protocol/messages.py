"""Messages between processes, encoded and checked by msgspec.

    from             to               what it says
    outside          zygote           StartServer, EndServer
    outside          fork server      Prepare, Open
    fork server      outside          Ready
    a child's holder fork server      HowEnded, Measure, CpuTime, on a socket for this child
    fork server      a child's holder Ended, Grown, Used
    any child        who opened it    Ready or Broken, once, on its own socket
    notebook client  notebook process Files, LookUp, LookUses, RunCell, BeginCalls, HowEnded
    notebook process notebook client  Names, Uses, CellOutput, Begun, Ended
    notebook client  call process     Calls with the calls, AnswerMessage
    call process     notebook client  Begun, Question, the answers, CellOutput

Everything that comes from a notebook process or a call process may be forged. A fork server does not trust a child's
holder, either. The calls that both sides make to each other, and the answers, are in `calls`.
"""

from __future__ import annotations

import msgspec

from cellcage.limits import Limits
from cellcage.protocol.ending import Ending

MAX_STATUS = 1000  # bytes of a question about a child, or of its answer; honest ones have at most some 100


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """On the wire, a map of the fields. `tag` distinguishes messages that may arrive at the same place.

    Unknown fields are refused: otherwise a forged message could pass for an empty one, and later replies would go to
    the wrong requests.
    """


# ---------------------------------------------------------------- outside and zygote


class Policy(Message, frozen=True):
    """How a fork server sets up its sandbox.

    trusted: whether it forks trusted processes, which run no untrusted code; else it forks notebook processes
    abi: version of the kernel's Landlock, 0 if there is none
    readable: paths that may be read, and from which programs may be started
    hidden: folders that appear empty; read_only: folders that cannot be written to
    scratch: without mounts, the folder in which each child gets its own; else ""
    user: user id, used by nothing else, that root's processes change to; 0 for no change
    """

    trusted: bool = False
    abi: int = 0
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    scratch: str = ""
    user: int = 0


class StartServer(Message, frozen=True, tag="start"):
    """Fork a fork server. With the message come its control socket, and files of its control group.

    joins: it joins by so many of these files, the first ones; the others count what is killed for memory
    child: "module:class" of what it forks; setting: the argument of that class's `warm_up`
    path: folders in which it looks for modules first
    """

    number: int
    child: str
    setting: dict[str, object]
    path: tuple[str, ...]
    policy: Policy
    joins: int = 0


class EndServer(Message, frozen=True, tag="end"):
    """End a fork server, and all processes that it has forked."""

    number: int


# ---------------------------------------------------------------- outside and fork server


class Prepare(Message, frozen=True, tag="prepare"):
    """What the next children will need, as plain data for their `prepare`."""

    needed: object


class Open(Message, frozen=True, tag="open"):
    """Fork a child. needed: as in `Prepare`, or None.

    With the message come a socket for the child, and one for its status. The child ends when the other end of that one
    is shut down or closed; then the fork server closes its own.
    """

    limits: Limits
    needed: object = None


class HowEnded(Message, frozen=True, tag="ending"):
    """Ask how the child has ended; a notebook process has only its last call process. Answered by `Ended`.

    ends: whether it is about to end, so that the other side should wait a moment
    """

    ends: bool = True


class Measure(Message, frozen=True, tag="measure"):
    """With `begins`, start to measure the memory of the child's processes; without, report the growth and stop."""

    begins: bool


class CpuTime(Message, frozen=True, tag="cpu"):
    """Ask how much CPU time the child's processes have used."""


class Ready(Message, frozen=True, tag="ready"):
    """The process has started."""


class Broken(Message, frozen=True, tag="broken"):
    """A child could not be set up, or its own code failed: the name and the text of the exception."""

    broken: tuple[str, str]


class Ended(Message, frozen=True, tag="ended"):
    """How a child ended. From a notebook process it may be forged."""

    ending: Ending


class Grown(Message, frozen=True, tag="grown"):
    """By how many bytes a child's processes have grown at most; 0 at the start, or if that is unknown."""

    bytes: int


class Used(Message, frozen=True, tag="used"):
    """The CPU time in seconds that a child's processes have used; negative if that is unknown.

    delayed: seconds in which they could have computed and others had the processors; None if that is unknown
    """

    seconds: float
    delayed: float | None = None


ToZygote = StartServer | EndServer
ToServer = Prepare | Open
AboutChild = HowEnded | Measure | CpuTime
FirstOfChild = Ready | Broken


# ---------------------------------------------------------------- what a notebook starts with


class Setting(Message, frozen=True):
    """What a notebook starts with, by name: modules, and packages that only stand in for themselves there.

    A stand-in has these values, and each other name of it is a function that does nothing.
    """

    names: dict[str, str] = {}
    stand_ins: dict[str, dict[str, object]] = {}


# ---------------------------------------------------------------- notebook client and notebook process


class Proxy(Message, frozen=True):
    """A function or an `nn.Module` that the other side answers for. order: the names of its parameters."""

    name: str
    module: bool
    order: tuple[str, ...]


class Files(Message, frozen=True, tag="files"):
    """Write files into the notebook's folder before the first cell runs. Has no answer.

    own: what cells may change; `files` are read-only
    """

    files: dict[str, bytes]
    own: dict[str, bytes] = {}


class LookUp(Message, frozen=True, tag="names"):
    """Ask which names these cells may look up. Answered by `Names`."""

    sources: tuple[str, ...]


class Names(Message, frozen=True):
    """Names, in any order."""

    names: tuple[str, ...]


class LookUses(Message, frozen=True, tag="uses"):
    """Ask which of the notebook's names, and which of `known`, a function's code looks up. Answered by `Uses`."""

    name: str
    known: tuple[str, ...]


class Uses(Message, frozen=True):
    """Names; items that are not names are ignored."""

    uses: list[object]


class RunCell(Message, frozen=True, tag="cell"):
    """Run a cell. Answered by a `CellOutput`.

    seconds: of CPU time, or idle, after which it is interrupted; clock_seconds: the same on the clock
    nonce: set if it is a test cell; the answer repeats it
    ready_made: functions that the notebook's code must not call in a test cell
    answers: names that a test cell calls and the notebook is to define
    closely: whether PyTorch's operators are watched, too, see `ready_made.Watch`
    shows: whether the answer has the pictures and tables that the cell shows, too
    """

    source: str
    seconds: float
    clock_seconds: float
    nonce: str = ""
    ready_made: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    closely: bool = False
    shows: bool = False


class Question(Message, frozen=True):
    """A question that untrusted code asks: a call as bytes. Untrusted code waits for the answer."""

    question: bytes


class CellOutput(Message, frozen=True):
    """A cell's output: the printed text, its failure as bytes, and pictures and tables, each with its MIME type.

    From a call process, `printed` is all that it has printed so far, and nothing else is set. The rest is for test
    cells, whose printed text is dropped. shown: the last value as text; line: the line that raised an exception;
    warned: whether it wrote to standard error; ready_made: a forbidden function that was called
    """

    printed: str = ""
    failure: bytes = b""
    rich: tuple[tuple[str, bytes], ...] = ()
    nonce: str = ""
    shown: str = ""
    line: int = 0
    warned: bool = False
    ready_made: str = ""


class BeginCalls(Message, frozen=True, tag="begin calls"):
    """Fork a call process, which sends `Begun` on the socket that comes with the message.

    substituted: see `perform`; ready_made: functions that must not be called, see `ready_made.Watch`
    cells: the first runs before the first call, the second before the second, and so on, each in the names that there
        were at the beginning. If one fails, so do its call and, after the last cell, all others
    memory: bytes for the process, with what the notebook's cells hold; 0 for the notebook's own limit
    """

    substituted: tuple[Proxy, ...]
    ready_made: tuple[str, ...]
    cells: tuple[str, ...] = ()
    memory: int = 0


class Begun(Message, frozen=True):
    """A process was forked, or why it could not be."""

    failed: str = ""


class Calls(Message, frozen=True):
    """So many calls follow, each in a frame, and are answered in order. With `printed`, a `CellOutput` comes last.

    closely: numbers of the calls during which PyTorch's operators are watched, too
    """

    calls: int = 0
    printed: bool = False
    closely: tuple[int, ...] = ()


class AnswerMessage(Message, frozen=True):
    """The answer to a question, as bytes."""

    answer: bytes


ToNotebook = Files | LookUp | LookUses | RunCell | BeginCalls | HowEnded
# What a client reads on a notebook process's own socket.
FROM_NOTEBOOK = (FirstOfChild, Begun, Names, Uses, CellOutput, Ended)
