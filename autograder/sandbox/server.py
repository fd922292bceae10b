"""Inside the sandbox: one warm process that forks for every submission, which forks for every test.

    warm    NumPy, PyTorch and IPython imported; runs no student code; forks on request
     └ guard     first process of a private pid namespace; when it ends, all below it end
        └ state     has run the notebook's cells; forks a test for each request
           └ test      one call of a suite's test, then gone, so that no state reaches the next test

Messages travel on sockets of their own. What student code prints goes to a bounded buffer, and what it
writes to descriptors 1 and 2 goes nowhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import io
import os
import random
import resource
import signal
import socket
import sys
import types
from typing import Any

from autograder.sandbox import ready_made, seccomp, wire
from autograder.sandbox.perform import describe, perform
from autograder.sandbox.stand_in import Ask

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV = 2, 4
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
KEYCTL_JOIN_SESSION_KEYRING = 1
SYSCALLS = {"x86_64": (250, 126), "aarch64": (219, 91)}  # numbers of keyctl and capset
libc = ctypes.CDLL(None, use_errno=True)


# ---------------------------------------------------------------- warm


def main(descriptor: int, isolated: bool) -> None:
    """Serve the control socket on `descriptor` until its other end closes."""
    control = socket.socket(fileno=descriptor)
    _leave_root(isolated)
    shell = _warm_shell()
    held = _held()
    guards: dict[int, int] = {}
    wire.send(control, {"ready": True})
    while True:
        try:
            message, fds = wire.receive_with_descriptor(control)
        except wire.Closed:
            break
        if message["op"] == "open":
            guards[message["id"]] = _fork_guard(control, fds[0], message["limits"] | {"held": held}, shell, isolated)
            os.close(fds[0])
        elif message["op"] == "close":
            _end_guard(guards.pop(message["id"]))
            wire.send(control, {"closed": message["id"]})
    for pid in guards.values():
        _end_guard(pid)


def _leave_root(isolated: bool) -> None:
    """Started by root, student code still runs as nobody: limits on processes do not bind root."""
    if isolated and os.getuid() == 0:
        nobody = 65534
        os.setgroups([])
        os.setresgid(nobody, nobody, nobody)
        os.setresuid(nobody, nobody, nobody)
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # so that its /proc/self files belong to nobody, too


def _warm_shell() -> Any:
    """Import what every submission needs, once, and make the shell that its cells will run in."""
    import numpy as np
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = _quiet_shell_class(InteractiveShell)(config=config)
    names = {"math": __import__("math"), "np": np}
    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(1)
        # The first backward pass sets up autograd; done here, no submission pays for it.
        torch.ones(1, requires_grad=True).sum().backward()
        ready_made.take_away()
        names |= {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    shell.user_ns.update(names)
    shell.run_cell("None", store_history=False)  # loads what IPython loads late
    _seed()
    gc.collect()
    gc.freeze()
    return shell


def _seed() -> None:
    """The same submission gives the same report: every fork starts from the same random state."""
    import numpy as np

    random.seed(0)
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def _quiet_shell_class(base: type) -> type:
    """An IPython shell that keeps errors as data and prints results without prompts."""
    from IPython.core.displayhook import DisplayHook

    class PlainDisplayHook(DisplayHook):  # type: ignore[misc]
        def write_output_prompt(self) -> None:
            """No `Out[3]:` before a result."""

    class QuietShell(base):  # type: ignore[misc]
        displayhook_class = PlainDisplayHook

        def showtraceback(self, *args: Any, **kwargs: Any) -> None:
            """The error is reported by the cell's runner."""

        showsyntaxerror = showindentationerror = showtraceback

    return QuietShell


