"""Extract the novel that the course uses from a Debian package.

    python -m tools.novel                                    # with `apt-get download`
    python -m tools.novel r-cran-janeaustenr_1.0.0-1_all.deb  # from a local file

Jane Austen died in 1817, so her novels are in the public domain. `r-cran-janeaustenr` carries them as Project
Gutenberg typed them, without its header; see `novel.LICENCE.md`. R stores a package's data as a sequence of compressed
blocks, each with one list of lines.
"""

from __future__ import annotations

import argparse
import gzip
import re
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from attention_course.helpers import novel

PACKAGE = "r-cran-janeaustenr"
DATA = "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"
TITLE = "PRIDE AND PREJUDICE"
STRINGS = struct.pack(">i", 16)  # R's type tag of a list of strings; its length follows
TYPED = {"_": "", "“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "à": "a", "é": "e", "ê": "e"}


def main() -> None:
    """Write the novel's text and print its length."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("package", type=Path, nargs="?", help=f"the file of {PACKAGE}; downloaded where not given")
    parser.add_argument("--to", type=Path, default=novel.FILE)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        package = options.package or downloaded(Path(folder))
        text = paragraphs(book(data_of(package, Path(folder) / "unpacked"), TITLE))
    # Without a time stamp the file is the same each time.
    options.to.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(f"{options.to}: {len(text):,} characters, {text.count(chr(10)):,} paragraphs")


def downloaded(folder: Path) -> Path:
    """Download the package into `folder` with apt-get."""
    subprocess.run(["apt-get", "download", PACKAGE], cwd=folder, check=True)
    (package,) = folder.glob("*.deb")
    return package


def data_of(package: Path, folder: Path) -> bytes:
    """The package's data file. The package is unpacked, not installed."""
    subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
    return (folder / DATA).read_bytes()


def book(data: bytes, title: str) -> list[str]:
    """The lines of the book that begins with `title`. Raises `ValueError` if there is none."""
    for block in blocks(data):
        lines = strings(block)
        if lines[0] == title:
            return lines
    raise ValueError(f"no book in this package begins with {title!r}")


def blocks(data: bytes) -> Iterator[bytes]:
    """Each block, unpacked: four bytes of length, then zlib."""
    at = 0
    while at < len(data):
        reader = zlib.decompressobj()
        yield reader.decompress(data[at + 4 :])
        at = len(data) - len(reader.unused_data)


def strings(block: bytes) -> list[str]:
    """Read R's serialised list of strings: a count, then flags, a length and the bytes of each string."""
    at = block.index(STRINGS) + 4
    (count,) = struct.unpack_from(">i", block, at)
    at, found = at + 4, []
    for _ in range(count):
        (length,) = struct.unpack_from(">i", block, at + 4)
        found.append(block[at + 8 : at + 8 + length].decode())
        at += 8 + length
    return found


def paragraphs(lines: list[str]) -> str:
    """The book in ASCII from the first chapter on, one line a paragraph, without chapter headings."""
    body = "\n".join(lines[lines.index("Chapter 1") :]).translate(str.maketrans(TYPED))
    parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", body)]
    text = "\n".join(part for part in parts if part and not re.fullmatch(r"Chapter \d+", part)) + "\n"
    text.encode("ascii")
    return text


if __name__ == "__main__":
    main()
