"""Inside the sandbox: one warm process that forks for every submission, which forks for every test.

    warm    NumPy, PyTorch and IPython imported; runs no student code; forks on request
     └ waiting    makes the namespaces, and sees to it that the state process ends; runs no student code
        └ state      first process of a private pid namespace: when it ends, all below it end; has run the cells
           └ test      the calls of one of a suite's tests, or all asked ahead, then gone

Messages travel on sockets of their own. What student code prints goes to a bounded buffer, and what it writes to
descriptors 1 and 2 goes nowhere. What a submission cannot get past is in `walls`, what it finds in `shell`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import io
import os
import signal
import socket
import sys
import time
from typing import Any, NoReturn

from autograder.sandbox.inside import ready_made, seccomp, walls
from autograder.sandbox.inside.perform import describe, perform
from autograder.sandbox.inside.shell import Bounded, student_package, warm_shell
from autograder.sandbox.inside.stand_in import Ask
from autograder.sandbox.protocol import wire

MADV_COLLAPSE, HUGE_PAGE = 25, 2 << 20
END = (signal.SIGTERM, signal.SIGCHLD)  # the submission is to end, or its state process has
PATIENCE = 0.05  # seconds a reply may wait for the next; a call's time limit is counted in seconds

# ---------------------------------------------------------------- warm


def main(descriptor: int, isolated: bool) -> None:
    """Serve the control socket on `descriptor` until its other end closes."""
    control = socket.socket(fileno=descriptor)
    walls.leave_root(isolated)
    shell = warm_shell()
    _gather_pages()
    held = walls.held()
    submissions: dict[int, int] = {}
    wire.send(control, {"ready": True})
    while True:
        try:
            message, fds = wire.receive_with_descriptor(control)
        except wire.Closed:
            break
        if message["op"] == "open":
            limits = message["limits"] | {"held": held, "watch": message["watch"]}
            submissions[message["id"]] = _fork_submission(control, fds[0], limits, shell, isolated)
            os.close(fds[0])
        elif message["op"] == "close":
            _end_submission(submissions.pop(message["id"]), isolated)
            wire.send(control, {"closed": message["id"]})
    for pid in submissions.values():
        _end_submission(pid, isolated)


def _gather_pages() -> None:
    """Put this process's memory into huge pages, where the kernel can (Linux 6.1 and later).

    The table that every fork copies becomes three times shorter: 2.5 ms in place of 7 for a process with PyTorch.
    """
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        for line in maps.readlines():
            span, access, _, _, inode = line.split()[:5]
            first, end = (int(address, 16) for address in span.split("-"))
            if access == "rw-p" and inode == "0" and end - first >= HUGE_PAGE:
                walls.libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), MADV_COLLAPSE)


def _fork_submission(
    control: socket.socket, descriptor: int, limits: dict[str, Any], shell: Any, isolated: bool
) -> int:
    """Fork a submission: new namespaces, limits, then its state process."""
    pid = os.fork()
    if pid:
        return pid
    try:
        control.close()
        os.setsid()
        walls.die_with_parent()
        walls.first_to_go()
        if isolated:
            walls.enter_namespaces()
            signal.pthread_sigmask(signal.SIG_BLOCK, END)
            inner = os.fork()  # whoever makes a pid namespace is not in it; its first child is
            if inner:
                os.close(descriptor)
                _wait_for(inner)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, END)
            walls.die_with_parent()
            walls.private_places(int(limits["scratch"]))
            walls.drop_capabilities()
        walls.no_new_privileges()
        seccomp.apply()
        walls.set_limits(limits)
    except BaseException as error:
        with contextlib.suppress(BaseException):
            wire.send(socket.socket(fileno=descriptor), {"broken": f"{type(error).__name__}: {error}"})
        os._exit(1)
    try:
        _State(socket.socket(fileno=descriptor), limits, shell, isolated).serve()
    finally:
        os._exit(0)


def _wait_for(state: int) -> NoReturn:
    """Wait until a state process ends or is to end, and see to it that it does: it may have left its group."""
    signal.sigwait(END)
    with contextlib.suppress(ProcessLookupError):
        os.kill(state, signal.SIGKILL)
    os.waitpid(state, 0)
    os._exit(0)


def _end_submission(pid: int, isolated: bool) -> None:
    """Kill a submission with all that it started."""
    if not isolated:
        with contextlib.suppress(ProcessLookupError):  # it may not have a group yet
            os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        # What waits for the state process ends it, and its namespace with it.
        os.kill(pid, signal.SIGTERM if isolated else signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


# ---------------------------------------------------------------- state


class _State:
    """Runs the cells once, then forks for each test."""

    def __init__(self, sock: socket.socket, limits: dict[str, Any], shell: Any, isolated: bool) -> None:
        self.sock = sock
        self.limits = limits
        self.shell = shell
        self.isolated = isolated
        self.test = 0
        self.printed = Bounded(int(limits["printed_characters"]))

    def serve(self) -> None:
        _silence()
        sys.stdout = sys.stderr = self.printed  # type: ignore[assignment]
        sys.stdin = io.StringIO()
        sys.modules["autograder"] = student_package()
        ready_made.answered_by(functools.partial(_ask, self.sock))
        while True:
            message, fds = wire.receive_with_descriptor(self.sock)
            if message["op"] == "cell":
                wire.send(self.sock, self._run_cell(message["source"], message["seconds"]))
            elif message["op"] == "test":
                self._fork_test(fds[0])

    def _run_cell(self, source: str, seconds: float) -> dict[str, Any]:
        """Run one cell as a notebook would; an endless pure Python loop is interrupted."""
        self.printed.clear()
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            result = self.shell.run_cell(source, store_history=False)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as escaped:
            error = escaped
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        reply: dict[str, Any] = {"printed": self.printed.getvalue()}
        if error is not None:
            reply["error"] = describe(error, self.shell.user_ns)
        return reply

    def _fork_test(self, descriptor: int) -> None:
        """End the test before, with whatever it started, and fork the next."""
        self._end_test()
        self.test = os.fork()
        if self.test:
            os.close(descriptor)
            return
        try:
            os.setpgid(0, 0)
            self.sock.close()
            _Test(socket.socket(fileno=descriptor), self.shell.user_ns, self.printed, self.limits["watch"]).serve()
        finally:
            os._exit(0)

    def _end_test(self) -> None:
        if not self.test:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.isolated:
                os.kill(-1, signal.SIGKILL)  # all of this pid namespace but this process
            else:
                os.killpg(self.test, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:  # without a namespace, what the cells have started goes on
                os.waitpid(-1 if self.isolated else self.test, 0)


def _interrupt(signum: int, frame: Any) -> None:
    raise KeyboardInterrupt("the cell ran out of time")


def _silence() -> None:
    """Descriptors 0, 1 and 2 lead nowhere: C code that prints disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)


