"""Run a notebook in a Python without what Pyodide lacks, as a script: modules, PyTorch, new threads and timers.

    python -m tests.helpers.without_system NOTEBOOK

Prints the cells' outputs as text. Standard error lists the cells that raised.
"""

from __future__ import annotations

import importlib.abc
import json
import signal
import sys
import threading
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

LACKING = ("fcntl", "grp", "pwd", "resource", "termios", "torch", "_posixsubprocess", "_multiprocessing")


class Lacking(importlib.abc.MetaPathFinder):
    """Finds none of the modules that Pyodide lacks."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in LACKING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def lacks(*_, **__):
    raise RuntimeError("can't start new thread")


def main(path):
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    for name in LACKING:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Lacking())
    sys.platform = "emscripten"
    threading.Thread.start = lacks
    del signal.setitimer
    for cell in json.loads(Path(path).read_text())["cells"]:
        if cell["cell_type"] == "code" and not shell.run_cell("".join(cell["source"])).success:
            print("raised:", "".join(cell["source"]), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
