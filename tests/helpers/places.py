"""Copies of the kit, to run documented commands, and to imitate other machines (as root)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

ORDINARY = 65534  # a user without special rights


def checkout(folder: Path, assignment: str = "") -> Path:
    """A copy of the repository, with all assignments or one, and this interpreter's environment as its `.venv`."""
    # Keep bytecode: the sandbox cannot write it, so each run would compile the kit again.
    left_out = shutil.ignore_patterns(
        ".venv", ".git", ".*_cache", ".hypothesis", "demo", "gradebook.db", "submitted", "public", "jupyterlite"
    )
    shutil.copytree(ROOT, folder, ignore=left_out)
    for place in ("source", "solutions", "assignments") if assignment else ():
        for other in (folder / place).iterdir():
            if other.name != assignment:
                shutil.rmtree(other)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def typed(command: str, folder: Path, **environment: str) -> str:
    """Run a command line in this folder; returns its output."""
    # Make must not install the environment again.
    script = f'make() {{ command make -o .venv/installed -o .venv/developer "$@"; }}\n{command}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


class Machine:
    """A copy of the kit and a Python that all users can reach, for another user, a read-only root or no namespaces."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.kit, self.environment = folder, folder / "kit", folder / "environment"
        self.base, self.scratch = folder / "python", folder / "scratch"
        left = shutil.ignore_patterns(".venv", ".git", ".*_cache", ".hypothesis", "demo")
        shutil.copytree(ROOT, self.kit, ignore=left)
        for one in (folder, *(parent for parent in folder.parents if "pytest" in str(parent))):
            one.chmod(0o755)
        self.packages = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        (self.environment / self.packages).mkdir(parents=True)
        (self.environment / "bin").mkdir()
        self.base.mkdir()
        self.scratch.mkdir()
        (self.environment / "pyvenv.cfg").write_text(f"home = {self.base}/bin\n")
        (self.environment / "bin" / "python").symlink_to(self.base / "bin" / "python3")
        self.python = f"{self.environment}/bin/python"

    def run(self, *words: str, **how):
        """Run `autograder` with these arguments."""
        return self.call(self.kit, self.python, "-m", "autograder", *words, **how)

    def call(
        self,
        cwd: Path,
        *command: str,
        user: int = 0,
        container: bool = False,
        last_namespace: bool = False,
        writable: Path | None = None,
    ):
        """Run a command in a folder. In a container it can write only to `writable` and the scratch folder."""
        into = f"setpriv --reuid {user} --regid {user} --clear-groups" if user else ""
        first = ""
        if container:
            into = f"{self.python} -I -B {self.kit}/tests/helpers/container.py {user}"
            # No control group, and no writable folder except scratch.
            first += f"\nmount -t tmpfs -o mode=1777 none {self.scratch}\nmount -t tmpfs none /sys/fs/cgroup"
            first += f"\nmount --bind {writable} {writable}" if writable else ""
            first += "\nmount -o remount,bind,ro /"
        if last_namespace:
            into = f"{self.python} -I -B {self.kit}/tests/helpers/container.py namespace"
        script = f"""
            mount --bind {sys.base_prefix} {self.base}
            mount --bind {sys.prefix}/{self.packages} {self.environment}/{self.packages}
            {first}
            cd {cwd}
            exec env -i PATH=/usr/bin:/bin HOME=/nonexistent PYTHONDONTWRITEBYTECODE=1 COLUMNS=250 \\
                TMPDIR={self.scratch} {into} {" ".join(command)}
        """
        call = ["unshare", "--mount", "sh", "-e", "-c", script]
        return subprocess.run(call, capture_output=True, text=True, check=False)
