"""`make install` says that it installs bubblewrap with sudo, goes on without it, uses uv, and runs in a Codespace."""

from __future__ import annotations

import json
import re
import subprocess

import jsonschema
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


def made(path, *words):
    """The commands that `make` would run, with this PATH."""
    command = ["/usr/bin/make", "--dry-run", "--always-make", *words]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": path}, capture_output=True, text=True, check=True)
    return done.stdout


def test_make_installs_with_uv_if_it_is_there_else_with_pip(tmp_path):
    requirements = "--constraint constraints.txt --editable '.[course]' --editable ./cellcage"
    with_pip = made("/usr/bin:/bin", ".venv/developer")
    assert f".venv/bin/python -m pip install --quiet  {requirements}" in with_pip and "uv" not in with_pip.split()
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\n")
    uv.chmod(0o755)
    with_uv = made(f"{tmp_path}:/usr/bin:/bin", ".venv/developer", "PIP_FLAGS=--pre")
    command = rf"^{uv} pip install --python .venv/bin/python --compile-bytecode .*--pre {re.escape(requirements)}"
    assert re.search(command, with_uv, re.MULTILINE)
    assert "--group dev" in with_uv and "-m pip" not in with_uv


# The rules of https://containers.dev/implementors/json_schema/ for the keys that we use; it allows no unknown key.
RULES = {
    "name": {"type": "string"},
    "image": {"type": "string"},
    "hostRequirements": {
        "properties": {
            "cpus": {"type": "integer", "minimum": 1},
            "memory": {"pattern": r"^\d+([tgmk]b)?$"},
            "storage": {"pattern": r"^\d+([tgmk]b)?$"},
        },
        "additionalProperties": False,
    },
    "containerEnv": {"type": "object", "additionalProperties": {"type": "string"}},
    "postCreateCommand": {"type": "string"},
    "forwardPorts": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 65535}},
    "portsAttributes": {"additionalProperties": {"properties": {"label": {"type": "string"}}}},
    "customizations": {"type": "object"},
}


def test_codespace_runs_make_install():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    jsonschema.validate(container, {"properties": RULES, "additionalProperties": False, "required": ["image"]})
    assert container["postCreateCommand"] == "make install"
    (variable,) = container["containerEnv"]
    assert f"{variable} ?=" in (ROOT / "Makefile").read_text()
    minor = re.search(r"python:3\.(\d+)", container["image"])[1]
    assert int(minor) >= 11
