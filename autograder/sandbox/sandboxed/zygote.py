"""The zygote: Python with NumPy, PyTorch and IPython. It forks the fork servers of a run, so these are imported once.

It knows no suite and no submission, and runs nobody's code. In a sandbox it is the one that sees all that any fork
server may see, so each fork server is forked into namespaces of its own and loses what is not for it before it does
anything.

    warm      its control socket brings "fork server" with the descriptors below, and "end"
     ├ fork server   of the judges (see `sandboxed.fork_server`)
     └ fork server   of notebooks, one for each worker; the course is hidden from it
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
from collections.abc import Sequence

from autograder.sandbox.backends import BACKENDS, Backend, confined
from autograder.sandbox.linux import isolation
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.messages import StartServer, ToZygote


def main(descriptor: int, backend: str, modules: Sequence[str]) -> None:
    """Serve the control socket on `descriptor` until its other end closes. backend: its name."""
    control, sandbox = socket.socket(fileno=descriptor), BACKENDS[backend]
    sandbox.heed_sigterm(control)
    _import(modules)
    isolation.gather_pages()
    servers: dict[int, int] = {}
    try:
        with contextlib.suppress(frames.Closed):
            while True:
                message, descriptors = frames.receive_with_descriptors(control, ToZygote)
                if isinstance(message, StartServer):
                    servers[message.number] = _fork(control, message, descriptors, sandbox)
                    for one in descriptors:
                        os.close(one)
                elif pid := servers.pop(message.number, 0):
                    sandbox.end(pid)
    finally:
        for pid in servers.values():
            sandbox.end(pid)
        sandbox.leave_nothing()


def _import(modules: Sequence[str]) -> None:
    gc.disable()  # what is imported stays: nothing to collect, and a fifth of the time
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # submissions run side by side, and small tensors lose by threads that wait
        torch.ones(1, requires_grad=True).sum().backward()  # sets up autograd, and looks at the processor in /proc
    gc.collect()
    gc.freeze()
    gc.enable()


def _fork(control: socket.socket, order: StartServer, descriptors: list[int], sandbox: Backend) -> int:
    """Start a fork server. Its control socket is the first descriptor; the others are files of its control group."""
    pid = sandbox.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        control.close()
        isolation.die_with_parent()
        for file in descriptors[1:]:
            os.write(file, b"0")  # itself: nothing that it forks was ever outside
            os.close(file)
        confined(order.policy).enter()
        if order.policy.kit:
            _begin_anew(order.policy.kit)
        server = importlib.import_module("autograder.sandbox.sandboxed.fork_server")
        server.main(descriptors[0], frames.body(order))
    except BaseException as error:
        with contextlib.suppress(BaseException):
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)


def _begin_anew(path: str) -> None:
    """The whole kit in place of the sandbox's part of it, which is all that the zygote has."""
    sys.path.insert(0, path)
    for name in [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]:
        del sys.modules[name]
