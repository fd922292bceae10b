"""Child of the students' fork server: a notebook that runs once, then forks for each exercise.

    fork server    NumPy, PyTorch and IPython imported; runs no student code; forks on request (`sandboxed.fork_server`)
     └ state      first process of a private pid namespace: when it ends, all below it end; has run the cells
        └ exercise   the calls of one exercise, then gone

What student code prints goes to a bounded buffer, and what it writes to descriptors 1 and 2 goes nowhere. What a
submission cannot get past is in `isolation`, what it finds in `shell`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import math
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import msgspec

from autograder.sandbox.backends import Judges, Students
from autograder.sandbox.limits import Limits
from autograder.sandbox.linux import isolation, seccomp
from autograder.sandbox.protocol import frames, messages
from autograder.sandbox.protocol.calls import Call, Failure, Kind, Reply, answer_bytes, answer_of, call_of
from autograder.sandbox.protocol.ending import MACHINE_SHORT, Ending, ending_of
from autograder.sandbox.sandboxed import effects, removal
from autograder.sandbox.sandboxed.fork_server import silence
from autograder.sandbox.sandboxed.lookups import MAX_USES, looked_up, names_used
from autograder.sandbox.sandboxed.perform import describe, perform
from autograder.sandbox.sandboxed.shell import Bounded, run_cell, student_package, warm_shell, write_files
from autograder.sandbox.sandboxed.test_cell import Tested, line_of, run_test

FORK_SECONDS = 3.0  # as long as a call may take by which another submission's processes come to be too many
COLLECT = 20_000, 10, 10  # objects made before the collector looks at them, which copies their pages; Python says 700
CAME_BACK = 86  # exit code of a fork whose cells have all run
PATIENCE = 0.05  # seconds an answer may wait for the next; a call's time limit is counted in seconds


class Notebooks:
    """What the students' fork server keeps, and each notebook starts with.

    shell: what cells run in; where_watched: what goes with some suites alone, by the name that they watch
    packages: the course's, from which a notebook imports as from this one
    """

    def __init__(self) -> None:
        self.shell: Any = None
        self.where_watched: Mapping[str, messages.Forbidden] = {}
        self.packages: tuple[str, ...] = ()

    def warm_up(self, setting: Mapping[str, object]) -> isolation.Removed:
        """Import what every submission needs, once, and make the shell that its cells will run in."""
        known = msgspec.convert(setting, messages.Setting)
        self.shell, removed = warm_shell(known)
        self.where_watched, self.packages = known.forbidden.where_watched, (known.package,)
        return removed

    def prepare(self, preparation: messages.Preparation) -> None:
        """A notebook needs nothing more."""

    def serve(self, sock: socket.socket, limits: Limits, sandbox: Students | Judges) -> None:
        """Run cells and fork exercises, as the other side asks."""
        assert isinstance(sandbox, Students)
        _State(self, sock, limits, sandbox).serve()


class _State:
    """Runs the cells once, then forks for each exercise."""

    def __init__(self, kept: Notebooks, sock: socket.socket, limits: Limits, sandbox: Students) -> None:
        self.kept, self.shell, self.sock = kept, kept.shell, sock
        self.exercises = sandbox.exercises()
        self.printed = Bounded(int(limits.printed_characters))

    def serve(self) -> None:
        silence()
        gc.set_threshold(*COLLECT)
        sys.stdout = sys.stderr = self.printed  # type: ignore[assignment]
        sys.stdin = io.StringIO()
        effects.given = {}
        for name in ("autograder", *self.kept.packages):
            sys.modules[name] = student_package(name)
        removal.asked.ask = functools.partial(_ask, self.sock)
        frames.send(self.sock, messages.Ready())
        while True:
            message, descriptors = frames.receive_with_descriptors(self.sock, messages.ToNotebook)
            self._do(message, descriptors)

    def _do(self, message: messages.ToNotebook, descriptors: list[int]) -> None:
        match message:
            case messages.Without():
                # Comes before the first cell, or not at all: this process then has run nobody's code yet.
                for name in set(message.watched) & set(self.kept.where_watched):
                    removal.take_away(self.kept.where_watched[name])
            case messages.Files():
                write_files(message.files)
            case messages.LookUp():
                frames.send(self.sock, messages.Names(tuple(looked_up(message.sources))))
            case messages.LookUses():
                # What an exercise's code looks up tells the judge whether an earlier mistake could matter there.
                found = names_used(self.shell.user_ns, message.name, message.known)
                frames.send(self.sock, messages.Uses([*sorted(found)[:MAX_USES]]))
            case messages.RunCell():
                frames.send(self.sock, self._run_cell(message))
            case messages.Aside():
                self._aside()
            case messages.Back():
                os._exit(CAME_BACK)
            case messages.Exercise():
                if not descriptors:  # it came, and there was no room for it: the cells have opened all they may
                    raise MemoryError
                self._fork_exercise(descriptors[0], message)
            case messages.HowExerciseEnded():
                frames.send(self.sock, messages.ExerciseEnded(self._ending()))

    def _aside(self) -> None:
        """Fork: the fork goes on to answer, and this process waits for its end. If that is a crash, it ends, too."""
        pid = self._fork()
        if pid:
            ending = ending_of(pid, math.inf)
            self.exercises.end()
            if ending.exit_code != CAME_BACK:
                os._exit(1)
            frames.send(self.sock, messages.Begun(True))
            return
        isolation.die_with_parent()
        self.exercises.in_child()
        seccomp.keep_from_ending_itself()

    def _run_cell(self, cell: messages.RunCell) -> messages.CellOutput:
        """Run one cell as a notebook would; an endless pure Python loop is interrupted."""
        self.printed.clear()
        tested = Tested()
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, cell.seconds)
        try:
            error = run_test(self.shell, cell.source, tested) if cell.nonce else run_cell(self.shell, cell.source)
        except BaseException as escaped:
            error = escaped
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        failure = b"" if error is None else answer_bytes(describe(error, self.shell.user_ns))
        if cell.nonce:
            return messages.CellOutput(
                failure=failure, nonce=cell.nonce, shown=tested.shown, line=line_of(error), warned=tested.warned
            )
        return messages.CellOutput(printed=self.printed.getvalue(), failure=failure)

    def _fork_exercise(self, descriptor: int, message: messages.Exercise) -> None:
        """End the exercise before, with whatever it started, and fork the next."""
        self.exercises.end()
        try:
            pid = self._fork()
        except OSError as error:
            with contextlib.suppress(frames.Closed):
                frames.send(socket.socket(fileno=descriptor), messages.Begun(failed=str(error)))
            return
        if pid:
            os.close(descriptor)
            return
        code = 1
        try:
            isolation.die_with_parent()  # without a pid namespace, nothing else ends it if it loops when all is over
            self.exercises.in_child()
            seccomp.keep_from_ending_itself()
            self.sock.close()
            _Exercise(self.shell.user_ns, socket.socket(fileno=descriptor), self.printed, message).serve()
            code = 0
        except (OSError, frames.Exhausted):
            code = MACHINE_SHORT
        finally:
            os._exit(code)

    def _fork(self) -> int:
        """Raises `OSError` if there is no room for another process, though all that cells have left behind is ended."""
        until = time.monotonic() + FORK_SECONDS
        while True:
            try:
                return self.exercises.fork()
            except OSError:
                # What a cell has started may fill this submission's share. What others of this user have, goes by.
                if time.monotonic() > until:
                    raise
                self.exercises.make_room()
                time.sleep(0.05)

    def _ending(self) -> Ending:
        """How the exercise's process ended."""
        return ending_of(self.exercises.pid) if self.exercises.pid else Ending()


