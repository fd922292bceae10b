"""Shared by the tests that need only the sandbox."""

from __future__ import annotations

import contextlib
import functools
import os

import pytest
from sandboxes import BACKENDS, Sandbox, slowly

from cellcage.errors import MachineError

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def sandbox_of():
    """A sandbox by its name, one of each for the whole run. One that does not work is an error in CI, else a skip."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def opened(kind):
            try:
                return stack.enter_context(Sandbox(kind))
            except MachineError as error:
                if os.environ.get("CI"):
                    raise
                pytest.skip(str(error))

        yield opened


@pytest.fixture(params=slowly(*BACKENDS))
def sandbox(request, sandbox_of):
    return sandbox_of(request.param)
