"""Plain nbgrader, in a new process, because other tests may have loaded our plugin in this one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# Runs nbgrader's commands for several assignments in one process, which must not import this kit.
SCRIPT = """
import sys
from nbgrader.apps import NbGrader, NbGraderAPI
app = NbGrader()
app.initialize([])
api = NbGraderAPI(config=app.config)
_, step, student, *names = sys.argv
for name in names:
    done = api.autograde(name, student) if step == "autograde" else api.generate_assignment(name)
    assert done["success"], done
assert "autograder" not in sys.modules
"""


def stock(root: Path, step: str, names: Iterable[str], student: str = "*") -> None:
    """Generate or autograde these assignments. Repeats if a kernel died: two that start at once may share a port."""
    for last in (False, True):
        words = [sys.executable, "-c", SCRIPT, step, student, *names]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        if last or "Kernel died" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
