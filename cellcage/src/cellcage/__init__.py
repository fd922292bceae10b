"""Runs untrusted Python notebooks, and calls their functions, from outside. The README says what it promises.

What is listed here starts and ends processes, and moves bytes. `cellcage.notebook` reads what comes back, and
`cellcage.opening` puts both together. The other public modules: `cell_result`, `child`, `clock`, `errors`, `files`,
`limits`, `machine`, `notebook_calls`, `opening`, `process`, `wire`, and all of `calling`, `protocol` and `values`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cellcage.backends.base import Backend
    from cellcage.cell_result import CellResult
    from cellcage.errors import MachineError
    from cellcage.limits import Limits
    from cellcage.machine import choose_backend
    from cellcage.outside.fork_server_client import ForkServer
    from cellcage.outside.zygote_client import Zygote
    from cellcage.process import Process

__version__ = "0.1.0"
__all__ = [
    "Backend", "CellResult", "ForkServer", "Limits", "MachineError", "Process", "Zygote",
    "choose_backend",
]  # fmt: skip
# Each is imported when it is first used: most need Linux, and `protocol` and `values` work everywhere.
_HOMES = {
    "Backend": "backends.base",
    "CellResult": "cell_result",
    "ForkServer": "outside.fork_server_client",
    "Limits": "limits",
    "MachineError": "errors",
    "Process": "process",
    "Zygote": "outside.zygote_client",
    "choose_backend": "machine",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
