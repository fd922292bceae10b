"""Runs untrusted Python notebooks, and calls their functions, from outside.

`import cellcage` starts and ends processes and moves bytes. What comes back from untrusted code is read in
`cellcage.notebook` and `cellcage.protocol`. See the README for the promises, and for what is not covered.

Other public modules are `notebook`, `machine`, `child`, `files`, and the packages `protocol`, `values` and `calling`.
"""

from cellcage.backends.base import Backend
from cellcage.errors import MachineError
from cellcage.limits import MIB, Limits
from cellcage.machine import choose_backend
from cellcage.outside.fork_server_client import Child, ForkServer, FreshChildren
from cellcage.outside.zygote_client import Zygote
from cellcage.promises import PROMISES

__all__ = [
    "MIB", "PROMISES", "Backend", "Child", "ForkServer", "FreshChildren", "Limits", "MachineError", "Zygote",
    "choose_backend",
]  # fmt: skip
__version__ = "0.1.0"
