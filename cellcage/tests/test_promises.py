"""Every promise is tested with each backend. A killed program leaves nothing behind."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from sandboxes import BACKENDS, is_alive

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
# The rows below the table's head. Promises with an asterisk hold without a sandbox, too.
_, _, *PROMISES = re.findall(r"^\| (.+?) \|", README.partition("## Promises")[2].partition("## ")[0], re.MULTILINE)
TEST_FILES = [importlib.import_module(f"test_promises_{kind}") for kind in ("inside", "outside", "of_answers")]


@pytest.mark.parametrize("promise", PROMISES)
def test_every_promise_has_a_test_with_each_backend(promise):
    """The test has the promise's name. It also runs without a sandbox if the promise holds there."""
    name = "test_" + re.sub(r"\W+", "_", promise.removesuffix("*"))
    test = next(getattr(file, name) for file in TEST_FILES if hasattr(file, name))
    marks = {mark.args[0]: mark.args[1] for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"}
    assert {"sandbox", "sandbox_of"} & inspect.signature(test).parameters.keys()
    tried = marks.get("kind") or marks.get("sandbox") or BACKENDS
    assert {getattr(one, "id", one) for one in tried} == {*BACKENDS, *(["process"] if promise.endswith("*") else [])}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_killed_program_leaves_nothing_behind(tmp_path, kind):
    mark = f"1234.{os.getpid()}"
    code = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from sandboxes import Sandbox
cell = "import subprocess; left = subprocess.Popen(['sleep', '{mark}'])"
with Sandbox({kind!r}) as own, own.open(cell):
    print(own.zygote._process.pid, flush=True)
    time.sleep(60)
"""
    for folder in (tmp_path, *(parent for parent in tmp_path.parents if "pytest" in str(parent))):
        folder.chmod(0o755)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as program:
        pid = int(program.stdout.readline())
        program.kill()
    until = time.monotonic() + 10
    while is_alive(pid):
        assert time.monotonic() < until, "the sandbox outlived its program"
        time.sleep(0.1)
    assert [one for one in psutil.process_iter(["cmdline"]) if mark in (one.info["cmdline"] or [])] == []
    assert list(tmp_path.glob("cellcage-*")) == []
