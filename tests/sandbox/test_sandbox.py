"""Every promise of the sandbox is tried with each backend, and a grader that is killed leaves nothing behind."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
import time

import psutil
import pytest

from cellcage.promises import PROMISES
from tests.conftest import ROOT
from tests.helpers.calls import BACKENDS, lives

KINDS = ("inside", "outside", "of_answers")
PROMISED = [importlib.import_module(f"tests.sandbox.test_promises_{kind}") for kind in KINDS]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_every_promise_has_a_test_of_its_name_behind_each_wall(promise):
    """And without a sandbox, if it is said to hold there."""
    name = "test_" + re.sub(r"\W+", "_", promise.name)
    test = next(getattr(file, name) for file in PROMISED if hasattr(file, name))
    marks = {mark.args[0]: mark.args[1] for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"}
    given = inspect.signature(test).parameters
    # A test of the trusted side alone is given no sandbox, for none comes in.
    default = BACKENDS if "sandbox" in given else [*BACKENDS, "process"]
    tried = marks.get("kind") or marks.get("sandbox") or default
    assert {getattr(one, "id", one) for one in tried} == {*BACKENDS, *(["process"] if promise.without_sandbox else [])}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BACKENDS)
def test_a_killed_grader_leaves_nothing_behind(tmp_path, kind):
    code = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.helpers.sandboxes import Sandbox
cell = "import subprocess; left = subprocess.Popen(['sleep', '1234.{os.getpid()}'])"
with Sandbox(kind={kind!r}, bare=True) as own, own.open([cell]) as running:
    print("ready", own.zygote._process.pid, flush=True)
    time.sleep(60)
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    for folder in (tmp_path, *(parent for parent in tmp_path.parents if "pytest" in str(parent))):
        folder.chmod(0o755)
    grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    pid = int(grader.stdout.readline().split()[1])
    grader.kill()
    grader.wait()
    grader.stdout.close()
    until = time.monotonic() + 10
    while lives(pid):
        assert time.monotonic() < until, "the sandbox outlives its grader"
        time.sleep(0.1)
    asleep = [p for p in psutil.process_iter(["cmdline"]) if f"1234.{os.getpid()}" in (p.info["cmdline"] or [])]
    assert asleep == []
    assert list(tmp_path.glob("cellcage-*")) == []
