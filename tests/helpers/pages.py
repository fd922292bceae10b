"""The command lines in the pages of `docs/`, in order."""

from __future__ import annotations

import re

from tests.conftest import ROOT


def commands(name: str, heading: str = "") -> list[str]:
    """The command lines of a page, or of the section below one of its headings."""
    text = (ROOT / "docs" / f"{name}.md").read_text()
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```sh\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    lines = [line.strip() for block in blocks for line in re.sub(r"\\\n *", "", block).splitlines()]
    return [line for line in lines if line]
