"""`make install` announces that it installs bubblewrap with sudo, and continues without it."""

from __future__ import annotations

import subprocess

import pytest

from tests.conftest import ROOT


@pytest.fixture
def machine(tmp_path):
    """Runs the script on a machine without bubblewrap, as an ordinary user. `how` is what `sudo` runs."""

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


def test_install_announces_sudo_and_continues_without_bubblewrap(machine):
    done, asked = machine("exit 1")
    assert (done.returncode, asked) == (0, True)
    assert "Running: sudo -n apt-get install bubblewrap (make install BUBBLEWRAP=no leaves it out)" in done.stdout
    assert "bubblewrap is not installed, and all else is" in done.stderr


def test_bubblewrap_no_skips_sudo(machine):
    done, asked = machine("exit 0", BUBBLEWRAP="no")
    assert (done.returncode, asked, done.stdout) == (0, False, "")
    assert "bubblewrap is not installed" in done.stderr
