"""Cells that need an unfinished exercise show a sentence instead of a traceback, and count as run.

So Run All works in a notebook that is only begun. A stub raises `NotImplementedError()`. A cell that fails for that
reason *waits*: it shows which exercise it needs. A cell that uses a name that a waiting cell would have defined waits,
too. So does a cell that needs PyTorch in a browser, which has none. All other errors are shown as usual. This uses two
hooks of IPython, which JupyterLab, Colab and others have.
"""

from __future__ import annotations

import dis
import sys
import traceback
from types import TracebackType
from typing import Any

PYTORCH = "PyTorch"
NOT_IN_BROWSER = (
    "This needs PyTorch, which a browser does not have: choose File, Download, and go on with that file in JupyterLab "
    "or Colab, where it keeps what you have done here."
)


def in_browser() -> bool:
    """True if this Python runs in a browser, as in JupyterLite."""
    return sys.platform == "emscripten"


def begin(shell: Any = None) -> None:
    """Let the cells of an IPython shell wait from now on; of the running notebook if none is given and there is one."""
    if shell is None and "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
    if shell is not None:
        waiting = Waiting(shell)
        shell.set_custom_exc((*waiting.others, NotImplementedError, NameError, ModuleNotFoundError), waiting.shown)
        shell.events.register("post_run_cell", waiting.ran)


class Waiting:
    """The waiting cells of one notebook.

    others: exceptions that another handler shows in this shell, such as Colab's; they are still left to it
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.others, self._other_handler = shell.custom_exceptions, shell.CustomTB
        self._missing: dict[str, str] = {}  # names that waiting cells would have defined, each with its exercise
        self._needed = ""  # the exercise that the running cell needs

    def shown(self, shell: Any, kind: Any, error: BaseException, trace: TracebackType, tb_offset: Any = None) -> Any:
        """IPython calls this for an error: show a sentence if the cell waits, else what the shell shows without us."""
        above = error.name if isinstance(error, NameError) and error.name in self._missing else ""
        self._needed = self._missing.get(above, "") or self._stub(error) or _pytorch(error)
        if self._needed == PYTORCH:
            print(NOT_IN_BROWSER)
        elif above:
            print(
                f"This cell needs `{above}` from a cell above, which waits for `{self._needed}`. "
                "Finish it, then run that cell and this one again."
            )
        elif self._needed:
            print(f"This cell needs `{self._needed}`. Finish it and run this cell again.")
        elif isinstance(error, self.others):
            return self._other_handler(kind, error, trace, tb_offset=tb_offset)
        else:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return None

    def ran(self, result: Any) -> None:
        """IPython calls this after each cell. A waiting cell counts as a success, so Run All goes on."""
        names = self._shell.user_ns
        self._missing = {name: exercise for name, exercise in self._missing.items() if name not in names}
        if self._needed and result is not None:
            result.error_in_exec = None
            code = compile(self._shell.transform_cell(result.info.raw_cell), "<cell>", "exec", dont_inherit=True)
            stored = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
            self._missing |= {name: self._needed for name in stored if name not in names}
        self._needed = ""

    def _stub(self, error: BaseException) -> str:
        """The notebook's function or class whose stub raised this error; empty if it came from elsewhere."""
        if not isinstance(error, NotImplementedError) or error.args:
            return ""
        frame, _ = list(traceback.walk_tb(error.__traceback__))[-1]
        owner = frame.f_code.co_qualname.partition(".")[0]
        return owner if frame.f_globals is self._shell.user_ns and owner in self._shell.user_ns else ""


def _pytorch(error: BaseException) -> str:
    return PYTORCH if isinstance(error, ModuleNotFoundError) and error.name == "torch" and in_browser() else ""