def _held() -> dict[str, int]:
    """Bytes that this process holds: private writable memory (RLIMIT_DATA), address space (RLIMIT_AS)."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return {"data": int(fields["VmData"].split()[0]) * 1024, "space": int(fields["VmSize"].split()[0]) * 1024}


def _fork_guard(control: socket.socket, descriptor: int, limits: dict[str, Any], shell: Any, isolated: bool) -> int:
    """Fork a submission: new namespaces, limits, then the guard and the state process."""
    pid = os.fork()
    if pid:
        return pid
    try:
        control.close()
        os.setsid()
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        _first_to_go()
        if isolated:
            _enter_namespaces()
            inner = os.fork()
            if inner:
                os.close(descriptor)
                os.waitpid(inner, 0)
                os._exit(0)
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            _private_places(int(limits["scratch"]))
            _drop_capabilities()
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        seccomp.apply()
        _guard(descriptor, limits, shell, isolated)
    except BaseException as error:
        with contextlib.suppress(BaseException):
            wire.send(socket.socket(fileno=descriptor), {"broken": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(1)


def _first_to_go() -> None:
    """Where memory runs out, the kernel ends this submission's processes before the warm one."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _end_guard(pid: int) -> None:
    """Kill a submission with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


# ---------------------------------------------------------------- guard


def _enter_namespaces() -> None:
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET
    if libc.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare: " + os.strerror(ctypes.get_errno()))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _private_places(scratch: int) -> None:
    """Fresh, small, and gone with the namespace: scratch space, shared memory; and no view of /proc."""
    for place, size in (("/tmp", scratch), ("/dev/shm", scratch), ("/proc", 4096)):  # noqa: S108
        _mount(place, size, "1777")
    if "torch" in sys.modules:
        # A new process finds no PyTorch that still has its ready-made attention; what this one needs is loaded.
        libraries = os.path.join(os.path.dirname(sys.modules["torch"].__file__ or ""), "lib")
        _mount(libraries, 4096, "0555")
    os.chdir("/tmp")  # noqa: S108


def _mount(place: str, size: int, mode: str) -> None:
    options = f"size={size},mode={mode},nr_inodes=4096".encode()
    if libc.mount(b"tmpfs", place.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options):
        raise OSError(ctypes.get_errno(), f"mount {place}: {os.strerror(ctypes.get_errno())}")


def _drop_capabilities() -> None:
    """No right of the new user namespace is left to student code, and no keyring of the old one."""
    keyctl, capset = SYSCALLS.get(os.uname().machine, (None, None))
    if keyctl is not None:
        libc.syscall(keyctl, KEYCTL_JOIN_SESSION_KEYRING, None)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        libc.syscall(capset, header, (ctypes.c_uint32 * 6)())


def _guard(descriptor: int, limits: dict[str, Any], shell: Any, isolated: bool) -> None:
    """Fork the state process and reap orphans until it ends."""
    state = os.fork()
    if state == 0:
        try:
            _set_limits(limits)
            _State(socket.socket(fileno=descriptor), limits, shell, isolated).serve()
        finally:
            os._exit(0)
    os.close(descriptor)
    while True:
        pid, _ = os.wait()
        if pid == state:
            os._exit(0)


def _set_limits(limits: dict[str, Any]) -> None:
    """Per-process limits. Memory counts on top of what Python and PyTorch hold already."""
    soft = {
        resource.RLIMIT_DATA: int(limits["held"]["data"] + limits["memory"]),
        # Shared mappings, too; address space that is reserved and never used needs some room.
        resource.RLIMIT_AS: int(limits["held"]["space"] + 2 * limits["memory"]),
        resource.RLIMIT_NPROC: int(limits["processes"]),
        resource.RLIMIT_NOFILE: int(limits["open_files"]),
        resource.RLIMIT_FSIZE: int(limits["scratch"]),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits["submission_seconds"]) + 1,
    }
    for limit, value in soft.items():
        resource.setrlimit(limit, (value, value))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


# ---------------------------------------------------------------- state


class _State:
    """Runs the cells once, then forks for each test."""

    def __init__(self, sock: socket.socket, limits: dict[str, Any], shell: Any, isolated: bool) -> None:
        self.sock = sock
        self.limits = limits
        self.shell = shell
        self.isolated = isolated
        self.test = 0
        self.printed = _Bounded(int(limits["printed_characters"]))

    def serve(self) -> None:
        _silence()
        sys.stdout = sys.stderr = self.printed  # type: ignore[assignment]
        sys.stdin = io.StringIO()
        sys.modules["autograder"] = _student_package()
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
            _Test(socket.socket(fileno=descriptor), self.shell.user_ns, self.printed).serve()
        finally:
            os._exit(0)

    def _end_test(self) -> None:
        if not self.test:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.isolated:
                os.kill(-1, signal.SIGKILL)  # all of this pid namespace but its guard and this process
            else:
                os.killpg(self.test, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)


def _interrupt(signum: int, frame: Any) -> None:
    raise KeyboardInterrupt("the cell ran out of time")


def _silence() -> None:
    """Descriptors 0, 1 and 2 lead nowhere: C code that prints disturbs nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)


class _Bounded(io.TextIOBase):
    """A text stream that keeps the first characters and says that it cut the rest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        self.parts: list[str] = []
        self.left = self.size
        self.cut = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.cut = self.cut or len(text) > self.left
        self.left -= len(text)
        return len(text)

    def getvalue(self) -> str:
        """All that was kept."""
        return "".join(self.parts) + ("\n... (the rest of the output was cut)" if self.cut else "")


def _student_package() -> types.ModuleType:
    """`from autograder import check` works while grading, and does nothing; `autograder.grading` is True."""
    module = types.ModuleType("autograder")
    module.grading = True  # type: ignore[attr-defined]
    module.__getattr__ = lambda name: _nothing  # type: ignore[method-assign]
    return module


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Visible checks and pictures are for the student's screen, not for grading."""


# ---------------------------------------------------------------- test


class _Test:
    """Answers the calls of one test."""

    def __init__(self, sock: socket.socket, names: dict[str, Any], printed: _Bounded) -> None:
        self.sock = sock
        self.names = names
        self.printed = printed

    def serve(self) -> None:
        ask = functools.partial(_ask, self.sock)
        ready_made.answered_by(ask)
        wire.send(self.sock, {"ready": True})
        while True:
            try:
                message = wire.receive(self.sock)
            except wire.Closed:
                return
            for body in message.get("stream", ()):
                wire.send(self.sock, self._perform(wire.parse(body), None))
            if "stream" not in message:
                wire.send(self.sock, self._perform(message, ask))

    def _perform(self, message: dict[str, Any], ask: Ask | None) -> dict[str, Any]:
        self.printed.clear()
        request = {key: wire.decode(value) for key, value in message.items()}
        return {key: wire.encode(value) for key, value in perform(self.names, request, ask).items()}


def _ask(sock: socket.socket, question: dict[str, Any]) -> dict[str, Any]:
    """Take a question of student code's to the trusted side."""
    wire.send(sock, {"question": {key: wire.encode(value) for key, value in question.items()}})
    return {key: wire.decode(value) for key, value in wire.receive(sock).items()}
