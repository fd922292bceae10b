"""Messages between processes, encoded and checked by msgspec.

    from             to               what it says
    outside          zygote           StartServer, EndServer
    outside          fork server      Prepare, Open
    fork server      outside          Ready
    a child's holder fork server      HowEnded, HowMuch, on a socket for this child
    fork server      a child's holder Ending, Used
    any child        who opened it    Ready or Broken, once, on its own socket
    notebook client  notebook process Files, LookUp, LookUses, RunCell, BeginCalls, HowEnded
    notebook process notebook client  Names, CellOutput, Begun, Ending
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
    """Ask how the child has ended; a notebook process has only its last call process. Answered by an `Ending`.

    ends: whether it is about to end, so that the other side should wait a moment
    """

    ends: bool = True


class HowMuch(Message, frozen=True, tag="how much"):
    """Ask what the child's processes have used. Answered by `Used`.

    measures: true to begin to measure their memory, false to end that; it takes time meanwhile
    """

    measures: bool | None = None


class Ready(Message, frozen=True, tag="ready"):
    """The process has started."""


class Broken(Message, frozen=True, tag="broken"):
    """A child could not be set up, or its own code failed: the name and the text of the exception."""

    broken: tuple[str, str]


class Used(Message, frozen=True, tag="used"):
    """What a child's processes have used: seconds of CPU time; negative if that is unknown.

    delayed: seconds in which they could have computed and others had the processors; None if that is unknown
    memory: bytes that they have taken at most, from when that is measured until its end; 0 if that is unknown
    """

    seconds: float
    delayed: float | None = None
    memory: int = 0


ToZygote = StartServer | EndServer
ToServer = Prepare | Open
AboutChild = HowEnded | HowMuch
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


class Watched(Message, frozen=True):
    """What to notice while the notebook's code runs. Only `calling.ready_made` reads it.

    functions: those that the code must not call
    answers: in a test cell, the names that it calls and the notebook is to define
    closely: in a test cell, whether PyTorch's operators are watched, too
    """

    functions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    closely: bool = False


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
    """Ask which of the notebook's names, and which of `known`, a function's code looks up. Answered by `Names`."""

    name: str
    known: tuple[str, ...]


class RunCell(Message, frozen=True, tag="cell"):
    """Run a cell. Answered by a `CellOutput`.

    seconds: of CPU time, or idle, after which it is interrupted; clock_seconds: the same on the clock
    nonce: set if it is a test cell; the answer repeats it
    watch: what is noticed in a test cell
    shows: whether the answer has the pictures and tables that the cell shows, too
    """

    source: str
    seconds: float
    clock_seconds: float
    nonce: str = ""
    watch: Watched = Watched()
    shows: bool = False


class Question(Message, frozen=True):
    """A question that untrusted code asks: a call as bytes. Untrusted code waits for the answer."""

    question: bytes


class CellOutput(Message, frozen=True):
    """A cell's output: the printed text, its failure as bytes, and pictures and tables, each with its MIME type.

    From a call process, `printed` is all that it has printed so far, and nothing else is set. The rest is for test
    cells, whose printed text is dropped. shown: the last value as text; line: the line that raised an exception;
    warned: whether it wrote to standard error; noticed: what the watch has noticed first
    """

    printed: str = ""
    failure: bytes = b""
    rich: tuple[tuple[str, bytes], ...] = ()
    nonce: str = ""
    shown: str = ""
    line: int = 0
    warned: bool = False
    noticed: str = ""


class BeginCalls(Message, frozen=True, tag="begin calls"):
    """Fork a call process, which sends `Begun` on the socket that comes with the message.

    substituted: the names that the other side answers for; watch: what is noticed during the calls
    cells: the first runs before the first call, the second before the second, and so on, each in the names that there
        were at the beginning. If one fails, so do its call and, after the last cell, all others
    memory: bytes for the process, with what the notebook's cells hold; 0 for the notebook's own limit
    """

    substituted: tuple[Proxy, ...] = ()
    watch: Watched = Watched()
    cells: tuple[str, ...] = ()
    memory: int = 0

    @property
    def may_ask(self) -> bool:
        """Whether the code may learn what the other side's names answer."""
        return bool(self.substituted)


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
FROM_NOTEBOOK = (FirstOfChild, Begun, Names, CellOutput, Ending)
