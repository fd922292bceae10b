"""A text stream that keeps only so much of what untrusted code prints."""

from __future__ import annotations

import io


class Bounded(io.TextIOBase):
    """A text stream that keeps the first `size` characters, and says that it cut the rest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        """Forget what was written."""
        self.parts: list[str] = []
        self.left = self.size

    def writable(self) -> bool:
        """Always true."""
        return True

    def write(self, text: str) -> int:
        """Keep as much of the text as fits. Returns its length, as every stream does."""
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.left -= len(text)
        return len(text)

    def getvalue(self) -> str:
        """All that was kept."""
        return "".join(self.parts) + ("\n... (the rest of the output was cut)" if self.left < 0 else "")
