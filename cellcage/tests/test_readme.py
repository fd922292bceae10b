"""The README's example is correct."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()


@pytest.mark.slow
def test_readme_example_prints_what_the_readme_says():
    code, printed = re.search(r"```python\n(.*?)```\n\nIt prints\n\n```\n(.*?)```", README, re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr
