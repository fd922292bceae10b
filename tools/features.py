"""Count the modules of engine and sandbox that name a feature, the names for "it did not go on", lines and imports."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = {"the engine": f"{ROOT}/autograder/", "cellcage": f"{ROOT}/cellcage/src/"}
# How code names a feature. A module counts if this is anywhere in it.
FEATURES = {
    "ready-made": r"ready_made|READY_MADE|ReadyMade|\bWatch\b",
    "pictures": r"display_cells|DisplayCell|picture|Picture",
    "withdrawn": r"withdraw|set_aside|SET_ASIDE|OUT_OF_TOTAL",
    "follow-through": r"Questions\b|substituted|Proxy\b|\bproxy\b|\.asked\b",
    "the place of a mistake": r"\"place\"|Repairs?\b|[._]repaired|repaired:|FirstCells|first_cells",
    "memory limits": r"\bgrown\b|Grown|Measure\b|is_measured|HeldTooMuch|call\.memory|MEASURED",
    "mentions": r"mentions|\"mention\"",
    "fingerprints": r"fingerprint",
    "assert cells": r"assert_cells|AssertCell|TEST_CELL|nonce|is_classic|by_asserts",
}
# The names for "it did not go on". A new one belongs here.
STOPPED = re.compile(
    r"^ *class (?:Deadline|Closed|WireError|CallFailed|NoAnswer|Ending|Stopped|TimeIsUp|MachineError)\b"
    r"|^ +stopped: str",
    re.M,
)


@functools.cache
def trees(part: str) -> list[tuple[str, ast.Module]]:
    """The modules of the engine or of the sandbox, parsed."""
    return [(str(path), ast.parse(path.read_text())) for path in Path(PARTS[part]).rglob("*.py")]


def counted() -> dict[str, float]:
    """All of these by name."""
    texts = {part: [path.read_text() for path in Path(folder).rglob("*.py")] for part, folder in PARTS.items()}
    every = [text for part in texts.values() for text in part]
    found: dict[str, float] = {
        f"modules that name {feature}": sum(bool(re.search(pattern, text)) for text in every)
        for feature, pattern in FEATURES.items()
    }
    found["names for “it did not go on”"] = len({name for text in every for name in STOPPED.findall(text)})
    found |= {f"lines of {part}": sum(len(text.splitlines()) for text in of) for part, of in texts.items()}
    lines = [imports_and_code(tree) for _, tree in trees("the engine")]
    imports, code = map(sum, zip(*lines, strict=True))
    return found | {"imports in the engine's code, %": round(100 * imports / code, 1)}


def imports_and_code(tree: ast.Module) -> tuple[int, int]:
    """Lines of imports, and lines on which any code begins. Docstrings are no code."""
    code, imports, docstrings = set[int](), set[int](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.add(node.lineno)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(range(node.lineno, node.end_lineno + 1))
        code.add(getattr(node, "lineno", 0))
    return len(imports), len((code | imports) - docstrings - {0})
