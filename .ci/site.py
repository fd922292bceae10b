"""MkDocs: the pages that lie beside docs/, and those that are made of the course, become pages of the site."""

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
}
BESIDE = ("site.css", "site.js")  # named in mkdocs.yml
# Written anew by `make docs`, with `autograder dev catalogue --pages`, and kept nowhere.
MADE = ROOT / "build" / "pages"
# As GitHub reads them from the root, or from docs/.
_LINK = re.compile(r"(?<=\]\()(docs/|\.\./)?([\w./-]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, and what makes all of them readable to everybody."""
    for name in BESIDE:
        files.append(File.generated(config, name, content=Path(__file__).with_name(name).read_text(encoding="utf-8")))
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    for made in sorted(MADE.glob("*.md")):
        files.append(File.generated(config, made.name, content=made.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, **others: Any) -> str:
    """Links that hold on the site."""
    return _LINK.sub(lambda found: PAGES.get(found[2], found[2]), markdown)
