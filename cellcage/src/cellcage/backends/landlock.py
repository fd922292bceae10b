"""Landlock: a sandbox that each process builds around itself, for machines where bubblewrap does not work.

There are no mounts, no user namespaces and no pid namespaces. Therefore:

- a notebook's scratch is a folder. The fork server watches it (`scratch_watch`), and removes it when the notebook's
  processes have ended;
- a notebook is one process group, which it cannot leave (`seccomp`), so one signal ends all of it;
- if root starts the zygote, each fork server has a user of its own, so that its limit on processes is its own, too.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cellcage.backends.base import Backend, Forked, Trusted
from cellcage.backends.places import PACKAGE, SYSTEM, open_to_all, python_places
from cellcage.backends.process import UntrustedInAFolder
from cellcage.limits import Limits
from cellcage.linux import landlock_rules, scratch_watch, seccomp, system_calls
from cellcage.linux.call_process import ByDescriptor, InOwnGroup, InSignalScope
from cellcage.protocol.messages import Policy

BECOME_ANOTHER = system_calls.CAP_CHOWN | system_calls.CAP_SETGID | system_calls.CAP_SETUID
READ_ALL = system_calls.CAP_DAC_OVERRIDE | system_calls.CAP_DAC_READ_SEARCH
STOP_SECONDS = 5.0  # for the zygote to end what it has forked
SERVER_STOP_SECONDS = 4.0  # for a fork server to do so


class _UntrustedUnderLandlock(UntrustedInAFolder):
    """Each child writes in a folder of its own, which the fork server watches and clears away."""

    def enter(self) -> None:
        system_calls.use_as_temporary(self.policy.scratch)

    def before_first_fork(self) -> None:
        """The fork server runs nobody's code. It inspects its children, so its own rules allow more than theirs."""
        super().before_first_fork()
        self._rules = [*landlock_rules.reading(self.policy.readable)]
        own = [
            *self._rules,
            ("/proc", landlock_rules.READ | landlock_rules.WRITE_FILE),
            (self.policy.scratch, landlock_rules.WRITE),
        ]
        self.leave_nothing()  # what was written while warming up still belongs to root
        system_calls.adopt_orphans()
        _drop_root(self.policy)
        landlock_rules.restrict(own, self.policy.abi)
        self._watch = scratch_watch.ScratchWatch(self.policy.scratch)

    def tasks_of_user(self) -> int:
        """Without a user namespace, the limit on processes counts what the user runs already."""
        tasks = 0
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                    tasks += os.stat(f"/proc/{name}/task").st_nlink - 2
        return tasks

    def restrict(self) -> None:
        landlock_rules.restrict([*self._rules, (self._folder(os.getpid()), landlock_rules.WRITE)], self.policy.abi)
        if self._scopes_signals():
            _check_signal_scope(os.getppid())  # before anything relies on it

    def filter(self) -> seccomp.Filter:
        return seccomp.without_namespaces(seccomp.UNTRUSTED, self._scopes_signals())

    def call_process(self) -> InOwnGroup:
        return InSignalScope() if self._scopes_signals() else ByDescriptor()

    def watch(
        self, sockets: Sequence[socket.socket], children: Sequence[Forked], looks: Sequence[Callable[[], None]]
    ) -> None:
        while not select.select(sockets, [], [], scratch_watch.GLANCE if children else None)[0]:
            for look in looks:
                look()
            for child in children if self._watch.is_due() else ():
                if child.pid and (reason := self._watch.over_limit(child.pid, int(child.limits.scratch))):
                    child.over_limit = reason
                    self.end(child)

    def clear_away(self, pid: int) -> None:
        """Wait for all processes of the group, which have been killed, and remove their folder."""
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-pid, 0)
        super().clear_away(pid)

    def _scopes_signals(self) -> bool:
        return self.policy.abi >= landlock_rules.SCOPE_ABI


class _TrustedUnderLandlock(Trusted):
    """They read their places, and write nowhere."""

    def in_child(self, limits: Limits) -> None:
        _drop_root(self.policy)
        super().in_child(limits)

    def filter(self) -> seccomp.Filter:
        return seccomp.without_namespaces(seccomp.TRUSTED, self.policy.abi >= landlock_rules.SCOPE_ABI)

    def leave_nothing(self) -> None:
        """Remove what trusted code has left."""
        shutil.rmtree(self.policy.scratch, ignore_errors=True)


