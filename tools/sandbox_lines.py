"""Measure which lines run in the sandbox's processes, which may write no file, and most of which end by a signal.

    python -m tools.sandbox_lines PYTEST_ARGUMENTS...

Runs tests without bubblewrap, so that the sandbox starts in this machine's own view of its files. A hook in the
environment lets each zygote map a file into its memory and note there each line of the kit that runs. All processes
that it forks go on with that. Prints the lines of what `make coverage` leaves out.
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# What `make coverage` leaves out, see pyproject.toml.
MEASURED = "autograder/judge_process.py", "cellcage/src/cellcage/inside/*.py", "cellcage/src/cellcage/linux/*.py"
MOST_LINES = 1024  # of a module
ZYGOTE = "cellcage.inside.zygote"  # in the command line of a zygote
# Python runs such a line of the environment when it starts. If this tool is killed, the line stays and does nothing.
LINE = (
    "import os, sys; "
    "{zygote!r} in ' '.join(sys.orig_argv) and os.path.exists('/proc/{tool}') and exec(open({hook!r}).read())\n"
)
HOOK = """
sys.path.insert(0, {root!r})
from tools.sandbox_lines import note
del sys.path[0]
note({folder!r})
"""


def note(folder: str) -> None:
    """From now on, note the lines that this process and its forks run."""
    files = json.loads(Path(folder, "files.json").read_text())
    with open(Path(folder, "lines"), "r+b") as file:
        lines = mmap.mmap(file.fileno(), 0)

    def in_file(number: int) -> Callable[..., Any]:
        def line(frame: Any, event: str, arg: object) -> Any:
            lines[number * MOST_LINES + frame.f_lineno] = 1
            return line

        return line

    traces = {path: in_file(number) for number, path in enumerate(files)}

    def call(frame: Any, event: str, arg: object) -> Any:
        return traces.get(frame.f_code.co_filename)

    threading.settrace(call)
    sys.settrace(call)


def main(arguments: list[str]) -> int:
    """Run pytest, and print what ran. Returns pytest's exit code."""
    from coverage import Coverage, CoverageData

    files = sorted(str(path) for pattern in MEASURED for path in ROOT.glob(pattern))
    starts = Path(sysconfig.get_path("purelib"), "sandbox_lines.pth")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(folder, "files.json").write_text(json.dumps(files))
        Path(folder, "lines").write_bytes(bytes(len(files) * MOST_LINES))
        Path(folder, "bwrap").write_text("#!/bin/sh\nexit 1\n")
        Path(folder, "bwrap").chmod(0o755)
        Path(folder, "hook").write_text(HOOK.format(root=str(ROOT), folder=folder))
        starts.write_text(LINE.format(zygote=ZYGOTE, tool=os.getpid(), hook=str(Path(folder, "hook"))))
        try:
            environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
            done = subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=environment, check=False)
        finally:
            starts.unlink()
        noted = Path(folder, "lines").read_bytes()
        parts = [noted[number * MOST_LINES :][:MOST_LINES] for number in range(len(files))]
        data = CoverageData(str(Path(folder, "data")))
        data.add_lines(
            {path: [*filter(part.__getitem__, range(MOST_LINES))] for path, part in zip(files, parts, strict=True)}
        )
        data.write()
        measured = Coverage(str(Path(folder, "data")), config_file=False, include=files)
        measured.exclude("if TYPE_CHECKING:")
        measured.load()
        measured.report(show_missing=True, skip_covered=True, precision=1)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
