"""Real text to train on: Jane Austen's *Pride and Prejudice* (1813).

    from attention_course import novel
    train, held_out = novel.text()

It is in the public domain; `novel.LICENCE.md` says where it comes from.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("novel.txt.gz")
HELD_OUT = 0.1  # of the text, at its end


@cache
def text() -> tuple[str, str]:
    """The training text, and the held-out last chapters. Each paragraph is a line, and all text is ASCII."""
    whole = gzip.decompress(FILE.read_bytes()).decode("ascii")
    middle = whole.index("\n", int(len(whole) * (1 - HELD_OUT))) + 1
    return whole[:middle], whole[middle:]


def likely(logits: Any, temperature: float) -> Any:
    """The probability of each token, (vocab_size,). Logits are divided by `temperature`, above 0."""
    return (logits / temperature).softmax(dim=-1)
