"""What `make test` asks of a selection, and `make catalogue` of all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, values: Iterable[Any], first: int = 0) -> list[Any]:
    """Parameters of a test: one value in `every`, from the `first` on; the others are left to `make catalogue`.

    values: what `pytest.param` takes, or tuples of it for a test with several parameters
    """
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=[] if number % every == first else REST)
        for number, value in enumerate(values)
    ]


REST = [pytest.mark.catalogue]
