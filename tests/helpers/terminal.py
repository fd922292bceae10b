"""Runs `autograder` as a person or a script does."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from subprocess import CompletedProcess

import psutil
import pytest
from typer.testing import CliRunner

from autograder.cli.main import app
from autograder.errors import EXPECTED
from tests.conftest import ROOT


def autograder(*words, cwd=ROOT, columns=140):
    """Run the command to its end."""
    return python("-m", "autograder", *words, cwd=cwd, columns=columns)


def autograder_here(*words, cwd=ROOT):
    """The same in this process, which saves the imports. Unexpected exceptions are raised."""
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "140"})
    if isinstance(done.exception, EXPECTED):  # see `main`
        return CompletedProcess(words, 2, done.stdout, f"{done.stderr}autograder: {done.exception}")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def python(*words, cwd, columns=140):
    """Run Python with these arguments to its end."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": str(columns)}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def grade(course, *words, wait=True):
    """Run `autograder grade` in a course: process, output, errors; without `wait`, the running process."""
    command = [sys.executable, "-m", "autograder", "grade", *words]
    process = subprocess.Popen(
        command, cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    return (process, *process.communicate(timeout=240)) if wait else process


def children_of(process):
    return psutil.Process(process.pid).children(recursive=True)


def is_alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended between the two questions
        return False


def until(condition, seconds=120):
    """Wait until the condition is true."""
    for _ in range(int(seconds * 20)):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("timed out")
