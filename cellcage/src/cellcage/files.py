"""Files beside a notebook. Its code finds them in the folder that it runs in, and cannot change them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

FOLDER = "__folder__"  # among the trusted side's names: the folder that its code runs in; "" if there are no files


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Write read-only files into a folder. A file of the same name is replaced."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444), "wb") as file:
            file.write(data)
