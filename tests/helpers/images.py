"""Reads Dockerfiles into steps, and `.dockerignore`."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT


@dataclass(frozen=True)
class Step:
    """An instruction and its arguments."""

    word: str
    rest: str


def steps(path: Path) -> list[Step]:
    text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [Step(*line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def stages(path: Path) -> dict[str, list[Step]]:
    """The steps of each stage by name, including those of the stages it builds on."""
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
    """Whether .dockerignore excludes this file: patterns start at the root, `**/` matches any folder."""
    patterns = [line.strip("/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in "#"]
    parts = name.split("/")
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    anywhere = [p.removeprefix("**/") for p in patterns if p.startswith("**/")]
    if any(fnmatch.fnmatchcase(part, pattern) for part in parts for pattern in anywhere):
        return True
    as_deep = [(path, pattern) for path in above for pattern in patterns if path.count("/") == pattern.count("/")]
    return any(fnmatch.fnmatchcase(path, pattern) for path, pattern in as_deep)
