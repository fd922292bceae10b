"""The package depends on no application, and `import cellcage` is light."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import cellcage

PACKAGE = Path(cellcage.__file__).parent


def test_no_module_mentions_the_autograder():
    words = re.compile(r"autograder|nbgrader|pytest|submission|gradebook|hidden test|course", re.IGNORECASE)
    found = {
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in PACKAGE.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if words.search(line)
    }
    assert not found


def test_import_is_light():
    code = "import sys, cellcage; print(sorted(set(sys.modules) & {'numpy', 'IPython', 'subprocess', 'resource'}))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_public_names_are_few_and_exist():
    assert len(cellcage.__all__) <= 12
    assert all(getattr(cellcage, name) is not None for name in cellcage.__all__)