class Landlock(Backend):
    """Rules on files, TCP and signals, and a filter of system calls. It needs no rights and no namespaces."""

    name = "landlock"
    rank = 2
    untrusted = _UntrustedUnderLandlock
    trusted = _TrustedUnderLandlock

    @functools.cache  # noqa: B019  # there is one object
    def why_not(self) -> str | None:
        """None if a process can restrict itself with Landlock and seccomp here, else the reason in one sentence."""
        if sys.platform != "linux":
            return "Landlock is for Linux only"
        if os.uname().machine not in seccomp.MACHINES:
            return f"the list of refused system calls is not known for {os.uname().machine}"
        if landlock_rules.abi() == 0:
            return "this kernel has no Landlock (it takes Linux 5.13, and `landlock` in /sys/kernel/security/lsm)"
        if os.getuid() == 0 and (reason := _why_not_as_root()):
            return reason
        with ThreadPoolExecutor(1) as thread:  # its restriction ends with it
            return thread.submit(_restriction_fails).result()

    def what_is_lost(self) -> str | None:
        """What an older kernel's Landlock does not do."""
        version = landlock_rules.abi()
        lost = [text for since, text in landlock_rules.LOST if version < since]
        return f"this kernel's Landlock (version {version}) has " + "; ".join(lost) if lost else None

    def summary(self) -> str:
        """The filter of system calls is half of it."""
        return "Landlock and seccomp"

    def policy(self, trusted: bool, places: Sequence[Path], scratch: str, user: int) -> Policy:
        """Each fork server gets a folder. Trusted processes write nowhere."""
        os.mkdir(scratch, 0o755 if trusted else 0o700)
        readable = (*SYSTEM, *python_places(), sys.prefix, str(PACKAGE))
        if trusted:
            readable = (*readable, *map(str, places))
        return Policy(trusted, abi=landlock_rules.abi(), readable=readable, scratch=scratch, user=user)

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Ask the zygote first, since only it can end what it has forked."""
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        super().stop(process)

    def heed_sigterm(self, control: socket.socket) -> None:
        """On SIGTERM the process finds its socket closed, which it notices between two messages."""
        signal.signal(signal.SIGTERM, lambda *_: control.shutdown(socket.SHUT_RDWR))

    def end(self, pid: int) -> None:
        """Ask the fork server first, since only it can end what it has forked."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + SERVER_STOP_SECONDS
            while time.monotonic() < until:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.005)
        super().end(pid)


# ---------------------------------------------------------------- does it work here?


def _why_not_as_root() -> str | None:
    rights = system_calls.permitted_capabilities()
    if rights & BECOME_ANOTHER != BECOME_ANOTHER:
        return "root may not become another user here; start this as an ordinary user (docker run --user 1000)"
    private = next((place for place in (sys.prefix, sys.base_prefix) if not open_to_all(place)), None)
    if private and not rights & READ_ALL:
        return (
            f"Python lies in {private}, which only root may enter, and this root can't pass that right on; "
            "put Python elsewhere, such as in /opt, or grant CAP_DAC_READ_SEARCH"
        )
    return None


def _restriction_fails() -> str | None:
    """Restrict this thread with Landlock, and check that it works."""
    try:
        landlock_rules.restrict([], landlock_rules.abi())
        os.listdir("/")
    except PermissionError:
        return None
    except OSError as error:
        return f"Landlock does not work here ({error})"
    return "Landlock does not work here (a place that is out of reach can be read)"


# ---------------------------------------------------------------- steps in the sandbox


def _drop_root(policy: Policy) -> None:
    """Become the policy's user, if root started this. It may look up paths if only root may enter Python's folder."""
    if os.getuid() == 0 and not policy.trusted:
        os.chown(policy.scratch, policy.user, policy.user)
    reachable = all(map(open_to_all, (sys.prefix, sys.base_prefix, os.path.dirname(policy.scratch))))
    # Docker's root has no right to read what others may not, but a wider one. Landlock limits what it can open.
    narrow_right = system_calls.permitted_capabilities() & system_calls.CAP_DAC_READ_SEARCH
    look_up = narrow_right or system_calls.CAP_DAC_OVERRIDE
    system_calls.leave_root(policy.user, keep=0 if reachable else look_up)


def _check_signal_scope(pid: int) -> None:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return
    raise OSError("landlock: signals are not kept in, though the kernel says that they are")
