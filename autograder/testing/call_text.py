"""One call as a person would write it down, its arrays and tables by their sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.sandbox.protocol.tables import FRAME, MOMENT, SPAN, Table


def call_text(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], function: str) -> str:
    """`median(x, axis=0) with x (4, 5)`; names: the function's parameters."""
    # If the code names no parameters, a shape says enough.
    labels = [names[i] if i < len(names) else "" for i in range(len(args))]
    written, shapes = [], []
    named = False  # after `width=3` Python takes names alone
    for label, value, keyword in [
        *zip(labels, args, [False] * len(args), strict=True),
        *((k, v, True) for k, v in kwargs.items()),
    ]:
        keyword = keyword or (named and bool(label))
        if isinstance(value, Table) and value.kind not in (MOMENT, SPAN):
            size = f"{len(value)} x {len(value.parts)}" if value.kind == FRAME else f"{len(value)}"
            written.append(f"{label}={label}" if keyword else label or f"a {value.kind} of {size}")
            shapes += [f"{label} of {size}"] if label else []
        elif hasattr(value, "shape") and not label:
            written.append(f"{'a tensor' if hasattr(value, 'detach') else 'an array'} {tuple(value.shape)}")
        elif hasattr(value, "shape"):
            written.append(f"{label}={label}" if keyword else label)
            shapes.append(f"{label} {tuple(value.shape)}")
        elif callable(value) or isinstance(value, dict):  # of the suite's: what it is called there says nothing
            written.append(
                f"{label}={label}" if keyword else label or ("a dict" if isinstance(value, dict) else "a function")
            )
        else:
            written.append(f"{label}={value!r}" if label else repr(value))
            named = named or bool(label)
    text = f"{function}({', '.join(written)})"
    return text + (f" with {', '.join(shapes)}" if shapes else "")
