"""What an exception says about the place where code runs, in plain words: nobody types there, and it has no GPU."""

from __future__ import annotations

import re

from autograder.text import raised

DEBUGGER = "BdbQuit"  # raised by pdb where nobody answers it
NOTES = (
    (re.compile("EOF when reading a line"), "Nobody types when grading, so `input()` gets no answer."),
    (
        re.compile(r"\b(?:CUDA|NVIDIA|XPU|MPS|mps)\b|cuda\.is_available|accelerator device"),
        "There is no GPU when grading. Use a device only if it is available.",
    ),
)
IN_DEBUGGER = "stopped in a debugger, which nobody answers when grading. Is a `breakpoint()` or `set_trace()` left in?"


def explained(kind: str, text: str) -> str:
    """An exception as a sentence, as `raised`, with what it says about the surroundings."""
    if kind == DEBUGGER:
        return IN_DEBUGGER
    note = next((f" {words}" for pattern, words in NOTES if pattern.search(text)), "")
    return f"{raised(kind, text)}{note}"
