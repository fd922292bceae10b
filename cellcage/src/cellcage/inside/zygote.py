"""The zygote: a process that imports NumPy, PyTorch and IPython once, and then forks the fork servers of a run.

It runs no untrusted code. It sees all that any fork server may see. So each fork server is forked into its own
namespaces, and first of all loses access to what it does not need.

    zygote    reads `StartServer`, which comes with the descriptors that `_fork` describes, and `EndServer`
     ├ fork server   of trusted processes, if there are any (see `inside.fork_server`)
     └ fork servers  of notebooks; what only trusted processes may read is hidden from them
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import signal
import socket
import sys
from collections.abc import Sequence

from cellcage.backends.base import Backend
from cellcage.inside import fork_server
from cellcage.linux import system_calls
from cellcage.protocol import frames
from cellcage.protocol.messages import StartServer, ToZygote


def main(descriptor: int, backend: str, modules: Sequence[str]) -> None:
    """Serve the control socket on `descriptor` until its other end closes. backend: "module:class"."""
    control, sandbox = socket.socket(fileno=descriptor), pkgutil.resolve_name(backend)()
    _heed_signals()
    sandbox.heed_sigterm(control)
    _import(modules)
    system_calls.gather_pages()
    servers: dict[int, int] = {}
    try:
        with contextlib.suppress(frames.Closed):
            while True:
                message, descriptors = frames.receive_with_descriptors(control, ToZygote)
                if isinstance(message, StartServer):
                    servers[message.number] = _fork(control, message, descriptors, sandbox)
                    for received in descriptors:
                        os.close(received)
                elif pid := servers.pop(message.number, 0):
                    sandbox.end(pid)
    finally:
        for pid in servers.values():
            sandbox.end(pid)
        sandbox.leave_nothing()


def _heed_signals() -> None:
    """Handle signals as Python does by default, and block none.

    A run that was started by `nohup`, or in the background, ignores some. Its notebooks would ignore them, too, and the
    same code could earn another mark.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # Python ignores these two by itself
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _import(modules: Sequence[str]) -> None:
    gc.disable()  # imports leave nothing to collect, and collecting would take a fifth of the time
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # notebooks run side by side, and threads make small tensors slower
        torch.ones(1, requires_grad=True).sum().backward()  # initialises autograd, and reads the processor from /proc
    gc.collect()
    gc.freeze()
    gc.enable()


def _fork(control: socket.socket, order: StartServer, descriptors: list[int], backend: Backend) -> int:
    """Start a fork server. Its control socket is the first descriptor; `StartServer` says what the others are."""
    pid = backend.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        control.close()
        system_calls.die_with_parent()
        joining, others = descriptors[1 : 1 + order.joins], [descriptors[0], *descriptors[1 + order.joins :]]
        for file in joining:
            os.write(file, b"0")  # moves this process into the group, before it forks any
            os.close(file)
        confined = backend.trusted(order.policy) if order.policy.trusted else backend.untrusted(order.policy)
        confined.enter()
        sys.path[:0] = order.path
        fork_server.main(others, order, backend, confined)
    except BaseException as error:
        with contextlib.suppress(BaseException):
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)
