"""`autograder` as a person or a script calls it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from subprocess import CompletedProcess

from typer.testing import CliRunner

from autograder.cli.main import app
from autograder.errors import EXPECTED
from tests.conftest import ROOT


def autograder(*words, cwd=ROOT):
    """The command, run to its end."""
    return python("-m", "autograder", *words, cwd=cwd)


def autograder_here(*words, cwd=ROOT):
    """The same in this process, which has imported everything already; an exception that is not ours goes through."""
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "140"})
    if isinstance(done.exception, EXPECTED):  # see `main`
        return CompletedProcess(words, 2, done.stdout, f"{done.stderr}autograder: {done.exception}")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def python(*words, cwd):
    """Python with these words, run to its end."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "140"}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def grade(course, *words, wait=True):
    """`autograder grade` in a course: process, output, errors; or the running process."""
    command = [sys.executable, "-m", "autograder", "grade", *words]
    process = subprocess.Popen(
        command, cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    return (process, *process.communicate(timeout=240)) if wait else process
