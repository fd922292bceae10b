"""Fixtures for the tests of packages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.helpers.places import checkout, typed

ADDRESS, BUILD = "https://example.edu/a1", ".post7"


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The folder that `make dist` writes, and in it the course's sdist."""
    pytest.importorskip("build", reason="`make install` installs it")
    copy = checkout(tmp_path_factory.mktemp("dist") / "checkout")
    typed(f"make dist ADDRESS={ADDRESS} COURSE_BUILD={BUILD}", copy, PYTHONPATH=str(copy))
    build = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", copy / "dist"]
    subprocess.run([*build, copy / "attention_course"], capture_output=True, check=True)
    return copy / "dist"
