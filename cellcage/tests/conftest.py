"""Fixtures for the sandbox's own tests."""

from __future__ import annotations

import contextlib
import functools
import os

import pytest
from sandboxes import BACKENDS, Sandbox, slow_unless_bubblewrap

from cellcage.errors import MachineError

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def sandbox_of():
    """Opens a sandbox of a kind, once per session. If that fails, the test fails in CI and is skipped elsewhere."""
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


@pytest.fixture(params=slow_unless_bubblewrap(*BACKENDS))
def sandbox(request, sandbox_of):
    return sandbox_of(request.param)
