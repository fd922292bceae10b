"""MkDocs: only the pages for students, and no link to any other."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"student.md": "index.md", "notebooks.md": "notebooks.md", "terms.md": "terms.md",
         "accessibility.md": "accessibility.md"}  # fmt: skip
BESIDE = ("site.css", "site.js")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?:docs/|\.\./)?([\w./-]+)(#[\w-]*)?\)")
_PICTURE = re.compile(r"!\[[^\]]*\]\(([\w./-]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Keep the pages for students with their pictures; add the style and script for accessibility."""
    folder = Path(config.docs_dir)
    texts = {page: (folder / name).read_text(encoding="utf-8") for name, page in PAGES.items()}
    pictures = {name for text in texts.values() for name in _PICTURE.findall(text)}
    others = {path.name for path in folder.iterdir()} - pictures
    kept = Files([file for file in files if file.src_uri not in others])
    for page, text in texts.items():
        kept.append(File.generated(config, page, content=text))
    for name in BESIDE:
        content = (ROOT / ".ci" / name).read_text(encoding="utf-8")
        kept.append(File.generated(config, name, content=content))
    return kept


def on_page_markdown(markdown: str, **others: Any) -> str:
    """A link to another page becomes its text."""

    def linked(found: re.Match[str]) -> str:
        if found[2].startswith("http"):
            return found[0]
        return f"[{found[1]}]({PAGES[found[2]]}{found[3] or ''})" if found[2] in PAGES else found[1]

    return _LINK.sub(linked, markdown)
