"""A demonstration that calls an unfinished exercise waits for it: a sentence in place of a traceback.

So Run All goes through in a notebook that is only begun. A stub raises `NotImplementedError()`; a cell that ends in one
is told which exercise it needs, and counts as run. A cell that uses what such a cell would have defined waits, too. All
other errors are shown as always. This stands on two hooks that IPython offers, in JupyterLab, in Colab and elsewhere.
"""

from __future__ import annotations

import dis
import sys
import traceback
from types import TracebackType
from typing import Any


def in_this_notebook() -> None:
    """From now on cells of the running notebook wait; nothing where there is none."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        begin(shell)


def begin(shell: Any) -> None:
    """From now on cells of this shell of IPython's wait."""
    waiting = Waiting(shell)
    shell.set_custom_exc((*waiting.others, NotImplementedError, NameError), waiting.shown)
    shell.events.register("post_run_cell", waiting.ran)


class Waiting:
    """What cells of one notebook wait for.

    others: exceptions that somebody else shows in this shell, as Colab does; they still do
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.others, self._as_others_do = shell.custom_exceptions, shell.CustomTB
        self._missing: dict[str, str] = {}  # what cells that wait would have defined, and what each waits for
        self._needed = ""  # by the cell that runs now

    def shown(self, shell: Any, kind: Any, error: BaseException, trace: TracebackType, tb_offset: Any = None) -> Any:
        """A sentence if the cell waits, else what the shell shows without us."""
        above = error.name if isinstance(error, NameError) and error.name in self._missing else ""
        self._needed = self._missing.get(above, "") or self._stub(error)
        if above:
            print(
                f"This cell needs `{above}` from a cell above, which waits for `{self._needed}`. "
                "Finish it, then run that cell and this one again."
            )
        elif self._needed:
            print(f"This cell needs `{self._needed}`. Finish it and run this cell again.")
        elif isinstance(error, self.others):
            return self._as_others_do(kind, error, trace, tb_offset=tb_offset)
        else:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return None

    def ran(self, result: Any) -> None:
        """A cell that waits has not failed: what runs all of them goes on."""
        names = self._shell.user_ns
        self._missing = {name: exercise for name, exercise in self._missing.items() if name not in names}
        if self._needed and result is not None:
            result.error_in_exec = None
            code = compile(self._shell.transform_cell(result.info.raw_cell), "<cell>", "exec", dont_inherit=True)
            stored = {one.argval for one in dis.get_instructions(code) if one.opname == "STORE_NAME"}
            self._missing |= {name: self._needed for name in stored if name not in names}
        self._needed = ""

    def _stub(self, error: BaseException) -> str:
        """The notebook's function or class whose stub raised this; empty if none did."""
        if not isinstance(error, NotImplementedError) or error.args:
            return ""
        frame, _ = list(traceback.walk_tb(error.__traceback__))[-1]
        owner = frame.f_code.co_qualname.partition(".")[0]
        return owner if frame.f_globals is self._shell.user_ns and owner in self._shell.user_ns else ""
