"""Shared by the tests that need only the sandbox."""

from __future__ import annotations

import os

import pytest

from cellcage import machine
from cellcage.errors import MachineError

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(params=["bubblewrap", pytest.param("landlock", marks=pytest.mark.slow)])
def kind(request):
    """The name of a backend. One that does not work here is an error in CI, and a skip elsewhere."""
    try:
        machine.choose_backend(request.param)
    except MachineError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return request.param
