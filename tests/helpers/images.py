"""Dockerfiles without Docker: read into steps, and run in a fresh root folder, an overlay of this machine's."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

# In place of an hour of downloads: pip's call is looked at, and what it would have put on the path is put there.
PYTHON = """#!/bin/sh
case "$*" in
"-m pip install"*|"-m pip wheel"*) ;;
*) exec {python} "$@" ;;
esac
echo "$*" >> /pip.log
while [ $# -gt 0 ]; do
    case "$1" in
    --constraint) [ -f "$2" ] || {{ echo "no $2" >&2; exit 1; }} ;;
    --find-links) ls "$2"/*.whl > /dev/null || exit 1 ;;
    --wheel-dir) mkdir -p "$2" && : > "$2/made.whl" ;;
    --editable) [ -f pyproject.toml ] || exit 1
        printf '#!/bin/sh\\nPYTHONPATH=%s exec {python} -m autograder "$@"\\n' "$PWD" > /usr/local/bin/autograder
        chmod 755 /usr/local/bin/autograder ;;
    esac
    shift
done
"""


@dataclass(frozen=True)
class Step:
    """An instruction and what follows it."""

    word: str
    rest: str


def steps(path: Path) -> list[Step]:
    text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [Step(*line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def stages(path: Path) -> dict[str, list[Step]]:
    """Steps of each stage by name, those of the stages that it builds on before them."""
    found: dict[str, list[Step]] = {}
    for step in steps(path):
        if step.word == "FROM":
            words = step.rest.split()
            own = [*found.get(words[0], [])]
            found[words[2] if len(words) == 3 else ""] = own
        else:
            own.append(step)
    return found


def ignored(name: str) -> bool:
    """Does .dockerignore leave out this file? By its rules: patterns from the root, `**/` for any folder."""
    patterns = [line.strip("/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in "#"]
    parts = name.split("/")
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    anywhere = [p.removeprefix("**/") for p in patterns if p.startswith("**/")]
    if any(fnmatch.fnmatchcase(part, pattern) for part in parts for pattern in anywhere):
        return True
    as_deep = [(path, pattern) for path in above for pattern in patterns if path.count("/") == pattern.count("/")]
    return any(fnmatch.fnmatchcase(path, pattern) for path, pattern in as_deep)


def run(wanted: list[Step], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a stage's steps one by one as root in a fresh root folder, and then what it starts, if that is the kit."""
    source, root = folder / "source", folder / "root"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if not ignored(name) and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    for name in ("rw", "root", "shims"):
        (folder / name).mkdir()
    (folder / "shims" / "python").write_text(PYTHON.format(python=sys.executable))
    (folder / "shims" / "python").chmod(0o755)
    lines = [
        f"mount -t tmpfs none {folder}/rw", f"mkdir {folder}/rw/upper {folder}/rw/work",
        f"mount -t overlay overlay -o lowerdir=/,upperdir={folder}/rw/upper,workdir={folder}/rw/work {root}",
        f"mount -t proc none {root}/proc", f"mount --rbind /dev {root}/dev", f"mkdir {root}/shims {root}/source",
        f"mount --bind {folder}/shims {root}/shims", f"mount --bind {source} {root}/source",
        f"sed -i /:1000:/d {root}/etc/passwd {root}/etc/group",  # a fresh root folder has no such user
        # A Python that everybody can reach, as an image has it.
        f"chmod 755 {root}/root", f"rm -rf {root}/srv/course {root}/home/jovyan {root}/home/grader",
        "export PATH=/shims:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    ]  # fmt: skip
    here, user, start = "/", "", []
    for step in wanted:
        if step.word == "WORKDIR":
            here = step.rest
            lines.append(f"mkdir -p {root}{here}")
        elif step.word == "COPY":
            lines.append(_copied(step.rest.split(), str(root), here))
        elif step.word == "RUN":
            lines.append(f"chroot {root} /bin/sh -ec {shlex.quote(f'cd {here}; {step.rest}')}")
        elif step.word in ("ARG", "ENV"):
            lines.append(f"export {step.rest}")
        elif step.word == "USER":
            user = step.rest
        elif step.word in ("ENTRYPOINT", "CMD"):
            start += json.loads(step.rest)
    if start and start[0] == "autograder":
        become = f"setpriv --reuid $(id -u {user}) --regid $(id -g {user}) --clear-groups"
        begun = f"cd {here}; COLUMNS=250 exec {become} {shlex.join(start)}"
        lines.append(f"chroot {root} /bin/sh -ec {shlex.quote(begun)}")
    script = "\n".join([*lines, f"cat {root}/pip.log"])
    call = ["unshare", "--mount", "sh", "-e", "-c", script]
    return subprocess.run(call, capture_output=True, text=True, check=False, cwd="/")


def _copied(words: list[str], root: str, here: str) -> str:
    if words[0].startswith("--from="):
        return f"mkdir -p {root}{words[2]}; : > {root}{words[2]}/made.whl"
    place = words[1] if words[1].startswith("/") else f"{here}/{words[1]}"
    if words[0] == ".":
        return f"mkdir -p {root}{place}; cp -r {root}/source/. {root}{place}"
    return f"cp {root}/source/{words[0]} {root}{place}"
