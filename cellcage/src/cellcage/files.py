"""Files beside a notebook. Its code finds them in the folder that it runs in, and cannot change them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

FOLDER = "__folder__"  # among the trusted side's names: the folder that its code runs in; "" if there are no files


def top(place: str) -> str:
    """The outermost part of a file's place: its name, or the folder that it lies in."""
    return place.partition("/")[0]


def module_name(place: str) -> str:
    """The name by which code imports a Python file, or the package that it lies in."""
    return top(place).removesuffix(".py")


def put(files: Mapping[str, bytes], folder: Path, mode: int = 0o444) -> None:
    """Write files into a folder, by default read-only ones. A file of the same name is replaced."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