# ---------------------------------------------------------------- test


class _Test:
    """Answers the calls of one test."""

    def __init__(self, sock: socket.socket, names: dict[str, Any], printed: Bounded, watch: bool) -> None:
        self.sock = sock
        self.names = names
        self.printed = printed
        self.watch = watch

    def serve(self) -> None:
        ask = functools.partial(_ask, self.sock)
        ready_made.answered_by(ask)
        wire.send(self.sock, {"ready": True})
        while True:
            try:
                message = wire.receive(self.sock)
            except wire.Closed:
                return
            for bodies in message.get("stream", ()):
                self._stream(bodies)
            if "stream" not in message:
                wire.send(self.sock, self._perform(message, ask))

    def _stream(self, bodies: list[bytes]) -> None:
        """Answer an exercise's requests; replies travel together as long as nobody waits for one."""
        frames, since = bytearray(), time.monotonic()

        def flush() -> None:
            nonlocal since
            wire.send_bytes(self.sock, bytes(frames))
            frames.clear()
            since = time.monotonic()

        def ask(question: dict[str, Any]) -> dict[str, Any]:
            flush()
            return _ask(self.sock, question)

        ready_made.answered_by(ask)
        for body in bodies:
            frames += wire.pack(self._perform(wire.parse(body), ask))
            if time.monotonic() - since > PATIENCE:
                flush()
        flush()

    def _perform(self, message: dict[str, Any], ask: Ask) -> dict[str, Any]:
        self.printed.clear()
        request = {key: wire.decode(value) for key, value in message.items()}
        reply = perform(self.names, request, ask, self.watch)
        return {key: wire.encode(value) for key, value in reply.items()}


def _ask(sock: socket.socket, question: dict[str, Any]) -> dict[str, Any]:
    """Take a question of student code's to the trusted side."""
    wire.send(sock, {"question": {key: wire.encode(value) for key, value in question.items()}})
    return {key: wire.decode(value) for key, value in wire.receive(sock).items()}
