"""MkDocs: add the pages outside docs/, and those generated from the course, to the site."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "CHANGELOG.md": "changelog.md",
    "tests/README.md": "tests.md",
    "cellcage/README.md": "cellcage.md",
}
BESIDE = ("site.css", "site.js")  # named in mkdocs.yml
# `make docs` writes them with `autograder dev catalogue --pages`.
MADE = ROOT / "build" / "pages"
# Links as they work on GitHub, from the root or from docs/.
_LINK = re.compile(r"(?<=\]\()(docs/|\.\./)?([\w./-]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, and the style and script for accessibility."""
    for name in BESIDE:
        files.append(File.generated(config, name, content=Path(__file__).with_name(name).read_text(encoding="utf-8")))
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    for made in sorted(MADE.glob("*.md")):
        files.append(File.generated(config, made.name, content=made.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, **others: Any) -> str:
    """Rewrite links so that they work on the site."""
    return _LINK.sub(lambda found: PAGES.get(found[2], found[2]), markdown)
