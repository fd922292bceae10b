"""`make install` gets bubblewrap from the system's packages where it may: it says so first, and goes on without it."""

from __future__ import annotations

import subprocess

import pytest

from tests.conftest import ROOT


@pytest.fixture
def machine(tmp_path):
    """A machine without bubblewrap, whose user is not root. `sudo` does what `how` says."""

    def run(how, **environment):
        for name, text in {"apt-get": "exit 1", "id": "echo 1000", "sudo": f"echo >>{tmp_path}/asked; {how}"}.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
        done = subprocess.run(
            ["/bin/sh", ROOT / ".ci" / "bubblewrap"],
            env={"PATH": str(tmp_path)} | environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done, (tmp_path / "asked").exists()

    return run


def test_install_says_what_it_runs_as_root_and_goes_on_without_it(machine):
    done, asked = machine("exit 1")
    assert (done.returncode, asked) == (0, True)
    assert "Running: sudo -n apt-get install bubblewrap (make install BUBBLEWRAP=no leaves it out)" in done.stdout
    assert "bubblewrap is not installed, and all else is" in done.stderr


def test_install_asks_for_nothing_if_it_is_told_so(machine):
    done, asked = machine("exit 0", BUBBLEWRAP="no")
    assert (done.returncode, asked, done.stdout) == (0, False, "")
    assert "bubblewrap is not installed" in done.stderr
