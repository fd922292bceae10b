"""A sandbox for one notebook, in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from cellcage.limits import Limits
from cellcage.machine import choose_backend
from cellcage.notebook import Notebook
from cellcage.outside.fork_server_client import ForkServer
from cellcage.outside.zygote_client import Zygote


@contextlib.contextmanager
def opened(
    cells: Sequence[str], limits: Limits | None = None, kind: str = "auto", imports: Sequence[str] = ()
) -> Iterator[Notebook]:
    """A notebook whose cells have run, in a sandbox that ends with the block.

    cells: source texts, in order
    kind: of the sandbox, see `choose_backend`
    imports: modules that are imported before, outside the cells' time
    Raises `MachineError` if the machine could not run it.
    """
    limits = limits or Limits()
    with (
        Zygote(choose_backend(kind)[0], imports) as zygote,
        ForkServer(zygote) as server,
        server.process(limits) as process,
        Notebook(cells, limits, process) as notebook,
    ):
        yield notebook
