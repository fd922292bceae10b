"""Samples for `make test`; `make catalogue` runs the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, values: Iterable[Any], first: int = 0) -> list[Any]:
    """Parameters of a test: one value in `every`, starting at `first`; the others run with `make catalogue`.

    values: arguments of `pytest.param`, as tuples for tests with several parameters
    """
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=[] if number % every == first else REST)
        for number, value in enumerate(values)
    ]


REST = [pytest.mark.catalogue]
