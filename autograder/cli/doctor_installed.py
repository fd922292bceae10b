"""What is installed here and should not be: a bubblewrap with a known fault, another package `autograder`.

Faults of bubblewrap that do not concern this kit are not listed:

- CVE-2017-5226 (a command is typed into the terminal) needs a sandbox without `--new-session`; ours has it.
  https://github.com/containers/bubblewrap/blob/main/SECURITY.md
- CVE-2024-42472 is Flatpak's: it binds folders that an app writes to. Ours binds none. bubblewrap 0.10.0 has
  `--bind-fd` for it. https://github.com/flatpak/flatpak/security/advisories/GHSA-7hgv-f2j8-xw87
- CVE-2026-87766 (before 0.12.0) follows links inside folders that are bound, while the sandbox is set up. Ours binds
  the system, Python, the kit and the course, where no submission lies.
  https://github.com/containers/bubblewrap/releases/tag/v0.12.0
"""

from __future__ import annotations

import contextlib
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from autograder.cli.condition import GOOD, LESS, UNSAFE, Condition

PACKAGE, DISTRIBUTION = "autograder", "sandboxed-autograder"
OWN_FILE = "sandbox/sandboxed/zygote.py"  # no other package of this name has it
WRONG_IMPORT = "notebooks and nbgrader may import what is not this kit"
SECONDS = 10.0  # for a program to print its version
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True)
class Fault:
    """A published fault of bubblewrap, in versions from `since` on and before `fixed`.

    setuid: True if the fault needs a program with root's rights (`chmod u+s`). Student code cannot get these rights
        (`no_new_privs`), but other users of the machine can.
    """

    name: str
    since: tuple[int, ...]
    fixed: tuple[int, ...]
    setuid: bool
    means: str


BECOMES_ROOT = "whoever has an account here may become root, and root can change every mark"
FAULTS = (
    # https://github.com/advisories/GHSA-q7w7-m7vg-xxg8, https://github.com/containers/bubblewrap/issues/107
    Fault("CVE-2016-8659", (0,), (0, 1, 3), True, BECOMES_ROOT),
    # https://github.com/advisories/GHSA-hj8h-43q8-g8vp, https://github.com/projectatomic/bubblewrap/issues/304
    Fault("CVE-2019-12439", (0,), (0, 3, 3), False, "another user can stop grading, or perhaps run code in a sandbox"),
    # https://github.com/containers/bubblewrap/security/advisories/GHSA-j2qp-rvxj-43vj: --userns2, new in 0.4.0
    Fault("CVE-2020-5291", (0, 4, 0), (0, 4, 1), True, BECOMES_ROOT),
    # https://github.com/containers/bubblewrap/security/advisories/GHSA-xq78-7hw4-5jvp: overlays, new in 0.11.0
    Fault("CVE-2026-41163", (0, 11, 0), (0, 11, 2), True, BECOMES_ROOT),
)


def faults_of_bubblewrap() -> Iterator[Condition]:
    """A line for each published fault that the installed bubblewrap may have."""
    program = shutil.which("bwrap")
    if program is None:
        return
    version = _version(program)
    is_setuid = bool(Path(program).stat().st_mode & stat.S_ISUID)
    for fault in FAULTS:
        if fault.since <= version < fault.fixed and (is_setuid or not fault.setuid):
            how = f"{'.'.join(map(str, version))}{', setuid' if is_setuid else ''}: {fault.name}"
            wanted = ".".join(map(str, fault.fixed))
            remedy = f"bubblewrap {wanted} or newer, or your distribution's update that names {fault.name}"
            remedy += f"; or chmod u-s {program}" if fault.setuid else ""
            yield Condition("bubblewrap's version", LESS, how, fault.means, remedy)


def _version(program: str) -> tuple[int, ...]:
    """The numbers in `bubblewrap 0.8.0`. If it prints no version, a very high one, which has no known fault."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=SECONDS)
        if found := _VERSION.search(done.stdout):
            return tuple(int(number or 0) for number in found.groups())
    return (sys.maxsize,)


def other_package() -> Condition:
    """Whether there is another package `autograder`, which a notebook or nbgrader could import instead."""
    kit = Path(__file__).resolve().parents[1]
    names = {name for name in packages_distributions().get(PACKAGE, ()) if _normal(name) != DISTRIBUTION}
    with contextlib.suppress(PackageNotFoundError):
        names.add(distribution(PACKAGE).name)
    if names:
        remedy = f"pip uninstall {' '.join(sorted(names))}, then install this kit again"
        return Condition(PACKAGE, UNSAFE, f"also brought by {', '.join(sorted(names))}", WRONG_IMPORT, remedy)
    for folder in dict.fromkeys(Path(place or ".").resolve() for place in sys.path):
        for path in (folder / PACKAGE / "__init__.py", folder / f"{PACKAGE}.py"):
            if path.parent != kit and path.is_file():
                return _another(path)
    return Condition(PACKAGE, GOOD, str(kit), "the only package of this name")


def _another(path: Path) -> Condition:
    """Another copy of the kit, such as a clone beside the installed one, is no danger, but may be older."""
    if (path.parent / OWN_FILE).is_file():
        means = "notebooks and nbgrader may use the other copy, which may have another version"
        return Condition(PACKAGE, LESS, f"another copy of the kit: {path.parent}", means, "keep one of them")
    return Condition(PACKAGE, UNSAFE, f"another one: {path}", WRONG_IMPORT, f"remove or rename {path}")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
