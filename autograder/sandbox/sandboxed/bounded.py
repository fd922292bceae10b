"""A text stream that keeps so many characters."""

from __future__ import annotations

import io


class Bounded(io.TextIOBase):
    """A text stream that keeps the first characters and says that it cut the rest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        """Forget what was written."""
        self.parts: list[str] = []
        self.left = self.size
        self.cut = False

    def writable(self) -> bool:
        """It is, always."""
        return True

    def write(self, text: str) -> int:
        """Keep what there is room for; the answer is the number of characters given, as every stream says."""
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.cut = self.cut or len(text) > self.left
        self.left -= len(text)
        return len(text)

    def getvalue(self) -> str:
        """All that was kept."""
        return "".join(self.parts) + ("\n... (the rest of the output was cut)" if self.cut else "")