def _interrupt(signum: int, frame: Any) -> None:
    raise KeyboardInterrupt("the cell ran out of time")


class _Exercise:
    """Answers the calls of one exercise."""

    def __init__(
        self, names: MutableMapping[str, Any], sock: socket.socket, printed: Bounded, exercise: messages.Exercise
    ) -> None:
        self.names, self.sock, self.printed, self.exercise = names, sock, printed, exercise

    def serve(self) -> None:
        gc.freeze()  # what the cells have made stays
        self.printed.clear()
        sys.stderr = Bounded(0)  # type: ignore[assignment]
        frames.send(self.sock, messages.Begun(True))
        with contextlib.suppress(frames.Closed):
            while True:
                asked = frames.receive(self.sock, form=messages.Calls)
                self._answer([frames.receive_body(self.sock) for _ in range(asked.calls)])
                if asked.printed:
                    frames.send(self.sock, messages.Printed(self.printed.getvalue()))

    def _answer(self, calls: Sequence[bytes]) -> None:
        """Answer calls in order; answers travel together as long as nobody waits for one."""
        waiting, since = list[bytes](), time.monotonic()

        def flush() -> None:
            nonlocal since
            frames.send_all(self.sock, waiting)
            waiting.clear()
            since = time.monotonic()

        def ask(question: Call) -> Reply | Failure:
            flush()
            return _ask(self.sock, question)

        removal.asked.ask = ask
        for body in calls:
            answer = perform(self.names, call_of(body), ask, self.exercise.substituted, self.exercise.watched)
            waiting.append(frames.framed(_sendable(answer)))
            if time.monotonic() - since > PATIENCE:
                flush()
        flush()


def _sendable(answer: Reply | Failure, encode: Callable[[Reply | Failure], bytes] = answer_bytes) -> bytes:
    """The answer as bytes; one that cannot be made into any is a failure of the call's."""
    try:
        return encode(answer)
    except Exception as error:
        return encode(Failure(Kind.RAISED, str(error), type(error).__name__))


def _ask(sock: socket.socket, question: Call) -> Reply | Failure:
    """Take a question of student code's to the other side."""
    frames.send(sock, messages.Question(question.as_bytes))
    return answer_of(frames.receive(sock, form=messages.Answer).answer)
