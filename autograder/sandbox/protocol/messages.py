"""What crosses a process: typed messages, encoded and checked by msgspec.

The supervisor controls the zygote and the fork servers with the first two groups. A judge and a notebook's process
speak the third, in which whatever comes from the notebook may be forged: see `judge.notebook`. What they ask each
other besides, and answer, is in `calls`.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from autograder.sandbox.limits import Limits
from autograder.sandbox.protocol.ending import Ending


class Message(msgspec.Struct, frozen=True):
    """A map of a message's fields. `tag` tells messages apart that may come at the same place."""


# ---------------------------------------------------------------- supervisor and zygote


class Policy(Message, frozen=True):
    """What a fork server is told of its sandbox.

    backend: the name of its backend
    judges: does it fork judges, which see the course and run nobody's code? Else it forks students' notebooks
    kit: where the whole engine is, if it needs that and the zygote has the sandbox's part alone
    abi: version of the kernel's Landlock, 0 if there is none
    readable: places that may be read, and programs started from
    hidden: folders that look empty; read_only: folders that nothing can be written to
    scratch: where there are no mounts, the folder in which each submission gets one of its own; else ""
    user: the kernel's user that root's processes become, which nothing else has; 0: they stay who they are
    """

    backend: str
    judges: bool = False
    kit: str = ""
    abi: int = 0
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    scratch: str = ""
    user: int = 0


class StartServer(Message, frozen=True, tag="start"):
    """Fork a fork server: its control socket comes along, and files of the control group that it joins.

    child: module and class of what it forks; setting: what that is told
    """

    number: int
    child: str
    setting: dict[str, object]
    policy: Policy


class EndServer(Message, frozen=True, tag="end"):
    """End a fork server with all that it has forked."""

    number: int


# ---------------------------------------------------------------- supervisor and fork server


class Preparation(Message, frozen=True, tag="prepare"):
    """What the next judges will need: an assignment, and the exercises whose known mistakes are to be at hand."""

    assignment: str
    exercises: tuple[str, ...] = ()


class Open(Message, frozen=True, tag="open"):
    """Fork a child, which talks on the socket that comes along."""

    number: int
    limits: Limits
    preparation: Preparation | None = None


class HowEnded(Message, frozen=True, tag="ending"):
    """How has a child ended? ends: is it about to, so that its end is waited for a moment?"""

    number: int
    ends: bool


class Measure(Message, frozen=True, tag="measure"):
    """How much memory do a child's processes take? begins: from now on; else it is told, and no longer looked at."""

    number: int
    begins: bool


class Close(Message, frozen=True, tag="close"):
    """End a child with all that it started."""

    number: int


class Ready(Message, frozen=True, tag="ready"):
    """It has begun."""

    ready: bool = True


class Broken(Message, frozen=True, tag="broken"):
    """A child could not be set up, or its own code failed: the kind of exception, and its text."""

    broken: tuple[str, str]


class Ended(Message, frozen=True, tag="ended"):
    """How a child ended."""

    ending: Ending


class Grown(Message, frozen=True, tag="grown"):
    """How many bytes more a child's processes had at most; 0 where that begins, and where it cannot be told."""

    bytes: int


class Closed(Message, frozen=True, tag="closed"):
    """A child is gone, with all that it started."""

    number: int


ToZygote = StartServer | EndServer
ToServer = Preparation | Open | HowEnded | Measure | Close
FromServer = Ready | Ended | Grown | Closed
FirstOfChild = Ready | Broken


# ---------------------------------------------------------------- what notebooks are told of the course


class Forbidden(Message, frozen=True):
    """What is taken out of notebooks: parts of kernels' names, functions by module and name, files by pattern.

    where_watched: what is taken out for suites alone that forbid it, by the suite's word for it
    """

    kernels: tuple[str, ...] = ()
    python: tuple[tuple[str, str], ...] = ()
    c: tuple[tuple[str, str], ...] = ()
    hidden: tuple[str, ...] = ()
    where_watched: dict[str, Forbidden] = {}


class Setting(Message, frozen=True):
    """What a notebook finds: names and their modules, what is not there, and the course's package.

    See `autograder.content.sandbox_setting`.
    """

    names: dict[str, str]
    forbidden: Forbidden
    package: str


# ---------------------------------------------------------------- judge and notebook


class Proxy(Message, frozen=True):
    """A name that the other side answers for: a function or a module, and what its parameters are called."""

    name: str
    module: bool
    order: tuple[str, ...]


class Without(Message, frozen=True, tag="without"):
    """Take these functions out, before the first cell; see `removal`. Nothing is answered."""

    watched: tuple[str, ...]


class Files(Message, frozen=True, tag="files"):
    """Write files of the course's into the notebook's folder, before the first cell. Nothing is answered."""

    files: dict[str, bytes]


class LookUp(Message, frozen=True, tag="names"):
    """Which names may these cells look up? Answered by `Names`."""

    sources: tuple[str, ...]


class Names(Message, frozen=True):
    """Names, in no order."""

    names: tuple[str, ...]


class LookUses(Message, frozen=True, tag="uses"):
    """Which names of the notebook's, or among `known`, does an exercise's code look up? Answered by `Uses`."""

    name: str
    known: tuple[str, ...]


class Uses(Message, frozen=True):
    """Names; what is none is passed over."""

    uses: list[object]


class RunCell(Message, frozen=True, tag="cell"):
    """Run a cell, and interrupt it after so many seconds. Answered by `CellOutput`, any number of questions first.

    nonce: set if it is a test cell; its answer has the same
    """

    source: str
    seconds: float
    nonce: str = ""


class Aside(Message, frozen=True, tag="aside"):
    """Fork, and run the cells that come until `Back` in the fork, which is then gone. Nothing is answered."""


class Back(Message, frozen=True, tag="back"):
    """End of `Aside`. Answered by `Begun`, once the fork has ended."""


class Question(Message, frozen=True):
    """A question of student code's: a call as bytes. Its answer is awaited."""

    question: bytes


class CellOutput(Message, frozen=True):
    """What comes while a cell runs: a `Question`, or else what it printed, and how it failed, as bytes.

    Of a test cell nothing is printed. shown: its last value as text; line: where in it an exception was raised; warned:
    did it write to standard error?
    """

    question: bytes | UnsetType = UNSET
    printed: str = ""
    failure: bytes = b""
    nonce: str = ""
    shown: str = ""
    line: int = 0
    warned: bool = False


class Exercise(Message, frozen=True, tag="exercise"):
    """Fork a process for an exercise, which talks on the socket that comes along and says `Begun` there.

    behind: names that are answered for; watched: see `perform`
    """

    substituted: tuple[Proxy, ...]
    watched: tuple[str, ...]


class Begun(Message, frozen=True):
    """An exercise's process is there, or could not be forked, and why."""

    begun: bool = False
    failed: str = ""


class HowExerciseEnded(Message, frozen=True, tag="ending"):
    """How did the last exercise's process end? Answered by `ExerciseEnded`."""


class ExerciseEnded(Message, frozen=True):
    """What its parent says, which may be anything: see `ending_in`."""

    ending: object = None


class Calls(Message, frozen=True):
    """So many calls come next, each a frame, and are answered in order; then `Printed`, if that is asked for."""

    calls: int = 0
    printed: bool = False


class Printed(Message, frozen=True):
    """What an exercise's process has printed so far."""

    printed: str = ""


class Answer(Message, frozen=True):
    """The answer to a question, as bytes."""

    answer: bytes


ToNotebook = Without | Files | LookUp | LookUses | RunCell | Aside | Back | Exercise | HowExerciseEnded
